package import WaymarkHistory
package import WaymarkModel
package import WaymarkProtocol

/// The content of a session, from what its client sent. Publications that the gateway has to reject change nothing.
package struct SessionView: Sendable {
    /// A distance, and when it was published.
    package struct Reading: Sendable, Hashable {
        package let meters: UInt32
        /// The time that was said with it; nil for none.
        package let time: Duration?
        package let instant: Instant

        init(_ estimates: TravelEstimates, at instant: Instant) {
            self.meters = estimates.distanceRemaining.meters
            self.time = estimates.timeRemaining
            self.instant = instant
        }
    }

    /// A route segment without its line.
    package struct Segment: Sendable, Hashable {
        package let id: Identifier
        package let maneuvers: [ManeuverID]
        /// The first and the last point of its line; nil without a line.
        package let ends: Ends?
    }

    /// Where a line begins and ends.
    package struct Ends: Sendable, Hashable {
        package let first: Coordinate
        package let last: Coordinate
    }

    package let id: SessionID
    package let client: PeerID
    package private(set) var phase = SessionPhase.preview
    /// 0 before the first route.
    package private(set) var generation: UInt32 = 0
    /// Of the current generation, as all that follows.
    package private(set) var maneuvers: [ManeuverID: Maneuver] = [:]
    /// The position of each maneuver in the order in which they were added.
    package private(set) var maneuverOrder: [ManeuverID: Int] = [:]
    package private(set) var laneGuidances: [LaneGuidanceID: LaneGuidance] = [:]
    package private(set) var segments: [Segment] = []
    package private(set) var upcoming: [ManeuverID] = []
    package private(set) var currentLanes: LaneGuidanceID?
    /// The index of the current segment.
    package private(set) var currentSegment: Int?
    /// Of the first upcoming maneuver; `continue` until the client says otherwise.
    package private(set) var maneuverState = ManeuverState.continue
    package private(set) var trip: Reading?
    /// The distance to the destination when the route came; nil if the route does not say.
    package private(set) var routeMeters: UInt32?
    package private(set) var estimates: [ManeuverID: Reading] = [:]
    /// The client is connected.
    package private(set) var isConnected: Bool
    /// The bytes of the frames that brought the route.
    var routeByteCount = 0
    private var added = RouteContent()
    /// When guidance last started, stopped or continued, or the route or the connection changed.
    private var changed: Instant

    /// A session that was just opened.
    init(_ id: SessionID, of client: PeerID, isConnected: Bool, at instant: Instant) {
        (self.id, self.client, self.isConnected, self.changed) = (id, client, isConnected, instant)
    }

    /// Guidance is active, and its client is connected.
    package var isActive: Bool { self.phase == .active && self.isConnected }

    /// Nothing has changed for 3 s that makes distances rise: a start, a pause, another route, a reconnect.
    func isSettled(at instant: Instant) -> Bool {
        self.isActive && instant - self.changed >= .seconds(3)
    }

    /// The last distance to the first upcoming maneuver.
    package var first: (id: ManeuverID, reading: Reading)? {
        guard let id = self.upcoming.first, let reading = self.estimates[id] else { return nil }
        return (id, reading)
    }

    /// A distance in metres after which a value that stays the same is a mistake: a quarter of the route, at most `most`, at least 100.
    func longMeters(atMost most: Double) -> Double {
        min(most, max(100, Double(self.routeMeters ?? .max) / 4))
    }

    // MARK: Changes

    mutating func setConnected(_ isConnected: Bool, at instant: Instant) {
        (self.isConnected, self.changed) = (isConnected, instant)
    }

    /// Applies a publication.
    ///
    /// - Returns: Whether it fits: otherwise nothing has changed, and the gateway rejects it.
    mutating func apply(_ publication: Publication, at instant: Instant) -> Bool {
        guard self.allows(publication) else { return false }
        do throws(Rejection) { try self.added.apply(publication.outline, limits: .none) } catch {
            return false  // It names something that was never added, or adds something twice.
        }
        self.change(publication, at: instant)
        return true
    }

    private func allows(_ publication: Publication) -> Bool {
        let generation = publication.outline.generation
        return switch publication {
        case .startGuidance: generation > self.generation && self.phase != .ended
        // An observer that begins in the middle is told of a start and of the newest route, and of no pause in between.
        case .resumeGuidance(_, _, .some):
            generation > self.generation && [.active, .paused].contains(self.phase)
        default:
            publication.rule.phases.contains(self.phase)
                && (publication.rule.generation == .none || generation == self.generation)
        }
    }

    private mutating func change(_ publication: Publication, at instant: Instant) {
        switch publication {
        case .startGuidance(_, let generation, let route):
            self.phase = .active
            self.replaceRoute(route, generation, at: instant)
        case .resumeGuidance(let generation, _, let route):
            (self.phase, self.changed) = (.active, instant)
            if let route { self.replaceRoute(route, generation, at: instant) }
        case .pauseGuidance:
            (self.phase, self.changed, self.maneuverState) = (.paused, instant, .continue)
        case .finishGuidance, .cancelGuidance: (self.phase, self.changed) = (.ended, instant)
        case .addManeuvers(let maneuvers, _): self.add(maneuvers)
        case .addLaneGuidances(let guidances, _): self.add(guidances)
        case .addRouteSegments(let segments, _): self.segments += segments.map(Segment.init)
        case .upcomingManeuvers(let ids, _):
            if ids.first != self.upcoming.first { self.maneuverState = .continue }
            self.upcoming = ids
        case .currentLaneGuidance(let id, _): self.currentLanes = id
        case .maneuverState(let state, _): self.maneuverState = state
        case .tripEstimates(let estimates, _):
            self.trip = Reading(estimates, at: instant)
        case .maneuverEstimates(let id, let estimates, _):
            self.estimates[id] = Reading(estimates, at: instant)
        case .currentRouteSegment(let id, _): self.currentSegment = self.index(of: Identifier(id))
        case .tripPreviews, .updateTrip, .showAlert, .dismissAlert, .shareDestination, .speedLimit, .plain,
            .publishExtension:
            break
        }
    }

    private mutating func replaceRoute(
        _ route: RouteInformation, _ generation: UInt32, at instant: Instant
    ) {
        (self.generation, self.changed, self.maneuverState) = (generation, instant, .continue)
        (self.maneuvers, self.maneuverOrder, self.laneGuidances, self.estimates) = ([:], [:], [:], [:])
        self.add(route.maneuvers)
        self.add(route.laneGuidances)
        self.segments = route.segments.map(Segment.init)
        self.upcoming = route.upcomingManeuvers
        self.currentLanes = route.currentLaneGuidance
        self.currentSegment =
            route.currentSegment.map { self.index(of: Identifier($0)) } ?? (route.segments.isEmpty ? nil : 0)
        self.trip = route.tripTravelEstimates.map { Reading($0, at: instant) }
        self.routeMeters = self.trip?.meters
        if let estimates = route.maneuverTravelEstimates, let first = route.upcomingManeuvers.first {
            self.estimates[first] = Reading(estimates, at: instant)
        }
    }

    private mutating func add(_ maneuvers: [Maneuver]) {
        for maneuver in maneuvers {
            self.maneuverOrder[maneuver.id] = self.maneuverOrder.count
            self.maneuvers[maneuver.id] = maneuver
        }
    }

    private mutating func add(_ guidances: [LaneGuidance]) {
        for guidance in guidances { self.laneGuidances[guidance.id] = guidance }
    }

    private func index(of id: Identifier) -> Int? { self.segments.firstIndex { $0.id == id } }
}

extension SessionView.Segment {
    fileprivate init(_ segment: RouteSegment) {
        self.id = Identifier(segment.id)
        self.maneuvers = segment.maneuvers
        if let first = segment.coordinates.first, let last = segment.coordinates.last {
            self.ends = SessionView.Ends(first: first, last: last)
        } else {
            self.ends = nil
        }
    }
}
