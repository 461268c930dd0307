internal import WaymarkModel
internal import WaymarkProtocol

/// A navigation client that publishes at random, sometimes wrongly, and restates everything after a loss.
struct SimulatedApp {
    let id: ClientID
    let vehicles: [VehicleID]
    var connection: ConnectionID?
    var token: ResumptionToken?
    private(set) var session: SessionID?
    private(set) var sequence: UInt64 = 0
    private(set) var held: [ConflationKey: Publication] = [:]
    private var generation: UInt32 = 0
    private var opened = 0
    private var isPaused = false
    /// It has said so, and waits for the gateway's word.
    private var hasFinished = false

    init(id: ClientID, vehicles: [VehicleID]) {
        self.id = id
        self.vehicles = vehicles
    }

    mutating func openSession() -> Message {
        self.opened += 1
        return .openSession(
            OpenSession(requestID: "\(self.id)-\(self.opened)", vehicles: .vehicles(self.vehicles)))
    }

    /// The gateway has gone, or lost this client.
    mutating func forgetSession() {
        self.session = nil
        self.held = [:]
        self.isPaused = false
        self.hasFinished = false
    }

    /// The gateway has the session up to `sequence`: what it did not get is made good by starting over.
    mutating func resume(_ sessions: [ResumedSession]) {
        guard let session, let found = sessions.first(where: { $0.session == session }), found.phase != .ended
        else {
            return self.forgetSession()
        }
        self.sequence = found.sequence
        self.held = [:]
        self.hasFinished = false
    }

    mutating func receive(_ envelope: Envelope) {
        switch envelope.message {
        case .sessionOpened(let opened):
            self.forgetSession()
            self.session = opened.session
            self.sequence = 0
            self.generation = 0
        case .sessionEnded(let ended): if ended.session == self.session { self.forgetSession() }
        default: break  // Requests are answered by the network.
        }
    }

    /// The next publication; nil without a session. A wrong one is not taken over.
    mutating func publish(_ random: inout SeededRandom) -> Envelope? {
        guard let session, !self.hasFinished else { return nil }
        self.sequence += 1
        let (publication, isWrong) = self.next(&random)
        if !isWrong { SimulatedRoute.apply(publication, to: &self.held) }
        self.hasFinished = publication.type == .finishGuidance
        return Envelope(.publication(publication), session: session, sequence: self.sequence)
    }

    private mutating func next(_ random: inout SeededRandom) -> (Publication, isWrong: Bool) {
        if self.held.isEmpty {
            self.isPaused = false
            return (.startGuidance(Self.trip, generation: self.newGeneration(), Self.route), false)
        }
        if self.isPaused {
            self.isPaused = false
            return random.once(in: 2)
                ? (.resumeGuidance(generation: self.generation, .unknown, nil), false)
                : (.resumeGuidance(generation: self.newGeneration(), .missedTurn, Self.route), false)
        }
        switch Int.random(in: 0..<40, using: &random) {
        case 0: return (.finishGuidance, false)
        case 1, 2:
            self.isPaused = true
            return (.pauseGuidance(.rerouting, description: []), false)
        case 3, 4: return (.upcomingManeuvers([ManeuverID(rawValue: 99)], generation: self.generation), true)
        case 5: return (.maneuverState(.continue, generation: self.generation + 7), true)
        case 6..<20: return (.currentRoadName(["road \(Int.random(in: 0..<1_000, using: &random))"]), false)
        case 20..<25:
            let first = UInt32.random(in: 1...3, using: &random)
            return (.upcomingManeuvers([ManeuverID(rawValue: first)], generation: self.generation), false)
        default:
            let maneuver = ManeuverID(rawValue: .random(in: 1...3, using: &random))
            let estimates = TravelEstimates(
                distanceRemaining: .meters(.random(in: 0...5_000, using: &random)))
            return (.maneuverEstimates(maneuver, estimates, generation: self.generation), false)
        }
    }

    private mutating func newGeneration() -> UInt32 {
        self.generation += 1
        return self.generation
    }

    private static let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9))
    private static let trip = Trip(id: "t", origin: place, destination: place)
    private static let route = RouteInformation(
        maneuvers: (1...3).map { Maneuver(id: ManeuverID(rawValue: $0), type: .leftTurn) },
        upcomingManeuvers: [ManeuverID(rawValue: 1)])
}
