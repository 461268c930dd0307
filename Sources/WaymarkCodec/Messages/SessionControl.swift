internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

extension OpenSession {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__open_session__init) { wire in
            unsafe wire.pointee.request_id = arena.text(self.requestID.rawValue)
            switch self.vehicles {
            case .anyThatAsked: unsafe wire.pointee.any_that_asked = 1
            case .vehicles(let vehicles):
                unsafe wire.pointee.vehicles = arena.make(waymark__v1__vehicle_set__init) { wire in
                    unsafe (wire.pointee.n_vehicle_ids, wire.pointee.vehicle_ids) =
                        unsafe arena.texts(vehicles.map(\.rawValue))
                }
            }
            unsafe wire.pointee.receipts_every_milliseconds = self.receiptsEveryMilliseconds
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__OpenSession>) throws(Rejection) {
        let vehicles: VehicleSelection
        let anyThatAsked = unsafe wire.pointee.any_that_asked != 0
        if let set = unsafe wire.pointee.vehicles {
            vehicles = try unsafe Self.selection(set)
            guard !anyThatAsked else {
                throw Rejection(.inconsistent, field: "any_that_asked", reason: "vehicles are named too")
            }
        } else {
            guard anyThatAsked else {
                throw Rejection(.missing, field: "vehicles", reason: "neither vehicles nor any_that_asked")
            }
            vehicles = .anyThatAsked
        }
        self.init(
            requestID: unsafe identifier(wire.pointee.request_id), vehicles: vehicles,
            receiptsEveryMilliseconds: unsafe wire.pointee.receipts_every_milliseconds)
    }

    private static func selection(
        _ wire: UnsafeMutablePointer<Waymark__V1__VehicleSet>
    ) throws(Rejection) -> VehicleSelection {
        let ids = unsafe texts(wire.pointee.n_vehicle_ids, wire.pointee.vehicle_ids)
        var seen: Set<String> = []
        for (index, id) in ids.enumerated() where !seen.insert(id).inserted {
            throw Rejection(
                .duplicate, field: "vehicles.vehicle_ids[\(index)]", reason: "is there already")
        }
        return .vehicles(ids.map(VehicleID.init(unchecked:)))
    }
}

extension EndpointStatus {
    typealias Wire = Waymark__V1__EndpointStatus

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__endpoint_status__init) { wire in
            unsafe wire.pointee.endpoint = arena.text(self.endpoint.rawValue)
            unsafe wire.pointee.ready = self.isReady ? 1 : 0
            unsafe wire.pointee.locale = arena.text(self.locale)
            unsafe (wire.pointee.n_withheld, wire.pointee.withheld) =
                unsafe arena.list(self.withheld) { unsafe $0.wire(in: arena) }
        }
    }

    static func check(_ wire: UnsafeMutablePointer<Wire>) throws(Rejection) {
        try unsafe checkEach(wire.pointee.n_withheld, wire.pointee.withheld, "withheld", FeatureGrant.check)
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init(
            endpoint: EndpointName(unchecked: unsafe text(wire.pointee.endpoint)),
            isReady: unsafe wire.pointee.ready != 0, locale: unsafe text(wire.pointee.locale),
            withheld: unsafe FeatureGrant.known(wire.pointee.n_withheld, wire.pointee.withheld))
    }
}

