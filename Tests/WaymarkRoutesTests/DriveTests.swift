import Testing
import WaymarkModel
import WaymarkProtocol
import WaymarkRoutes

/// The state of a receiver of a drive, with a check for combinations that must not occur.
struct ReceiverState {
    private let route: EngineRoute
    private let measure: LineMeasure
    private let segmentOfManeuver: [ManeuverID: String]
    private var segment: String?
    private var first: ManeuverID?
    private var state = ManeuverState.continue
    private var isPaused = false

    init(_ route: EngineRoute) {
        self.route = route
        self.measure = LineMeasure(line: route.line, speeds: route.lineSpeeds)
        let pairs = route.information.segments.flatMap { segment in
            segment.maneuvers.map { ($0, segment.id) }
        }
        self.segmentOfManeuver = Dictionary(pairs) { first, _ in first }
        self.segment = route.information.currentSegment
        self.first = route.information.upcomingManeuvers.first
    }

    mutating func apply(_ change: DriveChange) {
        switch change {
        case .currentSegment(let id): self.segment = id
        case .upcomingManeuvers(let ids): self.first = ids.first
        case .maneuverState(let state): self.state = state
        case .arrivedAtWaypoint: (self.isPaused, self.state) = (true, .continue)
        case .leavingWaypoint: self.isPaused = false
        case .position, .offRoute, .currentLaneGuidance, .roadName, .speedLimit, .tripEstimates,
            .maneuverEstimates, .finished:
            break
        }
    }

    /// The error in this state for a vehicle that has driven `meters`; nil if there is none.
    func mistake(at meters: Double) -> String? {
        guard let first else { return nil }
        let position = self.measure.meters[self.route.maneuverIndices[Int(first.rawValue) - 1]]
        let farthest: Double =
            switch self.state {
            case .execute: 100
            case .prepare: 800
            case .initial: 3_000
            case .continue, .unrecognized: .infinity
            }
        if position - meters > farthest {
            return "\(self.state) for a maneuver that is \(Int(position - meters)) m away"
        }
        let segment = self.segmentOfManeuver[first]
        if !self.isPaused, let segment, segment != self.segment {
            return "a maneuver of \(segment) is first on \(self.segment ?? "no segment")"
        }
        return nil
    }
}

@Suite struct DriveTests {
    /// Drives to the end, or to `limit` steps of `step`.
    static func run(
        _ route: EngineRoute, _ options: DriveOptions = DriveOptions(), step: Duration, limit: Int = 200_000,
        each: (Drive, [DriveChange]) -> Void = { _, _ in }
    ) -> (drive: Drive, changes: [DriveChange]) {
        var drive = Drive(route: route, options: options)
        var all: [DriveChange] = []
        for count in 0...limit where drive.state != .finished {
            var changes: [DriveChange] = []
            drive.advance(to: step * count, into: &changes)
            each(drive, changes)
            all += changes
        }
        return (drive, all)
    }

    private static func route(_ name: String) throws -> EngineRoute {
        try #require(RouteFile.shipped.first { $0.name == name }).answer().routes[0]
    }

    @Test(arguments: RouteFile.readable)
    func `a drive advances in order with falling estimates and arrives`(_ file: RouteFile) throws {
        for route in try file.answer().routes {
            var options = DriveOptions()
            // Why: long routes in as many steps as short ones.
            options.speedFactor = max(
                1, LineMeasure(line: route.line, speeds: route.lineSpeeds).duration / 300)
            try Self.checkDrive(route, options)
        }
    }

