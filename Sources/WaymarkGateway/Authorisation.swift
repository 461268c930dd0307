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
        let access = self.policy.access
        let grant = self.grants[client] ?? self.newGrant(of: client)
        return access.decision(grant, on: vehicle.rawValue)
    }

    private func decision(_ subject: AccessSubject, toBe vehicle: VehicleID) -> AccessDecision {
        let access = self.policy.access
        return access.decision(access.grant(of: subject, as: .vehicle), on: vehicle.rawValue)
    }

    // MARK: Grants

    /// Finds the rules about a client, once for all its vehicles.
    mutating func setGrant(of client: ClientID) {
        self.grants[client] = self.policy.access.isOpen ? nil : self.newGrant(of: client)
    }

    private func newGrant(of client: ClientID) -> AccessGrant {
        let subject = self.clients[client]?.subject ?? AccessSubject()
        return self.policy.access.grant(of: subject, as: .navigation, client: client.rawValue)
    }

    // MARK: Changed rules

    /// Ends what the rules no longer allow, and nothing else: peers that may not be connected, and vehicles' parts in sessions of
    /// clients that may not guide them. Offers vehicles that wait for guidance to clients that may guide them now.
    mutating func enforceAccess(at now: Instant, into actions: inout [Action]) {
        for client in self.clients.keys { self.setGrant(of: client) }
        if !self.policy.access.isOpen {
            self.expelEndpoints(at: now, into: &actions)
            self.expelClients(at: now, into: &actions)
            self.reassignForbiddenRequests(at: now, into: &actions)
        }
        if !self.index.offers.isEmpty { self.queue(.offers(after: nil)) }
    }

    private mutating func expelEndpoints(at now: Instant, into actions: inout [Action]) {
        for id in self.vehicles.keys.sorted() {
            for name in self.vehicles[id]?.endpoints.keys.sorted() ?? [] {
                guard let endpoint = self.vehicles[id]?.endpoints[name],
                    case let decision = self.decision(endpoint.subject, toBe: id), !decision.isAllowed
                else { continue }
                let path = EndpointPath(vehicle: id, endpoint: name)
                self.note(.helloRefused(by: decision.decider), of: id, in: .none, nil, into: &actions)
                if let connection = endpoint.connection {
                    self.leaveAudience(path, into: &actions)
                    self.vehicles[id]?.endpoints[name]?.connection = nil
                    self.indexVehicle(id)
                    let reason = decision.reason(for: endpoint.subject, "be \(id)")
                    self.expel(connection, Goodbye(.notAuthorized, reason: reason), into: &actions)
                }
                self.forgetEndpoint(path, at: now, into: &actions)
                self.announce(id, into: &actions)
            }
        }
    }

    private mutating func expelClients(at now: Instant, into actions: inout [Action]) {
        for id in self.clients.keys.sorted() {
            guard let client = self.clients[id], let grant = self.grants[id],
                case let decision = self.policy.access.admission(grant), !decision.isAllowed
            else { continue }
            self.note(.helloRefused(by: decision.decider), ofClient: id, into: &actions)
            if let connection = client.connection {
                let reason = decision.reason(for: client.subject, "guide as \(id)")
                self.expel(connection, Goodbye(.notAuthorized, reason: reason), into: &actions)
            }
            self.disconnect(id)
            self.forgetClient(id, .notAuthorized, into: &actions)
            self.deadlines.remove(.clientGrace(id))
        }
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

    private mutating func reassignForbiddenRequests(at now: Instant, into actions: inout [Action]) {
        let forbidden = self.requests.filter { _, request in
            guard case .destination = request.kind else { return false }
            return !self.mayGuide(request.client, request.vehicle)
        }
        let order = forbidden.sorted { ($0.value.vehicle, $0.value.id) < ($1.value.vehicle, $1.value.id) }
        for (number, _) in order { self.giveUp(number, .gone, at: now, into: &actions) }
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
