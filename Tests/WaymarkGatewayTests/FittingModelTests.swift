import Testing
import WaymarkClient
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol

/// An endpoint with few slots that follows Docs/protocol.md, "Fitting", to the letter and knows nothing else.
struct SlotModel {
    let maneuversMax: Int
    let laneGuidancesMax: Int
    private(set) var maneuvers: [ManeuverID] = []
    private(set) var laneGuidances: [LaneGuidanceID] = []
    private(set) var faults: [String] = []

    init(_ limits: VehicleLimits) {
        self.maneuversMax = Int(limits.maneuversStoredMax)
        self.laneGuidancesMax = Int(limits.laneGuidancesStoredMax)
    }

    mutating func take(_ message: Message) {
        switch message {
        case .snapshotBegin(let begin) where begin.kind == .full:
            (self.maneuvers, self.laneGuidances) = ([], [])
        case .publication(.startGuidance(_, _, let route)), .publication(.resumeGuidance(_, _, let route?)):
            (self.maneuvers, self.laneGuidances) = ([], [])
            if self.maneuversMax > 0, route.maneuvers.count > self.maneuversMax {
                self.faults.append("a route with \(route.maneuvers.count) maneuvers")
            }
            Self.add(route.maneuvers.map(\.id), to: &self.maneuvers, self.maneuversMax)
            Self.add(route.laneGuidances.map(\.id), to: &self.laneGuidances, self.laneGuidancesMax)
            self.check(route.upcomingManeuvers)
            if let current = route.currentLaneGuidance { self.check(current) }
        case .publication(.addManeuvers(let added, _)):
            Self.add(added.map(\.id), to: &self.maneuvers, self.maneuversMax)
        case .publication(.addLaneGuidances(let added, _)):
            Self.add(added.map(\.id), to: &self.laneGuidances, self.laneGuidancesMax)
        case .publication(.upcomingManeuvers(let ids, _)): self.check(ids)
        case .publication(.currentLaneGuidance(let id?, _)): self.check(id)
        case .publication(.maneuverEstimates(let id, _, _)): self.check([id])
        default: break  // Needs no slot.
        }
    }

    private mutating func check(_ ids: [ManeuverID]) {
        for id in ids where !self.maneuvers.contains(id) {
            self.faults.append("maneuver \(id.rawValue) is named and not held")
        }
    }

    private mutating func check(_ id: LaneGuidanceID) {
        if !self.laneGuidances.contains(id) {
            self.faults.append("lane guidance \(id.rawValue) is named and not held")
        }
    }

    private static func add<ID: Hashable>(_ added: [ID], to held: inout [ID], _ countMax: Int) {
        for id in added {
            held.removeAll { $0 == id }
            held.append(id)
            if countMax > 0, held.count > countMax { held.removeFirst() }
        }
    }
}

/// One endpoint: what waits for it, what the library's reducer holds, what the model holds.
struct FittedEndpoint {
    let role: Hello.Role
    let limits: VehicleLimits
    var connection: ConnectionID
    var token: ResumptionToken?
    var outbox = Outbox(limits: .init())
    var state = VehicleState()
    var model: SlotModel

    init(_ role: Hello.Role, _ connection: ConnectionID) {
        self.role = role
        self.connection = connection
        self.limits = if case .vehicle(let hello) = role { hello.limits } else { VehicleLimits() }
        self.model = SlotModel(self.limits)
    }

    mutating func read(byteCount: Int) {
        for frame in self.outbox.take(byteCount: byteCount) {
            guard let envelope = try? Codec.decode(frame) else {
                Issue.record("a frame that cannot be read")
                continue
            }
            self.state.apply(envelope, storage: self.limits)
            self.model.take(envelope.message)
            guard self.model.faults.isEmpty else {
                Issue.record("\(self.model.faults[0]), at number \(envelope.sequence)")
                return
            }
            #expect(self.state.maneuvers.map(\.id) == self.model.maneuvers)
            #expect(self.state.laneGuidances.map(\.id) == self.model.laneGuidances)
            #expect(Set(self.state.upcomingManeuvers).isSubset(of: self.model.maneuvers))
            #expect(Set(self.state.maneuverEstimates.keys).isSubset(of: self.model.maneuvers))
        }
    }

    /// What it holds, apart from how far it has read.
    var held: VehicleState {
        var held = self.state
        held.sequence = 0
        return held
    }
}

