internal import WaymarkClient
internal import WaymarkHistory
internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRoutes
internal import WaymarkScenario

// What a vehicle or a client does in a step.
extension ScenarioStage {
    /// - Throws: Why the peer cannot do that.
    mutating func perform(_ action: Scenario.Action) throws(ClientError) {
        switch action.actor {
        case .client(let id):
            guard let client = self.scenario.clients.first(where: { $0.id == id }) else { return }
            try self.perform(action.kind, client)
        case .endpoint(let vehicle, let endpoint):
            try self.perform(action.kind, [.endpoint(vehicle, endpoint)])
        case .vehicle(let id):
            guard let vehicle = self.scenario.vehicles.first(where: { $0.id == id }) else { return }
            try self.perform(action.kind, vehicle.peers)
        }
    }

    // MARK: Vehicles

    /// Connections are those of all its endpoints; what its user does comes from the first, or from the one that was asked.
    private mutating func perform(
        _ kind: Scenario.Action.Kind, _ endpoints: [PeerID]
    ) throws(ClientError) {
        guard let first = endpoints.first else { return }
        switch kind {
        case .leave(let how):
            for peer in endpoints {
                self.change(peer) { $0.leave(how.leaving, at: $1, into: &$2) }
            }
        case .comeBack(let withToken):
            for peer in endpoints {
                var failure: ClientError?
                self.change(peer) { vehicle, now, actions in
                    do throws(ClientError) {
                        try vehicle.comeBack(withToken: withToken, at: now, into: &actions)
                    } catch { failure = error }
                }
                if let failure { throw failure }
            }
        case .read(let reading): for peer in endpoints { self.read(reading, peer) }
        case .request(let request):
            let call = self.run.change(first, as: RigVehicle.self) { vehicle, now, actions in
                switch request.place {
                case .waypoint(let place):
                    vehicle.request(
                        request.waypoint(at: place), segment: request.segment, id: request.id, at: now,
                        into: &actions)
                case .destination(let place):
                    vehicle.request(
                        request.waypoint(at: place), isDestination: true, id: request.id, at: now,
                        into: &actions)
                case .trip(let trip, let routeChoice):
                    vehicle.startTrip(
                        trip, routeChoice: routeChoice, id: request.id, at: now, into: &actions)
                }
            }
            self.requests[first] = call
        case .withdraw(let id):
            if id.isEmpty, let call = self.requests[first] {
                self.change(first) { $0.withdraw(call, at: $1, into: &$2) }
            } else {
                self.use(first) { $0.withdrawRequest(id, into: &$1) }
            }
        case .answerPrompt(let isAccepted):
            self.answer("no prompt is open", endpoints) { $0.answerPrompt(isAccepted, at: $1, into: &$2) }
        case .answerDestination(let isAccepted):
            self.answer("no destination is offered", endpoints) {
                $0.answerDestination(isAccepted, at: $1, into: &$2)
            }
        case .cancel(let reason):
            let reason: CancellationReason =
                reason == .userStopped ? .userStopped : .ownNavigationStarted
            self.change(first) { _ = $0.cancel(reason, at: $1, into: &$2) }
        case .allowGuidance: self.use(first) { endpoint, _ in endpoint.allowNavigation() }
        case .set(let settings): self.use(first) { $0.update(settings.display, into: &$1) }
        case .routeSource(let source): self.use(first) { $0.setRouteSource(source, into: &$1) }
        case .selectPreview(let trip, let routeChoice):
            self.use(first) { $0.selectPreview(trip: trip, routeChoice: routeChoice, into: &$1) }
        case .routeFeedback(let feedback):
            self.use(first) { endpoint, outputs in
                let told = RouteFeedback(
                    generation: feedback.generation ?? endpoint.state.generation, stops: feedback.stops,
                    firstUnreachableSegment: feedback.firstUnreachableSegment)
                endpoint.setRouteFeedback(told, into: &outputs)
            }
        case .wantDestination(let trip): self.use(first) { $0.wantDestination(ofTrip: trip, into: &$1) }
        case .zoom(let direction): self.use(first) { $0.zoom(direction, into: &$1) }
        case .simulateDrive(let action, let speed):
            let percent = UInt32((speed * 100).rounded())
            self.use(first) { $0.simulate(action, speedPercent: percent, into: &$1) }
        case .respondToAlert(let alert, let action):
            self.use(first) { $0.respondToAlert(alert, action: action ?? 0, into: &$1) }
        case .drive, .end, .pause, .resume, .standFor, .reroute, .alert, .dismissAlert, .shareDestination,
            .preview:
            break  // Of clients alone, which the reader ensures.
        }
    }

    private mutating func change(
        _ peer: PeerID, _ body: (inout RigVehicle, Instant, inout [PeerAction]) -> Void
    ) {
        self.run.change(peer, as: RigVehicle.self, body)
    }

