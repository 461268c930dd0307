internal import NIOCore
internal import WaymarkCodec
internal import WaymarkGateway
internal import WaymarkProtocol

/// Drives one accepted connection on its event loop: bytes in, the peer session's actions out.
final class ConnectionHandler: ChannelDuplexHandler, HasDeadline {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Batches that may be under way to the gateway before the connection is read no further.
    static let batchesMax = 4

    // What a Ping and its Pong touch comes first: of an idle connection every piece of memory is fetched from far away.
    private(set) var context: ChannelHandlerContext?
    let outgoing: Outgoing
    private let shard: LoopShard
    private let driver: GatewayDriver
    /// When the session must be told.
    private(set) var deadline: Instant?
    private(set) var isClosing = false
    /// Nothing is read or written: the connection comes from another process, or goes to one.
    var isHeld = false
    private var isReadHeld = false
    /// The kernel has everything that was written.
    var isWritten = false
    /// What happens to the transport is another process's business.
    var isLetGo = false
    /// See ``LoopShard/touch(_:)``.
    var isTouched = false
    var touchedNext: ConnectionHandler?
    var deadlinePlace: DeadlinePlace?
    /// When to look whether the peer took something; nil while nobody watches.
    private var stallCheck: Instant?
    private(set) var session: AcceptingSession
    private(set) var splitter: FrameSplitter
    private var actions: [AcceptingSession.Action] = []
    private var events: [Gateway.Event] = []
    var batches = 0
    let id: ConnectionID
    /// When the peer last took something, while something waits for it.
    private var progressed = Instant(nanoseconds: 0)
    /// If it was known from the beginning.
    private var socket: BareSocket?
    /// As of when the rules were looked at last; nil if that was in another process.
    private var policy: ListenerPolicy?
    private let rules: ListenerRules
    private(set) var peer: PeerDescription

    init(
        id: ConnectionID, entrance: Entrance, source: PeerSource, socket: BareSocket?, driver: GatewayDriver,
        shard: LoopShard
    ) {
        self.id = id
        self.socket = socket
        self.policy = entrance.policy
        self.rules = entrance.rules
        self.driver = driver
        self.shard = shard
        self.outgoing = Outgoing(limits: driver.limits.outbox, waiting: shard.waiting)
        self.peer = PeerDescription(source: source, entrance: entrance.address, connection: id)
        self.session = AcceptingSession(
            limits: driver.limits.connection, allowedRoles: entrance.policy.roles, at: driver.clock(),
            into: &self.actions)
        self.splitter = FrameSplitter(frameBytesMax: self.session.frameBytesMax)
    }

    /// Goes on with a connection of another process once it is told to, see ``goOn()``.
    init(_ state: ConnectionState, rules: ListenerRules, driver: GatewayDriver, shard: LoopShard) {
        self.id = state.id
        self.rules = rules
        self.driver = driver
        self.shard = shard
        self.outgoing = Outgoing(
            limits: driver.limits.outbox, waiting: shard.waiting, holding: state.waiting)
        self.peer = PeerDescription(source: state.source, entrance: state.entrance, connection: state.id)
        self.peer.role = state.role
        self.session = state.session
        self.peer.isAdmitted = state.session.state == .active
        self.outgoing.isOpen = state.session.state == .active
        self.deadline = state.deadline
        self.splitter = FrameSplitter(frameBytesMax: state.session.frameBytesMax)
        self.splitter.append(state.input)
        self.isHeld = true
        self.batches = Self.batchesMax
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if !self.isHeld { self.note(.came) }
        self.perform()
        self.flush()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        self.cancelTimers()
        self.shard.remove(self.id)
        self.driver.left(self.id)
    }

    func channelActive(context: ChannelHandlerContext) {
        self.outgoing.socketOpened(self.socket ?? context.channel.bareSocket)
        context.fireChannelActive()
        self.takeFirstInput()
    }

