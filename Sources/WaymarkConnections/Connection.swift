internal import WaymarkCodec
internal import WaymarkGateway
internal import WaymarkProtocol

/// The gateway's end of one connection: the frame splitter, the peer session, the output and the deadlines.
///
/// Owned and changed by ``LoopCore`` alone.
struct Connection {
    // Why in this order: an instant that may be missing ends in the middle of a word, and the flags and small numbers behind it fill that.
    // So the ten thousand connections that may be idle have no gaps.
    let id: ConnectionID
    let payer: Payer
    var session: AcceptingSession
    var splitter: FrameSplitter
    var output: Output
    /// Events for the gateway that are not yet submitted.
    var events: [Gateway.Event] = []

    /// The audiences that it is in: none, or that of its vehicle's session with its profile.
    var seats = SmallArray<Seat>()
    /// Whether it is in ``LoopCore``'s list of connections to flush.
    var isTouched = false
    /// Whether it is in ``LoopCore/writable``: the channel's portion is written, but the output does not know yet.
    var isSendingOn = false
    /// It is an observer's, and was sent a portion; the next one follows when there is room.
    var awaitsRoom = false

    /// When the session must handle `.deadlineReached`.
    var deadline: Instant? { didSet { self.isSettled = false } }
    /// The session has ended: input is discarded, nothing more is sent.
    var isClosing = false { didSet { self.isSettled = false } }
    /// Input is collected and output waits: the connection comes from another process, or goes to one.
    var isSuspended = false { didSet { self.isSettled = false } }
    /// Of the Goodbye that it was sent.
    var goodbyeCode: CloseCode?
    /// Batches of events that the gateway has not yet processed.
    @Narrow var batchCount = 0

    /// The instant of the next check whether the peer has read anything; nil while its socket accepts everything.
    var stallCheck: Instant?
    /// The driver waits for ``LoopCore/Action/read(_:)``, which follows once the gateway has processed a batch.
    var isReadHeld = false
    /// The transport has closed, which is handled once the input is processed, or in the connection's turn.
    var isTransportClosed = false
    /// The driver has forgotten the connection, which is removed once the end of its transport is handled.
    var isRemovalDue = false
    /// The cost of the events that were submitted and that ``LoopCore`` has not yet counted.
    @Narrow var submittedCost = 0
    /// The instant at which the channel last wrote a whole portion to the socket, or at which the socket began to refuse bytes.
    var progressed = Instant(nanoseconds: 0)

    /// The limit of waiting bytes that was exceeded: the connection must be closed.
    var overflow: Output.Overflow? { didSet { self.isSettled = false } }
    /// Whole frames may be in ``splitter``, which wait for the connection's turn.
    var isInputQueued = false
    /// It is in ``LoopCore``'s queue of turns.
    var hasTurn = false
    /// The index of the peer's account in ``LoopCore``.
    var account: UInt32 = 0

    // The values that ``LoopCore/settle(_:at:into:arms:)`` published last: to the total, the audiences and the deadlines.
    var accountedInput: UInt32 = 0
    var accountedOutput: UInt32 = 0
    var scheduled: Instant?
    /// Nothing that they depend on has changed since.
    var isSettled = false
    /// The gateway has not answered the Hello. Until then ``isInputQueued`` keeps what follows it, but it has no turn.
    var isAwaitingWelcome = false
    /// It was sent a Welcome.
    var isAdmitted = false
    var announcedSocket = SocketID.none

    var isDetachable: Bool {
        self.isSuspended && !self.isClosing && self.output.isDrained && self.overflow == nil
    }

    var needsSettling: Bool { !self.isSettled || !self.output.isSettled }

    /// A member's place in an audience.
    struct Seat {
        let audience: AudienceID
        /// The audience's slot in ``LoopCore``.
        @Narrow var slot: Int
        /// The connection's index in the audience's list of members.
        @Narrow var index: Int
        /// ``AudienceMembers/batchCount`` when the session was last told of sent batches.
        var batchCount: UInt32
    }

    init(
        _ id: ConnectionID, _ payer: Payer, _ session: AcceptingSession, _ outbox: Outbox.Limits,
        _ portionBytes: Int
    ) {
        self.id = id
        self.payer = payer
        self.session = session
        self.splitter = FrameSplitter(frameBytesMax: session.receiveFrameBytesMax)
        self.output = Output(limits: outbox, portionBytes: portionBytes)
    }

