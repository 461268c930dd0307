internal import WaymarkProtocol

/// Counts known peers: connected, or in their grace time. Each has one valid token, in its record.
struct KnownPeers: Sendable, Hashable, Codable {
    private(set) var count = 0
    /// The number of each user's peers; no entry for a user without peers.
    private(set) var countByUser: [Principal: Int] = [:]

    /// A peer of a user has become known.
    mutating func add(_ user: Principal) {
        self.count += 1
        self.countByUser[user, default: 0] += 1
    }

    /// A known peer of a user is forgotten.
    mutating func remove(_ user: Principal) {
        guard let count = self.countByUser[user] else { return }
        self.count -= 1
        self.countByUser[user] = count == 1 ? nil : count - 1
    }
}
