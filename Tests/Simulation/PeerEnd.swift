internal import GatewayInMemory
internal import WaymarkCodec
internal import WaymarkConnections
internal import WaymarkGateway
internal import WaymarkProtocol

// The peers' end of the network: does what the client library does. Hostile peers have no session and discard what they read.
extension SimulatedNetwork {
    // MARK: Connecting

    /// Opens a connection for a peer. An honest peer sends `hello` at once; it is nil for a hostile one.
    mutating func connect(_ owner: SimulatedConnection.Owner, _ hello: Hello?) -> ConnectionID {
        let loop = self.random.number(0...self.host.loops.count - 1)
        var origin = PeerOrigin()
        origin.principal = hello == nil ? .user(666) : .user(1)
        origin.subject = self.subject(of: owner)
        origin.payer =
            self.attackers.isEmpty
            ? Payer(rawValue: UInt64(self.random.number(1...3))) : self.payer(of: owner)
        let window = self.newWindow()
        let socket = SeededRandom(seed: UInt64(self.random.number(0...1 << 30)))
        // Some channels are not plain sockets: all their output goes through the channel.
        let isPlain = self.isAtRest || !self.random.once(in: 8)
        let id = self.atGateway { [origin] in
            $0.connect(origin, to: loop, socketBytes: window, isPlain: isPlain, at: $1)
        }
        self.inspector.sockets[id] = socket
        self.connections[id] = SimulatedConnection(
            owner: owner, receiveFrameBytesMax: hello?.receiveFrameBytesMax ?? 0)
        if self.isVictim(id) { self.inspector.service.addVictim(id) }
        if let hello {
            var actions: [ConnectingSession.Action] = []
            self.connections[id]?.peer = ConnectingSession(
                hello: hello, limits: self.limits, at: self.now, into: &actions)
            self.perform(actions, atPeerOf: id)
            // One that may resume waits for the Welcome: what it sends tells the gateway that it has read that.
            if !self.isAtRest, self.random.once(in: 2), hello.resumptionToken == nil {
                self.speakBehindHello(owner, id)
            }
        }
        self.note { "\($0.name(id)) connects" }
        return id
    }

    /// Sends the first message of a peer without waiting for the Welcome.
    private mutating func speakBehindHello(_ owner: SimulatedConnection.Owner, _ id: ConnectionID) {
        switch owner {
        case .endpoint(let index): self.tellSettings(index, id)
        case .app(let index):
            if self.apps[index].session == nil { self.send(self.apps[index].open(), from: id) }
        case .hostile, .attacker, .observer: break
        }
    }

    /// The number of bytes in transit before frames wait: small half of the time, unlimited at rest.
    private mutating func newWindow() -> Int {
        if self.isAtRest { return .max }
        return self.random.once(in: 2) ? self.random.number(32...512) : 8_192
    }

    mutating func connectEndpoint(_ index: Int) {
        var hello = self.endpoints[index].hello
        if self.fault == .ignoreSizes, case .vehicle(var vehicle) = hello.role {
            vehicle.receiveFrameBytesMax = 0
            hello.role = .vehicle(vehicle)
        }
        self.endpoints[index].connection = self.connect(.endpoint(index), hello)
    }

    mutating func connectApp(_ index: Int) {
        self.apps[index].connection = self.connect(.app(index), self.apps[index].hello)
    }

    // MARK: Reading

    mutating func readAtPeer(_ id: ConnectionID, byteCount: Int) {
        guard let connection = self.connections[id], !connection.isPeerGone else { return }
        let (bytes, isEnded) = self.atGateway { host, _ in host.takeOutput(of: id, atMost: byteCount) }
        guard !bytes.isEmpty else {
            if isEnded { self.handle(.transportClosed, atPeerOf: id) }
            return
        }
        self.pump(id)
        if case .attacker(let index) = connection.owner {
            return self.receive(bytes, atAttacker: index, id)
        }
        guard connection.peer != nil else { return }
        self.connections[id]?.peerSplitter.append(bytes)
        do throws(FramingError) {
            while self.connections[id]?.isPeerGone == false,
                let frame = try self.connections[id]?.peerSplitter.next()
            {
                self.receive(frame, atPeerOf: id)
            }
        } catch {
            self.report(.publishersOrder, "\(self.name(id)) got bytes that are not a frame: \(error)")
        }
    }

