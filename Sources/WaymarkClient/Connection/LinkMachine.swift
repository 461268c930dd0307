internal import WaymarkCodec
package import WaymarkProtocol

/// A peer with its connection to the gateway: connects, drives the peer session, reconnects after a loss. A value: no clock, no I/O.
///
///     idle ──open──▶ connecting ──transportOpened──▶ connected ──transportClosed──▶ waiting ──deadline──▶ connecting
///
/// Every state also reaches the end: by ``LinkEvent/close``, or after a failure that another attempt cannot mend.
package struct LinkMachine<Peer: PeerMachine>: Sendable {
    package typealias Action = LinkAction<Peer.Output>

    /// One transport, from its opening to its end.
    private struct Connection: Sendable {
        var session: ConnectingSession
        var splitter: FrameSplitter
        /// A message of which more frames are to come.
        var partial = PartialMessage()
        /// Frames of the peer session that are not written yet.
        var control: [UInt8] = []
        /// When the peer was told of the Welcome.
        var welcomed: Instant?
        var isWriting = false
        var isHalfClosed = false
        /// Of the peer session: the handshake's, then the keepalive's.
        var deadline: Instant?
        /// The gateway closes the transport after a Goodbye; if it has not by then, this end does.
        var drainDeadline: Instant?
        /// The reason for which this end has cut the connection; nil while it has not.
        var fault: String?
    }

    /// The peer's machine; changed by ``use(at:into:_:)``.
    package private(set) var peer: Peer
    /// Before ``LinkEvent/open`` as while connecting.
    package private(set) var state = ConnectionState.connecting
    private let address: ServiceAddress
    private let limits: ConnectionLimits
    private let firstAttemptsMax: Int
    private var random: SeededRandom
    private var backoff: Backoff
    private var isConnecting = false
    private var connection: Connection?
    /// When the next attempt to connect is due.
    private var retry: Instant?
    private var lastGoodbye: Goodbye?
    /// The first bytes of a read before the first Welcome.
    private var firstBytes: [UInt8] = []
    /// What listens there does not speak the protocol.
    private var isForeign = false
    private var wasWelcomed = false
    /// When ``LinkEvent/close`` is given up; nil while the app has not closed.
    private var closingDeadline: Instant?

    /// A peer that is not connected. Errors name the address; `random` makes peers that reconnect wait differently long.
    package init(
        _ peer: Peer, to address: ServiceAddress, _ reconnection: ReconnectionPolicy = .init(),
        limits: ConnectionLimits = .init(), random: SeededRandom
    ) {
        self.peer = peer
        self.address = address
        self.limits = limits
        self.firstAttemptsMax = reconnection.firstAttemptsMax
        self.random = random
        self.backoff = Backoff(reconnection)
    }

    /// There will be no connection any more.
    package var isFinished: Bool { if case .closed = self.state { true } else { false } }

    /// When ``LinkEvent/deadlineReached`` is due; nil while nothing is.
    package var deadline: Instant? {
        guard !self.isFinished else { return nil }
        return self.peer.deadline.earlier(self.retry).earlier(self.closingDeadline)
            .earlier(self.connection?.deadline).earlier(self.connection?.drainDeadline)
    }

    /// Advances by one event and appends what the driver must do now, in order.
    package mutating func handle(_ event: LinkEvent, at now: Instant, into actions: inout [Action]) {
        guard !self.isFinished else {
            if case .transportOpened = event { actions.append(.closeTransport) }
            return  // Bytes and timers that were already on their way.
        }
        switch event {
        case .open:
            self.change(.connecting, at: now, &actions)
            self.connect(&actions)
        case .transportOpened: self.begin(at: now, &actions)
        case .transportClosed(let failure): self.end(failure, at: now, &actions)
        case .received(let bytes):
            self.append(bytes)
            while self.readNext(at: now, into: &actions) {}
        case .wrote: self.connection?.isWriting = false
        case .deadlineReached: self.reachDeadlines(at: now, &actions)
        case .close: self.close(at: now, &actions)
        }
        self.write(at: now, &actions)
    }

    /// The app uses the peer's machine: what that queues is written.
    package mutating func use<Value, Failure>(
        at now: Instant, into actions: inout [Action],
        _ body: (inout Peer, inout [Peer.Output]) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var outputs: [Peer.Output] = []
        defer {
            actions += outputs.map(Action.output)
            self.write(at: now, &actions)
        }
        return try body(&self.peer, &outputs)
    }

    private mutating func tell(_ event: PeerEvent, at now: Instant, _ actions: inout [Action]) {
        var outputs: [Peer.Output] = []
        self.peer.handle(event, at: now, into: &outputs)
        actions += outputs.map(Action.output)
    }

    private mutating func change(_ state: ConnectionState, at now: Instant, _ actions: inout [Action]) {
        self.state = state
        self.tell(.state(state), at: now, &actions)
        actions.append(.state(state))
    }

    // MARK: Connecting and reconnecting

    private mutating func connect(_ actions: inout [Action]) {
        self.lastGoodbye = nil
        self.isForeign = false
        self.isConnecting = true
        actions.append(.log(PeerNote(.debug, "connecting", [PeerLogKey.address: "\(self.address)"])))
        actions.append(.connect)
    }

    private mutating func begin(at now: Instant, _ actions: inout [Action]) {
        guard self.isConnecting else { return }
        self.isConnecting = false
        var sessionActions: [ConnectingSession.Action] = []
        let session = ConnectingSession(
            hello: self.peer.hello(), limits: self.limits, at: now, into: &sessionActions)
        self.connection = Connection(
            session: session, splitter: FrameSplitter(frameBytesMax: session.receiveFrameBytesMax))
        self.perform(sessionActions, at: now, &actions)
    }

    private mutating func end(_ failure: ClientError?, at now: Instant, _ actions: inout [Action]) {
        guard self.isConnecting || self.connection != nil else { return }
        self.handle(.transportClosed, at: now, &actions)
        let lifetime = self.connection?.welcomed.map { now - $0 }
        let fault = self.connection?.fault
        self.connection = nil
        self.isConnecting = false
        self.backoff.connectionEnded(after: lifetime)
        if let error = self.finalError(failure) { return self.finish(error, at: now, &actions) }
        self.change(.connecting, at: now, &actions)
        let hint = Duration.milliseconds(self.lastGoodbye?.reconnectAfterMilliseconds ?? 0)
        let delay = self.backoff.delay(
            after: self.lastGoodbye?.code.reconnection ?? .yes, hint: hint,
            random: .random(in: 0..<1, using: &self.random))
        self.retry = now + delay
        actions.append(.log(self.lossNote(failure, fault, wasConnected: lifetime != nil, delay)))
    }

    private func lossNote(
        _ failure: ClientError?, _ fault: String?, wasConnected: Bool, _ delay: Duration
    ) -> PeerNote {
        let text = wasConnected ? "connection lost, reconnecting" : "no connection, trying again"
        var values = [
            PeerNote.Value(key: PeerLogKey.address, text: "\(self.address)"),
            PeerNote.Value(key: PeerLogKey.delay, text: "\(delay / .milliseconds(1)) ms"),
        ]
        if let failure { values.append(.init(key: PeerLogKey.error, text: "\(failure)")) }
        if let reason = fault ?? self.lastGoodbye.map(Self.reason) {
            values.append(.init(key: PeerLogKey.reason, text: reason))
        }
        return PeerNote(.warning, text, values)
    }

    private static func reason(_ goodbye: Goodbye) -> String {
        goodbye.reason.isEmpty ? "\(goodbye.code)" : goodbye.reason
    }

    /// Why there is no other attempt; nil if there is one.
    private func finalError(_ failure: ClientError?) -> ClientError? {
        if self.closingDeadline != nil { return .closed }
        if !self.wasWelcomed, self.isForeign {
            return .cannotConnect(
                self.address, reason: ConnectFailure.reason(isForeign: true, saying: self.firstBytes))
        }
        if let goodbye = self.lastGoodbye,
            !self.backoff.allows(goodbye.code.reconnection, isFirst: !self.wasWelcomed)
        {
            return self.refusal(goodbye, reason: Self.reason(goodbye))
        }
        guard !self.wasWelcomed, self.backoff.failures >= self.firstAttemptsMax else { return nil }
        switch self.lastGoodbye {
        // This is our own Goodbye: no Welcome came in time.
        case let goodbye? where goodbye.code == .handshakeTimeout:
            return .cannotConnect(
                self.address, reason: "what listens there does not answer; it may not be waymarkd")
        case let goodbye?: return self.refusal(goodbye, reason: goodbye.reason)
        case nil:
            return failure
                ?? .cannotConnect(
                    self.address, reason: ConnectFailure.reason(isForeign: false, saying: []))
        }
    }

    private func refusal(_ goodbye: Goodbye, reason: String) -> ClientError {
        ClientError(goodbye, reason: reason, seldomDelay: self.backoff.seldomDelay)
    }

    private mutating func close(at now: Instant, _ actions: inout [Action]) {
        guard self.connection?.welcomed != nil else { return self.finish(.closed, at: now, &actions) }
        self.closingDeadline = self.closingDeadline ?? now + self.limits.drainTimeout
    }

    private mutating func finish(_ error: ClientError, at now: Instant, _ actions: inout [Action]) {
        if error == .closed {
            actions.append(
                .log(PeerNote(.debug, "connection closed", [PeerLogKey.address: "\(self.address)"])))
        } else if self.wasWelcomed {
            // Before the first Welcome the app that connects gets the error.
            actions.append(
                .log(PeerNote(.error, "connection closed for good", [PeerLogKey.error: "\(error)"])))
        }
        if self.connection != nil { actions.append(.closeTransport) }
        self.connection = nil
        self.change(.closed(error), at: now, &actions)
    }

    private mutating func reachDeadlines(at now: Instant, _ actions: inout [Action]) {
        func isDue(_ deadline: Instant?) -> Bool { deadline.map { $0 <= now } ?? false }
        if isDue(self.closingDeadline) { return self.finish(.closed, at: now, &actions) }
        if isDue(self.retry) {
            self.retry = nil
            self.connect(&actions)
        }
        if isDue(self.connection?.drainDeadline) {
            self.connection?.drainDeadline = nil
            actions.append(.closeTransport)
        }
        if isDue(self.connection?.deadline) { self.handle(.deadlineReached, at: now, &actions) }
        if isDue(self.peer.deadline) {
            var outputs: [Peer.Output] = []
            self.peer.deadlineReached(at: now, into: &outputs)
            actions += outputs.map(Action.output)
        }
    }

    // MARK: Reading and writing

    /// Appends bytes that have arrived, for ``readNext(at:into:)``.
    package mutating func append(_ bytes: [UInt8]) {
        if !self.wasWelcomed { self.firstBytes = Array(bytes.prefix(16)) }
        // Bytes that arrive between the end of the peer session and the end of the transport are not read any more.
        guard self.connection?.session.state != .closed else { return }
        self.connection?.session.noteBytes()
        self.connection?.splitter.append(bytes)
    }

    /// Handles one frame, for a driver whose app wants to see a message before the next one is read.
    ///
    /// - Returns: false if there was no whole frame.
    package mutating func readNext(at now: Instant, into actions: inout [Action]) -> Bool {
        guard let state = self.connection?.session.state, state != .closed else { return false }
        do throws(FramingError) {
            guard let frame = try self.connection?.splitter.next() else { return false }
            self.decode(frame, at: now, &actions)
        } catch {
            if case .badMagic = error { self.isForeign = true }
            self.handle(.violated(error.closeCode, reason: "\(error)"), at: now, &actions)
        }
        self.write(at: now, &actions)
        self.cutIfOwedTooMuch(at: now, &actions)
        return true
    }

    private mutating func decode(_ frame: Frame, at now: Instant, _ actions: inout [Action]) {
        do throws(DecodingError) {
            self.receive(try Codec.decode(frame), byteCount: frame.bytes.count, at: now, &actions)
        } catch {
            switch error {
            case .rejected(let rejection):
                self.handle(.rejected(rejection), at: now, &actions)
                guard MessageType.published.contains(frame.header.rawType) else { return }
                self.tell(.skipped(frame.header), at: now, &actions)
            // From a newer gateway, or an extension.
            case .unknownType: self.tell(.skipped(frame.header), at: now, &actions)
            }
        }
    }

    /// Hands a message to the peer session once all of its frames have arrived.
    private mutating func receive(
        _ envelope: Envelope, byteCount: Int, at now: Instant, _ actions: inout [Action]
    ) {
        let isWelcome = envelope.message.type == .welcome
        // A part of a message that may not come now is not kept.
        guard (self.connection?.session.state == .awaitingWelcome) == isWelcome else {
            return self.handle(.received(envelope), at: now, &actions)
        }
        do throws(PartialMessageError) {
            guard let whole = try self.connection?.partial.add(envelope, byteCount: byteCount) else { return }
            self.handle(.received(whole), at: now, &actions)
        } catch {
            self.handle(
                .violated(.frameTooLarge, reason: "a message in several frames: \(error)"), at: now, &actions)
        }
    }

    /// Writes what is queued, one write after the other. Once the peer session is closed, half-closes: the gateway closes the
    /// transport.
    private mutating func write(at now: Instant, _ actions: inout [Action]) {
        guard self.connection?.isWriting == false, self.connection?.isHalfClosed == false else { return }
        let bytes = self.dequeue(at: now, &actions)
        guard !bytes.isEmpty else {
            guard self.connection?.session.state == .closed else { return }
            self.connection?.isHalfClosed = true
            actions.append(.halfClose)
            return
        }
        self.connection?.session.noteSent()
        self.connection?.isWriting = true
        actions.append(.write(bytes))
    }

    private mutating func dequeue(at now: Instant, _ actions: inout [Action]) -> [UInt8] {
        var bytes = self.dequeueControl()
        guard self.connection?.welcomed != nil, self.connection?.session.state == .active else {
            return bytes
        }
        var outputs: [Peer.Output] = []
        let frames = self.peer.dequeueOutgoing(into: &outputs)
        actions += outputs.map(Action.output)
        bytes.reserveCapacity(frames.reduce(bytes.count) { $0 + $1.bytes.count })
        for frame in frames { bytes += frame.bytes }
        guard bytes.isEmpty, self.closingDeadline != nil else { return bytes }
        self.handle(.leaveRequested(Goodbye(.normal)), at: now, &actions)
        return self.dequeueControl()
    }

    private mutating func dequeueControl() -> [UInt8] {
        defer { self.connection?.control = [] }
        return self.connection?.control ?? []
    }

    // MARK: What the gateway makes this peer hold

    /// Bytes that wait to be written because the gateway asked for them.
    package var owedByteCount: Int { (self.connection?.control.count ?? 0) + self.peer.owedByteCount }

    /// The same, and the memory of bytes that were read and not handled.
    package var heldByteCount: Int {
        self.owedByteCount + (self.connection?.splitter.byteCapacity ?? 0)
            + (self.connection?.partial.byteCount ?? 0)
    }

    /// Cuts the connection if the gateway asks and does not read the answers: without a bound they would fill the memory.
    ///
    /// A Goodbye would wait behind what is not read, and a gateway that reads it forgets this peer.
    private mutating func cutIfOwedTooMuch(at now: Instant, _ actions: inout [Action]) {
        guard self.connection?.session.state == .active else { return }
        let count = self.owedByteCount
        guard count > PeerBounds.owedBytesMax else { return }
        self.connection?.fault = "the gateway reads nothing: \(count) bytes wait that it asked for"
        self.connection?.control = []
        // Nothing more is written.
        self.connection?.isHalfClosed = true
        self.handle(.transportClosed, at: now, &actions)
        actions.append(.closeTransport)
    }

    // MARK: The peer session

    private mutating func handle(
        _ event: ConnectingSession.Event, at now: Instant, _ actions: inout [Action]
    ) {
        var sessionActions: [ConnectingSession.Action] = []
        self.connection?.session.handle(event, at: now, into: &sessionActions)
        self.perform(sessionActions, at: now, &actions)
    }

    private mutating func perform(
        _ sessionActions: [ConnectingSession.Action], at now: Instant, _ actions: inout [Action]
    ) {
        for action in sessionActions {
            switch action {
            case .send(let message): self.connection?.control += Codec.encode(Envelope(message)).bytes
            case .welcomed(let welcome): self.welcome(welcome, at: now, &actions)
            case .deliver(let envelope): self.tell(.received(envelope), at: now, &actions)
            case .arm(let deadline): self.connection?.deadline = deadline
            case .close(let goodbye):
                let drainDeadline = now + self.limits.drainTimeout
                self.lastGoodbye = goodbye
                self.connection?.deadline = nil
                self.connection?.drainDeadline = drainDeadline
            }
        }
    }

    private mutating func welcome(_ welcome: Welcome, at now: Instant, _ actions: inout [Action]) {
        self.wasWelcomed = true
        let frameBytesMax = self.connection?.session.sendFrameBytesMax ?? 0
        let receiveFrameBytesMax = self.connection?.session.receiveFrameBytesMax ?? 0
        self.connection?.splitter.frameBytesMax = receiveFrameBytesMax
        self.tell(.welcomed(welcome, frameBytesMax: Int(frameBytesMax)), at: now, &actions)
        let note = PeerNote(
            .notice, "connected",
            [PeerLogKey.address: "\(self.address)", PeerLogKey.resumed: "\(welcome.isResumed)"])
        actions.append(.log(note))
        self.connection?.welcomed = now
        self.change(.connected(resumed: welcome.isResumed), at: now, &actions)
    }
}
