internal import WaymarkProtocol

/// What an endpoint has to say, and what of it is said again after a connection was lost.
///
/// | kind | after a loss |
/// |---|---|
/// | waypoint and destination requests, their withdrawal | again, until the outcome: the id makes it one request |
/// | cancelling | again, until SessionEnded; navigating by itself also to a gateway that has forgotten this endpoint |
/// | allowing, route source, settings | again once if it may have been lost; the newest only |
/// | route source, settings | all of it to a gateway that has forgotten this endpoint |
/// | answers to prompts and shares | again once, to a gateway that still has the question |
/// | answers to alerts | only if not sent yet, to a gateway that still has the alert: the client may act on each |
/// | zoom, receipts | never: they are about the moment |
struct EndpointOutbox: Sendable, Hashable {
    /// Entries of one kind that wait for a connection, over which the oldest is forgotten.
    static let kindMax = 16

    /// Of two entries with the same key only the newer one is kept.
    fileprivate enum Key: Sendable, Hashable {
        case request(String)
        case withdrawal(String)
        case cancellation(CancelReason)
        case allowance
        case routeSource
        case settings
        case promptAnswer(String)
        case shareAnswer(String)
        case alertResponse
        case zoom
        case receipt
    }

    private struct Entry: Sendable, Hashable {
        var key: Key
        var envelope: Envelope
        var isWaiting = true
        var timesSent = 0
    }

    private var entries: [Entry] = []
    private var settings = DisplaySettings()
    private var routeSource: UpdateRouteSource?
    private var navigatesItself = false

    /// Puts a message behind the others.
    mutating func send(_ envelope: Envelope) {
        guard let key = envelope.message.outboxKey else { return }
        var envelope = envelope
        switch envelope.message {
        case .vehicleSettings(let change):
            // Merged with what was said before: which of it has arrived is not known.
            var merged = DisplaySettings(change)
            merged.fillGaps(from: self.settings)
            self.settings = merged
            envelope.message = .vehicleSettings(merged.message)
        case .updateRouteSource(let update): self.routeSource = update
        case .cancelNavigation(.ownNavigationStarted): self.navigatesItself = true
        case .allowNavigation: self.navigatesItself = false
        default: break  // The others are entries only.
        }
        if key.isUnique { self.entries.removeAll { $0.key == key } }
        self.entries.append(Entry(key: key, envelope: envelope))
        let kind = self.entries.indices.filter { self.entries[$0].key.isSameKind(as: key) }
        if kind.count > Self.kindMax, !key.isKeptUntilAnswered { self.entries.remove(at: kind[0]) }
    }

    /// Takes a request back that was never sent.
    ///
    /// - Returns: false if it was sent, or is not there: the gateway must be told then.
    mutating func takeBack(_ request: String) -> Bool {
        guard let index = self.entries.firstIndex(where: { $0.key == .request(request) && $0.timesSent == 0 })
        else { return false }
        self.entries.remove(at: index)
        return true
    }

    /// What is to be sent now, oldest first.
    mutating func takeAll() -> [Envelope] {
        var taken: [Envelope] = []
        for index in self.entries.indices where self.entries[index].isWaiting {
            taken.append(self.entries[index].envelope)
            self.entries[index].isWaiting = false
            self.entries[index].timesSent += 1
        }
        self.entries.removeAll { !$0.isWaiting && !$0.key.isRepeated }
        return taken
    }

    /// The gateway has said something: what it answers need not be said again.
    mutating func received(_ message: Message) {
        switch message {
        case .requestOutcome(let outcome):
            self.forgetRequest(outcome.requestID)
            if outcome.outcome == .accepted { self.navigatesItself = false }
        // Nobody guides a vehicle that navigates by itself: somebody else has allowed it.
        case .snapshotBegin: self.navigatesItself = false
        case .error(let rejection):
            self.forgetRequest(rejection.requestID)
            // This endpoint may not speak for its vehicle, and the gateway says so each time.
            if rejection.deniesRequests {
                self.entries.removeAll { $0.key.isKeptUntilAnswered }
                self.navigatesItself = false
            }
        case .promptOver(let over): self.entries.removeAll { $0.key == .promptAnswer(over.requestID) }
        case .sessionEnded(let ended):
            self.forgetSession()
            // Also when a snapshot was on its way at the same time.
            if self.entries.contains(where: { $0.key == .cancellation(.ownNavigationStarted) }) {
                self.navigatesItself = true
            }
            // An `allow` is no answer to a later "I navigate myself" of another endpoint.
            self.entries.removeAll { entry in
                switch entry.key {
                case .cancellation: true
                case .allowance: ended.reason == .ownNavigationStarted && !entry.isWaiting
                case .request, .withdrawal, .routeSource, .settings, .promptAnswer, .shareAnswer,
                    .alertResponse, .zoom, .receipt:
                    false
                }
            }
        case .publication(.finishGuidance), .publication(.cancelGuidance): self.forgetSession()
        default: break  // Answers nothing.
        }
    }

