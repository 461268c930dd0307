import ListeningSockets
import Logging
import NIOCore
import NIOEmbedded
import Synchronization
import Testing
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

/// A driver on an embedded loop, whose time a test advances.
final class Bench {
    let loop = EmbeddedEventLoop()
    let log = LogRecorder()
    let driver: GatewayDriver

    init(
        policy: Gateway.Policy = .init(), _ change: (inout TransportLimits) -> Void = { _ in }
    ) {
        var limits = TransportLimits()
        change(&limits)
        self.driver = GatewayDriver(
            loops: [self.loop], policy: policy, limits: limits, logger: self.log.logger,
            clock: { [loop] in Instant(nanoseconds: Int64(loop.now.uptimeNanoseconds)) })
    }

    /// Connects a peer through a listener with `policy`, which allows both roles by default.
    func connect(
        from source: PeerSource = .user(1_000),
        _ policy: ListenerPolicy = .init(roles: [.vehicle, .navigation])
    ) throws -> Peer {
        let peer = Peer(self.loop)
        let origin = ConnectionOrigin(address: .unix(path: "/listener"), policy: policy)
        let accepted = self.driver.accept(peer.channel, through: origin, from: source)
        self.loop.run()
        try accepted.wait()
        try peer.channel.connect(to: SocketAddress(unixDomainSocketPath: "/peer")).wait()
        self.loop.run()
        return peer
    }

    /// Connects a vehicle endpoint and waits for its Welcome.
    func vehicle(
        _ id: String, endpoint: String = "cluster", keepaliveMilliseconds: UInt32? = nil
    ) throws -> Peer {
        let peer = try self.connect()
        var hello = Self.vehicleHello(id, endpoint)
        hello.keepaliveMilliseconds = keepaliveMilliseconds
        try peer.send(.hello(hello))
        let welcome = try #require(peer.receive().first)
        guard case .welcome = welcome.message else { throw UnexpectedResult(got: "\(welcome)") }
        return peer
    }

    /// Connects a navigation client with a session for `vehicles`.
    func guide(_ vehicles: [String]) throws -> (client: Peer, session: SessionID) {
        let peer = try self.connect()
        try peer.send(.hello(Self.navigationHello("app")))
        try peer.send(
            .openSession(
                OpenSession(
                    requestID: "r", vehicles: .vehicles(vehicles.map { VehicleID(unchecked: $0) }))))
        let answers = try peer.receive()
        for case .sessionOpened(let opened) in answers.map(\.message) { return (peer, opened.session) }
        throw UnexpectedResult(got: "\(answers)")
    }

    static func vehicleHello(_ id: String, _ endpoint: String = "cluster") -> Hello {
        Hello(
            role: .vehicle(
                VehicleHello(
                    vehicle: VehicleID(unchecked: id), endpoint: EndpointName(unchecked: endpoint),
                    features: Set(Feature.allCases))))
    }

    static func navigationHello(_ id: String) -> Hello {
        Hello(
            role: .navigation(
                NavigationHello(client: ClientID(unchecked: id), features: Set(Feature.allCases))))
    }
}

struct UnexpectedResult: Error { var got: String }

/// A peer on an embedded channel, without a socket.
final class Peer {
    let channel: EmbeddedChannel
    private let transport = TransportRecorder()
    private let loop: EmbeddedEventLoop
    private var splitter = FrameSplitter(frameBytesMax: ProtocolConstants.frameBytes.upperBound)
    private(set) var sentByteCount = 0
    private(set) var receivedByteCount = 0
    /// Of the last call that received something.
    private(set) var lastReceivedByteCount = 0

    init(_ loop: EmbeddedEventLoop) {
        self.loop = loop
        self.channel = EmbeddedChannel(handlers: [self.transport], loop: loop)
    }

    /// The gateway has shut down its output or closed the connection.
    var isOutputClosed: Bool { self.transport.isOutputClosed || !self.isOpen }
    var isOpen: Bool { self.channel.isActive }
    /// The number of reads that the gateway requested.
    var readCount: Int { self.transport.readCount }

    func send(_ bytes: [UInt8]) throws {
        guard self.isOpen else { return }
        self.sentByteCount += bytes.count
        try self.channel.writeInbound(ByteBuffer(bytes: bytes))
        self.loop.run()
    }

