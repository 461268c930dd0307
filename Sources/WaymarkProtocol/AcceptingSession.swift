/// The gateway's end of one connection.
///
///     awaitingHello ──hello──▶ admitting ──admitted──▶ active ──drain──▶ draining ──goodbye, deadline──▶ closed
///
/// Every state also reaches `closed` by `.transportClosed`, a missed deadline, a Goodbye, a refusal or a violation.
/// Owns no socket, clock or task: the driver passes events in and performs the actions, in order.
package struct AcceptingSession: Sendable, Hashable, Codable {
    package enum State: Sendable, Hashable, CaseIterable, Codable {
        case awaitingHello, admitting, active, draining, closed
    }

    /// What a connection is for; known once a Hello was read.
    package enum Role: Sendable, Hashable, CaseIterable, Codable { case vehicle, navigation }

    package enum Event: Sendable, Hashable {
        /// A control message was decoded.
        case received(Message, SessionID)
        /// A published frame was decoded and checked; its content goes to the gateway on a path of its own.
        case receivedPublication
        /// A frame of an unknown type that asks to be ignored then.
        case receivedUnknown
        /// The codec refused a body.
        indirect case rejected(Rejection)
        /// The bytes are not frames, or a type is unknown and not skippable.
        case violated(CloseCode, reason: String)
        /// The gateway takes the peer.
        indirect case admitted(Welcome)
        /// The gateway, an outbox or the transport wants the connection closed.
        case closeRequested(Goodbye)
        /// The gateway is going down.
        case drainRequested(Goodbye)
        case deadlineReached
        case transportClosed
    }

    package enum Action: Sendable, Hashable {
        case send(Message)
        /// Ask the gateway to take the peer.
        indirect case admit(Hello)
        /// For the gateway.
        case deliver(Message, SessionID)
        /// Tell the gateway that the peer has gone; `clean` after a Goodbye of the peer.
        case gone(clean: Bool)
        case arm(deadline: Instant)
        /// Close the transport once everything sent is written.
        case close
    }

    package private(set) var state: State = .awaitingHello
    package private(set) var role: Role?
    /// The agreed largest frame; before the handshake that of a Hello.
    package private(set) var frameBytesMax: UInt32
    @Rare private var limits: ConnectionLimits
    private let allowedRoles: Set<Role>
    /// What the Hello asked for, until it is answered.
    private var wish: Wish?
    private var keepalive: Keepalive?
    private var errorCount = 0
    private var errorWindowEnd = Instant(nanoseconds: 0)
    private var pingNonce: UInt64 = 0

    // Why not the Hello itself: an idle connection would keep room for one.
    private struct Wish: Sendable, Hashable, Codable {
        let version: UInt32
        let keepaliveMilliseconds: UInt32?
        let frameBytesMax: UInt32?

        init(_ hello: Hello) {
            self.version = min(hello.versions.upperBound, ProtocolConstants.versions.upperBound)
            self.keepaliveMilliseconds = hello.keepaliveMilliseconds
            self.frameBytesMax = hello.frameBytesMax
        }
    }

    /// Creates the session of a transport that has just connected; `allowedRoles` are those its listener takes.
    package init(
        limits: ConnectionLimits, allowedRoles: Set<Role>, at now: Instant, into actions: inout [Action]
    ) {
        self.limits = limits
        self.allowedRoles = allowedRoles
        self.frameBytesMax = min(limits.frameBytesMax, ProtocolConstants.helloFrameBytesMax)
        actions.append(.arm(deadline: now + limits.handshakeTimeout))
    }

    /// Something was written for the peer by the fan-out, past this machine.
    package mutating func noteSent() { self.keepalive?.noteSent() }

    /// Notes a published frame, if this peer may send one now.
    ///
    /// - Returns: Whether it may. If not, ``Event/receivedPublication`` says what follows.
    package mutating func notePublication() -> Bool {
        guard self.role == .navigation, self.state == .active || self.state == .draining else { return false }
        self.keepalive?.noteReceived()
        return true
    }

    /// Notes a control message for the gateway, if this peer may send it now.
    ///
    /// - Returns: Whether it may: then it is to be delivered. If not, ``Event/received(_:_:)`` says what follows.
    package mutating func noteDelivery(of type: MessageType) -> Bool {
        guard self.state == .active, self.mayBeSent(type) else { return false }
        self.keepalive?.noteReceived()
        return true
    }

    /// Notes a Pong, if one may come now: it says no more than that the peer is there.
    ///
    /// - Returns: Whether it may. If not, ``Event/received(_:_:)`` says what follows.
    package mutating func notePong() -> Bool {
        guard self.state == .active else { return false }
        self.keepalive?.noteReceived()
        return true
    }

    /// Passes the deadline of an active session whose peer is alive.
    ///
    /// - Returns: The nonce of a Ping to be sent, if one is, and the next deadline; nil if nothing has changed and
    ///   ``Event/deadlineReached`` says what follows.
    package mutating func takeTick(at now: Instant) -> (ping: UInt64?, next: Instant)? {
        guard self.state == .active, var keepalive = self.keepalive else { return nil }
        let verdict = keepalive.tick(at: now)
        guard verdict != .dead else { return nil }
        self.keepalive = keepalive
        guard verdict == .ping else { return (nil, keepalive.nextTick) }
        self.pingNonce += 1
        return (self.pingNonce, keepalive.nextTick)
    }

    /// Advances the session by one event and appends what the driver must now do.
    ///
    /// - Complexity: O(1); appends at most three actions.
    package mutating func handle(_ event: Event, at now: Instant, into actions: inout [Action]) {
        guard self.state != .closed else { return }  // Bytes and timers that were already on their way.
        switch event {
        case .received(let message, let session):
            self.keepalive?.noteReceived()
            self.receive(message, session, into: &actions)
        case .receivedPublication: self.receivePublication(into: &actions)
        case .receivedUnknown: self.receiveUnknown(into: &actions)
        case .rejected(let rejection):
            self.keepalive?.noteReceived()
            self.reject(rejection, at: now, into: &actions)
        case .violated(let code, let reason): self.close(Goodbye(code, reason: reason), into: &actions)
        case .admitted(let welcome): self.activate(welcome, at: now, into: &actions)
        case .closeRequested(let goodbye): self.close(goodbye, into: &actions)
        case .drainRequested(let goodbye): self.drain(goodbye, at: now, into: &actions)
        case .deadlineReached: self.missDeadline(at: now, into: &actions)
        case .transportClosed: self.end(clean: false, into: &actions)
        }
    }

    private mutating func receive(_ message: Message, _ session: SessionID, into actions: inout [Action]) {
        switch (self.state, message) {
        case (.awaitingHello, .hello(let hello)): self.consider(hello, into: &actions)
        case (_, .goodbye): self.end(clean: true, into: &actions)
        case (.awaitingHello, _): self.unexpected(message, into: &actions)
        case (.active, .ping(let nonce)): self.send(.pong(nonce: nonce), into: &actions)
        case (_, .pong): break
        case (.active, _) where self.mayBeSent(message.type): actions.append(.deliver(message, session))
        case (.draining, _): break  // The peer had not yet seen our Goodbye, behind which nothing follows.
        case (.admitting, _), (.active, _): self.unexpected(message, into: &actions)
        case (.closed, _): break
        }
    }

    private mutating func receivePublication(into actions: inout [Action]) {
        guard !self.notePublication() else { return }
        self.close(
            Goodbye(.unexpectedMessage, reason: "only an active navigation client publishes"), into: &actions)
    }

    private mutating func receiveUnknown(into actions: inout [Action]) {
        self.keepalive?.noteReceived()
        switch self.state {
        case .awaitingHello, .admitting:
            self.close(
                Goodbye(.unexpectedMessage, reason: "nothing but a Hello is expected before the Welcome"),
                into: &actions)
        case .active, .draining, .closed: break
        }
    }

    private mutating func consider(_ hello: Hello, into actions: inout [Action]) {
        let role: Role
        switch hello.role {
        case .vehicle: role = .vehicle
        case .navigation: role = .navigation
        }
        guard hello.versions.overlaps(ProtocolConstants.versions) else {
            let ours = ProtocolConstants.versions
            return self.close(
                Goodbye(
                    .unsupportedVersion,
                    reason: "this gateway speaks versions \(ours.lowerBound) to \(ours.upperBound)"),
                into: &actions)
        }
        guard self.allowedRoles.contains(role) else {
            return self.close(
                Goodbye(.roleNotAllowed, reason: "this listener does not take the role \(role)"),
                into: &actions)
        }
        self.role = role
        self.wish = Wish(hello)
        self.state = .admitting
        actions.append(.admit(hello))
    }

    private mutating func activate(_ welcome: Welcome, at now: Instant, into actions: inout [Action]) {
        guard self.state == .admitting, let wish = self.wish else { return }  // Closed in the meantime.
        var welcome = welcome
        welcome.version = wish.version
        let keepalive = wish.keepaliveMilliseconds.map { .milliseconds($0) } ?? self.limits.keepalive
        welcome.keepaliveMilliseconds = UInt32(clamping: keepalive.milliseconds)
        self.frameBytesMax = min(wish.frameBytesMax ?? self.limits.frameBytesMax, self.limits.frameBytesMax)
        welcome.frameBytesMax = self.frameBytesMax
        self.wish = nil
        self.state = .active
        let life = Keepalive(interval: keepalive, at: now)
        self.keepalive = life
        self.send(.welcome(welcome), into: &actions)
        actions.append(.arm(deadline: life.nextTick))
    }

    /// Which messages a peer of this role may send once it is active.
    private func mayBeSent(_ type: MessageType) -> Bool {
        switch type {
        case .openSession, .requestAnswer: self.role == .navigation
        case .receipt, .waypointRequest, .destinationRequest, .withdrawRequest, .promptAnswer,
            .cancelNavigation,
            .allowNavigation, .updateRouteSource, .vehicleSettings, .zoomCluster, .alertResponse,
            .destinationShareAnswer:
            self.role == .vehicle
        case .hello, .welcome, .goodbye, .ping, .pong, .error, .sessionOpened, .vehicleChanged, .sessionEnded,
            .snapshotBegin, .snapshotEnd, .sessionSuspended, .sessionRestored, .receiptReport, .prompt,
            .promptOver, .requestOutcome, .destinationShareStatus:
            false
        case .tripPreviews, .startGuidance, .updateTrip, .addManeuvers, .addLaneGuidances, .addRouteSegments,
            .upcomingManeuvers, .currentLaneGuidance, .currentRoadName, .updateManeuverState,
            .updateTripEstimates, .updateManeuverEstimates, .currentRouteSegment, .pauseGuidance,
            .resumeGuidance, .showAlert, .dismissAlert, .shareDestination, .finishGuidance, .cancelGuidance:
            false
        }
    }

    private mutating func unexpected(_ message: Message, into actions: inout [Action]) {
        self.close(
            Goodbye(.unexpectedMessage, reason: "\(message.type) is not expected in state \(self.state)"),
            into: &actions)
    }

    private mutating func reject(_ rejection: Rejection, at now: Instant, into actions: inout [Action]) {
        switch self.state {
        case .awaitingHello:
            let field = rejection.field.isEmpty ? "the Hello" : rejection.field
            self.close(Goodbye(.handshakeInvalid, reason: "\(field): \(rejection.reason)"), into: &actions)
        case .admitting, .active:
            if now > self.errorWindowEnd {
                self.errorWindowEnd = now + self.limits.errorWindow
                self.errorCount = 0
            }
            self.errorCount += 1
            self.send(.error(rejection), into: &actions)
            if self.errorCount > self.limits.errorsMax {
                self.close(
                    Goodbye(
                        .tooManyErrors, reason: "more than \(self.limits.errorsMax) messages were refused"),
                    into: &actions)
            }
        case .draining, .closed: break
        }
    }

    private mutating func missDeadline(at now: Instant, into actions: inout [Action]) {
        switch self.state {
        case .awaitingHello, .admitting:
            self.close(Goodbye(.handshakeTimeout, reason: "no Hello in time"), into: &actions)
        case .active: self.tick(at: now, into: &actions)
        case .draining: self.end(clean: false, into: &actions)
        case .closed: break
        }
    }

    private mutating func tick(at now: Instant, into actions: inout [Action]) {
        guard let tick = self.takeTick(at: now) else {
            return self.close(
                Goodbye(.keepaliveTimeout, reason: "nothing heard for three intervals"), into: &actions)
        }
        if let nonce = tick.ping { actions.append(.send(.ping(nonce: nonce))) }
        actions.append(.arm(deadline: tick.next))
    }

    private mutating func drain(_ goodbye: Goodbye, at now: Instant, into actions: inout [Action]) {
        switch self.state {
        case .awaitingHello, .admitting: self.close(goodbye, into: &actions)
        case .active:
            self.state = .draining
            actions.append(.send(.goodbye(goodbye)))
            actions.append(.arm(deadline: now + self.limits.drainTimeout))
        case .draining, .closed: break
        }
    }

    private mutating func send(_ message: Message, into actions: inout [Action]) {
        self.keepalive?.noteSent()
        actions.append(.send(message))
    }

    private mutating func close(_ goodbye: Goodbye, into actions: inout [Action]) {
        // While draining it has been said.
        if self.state != .draining { actions.append(.send(.goodbye(goodbye))) }
        self.end(clean: false, into: &actions)
    }

    /// The one way into `closed`.
    private mutating func end(clean: Bool, into actions: inout [Action]) {
        switch self.state {
        case .admitting, .active, .draining: actions.append(.gone(clean: clean))
        case .awaitingHello, .closed: break
        }
        self.state = .closed
        actions.append(.close)
    }
}
