internal import WaymarkProtocol

/// Counts known peers: connected, or in their grace time. Each has one valid token, in its record.
struct KnownPeers: Sendable, Hashable, Codable {
    private(set) var count = 0
    /// How many each user has. Users without any are not in it.
    private(set) var countByUser: [Principal: Int] = [:]

    /// A peer of a user has become known.
    mutating func add(_ user: Principal) {
        self.count += 1
        self.countByUser[user, default: 0] += 1
    }

    /// One that was known is forgotten.
    mutating func remove(_ user: Principal) {
        guard let count = self.countByUser[user] else { return }
        self.count -= 1
        self.countByUser[user] = count == 1 ? nil : count - 1
    }
}
