internal import Synchronization

/// Time that stands still for a moment after each step, so that a person can read the step. Told what the clock says.
struct ReadingTime: Sendable {
    /// How long it has stood so far, without the stand that may be under way.
    private var stood = Duration.zero
    /// While it stands: what it shows, and what the clock says when it moves again.
    private var stand: (at: Duration, until: Duration)?

    /// What it shows when the clock says `clock`, which never goes back.
    mutating func now(_ clock: Duration) -> Duration {
        guard let stand else { return clock - self.stood }
        guard clock >= stand.until else { return stand.at }
        self.stood = stand.until - stand.at
        self.stand = nil
        return clock - self.stood
    }

    /// Stands still for `duration` from now on, or for that much longer.
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

    /// Stands still for `pause` after each step; zero never stands.
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
