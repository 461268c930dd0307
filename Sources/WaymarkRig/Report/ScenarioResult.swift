package import WaymarkConfiguration
package import WaymarkHistory
internal import WaymarkLint
package import WaymarkProtocol
package import WaymarkRecording
package import WaymarkScenario

/// The clock of a run.
package enum RunClock: String, Sendable, Hashable, CaseIterable {
    /// One process without sockets; time advances to the next deadline.
    case virtual
    case real
}

/// What came of one scenario with one seed.
package struct ScenarioResult: Sendable {
    /// As the user named the file.
    package var file: String
    /// What the scenario shows.
    package var about = ""
    package var clock = RunClock.virtual
    package var seed: UInt64 = 1
    /// In the order of the file.
    package var expectations: [ReportedExpectation] = []
    package var lints: [ReportedLint] = []
    /// Expectations of steps that did not begin, because one before failed.
    package var unreachedCount = 0
    /// By the real clock: when the run began.
    package var began: RecordingTime?
    /// When the run ended.
    package var end = Instant(nanoseconds: 0)
    /// By the real clock: how late the rig itself was at most.
    package var latenessMax = Duration.zero
    /// Those that said what they had said in a recording.
    package var replayed: [ReplayPeer] = []
    /// The programs that took part.
    package var programs: [ReportedProgram] = []
    /// The last lines of the gateway's log, if the rig could not run the scenario.
    package var gatewayLog: [String] = []
    /// Why the rig could not run it, or not to its end; nil if it did.
    package var problem: String?
    /// What happened last, in lines for people, if it could not run to its end.
    package private(set) var lastEntries: [String] = []
    package private(set) var entryCount = 0
    /// When to look at the run: at what failed first, or came nearest to what was expected.
    package private(set) var lookAt = Instant(nanoseconds: 0)
    /// The file of the run's recording; nil if there is none.
    package var recording: String?
    /// Why there is no recording although there should be one.
    package var recordingProblem: String?
    /// The run over time, as SVG.
    package private(set) var drawing = ""

    package init(file: String) { self.file = file }

    /// Explains what failed, and draws the run. The history is not needed any more.
    package mutating func explain(by history: History) {
        for index in self.expectations.indices {
            guard let text = FailureText(self.expectations[index], in: history) else { continue }
            self.expectations[index].explanation = text.lines
        }
        if self.problem != nil { self.lastEntries = FailureText.lastEntries(of: history) }
        self.entryCount = history.entries.count
        self.lookAt = self.firstFailure(history) ?? (self.problem == nil ? self.lookAt : self.end)
        self.drawing = RunDrawing(self, history).svg
    }

    private func firstFailure(_ history: History) -> Instant? {
        let failures = self.expectations.compactMap { expectation -> Instant? in
            guard case .failed(let failure) = expectation.verdict else { return nil }
            return failure.nearest.map { history.entries[$0.index].instant } ?? failure.instant
        }
        return (failures + self.lints.flatMap { $0.findings.map(\.instant) }).min()
    }

    /// Every expectation passed, and no lint rule found anything.
    package var hasPassed: Bool {
        self.problem == nil && self.expectations.allSatisfy(\.hasPassed) && self.lints.allSatisfy(\.hasPassed)
    }
}

/// An expectation of a scenario, and what it found.
package struct ReportedExpectation: Sendable {
    package var location: SourceLocation
    /// In a line, as in the scenario, e.g. `never maneuverState execute, for 300 ms`.
    package var text: String
    /// The peers whose connections and state it concerns. Empty: all.
    package var subjects: [PeerID] = []
    /// Why it matters, as the scenario says; may be empty.
    package var because = ""
    /// The name of its step; may be empty.
    package var step = ""
    package var verdict: Verdict
    /// It passes if it passes with any seed.
    package var isForAnySeed = false
    /// The others failed because it did: reports tell it first.
    package var isCause = false
    /// The time that it waits at most; nil if it does not wait.
    package var window: Duration?
    /// Why it failed, in lines for people; empty before it is explained, or if it passed.
    package var explanation: [String] = []

    package init(_ text: String, at location: SourceLocation, _ verdict: Verdict) {
        (self.text, self.location, self.verdict) = (text, location, verdict)
    }

    /// It passed with so little of its time left that a busy machine might fail it: by the real clock, less than a fifth.
    package var isNarrow: Bool {
        guard case .passed(_, let margin?) = self.verdict, let window, window > .zero else { return false }
        return margin * 5 < window
    }

    package var hasPassed: Bool {
        switch self.verdict {
        case .passed: true
        case .failed: false
        }
    }
}

/// A program that took part in a run.
package struct ReportedProgram: Sendable {
    package var peer: PeerID
    /// How it ended before the scenario did; nil if it did not.
    package var end: String?
    /// Its last lines.
    package var output: [String] = []

    package init(_ peer: PeerID) { self.peer = peer }
}

/// A lint rule that watched a run, and what it found.
package struct ReportedLint: Sendable {
    /// Something that broke the rule.
    package struct Finding: Sendable {
        package var instant: Instant
        /// The entry that broke it.
        package var index: Int
        package var peer: PeerID?
        /// What is wrong, with the field and its values.
        package var text: String

        package init(_ text: String, of peer: PeerID?, at instant: Instant, index: Int) {
            (self.text, self.peer, self.instant, self.index) = (text, peer, instant, index)
        }
    }

    /// E.g. `LINT-LANE-LINK`.
    package var rule: String
    /// What is wrong where it finds something.
    package var sentence: String
    /// What the scenario does not allow.
    package var findings: [Finding] = []
    /// How many findings it allows.
    package var allowedCount = 0
    /// Why it allows them; nil if it does not.
    package var allowance: String?

    package init(_ rule: String, _ sentence: String) { (self.rule, self.sentence) = (rule, sentence) }

    package var hasPassed: Bool { self.findings.isEmpty }
}
