internal import WaymarkConnections
package import WaymarkProtocol

/// A bucket of tokens for each key: it is full at first, each failure takes a token, and tokens come back at a fixed rate.
///
/// A bucket is one instant, at which it will be full again; a full one is not kept. Memory is bounded: above ``entriesMax`` the bucket
/// that was charged least recently is forgotten, and so is full again.
package struct TokenBuckets<Key: Hashable & Sendable & Codable>: Sendable, Hashable {
    package struct Limits: Sendable, Hashable {
        /// Tokens that a full bucket has.
        package var burst = 100
        /// Tokens that a bucket gets back in a minute.
        package var perMinute = 300

        package init() {}
    }

    /// The most buckets that are not full.
    package static var entriesMax: Int { 4_096 }

    package var limits: Limits
    private var fullAt: [Key: Instant] = [:]
    /// The keys of ``fullAt``, by when they were last charged.
    private var order = ArrivalOrder<Key>()

    package init(limits: Limits) { self.limits = limits }

    /// The number of buckets that are kept.
    package var count: Int { self.fullAt.count }

    /// Takes a token. O(1): each call looks at two old buckets at most, so that full ones do not stay.
    ///
    /// - Returns: Whether there was one.
    package mutating func take(from key: Key, at now: Instant) -> Bool {
        self.forgetFull(at: now)
        let interval = 60_000_000_000 / Int64(max(1, self.limits.perMinute))
        let fullAt = max(self.fullAt[key] ?? now, now) + .nanoseconds(interval)
        guard (fullAt - now).nanoseconds <= interval * Int64(self.limits.burst) else { return false }
        self.fullAt[key] = fullAt
        self.order.append(key)
        if self.fullAt.count > Self.entriesMax, let oldest = self.order.first { self.forget(oldest) }
        return true
    }

    private mutating func forgetFull(at now: Instant) {
        for _ in 0..<2 {
            guard let key = self.order.first, let fullAt = self.fullAt[key], fullAt <= now else { return }
            self.forget(key)
        }
    }

    private mutating func forget(_ key: Key) {
        self.order.remove(key)
        self.fullAt[key] = nil
    }
}

extension TokenBuckets {
    /// One bucket, for the next process.
    package struct Entry: Codable, Sendable {
        let key: Key
        let fullAt: Instant
    }

    /// All buckets that are not full, by when they were last charged.
    package var entries: [Entry] {
        self.order.keys.compactMap { key in self.fullAt[key].map { Entry(key: key, fullAt: $0) } }
    }

    /// Takes over the buckets of another process.
    package mutating func restore(_ entries: [Entry]) {
        for entry in entries.suffix(Self.entriesMax) {
            self.fullAt[entry.key] = entry.fullAt
            self.order.append(entry.key)
        }
    }
}
