import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

@Suite struct HeldStateTests {
    @Test(arguments: 0...8)
    func `a snapshot that was cut anywhere is received again`(_ messages: Int) throws {
        var world = MachineWorld()
        try world.start()
        for number in 1...3 {
            try world.publish {
                .maneuverEstimates(
                    ManeuverID(rawValue: UInt32(number)), TravelEstimates(distanceRemaining: .meters(9)),
                    generation: $0.generation)
            }
        }
        try world.publish { _ in .currentRoadName(["road"]) }
        try world.send()
        world.restart()
        try world.send()
        world.cutCluster()
        // SnapshotBegin and some of the frames arrive.
        world.read(messages)
        if messages < 7 { #expect(world.held.resumption.session == .none) }
        world.cutCluster()
        world.read()
        #expect(world.held.state.maneuverEstimates.count == 3)
        #expect(world.held.state.currentRoadName == ["road"])
        #expect(world.held.state.maneuvers == route.maneuvers)
        #expect(world.held.resumption.session != .none)
    }

    @Test(arguments: 0...7) func `missed updates that were cut anywhere are requested again`(_ messages: Int)
        throws
    {
        var world = MachineWorld()
        try world.start()
        try world.settle()
        for number in 1...5 {
            try world.publish {
                .addManeuvers(
                    [Maneuver(id: ManeuverID(rawValue: UInt32(10 + number)), type: .rightTurn)],
                    generation: $0.generation)
            }
        }
        try world.send()
        world.cutCluster()
        world.read(messages)
        world.cutCluster()
        world.read()
        #expect(world.held.state.maneuvers.count == route.maneuvers.count + 5)
    }

    @Test func `segments whose ids only Unicode calls equal are held side by side`() {
        var held = HeldState()
        func receive(_ publication: Publication, _ sequence: UInt64) {
            held.apply(Envelope(.publication(publication), session: SessionID(3), sequence: sequence))
        }
        let begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: "c"))
        held.apply(Envelope(.snapshotBegin(begin), session: SessionID(3)))
        held.apply(Envelope(.snapshotEnd, session: SessionID(3)))
        receive(.startGuidance(trip, generation: 1, RouteInformation()), 1)
        for (index, id) in ["\u{E9}", "e\u{301}", "e\u{301}"].enumerated() {
            let segment = RouteSegment(id: id, origin: place, destination: place)
            receive(.addRouteSegments([segment], generation: 1), UInt64(index + 2))
        }
        #expect(held.state.segments.map { Array($0.id.utf8) } == [[0xC3, 0xA9], [0x65, 0xCC, 0x81]])
    }

    @Test func `a partial state is dropped when nothing follows it`() {
        var held = HeldState()
        held.apply(
            Envelope(
                .snapshotBegin(SnapshotBegin(kind: .full, client: ClientID(unchecked: "c"))),
                session: SessionID(3), sequence: 9))
        let forgotten = held.welcome(isResumed: true)
        #expect(forgotten)
        #expect(held.state == VehicleState())
    }

    @Test func `frames of a session that is not held change nothing`() {
        var held = HeldState()
        let missed = SnapshotBegin(kind: .missed, client: ClientID(unchecked: "c"))
        let frames: [Message] = [
            .snapshotBegin(missed), .publication(.startGuidance(trip, generation: 1, route)), .snapshotEnd,
            .sessionSuspended(SessionSuspended(graceMilliseconds: 1)), .publication(.cancelGuidance),
        ]
        for message in frames { held.apply(Envelope(message, session: SessionID(4), sequence: 8)) }
        #expect(held == HeldState())
        let begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: "c"))
        held.apply(Envelope(.snapshotBegin(begin), session: SessionID(3)))
        held.apply(Envelope(.snapshotEnd, session: SessionID(3)))
        let before = held
        for message in frames { held.apply(Envelope(message, session: SessionID(4), sequence: 8)) }
        #expect(held == before)
    }

    @Test func `a publication that the state cannot use moves the cursor only`() {
        var held = HeldState()
        var number: UInt64 = 0
        func receive(_ publication: Publication) -> VehicleState {
            number += 1
            held.apply(Envelope(.publication(publication), session: SessionID(3), sequence: number))
            #expect(held.position == number)
            return held.state
        }
        func expectNothing(of publications: [Publication]) {
            var before = held.state
            for publication in publications {
                let after = receive(publication)
                before.sequence = number
                #expect(after == before, "\(publication)")
            }
        }
        let (first, unknown) = (ManeuverID(rawValue: 1), ManeuverID(rawValue: 77))
        let estimates = TravelEstimates(distanceRemaining: .meters(9))
        let begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: "c"))
        held.apply(Envelope(.snapshotBegin(begin), session: SessionID(3)))
        held.apply(Envelope(.snapshotEnd, session: SessionID(3)))
        expectNothing(of: [
            .updateTrip(trip), .currentRoadName(["A"]), .pauseGuidance(.loading, description: []),
            .resumeGuidance(generation: 1, .missedTurn, route), .addManeuvers(route.maneuvers, generation: 0),
        ])
        _ = receive(.startGuidance(trip, generation: 1, route))
        expectNothing(of: [
            .addManeuvers([Maneuver(id: unknown, type: .leftTurn)], generation: 2),
            .upcomingManeuvers([], generation: 0), .maneuverState(.prepare, generation: 2),
            .maneuverEstimates(first, estimates, generation: 2),
            .maneuverEstimates(unknown, estimates, generation: 1),
            .currentLaneGuidance(LaneGuidanceID(rawValue: 5), generation: 1),
            .currentRouteSegment("leg", generation: 1), .resumeGuidance(generation: 2, .missedTurn, nil),
            .dismissAlert(4, .timeout),
        ])
        #expect(receive(.upcomingManeuvers([unknown, first], generation: 1)).upcomingManeuvers == [first])
        var other = route
        other.upcomingManeuvers = [unknown, first]
        other.maneuverTravelEstimates = estimates
        let state = receive(.resumeGuidance(generation: 2, .missedTurn, other))
        #expect(state.upcomingManeuvers == [first] && state.maneuverEstimates.isEmpty)
    }

    @Test func `only publications and the end of a snapshot move the cursor`() {
        var held = HeldState()
        func hear(_ message: Message, _ sequence: UInt64 = 0) -> UInt64? {
            held.apply(Envelope(message, session: SessionID(3), sequence: sequence))
            return held.position
        }
        var begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: "c"))
        begin.toSequence = 9
        #expect(hear(.snapshotBegin(begin)) == nil)
        #expect(hear(.publication(.currentRoadName(["A"])), 4) == nil)
        #expect(hear(.snapshotEnd) == 9)
        #expect(hear(.publication(.currentRoadName(["B"])), 11) == 11)
        #expect(hear(.sessionSuspended(SessionSuspended(graceMilliseconds: 1))) == 11)
        begin.kind = .missed
        (begin.fromSequence, begin.toSequence) = (11, 20)
        #expect(hear(.snapshotBegin(begin)) == 11)
        #expect(hear(.publication(.currentRoadName(["C"])), 15) == 15)
        #expect(hear(.snapshotEnd) == 20)
    }

    @Test func `the age of estimates begins again with estimates only`() {
        var held = HeldState()
        let start = ContinuousClock.now
        func age(after message: Message, _ sequence: UInt64 = 0, at second: Int) -> Duration? {
            let envelope = Envelope(message, session: SessionID(3), sequence: sequence)
            held.apply(envelope, at: start + .seconds(second))
            return held.state.estimatesAge(at: start + .seconds(second + 1))
        }
        let estimates = TravelEstimates(distanceRemaining: .meters(900))
        var begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: "c"))
        (begin.ageMilliseconds, begin.estimatesAgeMilliseconds) = (1_000, 4_000)
        #expect(age(after: .snapshotBegin(begin), at: 0) == .seconds(5))
        let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9))
        let trip = Trip(id: "trip", origin: place, destination: place)
        let guided = Publication.startGuidance(trip, generation: 1, RouteInformation())
        #expect(age(after: .publication(guided), 4, at: 0) == .seconds(5))
        #expect(age(after: .snapshotEnd, at: 1) == .seconds(6))
        #expect(age(after: .publication(.currentRoadName(["B"])), 5, at: 3) == .seconds(8))
        #expect(age(after: .publication(.tripEstimates(estimates, .default)), 6, at: 4) == .seconds(1))
        let suspended = SessionSuspended(
            graceMilliseconds: 1, ageMilliseconds: 0, estimatesAgeMilliseconds: 9_000)
        #expect(age(after: .sessionSuspended(suspended), at: 12) == .seconds(10))
        let bare = Publication.resumeGuidance(generation: 2, .unknown, RouteInformation())
        #expect(age(after: .publication(bare), 7, at: 13) == nil)
        let route = RouteInformation(tripTravelEstimates: estimates)
        let whole = Publication.resumeGuidance(generation: 3, .unknown, route)
        #expect(age(after: .publication(whole), 8, at: 14) == .seconds(1))
    }

    @Test func `the age begins with what the gateway says, and again with each publication`() {
        var held = HeldState()
        let start = ContinuousClock.now
        func age(after message: Message, _ sequence: UInt64 = 0, at second: Int) -> Duration? {
            let envelope = Envelope(message, session: SessionID(3), sequence: sequence)
            held.apply(envelope, at: start + .seconds(second))
            return held.state.age(at: start + .seconds(second + 1))
        }
        var begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: "c"))
        #expect(age(after: .snapshotBegin(begin), at: 0) == nil)
        begin.ageMilliseconds = 4_000
        #expect(age(after: .snapshotBegin(begin), at: 0) == .seconds(5))
        #expect(age(after: .publication(.currentRoadName(["A"])), 4, at: 0) == .seconds(5))
        #expect(age(after: .snapshotEnd, at: 1) == .seconds(6))
        #expect(age(after: .publication(.currentRoadName(["B"])), 5, at: 3) == .seconds(1))
        let suspended = SessionSuspended(graceMilliseconds: 1, ageMilliseconds: 9_000)
        #expect(age(after: .sessionSuspended(suspended), at: 12) == .seconds(10))
        #expect(age(after: .sessionRestored, at: 13) == .seconds(11))
    }
}
