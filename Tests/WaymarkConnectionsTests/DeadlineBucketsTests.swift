import Testing
import WaymarkConnections
import WaymarkProtocol

@Suite struct DeadlineBucketsTests {
    @Test(arguments: 0..<50)
    func `buckets do what a list that is searched would do`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let members = 0..<Int.random(in: 1...40, using: &random)
        var buckets = DeadlineBuckets(width: .nanoseconds(10))
        // Ends of buckets.
        var model: [Int: Int64] = [:]
        var now = Instant(nanoseconds: 0)
        for _ in 0..<2_000 {
            let member = Int.random(in: members, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6:
                let instant = now.nanoseconds + .random(in: -5...50, using: &random)
                buckets.set(member, at: Instant(nanoseconds: instant))
                model[member] = instant > 0 ? (instant + 9) / 10 * 10 : instant
            case 6..<8:
                buckets.remove(member)
                model[member] = nil
            case _:
                now.nanoseconds += .random(in: 0...10, using: &random)
                var last = Int64.min
                while let due = buckets.popDue(at: now) {
                    let end = model.removeValue(forKey: due)
                    #expect(end.map { $0 <= now.nanoseconds && last <= $0 } == true)
                    #expect(!buckets.contains(due))
                    last = end ?? last
                }
                #expect(!model.values.contains { $0 <= now.nanoseconds })
            }
            #expect(buckets.count == model.count)
            // Never later than the earliest; nil without deadlines.
            let earliest = model.values.min()
            #expect((buckets.next == nil) == (earliest == nil))
            #expect(buckets.next.map { $0.nanoseconds <= earliest ?? .min } ?? true)
            for member in members { #expect(buckets.contains(member) == (model[member] != nil)) }
        }
    }
}
