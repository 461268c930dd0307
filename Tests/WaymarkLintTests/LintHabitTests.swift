import Testing
import WaymarkHistory
import WaymarkLint
import WaymarkModel
import WaymarkProtocol

/// Rules about segments and about what clients do again and again.
@Suite struct LintHabitTests {
    // MARK: Segments

    private static func place(_ latitude: Double) -> Waypoint {
        Waypoint(center: Coordinate(latitude: latitude, longitude: 9))
    }

    /// 1 112 m long, from 47° to 47.01°.
    private static func segment(_ id: String, _ line: [Coordinate], trip meters: UInt32? = nil)
        -> RouteSegment
    {
        RouteSegment(
            id: id, origin: self.place(47), destination: self.place(47.01), coordinates: line,
            tripTravelEstimates: meters.map { TravelEstimates(distanceRemaining: .meters($0)) })
    }

    private static func rules(_ segments: [RouteSegment]) -> [LintID] {
        var sketch = LintSketch.guided()
        sketch.publish(.addRouteSegments(segments, generation: 1), at: 1)
        return sketch.rules().filter { $0 == .segmentLine }
    }

    private static func point(_ latitude: Double, _ longitude: Double = 9) -> Coordinate {
        Coordinate(latitude: latitude, longitude: longitude)
    }

    @Test func `a line leads from its segment's origin to its destination`() {
        let (first, last) = (Self.point(47), Self.point(47.01))
        #expect(Self.rules([Self.segment("a", [first, last])]) == [])
        #expect(Self.rules([Self.segment("a", [])]) == [])
        #expect(Self.rules([Self.segment("a", [last, first])]) == [.segmentLine])
        // A place may be far from the road.
        #expect(Self.rules([Self.segment("a", [Self.point(47.2), Self.point(47.21)])]) == [])
        #expect(Self.rules([Self.segment("a", [Self.point(48), Self.point(48.01)])]) == [.segmentLine])
        let swapped = Self.segment("a", [Self.point(9, 47), Self.point(9, 47.01)])
        var sketch = LintSketch.guided()
        sketch.publish(.addRouteSegments([swapped], generation: 1), at: 1)
        let finding = sketch.findings().first { $0.rule == .segmentLine }
        #expect(finding?.text.hasSuffix("has latitude and longitude swapped") == true)
        #expect(finding?.field == "segments[0].coordinates")
    }

    @Test func `a line is as long as its segment`() {
        let line = [Self.point(47), Self.point(47.01)]
        let there = [Self.point(47), Self.point(47.01), Self.point(47), Self.point(47.01)]
        func route(_ line: [Coordinate], _ trips: UInt32...) -> [LintID] {
            let segments = trips.enumerated().map { index, meters in
                Self.segment("\(index)", index == 0 ? line : [], trip: meters)
            }
            return Self.rules(segments)
        }
        #expect(route(line, 3_112, 2_000) == [])
        #expect(route(there, 3_112, 2_000) == [.segmentLine])
        #expect(route(line, 6_000, 2_000) == [.segmentLine])
        // The last segment, behind which others may come, is no longer than the trip.
        #expect(route(line, 9_000) == [])
        #expect(route(there, 1_112) == [.segmentLine])
    }

    @Test func `the current segment has the next maneuver`() {
        func rules(_ current: String, after seconds: Double) -> [LintID] {
            var route = RouteInformation.turns
            route.segments = [("a", [1]), ("b", [2, 3])].map { id, maneuvers in
                RouteSegment(
                    id: id, origin: Self.place(47), destination: Self.place(47),
                    maneuvers: maneuvers.map { ManeuverID(rawValue: $0) })
            }
            var sketch = LintSketch.guided(route)
            sketch.publish(.upcoming(2, 3), at: 1)
            sketch.publish(.currentRouteSegment(current, generation: 1), at: 1.5)
            return sketch.rules(until: 1 + seconds)
        }
        #expect(rules("b", after: 4) == [])
        #expect(rules("a", after: 2.9) == [])
        #expect(rules("a", after: 3.1) == [.segmentBehind])
    }

