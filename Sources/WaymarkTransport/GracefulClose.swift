internal import NIOCore
internal import WaymarkCodec
internal import WaymarkProtocol

/// Closes a connection in such a way that the peer receives the last bytes written.
///
/// Closing a socket that has unread input resets the connection, and the Goodbye on its way to the peer would be lost. So the
/// output is shut down after the last byte, and input is read and discarded until the peer closes too or the timeout passes. The
/// channel's handler must discard what it reads from now on.
enum GracefulClose {
    /// The bytes that the channel gets at a time. Many sockets may accept data again at once, and then their channels write these bytes
    /// before the event loop does anything else.
    private static let pieceByteCount = 4_096

    /// Writes `rest` piece by piece, since its bytes are shared with other connections and a channel copies what it is given. `wait` calls
    /// what writes the next piece, when others had their turns. `noteSent` is told how many bytes the socket has accepted, until the
    /// channel closes.
    static func begin(
        on channel: any Channel, behind rest: [ArraySlice<UInt8>], within timeout: Duration,
        noteSent: @escaping (Int) -> Void, wait: @escaping (@escaping () -> Void) -> Void = { $0() }
    ) {
        let deadline = channel.eventLoop.scheduleTask(in: .nanoseconds(timeout.nanoseconds)) {
            channel.close(mode: .all, promise: nil)
        }
        channel.closeFuture.whenComplete { _ in deadline.cancel() }
        self.write(rest[...], to: channel, noteSent, wait)
    }

    /// `unflushed`: the bytes that the channel has and was not told to write yet.
    private static func write(
        _ rest: ArraySlice<ArraySlice<UInt8>>, behind unflushed: Int = 0, to channel: any Channel,
        _ noteSent: @escaping (Int) -> Void, _ wait: @escaping (@escaping () -> Void) -> Void
    ) {
        guard let bytes = rest.first else {
            return channel.writeAndFlush(ByteBuffer()).assumeIsolated().flatMap {
                noteSent(unflushed)
                return channel.close(mode: .output)
            }.whenFailure { _ in
                // The peer has disconnected, or the transport cannot be closed in one direction.
                channel.close(mode: .all, promise: nil)
            }
        }
        var next = rest.dropFirst()
        if bytes.count > Self.pieceByteCount {
            next = [bytes.dropFirst(Self.pieceByteCount)] + next
        }
        let piece = ByteBuffer(bytes: bytes.prefix(Self.pieceByteCount))
        let byteCount = piece.readableBytes
        guard !next.isEmpty else {
            channel.write(piece, promise: nil)
            return self.write([], behind: byteCount, to: channel, noteSent, wait)
        }
        let remaining = next
        // After a failure the channel closes by itself.
        channel.writeAndFlush(piece).assumeIsolated().whenSuccess {
            noteSent(byteCount)
            wait { self.write(remaining, to: channel, noteSent, wait) }
        }
    }
}

/// Sends the Goodbye to a refused peer and closes its connection.
final class RefusalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let goodbye: Goodbye
    private let timeout: Duration
    /// Told of bytes that were sent and received.
    private let note: (_ sent: Int, _ received: Int) -> Void

    init(
        _ goodbye: Goodbye, within timeout: Duration,
        note: @escaping (_ sent: Int, _ received: Int) -> Void
    ) {
        self.goodbye = goodbye
        self.timeout = timeout
        self.note = note
    }

    func channelActive(context: ChannelHandlerContext) {
        let frame = Codec.encode(Envelope(.goodbye(self.goodbye)))
        GracefulClose.begin(
            on: context.channel, behind: [frame.bytes], within: self.timeout,
            noteSent: { [note] in note($0, 0) })
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = self.unwrapInboundIn(data)
        self.note(0, buffer.readableBytes)
        // A Hello that is not read, but may contain a key.
        buffer.wipe()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
