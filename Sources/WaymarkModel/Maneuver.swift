/// Names a maneuver within one generation of a session. Never zero.
public struct ManeuverID: Sendable, Hashable, Comparable, RawRepresentable {
    /// The value on the wire.
    public let rawValue: UInt32

    /// Names a maneuver by its value on the wire.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Lower numbers are less.
    public static func < (lhs: ManeuverID, rhs: ManeuverID) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// An action that the driver takes at one point of the route.
///
/// - Source: `CPManeuver`; `Step` in Android for Cars.
public struct Maneuver: Sendable, Hashable {
    /// The id, which is unique within one generation of the session.
    public var id: ManeuverID
    /// The type of the action.
    public var type: ManeuverType
    /// The type of the junction that the maneuver is at.
    public var junctionType: JunctionType
    /// The side of the road on which traffic drives here.
    public var trafficSide: TrafficSide
    /// The instruction in words, longest first; at most 8 variants of at most 512 bytes.
    public var instructionVariants: [String]
    /// The road after the maneuver, longest first; at most 8 variants of at most 512 bytes.
    public var roadFollowingManeuverVariants: [String]
    /// The exit as signposted, e.g. "12A"; empty for none; at most 64 bytes.
    public var highwayExitLabel: String
    /// The direction of leaving the junction; nil when not known.
    public var junctionExitAngle: Angle?
    /// The other roads of the junction, ascending; never the exit angle; at most 32.
    public var junctionElementAngles: [Angle]
    /// The lane guidance that belongs to this maneuver; nil for none.
    public var linkedLaneGuidance: LaneGuidanceID?
    /// The estimates from the maneuver before, or from the start, to this one.
    public var initialTravelEstimates: TravelEstimates?
    /// The true number of a roundabout's exit, 1 ... 255; nil for none. Types reach 19 only.
    public var roundaboutExitNumber: UInt8?
    /// Whether it arrives at a waypoint on the way rather than at the destination. CarPlay has no type for this.
    public var isIntermediateWaypoint: Bool
    /// Whether the maneuver may interrupt a display that shows something else; nil if the receiver decides.
    public var notification: NotificationStyle?

    /// Creates a maneuver.
    public init(
        id: ManeuverID, type: ManeuverType, junctionType: JunctionType = .intersection,
        trafficSide: TrafficSide = .right, instructionVariants: [String] = [],
        roadFollowingManeuverVariants: [String] = [], highwayExitLabel: String = "",
        junctionExitAngle: Angle? = nil, junctionElementAngles: [Angle] = [],
        linkedLaneGuidance: LaneGuidanceID? = nil, initialTravelEstimates: TravelEstimates? = nil,
        roundaboutExitNumber: UInt8? = nil, isIntermediateWaypoint: Bool = false,
        notification: NotificationStyle? = nil
    ) {
        self.id = id
        self.type = type
        self.junctionType = junctionType
        self.trafficSide = trafficSide
        self.instructionVariants = instructionVariants
        self.roadFollowingManeuverVariants = roadFollowingManeuverVariants
        self.highwayExitLabel = highwayExitLabel
        self.junctionExitAngle = junctionExitAngle
        self.junctionElementAngles = junctionElementAngles
        self.linkedLaneGuidance = linkedLaneGuidance
        self.initialTravelEstimates = initialTravelEstimates
        self.roundaboutExitNumber = roundaboutExitNumber
        self.isIntermediateWaypoint = isIntermediateWaypoint
        self.notification = notification
    }
}

extension ManeuverType {
    /// The type for exit number `exit` of a roundabout: 1 ... 19 have a type of their own, others do not.
    public static func roundaboutExit(_ exit: UInt8) -> ManeuverType? {
        (1...19).contains(exit) ? ManeuverType(rawValue: 27 + UInt32(exit)) : nil
    }

    /// The exit number, 1 ... 19, if this is one of the roundabout exit types.
    public var roundaboutExit: UInt8? {
        (28...46).contains(self.rawValue) ? UInt8(self.rawValue - 27) : nil
    }
}
