internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

// model.proto: from C to the model.

private typealias Limit = ProtocolConstants

func coordinate(_ wire: Waymark__V1__Coordinate) throws(Rejection) -> Coordinate {
    var coordinate = unsafe Coordinate(
        latitude: try checked(wire.latitude, in: -90...90, "latitude"),
        longitude: try checked(wire.longitude, in: -180...180, "longitude"))
    if unsafe wire.altitude_case == WAYMARK__V1__COORDINATE__ALTITUDE_ALTITUDE_METERS {
        coordinate.altitude = try unsafe checked(
            wire.altitude_meters, in: Limit.altitudeMeters, "altitude_meters")
    }
    return coordinate
}

func polyline(_ wire: Waymark__V1__Polyline) throws(Rejection) -> [Coordinate] {
    let count = unsafe wire.n_latitude_e6_deltas
    guard unsafe wire.n_longitude_e6_deltas == count else {
        throw Rejection(
            .inconsistent, field: "longitude_e6_deltas", reason: "has another length than latitude_e6_deltas")
    }
    var (latitude, longitude) = (Int64(0), Int64(0))
    return try list(count, "latitude_e6_deltas", max: Limit.coordinatesMax) { index throws(Rejection) in
        latitude += unsafe Int64(wire.latitude_e6_deltas[index])
        longitude += unsafe Int64(wire.longitude_e6_deltas[index])
        guard abs(latitude) <= 90_000_000, abs(longitude) <= 180_000_000 else {
            throw Rejection(.outOfRange, reason: "leads to a place that is not on Earth")
        }
        return Coordinate(latitude: Double(latitude) / 1e6, longitude: Double(longitude) / 1e6)
    }
}

func displayDistance(_ wire: Waymark__V1__DisplayDistance) throws(Rejection) -> DisplayDistance {
    unsafe DisplayDistance(
        valueTenths: try checked(wire.value_tenths, in: 0...Limit.displayValueTenthsMax, "value_tenths"),
        unit: try openSpecified(wire.unit.rawValue, "unit"))
}

func travelEstimates(_ wire: Waymark__V1__TravelEstimates) throws(Rejection) -> TravelEstimates {
    let meters = unsafe wire.distance_remaining_meters
    var estimates = TravelEstimates(
        distanceRemaining: .meters(
            try checked(meters, in: 0...Limit.distanceMetersMax, "distance_remaining_meters")))
    if unsafe wire.time_case == WAYMARK__V1__TRAVEL_ESTIMATES__TIME_TIME_REMAINING_SECONDS {
        let seconds = unsafe wire.time_remaining_seconds
        estimates.timeRemaining = .seconds(
            try checked(seconds, in: 0...Limit.timeSecondsMax, "time_remaining_seconds"))
    }
    estimates.distanceRemainingToDisplay = try unsafe optional(
        wire.distance_remaining_to_display, "distance_remaining_to_display", displayDistance)
    return estimates
}

func maneuver(_ wire: Waymark__V1__Maneuver) throws(Rejection) -> Maneuver {
    var maneuver = try unsafe Maneuver(
        id: ManeuverID(rawValue: identifier(wire.id, "id")), type: open(wire.type.rawValue),
        junctionType: open(wire.junction_type.rawValue), trafficSide: open(wire.traffic_side.rawValue))
    maneuver.instructionVariants = try unsafe variants(
        wire.instruction_variants, wire.n_instruction_variants, "instruction_variants")
    maneuver.roadFollowingManeuverVariants = try unsafe variants(
        wire.road_following_maneuver_variants, wire.n_road_following_maneuver_variants,
        "road_following_maneuver_variants")
    maneuver.highwayExitLabel = try unsafe text(
        wire.highway_exit_label, "highway_exit_label", bytesMax: Limit.shortTextBytesMax)
    if unsafe wire.exit_angle_case == WAYMARK__V1__MANEUVER__EXIT_ANGLE_JUNCTION_EXIT_ANGLE_DEGREES {
        maneuver.junctionExitAngle = try unsafe angle(
            wire.junction_exit_angle_degrees, "junction_exit_angle_degrees")
    }
    let elements = "junction_element_angles_degrees"
    let exit = maneuver.junctionExitAngle
    maneuver.junctionElementAngles = try unsafe list(
        wire.n_junction_element_angles_degrees, elements, max: Limit.anglesMax
    ) { index throws(Rejection) in
        let angle = try unsafe angle(wire.junction_element_angles_degrees[index], "")
        guard angle != exit else { throw Rejection(.inconsistent, reason: "is the exit angle") }
        return angle
    }
    let linked = unsafe wire.linked_lane_guidance_id
    maneuver.linkedLaneGuidance = linked == 0 ? nil : LaneGuidanceID(rawValue: linked)
    maneuver.initialTravelEstimates = try unsafe optional(
        wire.initial_travel_estimates, "initial_travel_estimates", travelEstimates)
    maneuver.roundaboutExitNumber = try unsafe optional(
        wire.roundabout_exit_number, max: 255, "roundabout_exit_number"
    ).map { UInt8($0) }
    maneuver.isIntermediateWaypoint = unsafe wire.intermediate_waypoint != 0
    return maneuver
}

