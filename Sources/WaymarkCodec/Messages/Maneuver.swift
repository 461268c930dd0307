internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

extension Maneuver {
    typealias Wire = Waymark__V1__Maneuver

    func wire(in arena: Arena) -> UnsafeMutablePointer<Wire> {
        unsafe arena.make(waymark__v1__maneuver__init) { wire in
            unsafe wire.pointee.id = self.id.rawValue
            unsafe wire.pointee.type = .init(rawValue: self.type.rawValue)
            unsafe wire.pointee.junction_type = .init(rawValue: self.junctionType.rawValue)
            unsafe wire.pointee.traffic_side = .init(rawValue: self.trafficSide.rawValue)
            unsafe (wire.pointee.n_instruction_variants, wire.pointee.instruction_variants) =
                unsafe arena.texts(self.instructionVariants)
            unsafe (
                wire.pointee.n_road_following_maneuver_variants, wire.pointee.road_following_maneuver_variants
            ) = unsafe arena.texts(self.roadFollowingManeuverVariants)
            unsafe wire.pointee.highway_exit_label = arena.text(self.highwayExitLabel)
            if let angle = self.junctionExitAngle {
                unsafe wire.pointee.exit_angle_case =
                    WAYMARK__V1__MANEUVER__EXIT_ANGLE_JUNCTION_EXIT_ANGLE_DEGREES
                unsafe wire.pointee.junction_exit_angle_degrees = Int32(angle.degrees)
            }
            unsafe (
                wire.pointee.n_junction_element_angles_degrees, wire.pointee.junction_element_angles_degrees
            ) = unsafe arena.list(self.junctionElementAngles) { Int32($0.degrees) }
            unsafe wire.pointee.linked_lane_guidance_id = self.linkedLaneGuidance?.rawValue ?? 0
            unsafe wire.pointee.initial_travel_estimates = self.initialTravelEstimates?.wire(in: arena)
            unsafe wire.pointee.roundabout_exit_number = UInt32(self.roundaboutExitNumber ?? 0)
            unsafe wire.pointee.intermediate_waypoint = self.isIntermediateWaypoint ? 1 : 0
            unsafe wire.pointee.notification = .init(rawValue: self.notification?.rawValue ?? 0)
        }
    }

    init(_ wire: UnsafeMutablePointer<Wire>) {
        self.init(
            id: ManeuverID(rawValue: unsafe wire.pointee.id), type: .init(wire: unsafe wire.pointee.type))
        self.junctionType = .init(wire: unsafe wire.pointee.junction_type)
        self.trafficSide = .init(wire: unsafe wire.pointee.traffic_side)
        self.instructionVariants = unsafe texts(
            wire.pointee.n_instruction_variants, wire.pointee.instruction_variants)
        self.roadFollowingManeuverVariants = unsafe texts(
            wire.pointee.n_road_following_maneuver_variants, wire.pointee.road_following_maneuver_variants)
        self.highwayExitLabel = unsafe text(wire.pointee.highway_exit_label)
        if unsafe Self.hasExitAngle(wire) {
            self.junctionExitAngle = .degrees(Int(unsafe wire.pointee.junction_exit_angle_degrees))
        }
        self.junctionElementAngles = unsafe numbers(
            wire.pointee.n_junction_element_angles_degrees, wire.pointee.junction_element_angles_degrees
        ) { .degrees(Int($0)) }
        self.linkedLaneGuidance = unsafe wire.pointee.linked_lane_guidance_id.given.map(
            LaneGuidanceID.init)
        self.initialTravelEstimates = unsafe wire.pointee.initial_travel_estimates.map {
            unsafe TravelEstimates($0)
        }
        self.roundaboutExitNumber = unsafe wire.pointee.roundabout_exit_number.given.map {
            UInt8(clamping: $0)
        }
        self.isIntermediateWaypoint = unsafe wire.pointee.intermediate_waypoint != 0
        self.notification = .given(unsafe wire.pointee.notification)
    }

    private static func hasExitAngle(_ wire: UnsafeMutablePointer<Wire>) -> Bool {
        unsafe wire.pointee.exit_angle_case == WAYMARK__V1__MANEUVER__EXIT_ANGLE_JUNCTION_EXIT_ANGLE_DEGREES
    }
}

extension ManeuverID {
    private typealias Field = FieldNumber.Maneuver

    /// The ids of a list of maneuvers, no two alike. Checks that fields do not contradict each other.
    static func list(checking wire: WireMessage, _ field: Int) throws(Rejection) -> [ManeuverID] {
        let ids = try wire.elements(field, "maneuvers", Self.init(checking:))
        try checkUnique(ids, "maneuvers")
        return ids
    }

    private init(checking maneuver: WireMessage) throws(Rejection) {
        self.init(rawValue: maneuver.number(Field.id))
        guard let exit = maneuver.first(Field.junctionExitAngleDegrees) else { return }
        let elements = maneuver.numbers(Field.junctionElementAnglesDegrees, canonicalAngle)
        guard let index = elements.firstIndex(of: canonicalAngle(exit.number32)) else { return }
        throw Rejection(
            .inconsistent, field: "junction_element_angles_degrees[\(index)]",
            reason: "is the exit angle, which is not among the other roads")
    }
}
