internal import WaymarkProtocol

/// What the brackets of a field's comment in the proto say.
///
/// The one place where a range is enforced: ``WireCheck`` applies it to the bytes, before anything is unpacked.
struct FieldRule: Sendable {
    /// Which characters a text may have.
    enum Alphabet: UInt8, Sendable {
        /// UTF-8 without NUL.
        case unicode
        /// `A-Z a-z 0-9 . _ : -`.
        case name
        /// `a-z 0-9 . -`, with a dot among them.
        case `extension`
    }

    /// Of the number; of the length in bytes of a text or of bytes.
    var bounds: ClosedRange<Int64> = Int64.min...Int64.max
    /// 0, or the empty text, is allowed even outside of `bounds`: it means "not given".
    var allowsZero = false
    /// The field must be there; a repeated one at least once.
    var isRequired = false
    /// How many elements a repeated field may have.
    var countMax: Int32 = 1
    var alphabet = Alphabet.unicode
    /// How far from 0 the sum of a list of differences may be at each of them; 0: not such a list. All such lists of a
    /// message are equally long.
    var sumMax: Int32 = 0
    /// It says where something is, or may.
    var isPlace = false

    /// Whatever the field's type holds. For sub-messages: may be absent.
    static let any = FieldRule()

    /// A number within `bounds`; absent is 0.
    static func range(_ bounds: ClosedRange<some BinaryInteger>) -> FieldRule {
        FieldRule(bounds: Int64(bounds.lowerBound)...Int64(bounds.upperBound))
    }

    /// An id that must be there; 0 names nothing.
    static let id = FieldRule.range(1...UInt32.max).required

    /// A number of 64 bits that must be there and is not 0; see ``WireCheck`` for those above `Int64.max`.
    static let requiredLong = FieldRule.range(1...Int64.max).required

    /// Differences, each added to the sum of those before, which stays within `sumMax` of 0.
    static func differences(within sumMax: Int32) -> FieldRule {
        var rule = FieldRule.any
        rule.sumMax = sumMax
        return rule
    }

    /// An enumeration; values that this build does not know are kept.
    static let enumeration = FieldRule.range(0...Int32.max)

    /// An enumeration whose value 0 means that the sender forgot it.
    static let specified = FieldRule.range(1...Int32.max).required

    /// At most `max` bytes of text, or of bytes.
    static func text(_ max: Int) -> FieldRule { .range(0...max) }

    /// Text that must be there and not be empty.
    static func requiredText(_ max: Int) -> FieldRule { FieldRule.range(1...max).required }

    /// A peer's name, see `WireName`; may be empty.
    static let name: FieldRule = {
        var rule = FieldRule.text(ProtocolConstants.nameBytesMax)
        rule.alphabet = .name
        return rule
    }()

    /// A peer's name that must be there.
    static let requiredName: FieldRule = {
        var rule = FieldRule.requiredText(ProtocolConstants.nameBytesMax)
        rule.alphabet = .name
        return rule
    }()

    /// An element of a list of peers' names, which may be empty.
    static let listedName: FieldRule = {
        var rule = Self.requiredName
        rule.isRequired = false
        return rule
    }()

    /// The name of an extension that must be there.
    static let requiredExtension: FieldRule = {
        var rule = FieldRule.range(ExtensionName.byteCounts).required
        rule.alphabet = .extension
        return rule
    }()

    /// An element of a list of names of extensions, which may be empty.
    static let listedExtension: FieldRule = {
        var rule = Self.requiredExtension
        rule.isRequired = false
        return rule
    }()

    /// The same rule for a field that must be there.
    var required: FieldRule {
        var rule = self
        rule.isRequired = true
        return rule
    }

    /// The same rule, with 0 for "not given".
    var orZero: FieldRule {
        var rule = self
        rule.allowsZero = true
        return rule
    }

    /// The same rule for a field that says where something is, or may.
    var place: FieldRule {
        var rule = self
        rule.isPlace = true
        return rule
    }

    /// The same rule for each of at most `count` elements.
    func atMost(_ count: Int) -> FieldRule {
        var rule = self
        rule.countMax = Int32(count)
        return rule
    }
}

/// The numbers of the messages' fields, generated from the protos.
enum FieldNumber {}

/// The rules of all messages. ``all`` is generated from the protos.
enum FieldRules {
    /// By the field's name in the proto.
    typealias Rules = [String: FieldRule]
    /// By the message's name in the proto.
    typealias Table = [String: Rules]
}