    /// Mostly the Hello has come by the time that the connection is accepted.
    private func takeFirstInput() {
        guard let socket = self.socket, !self.isHeld, !self.isClosing else { return }
        var buffer = self.shard.readBuffer.lend()
        defer { self.shard.readBuffer.takeBack(buffer) }
        socket.receive(into: &buffer)
        guard buffer.readableBytes > 0 else { return }
        self.takeInput(buffer.readableBytesSpan)
    }

    /// A channel without a socket may stand for one, and say so before anything is written.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let socket = event as? BareSocket { self.outgoing.socketOpened(socket) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.outgoing.socketClosed()
        self.socket = nil
        guard !self.isLetGo else { return context.fireChannelInactive() }
        if self.isHeld { self.takeInput() }  // What came before the end is worked off.
        self.stopWaiting()
        self.handle(.transportClosed)
        self.note(self.peer.isAdmitted ? .left : .ended)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A reset or a broken pipe: the peer has gone; channelInactive follows.
        context.close(promise: nil)
    }

    // MARK: In

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = self.unwrapInboundIn(data)
        defer { self.shard.readBuffer.takeBack(buffer) }
        guard !self.isClosing else { return }  // What comes after the end is thrown away.
        let read = buffer.readableBytesSpan
        guard !self.takePong(read) else { return }
        if self.isHeld { self.splitter.append(read) } else { self.takeInput(read, isReadOver: true) }
    }

    /// Goes no further: nobody behind wants to hear of it.
    func channelReadComplete(context: ChannelHandlerContext) {}

    /// Takes what was read if it is a Pong and nothing else: idle connections say nothing else.
    private func takePong(_ read: RawSpan) -> Bool {
        Codec.isPong(read) && !self.isHeld && self.splitter.isEmpty && self.session.notePong()
    }

    /// Takes what was read, and works off the frames that are there then. For `isReadOver` see ``GatewayDriver``.
    func takeInput(_ read: RawSpan = RawSpan(), isReadOver: Bool = false) {
        // Why not in its place: each look at it would be checked then. Nothing that is read changes it but the end.
        var input = self.splitter
        self.splitter = FrameSplitter(frameBytesMax: input.frameBytesMax)
        if read.byteCount > 0 { input.append(read) }
        do throws(FramingError) {
            while !self.isClosing {
                if input.isPublishedNext { self.takePublications(of: &input) }
                guard let frame = try input.next() else { break }
                self.take(frame)
            }
        } catch {
            self.handle(.violated(error))
        }
        if !self.isClosing { self.splitter = input }
        // Before the gateway comes to it: an audience would send past what is put together.
        self.flush()
        self.submit(isReadOver: isReadOver)
    }

    func read(context: ChannelHandlerContext) {
        if self.batches < Self.batchesMax || self.isClosing { context.read() } else { self.isReadHeld = true }
    }

    /// Takes the published frames that are next as one event, up to one that is refused or that this peer may not send.
    private func takePublications(of input: inout FrameSplitter) {
        var frames = PublishedFrames(readInto: input.read)
        let decoder = self.shard.decoder
        input.takePublished { header, start, frame in
            // Only an active navigation client publishes, so that is asked before a body is looked at.
            guard !frames.isEmpty || self.session.notePublication() else { return false }
            do throws(DecodingError) {
                frames.append(read: header, at: start, try decoder.outline(of: header, frame))
                return true
            } catch { return false }  // It is read again, to say what is wrong with it.
        }
        if !frames.isEmpty { self.events.append(.published(self.id, frames)) }
    }

    /// Takes any other frame. One that was published is taken only to say what is wrong with it.
    private func take(_ frame: Frame) {
        switch self.shard.decoder.read(frame, on: &self.session) {
        case .forConnection(let message): self.handle(.received(message))
        case .forGateway(let message, let session):
            self.events.append(.received(self.id, message, session))
        case .request(let request, let session): self.events.append(.requested(self.id, request, session))
        case .publication(let outline):
            self.events.append(.published(self.id, PublishedFrames(frame, outline)))
        case .rejected(let rejection):
            self.reject(rejection)
            if MessageType.published.contains(frame.header.rawType), !self.isClosing {
                self.events.append(.publicationRejected(self.id, frame.header))
            }
        case .skipped: break
        case .closing(let goodbye): self.handle(.closeRequested(goodbye))
        }
    }

    private func reject(_ rejection: Rejection) {
        self.note(.rejected(rejection))
        self.handle(.rejected(rejection))
    }

    private func submit(isReadOver: Bool = false) {
        guard !self.events.isEmpty else { return }
        let events = self.events
        self.events = []
        self.batches += 1
        self.driver.submit(events, from: self.id, isReadOver: isReadOver)
    }

    /// The gateway has worked off a batch of this connection.
    func batchDone() {
        self.batches -= 1
        if self.batches < Self.batchesMax { self.readOn() }
    }

    func readOn() {
        guard self.isReadHeld else { return }
        self.isReadHeld = false
        self.context?.read()
    }

    // MARK: The peer session

    func handle(_ event: AcceptingSession.Event) {
        self.advance(event)
        self.flush()
    }

    /// The same, but what is written waits for the next flush.
    func advance(_ event: AcceptingSession.Event) {
        self.noteSpoken()
        self.session.handle(event, at: self.driver.clock(), into: &self.actions)
        self.outgoing.isOpen = self.session.state == .active
        self.perform()
    }

    private func perform() {
        guard !self.actions.isEmpty else { return }
        let actions = self.actions
        self.actions = []
        for action in actions {
            switch action {
            case .send(let message): self.send(message)
            case .admit(let hello): self.admit(hello)
            case .gone(let clean):
                self.events.append(.departed(self.id, clean: clean))
                self.submit()
            case .arm(let deadline): self.arm(deadline)
            case .close: self.close()
            }
        }
    }

    private func send(_ message: Message) {
        if case .goodbye(let goodbye) = message { self.note(.closing(goodbye)) }
        if case .welcome = message {
            self.splitter.frameBytesMax = self.session.frameBytesMax
            self.peer.isAdmitted = true
            self.note(.admitted)
        }
        self.write(self.shard.encoder.encode(Envelope(message)))
    }

    private func admit(_ hello: Hello) {
        self.peer.role = hello.role
        do throws(ListenerPolicy.Refusal) {
            guard let policy = self.policy else { return }  // Its listener is closed: it has got its Goodbye.
            let principal = try policy.principal(of: hello, user: self.peer.source.user)
            let token = ResumptionToken(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max))
            self.events.append(.arrived(self.id, hello, principal, token: token))
            self.submit()
        } catch {
            self.handle(.closeRequested(error.goodbye))
        }
    }

    /// The rules of the listener may have changed: whoever may not stay gets a Goodbye.
    ///
    /// - Returns: Whether it may stay.
    @discardableResult
    func review() -> Bool {
        guard !self.isHeld else { return true }  // Comes up when it goes on.
        guard
            let objection = self.rules.objection(
                to: self.peer.role, user: self.peer.source.user, since: self.policy)
        else {
            self.policy = self.rules.policy ?? self.policy
            return true
        }
        self.handle(objection.code == .shuttingDown ? .drainRequested(objection) : .closeRequested(objection))
        return false
    }

    private func note(_ notice: PeerNotice) { self.driver.note(notice, of: self.peer) }

    // MARK: Time

    func arm(_ deadline: Instant) {
        self.deadline = deadline
        self.wait()
    }

    /// Waits for what comes first, if anything.
    private func wait() {
        guard !self.isHeld, !self.isClosing else { return }
        if let next = self.stallCheck.map({ min($0, self.deadline ?? $0) }) ?? self.deadline {
            self.shard.deadlines.set(self, at: next)
        } else {
            self.shard.deadlines.remove(self)
        }
    }

    /// What was waited for has come.
    func meetDeadline(at now: Instant) {
        if let check = self.stallCheck, check <= now { self.checkForStall() }
        if let deadline = self.deadline, deadline <= now, !self.isClosing {
            self.deadline = nil
            self.noteSpoken()
            if let tick = self.session.takeTick(at: now) {
                self.deadline = tick.next
                if let nonce = tick.ping { self.ping(nonce) }
            } else {
                self.handle(.deadlineReached)
            }
        }
        self.wait()
    }

    private func ping(_ nonce: UInt64) {
        let frame = self.shard.ping(nonce)
        let sentCount = self.outgoing.send(frame)
        guard sentCount < frame.bytes.count, let context = self.context else { return }
        self.settle(self.outgoing.write(frame, after: sentCount, on: context))
        self.flush()
    }

    /// Something waits: begins to watch whether the peer takes anything.
    private func watchForStall() {
        guard self.stallCheck == nil, !self.outgoing.isEmpty, !self.isClosing, !self.isHeld else { return }
        self.progressed = self.driver.clock()
        self.checkForStall()
        self.wait()
    }

    /// Closes a peer that has taken nothing for too long while something waits.
    private func checkForStall() {
        let end = self.progressed + self.driver.limits.outbox.slowConsumerTimeout
        guard end > self.driver.clock() else { return self.closeAsTooSlow("nothing was read for too long") }
        self.stallCheck = end
    }

    /// Nothing waits any longer: no watch is needed.
    func endWatchIfEmpty() {
        guard self.stallCheck != nil, self.outgoing.isEmpty else { return }
        self.stallCheck = nil
        self.wait()
    }

    private func stopWaiting() {
        self.isClosing = true
        self.cancelTimers()
    }

    /// Waits for nothing. The session's deadline stays known.
    func cancelTimers() {
        self.shard.deadlines.remove(self)
        self.stallCheck = nil
    }

    // MARK: Out

    /// Sends a frame of the gateway's, which is never conflated, or lets it wait while the peer does not take what was sent before.
    /// Behind a Goodbye nothing is sent.
    func deliver(_ frame: Frame) {
        guard self.outgoing.isOpen else { return }
        self.write(frame)
        self.shard.touch(self)
    }

    /// Sends frames that are shared by an audience, after the first `sentCount` bytes of them, which the peer has.
    func deliver(_ span: inout Span, after sentCount: Int) {
        guard let context = self.context, !self.isClosing, self.session.state == .active else { return }
        self.settle(self.outgoing.write(&span, after: sentCount, on: context))
        self.shard.touch(self)
    }

    /// Tells the session what went out past it.
    func noteSpoken() { if self.outgoing.takeSpoken() { self.session.noteSent() } }

    private func write(_ frame: Frame) {
        guard let context = self.context, !self.isClosing else { return }
        self.settle(self.outgoing.write(frame, key: nil, on: context))
    }

    func settle(_ overflow: Outgoing.Overflow?) {
        switch overflow {
        case nil: self.watchForStall()
        case .outbox(let bytesMax): self.closeAsTooSlow("more than \(bytesMax) bytes wait to be read")
        case .inAll(let bytesMax):
            self.closeAsTooSlow("more than \(bytesMax) bytes wait for all endpoints that do not keep up")
        }
    }

    func purge(_ session: SessionID, only type: MessageType? = nil) {
        self.outgoing.purge(session, only: type)
        self.endWatchIfEmpty()
    }

    func flush() { if let context = self.context { self.outgoing.flush(on: context) } }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.progressed = self.driver.clock()
        self.outgoing.writabilityChanged(on: context)
        self.endWatchIfEmpty()
        context.fireChannelWritabilityChanged()
    }

    /// What waits is dropped, so that the Goodbye goes out right behind what the channel holds.
    private func closeAsTooSlow(_ reason: String) {
        self.outgoing.clear()
        self.handle(.closeRequested(Goodbye(.slowConsumer, reason: reason)))
    }

    /// Closes once what was written has gone out, or after a bounded time.
    private func close() {
        guard let context = self.context, !self.isClosing else { return }
        self.stopWaiting()
        self.splitter = FrameSplitter(frameBytesMax: 0)
        self.outgoing.finish(on: context)
        Farewell.begin(on: context.channel, within: self.driver.limits.connection.drainTimeout)
        self.readOn()
    }

    /// Closes at once: nobody waits for this peer any longer.
    func cut() { self.context?.close(promise: nil) }
}
