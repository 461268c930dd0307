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

/// What goes out on one connection: straight into its socket, through its channel once the kernel has taken enough, and
/// through its outbox once the channel has.
///
///     straight ──the kernel takes no more──▶ queued ──the channel takes no more──▶ waiting
///        ▲                                    │  ▲                                    │
///        └──────the kernel has everything─────┘  └──────the channel takes more────────┘
///
/// Bytes stay in order because nothing overtakes: the channel is only used behind the socket, the outbox behind the channel,
/// and the socket only when both are empty. What is put together for the socket is flushed before an audience sends past it, see
/// ``LoopShard/perform(_:)``. A connection that is no bare socket begins at the channel.
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

    /// How much is handed on at a time, in bytes.
    private static let portionBytes = 32_768

    /// Where it sits in an audience.
    private struct Seat {
        let audience: LocalAudience
        var index: UInt32
        /// How many spans the audience had got when it was asked last.
        var spanCount: UInt32
    }

    /// Takes the next span, behind a flush; nil while it has to go another way, or nowhere. The audiences know it too.
    private(set) var straight: BareSocket?
    /// Few: at most one for each session of its vehicle.
    private var seats = Few<Seat>()
    /// An audience that it is in, or was in, got something since ``takeSpoken()``.
    private var hasSpoken = false
    private var socket: BareSocket?
    /// Spans may be sent. Without it what is written goes its way none the less.
    var isOpen = false { didSet { if self.isOpen != oldValue { self.findWay() } } }
    /// Everything waits, whatever the channel takes.
    var isHeld = false { didSet { self.findWay() } }
    /// Is put together for the socket until it is flushed.
    private var unsent = Unsent.nothing
    /// The channel may hold something.
    private var isQueued = false
    /// Something is behind that of which the channel tells when it is written.
    private var isMoreQueued = false
    /// Something was given to the channel that is not yet on its way.
    private var isUnflushed = false
    private let waiting: WaitingBytes
    private var outbox: Outbox
    /// Something is in the outbox. Asked for each frame, so apart from it.
    private var hasWaiting = false
    /// More waited in another process than may here.
    private(set) var overflow: Overflow?

    init(limits: Outbox.Limits, waiting: WaitingBytes) {
        self.waiting = waiting
        self.outbox = Outbox(limits: limits)
    }

    /// Holds what waited in another process.
    init(limits: Outbox.Limits, waiting: WaitingBytes, holding frames: [ConnectionState.Waiting]) {
        self.waiting = waiting
        self.outbox = Outbox(limits: limits)
        self.isHeld = true
        for entry in frames { self.overflow = self.wait(entry.frame, entry.key) ?? self.overflow }
    }

    deinit { self.waiting.count -= self.outbox.byteCount }

    /// What waits, in order.
    var waitingFrames: [(frame: Frame, key: ConflationKey?)] { self.outbox.waiting }

    /// Nothing waits for the peer to read.
    var isEmpty: Bool { !self.hasWaiting }

    /// The channel can be read and written; `socket` if it is nothing but that.
    func socketOpened(_ socket: BareSocket?) {
        guard !self.isQueued else { return }
        self.socket = socket
        self.findWay()
    }

    /// The channel has closed its socket.
    func socketClosed() {
        self.socket = nil
        self.unsent = .nothing
        self.findWay()
    }

    /// Whether an audience that it is in, or was in, got something since this was asked last.
    func takeSpoken() -> Bool {
        defer { self.hasSpoken = false }
        for index in self.seats.indices { self.listen(at: index) }
        return self.hasSpoken
    }

    /// Takes over whether an audience got something.
    private func listen(at index: Int) {
        let seat = self.seats[index]
        let spanCount = seat.audience.spanCount
        guard spanCount != seat.spanCount else { return }
        self.seats[index].spanCount = spanCount
        self.hasSpoken = true
    }

    /// Writes a frame, or lets it wait behind others.
    ///
    /// - Returns: Why it cannot wait; nil if all is well.
    func write(_ frame: Frame, key: ConflationKey?, on context: ChannelHandlerContext) -> Overflow? {
        guard self.straight != nil || self.takesMore(context) else { return self.wait(frame, key) }
        self.put(frame, on: context)
        return nil
    }

    /// Sends a frame if nothing is in its way; what is left of it then is for ``write(_:after:on:)``.
    ///
    /// - Returns: How many bytes of it went out, from the front.
    func send(_ frame: Frame) -> Int {
        guard self.unsent.isEmpty, let straight = self.straight else { return 0 }
        return unsafe straight.send(frame.bytes.span.bytes)
    }

    /// Writes a frame but for the first `sentCount` bytes, which just went out.
    ///
    /// - Returns: Why it cannot wait; nil if all is well.
    func write(_ frame: Frame, after sentCount: Int, on context: ChannelHandlerContext) -> Overflow? {
        guard sentCount > 0 else { return self.write(frame, key: nil, on: context) }
        self.queue(ByteBuffer(bytes: frame.bytes), after: sentCount, on: context)
        return nil
    }

    /// Writes frames that are shared by an audience, but for the first `sentCount` bytes, which just went out straight; or lets
    /// them wait one by one.
    ///
    /// - Returns: Why they cannot wait; nil if all is well.
    func write(_ span: inout Span, after sentCount: Int, on context: ChannelHandlerContext) -> Overflow? {
        guard sentCount == 0 else {
            self.queue(span.buffer, after: sentCount, on: context)
            return nil
        }
        if self.takesMore(context) {
            self.put(span.buffer, on: context)
            return nil
        }
        for (frame, key) in span.frames() {
            if let overflow = self.wait(frame, key) { return overflow }
        }
        return nil
    }

    func flush(on context: ChannelHandlerContext) {
        if !self.unsent.isEmpty {
            let unsent = self.unsent
            self.unsent = .nothing
            let sentCount = self.socket.map { unsent.send(to: $0) } ?? 0
            if sentCount < unsent.byteCount { self.queue(unsent.buffer, after: sentCount, on: context) }
        }
        guard self.isUnflushed else { return }
        self.isUnflushed = false
        context.flush()
    }

    /// The channel takes more, or less, than before.
    func writabilityChanged(on context: ChannelHandlerContext) {
        while !self.isHeld, context.channel.isWritable, self.hasWaiting {
            self.putWaiting(byteCount: Self.portionBytes, on: context)
            self.flush(on: context)
        }
    }

    /// Hands everything that waits to the channel: nothing comes behind it.
    func finish(on context: ChannelHandlerContext) {
        self.putWaiting(byteCount: .max, on: context)
        self.flush(on: context)
    }

    /// Drops what waits of a session, or only what is of one type.
    func purge(_ session: SessionID, only type: MessageType?) {
        self.changeOutbox { $0.purge(session, only: type) }
    }

    /// Drops everything that waits.
    func clear() { self.changeOutbox { $0 = Outbox(limits: $0.limits) } }

    // MARK: Audiences

    /// The audiences that it is in.
    var audiences: [AudienceID] { self.seats.map(\.audience.id) }

    /// Takes a seat in an audience; that is the audience's to call, as the next two.
    ///
    /// - Returns: False if it has one.
    func join(_ audience: LocalAudience, at index: Int) -> Bool {
        guard self.seat(in: audience) == nil else { return false }
        self.seats.append(Seat(audience: audience, index: UInt32(index), spanCount: audience.spanCount))
        return true
    }

    /// Gives a seat up.
    ///
    /// - Returns: Where it was; nil if there was none.
    func leave(_ audience: LocalAudience) -> Int? {
        guard let place = self.seat(in: audience) else { return nil }
        self.listen(at: place)
        return Int(self.seats.remove(at: place).index)
    }

    /// Has another seat in an audience.
    func move(in audience: LocalAudience, to index: Int) {
        guard let place = self.seat(in: audience) else { return }
        self.seats[place].index = UInt32(index)
    }

    private func seat(in audience: LocalAudience) -> Int? {
        self.seats.firstIndex { $0.audience === audience }
    }

    // MARK: The outbox

    private func wait(_ frame: Frame, _ key: ConflationKey?) -> Overflow? {
        switch self.changeOutbox({ $0.append(frame, key: key) }) {
        case .overflow: .outbox(bytesMax: self.outbox.limits.bytesMax)
        case .queued where self.waiting.count > self.waiting.countMax:
            .inAll(bytesMax: self.waiting.countMax)
        case .queued: nil
        }
    }

    private func putWaiting(byteCount: Int, on context: ChannelHandlerContext) {
        for frame in self.changeOutbox({ $0.take(byteCount: byteCount) }) {
            self.put(frame, on: context)
        }
    }

    private func changeOutbox<Result>(_ change: (inout Outbox) -> Result) -> Result {
        let before = self.outbox.byteCount
        defer {
            self.waiting.count += self.outbox.byteCount - before
            self.hasWaiting = !self.outbox.isEmpty
            self.findWay()
        }
        return change(&self.outbox)
    }

    // MARK: The socket and the channel

    /// What is written need not wait.
    private func takesMore(_ context: ChannelHandlerContext) -> Bool {
        !self.isHeld && !self.hasWaiting && context.channel.isWritable
    }

    private func findWay() {
        let isFree = !self.isQueued && !self.hasWaiting
        let way = self.isOpen && !self.isHeld && isFree ? self.socket : nil
        guard way != self.straight else { return }
        self.straight = way
        for seat in self.seats { seat.audience.setWay(way, ofMemberAt: Int(seat.index)) }
    }

    private func put(_ frame: Frame, on context: ChannelHandlerContext) {
        guard self.socket != nil, !self.isQueued else {
            return self.queue(ByteBuffer(bytes: frame.bytes), after: 0, on: context)
        }
        self.send(behind: { $0.append(frame.bytes) }, on: context)
    }

    private func put(_ buffer: ByteBuffer, on context: ChannelHandlerContext) {
        guard self.socket != nil, !self.isQueued else { return self.queue(buffer, after: 0, on: context) }
        self.send(behind: { $0.append(buffer) }, on: context)
    }

    /// Lets something come behind what is put together. Why not in its place: each look at it would be checked then.
    @inline(__always)
    private func send(behind append: (inout Unsent) -> Void, on context: ChannelHandlerContext) {
        var unsent = self.unsent
        self.unsent = .nothing
        append(&unsent)
        self.unsent = unsent
        if unsent.byteCount >= Self.portionBytes { self.flush(on: context) }
    }

    /// Gives the channel what is left of a buffer. Of the first that it is given, it tells when it is written.
    private func queue(_ buffer: ByteBuffer, after sentCount: Int, on context: ChannelHandlerContext) {
        var rest = buffer
        rest.moveReaderIndex(forwardBy: sentCount)
        var written: EventLoopPromise<Void>?
        if self.isQueued {
            self.isMoreQueued = true
        } else if self.socket != nil {
            let promise = context.eventLoop.makePromise(of: Void.self)
            promise.futureResult.assumeIsolated().whenSuccess { self.firstIsWritten(on: context) }
            written = promise
        }
        self.isQueued = true
        self.isUnflushed = true
        self.findWay()
        context.write(NIOAny(rest), promise: written)
    }

    /// The kernel has what the channel was given first. What was given to it since is seen off in the same way.
    private func firstIsWritten(on context: ChannelHandlerContext) {
        self.isQueued = false
        guard self.isMoreQueued else { return self.findWay() }
        self.isMoreQueued = false
        self.queue(ByteBuffer(), after: 0, on: context)
        self.flush(on: context)
    }
}

