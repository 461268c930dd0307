// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// The kind of a speed limit: what sets it.
///
/// Raw values are those on the wire.
public enum SpeedLimitKind: WireEnumeration {
    /// A sign, or the law of the place, sets the limit.
    case posted
    /// The speed is advised, not prescribed.
    case advisory
    /// A sign whose value changes with traffic or weather sets the limit.
    case variable
    /// The limit holds under a condition, e.g. in rain or for some hours of the day.
    case conditional
    /// The limit is that of a school zone.
    case schoolZone
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [SpeedLimitKind] = [
        .posted,
        .advisory,
        .variable,
        .conditional,
        .schoolZone,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .posted: 1
        case .advisory: 2
        case .variable: 3
        case .conditional: 4
        case .schoolZone: 5
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 1: self = .posted
        case 2: self = .advisory
        case 3: self = .variable
        case 4: self = .conditional
        case 5: self = .schoolZone
        default: self = .unrecognized(rawValue)
        }
    }
}
