internal import WaymarkCodec
internal import WaymarkModel
internal import WaymarkProtocol

/// One endpoint of a vehicle: shows guidance, sends the vehicle's requests.
///
/// Comes back by itself after a loss and takes up what it missed; call ``close()`` to end it. Handlers may call anything
/// here, ``close()`` too, and may take as long as they like: what they have not taken yet waits within bounds.
public actor VehicleEndpoint {
    /// What the endpoint holds now.
    public var state: VehicleState { self.held.state }

    let configuration: Configuration
    private let vehicleHello: VehicleHello
    private var link: Link?
    /// It has been told that something waits, and has not come for it yet.
    private var isLinkWoken = false
    private var token: ResumptionToken?
    private var held: HeldState
    var outbox = EndpointOutbox()
    private var updateReaders = Readers<VehicleUpdate>()
    private var stateReaders = Readers<VehicleState>()
    private var connections = Readers<ConnectionState>()
    private var connectionState = ConnectionState.connecting
    /// Calls that wait for the outcome of a request, by its id. A request that is made twice has two.
    var waiting: [String: [WaitingRequest]] = [:]
    /// Calls that wait for the end of guidance.
    var cancellations: [WaitingCancellation] = []
    /// Handlers that ask the user, by prompt, and what ends each when the gateway has given up.
    private var prompting: [String: (handler: Task<Void, Never>, timer: Task<Void, Never>)] = [:]
    private var requestCount = 0
    private var waiterCount = 0
    /// How often receipts are wanted; nil: not at all.
    private var receiptInterval: Duration?
    private var isReceiptScheduled = false
    private var shownSequence: UInt64 = 0

    /// Connects to a gateway; returns when it has said Welcome.
    ///
    /// - Throws: ``ClientError/invalid(_:)`` for a bad id or an unknown feature,
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
        self.vehicleHello = hello
        self.held = HeldState(storage: hello.limits)
    }

    private func open(_ address: ServiceAddress) async throws(ClientError) {
        try Codec.check(.hello(self.hello()))
        if let handler = self.configuration.onConnection { self.connections.open().forEach(handler) }
        if let handler = self.configuration.onUpdate { self.updateReaders.open().forEach(handler) }
        let link = Link(address: address, reconnection: self.configuration.reconnection, owner: self)
        self.link = link
        try await link.open()
    }

    /// Writes what is still to be written and ends the connection; the vehicle leaves with its last endpoint. Takes two
    /// seconds at most.
    public func close() async { await self.link?.close() }

    /// Drops the transport as a network cut would. For tests.
    package func cut() async { await self.link?.cut() }

    // MARK: What is received

    /// Everything received from now on, for one more reader.
    public var updates: Feed<VehicleUpdate> { self.updateReaders.open() }

    /// What the endpoint holds, now and after every change, for one more reader; only the newest waits.
    public var states: Feed<VehicleState> { self.stateReaders.open(with: [self.held.state]) }

    /// Where the connection stands, for one more reader; only the newest waits.
    public var connectionStates: Feed<ConnectionState> {
        self.connections.open(with: [self.connectionState])
    }

    /// Says that everything up to `sequence` is on the display.
    public func markShown(_ sequence: UInt64) { self.shownSequence = max(self.shownSequence, sequence) }

    private func tell(_ update: VehicleUpdate) async {
        self.updateReaders.tell(update)
        self.stateReaders.tell(update.state)
        await self.configuration.onEveryUpdate?(update)
    }

    /// Tells how far this endpoint is, at most once in the interval that the client asked for.
    private func scheduleReceipt() {
        guard let interval = self.receiptInterval, !self.isReceiptScheduled else { return }
        self.isReceiptScheduled = true
        Task {
            do { try await Task.sleep(for: interval) } catch { /* Ending: at once then. */  }
            self.isReceiptScheduled = false
            guard let received = self.held.position else { return }
            let receipt = Receipt(
                receivedSequence: received, shownSequence: min(self.shownSequence, received))
            self.send(.receipt(receipt), SessionID(self.held.state.session))
        }
    }

    // MARK: What is asked here

    private func ask(_ message: Prompt) {
        guard let handler = self.configuration.onPrompt else { return }
        let prompt = WaypointPrompt(message)
        // After the connection was lost the gateway sends an open prompt again; its end may have been lost.
        let timer = Task {
            do { try await Task.sleep(for: prompt.timeout) } catch { return }
            self.stopPrompt(prompt.id)
        }
        if let asking = self.prompting[prompt.id] {
            asking.timer.cancel()
            self.prompting[prompt.id] = (asking.handler, timer)
            return
        }
        let asking = Task {
            let isAccepted = await handler(prompt)
            guard !Task.isCancelled else { return }
            self.answerPrompt(prompt.id, isAccepted: isAccepted)
            self.stopPrompt(prompt.id)
        }
        self.prompting[prompt.id] = (asking, timer)
    }

    private func ask(_ share: String, _ destination: Waypoint, _ session: SessionID) {
        guard let handler = self.configuration.onDestination else { return }
        Task { self.answerShare(share, isTaken: await handler(destination), session) }
    }

    private func stopPrompt(_ id: String) {
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

    /// Checks what this program wants to say as the gateway will.
    ///
    /// - Returns: false if the gateway would refuse it: the readers of ``updates`` hear which field and why.
    func isSendable(_ message: Message) -> Bool {
        do throws(ClientError) {
            try Codec.check(message)
            return true
        } catch {
            guard case .rejected(let field, let reason) = error else { return false }
            let refused = VehicleUpdate.Content.refused(field: field, reason: reason)
            self.updateReaders.tell(VehicleUpdate("refused", refused, self.held.state))
            return false
        }
    }

    /// Sends what this program says, unless the gateway would refuse it.
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

    /// Names a call that waits.
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
        self.held.apply(envelope)
        self.outbox.received(envelope.message, in: envelope.session)
        switch envelope.message {
        case .requestOutcome(let outcome): self.end(outcome.requestID, RequestResult(outcome.outcome))
        case .error(let rejection): self.refused(rejection)
        case .prompt(let prompt): self.ask(prompt)
        case .promptOver(let over): self.stopPrompt(over.requestID)
        case .publication(.shareDestination(let id, let destination)):
            self.ask(id, destination, envelope.session)
        case .publication(.finishGuidance): self.endCancellations(of: envelope.session, .finished)
        case .publication(.cancelGuidance): self.endCancellations(of: envelope.session, .cancelledByClient)
        case .sessionEnded(let ended): self.endCancellations(ended)
        case .snapshotBegin(let begin):
            self.endCancellations(ofOthersThan: envelope.session)
            self.shownSequence = 0
            self.receiptInterval =
                begin.receiptsEveryMilliseconds > 0 ? .milliseconds(begin.receiptsEveryMilliseconds) : nil
        default: break  // The rest is in the state.
        }
        if case .publication = envelope.message { self.scheduleReceipt() }
        await self.tell(VehicleUpdate(envelope, self.held.state, before: session))
    }

    func takeOutgoing() -> [Frame] {
        self.isLinkWoken = false
        return self.outbox.takeAll().map(Codec.encode)
    }
}
