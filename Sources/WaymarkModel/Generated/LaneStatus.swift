// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// Whether a lane leads where the route goes.
///
/// Raw values are those on the wire.
///
/// - Source: CPLaneStatus.
public enum LaneStatus: WireEnumeration {
    /// The lane does not lead along the route.
    case notGood
    /// The lane leads along the route.
    case good
    /// The best of the lanes that lead along the route.
    case preferred
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [LaneStatus] = [
        .notGood,
        .good,
        .preferred,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .notGood: 0
        case .good: 1
        case .preferred: 2
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 0: self = .notGood
        case 1: self = .good
        case 2: self = .preferred
        default: self = .unrecognized(rawValue)
        }
    }
}
