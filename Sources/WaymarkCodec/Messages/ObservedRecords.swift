internal import CProtobufC
internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

extension Instant {
    /// Whole microseconds, rounded down; no instant is before 0.
    var wireMicroseconds: UInt64 { UInt64(clamping: self.nanoseconds / 1_000) }

    init(wire microseconds: UInt64) {
        self.init(nanoseconds: Int64(min(microseconds, UInt64(Int64.max / 1_000))) * 1_000)
    }
}

extension ConnectionID {
    /// nil for 0.
    init?(wire: UInt64) {
        guard wire != 0 else { return nil }
        self.init(wire)
    }
}

extension EndpointRecord {
    typealias Wire = Waymark__V1__EndpointRecord

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__endpoint_record__init) { wire in
            unsafe wire.pointee.endpoint = arena.text(self.endpoint.rawValue)
            unsafe wire.pointee.connection_id = self.connection?.rawValue ?? 0
            unsafe wire.pointee.instant_microseconds = self.instant.wireMicroseconds
            unsafe (wire.pointee.n_features, wire.pointee.features) = unsafe self.features.wire(in: arena)
            unsafe wire.pointee.limits = self.limits.wire(in: arena)
            unsafe wire.pointee.preferences = self.preferences.wire(in: arena)
            unsafe wire.pointee.session_id = self.session.rawValue
            unsafe wire.pointee.audience_id = self.audience
            unsafe (wire.pointee.n_withheld, wire.pointee.withheld) =
                unsafe arena.list(self.withheld) { unsafe $0.wire(in: arena) }
            unsafe wire.pointee.settings = self.settings.wire(in: arena).message()
            if let receipt { unsafe wire.pointee.receipt = receipt.wire(in: arena).message() }
            unsafe wire.pointee.receive_frame_bytes_max = self.receiveFrameBytesMax
            if let delays { unsafe wire.pointee.delays = delays.wire(in: arena) }
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) throws(Rejection) {
        try unsafe checkEach(wire.pointee.n_withheld, wire.pointee.withheld, "withheld", FeatureGrant.check)
        self.init(EndpointName(unchecked: unsafe text(wire.pointee.endpoint)))
        self.connection = ConnectionID(wire: unsafe wire.pointee.connection_id)
        self.instant = Instant(wire: unsafe wire.pointee.instant_microseconds)
        self.features = unsafe FeatureSet(wire.pointee.n_features, wire.pointee.features)
        if let limits = unsafe wire.pointee.limits { self.limits = unsafe VehicleLimits(limits) }
        if let preferences = unsafe wire.pointee.preferences {
            self.preferences = unsafe VehiclePreferences(preferences)
        }
        self.session = SessionID(unsafe wire.pointee.session_id)
        self.audience = unsafe wire.pointee.audience_id
        self.withheld = unsafe FeatureGrant.known(wire.pointee.n_withheld, wire.pointee.withheld)
        if let settings = unsafe wire.pointee.settings {
            do { self.settings = try unsafe VehicleSettings(settings) } catch {
                throw error.inside("settings")
            }
        }
        self.receiveFrameBytesMax = unsafe wire.pointee.receive_frame_bytes_max
        if let receipt = unsafe wire.pointee.receipt {
            do { self.receipt = try unsafe Receipt(receipt) } catch { throw error.inside("receipt") }
        }
        if let delays = unsafe wire.pointee.delays { self.delays = unsafe EndpointDelays(delays) }
    }
}

