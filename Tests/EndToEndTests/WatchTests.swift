import Foundation
import Testing
import WaymarkClient
import WaymarkModel

/// `waymark watch` and `waymark status` beside real peers.
@Suite(.timeLimit(.minutes(5))) struct WatchTests {
    /// The objects of one kind.
    private static func objects(_ lines: [String], _ kind: String) -> [[String: Any]] {
        lines.map(ProgramTests.object).filter { $0["kind"] as? String == kind }
    }

    /// What a message says, without what only the connection of an endpoint knows.
    private static func content(_ object: [String: Any]) -> NSDictionary {
        var content = object
        for key in ["kind", "time", "number", "to", "from", "redacted", "rejected", "bytes"] {
            content[key] = nil
        }
        // An endpoint says up to where it holds the session in messages that have no number.
        if Self.unnumbered.contains(content["message"] as? String ?? "") { content["sequence"] = nil }
        return content as NSDictionary
    }

    private static let unnumbered: Set = [
        "snapshotBegin", "snapshotEnd", "sessionEnded", "sessionSuspended", "sessionRestored", "prompt",
        "promptOver", "requestOutcome", "error",
    ]

    @Test func `watch shows everything that an endpoint gets, and only its user answers`() async throws {
        let daemon = try await RunningDaemon.observed()
        let watch = try daemon.waymark("watch", "--json")
        try await watch.line(containing: "\"synchronized\"")
        let cluster = try daemon.waymark(
            "cluster", "--id", "car", "--json", "--states", "none", "--until", "finished")
        try await cluster.line(containing: "\"connected\"")
        let client = try await NavigationClient.connect(
            to: try #require(ServiceAddress(daemon.navigation)), .init(id: "app"))
        let session = try await client.openSession(
            vehicles: .vehicles(["car"]),
            onWaypoint: { _, _ in .estimates(TravelEstimates(distanceRemaining: .meters(900))) {} })
        try await session.whenReady("car")
        let place = Waypoint(center: Coordinate(latitude: 47.1, longitude: 9.5), nameVariants: ["Here"])
        try await session.start(
            Trip(id: "t", origin: place, destination: place),
            route: RouteInformation(maneuvers: [Maneuver(id: ManeuverID(rawValue: 1), type: .leftTurn)]))
        // The vehicle's own endpoint asks, and its user says yes.
        let request = try daemon.waymark("request", "waypoint", "47.1,9.5", "--name", "Café", "--id", "car")
        #expect(await request.end() == 0)
        try await session.setCurrentRoadName(["Landstrasse"])
        try await session.finish()
        #expect(await cluster.end() == 0)
        await client.close()
        try await watch.line { $0.contains("\"departed\"") && $0.contains("\"peer\":\"app\"") ? $0 : nil }
        watch.signal(SIGINT)
        #expect(await watch.end() == 0)

        let frames = Self.objects(watch.lines, "frame")
        var told = frames.filter { ($0["to"] as? [String])?.contains("car/cluster") == true }
            .map(Self.content)
        let received = Self.objects(cluster.lines, "message")
        #expect(received.count > 5)
        for message in received {
            let content = Self.content(message)
            guard let index = told.firstIndex(of: content) else {
                Issue.record("not told: \(content)")
                continue
            }
            told.remove(at: index)
        }
        // One answer, from the endpoint whose user was asked.
        let answers = frames.filter { $0["message"] as? String == "promptAnswer" }
        #expect(answers.map { $0["from"] as? String } == ["car/cluster"])
        #expect(answers.first?["accepted"] as? Bool == true)
        let ends = Self.objects(watch.lines, "event").filter { $0["event"] as? String == "requestEnded" }
        #expect(ends.map { $0["codeName"] as? String } == ["accepted"])
        #expect(ends.first?["requestID"] as? String == answers.first?["requestID"] as? String)
        // The client published all of it itself.
        let publications = frames.filter { $0["from"] != nil && $0["sequence"] as? Int ?? 0 > 0 }
        #expect(publications.allSatisfy { $0["from"] as? String == "app" })
        #expect(publications.contains { $0["currentRoadName"] as? [String] == ["Landstrasse"] })
        try await daemon.stop()
    }

    @Test func `in lines each thing that happens is told once, with who it is about`() async throws {
        let daemon = try await RunningDaemon.observed()
        let watch = try daemon.waymark("watch")
        try await watch.line(containing: "0 vehicles, 0 clients, 0 sessions")
        let cluster = try daemon.waymark("cluster", "--id", "car", "--until", "finished")
        try await watch.line(containing: "car/cluster")
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "car", "--speed", "10000", "--route", ProgramTests.route("vaduz-balzers")
        )
        #expect(await navigate.end() == 0)
        #expect(await cluster.end() == 0)
        try await watch.line { $0.contains("car/cluster ") && $0.hasSuffix(" left") ? $0 : nil }
        watch.signal(SIGINT)
        #expect(await watch.end() == 0)
        let time = /\d\d:\d\d:\d\d\.\d{3} {2}/
        for line in watch.lines { #expect(line.prefixMatch(of: time) != nil, "\(line)") }
        #expect(watch.lines.count { $0.contains("StartGuidance") } == 1)
        #expect(watch.lines.count { $0.contains("waymark-navigate > car  StartGuidance 1: ") } == 1)
        #expect(watch.lines.count { $0.contains("ended: finished") } == 1)
        try await daemon.stop()
    }

    @Test func `a listener that hides places hides them, and watch says so once`() async throws {
        let daemon = try await RunningDaemon.observed("state")
        let watch = try daemon.waymark("watch", "--vehicle", "car")
        try await watch.line(containing: "watching")
        let cluster = try daemon.waymark("cluster", "--id", "car", "--until", "finished")
        try await cluster.line(containing: "connected")
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "car", "--speed", "10000", "--route", ProgramTests.route("vaduz-balzers")
        )
        #expect(await navigate.end() == 0)
        #expect(await cluster.end() == 0)
        try await watch.errorLine {
            $0.hasPrefix("texts and places are hidden; `observe: content`") ? $0 : nil
        }
        try await watch.line { $0.contains("car/cluster ") && $0.hasSuffix(" left") ? $0 : nil }
        watch.signal(SIGINT)
        #expect(await watch.end() == 0)
        #expect(watch.lines.contains { $0.contains("StartGuidance 1: 14 maneuvers") })
        for name in ["Landstrasse", "Städtle", "47."] {
            #expect(!watch.lines.contains { $0.dropFirst(14).contains(name) }, "\(name)")
        }
        try await daemon.stop()
    }

    @Test func `watch continues with a restarted daemon`() async throws {
        let daemon = try await RunningDaemon.observed()
        let watch = try daemon.waymark("watch", "--kind", "admitted")
        try await watch.until("watching")
        daemon.program.signal(SIGKILL)
        await daemon.program.end()
        try await watch.until("connection to the gateway lost; reconnecting")
        let again = try await RunningDaemon.observed(in: daemon.folder)
        try await watch.until("connected again; what happened meanwhile is missing")
        try await watch.until("0 vehicles, 0 clients, 0 sessions")
        let cluster = try again.waymark("cluster", "--id", "car")
        try await watch.until("car/cluster")
        for program in [cluster, watch] { program.signal(SIGINT) }
        #expect(await cluster.end() == 130)
        #expect(await watch.end() == 0)
        try await again.stop()
    }

    @Test func `status shows who is connected, and has status 1 without a gateway`() async throws {
        let daemon = try await RunningDaemon.observed()
        let cluster = try daemon.waymark("cluster", "--id", "car")
        try await cluster.line(containing: "connected")
        let client = try await NavigationClient.connect(
            to: try #require(ServiceAddress(daemon.navigation)), .init(id: "app"))
        let session = try await client.openSession(vehicles: .vehicles(["car", "bus"]))
        let status = try daemon.waymark("status", "--interval", "0.1")
        #expect(await status.end() == 0)
        #expect(
            status.lines.contains { $0.hasPrefix("2 vehicles (1 endpoint), 1 client, 1 session, 0 requests") }
        )
        #expect(status.lines.contains { $0.contains("frames/s published") })
        #expect(status.lines.contains { $0.hasPrefix("car ") && $0.contains(" cluster ") })
        #expect(status.lines.contains { $0.hasPrefix("bus ") && $0.contains(" awaited ") })
        #expect(status.lines.allSatisfy { $0.count <= 80 })
        let json = try daemon.waymark("status", "--json", "--interval", "0")
        #expect(await json.end() == 0)
        #expect(json.lines.count == 1)
        let object = ProgramTests.object(try #require(json.lines.first))
        #expect(object["kind"] as? String == "status")
        #expect(object["framesPerSecond"] == nil)
        let vehicles = try #require(object["vehicles"] as? [[String: Any]])
        #expect(vehicles.map { $0["vehicle"] as? String } == ["bus", "car"])
        let counters = try #require(object["counters"] as? [String: Any])
        #expect(counters["sessions"] as? Int == 1)
        try await session.cancel()
        await client.close()
        cluster.signal(SIGTERM)
        await cluster.end()
        try await daemon.stop()
        let nothing = try Program("waymark", ["status", "--connect", "unix:/nowhere"])
        try await nothing.errorLine { $0.contains("is waymarkd running?") ? $0 : nil }
        #expect(await nothing.end() == 1)
        #expect(nothing.lines.isEmpty)
    }

    @Test func `watch that waits for the daemon can be interrupted, and ends quietly`() async throws {
        let folder = try RunningDaemon.newFolder()
        let watch = try Program("waymark", ["watch", "--connect", "unix:\(folder)/o", "--wait", "600"])
        try await watch.errorLine { $0.contains("waiting up to 600") ? $0 : nil }
        watch.signal(SIGINT)
        #expect(await watch.end() == 0)
        #expect(watch.lines.isEmpty)
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `watch that cannot connect prints the reason, also with --json`() async throws {
        let watch = try Program("waymark", ["watch", "--json", "--connect", "unix:/nowhere"])
        #expect(await watch.end() == 1)
        let states = watch.lines.map { ProgramTests.object($0)["state"] as? String }
        #expect(states == ["connecting", "closed"])
    }
}
