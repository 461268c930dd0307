import Foundation
import Testing

/// `waymark navigate` on the command line.
@Suite(.timeLimit(.minutes(5))) struct NavigateTests {
    @Test func `the wait for a vehicle that never connects ends with its own exit status`() async throws {
        let daemon = try await RunningDaemon.start()
        let route = ProgramTests.route("vaduz-balzers")
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "ghost", "--await-timeout", "0.2", "--route", route)
        try await navigate.errorLine {
            $0.contains("waiting for ghost to be ready, for 0.2 seconds at most") ? $0 : nil
        }
        #expect(await navigate.end() == 4)
        #expect(navigate.lines.last == "drive 1: not begun: ghost was not ready in time")
        // A drive without a vehicle does not count as arrived.
        let hasty = try daemon.waymark(
            "navigate", "--vehicle", "ghost", "--await-vehicle", "no", "--speed", "3000", "--route", route)
        #expect(await hasty.end() == 4)
        try await daemon.stop()
    }

    @Test func `an interrupt ends the wait for a vehicle, also without a connection`() async throws {
        let daemon = try await RunningDaemon.start()
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "ghost", "--route", ProgramTests.route("vaduz-balzers"))
        try await navigate.line(containing: "ghost: awaited")
        daemon.program.signal(SIGKILL)
        await daemon.program.end()
        navigate.signal(SIGINT)
        #expect(await navigate.end() == 130)
        #expect(navigate.lines.last == "drive 1: cancelled")
        try FileManager.default.removeItem(atPath: daemon.folder)
    }

    @Test func `previews, alerts and the destination reach the cluster, and --start-at sets the start`()
        async throws
    {
        let daemon = try await RunningDaemon.start()
        let cluster = try daemon.waymark("cluster", "--id", "car", "--json", "--until", "finished")
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "car", "--speed", "100", "--preview", "0.05", "--share", "--start-at",
            "3",
            "--alert", "4:Roadworks|Avoid", "--route", ProgramTests.route("vaduz-balzers"))
        #expect(await navigate.end() == 0)
        #expect(await cluster.end() == 0)
        let messages = cluster.lines.map(ProgramTests.object)
        for name in ["tripPreviews", "showAlert", "shareDestination"] {
            #expect(messages.contains { $0["message"] as? String == name }, "\(name)")
        }
        let shown = try #require(messages.first { $0["message"] as? String == "showAlert" })
        let alert = try #require(shown["alert"] as? [String: Any])
        #expect(alert["notification"] as? String == "once" && alert["priority"] as? String == "medium")
        let first = try #require(messages.first { $0["message"] as? String == "startGuidance" })
        let route = try #require(first["route"] as? [String: Any] ?? first)
        let upcoming = try #require(route["upcomingManeuvers"] as? [Int])
        #expect(try #require(upcoming.first) > 3)
        // Each maneuver is printed when it becomes the next one, and the end of the drive.
        #expect(navigate.lines.count { $0.contains(" to go)") } > 2)
        #expect(navigate.lines.last == "drive 1: arrived")
        try await daemon.stop()
    }

    @Test func `with --simulate-when-asked it stands until an observer lets it drive`() async throws {
        let daemon = try await RunningDaemon.observed()
        let cluster = try daemon.waymark("cluster", "--id", "car", "--json", "--until", "finished")
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "car", "--simulate-when-asked", "--id", "app", "--route",
            ProgramTests.route("vaduz-balzers"))
        try await cluster.line(containing: "startGuidance")
        let other = try daemon.waymark("simulate", "start", "--client", "other")
        #expect(await other.end() == 1)
        let elsewhere = try daemon.waymark("simulate", "start", "--client", "app", "--vehicle", "van")
        #expect(await elsewhere.end() == 1)
        let stop = try daemon.waymark("simulate", "stop", "--client", "app")
        #expect(await stop.end() == 0)
        try await navigate.line(containing: "stands")
        let start = try daemon.waymark(
            "simulate", "start", "--client", "app", "--vehicle", "car", "--speed", "1000")
        #expect(await start.end() == 0)
        #expect(await navigate.end() == 0)
        #expect(await cluster.end() == 0)
        try await daemon.stop()
    }

    @Test func `speed limits of a route's traces reach the cluster`() async throws {
        let daemon = try await RunningDaemon.start()
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "WaymarkRoutesTests/SpeedLimits").path
        let cluster = try daemon.waymark("cluster", "--id", "car", "--json", "--until", "finished")
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "car", "--speed", "200", "--route",
            "\(folder)/valhalla-vaduz-triesen-balzers.json", "--speed-limits",
            "\(folder)/valhalla-trace-1.json", "--speed-limits", "\(folder)/valhalla-trace-2.json")
        #expect(await navigate.end() == 0)
        #expect(await cluster.end() == 0)
        let limits = cluster.lines.map(ProgramTests.object).filter {
            $0["message"] as? String == "updateSpeedLimit"
        }
        let first = try #require(limits.first?["speedLimit"] as? [String: Any])
        #expect(first["value"] as? Int == 20 && first["unit"] as? String == "kilometersPerHour")
        #expect(limits.contains { ($0["nextSpeedLimit"] as? [String: Any])?["value"] as? Int == 50 })
        let other = try daemon.waymark(
            "navigate", "--route", ProgramTests.route("vaduz-balzers"), "--speed-limits",
            ProgramTests.route("vaduz-balzers"))
        #expect(await other.end() == 1)
        #expect(other.errorLines.contains { $0.contains("--speed-limits: ") && $0.contains("edges") })
        try await daemon.stop()
    }

    @Test func `an engine is asked for a route through the stops of --via`() async throws {
        let daemon = try await RunningDaemon.start()
        // A server of files that has the answer for these points, and for no others.
        let path = "/route/v1/driving/9.521522,47.141047;9.507593,47.075571;9.501363,47.068069"
        let file = URL(filePath: "\(daemon.folder)/engine\(path)")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: URL(filePath: ProgramTests.route("vaduz-balzers-charging")), to: file)
        let server = try Program(command: [
            "python3", "-u", "-m", "http.server", "--bind", "127.0.0.1", "--directory",
            "\(daemon.folder)/engine", "0",
        ])
        let address = try await server.line { line in
            line.firstMatch(of: /http:\/\/127\.0\.0\.1:\d+/).map { String($0.0) }
        }
        let cluster = try daemon.waymark("cluster", "--id", "car", "--until", "finished")
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "car", "--speed", "10000", "--engine", "osrm=\(address)", "--from",
            "47.141047,9.521522", "--via", "47.075571,9.507593", "--to", "47.068069,9.501363")
        #expect(await navigate.end() == 0)
        #expect(await cluster.end() == 0)
        try await server.errorLine { $0.contains("GET \(path)?steps=true") ? $0 : nil }
        #expect(server.errorLines.count { $0.contains("GET ") } == 1)
        // Foundation starts it with other signals blocked.
        server.signal(SIGKILL)
        await server.end()
        try await daemon.stop()
    }

    @Test func `a start beyond the route is refused`() async throws {
        let navigate = try Program(
            "waymark", ["navigate", "--start-at", "9.5", "--route", ProgramTests.route("vaduz-balzers")])
        #expect(await navigate.end() == 1)
        try await navigate.errorLine { $0.contains("--start-at 9.5 is beyond the end") ? $0 : nil }
    }
}
