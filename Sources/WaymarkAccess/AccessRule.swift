/// What a peer is for, as far as access is concerned.
package enum AccessRole: String, Sendable, Hashable, CaseIterable {
    /// Is a vehicle.
    case vehicle
    /// Guides vehicles.
    case navigation
    /// Watches vehicles.
    case observer
    /// Asks clients to simulate drives: no role of a connection, but what a vehicle's endpoint or an observer may do beside its own.
    case simulate

    /// Whether a rule about it may be about some clients only.
    package var concernsClients: Bool { self == .navigation || self == .simulate }
}

/// Who a peer is, as far as its transport knows.
package struct AccessSubject: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The user id of a peer on a Unix socket.
    package var user: UInt32?
    /// The group ids that the process of this user had when it connected.
    package var groups: [UInt32]
    /// The name of the key that the peer presented.
    package var key: String?

    package init(user: UInt32? = nil, groups: [UInt32] = [], key: String? = nil) {
        self.user = user
        self.groups = groups
        self.key = key
    }

    /// For messages: "user 1000", "the key fleet".
    package var description: String {
        switch (self.user, self.key) {
        case (let user?, nil): "user \(user)"
        case (let user?, let key?): "user \(user) with the key \(key)"
        case (nil, let key?): "the key \(key)"
        case (nil, nil): "a peer without user and key"
        }
    }
}

/// Where the operator has written a rule.
package struct AccessOrigin: Sendable, Hashable, CustomStringConvertible {
    package var file: String
    /// Counts from 1.
    package var line: Int

    package init(file: String, line: Int) {
        self.file = file
        self.line = line
    }

    package var description: String { "\(self.file):\(self.line)" }
}

/// One rule of the operator.
package struct AccessRule: Sendable, Hashable {
    /// Which peers a rule is about.
    package enum Subjects: Sendable, Hashable {
        case anyone
        case users(Set<UInt32>)
        /// Members of one of these groups.
        case groups(Set<UInt32>)
        /// Peers that presented one of these keys.
        case keys(Set<String>)

        func contains(_ subject: AccessSubject) -> Bool {
            switch self {
            case .anyone: true
            case .users(let users): subject.user.map(users.contains) ?? false
            case .groups(let groups): subject.groups.contains(where: groups.contains)
            case .keys(let keys): subject.key.map(keys.contains) ?? false
            }
        }
    }

    /// Why a rule does not apply to a question.
    package enum Mismatch: Sendable, Hashable {
        case role, subject, client, vehicle
    }

    package var isAllowed: Bool
    package var roles: Set<AccessRole>
    package var subjects = Subjects.anyone
    /// nil for every vehicle.
    package var vehicles: GlobList?
    /// The ids of clients that the rule is about; nil for every client. Of a client that simulates, the one that is asked.
    package var clients: GlobList?
    /// The highest priority of a client; nil if the rule does not limit it.
    package var priorityMax: Int32?
    package var origin: AccessOrigin
    /// The rule in words, for messages.
    package var text = ""

    package init(allow isAllowed: Bool, _ roles: Set<AccessRole>, origin: AccessOrigin) {
        self.isAllowed = isAllowed
        self.roles = roles
        self.origin = origin
    }

    /// Why the rule does not apply; nil if it does. Without a `client`, a rule about some clients does not apply.
    package func mismatch(
        _ subject: AccessSubject, as role: AccessRole, client: String?, vehicle: String
    ) -> Mismatch? {
        if !self.roles.contains(role) { return .role }
        if !self.subjects.contains(subject) { return .subject }
        if role.concernsClients, !self.appliesToClient(client) { return .client }
        return self.vehicles.matches(Array(vehicle.utf8)) ? nil : .vehicle
    }

    func appliesToClient(_ client: String?) -> Bool {
        guard let client else { return self.clients == nil }
        return self.clients.matches(Array(client.utf8))
    }
}

/// What the holder of a key may do at most. The rules can only take away from it.
package struct KeyLimits: Sendable, Hashable {
    /// nil for every role.
    package var roles: Set<AccessRole>?
    /// The vehicles that the holder may be and guide; nil for every vehicle.
    package var vehicles: GlobList?
    /// The client ids that the holder may have; nil for every id.
    package var clients: GlobList?
    package var origin: AccessOrigin

    package init(origin: AccessOrigin) { self.origin = origin }

    /// Whether both allow the same.
    package func isEqual(to other: KeyLimits) -> Bool {
        self.roles == other.roles && self.vehicles == other.vehicles && self.clients == other.clients
    }
}