/// What is put together to be sent at once. The first part is only copied when another comes behind it.
private enum Unsent {
    case nothing
    case frame(ArraySlice<UInt8>)
    case buffer(ByteBuffer)

    var isEmpty: Bool { if case .nothing = self { true } else { false } }

    var byteCount: Int {
        switch self {
        case .nothing: 0
        case .frame(let bytes): bytes.count
        case .buffer(let buffer): buffer.readableBytes
        }
    }

    /// All of it.
    var buffer: ByteBuffer {
        switch self {
        case .nothing: ByteBuffer()
        case .frame(let bytes): ByteBuffer(bytes: bytes)
        case .buffer(let buffer): buffer
        }
    }

    mutating func append(_ frame: ArraySlice<UInt8>) {
        guard !self.isEmpty else { return self = .frame(frame) }
        var buffer = self.takeBuffer()
        buffer.writeBytes(frame)
        self = .buffer(buffer)
    }

    mutating func append(_ other: ByteBuffer) {
        guard !self.isEmpty else { return self = .buffer(other) }
        var buffer = self.takeBuffer()
        buffer.writeImmutableBuffer(other)
        self = .buffer(buffer)
    }

    /// - Returns: How many bytes the socket took, from the front.
    func send(to socket: BareSocket) -> Int {
        switch self {
        case .nothing: 0
        case .frame(let bytes): unsafe socket.send(bytes.span.bytes)
        case .buffer(let buffer): socket.send(buffer.readableBytesSpan)
        }
    }

    /// Leaves nothing, so that what comes behind it is written into the same memory.
    private mutating func takeBuffer() -> ByteBuffer {
        defer { self = .nothing }
        return self.buffer
    }
}

/// Frames for an audience, in one buffer that all its endpoints share.
struct Span: Sendable {
    private(set) var buffer = ByteBuffer()
    private var parts: [PublishedFrames] = []
    private var cut: [(frame: Frame, key: ConflationKey?)]?

    /// Each frame by itself, in bytes of its own, which all that have to wait share.
    mutating func frames() -> [(frame: Frame, key: ConflationKey?)] {
        let frames = self.cut ?? self.parts.flatMap(\.frames)
        self.cut = frames
        return frames
    }

    mutating func append(_ frames: PublishedFrames) {
        self.buffer.writeBytes(frames.bytes)
        self.parts.append(frames)
    }
}
