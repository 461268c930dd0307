// Made by scripts/generate-wire.sh from Protos. Do not edit.

extension FieldRules {
    /// Every message of the protocol.
    static let all: Table = [
        "FeatureGrant": Self.featureGrant,
        "VehicleLimits": Self.vehicleLimits,
        "VehiclePreferences": Self.vehiclePreferences,
        "VehicleHello": Self.vehicleHello,
        "NavigationHello": Self.navigationHello,
        "NegotiatedLimits": Self.negotiatedLimits,
        "Hello": Self.hello,
        "ResumedSession": Self.resumedSession,
        "Welcome": Self.welcome,
        "Goodbye": Self.goodbye,
        "Ping": Self.ping,
        "Pong": Self.pong,
        "Error": Self.error,
        "Coordinate": Self.coordinate,
        "Polyline": Self.polyline,
        "DisplayDistance": Self.displayDistance,
        "TravelEstimates": Self.travelEstimates,
        "Maneuver": Self.maneuver,
        "Lane": Self.lane,
        "LaneGuidance": Self.laneGuidance,
        "ChargeStop": Self.chargeStop,
        "Waypoint": Self.waypoint,
        "RouteChoice": Self.routeChoice,
        "Trip": Self.trip,
        "RouteSegment": Self.routeSegment,
        "AlertAction": Self.alertAction,
        "NavigationAlert": Self.navigationAlert,
        "VehicleSet": Self.vehicleSet,
        "OpenSession": Self.openSession,
        "VehicleStatus": Self.vehicleStatus,
        "EndpointStatus": Self.endpointStatus,
        "SessionOpened": Self.sessionOpened,
        "VehicleChanged": Self.vehicleChanged,
        "SessionEnded": Self.sessionEnded,
        "SnapshotBegin": Self.snapshotBegin,
        "SnapshotEnd": Self.snapshotEnd,
        "SessionSuspended": Self.sessionSuspended,
        "SessionRestored": Self.sessionRestored,
        "Acknowledgement": Self.acknowledgement,
        "RouteInformation": Self.routeInformation,
        "TripPreviews": Self.tripPreviews,
        "StartGuidance": Self.startGuidance,
        "UpdateTrip": Self.updateTrip,
        "AddManeuvers": Self.addManeuvers,
        "AddLaneGuidances": Self.addLaneGuidances,
        "AddRouteSegments": Self.addRouteSegments,
        "UpcomingManeuvers": Self.upcomingManeuvers,
        "CurrentLaneGuidance": Self.currentLaneGuidance,
        "CurrentRoadName": Self.currentRoadName,
        "UpdateManeuverState": Self.updateManeuverState,
        "UpdateTripEstimates": Self.updateTripEstimates,
        "UpdateManeuverEstimates": Self.updateManeuverEstimates,
        "CurrentRouteSegment": Self.currentRouteSegment,
        "PauseGuidance": Self.pauseGuidance,
        "ResumeGuidance": Self.resumeGuidance,
        "ShowAlert": Self.showAlert,
        "DismissAlert": Self.dismissAlert,
        "ShareDestination": Self.shareDestination,
        "FinishGuidance": Self.finishGuidance,
        "CancelGuidance": Self.cancelGuidance,
        "WaypointRequest": Self.waypointRequest,
        "DestinationRequest": Self.destinationRequest,
        "WithdrawRequest": Self.withdrawRequest,
        "RequestAnswer": Self.requestAnswer,
        "Prompt": Self.prompt,
        "PromptAnswer": Self.promptAnswer,
        "PromptOver": Self.promptOver,
        "RequestOutcome": Self.requestOutcome,
        "CancelNavigation": Self.cancelNavigation,
        "AllowNavigation": Self.allowNavigation,
        "UpdateRouteSource": Self.updateRouteSource,
        "VehicleSettings": Self.vehicleSettings,
        "ZoomCluster": Self.zoomCluster,
        "AlertResponse": Self.alertResponse,
        "DestinationShareAnswer": Self.destinationShareAnswer,
        "DestinationShareStatus": Self.destinationShareStatus,
        "Receipt": Self.receipt,
        "EndpointReceipt": Self.endpointReceipt,
        "ReceiptReport": Self.receiptReport,
    ]

    private static let featureGrant: Rules = [
        "feature": .specified,
        "granted": .any,
        "reason": .enumeration,
    ]

    private static let vehicleLimits: Rules = [
        "current_road_name_length_max": .any,
        "destination_name_length_max": .any,
        "road_following_maneuver_length_max": .any,
        "maneuver_instruction_length_max": .any,
        "lane_instruction_length_max": .any,
        "alert_text_length_max": .any,
        "maneuvers_stored_max": .any,
        "lane_guidances_stored_max": .any,
        "route_segment_points_max": .any,
        "frame_bytes_max": .range(4_096...16_777_216).orZero,
    ]