extension VehicleStatus {
    typealias Wire = Waymark__V1__VehicleStatus

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__vehicle_status__init) { wire in
            unsafe wire.pointee.vehicle_id = arena.text(self.vehicle.rawValue)
            switch self.standing {
            case .joined:
                unsafe wire.pointee.standing = WAYMARK__V1__VEHICLE_STANDING__VEHICLE_STANDING_JOINED
            case .awaited:
                unsafe wire.pointee.standing = WAYMARK__V1__VEHICLE_STANDING__VEHICLE_STANDING_AWAITED
            case .refused(let code):
                unsafe wire.pointee.standing = WAYMARK__V1__VEHICLE_STANDING__VEHICLE_STANDING_REFUSED
                unsafe wire.pointee.refusal = .init(rawValue: code.rawValue)
            case .left(let reason):
                unsafe wire.pointee.standing = WAYMARK__V1__VEHICLE_STANDING__VEHICLE_STANDING_LEFT
                unsafe wire.pointee.end_reason = .init(rawValue: reason.rawValue)
            }
            unsafe (wire.pointee.n_endpoints, wire.pointee.endpoints) =
                unsafe arena.list(self.endpoints) { unsafe $0.wire(in: arena) }
        }
    }

    static func check(_ wire: UnsafeMutablePointer<Wire>) throws(Rejection) {
        let standing = unsafe wire.pointee.standing
        try unsafe Self.check(
            "refusal", wire.pointee.refusal.rawValue,
            isDue: standing == WAYMARK__V1__VEHICLE_STANDING__VEHICLE_STANDING_REFUSED)
        try unsafe Self.check(
            "end_reason", wire.pointee.end_reason.rawValue,
            isDue: standing == WAYMARK__V1__VEHICLE_STANDING__VEHICLE_STANDING_LEFT)
        try unsafe checkEach(
            wire.pointee.n_endpoints, wire.pointee.endpoints, "endpoints", EndpointStatus.check)
    }

    private static func check(_ field: String, _ value: UInt32, isDue: Bool) throws(Rejection) {
        if isDue, value == 0 { throw Rejection(.missing, field: field, reason: "the standing needs it") }
        if !isDue, value != 0 {
            throw Rejection(.inconsistent, field: field, reason: "does not fit the standing")
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        let standing: VehicleStanding
        switch unsafe wire.pointee.standing {
        case WAYMARK__V1__VEHICLE_STANDING__VEHICLE_STANDING_JOINED: standing = .joined
        case WAYMARK__V1__VEHICLE_STANDING__VEHICLE_STANDING_REFUSED:
            standing = .refused(ErrorCode(wire: unsafe wire.pointee.refusal.rawValue))
        case WAYMARK__V1__VEHICLE_STANDING__VEHICLE_STANDING_LEFT:
            standing = .left(SessionEndReason(wire: unsafe wire.pointee.end_reason.rawValue))
        default:  // A standing of a later version counts as AWAITED: the vehicle has not joined, and may.
            standing = .awaited
        }
        self.init(
            vehicle: VehicleID(unchecked: unsafe text(wire.pointee.vehicle_id)), standing: standing,
            endpoints: unsafe list(wire.pointee.n_endpoints, wire.pointee.endpoints) {
                unsafe EndpointStatus($0)
            })
    }

    /// The body of `VehicleChanged`.
    func changedWire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__vehicle_changed__init) {
            unsafe $0.pointee.vehicle = self.wire(in: arena)
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__VehicleChanged>) throws(Rejection) {
        try unsafe checkInside(wire.pointee.vehicle, "vehicle", Self.check)
        unsafe self.init(wire.pointee.vehicle)
    }
}

extension SessionOpened {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__session_opened__init) { wire in
            unsafe wire.pointee.request_id = arena.text(self.requestID.rawValue)
            unsafe wire.pointee.session_id = self.session.rawValue
            unsafe (wire.pointee.n_vehicles, wire.pointee.vehicles) =
                unsafe arena.list(self.vehicles) { unsafe $0.wire(in: arena) }
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__SessionOpened>) throws(Rejection) {
        try unsafe checkEach(wire.pointee.n_vehicles, wire.pointee.vehicles, "vehicles", VehicleStatus.check)
        self.init(
            requestID: unsafe identifier(wire.pointee.request_id),
            session: SessionID(unsafe wire.pointee.session_id),
            vehicles: unsafe list(wire.pointee.n_vehicles, wire.pointee.vehicles) { unsafe VehicleStatus($0) }
        )
    }
}

extension SessionEnded {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__session_ended__init) { wire in
            unsafe wire.pointee.session_id = self.session.rawValue
            unsafe wire.pointee.reason = .init(rawValue: self.reason.rawValue)
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__SessionEnded>) {
        self.init(
            session: SessionID(unsafe wire.pointee.session_id),
            reason: SessionEndReason(wire: unsafe wire.pointee.reason.rawValue))
    }
}

