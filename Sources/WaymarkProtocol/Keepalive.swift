/// Both ends' sign-of-life rule: send something in every interval, give up after three intervals of silence.
///
/// A value without a clock; nested in the peer sessions. It knows only whether something was sent since the last tick, because recording
/// the time of each frame would cost every frame. So while something is sent there are two ticks in an interval, and a tick
/// without a frame before it is the last moment for a Ping. While nothing else is sent, ticks are an interval apart, each with
/// a Ping.
package struct Keepalive: Sendable, Hashable, Codable {
    package enum Verdict: Sendable, Hashable {
        /// Nothing to do.
        case alive
        /// Send a Ping now: otherwise the peer would receive nothing for more than an interval, or it sent nothing for one.
        case ping
        /// The peer was silent for three intervals.
        case dead
    }

    /// Nanoseconds: `Duration` calculates with 128 bits, which most of a tick was spent on.
    private let interval: Int64
    /// When the next ``tick(at:)`` is due.
    package private(set) var nextTick: Instant
    private var heard = false
    private var spoke = false
    /// The next tick comes after half an interval.
    private var isHalf = false
    @Narrow private var silentHalves = 0

    /// Starts the interval; something was just sent.
    package init(interval: Duration, at now: Instant) {
        self.interval = interval.nanoseconds
        self.nextTick = now + interval
    }

    /// Something arrived.
    package mutating func noteReceived() { self.heard = true }

    /// Something was sent.
    package mutating func noteSent() { self.spoke = true }

    /// An interval has passed, or half of one. The Ping, if one is due, is sent now.
    package mutating func tick(at now: Instant) -> Verdict {
        self.silentHalves = self.heard ? 0 : self.silentHalves + (self.isHalf ? 1 : 2)
        // A whole-interval tick cannot tell how long ago the last frame was sent, so it always pings.
        let isPingDue = !self.isHalf || !self.spoke || self.silentHalves >= 2
        // An odd number of silent halves needs one more half tick, or silence would be detected only after four intervals.
        self.isHalf = self.spoke || !self.silentHalves.isMultiple(of: 2)
        self.heard = false
        self.spoke = false
        let step = self.isHalf ? self.interval / 2 : self.interval
        // Counted from when this tick was due, so that the delays of two ticks do not add up. After a tick that is later than a step
        // the next ones would be due at once, and the peer would have no time to answer.
        let due = Instant(nanoseconds: self.nextTick.nanoseconds + step)
        let isOnTime = now >= self.nextTick && now < due
        self.nextTick = isOnTime ? due : Instant(nanoseconds: now.nanoseconds + step)
        if self.silentHalves >= 2 * ProtocolConstants.keepaliveIntervalsMax { return .dead }
        return isPingDue ? .ping : .alive
    }
}
