import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// Operations on many vehicles, which are divided into steps, and what happens in between.
@Suite struct TourTests {
    private static let count = 200

    private static func vehicle(_ index: Int) -> VehicleID { VehicleID(unchecked: "car-\(index)") }

    /// A world with vehicles at connections 1000..., each with two endpoints, and a client at connection 1.
    private static func world(
        _ count: Int = Self.count, isGuidanceWanted: Bool = false,
        _ change: (inout Gateway.Policy) -> Void = { _ in }
    ) -> World {
        var world = World(change)
        for index in 0..<count {
            let name = Self.vehicle(index).rawValue
            let wants = { (hello: inout VehicleHello) in hello.guidanceWanted = isGuidanceWanted }
            world.arrive(UInt64(1_000 + index), World.endpoint(name, "cluster", wants))
            world.arrive(UInt64(5_000 + index), World.endpoint(name, "hud", wants))
        }
        world.arrive(1, World.client("app"))
        return world
    }

    private static func open(_ count: Int = Self.count, request: Identifier = "r") -> Gateway.Event {
        let opening = OpenSession(
            requestID: request, vehicles: .vehicles((0..<count).map { Self.vehicle($0) }))
        return .received(ConnectionID(1), .openSession(opening), .none)
    }

    /// What a step may cost: the budget of an event, and what one vehicle more with its endpoints costs, and the actions.
    private static let stepMax: UInt64 = 96

    /// Lets the next step happen, and returns what it cost.
    private static func step(_ world: inout World, of cause: UInt64 = 1) -> UInt64 {
        let before = world.gateway.counters.work.units
        world.begin(.stepDue(of: ConnectionID(cause)))
        return world.gateway.counters.work.units - before
    }

    private static func types(_ world: World, _ id: UInt64) -> [MessageType] {
        world.messages(ConnectionID(id)).map(\.type)
    }

    @Test func `a large session is opened at once, and its vehicles enter in steps`() throws {
        var world = Self.world()
        world.begin(Self.open())
        let session = try #require(world.opened(ConnectionID(1), "r"))
        #expect(world.gateway.sessions[session]?.vehicles.count == Self.count)
        #expect(Self.types(world, UInt64(1_000 + Self.count - 1)).isEmpty)
        while world.gateway.hasSteps { #expect(Self.step(&world) <= Self.stepMax) }
        for index in 0..<Self.count {
            #expect(Self.types(world, UInt64(1_000 + index)) == [.snapshotBegin, .snapshotEnd])
            #expect(Self.types(world, UInt64(5_000 + index)) == [.snapshotBegin, .snapshotEnd])
        }
        // SessionOpened comes first, and then the client knows the endpoints of every vehicle.
        let messages = world.messages(ConnectionID(1))
        #expect(messages.first?.type == .sessionOpened)
        var known: [VehicleID: Int] = [:]
        for message in messages {
            switch message {
            case .sessionOpened(let opened):
                #expect(
                    opened.vehicles.count == Self.count
                        && opened.vehicles.allSatisfy { $0.standing == .joined })
                for status in opened.vehicles { known[status.vehicle] = status.endpoints.count }
            case .vehicleChanged(let status): known[status.vehicle] = status.endpoints.count
            default: Issue.record("\(message)")
            }
        }
        #expect(known.count == Self.count && known.values.allSatisfy { $0 == 2 })
        #expect(!world.gateway.hasSteps && world.gateway.tourCount == 0)
    }

    @Test func `a vehicle that has not entered yet enters before what it says is heard`() throws {
        var world = Self.world()
        world.begin(Self.open())
        let session = try #require(world.opened(ConnectionID(1), "r"))
        let last = ConnectionID(UInt64(1_000 + Self.count - 1))
        world.receive(.cancelNavigation(.userStopped), from: last, session)
        #expect(world.messages(last).map(\.type) == [.snapshotBegin, .snapshotEnd, .sessionEnded])
        while world.gateway.hasSteps { _ = Self.step(&world) }
        // It is not brought back.
        #expect(world.messages(last).last?.type == .sessionEnded)
        #expect(world.gateway.vehicles[Self.vehicle(Self.count - 1)]?.session == nil)
    }

