import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// Sentences of Docs/protocol.md about sessions, numbers and requests that no other test holds the gateway to.
@Suite struct PageTests {
    @Test func `what a client may not send at all is refused for that, in any session`() throws {
        var world = World()
        let client = world.arrive(2, World.client("app", without: [.currentRoadName]))
        let session = try world.guided(client, ["car"])
        for id in [session, SessionID(session.rawValue + 1)] {
            let envelope = Envelope(.publication(.currentRoadName(["x"])), session: id, sequence: 9)
            world.handle(.published(client, PublishedFrames(Codec.encode(envelope), .init(.currentRoadName))))
        }
        #expect(world.errors(client) == [.notGranted, .notGranted])
    }

    @Test func `the number is checked before what a publication says`() throws {
        var world = World()
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        var trip = World.trip
        trip.isDestinationShareable = true
        world.publish(client, session, .updateTrip(trip))
        world.arrive(1, World.endpoint("car"))
        world.publish(client, session, .shareDestination(shareID: "s", World.place))
        #expect(world.errors(client).isEmpty)
        // Under way already, not shown: neither is said of a frame out of order.
        world.sequences[session] = 8
        world.publish(client, session, .shareDestination(shareID: "s", World.place))
        world.publish(client, session, .dismissAlert(7, .timeout))
        #expect(world.errors(client) == [.sequenceGap, .sequenceGap])
    }

    @Test func `while paused the maneuver state is continue, and after it any`() throws {
        var world = World()
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        func refused(_ publication: Publication) -> [ErrorCode] {
            let before = world.errors(client).count
            world.publish(client, session, publication)
            return Array(world.errors(client).dropFirst(before))
        }
        #expect(refused(.maneuverState(.execute, generation: 1)).isEmpty)
        #expect(refused(.maneuverState(.prepare, generation: 1)) == [.wrongState])
        #expect(refused(.pauseGuidance(.arrived, description: [])).isEmpty)
        for state in [ManeuverState.initial, .prepare, .execute] {
            #expect(refused(.maneuverState(state, generation: 1)) == [.wrongState])
        }
        #expect(refused(.maneuverState(.continue, generation: 1)).isEmpty)
        #expect(refused(.resumeGuidance(generation: 1, .unknown, nil)).isEmpty)
        #expect(refused(.maneuverState(.prepare, generation: 1)).isEmpty)
    }

