internal import CProtobufC
internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

extension FeatureGrant {
    typealias Wire = Waymark__V1__FeatureGrant

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__feature_grant__init) { wire in
            unsafe wire.pointee.feature = .init(rawValue: self.feature.rawValue)
            unsafe wire.pointee.granted = self.withheld == nil ? 1 : 0
            unsafe wire.pointee.reason = .init(rawValue: self.withheld?.rawValue ?? 0)
        }
    }

    static func check(_ wire: UnsafeMutablePointer<Wire>) throws(Rejection) {
        let hasReason = unsafe wire.pointee.reason.rawValue != 0
        if unsafe wire.pointee.granted != 0, hasReason {
            throw Rejection(.inconsistent, field: "reason", reason: "the feature is granted")
        }
        if unsafe wire.pointee.granted == 0, !hasReason {
            throw Rejection(.missing, field: "reason", reason: "the feature is withheld")
        }
    }

    /// nil for a feature that this build does not know. An unknown reason reads as ``WithheldReason/policy``.
    init?(_ wire: UnsafeMutablePointer<Wire>) {
        guard let feature = Feature(rawValue: unsafe wire.pointee.feature.rawValue) else { return nil }
        let isGranted = unsafe wire.pointee.granted != 0
        let reason = WithheldReason(rawValue: unsafe wire.pointee.reason.rawValue) ?? .policy
        self.init(feature, withheld: isGranted ? nil : reason)
    }

    /// The grants of a list, without those of features that this build does not know.
    static func known(
        _ count: Int, _ wire: UnsafeMutablePointer<UnsafeMutablePointer<Wire>?>?
    ) -> [FeatureGrant] {
        unsafe list(count, wire) { unsafe FeatureGrant($0) }.compactMap { $0 }
    }
}

extension ExtensionName {
    /// A list of names, each of which was checked.
    static func list(
        _ count: Int, _ wire: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    ) -> [ExtensionName] {
        unsafe texts(count, wire).map(ExtensionName.init(unchecked:))
    }
}

extension ResumptionToken {
    /// 16 bytes, in network byte order.
    var bytes: [UInt8] {
        [self.high, self.low].flatMap { word in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
        }
    }

    /// Reads 16 bytes; nil for none.
    init?(_ wire: ProtobufCBinaryData) {
        let bytes = unsafe UnsafeBufferPointer(start: wire.data, count: wire.len)
        guard bytes.count == 16 else { return nil }
        func word(_ range: Range<Int>) -> UInt64 {
            range.reduce(0) { unsafe $0 << 8 | UInt64(bytes[$1]) }
        }
        self.init(high: word(0..<8), low: word(8..<16))
    }
}

extension FeatureSet {
    /// The features of a list, without those that this build does not know.
    init(_ count: Int, _ wire: UnsafeMutablePointer<Waymark__V1__Feature>?) {
        self.init()
        for index in 0..<count {
            let number = unsafe wire?[index].rawValue
            if let feature = number.flatMap(Feature.init(rawValue:)) { self.insert(feature) }
        }
    }

    /// In ascending order, so that the same set is always the same bytes.
    func wire(in arena: Arena) -> (count: Int, items: UnsafeMutablePointer<Waymark__V1__Feature>?) {
        unsafe arena.list(Array(self)) { Waymark__V1__Feature(rawValue: $0.rawValue) }
    }
}

extension VehicleHello {
    typealias Wire = Waymark__V1__VehicleHello

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__vehicle_hello__init) { wire in
            unsafe wire.pointee.vehicle_id = arena.text(self.vehicle.rawValue)
            unsafe wire.pointee.endpoint = arena.text(self.endpoint.rawValue)
            unsafe (wire.pointee.n_features, wire.pointee.features) = unsafe self.features.wire(in: arena)
            unsafe wire.pointee.limits = self.limits.wire(in: arena)
            unsafe wire.pointee.preferences = self.preferences.wire(in: arena)
            unsafe wire.pointee.guidance_wanted = self.guidanceWanted ? 1 : 0
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init(
            vehicle: VehicleID(unchecked: unsafe text(wire.pointee.vehicle_id)),
            endpoint: EndpointName(unchecked: unsafe text(wire.pointee.endpoint)),
            features: unsafe FeatureSet(wire.pointee.n_features, wire.pointee.features))
        self.guidanceWanted = unsafe wire.pointee.guidance_wanted != 0
        if let limits = unsafe wire.pointee.limits { self.limits = unsafe VehicleLimits(limits) }
        if let preferences = unsafe wire.pointee.preferences {
            self.preferences = unsafe VehiclePreferences(preferences)
        }
    }
}

