internal import CProtobufC
internal import CWaymarkWire
internal import WaymarkProtocol

/// What ``WireCheck`` must know of every message: the generated descriptors and ``FieldRules`` in one flat table.
struct Schema: Sendable {
    /// How a field's value looks on the wire.
    enum Kind: UInt8, Sendable {
        case uint32, uint64, sint32, enumeration, bool, double, string, bytes, message
    }

    /// One field number of a message.
    struct Field: Sendable {
        let kind: Kind
        let isRepeated: Bool
        let alphabet: FieldRule.Alphabet
        let allowsZero: Bool
        let isRequired: Bool
        let countMax: Int32
        /// Index into ``Schema/messages`` of a sub-message.
        let message: Int32
        let lower: Int64
        let upper: Int64
    }

    /// One message. Field number `n` is at `firstField + n - 1`.
    struct Message: Sendable {
        var firstField = 0
        var fieldCount = 0
        /// Bit `n - 1` is set if field number `n` must be there.
        var required: UInt32 = 0
        /// Field number of a text field `request_id`, or 0.
        var requestID = 0
    }

    /// The highest field number that the check can count.
    static let fieldNumberMax = 16

    private(set) var messages: [Message] = []
    /// nil: a number that is not used.
    private(set) var fields: [Field?] = []
    private(set) var names: [String] = []
    /// Index of the message by type; -1 for none.
    private var roots = [Int32](repeating: -1, count: 0x300)

    /// The protocol's.
    static let shared = Schema()

    /// Index into ``messages`` of the body of `type`.
    func root(of type: MessageType) -> Int { Int(self.roots[Int(type.rawValue)]) }

    private init() {
        var known: [String: Int] = [:]
        for type in MessageType.allCases {
            let index = unsafe self.add(type.descriptor, &known)
            self.roots[Int(type.rawValue)] = Int32(index)
        }
    }

    /// Adds a message and those below it. The protocol has no recursive messages, so this ends, and so does the check.
    private mutating func add(
        _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>, _ known: inout [String: Int]
    ) -> Int {
        let name = unsafe String(cString: descriptor.pointee.short_name)
        if let index = known[name] { return index }
        let rules = FieldRules.all[name, default: [:]]
        let count = Int(unsafe descriptor.pointee.n_fields)
        precondition(rules.count == count, "every field of \(name) needs a rule")
        var message = Message()
        var slots: [Field?] = []
        var slotNames: [String] = []
        for position in 0..<count {
            let field = unsafe descriptor.pointee.fields[position]
            let fieldName = unsafe String(cString: field.name)
            guard let rule = rules[fieldName] else {
                preconditionFailure("\(name).\(fieldName) needs a rule")
            }
            let number = Int(unsafe field.id)
            precondition(number <= Self.fieldNumberMax, "\(name).\(fieldName) has a number that is too high")
            while slots.count < number {
                slots.append(nil)
                slotNames.append("")
            }
            slots[number - 1] = unsafe self.field(field, rule, &known)
            slotNames[number - 1] = fieldName
            if rule.isRequired { message.required |= 1 << UInt32(number - 1) }
            if fieldName == "request_id" { message.requestID = number }
        }
        message.firstField = self.fields.count
        message.fieldCount = slots.count
        self.fields += slots
        self.names += slotNames
        self.messages.append(message)
        known[name] = self.messages.count - 1
        return self.messages.count - 1
    }

    private mutating func field(
        _ field: ProtobufCFieldDescriptor, _ rule: FieldRule, _ known: inout [String: Int]
    ) -> Field {
        let kind = unsafe Kind(field.type)
        var message = -1
        if kind == .message, let below = unsafe field.descriptor {
            message = unsafe self.add(
                below.assumingMemoryBound(to: ProtobufCMessageDescriptor.self), &known)
        }
        return Field(
            kind: kind, isRepeated: unsafe field.label == PROTOBUF_C_LABEL_REPEATED,
            alphabet: rule.alphabet, allowsZero: rule.allowsZero, isRequired: rule.isRequired,
            countMax: rule.countMax,
            message: Int32(message), lower: rule.bounds.lowerBound, upper: rule.bounds.upperBound)
    }
}

