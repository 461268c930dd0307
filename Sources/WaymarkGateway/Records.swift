internal import OrderedCollections
internal import WaymarkAccess
internal import WaymarkModel
internal import WaymarkProtocol

/// Who an admitted connection is.
enum Peer: Sendable, Hashable, Codable {
    case endpoint(EndpointPath)
    case client(ClientID)
}

/// One endpoint of a vehicle, connected or in its grace time.
struct Endpoint: Sendable, Hashable, Codable {
    /// nil while it is disconnected.
    var connection: ConnectionID?
    /// Until when it may resume; nil while it is connected.
    var grace: DeadlineQueue<Gateway.Deadline>.Ticket?
    /// Since when it is connected, or until when it may resume.
    var instant = Instant(nanoseconds: 0)
    var hello: VehicleHello
    var tokens: ResumptionTokens
    let subject: AccessSubject
    @BoxedIfCustom var settings = VehicleSettings()
    /// The audience that it is in; nil while it is disconnected.
    var audience: AudienceID?
    /// The session that it is in, and its profile there. Kept while the endpoint is disconnected, so that the
    /// gateway knows which frames it misses.
    var membership: Membership?
    /// Its last receipt in the present session.
    @Boxed var receipt: Receipt? = nil
    /// Delays from its receipts. Nothing if no session wanted receipts of it.
    @BoxedIfCustom var timing = EndpointTiming()

    struct Membership: Sendable, Hashable, Codable {
        var session: SessionID
        var profile: Profile
        /// The features that the last SnapshotBegin withheld until the next one, with their reasons.
        var withheld = WithheldReasons()
        /// The lowest number from which the endpoint can resume: below it the endpoint holds frames of an earlier membership.
        var firstResumable: UInt64 = 0
        /// It waits for its snapshot; nil afterwards.
        var wait: Wait?
    }

    /// What an endpoint waits for that has entered a session.
    struct Wait: Sendable, Hashable, Codable {
        /// The last number that it received with the same profile: it need be sent only what it missed.
        var sequence: UInt64?
        /// It may hold frames of this session that were fitted to another profile.
        var mayHoldOther: Bool
    }

    /// Whether an endpoint that says `hello` holds the frames of `membership` up to some number. With the cursor 0 it holds nothing, or an
    /// empty session.
    func canResume(_ hello: Hello, in membership: Membership) -> Bool {
        guard let old = self.membership, hello.resumeSession == membership.session,
            old.session == membership.session
        else { return false }
        return old.profile == membership.profile && hello.resumeSequence > 0
            && hello.resumeSequence >= old.firstResumable
    }

    /// What the endpoint asked for and was granted, apart from what a session withholds.
    func isGranted(_ feature: Feature, _ policy: Gateway.Policy) -> Bool {
        self.hello.features.contains(feature) && !policy.withheldFeatures.contains(feature)
    }

    /// Its connection, if it asked for a feature.
    fileprivate func connection(if feature: Feature) -> ConnectionID? {
        self.hello.features.contains(feature) ? self.connection : nil
    }
}

/// A vehicle that has endpoints, or that a session waits for.
struct Vehicle: Sendable, Hashable, Codable {
    /// The user of the first endpoint, who alone may add others; nil while only a session waits for the vehicle.
    var principal: Principal?
    // Why ordered: it takes no more memory than what is in it, and most have one.
    var endpoints: OrderedDictionary<EndpointName, Endpoint> = [:]
    /// The session it is in, or that waits for it.
    var session: SessionID?
    /// Its place among the session's vehicles.
    var place: VehicleList.Place = 0
    /// The session's last tour that has visited it.
    var lastTour: UInt64 = 0
    /// The session that it must leave before it enters ``session``.
    var leaving: Leaving?
    /// Its open shares in ``session``, or in the one that it must leave. Few.
    var shares: [Identifier] = []
    /// What the gateway's index has of it.
    var indexed = Indexed()
    /// How its last session ended, for endpoints that were disconnected then.
    var lastEnd: SessionEnded?
    /// It said "I navigate myself now" and has not asked for guidance since.
    var navigatesItself = false
    /// It accepts guidance from sessions for any vehicle that asked.
    var isGuidanceWanted = false
    /// It ended guidance and has not asked for it again: no session for any vehicle that asked gets it.
    var hasStopped = false
    var routeSource: RouteSource?
    /// Its last feedback on the route of ``session``; one, or nil. Why an array: it is large and rare, and vehicles are copied.
    var routeFeedback: [KeptFeedback]?
    /// How its last requests ended.
    @BoxedInPlace var outcomes = OutcomeBook()
    /// Its open requests, no id twice. Few, so a search goes through all of them.
    var openRequests: [OpenRequest] = []

