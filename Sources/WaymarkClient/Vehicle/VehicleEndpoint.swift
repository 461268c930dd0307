internal import WaymarkCodec
public import WaymarkModel
package import WaymarkProtocol

/// Something an endpoint received.
public struct VehicleUpdate: Sendable {
    /// The message's name in the protocol, e.g. `updateTripEstimates`.
    public let name: String
    /// The session's id on the wire; 0 for none.
    public let session: UInt32
    /// The number in the session; 0 outside of one.
    public let sequence: UInt64
    /// The gateway cut the content to this endpoint's profile.
    public let isFitted: Bool
    /// The gateway itself sent it.
    public let isFromGateway: Bool
    /// What the endpoint holds after it.
    public let state: VehicleState
    /// The message itself.
    package let message: Message
}

/// The vehicle's user is asked whether to stop on the way.
public struct WaypointPrompt: Sendable, Hashable {
    /// Where to stop.
    public let waypoint: Waypoint
    /// Of the trip with the new waypoint.
    public let travelEstimates: TravelEstimates
}

/// What an endpoint can show and store. 0 is no limit.
public struct EndpointLimits: Sendable, Hashable {
    /// In Unicode scalars.
    public var currentRoadNameLengthMax: UInt32 = 0
    /// In Unicode scalars.
    public var destinationNameLengthMax: UInt32 = 0
    /// In Unicode scalars.
    public var roadFollowingManeuverLengthMax: UInt32 = 0
    /// In Unicode scalars.
    public var maneuverInstructionLengthMax: UInt32 = 0
    /// In Unicode scalars.
    public var laneInstructionLengthMax: UInt32 = 0
    /// In Unicode scalars.
    public var alertTextLengthMax: UInt32 = 0
    /// Counted from the first upcoming maneuver.
    public var maneuversStoredMax: UInt32 = 0
    /// Counted from the current lane guidance.
    public var laneGuidancesStoredMax: UInt32 = 0
    /// Longer lines are thinned.
    public var routeSegmentPointsMax: UInt32 = 0

    /// No limits.
    public init() {}
}

