internal import WaymarkCodec
internal import WaymarkGateway
internal import WaymarkProtocol

// The gateway's end of the network: what the transport does in the daemon. Bytes become frames, frames events, actions bytes.
extension SimulatedNetwork {
    // MARK: Reading

    mutating func readAtGateway(_ id: ConnectionID, byteCount: Int) {
        guard let connection = self.connections[id], !connection.isClosed else { return }
        guard let bytes = self.connections[id]?.toGateway.read(byteCount), !bytes.isEmpty else {
            guard connection.toGateway.isAtEnd else { return }
            if connection.splitter.isInMidFrame { self.happenings.insert(.cutInMidFrame) }
            return self.handle(.transportClosed, on: id)
        }
        self.connections[id]?.splitter.append(bytes)
        do throws(FramingError) {
            while self.connections[id]?.isClosed == false,
                let frame = try self.connections[id]?.splitter.next()
            {
                self.take(frame, from: id)
            }
        } catch {
            self.handle(.violated(error), on: id)
        }
    }

    private mutating func take(_ frame: Frame, from id: ConnectionID) {
        guard var session = self.connections[id]?.session else { return }
        let received = self.decoder.read(frame, on: &session)
        self.connections[id]?.session = session
        switch received {
        case .forConnection(let message): self.handle(.received(message), on: id)
        case .forGateway(let message, let session): self.submit(.received(id, message, session))
        case .request(let request, let session): self.submit(.requested(id, request, session))
        case .publication(let outline): self.submit(.published(id, PublishedFrames(frame, outline)))
        case .rejected(let rejection):
            self.handle(.rejected(rejection), on: id)
            if MessageType.published.contains(frame.header.rawType) {
                self.submit(.publicationRejected(id, frame.header))
            }
        case .skipped: break
        case .closing(let goodbye): self.handle(.closeRequested(goodbye), on: id)
        }
    }

    // MARK: The session of a connection

    mutating func handle(_ event: AcceptingSession.Event, on id: ConnectionID) {
        var actions: [AcceptingSession.Action] = []
        self.connections[id]?.session.handle(event, at: self.now, into: &actions)
        self.perform(actions, on: id)
    }

    mutating func perform(_ actions: [AcceptingSession.Action], on id: ConnectionID) {
        for action in actions {
            switch action {
            case .send(let message): self.write(Envelope(message), to: id)
            case .admit(let hello):
                self.nextToken += 1
                guard let principal = self.connections[id]?.principal else { continue }
                let token = ResumptionToken(high: 7, low: self.nextToken)
                self.submit(.arrived(id, hello, principal, token: token))
            case .gone(let clean): self.submit(.departed(id, clean: clean))
            case .arm(let deadline): self.connections[id]?.deadline = deadline
            case .close: self.close(id)
            }
        }
        if let frameBytesMax = self.connections[id]?.session.frameBytesMax {
            self.connections[id]?.splitter.frameBytesMax = frameBytesMax
        }
    }

    /// Writes what waits, and ends.
    private mutating func close(_ id: ConnectionID) {
        guard self.connections[id]?.isClosed == false else { return }
        for frame in self.connections[id]?.outbox.take(byteCount: .max) ?? [] { self.transmit(frame, to: id) }
        self.connections[id]?.isClosed = true
        self.connections[id]?.deadline = nil
        self.connections[id]?.stuckSince = nil
        self.connections[id]?.fromGateway.end()
        for audience in self.members.keys { self.members[audience]?.removeAll { $0 == id } }
        if self.connections[id]?.isPeerGone == true { self.remove(id) }
    }

    mutating func remove(_ id: ConnectionID) {
        self.connections[id] = nil
        self.connectionIDs.removeAll { $0 == id }
    }

    // MARK: Writing

    /// Sends a frame, or lets it wait while the peer does not take what was sent before.
    private mutating func write(_ envelope: Envelope, to id: ConnectionID) {
        if let happening = Happening(envelope.message) { self.happenings.insert(happening) }
        self.write(Codec.encode(envelope), key: nil, to: id)
    }

    private mutating func write(_ frame: Frame, key: ConflationKey?, to id: ConnectionID) {
        guard let connection = self.connections[id], !connection.isClosed else { return }
        if connection.outbox.isEmpty, !connection.isFull { return self.transmit(frame, to: id) }
        switch self.connections[id]?.outbox.append(frame, key: key) {
        case .queued:
            if connection.stuckSince == nil { self.connections[id]?.stuckSince = self.now }
        case .overflow: self.fail(id)
        case nil: break
        }
        let waiting = self.connections[id]?.outbox.byteCount ?? 0
        if waiting > self.outboxLimits.bytesMax {
            self.report(.boundedMemory, "\(waiting) bytes wait for \(id)")
        }
    }

    private mutating func transmit(_ frame: Frame, to id: ConnectionID) {
        if !self.watch.mayReach(id, frame.header.session) {
            self.report(.nothingAfterCancelling, "\(self.name(id)) is sent a frame after it cancelled")
        }
        self.connections[id]?.fromGateway.write(frame.bytes)
    }

    /// Sends what waits, as far as the peer takes it.
    mutating func pump(_ id: ConnectionID) {
        guard self.connections[id]?.outbox.isEmpty == false else { return }
        while let connection = self.connections[id], !connection.isFull, !connection.outbox.isEmpty {
            let frames = self.connections[id]?.outbox.take(byteCount: connection.windowByteCount) ?? []
            for frame in frames { self.transmit(frame, to: id) }
        }
        if self.connections[id]?.outbox.conflatedCount ?? 0 > 0 { self.happenings.insert(.conflated) }
        let isEmpty = self.connections[id]?.outbox.isEmpty ?? true
        self.connections[id]?.stuckSince = isEmpty ? nil : self.now
    }

