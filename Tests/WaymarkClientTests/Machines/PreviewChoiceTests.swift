import FakeGateway
import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

/// The vehicle selects and starts a trip that its client shows.
@Suite(.timeLimit(.minutes(10))) struct PreviewChoiceTests {
    private static func offer(_ id: String) -> Trip {
        var shown = trip
        (shown.id, shown.routeChoices) = (id, [RouteChoice(id: 1), RouteChoice(id: 2)])
        shown.travelEstimates = TravelEstimates(distanceRemaining: .meters(900))
        return shown
    }

    private static let previews = Publication.tripPreviews(
        [Self.offer("a"), Self.offer("b")], selected: "a")

    /// A client that shows trips to choose from, and the name of its session.
    private static func world(answersStarts: Bool = true) throws -> (PeerWorld, Identifier) {
        var world = try PeerWorld(seed: 3)
        let session = try world.client.openSession(answersStarts: answersStarts, call: 1)
        world.settle()
        try world.client.publish(Self.previews, in: session)
        world.settle()
        return (world, session)
    }

    private static func selections(_ outputs: [ClientMachine.Output]) -> [SessionEvent] {
        outputs.compactMap { output in
            if case .told(let event, _) = output, case .previewSelected = event { event } else { nil }
        }
    }

    private static func starts(_ outputs: [ClientMachine.Output]) -> [(StartTripInquiry, InquiryID)] {
        outputs.compactMap { output in
            if case .askedToStart(let inquiry, let id) = output { (inquiry, id) } else { nil }
        }
    }

    @Test func `an endpoint holds the trips to choose from and the highlighted one`() throws {
        let (world, _) = try Self.world()
        let state = world.endpoint.link.peer.state
        #expect(state.phase == .preview && state.previews.map(\.id) == ["a", "b"])
        #expect(state.selectedPreview == "a")
        #expect(state.previews.allSatisfy { $0.travelEstimates?.distanceRemaining == .meters(900) })
    }

    @Test func `the client is told what is selected`() throws {
        var (world, _) = try Self.world()
        world.endpoint.use { $0.selectPreview(trip: "b", routeChoice: 2, into: &$1) }
        world.settle()
        let expected = SessionEvent.previewSelected(
            vehicle: "car", endpoint: "cluster", trip: "b", routeChoice: 2)
        #expect(Self.selections(world.client.outputs) == [expected])
    }

    @Test func `a selection is not repeated after a loss once newer trips are shown`() throws {
        var (world, session) = try Self.world()
        world.endpoint.use { $0.selectPreview(trip: "b", into: &$1) }
        world.settle()
        try world.client.publish(
            .tripPreviews([Self.offer("a"), Self.offer("b")], selected: "b"), in: session)
        world.settle()
        world.cutEndpoint()
        world.wait(.seconds(2))
        #expect(world.endpoint.states.last == .connected(resumed: true))
        #expect(Self.selections(world.client.outputs).count == 1)
    }

    @Test func `a start is accepted, and guidance follows`() throws {
        var (world, session) = try Self.world()
        world.endpoint.use { $0.startTrip("b", routeChoice: 2, call: 1, into: &$1) }
        world.settle()
        let (inquiry, id) = try #require(Self.starts(world.client.outputs).first)
        #expect(inquiry.vehicle == "car" && inquiry.trip == "b" && inquiry.routeChoice == 2)
        world.client.use { $0.answer(id, .accept, into: &$1) }
        world.settle()
        #expect(world.endpoint.results == [1: [.accepted]])
        let ended = world.client.outputs.contains { output in
            if case .inquiryEnded(id, .accepted) = output { true } else { false }
        }
        #expect(ended)
        try world.client.publish(.startGuidance(Self.offer("b"), generation: 0, route), in: session)
        world.settle()
        let state = world.endpoint.link.peer.state
        #expect(state.trip?.id == "b" && state.previews.isEmpty && state.selectedPreview.isEmpty)
    }

    @Test func `a client that does not answer starts declines them`() throws {
        var (world, _) = try Self.world(answersStarts: false)
        world.endpoint.use { $0.startTrip("b", call: 1, into: &$1) }
        world.settle()
        #expect(world.endpoint.results == [1: [.notSupported]])
        #expect(Self.starts(world.client.outputs).isEmpty)
    }

    @Test func `a start that is withdrawn or not answered in time ends once`() throws {
        var (world, _) = try Self.world()
        world.endpoint.use { endpoint, outputs in
            endpoint.startTrip("a", id: "s", call: 1, into: &outputs)
        }
        world.settle()
        world.endpoint.use { $0.withdrawRequest("s", into: &$1) }
        world.settle()
        #expect(world.endpoint.results == [1: [.withdrawn]])
        world.endpoint.use { $0.startTrip("a", call: 2, into: &$1) }
        world.wait(.seconds(100))
        #expect(world.endpoint.results == [1: [.withdrawn], 2: [.timedOut]])
        let ended = world.client.outputs.compactMap { output -> RequestResult? in
            if case .told(.startTripResult("car", let ending), _) = output { ending.result } else { nil }
        }
        #expect(ended == [.withdrawn, .timedOut])
    }

    @Test func `a start survives a lost connection of the endpoint`() throws {
        var (world, _) = try Self.world()
        world.endpoint.use { $0.startTrip("a", call: 1, into: &$1) }
        world.settle()
        world.cutEndpoint()
        world.wait(.seconds(2))
        let asked = Self.starts(world.client.outputs)
        #expect(asked.count == 1)
        if let id = asked.first?.1 { world.client.use { $0.answer(id, .accept, into: &$1) } }
        world.settle()
        #expect(world.endpoint.results == [1: [.accepted]])
    }

    @Test func `a destination that is accepted with a preview says so`() throws {
        var world = try PeerWorld(seed: 3)
        world.endpoint.use { $0.requestDestination(place, id: "d", call: 1, into: &$1) }
        world.settle()
        for case .askedForDestination(_, let id) in world.client.outputs {
            world.client.use { client, _ in client.answerDestination(id, .acceptWithPreview) }
        }
        world.settle()
        #expect(world.endpoint.results == [1: [.accepted]])
        let told = world.endpoint.outputs.compactMap { output -> Bool? in
            guard case .told(let update) = output,
                case .requestEnded("d", let ending) = update.content, ending.isAccepted
            else { return nil }
            return ending.previewFollows
        }
        #expect(told == [true])
    }

    @Test func `the app starts guidance once its answer is accepted`() async throws {
        let gateway = try await FakeGateway.start(closesAfterGoodbye: true)
        let (car, number) = (VehicleID(unchecked: "car"), SessionID(7))
        let address = gateway.address
        async let connecting = NavigationClient.connect(
            to: address, NavigationClient.Configuration(id: "app"))
        let peer = try #require(await gateway.next())
        try await peer.welcome()
        let client = try await connecting
        async let opening = client.openSession(
            vehicles: .vehicles(["car"]),
            onStartTrip: { inquiry, session in
                let chosen = inquiry.trip
                return .accept { try await session.start(Self.offer(chosen), route: route) }
            })
        let request = await peer.next {
            if case .openSession(let opening) = $0.message { opening.requestID } else { nil }
        }
        try await peer.send(
            .sessionOpened(
                SessionOpened(requestID: try #require(request), session: number, vehicles: [])))
        let session = try await opening
        try await session.showPreviews([Self.offer("a"), Self.offer("b")], selected: "a")
        _ = await peer.next { $0.message.type == .tripPreviews ? true : nil }
        let start = StartTripRequest(requestID: "s", trip: "b", routeChoice: 2, vehicle: car)
        try await peer.send(.startTripRequest(start), session: number)
        let answer = await peer.next {
            if case .requestAnswer(let answer) = $0.message { answer } else { nil }
        }
        #expect(answer == RequestAnswer(requestID: "s", vehicle: car, answer: .accept))
        let outcome = RequestOutcome(requestID: "s", vehicle: car, outcome: .accepted)
        try await peer.send(.requestOutcome(outcome), session: number)
        let started = await peer.next { envelope -> String? in
            guard case .publication(.startGuidance(let trip, _, _)) = envelope.message else { return nil }
            return trip.id
        }
        #expect(started == "b")
        await client.close()
    }
}
