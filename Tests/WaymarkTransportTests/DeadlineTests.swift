import NIOCore
import NIOEmbedded
import Testing
import WaymarkProtocol
import WaymarkTransport

@Suite struct DeadlineTests {
    @Test func `deadlines are met in order, never early and at most 10 ms late`() throws {
        let bench = Bench()
        // One millisecond apart, so that most deadlines do not fall on the end of a bucket.
        let peers = try (0..<40).map { number in
            defer { bench.loop.advanceTime(by: .milliseconds(1)) }
            return try bench.vehicle("car-\(number)", keepaliveMilliseconds: 1_000)
        }
        // The first deadline is at 1 000 ms, and now it is 40 ms.
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

    @Test func `the handshake deadline of a closed connection is cancelled`() throws {
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
