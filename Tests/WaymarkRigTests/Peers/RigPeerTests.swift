import Testing
import WaymarkClient
import WaymarkGuidance
import WaymarkHistory
import WaymarkModel
import WaymarkProtocol
import WaymarkRig
import WaymarkRoutes
import WaymarkScenario

/// What simulated vehicles and clients do in a run.
@Suite struct RigPeerTests {
    private static let stop = Waypoint(
        center: Coordinate(latitude: 47.0956, longitude: 9.5176), stopKind: .charging)

    /// Lets the vehicle ask for a stop.
    private static func request(_ stage: inout Stage) throws {
        _ = try #require(stage.asVehicle { $0.request(Self.stop, at: $1, into: &$2) })
    }

    private static func outcome(_ stage: Stage) -> RequestResult? {
        guard case .request(let result)? = stage.vehicle?.results.last?.kind else { return nil }
        return result
    }

    @Test func `a stop that vehicle and client accept leads to another route`() throws {
        var client = RigClient.Behaviour()
        client.detour = try Stage.route("vaduz-balzers-charging").routes[0]
        var stage = try Stage(client: client)
        try stage.drive("vaduz-balzers")
        try stage.pass(.seconds(20))
        try Self.request(&stage)
        try stage.pass(.seconds(5))
        #expect(Self.outcome(stage) == .accepted)
        #expect(stage.client?.guide?.reroutes == 1)
        #expect(stage.vehicle?.state.trip?.waypoints.count == 1)
        // The engine's answer does not say why the stop is made; the request did.
        #expect(stage.vehicle?.state.trip?.waypoints.first?.stopKind == .charging)
        #expect(
            stage.messages(Stage.vehicle, .toPeer).contains { if case .prompt = $0 { true } else { false } })
    }

    @Test func `without a detour the stop is among the waypoints of the same route`() throws {
        var stage = try Stage()
        try stage.drive("vaduz-balzers")
        try stage.pass(.seconds(60))
        let meters = try #require(stage.client?.guide?.meters)
        try Self.request(&stage)
        try stage.pass(.seconds(5))
        #expect(Self.outcome(stage) == .accepted)
        #expect(stage.vehicle?.state.trip?.waypoints == [Self.stop])
        let later = try #require(stage.client?.guide?.meters)
        #expect((meters...meters + 300).contains(later))
        try stage.run.run(until: Duration.seconds(3_600).instant) { run in
            run.peer(Stage.client, as: RigClient.self)?.ends.isEmpty == false
        }
        #expect(stage.client?.ends == [.finished])
    }

    @Test func `a client declines, asks its own user, or says nothing`() throws {
        let cases: [(RigClient.WaypointReply, RequestResult)] = [
            (.decline, .declinedByUser), (.ownPrompt, .accepted), (.ignore, .timedOut),
        ]
        for (reply, outcome) in cases {
            var client = RigClient.Behaviour()
            client.onWaypoint = reply
            client.answerAfter = .milliseconds(300)
            var stage = try Stage(client: client)
            try stage.drive("vaduz-balzers")
            try stage.pass(.seconds(20))
            let begin = stage.now
            try Self.request(&stage)
            try stage.pass(.milliseconds(299))
            #expect(Self.outcome(stage) == nil)
            try stage.pass(.seconds(120))
            #expect(Self.outcome(stage) == outcome)
            let prompts = stage.messages(Stage.vehicle, .toPeer, since: begin).filter { $0.type == .prompt }
            #expect(prompts.isEmpty)
        }
    }

    @Test func `a vehicle declines a prompt, or does not answer it`() throws {
        for (reply, outcome) in [(Reply.decline, RequestResult.declinedByUser), (.ignore, .timedOut)] {
            var vehicle = RigVehicle.Behaviour()
            vehicle.prompts = reply
            vehicle.answerAfter = .seconds(2)
            var stage = try Stage(vehicle: vehicle)
            try stage.drive("vaduz-balzers")
            try stage.pass(.seconds(20))
            try Self.request(&stage)
            try stage.pass(.milliseconds(1_999))
            #expect(Self.outcome(stage) == nil)
            try stage.pass(.seconds(120))
            #expect(Self.outcome(stage) == outcome)
            #expect(stage.client?.guide?.reroutes == 0)
        }
    }

    @Test func `what a vehicle ignores can be answered by hand`() throws {
        var vehicle = RigVehicle.Behaviour()
        (vehicle.prompts, vehicle.destinations) = (.ignore, .ignore)
        var stage = try Stage(vehicle: vehicle)
        try stage.drive("vaduz-balzers")
        try stage.pass(.seconds(20))
        #expect(stage.asVehicle { $0.answerPrompt(true, at: $1, into: &$2) } == false)
        try Self.request(&stage)
        stage.asClient { $0.shareDestination(at: $1, into: &$2) }
        try stage.pass(.seconds(3))
        #expect(Self.outcome(stage) == nil)
        #expect(stage.asVehicle { $0.answerPrompt(true, at: $1, into: &$2) } == true)
        #expect(stage.asVehicle { $0.answerDestination(false, at: $1, into: &$2) } == true)
        try stage.pass(.seconds(1))
        #expect(Self.outcome(stage) == .accepted)
        #expect(try stage.client?.shares.map { try $0.get() } == [["dut": .declinedByUser]])
        #expect(stage.asVehicle { $0.answerDestination(true, at: $1, into: &$2) } == false)
    }

    @Test func `a request that is withdrawn ends`() throws {
        var client = RigClient.Behaviour()
        client.onWaypoint = .ignore
        var stage = try Stage(client: client)
        try stage.drive("vaduz-balzers")
        try stage.pass(.seconds(20))
        try Self.request(&stage)
        stage.asVehicle { $0.withdraw(1, at: $1, into: &$2) }
        try stage.pass(.seconds(1))
        #expect(Self.outcome(stage) == .withdrawn)
    }

    @Test func `a vehicle stops guidance, and the drive is over`() throws {
        var stage = try Stage()
        try stage.drive("vaduz-balzers")
        try stage.pass(.seconds(20))
        let call = stage.asVehicle { $0.cancel(.userStopped, at: $1, into: &$2) }
        try stage.pass(.seconds(1))
        #expect(stage.vehicle?.results.map(\.call) == [try #require(call)])
        #expect(stage.vehicle?.results.map(\.kind) == [.guidance(.userStopped)])
        #expect(stage.client?.ends == [.userStopped])
        #expect(stage.client?.guide?.isOver == true)
        let count = stage.frames.count
        try stage.pass(.seconds(1))
        #expect(stage.frames.count == count)
    }

    @Test func `a destination that a vehicle asks for is driven to`() throws {
        var stage = try Stage()
        try stage.drive("vaduz-balzers")
        try stage.pass(.seconds(20))
        stage.asClient { $0.end(isFinished: false, at: $1, into: &$2) }
        try stage.pass(.seconds(1))
        _ = stage.asVehicle { $0.request(Self.stop, isDestination: true, at: $1, into: &$2) }
        try stage.pass(.seconds(1))
        #expect(Self.outcome(stage) == .accepted)
        #expect(stage.client?.ends == [.cancelledByClient])
        #expect(stage.vehicle?.state.phase == .active)
        #expect(stage.vehicle?.state.session == 2)
    }

    @Test func `a shared destination is answered as the vehicle's user wants`() throws {
        for (reply, result) in [(Reply.accept, RequestResult.accepted), (.decline, .declinedByUser)] {
            var vehicle = RigVehicle.Behaviour()
            vehicle.destinations = reply
            var stage = try Stage(vehicle: vehicle)
            try stage.drive("vaduz-balzers")
            try stage.pass(.seconds(1))
            stage.asClient { $0.shareDestination(at: $1, into: &$2) }
            try stage.pass(.seconds(1))
            #expect(try stage.client?.shares.map { try $0.get() } == [["dut": result]])
        }
    }

    @Test func `before guidance the destination of the trip that is shown is shared`() throws {
        var (client, vehicle) = (RigClient.Behaviour(), RigVehicle.Behaviour())
        client.awaits = .tripRequest
        vehicle.destinations = .accept
        var stage = try Stage(vehicle: vehicle, client: client)
        try stage.drive("vaduz-balzers")
        try stage.pass(.seconds(1))
        stage.asClient { $0.shareDestination(at: $1, into: &$2) }
        try stage.pass(.seconds(1))
        #expect(try stage.client?.shares.map { try $0.get() } == [["dut": .accepted]])
        #expect(stage.vehicle?.state.phase == .preview)
    }

    @Test func `guidance that is paused stands still, and resumes where it was`() throws {
        var stage = try Stage()
        try stage.drive("vaduz-balzers")
        try stage.pass(.seconds(30))
        stage.asClient { $0.pause(.loading, at: $1, into: &$2) }
        let meters = stage.client?.guide?.meters
        try stage.pass(.seconds(30))
        #expect(stage.client?.guide?.meters == meters)
        #expect(stage.vehicle?.state.phase == .paused(.loading, description: []))
        stage.asClient { $0.resume(at: $1, into: &$2) }
        try stage.pass(.seconds(1))
        #expect(stage.vehicle?.state.phase == .active)
        #expect(stage.vehicle?.state.maneuverState != nil)
        stage.asClient { client, now, _ in client.stand(for: .seconds(10), at: now) }
        let standing = stage.client?.guide?.meters
        try stage.pass(.seconds(9))
        #expect(stage.client?.guide?.meters == standing)
        try stage.pass(.seconds(9))
        #expect(try #require(stage.client?.guide?.meters) > (try #require(standing)))
    }

    @Test func `a client that waits for a display begins once it is ready`() throws {
        var vehicle = RigVehicle.Behaviour()
        vehicle.isReady = false
        var client = RigClient.Behaviour()
        client.awaits = .ready
        var stage = try Stage(vehicle: vehicle, client: client)
        try stage.drive()
        try stage.pass(.seconds(5))
        #expect(stage.client?.guide?.hasBegun == false)
        stage.asVehicle { vehicle, now, actions in
            vehicle.use(at: now, into: &actions) {
                $0.update(DisplaySettings(isReadyToShow: true), into: &$1)
            }
        }
        try stage.pass(.milliseconds(1))
        #expect(stage.client?.guide?.hasBegun == true)
    }

    @Test func `a client that was away publishes what happened meanwhile`() throws {
        var stage = try Stage()
        try stage.drive("vaduz-balzers")
        try stage.pass(.seconds(20))
        stage.asClient { $0.leave(.cut, at: $1, into: &$2) }
        try stage.pass(.seconds(5))
        let count = stage.messages(Stage.client, .toGateway).count
        try stage.asClient { try $0.comeBack(withToken: true, at: $1, into: &$2) }
        try stage.pass(.seconds(1))
        #expect(stage.connections(Stage.client).last?.event == .admitted(resumed: true))
        #expect(stage.messages(Stage.client, .toGateway).count > count + 1)
        #expect(stage.client?.isAccepted == true)
        #expect(stage.vehicle?.state.phase == .active)
    }

    @Test func `a mutation makes a client publish something else`() throws {
        var stage = try Stage()
        stage.asClient { client, _, _ in
            client.mutation = ActionMutation { action, _ in
                if case .publish(.plain(.currentRoadName)) = action {
                    [.publish(.currentRoadName(["Wrong Street"]))]
                } else {
                    [action]
                }
            }
        }
        try stage.drive()
        try stage.pass(.seconds(5))
        #expect(stage.vehicle?.state.currentRoadName == ["Wrong Street"])
    }
}
