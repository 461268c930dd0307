internal import WaymarkCodec
public import WaymarkModel
internal import WaymarkProtocol

/// Which vehicles a session is for.
public enum SessionVehicles: Sendable, Hashable {
    /// These, now or when they connect.
    case vehicles([String])
    /// Every vehicle that wants guidance and is free.
    case anyThatAsked
}

/// A vehicle wants to stop somewhere on the way.
public struct WaypointInquiry: Sendable, Hashable {
    /// The vehicle that asks.
    public let vehicle: String
    /// Where to stop.
    public let waypoint: Waypoint
    /// The segment to insert into; empty: the client chooses.
    public let segment: String
}

/// How a client answers a ``WaypointInquiry``.
public enum WaypointAnswer: Sendable {
    /// The vehicle's user is asked with these estimates; `whenAccepted` runs if the user agrees.
    case estimates(TravelEstimates, whenAccepted: @Sendable () async -> Void)
    /// The client asks its user by itself; `true` accepts.
    case ownPrompt(@Sendable () async -> Bool)
    /// With one of notSupported, declinedByUser, busy, invalid, tooLarge.
    case decline(RequestResult)
}

/// How a request, or a shared destination, ended.
public enum RequestResult: UInt32, Sendable, Hashable, CaseIterable {
    case accepted = 1
    case notSupported, declinedByUser, busy, invalid, timedOut, tooLarge, gone, withdrawn, sessionEnded
}

/// A vehicle wants to be guided to a place.
public struct DestinationInquiry: Sendable, Hashable {
    /// The vehicle that asks.
    public let vehicle: String
    /// Where to drive.
    public let destination: Waypoint
}

/// What happens to a session beside what its client publishes.
public enum SessionEvent: Sendable, Hashable {
    /// A vehicle joined, is awaited, was refused or left; in words.
    case vehicleChanged(vehicle: String, standing: String)
    case routeSource(vehicle: String, RouteSource)
    /// A display setting changed; in words.
    case settings(vehicle: String, endpoint: String, description: String)
    case zoom(vehicle: String, ZoomDirection)
    /// The alert was dismissed (action 0) or an action chosen.
    case alertResponse(vehicle: String, alert: UInt32, action: UInt32)
    /// A waypoint request of a vehicle ended.
    case waypointResult(vehicle: String, RequestResult)
    /// A destination share: nil while under way.
    case shareResult(vehicle: String, shareID: String, RequestResult?)
    /// The lowest number that all endpoints have received.
    case received(sequence: UInt64)
    /// A message was refused by the gateway.
    case rejected(field: String, reason: String)
    /// The session is over.
    case ended(reason: String)
}

