internal import WaymarkModel
internal import WaymarkProtocol

/// What a route's publications may refer to: the ids of all that was added to it.
///
/// The gateway checks the same. Here it is checked before anything is taken over, so that a mistake is the caller's error
/// and not a refusal long after, and so that a session can always be stated anew.
struct RouteReferences: Sendable, Hashable {
    private var maneuvers: Set<ManeuverID> = []
    private var laneGuidances: Set<LaneGuidanceID> = []
    private var segments: Set<String> = []

    /// Takes over what a publication adds, or replaces.
    ///
    /// - Throws: ``ClientError/rejected(field:reason:)`` if an id is there already, or refers to what is not; `self` is of
    ///   no use then.
    mutating func apply(_ outline: PublicationOutline) throws(ClientError) {
        switch outline {
        case .startGuidance(_, _, let route), .resumeGuidance(_, let route?): try self.replace(route)
        case .addManeuvers(let ids, _): try self.add(ids)
        case .addLaneGuidances(let ids, _): try self.add(ids)
        case .addRouteSegments(let segments, _): try self.add(segments)
        case .upcomingManeuvers(let ids, _): try self.check(ids, "upcomingManeuvers")
        case .currentLaneGuidance(let id, _): try self.check([id].compactMap(\.self), "currentLaneGuidance")
        case .maneuverEstimates(let id, _): try self.check([id], "maneuver")
        case .currentRouteSegment(let id, _): try self.check(segment: id)
        case .tripPreviews, .updateTrip, .currentRoadName, .maneuverState, .tripEstimates, .pauseGuidance,
            .resumeGuidance(_, nil), .showAlert, .dismissAlert, .shareDestination, .finishGuidance,
            .cancelGuidance, .unrecognized:
            break
        }
    }

    private mutating func replace(_ route: PublicationOutline.Route) throws(ClientError) {
        self = RouteReferences()
        try self.add(route.maneuvers)
        try self.add(route.laneGuidances)
        try self.add(route.segments)
        try self.check(route.upcomingManeuvers, "route.upcomingManeuvers")
        try self.check([route.currentLaneGuidance].compactMap(\.self), "route.currentLaneGuidance")
        if let segment = route.currentSegment { try self.check(segment: segment) }
    }

    private mutating func add(_ ids: [ManeuverID]) throws(ClientError) {
        for (index, id) in ids.enumerated() where !self.maneuvers.insert(id).inserted {
            throw .rejected(field: "maneuvers[\(index)].id", reason: "\(id.rawValue) was added before")
        }
    }

    private mutating func add(_ ids: [LaneGuidanceID]) throws(ClientError) {
        for (index, id) in ids.enumerated() where !self.laneGuidances.insert(id).inserted {
            throw .rejected(field: "laneGuidances[\(index)].id", reason: "\(id.rawValue) was added before")
        }
    }

    private mutating func add(_ segments: [PublicationOutline.Segment]) throws(ClientError) {
        for (index, segment) in segments.enumerated() {
            guard self.segments.insert(segment.id).inserted else {
                throw .rejected(field: "segments[\(index)].id", reason: "\(segment.id) was added before")
            }
            try self.check(segment.maneuvers, "segments[\(index)].maneuvers")
            try self.check(segment.laneGuidances, "segments[\(index)].laneGuidances")
            try self.check(segment.currentManeuvers, "segments[\(index)].currentManeuvers")
            try self.check(
                [segment.currentLaneGuidance].compactMap(\.self), "segments[\(index)].currentLaneGuidance")
        }
    }

    private func check(_ ids: [ManeuverID], _ field: String) throws(ClientError) {
        for id in ids where !self.maneuvers.contains(id) {
            throw .rejected(field: field, reason: "maneuver \(id.rawValue) was not added; add it first")
        }
    }

    private func check(_ ids: [LaneGuidanceID], _ field: String) throws(ClientError) {
        for id in ids where !self.laneGuidances.contains(id) {
            throw .rejected(field: field, reason: "lane guidance \(id.rawValue) was not added; add it first")
        }
    }

    private func check(segment id: String) throws(ClientError) {
        guard self.segments.contains(id) else {
            throw .rejected(field: "currentSegment", reason: "segment \(id) was not added; add it first")
        }
    }
}
