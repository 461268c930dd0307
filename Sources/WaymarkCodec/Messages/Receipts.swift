internal import CWaymarkWire
internal import WaymarkProtocol

extension Receipt {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__receipt__init) { wire in
            unsafe wire.pointee.received_sequence = self.receivedSequence
            unsafe wire.pointee.shown_sequence = self.shownSequence
            if let received = self.receivedNanoseconds {
                unsafe wire.pointee.received_case = WAYMARK__V1__RECEIPT__RECEIVED_RECEIVED_NANOSECONDS
                unsafe wire.pointee.received_nanoseconds = received
            }
            if let shown = self.shownNanoseconds {
                unsafe wire.pointee.shown_case = WAYMARK__V1__RECEIPT__SHOWN_SHOWN_NANOSECONDS
                unsafe wire.pointee.shown_nanoseconds = shown
            }
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__Receipt>) throws(Rejection) {
        try self.init(
            received: unsafe wire.pointee.received_sequence, shown: unsafe wire.pointee.shown_sequence)
        if unsafe wire.pointee.received_case == WAYMARK__V1__RECEIPT__RECEIVED_RECEIVED_NANOSECONDS {
            self.receivedNanoseconds = unsafe wire.pointee.received_nanoseconds
        }
        if unsafe wire.pointee.shown_case == WAYMARK__V1__RECEIPT__SHOWN_SHOWN_NANOSECONDS {
            self.shownNanoseconds = unsafe wire.pointee.shown_nanoseconds
        }
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
            if let received = self.receivedDelayMicroseconds {
                unsafe wire.pointee.received_case =
                    WAYMARK__V1__ENDPOINT_RECEIPT__RECEIVED_RECEIVED_DELAY_MICROSECONDS
                unsafe wire.pointee.received_delay_microseconds = received
            }
            if let shown = self.shownDelayMicroseconds {
                unsafe wire.pointee.shown_case = WAYMARK__V1__ENDPOINT_RECEIPT__SHOWN_SHOWN_DELAY_MICROSECONDS
                unsafe wire.pointee.shown_delay_microseconds = shown
            }
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) throws(Rejection) {
        self.init(
            vehicle: VehicleID(unchecked: unsafe text(wire.pointee.vehicle_id)),
            endpoint: EndpointName(unchecked: unsafe text(wire.pointee.endpoint)),
            receipt: try Receipt(
                received: unsafe wire.pointee.received_sequence, shown: unsafe wire.pointee.shown_sequence))
        if unsafe wire.pointee.received_case
            == WAYMARK__V1__ENDPOINT_RECEIPT__RECEIVED_RECEIVED_DELAY_MICROSECONDS
        {
            self.receivedDelayMicroseconds = unsafe wire.pointee.received_delay_microseconds
        }
        if unsafe wire.pointee.shown_case == WAYMARK__V1__ENDPOINT_RECEIPT__SHOWN_SHOWN_DELAY_MICROSECONDS {
            self.shownDelayMicroseconds = unsafe wire.pointee.shown_delay_microseconds
        }
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

extension DelayCounts {
    func wire(in arena: Arena) -> UnsafeMutablePointer<Waymark__V1__DelayCounts> {
        unsafe arena.make(waymark__v1__delay_counts__init) { wire in
            unsafe (wire.pointee.n_counts, wire.pointee.counts) = unsafe arena.list(self.counts) { $0 }
            unsafe wire.pointee.total_microseconds = self.totalMicroseconds
            unsafe wire.pointee.last_microseconds = self.lastMicroseconds
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__DelayCounts>) {
        self.init(
            counts: unsafe numbers(wire.pointee.n_counts, wire.pointee.counts) { $0 },
            totalMicroseconds: unsafe wire.pointee.total_microseconds,
            lastMicroseconds: unsafe wire.pointee.last_microseconds)
    }
}

extension EndpointDelays {
    func wire(in arena: Arena) -> UnsafeMutablePointer<Waymark__V1__EndpointDelays> {
        unsafe arena.make(waymark__v1__endpoint_delays__init) { wire in
            unsafe wire.pointee.received = self.received.wire(in: arena)
            unsafe wire.pointee.shown = self.shown.wire(in: arena)
            unsafe wire.pointee.round_trip_microseconds = self.roundTripMicroseconds
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__EndpointDelays>) {
        self.init()
        if let received = unsafe wire.pointee.received { self.received = unsafe DelayCounts(received) }
        if let shown = unsafe wire.pointee.shown { self.shown = unsafe DelayCounts(shown) }
        self.roundTripMicroseconds = unsafe wire.pointee.round_trip_microseconds
    }
}
