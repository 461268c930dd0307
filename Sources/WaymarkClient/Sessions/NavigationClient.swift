internal import Logging
internal import WaymarkCodec
internal import WaymarkProtocol

/// A navigation client: provides guidance to vehicles through a gateway.
///
/// It reconnects after a loss and restores its sessions. ``withNavigationClient(to:_:_:)`` closes it when its body ends;
/// after ``connect(to:_:)`` call ``close()``. Handlers may call any method here, ``close()`` too, and may take as long as
/// they need.
public actor NavigationClient {
    let configuration: Configuration
    private(set) var logger: Logger
    private let clientID: ClientID
    private var link: Link?
    /// The link has been woken and has not called ``dequeueOutgoing()`` yet.
    private var isLinkWoken = false
    private var token: ResumptionToken?
    /// By the id of the request that opens each.
    var sessions: [Identifier: SessionRecord] = [:]
    /// The keys of `sessions`, oldest first.
    private var order: [Identifier] = []
    private var nextSession = 0
    /// Answers, and requests to open sessions, that are not sent yet.
    private var control: [Envelope] = []
    /// Sessions that the gateway has opened for calls that were cancelled.
    private var orphans: [ResumedSession] = []
    private var callCount = 0
    private var connections = Readers<ConnectionState>()
    private var connectionState = ConnectionState.connecting
    private var frameBytesMax = Int(ConnectionLimits().frameBytesMax)
    /// Features that the operator withholds from this client.
    private var withheld: FeatureSet = []

    /// Connects to a gateway; returns with its Welcome.
    ///
    /// - Throws: ``ClientError/invalid(_:)`` for a bad id, ``ClientError/rejected(field:reason:)`` for a setting outside of
    ///   its range, ``ClientError/cannotConnect(_:reason:)``, ``ClientError/refused(reason:)``; ``ClientError/cancelled`` if
    ///   the task was cancelled.
    public static func connect(
        to address: ServiceAddress = .defaultNavigation, _ configuration: Configuration
    ) async throws(ClientError) -> NavigationClient {
        guard let id = ClientID(configuration.id) else {
            throw .invalid("the id \(configuration.id) must be 1 to 64 of A-Z a-z 0-9 . _ : -")
        }
        let client = NavigationClient(configuration, id)
        try await client.open(address)
        return client
    }

    private init(_ configuration: Configuration, _ id: ClientID) {
        self.configuration = configuration
        self.logger = configuration.logger
        self.logger[metadataKey: LogKey.client] = "\(id)"
        self.clientID = id
    }

    private func open(_ address: ServiceAddress) async throws(ClientError) {
        try Codec.check(.hello(self.hello()))
        let link = Link(
            address: address, reconnection: self.configuration.reconnection, logger: self.logger, owner: self)
        self.link = link
        try await link.open()
    }

    /// Sends what is queued, and ends all sessions and the connection. Takes at most two seconds, also when its task is
    /// cancelled.
    public func close() async { await self.link?.close() }

    /// Closes the transport as a network failure would. For tests.
    package func cut() async { await self.link?.cut() }

    /// The state of the connection, now and after every change; a slow reader gets only the newest.
    public var connectionStates: Feed<ConnectionState> {
        self.connections.open(with: [self.connectionState])
    }

    // MARK: Sessions

    /// Opens a session; returns when the gateway has it.
    ///
    /// - Parameters:
    ///   - vehicles: The vehicles to guide.
    ///   - receipts: How often ``SessionEvent/received(sequence:receipts:)`` comes, 100 ms ... 60 s; nil: never.
    ///   - onWaypoint: Answers a vehicle that asks to stop on the way; nil declines.
    /// - Returns: The open session, before guidance.
    /// - Throws: ``ClientError/vehicleRefused(vehicle:_:reason:)`` if no vehicle takes it,
    ///   ``ClientError/rejected(field:reason:)`` for a field outside of its range or if the gateway has too many sessions,
    ///   ``ClientError/invalid(_:)`` for a bad id, the reason for which the connection is over if it is,
    ///   ``ClientError/cancelled`` if the task was cancelled: the gateway has no session then, or ends it at once.
    public func openSession(
        vehicles: SessionVehicles, receipts: Duration? = nil,
        onWaypoint: (@Sendable (WaypointInquiry, NavigationSession) async -> WaypointAnswer)? = nil
    ) async throws(ClientError) -> NavigationSession {
        let selection = try Self.selection(vehicles)
        if case .closed(let error) = self.connectionState { throw error }
        self.nextSession += 1
        let key: Identifier = "session-\(self.nextSession)"
        let opening = OpenSession(
            requestID: key, vehicles: selection, receiptsEveryMilliseconds: try Self.interval(receipts))
        try Codec.check(.openSession(opening))
        let session = NavigationSession(client: self, key: key, ending: SessionEnding())
        var record = SessionRecord(opening, ending: session.ending, onWaypoint: onWaypoint)
        record.state.frameBytesMax = self.frameBytesMax
        record.state.withheld = self.withheld
        let result: Result<Void, ClientError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled else { return continuation.resume(returning: .failure(.cancelled)) }
                record.opened = continuation
                self.sessions[key] = record
                self.order.append(key)
                self.send(Envelope(.openSession(opening)))
            }
        } onCancel: {
            Task { await self.abandonOpening(key) }
        }
        try result.get()
        return session
    }

    /// The task of the call that opens a session was cancelled.
    private func abandonOpening(_ key: Identifier) {
        guard let opened = self.sessions[key]?.opened else { return }  // The gateway has answered already.
        self.forget(key)
        self.control.removeAll { envelope in
            if case .openSession(let opening) = envelope.message { opening.requestID == key } else { false }
        }
        opened.resume(returning: .failure(.cancelled))
        self.endOrphans()
    }

    /// Ends a session that the gateway has opened for a call that was cancelled.
    func endOrphan(_ session: SessionID, after sequence: UInt64) {
        self.send(
            Envelope(.publication(.cancelGuidance), session: session, sequence: sequence + 1))
    }

    /// Ends the orphans once no session is being opened: until then one of them may be a session that is opened again.
    func endOrphans() {
        guard !self.sessions.values.contains(where: { $0.id == nil }) else { return }
        for orphan in self.orphans where self.key(of: orphan.session) == nil {
            self.endOrphan(orphan.session, after: orphan.sequence)
        }
        self.orphans = []
    }

    /// 0 for no receipts.
    private static func interval(_ receipts: Duration?) throws(ClientError) -> UInt32 {
        guard let receipts else { return 0 }
        let range = ProtocolConstants.receiptsMilliseconds
        guard let milliseconds = UInt32(exactly: receipts.milliseconds), range.contains(milliseconds) else {
            throw .rejected(
                field: "receipts", reason: "must be \(range.lowerBound) to \(range.upperBound) ms")
        }
        return milliseconds
    }

    private static func selection(_ vehicles: SessionVehicles) throws(ClientError) -> VehicleSelection {
        guard case .vehicles(let names) = vehicles else { return .anyThatAsked }
        var ids: [VehicleID] = []
        for name in names {
            guard let id = VehicleID(name) else {
                throw .invalid("the vehicle id \(name) must be 1 to 64 of A-Z a-z 0-9 . _ : -")
            }
            ids.append(id)
        }
        return .vehicles(ids)
    }

    /// Queues a publication of a session.
    func publish(
        _ session: NavigationSession, _ make: @Sendable (inout PublishedState) -> Publication
    ) throws(ClientError) {
        guard self.sessions[session.key] != nil else {
            throw .sessionEnded(session.endReason ?? .unrecognized)
        }
        try self.sessions[session.key]?.publish(make)
        self.wakeLink()
    }

    /// Shares a destination and waits for all outcomes.
    func share(
        _ session: NavigationSession, _ share: Identifier, _ publication: Publication
    ) async throws(ClientError) -> [String: RequestResult] {
        let key = session.key
        guard self.sessions[key]?.isSharing(share) != true else {
            throw .invalid("the share \(share) is under way; give every share an id of its own")
        }
        guard !Task.isCancelled else { throw .cancelled }
        try self.publish(session) { _ in publication }
        guard self.sessions[key]?.state.waitingShares.contains(share) == true else {
            throw .interrupted("too much waited to be sent; share the destination again")
        }
        self.callCount += 1
        let number = self.callCount
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { self.sessions[key]?.wait(for: share, number, $0) }
        } onCancel: {
            Task { await self.abandonShare(key, share, number) }
        }
        return try result.get()
    }

    /// The task of the call that shares a destination was cancelled.
    private func abandonShare(_ key: Identifier, _ share: Identifier, _ number: Int) {
        self.sessions[key]?.abandonShare(share, number)
    }

    /// Waits until the gateway has accepted what was published in a session.
    func whenAccepted(_ session: NavigationSession) async throws(ClientError) {
        let key = session.key
        self.callCount += 1
        let call = self.callCount
        let result: Result<Void, ClientError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume(returning: .failure(.cancelled))
                } else if self.sessions[key] != nil {
                    self.sessions[key]?.waitUntilAccepted(call, continuation)
                } else {
                    let reason = session.endReason ?? .unrecognized
                    continuation.resume(
                        returning: reason.isOwnEnd ? .success(()) : .failure(.sessionEnded(reason)))
                }
            }
        } onCancel: {
            Task { await self.abandonAcceptance(key, call) }
        }
        try result.get()
    }

    private func abandonAcceptance(_ key: Identifier, _ call: Int) {
        self.sessions[key]?.abandonAcceptance(call)
    }

    /// A feed of a session's events; empty when the session has ended.
    func events(of key: Identifier) -> Feed<SessionEvent> {
        if let feed = self.sessions[key]?.openFeed() { return feed }
        var none = Readers<SessionEvent>()
        none.finish()
        return none.open()
    }

    /// Removes a session that was never open; its readers are not told.
    func forget(_ key: Identifier) {
        self.sessions[key]?.events.finish()
        self.sessions[key] = nil
        self.order.removeAll { $0 == key }
    }

    /// Ends a session; ``SessionEvent/ended(reason:)`` is the last event of its readers.
    func end(_ key: Identifier, _ reason: EndReason) {
        guard var record = self.sessions.removeValue(forKey: key) else { return }
        self.order.removeAll { $0 == key }
        self.logger.info(
            "session ended", metadata: record.metadata.merging([LogKey.reason: "\(reason)"]) { $1 })
        record.end(reason)
    }

    /// Tells a session's readers, and logs what the app has not asked for.
    func tell(_ event: SessionEvent, _ key: Identifier) {
        guard let metadata = self.sessions[key]?.metadata else { return }
        if case .rejected(let field, let reason) = event {
            self.logger.warning(
                "the gateway refused a publication",
                metadata: metadata.merging([LogKey.field: "\(field)", LogKey.reason: "\(reason)"]) { $1 })
        }
        if self.sessions[key]?.tell(event) == true {
            self.logger.warning("a reader of session events is too slow and misses some", metadata: metadata)
        }
    }

    /// Queues a message.
    func send(_ envelope: Envelope) {
        self.control.append(envelope)
        self.wakeLink()
    }

    func wakeLink() {
        guard let link, !self.isLinkWoken else { return }
        self.isLinkWoken = true
        Task { await link.wakeUp() }
    }

    /// The key of the session with this id on the wire.
    func key(of session: SessionID) -> Identifier? { self.order.first { self.sessions[$0]?.id == session } }
}

