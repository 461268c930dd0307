// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// The colour in which the remaining time is shown.
///
/// Raw values are those on the wire.
///
/// - Source: CPTimeRemainingColor.
public enum TimeRemainingColor: WireEnumeration {
    /// The display's usual colour.
    case `default`
    /// Green: no delay.
    case green
    /// Orange: some delay.
    case orange
    /// Red: a long delay.
    case red
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [TimeRemainingColor] = [
        .default,
        .green,
        .orange,
        .red,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .default: 0
        case .green: 1
        case .orange: 2
        case .red: 3
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 0: self = .default
        case 1: self = .green
        case 2: self = .orange
        case 3: self = .red
        default: self = .unrecognized(rawValue)
        }
    }
}
