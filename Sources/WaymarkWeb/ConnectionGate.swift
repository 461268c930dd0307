#if Inspector
    internal import NIOCore

    /// Closes a connection for each one that is accepted above the limit, and accepts no further one until it is closed.
    ///
    /// With `maxMessagesPerRead` 1 at most one connection above the limit is open.
    final class ConnectionGate: ChannelDuplexHandler {
        typealias InboundIn = any Channel
        typealias OutboundIn = any Channel

        private let connections: OpenConnections
        /// Whether the listener would accept, but must wait until a connection has closed.
        private var isWaiting = false

        init(_ connections: OpenConnections) { self.connections = connections }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let channel = self.unwrapInboundIn(data)
            let closing = self.connections.add(channel)
            channel.closeFuture.hop(to: context.eventLoop).assumeIsolated().whenComplete { _ in
                self.connectionClosed(channel, context)
            }
            closing?.close(promise: nil)
            if closing !== channel { context.fireChannelRead(data) }
        }

        func read(context: ChannelHandlerContext) {
            self.isWaiting = !self.connections.hasRoom
            if !self.isWaiting { context.read() }
        }

        private func connectionClosed(_ channel: any Channel, _ context: ChannelHandlerContext) {
            self.connections.remove(channel)
            if self.isWaiting { self.read(context: context) }
        }
    }
#endif
