import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

@Suite(.timeLimit(.minutes(10))) struct ReconnectionTests {
    /// A client with one session, which the gateway has opened and which guides.
    private func client(
        _ gateway: FakeGateway, onWaypoint: (@Sendable (WaypointInquiry) async -> WaypointAnswer)? = nil
    ) async throws -> (NavigationClient, NavigationSession, FakeGateway.Peer) {
        var configuration = NavigationClient.Configuration(id: "app")
        configuration.reconnection = quick
        let chosen = configuration
        async let connecting = NavigationClient.connect(to: gateway.address, chosen)
        let peer = try #require(await gateway.next())
        try await peer.welcome()
        let client = try await connecting
        async let opening = client.openSession(vehicles: .vehicles(["car"]), onWaypoint: onWaypoint)
        let opened = await peer.next {
            if case .openSession(let opening) = $0.message { opening.requestID } else { nil }
        }
        try await peer.send(
            .sessionOpened(
                SessionOpened(requestID: try #require(opened), session: SessionID(7), vehicles: [])))
        let session = try await opening
        try await session.start(trip, route: route)
        let sequence = await peer.next { $0.sequence > 0 ? $0.sequence : nil }
        #expect(sequence == 1)
        return (client, session, peer)
    }

    /// The last thing that a session's readers hear.
    private func end(of session: NavigationSession, _ events: Feed<SessionEvent>) async -> EndReason? {
        for await event in events { if case .ended(let reason) = event { return reason } }
        return nil
    }

    @Test func `a session that ended while the client was away is not opened again`() async throws {
        let gateway = try await FakeGateway.start()
        let (client, session, peer) = try await self.client(gateway)
        let events = await session.events
        await peer.close()
        let back = try #require(await gateway.next())
        #expect(back.hello.resumptionToken == ResumptionToken(high: 1, low: 2))
        // The gateway knows the client, and has no such session: its SessionEnded was lost.
        try await back.welcome(isResumed: true)
        #expect(await self.end(of: session, events) == .endedWhileAway)
        await #expect(throws: ClientError.self) { try await session.setCurrentRoadName(["x"]) }
        await client.close()
        let sent = await back.next { if case .openSession = $0.message { true } else { nil } }
        #expect(sent == nil)
        await gateway.close()
    }

    @Test func `a session that the gateway refuses to open again ends with the reason`() async throws {
        let gateway = try await FakeGateway.start()
        let (client, session, peer) = try await self.client(gateway)
        let events = await session.events
        await peer.close()
        let back = try #require(await gateway.next())
        try await back.welcome()
        let id = await back.next {
            if case .openSession(let opening) = $0.message { opening.requestID } else { nil }
        }
        var rejection = Rejection(.vehicleBusy, field: "vehicles", reason: "no vehicle takes the session")
        rejection.messageType = MessageType.openSession.rawValue
        rejection.requestID = try #require(id)
        try await back.send(.error(rejection))
        #expect(
            await self.end(of: session, events)
                == .notRestored(field: "vehicles", reason: "no vehicle takes the session"))
        await client.close()
        await gateway.close()
    }

    @Test func `a session that the app has finished is not opened again`() async throws {
        let gateway = try await FakeGateway.start()
        let (client, session, peer) = try await self.client(gateway)
        let events = await session.events
        try await session.finish()
        let type = await peer.next { $0.message.type == .finishGuidance ? true : nil }
        #expect(type == true)
        await peer.close()
        let back = try #require(await gateway.next())
        try await back.welcome()
        #expect(await self.end(of: session, events) == .finished)
        await client.close()
        await gateway.close()
    }

    @Test func `a session that is finished before the client closes has finished, confirmed or not`()
        async throws
    {
        let gateway = try await FakeGateway.start()
        let (client, session, peer) = try await self.client(gateway)
        let events = await session.events
        try await session.finish()
        let type = await peer.next { $0.message.type == .finishGuidance ? true : nil }
        #expect(type == true)
        await client.close()
        #expect(await self.end(of: session, events) == .finished)
        await gateway.close()
    }

    @Test func `nothing is sent before the client knows where the gateway is`() async throws {
        let gateway = try await FakeGateway.start()
        let (client, session, peer) = try await self.client(gateway)
        await peer.close()
        for number in 1...50 { try await session.setCurrentRoadName(["road \(number)"]) }
        let back = try #require(await gateway.next())
        let found = ResumedSession(session: SessionID(7), sequence: 0, phase: .preview)
        try await back.welcome(isResumed: true, sessions: [found])
        let frames = await back.next { $0.sequence > 0 ? $0 : nil }
        #expect(frames?.sequence == 1)
        #expect(frames?.message.type == .startGuidance)
        await client.close()
        await gateway.close()
    }

    @Test func `a share whose outcome was lost with the connection fails`() async throws {
        let gateway = try await FakeGateway.start()
        let (client, session, peer) = try await self.client(gateway)
        let status = VehicleStatus(vehicle: VehicleID(unchecked: "car"), standing: .joined)
        let events = await session.events
        try await peer.send(.vehicleChanged(status), session: SessionID(7))
        for await event in events { if case .vehicleChanged = event { break } }
        let sharing = Task { try await session.share(place, shareID: "s") }
        let sequence = await peer.next { $0.message.type == .shareDestination ? $0.sequence : nil }
        await peer.close()
        let back = try #require(await gateway.next())
        let found = ResumedSession(
            session: SessionID(7), sequence: try #require(sequence), phase: .active)
        try await back.welcome(isResumed: true, sessions: [found])
        await #expect(throws: ClientError.self) { _ = try await sharing.value }
        await client.close()
        await gateway.close()
    }

    /// A client that has answered the requests `a` and `b` with estimates, when its connection is lost.
    private func clientWithInquiries(
        _ gateway: FakeGateway, whenAccepted: @escaping @Sendable () async -> Void
    ) async throws -> (NavigationClient, NavigationSession) {
        let (client, session, peer) = try await self.client(gateway) { _ in
            .estimates(TravelEstimates(distanceRemaining: .meters(5)), whenAccepted: whenAccepted)
        }
        for id in ["a", "b"] {
            let request = WaypointRequest(
                requestID: id, waypoint: place, vehicle: VehicleID(unchecked: "car"))
            try await peer.send(.waypointRequest(request), session: SessionID(7))
            let answered = await peer.next {
                if case .requestAnswer(let answer) = $0.message { answer.requestID } else { nil }
            }
            #expect(answered == id)
        }
        await peer.close()
        return (client, session)
    }

    /// How requests ended, until the session has.
    private func results(_ events: Feed<SessionEvent>) async -> [RequestResult] {
        var results: [RequestResult] = []
        for await event in events {
            if case .waypointResult(_, let result) = event { results.append(result) }
        }
        return results
    }

    @Test func `what was decided of a request while the client was away is told and done, once`() async throws
    {
        let gateway = try await FakeGateway.start()
        let (accepted, accept) = AsyncStream.makeStream(of: Void.self)
        let (client, session) = try await self.clientWithInquiries(gateway) { accept.yield() }
        let events = await session.events
        let back = try #require(await gateway.next())
        let found = ResumedSession(session: SessionID(7), sequence: 1, phase: .active)
        try await back.welcome(isResumed: true, sessions: [found])
        let car = VehicleID(unchecked: "car")
        let outcome = RequestOutcome(requestID: "a", vehicle: car, outcome: .accepted)
        for _ in 0..<2 { try await back.send(.requestOutcome(outcome), session: SessionID(7)) }
        // The gateway no longer knows how the other has ended.
        let status = VehicleStatus(vehicle: car, standing: .joined)
        try await back.send(.vehicleChanged(status), session: SessionID(7))
        try await back.send(.sessionEnded(SessionEnded(session: SessionID(7), reason: .userStopped)))
        #expect(await self.results(events) == [.accepted, .gone])
        for await _ in accepted { break }
        await client.close()
        await gateway.close()
    }

    @Test func `requests that a new gateway knows nothing of are gone`() async throws {
        let gateway = try await FakeGateway.start()
        let (client, session) = try await self.clientWithInquiries(gateway) { Issue.record("not accepted") }
        let events = await session.events
        let back = try #require(await gateway.next())
        try await back.welcome()
        let opened = await back.next {
            if case .openSession(let opening) = $0.message { opening.requestID } else { nil }
        }
        #expect(opened != nil)
        await client.close()
        #expect(await self.results(events) == [.gone, .gone])
        await gateway.close()
    }

    @Test func `back-off grows until a connection has lasted`() {
        var backoff = Backoff(
            ReconnectionPolicy(firstDelay: .milliseconds(100), delayMax: .seconds(10)))
        var delays: [Duration] = []
        // A first success, then connections that end before and right after Welcome.
        for lifetime in [Duration.seconds(60), nil, .milliseconds(3), nil, .seconds(60)] {
            backoff.connectionEnded(after: lifetime)
            delays.append(backoff.delay(hint: .zero, random: 0))
        }
        #expect(delays == [100, 200, 400, 800, 100].map { .milliseconds($0) })
        #expect(backoff.delay(hint: .seconds(3), random: 0.5) == .seconds(3))
        for _ in 0..<100 { backoff.connectionEnded(after: nil) }
        #expect(backoff.delay(hint: .zero, random: 0) == .seconds(10))
    }
}
