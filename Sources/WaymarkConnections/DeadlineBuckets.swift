package import WaymarkProtocol

/// Deadlines of numbered members, each rounded up to a bucket of some milliseconds: all deadlines of one bucket are due together.
///
/// A member's position is known, so that its deadline is changed and removed without a search. Why no heap: to change one deadline
/// there moves a dozen members, and an idle connection changes its deadline with every ping.
package struct DeadlineBuckets {
    /// Where a member is.
    private struct Position {
        let end: Instant
        var index: UInt32
    }

    /// The width of a bucket in nanoseconds: how much later than its deadline a member may be due.
    private let width: Int64
    /// By their ends, ascending. Only a bucket whose end has come may be empty.
    private var buckets: [(end: Instant, members: [Int32])] = []
    /// By member; nil without a deadline.
    private var positions: [Position?] = []
    /// The number of members with a deadline.
    package private(set) var count = 0

    package init(width: Duration) { self.width = width.nanoseconds }

    /// The end of the earliest bucket; nil without deadlines.
    package var next: Instant? { self.count == 0 ? nil : self.buckets.first?.end }

    /// Whether a member has a deadline.
    package func contains(_ member: Int) -> Bool {
        member < self.positions.count && self.positions[member] != nil
    }

    /// Gives a member a deadline in place of the one it may have.
    ///
    /// - Complexity: O(log n) in the number of buckets; O(n) for the first member of a bucket that is not the last.
    package mutating func set(_ member: Int, at instant: Instant) {
        let end = instant.roundedUp(to: self.width)
        while self.positions.count <= member { self.positions.append(nil) }
        guard self.positions[member]?.end != end else { return }
        self.take(member)
        let bucket = self.firstBucket(notBefore: end)
        if bucket == self.buckets.endIndex || self.buckets[bucket].end != end {
            self.buckets.insert((end, []), at: bucket)
        }
        self.positions[member] = Position(end: end, index: UInt32(self.buckets[bucket].members.count))
        self.buckets[bucket].members.append(Int32(member))
        self.count += 1
    }

    /// Removes the deadline that a member may have.
    ///
    /// - Complexity: O(log n) in the number of buckets; O(n) for the last member of a bucket.
    package mutating func remove(_ member: Int) {
        self.take(member)
        self.forgetPeak()
    }

    private mutating func take(_ member: Int) {
        guard member < self.positions.count, let position = self.positions[member] else { return }
        let bucket = self.firstBucket(notBefore: position.end)
        let last = self.buckets[bucket].members.removeLast()
        self.positions[member] = nil
        self.count -= 1
        guard last != Int32(member) else {
            if self.buckets[bucket].members.isEmpty { self.buckets.remove(at: bucket) }
            return
        }
        self.buckets[bucket].members[Int(position.index)] = last
        self.positions[Int(last)] = position
    }

    /// Removes and returns a member that is due, of the earliest bucket first.
    package mutating func popDue(at now: Instant) -> Int? {
        while let end = self.buckets.first?.end, end <= now {
            if let member = self.buckets[0].members.popLast() {
                self.positions[Int(member)] = nil
                self.count -= 1
                return Int(member)
            }
            self.buckets.removeFirst()
        }
        return nil
    }

    /// Gives the memory of a peak back. Not when a deadline is reached or changed: the member usually gets another one.
    private mutating func forgetPeak() {
        if self.count == 0, self.positions.count > 64 { self.positions = [] }
    }

    private func firstBucket(notBefore end: Instant) -> Int {
        // Usually it is the last one, or a new one behind that.
        guard let last = self.buckets.last, last.end >= end else { return self.buckets.endIndex }
        guard last.end > end else { return self.buckets.endIndex - 1 }
        var (low, high) = (self.buckets.startIndex, self.buckets.endIndex - 1)
        while low < high {
            let middle = (low + high) / 2
            if self.buckets[middle].end < end { low = middle + 1 } else { high = middle }
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
