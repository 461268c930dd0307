/// The answer to a question of access, and what decided it.
package struct AccessDecision: Sendable, Hashable {
    package enum Reason: Sendable, Hashable {
        /// There are no rules.
        case open
        case rule(AccessRule)
        /// There are rules, but none applies.
        case noRule
        /// The limits of the key with this name.
        case key(String, AccessRule.Mismatch, AccessOrigin)
    }

    package let isAllowed: Bool
    package let reason: Reason
    /// The highest priority of a client; nil if nothing limits it.
    package let priorityMax: Int32?

    init(_ reason: Reason) {
        self.reason = reason
        switch reason {
        case .open: (self.isAllowed, self.priorityMax) = (true, nil)
        case .rule(let rule): (self.isAllowed, self.priorityMax) = (rule.isAllowed, rule.priorityMax)
        case .noRule, .key: (self.isAllowed, self.priorityMax) = (false, nil)
        }
    }

    /// What decided, for the log: a rule or a key by its file and line.
    package var decider: String {
        switch self.reason {
        case .open: "no rules"
        case .rule(let rule): "\(rule.origin)"
        case .noRule: "no rule applies"
        case .key(let name, _, let origin): "\(origin) (key \(name))"
        }
    }
}

/// What one peer may do in one role: the rules that can apply to it, so that a question about a vehicle compares only its id.
package struct AccessGrant: Sendable, Hashable {
    /// Indexes into the rules, in their order; nil if there are no rules.
    fileprivate let rules: [Int]?
    /// The key whose limits apply.
    fileprivate let key: String?
    /// The limit of the key that refuses everything.
    fileprivate let refusal: AccessRule.Mismatch?

    /// May do everything.
    package static let open = AccessGrant(rules: nil, key: nil, refusal: nil)
}

/// Vehicles about whose guidance the rules and the limits of keys say the same to every client.
package struct VehicleClass: Sendable, Hashable {
    /// Rules that name the vehicle, in their order; not those about every vehicle.
    fileprivate let rules: [Int]
    /// Keys whose limits name the vehicle, in order.
    fileprivate let keys: [String]
}

