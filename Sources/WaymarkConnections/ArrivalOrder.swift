/// Keys in the order in which they were appended. Every operation is O(1).
///
/// Inlinable, as all generic code here that other modules use for each connection: otherwise types are looked up at run time.
@usableFromInline package struct ArrivalOrder<Key: Hashable & Sendable>: Sendable, Hashable {
    @usableFromInline package struct Links: Sendable, Hashable {
        @usableFromInline package var previous: Key?
        @usableFromInline package var next: Key?

        @inlinable package init(previous: Key?) { self.previous = previous }
    }

    @usableFromInline package var links: [Key: Links] = [:]
    @usableFromInline package var first: Key?
    @usableFromInline package var last: Key?

    @inlinable package init() {}

    @inlinable package var count: Int { self.links.count }
    @inlinable package func contains(_ key: Key) -> Bool { self.links[key] != nil }

    /// Puts a key at the end, also one that is in the list.
    @inlinable
    package mutating func append(_ key: Key) {
        self.remove(key)
        self.links[key] = Links(previous: self.last)
        if let last { self.links[last]?.next = key }
        self.last = key
        self.first = self.first ?? key
    }

    /// Removes a key.
    ///
    /// - Returns: Whether it was in the list.
    @inlinable @discardableResult
    package mutating func remove(_ key: Key) -> Bool {
        guard let link = self.links.removeValue(forKey: key) else { return false }
        if let previous = link.previous {
            self.links[previous]?.next = link.next
        } else {
            self.first = link.next
        }
        if let next = link.next {
            self.links[next]?.previous = link.previous
        } else {
            self.last = link.previous
        }
        // Gives the memory of a peak back.
        if self.links.isEmpty { self.links = [:] }
        return true
    }

    /// All keys, in order. O(n).
    @inlinable package var keys: [Key] {
        var keys: [Key] = []
        var key = self.first
        while let current = key {
            keys.append(current)
            key = self.links[current]?.next
        }
        return keys
    }
}
