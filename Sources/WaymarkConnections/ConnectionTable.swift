package import WaymarkProtocol

/// A value for each connection: a hash table with open addressing, linear probing and backward-shift deletion.
///
/// Why not a dictionary: its look-up takes ten times as long, because its hash withstands chosen keys. Connection ids are assigned by
/// the gateway, so this hash needs no seed.
package struct ConnectionTable<Value> {
    private typealias Entry = (id: ConnectionID, value: Value)

    /// A power of two, at least a quarter of them free, and after a peak no more than eight times as many as there are entries. An entry is at
    /// its ``home(of:)`` or behind it, without a free place in between. After the last place comes the first.
    private var entries: [Entry?] = []
    package private(set) var count = 0
    /// The number of entries that there is memory for.
    package var capacity: Int { self.entries.count }

    package init() {}

    package var isEmpty: Bool { self.count == 0 }
    /// In no order.
    package var values: some Sequence<Value> { self.entries.lazy.compactMap { $0?.value } }

    /// The value of a connection; nil for none. O(1).
    package subscript(id: ConnectionID) -> Value? {
        get {
            guard self.count > 0 else { return nil }
            return self.entries[self.place(of: id)]?.value
        }
        set {
            guard let newValue else { return self.remove(id) }
            if self.entries.count <= (self.count + 1) * 4 / 3 {
                self.resize(to: max(8, self.entries.count * 2))
            }
            let place = self.place(of: id)
            if self.entries[place] == nil { self.count += 1 }
            self.entries[place] = (id, newValue)
        }
    }

    /// Where the search for an entry begins. Fibonacci hashing: consecutive ids are far apart. The table must not be empty.
    private func home(of id: ConnectionID) -> Int {
        let spread = id.rawValue &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: spread >> 32) & (self.entries.count - 1)
    }

    /// Where an entry is; without one, the free place for it.
    private func place(of id: ConnectionID) -> Int {
        var place = self.home(of: id)
        while let entry = self.entries[place], entry.id != id { place = self.next(place) }
        return place
    }

    private func next(_ place: Int) -> Int { (place + 1) & (self.entries.count - 1) }

    private mutating func remove(_ id: ConnectionID) {
        guard self.count > 0 else { return }
        var hole = self.place(of: id)
        guard self.entries[hole] != nil else { return }
        self.entries[hole] = nil
        self.count -= 1
        // Moves each entry behind the hole whose home is not behind the hole into it. Otherwise the search would stop at the hole.
        var place = self.next(hole)
        while let entry = self.entries[place] {
            let home = self.home(of: entry.id)
            if self.distance(from: home, to: place) >= self.distance(from: hole, to: place) {
                self.entries[hole] = entry
                self.entries[place] = nil
                hole = place
            }
            place = self.next(place)
        }
        if self.entries.count > 8, self.count < self.entries.count / 8 {
            self.resize(to: self.entries.count / 4)
        }
    }

    /// The number of steps from one place to another, around the end of the table.
    private func distance(from start: Int, to place: Int) -> Int {
        (place - start) & (self.entries.count - 1)
    }

    private mutating func resize(to count: Int) {
        let old = self.entries
        self.entries = Array(repeating: nil, count: max(8, count))
        for case let entry? in old { self.entries[self.place(of: entry.id)] = entry }
    }
}

extension ConnectionTable: Sendable where Value: Sendable {}

extension ConnectionTable where Value == Int32 {
    /// The number of a connection. Why not a table of `Int`: it takes half as much again.
    subscript(number id: ConnectionID) -> Int? {
        get { self[id].map { Int($0) } }
        set { self[id] = newValue.map { Int32($0) } }
    }
}