extension Schema.Kind {
    fileprivate init(_ type: ProtobufCType) {
        switch type {
        case PROTOBUF_C_TYPE_UINT32: self = .uint32
        case PROTOBUF_C_TYPE_UINT64: self = .uint64
        case PROTOBUF_C_TYPE_SINT32: self = .sint32
        case PROTOBUF_C_TYPE_ENUM: self = .enumeration
        case PROTOBUF_C_TYPE_BOOL: self = .bool
        case PROTOBUF_C_TYPE_DOUBLE: self = .double
        case PROTOBUF_C_TYPE_STRING: self = .string
        case PROTOBUF_C_TYPE_BYTES: self = .bytes
        case PROTOBUF_C_TYPE_MESSAGE: self = .message
        default: preconditionFailure("the protos use a type that the check does not know")
        }
    }
}

extension MessageType {
    /// The generated descriptor of the body.
    var descriptor: UnsafePointer<ProtobufCMessageDescriptor> {
        switch self {
        case .hello: unsafe waymark_hello_descriptor()
        case .welcome: unsafe waymark_welcome_descriptor()
        case .goodbye: unsafe waymark_goodbye_descriptor()
        case .ping: unsafe waymark_ping_descriptor()
        case .pong: unsafe waymark_pong_descriptor()
        case .error: unsafe waymark_error_descriptor()
        case .openSession: unsafe waymark_open_session_descriptor()
        case .sessionOpened: unsafe waymark_session_opened_descriptor()
        case .vehicleChanged: unsafe waymark_vehicle_changed_descriptor()
        case .sessionEnded: unsafe waymark_session_ended_descriptor()
        case .snapshotBegin: unsafe waymark_snapshot_begin_descriptor()
        case .snapshotEnd: unsafe waymark_snapshot_end_descriptor()
        case .sessionSuspended: unsafe waymark_session_suspended_descriptor()
        case .sessionRestored: unsafe waymark_session_restored_descriptor()
        case .receipt: unsafe waymark_receipt_descriptor()
        case .receiptReport: unsafe waymark_receipt_report_descriptor()
        case .tripPreviews: unsafe waymark_trip_previews_descriptor()
        case .startGuidance: unsafe waymark_start_guidance_descriptor()
        case .updateTrip: unsafe waymark_update_trip_descriptor()
        case .addManeuvers: unsafe waymark_add_maneuvers_descriptor()
        case .addLaneGuidances: unsafe waymark_add_lane_guidances_descriptor()
        case .addRouteSegments: unsafe waymark_add_route_segments_descriptor()
        case .upcomingManeuvers: unsafe waymark_upcoming_maneuvers_descriptor()
        case .currentLaneGuidance: unsafe waymark_current_lane_guidance_descriptor()
        case .currentRoadName: unsafe waymark_current_road_name_descriptor()
        case .updateManeuverState: unsafe waymark_update_maneuver_state_descriptor()
        case .updateTripEstimates: unsafe waymark_update_trip_estimates_descriptor()
        case .updateManeuverEstimates: unsafe waymark_update_maneuver_estimates_descriptor()
        case .currentRouteSegment: unsafe waymark_current_route_segment_descriptor()
        case .pauseGuidance: unsafe waymark_pause_guidance_descriptor()
        case .resumeGuidance: unsafe waymark_resume_guidance_descriptor()
        case .showAlert: unsafe waymark_show_alert_descriptor()
        case .dismissAlert: unsafe waymark_dismiss_alert_descriptor()
        case .shareDestination: unsafe waymark_share_destination_descriptor()
        case .finishGuidance: unsafe waymark_finish_guidance_descriptor()
        case .cancelGuidance: unsafe waymark_cancel_guidance_descriptor()
        case .waypointRequest: unsafe waymark_waypoint_request_descriptor()
        case .destinationRequest: unsafe waymark_destination_request_descriptor()
        case .withdrawRequest: unsafe waymark_withdraw_request_descriptor()
        case .requestAnswer: unsafe waymark_request_answer_descriptor()
        case .prompt: unsafe waymark_prompt_descriptor()
        case .promptAnswer: unsafe waymark_prompt_answer_descriptor()
        case .promptOver: unsafe waymark_prompt_over_descriptor()
        case .requestOutcome: unsafe waymark_request_outcome_descriptor()
        case .cancelNavigation: unsafe waymark_cancel_navigation_descriptor()
        case .allowNavigation: unsafe waymark_allow_navigation_descriptor()
        case .updateRouteSource: unsafe waymark_update_route_source_descriptor()
        case .vehicleSettings: unsafe waymark_vehicle_settings_descriptor()
        case .zoomCluster: unsafe waymark_zoom_cluster_descriptor()
        case .alertResponse: unsafe waymark_alert_response_descriptor()
        case .destinationShareAnswer: unsafe waymark_destination_share_answer_descriptor()
        case .destinationShareStatus: unsafe waymark_destination_share_status_descriptor()
        }
    }
}