    /// Frees the memory of a connection that was removed. Its slot stays until another connection is put into it.
    mutating func retire() {
        self.isClosing = true
        self.isSendingOn = false
        // A part of a Hello may contain a part of a key.
        if !self.isAdmitted { self.splitter.wipeRest() }
        self.splitter = FrameSplitter(frameBytesMax: 0)
        self.output = Output(limits: Outbox.Limits(), portionBytes: 0)
        self.events = []
        self.seats = SmallArray()
        (self.accountedInput, self.accountedOutput) = (0, 0)
        (self.announcedSocket, self.scheduled) = (.none, nil)
    }

    /// Bytes of input that the connection holds. A small part of a frame belongs to the memory that every connection has.
    ///
    /// Why mutating: otherwise its caller copies the whole connection.
    var inputByteCount: UInt32 {
        mutating get {
            let byteCount = self.splitter.byteCapacity
            return byteCount > 4_096 ? UInt32(clamping: byteCount) : 0
        }
    }

    // MARK: Input

    /// Whether input waits that will be processed: behind a Hello, only if the gateway is about to answer it.
    mutating func hasProcessableInput() -> Bool {
        guard self.isAwaitingWelcome else { return self.isInputQueued }
        return self.batchCount > 0 && !self.splitter.isEmpty
    }

    /// Processes what was read, or keeps it for the connection's turn.
    ///
    /// - Returns: The cost as ``receive(_:isReadOver:at:_:_:budget:_:into:)``; the maximum if the connection needs a turn.
    mutating func read(
        _ read: RawSpan, isReadOver: Bool, at now: Instant, _ slot: Int, _ codecs: LoopCodecs, budget: Int,
        _ send: Send, into actions: inout [LoopCore.Action]
    ) -> Int {
        guard !self.isClosing, !self.takePong(read) else { return 0 }
        guard !self.isSuspended, !self.isInputQueued, budget > 0 else {
            self.append(read)
            self.session.noteBytes()
            self.isSettled = false
            return self.isSuspended ? 0 : .max
        }
        return self.receive(
            read, isReadOver: isReadOver, at: now, slot, codecs, budget: budget, send, into: &actions)
    }

    /// Processes what was read now and before, until the budget is spent, and sends and submits what follows from it.
    ///
    /// - Returns: The cost. If it reaches the budget, there may be more to process.
    mutating func receive(
        _ read: RawSpan = RawSpan(), isReadOver: Bool, at now: Instant, _ slot: Int, _ codecs: LoopCodecs,
        budget: Int, _ send: Send, into actions: inout [LoopCore.Action]
    ) -> Int {
        let cost = self.process(read, at: now, slot, codecs, budget: budget, into: &actions)
        self.flush(slot, send, into: &actions)
        self.submit(cost: cost, isReadOver: isReadOver, into: &actions)
        return cost
    }

    /// Appends a read to the input. Until the Welcome it may contain the key of a Hello.
    @inline(__always)
    private mutating func append(_ read: RawSpan) {
        if self.isAdmitted { self.splitter.append(read) } else { self.splitter.appendSecret(read) }
    }

    /// Handles a read that is exactly one Pong, as most reads of idle connections are.
    ///
    /// - Returns: Whether it was one. If not, nothing has changed.
    mutating func takePong(_ read: RawSpan) -> Bool {
        Codec.isPong(read) && !self.isSuspended && self.splitter.isEmpty && self.session.notePong()
    }

    /// Processes whole frames among what was read now and before. The events that follow are kept for ``submit(isReadOver:into:)``.
    private mutating func process(
        _ read: RawSpan, at now: Instant, _ slot: Int, _ codecs: LoopCodecs, budget: Int,
        into actions: inout [LoopCore.Action]
    ) -> Int {
        if read.byteCount > 0 { self.append(read) }
        var cost = 0
        do throws(FramingError) {
            while !self.isClosing, cost < budget {
                if self.splitter.isPublishedNext {
                    let start = self.splitter.offset
                    self.takePublications(codecs)
                    cost += (self.splitter.offset - start) / Self.bytesPerUnit
                }
                guard let frame = try self.splitter.next() else { break }
                self.confirm()
                self.process(frame, at: now, slot, codecs, into: &actions)
                // Accepted or not: the key that it contains is in no memory that is freed.
                if frame.header.rawType == MessageType.hello.rawValue { self.splitter.wipe(frame) }
                cost += 1 + frame.header.frameByteCount / Self.bytesPerUnit
                if self.isAwaitingWelcome { break }
            }
        } catch {
            self.handle(.violated(error), at: now, slot, codecs, into: &actions)
        }
        // Part of a frame is a sign of life, too: a long one may take longer than the peer may be silent.
        if read.byteCount > 0, !self.splitter.isEmpty { self.session.noteBytes() }
        if self.inputByteCount != self.accountedInput { self.isSettled = false }
        return cost
    }

