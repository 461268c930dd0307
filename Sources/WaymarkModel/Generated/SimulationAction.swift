// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// An order to a client that simulates drives.
///
/// Raw values are those on the wire.
public enum SimulationAction: WireEnumeration {
    /// Drives along its route from where it is, at the speed that was asked for, as if the vehicle moved.
    case start
    /// Stands still where it is; START continues from there.
    case stop
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [SimulationAction] = [
        .start,
        .stop,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .start: 1
        case .stop: 2
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 1: self = .start
        case 2: self = .stop
        default: self = .unrecognized(rawValue)
        }
    }
}
