internal import OrderedCollections
internal import WaymarkModel
internal import WaymarkProtocol

// Messages of vehicles and clients other than publications.
extension Gateway {
    mutating func receive(
        _ message: Message, _ session: SessionID, client: ClientID, _ connection: ConnectionID,
        at now: Instant,
        into actions: inout [Action]
    ) {
        if !self.unruledClients.isEmpty {
            self.applyRules(to: client, into: &actions)
            guard self.peers[connection] != nil else { return }
        }
        switch message {
        case .openSession(let opening):
            self.openSession(opening, client: client, connection, at: now, into: &actions)
        case .requestAnswer(let answer):
            self.answer(answer, client: client, connection, at: now, into: &actions)
        // Not reached: AcceptingSession closes the connection of a client that sends another.
        default: break
        }
    }

    mutating func receive(
        _ message: Message, _ session: SessionID, path: EndpointPath, _ connection: ConnectionID,
        at now: Instant,
        into actions: inout [Action]
    ) {
        let actionCount = actions.count
        guard self.settle(path.vehicle, of: connection, at: now, into: &actions),
            let vehicle = self.vehicles.index(forKey: path.vehicle)
        else { return }
        if let feature = message.neededFeature, !self.isGranted(feature, to: path, vehicle) {
            return self.rejectUngranted(
                feature, connection, message.type, session: session, requestID: message.requestID,
                into: &actions)
        }
        if case .selectPreview = message, !self.isGranted(.tripPreviews, to: path, vehicle) {
            return self.rejectUngranted(
                .tripPreviews, connection, message.type, session: session, requestID: "", into: &actions)
        }
        if case .vehicleExtension(let sent) = message, !self.isGranted(sent.name, to: path, vehicle) {
            let rejection = Rejection(
                .notGranted, field: "name",
                reason: "the extension \(sent.name) was not granted to this endpoint")
            return self.reject(connection, rejection, message.type, session: session, into: &actions)
        }
        let isCurrent = self.isCurrent(session, for: vehicle)
        switch message {
        case .withdrawRequest(let request):
            self.withdraw(request.requestID, path, connection, session, at: now, into: &actions)
        case .promptAnswer(let answer):
            self.answerPrompt(answer, path, connection, session, at: now, into: &actions)
        // The session has ended already. Own navigation applies to the vehicle, whatever session it is in.
        case .cancelNavigation(.userStopped) where !isCurrent:
            let ended = self.vehicles.readValue(at: vehicle) { $0.end(of: session) }
            Self.sendEnd(ended, to: connection, into: &actions)
        case .cancelNavigation(let reason):
            if actions.count > actionCount {
                self.dropFrames(for: path.vehicle, after: actionCount, &actions)
            }
            self.cancel(path, connection, reason, at: now, into: &actions)
        case .allowNavigation: self.allow(path.vehicle, at: now, into: &actions)
        case .vehicleSettings(let settings): self.update(settings, path, at: now, into: &actions)
        case .pong(let nonce, let times):
            if let times { self.compareClock(nonce, times, path, connection, at: now) }
        case .updateRouteSource, .zoomCluster, .alertResponse, .destinationShareAnswer, .vehicleExtension,
            .selectPreview, .simulateDrive,
            .destinationShareWanted, .updateRouteFeedback, .receipt:
            guard isCurrent else {
                return self.ignore(
                    message, session, path, connection, "the vehicle is not in this session", into: &actions)
            }
            self.receive(inSession: message, session, path, connection, at: now, into: &actions)
        // Not reached: AcceptingSession closes the connection of an endpoint that sends another.
        default: break
        }
    }