/// A navigation client: provides guidance to vehicles through a gateway.
///
/// Comes back by itself after a loss and restores its sessions.
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
        /// Asked when a vehicle wants a drive; true accepts. nil: not asked at all.
        public var onDestination: (@Sendable (DestinationInquiry) async -> Bool)?
        /// Told where the connection stands.
        public var onConnection: @Sendable (ConnectionState) async -> Void = { _ in }

        /// A configuration for the client named `id`.
        public init(id: String) { self.id = id }
    }

    private let configuration: Configuration
    private let clientID: ClientID
    private var link: Link?
    private var token: ResumptionToken?
    private var sessions: [String: SessionRecord] = [:]
    private var order: [String] = []
    private var nextRequest = 0
    private var direct: [Envelope] = []

    private struct SessionRecord {
        var opening: OpenSession
        var id: SessionID?
        var state = PublishedState()
        var isOver = false
        var isAnnounced = false
        var onEvent: @Sendable (SessionEvent) async -> Void
        var onWaypoint: (@Sendable (WaypointInquiry) async -> WaypointAnswer)?
        var opened: CheckedContinuation<Result<Void, ClientError>, Never>?
        var accepted: [String: @Sendable () async -> Void] = [:]
    }

    /// Connects to a gateway; returns when it has said Welcome.
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
        let link = Link(address: address, reconnection: self.configuration.reconnection, owner: self)
        self.link = link
        try await link.open()
    }

    /// Ends all sessions and the connection.
    public func close() async {
        await self.link?.close()
        for key in self.order { await self.end(key, "closed") }
    }

    /// Drops the transport as a network cut would. For tests.
    package func cut() async { await self.link?.cut() }

    // MARK: Sessions

    /// Opens a session; returns when the gateway has it.
    ///
    /// - Parameters:
    ///   - vehicles: Whom it is for.
    ///   - receipts: How often to hear how far the vehicles are, 100 ms ... 60 s; nil: not at all.
    ///   - onEvent: Told what happens, one at a time; publishing from it is fine, waiting for the session is not.
    ///   - onWaypoint: Asked when a vehicle wants to stop on the way; nil declines.
    /// - Returns: The open session, before guidance.
    /// - Throws: ``ClientError/rejected(field:reason:)`` if no vehicle takes it, ``ClientError/invalid(_:)`` for a bad id.
    public func openSession(
        vehicles: SessionVehicles, receipts: Duration? = nil,
        onEvent: @escaping @Sendable (SessionEvent) async -> Void = { _ in },
        onWaypoint: (@Sendable (WaypointInquiry) async -> WaypointAnswer)? = nil
    ) async throws(ClientError) -> NavigationSession {
        self.nextRequest += 1
        let key = "session-\(self.nextRequest)"
        let opening = OpenSession(
            requestID: key, vehicles: try Self.selection(vehicles),
            receiptsEveryMilliseconds: UInt32(clamping: receipts?.milliseconds ?? 0))
        self.order.append(key)
        let result = await withCheckedContinuation { continuation in
            self.sessions[key] = SessionRecord(
                opening: opening, onEvent: onEvent, onWaypoint: onWaypoint, opened: continuation)
            self.send(Envelope(.openSession(opening)))
        }
        try result.get()
        return NavigationSession(client: self, key: key)
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
    func publish(_ key: String, _ make: (inout PublishedState) -> Publication) async throws(ClientError) {
        guard var record = self.sessions[key], !record.isOver else {
            throw .sessionEnded(reason: "it ended before")
        }
        let publication = make(&record.state)
        try record.state.publish(publication)
        self.sessions[key] = record
        await self.link?.wakeUp()
    }

    private func end(_ key: String, _ reason: String) async {
        guard let record = self.sessions[key], !record.isOver else { return }
        self.sessions[key]?.isOver = true
        self.sessions[key]?.opened = nil
        record.opened?.resume(returning: .failure(.sessionEnded(reason: reason)))
        await record.onEvent(.ended(reason: reason))
        self.sessions[key] = nil
        self.order.removeAll { $0 == key }
    }

    private func send(_ envelope: Envelope) {
        self.direct.append(envelope)
        if let link { Task { await link.wakeUp() } }
    }

    private func key(of session: SessionID) -> String? {
        self.order.first { self.sessions[$0]?.id == session }
    }

    // MARK: What the gateway says

    private func receivedSessionMessage(_ message: Message, _ key: String) async {
        guard let record = self.sessions[key] else { return }
        switch message {
        case .vehicleChanged(let status):
            await record.onEvent(
                .vehicleChanged(vehicle: status.vehicle.rawValue, standing: "\(status.standing)"))
        case .updateRouteSource(let update):
            await record.onEvent(.routeSource(vehicle: update.vehicle?.rawValue ?? "", update.routeSource))
        case .vehicleSettings(let settings):
            await record.onEvent(
                .settings(
                    vehicle: settings.source?.vehicle.rawValue ?? "",
                    endpoint: settings.source?.endpoint.rawValue ?? "", description: settings.words))
        case .zoomCluster(let zoom):
            await record.onEvent(.zoom(vehicle: zoom.source?.vehicle.rawValue ?? "", zoom.direction))
        case .alertResponse(let response):
            var action: UInt32 = 0
            if case .action(let chosen) = response.response { action = chosen }
            await record.onEvent(
                .alertResponse(
                    vehicle: response.source?.vehicle.rawValue ?? "", alert: response.alert, action: action))
        case .destinationShareStatus(let status):
            let result: RequestResult? =
                switch status.stage {
                case .willShare: nil
                case .didShare: .accepted
                case .didFailToShare(let outcome): RequestResult(outcome)
                }
            await record.onEvent(
                .shareResult(vehicle: status.vehicle.rawValue, shareID: status.shareID, result))
        case .receiptReport(let report):
            let lowest = report.endpoints.map(\.receipt.receivedSequence).min() ?? 0
            await record.onEvent(.received(sequence: lowest))
        case .waypointRequest(let request): self.answer(request, record.onWaypoint, key)
        case .requestOutcome(let outcome): await self.finish(outcome, key)
        default: break  // Nothing that a client can use.
        }
    }

    private func answer(
        _ request: WaypointRequest, _ handler: (@Sendable (WaypointInquiry) async -> WaypointAnswer)?,
        _ key: String
    ) {
        guard let vehicle = request.vehicle else { return }
        guard let handler else {
            return self.send(.decline(.notSupported), request.requestID, vehicle)
        }
        let inquiry = WaypointInquiry(
            vehicle: vehicle.rawValue, waypoint: request.waypoint, segment: request.segment)
        // In a task of its own: it may take long, and the gateway bounds how many there are.
        Task {
            switch await handler(inquiry) {
            case .estimates(let estimates, let whenAccepted):
                self.sessions[key]?.accepted["\(vehicle)/\(request.requestID)"] = whenAccepted
                self.send(.estimates(estimates), request.requestID, vehicle)
            case .ownPrompt(let ask):
                self.send(.ownPrompt, request.requestID, vehicle)
                self.send(await ask() ? .accept : .decline(.declinedByUser), request.requestID, vehicle)
            case .decline(let reason):
                self.send(
                    .decline(Outcome(rawValue: reason.rawValue) ?? .invalid), request.requestID, vehicle)
            }
        }
    }

    private func finish(_ outcome: RequestOutcome, _ key: String) async {
        let whenAccepted = self.sessions[key]?.accepted
            .removeValue(forKey: "\(outcome.vehicle)/\(outcome.requestID)")
        await self.sessions[key]?.onEvent(
            .waypointResult(vehicle: outcome.vehicle.rawValue, RequestResult(outcome.outcome)))
        if outcome.outcome == .accepted, let whenAccepted { Task { await whenAccepted() } }
    }

    private func answer(_ request: DestinationRequest) {
        guard let vehicle = request.vehicle else { return }
        guard let handler = self.configuration.onDestination else {
            return self.send(.decline(.notSupported), request.requestID, vehicle)
        }
        let inquiry = DestinationInquiry(vehicle: vehicle.rawValue, destination: request.destination)
        Task {
            let isAccepted = await handler(inquiry)
            self.send(isAccepted ? .accept : .decline(.declinedByUser), request.requestID, vehicle)
        }
    }

    private func send(_ answer: RequestAnswer.Answer, _ requestID: String, _ vehicle: VehicleID) {
        self.send(
            Envelope(.requestAnswer(RequestAnswer(requestID: requestID, vehicle: vehicle, answer: answer))))
    }

    private func received(_ rejection: Rejection) async {
        if !rejection.requestID.isEmpty, let continuation = self.sessions[rejection.requestID]?.opened {
            self.sessions[rejection.requestID] = nil
            self.order.removeAll { $0 == rejection.requestID }
            return continuation.resume(
                returning: .failure(.rejected(field: rejection.field, reason: rejection.reason)))
        }
        guard let key = self.key(of: rejection.session) else { return }
        await self.sessions[key]?.onEvent(.rejected(field: rejection.field, reason: rejection.reason))
    }
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

    func linkStateChanged(_ state: ConnectionState) async {
        await self.configuration.onConnection(state)
        guard case .closed(let error) = state else { return }
        self.link = nil
        for key in self.order { await self.end(key, "\(error)") }
    }

    func welcomed(_ welcome: Welcome) async {
        self.token = welcome.resumptionToken
        self.direct = []
        for key in self.order {
            guard let record = self.sessions[key] else { continue }
            guard let id = record.id, let found = welcome.sessions.first(where: { $0.session == id }) else {
                if record.id != nil { self.sessions[key]?.state.restart() }
                self.sessions[key]?.id = nil
                self.send(Envelope(.openSession(record.opening)))
                continue
            }
            if found.phase == .ended {
                await self.end(key, found.endReason.map { "\($0)" } ?? "ended")
            } else {
                self.sessions[key]?.state.resume(after: found.sequence)
            }
        }
    }

    func received(_ envelope: Envelope) async {
        switch envelope.message {
        case .sessionOpened(let opened):
            self.sessions[opened.requestID]?.id = opened.session
            self.sessions[opened.requestID]?.opened?.resume(returning: .success(()))
            self.sessions[opened.requestID]?.opened = nil
            for status in opened.vehicles {
                await self.receivedSessionMessage(.vehicleChanged(status), opened.requestID)
            }
            await self.link?.wakeUp()
        case .sessionEnded(let ended):
            if let key = self.key(of: ended.session) { await self.end(key, "\(ended.reason)") }
        case .destinationRequest(let request): self.answer(request)
        case .error(let rejection): await self.received(rejection)
        default:
            if let key = self.key(of: envelope.session) {
                await self.receivedSessionMessage(envelope.message, key)
            }
        }
    }

    func takeOutgoing() -> [Frame] {
        var frames = self.direct.map(Codec.encode)
        self.direct = []
        for key in self.order {
            guard let id = self.sessions[key]?.id else { continue }
            do throws(ClientError) {
                frames += try self.sessions[key]?.state.takePending(session: id) ?? []
            } catch { continue }
        }
        return frames
    }
}

extension RequestResult {
    init(_ outcome: Outcome) { self = RequestResult(rawValue: outcome.rawValue) ?? .invalid }
}

extension VehicleSettings {
    /// What is set, for humans.
    fileprivate var words: String {
        var words: [String] = []
        if let compass { words.append("compass \(compass)") }
        if let speedLimit { words.append("speed limit \(speedLimit)") }
        if let contentStyle { words.append("content style \(contentStyle)") }
        if let limitedUserInterfaces { words.append("limited interfaces \(limitedUserInterfaces)") }
        if let isReadyToShow { words.append(isReadyToShow ? "ready" : "not ready") }
        return words.joined(separator: ", ")
    }
}
