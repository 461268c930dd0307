internal import WaymarkModel
internal import WaymarkProtocol

/// A navigation client that keeps to the protocol: publishes at random, sometimes what must be refused, answers requests,
/// and takes up its session again after a loss.
struct SimulatedApp {
    /// A frame on its way to the gateway, and the error that must come back for it.
    struct Published {
        let sequence: UInt64
        let publication: Publication
        var refusal: Refusal?
    }

    /// The error that a wrong publication is answered with.
    struct Refusal: Hashable {
        let sequence: UInt64
        let code: ErrorCode
        let field: String
    }

    let id: ClientID
    let features: Set<Feature>
    let priority: Int32
    let selection: VehicleSelection
    var connection: ConnectionID?
    var isWelcome = false
    var token: ResumptionToken?
    private(set) var session: SessionID?
    /// Vehicles that are in the session, as the gateway said.
    private(set) var joined: Set<VehicleID> = []
    private(set) var drive = DriveState()
    /// It waits for the answer to its OpenSession.
    private(set) var opening: OpenSession?
    /// Why it has no session although it asked for one.
    private(set) var reasonForNoSession: String?
    /// Errors that must still come.
    private(set) var awaited: [Refusal] = []
    /// Messages that it will send sooner or later.
    var intentions: [Message] = []
    /// What it found wrong.
    var violations: [(Promise, String)] = []
    private var sequence: UInt64 = 0
    private var recent: [Published] = []
    /// Lost on the way, to be sent again.
    private var lost: [Published] = []
    private var generation: UInt32 = 0
    private var openings = 0
    private var making = RandomDrive()
    private var shareCount = 0
    /// Shares by name and vehicle; nil until it is known how they ended.
    private(set) var shares: [String: DestinationShareStatus.Stage?] = [:]
    private var isRerouteAsked = false
    /// It has said that guidance is over, and waits for the gateway's word.
    private var hasFinished = false

    init(id: ClientID, selection: VehicleSelection, _ random: inout SeededRandom) {
        self.id = id
        self.selection = selection
        self.priority = Int32(random.number(-1...1))
        var features = Set(Feature.allCases)
        if random.once(in: 4) { features.remove(.waypointRequests) }
        if random.once(in: 4) { features.remove(.destinationRequests) }
        self.features = features
    }

    var hello: Hello {
        var navigation = NavigationHello(client: self.id, features: self.features)
        navigation.priority = self.priority
        var hello = Hello(role: .navigation(navigation))
        hello.resumptionToken = self.token
        return hello
    }

    // MARK: Coming and going

    mutating func loseConnection() {
        self.connection = nil
        self.isWelcome = false
        self.awaited = []
        self.intentions = []
        // How a share ends while its client is away is not told later.
        self.shares = [:]
    }

    /// Takes up the session, or forgets it; returns what must be forgotten of what was published.
    mutating func welcome(_ welcome: Welcome, _ random: inout SeededRandom) -> UInt64? {
        self.token = welcome.resumptionToken
        self.isWelcome = true
        let found = welcome.sessions.first { $0.session == self.session }
        guard let found, found.phase != .ended else {
            self.forgetSession()
            return nil
        }
        self.lost = (self.recent + self.lost).filter { $0.sequence > found.sequence }
        self.recent = []
        self.sequence = found.sequence
        if random.once(in: 2) { self.lost = [] } else { return nil }
        // Restated from the start, under a new generation.
        self.drive.clear()
        self.hasFinished = false
        return found.sequence
    }

    private mutating func forgetSession() {
        self.session = nil
        self.joined = []
        self.drive.clear()
        self.sequence = 0
        self.generation = 0
        self.recent = []
        self.lost = []
        self.awaited = []
        self.shares = [:]
        self.isRerouteAsked = false
        self.hasFinished = false
    }

