/// A key of ``SlotMap``. The generation makes the key of a removed value miss, also when its slot is used again.
struct SlotKey: Sendable, Hashable, Codable {
    fileprivate let index: UInt32
    fileprivate let generation: UInt32
}

/// A slot map: the map assigns the keys, and looks a value up by its index. O(1). Slots of removed values are used again.
///
/// Why not a dictionary: it hashes the key to find, to insert (twice) and to remove, which is most of the work for values that
/// come and go all the time.
struct SlotMap<Value> {
    fileprivate struct Slot {
        /// How often the slot was filled and emptied; wraps around.
        var generation: UInt32 = 0
        var value: Value?
    }

    private var slots: [Slot] = []
    /// Indices of empty slots; the last is used first.
    private var free: [UInt32] = []
    /// The keys that were touched since this was last emptied; nil while nothing is noted, see ``Tracked``.
    var changed: Set<SlotKey>?

    init() {}

    var count: Int { self.slots.count - self.free.count }

    /// The key that the next value gets.
    var nextKey: SlotKey {
        guard let index = self.free.last else {
            return SlotKey(index: UInt32(self.slots.count), generation: 1)
        }
        return SlotKey(index: index, generation: self.slots[Int(index)].generation &+ 1)
    }

    /// Adds a value and returns its key.
    @discardableResult
    mutating func insert(_ value: consuming Value) -> SlotKey {
        let key = self.nextKey
        self.changed?.insert(key)
        if self.free.popLast() == nil {
            self.slots.append(Slot(generation: key.generation, value: value))
        } else {
            self.slots[Int(key.index)] = Slot(generation: key.generation, value: value)
        }
        return key
    }

    /// The value of a key; nil if it was removed.
    subscript(key: SlotKey) -> Value? { self.has(key) ? self.slots[Int(key.index)].value : nil }

    /// Reads a value without copying it; nil if it was removed.
    @inline(__always)
    func withValue<Result>(at key: SlotKey, _ body: (Value) -> Result) -> Result? {
        self.has(key) ? self.slots[Int(key.index)].value.map(body) : nil
    }

    /// Changes a value unless it was removed.
    mutating func change(_ key: SlotKey, _ change: (inout Value) -> Void) {
        guard self.has(key), var value = self.slots[Int(key.index)].value else { return }
        self.changed?.insert(key)
        change(&value)
        self.slots[Int(key.index)].value = value
    }

    /// Removes a value and returns it; nil if it was removed before.
    @discardableResult
    mutating func remove(_ key: SlotKey) -> Value? {
        guard self.has(key) else { return nil }
        self.changed?.insert(key)
        self.free.append(key.index)
        self.slots[Int(key.index)].generation &+= 1
        return self.slots[Int(key.index)].value.take()
    }

    /// Whether the value of a key is still there.
    func has(_ key: SlotKey) -> Bool {
        key.index < self.slots.count && self.slots[Int(key.index)].generation == key.generation
    }
}

/// In the order of the indices.
extension SlotMap: Sequence {
    func makeIterator() -> AnyIterator<(key: SlotKey, value: Value)> {
        var rest = self.slots.enumerated().makeIterator()
        return AnyIterator {
            while let (index, slot) = rest.next() {
                guard let value = slot.value else { continue }
                return (SlotKey(index: UInt32(index), generation: slot.generation), value)
            }
            return nil
        }
    }
}

extension SlotMap.Slot: Sendable where Value: Sendable {}
extension SlotMap: Sendable where Value: Sendable {}

// Equality ignores empty slots.
extension SlotMap: Equatable where Value: Equatable {
    static func == (lhs: SlotMap, rhs: SlotMap) -> Bool {
        lhs.count == rhs.count && lhs.allSatisfy { rhs[$0.key] == $0.value }
    }
}

extension SlotMap: Hashable where Value: Hashable {
    func hash(into hasher: inout Hasher) {
        for (key, value) in self {
            hasher.combine(key)
            hasher.combine(value)
        }
    }
}

extension SlotMap.Slot: Codable where Value: Codable {}
extension SlotMap: Codable where Value: Codable {
    func encode(to encoder: any Encoder) throws { try self.slots.encode(to: encoder) }

    init(from decoder: any Decoder) throws {
        self.slots = try [Slot](from: decoder)
        self.free = self.slots.indices.filter { self.slots[$0].value == nil }.map { UInt32($0) }
    }
}

extension SlotMap {
    /// The same keys with other values.
    func mapValues<Other>(_ transform: (Value) throws -> Other) rethrows -> SlotMap<Other> {
        var other = SlotMap<Other>()
        other.slots = try self.slots.map {
            SlotMap<Other>.Slot(generation: $0.generation, value: try $0.value.map(transform))
        }
        other.free = self.free
        return other
    }
}
