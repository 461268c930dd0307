#if Inspector
    import HTTPTypes
    import NIOCore
    import NIOEmbedded
    import NIOHTTPTypes
    import Testing

    @testable import WaymarkWeb

    @Suite struct RequestTimerTests {
        /// A connection whose time the test advances.
        private struct Peer {
            let channel: EmbeddedChannel
            let limits = LoopbackServer.Limits()
            let uses = Uses()

            init(isReading: Bool = true) throws {
                self.channel = EmbeddedChannel()
                if !isReading { try self.channel.pipeline.syncOperations.addHandler(Unread()) }
                let timer = RequestTimer(self.limits) { [uses] use in uses.told.append(use) }
                try self.channel.pipeline.syncOperations.addHandler(timer)
                try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            }

            func sendHead() throws {
                let head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:1", path: "/")
                try self.channel.writeInbound(HTTPRequestPart.head(head))
            }

            func sendEnd() throws { try self.channel.writeInbound(HTTPRequestPart.end(nil)) }

            func respond(_ parts: HTTPResponsePart...) {
                for part in parts { self.channel.writeAndFlush(part, promise: nil) }
            }

            /// Whether the connection is closed after `time`, and was open just before.
            func closes(after time: TimeAmount) -> Bool {
                self.channel.embeddedEventLoop.advanceTime(by: time - .milliseconds(1))
                let wasOpen = self.channel.isActive
                self.channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
                return wasOpen && !self.channel.isActive
            }
        }

        /// The uses of a connection, in the order in which they were told.
        private final class Uses {
            var told: [ConnectionUse] = []
        }

        /// The peer reads nothing: no write ever completes.
        private final class Unread: ChannelOutboundHandler {
            typealias OutboundIn = HTTPResponsePart
            private var promises: [EventLoopPromise<Void>] = []
            func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
                if let promise { self.promises.append(promise) }
            }
            func handlerRemoved(context: ChannelHandlerContext) {
                for promise in self.promises { promise.fail(ChannelError.ioOnClosedChannel) }
            }
        }

        private let ok = HTTPResponsePart.head(HTTPResponse(status: .ok))

        @Test func `a connection that asks nothing is closed`() throws {
            let peer = try Peer()
            #expect(peer.closes(after: peer.limits.idleTime))
        }

        @Test func `a request that never ends is closed, however often a piece of it arrives`() throws {
            let peer = try Peer()
            try peer.sendHead()
            for _ in 0..<9 {
                peer.channel.embeddedEventLoop.advanceTime(by: .seconds(1))
                try peer.channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: "x")))
            }
            #expect(peer.closes(after: peer.limits.requestTime - .seconds(9)))
        }

        @Test func `a response may take its time, and the next request gets the whole time again`() throws {
            let peer = try Peer()
            peer.channel.embeddedEventLoop.advanceTime(by: peer.limits.idleTime - .seconds(1))
            try peer.sendHead()
            try peer.sendEnd()
            peer.respond(self.ok)
            peer.channel.embeddedEventLoop.advanceTime(by: .hours(24))
            #expect(peer.channel.isActive)
            peer.respond(.body(ByteBuffer(string: "x")), .end(nil))
            #expect(peer.closes(after: peer.limits.idleTime))
        }

        @Test func `a peer that does not read its response is closed`() throws {
            let peer = try Peer(isReading: false)
            try peer.sendHead()
            try peer.sendEnd()
            peer.respond(self.ok, .end(nil))
            #expect(peer.closes(after: peer.limits.readTime))
        }

        @Test func `a response to a request of which more is to come does not end its time`() throws {
            let peer = try Peer()
            try peer.sendHead()
            peer.respond(self.ok, .end(nil))
            #expect(peer.closes(after: peer.limits.requestTime))
        }

        // MARK: Uses

        @Test func `a connection is idle again when all of its requests are answered`() throws {
            let peer = try Peer()
            try peer.sendHead()
            #expect(peer.uses.told == [.asking])
            try peer.sendEnd()
            #expect(peer.uses.told == [.asking, .answering])
            try peer.sendHead()
            try peer.sendEnd()
            for _ in 0..<2 {
                #expect(peer.uses.told == [.asking, .answering, .asking, .answering])
                peer.respond(self.ok, .end(nil))
            }
            #expect(peer.uses.told == [.asking, .answering, .asking, .answering, .idle])
            _ = try peer.channel.finish()
        }

        @Test func `a stream of events is told from other responses`() throws {
            let peer = try Peer()
            try peer.sendHead()
            try peer.sendEnd()
            let fields: HTTPFields = [.contentType: "text/event-stream"]
            peer.respond(.head(HTTPResponse(status: .ok, headerFields: fields)))
            peer.respond(.body(ByteBuffer(string: ":\n\n")))
            #expect(peer.uses.told == [.asking, .answering, .streaming])
            peer.respond(.end(nil))
            #expect(peer.uses.told.last == .idle)
            _ = try peer.channel.finish()
        }

        @Test func `a connection is not idle while its peer has not read a response`() throws {
            let peer = try Peer(isReading: false)
            try peer.sendHead()
            try peer.sendEnd()
            peer.respond(self.ok, .end(nil))
            #expect(peer.uses.told == [.asking, .answering])
            #expect(peer.closes(after: peer.limits.readTime))
        }
    }
#endif
