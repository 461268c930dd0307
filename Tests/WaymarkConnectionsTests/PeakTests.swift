import Testing
import WaymarkGateway
import WaymarkProtocol

@testable import WaymarkConnections

@Suite struct PeakTests {
    @Test func `a table of connections gives the memory of a peak back`() {
        var table = ConnectionTable<Int>()
        for number in 1...20_000 { table[ConnectionID(UInt64(number))] = number }
        #expect(table.capacity >= 20_000)
        for number in 101...20_000 { table[ConnectionID(UInt64(number))] = nil }
        #expect(table.capacity <= 1_024)
        for number in 1...100 { #expect(table[ConnectionID(UInt64(number))] == number) }
    }

    @Test func `an audience gives the memory of a peak back, without moving a member`() {
        var audience = AudienceMembers(id: AudienceID(1))
        for member in 0..<10_000 {
            #expect(audience.add(member, SocketID(rawValue: CInt(member))) == member)
        }
        for index in (100..<10_000).reversed() { _ = audience.remove(at: index) }
        #expect(audience.members == (0..<100).map { Int32($0) })
        #expect(audience.sockets.map(\.rawValue) == (0..<100).map { CInt($0) })
        #expect(audience.members.capacity <= 1_024 && audience.sockets.capacity <= 1_024)
    }

    /// Every move at least halves the memory, so few follow from thousands of removals.
    @Test func `an array that shrinks moves rarely`() {
        var array = Array(0..<16_384)
        var moves = 0
        while !array.isEmpty {
            array.removeLast()
            let capacity = array.capacity
            array.shrinkAfterPeak()
            if array.capacity != capacity { moves += 1 }
        }
        #expect(moves > 0 && moves <= 8 && array.capacity <= 256)
    }

    @Test func `the places of audiences are given back once there are none`() throws {
        var rig = LoopRig()
        _ = try rig.endpoint(1)
        let audiences = (1...1_000).map { AudienceID($0) }
        for audience in audiences { rig.perform([.join(ConnectionID(1), audience)]) }
        #expect(rig.core.audiences.count == 1_000)
        for audience in audiences { rig.perform([.leave(ConnectionID(1), audience)]) }
        #expect(rig.core.audiences.isEmpty && rig.core.freeAudiences.isEmpty)
        rig.perform([.join(ConnectionID(1), audiences[0])])
        rig.perform([.publish(audiences[0], LoopRig.batch([LoopRig.alert(1)]))])
        #expect(rig.sent(0) == LoopRig.bytes([LoopRig.alert(1)]))
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
