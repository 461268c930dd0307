package import WaymarkHistory
package import WaymarkProtocol

/// `outcome o within d`: the step's request ends with o.
struct OutcomeWord: Expectation {
    let outcome: Outcome
    let of: PeerSelector
    let head: WordHead
    private var request: RequestTrail

    var deadline: Instant? { self.head.deadline }

    init(_ outcome: Outcome, of: PeerSelector, _ head: WordHead, after request: RequestTrail) {
        (self.outcome, self.of, self.head, self.request) = (outcome, of, head, request)
    }

    /// The outcome may have come before the anchor.
    mutating func begin(in history: History) -> Verdict? {
        for entry in history.entries[(self.request.index + 1)...].prefix(while: {
            $0.index <= self.head.anchor.index
        }) {
            guard let verdict = self.see(entry, in: history) else { continue }
            if case .passed = verdict { return self.head.passed(at: self.head.anchor.instant) }
            return verdict
        }
        return nil
    }

    mutating func see(_ entry: History.Entry, in history: History) -> Verdict? {
        guard let seen = self.request.outcome(entry, of: self.of) else { return nil }
        guard seen != self.outcome else { return self.head.passed(at: entry.instant) }
        let difference = FieldDifference("outcome", expected: "\(self.outcome)", seen: "\(seen)")
        return self.head.failed(at: entry.instant, Nearest(index: entry.index, differences: [difference]))
    }

    func end(at instant: Instant, in history: History) -> Verdict { self.head.failed(at: instant, nil) }
}

/// The request that a step made.
struct RequestTrail: Sendable {
    /// The step's entry; -1: the first request of the run.
    let index: Int
    /// As the scenario names it, or as it was sent.
    private var id: Identifier?
    /// The peer that has sent it; nil: none yet.
    private var sender: PeerID?

    init(after index: Int, id: String? = nil) {
        self.index = index
        self.id = id.map { Identifier($0) }
    }

    /// The outcome that the peer gets with this entry.
    fileprivate mutating func outcome(_ entry: History.Entry, of peers: PeerSelector) -> Outcome? {
        guard case .frame(let frame) = entry.kind, peers.contains(frame.peer) else { return nil }
        switch (frame.way, frame.message) {
        case (.toGateway, .waypointRequest(let request)): self.sent(request.requestID, by: frame.peer)
        case (.toGateway, .destinationRequest(let request)): self.sent(request.requestID, by: frame.peer)
        case (.toGateway, .startTripRequest(let request)): self.sent(request.requestID, by: frame.peer)
        case (.toPeer, .requestOutcome(let outcome)) where frame.delivery != .dropped:
            if outcome.requestID == self.id { return outcome.outcome }
        // The gateway does not know the peer: what it has sent gets no outcome any more.
        case (.toPeer, .welcome(let welcome)) where frame.delivery != .dropped && !welcome.isResumed:
            if frame.peer == self.sender { return .gone }
        default: break
        }
        return nil
    }

    private mutating func sent(_ id: Identifier, by peer: PeerID) {
        self.id = self.id ?? id
        if id == self.id { self.sender = peer }
    }
}

/// `ended r within d`: the session of an endpoint, or the drive of a client, ended with r. Without a time: at the end of the run.
struct EndedWord: Expectation {
    let reason: SessionEndReason
    let of: PeerSelector
    let head: WordHead
    private var trail: EndingTrail

    var deadline: Instant? { self.head.deadline }

    init(_ reason: SessionEndReason, of: PeerSelector, _ head: WordHead, _ trail: EndingTrail) {
        (self.reason, self.of, self.head, self.trail) = (reason, of, head, trail)
    }

    func begin(in history: History) -> Verdict? {
        guard self.head.deadline != nil, let end = self.trail.end, end.reason == self.reason else {
            return nil
        }
        return self.head.passed(at: self.head.anchor.instant)
    }

    mutating func see(_ entry: History.Entry, in history: History) -> Verdict? {
        guard self.trail.see(entry), self.head.deadline != nil, let end = self.trail.end else { return nil }
        return end.reason == self.reason
            ? self.head.passed(at: entry.instant) : self.failed(at: entry.instant)
    }

    func end(at instant: Instant, in history: History) -> Verdict {
        guard self.head.deadline == nil, let end = self.trail.end, end.reason == self.reason else {
            return self.failed(at: instant)
        }
        return .passed(at: end.instant, margin: nil)
    }

    private func failed(at instant: Instant) -> Verdict {
        guard let end = self.trail.end else { return self.head.failed(at: instant, nil) }
        let difference = FieldDifference("ended", expected: "\(self.reason)", seen: "\(end.reason)")
        return self.head.failed(at: instant, Nearest(index: end.index, differences: [difference]))
    }
}

/// How the last session of a peer ended.
package struct EndingTrail: Sendable {
    package struct End: Sendable {
        package let reason: SessionEndReason
        let index: Int
        let instant: Instant
    }

    let of: PeerSelector
    /// nil: there was none, or a new session began since.
    package private(set) var end: End?
    private var session = SessionID.none

    package init(_ of: PeerSelector) { self.of = of }

    /// Whether a session ended with this entry.
    package mutating func see(_ entry: History.Entry) -> Bool {
        guard case .frame(let frame) = entry.kind, frame.delivery != .dropped, self.of.contains(frame.peer),
            let envelope = frame.envelope
        else { return false }
        switch (envelope.message, frame.way) {
        case (.sessionOpened(let opened), .toPeer): self.begin(opened.session)
        case (.snapshotBegin, .toPeer): self.begin(envelope.session)
        case (.sessionEnded(let ended), .toPeer):
            guard self.session != .none, ended.session == self.session || ended.session == .none else {
                return false
            }
            return self.finish(ended.reason, entry)
        case (.publication(.finishGuidance), _) where envelope.session == self.session:
            return self.finish(.finished, entry)
        case (.publication(.cancelGuidance), _) where envelope.session == self.session:
            return self.finish(.cancelledByClient, entry)
        default: break
        }
        return false
    }

    private mutating func begin(_ session: SessionID) { (self.session, self.end) = (session, nil) }

    private mutating func finish(_ reason: SessionEndReason, _ entry: History.Entry) -> Bool {
        self.session = .none
        self.end = End(reason: reason, index: entry.index, instant: entry.instant)
        return true
    }
}
