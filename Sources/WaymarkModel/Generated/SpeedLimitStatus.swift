// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// Whether a speed limit is known.
///
/// Raw values are those on the wire.
public enum SpeedLimitStatus: WireEnumeration {
    /// The limit is not known.
    case unknown
    /// The speed is limited to a value.
    case limited
    /// The speed is not limited.
    case none
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [SpeedLimitStatus] = [
        .unknown,
        .limited,
        .none,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .unknown: 0
        case .limited: 1
        case .none: 2
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 0: self = .unknown
        case 1: self = .limited
        case 2: self = .none
        default: self = .unrecognized(rawValue)
        }
    }
}
