internal import NIOCore
internal import WaymarkGateway
internal import WaymarkProtocol

/// What goes out on one connection: straight to the channel while the peer keeps up, else through its outbox.
///
/// A class, because writing and flushing come back with a change of writability before they return.
final class Outgoing {
    /// How much of the outbox is handed to the channel at a time, in bytes.
    private static let portionBytes = 32_768

    private let limits: Outbox.Limits
    private var outbox: Outbox
    private var needsFlush = false

    init(limits: Outbox.Limits) {
        self.limits = limits
        self.outbox = Outbox(limits: limits)
    }

    /// Nothing waits for the peer to read.
    var isEmpty: Bool { self.outbox.isEmpty }

    /// Writes a frame, or lets it wait behind others.
    func write(_ frame: Frame, key: ConflationKey?, on context: ChannelHandlerContext)
        -> Outbox.Verdict
    {
        guard self.outbox.isEmpty, context.channel.isWritable else {
            return self.outbox.append(frame, key: key)
        }
        self.put(ByteBuffer(bytes: frame.bytes), on: context)
        return .queued
    }

    /// Writes frames that are shared by an audience, or lets them wait one by one.
    func write(_ span: Span, on context: ChannelHandlerContext) -> Outbox.Verdict {
        if self.outbox.isEmpty, context.channel.isWritable {
            self.put(span.buffer, on: context)
            return .queued
        }
        for (frame, key) in span.frames where self.outbox.append(frame, key: key) == .overflow {
            return .overflow
        }
        return .queued
    }

    func flush(on context: ChannelHandlerContext) {
        guard self.needsFlush else { return }
        self.needsFlush = false
        context.flush()
    }

    /// The channel takes more, or less, than before.
    func writabilityChanged(on context: ChannelHandlerContext) {
        while context.channel.isWritable, !self.outbox.isEmpty {
            for frame in self.outbox.take(byteCount: Self.portionBytes) {
                self.put(ByteBuffer(bytes: frame.bytes), on: context)
            }
            self.flush(on: context)
        }
    }

    /// Hands everything that waits to the channel: nothing comes behind it.
    func finish(on context: ChannelHandlerContext) {
        for frame in self.outbox.take(byteCount: .max) {
            self.put(ByteBuffer(bytes: frame.bytes), on: context)
        }
        self.flush(on: context)
    }

    /// Drops what waits of a session.
    func purge(_ session: SessionID) { self.outbox.purge(session) }

    /// Drops everything that waits.
    func clear() { self.outbox = Outbox(limits: self.limits) }

    private func put(_ buffer: ByteBuffer, on context: ChannelHandlerContext) {
        context.write(NIOAny(buffer), promise: nil)
        self.needsFlush = true
    }
}

/// Frames for an audience, in one buffer that all its endpoints share.
struct Span: Sendable {
    var buffer: ByteBuffer
    var frames: [(Frame, ConflationKey?)]
}
