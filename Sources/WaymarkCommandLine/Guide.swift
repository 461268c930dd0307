internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkRoutes

/// Drives along routes and publishes what happens: what `navigate` and `demo` share.
///
/// Only ``run()`` publishes. Everybody else says what shall become of the drive, and the loop does it between two steps: what
/// was said of one route never mixes with another.
actor Guide {
    /// How a guide drives.
    struct Options: Sendable {
        var drive = DriveOptions()
        /// Finds the way back after the route was left, through the stops that are still ahead; nil ends the guidance.
        var findWay: @Sendable (Coordinate, [Waypoint]) async -> EngineRoute? = { _, _ in nil }
        /// Called once, when the given part of the first route is driven; the drive waits for it.
        var pause: (at: Double, body: @Sendable () async -> Void)?
        var pace = Pace.realTime()
    }

    /// How a drive ended.
    enum End: Sendable { case arrived, stopped, cancelled, lost }

    /// Between two looks at the drive.
    private static let tick = Duration.milliseconds(50)
    /// The same while the clock is further than the drive.
    private static let catchUpTick = Duration.milliseconds(1)
    /// So much driving at most is done at once, however far the clock has got: a busy machine passes nothing over.
    private static let stepMax = Duration.seconds(10)
    /// So long does a vehicle stand at its destination while a request of it is still open.
    private static let waitMax = Duration.seconds(90)

    private let session: NavigationSession
    private let options: Options
    private var drive: Drive
    private var trip: Trip
    private var startedAt: Duration
    /// How long has been driven since then; the clock may be further.
    private var driven = Duration.zero
    private var pending: (route: EngineRoute, reason: RerouteReason)?
    /// What vehicles asked for and is not decided yet, by vehicle: the route if it is accepted; nil while it is looked for.
    private var inquiries: [String: EngineRoute?] = [:]
    private var isStopped = false
    private var isCancelled = false
    private(set) var reroutes = 0

    /// A guide that drives `route` of `trip` in `session`.
    init(_ session: NavigationSession, _ route: EngineRoute, trip: Trip, options: Options) {
        self.session = session
        self.options = options
        self.drive = Drive(route: route, options: options.drive)
        self.trip = trip
        self.startedAt = options.pace.now()
    }

    /// Where the vehicle is.
    var position: Coordinate { self.drive.position }
    /// The stops that are still ahead, and the destination.
    var waypointsAhead: [Waypoint] { self.drive.waypointsAhead }

    /// The way through `stop` as well: into `segment` if that is still ahead, else where the detour is shortest.
    func waypoints(with stop: Waypoint, intoSegment segment: String) -> [Waypoint] {
        var stops = self.drive.waypointsAhead
        let ahead = self.drive.route.information.segments.suffix(stops.count)
        if let index = ahead.map(\.id).firstIndex(of: segment) {
            stops.insert(stop, at: index)
        } else {
            stops.insert(stop, at: StopOrder.index(of: stop, from: self.position, in: stops))
        }
        return [Waypoint(center: self.position)] + stops
    }

    /// `vehicle` has asked for a stop: the drive does not end before that is decided.
    func inquiryBegan(_ vehicle: String) { self.inquiries.updateValue(nil, forKey: vehicle) }

    /// If what `vehicle` asked for is accepted, this is the route.
    func promise(_ route: EngineRoute, to vehicle: String) {
        self.inquiries.updateValue(route, forKey: vehicle)
    }

    /// What `vehicle` asked for is decided; accepted, the drive goes on along the promised route.
    func inquiryEnded(_ vehicle: String, isAccepted: Bool) {
        guard let promised = self.inquiries.removeValue(forKey: vehicle), let route = promised, isAccepted
        else { return }
        self.pending = (route, .waypointModified)
    }

    /// The session is over: ``run()`` returns.
    func stop() { self.isStopped = true }

    /// Cancels the guidance: ``run()`` tells the vehicles and returns.
    func cancel() { self.isCancelled = true }

    // MARK: The drive

    /// Guides to the end of the drive or of the session.
    func run() async throws -> End {
        try await self.session.start(self.trip, route: self.drive.information)
        var pause = self.options.pause
        var changes: [DriveChange] = []
        while !self.isStopped {
            if self.isCancelled {
                try await self.session.cancel()
                return .cancelled
            }
            if let (route, reason) = self.pending {
                self.pending = nil
                try await self.change(to: route, reason)
            }
            if self.reroutes > 0 { pause = nil }
            if let stop = pause, self.drive.meters >= stop.at * self.drive.measure.length {
                pause = nil
                await self.stand(while: stop.body)
            }
            changes.removeAll(keepingCapacity: true)
            let isBehind = self.advance(into: &changes)
            for change in changes { try await self.publish(change) }
            switch self.drive.state {
            case .driving, .leaving: break
            case .offRoute: if try await !self.findBack() { return .lost }
            case .finished: if pause == nil, try await self.arrive() { return .arrived }
            }
            try await self.options.pace.sleep(isBehind ? Self.catchUpTick : Self.tick)
        }
        return .stopped
    }

    /// Drives on; returns whether the clock is still further.
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

    private func change(to route: EngineRoute, _ reason: RerouteReason) async throws {
        try await self.session.pause(.rerouting)
        var options = self.options.drive
        options.leavesRouteAtMeters = nil
        self.drive = Drive(route: route, options: options, from: self.drive.position)
        self.startedAt = self.options.pace.now()
        self.driven = .zero
        self.reroutes += 1
        self.trip.waypoints = Array(route.waypoints.dropFirst().dropLast())
        self.trip.routeChoices = []
        self.trip.selectedRouteChoice = nil
        try await self.session.updateTrip(self.trip)
        try await self.session.resume(route: self.drive.information, reason: reason)
    }

    /// The vehicle has left the route: asks for another way to where it wants to go.
    private func findBack() async throws -> Bool {
        let place = self.drive.position
        guard let route = await self.options.findWay(place, self.drive.waypointsAhead) else {
            try await self.session.cancel()
            return false
        }
        try await self.change(to: route, .missedTurn)
        return true
    }

    /// Ends the guidance at the destination; false while that may still change.
    private func arrive() async throws -> Bool {
        var waited = Duration.zero
        while !self.inquiries.isEmpty, self.pending == nil, !self.isStopped, waited < Self.waitMax {
            try await self.options.pace.sleep(Self.tick)
            waited += Self.tick
        }
        guard self.pending == nil, !self.isStopped else { return false }
        try await self.session.pause(.arrived)
        try await self.session.finish()
        return true
    }
}

/// Time as a guide sees it, so that it need not be the wall's.
struct Pace: Sendable {
    /// Since any fixed instant.
    var now: @Sendable () -> Duration
    var sleep: @Sendable (Duration) async throws -> Void

    /// The clock's.
    static func realTime() -> Pace {
        let start = ContinuousClock.now
        return Pace(now: { ContinuousClock.now - start }, sleep: { try await Task.sleep(for: $0) })
    }
}
