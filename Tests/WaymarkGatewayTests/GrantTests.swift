import Testing
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol

/// What a client may publish of what it was not granted.
@Suite struct GrantTests {
    private static let route = RouteInformation(
        maneuvers: [Maneuver(id: ManeuverID(rawValue: 1), type: .leftTurn, highwayExitLabel: "1")],
        laneGuidances: [LaneGuidance(id: LaneGuidanceID(rawValue: 1), lanes: [Lane(angles: [])])],
        segments: [RouteSegment(id: "s", origin: World.place, destination: World.place)])

    /// Something of each feature, as a route has it or by itself.
    private static let publications: [(Feature, Publication)] = [
        (.maneuvers, .addManeuvers([], generation: 1)), (.maneuvers, .upcomingManeuvers([], generation: 1)),
        (.maneuvers, .maneuverState(.initial, generation: 1)),
        (.maneuvers, .startGuidance(World.trip, generation: 5, RouteInformation(maneuvers: route.maneuvers))),
        (.laneGuidance, .addLaneGuidances([], generation: 1)),
        (.laneGuidance, .currentLaneGuidance(nil, generation: 1)),
        (
            .laneGuidance,
            .startGuidance(World.trip, generation: 5, RouteInformation(laneGuidances: route.laneGuidances))
        ),
        (.currentRoadName, .currentRoadName(["Lane"])),
        (.routeSegments, .addRouteSegments([], generation: 1)),
        (.routeSegments, .currentRouteSegment("s", generation: 1)),
        (
            .routeSegments,
            .startGuidance(World.trip, generation: 5, RouteInformation(segments: route.segments))
        ),
        (.destinationSharing, .shareDestination(shareID: "s", World.place)),
        (.navigationAlerts, .showAlert(NavigationAlert(id: 1, titleVariants: ["Jam"]))),
        (.navigationAlerts, .dismissAlert(1, .timeout)), (.tripPreviews, .tripPreviews([], selected: "")),
    ]

    @Test func `what is withheld from a client, or was not declared, it cannot publish`() throws {
        for (feature, publication) in Self.publications {
            for isDeclared in [true, false] {
                var world = World { if isDeclared { $0.withheldFeatures = [feature] } }
                let client = world.arrive(1, World.client("app", without: isDeclared ? [] : [feature]))
                let opening = OpenSession(
                    requestID: "r", vehicles: .vehicles([VehicleID(unchecked: "car")]))
                world.receive(.openSession(opening), from: client)
                let session = try #require(world.opened(client, "r"))
                world.publish(
                    client, session, .startGuidance(World.trip, generation: 1, RouteInformation()))
                world.publish(client, session, publication)
                #expect(world.errors(client) == [.notGranted], "\(feature), \(publication.type)")
            }
        }
    }

    @Test func `exit labels, charge and time zones are no reason to refuse what has them`() throws {
        var place = World.place
        place.timeZone = "Europe/Vaduz"
        place.charge = ChargeStop(powerWatts: 1)
        let trip = Trip(id: "t", origin: place, destination: place)
        for feature in [Feature.exitLabels, .charge, .timeZone] {
            for isDeclared in [true, false] {
                var world = World { if isDeclared { $0.withheldFeatures = [feature] } }
                let client = world.arrive(1, World.client("app", without: isDeclared ? [] : [feature]))
                let session = try world.guided(client, ["car"])
                let route = RouteInformation(maneuvers: Self.route.maneuvers)
                world.publish(client, session, .startGuidance(trip, generation: 2, route))
                #expect(world.errors(client).isEmpty)
            }
        }
    }

    @Test func `a feature that the operator withholds later may still be published and reaches no vehicle`()
        throws
    {
        var world = World()
        let client = world.arrive(1, World.client("app"))
        let car = world.arrive(2, World.endpoint("car"))
        let session = try world.guided(client, ["car"])
        var policy = world.gateway.policy
        policy.withheldFeatures = [.currentRoadName]
        world.handle(.policyChanged(policy))
        world.publish(client, session, .currentRoadName(["Lane"]))
        #expect(world.errors(client).isEmpty)
        #expect(!world.messages(car).contains { $0.type == .currentRoadName })
    }

    /// The lists of the SnapshotBegins that an endpoint got.
    private static func begins(_ world: World, _ connection: ConnectionID) -> [SnapshotBegin] {
        world.messages(connection).compactMap { message in
            if case .snapshotBegin(let begin) = message { begin } else { nil }
        }
    }

    @Test func `an endpoint is told that a client has come to provide a feature, and keeps what it holds`()
        throws
    {
        var world = World()
        let client = world.arrive(1, World.client("app", without: [.navigationAlerts]))
        let car = world.arrive(2, World.endpoint("car"))
        let session = try world.guided(client, ["car"])
        let withheld = FeatureGrant(.navigationAlerts, withheld: .clientDoesNotProvide)
        #expect(Self.begins(world, car).last?.withheld.contains(withheld) == true)
        world.mail[car] = []
        let token = try #require(world.welcomes[client]).resumptionToken
        world.handle(.departed(client, clean: false))
        let back = world.arrive(3, World.client("app"), token: token)
        world.publish(
            back, session, .showAlert(NavigationAlert(id: 1, titleVariants: ["Jam"])))
        let begin = try #require(Self.begins(world, car).last)
        #expect(begin.kind == .missed && !begin.withheld.contains { $0.feature == .navigationAlerts })
        var types: [MessageType] = world.messages(car).map(\.type)
        types.removeAll { $0 == .sessionSuspended || $0 == .sessionRestored }
        #expect(types == [.snapshotBegin, .snapshotEnd, .showAlert])
    }

    @Test func `an endpoint is told that the operator no longer withholds what the client now provides`()
        throws
    {
        var world = World { $0.withheldFeatures = [.navigationAlerts] }
        let client = world.arrive(1, World.client("app", without: [.navigationAlerts]))
        let car = world.arrive(2, World.endpoint("car"))
        let session = try world.guided(client, ["car"])
        world.handle(.policyChanged(Gateway.Policy()))
        #expect(
            Self.begins(world, car).last?.withheld.contains(
                FeatureGrant(.navigationAlerts, withheld: .clientDoesNotProvide)) == true)
        let token = try #require(world.welcomes[client]).resumptionToken
        world.handle(.departed(client, clean: false))
        let back = world.arrive(3, World.client("app"), token: token)
        world.publish(
            back, session, .showAlert(NavigationAlert(id: 1, titleVariants: ["Jam"])))
        #expect(
            Self.begins(world, car).last?.withheld.contains { $0.feature == .navigationAlerts } == false)
        #expect(world.messages(car).last?.type == .showAlert)
    }

    @Test func `a client from which the operator withholds requests is not asked`() throws {
        var world = World { $0.withheldFeatures = [.waypointRequests, .destinationRequests] }
        let client = world.arrive(1, World.client("app"))
        let car = world.arrive(2, World.endpoint("car"))
        let destination = DestinationRequest(requestID: "d", destination: World.place)
        world.receive(.destinationRequest(destination), from: car)
        _ = try world.guided(client, ["car"])
        world.receive(World.waypoint("w"), from: car)
        #expect(world.outcomes(car) == [.notSupported, .notSupported])
    }
}
