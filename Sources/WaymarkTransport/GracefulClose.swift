internal import NIOCore
internal import WaymarkCodec
internal import WaymarkProtocol

/// Closes a connection in such a way that the peer receives the last bytes written.
///
/// Closing a socket that has unread input resets the connection, and the Goodbye on its way to the peer would be lost. So the
/// output is shut down after the last byte, and input is read and discarded until the peer closes too or the timeout passes. The
/// channel's handler must discard what it reads from now on.
enum GracefulClose {
    static func begin(on channel: any Channel, within timeout: Duration) {
        let deadline = channel.eventLoop.scheduleTask(in: .nanoseconds(timeout.nanoseconds)) {
            channel.close(mode: .all, promise: nil)
        }
        channel.closeFuture.whenComplete { _ in deadline.cancel() }
        channel.writeAndFlush(ByteBuffer()).flatMap { channel.close(mode: .output) }.whenFailure { _ in
            // The peer has disconnected, or the transport cannot be closed in one direction.
            channel.close(mode: .all, promise: nil)
        }
    }
}

/// Sends the Goodbye to a refused peer and closes its connection.
final class RefusalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let goodbye: Goodbye
    private let timeout: Duration

    init(_ goodbye: Goodbye, within timeout: Duration) {
        self.goodbye = goodbye
        self.timeout = timeout
    }

    func channelActive(context: ChannelHandlerContext) {
        let frame = Codec.encode(Envelope(.goodbye(self.goodbye)))
        context.write(self.wrapOutboundOut(ByteBuffer(bytes: frame.bytes)), promise: nil)
        GracefulClose.begin(on: context.channel, within: self.timeout)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
