import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// An endpoint with n slots that follows Docs/protocol.md, "Fitting": it keeps the n maneuvers that were added last.
private struct ManySlots {
    let countMax: Int
    /// When each maneuver was added last.
    private var added: [ManeuverID: Int] = [:]
    private var count = 0
    private(set) var upcoming: [ManeuverID] = []

    init(_ countMax: Int) { self.countMax = countMax }

    mutating func receive(_ publication: Publication) {
        switch publication {
        case .startGuidance(_, _, let route), .resumeGuidance(_, _, let route?):
            self.added = [:]
            self.add(route.maneuvers)
            self.upcoming = route.upcomingManeuvers
        case .addManeuvers(let maneuvers, _): self.add(maneuvers)
        case .upcomingManeuvers(let ids, _):
            self.upcoming = ids
            #expect(Set(ids).isSubset(of: self.held))
        default: break  // Needs no slot.
        }
    }

    private mutating func add(_ maneuvers: [Maneuver]) {
        for maneuver in maneuvers {
            self.count += 1
            self.added[maneuver.id] = self.count
        }
    }

    var held: [ManeuverID] { self.added.sorted { $0.value < $1.value }.suffix(self.countMax).map(\.key) }
}

/// One session along a long route, and endpoints with slots for a part of it.
private struct LongRoute {
    var gateway: Gateway
    var random: SeededRandom
    let frameBytesMax: UInt32
    private(set) var endpoints: [ConnectionID: ManySlots] = [:]
    private var members: [AudienceID: [ConnectionID]] = [:]
    private let client = ConnectionID(1_000)
    private var session = SessionID.none
    private var sequence: UInt64 = 0
    private var route: [ManeuverID] = []
    private var upcoming: [ManeuverID] = []

    init(seed: Int) {
        self.random = SeededRandom(seed: UInt64(seed))
        self.frameBytesMax = [4_096, 20_000, 1_048_576].randomElement(using: &self.random) ?? 4_096
        var policy = Gateway.Policy()
        policy.limits.route.maneuversPerSessionMax = 20_000
        policy.limits.frameBytesMax = self.frameBytesMax
        self.gateway = Gateway(policy: policy, coder: Codec.coder, firstSession: SessionID(100))
        self.handle(
            .arrived(self.client, Hello(role: World.client("app")), .user(1), token: .init(high: 0, low: 1)))
        let opening = OpenSession(requestID: "r", vehicles: .vehicles([VehicleID(unchecked: "car")]))
        self.handle(.received(self.client, .openSession(opening), .none))
    }

    mutating func publish(_ publication: Publication) {
        self.sequence += 1
        let envelope = Envelope(.publication(publication), session: self.session, sequence: self.sequence)
        self.handle(.published(self.client, PublishedFrames(Codec.encode(envelope), publication.outline)))
    }

    mutating func start(_ count: Int) {
        let maneuvers = self.newManeuvers(count)
        self.upcoming = Array(self.route.prefix(1))
        self.publish(
            .startGuidance(
                World.trip, generation: 1,
                RouteInformation(maneuvers: maneuvers, upcomingManeuvers: self.upcoming)))
    }

    mutating func add(_ count: Int) {
        self.publish(.addManeuvers(self.newManeuvers(count), generation: 1))
    }

    /// Names one to three maneuvers, anywhere and in any order, and sometimes the first of them twice.
    mutating func jump() {
        let first = Int.random(in: 0..<self.route.count, using: &self.random)
        self.upcoming = self.route[first...].prefix(.random(in: 1...3, using: &self.random))
            .shuffled(using: &self.random)
        if Bool.random(using: &self.random) { self.upcoming.insert(self.upcoming[0], at: 0) }
        self.publish(.upcomingManeuvers(self.upcoming, generation: 1))
    }