extension VehiclePreferences {
    func wire(in arena: Arena) -> UnsafeMutablePointer<Waymark__V1__VehiclePreferences> {
        unsafe arena.make(waymark__v1__vehicle_preferences__init) { wire in
            unsafe wire.pointee.distance_units = .init(rawValue: self.distanceUnits.rawValue)
            unsafe wire.pointee.locale = arena.text(self.locale)
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__VehiclePreferences>) {
        self.init()
        self.distanceUnits = .init(wire: unsafe wire.pointee.distance_units)
        self.locale = unsafe text(wire.pointee.locale)
    }
}

extension VehicleRecord {
    typealias Wire = Waymark__V1__VehicleRecord

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__vehicle_record__init) { wire in
            unsafe wire.pointee.vehicle_id = arena.text(self.vehicle.rawValue)
            unsafe wire.pointee.session_id = self.session.rawValue
            unsafe wire.pointee.navigates_itself = self.navigatesItself ? 1 : 0
            unsafe wire.pointee.has_stopped = self.hasStopped ? 1 : 0
            unsafe wire.pointee.guidance_wanted = self.isGuidanceWanted ? 1 : 0
            if let source = self.routeSource {
                unsafe wire.pointee.source_case = WAYMARK__V1__VEHICLE_RECORD__SOURCE_ROUTE_SOURCE
                unsafe wire.pointee.route_source = source.rawValue
            }
            unsafe (wire.pointee.n_endpoints, wire.pointee.endpoints) =
                unsafe arena.list(self.endpoints) { unsafe $0.wire(in: arena) }
            unsafe wire.pointee.owner = arena.text(self.owner)
            unsafe wire.pointee.route_feedback = self.routeFeedback?.wire(in: arena)
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) throws(Rejection) {
        self.init(VehicleID(unchecked: unsafe text(wire.pointee.vehicle_id)))
        self.session = SessionID(unsafe wire.pointee.session_id)
        self.navigatesItself = unsafe wire.pointee.navigates_itself != 0
        self.hasStopped = unsafe wire.pointee.has_stopped != 0
        self.isGuidanceWanted = unsafe wire.pointee.guidance_wanted != 0
        if unsafe wire.pointee.source_case == WAYMARK__V1__VEHICLE_RECORD__SOURCE_ROUTE_SOURCE {
            self.routeSource = RouteSource(rawValue: unsafe wire.pointee.route_source)
        }
        self.endpoints = try unsafe elements(wire.pointee.n_endpoints, wire.pointee.endpoints, "endpoints") {
            wire throws(Rejection) in try unsafe EndpointRecord(wire)
        }
        self.owner = unsafe text(wire.pointee.owner)
        self.routeFeedback = unsafe wire.pointee.route_feedback.map {
            unsafe UpdateRouteFeedback($0).feedback
        }
    }
}

extension ClientRecord {
    typealias Wire = Waymark__V1__ClientRecord

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__client_record__init) { wire in
            unsafe wire.pointee.client_id = arena.text(self.client.rawValue)
            unsafe wire.pointee.connection_id = self.connection?.rawValue ?? 0
            unsafe wire.pointee.instant_microseconds = self.instant.wireMicroseconds
            unsafe (wire.pointee.n_granted, wire.pointee.granted) = unsafe self.granted.wire(in: arena)
            unsafe wire.pointee.priority = self.priority
            unsafe wire.pointee.display_name = arena.text(self.displayName)
            unsafe wire.pointee.owner = arena.text(self.owner)
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init(ClientID(unchecked: unsafe text(wire.pointee.client_id)))
        self.connection = ConnectionID(wire: unsafe wire.pointee.connection_id)
        self.instant = Instant(wire: unsafe wire.pointee.instant_microseconds)
        self.granted = unsafe FeatureSet(wire.pointee.n_granted, wire.pointee.granted)
        self.priority = unsafe wire.pointee.priority
        self.displayName = unsafe text(wire.pointee.display_name)
        self.owner = unsafe text(wire.pointee.owner)
    }
}

