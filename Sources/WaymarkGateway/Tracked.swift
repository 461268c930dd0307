/// A dictionary that notes which keys may have another value than before, while an observer needs to know.
///
/// Every way to change a value passes here, so no change can be forgotten. While nothing is noted, that costs one test for each such
/// access.
struct Tracked<Key: Sendable & Hashable, Value: Sendable>: Sendable {
    typealias Index = Dictionary<Key, Value>.Index

    private(set) var elements: [Key: Value]
    /// The keys that were touched since this was last emptied; nil while nothing is noted.
    var changed: Set<Key>?

    /// Changes are noted.
    @inline(__always)
    var isTracked: Bool { self.changed != nil }

    init(_ elements: [Key: Value] = [:]) { self.elements = elements }

    var isEmpty: Bool { self.elements.isEmpty }
    @inline(__always)
    var count: Int { self.elements.count }
    @inline(__always)
    var keys: Dictionary<Key, Value>.Keys { self.elements.keys }
    @inline(__always)
    var values: Dictionary<Key, Value>.Values { self.elements.values }

    @inline(__always)
    subscript(key: Key) -> Value? {
        get { self.elements[key] }
        _modify {
            self.changed?.insert(key)
            yield &self.elements[key]
        }
    }

    @inline(__always)
    subscript(key: Key, default value: @autoclosure () -> Value) -> Value {
        get { self.elements[key, default: value()] }
        _modify {
            self.changed?.insert(key)
            yield &self.elements[key, default: value()]
        }
    }

    /// The value at an index of ``index(forKey:)``.
    @inline(__always)
    subscript(at index: Index) -> Value {
        get { self.elements.values[index] }
        _modify {
            if self.changed != nil { self.changed?.insert(self.elements.keys[index]) }
            yield &self.elements.values[index]
        }
    }

    /// The value at an index. That it was touched is noted only by ``note(_:)``.
    @inline(__always)
    subscript(unnotedAt index: Index) -> Value {
        get { self.elements.values[index] }
        _modify { yield &self.elements.values[index] }
    }

    /// The value at an index may have another value than before.
    mutating func note(_ index: Index) { self.changed?.insert(self.elements.keys[index]) }

    @inline(__always)
    func index(forKey key: Key) -> Index? { self.elements.index(forKey: key) }

    /// Changes a value in place, and notes it; see ``Swift/Dictionary/withValue(at:_:)``. What only reads uses ``readValue(at:_:)``.
    @inline(__always)
    mutating func withValue<Result>(at index: Index, _ body: (inout Value) -> Result) -> Result {
        body(&self[at: index])
    }

    /// Reads a value in place. Nothing is noted.
    @inline(__always)
    mutating func readValue<Result>(at index: Index, _ body: (Value) -> Result) -> Result {
        self.elements.withValue(at: index) { body($0) }
    }

    @inline(__always)
    @discardableResult
    mutating func removeValue(forKey key: Key) -> Value? {
        self.changed?.insert(key)
        return self.elements.removeValue(forKey: key)
    }
}

extension Tracked: ExpressibleByDictionaryLiteral {
    init(dictionaryLiteral elements: (Key, Value)...) {
        self.init(Dictionary(uniqueKeysWithValues: elements))
    }
}

extension Tracked: Sequence {
    func makeIterator() -> Dictionary<Key, Value>.Iterator { self.elements.makeIterator() }
}

// Equality ignores the notes of changes.
extension Tracked: Equatable where Value: Equatable {
    static func == (lhs: Tracked, rhs: Tracked) -> Bool { lhs.elements == rhs.elements }
}

extension Tracked: Hashable where Value: Hashable {
    func hash(into hasher: inout Hasher) { hasher.combine(self.elements) }
}
