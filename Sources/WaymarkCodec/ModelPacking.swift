internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

// model.proto: from the model to C.
extension Packer {
    mutating func coordinate(_ model: Coordinate) -> Pointer<Waymark__V1__Coordinate> {
        let wire = unsafe self.make(waymark__v1__coordinate__init)
        unsafe wire.pointee.latitude = model.latitude
        unsafe wire.pointee.longitude = model.longitude
        if let altitude = model.altitude {
            unsafe wire.pointee.altitude_meters = altitude
            unsafe wire.pointee.altitude_case = WAYMARK__V1__COORDINATE__ALTITUDE_ALTITUDE_METERS
        }
        return unsafe wire
    }

    mutating func polyline(_ model: [Coordinate]) -> Pointer<Waymark__V1__Polyline> {
        let wire = unsafe self.make(waymark__v1__polyline__init)
        // Rounded before the differences are taken, so that errors do not add up.
        unsafe wire.pointee.n_latitude_e6_deltas = deltas(model, \.latitude).count
        unsafe wire.pointee.latitude_e6_deltas = self.numbers(deltas(model, \.latitude))
        unsafe wire.pointee.n_longitude_e6_deltas = deltas(model, \.longitude).count
        unsafe wire.pointee.longitude_e6_deltas = self.numbers(deltas(model, \.longitude))
        return unsafe wire
    }

    mutating func displayDistance(_ model: DisplayDistance) -> Pointer<Waymark__V1__DisplayDistance> {
        let wire = unsafe self.make(waymark__v1__display_distance__init)
        unsafe wire.pointee.value_tenths = model.valueTenths
        unsafe wire.pointee.unit = Waymark__V1__DistanceUnit(rawValue: model.unit.rawValue)
        return unsafe wire
    }

    mutating func travelEstimates(_ model: TravelEstimates) -> Pointer<Waymark__V1__TravelEstimates> {
        let wire = unsafe self.make(waymark__v1__travel_estimates__init)
        unsafe wire.pointee.distance_remaining_meters = model.distanceRemaining.meters
        if let time = model.timeRemaining {
            unsafe wire.pointee.time_remaining_seconds = UInt32(clamping: time.components.seconds)
            unsafe wire.pointee.time_case = WAYMARK__V1__TRAVEL_ESTIMATES__TIME_TIME_REMAINING_SECONDS
        }
        unsafe wire.pointee.distance_remaining_to_display = self.optional(model.distanceRemainingToDisplay) {
            unsafe $0.displayDistance($1)
        }
        return unsafe wire
    }

    mutating func maneuver(_ model: Maneuver) -> Pointer<Waymark__V1__Maneuver> {
        let wire = unsafe self.make(waymark__v1__maneuver__init)
        unsafe wire.pointee.id = model.id.rawValue
        unsafe wire.pointee.type = Waymark__V1__ManeuverType(rawValue: model.type.rawValue)
        unsafe wire.pointee.junction_type = Waymark__V1__JunctionType(rawValue: model.junctionType.rawValue)
        unsafe wire.pointee.traffic_side = Waymark__V1__TrafficSide(rawValue: model.trafficSide.rawValue)
        unsafe wire.pointee.n_instruction_variants = model.instructionVariants.count
        unsafe wire.pointee.instruction_variants = self.texts(model.instructionVariants)
        unsafe wire.pointee.n_road_following_maneuver_variants = model.roadFollowingManeuverVariants.count
        unsafe wire.pointee.road_following_maneuver_variants = self.texts(model.roadFollowingManeuverVariants)
        unsafe wire.pointee.highway_exit_label = self.text(model.highwayExitLabel)
        if let angle = model.junctionExitAngle {
            unsafe wire.pointee.junction_exit_angle_degrees = Int32(angle.degrees)
            unsafe wire.pointee.exit_angle_case =
                WAYMARK__V1__MANEUVER__EXIT_ANGLE_JUNCTION_EXIT_ANGLE_DEGREES
        }
        unsafe wire.pointee.n_junction_element_angles_degrees = model.junctionElementAngles.count
        unsafe wire.pointee.junction_element_angles_degrees = self.numbers(
            model.junctionElementAngles.map { Int32($0.degrees) })
        unsafe wire.pointee.linked_lane_guidance_id = model.linkedLaneGuidance?.rawValue ?? 0
        unsafe wire.pointee.initial_travel_estimates = self.optional(model.initialTravelEstimates) {
            unsafe $0.travelEstimates($1)
        }
        unsafe wire.pointee.roundabout_exit_number = UInt32(model.roundaboutExitNumber ?? 0)
        unsafe wire.pointee.intermediate_waypoint = model.isIntermediateWaypoint ? 1 : 0
        return unsafe wire
    }