    /// A session that a vehicle has left, while its endpoints were not told.
    struct Leaving: Sendable, Hashable, Codable {
        let session: SessionID
        let reason: SessionEndReason
        /// Otherwise they receive the client's own FinishGuidance or CancelGuidance.
        var tellsVehicle = true
        /// Otherwise the session has ended for all of its vehicles.
        var isAlone = true
    }

    struct OpenRequest: Sendable, Hashable, Codable {
        let id: Identifier
        let number: RequestNumber
    }

    /// The open request with an id.
    func openRequest(_ id: Identifier) -> RequestNumber? { self.openRequests.first { $0.id == id }?.number }

    /// Its open requests in the order of their ids.
    var sortedRequests: [RequestNumber] { self.openRequests.sorted { $0.id < $1.id }.map(\.number) }

    /// Adds an endpoint; it replaces the one known under its name.
    mutating func add(
        _ endpoint: Endpoint, _ name: EndpointName, _ principal: Principal, isResumed: Bool
    ) {
        self.principal = principal
        self.endpoints[name] = endpoint
        guard endpoint.hello.guidanceWanted else { return }
        self.isGuidanceWanted = true
        if !isResumed { self.hasStopped = false }
    }

    /// Puts an endpoint into a session, or into none.
    mutating func move(_ name: EndpointName, to membership: Endpoint.Membership?, _ audience: AudienceID?) {
        guard let index = self.endpoints.index(forKey: name) else { return }
        self.endpoints.values[index].membership = membership
        self.endpoints.values[index].audience = audience
        self.endpoints.values[index].receipt = nil
    }

    /// Notes that an endpoint has lost its connection, and until when it may resume.
    mutating func disconnect(
        _ name: EndpointName, _ grace: DeadlineQueue<Gateway.Deadline>.Ticket?, until end: Instant
    ) {
        guard let index = self.endpoints.index(forKey: name) else { return }
        self.endpoints.values[index].instant = end
        self.endpoints.values[index].connection = nil
        self.endpoints.values[index].grace = grace
    }

    /// Takes a connected endpoint out of the audience that it is in, or waits for, if any.
    mutating func leaveAudience(
        _ name: EndpointName
    ) -> (connection: ConnectionID, audience: AudienceID)? {
        guard let index = self.endpoints.index(forKey: name) else { return nil }
        self.endpoints.values[index].membership?.wait = nil
        guard let connection = self.endpoints.values[index].connection,
            let audience = self.endpoints.values[index].audience
        else { return nil }
        self.endpoints.values[index].audience = nil
        return (connection, audience)
    }

    var isConnected: Bool { self.endpoints.values.contains { $0.connection != nil } }
    var isNeeded: Bool { self.session != nil || !self.endpoints.isEmpty }

    /// Connected endpoints in the order of their names.
    var connections: [(name: EndpointName, connection: ConnectionID, endpoint: Endpoint)] {
        if self.endpoints.count == 1 {
            let (name, endpoint) = self.endpoints.elements[0]
            return endpoint.connection.map { [(name, $0, endpoint)] } ?? []
        }
        return self.endpoints.sorted { $0.key < $1.key }.compactMap { name, endpoint in
            endpoint.connection.map { (name, $0, endpoint) }
        }
    }

    /// Of those, the connections whose endpoints asked for a feature.
    func connections(asking feature: Feature) -> [ConnectionID] {
        let count = self.endpoints.count
        if count == 1 { return self.endpoints.values[0].connection(if: feature).map { [$0] } ?? [] }
        let order = (0..<count).sorted { self.endpoints.keys[$0] < self.endpoints.keys[$1] }
        return order.compactMap { self.endpoints.values[$0].connection(if: feature) }
    }

    /// The largest frame that its endpoints take, in bytes, by connection. Without those that take any.
    var frameBytesMax: [ConnectionID: Int] {
        var sizes: [ConnectionID: Int] = [:]
        for endpoint in self.endpoints.values where endpoint.hello.receiveFrameBytesMax > 0 {
            if let connection = endpoint.connection {
                sizes[connection] = Int(endpoint.hello.receiveFrameBytesMax)
            }
        }
        return sizes
    }
}