    /// Handles a request of an endpoint.
    mutating func receive(
        _ request: ReceivedRequest, _ session: SessionID, from connection: ConnectionID, at now: Instant,
        into actions: inout [Action]
    ) {
        // Otherwise the connection was refused or replaced while requests were on their way.
        guard case .endpoint(let path) = self.peers[connection] else { return }
        guard self.settle(path.vehicle, of: connection, at: now, into: &actions),
            let vehicle = self.vehicles.index(forKey: path.vehicle)
        else { return }
        guard self.isGranted(.requests, to: path, vehicle) else {
            return self.rejectUngranted(
                .requests, connection, request.type, session: session, requestID: request.requestID,
                into: &actions)
        }
        let key = OpenRequest.Key(
            vehicle: path.vehicle, id: request.requestID, source: path.endpoint)
        guard self.admitRequest(request, key, vehicle, connection, into: &actions) else { return }
        let over = RequestDecision(.sessionEnded, .sessionOver)
        switch request.kind {
        case .waypoint(let segment):
            guard self.isCurrent(session, for: vehicle) else {
                return self.decline(key, of: vehicle, over, nil, into: &actions)
            }
            self.askForWaypoint(request, segment, key, vehicle, at: now, into: &actions)
        case .destination:
            self.askForDestination(request, key, vehicle, at: now, into: &actions)
        case .trip(let trip, let routeChoice):
            guard self.isCurrent(session, for: vehicle) else {
                return self.decline(key, of: vehicle, over, nil, into: &actions)
            }
            self.askToStart(request, trip, routeChoice, key, vehicle, at: now, into: &actions)
        }
    }

    /// Settles the vehicle that an endpoint speaks for.
    ///
    /// - Returns: Whether changed rules leave the endpoint connected.
    private mutating func settle(
        _ id: VehicleID, of connection: ConnectionID, at now: Instant, into actions: inout [Action]
    ) -> Bool {
        let mayBeExpelled = !self.unruledVehicles.isEmpty
        self.settle(id, at: now, into: &actions)
        return !mayBeExpelled || self.peers[connection] != nil
    }

    /// Whether a message is about the session that a vehicle is in, or about none. Otherwise it crossed the end of an earlier session
    /// on its way.
    private mutating func isCurrent(
        _ session: SessionID, for vehicle: Dictionary<VehicleID, Vehicle>.Index
    ) -> Bool {
        session == .none || session == self.vehicles.readValue(at: vehicle) { $0.session }
    }

    private func rejectUngranted(
        _ feature: Feature, _ connection: ConnectionID, _ type: MessageType, session: SessionID,
        requestID: Identifier, into actions: inout [Action]
    ) {
        let rejection = Rejection(
            .notGranted, reason: "the feature \(feature) was not granted to this endpoint")
        self.reject(connection, rejection, type, session: session, requestID: requestID, into: &actions)
    }

    /// Whether an endpoint of a vehicle was granted a feature. Also true for an endpoint that the gateway has forgotten.
    private mutating func isGranted(
        _ feature: Feature, to path: EndpointPath, _ vehicle: Dictionary<VehicleID, Vehicle>.Index
    ) -> Bool {
        let isRequested = self.vehicles.readValue(at: vehicle) { vehicle in
            vehicle.endpoints.index(forKey: path.endpoint).map {
                vehicle.endpoints.values[$0].hello.features.contains(feature)
            }
        }
        return isRequested.map { $0 && !self.policy.withheldFeatures.contains(feature) } ?? true
    }

    /// Whether an endpoint of a vehicle may send an extension. Also true for an endpoint that the gateway has forgotten.
    private mutating func isGranted(
        _ name: ExtensionName, to path: EndpointPath, _ vehicle: Dictionary<VehicleID, Vehicle>.Index
    ) -> Bool {
        let isListed = self.vehicles.readValue(at: vehicle) { vehicle in
            vehicle.endpoints.index(forKey: path.endpoint).map {
                vehicle.endpoints.values[$0].hello.extensions.contains(name)
            }
        }
        return isListed.map { $0 && !self.policy.withheldExtensions.contains(name) } ?? true
    }

