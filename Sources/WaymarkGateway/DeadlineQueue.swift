internal import HeapModule
internal import WaymarkProtocol

/// A priority queue of deadlines.
///
/// Deadlines that are set and cancelled all the time are identified by a ticket, which the caller keeps. Others are identified by
/// their key, with at most one instant for each.
struct DeadlineQueue<Key: Sendable & Hashable>: Sendable {
    typealias Ticket = SlotKey

    /// A deadline. Of those at the same instant the one that was set first is due first.
    private struct Mark: Sendable, Codable, Comparable {
        let instant: Instant
        let order: UInt64
        let ticket: Ticket

        static func < (lhs: Mark, rhs: Mark) -> Bool {
            lhs.instant == rhs.instant ? lhs.order < rhs.order : lhs.instant < rhs.instant
        }
    }

    private var keys = SlotMap<Key>()
    /// The tickets of deadlines that are identified by their key.
    private var tickets: [Key: Ticket] = [:]
    /// Cancelled deadlines stay in the heap until they reach its top, or until it is compacted.
    private var heap = Heap<Mark>()
    private var order: UInt64 = 0
    /// The earliest deadline; nil if it must be searched for.
    private var head: Mark?

    init() {}

    /// The earliest instant; nil for none.
    var next: Instant? { mutating get { self.first?.instant } }

    /// Whether a deadline is set for `key`.
    func contains(_ key: Key) -> Bool { self.tickets[key] != nil }

    /// Whether the deadline of a ticket is still set.
    func contains(_ ticket: Ticket) -> Bool { self.keys.has(ticket) }

    /// Adds a deadline.
    mutating func add(_ key: Key, at instant: Instant) -> Ticket {
        self.order += 1
        let ticket = self.keys.insert(key)
        let mark = Mark(instant: instant, order: self.order, ticket: ticket)
        if let head = self.head, mark < head { self.head = mark }
        self.heap.insert(mark)
        self.compactIfSparse()
        return ticket
    }

    /// Cancels a deadline; does nothing if it was due or cancelled before.
    mutating func cancel(_ ticket: Ticket) {
        self.keys.remove(ticket)
        if self.head?.ticket == ticket { self.head = nil }
    }

    /// Sets the deadline of `key`; replaces the one set before.
    mutating func set(_ key: Key, at instant: Instant) {
        let ticket = self.add(key, at: instant)
        if let replaced = self.tickets.updateValue(ticket, forKey: key) { self.cancel(replaced) }
    }

    /// Cancels the deadline of `key`.
    mutating func remove(_ key: Key) {
        if let ticket = self.tickets.removeValue(forKey: key) { self.cancel(ticket) }
    }

    /// Removes and returns the key of the earliest deadline that is due; nil for none.
    mutating func takeDue(at now: Instant) -> Key? {
        guard let first = self.first, first.instant <= now else { return nil }
        self.heap.removeMin()
        self.head = nil
        guard let key = self.keys.remove(first.ticket) else { return nil }
        if self.tickets[key] == first.ticket { self.tickets[key] = nil }
        return key
    }

    /// The earliest deadline; removes cancelled ones in front of it.
    private var first: Mark? {
        mutating get {
            if let head = self.head { return head }
            while let mark = self.heap.min {
                if self.contains(mark.ticket) {
                    self.head = mark
                    return mark
                }
                self.heap.removeMin()
            }
            return nil
        }
    }

    private mutating func compactIfSparse() {
        guard self.heap.count > 64, self.heap.count > 4 * self.keys.count else { return }
        self.heap = Heap(self.waiting)
    }

    /// The deadlines that are not cancelled, in no order.
    private var waiting: [Mark] { self.heap.unordered.filter { self.contains($0.ticket) } }
}

// Two queues are equal if they have the same deadlines in the same order.
extension DeadlineQueue: Hashable {
    private var inOrder: [(instant: Instant, key: Key?)] {
        self.waiting.sorted().map { ($0.instant, self.keys[$0.ticket]) }
    }

    static func == (lhs: DeadlineQueue, rhs: DeadlineQueue) -> Bool {
        lhs.inOrder.elementsEqual(rhs.inOrder, by: ==)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(self.inOrder.map(\.key)) }
}

extension DeadlineQueue: Codable where Key: Codable {
    private enum CodingKeys: CodingKey {
        case keys, tickets, waiting, order
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.keys, forKey: .keys)
        try container.encode(self.tickets, forKey: .tickets)
        try container.encode(self.waiting, forKey: .waiting)
        try container.encode(self.order, forKey: .order)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.keys = try container.decode(SlotMap<Key>.self, forKey: .keys)
        self.tickets = try container.decode([Key: Ticket].self, forKey: .tickets)
        self.heap = Heap(try container.decode([Mark].self, forKey: .waiting))
        self.order = try container.decode(UInt64.self, forKey: .order)
    }
}
