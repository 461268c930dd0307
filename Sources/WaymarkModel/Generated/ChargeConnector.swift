// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// Plugs of charging stations.
///
/// Raw values are those on the wire.
public enum ChargeConnector: WireEnumeration {
    /// Type 1 (SAE J1772), AC.
    case type1
    /// Type 2 (IEC 62196-2, "Mennekes"), AC.
    case type2
    /// CCS Combo 1 (SAE J1772 combo), DC.
    case ccs1
    /// CCS Combo 2 (IEC 62196-3), DC.
    case ccs2
    /// CHAdeMO, DC.
    case chademo
    /// NACS (SAE J3400).
    case nacs
    /// GB/T 20234.2, AC.
    case gbTAc
    /// GB/T 20234.3, DC.
    case gbTDc
    /// Megawatt Charging System, DC.
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
