import Foundation
import RecordedRoutes
import Testing
import WaymarkGuidance
import WaymarkModel
import WaymarkProtocol
import WaymarkRoutes

/// A guide, its clock, and what it published when.
private struct Bench {
    var guide: GuideMachine
    var now = Instant(nanoseconds: 0)
    private(set) var published: [(instant: Instant, publication: Publication)] = []
    private(set) var ends: [GuideMachine.End] = []
    private(set) var searches = 0
    /// What a vehicle held when the drive came to the place where it stands.
    private(set) var heldWhereItStands: Held?
    /// The answer to a search.
    var way: EngineRoute?

    init(_ route: String = "vaduz-balzers", _ options: GuideMachine.Options = .init()) throws {
        try self.init(RouteAnswer.shipped(route), options)
    }

    init(_ answer: RouteAnswer, _ options: GuideMachine.Options = .init()) {
        self.guide = GuideMachine(answer.routes[0], trip: answer.trip(id: "trip"), options: options)
    }

    mutating func begin() { self.change { $0.begin(at: $1, into: &$2) } }

    /// Lets time pass, from deadline to deadline; or until the drive is over.
    mutating func pass(_ duration: Duration) {
        let end = self.now + duration
        while let deadline = self.guide.deadline, deadline <= end {
            self.now = max(self.now, deadline)
            self.change { $0.advance(to: $1, into: &$2) }
        }
        self.now = end
    }

    mutating func change(_ body: (inout GuideMachine, Instant, inout [GuideMachine.Action]) -> Void) {
        var actions: [GuideMachine.Action] = []
        body(&self.guide, self.now, &actions)
        var next = 0
        while next < actions.count {
            switch actions[next] {
            case .publish(let publication): self.published.append((self.now, publication))
            case .ended(let end): self.ends.append(end)
            case .findWay:
                self.searches += 1
                self.guide.found(self.way, at: self.now, into: &actions)
            case .stands: self.heldWhereItStands = Held(self.published)
            case .changed, .began, .rerouted, .noRoute: break
            }
            next += 1
        }
    }

    var states: [ManeuverState] {
        self.published.compactMap {
            if case .maneuverState(let state, _) = $0.publication { state } else { nil }
        }
    }
    var types: [MessageType] { self.published.map(\.publication.type) }
    var estimates: [Instant] {
        self.published.filter {
            [.updateTripEstimates, .updateManeuverEstimates, .startGuidance].contains($0.publication.type)
        }.map(\.instant)
    }
    var longestGap: Duration {
        zip(self.estimates, self.estimates.dropFirst()).map { $1 - $0 }.max() ?? .zero
    }

    /// What a vehicle holds when the first publication of a type reaches it.
    func held(at type: MessageType) -> Held? {
        self.published.firstIndex { $0.publication.type == type }.map { Held(self.published[..<$0]) }
    }

    /// What a vehicle holds at each state that says how near a maneuver is.
    var heldAtStates: [Held] {
        self.published.indices.filter {
            if case .maneuverState(let state, _) = self.published[$0].publication {
                state != .continue
            } else {
                false
            }
        }.map { Held(self.published[..<$0]) }
    }
}

/// The distances that a vehicle holds, in metres.
private struct Held: Equatable {
    private(set) var trip: UInt32?
    private var first: ManeuverID?
    private var maneuvers: [ManeuverID: UInt32] = [:]

    /// The distance to the next maneuver.
    var maneuver: UInt32? { self.first.flatMap { self.maneuvers[$0] } }

    init(_ published: some Sequence<(instant: Instant, publication: Publication)>) {
        for (_, publication) in published {
            switch publication {
            case .startGuidance(_, _, let route): self.begin(route)
            case .resumeGuidance(_, _, let route?): self.begin(route)
            case .upcomingManeuvers(let ids, _): self.first = ids.first
            case .tripEstimates(let estimates, _): self.trip = estimates.distanceRemaining.meters
            case .maneuverEstimates(let id, let estimates, _):
                self.maneuvers[id] = estimates.distanceRemaining.meters
            default: break
            }
        }
    }

