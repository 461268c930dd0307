// Made by scripts/generate/wire.sh from Protos. Do not edit.

extension FieldRules {
    static let featureGrant: Rules = [
        "feature": .specified,
        "granted": .any,
        "reason": .enumeration,
    ]

    static let vehicleLimits: Rules = [
        "current_road_name_length_max": .any,
        "destination_name_length_max": .any,
        "road_following_maneuver_length_max": .any,
        "maneuver_instruction_length_max": .any,
        "lane_instruction_length_max": .any,
        "alert_text_length_max": .any,
        "maneuvers_stored_max": .any,
        "lane_guidances_stored_max": .any,
        "route_segment_points_max": .any,
    ]

    static let vehiclePreferences: Rules = [
        "distance_units": .enumeration,
        "locale": .text(35),
    ]

    static let vehicleHello: Rules = [
        "vehicle_id": .requiredName,
        "endpoint": .requiredName,
        "features": .range(1...2_147_483_647).atMost(64),
        "limits": .any,
        "preferences": .any,
        "guidance_wanted": .any,
    ]

    static let navigationHello: Rules = [
        "client_id": .requiredName,
        "features": .range(1...2_147_483_647).atMost(64),
        "priority": .range(-1_000...1_000),
    ]

    static let negotiatedLimits: Rules = [
        "vehicles_per_session_max": .range(256...65_536).orZero,
        "extension_states_max": .range(64...65_536).orZero,
        "route_segments_max": .range(65...4_096).orZero,
        "coordinates_max": .range(262_144...4_194_304).orZero,
    ]

    static let observerHello: Rules = [
        "observer_id": .requiredName
    ]

    static let hello: Rules = [
        "version_min": .id,
        "version_max": .id,
        "role": .range(1...3).required,
        "vehicle": .any,
        "navigation": .any,
        "display_name": .text(128),
        "software": .text(128),
        "credential": .text(256),
        "keepalive_milliseconds": .range(1_000...600_000).orZero,
        "send_frame_bytes_max": .range(4_096...16_777_216).orZero,
        "resumption_token": .range(16...16).orZero,
        "resume_session_id": .any,
        "resume_sequence": .any,
        "negotiated_limits": .any,
        "observer": .any,
        "report_ignored": .any,
        "receive_frame_bytes_max": .range(4_096...16_777_216).orZero,
        "extensions": .listedExtension.atMost(32),
    ]

    static let resumedSession: Rules = [
        "session_id": .id,
        "sequence": .any,
        "phase": .specified,
        "end_reason": .range(0...2_147_483_647),
    ]

    static let welcome: Rules = [
        "version": .id,
        "features": .any.atMost(64),
        "keepalive_milliseconds": .any,
        "receive_frame_bytes_max": .any,
        "resumption_token": .range(16...16).required,
        "resumed": .any,
        "sessions": .any.atMost(4_096),
        "grace_milliseconds": .any,
        "requests_open_max": .any,
        "software": .text(128),
        "negotiated_limits": .any,
        "gateway_instance": .requiredName,
        "gateway_epoch": .requiredLong,
        "visibility": .enumeration,
        "send_frame_bytes_max": .any,
        "extensions": .listedExtension.atMost(32),
    ]

    static let goodbye: Rules = [
        "code": .specified,
        "reason": .text(256),
        "reconnect_after_milliseconds": .any,
        "moved_to": .text(256),
        "limit": .text(64),
        "limit_value": .any,
    ]

    static let ping: Rules = [
        "nonce": .any,
        "sent_nanoseconds": .any,
    ]

    static let pong: Rules = [
        "nonce": .any,
        "received_nanoseconds": .any,
        "sent_nanoseconds": .any,
    ]

    static let error: Rules = [
        "code": .specified,
        "field": .text(512),
        "reason": .text(512),
        "message_type": .range(0...65_535),
        "session_id": .any,
        "sequence": .any,
        "request_id": .text(64),
        "limit": .text(64),
        "limit_value": .any,
        "retry_after_milliseconds": .any,
    ]
}
