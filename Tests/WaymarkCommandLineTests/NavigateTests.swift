import ArgumentParser
import Testing
import WaymarkModel
import WaymarkProtocol
import WaymarkRoutes

@testable import WaymarkClient
@testable import WaymarkCommandLine

@Suite struct NavigateTests {
    private static func joined(_ vehicle: String, isReady: Bool = true) -> SessionEvent {
        .vehicleChanged(
            vehicle: vehicle, standing: .joined,
            endpoints: [.init(name: "cluster", isReady: isReady, locale: "", withheld: [:])])
    }

    private static func changed(_ vehicle: String, _ standing: SessionEvent.Standing) -> SessionEvent {
        .vehicleChanged(vehicle: vehicle, standing: standing, endpoints: [])
    }

    private static func outcome(
        _ vehicles: SessionVehicles, _ events: [SessionEvent], _ end: Guide.End = .arrived
    ) -> DriveOutcome {
        var roster = VehicleRoster(vehicles)
        for event in events { roster.apply(event) }
        return roster.outcome(of: end)
    }

    @Test func `the line of an alert's answer says how it was dismissed, or which action was chosen`() {
        let dismissed = SessionEvent.alertResponse(vehicle: "car", alert: 3, .dismissed(.timeout))
        #expect(dismissed.line == "car: alert 3 dismissed: timeout")
        let chosen = SessionEvent.alertResponse(vehicle: "car", alert: 3, .action(2))
        #expect(chosen.line == "car: alert 3 action 2")
    }