    private static let vehiclePreferences: Rules = [
        "distance_units": .enumeration,
        "locale": .text(35),
    ]

    private static let vehicleHello: Rules = [
        "vehicle_id": .requiredName,
        "endpoint": .requiredName,
        "features": .range(1...2_147_483_647).atMost(64),
        "limits": .any,
        "preferences": .any,
        "guidance_wanted": .any,
    ]

    private static let navigationHello: Rules = [
        "client_id": .requiredName,
        "features": .range(1...2_147_483_647).atMost(64),
        "priority": .range(-1_000...1_000),
    ]

    private static let negotiatedLimits: Rules = [
        "vehicles_per_session_max": .range(256...65_536).orZero,
        "extension_states_max": .range(64...65_536).orZero,
        "route_segments_max": .range(65...4_096).orZero,
        "coordinates_max": .range(262_144...4_194_304).orZero,
    ]

    private static let hello: Rules = [
        "version_min": .id,
        "version_max": .id,
        "role": .range(1...2).required,
        "vehicle": .any,
        "navigation": .any,
        "display_name": .text(128),
        "software": .text(128),
        "credential": .text(256),
        "keepalive_milliseconds": .range(1_000...600_000).orZero,
        "frame_bytes_max": .range(4_096...16_777_216).orZero,
        "resumption_token": .range(16...16).orZero,
        "resume_session_id": .any,
        "resume_sequence": .any,
        "negotiated_limits": .any,
        "report_ignored": .any,
    ]

    private static let resumedSession: Rules = [
        "session_id": .id,
        "sequence": .any,
        "phase": .range(1...4).required,
        "end_reason": .range(0...2_147_483_647),
    ]

    private static let welcome: Rules = [
        "version": .id,
        "features": .any.atMost(64),
        "keepalive_milliseconds": .any,
        "frame_bytes_max": .any,
        "resumption_token": .range(16...16).required,
        "resumed": .any,
        "sessions": .any.atMost(4_096),
        "grace_milliseconds": .any,
        "requests_open_max": .any,
        "software": .text(128),
        "negotiated_limits": .any,
        "gateway_instance": .requiredName,
        "gateway_epoch": .any.required,
    ]

    private static let goodbye: Rules = [
        "code": .specified,
        "reason": .text(256),
        "reconnect_after_milliseconds": .any,
        "moved_to": .text(256),
    ]

    private static let ping: Rules = [
        "nonce": .any
    ]

    private static let pong: Rules = [
        "nonce": .any
    ]

    private static let error: Rules = [
        "code": .specified,
        "field": .text(512),
        "reason": .text(512),
        "message_type": .range(0...65_535),
        "session_id": .any,
        "sequence": .any,
        "request_id": .text(64),
    ]

    private static let coordinate: Rules = [
        "latitude": .range(-90...90),
        "longitude": .range(-180...180),
        "altitude_meters": .range(-12_000...100_000),
    ]

    private static let polyline: Rules = [
        "latitude_e6_deltas": .differences(within: 90_000_000).atMost(262_144),
        "longitude_e6_deltas": .differences(within: 180_000_000).atMost(262_144),
    ]

    private static let displayDistance: Rules = [
        "value_tenths": .range(0...99_999_999),
        "unit": .specified,
    ]

    private static let travelEstimates: Rules = [
        "distance_remaining_meters": .range(0...50_000_000),
        "time_remaining_seconds": .range(0...31_536_000),
        "distance_remaining_to_display": .any,
    ]

    private static let maneuver: Rules = [
        "id": .id,
        "type": .enumeration,
        "junction_type": .enumeration,
        "traffic_side": .enumeration,
        "instruction_variants": .text(512).atMost(8),
        "road_following_maneuver_variants": .text(512).atMost(8),
        "highway_exit_label": .text(64),
        "junction_exit_angle_degrees": .range(-180...179),
        "junction_element_angles_degrees": .range(-180...179).atMost(32),
        "linked_lane_guidance_id": .any,
        "initial_travel_estimates": .any,
        "roundabout_exit_number": .range(0...255),
        "intermediate_waypoint": .any,
    ]

    private static let lane: Rules = [
        "angles_degrees": .range(-180...179).atMost(16),
        "highlighted_angle_degrees": .range(-180...179),
        "status": .enumeration,
    ]

