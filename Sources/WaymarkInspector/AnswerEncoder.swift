package import Foundation
package import WaymarkTexts

/// A value that is JSON already: the model's parts of an answer, or lines of a recording. Strings, numbers, booleans, nulls, arrays and
/// objects only.
package struct JSONPart: Encodable {
    package let value: Any

    package init(_ value: Any) { self.value = value }

    /// Works in answers alone.
    package func encode(to encoder: any Encoder) throws {
        guard let encoder = encoder as? AnswerEncoder else {
            throw EncodingError.invalidValue(
                self, .init(codingPath: encoder.codingPath, debugDescription: "an answer is not encoded here")
            )
        }
        if let members = self.value as? [String: Any] {
            encoder.add(members)
        } else {
            encoder.plain = self.value
        }
    }
}

/// Two objects as one. The second one's members count where both have one of a name.
package struct Joined<First: Encodable, Second: Encodable>: Encodable {
    package var first: First
    package var second: Second

    package init(_ first: First, _ second: Second) { (self.first, self.second) = (first, second) }

    package func encode(to encoder: any Encoder) throws {
        try self.first.encode(to: encoder)
        try self.second.encode(to: encoder)
    }
}

extension JSON {
    /// The members of an object.
    package static func members(of answer: some Encodable) -> [String: Any] {
        let encoder = AnswerEncoder()
        do { try answer.encode(to: encoder) } catch { preconditionFailure("answers are plain: \(error)") }
        return encoder.members
    }

    /// An object as bytes.
    package static func data(of answer: some Encodable) -> Data { self.data(self.members(of: answer)) }
}

/// Encodes an answer as the dictionaries and arrays that ``JSON`` writes, so that parts that are JSON already pass unchanged.
///
/// It knows `Bool`, `Int`, `Double` and `String`, and what consists of them.
private final class AnswerEncoder: Encoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    fileprivate var members: [String: Any] = [:]
    /// The values of an array; nil if it is none.
    fileprivate var elements: [Any]?
    /// A value that is neither an object nor an array; nil for these.
    fileprivate var plain: Any?

    static func value<Value: Encodable>(_ value: Value) throws -> Any {
        // Lines have many points, and are plain already.
        if Value.self == [[Double]].self { return value }
        let encoder = AnswerEncoder()
        try value.encode(to: encoder)
        return encoder.plain ?? encoder.elements ?? encoder.members
    }

    func add(_ members: [String: Any]) {
        if self.members.isEmpty { self.members = members } else { self.members.merge(members) { $1 } }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Members<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        self.elements = []
        return Elements(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { Single(encoder: self) }
}

private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: AnswerEncoder
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { self.encoder.members[key.stringValue] = NSNull() }
    func encode(_ value: Bool, forKey key: Key) { self.encoder.members[key.stringValue] = value }
    func encode(_ value: Int, forKey key: Key) { self.encoder.members[key.stringValue] = value }
    func encode(_ value: Double, forKey key: Key) { self.encoder.members[key.stringValue] = value }
    func encode(_ value: String, forKey key: Key) { self.encoder.members[key.stringValue] = value }
    func encode(_ value: some Encodable, forKey key: Key) throws {
        self.encoder.members[key.stringValue] = try AnswerEncoder.value(value)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { unusedContainer() }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { unusedContainer() }
    func superEncoder() -> any Encoder { unusedContainer() }
    func superEncoder(forKey key: Key) -> any Encoder { unusedContainer() }
}

private struct Elements: UnkeyedEncodingContainer {
    let encoder: AnswerEncoder
    var codingPath: [any CodingKey] { [] }
    var count: Int { self.encoder.elements?.count ?? 0 }

    func encodeNil() { self.encoder.elements?.append(NSNull()) }
    func encode(_ value: Bool) { self.encoder.elements?.append(value) }
    func encode(_ value: Int) { self.encoder.elements?.append(value) }
    func encode(_ value: Double) { self.encoder.elements?.append(value) }
    func encode(_ value: String) { self.encoder.elements?.append(value) }
    func encode(_ value: some Encodable) throws {
        self.encoder.elements?.append(try AnswerEncoder.value(value))
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        unusedContainer()
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { unusedContainer() }
    func superEncoder() -> any Encoder { unusedContainer() }
}

private struct Single: SingleValueEncodingContainer {
    let encoder: AnswerEncoder
    var codingPath: [any CodingKey] { [] }

    func encodeNil() { self.encoder.plain = NSNull() }
    func encode(_ value: Bool) { self.encoder.plain = value }
    func encode(_ value: Int) { self.encoder.plain = value }
    func encode(_ value: Double) { self.encoder.plain = value }
    func encode(_ value: String) { self.encoder.plain = value }
    func encode(_ value: some Encodable) throws { try value.encode(to: self.encoder) }
}

/// Stands for containers in containers, which only coding that is written by hand asks for.
private func unusedContainer() -> Never { preconditionFailure("an answer's members are encoded one by one") }
