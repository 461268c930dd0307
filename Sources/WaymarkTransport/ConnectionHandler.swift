internal import NIOCore
internal import WaymarkAccess
internal import WaymarkConnections
internal import WaymarkGateway
internal import WaymarkProtocol

/// Connects one channel with ``LoopCore``, which decides everything: what the channel reads goes in, and comes back as actions.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let slot: LoopCore.Slot
    private(set) var context: ChannelHandlerContext?
    private let shard: LoopShard
    private let driver: GatewayDriver
    /// The channel's socket; nil if bytes must pass other handlers of the channel.
    private var socket: BareSocket?
    /// The policy that the connection was accepted or last reviewed under; nil if that was in another process.
    private var policy: ListenerPolicy?
    // Why the flags are here: they fill what is free behind the policy.
    /// The connection comes from another process, and is reviewed when it is resumed.
    let isAdopted: Bool
    /// The gateway's end closes the connection before its peer was admitted, and the peer is to blame.
    private var isFailing = false
    /// Its Hello brought a resumption token.
    private var hasToken = false
    private var isCharged = false
    private let currentPolicy: CurrentPolicy
    /// The key that the Hello presented.
    private var key: ListenerKey?
    var peer: PeerDescription
    /// The socket belongs to the next process: transport events are ignored.
    private(set) var isDetached = false
    /// Succeeds once the socket has everything that was sent before the connection was suspended.
    private var drained: EventLoopPromise<Void>?

    /// Handles a connection that was just accepted.
    init(
        slot: LoopCore.Slot, id: ConnectionID, origin: ConnectionOrigin, source: PeerSource,
        socket: BareSocket?,
        driver: GatewayDriver, shard: LoopShard
    ) {
        self.slot = slot
        self.socket = socket
        self.policy = origin.policy
        self.currentPolicy = origin.currentPolicy
        self.isAdopted = false
        self.driver = driver
        self.shard = shard
        self.peer = PeerDescription(source: source, listener: origin.address, connection: id)
        self.note(.came)
    }

    /// Handles a connection of another process, which is suspended until ``LoopShard/resume()``.
    init(
        slot: LoopCore.Slot, _ state: HandoverConnection, currentPolicy: CurrentPolicy, socket: BareSocket?,
        driver: GatewayDriver, shard: LoopShard
    ) {
        self.slot = slot
        self.socket = socket
        self.currentPolicy = currentPolicy
        self.key = state.key
        self.isAdopted = true
        self.driver = driver
        self.shard = shard
        self.peer = PeerDescription(
            source: state.source, listener: state.entrance, connection: state.connection.id)
        self.peer.role = state.role
        self.peer.isAdmitted = state.connection.session.state == .active
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        self.shard.remove(self, for: self.driver)
    }

    func channelActive(context: ChannelHandlerContext) {
        self.open(self.socket)
        context.fireChannelActive()
        // Input of another process's connection waits until it is resumed.
        if !self.isAdopted { self.receiveFirst() }
    }

    /// Usually the Hello has arrived by the time that the connection is accepted.
    private func receiveFirst() {
        guard let socket = self.socket else { return }
        var buffer = self.shard.readBuffer.lend()
        defer { self.shard.readBuffer.takeBack(buffer) }
        socket.receive(into: &buffer)
        guard buffer.readableBytes > 0 else { return }
        defer { buffer.wipe() }
        self.shard.change(for: self.driver) { core, now, actions in
            core.receive(self.slot, buffer.readableBytesSpan, at: now, BareSocket.send, into: &actions)
        }
    }

    /// A channel without a socket may stand for one, and announce it before anything is written.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let socket = event as? BareSocket { self.open(socket) }
        context.fireUserInboundEventTriggered(event)
    }

    private func open(_ socket: BareSocket?) {
        self.shard.change(for: self.driver) { core, now, actions in
            core.open(self.slot, socket?.id, at: now, into: &actions)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.socket = nil
        guard !self.isDetached else { return context.fireChannelInactive() }
        self.shard.change(for: self.driver) { core, now, actions in
            core.transportClosed(self.slot, at: now, BareSocket.send, into: &actions)
        }
        self.drained?.fail(ChannelError.alreadyClosed)
        self.drained = nil
        if !self.peer.isAdmitted { _ = self.charge() }
        self.note(self.peer.isAdmitted ? .left : .ended)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A reset or a broken pipe: the peer is gone; channelInactive follows.
        context.close(promise: nil)
    }

    // MARK: Input

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = self.unwrapInboundIn(data)
        // A read before the Welcome may contain the key of a Hello.
        let mayContainKey = !self.peer.isAdmitted
        defer {
            if mayContainKey { buffer.wipe() }
            self.shard.readBuffer.takeBack(buffer)
        }
        self.shard.change(for: self.driver) { core, now, actions in
            core.receive(
                self.slot, buffer.readableBytesSpan, isReadOver: true, at: now, BareSocket.send,
                into: &actions
            )
        }
    }

    /// Goes no further: no handler behind this one reads.
    func channelReadComplete(context: ChannelHandlerContext) {}

    func read(context: ChannelHandlerContext) { if self.shard.mayRead(self.slot) { context.read() } }

    func readOn() { self.context?.read() }

    /// Finds out who says a Hello.
    func admit(_ hello: Hello) {
        self.peer.role = hello.role
        self.hasToken = hello.resumptionToken != nil
        do throws(ListenerPolicy.Refusal) {
            // Without a policy its listener is closed, and it was sent its Goodbye.
            guard let policy = self.policy else { return }
            let identity = try policy.identity(of: hello, user: self.peer.source.user)
            self.key = identity.key
            var hello = hello
            // The gateway does not need it.
            hello.credential = []
            if case .observer(var observer) = hello.role {
                observer.visibility = policy.visibility
                hello.role = .observer(observer)
                self.peer.role = hello.role
            }
            let token = ResumptionToken(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max))
            self.shard.change(for: self.driver) { core, _, actions in
                core.arrive(
                    self.slot, hello, identity.principal, subject: self.subject, token: token,
                    into: &actions)
            }
        } catch {
            self.handle(.closeRequested(error.goodbye))
        }
    }

    /// Who the peer is for the access rules.
    private var subject: AccessSubject {
        var subject = AccessSubject(user: self.peer.source.user, key: self.key?.name)
        if subject.user != nil {
            subject.groups = self.shard.share(self.socket?.groups ?? [])
        }
        return subject
    }

    /// Compares the listener's current policy with the one that the connection was accepted under; a peer that may not stay gets a
    /// Goodbye.
    ///
    /// - Returns: Whether it may stay.
    @discardableResult
    func review() -> Bool {
        guard
            let refusal = self.currentPolicy.refusal(of: self.peer.role, key: self.key)
        else {
            self.policy = self.currentPolicy.policy ?? self.policy
            return true
        }
        self.handle(refusal.code == .shuttingDown ? .drainRequested(refusal) : .closeRequested(refusal))
        return false
    }

    func handle(_ event: AcceptingSession.Event) {
        self.shard.change(for: self.driver) { core, now, actions in
            core.handle(event, on: self.slot, at: now, BareSocket.send, into: &actions)
        }
    }

    func note(_ note: LoopCore.Note) {
        switch note {
        case .admitted(let isResumed):
            self.peer.isAdmitted = true
            if let id = self.peer.connection { self.driver.handshakeFinished(id) }
            // A token that nothing is resumed with: guessing costs as much as a wrong key.
            if self.hasToken, !isResumed { _ = self.charge() }
            self.note(PeerNotice.admitted)
        case .rejected(let rejection): self.note(PeerNotice.rejected(rejection))
        case .closing(let goodbye):
            self.isFailing = !self.peer.isAdmitted && goodbye.code != .shuttingDown
            self.note(PeerNotice.closing(goodbye))
        }
    }

    /// Charges the handshake to the peer's account, once.
    ///
    /// - Returns: Whether there was a token for it, or it was charged before.
    private func charge() -> Bool {
        guard !self.isCharged else { return true }
        self.isCharged = true
        return self.driver.charge(self.peer.source.account)
    }

    private func note(_ notice: PeerNotice) { self.driver.note(notice, of: self.peer) }

    // MARK: Output

    /// Writes a portion that the socket did not accept at once.
    func write(_ portion: ArraySlice<UInt8>) {
        guard let context = self.context else { return }
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenSuccess {
            self.shard.change(for: self.driver) { core, now, actions in
                core.channelWrote(self.slot, at: now, BareSocket.send, into: &actions)
            }
        }
        context.writeAndFlush(NIOAny(ByteBuffer(bytes: portion)), promise: written)
    }

    /// Closes the channel behind the last bytes, or after a bounded time. Late, if the handshake has failed and its account has no
    /// token left: a peer that guesses waits for each answer.
    func close(behind rest: [ArraySlice<UInt8>]) {
        guard let channel = self.context?.channel else { return }
        let limits = self.driver.limits
        let begin = {
            GracefulClose.begin(
                on: channel, behind: rest, within: limits.connection.drainTimeout,
                noteSent: { self.noteSent($0) }, wait: { self.shard.later($0, for: self.driver) })
        }
        guard self.isFailing, !self.charge() else { return begin() }
        let answer = channel.eventLoop.assumeIsolated()
            .scheduleTask(in: .nanoseconds(limits.failureDelay.nanoseconds)) { begin() }
        channel.closeFuture.whenComplete { _ in answer.cancel() }
    }

    /// The socket has accepted some of the last bytes.
    private func noteSent(_ byteCount: Int) {
        // Without a context the slot may be another connection's.
        guard self.context != nil else { return }
        self.shard.change(for: self.driver) { core, _, _ in core.noteSent(self.slot, byteCount) }
    }

    /// Closes a connection whose handshake is not finished, at once: another one needs its place.
    func closeUnfinished(_ goodbye: Goodbye) {
        guard !self.peer.isAdmitted, !self.shard.machine.core.isSuspended(self.slot) else { return }
        self.handle(.closeRequested(goodbye))
        self.cut()
    }

    /// Closes the channel at once.
    func cut() { self.context?.close(promise: nil) }

    // MARK: Handing over

    /// Suspends the connection. One that another process cannot continue gets `goodbye` instead.
    func suspend(_ goodbye: Goodbye) {
        guard let context = self.context, !self.shard.machine.core.isClosing(self.slot) else { return }
        guard self.socket != nil else { return self.handle(.closeRequested(goodbye)) }
        self.drained = context.eventLoop.makePromise(of: Void.self)
        self.shard.change(for: self.driver) { core, now, actions in
            core.suspend(self.slot, at: now, BareSocket.send, into: &actions)
        }
    }

    func noteDrained() { self.drained?.succeed() }

    /// Succeeds when the socket has everything that was sent, fails when the connection closes first. For a connection that closes
    /// anyway: when it has closed, since its peer is to get the Goodbye. nil if it is closed.
    func whenDrained() -> EventLoopFuture<Void>? {
        guard let channel = self.context?.channel else { return nil }
        guard let drained, self.shard.machine.core.isSuspended(self.slot),
            !self.shard.machine.core.isClosing(self.slot)
        else {
            return channel.closeFuture
        }
        return drained.futureResult
    }

    /// From now on transport events are the next process's business. Closes a connection with something half-written.
    ///
    /// - Returns: Whether it was closed.
    func release() -> Bool {
        guard self.shard.machine.core.isSuspended(self.slot), !self.shard.machine.core.isClosing(self.slot)
        else {
            return false
        }
        self.isDetached = self.shard.machine.core.isDetachable(self.slot)
        if !self.isDetached { self.cut() }
        return !self.isDetached
    }

    /// Takes the socket out of this process. The gateway must have nothing more for it.
    func detach() -> (state: HandoverConnection, descriptor: CInt)? {
        guard self.isDetached, let channel = self.context?.channel,
            let descriptor = self.socket?.copyDescriptor()
        else { return nil }
        // Closes this process's descriptor; the connection itself stays while the copy does.
        defer { channel.close(promise: nil) }
        guard let cookie = SocketCookie(descriptor), let connection = self.shard.detach(self.slot) else {
            return nil
        }
        let state = HandoverConnection(
            connection: connection, cookie: cookie, entrance: self.peer.listener, source: self.peer.source,
            role: self.peer.role, key: self.key)
        return (state, descriptor)
    }

    /// Continues a suspended connection, if the current policy allows it.
    ///
    /// - Returns: Whether it continues.
    func resume() -> Bool {
        guard self.context != nil, self.shard.machine.core.isSuspended(self.slot) else { return false }
        let mayStay = self.review()
        var continues = false
        self.shard.change(for: self.driver) { core, now, actions in
            continues = core.resume(self.slot, at: now, BareSocket.send, into: &actions)
        }
        return mayStay && continues
    }
}
