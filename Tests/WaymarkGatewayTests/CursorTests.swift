import StateCoding
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// Up to which number an endpoint holds its session, and how old that is.
@Suite struct CursorTests {
    private static func road(_ name: String) -> Publication { .currentRoadName([name]) }

    /// A guided vehicle, in a session of which `count` names of the road were published.
    private func guided(_ count: Int) throws -> (World, client: ConnectionID, session: SessionID) {
        var world = World()
        world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        for number in 0..<count { world.publish(client, session, Self.road("\(number)")) }
        return (world, client, session)
    }

    @Test func `SnapshotBegin leads from the cursor to the session's number`() throws {
        var (world, client, session) = try self.guided(3)
        let late = world.arrive(3, World.endpoint("car", "late"))
        let full = try #require(world.beginnings(late).first)
        #expect((full.kind, full.fromSequence, full.toSequence) == (.full, 0, 4))
        let token = world.welcomes[late]?.resumptionToken
        world.handle(.departed(late, clean: false))
        for number in 3..<6 { world.publish(client, session, Self.road("\(number)")) }
        let back = world.arrive(4, World.endpoint("car", "late"), token: token, resume: (session, 4))
        let missed = try #require(world.beginnings(back).first)
        #expect((missed.kind, missed.fromSequence, missed.toSequence) == (.missed, 4, 7))
        #expect(world.mail[back]?.map(\.sequence) == [0, 5, 6, 7, 0])
    }

