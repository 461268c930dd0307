import NIOCore
import Testing
import WaymarkCodec
import WaymarkProtocol
import WaymarkTransport

@Suite struct KeyBytesTests {
    private static func buffer(_ message: Message) -> ByteBuffer {
        ByteBuffer(bytes: Codec.encode(Envelope(message)).bytes)
    }

    /// Before the Welcome it may be a Hello with a key, and the loop uses the memory again.
    @Test func `what was read is overwritten before the Welcome, and not after it`() throws {
        let bench = Bench()
        let peer = try bench.connect()
        // Both share their memory with what the channel reads.
        let hello = Self.buffer(.hello(Bench.vehicleHello("car")))
        let ping = Self.buffer(.ping(nonce: 5))
        for buffer in [hello, ping] {
            try peer.channel.writeInbound(buffer)
            bench.loop.run()
        }
        #expect(try peer.receive().map(\.message.type) == [.welcome, .pong])
        #expect(hello.readableBytes > 24 && hello.readableBytesView.allSatisfy { $0 == 0 })
        #expect(ping.readableBytesView.contains { $0 != 0 })
    }

    @Test func `what a refused peer says is overwritten`() throws {
        let bench = Bench { $0.connections.connectionsMax = 0 }
        let peer = try bench.connect()
        let hello = Self.buffer(.hello(Bench.vehicleHello("car")))
        try peer.channel.writeInbound(hello)
        bench.loop.run()
        #expect(try peer.goodbye()?.code == .tooManyConnections)
        #expect(hello.readableBytes > 24 && hello.readableBytesView.allSatisfy { $0 == 0 })
    }
}