    private mutating func use(
        _ peer: PeerID, _ body: @escaping (inout EndpointMachine, inout [RigVehicle.Output]) -> Void
    ) {
        self.change(peer) { $0.use(at: $1, into: &$2, body) }
    }

    private mutating func read(_ reading: Scenario.Action.Reading, _ peer: PeerID) {
        let now = self.run.now
        self.run.setPace(of: peer) { pace in
            switch reading {
            case .nothing(let duration): pace.pause(until: now + duration)
            case .bytesPerSecond(let rate): pace.bytesPerSecond = rate == 0 ? nil : rate
            }
        }
    }

    /// The first endpoint that was asked answers; if none was, the history says so.
    private mutating func answer(
        _ reason: String, _ endpoints: [PeerID],
        _ body: (inout RigVehicle, Instant, inout [PeerAction]) -> Bool
    ) {
        for peer in endpoints {
            if self.run.change(peer, as: RigVehicle.self, body) == true { return }
        }
        self.run.history.append(.log(endpoints.first, reason), at: self.run.now)
    }

    // MARK: Clients

    private mutating func perform(
        _ kind: Scenario.Action.Kind, _ client: Scenario.Client
    ) throws(ClientError) {
        switch kind {
        case .drive(let route, let startAt, let speed):
            try self.drive(client, route: route, startAt: startAt, speed: speed)
        case .end(let ending):
            self.change(client) { $0.end(isFinished: ending == .finish, at: $1, into: &$2) }
        case .pause(let reason): self.change(client) { $0.pause(reason, at: $1, into: &$2) }
        case .resume: self.change(client) { $0.resume(at: $1, into: &$2) }
        case .standFor(let duration):
            self.change(client) { peer, now, _ in peer.stand(for: duration, at: now) }
        case .reroute(let reference, let reason):
            guard let route = self.inputs.route(reference)?.routes.first else { return }
            self.change(client) { peer, _, _ in peer.reroute(to: route, reason) }
        case .alert(let alert): self.change(client) { $0.publish(.showAlert(alert.alert), at: $1, into: &$2) }
        case .dismissAlert(let id):
            self.change(client) { $0.publish(.dismissAlert(id, .systemDismissed), at: $1, into: &$2) }
        case .shareDestination: self.change(client) { $0.shareDestination(at: $1, into: &$2) }
        case .preview(let references):
            let answers = references.compactMap { self.inputs.route($0) }
            self.change(client) { $0.preview(answers, at: $1, into: &$2) }
        case .leave(let how): self.change(client) { $0.leave(how.leaving, at: $1, into: &$2) }
        case .comeBack(let withToken):
            var failure: ClientError?
            self.change(client) { peer, now, actions in
                do throws(ClientError) {
                    try peer.comeBack(withToken: withToken, at: now, into: &actions)
                } catch { failure = error }
            }
            if let failure { throw failure }
        case .read(let reading): self.read(reading, client.peer)
        case .request, .withdraw, .answerPrompt, .answerDestination, .cancel, .allowGuidance, .set,
            .routeSource, .selectPreview, .routeFeedback, .wantDestination, .zoom, .simulateDrive,
            .respondToAlert:
            break  // Of vehicles alone, which the reader ensures.
        }
    }

    private mutating func change(
        _ client: Scenario.Client, _ body: (inout RigClient, Instant, inout [PeerAction]) -> Void
    ) {
        self.run.change(client.peer, as: RigClient.self, body)
    }
}

extension Scenario.Action.Leaving {
    fileprivate var leaving: Leaving {
        switch self {
        case .goodbye: .goodbye
        case .cut: .cut
        }
    }
}

extension Scenario.Action.Request {
    fileprivate func waypoint(at center: Coordinate) -> Waypoint {
        Waypoint(
            center: center, nameVariants: self.name.isEmpty ? [] : [self.name], stopKind: self.stopKind)
    }
}

extension Scenario.Action.Settings {
    fileprivate var display: DisplaySettings {
        DisplaySettings(
            compass: self.compass, speedLimit: self.speedLimit, contentStyle: self.contentStyle,
            limitedUserInterfaces: self.limitedUserInterfaces.map { LimitableUserInterfaces(rawValue: $0) },
            isReadyToShow: self.isReady)
    }
}

extension Scenario.Action.Alert {
    fileprivate var alert: NavigationAlert {
        NavigationAlert(
            id: self.id, titleVariants: [self.title],
            subtitleVariants: self.subtitle.isEmpty ? [] : [self.subtitle],
            actions: self.actions.enumerated().map {
                AlertAction(id: UInt32($0 + 1), titleVariants: [$1])
            }, duration: self.duration, notification: self.notification, priority: self.priority)
    }
}