    func send(_ message: Message, session: SessionID = .none, sequence: UInt64 = 0) throws {
        try self.send([Envelope(message, session: session, sequence: sequence)])
    }

    /// Sends several messages that the gateway receives in one read.
    func send(_ envelopes: [Envelope]) throws {
        try self.send(envelopes.flatMap { Array(Codec.encode($0).bytes) })
    }

    /// Sends a client's first publication.
    func startGuidance(_ session: SessionID) throws {
        try self.send(
            .publication(.startGuidance(trip, generation: 1, .init())), session: session, sequence: 1)
    }

    func close() throws {
        try self.channel.close().wait()
        self.loop.run()
    }

    /// The frames received since the last call.
    func receiveFrames() throws -> [Frame] {
        self.loop.run()
        var byteCount = 0
        while let buffer = try self.channel.readOutbound(as: ByteBuffer.self) {
            byteCount += buffer.readableBytes
            self.splitter.append(Array(buffer.readableBytesView))
        }
        self.receivedByteCount += byteCount
        if byteCount > 0 { self.lastReceivedByteCount = byteCount }
        var frames: [Frame] = []
        while let frame = try self.splitter.next() { frames.append(frame) }
        return frames
    }

    /// The same, of an observer, which is told at intervals.
    func told() throws -> [Envelope] {
        self.loop.advanceTime(by: .milliseconds(10))
        return try self.receive()
    }

    func receive() throws -> [Envelope] {
        try self.receiveFrames().compactMap { frame in
            frame.header.type == nil ? nil : try Codec.decode(frame)
        }
    }

    /// The Goodbye if it is the last message received, and the only Goodbye.
    func goodbye() throws -> Goodbye? {
        let goodbyes = try self.receive().map(\.message).map { message -> Goodbye? in
            if case .goodbye(let goodbye) = message { goodbye } else { nil }
        }
        guard goodbyes.compactMap({ $0 }).count == 1 else { return nil }
        return goodbyes.last ?? nil
    }

    /// The current road names received since the last call.
    func roadNames() throws -> [String] {
        try self.receive().flatMap { envelope -> [String] in
            if case .publication(.plain(.currentRoadName(let names))) = envelope.message { names } else { [] }
        }
    }

    /// Sets whether the peer reads. While it does not, writes to it stay pending.
    func setReading(_ isReading: Bool) {
        self.transport.setWriting(isReading)
        self.loop.run()
    }
}

/// Simulates what an embedded channel cannot do: half-closing, read requests, and writes that stay pending.
private final class TransportRecorder: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    private(set) var isOutputClosed = false
    private(set) var readCount = 0
    private var isWriting = true
    private var pending: [(data: NIOAny, promise: EventLoopPromise<Void>?)] = []
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !self.isWriting else { return context.write(data, promise: promise) }
        self.pending.append((data, promise))
    }

    func setWriting(_ isWriting: Bool) {
        self.isWriting = isWriting
        while self.isWriting, !self.pending.isEmpty {
            let (data, promise) = self.pending.removeFirst()
            self.context?.writeAndFlush(data, promise: promise)
        }
    }

    func read(context: ChannelHandlerContext) { self.readCount += 1 }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch mode {
        case .output:
            self.isOutputClosed = true
            promise?.succeed()
        case .input, .all: context.close(mode: mode, promise: promise)
        }
    }
}

/// Records log lines.
final class LogRecorder: Sendable {
    struct Line: Sendable {
        var level: Logger.Level
        var sentence: String
        var metadata: [String: String]
    }

    private let kept = Mutex<[Line]>([])

    var lines: [Line] { self.kept.withLock { $0 } }
    func lines(_ level: Logger.Level) -> [Line] { self.lines.filter { $0.level == level } }

    var logger: Logger { Logger(label: "test") { _ in Handler(recorder: self) } }

    private struct Handler: LogHandler {
        let recorder: LogRecorder
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let metadata = (event.metadata ?? [:]).mapValues { "\($0)" }
            self.recorder.kept.withLock {
                $0.append(Line(level: event.level, sentence: "\(event.message)", metadata: metadata))
            }
        }
    }
}
