import Testing
import WaymarkHistory
import WaymarkLint
import WaymarkModel
import WaymarkProtocol

/// Rules that judge what a client publishes: for each the smallest history with a finding, and the nearest without.
@Suite struct LintPublicationTests {
    // MARK: Maneuvers

    @Test func `a roundabout's type needs a roundabout`() {
        var sketch = LintSketch.guided()
        var maneuver = Maneuver.turn(4, .enterRoundabout)
        maneuver.junctionType = .roundabout
        sketch.publish(.add(maneuver), at: 1)
        #expect(sketch.rules() == [])
        maneuver.id = ManeuverID(rawValue: 5)
        maneuver.junctionType = .intersection
        sketch.publish(.add(maneuver), at: 1)
        #expect(sketch.rules() == [.maneuverKind])
        #expect(sketch.findings().first?.field == "maneuvers[0].junction_type")
    }

    @Test func `the number of an exit is that of its type`() {
        var sketch = LintSketch.guided()
        var maneuver = Maneuver.turn(4, .roundaboutExit3)
        maneuver.junctionType = .roundabout
        maneuver.roundaboutExitNumber = 3
        sketch.publish(.add(maneuver), at: 1)
        #expect(sketch.rules() == [])
        maneuver.id = ManeuverID(rawValue: 5)
        maneuver.roundaboutExitNumber = 2
        sketch.publish(.add(maneuver), at: 1)
        #expect(sketch.rules() == [.maneuverKind])
    }

    @Test func `a maneuver that turns has a type`() {
        var sketch = LintSketch.guided()
        var maneuver = Maneuver.turn(4, .noTurn)
        maneuver.junctionExitAngle = .degrees(-44)
        sketch.publish(.add(maneuver), at: 1)
        #expect(sketch.rules() == [])
        maneuver.id = ManeuverID(rawValue: 5)
        maneuver.junctionExitAngle = .degrees(-45)
        sketch.publish(.add(maneuver), at: 1)
        #expect(sketch.rules() == [.maneuverKind])
    }

    @Test func `only a ferry changes the side of the road`() {
        func route(_ types: [ManeuverType]) -> RouteInformation {
            var route = RouteInformation.turns
            route.maneuvers = types.enumerated().map { .turn(UInt32($0 + 1), $1) }
            route.maneuvers[types.count - 1].trafficSide = .left
            return route
        }
        #expect(LintSketch.guided(route([.leftTurn, .enterFerry, .leftTurn])).rules() == [])
        #expect(LintSketch.guided(route([.leftTurn, .leftTurn, .exitFerry])).rules() == [])
        #expect(LintSketch.guided(route([.leftTurn, .leftTurn])).rules() == [.maneuverKind])
    }

    @Test func `a left turn does not lead to the right`() {
        var sketch = LintSketch.guided()
        var maneuver = Maneuver.turn(4, .leftTurnAtEnd)
        maneuver.junctionExitAngle = .degrees(60)
        sketch.publish(.add(maneuver), at: 1)
        #expect(sketch.rules() == [])
        maneuver.id = ManeuverID(rawValue: 5)
        maneuver.junctionExitAngle = .degrees(61)
        sketch.publish(.add(maneuver), at: 1)
        maneuver.id = ManeuverID(rawValue: 6)
        maneuver.type = .sharpRightTurn
        maneuver.junctionExitAngle = .degrees(-90)
        sketch.publish(.add(maneuver), at: 1)
        #expect(sketch.rules() == [.maneuverAngle, .maneuverAngle])
    }

    @Test func `the exit angle is none of the other roads`() {
        var sketch = LintSketch.guided()
        var maneuver = Maneuver.turn(4)
        maneuver.junctionExitAngle = .degrees(-90)
        maneuver.junctionElementAngles = [.degrees(0)]
        sketch.publish(.add(maneuver), at: 1)
        #expect(sketch.rules() == [])
        maneuver.id = ManeuverID(rawValue: 5)
        maneuver.junctionElementAngles = [.degrees(-90), .degrees(0)]
        sketch.publish(.add(maneuver), at: 1)
        #expect(sketch.rules() == [.maneuverAngle])
    }