    /// As many bytes are read and checked, or sent, in the time of one unit of ``LoopCore/Budget``.
    static let bytesPerUnit = 1_024

    /// Makes one event of the published frames that come next. Stops before one that is rejected or that this peer may not send.
    private mutating func takePublications(_ codecs: LoopCodecs) {
        let read = self.splitter.read
        let frameBytesMax = self.splitter.frameBytesMax
        var offset = self.splitter.offset
        var frames = PublishedFrames(readInto: read)
        let decoder = codecs.decoder
        let bytes = unsafe read.span.bytes
        do {
            while let header = try FrameHeader.read(
                from: bytes.extracting(offset..<bytes.byteCount), frameBytesMax: frameBytesMax),
                MessageType.published.contains(header.rawType),
                case let end = offset + header.frameByteCount, end <= bytes.byteCount
            {
                // Only an active navigation client publishes: that is checked before the body is read.
                guard !frames.isEmpty || self.session.notePublication() else { break }
                frames.append(
                    read: header, at: offset,
                    try decoder.outline(of: header, bytes.extracting(offset..<end)))
                offset = end
            }
        } catch { /* The caller reads the frame again and reports what is wrong with it. */  }
        self.splitter.skip(to: offset)
        guard !frames.isEmpty else { return }
        self.confirm()
        self.events.append(.published(self.id, frames))
    }

    /// Tells the gateway, before it hears of a frame, that the peer has read the Welcome that resumed it.
    private mutating func confirm() {
        if self.session.takeConfirmation() { self.events.append(.confirmed(self.id)) }
    }

    /// Processes a frame that ``takePublications(_:)`` left: any other message, or a published frame that is not allowed.
    private mutating func process(
        _ frame: Frame, at now: Instant, _ slot: Int, _ codecs: LoopCodecs,
        into actions: inout [LoopCore.Action]
    ) {
        switch codecs.decoder.read(frame, on: &self.session) {
        case .forConnection(let message):
            if codecs.isObserved, case .goodbye = message {
                self.events.append(.seen(self.id, .received(frame.compacted())))
            }
            // Only the gateway asks endpoints for times.
            if self.output.isForEndpoint, case .pong(_, .some) = message {
                self.events.append(.received(self.id, message, .none))
            }
            self.handle(.received(message), at: now, slot, codecs, into: &actions)
        case .forGateway(let message, let session):
            if codecs.isObserved { self.events.append(.seen(self.id, .received(frame.compacted()))) }
            self.events.append(.received(self.id, message, session))
        case .request(let request, let session):
            if codecs.isObserved { self.events.append(.seen(self.id, .received(frame.compacted()))) }
            self.events.append(.requested(self.id, request, session))
        case .publication(let outline):
            self.events.append(.published(self.id, PublishedFrames(frame, outline)))
        case .rejected(let rejection):
            actions.append(.note(slot, .rejected(rejection)))
            if codecs.isObserved { self.events.append(.seen(self.id, .rejected(rejection))) }
            let isPublished = MessageType.published.contains(frame.header.rawType)
            self.handle(
                .rejected(rejection), of: isPublished ? frame.header : nil, at: now, slot, codecs,
                into: &actions)
        case .skipped:
            if let report = self.session.report(onSkipped: frame.header) {
                self.session.noteSent()
                self.send(report, slot, codecs, into: &actions)
            }
        case .closing(let goodbye):
            self.handle(.closeRequested(goodbye), at: now, slot, codecs, into: &actions)
        }
    }

