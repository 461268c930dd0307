internal import NIOCore
internal import WaymarkGateway
internal import WaymarkProtocol

/// What waits for all endpoints of one event loop.
final class WaitingBytes {
    var countMax: Int
    fileprivate(set) var count = 0

    /// - Parameter countMax: In bytes, as ``Outbox`` counts them.
    init(countMax: Int) { self.countMax = countMax }
}

/// What goes out on one connection: straight to the channel while the peer keeps up, else through its outbox.
///
/// A class, because writing and flushing come back with a change of writability before they return.
final class Outgoing {
    /// Why a peer that does not keep up has to go.
    enum Overflow: Sendable, Hashable {
        /// More waits for it than may.
        case outbox(bytesMax: Int)
        /// More waits for all peers than may.
        case inAll(bytesMax: Int)
    }

    /// How much of the outbox is handed to the channel at a time, in bytes.
    private static let portionBytes = 32_768

    private let limits: Outbox.Limits
    private let waiting: WaitingBytes
    private var outbox: Outbox
    /// Something was written that is not yet on its way.
    private(set) var needsFlush = false
    /// Everything waits, whatever the channel takes.
    var isHeld = false { didSet { self.isStraight = !self.isHeld && self.outbox.isEmpty } }
    /// What is written goes to the channel while that takes it.
    private var isStraight = true
    /// More waited in another process than may here.
    private(set) var overflow: Overflow?

    init(limits: Outbox.Limits, waiting: WaitingBytes) {
        self.limits = limits
        self.waiting = waiting
        self.outbox = Outbox(limits: limits)
    }

    /// Holds what waited in another process.
    init(limits: Outbox.Limits, waiting: WaitingBytes, holding frames: [ConnectionState.Waiting]) {
        self.limits = limits
        self.waiting = waiting
        self.outbox = Outbox(limits: limits)
        self.isHeld = true
        self.isStraight = false
        for entry in frames { self.overflow = self.wait(entry.frame, entry.key) ?? self.overflow }
    }

    deinit { self.waiting.count -= self.outbox.byteCount }

    /// What waits, in order.
    var waitingFrames: [(frame: Frame, key: ConflationKey?)] { self.outbox.waiting }

    /// Nothing waits for the peer to read.
    var isEmpty: Bool { self.outbox.isEmpty }

    /// Writes a frame, or lets it wait behind others.
    ///
    /// - Returns: Why it cannot wait; nil if all is well.
    func write(_ frame: Frame, key: ConflationKey?, on context: ChannelHandlerContext) -> Overflow? {
        guard self.isStraight, context.channel.isWritable else { return self.wait(frame, key) }
        self.put(ByteBuffer(bytes: frame.bytes), on: context)
        return nil
    }

    /// Writes frames that are shared by an audience, or lets them wait one by one.
    ///
    /// - Returns: Why they cannot wait; nil if all is well.
    func write(_ span: Span, on context: ChannelHandlerContext) -> Overflow? {
        if self.isStraight, context.channel.isWritable {
            self.put(span.buffer, on: context)
            return nil
        }
        for (frame, key) in span.frames {
            if let overflow = self.wait(frame, key) { return overflow }
        }
        return nil
    }

    func flush(on context: ChannelHandlerContext) {
        guard self.needsFlush else { return }
        self.needsFlush = false
        context.flush()
    }

    /// The channel takes more, or less, than before.
    func writabilityChanged(on context: ChannelHandlerContext) {
        while !self.isHeld, context.channel.isWritable, !self.outbox.isEmpty {
            self.putWaiting(byteCount: Self.portionBytes, on: context)
            self.flush(on: context)
        }
    }

    /// Hands everything that waits to the channel: nothing comes behind it.
    func finish(on context: ChannelHandlerContext) {
        self.putWaiting(byteCount: .max, on: context)
        self.flush(on: context)
    }

    /// Drops what waits of a session.
    func purge(_ session: SessionID) { self.changeOutbox { $0.purge(session) } }

    /// Drops everything that waits.
    func clear() { self.changeOutbox { $0 = Outbox(limits: self.limits) } }

    private func wait(_ frame: Frame, _ key: ConflationKey?) -> Overflow? {
        switch self.changeOutbox({ $0.append(frame, key: key) }) {
        case .overflow: .outbox(bytesMax: self.limits.bytesMax)
        case .queued where self.waiting.count > self.waiting.countMax:
            .inAll(bytesMax: self.waiting.countMax)
        case .queued: nil
        }
    }

    private func putWaiting(byteCount: Int, on context: ChannelHandlerContext) {
        for frame in self.changeOutbox({ $0.take(byteCount: byteCount) }) {
            self.put(ByteBuffer(bytes: frame.bytes), on: context)
        }
    }

    private func changeOutbox<Result>(_ change: (inout Outbox) -> Result) -> Result {
        let before = self.outbox.byteCount
        defer {
            self.waiting.count += self.outbox.byteCount - before
            self.isStraight = !self.isHeld && self.outbox.isEmpty
        }
        return change(&self.outbox)
    }

    private func put(_ buffer: ByteBuffer, on context: ChannelHandlerContext) {
        context.write(NIOAny(buffer), promise: nil)
        self.needsFlush = true
    }
}

/// Frames for an audience, in one buffer that all its endpoints share.
struct Span: Sendable {
    private(set) var buffer = ByteBuffer()
    private var parts: [PublishedFrames] = []

    /// Each frame by itself, in bytes of its own.
    var frames: [(frame: Frame, key: ConflationKey?)] { self.parts.flatMap(\.frames) }

    mutating func append(_ frames: PublishedFrames) {
        self.buffer.writeBytes(frames.bytes)
        self.parts.append(frames)
    }
}
