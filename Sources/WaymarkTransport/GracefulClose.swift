internal import NIOCore
internal import WaymarkCodec
internal import WaymarkProtocol

/// The end of a connection, so that the peer gets what was written last.
///
/// Closing a socket with unread input resets the connection, and what was under way to the peer is lost: the Goodbye that
/// would tell it why. So the output is shut down behind the last byte, and input is read and thrown away until the peer
/// closes too or the time is over. The handler in front must drop what is read from now on.
enum GracefulClose {
    static func begin(on channel: any Channel, within timeout: Duration) {
        let deadline = channel.eventLoop.scheduleTask(in: .nanoseconds(timeout.nanoseconds)) {
            channel.close(mode: .all, promise: nil)
        }
        channel.closeFuture.whenComplete { _ in deadline.cancel() }
        channel.writeAndFlush(ByteBuffer()).flatMap { channel.close(mode: .output) }.whenFailure { _ in
            // The peer has gone, or the transport knows no halves.
            channel.close(mode: .all, promise: nil)
        }
    }
}

/// Tells a peer that it is not taken, and why.
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
