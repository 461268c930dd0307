internal import WaymarkGateway
internal import WaymarkModel
internal import WaymarkProtocol

/// An endpoint without limits: keeps the newest value of everything, and watches over what it is sent.
struct SimulatedEndpoint {
    let path: EndpointPath
    var connection: ConnectionID?
    var token: ResumptionToken?
    /// What waits between the gateway and this endpoint.
    var outbox = Outbox(limits: .init())
    /// It reads nothing.
    var isStalled = false
    private(set) var session = SessionID.none
    private(set) var sequence: UInt64 = 0
    private(set) var held: [ConflationKey: Publication] = [:]
    private(set) var outcomes: [String: Outcome] = [:]
    private var ended: Set<SessionID> = []
    var requests: [String] = []
    private(set) var violations: [String] = []

    init(path: EndpointPath) { self.path = path }

    /// The gateway has gone: its session ids mean nothing any more.
    mutating func forgetGateway() {
        self.ended = []
        self.session = .none
        self.held = [:]
        self.token = nil
    }

    mutating func receive(_ envelope: Envelope) {
        if envelope.session != .none, self.ended.contains(envelope.session) {
            self.violations.append(
                "\(envelope.message.type) of session \(envelope.session.rawValue) after its end")
        }
        switch envelope.message {
        case .snapshotBegin(let begin): self.begin(begin, envelope)
        case .sessionEnded(let end): self.end(end.session)
        case .requestOutcome(let outcome) where self.requests.contains(outcome.requestID):
            if let old = self.outcomes[outcome.requestID], old != outcome.outcome {
                self.violations.append("\(outcome.requestID) ended as \(old) and as \(outcome.outcome)")
            }
            self.outcomes[outcome.requestID] = outcome.outcome
        case .publication(let publication): self.take(publication, envelope)
        default: break  // Nothing to hold.
        }
    }

    private mutating func begin(_ begin: SnapshotBegin, _ envelope: Envelope) {
        if self.session != .none, self.session != envelope.session {
            self.violations.append(
                "session \(envelope.session.rawValue) begins before \(self.session.rawValue) ended")
        }
        if begin.kind == .full {
            self.held = [:]
            self.sequence = 0
        }
        self.session = envelope.session
    }

    private mutating func end(_ session: SessionID) {
        guard session == self.session else { return }
        self.ended.insert(session)
        self.session = .none
        self.held = [:]
    }

    private mutating func take(_ publication: Publication, _ envelope: Envelope) {
        if envelope.session != self.session {
            self.violations.append("\(publication.type) of a session that never began")
        }
        if envelope.sequence <= self.sequence {
            self.violations.append("number \(envelope.sequence) after \(self.sequence)")
        }
        self.sequence = envelope.sequence
        SimulatedRoute.apply(publication, to: &self.held)
        if publication.type == .finishGuidance || publication.type == .cancelGuidance {
            self.end(self.session)
        }
    }
}

/// What both ends of the simulation hold of a session.
enum SimulatedRoute {
    /// Takes a publication over into what is held.
    static func apply(_ publication: Publication, to held: inout [ConflationKey: Publication]) {
        switch publication {
        case .startGuidance: held = [ConflationKey(type: .startGuidance): publication]
        case .resumeGuidance(_, _, .some):
            let start = held[ConflationKey(type: .startGuidance)]
            let road = held[ConflationKey(type: .currentRoadName)]
            held = [ConflationKey(type: .resumeGuidance): publication]
            held[ConflationKey(type: .startGuidance)] = start
            held[ConflationKey(type: .currentRoadName)] = road
        case .pauseGuidance:
            held[ConflationKey(type: .pauseGuidance)] = publication
            held[ConflationKey(type: .updateManeuverState)] = nil
        case .finishGuidance, .cancelGuidance: held = [:]
        default: if let key = publication.outline.conflationKey { held[key] = publication }
        }
        if case .resumeGuidance = publication { held[ConflationKey(type: .pauseGuidance)] = nil }
    }
}
