// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// The stage of the approach to the next maneuver; the cycle is continue, initial, prepare, execute,
/// continue.
///
/// Raw values are those on the wire.
///
/// - Source: CPManeuverState.
public enum ManeuverState: WireEnumeration {
    /// The driver has nothing to do soon.
    case `continue`
    /// The maneuver is in the near future.
    case initial
    /// The maneuver is in the immediate future.
    case prepare
    /// The vehicle is in the maneuver.
    case execute
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [ManeuverState] = [
        .continue,
        .initial,
        .prepare,
        .execute,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .continue: 0
        case .initial: 1
        case .prepare: 2
        case .execute: 3
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 0: self = .continue
        case 1: self = .initial
        case 2: self = .prepare
        case 3: self = .execute
        default: self = .unrecognized(rawValue)
        }
    }
}
