import Testing
import WaymarkAccess
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol

/// A gateway with peers whose mail is kept.
struct World {
    var gateway: Gateway
    var now = Instant(nanoseconds: 0)
    var nextToken: UInt64 = 1
    var mail: [ConnectionID: [Envelope]] = [:]
    /// The published frames that endpoints were sent, as they are on the wire.
    var frames: [ConnectionID: [Frame]] = [:]
    var members: [AudienceID: [ConnectionID]] = [:]
    var welcomes: [ConnectionID: Welcome] = [:]
    var goodbyes: [ConnectionID: CloseCode] = [:]
    /// The limit that each Goodbye named.
    var limits: [ConnectionID: ReachedLimit] = [:]
    var sequences: [SessionID: UInt64] = [:]

    init(_ change: (inout Gateway.Policy) -> Void = { _ in }) {
        var policy = Gateway.Policy()
        change(&policy)
        self.gateway = Gateway(policy: policy, coder: Codec.coder, firstSession: SessionID(100))
    }

    /// A message of a peer as the transport hands it in.
    static func event(
        of message: Message, from connection: ConnectionID, _ session: SessionID = .none
    ) -> Gateway.Event {
        ReceivedRequest(message).map { .requested(connection, $0, session) }
            ?? .received(connection, message, session)
    }

    /// Lets a peer say something.
    mutating func receive(_ message: Message, from connection: ConnectionID, _ session: SessionID = .none) {
        self.handle(Self.event(of: message, from: connection, session))
    }

    /// Handles an event, and all steps of the operation that it begins.
    mutating func handle(_ event: Gateway.Event) {
        self.begin(event)
        var stepCount = 0
        while self.gateway.hasSteps(of: event.cause) {
            stepCount += 1
            guard stepCount < 1_000_000 else {
                Issue.record("an operation does not end")
                return
            }
            self.begin(.stepDue(of: event.cause))
        }
    }

    /// Handles an event, but leaves the steps of the operation that it begins.
    mutating func begin(_ event: Gateway.Event) {
        var actions: [Gateway.Action] = []
        self.gateway.handle(event, at: self.now, into: &actions)
        for action in actions {
            switch action {
            case .admit(let id, let welcome): self.welcomes[id] = welcome
            case .refuse(let id, let goodbye), .close(let id, let goodbye):
                self.goodbyes[id] = goodbye.code
                self.limits[id] = goodbye.limit
            case .send(let id, let envelope): self.mail[id, default: []].append(envelope)
            case .forward(let id, let request, let vehicle, let session):
                self.deliver(Codec.frame(of: request, from: vehicle, session: session), to: id)
            case .sendFrames(let id, let frames):
                for frame in frames { self.deliver(frame, to: id) }
            case .publish(let audience, let frames):
                for (frame, _) in frames.frames {
                    for id in self.members[audience] ?? [] { self.deliver(frame, to: id) }
                }
            case .join(let id, let audience): self.members[audience, default: []].append(id)
            case .leave(let id, let audience): self.members[audience]?.removeAll { $0 == id }
            case .purge, .purgeShares, .arm, .note, .observe: break
            }
        }
    }

    private mutating func deliver(_ frame: Frame, to id: ConnectionID) {
        self.frames[id, default: []].append(frame)
        if let envelope = try? Codec.decode(frame) { self.mail[id, default: []].append(envelope) }
    }

    @discardableResult
    mutating func arrive(
        _ id: UInt64, _ role: Hello.Role, principal: Principal = .user(1),
        subject: AccessSubject = AccessSubject(),
        token: ResumptionToken? = nil, resume: (SessionID, UInt64) = (.none, 0)
    ) -> ConnectionID {
        var hello = Hello(role: role)
        hello.resumptionToken = token
        (hello.resumeSession, hello.resumeSequence) = resume
        self.nextToken += 1
        self.handle(
            .arrived(
                ConnectionID(id), hello, principal, subject: subject,
                token: ResumptionToken(high: 0, low: self.nextToken))
        )
        return ConnectionID(id)
    }

    mutating func publish(_ client: ConnectionID, _ session: SessionID, _ publication: Publication) {
        self.sequences[session, default: 0] += 1
        let frame = Codec.encode(
            Envelope(.publication(publication), session: session, sequence: self.sequences[session] ?? 0))
        self.handle(.published(client, PublishedFrames(frame, publication.outline)))
    }

