import Foundation
import Testing

/// Tests with a Valhalla server with a map of Liechtenstein at `WAYMARK_VALHALLA`, e.g. `http://127.0.0.1:8002`.
@Suite(.timeLimit(.minutes(5))) struct LiveEngineTests {
    private static let engine = ProcessInfo.processInfo.environment["WAYMARK_VALHALLA"]

    @Test(.enabled(if: engine != nil, "WAYMARK_VALHALLA is not set: no live engine over Liechtenstein"))
    func `a waypoint request leads to a computed route through the waypoint`() async throws {
        let daemon = try await RunningDaemon.start()
        let cluster = try daemon.waymark(
            "cluster", "--id", "car", "--json", "--states", "full", "--until", "finished")
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "car", "--speed", "60", "--engine",
            "valhalla=\(try #require(Self.engine))",
            "--from", "47.141,9.5215", "--to", "47.068,9.501")
        try await cluster.line(containing: "updateTripEstimates")
        let (latitude, longitude) = (47.0756, 9.5076)
        let request = try daemon.waymark(
            "request", "waypoint", "\(latitude),\(longitude)", "--name", "Charging", "--id", "car")
        #expect(await request.end() == 0)
        #expect(request.lines == ["the stop was accepted"])
        #expect(await cluster.end() == 0)
        #expect(await navigate.end() == 0)
        let last = try #require(
            cluster.lines.map(ProgramTests.object).last {
                $0["kind"] as? String == "state" && $0["phase"] as? String == "active"
            })
        let trip = try #require(last["trip"] as? [String: Any])
        let stops = try #require(trip["waypoints"] as? [[String: Any]])
        #expect(stops.map { $0["nameVariants"] as? [String] } == [["Charging"]])
        let segments = try #require(last["segments"] as? [[String: Any]])
        #expect(segments.count == 2)
        let line = segments.flatMap { $0["coordinates"] as? [[Double]] ?? [] }
        // Within 100 m of the stop: a thousandth of a degree of latitude is 111 m.
        #expect(line.contains { abs($0[0] - latitude) < 0.0009 && abs($0[1] - longitude) < 0.0013 })
        try await daemon.stop()
    }

    @Test(.enabled(if: engine != nil, "WAYMARK_VALHALLA is not set: no live engine over Liechtenstein"))
    func `a destination request leads to guidance there`() async throws {
        let daemon = try await RunningDaemon.start()
        let cluster = try daemon.waymark("cluster", "--id", "car", "--json", "--until", "finished")
        let navigate = try daemon.waymark(
            "navigate", "--speed", "500", "--engine", "valhalla=\(try #require(Self.engine))", "--from",
            "47.141,9.5215", "--on-destination", "accept")
        try await cluster.line(containing: "\"connected\"")
        try await navigate.errorLine { $0.contains("connected") ? $0 : nil }
        let request = try daemon.waymark("request", "destination", "47.068,9.501", "--id", "car")
        #expect(await request.end() == 0)
        #expect(await cluster.end() == 0)
        navigate.signal(SIGTERM)
        #expect(await navigate.end() == 143)
        #expect(navigate.lines.contains("drive 1: arrived"))
        try await daemon.stop()
    }
}
