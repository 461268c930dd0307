import Foundation
import Synchronization
import Testing
import WaymarkClient
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

/// Peers that stall or disconnect, with the daemon in a separate process.
@Suite(.timeLimit(.minutes(5))) struct DisturbedTests {
    private static let place = Waypoint(center: Coordinate(latitude: 47.1, longitude: 9.5))
    private static let trip = Trip(id: "t", origin: place, destination: place)

    /// A segment of about six bytes per point.
    private static func segment(_ number: Int, points: Int) -> RouteSegment {
        RouteSegment(
            id: "s\(number)", origin: self.place, destination: self.place,
            coordinates: (0..<points).map { (index: Int) -> Coordinate in
                let (north, east) = (Double(index % 997), Double(index * 7 % 991))
                return Coordinate(latitude: 47 + north / 1_000, longitude: 9 + east / 1_000)
            })
    }

    /// A user who does not answer.
    private static func never() async -> Bool {
        do { try await Task.sleep(for: .seconds(3_600)) } catch { /* The test is over. */  }
        return false
    }

    @Test func `an endpoint that reads nothing is closed, and the others get everything`() async throws {
        let folder = try RunningDaemon.newFolder()
        // An endpoint that does not read does not answer pings, and must not time out on a slow machine.
        try Data(
            """
            limits: { outbox-bytes: 1MiB, retained-bytes: 512KiB, frame-bytes: 256KiB }
            times: { slow-consumer: 60s, handshake: 600s, keepalive: 600s }

            """.utf8
        ).write(to: URL(filePath: "\(folder)/waymark.yaml"))
        let daemon = try await RunningDaemon.start(["--config", "\(folder)/waymark.yaml"], in: folder)
        let (roads, road) = AsyncStream.makeStream(of: String.self)
        let (ends, end) = AsyncStream.makeStream(of: VehicleState.Phase.self)
        var configuration = VehicleEndpoint.Configuration(vehicle: "car", endpoint: "healthy")
        configuration.onEveryUpdate = { update in
            if let name = update.state.currentRoadName.first { road.yield(name) }
            if case .ended = update.state.phase { end.yield(update.state.phase) }
        }
        let healthy = try await VehicleEndpoint.connect(
            to: try #require(ServiceAddress(daemon.vehicle)), configuration)
        let stalled = try StalledEndpoint(path: "\(daemon.folder)/v", vehicle: "car")
        let client = try await NavigationClient.connect(
            to: try #require(ServiceAddress(daemon.navigation)), .init(id: "app"))
        let session = try await client.openSession(vehicles: .vehicles(["car"]))
        // Each route replaces the previous one, so the session stays small while the stalled endpoint's queue grows.
        for number in 1...120 {
            let route = RouteInformation(segments: [Self.segment(number, points: 5_000)])
            try await session.start(Self.trip, route: route)
            try await session.setCurrentRoadName(["road \(number)"])
            for await name in roads where name == "road \(number)" { break }
        }
        try await session.finish()
        for await phase in ends {
            #expect(phase == .ended(.finished))
            break
        }
        try await daemon.program.errorLine { $0.contains("reads too slowly") ? $0 : nil }
        // The connection is closed by force after the time for the Goodbye, which the endpoint does not read.
        stalled.readToEnd()
        await client.close()
        await healthy.close()
        try await daemon.stop()
    }

    @Test func `a request ends with an outcome when its client disconnects`() async throws {
        let daemon = try await RunningDaemon.start()
        let cluster = try daemon.waymark("cluster", "--id", "car", "--json")
        let client = try await NavigationClient.connect(
            to: try #require(ServiceAddress(daemon.navigation)), .init(id: "app"))
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        let session = try await client.openSession(
            vehicles: .vehicles(["car"]),
            onWaypoint: { _, _ in
                ask.yield()
                return .ownPrompt { await Self.never() }
            })
        try await session.start(Self.trip, route: RouteInformation())
        try await cluster.line(containing: "startGuidance")
        let request = try daemon.waymark("request", "waypoint", "47.1,9.5", "--id", "car")
        for await _ in asked { break }
        await client.close()
        #expect(await request.end() == 2)
        #expect(request.lines.count == 1)
        cluster.signal(SIGTERM)
        await cluster.end()
        try await daemon.stop()
    }

    @Test func `a request ends with an outcome when the requesting endpoint is killed`() async throws {
        // Long enough that no deadline ends the request, even if a busy machine starts programs slowly.
        let folder = try RunningDaemon.newFolder()
        let configuration = "\(folder)/waymarkd.yaml"
        try "times: {request: 1h, prompt: 1h, handshake: 600s, keepalive: 600s}".write(
            toFile: configuration, atomically: true, encoding: .utf8)
        let daemon = try await RunningDaemon.start(["--config", configuration], in: folder)
        let cluster = try daemon.waymark("cluster", "--id", "car", "--json")
        let client = try await NavigationClient.connect(
            to: try #require(ServiceAddress(daemon.navigation)), .init(id: "app"))
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        let session = try await client.openSession(
            vehicles: .vehicles(["car"]),
            onWaypoint: { _, _ in
                ask.yield()
                return .ownPrompt {
                    await withCheckedContinuation { (_: CheckedContinuation<Bool, Never>) in }
                }
            })
        let events = await session.events
        try await session.start(Self.trip, route: RouteInformation())
        try await cluster.line(containing: "startGuidance")
        let request = try daemon.waymark("request", "waypoint", "47.1,9.5", "--id", "car")
        for await _ in asked { break }
        request.signal(SIGKILL)
        await request.end()
        // Any endpoint can act for its vehicle: its cancel ends the session and the request.
        let cancel = try daemon.waymark("request", "cancel", "--id", "car")
        #expect(await cancel.end() == 0)
        var outcome: RequestResult?
        for await case .waypointResult(_, let first) in events {
            outcome = first.result
            break
        }
        #expect(outcome == .sessionEnded)
        cluster.signal(SIGTERM)
        await cluster.end()
        await client.close()
        try await daemon.stop()
    }
}

/// An endpoint that sends a Hello and then does not read.
private struct StalledEndpoint: ~Copyable {
    private let descriptor: Int32

    init(path: String, vehicle: String) throws {
        self.descriptor = try #require(HostileTests.Place.unix(path).connect())
        let hello = VehicleHello(
            vehicle: VehicleID(unchecked: vehicle), endpoint: EndpointName(unchecked: "stalled"),
            features: Set(Feature.allCases))
        let bytes = Array(Codec.encode(Envelope(.hello(Hello(role: .vehicle(hello))))).bytes)
        #expect(bytes.withUnsafeBytes { send(self.descriptor, $0.baseAddress, $0.count, 0) } == bytes.count)
    }

    deinit { close(self.descriptor) }

    /// Returns when the daemon has closed the connection.
    func readToEnd() {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while recv(self.descriptor, &chunk, chunk.count, 0) > 0 {}
    }
}
