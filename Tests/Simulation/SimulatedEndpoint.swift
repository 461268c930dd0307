import ExpectedState
internal import WaymarkGateway
internal import WaymarkModel
internal import WaymarkProtocol

/// A vehicle's endpoint that follows the protocol: stores what it receives, makes and answers requests, and checks the content and the
/// order of all frames.
struct SimulatedEndpoint {
    /// A request of its own.
    struct Request {
        let message: Message
        var outcome: Outcome?
        /// Sent on the current connection.
        var isSent = false
        /// Sent on any connection.
        var wasSent = false
        /// A gateway that does not know this endpoint may have ended the request before: it is not sent again.
        var isSettled = false
    }

    let path: EndpointPath
    /// The fitting that it asks for.
    let wish: ExpectedFitting
    /// The fitting if the session has room for its profile: the wish without what the policy withholds.
    private let fullFitting: ExpectedFitting
    let isGuidanceWanted: Bool
    /// It is told which of its messages are ignored.
    let reportsIgnored: Bool
    var connection: ConnectionID?
    var isWelcome = false
    var token: ResumptionToken?
    private(set) var session = SessionID.none
    private(set) var drive: DriveState
    /// The ids of its requests, in order.
    private(set) var requests: [Identifier] = []
    private(set) var requestStates: [Identifier: Request] = [:]
    /// Messages that it will send in later steps.
    var intentions: [Message] = []
    /// Violations that were not yet collected.
    var violations: [(Promise, String)] = []
    /// Up to which number it holds the session; 0 during a full snapshot.
    private var sequence: UInt64 = 0
    /// The number to which the snapshot leads that is being received.
    private var snapshotEnd: UInt64 = 0
    /// The session has no room for its profile: it gets no content.
    private var isOutOfRoom = false
    /// The trip did not share its segments when the endpoint last joined the session.
    private var isOptedOut = false
    /// The gateway withholds speed limits because the endpoint has said that it does not show them.
    private(set) var hidesSpeedLimit = false
    /// A full snapshot is being received.
    private(set) var isSnapshot = false
    /// The last publication that it received came in one frame, or this was the last of its frames.
    private var isWhole = true
    /// The session begins here, or is resumed.
    private var isFirst = true
    private var ended: Set<SessionID> = []
    private var prompts: Set<Identifier> = []
    /// How many events it has sent for its client; each has its number.
    private var eventCount: UInt32 = 0

    init(
        path: EndpointPath, wish: ExpectedFitting, _ policy: Gateway.Policy, isGuidanceWanted: Bool,
        reportsIgnored: Bool
    ) {
        self.path = path
        self.wish = wish
        var fitting = wish
        fitting.features.subtract(policy.withheldFeatures)
        if policy.routeSharingVehicles?.contains(path.vehicle) == false {
            fitting.features.remove(.routeSegments)
        }
        self.fullFitting = fitting
        self.isGuidanceWanted = isGuidanceWanted
        self.reportsIgnored = reportsIgnored
        self.drive = DriveState(
            maneuversMax: fitting.maneuversMax, laneGuidancesMax: fitting.laneGuidancesMax)
    }

    /// The fitting that applies.
    var fitting: ExpectedFitting {
        var fitting = self.isOutOfRoom ? self.fullFitting.bare : self.fullFitting
        if self.hidesSpeedLimit { fitting.features.remove(.speedLimit) }
        return fitting
    }

    /// The fitting that applies, without segments if the trip does not share them.
    private var currentFitting: ExpectedFitting {
        var fitting = self.fitting
        if self.isOptedOut { fitting.features.remove(.routeSegments) }
        return fitting
    }

    /// It is in a session that has room for its profile.
    var isInRoom: Bool { self.session != .none && !self.isOutOfRoom }

    var mayRequest: Bool { self.fullFitting.features.contains(.requests) }

    var hello: Hello {
        var vehicle = VehicleHello(
            vehicle: self.path.vehicle, endpoint: self.path.endpoint, features: self.wish.features)
        vehicle.limits = self.wish.limits
        vehicle.receiveFrameBytesMax = self.wish.receiveFrameBytesMax
        vehicle.preferences.distanceUnits = self.wish.units
        vehicle.guidanceWanted = self.isGuidanceWanted
        vehicle.reportsIgnored = self.reportsIgnored
        vehicle.extensions = [SimulatedApp.gauges]
        var hello = Hello(role: .vehicle(vehicle))
        hello.resumptionToken = self.token
        if self.token != nil {
            hello.resumeSession = self.session
            hello.resumeSequence = self.sequence
        }
        return hello
    }

