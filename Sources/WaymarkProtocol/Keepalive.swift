/// Both ends' sign-of-life rule: say something every interval, give up after three intervals of silence.
///
/// A value without a clock; nested in the peer sessions.
package struct Keepalive: Sendable, Hashable, Codable {
    package enum Verdict: Sendable, Hashable {
        /// Nothing to do.
        case alive
        /// One of the two directions was silent for an interval.
        case ping
        /// The peer was silent for three intervals.
        case dead
    }

    package let interval: Duration
    /// When the next ``tick(at:)`` is due.
    package private(set) var nextTick: Instant
    private var heard = false
    private var spoke = false
    private var silentIntervals: Int64 = 0

    package init(interval: Duration, at now: Instant) {
        self.interval = interval
        self.nextTick = now + interval
    }

    /// Something arrived.
    package mutating func noteReceived() { self.heard = true }

    /// Something was sent.
    package mutating func noteSent() { self.spoke = true }

    /// An interval has passed.
    package mutating func tick(at now: Instant) -> Verdict {
        defer {
            self.heard = false
            self.spoke = false
            self.nextTick = now + self.interval
        }
        self.silentIntervals = self.heard ? 0 : self.silentIntervals + 1
        if self.silentIntervals >= ProtocolConstants.keepaliveIntervalsMax { return .dead }
        return self.heard && self.spoke ? .alive : .ping
    }
}
