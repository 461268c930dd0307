// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// The kind of a stop: the reason why it is made.
///
/// Raw values are those on the wire.
public enum StopKind: WireEnumeration {
    /// A stop to charge the vehicle's battery.
    case charging
    /// A stop to refuel.
    case fuel
    /// A stop to rest.
    case rest
    /// A stop to eat.
    case food
    /// A stop to park.
    case parking
    /// A stop to pick up a passenger or goods.
    case pickUp
    /// A stop to drop off a passenger or goods.
    case dropOff
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [StopKind] = [
        .charging,
        .fuel,
        .rest,
        .food,
        .parking,
        .pickUp,
        .dropOff,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .charging: 1
        case .fuel: 2
        case .rest: 3
        case .food: 4
        case .parking: 5
        case .pickUp: 6
        case .dropOff: 7
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 1: self = .charging
        case 2: self = .fuel
        case 3: self = .rest
        case 4: self = .food
        case 5: self = .parking
        case 6: self = .pickUp
        case 7: self = .dropOff
        default: self = .unrecognized(rawValue)
        }
    }
}