extension SessionRecord {
    typealias Wire = Waymark__V1__SessionRecord

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__session_record__init) { wire in
            unsafe wire.pointee.session_id = self.session.rawValue
            unsafe wire.pointee.client_id = arena.text(self.client.rawValue)
            unsafe wire.pointee.request_id = arena.text(self.requestID.rawValue)
            unsafe wire.pointee.any_that_asked = self.isForAnyThatAsked ? 1 : 0
            unsafe wire.pointee.phase = .init(rawValue: self.phase.rawValue)
            unsafe wire.pointee.generation = self.generation
            unsafe wire.pointee.suspended = self.isSuspended ? 1 : 0
            unsafe wire.pointee.alert_id = self.alert ?? 0
            unsafe (wire.pointee.n_opted_out, wire.pointee.opted_out) = unsafe self.optedOut.wire(in: arena)
            unsafe wire.pointee.shares_open = self.sharesOpen
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init(
            SessionID(unsafe wire.pointee.session_id),
            of: ClientID(unchecked: unsafe text(wire.pointee.client_id)))
        self.requestID = unsafe identifier(wire.pointee.request_id)
        self.isForAnyThatAsked = unsafe wire.pointee.any_that_asked != 0
        self.phase = SessionPhase(wire: unsafe wire.pointee.phase.rawValue)
        self.generation = unsafe wire.pointee.generation
        self.isSuspended = unsafe wire.pointee.suspended != 0
        self.alert = unsafe wire.pointee.alert_id.given
        self.optedOut = unsafe FeatureSet(wire.pointee.n_opted_out, wire.pointee.opted_out)
        self.sharesOpen = unsafe wire.pointee.shares_open
    }
}

extension RequestKey {
    typealias Wire = Waymark__V1__RequestKey

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__request_key__init) { wire in
            unsafe wire.pointee.vehicle_id = arena.text(self.vehicle.rawValue)
            unsafe wire.pointee.request_id = arena.text(self.requestID.rawValue)
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init(
            vehicle: VehicleID(unchecked: unsafe text(wire.pointee.vehicle_id)),
            requestID: unsafe identifier(wire.pointee.request_id))
    }
}

extension RequestRecord {
    typealias Wire = Waymark__V1__RequestRecord

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__request_record__init) { wire in
            unsafe wire.pointee.key = self.key.wire(in: arena)
            unsafe wire.pointee.message_type = UInt32(self.messageType)
            unsafe wire.pointee.session_id = self.session.rawValue
            unsafe wire.pointee.client_id = arena.text(self.client.rawValue)
            unsafe wire.pointee.stage = .init(rawValue: self.stage.rawValue)
            unsafe wire.pointee.deadline_microseconds = self.deadline.wireMicroseconds
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) throws(Rejection) {
        guard let key = unsafe wire.pointee.key.map({ unsafe RequestKey($0) }) else {
            throw Rejection(.missing, field: "key", reason: "must be there")
        }
        self.init(key, to: ClientID(unchecked: unsafe text(wire.pointee.client_id)))
        self.messageType = UInt16(truncatingIfNeeded: unsafe wire.pointee.message_type)
        self.session = SessionID(unsafe wire.pointee.session_id)
        self.stage = Stage(rawValue: unsafe wire.pointee.stage.rawValue) ?? .asked
        self.deadline = Instant(wire: unsafe wire.pointee.deadline_microseconds)
    }
}

extension RetainedFrames {
    typealias Wire = Waymark__V1__RetainedFrames

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__retained_frames__init) { wire in
            unsafe wire.pointee.session_id = self.session.rawValue
            unsafe wire.pointee.frames = arena.bytes(self.frames)
            unsafe wire.pointee.redacted = self.isRedacted ? 1 : 0
            unsafe wire.pointee.is_first = self.isFirst ? 1 : 0
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init(
            SessionID(unsafe wire.pointee.session_id),
            unsafe numbers(wire.pointee.frames.len, wire.pointee.frames.data) { $0 })
        self.isRedacted = unsafe wire.pointee.redacted != 0
        self.isFirst = unsafe wire.pointee.is_first != 0
    }
}