    /// Hands the events of this connection to the gateway. `cost`: of reading them.
    mutating func submit(cost: Int = 0, isReadOver: Bool = false, into actions: inout [LoopCore.Action]) {
        guard !self.events.isEmpty else { return }
        actions.append(.submit(self.events, from: self.id, cost: cost, isReadOver: isReadOver))
        self.events = []
        self.batchCount += 1
        self.submittedCost += cost
    }

    // MARK: The peer session

    /// Hands an event to the peer session. `header`: of the publication that is rejected. The gateway hears of it behind the Error, and
    /// before it hears that the peer has gone.
    mutating func handle(
        _ event: AcceptingSession.Event, of header: FrameHeader? = nil, at now: Instant, _ slot: Int,
        _ codecs: LoopCodecs, into actions: inout [LoopCore.Action]
    ) {
        var sessionActions: [AcceptingSession.Action] = []
        self.session.handle(event, at: now, into: &sessionActions)
        self.output.isOpen = self.session.state == .active
        let isObserving = codecs.isObserved && !self.events.isEmpty
        var rest = sessionActions[...]
        if let header {
            let answers = rest.prefix { if case .gone = $0 { false } else { true } }
            self.perform(answers, slot, codecs, into: &actions)
            self.events.append(.publicationRejected(self.id, header))
            rest = rest[answers.endIndex...]
        }
        self.perform(rest, slot, codecs, into: &actions)
        if codecs.isObserved, !isObserving { self.submit(into: &actions) }
    }

    mutating func perform(
        _ sessionActions: ArraySlice<AcceptingSession.Action>, _ slot: Int, _ codecs: LoopCodecs,
        into actions: inout [LoopCore.Action]
    ) {
        for action in sessionActions {
            switch action {
            case .send(let message): self.send(message, slot, codecs, into: &actions)
            case .admit(let hello):
                self.isAwaitingWelcome = true
                self.isInputQueued = true
                if case .vehicle = hello.role { self.output.isForEndpoint = true }
                self.output.limitPortions(to: hello.receiveFrameBytesMax)
                if case .observer = hello.role {
                    self.output.liftOutboxLimit()
                    self.output.boundAnswers()
                }
                actions.append(.admit(slot, hello))
            case .gone(let clean):
                self.events.append(.departed(self.id, clean: clean))
                self.submit(into: &actions)
            case .arm(let deadline): self.deadline = deadline
            case .close:
                if self.isAwaitingWelcome {
                    self.isAwaitingWelcome = false
                    self.isInputQueued = self.isTransportClosed
                }
                guard !self.isClosing else { break }
                self.isClosing = true
                self.splitter = FrameSplitter(frameBytesMax: 0)
                actions.append(.close(slot, self.output.finish()))
            }
        }
    }

    private mutating func send(
        _ message: Message, _ slot: Int, _ codecs: LoopCodecs, into actions: inout [LoopCore.Action]
    ) {
        if case .goodbye(let goodbye) = message {
            self.goodbyeCode = goodbye.code
            actions.append(.note(slot, .closing(goodbye)))
        }
        if case .welcome(let welcome) = message {
            self.splitter.frameBytesMax = self.session.receiveFrameBytesMax
            self.isAwaitingWelcome = false
            self.isAdmitted = true
            if self.splitter.isEmpty { self.isInputQueued = false }
            actions.append(.note(slot, .admitted(isResumed: welcome.isResumed)))
        }
        if codecs.isObserved { self.see(message) }
        let envelope = Envelope(message)
        let frame = codecs.encoder.encode(envelope)
        let frameBytesMax = Int(self.session.sendFrameBytesMax)
        guard frame.bytes.count > frameBytesMax else { return self.write(frame) }
        // Why not the caching encoder: the parts of a Welcome are not like others.
        for part in envelope.divided(frameBytesMax: frameBytesMax, encode: Codec.encode) {
            self.write(Codec.encode(part))
        }
    }

    /// Lets observers see a message of the connection itself.
    private mutating func see(_ message: Message) {
        switch message {
        case .ping, .pong: break
        default: self.events.append(.seen(self.id, .sent(message)))
        }
    }

    // MARK: Output

    /// Appends a frame. If there is no room for it, ``LoopCore`` closes the connection.
    mutating func write(_ frame: Frame) {
        guard !self.isClosing, let overflow = self.output.write(frame, key: nil) else { return }
        self.overflow = overflow
    }

