internal import CProtobufC
internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

extension EndpointPath {
    /// Reads the two fields that the gateway sets together; nil where both are empty.
    fileprivate static func read(
        _ vehicle: UnsafeMutablePointer<CChar>?, _ endpoint: UnsafeMutablePointer<CChar>?
    ) throws(Rejection) -> EndpointPath? {
        let vehicle: VehicleID? = unsafe givenName(vehicle)
        let endpoint: EndpointName? = unsafe givenName(endpoint)
        switch (vehicle, endpoint) {
        case (nil, nil): return nil
        case (let vehicle?, let endpoint?): return EndpointPath(vehicle: vehicle, endpoint: endpoint)
        case (_?, nil):
            throw Rejection(.inconsistent, field: "endpoint", reason: "is empty, but vehicle_id is not")
        case (nil, _?):
            throw Rejection(.inconsistent, field: "vehicle_id", reason: "is empty, but endpoint is not")
        }
    }
}

extension CancelReason {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__cancel_navigation__init) {
            unsafe $0.pointee.reason = .init(rawValue: self.rawValue)
        }
    }

    /// A reason that this build does not know reads as ``userStopped``: the vehicle wants guidance to end.
    init(_ wire: UnsafeMutablePointer<Waymark__V1__CancelNavigation>) {
        self = CancelReason(rawValue: unsafe wire.pointee.reason.rawValue) ?? .userStopped
    }
}

extension UpdateRouteSource {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__update_route_source__init) { wire in
            unsafe wire.pointee.route_source = .init(rawValue: self.routeSource.rawValue)
            unsafe wire.pointee.vehicle_id = arena.text(self.vehicle?.rawValue ?? "")
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__UpdateRouteSource>) {
        self.init(
            routeSource: .init(wire: unsafe wire.pointee.route_source),
            vehicle: unsafe givenName(wire.pointee.vehicle_id))
    }
}

extension SelectPreview {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__select_preview__init) { wire in
            unsafe wire.pointee.trip_id = arena.text(self.trip.rawValue)
            unsafe wire.pointee.route_choice_id = self.routeChoice ?? 0
            unsafe wire.pointee.vehicle_id = arena.text(self.source?.vehicle.rawValue ?? "")
            unsafe wire.pointee.endpoint = arena.text(self.source?.endpoint.rawValue ?? "")
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__SelectPreview>) throws(Rejection) {
        self.init(
            trip: unsafe identifier(wire.pointee.trip_id),
            routeChoice: unsafe wire.pointee.route_choice_id.given,
            source: try unsafe EndpointPath.read(wire.pointee.vehicle_id, wire.pointee.endpoint))
    }
}

extension VehicleSettings {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__vehicle_settings__init) { wire in
            unsafe wire.pointee.compass = .init(rawValue: self.compass?.rawValue ?? 0)
            unsafe wire.pointee.speed_limit = .init(rawValue: self.speedLimit?.rawValue ?? 0)
            unsafe wire.pointee.content_style = .init(rawValue: self.contentStyle?.rawValue ?? 0)
            if let limited = self.limitedUserInterfaces {
                unsafe wire.pointee.limited_case =
                    WAYMARK__V1__VEHICLE_SETTINGS__LIMITED_LIMITED_USER_INTERFACES
                unsafe wire.pointee.limited_user_interfaces = limited
            }
            if let isReady = self.isReadyToShow {
                unsafe wire.pointee.readiness_case = WAYMARK__V1__VEHICLE_SETTINGS__READINESS_READY_TO_SHOW
                unsafe wire.pointee.ready_to_show = isReady ? 1 : 0
            }
            unsafe wire.pointee.vehicle_id = arena.text(self.source?.vehicle.rawValue ?? "")
            unsafe wire.pointee.endpoint = arena.text(self.source?.endpoint.rawValue ?? "")
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__VehicleSettings>) throws(Rejection) {
        self.init()
        self.compass = .given(unsafe wire.pointee.compass)
        self.speedLimit = .given(unsafe wire.pointee.speed_limit)
        self.contentStyle = .given(unsafe wire.pointee.content_style)
        if unsafe wire.pointee.limited_case == WAYMARK__V1__VEHICLE_SETTINGS__LIMITED_LIMITED_USER_INTERFACES
        {
            self.limitedUserInterfaces = unsafe wire.pointee.limited_user_interfaces
        }
        if unsafe wire.pointee.readiness_case == WAYMARK__V1__VEHICLE_SETTINGS__READINESS_READY_TO_SHOW {
            self.isReadyToShow = unsafe wire.pointee.ready_to_show != 0
        }
        self.source = try unsafe EndpointPath.read(wire.pointee.vehicle_id, wire.pointee.endpoint)
    }
}

