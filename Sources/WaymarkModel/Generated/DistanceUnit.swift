// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// The unit in which a distance is shown.
///
/// Raw values are those on the wire.
public enum DistanceUnit: WireEnumeration {
    /// Metres.
    case meters
    /// Kilometres.
    case kilometers
    /// Feet.
    case feet
    /// Yards.
    case yards
    /// Miles.
    case miles
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [DistanceUnit] = [
        .meters,
        .kilometers,
        .feet,
        .yards,
        .miles,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .meters: 1
        case .kilometers: 2
        case .feet: 3
        case .yards: 4
        case .miles: 5
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 1: self = .meters
        case 2: self = .kilometers
        case 3: self = .feet
        case 4: self = .yards
        case 5: self = .miles
        default: self = .unrecognized(rawValue)
        }
    }
}