private func lane(_ wire: Waymark__V1__Lane) throws(Rejection) -> Lane {
    let angles = try unsafe list(wire.n_angles_degrees, "angles_degrees", max: Limit.laneAnglesMax) {
        index throws(Rejection) in try unsafe angle(wire.angles_degrees[index], "")
    }
    var lane = unsafe Lane(angles: angles, status: open(wire.status.rawValue))
    if unsafe wire.highlighted_case == WAYMARK__V1__LANE__HIGHLIGHTED_HIGHLIGHTED_ANGLE_DEGREES {
        let field = "highlighted_angle_degrees"
        let highlighted = try unsafe angle(wire.highlighted_angle_degrees, field)
        guard angles.contains(highlighted) else {
            throw Rejection(.inconsistent, field: field, reason: "is not one of angles_degrees")
        }
        guard lane.status != .notGood else {
            throw Rejection(.inconsistent, field: field, reason: "is set on a lane that is NOT_GOOD")
        }
        lane.highlightedAngle = highlighted
    }
    return lane
}

func laneGuidance(_ wire: Waymark__V1__LaneGuidance) throws(Rejection) -> LaneGuidance {
    let id = LaneGuidanceID(rawValue: try unsafe identifier(wire.id, "id"))
    let lanes = try unsafe messages(wire.lanes, wire.n_lanes, "lanes", max: Limit.lanesMax, lane)
    guard !lanes.isEmpty else { throw missing("lanes") }
    let texts = try unsafe variants(
        wire.instruction_variants, wire.n_instruction_variants, "instruction_variants")
    return LaneGuidance(id: id, lanes: lanes, instructionVariants: texts)
}

private func chargeStop(_ wire: Waymark__V1__ChargeStop) throws(Rejection) -> ChargeStop {
    var stop = unsafe ChargeStop(
        connector: openUnlessUnspecified(wire.connector.rawValue),
        powerWatts: try optional(wire.power_watts, max: Limit.powerWattsMax, "power_watts"))
    if unsafe wire.arrival_case == WAYMARK__V1__CHARGE_STOP__ARRIVAL_ARRIVAL_BATTERY_PER_MILLE {
        stop.arrivalBatteryPerMille = unsafe UInt16(
            try checked(wire.arrival_battery_per_mille, in: 0...1_000, "arrival_battery_per_mille"))
    }
    if unsafe wire.departure_case == WAYMARK__V1__CHARGE_STOP__DEPARTURE_DEPARTURE_BATTERY_PER_MILLE {
        stop.departureBatteryPerMille = unsafe UInt16(
            try checked(wire.departure_battery_per_mille, in: 0...1_000, "departure_battery_per_mille"))
    }
    stop.chargingTime = try unsafe optional(
        wire.charging_time_seconds, max: Limit.chargingTimeSecondsMax, "charging_time_seconds"
    ).map { .seconds($0) }
    return stop
}