/// A client that publishes at random, and endpoints that read it at random.
struct FittingRun {
    var random: SeededRandom
    var gateway: Gateway
    var client = ConnectionID(1)
    var session = SessionID.none
    var sequence: UInt64 = 0
    var nextConnection: UInt64 = 1
    var endpoints: [FittedEndpoint] = []
    var members: [AudienceID: [ConnectionID]] = [:]
    var kinds: [SnapshotBegin.Kind: Int] = [:]

    // What was published.
    var generation: UInt32 = 0
    var nextID: UInt32 = 0
    var maneuvers: [Maneuver] = []
    var laneGuidances: [LaneGuidance] = []
    var upcoming: [ManeuverID] = []
    var isPaused = false

    init(seed: Int) {
        self.random = SeededRandom(seed: UInt64(seed))
        self.gateway = Gateway(policy: .init(), coder: Codec.coder, firstSession: SessionID(1))
        self.arrive(World.client("app"), self.client)
        let opening = OpenSession(requestID: "r", vehicles: .vehicles([VehicleID(unchecked: "car")]))
        self.handle(.received(self.client, .openSession(opening), .none))
        for index in 0..<3 { self.addEndpoint(self.role("e\(index)")) }
    }

    mutating func step() {
        switch Int.random(in: 0..<20, using: &self.random) {
        case 0: self.reconnect()
        case 1 where self.endpoints.count < 8:
            // One more endpoint, with the limits of another or with new ones.
            let twin = self.endpoints.randomElement(using: &self.random)?.role
            let name = "e\(self.endpoints.count)"
            self.addEndpoint(Bool.random(using: &self.random) ? self.role(name) : Self.role(name, like: twin))
        case 2..<8:
            let index = Int.random(in: 0..<self.endpoints.count, using: &self.random)
            self.endpoints[index].read(byteCount: .random(in: 1...2_000, using: &self.random))
        default: self.publish(self.nextPublication())
        }
    }

    /// Everything is read; a fresh endpoint must hold what each one with its limits holds.
    mutating func compare() {
        let count = self.endpoints.count
        for index in 0..<count {
            self.endpoints[index].read(byteCount: .max)
            self.addEndpoint(Self.role("late\(index)", like: self.endpoints[index].role))
            self.endpoints[count + index].read(byteCount: .max)
            let (old, late) = (self.endpoints[index], self.endpoints[count + index])
            let isSame = old.held == late.held
            #expect(isSame, "\(old.limits)")
            guard old.limits.maneuversStoredMax > 0, old.state.withheld[.maneuvers] == nil else { continue }
            let slots = Int(old.limits.maneuversStoredMax)
            #expect(old.state.upcomingManeuvers == Array(self.upcoming.prefix(slots)))
            #expect(old.state.maneuvers.count == min(slots, self.maneuvers.count))
        }
    }

    // MARK: The client

    private mutating func nextPublication() -> Publication {
        if self.generation == 0 { return self.start() }
        if self.isPaused {
            self.isPaused = false
            guard Bool.random(using: &self.random) else {
                return .resumeGuidance(generation: self.generation, .unknown, nil)
            }
            let route = self.newRoute()
            return .resumeGuidance(generation: self.generation, .missedTurn, route)
        }
        switch Int.random(in: 0..<40, using: &self.random) {
        case 0: return self.start()
        case 1:
            self.isPaused = true
            return .pauseGuidance(.rerouting, description: [])
        case 2..<6:
            let added = self.newManeuvers(1...4)
            self.maneuvers += added
            return .addManeuvers(added, generation: self.generation)
        case 6..<9:
            let added = self.newLaneGuidances(1...4)
            self.laneGuidances += added
            return .addLaneGuidances(added, generation: self.generation)
        case 9..<20:
            self.upcoming = self.nextUpcoming()
            return .upcomingManeuvers(self.upcoming, generation: self.generation)
        case 20..<26:
            let isNone = self.laneGuidances.isEmpty || Int.random(in: 0..<3, using: &self.random) == 0
            let id = isNone ? nil : self.laneGuidances.randomElement(using: &self.random)?.id
            return .currentLaneGuidance(id, generation: self.generation)
        case 26..<36 where !self.maneuvers.isEmpty:
            let id = self.maneuvers[Int.random(in: 0..<self.maneuvers.count, using: &self.random)].id
            return .maneuverEstimates(id, self.estimates(), generation: self.generation)
        case 36: return .tripEstimates(self.estimates(), .green)
        case 37: return .showAlert(NavigationAlert(id: 1, titleVariants: ["A long warning", "Warning"]))
        default:
            return .currentRoadName(["Road \(Int.random(in: 0..<99, using: &self.random))", "R"])
        }
    }