    /// Handles a message that only makes sense in the session it was sent in.
    private mutating func receive(
        inSession message: Message, _ session: SessionID, _ path: EndpointPath, _ connection: ConnectionID,
        at now: Instant, into actions: inout [Action]
    ) {
        switch message {
        case .updateRouteSource(let update): self.setRouteSource(update, path, into: &actions)
        // The others need a session.
        case _ where self.vehicles[path.vehicle]?.session == nil:
            self.ignore(message, session, path, connection, "the vehicle is in no session", into: &actions)
        case .zoomCluster(var zoom):
            zoom.source = path
            self.tellClient(of: path.vehicle, .zoomCluster(zoom), into: &actions)
        case .alertResponse(let response) where !self.isShown(response.alert, in: path.vehicle):
            self.ignore(message, session, path, connection, "the alert is not shown", into: &actions)
        case .alertResponse(var response):
            response.source = path
            self.tellClient(of: path.vehicle, .alertResponse(response), into: &actions)
        case .destinationShareAnswer(let answer)
        where self.vehicles[path.vehicle]?.shares.contains(answer.shareID) != true:
            // Another endpoint was faster, or the deadline.
            self.ignore(message, session, path, connection, "the share is over", into: &actions)
        case .destinationShareAnswer(let answer): self.answerShare(answer, path, into: &actions)
        case .vehicleExtension(let sent) where !self.isHandled(sent.name, byClientOf: path.vehicle):
            self.ignore(
                message, session, path, connection, "the client does not use the extension", into: &actions)
        case .vehicleExtension(var sent):
            sent.source = path
            // An event of an endpoint: it counts for the endpoint's share of what waits for the client.
            self.tellClient(of: path.vehicle, .vehicleExtension(sent), into: &actions)
        case .selectPreview(let selected):
            self.select(selected, session, path, connection, into: &actions)
        case .simulateDrive(let asked): self.simulate(asked, path, session, connection, into: &actions)
        case .destinationShareWanted(let wanted):
            self.wantDestination(wanted, session, path, connection, into: &actions)
        case .updateRouteFeedback(let update):
            self.setRouteFeedback(update.feedback, session, path, connection, into: &actions)
        case .receipt(let receipt): self.record(receipt, session, path, connection, at: now, into: &actions)
        default: break  // The others are not about one session.
        }
    }

    /// Tells an endpoint that a message of it has no effect, if it wants to know.
    func ignore(
        _ message: Message, _ session: SessionID, _ path: EndpointPath, _ connection: ConnectionID,
        _ reason: String, into actions: inout [Action]
    ) {
        guard self.vehicles[path.vehicle]?.endpoints[path.endpoint]?.hello.reportsIgnored == true else {
            return
        }
        self.reject(
            connection, Rejection(.ignored, reason: reason), message.type, session: session,
            requestID: message.requestID, into: &actions)
    }

    /// Tells an endpoint, or an observer, that its event was not forwarded.
    func rejectEvent(
        _ type: MessageType, _ session: SessionID, _ limit: EventLimit, of connection: ConnectionID,
        into actions: inout [Action]
    ) {
        switch self.peers[connection] {
        case .endpoint: break
        // An observer, or a peer that has gone.
        case nil where type == .simulateDrive: break
        case .client, nil: return
        }
        let rejection = Rejection(.limitReached, reason: limit.reason, limit: limit.reached)
        self.reject(connection, rejection, type, session: session, into: &actions)
    }

    private func content(of vehicle: VehicleID) -> SessionContent? {
        self.vehicles[vehicle]?.session.flatMap { self.sessions[$0] }?.content
    }

    private func isShown(_ alert: UInt32, in vehicle: VehicleID) -> Bool {
        self.content(of: vehicle)?.alert == alert
    }

    private func isHandled(_ name: ExtensionName, byClientOf vehicle: VehicleID) -> Bool {
        guard let session = self.vehicles[vehicle]?.session.flatMap({ self.sessions[$0] }) else {
            return false
        }
        return self.clients[session.client]?.extensions.contains(name) == true
    }

    func tellClient(of vehicle: VehicleID, _ message: Message, into actions: inout [Action]) {
        guard let session = self.vehicles[vehicle]?.session.flatMap({ self.sessions[$0] }) else { return }
        self.tell(session.client, message, session.id, into: &actions)
    }

