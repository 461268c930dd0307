// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// The reason why an alert went away.
///
/// Raw values are those on the wire.
///
/// - Source: CPNavigationAlertDismissalContext.
public enum AlertDismissal: WireEnumeration {
    /// Its time was up.
    case timeout
    /// The user dismissed it.
    case userDismissed
    /// The vehicle, or the client, removed it.
    case systemDismissed
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [AlertDismissal] = [
        .timeout,
        .userDismissed,
        .systemDismissed,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .timeout: 0
        case .userDismissed: 1
        case .systemDismissed: 2
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 0: self = .timeout
        case 1: self = .userDismissed
        case 2: self = .systemDismissed
        default: self = .unrecognized(rawValue)
        }
    }
}
