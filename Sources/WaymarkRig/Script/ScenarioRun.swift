package import WaymarkClient
internal import WaymarkFaults
package import WaymarkHistory
internal import WaymarkLint
package import WaymarkProtocol
package import WaymarkScenario
internal import WaymarkTexts

/// What a step of a scenario does besides what a file can say: begin any fault, let peers do anything, look at them. It comes behind the
/// step's action and faults. An error ends the run, and is its problem.
package typealias StepCode = @Sendable (_ run: inout VirtualRun) throws -> Void

/// A scenario that is run: its stage, its script, and what judges it. A value without clock and I/O.
package struct ScenarioRun {
    var stage: ScenarioStage
    private var script: ScenarioScript
    private var judge: Judge
    /// Faults that begin with an event: what waits for it.
    private var waiting: [WaitingFault] = []
    /// How many entries the script and the judge have seen.
    private(set) var seenCount = 0
    private var absent: AbsentPrograms
    /// The program without which the run ended.
    private var absence: AbsentPrograms.Absence?
    /// The step that did not begin, and why.
    private var failure: (step: Int, reason: ScenarioScript.StepFailure, at: Instant)?
    /// Why the rig cannot run it, or not to its end.
    private var problem: String?
    private let seed: UInt64
    private let clock: RunClock
    private let code: [Int: StepCode]

    /// Runs a scenario to its end, in virtual time.
    ///
    /// - Parameters:
    ///   - scenario: Without obstacles.
    ///   - inputs: All that it names.
    ///   - seed: In place of the scenario's.
    ///   - mutations: What faulty peers do; the default: nothing.
    ///   - code: What steps also do, by their index.
    /// - Returns: What came of it, and everything that happened.
    package static func run(
        _ scenario: Scenario, _ inputs: ScenarioInputs, seed: UInt64? = nil,
        mutations: RunMutations = RunMutations(), code: [Int: StepCode] = [:]
    ) -> (result: ScenarioResult, history: History) {
        do throws(ClientError) {
            var run = try ScenarioRun(scenario, inputs, .virtual, seed: seed, mutations, code)
            run.begin()
            while !run.proceed() { run.jump() }
            return run.finish()
        } catch {
            var result = ScenarioResult(file: scenario.file)
            (result.about, result.seed) = (scenario.about ?? "", seed ?? scenario.seed)
            result.problem = "\(error)"
            return (result, History())
        }
    }

    /// A run that has not begun.
    ///
    /// - Throws: What is wrong with a Hello.
    package init(
        _ scenario: Scenario, _ inputs: ScenarioInputs, _ clock: RunClock, seed: UInt64? = nil,
        _ mutations: RunMutations = RunMutations(), _ code: [Int: StepCode] = [:]
    ) throws(ClientError) {
        (self.seed, self.clock, self.code) = (seed ?? scenario.seed, clock, code)
        self.stage = try ScenarioStage(scenario, inputs, seed: self.seed, mutations, clock)
        self.script = ScenarioScript(scenario)
        self.judge = Judge(scenario)
        self.absent = AbsentPrograms(scenario)
    }

    package var now: Instant { self.stage.run.now }

    // MARK: Running

    /// Everyone connects who does so by themselves. Call ``proceed()`` next.
    package mutating func begin() {
        do {
            for fault in self.stage.scenario.faults { try self.begin(fault) }
            try self.stage.begin()
            try self.stage.run.settle()
        } catch { self.stop(error) }
    }

    /// Does what is due now.
    ///
    /// - Returns: Whether the scenario is over.
    package mutating func proceed() -> Bool {
        guard self.problem == nil else { return true }
        do {
            try self.stage.advanceReplays()
            if let problem = self.stage.replayProblem {
                self.fail(problem)
                return true
            }
            self.seeNew()
            try self.beginDue()
            try self.follow()
            self.absence = self.absent.absence(
                at: self.now, isFailed: self.judge.isDecided && self.script.step == nil)
            if self.isOver || self.absence != nil { return true }
            guard self.now >= self.last else { return false }
            if !self.script.isOver, let order = self.script.end() { try self.perform(order) }
        } catch { self.stop(error) }
        return true
    }

    /// No step is left, and nothing that has begun is still within its window.
    private var isOver: Bool {
        self.script.isOver && (self.failure != nil || !(self.judge.isWaiting || self.stage.isReplaying))
    }

    /// When the scenario has taken as long as it may.
    private var last: Instant { Instant(nanoseconds: 0) + self.stage.scenario.atMost }

    /// Advances to the next instant at which something happens.
    private mutating func jump() {
        let next = [self.script.deadline, self.judge.deadline].compactMap(\.self).min() ?? self.last
        do throws(RunError) {
            _ = try self.stage.run.advance(to: min(max(next, self.now), self.last))
        } catch { return self.stop(error) }
        self.judgeDue()
    }

    private mutating func judgeDue() {
        self.seeNew()
        if let deadline = self.judge.deadline, deadline <= self.now {
            self.judge.deadlineReached(at: self.now, in: self.stage.run.history)
        }
    }

    private mutating func stop(_ error: any Error) {
        if let error = error as? RunError {
            self.problem = self.text(error)
        } else {
            self.problem = "step \((self.script.step ?? 0) + 1): \(error)"
        }
    }

    /// The run is over.
    ///
    /// - Returns: What came of it, and everything that happened.
    package mutating func finish() -> (result: ScenarioResult, history: History) {
        var result = ScenarioResult(file: self.stage.scenario.file)
        (result.about, result.seed) = (self.stage.scenario.about ?? "", self.seed)
        (result.clock, result.problem) = (self.clock, self.problem)
        self.seeNew()
        self.judge.end(at: self.now, in: self.stage.run.history)
        self.report(into: &result)
        return (result, self.stage.run.history)
    }

    // MARK: Over sockets

    /// Hands something to the run, at an instant of the clock, and does what follows from it and what is due.
    package mutating func catchUp(to now: Instant, _ body: (inout VirtualRun) -> Void = { _ in }) {
        guard self.problem == nil else { return }
        self.stage.run.setClock(now)
        body(&self.stage.run)
        do throws(RunError) { try self.stage.run.catchUp() } catch { return self.stop(error) }
        self.judgeDue()
    }

    /// Looks at the run or takes its orders, without advancing it.
    package mutating func withRun<Value>(_ body: (inout VirtualRun) -> Value) -> Value {
        body(&self.stage.run)
    }

    /// When ``catchUp(to:_:)`` is due, whatever arrives before.
    package var deadline: Instant {
        [
            self.stage.run.deadline, self.stage.replayDeadline, self.script.deadline, self.judge.deadline,
            self.absent.deadline,
        ]
        .compactMap(\.self).reduce(self.last, min)
    }

    /// The program of a peer has ended, as `text` says.
    package mutating func programEnded(_ peer: PeerID, _ text: String) {
        self.stage.run.history.append(.log(peer, "the program \(text)"), at: self.now)
        self.stage.programEnded(peer)
        self.absent.programEnded(peer, "the program \(text)")
    }

    /// The rig itself cannot continue.
    package mutating func fail(_ problem: String) { self.problem = self.problem ?? problem }

    /// Lets the script do what is due, until nothing is.
    private mutating func follow() throws {
        while try self.advanceScript() { self.seeNew() }
    }

    /// Whether the script gave an order, which was carried out.
    private mutating func advanceScript() throws -> Bool {
        self.stage.updateProgress()
        let decisions = ScenarioScript.Decisions(
            isStepDecided: self.script.actedStep.map { self.judge.isDecided(step: $0) } ?? false,
            isEndDecided: self.judge.isEndDecided)
        guard
            let order = self.script.advance(
                at: self.now, self.stage.progress, decisions, after: self.seenCount - 1,
                in: self.stage.run.history)
        else { return false }
        try self.perform(order)
        try self.stage.run.settle()
        return true
    }

    private mutating func perform(_ order: ScenarioScript.Order) throws {
        switch order {
        case .begin(let index):
            let step = self.stage.scenario.steps[index]
            self.insertStep(index, step.text)
            self.seeNext()
            if let action = step.action { try self.stage.perform(action) }
            for fault in step.faults { try self.begin(fault) }
            try self.code[index]?(&self.stage.run)
        case .fail(let step, let reason): self.failure = (step, reason, self.now)
        case .end: break
        }
    }

    /// Adds a step's entry behind those that were seen: what arrived together with its event comes after it, however bytes were cut into
    /// reads.
    mutating func insertStep(_ index: Int, _ text: String) {
        self.stage.run.history.insert(.step(index, text), at: self.seenCount, orAt: self.now)
    }

    /// Shows the script, the faults and the judge what happened. A step begins right behind the entry that lets it. What came in the same
    /// read as the end of the scenario is in the history, and is not judged.
    mutating func seeNew() {
        while self.seenCount < self.stage.run.history.entries.count {
            guard !self.isOver else { return }
            self.seeNext()
            do {
                while self.script.followsEntries, try self.advanceScript() {}
            } catch { return self.stop(error) }
        }
    }

    /// Shows everyone the next entry; nil if all were shown.
    @discardableResult mutating func seeNext() -> History.Entry? {
        guard self.seenCount < self.stage.run.history.entries.count else { return nil }
        let entry = self.stage.run.history.entries[self.seenCount]
        self.seenCount += 1
        self.judge.see(entry, in: self.stage.run.history)
        self.script.see(entry, in: self.stage.run.history)
        self.stage.observe(entry)
        self.absent.see(entry)
        for index in self.waiting.indices
        where self.waiting[index].watch.see(entry, in: self.stage.run.history) {
            self.waiting[index].isDue = true
        }
        return entry
    }

    // MARK: Faults

    /// A fault that begins with an event.
    private struct WaitingFault {
        var watch: EventWatch
        let fault: Scenario.Fault
        var isDue = false
    }

    /// Begins a fault, or has it wait for its event.
    mutating func begin(_ fault: Scenario.Fault) throws {
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
    mutating func beginDue() throws {
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
            if judged.outcome == .notReached, self.absence != nil || self.isBehindFailure(judged) {
                result.unreachedCount += 1
                continue
            }
            result.expectations.append(self.reported(judged))
        }
        if let failure { result.expectations.append(self.reported(failure.step, failure.reason, failure.at)) }
        if let absence { result.expectations.append(self.reported(absence)) }
        result.expectations += self.stage.comparisons
        result.replayed = self.stage.replayed
        result.lints = self.lints(history)
        result.explain(by: history)
    }

    /// It belongs to the step that did not begin, or to a later one.
    private func isBehindFailure(_ judged: JudgedExpectation) -> Bool {
        guard let step = judged.step, let failure else { return false }
        return step >= failure.step
    }

    private func reported(_ absence: AbsentPrograms.Absence) -> ReportedExpectation {
        let limit = ClockText.duration(self.stage.scenario.connectWithin)
        let text = "\(absence.program.peer) connects within \(limit)"
        let reason = absence.reason.isEmpty ? "" : ": \(absence.reason)"
        let failure = Failure(
            "\(text)\n\(absence.program.peer) did not connect\(reason)", anchor: nil, at: absence.instant,
            nearest: nil)
        var reported = ReportedExpectation(text, at: absence.program.command.location, .failed(failure))
        reported.subjects = [absence.program.peer]
        reported.isCause = true
        return reported
    }

    private func reported(_ judged: JudgedExpectation) -> ReportedExpectation {
        let expected = judged.expected
        var reported = ReportedExpectation(judged.text, at: expected.location, self.verdict(judged))
        reported.subjects = self.stage.run.peers.filter(expected.of.contains)
        reported.because = expected.because ?? ""
        reported.isForAnySeed = judged.isSometimes
        reported.window = expected.word.window
        if let step = judged.step { reported.step = self.stage.scenario.steps[step].title(step) }
        return reported
    }

    /// The first failure, with how many there were.
    func verdict(_ judged: JudgedExpectation) -> Verdict {
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
    func lints(_ history: History) -> [ReportedLint] {
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

    func text(_ error: RunError) -> String {
        switch error {
        case .historyFull:
            "The history is full after \(ClockText.seconds(self.now)) s. at-most limits how long a scenario takes."
        case .standsStill(let instant):
            "At \(ClockText.seconds(instant)) s, things happen without end and time does not pass."
        }
    }
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