func waypoint(_ wire: Waymark__V1__Waypoint) throws(Rejection) -> Waypoint {
    var waypoint = Waypoint(center: try unsafe required(wire.center, "center", coordinate))
    waypoint.locationThreshold = try unsafe optional(
        wire.location_threshold_meters, max: Limit.locationThresholdMetersMax, "location_threshold_meters"
    ).map { .meters($0) }
    waypoint.nameVariants = try unsafe variants(wire.name_variants, wire.n_name_variants, "name_variants")
    waypoint.addressVariants = try unsafe variants(
        wire.address_variants, wire.n_address_variants, "address_variants")
    waypoint.entryPoints = try unsafe messages(
        wire.entry_points, wire.n_entry_points, "entry_points", max: Limit.entryPointsMax, coordinate)
    waypoint.timeZone = try unsafe text(wire.time_zone, "time_zone", bytesMax: Limit.shortTextBytesMax)
    if unsafe wire.offset_case == WAYMARK__V1__WAYPOINT__OFFSET_UTC_OFFSET_MINUTES {
        let minutes = unsafe wire.utc_offset_minutes
        waypoint.utcOffsetMinutes = Int16(
            try checked(minutes, in: Limit.utcOffsetMinutes, "utc_offset_minutes"))
    }
    waypoint.stopKind = unsafe openUnlessUnspecified(wire.stop_kind.rawValue)
    waypoint.charge = try unsafe optional(wire.charge, "charge", chargeStop)
    waypoint.id = try unsafe text(wire.id, "id", bytesMax: Limit.identifierBytesMax)
    return waypoint
}

private func routeChoice(_ wire: Waymark__V1__RouteChoice) throws(Rejection) -> RouteChoice {
    try unsafe RouteChoice(
        id: identifier(wire.id, "id"),
        summaryVariants: variants(wire.summary_variants, wire.n_summary_variants, "summary_variants"),
        additionalInformationVariants: variants(
            wire.additional_information_variants, wire.n_additional_information_variants,
            "additional_information_variants"),
        selectionSummaryVariants: variants(
            wire.selection_summary_variants, wire.n_selection_summary_variants, "selection_summary_variants"),
        travelEstimates: optional(wire.travel_estimates, "travel_estimates", travelEstimates))
}

func trip(_ wire: Waymark__V1__Trip) throws(Rejection) -> Trip {
    var trip = try unsafe Trip(
        id: text(wire.id, "id", bytesMax: Limit.identifierBytesMax, mayBeEmpty: false),
        origin: required(wire.origin, "origin", waypoint),
        destination: required(wire.destination, "destination", waypoint))
    trip.waypoints = try unsafe messages(
        wire.waypoints, wire.n_waypoints, "waypoints", max: Limit.waypointsMax, waypoint)
    trip.routeChoices = try unsafe messages(
        wire.route_choices, wire.n_route_choices, "route_choices", max: Limit.routeChoicesMax, routeChoice)
    try checkUnique(trip.routeChoices.map(\.id), "route_choices", ".id")
    let selected = unsafe wire.selected_route_choice_id
    guard selected == 0 || trip.routeChoices.contains(where: { $0.id == selected }) else {
        throw Rejection(
            .unknownReference, field: "selected_route_choice_id",
            reason: "\(selected) is not one of route_choices")
    }
    trip.selectedRouteChoice = selected == 0 ? nil : selected
    trip.isDestinationShareable = unsafe wire.destination_shareable != 0
    trip.routeSegmentsAvailable = unsafe wire.route_segments_available != 0
    return trip
}

func maneuverIDs(
    _ pointer: UnsafeMutablePointer<UInt32>?, _ count: Int, _ field: String, max: Int = Limit.maneuversMax
) throws(Rejection) -> [ManeuverID] {
    try list(count, field, max: max) { index throws(Rejection) in
        ManeuverID(rawValue: try unsafe identifier(pointer?[index] ?? 0, ""))
    }
}

func laneGuidanceID(_ raw: UInt32) -> LaneGuidanceID? { raw == 0 ? nil : LaneGuidanceID(rawValue: raw) }

