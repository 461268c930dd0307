internal import HeapModule
internal import WaymarkProtocol

/// What the gateway waits for, and until when. At most one instant per key.
struct DeadlineQueue<Key: Sendable & Hashable>: Sendable, Hashable {
    /// When something is due, and before what else that is due then. No two are alike.
    ///
    /// Why without the key: a heap moves what it holds many times.
    private struct Mark: Sendable, Hashable, Comparable {
        let instant: Instant
        let order: UInt64

        static func < (lhs: Mark, rhs: Mark) -> Bool {
            lhs.instant == rhs.instant ? lhs.order < rhs.order : lhs.instant < rhs.instant
        }
    }

    private var marks: [Key: Mark] = [:]
    /// By the order of the mark that they have now.
    private var keys: [UInt64: Key] = [:]
    /// Also those that were replaced or removed, until they are come upon.
    private var heap = Heap<Mark>()
    private var order: UInt64 = 0
    /// The earliest mark that holds; nil while it must be looked for.
    private var head: Mark?

    init() {}

    /// The earliest instant; nil when nothing is waited for.
    var next: Instant? { mutating get { self.first?.instant } }

    /// Whether something is waited for under `key`.
    func contains(_ key: Key) -> Bool { self.marks[key] != nil }

    /// Waits for `key` until `instant`, in place of what was set before.
    mutating func set(_ key: Key, at instant: Instant) {
        self.order += 1
        let mark = Mark(instant: instant, order: self.order)
        if let replaced = self.marks.updateValue(mark, forKey: key) { self.forget(replaced) }
        if let head = self.head, mark < head { self.head = mark }
        self.keys[mark.order] = key
        self.heap.insert(mark)
        self.compactIfSparse()
    }

    /// Waits for `key` no longer.
    mutating func remove(_ key: Key) {
        if let mark = self.marks.removeValue(forKey: key) { self.forget(mark) }
    }

    /// A mark holds no longer.
    private mutating func forget(_ mark: Mark) {
        self.keys[mark.order] = nil
        if self.head == mark { self.head = nil }
    }

    /// Takes one key whose instant has come, the earliest first.
    mutating func takeDue(at now: Instant) -> Key? {
        guard let first = self.first, first.instant <= now else { return nil }
        self.heap.removeMin()
        self.head = nil
        guard let key = self.keys.removeValue(forKey: first.order) else { return nil }
        self.marks[key] = nil
        return key
    }

    /// The earliest mark that still holds; forgets those that were replaced or removed.
    private var first: Mark? {
        mutating get {
            if let head = self.head { return head }
            while let mark = self.heap.min {
                if self.keys.index(forKey: mark.order) != nil {
                    self.head = mark
                    return mark
                }
                self.heap.removeMin()
            }
            return nil
        }
    }

    private mutating func compactIfSparse() {
        guard self.heap.count > 64, self.heap.count > 4 * self.marks.count else { return }
        self.heap = Heap(self.marks.values)
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