    /// The peer is too slow: what waits is dropped, and it is told so.
    mutating func fail(_ id: ConnectionID) {
        self.note { "\($0.name(id)) is too slow" }
        self.connections[id]?.outbox = Outbox(limits: self.outboxLimits)
        self.handle(.closeRequested(Goodbye(.slowConsumer)), on: id)
    }

    // MARK: The gateway

    /// Hands an event to the gateway; one that comes while another is worked off waits.
    mutating func submit(_ event: Gateway.Event) {
        self.pendingEvents.append(event)
        guard !self.isHandling else { return }
        self.isHandling = true
        while !self.pendingEvents.isEmpty { self.work(off: self.pendingEvents.removeFirst()) }
        self.isHandling = false
    }

    private mutating func work(off event: Gateway.Event) {
        self.note { _ in "gateway <- \(event.line)" }
        self.watch.see(event, at: self.now)
        let before = self.gateway
        var actions: [Gateway.Action] = []
        self.gateway.handle(event, at: self.now, into: &actions)
        self.goAlong(event, actions)
        self.injectAfterRejection(event, actions)
        self.checkRejection(of: event, actions, before)
        for action in self.injected(actions) { self.perform(action) }
        self.watch.check()
        self.checkBounds()
    }

    private mutating func perform(_ action: Gateway.Action) {
        self.note { _ in "gateway -> \(action.line)" }
        var members: [ConnectionID] = []
        if case .publish(let audience, _) = action { members = self.members[audience] ?? [] }
        self.watch.see(action, members: members)
        switch action {
        case .admit(let id, let welcome): self.handle(.admitted(welcome), on: id)
        case .refuse(let id, let goodbye), .close(let id, let goodbye):
            self.handle(.closeRequested(goodbye), on: id)
        case .send(let id, let envelope): self.write(envelope, to: id)
        case .forward(let id, let request, let vehicle, let session):
            self.write(Codec.frame(of: request, from: vehicle, session: session), key: nil, to: id)
        case .sendFrames(let id, let frames): for frame in frames { self.write(frame, key: nil, to: id) }
        case .publish(_, let frames):
            for id in members {
                self.connections[id]?.session.noteSent()
                for (frame, key) in frames.frames { self.write(frame, key: key, to: id) }
            }
        case .join(let id, let audience):
            if self.connections[id]?.isClosed == false { self.members[audience, default: []].append(id) }
        case .leave(let id, let audience): self.members[audience]?.removeAll { $0 == id }
        case .purge(let id, let session): self.connections[id]?.outbox.purge(session)
        case .purgeShares(let id, let session):
            self.connections[id]?.outbox.purge(session, only: .shareDestination)
        case .arm(let deadline): self.gatewayDeadline = deadline
        case .note: break
        }
    }

    // MARK: After each event

    /// A message that is refused has no other effect but a line in the log, and the error says why.
    private mutating func checkRejection(
        of event: Gateway.Event, _ actions: [Gateway.Action], _ before: Gateway
    ) {
        let effects = actions.count { if case .note = $0 { false } else { true } }
        for case .send(let id, let envelope) in actions {
            guard case .error(let rejection) = envelope.message else { continue }
            if effects != 1 {
                self.report(.rejectionChangesNothing, "\(self.name(id)) was refused, but not only that")
            }
            if rejection.reason.isEmpty || (rejection.code.concernsField && rejection.field.isEmpty) {
                self.report(.rejectionChangesNothing, "\(self.name(id)) is not told why: \(rejection)")
            }
            var expected = before
            // A refused publication uses up its number, as if the codec had refused it.
            if case .published(let connection, let frames) = event, let (frame, _) = frames.frames.first {
                var none: [Gateway.Action] = []
                expected.handle(.publicationRejected(connection, frame.header), at: self.now, into: &none)
            }
            if expected != self.gateway {
                self.report(.rejectionChangesNothing, "\(rejection) changed something")
            }
        }
    }

    private mutating func checkBounds() {
        let limits = self.policy.limits
        let holdings = self.gateway.holdings
        if holdings.retainedBytesMax > limits.retainedBytesMax {
            self.report(.boundedMemory, "a session retains \(holdings.retainedBytesMax) bytes")
        }
        if holdings.replayBytesMax > limits.replayBytesMax {
            self.report(.boundedMemory, "a session keeps \(holdings.replayBytesMax) bytes for resumption")
        }
        if holdings.outcomesMax > limits.outcomesKeptMax || holdings.openRequestsMax > limits.requestsOpenMax
        {
            self.report(.boundedMemory, "a vehicle has too many requests: \(holdings)")
        }
        if holdings.known != holdings.peerCount {
            self.report(.boundedMemory, "\(holdings.known) peers are known, \(holdings.peerCount) are there")
        }
    }
}

extension ErrorCode {
    /// Whether it can only be understood with the field.
    fileprivate var concernsField: Bool {
        switch self {
        case .invalidText, .outOfRange, .missing, .unknownReference, .duplicate, .staleGeneration,
            .vehicleBusy,
            .vehicleNavigatesItself, .inconsistent:
            true
        case .malformed, .wrongState, .sequenceGap, .unknownSession, .notGranted, .limitReached, .wrongRole:
            false
        }
    }
}
