internal import WaymarkModel
internal import WaymarkProtocol

/// What a session's publications have built up, as far as the next one must be checked against it.
struct SessionContent: Sendable, Hashable, Codable {
    private(set) var phase = SessionPhase.preview
    /// Of the current route; 0 before the first.
    private(set) var generation: UInt32 = 0
    private(set) var trip = PublicationOutline.Trip(
        isDestinationShareable: false, routeSegmentsAvailable: false)
    private(set) var alert: UInt32?
    private var maneuvers: Set<ManeuverID> = []
    private var laneGuidances: Set<LaneGuidanceID> = []
    private(set) var segments: Set<String> = []
    private var firstUpcoming: ManeuverID?
    /// The upcoming maneuvers that were named last; publications that named none came after.
    private(set) var lastUpcoming: [ManeuverID] = []
    /// The current lane guidance that was named last.
    private(set) var lastLaneGuidance: LaneGuidanceID?
    /// nil: any state may come next.
    private var maneuverState: ManeuverState?

    /// Whether the vehicle is being guided.
    var isGuiding: Bool { self.phase == .active || self.phase == .paused }

    /// Checks a publication against what is there, and only if all of it is right takes it over.
    mutating func apply(_ outline: PublicationOutline, limits: GatewayLimits) throws(Rejection) {
        try self.checkPhase(of: outline)
        switch outline {
        case .tripPreviews, .currentRoadName, .tripEstimates, .unrecognized: break
        case .startGuidance(let trip, let generation, let route):
            try self.replaceRoute(route, generation: generation, trip: trip, limits: limits)
            self.phase = .active
            self.alert = nil
        case .updateTrip(let trip): self.trip = trip
        case .addManeuvers(let ids, let generation):
            try self.checkGeneration(generation)
            try self.addManeuvers(ids, limits: limits)
        case .addLaneGuidances(let ids, let generation):
            try self.checkGeneration(generation)
            try self.addLaneGuidances(ids, limits: limits)
        case .addRouteSegments(let segments, let generation):
            try self.checkGeneration(generation)
            try self.addSegments(segments, limits: limits)
        case .upcomingManeuvers(let ids, let generation):
            try self.checkGeneration(generation)
            try self.setUpcoming(ids, field: "maneuver_ids")
        case .currentLaneGuidance(let id, let generation):
            try self.checkGeneration(generation)
            try self.setLaneGuidance(id, field: "lane_guidance_id")
        case .maneuverState(let state, let generation):
            try self.checkGeneration(generation)
            try self.setManeuverState(state)
        case .maneuverEstimates(let id, let generation):
            try self.checkGeneration(generation)
            try self.checkManeuvers([id]) { _ in "maneuver_id" }
        case .currentRouteSegment(let id, let generation):
            try self.checkGeneration(generation)
            guard self.segments.contains(id) else {
                throw Rejection(.unknownReference, field: "segment_id", reason: "segment \(id) was not added")
            }
        case .pauseGuidance:
            self.phase = .paused
            self.maneuverState = nil
        case .resumeGuidance(let generation, let route): try self.resume(generation, route, limits: limits)
        case .showAlert(let id): self.alert = id
        case .dismissAlert(let id):
            guard self.alert == id else {
                throw Rejection(.unknownReference, field: "alert_id", reason: "alert \(id) is not shown")
            }
            self.alert = nil
        case .shareDestination:
            guard self.trip.isDestinationShareable else {
                throw Rejection(.wrongState, reason: "the trip says that its destination is not shareable")
            }
        case .finishGuidance, .cancelGuidance: self.phase = .ended
        }
    }

    private func checkPhase(of outline: PublicationOutline) throws(Rejection) {
        let isAllowed =
            switch outline {
            case .tripPreviews, .startGuidance, .finishGuidance, .cancelGuidance, .unrecognized: true
            case .resumeGuidance: self.phase == .paused
            case .updateTrip, .addManeuvers, .addLaneGuidances, .addRouteSegments, .upcomingManeuvers,
                .currentLaneGuidance, .currentRoadName, .maneuverState, .tripEstimates, .maneuverEstimates,
                .currentRouteSegment, .pauseGuidance, .showAlert, .dismissAlert, .shareDestination:
                self.isGuiding
            }
        guard isAllowed else {
            throw Rejection(.wrongState, reason: "not allowed while the session is in phase \(self.phase)")
        }
    }

    private func checkGeneration(_ generation: UInt32) throws(Rejection) {
        guard generation == self.generation else {
            throw Rejection(
                .staleGeneration, field: "generation",
                reason: "is \(generation), the current one is \(self.generation)")
        }
    }

    private mutating func resume(
        _ generation: UInt32, _ route: PublicationOutline.Route?, limits: GatewayLimits
    ) throws(Rejection) {
        if let route {
            try self.replaceRoute(route, generation: generation, trip: self.trip, limits: limits)
        } else {
            try self.checkGeneration(generation)
        }
        self.phase = .active
    }

