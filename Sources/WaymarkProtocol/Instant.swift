/// A point on the driver's monotonic clock. The core never reads a clock; it is told.
package struct Instant: Sendable, Hashable, Comparable, Codable {
    /// Nanoseconds since an epoch the driver chose (process start, or zero in a simulation).
    package var nanoseconds: Int64

    /// An instant `nanoseconds` after the epoch.
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Earlier is less.
    package static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.nanoseconds < rhs.nanoseconds }
    /// The instant `rhs` after `lhs`, or the last or first one that can be said: instants also come from peers and from files.
    package static func + (lhs: Instant, rhs: Duration) -> Instant {
        Instant(nanoseconds: lhs.nanoseconds.addingSaturating(rhs.nanoseconds))
    }

    /// The time from `rhs` to `lhs`, at most 292 years.
    package static func - (lhs: Instant, rhs: Instant) -> Duration {
        .nanoseconds(lhs.nanoseconds.subtractingSaturating(rhs.nanoseconds))
    }
}

extension Duration {
    /// Whole nanoseconds; of more than 292 years, the largest or smallest number.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = self.components
        return seconds.multipliedSaturating(by: 1_000_000_000).addingSaturating(attoseconds / 1_000_000_000)
    }

    /// Whole milliseconds, rounded down; of more than 292 million years, the largest or smallest number.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = self.components
        return seconds.multipliedSaturating(by: 1_000).addingSaturating(attoseconds / 1_000_000_000_000_000)
    }
}