    // MARK: Lanes

    @Test func `lanes that are shown up to a maneuver are linked from it`() {
        func drive(_ lanes: UInt32) -> LintSketch {
            var sketch = LintSketch.guided(.lanes)
            sketch.publish(.lanes(1), at: 0.5)
            sketch.publish(.lanes(lanes), at: 1)
            sketch.publish(.to(1, 55), at: 3)
            sketch.publish(.to(1, 15), at: 4)
            sketch.publish([.lanes(nil), .upcoming(2)], at: 5)
            return sketch
        }
        #expect(drive(1).rules() == [])
        #expect(drive(2).rules() == [.laneLink])
    }

    @Test func `lanes of a junction before the maneuver need no link`() {
        var sketch = LintSketch.guided(.lanes)
        sketch.publish(.lanes(2), at: 1)
        sketch.publish(.to(1, 56), at: 3)
        sketch.publish(.to(1, 16), at: 4)
        sketch.publish([.lanes(nil), .upcoming(2)], at: 5)
        #expect(sketch.rules() == [])

        sketch = LintSketch.guided(.lanes)
        sketch.publish(.lanes(1), at: 0.5)
        sketch.publish(.lanes(2), at: 1)
        sketch.publish(.to(1, 20), at: 2)
        sketch.publish(.to(1, 10), at: 3)
        sketch.publish(.lanes(nil), at: 4.7)
        sketch.publish(.upcoming(2), at: 5)
        #expect(sketch.rules() == [])
    }

    @Test func `in a drive at many times its speed no lanes are matched with maneuvers`() {
        var sketch = LintSketch.guided(.lanes)
        sketch.publish(.lanes(2), at: 1)
        sketch.publish(.to(1, 56), at: 3)
        sketch.publish(.to(1, 15), at: 4)
        sketch.publish([.lanes(nil), .upcoming(2)], at: 5)
        #expect(sketch.rules() == [])
        // It is not known how fast.
        sketch = LintSketch.guided(.lanes)
        sketch.publish([.lanes(2), .to(1, 10)], at: 1)
        sketch.publish([.lanes(nil), .upcoming(2)], at: 1.1)
        #expect(sketch.rules() == [])
    }

    @Test func `lanes may be hidden just after the maneuver, too`() {
        func drive(after seconds: Double) -> LintSketch {
            var sketch = LintSketch.guided(.lanes)
            sketch.publish(.lanes(1), at: 0.5)
            sketch.publish(.lanes(2), at: 1)
            sketch.publish(.to(1, 20), at: 2)
            sketch.publish(.to(1, 10), at: 3)
            sketch.publish(.upcoming(2), at: 5)
            sketch.publish(.lanes(nil), at: 5 + seconds)
            return sketch
        }
        #expect(drive(after: 0.2).rules() == [.laneLink])
        // They may be those of the next junction.
        #expect(drive(after: 0.3).rules() == [])
    }

    @Test func `lanes that a maneuver links to are added`() {
        var route = RouteInformation.lanes
        route.laneGuidances.removeFirst()
        var sketch = LintSketch.guided(route)
        #expect(sketch.rules(until: 2.999) == [])
        #expect(sketch.rules(until: 3) == [.laneLink])
        sketch.publish(.addLaneGuidances([.shown(1)], generation: 1), at: 3)
        #expect(sketch.rules(until: 9) == [])
    }

    @Test func `lanes that a maneuver links to are shown`() {
        func drive(shows isShown: Bool) -> LintSketch {
            var sketch = LintSketch.guided(.lanes)
            if isShown { sketch.publish(.lanes(1), at: 1) }
            sketch.publish(.to(1, 55), at: 3)
            sketch.publish(.to(1, 15), at: 4)
            sketch.publish([.lanes(nil), .upcoming(2)], at: 5)
            return sketch
        }
        #expect(drive(shows: true).rules() == [])
        #expect(drive(shows: false).rules() == [.laneUnshown])
    }

