internal import HeapModule
internal import WaymarkProtocol

/// What the gateway waits for, and until when. At most one instant per key.
struct DeadlineQueue<Key: Sendable & Hashable>: Sendable, Hashable {
    fileprivate struct Entry: Sendable, Hashable, Comparable {
        var instant: Instant
        var order: UInt64
        var key: Key
        static func < (lhs: Entry, rhs: Entry) -> Bool {
            lhs.instant == rhs.instant ? lhs.order < rhs.order : lhs.instant < rhs.instant
        }
    }

    private var instants: [Key: Entry] = [:]
    private var heap = Heap<Entry>()
    private var order: UInt64 = 0
    /// The earliest entry that holds; nil while it must be looked for.
    private var head: Entry?

    init() {}

    /// The earliest instant; nil when nothing is waited for.
    var next: Instant? { mutating get { self.first?.instant } }

    /// Whether something is waited for under `key`.
    func contains(_ key: Key) -> Bool { self.instants[key] != nil }

    /// Waits for `key` until `instant`, in place of what was set before.
    mutating func set(_ key: Key, at instant: Instant) {
        self.order += 1
        let entry = Entry(instant: instant, order: self.order, key: key)
        if let head = self.head, head.key == key { self.head = nil }
        if let head = self.head, entry < head { self.head = entry }
        self.instants[key] = entry
        self.heap.insert(entry)
        self.compactIfSparse()
    }

    /// Waits for `key` no longer.
    mutating func remove(_ key: Key) {
        if let head = self.head, head.key == key { self.head = nil }
        self.instants[key] = nil
    }

    /// Takes one key whose instant has come, the earliest first.
    mutating func takeDue(at now: Instant) -> Key? {
        guard let first = self.first, first.instant <= now else { return nil }
        self.heap.removeMin()
        self.head = nil
        self.instants[first.key] = nil
        return first.key
    }

    /// The earliest entry that still holds; forgets those that were replaced or removed.
    private var first: Entry? {
        mutating get {
            if let head = self.head { return head }
            while let entry = self.heap.min {
                if self.instants[entry.key] == entry {
                    self.head = entry
                    return entry
                }
                self.heap.removeMin()
            }
            return nil
        }
    }

    private mutating func compactIfSparse() {
        guard self.heap.count > 64, self.heap.count > 4 * self.instants.count else { return }
        self.heap = Heap(self.instants.values)
    }

    static func == (lhs: DeadlineQueue, rhs: DeadlineQueue) -> Bool {
        lhs.instants.mapValues(\.instant) == rhs.instants.mapValues(\.instant)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(self.instants.mapValues(\.instant)) }
}

extension DeadlineQueue.Entry: Codable where Key: Codable {}

extension DeadlineQueue: Codable where Key: Codable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        // In their order: of what is due at the same instant, the first that was set comes first.
        for entry in self.instants.values.sorted() { try container.encode(entry) }
    }

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd {
            let entry = try container.decode(Entry.self)
            self.set(entry.key, at: entry.instant)
        }
    }
}
