internal import WaymarkModel

/// The ids of all that was added to a route: what its publications may refer to.
///
/// The gateway validates every publication with it. A client does so before it accepts one, so that a mistake is its caller's error
/// at once and not a rejection much later.
package struct RouteContent: Sendable, Hashable, Codable {
    /// How much may be added to one route.
    package struct Limits: Sendable, Hashable {
        package var maneuversPerSessionMax = 16_384
        package var laneGuidancesPerSessionMax = 16_384
        package var segmentsPerSessionMax = 256

        package init() {}

        /// No limits.
        package static let none = {
            var limits = Limits()
            limits.maneuversPerSessionMax = .max
            limits.laneGuidancesPerSessionMax = .max
            limits.segmentsPerSessionMax = .max
            return limits
        }()
    }

    private var maneuvers: Set<ManeuverID> = []
    private var laneGuidances: Set<LaneGuidanceID> = []
    package private(set) var segments: Set<Identifier> = []

    package init() {}

    /// Validates what a publication adds and refers to, and applies it if all of it is valid.
    ///
    /// - Throws: A ``Rejection`` with the field's path, if an id was added before, refers to something that was not added, or exceeds
    ///   a limit.
    package mutating func apply(_ outline: PublicationOutline, limits: Limits) throws(Rejection) {
        let isAdded = outline.rule.adds != nil
        guard isAdded || outline.rule.refersTo != nil else { return }
        switch outline.content {
        case .start(_, let route), .route(let route): self = try Self.content(of: route, limits: limits)
        case .maneuvers(let ids) where isAdded: try self.add(ids, limits)
        case .maneuvers(let ids): try self.check(ids) { "maneuver_ids[\($0)]" }
        case .maneuver(let id): try self.check(id, "maneuver_id")
        case .laneGuidances(let ids): try self.add(ids, limits)
        case .laneGuidance(let id): try self.check(id, "lane_guidance_id")
        case .segments(let segments): try self.add(segments, limits)
        case .segment(let id): try self.check(segment: id, "segment_id")
        case .nothing, .previews, .trip, .maneuverState, .pause, .alert, .share, .unrecognizedState,
            .extension:
            break
        }
    }

    /// The content of a route that replaces everything added before.
    private static func content(
        of route: PublicationOutline.Route, limits: Limits
    ) throws(Rejection) -> RouteContent {
        var content = RouteContent()
        do throws(Rejection) {
            try content.add(route.maneuvers, limits)
            try content.add(route.laneGuidances, limits)
            try content.add(route.segments, limits)
            try content.check(route.upcomingManeuvers) { "upcoming_maneuver_ids[\($0)]" }
            try content.check(route.currentLaneGuidance, "current_lane_guidance_id")
            if let segment = route.currentSegment {
                try content.check(segment: segment, "current_segment_id")
            }
        } catch {
            var error = error
            error.field = "route." + error.field
            throw error
        }
        return content
    }

    private mutating func add(_ ids: [ManeuverID], _ limits: Limits) throws(Rejection) {
        try Self.add(ids, to: &self.maneuvers, limits.maneuversPerSessionMax, "maneuvers", "maneuver")
    }

    private mutating func add(_ ids: [LaneGuidanceID], _ limits: Limits) throws(Rejection) {
        try Self.add(
            ids, to: &self.laneGuidances, limits.laneGuidancesPerSessionMax, "lane_guidances",
            "lane guidance")
    }

    private static func add<ID: RawRepresentable & Hashable>(
        _ ids: [ID], to known: inout Set<ID>, _ countMax: Int, _ field: String, _ word: String
    ) throws(Rejection) {
        for (index, id) in ids.enumerated() where known.contains(id) {
            throw Rejection(
                .duplicate, field: "\(field)[\(index)].id",
                reason: "\(word) \(id.rawValue) was added before")
        }
        guard known.count + ids.count <= countMax else {
            throw Rejection(
                .limitReached, field: field, reason: "a session holds at most \(countMax) \(word)s",
                limit: ReachedLimit("\(field)_per_session_max", countMax))
        }
        known.formUnion(ids)
    }

    private mutating func add(
        _ segments: [PublicationOutline.Segment], _ limits: Limits
    ) throws(Rejection) {
        var ids = self.segments
        for (index, segment) in segments.enumerated() {
            let field = "segments[\(index)]"
            guard ids.insert(segment.id).inserted else {
                throw Rejection(
                    .duplicate, field: "\(field).id", reason: "segment \(segment.id) was added before")
            }
            try self.check(segment.maneuvers) { "\(field).maneuver_ids[\($0)]" }
            try self.check(segment.currentManeuvers) { "\(field).current_maneuver_ids[\($0)]" }
            for (position, id) in segment.laneGuidances.enumerated() {
                try self.check(id, "\(field).lane_guidance_ids[\(position)]")
            }
            try self.check(segment.currentLaneGuidance, "\(field).current_lane_guidance_id")
        }
        guard ids.count <= limits.segmentsPerSessionMax else {
            throw Rejection(
                .limitReached, field: "segments",
                reason: "a session holds at most \(limits.segmentsPerSessionMax) route segments",
                limit: ReachedLimit("segments_per_session_max", limits.segmentsPerSessionMax))
        }
        self.segments = ids
    }

    private func check(_ ids: [ManeuverID], field: (Int) -> String) throws(Rejection) {
        for (index, id) in ids.enumerated() { try self.check(id, field(index)) }
    }

    private func check(_ id: ManeuverID, _ field: @autoclosure () -> String) throws(Rejection) {
        guard self.maneuvers.contains(id) else {
            throw Rejection(
                .unknownReference, field: field(), reason: "maneuver \(id.rawValue) was not added")
        }
    }

    private func check(_ id: LaneGuidanceID?, _ field: @autoclosure () -> String) throws(Rejection) {
        if let id, !self.laneGuidances.contains(id) {
            throw Rejection(
                .unknownReference, field: field(), reason: "lane guidance \(id.rawValue) was not added")
        }
    }

    private func check(segment id: Identifier, _ field: String) throws(Rejection) {
        guard self.segments.contains(id) else {
            throw Rejection(.unknownReference, field: field, reason: "segment \(id) was not added")
        }
    }
}
