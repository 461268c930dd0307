// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// The unit of a speed limit, as posted.
///
/// Raw values are those on the wire.
public enum SpeedUnit: WireEnumeration {
    /// Kilometres per hour.
    case kilometersPerHour
    /// Miles per hour.
    case milesPerHour
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [SpeedUnit] = [
        .kilometersPerHour,
        .milesPerHour,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .kilometersPerHour: 1
        case .milesPerHour: 2
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 1: self = .kilometersPerHour
        case 2: self = .milesPerHour
        default: self = .unrecognized(rawValue)
        }
    }
}
