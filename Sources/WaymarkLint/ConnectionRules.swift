internal import WaymarkHistory
internal import WaymarkProtocol

/// LINT-RESUME-CURSOR.
struct ResumeCursorRule: LintRule {
    /// What an endpoint holds (REQ-RESUME-04).
    private struct Held {
        var session: SessionID
        /// 0 within a full snapshot.
        var cursor: UInt64
        /// Of a full snapshot that has not ended.
        var snapshotEnd: UInt64?
    }

    private var held: [PeerID: Held] = [:]
    private var tokens: [PeerID: ResumptionToken] = [:]

    mutating func see(_ step: LintStep, _ world: LintWorld, _ context: inout LintContext) {
        switch step {
        case .message(let peer, .toPeer, let message, let header) where peer.vehicle != nil:
            self.receive(message, header, peer)
        case .unknown(let peer, .toPeer, let header): self.receive(header, peer)
        case .message(let peer, .toGateway, .hello(let hello), _):
            // What a fault has changed on the way to it may have had another number.
            if !world.isDisturbed(peer) { self.judge(hello, peer, &context) }
        default: break
        }
    }

    private mutating func receive(_ message: Message, _ header: FrameHeader, _ peer: PeerID) {
        switch message {
        case .welcome(let welcome):
            self.tokens[peer] = welcome.resumptionToken
            if !welcome.isResumed { self.held[peer] = nil }
        case .snapshotBegin(let begin) where begin.kind == .full:
            self.held[peer] = Held(session: header.session, cursor: 0, snapshotEnd: begin.toSequence)
        case .snapshotEnd:
            guard let end = self.held[peer]?.snapshotEnd else { return }
            self.held[peer]?.cursor = end
            self.held[peer]?.snapshotEnd = nil
        case .publication(.finishGuidance), .publication(.cancelGuidance):
            if self.held[peer]?.session == header.session { self.held[peer] = nil }
        case .sessionEnded(let ended):
            if ended.session == .none || ended.session == self.held[peer]?.session { self.held[peer] = nil }
        case .publication: self.receive(header, peer)
        default: break
        }
    }

    private mutating func receive(_ header: FrameHeader, _ peer: PeerID) {
        guard MessageType.published.contains(header.rawType), let held = self.held[peer],
            held.session == header.session, held.snapshotEnd == nil
        else { return }
        self.held[peer]?.cursor = header.sequence
    }

    private func judge(_ hello: Hello, _ peer: PeerID, _ context: inout LintContext) {
        // Another token is for another rule; observers are not told tokens: they see 0.
        guard let token = self.tokens[peer], hello.resumptionToken == token,
            token != ResumptionToken(high: 0, low: 0), let held = self.held[peer], held.cursor > 0
        else { return }
        guard hello.resumeSession != held.session || hello.resumeSequence != held.cursor else { return }
        context.find(
            .resumeCursor, peer, held.session, field: "resume_sequence",
            values: [("resumes", "\(hello.resumeSequence)"), ("holds", "\(held.cursor)")],
            "\(peer) resumes session \(hello.resumeSession.rawValue) at \(hello.resumeSequence), "
                + "and holds session \(held.session.rawValue) up to \(held.cursor)")
    }
}

/// LINT-PROMPT-UNASKED.
struct PromptUnaskedRule: LintRule {
    /// How long an answer may be under way.
    private static let lateMax = Duration.seconds(1)
    /// How many prompts are remembered for each endpoint.
    private static let promptsMax = 64

    private struct Asked {
        let request: Identifier
        var over: Instant?
        /// On this connection; after a lost one an answer is repeated.
        var answers = 0
        /// A connection was lost since, so an answer may be repeated.
        var isRepeatable = false
    }

    /// Oldest first.
    private var asked: [PeerID: [Asked]] = [:]

    mutating func see(_ step: LintStep, _ world: LintWorld, _ context: inout LintContext) {
        switch step {
        case .message(let peer, .toPeer, .prompt(let prompt), _): self.ask(prompt.requestID, peer)
        case .message(let peer, .toPeer, .promptOver(let over), _):
            self.change(over.requestID, peer) { $0.over = $0.over ?? context.instant }
        case .message(let peer, .toGateway, .promptAnswer(let answer), _):
            // What was lost with a connection is told after its end.
            guard world.isConnected(peer) else { return }
            self.judge(answer.requestID, peer, &context)
        case .connection(let peer, .ended):
            guard var asked = self.asked[peer] else { return }
            for index in asked.indices {
                asked[index].isRepeatable = true
                asked[index].answers = 0
            }
            self.asked[peer] = asked
        default: break
        }
    }

    private mutating func ask(_ request: Identifier, _ peer: PeerID) {
        var asked = self.asked[peer, default: []]
        if let index = asked.firstIndex(where: { $0.request == request }) {
            asked[index].answers = 0
        } else {
            asked.append(Asked(request: request))
            if asked.count > Self.promptsMax { asked.removeFirst() }
        }
        self.asked[peer] = asked
    }

    private mutating func change(_ request: Identifier, _ peer: PeerID, _ body: (inout Asked) -> Void) {
        guard var asked = self.asked[peer], let index = asked.firstIndex(where: { $0.request == request })
        else { return }
        body(&asked[index])
        self.asked[peer] = asked
    }

