// Made by scripts/generate/wire.sh from Protos. Do not edit.

extension FieldRules {
    static let vehicleSet: Rules = [
        "vehicle_ids": .requiredName.atMost(256).required
    ]

    static let openSession: Rules = [
        "request_id": .requiredText(64),
        "vehicles": .any,
        "any_that_asked": .any,
        "receipts_every_milliseconds": .range(100...60_000).orZero,
    ]

    static let vehicleStatus: Rules = [
        "vehicle_id": .requiredName,
        "standing": .specified,
        "refusal": .enumeration,
        "end_reason": .enumeration,
        "endpoints": .any.atMost(256),
    ]

    static let endpointStatus: Rules = [
        "endpoint": .requiredName,
        "ready": .any,
        "locale": .text(35),
        "withheld": .any.atMost(64),
    ]

    static let sessionOpened: Rules = [
        "request_id": .requiredText(64),
        "session_id": .id,
        "vehicles": .any.atMost(256),
    ]

    static let vehicleChanged: Rules = [
        "vehicle": .any.required
    ]

    static let sessionEnded: Rules = [
        "session_id": .any,
        "reason": .specified,
    ]

    static let snapshotBegin: Rules = [
        "kind": .range(1...2).required,
        "client_id": .requiredName,
        "client_display_name": .text(128),
        "suspended": .any,
        "receipts_every_milliseconds": .any,
        "withheld": .any.atMost(64),
        "from_sequence": .any,
        "to_sequence": .any,
        "age_milliseconds": .any,
        "estimates_age_milliseconds": .any,
    ]

    static let snapshotEnd: Rules = [:]

    static let sessionSuspended: Rules = [
        "grace_milliseconds": .any,
        "age_milliseconds": .any,
        "estimates_age_milliseconds": .any,
    ]

    static let sessionRestored: Rules = [:]

    static let acknowledgement: Rules = [
        "sequence": .requiredLong
    ]

    static let routeInformation: Rules = [
        "maneuvers": .any.atMost(4_096),
        "lane_guidances": .any.atMost(4_096),
        "segments": .any.atMost(65),
        "current_segment_id": .text(128),
        "upcoming_maneuver_ids": .any.atMost(64),
        "current_lane_guidance_id": .any,
        "trip_travel_estimates": .any,
        "maneuver_travel_estimates": .any,
    ]

    static let tripPreviews: Rules = [
        "trips": .any.atMost(12),
        "selected_trip_id": .text(128),
    ]

    static let startGuidance: Rules = [
        "trip": .any.required,
        "generation": .any,
        "route": .any.required,
    ]

    static let updateTrip: Rules = [
        "trip": .any.required
    ]

    static let addManeuvers: Rules = [
        "generation": .any,
        "maneuvers": .any.atMost(4_096),
    ]

    static let addLaneGuidances: Rules = [
        "generation": .any,
        "lane_guidances": .any.atMost(4_096),
    ]

    static let addRouteSegments: Rules = [
        "generation": .any,
        "segments": .any.atMost(65),
    ]

    static let upcomingManeuvers: Rules = [
        "generation": .any,
        "maneuver_ids": .any.atMost(64),
    ]

    static let currentLaneGuidance: Rules = [
        "generation": .any,
        "lane_guidance_id": .any,
    ]

    static let currentRoadName: Rules = [
        "name_variants": .text(512).atMost(8).place
    ]

    static let updateManeuverState: Rules = [
        "generation": .any,
        "state": .enumeration,
    ]

    static let updateTripEstimates: Rules = [
        "travel_estimates": .any.required,
        "time_remaining_color": .enumeration,
    ]

    static let updateManeuverEstimates: Rules = [
        "generation": .any,
        "maneuver_id": .id,
        "travel_estimates": .any.required,
    ]

    static let currentRouteSegment: Rules = [
        "generation": .any,
        "segment_id": .requiredText(128),
    ]

    static let pauseGuidance: Rules = [
        "reason": .specified,
        "description_variants": .text(512).atMost(8).place,
    ]

    static let resumeGuidance: Rules = [
        "generation": .any,
        "reason": .enumeration,
        "route": .any,
    ]

    static let showAlert: Rules = [
        "alert": .any.required
    ]

    static let dismissAlert: Rules = [
        "alert_id": .id,
        "dismissal": .enumeration,
    ]

    static let shareDestination: Rules = [
        "share_id": .requiredText(64),
        "destination": .any.required,
        "trip_id": .text(128),
    ]

    static let finishGuidance: Rules = [:]

    static let cancelGuidance: Rules = [:]

    static let updateSpeedLimit: Rules = [
        "limit": .any.required,
        "next": .any,
    ]

    static let publishExtension: Rules = [
        "name": .requiredExtension,
        "content": .text(65_536).place,
    ]
}
