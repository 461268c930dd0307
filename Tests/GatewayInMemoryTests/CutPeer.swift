import ExpectedState
import GatewayInMemory
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

/// How a link of a test ends.
enum CutEnding: CaseIterable {
    /// Both ends notice at once, and what is under way is lost.
    case reset
    /// The peer closes: what it sent is read.
    case finished
    /// The gateway notices nothing, as if the network had swallowed everything.
    case unnoticed
}

/// A peer that resumes as Docs/protocol.md says, on links that die after some bytes.
struct CutPeer {
    enum Kind: Hashable {
        case endpoint(String)
        case client
        case observer
    }

    /// A link that carries so many bytes in each direction and then nothing more.
    struct Link {
        let id: ConnectionID
        var toGateway = Int.max
        var toPeer = Int.max
        var isDead = false
        var splitter = FrameSplitter(frameBytesMax: ProtocolConstants.frameBytes.upperBound)
        /// How many bytes there were when each frame ended.
        var sentEnds: [Int] = []
        var readEnds: [Int] = []
    }

    /// A session of a client, which is for the vehicle of the same index among the world's peers.
    struct OwnSession {
        let vehicle: String
        var isWanted = true
        var id: SessionID?
        /// The number of the last publication that was sent.
        var sequence = 0
        var publications: [Publication] = []
        var end: SessionEndReason?

        /// The state that its vehicle must show.
        var drive: DriveState {
            var drive = DriveState()
            for publication in self.publications { drive.apply(publication) }
            return drive
        }

        /// Adds something to publish. Before StartGuidance it is that.
        mutating func addPublication() {
            guard !self.publications.isEmpty else {
                return self.publications = [.startGuidance(HostDrive.trip, generation: 1, .init())]
            }
            self.publications.append(.currentRoadName(["road \(self.publications.count)"]))
        }
    }

    let kind: Kind
    private(set) var link: Link?
    private var token: ResumptionToken?
    /// The last Welcome.
    private(set) var isResumed: Bool?
    private(set) var goodbyes: [CloseCode] = []
    /// The mistakes in what the peer was sent.
    private(set) var faults: [String] = []

    // An endpoint.
    /// The session that it holds; none if it holds nothing.
    private(set) var session = SessionID.none
    private(set) var cursor: UInt64 = 0
    private(set) var drive = DriveState()
    private var snapshotKind: SnapshotBegin.Kind?
    private var snapshotEnd: UInt64 = 0
    /// A request whose outcome it does not know.
    private var openRequest: Identifier?
    /// How its requests ended.
    private(set) var outcomes: [Identifier: Set<Outcome>] = [:]

    // A client.
    var sessions: [OwnSession] = []
    /// The requests that it was shown.
    private(set) var asked: [Identifier] = []

    // An observer.
    private(set) var observed = ObservedGateway()

    init(_ kind: Kind) { self.kind = kind }

    // MARK: Links

    private var hello: Hello {
        var hello =
            switch self.kind {
            case .endpoint(let vehicle): HostPeer.vehicle(vehicle)
            case .client: HostPeer.client("app")
            case .observer: Hello(role: .observer(ObserverHello(observer: ObserverName(unchecked: "rig"))))
            }
        hello.resumptionToken = self.token
        if self.token != nil { (hello.resumeSession, hello.resumeSequence) = (self.session, self.cursor) }
        return hello
    }

    /// The bytes of the Hello that it would say now.
    var helloBytes: [UInt8] { Array(Codec.encode(Envelope(.hello(self.hello))).bytes) }

    /// Connects and says Hello, on a link that dies after so many bytes in a direction.
    mutating func connect(
        _ host: inout GatewayHost, toGateway: Int = .max, toPeer: Int = .max, at now: Instant
    ) {
        let id = host.connect(PeerOrigin(), at: now)
        self.link = Link(id: id, toGateway: toGateway, toPeer: toPeer)
        self.send(.hello(self.hello), to: &host)
        host.settle(at: now)
    }

    /// The link has died, and ends.
    mutating func cut(_ ending: CutEnding, _ host: inout GatewayHost, at now: Instant) {
        guard let link = self.link else { return }
        switch ending {
        case .reset: host.reset(link.id, at: now)
        case .finished: host.peerClosed(link.id)
        case .unnoticed: break
        }
        host.settle(at: now)
        self.loseLink()
    }