    // MARK: Connection and session

    mutating func loseConnection() {
        self.connection = nil
        self.isWelcome = false
        self.intentions = []
        self.prompts = []
        // A partial snapshot cannot be resumed.
        if self.isSnapshot {
            self.drive.clear()
            self.sequence = 0
            self.isSnapshot = false
        }
        for id in self.requests { self.requestStates[id]?.isSent = false }
    }

    mutating func welcome(_ welcome: Welcome) {
        self.token = welcome.resumptionToken
        self.isWelcome = true
        guard !welcome.isResumed else { return }
        // The gateway does not know this endpoint: all earlier state is void.
        self.ended = []
        self.leave()
        for id in self.requests {
            guard let request = self.requestStates[id], request.wasSent || request.outcome != nil else {
                continue
            }
            self.requestStates[id]?.isSettled = true
        }
    }

    private mutating func leave() {
        self.session = .none
        self.sequence = 0
        self.drive.clear()
    }

    // MARK: Requests

    /// A new request of any kind.
    mutating func request(_ random: inout SeededRandom) -> Message {
        let id = EquivalentIDs.id("\(self.path.endpoint)-", self.requests.count + 1)
        let waypoint = RandomDrive.waypoint(&random)
        let segment = random.once(in: 4) ? self.drive.currentSegment ?? "" : ""
        // Usually the kind that is valid in this state; the other one gets the outcome "invalid".
        let isWaypoint = (self.session != .none) != random.once(in: 8)
        let message: Message
        if let trip = self.preview(&random), random.once(in: 2) {
            message = .startTripRequest(StartTripRequest(requestID: id, trip: trip))
        } else if isWaypoint {
            message = .waypointRequest(
                WaypointRequest(requestID: id, waypoint: waypoint, segment: Identifier(segment)))
        } else {
            message = .destinationRequest(DestinationRequest(requestID: id, destination: waypoint))
        }
        self.requests.append(id)
        self.requestStates[id] = Request(message: message)
        return self.send(id) ?? message
    }

    /// The gateway no longer keeps the outcome of a request. It must not be sent again; what is on its way may be taken for a new one.
    mutating func forget(_ id: Identifier) { self.requestStates[id] = nil }

    /// One of the trips to choose from, now and then another one; nil without any.
    private func preview(_ random: inout SeededRandom) -> Identifier? {
        guard self.session != .none, case .tripPreviews(let trips, _) = self.drive.previews else {
            return nil
        }
        let trip = random.once(in: 8) ? nil : random.pick(trips)
        return trip.map { Identifier($0.id) } ?? "unknown"
    }

    /// The selection of one of the trips to choose from; nil without any, or without the features for it.
    func selection(_ random: inout SeededRandom) -> Message? {
        guard self.mayRequest, self.fullFitting.features.contains(.tripPreviews) else { return nil }
        return self.preview(&random).map { .selectPreview(SelectPreview(trip: $0)) }
    }

    /// An event for the client that guides it: it is to simulate its drive, or gets a message of an extension; nil without a session.
    mutating func event(_ random: inout SeededRandom) -> Message? {
        guard self.session != .none else { return nil }
        self.eventCount += 1
        if random.once(in: 2), self.wish.features.contains(.simulatedDrives) {
            return .simulateDrive(SimulateDrive(.start, speedPercent: self.eventCount))
        }
        let content = withUnsafeBytes(of: self.eventCount.littleEndian) { Array($0) }
        return .vehicleExtension(VehicleExtension(name: SimulatedApp.gauges, content: content))
    }

