internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

// session.proto: from messages to C.
extension Packer {
    mutating func vehicleSet(_ model: [VehicleID]) -> Pointer<Waymark__V1__VehicleSet> {
        let wire = unsafe self.make(waymark__v1__vehicle_set__init)
        unsafe wire.pointee.n_vehicle_ids = model.map(\.rawValue).count
        unsafe wire.pointee.vehicle_ids = self.texts(model.map(\.rawValue))
        return unsafe wire
    }

    mutating func openSession(_ model: OpenSession) -> Pointer<Waymark__V1__OpenSession> {
        let wire = unsafe self.make(waymark__v1__open_session__init)
        unsafe wire.pointee.request_id = self.text(model.requestID)
        switch model.vehicles {
        case .vehicles(let ids): unsafe wire.pointee.vehicles = self.vehicleSet(ids)
        case .anyThatAsked: unsafe wire.pointee.any_that_asked = 1
        }
        unsafe wire.pointee.receipts_every_milliseconds = model.receiptsEveryMilliseconds
        return unsafe wire
    }

    mutating func endpointStatus(_ model: EndpointStatus) -> Pointer<Waymark__V1__EndpointStatus> {
        let wire = unsafe self.make(waymark__v1__endpoint_status__init)
        unsafe wire.pointee.endpoint = self.text(model.endpoint.rawValue)
        unsafe wire.pointee.ready = model.isReady ? 1 : 0
        unsafe wire.pointee.locale = self.text(model.locale)
        unsafe wire.pointee.n_withheld = model.withheld.count
        unsafe wire.pointee.withheld = self.list(model.withheld) { unsafe $0.grant($1) }
        return unsafe wire
    }

    mutating func vehicleStatus(_ model: VehicleStatus) -> Pointer<Waymark__V1__VehicleStatus> {
        let wire = unsafe self.make(waymark__v1__vehicle_status__init)
        unsafe wire.pointee.vehicle_id = self.text(model.vehicle.rawValue)
        switch model.standing {
        case .joined:
            unsafe wire.pointee.standing = WAYMARK__V1__VEHICLE_STANDING__VEHICLE_STANDING_JOINED
        case .awaited:
            unsafe wire.pointee.standing = WAYMARK__V1__VEHICLE_STANDING__VEHICLE_STANDING_AWAITED
        case .refused(let code):
            unsafe wire.pointee.standing = WAYMARK__V1__VEHICLE_STANDING__VEHICLE_STANDING_REFUSED
            unsafe wire.pointee.refusal = Waymark__V1__ErrorCode(rawValue: code.rawValue)
        case .left(let reason):
            unsafe wire.pointee.standing = WAYMARK__V1__VEHICLE_STANDING__VEHICLE_STANDING_LEFT
            unsafe wire.pointee.end_reason = Waymark__V1__SessionEndReason(rawValue: reason.rawValue)
        }
        unsafe wire.pointee.n_endpoints = model.endpoints.count
        unsafe wire.pointee.endpoints = self.list(model.endpoints) { unsafe $0.endpointStatus($1) }
        return unsafe wire
    }

    mutating func sessionOpened(_ model: SessionOpened) -> Pointer<Waymark__V1__SessionOpened> {
        let wire = unsafe self.make(waymark__v1__session_opened__init)
        unsafe wire.pointee.request_id = self.text(model.requestID)
        unsafe wire.pointee.session_id = model.session.rawValue
        unsafe wire.pointee.n_vehicles = model.vehicles.count
        unsafe wire.pointee.vehicles = self.list(model.vehicles) { unsafe $0.vehicleStatus($1) }
        return unsafe wire
    }

    mutating func vehicleChanged(_ model: VehicleStatus) -> Pointer<Waymark__V1__VehicleChanged> {
        let wire = unsafe self.make(waymark__v1__vehicle_changed__init)
        unsafe wire.pointee.vehicle = self.vehicleStatus(model)
        return unsafe wire
    }

    mutating func sessionEnded(_ model: SessionEnded) -> Pointer<Waymark__V1__SessionEnded> {
        let wire = unsafe self.make(waymark__v1__session_ended__init)
        unsafe wire.pointee.session_id = model.session.rawValue
        unsafe wire.pointee.reason = Waymark__V1__SessionEndReason(rawValue: model.reason.rawValue)
        return unsafe wire
    }

    mutating func snapshotBegin(_ model: SnapshotBegin) -> Pointer<Waymark__V1__SnapshotBegin> {
        let wire = unsafe self.make(waymark__v1__snapshot_begin__init)
        unsafe wire.pointee.kind = Waymark__V1__SnapshotKind(rawValue: model.kind.rawValue)
        unsafe wire.pointee.client_id = self.text(model.client.rawValue)
        unsafe wire.pointee.client_display_name = self.text(model.clientDisplayName)
        unsafe wire.pointee.suspended = model.isSuspended ? 1 : 0
        unsafe wire.pointee.receipts_every_milliseconds = model.receiptsEveryMilliseconds
        unsafe wire.pointee.n_withheld = model.withheld.count
        unsafe wire.pointee.withheld = self.list(model.withheld) { unsafe $0.grant($1) }
        return unsafe wire
    }

    mutating func receipt(_ model: Receipt) -> Pointer<Waymark__V1__Receipt> {
        let wire = unsafe self.make(waymark__v1__receipt__init)
        unsafe wire.pointee.received_sequence = model.receivedSequence
        unsafe wire.pointee.shown_sequence = model.shownSequence
        return unsafe wire
    }

    mutating func endpointReceipt(_ model: EndpointReceipt) -> Pointer<Waymark__V1__EndpointReceipt> {
        let wire = unsafe self.make(waymark__v1__endpoint_receipt__init)
        unsafe wire.pointee.vehicle_id = self.text(model.vehicle.rawValue)
        unsafe wire.pointee.endpoint = self.text(model.endpoint.rawValue)
        unsafe wire.pointee.received_sequence = model.receipt.receivedSequence
        unsafe wire.pointee.shown_sequence = model.receipt.shownSequence
        return unsafe wire
    }

    mutating func receiptReport(_ model: ReceiptReport) -> Pointer<Waymark__V1__ReceiptReport> {
        let wire = unsafe self.make(waymark__v1__receipt_report__init)
        unsafe wire.pointee.gateway_sequence = model.gatewaySequence
        unsafe wire.pointee.n_endpoints = model.endpoints.count
        unsafe wire.pointee.endpoints = self.list(model.endpoints) { unsafe $0.endpointReceipt($1) }
        return unsafe wire
    }
}
