// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// Whether a maneuver or an alert may interrupt a display that shows something else.
///
/// Raw values are those on the wire.
///
/// - Source: what CPMapTemplateDelegate answers to shouldShowNotification and shouldUpdateNotification.
public enum NotificationStyle: WireEnumeration {
    /// It does not interrupt the display.
    case never
    /// It interrupts the display once.
    case once
    /// It interrupts the display, and stays there with estimates that are updated.
    case withEstimates
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [NotificationStyle] = [
        .never,
        .once,
        .withEstimates,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .never: 1
        case .once: 2
        case .withEstimates: 3
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 1: self = .never
        case 2: self = .once
        case 3: self = .withEstimates
        default: self = .unrecognized(rawValue)
        }
    }
}
