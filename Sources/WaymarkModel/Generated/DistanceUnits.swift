// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// The units in which the endpoint shows distances.
///
/// Raw values are those on the wire.
public enum DistanceUnits: WireEnumeration {
    /// Distances as the navigation client published them.
    case asPublished
    /// Metres and kilometres.
    case metric
    /// Miles and feet.
    case imperialFeet
    /// Miles and yards.
    case imperialYards
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [DistanceUnits] = [
        .asPublished,
        .metric,
        .imperialFeet,
        .imperialYards,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .asPublished: 0
        case .metric: 1
        case .imperialFeet: 2
        case .imperialYards: 3
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 0: self = .asPublished
        case 1: self = .metric
        case 2: self = .imperialFeet
        case 3: self = .imperialYards
        default: self = .unrecognized(rawValue)
        }
    }
}
