import OrderedCollections
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// What crosses on the way, comes back in the middle, or pretends.
@Suite struct RaceTests {
    @Test func `a request that crosses the end of its session has an outcome all the same`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        world.publish(client, session, .finishGuidance)
        world.receive(World.waypoint("w"), from: car, session)
        #expect(world.outcomes(car) == [.sessionEnded])
        world.receive(World.waypoint("w"), from: car, session)
        #expect(world.outcomes(car) == [.sessionEnded, .sessionEnded])
    }

    @Test func `stopping a session that has ended is answered with its end`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        world.publish(client, session, .finishGuidance)
        world.handle(.received(car, .cancelNavigation(.userStopped), session))
        #expect(
            world.messages(car).last == .sessionEnded(SessionEnded(session: session, reason: .finished)))
        // One that this gateway never had.
        let unknown = SessionID(5)
        world.handle(.received(car, .cancelNavigation(.userStopped), unknown))
        #expect(
            world.messages(car).last == .sessionEnded(SessionEnded(session: unknown, reason: .clientGone)))
        #expect(world.gateway.vehicles[VehicleID(unchecked: "car")]?.hasStopped == false)
    }

    @Test func `what waits of a session that has ended is dropped when its end answers a stop`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        world.publish(client, session, .finishGuidance)
        for (named, end) in [(session, SessionEndReason.finished), (SessionID.none, .userStopped)] {
            var actions: [Gateway.Action] = []
            world.gateway.handle(
                .received(car, .cancelNavigation(.userStopped), named), at: world.now, into: &actions)
            let ended = Envelope(.sessionEnded(SessionEnded(session: named, reason: end)))
            #expect(actions == [.purge(car, named), .send(car, ended)])
        }
    }

    @Test func `own navigation ends whatever guides the vehicle, also by a late message`() throws {
        var world = World { $0.arbitration = .replace }
        let car = world.arrive(1, World.endpoint("car"))
        let first = world.arrive(2, World.client("a"))
        let second = world.arrive(3, World.client("b"))
        let old = try world.guided(first, ["car"])
        let new = try world.guided(second, ["car"])
        world.handle(.received(car, .cancelNavigation(.userStopped), old))
        #expect(world.gateway.vehicles[VehicleID(unchecked: "car")]?.session == new)
        #expect(world.messages(car).last == .sessionEnded(SessionEnded(session: old, reason: .replaced)))
        world.handle(.received(car, .cancelNavigation(.ownNavigationStarted), old))
        #expect(
            world.messages(car).last
                == .sessionEnded(SessionEnded(session: new, reason: .ownNavigationStarted)))
    }

    @Test func `an answer to an older request does not let a client guide a vehicle that navigates itself`() {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let request = DestinationRequest(requestID: "d", destination: World.place)
        world.receive(.destinationRequest(request), from: car)
        world.handle(.received(car, .cancelNavigation(.ownNavigationStarted), .none))
        #expect(world.outcomes(car) == [.withdrawn] && world.outcomes(client) == [.withdrawn])
        let answer = RequestAnswer(requestID: "d", vehicle: VehicleID(unchecked: "car"), answer: .accept)
        world.handle(.received(client, .requestAnswer(answer), .none))
        #expect(world.guide(client, ["car"]) == nil)
        #expect(world.errors(client) == [.unknownReference, .vehicleNavigatesItself])
    }

    @Test func `settings are kept whatever session they name, and told once`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        var settings = VehicleSettings()
        settings.compass = .enabled
        for _ in 0..<3 { world.handle(.received(car, .vehicleSettings(settings), session)) }
        #expect(world.messages(client).count { $0.type == .vehicleSettings } == 1)
        world.publish(client, session, .finishGuidance)
        settings.compass = .disabled
        world.handle(.received(car, .vehicleSettings(settings), session))
        _ = world.guide(client, ["car"], request: "again")
        settings.source = EndpointPath(
            vehicle: VehicleID(unchecked: "car"), endpoint: EndpointName(unchecked: "cluster"))
        #expect(world.messages(client).contains(.vehicleSettings(settings)))
    }

    @Test func `a request that is not granted is refused by name`() {
        var world = World()
        let car = world.arrive(1, World.endpoint("car") { $0.features.remove(.requests) })
        world.receive(World.waypoint("w"), from: car)
        guard case .error(let rejection) = world.messages(car).last else {
            Issue.record("it was taken")
            return
        }
        #expect(rejection.code == .notGranted && rejection.requestID == "w")
    }

    @Test func `a client whose connection is replaced gets nothing after its goodbye`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        _ = try world.guided(client, ["car"])
        world.receive(World.waypoint("w"), from: car)
        world.mail[client] = []
        let token = world.welcomes[client]?.resumptionToken
        world.arrive(3, World.client("app"), token: token)
        #expect(world.goodbyes[client] == .takenOver)
        #expect(world.messages(client).isEmpty)
        #expect(world.outcomes(car) == [.gone])
    }

    @Test func `a client that was cut hears first how what it was asked has ended`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        for id: Identifier in ["a", "b"] { world.receive(World.waypoint(id), from: car) }
        for answer in [RequestAnswer.Answer.ownPrompt, .accept] {
            let answer = RequestAnswer(requestID: "a", vehicle: VehicleID(unchecked: "car"), answer: answer)
            world.handle(.received(client, .requestAnswer(answer), session))
        }
        world.handle(.departed(client, clean: false))
        let back = world.arrive(3, World.client("app"), token: world.welcomes[client]?.resumptionToken)
        #expect(world.outcomes(back) == [.accepted, .gone])
        #expect(
            world.messages(back).map(\.type).prefix(3) == [.requestOutcome, .requestOutcome, .vehicleChanged])
        // Another client does not hear what this one was asked.
        world.publish(back, session, .cancelGuidance)
        let other = world.arrive(4, World.client("other"))
        _ = try world.guided(other, ["car"])
        world.handle(.departed(other, clean: false))
        let again = world.arrive(5, World.client("other"), token: world.welcomes[other]?.resumptionToken)
        #expect(world.outcomes(again).isEmpty)
    }

    @Test func `an endpoint that comes while the user is asked may ask as well`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        world.receive(World.waypoint("w"), from: car)
        let vehicle = VehicleID(unchecked: "car")
        let estimates = TravelEstimates(distanceRemaining: .meters(5))
        let answer = RequestAnswer(requestID: "w", vehicle: vehicle, answer: .estimates(estimates))
        world.handle(.received(client, .requestAnswer(answer), session))
        world.now = world.now + .seconds(20)
        let hud = world.arrive(3, World.endpoint("car", "hud"))
        let prompt = Prompt(
            requestID: "w", waypoint: World.place, travelEstimates: estimates, deadlineMilliseconds: 40_000)
        #expect(world.messages(hud).contains(.prompt(prompt)))
        world.handle(.received(hud, .promptAnswer(PromptAnswer(requestID: "w", isAccepted: true)), .none))
        #expect(world.outcomes(car) == [.accepted])
    }

    @Test func `a vehicle that asks while the client is away gets its session when the client is back`() {
        var world = World()
        let client = world.arrive(1, World.client("app"))
        let opening = OpenSession(requestID: "any", vehicles: .anyThatAsked)
        world.handle(.received(client, .openSession(opening), .none))
        world.handle(.departed(client, clean: false))
        let car = world.arrive(2, World.endpoint("car") { $0.guidanceWanted = true })
        #expect(world.messages(car).isEmpty)
        world.arrive(3, World.client("app"), token: world.welcomes[client]?.resumptionToken)
        #expect(world.messages(car).map(\.type) == [.snapshotBegin, .snapshotEnd])
    }

    @Test func `an endpoint that there was no room for hears of the end, and gets all of it once there is`()
        throws
    {
        var world = World { $0.limits.profilesPerSessionMax = 1 }
        world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        let role = World.endpoint("car", "hud") { $0.preferences.distanceUnits = .metric }
        let hud = world.arrive(3, role)
        #expect(world.messages(hud).map(\.type) == [.snapshotBegin, .startGuidance, .snapshotEnd])
        world.handle(.departed(hud, clean: false))
        world.handle(.departed(ConnectionID(1), clean: true))
        // It asks for what it missed of a session of which it has no content.
        let back = world.arrive(
            4, role, token: world.welcomes[hud]?.resumptionToken, resume: (session, 1))
        #expect(world.messages(back).map(\.type) == [.snapshotBegin, .startGuidance, .snapshotEnd])
        let other = world.arrive(5, World.endpoint("car", "third"))
        world.publish(client, session, .finishGuidance)
        #expect(world.messages(back).last == .publication(.finishGuidance))
        #expect(world.messages(other).last == .publication(.finishGuidance))
    }

    @Test func `a destination share with a vehicle that is away fails as gone`() throws {
        var world = World()
        let client = world.arrive(1, World.client("app"))
        let session = try world.guided(client, ["car"])
        world.publish(client, session, .shareDestination(shareID: "s", World.place))
        let status = DestinationShareStatus(
            shareID: "s", vehicle: VehicleID(unchecked: "car"), stage: .didFailToShare(.gone))
        #expect(world.messages(client).contains(.destinationShareStatus(status)))
    }

    @Test func `a client cannot pass its frames off as the gateway's`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        world.mail[car] = []
        for (sequence, flags) in [(UInt64(2), FrameHeader.Flags.gateway), (3, .fitted), (4, .more)] {
            let envelope = Envelope(
                .publication(.currentRoadName(["x"])), session: session, sequence: sequence, flags: flags)
            world.handle(
                .published(client, PublishedFrames(Codec.encode(envelope), .init(.currentRoadName))))
        }
        #expect(world.errors(client) == [.outOfRange, .outOfRange, .outOfRange])
        #expect(world.messages(car).isEmpty)
    }

    @Test func `an endpoint with a profile of its own gets what it missed, within its grace time`() throws {
        var world = World()
        let role = World.endpoint("car") { $0.limits.maneuversStoredMax = 2 }
        let car = world.arrive(1, role)
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        world.handle(.departed(car, clean: false))
        let next = [ManeuverID(rawValue: 2)]
        world.publish(client, session, .upcomingManeuvers(next, generation: 1))
        let token = world.welcomes[car]?.resumptionToken
        let back = world.arrive(3, role, token: token, resume: (session, 1))
        // The number of what it saw last comes again if several frames came of it: here there was one.
        #expect(
            world.messages(back).map(\.type)
                == [.snapshotBegin, .addManeuvers, .upcomingManeuvers, .snapshotEnd])
        world.handle(.departed(back, clean: false))
        #expect(world.gateway.sessions[session]?.audiences.count == 1)
        world.wait(.seconds(31))
        #expect(world.gateway.sessions[session]?.audiences.isEmpty == true)
    }
}