    /// Mostly the next ones; now and then none, some further on, or some anywhere.
    private mutating func nextUpcoming() -> [ManeuverID] {
        guard !self.maneuvers.isEmpty else { return [] }
        let ids = self.maneuvers.map(\.id)
        let place = self.upcoming.first.flatMap { ids.firstIndex(of: $0) } ?? 0
        let count = Int.random(in: 1...4, using: &self.random)
        switch Int.random(in: 0..<10, using: &self.random) {
        case 0: return []
        case 1: return Array(ids[Int.random(in: 0..<ids.count, using: &self.random)...].prefix(count))
        case 2: return Array(ids.shuffled(using: &self.random).prefix(count))
        default: return Array(ids[min(place + 1, ids.count - 1)...].prefix(count))
        }
    }

    private mutating func start() -> Publication {
        self.isPaused = false
        let route = self.newRoute()
        return .startGuidance(World.trip, generation: self.generation, route)
    }

    private mutating func newRoute() -> RouteInformation {
        self.generation += 1
        self.maneuvers = self.newManeuvers(0...9)
        self.laneGuidances = self.newLaneGuidances(0...5)
        self.upcoming = []
        self.upcoming = self.nextUpcoming()
        return RouteInformation(
            maneuvers: self.maneuvers, laneGuidances: self.laneGuidances, upcomingManeuvers: self.upcoming,
            currentLaneGuidance: Bool.random(using: &self.random)
                ? self.laneGuidances.randomElement(using: &self.random)?.id : nil,
            maneuverTravelEstimates: Bool.random(using: &self.random) ? self.estimates() : nil)
    }

    private mutating func newManeuvers(_ count: ClosedRange<Int>) -> [Maneuver] {
        (0..<Int.random(in: count, using: &self.random)).map { _ in
            self.nextID += 1
            return Maneuver(
                id: ManeuverID(rawValue: self.nextID), type: .leftTurn,
                instructionVariants: ["Turn left at \(self.nextID)", "Left"])
        }
    }

    private mutating func newLaneGuidances(_ count: ClosedRange<Int>) -> [LaneGuidance] {
        (0..<Int.random(in: count, using: &self.random)).map { _ in
            self.nextID += 1
            return LaneGuidance(
                id: LaneGuidanceID(rawValue: self.nextID), lanes: [Lane(angles: [.degrees(0)])])
        }
    }

    private mutating func estimates() -> TravelEstimates {
        TravelEstimates(distanceRemaining: .meters(.random(in: 0...9_999, using: &self.random)))
    }

    private mutating func publish(_ publication: Publication) {
        self.sequence += 1
        let envelope = Envelope(.publication(publication), session: self.session, sequence: self.sequence)
        self.handle(.published(self.client, PublishedFrames(Codec.encode(envelope), publication.outline)))
    }

    // MARK: The endpoints

    private mutating func role(_ name: String) -> Hello.Role {
        World.endpoint("car", name) { hello in
            hello.limits.maneuversStoredMax = [0, 1, 2, 3, 5].randomElement(using: &self.random) ?? 0
            hello.limits.laneGuidancesStoredMax = [0, 1, 2, 4].randomElement(using: &self.random) ?? 0
            hello.limits.currentRoadNameLengthMax = [0, 1].randomElement(using: &self.random) ?? 0
            hello.preferences.distanceUnits =
                [.asPublished, .imperialFeet].randomElement(using: &self.random) ?? .metric
            if Int.random(in: 0..<5, using: &self.random) == 0 { hello.features.remove(.laneGuidance) }
            if Int.random(in: 0..<5, using: &self.random) == 0 { hello.features.remove(.maneuvers) }
        }
    }

    private static func role(_ name: String, like role: Hello.Role?) -> Hello.Role {
        World.endpoint("car", name) { hello in
            guard case .vehicle(let model) = role else { return }
            hello.limits = model.limits
            hello.preferences = model.preferences
            hello.features = model.features
        }
    }

