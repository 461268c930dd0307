internal import OrderedCollections
internal import WaymarkAccess
internal import WaymarkModel
internal import WaymarkProtocol

// Requests of vehicles to clients. Every request ends with exactly one outcome.
extension Gateway {
    // MARK: From the vehicle

    /// Asks the client that guides a vehicle for a stop on the way.
    mutating func askForWaypoint(
        _ request: ReceivedRequest, _ segment: Identifier, _ key: OpenRequest.Key,
        _ vehicle: Dictionary<VehicleID, Vehicle>.Index, at now: Instant, into actions: inout [Action]
    ) {
        guard let session = self.vehicles.readValue(at: vehicle, { $0.session }),
            let index = self.sessions.index(forKey: session)
        else {
            return self.decline(key, of: vehicle, RequestDecision(.invalid, .notGuided), nil, into: &actions)
        }
        let (name, isGuiding, isOnRoute) = self.sessions.readValue(at: index) { session in
            (
                session.client, session.content.isGuiding,
                segment.isEmpty || session.content.route.segments.contains(segment)
            )
        }
        guard isGuiding else {
            return self.decline(key, of: vehicle, RequestDecision(.invalid, .notGuided), nil, into: &actions)
        }
        guard isOnRoute else {
            return self.decline(
                key, of: vehicle, RequestDecision(.invalid, .unknownSegment), name, into: &actions)
        }
        guard let client = self.clients.index(forKey: name),
            case let (connection?, features) = self.clients.readValue(
                at: client, { ($0.connection, $0.granted) })
        else {
            return self.decline(
                key, of: vehicle, RequestDecision(.gone, .clientNotConnected), name, into: &actions)
        }
        guard features.contains(.waypointRequests) else {
            let ending = RequestDecision(.notSupported, .clientNotCapable)
            return self.decline(key, of: vehicle, ending, name, into: &actions)
        }
        self.open(request, .waypoint(session), key, of: vehicle, to: name, client, at: now)
        self.forward(
            request, of: key.vehicle, in: session, to: name, on: connection, into: &actions)
        self.note(.waypointRequested(key.id), of: key.vehicle, in: session, name, into: &actions)
    }

    /// Asks the first suitable client to guide a vehicle.
    mutating func askForDestination(
        _ request: ReceivedRequest, _ key: OpenRequest.Key, _ vehicle: Dictionary<VehicleID, Vehicle>.Index,
        at now: Instant, into actions: inout [Action]
    ) {
        let session = self.vehicles.readValue(at: vehicle) { $0.session }.flatMap {
            self.sessions.index(forKey: $0)
        }
        if let session, self.sessions.readValue(at: session, { $0.content.isGuiding }) {
            return self.decline(key, of: vehicle, RequestDecision(.invalid, .guided), nil, into: &actions)
        }
        guard let first = self.nextHandler(for: key.vehicle, after: nil),
            case let name = first.handler.client, let client = self.clients.index(forKey: name),
            let connection = self.clients.readValue(at: client, { $0.connection })
        else {
            // Otherwise changed rules have not reached all clients, and one that may guide the vehicle may be among them.
            let isSettled = self.unruledClients.isEmpty
            let ending =
                isSettled ? RequestDecision(.notSupported, .noClient) : RequestDecision(.busy, .rulesChanging)
            return self.decline(key, of: vehicle, ending, nil, into: &actions)
        }
        let tried = OpenRequest.Tried(last: first, handlerCount: self.handlerCount)
        self.open(request, .destination(tried), key, of: vehicle, to: name, client, at: now)
        self.forward(request, of: key.vehicle, in: .none, to: name, on: connection, into: &actions)
        self.note(.destinationRequested(key.id), of: key.vehicle, in: .none, name, into: &actions)
    }

