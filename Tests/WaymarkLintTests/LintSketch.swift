import WaymarkCodec
import WaymarkHistory
import WaymarkLint
import WaymarkModel
import WaymarkProtocol

/// A history that is written by hand: what peers say and hear, each at a second of the run.
struct LintSketch {
    static let app = PeerID.client(ClientID(unchecked: "app"))
    static let car = VehicleID(unchecked: "car")
    static let cluster = PeerID.endpoint(car, EndpointName(unchecked: "cluster"))

    private(set) var history = History()
    private var sequence: UInt64 = 0
    var session = SessionID(1)

    /// Guidance of `route`, from the first second on.
    static func guided(_ route: RouteInformation = .turns, at seconds: Double = 0) -> LintSketch {
        var sketch = LintSketch()
        sketch.publish(.startGuidance(.short, generation: 1, route), at: seconds)
        return sketch
    }

    mutating func publish(
        _ publication: Publication, at seconds: Double, delivery: CrossedFrame.Delivery = .whole
    ) {
        self.sequence += 1
        self.append(
            .publication(publication), of: Self.app, .toGateway, self.session, self.sequence, delivery,
            seconds)
    }

    /// The client publishes several things at once.
    mutating func publish(_ publications: [Publication], at seconds: Double) {
        for publication in publications { self.publish(publication, at: seconds) }
    }

    mutating func send(
        _ message: Message, from peer: PeerID, session: SessionID = .none, at seconds: Double
    ) {
        self.append(message, of: peer, .toGateway, session, 0, .whole, seconds)
    }

    mutating func deliver(
        _ message: Message, to peer: PeerID, session: SessionID = .none, sequence: UInt64 = 0,
        at seconds: Double
    ) {
        self.append(message, of: peer, .toPeer, session, sequence, .whole, seconds)
    }

    mutating func connection(_ change: History.Connection, of peer: PeerID, at seconds: Double) {
        self.history.append(.connection(peer, change), at: Self.instant(seconds))
    }

    mutating func fault(_ kind: String, of peer: PeerID, at seconds: Double) {
        self.history.append(.fault(FaultRecord(kind, of: peer, kind)), at: Self.instant(seconds))
    }

    /// The client drives: estimates of the trip and of a maneuver.
    mutating func drive(trip: UInt32, maneuver: UInt32, of id: UInt32 = 1, at seconds: Double) {
        self.publish(.trip(trip), at: seconds)
        self.publish(.to(id, maneuver), at: seconds)
    }

    private mutating func append(
        _ message: Message, of peer: PeerID, _ way: Way, _ session: SessionID, _ sequence: UInt64,
        _ delivery: CrossedFrame.Delivery, _ seconds: Double
    ) {
        let frame = Codec.encode(Envelope(message, session: session, sequence: sequence))
        let instant = Self.instant(seconds)
        let crossed = CrossedFrame(frame, of: peer, way, sent: instant, delivery: delivery)
        self.history.append(.frame(crossed), at: instant)
    }

    static func instant(_ seconds: Double) -> Instant {
        Instant(nanoseconds: Int64((seconds * 1_000).rounded()) * 1_000_000)
    }

    // MARK: What is found

    func findings(until seconds: Double = 0, allowing allowances: [LintAllowance] = []) -> [Finding] {
        var linter = Linter(allowing: allowances)
        let found = linter.judge(self.history)
        return found + linter.advance(to: Self.instant(seconds))
    }

    /// What is found in what a client publishes, and in the minute after.
    static func findings(
        _ publications: [(elapsed: Duration, publication: Publication)],
        allowing allowances: [LintAllowance] = []
    ) -> [Finding] {
        var linter = Linter(allowing: allowances)
        var found: [Finding] = []
        var sketch = LintSketch()
        for (elapsed, publication) in publications {
            sketch.publish(publication, at: elapsed / .seconds(1))
            if let entry = sketch.history.entries.last { found += linter.see(entry) }
        }
        let end = publications.last?.elapsed ?? .zero
        return found + linter.advance(to: Instant(nanoseconds: 0) + end + .seconds(60))
    }

    /// The rules that find something, each once for each finding.
    func rules(until seconds: Double = 0) -> [LintID] { self.findings(until: seconds).map(\.rule) }
}

extension Publication {
    static func trip(_ meters: UInt32) -> Publication {
        .tripEstimates(TravelEstimates(distanceRemaining: .meters(meters)), .default)
    }

    static func to(_ maneuver: UInt32, _ meters: UInt32) -> Publication {
        .maneuverEstimates(
            ManeuverID(rawValue: maneuver), TravelEstimates(distanceRemaining: .meters(meters)), generation: 1
        )
    }

    static func upcoming(_ ids: UInt32...) -> Publication {
        .upcomingManeuvers(ids.map { ManeuverID(rawValue: $0) }, generation: 1)
    }

    static func lanes(_ id: UInt32?) -> Publication {
        .currentLaneGuidance(id.map { LaneGuidanceID(rawValue: $0) }, generation: 1)
    }

    static func state(_ state: ManeuverState) -> Publication { .maneuverState(state, generation: 1) }

    static func add(_ maneuver: Maneuver) -> Publication { .addManeuvers([maneuver], generation: 1) }
}

extension Trip {
    static let short = Trip(id: "t", origin: .place, destination: .place)
}

extension Waypoint {
    static let place = Waypoint(
        center: Coordinate(latitude: 47, longitude: 9), nameVariants: ["Landstrasse 1, Vaduz", "Vaduz"])
}

extension Maneuver {
    static func turn(_ id: UInt32, _ type: ManeuverType = .leftTurn) -> Maneuver {
        Maneuver(id: ManeuverID(rawValue: id), type: type)
    }
}

extension LaneGuidance {
    static func shown(_ id: UInt32, highlights: Bool = true) -> LaneGuidance {
        LaneGuidance(
            id: LaneGuidanceID(rawValue: id),
            lanes: [
                Lane(angles: [.degrees(90)]),
                Lane(
                    angles: [.degrees(-90), .degrees(0)], highlightedAngle: highlights ? .degrees(-90) : nil,
                    status: .good),
            ])
    }
}

extension RouteInformation {
    /// Three turns, of which the first is next, 5 km from the destination.
    static let turns: RouteInformation = {
        var route = RouteInformation()
        route.maneuvers = [.turn(1), .turn(2, .rightTurn), .turn(3, .arriveAtDestination)]
        route.upcomingManeuvers = [1, 2].map { ManeuverID(rawValue: $0) }
        route.tripTravelEstimates = TravelEstimates(distanceRemaining: .meters(5_000))
        route.maneuverTravelEstimates = TravelEstimates(distanceRemaining: .meters(900))
        return route
    }()

    /// The same with lanes 1 and 2, of which the first maneuver links to the first.
    static let lanes: RouteInformation = {
        var route = RouteInformation.turns
        route.maneuvers[0].linkedLaneGuidance = LaneGuidanceID(rawValue: 1)
        route.laneGuidances = [.shown(1), .shown(2)]
        return route
    }()
}
