internal import WaymarkAccess
internal import WaymarkProtocol

/// Access rules as plain values, with their own evaluation, independent of ``AccessPolicy``. Without rules everything is allowed.
struct SimulatedRules: Hashable {
    private struct Rule: Hashable {
        let isAllowed: Bool
        let role: AccessRole
        /// nil for everyone.
        let user: UInt32?
        /// nil for every vehicle.
        let vehicles: [VehicleID]?
        /// nil for every client.
        let clients: [ClientID]?
        let priorityMax: Int32?
    }

    private var rules: [Rule] = []

    init() {}

    /// Random rules about some of the peers; most peers stay allowed, so that runs do more than refuse.
    init(_ vehicles: [VehicleID], _ clients: [ClientID], _ random: inout SeededRandom) {
        for _ in 0..<random.number(1...4) {
            let isAllowed = random.once(in: 3)
            let role: AccessRole = random.once(in: 3) ? .vehicle : .navigation
            self.rules.append(
                Rule(
                    isAllowed: isAllowed, role: role,
                    user: random.once(in: 2) ? UInt32(random.number(1...2)) : nil,
                    vehicles: random.once(in: 3) ? nil : random.pick(vehicles).map { [$0] },
                    clients: role == .vehicle || random.once(in: 2) ? nil : random.pick(clients).map { [$0] },
                    priorityMax: isAllowed && role == .navigation && random.once(in: 2)
                        ? Int32(random.number(-1...1)) : nil))
        }
        for role in [AccessRole.vehicle, .navigation] {
            self.rules.append(
                Rule(
                    isAllowed: true, role: role, user: nil, vehicles: nil, clients: nil, priorityMax: nil))
        }
    }

    var policy: AccessPolicy {
        AccessPolicy(
            rules: self.rules.enumerated().map { index, rule in
                var made = AccessRule(
                    allow: rule.isAllowed, [rule.role], origin: AccessOrigin(file: "rules", line: index + 1))
                if let user = rule.user { made.subjects = .users([user]) }
                made.vehicles = rule.vehicles.map { GlobList($0.compactMap { Glob($0.rawValue) }) }
                made.clients = rule.clients.map { GlobList($0.compactMap { Glob($0.rawValue) }) }
                made.priorityMax = rule.priorityMax
                return made
            })
    }

    func mayBe(_ vehicle: VehicleID, _ user: UInt32?) -> Bool {
        if self.rules.isEmpty { return true }
        for rule in self.rules where rule.role == .vehicle && (rule.user == nil || rule.user == user) {
            if rule.vehicles?.contains(vehicle) ?? true { return rule.isAllowed }
        }
        return false
    }

    /// The highest priority of a client for a vehicle; nil if it may not guide the vehicle.
    func priorityMax(_ client: ClientID, _ user: UInt32?, for vehicle: VehicleID) -> Int32? {
        if self.rules.isEmpty { return .max }
        for rule in self.rules(about: client, user) where rule.vehicles?.contains(vehicle) ?? true {
            return rule.isAllowed ? rule.priorityMax ?? .max : nil
        }
        return nil
    }

    /// Whether a client may be connected: the rules could allow it a vehicle.
    func mayBe(_ client: ClientID, _ user: UInt32?) -> Bool {
        if self.rules.isEmpty { return true }
        for rule in self.rules(about: client, user) where rule.isAllowed || rule.vehicles == nil {
            return rule.isAllowed
        }
        return false
    }

    private func rules(about client: ClientID, _ user: UInt32?) -> [Rule] {
        self.rules.filter {
            $0.role == .navigation && ($0.user == nil || $0.user == user)
                && ($0.clients?.contains(client) ?? true)
        }
    }
}
