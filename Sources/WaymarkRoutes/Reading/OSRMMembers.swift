/// The members of OSRM's form that are read.
enum OSRMMembers {
    static let answer = UncarriedMembers(
        read: Self.places("waypoints").union(Self.places("tracepoints")).union(["code"]),
        readWhole: [
            "routes", "matchings", "trips", "waypoints[].location", "tracepoints[].location",
        ])

    /// Of each place in `list`.
    private static func places(_ list: String) -> Set<String> {
        let members = [
            "location", "name", "distance", "waypoint_index", "matchings_index", "trips_index", "metadata",
        ]
        let station = ["type", "name", "station_id", "plug_type", "power_kw", "charge_time"]
        let paths = members + station.map { "metadata.\($0)" }
        return Set([list] + paths.map { "\(list)[].\($0)" })
    }

    static let route = UncarriedMembers(
        read: Self.places("waypoints").union([
            "legs", "distance", "duration", "voiceLocale", "weight_name",
            "legs[].steps", "legs[].distance", "legs[].duration",
            "legs[].summary", "legs[].via_waypoints", "legs[].via_waypoints[].waypoint_index",
            "legs[].annotation", "legs[].annotation.duration", "legs[].annotation.speed",
            "legs[].annotation.distance", "legs[].steps[].distance", "legs[].steps[].duration",
            "legs[].steps[].name", "legs[].steps[].ref", "legs[].steps[].destinations",
            "legs[].steps[].exits",
            "legs[].steps[].rotary_name", "legs[].steps[].mode", "legs[].steps[].driving_side",
            "legs[].steps[].maneuver", "legs[].steps[].maneuver.type", "legs[].steps[].maneuver.modifier",
            "legs[].steps[].maneuver.exit", "legs[].steps[].maneuver.instruction",
            "legs[].steps[].maneuver.bearing_before", "legs[].steps[].maneuver.bearing_after",
            "legs[].steps[].intersections", "legs[].steps[].intersections[].in",
            "legs[].steps[].intersections[].out", "legs[].steps[].intersections[].geometry_index",
            "legs[].steps[].intersections[].lanes", "legs[].steps[].intersections[].lanes[].valid",
            "legs[].steps[].intersections[].lanes[].active",
            "legs[].steps[].intersections[].lanes[].valid_indication",
            "legs[].steps[].intersections[].mapbox_streets_v8",
            "legs[].steps[].intersections[].mapbox_streets_v8.class", "legs[].steps[].bannerInstructions",
            "legs[].steps[].bannerInstructions[].primary",
            "legs[].steps[].bannerInstructions[].primary.text",
            "legs[].steps[].bannerInstructions[].primary.degrees",
            "legs[].steps[].bannerInstructions[].primary.driving_side",
            "legs[].steps[].bannerInstructions[].sub",
        ]),
        readWhole: [
            // Why: the overview geometry repeats the steps' geometry.
            "geometry", "waypoints[].location", "legs[].steps[].geometry", "legs[].steps[].maneuver.location",
            "legs[].steps[].intersections[].location", "legs[].steps[].intersections[].bearings",
            "legs[].steps[].intersections[].entry", "legs[].steps[].intersections[].classes",
            "legs[].steps[].intersections[].lanes[].indications",
            "legs[].steps[].bannerInstructions[].sub.components",
        ])
}
