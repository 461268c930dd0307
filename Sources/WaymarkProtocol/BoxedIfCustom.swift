/// A type with a default that most values keep.
@usableFromInline package protocol Defaultable: Sendable, Hashable, Codable { init() }

/// Stores a value inline, in one word, while it equals the default; otherwise in a heap box that copies share.
///
/// For properties that every endpoint has and few endpoints change. Coded as the value itself.
@propertyWrapper
@usableFromInline package struct BoxedIfCustom<Value: Defaultable>: Sendable, Hashable {
    @usableFromInline package indirect enum Kept: Sendable, Hashable { case standard, custom(Value) }

    @usableFromInline package var kept: Kept

    @inlinable package init(wrappedValue: Value) {
        self.kept = wrappedValue == Value() ? .standard : .custom(wrappedValue)
    }

    @inlinable package var wrappedValue: Value {
        get {
            switch self.kept {
            case .standard: Value()
            case .custom(let value): value
            }
        }
        set { self = BoxedIfCustom(wrappedValue: newValue) }
    }
}

extension BoxedIfCustom: Codable {
    @usableFromInline package func encode(to encoder: any Encoder) throws {
        try self.wrappedValue.encode(to: encoder)
    }

    @usableFromInline package init(from decoder: any Decoder) throws {
        self.init(wrappedValue: try Value(from: decoder))
    }
}