extension SnapshotBegin {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__snapshot_begin__init) { wire in
            unsafe wire.pointee.kind = .init(rawValue: self.kind.rawValue)
            unsafe wire.pointee.client_id = arena.text(self.client.rawValue)
            unsafe wire.pointee.client_display_name = arena.text(self.clientDisplayName)
            unsafe wire.pointee.suspended = self.isSuspended ? 1 : 0
            unsafe wire.pointee.receipts_every_milliseconds = self.receiptsEveryMilliseconds
            unsafe (wire.pointee.n_withheld, wire.pointee.withheld) =
                unsafe arena.list(self.withheld) { unsafe $0.wire(in: arena) }
            unsafe wire.pointee.from_sequence = self.fromSequence
            unsafe wire.pointee.to_sequence = self.toSequence
            if let age = self.ageMilliseconds {
                unsafe wire.pointee.age_case = WAYMARK__V1__SNAPSHOT_BEGIN__AGE_AGE_MILLISECONDS
                unsafe wire.pointee.age_milliseconds = age
            }
            if let age = self.estimatesAgeMilliseconds {
                unsafe wire.pointee.estimates_age_case =
                    WAYMARK__V1__SNAPSHOT_BEGIN__ESTIMATES_AGE_ESTIMATES_AGE_MILLISECONDS
                unsafe wire.pointee.estimates_age_milliseconds = age
            }
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__SnapshotBegin>) throws(Rejection) {
        try unsafe checkEach(wire.pointee.n_withheld, wire.pointee.withheld, "withheld", FeatureGrant.check)
        self.init(
            kind: Kind(rawValue: unsafe wire.pointee.kind.rawValue) ?? .full,
            client: ClientID(unchecked: unsafe text(wire.pointee.client_id)))
        self.clientDisplayName = unsafe text(wire.pointee.client_display_name)
        self.isSuspended = unsafe wire.pointee.suspended != 0
        self.receiptsEveryMilliseconds = unsafe wire.pointee.receipts_every_milliseconds
        self.withheld = unsafe FeatureGrant.known(wire.pointee.n_withheld, wire.pointee.withheld)
        self.fromSequence = unsafe wire.pointee.from_sequence
        self.toSequence = unsafe wire.pointee.to_sequence
        if unsafe wire.pointee.age_case == WAYMARK__V1__SNAPSHOT_BEGIN__AGE_AGE_MILLISECONDS {
            self.ageMilliseconds = unsafe wire.pointee.age_milliseconds
        }
        if unsafe wire.pointee.estimates_age_case
            == WAYMARK__V1__SNAPSHOT_BEGIN__ESTIMATES_AGE_ESTIMATES_AGE_MILLISECONDS
        {
            self.estimatesAgeMilliseconds = unsafe wire.pointee.estimates_age_milliseconds
        }
    }
}

extension SessionSuspended {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__session_suspended__init) { wire in
            unsafe wire.pointee.grace_milliseconds = self.graceMilliseconds
            if let age = self.ageMilliseconds {
                unsafe wire.pointee.age_case = WAYMARK__V1__SESSION_SUSPENDED__AGE_AGE_MILLISECONDS
                unsafe wire.pointee.age_milliseconds = age
            }
            if let age = self.estimatesAgeMilliseconds {
                unsafe wire.pointee.estimates_age_case =
                    WAYMARK__V1__SESSION_SUSPENDED__ESTIMATES_AGE_ESTIMATES_AGE_MILLISECONDS
                unsafe wire.pointee.estimates_age_milliseconds = age
            }
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__SessionSuspended>) {
        self.init(graceMilliseconds: unsafe wire.pointee.grace_milliseconds)
        if unsafe wire.pointee.age_case == WAYMARK__V1__SESSION_SUSPENDED__AGE_AGE_MILLISECONDS {
            self.ageMilliseconds = unsafe wire.pointee.age_milliseconds
        }
        if unsafe wire.pointee.estimates_age_case
            == WAYMARK__V1__SESSION_SUSPENDED__ESTIMATES_AGE_ESTIMATES_AGE_MILLISECONDS
        {
            self.estimatesAgeMilliseconds = unsafe wire.pointee.estimates_age_milliseconds
        }
    }
}
