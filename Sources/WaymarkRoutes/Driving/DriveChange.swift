package import WaymarkModel

/// What is new since the last step of a drive; each but the first two is one publication.
package enum DriveChange: Sendable, Hashable {
    /// Where the vehicle is; its direction in degrees clockwise from north, nil on a route of one point.
    case position(Coordinate, bearing: Double?)
    /// The vehicle has left the route here and needs a new one. Only positions follow.
    case offRoute(Coordinate)
    /// The stop at this index of the route's waypoints is reached; never the last one. Guidance is paused until
    /// ``leavingWaypoint(_:)``, which the same step brings; in between comes what changes from leg to leg.
    case arrivedAtWaypoint(Int)
    /// The vehicle leaves the stop at this index: guidance resumes.
    case leavingWaypoint(Int)
    /// The segment that is driven now.
    case currentSegment(String)
    /// The next maneuvers, nearest first.
    case upcomingManeuvers([ManeuverID])
    /// The lanes to show; nil for none.
    case currentLaneGuidance(LaneGuidanceID?)
    /// The road that is driven, longest name first; empty for a road without a name.
    case roadName([String])
    /// How near the first upcoming maneuver is. Goes back to `continue` as the last thing that is said of a maneuver that is
    /// behind, before another one becomes the first.
    case maneuverState(ManeuverState)
    /// To the destination.
    case tripEstimates(TravelEstimates, TimeRemainingColor)
    /// To the first upcoming maneuver.
    case maneuverEstimates(ManeuverID, TravelEstimates)
    /// The destination is reached. Nothing follows.
    case finished
}

/// How a route is driven.
package struct DriveOptions: Sendable, Hashable {
    /// Times the engine's own speeds; 1 is real time; finite, above 0.
    package var speedFactor = 1.0
    package var thresholds = ManeuverStateThresholds()
    /// The units in which estimates are shown.
    package var units = DistanceUnits.metric
    /// How many upcoming maneuvers are named; at least 1.
    package var upcomingManeuversMax = 3
    /// Leave the route after this many metres from its start; nil stays on it.
    package var leavesRouteAtMeters: Double?
    /// Farther than this from the route, in metres, the vehicle counts as off it.
    package var offRouteMeters = 40.0
    /// The angle at which the route is left, in degrees.
    package var leavingAngle = 40.0

    package init() {}
}