    mutating func withdraw(
        _ id: Identifier, _ path: EndpointPath, _ connection: ConnectionID, _ session: SessionID,
        at now: Instant, into actions: inout [Action]
    ) {
        if let number = self.vehicles[path.vehicle]?.openRequest(id) {
            let ending = RequestDecision(.withdrawn, .withdrawn, at: path.endpoint)
            self.endRequest(number, ending, at: now, into: &actions)
        } else if let outcome = self.vehicles[path.vehicle]?.outcomes.outcome(of: id) {
            actions.append(.send(connection, Envelope(.requestOutcome(outcome))))
        } else {
            let rejection = Rejection(
                .unknownReference, field: "request_id", reason: "there is no such request")
            self.reject(
                connection, rejection, .withdrawRequest, session: session, requestID: id, into: &actions)
        }
    }

    mutating func answerPrompt(
        _ answer: PromptAnswer, _ path: EndpointPath, _ connection: ConnectionID, _ session: SessionID,
        at now: Instant, into actions: inout [Action]
    ) {
        // Otherwise another endpoint answered first, or the prompt is over.
        guard let number = self.vehicles[path.vehicle]?.openRequest(answer.requestID),
            case .prompting = self.requests[number]?.stage
        else {
            return self.ignore(
                .promptAnswer(answer), session, path, connection, "the prompt is over", into: &actions)
        }
        let outcome: Outcome = answer.isAccepted ? .accepted : .declinedByUser
        let ending = RequestDecision(outcome, .promptAnswered, at: path.endpoint)
        self.endRequest(number, ending, at: now, into: &actions)
    }

    /// Whether to process a vehicle's request. A resent request gets its outcome again, or waits for it; one too many is declined.
    mutating func admitRequest(
        _ request: ReceivedRequest, _ key: OpenRequest.Key, _ vehicle: Dictionary<VehicleID, Vehicle>.Index,
        _ connection: ConnectionID, into actions: inout [Action]
    ) -> Bool {
        let (number, outcome, openCount) = self.vehicles.readValue(at: vehicle) {
            ($0.openRequest(key.id), $0.outcomes.outcome(of: key.id), $0.openRequests.count)
        }
        guard number == nil else { return false }
        if let outcome {
            actions.append(.send(connection, Envelope(.requestOutcome(outcome))))
            return false
        }
        self.counters.requestsRouted += 1
        if openCount >= self.policy.limits.requestsOpenMax {
            self.decline(key, of: vehicle, RequestDecision(.busy, .tooManyOpen), nil, into: &actions)
            return false
        }
        guard self.hasRoom(for: request, of: key.vehicle) else {
            self.decline(key, of: vehicle, RequestDecision(.busy, .noMemory), nil, into: &actions)
            return false
        }
        return true
    }

    // MARK: Memory

    /// Smaller requests are not counted: their number is bounded by that of vehicles, and most are small.
    private static let smallRequestByteCount = 512

    /// Whether there is room for a request of a vehicle.
    private func hasRoom(for request: ReceivedRequest, of vehicle: VehicleID) -> Bool {
        let byteCount = request.frame.bytes.count
        guard byteCount > Self.smallRequestByteCount, let user = self.vehicles[vehicle]?.principal else {
            return true
        }
        let limits = self.policy.limits
        return self.index.requestBytes.count + byteCount <= limits.requestBytesInAllMax
            && self.index.requestBytes.count(of: user) + byteCount <= limits.requestBytesPerUserMax
    }

    /// Counts the memory of a request of a vehicle for the vehicle's user.
    mutating func charge(_ request: ReceivedRequest, of vehicle: VehicleID) {
        let byteCount = request.frame.bytes.count
        guard byteCount > Self.smallRequestByteCount, let user = self.vehicles[vehicle]?.principal else {
            return
        }
        self.index.requestBytes.add(user, byteCount)
    }

    private mutating func discharge(_ request: ReceivedRequest, of vehicle: VehicleID) {
        let byteCount = request.frame.bytes.count
        guard byteCount > Self.smallRequestByteCount, let user = self.vehicles[vehicle]?.principal else {
            return
        }
        self.index.requestBytes.remove(user, byteCount)
    }

    // MARK: To the client

