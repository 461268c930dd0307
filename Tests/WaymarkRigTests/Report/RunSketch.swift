import WaymarkClient
import WaymarkCodec
import WaymarkConfiguration
import WaymarkHistory
import WaymarkModel
import WaymarkProtocol
import WaymarkRig
import WaymarkScenario

/// A history made by hand: a client that guides one endpoint, or two.
struct RunSketch {
    static let cluster = PeerID.endpoint(VehicleID(unchecked: "dut"), EndpointName(unchecked: "cluster"))
    static let hud = PeerID.endpoint(VehicleID(unchecked: "dut"), EndpointName(unchecked: "hud"))
    static let client = PeerID.client(ClientID(unchecked: "client"))

    private(set) var history = History()
    private var sequence: UInt64 = 0

    init(_ endpoints: [PeerID] = [Self.cluster]) {
        for endpoint in endpoints { self.history.add(endpoint, storage: VehicleLimits()) }
    }

    /// Adds an entry so many milliseconds after the run began; returns its index.
    @discardableResult mutating func add(_ kind: History.Kind, at milliseconds: Int64) -> Int {
        self.history.append(kind, at: Self.instant(milliseconds))?.index ?? -1
    }

    static func instant(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    /// The endpoint connects and gets an empty snapshot.
    mutating func connect(_ peer: PeerID = Self.cluster, resumed: Bool = false, at milliseconds: Int64) {
        self.add(.connection(peer, .admitted(resumed: resumed)), at: milliseconds)
        guard !resumed else { return }
        let begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: "client"))
        self.send(.snapshotBegin(begin), to: peer, at: milliseconds)
        self.send(.snapshotEnd, to: peer, at: milliseconds)
    }

    @discardableResult mutating func send(
        _ message: Message, to peer: PeerID = Self.cluster, at milliseconds: Int64,
        _ delivery: CrossedFrame.Delivery = .whole
    ) -> Int {
        self.add(.frame(self.frame(message, peer, .toPeer, delivery)), at: milliseconds)
    }

    @discardableResult mutating func receive(
        _ message: Message, from peer: PeerID = Self.cluster, at milliseconds: Int64
    ) -> Int {
        self.add(.frame(self.frame(message, peer, .toGateway, .whole)), at: milliseconds)
    }

    @discardableResult mutating func publish(
        _ publication: Publication, to peer: PeerID = Self.cluster, at milliseconds: Int64,
        _ delivery: CrossedFrame.Delivery = .whole
    ) -> Int {
        self.sequence += 1
        return self.send(.publication(publication), to: peer, at: milliseconds, delivery)
    }

    private func frame(
        _ message: Message, _ peer: PeerID, _ way: Way, _ delivery: CrossedFrame.Delivery
    ) -> CrossedFrame {
        var sequence: UInt64 = 0
        if case .publication = message { sequence = self.sequence }
        let envelope = Envelope(message, session: SessionID(1), sequence: sequence)
        return CrossedFrame(
            Codec.encode(envelope), of: peer, way, sent: Self.instant(0), delivery: delivery)
    }

    // MARK: A drive

    /// A right turn after a left turn; the lanes before it are four.
    mutating func startGuidance(at milliseconds: Int64, highlighting lane: Int = 4) {
        let places = ["Heidelberg", "Leisberg"].map {
            Waypoint(center: Coordinate(latitude: 49, longitude: 8), nameVariants: [$0])
        }
        let maneuvers = [
            Maneuver(id: ManeuverID(rawValue: 3), type: .leftTurn, instructionVariants: ["Turn left"]),
            Maneuver(
                id: ManeuverID(rawValue: 4), type: .rightTurn, instructionVariants: ["Turn right"],
                junctionExitAngle: .degrees(84), linkedLaneGuidance: LaneGuidanceID(rawValue: 2)),
        ]
        let lanes = [[-90], [-90, 0], [0], [90]].enumerated().map { index, angles in
            let angles = angles.map { Angle.degrees($0) }
            guard index == lane - 1 else { return Lane(angles: angles) }
            return Lane(angles: angles, highlightedAngle: angles[0], status: .preferred)
        }
        self.publish(
            .startGuidance(
                Trip(id: "trip", origin: places[0], destination: places[1]), generation: 1,
                RouteInformation(
                    maneuvers: maneuvers,
                    laneGuidances: [LaneGuidance(id: LaneGuidanceID(rawValue: 2), lanes: lanes)],
                    upcomingManeuvers: maneuvers.map(\.id))), at: milliseconds)
    }

    mutating func estimate(_ maneuver: UInt32, meters: UInt32, at milliseconds: Int64) {
        self.publish(
            .maneuverEstimates(
                ManeuverID(rawValue: maneuver),
                TravelEstimates(
                    distanceRemaining: .meters(meters), timeRemaining: .seconds(Int64(meters) / 10)),
                generation: 1), at: milliseconds)
    }

    // MARK: What is judged

    static func failed(
        _ text: String, _ expected: String, line: Int, anchor: Int? = nil, at milliseconds: Int64,
        nearest: Nearest? = nil, of subjects: [PeerID] = [Self.cluster]
    ) -> ReportedExpectation {
        var judged = ReportedExpectation(
            text, at: SourceLocation(file: "right-turn-lanes.scenario.yaml", line: line, column: 5),
            .failed(Failure(expected, anchor: anchor, at: self.instant(milliseconds), nearest: nearest)))
        judged.subjects = subjects
        return judged
    }

    func result(_ expectations: [ReportedExpectation], at end: Int64 = 3_000) -> ScenarioResult {
        var result = ScenarioResult(file: "right-turn-lanes.scenario.yaml")
        result.about =
            "The vehicle shows the lanes of a right turn before it, and gets no more updates than it can use."
        (result.expectations, result.end) = (expectations, Self.instant(end))
        result.lints = [ReportedLint("LINT-LANE-HIGHLIGHT", "A lane that leads on has no highlighted angle.")]
        result.explain(by: self.history)
        return result
    }
}
