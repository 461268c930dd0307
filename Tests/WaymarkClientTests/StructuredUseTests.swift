import ArticleExamples
import FakeGateway
import Synchronization
import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

private struct Failure: Error {}

/// Clients and endpoints that are closed when their body ends.
@Suite(.timeLimit(.minutes(10))) struct StructuredUseTests {
    enum Ending: CaseIterable { case returns, throwsError, isCancelled }

    /// Ends as told; by cancellation only once the caller has cancelled the task.
    private static func body(_ ending: Ending, _ states: Feed<ConnectionState>) async throws {
        switch ending {
        case .returns: break
        case .throwsError: throw Failure()
        case .isCancelled: for await _ in states {}
        }
    }

    /// Awaits the Goodbye that closing sends, and closes the connection as a gateway does.
    private static func expectGoodbye(_ peer: FakeGateway.Peer) async {
        let goodbye = await peer.next { if case .goodbye(let goodbye) = $0.message { goodbye } else { nil } }
        #expect(goodbye?.code == .normal)
        await peer.close()
    }

    private static func end(_ ending: Ending, _ task: Task<Void, any Error>, _ peer: FakeGateway.Peer) async {
        if ending == .isCancelled { task.cancel() }
        await Self.expectGoodbye(peer)
        switch await task.result {
        case .success: #expect(ending != .throwsError)
        case .failure(let error): #expect(error is Failure && ending == .throwsError)
        }
    }

    @Test(arguments: Ending.allCases)
    func `a navigation client is closed however its body ends`(_ ending: Ending) async throws {
        let gateway = try await FakeGateway.start()
        let (entered, enter) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await withNavigationClient(to: gateway.address, .init(id: "app")) { client in
                enter.finish()
                try await Self.body(ending, await client.connectionStates)
            }
        }
        let peer = try #require(await gateway.next())
        try await peer.welcome()
        for await _ in entered {}
        await Self.end(ending, task, peer)
        await gateway.close()
    }

    @Test(arguments: Ending.allCases)
    func `a vehicle endpoint is closed however its body ends`(_ ending: Ending) async throws {
        let gateway = try await FakeGateway.start()
        let (entered, enter) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            let configuration = VehicleEndpoint.Configuration(vehicle: "car", endpoint: "cluster")
            try await withVehicleEndpoint(to: gateway.address, configuration) { endpoint in
                enter.finish()
                try await Self.body(ending, await endpoint.connectionStates)
            }
        }
        let peer = try #require(await gateway.next())
        try await peer.welcome()
        for await _ in entered {}
        await Self.end(ending, task, peer)
        await gateway.close()
    }

    @Test func `a failure to connect is thrown, and the body does not run`() async throws {
        await #expect(throws: ClientError.self) {
            try await withNavigationClient(to: .unix(path: "/nowhere"), .init(id: "app")) { _ in
                Issue.record("the body ran")
            }
        }
    }
}

