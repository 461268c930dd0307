// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// The shape of the sign that drivers of the place know.
///
/// Raw values are those on the wire.
public enum SpeedLimitSign: WireEnumeration {
    /// A round sign with a red ring, of the Vienna Convention.
    case vienna
    /// A rectangular sign with the words SPEED LIMIT, of the MUTCD.
    case mutcd
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [SpeedLimitSign] = [
        .vienna,
        .mutcd,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .vienna: 1
        case .mutcd: 2
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 1: self = .vienna
        case 2: self = .mutcd
        default: self = .unrecognized(rawValue)
        }
    }
}