    private mutating func receive(_ frame: Frame, atPeerOf id: ConnectionID) {
        do throws(DecodingError) {
            let envelope = try self.decoder.decode(frame)
            self.note { "\($0.name(id)) got \(envelope.line)" }
            if envelope.message.type == .goodbye, !self.isSilent(id) {
                self.report(.publishersOrder, "\(self.name(id)) is sent bytes after the Goodbye")
            }
            guard let whole = self.join(envelope, frame, atPeerOf: id) else { return }
            var actions: [ConnectingSession.Action] = []
            self.connections[id]?.peer?.handle(.received(whole), at: self.now, into: &actions)
            self.perform(actions, frame, atPeerOf: id)
        } catch {
            if case .unknownType(isSkippable: true) = error {
                return self.receiveUnknown(frame, atPeerOf: id)
            }
            self.report(.publishersOrder, "\(self.name(id)) got a frame that cannot be decoded: \(error)")
        }
    }

    /// The message of which `envelope` is the last part; nil if more of it follows.
    private mutating func join(_ envelope: Envelope, _ frame: Frame, atPeerOf id: ConnectionID) -> Envelope? {
        guard let connection = self.connections[id] else { return nil }
        if frame.bytes.count > connection.receiveFrameBytesMax {
            self.report(
                .framesFit, "\(self.name(id)) got \(envelope.message.type) in \(frame.bytes.count) bytes")
        }
        do throws(PartialMessageError) {
            return try connection.partial.add(envelope, byteCount: frame.bytes.count)
        } catch {
            self.report(.framesFit, "\(self.name(id)) got parts of \(envelope.message.type): \(error)")
            return nil
        }
    }

    /// Whether nothing is under way to a peer.
    private func isSilent(_ id: ConnectionID) -> Bool {
        self.host.isSilent(id) && self.connections[id]?.peerSplitter.isEmpty != false
    }

    /// Whether a peer has something to read, and reads.
    func hasOutput(_ id: ConnectionID) -> Bool {
        guard let connection = self.connections[id], !connection.isPeerGone, !connection.isStalled else {
            return false
        }
        return self.host.outputCount(of: id) > 0 || self.host.isEnded(id)
    }

    private mutating func receiveUnknown(_ frame: Frame, atPeerOf id: ConnectionID) {
        self.note { "\($0.name(id)) got \(frame.line)" }
        guard case .endpoint(let index) = self.connections[id]?.owner else { return }
        if self.endpoints[index].isSnapshot { self.happenings.insert(.extensionRetained) }
        self.endpoints[index].receiveUnknown(frame, self.logs[frame.header.session])
    }

    // MARK: The session of a peer

    mutating func handle(_ event: ConnectingSession.Event, atPeerOf id: ConnectionID) {
        guard self.connections[id]?.peer != nil else { return self.losePeer(id) }
        var actions: [ConnectingSession.Action] = []
        self.connections[id]?.peer?.handle(event, at: self.now, into: &actions)
        self.perform(actions, atPeerOf: id)
    }

    /// `frame` is the received frame that caused the actions; nil for any other cause.
    private mutating func perform(
        _ actions: [ConnectingSession.Action], _ frame: Frame? = nil, atPeerOf id: ConnectionID
    ) {
        for action in actions {
            switch action {
            case .send(let message): self.send(message, from: id)
            case .welcomed(let welcome): self.welcome(welcome, on: id)
            case .deliver(let envelope): if let frame { self.deliver(envelope, frame, on: id) }
            case .arm(let deadline): self.connections[id]?.peerDeadline = deadline
            case .close(let goodbye): self.close(goodbye, atPeerOf: id)
            }
        }
    }

