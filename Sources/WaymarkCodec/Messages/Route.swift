internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

/// Ids as a repeated field of numbers.
private func ids<Identifier: RawRepresentable<UInt32>>(
    _ ids: [Identifier], in arena: Arena
) -> (count: Int, items: UnsafeMutablePointer<UInt32>?) {
    unsafe arena.list(ids) { $0.rawValue }
}

extension RouteSegment {
    typealias Wire = Waymark__V1__RouteSegment

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__route_segment__init) { wire in
            unsafe wire.pointee.id = arena.text(self.id)
            unsafe wire.pointee.origin = self.origin.wire(in: arena)
            unsafe wire.pointee.destination = self.destination.wire(in: arena)
            if !self.coordinates.isEmpty {
                unsafe wire.pointee.coordinates = LineCoding.wire(self.coordinates, in: arena)
            }
            unsafe (wire.pointee.n_maneuver_ids, wire.pointee.maneuver_ids) =
                unsafe ids(self.maneuvers, in: arena)
            unsafe (wire.pointee.n_lane_guidance_ids, wire.pointee.lane_guidance_ids) =
                unsafe ids(self.laneGuidances, in: arena)
            unsafe (wire.pointee.n_current_maneuver_ids, wire.pointee.current_maneuver_ids) =
                unsafe ids(self.currentManeuvers, in: arena)
            unsafe wire.pointee.current_lane_guidance_id = self.currentLaneGuidance?.rawValue ?? 0
            unsafe wire.pointee.trip_travel_estimates = self.tripTravelEstimates?.wire(in: arena)
            unsafe wire.pointee.maneuver_travel_estimates = self.maneuverTravelEstimates?.wire(in: arena)
            unsafe (wire.pointee.n_speed_limits, wire.pointee.speed_limits) =
                unsafe arena.list(self.speedLimits) { unsafe $0.wire(in: arena) }
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init(
            id: unsafe text(wire.pointee.id), origin: unsafe Waypoint(wire.pointee.origin),
            destination: unsafe Waypoint(wire.pointee.destination))
        self.coordinates = unsafe LineCoding.coordinates(wire.pointee.coordinates)
        self.maneuvers = unsafe numbers(
            wire.pointee.n_maneuver_ids, wire.pointee.maneuver_ids, ManeuverID.init)
        self.laneGuidances = unsafe numbers(
            wire.pointee.n_lane_guidance_ids, wire.pointee.lane_guidance_ids, LaneGuidanceID.init)
        self.currentManeuvers = unsafe numbers(
            wire.pointee.n_current_maneuver_ids, wire.pointee.current_maneuver_ids, ManeuverID.init)
        self.currentLaneGuidance = unsafe wire.pointee.current_lane_guidance_id.given.map(LaneGuidanceID.init)
        self.tripTravelEstimates = unsafe wire.pointee.trip_travel_estimates.map {
            unsafe TravelEstimates($0)
        }
        self.maneuverTravelEstimates = unsafe wire.pointee.maneuver_travel_estimates.map {
            unsafe TravelEstimates($0)
        }
        self.speedLimits = unsafe list(wire.pointee.n_speed_limits, wire.pointee.speed_limits) {
            unsafe SpeedLimitSpan($0)
        }
    }
}

