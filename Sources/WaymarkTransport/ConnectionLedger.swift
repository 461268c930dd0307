package import WaymarkProtocol

/// Counts connections against the limits in all and per user id.
package struct ConnectionLedger: Sendable, Hashable {
    package struct Limits: Sendable, Hashable {
        package var connectionsMax = 20_000
        /// Peers without a user id, as over TCP, count as one user.
        package var connectionsPerUserMax = 12_000

        package init() {}
    }

    package var limits: Limits
    private var counts: [UInt32?: Int] = [:]
    private(set) package var count = 0

    package init(limits: Limits) { self.limits = limits }

    /// Counts a connection of `user` (nil without a user id).
    ///
    /// - Returns: nil, or the Goodbye to refuse it with: then it is not counted.
    package mutating func add(_ user: UInt32?) -> Goodbye? {
        guard self.count < self.limits.connectionsMax else {
            return Goodbye(.tooManyConnections, reason: "the gateway has as many connections as it may")
        }
        guard self.counts[user, default: 0] < self.limits.connectionsPerUserMax else {
            return Goodbye(.tooManyConnections, reason: "this user has as many connections as one may")
        }
        self.restore(user)
        return nil
    }

    /// Counts a connection that another process took, whatever the limits.
    mutating func restore(_ user: UInt32?) {
        self.count += 1
        self.counts[user, default: 0] += 1
    }

    /// Forgets a connection that was counted.
    package mutating func remove(_ user: UInt32?) {
        guard let count = self.counts[user] else { return }
        self.count -= 1
        self.counts[user] = count == 1 ? nil : count - 1
    }
}
