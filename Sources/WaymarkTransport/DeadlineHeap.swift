package import WaymarkProtocol

/// What a ``DeadlineHeap`` can hold; one heap at a time.
package protocol HasDeadline: AnyObject {
    /// Where it is in the heap; nil while it is in none. Changed by the heap alone.
    var deadlinePlace: Int? { get set }
}

/// When each of many is due, and the earliest of them.
///
/// A binary heap whose members know their places in it: a deadline is changed and removed without looking for it, and nothing
/// stays of what was removed.
package struct DeadlineHeap<Member: HasDeadline> {
    private typealias Entry = (instant: Instant, member: Member)

    private var entries: [Entry] = []

    package init() {}

    /// How many have a deadline.
    package var count: Int { self.entries.count }
    /// The earliest deadline; nil when nobody has one.
    package var next: Instant? { self.entries.first?.instant }

    /// Gives a member a deadline in place of the one it may have. O(log n); O(1) if it is the latest of all.
    package mutating func set(_ member: Member, at instant: Instant) {
        let place = member.deadlinePlace ?? self.entries.count
        if place == self.entries.count {
            self.entries.append((instant, member))
        } else {
            self.entries[place].instant = instant
        }
        self.settle(from: place)
    }

    /// Takes away the deadline that a member may have. O(log n).
    package mutating func remove(_ member: Member) {
        guard let place = member.deadlinePlace else { return }
        member.deadlinePlace = nil
        let last = self.entries.removeLast()
        guard place < self.entries.count else { return }
        self.entries[place] = last
        self.settle(from: place)
    }

    /// Takes out one of those whose deadline has come, the earliest first. O(log n).
    package mutating func takeDue(at now: Instant) -> Member? {
        guard let first = self.entries.first, first.instant <= now else { return nil }
        self.remove(first.member)
        return first.member
    }

    /// Moves the entry at `start` to where it belongs: the others are in order.
    private mutating func settle(from start: Int) {
        let entry = self.entries[start]
        var place = start
        while place > 0, entry.instant < self.entries[(place - 1) / 2].instant {
            self.put(self.entries[(place - 1) / 2], at: place)
            place = (place - 1) / 2
        }
        while let child = self.earlierChild(of: place), self.entries[child].instant < entry.instant {
            self.put(self.entries[child], at: place)
            place = child
        }
        self.put(entry, at: place)
    }

    private func earlierChild(of place: Int) -> Int? {
        let (left, right) = (2 * place + 1, 2 * place + 2)
        guard right < self.entries.count else { return left < self.entries.count ? left : nil }
        return self.entries[right].instant < self.entries[left].instant ? right : left
    }

    private mutating func put(_ entry: Entry, at place: Int) {
        self.entries[place] = entry
        entry.member.deadlinePlace = place
    }
}
