import Testing
import WaymarkLint
import WaymarkModel
import WaymarkProtocol

/// Rules that look across two kinds of messages: for each the smallest history with a finding, and the nearest without.
@Suite struct LintPairTests {
    private static func estimates(_ meters: UInt32, _ seconds: Int) -> TravelEstimates {
        TravelEstimates(distanceRemaining: .meters(meters), timeRemaining: .seconds(seconds))
    }

    /// Guidance along a route of `meters`.
    private static func guided(_ meters: UInt32) -> LintSketch {
        var route = RouteInformation.turns
        route.tripTravelEstimates = TravelEstimates(distanceRemaining: .meters(meters))
        return .guided(route)
    }

    // MARK: Time

    @Test func `the time to the destination does not jump`() {
        func rules(
            _ drives: [(meters: UInt32, seconds: Int)], pause: Bool = false, every seconds: Double = 1
        ) -> [LintID] {
            var sketch = LintSketch.guided()
            for (index, drive) in drives.enumerated() {
                let second = Double(index) * seconds + 1
                if pause, index == 1 {
                    sketch.publish(.pauseGuidance(.rerouting, description: []), at: second)
                    sketch.publish(.resumeGuidance(generation: 1, .unknown, nil), at: second)
                }
                sketch.publish(
                    .tripEstimates(Self.estimates(drive.meters, drive.seconds), .default), at: second)
            }
            return sketch.rules()
        }
        #expect(rules([(4_900, 400), (4_890, 519)]) == [])
        #expect(rules([(4_900, 400), (4_890, 521)]) == [.timeJumps])
        // Only once for each jump.
        #expect(rules([(4_900, 400), (4_890, 600), (4_880, 599)]) == [.timeJumps])
        #expect(rules([(4_900, 400), (4_800, 241)]) == [])
        #expect(rules([(4_900, 400), (4_800, 239)]) == [.timeJumps])
        // So much was driven.
        #expect(rules([(4_900, 400), (4_750, 239)]) == [])
        // By so little that it is rounded.
        #expect(rules([(400, 40), (390, 70)]) == [])
        #expect(rules([(4_900, 400), (4_890, 900)], pause: true) == [])
        // A jam, or a ferry: the time passes, and the vehicle stands.
        #expect(rules([(4_900, 400), (4_890, 200)], every: 9) == [.timeJumps])
        #expect(rules([(4_900, 60), (4_890, 25)], every: 9).contains(.timeJumps))
        #expect(!rules([(4_900, 60), (4_890, 25)], every: 18).contains(.timeJumps))
        // The same in a drive at 100 times its speed.
        #expect(!rules([(4_900, 500), (4_000, 400), (3_990, 230)]).contains(.timeJumps))
    }

    @Test func `a maneuver is not later than the destination`() {
        func rules(_ seconds: Int, until end: Double = 1.3) -> [LintID] {
            var sketch = LintSketch.guided()
            sketch.publish(.tripEstimates(Self.estimates(4_000, 300), .default), at: 1)
            sketch.publish(
                .maneuverEstimates(ManeuverID(rawValue: 1), Self.estimates(800, seconds), generation: 1),
                at: 1)
            return sketch.rules(until: end)
        }
        #expect(rules(359) == [])
        #expect(rules(360) == [.maneuverLater])
        #expect(rules(360, until: 1.1) == [])
    }

    // MARK: Distances

    @Test func `the distance to a maneuver falls with that to the destination`() {
        func rules(_ route: UInt32, _ trips: [UInt32], says maneuver: UInt32? = nil) -> [LintID] {
            var sketch = Self.guided(route)
            for (index, meters) in trips.enumerated() {
                sketch.publish(.trip(meters), at: Double(index) + 1)
                if let maneuver, index == 3 { sketch.publish(.to(1, maneuver), at: Double(index) + 1) }
            }
            return sketch.rules()
        }
        // A quarter of a short route.
        #expect(rules(1_200, [1_100, 1_050, 1_000, 900]) == [])
        #expect(rules(1_200, [1_100, 1_050, 1_000, 899]) == [.maneuverStays])
        #expect(rules(1_200, [1_100, 1_050, 1_000, 950, 880, 700], says: 400) == [])
        // Two estimates are far apart in a drive at many times its speed.
        #expect(rules(1_200, [1_100, 600]) == [])
        // Half of the distance to the maneuver, which is 900 m.
        #expect(rules(20_000, [19_900, 19_800, 19_700, 19_550]) == [])
        #expect(rules(20_000, [19_900, 19_800, 19_700, 19_549]) == [.maneuverStays])
    }

