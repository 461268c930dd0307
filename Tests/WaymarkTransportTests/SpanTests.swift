import NIOCore
import NIOEmbedded
import Testing
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

@Suite struct SpanTests {
    private let trip = Trip(
        id: "t", origin: Waypoint(center: Coordinate(latitude: 1, longitude: 1)),
        destination: Waypoint(center: Coordinate(latitude: 2, longitude: 2)))

    /// A vehicle endpoint that shows only the first characters of a road's name.
    private func shortNamed(_ bench: Bench) throws -> Peer {
        let peer = try bench.connect()
        var hello = Bench.vehicleHello("car", "short")
        guard case .vehicle(var vehicle) = hello.role else { throw Surprise(got: "\(hello)") }
        vehicle.limits.currentRoadNameLengthMax = 4
        hello.role = .vehicle(vehicle)
        try peer.send(.hello(hello))
        return peer
    }

    @Test func `what is read at once goes out at once, to endpoints of every profile`() throws {
        let bench = Bench()
        let plain = try bench.vehicle("car", endpoint: "plain")
        let short = try self.shortNamed(bench)
        let (client, session) = try bench.guide(["car"])
        let start = Publication.startGuidance(self.trip, generation: 1, .init())
        try client.send(.publication(start), session: session, sequence: 1)
        for peer in [plain, short] { _ = try peer.receive() }

        let names = (2...30).map { ["Highway \($0)", "H \($0)"] }
        let bytes = zip(UInt64(2)..., names).flatMap { sequence, names in
            Array(
                Codec.encode(
                    Envelope(.publication(.currentRoadName(names)), session: session, sequence: sequence)
                ).bytes)
        }
        try client.send(bytes)
        for (peer, expected) in [(plain, names.flatMap(\.self)), (short, names.map { $0[1] })] {
            let buffer = try #require(try peer.channel.readOutbound(as: ByteBuffer.self))
            #expect(try peer.channel.readOutbound(as: ByteBuffer.self) == nil, "one write for one read")
            var splitter = FrameSplitter(frameBytesMax: ProtocolConstants.frameBytes.upperBound)
            splitter.append(Array(buffer.readableBytesView))
            var got: [String] = []
            while let frame = try splitter.next() {
                guard case .publication(.currentRoadName(let names)) = try Codec.decode(frame).message else {
                    throw Surprise(got: "\(frame)")
                }
                got += names
            }
            #expect(got == expected)
        }
    }
}
