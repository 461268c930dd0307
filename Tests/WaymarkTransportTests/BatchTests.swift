import NIOCore
import NIOEmbedded
import Testing
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

@Suite(.timeLimit(.minutes(10))) struct BatchTests {
    private let trip = Trip(
        id: "t", origin: Waypoint(center: Coordinate(latitude: 1, longitude: 1)),
        destination: Waypoint(center: Coordinate(latitude: 2, longitude: 2)))

    /// An endpoint with a length limit for road names.
    private func shortNamed(_ bench: Bench) throws -> Peer {
        let peer = try bench.connect()
        var hello = Bench.vehicleHello("car", "short")
        guard case .vehicle(var vehicle) = hello.role else { throw UnexpectedResult(got: "\(hello)") }
        vehicle.limits.currentRoadNameLengthMax = 4
        hello.role = .vehicle(vehicle)
        try peer.send(.hello(hello))
        return peer
    }

    @Test func `the frames of one read leave in one write to endpoints of every profile`() throws {
        let bench = Bench()
        let plain = try bench.vehicle("car", endpoint: "plain")
        let short = try self.shortNamed(bench)
        let (client, session) = try bench.guide(["car"])
        let start = Publication.startGuidance(self.trip, generation: 1, .init())
        try client.send(.publication(start), session: session, sequence: 1)
        for peer in [plain, short] { _ = try peer.receive() }

        let names = (2...30).map { ["Highway \($0)", "H \($0)"] }
        try client.send(
            zip(UInt64(2)..., names).map { sequence, names in
                Envelope(.publication(.currentRoadName(names)), session: session, sequence: sequence)
            })
        for (peer, expected) in [(plain, names.flatMap(\.self)), (short, names.map { $0[1] })] {
            let buffer = try #require(try peer.channel.readOutbound(as: ByteBuffer.self))
            #expect(try peer.channel.readOutbound(as: ByteBuffer.self) == nil, "one write for one read")
            var splitter = FrameSplitter(frameBytesMax: ProtocolConstants.frameBytes.upperBound)
            splitter.append(Array(buffer.readableBytesView))
            var got: [String] = []
            while let frame = try splitter.next() {
                guard case .publication(.plain(.currentRoadName(let names))) = try Codec.decode(frame).message
                else {
                    throw UnexpectedResult(got: "\(frame)")
                }
                got += names
            }
            #expect(got == expected)
        }
    }

    @Test func `the first read of a tick is sent immediately and the others together at its end`() throws {
        let bench = Bench()
        let endpoint = try bench.vehicle("car")
        let (client, session) = try bench.guide(["car"])
        let start = Publication.startGuidance(self.trip, generation: 1, .init())
        try client.send(.publication(start), session: session, sequence: 1)
        _ = try endpoint.receive()

        let reads = (UInt64(2)...4).map { sequence in
            Codec.encode(
                Envelope(
                    .publication(.currentRoadName(["\(sequence)"])), session: session, sequence: sequence)
            ).bytes
        }
        for read in reads { try client.channel.writeInbound(ByteBuffer(bytes: read)) }
        let first = try #require(try endpoint.channel.readOutbound(as: ByteBuffer.self))
        #expect(Array(first.readableBytesView) == Array(reads[0]))
        #expect(try endpoint.channel.readOutbound(as: ByteBuffer.self) == nil)
        bench.loop.run()
        let rest = try #require(try endpoint.channel.readOutbound(as: ByteBuffer.self))
        #expect(Array(rest.readableBytesView) == reads[1...].flatMap(Array.init))
        #expect(try endpoint.channel.readOutbound(as: ByteBuffer.self) == nil, "one write for two reads")
    }

    @Test func `an endpoint that receives frames all the time is not pinged`() throws {
        let bench = Bench()
        let endpoint = try bench.vehicle("car", keepaliveMilliseconds: 1_000)
        let (client, session) = try bench.guide(["car"])
        let start = Publication.startGuidance(self.trip, generation: 1, .init())
        try client.send(.publication(start), session: session, sequence: 1)
        _ = try endpoint.receive()

        var sequence: UInt64 = 1
        /// The number of pings in one interval.
        func pings(publishing isPublishing: Bool) throws -> Int {
            // The gateway ignores this frame, but it shows that the peer is alive.
            let header = FrameHeader(type: 0x7FFF, flags: .skippable, session: .none, sequence: 0)
            try endpoint.send(Array(Frame(header: header, body: []).bytes))
            for _ in 0..<4 {
                if isPublishing {
                    sequence += 1
                    try client.send(
                        .publication(.currentRoadName(["\(sequence)"])), session: session, sequence: sequence)
                }
                bench.loop.advanceTime(by: .milliseconds(250))
            }
            return try endpoint.receive().count { if case .ping = $0.message { true } else { false } }
        }
        _ = try pings(publishing: true)
        for _ in 3...6 { #expect(try pings(publishing: true) == 0) }
        #expect(try pings(publishing: false) == 1)
    }
}