    private mutating func newManeuvers(_ count: Int) -> [Maneuver] {
        let first = UInt32(self.route.count)
        let maneuvers = (0..<UInt32(count)).map { index in
            var maneuver = Maneuver(id: ManeuverID(rawValue: first + index + 1), type: .leftTurn)
            maneuver.initialTravelEstimates = TravelEstimates(distanceRemaining: .meters(index))
            if Int.random(in: 0..<40, using: &self.random) == 0 {
                maneuver.instructionVariants = (0..<7).map { String(repeating: "x", count: 490 + $0) }
            }
            return maneuver
        }
        self.route += maneuvers.map(\.id)
        return maneuvers
    }

    mutating func join(_ id: UInt64, slots: Int) {
        self.endpoints[ConnectionID(id)] = ManySlots(slots)
        let role = World.endpoint("car", "e\(id)") {
            $0.limits.maneuversStoredMax = UInt32(slots)
            $0.preferences.distanceUnits = .metric
        }
        self.handle(
            .arrived(ConnectionID(id), Hello(role: role), .user(1), token: .init(high: 1, low: id)))
    }

    private mutating func handle(_ event: Gateway.Event) {
        var next: Gateway.Event? = event
        while let event = next {
            var actions: [Gateway.Action] = []
            self.gateway.handle(event, at: Instant(nanoseconds: 0), into: &actions)
            for action in actions { self.perform(action) }
            next = self.gateway.hasSteps(of: event.cause) ? .stepDue(of: event.cause) : nil
        }
    }

    private mutating func perform(_ action: Gateway.Action) {
        switch action {
        case .send(self.client, let envelope):
            if case .sessionOpened(let opened) = envelope.message { self.session = opened.session }
            if case .error(let rejection) = envelope.message { Issue.record("refused: \(rejection)") }
        case .sendFrames(let id, let frames): for frame in frames { self.receive(frame, id) }
        case .publish(let audience, let frames):
            for id in self.members[audience] ?? [] {
                for (frame, _) in frames.frames { self.receive(frame, id) }
            }
        case .join(let id, let audience): self.members[audience, default: []].append(id)
        default: break  // Nothing to receive.
        }
    }

    private mutating func receive(_ frame: Frame, _ id: ConnectionID) {
        #expect(frame.bytes.count <= Int(self.frameBytesMax))
        do {
            guard case .publication(let publication) = try Codec.decode(frame).message else { return }
            self.endpoints[id]?.receive(publication)
        } catch { Issue.record("a frame that cannot be read: \(error)") }
    }

    /// The maneuvers that an endpoint with so many slots holds, by the rule of the page.
    func window(_ slots: Int) -> [ManeuverID] {
        guard self.route.count > slots else { return self.route }
        let named = self.upcoming.prefix(slots).map { Int($0.rawValue) - 1 }
        let others = Array(named[0]..<self.route.count) + (0..<named[0]).reversed()
        let taken = Set(named)
        return (Array(taken) + others.filter { !taken.contains($0) }).prefix(slots).sorted().map {
            self.route[$0]
        }
    }

    func check() {
        for (id, endpoint) in self.endpoints {
            #expect(endpoint.held == self.window(endpoint.countMax), "\(id), \(endpoint.countMax) slots")
            #expect(endpoint.upcoming == Array(self.upcoming.prefix(endpoint.countMax)))
        }
    }
}

@Suite struct FrameDivisionTests {
    @Test(arguments: 0..<6)
    func `whatever is fitted comes in frames within the limits, and fills the slots`(_ seed: Int) {
        var run = LongRoute(seed: seed)
        let slots = [1, 100, 5_000, 9_000, 20_000].shuffled(using: &run.random)
        run.join(1, slots: slots[0])
        run.start(.random(in: 1...100, using: &run.random))
        run.join(2, slots: slots[1])
        for _ in 0..<Int.random(in: 1...40, using: &run.random) {
            run.add(.random(in: 1...490, using: &run.random))
            if Int.random(in: 0..<10, using: &run.random) == 0 { run.jump() }
        }
        run.join(3, slots: slots[2])
        for _ in 0..<3 { run.jump() }
        run.check()
        run.join(4, slots: slots[3])
        run.check()
    }

