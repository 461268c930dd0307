internal import WaymarkProtocol

/// When observers are told what happened: at once after a quiet time, and otherwise at intervals, so that one message to a socket has what
/// several peers sent.
struct ObserverPace {
    /// The least time between two messages, unless more waits than one takes.
    private let interval: Duration
    /// nil: observers may be told now.
    private var restEnd: Instant?
    /// Something waits for the end of the rest.
    private var isAwaited = false
    /// What the driver has not been told.
    private var deadline: Instant?

    init(interval: Duration = .milliseconds(10)) { self.interval = interval }

    /// Whether ``begin(at:much:)`` has not yet said no during this rest.
    var mayTell: Bool { !self.isAwaited }

    /// Whether observers may be told now. If not, there will be a deadline. `much`: what waits fills a message.
    mutating func begin(at now: Instant, much: Bool) -> Bool {
        guard let restEnd, now < restEnd, !much else {
            (self.restEnd, self.isAwaited) = (nil, false)
            return true
        }
        if !self.isAwaited { (self.isAwaited, self.deadline) = (true, restEnd) }
        return false
    }

    /// Observers were told everything.
    mutating func rest(from now: Instant) {
        self.restEnd = self.interval > .zero ? now + self.interval : nil
    }

    /// When the rest ends for which something waits, once.
    mutating func takeDeadline() -> Instant? {
        defer { self.deadline = nil }
        return self.deadline
    }
}
