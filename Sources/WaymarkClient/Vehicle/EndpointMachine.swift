internal import WaymarkCodec
package import WaymarkModel
package import WaymarkProtocol

/// A vehicle endpoint without its connection and without its handlers: holds the state, and knows which calls wait for what.
///
/// A call is a number that its maker chooses, and never chooses again. Each call gets exactly one answer.
package struct EndpointMachine: PeerMachine {
    package enum Output: Sendable {
        /// A message was received, or the gateway has forgotten this endpoint.
        case told(VehicleUpdate)
        /// A message was not queued, since the gateway would refuse it. The update says which field and why.
        case refused(VehicleUpdate)
        /// The answer to ``requestWaypoint(_:segment:id:call:into:)`` or ``requestDestination(_:id:call:into:)``.
        case requestEnded(call: Int, RequestEnding)
        /// The answer to ``cancelNavigation(_:call:into:)``.
        case guidanceEnded(call: Int, EndReason)
        /// Answered by ``answerPrompt(_:isAccepted:into:)``.
        case ask(WaypointPrompt)
        /// An answer to this prompt no longer counts.
        case stopAsking(Identifier)
        /// Answered by ``answerShare(_:isAccepted:_:into:)``.
        case offer(share: Identifier, Waypoint, SessionID)
        case log(PeerNote)
    }

    private struct OpenPrompt: Sendable {
        let id: Identifier
        /// The gateway waits no longer for an answer.
        var deadline: Instant
        /// Whether it came on the present connection: the gateway repeats a prompt that is still open (REQ-ASK-22).
        var isConfirmed = true
        /// The answer of the user, which waits until the prompt comes again.
        var answer: Bool?
    }

    private let firstHello: VehicleHello
    private let displayName: String
    private let credential: [UInt8]
    private var token: ResumptionToken?
    private var connection = ConnectionState.connecting
    private(set) var held: HeldState
    var outbox = EndpointOutbox()
    /// Calls that wait for the outcome of a request, oldest first. A request that is made twice has two.
    var requests: [WaitingRequest] = []
    /// Calls that wait for the end of guidance, oldest first.
    var cancellations: [WaitingCancellation] = []
    /// In the order in which they came.
    private var prompts: [OpenPrompt] = []
    private var random: SeededRandom
    private var requestCount = 0
    /// How often the client wants receipts; nil: never.
    private var receiptInterval: Duration?
    /// When the next receipt is due; nil: nothing was received since the last one.
    private var receiptDeadline: Instant?
    private var shownSequence: UInt64 = 0
    /// The instant at which the display first showed ``shownSequence``; nil: nothing is shown.
    private var shownAt: Instant?
    /// The number that the endpoint held when something last arrived, and the instant since which it does.
    private var receivedSequence: UInt64 = 0
    private var receivedAt: Instant?
    /// What the driver's clock shows at the instant 0; nil: the state has no age.
    private let origin: ContinuousClock.Instant?

    /// - Throws: ``ClientError/rejected(field:reason:limit:)`` for a setting outside of its range.
    package init(
        _ hello: VehicleHello, displayName: String = "", credential: [UInt8] = [], random: SeededRandom,
        origin: ContinuousClock.Instant? = nil
    ) throws(ClientError) {
        self.firstHello = hello
        self.displayName = displayName
        self.credential = credential
        self.held = HeldState(storage: hello.limits)
        self.random = random
        self.origin = origin
        try Codec.check(.hello(self.hello()))
    }

    /// What the endpoint has received.
    package var state: VehicleState { self.held.state }

    /// The session's id on the wire; none without one.
    package var sessionID: SessionID { SessionID(self.held.state.session) }

    /// Whether there is, or will be, a connection.
    var isOpen: Bool { if case .closed = self.connection { false } else { true } }

    /// Whether there is a connection now.
    var isConnected: Bool { if case .connected = self.connection { true } else { false } }

    package func hello() -> Hello {
        var hello = Hello(role: .vehicle(self.firstHello))
        hello.displayName = self.displayName
        hello.credential = Credential(self.credential)
        hello.resumptionToken = self.token
        (hello.resumeSession, hello.resumeSequence) = self.held.resumption
        return hello
    }

    package var deadline: Instant? {
        self.receiptDeadline.earlier(self.prompts.map(\.deadline).min())
    }

    package mutating func deadlineReached(at now: Instant, into outputs: inout [Output]) {
        if let receipt = self.receiptDeadline, receipt <= now {
            self.receiptDeadline = nil
            self.sendReceipt()
        }
        self.stopPrompts(&outputs) { $0.deadline <= now }
    }

    package mutating func dequeueOutgoing(into outputs: inout [Output]) -> [Frame] {
        self.outbox.dequeueAll().map(Codec.encode)
    }

    // MARK: What is received

    package mutating func handle(_ event: PeerEvent, at now: Instant, into outputs: inout [Output]) {
        switch event {
        case .state(let state): self.change(state, &outputs)
        case .welcomed(let welcome, _): self.welcomed(welcome, &outputs)
        case .received(let envelope): self.received(envelope, at: now, &outputs)
        case .skipped(let header):
            self.held.skip(header, at: self.clockInstant(now))
            self.noteReceived(at: now)
            if MessageType.published.contains(header.rawType) { self.scheduleReceipt(at: now) }
        }
    }

    private func clockInstant(_ now: Instant) -> ContinuousClock.Instant? {
        self.origin.map { $0 + .nanoseconds(now.nanoseconds) }
    }

    private mutating func change(_ state: ConnectionState, _ outputs: inout [Output]) {
        self.connection = state
        if state == .connecting {
            self.loseUnboundStops(&outputs)
            for index in self.prompts.indices { self.prompts[index].isConfirmed = false }
        }
        guard case .closed(let error) = state else { return }
        self.endRequests(error, &outputs)
        self.stopPrompts(&outputs) { _ in true }
        self.receiptDeadline = nil
    }

    private mutating func welcomed(_ welcome: Welcome, _ outputs: inout [Output]) {
        self.token = welcome.resumptionToken
        self.outbox.welcome(isResumed: welcome.isResumed)
        if !welcome.isResumed {
            self.loseSentRequests(&outputs)
            self.stopPrompts(&outputs) { _ in true }
            for index in self.cancellations.indices { self.cancellations[index].isForgotten = true }
        }
        if self.held.welcome(isResumed: welcome.isResumed) {
            outputs.append(
                .log(PeerNote(.notice, "the gateway was restarted; the endpoint's state is empty now")))
            outputs.append(.told(VehicleUpdate("forgotten", .forgotten, self.held.state)))
        }
    }

    private mutating func received(_ envelope: Envelope, at now: Instant, _ outputs: inout [Output]) {
        let session = self.held.state.session
        self.held.apply(envelope, at: self.clockInstant(now))
        guard [.none, SessionID(session), self.sessionID].contains(envelope.session) else { return }
        self.outbox.received(envelope.message, in: envelope.session)
        switch envelope.message {
        case .requestOutcome(let outcome):
            self.endRequest(outcome.requestID, RequestEnding(outcome), &outputs)
        case .error(let rejection):
            self.refused(rejection, &outputs)
            outputs.append(.log(Self.refusalNote(rejection.field, rejection.reason)))
        case .prompt(let prompt): self.ask(prompt, at: now, &outputs)
        case .promptOver(let over): self.stopPrompts(&outputs) { $0.id == over.requestID }
        case .publication(.shareDestination(let id, let destination, _)):
            if self.firstHello.features.contains(.destinationSharing) {
                outputs.append(.offer(share: Identifier(id), destination, envelope.session))
            }
        case .publication(.finishGuidance): self.endCancellations(of: envelope.session, .finished, &outputs)
        case .publication(.cancelGuidance):
            self.endCancellations(of: envelope.session, .cancelledByClient, &outputs)
        case .sessionEnded(let ended): self.endCancellations(ended, &outputs)
        case .snapshotBegin(let begin):
            self.endCancellations(ofOthersThan: envelope.session, &outputs)
            // Content that was shown stays so in a session that goes on.
            if begin.kind == .full {
                (self.shownSequence, self.shownAt) = (0, nil)
                (self.receivedSequence, self.receivedAt) = (0, nil)
            }
            self.receiptInterval =
                begin.receiptsEveryMilliseconds > 0 ? .milliseconds(begin.receiptsEveryMilliseconds) : nil
            if self.receiptInterval == nil { self.receiptDeadline = nil }
        case .snapshotEnd: self.scheduleReceipt(at: now)
        default: break  // Only changes the state.
        }
        self.noteReceived(at: now)
        if case .publication = envelope.message { self.scheduleReceipt(at: now) }
        outputs.append(.told(VehicleUpdate(envelope, self.held.state, before: session)))
    }

    // MARK: Receipts

    /// Tells that everything up to `sequence` is on the display since now, for the client's receipts.
    package mutating func markShown(_ sequence: UInt64, at now: Instant) {
        guard sequence > self.shownSequence else { return }
        (self.shownSequence, self.shownAt) = (sequence, now)
    }

    /// Notes that the endpoint holds more now, if it does.
    private mutating func noteReceived(at now: Instant) {
        guard let position = self.held.position, position > self.receivedSequence else { return }
        (self.receivedSequence, self.receivedAt) = (position, now)
    }

    /// At most one in the interval that the client asked for.
    private mutating func scheduleReceipt(at now: Instant) {
        guard let interval = self.receiptInterval, self.receiptDeadline == nil else { return }
        self.receiptDeadline = now + interval
    }

    private mutating func sendReceipt() {
        guard let received = self.held.position else { return }
        // What is shown is at most what was received; a larger number of the app says nothing of when.
        let isTimed = self.shownSequence <= received
        let receipt = Receipt(
            receivedSequence: received, shownSequence: min(self.shownSequence, received),
            receivedNanoseconds: self.receivedAt.map(\.stamp),
            shownNanoseconds: isTimed ? self.shownAt.map(\.stamp) : nil)
        self.send(.receipt(receipt), self.sessionID)
    }

    // MARK: Prompts and shares

    private mutating func ask(_ prompt: Prompt, at now: Instant, _ outputs: inout [Output]) {
        guard self.firstHello.features.contains(.prompts) else { return }
        let question = WaypointPrompt(prompt)
        let deadline = now + question.timeout
        // After a lost connection the gateway sends an open prompt again. The end of one may have been lost.
        if let index = self.prompts.firstIndex(where: { $0.id == prompt.requestID }) {
            self.prompts[index].deadline = deadline
            self.prompts[index].isConfirmed = true
            if let answer = self.prompts[index].answer {
                self.answerPrompt(prompt.requestID, isAccepted: answer, into: &outputs)
            }
            return
        }
        // The gateway ends it at its deadline.
        guard self.prompts.count < PeerBounds.promptsMax else { return }
        self.prompts.append(OpenPrompt(id: prompt.requestID, deadline: deadline))
        outputs.append(.ask(question))
    }

    private mutating func stopPrompts(_ outputs: inout [Output], where isOver: (OpenPrompt) -> Bool) {
        for prompt in self.prompts where isOver(prompt) { outputs.append(.stopAsking(prompt.id)) }
        self.prompts.removeAll(where: isOver)
    }

    /// Answers a prompt, unless it has ended; the first answer of the vehicle's endpoints counts.
    package mutating func answerPrompt(
        _ prompt: Identifier, isAccepted: Bool, into outputs: inout [Output]
    ) {
        let answer = Message.promptAnswer(PromptAnswer(requestID: prompt, isAccepted: isAccepted))
        guard self.isSendable(answer, &outputs),
            let index = self.prompts.firstIndex(where: { $0.id == prompt })
        else { return }
        guard self.prompts[index].isConfirmed else {
            self.prompts[index].answer = isAccepted
            return
        }
        self.send(answer)
        self.stopPrompts(&outputs) { $0.id == prompt }
    }

    /// Answers a share of one session, since another session may have one of the same id. The first answer of the vehicle's
    /// endpoints counts.
    package mutating func answerShare(
        _ shareID: Identifier, isAccepted: Bool, _ session: SessionID, into outputs: inout [Output]
    ) {
        self.answerShare(shareID, isAccepted ? .accepted : .declinedByUser, session, into: &outputs)
    }

    /// The same with any outcome.
    mutating func answerShare(
        _ shareID: Identifier, _ outcome: Outcome, _ session: SessionID, into outputs: inout [Output]
    ) {
        let answer = DestinationShareAnswer(shareID: shareID, outcome: outcome)
        self.sendChecked(.destinationShareAnswer(answer), session, into: &outputs)
    }

    // MARK: Sending

    /// Whether the gateway would accept a message; if not, says which field it would refuse and why.
    mutating func isSendable(_ message: Message, _ outputs: inout [Output]) -> Bool {
        do throws(ClientError) {
            try Codec.check(message)
            return true
        } catch {
            guard case .rejected(let field, let reason, _) = error else { return false }
            outputs.append(.log(Self.refusalNote(field, reason)))
            let refused = VehicleUpdate.Content.refused(field: field, reason: reason)
            outputs.append(.refused(VehicleUpdate("refused", refused, self.held.state)))
            return false
        }
    }

    /// Queues a message, unless the gateway would refuse it.
    mutating func sendChecked(
        _ message: Message, _ session: SessionID = .none, into outputs: inout [Output]
    ) {
        if self.isSendable(message, &outputs) { self.send(message, session) }
    }

    mutating func send(_ message: Message, _ session: SessionID = .none) {
        self.outbox.send(Envelope(message, session: session))
    }

    mutating func newRequestID() -> String {
        self.requestCount += 1
        let chance = UInt32.random(in: 0 ... .max, using: &self.random)
        return "\(self.firstHello.endpoint)-\(chance)-\(self.requestCount)"
    }

    private static func refusalNote(_ field: String, _ reason: String) -> PeerNote {
        PeerNote(
            .warning, "the gateway refuses a message of this endpoint",
            [PeerLogKey.field: field, PeerLogKey.reason: reason])
    }
}