/// Feedback on a route, as it is coded for the next process.
struct KeptFeedback: Sendable, Hashable, Codable {
    private struct Stop: Sendable, Hashable, Codable {
        let battery: UInt16?
        /// The value on the wire.
        let reachability: UInt32?
    }

    let generation: UInt32
    private let stops: [Stop]
    private let segment: String?

    init(_ feedback: RouteFeedback) {
        self.generation = feedback.generation
        self.stops = feedback.stops.map {
            Stop(battery: $0.arrivalBatteryPerMille, reachability: $0.reachability?.rawValue)
        }
        self.segment = feedback.firstUnreachableSegment
    }

    var feedback: RouteFeedback {
        let stops = self.stops.map {
            StopFeedback(
                arrivalBatteryPerMille: $0.battery, reachability: $0.reachability.map(Reachability.init))
        }
        return RouteFeedback(
            generation: self.generation, stops: stops, firstUnreachableSegment: self.segment)
    }
}

/// A navigation client, connected or in its grace time.
struct Client: Sendable, Hashable, Codable {
    let principal: Principal
    let subject: AccessSubject
    var connection: ConnectionID?
    /// Since when it is connected, or until when it may resume.
    var instant: Instant
    var hello: NavigationHello
    var displayName: String
    var tokens: ResumptionTokens
    /// What it provides and handles, as far as the gateway granted that in its last Welcome.
    var granted: FeatureSet
    /// The extensions that it uses, as far as the gateway granted them in its last Welcome.
    var extensions: [ExtensionName]
    /// In the order in which they were opened.
    var sessions: OrderedSet<SessionID> = []
    /// Sessions whose end the client was not told.
    var ended: [ResumedSession] = []
    /// Sessions whose end only its last Welcome told, or a SessionEnded behind it, as long as these may be lost.
    var toldEnded: [ResumedSession] = []
    /// Requests that it was asked, in no order.
    var requests: [RequestNumber] = []

    /// The features and extensions that it may publish.
    var permission: GatewaySession.Permission {
        GatewaySession.Permission(features: self.granted, extensions: self.extensions)
    }

    /// Whether it still has a request that was assigned to it.
    func has(_ request: RequestNumber, at place: Int) -> Bool {
        place < self.requests.count && self.requests[place] == request
    }
}

/// Endpoints of one session with one profile.
struct Audience: Sendable, Hashable {
    let id: AudienceID
    /// Endpoints in it, including those in their grace time.
    var memberCount: Int
    // Why in an array: each frame passes over the audiences of its session, and few are fitted.
    /// Its only element is the fitting to the profile; none for the profile that cuts nothing.
    var fittings: [Fitting] = []

    /// The state of the fitting to a profile, and the frames that were fitted last.
    struct Fitting: Sendable, Hashable {
        /// Empty when the gateway is handed over.
        var queue: FittingQueue
        var replay: ReplayRing
        /// No endpoint of the profile has its snapshot. Nothing is fitted before.
        let isPending: Bool

        /// For endpoints that wait for the first snapshot of a profile.
        init(_ profile: Profile, after sequence: UInt64) {
            self.queue = FittingQueue(view: FittedView(profile: profile))
            self.replay = ReplayRing(after: sequence)
            self.isPending = true
        }

        /// Continues what fitted the first snapshot, and everything published up to `sequence`.
        init(_ queue: FittingQueue, after sequence: UInt64) {
            self.queue = queue
            self.replay = ReplayRing(after: sequence)
            self.isPending = false
        }
    }

    /// Whether the profile cuts something.
    var isFitted: Bool { !self.fittings.isEmpty }

    /// Whether no endpoint of the profile has its snapshot.
    var isPending: Bool { self.isFitted && self.fittings[0].isPending }

    /// Whether frames wait to be fitted.
    var hasUnfitted: Bool { self.isFitted && !self.fittings[0].queue.isEmpty }

    /// The memory of the frames that were fitted last.
    var replayByteCount: Int { self.isFitted ? self.fittings[0].replay.byteCount : 0 }

    /// Whether a batch need not wait to be fitted: frames wait already, or the batch may name many maneuvers in turn, of which only the
    /// last ones matter.
    func mayFitAtOnce(_ frames: PublishedFrames) -> Bool {
        guard self.isFitted, self.fittings[0].queue.isEmpty else { return false }
        return frames.count == 1 || !self.fittings[0].queue.view.profile.isWindowed
    }
}

