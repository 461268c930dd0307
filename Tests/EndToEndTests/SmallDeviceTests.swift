import Foundation
import Testing
import WaymarkClient
import WaymarkModel

/// Endpoints with little memory, against a real daemon.
@Suite(.timeLimit(.minutes(5))) struct SmallDeviceTests {
    private static let place = Waypoint(center: Coordinate(latitude: 47.1, longitude: 9.5))
    private static let trip = Trip(
        id: "long", origin: place, destination: place, routeSegmentsAvailable: true)

    /// About 800 KB long.
    private static let route = {
        let text = String(repeating: "turn left onto the long road ", count: 10)
        var route = RouteInformation()
        route.maneuvers = (1...2_400).map {
            Maneuver(
                id: ManeuverID(rawValue: $0), type: .leftTurn,
                instructionVariants: ["\($0): \(text)", "turn \($0)"])
        }
        route.segments = (0..<10).map { index in
            var segment = RouteSegment(id: "leg \(index)", origin: place, destination: place)
            segment.coordinates = (0..<3_000).map {
                Coordinate(latitude: 47 + Double($0 % 7) / 1_000, longitude: 9 + Double($0) / 1_000)
            }
            return segment
        }
        route.upcomingManeuvers = [ManeuverID(rawValue: 1)]
        return route
    }()

    /// Guides `car` over the route, once `start` has returned.
    private static func drive(_ daemon: RunningDaemon, _ move: (NavigationSession) async throws -> Void)
        async throws
    {
        let client = try await NavigationClient.connect(
            to: try #require(ServiceAddress(daemon.navigation)), .init(id: "app"))
        let session = try await client.openSession(vehicles: .vehicles(["car"]))
        try await session.start(self.trip, route: self.route)
        for number in stride(from: UInt32(2), through: 2_400, by: 100) {
            try await session.setUpcomingManeuvers([ManeuverID(rawValue: number)])
        }
        try await session.setUpcomingManeuvers([ManeuverID(rawValue: 2_400)])
        try await move(session)
        try await session.finish()
        await client.close()
    }

    @Test func `an endpoint that takes frames of at most 4 KiB is guided over a route of 800 KB`()
        async throws
    {
        let daemon = try await RunningDaemon.start()
        let cluster = try daemon.waymark(
            "cluster", "--id", "car", "--receive-frame-bytes-max", "4096", "--json", "--states", "none",
            "--until",
            "finished")
        try await cluster.line(containing: "\"connected\"")
        try await Self.drive(daemon) { _ in }
        // The cluster fails at a frame that is longer.
        #expect(await cluster.end() == 0)
        let messages = cluster.lines.map(ProgramTests.object)
        func elements(_ message: String, _ key: String) -> [[String: Any]] {
            messages.filter { $0["message"] as? String == message }
                .flatMap { $0[key] as? [[String: Any]] ?? [] }
        }
        #expect(elements("addManeuvers", "maneuvers").compactMap { $0["id"] as? Int } == Array(1...2_400))
        #expect(elements("addRouteSegments", "segments").count == 10)
        let parts = messages.filter { $0["sequence"] as? Int == 1 && $0["fitted"] as? Bool == true }
        #expect(parts.count > 180)
        #expect(parts.dropLast().allSatisfy { $0["more"] as? Bool == true })
        #expect(parts.last?["more"] as? Bool == false)
        try await daemon.stop()
    }

    @Test(arguments: DocumentExampleTests.available)
    func `the examples follow a route of 800 KB in frames of 4 KiB, also when they join late`(
        _ language: Example
    ) async throws {
        let daemon = try await RunningDaemon.start()
        let command = try await language.command("cluster", daemon.folder) + [daemon.vehicle, "car"]
        let cluster = try Program(command: command + ["cluster", "4096"])
        try await cluster.until("connected")
        try await Self.drive(daemon) { _ in
            let shown = try await cluster.until("2400: turn left")
            #expect(shown.contains("2400 maneuvers"))
            #expect(shown.contains("10 segments with"))
            let late = try Program(command: command + ["late", "4096"])
            #expect(try await late.until("shows") == shown)
            try late.tell("quit")
            #expect(await late.end() == 0)
        }
        try await cluster.until("finished")
        // Nothing is shown before the whole route has arrived.
        #expect(
            cluster.lines.filter { $0.hasPrefix("shows long") }.allSatisfy { $0.contains("2400 maneuvers") })
        try cluster.tell("quit")
        #expect(await cluster.end() == 0)
        try await daemon.stop()
    }
}