/// Waiting until a display can show guidance.
@Suite(.timeLimit(.minutes(10))) struct ReadinessTests {
    private static func status(
        _ vehicle: String, _ standing: VehicleStanding = .joined, isReady: Bool = false
    ) -> VehicleStatus {
        VehicleStatus(
            vehicle: VehicleID(unchecked: vehicle), standing: standing,
            endpoints: [EndpointStatus(endpoint: EndpointName(unchecked: "cluster"), isReady: isReady)])
    }

    /// A session with two vehicles whose displays are not ready.
    private static func session(
        _ gateway: FakeGateway
    ) async throws -> (NavigationClient, FakeGateway.Peer, NavigationSession) {
        let (client, peer) = try await gateway.client()
        async let opening = client.openSession(vehicles: .vehicles(["car", "bus"]))
        try await peer.open(SessionID(7), vehicles: [Self.status("car"), Self.status("bus")])
        return (client, peer, try await opening)
    }

    @Test func `waiting for a ready display ends with the first one, or with that of the named vehicle`()
        async throws
    {
        let gateway = try await FakeGateway.start()
        let (client, peer, session) = try await Self.session(gateway)
        async let any = session.whenReady()
        async let car = session.whenReady("car")
        try await peer.send(.vehicleChanged(Self.status("bus", isReady: true)), session: SessionID(7))
        #expect(try await any == "bus")
        try await peer.send(.vehicleChanged(Self.status("car", isReady: true)), session: SessionID(7))
        #expect(try await car == "car")
        // Ready already.
        #expect(try await session.whenReady("car") == "car")
        await peer.close()
        await client.close()
        await gateway.close()
    }

    @Test func `waiting for a vehicle that refuses, leaves, or whose session ends throws why`() async throws {
        let gateway = try await FakeGateway.start()
        let (client, peer, session) = try await Self.session(gateway)
        let refused = Task { try await session.whenReady("car") }
        try await peer.send(
            .vehicleChanged(Self.status("car", .refused(.vehicleBusy))), session: SessionID(7))
        await #expect(
            throws: ClientError.vehicleRefused(
                vehicle: "car", .busy, reason: "car: another navigation client guides it")
        ) { try await refused.value }
        let left = Task { try await session.whenReady("bus") }
        // It reads the events now: the reader before it is still counted.
        while await client.sessions.values.first?.events.count != 2 { await Task.yield() }
        try await peer.send(.vehicleChanged(Self.status("bus", .left(.userStopped))), session: SessionID(7))
        await #expect(throws: ClientError.sessionEnded(.userStopped)) { try await left.value }
        let ended = Task { try await session.whenReady() }
        try await peer.send(.sessionEnded(SessionEnded(session: SessionID(7), reason: .vehicleGone)))
        await #expect(throws: ClientError.sessionEnded(.vehicleGone)) { try await ended.value }
        // Later calls have the same reason.
        #expect(session.endReason == .vehicleGone)
        await #expect(throws: ClientError.sessionEnded(.vehicleGone)) { try await session.whenReady() }
        await #expect(throws: ClientError.sessionEnded(.vehicleGone)) {
            try await session.setCurrentRoadName(["A"])
        }
        await peer.close()
        await client.close()
        await gateway.close()
    }

    @Test(arguments: [true, false])
    func `waiting for a ready display ends with its task`(_ isOnline: Bool) async throws {
        let gateway = try await FakeGateway.start()
        let (client, peer, session) = try await Self.session(gateway)
        if !isOnline {
            await peer.close()
            for await state in await client.connectionStates where state == .connecting { break }
        }
        let task = Task { try await session.whenReady("car") }
        task.cancel()
        await #expect(throws: ClientError.cancelled) { try await task.value }
        await peer.close()
        await client.close()
        await gateway.close()
    }

    @Test func `publishing after the own end says how the session ended`() async throws {
        let gateway = try await FakeGateway.start()
        let (client, peer, session) = try await Self.session(gateway)
        try await session.finish()
        await #expect(throws: ClientError.sessionEnded(.finished)) {
            try await session.setCurrentRoadName(["A"])
        }
        await peer.close()
        await client.close()
        await gateway.close()
    }
}

/// What readers of an endpoint begin with.
@Suite(.timeLimit(.minutes(10))) struct FirstUpdateTests {
    @Test func `a reader of updates begins with the present state`() async throws {
        let gateway = try await FakeGateway.start()
        let (endpoint, peer) = try await gateway.endpoint()
        try await peer.guide(SessionID(3))
        await endpoint.wait { $0.phase == .active }
        var updates = await endpoint.updates.makeAsyncIterator()
        let first = await updates.next()
        #expect(first?.content == .current && first?.state.trip == trip)
        await peer.close()
        await endpoint.close()
        await gateway.close()
    }

    @Test func `the next element of a feed is nil when the task is cancelled`() async throws {
        let gateway = try await FakeGateway.start()
        let (endpoint, peer) = try await gateway.endpoint()
        let updates = await endpoint.updates
        let task = Task {
            var count = 0
            for await _ in updates { count += 1 }
            return count
        }
        task.cancel()
        #expect(await task.value <= 1)
        await peer.close()
        await endpoint.close()
        await gateway.close()
    }
}

/// The article "Answer a waypoint request", against a gateway.
@Suite(.timeLimit(.minutes(10))) struct StopArticleTests {
    @Test func `an accepted stop pauses guidance, updates the trip and resumes on the new route`()
        async throws
    {
        let service = try await Service.start()
        var seen: [String] = []
        let (cluster, witness) = try await Witness.endpoint("cluster", at: service.vehicle, prompts: true)
        let client = try await navigation("app", at: service.navigation)
        let session = try await ArticleExamples.openSession(client, vehicle: "car") { stop in
            var longer = trip
            longer.waypoints = [stop]
            return Detour(
                trip: longer, route: route, estimates: TravelEstimates(distanceRemaining: .meters(9)))
        }
        try await session.start(trip, route: route)
        await witness.wait { $0.phase == .active }
        #expect(await cluster.requestWaypoint(place) == .accepted)
        await witness.wait { $0.generation == 2 && $0.trip?.waypoints == [place] }
        seen = await witness.names
        let steps = ["pauseGuidance", "updateTrip", "resumeGuidance"]
        #expect(seen.filter(steps.contains) == steps)
        await client.close()
        await cluster.close()
        await service.stop()
    }
}
