// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// The type of the junction that a maneuver is at.
///
/// Raw values are those on the wire.
///
/// - Source: CPJunctionType.
public enum JunctionType: WireEnumeration {
    /// A crossing or a fork.
    case intersection
    /// A roundabout.
    case roundabout
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [JunctionType] = [
        .intersection,
        .roundabout,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .intersection: 0
        case .roundabout: 1
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 0: self = .intersection
        case 1: self = .roundabout
        default: self = .unrecognized(rawValue)
        }
    }
}
