import Testing
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

/// Shorthand for what the tests publish.
extension MachineWorld {
    mutating func start(_ route: RouteInformation = route) throws {
        try self.publish { .startGuidance(trip, generation: $0.newGeneration(), route) }
    }

    mutating func setUpcoming(_ ids: UInt32...) throws {
        try self.publish {
            .upcomingManeuvers(ids.map(ManeuverID.init(rawValue:)), generation: $0.generation)
        }
    }

    mutating func setState(_ state: ManeuverState) throws {
        try self.publish { .maneuverState(state, generation: $0.generation) }
    }

    /// Everything arrives everywhere.
    mutating func settle() throws {
        try self.send()
        self.read()
    }
}

@Suite struct PublishedStateTests {
    @Test func `a waiting maneuver state survives an update of what comes after the same maneuver`() throws {
        var world = MachineWorld()
        try world.start()
        try world.settle()
        try world.setState(.prepare)
        try world.setUpcoming(1, 2)
        try world.settle()
        #expect(world.refusals == [])
        #expect(world.held.state.maneuverState == .prepare)
        #expect(world.held.state.upcomingManeuvers.map(\.rawValue) == [1, 2])
    }

    @Test func `a maneuver state never arrives before the maneuver that it speaks of`() throws {
        var world = MachineWorld()
        try world.start()
        try world.setState(.execute)
        try world.settle()
        try world.setUpcoming(2)
        try world.setState(.initial)
        try world.setUpcoming(2, 3)
        try world.settle()
        #expect(world.refusals == [])
        #expect(world.held.state.maneuverState == .initial)
    }

    @Test func `returning to the same maneuver starts its cycle again`() throws {
        var world = MachineWorld()
        try world.start()
        try world.setState(.execute)
        try world.settle()
        for _ in 0..<50 {
            try world.setUpcoming(2)
            try world.setUpcoming(1)
        }
        try world.setState(.initial)
        #expect(try world.published.peek(SessionID(1)).count <= 3)
        try world.settle()
        #expect(world.refusals == [])
        #expect(world.held.state.maneuverState == .initial)
    }

    @Test func `a cycle that could not be sent is not cut to an impossible one`() throws {
        var world = MachineWorld()
        try world.start()
        try world.setState(.prepare)
        try world.settle()
        for _ in 0..<100 {
            for state in [ManeuverState.execute, .continue, .initial, .prepare] { try world.setState(state) }
        }
        for state in [ManeuverState.execute, .continue] { try world.setState(state) }
        #expect(try world.published.peek(SessionID(1)).count == 2)
        try world.settle()
        #expect(world.refusals == [])
        #expect(world.held.state.maneuverState == .continue)
    }

    @Test func `a state that an event depends on is not replaced`() throws {
        var world = MachineWorld()
        var closed = trip
        closed.routeSegmentsAvailable = false
        try world.publish { .startGuidance(closed, generation: $0.newGeneration(), route) }
        try world.settle()
        try world.publish { _ in .updateTrip(trip) }
        let segment = RouteSegment(id: "s", origin: place, destination: place)
        try world.publish { .addRouteSegments([segment], generation: $0.generation) }
        try world.publish { _ in .updateTrip(trip) }
        try world.settle()
        #expect(world.refusals == [])
        #expect(world.held.state.segments == [segment])
    }

    @Test func `a session that is stated anew has the estimates of now`() throws {
        var world = MachineWorld()
        var begun = route
        begun.maneuverTravelEstimates = TravelEstimates(distanceRemaining: .meters(111))
        begun.tripTravelEstimates = TravelEstimates(distanceRemaining: .meters(999))
        try world.start(begun)
        try world.setUpcoming(2)
        try world.publish { _ in .tripEstimates(TravelEstimates(distanceRemaining: .meters(5)), .green) }
        try world.settle()
        let before = world.held.state
        world.restart()
        try world.settle()
        #expect(world.refusals == [])
        #expect(world.held.state.maneuverEstimates[ManeuverID(rawValue: 2)] == nil)
        #expect(world.held.state.maneuverEstimates == before.maneuverEstimates)
        #expect(world.held.state.tripEstimates == before.tripEstimates)
        #expect(world.held.state.timeRemainingColor == .green)
    }

    @Test func `the queue of a finished session does not start it again`() throws {
        var world = MachineWorld()
        try world.start()
        try world.settle()
        try world.publish { _ in .finishGuidance }
        try world.send(arriving: 0)
        world.cutApp()
        try world.settle()
        #expect(world.held.state.phase == .ended(.finished))
        var other = MachineWorld()
        try other.start()
        try other.settle()
        try other.publish { _ in .finishGuidance }
        try other.send(arriving: 0)
        other.restart()
        #expect(other.published.ownEnd != nil)
        try other.settle()
        #expect(other.held.state.trip == nil)
        #expect(throws: ClientError.self) { try other.setState(.initial) }
    }

