import Testing
import WaymarkConnections
import WaymarkProtocol
import WaymarkTransport

@Suite struct TokenBucketTests {
    /// Buckets that an expectation may change.
    private final class Kept {
        var buckets: TokenBuckets<PeerAccount>

        init(burst: Int, perMinute: Int) {
            var limits = TokenBuckets<PeerAccount>.Limits()
            (limits.burst, limits.perMinute) = (burst, perMinute)
            self.buckets = TokenBuckets(limits: limits)
        }

        func take(from key: PeerAccount, at now: Instant) -> Bool { self.buckets.take(from: key, at: now) }
    }

    private static let start = Instant(nanoseconds: 1_000_000_000)

    @Test func `a bucket gives its burst at once, and then its rate`() {
        let buckets = Kept(burst: 3, perMinute: 60)
        var now = Self.start
        for _ in 0..<3 { #expect(buckets.take(from: .user(1), at: now)) }
        #expect(!buckets.take(from: .user(1), at: now))
        #expect(buckets.take(from: .user(2), at: now))
        now = now + .milliseconds(999)
        #expect(!buckets.take(from: .user(1), at: now))
        now = now + .milliseconds(1)
        #expect(buckets.take(from: .user(1), at: now))
        #expect(!buckets.take(from: .user(1), at: now))
    }

    @Test func `a bucket never has more than its burst`() {
        let buckets = Kept(burst: 2, perMinute: 60)
        _ = buckets.take(from: .user(1), at: Self.start)
        let later = Self.start + .seconds(3_600)
        let taken = (0..<5).map { _ in buckets.take(from: .user(1), at: later) }
        #expect(taken == [true, true, false, false, false])
    }

    @Test func `the table is bounded, and full buckets are forgotten`() {
        let buckets = Kept(burst: 10, perMinute: 60)
        for number in 0..<20_000 { _ = buckets.take(from: .ipv6(UInt64(number)), at: Self.start) }
        #expect(buckets.buckets.count == TokenBuckets<PeerAccount>.entriesMax)
        let later = Self.start + .seconds(60)
        for _ in 0..<TokenBuckets<PeerAccount>.entriesMax { _ = buckets.take(from: .user(1), at: later) }
        #expect(buckets.buckets.count == 1)
    }

    @Test func `another process continues the buckets`() {
        let old = Kept(burst: 2, perMinute: 60)
        for _ in 0..<2 { _ = old.take(from: .user(1), at: Self.start) }
        let new = Kept(burst: 2, perMinute: 60)
        new.buckets.restore(old.buckets.entries)
        #expect(!new.take(from: .user(1), at: Self.start))
        #expect(new.take(from: .user(2), at: Self.start))
    }
}
