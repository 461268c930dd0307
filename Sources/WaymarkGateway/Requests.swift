internal import OrderedCollections
internal import WaymarkModel
internal import WaymarkProtocol

// What a vehicle asks of clients. Every request ends in exactly one outcome.
extension Gateway {
    // MARK: From the vehicle

    mutating func request(
        _ request: WaypointRequest, _ path: EndpointPath, _ connection: ConnectionID, isCurrent: Bool,
        at now: Instant, into actions: inout [Action]
    ) {
        let key = Request.Key(vehicle: path.vehicle, id: request.requestID)
        guard let vehicle = self.vehicle(ofNew: key, connection, into: &actions) else { return }
        guard isCurrent else { return self.turnDown(key, .sessionEnded, nil, into: &actions) }
        guard let session = self.vehicles.look(at: vehicle, { $0.session }),
            let place = self.sessions.index(forKey: session)
        else { return self.turnDown(key, .invalid, nil, into: &actions) }
        let (name, isGuiding, isOnRoute) = self.sessions.look(at: place) { session in
            (
                session.client, session.content.isGuiding,
                request.segment.isEmpty || session.content.route.segments.contains(request.segment)
            )
        }
        guard isGuiding else { return self.turnDown(key, .invalid, nil, into: &actions) }
        guard isOnRoute else { return self.turnDown(key, .invalid, name, into: &actions) }
        guard let client = self.clients.index(forKey: name),
            case let (client?, features) = self.clients.look(
                at: client, { ($0.connection, $0.hello.features) })
        else { return self.turnDown(key, .gone, name, into: &actions) }
        guard features.contains(.waypointRequests) else {
            return self.turnDown(key, .notSupported, name, into: &actions)
        }
        self.requests[key] = Request(kind: .waypoint(session), waypoint: request.waypoint, client: name)
        self.note(.waypointRequested, of: path.vehicle, in: session, name, into: &actions)
        self.open(key, of: vehicle, at: now)
        var forwarded = request
        forwarded.vehicle = path.vehicle
        actions.append(.send(client, Envelope(.waypointRequest(forwarded), session: session)))
    }

    mutating func request(
        _ request: DestinationRequest, _ path: EndpointPath, _ connection: ConnectionID, at now: Instant,
        into actions: inout [Action]
    ) {
        let key = Request.Key(vehicle: path.vehicle, id: request.requestID)
        guard let vehicle = self.vehicle(ofNew: key, connection, into: &actions) else { return }
        let session = self.vehicles.look(at: vehicle) { $0.session }.flatMap { self.sessions[$0] }
        guard session?.content.isGuiding != true else {
            return self.turnDown(key, .invalid, nil, into: &actions)
        }
        guard let first = self.nextClient(after: []) else {
            return self.turnDown(key, .notSupported, nil, into: &actions)
        }
        self.requests[key] = Request(
            kind: .destination(tried: [first]), waypoint: request.destination, client: first)
        self.note(.destinationRequested, of: path.vehicle, in: .none, first, into: &actions)
        self.open(key, of: vehicle, at: now)
        self.askForDestination(key, into: &actions)
    }

    mutating func withdraw(
        _ id: String, _ path: EndpointPath, _ connection: ConnectionID, at now: Instant,
        into actions: inout [Action]
    ) {
        let key = Request.Key(vehicle: path.vehicle, id: id)
        if self.requests[key] != nil {
            self.endRequest(key, .withdrawn, at: now, into: &actions)
        } else if let outcome = self.vehicles[path.vehicle]?.outcomes.outcome(of: id) {
            actions.append(.send(connection, Envelope(.requestOutcome(outcome))))
        } else {
            let rejection = Rejection(
                .unknownReference, field: "request_id", reason: "there is no such request")
            self.reject(connection, rejection, .withdrawRequest, requestID: id, into: &actions)
        }
    }

