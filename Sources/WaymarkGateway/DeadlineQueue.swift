internal import HeapModule
internal import WaymarkProtocol

/// What the gateway waits for, and until when. At most one instant per key.
struct DeadlineQueue<Key: Sendable & Hashable>: Sendable, Hashable {
    /// When something is due, and before what else that is due then. No two are alike.
    private struct Mark: Sendable, Hashable, Comparable {
        let instant: Instant
        let order: UInt64

        static func < (lhs: Mark, rhs: Mark) -> Bool {
            lhs.instant == rhs.instant ? lhs.order < rhs.order : lhs.instant < rhs.instant
        }
    }

    private struct Entry: Sendable, Hashable, Comparable {
        let mark: Mark
        let key: Key

        static func < (lhs: Entry, rhs: Entry) -> Bool { lhs.mark < rhs.mark }
    }

    private var marks: [Key: Mark] = [:]
    /// Also those that were replaced or removed, until they are come upon: an entry holds if its key has its mark.
    private var heap = Heap<Entry>()
    private var order: UInt64 = 0
    /// The earliest entry that holds; nil while it must be looked for.
    private var head: Entry?

    init() {}

    /// The earliest instant; nil when nothing is waited for.
    var next: Instant? { mutating get { self.first?.mark.instant } }

    /// Whether something is waited for under `key`.
    func contains(_ key: Key) -> Bool { self.marks[key] != nil }

    /// Waits for `key` until `instant`, in place of what was set before.
    mutating func set(_ key: Key, at instant: Instant) {
        self.order += 1
        let entry = Entry(mark: Mark(instant: instant, order: self.order), key: key)
        if let replaced = self.marks.updateValue(entry.mark, forKey: key) { self.forget(replaced) }
        if let head = self.head, entry < head { self.head = entry }
        self.heap.insert(entry)
        self.compactIfSparse()
    }

    /// Waits for `key` no longer.
    mutating func remove(_ key: Key) {
        if let mark = self.marks.removeValue(forKey: key) { self.forget(mark) }
    }

    /// A mark holds no longer.
    private mutating func forget(_ mark: Mark) {
        if self.head?.mark == mark { self.head = nil }
    }

    /// Takes one key whose instant has come, the earliest first.
    mutating func takeDue(at now: Instant) -> Key? {
        guard let first = self.first, first.mark.instant <= now else { return nil }
        self.heap.removeMin()
        self.head = nil
        self.marks[first.key] = nil
        return first.key
    }

    /// The earliest entry that still holds; forgets those that were replaced or removed.
    private var first: Entry? {
        mutating get {
            if let head = self.head { return head }
            while let entry = self.heap.min {
                if self.marks[entry.key] == entry.mark {
                    self.head = entry
                    return entry
                }
                self.heap.removeMin()
            }
            return nil
        }
    }

    private mutating func compactIfSparse() {
        guard self.heap.count > 64, self.heap.count > 4 * self.marks.count else { return }
        self.heap = Heap(self.marks.map { Entry(mark: $1, key: $0) })
    }

    static func == (lhs: DeadlineQueue, rhs: DeadlineQueue) -> Bool {
        lhs.marks.mapValues(\.instant) == rhs.marks.mapValues(\.instant)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(self.marks.mapValues(\.instant)) }
}

/// What is waited for, as it is written.
private struct StoredDeadline<Key: Codable>: Codable {
    let instant: Instant
    let order: UInt64
    let key: Key
}

extension DeadlineQueue: Codable where Key: Codable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        // In their order: of what is due at the same instant, the first that was set comes first.
        for (key, mark) in self.marks.sorted(by: { $0.value < $1.value }) {
            try container.encode(StoredDeadline(instant: mark.instant, order: mark.order, key: key))
        }
    }

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd {
            let stored = try container.decode(StoredDeadline<Key>.self)
            self.set(stored.key, at: stored.instant)
        }
    }
}