    private mutating func begin(_ route: RouteInformation) {
        self.trip = route.tripTravelEstimates?.distanceRemaining.meters
        self.first = route.upcomingManeuvers.first
        self.maneuvers = [:]
        guard let first, let estimates = route.maneuverTravelEstimates else { return }
        self.maneuvers[first] = estimates.distanceRemaining.meters
    }

    /// Distances to maneuvers that are behind say nothing.
    static func == (lhs: Held, rhs: Held) -> Bool {
        lhs.trip == rhs.trip && lhs.first == rhs.first && lhs.maneuver == rhs.maneuver
    }
}

@Suite struct GuideMachineTests {
    @Test func `a drive changes its speed where it is`() throws {
        var (changed, plain) = (try Bench(), try Bench())
        changed.begin()
        plain.begin()
        changed.pass(.seconds(60))
        let before = changed.guide.meters
        changed.change { guide, _, _ in guide.setSpeed(10) }
        #expect(changed.guide.meters == before)
        changed.pass(.seconds(6))
        plain.pass(.seconds(120))
        // Six seconds at ten times the speed are a minute.
        #expect(abs(changed.guide.meters - plain.guide.meters) < 50)
        changed.change { guide, now, _ in guide.stand(at: now) }
        let standing = changed.guide.meters
        changed.pass(.seconds(60))
        #expect(changed.guide.meters == standing)
        changed.change { guide, now, _ in guide.standOver(at: now) }
        changed.pass(.seconds(1))
        #expect(changed.guide.meters > standing)
    }

    /// Passes time until the vehicle shows that a maneuver is due now, and then as long as the vehicle stands there.
    private static func standsAtManeuver() throws -> Bench {
        var bench = try Bench()
        bench.begin()
        for _ in 0..<3_600 where bench.states.last != .execute { bench.pass(.seconds(1)) }
        try #require(bench.states.last == .execute)
        bench.change { guide, now, _ in guide.stand(at: now) }
        bench.pass(.seconds(60))
        return bench
    }

    @Test func `a maneuver's state ends behind it, also if the vehicle stood before it`() throws {
        var bench = try Self.standsAtManeuver()
        let before = bench.states.count
        bench.change { guide, now, _ in guide.standOver(at: now) }
        bench.pass(.seconds(120))
        #expect(bench.states.count > before)
        #expect(bench.states[before...].first == .continue)
    }

    @Test func `a maneuver's state is published again once guidance is resumed`() throws {
        var bench = try Self.standsAtManeuver()
        let before = bench.states.count
        bench.change { guide, now, _ in
            guide.restateManeuver()
            guide.standOver(at: now)
        }
        bench.pass(.seconds(1))
        #expect(bench.states[before...].first == .execute)
    }

    @Test func `estimates are published at least every 9 s, however long the leg`() throws {
        var bench = try Bench()
        bench.begin()
        bench.pass(.seconds(3_600))
        #expect(bench.ends == [.arrived])
        #expect(bench.estimates.count > 100)
        #expect(bench.longestGap <= .milliseconds(9_050))
    }

    @Test func `a vehicle that stands still gets estimates`() throws {
        var bench = try Bench()
        bench.begin()
        bench.pass(.seconds(60))
        let meters = bench.guide.meters
        bench.guide.stand(at: bench.now)
        bench.pass(.seconds(120))
        #expect(bench.guide.meters == meters)
        bench.guide.standOver(at: bench.now)
        #expect(bench.longestGap <= .milliseconds(9_050))
        bench.pass(.seconds(1))
        #expect(bench.guide.meters > meters)
        #expect(bench.guide.meters < meters + 100)
    }

    @Test
    func
        `at a high speed estimates of one thing are as far apart as they are told, and the newest is not lost`()
        throws
    {
        var options = GuideMachine.Options()
        options.drive.speedFactor = 60
        options.estimatesNotBefore = .milliseconds(200)
        var bench = try Bench("vaduz-balzers", options)
        bench.begin()
        bench.pass(.seconds(3))
        let trips = bench.published.filter { $0.publication.type == .updateTripEstimates }.map(\.instant)
        #expect(trips.count > 10)
        #expect(zip(trips, trips.dropFirst()).allSatisfy { $1 - $0 >= .milliseconds(200) })
        bench.guide.stand(at: bench.now)
        bench.pass(.seconds(10))
        guard
            case .tripEstimates(let last, _)? = bench.published.last(where: {
                $0.publication.type == .updateTripEstimates
            })?.publication
        else {
            Issue.record("no estimates")
            return
        }
        #expect(last == bench.guide.drive.information.tripTravelEstimates)
    }