    mutating func answerPrompt(
        _ answer: PromptAnswer, _ path: EndpointPath, at now: Instant, into actions: inout [Action]
    ) {
        let key = Request.Key(vehicle: path.vehicle, id: answer.requestID)
        // Another endpoint was faster, or it is over.
        guard case .prompting = self.requests[key]?.stage else { return }
        self.endRequest(key, answer.isAccepted ? .accepted : .declinedByUser, at: now, into: &actions)
    }

    /// The vehicle whose request is to be worked on. A resent one gets its outcome again, or waits for the one that comes.
    private mutating func vehicle(
        ofNew key: Request.Key, _ connection: ConnectionID, into actions: inout [Action]
    ) -> Dictionary<VehicleID, Vehicle>.Index? {
        guard let vehicle = self.vehicles.index(forKey: key.vehicle),
            self.requests.index(forKey: key) == nil
        else { return nil }
        let (outcome, openCount) = self.vehicles.look(at: vehicle) {
            ($0.outcomes.outcome(of: key.id), $0.openRequests.count)
        }
        if let outcome {
            actions.append(.send(connection, Envelope(.requestOutcome(outcome))))
            return nil
        }
        self.counters.requestsRouted += 1
        guard openCount < self.policy.limits.requestsOpenMax else {
            self.turnDown(key, .busy, nil, into: &actions)
            return nil
        }
        return vehicle
    }

    // MARK: To the client

    /// Begins to wait for the answer to a request of a vehicle.
    private mutating func open(
        _ key: Request.Key, of vehicle: Dictionary<VehicleID, Vehicle>.Index, at now: Instant
    ) {
        self.vehicles.look(at: vehicle) { $0.openRequests.append(key.id) }
        self.deadlines.set(.request(key), at: now + self.policy.limits.requestTimeout)
    }

    private func askForDestination(_ key: Request.Key, into actions: inout [Action]) {
        guard let asked = self.requests[key] else { return }
        let request = DestinationRequest(
            requestID: key.id, destination: asked.waypoint, vehicle: key.vehicle)
        self.tell(asked.client, .destinationRequest(request), into: &actions)
    }

    /// Who is asked for a drive next: by priority, then by name.
    private func nextClient(after tried: Set<ClientID>) -> ClientID? {
        self.clients.filter { id, client in
            client.connection != nil && client.hello.features.contains(.destinationRequests)
                && !tried.contains(id)
        }
        .min { lhs, rhs in
            lhs.value.hello.priority == rhs.value.hello.priority
                ? lhs.key < rhs.key : lhs.value.hello.priority > rhs.value.hello.priority
        }?.key
    }

    // MARK: From the client

    mutating func answer(
        _ answer: RequestAnswer, client: ClientID, _ connection: ConnectionID, at now: Instant,
        into actions: inout [Action]
    ) {
        let key = Request.Key(vehicle: answer.vehicle, id: answer.requestID)
        guard let place = self.requests.index(forKey: key),
            case (true, let kind, let stage) = self.requests.look(
                at: place, { ($0.client == client, $0.kind, $0.stage) })
        else {
            let rejection = Rejection(
                .unknownReference, field: "request_id", reason: "this client has no such open request")
            return self.reject(
                connection, rejection, .requestAnswer, requestID: answer.requestID, into: &actions)
        }
        switch (kind, stage, answer.answer) {
        case (.waypoint, .asked, .estimates(let estimates)):
            self.prompt(key, estimates, at: now, into: &actions)
        case (.waypoint, .asked, .ownPrompt):
            self.requests.look(at: place) { $0.stage = .ownPrompt }
            self.deadlines.set(.request(key), at: now + self.policy.limits.promptTimeout)
        case (.waypoint, .ownPrompt, .accept), (.destination, .asked, .accept):
            self.endRequest(key, .accepted, at: now, into: &actions)
        case (.waypoint, .asked, .decline(let reason)), (.waypoint, .ownPrompt, .decline(let reason)):
            self.endRequest(key, reason, at: now, into: &actions)
        case (.destination(let tried), .asked, .decline(let reason)):
            self.passOn(key, tried, reason, at: now, into: &actions)
        case (.waypoint, _, _), (.destination, _, _):
            let rejection = Rejection(
                .wrongState, field: "answer",
                reason: "does not fit a request that \(stage.description)")
            self.reject(connection, rejection, .requestAnswer, requestID: answer.requestID, into: &actions)
        }
    }

