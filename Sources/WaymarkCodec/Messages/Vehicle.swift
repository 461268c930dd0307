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
