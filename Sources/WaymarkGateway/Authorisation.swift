internal import OrderedCollections
internal import WaymarkAccess
internal import WaymarkProtocol

// The access rules: who may be which vehicle, and who may guide which.
//
// They are asked when a peer says Hello, when a client opens a session, when a vehicle joins a session for any vehicle that asked, and
// when a destination request looks for a client; never for a frame.
extension Gateway {
    // MARK: Questions

    /// Why a Hello is refused; nil if the rules allow it. Refusals are noted for the log.
    func accessRefusal(
        of hello: Hello, _ subject: AccessSubject, into actions: inout [Action]
    ) -> Goodbye? {
        if self.policy.access.isOpen { return nil }
        switch hello.role {
        case .vehicle(let vehicle):
            let decision = self.decision(subject, toBe: vehicle.vehicle)
            guard !decision.isAllowed else { return nil }
            self.note(
                .helloRefused(by: decision.decider), of: vehicle.vehicle, in: .none, nil, into: &actions)
            return Goodbye(.notAuthorized, reason: decision.reason(for: subject, "be \(vehicle.vehicle)"))
        case .navigation(let navigation):
            let access = self.policy.access
            let decision = access.admission(
                access.grant(of: subject, as: .navigation, client: navigation.client.rawValue))
            guard !decision.isAllowed else { return nil }
            self.note(.helloRefused(by: decision.decider), ofClient: navigation.client, into: &actions)
            return Goodbye(
                .notAuthorized, reason: decision.reason(for: subject, "guide as \(navigation.client)"))
        case .observer(let observer):
            let decision = self.policy.access.admission(self.grant(ofObserver: subject))
            guard !decision.isAllowed else { return nil }
            return Goodbye(
                .notAuthorized, reason: decision.reason(for: subject, "observe as \(observer.observer)"))
        }
    }

    /// Whether the rules let a client guide a vehicle.
    func mayGuide(_ client: ClientID, _ vehicle: VehicleID) -> Bool {
        self.policy.access.isOpen || self.decision(client, toGuide: vehicle).isAllowed
    }

    /// The priority of a client for a vehicle: what its Hello asked for, at most what the deciding rule gives.
    func priority(of client: ClientID, for vehicle: VehicleID) -> Int32? {
        guard let asked = self.clients[client]?.hello.priority else { return nil }
        if self.policy.access.isOpen { return asked }
        return min(asked, self.decision(client, toGuide: vehicle).priorityMax ?? asked)
    }

    func decision(_ client: ClientID, toGuide vehicle: VehicleID) -> AccessDecision {
        self.policy.access.decision(self.grant(of: client), on: vehicle.rawValue)
    }

    private func decision(_ subject: AccessSubject, toBe vehicle: VehicleID) -> AccessDecision {
        let access = self.policy.access
        return access.decision(access.grant(of: subject, as: .vehicle), on: vehicle.rawValue)
    }

    // MARK: Grants

    /// The rules about a client.
    func grant(of client: ClientID) -> AccessGrant {
        if let grant = self.grants[client] { return grant }
        return self.policy.access.isOpen ? .open : self.newGrant(of: client)
    }

    /// Finds the rules about a client, once for all its vehicles, and groups it and its sessions by them.
    mutating func setGrant(of client: ClientID) {
        let isUnruled = self.unruledClients.remove(client)
        guard isUnruled || !self.policy.access.isOpen else { return }
        let (old, new) = (self.grants[client], self.newGrant(of: client))
        guard old != new else { return }
        self.grants[client] = self.policy.access.isOpen ? nil : new
        self.indexClient(client, from: old ?? .open, to: new)
    }

    private func newGrant(of client: ClientID) -> AccessGrant {
        let subject = self.clients[client]?.subject ?? AccessSubject()
        return self.policy.access.grant(of: subject, as: .navigation, client: client.rawValue)
    }

    // MARK: Changed rules

    /// Begins to end what changed rules no longer allow, and nothing else: peers that may not be connected, and vehicles' parts in
    /// sessions of clients that may not guide them. Vehicles that wait for guidance are offered to clients that may guide them now.
    ///
    /// Clients and vehicles are visited step by step. One that a message is about is visited first, so nothing begins that the rules
    /// refuse.
    mutating func changeAccess(to access: AccessPolicy) {
        let isChanged = self.policy.access != access
        self.policy.access = access
        guard isChanged || !access.isOpen else { return }
        if isChanged { self.forgetGroups() }
        (self.unruledClients, self.unruledVehicles) = (self.index.clientIDs, self.index.vehicleIDs)
        self.queue(.rules)
    }

    /// Clients, sessions and waiting vehicles are in the groups of the rules before; each is grouped again when it is visited.
    private mutating func forgetGroups() {
        self.grants = [:]
        (self.index.handlers, self.index.offers, self.index.waitingVehicles) = (
            Grouped(), Grouped(), Grouped()
        )
    }

    /// Visits the next clients, then vehicles, that changed rules have not reached.
    mutating func applyRules(at now: Instant, into actions: inout [Action]) {
        repeat {
            if let client = self.unruledClients.first {
                self.applyRules(to: client, into: &actions)
            } else if let vehicle = self.unruledVehicles.first {
                self.settle(vehicle, at: now, into: &actions)
            } else {
                return
            }
        } while self.hasBudget
        self.putBack(.rules)
    }