    @Test func `on a short route the destination comes nearer with the maneuvers`() {
        func rules(_ meters: [UInt32]) -> [LintID] {
            var sketch = Self.guided(1_200)
            for (index, meters) in meters.enumerated() {
                sketch.publish(.to(1, meters), at: Double(index) + 1)
            }
            return sketch.rules()
        }
        #expect(rules([800, 700, 600, 500]) == [])
        #expect(rules([800, 700, 600, 499]) == [.tripStays])
    }

    @Test func `the distances to the destination and to the maneuver fall alike`() {
        func rules(trip: UInt32, maneuver: UInt32) -> [LintID] {
            var sketch = Self.guided(4_000)
            for second in 0...11 as ClosedRange<UInt32> {
                sketch.drive(
                    trip: 4_000 - second * trip, maneuver: 1_200 - second * maneuver, at: Double(second) + 1)
            }
            return sketch.rules().filter { $0 == .estimatesDiffer }
        }
        #expect(rules(trip: 100, maneuver: 100) == [])
        // A fifth, and one step for rounding.
        #expect(rules(trip: 100, maneuver: 75) == [])
        #expect(rules(trip: 100, maneuver: 50) == [.estimatesDiffer])
        #expect(rules(trip: 50, maneuver: 100) == [.estimatesDiffer])
    }

    // MARK: Junctions

    /// The first two maneuvers link to lanes 1 and 2.
    private static func junctions(_ arrow: Int16 = -90) -> RouteInformation {
        var route = RouteInformation.lanes
        route.maneuvers[1].linkedLaneGuidance = LaneGuidanceID(rawValue: 2)
        let lane = Lane(
            angles: [.degrees(Int(arrow))], highlightedAngle: .degrees(Int(arrow)), status: .preferred)
        route.laneGuidances[0].lanes = [Lane(angles: [.degrees(0)]), lane]
        return route
    }

    @Test func `the arrows of lanes lead where their maneuver leads`() {
        func rules(_ arrow: Int16, exit: Int? = nil, _ type: ManeuverType = .leftTurn) -> [LintID] {
            var route = Self.junctions(arrow)
            route.maneuvers[0].type = type
            route.maneuvers[0].junctionExitAngle = exit.map { .degrees($0) }
            var sketch = LintSketch.guided(route)
            sketch.publish(.lanes(1), at: 0.5)
            return sketch.rules()
        }
        #expect(rules(-90) == [] && rules(-15) == [] && rules(-165) == [])
        #expect(rules(-14) == [.laneArrow] && rules(90) == [.laneArrow])
        #expect(rules(0, exit: -60) == [])
        #expect(rules(45, exit: -60) == [.laneArrow])
        // Where an exit leads is not said.
        #expect(rules(90, .highwayOffRampLeft) == [])
    }

    @Test func `the lanes of a later maneuver are not shown`() {
        func rules(_ lanes: UInt32, links: Bool = true, next second: Double? = nil) -> [LintID] {
            var route = Self.junctions()
            if !links { route.maneuvers[1].linkedLaneGuidance = nil }
            var sketch = LintSketch.guided(route)
            sketch.publish(.lanes(lanes), at: 1)
            if let second { sketch.publish(.upcoming(2, 3), at: second) }
            return sketch.rules(until: 3).filter { $0 == .laneLater }
        }
        #expect(rules(1) == [])
        #expect(rules(2) == [.laneLater])
        #expect(rules(2, links: false) == [])
        #expect(rules(2, next: 1.9) == [])
    }

    @Test func `the current road is not that behind the next maneuver`() {
        func rules(_ names: [String], lasting seconds: Double = 2) -> [LintID] {
            var route = RouteInformation.turns
            route.maneuvers = (1...5 as ClosedRange<UInt32>).map { id in
                var turn = Maneuver.turn(id, id == 5 ? .arriveAtDestination : .leftTurn)
                turn.roadFollowingManeuverVariants = ["Road \(id)"]
                return turn
            }
            var sketch = LintSketch.guided(route)
            for (index, name) in names.enumerated() {
                let second = 1 + Double(index) * seconds
                let next = UInt32(index) + 2
                sketch.publish([.upcoming(next, next + 1), .currentRoadName([name])], at: second)
            }
            return sketch.rules(until: 8).filter { $0 == .roadNext }
        }
        #expect(rules(["Road 1", "Road 2", "Road 3"]) == [])
        #expect(rules(["Road 2", "Road 3"]) == [.roadNext])
        #expect(rules(["Road 2", "Road 2"]) == [])
        // At two maneuvers, but not in a row.
        #expect(rules(["Road 2", "Road 2", "Road 4"]) == [])
        #expect(rules(["Other", "Other"]) == [])
    }
}