    /// Appends a frame of the gateway, if the peer session is active.
    ///
    /// - Returns: Whether the connection must be put on the list of those to flush.
    mutating func send(
        _ frame: Frame, _ slot: Int, _ send: Send, into actions: inout [LoopCore.Action]
    ) -> Bool {
        guard self.output.isOpen else { return false }
        self.write(frame)
        return self.flushIfFull(slot, send, into: &actions)
    }

    /// The same for a frame that waits as `relay` says. Tells the gateway if it is not sent at all.
    mutating func send(
        _ frame: Frame, as relay: Relay, _ slot: Int, _ send: Send, into actions: inout [LoopCore.Action]
    ) -> Bool {
        guard self.output.isOpen, !self.isClosing else { return false }
        switch self.output.write(frame, as: relay) {
        case .appended: break
        case .overflow(let overflow): self.overflow = overflow
        case .rejected(let limit):
            if case .event(_, let sender) = relay, let type = frame.header.type {
                let event = Gateway.Event.eventRejected(sender, type, frame.header.session, limit)
                actions.append(
                    .submit([event], from: sender, cost: GatewayCore.unreadCost, isReadOver: false))
            }
            return false
        }
        return self.flushIfFull(slot, send, into: &actions)
    }

    private mutating func flushIfFull(
        _ slot: Int, _ send: Send, into actions: inout [LoopCore.Action]
    ) -> Bool {
        let isNew = self.touch()
        if self.output.isPortionFull {
            self.flush(slot, send, into: &actions)
            self.isTouched = true
        }
        return isNew
    }

    /// Notes that the connection is on the list of those to flush.
    ///
    /// - Returns: Whether it was not.
    mutating func touch() -> Bool {
        defer { self.isTouched = true }
        return !self.isTouched
    }

    /// Sends what was written since the last flush, as far as the socket accepts it.
    mutating func flush(_ slot: Int, _ send: Send, into actions: inout [LoopCore.Action]) {
        self.isTouched = false
        guard !self.isClosing, let portion = self.output.flush(send) else { return }
        actions.append(.write(slot, portion))
    }

    mutating func close(
        dueTo overflow: Output.Overflow, at now: Instant, _ slot: Int, _ codecs: LoopCodecs,
        into actions: inout [LoopCore.Action]
    ) {
        let reason: String
        switch overflow {
        case .input(let bytesMax), .userInput(let bytesMax):
            let goodbye = Goodbye(
                .resourceLimit,
                reason: "input that waits takes more than \(bytesMax) bytes, this is the oldest",
                limit: overflow.limit)
            return self.handle(.closeRequested(goodbye), at: now, slot, codecs, into: &actions)
        case .outbox(let bytesMax): reason = "more than \(bytesMax) bytes wait to be read"
        case .user(let bytesMax):
            reason = "more than \(bytesMax) bytes wait for endpoints of this user or address"
        case .loop(let bytesMax):
            reason = "more than \(bytesMax) bytes wait for all endpoints that do not keep up"
        }
        self.closeAsTooSlow(reason, overflow.limit, at: now, slot, codecs, into: &actions)
    }

    /// Drops the outbox, so that the Goodbye directly follows the bytes that have left it.
    mutating func closeAsTooSlow(
        _ reason: String, _ limit: ReachedLimit? = nil, at now: Instant, _ slot: Int, _ codecs: LoopCodecs,
        into actions: inout [LoopCore.Action]
    ) {
        self.output.clear()
        self.handle(
            .closeRequested(Goodbye(.slowConsumer, reason: reason, limit: limit)), at: now, slot, codecs,
            into: &actions)
    }

    // MARK: Time

    /// When ``LoopCore`` must check the connection next; nil while it is suspended or closing.
    mutating func due(at now: Instant, _ slowConsumerTimeout: Duration) -> Instant? {
        guard !self.isSuspended, !self.isClosing else {
            self.stallCheck = nil
            return nil
        }
        guard self.output.isWaiting || self.output.isBlocked else {
            self.stallCheck = nil
            return self.deadline
        }
        if self.stallCheck == nil {
            self.progressed = now
            self.stallCheck = now + slowConsumerTimeout
        }
        guard let check = self.stallCheck, let deadline = self.deadline else { return self.stallCheck }
        return min(check, deadline)
    }
}