    private static let laneGuidance: Rules = [
        "id": .id,
        "lanes": .any.atMost(32).required,
        "instruction_variants": .text(512).atMost(8),
    ]

    private static let chargeStop: Rules = [
        "arrival_battery_per_mille": .range(0...1_000),
        "departure_battery_per_mille": .range(0...1_000),
        "connector": .enumeration,
        "power_watts": .range(0...10_000_000),
        "charging_time_seconds": .range(0...604_800),
    ]

    private static let waypoint: Rules = [
        "center": .any.required,
        "location_threshold_meters": .range(0...100_000),
        "name_variants": .text(512).atMost(8),
        "address_variants": .text(512).atMost(8),
        "entry_points": .any.atMost(16),
        "time_zone": .text(64),
        "utc_offset_minutes": .range(-840...840),
        "stop_kind": .enumeration,
        "charge": .any,
        "id": .text(128),
    ]

    private static let routeChoice: Rules = [
        "id": .id,
        "summary_variants": .text(512).atMost(8),
        "additional_information_variants": .text(512).atMost(8),
        "selection_summary_variants": .text(512).atMost(8),
        "travel_estimates": .any,
    ]

    private static let trip: Rules = [
        "id": .requiredText(128),
        "origin": .any.required,
        "destination": .any.required,
        "waypoints": .any.atMost(64),
        "route_choices": .any.atMost(3),
        "selected_route_choice_id": .any,
        "destination_shareable": .any,
        "route_segments_available": .any,
    ]

    private static let routeSegment: Rules = [
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
    ]

    private static let alertAction: Rules = [
        "id": .range(1...2).required,
        "title_variants": .text(512).atMost(8).required,
    ]

    private static let navigationAlert: Rules = [
        "id": .id,
        "title_variants": .text(512).atMost(8).required,
        "subtitle_variants": .text(512).atMost(8),
        "actions": .any.atMost(2),
        "duration_milliseconds": .range(0...600_000),
    ]

    private static let vehicleSet: Rules = [
        "vehicle_ids": .requiredName.atMost(256).required
    ]

    private static let openSession: Rules = [
        "request_id": .requiredText(64),
        "vehicles": .any,
        "any_that_asked": .any,
        "receipts_every_milliseconds": .range(100...60_000).orZero,
    ]

    private static let vehicleStatus: Rules = [
        "vehicle_id": .requiredName,
        "standing": .range(1...4).required,
        "refusal": .enumeration,
        "end_reason": .enumeration,
        "endpoints": .any.atMost(256),
    ]

    private static let endpointStatus: Rules = [
        "endpoint": .requiredName,
        "ready": .any,
        "locale": .text(35),
        "withheld": .any.atMost(64),
    ]

    private static let sessionOpened: Rules = [
        "request_id": .requiredText(64),
        "session_id": .id,
        "vehicles": .any.atMost(256),
    ]

    private static let vehicleChanged: Rules = [
        "vehicle": .any.required
    ]

    private static let sessionEnded: Rules = [
        "session_id": .any,
        "reason": .specified,
    ]

    private static let snapshotBegin: Rules = [
        "kind": .range(1...2).required,
        "client_id": .requiredName,
        "client_display_name": .text(128),
        "suspended": .any,
        "receipts_every_milliseconds": .any,
        "withheld": .any.atMost(64),
        "from_sequence": .any,
        "to_sequence": .any,
        "age_milliseconds": .any,
    ]

    private static let snapshotEnd: Rules = [:]

    private static let sessionSuspended: Rules = [
        "grace_milliseconds": .any,
        "age_milliseconds": .any,
    ]

    private static let sessionRestored: Rules = [:]

    private static let acknowledgement: Rules = [
        "sequence": .any.required
    ]

    private static let routeInformation: Rules = [
        "maneuvers": .any.atMost(4_096),
        "lane_guidances": .any.atMost(4_096),
        "segments": .any.atMost(65),
        "current_segment_id": .text(128),
        "upcoming_maneuver_ids": .any.atMost(64),
        "current_lane_guidance_id": .any,
        "trip_travel_estimates": .any,
        "maneuver_travel_estimates": .any,
    ]

    private static let tripPreviews: Rules = [
        "trips": .any.atMost(12),
        "selected_trip_id": .text(128),
    ]

    private static let startGuidance: Rules = [
        "trip": .any.required,
        "generation": .any,
        "route": .any.required,
    ]

    private static let updateTrip: Rules = [
        "trip": .any.required
    ]

    private static let addManeuvers: Rules = [
        "generation": .any,
        "maneuvers": .any.atMost(4_096),
    ]

    private static let addLaneGuidances: Rules = [
        "generation": .any,
        "lane_guidances": .any.atMost(4_096),
    ]