    // MARK: Cancelling

    /// Drops what tours have just told the endpoints of a vehicle that cancels, and takes them out of their audiences before what has just
    /// been fitted: they get no more of their session. A vehicle that had not entered keeps its snapshot, which SessionEnded ends.
    private func dropFrames(for id: VehicleID, after count: Int, _ actions: inout [Action]) {
        let endpoints = self.vehicles[id]?.connections ?? []
        var members = endpoints.compactMap { _, connection, endpoint in
            endpoint.audience.map { (connection, $0) }
        }
        var rest: [Action] = []
        for action in actions[count...] {
            switch action {
            case .send(let connection, let envelope):
                let isOwn = endpoints.contains { $0.connection == connection }
                // Others are of another session, or a snapshot.
                let isOfTour = [.sessionSuspended, .sessionRestored].contains(envelope.message.type)
                if isOwn, isOfTour { continue }
            case .publish(let audience, _):
                rest += members.filter { $0.1 == audience }.map { .leave($0.0, audience) }
                members.removeAll { $0.1 == audience }
            default: break
            }
            rest.append(action)
        }
        actions.replaceSubrange(count..., with: rest)
    }

    private mutating func cancel(
        _ path: EndpointPath, _ connection: ConnectionID, _ reason: CancelReason, at now: Instant,
        into actions: inout [Action]
    ) {
        let end: SessionEndReason =
            switch reason {
            case .ownNavigationStarted: .ownNavigationStarted
            case .userStopped: .userStopped
            }
        self.vehicles[path.vehicle]?.hasStopped = true
        if reason == .ownNavigationStarted {
            self.vehicles[path.vehicle]?.navigatesItself = true
            // Otherwise a late answer to its earlier request would let a client guide it.
            self.withdrawDestinations(of: path, at: now, into: &actions)
        }
        self.indexVehicle(path.vehicle)
        if self.vehicles[path.vehicle]?.session != nil {
            self.removeVehicle(path.vehicle, end, at: now, into: &actions)
        } else {
            Self.sendEnd(SessionEnded(session: .none, reason: end), to: connection, into: &actions)
        }
    }

    private mutating func allow(_ vehicle: VehicleID, at now: Instant, into actions: inout [Action]) {
        self.vehicles[vehicle]?.navigatesItself = false
        self.vehicles[vehicle]?.hasStopped = false
        self.indexVehicle(vehicle)
        if self.isWaitingForGuidance(vehicle) { self.offer(vehicle, at: now, into: &actions) }
    }

    // MARK: Settings

    private mutating func setRouteSource(
        _ update: UpdateRouteSource, _ path: EndpointPath, into actions: inout [Action]
    ) {
        guard self.vehicles[path.vehicle]?.routeSource != update.routeSource else { return }
        self.vehicles[path.vehicle]?.routeSource = update.routeSource
        var update = update
        update.vehicle = path.vehicle
        self.tellClient(of: path.vehicle, .updateRouteSource(update), into: &actions)
    }

    private mutating func setRouteFeedback(
        _ feedback: RouteFeedback, _ named: SessionID, _ path: EndpointPath, _ connection: ConnectionID,
        into actions: inout [Action]
    ) {
        guard let content = self.content(of: path.vehicle) else { return }
        guard content.isGuiding, feedback.generation == content.generation else {
            return self.ignore(
                .updateRouteFeedback(UpdateRouteFeedback(feedback)), named, path, connection,
                "the route is not the current one", into: &actions)
        }
        if let segment = feedback.firstUnreachableSegment,
            !content.route.segments.contains(Identifier(segment))
        {
            let rejection = Rejection(
                .unknownReference, field: "first_unreachable_segment_id",
                reason: "segment \(segment) was not added")
            return self.reject(connection, rejection, .updateRouteFeedback, session: named, into: &actions)
        }
        let kept = [KeptFeedback(feedback)]
        guard self.vehicles[path.vehicle]?.routeFeedback != kept else { return }
        self.vehicles[path.vehicle]?.routeFeedback = kept
        let update = UpdateRouteFeedback(feedback, vehicle: path.vehicle)
        self.tellClient(of: path.vehicle, .updateRouteFeedback(update), into: &actions)
    }

