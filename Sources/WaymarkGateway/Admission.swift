internal import OrderedCollections
internal import WaymarkAccess
internal import WaymarkModel
internal import WaymarkProtocol

/// A limit that leaves no place for a peer, a vehicle or a session, and the sentence about it.
struct FullPlaces {
    let reason: String
    let limit: ReachedLimit

    init(_ reason: String, _ name: String, _ max: Int) {
        self.reason = reason
        self.limit = ReachedLimit(name, max)
    }
}

// Peers that arrive, resume and depart.
extension Gateway {
    mutating func admit(
        _ connection: ConnectionID, _ hello: Hello, _ principal: Principal, _ subject: AccessSubject,
        _ token: ResumptionToken, at now: Instant, into actions: inout [Action]
    ) {
        switch hello.role {
        case .vehicle(let vehicle):
            self.admit(connection, vehicle, hello, principal, subject, token, at: now, into: &actions)
        case .navigation(let navigation):
            self.admit(connection, navigation, hello, principal, subject, token, at: now, into: &actions)
        case .observer(let observer):
            actions.append(.observe(connection, observer, hello.resumptionToken, principal, subject, token))
        }
    }

    private func refuse(
        _ connection: ConnectionID, _ code: CloseCode, _ reason: String, into actions: inout [Action]
    ) {
        actions.append(.refuse(connection, Goodbye(code, reason: reason)))
    }

    private func refuse(_ connection: ConnectionID, _ full: FullPlaces, into actions: inout [Action]) {
        actions.append(.refuse(connection, Goodbye(.resourceLimit, reason: full.reason, limit: full.limit)))
    }

    /// Refuses a Hello that arrives only after the peer has got a Welcome on a later connection: it must not end what the peer has there.
    private func refuseLate(_ connection: ConnectionID, into actions: inout [Action]) {
        self.refuse(connection, .idInUse, "the peer has had a later connection", into: &actions)
    }

    /// Why the gateway refuses another peer of a user; nil if it accepts one.
    private func refusal(ofPeerOf principal: Principal) -> FullPlaces? {
        let limits = self.policy.limits
        if self.known.count >= limits.peersMax {
            return FullPlaces("\(limits.peersMax) peers are known", "peers_max", limits.peersMax)
        }
        if self.known.count(of: principal) >= limits.peersPerUserMax {
            return FullPlaces(
                "\(limits.peersPerUserMax) peers of this user are known", "peers_per_user_max",
                limits.peersPerUserMax)
        }
        return nil
    }

    // MARK: Vehicle endpoints