    /// Opens a request of a vehicle, with the deadline for the client's answer.
    mutating func open(
        _ request: ReceivedRequest, _ kind: OpenRequest.Kind, _ key: OpenRequest.Key,
        of vehicle: Dictionary<VehicleID, Vehicle>.Index, to client: ClientID,
        _ index: Dictionary<ClientID, Client>.Index, at now: Instant
    ) {
        self.charge(request, of: key.vehicle)
        let number = self.requests.nextKey
        let due = now + self.policy.limits.requestTimeout
        let deadline = self.deadlines.add(.request(number), at: due)
        let place = self.assign(number, to: index)
        self.requests.insert(
            OpenRequest(
                vehicle: key.vehicle, source: key.source, content: request, kind: kind, client: client,
                place: place, opened: now, deadline: deadline, due: due))
        self.vehicles.withValue(at: vehicle) {
            $0.openRequests.append(Vehicle.OpenRequest(id: key.id, number: number))
        }
    }

    /// Counts a request among those of a client, and returns its place there.
    private mutating func assign(
        _ number: RequestNumber, to client: Dictionary<ClientID, Client>.Index
    ) -> Int {
        self.clients.withValue(at: client) { client in
            client.requests.append(number)
            return client.requests.count - 1
        }
    }

    /// Ends what ``assign(_:to:)`` began. The last of the client's requests takes the place.
    ///
    /// - Returns: The client's connection; nil if the request was taken from the client because that disconnected.
    private mutating func unassign(
        _ number: RequestNumber, from client: ClientID, at place: Int
    ) -> ConnectionID? {
        guard let index = self.clients.index(forKey: client) else { return nil }
        let (connection, moved): (ConnectionID?, RequestNumber?) = self.clients.withValue(at: index) {
            client in
            guard client.has(number, at: place) else { return (nil, nil) }
            let last = client.requests.removeLast()
            guard last != number else { return (client.connection, nil) }
            client.requests[place] = last
            return (client.connection, last)
        }
        if let moved { self.requests.change(moved) { $0.place = place } }
        return connection
    }

    /// Moves the deadline of a request.
    private mutating func moveDeadline(of number: RequestNumber, to end: Instant) {
        guard let replaced = self.requests.withValue(at: number, { $0.deadline }) else { return }
        self.deadlines.cancel(replaced)
        let deadline = self.deadlines.add(.request(number), at: end)
        self.requests.change(number) { ($0.deadline, $0.due) = (deadline, end) }
    }

    /// Asks a client for a drive.
    private func forward(
        _ request: ReceivedRequest, of vehicle: VehicleID, to client: ClientID, into actions: inout [Action]
    ) {
        guard let connection = self.clients[client]?.connection else { return }
        self.forward(request, of: vehicle, in: .none, to: client, on: connection, into: &actions)
    }

    // MARK: From the client

