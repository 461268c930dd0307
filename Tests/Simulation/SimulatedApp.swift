import ExpectedState
internal import WaymarkModel
internal import WaymarkProtocol

/// A navigation client that follows the protocol: publishes at random, now and then a message that must be rejected, answers
/// requests, and resumes its session after it lost the connection.
struct SimulatedApp {
    /// A frame on its way to the gateway, and the error that must come back for it.
    struct Published {
        let sequence: UInt64
        /// nil for ``unknown``.
        let publication: Publication?
        /// Of a message type that does not exist.
        var unknown: UnknownPublication?
        var refusal: Refusal?
    }

    /// The error that must answer an invalid publication.
    struct Refusal: Hashable {
        let sequence: UInt64
        let code: ErrorCode
        let field: String
    }

    /// The extension that all endpoints use, and most clients.
    static let gauges = ExtensionName(unchecked: "org.example.gauges")

    let id: ClientID
    let features: Set<Feature>
    let priority: Int32
    let selection: VehicleSelection
    var connection: ConnectionID?
    var isWelcome = false
    var token: ResumptionToken?
    private(set) var session: SessionID?
    /// Vehicles in the session, as reported by the gateway.
    private(set) var joined: Set<VehicleID> = []
    private(set) var publisher: Publisher
    /// The OpenSession that was not answered yet.
    private(set) var opening: OpenSession?
    /// Why it has no session although it asked for one.
    private(set) var reasonForNoSession: String?
    /// Errors that must still arrive.
    private(set) var awaited: [Refusal] = []
    /// Messages that it will send in later steps.
    var intentions: [Message] = []
    /// Violations that were not yet collected.
    var violations: [(Promise, String)] = []
    private var sequence: UInt64 = 0
    private(set) var sent = AcknowledgedBuffer()
    /// Publications that were lost in transit, to be sent again.
    private var lost: [Published] = []
    private var openings = 0
    /// Shares by id and vehicle; nil until the outcome is known.
    private(set) var shares: [Identifier: DestinationShareStatus.Stage?] = [:]
    /// The number of the last event of each endpoint, by type.
    private var heard: [MessageType: [EndpointPath: UInt32]] = [:]

    init(id: ClientID, selection: VehicleSelection, lengthens: Bool, _ random: inout SeededRandom) {
        self.id = id
        self.selection = selection
        self.publisher = Publisher(client: id)
        self.publisher.lengthens = lengthens
        self.priority = Int32(random.number(-1...1))
        var features = Set(Feature.allCases)
        if random.once(in: 4) { features.remove(.waypointRequests) }
        if random.once(in: 4) { features.remove(.destinationRequests) }
        if random.once(in: 4) { features.remove(.tripRequests) }
        if random.once(in: 4) { features.remove(.simulatedDrives) }
        self.features = features
    }

    /// The state that its vehicles must have at rest.
    var drive: DriveState { self.publisher.drive }

    var hello: Hello {
        var navigation = NavigationHello(client: self.id, features: self.features)
        navigation.priority = self.priority
        if self.id.rawValue != "a1" { navigation.extensions = [Self.gauges] }
        // Every other one has little memory.
        if self.id.rawValue.utf8.reduce(0, &+) & 1 == 0 { navigation.receiveFrameBytesMax = 4_096 }
        var hello = Hello(role: .navigation(navigation))
        hello.resumptionToken = self.token
        return hello
    }

    // MARK: Connection and session

    mutating func loseConnection() {
        self.connection = nil
        self.isWelcome = false
        self.awaited = []
        self.intentions = []
        // The outcome of a share that ends while its client is disconnected is never sent.
        self.shares = [:]
    }

    /// Resumes the session, or forgets it.
    ///
    /// - Returns: The last sequence number that the gateway has, if the log must drop all later publications; else nil.
    mutating func welcome(_ welcome: Welcome, _ random: inout SeededRandom) -> UInt64? {
        self.token = welcome.resumptionToken
        self.isWelcome = true
        self.publisher.withheld = Set(welcome.features.filter { $0.withheld != nil }.map(\.feature))
        let found = welcome.sessions.first { $0.session == self.session }
        guard let found, found.phase != .ended else {
            self.forgetSession()
            return nil
        }
        self.lost = (self.sent.kept + self.lost).filter { $0.sequence > found.sequence }
        if let text = self.sent.resume(after: found.sequence) {
            self.violations.append((.acknowledgedStays, "\(self.id): \(text)"))
        }
        self.sequence = found.sequence
        if random.once(in: 2) { self.lost = [] } else { return nil }
        // The client starts again, with a new generation.
        self.publisher.restart()
        return found.sequence
    }

