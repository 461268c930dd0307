/// Names a lane guidance within one generation of a session. Never zero.
public struct LaneGuidanceID: Sendable, Hashable, Comparable, RawRepresentable {
    /// The value on the wire.
    public let rawValue: UInt32

    /// Names a lane guidance by its value on the wire.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Lower numbers are less.
    public static func < (lhs: LaneGuidanceID, rhs: LaneGuidanceID) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// One lane.
///
/// - Source: `CPLane`.
public struct Lane: Sendable, Hashable {
    /// The directions in which the lane may be left; empty for a lane without arrows; at most 16.
    public var angles: [Angle]
    /// The direction to take: one of `angles`, and only when the status is not `notGood`.
    public var highlightedAngle: Angle?
    /// Whether the lane leads where the route goes.
    public var status: LaneStatus

    /// Creates a lane.
    public init(angles: [Angle], highlightedAngle: Angle? = nil, status: LaneStatus = .notGood) {
        self.angles = angles
        self.highlightedAngle = highlightedAngle
        self.status = status
    }
}

/// The lanes at one point of the route.
///
/// - Source: `CPLaneGuidance`.
public struct LaneGuidance: Sendable, Hashable {
    /// The id, which is unique within one generation of the session.
    public var id: LaneGuidanceID
    /// The lanes, from left to right as the driver sees them; 1 ... 32.
    public var lanes: [Lane]
    /// The instruction in words, longest first; at most 8 variants of at most 512 bytes.
    public var instructionVariants: [String]

    /// Creates a lane guidance.
    public init(id: LaneGuidanceID, lanes: [Lane], instructionVariants: [String] = []) {
        self.id = id
        self.lanes = lanes
        self.instructionVariants = instructionVariants
    }
}