    /// A new connection is there, before anything is sent on it.
    mutating func welcome(isResumed: Bool) {
        self.entries.removeAll { $0.key.isMomentary || ($0.timesSent > 1 && !$0.key.isKeptUntilAnswered) }
        for index in self.entries.indices { self.entries[index].isWaiting = true }
        guard !isResumed else { return }
        self.entries.removeAll { $0.key.isAnswer || $0.key == .settings || $0.key == .routeSource }
        // Session ids mean nothing to another gateway.
        for index in self.entries.indices { self.entries[index].envelope.session = .none }
        if self.settings != DisplaySettings() { self.send(Envelope(.vehicleSettings(self.settings.message))) }
        if let routeSource { self.send(Envelope(.updateRouteSource(routeSource))) }
        if self.navigatesItself { self.send(Envelope(.cancelNavigation(.ownNavigationStarted))) }
    }

    private mutating func forgetRequest(_ id: String) {
        self.entries.removeAll { $0.key == .request(id) || $0.key == .withdrawal(id) }
    }

    private mutating func forgetSession() {
        self.routeSource = nil
        self.entries.removeAll {
            switch $0.key {
            case .routeSource, .shareAnswer, .alertResponse, .zoom, .receipt: true
            case .request, .withdrawal, .cancellation, .allowance, .settings, .promptAnswer: false
            }
        }
    }
}

extension EndpointOutbox.Key {
    fileprivate var isUnique: Bool {
        switch self {
        case .request, .withdrawal, .cancellation, .allowance, .routeSource, .settings, .promptAnswer,
            .shareAnswer, .receipt:
            true
        case .alertResponse, .zoom: false
        }
    }

    /// Sent again on every new connection.
    fileprivate var isKeptUntilAnswered: Bool {
        switch self {
        case .request, .withdrawal, .cancellation: true
        case .allowance, .routeSource, .settings, .promptAnswer, .shareAnswer, .alertResponse, .zoom,
            .receipt:
            false
        }
    }

    /// Sent again after it was sent.
    fileprivate var isRepeated: Bool {
        switch self {
        case .request, .withdrawal, .cancellation, .allowance, .routeSource, .settings, .promptAnswer,
            .shareAnswer:
            true
        case .alertResponse, .zoom, .receipt: false
        }
    }

    fileprivate var isMomentary: Bool { self == .zoom || self == .receipt }

    /// Answers a question that a gateway without memory never asked.
    fileprivate var isAnswer: Bool {
        switch self {
        case .promptAnswer, .shareAnswer, .alertResponse: true
        case .request, .withdrawal, .cancellation, .allowance, .routeSource, .settings, .zoom, .receipt:
            false
        }
    }

    fileprivate func isSameKind(as other: EndpointOutbox.Key) -> Bool {
        switch (self, other) {
        case (.request, .request), (.withdrawal, .withdrawal), (.promptAnswer, .promptAnswer),
            (.shareAnswer, .shareAnswer):
            true
        default: self == other  // The others have one key for all.
        }
    }
}

extension Message {
    /// nil for what no endpoint sends by this way.
    fileprivate var outboxKey: EndpointOutbox.Key? {
        switch self {
        case .waypointRequest(let request): .request(request.requestID)
        case .destinationRequest(let request): .request(request.requestID)
        case .withdrawRequest(let request): .withdrawal(request.requestID)
        case .cancelNavigation(let reason): .cancellation(reason)
        case .allowNavigation: .allowance
        case .updateRouteSource: .routeSource
        case .vehicleSettings: .settings
        case .promptAnswer(let answer): .promptAnswer(answer.requestID)
        case .destinationShareAnswer(let answer): .shareAnswer(answer.shareID)
        case .alertResponse: .alertResponse
        case .zoomCluster: .zoom
        case .receipt: .receipt
        case .hello, .welcome, .goodbye, .ping, .pong, .error, .openSession, .sessionOpened, .vehicleChanged,
            .sessionEnded, .snapshotBegin, .snapshotEnd, .sessionSuspended, .sessionRestored, .receiptReport,
            .publication, .requestAnswer, .prompt, .promptOver, .requestOutcome, .destinationShareStatus:
            nil
        }
    }
}

extension Rejection {
    /// Whether the endpoint may not speak for its vehicle at all.
    var deniesRequests: Bool {
        guard self.code == .notGranted else { return false }
        switch MessageType(rawValue: self.messageType) {
        case .waypointRequest, .destinationRequest, .withdrawRequest, .cancelNavigation, .allowNavigation,
            .updateRouteSource:
            return true
        default: return false  // Answers need features of their own.
        }
    }
}
