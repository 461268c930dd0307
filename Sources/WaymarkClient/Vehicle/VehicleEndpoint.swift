internal import Logging
internal import WaymarkCodec
internal import WaymarkModel
internal import WaymarkProtocol

/// One endpoint of a vehicle: shows guidance, sends the vehicle's requests.
///
/// It reconnects after a loss and receives what it missed. ``withVehicleEndpoint(to:_:_:)`` closes it when its body ends;
/// after ``connect(to:_:)`` call ``close()``. Handlers may call any method here, ``close()`` too, and may take as long as
/// they need.
public actor VehicleEndpoint {
    /// The state that the endpoint has received.
    public var state: VehicleState { self.held.state }

    let configuration: Configuration
    private let logger: Logger
    private let vehicleHello: VehicleHello
    private var link: Link?
    /// The link has been woken and has not called ``dequeueOutgoing()`` yet.
    private var isLinkWoken = false
    private var token: ResumptionToken?
    private var held: HeldState
    var outbox = EndpointOutbox()
    private var updateReaders = Readers<VehicleUpdate>()
    private var stateReaders = Readers<VehicleState>()
    private var connections = Readers<ConnectionState>()
    private var connectionState = ConnectionState.connecting
    /// Calls that wait for the outcome of a request, by its id. A request that is made twice has two.
    var waiting: [Identifier: [WaitingRequest]] = [:]
    /// Calls that wait for the end of guidance.
    var cancellations: [WaitingCancellation] = []
    /// The tasks of `onPrompt` by prompt, each with the timer that ends it when the gateway waits no longer.
    private var prompting: [Identifier: (handler: Task<Void, Never>, timer: Task<Void, Never>)] = [:]
    private var requestCount = 0
    private var waiterCount = 0
    /// How often the client wants receipts; nil: never.
    private var receiptInterval: Duration?
    private var isReceiptScheduled = false
    private var shownSequence: UInt64 = 0

    /// Connects to a gateway; returns with its Welcome.
    ///
    /// - Throws: ``ClientError/invalid(_:)`` for a bad id,
    ///   ``ClientError/rejected(field:reason:)`` for a setting outside of its range,
    ///   ``ClientError/cannotConnect(_:reason:)``, ``ClientError/refused(reason:)``; ``ClientError/cancelled`` if the task
    ///   was cancelled.
    public static func connect(
        to address: ServiceAddress = .defaultVehicle, _ configuration: Configuration
    ) async throws(ClientError) -> VehicleEndpoint {
        let endpoint = VehicleEndpoint(configuration, try VehicleHello(configuration))
        try await endpoint.open(address)
        return endpoint
    }

    private init(_ configuration: Configuration, _ hello: VehicleHello) {
        self.configuration = configuration
        var logger = configuration.logger
        logger[metadataKey: LogKey.vehicle] = "\(hello.vehicle)"
        logger[metadataKey: LogKey.endpoint] = "\(hello.endpoint)"
        self.logger = logger
        self.vehicleHello = hello
        self.held = HeldState(storage: hello.limits)
    }

    private func open(_ address: ServiceAddress) async throws(ClientError) {
        try Codec.check(.hello(self.hello()))
        let link = Link(
            address: address, reconnection: self.configuration.reconnection, logger: self.logger, owner: self)
        self.link = link
        try await link.open()
    }

    /// Sends what is queued and ends the connection; a vehicle leaves with its last endpoint. Takes at most two seconds, also
    /// when its task is cancelled.
    public func close() async { await self.link?.close() }

    /// Closes the transport as a network failure would. For tests.
    package func cut() async { await self.link?.cut() }

    // MARK: What is received

    /// What is received from now on, for one more reader. It begins with ``VehicleUpdate/Content/current``.
    public var updates: Feed<VehicleUpdate> {
        self.updateReaders.open(with: [VehicleUpdate("current", .current, self.held.state)])
    }

    /// The state, now and after every change, for one more reader; a slow reader gets only the newest.
    public var states: Feed<VehicleState> { self.stateReaders.open(with: [self.held.state]) }

    /// The state of the connection, now and after every change; a slow reader gets only the newest.
    public var connectionStates: Feed<ConnectionState> {
        self.connections.open(with: [self.connectionState])
    }

    /// Tells that everything up to `sequence` is on the display, for the client's receipts.
    public func markShown(_ sequence: UInt64) { self.shownSequence = max(self.shownSequence, sequence) }

    private func tell(_ update: VehicleUpdate) async {
        self.tellReaders(update)
        self.stateReaders.tell(update.state)
        await self.configuration.onEveryUpdate?(update)
    }

    private func tellReaders(_ update: VehicleUpdate) {
        switch update.content {
        case .refused(let field, let reason):
            self.logger.warning(
                "the gateway refuses a message of this endpoint",
                metadata: [LogKey.field: "\(field)", LogKey.reason: "\(reason)"])
        case .forgotten: self.logger.notice("the gateway was restarted; the endpoint's state is empty now")
        default: break
        }
        if self.updateReaders.tell(update) {
            self.logger.warning("a reader of updates is too slow and misses some")
        }
    }

    /// Sends a receipt, at most one in the interval that the client asked for.
    private func scheduleReceipt() {
        guard let interval = self.receiptInterval, !self.isReceiptScheduled else { return }
        self.isReceiptScheduled = true
        Task {
            do { try await Task.sleep(for: interval) } catch { /* The endpoint ends: send it now. */  }
            self.isReceiptScheduled = false
            guard let received = self.held.position else { return }
            let receipt = Receipt(
                receivedSequence: received, shownSequence: min(self.shownSequence, received))
            self.send(.receipt(receipt), SessionID(self.held.state.session))
        }
    }

    // MARK: Prompts and shares

    private func ask(_ message: Prompt) {
        guard let handler = self.configuration.onPrompt else { return }
        let prompt = WaypointPrompt(message)
        // After a lost connection the gateway sends an open prompt again. The end of one may have been lost.
        let timer = Task {
            do { try await Task.sleep(for: prompt.timeout) } catch { return }
            self.stopPrompt(message.requestID)
        }
        if let asking = self.prompting[message.requestID] {
            asking.timer.cancel()
            self.prompting[message.requestID] = (asking.handler, timer)
            return
        }
        let asking = Task {
            let isAccepted = await handler(prompt)
            guard !Task.isCancelled else { return }
            self.answerPrompt(message.requestID, isAccepted: isAccepted)
            self.stopPrompt(message.requestID)
        }
        self.prompting[message.requestID] = (asking, timer)
    }

    private func ask(_ share: Identifier, _ destination: Waypoint, _ session: SessionID) {
        guard let handler = self.configuration.onDestination else { return }
        Task { self.answerShare(share, isAccepted: await handler(destination), session) }
    }

    private func stopPrompt(_ id: Identifier) {
        guard let asking = self.prompting.removeValue(forKey: id) else { return }
        asking.handler.cancel()
        asking.timer.cancel()
    }

    // MARK: Sending

    /// The session's id on the wire; none without one.
    var sessionID: SessionID { SessionID(self.held.state.session) }

    /// Whether there is, or will be, a connection.
    var isOpen: Bool {
        if case .closed = self.connectionState { false } else { true }
    }

    /// Whether there is a connection now.
    var isConnected: Bool {
        if case .connected = self.connectionState { true } else { false }
    }

    /// Validates a message as the gateway will.
    ///
    /// - Returns: false if the gateway would refuse it: ``updates`` tells which field and why.
    func isSendable(_ message: Message) -> Bool {
        do throws(ClientError) {
            try Codec.check(message)
            return true
        } catch {
            guard case .rejected(let field, let reason) = error else { return false }
            let refused = VehicleUpdate.Content.refused(field: field, reason: reason)
            self.tellReaders(VehicleUpdate("refused", refused, self.held.state))
            return false
        }
    }

    /// Sends a message, unless the gateway would refuse it.
    func sendChecked(_ message: Message, _ session: SessionID = .none) {
        if self.isSendable(message) { self.send(message, session) }
    }

    func send(_ message: Message, _ session: SessionID = .none) {
        self.outbox.send(Envelope(message, session: session))
        self.wakeLink()
    }

    func wakeLink() {
        guard let link, !self.isLinkWoken else { return }
        self.isLinkWoken = true
        Task { await link.wakeUp() }
    }

    /// Identifies a call that waits.
    func newWaiter() -> Int {
        self.waiterCount += 1
        return self.waiterCount
    }

    func newRequestID() -> String {
        self.requestCount += 1
        return "\(self.vehicleHello.endpoint)-\(UInt32.random(in: 0 ... .max))-\(self.requestCount)"
    }
}

