import NIOCore
import NIOEmbedded
import Testing
import WaymarkProtocol
import WaymarkSimulation
import WaymarkTransport

private final class Member: HasDeadline {
    let number: Int
    var deadlinePlace: DeadlinePlace?
    init(_ number: Int) { self.number = number }
}

@Suite struct DeadlineTests {
    @Test(arguments: 0..<50)
    func `a book does what a list that is searched would do`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let members = (0..<Int.random(in: 1...40, using: &random)).map(Member.init)
        var book = DeadlineBook<Member>(unit: .nanoseconds(10))
        // Ends of turns.
        var model: [Int: Int64] = [:]
        var now = Instant(nanoseconds: 0)
        for _ in 0..<2_000 {
            let member = members.randomElement(using: &random)!
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6:
                let instant = now.nanoseconds + .random(in: -5...50, using: &random)
                book.set(member, at: Instant(nanoseconds: instant))
                model[member.number] = instant > 0 ? (instant + 9) / 10 * 10 : instant
            case 6..<8:
                book.remove(member)
                model[member.number] = nil
            case _:
                now.nanoseconds += .random(in: 0...10, using: &random)
                var last = Int64.min
                while let due = book.takeDue(at: now) {
                    let end = model.removeValue(forKey: due.number)
                    #expect(end.map { $0 <= now.nanoseconds && last <= $0 } == true)
                    #expect(due.deadlinePlace == nil)
                    last = end ?? last
                }
                #expect(!model.values.contains { $0 <= now.nanoseconds })
            }
            #expect(book.count == model.count)
            // Never later than the earliest; nil when nobody waits.
            let earliest = model.values.min()
            #expect((book.next == nil) == (earliest == nil))
            #expect(book.next.map { $0.nanoseconds <= earliest ?? .min } ?? true)
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
