internal import WaymarkClient
internal import WaymarkConfiguration
internal import WaymarkFaults
internal import WaymarkHistory
internal import WaymarkProtocol
internal import WaymarkRoutes
internal import WaymarkScenario
internal import WaymarkTexts

/// What a test does, one call after the other, on a run in virtual time. Each call is a step of a scenario.
final class RigEngine {
    /// Something that is judged while other calls let time pass.
    private struct Watched {
        var judge: Judge
        var isReported = false
    }

    private var run: ScenarioRun
    private let location: SourceLocation
    private let last: Instant
    private var steps: [Scenario.Step] = []
    /// The index of each step's entry.
    private var stepEntries: [Int] = []
    /// The step that was just done, if no time has passed since.
    private var anchor: Int?
    private var watched: [Watched] = []
    /// What the present call expects.
    private var present: Judge?
    /// What the present call waits for, as the only step of a scenario.
    private var script: ScenarioScript?
    /// How that call ends, in words.
    private var waited = ""

    init(
        _ scenario: Scenario, _ inputs: ScenarioInputs, watching expected: [Scenario.Expected],
        at location: SourceLocation
    ) throws(RigError) {
        self.location = location
        self.last = Instant(nanoseconds: 0) + scenario.atMost
        do {
            self.run = try ScenarioRun(scenario, inputs, .virtual, seed: scenario.seed)
            for expected in expected {
                var whole = Scenario(file: scenario.file)
                whole.expectations = [expected]
                self.watched.append(Watched(judge: Judge(whole)))
            }
            try self.run.stage.begin()
            try self.run.stage.run.settle()
        } catch { throw RigError("", "\(error)") }
        self.see()
    }

    private var now: Instant { self.run.stage.run.now }
    var time: Duration { self.now - Instant(nanoseconds: 0) }

    // MARK: The run

    func add(_ answer: RouteAnswer, named name: String) { self.run.stage.inputs.routes[name] = answer }
    func add(_ allowance: Scenario.Allowance) { self.run.stage.scenario.allowances.append(allowance) }

    /// What an endpoint held last.
    func moment(of peer: PeerID) -> EndpointHistory.Moment? {
        self.run.stage.run.history.endpoint(peer)?.moments.last
    }

    func client(_ id: ClientID) -> RigClient? { self.run.stage.run.peer(.client(id), as: RigClient.self) }

    /// Shows what happened to everything that watches. The event that a call waits for is a step right behind its entry.
    private func see() {
        while let entry = self.run.seeNext() {
            for index in self.watched.indices {
                self.watched[index].judge.see(entry, in: self.run.stage.run.history)
            }
            self.present?.see(entry, in: self.run.stage.run.history)
            guard self.script != nil else { continue }
            self.script?.see(entry, in: self.run.stage.run.history)
            if self.script?.followsEntries == true { self.endWait() }
        }
    }

    /// Lets time pass to the next deadline, but not beyond `end`.
    private func advance(to end: Instant) throws {
        try Task.checkCancellation()
        self.anchor = nil
        let deadlines = (self.watched.map(\.judge.deadline) + [self.present?.deadline]).compactMap(\.self)
        let end = max(self.now, min(end, self.last, deadlines.min() ?? end))
        do {
            _ = try self.run.stage.run.advance(to: end)
            self.see()
            try self.run.beginDue()
        } catch { throw self.broken(error) }
        self.see()
        for index in self.watched.indices {
            guard let deadline = self.watched[index].judge.deadline, deadline <= self.now else { continue }
            self.watched[index].judge.deadlineReached(at: self.now, in: self.run.stage.run.history)
        }
        if let deadline = self.present?.deadline, deadline <= self.now {
            self.present?.deadlineReached(at: self.now, in: self.run.stage.run.history)
        }
        let violated = self.takeViolated()
        if !violated.isEmpty { throw self.failure(violated.map(self.reported)) }
    }

    private func broken(_ error: any Error) -> RigError {
        RigError("", (error as? RunError).map(self.run.text) ?? "\(error)")
    }