extension VehicleLimits {
    typealias Wire = Waymark__V1__VehicleLimits

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__vehicle_limits__init) { wire in
            unsafe wire.pointee.current_road_name_length_max = self.currentRoadNameLengthMax
            unsafe wire.pointee.destination_name_length_max = self.destinationNameLengthMax
            unsafe wire.pointee.road_following_maneuver_length_max = self.roadFollowingManeuverLengthMax
            unsafe wire.pointee.maneuver_instruction_length_max = self.maneuverInstructionLengthMax
            unsafe wire.pointee.lane_instruction_length_max = self.laneInstructionLengthMax
            unsafe wire.pointee.alert_text_length_max = self.alertTextLengthMax
            unsafe wire.pointee.maneuvers_stored_max = self.maneuversStoredMax
            unsafe wire.pointee.lane_guidances_stored_max = self.laneGuidancesStoredMax
            unsafe wire.pointee.route_segment_points_max = self.routeSegmentPointsMax
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init()
        self.currentRoadNameLengthMax = unsafe wire.pointee.current_road_name_length_max
        self.destinationNameLengthMax = unsafe wire.pointee.destination_name_length_max
        self.roadFollowingManeuverLengthMax = unsafe wire.pointee.road_following_maneuver_length_max
        self.maneuverInstructionLengthMax = unsafe wire.pointee.maneuver_instruction_length_max
        self.laneInstructionLengthMax = unsafe wire.pointee.lane_instruction_length_max
        self.alertTextLengthMax = unsafe wire.pointee.alert_text_length_max
        self.maneuversStoredMax = unsafe wire.pointee.maneuvers_stored_max
        self.laneGuidancesStoredMax = unsafe wire.pointee.lane_guidances_stored_max
        self.routeSegmentPointsMax = unsafe wire.pointee.route_segment_points_max
    }
}

extension NavigationHello {
    typealias Wire = Waymark__V1__NavigationHello

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__navigation_hello__init) { wire in
            unsafe wire.pointee.client_id = arena.text(self.client.rawValue)
            unsafe (wire.pointee.n_features, wire.pointee.features) = unsafe self.features.wire(in: arena)
            unsafe wire.pointee.priority = self.priority
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init(
            client: ClientID(unchecked: unsafe text(wire.pointee.client_id)),
            features: unsafe FeatureSet(wire.pointee.n_features, wire.pointee.features))
        self.priority = unsafe wire.pointee.priority
    }
}

extension Hello {
    typealias Wire = Waymark__V1__Hello

    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__hello__init) { wire in
            unsafe wire.pointee.version_min = self.versions.lowerBound
            unsafe wire.pointee.version_max = self.versions.upperBound
            switch self.role {
            case .vehicle(let vehicle):
                unsafe wire.pointee.role = WAYMARK__V1__ROLE__ROLE_VEHICLE_ENDPOINT
                unsafe wire.pointee.vehicle = vehicle.wire(in: arena)
            case .navigation(let navigation):
                unsafe wire.pointee.role = WAYMARK__V1__ROLE__ROLE_NAVIGATION_CLIENT
                unsafe wire.pointee.navigation = navigation.wire(in: arena)
            case .observer(let observer):
                unsafe wire.pointee.role = WAYMARK__V1__ROLE__ROLE_OBSERVER
                unsafe wire.pointee.observer = observer.wire(in: arena)
            }
            unsafe wire.pointee.display_name = arena.text(self.displayName)
            unsafe wire.pointee.software = arena.text(self.software)
            unsafe wire.pointee.credential = self.credential.withBytes { unsafe arena.bytes($0) }
            unsafe wire.pointee.keepalive_milliseconds = self.keepaliveMilliseconds ?? 0
            unsafe wire.pointee.send_frame_bytes_max = self.sendFrameBytesMax ?? 0
            unsafe wire.pointee.receive_frame_bytes_max = self.receiveFrameBytesMax
            unsafe wire.pointee.resumption_token = arena.bytes(self.resumptionToken?.bytes ?? [])
            unsafe wire.pointee.resume_session_id = self.resumeSession.rawValue
            unsafe wire.pointee.resume_sequence = self.resumeSequence
            unsafe wire.pointee.negotiated_limits = self.negotiatedLimits?.wire(in: arena)
            unsafe wire.pointee.report_ignored = self.reportsIgnored ? 1 : 0
            unsafe (wire.pointee.n_extensions, wire.pointee.extensions) =
                unsafe arena.texts(self.extensions.map(\.rawValue))
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) throws(Rejection) {
        let (lowest, highest) = unsafe (wire.pointee.version_min, wire.pointee.version_max)
        guard lowest <= highest else {
            throw Rejection(.inconsistent, field: "version_max", reason: "is below version_min")
        }
        self.init(role: try unsafe Role(wire))
        self.versions = lowest...highest
        self.displayName = unsafe text(wire.pointee.display_name)
        self.software = unsafe text(wire.pointee.software)
        self.credential = unsafe Credential(
            UnsafeRawBufferPointer(
                start: wire.pointee.credential.data, count: wire.pointee.credential.len))
        self.keepaliveMilliseconds = unsafe wire.pointee.keepalive_milliseconds.given
        self.sendFrameBytesMax = unsafe wire.pointee.send_frame_bytes_max.given
        self.resumptionToken = unsafe ResumptionToken(wire.pointee.resumption_token)
        self.resumeSession = SessionID(unsafe wire.pointee.resume_session_id)
        self.resumeSequence = unsafe wire.pointee.resume_sequence
        self.negotiatedLimits = unsafe wire.pointee.negotiated_limits.map { unsafe NegotiatedLimits($0) }
    }
}