    mutating func answer(
        _ answer: RequestAnswer, client: ClientID, _ connection: ConnectionID, at now: Instant,
        into actions: inout [Action]
    ) {
        self.settle(answer.vehicle, at: now, into: &actions)
        let vehicle = self.vehicles.index(forKey: answer.vehicle)
        guard
            let number = vehicle.flatMap({
                self.vehicles.readValue(at: $0) { $0.openRequest(answer.requestID) }
            }),
            case (true, let kind, let stage, let place)? = self.requests.withValue(
                at: number, { ($0.client == client, $0.kind, $0.stage, $0.place) }),
            self.steps.isEmpty || self.clients[client]?.has(number, at: place) == true
        else {
            let rejection = Rejection(
                .unknownReference, field: "request_id", reason: "this client has no such open request")
            return self.reject(
                connection, rejection, .requestAnswer, requestID: answer.requestID, into: &actions)
        }
        switch (kind, stage, answer.answer) {
        case (.waypoint, .asked, .estimates(let estimates)):
            self.prompt(number, estimates, at: now, into: &actions)
        case (.waypoint, .asked, .ownPrompt):
            self.requests.change(number) { $0.stage = .ownPrompt }
            self.moveDeadline(of: number, to: now + self.policy.limits.promptTimeout)
        case (.destination(let tried), .asked, .accept) where !self.mayGuide(client, answer.vehicle),
            (.destination(let tried), .asked, .acceptWithPreview)
        where !self.mayGuide(client, answer.vehicle):
            // The rules changed since it was asked.
            self.passOn(number, tried, RequestDecision(.gone, .notAllowed), at: now, into: &actions)
        case (.waypoint, .ownPrompt, .accept), (.destination, .asked, .accept), (.trip, .asked, .accept):
            self.endRequest(number, RequestDecision(.accepted, .clientAnswered), at: now, into: &actions)
        case (.destination, .asked, .acceptWithPreview):
            let ending = RequestDecision(.accepted, .clientAnswered, previewFollows: true)
            self.endRequest(number, ending, at: now, into: &actions)
        case (.waypoint, .asked, .decline(let reason)), (.waypoint, .ownPrompt, .decline(let reason)),
            (.trip, .asked, .decline(let reason)):
            self.endRequest(number, RequestDecision(reason, .clientAnswered), at: now, into: &actions)
        case (.destination(let tried), .asked, .decline(let reason)):
            self.passOn(number, tried, RequestDecision(reason, .clientAnswered), at: now, into: &actions)
        case (.waypoint, _, _), (.destination, _, _), (.trip, _, _):
            let rejection = Rejection(
                .wrongState, field: "answer",
                reason: "does not fit a request that \(stage.description)")
            self.reject(connection, rejection, .requestAnswer, requestID: answer.requestID, into: &actions)
        }
    }

    private mutating func prompt(
        _ number: RequestNumber, _ estimates: TravelEstimates, at now: Instant, into actions: inout [Action]
    ) {
        let end = now + self.policy.limits.promptTimeout
        guard let request = self.requests[number],
            let prompt = self.prompt(of: request, estimates, until: end, at: now),
            !self.policy.withheldFeatures.contains(.prompts),
            let (endpoints, sizes) = self.vehicle(
                request.vehicle, { ($0.connections(asking: .prompts), $0.frameBytesMax) }),
            !endpoints.isEmpty
        else {
            return self.endRequest(
                number, RequestDecision(.notSupported, .noPrompts), at: now, into: &actions)
        }
        self.requests.change(number) { $0.stage = .prompting(estimates, until: end) }
        self.moveDeadline(of: number, to: end)
        for endpoint in endpoints {
            let size = sizes.isEmpty ? nil : sizes[endpoint]
            actions.append(.send(endpoint, self.envelope(of: prompt, size)))
        }
    }

    private func prompt(
        of request: OpenRequest, _ estimates: TravelEstimates, until end: Instant, at now: Instant
    ) -> Prompt? {
        self.coder.waypoint(request.content).map { waypoint in
            Prompt(
                requestID: request.id, waypoint: waypoint, travelEstimates: estimates,
                deadlineMilliseconds: UInt32(clamping: (end - now).milliseconds))
        }
    }

    /// Sends the vehicle's open prompts to an endpoint that has connected or resumed.
    mutating func repeatPrompts(to path: EndpointPath, at now: Instant, into actions: inout [Action]) {
        guard self.vehicle(path.vehicle, { !$0.openRequests.isEmpty }) == true,
            let vehicle = self.vehicles[path.vehicle], let endpoint = vehicle.endpoints[path.endpoint],
            let connection = endpoint.connection, endpoint.isGranted(.prompts, self.policy)
        else { return }
        for number in vehicle.sortedRequests {
            guard let request = self.requests[number],
                case .prompting(let estimates, let end) = request.stage,
                let prompt = self.prompt(of: request, estimates, until: end, at: now)
            else { continue }
            let frameBytesMax = endpoint.hello.receiveFrameBytesMax
            let size = frameBytesMax == 0 ? nil : Int(frameBytesMax)
            actions.append(.send(connection, self.envelope(of: prompt, size)))
        }
    }

    /// A prompt to an endpoint that takes frames of at most `frameBytesMax` bytes; nil for any length.
    private func envelope(of prompt: Prompt, _ frameBytesMax: Int?) -> Envelope {
        guard let frameBytesMax else { return Envelope(.prompt(prompt)) }
        return SizeLadder.fit(prompt.waypoint, frameBytesMax, self.coder) { waypoint in
            var prompt = prompt
            prompt.waypoint = waypoint
            return .prompt(prompt)
        }
    }

