/// A point on the driver's monotonic clock. The core never reads a clock; it is told.
package struct Instant: Sendable, Hashable, Comparable, Codable {
    /// Nanoseconds since an epoch the driver chose (process start, or zero in a simulation).
    package var nanoseconds: Int64

    /// An instant `nanoseconds` after the epoch.
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Earlier is less.
    package static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.nanoseconds < rhs.nanoseconds }
    /// The instant `rhs` after `lhs`.
    package static func + (lhs: Instant, rhs: Duration) -> Instant {
        let (seconds, attoseconds) = rhs.components
        return Instant(nanoseconds: lhs.nanoseconds + seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    /// The time from `rhs` to `lhs`.
    package static func - (lhs: Instant, rhs: Instant) -> Duration {
        .nanoseconds(lhs.nanoseconds - rhs.nanoseconds)
    }
}

extension Duration {
    /// Whole nanoseconds.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = self.components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// Whole milliseconds, rounded down.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = self.components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}
