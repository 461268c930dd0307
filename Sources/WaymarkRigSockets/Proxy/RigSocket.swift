internal import Glibc
package import NIOCore
internal import NIOPosix
internal import NetworkErrors
package import WaymarkClient

/// An actor on the event loop of its sockets: it learns what happens to them in order, and before anything else happens.
package protocol SocketOwner: Actor {
    nonisolated var loop: any EventLoop { get }
    /// Something happened to the socket of this number.
    func handle(_ event: SocketEvent, of number: Int)
    /// A listener has accepted a connection.
    ///
    /// - Returns: The number of its socket.
    func accepted(_ socket: RigSocket, by listener: Int) -> Int
}

/// What happens to a socket.
package enum SocketEvent: Sendable {
    /// It is connected, and reads nothing yet.
    case opened(RigSocket)
    /// At most ``RigSocket/readBytes``.
    case bytes([UInt8])
    /// The other end writes no more.
    case ended
    /// Whether the kernel takes what is written; false while more than ``RigSocket/waterMark`` waits.
    case writable(Bool)
    /// Nothing happens to it any more. The reason if it could not be connected or was reset, as far as it is known.
    case closed(String?)
}

/// One end of a stream connection, TCP or Unix. Its methods are called on the loop of its owner.
package struct RigSocket: Sendable {
    /// The most that is read at a time.
    package static let readBytes = 65_536
    static let waterMark = ChannelOptions.Types.WriteBufferWaterMark(low: 32_768, high: 65_536)
    /// For so long a closed socket waits for its receiver to read what was written.
    static let closeTimeout = TimeAmount.seconds(5)

    let channel: any Channel

    /// Connects. The owner is told `opened`, or `closed` with the reason.
    package static func connect(
        to address: ServiceAddress, as number: Int, for owner: some SocketOwner
    ) {
        let bootstrap = ClientBootstrap(group: owner.loop)
            .channelOption(.autoRead, value: false)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.readBytes)
            )
            .channelOption(.writeBufferWaterMark, value: Self.waterMark)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        SocketHandler(owner, .connected(number)))
                }
            }
        let connecting =
            switch address {
            case .tcp(let host, let port):
                bootstrap.channelOption(.tcpOption(.tcp_nodelay), value: 1).connect(host: host, port: port)
            case .unix(let path): bootstrap.connect(unixDomainSocketPath: path)
            }
        connecting.hop(to: owner.loop).whenFailure { error in
            let reason = NetworkError.reason(error)
            owner.assumeIsolated { $0.handle(.closed(reason), of: number) }
        }
    }

    /// Starts or stops reading. While it is stopped the kernel's buffers fill, and then the sender waits.
    package func setReading(_ isReading: Bool) {
        do { try self.channel.syncOptions?.setOption(.autoRead, value: isReading) } catch {
            // It is closed, which its owner is told.
        }
    }

    /// Writes bytes by a call of their own, so that they are not joined with others here.
    package func write(_ bytes: [UInt8]) {
        self.channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
    }

    /// Writes no more: the other end reads the end behind all that was written.
    package func endWriting() { self.channel.close(mode: .output, promise: nil) }

    /// Closes both ways behind all that was written.
    package func close() {
        let channel = self.channel
        let timer = channel.eventLoop.scheduleTask(in: Self.closeTimeout) {
            RigSocket(channel: channel).reset()
        }
        let written = channel.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenComplete { _ in channel.close(mode: .all, promise: nil) }
        channel.closeFuture.whenComplete { _ in timer.cancel() }
        channel.close(mode: .output, promise: written)
    }

    /// Closes at once, and drops what is under way. Over TCP the other end gets a reset; Unix sockets have none, so that it reads the end.
    package func reset() {
        if let options = self.channel as? any SocketOptionProvider {
            // A failure means that it is closed.
            _ = options.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        }
        self.channel.close(mode: .all, promise: nil)
    }
}

/// Tells a socket's owner what happens to it.
final class SocketHandler<Owner: SocketOwner>: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    enum Origin: Sendable {
        case connected(Int)
        /// By the listener of this number.
        case accepted(Int)
    }

    private let owner: Owner
    private let origin: Origin
    /// nil until it is open.
    private var number: Int?
    private var isClosed = false
    private var hasEnded = false
    private var isOutputClosed = false
    private var reason: String?

    init(_ owner: Owner, _ origin: Origin) { (self.owner, self.origin) = (owner, origin) }

    func channelActive(context: ChannelHandlerContext) {
        let socket = RigSocket(channel: context.channel)
        switch self.origin {
        case .connected(let number):
            self.number = number
            self.tell(.opened(socket))
        case .accepted(let listener):
            self.number = self.owner.assumeIsolated { $0.accepted(socket, by: listener) }
            // Its owner may have closed it before it had a number.
            if self.isClosed { self.tell(.closed(self.reason)) }
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.tell(.bytes(Array(self.unwrapInboundIn(data).readableBytesView)))
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event as? ChannelEvent {
        case .inputClosed:
            self.hasEnded = true
            self.tell(.ended)
        case .outputClosed: self.isOutputClosed = true
        case nil: break
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.tell(.writable(context.channel.isWritable))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.reason = NetworkError.reason(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.isClosed = true
        // With nothing left to write, the channel closes at the end that it reads, and does not tell it.
        if self.isOutputClosed, !self.hasEnded, self.reason == nil { self.tell(.ended) }
        self.tell(.closed(self.reason))
    }

    private func tell(_ event: SocketEvent) {
        guard let number else { return }
        self.owner.assumeIsolated { $0.handle(event, of: number) }
    }
}
