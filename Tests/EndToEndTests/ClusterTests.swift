import Foundation
import Testing
import WaymarkClient
import WaymarkModel

/// `waymark cluster` as scripts and operators use it.
@Suite(.timeLimit(.minutes(5))) struct ClusterTests {
    private static let place = Waypoint(center: Coordinate(latitude: 47.1, longitude: 9.5))
    private static let trip = Trip(id: "t", origin: place, destination: place)

    @Test(arguments: [[], ["--json"], ["--watch"], ["--json", "--watch"]])
    func `without a terminal a cluster only watches`(_ options: [String]) async throws {
        let daemon = try await RunningDaemon.start()
        let watcher = try Program(
            "waymark",
            ["cluster", "--id", "car", "--connect", daemon.vehicle, "--endpoint", "watcher"] + options)
        let client = try await NavigationClient.connect(
            to: try #require(ServiceAddress(daemon.navigation)), .init(id: "app"))
        let session = try await client.openSession(
            vehicles: .vehicles(["car"]),
            onWaypoint: { _, _ in .estimates(TravelEstimates(distanceRemaining: .meters(1))) {} })
        try await session.start(Self.trip, route: RouteInformation())
        try await watcher.line { $0.contains("guided by app") || $0.contains("startGuidance") ? $0 : nil }
        // No endpoint asks the user, so the request is not accepted.
        let request = try daemon.waymark("request", "waypoint", "47.1,9.5", "--id", "car")
        #expect(await request.end() == 2)
        // The cluster connects and becomes ready; the watcher never does.
        let cluster = try daemon.waymark("cluster", "--id", "car", "--json")
        for await case .vehicleChanged(_, .joined, let endpoints) in await session.events {
            #expect(endpoints.allSatisfy { $0.name != "watcher" || !$0.isReady })
            if endpoints.contains(where: { $0.name == "cluster" && $0.isReady }) { break }
        }
        let accepted = try daemon.waymark("request", "waypoint", "47.1,9.5", "--id", "car")
        #expect(await accepted.end() == 0)
        #expect(accepted.lines == ["the stop was accepted"])
        for program in [watcher, cluster] {
            program.signal(SIGTERM)
            #expect(await program.end() == 143)
        }
        await client.close()
        try await daemon.stop()
    }

    @Test func `a cluster obeys the lines of its standard input`() async throws {
        let daemon = try await RunningDaemon.start()
        let cluster = try daemon.waymark(
            "cluster", "--id", "car", "--json", "--states", "shown", "--commands")
        try await cluster.line(containing: "\"connected\"")
        let client = try await NavigationClient.connect(
            to: try #require(ServiceAddress(daemon.navigation)), .init(id: "app"))
        let session = try await client.openSession(
            vehicles: .vehicles(["car"]),
            onWaypoint: { _, _ in .estimates(TravelEstimates(distanceRemaining: .meters(1))) {} })
        try await session.start(Self.trip, route: RouteInformation())
        try await cluster.line { $0.contains("\"state\"") && $0.contains("\"active\"") ? $0 : nil }
        for answer in ["no", "yes"] {
            try cluster.tell("waypoint 47.1 9.5")
            try await cluster.until("\"prompt\"")
            try cluster.tell(answer)
            try await cluster.until("\"requestOutcome\"")
        }
        let outcomes = cluster.lines.filter { $0.contains("\"requestOutcome\"") }
        #expect(outcomes.map { $0.contains("\"accepted\"") } == [false, true], "\(outcomes)")
        try cluster.tell("yes")
        try await cluster.errorLine { $0.contains("there is no question to answer") ? $0 : nil }
        try cluster.tell("fly")
        try await cluster.errorLine { $0.contains("fly is no command") ? $0 : nil }
        try cluster.tell("cancel")
        try await cluster.until("\"sessionEnded\"")
        try cluster.tell("quit")
        #expect(await cluster.end() == 0)
        await client.close()
        try await daemon.stop()
    }

    @Test func `a client drives as the lines of its standard input say`() async throws {
        let daemon = try await RunningDaemon.start()
        let cluster = try daemon.waymark("cluster", "--id", "car", "--json", "--accept-prompts", "yes")
        try await cluster.line(containing: "\"connected\"")
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "car", "--route", ProgramTests.route("vaduz-balzers"), "--await-vehicle",
            "no", "--commands")
        for (command, message) in [
            ("start", "startGuidance"), ("pause", "pauseGuidance"), ("resume", "resumeGuidance"),
            ("finish", "finishGuidance"), ("start", "startGuidance"), ("cancel", "cancelGuidance"),
        ] {
            try navigate.tell(command)
            try await cluster.until("\"\(message)\"")
        }
        try navigate.tell("quit")
        #expect(await navigate.end() == 0)
        #expect(navigate.lines.contains("drive 1: arrived"))
        cluster.signal(SIGTERM)
        #expect(await cluster.end() == 143)
        try await daemon.stop()
    }

    @Test func `a cluster chooses the second of three routes of a file, and starts it`() async throws {
        let file = FileManager.default.temporaryDirectory
            .appending(path: "w-\(UInt32.random(in: 0 ... .max)).json")
        var answer = try #require(
            try JSONSerialization.jsonObject(
                with: Data(contentsOf: URL(filePath: ProgramTests.route("vaduz-balzers"))))
                as? [String: Any])
        let routes = try #require(answer["routes"] as? [Any])
        answer["routes"] = Array(repeating: routes[0], count: 3)
        try JSONSerialization.data(withJSONObject: answer).write(to: file)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: file) } }
        let daemon = try await RunningDaemon.start()
        let cluster = try daemon.waymark("cluster", "--id", "car", "--json", "--commands")
        try await cluster.line(containing: "\"connected\"")
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "car", "--route", file.path, "--preview", "600", "--speed", "1000")
        try await cluster.until("\"tripPreviews\"")
        try cluster.tell("start trip-1 four")
        try await cluster.errorLine { $0.contains("four is not the number of a route") ? $0 : nil }
        try cluster.tell("start trip-1 4")
        try await cluster.errorLine { $0.hasPrefix("start trip-1: ") ? $0 : nil }
        try cluster.tell("select trip-1 2")
        try await cluster.until("\"tripPreviews\"")
        try cluster.tell("start")
        try await cluster.until("\"startGuidance\"")
        try await cluster.until("\"finishGuidance\"")
        #expect(await navigate.end() == 0)
        try cluster.tell("quit")
        #expect(await cluster.end() == 0)
        let started = cluster.lines.map(ProgramTests.object).first {
            $0["message"] as? String == "startGuidance"
        }
        let trip = try #require(started?["trip"] as? [String: Any])
        #expect(trip["selectedRouteChoice"] as? Int == 2)
        #expect((trip["routeChoices"] as? [Any])?.count == 3)
        try await daemon.stop()
    }

    @Test func `a watcher asks for no guidance`() async throws {
        let daemon = try await RunningDaemon.start()
        let watcher = try daemon.waymark("cluster", "--id", "watched", "--json", "--watch")
        try await watcher.line(containing: "\"connected\"")
        let client = try await NavigationClient.connect(
            to: try #require(ServiceAddress(daemon.navigation)), .init(id: "app"))
        let session = try await client.openSession(vehicles: .anyThatAsked)
        let cluster = try daemon.waymark("cluster", "--id", "guided", "--json")
        for await case .vehicleChanged(let vehicle, .joined, _) in await session.events {
            #expect(vehicle == "guided")
            break
        }
        for program in [watcher, cluster] {
            program.signal(SIGTERM)
            await program.end()
        }
        await client.close()
        try await daemon.stop()
    }

    @Test func `with --states none a cluster prints only messages, each with its time`() async throws {
        let daemon = try await RunningDaemon.start()
        let cluster = try daemon.waymark(
            "cluster", "--id", "car", "--json", "--states", "none", "--until", "finished")
        try await cluster.line(containing: "\"connected\"")
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "car", "--speed", "1000", "--route", ProgramTests.route("vaduz-balzers"))
        #expect(await navigate.end() == 0)
        #expect(await cluster.end() == 0)
        let objects = cluster.lines.map(ProgramTests.object)
        #expect(Set(objects.compactMap { $0["kind"] as? String }) == ["connection", "message"])
        for object in objects {
            let time = try #require(object["time"] as? String)
            _ = try Date(time, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        }
        try await daemon.stop()
    }

    @Test func `the changes of a drive are much smaller than its full states`() async throws {
        let daemon = try await RunningDaemon.start()
        let clusters = try ["changes", "full"].map {
            try daemon.waymark(
                "cluster", "--id", "car", "--endpoint", $0, "--json", "--states", $0, "--until", "finished")
        }
        for cluster in clusters { try await cluster.line(containing: "\"connected\"") }
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "car", "--speed", "300", "--route", ProgramTests.route("vaduz-balzers"))
        #expect(await navigate.end() == 0)
        for cluster in clusters { #expect(await cluster.end() == 0) }
        let sizes = clusters.map { $0.lines.reduce(0) { $0 + $1.utf8.count } }
        #expect(sizes[0] * 5 < sizes[1], "\(sizes)")
        try await daemon.stop()
    }

    @Test func `--timeout ends a cluster, with status 1 only if --until was given`() async throws {
        let daemon = try await RunningDaemon.start()
        let patient = try daemon.waymark("cluster", "--id", "car", "--json", "--timeout", "0.2")
        #expect(await patient.end() == 0)
        let waiting = try daemon.waymark(
            "cluster", "--id", "car", "--json", "--timeout", "0.2", "--until", "finished")
        try await waiting.errorLine {
            $0.contains("--until finished was not reached within 0.2 seconds") ? $0 : nil
        }
        #expect(await waiting.end() == 1)
        try await daemon.stop()
    }

    @Test func `with --wait a cluster and a request can start before the daemon`() async throws {
        let folder = try RunningDaemon.newFolder()
        let programs = try [
            ["cluster", "--json", "--timeout", "0.2", "--watch"], ["request", "allow"],
        ].map {
            try Program(
                "waymark", $0 + ["--id", "car", "--connect", "unix:\(folder)/v", "--wait", "600"])
        }
        for program in programs {
            try await program.errorLine { $0.contains("waiting up to 600") ? $0 : nil }
        }
        let daemon = try await RunningDaemon.start(in: folder)
        for program in programs { #expect(await program.end() == 0) }
        // The attempts before the first connection are not printed one by one.
        #expect(programs[0].lines.count { $0.contains("\"connecting\"") } == 1)
        try await daemon.stop()
    }

    @Test func `with --wait a navigation client can start before the daemon, and prints that once`()
        async throws
    {
        let folder = try RunningDaemon.newFolder()
        let navigate = try Program(
            "waymark",
            [
                "navigate", "--vehicle", "car", "--speed", "1000", "--route",
                ProgramTests.route("vaduz-balzers"), "--connect", "unix:\(folder)/n", "--wait", "600",
            ])
        try await navigate.errorLine { $0.contains("waiting up to 600") ? $0 : nil }
        let daemon = try await RunningDaemon.start(in: folder)
        let cluster = try daemon.waymark("cluster", "--id", "car", "--until", "finished")
        try await navigate.errorLine { $0 == "connected to the gateway" ? $0 : nil }
        #expect(await navigate.end() == 0)
        cluster.signal(SIGTERM)
        await cluster.end()
        try await daemon.stop()
    }

    @Test func `a cluster that waits for the daemon can be interrupted`() async throws {
        let folder = try RunningDaemon.newFolder()
        let cluster = try Program(
            "waymark", ["cluster", "--id", "car", "--connect", "unix:\(folder)/v", "--wait", "600"])
        try await cluster.errorLine { $0.contains("waiting up to 600") ? $0 : nil }
        cluster.signal(SIGINT)
        #expect(await cluster.end() == 130)
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `in lines a cluster reports that the connection is lost, and that it is restored`()
        async throws
    {
        let daemon = try await RunningDaemon.start()
        let cluster = try daemon.waymark("cluster", "--id", "car")
        try await cluster.line(containing: "connected to the gateway")
        daemon.program.signal(SIGKILL)
        await daemon.program.end()
        try await cluster.line(containing: "connection to the gateway lost; reconnecting")
        let again = try await RunningDaemon.start(in: daemon.folder)
        try await cluster.line { $0.hasPrefix("reconnected; the gateway was restarted") ? $0 : nil }
        cluster.signal(SIGTERM)
        await cluster.end()
        try await again.stop()
    }

    @Test func `a cluster that cannot connect prints the reason, also with --json`() async throws {
        let cluster = try Program(
            "waymark", ["cluster", "--id", "car", "--json", "--connect", "unix:/nowhere"])
        #expect(await cluster.end() == 1)
        let states = cluster.lines.map { ProgramTests.object($0)["state"] as? String }
        #expect(states == ["connecting", "closed"])
    }

    @Test func `asking the user needs a terminal`() async throws {
        let cluster = try Program(
            "waymark", ["cluster", "--id", "car", "--connect", "unix:/nowhere", "--accept-prompts", "ask"])
        #expect(await cluster.end() == 64)
    }
}
