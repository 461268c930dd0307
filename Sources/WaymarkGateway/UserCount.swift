internal import WaymarkProtocol

/// Counts things that are limited, in all and for each user.
struct UserCount: Sendable, Hashable, Codable {
    private(set) var count = 0
    /// No entry for a user without any.
    private var countByUser: [Principal: Int] = [:]

    func count(of user: Principal) -> Int { self.countByUser[user] ?? 0 }

    mutating func add(_ user: Principal) {
        self.count += 1
        self.countByUser[user, default: 0] += 1
    }

    mutating func remove(_ user: Principal) {
        guard let count = self.countByUser[user] else { return }
        self.count -= 1
        self.countByUser[user] = count == 1 ? nil : count - 1
    }
}
