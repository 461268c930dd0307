/// Names a value in ``SlotTable``, and none that was in its place before or comes after it.
struct SlotNumber: Sendable, Hashable, Codable {
    fileprivate let place: UInt32
    fileprivate let turn: UInt32
}

/// Values that are found by where they are. A place that was given up is taken again, under another number.
///
/// Why: a dictionary hashes its key to find, to insert (twice) and to remove; for what comes and goes all the time that is most of
/// the work.
struct SlotTable<Value> {
    fileprivate struct Slot {
        /// How often the place was taken and given up; wraps around.
        var turn: UInt32 = 0
        var value: Value?
    }

    private var slots: [Slot] = []
    /// Places that nobody has, the last to be taken first.
    private var free: [UInt32] = []

    init() {}

    var count: Int { self.slots.count - self.free.count }

    /// The number that the next value gets.
    var nextNumber: SlotNumber {
        guard let place = self.free.last else { return SlotNumber(place: UInt32(self.slots.count), turn: 1) }
        return SlotNumber(place: place, turn: self.slots[Int(place)].turn &+ 1)
    }

    /// Puts a value somewhere.
    @discardableResult
    mutating func insert(_ value: consuming Value) -> SlotNumber {
        let number = self.nextNumber
        if self.free.popLast() == nil {
            self.slots.append(Slot(turn: number.turn, value: value))
        } else {
            self.slots[Int(number.place)] = Slot(turn: number.turn, value: value)
        }
        return number
    }

    /// The value with a number; nil if there is none any more.
    subscript(number: SlotNumber) -> Value? { self.has(number) ? self.slots[Int(number.place)].value : nil }

    /// Looks at a value without a copy of it; nil if there is none any more.
    @inline(__always)
    func look<Result>(at number: SlotNumber, _ body: (Value) -> Result) -> Result? {
        self.has(number) ? self.slots[Int(number.place)].value.map(body) : nil
    }

    /// Changes a value, if it is still there.
    mutating func change(_ number: SlotNumber, _ change: (inout Value) -> Void) {
        guard self.has(number), var value = self.slots[Int(number.place)].value else { return }
        change(&value)
        self.slots[Int(number.place)].value = value
    }

    /// Takes a value out.
    @discardableResult
    mutating func remove(_ number: SlotNumber) -> Value? {
        guard self.has(number) else { return nil }
        self.free.append(number.place)
        self.slots[Int(number.place)].turn &+= 1
        return self.slots[Int(number.place)].value.take()
    }

    /// Whether there is a value with a number.
    func has(_ number: SlotNumber) -> Bool {
        number.place < self.slots.count && self.slots[Int(number.place)].turn == number.turn
    }
}

/// In the order of their places.
extension SlotTable: Sequence {
    func makeIterator() -> AnyIterator<(number: SlotNumber, value: Value)> {
        var rest = self.slots.enumerated().makeIterator()
        return AnyIterator {
            while let (place, slot) = rest.next() {
                guard let value = slot.value else { continue }
                return (SlotNumber(place: UInt32(place), turn: slot.turn), value)
            }
            return nil
        }
    }
}

extension SlotTable.Slot: Sendable where Value: Sendable {}
extension SlotTable: Sendable where Value: Sendable {}

// Places that nobody has make no difference.
extension SlotTable: Equatable where Value: Equatable {
    static func == (lhs: SlotTable, rhs: SlotTable) -> Bool {
        lhs.count == rhs.count && lhs.allSatisfy { rhs[$0.number] == $0.value }
    }
}

extension SlotTable: Hashable where Value: Hashable {
    func hash(into hasher: inout Hasher) {
        for (number, value) in self {
            hasher.combine(number)
            hasher.combine(value)
        }
    }
}

extension SlotTable.Slot: Codable where Value: Codable {}
extension SlotTable: Codable where Value: Codable {
    func encode(to encoder: any Encoder) throws { try self.slots.encode(to: encoder) }

    init(from decoder: any Decoder) throws {
        self.slots = try [Slot](from: decoder)
        self.free = self.slots.indices.filter { self.slots[$0].value == nil }.map { UInt32($0) }
    }
}

extension SlotTable {
    /// The same places with other values.
    func mapValues<Other>(_ transform: (Value) throws -> Other) rethrows -> SlotTable<Other> {
        var other = SlotTable<Other>()
        other.slots = try self.slots.map {
            SlotTable<Other>.Slot(turn: $0.turn, value: try $0.value.map(transform))
        }
        other.free = self.free
        return other
    }
}
