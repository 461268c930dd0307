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
    package enum Role: Sendable, Hashable, CaseIterable, Codable { case vehicle, navigation, observer }

    package enum Event: Sendable, Hashable {
        /// A message for the connection itself was decoded, see ``HeaderVerdict/readForConnection``.
        case received(Message)
        /// The codec rejected a body.
        indirect case rejected(Rejection)
        /// The bytes are not frames, or a frame is too long.
        indirect case violated(FramingError)
        /// The gateway admits the peer.
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
        /// Ask the gateway to admit the peer.
        indirect case admit(Hello)
        /// Tell the gateway that the peer has gone; `clean` after a Goodbye of the peer.
        case gone(clean: Bool)
        case arm(deadline: Instant)
        /// Close the transport once everything sent is written.
        case close
    }

    /// What to do with a frame, by its header: whether this role may send its type in this state.
    package enum HeaderVerdict: Sendable, Hashable {
        /// Read its body, for ``Event/received(_:)``.
        case readForConnection
        /// Read its body, for the gateway.
        case readForGateway(MessageType)
        /// Read it as a publication, also one of a type that this build does not know.
        case readPublication
        /// Skip it without reading its body.
        case skip
        /// Close the connection without reading its body.
        indirect case close(Goodbye)
    }

    package private(set) var state: State = .awaitingHello
    package private(set) var role: Role?
    /// The peer wants to know which of its frames are ignored.
    private var reportsIgnored = false
    /// The Welcome resumed the peer, and nothing came since, see ``takeConfirmation()``.
    private var awaitsFirstFrame = false
    /// The agreed largest frame of the peer; before the handshake that of a Hello.
    package private(set) var receiveFrameBytesMax: UInt32
    /// The largest frame that the peer takes; before the handshake any.
    package private(set) var sendFrameBytesMax = ProtocolConstants.frameBytes.upperBound
    @Narrow private var errorCount = 0
    /// The wish of the Hello, until it is answered.
    @Boxed private var wish: Wish? = nil
    @BoxedIfCustom private var limits: ConnectionLimits
    private let allowedRoles: Set<Role>
    private var keepalive: Keepalive?
    private var errorWindowEnd = Instant(nanoseconds: 0)
    private var pingNonce: UInt64 = 0

    // Why they are listed: this is their order in a state that is handed over, which another build reads.
    private enum CodingKeys: CodingKey {
        case state, role, receiveFrameBytesMax, sendFrameBytesMax, limits, allowedRoles, reportsIgnored
        case awaitsFirstFrame, wish, keepalive, errorCount, errorWindowEnd, pingNonce
    }

    // Why not the Hello itself: it is large.
    private struct Wish: Sendable, Hashable, Codable {
        let version: UInt32
        let keepaliveMilliseconds: UInt32?
        let sendFrameBytesMax: UInt32?

        init(_ hello: Hello) {
            self.version = min(hello.versions.upperBound, ProtocolConstants.versions.upperBound)
            self.keepaliveMilliseconds = hello.keepaliveMilliseconds
            self.sendFrameBytesMax = hello.sendFrameBytesMax
        }
    }

    /// Creates the session of a transport that has just connected; `allowedRoles` are those that its listener accepts.
    package init(
        limits: ConnectionLimits, allowedRoles: Set<Role>, at now: Instant, into actions: inout [Action]
    ) {
        self.limits = limits
        self.allowedRoles = allowedRoles
        self.receiveFrameBytesMax = min(limits.frameBytesMax, ProtocolConstants.helloFrameBytesMax)
        actions.append(.arm(deadline: now + limits.handshakeTimeout))
    }

    /// Records what was sent to the peer without this machine: frames of a shared batch, or bytes of a frame that had to wait.
    package mutating func noteSent() { self.keepalive?.noteSent() }

    /// Records that a published frame was received, if this peer may send one now.
    ///
    /// - Returns: Whether it may. If not, call ``receive(_:)``.
    package mutating func notePublication() -> Bool {
        guard self.role == .navigation, self.state == .active || self.state == .draining else { return false }
        self.keepalive?.noteReceived()
        return true
    }

    /// Records that a frame was received and checks its header: the first step of the checks in Docs/protocol.md, "Order of checks".
    package mutating func receive(_ header: FrameHeader) -> HeaderVerdict {
        self.keepalive?.noteReceived()
        return self.verdict(on: header)
    }

    /// Records that bytes were received of a frame that is not whole yet.
    package mutating func noteBytes() { self.keepalive?.noteReceived() }

    /// Records that a Pong was received, if one may come now and has no other effect.
    ///
    /// - Returns: Whether it was recorded. If not, call ``receive(_:)``.
    package mutating func notePong() -> Bool {
        guard self.state == .active, !self.awaitsFirstFrame else { return false }
        self.keepalive?.noteReceived()
        return true
    }

    /// Whether a whole frame, which was just received, is the first one behind a Welcome that resumed the peer: it confirms that the peer
    /// has read that. True once.
    package mutating func takeConfirmation() -> Bool {
        guard self.awaitsFirstFrame else { return false }
        self.awaitsFirstFrame = false
        return true
    }

    /// What to tell the peer about a frame that was skipped; nil if it did not ask, or is told nothing any more.
    package func report(onSkipped header: FrameHeader) -> Message? {
        guard self.reportsIgnored, self.state == .active else { return nil }
        return .error(Rejection(.ignored, reason: "type \(header.rawType) is not known").of(header))
    }

    /// Handles the deadline of an active session whose peer is alive, without actions.
    ///
    /// - Returns: The nonce of a Ping to send, if one is due, and the next deadline. nil in any other case: nothing has changed, and the
    ///   driver must pass in ``Event/deadlineReached``.
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
        case .received(let message): self.receive(message, at: now, into: &actions)
        case .rejected(let rejection): self.reject(rejection, at: now, into: &actions)
        case .violated(let error): self.close(self.goodbye(for: error), into: &actions)
        case .admitted(let welcome): self.activate(welcome, at: now, into: &actions)
        case .closeRequested(let goodbye): self.close(goodbye, into: &actions)
        case .drainRequested(let goodbye): self.drain(goodbye, at: now, into: &actions)
        case .deadlineReached: self.missDeadline(at: now, into: &actions)
        case .transportClosed: self.end(clean: false, into: &actions)
        }
    }

    private func verdict(on header: FrameHeader) -> HeaderVerdict {
        guard let type = header.type else { return self.verdict(onUnknown: header) }
        let sender = type.sender
        switch self.state {
        case .awaitingHello where sender == .newcomer || type == .goodbye: return .readForConnection
        // While admitting, the driver keeps what was read.
        case .awaitingHello, .admitting: return .close(self.unexpected("\(type)"))
        case .active:
            switch (sender, self.role) {
            case (.peer, _): return .readForConnection
            case (.client, .navigation), (.endpoint, .vehicle), (.observer, .observer),
                (.endpointOrObserver, .vehicle), (.endpointOrObserver, .observer):
                return .readForGateway(type)
            case (.publisher, .navigation): return .readPublication
            case (.newcomer, _), (.gateway, _), (.client, _), (.publisher, _), (.endpoint, _), (.observer, _),
                (.endpointOrObserver, _):
                return .close(self.unexpected("\(type)"))
            }
        // Sent before the peer saw our Goodbye; ignore all but these.
        case .draining where type == .goodbye: return .readForConnection
        case .draining where sender == .publisher && self.role == .navigation: return .readPublication
        case .draining, .closed: return .skip
        }
    }

    private func verdict(onUnknown header: FrameHeader) -> HeaderVerdict {
        let isSkippable = header.flags.contains(.skippable)
        let isPublished = MessageType.published.contains(header.rawType)
        switch self.state {
        case .active, .draining:
            if isSkippable { return isPublished && self.role == .navigation ? .readPublication : .skip }
            if self.state == .draining { return .skip }
        case .awaitingHello, .admitting:
            if isSkippable { return .close(self.unexpected("type \(header.rawType)")) }
        case .closed: return .skip
        }
        return .close(Goodbye(.unknownMessageType, reason: "type \(header.rawType) is not known"))
    }

    /// Of a frame that is not allowed and too long, the type is the reason to close.
    private func goodbye(for error: FramingError) -> Goodbye {
        if case .tooLarge(let header, _) = error, case .close(let goodbye) = self.verdict(on: header) {
            return goodbye
        }
        return Goodbye(error.closeCode, reason: "\(error)", limit: self.limit(of: error))
    }

    private func limit(of error: FramingError) -> ReachedLimit? {
        guard case .tooLarge(_, let max) = error else { return nil }
        let isOfHello = self.state == .awaitingHello && max == ProtocolConstants.helloFrameBytesMax
        return ReachedLimit(isOfHello ? "hello_frame_bytes_max" : "frame_bytes_max", max)
    }

    private mutating func receive(_ message: Message, at now: Instant, into actions: inout [Action]) {
        switch (self.state, message) {
        case (.awaitingHello, .hello(let hello)): self.consider(hello, into: &actions)
        case (_, .goodbye): self.end(clean: true, into: &actions)
        case (.active, .ping(let nonce, let sent)):
            self.send(.pong(nonce: nonce, sent == nil ? nil : PongTimes(at: now)), into: &actions)
        case (_, .pong): break
        // Not reached: `verdict(on:)` lets no other message through to the connection itself.
        case (_, _): self.close(self.unexpected("\(message.type)"), into: &actions)
        }
    }

    /// The Goodbye for a Hello with these versions; nil if one of them is spoken here.
    package static func refusal(of versions: ClosedRange<UInt32>) -> Goodbye? {
        let ours = ProtocolConstants.versions
        guard !versions.overlaps(ours) else { return nil }
        return Goodbye(
            .unsupportedVersion,
            reason:
                "this gateway speaks \(Self.name(ours)) of the protocol, and the peer \(Self.name(versions))")
    }

    /// `2...2` as "version 1.2".
    private static func name(_ versions: ClosedRange<UInt32>) -> String {
        let (lowest, highest) = (versions.lowerBound, versions.upperBound)
        return lowest == highest ? "version 1.\(lowest)" : "versions 1.\(lowest) to 1.\(highest)"
    }

    private mutating func consider(_ hello: Hello, into actions: inout [Action]) {
        let role = hello.role.kind
        if let refusal = Self.refusal(of: hello.versions) { return self.close(refusal, into: &actions) }
        guard self.allowedRoles.contains(role) else {
            return self.close(
                Goodbye(.roleNotAllowed, reason: "this listener does not accept the role \(role)"),
                into: &actions)
        }
        self.role = role
        self.wish = Wish(hello)
        if hello.receiveFrameBytesMax > 0 { self.sendFrameBytesMax = hello.receiveFrameBytesMax }
        self.reportsIgnored = hello.reportsIgnored
        self.state = .admitting
        actions.append(.admit(hello))
    }

    private mutating func activate(_ welcome: Welcome, at now: Instant, into actions: inout [Action]) {
        guard self.state == .admitting, let wish = self.wish else { return }  // Closed in the meantime.
        var welcome = welcome
        welcome.version = wish.version
        let asked = wish.keepaliveMilliseconds.map { .milliseconds($0) } ?? self.limits.keepalive
        let keepalive = max(self.limits.keepaliveMin, min(asked, self.limits.keepaliveMax))
        welcome.keepaliveMilliseconds = UInt32(clamping: keepalive.milliseconds)
        self.receiveFrameBytesMax = min(
            wish.sendFrameBytesMax ?? self.limits.frameBytesMax, self.limits.frameBytesMax)
        welcome.receiveFrameBytesMax = self.receiveFrameBytesMax
        welcome.sendFrameBytesMax = self.sendFrameBytesMax
        self.wish = nil
        self.awaitsFirstFrame = welcome.isResumed
        self.state = .active
        self.send(.welcome(welcome), into: &actions)
        let life = Keepalive(interval: keepalive, at: now)
        self.keepalive = life
        actions.append(.arm(deadline: life.nextTick))
    }

    private func unexpected(_ type: String) -> Goodbye {
        let sender =
            switch self.role {
            case nil: "a peer"
            case .vehicle: "a vehicle endpoint"
            case .navigation: "a navigation client"
            case .observer: "an observer"
            }
        return Goodbye(
            .unexpectedMessage, reason: "\(type) is not expected from \(sender) in state \(self.state)")
    }

    private mutating func reject(_ rejection: Rejection, at now: Instant, into actions: inout [Action]) {
        switch self.state {
        case .awaitingHello, .admitting:
            let field = rejection.field.isEmpty ? "the body" : rejection.field
            self.close(Goodbye(.handshakeInvalid, reason: "\(field): \(rejection.reason)"), into: &actions)
        case .active:
            if now > self.errorWindowEnd {
                self.errorWindowEnd = now + self.limits.errorWindow
                self.errorCount = 0
            }
            self.errorCount += 1
            self.send(.error(rejection), into: &actions)
            if self.errorCount > self.limits.errorsMax {
                self.close(
                    Goodbye(
                        .tooManyErrors, reason: "more than \(self.limits.errorsMax) messages were rejected",
                        limit: ReachedLimit("errors_max", self.limits.errorsMax)),
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
        // While draining the Goodbye was sent before.
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

extension Hello.Role {
    /// The role alone.
    package var kind: AcceptingSession.Role {
        switch self {
        case .vehicle: .vehicle
        case .navigation: .navigation
        case .observer: .observer
        }
    }
}