    private mutating func addEndpoint(_ role: Hello.Role) {
        self.nextConnection += 1
        self.endpoints.append(FittedEndpoint(role, ConnectionID(self.nextConnection)))
        self.arrive(role, ConnectionID(self.nextConnection))
    }

    /// Cuts an endpoint off, with what waits for it, and lets it come back where it was.
    private mutating func reconnect() {
        let index = Int.random(in: 0..<self.endpoints.count, using: &self.random)
        self.handle(.departed(self.endpoints[index].connection, clean: false))
        for _ in 0..<Int.random(in: 0...3, using: &self.random) { self.publish(self.nextPublication()) }
        self.nextConnection += 1
        let endpoint = self.endpoints[index]
        self.endpoints[index].connection = ConnectionID(self.nextConnection)
        self.endpoints[index].outbox = Outbox(limits: .init())
        self.arrive(
            endpoint.role, ConnectionID(self.nextConnection), token: endpoint.token,
            resume: (SessionID(endpoint.state.session), endpoint.state.sequence))
    }

    private mutating func arrive(
        _ role: Hello.Role, _ connection: ConnectionID, token: ResumptionToken? = nil,
        resume: (SessionID, UInt64) = (.none, 0)
    ) {
        var hello = Hello(role: role)
        hello.resumptionToken = token
        (hello.resumeSession, hello.resumeSequence) = resume
        let fresh = ResumptionToken(high: 0, low: connection.rawValue)
        self.handle(.arrived(connection, hello, .anyone, token: fresh))
    }

    private mutating func handle(_ event: Gateway.Event) {
        self.begin(event)
        while self.gateway.hasSteps(of: event.cause) { self.begin(.stepDue(of: event.cause)) }
    }

    private mutating func begin(_ event: Gateway.Event) {
        var actions: [Gateway.Action] = []
        self.gateway.handle(event, at: Instant(nanoseconds: 0), into: &actions)
        for action in actions {
            switch action {
            case .send(self.client, let envelope):
                if case .sessionOpened(let opened) = envelope.message { self.session = opened.session }
                if case .error(let rejection) = envelope.message { Issue.record("refused: \(rejection)") }
            case .admit(let id, let welcome): self.update(id) { $0.token = welcome.resumptionToken }
            case .send(let id, let envelope):
                if case .snapshotBegin(let begin) = envelope.message {
                    self.kinds[begin.kind, default: 0] += 1
                }
                self.queue(Codec.encode(envelope), nil, for: id)
            case .sendFrames(let id, let frames): for frame in frames { self.queue(frame, nil, for: id) }
            case .publish(let audience, let frames):
                for id in self.members[audience] ?? [] {
                    for (frame, key) in frames.frames { self.queue(frame, key, for: id) }
                }
            case .join(let id, let audience): self.members[audience, default: []].append(id)
            case .leave(let id, let audience): self.members[audience]?.removeAll { $0 == id }
            case .refuse, .close, .purge, .purgeShares, .forward: Issue.record("\(action)")
            case .arm, .note, .observe: break
            }
        }
    }

    private mutating func queue(_ frame: Frame, _ key: ConflationKey?, for id: ConnectionID) {
        self.update(id) { #expect($0.outbox.append(frame, key: key) == .queued) }
    }

    private mutating func update(_ id: ConnectionID, _ body: (inout FittedEndpoint) -> Void) {
        for index in self.endpoints.indices where self.endpoints[index].connection == id {
            body(&self.endpoints[index])
        }
    }
}

@Suite struct FittingModelTests {
    @Test(arguments: 0..<30)
    func
        `whatever is published, conflated and missed, endpoints with few slots hold what a late joiner holds`(
            _ seed: Int
        )
    {
        var run = FittingRun(seed: seed)
        for _ in 0..<150 { run.step() }
        run.compare()
    }

    @Test func `the runs come across both ways of coming back`() {
        var kinds: [SnapshotBegin.Kind: Int] = [:]
        for seed in 0..<10 {
            var run = FittingRun(seed: seed)
            for _ in 0..<150 { run.step() }
            kinds.merge(run.kinds, uniquingKeysWith: +)
        }
        #expect(kinds[.full, default: 0] > 10 && kinds[.missed, default: 0] > 10)
    }
}
