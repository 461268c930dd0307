import Foundation
import Testing
import WaymarkClient

/// The programs on the command line, over real sockets.
@Suite(.timeLimit(.minutes(5))) struct ProgramTests {
    private static let routes = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/WaymarkCommandLine/Resources/routes")

    static func route(_ name: String) -> String { self.routes.appending(path: "\(name).json").path }

    /// A line of `cluster --json`.
    static func object(_ line: String) -> [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]) ?? [:]
    }

    private static func isState(_ line: String) -> Bool { self.object(line)["kind"] as? String == "state" }

    @Test
    func `an endpoint that joins during a drive holds the same as one that was connected from the start`()
        async throws
    {
        let daemon = try await RunningDaemon.start()
        let early = try daemon.waymark(
            "cluster", "--id", "car", "--endpoint", "early", "--json", "--states", "full", "--until",
            "ended")
        try await early.line(containing: "\"connected\"")
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "car", "--speed", "20", "--route", Self.route("vaduz-balzers"))
        // During the drive: the cluster has received the fourth maneuver.
        try await early.line { Self.upcoming($0).first.map { $0 >= 4 } == true ? $0 : nil }
        let late = try daemon.waymark(
            "cluster", "--id", "car", "--endpoint", "late", "--json", "--states", "full", "--until",
            "ended")
        for _ in 0..<20 { try await late.until("\"kind\":\"state\"") }
        #expect(await (try daemon.waymark("request", "cancel", "--id", "car")).end() == 0)
        #expect(await early.end() == 0)
        #expect(await late.end() == 0)
        #expect(await navigate.end() == 2)
        let (first, second) = (Self.states(early.lines), Self.states(late.lines))
        let common = Set(first.keys).intersection(second.keys)
        #expect(common.count > 10)
        for sequence in common { #expect(first[sequence] == second[sequence], "after \(sequence)") }
        try await daemon.stop()
    }

    private static func upcoming(_ line: String) -> [Int] {
        self.object(line)["upcomingManeuvers"] as? [Int] ?? []
    }

    /// The state after each sequence number, from the snapshot on.
    private static func states(_ lines: [String]) -> [Int: String] {
        var states: [Int: String] = [:]
        var sequence = 0
        var isWhole = false
        var state = ""
        for line in lines {
            let object = self.object(line)
            switch object["kind"] as? String {
            case "message":
                if isWhole { states[sequence] = state }
                sequence = object["sequence"] as? Int ?? 0
                if object["message"] as? String == "snapshotEnd" { isWhole = true }
            case "state": state = line.replacing(/"time":"[^"]*",?/, with: "")
            default: break
            }
        }
        return states
    }

    @Test func `a daemon that is killed loses no session`() async throws {
        let daemon = try await RunningDaemon.start()
        let cluster = try daemon.waymark("cluster", "--id", "car", "--json", "--until", "finished")
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "car", "--speed", "20", "--route", Self.route("vaduz-balzers"))
        try await cluster.line { Self.upcoming($0).first.map { $0 >= 3 } == true ? $0 : nil }
        daemon.program.signal(SIGKILL)
        await daemon.program.end()
        let again = try await RunningDaemon.start(in: daemon.folder)
        #expect(await cluster.end() == 0)
        #expect(await navigate.end() == 0)
        let snapshots = cluster.lines.filter { $0.contains("\"message\":\"snapshotBegin\"") }
        #expect(snapshots.count >= 2)
        try await again.stop()
    }

    @Test func `after a vehicle cancels no message of the session reaches its endpoints`() async throws {
        let daemon = try await RunningDaemon.start()
        let clusters = try ["cluster", "head-up"].map {
            try daemon.waymark("cluster", "--id", "car", "--endpoint", $0, "--json")
        }
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "car", "--speed", "10", "--route", Self.route("vaduz-balzers"))
        for cluster in clusters { try await cluster.line(containing: "updateTripEstimates") }
        let request = try daemon.waymark("request", "cancel", "--id", "car")
        #expect(await request.end() == 0)
        #expect(request.lines == ["the vehicle's user stopped guidance"])
        #expect(await navigate.end() == 2)
        for cluster in clusters {
            try await cluster.line(containing: "\"sessionEnded\"")
            cluster.signal(SIGTERM)
            await cluster.end()
            let messages = cluster.lines.filter { $0.contains("\"kind\":\"message\"") }
            #expect(messages.last?.contains("\"sessionEnded\"") == true)
            #expect(messages.last?.contains("\"endReason\":\"userStopped\"") == true)
        }
        try await daemon.stop()
    }

    @Test func `the second of two clients for one vehicle is refused`() async throws {
        let daemon = try await RunningDaemon.start()
        let cluster = try daemon.waymark("cluster", "--id", "car", "--json", "--until", "finished")
        let first = try daemon.waymark(
            "navigate", "--id", "first", "--vehicle", "car", "--speed", "100", "--route",
            Self.route("vaduz-balzers"))
        try await cluster.line(containing: "updateTripEstimates")
        let second = try daemon.waymark(
            "navigate", "--id", "second", "--vehicle", "car", "--route", Self.route("vaduz-balzers"))
        #expect(await second.end() == 1)
        #expect(await first.end() == 0)
        #expect(await cluster.end() == 0)
        #expect(!cluster.lines.contains { $0.contains("\"client\":\"second\"") })
        try await daemon.stop()
    }

    @Test func `with the policy replace the second client takes over, and the first is notified`()
        async throws
    {
        let folder = try RunningDaemon.newFolder()
        try Data("arbitration: replace\n\(RunningDaemon.patience)".utf8)
            .write(to: URL(filePath: "\(folder)/waymark.yaml"))
        let daemon = try await RunningDaemon.start(["--config", "\(folder)/waymark.yaml"], in: folder)
        let cluster = try daemon.waymark("cluster", "--id", "car", "--json", "--until", "finished")
        let first = try daemon.waymark(
            "navigate", "--id", "first", "--vehicle", "car", "--speed", "20", "--route",
            Self.route("vaduz-balzers"))
        try await cluster.line(containing: "updateTripEstimates")
        let second = try daemon.waymark(
            "navigate", "--id", "second", "--vehicle", "car", "--speed", "500", "--route",
            Self.route("vaduz-balzers"))
        #expect(await first.end() == 3)
        #expect(first.lines.contains { $0.contains("replaced") })
        #expect(await second.end() == 0)
        #expect(await cluster.end() == 0)
        try await daemon.stop()
    }

    @Test func `every request of a vehicle ends with an outcome`() async throws {
        let daemon = try await RunningDaemon.start()
        let cluster = try daemon.waymark("cluster", "--id", "car", "--json")
        try await cluster.line(containing: "\"connected\"")
        // No client guides the vehicle or accepts destinations.
        let reasons = [
            ("waypoint", RequestEnding(.invalid, cause: .notGuided)),
            ("destination", RequestEnding(.notSupported, cause: .noClient)),
        ]
        for (kind, ending) in reasons {
            let request = try daemon.waymark("request", kind, "47.1,9.5", "--id", "car")
            #expect(await request.end() == 2)
            #expect(request.lines.first?.hasSuffix(" was not accepted: \(ending.explanation)") == true)
            #expect(request.lines.count == 1)
        }
        // Guided by a client without an engine.
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "car", "--speed", "1", "--route", Self.route("vaduz-balzers"))
        try await cluster.line(containing: "updateTripEstimates")
        let waypoint = try daemon.waymark("request", "waypoint", "47.1,9.5", "--id", "car")
        #expect(await waypoint.end() == 2)
        let sentence = try #require(waypoint.lines.first)
        #expect(sentence.hasPrefix("the stop was not accepted: "))
        #expect(sentence.hasSuffix(" does not handle such requests"))
        let source = try daemon.waymark("request", "route-source", "clientUnchanged", "--id", "car")
        #expect(await source.end() == 0)
        #expect(source.lines == ["the vehicle's route source is clientUnchanged"])
        try await navigate.line(containing: "clientUnchanged")
        // The client shares the destination that the vehicle wants.
        let share = try daemon.waymark("request", "share-accept", "--ask", "--id", "car")
        #expect(await share.end() == 0)
        #expect(share.lines.first?.hasPrefix("47.068069,9.501362") == true, "\(share.lines)")
        try await navigate.line(containing: "car wants the destination")
        // An interrupted client cancels, and the vehicle is notified immediately.
        navigate.signal(SIGINT)
        #expect(await navigate.end() == 130)
        try await cluster.line(containing: "cancelGuidance")
        cluster.signal(SIGINT)
        #expect(await cluster.end() == 130)
        try await daemon.stop()
    }

    @Test func `a client that leaves its route guides the vehicle back`() async throws {
        let daemon = try await RunningDaemon.start()
        let cluster = try daemon.waymark("cluster", "--id", "car", "--json", "--until", "finished")
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "car", "--speed", "100", "--leave-route-at", "2", "--route",
            Self.route("vaduz-balzers"))
        #expect(await navigate.end() == 0)
        #expect(await cluster.end() == 0)
        #expect(cluster.lines.contains { Self.object($0)["rerouteReason"] as? String == "missedTurn" })
        try await daemon.stop()
    }
}
