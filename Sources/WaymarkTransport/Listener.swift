internal import Glibc
package import ListeningSockets
package import NIOCore
internal import NIOPosix
internal import NetworkErrors
internal import ProcessIO
internal import Synchronization

/// One listening socket and what comes through it.
package struct Listener: Sendable {
    /// Connections that are accepted before those that are there have their turn: each may bring its Hello along.
    static let acceptedAtOnceMax: UInt = 8

    /// The number of bytes that a connection's channel may buffer before further output waits.
    static let waterMark = ChannelOptions.Types.WriteBufferWaterMark(low: 32_768, high: 65_536)

    /// The bound address, with the port that the system chose.
    package let address: ListenAddress
    /// The policy, which may change while the listener is open.
    package let currentPolicy: CurrentPolicy
    private let channel: any Channel
    /// The socket's file; nil if this listener must not remove it.
    private let file: SocketFile?

    /// Opens a listener.
    ///
    /// A socket file without a listening process is replaced; the new file gets `permissions`.
    package static func open(
        _ address: ListenAddress, permissions: SocketPermissions = SocketPermissions(),
        currentPolicy: CurrentPolicy, driver: GatewayDriver, group: any EventLoopGroup
    ) async throws(ListenerError) -> Listener {
        let bootstrap = Self.bootstrap(currentPolicy, driver, group)
        switch address {
        case .unix(let path):
            let (descriptor, file) = try await SocketFile.listen(at: path, permissions)
            do throws(ListenerError) {
                return try await Self.adopt(descriptor, file, currentPolicy, bootstrap)
            } catch {
                await file.remove()
                throw error
            }
        case .tcp(let host, let port):
            let socketAddress = try Self.resolve(address, host, port)
            do {
                let channel = try await bootstrap.bind(to: socketAddress).get()
                return Listener(
                    address: ListenAddress(channel.localAddress) ?? address, currentPolicy: currentPolicy,
                    channel: channel,
                    file: nil)
            } catch let error as IOError where error.errnoCode == EADDRINUSE {
                throw .inUse(address)
            } catch {
                throw .failed(address, reason: NetworkError.reason(error))
            }
        }
    }

    /// Accepts from a socket that already listens, such as one of the service manager; the caller keeps its own descriptor.
    /// The socket's file, if it has one, is not removed when the listener is closed.
    package static func adopt(
        copyOf descriptor: CInt, currentPolicy: CurrentPolicy, driver: GatewayDriver,
        group: any EventLoopGroup
    ) async throws(ListenerError) -> Listener {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else {
            throw .unusable(descriptor: descriptor, reason: SystemError.reason(errno))
        }
        return try await Self.adopt(copy, nil, currentPolicy, Self.bootstrap(currentPolicy, driver, group))
    }

    /// Accepts no connections until ``resume()``: new peers wait in the kernel's queue. When this returns, the driver has been
    /// given every connection accepted before.
    package func pause() async { await self.setAccepting(false) }

    package func resume() async { await self.setAccepting(true) }

    private func setAccepting(_ isAccepting: Bool) async {
        do {
            try await self.channel.triggerUserOutboundEvent(AcceptPause.Command(isAccepting: isAccepting))
                .get()
        } catch { /* It is closed. */  }
    }

    /// Accepts from a socket that ``open(_:permissions:currentPolicy:driver:group:)`` opened in another process, and owns it from now
    /// on.
    ///
    /// - Returns: nil if the socket's file is gone, so that no peer can reach it; then the socket is closed.
    package static func takeOver(
        _ descriptor: CInt, at address: ListenAddress, currentPolicy: CurrentPolicy, driver: GatewayDriver,
        group: any EventLoopGroup
    ) async throws(ListenerError) -> Listener? {
        var file: SocketFile?
        if case .unix(let path) = address {
            file = try SocketFile.find(at: path)
            guard file != nil else {
                _ = Glibc.close(descriptor)
                return nil
            }
        }
        return try await Self.adopt(
            descriptor, file, currentPolicy, Self.bootstrap(currentPolicy, driver, group))
    }

    /// Closes a socket that ``open(_:permissions:currentPolicy:driver:group:)`` opened in another process, and removes its file.
    package static func discard(_ descriptor: CInt, at address: ListenAddress) async {
        if case .unix(let path) = address {
            do throws(ListenerError) { try await SocketFile.find(at: path)?.remove() } catch {
                /* The folder cannot be read, so the file is not ours. */
            }
        }
        _ = Glibc.close(descriptor)
    }

    /// Stops accepting, without closing the socket: new peers wait in the kernel's queue.
    ///
    /// - Returns: A descriptor of the socket, which the caller owns; nil if the listener was closed before.
    package func release() async -> CInt? { await Self.release(self.channel) }

    /// Closes the channel of a listening socket.
    ///
    /// - Returns: Another descriptor of the socket, which the caller owns; nil if the channel cannot be closed: then the caller
    ///   owns none.
    package static func release(_ channel: any Channel) async -> CInt? {
        let copy: CInt?
        do { copy = try await channel.eventLoop.submit { channel.bareSocket?.copyDescriptor() }.get() } catch
        {
            return nil  // Its loop has ended.
        }
        do {
            try await channel.close()
            return copy
        } catch {
            // It was closed elsewhere in the meantime.
            if let copy { _ = Glibc.close(copy) }
            return nil
        }
    }

    /// Stops listening; accepted connections stay open.
    package func close() async {
        await self.file?.remove()
        do { try await self.channel.close() } catch { /* It was closed already. */  }
    }

    private static func adopt(
        _ descriptor: CInt, _ file: SocketFile?, _ currentPolicy: CurrentPolicy, _ bootstrap: ServerBootstrap
    ) async throws(ListenerError) -> Listener {
        let channel: any Channel
        do { channel = try await bootstrap.withBoundSocket(descriptor).get() } catch {
            throw .unusable(descriptor: descriptor, reason: NetworkError.reason(error))
        }
        guard let address = ListenAddress(channel.localAddress) else {
            channel.close(promise: nil)
            throw .unusable(descriptor: descriptor, reason: "neither TCP nor Unix")
        }
        return Listener(address: address, currentPolicy: currentPolicy, channel: channel, file: file)
    }

    private static func bootstrap(
        _ currentPolicy: CurrentPolicy, _ driver: GatewayDriver, _ group: any EventLoopGroup
    ) -> ServerBootstrap {
        let address = BoundAddress()
        return ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: SocketFile.backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.maxMessagesPerRead, value: Self.acceptedAtOnceMax)
            .serverChannelInitializer { [logger = driver.logger] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptPause(logger))
                }
            }
            .childChannelInitializer { channel in
                do {
                    let address = try address.of(channel.parent)
                    if case .tcp = address {
                        try channel.syncOptions?.setOption(.tcpOption(.tcp_nodelay), value: 1)
                    }
                    // The operator has closed the listener after the kernel had accepted this connection.
                    guard let policy = currentPolicy.policy else { return channel.close() }
                    // Looked up once: the look-up costs as much as the rest of this initializer.
                    let socket = channel.bareSocket
                    return driver.accept(
                        channel,
                        through: ConnectionOrigin(
                            address: address, policy: policy, currentPolicy: currentPolicy),
                        from: Self.source(of: channel, socket, through: address), on: socket)
                } catch {
                    return channel.eventLoop.makeFailedFuture(error)
                }
            }
    }

    /// The address to bind to. `localhost` must be this machine.
    private static func resolve(
        _ address: ListenAddress, _ host: String, _ port: Int
    ) throws(ListenerError) -> SocketAddress {
        if let literal = ListenAddress.literal(host, port: port) { return literal }
        let resolved: SocketAddress
        do { resolved = try SocketAddress.makeAddressResolvingHost(host, port: port) } catch {
            throw .failed(address, reason: "the name \(host) is not known")
        }
        guard resolved.isLoopback || !address.isLocal else { throw .notLoopback(address) }
        return resolved
    }

    /// The source of a connection that a listener at `address` accepted.
    private static func source(
        of channel: any Channel, _ socket: BareSocket?, through address: ListenAddress
    ) -> PeerSource {
        switch address {
        case .unix: socket?.user.map(PeerSource.user) ?? .unknown
        case .tcp: channel.remoteAddress?.ipAddress.map(PeerSource.host) ?? .unknown
        }
    }
}

/// The bound address of a listener: looked up for the first connection and cached for all others.
private final class BoundAddress: Sendable {
    private let cached = Mutex<ListenAddress?>(nil)

    func of(_ listener: (any Channel)?) throws(ChannelError) -> ListenAddress {
        let address = self.cached.withLock { cached in
            cached = cached ?? ListenAddress(listener?.localAddress)
            return cached
        }
        guard let address else { throw .unknownLocalAddress }
        return address
    }
}