    mutating func wait(_ duration: Duration) {
        self.now = self.now + duration
        self.handle(.deadlineReached)
    }

    /// Opens a session and starts guidance.
    @discardableResult
    mutating func guide(_ client: ConnectionID, _ vehicles: [String], request: Identifier = "r") -> SessionID?
    {
        let ids = vehicles.map { VehicleID(unchecked: $0) }
        self.handle(
            .received(client, .openSession(OpenSession(requestID: request, vehicles: .vehicles(ids))), .none))
        guard let session = self.opened(client, request) else { return nil }
        self.publish(client, session, .startGuidance(Self.trip, generation: 1, Self.route))
        return session
    }

    /// Opens a session, which must succeed.
    mutating func guided(
        _ client: ConnectionID, _ vehicles: [String], request: Identifier = "r"
    ) throws -> SessionID {
        let session = self.guide(client, vehicles, request: request)
        return try #require(session)
    }

    func opened(_ client: ConnectionID, _ request: Identifier) -> SessionID? {
        for case .sessionOpened(let opened) in (self.mail[client] ?? []).map(\.message)
        where opened.requestID == request { return opened.session }
        return nil
    }

    func messages(_ id: ConnectionID) -> [Message] { (self.mail[id] ?? []).map(\.message) }

    func outcomes(_ id: ConnectionID) -> [Outcome] {
        self.messages(id).compactMap {
            if case .requestOutcome(let outcome) = $0 { outcome.outcome } else { nil }
        }
    }

    func errors(_ id: ConnectionID) -> [ErrorCode] {
        self.messages(id).compactMap { if case .error(let rejection) = $0 { rejection.code } else { nil } }
    }

    static func client(_ name: String, priority: Int32 = 0, without: Set<Feature> = []) -> Hello.Role {
        var hello = NavigationHello(
            client: ClientID(unchecked: name), features: Set(Feature.allCases).subtracting(without))
        hello.priority = priority
        return .navigation(hello)
    }

    static func endpoint(
        _ vehicle: String, _ name: String = "cluster", _ change: (inout VehicleHello) -> Void = { _ in }
    ) -> Hello.Role {
        var hello = VehicleHello(
            vehicle: VehicleID(unchecked: vehicle), endpoint: EndpointName(unchecked: name),
            features: Set(Feature.allCases))
        change(&hello)
        return .vehicle(hello)
    }

    static let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9))
    static let trip = Trip(id: "t", origin: place, destination: place)
    static let route = RouteInformation(
        maneuvers: (1...3).map { Maneuver(id: ManeuverID(rawValue: $0), type: .leftTurn) },
        upcomingManeuvers: [ManeuverID(rawValue: 1)])
    static func waypoint(_ id: Identifier) -> Message {
        .waypointRequest(WaypointRequest(requestID: id, waypoint: place))
    }
}

@Suite struct GatewayTests {
    @Test func `an endpoint that joins late holds what one holds that was there from the start`() throws {
        var world = World()
        let first = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        world.publish(client, session, .currentRoadName(["A"]))
        world.publish(client, session, .currentRoadName(["B"]))
        world.publish(client, session, .maneuverState(.prepare, generation: 1))
        let late = world.arrive(3, World.endpoint("car", "hud"))
        func last(_ id: ConnectionID) -> [MessageType: Publication] {
            var values: [MessageType: Publication] = [:]
            for case .publication(let publication) in world.messages(id) {
                values[publication.type] = publication
            }
            return values
        }
        #expect(last(first) == last(late))
        #expect(world.messages(late).count { $0.type == .currentRoadName } == 1)
    }

    @Test func `a second client is refused, replaces, or wins by priority`() throws {
        for (arbitration, priority, wins) in [
            (Gateway.Policy.Arbitration.refuse, Int32(5), false), (.replace, 0, true), (.priority, 0, false),
            (.priority, 5, true),
        ] {
            var world = World { $0.arbitration = arbitration }
            let car = world.arrive(1, World.endpoint("car"))
            let first = world.arrive(2, World.client("a"))
            let second = world.arrive(3, World.client("b", priority: priority))
            let old = try world.guided(first, ["car"])
            let new = world.guide(second, ["car"])
            #expect((new != nil) == wins)
            let ended = world.messages(first).contains(
                .sessionEnded(SessionEnded(session: old, reason: .replaced)))
            #expect(ended == wins)
            if !wins { #expect(world.errors(second) == [.vehicleBusy]) }
            #expect(
                world.messages(car).contains(.sessionEnded(SessionEnded(session: old, reason: .replaced)))
                    == wins)
        }
    }

