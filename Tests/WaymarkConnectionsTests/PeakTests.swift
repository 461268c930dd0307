import Testing
import WaymarkConnections
import WaymarkProtocol

@Suite struct PeakTests {
    @Test func `a table of connections gives the memory of a peak back`() {
        var table = ConnectionTable<Int>()
        for number in 1...20_000 { table[ConnectionID(UInt64(number))] = number }
        #expect(table.capacity >= 20_000)
        for number in 101...20_000 { table[ConnectionID(UInt64(number))] = nil }
        #expect(table.capacity <= 1_024)
        for number in 1...100 { #expect(table[ConnectionID(UInt64(number))] == number) }
    }

    @Test func `the last deadline after a peak can be changed`() {
        var buckets = DeadlineBuckets(width: .nanoseconds(10))
        for member in 0..<1_000 { buckets.set(member, at: Instant(nanoseconds: 100)) }
        for member in 0..<999 { buckets.remove(member) }
        buckets.set(999, at: Instant(nanoseconds: 200))
        #expect(buckets.next == Instant(nanoseconds: 200))
        buckets.remove(999)
        #expect(buckets.next == nil && !buckets.contains(999))
        buckets.set(5, at: Instant(nanoseconds: 300))
        let due = buckets.popDue(at: Instant(nanoseconds: 300))
        #expect(due == 5 && buckets.count == 0)
    }

    @Test func `keys keep the order in which they were appended`() {
        var order = ArrivalOrder<Int>()
        for key in [3, 1, 2, 4] { order.append(key) }
        order.append(1)
        #expect(order.keys == [3, 2, 4, 1])
        order.remove(3)
        order.remove(4)
        #expect(!order.contains(4))
        #expect(order.first == 2 && order.keys == [2, 1])
        order.remove(2)
        order.remove(1)
        #expect(order.first == nil && order.count == 0)
    }
}