    private mutating func update(
        _ settings: VehicleSettings, _ path: EndpointPath, at now: Instant, into actions: inout [Action]
    ) {
        guard var merged = self.vehicles[path.vehicle]?.endpoints[path.endpoint]?.settings else { return }
        let wasReady = merged.isReadyToShow
        let old = merged
        merged.merge(settings)
        guard merged != old else { return }
        self.vehicles[path.vehicle]?.endpoints[path.endpoint]?.settings = merged
        // All that is held, since it takes the place of older settings that wait for the client.
        var forwarded = merged
        forwarded.source = path
        self.tellClient(of: path.vehicle, .vehicleSettings(forwarded), into: &actions)
        if merged.isReadyToShow != wasReady { self.announce(path.vehicle, into: &actions) }
        if (merged.speedLimit == .disabled) != (old.speedLimit == .disabled) {
            self.refit(path, at: now, into: &actions)
        }
    }

    /// Sends a client the display settings, the route source and the selected preview of a vehicle, and its feedback on the
    /// present route.
    func sendSettings(
        of id: VehicleID, _ session: SessionID, to connection: ConnectionID, into actions: inout [Action]
    ) {
        guard let vehicle = self.vehicles[id] else { return }
        for (name, endpoint) in vehicle.endpoints.sorted(by: { $0.key < $1.key })
        where endpoint.settings != VehicleSettings() {
            var settings = endpoint.settings
            settings.source = EndpointPath(vehicle: id, endpoint: name)
            actions.append(.send(connection, Envelope(.vehicleSettings(settings), session: session)))
        }
        if let source = vehicle.routeSource {
            let update = UpdateRouteSource(routeSource: source, vehicle: id)
            actions.append(.send(connection, Envelope(.updateRouteSource(update), session: session)))
        }
        if let selection = self.sessions.elements[session]?.content.selection(of: id) {
            actions.append(.send(connection, Envelope(.selectPreview(selection), session: session)))
        }
        if let kept = vehicle.routeFeedback?.first,
            kept.generation == self.sessions[session]?.content.generation
        {
            let update = UpdateRouteFeedback(kept.feedback, vehicle: id)
            actions.append(.send(connection, Envelope(.updateRouteFeedback(update), session: session)))
        }
    }

    // MARK: Shares

    private mutating func wantDestination(
        _ wanted: DestinationShareWanted, _ named: SessionID, _ path: EndpointPath,
        _ connection: ConnectionID, into actions: inout [Action]
    ) {
        guard let session = self.vehicles[path.vehicle]?.session.flatMap({ self.sessions[$0] }) else {
            return
        }
        guard self.clients[session.client]?.granted.contains(.destinationSharing) == true else {
            return self.ignore(
                .destinationShareWanted(wanted), named, path, connection,
                "the client shares no destinations", into: &actions)
        }
        guard session.content.trip(named: wanted.trip) != nil else {
            let rejection = Rejection(
                .unknownReference, field: "trip_id",
                reason: "is neither one of the trip previews nor the trip that is driven")
            return self.reject(
                connection, rejection, .destinationShareWanted, session: named, into: &actions)
        }
        var wanted = wanted
        wanted.source = path
        self.tellClient(of: path.vehicle, .destinationShareWanted(wanted), into: &actions)
    }

    private mutating func answerShare(
        _ answer: DestinationShareAnswer, _ path: EndpointPath, into actions: inout [Action]
    ) {
        guard let session = self.vehicles[path.vehicle]?.session else { return }
        let share = Share(session: session, vehicle: path.vehicle, id: answer.shareID)
        self.endShare(
            share, answer.outcome == .accepted ? .didShare : .didFailToShare(answer.outcome), into: &actions)
    }

    // MARK: Receipts

