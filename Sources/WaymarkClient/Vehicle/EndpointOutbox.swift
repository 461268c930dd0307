internal import WaymarkProtocol

/// The messages that an endpoint sends, and which of them it sends again after a lost connection.
///
/// | kind | after a loss |
/// |---|---|
/// | waypoint and destination requests, starting a trip | sent again until the outcome; the id makes it one request. A restarted gateway gets only those that were never sent |
/// | withdrawing a request | sent again until the outcome, but not to a restarted gateway; the request itself is not |
/// | stopping a session | sent again until that session has ended |
/// | stopping without a session | not sent again: it could stop guidance that the user has not seen |
/// | own navigation | sent again until it is confirmed; also to a restarted gateway |
/// | allowing, route source, settings | the newest is sent again once if it may have been lost |
/// | settings | all of them are sent to a restarted gateway |
/// | route source | sent to a restarted gateway once the same client guides again |
/// | the selected preview | sent again once, to a gateway that still has the session, unless newer previews have come |
/// | route feedback | the newest is sent again once, to a gateway that still has the session: the generation is of its route |
/// | answers to prompts and shares | sent again once, to a gateway that still has the question |
/// | answers to alerts, wanted destinations, extensions, simulated drives | only if not sent yet, to a gateway that still has the session: the client may act on each |
/// | zoom, receipts | not sent again: they are about the moment |
///
/// "A restarted gateway" is one that does not resume the endpoint, whatever the reason.
///
/// A message about one session keeps that session's id: a gateway on which it has ended ignores the message, or answers
/// that it has ended.
struct EndpointOutbox: Sendable, Hashable {
    /// Queued entries of one kind; beyond that the oldest is dropped.
    static let kindMax = 16

    /// Of two entries with the same key only the newer one is kept.
    fileprivate enum Key: Sendable, Hashable {
        case request(Identifier)
        case withdrawal(Identifier)
        /// With ``SessionID/none``: the session that the gateway has when it reads the message.
        case stop(SessionID)
        case ownNavigation
        case allowance
        case routeSource
        case preview
        case settings
        case promptAnswer(Identifier)
        case shareAnswer(Identifier)
        case alertResponse
        case routeFeedback
        case wantedDestination
        case `extension`
        case simulation
        case zoom
        case receipt
    }

    private struct Entry: Sendable, Hashable {
        var key: Key
        var envelope: Envelope
        var isWaiting = true
        /// A request that is made again after its withdrawal counts as sent: the gateway knows its id.
        var timesSent = 0

        /// Whether it is a request that was sent, or the withdrawal of one.
        var isOfSentRequest: Bool {
            switch self.key {
            case .request: self.timesSent > 0
            case .withdrawal: true  // A request that was never sent is removed, not withdrawn.
            case .stop, .ownNavigation, .allowance, .routeSource, .preview, .settings, .promptAnswer,
                .shareAnswer, .alertResponse, .routeFeedback, .wantedDestination, .extension, .simulation,
                .zoom, .receipt:
                false
            }
        }
    }

    private var entries: [Entry] = []
    private var settings = DisplaySettings()
    private var routeSource: UpdateRouteSource?
    /// The client that guided when ``routeSource`` was set; nil for none.
    private var routeSourceClient: ClientID?
    /// The gateway was restarted; the route source is sent when the same client guides again.
    private var restatesRouteSource = false
    /// The session that the vehicle is in, and the client that guides there; none and nil outside of one.
    private var session = SessionID.none
    private var client: ClientID?
    private var navigatesItself = false
    /// ``navigatesItself`` before the own navigation that is not sent yet, which may be given up.
    private var navigatedItself = false

