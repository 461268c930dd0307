// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// Direction of a zoom request.
///
/// Raw values are those on the wire.
public enum ZoomDirection: WireEnumeration {
    /// Closer: a smaller part of the map.
    case `in`
    /// Further away: a larger part of the map.
    case out
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [ZoomDirection] = [
        .in,
        .out,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .in: 1
        case .out: 2
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 1: self = .in
        case 2: self = .out
        default: self = .unrecognized(rawValue)
        }
    }
}
