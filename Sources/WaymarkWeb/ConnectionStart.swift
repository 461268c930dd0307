#if Inspector
    internal import NIOCore

    /// Tells when an accepted connection can be closed in every way.
    ///
    /// SwiftNIO runs the initializer of an accepted channel before it registers the channel with its event loop. A task that is
    /// cancelled in between makes Hummingbird close the channel's input, which SwiftNIO does not expect of a channel that is not
    /// registered.
    final class ConnectionStart: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        /// Succeeds when the connection is active, or else when it is closed.
        private let promise: EventLoopPromise<Void>

        init(_ promise: EventLoopPromise<Void>) { self.promise = promise }

        func channelActive(context: ChannelHandlerContext) {
            self.promise.succeed()
            context.fireChannelActive()
        }

        func handlerRemoved(context: ChannelHandlerContext) { self.promise.succeed() }
    }
#endif