extension RouteInformation {
    typealias Wire = Waymark__V1__RouteInformation

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__route_information__init) { wire in
            unsafe (wire.pointee.n_maneuvers, wire.pointee.maneuvers) = unsafe arena.list(self.maneuvers) {
                unsafe $0.wire(in: arena)
            }
            unsafe (wire.pointee.n_lane_guidances, wire.pointee.lane_guidances) =
                unsafe arena.list(self.laneGuidances) { unsafe $0.wire(in: arena) }
            unsafe (wire.pointee.n_segments, wire.pointee.segments) = unsafe arena.list(self.segments) {
                unsafe $0.wire(in: arena)
            }
            unsafe wire.pointee.current_segment_id = arena.text(self.currentSegment ?? "")
            unsafe (wire.pointee.n_upcoming_maneuver_ids, wire.pointee.upcoming_maneuver_ids) =
                unsafe ids(self.upcomingManeuvers, in: arena)
            unsafe wire.pointee.current_lane_guidance_id = self.currentLaneGuidance?.rawValue ?? 0
            unsafe wire.pointee.trip_travel_estimates = self.tripTravelEstimates?.wire(in: arena)
            unsafe wire.pointee.maneuver_travel_estimates = self.maneuverTravelEstimates?.wire(in: arena)
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init(
            maneuvers: unsafe list(wire.pointee.n_maneuvers, wire.pointee.maneuvers) { unsafe Maneuver($0) },
            laneGuidances: unsafe list(wire.pointee.n_lane_guidances, wire.pointee.lane_guidances) {
                unsafe LaneGuidance($0)
            },
            segments: unsafe list(wire.pointee.n_segments, wire.pointee.segments) { unsafe RouteSegment($0) })
        self.currentSegment = unsafe givenText(wire.pointee.current_segment_id)
        self.upcomingManeuvers = unsafe numbers(
            wire.pointee.n_upcoming_maneuver_ids, wire.pointee.upcoming_maneuver_ids, ManeuverID.init)
        self.currentLaneGuidance = unsafe wire.pointee.current_lane_guidance_id.given.map(LaneGuidanceID.init)
        self.tripTravelEstimates = unsafe wire.pointee.trip_travel_estimates.map {
            unsafe TravelEstimates($0)
        }
        self.maneuverTravelEstimates = unsafe wire.pointee.maneuver_travel_estimates.map {
            unsafe TravelEstimates($0)
        }
    }
}

extension PublicationOutline.Segment {
    private typealias Field = FieldNumber.RouteSegment

    /// The outlines of a list of segments, no two ids alike. Checks that fields do not contradict each other.
    static func list(checking wire: WireMessage, _ field: Int) throws(Rejection) -> [Self] {
        let segments = try wire.elements(field, "segments", Self.init(checking:))
        try checkUnique(segments.map(\.id), "segments")
        return segments
    }

    private init(checking segment: WireMessage) throws(Rejection) {
        self.init(id: segment.identifier(Field.id))
        self.maneuvers = segment.numbers(Field.maneuverIds, ManeuverID.init)
        self.laneGuidances = segment.numbers(Field.laneGuidanceIds, LaneGuidanceID.init)
        self.currentManeuvers = segment.numbers(Field.currentManeuverIds, ManeuverID.init)
        self.currentLaneGuidance = segment.number(Field.currentLaneGuidanceId).given.map(LaneGuidanceID.init)
        self.hasSpeedLimits = segment.first(Field.speedLimits) != nil
        if self.hasSpeedLimits { try SpeedLimitSpan.check(segment) }
    }
}

extension PublicationOutline.Route {
    private typealias Field = FieldNumber.RouteInformation

    /// The ids of a route. Checks that fields do not contradict each other.
    init(checking route: WireMessage) throws(Rejection) {
        self.init()
        self.maneuvers = try ManeuverID.list(checking: route, Field.maneuvers)
        self.laneGuidances = try LaneGuidanceID.list(checking: route, Field.laneGuidances)
        self.segments = try PublicationOutline.Segment.list(checking: route, Field.segments)
        let current = route.identifier(Field.currentSegmentId)
        self.currentSegment = current.isEmpty ? nil : current
        self.upcomingManeuvers = route.numbers(Field.upcomingManeuverIds, ManeuverID.init)
        self.currentLaneGuidance = route.number(Field.currentLaneGuidanceId).given.map(LaneGuidanceID.init)
        self.hasEstimates =
            route.first(Field.tripTravelEstimates) != nil || route.first(Field.maneuverTravelEstimates) != nil
    }
}
