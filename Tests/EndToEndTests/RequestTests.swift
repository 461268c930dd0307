import Foundation
import Testing
import WaymarkClient
import WaymarkModel

/// `waymark request`: outcomes, interrupts and timeouts.
@Suite(.timeLimit(.minutes(5))) struct RequestTests {
    private static let place = Waypoint(center: Coordinate(latitude: 47.1, longitude: 9.5))
    private static let trip = Trip(id: "t", origin: place, destination: place)

    @Test func `cancel without a session has an exit status of its own`() async throws {
        let daemon = try await RunningDaemon.start()
        let cancel = try daemon.waymark("request", "cancel", "--id", "car")
        #expect(await cancel.end() == 2)
        #expect(cancel.lines == ["there was no guidance to end"])
        // The request has succeeded all the same: no client may guide the vehicle now.
        let own = try daemon.waymark("request", "cancel", "--own-navigation", "--id", "car")
        #expect(await own.end() == 0)
        #expect(own.lines == ["the vehicle navigates by itself now"])
        try await daemon.stop()
    }

    /// A client whose user never answers, with the outcome of each request.
    private static func undecided(
        _ daemon: RunningDaemon
    ) async throws -> (
        client: NavigationClient, asked: AsyncStream<Void>, results: AsyncStream<RequestResult>
    ) {
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        let (results, result) = AsyncStream.makeStream(of: RequestResult.self)
        let client = try await NavigationClient.connect(
            to: try #require(ServiceAddress(daemon.navigation)), .init(id: "app"))
        let session = try await client.openSession(
            vehicles: .vehicles(["car"]),
            onWaypoint: { _, _ in
                ask.yield()
                return .ownPrompt {
                    do { try await Task.sleep(for: .seconds(3_600)) } catch { /* The test is over. */  }
                    return false
                }
            })
        let events = await session.events
        Task { for await case .waypointResult(_, let ending) in events { result.yield(ending.result) } }
        try await session.start(Self.trip, route: RouteInformation())
        return (client, asked, results)
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `an interrupted request is withdrawn`(_ signal: Int32) async throws {
        let daemon = try await RunningDaemon.start()
        let cluster = try daemon.waymark("cluster", "--id", "car", "--json")
        let (client, asked, results) = try await Self.undecided(daemon)
        try await cluster.line(containing: "startGuidance")
        let request = try daemon.waymark("request", "waypoint", "47.1,9.5", "--id", "car")
        for await _ in asked { break }
        request.signal(signal)
        #expect(await request.end() == 128 + signal)
        #expect(request.lines == ["the stop was withdrawn before there was an outcome"])
        for await result in results {
            #expect(result == .withdrawn)
            break
        }
        cluster.signal(SIGTERM)
        await cluster.end()
        await client.close()
        try await daemon.stop()
    }

    @Test func `a request without an answer before --timeout is withdrawn`() async throws {
        let daemon = try await RunningDaemon.start()
        let cluster = try daemon.waymark("cluster", "--id", "car", "--json")
        let (client, asked, results) = try await Self.undecided(daemon)
        try await cluster.line(containing: "startGuidance")
        let request = try daemon.waymark("request", "waypoint", "47.1,9.5", "--id", "car", "--timeout", "10")
        for await _ in asked { break }
        #expect(await request.end() == 1)
        #expect(request.lines == ["the stop was withdrawn before there was an outcome"])
        for await result in results {
            #expect(result == .withdrawn)
            break
        }
        cluster.signal(SIGTERM)
        await cluster.end()
        await client.close()
        try await daemon.stop()
    }
}