    /// Asks the next client for a drive; without one, the request ends with the last answer.
    private mutating func passOn(
        _ number: RequestNumber, _ tried: OpenRequest.Tried, _ ending: RequestDecision, at now: Instant,
        into actions: inout [Action]
    ) {
        guard let request = self.requests[number],
            let next = self.nextHandler(for: request.vehicle, after: tried),
            case let name = next.handler.client, let client = self.clients.index(forKey: name)
        else {
            return self.endRequest(number, ending, at: now, into: &actions)
        }
        let outcome = RequestOutcome(
            requestID: request.id, vehicle: request.vehicle, outcome: ending.outcome,
            client: request.client, cause: ending.cause)
        if let connection = self.unassign(number, from: request.client, at: request.place) {
            actions.append(.send(connection, Envelope(.requestOutcome(outcome))))
        }
        let place = self.assign(number, to: client)
        self.requests.change(number) {
            $0.kind = .destination(
                OpenRequest.Tried(
                    last: next, earlier: tried.earlier.union([tried.last.handler.client]),
                    handlerCount: self.handlerCount))
            $0.client = name
            $0.place = place
        }
        self.moveDeadline(of: number, to: now + self.policy.limits.requestTimeout)
        self.forward(request.content, of: request.vehicle, to: name, into: &actions)
    }

    // MARK: Ending

    /// The client that was asked has disconnected.
    mutating func abandon(
        _ requests: ArraySlice<RequestNumber>, at now: Instant, into actions: inout [Action]
    ) {
        self.visit(requests, putBack: Step.abandonments) { gateway, number in
            gateway.giveUp(number, RequestDecision(.gone, .clientGone), at: now, into: &actions)
        }
    }

    /// Takes requests for a drive from a client that may no longer guide the vehicle.
    mutating func reassignForbidden(
        _ requests: ArraySlice<RequestNumber>, at now: Instant, into actions: inout [Action]
    ) {
        self.visit(requests, putBack: Step.forbidden) { gateway, number in
            guard
                let (client, vehicle) = gateway.requests.withValue(
                    at: number, { ($0.client, $0.vehicle) }),
                case .destination(let tried) = gateway.requests[number]?.kind,
                !gateway.mayGuide(client, vehicle)
            else { return }
            gateway.passOn(number, tried, RequestDecision(.gone, .notAllowed), at: now, into: &actions)
        }
    }

    /// Visits requests as far as the budget goes; `step` is put back for the rest.
    private mutating func visit(
        _ requests: ArraySlice<RequestNumber>, putBack step: (ArraySlice<RequestNumber>) -> Step,
        _ body: (inout Gateway, RequestNumber) -> Void
    ) {
        var requests = requests
        repeat {
            guard let number = requests.popFirst() else { return }
            self.counters.work.visit()
            body(&self, number)
        } while self.hasBudget
        self.putBack(step(requests))
    }

    /// The client that was asked does not answer: another one may be asked for a drive.
    mutating func giveUp(
        _ number: RequestNumber, _ ending: RequestDecision, at now: Instant, into actions: inout [Action]
    ) {
        switch self.requests[number]?.kind {
        case .destination(let tried): self.passOn(number, tried, ending, at: now, into: &actions)
        case .waypoint, .trip: self.endRequest(number, ending, at: now, into: &actions)
        case nil: break
        }
    }

    /// Withdraws the destination requests of a vehicle that now navigates by itself, as one of its endpoints says.
    mutating func withdrawDestinations(
        of path: EndpointPath, at now: Instant, into actions: inout [Action]
    ) {
        let ending = RequestDecision(.withdrawn, .ownNavigation, at: path.endpoint)
        for number in self.vehicles[path.vehicle]?.sortedRequests ?? [] {
            if case .destination = self.requests[number]?.kind {
                self.endRequest(number, ending, at: now, into: &actions)
            }
        }
    }

