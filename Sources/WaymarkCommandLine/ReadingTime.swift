internal import Synchronization

/// A clock that stops for a moment after each step, so that a person can read the step. The caller tells it the time.
struct ReadingTime: Sendable {
    /// How long it has stopped so far, without the present stop.
    private var stood = Duration.zero
    /// While stopped: the time that it shows, and the time at which it continues.
    private var stand: (at: Duration, until: Duration)?

    /// The time that it shows at `clock`, which never decreases.
    mutating func now(_ clock: Duration) -> Duration {
        guard let stand else { return clock - self.stood }
        guard clock >= stand.until else { return stand.at }
        self.stood = stand.until - stand.at
        self.stand = nil
        return clock - self.stood
    }

    /// Stops for `duration`, or for that much longer.
    mutating func stand(for duration: Duration, _ clock: Duration) {
        let now = self.now(clock)
        self.stand = (now, (self.stand?.until ?? clock) + duration)
    }
}

/// The pace of a drive by reading time.
final class ReadingPace: Sendable {
    private let time = Mutex(ReadingTime())
    private let start = ContinuousClock.now
    private let pause: Duration

    /// Stops for `pause` after each step; zero: never.
    init(pause: Duration) { self.pause = pause }

    /// For a guide.
    var pace: Pace {
        var pace = Pace.realTime()
        pace.now = { self.time.withLock { $0.now(ContinuousClock.now - self.start) } }
        return pace
    }

    /// A step was told.
    func stand() {
        guard self.pause > .zero else { return }
        self.time.withLock { $0.stand(for: self.pause, ContinuousClock.now - self.start) }
    }
}