/// One endpoint of a vehicle: shows guidance, sends the vehicle's requests.
///
/// Comes back by itself after a loss and takes up what it missed.
public actor VehicleEndpoint {
    /// Who the endpoint is, what it wants and what it answers.
    public struct Configuration: Sendable {
        /// 1 ... 64 of A-Z a-z 0-9 . _ : -
        public var vehicle: String
        /// Unique in the vehicle; same alphabet.
        public var endpoint: String
        /// For humans; at most 128 bytes.
        public var displayName = ""
        /// Names of features not wanted, as in `waymark.v1.Feature`, e.g. `laneGuidance`, `routeSegments`.
        public var withoutFeatures: Set<String> = []
        /// What it can show and store.
        public var limits = EndpointLimits()
        /// In which units it shows distances.
        public var distanceUnits = DistanceUnits.asPublished
        /// BCP 47.
        public var locale = ""
        /// Takes guidance from sessions opened for any vehicle that asked.
        public var isGuidanceWanted = true
        /// The listener's pre-shared key; empty for none.
        public var credential: [UInt8] = []
        /// How to come back after a loss.
        public var reconnection = ReconnectionPolicy()
        /// Told of everything received, one at a time: while it runs, nothing further is read.
        public var onUpdate: @Sendable (VehicleUpdate) async -> Void = { _ in }
        /// Asks the vehicle's user; nil: this endpoint is not asked.
        public var onPrompt: (@Sendable (WaypointPrompt) async -> Bool)?
        /// Whether to take a shared destination; nil: not taken.
        public var onDestination: (@Sendable (Waypoint) async -> Bool)?
        /// Told where the connection stands.
        public var onConnection: @Sendable (ConnectionState) async -> Void = { _ in }

        /// A configuration for one endpoint.
        public init(vehicle: String, endpoint: String) {
            self.vehicle = vehicle
            self.endpoint = endpoint
        }
    }

    /// What the endpoint holds now.
    public private(set) var state = VehicleState()
    private let configuration: Configuration
    private let vehicleHello: VehicleHello
    private var link: Link?
    private var token: ResumptionToken?
    private var direct: [Envelope] = []
    private var settings = VehicleSettings()
    private var waiting:
        [String: (message: Message, continuation: CheckedContinuation<RequestResult, Never>)] = [:]
    private var cancellation: CheckedContinuation<String, Never>?
    private var nextRequest = 0
    /// How often receipts are wanted; nil: not at all.
    private var receiptInterval: Duration?
    private var isReceiptScheduled = false
    private var shownSequence: UInt64 = 0

    /// Connects to a gateway; returns when it has said Welcome.
    public static func connect(
        to address: ServiceAddress = .defaultVehicle, _ configuration: Configuration
    ) async throws(ClientError) -> VehicleEndpoint {
        guard let vehicle = VehicleID(configuration.vehicle) else {
            throw .invalid("the vehicle id \(configuration.vehicle) must be 1 to 64 of A-Z a-z 0-9 . _ : -")
        }
        guard let name = EndpointName(configuration.endpoint) else {
            throw .invalid(
                "the endpoint name \(configuration.endpoint) must be 1 to 64 of A-Z a-z 0-9 . _ : -")
        }
        let endpoint = VehicleEndpoint(configuration, vehicle, name)
        let link = Link(address: address, reconnection: configuration.reconnection, owner: endpoint)
        await endpoint.open(link)
        try await link.open()
        return endpoint
    }

    private init(_ configuration: Configuration, _ vehicle: VehicleID, _ name: EndpointName) {
        self.configuration = configuration
        var features = Set(Feature.allCases)
        features.subtract([.waypointRequests, .destinationRequests])
        features = features.filter { !configuration.withoutFeatures.contains("\($0)") }
        if configuration.onPrompt == nil { features.remove(.prompts) }
        if configuration.onDestination == nil { features.remove(.destinationSharing) }
        var hello = VehicleHello(vehicle: vehicle, endpoint: name, features: features)
        hello.limits = VehicleLimits(configuration.limits)
        hello.preferences.distanceUnits = configuration.distanceUnits
        hello.preferences.locale = configuration.locale
        hello.guidanceWanted = configuration.isGuidanceWanted
        self.vehicleHello = hello
    }

    private func open(_ link: Link) { self.link = link }

    /// Ends the connection; the vehicle leaves with its last endpoint.
    public func close() async {
        await self.link?.close()
        self.failWaiting()
    }

    /// Drops the transport as a network cut would. For tests.
    package func cut() async { await self.link?.cut() }

    // MARK: Requests

    /// Asks the client that guides to stop somewhere on the way; returns how it ended.
    public func requestWaypoint(
        _ waypoint: Waypoint, segment: String = "", requestID: String? = nil
    ) async -> RequestResult {
        let id = requestID ?? self.newRequestID()
        return await self.request(
            id, .waypointRequest(WaypointRequest(requestID: id, waypoint: waypoint, segment: segment)))
    }

    /// Asks for a drive to a place; returns how it ended.
    public func requestDestination(_ destination: Waypoint, requestID: String? = nil) async -> RequestResult {
        let id = requestID ?? self.newRequestID()
        return await self.request(
            id, .destinationRequest(DestinationRequest(requestID: id, destination: destination)))
    }

    /// Ends guidance: because the vehicle navigates by itself now, or because its user wants so.
    ///
    /// - Returns: Why the session ended, in the protocol's words.
    public func cancelNavigation(ownNavigation: Bool) async -> String {
        await withCheckedContinuation { continuation in
            self.cancellation?.resume(returning: "replaced by another cancellation")
            self.cancellation = continuation
            self.send(.cancelNavigation(ownNavigation ? .ownNavigationStarted : .userStopped))
        }
    }

    /// Lets clients guide again after the vehicle navigated by itself.
    public func allowNavigation() { self.send(.allowNavigation) }

    /// Says what the vehicle does with the route.
    public func setRouteSource(_ source: RouteSource) {
        self.send(.updateRouteSource(UpdateRouteSource(routeSource: source)))
    }

    /// Says that the display is, or is not, ready to show.
    public func setReady(_ isReady: Bool) {
        var change = VehicleSettings()
        change.isReadyToShow = isReady
        self.settings.isReadyToShow = isReady
        self.send(.vehicleSettings(change))
    }

    /// Says whether light or dark content is shown.
    public func setContentStyle(_ style: ContentStyle) {
        var change = VehicleSettings()
        change.contentStyle = style
        self.settings.contentStyle = style
        self.send(.vehicleSettings(change))
    }

    /// Zooms the cluster's map.
    public func zoom(_ direction: ZoomDirection) {
        self.send(.zoomCluster(ZoomCluster(direction: direction)))
    }

    /// Answers the alert that is shown: an action, or 0 to dismiss it.
    public func respondToAlert(_ alert: UInt32, action: UInt32 = 0) {
        let response: AlertResponse.Response = action == 0 ? .dismissed(.userDismissed) : .action(action)
        self.send(.alertResponse(AlertResponse(alert: alert, response: response)))
    }

    /// Says that everything up to `sequence` is on the display.
    public func markShown(_ sequence: UInt64) { self.shownSequence = max(self.shownSequence, sequence) }

    private func newRequestID() -> String {
        self.nextRequest += 1
        return "\(self.vehicleHello.endpoint)-\(UInt32.random(in: 0 ... .max))-\(self.nextRequest)"
    }

    /// Sends a request and waits for its one outcome; it is sent again after a reconnection.
    private func request(_ id: String, _ message: Message) async -> RequestResult {
        await withCheckedContinuation { continuation in
            self.waiting[id] = (message, continuation)
            self.send(message)
        }
    }

    private func failWaiting() {
        for (_, waiting) in self.waiting { waiting.continuation.resume(returning: .gone) }
        self.waiting = [:]
        self.cancellation?.resume(returning: "the connection was closed")
        self.cancellation = nil
    }

    private func send(_ message: Message, _ session: SessionID = .none) {
        self.direct.append(Envelope(message, session: session))
        if let link { Task { await link.wakeUp() } }
    }

    /// Tells how far this endpoint is, at most once in the interval that the client asked for.
    private func scheduleReceipt() {
        guard let interval = self.receiptInterval, !self.isReceiptScheduled else { return }
        self.isReceiptScheduled = true
        Task {
            do { try await Task.sleep(for: interval) } catch { /* Ending: at once then. */  }
            self.isReceiptScheduled = false
            guard self.state.session != 0 else { return }
            let receipt = Receipt(
                receivedSequence: self.state.sequence,
                shownSequence: min(self.shownSequence, self.state.sequence))
            self.send(.receipt(receipt), SessionID(self.state.session))
        }
    }

    private func answer(_ prompt: Prompt) {
        guard let handler = self.configuration.onPrompt else { return }
        Task {
            let isAccepted = await handler(
                WaypointPrompt(waypoint: prompt.waypoint, travelEstimates: prompt.travelEstimates))
            self.send(.promptAnswer(PromptAnswer(requestID: prompt.requestID, isAccepted: isAccepted)))
        }
    }

    private func answerShare(_ id: String, _ destination: Waypoint) {
        guard let handler = self.configuration.onDestination else { return }
        Task {
            let outcome: Outcome = await handler(destination) ? .accepted : .declinedByUser
            self.send(.destinationShareAnswer(DestinationShareAnswer(shareID: id, outcome: outcome)))
        }
    }
}