    /// Queues a message.
    mutating func send(_ envelope: Envelope) {
        guard let key = envelope.outboxKey else { return }
        var envelope = envelope
        var timesSent = 0
        switch envelope.message {
        case .vehicleSettings(let change):
            // Merged with the settings before, since some of them may not have arrived.
            var merged = DisplaySettings(change)
            merged.fillGaps(from: self.settings)
            self.settings = merged
            envelope.message = .vehicleSettings(merged.message)
        case .updateRouteSource(let update):
            (self.routeSource, self.routeSourceClient) = (update, self.client)
            self.restatesRouteSource = false
        case .waypointRequest(let request): timesSent = self.resumeRequest(request.requestID)
        case .destinationRequest(let request): timesSent = self.resumeRequest(request.requestID)
        case .startTripRequest(let request): timesSent = self.resumeRequest(request.requestID)
        case .withdrawRequest(let request): self.entries.removeAll { $0.key == .request(request.requestID) }
        case .cancelNavigation(.ownNavigationStarted):
            if !self.entries.contains(where: { $0.key == key && $0.timesSent == 0 }) {
                self.navigatedItself = self.navigatesItself
            }
            self.navigatesItself = true
        case .allowNavigation: self.navigatesItself = false
        default: break  // The others are entries only.
        }
        if key.isUnique { self.entries.removeAll { $0.key == key } }
        self.entries.append(Entry(key: key, envelope: envelope, timesSent: timesSent))
        let kind = self.entries.indices.filter { self.entries[$0].key.isSameKind(as: key) }
        if kind.count > Self.kindMax, !key.isKeptUntilAnswered { self.entries.remove(at: kind[0]) }
    }

    /// A request is made, for the first time or again: drops a withdrawal that was not sent.
    ///
    /// - Returns: How often a request with this id was sent, 0 or 1: what was withdrawn was sent.
    private mutating func resumeRequest(_ id: Identifier) -> Int {
        let isAgain = self.entries.contains { $0.key == .withdrawal(id) }
        self.entries.removeAll { $0.key == .withdrawal(id) && $0.isWaiting }
        return isAgain ? 1 : 0
    }

    /// Whether a request is open and was not withdrawn.
    func isRequesting(_ id: Identifier) -> Bool { self.entries.contains { $0.key == .request(id) } }

    /// The call that waited for the end of guidance was cancelled: the stop is not sent, or not sent again.
    mutating func giveUpStop(_ session: SessionID) { self.entries.removeAll { $0.key == .stop(session) } }

    /// The call that waited for the confirmation was cancelled.
    mutating func giveUpOwnNavigation() {
        guard let index = self.entries.firstIndex(where: { $0.key == .ownNavigation }) else { return }
        // A message that was sent remains valid: the gateway confirms it, and a restarted one is told again.
        guard self.entries[index].timesSent == 0 else { return }
        self.entries.remove(at: index)
        self.navigatesItself = self.navigatedItself
    }

    /// Removes a request that was never sent.
    ///
    /// - Returns: false if it was sent or is unknown: the gateway must be told then.
    mutating func removeUnsent(_ request: Identifier) -> Bool {
        guard let index = self.entries.firstIndex(where: { $0.key == .request(request) && $0.timesSent == 0 })
        else { return false }
        self.entries.remove(at: index)
        return true
    }

    /// Removes and returns what to send now, oldest first.
    mutating func dequeueAll() -> [Envelope] {
        var envelopes: [Envelope] = []
        for index in self.entries.indices where self.entries[index].isWaiting {
            envelopes.append(self.entries[index].envelope)
            self.entries[index].isWaiting = false
            self.entries[index].timesSent += 1
        }
        self.entries.removeAll { !$0.isWaiting && !$0.key.isRepeated }
        return envelopes
    }

    /// A message of the gateway: what it answers is not sent again.
    mutating func received(_ message: Message, in session: SessionID = .none) {
        switch message {
        case .requestOutcome(let outcome):
            self.forgetRequest(outcome.requestID)
            if outcome.outcome == .accepted { self.navigatesItself = false }
        case .snapshotBegin(let begin): self.received(begin, in: session)
        case .error(let rejection): self.received(rejection)
        case .promptOver(let over): self.entries.removeAll { $0.key == .promptAnswer(over.requestID) }
        case .sessionEnded(let ended): self.received(ended)
        // A selection that was sent is about older previews.
        case .publication(.tripPreviews), .publication(.startGuidance):
            self.entries.removeAll { $0.key == .preview && !$0.isWaiting }
        case .publication(.finishGuidance), .publication(.cancelGuidance):
            self.forgetSession()
            self.entries.removeAll { $0.key == .stop(session) }
        default: break  // Answers nothing.
        }
    }