    /// Builds the new route beside the old one, so that a route that is refused changes nothing.
    private mutating func replaceRoute(
        _ route: PublicationOutline.Route, generation: UInt32, trip: PublicationOutline.Trip,
        limits: GatewayLimits
    ) throws(Rejection) {
        guard generation > self.generation else {
            throw Rejection(
                .staleGeneration, field: "generation",
                reason: "must be above \(self.generation), which was used already")
        }
        var fresh = SessionContent()
        fresh.phase = self.phase
        fresh.generation = generation
        fresh.trip = trip
        fresh.alert = self.alert
        do throws(Rejection) {
            try fresh.addManeuvers(route.maneuvers, limits: limits)
            try fresh.addLaneGuidances(route.laneGuidances, limits: limits)
            try fresh.addSegments(route.segments, limits: limits)
            try fresh.setUpcoming(route.upcomingManeuvers, field: "upcoming_maneuver_ids")
            try fresh.setLaneGuidance(route.currentLaneGuidance, field: "current_lane_guidance_id")
            if let current = route.currentSegment, !fresh.segments.contains(current) {
                throw Rejection(
                    .unknownReference, field: "current_segment_id",
                    reason: "segment \(current) is not in the route")
            }
        } catch {
            var error = error
            error.field = "route." + error.field
            throw error
        }
        self = fresh
    }

    private mutating func addManeuvers(_ ids: [ManeuverID], limits: GatewayLimits) throws(Rejection) {
        for (index, id) in ids.enumerated() where self.maneuvers.contains(id) {
            throw Rejection(
                .duplicate, field: "maneuvers[\(index)].id",
                reason: "maneuver \(id.rawValue) was added before")
        }
        guard self.maneuvers.count + ids.count <= limits.maneuversPerSessionMax else {
            throw Rejection(
                .limitReached, field: "maneuvers",
                reason: "a session holds at most \(limits.maneuversPerSessionMax) maneuvers")
        }
        self.maneuvers.formUnion(ids)
    }

    private mutating func addLaneGuidances(_ ids: [LaneGuidanceID], limits: GatewayLimits) throws(Rejection) {
        for (index, id) in ids.enumerated() where self.laneGuidances.contains(id) {
            throw Rejection(
                .duplicate, field: "lane_guidances[\(index)].id",
                reason: "lane guidance \(id.rawValue) was added before")
        }
        guard self.laneGuidances.count + ids.count <= limits.laneGuidancesPerSessionMax else {
            throw Rejection(
                .limitReached, field: "lane_guidances",
                reason: "a session holds at most \(limits.laneGuidancesPerSessionMax) lane guidances")
        }
        self.laneGuidances.formUnion(ids)
    }

    private mutating func addSegments(
        _ segments: [PublicationOutline.Segment], limits: GatewayLimits
    ) throws(Rejection) {
        guard segments.isEmpty || self.trip.routeSegmentsAvailable else {
            throw Rejection(
                .inconsistent, field: "segments", reason: "the trip says that no route segments are available"
            )
        }
        var ids = self.segments
        for (index, segment) in segments.enumerated() {
            let field = "segments[\(index)]"
            guard ids.insert(segment.id).inserted else {
                throw Rejection(
                    .duplicate, field: "\(field).id", reason: "segment \(segment.id) was added before")
            }
            try self.checkManeuvers(segment.maneuvers) { "\(field).maneuver_ids[\($0)]" }
            try self.checkManeuvers(segment.currentManeuvers) { "\(field).current_maneuver_ids[\($0)]" }
            for (position, id) in segment.laneGuidances.enumerated() {
                try self.checkLaneGuidance(id, field: "\(field).lane_guidance_ids[\(position)]")
            }
            try self.checkLaneGuidance(
                segment.currentLaneGuidance, field: "\(field).current_lane_guidance_id")
        }
        guard ids.count <= limits.segmentsPerSessionMax else {
            throw Rejection(
                .limitReached, field: "segments",
                reason: "a session holds at most \(limits.segmentsPerSessionMax) route segments")
        }
        self.segments = ids
    }

    private mutating func setUpcoming(_ ids: [ManeuverID], field: String) throws(Rejection) {
        try self.checkManeuvers(ids) { "\(field)[\($0)]" }
        if ids.first != self.firstUpcoming {
            self.firstUpcoming = ids.first
            self.maneuverState = nil
        }
        if !ids.isEmpty { self.lastUpcoming = ids }
    }

    private mutating func setLaneGuidance(_ id: LaneGuidanceID?, field: String) throws(Rejection) {
        try self.checkLaneGuidance(id, field: field)
        if let id { self.lastLaneGuidance = id }
    }

    /// Forward in the cycle, with jumps; round to `continue` only from `execute`; anything after a new maneuver.
    private mutating func setManeuverState(_ state: ManeuverState) throws(Rejection) {
        if self.phase == .paused, state != .continue {
            throw Rejection(.wrongState, field: "state", reason: "is continue while guidance is paused")
        }
        if let old = self.maneuverState, state.rawValue < old.rawValue,
            !(old == .execute && state == .continue)
        {
            throw Rejection(
                .wrongState, field: "state",
                reason: "goes back from \(old) to \(state) before the same maneuver")
        }
        self.maneuverState = state
    }

    private func checkManeuvers(
        _ ids: [ManeuverID], field: (Int) -> String
    ) throws(Rejection) {
        for (index, id) in ids.enumerated() where !self.maneuvers.contains(id) {
            throw Rejection(
                .unknownReference, field: field(index), reason: "maneuver \(id.rawValue) was not added")
        }
    }

    private func checkLaneGuidance(_ id: LaneGuidanceID?, field: String) throws(Rejection) {
        if let id, !self.laneGuidances.contains(id) {
            throw Rejection(
                .unknownReference, field: field, reason: "lane guidance \(id.rawValue) was not added")
        }
    }
}
