import Glibc
import ListeningSockets
import Logging
import NIOCore
import NIOPosix
import Testing

@Suite(.timeLimit(.minutes(1))) struct AcceptPauseTests {
    @Test func `without descriptors accepting pauses, is logged once, and continues`() async throws {
        let log = LogRecorder()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let accepted = group.next().makePromise(of: Void.self)
        let listener = try await ServerBootstrap(group: group)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptPause(log.logger))
                }
            }
            .childChannelInitializer { channel in
                accepted.succeed()
                return channel.close()
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let isReading = try await listener.eventLoop.submit {
            for code in [EMFILE, ENFILE, ENOBUFS] {
                listener.pipeline.fireErrorCaught(IOError(errnoCode: code, reason: "accept"))
            }
            return try listener.syncOptions?.getOption(.autoRead)
        }.get()
        #expect(isReading == false)
        #expect(log.lines(.warning).map(\.sentence) == ["cannot accept connections, trying again"])
        let address = try #require(listener.localAddress)
        let client = try await ClientBootstrap(group: group).connect(to: address).get()
        try await accepted.futureResult.get()
        try await client.closeFuture.get()
        try await listener.close()
        try await group.shutdownGracefully()
    }
}