extension Hello.Role {
    fileprivate init(_ wire: UnsafeMutablePointer<Hello.Wire>) throws(Rejection) {
        let role = unsafe wire.pointee.role
        let isVehicle = role == WAYMARK__V1__ROLE__ROLE_VEHICLE_ENDPOINT
        let isNavigation = role == WAYMARK__V1__ROLE__ROLE_NAVIGATION_CLIENT
        let isObserver = role == WAYMARK__V1__ROLE__ROLE_OBSERVER
        try Self.check("vehicle", isVehicle, unsafe wire.pointee.vehicle != nil)
        try Self.check("navigation", isNavigation, unsafe wire.pointee.navigation != nil)
        try Self.check("observer", isObserver, unsafe wire.pointee.observer != nil)
        let reportsIgnored = unsafe wire.pointee.report_ignored != 0
        let receiveFrameBytesMax = unsafe wire.pointee.receive_frame_bytes_max
        let extensions = unsafe ExtensionName.list(wire.pointee.n_extensions, wire.pointee.extensions)
        if let vehicle = unsafe wire.pointee.vehicle {
            var vehicle = unsafe VehicleHello(vehicle)
            vehicle.reportsIgnored = reportsIgnored
            vehicle.receiveFrameBytesMax = receiveFrameBytesMax
            vehicle.extensions = extensions
            self = .vehicle(vehicle)
        } else if let navigation = unsafe wire.pointee.navigation {
            var navigation = unsafe NavigationHello(navigation)
            navigation.reportsIgnored = reportsIgnored
            navigation.receiveFrameBytesMax = receiveFrameBytesMax
            navigation.extensions = extensions
            self = .navigation(navigation)
        } else if let observer = unsafe wire.pointee.observer {
            var observer = unsafe ObserverHello(observer)
            observer.reportsIgnored = reportsIgnored
            observer.receiveFrameBytesMax = receiveFrameBytesMax
            self = .observer(observer)
        } else {
            throw Rejection(.outOfRange, field: "role", reason: "is not known")
        }
    }

    /// Checks that a field is there if, and only if, it is that of the role.
    private static func check(
        _ field: StaticString, _ isOfRole: Bool, _ isPresent: Bool
    ) throws(Rejection) {
        if isOfRole, !isPresent {
            throw Rejection(.missing, field: "\(field)", reason: "the role needs it")
        }
        if isPresent, !isOfRole {
            throw Rejection(.inconsistent, field: "\(field)", reason: "does not fit the role")
        }
    }
}

extension NegotiatedLimits {
    func wire(in arena: Arena) -> UnsafeMutablePointer<Waymark__V1__NegotiatedLimits> {
        unsafe arena.make(waymark__v1__negotiated_limits__init) { wire in
            unsafe wire.pointee.vehicles_per_session_max = self.vehiclesPerSessionMax
            unsafe wire.pointee.extension_states_max = self.extensionStatesMax
            unsafe wire.pointee.route_segments_max = self.routeSegmentsMax
            unsafe wire.pointee.coordinates_max = self.coordinatesMax
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__NegotiatedLimits>) {
        self = .page
        if let max = unsafe wire.pointee.vehicles_per_session_max.given { self.vehiclesPerSessionMax = max }
        if let max = unsafe wire.pointee.extension_states_max.given { self.extensionStatesMax = max }
        if let max = unsafe wire.pointee.route_segments_max.given { self.routeSegmentsMax = max }
        if let max = unsafe wire.pointee.coordinates_max.given { self.coordinatesMax = max }
    }
}

extension ResumedSession {
    typealias Wire = Waymark__V1__ResumedSession

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__resumed_session__init) { wire in
            unsafe wire.pointee.session_id = self.session.rawValue
            unsafe wire.pointee.sequence = self.sequence
            unsafe wire.pointee.phase = .init(rawValue: self.phase.rawValue)
            unsafe wire.pointee.end_reason = self.endReason?.rawValue ?? 0
        }
    }

    static func check(_ wire: UnsafeMutablePointer<Wire>) throws(Rejection) {
        let isEnded = unsafe wire.pointee.phase == WAYMARK__V1__SESSION_PHASE__SESSION_PHASE_ENDED
        guard unsafe isEnded || wire.pointee.end_reason == 0 else {
            throw Rejection(.inconsistent, field: "end_reason", reason: "the session has not ended")
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init(
            session: SessionID(unsafe wire.pointee.session_id), sequence: unsafe wire.pointee.sequence,
            phase: SessionPhase(wire: unsafe wire.pointee.phase.rawValue),
            endReason: unsafe wire.pointee.end_reason.given.map { SessionEndReason(wire: $0) })
    }
}

