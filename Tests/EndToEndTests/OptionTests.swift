import Foundation
import FoundationNetworking
import Testing

/// Options that no other test runs, see `scripts/check/untested_options.py`.
@Suite(.timeLimit(.minutes(5))) struct OptionTests {
    private static let route = ProgramTests.route("vaduz-balzers")

    private static func run(_ arguments: String...) async throws -> (status: Int32, lines: [String]) {
        let program = try Program("waymark", arguments)
        return (await program.end(), program.lines)
    }

    // MARK: Observers

    @Test func `top shows the rows that were asked for, in the order that was asked for`() async throws {
        let daemon = try await RunningDaemon.observed()
        var clusters: [Program] = []
        for id in ["bus-2", "bus-1", "car"] {
            let cluster = try daemon.waymark("cluster", "--id", id)
            try await cluster.line(containing: "connected")
            // It goes away, and is remembered.
            if id == "car" { cluster.signal(SIGKILL) } else { clusters.append(cluster) }
            if id == "car" { await cluster.end() }
        }
        func rows(_ arguments: String...) async throws -> [String] {
            let top = try Program("waymark", ["top", "--once", "--connect", daemon.watched] + arguments)
            #expect(await top.end() == 0)
            return top.lines.compactMap { line in
                ["bus-1", "bus-2", "car"].first { line.hasPrefix($0) }
            }
        }
        #expect(try await rows("--sort", "id") == ["bus-1", "bus-2", "car"])
        #expect(try await rows("--search", "bus") == ["bus-1", "bus-2"])
        #expect(try await rows("--only", "away") == ["car"])
        let wrong = try await Self.run("top", "--once", "--only", "sleeping", "--connect", daemon.watched)
        #expect(wrong.status != 0)
        for cluster in clusters {
            cluster.signal(SIGTERM)
            await cluster.end()
        }
        try await daemon.stop()
    }

    @Test func `watch shows one client, only some messages, all but some, or everything`() async throws {
        let daemon = try await RunningDaemon.observed()
        let all = try daemon.waymark("watch", "--all")
        let client = try daemon.waymark("watch", "--client", "other")
        let some = try daemon.waymark("watch", "--message", "TripEstimates", "--message", "startGuidance")
        let others = try daemon.waymark("watch", "--without", "ManeuverEstimates", "--without", "joined")
        for program in [all, client, some, others] { try await program.line(containing: "watching") }
        let cluster = try daemon.waymark("cluster", "--id", "car", "--until", "finished")
        try await cluster.line(containing: "connected")
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "car", "--speed", "10000", "--route", Self.route)
        #expect(await navigate.end() == 0)
        #expect(await cluster.end() == 0)
        try await all.line { $0.contains("car/cluster ") && $0.hasSuffix(" left") ? $0 : nil }
        for program in [all, client, some, others] {
            program.signal(SIGINT)
            #expect(await program.end() == 0)
        }
        #expect(all.lines.contains { $0.contains("> car/cluster") && $0.contains("UpdateTripEstimates") })
        #expect(!client.lines.contains { $0.contains("waymark-navigate") })
        let messages = some.lines.dropFirst()
        #expect(messages.contains { $0.contains("StartGuidance") })
        #expect(messages.allSatisfy { $0.contains("UpdateTripEstimates") || $0.contains("StartGuidance") })
        #expect(others.lines.contains { $0.contains("UpdateTripEstimates") })
        #expect(!others.lines.contains { $0.contains("UpdateManeuverEstimates") })
        let wrong = try Program("waymark", ["watch", "--message", "TripEstimate"])
        #expect(await wrong.end() == 64)
        try await wrong.errorLine { $0.contains("did you mean TripEstimates") ? $0 : nil }
        try await daemon.stop()
    }

    @Test func `the rules of lint are listed`() async throws {
        let (status, lines) = try await Self.run("lint", "--list")
        #expect(status == 0)
        #expect(lines.count > 10)
        #expect(lines.allSatisfy { $0.contains("  ") })
    }

    // MARK: Routes and drives

    @Test func `what was left out of a route is listed, and only then`() async throws {
        let shown = try await Self.run("routes", "show", "--notices", Self.route)
        #expect(shown.lines.contains { $0.hasPrefix("note: routes[0].weight: not carried over") })
        let daemon = try await RunningDaemon.start()
        for arguments in [["--notices"], []] {
            let navigate = try Program(
                "waymark",
                [
                    "navigate", "--vehicle", "ghost", "--await-timeout", "0.05", "--route", Self.route,
                    "--connect",
                    daemon.navigation,
                ] + arguments)
            #expect(await navigate.end() == 4)
            await navigate.errorsEnd()
            let notes = navigate.errorLines.filter { $0.hasPrefix("note: ") }
            #expect(notes.isEmpty == arguments.isEmpty, "\(notes)")
        }
        let listed = try Program(
            "waymark", ["navigate", "--notices", "--route", Self.route, "--connect", "unix:/nope"])
        #expect(await listed.end() == 1)
        try await listed.errorLine { $0.hasPrefix("note: routes[0].weight") ? $0 : nil }
        try await daemon.stop()
    }

    @Test func `the side of traffic is the one that is given`() async throws {
        let shown = try await Self.run(
            "routes", "show", "--format", "json", "--traffic-side", "left", Self.route)
        #expect(shown.lines.joined().contains(#""trafficSide":"left""#))
        #expect(!shown.lines.joined().contains(#""trafficSide":"right""#))
        let daemon = try await RunningDaemon.start()
        let cluster = try daemon.waymark("cluster", "--id", "car", "--json", "--until", "finished")
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "car", "--speed", "10000", "--traffic-side", "left", "--route",
            Self.route)
        #expect(await navigate.end() == 0)
        #expect(await cluster.end() == 0)
        #expect(cluster.lines.contains { $0.contains(#""trafficSide":"left""#) })
        #expect(!cluster.lines.contains { $0.contains(#""trafficSide":"right""#) })
        try await daemon.stop()
    }

    @Test func `a route is exported by its number`() async throws {
        let only = try await Self.run("routes", "export", "--number", "1", Self.route)
        #expect(only.status == 0)
        #expect(only.lines.joined().contains("LineString"))
        #expect(try await Self.run("routes", "export", "--number", "2", Self.route).status == 1)
    }

    @Test func `the demo drives along a route that is given`() async throws {
        let demo = try Program("waymark", ["demo", "--json", "--speed", "2000", "--route", Self.route])
        #expect(await demo.end() == 0)
        #expect(demo.lines.contains { $0.contains("finishGuidance") })
    }

    // MARK: Requests of vehicles

    @Test func `a destination request has a name and a limit`() async throws {
        let daemon = try await RunningDaemon.start()
        let watch = try Program("waymark", ["watch", "--json", "--connect", daemon.observer])
        try await watch.line(containing: "synchronized")
        let request = try Program(
            "waymark",
            [
                "request", "destination", "47.1,9.5", "--name", "Castle", "--id", "car", "--timeout", "60",
                "--connect", daemon.vehicle,
            ])
        #expect(await request.end() == 2)
        try await watch.line { $0.contains("destinationRequest") && $0.contains("Castle") ? $0 : nil }
        for command in [["share-accept"], ["route-source", "inactive"]] {
            let short = try Program(
                "waymark",
                ["request"] + command + ["--id", "car", "--timeout", "0.2", "--connect", daemon.vehicle])
            #expect([0, 1].contains(await short.end()))
        }
        watch.signal(SIGINT)
        await watch.end()
        try await daemon.stop()
    }

    @Test func `a stop is asked for in a segment`() async throws {
        let daemon = try await RunningDaemon.start()
        let watch = try Program("waymark", ["watch", "--json", "--connect", daemon.observer])
        try await watch.line(containing: "synchronized")
        let cluster = try daemon.waymark("cluster", "--id", "car", "--json")
        let navigate = try daemon.waymark("navigate", "--vehicle", "car", "--route", Self.route)
        try await cluster.line(containing: "startGuidance")
        let request = try Program(
            "waymark",
            [
                "request", "waypoint", "47.1,9.5", "--segment", "leg-1", "--id", "car", "--connect",
                daemon.vehicle,
            ])
        #expect(await request.end() == 2)
        try await watch.line { $0.contains("waypointRequest") && $0.contains("leg-1") ? $0 : nil }
        for program in [navigate, cluster, watch] {
            program.signal(SIGINT)
            await program.end()
        }
        try await daemon.stop()
    }

    // MARK: Replays and faults

    @Test func `a replay is of one vehicle, and by other settings`() async throws {
        let folder = try RunningDaemon.newFolder()
        let made = try await Self.run("test", "@gallery/many-vehicles", "--recordings", folder)
        #expect(made.status == 0)
        let file = "\(folder)/many-vehicles/seed-1.mcap"
        let all = try await Self.run("replay", file, "--compare")
        #expect(all.status == 0, "\(all.lines)")
        let one = try await Self.run("replay", file, "--compare", "--vehicle", "one")
        #expect(one.status == 0, "\(one.lines)")
        let none = try await Self.run("replay", file, "--vehicle", "ghost")
        #expect(none.status == 2)
        // The Welcome of other settings says another grace time.
        let settings = "\(folder)/settings.yaml"
        try "times: { grace: 77s }\n".write(toFile: settings, atomically: true, encoding: .utf8)
        let other = try await Self.run("replay", file, "--compare", "--settings", settings)
        #expect(other.status == 1)
        #expect(other.lines.joined().contains("what one/cluster receives  expected  Welcome"))
        try FileManager.default.removeItem(atPath: folder)
    }

    // MARK: The inspector

    @Test func `the inspector writes its link to a file, and serves a map`() async throws {
        let daemon = try await RunningDaemon.observed()
        let (link, map) = ("\(daemon.folder)/link", "\(daemon.folder)/map.geojson")
        try #"{"type":"FeatureCollection","features":[]}"#.write(
            toFile: map, atomically: true, encoding: .utf8)
        let inspect = try Program(
            "waymark",
            [
                "inspect", "--listen", "127.0.0.1:0", "--link-file", link, "--basemap", map, "--connect",
                daemon.watched,
            ])
        try await inspect.line(containing: "the link to the page is in \(link)")
        let url = try String(contentsOfFile: link, encoding: .utf8)
        let token = try #require(url.firstMatch(of: /token=(\S+)/).map { String($0.1) })
        #expect(!inspect.lines.joined().contains(token))
        let base = try #require(URL(string: String(url.prefix { $0 != "#" })))
        var session = URLRequest(url: base.appending(path: "session"))
        session.httpMethod = "POST"
        session.setValue("application/json", forHTTPHeaderField: "content-type")
        session.setValue(String("\(base)".dropLast()), forHTTPHeaderField: "origin")
        session.httpBody = Data(#"{"token":"\#(token)"}"#.utf8)
        let (_, opened) = try await URLSession.shared.data(for: session)
        #expect(
            (opened as? HTTPURLResponse)?.statusCode == 200 || (opened as? HTTPURLResponse)?.statusCode == 204
        )
        let cookie = try #require((opened as? HTTPURLResponse)?.value(forHTTPHeaderField: "Set-Cookie"))
        var question = URLRequest(url: base.appending(path: "basemap.geojson"))
        question.setValue(String(cookie.prefix { $0 != ";" }), forHTTPHeaderField: "Cookie")
        let (served, _) = try await URLSession.shared.data(for: question)
        #expect(String(decoding: served, as: UTF8.self).contains("FeatureCollection"))
        inspect.signal(SIGINT)
        #expect(await inspect.end() == 0)
        #expect(!FileManager.default.fileExists(atPath: link))
        try await daemon.stop()
    }

    @Test func `a link that cannot be written is an error with the system's reason`() async throws {
        let folder = try RunningDaemon.newFolder()
        // No file may have a single byte. A write to it fails, and does not end the program.
        let inspect = try Program(command: [
            "bash", "-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"",
            Program.folder.appending(path: "waymark").path, "inspect", "--listen", "127.0.0.1:0",
            "--link-file", "\(folder)/link", "--connect", "unix:/nope",
        ])
        #expect(await inspect.end() == 1)
        await inspect.errorsEnd()
        #expect(inspect.errorLines == ["Error: \(folder)/link cannot be written: file too large"])
        #expect(!FileManager.default.fileExists(atPath: "\(folder)/link"))
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test(
        .disabled(if: FileManager.default.fileExists(atPath: "/usr/bin/xdg-open"), "it would open a browser"))
    func `the inspector says that there is no browser to open`() async throws {
        let inspect = try Program(
            "waymark", ["inspect", "--open", "--listen", "127.0.0.1:0", "--connect", "unix:/nope"])
        try await inspect.errorLine { $0.contains("no browser can be opened") ? $0 : nil }
        try await inspect.line(containing: "http://127.0.0.1:")
        inspect.signal(SIGTERM)
        #expect(await inspect.end() == 0)
    }
}
