package import ListeningSockets
internal import Logging
internal import NIOCore
internal import NIOPosix

/// A listening socket whose connections belong to an actor.
package struct SocketListener: Sendable {
    /// The bound address, with the port that the system chose.
    package let address: ListenAddress
    private let channel: any Channel
    private let file: SocketFile?

    /// Opens a listener. A socket file without a listening process is replaced; a new file is its user's alone.
    package static func open(
        _ address: ListenAddress, number: Int, for owner: some SocketOwner
    ) async throws(ListenerError) -> SocketListener {
        let bootstrap = Self.bootstrap(number, owner)
        switch address {
        case .unix(let path):
            let (descriptor, file) = try await SocketFile.listen(at: path, SocketPermissions())
            do {
                let channel = try await bootstrap.withBoundSocket(descriptor).get()
                return SocketListener(address: address, channel: channel, file: file)
            } catch {
                await file.remove()
                throw ListenerError(error, address)
            }
        case .tcp(let host, let port):
            do {
                let channel = try await bootstrap.bind(host: host, port: port).get()
                return SocketListener(
                    address: ListenAddress(channel.localAddress) ?? address, channel: channel, file: nil)
            } catch {
                throw ListenerError(error, address)
            }
        }
    }

    private static func bootstrap(_ number: Int, _ owner: some SocketOwner) -> ServerBootstrap {
        ServerBootstrap(group: owner.loop)
            .serverChannelOption(.backlog, value: 1_024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let logger = Logger(label: "waymark", factory: { _ in SwiftLogNoOpLogHandler() })
                    try channel.pipeline.syncOperations.addHandler(AcceptPause(logger))
                }
            }
            .childChannelOption(.autoRead, value: false)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: RigSocket.readBytes)
            )
            .childChannelOption(.writeBufferWaterMark, value: RigSocket.waterMark)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if case .v4? = channel.localAddress { try Self.sendAtOnce(channel) }
                    if case .v6? = channel.localAddress { try Self.sendAtOnce(channel) }
                    try channel.pipeline.syncOperations.addHandler(SocketHandler(owner, .accepted(number)))
                }
            }
    }

    private static func sendAtOnce(_ channel: any Channel) throws {
        try channel.syncOptions?.setOption(.tcpOption(.tcp_nodelay), value: 1)
    }

    /// Stops listening, and removes the socket's file.
    package func close() async {
        await self.file?.remove()
        do { try await self.channel.close() } catch { /* It was closed already. */  }
    }

    /// Removes the socket's file, when the program ends at once.
    package func removeFile() { self.file?.removeNow() }
}
