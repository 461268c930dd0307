internal import WaymarkClient
internal import WaymarkGuidance
internal import WaymarkHistory
internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRoutes
internal import WaymarkScenario
internal import WaymarkTexts

/// The peers of a scenario, in a run.
struct ScenarioStage {
    var scenario: Scenario
    var inputs: ScenarioInputs
    var run: VirtualRun
    /// The last request of each endpoint, by the number of its call.
    var requests: [PeerID: Int] = [:]
    /// The drive of the first client, as the script sees it.
    private(set) var progress = ScenarioScript.Progress()
    /// Over sockets: for each recording, in which order its peers speak.
    var replayOrders: [ReplayOrder] = []

    /// Adds all peers. None is connected yet.
    init(
        _ scenario: Scenario, _ inputs: ScenarioInputs, seed: UInt64, _ mutations: RunMutations,
        _ clock: RunClock
    ) throws(ClientError) {
        (self.scenario, self.inputs) = (scenario, inputs)
        self.run = VirtualRun(VirtualRun.Settings(scenario, inputs, seed: seed, clock))
        for vehicle in scenario.vehicles {
            for endpoint in vehicle.endpoints {
                if endpoint.command != nil {
                    self.run.add(ForeignPeer(.endpoint(vehicle.id, endpoint.name)))
                    continue
                }
                if let replay = vehicle.replay {
                    self.run.add(try self.replayed(replay, .endpoint(vehicle.id, endpoint.name)))
                    continue
                }
                var peer = try RigVehicle(
                    try self.hello(vehicle, endpoint), vehicle.behaviour, seed: self.run.newSeed())
                peer.mutation = mutations.vehicle
                let profile = self.profile(endpoint)
                self.run.add(peer, mutations.vehicleFrames)
                if profile.readDelay > .zero {
                    self.run.setPace(of: peer.id) { $0.perMessage = profile.readDelay }
                }
            }
        }
        for client in scenario.clients {
            if client.command != nil {
                self.run.add(ForeignPeer(client.peer))
                continue
            }
            if let replay = client.replay {
                self.run.add(try self.replayed(replay, client.peer))
                continue
            }
            var peer = try RigClient(
                client.hello, self.behaviour(client), seed: self.run.newSeed())
            peer.mutation = mutations.client.map(ActionMutation.init)
            self.run.add(peer, mutations.clientFrames)
        }
    }

    private func profile(_ endpoint: Scenario.Endpoint) -> ClusterProfile {
        endpoint.profile.flatMap { self.inputs.profiles[$0.text] } ?? ClusterProfile()
    }

    private func hello(
        _ vehicle: Scenario.Vehicle, _ endpoint: Scenario.Endpoint
    ) throws(ClientError) -> VehicleHello {
        let profile = self.profile(endpoint)
        var configuration = VehicleEndpoint.Configuration(
            vehicle: vehicle.id.rawValue, endpoint: endpoint.name.rawValue)
        configuration.limits = profile.limits
        configuration.receiveFrameBytesMax = profile.receiveFrameBytesMax
        configuration.withoutFeatures = profile.without
        configuration.distanceUnits = profile.distanceUnits
        configuration.locale = profile.locale
        configuration.extensions = profile.extensions
        configuration.isGuidanceWanted = vehicle.guidanceWanted
        configuration.asksForSimulatedDrives = vehicle.asksForSimulatedDrives
        // They only say that it is asked; the behaviour answers.
        configuration.onPrompt = { _ in true }
        configuration.onDestination = { _ in true }
        return try VehicleHello(configuration)
    }

    private func behaviour(_ client: Scenario.Client) -> RigClient.Behaviour {
        var behaviour = RigClient.Behaviour()
        behaviour.onWaypoint = RigClient.WaypointReply(rawValue: client.onWaypoint.rawValue) ?? .accept
        behaviour.onDestination = client.onDestination.reply
        behaviour.onStartTrip = client.onStartTrip.reply
        behaviour.answerAfter = client.answerAfter
        behaviour.detour = self.inputs.route(client.detour)?.routes.first
        behaviour.receipts = client.receipts
        behaviour.simulatesWhenAsked = client.simulatesWhenAsked
        behaviour.awaits = RigClient.Awaited(rawValue: client.waitsFor.rawValue) ?? .joined
        return behaviour
    }

    // MARK: Beginning

