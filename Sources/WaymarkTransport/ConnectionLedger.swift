package import WaymarkProtocol

/// Counts connections, in total and per user id, and enforces their limits.
package struct ConnectionLedger: Sendable, Hashable {
    package struct Limits: Sendable, Hashable {
        package var connectionsMax = 20_000
        /// All peers without a user id, such as those over TCP, count as one user.
        package var connectionsPerUserMax = 12_000

        package init() {}
    }

    package var limits: Limits
    private var counts: [UInt32?: Int] = [:]
    private(set) package var count = 0

    package init(limits: Limits) { self.limits = limits }

    /// Counts a connection of `user`, which is nil for a peer without a user id.
    ///
    /// - Returns: nil, or the Goodbye to refuse the connection with; a refused connection is not counted.
    package mutating func add(_ user: UInt32?) -> Goodbye? {
        guard self.count < self.limits.connectionsMax else {
            return Goodbye(.tooManyConnections, reason: "the gateway has reached its connection limit")
        }
        guard self.counts[user, default: 0] < self.limits.connectionsPerUserMax else {
            return Goodbye(.tooManyConnections, reason: "this user has reached the connection limit")
        }
        self.restore(user)
        return nil
    }

    /// Counts a connection that another process accepted. The limits do not apply.
    mutating func restore(_ user: UInt32?) {
        self.count += 1
        self.counts[user, default: 0] += 1
    }

    /// Removes a connection that was counted.
    package mutating func remove(_ user: UInt32?) {
        guard let count = self.counts[user] else { return }
        self.count -= 1
        self.counts[user] = count == 1 ? nil : count - 1
    }
}
