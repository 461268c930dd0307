#if Inspector
    package import Hummingbird
    internal import Glibc
    internal import HummingbirdCore
    package import Logging
    package import NIOCore
    internal import NIOHTTP1
    internal import NIOHTTPTypes
    internal import NIOPosix
    internal import NetworkErrors
    package import ListeningSockets

    /// An HTTP/1.1 server that only this machine can reach, and that pages of other sites cannot use.
    ///
    /// It checks every request by ``RequestCheck`` before the responder sees it. What a peer can make it do is limited by
    /// ``Limits``. It answers from when it is open until it is closed.
    package struct LoopbackServer: Sendable {
        package struct Limits: Sendable, Hashable {
            /// The target and the headers of a request, together.
            package var headBytes = 16_384
            package var headerCount = 64
            /// Open connections. A further one replaces the one that has been idle longest, see ``OpenConnections``.
            package var connections = 64
            /// How long a connection may be open without a complete head of a request.
            package var idleTime = TimeAmount.seconds(90)
            /// From the head of a request to its end.
            package var requestTime = TimeAmount.seconds(10)
            /// How long what was written may wait until the peer reads.
            package var readTime = TimeAmount.seconds(10)

            package init() {}
        }

        /// The bound address, with the port that the system chose.
        package let address: LoopbackAddress
        private let channel: any Channel
        private let connections: ConnectionTasks
        /// The socket's file.
        private let file: SocketFile?

        /// Opens a server, with the port that the system chose. A socket file without a listening process is replaced; a new file
        /// is its user's alone. `names` are further names that Host may have: `localhost` or none. A server that changes nothing can
        /// answer requests other than GET and HEAD without an Origin.
        package static func open<Responder: HTTPResponder>(
            _ address: LoopbackAddress, names: Set<String> = [], needsOrigin: Bool = true,
            limits: Limits = Limits(),
            logger: Logger = Logger(label: "waymark", factory: { _ in SwiftLogNoOpLogHandler() }),
            _ responder: Responder
        ) async throws(ListenerError) -> LoopbackServer
        where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
            let connections = ConnectionTasks()
            let openConnections = OpenConnections(max: limits.connections)
            let bootstrap = Self.bootstrap(openConnections, logger).childChannelInitializer { channel in
                let check = RequestCheck(
                    address.bound(to: ListenAddress(channel.localAddress)), names: names,
                    needsOrigin: needsOrigin)
                let http = Self.http(CheckedResponder(responder, check), limits, logger) { use in
                    openConnections.change(channel, to: use)
                }
                let start = channel.eventLoop.makePromise(of: Void.self)
                return channel.eventLoop.makeCompletedFuture {
                    do { try channel.pipeline.syncOperations.addHandler(ConnectionStart(start)) } catch {
                        // The channel is closed, and has no task yet.
                        start.succeed()
                        throw error
                    }
                }.flatMap { http.setup(channel: channel, logger: logger) }.map { value in
                    connections.add {
                        do { try await start.futureResult.get() } catch { /* It only succeeds. */  }
                        await http.handle(value: value, logger: logger)
                    }
                }
            }
            var file: SocketFile?
            do {
                let channel: any Channel
                switch address.address {
                case .unix(let path):
                    let (descriptor, ownFile) = try await SocketFile.listen(at: path, SocketPermissions())
                    file = ownFile
                    channel = try await bootstrap.withBoundSocket(descriptor).get()
                case .tcp(let host, let port):
                    channel = try await bootstrap.bind(to: SocketAddress(ipAddress: host, port: port)).get()
                }
                let bound = address.bound(to: ListenAddress(channel.localAddress))
                return LoopbackServer(address: bound, channel: channel, connections: connections, file: file)
            } catch let error as ListenerError {
                throw error
            } catch {
                await file?.remove()
                if NetworkError.code(of: error) == EADDRINUSE { throw .inUse(address.address) }
                throw .failed(address.address, reason: NetworkError.reason(error))
            }
        }

        /// Waits for ``close()``; if its task is cancelled, closes and also ends what is being answered.
        package func run() async {
            await withTaskCancellationHandler {
                do { try await self.channel.closeFuture.get() } catch { /* It is closed. */  }
                await self.connections.cancel()
            } onCancel: {
                self.removeFileNow()
                self.channel.close(promise: nil)
            }
        }

        /// Stops listening, removes the socket's file, ends what is being answered, and ends ``run()``.
        package func close() async {
            // While the socket is open: its file's number could be another's afterwards.
            if self.channel.isActive { await self.file?.remove() }
            do { try await self.channel.close() } catch { /* It was closed already. */  }
            await self.connections.cancel()
        }

        /// Removes the socket's file, when the program ends at once.
        package func removeFileNow() { self.file?.removeNow() }

        private static func bootstrap(_ connections: OpenConnections, _ logger: Logger) -> ServerBootstrap {
            ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.backlog, value: 256)
                .serverChannelOption(.maxMessagesPerRead, value: 1)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .serverChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandlers([
                            AcceptPause(logger), ConnectionGate(connections),
                        ])
                    }
                }
                .childChannelOption(.allowRemoteHalfClosure, value: true)
        }

        private static func http<Responder: HTTPResponder>(
            _ responder: Responder, _ limits: Limits, _ logger: Logger,
            onUse: @escaping @Sendable (ConnectionUse) -> Void
        ) -> HTTP1Channel
        where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
            let decoder = HTTP1Channel.Configuration.DecoderConfiguration(
                maxHeaderFieldSize: limits.headBytes, maxHeaderListSize: limits.headBytes,
                maxHeaderFieldCount: limits.headerCount)
            let configuration = HTTP1Channel.Configuration(
                additionalChannelHandlers: [RequestTimer(limits, onUse: onUse)],
                httpDecoderConfiguration: decoder)
            return HTTP1Channel(
                responder: { request, writer, channel in
                    let source = ApplicationRequestContextSource(channel: channel, logger: logger)
                    let response: Response
                    do {
                        response = try await responder.respond(
                            to: request, context: Responder.Context(source: source))
                    } catch let error as HTTPParserError {
                        throw error
                    } catch {
                        response = Response(status: .internalServerError)
                    }
                    do {
                        try await writer.write(response: response.head, body: response.body)
                    } catch is HTTPParserError {
                        // Another response must not follow.
                        throw ChannelError.ioOnClosedChannel
                    }
                }, configuration: configuration)
        }
    }
#endif
