import Foundation
import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

extension FakeGateway {
    static func start() async throws -> FakeGateway {
        try await FakeGateway(
            path: FileManager.default.temporaryDirectory.appending(
                path: "wm-\(UInt32.random(in: 0 ... .max))"
            ).path)
    }

    nonisolated var address: ServiceAddress { .unix(path: self.path) }

    /// The next connection.
    nonisolated func next() async -> Peer? {
        for await peer in self.peers { return peer }
        return nil
    }
}

private let quick = ReconnectionPolicy(firstDelay: .milliseconds(1), delayMax: .milliseconds(5))

@Suite(.timeLimit(.minutes(1))) struct ReconnectionTests {
    /// A client with one session, which the gateway has opened and which guides.
    private func client(_ gateway: FakeGateway) async throws -> (
        NavigationClient, NavigationSession, FakeGateway.Peer
    ) {
        var configuration = NavigationClient.Configuration(id: "app")
        configuration.reconnection = quick
        let chosen = configuration
        async let connecting = NavigationClient.connect(to: gateway.address, chosen)
        let peer = try #require(await gateway.next())
        try await peer.welcome()
        let client = try await connecting
        async let opening = client.openSession(vehicles: .vehicles(["car"]))
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

@Suite(.timeLimit(.minutes(1))) struct ClosingTests {
    private func endpoint(
        _ gateway: FakeGateway, keepalive: UInt32 = 10_000,
        _ change: (inout VehicleEndpoint.Configuration) -> Void = { _ in }
    ) async throws -> (VehicleEndpoint, FakeGateway.Peer) {
        var configuration = VehicleEndpoint.Configuration(vehicle: "car", endpoint: "cluster")
        configuration.reconnection = quick
        change(&configuration)
        let chosen = configuration
        async let connecting = VehicleEndpoint.connect(to: gateway.address, chosen)
        let peer = try #require(await gateway.next())
        try await peer.welcome(keepalive: keepalive)
        return (try await connecting, peer)
    }

    @Test func `an endpoint may be closed from its own handler, and nothing waits for ever after it`()
        async throws
    {
        let gateway = try await FakeGateway.start()
        let (made, make) = AsyncStream.makeStream(of: VehicleEndpoint.self)
        let (closed, close) = AsyncStream.makeStream(of: Void.self)
        let (endpoint, peer) = try await self.endpoint(gateway) {
            $0.onUpdate = { _ in
                for await endpoint in made {
                    await endpoint.close()
                    break
                }
                close.finish()
            }
        }
        make.yield(endpoint)
        async let waiting = endpoint.requestDestination(place)
        _ = await peer.next { $0.message.type == .destinationRequest ? true : nil }
        try await peer.send(.sessionRestored)
        _ = await peer.next { $0.message.type == .goodbye ? true : nil }
        await peer.close()
        for await _ in closed {}
        #expect(await waiting == .gone)
        #expect(await endpoint.requestWaypoint(place) == .gone)
        #expect(await endpoint.cancelNavigation(.userStopped) == .connectionClosed(.closed))
        await gateway.close()
    }

    @Test func `a client may be closed from its own handler`() async throws {
        let service = try await Service.start()
        let (cluster, witness) = try await Witness.endpoint("cluster", at: service.vehicle)
        let client = try await NavigationClient.connect(to: service.navigation, .init(id: "app"))
        let (reasons, tell) = AsyncStream.makeStream(of: EndReason.self)
        let session = try await client.openSession(
            vehicles: .vehicles(["car"]),
            onEvent: { event in
                if case .alertResponse = event { await client.close() }
                if case .ended(let reason) = event {
                    tell.yield(reason)
                    tell.finish()
                }
            })
        try await session.start(trip, route: route)
        try await session.show(NavigationAlert(id: 1, titleVariants: ["Ice"]))
        await witness.wait { $0.alert != nil }
        await cluster.respondToAlert(1)
        for await reason in reasons { #expect(reason == .connectionClosed(.closed)) }
        await witness.wait { if case .ended = $0.phase { true } else { false } }
        await cluster.close()
        await service.stop()
    }

    @Test func `a session cannot be opened after the end`() async throws {
        let gateway = try await FakeGateway.start()
        async let connecting = NavigationClient.connect(to: gateway.address, .init(id: "app"))
        let peer = try #require(await gateway.next())
        try await peer.welcome()
        let client = try await connecting
        let opening = Task { try await client.openSession(vehicles: .anyThatAsked) }
        _ = await peer.next { $0.message.type == .openSession ? true : nil }
        try await peer.send(.goodbye(Goodbye(.takenOver, reason: "elsewhere")))
        await peer.close()
        await #expect(throws: ClientError.self) { _ = try await opening.value }
        for await _ in await client.connectionStates {}
        await #expect(throws: ClientError.refused(reason: "elsewhere")) {
            _ = try await client.openSession(vehicles: .anyThatAsked)
        }
        await gateway.close()
    }

    @Test func `a handler that never comes back holds up neither reading nor the signs of life`() async throws
    {
        let gateway = try await FakeGateway.start()
        let (blocked, unblock) = AsyncStream.makeStream(of: Void.self)
        let (endpoint, peer) = try await self.endpoint(gateway, keepalive: 1_000) {
            $0.onUpdate = { _ in for await _ in blocked {} }
        }
        let states = await endpoint.states
        try await peer.send(
            .snapshotBegin(SnapshotBegin(kind: .full, client: ClientID(unchecked: "app"))),
            session: SessionID(3))
        for number in 1...2_000 {
            try await peer.send(
                .publication(.currentRoadName(["road \(number)"])), session: SessionID(3),
                sequence: UInt64(number))
        }
        try await peer.send(.ping(nonce: 77))
        #expect(await peer.next { $0.message == .pong(nonce: 77) ? true : nil } == true)
        for await state in states where state.currentRoadName == ["road 2000"] { break }
        unblock.finish()
        async let closing: Void = endpoint.close()
        _ = await peer.next { $0.message.type == .goodbye ? true : nil }
        await peer.close()
        await closing
        await gateway.close()
    }

    @Test func `a request that is made twice has one outcome for both`() async throws {
        let gateway = try await FakeGateway.start()
        let (endpoint, peer) = try await self.endpoint(gateway)
        async let first = endpoint.requestDestination(place, requestID: "same")
        _ = await peer.next { $0.message.type == .destinationRequest ? true : nil }
        async let second = endpoint.requestDestination(place, requestID: "same")
        while await endpoint.waiting["same"]?.count != 2 { await Task.yield() }
        try await peer.send(
            .requestOutcome(
                RequestOutcome(requestID: "same", vehicle: VehicleID(unchecked: "car"), outcome: .busy)))
        #expect(await first == .busy)
        #expect(await second == .busy)
        await peer.close()
        await endpoint.close()
        await gateway.close()
    }

    @Test func `a cancelled task withdraws its request`() async throws {
        let gateway = try await FakeGateway.start()
        let (endpoint, peer) = try await self.endpoint(gateway)
        let task = Task { await endpoint.requestDestination(place, requestID: "r") }
        _ = await peer.next { $0.message.type == .destinationRequest ? true : nil }
        task.cancel()
        _ = await peer.next { $0.message.type == .withdrawRequest ? true : nil }
        try await peer.send(
            .requestOutcome(
                RequestOutcome(requestID: "r", vehicle: VehicleID(unchecked: "car"), outcome: .withdrawn)))
        #expect(await task.value == .withdrawn)
        await peer.close()
        await endpoint.close()
        await gateway.close()
    }

    @Test func `what is said before and while the connection is lost arrives on the next one`() async throws {
        let gateway = try await FakeGateway.start()
        let (endpoint, peer) = try await self.endpoint(gateway)
        await peer.close()
        await endpoint.setCompass(.enabled)
        await endpoint.setRouteSource(.vehicle)
        await endpoint.allowNavigation()
        let back = try #require(await gateway.next())
        try await back.welcome(isResumed: true)
        var types: Set<MessageType> = []
        while types != [.vehicleSettings, .updateRouteSource, .allowNavigation] {
            types.insert(try #require(await back.next { $0.message.type }))
        }
        await back.close()
        await endpoint.close()
        await gateway.close()
    }

    @Test func `a prompt that is over cancels whoever asks`() async throws {
        let gateway = try await FakeGateway.start()
        let (cancelled, tell) = AsyncStream.makeStream(of: Void.self)
        let (endpoint, peer) = try await self.endpoint(gateway) {
            $0.onPrompt = { prompt in
                #expect(prompt.timeout == .seconds(60))
                let (never, hold) = AsyncStream.makeStream(of: Void.self)
                for await _ in never {}
                hold.finish()
                tell.finish()
                return true
            }
        }
        let prompt = Prompt(
            requestID: "p", waypoint: place,
            travelEstimates: TravelEstimates(distanceRemaining: .meters(1)), deadlineMilliseconds: 60_000)
        try await peer.send(.prompt(prompt))
        try await peer.send(.promptOver(PromptOver(requestID: "p", outcome: .timedOut)))
        for await _ in cancelled {}
        async let closing: Void = endpoint.close()
        let answer = await peer.next { envelope -> Bool? in
            switch envelope.message.type {
            case .promptAnswer: true
            case .goodbye: false
            default: nil
            }
        }
        #expect(answer == false)
        await peer.close()
        await closing
        await gateway.close()
    }
}
