import WaymarkModel

/// A leg as read, before limits, ids and speeds are applied.
struct LegDraft {
    /// A maneuver, and the road up to the next one.
    struct Step {
        var path: JSONPath
        /// The maneuver's position: index into the leg's points.
        var pointIndex: Int
        /// Its id, estimates and lane guidance are set later.
        var maneuver: Maneuver
        /// From this maneuver to the next, in metres; nil if the engine does not say.
        var distance: Double?
        /// From this maneuver to the next, in seconds; nil if the engine does not say.
        var duration: Double?
        /// Of the road after the maneuver.
        var roadNames: [String] = []
        var isMotorway = false
    }

    /// The lanes at one point.
    struct Lanes {
        var path: JSONPath
        var pointIndex: Int
        var lanes: [Lane]
        /// The maneuver they belong to: index into the leg's steps; nil for lanes between maneuvers.
        var stepIndex: Int?
    }

    var path: JSONPath
    /// As in the answer, with equal neighbours.
    var points: [Coordinate] = []
    /// In order of their points.
    var steps: [Step] = []
    var lanes: [Lanes] = []
    /// Seconds between neighbouring points; empty where the engine does not say, else one fewer than points.
    var pointDurations: [Double?] = []
    /// In metres; nil if the engine does not say.
    var distance: Double?
    /// In seconds; nil if the engine does not say.
    var duration: Double?
    /// In the engine's words; empty for none.
    var summary = ""
}

/// A whole route as read.
struct RouteDraft {
    var engine: EngineRoute.Engine
    var path: JSONPath
    var legs: [LegDraft] = []
    /// Origin, stops, destination; nil if the answer has none, or their number is not that of the legs plus one.
    var waypoints: [Waypoint]?
    /// In metres; nil if the engine does not say.
    var distance: Double?
    /// In seconds; nil if the engine does not say.
    var duration: Double?
    var book = NoticeBook()
}
