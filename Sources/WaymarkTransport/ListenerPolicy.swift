package import WaymarkProtocol

/// Who may come through a listener.
package struct ListenerPolicy: Sendable, Hashable {
    package var roles: Set<AcceptingSession.Role>
    /// The pre-shared key that a Hello must bring; nil for none.
    package var key: [UInt8]?
    /// The name of the key: who knows it is this principal.
    package var keyName = ""
    /// User ids that may be navigation clients; nil for all that can connect.
    package var navigationUsers: Set<UInt32>?

    package init(roles: Set<AcceptingSession.Role>) { self.roles = roles }

    /// Who is behind a Hello.
    ///
    /// - Throws: The Goodbye to refuse it with.
    func principal(of hello: Hello, user: UInt32?) throws(Refusal) -> Principal {
        if let key, !Self.isEqual(key, hello.credential) {
            throw Refusal(
                Goodbye(.notAuthorized, reason: "credential: this listener needs its pre-shared key"))
        }
        if case .navigation = hello.role, let allowed = self.navigationUsers, !allowed.contains(user ?? .max)
        {
            let who = user.map { "user \($0)" } ?? "a peer without a user id"
            throw Refusal(Goodbye(.notAuthorized, reason: "\(who) may not be a navigation client here"))
        }
        if let user { return .user(user) }
        return self.key == nil ? .anyone : .key(self.keyName)
    }

    struct Refusal: Error {
        let goodbye: Goodbye
        init(_ goodbye: Goodbye) { self.goodbye = goodbye }
    }

    /// Takes the same time wherever the two differ.
    private static func isEqual(_ lhs: [UInt8], _ rhs: [UInt8]) -> Bool {
        lhs.count == rhs.count && zip(lhs, rhs).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// Counts connections against the limits in all and per user id.
package struct ConnectionLedger: Sendable, Hashable {
    package struct Limits: Sendable, Hashable {
        package var connectionsMax = 20_000
        package var connectionsPerUserMax = 12_000

        package init() {}
    }

    private let limits: Limits
    private var counts: [UInt32?: Int] = [:]
    private(set) package var count = 0

    package init(limits: Limits) { self.limits = limits }

    /// Counts a connection of `user` (nil without a user id); false if there are too many.
    package mutating func add(_ user: UInt32?) -> Bool {
        guard self.count < self.limits.connectionsMax,
            self.counts[user, default: 0] < self.limits.connectionsPerUserMax
        else { return false }
        self.count += 1
        self.counts[user, default: 0] += 1
        return true
    }

    /// Forgets a connection that was counted.
    package mutating func remove(_ user: UInt32?) {
        guard let count = self.counts[user] else { return }
        self.count -= 1
        self.counts[user] = count == 1 ? nil : count - 1
    }
}
