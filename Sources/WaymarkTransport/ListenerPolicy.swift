package import ListeningSockets
package import WaymarkAccess
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

/// A key of a listener.
package struct ListenerKey: Sendable, Hashable, Codable {
    /// The name of the principal of every peer that presents the key. Several keys may have it.
    package let name: String
    package let digest: KeyDigest

    package init(name: String, digest: KeyDigest) {
        self.name = name
        self.digest = digest
    }

    /// A key with these bytes.
    package init(name: String, _ bytes: [UInt8]) { self.init(name: name, digest: KeyDigest(of: bytes)) }
}

/// Which peers a listener accepts.
package struct ListenerPolicy: Sendable, Hashable {
    package var roles: Set<AcceptingSession.Role>
    /// The pre-shared keys, of which a Hello must bring one; empty if it needs none.
    package var keys: [ListenerKey] = []
    /// What observers see.
    package var visibility = Visibility.state

    package init(roles: Set<AcceptingSession.Role>) { self.roles = roles }

    /// Who sent a Hello.
    struct Identity {
        var principal: Principal
        /// nil if the listener needs no key.
        var key: ListenerKey?
    }

    /// Who sent `hello`.
    ///
    /// - Throws: The Goodbye to refuse it with.
    func identity(of hello: Hello, user: UInt32?) throws(Refusal) -> Identity {
        let key = try self.presentedKey(in: hello)
        if let goodbye = self.refusal(of: hello.role) { throw Refusal(goodbye) }
        let principal = user.map(Principal.user) ?? key.map { .key($0.name) } ?? .anyone
        return Identity(principal: principal, key: key)
    }

    /// The key that a Hello presents; nil if the listener needs none. The one place where a wrong key is refused.
    ///
    /// Compares with every key, each in constant time: the time depends neither on which key matches nor on where another differs.
    ///
    /// - Throws: The refusal of a wrong or missing key.
    func presentedKey(in hello: Hello) throws(Refusal) -> ListenerKey? {
        if self.keys.isEmpty { return nil }
        let digest = hello.credential.withBytes { KeyDigest(of: $0) }
        var presented: Int?
        for (index, key) in self.keys.enumerated() {
            let isEqual = key.digest.isEqual(to: digest)
            presented = isEqual ? index : presented
        }
        guard let presented else {
            throw Refusal(
                Goodbye(.notAuthenticated, reason: "credential: this listener needs its pre-shared key"))
        }
        return self.keys[presented]
    }

    /// The Goodbye for a peer of this role; nil if the policy allows the role.
    package func refusal(of role: Hello.Role) -> Goodbye? {
        let kind = role.kind
        if self.roles.contains(kind) {
            guard case .observer(let observer) = role, observer.visibility > self.visibility else {
                return nil
            }
            // It was more when the connection was accepted. The next one sees what the listener shows now.
            return Goodbye(
                .rulesChanged, reason: "observers of this listener may see only \(self.visibility)")
        }
        return Goodbye(.roleNotAllowed, reason: "this listener does not accept the role \(kind)")
    }

    /// The Goodbye for a peer that presented `key` at its Hello; nil if the key is valid, or was and is not needed.
    func refusal(ofPresented key: ListenerKey?) -> Goodbye? {
        if let key, !self.keys.contains(key) {
            return Goodbye(.rulesChanged, reason: "the operator has removed or replaced the key \(key.name)")
        }
        if key == nil, !self.keys.isEmpty {
            return Goodbye(.rulesChanged, reason: "the operator has given this listener a key")
        }
        return nil
    }

    struct Refusal: Error {
        let goodbye: Goodbye
        init(_ goodbye: Goodbye) { self.goodbye = goodbye }
    }
}
