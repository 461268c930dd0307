internal import Glibc
package import Logging
package import NIOCore
internal import NIOPosix
internal import WaymarkCodec
package import WaymarkGateway
package import WaymarkProtocol
internal import WaymarkTelemetry

/// Why a listener could not be opened.
package enum ListenerError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Somebody listens there already.
    case inUse(ListenAddress)
    /// There is a file that is not a socket.
    case notASocket(path: String)
    /// The system refused.
    case failed(ListenAddress, reason: String)

    package var description: String {
        switch self {
        case .inUse(let address): "another process listens on \(address) already"
        case .notASocket(let path): "\(path) exists and is not a socket"
        case .failed(let address, let reason): "cannot listen on \(address): \(reason)"
        }
    }
}

/// One listening socket and what comes through it.
package struct Listener: Sendable {
    /// As bound: with the port that the system chose.
    package let address: ListenAddress
    private let channel: any Channel

    /// Opens a listener.
    ///
    /// A socket file that nobody listens on is replaced.
    package static func open(
        _ address: ListenAddress, policy: ListenerPolicy, driver: GatewayDriver, group: any EventLoopGroup,
        connectionLimits: ConnectionLimits, outboxLimits: Outbox.Limits,
        clock: @escaping @Sendable () -> Instant,
        logger: Logger
    ) async throws(ListenerError) -> Listener {
        let services = ConnectionServices(
            connectionLimits: connectionLimits, outboxLimits: outboxLimits, clock: clock,
            newToken: { ResumptionToken(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max)) },
            submit: { driver.submit($0, from: $1) })
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1_024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 32_768, high: 65_536))
            .childChannelInitializer { channel in
                Self.accept(channel, policy, driver, services, logger)
            }
        do {
            let channel: any Channel
            switch address {
            case .tcp(let host, let port):
                channel = try await bootstrap.childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                    .bind(host: host, port: port).get()
            case .unix(let path):
                try await Self.removeStale(path, group)
                channel = try await bootstrap.bind(unixDomainSocketPath: path).get()
            }
            return Listener(address: ListenAddress(channel.localAddress) ?? address, channel: channel)
        } catch let error as ListenerError {
            throw error
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw .inUse(address)
        } catch {
            throw .failed(address, reason: "\(error)")
        }
    }

    /// Stops listening; connections stay.
    package func close() async {
        do { try await self.channel.close() } catch { /* It was closed already. */  }
        if case .unix(let path) = self.address { _ = unsafe unlink(path) }
    }

    private static func accept(
        _ channel: any Channel, _ policy: ListenerPolicy, _ driver: GatewayDriver,
        _ services: ConnectionServices,
        _ logger: Logger
    ) -> EventLoopFuture<Void> {
        let user = Self.user(of: channel)
        return driver.register(channel.eventLoop, user: user).hop(to: channel.eventLoop).flatMapThrowing {
            id in
            guard let id else {
                logger.warning("too many connections, refusing one", metadata: [LogKey.peer: "\(user ?? 0)"])
                try channel.pipeline.syncOperations.addHandler(RefusalHandler())
                return
            }
            let handler = ConnectionHandler(id: id, policy: policy, user: user, services: services)
            driver.attach(handler, on: channel.eventLoop)
            channel.closeFuture.whenComplete { _ in driver.detach(id, on: channel.eventLoop) }
            try channel.pipeline.syncOperations.addHandler(handler)
        }
    }

    /// The user id at the other end of a Unix socket.
    private static func user(of channel: any Channel) -> UInt32? {
        guard case .unixDomainSocket? = channel.localAddress,
            let provider = channel as? any SocketOptionProvider
        else { return nil }
        let option: EventLoopFuture<PeerCredentials> = provider.unsafeGetSocketOption(
            level: .init(rawValue: SOL_SOCKET), name: .init(rawValue: SO_PEERCRED))
        var user: UInt32?
        // On the channel's own loop the answer is there at once.
        option.assumeIsolated().whenSuccess { user = $0.user }
        return user
    }

    private static func removeStale(_ path: String, _ group: any EventLoopGroup) async throws {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw ListenerError.notASocket(path: path) }
        do {
            let probe = try await ClientBootstrap(group: group).connect(unixDomainSocketPath: path).get()
            try await probe.close()
        } catch {
            // Nobody listens: left behind by a process that ended without cleaning up.
            _ = unsafe unlink(path)
            return
        }
        throw ListenerError.inUse(.unix(path: path))
    }
}

/// Tells a peer that there are too many, and closes.
private final class RefusalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelActive(context: ChannelHandlerContext) {
        let goodbye = Goodbye(.tooManyConnections, reason: "the gateway has as many connections as it may")
        let channel = context.channel
        context.writeAndFlush(
            self.wrapOutboundOut(ByteBuffer(bytes: Codec.encode(Envelope(.goodbye(goodbye))).bytes))
        ).whenComplete { _ in
            channel.close(promise: nil)
        }
    }
}

/// `struct ucred` of unix(7), which Glibc shows only with extensions that Swift does not switch on.
private struct PeerCredentials: Sendable {
    var process: Int32 = 0
    var user: UInt32 = 0
    var group: UInt32 = 0
}
