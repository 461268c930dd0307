/// Decodes the output of ``StateEncoder``, and throws for anything else.
final class StateDecoder: Decoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private let bytes: [UInt8]
    private var offset: Int
    /// The names of members, in the order of their first use.
    private var names: [String] = []
    /// The name of the next member, if it was read ahead.
    private var name: String?
    /// Whether the current value has members or elements.
    private var isOpen = false

    init(_ bytes: [UInt8], from offset: Int) {
        self.bytes = bytes
        self.offset = offset
    }

    var isAtEnd: Bool { self.offset == self.bytes.count }

    func read<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if Value.self == [UInt8].self, let array = try self.readBytes() as? Value { return array }
        let outer = self.isOpen
        self.isOpen = false
        let value = try Value(from: self)
        if self.isOpen {
            guard self.name == nil, try self.readByte() == stateEnd else {
                throw StateError.otherShape("\(type) has unknown members or elements")
            }
        }
        self.isOpen = outer
        return value
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        self.isOpen = true
        return KeyedDecodingContainer(StateMembers<Key>(decoder: self))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer {
        self.isOpen = true
        return StateElements(decoder: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { StateValue(decoder: self) }

    // MARK: Primitives

    /// The name of the next member; nil after the last one.
    func nextName() throws -> String? {
        if self.name == nil, try self.peekByte() != stateEnd { self.name = try self.readName() }
        return self.name
    }

    /// Reads the name of the next member, which must be `key`.
    func begin(_ key: some CodingKey) throws {
        guard try self.nextName() == key.stringValue else {
            throw StateError.otherShape("\(key.stringValue) is missing")
        }
        self.name = nil
    }

    private func readName() throws -> String {
        let number = try self.readVarint()
        if number >= 1, number <= UInt64(self.names.count) { return self.names[Int(number - 1)] }
        guard number == UInt64(self.names.count + 1) else {
            throw StateError.otherShape("an unknown name number")
        }
        let name = try self.readText()
        self.names.append(name)
        return name
    }

    func peekByte() throws -> UInt8 {
        guard self.offset < self.bytes.count else { throw StateError.wrongLength }
        return self.bytes[self.offset]
    }

    /// Whether the next element is nil.
    func isNilElement() -> Bool {
        self.bytes[self.offset...].starts(with: [stateElement, StateMark.none.rawValue])
    }

    func readByte() throws -> UInt8 {
        let byte = try self.peekByte()
        self.offset += 1
        return byte
    }

    func expect(_ mark: StateMark) throws {
        guard try self.readByte() == mark.rawValue else {
            throw StateError.otherShape("expected \(mark)")
        }
    }

    func readVarint() throws -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            let byte = try self.readByte()
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
        }
        throw StateError.otherShape("a number of more than 64 bits")
    }

    func readText() throws -> String {
        guard let text = String(validating: try self.readRun(), as: UTF8.self) else {
            throw StateError.otherShape("a text that is not UTF-8")
        }
        return text
    }

    private func readBytes() throws -> [UInt8] {
        try self.expect(.bytes)
        return Array(try self.readRun())
    }

    private func readRun() throws -> ArraySlice<UInt8> {
        let count = try self.readVarint()
        guard count <= UInt64(self.bytes.count - self.offset) else { throw StateError.wrongLength }
        defer { self.offset += Int(count) }
        return self.bytes[self.offset..<(self.offset + Int(count))]
    }
}

private struct StateMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: StateDecoder
    var codingPath: [any CodingKey] { [] }

    /// The next member. An enum is encoded as one member, named after its case.
    var allKeys: [Key] {
        do { return try self.decoder.nextName().flatMap { Key(stringValue: $0) }.map { [$0] } ?? [] } catch {
            return []  // The enum's decoder throws because it finds no case.
        }
    }

    func contains(_ key: Key) -> Bool {
        do { return try self.decoder.nextName() == key.stringValue } catch { return false }
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        try self.decoder.nextName() == key.stringValue && self.decoder.peekByte() == StateMark.none.rawValue
    }

    // This generic function implements all of the protocol's requirements that decode a value.
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try self.decoder.begin(key)
        return try self.decoder.read(type)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard try self.decoder.nextName() == key.stringValue else { return nil }
        return try self.decode(type, forKey: key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try self.decoder.begin(key)
        return KeyedDecodingContainer(StateMembers<Nested>(decoder: self.decoder))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try self.decoder.begin(key)
        return StateElements(decoder: self.decoder)
    }

    func superDecoder() -> any Decoder { self.decoder }
    func superDecoder(forKey key: Key) -> any Decoder { self.decoder }
}