    /// What was watched and failed, once.
    private func takeViolated() -> [JudgedExpectation] {
        var violated: [JudgedExpectation] = []
        for index in self.watched.indices where !self.watched[index].isReported {
            let failed = self.watched[index].judge.results.filter(\.hasFailed)
            guard !failed.isEmpty else { continue }
            self.watched[index].isReported = true
            violated += failed
        }
        return violated
    }

    // MARK: Steps

    /// Adds a step at this instant; the judges begin what they expect of it.
    private func add(_ action: Scenario.Action?, _ text: String) {
        self.insertStep(action, text)
        self.see()
    }

    /// The same, before what follows is seen.
    private func insertStep(_ action: Scenario.Action?, _ text: String) {
        var step = Scenario.Step(at: self.location)
        step.action = action
        self.steps.append(step)
        self.stepEntries.append(self.run.seenCount)
        self.run.insertStep(self.steps.count - 1, text)
        self.anchor = self.steps.count - 1
    }

    /// A vehicle or a client acts.
    func perform(_ kind: Scenario.Action.Kind, by actor: PeerSelector) throws(RigError) {
        let action = Scenario.Action(actor: actor, kind: kind, location: self.location)
        var step = Scenario.Step(at: self.location)
        step.action = action
        self.add(action, step.text)
        do {
            try self.run.stage.perform(action)
            try self.run.stage.run.settle()
        } catch { throw self.broken(error) }
        self.see()
    }

    func begin(_ fault: Scenario.Fault) throws(RigError) {
        self.add(nil, fault.text)
        do {
            try self.run.begin(fault)
            try self.run.stage.run.settle()
            self.see()
            try self.run.beginDue()
        } catch { throw self.broken(error) }
        self.see()
    }

    // MARK: Waiting

    private func endWait() {
        self.script = nil
        self.insertStep(nil, "waited\(self.waited)")
    }

    func wait(_ waiting: Scenario.Step.Waiting, at location: SourceLocation) throws {
        var step = Scenario.Step(at: location)
        step.waiting = waiting
        var whole = Scenario(file: "")
        whole.steps = [step]
        self.script = ScenarioScript(whole, since: self.now, in: self.run.stage.run.history)
        self.waited = waiting.text
        defer { self.script = nil }
        let undecided = ScenarioScript.Decisions(isStepDecided: false, isEndDecided: false)
        while self.script != nil {
            self.run.stage.updateProgress()
            let order = self.script?.advance(
                at: self.now, self.run.stage.progress, undecided, after: self.run.seenCount - 1,
                in: self.run.stage.run.history)
            switch order {
            case .begin, .end:
                self.endWait()
                return self.see()
            case .fail(_, let reason): throw self.failure([self.reported(step, reason)])
            case nil: break
            }
            guard self.now < self.last else { throw self.failure([self.reported(step, .tookTooLong)]) }
            try self.advance(to: self.script?.deadline ?? self.last)
        }
    }

    /// So long is what is under way at the end of a drive waited for.
    private static let tail = Duration.seconds(1)

    func waitForEnd(at location: SourceLocation) throws {
        self.run.stage.updateProgress()
        while !self.run.stage.progress.isOver {
            guard self.now < self.last else {
                var failed = self.reported(Scenario.Step(at: location), .tookTooLong)
                failed.text = "the drive is over"
                throw self.failure([failed])
            }
            try self.advance(to: self.last)
            self.run.stage.updateProgress()
        }
        try self.wait(.time(min(Self.tail, max(.zero, self.last - self.now))), at: location)
    }

    // MARK: Expecting

