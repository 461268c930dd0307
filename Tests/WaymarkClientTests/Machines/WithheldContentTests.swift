import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

/// What a session keeps of content that vehicles may not have now, and may have later.
@Suite struct WithheldContentTests {
    private let segments = ["s", "t"].map { RouteSegment(id: $0, origin: place, destination: place) }

    /// The route of the tests, with segments.
    private var whole: RouteInformation {
        var whole = route
        (whole.segments, whole.currentSegment) = (self.segments, "s")
        return whole
    }

    private func setSegment(_ id: String, in world: inout MachineWorld) throws {
        try world.publish { .currentRouteSegment(id, generation: $0.generation) }
        try world.settle()
    }

    private func setSegmentsAvailable(_ isAvailable: Bool, in world: inout MachineWorld) throws {
        var changed = trip
        changed.routeSegmentsAvailable = isAvailable
        try world.publish { _ in .updateTrip(changed) }
    }

    @Test func `a feature that is no longer withheld is published, with its changes in between`()
        throws
    {
        var world = MachineWorld()
        world.withhold([.routeSegments, .maneuvers])
        world.cutApp()
        try world.start(self.whole)
        try world.settle()
        try world.setUpcoming(2)
        try self.setSegment("t", in: &world)
        #expect(world.refusals == [])
        #expect(world.held.state.phase == .active)
        #expect(world.held.state.maneuvers.isEmpty && world.held.state.segments.isEmpty)
        // A refusal takes back what was refused, and nothing that had no frame.
        try world.publish { _ in .dismissAlert(9, .timeout) }
        try world.settle()
        #expect(world.refusals.count == 1)
        world.withhold([])
        world.cutApp()
        try world.settle()
        #expect(world.held.state.maneuvers == route.maneuvers && world.held.state.segments == self.segments)
        #expect(world.held.state.upcomingManeuvers.map(\.rawValue) == [2])
        #expect(world.held.state.currentSegment == "t")
        try world.setUpcoming(3)
        try self.setSegment("s", in: &world)
        #expect(world.refusals.count == 1)
        #expect(world.held.state.upcomingManeuvers.map(\.rawValue) == [3])
        #expect(world.held.state.currentSegment == "s")
    }

    @Test func `speed limits that are no longer withheld are published, also those of segments`() throws {
        var world = MachineWorld()
        world.withhold([.speedLimit])
        world.cutApp()
        let fast = SpeedLimit(80, .kilometersPerHour)
        var limited = self.whole
        limited.segments[0].speedLimits = [SpeedLimitSpan(from: 0, fast)]
        try world.start(limited)
        try world.publish { _ in .speedLimit(fast, next: nil) }
        try world.settle()
        #expect(world.refusals == [])
        #expect(world.held.state.segments == self.segments && world.held.state.speedLimit == nil)
        world.withhold([])
        world.cutApp()
        try world.settle()
        #expect(world.held.state.segments == limited.segments)
        #expect(world.held.state.speedLimit == fast)
        #expect(world.refusals == [])
    }

    @Test func `a withheld publication has no frame and uses no number`() throws {
        var world = MachineWorld()
        world.withhold([.routeSegments])
        world.cutApp()
        try world.start(self.whole)
        try world.settle()
        try self.setSegment("t", in: &world)
        #expect(world.published.sequence == 1)
        try world.publish { _ in .currentRoadName(["A"]) }
        try world.send(arriving: 0)
        try self.setSegment("s", in: &world)
        // The road name was lost: it is sent again, under the number that it had.
        world.cutApp()
        try world.settle()
        #expect(world.refusals == [])
        #expect(world.published.sequence == 2)
        #expect(world.held.state.currentRoadName == ["A"])
    }

    @Test func `segments survive a restatement while the trip has opted out, and come with the next opt-in`()
        throws
    {
        var world = MachineWorld()
        try world.start(self.whole)
        try self.setSegmentsAvailable(false, in: &world)
        try world.settle()
        world.restart()
        try world.settle()
        #expect(world.held.state.segments == [] && world.held.state.currentSegment == nil)
        try self.setSegment("t", in: &world)
        #expect(world.held.state.segments == [] && world.held.state.currentSegment == nil)
        try self.setSegmentsAvailable(true, in: &world)
        try world.settle()
        #expect(world.refusals == [])
        #expect(world.held.state.segments == self.segments)
        #expect(world.held.state.currentSegment == "t")
        try self.setSegment("s", in: &world)
        let more = RouteSegment(id: "u", origin: place, destination: place)
        try world.publish { .addRouteSegments([more], generation: $0.generation) }
        try world.settle()
        #expect(world.refusals == [])
        #expect(world.held.state.segments == self.segments + [more])
        #expect(world.held.state.currentSegment == "s")
    }

    @Test func `a new route after a restatement without segments has its own segments`() throws {
        var world = MachineWorld()
        try world.start(self.whole)
        try self.setSegmentsAvailable(false, in: &world)
        world.restart()
        try world.settle()
        #expect(world.held.state.segments == [])
        try world.start(self.whole)
        try self.setSegment("t", in: &world)
        #expect(world.refusals == [])
        #expect(world.held.state.segments == self.segments)
        #expect(world.held.state.currentSegment == "t")
    }

    @Test
    func
        `publications queued before the first frame leave out what the gateway withholds when they are sent`()
        throws
    {
        var world = MachineWorld()
        var begun = route
        begun.laneGuidances = [
            LaneGuidance(id: LaneGuidanceID(rawValue: 1), lanes: [Lane(angles: [.degrees(0)])])
        ]
        try world.start(begun)
        world.withhold([.laneGuidance])
        world.cutApp()
        try world.settle()
        #expect(world.refusals == [])
        #expect(world.held.state.maneuvers == route.maneuvers)
        #expect(world.held.state.laneGuidances.isEmpty)
    }
}
