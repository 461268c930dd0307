import Glibc
import ListeningSockets
import NIOCore
import NIOPosix
import Synchronization
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

/// A peer on a real socket.
final class SocketPeer {
    let descriptor: CInt
    private var splitter = FrameSplitter(frameBytesMax: ProtocolConstants.frameBytes.upperBound)
    private var isAtEnd = false

    init(_ descriptor: CInt) { self.descriptor = descriptor }

    deinit { Glibc.close(self.descriptor) }

    /// The kind of the gateway's end of a connection.
    enum Transport {
        case unix, tcp
        /// A channel that cannot be handed over to another process.
        case unportable
    }

    /// Connects to `driver` through a listener for all roles. The gateway's socket buffers about `sendBufferBytes`; `watch` counts the
    /// driver's writes to the channel.
    static func connect(
        to driver: GatewayDriver, on loop: any EventLoop, over transport: Transport = .unix,
        sendBufferBytes: CInt? = nil, watch: WriteCounter = WriteCounter()
    ) async throws -> SocketPeer {
        let (ours, theirs) = try transport == .tcp ? tcpPair() : unixPair()
        if var bytes = sendBufferBytes {
            let size = socklen_t(MemoryLayout<CInt>.size)
            guard setsockopt(theirs, SOL_SOCKET, SO_SNDBUF, &bytes, size) == 0 else {
                throw UnexpectedResult(got: "errno \(errno)")
            }
        }
        let origin = ConnectionOrigin(
            address: .unix(path: "/listener"),
            policy: ListenerPolicy(roles: [.vehicle, .navigation, .observer]))
        let accept: @Sendable (any Channel) -> EventLoopFuture<Void> = { channel in
            channel.pipeline.addHandler(watch).flatMap {
                driver.accept(channel, through: origin, from: .user(1_000), on: channel.bareSocket)
            }
        }
        switch transport {
        case .unix, .tcp:
            _ = try await ClientBootstrap(group: loop)
                .channelOption(.writeBufferWaterMark, value: .init(low: 32_768, high: 65_536))
                .channelInitializer(accept)
                .withConnectedSocket(theirs).get()
        case .unportable:
            _ = try await NIOPipeBootstrap(group: loop)
                .channelInitializer(accept)
                .takingOwnershipOfDescriptor(inputOutput: theirs).get()
        }
        return SocketPeer(ours)
    }

    func send(_ bytes: some Collection<UInt8>) throws {
        let bytes = Array(bytes)
        guard Glibc.send(self.descriptor, bytes, bytes.count, 0) == bytes.count else {
            throw UnexpectedResult(got: "errno \(errno)")
        }
    }

    func send(_ message: Message, session: SessionID = .none, sequence: UInt64 = 0) throws {
        try self.send(Codec.encode(Envelope(message, session: session, sequence: sequence)).bytes)
    }

    /// The next frame; nil at the end of the stream.
    func receive() async throws -> Frame? {
        while true {
            if let frame = try self.splitter.next() { return frame }
            if self.isAtEnd { return nil }
            // On the thread pool, since waiting blocks a thread and the tests' own pool is small.
            let bytes = try await NIOThreadPool.singleton.runIfActive { [descriptor] in
                var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard Glibc.poll(&poll, 1, 20_000) > 0 else { throw UnexpectedResult(got: "nothing") }
                var bytes = [UInt8](repeating: 0, count: 65_536)
                let count = recv(descriptor, &bytes, bytes.count, 0)
                guard count >= 0 else { throw UnexpectedResult(got: "errno \(errno)") }
                return Array(bytes[..<count])
            }
            self.isAtEnd = bytes.isEmpty
            self.splitter.append(bytes)
        }
    }

    /// Skips messages until `choose` returns a value.
    func await<Value>(_ choose: (Message) -> Value?) async throws -> Value {
        let decoder = BodyDecoder()
        var last: Message?
        while let frame = try await self.receive() {
            let message = try decoder.decode(frame).message
            if let value = choose(message) { return value }
            last = message
        }
        throw UnexpectedResult(got: last.map { "the end after \($0)" } ?? "the end")
    }

    /// Sends a Hello and returns the Welcome.
    func welcome(_ hello: Hello) async throws -> Welcome {
        try self.send(.hello(hello))
        return try await self.await { if case .welcome(let welcome) = $0 { welcome } else { nil } }
    }

    /// The sequence numbers of the alerts up to number `last` or, if `mayEnd` is set, to the end of the stream. Other frames are
    /// skipped.
    func alerts(upTo last: UInt64, orEnd mayEnd: Bool = false) async throws -> [UInt64] {
        var numbers: [UInt64] = []
        while numbers.last != last {
            guard let frame = try await self.receive() else {
                if mayEnd { break }
                throw UnexpectedResult(got: "the end after \(numbers.last ?? 0)")
            }
            if frame.header.type == .showAlert { numbers.append(frame.header.sequence) }
        }
        return numbers
    }
}

/// Counts writes to a channel. Bytes that are sent directly on the socket are not counted.
final class WriteCounter: ChannelOutboundHandler, Sendable {
    typealias OutboundIn = ByteBuffer

    private let counted = Atomic(0)

    var count: Int { self.counted.load(ordering: .relaxed) }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        self.counted.add(1, ordering: .relaxed)
        context.write(data, promise: promise)
    }
}

func unixPair() throws -> (CInt, CInt) {
    var pair: [CInt] = [0, 0]
    guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &pair) == 0 else {
        throw UnexpectedResult(got: "errno \(errno)")
    }
    return (pair[0], pair[1])
}

private func tcpPair() throws -> (CInt, CInt) {
    let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    // A sockaddr_in in bytes: the family in the order of this machine, port 0, 127.0.0.1. In a build of whole modules the fields of the
    // type itself belong to a module of SwiftNIO that this one must not import.
    var address = withUnsafeBytes(of: sa_family_t(AF_INET), Array.init) + [0, 0, 127, 0, 0, 1]
    address += [UInt8](repeating: 0, count: 8)
    var length = socklen_t(address.count)
    let ours = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    let isConnected = address.withUnsafeMutableBytes {
        $0.withMemoryRebound(to: sockaddr.self) {
            bind(listener, $0.baseAddress, length) == 0 && listen(listener, 1) == 0
                && getsockname(listener, $0.baseAddress, &length) == 0
                && connect(ours, $0.baseAddress, length) == 0
        }
    }
    guard isConnected else { throw UnexpectedResult(got: "errno \(errno)") }
    return (ours, accept(listener, nil, nil))
}