func routeSegment(_ wire: Waymark__V1__RouteSegment) throws(Rejection) -> RouteSegment {
    try unsafe RouteSegment(
        id: text(wire.id, "id", bytesMax: Limit.identifierBytesMax, mayBeEmpty: false),
        origin: required(wire.origin, "origin", waypoint),
        destination: required(wire.destination, "destination", waypoint),
        coordinates: optional(wire.coordinates, "coordinates", polyline) ?? [],
        maneuvers: maneuverIDs(wire.maneuver_ids, wire.n_maneuver_ids, "maneuver_ids"),
        laneGuidances: list(
            wire.n_lane_guidance_ids, "lane_guidance_ids", max: Limit.laneGuidancesMax
        ) { index throws(Rejection) in
            LaneGuidanceID(rawValue: try unsafe identifier(wire.lane_guidance_ids[index], ""))
        },
        currentManeuvers: maneuverIDs(
            wire.current_maneuver_ids, wire.n_current_maneuver_ids, "current_maneuver_ids",
            max: Limit.upcomingManeuversMax),
        currentLaneGuidance: laneGuidanceID(wire.current_lane_guidance_id),
        tripTravelEstimates: optional(wire.trip_travel_estimates, "trip_travel_estimates", travelEstimates),
        maneuverTravelEstimates: optional(
            wire.maneuver_travel_estimates, "maneuver_travel_estimates", travelEstimates))
}

private func alertAction(_ wire: Waymark__V1__AlertAction) throws(Rejection) -> AlertAction {
    try unsafe AlertAction(
        id: checked(wire.id, in: 1...2, "id"),
        titleVariants: variants(
            wire.title_variants, wire.n_title_variants, "title_variants", mayBeEmpty: false))
}

func navigationAlert(_ wire: Waymark__V1__NavigationAlert) throws(Rejection) -> NavigationAlert {
    var alert = try unsafe NavigationAlert(
        id: identifier(wire.id, "id"),
        titleVariants: variants(
            wire.title_variants, wire.n_title_variants, "title_variants", mayBeEmpty: false))
    alert.subtitleVariants = try unsafe variants(
        wire.subtitle_variants, wire.n_subtitle_variants, "subtitle_variants")
    alert.actions = try unsafe messages(
        wire.actions, wire.n_actions, "actions", max: Limit.alertActionsMax, alertAction)
    try checkUnique(alert.actions.map(\.id), "actions", ".id")
    let range = Limit.alertDurationMilliseconds
    alert.duration = try unsafe optional(
        wire.duration_milliseconds, max: range.upperBound, "duration_milliseconds"
    ).map { .milliseconds(max($0, range.lowerBound)) }
    return alert
}

/// Ids that must differ from each other.
func checkUnique<ID: Hashable>(_ ids: [ID], _ field: String, _ part: String) throws(Rejection) {
    var seen = Set<ID>(minimumCapacity: ids.count)
    for (index, id) in ids.enumerated() where !seen.insert(id).inserted {
        throw Rejection(.duplicate, field: "\(field)[\(index)]\(part)", reason: "is there twice")
    }
}

func routeInformation(_ wire: Waymark__V1__RouteInformation) throws(Rejection) -> RouteInformation {
    var route = RouteInformation()
    route.maneuvers = try unsafe messages(
        wire.maneuvers, wire.n_maneuvers, "maneuvers", max: Limit.maneuversMax, maneuver)
    try checkUnique(route.maneuvers.map(\.id), "maneuvers", ".id")
    route.laneGuidances = try unsafe messages(
        wire.lane_guidances, wire.n_lane_guidances, "lane_guidances", max: Limit.laneGuidancesMax,
        laneGuidance)
    try checkUnique(route.laneGuidances.map(\.id), "lane_guidances", ".id")
    route.segments = try unsafe messages(
        wire.segments, wire.n_segments, "segments", max: Limit.routeSegmentsMax, routeSegment)
    try checkUnique(route.segments.map(\.id), "segments", ".id")
    let current = try unsafe text(
        wire.current_segment_id, "current_segment_id", bytesMax: Limit.identifierBytesMax)
    route.currentSegment = current.isEmpty ? nil : current
    route.upcomingManeuvers = try unsafe maneuverIDs(
        wire.upcoming_maneuver_ids, wire.n_upcoming_maneuver_ids, "upcoming_maneuver_ids",
        max: Limit.upcomingManeuversMax)
    route.currentLaneGuidance = unsafe laneGuidanceID(wire.current_lane_guidance_id)
    route.tripTravelEstimates = try unsafe optional(
        wire.trip_travel_estimates, "trip_travel_estimates", travelEstimates)
    route.maneuverTravelEstimates = try unsafe optional(
        wire.maneuver_travel_estimates, "maneuver_travel_estimates", travelEstimates)
    return route
}