/// Who may be which vehicle, and who may guide which: the operator's rules and the limits of keys.
///
/// The first rule that applies decides. Without rules everything is allowed; with rules, what no rule allows is refused. The limits of
/// a key are checked before the rules.
package struct AccessPolicy: Sendable, Hashable {
    package let rules: [AccessRule]
    /// By the names of the keys.
    package let keys: [String: KeyLimits]
    private let index: RuleIndex

    package init(rules: [AccessRule] = [], keys: [String: KeyLimits] = [:]) {
        self.rules = rules
        self.keys = keys
        self.index = RuleIndex(rules)
    }

    /// Whether every peer may do everything.
    package var isOpen: Bool { self.rules.isEmpty && self.keys.isEmpty }

    /// The grant of a peer in a role; `client` is its id if it is a navigation client, or the one that is to simulate.
    ///
    /// - Complexity: Grows with the number of rules about this peer and about anyone, not with that of all rules.
    package func grant(
        of subject: AccessSubject, as role: AccessRole, client: String? = nil
    ) -> AccessGrant {
        if self.isOpen { return .open }
        let limits = subject.key.flatMap { self.keys[$0] }
        let key = limits == nil ? nil : subject.key
        if let limits {
            if let roles = limits.roles, !roles.contains(role) {
                return AccessGrant(rules: nil, key: key, refusal: .role)
            }
            if role == .navigation, let client, !limits.clients.matches(Array(client.utf8)) {
                return AccessGrant(rules: nil, key: key, refusal: .client)
            }
        }
        if self.rules.isEmpty { return AccessGrant(rules: nil, key: key, refusal: nil) }
        var rules: [Int] = []
        for index in self.index.rules(about: subject) {
            let rule = self.rules[index]
            guard rule.roles.contains(role), !role.concernsClients || rule.appliesToClient(client) else {
                continue
            }
            rules.append(index)
            // No rule behind it can decide.
            if rule.vehicles == nil { break }
        }
        return AccessGrant(rules: rules, key: key, refusal: nil)
    }

    /// Whether the peer may be, guide or watch a vehicle.
    package func decision(_ grant: AccessGrant, on vehicle: String) -> AccessDecision {
        let id = Array(vehicle.utf8)
        if let key = grant.key, let limits = self.keys[key] {
            if let refusal = grant.refusal { return AccessDecision(.key(key, refusal, limits.origin)) }
            guard limits.vehicles.matches(id) else {
                return AccessDecision(.key(key, .vehicle, limits.origin))
            }
        }
        guard let rules = grant.rules else { return AccessDecision(.open) }
        let decisive = rules.first { self.rules[$0].vehicles.matches(id) }
        return AccessDecision(decisive.map { .rule(self.rules[$0]) } ?? .noRule)
    }

    /// The vehicles that the peer may be, guide or watch.
    package func scope(of grant: AccessGrant) -> AccessScope {
        let limits = grant.key.flatMap { self.keys[$0] }
        if limits != nil, grant.refusal != nil { return AccessScope([], limit: nil) }
        let rules = grant.rules?.map { index in
            (isAllowed: self.rules[index].isAllowed, vehicles: self.rules[index].vehicles)
        }
        return AccessScope(rules ?? [(isAllowed: true, vehicles: nil)], limit: limits?.vehicles)
    }

    /// The class of a vehicle. How many classes there are follows from the rules, not from the vehicles.
    ///
    /// - Complexity: Grows with the number of all rules and keys.
    package func vehicleClass(of vehicle: String) -> VehicleClass {
        if self.isOpen { return VehicleClass(rules: [], keys: []) }
        let id = Array(vehicle.utf8)
        let rules = self.rules.indices.filter { index in
            let rule = self.rules[index]
            return rule.roles.contains(.navigation) && rule.vehicles?.matches(id) == true
        }
        let keys = self.keys.filter { $0.value.vehicles?.matches(id) == true }
        return VehicleClass(rules: rules, keys: keys.keys.sorted())
    }

    /// Whether a client may guide the vehicles of a class.
    package func mayGuide(_ grant: AccessGrant, _ vehicles: VehicleClass) -> Bool {
        if let key = grant.key, let limits = self.keys[key] {
            guard grant.refusal == nil, limits.vehicles == nil || vehicles.keys.contains(key) else {
                return false
            }
        }
        guard let rules = grant.rules else { return true }
        let decisive = rules.first { self.rules[$0].vehicles == nil || vehicles.rules.contains($0) }
        return decisive.map { self.rules[$0].isAllowed } ?? false
    }

    /// Whether the peer may say Hello without naming a vehicle, as a navigation client does: some rule could allow it a vehicle.
    ///
    /// The first rule that allows the peer some vehicle admits it; a rule that refuses it every vehicle refuses the Hello.
    package func admission(_ grant: AccessGrant) -> AccessDecision {
        if let key = grant.key, let limits = self.keys[key], let refusal = grant.refusal {
            return AccessDecision(.key(key, refusal, limits.origin))
        }
        guard let rules = grant.rules else { return AccessDecision(.open) }
        let decisive = rules.first { self.rules[$0].isAllowed || self.rules[$0].vehicles == nil }
        return AccessDecision(decisive.map { .rule(self.rules[$0]) } ?? .noRule)
    }
}

/// Finds the rules about a peer without looking at all others.
private struct RuleIndex: Sendable, Hashable {
    private var anyone: [Int] = []
    private var byUser: [UInt32: [Int]] = [:]
    private var byGroup: [UInt32: [Int]] = [:]
    private var byKey: [String: [Int]] = [:]

    init(_ rules: [AccessRule]) {
        for (index, rule) in rules.enumerated() {
            switch rule.subjects {
            case .anyone: self.anyone.append(index)
            case .users(let users): for user in users { self.byUser[user, default: []].append(index) }
            case .groups(let groups): for group in groups { self.byGroup[group, default: []].append(index) }
            case .keys(let keys): for key in keys { self.byKey[key, default: []].append(index) }
            }
        }
    }

    /// In the order of the rules. May contain a rule twice, if the peer is in several of its groups.
    func rules(about subject: AccessSubject) -> [Int] {
        var rules = self.anyone
        if let user = subject.user { rules += self.byUser[user] ?? [] }
        for group in subject.groups { rules += self.byGroup[group] ?? [] }
        if let key = subject.key { rules += self.byKey[key] ?? [] }
        return rules.sorted()
    }
}
