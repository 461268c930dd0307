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
