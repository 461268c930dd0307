/// The last gaps that an observer was told. If it resumes from a number before them, it is told them again, and they are not counted again.
///
/// Bounded: only gaps that are on their way matter. An observer for which more are on their way, and are lost, has some counted twice.
struct ToldGaps: Sendable, Hashable, Codable {
    private struct Gap: Sendable, Hashable, Codable {
        /// The number of the last entry before it.
        let after: UInt64
        /// The number of its last entry.
        var last: UInt64
    }

    private static let countMax = 64
    /// In order.
    private var gaps: [Gap] = []

    /// Adds a gap of `count` entries behind all others, up to the entry with the number `last`.
    mutating func append(_ count: UInt64, endingAt last: UInt64) {
        if self.gaps.count == Self.countMax { self.gaps.removeFirst() }
        self.gaps.append(Gap(after: last - count, last: last))
    }

    /// How many entries with numbers above the lower bound, and not above the upper one, are in gaps.
    func count(in numbers: Range<UInt64>) -> UInt64 {
        self.gaps.reduce(0) { count, gap in
            let first = max(gap.after, numbers.lowerBound)
            let last = min(gap.last, numbers.upperBound)
            return first < last ? count + last - first : count
        }
    }

    /// Forgets what is behind the entry with this number.
    mutating func removeAll(behind number: UInt64) {
        self.gaps.removeAll { $0.after >= number }
        if let gap = self.gaps.last, gap.last > number { self.gaps[self.gaps.count - 1].last = number }
    }
}