extension VehicleEndpoint: LinkOwner {
    func hello() -> Hello {
        var hello = Hello(role: .vehicle(self.vehicleHello))
        hello.displayName = self.configuration.displayName
        hello.credential = self.configuration.credential
        hello.resumptionToken = self.token
        (hello.resumeSession, hello.resumeSequence) = self.held.resumption
        return hello
    }

    func linkStateChanged(_ state: ConnectionState) {
        self.connectionState = state
        self.connections.tell(state)
        if state == .connecting { self.loseUnboundStops() }
        guard case .closed(let error) = state else { return }
        self.link = nil
        self.endRequests(error)
        for id in self.prompting.keys { self.stopPrompt(id) }
        self.connections.finish()
        self.updateReaders.finish()
        self.stateReaders.finish()
    }

    func welcomed(_ welcome: Welcome, frameBytesMax: Int) async {
        self.token = welcome.resumptionToken
        self.isLinkWoken = false
        self.outbox.welcome(isResumed: welcome.isResumed)
        if !welcome.isResumed {
            for id in self.prompting.keys { self.stopPrompt(id) }
            for index in self.cancellations.indices { self.cancellations[index].isForgotten = true }
        }
        if self.held.welcome(isResumed: welcome.isResumed) {
            await self.tell(VehicleUpdate("forgotten", .forgotten, self.held.state))
        }
    }

