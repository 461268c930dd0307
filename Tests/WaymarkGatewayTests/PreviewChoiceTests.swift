import StateCoding
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// What a vehicle chooses of the trips that its client shows before guidance.
@Suite struct PreviewChoiceTests {
    private static let vehicle = VehicleID(unchecked: "car")
    private static let path = EndpointPath(
        vehicle: vehicle, endpoint: EndpointName(unchecked: "cluster"))

    private static func trip(_ id: String, choices: [UInt32] = []) -> Trip {
        Trip(
            id: id, origin: World.place, destination: World.place,
            routeChoices: choices.map { RouteChoice(id: $0) },
            travelEstimates: TravelEstimates(distanceRemaining: .meters(1_234)))
    }

    private static let previews = Publication.tripPreviews(
        [Self.trip("a"), Self.trip("b", choices: [1, 2])], selected: "a")

    private static func select(_ trip: Identifier, _ choice: UInt32? = nil) -> Message {
        .selectPreview(SelectPreview(trip: trip, routeChoice: choice))
    }

    private static func start(_ id: Identifier, _ trip: Identifier = "a", _ choice: UInt32? = nil) -> Message
    {
        .startTripRequest(StartTripRequest(requestID: id, trip: trip, routeChoice: choice))
    }

    private static func answer(_ id: Identifier, _ answer: RequestAnswer.Answer = .accept) -> Message {
        .requestAnswer(RequestAnswer(requestID: id, vehicle: Self.vehicle, answer: answer))
    }

    /// A vehicle with one endpoint, and a client that shows it trips to choose from.
    private struct Stage {
        var world: World
        let car: ConnectionID
        let client: ConnectionID
        let session: SessionID

        init(
            vehicles: [VehicleID] = [PreviewChoiceTests.vehicle], without: Set<Feature> = [],
            _ change: (inout VehicleHello) -> Void = { _ in }
        ) throws {
            var world = World()
            self.car = world.arrive(1, World.endpoint("car", "cluster", change))
            self.client = world.arrive(2, World.client("app", without: without))
            let opening = OpenSession(requestID: "r", vehicles: .vehicles(vehicles))
            world.receive(.openSession(opening), from: self.client)
            self.session = try #require(world.opened(self.client, "r"))
            world.publish(self.client, self.session, PreviewChoiceTests.previews)
            self.world = world
        }

        func selections(_ peer: ConnectionID) -> [SelectPreview] {
            self.world.messages(peer).compactMap {
                if case .selectPreview(let selection) = $0 { selection } else { nil }
            }
        }

        func starts(_ peer: ConnectionID) -> [StartTripRequest] {
            self.world.messages(peer).compactMap {
                if case .startTripRequest(let request) = $0 { request } else { nil }
            }
        }

        mutating func guide() {
            self.world.publish(
                self.client, self.session, .startGuidance(World.trip, generation: 1, World.route))
        }
    }

