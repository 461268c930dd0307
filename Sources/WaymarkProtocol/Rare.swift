/// What begins with a value that most never change.
package protocol HasUsualValue: Sendable, Hashable, Codable { init() }

/// A value that takes a word while it is the usual one, else a place on the heap that its copies share.
///
/// For what every endpoint has and few endpoints use. Coded as the value itself.
@propertyWrapper
package struct Rare<Value: HasUsualValue>: Sendable, Hashable {
    @usableFromInline package indirect enum Kept: Sendable, Hashable { case usual, other(Value) }

    @usableFromInline package var kept: Kept

    @inlinable package init(wrappedValue: Value) {
        self.kept = wrappedValue == Value() ? .usual : .other(wrappedValue)
    }

    @inlinable package var wrappedValue: Value {
        get {
            switch self.kept {
            case .usual: Value()
            case .other(let value): value
            }
        }
        set { self = Rare(wrappedValue: newValue) }
    }
}

extension Rare: Codable {
    package func encode(to encoder: any Encoder) throws { try self.wrappedValue.encode(to: encoder) }

    package init(from decoder: any Decoder) throws { self.init(wrappedValue: try Value(from: decoder)) }
}