    /// Ends an open request: tells the vehicle and the client that was asked last, and ends its prompts.
    mutating func endRequest(
        _ number: RequestNumber, _ ending: RequestDecision, at now: Instant, into actions: inout [Action]
    ) {
        guard let request = self.requests.remove(number) else { return }
        self.discharge(request.content, of: request.vehicle)
        self.deadlines.cancel(request.deadline)
        let connection = self.unassign(number, from: request.client, at: request.place)
        let vehicle = self.vehicles.index(forKey: request.vehicle)
        if let vehicle {
            self.vehicles.withValue(at: vehicle) { $0.openRequests.removeAll { $0.number == number } }
        }
        if case .prompting = request.stage {
            let over = Message.promptOver(PromptOver(requestID: request.id, outcome: ending.outcome))
            for endpoint in self.prompting(request.vehicle) {
                actions.append(.send(endpoint, Envelope(over)))
            }
        }
        let message = self.record(
            request.key, of: vehicle, ending, request.client, after: now - request.opened, into: &actions)
        if case .destination = request.kind, ending.outcome == .accepted {
            self.allowGuidance(of: request.vehicle)
        }
        if let connection { actions.append(.send(connection, Envelope(message, session: request.session))) }
    }

    private mutating func allowGuidance(of vehicle: VehicleID) {
        self.vehicles[vehicle]?.navigatesItself = false
        self.vehicles[vehicle]?.hasStopped = false
        self.indexVehicle(vehicle)
    }

    /// Ends a request that was forwarded to no client. The outcome names `client`, that of the vehicle's session.
    mutating func decline(
        _ key: OpenRequest.Key, of vehicle: Dictionary<VehicleID, Vehicle>.Index, _ ending: RequestDecision,
        _ client: ClientID?, into actions: inout [Action]
    ) {
        _ = self.record(key, of: vehicle, ending, client, after: .zero, into: &actions)
    }

    /// Keeps an outcome for a resent request, and tells the vehicle's requesting endpoints.
    ///
    /// - Returns: What they are told.
    private mutating func record(
        _ key: OpenRequest.Key, of vehicle: Dictionary<VehicleID, Vehicle>.Index?, _ ending: RequestDecision,
        _ client: ClientID?, after time: Duration, into actions: inout [Action]
    ) -> Message {
        self.counters.requestsEnded.add(of: ending.outcome.rawValue)
        self.counters.requestTimes.add(time)
        let ended = RequestOutcome(
            requestID: key.id, vehicle: key.vehicle, outcome: ending.outcome, client: client,
            previewFollows: ending.previewFollows, cause: ending.cause, endpoint: ending.endpoint)
        let message = Message.requestOutcome(ended)
        let keptMax = self.policy.limits.outcomesKeptMax
        let kept = vehicle.map { index in
            self.vehicles.withValue(at: index) { vehicle in
                vehicle.outcomes.append(ended, from: key.source, countMax: keptMax)
                return (session: vehicle.session, connections: vehicle.connections(asking: .requests))
            }
        }
        if let kept, !self.policy.withheldFeatures.contains(.requests) {
            for connection in kept.connections { actions.append(.send(connection, Envelope(message))) }
        }
        self.note(
            .requestEnded(key.id, ending.outcome, ending.cause), of: key.vehicle, in: kept?.session ?? .none,
            client,
            into: &actions)
        return message
    }

    /// Repeats the outcomes of a client's last requests: with its connection it may have lost some.
    func repeatOutcomes(
        of vehicle: VehicleID, to client: ClientID, _ session: SessionID, into actions: inout [Action]
    ) {
        for outcome in self.vehicles[vehicle]?.outcomes.outcomes(where: { $0.client == client }) ?? [] {
            self.tell(client, .requestOutcome(outcome), session, into: &actions)
        }
    }

    private func prompting(_ vehicle: VehicleID) -> [ConnectionID] {
        guard !self.policy.withheldFeatures.contains(.prompts) else { return [] }
        return self.vehicles[vehicle]?.connections(asking: .prompts) ?? []
    }
}
