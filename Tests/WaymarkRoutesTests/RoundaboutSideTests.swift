import Testing
import WaymarkModel
import WaymarkRoutes

/// The side on which a roundabout's line is driven, against what the engine and the other roundabouts say.
@Suite struct RoundaboutSideTests {
    private static func sides(_ route: EngineRoute) -> [TrafficSide] {
        route.information.maneuvers.map(\.trafficSide)
    }

    @Test(arguments: RingAnswer.allCases, [TrafficSide.left, .right])
    func `roundabouts decide where the engine has the side of another country`(
        _ form: RingAnswer, _ side: TrafficSide
    ) throws {
        let rings = Array(repeating: RingAnswer.Ring(side: side), count: 3)
        let route = try RouteReader.read(form.answer(rings, stating: side == .left ? .right : .left)).routes[
            0]
        #expect(Self.sides(route) == Array(repeating: side, count: form.hasLeavingManeuver ? 8 : 5))
        #expect(
            route.notices.count { $0.reason.contains("but the engine says") } == (form.statesSide ? 3 : 0))
    }

    @Test(arguments: RingAnswer.allCases, [TrafficSide.right, nil])
    func `a roundabout that contradicts its neighbours is reported and keeps its own side up to its exit`(
        _ form: RingAnswer, _ stated: TrafficSide?
    ) throws {
        let rings = [TrafficSide.right, .left, .right].map { RingAnswer.Ring(side: $0) }
        let route = try RouteReader.read(form.answer(rings, stating: stated)).routes[0]
        let sides: [TrafficSide] =
            form.hasLeavingManeuver
            ? [.right, .right, .right, .left, .left, .right, .right, .right]
            : [.right, .right, .left, .right, .right]
        #expect(Self.sides(route) == sides)
        let reason =
            "this roundabout is driven in left-hand traffic, "
            + (form.statesSide && stated != nil
                ? "but the engine says right" : "unlike most on this stretch of the route")
        #expect(
            route.notices.filter { $0.reason.contains("this roundabout is driven") }.map(\.reason) == [reason]
        )
    }

    @Test(arguments: [RingAnswer.mapbox, .graphhopper], [TrafficSide.left, .right])
    func `the angle of a roundabout counts in the direction of driving, whatever the engine says of traffic`(
        _ form: RingAnswer, _ side: TrafficSide
    ) throws {
        // The second one begins where the first one is left, so the line does not show its end.
        let rings = [RingAnswer.Ring(side: side, degrees: 260), RingAnswer.Ring(side: side, approach: 0)]
        let route = try RouteReader.read(form.answer(rings, stating: side == .left ? .right : .left)).routes[
            0]
        #expect(
            route.information.maneuvers[1].junctionExitAngle == .degrees(side == .left ? 80 : -80))
    }
}
