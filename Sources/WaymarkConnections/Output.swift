internal import WaymarkGateway
internal import WaymarkProtocol

/// Names the socket of a connection: a descriptor in the daemon, a pipe in the simulation.
package struct SocketID: Sendable, Hashable {
    package let rawValue: CInt
    package init(rawValue: CInt) { self.rawValue = rawValue }

    // Why not an optional: it is looked at for each member of an audience.
    /// No socket.
    static let none = SocketID(rawValue: -1)
}

/// Sends bytes on a socket without waiting, and returns how many it accepted, from the front. 0 or less if none, also if the socket is
/// broken: its channel reports that.
package typealias Send = (SocketID, RawSpan) -> Int

/// What one connection sends: first to the socket, and as long as that accepts nothing more, to the outbox.
///
///     ready ──the socket accepts a part──▶ blocked ──the channel has written its portion──▶ ready
///
/// Bytes stay in order because there are three places, each behind the one before: the portion that the channel writes once the
/// socket is writable; the rest of what was being sent (``sending``); and the outbox, where newer states replace older ones, and frames
/// that go first (``goesFirst(_:)``) overtake the others. The socket itself is used only while the channel has nothing. A connection
/// without a plain socket hands every portion to its channel.
package struct Output: Sendable {
    /// Why a peer that reads too slowly must be closed.
    package enum Overflow: Sendable, Hashable {
        case outbox(bytesMax: Int)
        /// Of all connections of one user or IP address.
        case user(bytesMax: Int)
        /// Of all connections of the loop.
        case loop(bytesMax: Int)
        /// Of the input that all connections hold. The connection's own output is not to blame.
        case input(bytesMax: Int)
        /// The same, of all connections of one user or IP address.
        case userInput(bytesMax: Int)

        /// The limit as the page names it; the value is that of this connection's event loop.
        var limit: ReachedLimit {
            switch self {
            case .outbox(let max): ReachedLimit("outbox_bytes_max", max)
            case .user(let max): ReachedLimit("outbox_bytes_per_user_max", max)
            case .loop(let max): ReachedLimit("outbox_bytes_in_all_max", max)
            case .input(let max): ReachedLimit("input_bytes_in_all_max", max)
            case .userInput(let max): ReachedLimit("input_bytes_per_user_max", max)
            }
        }
    }

    /// The fate of a frame for a client.
    enum RelayVerdict: Sendable, Hashable {
        case appended
        /// It is an event beyond the share of its endpoint, and dropped.
        case rejected(EventLimit)
        case overflow(Overflow)
    }

    /// The peer session is active, so that shared batches may be sent. Its own messages are sent in every state.
    var isOpen = false { didSet { self.chooseDirect() } }
    /// Nothing leaves the outbox: the connection comes from another process, or goes to one.
    var isSuspended = false { didSet { self.chooseDirect() } }
    /// The channel has a portion that the socket did not accept.
    private(set) var isBlocked = false { didSet { self.isSettled = false } }
    /// ``LoopCore/settle(_:at:into:arms:)`` knows ``direct`` and the number of waiting bytes.
    var isSettled = true
    /// `none` until the channel is active, once it is closed, and for a channel that is more than a socket.
    var socket = SocketID.none { didSet { self.chooseDirect() } }
    /// The socket, while a shared batch may be sent on it past this type: nothing else waits; else `none`.
    private(set) var direct = SocketID.none
    /// To be sent by the next flush, or the rest of what was being sent.
    private var sending: ArraySlice<UInt8> = []
    /// In place of ``sending``, once several frames were put together.
    private var joined: [UInt8] = []
    private var outbox: BoxedOutbox
    /// See ``LoopCore/Limits/portionBytes``. What is in a portion cannot be overtaken.
    private(set) var portionBytes: Int32
    /// The portion that the channel has.
    private var channelByteCount: UInt32 = 0
    /// The same, once the connection closes: it is not held for the peer any more, but may still be sent.
    private var lastByteCount: UInt32 = 0
    /// No frame is added to so many waiting bytes, as ``Outbox`` counts them. Only observers have this bound, see ``boundAnswers()``: the
    /// outbox of every other peer has its limit.
    private var waitingBytesMax = Int32.max
    /// Of the outbox, when the connection closes.
    private static let finalBytesMax = 65_536
    /// See ``boundAnswers()``. This is the room for 400 Pongs. Only a few wait for a peer that keeps to the protocol: it closes a connection
    /// that is silent for three intervals.
    private static let answerBytesMax = 65_536
    /// A peer that takes small frames is not sent fewer bytes at a time.
    private static let portionBytesMin: UInt32 = 4_096
    /// What a socket is sent at once. What is longer goes on once the channel has written a portion, after others had their turns.
    private static let sendBytesMax = 262_144
    /// What a channel gets of a portion if the socket is written past it: only to hear when the socket accepts data again. Channels
    /// copy what they are given.
    private static let channelBytes = 4_096

    init(limits: Outbox.Limits, portionBytes: Int) {
        self.outbox = BoxedOutbox(limits: limits)
        self.portionBytes = Int32(clamping: portionBytes)
    }

    /// Lowers the portions for a peer that takes no longer frames than this: it may be slow. 0: it takes all frames.
    mutating func limitPortions(to frameBytesMax: UInt32) {
        guard frameBytesMax > 0 else { return }
        let byteCount = max(frameBytesMax, Self.portionBytesMin)
        self.portionBytes = min(self.portionBytes, Int32(clamping: byteCount))
    }

    /// Lets any number of bytes wait for an observer: it is told a portion only when it has read the one before, and one entry may be longer
    /// than the outbox. ``boundAnswers()`` must follow. Before anything waits.
    mutating func liftOutboxLimit() { self.outbox = BoxedOutbox(limits: .none) }

    /// Bounds what an observer makes the gateway send from now on, such as Pongs: ``answerBytesMax`` above what waits now.
    ///
    /// Called when a portion was written, and again when there is room for the next one. So the bound falls when the observer has read, and at
    /// most one portion, twice ``answerBytesMax`` and what was left when there was room wait at any time.
    mutating func boundAnswers() {
        self.waitingBytesMax = Int32(clamping: self.outbox.byteCount + Self.answerBytesMax)
    }

    /// Lifts the bound of ``boundAnswers()`` while a portion is written, which may have any length.
    mutating func liftAnswerBound() { self.waitingBytesMax = .max }

    /// Bytes that wait in the outbox, as ``Outbox`` counts them.
    var waitingByteCount: Int { self.outbox.byteCount }
    /// All bytes that are held for the peer while its socket accepts nothing, also those that other connections share.
    var heldByteCount: UInt32 {
        mutating get {
            let sending = self.sending.endIndex - self.sending.startIndex
            return UInt32(
                clamping: self.outbox.byteCount + sending + self.joined.count + Int(self.channelByteCount))
        }
    }
    /// The outbox, in order.
    var waitingFrames: [Outbox.Waiting] { self.outbox.waiting }
    /// States that newer ones replaced while they waited.
    var conflatedCount: UInt64 { self.outbox.conflatedCount }
    /// What the socket accepted of this connection, in bytes, but for what ``direct`` accepted of shared batches.
    private(set) var sentByteCount: UInt64 = 0
    /// The peer is an endpoint of a vehicle.
    var isForEndpoint = false
    /// Frames wait for the peer to read.
    private(set) var isWaiting = false
    /// A Ping is among them. Another one would say nothing more.
    private var isPingWaiting = false
    /// The socket has every byte that left the outbox.
    var isDrained: Bool { !self.isBlocked && self.isSendingNothing }
    /// The bytes of the next flush fill a portion.
    var isPortionFull: Bool {
        max(self.sending.count, self.joined.count) >= self.portionBytes || self.isWaitingToBeJoined
    }

    /// Frames wait only because they would make ``joined`` too long.
    private var isWaitingToBeJoined: Bool { self.isWaiting && !self.isBlocked && !self.isSuspended }

    // Why not `sending.isEmpty`: it is generic, and its types are looked up at run time on each call.
    private var isSendingNothing: Bool {
        self.sending.startIndex == self.sending.endIndex && self.joined.count == 0
    }

    // MARK: Writing

    /// Appends a frame.
    ///
    /// - Returns: The limit that it would exceed; nil if it was appended.
    mutating func write(_ frame: Frame, key: ConflationKey?) -> Overflow? {
        if self.mustWait(frame) { return self.wait(frame, key) }
        self.put(frame.bytes)
        return nil
    }

    /// Appends a frame for a client, which waits as `relay` says.
    mutating func write(_ frame: Frame, as relay: Relay) -> RelayVerdict {
        if self.mustWait(frame) { return self.wait(frame, as: relay) }
        self.put(frame.bytes)
        return .appended
    }

    private func mustWait(_ frame: Frame) -> Bool {
        if self.isBlocked || self.isSuspended || self.isWaiting { return true }
        // Bytes that are joined are copied, for each connection. The outbox shares the bytes of its frames.
        let pendingByteCount = max(self.sending.count, self.joined.count)
        return pendingByteCount > 0 && pendingByteCount + frame.bytes.count > self.portionBytes
    }

    /// Appends a shared batch, but for its first `sentCount` bytes, which ``direct`` has accepted.
    ///
    /// - Returns: The limit that it would exceed; nil if all of it was appended.
    mutating func write(_ batch: inout SharedBatch, after sentCount: Int) -> Overflow? {
        // ``direct`` was tried first, if there is one.
        let wasTried = self.direct != .none
        guard wasTried || self.isBlocked || self.isSuspended || self.isWaiting else {
            self.put(batch.bytes)
            return nil
        }
        // The frame that was sent in part must be completed; the frames behind it can wait, each in bytes that all connections share.
        var skipped = sentCount
        for (frame, key) in batch.frames() {
            if skipped >= frame.bytes.count {
                skipped -= frame.bytes.count
            } else if skipped > 0 {
                self.sending = frame.bytes.dropFirst(skipped)
                skipped = 0
            } else if wasTried, self.isSendingNothing {
                self.sending = frame.bytes
            } else if let overflow = self.wait(frame, key) {
                return overflow
            }
        }
        return nil
    }

    /// Puts a shared batch into the outbox, behind everything else.
    ///
    /// - Returns: The limit that it would exceed; nil if all of it was appended.
    mutating func queue(_ batch: inout SharedBatch) -> Overflow? {
        for (frame, key) in batch.frames() {
            if let overflow = self.wait(frame, key) { return overflow }
        }
        return nil
    }

    /// Sends a frame immediately if nothing is pending. ``flush(_:)`` sends what the socket does not accept.
    ///
    /// - Returns: Whether it did. If not, call ``write(_:key:)``.
    mutating func sendAtOnce(_ frame: Frame, _ send: Send) -> Bool {
        guard self.direct != .none, self.isSendingNothing else { return false }
        let count = max(0, unsafe send(self.direct, frame.bytes.span.bytes))
        self.sentByteCount &+= UInt64(truncatingIfNeeded: count)
        if count < frame.bytes.count { self.sending = frame.bytes.dropFirst(count) }
        return true
    }

    /// Sends what was written, as far as the socket accepts it.
    ///
    /// - Returns: A portion for the channel, which must report by ``channelWrote()`` that the socket has it; nil if there is none.
    mutating func flush(_ send: Send) -> ArraySlice<UInt8>? {
        while !self.isBlocked {
            if self.isSendingNothing { self.refill() }
            guard !self.isSendingNothing else { break }
            if self.joined.count > 0 {
                self.sending = self.joined[...]
                self.joined = []
            }
            if self.socket != .none {
                let countMax = min(self.sending.count, Self.sendBytesMax)
                let count = unsafe send(self.socket, self.sending.span.bytes.extracting(first: countMax))
                self.sentByteCount &+= UInt64(truncatingIfNeeded: max(0, count))
                if count == self.sending.count {
                    self.sending = []
                    if !self.isWaiting { return nil }
                } else if count > 0 {
                    self.sending = self.sending.dropFirst(count)
                }
            }
            if !self.isSendingNothing {
                let portionBytes = Int(self.portionBytes)
                let portion = self.sending.prefix(
                    self.socket == .none ? portionBytes : min(portionBytes, Self.channelBytes))
                self.sending = self.sending.dropFirst(portion.count)
                self.channelByteCount = UInt32(portion.count)
                self.isBlocked = true
                self.chooseDirect()
                return portion
            }
        }
        return nil
    }

    /// The channel has written its portion to the socket.
    mutating func channelWrote() {
        self.sentByteCount &+= UInt64(self.channelByteCount + self.lastByteCount)
        (self.channelByteCount, self.lastByteCount) = (0, 0)
        self.isBlocked = false
        self.chooseDirect()
    }

    /// The channel has written bytes of ``finish()`` to the socket.
    mutating func noteSent(_ byteCount: Int) { self.sentByteCount &+= UInt64(byteCount) }

    /// What is still to be sent, in order: the connection closes behind it. Shares the bytes of frames.
    ///
    /// Nothing of it counts as held any more, so there is not much of it: the rest of the frame on its way, and of what waits behind it no more
    /// than the end.
    mutating func finish() -> [ArraySlice<UInt8>] {
        if self.joined.count > 0 { self.sending = self.joined[...] }
        self.joined = []
        var waiting = self.outbox.change { $0.take(byteCount: .max) }.map(\.bytes)[...]
        var byteCount = waiting.reduce(0) { $0 + $1.count }
        while byteCount > Self.finalBytesMax, let first = waiting.popFirst() { byteCount -= first.count }
        let rest = [self.sending] + waiting
        self.sending = []
        (self.channelByteCount, self.lastByteCount) = (0, self.channelByteCount)
        self.outboxChanged()
        return rest.filter { !$0.isEmpty }
    }

    /// Takes over what waited in another process.
    mutating func restore(_ waiting: [Outbox.Waiting]) -> Overflow? {
        var overflow: Overflow?
        for waiting in waiting {
            guard let relay = waiting.relay else {
                overflow = self.wait(waiting.frame, waiting.key) ?? overflow
                continue
            }
            if case .overflow(let other) = self.wait(waiting.frame, as: relay, mayExceedShare: true) {
                overflow = other
            }
        }
        return overflow
    }

    /// Appends bytes to those of the next flush.
    private mutating func put(_ bytes: ArraySlice<UInt8>) {
        guard !self.isSendingNothing else { return self.sending = bytes }
        if self.joined.count == 0 {
            self.joined.reserveCapacity(960)
            self.joined += self.sending
            self.sending = []
        }
        self.joined += bytes
    }

    // MARK: The outbox

    /// Drops the waiting frames of a navigation session, or only those of one type.
    mutating func purge(_ session: SessionID, only type: MessageType? = nil) {
        guard !self.outbox.isEmpty else { return }
        self.outbox.change { $0.purge(session, only: type) }
        self.outboxChanged()
    }

    /// Drops all waiting frames.
    mutating func clear() {
        self.outbox.change { $0.removeAll() }
        self.isPingWaiting = false
        self.outboxChanged()
    }

    private mutating func wait(_ frame: Frame, _ key: ConflationKey?) -> Overflow? {
        guard self.outbox.byteCount < Int(self.waitingBytesMax) else {
            return .outbox(bytesMax: Int(self.waitingBytesMax))
        }
        if frame.header.type == .ping {
            guard !self.isPingWaiting else { return nil }
            self.isPingWaiting = true
        }
        // A newer Acknowledgement of a session says all that an older one does. Otherwise they fill the outbox of a client that only writes.
        let isAcknowledgement = frame.header.type == .acknowledgement
        let goesFirst = self.goesFirst(frame.header)
        let verdict = self.outbox.change {
            goesFirst
                ? $0.append(urgent: frame)
                : $0.append(frame, key: isAcknowledgement ? ConflationKey(type: .acknowledgement) : key)
        }
        self.outboxChanged()
        return verdict == .overflow ? .outbox(bytesMax: self.outbox.limits.bytesMax) : nil
    }

    private mutating func wait(_ frame: Frame, as relay: Relay, mayExceedShare: Bool = false) -> RelayVerdict
    {
        // RequestOutcome is for endpoints, too.
        if self.isForEndpoint {
            return self.wait(frame, nil).map { .overflow($0) } ?? .appended
        }
        let verdict = self.outbox.change { $0.append(frame, as: relay, mayExceedShare: mayExceedShare) }
        self.outboxChanged()
        return switch verdict {
        case .queued: .appended
        case .rejected(let limit): .rejected(limit)
        case .overflow: .overflow(.outbox(bytesMax: self.outbox.limits.bytesMax))
        }
    }

    /// Whether a frame overtakes those that wait: to an endpoint what belongs to no session, to a client only what has no order.
    ///
    /// With SessionEnded the gateway purges what it ends. Nothing may follow a Goodbye, so it stays at the end.
    private func goesFirst(_ header: FrameHeader) -> Bool {
        guard header.session == .none else { return false }
        return switch header.type {
        case .ping, .pong: true
        case .goodbye: false
        default: self.isForEndpoint
        }
    }

    private mutating func refill() {
        guard self.isWaiting, !self.isSuspended else { return }
        let byteCount = Int(self.portionBytes)
        for frame in self.outbox.change({ $0.take(byteCount: byteCount) }) {
            if frame.header.type == .ping { self.isPingWaiting = false }
            self.put(frame.bytes)
        }
        self.outboxChanged()
    }

    private mutating func outboxChanged() {
        self.isWaiting = !self.outbox.isEmpty
        self.isSettled = false
        self.chooseDirect()
    }

    private mutating func chooseDirect() {
        let isFree = self.isOpen && !self.isSuspended && !self.isBlocked && !self.isWaiting
        let direct = isFree ? self.socket : .none
        guard direct != self.direct else { return }
        self.direct = direct
        self.isSettled = false
    }
}
