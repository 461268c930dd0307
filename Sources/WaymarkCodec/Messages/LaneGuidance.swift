internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

extension Lane {
    typealias Wire = Waymark__V1__Lane

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__lane__init) { wire in
            unsafe (wire.pointee.n_angles_degrees, wire.pointee.angles_degrees) =
                unsafe arena.list(self.angles) { Int32($0.degrees) }
            if let angle = self.highlightedAngle {
                unsafe wire.pointee.highlighted_case =
                    WAYMARK__V1__LANE__HIGHLIGHTED_HIGHLIGHTED_ANGLE_DEGREES
                unsafe wire.pointee.highlighted_angle_degrees = Int32(angle.degrees)
            }
            unsafe wire.pointee.status = .init(rawValue: self.status.rawValue)
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init(
            angles: unsafe numbers(wire.pointee.n_angles_degrees, wire.pointee.angles_degrees) {
                .degrees(Int($0))
            },
            highlightedAngle: unsafe Self.isHighlighted(wire)
                ? .degrees(Int(wire.pointee.highlighted_angle_degrees)) : nil,
            status: .init(wire: unsafe wire.pointee.status))
    }

    private static func isHighlighted(_ wire: UnsafeMutablePointer<Wire>) -> Bool {
        unsafe wire.pointee.highlighted_case == WAYMARK__V1__LANE__HIGHLIGHTED_HIGHLIGHTED_ANGLE_DEGREES
    }
}

extension LaneGuidance {
    typealias Wire = Waymark__V1__LaneGuidance

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__lane_guidance__init) { wire in
            unsafe wire.pointee.id = self.id.rawValue
            unsafe (wire.pointee.n_lanes, wire.pointee.lanes) = unsafe arena.list(self.lanes) {
                unsafe $0.wire(in: arena)
            }
            unsafe (wire.pointee.n_instruction_variants, wire.pointee.instruction_variants) =
                unsafe arena.texts(self.instructionVariants)
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init(
            id: LaneGuidanceID(rawValue: unsafe wire.pointee.id),
            lanes: unsafe list(wire.pointee.n_lanes, wire.pointee.lanes) { unsafe Lane($0) },
            instructionVariants: unsafe texts(
                wire.pointee.n_instruction_variants, wire.pointee.instruction_variants))
    }
}

extension LaneGuidanceID {
    private typealias Field = FieldNumber.LaneGuidance

    /// The ids of a list of lane guidances, no two alike. Checks that fields do not contradict each other.
    static func list(checking wire: WireMessage, _ field: Int) throws(Rejection) -> [LaneGuidanceID] {
        let ids = try wire.elements(field, "lane_guidances") { guidance throws(Rejection) in
            _ = try guidance.elements(Field.lanes, "lanes", Lane.check)
            return LaneGuidanceID(rawValue: guidance.number(Field.id))
        }
        try checkUnique(ids, "lane_guidances")
        return ids
    }
}

extension Lane {
    private typealias Field = FieldNumber.Lane

    fileprivate static func check(_ wire: WireMessage) throws(Rejection) {
        guard let highlighted = wire.first(Field.highlightedAngleDegrees) else { return }
        guard wire.numbers(Field.anglesDegrees, canonicalAngle).contains(canonicalAngle(highlighted.number32))
        else {
            throw Rejection(
                .inconsistent, field: "highlighted_angle_degrees", reason: "is not one of angles_degrees")
        }
        guard LaneStatus(rawValue: wire.number(Field.status)) != .notGood else {
            throw Rejection(
                .inconsistent, field: "highlighted_angle_degrees", reason: "the lane's status is NOT_GOOD")
        }
    }
}
