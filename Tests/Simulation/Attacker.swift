internal import WaymarkCodec
internal import WaymarkGateway
internal import WaymarkModel
internal import WaymarkProtocol

/// A peer that follows the protocol and stays within its limits, but asks for much more work and room than it needs.
struct Attacker {
    enum Role {
        /// A navigation client.
        case client(Int)
        /// An endpoint of vehicle `x0` or `x1`, with limits that no other has.
        case endpoint(Int)
    }

    private enum Attack: CaseIterable {
        /// Sessions for its own vehicles, with guidance along a long route.
        case guidance
        /// Jumps along the route, in one read.
        case jumps
        /// Shares, then the end of the session.
        case cancellation
        /// Sessions that wait for many vehicles.
        case openings
        /// Sessions for any vehicle that asked.
        case offers
    }

    let role: Role
    var connection: ConnectionID?
    private var isIntroduced = false
    private var said = 0
    /// Its sessions, as far as it has read, with the last sequence number.
    private var sessions: [(id: SessionID, sequence: UInt64, isGuiding: Bool)] = []
    private var generation: UInt32 = 0

    static let vehicles = ["x0", "x1"].map { VehicleID(unchecked: $0) }
    private static let maneuverCount = 64

    init(_ role: Role) { self.role = role }

    mutating func connect(_ connection: ConnectionID) {
        self.connection = connection
        self.isIntroduced = false
        self.sessions = []
    }

    private var name: String {
        switch self.role {
        case .client(let index): "x-app-\(index)"
        case .endpoint(let index): "x-e\(index)"
        }
    }

    /// It does not read: frames wait for it.
    var isDeaf: Bool { if case .endpoint(let index) = self.role { index % 2 == 1 } else { false } }

    mutating func hear(_ message: Message) {
        switch message {
        case .sessionOpened(let opened): self.sessions.append((opened.session, 0, false))
        case .sessionEnded(let ended): self.sessions.removeAll { $0.id == ended.session }
        default: break  // It is not interested.
        }
    }

    /// The next bytes to send, at once; `victims` are vehicles of others.
    mutating func speak(_ victims: [VehicleID], _ random: inout SeededRandom) -> [UInt8] {
        guard self.isIntroduced else {
            self.isIntroduced = true
            return Self.bytes([Envelope(.hello(self.hello(victims, &random)))])
        }
        switch self.role {
        case .endpoint: return Self.bytes(self.requests(&random))
        case .client: return Self.bytes(self.attack(&random))
        }
    }

    private static func bytes(_ envelopes: [Envelope]) -> [UInt8] {
        envelopes.flatMap { Array(Codec.encode($0).bytes) }
    }

    private func hello(_ victims: [VehicleID], _ random: inout SeededRandom) -> Hello {
        switch self.role {
        case .client:
            var navigation = NavigationHello(
                client: ClientID(unchecked: self.name), features: Set(Feature.allCases))
            navigation.priority = Int32(random.number(-1...1))
            return Hello(role: .navigation(navigation))
        case .endpoint(let index):
            // Now and then it tries the id of another user's vehicle with a token that is wrong.
            let isImpostor = random.once(in: 4)
            let vehicle = isImpostor ? random.pick(victims) : nil
            var hello = VehicleHello(
                vehicle: vehicle ?? Self.vehicles[index % 2], endpoint: EndpointName(unchecked: "e\(index)"),
                features: Set(Feature.allCases))
            hello.guidanceWanted = random.once(in: 2)
            hello.limits.maneuversStoredMax = UInt32(2 + index)
            hello.limits.currentRoadNameLengthMax = UInt32(4 + index)
            hello.receiveFrameBytesMax = 4_096 << UInt32(index % 3)
            var said = Hello(role: .vehicle(hello))
            if isImpostor { said.resumptionToken = ResumptionToken(high: 7, low: 1 << 40) }
            return said
        }
    }

    /// Many requests, and changes of mind.
    private mutating func requests(_ random: inout SeededRandom) -> [Envelope] {
        (0..<random.number(1...16)).map { _ in
            self.said += 1
            switch random.number(0...3) {
            case 0: return Envelope(.allowNavigation)
            case 1: return Envelope(.cancelNavigation(.userStopped))
            default:
                let destination = RandomDrive.waypoint(&random)
                let id: Identifier = "\(self.name)-\(self.said)"
                return Envelope(
                    .destinationRequest(DestinationRequest(requestID: id, destination: destination)))
            }
        }
    }

    private mutating func attack(_ random: inout SeededRandom) -> [Envelope] {
        switch random.pick(Attack.allCases) ?? .guidance {
        case .guidance:
            guard let session = self.sessions.indices.last else { return self.open(Self.vehicles) }
            return [self.start(in: session, &random)]
        case .jumps:
            guard let session = self.sessions.indices.last else { return self.open(Self.vehicles) }
            let start = self.sessions[session].isGuiding ? [] : [self.start(in: session, &random)]
            return start
                + (0..<40).map { _ in
                    let id = ManeuverID(rawValue: UInt32(random.number(1...Self.maneuverCount)))
                    return self.envelope(.upcomingManeuvers([id], generation: self.generation), in: session)
                }
        case .cancellation:
            guard !self.sessions.isEmpty else { return self.open(Self.vehicles) }
            return self.cancel(shareCount: 8, &random)
        case .openings:
            return (0..<random.number(1...12)).flatMap { _ -> [Envelope] in
                let ends = self.sessions.count > 1 ? self.cancel(shareCount: 0, &random) : []
                let ids = (0..<20).map { VehicleID(unchecked: "\(self.name)-\(self.said)-\($0)") }
                return ends + self.open(ids)
            }
        case .offers:
            return (0..<random.number(1...4)).map { _ in self.opening(.anyThatAsked) }
        }
    }

    /// Begins guidance along a long route.
    private mutating func start(in session: Int, _ random: inout SeededRandom) -> Envelope {
        self.generation += 1
        self.sessions[session].isGuiding = true
        let maneuvers = (1...UInt32(Self.maneuverCount)).map {
            Maneuver(id: ManeuverID(rawValue: $0), type: .leftTurn, instructionVariants: ["turn left here"])
        }
        let trip = Trip(
            id: "x", origin: RandomDrive.waypoint(&random), destination: RandomDrive.waypoint(&random),
            isDestinationShareable: true, routeSegmentsAvailable: false)
        let route = RouteInformation(maneuvers: maneuvers)
        return self.envelope(.startGuidance(trip, generation: self.generation, route), in: session)
    }

    /// Shares places and ends its oldest session.
    private mutating func cancel(shareCount: Int, _ random: inout SeededRandom) -> [Envelope] {
        var messages = [self.start(in: 0, &random)]
        for _ in 0..<shareCount {
            self.said += 1
            let place = RandomDrive.waypoint(&random)
            messages.append(self.envelope(.shareDestination(shareID: "x\(self.said)", place), in: 0))
        }
        messages.append(self.envelope(.cancelGuidance, in: 0))
        self.sessions.removeFirst()
        return messages
    }

    private mutating func open(_ vehicles: [VehicleID]) -> [Envelope] { [self.opening(.vehicles(vehicles))] }

    private mutating func opening(_ vehicles: VehicleSelection) -> Envelope {
        self.said += 1
        return Envelope(.openSession(OpenSession(requestID: "x\(self.said)", vehicles: vehicles)))
    }

    private mutating func envelope(_ publication: Publication, in session: Int) -> Envelope {
        self.sessions[session].sequence += 1
        return Envelope(
            .publication(publication), session: self.sessions[session].id,
            sequence: self.sessions[session].sequence)
    }
}