    private mutating func admit(
        _ connection: ConnectionID, _ vehicleHello: VehicleHello, _ hello: Hello, _ principal: Principal,
        _ subject: AccessSubject, _ token: ResumptionToken, at now: Instant, into actions: inout [Action]
    ) {
        let path = EndpointPath(vehicle: vehicleHello.vehicle, endpoint: vehicleHello.endpoint)
        self.settle(path.vehicle, at: now, into: &actions)
        let place = self.vehicles.index(forKey: path.vehicle)
        let (owner, old, count) =
            place.map {
                self.vehicles.readValue(at: $0) {
                    ($0.principal, $0.endpoints[path.endpoint], $0.endpoints.count)
                }
            } ?? (nil, nil, 0)
        guard owner == nil || owner == principal else {
            return self.refuse(
                connection, .idInUse, "vehicle \(path.vehicle) belongs to another user", into: &actions)
        }
        let verdict = old?.tokens.verdict(on: hello.resumptionToken, from: connection) ?? .invalid
        let isResumed = verdict.resumes
        if !isResumed, old?.tokens.hasLeft(connection) == true {
            return self.refuseLate(connection, into: &actions)
        }
        if let old, let present = old.connection {
            guard isResumed else {
                return self.refuse(
                    connection, .idInUse, "endpoint \(path.endpoint) of \(path.vehicle) is connected",
                    into: &actions)
            }
            self.leaveAudience(path, into: &actions)
            self.takeOver(present, into: &actions)
        }
        if old == nil, let full = self.refusal(ofPeerOf: principal) {
            return self.refuse(connection, full, into: &actions)
        }
        if owner == nil,
            let full = self.reasonForNoVehicle(of: principal, self.vehicles[path.vehicle])
        {
            return self.refuse(connection, full, into: &actions)
        }
        let endpointsMax = self.policy.limits.endpointsPerVehicleMax
        guard old != nil || count < endpointsMax else {
            let full = FullPlaces(
                "a vehicle has at most \(endpointsMax) endpoints", "endpoints_per_vehicle_max", endpointsMax)
            return self.refuse(connection, full, into: &actions)
        }
        if !isResumed { self.leaveSession(path, into: &actions) }
        var endpoint = Endpoint(
            connection: connection, hello: vehicleHello,
            tokens: ResumptionTokens(
                token, resuming: isResumed ? hello.resumptionToken : nil, on: connection),
            subject: subject)
        endpoint.instant = now
        if isResumed, let old {
            endpoint.settings = old.settings
            endpoint.membership = old.membership
            endpoint.membership?.wait = nil
            endpoint.timing = old.timing
            endpoint.timing.reconnect()
        }
        if let place {
            self.vehicles.withValue(at: place) {
                $0.add(endpoint, path.endpoint, principal, isResumed: isResumed)
            }
            self.indexVehicle(path.vehicle, at: place)
        } else {
            self.vehicles[path.vehicle, default: Vehicle()].add(
                endpoint, path.endpoint, principal, isResumed: isResumed)
            self.indexVehicle(path.vehicle)
        }
        self.peers[connection] = .endpoint(path)
        if old == nil { self.known.add(principal) }
        if let grace = old?.grace { self.deadlines.cancel(grace) }
        actions.append(.admit(connection, self.welcome(vehicleHello, token, isResumed: isResumed)))
        self.enterGuidance(path, resuming: isResumed ? hello : nil, at: now, into: &actions)
    }

    /// Features that each peer has, whether its Hello has them or not.
    static let featuresOfAll: FeatureSet = [.receipts, .resumption]

    private static let vehicleFeatures: [Feature] =
        Profile.contentFeatures + [.requests, .prompts, .receipts, .resumption, .simulatedDrives]

    private func welcome(_ hello: VehicleHello, _ token: ResumptionToken, isResumed: Bool) -> Welcome {
        self.welcome(
            Self.vehicleFeatures, hello.features.union(Self.featuresOfAll), hello.extensions, token,
            isResumed: isResumed)
    }

    /// Those of a peer's extensions that the gateway forwards for it.
    private func granted(_ extensions: [ExtensionName]) -> [ExtensionName] {
        extensions.filter { !self.policy.withheldExtensions.contains($0) }
    }

    private func welcome(
        _ features: [Feature], _ asked: FeatureSet, _ extensions: [ExtensionName], _ token: ResumptionToken,
        isResumed: Bool
    ) -> Welcome {
        var welcome = Welcome(resumptionToken: token)
        welcome.features = features.map { feature in
            if self.policy.withheldFeatures.contains(feature) {
                return FeatureGrant(feature, withheld: .policy)
            }
            return FeatureGrant(feature, withheld: asked.contains(feature) ? nil : .notRequested)
        }
        welcome.extensions = self.granted(extensions)
        welcome.isResumed = isResumed
        welcome.graceMilliseconds = UInt32(clamping: self.policy.limits.grace.milliseconds)
        welcome.requestsOpenMax = UInt32(clamping: self.policy.limits.requestsOpenMax)
        return welcome
    }

