internal import WaymarkProtocol

/// The tokens that are good, and whose they are: one for each peer that is connected or may come back.
struct TokenBook: Sendable, Hashable, Codable {
    private var owners: [ResumptionToken: Owner] = [:]
    /// How many peers each user has. Users without any are not in it.
    private(set) var countByUser: [Principal: Int] = [:]

    private struct Owner: Sendable, Hashable, Codable {
        let peer: Peer
        let user: Principal
    }

    /// How many peers are known.
    var count: Int { self.owners.count }

    /// Gives a peer a token that nobody had before.
    mutating func add(_ token: ResumptionToken, of peer: Peer, _ user: Principal) {
        self.remove(token)
        self.owners[token] = Owner(peer: peer, user: user)
        self.countByUser[user, default: 0] += 1
    }

    /// Makes a token worthless.
    mutating func remove(_ token: ResumptionToken) {
        guard let owner = self.owners.removeValue(forKey: token) else { return }
        let count = self.countByUser[owner.user, default: 0] - 1
        self.countByUser[owner.user] = count == 0 ? nil : count
    }

    /// Whether `token` is good for `peer`; it is used up by that.
    mutating func use(_ token: ResumptionToken?, of peer: Peer) -> Bool {
        guard let token, self.owners[token]?.peer == peer else { return false }
        self.remove(token)
        return true
    }
}