    private static func checkDrive(_ route: EngineRoute, _ options: DriveOptions) throws {
        var state: ManeuverState?
        var first: ManeuverID?
        var remaining = UInt32.max
        var segments: [String] = []
        var arrivals: [Int] = []
        let (drive, changes) = Self.run(route, options, step: .seconds(1)) { _, changes in
            for change in changes {
                switch change {
                case .upcomingManeuvers(let maneuvers):
                    #expect(first.map { $0 < maneuvers[0] } ?? true, "maneuvers go forward")
                    first = maneuvers[0]
                    state = nil
                case .maneuverState(let next):
                    let isOver = state == .execute && next == .continue
                    #expect(
                        isOver || (state.map { $0.rawValue < next.rawValue } ?? true), "states go forward")
                    state = next
                case .tripEstimates(let estimates, _):
                    #expect(estimates.distanceRemaining.meters <= remaining)
                    #expect(estimates.distanceRemainingToDisplay != nil)
                    remaining = estimates.distanceRemaining.meters
                case .maneuverEstimates(let maneuver, let estimates):
                    #expect(
                        maneuver >= first ?? maneuver, "of the first one, or of the one that is about to be")
                    #expect(estimates.distanceRemaining.meters <= remaining)
                case .currentSegment(let segment): segments.append(segment)
                case .arrivedAtWaypoint(let index):
                    arrivals.append(index)
                    state = nil
                case .leavingWaypoint(let index): #expect(index == arrivals.last)
                case .currentLaneGuidance(let lanes):
                    #expect(
                        lanes.map { id in route.information.laneGuidances.contains { $0.id == id } } ?? true)
                case .position(let place, _): #expect(place.isOnEarth)
                case .offRoute: Issue.record("off the route")
                case .roadName, .speedLimit, .finished: break
                }
            }
        }
        #expect(drive.state == .finished)
        #expect(changes.last == .finished)
        #expect(changes.count { $0 == .finished } == 1)
        #expect(remaining == 0)
        #expect(arrivals == Array(1..<max(1, route.waypoints.count - 1)))
        #expect(segments.last == route.information.segments.last?.id)
        #expect(first == route.information.maneuvers.last?.id)
        #expect(drive.position == route.line.last)
        #expect(drive.waypointsAhead.last == route.waypoints.last)
    }

    @Test func `a drive takes as long as the engine says`() throws {
        for file in RouteFile.shipped {
            let route = try file.answer().routes[0]
            var drive = Drive(route: route)
            var changes: [DriveChange] = []
            let seconds = route.duration.components.seconds
            drive.advance(to: .seconds(seconds - 3), into: &changes)
            #expect(drive.state == .driving, "\(file.name)")
            drive.advance(to: .seconds(seconds + 3), into: &changes)
            #expect(drive.state == .finished, "\(file.name)")
        }
    }

    @Test func `the same times give the same drive`() throws {
        let route = try Self.route("vaduz-balzers-charging.json")
        #expect(
            Self.run(route, step: .milliseconds(700)).changes
                == Self.run(route, step: .milliseconds(700)).changes)
    }

    @Test(arguments: [Duration.milliseconds(100), .seconds(1), .seconds(7), .seconds(90), .seconds(100_000)])
    func `a drive in steps of any length ends at the same position with all arrivals`(_ step: Duration) throws
    {
        let route = try Self.route("vaduz-balzers-charging.json")
        let (drive, changes) = Self.run(route, step: step)
        #expect(drive.position == route.line.last)
        #expect(changes.count { $0 == .arrivedAtWaypoint(1) } == 1)
        #expect(changes.last == .finished)
    }

    @Test func `a drive at double speed covers the same distance in half the time`() throws {
        let route = try Self.route("vaduz-balzers.json")
        var fast = DriveOptions()
        fast.speedFactor = 2
        var (slowly, quickly) = (Drive(route: route), Drive(route: route, options: fast))
        var changes: [DriveChange] = []
        for second in 0...200 {
            slowly.advance(to: .seconds(2 * second), into: &changes)
            quickly.advance(to: .seconds(second), into: &changes)
            #expect(slowly.position == quickly.position)
        }
    }

    @Test func `the first step has the whole state and later steps only changes`() throws {
        var drive = Drive(route: try Self.route("vaduz-balzers.json"))
        var changes: [DriveChange] = []
        drive.advance(to: .zero, into: &changes)
        #expect(
            changes == [
                .position(drive.route.line[0], bearing: drive.route.line[0].bearing(to: drive.route.line[1])),
                .maneuverEstimates(
                    ManeuverID(rawValue: 1),
                    TravelEstimates(
                        distanceRemaining: .meters(0), timeRemaining: .zero,
                        distanceRemainingToDisplay: DisplayDistance(valueTenths: 0, unit: .meters))),
                .upcomingManeuvers([1, 2, 3].map { ManeuverID(rawValue: $0) }), .currentSegment("leg-1"),
                .currentLaneGuidance(nil),
                .roadName(["Städtle"]), .maneuverState(.execute),
                .tripEstimates(
                    TravelEstimates(
                        distanceRemaining: .meters(8_993), timeRemaining: .seconds(558),
                        distanceRemainingToDisplay: DisplayDistance(valueTenths: 90, unit: .kilometers)),
                    .default),
            ])
        changes = []
        drive.advance(to: .zero, into: &changes)
        #expect(changes == [])
        drive.advance(to: .seconds(1), into: &changes)
        drive.advance(to: .milliseconds(500), into: &changes)
        #expect(changes.contains(.upcomingManeuvers([2, 3, 4].map { ManeuverID(rawValue: $0) })))
        #expect(!changes.contains(.currentSegment("leg-1")))
    }

    @Test func `estimates are repeated only if their display changes`() throws {
        let (_, changes) = Self.run(try Self.route("vaduz-balzers.json"), step: .milliseconds(100))
        let shown = changes.compactMap { change -> [String]? in
            guard case .tripEstimates(let estimates, _) = change else { return nil }
            let seconds = estimates.timeRemaining?.components.seconds ?? 0
            return [
                "\(estimates.distanceRemaining == .meters(0)) \(estimates.distanceRemainingToDisplay as Any)",
                "\(seconds < 120 ? seconds / 10 : seconds / 60)",
            ]
        }
        #expect(shown.count < 250, "far fewer than the 5 580 steps")
        #expect(zip(shown, shown.dropFirst()).allSatisfy { $0 != $1 })
    }

    @Test func `the thresholds decide the state`() {
        let near = ManeuverStateThresholds()
        let ordinary = near.distances(isMotorway: false, speed: 13)
        let cases: [(Double, ManeuverState)] = [
            (1_001, .continue), (1_000, .initial), (201, .initial), (200, .prepare), (36, .prepare),
            (35, .execute),
            (0, .execute),
        ]
        for (meters, state) in cases { #expect(ordinary.state(at: meters) == state) }
        #expect(near.distances(isMotorway: true, speed: 13).state(at: 2_500) == .initial)
        #expect(near.distances(isMotorway: false, speed: 25).state(at: 700) == .prepare)
    }

    @Test func `a distant maneuver goes through all four states`() throws {
        var states: [ManeuverID: [ManeuverState]] = [:]
        var first: ManeuverID?
        for change in Self.run(try Self.route("vaduz-balzers.json"), step: .milliseconds(200)).changes {
            if case .upcomingManeuvers(let maneuvers) = change { first = maneuvers.first }
            if case .maneuverState(let state) = change, let first { states[first, default: []].append(state) }
        }
        // The last `continue` says that the maneuver is over; the first one is what receivers hold then.
        #expect(states.values.contains([.initial, .prepare, .execute, .continue]))
        #expect(
            states[ManeuverID(rawValue: 3)] == [.prepare, .execute, .continue],
            "a roundabout is left soon after its entry")
    }

    @Test func `lanes are shown near their maneuver only`() throws {
        let route = try Self.route("heidelberg-lanes.json")
        var shown: [LaneGuidanceID?] = []
        let measure = LineMeasure(line: route.line, speeds: route.lineSpeeds)
        _ = Self.run(route, step: .milliseconds(200)) { drive, changes in
            for case .currentLaneGuidance(let lanes) in changes {
                shown.append(lanes)
                guard let lanes else { continue }
                let place = measure.meters[route.laneGuidanceIndices[Int(lanes.rawValue) - 1]]
                #expect(place - drive.meters <= 400 && place >= drive.meters)
            }
        }
        #expect(shown.compactMap(\.?.rawValue) == [1, 2, 3, 4])
        #expect(shown.contains(nil))
    }

    @Test func `leaving the route asks for a new one, and only positions follow`() throws {
        let route = try Self.route("vaduz-balzers.json")
        var options = DriveOptions()
        options.leavesRouteAtMeters = 3_000
        let (drive, changes) = Self.run(route, options, step: .seconds(1), limit: 400)
        let left = try #require(
            changes.firstIndex {
                guard case .offRoute = $0 else { return false }
                return true
            })
        guard case .offRoute(let place) = changes[left] else { return }
        let measure = LineMeasure(line: route.line, speeds: route.lineSpeeds)
        let nearest = measure.point(at: measure.nearest(to: place, on: route.line), on: route.line)
        #expect(place.meters(to: nearest) > options.offRouteMeters)
        #expect(drive.state == .offRoute && drive.meters == 3_000)
        for change in changes[(left + 1)...] {
            guard case .position = change else {
                Issue.record("\(change) after leaving")
                continue
            }
        }
    }

    @Test func `a drive continues along another route from its position`() throws {
        let (direct, stopping) = (
            try Self.route("vaduz-balzers.json"), try Self.route("vaduz-balzers-charging.json")
        )
        var drive = Drive(route: direct)
        var changes: [DriveChange] = []
        drive.advance(to: .seconds(120), into: &changes)
        let there = drive.position
        let continued = Drive(route: stopping, from: there)
        #expect(continued.position.meters(to: there) < 5)
        #expect(continued.waypointsAhead == Array(stopping.waypoints.dropFirst()))
        let information = continued.information
        #expect(information.currentSegment == "leg-1")
        #expect(try #require(information.upcomingManeuvers.first).rawValue > 1)
        #expect(try #require(information.tripTravelEstimates).distanceRemaining < stopping.distance)
        #expect(information.maneuvers == stopping.information.maneuvers)
    }

    @Test func `a drive never begins after a stop of its route`() throws {
        // There and back: the way back is as near to the vehicle as the way there.
        let there = (0...100).map { Coordinate(latitude: 47 + Double($0) / 1_000, longitude: 9) }
        var route = try RouteReader.read(
            Sketch.osrm([[Sketch.Step(type: "depart"), Sketch.Step(type: "arrive")]])
        ).routes[0]
        let back = there.reversed().dropFirst().map { $0.moved(meters: 8, bearing: 90) }
        route.line = there + back
        route.lineSpeeds = Array(repeating: 10, count: route.line.count - 1)
        let stop = Waypoint(center: there[100])
        route.waypoints = [Waypoint(center: there[0]), stop, Waypoint(center: there[0])]
        route.information.segments = [
            RouteSegment(
                id: "leg-1", origin: route.waypoints[0], destination: stop,
                maneuvers: [ManeuverID(rawValue: 1)]),
            RouteSegment(
                id: "leg-2", origin: stop, destination: route.waypoints[2],
                maneuvers: [ManeuverID(rawValue: 2)]),
        ]
        route.segmentIndices = [0, 100]
        route.maneuverIndices = [100, 200]
        // Nearer to the way back, and beyond what the route thinks was driven.
        let place = there[30].moved(meters: 7, bearing: 90)
        let drive = Drive(route: route, from: place)
        #expect(drive.waypointsAhead.first == stop)
        #expect(drive.position.meters(to: there[30]) < 10)
        // The route of an old answer, which turns back where the vehicle was, passes the vehicle behind the stop only.
        let late = Drive(route: route, from: there[100].moved(meters: 500, bearing: 0))
        #expect(late.waypointsAhead.first == stop)
        // Back on the route that was left, what was driven is not driven again.
        let again = Drive(route: route, from: place, after: drive.measure.length - 4_000)
        #expect(again.waypointsAhead == [route.waypoints[2]])
    }

    @Test(arguments: RouteFile.readable)
    func `a receiver never has a state that the drive did not have`(_ file: RouteFile) throws {
        for route in try file.answer().routes {
            let length = LineMeasure(line: route.line, speeds: route.lineSpeeds).duration
            for (steps, seed) in [(300.0, UInt64(1)), (40, 2), (7, 3)] {
                var options = DriveOptions()
                options.speedFactor = max(1, length / steps)
                var receiver = ReceiverState(route)
                var generator = SeededRandom(seed: seed)
                var drive = Drive(route: route, options: options)
                var elapsed = Duration.zero
                for _ in 0..<2_000 where drive.state != .finished {
                    var changes: [DriveChange] = []
                    drive.advance(to: elapsed, into: &changes)
                    for change in changes {
                        receiver.apply(change)
                        if let mistake = receiver.mistake(at: drive.meters) {
                            Issue.record("\(mistake) after \(change) at \(drive.meters) m of \(file.name)")
                            return
                        }
                    }
                    elapsed += .milliseconds(Int.random(in: 50...2_000, using: &generator))
                }
                #expect(drive.state == .finished)
            }
        }
    }

    @Test func `a drive begins at the given position`() throws {
        let route = try Self.route("vaduz-balzers-charging.json")
        let drive = Drive(route: route, atMeters: 3_000)
        #expect(drive.meters == 3_000)
        #expect(drive.information.currentSegment == "leg-1")
        #expect(Drive(route: route, atMeters: 1e9).position == route.line.last)
    }

    @Test func `a route without length is finished at once`() throws {
        guard let file = RouteFile.named("odd/osrm-zero-length.json") else { return }
        let route = try file.answer().routes[0]
        #expect(route.line.count == 1)
        var drive = Drive(route: route)
        var changes: [DriveChange] = []
        drive.advance(to: .zero, into: &changes)
        #expect(drive.state == .finished && changes.last == .finished)
        #expect(changes.contains(.position(route.line[0], bearing: nil)))
        drive.advance(to: .seconds(5), into: &changes)
        #expect(changes.last == .finished && changes.count { $0 == .finished } == 1)
    }
}