    @Test func `a session without publications leads to 0`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let opening = OpenSession(
            requestID: "r", vehicles: .vehicles([VehicleID(unchecked: "car")]))
        world.receive(.openSession(opening), from: client)
        let begin = try #require(world.beginnings(car).first)
        #expect((begin.fromSequence, begin.toSequence, begin.ageMilliseconds) == (0, 0, nil))
    }

    @Test(arguments: [true, false])
    func `an empty session is sent again, whether the endpoint names it or not`(_ isNamed: Bool) throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let opening = OpenSession(
            requestID: "r", vehicles: .vehicles([VehicleID(unchecked: "car")]))
        world.receive(.openSession(opening), from: client)
        let session = try #require(world.opened(client, "r"))
        let token = world.welcomes[car]?.resumptionToken
        world.handle(.departed(car, clean: false))
        let back = world.arrive(
            3, World.endpoint("car"), token: token, resume: (isNamed ? session : .none, 0))
        #expect(world.welcomes[back]?.isResumed == true)
        let begin = try #require(world.beginnings(back).first)
        #expect((begin.kind, begin.fromSequence, begin.toSequence) == (.full, 0, 0))
        #expect(world.messages(back).map(\.type) == [.snapshotBegin, .snapshotEnd])
        // One that holds nothing of it gets everything, too, also if it never lost a frame.
        world.publish(client, session, .startGuidance(World.trip, generation: 1, World.route))
        world.handle(.departed(back, clean: false))
        let again = world.arrive(
            4, World.endpoint("car"), token: world.welcomes[back]?.resumptionToken,
            resume: (isNamed ? session : .none, 0))
        #expect(world.beginnings(again).map(\.kind) == [.full])
        #expect(world.beginnings(again).map(\.toSequence) == [1])
    }

    @Test func `only publications have numbers`() throws {
        var (world, client, _) = try self.guided(1)
        world.handle(.departed(client, clean: false))
        world.arrive(3, World.client("app"), token: world.welcomes[client]?.resumptionToken)
        let types = world.messages(ConnectionID(1)).map(\.type)
        #expect(
            Set(types).isSuperset(of: [.snapshotBegin, .snapshotEnd, .sessionSuspended, .sessionRestored]))
        for envelope in world.mail[ConnectionID(1)] ?? [] {
            if case .publication = envelope.message { continue }
            #expect(envelope.sequence == 0, "\(envelope.message.type)")
        }
    }

    @Test func `a new list of withheld features leads past nothing that waits to be fitted`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car") { $0.limits.maneuversStoredMax = 50 })
        let client = world.arrive(2, World.client("app", without: [.navigationAlerts]))
        let session = try world.guided(client, ["car"])
        let maneuvers = (10..<500).map {
            Maneuver(id: ManeuverID(rawValue: $0), type: .leftTurn, instructionVariants: ["left"])
        }
        world.publish(client, session, .addManeuvers(maneuvers, generation: 1))
        let sequence = try #require(world.sequences[session])
        world.mail = [:]
        world.gateway.stepUnitsMax = 1
        var frames = PublishedFrames()
        for (offset, id) in [300, 100].enumerated() {
            let jump = Publication.upcomingManeuvers([ManeuverID(rawValue: UInt32(id))], generation: 1)
            let envelope = Envelope(
                .publication(jump), session: session, sequence: sequence + 1 + UInt64(offset))
            frames.append(copyOf: Codec.encode(envelope), jump.outline)
        }
        world.begin(.published(client, frames))
        #expect(world.gateway.hasSteps(of: client))
        // The client comes back with the feature that it did not provide before.
        world.arrive(3, World.client("app"), token: world.welcomes[client]?.resumptionToken)
        let begin = try #require(world.beginnings(car).first)
        #expect(begin.kind == .missed)
        #expect(begin.fromSequence == begin.toSequence)
        while world.gateway.hasSteps(of: client) { world.begin(.stepDue(of: client)) }
        let mail = try #require(world.mail[car])
        let end = try #require(mail.firstIndex { $0.message.type == .snapshotEnd })
        let later = mail[end...].filter { $0.message.type == .upcomingManeuvers }.map(\.sequence)
        #expect(later == [sequence + 2])
        #expect(begin.toSequence < sequence + 2)
    }

    // MARK: Age

    @Test func `the age is that of the last accepted publication, rounded up`() throws {
        var (world, client, session) = try self.guided(1)
        world.now = world.now + .milliseconds(1_000)
        // Changes nothing.
        world.publish(client, session, Self.road("0"))
        world.now = world.now + .milliseconds(1_000)
        // Refused.
        world.publish(client, session, .dismissAlert(9, .timeout))
        world.now = world.now + .milliseconds(1_001)
        let late = world.arrive(3, World.endpoint("car", "late"))
        #expect(world.beginnings(late).map(\.ageMilliseconds) == [2_100])
    }

    @Test func `the age of estimates is that of the newest ones that the session has`() throws {
        var (world, client, session) = try self.guided(1)
        func told(_ connection: UInt64) -> UInt32? {
            let late = world.arrive(connection, World.endpoint("car", "late\(connection)"))
            return world.beginnings(late).last?.estimatesAgeMilliseconds
        }
        #expect(told(3) == nil)
        let estimates = TravelEstimates(distanceRemaining: .meters(900))
        world.publish(client, session, .tripEstimates(estimates, .default))
        world.now = world.now + .milliseconds(1_000)
        // Newer, but no estimates.
        world.publish(client, session, Self.road("1"))
        #expect(told(4) == 1_000)
        // Changes nothing, but is as new.
        world.publish(client, session, .tripEstimates(estimates, .default))
        world.now = world.now + .milliseconds(150)
        #expect(told(5) == 200)
        // A new route voids them.
        world.publish(client, session, .pauseGuidance(.rerouting, description: []))
        world.publish(client, session, .resumeGuidance(generation: 2, .unknown, RouteInformation()))
        #expect(told(6) == nil)
        world.publish(client, session, .pauseGuidance(.rerouting, description: []))
        let route = RouteInformation(tripTravelEstimates: estimates)
        world.publish(client, session, .resumeGuidance(generation: 3, .unknown, route))
        world.now = world.now + .milliseconds(300)
        world.handle(.departed(client, clean: false))
        let suspended = SessionSuspended(
            graceMilliseconds: 30_000, ageMilliseconds: 300, estimatesAgeMilliseconds: 300)
        #expect(world.messages(ConnectionID(1)).last == .sessionSuspended(suspended))
    }

    @Test func `an endpoint whose client is away is told the age`() throws {
        var (world, client, _) = try self.guided(1)
        world.now = world.now + .milliseconds(700)
        world.handle(.departed(client, clean: false))
        #expect(
            world.messages(ConnectionID(1)).last
                == .sessionSuspended(SessionSuspended(graceMilliseconds: 30_000, ageMilliseconds: 700)))
        world.now = world.now + .milliseconds(400)
        let late = world.arrive(3, World.endpoint("car", "late"))
        #expect(world.beginnings(late).map(\.ageMilliseconds) == [1_100])
    }

    @Test func `the next process knows the age`() throws {
        var (world, _, _) = try self.guided(1)
        let bytes = try StateCoder.encode(GatewayState(world.gateway), format: GatewayState.format)
        let state = try StateCoder.decode(GatewayState.self, from: bytes, format: GatewayState.format)
        world.gateway = try #require(state.gateway(policy: world.gateway.policy, coder: Codec.coder))
        world.now = world.now + .milliseconds(250)
        let late = world.arrive(3, World.endpoint("car", "late"))
        #expect(world.beginnings(late).map(\.ageMilliseconds) == [300])
    }
}

extension World {
    /// The SnapshotBegins that an endpoint got.
    func beginnings(_ endpoint: ConnectionID) -> [SnapshotBegin] {
        self.messages(endpoint).compactMap {
            if case .snapshotBegin(let begin) = $0 { begin } else { nil }
        }
    }
}