    /// Forgets an endpoint. Without endpoints the vehicle is gone; a session that named it waits for it.
    mutating func forgetEndpoint(_ path: EndpointPath, at now: Instant, into actions: inout [Action]) {
        self.settle(path.vehicle, at: now, into: &actions)
        self.leaveSession(path, into: &actions)
        guard let endpoint = self.vehicles[path.vehicle]?.endpoints.removeValue(forKey: path.endpoint)
        else { return }
        if let user = self.vehicles[path.vehicle]?.principal { self.known.remove(user) }
        if let grace = endpoint.grace { self.deadlines.cancel(grace) }
        guard let vehicle = self.vehicles[path.vehicle], vehicle.endpoints.isEmpty else {
            return self.indexVehicle(path.vehicle)
        }
        for request in vehicle.sortedRequests {
            let ending = RequestDecision(.gone, .vehicleGone, at: path.endpoint)
            self.endRequest(request, ending, at: now, into: &actions)
        }
        guard let session = vehicle.session else { return self.removeVehicle(path.vehicle) }
        var awaited = Vehicle()
        (awaited.session, awaited.place, awaited.lastTour) = (session, vehicle.place, vehicle.lastTour)
        (awaited.shares, awaited.indexed) = (vehicle.shares, vehicle.indexed)
        self.vehicles[path.vehicle] = awaited
        self.indexVehicle(path.vehicle)
        if self.sessions[session]?.selection == .anyThatAsked {
            self.removeVehicle(path.vehicle, .vehicleGone, at: now, into: &actions)
        } else {
            self.endShares(with: path.vehicle, .gone, into: &actions)
        }
    }

    // MARK: Navigation clients

    private mutating func admit(
        _ connection: ConnectionID, _ navigation: NavigationHello, _ hello: Hello, _ principal: Principal,
        _ subject: AccessSubject, _ token: ResumptionToken, at now: Instant, into actions: inout [Action]
    ) {
        let id = navigation.client
        self.applyRules(to: id, into: &actions)
        let old = self.clients[id]
        guard old == nil || old?.principal == principal else {
            return self.refuse(connection, .idInUse, "client \(id) belongs to another user", into: &actions)
        }
        if old == nil, let full = self.refusal(ofPeerOf: principal) {
            return self.refuse(connection, full, into: &actions)
        }
        let verdict = old?.tokens.verdict(on: hello.resumptionToken, from: connection) ?? .invalid
        let isResumed = verdict.resumes
        if !isResumed, old?.tokens.hasLeft(connection) == true {
            return self.refuseLate(connection, into: &actions)
        }
        if let old {
            if let present = old.connection {
                guard isResumed else {
                    return self.refuse(connection, .idInUse, "client \(id) is connected", into: &actions)
                }
                self.takeOver(present, into: &actions)
                self.disconnect(id)
            }
            // A client without its token has lost the state of its sessions.
            if !isResumed { self.forgetClient(id, .clientGone, into: &actions) }
        }
        var client = Client(
            principal: principal, subject: subject, connection: connection, instant: now, hello: navigation,
            displayName: hello.displayName,
            tokens: ResumptionTokens(
                token, resuming: isResumed ? hello.resumptionToken : nil, on: connection),
            granted: navigation.features.subtracting(self.policy.withheldFeatures),
            extensions: self.granted(navigation.extensions))
        let present = self.clients[id]
        client.sessions = present?.sessions ?? []
        if let present { client.toldEnded = (verdict == .spare ? present.toldEnded : []) + present.ended }
        var welcome = self.welcome(navigation, token, isResumed: isResumed)
        welcome.sessions = self.livingSessions(of: client) + client.toldEnded
        if present == nil { self.known.add(principal) }
        self.clients[id] = client
        self.setGrant(of: id)
        self.indexClient(id, present)
        self.peers[connection] = .client(id)
        self.deadlines.remove(.clientGrace(id))
        actions.append(.admit(connection, welcome))
        for session in client.sessions {
            self.sessions[session]?.providedFeatures.formUnion(client.granted)
            self.sessions[session]?.setExtensions(client.extensions)
            self.sessions[session]?.acknowledgeAll()
            self.restore(session, connection, into: &actions)
            if old?.granted != client.granted || old?.extensions != client.extensions {
                self.begin(.refit, of: session)
            }
            // It may have come with another key, or other groups.
            if old?.subject != subject { self.endForbiddenGuidance(in: session) }
        }
    }

