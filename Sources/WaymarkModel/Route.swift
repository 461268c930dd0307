/// One leg between two waypoints.
///
/// - Source: `CPRouteSegment`.
public struct RouteSegment: Sendable, Hashable {
    /// The id, which is unique within one generation of the session; not empty, at most 128 bytes.
    public var id: String
    /// The waypoint at which the segment starts.
    public var origin: Waypoint
    /// The waypoint at which the segment ends.
    public var destination: Waypoint
    /// The way, from origin to destination; at most 262 144 points. On the wire with a precision of 1e-6 degree.
    public var coordinates: [Coordinate]
    /// The maneuvers, in order along the segment; each must have been added.
    public var maneuvers: [ManeuverID]
    /// The lane guidances, in order along the segment; each must have been added.
    public var laneGuidances: [LaneGuidanceID]
    /// The maneuvers to show when the segment becomes current.
    public var currentManeuvers: [ManeuverID]
    /// The lane guidance to show when the segment becomes current; nil for none.
    public var currentLaneGuidance: LaneGuidanceID?
    /// The estimates of the whole trip, from the segment's start.
    public var tripTravelEstimates: TravelEstimates?
    /// The estimates from the segment's start to the first of the current maneuvers.
    public var maneuverTravelEstimates: TravelEstimates?
    /// The speed limits along the line, whose first points rise; at most 4 096. Before the first span the limit is not known.
    public var speedLimits: [SpeedLimitSpan]

    /// Creates a route segment.
    public init(
        id: String, origin: Waypoint, destination: Waypoint, coordinates: [Coordinate] = [],
        maneuvers: [ManeuverID] = [], laneGuidances: [LaneGuidanceID] = [],
        currentManeuvers: [ManeuverID] = [], currentLaneGuidance: LaneGuidanceID? = nil,
        tripTravelEstimates: TravelEstimates? = nil, maneuverTravelEstimates: TravelEstimates? = nil,
        speedLimits: [SpeedLimitSpan] = []
    ) {
        self.id = id
        self.origin = origin
        self.destination = destination
        self.coordinates = coordinates
        self.maneuvers = maneuvers
        self.laneGuidances = laneGuidances
        self.currentManeuvers = currentManeuvers
        self.currentLaneGuidance = currentLaneGuidance
        self.tripTravelEstimates = tripTravelEstimates
        self.maneuverTravelEstimates = maneuverTravelEstimates
        self.speedLimits = speedLimits
    }
}

/// The content of a route, published as a whole when guidance starts or resumes after a reroute.
///
/// - Source: `CPRouteInformation`.
public struct RouteInformation: Sendable, Hashable {
    /// The maneuvers, in order along the route; at most 4 096.
    public var maneuvers: [Maneuver]
    /// The lane guidances, in order along the route; at most 4 096.
    public var laneGuidances: [LaneGuidance]
    /// The segments, in order; at most 65.
    public var segments: [RouteSegment]
    /// The segment the vehicle is on; nil for the first.
    public var currentSegment: String?
    /// The next maneuvers, nearest first; at most 64.
    public var upcomingManeuvers: [ManeuverID]
    /// The lanes to show now; nil for none.
    public var currentLaneGuidance: LaneGuidanceID?
    /// The estimates of the whole trip.
    public var tripTravelEstimates: TravelEstimates?
    /// The estimates to the first upcoming maneuver.
    public var maneuverTravelEstimates: TravelEstimates?

    /// Creates a route.
    public init(
        maneuvers: [Maneuver] = [], laneGuidances: [LaneGuidance] = [], segments: [RouteSegment] = [],
        currentSegment: String? = nil, upcomingManeuvers: [ManeuverID] = [],
        currentLaneGuidance: LaneGuidanceID? = nil, tripTravelEstimates: TravelEstimates? = nil,
        maneuverTravelEstimates: TravelEstimates? = nil
    ) {
        self.maneuvers = maneuvers
        self.laneGuidances = laneGuidances
        self.segments = segments
        self.currentSegment = currentSegment
        self.upcomingManeuvers = upcomingManeuvers
        self.currentLaneGuidance = currentLaneGuidance
        self.tripTravelEstimates = tripTravelEstimates
        self.maneuverTravelEstimates = maneuverTravelEstimates
    }
}
