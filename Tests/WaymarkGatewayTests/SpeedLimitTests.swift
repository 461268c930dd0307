import OrderedCollections
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// Speed limits: from whom they are withheld, and how they are fitted.
@Suite struct SpeedLimitTests {
    private static let (client, car) = (ConnectionID(1), ConnectionID(2))
    private static let fast = SpeedLimit(80, .kilometersPerHour, kind: .posted, sign: .vienna)
    private static let slow = SpeedLimit(50, .kilometersPerHour)

    private static var trip: Trip {
        var trip = World.trip
        trip.routeSegmentsAvailable = true
        return trip
    }

    /// A line of five points, of which the second and the fourth cost least.
    private static let line = [
        (47.0, 9.0), (47.00001, 9.001), (47.00101, 9.002), (47.0, 9.003), (47.0, 9.004),
    ].map {
        Coordinate(latitude: $0, longitude: $1)
    }

    private static func segment(
        _ spans: [(UInt32, SpeedLimit)], id: String = "s", line: [Coordinate] = SpeedLimitTests.line
    ) -> RouteSegment {
        RouteSegment(
            id: id, origin: World.place, destination: World.place, coordinates: line,
            speedLimits: spans.map { SpeedLimitSpan(from: $0, $1) })
    }

    /// A vehicle that is guided along a segment with these speed limits.
    private static func guided(
        _ spans: [(UInt32, SpeedLimit)] = [], without features: Set<Feature> = [],
        _ change: (inout VehicleHello) -> Void = { _ in }
    ) throws -> (world: World, session: SessionID) {
        var world = World()
        world.arrive(1, World.client("app", without: features))
        world.arrive(2, World.endpoint("car", "cluster", change))
        let opening = OpenSession(requestID: "r", vehicles: .vehicles([VehicleID(unchecked: "car")]))
        world.receive(.openSession(opening), from: Self.client)
        let session = try #require(world.opened(Self.client, "r"))
        let route = RouteInformation(segments: [Self.segment(spans)], currentSegment: "s")
        world.publish(Self.client, session, .startGuidance(Self.trip, generation: 1, route))
        return (world, session)
    }

    private static func settings(_ speedLimit: ClusterSetting) -> Message {
        var settings = VehicleSettings()
        settings.speedLimit = speedLimit
        return .vehicleSettings(settings)
    }

    /// The speed limits of the first segment of the last route that a peer was sent.
    private static func spans(_ world: World, _ connection: ConnectionID = SpeedLimitTests.car)
        -> [SpeedLimitSpan]?
    {
        world.messages(connection).compactMap { message -> [SpeedLimitSpan]? in
            guard case .publication(.startGuidance(_, _, let route)) = message else { return nil }
            return route.segments.first?.speedLimits
        }.last
    }

    private static func withheld(_ world: World, _ connection: ConnectionID = SpeedLimitTests.car)
        -> [FeatureGrant]?
    {
        world.messages(connection).compactMap { message in
            if case .snapshotBegin(let begin) = message { begin.withheld } else { nil }
        }.last
    }

    // MARK: Settings