    @Test func `no segment is current again after a later one`() {
        func rules(_ current: [String]) -> [LintID] {
            var route = RouteInformation.turns
            route.segments = ["a", "b", "c"].map { id in
                RouteSegment(
                    id: id, origin: Self.place(47), destination: Self.place(47),
                    maneuvers: [1, 2, 3].map { ManeuverID(rawValue: $0) })
            }
            var sketch = LintSketch.guided(route)
            for (index, id) in current.enumerated() {
                sketch.publish(.currentRouteSegment(id, generation: 1), at: Double(index) + 1)
            }
            return sketch.rules()
        }
        #expect(rules(["a", "b", "b", "c"]) == [])
        #expect(rules(["b", "a", "b", "c"]) == [.segmentBehind])
        #expect(rules(["c", "b", "a"]) == [.segmentBehind, .segmentBehind])
    }

    // MARK: Habits

    @Test func `guidance of a trip starts once`() {
        func rules(_ id: String, generation: UInt32 = 2) -> [LintID] {
            var sketch = LintSketch.guided()
            var trip = Trip.short
            trip.id = id
            sketch.publish(.startGuidance(trip, generation: generation, .turns), at: 5)
            return sketch.rules().filter { $0 == .startAgain }
        }
        #expect(rules("t") == [.startAgain])
        // An observer that joins again is told the same start again.
        #expect(rules("t", generation: 1) == [])
        #expect(rules("other") == [])
    }

    @Test func `a driver can read the alerts`() {
        func rules(_ count: UInt32, every seconds: Double) -> [LintID] {
            var sketch = LintSketch.guided()
            for id in 1...count {
                sketch.publish(
                    .showAlert(NavigationAlert(id: id, titleVariants: ["Ice"])), at: Double(id) * seconds)
            }
            return sketch.rules().filter { $0 == .alertFlood }
        }
        #expect(rules(8, every: 1) == [])
        #expect(rules(9, every: 1) == [.alertFlood])
        #expect(rules(20, every: 1) == [.alertFlood])
        #expect(rules(20, every: 2.6) == [])
    }

    @Test func `more than one maneuver is next`() {
        func rules(_ upcoming: [[UInt32]]) -> [LintID] {
            var route = RouteInformation.turns
            route.maneuvers = (1...5).map { .turn($0) }
            var sketch = LintSketch.guided(route)
            for (index, ids) in upcoming.enumerated() {
                let ids = ids.map { ManeuverID(rawValue: $0) }
                sketch.publish(.upcomingManeuvers(ids, generation: 1), at: Double(index) + 1)
            }
            return sketch.rules()
        }
        #expect(rules([[2, 3], [3, 4], [4, 5], [5]]) == [])
        #expect(rules([[2], [3, 4], [4]]) == [])
        #expect(rules([[2], [3]]) == [.upcomingSingle])
        #expect(rules([[2], [3], [4]]) == [.upcomingSingle])
        // The last has none behind it.
        #expect(rules([[4], [5]]) == [])
    }

    @Test func `a long text has a short variant`() {
        func rules(_ variants: [String]) -> [LintID] {
            var sketch = LintSketch.guided()
            var turn = Maneuver.turn(4)
            turn.instructionVariants = variants
            sketch.publish(.add(turn), at: 1)
            return sketch.rules()
        }
        #expect(rules([String(repeating: "a", count: 90)]) == [])
        #expect(rules([String(repeating: "a", count: 91)]) == [.textLong])
        #expect(rules([String(repeating: "a", count: 91), "a"]) == [])
        var sketch = LintSketch.guided()
        sketch.publish(.currentRoadName([String(repeating: "b", count: 71)]), at: 1)
        #expect(sketch.rules() == [.textLong])
    }

    @Test func `a client waits before it connects again`() {
        func rules(_ count: Int, lasting: Double = 0.1, pause: Double = 0.1, fault: Bool = false) -> [LintID]
        {
            var sketch = LintSketch()
            var second = 1.0
            for _ in 0..<count {
                sketch.connection(.admitted(resumed: false), of: LintSketch.app, at: second)
                second += lasting
                if fault { sketch.fault("cut", of: LintSketch.app, at: second) }
                sketch.connection(.ended(nil), of: LintSketch.app, at: second)
                second += pause
            }
            return sketch.rules()
        }
        #expect(rules(6) == [])
        #expect(rules(7) == [.connectFast])
        #expect(rules(20) == [.connectFast])
        #expect(rules(20, pause: 0.5) == [])
        #expect(rules(20, lasting: 2) == [])
        #expect(rules(20, fault: true) == [])
    }
}
