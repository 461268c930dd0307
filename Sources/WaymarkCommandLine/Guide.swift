internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkRoutes

/// Drives along routes and publishes what happens: what `navigate` and `demo` share.
actor Guide {
    /// Simulated time between two looks at the drive, in real time.
    private static let tick = Duration.milliseconds(50)

    private let session: NavigationSession
    private let speed: Double
    private var drive: Drive
    private var trip: Trip
    private(set) var isOver = false
    private(set) var reroutes = 0

    init(_ session: NavigationSession, _ route: EngineRoute, tripID: String, speed: Double) {
        self.session = session
        self.speed = speed
        self.drive = Drive(route)
        self.trip = Self.trip(route, id: tripID)
    }

    /// Where the vehicle is.
    var position: Coordinate { self.drive.position }
    /// Of the present route, 0 ... 1.
    var progress: Double { self.drive.progress }
    /// What is still to be driven through, without where the vehicle is.
    var waypointsAhead: [Waypoint] { Array(self.drive.route.waypoints.dropFirst()) }

    static func trip(_ route: EngineRoute, id: String) -> Trip {
        let stops = route.waypoints
        return Trip(
            id: id, origin: stops[0], destination: stops[stops.count - 1],
            waypoints: Array(stops.dropFirst().dropLast()))
    }

    /// Guides to the end; returns when the drive has finished or the session is over.
    func run() async throws {
        try await self.session.start(self.trip, route: self.drive.route.information)
        var changes: [DriveChange] = []
        while !self.isOver {
            changes.removeAll()
            self.drive.advance(by: Self.tick * self.speed, into: &changes)
            for change in changes { try await self.publish(change) }
            if self.drive.isFinished { return }
            try await Task.sleep(for: Self.tick)
        }
    }

    /// Stops guiding; ``run()`` returns.
    func stop() { self.isOver = true }

    /// Goes on with another route, from where the vehicle is.
    func reroute(_ route: EngineRoute, _ reason: RerouteReason) async throws {
        try await self.session.pause(.rerouting, description: ["New route"])
        let position = self.drive.position
        self.drive = Drive(route, from: position)
        self.trip = Self.trip(route, id: self.trip.id)
        self.reroutes += 1
        try await self.session.updateTrip(self.trip)
        try await self.session.resume(route: route.information, reason: reason)
    }

    private func publish(_ change: DriveChange) async throws {
        switch change {
        case .upcomingManeuvers(let ids): try await self.session.setUpcomingManeuvers(ids)
        case .maneuverState(let state): try await self.session.setManeuverState(state)
        case .currentLaneGuidance(let id): try await self.session.setCurrentLaneGuidance(id)
        case .currentRoadName(let names): try await self.session.setCurrentRoadName(names)
        case .currentRouteSegment(let id): try await self.session.setCurrentSegment(id)
        case .arrivedAtWaypoint:
            try await self.session.pause(.arrived)
            try await self.session.resume()
        case .tripEstimates(let estimates): try await self.session.updateTripEstimates(estimates)
        case .maneuverEstimates(let id, let estimates):
            try await self.session.updateEstimates(of: id, estimates)
        case .finished: try await self.session.finish()
        }
    }
}
