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
    package import WaymarkTransport

    /// An HTTP/1.1 server that only this machine can reach, and that pages of other sites cannot use.
    ///
    /// It checks every request by ``RequestCheck`` before the responder sees it. What a peer can make it do is limited by
    /// ``Limits``. It accepts connections once it is open, and answers while ``run()`` is running.
    package struct LoopbackServer: Sendable {
        package struct Limits: Sendable, Hashable {
            /// The target and the headers of a request, together.
            package var headBytes = 16_384
            package var headerCount = 64
            /// More wait in the kernel's queue.
            package var connections = 64
            /// How long a connection may be open without a complete head of a request.
            package var idleTime = TimeAmount.seconds(90)
            /// From the head of a request to its end.
            package var requestTime = TimeAmount.seconds(10)
            /// How long what was written may wait until the peer reads.
            package var readTime = TimeAmount.seconds(10)

            package init() {}
        }

        private typealias Connection = (http: HTTP1Channel, value: HTTP1Channel.Value)

        /// The bound address, with the port that the system chose.
        package let address: LoopbackAddress
        private let channel: NIOAsyncChannel<Connection, Never>
        /// The socket's file.
        private let file: SocketFile?
        private let logger: Logger

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
            let bootstrap = Self.bootstrap(limits, logger)
            let accept: @Sendable (any Channel) -> EventLoopFuture<Connection> = { channel in
                let check = RequestCheck(
                    address.bound(to: ListenAddress(channel.localAddress)), names: names,
                    needsOrigin: needsOrigin)
                let http = Self.http(CheckedResponder(responder, check), limits, logger)
                return http.setup(channel: channel, logger: logger).map { (http, $0) }
            }
            var file: SocketFile?
            do {
                let channel: NIOAsyncChannel<Connection, Never>
                switch address.address {
                case .unix(let path):
                    let (descriptor, ownFile) = try await SocketFile.listen(at: path, SocketPermissions())
                    file = ownFile
                    channel = try await bootstrap.bind(descriptor, childChannelInitializer: accept)
                case .tcp(let host, let port):
                    channel = try await bootstrap.bind(
                        to: SocketAddress(ipAddress: host, port: port), childChannelInitializer: accept)
                }
                let bound = address.bound(to: ListenAddress(channel.channel.localAddress))
                return LoopbackServer(address: bound, channel: channel, file: file, logger: logger)
            } catch let error as ListenerError {
                throw error
            } catch {
                await file?.remove()
                if NetworkError.code(of: error) == EADDRINUSE { throw .inUse(address.address) }
                throw .failed(address.address, reason: NetworkError.reason(error))
            }
        }

        /// Answers requests until ``close()``, or until its task is cancelled, which also ends what is being answered.
        package func run() async {
            await withTaskCancellationHandler {
                await self.serve()
            } onCancel: {
                self.removeFileNow()
            }
        }

        private func serve() async {
            await withDiscardingTaskGroup { group in
                do {
                    try await self.channel.executeThenClose { connections in
                        for try await connection in connections {
                            group.addTask {
                                await connection.http.handle(value: connection.value, logger: self.logger)
                            }
                        }
                    }
                } catch { /* It was closed. */  }
                group.cancelAll()
            }
        }

        /// Stops listening, removes the socket's file, and ends ``run()``.
        package func close() async {
            // While the socket is open: its file's number could be another's afterwards.
            if self.channel.channel.isActive { await self.file?.remove() }
            do { try await self.channel.channel.close() } catch { /* It was closed already. */  }
        }

        /// Removes the socket's file, when the program ends at once.
        package func removeFileNow() { self.file?.removeNow() }

        private static func bootstrap(_ limits: Limits, _ logger: Logger) -> ServerBootstrap {
            ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.backlog, value: 256)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .serverChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandlers([
                            AcceptPause(logger),
                            AvailableConnectionsChannelHandler<MaximumAvailableConnections>(
                                maxConnections: limits.connections),
                        ])
                    }
                }
                .childChannelOption(.allowRemoteHalfClosure, value: true)
        }

        private static func http<Responder: HTTPResponder>(
            _ responder: Responder, _ limits: Limits, _ logger: Logger
        ) -> HTTP1Channel
        where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
            let decoder = HTTP1Channel.Configuration.DecoderConfiguration(
                maxHeaderFieldSize: limits.headBytes, maxHeaderListSize: limits.headBytes,
                maxHeaderFieldCount: limits.headerCount)
            let configuration = HTTP1Channel.Configuration(
                additionalChannelHandlers: [RequestTimer(limits)], httpDecoderConfiguration: decoder)
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