    private mutating func judge(_ request: Identifier, _ peer: PeerID, _ context: inout LintContext) {
        let asked = self.asked[peer]?.first { $0.request == request }
        self.change(request, peer) { $0.answers += 1 }
        let reason: String
        if let asked {
            // The answer of before a lost connection may be repeated beside another one.
            if asked.answers > (asked.isRepeatable ? 1 : 0) {
                reason = "again"
            } else if let over = asked.over, !asked.isRepeatable, context.instant - over > Self.lateMax {
                reason = "\((context.instant - over).milliseconds) ms after it was over"
            } else {
                return
            }
        } else {
            reason = "and was not asked"
        }
        context.find(
            .promptUnasked, peer, .none, field: "request_id", values: [("request", request.rawValue)],
            "\(peer) answers the prompt \(request) \(reason)")
    }
}

/// LINT-PEER-SILENT.
struct PeerSilentRule: LintRule {
    /// The gateway sends a Ping after one and a half intervals without a frame; some of it is for the way.
    private static let intervalsMax = 1.4

    private struct Peer {
        let interval: Duration
        var last: Instant
        var isTold = false
    }

    private var peers: [PeerID: Peer] = [:]

    mutating func see(_ step: LintStep, _ world: LintWorld, _ context: inout LintContext) {
        switch step {
        case .message(let peer, .toPeer, .welcome(let welcome), _):
            self.peers[peer] = Peer(
                interval: .milliseconds(welcome.keepaliveMilliseconds), last: context.instant)
        case .message(let peer, .toPeer, .ping, _): self.judge(peer, &context)
        case .connection(let peer, .ended): self.peers[peer] = nil
        case .message(let peer, .toGateway, _, _), .unknown(let peer, .toGateway, _),
            .published(_, let peer, _), .misplaced(_, let peer), .malformed(_, let peer, _, _):
            self.peers[peer]?.last = context.instant
        default: break
        }
    }

    private mutating func judge(_ peer: PeerID, _ context: inout LintContext) {
        guard let known = self.peers[peer], !known.isTold,
            context.instant - known.last > known.interval * Self.intervalsMax
        else { return }
        self.peers[peer]?.isTold = true
        context.find(
            .peerSilent, peer, .none, values: [("interval", "\(known.interval.milliseconds) ms")],
            "\(peer) sent nothing for \((context.instant - known.last).milliseconds) ms, "
                + "and must send something every \(known.interval.milliseconds) ms")
    }
}

/// LINT-ANSWER-TWICE.
struct AnswerTwiceRule: LintRule {
    /// How many requests are remembered.
    private static let requestsMax = 1_024

    private struct Asked {
        let client: PeerID
        let vehicle: VehicleID
        let request: Identifier
        var answer: RequestAnswer.Answer?
    }

    /// Oldest first.
    private var asked: [Asked] = []

    mutating func see(_ step: LintStep, _ world: LintWorld, _ context: inout LintContext) {
        switch step {
        case .message(let client, .toPeer, .waypointRequest(let request), _):
            self.ask(client, request.vehicle, request.requestID)
        case .message(let client, .toPeer, .destinationRequest(let request), _):
            self.ask(client, request.vehicle, request.requestID)
        case .message(let client, .toPeer, .startTripRequest(let request), _):
            self.ask(client, request.vehicle, request.requestID)
        case .message(let client, .toGateway, .requestAnswer(let answer), _):
            self.judge(answer, client, &context)
        case .connection(let client, .ended):
            // An answer may have been lost with it.
            for index in self.asked.indices where self.asked[index].client == client {
                self.asked[index].answer = nil
            }
        default: break
        }
    }

    private func index(_ client: PeerID, _ vehicle: VehicleID, _ request: Identifier) -> Int? {
        self.asked.lastIndex { $0.client == client && $0.vehicle == vehicle && $0.request == request }
    }

    private mutating func ask(_ client: PeerID, _ vehicle: VehicleID?, _ request: Identifier) {
        guard case .client = client, let vehicle else { return }
        if let index = self.index(client, vehicle, request) { self.asked.remove(at: index) }
        self.asked.append(Asked(client: client, vehicle: vehicle, request: request))
        if self.asked.count > Self.requestsMax { self.asked.removeFirst() }
    }

    private mutating func judge(_ answer: RequestAnswer, _ client: PeerID, _ context: inout LintContext) {
        guard let index = self.index(client, answer.vehicle, answer.requestID) else {
            return self.tell(answer, client, "and was not asked", &context)
        }
        let asked = self.asked[index]
        self.asked[index].answer = answer.answer
        if let before = asked.answer, !answer.answer.follows(before) {
            self.tell(answer, client, "again", &context)
        }
    }

    private func tell(
        _ answer: RequestAnswer, _ client: PeerID, _ how: String, _ context: inout LintContext
    ) {
        context.find(
            .answerTwice, client, .none, field: "request_id",
            values: [("request", answer.requestID.rawValue), ("vehicle", answer.vehicle.rawValue)],
            "\(client) answers the request \(answer.requestID) of \(answer.vehicle) \(how)")
    }
}

extension RequestAnswer.Answer {
    /// Only a user who is asked may answer later.
    fileprivate func follows(_ before: RequestAnswer.Answer) -> Bool {
        guard before == .ownPrompt else { return false }
        return switch self {
        case .accept, .decline: true
        case .estimates, .ownPrompt, .acceptWithPreview: false
        }
    }
}
