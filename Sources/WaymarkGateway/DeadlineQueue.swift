internal import HeapModule
internal import WaymarkProtocol

/// What the gateway waits for, and until when.
///
/// What comes and goes all the time is waited for by a ticket, which whoever waits keeps. The rest is found by its key: there is at
/// most one instant for each.
struct DeadlineQueue<Key: Sendable & Hashable>: Sendable {
    typealias Ticket = SlotNumber

    /// When something is due, and before what else that is due then: what was set first comes first.
    private struct Mark: Sendable, Codable, Comparable {
        let instant: Instant
        let order: UInt64
        let ticket: Ticket

        static func < (lhs: Mark, rhs: Mark) -> Bool {
            lhs.instant == rhs.instant ? lhs.order < rhs.order : lhs.instant < rhs.instant
        }
    }

    private var keys = SlotTable<Key>()
    /// Of what is found by its key.
    private var tickets: [Key: Ticket] = [:]
    /// Also of what is waited for no longer, until they are come upon.
    private var heap = Heap<Mark>()
    private var order: UInt64 = 0
    /// The earliest that is waited for; nil while it must be looked for.
    private var head: Mark?

    init() {}

    /// The earliest instant; nil when nothing is waited for.
    var next: Instant? { mutating get { self.first?.instant } }

    /// Whether something is waited for under `key`.
    func contains(_ key: Key) -> Bool { self.tickets[key] != nil }

    /// Whether something is waited for with this ticket.
    func contains(_ ticket: Ticket) -> Bool { self.keys.has(ticket) }

    /// Waits for `key` until `instant`, whatever else is waited for.
    mutating func add(_ key: Key, at instant: Instant) -> Ticket {
        self.order += 1
        let ticket = self.keys.insert(key)
        let mark = Mark(instant: instant, order: self.order, ticket: ticket)
        if let head = self.head, mark < head { self.head = mark }
        self.heap.insert(mark)
        self.compactIfSparse()
        return ticket
    }

    /// Waits no longer; nothing if that is over.
    mutating func cancel(_ ticket: Ticket) {
        self.keys.remove(ticket)
        if self.head?.ticket == ticket { self.head = nil }
    }

    /// Waits for `key` until `instant`, in place of what was set before.
    mutating func set(_ key: Key, at instant: Instant) {
        let ticket = self.add(key, at: instant)
        if let replaced = self.tickets.updateValue(ticket, forKey: key) { self.cancel(replaced) }
    }

    /// Waits for `key` no longer.
    mutating func remove(_ key: Key) {
        if let ticket = self.tickets.removeValue(forKey: key) { self.cancel(ticket) }
    }

    /// Takes one key whose instant has come, the earliest first.
    mutating func takeDue(at now: Instant) -> Key? {
        guard let first = self.first, first.instant <= now else { return nil }
        self.heap.removeMin()
        self.head = nil
        guard let key = self.keys.remove(first.ticket) else { return nil }
        if self.tickets[key] == first.ticket { self.tickets[key] = nil }
        return key
    }

    /// The earliest that is still waited for; forgets the marks of the others.
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

    /// The marks of what is waited for, in no order.
    private var waiting: [Mark] { self.heap.unordered.filter { self.contains($0.ticket) } }
}

// Two are equal that wait for the same at the same instants, in the same order.
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
        self.keys = try container.decode(SlotTable<Key>.self, forKey: .keys)
        self.tickets = try container.decode([Key: Ticket].self, forKey: .tickets)
        self.heap = Heap(try container.decode([Mark].self, forKey: .waiting))
        self.order = try container.decode(UInt64.self, forKey: .order)
    }
}
