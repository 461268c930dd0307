internal import NIOCore
internal import WaymarkCodec
internal import WaymarkGateway
internal import WaymarkProtocol

/// Drives one accepted connection on its event loop: bytes in, the peer session's actions out.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Batches that may be under way to the gateway before the connection is read no further.
    private static let batchesMax = 4

    let id: ConnectionID
    private let policy: ListenerPolicy
    private let user: UInt32?
    private let services: ConnectionServices
    private var session: AcceptingSession
    private var splitter: FrameSplitter
    private var outbox: Outbox
    private var actions: [AcceptingSession.Action] = []
    private var events: [Gateway.Event] = []
    private var batches = 0
    private var isReadHeld = false
    private var needsFlush = false
    private var isClosing = false
    private var timer: Scheduled<Void>?
    private var slowTimer: Scheduled<Void>?
    private var progress = 0
    private var context: ChannelHandlerContext?

    init(id: ConnectionID, policy: ListenerPolicy, user: UInt32?, services: ConnectionServices) {
        self.id = id
        self.policy = policy
        self.user = user
        self.services = services
        self.splitter = FrameSplitter(frameBytesMax: services.connectionLimits.frameBytesMax)
        self.outbox = Outbox(limits: services.outboxLimits)
        self.session = AcceptingSession(
            limits: services.connectionLimits, allowedRoles: policy.roles, at: services.clock(),
            into: &self.actions)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.perform()
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelInactive(context: ChannelHandlerContext) {
        self.isClosing = true
        self.timer?.cancel()
        self.slowTimer?.cancel()
        self.handle(.transportClosed)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A reset or a broken pipe: the peer has gone; channelInactive follows.
        context.close(promise: nil)
    }

    // MARK: In

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = self.unwrapInboundIn(data)
        guard !self.isClosing else { return }
        self.splitter.append(Array(buffer.readableBytesView))
        do throws(FramingError) {
            while !self.isClosing, let frame = try self.splitter.next() { self.take(frame) }
        } catch {
            self.handle(.violated(error.closeCode, reason: "\(error)"))
        }
        self.submit()
        self.flush()
    }

    func read(context: ChannelHandlerContext) {
        if self.batches < Self.batchesMax { context.read() } else { self.isReadHeld = true }
    }

    private func take(_ frame: Frame) {
        let isPublished = MessageType.published.contains(frame.header.rawType)
        do throws(DecodingError) {
            if isPublished {
                let outline = try Codec.outline(of: frame)
                self.handle(.receivedPublication)
                if !self.isClosing { self.events.append(.published(self.id, frame, outline)) }
            } else {
                let envelope = try Codec.decode(frame)
                self.handle(.received(envelope.message, envelope.session))
            }
        } catch {
            switch error {
            case .rejected(let rejection):
                self.handle(.rejected(rejection))
                if isPublished { self.events.append(.publicationRejected(self.id, frame.header)) }
            case .unknownType(isSkippable: true):
                if isPublished { self.events.append(.published(self.id, frame, .unrecognized)) }
            case .unknownType(isSkippable: false):
                self.handle(
                    .violated(.unknownMessageType, reason: "type \(frame.header.rawType) is not known"))
            }
        }
    }

    private func submit() {
        guard !self.events.isEmpty else { return }
        let events = self.events
        self.events.removeAll(keepingCapacity: true)
        self.batches += 1
        self.services.submit(events, from: self.id)
    }

    /// The gateway has worked off a batch of this connection.
    func batchDone() {
        self.batches -= 1
        guard self.isReadHeld, self.batches < Self.batchesMax else { return }
        self.isReadHeld = false
        self.context?.read()
    }

    // MARK: The peer session

    func handle(_ event: AcceptingSession.Event) {
        self.session.handle(event, at: self.services.clock(), into: &self.actions)
        self.perform()
    }

    private func perform() {
        let actions = self.actions
        self.actions.removeAll(keepingCapacity: true)
        for action in actions {
            switch action {
            case .send(let message): self.write(Codec.encode(Envelope(message)), key: nil)
            case .admit(let hello): self.admit(hello)
            case .deliver(let message, let session): self.events.append(.received(self.id, message, session))
            case .gone(let clean):
                self.events.append(.departed(self.id, clean: clean))
                self.submit()
            case .arm(let deadline): self.arm(deadline)
            case .close: self.close()
            }
        }
        self.splitter.frameBytesMax = self.session.frameBytesMax
        self.flush()
    }

    private func admit(_ hello: Hello) {
        do throws(ListenerPolicy.Refusal) {
            let principal = try self.policy.principal(of: hello, user: self.user)
            self.events.append(.arrived(self.id, hello, principal, token: self.services.newToken()))
            self.submit()
        } catch {
            self.handle(.closeRequested(error.goodbye))
        }
    }

    private func arm(_ deadline: Instant) {
        self.timer?.cancel()
        self.timer = self.after(deadline - self.services.clock()) { $0.handle(.deadlineReached) }
    }

    private func after(_ delay: Duration, _ body: @escaping (ConnectionHandler) -> Void) -> Scheduled<Void>? {
        self.context?.eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds(max(0, delay.nanoseconds))) {
            body(self)
        }
    }

    // MARK: Out

    /// Sends a frame, or lets it wait while the peer does not take what was sent before.
    func write(_ frame: Frame, key: ConflationKey?) {
        guard let context = self.context, !self.isClosing else { return }
        if self.outbox.isEmpty, context.channel.isWritable {
            context.write(self.wrapOutboundOut(ByteBuffer(bytes: frame.bytes)), promise: nil)
            self.needsFlush = true
        } else {
            self.queue(frame, key: key)
        }
    }

    /// Sends a span of frames that is shared by an audience.
    func write(_ span: Span) {
        self.session.noteSent()
        guard let context = self.context, !self.isClosing else { return }
        if self.outbox.isEmpty, context.channel.isWritable {
            context.write(self.wrapOutboundOut(span.buffer), promise: nil)
            self.needsFlush = true
        } else {
            for (frame, key) in span.frames { self.queue(frame, key: key) }
        }
    }

    func purge(_ session: SessionID) { self.outbox.purge(session) }

    func flush() {
        guard self.needsFlush else { return }
        self.needsFlush = false
        self.context?.flush()
    }

    private func queue(_ frame: Frame, key: ConflationKey?) {
        switch self.outbox.append(frame, key: key) {
        case .queued: self.watchProgress()
        case .overflow: self.fail("more than \(self.outbox.limits.bytesMax) bytes wait to be read")
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.progress += 1
        while context.channel.isWritable, !self.outbox.isEmpty {
            for frame in self.outbox.take(byteCount: 32_768) {
                context.write(self.wrapOutboundOut(ByteBuffer(bytes: frame.bytes)), promise: nil)
            }
            context.flush()
        }
        context.fireChannelWritabilityChanged()
    }

    /// Closes a peer that takes nothing for too long while something waits.
    private func watchProgress() {
        guard self.slowTimer == nil else { return }
        let seen = self.progress
        self.slowTimer = self.after(self.outbox.limits.slowConsumerTimeout) { handler in
            handler.slowTimer = nil
            guard !handler.outbox.isEmpty else { return }
            if handler.progress == seen {
                handler.fail("nothing was read for too long")
            } else {
                handler.watchProgress()
            }
        }
    }

    /// A Goodbye could not reach it: what waits is dropped, the Goodbye is put behind what the channel holds.
    private func fail(_ reason: String) {
        guard !self.isClosing else { return }
        self.outbox = Outbox(limits: self.services.outboxLimits)
        self.session.handle(
            .closeRequested(Goodbye(.slowConsumer, reason: reason)), at: self.services.clock(),
            into: &self.actions)
        for action in self.actions {
            if case .gone(let clean) = action { self.events.append(.departed(self.id, clean: clean)) }
        }
        self.actions.removeAll()
        self.submit()
        let goodbye = Codec.encode(Envelope(.goodbye(Goodbye(.slowConsumer, reason: reason))))
        self.context?.writeAndFlush(self.wrapOutboundOut(ByteBuffer(bytes: goodbye.bytes)), promise: nil)
        self.close()
    }

    /// Closes once what was written has gone out, or after a bounded time.
    private func close() {
        guard let context = self.context, !self.isClosing else { return }
        for frame in self.outbox.take(byteCount: .max) {
            context.write(self.wrapOutboundOut(ByteBuffer(bytes: frame.bytes)), promise: nil)
        }
        self.isClosing = true
        self.timer?.cancel()
        self.slowTimer?.cancel()
        self.needsFlush = false
        let channel = context.channel
        context.writeAndFlush(self.wrapOutboundOut(ByteBuffer())).whenComplete { _ in
            channel.close(mode: .all, promise: nil)
        }
        context.eventLoop.scheduleTask(
            in: .nanoseconds(self.services.connectionLimits.drainTimeout.nanoseconds)
        ) {
            channel.close(mode: .all, promise: nil)
        }
    }
}

extension Duration {
    /// Whole nanoseconds.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = self.components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}

/// Frames for an audience, in one buffer that all its endpoints share.
struct Span: Sendable {
    var buffer: ByteBuffer
    var frames: [(Frame, ConflationKey?)]
}

/// What a connection needs from the rest of the process.
struct ConnectionServices: Sendable {
    var connectionLimits: ConnectionLimits
    var outboxLimits: Outbox.Limits
    var clock: @Sendable () -> Instant
    var newToken: @Sendable () -> ResumptionToken
    /// Hands events to the gateway; ``ConnectionHandler/batchDone()`` follows.
    var submit: @Sendable ([Gateway.Event], ConnectionID) -> Void

    func submit(_ events: [Gateway.Event], from connection: ConnectionID) { self.submit(events, connection) }
}
