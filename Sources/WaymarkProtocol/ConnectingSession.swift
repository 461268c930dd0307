/// The end of a connection that connected: a vehicle endpoint's, a navigation client's or an observer's.
///
///     awaitingWelcome ──welcome──▶ active ──goodbye, leave──▶ closed
///
/// Every state also reaches `closed` by `.transportClosed`, a missed deadline or a violation.
package struct ConnectingSession: Sendable, Hashable {
    package enum State: Sendable, Hashable, CaseIterable { case awaitingWelcome, active, closed }

    package enum Event: Sendable, Hashable {
        /// A message was decoded.
        case received(Envelope)
        /// A body could not be decoded: the gateway is newer or broken; the frame is skipped.
        case rejected(Rejection)
        /// The bytes are not frames.
        case violated(CloseCode, reason: String)
        /// Our side is done.
        case leaveRequested(Goodbye)
        case deadlineReached
        case transportClosed
    }

    package enum Action: Sendable, Hashable {
        case send(Message)
        case welcomed(Welcome)
        case deliver(Envelope)
        case arm(deadline: Instant)
        /// Close the transport once everything sent is written. With the gateway's Goodbye, or our reason; nil when the
        /// transport just ended.
        case close(Goodbye?)
    }

    package private(set) var state: State = .awaitingWelcome
    /// The largest frame that the gateway takes; before the Welcome our own limit.
    package private(set) var sendFrameBytesMax: UInt32
    /// The largest frame that the gateway may send: what our Hello says, or less.
    package private(set) var receiveFrameBytesMax: UInt32
    private var keepalive: Keepalive?
    private var pingNonce: UInt64 = 0

    /// Creates the session of a transport that has just connected; sends the Hello.
    package init(hello: Hello, limits: ConnectionLimits, at now: Instant, into actions: inout [Action]) {
        self.sendFrameBytesMax = hello.sendFrameBytesMax ?? limits.frameBytesMax
        self.receiveFrameBytesMax =
            hello.receiveFrameBytesMax > 0
            ? hello.receiveFrameBytesMax : ProtocolConstants.frameBytes.upperBound
        actions.append(.send(.hello(hello)))
        actions.append(.arm(deadline: now + limits.handshakeTimeout))
    }

    /// Records that the driver sent a frame without this machine.
    package mutating func noteSent() { self.keepalive?.noteSent() }

    /// Records that bytes have arrived, maybe only a part of a frame: each of them is a sign of life.
    package mutating func noteBytes() { self.keepalive?.noteReceived() }

    /// Advances the session by one event and appends what the driver must now do.
    ///
    /// - Complexity: O(1); appends at most two actions.
    package mutating func handle(_ event: Event, at now: Instant, into actions: inout [Action]) {
        guard self.state != .closed else { return }  // Bytes and timers that were already on their way.
        switch event {
        case .received(let envelope):
            self.keepalive?.noteReceived()
            self.receive(envelope, at: now, into: &actions)
        case .rejected: self.keepalive?.noteReceived()
        case .violated(let code, let reason): self.leave(Goodbye(code, reason: reason), into: &actions)
        case .leaveRequested(let goodbye): self.leave(goodbye, into: &actions)
        case .deadlineReached: self.missDeadline(at: now, into: &actions)
        case .transportClosed: self.end(nil, into: &actions)
        }
    }

    private mutating func receive(_ envelope: Envelope, at now: Instant, into actions: inout [Action]) {
        switch (self.state, envelope.message) {
        case (_, .goodbye(let goodbye)): self.end(goodbye, into: &actions)
        case (.awaitingWelcome, .welcome(let welcome)): self.activate(welcome, at: now, into: &actions)
        case (.awaitingWelcome, _):
            self.leave(Goodbye(.unexpectedMessage, reason: "expected Welcome or Goodbye"), into: &actions)
        case (.active, .ping(let nonce, let sent)):
            self.keepalive?.noteSent()
            actions.append(.send(.pong(nonce: nonce, sent == nil ? nil : PongTimes(at: now))))
        case (.active, .pong): break
        case (.active, .hello), (.active, .welcome):
            self.leave(Goodbye(.unexpectedMessage, reason: "a second handshake"), into: &actions)
        case (.active, _): actions.append(.deliver(envelope))
        case (.closed, _): break
        }
    }

    private mutating func activate(_ welcome: Welcome, at now: Instant, into actions: inout [Action]) {
        let interval = welcome.keepaliveMilliseconds.clamped(to: ProtocolConstants.keepaliveMilliseconds)
        let keepalive = Keepalive(interval: .milliseconds(interval), at: now)
        self.keepalive = keepalive
        self.sendFrameBytesMax = welcome.receiveFrameBytesMax.clamped(to: ProtocolConstants.frameBytes)
        if welcome.sendFrameBytesMax > 0 {
            self.receiveFrameBytesMax = min(
                self.receiveFrameBytesMax, welcome.sendFrameBytesMax.clamped(to: ProtocolConstants.frameBytes)
            )
        }
        self.state = .active
        actions.append(.welcomed(welcome))
        actions.append(.arm(deadline: keepalive.nextTick))
    }

    /// Gives up a silent gateway without a Goodbye: one that arrived after all would end the state that the next Hello resumes.
    private mutating func missDeadline(at now: Instant, into actions: inout [Action]) {
        guard self.state == .active, var keepalive = self.keepalive else {
            return self.end(Goodbye(.handshakeTimeout, reason: "no Welcome in time"), into: &actions)
        }
        let verdict = keepalive.tick(at: now)
        self.keepalive = keepalive
        switch verdict {
        case .alive: break
        case .ping:
            self.pingNonce += 1
            actions.append(.send(.ping(nonce: self.pingNonce)))
        case .dead:
            return self.end(
                Goodbye(.keepaliveTimeout, reason: "nothing heard for three intervals"), into: &actions)
        }
        actions.append(.arm(deadline: keepalive.nextTick))
    }

    private mutating func leave(_ goodbye: Goodbye, into actions: inout [Action]) {
        actions.append(.send(.goodbye(goodbye)))
        self.end(goodbye, into: &actions)
    }

    /// The one way into `closed`.
    private mutating func end(_ goodbye: Goodbye?, into actions: inout [Action]) {
        self.state = .closed
        actions.append(.close(goodbye))
    }
}

extension Comparable {
    fileprivate func clamped(to range: ClosedRange<Self>) -> Self {
        min(max(self, range.lowerBound), range.upperBound)
    }
}
