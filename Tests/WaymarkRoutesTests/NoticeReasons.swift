/// The reason of each kind of notice on a good route. A notice without a row here is one that the readers should not write, or one whose
/// reason is not known yet.
enum NoticeReasons {
    /// Members that are not carried over, by their name, and why not.
    static let members: [(names: [String], reason: String)] = [
        (
            [
                "weight", "weight_name", "weight_typical", "turn_weight", "cost", "turn_duration",
                "duration_typical",
            ], "what the engine optimised; a driver sees lengths and times"
        ),
        (
            [
                "admins", "admin_index", "country_crossed", "is_urban", "tunnel_name", "rest_stop",
                "toll_collection",
            ],
            "properties of the roads that the protocol has no field for"
        ),
        (
            [
                "has_toll", "has_ferry", "has_highway", "has_time_restrictions", "toll", "ferry", "rough",
                "classes",
                "travel_mode", "travel_type", "speedLimitSign", "speedLimitUnit", "incidents", "closures",
            ], "properties of the way that the protocol has no field for, or that the maneuvers say"
        ),
        (
            [
                "voiceInstructions", "voiceLocale", "language", "pronunciation",
                "verbal_transition_alert_instruction", "verbal_pre_transition_instruction",
                "verbal_post_transition_instruction",
            ], "speech is the client's: nothing is spoken through the gateway"
        ),
        (
            [
                "type", "modifier", "components", "degrees", "driving_side", "distanceAlongGeometry", "sub",
                "secondary",
                "text", "abbr", "abbr_priority", "imageBaseURL", "delimiter", "directions", "active",
                "active_direction",
            ], "a banner's own form: its step has type and modifier, and instructions are texts"
        ),
        (
            ["entry"], "roads that may not be entered are drawn as others are"
        ),
        (
            ["geometry_index", "distance", "nodes", "datasources", "metadata", "distance_from_start"],
            "an index into the line or a measure of it, which the line itself has"
        ),
        (
            [
                "congestion", "congestion_numeric", "speed", "annotation", "duration",
            ], "of pieces of the line; the times between points are taken where there are all of them"
        ),
        (
            ["rotary_name"], "the engine's instruction is taken as it is; only a composed one says the name"
        ),
        (
            ["exit_branch_elements", "exit_name_elements"],
            "the road behind the maneuver has a name of its own"
        ),
        (
            ["valid"], "an active lane is the one to use, valid or not"
        ),
        (
            ["min_lon", "min_lat", "max_lon", "max_lat", "bbox"], "the line has its own extent"
        ),
        (
            [
                "hint", "alternatives_count", "confidence", "original_index", "side_of_street", "date_time",
            ],
            "of the engine's search for roads; the arrival's type has the side, and the trip has its own times"
        ),
        (
            ["waypoint_index", "trips_index", "name", "location"],
            "of waypoints whose number does not match the legs; the legs' ends are taken"
        ),
        (
            [
                "uuid", "id", "data_version", "voice_units", "voice_instructions", "user", "steps",
                "roundabout_exits",
                "profile", "overview", "geometries", "coordinates", "continue_straight", "baseUrl",
                "banner_instructions", "annotations", "alternatives", "access_token",
            ], "of the request to the engine, not of the route"
        ),
        (
            [
                "foreignRouteResponseMember", "foreignRouteMember", "foreignLegMember1", "foreignLegMember2",
                "foreignStepMember",
                "foreignIntersectionsMember", "foreignLaneMember", "foreignWaypointMember",
                "foreignSilentWaypointMember", "foreignAttributesMember", "_merged_bearing_after",
            ], "a member that no documentation has"
        ),
    ]

    /// Other notices, by a part of their sentence, and why they are right.
    static let sentences: [(part: String, reason: String)] = [
        (
            "the engine moved this point by",
            "the nearest road of the map is that far: small extracts end early"
        ),
        (
            "from this point",
            "the same in the engine's own form; GraphHopper's test file has waypoints of another place"
        ),
        (
            "the line is 50 m long, but the answer says 9 m",
            "a trace was matched back and forth; the answer contradicts itself"
        ),
        ("do not match", "the answer's lists differ in length"),
        (
            "the stated directions contradict the line",
            "Valhalla says 233 degrees where its own road and line lead to 126"
        ),
        ("the engine says uTurn, but the line turns by", "OSRM turns around on a road of two carriageways"),
        (
            "the engine says leftTurnAtEnd, but the line turns by",
            "OSRM's own bearings say that it turns to the right"
        ),
        (
            "but the engine says left",
            "the map extracts lack the country's boundary: Germany, Monaco and Andorra"
        ),
        ("the engine does not say on which side traffic drives", "the form has no traffic side"),
        ("the direction in which the roundabout is left", "the line has too few points to show it"),
        (
            "the exit's number on leaving is not carried over",
            "the entry has none: the route begins on the roundabout"
        ),
        ("a backslash in the polyline was not escaped", "the file was saved so"),
        ("longer than the instruction", "the banner is a list of roads"),
        ("is no waypoint", "the vehicle does not stop there"),
        ("are no waypoints", "the vehicle does not stop there"),
        ("could not match", "the trace is not on a road there"),
        ("are no alternatives", "parts of one trace"),
    ]

    /// The reason for a notice; nil if there is none.
    static func reason(path: String, sentence: String) -> String? {
        guard sentence.hasPrefix("not carried over") else {
            return self.sentences.first { sentence.contains($0.part) }?.reason
        }
        let name = path.split(separator: ".").last.map { String($0.prefix { $0 != "[" }) } ?? ""
        return self.members.first { $0.names.contains(name) }?.reason
    }
}