    @Test func `an alert may be shown again, and is then updated`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        for title in ["in 3 km", "in 2 km"] {
            world.publish(client, session, .showAlert(NavigationAlert(id: 5, titleVariants: [title])))
        }
        let late = world.arrive(3, World.endpoint("car", "late"))
        let shown = world.messages(late).compactMap { message -> [String]? in
            if case .publication(.showAlert(let alert)) = message { alert.titleVariants } else { nil }
        }
        #expect(shown == [["in 2 km"]])
        world.receive(.alertResponse(AlertResponse(alert: 5, response: .dismissed(.timeout))), from: car)
        world.publish(client, session, .dismissAlert(5, .timeout))
        world.publish(client, session, .showAlert(NavigationAlert(id: 5, titleVariants: ["again"])))
        #expect(world.errors(client).isEmpty)
        #expect(world.messages(client).count { $0.type == .alertResponse } == 1)
    }

    @Test func `a destination request stays open when guidance starts, and ends as it would`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let asked = world.arrive(2, World.client("asked", priority: 9))
        let other = world.arrive(3, World.client("other"))
        let vehicle = VehicleID(unchecked: "car")
        let request = DestinationRequest(requestID: "d", destination: World.place)
        world.receive(.destinationRequest(request), from: car)
        let session = try world.guided(other, ["car"])
        #expect(world.outcomes(car).isEmpty)
        // Another one is refused now.
        world.receive(
            .destinationRequest(DestinationRequest(requestID: "e", destination: World.place)), from: car)
        #expect(world.outcomes(car) == [.invalid])
        world.receive(
            .requestAnswer(RequestAnswer(requestID: "d", vehicle: vehicle, answer: .accept)), from: asked)
        #expect(world.outcomes(car) == [.invalid, .accepted])
        // The acceptance opens no session: that is for the client to do, and for the gateway's policy to allow.
        #expect(world.gateway.vehicles[vehicle]?.session == session)
        #expect(world.guide(asked, ["car"], request: "r2") == nil)
        #expect(world.errors(asked) == [.vehicleBusy])
    }

    @Test func `canonically equivalent request ids are different requests`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        _ = try world.guided(client, ["car"])
        let ids: [Identifier] = ["\u{E9}", "e\u{301}"]
        for id in ids + ids { world.receive(World.waypoint(id), from: car) }
        let asked = world.messages(client).compactMap { message -> Identifier? in
            if case .waypointRequest(let request) = message { request.requestID } else { nil }
        }
        #expect(asked == ids)
        let answer = RequestAnswer(
            requestID: ids[1], vehicle: VehicleID(unchecked: "car"), answer: .decline(.busy))
        world.receive(.requestAnswer(answer), from: client)
        world.receive(.withdrawRequest(WithdrawRequest(requestID: ids[0])), from: car)
        // Each gets its own outcome, also when it is sent again.
        for id in ids { world.receive(World.waypoint(id), from: car) }
        let outcomes = world.messages(car).compactMap { message -> RequestOutcome? in
            if case .requestOutcome(let outcome) = message { outcome } else { nil }
        }
        #expect(outcomes.map(\.requestID) == [ids[1], ids[0], ids[0], ids[1]])
        #expect(outcomes.map(\.outcome) == [.busy, .withdrawn, .withdrawn, .busy])
    }

    @Test func `canonically equivalent ids open two sessions and share twice`() throws {
        var world = World()
        let cars = [world.arrive(1, World.endpoint("a")), world.arrive(2, World.endpoint("b"))]
        let client = world.arrive(3, World.client("app"))
        let session = try world.guided(client, ["a"], request: "\u{E9}")
        #expect(try world.guided(client, ["b"], request: "e\u{301}") != session)
        var trip = World.trip
        trip.isDestinationShareable = true
        world.publish(client, session, .updateTrip(trip))
        for id in ["\u{E9}", "e\u{301}"] {
            world.publish(client, session, .shareDestination(shareID: id, World.place))
        }
        #expect(world.errors(client).isEmpty)
        let answer = DestinationShareAnswer(shareID: "e\u{301}", outcome: .accepted)
        world.receive(.destinationShareAnswer(answer), from: cars[0])
        world.wait(.seconds(100))
        let stages = world.messages(client).compactMap { message -> DestinationShareStatus? in
            if case .destinationShareStatus(let status) = message { status } else { nil }
        }
        #expect(
            stages.map(\.shareID) == ["\u{E9}", "e\u{301}", "e\u{301}", "\u{E9}"])
        #expect(stages.map(\.stage) == [.willShare, .willShare, .didShare, .didFailToShare(.timedOut)])
    }

    @Test func `who resumes from a number that was never published gets everything`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        let token = world.welcomes[car]?.resumptionToken
        world.handle(.departed(car, clean: false))
        let back = world.arrive(3, World.endpoint("car"), token: token, resume: (session, 2))
        guard case .snapshotBegin(let begin) = world.messages(back).first else {
            Issue.record("no snapshot")
            return
        }
        #expect(begin.kind == .full)
        #expect(world.messages(back).map(\.type) == [.snapshotBegin, .startGuidance, .snapshotEnd])
    }

    @Test func `who resumes in a session that never was is told that it is over`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        let token = world.welcomes[car]?.resumptionToken
        world.handle(.departed(car, clean: false))
        let unknown = SessionID(session.rawValue + 1_000)
        let back = world.arrive(3, World.endpoint("car"), token: token, resume: (unknown, 7))
        let ended = Message.sessionEnded(SessionEnded(session: unknown, reason: .clientGone))
        #expect(world.messages(back).first == ended)
        #expect(
            world.messages(back).dropFirst().map(\.type) == [.snapshotBegin, .startGuidance, .snapshotEnd])
    }

    @Test func `a session id that never was counts as one that is over`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        world.mail = [:]
        let unknown = SessionID(session.rawValue + 1_000)
        world.receive(.cancelNavigation(.userStopped), from: car, unknown)
        #expect(
            world.messages(car) == [.sessionEnded(SessionEnded(session: unknown, reason: .clientGone))])
        #expect(world.messages(client).isEmpty)
        world.mail = [:]
        world.receive(.zoomCluster(ZoomCluster(direction: .in)), from: car, unknown)
        world.receive(.updateRouteSource(UpdateRouteSource(routeSource: .vehicle)), from: car, unknown)
        world.receive(.receipt(Receipt(receivedSequence: 99, shownSequence: 0)), from: car, unknown)
        #expect(world.mail.isEmpty)
        world.receive(World.waypoint("w"), from: car, unknown)
        #expect(world.outcomes(car) == [.sessionEnded])
        var settings = VehicleSettings()
        settings.contentStyle = .dark
        world.receive(.vehicleSettings(settings), from: car, unknown)
        #expect(world.messages(client).map(\.type) == [.vehicleSettings])
    }

    @Test func `a vehicle may come back into the session that it left, with a snapshot first`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car") { $0.guidanceWanted = true })
        let client = world.arrive(2, World.client("app"))
        world.receive(.openSession(OpenSession(requestID: "r", vehicles: .anyThatAsked)), from: client)
        let session = try #require(world.opened(client, "r"))
        world.mail[car] = []
        world.receive(.cancelNavigation(.userStopped), from: car)
        world.publish(client, session, .startGuidance(World.trip, generation: 1, World.route))
        #expect(world.messages(car).map(\.type) == [.sessionEnded])
        world.receive(.allowNavigation, from: car)
        #expect(
            world.mail[car]?.dropFirst().map(\.session) == [session, session, session])
        #expect(
            world.messages(car).map(\.type)
                == [.sessionEnded, .snapshotBegin, .startGuidance, .snapshotEnd])
    }

    @Test func `an Error names the session that the refused message named`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        world.mail = [:]
        for id in [session, SessionID.none] {
            world.receive(.withdrawRequest(WithdrawRequest(requestID: "x")), from: car, id)
            world.receive(.receipt(Receipt(receivedSequence: 9, shownSequence: 0)), from: car, id)
        }
        let named = world.messages(car).compactMap { message -> SessionID? in
            if case .error(let rejection) = message { rejection.session } else { nil }
        }
        #expect(named == [session, session, .none, .none])
    }

    @Test func `of a vehicle that leaves VehicleChanged tells, of the last one SessionEnded`() throws {
        var world = World()
        let cars = [world.arrive(1, World.endpoint("a")), world.arrive(2, World.endpoint("b"))]
        let client = world.arrive(3, World.client("app"))
        _ = try world.guided(client, ["a", "b"])
        world.mail[client] = []
        for car in cars { world.receive(.cancelNavigation(.userStopped), from: car) }
        #expect(world.messages(client).map(\.type) == [.vehicleChanged, .sessionEnded])
    }
}
