// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// The importance of an alert among others.
///
/// Raw values are those on the wire.
///
/// - Source: Apple's CarPlay navigation guide of 2018.
public enum AlertPriority: WireEnumeration {
    /// Useful to know. It gives way to other alerts.
    case low
    /// The driver should know it soon.
    case medium
    /// The driver must know it now. It is shown before other alerts.
    case high
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [AlertPriority] = [
        .low,
        .medium,
        .high,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .low: 1
        case .medium: 2
        case .high: 3
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 1: self = .low
        case 2: self = .medium
        case 3: self = .high
        default: self = .unrecognized(rawValue)
        }
    }
}