    private static let navigationFeatures: [Feature] =
        Profile.contentFeatures + [
            .waypointRequests, .destinationRequests, .tripRequests, .receipts, .resumption, .simulatedDrives,
        ]

    private func welcome(_ hello: NavigationHello, _ token: ResumptionToken, isResumed: Bool) -> Welcome {
        self.welcome(
            Self.navigationFeatures, hello.features.union(Self.featuresOfAll), hello.extensions, token,
            isResumed: isResumed)
    }

    private func livingSessions(of client: Client) -> [ResumedSession] {
        client.sessions.compactMap { id in
            self.sessions[id].map {
                ResumedSession(session: id, sequence: $0.sequence, phase: $0.content.phase)
            }
        }
    }

    /// Ends a client's sessions, and forgets the client.
    mutating func forgetClient(_ id: ClientID, _ reason: SessionEndReason, into actions: inout [Action]) {
        guard let client = self.clients[id] else { return }
        self.counters.work.visit(client.sessions.count)
        for session in client.sessions { self.endSession(session, reason, into: &actions) }
        self.known.remove(client.principal)
        self.clients[id] = nil
        self.indexClient(id, client)
        self.grants[id] = nil
        self.unruledClients.remove(id)
    }

    /// A client's connection is gone. Others may be asked what it was asked.
    mutating func disconnect(_ id: ClientID) {
        let old = self.clients[id]
        self.clients[id]?.connection = nil
        self.clients[id]?.requests = []
        self.indexClient(id, old)
        if let requests = old?.requests, !requests.isEmpty { self.queue(.abandonments(requests[...])) }
    }

    // MARK: Confirming

    /// A peer that was resumed has sent something since, so that it has its Welcome: what was kept in case that is lost ends.
    mutating func confirm(_ connection: ConnectionID) {
        switch self.peers[connection] {
        case nil: break  // It was taken over meanwhile.
        case .endpoint(let path):
            guard let place = self.vehicles.index(forKey: path.vehicle) else { return }
            self.vehicles.withValue(at: place) { $0.endpoints[path.endpoint]?.tokens.endSpare() }
        case .client(let id):
            self.clients[id]?.tokens.endSpare()
            self.clients[id]?.toldEnded = []
        }
    }

    // MARK: Departing

    mutating func depart(
        _ connection: ConnectionID, clean: Bool, at now: Instant, into actions: inout [Action]
    ) {
        guard let peer = self.peers.removeValue(forKey: connection) else { return }
        switch peer {
        case .endpoint(let path):
            self.settle(path.vehicle, at: now, into: &actions)
            // Changed rules may have refused it just now.
            guard let place = self.vehicles.index(forKey: path.vehicle),
                self.vehicles.readValue(at: place, { $0.endpoints[path.endpoint]?.connection }) == connection
            else { return }
            self.leaveAudience(path.endpoint, at: place, into: &actions)
            let end = now + self.rules.limits.grace
            let grace = clean ? nil : self.deadlines.add(.endpointGrace(path), at: end)
            self.vehicles.withValue(at: place) { $0.disconnect(path.endpoint, grace, until: end) }
            if clean {
                self.forgetEndpoint(path, at: now, into: &actions)
            } else {
                self.indexVehicle(path.vehicle, at: place)
            }
            self.announce(path.vehicle, into: &actions)
        case .client(let id):
            self.disconnect(id)
            if clean {
                self.forgetClient(id, .cancelledByClient, into: &actions)
            } else {
                for session in self.clients[id]?.sessions ?? [] {
                    self.suspend(session, into: &actions)
                }
                let end = now + self.policy.limits.grace
                self.clients[id]?.instant = end
                self.deadlines.set(.clientGrace(id), at: end)
            }
        }
    }

    /// Closes the old connection of a peer that has resumed on another one.
    private mutating func takeOver(_ connection: ConnectionID, into actions: inout [Action]) {
        self.peers[connection] = nil
        actions.append(
            .close(connection, Goodbye(.takenOver, reason: "the same id reconnected with its token")))
    }
}