    mutating func lane(_ model: Lane) -> Pointer<Waymark__V1__Lane> {
        let wire = unsafe self.make(waymark__v1__lane__init)
        unsafe wire.pointee.n_angles_degrees = model.angles.count
        unsafe wire.pointee.angles_degrees = self.numbers(model.angles.map { Int32($0.degrees) })
        if let angle = model.highlightedAngle {
            unsafe wire.pointee.highlighted_angle_degrees = Int32(angle.degrees)
            unsafe wire.pointee.highlighted_case = WAYMARK__V1__LANE__HIGHLIGHTED_HIGHLIGHTED_ANGLE_DEGREES
        }
        unsafe wire.pointee.status = Waymark__V1__LaneStatus(rawValue: model.status.rawValue)
        return unsafe wire
    }

    mutating func laneGuidance(_ model: LaneGuidance) -> Pointer<Waymark__V1__LaneGuidance> {
        let wire = unsafe self.make(waymark__v1__lane_guidance__init)
        unsafe wire.pointee.id = model.id.rawValue
        unsafe wire.pointee.n_lanes = model.lanes.count
        unsafe wire.pointee.lanes = self.list(model.lanes) { unsafe $0.lane($1) }
        unsafe wire.pointee.n_instruction_variants = model.instructionVariants.count
        unsafe wire.pointee.instruction_variants = self.texts(model.instructionVariants)
        return unsafe wire
    }

    mutating func chargeStop(_ model: ChargeStop) -> Pointer<Waymark__V1__ChargeStop> {
        let wire = unsafe self.make(waymark__v1__charge_stop__init)
        if let charge = model.arrivalBatteryPerMille {
            unsafe wire.pointee.arrival_battery_per_mille = UInt32(charge)
            unsafe wire.pointee.arrival_case = WAYMARK__V1__CHARGE_STOP__ARRIVAL_ARRIVAL_BATTERY_PER_MILLE
        }
        if let charge = model.departureBatteryPerMille {
            unsafe wire.pointee.departure_battery_per_mille = UInt32(charge)
            unsafe wire.pointee.departure_case =
                WAYMARK__V1__CHARGE_STOP__DEPARTURE_DEPARTURE_BATTERY_PER_MILLE
        }
        unsafe wire.pointee.connector = Waymark__V1__ChargeConnector(rawValue: model.connector?.rawValue ?? 0)
        unsafe wire.pointee.power_watts = model.powerWatts ?? 0
        unsafe wire.pointee.charging_time_seconds = UInt32(
            clamping: model.chargingTime?.components.seconds ?? 0)
        return unsafe wire
    }

