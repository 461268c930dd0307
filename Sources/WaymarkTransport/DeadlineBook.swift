package import WaymarkProtocol

/// What a ``DeadlineBook`` can hold; one book at a time.
package protocol HasDeadline: AnyObject {
    /// Where it is in the book; nil while it is in none. Changed by the book alone.
    var deadlinePlace: DeadlinePlace? { get set }
}

/// Where a member is in a ``DeadlineBook``.
package struct DeadlinePlace: Sendable, Hashable {
    fileprivate let turn: Instant
    fileprivate var index: UInt32
}

/// When each of many is due, in turns of some milliseconds: all that are due in one are told at its end.
///
/// Its members know their places, so that a deadline is put off and removed without looking for it. Why no heap: to change one
/// deadline there moves a dozen members, each of which is somewhere else in memory.
package struct DeadlineBook<Member: HasDeadline> {
    /// How long a turn is, in nanoseconds: how much later than its deadline a member may be told.
    private let unit: Int64
    /// Members by the end of their turn.
    private var turns: [Instant: [Member]] = [:]
    /// The keys of ``turns``, ascending. One that everybody has left stays until it has come.
    private var order: [Instant] = []
    /// How many have a deadline.
    package private(set) var count = 0

    /// An empty book with turns of `unit`.
    package init(unit: Duration) { self.unit = unit.nanoseconds }

    /// The end of the earliest turn that anybody waited for; nil when nobody has a deadline.
    package var next: Instant? { self.count == 0 ? nil : self.order.first }

    /// Gives a member a deadline in place of the one it may have.
    ///
    /// - Complexity: O(1) where turns come in their order, else O(their number).
    package mutating func set(_ member: Member, at instant: Instant) {
        let turn = instant.roundedUp(to: self.unit)
        guard member.deadlinePlace?.turn != turn else { return }
        self.remove(member)
        let index = Self.append(member, to: &self.turns[turn, default: []])
        member.deadlinePlace = DeadlinePlace(turn: turn, index: UInt32(index))
        self.count += 1
        if index == 0 { self.note(turn) }
    }

    /// Takes away the deadline that a member may have. O(1).
    package mutating func remove(_ member: Member) {
        guard let place = member.deadlinePlace, let last = self.turns[place.turn]?.popLast() else { return }
        member.deadlinePlace = nil
        self.count -= 1
        guard last !== member else { return }
        self.turns[place.turn]?[Int(place.index)] = last
        last.deadlinePlace = place
    }

    /// Takes out one of those whose turn is over, of the earliest turn first.
    package mutating func takeDue(at now: Instant) -> Member? {
        while let turn = self.order.first, turn <= now {
            if let member = self.turns[turn]?.popLast() {
                member.deadlinePlace = nil
                self.count -= 1
                return member
            }
            self.turns[turn] = nil
            self.order.removeFirst()
        }
        return nil
    }

    /// - Returns: Where it is now.
    private static func append(_ member: Member, to members: inout [Member]) -> Int {
        members.append(member)
        return members.endIndex - 1
    }

    /// Puts a turn into the order, unless it is there.
    private mutating func note(_ turn: Instant) {
        var (start, end) = (self.order.startIndex, self.order.endIndex)
        while start < end {
            let middle = (start + end) / 2
            if self.order[middle] < turn { start = middle + 1 } else { end = middle }
        }
        guard start == self.order.endIndex || self.order[start] != turn else { return }
        self.order.insert(turn, at: start)
    }
}

extension Instant {
    /// The first multiple of `unit` that is not earlier. Instants before the epoch stay as they are.
    fileprivate func roundedUp(to unit: Int64) -> Instant {
        guard self.nanoseconds > 0, self.nanoseconds < .max - unit else { return self }
        return Instant(nanoseconds: (self.nanoseconds + unit - 1) / unit * unit)
    }
}