    private mutating func received(_ begin: SnapshotBegin, in session: SessionID) {
        // The vehicle is guided, so another endpoint has ended its own navigation.
        self.navigatesItself = false
        (self.session, self.client) = (session, begin.client)
        // A vehicle is in one session: every other one has ended.
        self.entries.removeAll {
            if case .stop(let stopped) = $0.key { stopped != .none && stopped != session } else { false }
        }
        guard self.restatesRouteSource, let routeSource = self.routeSource else { return }
        if self.routeSourceClient == begin.client {
            self.send(Envelope(.updateRouteSource(routeSource), session: session))
        } else {
            (self.routeSource, self.restatesRouteSource) = (nil, false)
        }
    }

    private mutating func received(_ rejection: Rejection) {
        switch MessageType(rawValue: rejection.messageType) {
        case .waypointRequest, .destinationRequest, .startTripRequest: self.forgetRequest(rejection.requestID)
        case .selectPreview: self.entries.removeAll { $0.key == .preview && !$0.isWaiting }
        case .withdrawRequest: self.entries.removeAll { $0.key == .withdrawal(rejection.requestID) }
        default: break  // An answer to a prompt has the request's id too; the request stays open.
        }
        // This endpoint may not make requests for its vehicle: the gateway would refuse each of them.
        if rejection.deniesRequests {
            self.entries.removeAll { $0.key.isKeptUntilAnswered }
            self.navigatesItself = false
        }
    }

    private mutating func received(_ ended: SessionEnded) {
        // Otherwise it answers a stop that crossed the end of an older session.
        if [.none, ended.session].contains(self.session) || ended.session == .none { self.forgetSession() }
        let isConfirmed = ended.reason == .ownNavigationStarted
        // Also if a snapshot was under way at the same time, but not if it was allowed again since.
        if isConfirmed, let own = self.entries.firstIndex(where: { $0.key == .ownNavigation }),
            !self.entries[own...].contains(where: { $0.key == .allowance })
        {
            self.navigatesItself = true
        }
        self.entries.removeAll { entry in
            switch entry.key {
            case .stop(let session): session == ended.session
            case .ownNavigation: isConfirmed
            // An `allow` is no answer to a later "I navigate myself" of another endpoint.
            case .allowance: isConfirmed && !entry.isWaiting
            case .request, .withdrawal, .routeSource, .preview, .settings, .promptAnswer, .shareAnswer,
                .alertResponse, .routeFeedback, .wantedDestination, .extension, .simulation, .zoom, .receipt:
                false
            }
        }
    }

    /// The gateway has welcomed this endpoint; nothing was sent to it yet.
    mutating func welcome(isResumed: Bool) {
        self.entries.removeAll { $0.key.isMomentary || ($0.timesSent > 1 && !$0.key.isKeptUntilAnswered) }
        for index in self.entries.indices { self.entries[index].isWaiting = true }
        guard !isResumed else { return }
        (self.session, self.client) = (.none, nil)
        self.entries.removeAll { $0.key.isAnswer || $0.key == .settings || $0.key == .routeSource }
        // Only this endpoint knows that it has sent them: sent again, a request could get a second outcome.
        self.entries.removeAll { $0.isOfSentRequest }
        if self.settings != DisplaySettings() { self.send(Envelope(.vehicleSettings(self.settings.message))) }
        if let routeSource {
            if self.routeSourceClient == nil {
                self.send(Envelope(.updateRouteSource(routeSource)))
            } else {
                self.restatesRouteSource = true
            }
        }
        if self.navigatesItself { self.send(Envelope(.cancelNavigation(.ownNavigationStarted))) }
    }

    private mutating func forgetRequest(_ id: Identifier) {
        self.entries.removeAll { $0.key == .request(id) || $0.key == .withdrawal(id) }
    }

    private mutating func forgetSession() {
        (self.routeSource, self.session, self.client) = (nil, .none, nil)
        self.entries.removeAll {
            switch $0.key {
            case .routeSource, .preview, .shareAnswer, .alertResponse, .routeFeedback, .wantedDestination,
                .extension, .simulation, .zoom, .receipt:
                true
            case .request, .withdrawal, .stop, .ownNavigation, .allowance, .settings, .promptAnswer: false
            }
        }
    }
}