    @Test func `a selection reaches the client with the vehicle and the endpoint`() throws {
        var stage = try Stage()
        stage.world.receive(Self.select("b", 2), from: stage.car)
        stage.world.receive(Self.select("a"), from: stage.car, stage.session)
        #expect(
            stage.selections(stage.client) == [
                SelectPreview(trip: "b", routeChoice: 2, source: Self.path),
                SelectPreview(trip: "a", source: Self.path),
            ])
        #expect(stage.world.errors(stage.car).isEmpty)
    }

    @Test(
        arguments: [
            (Identifier("c"), nil, "trip_id"), ("b", 3, "route_choice_id"), ("a", 1, "route_choice_id"),
        ] as [(Identifier, UInt32?, String)])
    func `a selection that the newest previews do not have is rejected`(
        _ trip: Identifier, _ choice: UInt32?, _ field: String
    ) throws {
        var stage = try Stage()
        stage.world.receive(Self.select(trip, choice), from: stage.car)
        guard case .error(let rejection)? = stage.world.messages(stage.car).last else {
            Issue.record("it is not rejected")
            return
        }
        #expect(rejection.code == .unknownReference && rejection.field == field)
        #expect(stage.selections(stage.client).isEmpty)
    }

    @Test func `a selection is ignored while guided, without a session, and by a client that is not told`()
        throws
    {
        var guided = try Stage { $0.reportsIgnored = true }
        guided.guide()
        guided.world.receive(Self.select("a"), from: guided.car)
        #expect(guided.world.errors(guided.car) == [.ignored])
        #expect(guided.selections(guided.client).isEmpty)

        var untold = try Stage(without: [.tripRequests]) { $0.reportsIgnored = true }
        untold.world.receive(Self.select("a"), from: untold.car)
        #expect(untold.world.errors(untold.car) == [.ignored])
        #expect(untold.selections(untold.client).isEmpty)

        var world = World()
        let car = world.arrive(1, World.endpoint("car") { $0.reportsIgnored = true })
        world.receive(Self.select("a"), from: car)
        #expect(world.errors(car) == [.ignored])
    }

    @Test(arguments: [Feature.requests, .tripPreviews])
    func `an endpoint selects only with both features`(_ feature: Feature) throws {
        var stage = try Stage { $0.features.remove(feature) }
        stage.world.receive(Self.select("a"), from: stage.car)
        #expect(stage.world.errors(stage.car) == [.notGranted])
        #expect(stage.selections(stage.client).isEmpty)
    }

    @Test func `a client that resumes gets the newest selection, until it shows trips again`() throws {
        var stage = try Stage()
        stage.world.receive(Self.select("a"), from: stage.car)
        stage.world.receive(Self.select("b"), from: stage.car)
        var token = try #require(stage.world.welcomes[stage.client]?.resumptionToken)
        stage.world.handle(.departed(stage.client, clean: false))
        // Selected while the client is away.
        stage.world.receive(Self.select("b", 2), from: stage.car)
        let back = stage.world.arrive(3, World.client("app"), token: token)
        #expect(
            stage.selections(back) == [SelectPreview(trip: "b", routeChoice: 2, source: Self.path)])
        stage.world.publish(back, stage.session, Self.previews)
        token = try #require(stage.world.welcomes[back]?.resumptionToken)
        stage.world.handle(.departed(back, clean: false))
        let again = stage.world.arrive(4, World.client("app"), token: token)
        #expect(stage.selections(again).isEmpty)
    }

    @Test func `a vehicle that leaves takes its selection along`() throws {
        var stage = try Stage(vehicles: [Self.vehicle, VehicleID(unchecked: "bus")])
        stage.world.receive(Self.select("b"), from: stage.car)
        #expect(stage.world.gateway.sessions[stage.session]?.content.selection(of: Self.vehicle) != nil)
        stage.world.receive(.cancelNavigation(.userStopped), from: stage.car)
        let content = try #require(stage.world.gateway.sessions[stage.session]?.content)
        #expect(content.selection(of: Self.vehicle) == nil)
    }

    @Test(arguments: [nil, 2] as [UInt32?])
    func `a trip is started by its client's answer, with one outcome for all`(_ choice: UInt32?) throws {
        var stage = try Stage()
        let hud = stage.world.arrive(3, World.endpoint("car", "hud"))
        stage.world.receive(Self.start("s", "b", choice), from: stage.car, stage.session)
        stage.world.receive(Self.start("s", "b", choice), from: stage.car, stage.session)
        let asked = StartTripRequest(
            requestID: "s", trip: "b", routeChoice: choice, vehicle: Self.vehicle)
        #expect(stage.starts(stage.client) == [asked])
        stage.world.receive(Self.answer("s"), from: stage.client)
        for peer in [stage.car, hud, stage.client] { #expect(stage.world.outcomes(peer) == [.accepted]) }
        stage.world.receive(Self.start("s", "b", choice), from: stage.car, stage.session)
        #expect(stage.world.outcomes(stage.car) == [.accepted, .accepted])
        #expect(stage.starts(stage.client).count == 1)
    }

    @Test(arguments: [
        ("deadline", Outcome.timedOut), ("client gone", .gone), ("client away", .gone),
        ("withdrawn", .withdrawn),
        ("cancelled", .sessionEnded), ("session ends", .sessionEnded), ("other session", .sessionEnded),
        ("unsupported", .notSupported), ("declined", .busy), ("guided", .invalid), ("hidden", .invalid),
        ("unknown trip", .invalid), ("unknown choice", .invalid),
    ])
    func `every request to start a trip ends in one outcome`(_ ending: String, _ expected: Outcome) throws {
        var stage = try Stage(without: ending == "unsupported" ? [.tripRequests] : [])
        switch ending {
        case "client away": stage.world.handle(.departed(stage.client, clean: false))
        case "guided": stage.guide()
        case "hidden":
            stage.world.publish(stage.client, stage.session, .tripPreviews([], selected: ""))
        default: break
        }
        let request =
            switch ending {
            case "unknown trip": Self.start("s", "c")
            case "unknown choice": Self.start("s", "b", 3)
            default: Self.start("s")
            }
        stage.world.receive(
            request, from: stage.car, ending == "other session" ? SessionID(99) : stage.session)
        switch ending {
        case "deadline": stage.world.wait(.seconds(11))
        case "client gone": stage.world.handle(.departed(stage.client, clean: false))
        case "withdrawn":
            stage.world.receive(.withdrawRequest(WithdrawRequest(requestID: "s")), from: stage.car)
        case "cancelled": stage.world.receive(.cancelNavigation(.userStopped), from: stage.car)
        case "session ends": stage.world.publish(stage.client, stage.session, .cancelGuidance)
        case "declined": stage.world.receive(Self.answer("s", .decline(.busy)), from: stage.client)
        default: break
        }
        #expect(stage.world.outcomes(stage.car) == [expected])
        stage.world.wait(.seconds(100))
        #expect(stage.world.outcomes(stage.car).count == 1)
    }

    @Test func `of two endpoints that start a trip, the first wins`() throws {
        var stage = try Stage()
        let hud = stage.world.arrive(3, World.endpoint("car", "hud"))
        stage.world.receive(Self.start("first", "a"), from: hud)
        stage.world.receive(Self.start("second", "b"), from: stage.car)
        #expect(stage.starts(stage.client).map(\.requestID) == ["first"])
        #expect(stage.world.outcomes(stage.car) == [.busy])
        stage.world.receive(Self.answer("first", .decline(.declinedByUser)), from: stage.client)
        // The other may try again.
        stage.world.receive(Self.start("third", "b"), from: stage.car)
        #expect(stage.starts(stage.client).map(\.requestID) == ["first", "third"])
        stage.world.receive(Self.answer("third"), from: stage.client)
        #expect(stage.world.outcomes(hud) == [.busy, .declinedByUser, .accepted])
    }

    @Test(
        arguments: [
            .acceptWithPreview, .ownPrompt, .estimates(TravelEstimates(distanceRemaining: .meters(5))),
        ] as [RequestAnswer.Answer])
    func `an answer that does not fit a request to start a trip is rejected`(
        _ answer: RequestAnswer.Answer
    ) throws {
        var stage = try Stage()
        stage.world.receive(Self.start("s"), from: stage.car)
        stage.world.receive(Self.answer("s", answer), from: stage.client)
        #expect(stage.world.errors(stage.client) == [.wrongState])
        stage.world.receive(Self.answer("s"), from: stage.client)
        #expect(stage.world.outcomes(stage.car) == [.accepted])
    }

    @Test func `a destination that is accepted with a preview says so to both sides`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        world.receive(
            .destinationRequest(DestinationRequest(requestID: "d", destination: World.place)), from: car)
        world.receive(Self.answer("d", .acceptWithPreview), from: client)
        let outcome = RequestOutcome(
            requestID: "d", vehicle: Self.vehicle, outcome: .accepted, client: ClientID(unchecked: "app"),
            previewFollows: true, cause: .clientAnswered)
        #expect(world.messages(car).last == .requestOutcome(outcome))
        #expect(world.messages(client).last == .requestOutcome(outcome))
        // Resent after the end: the same outcome.
        world.receive(
            .destinationRequest(DestinationRequest(requestID: "d", destination: World.place)), from: car)
        #expect(world.messages(car).last == .requestOutcome(outcome))
    }

    @Test func `the estimates of previews are fitted to the endpoint's units`() throws {
        let stage = try Stage { $0.preferences.distanceUnits = .imperialFeet }
        let trips = stage.world.messages(stage.car).flatMap { message -> [Trip] in
            guard case .publication(.tripPreviews(let trips, _)) = message else { return [] }
            return trips
        }
        #expect(trips.map(\.id) == ["a", "b"])
        for trip in trips {
            let estimates = try #require(trip.travelEstimates)
            #expect(estimates.distanceRemaining == .meters(1_234))
            #expect(estimates.distanceRemainingToDisplay != nil)
        }
    }

    @Test func `a gateway that takes over keeps previews, selections and starts`() throws {
        var stage = try Stage()
        stage.world.receive(Self.select("b", 1), from: stage.car)
        stage.world.receive(Self.start("s", "b", 2), from: stage.car)
        let old = stage.world.gateway
        let bytes = try StateCoder.encode(GatewayState(old), format: GatewayState.format)
        let state = try StateCoder.decode(GatewayState.self, from: bytes, format: GatewayState.format)
        stage.world.gateway = try #require(state.gateway(policy: old.policy, coder: Codec.coder))
        #expect(stage.world.gateway == old)
        stage.world.receive(Self.select("b", 3), from: stage.car)
        #expect(stage.world.errors(stage.car) == [.unknownReference])
        stage.world.receive(Self.answer("s"), from: stage.client)
        #expect(stage.world.outcomes(stage.car) == [.accepted])
    }
}
