import FakeGateway
import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

/// Connections whose other end is in the test's hands.
extension FakeGateway {
    func endpoint(
        keepalive: UInt32 = 10_000, _ change: (inout VehicleEndpoint.Configuration) -> Void = { _ in }
    ) async throws -> (endpoint: VehicleEndpoint, peer: Peer) {
        var configuration = VehicleEndpoint.Configuration(vehicle: "car", endpoint: "cluster")
        configuration.reconnection = quick
        change(&configuration)
        let chosen = configuration
        async let connecting = VehicleEndpoint.connect(to: self.address, chosen)
        let peer = try #require(await self.next())
        try await peer.welcome(keepalive: keepalive)
        return (try await connecting, peer)
    }

    func client(
        _ change: (inout NavigationClient.Configuration) -> Void = { _ in }
    ) async throws -> (client: NavigationClient, peer: Peer) {
        var configuration = NavigationClient.Configuration(id: "app")
        configuration.reconnection = quick
        change(&configuration)
        let chosen = configuration
        async let connecting = NavigationClient.connect(to: self.address, chosen)
        let peer = try #require(await self.next())
        try await peer.welcome()
        return (try await connecting, peer)
    }
}

extension FakeGateway.Peer {
    /// Brings an endpoint into a session that guides.
    func guide(_ session: SessionID, client: String = "app") async throws {
        var begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: client))
        begin.toSequence = 1
        try await self.send(.snapshotBegin(begin), session: session)
        try await self.send(
            .publication(.startGuidance(trip, generation: 1, route)), session: session, sequence: 1)
        try await self.send(.snapshotEnd, session: session)
    }

    /// Everything up to the answer to a question that crosses nothing: what an endpoint says before its settings.
    func messages(upTo type: MessageType) async -> [Envelope] {
        var messages: [Envelope] = []
        for await envelope in self.messages {
            if envelope.message.type == type { break }
            messages.append(envelope)
        }
        return messages
    }

    /// Opens the session that a client asks for.
    func open(_ id: SessionID, vehicles: [VehicleStatus] = []) async throws {
        let request = await self.next {
            if case .openSession(let opening) = $0.message { opening.requestID } else { nil }
        }
        let opened = SessionOpened(requestID: try #require(request), session: id, vehicles: vehicles)
        try await self.send(.sessionOpened(opened))
    }
}

extension VehicleEndpoint {
    /// Waits until the endpoint holds this.
    func wait(for condition: (VehicleState) -> Bool) async {
        for await state in self.states where condition(state) { return }
    }
}