extension ZoomCluster {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__zoom_cluster__init) { wire in
            unsafe wire.pointee.direction = .init(rawValue: self.direction.rawValue)
            unsafe wire.pointee.vehicle_id = arena.text(self.source?.vehicle.rawValue ?? "")
            unsafe wire.pointee.endpoint = arena.text(self.source?.endpoint.rawValue ?? "")
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__ZoomCluster>) throws(Rejection) {
        self.init(
            direction: .init(wire: unsafe wire.pointee.direction),
            source: try unsafe EndpointPath.read(wire.pointee.vehicle_id, wire.pointee.endpoint))
    }
}

extension SimulateDrive {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__simulate_drive__init) { wire in
            unsafe wire.pointee.action = .init(rawValue: self.action.rawValue)
            unsafe wire.pointee.speed_percent = self.speedPercent
            unsafe wire.pointee.client_id = arena.text(self.client?.rawValue ?? "")
            unsafe wire.pointee.vehicle_id = arena.text(self.vehicle?.rawValue ?? "")
            unsafe wire.pointee.endpoint = arena.text(self.endpoint?.rawValue ?? "")
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__SimulateDrive>) throws(Rejection) {
        self.init(
            .init(wire: unsafe wire.pointee.action), speedPercent: unsafe wire.pointee.speed_percent)
        self.client = unsafe givenName(wire.pointee.client_id)
        self.vehicle = unsafe givenName(wire.pointee.vehicle_id)
        self.endpoint = unsafe givenName(wire.pointee.endpoint)
        if self.endpoint != nil, self.vehicle == nil {
            throw Rejection(.inconsistent, field: "vehicle_id", reason: "is empty, but endpoint is not")
        }
    }
}

extension DestinationShareWanted {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__destination_share_wanted__init) { wire in
            unsafe wire.pointee.trip_id = arena.text(self.trip.rawValue)
            unsafe wire.pointee.vehicle_id = arena.text(self.source?.vehicle.rawValue ?? "")
            unsafe wire.pointee.endpoint = arena.text(self.source?.endpoint.rawValue ?? "")
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__DestinationShareWanted>) throws(Rejection) {
        self.init(
            trip: Identifier(unsafe text(wire.pointee.trip_id)),
            source: try unsafe EndpointPath.read(wire.pointee.vehicle_id, wire.pointee.endpoint))
    }
}

extension StopFeedback {
    fileprivate func wire(in arena: Arena) -> UnsafeMutablePointer<Waymark__V1__StopFeedback> {
        unsafe arena.make(waymark__v1__stop_feedback__init) { wire in
            if let arrival = self.arrivalBatteryPerMille {
                unsafe wire.pointee.arrival_case =
                    WAYMARK__V1__STOP_FEEDBACK__ARRIVAL_ARRIVAL_BATTERY_PER_MILLE
                unsafe wire.pointee.arrival_battery_per_mille = UInt32(arrival)
            }
            unsafe wire.pointee.reachability = .init(rawValue: self.reachability?.rawValue ?? 0)
        }
    }

