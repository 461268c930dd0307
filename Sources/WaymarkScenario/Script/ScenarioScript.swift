package import WaymarkHistory
package import WaymarkProtocol

/// The steps of a scenario, one after the other: when each acts, and when the scenario is over. A value without clock: entries and
/// instants go in, orders come out.
package struct ScenarioScript: Sendable {
    /// What the run must do.
    package enum Order: Sendable, Hashable {
        /// The step with this index acts, and its expectations begin.
        case begin(step: Int)
        /// The step with this index does not act, and no later one does.
        case fail(step: Int, StepFailure)
        /// The scenario is over.
        case end
    }

    /// Why a step did not act.
    package enum StepFailure: Sendable, Hashable {
        /// Its event did not happen within its time.
        case eventNeverHappened
        /// The drive was over before it was there.
        case driveEndedBefore
        /// The scenario took too long.
        case tookTooLong
    }

    /// How far the drive of the first client is.
    package struct Progress: Sendable, Hashable {
        /// When it began; nil before.
        package var beganAt: Instant?
        /// Over all its routes.
        package var meters = 0.0
        /// The length of its first route.
        package var routeMeters = 0.0
        /// It has ended, and no other is under way.
        package var isOver = false

        package init() {}
    }

    /// What the judge has found so far.
    package struct Decisions: Sendable, Hashable {
        /// All that the step of ``ScenarioScript/actedStep`` expects within a time is decided.
        package var isStepDecided: Bool
        /// The end of the drive that the scenario names is decided.
        package var isEndDecided: Bool

        package init(isStepDecided: Bool, isEndDecided: Bool) {
            (self.isStepDecided, self.isEndDecided) = (isStepDecided, isEndDecided)
        }
    }

    private enum State {
        case waiting(step: Int, since: Instant)
        case acted(step: Int)
        /// All steps are over.
        case finishing(since: Instant?)
        case over
    }

    /// After the end of a drive without which nothing more is to come, what is under way may arrive for so long.
    private static let tail = Duration.seconds(1)
    /// The same for a scenario that names the end, which may be under way to a slow vehicle.
    private static let endingTail = Duration.seconds(10)

    private let steps: [Scenario.Step]
    private let hasEnding: Bool
    private var state: State
    private var watch: EventWatch?
    private var hasHappened = false
    private var driveBeganAt: Instant?

    /// `since`: when its first step begins to wait; `history`: what happened until then.
    package init(
        _ scenario: Scenario, since: Instant = Instant(nanoseconds: 0), in history: History = History()
    ) {
        self.steps = scenario.steps
        self.hasEnding = scenario.ending != nil
        self.state = .finishing(since: nil)
        if !scenario.steps.isEmpty {
            self.wait(for: 0, since: since, after: history.entries.count - 1, in: history)
        }
    }

    package var isOver: Bool {
        if case .over = self.state { true } else { false }
    }

    /// The index of the step that has not acted yet, or whose expectations are not decided; nil after the last.
    package var step: Int? {
        switch self.state {
        case .waiting(let step, _), .acted(let step): step
        case .finishing, .over: nil
        }
    }

    /// The index of the step whose expectations are not decided; nil if there is none.
    package var actedStep: Int? {
        if case .acted(let step) = self.state { step } else { nil }
    }

    /// Whether an entry can give the next order, and not only the clock.
    package var followsEntries: Bool {
        switch self.state {
        case .waiting: self.hasHappened
        case .acted: true
        case .finishing: self.hasEnding
        case .over: false
        }
    }

    /// When to call ``advance(at:_:_:after:in:)`` if nothing happens until then.
    package var deadline: Instant? {
        switch self.state {
        case .waiting(let step, let since):
            switch self.steps[step].waiting {
            case .nothing: since
            case .time(let duration), .event(_, let duration): since + duration
            case .position(.time(let duration)): self.driveBeganAt.map { $0 + duration }
            case .position(.meters), .position(.percent): nil
            }
        case .finishing(let since?): since + (self.hasEnding ? Self.endingTail : Self.tail)
        case .acted, .finishing(nil), .over: nil
        }
    }

    /// Sees the newest entry of the history.
    package mutating func see(_ entry: History.Entry, in history: History) {
        guard !self.hasHappened, var watch = self.watch else { return }
        self.hasHappened = watch.see(entry, in: history)
        self.watch = watch
    }

    /// Decides which steps act now, after the entry at `index`, the last one that it has seen.
    ///
    /// At most one step begins in a call: what it expects must be known before it can be decided.
    package mutating func advance(
        at now: Instant, _ progress: Progress, _ decisions: Decisions, after index: Int, in history: History
    ) -> Order? {
        self.driveBeganAt = progress.beganAt
        switch self.state {
        case .waiting(let step, let since):
            switch self.readiness(of: step, since, at: now, progress) {
            case .waits: return nil
            case .failed(let failure):
                self.state = .over
                return .fail(step: step, failure)
            case .ready:
                self.state = .acted(step: step)
                return .begin(step: step)
            }
        case .acted(let step):
            guard decisions.isStepDecided else { return nil }
            if step + 1 < self.steps.count {
                self.wait(for: step + 1, since: now, after: index, in: history)
                return self.advance(at: now, progress, decisions, after: index, in: history)
            }
            self.state = .finishing(since: nil)
            return self.finish(at: now, progress, decisions)
        case .finishing: return self.finish(at: now, progress, decisions)
        case .over: return nil
        }
    }

    /// The scenario has taken as long as it may.
    package mutating func end() -> Order? {
        defer { self.state = .over }
        return switch self.state {
        case .waiting(let step, _): .fail(step: step, .tookTooLong)
        case .acted, .finishing: .end
        case .over: nil
        }
    }

    // MARK: Steps

    private enum Readiness { case waits, ready, failed(StepFailure) }

    private mutating func wait(for step: Int, since: Instant, after index: Int, in history: History) {
        self.state = .waiting(step: step, since: since)
        (self.hasHappened, self.watch) = (false, nil)
        guard case .event(let event, _) = self.steps[step].waiting else { return }
        var watch = EventWatch(event)
        self.hasHappened = watch.begin(after: index, in: history)
        self.watch = watch
    }

    private func readiness(
        of step: Int, _ since: Instant, at now: Instant, _ progress: Progress
    ) -> Readiness {
        switch self.steps[step].waiting {
        case .nothing: return .ready
        case .time(let duration): return now >= since + duration ? .ready : .waits
        case .event(_, let duration):
            if self.hasHappened { return .ready }
            return now >= since + duration ? .failed(.eventNeverHappened) : .waits
        case .position(let position):
            if self.isThere(position, at: now, progress) { return .ready }
            return progress.isOver ? .failed(.driveEndedBefore) : .waits
        }
    }

    private func isThere(_ position: Scenario.Position, at now: Instant, _ progress: Progress) -> Bool {
        guard let begin = progress.beganAt else { return false }
        switch position {
        case .meters(let meters): return progress.meters >= meters
        case .percent(let percent): return progress.meters >= progress.routeMeters * percent / 100
        case .time(let duration): return now >= begin + duration
        }
    }

    /// Without an ending the scenario is over with its last step; without steps, when the drive is.
    private mutating func finish(at now: Instant, _ progress: Progress, _ decisions: Decisions) -> Order? {
        guard case .finishing(var since) = self.state else { return nil }
        if progress.isOver, since == nil { since = now }
        self.state = .finishing(since: since)
        let isOver =
            self.hasEnding ? decisions.isEndDecided : !self.steps.isEmpty
        guard isOver || self.deadline.map({ now >= $0 }) == true else { return nil }
        self.state = .over
        return .end
    }
}