    @Test func `lanes are hidden when their maneuver was passed`() {
        var sketch = LintSketch.guided(.lanes)
        sketch.publish(.lanes(1), at: 1)
        sketch.publish(.upcoming(2), at: 2)
        #expect(sketch.rules(until: 6.9) == [])
        #expect(sketch.rules(until: 7) == [.laneStale])
        sketch.publish(.lanes(nil), at: 6.9)
        #expect(sketch.rules(until: 9) == [])
    }

    @Test func `lanes that are shown say which arrow to follow`() {
        var sketch = LintSketch.guided(.lanes)
        sketch.publish(.addLaneGuidances([.shown(3, highlights: false)], generation: 1), at: 1)
        sketch.publish(.lanes(2), at: 2)
        #expect(sketch.rules() == [])
        sketch.publish(.lanes(3), at: 2)
        sketch.publish(.lanes(3), at: 3)
        #expect(sketch.rules() == [.laneHighlight])
    }

    @Test func `lanes without arrows, and lanes that are all wrong, need no highlight`() {
        var sketch = LintSketch.guided(.lanes)
        let none = LaneGuidance(id: LaneGuidanceID(rawValue: 3), lanes: [Lane(angles: [], status: .good)])
        let wrong = LaneGuidance(id: LaneGuidanceID(rawValue: 4), lanes: [Lane(angles: [.degrees(0)])])
        sketch.publish(.addLaneGuidances([none, wrong], generation: 1), at: 1)
        sketch.publish(.lanes(3), at: 2)
        sketch.publish(.lanes(4), at: 3)
        #expect(sketch.rules() == [])
    }

    @Test func `a highlighted arrow is one of the lane's, and the lane is good`() {
        var sketch = LintSketch.guided(.lanes)
        var guidance = LaneGuidance.shown(3)
        guidance.lanes[1].highlightedAngle = .degrees(45)
        sketch.publish(.addLaneGuidances([guidance], generation: 1), at: 1)
        #expect(sketch.rules() == [.laneHighlight])
        guidance = .shown(4)
        guidance.lanes[1].status = .notGood
        sketch.publish(.addLaneGuidances([guidance], generation: 1), at: 1)
        #expect(sketch.rules() == [.laneHighlight, .laneStatus])
        #expect(sketch.findings().last?.field == "lane_guidances[0].lanes[1].highlighted_angle_degrees")
    }

    // MARK: Estimates

    @Test func `the distance to the destination does not rise`() {
        var sketch = LintSketch.guided()
        sketch.publish(.trip(3_000), at: 3)
        sketch.publish(.trip(3_100), at: 4)
        #expect(sketch.rules() == [])
        sketch.publish(.trip(3_201), at: 5)
        #expect(sketch.rules() == [.tripRises])
    }

    @Test func `distances may rise after guidance started, continued or changed its route`() {
        var sketch = LintSketch.guided()
        sketch.publish(.trip(6_000), at: 2.9)
        sketch.publish(.pauseGuidance(.arrived, description: []), at: 10)
        sketch.publish(.resumeGuidance(generation: 1, .unknown, nil), at: 11)
        sketch.publish([.trip(7_000), .to(1, 2_000)], at: 13)
        sketch.connection(.ended(nil), of: LintSketch.app, at: 16)
        sketch.connection(.admitted(resumed: true), of: LintSketch.app, at: 17)
        sketch.publish([.trip(8_000), .to(1, 3_000)], at: 19)
        #expect(sketch.rules() == [])
        sketch.publish(.trip(9_000), at: 20)
        #expect(sketch.rules() == [.tripRises])
    }