extension NavigationClient: LinkOwner {
    func hello() -> Hello {
        var features = Set(Feature.allCases)
        features.subtract([.requests, .prompts])
        if self.configuration.onDestination == nil { features.remove(.destinationRequests) }
        var navigation = NavigationHello(client: self.clientID, features: features)
        navigation.priority = self.configuration.priority
        var hello = Hello(role: .navigation(navigation))
        hello.displayName = self.configuration.displayName
        hello.credential = self.configuration.credential
        hello.resumptionToken = self.token
        return hello
    }

    func linkStateChanged(_ state: ConnectionState) {
        self.connectionState = state
        self.connections.tell(state)
        guard case .closed(let error) = state else { return }
        self.connections.finish()
        self.link = nil
        for key in self.order {
            // The app has closed the client before the gateway confirmed the session's end.
            let isOver = error == .closed && self.sessions[key]?.state.hasSentEnd == true
            let reason = isOver ? self.sessions[key]?.ownEnd : nil
            self.end(key, reason ?? .connectionClosed(error))
        }
    }

    /// Resumes every session that the gateway still has, and opens or ends the others.
    func welcomed(_ welcome: Welcome, frameBytesMax: Int) {
        self.token = welcome.resumptionToken
        self.isLinkWoken = false
        self.frameBytesMax = frameBytesMax
        self.withheld = FeatureSet(welcome.features.filter { $0.withheld == .policy }.map(\.feature))
        // Sessions are opened again below. The requests that queued answers are for ended with the lost connection.
        self.control = []
        self.orphans = welcome.sessions.filter { $0.phase != .ended && self.key(of: $0.session) == nil }
        for key in self.order {
            self.sessions[key]?.state.frameBytesMax = frameBytesMax
            self.sessions[key]?.loseInquiries()
            defer { self.sessions[key]?.state.withheld = self.withheld }
            guard let record = self.sessions[key] else { continue }
            guard let id = record.id else {
                self.send(Envelope(.openSession(record.opening)))
                continue
            }
            if let found = welcome.sessions.first(where: { $0.session == id }) {
                self.resume(key, found)
            } else if welcome.isResumed {
                // The gateway knows this client, so it has ended the session; the message about it was lost.
                self.end(key, .endedWhileAway)
            } else {
                self.restart(key, record)
            }
        }
        self.endOrphans()
    }

