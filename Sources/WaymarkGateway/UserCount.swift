internal import WaymarkProtocol

/// Counts things that are limited, in all and for each user.
struct UserCount: Sendable, Hashable, Codable {
    private(set) var count = 0
    /// No entry for a user without any.
    private var countByUser: [Principal: Int] = [:]

    func count(of user: Principal) -> Int { self.countByUser[user] ?? 0 }

    mutating func add(_ user: Principal, _ amount: Int = 1) {
        self.count += amount
        self.countByUser[user, default: 0] += amount
    }

    /// Removes what was added before.
    mutating func remove(_ user: Principal, _ amount: Int = 1) {
        guard let count = self.countByUser[user] else { return }
        self.count -= amount
        self.countByUser[user] = count <= amount ? nil : count - amount
    }
}