    mutating func waypoint(_ model: Waypoint) -> Pointer<Waymark__V1__Waypoint> {
        let wire = unsafe self.make(waymark__v1__waypoint__init)
        unsafe wire.pointee.center = self.coordinate(model.center)
        unsafe wire.pointee.location_threshold_meters = model.locationThreshold?.meters ?? 0
        unsafe wire.pointee.n_name_variants = model.nameVariants.count
        unsafe wire.pointee.name_variants = self.texts(model.nameVariants)
        unsafe wire.pointee.n_address_variants = model.addressVariants.count
        unsafe wire.pointee.address_variants = self.texts(model.addressVariants)
        unsafe wire.pointee.n_entry_points = model.entryPoints.count
        unsafe wire.pointee.entry_points = self.list(model.entryPoints) { unsafe $0.coordinate($1) }
        unsafe wire.pointee.time_zone = self.text(model.timeZone)
        if let minutes = model.utcOffsetMinutes {
            unsafe wire.pointee.utc_offset_minutes = Int32(minutes)
            unsafe wire.pointee.offset_case = WAYMARK__V1__WAYPOINT__OFFSET_UTC_OFFSET_MINUTES
        }
        unsafe wire.pointee.stop_kind = Waymark__V1__StopKind(rawValue: model.stopKind?.rawValue ?? 0)
        unsafe wire.pointee.charge = self.optional(model.charge) { unsafe $0.chargeStop($1) }
        unsafe wire.pointee.id = self.text(model.id)
        return unsafe wire
    }

    mutating func routeChoice(_ model: RouteChoice) -> Pointer<Waymark__V1__RouteChoice> {
        let wire = unsafe self.make(waymark__v1__route_choice__init)
        unsafe wire.pointee.id = model.id
        unsafe wire.pointee.n_summary_variants = model.summaryVariants.count
        unsafe wire.pointee.summary_variants = self.texts(model.summaryVariants)
        unsafe wire.pointee.n_additional_information_variants = model.additionalInformationVariants.count
        unsafe wire.pointee.additional_information_variants = self.texts(model.additionalInformationVariants)
        unsafe wire.pointee.n_selection_summary_variants = model.selectionSummaryVariants.count
        unsafe wire.pointee.selection_summary_variants = self.texts(model.selectionSummaryVariants)
        unsafe wire.pointee.travel_estimates = self.optional(model.travelEstimates) {
            unsafe $0.travelEstimates($1)
        }
        return unsafe wire
    }

    mutating func trip(_ model: Trip) -> Pointer<Waymark__V1__Trip> {
        let wire = unsafe self.make(waymark__v1__trip__init)
        unsafe wire.pointee.id = self.text(model.id)
        unsafe wire.pointee.origin = self.waypoint(model.origin)
        unsafe wire.pointee.destination = self.waypoint(model.destination)
        unsafe wire.pointee.n_waypoints = model.waypoints.count
        unsafe wire.pointee.waypoints = self.list(model.waypoints) { unsafe $0.waypoint($1) }
        unsafe wire.pointee.n_route_choices = model.routeChoices.count
        unsafe wire.pointee.route_choices = self.list(model.routeChoices) { unsafe $0.routeChoice($1) }
        unsafe wire.pointee.selected_route_choice_id = model.selectedRouteChoice ?? 0
        unsafe wire.pointee.destination_shareable = model.isDestinationShareable ? 1 : 0
        unsafe wire.pointee.route_segments_available = model.routeSegmentsAvailable ? 1 : 0
        return unsafe wire
    }

    mutating func routeSegment(_ model: RouteSegment) -> Pointer<Waymark__V1__RouteSegment> {
        let wire = unsafe self.make(waymark__v1__route_segment__init)
        unsafe wire.pointee.id = self.text(model.id)
        unsafe wire.pointee.origin = self.waypoint(model.origin)
        unsafe wire.pointee.destination = self.waypoint(model.destination)
        unsafe wire.pointee.coordinates = self.polyline(model.coordinates)
        unsafe wire.pointee.n_maneuver_ids = model.maneuvers.count
        unsafe wire.pointee.maneuver_ids = self.numbers(model.maneuvers.map(\.rawValue))
        unsafe wire.pointee.n_lane_guidance_ids = model.laneGuidances.count
        unsafe wire.pointee.lane_guidance_ids = self.numbers(model.laneGuidances.map(\.rawValue))
        unsafe wire.pointee.n_current_maneuver_ids = model.currentManeuvers.count
        unsafe wire.pointee.current_maneuver_ids = self.numbers(model.currentManeuvers.map(\.rawValue))
        unsafe wire.pointee.current_lane_guidance_id = model.currentLaneGuidance?.rawValue ?? 0
        unsafe wire.pointee.trip_travel_estimates = self.optional(model.tripTravelEstimates) {
            unsafe $0.travelEstimates($1)
        }
        unsafe wire.pointee.maneuver_travel_estimates = self.optional(model.maneuverTravelEstimates) {
            unsafe $0.travelEstimates($1)
        }
        return unsafe wire
    }