    @Test func `a refused publication is undone, and the others stay`() throws {
        var world = MachineWorld()
        try world.start()
        try world.setState(.execute)
        try world.settle()
        // Backwards before the same maneuver, and an alert that is not shown.
        try world.setState(.prepare)
        try world.publish { _ in .dismissAlert(9, .timeout) }
        try world.settle()
        #expect(world.refusals.count == 2)
        try world.setUpcoming(1, 2)
        try world.settle()
        world.restart()
        try world.settle()
        #expect(world.refusals.count == 2)
        #expect(world.held.state.maneuverState == .execute)
        #expect(world.held.state.upcomingManeuvers.map(\.rawValue) == [1, 2])
    }

    @Test func `a refused route is removed`() throws {
        var world = MachineWorld(gatewayLimits: { $0.route.maneuversPerSessionMax = 10 })
        try world.start()
        try world.settle()
        let large = RouteInformation(
            maneuvers: (1...11).map { Maneuver(id: ManeuverID(rawValue: $0), type: .rightTurn) })
        try world.publish { .startGuidance(trip, generation: $0.newGeneration(), large) }
        try world.settle()
        #expect(world.refusals.count == 1)
        #expect(world.published.generation == 1)
        try world.setUpcoming(2)
        try world.start()
        try world.settle()
        #expect(world.refusals.count == 1)
        #expect(world.published.generation == 3)
        #expect(world.held.state.maneuvers == route.maneuvers)
    }