    fileprivate init(_ wire: UnsafeMutablePointer<Waymark__V1__StopFeedback>) {
        self.init(reachability: .given(unsafe wire.pointee.reachability))
        if unsafe wire.pointee.arrival_case == WAYMARK__V1__STOP_FEEDBACK__ARRIVAL_ARRIVAL_BATTERY_PER_MILLE {
            self.arrivalBatteryPerMille = UInt16(clamping: unsafe wire.pointee.arrival_battery_per_mille)
        }
    }
}

extension RouteFeedback {
    /// The fields of a message, but for the vehicle.
    func wire(in arena: Arena) -> UnsafeMutablePointer<Waymark__V1__UpdateRouteFeedback> {
        unsafe arena.make(waymark__v1__update_route_feedback__init) { wire in
            unsafe self.fill(wire, in: arena)
        }
    }

    fileprivate func fill(_ wire: UnsafeMutablePointer<Waymark__V1__UpdateRouteFeedback>, in arena: Arena) {
        unsafe wire.pointee.generation = self.generation
        unsafe (wire.pointee.n_stops, wire.pointee.stops) = unsafe arena.list(self.stops) {
            unsafe $0.wire(in: arena)
        }
        unsafe wire.pointee.first_unreachable_segment_id = arena.text(self.firstUnreachableSegment ?? "")
    }
}

extension UpdateRouteFeedback {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__update_route_feedback__init) { wire in
            unsafe self.feedback.fill(wire, in: arena)
            unsafe wire.pointee.vehicle_id = arena.text(self.vehicle?.rawValue ?? "")
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__UpdateRouteFeedback>) {
        let segment = unsafe text(wire.pointee.first_unreachable_segment_id)
        self.init(
            RouteFeedback(
                generation: unsafe wire.pointee.generation,
                stops: unsafe list(wire.pointee.n_stops, wire.pointee.stops) { unsafe StopFeedback($0) },
                firstUnreachableSegment: segment.isEmpty ? nil : segment),
            vehicle: unsafe givenName(wire.pointee.vehicle_id))
    }
}

extension VehicleExtension {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__vehicle_extension__init) { wire in
            unsafe wire.pointee.name = arena.text(self.name.rawValue)
            unsafe wire.pointee.content = arena.bytes(self.content)
            unsafe wire.pointee.vehicle_id = arena.text(self.source?.vehicle.rawValue ?? "")
            unsafe wire.pointee.endpoint = arena.text(self.source?.endpoint.rawValue ?? "")
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__VehicleExtension>) throws(Rejection) {
        self.init(
            name: ExtensionName(unchecked: unsafe text(wire.pointee.name)),
            content: unsafe numbers(wire.pointee.content.len, wire.pointee.content.data) { $0 },
            source: try unsafe EndpointPath.read(wire.pointee.vehicle_id, wire.pointee.endpoint))
    }
}

extension AlertResponse {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__alert_response__init) { wire in
            unsafe wire.pointee.alert_id = self.alert
            switch self.response {
            case .dismissed(let dismissal):
                unsafe wire.pointee.dismissal = .init(rawValue: dismissal.rawValue)
            case .action(let action): unsafe wire.pointee.action_id = action
            }
            unsafe wire.pointee.vehicle_id = arena.text(self.source?.vehicle.rawValue ?? "")
            unsafe wire.pointee.endpoint = arena.text(self.source?.endpoint.rawValue ?? "")
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__AlertResponse>) throws(Rejection) {
        let dismissal = unsafe AlertDismissal(wire: wire.pointee.dismissal)
        let response: Response
        if let action = unsafe wire.pointee.action_id.given {
            guard dismissal.rawValue == 0 else {
                throw Rejection(.inconsistent, field: "dismissal", reason: "an action was chosen")
            }
            response = .action(action)
        } else {
            response = .dismissed(dismissal)
        }
        self.init(
            alert: unsafe wire.pointee.alert_id, response: response,
            source: try unsafe EndpointPath.read(wire.pointee.vehicle_id, wire.pointee.endpoint))
    }
}