extension ObservedRecords {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__observed_records__init) { wire in
            unsafe wire.pointee.number = self.number
            unsafe wire.pointee.instant_microseconds = self.instant.wireMicroseconds
            unsafe (wire.pointee.n_vehicles, wire.pointee.vehicles) =
                unsafe arena.list(self.vehicles) { unsafe $0.wire(in: arena) }
            unsafe (wire.pointee.n_clients, wire.pointee.clients) =
                unsafe arena.list(self.clients) { unsafe $0.wire(in: arena) }
            unsafe (wire.pointee.n_sessions, wire.pointee.sessions) =
                unsafe arena.list(self.sessions) { unsafe $0.wire(in: arena) }
            unsafe (wire.pointee.n_requests, wire.pointee.requests) =
                unsafe arena.list(self.requests) { unsafe $0.wire(in: arena) }
            unsafe (wire.pointee.n_retained, wire.pointee.retained) =
                unsafe arena.list(self.retained) { unsafe $0.wire(in: arena) }
            unsafe (wire.pointee.n_vehicles_gone, wire.pointee.vehicles_gone) =
                unsafe arena.texts(self.vehiclesGone.map(\.rawValue))
            unsafe (wire.pointee.n_clients_gone, wire.pointee.clients_gone) =
                unsafe arena.texts(self.clientsGone.map(\.rawValue))
            unsafe (wire.pointee.n_sessions_gone, wire.pointee.sessions_gone) =
                unsafe arena.list(self.sessionsGone) { $0.rawValue }
            unsafe (wire.pointee.n_requests_gone, wire.pointee.requests_gone) =
                unsafe arena.list(self.requestsGone) { unsafe $0.wire(in: arena) }
            unsafe wire.pointee.is_last = self.isLast ? 1 : 0
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__ObservedRecords>) throws(Rejection) {
        self.init()
        self.number = unsafe wire.pointee.number
        self.instant = Instant(wire: unsafe wire.pointee.instant_microseconds)
        self.vehicles = try unsafe elements(wire.pointee.n_vehicles, wire.pointee.vehicles, "vehicles") {
            wire throws(Rejection) in try unsafe VehicleRecord(wire)
        }
        self.clients = unsafe list(wire.pointee.n_clients, wire.pointee.clients) { unsafe ClientRecord($0) }
        self.sessions = unsafe list(wire.pointee.n_sessions, wire.pointee.sessions) {
            unsafe SessionRecord($0)
        }
        self.requests = try unsafe elements(wire.pointee.n_requests, wire.pointee.requests, "requests") {
            wire throws(Rejection) in try unsafe RequestRecord(wire)
        }
        self.retained = unsafe list(wire.pointee.n_retained, wire.pointee.retained) {
            unsafe RetainedFrames($0)
        }
        self.vehiclesGone = unsafe texts(wire.pointee.n_vehicles_gone, wire.pointee.vehicles_gone)
            .map(VehicleID.init(unchecked:))
        self.clientsGone = unsafe texts(wire.pointee.n_clients_gone, wire.pointee.clients_gone)
            .map(ClientID.init(unchecked:))
        self.sessionsGone = unsafe numbers(wire.pointee.n_sessions_gone, wire.pointee.sessions_gone) {
            SessionID($0)
        }
        self.requestsGone = unsafe list(wire.pointee.n_requests_gone, wire.pointee.requests_gone) {
            unsafe RequestKey($0)
        }
        self.isLast = unsafe wire.pointee.is_last != 0
    }
}

/// Reads each element of a repeated message field; a rejection says which one it was.
private func elements<Wire, Element>(
    _ count: Int, _ wire: UnsafeMutablePointer<UnsafeMutablePointer<Wire>?>?, _ name: String,
    _ read: (UnsafeMutablePointer<Wire>) throws(Rejection) -> Element
) throws(Rejection) -> [Element] {
    var elements: [Element] = []
    try unsafe checkEach(count, wire, name) { wire throws(Rejection) in
        elements.append(try unsafe read(wire))
    }
    return elements
}