    @Test func `nothing of a session that has ended is delivered, and every vehicle is told in steps`() throws
    {
        var world = Self.world()
        world.handle(Self.open())
        let session = try #require(world.opened(ConnectionID(1), "r"))
        world.publish(ConnectionID(1), session, .startGuidance(World.trip, generation: 1, World.route))
        // Without its connection and its grace time.
        world.handle(.departed(ConnectionID(1), clean: false))
        world.now = world.now + .seconds(31)
        world.mail = [:]
        world.begin(.deadlineReached)
        #expect(world.gateway.sessions[session] == nil && world.gateway.hasSteps(of: nil))
        let last = ConnectionID(UInt64(1_000 + Self.count - 1))
        #expect(world.messages(last).isEmpty)
        // It may be guided by another client at once.
        world.arrive(2, World.client("other"))
        let other = world.guide(ConnectionID(2), [Self.vehicle(Self.count - 1).rawValue])
        #expect(
            world.messages(last).map(\.type) == [.sessionEnded, .snapshotBegin, .snapshotEnd, .startGuidance])
        while world.gateway.hasSteps {
            let before = world.gateway.counters.work.units
            world.begin(.stepDue(of: nil))
            #expect(world.gateway.counters.work.units - before <= Self.stepMax)
        }
        for index in 0..<Self.count - 1 {
            #expect(Self.types(world, UInt64(1_000 + index)) == [.sessionEnded])
        }
        #expect(world.gateway.sessions.keys.first == other && world.gateway.sessions.count == 1)
        #expect(world.gateway.endedSessions.isEmpty && world.gateway.tourCount == 0)
    }

    @Test func `a client hears of its session's end after the ends of its requests and shares`() throws {
        var world = Self.world()
        world.handle(Self.open())
        let client = ConnectionID(1)
        let session = try #require(world.opened(client, "r"))
        var trip = World.trip
        trip.isDestinationShareable = true
        world.publish(client, session, .startGuidance(trip, generation: 1, World.route))
        for share in 0..<8 {
            world.publish(client, session, .shareDestination(shareID: "s\(share)", World.place))
        }
        world.receive(World.waypoint("w"), from: ConnectionID(UInt64(1_000 + Self.count - 1)))
        world.mail[client] = []
        world.sequences[session, default: 0] += 1
        let frame = Codec.encode(
            Envelope(
                .publication(.cancelGuidance), session: session, sequence: world.sequences[session] ?? 0))
        world.begin(.published(client, PublishedFrames(frame, Publication.cancelGuidance.outline)))
        #expect(world.gateway.hasSteps(of: client))
        while world.gateway.hasSteps { #expect(Self.step(&world) <= Self.stepMax) }
        let types = Self.types(world, 1)
        #expect(types.last == .sessionEnded && types.count { $0 == .sessionEnded } == 1)
        #expect(types.count { $0 == .destinationShareStatus } == 8 * Self.count)
        #expect(types.count { $0 == .requestOutcome } == 1)
        // Of what the client published before, nothing is acknowledged any more.
        world.wait(.milliseconds(500))
        #expect(Self.types(world, 1) == types)
        #expect(world.deadline == nil)
    }

    @Test func `vehicles that are taken over leave their session before they enter another`() throws {
        var world = Self.world { $0.arbitration = .replace }
        world.handle(Self.open())
        let first = try #require(world.opened(ConnectionID(1), "r"))
        world.arrive(2, World.client("other"))
        let opening = OpenSession(
            requestID: "r", vehicles: .vehicles((0..<Self.count).map { Self.vehicle($0) }))
        world.mail = [:]
        world.begin(.received(ConnectionID(2), .openSession(opening), .none))
        // A third one takes some of them in between.
        world.arrive(3, World.client("third"))
        let third = try world.guided(ConnectionID(3), [Self.vehicle(Self.count - 1).rawValue])
        while world.gateway.hasSteps { _ = Self.step(&world, of: 2) }
        for index in 0..<Self.count - 1 {
            #expect(
                Self.types(world, UInt64(1_000 + index)) == [.sessionEnded, .snapshotBegin, .snapshotEnd])
        }
        #expect(
            Self.types(world, UInt64(1_000 + Self.count - 1)) == [
                .sessionEnded, .snapshotBegin, .snapshotEnd, .startGuidance,
            ])
        #expect(world.gateway.sessions[first] == nil && world.gateway.sessions[third] != nil)
        let left = world.messages(ConnectionID(2)).filter {
            if case .vehicleChanged(let status) = $0 { status.standing == .left(.replaced) } else { false }
        }
        #expect(left.count == 1)
        #expect(Self.types(world, 1).last == .sessionEnded)
    }

    @Test func `all vehicles that asked join a session in steps, and a client that left makes room`() throws {
        var world = Self.world(isGuidanceWanted: true)
        let opening = OpenSession(requestID: "r", vehicles: .anyThatAsked)
        world.begin(.received(ConnectionID(1), .openSession(opening), .none))
        let session = try #require(world.opened(ConnectionID(1), "r"))
        #expect(world.gateway.index.waitingVehicles.count > 0)
        while world.gateway.hasSteps { #expect(Self.step(&world) <= Self.stepMax) }
        #expect(world.gateway.sessions[session]?.vehicles.count == Self.count)
        #expect(world.gateway.index.waitingVehicles.isEmpty)
        // The client goes; another has a session for any vehicle, too.
        world.arrive(2, World.client("other"))
        world.receive(.openSession(opening), from: ConnectionID(2))
        let other = try #require(world.opened(ConnectionID(2), "r"))
        world.handle(.departed(ConnectionID(1), clean: true))
        #expect(world.gateway.sessions[other]?.vehicles.count == Self.count)
    }

    @Test func `a client that resumes while its vehicles are told that it left is told all the same`() throws
    {
        var world = Self.world()
        world.handle(Self.open())
        let session = try #require(world.opened(ConnectionID(1), "r"))
        let token = world.welcomes[ConnectionID(1)]?.resumptionToken
        world.mail = [:]
        world.begin(.departed(ConnectionID(1), clean: false))
        #expect(world.gateway.hasSteps(of: ConnectionID(1)))
        world.arrive(2, World.client("app"), token: token, resume: (session, 0))
        while world.gateway.hasSteps { _ = Self.step(&world) }
        for index in 0..<Self.count {
            #expect(Self.types(world, UInt64(1_000 + index)) == [.sessionSuspended, .sessionRestored])
        }
        #expect(Self.types(world, 2).count { $0 == .vehicleChanged } == Self.count)
    }

    @Test func `a trip that opts out withholds segments from every vehicle before its next frame`() throws {
        var world = Self.world()
        world.handle(Self.open())
        let client = ConnectionID(1)
        let session = try #require(world.opened(client, "r"))
        var trip = World.trip
        trip.routeSegmentsAvailable = true
        var route = World.route
        route.segments = [RouteSegment(id: "a", origin: World.place, destination: World.place)]
        world.publish(client, session, .startGuidance(trip, generation: 1, route))
        world.mail = [:]
        trip.routeSegmentsAvailable = false
        var frames = PublishedFrames()
        for publication in [Publication.updateTrip(trip), .currentRoadName(["Lane"])] {
            world.sequences[session, default: 0] += 1
            let frame = Codec.encode(
                Envelope(.publication(publication), session: session, sequence: world.sequences[session] ?? 0)
            )
            frames.append(copyOf: frame, publication.outline)
        }
        world.begin(.published(client, frames))
        let last = UInt64(1_000 + Self.count - 1)
        #expect(!Self.types(world, last).contains(.currentRoadName))
        while world.gateway.hasSteps {
            let cost = Self.step(&world)
            // One send to each endpoint, two of each vehicle, is counted where the next frame is published.
            let isPublished = Self.types(world, last).contains(.currentRoadName)
            #expect(cost <= Self.stepMax + (isPublished ? 2 * UInt64(Self.count) : 0))
        }
        #expect(Self.types(world, last).last == .currentRoadName)
        #expect(Self.types(world, last).contains(.snapshotBegin))
    }

    @Test func `what a session took is given back when it ends`() throws {
        var world = Self.world(4)
        let before = world.gateway.holdings
        for round in 0..<20 {
            let ids = (0..<256).map { VehicleID(unchecked: "absent-\(round)-\($0)") }
            world.receive(
                .openSession(OpenSession(requestID: "r\(round)", vehicles: .vehicles(ids))),
                from: ConnectionID(1))
        }
        #expect(world.gateway.vehicles.count == 4 + 20 * 256)
        #expect(world.gateway.holdings.sessionCount == 20)
        world.handle(.departed(ConnectionID(1), clean: true))
        world.arrive(1, World.client("app"))
        #expect(world.gateway.holdings == before)
        #expect(world.gateway.index.awaitedVehicles.count == 0)
        #expect(world.gateway.index.sessionCounts.count == 0)
    }
}

extension World {
    fileprivate var deadline: Instant? {
        var deadlines = self.gateway.deadlines
        return deadlines.next
    }
}