    mutating func routeInformation(_ model: RouteInformation) -> Pointer<Waymark__V1__RouteInformation> {
        let wire = unsafe self.make(waymark__v1__route_information__init)
        unsafe wire.pointee.n_maneuvers = model.maneuvers.count
        unsafe wire.pointee.maneuvers = self.list(model.maneuvers) { unsafe $0.maneuver($1) }
        unsafe wire.pointee.n_lane_guidances = model.laneGuidances.count
        unsafe wire.pointee.lane_guidances = self.list(model.laneGuidances) { unsafe $0.laneGuidance($1) }
        unsafe wire.pointee.n_segments = model.segments.count
        unsafe wire.pointee.segments = self.list(model.segments) { unsafe $0.routeSegment($1) }
        unsafe wire.pointee.current_segment_id = self.text(model.currentSegment ?? "")
        unsafe wire.pointee.n_upcoming_maneuver_ids = model.upcomingManeuvers.count
        unsafe wire.pointee.upcoming_maneuver_ids = self.numbers(model.upcomingManeuvers.map(\.rawValue))
        unsafe wire.pointee.current_lane_guidance_id = model.currentLaneGuidance?.rawValue ?? 0
        unsafe wire.pointee.trip_travel_estimates = self.optional(model.tripTravelEstimates) {
            unsafe $0.travelEstimates($1)
        }
        unsafe wire.pointee.maneuver_travel_estimates = self.optional(model.maneuverTravelEstimates) {
            unsafe $0.travelEstimates($1)
        }
        return unsafe wire
    }

    mutating func alertAction(_ model: AlertAction) -> Pointer<Waymark__V1__AlertAction> {
        let wire = unsafe self.make(waymark__v1__alert_action__init)
        unsafe wire.pointee.id = model.id
        unsafe wire.pointee.n_title_variants = model.titleVariants.count
        unsafe wire.pointee.title_variants = self.texts(model.titleVariants)
        return unsafe wire
    }

    mutating func navigationAlert(_ model: NavigationAlert) -> Pointer<Waymark__V1__NavigationAlert> {
        let wire = unsafe self.make(waymark__v1__navigation_alert__init)
        unsafe wire.pointee.id = model.id
        unsafe wire.pointee.n_title_variants = model.titleVariants.count
        unsafe wire.pointee.title_variants = self.texts(model.titleVariants)
        unsafe wire.pointee.n_subtitle_variants = model.subtitleVariants.count
        unsafe wire.pointee.subtitle_variants = self.texts(model.subtitleVariants)
        unsafe wire.pointee.n_actions = model.actions.count
        unsafe wire.pointee.actions = self.list(model.actions) { unsafe $0.alertAction($1) }
        unsafe wire.pointee.duration_milliseconds = UInt32(clamping: model.duration?.milliseconds ?? 0)
        return unsafe wire
    }
}

/// Differences between neighbours in units of 1e-6 degree, the first from 0.
private func deltas(_ line: [Coordinate], _ part: KeyPath<Coordinate, Double>) -> [Int32] {
    var last: Int32 = 0
    return line.map { coordinate in
        let value = Int32((coordinate[keyPath: part] * 1e6).rounded())
        defer { last = value }
        return value &- last
    }
}