extension EndpointOutbox.Key {
    fileprivate var isUnique: Bool {
        switch self {
        case .request, .withdrawal, .stop, .ownNavigation, .allowance, .routeSource, .preview, .settings,
            .promptAnswer, .shareAnswer, .routeFeedback, .receipt:
            true
        case .alertResponse, .wantedDestination, .extension, .simulation, .zoom: false
        }
    }

    /// Sent again on every new connection.
    fileprivate var isKeptUntilAnswered: Bool {
        switch self {
        case .request, .withdrawal, .ownNavigation: true
        case .stop(let session): session != .none
        case .allowance, .routeSource, .preview, .settings, .promptAnswer, .shareAnswer, .alertResponse,
            .routeFeedback,
            .wantedDestination, .extension, .simulation, .zoom, .receipt:
            false
        }
    }

    /// Sent again after it was sent.
    fileprivate var isRepeated: Bool {
        switch self {
        case .request, .withdrawal, .ownNavigation, .allowance, .routeSource, .preview, .settings,
            .promptAnswer, .shareAnswer, .routeFeedback:
            true
        case .stop(let session): session != .none
        case .alertResponse, .wantedDestination, .extension, .simulation, .zoom, .receipt: false
        }
    }

    fileprivate var isMomentary: Bool {
        self == .zoom || self == .receipt || self == .stop(.none)
    }

    /// Answers a question that a restarted gateway never asked, or is about a session that it does not know.
    fileprivate var isAnswer: Bool {
        switch self {
        case .preview, .promptAnswer, .shareAnswer, .alertResponse, .routeFeedback, .wantedDestination,
            .extension, .simulation:
            true
        case .request, .withdrawal, .stop, .ownNavigation, .allowance, .routeSource, .settings, .zoom,
            .receipt:
            false
        }
    }

    fileprivate func isSameKind(as other: EndpointOutbox.Key) -> Bool {
        switch (self, other) {
        case (.request, .request), (.withdrawal, .withdrawal), (.promptAnswer, .promptAnswer),
            (.shareAnswer, .shareAnswer), (.stop, .stop):
            true
        default: self == other  // The others have one key for all.
        }
    }
}

extension Envelope {
    /// nil for a message that endpoints do not send.
    fileprivate var outboxKey: EndpointOutbox.Key? {
        switch self.message {
        case .waypointRequest(let request): .request(request.requestID)
        case .destinationRequest(let request): .request(request.requestID)
        case .startTripRequest(let request): .request(request.requestID)
        case .withdrawRequest(let request): .withdrawal(request.requestID)
        case .cancelNavigation(.userStopped): .stop(self.session)
        case .cancelNavigation(.ownNavigationStarted): .ownNavigation
        case .allowNavigation: .allowance
        case .updateRouteSource: .routeSource
        case .selectPreview: .preview
        case .vehicleSettings: .settings
        case .promptAnswer(let answer): .promptAnswer(answer.requestID)
        case .destinationShareAnswer(let answer): .shareAnswer(answer.shareID)
        case .alertResponse: .alertResponse
        case .updateRouteFeedback: .routeFeedback
        case .destinationShareWanted: .wantedDestination
        case .vehicleExtension: .extension
        case .simulateDrive: .simulation
        case .zoomCluster: .zoom
        case .receipt: .receipt
        case .hello, .welcome, .goodbye, .ping, .pong, .error, .openSession, .sessionOpened, .vehicleChanged,
            .sessionEnded, .snapshotBegin, .snapshotEnd, .sessionSuspended, .sessionRestored, .receiptReport,
            .acknowledgement, .publication, .requestAnswer, .prompt, .promptOver, .requestOutcome,
            .destinationShareStatus, .observe, .observationBegin, .observedRecords, .observedEvent,
            .observedFrames, .observationGap, .readCounters, .counters:
            nil
        }
    }
}

extension Rejection {
    /// Whether the endpoint may make no requests for its vehicle.
    var deniesRequests: Bool {
        guard self.code == .notGranted else { return false }
        switch MessageType(rawValue: self.messageType) {
        case .waypointRequest, .destinationRequest, .startTripRequest, .withdrawRequest, .cancelNavigation,
            .allowNavigation, .updateRouteSource, .updateRouteFeedback:
            return true
        default: return false  // Answers need features of their own.
        }
    }
}
