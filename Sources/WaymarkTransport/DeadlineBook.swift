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
    /// By their ends, ascending. Only one that has come may be empty.
    private var turns: [(end: Instant, members: [Member])] = []
    /// How many have a deadline.
    package private(set) var count = 0

    /// An empty book with turns of `unit`.
    package init(unit: Duration) { self.unit = unit.nanoseconds }

    /// The end of the earliest turn; nil when nobody has a deadline.
    package var next: Instant? { self.count == 0 ? nil : self.turns.first?.end }

    /// Gives a member a deadline in place of the one it may have.
    ///
    /// - Complexity: O(log n) in the number of turns; O(n) for the first one of a turn but the last.
    package mutating func set(_ member: Member, at instant: Instant) {
        let end = instant.roundedUp(to: self.unit)
        guard member.deadlinePlace?.turn != end else { return }
        self.remove(member)
        let turn = self.firstTurn(notBefore: end)
        if turn == self.turns.endIndex || self.turns[turn].end != end {
            self.turns.insert((end, []), at: turn)
        }
        member.deadlinePlace = DeadlinePlace(turn: end, index: UInt32(self.turns[turn].members.count))
        self.turns[turn].members.append(member)
        self.count += 1
    }

    /// Takes away the deadline that a member may have.
    ///
    /// - Complexity: O(log n) in the number of turns; O(n) for the last one of a turn.
    package mutating func remove(_ member: Member) {
        guard let place = member.deadlinePlace else { return }
        let turn = self.firstTurn(notBefore: place.turn)
        let last = self.turns[turn].members.removeLast()
        member.deadlinePlace = nil
        self.count -= 1
        guard last !== member else {
            if self.turns[turn].members.isEmpty { self.turns.remove(at: turn) }
            return
        }
        self.turns[turn].members[Int(place.index)] = last
        last.deadlinePlace = place
    }

    /// Takes out one of those whose turn is over, of the earliest turn first.
    package mutating func takeDue(at now: Instant) -> Member? {
        while let end = self.turns.first?.end, end <= now {
            if let member = self.turns[0].members.popLast() {
                member.deadlinePlace = nil
                self.count -= 1
                return member
            }
            self.turns.removeFirst()
        }
        return nil
    }

    private func firstTurn(notBefore end: Instant) -> Int {
        // Mostly it is the last, or a new one behind that.
        guard let last = self.turns.last, last.end >= end else { return self.turns.endIndex }
        guard last.end > end else { return self.turns.endIndex - 1 }
        var (low, high) = (self.turns.startIndex, self.turns.endIndex - 1)
        while low < high {
            let middle = (low + high) / 2
            if self.turns[middle].end < end { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension Instant {
    /// The first multiple of `unit` that is not earlier. Instants before the epoch stay as they are.
    fileprivate func roundedUp(to unit: Int64) -> Instant {
        guard self.nanoseconds > 0, self.nanoseconds < .max - unit else { return self }
        return Instant(nanoseconds: (self.nanoseconds + unit - 1) / unit * unit)
    }
}