    private mutating func prompt(
        _ key: Request.Key, _ estimates: TravelEstimates, at now: Instant, into actions: inout [Action]
    ) {
        let endpoints = self.prompting(key.vehicle)
        guard !endpoints.isEmpty, let waypoint = self.requests[key]?.waypoint else {
            return self.endRequest(key, .notSupported, at: now, into: &actions)
        }
        let end = now + self.policy.limits.promptTimeout
        self.requests[key]?.stage = .prompting(estimates, until: end)
        self.deadlines.set(.request(key), at: end)
        let prompt = Prompt(
            requestID: key.id, waypoint: waypoint, travelEstimates: estimates,
            deadlineMilliseconds: UInt32(clamping: (end - now).milliseconds))
        for endpoint in endpoints { actions.append(.send(endpoint, Envelope(.prompt(prompt)))) }
    }

    /// An endpoint has come, or come back: it may ask the user what is still to be answered.
    func repeatPrompts(to path: EndpointPath, at now: Instant, into actions: inout [Action]) {
        guard let vehicle = self.vehicles[path.vehicle], let endpoint = vehicle.endpoints[path.endpoint],
            let connection = endpoint.connection, endpoint.isGranted(.prompts, self.policy)
        else { return }
        for id in vehicle.openRequests.sorted() {
            guard let request = self.requests[Request.Key(vehicle: path.vehicle, id: id)],
                case .prompting(let estimates, let end) = request.stage
            else { continue }
            let prompt = Prompt(
                requestID: id, waypoint: request.waypoint, travelEstimates: estimates,
                deadlineMilliseconds: UInt32(clamping: (end - now).milliseconds))
            actions.append(.send(connection, Envelope(.prompt(prompt))))
        }
    }

    /// Asks the next client for a drive; without one, the request ends with the last answer.
    private mutating func passOn(
        _ key: Request.Key, _ tried: Set<ClientID>, _ reason: Outcome, at now: Instant,
        into actions: inout [Action]
    ) {
        guard let next = self.nextClient(after: tried) else {
            return self.endRequest(key, reason, at: now, into: &actions)
        }
        if let last = self.requests[key]?.client {
            let outcome = RequestOutcome(
                requestID: key.id, vehicle: key.vehicle, outcome: reason, client: last)
            self.tell(last, .requestOutcome(outcome), into: &actions)
        }
        self.requests[key]?.kind = .destination(tried: tried.union([next]))
        self.requests[key]?.client = next
        self.deadlines.set(.request(key), at: now + self.policy.limits.requestTimeout)
        self.askForDestination(key, into: &actions)
    }

    // MARK: Ending

    mutating func missRequestDeadline(_ key: Request.Key, at now: Instant, into actions: inout [Action]) {
        switch self.requests[key]?.kind {
        case .destination(let tried): self.passOn(key, tried, .timedOut, at: now, into: &actions)
        case .waypoint: self.endRequest(key, .timedOut, at: now, into: &actions)
        case nil: break
        }
    }

    /// The client that was asked has gone.
    mutating func abandonRequests(of client: ClientID, at now: Instant, into actions: inout [Action]) {
        let keys = self.requests.filter { $0.value.client == client }.keys
        for key in keys.sorted(by: { ($0.vehicle, $0.id) < ($1.vehicle, $1.id) }) {
            switch self.requests[key]?.kind {
            case .destination(let tried): self.passOn(key, tried, .gone, at: now, into: &actions)
            case .waypoint: self.endRequest(key, .gone, at: now, into: &actions)
            case nil: break
            }
        }
    }

