import FakeGateway
import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

@Suite(.timeLimit(.minutes(10))) struct ClosingTests {
    @Test func `an endpoint may be closed from its own handler, and every waiting call returns`()
        async throws
    {
        let gateway = try await FakeGateway.start()
        let (made, make) = AsyncStream.makeStream(of: VehicleEndpoint.self)
        let (closed, close) = AsyncStream.makeStream(of: Void.self)
        let (endpoint, peer) = try await gateway.endpoint {
            $0.onPrompt = { _ in
                for await endpoint in made {
                    await endpoint.close()
                    break
                }
                close.finish()
                return false
            }
        }
        make.yield(endpoint)
        async let waiting = endpoint.requestDestination(place)
        _ = await peer.next { $0.message.type == .destinationRequest ? true : nil }
        try await peer.send(.prompt(openPrompt))
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
            onWaypoint: { _, _ in
                await client.close()
                return .decline(.busy)
            })
        let events = await session.events
        Task {
            for await case .ended(let reason) in events { tell.yield(reason) }
            tell.finish()
        }
        try await session.start(trip, route: route)
        await witness.wait { $0.phase == .active }
        async let request = cluster.requestWaypoint(place)
        for await reason in reasons { #expect(reason == .connectionClosed(.closed)) }
        await witness.wait { if case .ended = $0.phase { true } else { false } }
        #expect(await request != .accepted)
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

    @Test func `a handler that never returns delays neither reading nor keepalive`() async throws {
        let gateway = try await FakeGateway.start()
        let (blocked, unblock) = AsyncStream.makeStream(of: Void.self)
        let (endpoint, peer) = try await gateway.endpoint(keepalive: 20_000) {
            $0.onPrompt = { _ in
                for await _ in blocked {}
                return false
            }
        }
        try await peer.send(.prompt(openPrompt))
        let states = await endpoint.states
        try await peer.send(
            .snapshotBegin(SnapshotBegin(kind: .full, client: ClientID(unchecked: "app"))),
            session: SessionID(3))
        try await peer.send(
            .publication(.startGuidance(trip, generation: 1, route)), session: SessionID(3), sequence: 1)
        for number in 1...2_000 {
            try await peer.send(
                .publication(.currentRoadName(["road \(number)"])), session: SessionID(3),
                sequence: UInt64(number) + 1)
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
        let (endpoint, peer) = try await gateway.endpoint()
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

    @Test func `requests whose ids only Unicode calls equal have an outcome each`() async throws {
        let gateway = try await FakeGateway.start()
        let (endpoint, peer) = try await gateway.endpoint()
        async let first = endpoint.requestDestination(place, requestID: "\u{E9}")
        _ = await peer.next { $0.message.type == .destinationRequest ? true : nil }
        async let second = endpoint.requestDestination(place, requestID: "e\u{301}")
        _ = await peer.next { $0.message.type == .destinationRequest ? true : nil }
        for (id, outcome) in [("e\u{301}", .busy), ("\u{E9}", .accepted)] as [(Identifier, Outcome)] {
            try await peer.send(
                .requestOutcome(
                    RequestOutcome(requestID: id, vehicle: VehicleID(unchecked: "car"), outcome: outcome)))
        }
        #expect(await second == .busy)
        #expect(await first == .accepted)
        await peer.close()
        await endpoint.close()
        await gateway.close()
    }

    @Test func `requests of an endpoint that may not make them return at once`() async throws {
        let gateway = try await FakeGateway.start()
        let (endpoint, peer) = try await gateway.endpoint()
        async let request = endpoint.requestDestination(place)
        _ = await peer.next { $0.message.type == .destinationRequest ? true : nil }
        async let cancellation = endpoint.cancelNavigation(.userStopped)
        _ = await peer.next { $0.message.type == .cancelNavigation ? true : nil }
        // As the gateway says it: without the request's id.
        var rejection = Rejection(.notGranted, reason: "the feature requests was not granted")
        rejection.messageType = MessageType.cancelNavigation.rawValue
        try await peer.send(.error(rejection))
        #expect(await request == .notSupported)
        #expect(await cancellation == .notAllowed)
        await peer.close()
        await endpoint.close()
        await gateway.close()
    }

    @Test func `a cancelled task withdraws its request`() async throws {
        let gateway = try await FakeGateway.start()
        let (endpoint, peer) = try await gateway.endpoint()
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

    @Test func `messages sent before and during a loss arrive on the next connection`() async throws {
        let gateway = try await FakeGateway.start()
        let (endpoint, peer) = try await gateway.endpoint()
        await peer.close()
        await endpoint.setCompass(.enabled)
        await endpoint.setRouteSource(.vehicle)
        await endpoint.allowNavigation()
        var awaited: Set<MessageType> = [.vehicleSettings, .updateRouteSource, .allowNavigation]
        // On a busy machine a connection may be given up before its Welcome is read: then on the one after it.
        for await back in gateway.peers {
            do { try await back.welcome(isResumed: true) } catch { continue }
            let isDone: Bool? = await back.next {
                awaited.remove($0.message.type)
                return awaited.isEmpty ? true : nil
            }
            await back.close()
            if isDone == true { break }
        }
        await endpoint.close()
        await gateway.close()
    }

    @Test func `the end of a prompt cancels its handler`() async throws {
        let gateway = try await FakeGateway.start()
        let (cancelled, tell) = AsyncStream.makeStream(of: Void.self)
        let (endpoint, peer) = try await gateway.endpoint {
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

/// A question to the user that the gateway keeps open for long.
private let openPrompt = Prompt(
    requestID: "p", waypoint: place, travelEstimates: TravelEstimates(distanceRemaining: .meters(1)),
    deadlineMilliseconds: 600_000)