    @Test func `wrong references and fields are the caller's error at once, and change nothing`() throws {
        var world = MachineWorld()
        try world.start()
        let before = world.published
        let wrong: [(PublishedState) -> Publication] = [
            { .upcomingManeuvers([ManeuverID(rawValue: 9)], generation: $0.generation) },
            { .addManeuvers(route.maneuvers, generation: $0.generation) },
            { .currentLaneGuidance(LaneGuidanceID(rawValue: 1), generation: $0.generation) },
            { .currentRouteSegment("none", generation: $0.generation) },
            {
                .maneuverEstimates(
                    ManeuverID(rawValue: 9), TravelEstimates(distanceRemaining: .meters(1)),
                    generation: $0.generation)
            },
            { _ in .currentRoadName([String(repeating: "x", count: 513)]) },
            { _ in .tripEstimates(TravelEstimates(distanceRemaining: .meters(.max)), .default) },
            { _ in .shareDestination(shareID: "s", Waypoint(center: Coordinate(latitude: .nan, longitude: 0)))
            },
        ]
        for make in wrong {
            let error = #expect(throws: ClientError.self) {
                try world.published.publish(make(world.published))
            }
            guard case .rejected(let field, _, _) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(!field.isEmpty)
        }
        #expect(world.published == before)
    }

    @Test func `segments of a trip that has opted out of them are not stated again`() throws {
        var world = MachineWorld()
        let segment = RouteSegment(id: "s", origin: place, destination: place)
        try world.start(RouteInformation(segments: [segment]))
        var closed = trip
        closed.routeSegmentsAvailable = false
        try world.publish { _ in .updateTrip(closed) }
        #expect(throws: ClientError.self) {
            try world.publish {
                .addRouteSegments(
                    [RouteSegment(id: "t", origin: place, destination: place)], generation: $0.generation)
            }
        }
        try world.settle()
        #expect(world.held.state.segments == [] && world.held.state.currentSegment == nil)
        world.restart()
        try world.settle()
        #expect(world.refusals == [])
        #expect(world.held.state.segments == [] && world.held.state.currentSegment == nil)
        #expect(world.held.state.trip == closed)
    }

    @Test func `withheld content is left out, and guidance continues with the rest`() throws {
        var world = MachineWorld()
        world.published.withheld = [.routeSegments, .maneuvers, .currentRoadName, .destinationSharing]
        let maneuver = ManeuverID(rawValue: 1)
        let segment = RouteSegment(
            id: "s", origin: place, destination: place, maneuvers: [maneuver], currentManeuvers: [maneuver])
        var begun = route
        (begun.segments, begun.currentSegment) = ([segment], "s")
        try world.start(begun)
        try world.setUpcoming(1)
        try world.publish { _ in .currentRoadName(["Lane"]) }
        #expect(throws: ClientError.self) {
            try world.publish { _ in .shareDestination(shareID: "s", place) }
        }
        try world.publish { _ in .pauseGuidance(.loading, description: []) }
        try world.settle()
        #expect(world.refusals == [])
        #expect(world.held.state.phase == .paused(.loading, description: []))
        #expect(world.held.state.maneuvers.isEmpty && world.held.state.segments.isEmpty)
        // What was published meanwhile, and a gateway that withholds more.
        world.published.withheld.insert(.laneGuidance)
        try world.settle()
        #expect(world.refusals == [])
        #expect(world.held.state.laneGuidances.isEmpty)
        #expect(world.held.state.phase == .paused(.loading, description: []))
    }

    @Test func `the queue is bounded while disconnected, and nothing of the content is lost`() throws {
        var limits = PublishedState.Limits()
        limits.queueBytesMax = 10_000
        limits.recentBytesMax = 2_000
        var world = MachineWorld(limits)
        try world.start()
        try world.settle()
        try world.publish { _ in .shareDestination(shareID: "lost", place) }
        for number in 0..<2_000 {
            try world.publish { _ in .showAlert(NavigationAlert(id: UInt32(number + 1), titleVariants: ["A"]))
            }
            try world.publish { _ in .currentRoadName(["road \(number)"]) }
        }
        #expect(world.published.waitingByteCount <= 10_000)
        #expect(world.published.dequeueLostShares() == ["lost"])
        try world.publish { _ in .shareDestination(shareID: "kept", place) }
        world.cutApp()
        #expect(world.published.waitingShares == ["kept"])
        try world.settle()
        #expect(world.refusals == [])
        #expect(world.held.state.alert?.id == 2_000)
        #expect(world.held.state.currentRoadName == ["road 1999"])
        #expect(world.held.state.maneuvers == route.maneuvers)
    }

    @Test func `a gap that the sent frames no longer cover is closed by the whole state`() throws {
        var limits = PublishedState.Limits()
        limits.recentBytesMax = 300
        var world = MachineWorld(limits)
        try world.start()
        try world.settle()
        for number in 0..<100 {
            try world.publish { _ in .showAlert(NavigationAlert(id: UInt32(number + 1), titleVariants: ["A"]))
            }
        }
        try world.send(arriving: 3)
        world.cutApp()
        try world.settle()
        #expect(world.refusals == [])
        #expect(world.held.state.alert?.id == 100)
    }

    @Test func `a route that is larger than a frame or a message is sent in several`() throws {
        var world = MachineWorld()
        world.setFrameBytesMax(16_384)
        let maneuvers = (1...5_000).map {
            Maneuver(id: ManeuverID(rawValue: $0), type: .leftTurn)
        }
        let segments = (1...70).map { RouteSegment(id: "s\($0)", origin: place, destination: place) }
        try world.start(
            RouteInformation(
                maneuvers: maneuvers, segments: segments, upcomingManeuvers: [ManeuverID(rawValue: 3)],
                maneuverTravelEstimates: TravelEstimates(distanceRemaining: .meters(7))))
        for frame in try world.published.peek(SessionID(1)) { #expect(frame.bytes.count <= 16_384) }
        try world.settle()
        let whole = world.held.state
        #expect(whole.maneuvers == maneuvers)
        #expect(whole.segments == segments)
        #expect(whole.currentSegment == "s1")
        #expect(whole.maneuverEstimates.count == 1)
        world.restart()
        world.setFrameBytesMax(20_000)
        try world.settle()
        #expect(world.refusals == [])
        #expect(world.held.state.maneuvers == maneuvers)
        #expect(world.held.state.segments == segments)
    }

    @Test func `a session that does not fit into the smaller frames of a new gateway is ended`()
        throws
    {
        var world = MachineWorld()
        let line = (0..<2_000).map { Coordinate(latitude: Double($0 % 90), longitude: 3) }
        let segment = RouteSegment(id: "long", origin: place, destination: place, coordinates: line)
        try world.start(RouteInformation(segments: [segment]))
        try world.settle()
        world.restart()
        world.setFrameBytesMax(4_096)
        #expect(throws: ClientError.self) { try world.settle() }
        let frame = world.published.giveUp(session: SessionID(1))
        #expect(frame.header.type == .cancelGuidance)
        #expect(frame.header.sequence == 1)
    }

    @Test func `a publication that cannot be split is refused by its name, and changes nothing`() throws {
        var world = MachineWorld()
        world.setFrameBytesMax(4_096)
        try world.start()
        let line = (0..<10_000).map { Coordinate(latitude: Double($0 % 90), longitude: 3) }
        let segment = RouteSegment(id: "long", origin: place, destination: place, coordinates: line)
        let error = #expect(throws: ClientError.self) {
            try world.publish { .addRouteSegments([segment], generation: $0.generation) }
        }
        guard case .invalid(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("segment long"))
        try world.settle()
        #expect(world.held.state.segments == [])
    }
}
