/// Plugs of charging stations.
///
/// Raw values are those on the wire.
public enum ChargeConnector: WireEnumeration {
    /// Type 1.
    case type1
    /// Type 2.
    case type2
    /// Ccs 1.
    case ccs1
    /// Ccs 2.
    case ccs2
    /// Chademo.
    case chademo
    /// Nacs.
    case nacs
    /// Gb t ac.
    case gbTAc
    /// Gb t dc.
    case gbTDc
    /// Mcs.
    case mcs
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [ChargeConnector] = [
        .type1,
        .type2,
        .ccs1,
        .ccs2,
        .chademo,
        .nacs,
        .gbTAc,
        .gbTDc,
        .mcs,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .type1: 1
        case .type2: 2
        case .ccs1: 3
        case .ccs2: 4
        case .chademo: 5
        case .nacs: 6
        case .gbTAc: 7
        case .gbTDc: 8
        case .mcs: 9
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 1: self = .type1
        case 2: self = .type2
        case 3: self = .ccs1
        case 4: self = .ccs2
        case 5: self = .chademo
        case 6: self = .nacs
        case 7: self = .gbTAc
        case 8: self = .gbTDc
        case 9: self = .mcs
        default: self = .unrecognized(rawValue)
        }
    }
}

/// Why a stop is made.
///
/// Raw values are those on the wire.
public enum StopKind: WireEnumeration {
    /// Charging.
    case charging
    /// Fuel.
    case fuel
    /// Rest.
    case rest
    /// Food.
    case food
    /// Parking.
    case parking
    /// Pick up.
    case pickUp
    /// Drop off.
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
