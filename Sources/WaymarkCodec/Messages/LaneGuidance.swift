internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

extension FieldRules {
    static let lanes: Table = [
        "Lane": [
            "angles_degrees": .angle.atMost(ProtocolConstants.laneAnglesMax),
            "highlighted_angle_degrees": .angle,
            "status": .enumeration,
        ],
        "LaneGuidance": [
            "id": .id,
            "lanes": .any.atMost(ProtocolConstants.lanesMax).required,
            "instruction_variants": .variants,
        ],
    ]
}

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

    static func check(_ wire: UnsafeMutablePointer<Wire>) throws(Rejection) {
        guard unsafe Self.isHighlighted(wire) else { return }
        let angles = unsafe UnsafeBufferPointer(
            start: wire.pointee.angles_degrees, count: wire.pointee.n_angles_degrees)
        guard unsafe angles.contains(wire.pointee.highlighted_angle_degrees) else {
            throw Rejection(
                .inconsistent, field: "highlighted_angle_degrees", reason: "is not one of angles_degrees")
        }
        guard unsafe wire.pointee.status != WAYMARK__V1__LANE_STATUS__LANE_STATUS_NOT_GOOD else {
            throw Rejection(
                .inconsistent, field: "highlighted_angle_degrees", reason: "the lane's status is NOT_GOOD")
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

    static func check(_ wire: UnsafeMutablePointer<Wire>) throws(Rejection) {
        try unsafe checkEach(wire.pointee.n_lanes, wire.pointee.lanes, "lanes", Lane.check)
    }

    /// Checks the lane guidances of a list, and that no id is there twice.
    static func check(
        _ count: Int, _ wire: UnsafeMutablePointer<UnsafeMutablePointer<Wire>?>?
    ) throws(Rejection) {
        try unsafe checkEach(count, wire, "lane_guidances", LaneGuidance.check)
        try unsafe checkUnique(count, wire, "lane_guidances") { unsafe $0.pointee.id }
    }

    /// Only the ids of a list.
    static func ids(
        _ count: Int, _ wire: UnsafeMutablePointer<UnsafeMutablePointer<Wire>?>?
    ) -> [LaneGuidanceID] {
        unsafe list(count, wire) { LaneGuidanceID(rawValue: unsafe $0.pointee.id) }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init(
            id: LaneGuidanceID(rawValue: unsafe wire.pointee.id),
            lanes: unsafe list(wire.pointee.n_lanes, wire.pointee.lanes) { unsafe Lane($0) },
            instructionVariants: unsafe texts(
                wire.pointee.n_instruction_variants, wire.pointee.instruction_variants))
    }
}