private struct StateElements: UnkeyedDecodingContainer {
    let decoder: StateDecoder
    var codingPath: [any CodingKey] { [] }
    var count: Int? { nil }
    private(set) var currentIndex = 0

    init(decoder: StateDecoder) { self.decoder = decoder }

    var isAtEnd: Bool {
        // If the bytes end here, the check for the end byte throws.
        do { return try self.decoder.peekByte() == stateEnd } catch { return true }
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try self.begin()
        return try self.decoder.read(type)
    }

    mutating func decodeNil() throws -> Bool {
        guard self.decoder.isNilElement() else { return false }
        try self.begin()
        try self.decoder.expect(.none)
        return true
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try self.begin()
        return KeyedDecodingContainer(StateMembers<Nested>(decoder: self.decoder))
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try self.begin()
        return StateElements(decoder: self.decoder)
    }

    func superDecoder() -> any Decoder { self.decoder }

    private mutating func begin() throws {
        guard try self.decoder.readByte() == stateElement else {
            throw StateError.otherShape("too few elements")
        }
        self.currentIndex += 1
    }
}

private struct StateValue: SingleValueDecodingContainer {
    let decoder: StateDecoder
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool {
        do {
            guard try self.decoder.peekByte() == StateMark.none.rawValue else { return false }
            try self.decoder.expect(.none)
            return true
        } catch {
            return false  // Decoding the value throws the reason.
        }
    }

    func decode(_ type: Bool.Type) throws -> Bool {
        switch StateMark(rawValue: try self.decoder.readByte()) {
        case .yes: true
        case .no: false
        case .none?, .unsigned, .signed, .float, .text, .bytes, nil:
            throw StateError.otherShape("expected yes or no")
        }
    }

    func decode(_ type: String.Type) throws -> String {
        try self.decoder.expect(.text)
        return try self.decoder.readText()
    }

    func decode(_ type: Double.Type) throws -> Double {
        try self.decoder.expect(.float)
        return Double(bitPattern: try self.decoder.readVarint())
    }

    func decode(_ type: Float.Type) throws -> Float { Float(try self.decode(Double.self)) }
    func decode(_ type: Int.Type) throws -> Int { try self.signed() }
    func decode(_ type: Int8.Type) throws -> Int8 { try self.signed() }
    func decode(_ type: Int16.Type) throws -> Int16 { try self.signed() }
    func decode(_ type: Int32.Type) throws -> Int32 { try self.signed() }
    func decode(_ type: Int64.Type) throws -> Int64 { try self.signed() }
    func decode(_ type: UInt.Type) throws -> UInt { try self.unsigned() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try self.unsigned() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try self.unsigned() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try self.unsigned() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try self.unsigned() }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try self.decoder.read(type) }

    private func unsigned<Number: FixedWidthInteger>() throws -> Number {
        try self.decoder.expect(.unsigned)
        return try Self.fit(try self.decoder.readVarint())
    }

    private func signed<Number: FixedWidthInteger>() throws -> Number {
        try self.decoder.expect(.signed)
        let bits = try self.decoder.readVarint()
        return try Self.fit(Int64(bitPattern: bits >> 1) ^ -Int64(bitPattern: bits & 1))
    }

    private static func fit<Number: FixedWidthInteger>(_ number: some BinaryInteger) throws -> Number {
        guard let fitted = Number(exactly: number) else {
            throw StateError.otherShape("\(number) where \(Number.self) is expected")
        }
        return fitted
    }
}