    /// Everyone connects who does so by themselves, and clients open the sessions of their drives.
    mutating func begin() throws(ClientError) {
        if self.run.gateway.sockets != nil { self.orderReplays() }
        for vehicle in self.scenario.vehicles where vehicle.connects {
            for peer in vehicle.peers { self.run.tell(peer, .open) }
        }
        for client in self.scenario.clients where client.connects {
            self.run.tell(client.peer, .open)
            guard client.drivesAtOnce else { continue }
            try self.drive(client, route: nil, startAt: nil, speed: nil)
        }
    }

    /// A client drives. What is nil is the client's, or the scenario's.
    mutating func drive(
        _ client: Scenario.Client, route: Scenario.Reference?, startAt: Scenario.Position?, speed: Double?
    ) throws(ClientError) {
        guard let answer = self.inputs.route(route ?? client.route ?? self.scenario.route),
            let first = answer.routes.first
        else { return }
        var options = GuideMachine.Options()
        options.drive.speedFactor = speed ?? client.speed ?? self.scenario.speed
        // At a high speed, estimates would change with every step.
        options.estimatesNotBefore = .milliseconds(200)
        if let position = startAt ?? client.startAt ?? self.scenario.startAt {
            options.startMeters = Self.meters(position, on: first, options.drive)
        }
        let plan = RigClient.Plan(answer, self.vehicles(of: client), options)
        var failure: ClientError?
        self.run.change(client.peer, as: RigClient.self) { peer, now, actions in
            do throws(ClientError) { try peer.drive(plan, at: now, into: &actions) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    private func vehicles(of client: Scenario.Client) -> SessionVehicles {
        switch client.vehicles {
        case .all: .vehicles(self.scenario.vehicles.map(\.id.rawValue))
        case .anyThatAsked: .anyThatAsked
        case .named(let ids): .vehicles(ids.map(\.rawValue))
        }
    }

    /// How far a drive is at a position.
    private static func meters(
        _ position: Scenario.Position, on route: EngineRoute, _ options: DriveOptions
    ) -> Double {
        var drive = Drive(route: route, options: options, atMeters: 0)
        switch position {
        case .meters(let meters): return meters
        case .percent(let percent): return drive.measure.length * percent / 100
        case .time(let duration):
            var changes: [DriveChange] = []
            drive.advance(to: duration, into: &changes)
            return drive.meters
        }
    }

    // MARK: Progress

    /// Looks how far the drive of the first client is.
    mutating func updateProgress() {
        guard let client = self.scenario.clients.first,
            let peer = self.run.peer(client.peer, as: RigClient.self), let guide = peer.guide
        else { return }
        if self.progress.beganAt == nil, guide.hasBegun {
            self.progress.beganAt = self.run.now
            self.progress.routeMeters = guide.drive.measure.length
        }
        self.progress.meters = guide.meters
        self.progress.isOver = guide.isOver
    }

    /// What the frames say about the drive of the first client, if that is a program.
    mutating func observe(_ entry: History.Entry) {
        guard let client = self.scenario.clients.first, client.command != nil else { return }
        switch entry.kind {
        case .frame(let crossed) where crossed.peer == client.peer && crossed.way == .toGateway:
            switch crossed.frame.header.type {
            case .startGuidance:
                self.progress.beganAt = self.progress.beganAt ?? entry.instant
                self.progress.isOver = false
            case .finishGuidance, .cancelGuidance: self.progress.isOver = true
            default: break
            }
        case .connection(client.peer, .ended): self.progress.isOver = self.progress.beganAt != nil
        case .connection(client.peer, .admitted): self.progress.isOver = false
        default: break
        }
    }

    /// The program of a peer has ended.
    mutating func programEnded(_ peer: PeerID) {
        if peer == self.scenario.clients.first?.peer { self.progress.isOver = true }
    }
}

extension Scenario.Reply {
    fileprivate var reply: Reply {
        switch self {
        case .accept: .accept
        case .decline: .decline
        case .ignore: .ignore
        }
    }
}

extension Scenario.Vehicle {
    fileprivate var behaviour: RigVehicle.Behaviour {
        var behaviour = RigVehicle.Behaviour()
        behaviour.prompts = self.prompts.reply
        behaviour.destinations = self.destinations.reply
        behaviour.answerAfter = self.answerAfter
        behaviour.isReady = self.isReady
        behaviour.showsAfter = self.showsAfter
        return behaviour
    }
}

extension Scenario.Client {
    fileprivate var hello: NavigationHello {
        var features = Set(Feature.allCases)
        features.subtract([.requests, .prompts])
        if !self.simulatesWhenAsked { features.remove(.simulatedDrives) }
        features.subtract(self.withoutFeatures)
        var hello = NavigationHello(client: self.id, features: features)
        hello.priority = self.priority
        return hello
    }
}
