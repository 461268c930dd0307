internal import Foundation
package import NIOCore
internal import NIOPosix
package import WaymarkClient
internal import WaymarkCodec
package import WaymarkProtocol

/// A gateway that says only what a test has it say: one frame after another, over a Unix socket.
package actor FakeGateway {
    /// One connection, once its Hello was read.
    package struct Peer: Sendable {
        package let hello: Hello
        package let channel: any Channel
        /// Everything after the Hello.
        package let messages: AsyncStream<Envelope>

        package func send(_ message: Message, session: SessionID = .none, sequence: UInt64 = 0) async throws {
            let frame = Codec.encode(Envelope(message, session: session, sequence: sequence))
            try await self.channel.writeAndFlush(ByteBuffer(bytes: frame.bytes))
        }

        package func welcome(
            isResumed: Bool = false, sessions: [ResumedSession] = [], keepalive: UInt32 = 10_000
        ) async throws {
            var welcome = Welcome(resumptionToken: ResumptionToken(high: 1, low: 2))
            welcome.keepaliveMilliseconds = keepalive
            welcome.receiveFrameBytesMax = 1_048_576
            welcome.sendFrameBytesMax = 16_777_216
            welcome.isResumed = isResumed
            welcome.sessions = sessions
            try await self.send(.welcome(welcome))
        }

        /// The next message that `pick` picks.
        package func next<Value>(_ pick: (Envelope) -> Value?) async -> Value? {
            for await envelope in self.messages {
                if let value = pick(envelope) { return value }
            }
            return nil
        }

        /// In one write.
        package func send(_ messages: [Message]) async throws {
            let bytes = messages.flatMap { Array(Codec.encode(Envelope($0)).bytes) }
            try await self.channel.writeAndFlush(ByteBuffer(bytes: bytes))
        }

        package func close() async { do { try await self.channel.close() } catch { /* It was faster. */  } }
    }

    package nonisolated let path: String
    /// Every connection that said Hello.
    package nonisolated let peers: AsyncStream<Peer>
    private let server: any Channel

    /// `closesAfterGoodbye`: as a gateway does. Otherwise the peer waits for the end of the connection.
    package init(path: String, closesAfterGoodbye: Bool = false) async throws {
        self.path = path
        let (peers, arrive) = AsyncStream.makeStream(of: Peer.self)
        self.peers = peers
        self.server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        Reader(channel, arrive, closesAfterGoodbye: closesAfterGoodbye))
                }
            }
            .bind(unixDomainSocketPath: path).get()
    }

    package func close() async { do { try await self.server.close() } catch { /* Closed already. */  } }

    /// Cuts what is read into messages.
    private final class Reader: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let channel: any Channel
        private let arrive: AsyncStream<Peer>.Continuation
        private let closesAfterGoodbye: Bool
        private let (messages, tell) = AsyncStream.makeStream(of: Envelope.self)
        private var splitter = FrameSplitter(frameBytesMax: 16_777_216)

        init(
            _ channel: any Channel, _ arrive: AsyncStream<Peer>.Continuation, closesAfterGoodbye: Bool
        ) {
            self.channel = channel
            self.arrive = arrive
            self.closesAfterGoodbye = closesAfterGoodbye
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            self.splitter.append(Array(self.unwrapInboundIn(data).readableBytesView))
            while let frame = try? self.splitter.next(), let envelope = try? Codec.decode(frame) {
                if case .hello(let hello) = envelope.message {
                    self.arrive.yield(Peer(hello: hello, channel: self.channel, messages: self.messages))
                } else {
                    if self.closesAfterGoodbye, case .goodbye = envelope.message {
                        context.close(promise: nil)
                    }
                    self.tell.yield(envelope)
                }
            }
        }

        func channelInactive(context: ChannelHandlerContext) { self.tell.finish() }
    }
}

extension FakeGateway {
    package static func start(closesAfterGoodbye: Bool = false) async throws -> FakeGateway {
        try await FakeGateway(
            path: FileManager.default.temporaryDirectory.appending(
                path: "wm-\(UInt32.random(in: 0 ... .max))"
            ).path, closesAfterGoodbye: closesAfterGoodbye)
    }

    package nonisolated var address: ServiceAddress { .unix(path: self.path) }

    /// The next connection.
    package nonisolated func next() async -> Peer? {
        for await peer in self.peers { return peer }
        return nil
    }
}