    @Test func `a route is divided by the exact sizes of what it has`() {
        let profile = Profile(frameBytesMax: 4_096)
        let maneuvers = (UInt32(1)...4_096).map { Maneuver(id: ManeuverID(rawValue: $0), type: .noTurn) }
        let parts = profile.shorten([.addManeuvers(maneuvers, generation: 1)], Codec.coder)
        let sizes = parts.map { Codec.encode(Envelope(.publication($0))).bytes.count }
        #expect(sizes.count == 6)
        #expect(sizes.dropLast().allSatisfy { (4_080...4_096).contains($0) }, "\(sizes)")
        let added = parts.flatMap { part -> [Maneuver] in
            if case .addManeuvers(let some, _) = part { some } else { [] }
        }
        #expect(added == maneuvers)
        // A short route is not divided, however many elements it has.
        let route = RouteInformation(maneuvers: Array(maneuvers.prefix(400)))
        let start = Publication.startGuidance(World.trip, generation: 1, route)
        #expect(profile.shorten([start], Codec.coder) == [start])
    }

    @Test func `the sizes of elements and of what is beside them are that of the frame`() {
        var maneuver = Maneuver(
            id: ManeuverID(rawValue: 300), type: .leftTurn, instructionVariants: ["Turn left", "Left"])
        maneuver.initialTravelEstimates = TravelEstimates(distanceRemaining: .meters(70_000))
        let guidance = LaneGuidance(
            id: LaneGuidanceID(rawValue: 70_000), lanes: [Lane(angles: [.degrees(-90), .degrees(0)])])
        let line = (0..<200).map { Coordinate(latitude: 47 + Double($0) / 1_000, longitude: 9) }
        let segments = ["a", "b"].map {
            RouteSegment(id: $0, origin: World.place, destination: World.place, coordinates: line)
        }
        func check(_ all: Publication, _ none: Publication, _ count: Int) {
            let frames = [all, none].map { Codec.encode(Envelope(.publication($0))).bytes.count }
            let byteCount = frames[0] - frames[1]
            let fitting = { Codec.coder.elementsFitting(all, 0, $0) }
            #expect(fitting(byteCount).count == count && fitting(byteCount).byteCount == byteCount)
            #expect(fitting(byteCount - 1).count == max(0, count - 1))
            #expect(Codec.coder.elementsFitting(all, max(0, count - 1), .max).count == min(1, count))
        }
        check(.addManeuvers([maneuver, maneuver], generation: 7), .addManeuvers([], generation: 7), 2)
        check(.addLaneGuidances([guidance], generation: 7), .addLaneGuidances([], generation: 7), 1)
        check(.addRouteSegments(segments, generation: 7), .addRouteSegments([], generation: 7), 2)
        check(.finishGuidance, .finishGuidance, 0)
    }

    @Test func `a trip that its display distances make too long for a frame has its shortest texts`() throws {
        var trip = World.trip
        trip.destination.nameVariants = (0..<7).map { String(repeating: "n", count: 500 + $0) }
        let name = String(repeating: "s", count: 300)
        let estimates = TravelEstimates(distanceRemaining: .meters(12_345))
        trip.routeChoices = (1...3).map {
            RouteChoice(id: $0, summaryVariants: [name], travelEstimates: estimates)
        }
        let length = Codec.encode(Envelope(.publication(.updateTrip(trip)))).bytes.count
        var world = World { $0.limits.frameBytesMax = UInt32(length) }
        let car = world.arrive(1, World.endpoint("car") { $0.preferences.distanceUnits = .metric })
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        world.publish(client, session, .updateTrip(trip))
        guard case .publication(.updateTrip(let fitted)) = world.messages(car).last else {
            Issue.record("no trip")
            return
        }
        #expect(fitted.destination.nameVariants == [trip.destination.nameVariants[0]])
        #expect(fitted.routeChoices.count == 3)
        #expect(fitted.routeChoices[0].travelEstimates?.distanceRemainingToDisplay != nil)
    }
}