    func expect(_ expected: [Scenario.Expected]) throws {
        if self.anchor == nil { self.add(nil, GuidanceText.counted(expected.count, "expectation")) }
        let step = self.anchor ?? self.steps.count - 1
        self.present = self.judge(expected, of: step)
        defer { (self.present, self.anchor) = (nil, nil) }
        while let present = self.present {
            let failed = present.results.filter(\.hasFailed)
            if !failed.isEmpty { throw self.failure(failed.map(self.reported)) }
            if present.isDecided(step: step) { return }
            if self.now < self.last {
                try self.advance(to: self.last)
            } else {
                self.present?.end(at: self.now, in: self.run.stage.run.history)
            }
        }
    }

    func watch(_ expected: Scenario.Expected) {
        if self.anchor == nil { self.add(nil, "watches \(expected.text)") }
        let judge = self.judge([expected], of: self.anchor ?? self.steps.count - 1)
        self.watched.append(Watched(judge: judge))
    }

    /// Judges expectations that count from a step, up to now.
    private func judge(_ expected: [Scenario.Expected], of step: Int) -> Judge {
        var trial = Scenario(file: "")
        trial.steps = self.steps
        trial.steps[step].expectations = expected
        var judge = Judge(trial)
        let first = expected.contains(where: \.word.needsPast) ? 0 : self.stepEntries[step]
        for index in first..<self.run.stage.run.history.entries.count {
            judge.see(self.run.stage.run.history.entries[index], in: self.run.stage.run.history)
        }
        return judge
    }

    // MARK: Verdicts

    func finish() throws {
        for index in self.watched.indices {
            self.watched[index].judge.end(at: self.now, in: self.run.stage.run.history)
        }
        let violated = self.takeViolated()
        guard violated.isEmpty, self.lints().allSatisfy(\.hasPassed) else {
            throw self.failure(violated.map(self.reported))
        }
    }

    private func lints() -> [ReportedLint] { self.run.lints(self.run.stage.run.history) }

    var findings: [Rig.Finding] {
        self.lints().flatMap { lint in lint.findings.compactMap { Rig.Finding($0, of: lint) } }
    }

    private func failure(_ failed: [ReportedExpectation]) -> RigFailure {
        var result = ScenarioResult(file: "\(self.location)")
        result.seed = self.run.stage.scenario.seed
        result.end = self.now
        result.expectations = failed
        result.lints = self.lints()
        result.explain(by: self.run.stage.run.history)
        return RigFailure(
            ScenarioText(result, isOfFile: false).lines.joined(separator: "\n"), self.findings)
    }

    private func reported(_ judged: JudgedExpectation) -> ReportedExpectation {
        let expected = judged.expected
        var reported = ReportedExpectation(
            judged.text, at: expected.location, self.run.verdict(judged))
        reported.subjects = self.run.stage.run.peers.filter(expected.of.contains)
        reported.because = expected.because ?? ""
        return reported
    }

    /// What a call waited for in vain.
    private func reported(
        _ step: Scenario.Step, _ reason: ScenarioScript.StepFailure
    ) -> ReportedExpectation {
        let progress = self.run.stage.progress
        let driven =
            progress.beganAt == nil ? "no drive has begun" : "the drive is at \(Int(progress.meters)) m"
        let why =
            switch reason {
            case .eventNeverHappened: "its event never happened"
            case .driveEndedBefore: "the drive ended after \(Int(progress.meters)) m"
            case .tookTooLong:
                "the run took longer than \(ClockText.duration(self.run.stage.scenario.atMost)) (atMost); \(driven)"
            }
        let text = "the run goes on\(step.waiting.text)"
        return ReportedExpectation(
            text, at: step.location,
            .failed(Failure("\(text)\n\(why)", anchor: nil, at: self.now, nearest: nil)))
    }
}

extension JudgedExpectation {
    fileprivate var hasFailed: Bool { self.outcome == .failed || self.outcome == .notReached }
}

extension Scenario.Word {
    /// It depends on what happened before its anchor.
    fileprivate var needsPast: Bool {
        switch self {
        case .outcome, .holdsWhatWasPublished, .ended: true
        case .message, .prints, .eventually, .always, .never, .sometimes, .rate, .gap, .inOrder, .exactly,
            .unchanged,
            .shownWithin:
            false
        }
    }
}