    @Test func `the distance to the next maneuver does not rise`() {
        var sketch = LintSketch.guided()
        sketch.publish(.to(1, 800), at: 3)
        sketch.publish(.to(1, 850), at: 4)
        sketch.publish(.to(2, 2_000), at: 4)
        sketch.publish(.to(2, 3_000), at: 4)
        #expect(sketch.rules() == [])
        sketch.publish(.to(1, 901), at: 5)
        #expect(sketch.rules() == [.maneuverRises])
    }

    @Test func `the next maneuver is not behind the destination`() {
        var sketch = LintSketch.guided()
        sketch.drive(trip: 700, maneuver: 800, at: 3)
        #expect(sketch.rules(until: 4) == [])
        sketch.drive(trip: 690, maneuver: 800, at: 4)
        sketch.drive(trip: 680, maneuver: 800, at: 5)
        #expect(sketch.rules(until: 5) == [.maneuverFarther])
        // The new distance to the maneuver follows at once.
        sketch = LintSketch.guided()
        sketch.publish(.trip(690), at: 3)
        sketch.publish(.to(1, 690), at: 3.1)
        #expect(sketch.rules(until: 5) == [])
        // The old one says nothing about now.
        sketch = LintSketch.guided()
        sketch.publish(.trip(500), at: 3)
        sketch.publish(.to(1, 800), at: 5)
        #expect(sketch.rules(until: 9) == [])
    }

    @Test func `estimates belong to the next maneuver`() {
        func drive(_ ids: [UInt32]) -> [LintID] {
            var sketch = LintSketch.guided()
            for (index, id) in ids.enumerated() { sketch.publish(.to(id, 500), at: Double(1 + index * 5)) }
            return sketch.rules()
        }
        #expect(drive([2, 2, 2]) == [.estimatesOther])
        #expect(drive([2, 2, 2, 2]) == [.estimatesOther])
        #expect(drive([2, 1, 2, 2]) == [])
    }

    /// A true distance in metres, a value to display that is near enough, and one that is not.
    @Test(arguments: [
        (60, 300, 290, DistanceUnit.meters), (800, 9_000, 9_010, .meters), (4_300, 44_600, 44_610, .meters),
        (20_000, 220, 221, .kilometers), (1_000, 7, 8, .miles), (90, 3_930, 3_940, .feet),
        (90, 660, 650, .yards),
    ])
    func `the distance to display is near the true one`(
        _ meters: UInt32, _ near: UInt32, _ wrong: UInt32, _ unit: DistanceUnit
    ) {
        func find(_ tenths: UInt32) -> [LintID] {
            var sketch = LintSketch.guided()
            let display = DisplayDistance(valueTenths: tenths, unit: unit)
            let estimates = TravelEstimates(
                distanceRemaining: .meters(meters), distanceRemainingToDisplay: display)
            sketch.publish(.maneuverEstimates(ManeuverID(rawValue: 2), estimates, generation: 1), at: 1)
            return sketch.rules()
        }
        #expect(find(near) == [])
        #expect(find(wrong) == [.distanceDisplay])
    }

    @Test func `a maneuver is carried out near it`() {
        var sketch = LintSketch.guided()
        sketch.publish(.to(1, 500), at: 3)
        sketch.publish(.state(.execute), at: 3)
        #expect(sketch.rules() == [])
        sketch.publish(.to(1, 520), at: 4)
        #expect(sketch.rules() == [.stateDistance])
        sketch.publish(.to(1, 4_001), at: 5)
        #expect(sketch.rules().count { $0 == .stateDistance } == 1)

        sketch = LintSketch.guided()
        sketch.publish(.to(1, 4_001), at: 1)
        sketch.publish(.state(.prepare), at: 3.1)
        #expect(sketch.rules() == [])
        sketch.publish(.to(1, 4_001), at: 3.2)
        #expect(sketch.rules() == [.stateDistance])
    }