    @Test func `at any speed nothing contradicts the estimates of a route right behind it`() throws {
        for factor in [100, 200, 1_000] as [Double] {
            var options = GuideMachine.Options()
            options.drive.speedFactor = factor
            var bench = try Bench("vaduz-balzers", options)
            bench.begin()
            bench.pass(.seconds(20))
            let begin = try #require(bench.published.first)
            guard case .startGuidance(_, _, let route) = begin.publication else {
                Issue.record("\(begin.publication.type)")
                continue
            }
            for (instant, publication) in bench.published where instant - begin.instant < .milliseconds(250) {
                switch publication {
                case .tripEstimates: Issue.record("\(factor) times the speed: estimates of the trip")
                case .maneuverEstimates(let id, let estimates, _) where id == route.upcomingManeuvers.first:
                    #expect(estimates == route.maneuverTravelEstimates)
                default: break
                }
            }
            #expect(bench.types.contains(.updateTripEstimates))
        }
    }

    // MARK: What may interrupt the display

    private static let quiet: [ManeuverType] = [.noTurn, .straightAhead, .followRoad, .startRoute]

    @Test func `a maneuver may interrupt the display, with its estimates, unless the road is only followed`()
        throws
    {
        var bench = try Bench()
        var answer = try RouteAnswer.shipped("vaduz-balzers")
        bench.way = answer.routes[0]
        bench.begin()
        bench.pass(.seconds(60))
        bench.change { guide, _, _ in guide.reroute(to: answer.routes[0], .missedTurn) }
        bench.pass(.seconds(1))
        let routes = bench.published.compactMap { entry -> RouteInformation? in
            switch entry.publication {
            case .startGuidance(_, _, let route): route
            case .resumeGuidance(_, _, let route): route
            default: nil
            }
        }
        #expect(routes.count == 2)
        for route in routes {
            #expect(route.maneuvers.contains { $0.notification == .withEstimates })
            for maneuver in route.maneuvers {
                let isQuiet = Self.quiet.contains(maneuver.type)
                #expect(maneuver.notification == (isQuiet ? .never : .withEstimates), "\(maneuver.type)")
            }
        }
        // A style that an engine's reader has set is kept.
        answer.routes[0].information.maneuvers[0].notification = .once
        var other = Bench(answer)
        other.begin()
        guard case .startGuidance(_, _, let route)? = other.published.first?.publication else {
            Issue.record("no guidance")
            return
        }
        #expect(route.maneuvers[0].notification == .once)
    }

    // MARK: Speed limits

    private static func limited() throws -> RouteAnswer {
        let folder = RecordedRoutes.root.appending(path: "Tests/WaymarkRoutesTests/SpeedLimits")
        let file = folder.appending(path: "graphhopper-berlin-a100.json")
        return try RouteReader.read([UInt8](Data(contentsOf: file)))
    }

    private static func limits(_ bench: Bench) -> [(instant: Instant, limit: SpeedLimit)] {
        bench.published.compactMap {
            if case .speedLimit(let limit, _) = $0.publication { ($0.instant, limit) } else { nil }
        }
    }

    @Test func `speed limits are published right behind the route, and where they change`() throws {
        var bench = Bench(try Self.limited())
        bench.begin()
        bench.pass(.seconds(600))
        #expect(bench.ends == [.arrived])
        let limits = Self.limits(bench)
        var values: [UInt32?] = []
        for (_, limit) in limits where values.last != .some(limit.value) { values.append(limit.value) }
        #expect(values == [80, 60, nil, 50])
        #expect(limits.first?.instant == bench.published.first?.instant)
        #expect(bench.longestGap <= .milliseconds(9_050), "they do not count as estimates")
    }