    /// Takes back what a vehicle asked for before it began to navigate by itself.
    mutating func withdrawDestinations(
        of vehicle: VehicleID, at now: Instant, into actions: inout [Action]
    ) {
        for id in self.vehicles[vehicle]?.openRequests.sorted() ?? [] {
            let key = Request.Key(vehicle: vehicle, id: id)
            if case .destination = self.requests[key]?.kind {
                self.endRequest(key, .withdrawn, at: now, into: &actions)
            }
        }
    }

    /// Ends an open request: the vehicle and the client that was asked last hear it, prompts are over.
    mutating func endRequest(
        _ key: Request.Key, _ outcome: Outcome, at now: Instant, into actions: inout [Action]
    ) {
        guard let request = self.requests.removeValue(forKey: key) else { return }
        self.deadlines.remove(.request(key))
        let vehicle = self.vehicles.index(forKey: key.vehicle)
        if let vehicle { self.vehicles.look(at: vehicle) { $0.openRequests.removeAll { $0 == key.id } } }
        if case .prompting = request.stage {
            let over = Message.promptOver(PromptOver(requestID: key.id, outcome: outcome))
            for endpoint in self.prompting(key.vehicle) { actions.append(.send(endpoint, Envelope(over))) }
        }
        let message = self.record(key, of: vehicle, outcome, request.client, into: &actions)
        var session = SessionID.none
        switch request.kind {
        case .waypoint(let id): session = id
        case .destination:
            if outcome == .accepted {
                self.vehicles[key.vehicle]?.navigatesItself = false
                self.vehicles[key.vehicle]?.hasStopped = false
            }
        }
        self.tell(request.client, message, session, into: &actions)
    }

    /// Ends a request that no client was asked, or has to hear of.
    private mutating func turnDown(
        _ key: Request.Key, _ outcome: Outcome, _ client: ClientID?, into actions: inout [Action]
    ) {
        let vehicle = self.vehicles.index(forKey: key.vehicle)
        _ = self.record(key, of: vehicle, outcome, client, into: &actions)
    }

    /// Keeps an outcome for a resent request, and tells the vehicle's requesting endpoints.
    ///
    /// - Returns: What they are told.
    private mutating func record(
        _ key: Request.Key, of vehicle: Dictionary<VehicleID, Vehicle>.Index?, _ outcome: Outcome,
        _ client: ClientID?, into actions: inout [Action]
    ) -> Message {
        self.counters.requestsEnded += 1
        let ended = RequestOutcome(
            requestID: key.id, vehicle: key.vehicle, outcome: outcome, client: client)
        let message = Message.requestOutcome(ended)
        let keptMax = self.policy.limits.outcomesKeptMax
        let kept = vehicle.map { place in
            self.vehicles.look(at: place) { vehicle in
                vehicle.outcomes.append(ended, countMax: keptMax)
                return (session: vehicle.session, connections: vehicle.connections(asking: .requests))
            }
        }
        self.note(.requestEnded(outcome), of: key.vehicle, in: kept?.session ?? .none, client, into: &actions)
        guard let kept, !self.policy.withheldFeatures.contains(.requests) else { return message }
        for connection in kept.connections { actions.append(.send(connection, Envelope(message))) }
        return message
    }

    /// A client that was cut may not have heard how the last requests that it was asked have ended.
    func repeatOutcomes(
        of vehicle: VehicleID, to client: ClientID, _ session: SessionID, into actions: inout [Action]
    ) {
        for outcome in self.vehicles[vehicle]?.outcomes ?? OutcomeBook()
        where outcome.client == client {
            self.tell(client, .requestOutcome(outcome), session, into: &actions)
        }
    }

    private func prompting(_ vehicle: VehicleID) -> [ConnectionID] {
        guard !self.policy.withheldFeatures.contains(.prompts) else { return [] }
        return self.vehicles[vehicle]?.connections(asking: .prompts) ?? []
    }
}
