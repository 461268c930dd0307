internal import WaymarkModel
internal import WaymarkProtocol

/// One endpoint of a vehicle: shows guidance, sends the vehicle's requests.
///
/// It reconnects after a loss and receives what it missed. ``withVehicleEndpoint(to:_:_:)`` closes it when its body ends;
/// after ``connect(to:_:)`` call ``close()``. Handlers may call any method here, ``close()`` too, and may take as long as
/// they need.
public actor VehicleEndpoint {
    /// The state that the endpoint has received.
    public var state: VehicleState { self.link.peer.state }

    private let configuration: Configuration
    var link: LinkMachine<EndpointMachine>
    var driver: ChannelDriver
    private var updateReaders = Readers<VehicleUpdate>()
    private var stateReaders = Readers<VehicleState>()
    /// Updates for `onEveryUpdate` of the frame that was read last.
    private var unhandled: [VehicleUpdate] = []
    private var callCount = 0
    private var requests: [Int: CheckedContinuation<RequestEnding, Never>] = [:]
    private var cancellations: [Int: CheckedContinuation<EndReason, Never>] = [:]
    /// The tasks of `onPrompt`, by prompt.
    private var prompting: [Identifier: Task<Void, Never>] = [:]
    /// Handlers that run, also of prompts and shares that have ended: the app decides how long.
    private var handlerCount = 0

    /// Connects to a gateway; returns with its Welcome.
    ///
    /// - Throws: ``ClientError/invalid(_:)`` for a bad id,
    ///   ``ClientError/rejected(field:reason:limit:)`` for a setting outside of its range,
    ///   ``ClientError/cannotConnect(_:reason:)``, ``ClientError/refused(reason:retryAfter:limit:)``; ``ClientError/cancelled`` if the task
    ///   was cancelled.
    public static func connect(
        to address: ServiceAddress = .defaultVehicle, _ configuration: Configuration
    ) async throws(ClientError) -> VehicleEndpoint {
        let endpoint = try VehicleEndpoint(address, configuration)
        try await endpoint.open()
        return endpoint
    }

    private init(_ address: ServiceAddress, _ configuration: Configuration) throws(ClientError) {
        let hello = try VehicleHello(configuration)
        self.configuration = configuration
        self.driver = ChannelDriver(
            address, configuration.logger,
            [PeerLogKey.vehicle: "\(hello.vehicle)", PeerLogKey.endpoint: "\(hello.endpoint)"])
        var random = SystemRandomNumberGenerator()
        let machine = try EndpointMachine(
            hello, displayName: configuration.displayName, credential: configuration.credential,
            random: SeededRandom(seed: random.next()), origin: self.driver.origin)
        self.link = LinkMachine(
            machine, to: address, configuration.reconnection, random: SeededRandom(seed: random.next()))
    }

    /// Sends what is queued and ends the connection; a vehicle leaves with its last endpoint. Takes at most two seconds, also
    /// when its task is cancelled.
    public func close() async { await self.closeLink() }

    /// Closes the transport as a network failure would. For tests.
    package func cut() { self.driver.cut() }

    // MARK: What is received

    /// The updates from now on, for one more reader. The feed begins with ``VehicleUpdate/Content/current``.
    public var updates: Feed<VehicleUpdate> {
        self.updateReaders.open(with: [VehicleUpdate("current", .current, self.state)])
    }

    /// The state, now and after every change, for one more reader; a slow reader gets only the newest.
    public var states: Feed<VehicleState> { self.stateReaders.open(with: [self.state]) }

    /// The state of the connection, now and after every change; a slow reader gets only the newest.
    public var connectionStates: Feed<ConnectionState> { self.driver.openFeed(with: self.link.state) }

    /// Tells that everything up to `sequence` is on the display, for the client's receipts.
    ///
    /// Call it when it is: the receipts say when, and the client and `waymark status` learn how long it took.
    public func markShown(_ sequence: UInt64) {
        let now = self.driver.now
        self.use { endpoint, _ in endpoint.markShown(sequence, at: now) }
    }

    private func tellReaders(_ update: VehicleUpdate) {
        if self.updateReaders.tell(update) {
            self.driver.log(PeerNote(.warning, "a reader of updates is too slow and misses some"))
        }
    }

    // MARK: Calls that wait

    /// Makes a call of the machine that is answered with ``EndpointMachine/Output/requestEnded(call:_:)``.
    func wait(
        _ body: @Sendable (inout EndpointMachine, Int, inout [EndpointMachine.Output]) -> Void
    ) async -> RequestEnding {
        let call = self.newCall()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                self.requests[call] = continuation
                self.use { endpoint, outputs in
                    body(&endpoint, call, &outputs)
                    if Task.isCancelled { endpoint.abandon(call: call, into: &outputs) }
                }
            }
        } onCancel: {
            Task { await self.abandon(call) }
        }
    }

    /// Ends guidance, and waits for the end.
    func cancel(_ reason: CancellationReason) async -> EndReason {
        let call = self.newCall()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                self.cancellations[call] = continuation
                self.use { endpoint, outputs in
                    endpoint.cancelNavigation(reason, call: call, into: &outputs)
                    if Task.isCancelled { endpoint.abandon(call: call, into: &outputs) }
                }
            }
        } onCancel: {
            Task { await self.abandon(call) }
        }
    }

    private func abandon(_ call: Int) {
        self.use { endpoint, outputs in endpoint.abandon(call: call, into: &outputs) }
    }

    private func newCall() -> Int {
        self.callCount += 1
        return self.callCount
    }

    // MARK: Handlers

    private func ask(_ prompt: WaypointPrompt) {
        guard let handler = self.configuration.onPrompt, self.mayAsk else { return }
        let id = Identifier(prompt.id)
        self.handlerCount += 1
        self.prompting[id] = Task {
            defer { self.handlerCount -= 1 }
            let isAccepted = await handler(prompt)
            guard !Task.isCancelled else { return }
            self.answerPrompt(id, isAccepted: isAccepted)
        }
    }

    /// Whether another handler may run. What is not answered ends by its deadline.
    private var mayAsk: Bool { self.handlerCount < PeerBounds.promptsMax }

    /// Answers a prompt.
    func answerPrompt(_ prompt: Identifier, isAccepted: Bool) {
        self.use { endpoint, outputs in
            endpoint.answerPrompt(prompt, isAccepted: isAccepted, into: &outputs)
        }
    }

    private func ask(_ share: Identifier, _ destination: Waypoint, _ session: SessionID) {
        guard self.mayAsk else { return }
        if let handler = self.configuration.onShare {
            let shared = SharedDestination(session: session.rawValue, id: share.rawValue, destination)
            self.handlerCount += 1
            Task {
                defer { self.handlerCount -= 1 }
                guard let result = await handler(shared) else { return }
                let outcome = Outcome(rawValue: result.rawValue) ?? .declinedByUser
                self.use { endpoint, outputs in endpoint.answerShare(share, outcome, session, into: &outputs)
                }
            }
            return
        }
        guard let handler = self.configuration.onDestination else { return }
        self.handlerCount += 1
        Task {
            defer { self.handlerCount -= 1 }
            self.answerShare(share, isAccepted: await handler(destination), session)
        }
    }

    /// Answers a share of one session.
    func answerShare(_ share: Identifier, isAccepted: Bool, _ session: SessionID) {
        self.use { endpoint, outputs in
            endpoint.answerShare(share, isAccepted: isAccepted, session, into: &outputs)
        }
    }
}

extension VehicleEndpoint: PeerDriver {
    func perform(_ output: EndpointMachine.Output) {
        switch output {
        case .told(let update):
            self.tellReaders(update)
            self.stateReaders.tell(update.state)
            if self.configuration.onEveryUpdate != nil { self.unhandled.append(update) }
        case .refused(let update): self.tellReaders(update)
        case .requestEnded(let call, let ending):
            self.requests.removeValue(forKey: call)?.resume(returning: ending)
        case .guidanceEnded(let call, let reason):
            self.cancellations.removeValue(forKey: call)?.resume(returning: reason)
        case .ask(let prompt): self.ask(prompt)
        case .stopAsking(let prompt): self.prompting.removeValue(forKey: prompt)?.cancel()
        case .offer(let share, let destination, let session): self.ask(share, destination, session)
        case .log(let note): self.driver.log(note)
        }
    }

    func connectionChanged(to state: ConnectionState) {
        guard case .closed = state else { return }
        self.updateReaders.finish()
        self.stateReaders.finish()
    }

    func finishFrame() async {
        while !self.unhandled.isEmpty {
            await self.configuration.onEveryUpdate?(self.unhandled.removeFirst())
        }
    }
}
