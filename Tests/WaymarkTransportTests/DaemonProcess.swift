import Logging
import NIOCore
import NIOPosix
import Synchronization
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

/// A daemon process, reduced to its driver and event loops.
struct DaemonProcess {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    let driver: GatewayDriver

    init(_ limits: TransportLimits = .patient, policy: Gateway.Policy = .init()) {
        self.driver = GatewayDriver(
            loops: self.group.makeIterator().map { $0 as any EventLoop }, policy: policy,
            identity: GatewayIdentity(
                instance: GatewayName(unchecked: "process"), epoch: .random(in: 1 ... .max)),
            limits: limits,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            clock: { Instant(nanoseconds: Int64(NIODeadline.now().uptimeNanoseconds)) })
    }

    func connect(
        over transport: SocketPeer.Transport = .unix, sendBufferBytes: CInt? = nil,
        watch: WriteCounter = WriteCounter()
    ) async throws -> SocketPeer {
        try await SocketPeer.connect(
            to: self.driver, on: self.group.next(), over: transport, sendBufferBytes: sendBufferBytes,
            watch: watch)
    }

    func vehicle(
        _ id: String, over transport: SocketPeer.Transport = .unix, sendBufferBytes: CInt? = nil,
        watch: WriteCounter = WriteCounter()
    ) async throws -> SocketPeer {
        let peer = try await self.connect(
            over: transport, sendBufferBytes: sendBufferBytes, watch: watch)
        _ = try await peer.welcome(Bench.vehicleHello(id))
        return peer
    }

    /// Connects a client with a session for `vehicles`, and starts guidance.
    func guide(_ vehicles: [String]) async throws -> Guide {
        let peer = try await self.connect()
        _ = try await peer.welcome(Bench.navigationHello("app"))
        let ids = vehicles.map { VehicleID(unchecked: $0) }
        try peer.send(.openSession(OpenSession(requestID: "r", vehicles: .vehicles(ids))))
        let session = try await peer.await { message -> SessionID? in
            if case .sessionOpened(let opened) = message { opened.session } else { nil }
        }
        let guide = Guide(peer: peer, session: session)
        try guide.publish(.startGuidance(trip, generation: 1, .init()))
        return guide
    }

    /// Ends this process and closes its remaining connections.
    func end() async throws {
        try await self.driver.end()
        try await self.group.shutdownGracefully()
    }
}

extension TransportLimits {
    /// Limits for a machine that is busy with other tests.
    static let patient = {
        var limits = TransportLimits()
        limits.connection.handshakeTimeout = .seconds(600)
        limits.connection.keepalive = .seconds(600)
        limits.outbox.slowConsumerTimeout = .seconds(600)
        return limits
    }()
}

/// A navigation client that numbers its publications.
final class Guide: Sendable {
    let session: SessionID
    private let state: Mutex<(peer: SocketPeer, sequence: UInt64)>

    init(peer: sending SocketPeer, session: SessionID) {
        self.session = session
        self.state = Mutex((peer, 0))
    }

    var sequence: UInt64 { self.state.withLock { $0.sequence } }

    /// Uses up a number.
    func nextSequence() -> UInt64 {
        self.state.withLock { state in
            state.sequence += 1
            return state.sequence
        }
    }

    func publish(_ publication: Publication) throws { try self.send(self.next(publication).bytes) }

    /// The next frame of the session, for ``send(_:)``.
    func next(_ publication: Publication) -> Frame {
        self.state.withLock { state in
            state.sequence += 1
            return Codec.encode(
                Envelope(.publication(publication), session: self.session, sequence: state.sequence))
        }
    }

    func send(_ bytes: ArraySlice<UInt8>) throws { try self.state.withLock { try $0.peer.send(bytes) } }

    /// Publishes `count` alerts on a thread of its own: sending blocks while the gateway does not read.
    func alerts(_ count: Int) async throws {
        try await NIOThreadPool.singleton.runIfActive {
            for _ in 0..<count { try self.alert() }
        }
    }

    /// Publishes an alert, which is an event, with a text of `byteCount` bytes.
    func alert(_ byteCount: Int = 8) throws { try self.publish(Self.alert(byteCount)) }

    static func alert(_ byteCount: Int = 8) -> Publication {
        .showAlert(NavigationAlert(id: 1, titleVariants: [String(repeating: "x", count: byteCount)]))
    }
}
