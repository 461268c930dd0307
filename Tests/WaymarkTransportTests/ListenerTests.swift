import Glibc
import NIOCore
import NIOPosix
import Testing
import WaymarkTransport

@Suite(.timeLimit(.minutes(1))) struct ListenerTests {
    /// Makes closing a channel fail, until the handler is removed.
    private final class Unclosable: ChannelOutboundHandler, RemovableChannelHandler {
        typealias OutboundIn = NIOAny

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            promise?.fail(ChannelError.alreadyClosed)
        }
    }

    /// The number of this process's descriptors for a file.
    private static func descriptorCount(of inode: ino_t) -> Int {
        (CInt(0)..<4_096).count { Self.inode(of: $0) == inode }
    }

    private static func inode(of descriptor: CInt) -> ino_t? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status.st_ino : nil
    }

    @Test func `releasing a listener that cannot be closed leaks no descriptor`() async throws {
        let socket = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        #expect(listen(socket, 1) == 0)
        let inode = try #require(Self.inode(of: socket))
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let channel = try await ServerBootstrap(group: group).withBoundSocket(socket).get()
        try await channel.eventLoop.submit {
            try channel.pipeline.syncOperations.addHandler(Unclosable(), name: "unclosable")
        }.get()
        #expect(await Listener.release(channel) == nil)
        #expect(Self.descriptorCount(of: inode) == 1)
        try await channel.pipeline.removeHandler(name: "unclosable").get()
        let copy = try #require(await Listener.release(channel))
        #expect(Self.descriptorCount(of: inode) == 1)
        close(copy)
        #expect(Self.descriptorCount(of: inode) == 0)
        try await group.shutdownGracefully()
    }
}
