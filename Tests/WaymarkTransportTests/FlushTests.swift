import Glibc
import NIOCore
import NIOEmbedded
import Testing
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

@Suite(.timeLimit(.minutes(10))) struct FlushTests {
    /// With one answer in a read, and with two.
    @Test(arguments: [["1"], ["1", "2"]])
    func `the outcome of a request is sent to the vehicle first, then to the client, then logged`(
        _ requests: [Identifier]
    ) throws {
        let bench = Bench()
        let (client, session) = try bench.guide(["car"])
        // Connected after the client, so that the order of connecting cannot explain the result.
        let vehicle = try bench.vehicle("car")
        try client.startGuidance(session)
        for id in requests {
            try vehicle.send(
                .waypointRequest(WaypointRequest(requestID: id, waypoint: waypoint)), session: session)
        }
        var flushes: [String] = []
        for (peer, name) in [(client, "client"), (vehicle, "vehicle")] {
            let recorder = FlushObserver { _ in
                let logged = bench.log.lines.count { $0.sentence == "a request ended" }
                flushes.append("\(name), \(logged) logged")
            }
            try peer.channel.pipeline.syncOperations.addHandler(recorder, position: .first)
        }
        try client.send(
            requests.map { id in
                Envelope(
                    .requestAnswer(
                        RequestAnswer(
                            requestID: id, vehicle: VehicleID(unchecked: "car"), answer: .decline(.busy))))
            })
        // One flush for each peer.
        #expect(flushes == ["vehicle, 0 logged", "client, 0 logged"])
        #expect(bench.log.lines.count { $0.sentence == "a request ended" } == requests.count)
    }

    /// Like NIO: when a write fails, the channel reads the remaining input and closes before the write returns.
    @Test func `input that arrives during a write is processed after it`() throws {
        // An Acknowledgement divides what is sent, and what waits when the cancellation comes is dropped.
        var policy = Gateway.Policy()
        policy.acknowledgements.frames = .max
        let bench = Bench(policy: policy)
        let first = try bench.connect()
        let (ours, theirs) = try unixPair()
        defer { close(theirs) }
        first.channel.pipeline.fireUserInboundEventTriggered(BareSocket(descriptor: theirs))
        try first.send(.hello(Bench.vehicleHello("car", "first")))
        let second = try bench.vehicle("car", endpoint: "second")
        let (client, session) = try bench.guide(["car"])
        try client.startGuidance(session)
        _ = try second.receive()

        close(ours)
        let cancel = Codec.encode(Envelope(.cancelNavigation(.userStopped), session: session))
        var isRead = false
        let reader = FlushObserver { context in
            guard !isRead else { return }
            isRead = true
            context.fireChannelRead(NIOAny(ByteBuffer(bytes: cancel.bytes)))
        }
        try first.channel.pipeline.syncOperations.addHandler(reader, position: .first)

        // Enough bytes for a flush while the frames are still being sent to both endpoints.
        let names = (0..<500).map {
            Message.publication(.currentRoadName(["\($0) " + String(repeating: "x", count: 80)]))
        }
        try client.send(
            zip(UInt64(2)..., names).map { sequence, name in
                Envelope(name, session: session, sequence: sequence)
            })
        // The gateway needs several turns.
        bench.loop.advanceTime(by: .milliseconds(1))
        #expect(isRead)
        let end = Message.sessionEnded(SessionEnded(session: session, reason: .userStopped))
        #expect(try second.receive().map(\.message) == names + [end])
    }
}

/// Calls a closure before each flush of a channel.
private final class FlushObserver: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    private let observe: (ChannelHandlerContext) -> Void

    init(_ observe: @escaping (ChannelHandlerContext) -> Void) { self.observe = observe }

    func flush(context: ChannelHandlerContext) {
        self.observe(context)
        context.flush()
    }
}
