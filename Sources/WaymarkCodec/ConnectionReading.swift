internal import CProtobufC
internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

// connection.proto: from C to messages.

private typealias Limit = ProtocolConstants

/// Features a peer names. Those that this build does not know are left out: they cannot be granted.
private func features(_ pointer: UnsafeMutablePointer<Waymark__V1__Feature>?, _ count: Int) -> Set<Feature> {
    Set((0..<count).compactMap { unsafe (pointer?[$0]).flatMap { Feature(rawValue: $0.rawValue) } })
}

/// Grants of features that this build knows.
func grants(
    _ pointers: Pointers<Waymark__V1__FeatureGrant>?, _ count: Int, _ field: String
) throws(Rejection) -> [FeatureGrant] {
    let grants: [FeatureGrant?] = try unsafe messages(pointers, count, field, max: 64) {
        wire throws(Rejection) in
        guard let feature = unsafe Feature(rawValue: wire.feature.rawValue) else { return nil }
        if unsafe wire.granted != 0 { return FeatureGrant(feature) }
        return unsafe FeatureGrant(feature, withheld: try closed(wire.reason.rawValue, "reason"))
    }
    return grants.compactMap { $0 }
}

private func vehicleHello(_ wire: Waymark__V1__VehicleHello) throws(Rejection) -> VehicleHello {
    var hello = try unsafe VehicleHello(
        vehicle: name(wire.vehicle_id, "vehicle_id"), endpoint: name(wire.endpoint, "endpoint"),
        features: features(wire.features, wire.n_features))
    if let limits = unsafe wire.limits?.pointee { hello.limits = unsafe VehicleLimits(limits) }
    if let preferences = unsafe wire.preferences?.pointee {
        hello.preferences.distanceUnits = unsafe open(preferences.distance_units.rawValue)
        hello.preferences.locale = try unsafe text(
            preferences.locale, "preferences.locale", bytesMax: Limit.localeBytesMax)
    }
    hello.guidanceWanted = unsafe wire.guidance_wanted != 0
    return hello
}

extension VehicleLimits {
    fileprivate init(_ wire: Waymark__V1__VehicleLimits) {
        self.init()
        self.currentRoadNameLengthMax = unsafe wire.current_road_name_length_max
        self.destinationNameLengthMax = unsafe wire.destination_name_length_max
        self.roadFollowingManeuverLengthMax = unsafe wire.road_following_maneuver_length_max
        self.maneuverInstructionLengthMax = unsafe wire.maneuver_instruction_length_max
        self.laneInstructionLengthMax = unsafe wire.lane_instruction_length_max
        self.alertTextLengthMax = unsafe wire.alert_text_length_max
        self.maneuversStoredMax = unsafe wire.maneuvers_stored_max
        self.laneGuidancesStoredMax = unsafe wire.lane_guidances_stored_max
        self.routeSegmentPointsMax = unsafe wire.route_segment_points_max
    }
}

private func navigationHello(_ wire: Waymark__V1__NavigationHello) throws(Rejection) -> NavigationHello {
    var hello = try unsafe NavigationHello(
        client: name(wire.client_id, "client_id"), features: features(wire.features, wire.n_features))
    hello.priority = try unsafe checked(wire.priority, in: Limit.priority, "priority")
    return hello
}

private func role(_ wire: Waymark__V1__Hello) throws(Rejection) -> Hello.Role {
    switch unsafe wire.role {
    case WAYMARK__V1__ROLE__ROLE_VEHICLE_ENDPOINT:
        guard unsafe wire.navigation == nil else {
            throw Rejection(
                .inconsistent, field: "navigation", reason: "is there, but the role is VEHICLE_ENDPOINT")
        }
        return .vehicle(try unsafe required(wire.vehicle, "vehicle", vehicleHello))
    case WAYMARK__V1__ROLE__ROLE_NAVIGATION_CLIENT:
        guard unsafe wire.vehicle == nil else {
            throw Rejection(
                .inconsistent, field: "vehicle", reason: "is there, but the role is NAVIGATION_CLIENT")
        }
        return .navigation(try unsafe required(wire.navigation, "navigation", navigationHello))
    default: throw outOfRange("role", "must be VEHICLE_ENDPOINT or NAVIGATION_CLIENT")
    }
}

