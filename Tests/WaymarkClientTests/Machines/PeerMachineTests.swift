import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

/// Endpoints and clients without a clock and without a socket.
@Suite struct PeerMachineTests {
    /// A drive with a request, a loss of each connection, and a share.
    private static func drive(seed: UInt64) throws -> PeerWorld {
        var world = try PeerWorld(seed: seed)
        let session = try world.client.openSession(answersWaypoints: true, call: 1)
        world.settle()
        try world.client.publish(.startGuidance(trip, generation: 0, route), in: session)
        world.settle()
        world.endpoint.use { endpoint, outputs in
            endpoint.update(DisplaySettings(compass: .enabled, isReadyToShow: true), into: &outputs)
            endpoint.requestWaypoint(place, call: 1, into: &outputs)
            endpoint.requestDestination(place, call: 2, into: &outputs)
        }
        world.settle()
        world.wait(.seconds(1))
        world.cutEndpoint()
        world.wait(.seconds(1))
        try world.client.publish(.currentRoadName(["A"]), in: session)
        world.cutClient()
        try world.client.publish(
            .maneuverEstimates(
                ManeuverID(rawValue: 1), TravelEstimates(distanceRemaining: .meters(5)), generation: 0),
            in: session)
        world.wait(.seconds(1))
        try world.client.use { (client, outputs) throws(ClientError) in
            try client.share(place, id: "s", in: session, call: 2, into: &outputs)
        }
        world.wait(.seconds(100))
        return world
    }

    @Test func `two machines with one seed send the same bytes`() throws {
        let (first, second) = (try Self.drive(seed: 7), try Self.drive(seed: 7))
        #expect(first.endpoint.writes == second.endpoint.writes)
        #expect(first.client.writes == second.client.writes)
        #expect(first.endpoint.attempts == second.endpoint.attempts)
        #expect(first.endpoint.notes == second.endpoint.notes && first.client.notes == second.client.notes)
        #expect(first.endpoint.writes.count > 10 && first.client.writes.count > 10)
        let other = try Self.drive(seed: 8)
        // The ids of requests, and how long to wait before reconnecting.
        #expect(first.endpoint.writes != other.endpoint.writes)
        #expect(first.client.attempts != other.client.attempts)
    }

    @Test func `requests and shares end by their deadline, once each`() throws {
        var world = try PeerWorld(seed: 3)
        world.endpoint.use { $0.requestDestination(place, call: 1, into: &$1) }
        world.settle()
        world.cutEndpoint()
        world.wait(.milliseconds(9_999))
        #expect(world.endpoint.results.isEmpty && world.endpoint.attempts.count == 2)
        world.wait(.milliseconds(1))
        #expect(world.endpoint.results == [1: [.timedOut]])

        let session = try world.client.openSession(answersWaypoints: true, call: 1)
        world.settle()
        try world.client.publish(.startGuidance(trip, generation: 0, route), in: session)
        world.settle()
        world.endpoint.use { $0.requestWaypoint(place, call: 2, into: &$1) }
        try world.client.use { (client, outputs) throws(ClientError) in
            try client.share(place, id: "s", in: session, call: 2, into: &outputs)
        }
        world.settle()
        world.wait(.milliseconds(9_999))
        #expect(world.endpoint.results.count == 1)
        world.wait(.milliseconds(1))
        #expect(world.endpoint.results == [1: [.timedOut], 2: [.timedOut]])
        var shared: [[String: RequestResult]] = []
        for case .shared(2, .success(let outcomes)) in world.client.outputs { shared.append(outcomes) }
        #expect(shared == [["car": .timedOut]])
    }

    @Test func `what was published while connections were lost arrives`() throws {
        let world = try Self.drive(seed: 3)
        let state = world.endpoint.link.peer.state
        #expect(state.currentRoadName == ["A"] && state.maneuverEstimates.count == 1)
        #expect(world.endpoint.attempts.count == 2 && world.client.attempts.count == 2)
        #expect(world.endpoint.states.last == .connected(resumed: true))
    }

