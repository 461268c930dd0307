// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// The side of the road on which traffic drives.
///
/// Raw values are those on the wire.
///
/// - Source: CPTrafficSide.
public enum TrafficSide: WireEnumeration {
    /// Traffic drives on the right.
    case right
    /// Traffic drives on the left.
    case left
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [TrafficSide] = [
        .right,
        .left,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .right: 0
        case .left: 1
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 0: self = .right
        case 1: self = .left
        default: self = .unrecognized(rawValue)
        }
    }
}