extension SessionPhase {
    /// Reads the value on the wire; a phase of a later version counts as ACTIVE.
    init(wire value: UInt32) {
        self = SessionPhase(rawValue: value) ?? .active
    }
}

extension Welcome {
    typealias Wire = Waymark__V1__Welcome

    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__welcome__init) { wire in
            unsafe wire.pointee.version = self.version
            unsafe (wire.pointee.n_features, wire.pointee.features) =
                unsafe arena.list(self.features) { unsafe $0.wire(in: arena) }
            unsafe wire.pointee.keepalive_milliseconds = self.keepaliveMilliseconds
            unsafe wire.pointee.receive_frame_bytes_max = self.receiveFrameBytesMax
            unsafe wire.pointee.send_frame_bytes_max = self.sendFrameBytesMax
            unsafe wire.pointee.resumption_token = arena.bytes(self.resumptionToken.bytes)
            unsafe wire.pointee.resumed = self.isResumed ? 1 : 0
            unsafe (wire.pointee.n_sessions, wire.pointee.sessions) =
                unsafe arena.list(self.sessions) { unsafe $0.wire(in: arena) }
            unsafe wire.pointee.grace_milliseconds = self.graceMilliseconds
            unsafe wire.pointee.requests_open_max = self.requestsOpenMax
            unsafe wire.pointee.software = arena.text(self.software)
            unsafe wire.pointee.negotiated_limits = self.negotiatedLimits.wire(in: arena)
            unsafe wire.pointee.gateway_instance = arena.text(self.gateway.instance.rawValue)
            unsafe wire.pointee.gateway_epoch = self.gateway.epoch
            unsafe wire.pointee.visibility = .init(rawValue: self.visibility?.rawValue ?? 0)
            unsafe (wire.pointee.n_extensions, wire.pointee.extensions) =
                unsafe arena.texts(self.extensions.map(\.rawValue))
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) throws(Rejection) {
        try unsafe checkEach(wire.pointee.n_features, wire.pointee.features, "features", FeatureGrant.check)
        try unsafe checkEach(wire.pointee.n_sessions, wire.pointee.sessions, "sessions", ResumedSession.check)
        guard let token = unsafe ResumptionToken(wire.pointee.resumption_token) else {
            throw Rejection(.missing, field: "resumption_token", reason: "must be there")
        }
        self.init(resumptionToken: token)
        self.version = unsafe wire.pointee.version
        self.features = unsafe FeatureGrant.known(wire.pointee.n_features, wire.pointee.features)
        self.keepaliveMilliseconds = unsafe wire.pointee.keepalive_milliseconds
        self.receiveFrameBytesMax = unsafe wire.pointee.receive_frame_bytes_max
        self.sendFrameBytesMax = unsafe wire.pointee.send_frame_bytes_max
        self.isResumed = unsafe wire.pointee.resumed != 0
        self.sessions = unsafe list(wire.pointee.n_sessions, wire.pointee.sessions) {
            unsafe ResumedSession($0)
        }
        self.graceMilliseconds = unsafe wire.pointee.grace_milliseconds
        self.requestsOpenMax = unsafe wire.pointee.requests_open_max
        self.software = unsafe text(wire.pointee.software)
        if let limits = unsafe wire.pointee.negotiated_limits {
            self.negotiatedLimits = unsafe NegotiatedLimits(limits)
        }
        self.gateway = GatewayIdentity(
            instance: GatewayName(unchecked: unsafe text(wire.pointee.gateway_instance)),
            epoch: unsafe wire.pointee.gateway_epoch)
        self.visibility = Visibility(rawValue: unsafe wire.pointee.visibility.rawValue)
        self.extensions = unsafe ExtensionName.list(wire.pointee.n_extensions, wire.pointee.extensions)
    }
}