    private mutating func forgetSession() {
        self.session = nil
        self.joined = []
        self.publisher = Publisher(client: self.id, following: self.publisher)
        self.sequence = 0
        self.sent = AcknowledgedBuffer()
        self.lost = []
        self.awaited = []
        self.shares = [:]
    }

    /// A new OpenSession, or the one that was not answered yet.
    mutating func open() -> Message {
        if let opening { return .openSession(opening) }
        self.openings += 1
        let opening = OpenSession(
            requestID: EquivalentIDs.id("\(self.id)-", self.openings), vehicles: self.selection,
            receiptsEveryMilliseconds: 1_000)
        self.opening = opening
        self.reasonForNoSession = nil
        return .openSession(opening)
    }

    /// It has a session, but has not yet published all that its vehicles need.
    var isBehind: Bool {
        self.session != nil && (!self.lost.isEmpty || (self.drive.trip == nil && !self.publisher.hasFinished))
    }

    /// Some of its shares have no outcome yet.
    var hasOpenShares: Bool { self.shares.values.contains { $0 == nil } }

    // MARK: Receiving

    mutating func receive(_ message: Message, in session: SessionID, _ random: inout SeededRandom) {
        switch message {
        case .sessionOpened(let opened): self.begin(opened)
        case .sessionEnded(let ended):
            guard ended.session == self.session else { return }
            self.forgetSession()
            self.reasonForNoSession = "\(ended.reason)"
        case .vehicleChanged(let status): if session == self.session { self.note(status) }
        case .error(let rejection): self.receive(rejection)
        case .waypointRequest(let request):
            guard let vehicle = request.vehicle else { return self.report("a request without its vehicle") }
            self.consider(request.requestID, vehicle, isWaypoint: true, &random)
        case .destinationRequest(let request):
            guard let vehicle = request.vehicle else { return self.report("a request without its vehicle") }
            self.consider(request.requestID, vehicle, isWaypoint: false, &random)
        case .startTripRequest(let request):
            guard let vehicle = request.vehicle else { return self.report("a request without its vehicle") }
            self.consider(request.requestID, vehicle, isWaypoint: false, &random)
        case .requestOutcome(let outcome):
            if outcome.outcome == .accepted, session == self.session { self.publisher.isRerouteAsked = true }
        case .destinationShareStatus(let status): if session == self.session { self.note(status) }
        case .acknowledgement(let sequence): if session == self.session { self.acknowledge(sequence) }
        case .simulateDrive(let asked):
            let path = asked.vehicle.flatMap { vehicle in
                asked.endpoint.map { EndpointPath(vehicle: vehicle, endpoint: $0) }
            }
            if !self.features.contains(.simulatedDrives) { self.report("asked to simulate, which it cannot") }
            self.hear(asked.speedPercent, .simulateDrive, of: path)
        case .vehicleExtension(let sent):
            self.hear(SimulatedEndpoint.number(of: sent), .vehicleExtension, of: sent.source)
        default: break  // Settings, receipts and others have no effect.
        }
    }

    private mutating func acknowledge(_ sequence: UInt64) {
        guard let (promise, text) = self.sent.acknowledge(sequence, awaiting: self.awaited) else { return }
        self.violations.append((promise, "\(self.id): \(text)"))
    }

    /// Events of an endpoint come in the order in which it sent them, each at most once.
    private mutating func hear(_ number: UInt32, _ type: MessageType, of path: EndpointPath?) {
        guard let path else { return self.report("an event without its endpoint") }
        // Hostile endpoints do not number their events.
        if path.vehicle.rawValue.hasPrefix("v"), let last = self.heard[type]?[path], number <= last {
            self.report("\(type) \(number) of \(path.vehicle)/\(path.endpoint) came after \(last)")
        }
        self.heard[type, default: [:]][path] = number
    }

    private mutating func report(_ text: String) { self.violations.append((.oneOutcome, text)) }

    private mutating func begin(_ opened: SessionOpened) {
        // A second answer, because the request was sent twice.
        guard opened.requestID == self.opening?.requestID else { return }
        self.opening = nil
        self.forgetSession()
        self.session = opened.session
        for status in opened.vehicles {
            self.note(status)
            if status.standing == .refused(.limitReached) { self.reportQuota() }
        }
    }

    /// No limit is so low that honest peers reach it.
    private mutating func reportQuota() {
        self.violations.append((.quotasHold, "\(self.id) gets no room: another user has it"))
    }

