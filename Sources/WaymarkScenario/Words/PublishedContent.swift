internal import ExpectedState
internal import WaymarkHistory
internal import WaymarkProtocol

/// What clients have published, as far as the gateway has accepted it, and what endpoints hold of it.
struct PublishedContent: Sendable {
    /// What one client has published into one session.
    fileprivate struct Session: Sendable {
        let client: ClientID
        /// Accepted.
        var drive = DriveState()
        /// How often it changed.
        var version = 0
        /// Sent, and neither acknowledged nor rejected, by number.
        var pending: [(sequence: UInt64, publication: Publication?)] = []
        var acknowledged: UInt64 = 0
        /// Something was published.
        var hasContent = false
        /// Publications were lost, and nothing was published since.
        var owes = false
    }

    /// What one endpoint has received.
    fileprivate struct Endpoint: Sendable {
        var fitting = ExpectedFitting()
        var granted = FeatureSet()
        var session = SessionID.none
        var drive = DriveState()
        var isInSnapshot = false
        var awaitsMore = false
        var isOutOfRoom = false
        var withheld = FeatureSet()

        /// What it must get.
        var expected: ExpectedFitting {
            var fitting = self.fitting
            fitting.features = Set(self.granted.subtracting(self.withheld))
            return self.isOutOfRoom ? fitting.bare : fitting
        }
    }

    private var sessions: [SessionID: Session] = [:]
    private var connected: Set<ClientID> = []
    private var endpoints: [PeerID: Endpoint] = [:]
    private var fitted: Fitted?

    /// What was fitted last. Why it is kept: thinning a long line takes long, and most entries change nothing of it.
    private struct Fitted: Sendable {
        let session: SessionID
        let version: Int
        let fitting: ExpectedFitting
        let drive: DriveState
    }

    /// Whether the entry may have changed what is published or held.
    mutating func see(_ entry: History.Entry) -> Bool {
        switch entry.kind {
        case .connection(.client(let client), .admitted): self.connected.insert(client)
        case .connection(.client(let client), .ended): self.connected.remove(client)
        case .connection(let peer, .ended): self.endpoints[peer]?.isInSnapshot = false
        case .frame(let frame):
            switch frame.peer {
            case .client(let client): self.see(frame, of: client)
            case .endpoint:
                guard frame.delivery != .dropped else { return false }
                self.endpoints[frame.peer, default: Endpoint()].see(frame)
            }
        default: return false
        }
        return true
    }

    private mutating func see(_ frame: CrossedFrame, of client: ClientID) {
        let header = frame.frame.header
        if frame.way == .toGateway {
            guard MessageType.published.contains(header.rawType) else { return }
            var publication: Publication?
            if case .publication(let sent)? = frame.message { publication = sent }
            self.sessions[header.session, default: Session(client: client)].send(header.sequence, publication)
            return
        }
        guard frame.delivery != .dropped else { return }
        switch frame.message {
        case .acknowledgement(let sequence): self.sessions[header.session]?.acknowledge(sequence)
        case .error(let rejection):
            self.sessions[rejection.session]?.pending.removeAll { $0.sequence == rejection.sequence }
        case .welcome(let welcome):
            for session in welcome.sessions {
                self.sessions[session.session]?.resume(after: session.sequence)
            }
        default: break
        }
    }

    /// What one endpoint holds, beside what it should.
    private enum Comparison {
        /// Something else comes first.
        case incomplete(FieldDifference)
        case whole(expected: DriveState, held: DriveState)
    }

    /// Whether an endpoint holds what its client has published.
    mutating func isHeld(by endpoint: PeerID) -> Bool {
        guard case .whole(let expected, let held) = self.compare(endpoint) else { return false }
        return expected == held || expected.differences(from: held).isEmpty
    }

    /// What keeps an endpoint from holding what its client has published; empty if nothing does.
    mutating func differences(of endpoint: PeerID) -> [FieldDifference] {
        switch self.compare(endpoint) {
        case .incomplete(let difference): [difference]
        case .whole(let expected, let held):
            expected.differences(from: held).flatMap(DifferingFields.of)
        }
    }

    private mutating func compare(_ endpoint: PeerID) -> Comparison {
        guard let held = self.endpoints[endpoint], held.session != .none else {
            return .incomplete(FieldDifference("session", expected: "one", seen: "none"))
        }
        guard let session = self.sessions[held.session], session.hasContent else {
            return .incomplete(FieldDifference("published", expected: "something", seen: "nothing"))
        }
        guard self.connected.contains(session.client), session.pending.isEmpty, !session.owes else {
            return .incomplete(
                FieldDifference("unacknowledged", expected: "nothing", seen: "\(session.pending.count)"))
        }
        guard !held.isInSnapshot, !held.awaitsMore else {
            return .incomplete(FieldDifference("snapshot", expected: "whole", seen: "a part"))
        }
        return .whole(expected: self.fit(session, held), held: held.drive)
    }