    /// A new OpenSession, or the one that was not answered yet.
    mutating func open() -> Message {
        if let opening { return .openSession(opening) }
        self.openings += 1
        let opening = OpenSession(
            requestID: "\(self.id)-\(self.openings)", vehicles: self.selection,
            receiptsEveryMilliseconds: 1_000)
        self.opening = opening
        self.reasonForNoSession = nil
        return .openSession(opening)
    }

    /// It has a session, and still has to publish for its vehicles to know the drive.
    var isBehind: Bool {
        self.session != nil && (!self.lost.isEmpty || (self.drive.trip == nil && !self.hasFinished))
    }

    /// Not all of its shares have ended.
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
        case .error(let rejection): self.take(rejection)
        case .waypointRequest(let request):
            guard let vehicle = request.vehicle else { return self.miss("a request without its vehicle") }
            self.consider(request.requestID, vehicle, isWaypoint: true, &random)
        case .destinationRequest(let request):
            guard let vehicle = request.vehicle else { return self.miss("a request without its vehicle") }
            self.consider(request.requestID, vehicle, isWaypoint: false, &random)
        case .requestOutcome(let outcome):
            self.isRerouteAsked = outcome.outcome == .accepted && session == self.session
        case .destinationShareStatus(let status): if session == self.session { self.note(status) }
        default: break  // Settings, receipts and the like: nothing follows from them.
        }
    }

    private mutating func miss(_ text: String) { self.violations.append((.oneOutcome, text)) }

    private mutating func begin(_ opened: SessionOpened) {
        // The answer to one that was sent twice.
        guard opened.requestID == self.opening?.requestID else { return }
        self.opening = nil
        self.forgetSession()
        self.session = opened.session
        for status in opened.vehicles { self.note(status) }
    }

    private mutating func note(_ status: VehicleStatus) {
        switch status.standing {
        case .joined: self.joined.insert(status.vehicle)
        case .awaited, .refused, .left: self.joined.remove(status.vehicle)
        }
    }

    private mutating func take(_ rejection: Rejection) {
        switch MessageType(rawValue: rejection.messageType) {
        case .openSession:
            guard rejection.requestID == self.opening?.requestID else { return }
            self.opening = nil
            self.reasonForNoSession = "\(rejection.code)"
        case .requestAnswer: break  // It crossed the end of its request.
        default:
            // The session has ended meanwhile, and with it what was under way.
            guard rejection.session == self.session else { return }
            let refusal = Refusal(
                sequence: rejection.sequence, code: rejection.code, field: rejection.field)
            if let place = self.awaited.firstIndex(of: refusal) {
                self.awaited.remove(at: place)
            } else {
                self.violations.append((.rejectionChangesNothing, "\(self.id) was refused \(rejection)"))
            }
        }
    }

    private mutating func note(_ status: DestinationShareStatus) {
        let share = "\(status.shareID) with \(status.vehicle)"
        switch status.stage {
        case .willShare: self.shares.updateValue(.none, forKey: share)
        case .didShare, .didFailToShare:
            // Begun before the connection was lost.
            guard let known = self.shares[share] else { return }
            if let known {
                self.violations.append((.oneOutcome, "\(share) ended as \(known) and as \(status.stage)"))
            }
            self.shares.updateValue(status.stage, forKey: share)
        }
    }

    /// Answers at once, late, twice, by its own prompt, or never.
    private mutating func consider(
        _ id: String, _ vehicle: VehicleID, isWaypoint: Bool, _ random: inout SeededRandom
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

    /// What is published next; nil without a session. A wrong publication is not taken over.
    mutating func publish(_ random: inout SeededRandom) -> (SessionID, Published)? {
        guard let session, self.isWelcome else { return nil }
        if !self.lost.isEmpty {
            let again = self.lost.removeFirst()
            self.sequence = again.sequence
            return (session, self.noteSent(again))
        }
        guard !self.hasFinished else { return nil }
        if !random.once(in: 10) || self.drive.trip == nil {
            let publication = self.next(&random)
            self.drive.apply(publication)
            self.hasFinished = publication.type == .finishGuidance || publication.type == .cancelGuidance
            self.sequence += 1
            return (session, self.noteSent(Published(sequence: self.sequence, publication: publication)))
        }
        let (publication, code, field) = self.wrong(&random)
        if code != .sequenceGap { self.sequence += 1 }
        let sequence = code == .sequenceGap ? self.sequence + 3 : self.sequence
        var published = Published(sequence: sequence, publication: publication)
        published.refusal = Refusal(sequence: sequence, code: code, field: field)
        return (session, self.noteSent(published))
    }

    private mutating func noteSent(_ published: Published) -> Published {
        // What is beyond a gap is not sent again: it would no longer be beyond one.
        if published.refusal?.code != .sequenceGap { self.recent.append(published) }
        if let refusal = published.refusal { self.awaited.append(refusal) }
        return published
    }

    private mutating func next(_ random: inout SeededRandom) -> Publication {
        guard let trip = self.drive.trip else { return self.start(&random) }
        if self.drive.pause != nil, random.once(in: 2) {
            let reason = self.isRerouteAsked ? RerouteReason.waypointModified : .missedTurn
            guard self.isRerouteAsked || random.once(in: 2) else {
                return .resumeGuidance(generation: self.generation, .unknown, nil)
            }
            self.isRerouteAsked = false
            return .resumeGuidance(
                generation: self.newGeneration(), reason, self.making.route(on: trip, &random))
        }
        if self.isRerouteAsked, self.drive.pause == nil {
            return .pauseGuidance(.rerouting, description: [])
        }
        switch random.number(0...59) {
        case 0: return random.once(in: 2) ? .finishGuidance : .cancelGuidance
        case 1: return self.start(&random)
        case 2, 3: return .pauseGuidance(random.once(in: 2) ? .rerouting : .loading, description: ["wait"])
        case 4, 5: return .updateTrip(self.updated(trip, &random))
        case 6...11: return self.addition(trip, &random)
        case 12...15: return self.alert(&random)
        case 16, 17: return self.share(trip, &random)
        case 18: return .tripPreviews([trip], selected: "")
        default: return self.state(&random)
        }
    }

    private mutating func start(_ random: inout SeededRandom) -> Publication {
        let trip = self.making.trip(&random)
        return .startGuidance(
            trip, generation: self.newGeneration(), self.making.route(on: trip, &random))
    }

    private mutating func newGeneration() -> UInt32 {
        self.generation += 1
        return self.generation
    }

    /// The trip with another destination; whether it has segments stays as it is.
    private func updated(_ trip: Trip, _ random: inout SeededRandom) -> Trip {
        var trip = trip
        trip.destination = RandomDrive.waypoint(&random)
        return trip
    }

    private mutating func addition(_ trip: Trip, _ random: inout SeededRandom) -> Publication {
        switch random.number(0...3) {
        case 0:
            let added = self.making.laneGuidances(1, &random)
            return .addLaneGuidances(added, generation: self.generation)
        case 1 where trip.routeSegmentsAvailable:
            let segment = self.making.segment(self.drive.maneuvers, self.drive.laneGuidances, &random)
            return .addRouteSegments([segment], generation: self.generation)
        default:
            let added = self.making.maneuvers(random.number(1...3), self.drive.laneGuidances, &random)
            return .addManeuvers(added, generation: self.generation)
        }
    }

    private mutating func alert(_ random: inout SeededRandom) -> Publication {
        if let shown = self.drive.alert, random.once(in: 2) { return .dismissAlert(shown.id, .userDismissed) }
        return .showAlert(self.making.alert(&random))
    }

    private mutating func share(_ trip: Trip, _ random: inout SeededRandom) -> Publication {
        // As many at a time as the gateway takes.
        guard trip.isDestinationShareable, self.shares.values.count(where: { $0 == nil }) < 2 else {
            return self.state(&random)
        }
        self.shareCount += 1
        return .shareDestination(shareID: "\(self.id)-share-\(self.shareCount)", trip.destination)
    }

    private mutating func state(_ random: inout SeededRandom) -> Publication {
        let road = Publication.currentRoadName([
            "Road number \(random.number(0...99))", "R\(random.number(0...99))",
        ])
        switch random.number(0...7) {
        case 0, 1: return road
        case 2: return .tripEstimates(RandomDrive.estimates(&random), .green)
        case 3: return self.upcoming(&random) ?? road
        case 4:
            guard let lanes = random.pick(self.drive.laneGuidances) else { return road }
            return .currentLaneGuidance(lanes.id, generation: self.generation)
        case 5:
            guard let segment = random.pick(self.drive.segments) else { return road }
            return .currentRouteSegment(segment.id, generation: self.generation)
        case 6:
            guard self.drive.pause == nil, let state = self.nextManeuverState else { return road }
            return .maneuverState(state, generation: self.generation)
        default:
            guard let maneuver = random.pick(self.drive.maneuvers) else { return road }
            return .maneuverEstimates(
                maneuver.id, RandomDrive.estimates(&random), generation: self.generation)
        }
    }

    /// Mostly the next maneuvers, sometimes far ahead or back.
    private func upcoming(_ random: inout SeededRandom) -> Publication? {
        let ids = self.drive.maneuvers.map(\.id)
        guard !ids.isEmpty else { return nil }
        let current = ids.firstIndex { $0 == self.drive.upcoming.first } ?? 0
        let first = random.once(in: 4) ? random.number(0...ids.count - 1) : min(current + 1, ids.count - 1)
        return .upcomingManeuvers(Array(ids[first...].prefix(2)), generation: self.generation)
    }

    /// One further in the cycle, before whichever maneuver.
    private var nextManeuverState: ManeuverState? {
        switch self.drive.maneuverState {
        case nil, .continue: .initial
        case .initial: .prepare
        case .prepare: .execute
        case .execute: .continue
        case .unrecognized: nil
        }
    }

    /// A publication that must be refused, with the code and the field.
    private mutating func wrong(_ random: inout SeededRandom) -> (Publication, ErrorCode, String) {
        let nobody = ManeuverID(rawValue: 60_000)
        switch random.number(0...9) {
        case 0:
            return (
                .upcomingManeuvers([nobody], generation: self.generation), .unknownReference,
                "maneuver_ids[0]"
            )
        case 1:
            return (
                .maneuverState(.continue, generation: self.generation + 7), .staleGeneration, "generation"
            )
        case 2:
            guard let old = self.drive.maneuvers.last else { fallthrough }
            return (.addManeuvers([old], generation: self.generation), .duplicate, "maneuvers[0].id")
        case 3:
            let route = RouteInformation(upcomingManeuvers: [nobody])
            return (
                .startGuidance(self.making.trip(&random), generation: self.generation + 1, route),
                .unknownReference, "route.upcoming_maneuver_ids[0]"
            )
        case 4:
            return (
                .currentRouteSegment("nowhere", generation: self.generation), .unknownReference, "segment_id"
            )
        case 5:
            let estimates = TravelEstimates(distanceRemaining: .meters(60_000_000))
            return (
                .tripEstimates(estimates, .green), .outOfRange, "travel_estimates.distance_remaining_meters"
            )
        case 6: return (.dismissAlert(60_000, .userDismissed), .unknownReference, "alert_id")
        case 7: return (.currentRoadName(["too early"]), .sequenceGap, "")
        case 8 where self.drive.pause == nil:
            return (.resumeGuidance(generation: self.generation, .unknown, nil), .wrongState, "")
        default:
            let estimates = RandomDrive.estimates(&random)
            return (
                .maneuverEstimates(nobody, estimates, generation: self.generation), .unknownReference,
                "maneuver_id"
            )
        }
    }
}