    @Test func `an endpoint that shows no speed limits gets none until it shows them again`() throws {
        var (world, session) = try Self.guided([(0, Self.fast)])
        let (client, car) = (Self.client, Self.car)
        world.publish(client, session, .speedLimit(Self.fast, next: nil))
        #expect(Self.spans(world) == [SpeedLimitSpan(from: 0, Self.fast)])
        (world.mail[car], world.mail[client]) = ([], [])

        world.receive(Self.settings(.disabled), from: car)
        #expect(world.messages(car).map(\.type) == [.snapshotBegin, .startGuidance, .snapshotEnd])
        #expect(Self.withheld(world) == [FeatureGrant(.speedLimit, withheld: .vehicleDoesNotWant)])
        #expect(Self.spans(world) == [])
        #expect(world.messages(client).map(\.type) == [.vehicleSettings, .vehicleChanged])

        (world.mail[car], world.mail[client]) = ([], [])
        world.receive(Self.settings(.disabled), from: car)
        world.publish(client, session, .speedLimit(Self.slow, next: nil))
        #expect(world.messages(car).isEmpty && world.messages(client).isEmpty)
        world.publish(client, session, .currentRoadName(["Lane"]))
        #expect(world.messages(car).map(\.type) == [.currentRoadName])

        world.mail[car] = []
        world.receive(Self.settings(.userPreference), from: car)
        #expect(
            world.messages(car).map(\.type)
                == [.snapshotBegin, .startGuidance, .updateSpeedLimit, .currentRoadName, .snapshotEnd])
        #expect(Self.withheld(world) == [])
        #expect(Self.spans(world) == [SpeedLimitSpan(from: 0, Self.fast)])
        #expect(world.messages(car).contains(.publication(.speedLimit(Self.slow, next: nil))))
        #expect(world.messages(client).map(\.type) == [.vehicleSettings, .vehicleChanged])
    }

    @Test func `only the endpoint that says so gets no speed limits`() throws {
        var (world, session) = try Self.guided()
        let hud = world.arrive(3, World.endpoint("car", "hud"))
        world.receive(Self.settings(.disabled), from: Self.car)
        (world.mail[Self.car], world.mail[hud]) = ([], [])
        world.publish(Self.client, session, .speedLimit(Self.fast, next: nil))
        #expect(world.messages(Self.car).isEmpty)
        #expect(world.messages(hud).map(\.type) == [.updateSpeedLimit])
    }

    @Test func `what an endpoint has said before holds when it enters a session`() throws {
        var world = World()
        world.arrive(2, World.endpoint("car"))
        world.receive(Self.settings(.disabled), from: Self.car)
        world.arrive(1, World.client("app"))
        _ = try world.guided(Self.client, ["car"])
        #expect(Self.withheld(world) == [FeatureGrant(.speedLimit, withheld: .vehicleDoesNotWant)])
    }

    @Test func `without speed limits of the client the setting only reaches the client`() throws {
        var (world, _) = try Self.guided(without: [.speedLimit])
        (world.mail[Self.car], world.mail[Self.client]) = ([], [])
        world.receive(Self.settings(.disabled), from: Self.car)
        #expect(world.messages(Self.car).isEmpty)
        #expect(world.messages(Self.client).map(\.type) == [.vehicleSettings])
    }

    // MARK: Permission

    @Test func `a client that was not granted speed limits cannot publish any`() throws {
        var (world, session) = try Self.guided(without: [.speedLimit])
        world.publish(Self.client, session, .speedLimit(Self.fast, next: nil))
        let segment = Self.segment([(0, Self.fast)], id: "t")
        world.publish(Self.client, session, .addRouteSegments([segment], generation: 1))
        let route = RouteInformation(segments: [segment])
        world.publish(Self.client, session, .startGuidance(Self.trip, generation: 2, route))
        #expect(world.errors(Self.client) == [.notGranted, .notGranted, .notGranted])
        world.publish(Self.client, session, .addRouteSegments([Self.segment([], id: "t")], generation: 1))
        #expect(world.errors(Self.client).count == 3)
    }

    @Test(arguments: [true, false])
    func `endpoints that do not know speed limits share the published bytes if the client has none`(
        _ isProvided: Bool
    ) throws {
        let features: Set<Feature> = isProvided ? [] : [.speedLimit]
        let (world, session) = try Self.guided(without: features) { $0.features.remove(.speedLimit) }
        let isFitted = world.mail[Self.car, default: []].contains { $0.flags.contains(.fitted) }
        // A StartGuidance without anything to remove is sent as it was received, by whatever way.
        #expect(!isFitted)
        #expect(world.gateway.sessions[session]?.audiences.keys.first?.isIdentity == !isProvided)
    }

    @Test func `an endpoint without content has room in any session`() throws {
        var world = World { $0.limits.profilesPerSessionMax = 1 }
        world.arrive(1, World.client("app", without: [.speedLimit]))
        world.arrive(3, World.endpoint("car", "short") { $0.limits.alertTextLengthMax = 3 })
        world.arrive(2, World.endpoint("car", "none") { $0.features = [] })
        _ = try world.guided(Self.client, ["car"])
        let reasons = Set((Self.withheld(world) ?? []).map(\.withheld))
        #expect(reasons == [.notRequested])
    }

    // MARK: Fitting

    @Test func `at each point of a line that stays the same limit holds as before`() throws {
        let last = SpeedLimit(100, .kilometersPerHour)
        let spans: [(UInt32, SpeedLimit)] = [
            (0, Self.fast), (1, Self.slow), (3, .unlimited), (4, last), (5, .unknown),
        ]
        let (world, _) = try Self.guided(spans) { $0.limits.routeSegmentPointsMax = 3 }
        #expect(
            Self.spans(world) == [
                SpeedLimitSpan(from: 0, Self.fast), SpeedLimitSpan(from: 1, Self.slow),
                SpeedLimitSpan(from: 2, last),
            ])
        let (one, _) = try Self.guided(spans) { $0.limits.routeSegmentPointsMax = 1 }
        #expect(Self.spans(one) == [SpeedLimitSpan(from: 0, last)])
        // A line that keeps its points keeps all spans.
        let (whole, _) = try Self.guided(spans) { $0.limits.routeSegmentPointsMax = 5 }
        #expect(Self.spans(whole)?.count == 5)
    }

    @Test func `speed limits are removed before points if a frame is too small`() throws {
        var (world, session) = try Self.guided { $0.receiveFrameBytesMax = 4_096 }
        let line = (0..<400).map { Coordinate(latitude: 47, longitude: 9 + Double($0) / 1_000) }
        let segment = Self.segment((0..<300).map { ($0, Self.fast) }, id: "long", line: line)
        world.publish(Self.client, session, .addRouteSegments([segment], generation: 1))
        let received = world.messages(Self.car).compactMap { message in
            if case .publication(.addRouteSegments(let segments, _)) = message { segments } else { nil }
        }.flatMap(\.self)
        #expect(received.map(\.id) == ["long"])
        #expect(received.first?.speedLimits == [] && received.first?.coordinates.count == 400)
    }

    @Test func `the distance to the next limit is shown in the endpoint's units, the limit as posted`() throws
    {
        var (world, session) = try Self.guided { $0.preferences.distanceUnits = .imperialFeet }
        let next = SpeedLimitAhead(Self.slow, in: .meters(30))
        world.publish(Self.client, session, .speedLimit(Self.fast, next: next))
        var shown = next
        shown.distanceToDisplay = DisplayDistance(valueTenths: 1_000, unit: .feet)
        #expect(world.messages(Self.car).last == .publication(.speedLimit(Self.fast, next: shown)))
    }

    @Test func `a new route makes the speed limit void`() throws {
        var (world, session) = try Self.guided()
        world.publish(Self.client, session, .speedLimit(Self.fast, next: nil))
        world.publish(Self.client, session, .pauseGuidance(.rerouting, description: []))
        world.publish(
            Self.client, session, .resumeGuidance(generation: 2, .missedTurn, RouteInformation()))
        let late = world.arrive(3, World.endpoint("car", "late"))
        #expect(!world.messages(late).contains { $0.type == .updateSpeedLimit })
        #expect(world.errors(Self.client).isEmpty)
    }
}
