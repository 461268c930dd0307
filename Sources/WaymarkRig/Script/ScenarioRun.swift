internal import WaymarkClient
internal import WaymarkProtocol

/// A scenario in virtual time: its stage, its script, and what judges it.
package struct ScenarioRun {
    private var stage: ScenarioStage
    private var script: ScenarioScript
    private var judge: Judge
    /// Faults that begin with an event: what waits for it.
    private var waiting: [WaitingFault] = []
    /// How many entries the script and the judge have seen.
    private var seenCount = 0
    /// The step that did not begin, and why.
    private var failure: (step: Int, reason: ScenarioScript.StepFailure, at: Instant)?

    /// Runs a scenario to its end.
    ///
    /// - Parameters:
    ///   - scenario: Without obstacles.
    ///   - inputs: All that it names.
    ///   - seed: In place of the scenario's.
    ///   - mutations: What faulty peers do; the default: nothing.
    /// - Returns: What came of it, and everything that happened.
    package static func run(
        _ scenario: Scenario, _ inputs: ScenarioInputs, seed: UInt64? = nil,
        mutations: RunMutations = RunMutations()
    ) -> (result: ScenarioResult, history: History) {
        let seed = seed ?? scenario.seed
        var result = ScenarioResult(file: scenario.file)
        (result.about, result.seed) = (scenario.about ?? "", seed)
        do throws(ClientError) {
            var run = try ScenarioRun(scenario, inputs, seed: seed, mutations)
            run.run(into: &result)
            return (result, run.stage.run.history)
        } catch {
            result.problem = "\(error)"
            return (result, History())
        }
    }

    private init(
        _ scenario: Scenario, _ inputs: ScenarioInputs, seed: UInt64, _ mutations: RunMutations
    ) throws(ClientError) {
        self.stage = try ScenarioStage(scenario, inputs, seed: seed, mutations)
        self.script = ScenarioScript(scenario)
        self.judge = Judge(scenario)
    }

    private var now: Instant { self.stage.run.now }

    // MARK: Running

    private mutating func run(into result: inout ScenarioResult) {
        do {
            for fault in self.stage.scenario.faults { try self.begin(fault) }
            try self.stage.begin()
            try self.stage.run.settle()
            try self.runToEnd()
        } catch let error as RunError {
            result.problem = self.text(error)
        } catch {
            result.problem = "step \((self.script.step ?? 0) + 1): \(error)"
        }
        self.seeNew()
        self.judge.end(at: self.now, in: self.stage.run.history)
        self.report(into: &result)
    }

    private mutating func runToEnd() throws {
        let last = Instant(nanoseconds: 0) + self.stage.scenario.atMost
        while true {
            self.seeNew()
            try self.beginDue()
            try self.follow()
            if self.script.isOver, self.failure != nil || !self.judge.isWaiting { return }
            guard self.now < last else {
                if !self.script.isOver, let order = self.script.end() { try self.perform(order) }
                return
            }
            let next = [self.script.deadline, self.judge.deadline].compactMap(\.self).min() ?? last
            _ = try self.stage.run.advance(to: min(max(next, self.now), last))
            self.seeNew()
            if let deadline = self.judge.deadline, deadline <= self.now {
                self.judge.deadlineReached(at: self.now, in: self.stage.run.history)
            }
        }
    }

    /// Lets the script do what is due, until nothing is.
    private mutating func follow() throws {
        while true {
            self.stage.updateProgress()
            let decisions = ScenarioScript.Decisions(
                isStepDecided: self.script.actedStep.map { self.judge.isDecided(step: $0) } ?? false,
                isEndDecided: self.judge.isEndDecided)
            guard
                let order = self.script.advance(
                    at: self.now, self.stage.progress, decisions, in: self.stage.run.history)
            else { return }
            try self.perform(order)
            try self.stage.run.settle()
            self.seeNew()
        }
    }

    private mutating func perform(_ order: ScenarioScript.Order) throws {
        switch order {
        case .begin(let index):
            let step = self.stage.scenario.steps[index]
            self.stage.run.history.append(.step(index, step.text), at: self.now)
            self.seeNew()
            if let action = step.action { try self.stage.perform(action) }
            for fault in step.faults { try self.begin(fault) }
        case .fail(let step, let reason): self.failure = (step, reason, self.now)
        case .end: break
        }
    }

    /// Shows the script, the faults and the judge what happened.
    private mutating func seeNew() {
        while self.seenCount < self.stage.run.history.entries.count {
            let entry = self.stage.run.history.entries[self.seenCount]
            self.seenCount += 1
            self.judge.see(entry, in: self.stage.run.history)
            self.script.see(entry, in: self.stage.run.history)
            for index in self.waiting.indices {
                if self.waiting[index].watch.see(entry, in: self.stage.run.history) {
                    self.waiting[index].isDue = true
                }
            }
        }
    }

    // MARK: Faults

    /// A fault that begins with an event.
    private struct WaitingFault {
        var watch: EventWatch
        let fault: Scenario.Fault
        var isDue = false
    }

    /// Begins a fault, or has it wait for its event.
    private mutating func begin(_ fault: Scenario.Fault) throws {
        guard let event = fault.after else { return try self.beginNow(fault) }
        let peers = self.peers(of: fault)
        for peer in peers where fault.isTriggered(on: peer) {
            if let linkFault = LinkFault(fault, of: peer) { self.stage.run.begin(linkFault, of: peer) }
        }
        guard peers.isEmpty || !peers.allSatisfy({ fault.isTriggered(on: $0) }) else { return }
        var waiting = WaitingFault(watch: EventWatch(event), fault: fault)
        let history = self.stage.run.history
        waiting.isDue = waiting.watch.begin(after: history.entries.count - 1, in: history)
        self.waiting.append(waiting)
    }

    /// Begins the faults whose events have happened.
    private mutating func beginDue() throws {
        guard self.waiting.contains(where: \.isDue) else { return }
        let due = self.waiting.filter(\.isDue)
        self.waiting.removeAll(where: \.isDue)
        for waiting in due { try self.beginNow(waiting.fault) }
        try self.stage.run.settle()
        self.seeNew()
    }

    private mutating func beginNow(_ fault: Scenario.Fault) throws {
        if case .gateway(let kind) = fault.target {
            return try self.stage.run.begin(kind.ofRun, for: fault.duration)
        }
        for peer in self.peers(of: fault) where !fault.isTriggered(on: peer) {
            if let linkFault = LinkFault(fault, of: peer) { self.stage.run.begin(linkFault, of: peer) }
        }
    }

    /// Those whose links it concerns; none for a fault of the gateway.
    private func peers(of fault: Scenario.Fault) -> [PeerID] {
        guard case .link(let selector, _) = fault.target else { return [] }
        return self.stage.run.peers.filter { selector?.contains($0) ?? true }
    }

    // MARK: The result

    private func report(into result: inout ScenarioResult) {
        let history = self.stage.run.history
        result.end = self.now
        for judged in self.judge.results {
            if judged.outcome == .notReached, let step = judged.step, let failure, step >= failure.step {
                result.unreachedCount += 1
                continue
            }
            result.expectations.append(self.reported(judged))
        }
        if let failure { result.expectations.append(self.reported(failure.step, failure.reason, failure.at)) }
        result.lints = self.lints(history)
        result.explain(by: history)
    }

    private func reported(_ judged: JudgedExpectation) -> ReportedExpectation {
        let expected = judged.expected
        var reported = ReportedExpectation(judged.text, at: expected.location, self.verdict(judged))
        reported.subjects = self.stage.run.peers.filter(expected.of.contains)
        reported.because = expected.because ?? ""
        reported.isForAnySeed = judged.isSometimes
        if let step = judged.step { reported.step = self.stage.scenario.steps[step].title(step) }
        return reported
    }

    /// The first failure, with how many there were.
    private func verdict(_ judged: JudgedExpectation) -> Verdict {
        guard let first = judged.failures.first else {
            return .passed(at: judged.passed ?? self.now, margin: judged.margin)
        }
        guard judged.failureCount > 1 else { return .failed(first) }
        let text = "\(first.expected)\nThis is the first of \(judged.failureCount) failures."
        return .failed(Failure(text, anchor: first.anchor, at: first.instant, nearest: first.nearest))
    }

    private func reported(
        _ index: Int, _ reason: ScenarioScript.StepFailure, _ instant: Instant
    ) -> ReportedExpectation {
        let step = self.stage.scenario.steps[index]
        let progress = self.stage.progress
        let text = "step \(index + 1) begins\(step.waiting.text)"
        let expected: String
        switch reason {
        case .eventNeverHappened: expected = "\(text)\nits event never happened"
        case .driveEndedBefore:
            expected = "\(text)\nthe drive ended after \(Int(progress.meters)) m"
        case .tookTooLong:
            let limit = ClockText.duration(self.stage.scenario.atMost)
            let driven =
                progress.beganAt == nil ? "no drive has begun" : "the drive is at \(Int(progress.meters)) m"
            expected = "\(text)\nthe scenario took longer than \(limit) (at-most); \(driven)"
        }
        var reported = ReportedExpectation(
            text, at: step.location, .failed(Failure(expected, anchor: nil, at: instant, nearest: nil)))
        reported.step = step.title(index)
        return reported
    }

    /// All rules, with what each found. An allowance may be of one peer alone.
    private func lints(_ history: History) -> [ReportedLint] {
        var linter = Linter()
        let findings = linter.judge(history) + linter.advance(to: self.now)
        return LintID.allCases.map { rule in
            let allowances = self.stage.scenario.allowances.filter { $0.rule == rule.rawValue }
            var lint = ReportedLint(rule.rawValue, rule.sentence)
            lint.allowance = allowances.first?.reason
            for finding in findings where finding.rule == rule {
                if allowances.contains(where: { $0.of?.contains(finding.peer) ?? true }) {
                    lint.allowedCount += 1
                } else {
                    let field = finding.field.isEmpty ? "" : " (\(finding.field))"
                    lint.findings.append(
                        ReportedLint.Finding(
                            finding.text + field, of: finding.peer, at: finding.instant, index: finding.entry)
                    )
                }
            }
            return lint
        }
    }

    private func text(_ error: RunError) -> String {
        switch error {
        case .historyFull:
            "The history is full after \(ClockText.seconds(self.now)) s. at-most limits how long a scenario takes."
        case .standsStill(let instant):
            "At \(ClockText.seconds(instant)) s, things happen without end and time does not pass."
        }
    }
}

/// Changes what peers want, as faulty ones would; nil: nothing.
package struct RunMutations: Sendable {
    package var client: (@Sendable (GuideMachine.Action) -> [GuideMachine.Action])?
    package var vehicle: (@Sendable (RigVehicle.Output) -> [RigVehicle.Output])?
    package init() {}
}

extension Scenario.Fault.GatewayFault {
    fileprivate var ofRun: VirtualRun.GatewayFault {
        switch self {
        case .kill: .kill
        case .stop: .stop
        case .restart: .restart
        }
    }
}
