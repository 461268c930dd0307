// Made by scripts/generate/wire.sh from Protos. Do not edit.

extension FieldRules {
    static let coordinate: Rules = [
        "latitude": .range(-90...90).place,
        "longitude": .range(-180...180).place,
        "altitude_meters": .range(-12_000...100_000).place,
    ]

    static let polyline: Rules = [
        "latitude_e6_deltas": .differences(within: 90_000_000).atMost(262_144).place,
        "longitude_e6_deltas": .differences(within: 180_000_000).atMost(262_144).place,
    ]

    static let displayDistance: Rules = [
        "value_tenths": .range(0...99_999_999),
        "unit": .specified,
    ]

    static let travelEstimates: Rules = [
        "distance_remaining_meters": .range(0...50_000_000),
        "time_remaining_seconds": .range(0...31_536_000),
        "distance_remaining_to_display": .any,
    ]

    static let speedLimit: Rules = [
        "status": .enumeration,
        "value": .range(0...500),
        "unit": .enumeration,
        "kind": .enumeration,
        "sign": .enumeration,
    ]

    static let speedLimitAhead: Rules = [
        "limit": .any.required,
        "distance_meters": .range(0...50_000_000),
        "distance_to_display": .any,
    ]

    static let speedLimitSpan: Rules = [
        "first_point": .any,
        "limit": .any.required,
    ]

    static let maneuver: Rules = [
        "id": .id,
        "type": .enumeration,
        "junction_type": .enumeration,
        "traffic_side": .enumeration,
        "instruction_variants": .text(512).atMost(8).place,
        "road_following_maneuver_variants": .text(512).atMost(8).place,
        "highway_exit_label": .text(64).place,
        "junction_exit_angle_degrees": .range(-180...180),
        "junction_element_angles_degrees": .range(-180...180).atMost(32),
        "linked_lane_guidance_id": .any,
        "initial_travel_estimates": .any,
        "roundabout_exit_number": .range(0...255),
        "intermediate_waypoint": .any,
        "notification": .enumeration,
    ]

    static let lane: Rules = [
        "angles_degrees": .range(-180...180).atMost(16),
        "highlighted_angle_degrees": .range(-180...180),
        "status": .enumeration,
    ]

    static let laneGuidance: Rules = [
        "id": .id,
        "lanes": .any.atMost(32).required,
        "instruction_variants": .text(512).atMost(8).place,
    ]

    static let chargeStop: Rules = [
        "arrival_battery_per_mille": .range(0...1_000),
        "departure_battery_per_mille": .range(0...1_000),
        "connector": .enumeration,
        "power_watts": .range(0...10_000_000),
        "charging_time_seconds": .range(0...604_800),
    ]

    static let waypoint: Rules = [
        "center": .any.required,
        "location_threshold_meters": .range(0...100_000),
        "name_variants": .text(512).atMost(8).place,
        "address_variants": .text(512).atMost(8).place,
        "entry_points": .any.atMost(16).place,
        "time_zone": .text(64).place,
        "utc_offset_minutes": .range(-840...840).place,
        "stop_kind": .enumeration,
        "charge": .any,
        "id": .text(128).place,
    ]

    static let routeChoice: Rules = [
        "id": .id,
        "summary_variants": .text(512).atMost(8).place,
        "additional_information_variants": .text(512).atMost(8).place,
        "selection_summary_variants": .text(512).atMost(8).place,
        "travel_estimates": .any,
    ]

    static let trip: Rules = [
        "id": .requiredText(128),
        "origin": .any.required,
        "destination": .any.required,
        "waypoints": .any.atMost(64),
        "route_choices": .any.atMost(3),
        "selected_route_choice_id": .any,
        "destination_shareable": .any,
        "route_segments_available": .any,
        "travel_estimates": .any,
    ]

    static let routeSegment: Rules = [
        "id": .requiredText(128),
        "origin": .any.required,
        "destination": .any.required,
        "coordinates": .any,
        "maneuver_ids": .any.atMost(4_096),
        "lane_guidance_ids": .any.atMost(4_096),
        "current_maneuver_ids": .any.atMost(64),
        "current_lane_guidance_id": .any,
        "trip_travel_estimates": .any,
        "maneuver_travel_estimates": .any,
        "speed_limits": .any.atMost(4_096),
    ]

    static let alertAction: Rules = [
        "id": .range(1...2).required,
        "title_variants": .text(512).atMost(8).required.place,
    ]

    static let navigationAlert: Rules = [
        "id": .id,
        "title_variants": .text(512).atMost(8).required.place,
        "subtitle_variants": .text(512).atMost(8).place,
        "actions": .any.atMost(2),
        "duration_milliseconds": .range(0...600_000),
        "notification": .enumeration,
        "priority": .enumeration,
    ]
}
