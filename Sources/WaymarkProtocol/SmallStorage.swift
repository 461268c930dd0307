// Property wrappers for values that every connection has: they take less memory than what they stand for.

/// Stores a number that always fits into 32 bits, such as an index or a number of bytes in memory, in four bytes. Coded as the number.
@propertyWrapper
@usableFromInline package struct Narrow: Sendable, Hashable {
    @usableFromInline var kept: Int32

    @inlinable package init(wrappedValue: Int) { self.kept = Int32(wrappedValue) }

    @inlinable package var wrappedValue: Int {
        get { Int(self.kept) }
        set { self.kept = Int32(newValue) }
    }
}

extension Narrow: Codable {
    @usableFromInline package func encode(to encoder: any Encoder) throws {
        try self.wrappedValue.encode(to: encoder)
    }

    @usableFromInline package init(from decoder: any Decoder) throws {
        self.kept = try Int32(from: decoder)
    }
}

/// Stores an optional value in one word, and the value itself, while there is one, in a heap box that copies share. Coded as the optional
/// value.
///
/// For large values that few connections have at a time.
@propertyWrapper
@usableFromInline package struct Boxed<Value: Sendable & Hashable & Codable>: Sendable, Hashable {
    @usableFromInline indirect enum Kept: Sendable, Hashable { case nothing, value(Value) }

    @usableFromInline var kept: Kept

    @inlinable package init(wrappedValue: Value?) { self.kept = wrappedValue.map { .value($0) } ?? .nothing }

    @inlinable package var wrappedValue: Value? {
        get {
            switch self.kept {
            case .nothing: nil
            case .value(let value): value
            }
        }
        set { self = Boxed(wrappedValue: newValue) }
    }
}

extension Boxed: Codable {
    @usableFromInline package func encode(to encoder: any Encoder) throws {
        try self.wrappedValue.encode(to: encoder)
    }

    @usableFromInline package init(from decoder: any Decoder) throws {
        self.init(wrappedValue: try Value?(from: decoder))
    }
}

// What is synthesized for the members of a type calls these, so that the key of nothing is left out, as that of an optional value.
extension KeyedEncodingContainer {
    package mutating func encode<Value>(_ value: Boxed<Value>, forKey key: Key) throws {
        try self.encodeIfPresent(value.wrappedValue, forKey: key)
    }
}

extension KeyedDecodingContainer {
    package func decode<Value>(_ type: Boxed<Value>.Type, forKey key: Key) throws -> Boxed<Value> {
        Boxed(wrappedValue: try self.decodeIfPresent(Value.self, forKey: key))
    }
}

/// Stores a value outside of its owner from its first change on, and changes it there in place; before, it is the default and takes one word.
///
/// It is for collections that every vehicle can have and few have. Coded as the value itself.
@propertyWrapper
@usableFromInline package struct BoxedInPlace<Value: Defaultable>: Sendable {
    /// The value; empty while it is the default. Why an array: its only element can be changed where it is.
    @usableFromInline var kept: [Value]

    @inlinable package init(wrappedValue: Value) { self.kept = wrappedValue == Value() ? [] : [wrappedValue] }

    @inlinable package var wrappedValue: Value {
        get { self.kept.first ?? Value() }
        _modify {
            if self.kept.isEmpty { self.kept.append(Value()) }
            yield &self.kept[0]
        }
    }
}

extension BoxedInPlace: Hashable {
    @usableFromInline package static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.wrappedValue == rhs.wrappedValue
    }

    @usableFromInline package func hash(into hasher: inout Hasher) { self.wrappedValue.hash(into: &hasher) }
}

extension BoxedInPlace: Codable {
    @usableFromInline package func encode(to encoder: any Encoder) throws {
        try self.wrappedValue.encode(to: encoder)
    }

    @usableFromInline package init(from decoder: any Decoder) throws {
        self.init(wrappedValue: try Value(from: decoder))
    }
}
