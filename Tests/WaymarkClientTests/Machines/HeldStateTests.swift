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
}
