#if Inspector
    internal import HTTPTypes
    internal import NIOCore
    internal import NIOHTTPTypes

    /// Closes a connection whose peer takes too long: to send a request, to send the rest of one, or to read a response. Tells what the
    /// connection is used for.
    ///
    /// A response may take as long as it likes, as a stream of events does, while the peer reads what was written.
    final class RequestTimer: ChannelDuplexHandler, RemovableChannelHandler {
        typealias InboundIn = HTTPRequestPart
        typealias InboundOut = HTTPRequestPart
        typealias OutboundIn = HTTPResponsePart
        typealias OutboundOut = HTTPResponsePart

        private let limits: LoopbackServer.Limits
        private let onUse: (ConnectionUse) -> Void
        /// The use that was told last.
        private var use = ConnectionUse.idle
        private var isReadingRequest = false
        private var isStreaming = false
        /// Requests whose response has not been written completely.
        private var openCount = 0
        /// Parts of responses that the system has not accepted yet.
        private var waitingWrites = 0
        private var requestTimer: Scheduled<Void>?
        private var writeTimer: Scheduled<Void>?

        /// A timer of a connection that is idle. It calls `onUse` whenever the connection is used for something else.
        init(_ limits: LoopbackServer.Limits, onUse: @escaping (ConnectionUse) -> Void = { _ in }) {
            (self.limits, self.onUse) = (limits, onUse)
        }

        func handlerAdded(context: ChannelHandlerContext) {
            if context.channel.isActive { self.waitForRequest(context) }
        }

        func channelActive(context: ChannelHandlerContext) {
            self.waitForRequest(context)
            context.fireChannelActive()
        }

        func channelInactive(context: ChannelHandlerContext) {
            self.stop()
            context.fireChannelInactive()
        }

        func handlerRemoved(context: ChannelHandlerContext) { self.stop() }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch self.unwrapInboundIn(data) {
            case .head:
                self.openCount += 1
                self.isReadingRequest = true
                self.requestTimer?.cancel()
                self.requestTimer = self.close(context, in: self.limits.requestTime)
            case .body: break
            case .end:
                self.isReadingRequest = false
                self.requestTimer?.cancel()
                self.requestTimer = nil
            }
            self.tellUse()
            context.fireChannelRead(data)
        }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            switch self.unwrapOutboundIn(data) {
            case .head(let head):
                self.isStreaming = head.headerFields[.contentType]?.hasPrefix("text/event-stream") ?? false
            case .body: break
            case .end:
                self.openCount -= 1
                self.isStreaming = false
            }
            self.waitingWrites += 1
            self.tellUse()
            if self.waitingWrites == 1 { self.writeTimer = self.close(context, in: self.limits.readTime) }
            let written = promise ?? context.eventLoop.makePromise()
            written.futureResult.assumeIsolated().whenComplete { _ in self.wrote(context) }
            context.write(data, promise: written)
        }

        private func wrote(_ context: ChannelHandlerContext) {
            self.waitingWrites -= 1
            self.writeTimer?.cancel()
            self.writeTimer = self.waitingWrites > 0 ? self.close(context, in: self.limits.readTime) : nil
            if self.openCount == 0, !self.isReadingRequest { self.waitForRequest(context) }
            self.tellUse()
        }

        private func tellUse() {
            let isAnswering = self.openCount > 0 || self.waitingWrites > 0
            let use: ConnectionUse =
                if self.isStreaming {
                    .streaming
                } else if self.isReadingRequest {
                    .asking
                } else {
                    isAnswering ? .answering : .idle
                }
            guard use != self.use else { return }
            self.use = use
            self.onUse(use)
        }

        private func waitForRequest(_ context: ChannelHandlerContext) {
            guard context.channel.isActive else { return }
            self.requestTimer?.cancel()
            self.requestTimer = self.close(context, in: self.limits.idleTime)
        }

        private func close(_ context: ChannelHandlerContext, in time: TimeAmount) -> Scheduled<Void> {
            context.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
        }

        private func stop() {
            self.requestTimer?.cancel()
            self.writeTimer?.cancel()
            (self.requestTimer, self.writeTimer) = (nil, nil)
        }
    }
#endif