    func received(_ envelope: Envelope) async {
        let session = self.held.state.session
        self.held.apply(envelope, at: .now)
        self.outbox.received(envelope.message, in: envelope.session)
        switch envelope.message {
        case .requestOutcome(let outcome): self.end(outcome.requestID, RequestResult(outcome.outcome))
        case .error(let rejection): self.refused(rejection)
        case .prompt(let prompt): self.ask(prompt)
        case .promptOver(let over): self.stopPrompt(over.requestID)
        case .publication(.shareDestination(let id, let destination)):
            self.ask(Identifier(id), destination, envelope.session)
        case .publication(.finishGuidance): self.endCancellations(of: envelope.session, .finished)
        case .publication(.cancelGuidance): self.endCancellations(of: envelope.session, .cancelledByClient)
        case .sessionEnded(let ended): self.endCancellations(ended)
        case .snapshotBegin(let begin):
            self.endCancellations(ofOthersThan: envelope.session)
            self.shownSequence = 0
            self.receiptInterval =
                begin.receiptsEveryMilliseconds > 0 ? .milliseconds(begin.receiptsEveryMilliseconds) : nil
        default: break  // Only changes the state.
        }
        if case .publication = envelope.message { self.scheduleReceipt() }
        await self.tell(VehicleUpdate(envelope, self.held.state, before: session))
    }

    func skipped(_ header: FrameHeader) {
        self.held.skip(header, at: .now)
        if MessageType.published.contains(header.rawType) { self.scheduleReceipt() }
    }

    func dequeueOutgoing() -> [Frame] {
        self.isLinkWoken = false
        return self.outbox.dequeueAll().map(Codec.encode)
    }
}
