package import WaymarkProtocol

/// How fast a peer reads. What it leaves fills its sockets, and then the gateway's outbox.
package struct ReadPace: Sendable, Hashable {
    /// nil: as fast as they come.
    package var bytesPerSecond: Int?
    /// What the peer spends on each message.
    package var perMessage = Duration.zero
    private var pausedUntil: Instant?
    /// Up to this instant, everything that might be read was read.
    private var credit = Instant(nanoseconds: 0)

    package init() {}

    /// Whether reading has a measure at all.
    var isPaced: Bool { self.bytesPerSecond != nil || self.perMessage > .zero || self.pausedUntil != nil }

    /// The peer reads nothing for a time.
    package mutating func pause(until instant: Instant) { self.pausedUntil = instant }

    private var rate: Int? { self.bytesPerSecond.map { min(max(1, $0), 1_000_000_000) } }

    /// How many bytes may be read now: what was not read in the last second is not read later instead.
    mutating func allowance(at now: Instant) -> Int {
        if let pausedUntil {
            guard pausedUntil <= now else { return 0 }
            self.credit = max(self.credit, pausedUntil)
            self.pausedUntil = nil
        }
        guard self.credit <= now else { return 0 }
        guard let rate else { return .max }
        self.credit = max(self.credit, now + .seconds(-1))
        return Int((now - self.credit).nanoseconds) * rate / 1_000_000_000
    }

    /// Bytes were read, which ended so many messages.
    mutating func noteRead(bytes: Int, messages: Int, at now: Instant) {
        if let rate {
            self.credit = self.credit + .nanoseconds((bytes * 1_000_000_000 + rate - 1) / rate)
        } else {
            self.credit = now
        }
        self.credit = self.credit + self.perMessage * messages
    }

    /// When more may be read, if there is something to read.
    func deadline(wanting bytes: Int) -> Instant {
        let start = max(self.credit, self.pausedUntil ?? self.credit)
        guard let rate else { return start }
        return start + .nanoseconds((max(1, bytes) * 1_000_000_000 + rate - 1) / rate)
    }
}