/// A vehicle stops one session, and only that one.
@Suite(.timeLimit(.minutes(10))) struct StoppingTests {
    private let session = SessionID(3)

    /// An endpoint that is guided and has stopped guidance, which the gateway has not read.
    private func stopping(
        _ gateway: FakeGateway
    ) async throws -> (VehicleEndpoint, FakeGateway.Peer, Task<EndReason, Never>) {
        let (endpoint, peer) = try await gateway.endpoint()
        try await peer.guide(self.session)
        await endpoint.wait { $0.phase == .active }
        let call = Task { await endpoint.cancelNavigation(.userStopped) }
        let stop = await peer.next { $0.message == .cancelNavigation(.userStopped) ? $0 : nil }
        #expect(stop?.session == self.session)
        return (endpoint, peer, call)
    }

    @Test(arguments: [
        (Publication.finishGuidance, EndReason.finished), (.cancelGuidance, .cancelledByClient),
    ])
    func `stopping a session that its client ends meanwhile returns how it ended`(
        _ publication: Publication, _ reason: EndReason
    ) async throws {
        let gateway = try await FakeGateway.start()
        let (endpoint, peer, call) = try await self.stopping(gateway)
        try await peer.send(.publication(publication), session: self.session, sequence: 2)
        #expect(await call.value == reason)
        // Nothing is left that could stop the next drive, here or at a gateway that knows nothing.
        try await peer.guide(SessionID(4))
        await endpoint.wait { $0.session == 4 }
        await peer.close()
        let back = try #require(await gateway.next())
        await endpoint.setCompass(.enabled)
        try await back.welcome()
        #expect(await back.messages(upTo: .vehicleSettings).isEmpty)
        await back.close()
        await endpoint.close()
        await gateway.close()
    }

    @Test
    func
        `stopping a session that is replaced while the connection is lost returns on the snapshot of another`()
        async throws
    {
        let gateway = try await FakeGateway.start()
        let (endpoint, peer, call) = try await self.stopping(gateway)
        await peer.close()
        let back = try #require(await gateway.next())
        try await back.welcome()
        let again = await back.next { $0.message == .cancelNavigation(.userStopped) ? $0 : nil }
        #expect(again?.session == self.session)
        try await back.guide(SessionID(4))
        #expect(await call.value == .endedWhileAway)
        await back.close()
        await endpoint.close()
        await gateway.close()
    }

    @Test func `a gateway that does not know the session says so, which is no end of another one`()
        async throws
    {
        let gateway = try await FakeGateway.start()
        let (endpoint, peer, call) = try await self.stopping(gateway)
        await peer.close()
        let back = try #require(await gateway.next())
        try await back.welcome()
        try await back.send(.sessionEnded(SessionEnded(session: self.session, reason: .clientGone)))
        #expect(await call.value == .endedWhileAway)
        try await back.guide(SessionID(4))
        await endpoint.wait { $0.session == 4 && $0.phase == .active }
        let updates = await endpoint.updates
        try await back.send(.sessionEnded(SessionEnded(session: self.session, reason: .clientGone)))
        for await update in updates where update.name == "sessionEnded" {
            #expect(update.content == .other)
            break
        }
        #expect(await endpoint.state.session == 4)
        await back.close()
        await endpoint.close()
        await gateway.close()
    }

    @Test func `without a session what was sent once is not sent again, and without a connection not at all`()
        async throws
    {
        let gateway = try await FakeGateway.start()
        let (endpoint, peer) = try await gateway.endpoint()
        let call = Task { await endpoint.cancelNavigation(.userStopped) }
        _ = await peer.next { $0.message == .cancelNavigation(.userStopped) ? true : nil }
        await peer.close()
        guard case .connectionClosed(.interrupted) = await call.value else {
            Issue.record("the outcome is not known")
            return
        }
        #expect(await endpoint.cancelNavigation(.userStopped) == .noSession)
        let back = try #require(await gateway.next())
        await endpoint.setCompass(.enabled)
        try await back.welcome(isResumed: true)
        #expect(await back.messages(upTo: .vehicleSettings).isEmpty)
        let again = Task { await endpoint.cancelNavigation(.userStopped) }
        _ = await back.next { $0.message == .cancelNavigation(.userStopped) ? true : nil }
        try await back.send(.sessionEnded(SessionEnded(session: .none, reason: .userStopped)))
        #expect(await again.value == .noSession)
        await back.close()
        await endpoint.close()
        await gateway.close()
    }

    @Test func `messages about a session have its id`() async throws {
        let gateway = try await FakeGateway.start()
        let (endpoint, peer) = try await gateway.endpoint { $0.onDestination = { _ in true } }
        try await peer.guide(self.session)
        await endpoint.wait { $0.phase == .active }
        let request = Task { await endpoint.requestWaypoint(place, requestID: "r") }
        await endpoint.setRouteSource(.vehicle)
        await endpoint.zoom(.in)
        await endpoint.sendExtension("org.example.tyres", [7])
        await endpoint.simulateDrive(.start)
        await endpoint.respondToAlert(1, action: 1)
        await endpoint.answerShare("s", isAccepted: true, endpoint.sessionID)
        var awaited: Set<MessageType> = [
            .waypointRequest, .updateRouteSource, .zoomCluster, .vehicleExtension, .simulateDrive,
            .alertResponse, .destinationShareAnswer,
        ]
        _ = await peer.next { envelope -> Bool? in
            if awaited.remove(envelope.message.type) != nil { #expect(envelope.session == self.session) }
            return awaited.isEmpty ? true : nil
        }
        // Repeated on another connection, it is still about that session.
        await peer.close()
        let back = try #require(await gateway.next())
        try await back.welcome(isResumed: true)
        let again = await back.next { $0.message.type == .waypointRequest ? $0 : nil }
        #expect(again?.session == self.session)
        let car = VehicleID(unchecked: "car")
        try await back.send(
            .requestOutcome(RequestOutcome(requestID: "r", vehicle: car, outcome: .sessionEnded)))
        #expect(await request.value == .sessionEnded)
        await back.close()
        await endpoint.close()
        await gateway.close()
    }
}

/// Every call of an endpoint that waits.
enum WaitingCall: String, CaseIterable, Sendable {
    case requestWaypoint, requestDestination, stop, stopAnything, navigateItself

    var type: MessageType {
        switch self {
        case .requestWaypoint: .waypointRequest
        case .requestDestination: .destinationRequest
        case .stop, .stopAnything, .navigateItself: .cancelNavigation
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct TaskCancellationTests {
    /// Makes a call of an endpoint, and says what it returned.
    private static func make(_ call: WaitingCall, of endpoint: VehicleEndpoint) async -> String {
        switch call {
        case .requestWaypoint: "\(await endpoint.requestWaypoint(place, requestID: "r"))"
        case .requestDestination: "\(await endpoint.requestDestination(place, requestID: "r"))"
        case .stop, .stopAnything: "\(await endpoint.cancelNavigation(.userStopped))"
        case .navigateItself: "\(await endpoint.cancelNavigation(.ownNavigationStarted))"
        }
    }

    @Test(arguments: WaitingCall.allCases)
    func `a call of an endpoint ends with its task, online`(_ call: WaitingCall) async throws {
        let gateway = try await FakeGateway.start()
        let (endpoint, peer) = try await gateway.endpoint()
        if call != .stopAnything {
            try await peer.guide(SessionID(3))
            await endpoint.wait { $0.phase == .active }
        }
        let task = Task { await Self.make(call, of: endpoint) }
        let type = call.type
        _ = await peer.next { $0.message.type == type ? true : nil }
        task.cancel()
        #expect(["withdrawn", "\(ClientError.cancelled)"].contains(await task.value))
        await peer.close()
        await endpoint.close()
        await gateway.close()
    }

    @Test(arguments: [WaitingCall.requestWaypoint, .requestDestination, .stop, .navigateItself])
    func `a call of an endpoint ends with its task, offline, and is not made later`(
        _ call: WaitingCall
    ) async throws {
        let gateway = try await FakeGateway.start()
        let (endpoint, peer) = try await gateway.endpoint()
        try await peer.guide(SessionID(3))
        await endpoint.wait { $0.phase == .active }
        await peer.close()
        for await state in await endpoint.connectionStates where state == .connecting { break }
        let task = Task { await Self.make(call, of: endpoint) }
        while await endpoint.waiting.isEmpty, await endpoint.cancellations.isEmpty { await Task.yield() }
        task.cancel()
        #expect(["withdrawn", "\(ClientError.cancelled)"].contains(await task.value))
        let back = try #require(await gateway.next())
        await endpoint.setCompass(.enabled)
        try await back.welcome(isResumed: true)
        #expect(await back.messages(upTo: .vehicleSettings).isEmpty)
        // Nor at a gateway that knows nothing of the vehicle.
        await back.close()
        let new = try #require(await gateway.next())
        try await new.welcome()
        #expect(await new.messages(upTo: .vehicleSettings).isEmpty)
        await new.close()
        await endpoint.close()
        await gateway.close()
    }

    @Test func `a request that was sent is withdrawn after a loss, and not made again`() async throws {
        let gateway = try await FakeGateway.start()
        let (endpoint, peer) = try await gateway.endpoint()
        let task = Task { await endpoint.requestDestination(place, requestID: "r") }
        _ = await peer.next { $0.message.type == .destinationRequest ? true : nil }
        await peer.close()
        for await state in await endpoint.connectionStates where state == .connecting { break }
        task.cancel()
        #expect(await task.value == .withdrawn)
        let back = try #require(await gateway.next())
        await endpoint.setCompass(.enabled)
        try await back.welcome(isResumed: true)
        var types: Set<MessageType> = []
        _ = await back.next { envelope -> Bool? in
            types.insert(envelope.message.type)
            return types.count == 2 ? true : nil
        }
        #expect(types == [.withdrawRequest, .vehicleSettings])
        await back.close()
        await endpoint.close()
        await gateway.close()
    }

    @Test func `a request stays open while another call waits for it`() async throws {
        let gateway = try await FakeGateway.start()
        let (endpoint, peer) = try await gateway.endpoint()
        let first = Task { await endpoint.requestDestination(place, requestID: "r") }
        _ = await peer.next { $0.message.type == .destinationRequest ? true : nil }
        let second = Task { await endpoint.requestDestination(place, requestID: "r") }
        while await endpoint.waiting["r"]?.count != 2 { await Task.yield() }
        first.cancel()
        #expect(await first.value == .withdrawn)
        let car = VehicleID(unchecked: "car")
        try await peer.send(.requestOutcome(RequestOutcome(requestID: "r", vehicle: car, outcome: .accepted)))
        #expect(await second.value == .accepted)
        await peer.close()
        await endpoint.close()
        await gateway.close()
    }

    @Test(arguments: [true, false])
    func `connecting ends with its task`(_ isEndpoint: Bool) async throws {
        let gateway = try await FakeGateway.start()
        let address = gateway.address
        let task = Task {
            if isEndpoint {
                _ = try await VehicleEndpoint.connect(to: address, .init(vehicle: "car", endpoint: "cluster"))
            } else {
                _ = try await NavigationClient.connect(to: address, .init(id: "app"))
            }
        }
        let peer = try #require(await gateway.next())  // It says no Welcome.
        task.cancel()
        await #expect(throws: ClientError.cancelled) { try await task.value }
        await peer.close()
        await gateway.close()
    }

    @Test func `opening a session ends with its task, and a session that was opened meanwhile ends too`()
        async throws
    {
        let gateway = try await FakeGateway.start()
        let (client, peer) = try await gateway.client()
        let task = Task { try await client.openSession(vehicles: .vehicles(["car"])) }
        let id = await peer.next {
            if case .openSession(let opening) = $0.message { opening.requestID } else { nil }
        }
        task.cancel()
        await #expect(throws: ClientError.cancelled) { try await task.value }
        try await peer.send(
            .sessionOpened(SessionOpened(requestID: try #require(id), session: SessionID(7), vehicles: [])))
        let end = await peer.next { $0.message == .publication(.cancelGuidance) ? $0 : nil }
        #expect(end?.session == SessionID(7) && end?.sequence == 1)
        await peer.close()
        await client.close()
        await gateway.close()
    }

    @Test func `a session whose opening was lost with the connection ends if its call was cancelled`()
        async throws
    {
        let gateway = try await FakeGateway.start()
        let (client, peer) = try await gateway.client()
        let task = Task { try await client.openSession(vehicles: .vehicles(["car"])) }
        _ = await peer.next { $0.message.type == .openSession ? true : nil }
        await peer.close()
        for await state in await client.connectionStates where state == .connecting { break }
        task.cancel()
        await #expect(throws: ClientError.cancelled) { try await task.value }
        // Offline: the opening is in no queue. The gateway had read it before the connection was lost.
        let back = try #require(await gateway.next())
        try await back.welcome(
            isResumed: true, sessions: [ResumedSession(session: SessionID(7), sequence: 0, phase: .preview)])
        let first = await back.next { $0 }
        #expect(first?.message == .publication(.cancelGuidance) && first?.session == SessionID(7))
        await back.close()
        await client.close()
        await gateway.close()
    }

    @Test func `a session whose call was cancelled ends also when another one cannot be opened again`()
        async throws
    {
        let gateway = try await FakeGateway.start()
        let (client, peer) = try await gateway.client()
        async let opening = client.openSession(vehicles: .vehicles(["car"]))
        try await peer.open(SessionID(7))
        let session = try await opening
        let events = await session.events
        await peer.close()
        // A gateway that knows nothing is asked for both sessions. It opens one, and the answer is lost.
        let second = try #require(await gateway.next())
        try await second.welcome()
        let again = await second.next {
            if case .openSession(let opening) = $0.message { opening.requestID } else { nil }
        }
        let task = Task { try await client.openSession(vehicles: .vehicles(["bus"])) }
        _ = await second.next { $0.message.type == .openSession ? true : nil }
        await second.close()
        for await state in await client.connectionStates where state == .connecting { break }
        task.cancel()
        await #expect(throws: ClientError.cancelled) { try await task.value }
        let third = try #require(await gateway.next())
        try await third.welcome(
            isResumed: true, sessions: [ResumedSession(session: SessionID(9), sequence: 0, phase: .preview)])
        _ = await third.next { $0.message.type == .openSession ? true : nil }
        var refusal = Rejection(.limitReached, reason: "too many sessions")
        refusal.messageType = MessageType.openSession.rawValue
        refusal.requestID = try #require(again)
        try await third.send(.error(refusal))
        for await event in events { if case .ended = event { break } }
        async let messages = third.messages(upTo: .goodbye)
        await client.close()
        #expect(
            await messages.contains {
                $0.message == .publication(.cancelGuidance) && $0.session == SessionID(9)
            })
        await third.close()
        await gateway.close()
    }

    @Test(arguments: [true, false])
    func `sharing ends with its task; offline the destination is not shared later`(_ isOnline: Bool)
        async throws
    {
        let gateway = try await FakeGateway.start()
        let (client, peer) = try await gateway.client()
        async let opening = client.openSession(vehicles: .vehicles(["car"]))
        let car = VehicleStatus(vehicle: VehicleID(unchecked: "car"), standing: .joined)
        try await peer.open(SessionID(7), vehicles: [car])
        let session = try await opening
        try await session.start(trip, route: route)
        _ = await peer.next { $0.sequence == 1 ? true : nil }
        if !isOnline {
            await peer.close()
            for await state in await client.connectionStates where state == .connecting { break }
        }
        let task = Task { try await session.share(place, shareID: "s") }
        if isOnline {
            _ = await peer.next { $0.message.type == .shareDestination ? true : nil }
        } else {
            while await client.sessions.values.first?.isSharing("s") != true { await Task.yield() }
        }
        task.cancel()
        await #expect(throws: ClientError.cancelled) { try await task.value }
        if !isOnline {
            let back = try #require(await gateway.next())
            try await session.setCurrentRoadName(["A"])
            let found = ResumedSession(session: SessionID(7), sequence: 1, phase: .active)
            try await back.welcome(isResumed: true, sessions: [found])
            #expect(await back.next { $0.sequence > 0 ? $0.message.type : nil } == .currentRoadName)
            await back.close()
        }
        await peer.close()
        await client.close()
        await gateway.close()
    }
}
