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

    init(interval: Duration = .milliseconds(10)) { self.interval = interval }

    /// Whether observers may be told something, or the rest's end is not yet a deadline.
    var isRunDue: Bool { !self.isAwaited }

    /// Time has passed.
    mutating func advance(to now: Instant) {
        if let restEnd, now >= restEnd { self.endRest() }
    }

    /// Something is to be told. `much`: it fills a message.
    ///
    /// - Returns: Whether it may be told now. If not, the end of the rest is a deadline.
    mutating func begin(much: Bool) -> Bool {
        guard self.restEnd != nil, !much else {
            self.endRest()
            return true
        }
        self.isAwaited = true
        return false
    }

    private mutating func endRest() { (self.restEnd, self.isAwaited) = (nil, false) }

    /// Observers were told everything.
    mutating func rest(from now: Instant) {
        self.restEnd = self.interval > .zero ? now + self.interval : nil
    }

    /// The end of the rest for which something waits; nil for none.
    var deadline: Instant? { self.isAwaited ? self.restEnd : nil }
}
