package import WaymarkModel
package import WaymarkProtocol
package import WaymarkRoutes

/// Drives along routes and says what to publish. A value: no clock, no I/O.
///
///     standing ──begin──▶ driving ──offRoute, a stop that was accepted──▶ searching ──found──▶ driving ──▶ ended
///
/// Everything that it publishes comes from ``advance(to:into:)`` and ``found(_:at:into:)``, and estimates that waited also from
/// ``flushEstimates(at:into:)``; the other methods set what these look at, so that statements about two routes never mix.
package struct GuideMachine: Sendable {
    /// How a guide drives.
    package struct Options: Sendable {
        package var drive = DriveOptions()
        /// Where the drive begins on the first route, in metres from its start.
        package var startMeters = 0.0
        /// The drive stands once this part of the first route is driven, until ``standOver(at:)``.
        package var standsAt: Double?
        /// Alerts, each shown after so many metres.
        package var alerts: [(meters: Double, alert: NavigationAlert)] = []
        /// Estimates are published at least so often while guidance is active (REQ-AGE-03).
        package var estimatesEvery = Duration.seconds(9)
        /// The estimates of one thing are published at most so often, also in a drive that is much faster than a real one: a display shows
        /// no more (LINT-RATE-FAST), and right behind a route they would contradict it (LINT-ROUTE-ESTIMATES). The newest ones wait, and
        /// are published earlier if guidance pauses or ends, or if the state of their maneuver changes.
        package var estimatesNotBefore = Duration.milliseconds(125)

        package init() {}
    }

    /// How a drive ended.
    package enum End: Sendable, Hashable { case arrived, stopped, cancelled, lost }

    /// A stop that a vehicle has asked for, or the whole route that leads there.
    package struct Detour: Sendable, Hashable {
        /// nil: ``route`` is driven as it is.
        package var stop: Waypoint?
        /// The stop or destination before which to insert it; nil: where the detour is shortest.
        package var next: Waypoint?
        /// The route as it was when the vehicle asked.
        package var route: EngineRoute

        package init(stop: Waypoint? = nil, next: Waypoint? = nil, route: EngineRoute) {
            (self.stop, self.next, self.route) = (stop, next, route)
        }
    }

    /// What a driver of the machine does, in order.
    package enum Action: Sendable {
        case publish(Publication)
        /// What is published next, or what changed beside it.
        case changed(DriveChange)
        /// Publish the first route; guidance has begun behind it.
        case began
        /// The drive continues along another route.
        case rerouted(RouteInformation, Trip, RerouteReason)
        /// A stop cannot be added, since there is no route through it.
        case noRoute
        /// Compute a route from a place through stops, and answer with ``found(_:at:into:)``.
        case findWay(Coordinate, [Waypoint])
        /// ``Options/standsAt`` is reached.
        case stands
        /// Nothing follows.
        case ended(End)
    }

    private enum Phase: Sendable {
        case new, driving
        /// The answer to ``Action/findWay(_:_:)`` is missing. nil: the vehicle has left the route.
        case searching(Detour?)
        /// Stands until ``GuideMachine/standOver(at:)`` since this instant.
        case standing(since: Instant)
        case ended
    }

    /// The interval between two steps of the drive.
    package static let tick = Duration.milliseconds(50)
    /// The same while the drive is behind the clock.
    private static let catchUpTick = Duration.milliseconds(1)
    /// A drive so many times faster than a real one covers a few hundred metres between two estimates.
    private static let fastFactor = 100.0
    /// The longest step, however far the drive is behind the clock: a busy machine skips nothing.
    private static let stepMax = Duration.seconds(10)
    /// How long a vehicle waits at its destination while one of its requests is open.
    private static let waitMax = Duration.seconds(90)
    /// The alert about a stop that cannot be added. Alerts of others are numbered from 1.
    private static let refusalAlerts: UInt32 = 1_000_000
    /// How long that alert is shown.
    private static let refusalTime = Duration.seconds(15)

    private var options: Options
    package private(set) var drive: Drive
    package private(set) var trip: Trip
    package private(set) var reroutes = 0
    private var phase = Phase.new
    private var startedAt = Instant(nanoseconds: 0)
    /// The time driven since then; the clock may be ahead.
    private var driven = Duration.zero
    /// When to call ``advance(to:into:)``; nil while nothing is due.
    package private(set) var deadline: Instant?
    /// Metres from the first route's start to the beginning of the present drive, and the position of that on the present route.
    private var odometer = (meters: 0.0, enteredAt: 0.0)
    /// Detours that vehicles have agreed to, oldest first: each is added to the newest route.
    private var accepted: [Detour] = []
    /// Another route that is driven from now on.
    private var ordered: (route: EngineRoute, reason: RerouteReason)?
    /// Requests that are not decided yet, by vehicle.
    private var openInquiries: [String: Int] = [:]
    /// The detours to drive, by vehicle, if its oldest request is accepted.
    private var promised: [String: [Detour]] = [:]
    private var alerts: [(meters: Double, alert: NavigationAlert)]
    private var standsAt: Double?
    private var refusals: UInt32 = 0
    /// How long it has waited at the destination, in steps: on a busy machine the clock runs ahead of what peers can answer.
    private var waited = Duration.zero
    private var isStopped = false
    private var isCancelled = false
    private var estimates: EstimatePace

    /// A guide that drives `route` of `trip`.
    package init(_ route: EngineRoute, trip: Trip, options: Options) {
        self.options = options
        self.drive = Drive(route: route, options: options.drive, atMeters: options.startMeters)
        self.trip = trip
        self.alerts = options.alerts.sorted { $0.meters < $1.meters }
        self.standsAt = options.standsAt
        self.estimates = EstimatePace(every: options.estimatesEvery, notBefore: options.estimatesNotBefore)
        self.odometer = (self.drive.meters, self.drive.meters)
    }

    /// Metres driven, over all routes.
    package var meters: Double { self.odometer.meters + self.drive.meters - self.odometer.enteredAt }
    /// The vehicle's position.
    package var position: Coordinate { self.drive.position }
    /// The stops ahead, and the destination.
    package var waypointsAhead: [Waypoint] { self.drive.waypointsAhead }
    /// Nothing more is published.
    package var isOver: Bool { if case .ended = self.phase { true } else { false } }
    /// Guidance has begun.
    package var hasBegun: Bool { if case .new = self.phase { false } else { true } }

    // MARK: Requests of vehicles

    /// The stop before which to insert a new one into `segment`; nil if that segment is not ahead.
    package func stop(endingSegment segment: String) -> Waypoint? {
        let stops = self.drive.waypointsAhead
        let ahead = self.drive.route.information.segments.suffix(stops.count)
        return ahead.map(\.id.utf8).firstIndex { $0.elementsEqual(segment.utf8) }.map { stops[$0] }
    }

    /// The waypoints from here through `stop` and all stops ahead, and the index of `stop`: before `next` if that is ahead, else
    /// where the detour is shortest.
    package func waypoints(
        with stop: Waypoint, before next: Waypoint?
    ) -> (waypoints: [Waypoint], stopIndex: Int) {
        var stops = self.drive.waypointsAhead
        let index =
            next.flatMap { stops.firstIndex(of: $0) }
            ?? StopOrder.index(of: stop, from: self.position, in: stops)
        stops.insert(stop, at: index)
        return ([Waypoint(center: self.position)] + stops, index + 1)
    }

    /// `vehicle` has requested a stop: the drive does not end before the outcome.
    ///
    /// - Returns: false if the drive has ended.
    @discardableResult
    package mutating func inquiryBegan(_ vehicle: String) -> Bool {
        guard !self.isOver else { return false }
        self.openInquiries[vehicle, default: 0] += 1
        return true
    }

    /// Sets the detour to drive if the request of `vehicle` is accepted.
    package mutating func promise(_ detour: Detour, to vehicle: String) {
        self.promised[vehicle, default: []].append(detour)
    }

    /// A request of `vehicle` has an outcome; if it was accepted, its oldest detour is driven.
    package mutating func inquiryEnded(_ vehicle: String, isAccepted: Bool) {
        self.discount(vehicle)
        guard var detours = self.promised[vehicle], !detours.isEmpty else { return }
        // Why: a request that was declined without a detour must not consume that of another request.
        guard isAccepted || detours.count > self.openInquiries[vehicle] ?? 0 else { return }
        let first = detours.removeFirst()
        self.promised[vehicle] = detours
        if isAccepted { self.accepted.append(first) }
    }

    /// A request of `vehicle` was accepted: `detour` is driven.
    package mutating func accept(_ detour: Detour, for vehicle: String) {
        self.discount(vehicle)
        self.accepted.append(detour)
    }

    /// Why not below 0: a request that was declined at once, such as one before guidance, was never counted.
    private mutating func discount(_ vehicle: String) {
        self.openInquiries[vehicle] = max(0, (self.openInquiries[vehicle] ?? 0) - 1)
    }

    /// The session is over: nothing more is published.
    package mutating func stop() { self.isStopped = true }

    /// Cancels the guidance in the next step, and tells the vehicles.
    package mutating func cancel() { self.isCancelled = true }

    /// Continues on another route in the next step.
    package mutating func reroute(to route: EngineRoute, _ reason: RerouteReason) {
        self.ordered = (route, reason)
    }

    // MARK: The drive

    /// Begins guidance; the first step follows.
    package mutating func begin(at now: Instant, into actions: inout [Action]) {
        guard case .new = self.phase else { return }
        self.phase = .driving
        self.startedAt = now
        self.deadline = now
        self.beginEstimates(at: now)
        actions.append(
            .publish(.startGuidance(self.trip, generation: 0, self.drive.information.withNotifications)))
        actions.append(.began)
    }

    /// The time until now was not driven: the vehicle stood.
    package mutating func standOver(at now: Instant) {
        guard case .standing(let since) = self.phase else { return }
        self.phase = .driving
        self.startedAt = self.startedAt + (now - since)
        self.deadline = now
    }

    /// A driver of the machine has paused guidance and resumes it: vehicles have set the maneuver's state to continue meanwhile.
    package mutating func restateManeuver() { self.drive.restateManeuver() }

    /// The vehicle stands from now on, until ``standOver(at:)``. Estimates are still published.
    package mutating func stand(at now: Instant) {
        guard case .driving = self.phase else { return }
        self.phase = .standing(since: now)
        self.deadline = self.estimates.due
    }

    /// Drives `factor` times as fast as the engine's speeds from now on; finite, above 0.
    package mutating func setSpeed(_ factor: Double) {
        self.options.drive.speedFactor = factor
        self.drive.setSpeed(factor)
    }

    /// Does one step: what was asked for since the last one, or the next part of the drive.
    package mutating func advance(to now: Instant, into actions: inout [Action]) {
        self.deadline = nil
        switch self.phase {
        case .new, .searching, .ended: return
        case .standing:
            guard !self.endsEarly(at: now, into: &actions) else { return }
            self.restateEstimates(at: now, into: &actions)
            self.deadline = self.estimates.due
        case .driving: self.step(at: now, into: &actions)
        }
    }

    private mutating func step(at now: Instant, into actions: inout [Action]) {
        guard !self.endsEarly(at: now, into: &actions) else { return }
        if let (route, reason) = self.ordered {
            self.ordered = nil
            self.pause(.rerouting, at: now, into: &actions)
            self.change(to: route, reason, at: now, into: &actions)
        }
        if !self.accepted.isEmpty {
            guard self.insert(self.accepted.removeFirst(), at: now, into: &actions) else { return }
        }
        if self.reroutes > 0 { self.standsAt = nil }
        if let part = self.standsAt, self.drive.meters >= part * self.drive.measure.length {
            self.standsAt = nil
            // Estimates come first: what happens while it stands may refer to them, and its driver may not advance it meanwhile.
            self.flushEstimates(at: now, into: &actions)
            self.phase = .standing(since: now)
            self.deadline = self.estimates.due
            return actions.append(.stands)
        }
        var isBehind = self.driveOn(at: now, into: &actions)
        self.showAlerts(into: &actions)
        switch self.drive.state {
        case .driving, .leaving: break
        case .offRoute:
            self.pause(.rerouting, at: now, into: &actions)
            self.phase = .searching(nil)
            return actions.append(.findWay(self.drive.position, self.drive.waypointsAhead))
        case .finished:
            guard self.standsAt == nil else { break }
            if self.arrives(at: now, into: &actions) { return }
            // It waits, and has nothing to catch up with.
            isBehind = false
        }
        self.deadline = now + (isBehind ? Self.catchUpTick : Self.tick)
    }

    private mutating func endsEarly(at now: Instant, into actions: inout [Action]) -> Bool {
        guard self.isStopped || self.isCancelled else { return false }
        if self.isStopped {
            self.end(.stopped, into: &actions)
        } else {
            self.cancel(.cancelled, at: now, into: &actions)
        }
        return true
    }

    private mutating func cancel(_ end: End, at now: Instant, into actions: inout [Action]) {
        self.flushEstimates(at: now, into: &actions)
        actions.append(.publish(.cancelGuidance))
        self.end(end, into: &actions)
    }

    private mutating func pause(_ reason: PauseReason, at now: Instant, into actions: inout [Action]) {
        self.flushEstimates(at: now, into: &actions)
        actions.append(.publish(.pauseGuidance(reason, description: [])))
    }

    private mutating func end(_ end: End, into actions: inout [Action]) {
        self.phase = .ended
        self.deadline = nil
        actions.append(.ended(end))
    }

    /// Drives one step; returns whether the drive is still behind the clock.
    private mutating func driveOn(at now: Instant, into actions: inout [Action]) -> Bool {
        let elapsed = now - self.startedAt
        self.driven = min(elapsed, self.driven + Self.stepMax / self.options.drive.speedFactor)
        var changes: [DriveChange] = []
        self.drive.advance(to: self.driven, into: &changes)
        self.publish(changes, at: now, into: &actions)
        self.restateEstimates(at: now, into: &actions)
        return self.driven < elapsed
    }

    private mutating func restateEstimates(at now: Instant, into actions: inout [Action]) {
        if self.estimates.isDue(at: now) {
            var changes: [DriveChange] = []
            self.drive.restateEstimates(into: &changes)
            self.estimates.noteAll(at: now)
            self.publish(changes, at: now, into: &actions)
        }
        for change in self.estimates.takeDue(at: now) { self.publish(change, into: &actions) }
    }

    /// Publishes the estimates that wait for their time. The machine does so before it pauses or ends guidance, so that a vehicle holds the
    /// last ones; a driver that publishes such a message itself calls this first.
    package mutating func flushEstimates(at now: Instant, into actions: inout [Action]) {
        guard !self.isOver else { return }
        for change in self.estimates.takeAll(at: now) { self.publish(change, into: &actions) }
    }

    private mutating func publish(
        _ changes: [DriveChange], at now: Instant, into actions: inout [Action]
    ) {
        for change in changes where self.estimates.passes(change, at: now) {
            for needed in self.estimates.takeNeeded(by: change, at: now) {
                self.publish(needed, into: &actions)
            }
            self.publish(change, into: &actions)
        }
    }

    private func publish(_ change: DriveChange, into actions: inout [Action]) {
        actions.append(.changed(change))
        switch change {
        case .upcomingManeuvers(let ids): actions.append(.publish(.upcomingManeuvers(ids, generation: 0)))
        case .maneuverState(let state): actions.append(.publish(.maneuverState(state, generation: 0)))
        case .currentLaneGuidance(let id):
            actions.append(.publish(.currentLaneGuidance(id, generation: 0)))
        case .roadName(let names): actions.append(.publish(.currentRoadName(names)))
        case .currentSegment(let id): actions.append(.publish(.currentRouteSegment(id, generation: 0)))
        case .tripEstimates(let estimates, let color):
            actions.append(.publish(.tripEstimates(estimates, color)))
        case .speedLimit(let limit, let next): actions.append(.publish(.speedLimit(limit, next: next)))
        case .maneuverEstimates(let id, let estimates):
            actions.append(.publish(.maneuverEstimates(id, estimates, generation: 0)))
        case .arrivedAtWaypoint: actions.append(.publish(.pauseGuidance(.arrived, description: [])))
        case .leavingWaypoint:
            actions.append(.publish(.resumeGuidance(generation: 0, .unknown, nil)))
        case .position, .offRoute, .finished: break  // The machine looks at the drive's state.
        }
    }

    private mutating func showAlerts(into actions: inout [Action]) {
        while let next = self.alerts.first, self.meters >= next.meters {
            self.alerts.removeFirst()
            actions.append(.publish(.showAlert(next.alert)))
        }
    }

    // MARK: Other routes

    /// Reroutes through a stop that a vehicle has agreed to. The vehicle stands meanwhile, so that the route begins at its
    /// position.
    ///
    /// - Returns: Whether the drive continues at once.
    private mutating func insert(_ detour: Detour, at now: Instant, into actions: inout [Action]) -> Bool {
        self.pause(.rerouting, at: now, into: &actions)
        guard let stop = detour.stop else {
            self.change(to: detour.route, .waypointModified, at: now, into: &actions)
            return true
        }
        // Computed again: the answer to the request is as old as the user took to agree.
        self.phase = .searching(detour)
        let stops = self.waypoints(with: stop, before: detour.next).waypoints.dropFirst()
        actions.append(.findWay(self.position, Array(stops)))
        return false
    }

    /// The answer to ``Action/findWay(_:_:)``; nil if there is no route.
    package mutating func found(_ route: EngineRoute?, at now: Instant, into actions: inout [Action]) {
        guard case .searching(let detour) = self.phase else { return }
        self.phase = .driving
        self.deadline = now
        if let route {
            return self.change(
                to: route, detour == nil ? .missedTurn : .waypointModified, at: now, into: &actions)
        }
        guard let detour, let stop = detour.stop else {
            return self.cancel(.lost, at: now, into: &actions)
        }
        let stops = self.waypoints(with: stop, before: detour.next).waypoints.dropFirst()
        guard !stops.allSatisfy(detour.route.waypoints.contains) else {
            return self.change(to: detour.route, .waypointModified, at: now, into: &actions)
        }
        self.keepRoute(at: now, into: &actions)
    }

    /// No other route was found: the vehicle continues on the one that it has, and its user is told.
    private mutating func keepRoute(at now: Instant, into actions: inout [Action]) {
        actions.append(.noRoute)
        self.refusals += 1
        let alert = NavigationAlert(
            id: Self.refusalAlerts + self.refusals,
            titleVariants: ["The stop cannot be added: no route found", "Stop not added"],
            duration: Self.refusalTime, notification: .once, priority: .medium)
        actions.append(.publish(.showAlert(alert)))
        self.startedAt = now + .nanoseconds(-self.driven.nanoseconds)
        self.drive.restateManeuver()
        actions.append(.publish(.resumeGuidance(generation: 0, .unknown, nil)))
    }

    /// Continues on `route`, while guidance is paused.
    private mutating func change(
        to route: EngineRoute, _ reason: RerouteReason, at now: Instant, into actions: inout [Action]
    ) {
        var options = self.options.drive
        options.leavesRouteAtMeters = nil
        // Back on the same line, what was driven of it is not driven again.
        let after = route.line == self.drive.route.line ? self.drive.meters : 0
        self.odometer.meters += self.drive.meters - self.odometer.enteredAt
        self.drive = Drive(route: route, options: options, from: self.drive.position, after: after)
        self.odometer.enteredAt = self.drive.meters
        self.startedAt = now
        self.driven = .zero
        self.waited = .zero
        self.reroutes += 1
        // Without an engine it is the old route, whose first stops may be behind.
        self.trip.waypoints = Array(self.drive.waypointsAhead.dropLast())
        self.trip.routeChoices = []
        self.trip.selectedRouteChoice = nil
        self.beginEstimates(at: now)
        actions.append(.rerouted(self.drive.information, self.trip, reason))
        actions.append(.publish(.updateTrip(self.trip)))
        actions.append(
            .publish(.resumeGuidance(generation: 0, reason, self.drive.information.withNotifications)))
    }

    private mutating func beginEstimates(at now: Instant) {
        let isFast = self.options.drive.speedFactor >= Self.fastFactor
        self.estimates.begin(at: now, self.drive.information, isFast: isFast)
    }

    /// Ends guidance at the destination; false while a request may still change the route.
    private mutating func arrives(at now: Instant, into actions: inout [Action]) -> Bool {
        let isWaiting = self.openInquiries.values.contains { $0 > 0 } && self.waited < Self.waitMax
        guard !isWaiting, self.accepted.isEmpty else {
            self.waited += Self.tick
            return false
        }
        self.pause(.arrived, at: now, into: &actions)
        actions.append(.publish(.finishGuidance))
        self.end(.arrived, into: &actions)
        return true
    }
}
