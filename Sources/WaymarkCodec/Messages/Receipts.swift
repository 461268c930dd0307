internal import CWaymarkWire
internal import WaymarkProtocol

extension Receipt {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__receipt__init) { wire in
            unsafe wire.pointee.received_sequence = self.receivedSequence
            unsafe wire.pointee.shown_sequence = self.shownSequence
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__Receipt>) throws(Rejection) {
        try self.init(
            received: unsafe wire.pointee.received_sequence, shown: unsafe wire.pointee.shown_sequence)
    }

    fileprivate init(received: UInt64, shown: UInt64) throws(Rejection) {
        guard shown <= received else {
            throw Rejection(.inconsistent, field: "shown_sequence", reason: "is above received_sequence")
        }
        self.init(receivedSequence: received, shownSequence: shown)
    }
}

extension EndpointReceipt {
    typealias Wire = Waymark__V1__EndpointReceipt

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__endpoint_receipt__init) { wire in
            unsafe wire.pointee.vehicle_id = arena.text(self.vehicle.rawValue)
            unsafe wire.pointee.endpoint = arena.text(self.endpoint.rawValue)
            unsafe wire.pointee.received_sequence = self.receipt.receivedSequence
            unsafe wire.pointee.shown_sequence = self.receipt.shownSequence
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) throws(Rejection) {
        self.init(
            vehicle: VehicleID(unchecked: unsafe text(wire.pointee.vehicle_id)),
            endpoint: EndpointName(unchecked: unsafe text(wire.pointee.endpoint)),
            receipt: try Receipt(
                received: unsafe wire.pointee.received_sequence, shown: unsafe wire.pointee.shown_sequence))
    }
}

extension ReceiptReport {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__receipt_report__init) { wire in
            unsafe wire.pointee.gateway_sequence = self.gatewaySequence
            unsafe (wire.pointee.n_endpoints, wire.pointee.endpoints) =
                unsafe arena.list(self.endpoints) { unsafe $0.wire(in: arena) }
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__ReceiptReport>) throws(Rejection) {
        self.init(gatewaySequence: unsafe wire.pointee.gateway_sequence, endpoints: [])
        var endpoints: [EndpointReceipt] = []
        try unsafe checkEach(wire.pointee.n_endpoints, wire.pointee.endpoints, "endpoints") {
            wire throws(Rejection) in
            endpoints.append(try unsafe EndpointReceipt(wire))
        }
        self.endpoints = endpoints
    }
}