    @Test func `a drive has arrived only if its vehicles have`() {
        let car = SessionVehicles.vehicles(["car"])
        let finished = SessionEvent.ended(reason: .finished)
        #expect(Self.outcome(car, [Self.joined("car"), finished]) == .arrived)
        #expect(
            Self.outcome(car, [Self.joined("car"), Self.changed("car", .left(.finished)), finished])
                == .arrived)
        #expect(Self.outcome(car, [Self.changed("car", .awaited), finished]).status == 4)
        #expect(Self.outcome(.anyThatAsked, [finished]).status == 4)
        #expect(Self.outcome(.anyThatAsked, [Self.joined("bus"), finished]) == .arrived)
        #expect(
            Self.outcome(
                .vehicles(["car", "bus"]),
                [Self.joined("car"), Self.changed("bus", .left(.userStopped)), finished]
            ).status == 2)
    }

    @Test func `an arrival that the gateway has not confirmed is a failure`() {
        let outcome = Self.outcome(.vehicles(["car"]), [Self.joined("car")])
        #expect(outcome.status == 1)
        #expect("\(outcome)" == "arrival not confirmed: the gateway did not answer")
    }

    @Test func `an arrival without a named vehicle says why it was not there`() {
        let reasons: [(SessionEvent?, Int32, String)] = [
            (nil, 4, "arrived without car, which never connected"),
            (Self.changed("car", .awaited), 4, "arrived without car, which never connected"),
            (
                Self.changed("car", .refusedAsNavigatingItself), 1,
                "arrived without car, which refused: it navigates by itself"
            ),
            (
                Self.changed("car", .left(.vehicleGone)), 4,
                "arrived without car, which left: the vehicle was away for too long"
            ),
            (
                Self.changed("car", .left(.userStopped)), 2,
                "arrived without car, which left: the vehicle's user stopped guidance"
            ),
        ]
        for (event, status, sentence) in reasons {
            let outcome = Self.outcome(
                .vehicles(["car", "bus"]),
                [event, Self.joined("bus"), .ended(reason: .finished)].compactMap(\.self))
            #expect(outcome.status == status)
            #expect("\(outcome)" == sentence)
        }
        #expect("\(Self.outcome(.anyThatAsked, [.ended(reason: .finished)]))" == "no vehicle connected")
    }

    @Test func `outcomes of requests and reasons of new routes are told in words`() throws {
        #expect(
            SessionEvent.waypointResult(vehicle: "car", RequestEnding(.declinedByUser)).line
                == "car: waypoint request: declined by the user")
        let withdrawn = RequestEnding(.withdrawn, cause: .withdrawn, client: "app", endpoint: "hud")
        #expect(
            SessionEvent.startTripResult(vehicle: "car", withdrawn).line
                == "car: request to start a trip: withdrawn by hud")
        #expect(
            SessionEvent.shareResult(vehicle: "car", shareID: "trip-1", .timedOut).line
                == "car: destination trip-1: nobody answered in time")
        let route = try readAnswer(Resources.route("vaduz-balzers"), name: "route").routes[0]
        let trip = Trip(id: "t", origin: route.waypoints[0], destination: route.waypoints[1])
        var report = DriveReport()
        func line(_ reason: RerouteReason) -> String? {
            report.lines(rerouted: route.information, trip, reason).first
        }
        #expect(line(.waypointModified)?.hasPrefix("new route: ") == true)
        #expect(line(.missedTurn)?.hasPrefix("new route after a missed turn: ") == true)
    }

    @Test func `each end of a drive has its exit status`() {
        let car = SessionVehicles.vehicles(["car"])
        let ends: [(EndReason, Int32)] = [
            (.finished, 0), (.userStopped, 2), (.ownNavigationStarted, 2), (.replaced, 3), (.vehicleGone, 4),
            (.unrecognized, 1), (.endedWhileAway, 1), (.connectionClosed(.closed), 1),
        ]
        for (reason, status) in ends {
            #expect(
                Self.outcome(car, [Self.joined("car"), .ended(reason: reason)], .stopped).status == status)
        }
        #expect(Self.outcome(car, [Self.joined("car")], .lost).status == 5)
        #expect(Self.outcome(car, [Self.joined("car"), .ended(reason: .userStopped)]).status == 2)
    }

    @Test func `guidance waits for all named vehicles that may still come`() {
        var roster = VehicleRoster(.vehicles(["car", "bus", "van"]))
        #expect(roster.missing(.ready) == ["car", "bus", "van"])
        roster.apply(Self.joined("car", isReady: false))
        roster.apply(Self.changed("bus", .refusedAsBusy))
        roster.apply(Self.changed("van", .awaited))
        #expect(roster.missing(.ready) == ["car", "van"])
        #expect(roster.missing(.connected) == ["van"])
        #expect(!roster.isComplete(.connected) && roster.hasOne(.connected) && !roster.hasOne(.ready))
        roster.apply(Self.joined("car"))
        roster.apply(Self.joined("van"))
        #expect(roster.isComplete(.ready))
        #expect(!VehicleRoster(.anyThatAsked).isComplete(.ready))
    }

    @Test func `a drive is told as maneuvers, stops and what is left`() throws {
        let route = try readAnswer(Resources.route("vaduz-balzers-charging"), name: "route").routes[0]
        var drive = Drive(route: route)
        var report = DriveReport()
        var lines: [String] = []
        var seconds = 0
        while drive.state != .finished {
            var changes: [DriveChange] = []
            drive.advance(to: .seconds(seconds), into: &changes)
            for change in changes { lines += report.lines(change, route, at: .seconds(seconds)) }
            seconds += 1
        }
        #expect(lines.count { $0.contains("reached stop 1 of 1") } == 1)
        for maneuver in route.information.maneuvers {
            let instruction = try #require(maneuver.instructionVariants.first)
            #expect(lines.contains { $0.contains(": \(instruction)") }, "\(instruction)")
        }
        #expect(
            lines.contains { $0.hasPrefix("in 1") && $0.contains("km to go") || $0.contains("min to go") })
        #expect(lines.count < 150, "\(lines.count) lines")
    }

    @Test func `notices are summed up, but points that were moved are told`() {
        let notices =
            (1...15).map { RouteNotice(path: "routes[0]", reason: "member \($0) has no place") }
            + [RouteNotice(path: "routes[0].weight", reason: "not carried over, 3 times")]
        let moved = RouteNotice(
            path: "waypoints[1]", reason: "the engine moved this point by 300 m to the nearest road",
            isMovedPoint: true)
        let lines = DriveReport.notices(notices + [moved])
        #expect(lines.count == 2)
        #expect(lines[0].contains("300 m"))
        #expect(lines[1].contains("15 things") && lines[1].hasSuffix("; --notices lists them"))
        #expect(DriveReport.notices([]).isEmpty)
        // What has no place in a drive is no news for a driver.
        let shipped = try? readAnswer(Resources.route("vaduz-balzers"), name: "route")
        #expect(shipped.map { DriveReport.notices($0.notices + $0.routes[0].notices) } == [])
    }

    @Test func `alerts are read with their actions`() throws {
        let options = try DriveContentOptions.parse([
            "--alert", "3.5:Roadworks: 2 km|Avoid|Ignore", "--alert", "0:Hello",
        ])
        let alerts = try options.alerts()
        #expect(alerts.map(\.meters) == [3_500, 0])
        #expect(alerts[0].alert.titleVariants == ["Roadworks: 2 km"])
        #expect(alerts[0].alert.actions.map(\.titleVariants) == [["Avoid"], ["Ignore"]])
        #expect(alerts.map(\.alert.id) == [1, 2])
        #expect(alerts.allSatisfy { $0.alert.notification == .once && $0.alert.priority == .medium })
    }

    @Test(arguments: [
        ["--alert", "Roadworks"], ["--alert", "x:Roadworks"], ["--alert", "1:"], ["--alert", "1:a|b|c|d"],
        ["--alert", "-1:a"], ["--start-at", "-1"], ["--start-at", "3", "--leave-route-at", "2"],
        ["--await-vehicle", "perhaps"], ["--await-timeout", "-1"], ["--preview", "nan"],
        ["--on-destination", "accept"], ["--await-timeout", "604801"],
    ])
    func `wrong options are refused`(_ arguments: [String]) {
        #expect(throws: (any Error).self) {
            try Waymark.parseAsRoot(["navigate", "--route", "f"] + arguments)
        }
    }

    @Test func `all times have the same limits`() throws {
        _ = try Waymark.parseAsRoot([
            "navigate", "--route", "f", "--preview", "0", "--await-timeout", "604800",
        ])
        _ = try Waymark.parseAsRoot(["navigate", "--route", "f", "--wait", "604800"])
    }

    // MARK: What a slow connection makes of a drive

    @Test(arguments: 0..<60)
    func `however late publications are sent, no endpoint has a state that the drive never had`(_ seed: Int)
        throws
    {
        let names = ["vaduz-balzers", "vaduz-balzers-charging", "heidelberg-lanes"]
        let route = try readAnswer(Resources.route(names[seed % 3]), name: "route").routes[0]
        var random = SystemlessRandom(state: UInt64(seed))
        var drive = Drive(route: route)
        var queue = PublicationQueue()
        var held = VehicleState()
        var sequence: UInt64 = 0
        func receive(_ message: Message) {
            sequence += 1
            held.apply(Envelope(message, session: SessionID(1), sequence: sequence))
        }
        receive(.snapshotBegin(SnapshotBegin(kind: .full, client: ClientID(unchecked: "app"))))
        receive(.snapshotEnd)
        let trip = Trip(
            id: "t", origin: route.waypoints[0], destination: route.waypoints[route.waypoints.count - 1])
        receive(.publication(.startGuidance(trip, generation: 1, drive.information)))
        queue = PublicationQueue(after: ManeuverCycle(first: held.upcomingManeuvers.first))
        let measure = drive.measure
        var elapsed = Duration.zero
        while drive.state != .finished {
            var changes: [DriveChange] = []
            drive.advance(to: elapsed, into: &changes)
            for change in changes {
                guard let publication = change.publication else { continue }
                for item in try OutgoingPublication.fitting(publication, frameBytesMax: 1_000_000) {
                    queue.append(item)
                }
            }
            elapsed += .milliseconds(Int.random(in: 50...5_000, using: &random))
            guard drive.state == .finished || Int.random(in: 0..<8, using: &random) == 0 else { continue }
            for item in queue.dequeueAll() {
                receive(.publication(item.publication))
                guard let next = held.upcomingManeuvers.first else { continue }
                let ahead = measure.meters[route.maneuverIndices[Int(next.rawValue) - 1]] - drive.meters
                let farthest: Double =
                    switch held.maneuverState {
                    case .execute: 100
                    case .prepare: 800
                    case .initial: 3_000
                    case .continue, .unrecognized: .infinity
                    }
                #expect(
                    ahead <= farthest,
                    "\(held.maneuverState) \(Int(ahead)) m before \(next) after \(item.publication)")
            }
        }
        #expect(held.upcomingManeuvers.first == route.information.maneuvers.last?.id)
        #expect(held.maneuverState == .execute)
    }
}

extension DriveChange {
    /// As a guide publishes it.
    fileprivate var publication: Publication? {
        switch self {
        case .upcomingManeuvers(let ids): .upcomingManeuvers(ids, generation: 1)
        case .maneuverState(let state): .maneuverState(state, generation: 1)
        case .currentLaneGuidance(let id): .currentLaneGuidance(id, generation: 1)
        case .roadName(let names): .currentRoadName(names)
        case .speedLimit(let limit, let next): .speedLimit(limit, next: next)
        case .currentSegment(let id): .currentRouteSegment(id, generation: 1)
        case .tripEstimates(let estimates, let color): .tripEstimates(estimates, color)
        case .maneuverEstimates(let id, let estimates): .maneuverEstimates(id, estimates, generation: 1)
        case .arrivedAtWaypoint: .pauseGuidance(.arrived, description: [])
        case .leavingWaypoint: .resumeGuidance(generation: 1, .unknown, nil)
        case .position, .offRoute, .finished: nil
        }
    }
}
