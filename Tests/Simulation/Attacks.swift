internal import GatewayInMemory
internal import WaymarkAccess
internal import WaymarkCodec
internal import WaymarkConnections
internal import WaymarkGateway
internal import WaymarkModel
internal import WaymarkProtocol

// Attackers and reloads of the access rules, each in a part of the seeds.
extension SimulatedNetwork {
    // MARK: Attackers

    /// Limits that attackers reach, of which each user may have half.
    static func limit(_ limits: inout GatewayLimits, _ fault: InjectedFault?) {
        (limits.sessionsMax, limits.sessionsPerUserMax) = (24, 12)
        (limits.vehiclesMax, limits.vehiclesPerUserMax) = (200, 100)
        (limits.vehiclesAwaitedMax, limits.vehiclesAwaitedPerUserMax) = (60, 40)
        // As many as there may be honest endpoints, late ones included.
        limits.profilesPerSessionMax = 18
        guard fault == .ignoreQuotas else { return }
        limits.sessionsPerUserMax = limits.sessionsMax
        limits.vehiclesPerUserMax = limits.vehiclesMax
        limits.vehiclesAwaitedPerUserMax = limits.vehiclesAwaitedMax
    }

    mutating func populateAttackers() {
        self.attackers = (0..<2).map { Attacker(.client($0)) } + (0..<6).map { Attacker(.endpoint($0)) }
        self.inspector.service.watch(self.gatewayBudget)
    }

    /// A payer for each of the victims whose waits are watched, one for all attackers, one for the others.
    func payer(of owner: SimulatedConnection.Owner) -> Payer {
        switch owner {
        case .app(0): Payer(rawValue: 1)
        case .endpoint(0): Payer(rawValue: 2)
        case .app, .endpoint, .observer: Payer(rawValue: 3)
        case .hostile: Payer(rawValue: 4)
        case .attacker: Payer(rawValue: 9)
        }
    }

    /// Whether the waits of a connection are watched.
    func isVictim(_ id: ConnectionID) -> Bool {
        guard !self.attackers.isEmpty else { return false }
        return switch self.connections[id]?.owner {
        case .app(0), .endpoint(0): true
        default: false
        }
    }

    /// Some attackers speak in one tick, and a victim behind them.
    mutating func attack() {
        for _ in 0..<self.random.number(1...4) {
            // Half of the time a client.
            let others = self.random.once(in: 2) ? self.attackers.indices : 0..<2
            if let index = self.random.pick(others) { self.attack(as: index) }
        }
        for id in self.connectionIDs where self.isVictim(id) && self.host.hasInput(id) {
            self.readAtGateway(id, byteCount: .max)
        }
    }

    private mutating func attack(as index: Int) {
        guard let connection = self.attackers[index].connection else {
            let id = self.connect(.attacker(index), nil)
            self.inspector.service.addAttacker(id)
            self.connections[id]?.isStalled = self.attackers[index].isDeaf
            return self.attackers[index].connect(id)
        }
        // Clients read all, so that they keep what they have taken.
        if case .client = self.attackers[index].role { self.readAtPeer(connection, byteCount: .max) }
        let victims = self.endpoints.filter { self.isPresent($0.connection) }.map(\.path.vehicle)
        let bytes = self.attackers[index].speak(victims, &self.source.random)
        self.note { "\($0.name(connection)) attacks with \(bytes.count) bytes" }
        self.write(bytes, from: connection)
        if !self.random.once(in: 3) { self.readAtGateway(connection, byteCount: .max) }
    }

    mutating func receive(_ bytes: [UInt8], atAttacker index: Int, _ id: ConnectionID) {
        self.connections[id]?.peerSplitter.append(bytes)
        do throws(FramingError) {
            while let frame = try self.connections[id]?.peerSplitter.next() { self.hear(frame, index) }
        } catch {
            self.report(.publishersOrder, "\(self.name(id)) got bytes that are not a frame: \(error)")
        }
    }

    private mutating func hear(_ frame: Frame, _ index: Int) {
        do throws(DecodingError) {
            let envelope = try self.decoder.decode(frame)
            self.attackers[index].hear(envelope.message)
        } catch {}  // A publication of an unknown type, which clients may send.
    }

    /// Honest endpoints have room for their profiles, whatever attackers use.
    mutating func checkRoom() {
        guard !self.attackers.isEmpty else { return }
        for endpoint in self.endpoints where endpoint.session != .none && !endpoint.isInRoom {
            self.report(.quotasHold, "\(endpoint.path) has no room")
        }
    }

    /// At rest nothing is left of peers that have gone.
    mutating func checkRest() {
        let holdings = self.host.gateway.gateway.holdings
        let peers = self.endpoints.count + self.apps.count
        if holdings.peerCount != peers {
            self.report(.boundedMemory, "\(holdings.peerCount) peers are known at rest, not \(peers)")
        }
        let vehicles = Set(self.endpoints.map(\.path.vehicle)).count
        if holdings.vehicleCount != vehicles {
            self.report(
                .boundedMemory, "\(holdings.vehicleCount) vehicles are known at rest, not \(vehicles)")
        }
        let sessions = self.apps.count { $0.session != nil }
        if holdings.sessionCount != sessions {
            self.report(
                .boundedMemory, "there are \(holdings.sessionCount) sessions at rest, not \(sessions)")
        }
    }

    // MARK: Access rules

    /// Changes the access rules to other random ones, or to none.
    mutating func reload() {
        guard let rules = self.random.pick(self.ruleSets) else { return }
        self.reload(rules)
    }

    mutating func reload(_ rules: SimulatedRules) {
        self.note { _ in "the access rules change: \(rules)" }
        self.happenings.insert(.rulesChanged)
        self.inspector.watch.access.reloads.append(rules)
        self.policy.access = rules.policy
        var policy = self.policy
        if self.fault == .ignoreRules { policy.access = AccessPolicy() }
        self.atGateway { [policy] in $0.reconfigure(policy, at: $1) }
    }

    func subject(of owner: SimulatedConnection.Owner) -> AccessSubject {
        switch owner {
        case .endpoint(let index), .app(let index): AccessSubject(user: UInt32(1 + index % 2))
        case .observer: AccessSubject(user: 1)
        case .hostile, .attacker: AccessSubject(user: 666)
        }
    }
}
