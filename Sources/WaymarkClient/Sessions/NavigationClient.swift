internal import WaymarkModel
package import WaymarkProtocol

/// A navigation client: provides guidance to vehicles through a gateway.
///
/// It reconnects after a loss and restores its sessions. ``withNavigationClient(to:_:_:)`` closes it when its body ends;
/// after ``connect(to:_:)`` call ``close()``. Handlers may call any method here, ``close()`` too, and may take as long as
/// they need. The task of a handler is cancelled when its request ends or the connection is lost: the gateway needs no answer
/// any more.
public actor NavigationClient {
    private let configuration: Configuration
    var link: LinkMachine<ClientMachine>
    var driver: ChannelDriver
    /// By the names that the machine has for them.
    private(set) var records: [Identifier: AppSession] = [:]
    private var callCount = 0
    private var calls: [Int: CheckedContinuation<Result<Void, ClientError>, Never>] = [:]
    private var shares: [Int: CheckedContinuation<Result<[String: RequestResult], ClientError>, Never>] = [:]
    /// The handlers that run for requests that have not ended.
    private var answering: [Question: Handler] = [:]
    /// Handlers that run, also of requests that have ended: the app decides how long.
    private var handlerCount = 0

    /// A request that a handler answers.
    private enum Question: Sendable, Hashable {
        /// An inquiry of a session.
        case inquiry(InquiryID)
        case destination(DestinationInquiryID)
    }

    private struct Handler: Sendable {
        /// Tells it from a later handler of the same request.
        let number: Int
        let task: Task<Void, Never>
    }

    /// Connects to a gateway; returns with its Welcome.
    ///
    /// - Throws: ``ClientError/invalid(_:)`` for a bad id, ``ClientError/rejected(field:reason:limit:)`` for a setting outside of
    ///   its range, ``ClientError/cannotConnect(_:reason:)``, ``ClientError/refused(reason:retryAfter:limit:)``; ``ClientError/cancelled`` if
    ///   the task was cancelled.
    public static func connect(
        to address: ServiceAddress = .defaultNavigation, _ configuration: Configuration
    ) async throws(ClientError) -> NavigationClient {
        let client = try NavigationClient(address, configuration)
        try await client.open()
        return client
    }

    private init(_ address: ServiceAddress, _ configuration: Configuration) throws(ClientError) {
        let hello = try NavigationHello(configuration)
        self.configuration = configuration
        self.driver = ChannelDriver(
            address, configuration.logger, [PeerLogKey.client: "\(hello.client)"])
        let machine = try ClientMachine(
            hello, displayName: configuration.displayName, credential: configuration.credential)
        var random = SystemRandomNumberGenerator()
        self.link = LinkMachine(
            machine, to: address, configuration.reconnection, random: SeededRandom(seed: random.next()))
    }

    /// Sends what is queued, and ends all sessions and the connection. Takes at most two seconds, also when its task is
    /// cancelled.
    public func close() async { await self.closeLink() }

    /// Closes the transport as a network failure would. For tests.
    package func cut() { self.driver.cut() }

    /// The state of the connection, now and after every change; a slow reader gets only the newest.
    public var connectionStates: Feed<ConnectionState> { self.driver.openFeed(with: self.link.state) }

    // MARK: Sessions

    /// Opens a session; returns when the gateway has it.
    ///
    /// - Parameters:
    ///   - vehicles: The vehicles to guide.
    ///   - receipts: The interval at which ``SessionEvent/received(sequence:receipts:)`` comes, 100 ms ... 60 s; nil: never.
    ///   - onWaypoint: Answers a vehicle that asks to stop on the way; nil declines. Its task is cancelled when the request ends.
    ///   - onStartTrip: Answers a vehicle that asks to start a trip of the previews; nil declines. Its task is cancelled when the request
    ///     ends. ``SessionEvent/previewSelected(vehicle:endpoint:trip:routeChoice:)`` tells which trip the vehicle selects before.
    /// - Returns: The open session, before guidance.
    /// - Throws: ``ClientError/vehicleRefused(vehicle:_:reason:)`` if no vehicle takes it,
    ///   ``ClientError/rejected(field:reason:limit:)`` for a field outside of its range or if the gateway has too many sessions,
    ///   ``ClientError/invalid(_:)`` for a bad id, the reason for which the connection is over if it is,
    ///   ``ClientError/cancelled`` if the task was cancelled: the gateway has no session then, or ends it at once.
    public func openSession(
        vehicles: SessionVehicles, receipts: Duration? = nil,
        onWaypoint: (@Sendable (WaypointInquiry, NavigationSession) async -> WaypointAnswer)? = nil,
        onStartTrip: (@Sendable (StartTripInquiry, NavigationSession) async -> StartTripAnswer)? = nil
    ) async throws(ClientError) -> NavigationSession {
        let call = self.newCall()
        var session: NavigationSession?
        try await self.wait(for: call) { () throws(ClientError) in
            let key = try self.use { (client, outputs) throws(ClientError) in
                let key = try client.open(
                    vehicles, receipts: receipts, answersWaypoints: onWaypoint != nil,
                    answersStarts: onStartTrip != nil, call: call)
                if Task.isCancelled { client.abandon(call: call, into: &outputs) }
                return key
            }
            guard self.calls[call] != nil else { return }  // It was abandoned.
            let record = AppSession(key, onWaypoint: onWaypoint, onStartTrip: onStartTrip)
            self.records[key] = record
            session = NavigationSession(client: self, key: key, ending: record.ending)
        }
        guard let session else { throw .cancelled }
        return session
    }

    /// Makes a call of the machine, and waits for its answer.
    private func wait(for call: Int, _ make: () throws(ClientError) -> Void) async throws(ClientError) {
        let result: Result<Void, ClientError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                self.calls[call] = continuation
                do throws(ClientError) { try make() } catch {
                    self.calls.removeValue(forKey: call)?.resume(returning: .failure(error))
                }
            }
        } onCancel: {
            Task { await self.abandon(call) }
        }
        try result.get()
    }

    private func abandon(_ call: Int) {
        self.use { client, outputs in client.abandon(call: call, into: &outputs) }
    }

    private func newCall() -> Int {
        self.callCount += 1
        return self.callCount
    }

    /// Queues a publication of a session.
    func publish(_ session: NavigationSession, _ publication: Publication) throws(ClientError) {
        try self.requireOpen(session)
        try self.use { (client, outputs) throws(ClientError) in
            try client.publish(publication, in: session.key, into: &outputs)
        }
    }

    private func requireOpen(_ session: NavigationSession) throws(ClientError) {
        guard self.records[session.key] != nil else {
            throw .sessionEnded(session.endReason ?? .unrecognized)
        }
    }

    /// Shares a destination and waits for all outcomes.
    func share(
        _ session: NavigationSession, _ share: String, _ destination: Waypoint, ofTrip trip: String
    ) async throws(ClientError) -> [String: RequestResult] {
        guard !Task.isCancelled else { throw .cancelled }
        try self.requireOpen(session)
        let (key, call) = (session.key, self.newCall())
        let result: Result<[String: RequestResult], ClientError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                self.shares[call] = continuation
                do throws(ClientError) {
                    try self.use { (client, outputs) throws(ClientError) in
                        try client.share(
                            destination, ofTrip: trip, id: share, in: key, call: call, into: &outputs)
                    }
                } catch {
                    self.shares.removeValue(forKey: call)?.resume(returning: .failure(error))
                }
            }
        } onCancel: {
            Task { await self.abandon(call) }
        }
        return try result.get()
    }

    /// Waits until the gateway has accepted what was published in a session.
    func whenAccepted(_ session: NavigationSession) async throws(ClientError) {
        let (key, call) = (session.key, self.newCall())
        guard !Task.isCancelled else { throw .cancelled }
        guard self.records[key] != nil else {
            return try (session.endReason ?? .unrecognized).acceptance.get()
        }
        try await self.wait(for: call) {
            self.use { client, outputs in client.waitUntilAccepted(key, call: call, into: &outputs) }
        }
    }

    /// A feed of a session's events; empty when the session has ended.
    func events(of key: Identifier) -> Feed<SessionEvent> {
        if let feed = self.records[key]?.openFeed() { return feed }
        var none = Readers<SessionEvent>()
        none.finish()
        return none.open()
    }

    private func tell(_ event: SessionEvent, _ key: Identifier) {
        guard self.records[key]?.tell(event) == true else { return }
        self.driver.log(
            PeerNote(
                .warning, "a reader of session events is too slow and misses some",
                [self.link.peer.label(of: key)]))
    }

    private func end(_ key: Identifier, _ reason: EndReason) {
        self.records[key]?.end(reason)
        self.records[key] = nil
        for case .inquiry(let id) in self.answering.keys where id.session == key {
            self.stopAnswering(.inquiry(id))
        }
    }

    // MARK: Handlers

    private func ask(_ inquiry: WaypointInquiry, _ id: InquiryID) {
        guard let handler = self.records[id.session]?.onWaypoint else { return }
        self.runHandler(of: id) { client, session in
            let answer = await handler(inquiry, session)
            guard !Task.isCancelled else { return }
            switch answer {
            case .estimates(let estimates, let whenAccepted):
                client.offer(estimates, id, whenAccepted)
            case .ownPrompt(let ask):
                guard client.answer(id, .ownPrompt) else { return }
                let isAccepted = await ask()
                guard !Task.isCancelled else { return }
                client.answer(id, isAccepted ? .accept : .decline(.declinedByUser))
            case .decline(let reason): client.answer(id, .decline(reason))
            }
        }
    }

    private func ask(_ inquiry: StartTripInquiry, _ id: InquiryID) {
        guard let handler = self.records[id.session]?.onStartTrip else { return }
        self.runHandler(of: id) { client, session in
            let answer = await handler(inquiry, session)
            guard !Task.isCancelled else { return }
            switch answer {
            case .accept(let whenAccepted):
                if client.answer(id, .accept) { client.records[id.session]?.offers[id] = whenAccepted }
            case .decline(let reason): client.answer(id, .decline(reason))
            }
        }
    }

    /// Runs a session's handler of a request; one too many at a time declines it.
    private func runHandler(
        of id: InquiryID,
        _ body: @escaping @Sendable (isolated NavigationClient, NavigationSession) async -> Void
    ) {
        guard let record = self.records[id.session] else { return }
        self.records[id.session]?.offers[id] = nil
        guard self.mayRunHandler else {
            self.answer(id, .decline(.busy))
            return
        }
        let session = NavigationSession(client: self, key: id.session, ending: record.ending)
        self.runHandler(of: .inquiry(id)) { await body($0, session) }
    }

    /// Runs the handler of a request in a task of its own, since it may take long.
    private func runHandler(
        of question: Question, _ body: @escaping @Sendable (isolated NavigationClient) async -> Void
    ) {
        // A request that comes again is answered once.
        self.stopAnswering(question)
        let number = self.newCall()
        self.handlerCount += 1
        let task = Task {
            await body(self)
            self.handlerCount -= 1
            if self.answering[question]?.number == number { self.answering[question] = nil }
        }
        self.answering[question] = Handler(number: number, task: task)
    }

    /// The request has ended, so its handler need not answer.
    private func stopAnswering(_ question: Question) {
        self.answering.removeValue(forKey: question)?.task.cancel()
    }

    /// Whether another handler may run.
    private var mayRunHandler: Bool { self.handlerCount < PeerBounds.inquiriesMax }

    private func offer(
        _ estimates: TravelEstimates, _ id: InquiryID,
        _ whenAccepted: @escaping @Sendable () async throws -> Void
    ) {
        if self.answer(id, .estimates(estimates)) { self.records[id.session]?.offers[id] = whenAccepted }
    }

    /// - Returns: Whether the vehicle still waited for an answer.
    @discardableResult
    private func answer(_ id: InquiryID, _ answer: ClientMachine.InquiryAnswer) -> Bool {
        self.use { client, outputs in
            guard client.isAsked(id) else { return false }
            client.answer(id, answer, into: &outputs)
            return true
        }
    }

    private func end(_ id: InquiryID, _ result: RequestResult) {
        self.stopAnswering(.inquiry(id))
        guard let whenAccepted = self.records[id.session]?.offers.removeValue(forKey: id),
            result == .accepted
        else { return }
        let session = self.link.peer.label(of: id.session)
        // The app has offered it, so it is done also while many handlers run.
        self.handlerCount += 1
        Task {
            defer { self.handlerCount -= 1 }
            do { try await whenAccepted() } catch {
                let text = "the app could not carry out what it has offered to a vehicle"
                self.driver.log(
                    PeerNote(.warning, text, [session, .init(key: PeerLogKey.error, text: "\(error)")]))
            }
        }
    }

    private func ask(_ inquiry: DestinationInquiry, _ id: DestinationInquiryID) {
        guard let handler = self.configuration.onDestination else { return }
        guard self.mayRunHandler else {
            return self.use { client, _ in client.answerDestination(id, .decline(.busy)) }
        }
        self.runHandler(of: .destination(id)) { client in
            let answer = await handler(inquiry)
            guard !Task.isCancelled else { return }
            client.use { machine, _ in machine.answerDestination(id, answer) }
        }
    }

    /// The connection was lost or closed, which ends every request.
    private func loseQuestions() {
        for question in self.answering.keys { self.stopAnswering(question) }
    }
}

