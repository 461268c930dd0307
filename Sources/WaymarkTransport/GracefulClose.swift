internal import NIOCore
internal import WaymarkCodec
internal import WaymarkProtocol

/// Closes a connection in such a way that the peer receives the last bytes written.
///
/// Closing a socket that has unread input resets the connection, and the Goodbye on its way to the peer would be lost. So the
/// output is shut down after the last byte, and input is read and discarded until the peer closes too or the timeout passes. The
/// channel's handler must discard what it reads from now on.
enum GracefulClose {
    /// The bytes that the channel gets at a time.
    private static let pieceByteCount = 32_768

    /// Writes `rest` piece by piece, since its bytes are shared with other connections and a channel copies what it is given.
    static func begin(
        on channel: any Channel, behind rest: [ArraySlice<UInt8>] = [], within timeout: Duration
    ) {
        let deadline = channel.eventLoop.scheduleTask(in: .nanoseconds(timeout.nanoseconds)) {
            channel.close(mode: .all, promise: nil)
        }
        channel.closeFuture.whenComplete { _ in deadline.cancel() }
        self.write(rest[...], to: channel)
    }

    private static func write(_ rest: ArraySlice<ArraySlice<UInt8>>, to channel: any Channel) {
        guard let bytes = rest.first else {
            return channel.writeAndFlush(ByteBuffer()).flatMap { channel.close(mode: .output) }.whenFailure {
                _ in
                // The peer has disconnected, or the transport cannot be closed in one direction.
                channel.close(mode: .all, promise: nil)
            }
        }
        var next = rest.dropFirst()
        if bytes.count > Self.pieceByteCount {
            next = [bytes.dropFirst(Self.pieceByteCount)] + next
        }
        let piece = ByteBuffer(bytes: bytes.prefix(Self.pieceByteCount))
        guard !next.isEmpty else {
            channel.write(piece, promise: nil)
            return self.write([], to: channel)
        }
        let remaining = next
        channel.writeAndFlush(piece).whenComplete { result in
            // Not at once: a channel that takes everything would nest as many calls as there are pieces. After a failure the channel
            // closes by itself.
            if case .success = result { channel.eventLoop.execute { self.write(remaining, to: channel) } }
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
