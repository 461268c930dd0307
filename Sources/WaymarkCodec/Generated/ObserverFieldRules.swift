// Made by scripts/generate/wire.sh from Protos. Do not edit.

extension FieldRules {
    static let observe: Rules = [
        "vehicle_ids": .listedName.atMost(64),
        "client_ids": .listedName.atMost(64),
        "session_ids": .range(1...4_294_967_295).atMost(64),
        "kinds": .range(1...2_147_483_647).atMost(64),
        "state": .any,
        "events": .any,
        "frames": .any,
        "after_number": .any,
    ]

    static let observationBegin: Rules = [
        "kind": .range(1...2).required,
        "number": .any,
        "instant_microseconds": .any,
    ]

    static let delayCounts: Rules = [
        "counts": .any.atMost(16),
        "total_microseconds": .any,
        "last_microseconds": .any,
    ]

    static let endpointDelays: Rules = [
        "received": .any,
        "shown": .any,
        "round_trip_microseconds": .any,
    ]

    static let endpointRecord: Rules = [
        "endpoint": .requiredName,
        "connection_id": .any,
        "instant_microseconds": .any,
        "features": .range(1...2_147_483_647).atMost(64),
        "limits": .any,
        "preferences": .any,
        "session_id": .any,
        "audience_id": .any,
        "withheld": .any.atMost(64),
        "settings": .any,
        "receipt": .any,
        "receive_frame_bytes_max": .range(4_096...16_777_216).orZero,
        "delays": .any,
    ]

    static let vehicleRecord: Rules = [
        "vehicle_id": .requiredName,
        "session_id": .any,
        "navigates_itself": .any,
        "has_stopped": .any,
        "guidance_wanted": .any,
        "route_source": .any,
        "endpoints": .any.atMost(1_024),
        "owner": .text(256),
        "route_feedback": .any,
    ]

    static let clientRecord: Rules = [
        "client_id": .requiredName,
        "connection_id": .any,
        "instant_microseconds": .any,
        "granted": .range(1...2_147_483_647).atMost(64),
        "priority": .range(-1_000...1_000),
        "display_name": .text(128),
        "owner": .text(256),
    ]

    static let sessionRecord: Rules = [
        "session_id": .id,
        "client_id": .requiredName,
        "request_id": .text(64),
        "any_that_asked": .any,
        "phase": .specified,
        "generation": .any,
        "suspended": .any,
        "alert_id": .any,
        "opted_out": .range(1...2_147_483_647).atMost(64),
        "shares_open": .any,
    ]

    static let requestKey: Rules = [
        "vehicle_id": .requiredName,
        "request_id": .requiredText(64),
    ]

    static let requestRecord: Rules = [
        "key": .any.required,
        "message_type": .range(0...65_535),
        "session_id": .any,
        "client_id": .requiredName,
        "stage": .specified,
        "deadline_microseconds": .any,
    ]

    static let retainedFrames: Rules = [
        "session_id": .id,
        "frames": .text(16_777_216),
        "redacted": .any,
        "is_first": .any,
    ]

    static let observedRecords: Rules = [
        "number": .any,
        "instant_microseconds": .any,
        "vehicles": .any.atMost(65_536),
        "clients": .any.atMost(65_536),
        "sessions": .any.atMost(65_536),
        "requests": .any.atMost(65_536),
        "retained": .any.atMost(65_536),
        "vehicles_gone": .listedName.atMost(65_536),
        "clients_gone": .listedName.atMost(65_536),
        "sessions_gone": .range(1...4_294_967_295).atMost(65_536),
        "requests_gone": .any.atMost(65_536),
        "is_last": .any,
    ]

    static let observedEvent: Rules = [
        "number": .requiredLong,
        "instant_microseconds": .any,
        "kind": .specified,
        "code": .any,
        "reason": .text(512),
        "connection_id": .any,
        "vehicle_ids": .listedName.atMost(256),
        "client_id": .name,
        "session_id": .any,
        "request_id": .text(64),
    ]

    static let observedFrames: Rules = [
        "number": .requiredLong,
        "instant_microseconds": .any,
        "direction": .range(1...2).required,
        "connection_id": .any,
        "audience_id": .any,
        "session_id": .any,
        "redacted": .any,
        "rejected": .any,
        "frames": .text(16_777_216),
    ]

    static let observationGap: Rules = [
        "dropped": .requiredLong,
        "next_number": .any,
    ]

    static let readCounters: Rules = [
        "connections": .any,
        "sessions": .any,
    ]

    static let counter: Rules = [
        "name": .specified,
        "label": .any,
        "value": .any,
    ]

    static let connectionMeasure: Rules = [
        "connection_id": .requiredLong,
        "waiting_bytes": .any,
        "input_bytes": .any,
        "conflated": .any,
    ]

    static let sessionMeasure: Rules = [
        "session_id": .id,
        "sequence": .any,
        "retained_bytes": .any,
        "replay_bytes": .any,
        "age_milliseconds": .any,
    ]

    static let counters: Rules = [
        "number": .any,
        "instant_microseconds": .any,
        "counters": .any.atMost(1_024),
        "connections": .any.atMost(65_536),
        "sessions": .any.atMost(65_536),
        "is_last": .any,
    ]
}