extension Audience: Codable {
    private enum CodingKeys: CodingKey { case id, memberCount, fitting }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.id, forKey: .id)
        try container.encode(self.memberCount, forKey: .memberCount)
        try container.encodeIfPresent(self.fittings.first, forKey: .fitting)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.id = try container.decode(AudienceID.self, forKey: .id)
        self.memberCount = try container.decode(Int.self, forKey: .memberCount)
        if let fitting = try container.decodeIfPresent(Fitting.self, forKey: .fitting) {
            self.fittings = [fitting]
        }
    }
}

extension Audience.Fitting: Codable {
    private enum CodingKeys: CodingKey { case view, replay, isPending }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.queue.view, forKey: .view)
        try container.encode(self.replay, forKey: .replay)
        try container.encode(self.isPending, forKey: .isPending)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.queue = FittingQueue(view: try container.decode(FittedView.self, forKey: .view))
        self.replay = try container.decode(ReplayRing.self, forKey: .replay)
        self.isPending = try container.decodeIfPresent(Bool.self, forKey: .isPending) ?? false
    }
}

/// Names an open request within the gateway.
typealias RequestNumber = SlotKey

/// A request of a vehicle that has not ended.
struct OpenRequest: Sendable, Hashable {
    /// Identifies it for the vehicle and the client.
    struct Key: Sendable, Hashable {
        var vehicle: VehicleID
        var id: Identifier
        /// The endpoint that sent it first.
        var source: EndpointName
    }

    enum Kind: Sendable, Hashable, Codable {
        case waypoint(SessionID)
        /// The start of a trip of the session's previews.
        case trip(SessionID)
        // Why indirect: it is large, and requests for a stop are copied as well.
        indirect case destination(Tried)
    }

    /// The clients that were asked for a drive.
    struct Tried: Sendable, Hashable, Codable {
        /// The last one.
        var last: RankedHandler
        /// Those before it.
        var earlier: Set<ClientID> = []
        /// ``Gateway/handlerCount`` when the last one was chosen: as long as it is the same, the next one comes after the last.
        var handlerCount: UInt64

        func has(_ client: ClientID) -> Bool {
            client == self.last.handler.client || self.earlier.contains(client)
        }
    }

    enum Stage: Sendable, Hashable {
        /// The client has it.
        case asked
        /// The vehicle's user is asked by the gateway.
        case prompting(TravelEstimates, until: Instant)
        /// The client asks the user by itself.
        case ownPrompt

        var description: String {
            switch self {
            case .asked: "waits for the client's answer"
            case .prompting: "the vehicle's user is asked for"
            case .ownPrompt: "the client asks its user for"
            }
        }

        /// The end of a request whose deadline passes in this stage.
        var timeout: RequestDecision {
            switch self {
            case .asked: RequestDecision(.timedOut, .clientSilent)
            case .prompting: RequestDecision(.timedOut, .promptUnanswered)
            case .ownPrompt: RequestDecision(.timedOut, .clientUserSilent)
            }
        }
    }

    let vehicle: VehicleID
    /// The endpoint that sent it first.
    let source: EndpointName
    /// What is asked for.
    let content: ReceivedRequest
    var kind: Kind
    var client: ClientID
    /// Its index among the client's requests.
    var place = 0
    var stage = Stage.asked
    let opened: Instant
    /// The deadline of its present stage, and when that is.
    var deadline: DeadlineQueue<Gateway.Deadline>.Ticket
    var due: Instant

    var id: Identifier { self.content.requestID }

    /// The session that it is about; none for a drive.
    var session: SessionID {
        switch self.kind {
        case .waypoint(let session), .trip(let session): session
        case .destination: .none
        }
    }

    var key: Key { Key(vehicle: self.vehicle, id: self.id, source: self.source) }
}

/// The end of a request: the outcome, who decided, and why.
struct RequestDecision: Sendable, Hashable {
    let outcome: Outcome
    let cause: OutcomeCause
    /// The vehicle's endpoint that decided, or that came first.
    let endpoint: EndpointName?
    let previewFollows: Bool

    init(
        _ outcome: Outcome, _ cause: OutcomeCause, at endpoint: EndpointName? = nil,
        previewFollows: Bool = false
    ) {
        (self.outcome, self.cause) = (outcome, cause)
        (self.endpoint, self.previewFollows) = (endpoint, previewFollows)
    }
}

/// A destination offered to one vehicle.
struct Share: Sendable, Hashable, Codable {
    var session: SessionID
    var vehicle: VehicleID
    var id: Identifier
}