    @Test func `at any speed speed limits are as far apart as estimates, and the newest is not lost`() throws
    {
        for factor in [10, 60, 400] as [Double] {
            var options = GuideMachine.Options()
            options.drive.speedFactor = factor
            var bench = Bench(try Self.limited(), options)
            bench.begin()
            bench.pass(.seconds(60))
            let limits = Self.limits(bench)
            let times = limits.map(\.instant)
            // The last one is published earlier, before guidance pauses at the destination.
            #expect(
                zip(times, times.dropFirst()).dropLast().allSatisfy { $1 - $0 >= options.estimatesNotBefore })
            #expect(limits.last?.limit.value == 50, "\(factor)")
        }
    }

    // MARK: Estimates that wait

    private static let factors: [Double] = [100, 200, 400, 1_000, 2_000, 10_000]

    /// Times on the way, one step apart: at most one of them is right behind estimates of the trip.
    private static let times: [Duration] = [
        .milliseconds(600), .milliseconds(650), .milliseconds(700), .milliseconds(750), .milliseconds(800),
    ]

    /// A drive at `factor` times its speed, and the same one with all estimates at once: what a vehicle should hold.
    private static func drives(
        _ factor: Double, _ route: String = "vaduz-balzers", _ options: GuideMachine.Options = .init(),
        _ drive: (inout Bench) -> Void
    ) throws -> (paced: Bench, whole: Bench) {
        var options = options
        options.drive.speedFactor = factor
        var paced = try Bench(route, options)
        options.estimatesNotBefore = .zero
        var whole = try Bench(route, options)
        paced.begin()
        drive(&paced)
        whole.begin()
        drive(&whole)
        return (paced, whole)
    }

    @Test func `at the end of a drive a vehicle holds the last estimates, however fast it is`() throws {
        for route in ["heidelberg-lanes", "singapore-left-hand", "vaduz-balzers"] {
            for factor in Self.factors {
                let (paced, whole) = try Self.drives(factor, route) { $0.pass(.seconds(60)) }
                #expect(paced.ends == [.arrived])
                #expect(paced.published.count < whole.published.count)
                #expect(paced.types.suffix(2) == [.pauseGuidance, .finishGuidance])
                #expect(Held(paced.published).trip == 0)
                #expect(Held(paced.published) == Held(whole.published), "\(route), \(factor)")
            }
        }
    }

    @Test func `at a stop on the way a vehicle holds the estimates from there`() throws {
        for factor in Self.factors {
            let (paced, whole) = try Self.drives(factor, "vaduz-balzers-charging") { $0.pass(.seconds(60)) }
            let held = try #require(paced.held(at: .pauseGuidance))
            #expect(held == whole.held(at: .pauseGuidance), "\(factor)")
            #expect(try #require(held.trip) > 0)
        }
    }

    @Test func `while another route is computed a vehicle holds the estimates of the place where it is`()
        throws
    {
        for time in Self.times {
            let (paced, whole) = try Self.drives(200) { bench in
                bench.pass(time)
                let route = bench.guide.drive.route
                bench.guide.reroute(to: route, .mandated)
                bench.pass(.milliseconds(50))
            }
            let held = try #require(paced.held(at: .pauseGuidance))
            #expect(held == whole.held(at: .pauseGuidance), "\(time)")
        }
        for leavesAt in [500, 1_000, 1_500, 2_000] as [Double] {
            var options = GuideMachine.Options()
            options.drive.leavesRouteAtMeters = leavesAt
            let (paced, whole) = try Self.drives(200, "vaduz-balzers", options) { $0.pass(.seconds(60)) }
            #expect(paced.ends == [.lost])
            #expect(paced.types.suffix(2) == [.pauseGuidance, .cancelGuidance])
            #expect(Held(paced.published) == Held(whole.published), "\(leavesAt)")
        }
    }

    @Test func `when a drive is cancelled a vehicle holds the last estimates`() throws {
        for time in Self.times {
            let (paced, whole) = try Self.drives(200) { bench in
                bench.pass(time)
                bench.guide.cancel()
                bench.pass(.seconds(1))
            }
            #expect(paced.ends == [.cancelled])
            #expect(paced.types.last == .cancelGuidance)
            #expect(Held(paced.published) == Held(whole.published), "\(time)")
        }
    }

    @Test func `once the session is over, estimates that wait are not published`() throws {
        for time in Self.times {
            var count = 0
            let (paced, _) = try Self.drives(200) { bench in
                bench.pass(time)
                bench.guide.stop()
                count += bench.published.count
                bench.pass(.seconds(1))
                bench.change { $0.flushEstimates(at: $1, into: &$2) }
                count -= bench.published.count
            }
            #expect(paced.ends == [.stopped])
            #expect(count == 0)
        }
    }

    @Test func `where a vehicle stands it holds the estimates of that place`() throws {
        for part in [0.3, 0.4, 0.5, 0.6] {
            var options = GuideMachine.Options()
            options.standsAt = part
            let (paced, whole) = try Self.drives(200, "vaduz-balzers", options) { $0.pass(.seconds(5)) }
            let held = try #require(paced.heldWhereItStands)
            #expect(held == whole.heldWhereItStands, "\(part)")
        }
        for time in Self.times {
            let (paced, whole) = try Self.drives(200) { bench in
                bench.pass(time)
                bench.guide.stand(at: bench.now)
                bench.pass(.milliseconds(250))
            }
            #expect(Held(paced.published) == Held(whole.published), "\(time)")
        }
    }

    @Test func `a driver that pauses guidance itself flushes the estimates that wait, once`() throws {
        for time in Self.times {
            var count = 0
            let (paced, whole) = try Self.drives(200) { bench in
                bench.pass(time)
                bench.guide.stand(at: bench.now)
                bench.change { $0.flushEstimates(at: $1, into: &$2) }
                count += bench.published.count
                bench.change { $0.flushEstimates(at: $1, into: &$2) }
                count -= bench.published.count
            }
            #expect(Held(paced.published) == Held(whole.published), "\(time)")
            #expect(count == 0)
        }
    }

    @Test func `the state of a maneuver comes behind the estimates that it belongs to`() throws {
        for route in ["heidelberg-lanes", "singapore-left-hand", "vaduz-balzers"] {
            for factor in Self.factors {
                let (paced, whole) = try Self.drives(factor, route) { $0.pass(.seconds(60)) }
                let (held, expected) = (paced.heldAtStates, whole.heldAtStates)
                #expect(held.map(\.maneuver) == expected.map(\.maneuver), "\(route), \(factor)")
                #expect(!held.isEmpty)
            }
        }
    }

    // MARK: How drives end

    @Test func `a drive ends with a pause and the end of guidance, once`() throws {
        var options = GuideMachine.Options()
        options.drive.speedFactor = 100
        var bench = try Bench("heidelberg-lanes", options)
        bench.begin()
        bench.pass(.seconds(600))
        #expect(bench.ends == [.arrived])
        #expect(bench.types.suffix(2) == [.pauseGuidance, .finishGuidance])
        #expect(bench.types.first == .startGuidance)
        #expect(bench.guide.deadline == nil)
    }

    @Test func `at the destination it waits for an open request, at most 90 s`() throws {
        var options = GuideMachine.Options()
        options.drive.speedFactor = 100
        for isAnswered in [true, false] {
            var bench = try Bench("heidelberg-lanes", options)
            bench.begin()
            bench.guide.inquiryBegan("car")
            bench.pass(.seconds(60))
            #expect(bench.ends.isEmpty)
            if isAnswered { bench.guide.inquiryEnded("car", isAccepted: false) }
            bench.pass(.seconds(1))
            #expect(bench.ends == (isAnswered ? [.arrived] : []))
            bench.pass(.seconds(90))
            #expect(bench.ends == [.arrived])
        }
    }

    @Test func `a detour that a vehicle agreed to is driven with a new trip, and the odometer runs on`()
        throws
    {
        var bench = try Bench()
        bench.begin()
        bench.pass(.seconds(60))
        let meters = bench.guide.meters
        let charging = try RouteAnswer.shipped("vaduz-balzers-charging").routes[0]
        bench.guide.inquiryBegan("car")
        bench.guide.accept(.init(route: charging), for: "car")
        bench.pass(.milliseconds(50))
        let tail = bench.types.suffix(12)
        #expect(tail.contains(.pauseGuidance) && tail.contains(.updateTrip) && tail.contains(.resumeGuidance))
        #expect(bench.guide.reroutes == 1)
        #expect(bench.guide.trip.waypoints == Array(charging.waypoints.dropFirst().dropLast()))
        #expect(bench.guide.meters >= meters)
        bench.pass(.seconds(7_200))
        #expect(bench.ends == [.arrived])
        #expect(bench.guide.meters > meters + 1_000)
    }

    @Test func `a stop for which there is no route is refused with an alert, and the drive continues`() throws
    {
        var bench = try Bench()
        bench.begin()
        bench.pass(.seconds(60))
        let stop = Waypoint(center: Coordinate(latitude: 47.1, longitude: 9.5))
        bench.guide.accept(.init(stop: stop, route: bench.guide.drive.route), for: "car")
        bench.pass(.milliseconds(100))
        #expect(bench.searches == 1)
        #expect(bench.guide.reroutes == 0)
        #expect(bench.types.contains(.showAlert))
        #expect(bench.types.last(where: { $0 == .pauseGuidance || $0 == .resumeGuidance }) == .resumeGuidance)
        bench.pass(.seconds(3_600))
        #expect(bench.ends == [.arrived])
    }

    @Test func `a vehicle that is led back to its old route has only the stops ahead in its trip`() throws {
        let route = try RouteAnswer.shipped("vaduz-balzers-charging").routes[0]
        let stop = route.measure.meters[route.segmentIndices[1]]
        for (leavesAt, stops) in [(stop / 2, 1), (stop + 500, 0)] {
            var options = GuideMachine.Options()
            options.drive.leavesRouteAtMeters = leavesAt
            var bench = try Bench("vaduz-balzers-charging", options)
            bench.way = route
            bench.begin()
            while bench.guide.reroutes == 0, bench.ends.isEmpty { bench.pass(.seconds(10)) }
            #expect(bench.guide.reroutes == 1 && bench.guide.trip.waypoints.count == stops)
            bench.pass(.seconds(7_200))
            #expect(bench.ends == [.arrived])
        }
    }

    @Test func `a vehicle that leaves the route is led back, or the drive is lost`() throws {
        for hasWay in [true, false] {
            var options = GuideMachine.Options()
            options.drive.leavesRouteAtMeters = 500
            options.drive.speedFactor = 10
            var bench = try Bench("vaduz-balzers", options)
            if hasWay { bench.way = bench.guide.drive.route }
            bench.begin()
            bench.pass(.seconds(1_200))
            #expect(bench.searches == 1)
            #expect(bench.ends == [hasWay ? .arrived : .lost])
            #expect(bench.types.last == (hasWay ? .finishGuidance : .cancelGuidance))
        }
    }

    @Test func `another route that was ordered is driven from the next step on`() throws {
        var bench = try Bench()
        bench.begin()
        bench.pass(.seconds(30))
        bench.guide.reroute(to: bench.guide.drive.route, .mandated)
        let meters = bench.guide.drive.meters
        bench.pass(.milliseconds(50))
        let resumed = bench.published.last { $0.publication.type == .resumeGuidance }
        guard case .resumeGuidance(_, .mandated, .some)? = resumed?.publication else {
            Issue.record("\(bench.types)")
            return
        }
        // What was driven of the same line is not driven again.
        #expect(bench.guide.drive.meters >= meters)
    }

    @Test func `a drive that is cancelled says so, one whose session is over is silent`() throws {
        for isCancelled in [true, false] {
            var bench = try Bench()
            bench.begin()
            bench.pass(.seconds(10))
            let count = bench.published.count
            if isCancelled { bench.guide.cancel() } else { bench.guide.stop() }
            bench.pass(.seconds(60))
            #expect(bench.types.dropFirst(count) == (isCancelled ? [.cancelGuidance] : []))
            #expect(bench.ends == [isCancelled ? .cancelled : .stopped])
            #expect(bench.guide.deadline == nil)
        }
    }
}
