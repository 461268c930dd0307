internal import WaymarkConnections
package import WaymarkProtocol

/// The listener that accepted a connection, as the connection needs to know it.
package struct ConnectionOrigin: Sendable {
    package var address: ListenAddress
    /// The policy under which the connection was accepted.
    package var policy: ListenerPolicy
    /// The listener's policy at any later time.
    package var currentPolicy: CurrentPolicy

    /// `currentPolicy` is nil for a policy that never changes.
    package init(address: ListenAddress, policy: ListenerPolicy, currentPolicy: CurrentPolicy? = nil) {
        self.address = address
        self.policy = policy
        self.currentPolicy = currentPolicy ?? CurrentPolicy(policy)
    }
}

/// Where a connection comes from, as far as its transport knows.
package enum PeerSource: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The user id at the other end of a Unix socket.
    case user(UInt32)
    /// A literal IP address.
    case host(String)
    case unknown

    /// The user id, if the kernel reports one.
    package var user: UInt32? { if case .user(let user) = self { user } else { nil } }

    /// All connections of one user or one address share a payer.
    var payer: Payer { self.account.payer }

    package var description: String {
        switch self {
        case .user(let user): "user \(user)"
        case .host(let address): address
        case .unknown: "unknown"
        }
    }
}

/// Which peers a listener accepts.
package struct ListenerPolicy: Sendable, Hashable {
    package var roles: Set<AcceptingSession.Role>
    /// The pre-shared key that a Hello must bring; nil for none.
    package var key: [UInt8]?
    /// The name of the key, and of the principal of every peer that presents it.
    package var keyName = ""
    /// User ids that may be navigation clients; nil for every user that can connect.
    package var navigationUsers: Set<UInt32>?

    package init(roles: Set<AcceptingSession.Role>) { self.roles = roles }

    /// The principal of a peer that sent `hello`.
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

    /// The Goodbye for a peer of this role and user, whatever its credential; nil if the policy allows the peer.
    func refusal(of role: Hello.Role, user: UInt32?) -> Goodbye? {
        let kind: AcceptingSession.Role =
            switch role {
            case .vehicle: .vehicle
            case .navigation: .navigation
            }
        guard self.roles.contains(kind) else {
            return Goodbye(.roleNotAllowed, reason: "this listener does not accept the role \(kind)")
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

    /// Compares in constant time: how long it takes does not depend on where the two differ.
    private static func isEqual(_ lhs: [UInt8], _ rhs: [UInt8]) -> Bool {
        lhs.count == rhs.count && zip(lhs, rhs).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
