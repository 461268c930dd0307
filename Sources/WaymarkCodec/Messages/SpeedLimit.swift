internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

extension SpeedLimit {
    typealias Wire = Waymark__V1__SpeedLimit

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__speed_limit__init) { wire in
            unsafe wire.pointee.status = .init(rawValue: self.status.rawValue)
            unsafe wire.pointee.value = self.value ?? 0
            unsafe wire.pointee.unit = .init(rawValue: self.unit?.rawValue ?? 0)
            unsafe wire.pointee.kind = .init(rawValue: self.kind?.rawValue ?? 0)
            unsafe wire.pointee.sign = .init(rawValue: self.sign?.rawValue ?? 0)
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init(
            status: .init(wire: unsafe wire.pointee.status), value: unsafe wire.pointee.value.given,
            unit: .given(unsafe wire.pointee.unit), kind: .given(unsafe wire.pointee.kind),
            sign: .given(unsafe wire.pointee.sign))
    }
}

extension SpeedLimitAhead {
    typealias Wire = Waymark__V1__SpeedLimitAhead

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__speed_limit_ahead__init) { wire in
            unsafe wire.pointee.limit = self.limit.wire(in: arena)
            unsafe wire.pointee.distance_meters = self.distance.meters
            unsafe wire.pointee.distance_to_display = self.distanceToDisplay?.wire(in: arena)
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init(
            unsafe SpeedLimit(wire.pointee.limit), in: .meters(unsafe wire.pointee.distance_meters),
            distanceToDisplay: unsafe wire.pointee.distance_to_display.map { unsafe DisplayDistance($0) })
    }
}

extension SpeedLimitSpan {
    typealias Wire = Waymark__V1__SpeedLimitSpan

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__speed_limit_span__init) { wire in
            unsafe wire.pointee.first_point = self.firstPoint
            unsafe wire.pointee.limit = self.limit.wire(in: arena)
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init(from: unsafe wire.pointee.first_point, unsafe SpeedLimit(wire.pointee.limit))
    }
}

// MARK: Contradictions

extension SpeedLimit {
    private typealias Field = FieldNumber.SpeedLimit

    /// Checks that value and unit are given if the status is LIMITED, and only then. A status that this build does not know says nothing.
    static func check(_ wire: WireMessage) throws(Rejection) {
        let status = SpeedLimitStatus(rawValue: wire.number(Field.status))
        guard status.isRecognized else { return }
        let isGiven: [(name: StaticString, Bool)] = [
            ("value", wire.number(Field.value) != 0), ("unit", wire.number(Field.unit) != 0),
        ]
        for (name, isGiven) in isGiven where isGiven != (status == .limited) {
            throw isGiven
                ? Rejection(.inconsistent, field: "\(name)", reason: "is given for a limit without value")
                : Rejection(.missing, field: "\(name)", reason: "is not given for a limit with value")
        }
    }
}

extension SpeedLimitSpan {
    private typealias Field = FieldNumber.SpeedLimitSpan

    /// Checks the spans of a segment: that their first points rise, then each limit.
    static func check(_ segment: WireMessage) throws(Rejection) {
        let list = FieldNumber.RouteSegment.speedLimits
        var last: UInt32?
        _ = try segment.elements(list, "speed_limits") { span throws(Rejection) in
            let point = span.number(Field.firstPoint)
            if let last, point <= last {
                throw Rejection(
                    .inconsistent, field: "first_point", reason: "is not behind that of the span before")
            }
            last = point
        }
        _ = try segment.elements(list, "speed_limits") { span throws(Rejection) in
            try span.inside(Field.limit, "limit", SpeedLimit.check)
        }
    }
}

extension PublicationOutline {
    /// Checks that the fields of the two limits of an UpdateSpeedLimit do not contradict each other.
    static func checkSpeedLimit(_ body: WireMessage) throws(Rejection) {
        typealias Field = FieldNumber.UpdateSpeedLimit
        try body.inside(Field.limit, "limit", SpeedLimit.check)
        guard let next = body.first(Field.next)?.message else { return }
        do { try next.inside(FieldNumber.SpeedLimitAhead.limit, "limit", SpeedLimit.check) } catch {
            throw error.inside("next")
        }
    }
}