    /// Applies changed rules to a client that they have not reached.
    mutating func applyRules(to id: ClientID, into actions: inout [Action]) {
        guard !self.unruledClients.isEmpty, self.unruledClients.contains(id) else { return }
        self.counters.work.visit()
        self.setGrant(of: id)
        guard let client = self.clients[id] else { return }
        let decision = self.policy.access.admission(self.grant(of: id))
        guard decision.isAllowed else { return self.expel(id, client, decision, into: &actions) }
        if !client.requests.isEmpty { self.queue(.forbidden(client.requests[...])) }
        for session in client.sessions where self.sessions[session]?.isOffered == true {
            self.queue(.offers(to: session, after: nil))
        }
    }

    private mutating func expel(
        _ id: ClientID, _ client: Client, _ decision: AccessDecision, into actions: inout [Action]
    ) {
        self.note(.helloRefused(by: decision.decider), ofClient: id, into: &actions)
        if let connection = client.connection {
            let reason = decision.reason(for: client.subject, "guide as \(id)")
            self.expel(connection, Goodbye(.rulesChanged, reason: reason), into: &actions)
        }
        self.disconnect(id)
        self.forgetClient(id, .notAuthorized, into: &actions)
        self.deadlines.remove(.clientGrace(id))
    }

    /// Applies changed rules to a vehicle that they have not reached: to its session, then to its endpoints.
    ///
    /// - Returns: Whether they had not reached it.
    mutating func applyRules(to id: VehicleID, at now: Instant, into actions: inout [Action]) -> Bool {
        guard !self.unruledVehicles.isEmpty, self.unruledVehicles.remove(id) else { return false }
        self.counters.work.visit(1 + (self.vehicles[id]?.endpoints.count ?? 0))
        if self.vehicles[id]?.indexed.isWaiting == true { self.indexWaiting(id, true) }
        if !self.policy.access.isOpen {
            if let session = self.vehicles[id]?.session {
                self.endForbiddenGuidance(of: id, in: session, at: now, into: &actions)
            }
            self.expelEndpoints(of: id, at: now, into: &actions)
        }
        self.waitForSnapshots(of: id)
        return true
    }

    /// Endpoints of a vehicle that were passed over, because changed rules had not reached it, wait for their snapshots again.
    private mutating func waitForSnapshots(of id: VehicleID) {
        for (name, endpoint) in self.vehicles[id]?.endpoints ?? [:] where endpoint.membership?.wait != nil {
            guard let session = endpoint.membership?.session else { continue }
            self.sessions[session]?.waiting.append(EndpointPath(vehicle: id, endpoint: name))
            self.queue(.fit(session))
        }
    }

    private mutating func expelEndpoints(
        of id: VehicleID, at now: Instant, into actions: inout [Action]
    ) {
        var refused: [EndpointPath] = []
        for name in self.vehicles[id]?.endpoints.keys.sorted() ?? [] {
            guard let endpoint = self.vehicles[id]?.endpoints[name],
                case let decision = self.decision(endpoint.subject, toBe: id), !decision.isAllowed
            else { continue }
            let path = EndpointPath(vehicle: id, endpoint: name)
            refused.append(path)
            self.note(.helloRefused(by: decision.decider), of: id, in: .none, nil, into: &actions)
            guard let connection = endpoint.connection else { continue }
            self.leaveAudience(path, into: &actions)
            self.vehicles[id]?.endpoints[name]?.connection = nil
            self.indexVehicle(id)
            let reason = decision.reason(for: endpoint.subject, "be \(id)")
            self.expel(connection, Goodbye(.rulesChanged, reason: reason), into: &actions)
        }
        // Only now: otherwise those that are refused as well would enter the session first, if the vehicle has yet to.
        for path in refused { self.forgetEndpoint(path, at: now, into: &actions) }
        if !refused.isEmpty { self.announce(id, into: &actions) }
    }

    /// Closes a connection; what arrives from it meanwhile is ignored.
    private mutating func expel(
        _ connection: ConnectionID, _ goodbye: Goodbye, into actions: inout [Action]
    ) {
        self.peers[connection] = nil
        actions.append(.close(connection, goodbye))
    }

    /// Removes the vehicles that the client of a session may not guide, in steps.
    mutating func endForbiddenGuidance(in id: SessionID) {
        if !self.policy.access.isOpen { self.begin(.enforce, of: id) }
    }

    /// Removes a vehicle from a session if its client may not guide it.
    mutating func endForbiddenGuidance(
        of vehicle: VehicleID, in id: SessionID, at now: Instant, into actions: inout [Action]
    ) {
        guard let client = self.sessions[id]?.client,
            case let decision = self.decision(client, toGuide: vehicle), !decision.isAllowed
        else { return }
        self.note(.guidanceRefused(by: decision.decider), of: vehicle, in: id, client, into: &actions)
        self.removeVehicle(vehicle, .notAuthorized, at: now, into: &actions)
    }
}

extension AccessDecision {
    /// For the peer, which does not learn where the rules are written: "the access rules do not let user 1000 be bus-7".
    fileprivate func reason(for subject: AccessSubject, _ deed: String) -> String {
        if case .key(let name, _, _) = self.reason {
            return "the key \(name) does not allow its holder to \(deed)"
        }
        return "the access rules do not allow \(subject) to \(deed)"
    }
}
