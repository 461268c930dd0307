internal import WaymarkCodec
internal import WaymarkProtocol

/// Which vehicles a session is for.
public enum SessionVehicles: Sendable, Hashable {
    /// These, now or when they connect.
    case vehicles([String])
    /// Every vehicle that wants guidance and is free.
    case anyThatAsked
}

/// A navigation client: provides guidance to vehicles through a gateway.
///
/// Comes back by itself after a loss and restores its sessions; call ``close()`` to end it. Handlers may call anything here,
/// ``close()`` too, and may take as long as they like.
public actor NavigationClient {
    /// Who the client is and what it answers.
    public struct Configuration: Sendable {
        /// 1 ... 64 of A-Z a-z 0-9 . _ : -
        public var id: String
        /// For humans; at most 128 bytes.
        public var displayName = ""
        /// Higher wins, -1 000 ... 1 000.
        public var priority: Int32 = 0
        /// The listener's pre-shared key; empty for none.
        public var credential: [UInt8] = []
        /// How to come back after a loss.
        public var reconnection = ReconnectionPolicy()
        /// Asked when a vehicle wants a drive. nil: not asked at all.
        public var onDestination: (@Sendable (DestinationInquiry) async -> DestinationAnswer)?
        /// Told where the connection stands, as ``NavigationClient/connectionStates`` is.
        public var onConnection: (@Sendable (ConnectionState) async -> Void)?

        /// A configuration for the client named `id`.
        public init(id: String) { self.id = id }
    }

    let configuration: Configuration
    private let clientID: ClientID
    private var link: Link?
    /// It has been told that something waits, and has not come for it yet.
    private var isLinkWoken = false
    private var token: ResumptionToken?
    /// By the id of the request that opens each.
    var sessions: [String: SessionRecord] = [:]
    /// The keys of `sessions`, oldest first.
    private var order: [String] = []
    private var nextSession = 0
    /// Answers, and sessions to be opened, that wait for the connection.
    private var control: [Envelope] = []
    /// Sessions that the gateway has and this client does not want: the call that opened each was cancelled.
    private var strays: [ResumedSession] = []
    private var shareCount = 0
    private var connections = Readers<ConnectionState>()
    private var connectionState = ConnectionState.connecting
    private var frameBytesMax = Int(ConnectionLimits().frameBytesMax)
    /// Features that the operator withholds from this client.
    private var withheld: FeatureSet = []

    /// Connects to a gateway; returns when it has said Welcome.
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
        self.clientID = id
    }

    private func open(_ address: ServiceAddress) async throws(ClientError) {
        try Codec.check(.hello(self.hello()))
        if let handler = self.configuration.onConnection { self.connections.open().forEach(handler) }
        let link = Link(address: address, reconnection: self.configuration.reconnection, owner: self)
        self.link = link
        try await link.open()
    }

    /// Writes what is still to be written, ends all sessions and the connection. Takes two seconds at most.
    public func close() async { await self.link?.close() }

    /// Drops the transport as a network cut would. For tests.
    package func cut() async { await self.link?.cut() }

    /// Where the connection stands, from now on; only the newest waits for a slow reader.
    public var connectionStates: Feed<ConnectionState> {
        self.connections.open(with: [self.connectionState])
    }

    // MARK: Sessions

    /// Opens a session; returns when the gateway has it.
    ///
    /// - Parameters:
    ///   - vehicles: Whom it is for.
    ///   - receipts: How often to hear how far the vehicles are, 100 ms ... 60 s; nil: not at all.
    ///   - onEvent: Told what happens, one at a time, as ``NavigationSession/events`` is.
    ///   - onWaypoint: Asked when a vehicle wants to stop on the way; nil declines.
    /// - Returns: The open session, before guidance.
    /// - Throws: ``ClientError/vehicleRefused(vehicle:_:reason:)`` if no vehicle takes it,
    ///   ``ClientError/rejected(field:reason:)`` for a field outside of its range or if the gateway has too many sessions,
    ///   ``ClientError/invalid(_:)`` for a bad id, the reason for which the connection is over if it is,
    ///   ``ClientError/cancelled`` if the task was cancelled: the gateway has no session then, or ends it at once.
    public func openSession(
        vehicles: SessionVehicles, receipts: Duration? = nil,
        onEvent: (@Sendable (SessionEvent) async -> Void)? = nil,
        onWaypoint: (@Sendable (WaypointInquiry) async -> WaypointAnswer)? = nil
    ) async throws(ClientError) -> NavigationSession {
        let selection = try Self.selection(vehicles)
        if case .closed(let error) = self.connectionState { throw error }
        self.nextSession += 1
        let key = "session-\(self.nextSession)"
        let opening = OpenSession(
            requestID: key, vehicles: selection, receiptsEveryMilliseconds: try Self.interval(receipts))
        try Codec.check(.openSession(opening))
        var record = SessionRecord(opening, onWaypoint: onWaypoint)
        record.state.frameBytesMax = self.frameBytesMax
        record.state.withheld = self.withheld
        if let onEvent { record.openFeed().forEach(onEvent) }
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
        return NavigationSession(client: self, key: key)
    }

    /// The task of the call that opens a session was cancelled.
    private func abandonOpening(_ key: String) {
        guard let opened = self.sessions[key]?.opened else { return }  // It is open, or was refused.
        self.forget(key)
        self.control.removeAll { envelope in
            if case .openSession(let opening) = envelope.message { opening.requestID == key } else { false }
        }
        opened.resume(returning: .failure(.cancelled))
        self.endStrays()
    }

    /// The gateway has opened a session whose call was cancelled.
    func endStray(_ session: SessionID, after sequence: UInt64) {
        self.send(
            Envelope(.publication(.cancelGuidance), session: session, sequence: sequence + 1))
    }

    /// Ends the sessions that no caller wants, once it is known which these are: one that is being opened again may be among
    /// those that the gateway has.
    func endStrays() {
        guard !self.sessions.values.contains(where: { $0.id == nil }) else { return }
        for stray in self.strays where self.key(of: stray.session) == nil {
            self.endStray(stray.session, after: stray.sequence)
        }
        self.strays = []
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

    /// Hands a publication to a session.
    func publish(
        _ key: String, _ make: @Sendable (inout PublishedState) -> Publication
    ) throws(ClientError) {
        guard self.sessions[key] != nil else { throw .sessionEnded(reason: "open another one") }
        try self.sessions[key]?.publish(make)
        self.wakeLink()
    }

    /// Shares a destination and waits for all outcomes.
    func share(
        _ key: String, _ share: String, _ publication: Publication
    ) async throws(ClientError) -> [String: RequestResult] {
        guard self.sessions[key]?.isSharing(share) != true else {
            throw .invalid("the share \(share) is under way; give every share an id of its own")
        }
        guard !Task.isCancelled else { throw .cancelled }
        try self.publish(key) { _ in publication }
        guard self.sessions[key]?.state.waitingShares.contains(share) == true else {
            throw .interrupted("too much waited to be sent; share the destination again")
        }
        self.shareCount += 1
        let number = self.shareCount
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { self.sessions[key]?.wait(for: share, number, $0) }
        } onCancel: {
            Task { await self.abandonShare(key, share, number) }
        }
        return try result.get()
    }

    /// The task of the call that shares a destination was cancelled.
    private func abandonShare(_ key: String, _ share: String, _ number: Int) {
        self.sessions[key]?.abandonShare(share, number)
    }

    /// A feed of a session's events; empty when it is over.
    func events(of key: String) -> Feed<SessionEvent> {
        if let feed = self.sessions[key]?.openFeed() { return feed }
        var over = Readers<SessionEvent>()
        over.finish()
        return over.open()
    }

    /// The session was never open: nobody is told.
    func forget(_ key: String) {
        self.sessions[key]?.events.finish()
        self.sessions[key] = nil
        self.order.removeAll { $0 == key }
    }

    /// The session is over; its readers hear why, last.
    func end(_ key: String, _ reason: EndReason) {
        guard var record = self.sessions.removeValue(forKey: key) else { return }
        self.order.removeAll { $0 == key }
        record.end(reason)
    }

    /// Puts a message behind what waits for the connection.
    func send(_ envelope: Envelope) {
        self.control.append(envelope)
        self.wakeLink()
    }

    /// Something waits to be sent.
    func wakeLink() {
        guard let link, !self.isLinkWoken else { return }
        self.isLinkWoken = true
        Task { await link.wakeUp() }
    }

    /// The key of the session with this id on the wire.
    func key(of session: SessionID) -> String? { self.order.first { self.sessions[$0]?.id == session } }
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
            // The app said goodbye before the gateway had confirmed the end.
            let isOver = error == .closed && self.sessions[key]?.state.hasSentEnd == true
            let reason = isOver ? self.sessions[key]?.ownEnd : nil
            self.end(key, reason ?? .connectionClosed(error))
        }
    }

    /// Takes up every session where the gateway has it, or opens it again.
    func welcomed(_ welcome: Welcome, frameBytesMax: Int) {
        self.token = welcome.resumptionToken
        self.isLinkWoken = false
        self.frameBytesMax = frameBytesMax
        self.withheld = FeatureSet(welcome.features.filter { $0.withheld == .policy }.map(\.feature))
        // Of what waits, sessions are opened again below; the requests that the answers are for have ended with the
        // connection that was lost.
        self.control = []
        self.strays = welcome.sessions.filter { $0.phase != .ended && self.key(of: $0.session) == nil }
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
                // The gateway knows this client: the session has ended, and the message that said so was lost.
                self.end(key, .endedWhileAway)
            } else {
                self.restart(key, record)
            }
        }
        self.endStrays()
    }

    private func resume(_ key: String, _ found: ResumedSession) {
        guard found.phase != .ended else { return self.end(key, EndReason(found.endReason)) }
        self.sessions[key]?.state.resume(after: found.sequence)
        self.sessions[key]?.failSentShares()
    }

    private func restart(_ key: String, _ record: SessionRecord) {
        if let reason = record.ownEnd { return self.end(key, reason) }
        self.sessions[key]?.id = nil
        self.sessions[key]?.state.restart()
        self.sessions[key]?.failSentShares()
        self.sessions[key]?.forgetInquiries()
        self.send(Envelope(.openSession(record.opening)))
    }

    func takeOutgoing() -> [Frame] {
        self.isLinkWoken = false
        var frames = self.control.map(Codec.encode)
        self.control = []
        for key in self.order {
            do throws(ClientError) {
                frames += try self.sessions[key]?.takePending() ?? []
            } catch {
                // Only a gateway that takes smaller frames than the last one gets here.
                if let frame = self.sessions[key]?.giveUp() { frames.append(frame) }
                self.end(key, .notRestored(field: "", reason: "\(error)"))
            }
        }
        return frames
    }
}