extension NavigationClient: PeerDriver {
    func perform(_ output: ClientMachine.Output) {
        switch output {
        case .returned(let call, let result): self.calls.removeValue(forKey: call)?.resume(returning: result)
        case .shared(let call, let result): self.shares.removeValue(forKey: call)?.resume(returning: result)
        case .told(let event, let key): self.tell(event, key)
        case .ended(let reason, let key): self.end(key, reason)
        case .notOpened(let key):
            self.records[key]?.finish()
            self.records[key] = nil
        case .asked(let inquiry, let id): self.ask(inquiry, id)
        case .askedToStart(let inquiry, let id): self.ask(inquiry, id)
        case .inquiryEnded(let id, let result): self.end(id, result)
        case .askedForDestination(let inquiry, let id): self.ask(inquiry, id)
        case .destinationInquiryEnded(let id): self.stopAnswering(.destination(id))
        case .askedToSimulate(let drive): self.configuration.onSimulateDrive?(drive)
        case .log(let note): self.driver.log(note)
        }
    }

    func connectionChanged(to state: ConnectionState) {
        switch state {
        case .connecting, .closed: self.loseQuestions()
        case .connected: break
        }
    }
}

extension NavigationHello {
    /// - Throws: ``ClientError/invalid(_:)`` if the id is not allowed.
    package init(_ configuration: NavigationClient.Configuration) throws(ClientError) {
        guard let id = ClientID(configuration.id) else {
            throw .invalid("the id \(configuration.id) must be 1 to 64 of A-Z a-z 0-9 . _ : -")
        }
        var features = Set(Feature.allCases)
        features.subtract([.requests, .prompts])
        if configuration.onDestination == nil { features.remove(.destinationRequests) }
        if configuration.onSimulateDrive == nil { features.remove(.simulatedDrives) }
        self.init(client: id, features: features)
        self.extensions = try ExtensionName.list(configuration.extensions)
        self.priority = configuration.priority
        self.receiveFrameBytesMax = configuration.receiveFrameBytesMax
    }
}