    @Test func `a maneuver is carried out before it is passed`() {
        func drive(_ state: ManeuverState) -> LintSketch {
            var sketch = LintSketch.guided()
            sketch.publish([.to(1, 15), .state(state)], at: 3)
            sketch.publish(.to(1, 12), at: 4)
            return sketch
        }
        #expect(drive(.initial).rules(until: 4.9) == [])
        #expect(drive(.initial).rules(until: 5) == [.stateDistance])
        #expect(drive(.prepare).rules(until: 9) == [])

        var sketch = drive(.initial)
        sketch.publish(.state(.execute), at: 4.9)
        #expect(sketch.rules(until: 9) == [])
        // Standing at it.
        sketch = LintSketch.guided()
        sketch.publish(.to(1, 0), at: 3)
        #expect(sketch.rules(until: 6) == [])
        // A client that is silent does not say where the vehicle is.
        sketch = LintSketch.guided()
        sketch.publish(.to(1, 15), at: 3)
        sketch.publish(.upcoming(2), at: 4.9)
        #expect(sketch.rules(until: 9) == [])
    }

    // MARK: The route

    @Test func `a maneuver is next while guidance is active`() {
        var route = RouteInformation.turns
        route.upcomingManeuvers = []
        route.maneuverTravelEstimates = nil
        var sketch = LintSketch.guided(route)
        #expect(sketch.rules(until: 2.9) == [])
        #expect(sketch.rules(until: 3) == [.upcomingNone])
        sketch.publish(.upcoming(1), at: 3)
        #expect(sketch.rules(until: 6) == [.upcomingNone])

        route.maneuvers = []
        #expect(LintSketch.guided(route).rules(until: 6) == [])
    }

    @Test func `after the last maneuver guidance ends`() {
        func drive(_ publication: Publication, after seconds: Double) -> [LintID] {
            var sketch = LintSketch.guided()
            sketch.publish(.upcoming(), at: 4)
            for second in 0...Int(seconds) / 5 { sketch.publish(.trip(200), at: 4 + Double(second * 5)) }
            sketch.publish(publication, at: 4 + seconds)
            return sketch.rules(until: 4 + seconds)
        }
        #expect(drive(.finishGuidance, after: 29) == [])
        #expect(drive(.finishGuidance, after: 30.5) == [.upcomingNone])
        #expect(drive(.upcoming(3), after: 2.9) == [])
        #expect(drive(.upcoming(3), after: 3.1) == [.upcomingNone])
    }

    @Test func `the next maneuvers are in the order of the route`() {
        var sketch = LintSketch.guided()
        sketch.publish(.upcoming(1, 3), at: 1)
        sketch.publish(.upcoming(2, 3), at: 2)
        #expect(sketch.rules() == [])
        sketch.publish(.upcoming(3, 2), at: 3)
        #expect(sketch.rules() == [.upcomingOrder])
        sketch.publish(.upcoming(2, 3), at: 4)
        #expect(sketch.rules() == [.upcomingOrder, .upcomingOrder])
    }

    @Test func `variants of a text become shorter`() {
        var sketch = LintSketch.guided()
        sketch.publish(.currentRoadName(["Landstrasse", "Landstr."]), at: 1)
        // Four scalars each.
        sketch.publish(.currentRoadName(["Äule", "Aeul"]), at: 1)
        #expect(sketch.rules() == [])
        sketch.publish(.currentRoadName(["Landstr.", "Landstrasse"]), at: 1)
        sketch.publish(.currentRoadName(["A 13", "A 13"]), at: 1)
        #expect(sketch.rules() == [.textOrder, .textOrder])
        var maneuver = Maneuver.turn(4)
        maneuver.instructionVariants = ["Left", "Turn left"]
        sketch.publish(.add(maneuver), at: 2)
        #expect(sketch.findings().last?.field == "maneuvers[0].instruction_variants[1]")
    }

