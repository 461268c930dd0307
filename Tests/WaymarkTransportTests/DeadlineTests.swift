import NIOCore
import NIOEmbedded
import Testing
import WaymarkProtocol
import WaymarkSimulation
import WaymarkTransport

private final class Member: HasDeadline {
    let number: Int
    var deadlinePlace: Int?
    init(_ number: Int) { self.number = number }
}

@Suite struct DeadlineTests {
    @Test(arguments: 0..<50)
    func `a heap does what a list that is searched would do`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let members = (0..<Int.random(in: 1...40, using: &random)).map(Member.init)
        var heap = DeadlineHeap<Member>()
        var model: [Int: Instant] = [:]
        var now = Instant(nanoseconds: 0)
        for _ in 0..<2_000 {
            let member = members.randomElement(using: &random)!
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6:
                let instant = Instant(nanoseconds: now.nanoseconds + .random(in: -5...50, using: &random))
                heap.set(member, at: instant)
                model[member.number] = instant
            case 6..<8:
                heap.remove(member)
                model[member.number] = nil
            case _:
                now.nanoseconds += .random(in: 0...10, using: &random)
                var last: Instant?
                while let due = heap.takeDue(at: now) {
                    let instant = model.removeValue(forKey: due.number)
                    #expect(instant.map { $0 <= now && last ?? $0 <= $0 } == true)
                    #expect(due.deadlinePlace == nil)
                    last = instant
                }
                #expect(!model.values.contains { $0 <= now })
            }
            #expect(heap.count == model.count)
            #expect(heap.next == model.values.min())
            for member in members { #expect((member.deadlinePlace == nil) == (model[member.number] == nil)) }
        }
    }

    @Test func `many deadlines are met in their order, none too early and none much too late`() throws {
        let bench = Bench()
        // Millisecond by millisecond, beside the round ones that deadlines are put together to.
        let peers = try (0..<40).map { number in
            defer { bench.loop.advanceTime(by: .milliseconds(1)) }
            return try bench.vehicle("car-\(number)", keepaliveMilliseconds: 1_000)
        }
        // The first one's time is over at 1 000, and now it is 40.
        var late: [Int?] = Array(repeating: nil, count: peers.count)
        for millisecond in 40...1_060 {
            for (number, peer) in peers.enumerated() where late[number] == nil {
                let hasPing = try peer.receive().contains { $0.message.type == .ping }
                if hasPing { late[number] = millisecond - 1_000 - number }
            }
            bench.loop.advanceTime(by: .milliseconds(1))
        }
        for lateness in late { #expect((0...10).contains(lateness ?? -1), "\(lateness as Int?)") }
    }

    @Test func `who has gone is waited for no longer`() throws {
        let bench = Bench { $0.connection.handshakeTimeout = .seconds(5) }
        let peer = try bench.connect()
        let stays = try bench.connect()
        bench.loop.advanceTime(by: .seconds(1))
        try peer.close()
        bench.loop.advanceTime(by: .seconds(4))
        #expect(try peer.receive().isEmpty)
        #expect(try stays.goodbye()?.code == .handshakeTimeout)
    }
}