    /// Sends a message from a peer.
    mutating func send(_ message: Message, from id: ConnectionID, session: SessionID = .none) {
        self.connections[id]?.peer?.noteSent()
        self.write(Array(Codec.encode(Envelope(message, session: session)).bytes), from: id)
    }

    /// Sends bytes from a peer, which may be gone.
    mutating func write(_ bytes: [UInt8], from id: ConnectionID) {
        self.atGateway { host, _ in host.receive(bytes, on: id) }
    }

    private mutating func welcome(_ welcome: Welcome, on id: ConnectionID) {
        if welcome.gateway != self.identity {
            self.report(
                .restartLosesNothing,
                "\(self.name(id)) was welcomed by \(welcome.gateway), not \(self.identity)")
        }
        switch self.connections[id]?.owner {
        case .endpoint(let index): self.endpoints[index].welcome(welcome)
        case .app(let index):
            let session = self.apps[index].session
            let sequence = self.apps[index].welcome(welcome, &self.source.random)
            if let session, let sequence { self.logs[session]?.forget(after: sequence) }
        case .observer(let index):
            for message in self.observers[index].welcome(welcome) { self.send(message, from: id) }
        case .hostile, .attacker, nil: break
        }
    }

    private mutating func deliver(_ envelope: Envelope, _ frame: Frame, on id: ConnectionID) {
        switch self.connections[id]?.owner {
        case .endpoint(let index):
            self.endpoints[index].receive(envelope, frame, self.logs[envelope.session], &self.source.random)
        case .app(let index):
            self.apps[index].receive(envelope.message, in: envelope.session, &self.source.random)
            if let session = self.apps[index].session, self.logs[session] == nil {
                self.logs[session] = PublishedLog(client: self.apps[index].id)
            }
        case .observer(let index): self.receive(envelope.message, atObserver: index)
        case .hostile, .attacker, nil: break
        }
    }

    // MARK: Disconnecting

    private mutating func close(_ goodbye: Goodbye?, atPeerOf id: ConnectionID) {
        switch goodbye?.code {
        case nil, .normal, .shuttingDown, .handshakeTimeout, .idInUse, .takenOver, .keepaliveTimeout,
            .slowConsumer:
            break
        // Whether the rules refuse it is checked by `AccessWatch`.
        case .notAuthorized where !self.ruleSets.isEmpty: break
        case .rulesChanged where !self.ruleSets.isEmpty: break
        case .resourceLimit: self.report(.quotasHold, "\(self.name(id)) was closed: \(goodbye as Any)")
        case .badMagic, .unsupportedVersion, .frameTooLarge, .unknownMessageType, .unexpectedMessage,
            .handshakeInvalid, .roleNotAllowed, .notAuthorized, .notAuthenticated, .rulesChanged,
            .tooManyConnections, .tooManyErrors, .internalError, .moved, .rateLimited:
            self.report(
                .boundedMemory, "\(self.name(id)) follows the protocol, but was closed: \(goodbye as Any)")
        }
        self.losePeer(id)
    }

    /// Closes the peer's end. The gateway's end notices once it has read all bytes in transit.
    mutating func losePeer(_ id: ConnectionID) {
        guard let connection = self.connections[id], !connection.isPeerGone else { return }
        connection.isPeerGone = true
        connection.peerDeadline = nil
        switch connection.owner {
        case .endpoint(let index): self.endpoints[index].loseConnection()
        case .app(let index): self.apps[index].loseConnection()
        case .hostile(let index): self.hostile[index].connection = nil
        case .observer(let index): self.observers[index].loseConnection()
        case .attacker(let index): self.attackers[index].connection = nil
        }
        self.atGateway { $0.abandon(id, at: $1) }
    }
}
