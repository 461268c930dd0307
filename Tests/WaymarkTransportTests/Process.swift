import Logging
import NIOCore
import NIOPosix
import Synchronization
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

/// A process of the daemon, as far as its connections go.
struct Process {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    let driver: GatewayDriver

    init(_ limits: TransportLimits = .patient, policy: Gateway.Policy = .init()) {
        self.driver = GatewayDriver(
            loops: self.group.makeIterator().map { $0 as any EventLoop }, policy: policy, limits: limits,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            clock: { Instant(nanoseconds: Int64(NIODeadline.now().uptimeNanoseconds)) })
    }

    func connect(
        overTCP: Bool = false, sendBufferBytes: CInt? = nil, watch: WriteCounter = WriteCounter()
    ) async throws -> SocketPeer {
        try await SocketPeer.connect(
            to: self.driver, on: self.group.next(), overTCP: overTCP, sendBufferBytes: sendBufferBytes,
            watch: watch)
    }

    func vehicle(
        _ id: String, overTCP: Bool = false, sendBufferBytes: CInt? = nil,
        watch: WriteCounter = WriteCounter()
    ) async throws -> SocketPeer {
        let peer = try await self.connect(overTCP: overTCP, sendBufferBytes: sendBufferBytes, watch: watch)
        try peer.send(.hello(Bench.vehicleHello(id)))
        _ = try await peer.await { if case .welcome = $0 { true } else { nil } }
        return peer
    }

    /// A client with a session for `vehicles`, in which guidance has started.
    func guide(_ vehicles: [String]) async throws -> Guide {
        let peer = try await self.connect()
        try peer.send(.hello(Bench.navigationHello("app")))
        _ = try await peer.await { if case .welcome = $0 { true } else { nil } }
        let ids = vehicles.map { VehicleID(unchecked: $0) }
        try peer.send(.openSession(OpenSession(requestID: "r", vehicles: .vehicles(ids))))
        let session = try await peer.await { message -> SessionID? in
            if case .sessionOpened(let opened) = message { opened.session } else { nil }
        }
        let guide = Guide(peer: peer, session: session)
        try guide.publish(.startGuidance(trip, generation: 1, .init()))
        return guide
    }
}

extension TransportLimits {
    /// For a machine that is busy with other tests.
    static let patient = {
        var limits = TransportLimits()
        limits.connection.handshakeTimeout = .seconds(600)
        limits.connection.keepalive = .seconds(600)
        return limits
    }()
}

/// A navigation client, which numbers what it publishes.
final class Guide: Sendable {
    let session: SessionID
    private let state: Mutex<(peer: SocketPeer, sequence: UInt64)>

    init(peer: sending SocketPeer, session: SessionID) {
        self.session = session
        self.state = Mutex((peer, 0))
    }

    var sequence: UInt64 { self.state.withLock { $0.sequence } }

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

    /// Publishes an event with a text of `byteCount` bytes.
    func alert(_ byteCount: Int = 8) throws { try self.publish(Self.alert(byteCount)) }

    static func alert(_ byteCount: Int = 8) -> Publication {
        .showAlert(NavigationAlert(id: 1, titleVariants: [String(repeating: "x", count: byteCount)]))
    }
}