    private static let addRouteSegments: Rules = [
        "generation": .any,
        "segments": .any.atMost(65),
    ]

    private static let upcomingManeuvers: Rules = [
        "generation": .any,
        "maneuver_ids": .any.atMost(64),
    ]

    private static let currentLaneGuidance: Rules = [
        "generation": .any,
        "lane_guidance_id": .any,
    ]

    private static let currentRoadName: Rules = [
        "name_variants": .text(512).atMost(8)
    ]

    private static let updateManeuverState: Rules = [
        "generation": .any,
        "state": .enumeration,
    ]

    private static let updateTripEstimates: Rules = [
        "travel_estimates": .any.required,
        "time_remaining_color": .enumeration,
    ]

    private static let updateManeuverEstimates: Rules = [
        "generation": .any,
        "maneuver_id": .id,
        "travel_estimates": .any.required,
    ]

    private static let currentRouteSegment: Rules = [
        "generation": .any,
        "segment_id": .requiredText(128),
    ]

    private static let pauseGuidance: Rules = [
        "reason": .specified,
        "description_variants": .text(512).atMost(8),
    ]

    private static let resumeGuidance: Rules = [
        "generation": .any,
        "reason": .enumeration,
        "route": .any,
    ]

    private static let showAlert: Rules = [
        "alert": .any.required
    ]

    private static let dismissAlert: Rules = [
        "alert_id": .id,
        "dismissal": .enumeration,
    ]

    private static let shareDestination: Rules = [
        "share_id": .requiredText(64),
        "destination": .any.required,
    ]

    private static let finishGuidance: Rules = [:]

    private static let cancelGuidance: Rules = [:]

    private static let waypointRequest: Rules = [
        "request_id": .requiredText(64),
        "waypoint": .any.required,
        "segment_id": .text(128),
        "vehicle_id": .name,
    ]

    private static let destinationRequest: Rules = [
        "request_id": .requiredText(64),
        "destination": .any.required,
        "vehicle_id": .name,
    ]

    private static let withdrawRequest: Rules = [
        "request_id": .requiredText(64)
    ]

    private static let requestAnswer: Rules = [
        "request_id": .requiredText(64),
        "vehicle_id": .requiredName,
        "answer": .range(1...4).required,
        "travel_estimates": .any,
        "reason": .enumeration,
    ]

    private static let prompt: Rules = [
        "request_id": .requiredText(64),
        "waypoint": .any.required,
        "travel_estimates": .any.required,
        "deadline_milliseconds": .any,
    ]

    private static let promptAnswer: Rules = [
        "request_id": .requiredText(64),
        "accepted": .any,
    ]

    private static let promptOver: Rules = [
        "request_id": .requiredText(64),
        "outcome": .specified,
    ]

    private static let requestOutcome: Rules = [
        "request_id": .requiredText(64),
        "vehicle_id": .requiredName,
        "outcome": .specified,
        "client_id": .name,
    ]

    private static let cancelNavigation: Rules = [
        "reason": .specified
    ]

    private static let allowNavigation: Rules = [:]

    private static let updateRouteSource: Rules = [
        "route_source": .enumeration,
        "vehicle_id": .name,
    ]

    private static let vehicleSettings: Rules = [
        "compass": .enumeration,
        "speed_limit": .enumeration,
        "content_style": .enumeration,
        "limited_user_interfaces": .any,
        "ready_to_show": .any,
        "vehicle_id": .name,
        "endpoint": .name,
    ]

    private static let zoomCluster: Rules = [
        "direction": .specified,
        "vehicle_id": .name,
        "endpoint": .name,
    ]

    private static let alertResponse: Rules = [
        "alert_id": .id,
        "action_id": .range(0...2),
        "dismissal": .enumeration,
        "vehicle_id": .name,
        "endpoint": .name,
    ]

    private static let destinationShareAnswer: Rules = [
        "share_id": .requiredText(64),
        "outcome": .specified,
    ]

    private static let destinationShareStatus: Rules = [
        "share_id": .requiredText(64),
        "vehicle_id": .requiredName,
        "stage": .range(1...3).required,
        "outcome": .enumeration,
    ]

    private static let receipt: Rules = [
        "received_sequence": .any,
        "shown_sequence": .any,
    ]

    private static let endpointReceipt: Rules = [
        "vehicle_id": .requiredName,
        "endpoint": .requiredName,
        "received_sequence": .any,
        "shown_sequence": .any,
    ]

    private static let receiptReport: Rules = [
        "gateway_sequence": .any,
        "endpoints": .any.atMost(65_536),
    ]
}
