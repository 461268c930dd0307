package import WaymarkProtocol

/// A listener, as the connections that come through it see it.
package struct Entrance: Sendable {
    package var address: ListenAddress
    /// What the listener allowed when the connection came.
    package var policy: ListenerPolicy
    /// What it allows now.
    package var rules: ListenerRules

    /// `rules` are nil where they never change.
    package init(address: ListenAddress, policy: ListenerPolicy, rules: ListenerRules? = nil) {
        self.address = address
        self.policy = policy
        self.rules = rules ?? ListenerRules(policy)
    }
}

/// Where a connection comes from, as far as its transport tells.
package enum PeerSource: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The user id at the other end of a Unix socket.
    case user(UInt32)
    /// An IP address, in figures.
    case host(String)
    case unknown

    /// The user id, if the system vouches for one.
    package var user: UInt32? { if case .user(let user) = self { user } else { nil } }

    package var description: String {
        switch self {
        case .user(let user): "user \(user)"
        case .host(let address): address
        case .unknown: "unknown"
        }
    }
}

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
        if let goodbye = self.refusal(of: hello.role, user: user) { throw Refusal(goodbye) }
        if let user { return .user(user) }
        return self.key == nil ? .anyone : .key(self.keyName)
    }

    /// Why such a peer may not be here, whatever its credential; nil if it may.
    func refusal(of role: Hello.Role, user: UInt32?) -> Goodbye? {
        let kind: AcceptingSession.Role =
            switch role {
            case .vehicle: .vehicle
            case .navigation: .navigation
            }
        guard self.roles.contains(kind) else {
            return Goodbye(.roleNotAllowed, reason: "this listener does not take the role \(kind)")
        }
        guard kind == .navigation, let allowed = self.navigationUsers, !allowed.contains(user ?? .max) else {
            return nil
        }
        let who = user.map { "user \($0)" } ?? "a peer without a user id"
        return Goodbye(.notAuthorized, reason: "\(who) may not be a navigation client here")
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