    private mutating func record(
        _ receipt: Receipt, _ named: SessionID, _ path: EndpointPath, _ connection: ConnectionID,
        at now: Instant, into actions: inout [Action]
    ) {
        guard let id = self.vehicles[path.vehicle]?.session, let session = self.sessions[id] else { return }
        guard receipt.receivedSequence <= session.sequence else {
            let rejection = Rejection(
                .outOfRange, field: "received_sequence",
                reason: "is above \(session.sequence), the last one published")
            return self.reject(connection, rejection, .receipt, session: named, into: &actions)
        }
        self.vehicles[path.vehicle]?.endpoints[path.endpoint]?.receipt = receipt
        self.measure(receipt, in: session, path, connection, at: now, into: &actions)
        self.planReport(of: id, at: now)
    }

    /// Plans a report of receipts, if the session's client wants some.
    mutating func planReport(of id: SessionID, at now: Instant) {
        guard let interval = self.sessions[id]?.receiptsEveryMilliseconds, interval > 0,
            !self.deadlines.contains(.receipts(id))
        else { return }
        self.deadlines.set(.receipts(id), at: now + .milliseconds(interval))
    }

    /// Adds a vehicle's receipts to the report for its session's client.
    mutating func reportReceipts(of id: VehicleID, in session: SessionID, into actions: inout [Action]) {
        for (name, _, endpoint) in self.vehicles[id]?.connections ?? [] {
            guard let receipt = endpoint.receipt else { continue }
            var told = EndpointReceipt(vehicle: id, endpoint: name, receipt: receipt)
            let timing = endpoint.timing
            if let delay = timing.received, delay.sequence == receipt.receivedSequence {
                told.receivedDelayMicroseconds = delay.microseconds
            }
            if let delay = timing.shown, delay.sequence == receipt.shownSequence {
                told.shownDelayMicroseconds = delay.microseconds
            }
            self.sessions[session]?.receipts.append(told)
        }
        self.sendReceipts(of: session, isLast: false, into: &actions)
    }

    /// As many endpoints may be in one report, or those of one vehicle more.
    private static let receiptsPerReportMax = 256

    /// Sends a report if it is long enough, or the last one.
    mutating func sendReceipts(of id: SessionID, isLast: Bool, into actions: inout [Action]) {
        guard let session = self.sessions[id],
            session.receipts.count >= Self.receiptsPerReportMax || (isLast && !session.receipts.isEmpty)
        else { return }
        self.sessions[id]?.receipts = []
        let report = ReceiptReport(gatewaySequence: session.sequence, endpoints: session.receipts)
        self.tell(session.client, .receiptReport(report), id, into: &actions)
    }
}

extension Message {
    /// The request or the share that it is about; empty for none. Its sender waits for an answer that names it.
    fileprivate var requestID: Identifier {
        switch self {
        case .withdrawRequest(let request): request.requestID
        case .promptAnswer(let answer): answer.requestID
        case .destinationShareAnswer(let answer): answer.shareID
        default: ""  // The others are about none.
        }
    }

    /// The feature without which an endpoint may not send this.
    fileprivate var neededFeature: Feature? {
        switch self {
        case .withdrawRequest, .cancelNavigation, .allowNavigation, .updateRouteSource, .selectPreview,
            .updateRouteFeedback:
            .requests
        case .promptAnswer: .prompts
        case .destinationShareAnswer, .destinationShareWanted: .destinationSharing
        case .simulateDrive: .simulatedDrives
        default: nil  // The others need none.
        }
    }
}

extension VehicleSettings {
    /// Applies newer settings.
    fileprivate mutating func merge(_ newer: VehicleSettings) {
        self.compass = newer.compass ?? self.compass
        self.speedLimit = newer.speedLimit ?? self.speedLimit
        self.contentStyle = newer.contentStyle ?? self.contentStyle
        self.limitedUserInterfaces = newer.limitedUserInterfaces ?? self.limitedUserInterfaces
        self.isReadyToShow = newer.isReadyToShow ?? self.isReadyToShow
    }
}
