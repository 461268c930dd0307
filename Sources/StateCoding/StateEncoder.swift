/// Writes values in the order in which they are encoded. A container must be filled before the next one is requested.
final class StateEncoder: Encoder {
    var bytes: [UInt8] = []
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private var names: [String: UInt64] = [:]
    /// Whether the current value has members or elements.
    private var isOpen = false

    func write<Value: Encodable>(_ value: Value) throws {
        if Value.self == [UInt8].self, let array = value as? [UInt8] { return self.write(array) }
        let outer = self.isOpen
        self.isOpen = false
        try value.encode(to: self)
        if self.isOpen { self.bytes.append(stateEnd) }
        self.isOpen = outer
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        self.isOpen = true
        return KeyedEncodingContainer(StateMembers<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        self.isOpen = true
        return StateElements(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { StateValue(encoder: self) }

    // MARK: Primitives

    func begin(_ key: some CodingKey) {
        if let number = self.names[key.stringValue] { return self.write(varint: number) }
        let number = UInt64(self.names.count + 1)
        self.names[key.stringValue] = number
        self.write(varint: number)
        self.write(text: key.stringValue)
    }

    func mark(_ mark: StateMark) { self.bytes.append(mark.rawValue) }

    func write(varint number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            self.bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        self.bytes.append(UInt8(rest))
    }

    func write(text: String) {
        self.write(varint: UInt64(text.utf8.count))
        self.bytes.append(contentsOf: text.utf8)
    }

    private func write(_ array: [UInt8]) {
        self.mark(.bytes)
        self.write(varint: UInt64(array.count))
        self.bytes.append(contentsOf: array)
    }
}

private struct StateMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: StateEncoder
    var codingPath: [any CodingKey] { [] }

    // This generic function implements all of the protocol's requirements that encode a value.
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        self.encoder.begin(key)
        try self.encoder.write(value)
    }

    func encodeNil(forKey key: Key) {
        self.encoder.begin(key)
        self.encoder.mark(.none)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        self.encoder.begin(key)
        return KeyedEncodingContainer(StateMembers<Nested>(encoder: self.encoder))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        self.encoder.begin(key)
        return StateElements(encoder: self.encoder)
    }

    func superEncoder() -> any Encoder { self.encoder }
    func superEncoder(forKey key: Key) -> any Encoder { self.encoder }
}

private struct StateElements: UnkeyedEncodingContainer {
    let encoder: StateEncoder
    var codingPath: [any CodingKey] { [] }
    private(set) var count = 0

    init(encoder: StateEncoder) { self.encoder = encoder }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        self.begin()
        try self.encoder.write(value)
    }

    mutating func encodeNil() {
        self.begin()
        self.encoder.mark(.none)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        self.begin()
        return KeyedEncodingContainer(StateMembers<Nested>(encoder: self.encoder))
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        self.begin()
        return StateElements(encoder: self.encoder)
    }

    func superEncoder() -> any Encoder { self.encoder }

    private mutating func begin() {
        self.encoder.bytes.append(stateElement)
        self.count += 1
    }
}

private struct StateValue: SingleValueEncodingContainer {
    let encoder: StateEncoder
    var codingPath: [any CodingKey] { [] }

    func encodeNil() { self.encoder.mark(.none) }
    func encode(_ value: Bool) { self.encoder.mark(value ? .yes : .no) }
    func encode(_ value: String) {
        self.encoder.mark(.text)
        self.encoder.write(text: value)
    }
    func encode(_ value: Double) {
        self.encoder.mark(.float)
        self.encoder.write(varint: value.bitPattern)
    }
    func encode(_ value: Float) { self.encode(Double(value)) }
    func encode(_ value: Int) { self.write(Int64(value)) }
    func encode(_ value: Int8) { self.write(Int64(value)) }
    func encode(_ value: Int16) { self.write(Int64(value)) }
    func encode(_ value: Int32) { self.write(Int64(value)) }
    func encode(_ value: Int64) { self.write(value) }
    func encode(_ value: UInt) { self.write(UInt64(value)) }
    func encode(_ value: UInt8) { self.write(UInt64(value)) }
    func encode(_ value: UInt16) { self.write(UInt64(value)) }
    func encode(_ value: UInt32) { self.write(UInt64(value)) }
    func encode(_ value: UInt64) { self.write(value) }
    func encode(_ value: some Encodable) throws { try self.encoder.write(value) }

    private func write(_ number: UInt64) {
        self.encoder.mark(.unsigned)
        self.encoder.write(varint: number)
    }

    /// Zigzag encoding, so that small numbers of either sign are short.
    private func write(_ number: Int64) {
        self.encoder.mark(.signed)
        self.encoder.write(varint: UInt64(bitPattern: number << 1 ^ number >> 63))
    }
}