    mutating func loseLink() {
        self.link = nil
        // A part of a snapshot is worth nothing.
        if self.snapshotKind == .full { self.leave() }
        self.snapshotKind = nil
    }

    /// Sends a message, as far as the link carries it.
    mutating func send(
        _ message: Message, session: SessionID = .none, sequence: UInt64 = 0, to host: inout GatewayHost
    ) {
        guard var link = self.link, !link.isDead else { return }
        let bytes = Array(
            Codec.encode(Envelope(message, session: session, sequence: sequence)).bytes)
        let sent = bytes.prefix(link.toGateway)
        host.receive(Array(sent), on: link.id)
        link.toGateway -= sent.count
        link.isDead = link.toGateway == 0
        link.sentEnds.append((link.sentEnds.last ?? 0) + bytes.count)
        self.link = link
    }

    /// Reads what has come, as far as the link carries it, and answers.
    ///
    /// - Returns: Whether anything has come.
    mutating func pump(_ host: inout GatewayHost, at now: Instant) throws -> Bool {
        guard let link = self.link, !link.isDead else { return false }
        let (bytes, isEnded) = host.takeOutput(of: link.id, atMost: link.toPeer)
        self.link?.toPeer -= bytes.count
        self.link?.isDead = link.toPeer == bytes.count
        self.link?.splitter.append(bytes)
        while let frame = try self.link?.splitter.next() {
            let end = (self.link?.readEnds.last ?? 0) + frame.bytes.count
            self.link?.readEnds.append(end)
            try self.receive(frame, &host)
        }
        if isEnded { self.loseLink() }
        host.settle(at: now)
        return !bytes.isEmpty
    }

    // MARK: Messages

    private mutating func receive(_ frame: Frame, _ host: inout GatewayHost) throws {
        let envelope = try Codec.decode(frame)
        switch envelope.message {
        case .welcome(let welcome): self.welcome(welcome, &host)
        case .goodbye(let goodbye): self.goodbyes.append(goodbye.code)
        case .error(let rejection): self.faults.append("is told \(rejection)")
        case .ping(let nonce, _): self.send(.pong(nonce: nonce), to: &host)
        default:
            switch self.kind {
            case .endpoint: self.receiveAtEndpoint(envelope)
            case .client: self.receiveAtClient(envelope, &host)
            case .observer: self.receiveAtObserver(envelope.message)
            }
        }
    }

    private mutating func welcome(_ welcome: Welcome, _ host: inout GatewayHost) {
        self.token = welcome.resumptionToken
        self.isResumed = welcome.isResumed
        switch self.kind {
        case .endpoint:
            if !welcome.isResumed { self.forgetEverything() }
            if let openRequest { self.send(Self.request(openRequest), to: &host) }
        case .client: self.resumeSessions(welcome, &host)
        case .observer:
            if !welcome.isResumed { self.observed = ObservedGateway() }
            var observe = Observe()
            (observe.wantsState, observe.wantsEvents, observe.wantsFrames) = (true, true, true)
            observe.afterNumber = self.observed.number
            self.send(.observe(observe), to: &host)
        }
    }

    // MARK: An endpoint

    private static func request(_ id: Identifier) -> Message {
        .waypointRequest(WaypointRequest(requestID: id, waypoint: HostDrive.trip.destination))
    }

    /// Makes a request.
    mutating func ask(_ id: Identifier, _ host: inout GatewayHost) {
        self.openRequest = id
        self.send(Self.request(id), to: &host)
    }

    private mutating func leave() {
        self.session = .none
        self.cursor = 0
        self.drive.clear()
    }

    /// The gateway knows nothing of it: a request that it sent before has no other outcome.
    private mutating func forgetEverything() {
        self.leave()
        if let openRequest { self.outcomes[openRequest, default: []].insert(.gone) }
        self.openRequest = nil
    }

