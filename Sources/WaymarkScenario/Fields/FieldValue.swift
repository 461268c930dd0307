internal import WaymarkModel

/// The value of a field, read when it is needed.
package enum FieldValue: Sendable {
    case text(String)
    /// In the unit of its key.
    case number(Double)
    case flag(Bool)
    /// A value of an enumeration, as on the wire.
    case word(UInt32, Vocabulary)
    case list(any FieldList)
    case object(any FieldObject)
}

/// A list whose elements are read when they are needed.
package protocol FieldList: Sendable {
    var count: Int { get }
    subscript(field index: Int) -> FieldValue { get }
    func isEqual(to other: any FieldList) -> Bool
}

/// The elements of an array as fields.
struct FieldElements<Element: Sendable & Equatable>: FieldList {
    let elements: [Element]
    let value: @Sendable (Element) -> FieldValue

    var count: Int { self.elements.count }
    subscript(field index: Int) -> FieldValue { self.value(self.elements[index]) }

    func isEqual(to other: any FieldList) -> Bool {
        // Why not element by element: arrays that share their storage are equal in one step.
        (other as? FieldElements<Element>).map { $0.elements == self.elements } ?? false
    }
}

/// The unit of a number.
package enum FieldUnit: Sendable, Hashable {
    case none, meters, seconds, milliseconds, degrees

    /// How many of this unit a number with a suffix is; nil if the suffix is of another kind, or of none.
    func factor(of suffix: String) -> Double? {
        switch self {
        case .none: suffix.isEmpty ? 1 : nil
        case .meters: ["": 1, "m": 1, "km": 1_000, "ft": 0.3048, "yd": 0.9144, "mi": 1_609.344][suffix]
        case .seconds: ["": 1, "ms": 0.001, "s": 1, "min": 60, "h": 3_600][suffix]
        case .milliseconds: ["": 1, "ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000][suffix]
        case .degrees: ["": 1, "°": 1][suffix]
        }
    }

    /// Behind a number in a report.
    var suffix: String {
        switch self {
        case .none: ""
        case .meters: " m"
        case .seconds: " s"
        case .milliseconds: " ms"
        case .degrees: "°"
        }
    }

    /// For error messages.
    var kind: String {
        switch self {
        case .none: "a number"
        case .meters: "a distance in metres"
        case .seconds: "a time in seconds"
        case .milliseconds: "a time in milliseconds"
        case .degrees: "an angle in degrees"
        }
    }
}

/// The names of an enumeration.
package final class Vocabulary: Sendable, Hashable {
    package let names: [String]
    private let rawValues: [UInt32]

    init(_ pairs: [(UInt32, String)]) {
        self.names = pairs.map(\.1)
        self.rawValues = pairs.map(\.0)
    }

    /// Of an enumeration of the wire.
    convenience init<Value: WireEnumeration>(of type: Value.Type) {
        self.init(type.allKnown.map { ($0.rawValue, $0.name) })
    }

    /// Of a closed enumeration.
    convenience init<Value: CaseIterable & RawRepresentable>(of type: Value.Type)
    where Value.RawValue == UInt32 {
        self.init(type.allCases.map { ($0.rawValue, "\($0)") })
    }

    /// Of texts.
    convenience init(_ names: [String]) { self.init(names.enumerated().map { (UInt32($0), $1) }) }

    /// The name of a value; of one that this build does not know, its number.
    package func name(of rawValue: UInt32) -> String {
        self.rawValues.firstIndex(of: rawValue).map { self.names[$0] } ?? "\(rawValue)"
    }

    /// The value of a name, or of a number written as text.
    func rawValue(of name: String) -> UInt32? {
        self.names.firstIndex(of: name).map { self.rawValues[$0] } ?? UInt32(name)
    }

    package static func == (lhs: Vocabulary, rhs: Vocabulary) -> Bool { lhs === rhs }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension FieldValue {
    /// Whether it is an empty list or text, which Docs/cluster-json.md leaves out.
    var isEmpty: Bool {
        switch self {
        case .text(let text): text.isEmpty
        case .list(let list): list.count == 0
        case .number, .flag, .word, .object: false
        }
    }

    package func isEqual(to other: FieldValue) -> Bool {
        switch (self, other) {
        case (.text(let mine), .text(let theirs)): mine == theirs
        case (.number(let mine), .number(let theirs)): mine == theirs
        case (.flag(let mine), .flag(let theirs)): mine == theirs
        case (.word(let mine, _), .word(let theirs, _)): mine == theirs
        case (.list(let mine), .list(let theirs)): mine.isEqual(to: theirs)
        case (.object(let mine), .object(let theirs)): mine.isEqual(to: theirs)
        case (.text, _), (.number, _), (.flag, _), (.word, _), (.list, _), (.object, _): false
        }
    }

    /// As a report shows it, with the unit of its key.
    package func text(_ type: FieldType) -> String {
        switch self {
        case .text(let text): text
        case .number(let number): Self.text(number) + type.unit.suffix
        case .flag(let flag): "\(flag)"
        case .word(let raw, let vocabulary): vocabulary.name(of: raw)
        case .list(let list): Self.text(list, type.element)
        case .object(let object): object.text
        }
    }

    /// Lists are cut after some elements: a report has 80 columns.
    private static func text(_ list: any FieldList, _ element: FieldType) -> String {
        let shown = (0..<min(list.count, 8)).map { list[field: $0].text(element) }
        return "[" + (list.count > 8 ? shown + ["… \(list.count)"] : shown).joined(separator: ", ") + "]"
    }

    /// Without decimals where there are none.
    static func text(_ number: Double) -> String {
        let rounded = (number * 1_000).rounded() / 1_000
        return Int64(exactly: rounded).map { "\($0)" } ?? "\(rounded)"
    }
}