    @Test
    func `what the gateway rejects because a frame before it was lost arrives after the next reconnect`()
        throws
    {
        var world = try PeerWorld(seed: 5)
        let session = try world.client.openSession(call: 1)
        world.settle()
        try world.client.publish(.startGuidance(trip, generation: 0, route), in: session)
        world.settle()
        try world.client.publish(.currentRoadName(["lost"]), in: session)
        #expect(world.client.read().count == 1)
        try world.client.publish(
            .maneuverEstimates(
                ManeuverID(rawValue: 1), TravelEstimates(distanceRemaining: .meters(5)), generation: 0),
            in: session)
        world.settle()
        #expect(world.endpoint.link.peer.state.maneuverEstimates.isEmpty)
        world.cutClient()
        world.wait(.seconds(1))
        let state = world.endpoint.link.peer.state
        #expect(state.currentRoadName == ["lost"] && state.maneuverEstimates.count == 1)
    }

    @Test func `a stop that is offered, asked and accepted is made`() throws {
        var world = try PeerWorld(seed: 1)
        let session = try world.client.openSession(answersWaypoints: true, call: 1)
        world.settle()
        try world.client.publish(.startGuidance(trip, generation: 0, route), in: session)
        world.settle()
        world.endpoint.use { $0.requestWaypoint(place, call: 1, into: &$1) }
        world.settle()
        var inquiry: InquiryID?
        for case .asked(_, let id) in world.client.outputs { inquiry = id }
        let id = try #require(inquiry)
        world.client.use {
            $0.answer(id, .estimates(TravelEstimates(distanceRemaining: .meters(9))), into: &$1)
        }
        world.settle()
        var prompts: [WaypointPrompt] = []
        for case .ask(let prompt) in world.endpoint.outputs { prompts.append(prompt) }
        #expect(prompts.map(\.waypoint) == [place])
        let prompt = Identifier(try #require(prompts.first).id)
        world.endpoint.use { $0.answerPrompt(prompt, isAccepted: true, into: &$1) }
        world.settle()
        #expect(world.endpoint.results == [1: [.accepted]])
        var ended: [RequestResult] = []
        for case .inquiryEnded(id, let result) in world.client.outputs { ended.append(result) }
        #expect(ended == [.accepted])
        // An answer after the end is not sent.
        let count = world.client.writes.count
        world.client.use { $0.answer(id, .accept, into: &$1) }
        #expect(world.client.writes.count == count)
    }

    @Test func `a request that was lost with the connection is not answered`() throws {
        var client = try DrivenPeer.client()
        client.open()
        let session = try client.openSession(answersWaypoints: true)
        client.hear(.sessionOpened(SessionOpened(requestID: session, session: SessionID(7), vehicles: [])))
        let car = VehicleID(unchecked: "car")
        client.hear(
            .waypointRequest(WaypointRequest(requestID: "r", waypoint: place, vehicle: car)),
            session: SessionID(7))
        let id = InquiryID(session: session, vehicle: car, request: "r")
        #expect(client.link.peer.isAsked(id))
        client.handle(.transportClosed(nil))
        client.waitForDeadline()
        client.handle(.transportOpened)
        client.welcome(
            isResumed: true, sessions: [ResumedSession(session: SessionID(7), sequence: 0, phase: .preview)])
        _ = client.read()
        client.use { $0.answer(id, .accept, into: &$1) }
        #expect(client.read().isEmpty && !client.link.peer.isAsked(id))
    }

    /// The connection is lost, and the next one welcomed.
    private static func reconnect<Machine>(_ peer: inout DrivenPeer<Machine>, isResumed: Bool) {
        peer.handle(.transportClosed(nil))
        peer.waitForDeadline()
        peer.handle(.transportOpened)
        peer.welcome(isResumed: isResumed)
    }

    @Test func `a request that was sent is gone at a gateway that does not resume the endpoint`() throws {
        var endpoint = try DrivenPeer.endpoint()
        endpoint.open()
        endpoint.use { endpoint, outputs in
            endpoint.requestDestination(place, id: "a", call: 1, into: &outputs)
            endpoint.requestDestination(place, id: "a", call: 2, into: &outputs)
            endpoint.requestDestination(place, id: "b", call: 3, into: &outputs)
        }
        #expect(endpoint.readMessages().map(\.type) == [.destinationRequest, .destinationRequest])
        endpoint.use { $0.withdrawRequest("b", into: &$1) }
        Self.reconnect(&endpoint, isResumed: true)
        #expect(endpoint.readMessages().map(\.type) == [.hello, .destinationRequest, .withdrawRequest])
        #expect(endpoint.results.isEmpty)
        Self.reconnect(&endpoint, isResumed: false)
        #expect(endpoint.readMessages().map(\.type) == [.hello])
        #expect(endpoint.results == [1: [.gone], 2: [.gone], 3: [.gone]])
        // An outcome that comes all the same is no second one, and it may be made again as a new one.
        let car = VehicleID(unchecked: "car")
        endpoint.hear(.requestOutcome(RequestOutcome(requestID: "a", vehicle: car, outcome: .accepted)))
        #expect(endpoint.results.values.allSatisfy { $0.count == 1 })
        endpoint.use { $0.requestDestination(place, call: 4, into: &$1) }
        #expect(endpoint.readMessages().map(\.type) == [.destinationRequest])
        #expect(endpoint.results[4] == nil)
    }

    @Test func `a request that was never sent waits for a connection, and is sent once`() throws {
        var endpoint = try DrivenPeer.endpoint()
        endpoint.open()
        endpoint.handle(.transportClosed(nil))
        endpoint.use { $0.requestDestination(place, id: "a", call: 1, into: &$1) }
        endpoint.waitForDeadline()
        endpoint.handle(.transportOpened)
        // This connection is lost before the Welcome.
        Self.reconnect(&endpoint, isResumed: false)
        #expect(endpoint.readMessages().map(\.type) == [.hello, .destinationRequest])
        #expect(endpoint.results.isEmpty)
        Self.reconnect(&endpoint, isResumed: false)
        #expect(endpoint.readMessages().map(\.type) == [.hello])
        #expect(endpoint.results == [1: [.gone]])
    }

    @Test func `the machine sets the generation of what is published`() throws {
        var client = try DrivenPeer.client()
        client.open()
        let session = try client.openSession()
        client.hear(.sessionOpened(SessionOpened(requestID: session, session: SessionID(7), vehicles: [])))
        _ = client.read()
        let added = [Maneuver(id: ManeuverID(rawValue: 9), type: .leftTurn)]
        let sent: [Publication] = [
            .startGuidance(trip, generation: 0, route), .addManeuvers(added, generation: 77),
            .pauseGuidance(.rerouting, description: []), .resumeGuidance(generation: 0, .unknown, nil),
            .pauseGuidance(.rerouting, description: []), .resumeGuidance(generation: 0, .unknown, route),
            .maneuverState(.prepare, generation: 0),
        ]
        for publication in sent { try client.publish(publication, in: session) }
        let generations = client.readMessages().compactMap { message in
            if case .publication(let publication) = message { publication.outline.generation } else { nil }
        }
        #expect(generations.filter { $0 != 0 } == [1, 1, 1, 2, 2])
    }

    @Test func `everything is accepted once it is sent and acknowledged`() throws {
        var client = try DrivenPeer.client()
        client.open()
        let session = try client.openSession()
        client.hear(.sessionOpened(SessionOpened(requestID: session, session: SessionID(7), vehicles: [])))
        client.isFast = false
        try client.publish(.startGuidance(trip, generation: 0, route), in: session)
        try client.publish(.currentRoadName(["A"]), in: session)
        client.hear(.acknowledgement(sequence: 1), session: SessionID(7))
        #expect(!client.link.peer.isAccepted(session))
        client.handle(.wrote)
        client.use { $0.waitUntilAccepted(session, call: 5, into: &$1) }
        #expect(!client.link.peer.isAccepted(session))
        client.hear(.acknowledgement(sequence: 2), session: SessionID(7))
        #expect(client.link.peer.isAccepted(session))
        var accepted = 0
        for case .returned(call: 5, .success) in client.outputs { accepted += 1 }
        #expect(accepted == 1)
    }

    @Test func `a prompt ends by its deadline, and comes again with a new one`() throws {
        var endpoint = try DrivenPeer.endpoint()
        endpoint.open(keepalive: 600_000)
        func prompt(_ milliseconds: UInt32) -> Message {
            .prompt(
                Prompt(
                    requestID: "p", waypoint: place,
                    travelEstimates: TravelEstimates(distanceRemaining: .meters(1)),
                    deadlineMilliseconds: milliseconds))
        }
        func said(_ outputs: [EndpointMachine.Output]) -> [String] {
            outputs.compactMap {
                switch $0 {
                case .ask: "ask"
                case .stopAsking: "stop"
                default: nil
                }
            }
        }
        endpoint.hear(prompt(60_000))
        endpoint.wait(.seconds(50))
        endpoint.hear(prompt(60_000))
        endpoint.wait(.seconds(59))
        #expect(said(endpoint.takeOutputs()) == ["ask"])
        endpoint.wait(.seconds(1))
        #expect(said(endpoint.takeOutputs()) == ["stop"])
        endpoint.use { $0.answerPrompt("p", isAccepted: true, into: &$1) }
        #expect(endpoint.read().isEmpty)
        endpoint.hear(prompt(60_000))
        endpoint.use { $0.answerPrompt("p", isAccepted: true, into: &$1) }
        #expect(endpoint.readMessages().map(\.type) == [.promptAnswer])
        #expect(said(endpoint.takeOutputs()) == ["ask", "stop"])
    }

    @Test func `a prompt from before a loss is answered only when it has come again`() throws {
        var endpoint = try DrivenPeer.endpoint()
        endpoint.open(keepalive: 600_000)
        let prompt = Message.prompt(
            Prompt(
                requestID: "p", waypoint: place,
                travelEstimates: TravelEstimates(distanceRemaining: .meters(1)),
                deadlineMilliseconds: 60_000))
        endpoint.hear(prompt)
        Self.reconnect(&endpoint, isResumed: true)
        _ = endpoint.read()
        endpoint.use { $0.answerPrompt("p", isAccepted: true, into: &$1) }
        #expect(endpoint.read().isEmpty)
        endpoint.hear(prompt)
        #expect(endpoint.readMessages().map(\.type) == [.promptAnswer])
        let asked = endpoint.takeOutputs().count { if case .ask = $0 { true } else { false } }
        #expect(asked == 1)
    }

    @Test func `a receipt is sent at most once in its interval, and says what was shown`() throws {
        var endpoint = try DrivenPeer.endpoint()
        endpoint.open(keepalive: 600_000)
        var begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: "app"))
        begin.receiptsEveryMilliseconds = 500
        let session = SessionID(3)
        endpoint.hear(.snapshotBegin(begin), session: session)
        endpoint.hear(.snapshotEnd, session: session)
        for number in 1...10 as ClosedRange<UInt64> {
            endpoint.hear(.publication(.currentRoadName(["A"])), session: session, sequence: number)
            let now = endpoint.now
            endpoint.use { endpoint, _ in endpoint.markShown(number / 2, at: now) }
            endpoint.wait(.milliseconds(40))
        }
        // Counted from the first.
        endpoint.wait(.milliseconds(99))
        #expect(endpoint.read().isEmpty)
        endpoint.wait(.milliseconds(1))
        // The tenth came after nine waits. With it five were shown.
        let last = (Instant(nanoseconds: 0) + .milliseconds(9 * 40)).stamp
        let receipt = Receipt(
            receivedSequence: 10, shownSequence: 5, receivedNanoseconds: last, shownNanoseconds: last)
        #expect(endpoint.readMessages() == [.receipt(receipt)])
        endpoint.wait(.seconds(10))
        #expect(endpoint.read().isEmpty)
    }

    @Test(arguments: [SnapshotBegin.Kind.missed, .full])
    func `what was shown stays so after missed frames, and not after the whole state`(
        _ kind: SnapshotBegin.Kind
    ) throws {
        var endpoint = try DrivenPeer.endpoint()
        endpoint.open(keepalive: 600_000)
        var begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: "app"))
        (begin.receiptsEveryMilliseconds, begin.toSequence) = (500, 9)
        let session = SessionID(3)
        endpoint.hear(.snapshotBegin(begin), session: session)
        endpoint.hear(.snapshotEnd, session: session)
        let start = endpoint.now
        endpoint.use { endpoint, _ in endpoint.markShown(8, at: start) }
        begin.kind = kind
        if kind == .missed { begin.fromSequence = 9 }
        endpoint.hear(.snapshotBegin(begin), session: session)
        endpoint.hear(.snapshotEnd, session: session)
        endpoint.wait(.milliseconds(500))
        let receipts = endpoint.readMessages()
        let shown: UInt64 = kind == .missed ? 8 : 0
        let receipt = Receipt(
            receivedSequence: 9, shownSequence: shown, receivedNanoseconds: start.stamp,
            shownNanoseconds: kind == .missed ? start.stamp : nil)
        #expect(receipts == [.receipt(receipt)])
    }

    @Test func `a receipt follows the end of a snapshot, and none a session that wants none`() throws {
        var endpoint = try DrivenPeer.endpoint()
        endpoint.open(keepalive: 600_000)
        var begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: "app"))
        (begin.receiptsEveryMilliseconds, begin.toSequence) = (500, 9)
        endpoint.hear(.snapshotBegin(begin), session: SessionID(3))
        endpoint.wait(.seconds(1))
        #expect(endpoint.read().isEmpty)
        let end = endpoint.now.stamp
        endpoint.hear(.snapshotEnd, session: SessionID(3))
        endpoint.wait(.milliseconds(500))
        let receipt = Receipt(receivedSequence: 9, shownSequence: 0, receivedNanoseconds: end)
        #expect(endpoint.readMessages() == [.receipt(receipt)])
        endpoint.hear(.publication(.currentRoadName(["A"])), session: SessionID(3), sequence: 10)
        begin.receiptsEveryMilliseconds = 0
        endpoint.hear(.snapshotBegin(begin), session: SessionID(4))
        endpoint.hear(.snapshotEnd, session: SessionID(4))
        endpoint.wait(.seconds(10))
        #expect(endpoint.read().isEmpty)
    }

    @Test func `a frame of a session that is not held tells nothing`() throws {
        var endpoint = try DrivenPeer.endpoint()
        endpoint.open()
        let begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: "app"))
        endpoint.hear(.snapshotBegin(begin), session: SessionID(3))
        endpoint.hear(.snapshotEnd, session: SessionID(3))
        _ = endpoint.takeOutputs()
        let missed = SnapshotBegin(kind: .missed, client: ClientID(unchecked: "other"))
        for message in [.publication(.finishGuidance), .snapshotBegin(missed), .snapshotEnd] as [Message] {
            endpoint.hear(message, session: SessionID(4), sequence: 2)
        }
        #expect(endpoint.takeOutputs().isEmpty)
        #expect(endpoint.link.peer.hello().resumeSession == SessionID(3))
    }

    @Test func `a publication that cannot be read moves the cursor`() throws {
        var endpoint = try DrivenPeer.endpoint()
        endpoint.open()
        let begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: "app"))
        endpoint.hear(.snapshotBegin(begin), session: SessionID(3))
        endpoint.hear(.snapshotEnd, session: SessionID(3))
        let road = Message.publication(.currentRoadName(["A"]))
        var bytes = Codec.encode(Envelope(road, session: SessionID(3), sequence: 7)).bytes
        bytes[FrameHeader.byteCount + 1] = 0xFF
        endpoint.handle(.received(Array(bytes)))
        #expect(endpoint.link.peer.hello().resumeSequence == 7)
        #expect(endpoint.link.peer.state.currentRoadName.isEmpty)
    }

    @Test func `a call that is abandoned before anything is written leaves nothing to write`() throws {
        var endpoint = try DrivenPeer.endpoint()
        endpoint.open()
        endpoint.use { endpoint, outputs in
            endpoint.requestDestination(place, call: 1, into: &outputs)
            endpoint.cancelNavigation(.ownNavigationStarted, call: 2, into: &outputs)
            for call in 1...3 { endpoint.abandon(call: call, into: &outputs) }
        }
        #expect(endpoint.read().isEmpty && endpoint.results == [1: [.withdrawn]])
        var client = try DrivenPeer.client()
        client.open()
        try client.use { (client, outputs) throws(ClientError) in
            _ = try client.open(.anyThatAsked, call: 1)
            client.abandon(call: 1, into: &outputs)
            client.abandon(call: 1, into: &outputs)
        }
        #expect(client.read().isEmpty && client.outputs.count == 2)
    }

    @Test func `an observer resumes by the number of the last entry it was told`() throws {
        var observe = Observe()
        observe.wantsEvents = true
        let machine = try ObserverMachine(ObserverHello(observer: ObserverName(unchecked: "o")), observe)
        var observer = DrivenPeer(machine)
        observer.handle(.open)
        observer.handle(.transportOpened)
        observer.welcome()
        #expect(observer.readMessages().last == .observe(observe))
        observer.hear(.observationBegin(ObservationBegin(.full, after: 40, at: observer.now)))
        observer.hear(.observationGap(ObservationGap(dropped: 3, nextNumber: 44)))
        for isResumed in [true, false] {
            observer.handle(.transportClosed(nil))
            observer.waitForDeadline()
            observer.handle(.transportOpened)
            observer.welcome(isResumed: isResumed)
            var expected = observe
            if isResumed { expected.afterNumber = 43 }
            #expect(observer.readMessages().last == .observe(expected))
        }
    }
}