    private mutating func receiveAtEndpoint(_ envelope: Envelope) {
        switch envelope.message {
        case .snapshotBegin(let begin):
            if begin.kind == .full {
                self.leave()
                self.session = envelope.session
            }
            // Missed frames of something else are worth nothing.
            guard envelope.session == self.session else { return }
            if begin.kind == .missed, begin.fromSequence != self.cursor {
                self.faults.append("is told what is missing from \(begin.fromSequence), not \(self.cursor)")
            }
            (self.snapshotKind, self.snapshotEnd) = (begin.kind, begin.toSequence)
        case .snapshotEnd:
            guard envelope.session == self.session, self.snapshotKind != nil else { return }
            (self.snapshotKind, self.cursor) = (nil, self.snapshotEnd)
        case .publication(let publication):
            guard envelope.session == self.session else { return }
            if envelope.sequence <= self.cursor {
                self.faults.append("is sent \(envelope.sequence) after \(self.cursor)")
            }
            self.drive.apply(publication)
            if self.snapshotKind != .full { self.cursor = envelope.sequence }
        case .sessionEnded(let ended): if ended.session == self.session { self.leave() }
        case .requestOutcome(let outcome):
            self.outcomes[outcome.requestID, default: []].insert(outcome.outcome)
            if self.openRequest == outcome.requestID { self.openRequest = nil }
        default: break  // It tells nothing about what is held.
        }
    }

    // MARK: A client

    private mutating func resumeSessions(_ welcome: Welcome, _ host: inout GatewayHost) {
        for index in self.sessions.indices {
            if !welcome.isResumed { self.sessions[index].id = nil }
            if let id = self.sessions[index].id, self.sessions[index].end == nil {
                guard let found = welcome.sessions.first(where: { $0.session == id }) else {
                    self.faults.append("session \(id.rawValue) is missing in Welcome")
                    continue
                }
                self.sessions[index].sequence = Int(found.sequence)
                if found.phase == .ended { self.sessions[index].end = found.endReason }
            }
        }
        for index in self.sessions.indices where self.sessions[index].isWanted {
            guard self.sessions[index].end == nil else { continue }
            if self.sessions[index].id == nil {
                self.open(index, &host)
            } else {
                self.publish(index, &host)
            }
        }
    }

    private mutating func open(_ index: Int, _ host: inout GatewayHost) {
        let vehicle = self.sessions[index].vehicle
        self.send(
            .openSession(
                OpenSession(
                    requestID: Identifier(vehicle), vehicles: .vehicles([VehicleID(unchecked: vehicle)]))),
            to: &host)
    }

    /// Publishes what was not sent.
    mutating func publish(_ index: Int, _ host: inout GatewayHost) {
        guard let id = self.sessions[index].id else { return }
        while self.sessions[index].sequence < self.sessions[index].publications.count {
            let publication = self.sessions[index].publications[self.sessions[index].sequence]
            self.sessions[index].sequence += 1
            self.send(
                .publication(publication), session: id, sequence: UInt64(self.sessions[index].sequence),
                to: &host)
        }
    }

    private mutating func receiveAtClient(_ envelope: Envelope, _ host: inout GatewayHost) {
        switch envelope.message {
        case .sessionOpened(let opened):
            guard let index = self.sessions.firstIndex(where: { $0.vehicle == opened.requestID.rawValue })
            else { return }
            if self.sessions[index].id != nil { self.faults.append("is told of \(opened) again") }
            (self.sessions[index].id, self.sessions[index].sequence) = (opened.session, 0)
            self.publish(index, &host)
        case .sessionEnded(let ended):
            guard let index = self.sessions.firstIndex(where: { $0.id == ended.session }) else { return }
            self.sessions[index].end = ended.reason
        case .waypointRequest(let request):
            self.asked.append(request.requestID)
            guard let vehicle = request.vehicle else { return }
            let answer = RequestAnswer(
                requestID: request.requestID, vehicle: vehicle, answer: .decline(.busy))
            self.send(.requestAnswer(answer), session: envelope.session, to: &host)
        default: break  // It does not depend on it.
        }
    }

    // MARK: An observer

    private mutating func receiveAtObserver(_ message: Message) {
        let last = self.observed.number
        self.observed.apply(message) { frame in
            do { return try Codec.outline(of: frame) } catch { return nil }
        }
        switch message {
        case .observedRecords(let records) where records.number == 0: break
        case .observedRecords, .observedEvent, .observedFrames:
            if self.observed.number != last + 1 {
                self.faults.append("is told \(self.observed.number) after \(last)")
            }
        case .observationBegin, .observationGap:
            if self.observed.number < last { self.faults.append("begins after \(last) anew") }
        default: break  // It is not numbered.
        }
    }
}
