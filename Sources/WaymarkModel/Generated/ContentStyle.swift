// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// Whether a display shows light or dark content.
///
/// Raw values are those on the wire.
///
/// - Source: CPContentStyle.
public enum ContentStyle: WireEnumeration {
    /// Dark content on a light background.
    case light
    /// Light content on a dark background.
    case dark
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [ContentStyle] = [
        .light,
        .dark,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .light: 1
        case .dark: 2
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 1: self = .light
        case 2: self = .dark
        default: self = .unrecognized(rawValue)
        }
    }
}