    /// The number of such an event of an extension.
    static func number(of sent: VehicleExtension) -> UInt32 {
        sent.content.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The message of a request, to send it again; also of one that has ended. nil if it must not be sent again.
    mutating func send(_ id: Identifier) -> Message? {
        guard self.requestStates[id]?.isSettled == false else { return nil }
        self.requestStates[id]?.isSent = true
        self.requestStates[id]?.wasSent = true
        return self.requestStates[id]?.message
    }

    /// Requests without an outcome that were not sent on this connection.
    var unsentRequests: [Identifier] {
        self.openRequests.filter { self.requestStates[$0]?.isSent == false }
    }

    /// Requests without an outcome that may have one.
    var openRequests: [Identifier] {
        self.requests.filter {
            self.requestStates[$0]?.outcome == nil && self.requestStates[$0]?.isSettled == false
        }
    }

    // MARK: Receiving

    /// Handles a message; `log` has the publications of the frame's session and is nil for a session of a hostile client.
    mutating func receive(
        _ envelope: Envelope, _ frame: Frame, _ log: PublishedLog?, _ random: inout SeededRandom
    ) {
        if let frameBytesMax = self.wish.frameBytesMax, frame.bytes.count > frameBytesMax {
            self.report(.framesFit, "\(envelope.message.type) has \(frame.bytes.count) bytes")
        }
        if case .snapshotBegin(let begin) = envelope.message {
            self.begin(begin, envelope)
        } else if envelope.session != .none, self.ended.contains(envelope.session) {
            self.report(.nothingAfterCancelling, "\(envelope.message.type) of a session after its end")
        }
        if envelope.sequence != 0, envelope.message.publication == nil {
            self.report(.publishersOrder, "\(envelope.message.type) has the number \(envelope.sequence)")
        }
        switch envelope.message {
        case .snapshotEnd: self.endSnapshot(log)
        case .sessionEnded(let end): self.end(end.session)
        case .requestOutcome(let outcome): self.receive(outcome)
        case .prompt(let prompt): self.answer(prompt, &random)
        case .promptOver(let over): self.prompts.remove(over.requestID)
        case .publication(let publication): self.receive(publication, envelope, frame, log, &random)
        case .error(let rejection): self.receive(rejection)
        default: break  // Not stored.
        }
    }

    private mutating func report(_ promise: Promise, _ text: String) {
        self.violations.append((promise, "\(self.path.vehicle)/\(self.path.endpoint): \(text)"))
    }

    private mutating func begin(_ begin: SnapshotBegin, _ envelope: Envelope) {
        if self.session != .none, self.session != envelope.session {
            self.report(.oneSession, "a session begins before another one ended")
        }
        self.isOutOfRoom = begin.withheld.contains { $0.withheld == .noCapacity }
        self.isOptedOut = begin.withheld.contains(FeatureGrant(.routeSegments, withheld: .tripOptedOut))
        self.hidesSpeedLimit = begin.withheld.contains(
            FeatureGrant(.speedLimit, withheld: .vehicleDoesNotWant))
        let told = Set(begin.withheld.map(\.feature))
        for feature in Profile.contentFeatures
        where !self.fitting.features.contains(feature) && !told.contains(feature) {
            self.report(.equalAtRest, "\(feature) is left out without notice")
        }
        (self.isSnapshot, self.isFirst) = (begin.kind == .full, true)
        if self.isSnapshot { self.leave() }
        // A list of withheld features alone leads from a number to the same one.
        if begin.fromSequence != self.sequence, self.isSnapshot || begin.fromSequence != begin.toSequence {
            self.report(
                .publishersOrder, "a snapshot leads from \(begin.fromSequence), it holds \(self.sequence)")
        }
        self.snapshotEnd = begin.toSequence
        self.ended.remove(envelope.session)
        self.session = envelope.session
    }

    private mutating func endSnapshot(_ log: PublishedLog?) {
        if !self.isSnapshot,
            let event = log?.event(
                after: self.sequence, before: self.snapshotEnd + 1, for: self.currentFitting)
        {
            self.report(.publishersOrder, "event \(event) is missing from the snapshot of missed events")
        }
        self.isSnapshot = false
        self.sequence = self.snapshotEnd
    }

    /// A session has ended; for none, the vehicle is in no session.
    private mutating func end(_ session: SessionID) {
        guard self.session != .none, session == self.session || session == .none else { return }
        self.ended.insert(self.session)
        self.leave()
    }

    private mutating func receive(_ outcome: RequestOutcome) {
        let id = outcome.requestID
        guard let request = self.requestStates[id] else { return }  // A request of another endpoint.
        if let known = request.outcome, known != outcome.outcome {
            self.report(.oneOutcome, "\(id) ended as \(known) and as \(outcome.outcome)")
        }
        if request.outcome == nil { self.requestStates[id]?.outcome = outcome.outcome }
    }

    private mutating func answer(_ prompt: Prompt, _ random: inout SeededRandom) {
        self.prompts.insert(prompt.requestID)
        let answer = PromptAnswer(requestID: prompt.requestID, isAccepted: random.once(in: 2))
        if !random.once(in: 4) { self.intentions.append(.promptAnswer(answer)) }
    }

    private mutating func receive(_ rejection: Rejection) {
        // The request may have ended before the withdrawal arrived.
        guard rejection.messageType != MessageType.withdrawRequest.rawValue else { return }
        // It sent more than its share of what waits for the client.
        if rejection.code == .limitReached, rejection.messageType == MessageType.zoomCluster.rawValue {
            return
        }
        // The trips to choose from were replaced meanwhile, or it asked for an unknown one.
        if rejection.code == .unknownReference,
            rejection.messageType == MessageType.selectPreview.rawValue
        {
            return
        }
        // The watch at the gateway knows which of these it must be.
        let codes: [ErrorCode] = [.notAuthorized, .unknownReference, .notGranted, .limitReached]
        if rejection.messageType == MessageType.simulateDrive.rawValue, codes.contains(rejection.code) {
            return
        }
        if rejection.code == .limitReached,
            rejection.messageType == MessageType.vehicleExtension.rawValue
        {
            return
        }
        // Another endpoint was faster, or the message crossed the end of its session.
        if rejection.code == .ignored, self.reportsIgnored { return }
        self.report(.rejectionChangesNothing, "got an unexpected error: \(rejection)")
    }

    // MARK: Publications

    private mutating func receive(
        _ publication: Publication, _ envelope: Envelope, _ frame: Frame, _ log: PublishedLog?,
        _ random: inout SeededRandom
    ) {
        if envelope.session != self.session {
            self.report(.oneSession, "\(publication.type) of a session that never began")
        }
        self.advance(to: frame, publication, log)
        if self.isSnapshot, self.isOptedOut, publication.hasSegments {
            self.report(.equalAtRest, "\(publication.type) has segments that the trip does not share")
        }
        self.drive.apply(publication)
        switch publication {
        case .finishGuidance, .cancelGuidance: self.end(self.session)
        case .shareDestination(let id, _, _):
            guard !random.once(in: 4) else { return }
            let outcome = random.once(in: 2) ? Outcome.accepted : .declinedByUser
            self.intentions.append(
                .destinationShareAnswer(DestinationShareAnswer(shareID: Identifier(id), outcome: outcome)))
        default: break  // Only stored.
        }
    }

    /// Handles a published frame of an unknown type.
    mutating func receiveUnknown(_ frame: Frame, _ log: PublishedLog?) {
        if self.ended.contains(frame.header.session) {
            self.report(.nothingAfterCancelling, "an unknown frame of a session after its end")
        }
        self.advance(to: frame, nil, log)
        self.drive.extensions.apply(UnknownPublication(frame))
    }

    private mutating func advance(to frame: Frame, _ publication: Publication?, _ log: PublishedLog?) {
        let sequence = frame.header.sequence
        let isPart = frame.header.flags.contains(.fitted) && sequence == self.sequence
        if sequence <= self.sequence, !isPart {
            self.report(.publishersOrder, "number \(sequence) after \(self.sequence)")
        }
        if isPart, self.isWhole, !self.isFirst {
            self.report(.framesFit, "number \(sequence) goes on after its last part")
        }
        (self.isWhole, self.isFirst) = (!frame.header.flags.contains(.more), false)
        if let log { self.compare(publication, frame, log) }
        self.sequence = max(self.sequence, sequence)
    }

    /// Checks that the frame has what was published, fitted, and that no event before it is missing.
    private mutating func compare(_ publication: Publication?, _ frame: Frame, _ log: PublishedLog) {
        let sequence = frame.header.sequence
        guard let published = log.entry(sequence) else {
            return self.report(.rejectionChangesNothing, "\(sequence) was not published")
        }
        if !frame.header.flags.contains(.fitted) {
            if frame.bytes != published.frame.bytes {
                self.report(.equalAtRest, "the bytes of \(sequence) differ from the published ones")
            }
        } else if let fitted = published.publication.flatMap({ self.currentFitting.apply(to: $0) }),
            publication.map({ self.currentFitting.accepts($0, for: fitted) }) != true
        {
            self.report(.equalAtRest, "\(sequence) was not fitted to \(fitted)")
        }
        if !self.isSnapshot,
            let event = log.event(after: self.sequence, before: sequence, for: self.currentFitting)
        {
            self.report(.publishersOrder, "event \(event) is missing before \(sequence)")
        }
    }

    /// The first event that an up-to-date endpoint must have received and this one has not; nil if it has all.
    func missingEvent(of log: PublishedLog) -> UInt64? {
        log.event(after: self.sequence, before: .max, for: self.currentFitting)
    }
}

extension Publication {
    fileprivate var hasSegments: Bool {
        switch self {
        case .startGuidance(_, _, let route), .resumeGuidance(_, _, let route?):
            !route.segments.isEmpty || route.currentSegment != nil
        case .addRouteSegments, .currentRouteSegment: true
        default: false  // The others have no field for them.
        }
    }
}

extension Message {
    fileprivate var publication: Publication? {
        if case .publication(let publication) = self { publication } else { nil }
    }
}