    private mutating func note(_ status: VehicleStatus) {
        switch status.standing {
        case .joined: self.joined.insert(status.vehicle)
        case .awaited, .refused, .left: self.joined.remove(status.vehicle)
        }
    }

    private mutating func receive(_ rejection: Rejection) {
        switch MessageType(rawValue: rejection.messageType) {
        case .openSession:
            guard rejection.requestID == self.opening?.requestID else { return }
            self.opening = nil
            self.reasonForNoSession = "\(rejection.code)"
            if rejection.code == .limitReached { self.reportQuota() }
        case .requestAnswer: break  // The request ended while the answer was in transit.
        default:
            // The session ended while the publication was in transit.
            guard rejection.session == self.session else { return }
            let refusal = Refusal(
                sequence: rejection.sequence, code: rejection.code, field: rejection.field)
            if let index = self.awaited.firstIndex(of: refusal) {
                self.awaited.remove(at: index)
            } else {
                self.violations.append(
                    (.rejectionChangesNothing, "\(self.id) got an unexpected error: \(rejection)"))
            }
        }
    }

    private mutating func note(_ status: DestinationShareStatus) {
        let share: Identifier = "\(status.shareID) with \(status.vehicle)"
        switch status.stage {
        case .willShare: self.shares.updateValue(.none, forKey: share)
        case .didShare, .didFailToShare:
            // The share began before the connection was lost.
            guard let known = self.shares[share] else { return }
            if let known {
                self.violations.append((.oneOutcome, "\(share) ended as \(known) and as \(status.stage)"))
            }
            self.shares.updateValue(status.stage, forKey: share)
        }
    }

    /// Chooses the answers to a request: none, one or two, with or without a prompt of its own.
    private mutating func consider(
        _ id: Identifier, _ vehicle: VehicleID, isWaypoint: Bool, _ random: inout SeededRandom
    ) {
        let decline = RequestAnswer.Answer.decline(random.once(in: 2) ? .busy : .declinedByUser)
        let final = random.once(in: 2) ? RequestAnswer.Answer.accept : decline
        var answers: [RequestAnswer.Answer]
        switch random.number(0...5) {
        case 0: answers = []
        case 1, 2: answers = isWaypoint ? [.estimates(RandomDrive.estimates(&random))] : [final]
        case 3: answers = isWaypoint ? [.ownPrompt, final] : [decline]
        case 4: answers = isWaypoint ? [.ownPrompt] : [final, final]
        default: answers = [decline, final]
        }
        self.intentions += answers.map {
            .requestAnswer(RequestAnswer(requestID: id, vehicle: vehicle, answer: $0))
        }
    }

    // MARK: Publishing

    /// The next publication; nil without a session. An invalid publication does not change `drive`.
    mutating func publish(_ random: inout SeededRandom) -> (SessionID, Published)? {
        guard let session, self.isWelcome else { return nil }
        if !self.lost.isEmpty {
            let again = self.lost.removeFirst()
            self.sequence = again.sequence
            return (session, self.noteSent(again))
        }
        guard !self.publisher.hasFinished else { return nil }
        if random.once(in: 20) { return (session, self.noteSent(self.nextUnknown(&random))) }
        if !random.once(in: 10) || self.drive.trip == nil {
            // No more shares at a time than the gateway allows.
            let mayShare = self.shares.values.count { $0 == nil } < 2
            let publication = self.publisher.next(mayShare: mayShare, &random)
            self.sequence += 1
            return (session, self.noteSent(Published(sequence: self.sequence, publication: publication)))
        }
        let (publication, code, field) = self.publisher.wrong(&random)
        if code != .sequenceGap { self.sequence += 1 }
        let sequence = code == .sequenceGap ? self.sequence + 3 : self.sequence
        var published = Published(sequence: sequence, publication: publication)
        published.refusal = Refusal(sequence: sequence, code: code, field: field)
        return (session, self.noteSent(published))
    }

    private mutating func nextUnknown(_ random: inout SeededRandom) -> Published {
        self.sequence += 1
        let unknown = self.publisher.nextUnknown(&random)
        var published = Published(sequence: self.sequence, publication: nil, unknown: unknown)
        if unknown.isWrong {
            published.refusal = Refusal(sequence: self.sequence, code: .outOfRange, field: "flags")
        }
        return published
    }

    private mutating func noteSent(_ published: Published) -> Published {
        // A publication after a gap is not sent again: by then there may be no gap.
        if published.refusal?.code != .sequenceGap { self.sent.keep(published) }
        if let refusal = published.refusal { self.awaited.append(refusal) }
        return published
    }
}
