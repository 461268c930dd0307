public import WaymarkModel

/// A change since the last step of a drive. Each but the first two is one publication.
public enum DriveChange: Sendable, Hashable {
    /// The vehicle's position; its direction in degrees clockwise from north, nil on a route of one point.
    case position(Coordinate, bearing: Double?)
    /// The vehicle has left the route here and needs a new one. Only positions follow.
    case offRoute(Coordinate)
    /// The vehicle is at the stop with this index in the route's waypoints; never the last one. Pause guidance until
    /// ``leavingWaypoint(_:)``, which the same step has; the changes in between are those from leg to leg.
    case arrivedAtWaypoint(Int)
    /// The vehicle leaves the stop with this index: resume guidance.
    case leavingWaypoint(Int)
    /// The segment that is driven now.
    case currentSegment(String)
    /// The next maneuvers, nearest first.
    case upcomingManeuvers([ManeuverID])
    /// The lanes to show; nil for none.
    case currentLaneGuidance(LaneGuidanceID?)
    /// The road that is driven, longest name first; empty for a road without a name.
    case roadName([String])
    /// The stage of the approach to the first upcoming maneuver. The last state of a maneuver that was passed is `continue`; the next
    /// maneuver becomes the first after it.
    case maneuverState(ManeuverState)
    /// The estimates to the destination, with the colour of the remaining time.
    case tripEstimates(TravelEstimates, TimeRemainingColor)
    /// The estimates to the first upcoming maneuver.
    case maneuverEstimates(ManeuverID, TravelEstimates)
    /// The speed limit here, and the next different one that is near; only along a route with speed limits.
    case speedLimit(SpeedLimit, next: SpeedLimitAhead?)
    /// The destination is reached. Nothing follows.
    case finished
}

/// The options for a drive along a route.
public struct DriveOptions: Sendable, Hashable {
    /// The factor by which the engine's own speeds are multiplied; 1 is real time; finite, above 0.
    public var speedFactor = 1.0
    package var thresholds = ManeuverStateThresholds()
    /// The units in which estimates are shown.
    public var units = DistanceUnits.metric
    /// The maximum number of maneuvers in ``DriveChange/upcomingManeuvers(_:)``; at least 1.
    public var upcomingManeuversMax = 3
    /// The distance from the route's start at which the vehicle leaves the route, in metres; nil if it stays on it.
    public var leavesRouteAtMeters: Double?
    /// Farther than this from the route, in metres, the vehicle counts as off it.
    package var offRouteMeters = 40.0
    /// The angle at which the route is left, in degrees.
    package var leavingAngle = 40.0

    /// Creates options for a drive in real time along the whole route.
    public init() {}
}