private func token(_ data: ProtobufCBinaryData, _ field: String) throws(Rejection) -> ResumptionToken? {
    let bytes = unsafe Array(UnsafeBufferPointer(start: data.data, count: data.len))
    guard !bytes.isEmpty else { return nil }
    guard bytes.count == 16 else { throw outOfRange(field, "has \(bytes.count) bytes, must have 16 or none") }
    let number = { (part: ArraySlice<UInt8>) in part.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
    return ResumptionToken(high: number(bytes.prefix(8)), low: number(bytes.suffix(8)))
}

func hello(_ wire: Waymark__V1__Hello) throws(Rejection) -> Hello {
    var hello = Hello(role: try unsafe role(wire))
    let (lowest, highest) = unsafe (wire.version_min, wire.version_max)
    guard lowest >= 1, lowest <= highest else {
        throw outOfRange("version_min", "\(lowest) ... \(highest) is not a range of versions")
    }
    hello.versions = lowest...highest
    hello.displayName = try unsafe text(wire.display_name, "display_name", bytesMax: Limit.identifierBytesMax)
    hello.software = try unsafe text(wire.software, "software", bytesMax: Limit.identifierBytesMax)
    let credential = unsafe Array(
        UnsafeBufferPointer(start: wire.credential.data, count: wire.credential.len))
    guard credential.count <= Limit.credentialBytesMax else {
        throw outOfRange("credential", "has more than \(Limit.credentialBytesMax) bytes")
    }
    hello.credential = credential
    if unsafe wire.keepalive_milliseconds != 0 {
        hello.keepaliveMilliseconds = try unsafe checked(
            wire.keepalive_milliseconds, in: Limit.keepaliveMilliseconds, "keepalive_milliseconds")
    }
    if unsafe wire.frame_bytes_max != 0 {
        hello.frameBytesMax = try unsafe checked(
            wire.frame_bytes_max, in: Limit.frameBytes, "frame_bytes_max")
    }
    hello.resumptionToken = try unsafe token(wire.resumption_token, "resumption_token")
    hello.resumeSession = unsafe SessionID(wire.resume_session_id)
    hello.resumeSequence = unsafe wire.resume_sequence
    return hello
}

private func resumedSession(_ wire: Waymark__V1__ResumedSession) throws(Rejection) -> ResumedSession {
    let reason = unsafe wire.end_reason
    return unsafe ResumedSession(
        session: SessionID(wire.session_id), sequence: wire.sequence,
        phase: try closed(wire.phase.rawValue, "phase"),
        endReason: reason == 0 ? nil : try closed(reason, "end_reason"))
}

func welcome(_ wire: Waymark__V1__Welcome) throws(Rejection) -> Welcome {
    guard let token = try unsafe token(wire.resumption_token, "resumption_token") else {
        throw missing("resumption_token")
    }
    var welcome = Welcome(resumptionToken: token)
    welcome.version = unsafe wire.version
    welcome.features = try unsafe grants(wire.features, wire.n_features, "features")
    welcome.keepaliveMilliseconds = unsafe wire.keepalive_milliseconds
    welcome.frameBytesMax = unsafe wire.frame_bytes_max
    welcome.isResumed = unsafe wire.resumed != 0
    welcome.sessions = try unsafe messages(
        wire.sessions, wire.n_sessions, "sessions", max: 65_536, resumedSession)
    welcome.graceMilliseconds = unsafe wire.grace_milliseconds
    welcome.requestsOpenMax = unsafe wire.requests_open_max
    welcome.software = try unsafe text(wire.software, "software", bytesMax: Limit.identifierBytesMax)
    return welcome
}

/// A close code that this build does not know reads as `internalError`: the connection is over either way.
func goodbye(_ wire: Waymark__V1__Goodbye) throws(Rejection) -> Goodbye {
    try unsafe Goodbye(
        CloseCode(rawValue: wire.code.rawValue) ?? .internalError,
        reason: text(wire.reason, "reason", bytesMax: Limit.humanTextBytesMax),
        reconnectAfterMilliseconds: wire.reconnect_after_milliseconds)
}

/// An error code that this build does not know reads as `malformed`: the message was refused either way.
func rejection(_ wire: Waymark__V1__Error) throws(Rejection) -> Rejection {
    var rejection = try unsafe Rejection(
        ErrorCode(rawValue: wire.code.rawValue) ?? .malformed,
        field: text(wire.field, "field", bytesMax: Limit.textBytesMax),
        reason: text(wire.reason, "reason", bytesMax: Limit.textBytesMax))
    rejection.messageType = unsafe UInt16(truncatingIfNeeded: wire.message_type)
    rejection.session = unsafe SessionID(wire.session_id)
    rejection.sequence = unsafe wire.sequence
    rejection.requestID = try unsafe text(wire.request_id, "request_id", bytesMax: Limit.requestIDBytesMax)
    return rejection
}
