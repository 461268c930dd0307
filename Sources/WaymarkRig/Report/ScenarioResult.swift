package import WaymarkConfiguration
package import WaymarkProtocol

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
    /// When the run ended.
    package var end = Instant(nanoseconds: 0)
    /// Why the rig could not run it, or not to its end; nil if it did.
    package var problem: String?
    /// What happened last, in lines for people, if it could not run to its end.
    package private(set) var lastEntries: [String] = []
    package private(set) var entryCount = 0
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
        self.drawing = RunDrawing(self, history).svg
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
    /// Why it failed, in lines for people; empty before it is explained, or if it passed.
    package var explanation: [String] = []

    package init(_ text: String, at location: SourceLocation, _ verdict: Verdict) {
        (self.text, self.location, self.verdict) = (text, location, verdict)
    }

    package var hasPassed: Bool {
        switch self.verdict {
        case .passed: true
        case .failed: false
        }
    }
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