    private func resume(_ key: Identifier, _ found: ResumedSession) {
        guard found.phase != .ended else { return self.end(key, EndReason(found.endReason)) }
        self.logger.info("session resumed", metadata: self.sessions[key]?.metadata)
        self.sessions[key]?.resume(after: found.sequence)
        self.sessions[key]?.failSentShares()
    }

    private func restart(_ key: Identifier, _ record: SessionRecord) {
        if let reason = record.ownEnd { return self.end(key, reason) }
        self.logger.notice("the gateway was restarted; opening the session again", metadata: record.metadata)
        self.sessions[key]?.restart()
        self.sessions[key]?.failSentShares()
        self.sessions[key]?.forgetInquiries()
        self.send(Envelope(.openSession(record.opening)))
    }

    func dequeueOutgoing() -> [Frame] {
        self.isLinkWoken = false
        var frames = self.control.map(Codec.encode)
        self.control = []
        for key in self.order {
            do throws(ClientError) {
                frames += try self.sessions[key]?.dequeuePending() ?? []
            } catch {
                // Only after a reconnect to a gateway that accepts smaller frames than the one before.
                if let frame = self.sessions[key]?.giveUp() { frames.append(frame) }
                self.end(key, .notRestored(field: "", reason: "\(error)"))
            }
        }
        return frames
    }
}
