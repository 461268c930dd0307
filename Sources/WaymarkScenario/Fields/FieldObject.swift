internal import WaymarkModel

/// Something with fields that a scenario can name. The keys are those of Docs/cluster-json.md.
package protocol FieldObject: Sendable, Hashable {
    /// In the order in which reports show them.
    static var fields: [FieldKey<Self>] { get }
}

/// What a field contains.
package indirect enum FieldType: Sendable {
    case text
    case number(FieldUnit)
    case flag
    case word(Vocabulary)
    case list(FieldType)
    case object(any FieldObject.Type)

    var unit: FieldUnit { if case .number(let unit) = self { unit } else { .none } }
    /// Of a list; others are their own.
    package var element: FieldType { if case .list(let element) = self { element } else { self } }
}

/// A key of an object, and how its value is read. nil: it has none.
package struct FieldKey<Root>: Sendable {
    package let name: String
    package let type: FieldType
    package let read: @Sendable (Root) -> FieldValue?

    init(_ name: String, _ type: FieldType, _ read: @escaping @Sendable (Root) -> FieldValue?) {
        (self.name, self.type, self.read) = (name, type, read)
    }

    /// The same key of an object that contains this one.
    func of<Outer>(_ inner: @escaping @Sendable (Outer) -> Root?) -> FieldKey<Outer> {
        let read = self.read
        return FieldKey<Outer>(self.name, self.type) { inner($0).flatMap(read) }
    }
}

extension FieldKey {
    static func text(_ name: String, _ read: @escaping @Sendable (Root) -> String?) -> FieldKey {
        FieldKey(name, .text) { read($0).map(FieldValue.text) }
    }

    static func number(
        _ name: String, _ unit: FieldUnit = .none,
        _ read: @escaping @Sendable (Root) -> (some BinaryInteger & SendableMetatype)?
    ) -> FieldKey {
        // Clamped as in the lines of Docs/cluster-json.md.
        FieldKey(name, .number(unit)) { read($0).map { .number(Double(Int64(clamping: $0))) } }
    }

    static func flag(_ name: String, _ read: @escaping @Sendable (Root) -> Bool?) -> FieldKey {
        FieldKey(name, .flag) { read($0).map(FieldValue.flag) }
    }

    /// Of an enumeration of the wire.
    static func word<Value: WireEnumeration>(
        _ name: String, _ read: @escaping @Sendable (Root) -> Value?
    ) -> FieldKey {
        let vocabulary = Vocabulary(of: Value.self)
        return FieldKey(name, .word(vocabulary)) { read($0).map { .word($0.rawValue, vocabulary) } }
    }

    /// Of a closed enumeration.
    static func choice<Value: CaseIterable & RawRepresentable & Sendable>(
        _ name: String, _ read: @escaping @Sendable (Root) -> Value?
    ) -> FieldKey where Value.RawValue == UInt32 {
        let vocabulary = Vocabulary(of: Value.self)
        return FieldKey(name, .word(vocabulary)) { read($0).map { .word($0.rawValue, vocabulary) } }
    }

    /// One of some texts.
    static func name(
        _ name: String, of names: [String], _ read: @escaping @Sendable (Root) -> String?
    ) -> FieldKey {
        FieldKey(name, .word(Vocabulary(names))) { read($0).map(FieldValue.text) }
    }

    static func texts(_ name: String, _ read: @escaping @Sendable (Root) -> [String]?) -> FieldKey {
        FieldKey(name, .list(.text)) { read($0).map { .list(FieldElements(elements: $0) { .text($0) }) } }
    }

    static func numbers<Number: BinaryInteger & Sendable>(
        _ name: String, _ unit: FieldUnit = .none, _ read: @escaping @Sendable (Root) -> [Number]?
    ) -> FieldKey {
        FieldKey(name, .list(.number(unit))) {
            read($0).map { .list(FieldElements(elements: $0) { .number(Double($0)) }) }
        }
    }

    /// A number for each element; equality is that of the elements.
    static func numbers<Element: Sendable & Equatable>(
        _ name: String, _ unit: FieldUnit = .none, _ number: @escaping @Sendable (Element) -> Double,
        _ read: @escaping @Sendable (Root) -> [Element]?
    ) -> FieldKey {
        FieldKey(name, .list(.number(unit))) {
            read($0).map { .list(FieldElements(elements: $0) { .number(number($0)) }) }
        }
    }

    static func object<Value: FieldObject>(
        _ name: String, _ read: @escaping @Sendable (Root) -> Value?
    ) -> FieldKey {
        FieldKey(name, .object(Value.self)) { read($0).map { .object($0) } }
    }

    static func objects<Value: FieldObject>(
        _ name: String, _ read: @escaping @Sendable (Root) -> [Value]?
    ) -> FieldKey {
        FieldKey(name, .list(.object(Value.self))) {
            read($0).map { .list(FieldElements(elements: $0) { .object($0) }) }
        }
    }

    /// `[latitude, longitude]`, and the altitude where it is known; degrees and metres.
    static func place(_ name: String, _ read: @escaping @Sendable (Root) -> Coordinate?) -> FieldKey {
        FieldKey(name, .list(.number(.none))) { read($0).map(Self.place) }
    }

    static func places(_ name: String, _ read: @escaping @Sendable (Root) -> [Coordinate]?) -> FieldKey {
        FieldKey(name, .list(.list(.number(.none)))) {
            read($0).map { .list(FieldElements(elements: $0, value: Self.place)) }
        }
    }

    @Sendable private static func place(_ place: Coordinate) -> FieldValue {
        let numbers = [place.latitude, place.longitude] + (place.altitude.map { [$0] } ?? [])
        return .list(FieldElements(elements: numbers) { .number($0) })
    }
}

extension FieldObject {
    package static var keys: [String] { self.fields.map(\.name) }

    static func index(of key: String) -> Int? { self.fields.firstIndex { $0.name == key } }

    package static func type(at index: Int) -> FieldType { self.fields[index].type }

    package func value(at index: Int) -> FieldValue? { Self.fields[index].read(self) }

    package func isEqual(to other: any FieldObject) -> Bool { (other as? Self) == self }

    /// The id, or the first field that has a value.
    var text: String {
        for field in Self.fields {
            guard let value = field.read(self), !value.isEmpty else { continue }
            return "{\(field.name) \(value.text(field.type))…}"
        }
        return "{}"
    }
}
