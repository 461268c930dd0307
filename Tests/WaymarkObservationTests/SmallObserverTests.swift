import Testing
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkObservation
import WaymarkProtocol

/// Observers that take small frames.
@Suite struct SmallObserverTests {
    private static let small = ConnectionID(50)
    private static let large = ConnectionID(51)

    private static func drive(_ world: inout ObservedWorld) throws -> (ConnectionID, SessionID) {
        for number in 0..<12 { world.vehicle(UInt64(100 + number), "car", endpoint: "endpoint-\(number)") }
        let client = world.arrive(
            2,
            .navigation(NavigationHello(client: ClientID(unchecked: "app"), features: Set(Feature.allCases))))
        let ids = [VehicleID(unchecked: "car")]
        world.handle(
            .received(client, .openSession(OpenSession(requestID: "r", vehicles: .vehicles(ids))), .none))
        var opened: SessionID?
        for case .sessionOpened(let answer) in (world.mail[client] ?? []).map(\.message) {
            opened = answer.session
        }
        return (client, try #require(opened))
    }

    private static let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9))

    private static func maneuvers(_ count: UInt32) -> [Maneuver] {
        (1...count).map { number in
            var maneuver = Maneuver(id: ManeuverID(rawValue: number), type: .leftTurn)
            maneuver.instructionVariants = [String(repeating: "x", count: 400)]
            return maneuver
        }
    }

    private static func watch(_ world: inout ObservedWorld) {
        _ = world.observer(Self.small.rawValue, frameBytesMax: 4_096)
        world.observe(Self.small.rawValue)
        world.watch(Self.large.rawValue)
    }

    /// The parts of a state may be other ones, but not what they add up to.
    @Test func `what is told in small frames is the same as in large ones`() throws {
        var world = ObservedWorld()
        let (client, session) = try Self.drive(&world)
        var route = RouteInformation()
        route.maneuvers = Self.maneuvers(100)
        let trip = Trip(id: "t", origin: Self.place, destination: Self.place)
        world.publish(client, session, .startGuidance(trip, generation: 1, route))
        Self.watch(&world)
        #expect(world.states[Self.small]?.isComplete == true)
        world.publish(client, session, .addManeuvers(Self.maneuvers(50), generation: 1))
        world.publish(client, session, .startGuidance(trip, generation: 2, route))
        world.vehicle(200, "bus")
        #expect((world.longest[Self.small] ?? 0) <= 4_096)
        #expect((world.longest[Self.large] ?? 0) > 40_000)
        let (small, large) = (world.states[Self.small], world.states[Self.large])
        #expect(small?.vehicles == large?.vehicles)
        #expect(small?.clients == large?.clients)
        #expect(small?.sessions == large?.sessions)
        #expect(small?.retained.mapValues(\.frames) == large?.retained.mapValues(\.frames))
        #expect(world.frames(Self.small) == world.frames(Self.large))
        #expect(world.events(Self.small) == world.events(Self.large))
        #expect(world.numbers(Self.small) == world.numbers(Self.large))
    }

    @Test func `counters come in frames that the observer takes, as one answer`() throws {
        var world = ObservedWorld()
        Self.watch(&world)
        let counters = (0..<600).map { CounterReport.Counter(.publications, label: $0, UInt64($0) << 20) }
        world.measures = Measures(counters: counters, connections: [])
        let reports = world.read(ReadCounters(), Self.small)
        #expect(reports.count == 1 && reports.first?.isLast == true)
        #expect(reports.flatMap(\.counters).starts(with: counters))
        #expect((world.longest[Self.small] ?? 0) <= 4_096)
    }

    @Test func `an observer that resumes may take other sizes than before`() throws {
        var world = ObservedWorld()
        let (client, session) = try Self.drive(&world)
        Self.watch(&world)
        world.hub.depart(Self.small, clean: false, until: world.now + .seconds(30))
        let token = try #require(world.welcomes[Self.small]?.resumptionToken)
        _ = world.observer(60, resuming: token, frameBytesMax: 8_192)
        world.observe(60)
        world.publish(
            client, session, .currentRoadName((0..<8).map { _ in String(repeating: "n", count: 512) }))
        #expect((world.longest[ConnectionID(60)] ?? 0) <= 8_192)
        #expect((world.longest[ConnectionID(60)] ?? 0) > 4_096)
    }

    @Test func `that a peer was admitted or resumed is told before what follows from it`() throws {
        var world = ObservedWorld()
        let observer = world.watch(51)
        let client = world.arrive(
            2,
            .navigation(NavigationHello(client: ClientID(unchecked: "app"), features: Set(Feature.allCases))))
        world.handle(
            .received(client, .openSession(OpenSession(requestID: "r", vehicles: .anyThatAsked)), .none))
        var hello = VehicleHello(
            vehicle: VehicleID(unchecked: "car"), endpoint: EndpointName(unchecked: "cluster"),
            features: Set(Feature.allCases))
        hello.guidanceWanted = true
        world.arrive(1, .vehicle(hello))
        #expect(world.kinds(observer) == [.admitted, .sessionOpened, .admitted, .joined])
    }
}
