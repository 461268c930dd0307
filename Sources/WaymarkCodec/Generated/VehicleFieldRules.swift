// Made by scripts/generate/wire.sh from Protos. Do not edit.

extension FieldRules {
    static let waypointRequest: Rules = [
        "request_id": .requiredText(64),
        "waypoint": .any.required,
        "segment_id": .text(128),
        "vehicle_id": .name,
    ]

    static let destinationRequest: Rules = [
        "request_id": .requiredText(64),
        "destination": .any.required,
        "vehicle_id": .name,
    ]

    static let withdrawRequest: Rules = [
        "request_id": .requiredText(64)
    ]

    static let requestAnswer: Rules = [
        "request_id": .requiredText(64),
        "vehicle_id": .requiredName,
        "answer": .range(1...5).required,
        "travel_estimates": .any,
        "reason": .enumeration,
    ]

    static let prompt: Rules = [
        "request_id": .requiredText(64),
        "waypoint": .any.required,
        "travel_estimates": .any.required,
        "deadline_milliseconds": .any,
    ]

    static let promptAnswer: Rules = [
        "request_id": .requiredText(64),
        "accepted": .any,
    ]

    static let promptOver: Rules = [
        "request_id": .requiredText(64),
        "outcome": .specified,
    ]

    static let requestOutcome: Rules = [
        "request_id": .requiredText(64),
        "vehicle_id": .requiredName,
        "outcome": .specified,
        "client_id": .name,
        "preview_follows": .any,
        "cause": .enumeration,
        "endpoint": .name,
    ]

    static let cancelNavigation: Rules = [
        "reason": .specified
    ]

    static let allowNavigation: Rules = [:]

    static let updateRouteSource: Rules = [
        "route_source": .enumeration,
        "vehicle_id": .name,
    ]

    static let vehicleSettings: Rules = [
        "compass": .enumeration,
        "speed_limit": .enumeration,
        "content_style": .enumeration,
        "limited_user_interfaces": .any,
        "ready_to_show": .any,
        "vehicle_id": .name,
        "endpoint": .name,
    ]

    static let zoomCluster: Rules = [
        "direction": .specified,
        "vehicle_id": .name,
        "endpoint": .name,
    ]

    static let alertResponse: Rules = [
        "alert_id": .id,
        "action_id": .range(0...2),
        "dismissal": .enumeration,
        "vehicle_id": .name,
        "endpoint": .name,
    ]

    static let destinationShareAnswer: Rules = [
        "share_id": .requiredText(64),
        "outcome": .specified,
    ]

    static let destinationShareStatus: Rules = [
        "share_id": .requiredText(64),
        "vehicle_id": .requiredName,
        "stage": .specified,
        "outcome": .enumeration,
    ]

    static let vehicleExtension: Rules = [
        "name": .requiredExtension,
        "content": .text(4_096).place,
        "vehicle_id": .name,
        "endpoint": .name,
    ]

    static let selectPreview: Rules = [
        "trip_id": .requiredText(128),
        "route_choice_id": .any,
        "vehicle_id": .name,
        "endpoint": .name,
    ]

    static let startTripRequest: Rules = [
        "request_id": .requiredText(64),
        "trip_id": .requiredText(128),
        "route_choice_id": .any,
        "vehicle_id": .name,
    ]

    static let simulateDrive: Rules = [
        "action": .specified,
        "speed_percent": .range(0...100_000),
        "client_id": .name,
        "vehicle_id": .name,
        "endpoint": .name,
    ]

    static let destinationShareWanted: Rules = [
        "trip_id": .text(128),
        "vehicle_id": .name,
        "endpoint": .name,
    ]

    static let stopFeedback: Rules = [
        "arrival_battery_per_mille": .range(0...1_000),
        "reachability": .enumeration,
    ]

    static let updateRouteFeedback: Rules = [
        "generation": .any,
        "stops": .any.atMost(65),
        "first_unreachable_segment_id": .text(128),
        "vehicle_id": .name,
    ]

    static let receipt: Rules = [
        "received_sequence": .any,
        "shown_sequence": .any,
        "received_nanoseconds": .any,
        "shown_nanoseconds": .any,
    ]

    static let endpointReceipt: Rules = [
        "vehicle_id": .requiredName,
        "endpoint": .requiredName,
        "received_sequence": .any,
        "shown_sequence": .any,
        "received_delay_microseconds": .any,
        "shown_delay_microseconds": .any,
    ]

    static let receiptReport: Rules = [
        "gateway_sequence": .any,
        "endpoints": .any.atMost(65_536),
    ]
}
