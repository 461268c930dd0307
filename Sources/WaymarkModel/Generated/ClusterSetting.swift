// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// Whether the cluster shows a compass, a speed limit.
///
/// Raw values are those on the wire.
///
/// - Source: CPInstrumentClusterSetting.
public enum ClusterSetting: WireEnumeration {
    /// It is shown.
    case enabled
    /// It is not shown.
    case disabled
    /// The user decides whether it is shown.
    case userPreference
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [ClusterSetting] = [
        .enabled,
        .disabled,
        .userPreference,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .enabled: 1
        case .disabled: 2
        case .userPreference: 3
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 1: self = .enabled
        case 2: self = .disabled
        case 3: self = .userPreference
        default: self = .unrecognized(rawValue)
        }
    }
}