    private mutating func fit(_ session: Session, _ held: Endpoint) -> DriveState {
        let fitting = held.expected
        if let fitted, fitted.session == held.session, fitted.version == session.version,
            fitted.fitting == fitting
        {
            return fitted.drive
        }
        let drive = fitting.apply(to: session.drive)
        self.fitted = Fitted(session: held.session, version: session.version, fitting: fitting, drive: drive)
        return drive
    }
}

extension PublishedContent.Session {
    fileprivate mutating func send(_ sequence: UInt64, _ publication: Publication?) {
        (self.hasContent, self.owes) = (true, false)
        guard sequence > self.acknowledged else { return }
        // A number that is sent again may have another content.
        self.pending.removeAll { $0.sequence == sequence }
        self.pending.append((sequence, publication))
    }

    fileprivate mutating func acknowledge(_ sequence: UInt64) {
        self.acknowledged = max(self.acknowledged, sequence)
        for (number, publication) in self.pending where number <= sequence {
            guard let publication else { continue }
            self.drive.apply(publication)
            self.version += 1
        }
        self.pending.removeAll { $0.sequence <= sequence }
    }

    /// The client is welcomed again: what the gateway does not know is sent again, or published anew.
    fileprivate mutating func resume(after sequence: UInt64) {
        self.acknowledge(sequence)
        self.owes = !self.pending.isEmpty
        self.pending = []
    }
}

extension PublishedContent.Endpoint {
    fileprivate mutating func see(_ frame: CrossedFrame) {
        guard let envelope = frame.envelope else { return }
        switch envelope.message {
        case .hello(let hello): self.begin(hello)
        case .welcome(let welcome):
            for grant in welcome.features where grant.withheld != nil { self.granted.remove(grant.feature) }
            if !welcome.isResumed { self.leave() }
        case .snapshotBegin(let begin):
            self.withheld = FeatureSet(begin.withheld.filter { $0.withheld != nil }.map(\.feature))
            self.isOutOfRoom = begin.withheld.contains { $0.withheld == .noCapacity }
            if begin.kind == .full { self.leave() }
            (self.session, self.isInSnapshot) = (envelope.session, true)
        case .snapshotEnd: self.isInSnapshot = false
        case .sessionEnded(let ended):
            if ended.session == self.session || ended.session == .none { self.leave() }
        case .publication(let publication) where envelope.session == self.session:
            self.awaitsMore = envelope.flags.contains(.more)
            self.drive.apply(publication)
            switch publication {
            case .finishGuidance, .cancelGuidance: self.leave()
            default: break
            }
        default: break
        }
    }

    private mutating func begin(_ hello: Hello) {
        guard let vehicle = hello.vehicle else { return }
        self.granted = vehicle.features
        self.fitting.limits = vehicle.limits
        self.fitting.receiveFrameBytesMax = vehicle.receiveFrameBytesMax
        self.fitting.units = vehicle.preferences.distanceUnits
        self.fitting.features = Set(vehicle.features)
    }

    private mutating func leave() {
        (self.session, self.isInSnapshot, self.awaitsMore) = (.none, false, false)
        let fitting = self.expected
        self.drive = DriveState(
            maneuversMax: fitting.maneuversMax, laneGuidancesMax: fitting.laneGuidancesMax)
    }
}

/// `holds-what-was-published within d`: nothing is unacknowledged, and the endpoint holds the client's content, fitted to its profile.
struct HoldsWord: Expectation {
    let endpoint: PeerID
    let head: WordHead
    private var content: PublishedContent

    var deadline: Instant? { self.head.deadline }

    init(_ endpoint: PeerID, _ head: WordHead, _ content: PublishedContent) {
        (self.endpoint, self.head, self.content) = (endpoint, head, content)
    }

    mutating func begin() -> Verdict? {
        self.content.isHeld(by: self.endpoint)
            ? self.head.passed(at: self.head.anchor.instant) : nil
    }

    mutating func see(_ entry: History.Entry, in history: History) -> Verdict? {
        guard self.content.see(entry), self.content.isHeld(by: self.endpoint) else { return nil }
        return self.head.passed(at: entry.instant)
    }

    mutating func end(at instant: Instant, in history: History) -> Verdict {
        let last = history.count(upTo: min(instant, self.head.deadline ?? instant)) - 1
        let differences = self.content.differences(of: self.endpoint)
        return self.head.failed(at: instant, last < 0 ? nil : Nearest(index: last, differences: differences))
    }
}
