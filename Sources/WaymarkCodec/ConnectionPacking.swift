internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

// connection.proto: from messages to C.
extension Packer {
    mutating func grant(_ model: FeatureGrant) -> Pointer<Waymark__V1__FeatureGrant> {
        let wire = unsafe self.make(waymark__v1__feature_grant__init)
        unsafe wire.pointee.feature = Waymark__V1__Feature(rawValue: model.feature.rawValue)
        unsafe wire.pointee.granted = model.withheld == nil ? 1 : 0
        unsafe wire.pointee.reason = Waymark__V1__WithheldReason(rawValue: model.withheld?.rawValue ?? 0)
        return unsafe wire
    }

    mutating func vehicleLimits(_ model: VehicleLimits) -> Pointer<Waymark__V1__VehicleLimits> {
        let wire = unsafe self.make(waymark__v1__vehicle_limits__init)
        unsafe wire.pointee.current_road_name_length_max = model.currentRoadNameLengthMax
        unsafe wire.pointee.destination_name_length_max = model.destinationNameLengthMax
        unsafe wire.pointee.road_following_maneuver_length_max = model.roadFollowingManeuverLengthMax
        unsafe wire.pointee.maneuver_instruction_length_max = model.maneuverInstructionLengthMax
        unsafe wire.pointee.lane_instruction_length_max = model.laneInstructionLengthMax
        unsafe wire.pointee.alert_text_length_max = model.alertTextLengthMax
        unsafe wire.pointee.maneuvers_stored_max = model.maneuversStoredMax
        unsafe wire.pointee.lane_guidances_stored_max = model.laneGuidancesStoredMax
        unsafe wire.pointee.route_segment_points_max = model.routeSegmentPointsMax
        return unsafe wire
    }

    mutating func vehiclePreferences(_ model: VehiclePreferences) -> Pointer<Waymark__V1__VehiclePreferences>
    {
        let wire = unsafe self.make(waymark__v1__vehicle_preferences__init)
        unsafe wire.pointee.distance_units = Waymark__V1__DistanceUnits(
            rawValue: model.distanceUnits.rawValue)
        unsafe wire.pointee.locale = self.text(model.locale)
        return unsafe wire
    }

    mutating func vehicleHello(_ model: VehicleHello) -> Pointer<Waymark__V1__VehicleHello> {
        let wire = unsafe self.make(waymark__v1__vehicle_hello__init)
        unsafe wire.pointee.vehicle_id = self.text(model.vehicle.rawValue)
        unsafe wire.pointee.endpoint = self.text(model.endpoint.rawValue)
        unsafe wire.pointee.n_features = features(model.features).count
        unsafe wire.pointee.features = self.numbers(features(model.features))
        unsafe wire.pointee.limits = self.vehicleLimits(model.limits)
        unsafe wire.pointee.preferences = self.vehiclePreferences(model.preferences)
        unsafe wire.pointee.guidance_wanted = model.guidanceWanted ? 1 : 0
        return unsafe wire
    }

    mutating func navigationHello(_ model: NavigationHello) -> Pointer<Waymark__V1__NavigationHello> {
        let wire = unsafe self.make(waymark__v1__navigation_hello__init)
        unsafe wire.pointee.client_id = self.text(model.client.rawValue)
        unsafe wire.pointee.n_features = features(model.features).count
        unsafe wire.pointee.features = self.numbers(features(model.features))
        unsafe wire.pointee.priority = model.priority
        return unsafe wire
    }

    mutating func hello(_ model: Hello) -> Pointer<Waymark__V1__Hello> {
        let wire = unsafe self.make(waymark__v1__hello__init)
        unsafe wire.pointee.version_min = model.versions.lowerBound
        unsafe wire.pointee.version_max = model.versions.upperBound
        switch model.role {
        case .vehicle(let vehicle):
            unsafe wire.pointee.role = WAYMARK__V1__ROLE__ROLE_VEHICLE_ENDPOINT
            unsafe wire.pointee.vehicle = self.vehicleHello(vehicle)
        case .navigation(let navigation):
            unsafe wire.pointee.role = WAYMARK__V1__ROLE__ROLE_NAVIGATION_CLIENT
            unsafe wire.pointee.navigation = self.navigationHello(navigation)
        }
        unsafe wire.pointee.display_name = self.text(model.displayName)
        unsafe wire.pointee.software = self.text(model.software)
        unsafe wire.pointee.credential = self.bytes(model.credential)
        unsafe wire.pointee.keepalive_milliseconds = model.keepaliveMilliseconds ?? 0
        unsafe wire.pointee.frame_bytes_max = model.frameBytesMax ?? 0
        if let token = model.resumptionToken {
            unsafe wire.pointee.resumption_token = self.bytes(token.bytes)
        }
        unsafe wire.pointee.resume_session_id = model.resumeSession.rawValue
        unsafe wire.pointee.resume_sequence = model.resumeSequence
        return unsafe wire
    }

