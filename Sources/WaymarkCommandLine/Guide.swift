internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkRoutes

/// Drives along routes and publishes the changes, for `navigate` and `demo`.
///
/// Only ``run()`` publishes guidance. The other methods set flags that the loop reads between two steps, so that statements
/// about two routes never mix.
actor Guide {
    /// How a guide drives.
    struct Options: Sendable {
        var drive = DriveOptions()
        /// Where the drive begins on the first route, in metres from its start.
        var startMeters = 0.0
        /// Computes a route from a place through the stops ahead; nil if there is none.
        var findWay: @Sendable (Coordinate, [Waypoint]) async -> EngineRoute? = { _, _ in nil }
        /// Called once, when the given part of the first route is driven; the drive waits for it.
        var pause: (at: Double, body: @Sendable () async -> Void)?
        /// Alerts, each shown after so many metres.
        var alerts: [(meters: Double, alert: NavigationAlert)] = []
        /// Called with each line about the drive, for people.
        var say: (@Sendable (String) -> Void)?
        /// Called once guidance has begun.
        var whenStarted: (@Sendable () -> Void)?
        /// Called with every change before it is published.
        var observe: (@Sendable (DriveChange) -> Void)?
        var pace = Pace.realTime()
    }

    /// How a drive ended.
    enum End: Sendable { case arrived, stopped, cancelled, lost }

    /// A stop that a vehicle has asked for, or the whole route that leads there.
    struct Detour: Sendable {
        /// nil: ``route`` is driven as it is.
        var stop: Waypoint?
        /// The stop or destination before which to insert it; nil: where the detour is shortest.
        var next: Waypoint?
        /// The route as it was when the vehicle asked.
        var route: EngineRoute
    }

    /// The interval between two steps of the drive.
    private static let tick = Duration.milliseconds(50)
    /// The same while the drive is behind the clock.
    private static let catchUpTick = Duration.milliseconds(1)
    /// The longest step, however far the drive is behind the clock: a busy machine skips nothing.
    private static let stepMax = Duration.seconds(10)
    /// How long a vehicle waits at its destination while one of its requests is open.
    private static let waitMax = Duration.seconds(90)
    /// The alert about a stop that cannot be added. `--alert` numbers its alerts from 1.
    private static let refusalAlerts: UInt32 = 1_000_000
    /// How long that alert is shown.
    private static let refusalTime = Duration.seconds(15)

    private let session: NavigationSession
    private let options: Options
    private var drive: Drive
    private var trip: Trip
    private var startedAt: Duration
    /// The time driven since then; the clock may be ahead.
    private var driven = Duration.zero
    /// Metres from the first route's start to the beginning of the present drive, and the position of that on the present route.
    private var odometer = (meters: 0.0, enteredAt: 0.0)
    /// Detours that vehicles have agreed to, oldest first: each is added to the newest route.
    private var accepted: [Detour] = []
    /// Requests that are not decided yet, by vehicle.
    private var openInquiries: [String: Int] = [:]
    /// The detours to drive, by vehicle, if its oldest request is accepted.
    private var promised: [String: [Detour]] = [:]
    private var alerts: [(meters: Double, alert: NavigationAlert)]
    private var report = DriveReport()
    private var refusals: UInt32 = 0
    private var isArriving = false
    private var isStopped = false
    private var isCancelled = false
    private(set) var reroutes = 0

    /// A guide that drives `route` of `trip` in `session`.
    init(_ session: NavigationSession, _ route: EngineRoute, trip: Trip, options: Options) {
        self.session = session
        self.options = options
        self.drive = Drive(route: route, options: options.drive, atMeters: options.startMeters)
        self.trip = trip
        self.startedAt = options.pace.now()
        self.alerts = options.alerts.sorted { $0.meters < $1.meters }
        self.odometer = (self.drive.meters, self.drive.meters)
    }

    /// The vehicle's position.
    var position: Coordinate { self.drive.position }
    /// The stops ahead, and the destination.
    var waypointsAhead: [Waypoint] { self.drive.waypointsAhead }

    // MARK: Requests of vehicles

    /// The stop before which to insert a new one into `segment`; nil if that segment is not ahead.
    func stop(endingSegment segment: String) -> Waypoint? {
        let stops = self.drive.waypointsAhead
        let ahead = self.drive.route.information.segments.suffix(stops.count)
        return ahead.map(\.id.utf8).firstIndex { $0.elementsEqual(segment.utf8) }.map { stops[$0] }
    }

    /// The waypoints from here through `stop` and all stops ahead, and the index of `stop`: before `next` if that is ahead, else
    /// where the detour is shortest.
    func waypoints(with stop: Waypoint, before next: Waypoint?) -> (waypoints: [Waypoint], stopIndex: Int) {
        var stops = self.drive.waypointsAhead
        let index =
            next.flatMap { stops.firstIndex(of: $0) }
            ?? StopOrder.index(of: stop, from: self.position, in: stops)
        stops.insert(stop, at: index)
        return ([Waypoint(center: self.position)] + stops, index + 1)
    }

    /// `vehicle` has requested a stop: the drive does not end before the outcome.
    ///
    /// - Returns: false if the drive is ending.
    @discardableResult
    func inquiryBegan(_ vehicle: String) -> Bool {
        guard !self.isArriving else { return false }
        self.openInquiries[vehicle, default: 0] += 1
        return true
    }

    /// Sets the route to drive if the request of `vehicle` is accepted.
    func promise(_ route: EngineRoute, to vehicle: String) { self.promise(Detour(route: route), to: vehicle) }

    /// Sets the detour to drive if the request of `vehicle` is accepted.
    func promise(_ detour: Detour, to vehicle: String) { self.promised[vehicle, default: []].append(detour) }

    /// A request of `vehicle` has an outcome; if it was accepted, its oldest detour is driven.
    func inquiryEnded(_ vehicle: String, isAccepted: Bool) {
        self.discount(vehicle)
        guard var detours = self.promised[vehicle], !detours.isEmpty else { return }
        // Why: a request that was declined without a detour must not consume that of another request.
        guard isAccepted || detours.count > self.openInquiries[vehicle] ?? 0 else { return }
        let first = detours.removeFirst()
        self.promised[vehicle] = detours
        if isAccepted { self.accepted.append(first) }
    }

    /// A request of `vehicle` was accepted: `detour` is driven.
    func accept(_ detour: Detour, for vehicle: String) {
        self.discount(vehicle)
        self.accepted.append(detour)
    }

    /// Why not below 0: a request that was declined at once, such as one before guidance, was never counted.
    private func discount(_ vehicle: String) {
        self.openInquiries[vehicle] = max(0, (self.openInquiries[vehicle] ?? 0) - 1)
    }

    /// The session is over: ``run()`` returns.
    func stop() { self.isStopped = true }

    /// Cancels the guidance: ``run()`` tells the vehicles and returns.
    func cancel() { self.isCancelled = true }

    // MARK: The drive

    /// Guides to the end of the drive or of the session.
    func run() async throws -> End {
        self.startedAt = self.options.pace.now()
        try await self.session.start(self.trip, route: self.drive.information)
        self.options.whenStarted?()
        var pause = self.options.pause
        var changes: [DriveChange] = []
        while !self.isStopped {
            if self.isCancelled {
                try await self.session.cancel()
                return .cancelled
            }
            if !self.accepted.isEmpty { try await self.insert(self.accepted.removeFirst()) }
            if self.reroutes > 0 { pause = nil }
            if let stop = pause, self.drive.meters >= stop.at * self.drive.measure.length {
                pause = nil
                await self.stand(while: stop.body)
            }
            changes.removeAll(keepingCapacity: true)
            let isBehind = self.advance(into: &changes)
            for change in changes { try await self.publish(change) }
            try await self.showAlerts()
            switch self.drive.state {
            case .driving, .leaving: break
            case .offRoute: if try await !self.findBack() { return .lost }
            case .finished: if pause == nil, try await self.arrive() { return .arrived }
            }
            try await self.options.pace.sleep(isBehind ? Self.catchUpTick : Self.tick)
        }
        return .stopped
    }

    /// Drives one step; returns whether the drive is still behind the clock.
    private func advance(into changes: inout [DriveChange]) -> Bool {
        let now = self.options.pace.now() - self.startedAt
        self.driven = min(now, self.driven + Self.stepMax / self.options.drive.speedFactor)
        self.drive.advance(to: self.driven, into: &changes)
        return self.driven < now
    }

    private func stand(while body: @Sendable () async -> Void) async {
        let begin = self.options.pace.now()
        await body()
        self.startedAt += self.options.pace.now() - begin
    }

    private func publish(_ change: DriveChange) async throws {
        self.options.observe?(change)
        self.say(self.report.lines(change, self.drive.route, at: self.options.pace.now()))
        switch change {
        case .upcomingManeuvers(let ids): try await self.session.setUpcomingManeuvers(ids)
        case .maneuverState(let state): try await self.session.setManeuverState(state)
        case .currentLaneGuidance(let id): try await self.session.setCurrentLaneGuidance(id)
        case .roadName(let names): try await self.session.setCurrentRoadName(names)
        case .currentSegment(let id): try await self.session.setCurrentSegment(id)
        case .tripEstimates(let estimates, let color):
            try await self.session.updateTripEstimates(estimates, color: color)
        case .maneuverEstimates(let id, let estimates):
            try await self.session.updateEstimates(of: id, estimates)
        case .arrivedAtWaypoint: try await self.session.pause(.arrived)
        case .leavingWaypoint: try await self.session.resume()
        case .position, .offRoute, .finished: break  // The loop looks at the drive's state.
        }
    }

    private func say(_ lines: [String]) {
        guard let say = self.options.say else { return }
        for line in lines { say(line) }
    }

    private func showAlerts() async throws {
        let meters = self.odometer.meters + self.drive.meters - self.odometer.enteredAt
        while let next = self.alerts.first, meters >= next.meters {
            self.alerts.removeFirst()
            try await self.session.show(next.alert)
        }
    }

    // MARK: Other routes

    /// Reroutes through a stop that a vehicle has agreed to. The vehicle stands meanwhile, so that the route begins at its
    /// position.
    private func insert(_ detour: Detour) async throws {
        try await self.session.pause(.rerouting)
        if let stop = detour.stop {
            // Computed again: the answer to the request is as old as the user took to agree.
            let stops = self.waypoints(with: stop, before: detour.next).waypoints.dropFirst()
            if let route = await self.options.findWay(self.position, Array(stops)) {
                return try await self.change(to: route, .waypointModified)
            }
            guard stops.allSatisfy(detour.route.waypoints.contains) else { return try await self.keepRoute() }
        }
        try await self.change(to: detour.route, .waypointModified)
    }

    /// No other route was found: the vehicle continues on the one that it has, and its user is told.
    private func keepRoute() async throws {
        self.say(["the stop cannot be added: there is no new route"])
        self.refusals += 1
        try await self.session.show(
            NavigationAlert(
                id: Self.refusalAlerts + self.refusals,
                titleVariants: ["The stop cannot be added: no route found", "Stop not added"],
                duration: Self.refusalTime))
        self.startedAt = self.options.pace.now() - self.driven
        self.drive.restateManeuver()
        try await self.session.resume()
    }

    /// The vehicle has left the route: asks for another way to where it wants to go.
    private func findBack() async throws -> Bool {
        try await self.session.pause(.rerouting)
        guard let route = await self.options.findWay(self.drive.position, self.drive.waypointsAhead) else {
            try await self.session.cancel()
            return false
        }
        try await self.change(to: route, .missedTurn)
        return true
    }

    /// Continues on `route`, while guidance is paused.
    private func change(to route: EngineRoute, _ reason: RerouteReason) async throws {
        var options = self.options.drive
        options.leavesRouteAtMeters = nil
        // Back on the same route, what was driven of it is not driven again.
        let after = route == self.drive.route ? self.drive.meters : 0
        self.odometer.meters += self.drive.meters - self.odometer.enteredAt
        self.drive = Drive(route: route, options: options, from: self.drive.position, after: after)
        self.odometer.enteredAt = self.drive.meters
        self.startedAt = self.options.pace.now()
        self.driven = .zero
        self.reroutes += 1
        self.trip.waypoints = Array(route.waypoints.dropFirst().dropLast())
        self.trip.routeChoices = []
        self.trip.selectedRouteChoice = nil
        self.say(self.report.lines(rerouted: self.drive.information, self.trip, reason))
        try await self.session.updateTrip(self.trip)
        try await self.session.resume(route: self.drive.information, reason: reason)
    }

    /// Ends guidance at the destination; false while a request may still change the route.
    private func arrive() async throws -> Bool {
        var waited = Duration.zero
        while self.openInquiries.values.contains(where: { $0 > 0 }), self.accepted.isEmpty, !self.isStopped,
            !self.isCancelled, waited < Self.waitMax
        {
            try await self.options.pace.sleep(Self.tick)
            waited += Self.tick
        }
        guard self.accepted.isEmpty, !self.isStopped, !self.isCancelled else { return false }
        self.isArriving = true
        try await self.session.pause(.arrived)
        try await self.session.finish()
        return true
    }
}

/// A guide's clock, which need not be the wall clock.
struct Pace: Sendable {
    /// Since any fixed instant.
    var now: @Sendable () -> Duration
    var sleep: @Sendable (Duration) async throws -> Void

    /// The wall clock.
    static func realTime() -> Pace {
        let start = ContinuousClock.now
        return Pace(now: { ContinuousClock.now - start }, sleep: { try await Task.sleep(for: $0) })
    }
}
