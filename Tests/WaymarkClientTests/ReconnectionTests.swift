import FakeGateway
import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

/// A client with one session, which its gateway has opened and which guides.
private struct Guided {
    let gateway: FakeGateway
    let client: NavigationClient
    let session: NavigationSession
    let peer: FakeGateway.Peer
    let events: Feed<SessionEvent>

    static func start(
        onWaypoint: (@Sendable (WaypointInquiry, NavigationSession) async -> WaypointAnswer)? = nil
    ) async throws -> Guided {
        let gateway = try await FakeGateway.start()
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
        return Guided(
            gateway: gateway, client: client, session: session, peer: peer, events: await session.events)
    }

    /// The connection is lost; returns the next one.
    func lose() async throws -> FakeGateway.Peer {
        await self.peer.close()
        return try #require(await self.gateway.next())
    }

    /// The last thing that the session's readers hear.
    func end() async -> EndReason? {
        for await event in self.events { if case .ended(let reason) = event { return reason } }
        return nil
    }

    /// How requests ended, until the session has.
    func results() async -> [RequestResult] {
        var results: [RequestResult] = []
        for await event in self.events {
            if case .waypointResult(_, let ending) = event { results.append(ending.result) }
        }
        return results
    }

    func close() async {
        await self.client.close()
        await self.gateway.close()
    }
}

@Suite(.timeLimit(.minutes(10))) struct ReconnectionTests {
    @Test func `a session that ended while the client was away is not opened again`() async throws {
        let guided = try await Guided.start()
        let back = try await guided.lose()
        #expect(back.hello.resumptionToken == ResumptionToken(high: 1, low: 2))
        // The gateway knows the client, and has no such session: its SessionEnded was lost.
        try await back.welcome(isResumed: true)
        #expect(await guided.end() == .endedWhileAway)
        await #expect(throws: ClientError.self) { try await guided.session.setCurrentRoadName(["x"]) }
        await guided.client.close()
        let sent = await back.next { if case .openSession = $0.message { true } else { nil } }
        #expect(sent == nil)
        await guided.gateway.close()
    }

    @Test func `a session that the gateway refuses to open again ends with the reason`() async throws {
        let guided = try await Guided.start()
        let back = try await guided.lose()
        try await back.welcome()
        let id = await back.next {
            if case .openSession(let opening) = $0.message { opening.requestID } else { nil }
        }
        var rejection = Rejection(.vehicleBusy, field: "vehicles", reason: "no vehicle takes the session")
        rejection.messageType = MessageType.openSession.rawValue
        rejection.requestID = try #require(id)
        try await back.send(.error(rejection))
        #expect(
            await guided.end()
                == .notRestored(field: "vehicles", reason: "no vehicle takes the session"))
        await guided.close()
    }

    @Test func `a session that the app has finished is not opened again`() async throws {
        let guided = try await Guided.start()
        try await guided.session.finish()
        let type = await guided.peer.next { $0.message.type == .finishGuidance ? true : nil }
        #expect(type == true)
        let back = try await guided.lose()
        try await back.welcome()
        #expect(await guided.end() == .finished)
        await guided.close()
    }

    @Test func `a session that is finished before the client closes has finished, confirmed or not`()
        async throws
    {
        let guided = try await Guided.start()
        try await guided.session.finish()
        let type = await guided.peer.next { $0.message.type == .finishGuidance ? true : nil }
        #expect(type == true)
        await guided.client.close()
        #expect(await guided.end() == .finished)
        await guided.gateway.close()
    }

    @Test func `nothing is sent before the client knows where the gateway is`() async throws {
        let guided = try await Guided.start()
        await guided.peer.close()
        for number in 1...50 { try await guided.session.setCurrentRoadName(["road \(number)"]) }
        let back = try #require(await guided.gateway.next())
        let found = ResumedSession(session: SessionID(7), sequence: 0, phase: .preview)
        try await back.welcome(isResumed: true, sessions: [found])
        let frames = await back.next { $0.sequence > 0 ? $0 : nil }
        #expect(frames?.sequence == 1)
        #expect(frames?.message.type == .startGuidance)
        await guided.close()
    }

    @Test func `a share whose outcome was lost with the connection fails`() async throws {
        let guided = try await Guided.start()
        let status = VehicleStatus(vehicle: VehicleID(unchecked: "car"), standing: .joined)
        try await guided.peer.send(.vehicleChanged(status), session: SessionID(7))
        for await event in guided.events { if case .vehicleChanged = event { break } }
        let sharing = Task { try await guided.session.share(place, shareID: "s") }
        let sequence = await guided.peer.next { $0.message.type == .shareDestination ? $0.sequence : nil }
        let back = try await guided.lose()
        let found = ResumedSession(
            session: SessionID(7), sequence: try #require(sequence), phase: .active)
        try await back.welcome(isResumed: true, sessions: [found])
        await #expect(throws: ClientError.self) { _ = try await sharing.value }
        await guided.close()
    }

    /// A client that has answered the requests `a` and `b` with estimates.
    private func guidedWithInquiries(
        whenAccepted: @escaping @Sendable () async -> Void
    ) async throws -> Guided {
        let guided = try await Guided.start { _, _ in
            .estimates(TravelEstimates(distanceRemaining: .meters(5)), whenAccepted: whenAccepted)
        }
        for id: Identifier in ["a", "b"] {
            let request = WaypointRequest(
                requestID: id, waypoint: place, vehicle: VehicleID(unchecked: "car"))
            try await guided.peer.send(.waypointRequest(request), session: SessionID(7))
            let answered = await guided.peer.next {
                if case .requestAnswer(let answer) = $0.message { answer.requestID } else { nil }
            }
            #expect(answered == id)
        }
        return guided
    }

    @Test func `an outcome decided while the client was away is told, and acted on, once`() async throws {
        let (accepted, accept) = AsyncStream.makeStream(of: Void.self)
        let guided = try await self.guidedWithInquiries { accept.yield() }
        let back = try await guided.lose()
        let found = ResumedSession(session: SessionID(7), sequence: 1, phase: .active)
        try await back.welcome(isResumed: true, sessions: [found])
        let car = VehicleID(unchecked: "car")
        let outcome = RequestOutcome(requestID: "a", vehicle: car, outcome: .accepted)
        for _ in 0..<2 { try await back.send(.requestOutcome(outcome), session: SessionID(7)) }
        // The gateway no longer knows how the other has ended.
        let status = VehicleStatus(vehicle: car, standing: .joined)
        try await back.send(.vehicleChanged(status), session: SessionID(7))
        try await back.send(.sessionEnded(SessionEnded(session: SessionID(7), reason: .userStopped)))
        #expect(await guided.results() == [.accepted, .gone])
        for await _ in accepted { break }
        await guided.close()
    }

    @Test func `requests that a new gateway knows nothing of are gone`() async throws {
        let guided = try await self.guidedWithInquiries { Issue.record("not accepted") }
        let back = try await guided.lose()
        try await back.welcome()
        let opened = await back.next {
            if case .openSession(let opening) = $0.message { opening.requestID } else { nil }
        }
        #expect(opened != nil)
        await guided.client.close()
        #expect(await guided.results() == [.gone, .gone])
        await guided.gateway.close()
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