    @Test
    func `after a vehicle cancels, no frame of the session reaches it, and no client guides it unasked`()
        throws
    {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let hud = world.arrive(2, World.endpoint("car", "hud"))
        let client = world.arrive(3, World.client("app"))
        let session = try world.guided(client, ["car"])
        world.handle(.received(car, .cancelNavigation(.ownNavigationStarted), .none))
        for endpoint in [car, hud] {
            #expect(
                world.messages(endpoint).last
                    == .sessionEnded(SessionEnded(session: session, reason: .ownNavigationStarted)))
            world.mail[endpoint] = []
        }
        world.publish(client, session, .currentRoadName(["late"]))
        #expect(world.messages(car).isEmpty && world.messages(hud).isEmpty)
        #expect(world.errors(client) == [.unknownSession])
        #expect(world.guide(client, ["car"], request: "again") == nil)
        #expect(world.errors(client).last == .vehicleNavigatesItself)
        world.handle(.received(car, .allowNavigation, .none))
        #expect(world.guide(client, ["car"], request: "third") != nil)
    }

    @Test func `a refused publication changes nothing and uses up its number`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        world.mail[car] = []
        world.publish(client, session, .upcomingManeuvers([ManeuverID(rawValue: 9)], generation: 1))
        world.publish(client, session, .currentLaneGuidance(nil, generation: 7))
        world.publish(client, session, .maneuverState(.execute, generation: 1))
        world.publish(client, session, .maneuverState(.initial, generation: 1))
        #expect(world.errors(client) == [.unknownReference, .staleGeneration, .wrongState])
        #expect(world.messages(car) == [.publication(.maneuverState(.execute, generation: 1))])
        world.sequences[session, default: 0] += 5
        world.publish(client, session, .currentRoadName(["gap"]))
        #expect(world.errors(client).last == .sequenceGap)
    }

    @Test func `a waypoint request is estimated, prompted and accepted, with one outcome`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let hud = world.arrive(2, World.endpoint("car", "hud"))
        let client = world.arrive(3, World.client("app"))
        let session = try world.guided(client, ["car"])
        world.receive(World.waypoint("w"), from: car)
        world.receive(World.waypoint("w"), from: car)
        #expect(world.messages(client).count { $0.type == .waypointRequest } == 1)
        let estimates = TravelEstimates(distanceRemaining: .meters(5))
        let answer = RequestAnswer(
            requestID: "w", vehicle: VehicleID(unchecked: "car"), answer: .estimates(estimates))
        world.handle(.received(client, .requestAnswer(answer), session))
        #expect(world.messages(car).count { $0.type == .prompt } == 1)
        world.handle(.received(hud, .promptAnswer(PromptAnswer(requestID: "w", isAccepted: true)), .none))
        world.handle(.received(car, .promptAnswer(PromptAnswer(requestID: "w", isAccepted: false)), .none))
        for peer in [car, hud, client] { #expect(world.outcomes(peer) == [.accepted]) }
        // Resent after the end: the same outcome again, no second request.
        world.receive(World.waypoint("w"), from: car)
        #expect(world.outcomes(car) == [.accepted, .accepted])
        #expect(world.messages(client).count { $0.type == .waypointRequest } == 1)
    }

    @Test(arguments: ["deadline", "client gone", "withdrawn", "cancelled", "unsupported", "not guided"])
    func `every request ends in one outcome`(_ ending: String) throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(
            2, World.client("app", without: ending == "unsupported" ? [.waypointRequests] : []))
        if ending != "not guided" { _ = try world.guided(client, ["car"]) }
        world.receive(World.waypoint("w"), from: car)
        switch ending {
        case "deadline": world.wait(.seconds(11))
        case "client gone": world.handle(.departed(client, clean: false))
        case "withdrawn":
            world.handle(.received(car, .withdrawRequest(WithdrawRequest(requestID: "w")), .none))
        case "cancelled": world.handle(.received(car, .cancelNavigation(.userStopped), .none))
        default: break
        }
        let expected: [String: Outcome] = [
            "deadline": .timedOut, "client gone": .gone, "withdrawn": .withdrawn, "cancelled": .sessionEnded,
            "unsupported": .notSupported, "not guided": .invalid,
        ]
        #expect(world.outcomes(car) == [try #require(expected[ending])])
        world.wait(.seconds(100))
        #expect(world.outcomes(car).count == 1)
    }

    @Test func `a destination request goes from client to client by priority`() {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let low = world.arrive(2, World.client("a"))
        let high = world.arrive(3, World.client("b", priority: 9))
        world.receive(
            .destinationRequest(DestinationRequest(requestID: "d", destination: World.place)), from: car)
        #expect(world.messages(high).contains { $0.type == .destinationRequest })
        #expect(!world.messages(low).contains { $0.type == .destinationRequest })
        let vehicle = VehicleID(unchecked: "car")
        world.handle(
            .received(
                high,
                .requestAnswer(RequestAnswer(requestID: "d", vehicle: vehicle, answer: .decline(.busy))),
                .none))
        #expect(world.messages(low).contains { $0.type == .destinationRequest })
        world.handle(
            .received(
                low, .requestAnswer(RequestAnswer(requestID: "d", vehicle: vehicle, answer: .accept)), .none))
        #expect(world.outcomes(car) == [.accepted])
    }

    @Test func `an endpoint that comes back gets what it missed`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        let token = try #require(world.welcomes[car]?.resumptionToken)
        world.handle(.departed(car, clean: false))
        world.publish(client, session, .currentRoadName(["missed"]))
        let back = world.arrive(3, World.endpoint("car"), token: token, resume: (session, 1))
        #expect(world.welcomes[back]?.isResumed == true)
        #expect(world.messages(back).map(\.type) == [.snapshotBegin, .currentRoadName, .snapshotEnd])
        world.arrive(4, World.endpoint("car"))
        #expect(world.goodbyes[ConnectionID(4)] == .idInUse)
    }

    @Test func `a client that comes back finds its sessions, one that does not loses them`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        let token = try #require(world.welcomes[client]?.resumptionToken)
        world.handle(.departed(client, clean: false))
        #expect(world.messages(car).last?.type == .sessionSuspended)
        let back = world.arrive(3, World.client("app"), token: token)
        #expect(
            world.welcomes[back]?.sessions == [ResumedSession(session: session, sequence: 1, phase: .active)])
        #expect(world.messages(car).last == .sessionRestored)
        world.publish(back, session, .currentRoadName(["on"]))
        #expect(world.messages(car).last == .publication(.currentRoadName(["on"])))
        world.handle(.departed(back, clean: false))
        world.wait(.seconds(31))
        #expect(
            world.messages(car).last == .sessionEnded(SessionEnded(session: session, reason: .clientGone)))
    }

    @Test func `an id belongs to the user who brought it`() {
        var world = World()
        world.arrive(1, World.endpoint("car"))
        world.arrive(2, World.endpoint("car", "hud"), principal: .user(2))
        #expect(world.goodbyes[ConnectionID(2)] == .idInUse)
        world.arrive(3, World.client("app"))
        world.arrive(4, World.client("app"))
        #expect(world.goodbyes[ConnectionID(4)] == .idInUse)
    }

    @Test func `a destination share has one end per vehicle`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        world.arrive(2, World.endpoint("bus") { $0.features.remove(.destinationSharing) })
        let client = world.arrive(3, World.client("app"))
        let session = try world.guided(client, ["car", "bus"])
        world.publish(client, session, .shareDestination(shareID: "s", World.place))
        world.handle(
            .received(
                car, .destinationShareAnswer(DestinationShareAnswer(shareID: "s", outcome: .accepted)), .none)
        )
        world.handle(
            .received(
                car, .destinationShareAnswer(DestinationShareAnswer(shareID: "s", outcome: .busy)), .none))
        world.wait(.seconds(60))
        var stages: [String: [DestinationShareStatus.Stage]] = [:]
        for case .destinationShareStatus(let status) in world.messages(client) {
            stages[status.vehicle.rawValue, default: []].append(status.stage)
        }
        #expect(
            stages == ["car": [.willShare, .didShare], "bus": [.willShare, .didFailToShare(.notSupported)]])
    }
}