    private static func route(gap: Double, _ maneuvers: [[UInt32]]) -> RouteInformation {
        var route = RouteInformation.turns
        route.segments = maneuvers.enumerated().map { index, ids in
            // A thousandth of a degree of latitude is 111 m.
            let begin = 47 + Double(index) * (0.01 + gap / 111_195)
            return RouteSegment(
                id: "s\(index)", origin: .place, destination: .place,
                coordinates: [
                    Coordinate(latitude: begin, longitude: 9),
                    Coordinate(latitude: begin + 0.01, longitude: 9),
                ], maneuvers: ids.map { ManeuverID(rawValue: $0) })
        }
        return route
    }

    @Test func `a segment begins where the one before it ends`() {
        #expect(LintSketch.guided(Self.route(gap: 99, [[1, 2], [3]])).rules() == [])
        let sketch = LintSketch.guided(Self.route(gap: 101, [[1, 2], [3]]))
        #expect(sketch.rules() == [.segmentJoin])
        #expect(sketch.findings().first?.field == "route.segments[1].coordinates")

        var added = LintSketch.guided(Self.route(gap: 0, [[1, 2]]))
        let far = Self.route(gap: 500, [[1, 2], [3]]).segments[1]
        added.publish(.addRouteSegments([far], generation: 1), at: 1)
        #expect(added.findings().map(\.field) == ["segments[0].coordinates"])
    }

    @Test func `the current segment has the next maneuvers`() {
        #expect(LintSketch.guided(Self.route(gap: 0, [[1], [2, 3]])).rules(until: 5) == [])
        #expect(
            LintSketch.guided(Self.route(gap: 0, [[], [1, 2, 3]])).rules(until: 3) == [.segmentManeuvers])

        var sketch = LintSketch.guided(Self.route(gap: 0, [[1], [2, 3]]))
        sketch.publish(.currentRouteSegment("s1", generation: 1), at: 1)
        sketch.publish(.upcoming(1), at: 2)
        #expect(sketch.rules(until: 4.9) == [])
        #expect(sketch.rules(until: 5) == [.segmentManeuvers])
        sketch.publish(.upcoming(2), at: 4.9)
        #expect(sketch.rules(until: 9) == [])
    }

    // MARK: Pace

    @Test func `a value comes at most ten times a second`() {
        func drive(perSecond count: Int, seconds: Int) -> [LintID] {
            var sketch = LintSketch.guided()
            for second in 1...seconds {
                for number in 0..<count {
                    sketch.publish(.trip(4_000), at: Double(second) + Double(number) / Double(count))
                }
            }
            // The value is the same, which another rule finds.
            return sketch.rules().filter { $0 == .rateFast }
        }
        #expect(drive(perSecond: 10, seconds: 6) == [])
        #expect(drive(perSecond: 11, seconds: 2) == [])
        #expect(drive(perSecond: 11, seconds: 3) == [.rateFast])
        #expect(drive(perSecond: 11, seconds: 6) == [.rateFast])
    }

    @Test func `a client that guides says where it is`() {
        var sketch = LintSketch.guided()
        sketch.publish(.trip(4_000), at: 10)
        #expect(sketch.rules(until: 20) == [])
        #expect(sketch.rules(until: 40) == [.driveSilent])
        sketch.publish(.pauseGuidance(.loading, description: []), at: 20)
        #expect(sketch.rules(until: 40) == [])

        sketch = LintSketch.guided()
        sketch.connection(.ended(nil), of: LintSketch.app, at: 5)
        #expect(sketch.rules(until: 40) == [])
        sketch.connection(.admitted(resumed: true), of: LintSketch.app, at: 40)
        #expect(sketch.rules(until: 50) == [])
        #expect(sketch.rules(until: 51) == [.driveSilent])
    }

    @Test func `the end of a session is the end of its waiting rules`() {
        var sketch = LintSketch.guided()
        sketch.deliver(
            .sessionEnded(SessionEnded(session: SessionID(1), reason: .userStopped)), to: LintSketch.app,
            at: 5)
        #expect(sketch.rules(until: 60) == [])
    }
}