    mutating func resumedSession(_ model: ResumedSession) -> Pointer<Waymark__V1__ResumedSession> {
        let wire = unsafe self.make(waymark__v1__resumed_session__init)
        unsafe wire.pointee.session_id = model.session.rawValue
        unsafe wire.pointee.sequence = model.sequence
        unsafe wire.pointee.phase = Waymark__V1__SessionPhase(rawValue: model.phase.rawValue)
        unsafe wire.pointee.end_reason = model.endReason?.rawValue ?? 0
        return unsafe wire
    }

    mutating func welcome(_ model: Welcome) -> Pointer<Waymark__V1__Welcome> {
        let wire = unsafe self.make(waymark__v1__welcome__init)
        unsafe wire.pointee.version = model.version
        unsafe wire.pointee.n_features = model.features.count
        unsafe wire.pointee.features = self.list(model.features) { unsafe $0.grant($1) }
        unsafe wire.pointee.keepalive_milliseconds = model.keepaliveMilliseconds
        unsafe wire.pointee.frame_bytes_max = model.frameBytesMax
        unsafe wire.pointee.resumption_token = self.bytes(model.resumptionToken.bytes)
        unsafe wire.pointee.resumed = model.isResumed ? 1 : 0
        unsafe wire.pointee.n_sessions = model.sessions.count
        unsafe wire.pointee.sessions = self.list(model.sessions) { unsafe $0.resumedSession($1) }
        unsafe wire.pointee.grace_milliseconds = model.graceMilliseconds
        unsafe wire.pointee.requests_open_max = model.requestsOpenMax
        unsafe wire.pointee.software = self.text(model.software)
        return unsafe wire
    }

    mutating func goodbye(_ model: Goodbye) -> Pointer<Waymark__V1__Goodbye> {
        let wire = unsafe self.make(waymark__v1__goodbye__init)
        unsafe wire.pointee.code = Waymark__V1__CloseCode(rawValue: model.code.rawValue)
        unsafe wire.pointee.reason = self.text(model.reason.cut(toBytes: ProtocolConstants.humanTextBytesMax))
        unsafe wire.pointee.reconnect_after_milliseconds = model.reconnectAfterMilliseconds
        return unsafe wire
    }

    mutating func error(_ model: Rejection) -> Pointer<Waymark__V1__Error> {
        let wire = unsafe self.make(waymark__v1__error__init)
        unsafe wire.pointee.code = Waymark__V1__ErrorCode(rawValue: model.code.rawValue)
        unsafe wire.pointee.field = self.text(model.field.cut(toBytes: ProtocolConstants.textBytesMax))
        unsafe wire.pointee.reason = self.text(model.reason.cut(toBytes: ProtocolConstants.textBytesMax))
        unsafe wire.pointee.message_type = UInt32(model.messageType)
        unsafe wire.pointee.session_id = model.session.rawValue
        unsafe wire.pointee.sequence = model.sequence
        unsafe wire.pointee.request_id = self.text(model.requestID)
        return unsafe wire
    }
}

/// In the order of their numbers, so that equal sets have equal bytes.
private func features(_ features: Set<Feature>) -> [Waymark__V1__Feature] {
    features.map(\.rawValue).sorted().map { Waymark__V1__Feature(rawValue: $0) }
}

extension ResumptionToken {
    /// 16 bytes in network order.
    fileprivate var bytes: [UInt8] {
        [self.high, self.low].flatMap { half in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: half >> UInt64($0)) }
        }
    }
}

extension String {
    /// At most `count` bytes of the text, cut between characters: our own words about a peer's long ones.
    fileprivate func cut(toBytes count: Int) -> String {
        guard self.utf8.count > count else { return self }
        var cut = ""
        for character in self where cut.utf8.count + character.utf8.count <= count { cut.append(character) }
        return cut
    }
}