extension VehicleEndpoint: LinkOwner {
    func hello() -> Hello {
        var hello = Hello(role: .vehicle(self.vehicleHello))
        hello.displayName = self.configuration.displayName
        hello.credential = self.configuration.credential
        hello.resumptionToken = self.token
        hello.resumeSession = SessionID(self.state.session)
        hello.resumeSequence = self.state.sequence
        return hello
    }

    func linkStateChanged(_ state: ConnectionState) async {
        if case .closed = state {
            self.failWaiting()
            self.link = nil
        }
        await self.configuration.onConnection(state)
    }

    func welcomed(_ welcome: Welcome) {
        self.token = welcome.resumptionToken
        self.direct = []
        if !welcome.isResumed {
            // A gateway that does not know this endpoint does not know its session either.
            if self.state.session != 0 { self.state = VehicleState() }
            if self.settings != VehicleSettings() {
                self.direct.append(Envelope(.vehicleSettings(self.settings)))
            }
        }
        for (_, waiting) in self.waiting.sorted(by: { $0.key < $1.key }) {
            self.direct.append(Envelope(waiting.message))
        }
    }

    func received(_ envelope: Envelope) async {
        self.state.apply(envelope, storage: self.vehicleHello.limits)
        switch envelope.message {
        case .requestOutcome(let outcome):
            self.waiting.removeValue(forKey: outcome.requestID)?.continuation
                .resume(returning: RequestResult(outcome.outcome))
        case .error(let rejection):
            self.waiting.removeValue(forKey: rejection.requestID)?.continuation.resume(returning: .invalid)
        case .prompt(let prompt): self.answer(prompt)
        case .publication(.shareDestination(let id, let destination)): self.answerShare(id, destination)
        case .sessionEnded(let ended):
            self.cancellation?.resume(returning: "\(ended.reason)")
            self.cancellation = nil
        case .snapshotBegin(let begin):
            self.receiptInterval =
                begin.receiptsEveryMilliseconds > 0 ? .milliseconds(begin.receiptsEveryMilliseconds) : nil
        default: break  // The rest is in the state.
        }
        if case .publication = envelope.message { self.scheduleReceipt() }
        await self.configuration.onUpdate(
            VehicleUpdate(
                name: "\(envelope.message.type)", session: envelope.session.rawValue,
                sequence: envelope.sequence,
                isFitted: envelope.flags.contains(.fitted), isFromGateway: envelope.flags.contains(.gateway),
                state: self.state, message: envelope.message))
    }

    func takeOutgoing() -> [Frame] {
        defer { self.direct = [] }
        return self.direct.map(Codec.encode)
    }
}

extension VehicleLimits {
    fileprivate init(_ limits: EndpointLimits) {
        self.init()
        self.currentRoadNameLengthMax = limits.currentRoadNameLengthMax
        self.destinationNameLengthMax = limits.destinationNameLengthMax
        self.roadFollowingManeuverLengthMax = limits.roadFollowingManeuverLengthMax
        self.maneuverInstructionLengthMax = limits.maneuverInstructionLengthMax
        self.laneInstructionLengthMax = limits.laneInstructionLengthMax
        self.alertTextLengthMax = limits.alertTextLengthMax
        self.maneuversStoredMax = limits.maneuversStoredMax
        self.laneGuidancesStoredMax = limits.laneGuidancesStoredMax
        self.routeSegmentPointsMax = limits.routeSegmentPointsMax
    }
}
