// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// Whether the vehicle gets to a stop with the charge that it has, and with what it charges on the way.
///
/// Raw values are those on the wire.
public enum Reachability: WireEnumeration {
    /// It gets there.
    case reachable
    /// It does not get there without another stop to charge.
    case unreachable
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [Reachability] = [
        .reachable,
        .unreachable,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .reachable: 1
        case .unreachable: 2
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 1: self = .reachable
        case 2: self = .unreachable
        default: self = .unrecognized(rawValue)
        }
    }
}
