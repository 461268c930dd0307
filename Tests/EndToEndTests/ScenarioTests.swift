import Foundation
import FoundationXML
import Sweeps
import Testing

/// `waymark test` as a program.
@Suite(.timeLimit(.minutes(10))) struct ScenarioTests {
    private let folder: URL

    init() throws {
        self.folder = FileManager.default.temporaryDirectory.appending(
            path: "t-\(UInt32.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
    }

    private func write(_ name: String, _ text: String) throws -> String {
        let file = self.folder.appending(path: name)
        try text.write(to: file, atomically: true, encoding: .utf8)
        return file.path
    }

    private func read(_ name: String) throws -> Data {
        try Data(contentsOf: self.folder.appending(path: name))
    }

    private func path(_ name: String) -> String { self.folder.appending(path: name).path }

    /// Runs `waymark test`, which records nothing unless it is told where; returns its status and output.
    private func test(_ arguments: String...) async throws -> (status: Int32, output: [String]) {
        let recordings = arguments.contains("--recordings") ? [] : ["--no-recordings"]
        return try await self.waymark(["test"] + arguments + recordings)
    }

    private func waymark(_ arguments: [String]) async throws -> (status: Int32, output: [String]) {
        let program = try Program("waymark", arguments)
        let status = await program.end()
        return (status, program.lines)
    }

    private static let good = "route: vaduz-balzers\nspeed: 20\nended: finished\n"
    private static let bad = """
        route: vaduz-balzers
        steps:
          - at: 1km
            expect: { eventually: { next.type: uTurn }, within: 2s }

        """

    @Test func `with --app an app that something else started takes the place of the client`() async throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let file = try self.write(
            "app.scenario.yaml",
            """
            route: vaduz-balzers
            connect-within: 1min
            steps:
              - when: { state: { phase: active } }
                within: 1min
                expect: { eventually: { next.type: "~." }, within: 10s }

            """)
        let address = "tcp:127.0.0.1:\(Int.random(in: 20_000...32_000))"
        let test = try Program("waymark", ["test", file, "--app", address, "--no-recordings"])
        let app = try Program(
            "waymark",
            [
                "navigate", "--vehicle", "dut", "--id", "my-app", "--wait", "60", "--connect", address,
                "--route", ProgramTests.route("vaduz-balzers"),
            ])
        #expect(await test.end() == 0, "\(test.lines)")
        app.signal(SIGINT)
        await app.end()
        for wrong in [["--clock", "virtual"], ["--jobs", "2"]] {
            let refused = try Program("waymark", ["test", file, "--app", address] + wrong)
            #expect(await refused.end() == 64)
        }
    }

    @Test func `the exit status says whether all passed, one failed, one is wrong, or there was none`()
        async throws
    {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let (good, bad) = (
            try self.write("good.scenario.yaml", Self.good), try self.write("bad.scenario.yaml", Self.bad)
        )
        let wrong = try self.write("wrong.scenario.yaml", "rout: vaduz-balzers\n")
        let empty = self.folder.appending(path: "empty")
        try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)

        let passed = try await self.test(good)
        #expect(passed.status == 0)
        #expect(passed.output.last?.hasPrefix("1 passed (virtual, ") == true)
        let failed = try await self.test(good, bad)
        #expect(failed.status == 1)
        #expect(failed.output.last?.hasPrefix("1 failed, 1 passed (virtual, ") == true)
        #expect(failed.output.contains { $0.hasPrefix("  expected  ") })
        #expect(failed.output.contains("  again     waymark test \(bad) --seed 1") || bad.count > 40)
        let refused = try await self.test(good, wrong)
        #expect(refused.status == 2)
        #expect(refused.output == [])
        #expect(try await self.test(empty.path).status == 5)
    }

    @Test func `errors begin with the word, also those of a file and of what replays it`() async throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let wrong = try self.write("wrong.scenario.yaml", "rout: vaduz-balzers\nroute: nowhere\n")
        for arguments in [["test", wrong], ["replay", wrong], ["recording", "info", wrong]] {
            let program = try Program("waymark", arguments)
            try await program.errorLine { $0.hasPrefix("Error: \(wrong)") ? $0 : nil }
            #expect(await program.end() != 0)
        }
        let relative = [
            ["test", wrong, "--against", "unix:./p"], ["watch", "--connect", "unix:./p"],
            ["proxy", "--listen", "unix:./p", "--to", "unix:/p"],
            ["proxy", "--listen", "unix:/p", "--to", "unix:./p"],
        ]
        for arguments in relative {
            let program = try Program("waymark", arguments)
            try await program.errorLine {
                $0.contains("unix:./p: a Unix socket needs the whole path of a file") ? $0 : nil
            }
            #expect(await program.end() == 64)
        }
    }

    @Test func `in a terminal, a scenario by the real clock is told when it begins`() async throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let short = try self.write(
            "short.scenario.yaml",
            "route: vaduz-balzers\nsteps: [{ after: 100ms, expect: { eventually: { shows: none }, within: 1s } }]\n"
        )
        let waymark = Program.folder.appending(path: "waymark").path
        let terminal = try Program(command: [
            "script", "--quiet", "--return", "--command",
            "'\(waymark)' test --no-recordings --clock real '\(short)'", "/dev/null",
        ])
        try await terminal.line(containing: "running \(short) by the real clock, seed 1")
        await terminal.end()
        let pipe = try Program("waymark", ["test", "--no-recordings", "--clock", "real", short])
        await pipe.end()
        #expect(!pipe.lines.contains { $0.hasPrefix("running ") })
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `an interrupted run leaves whole files of the scenarios that ran to the end`(_ signal: Int32)
        async throws
    {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let head = "route: vaduz-balzers\nsteps: [{ after:"
        let short = try self.write("a.scenario.yaml", "\(head) 100ms }]\n")
        let long = try self.write("b.scenario.yaml", "\(head) 50min }]\n")
        let (junit, report) = (self.folder.path + "/junit.xml", self.folder.path + "/report.html")
        let test = try Program(
            "waymark",
            [
                "test", "--no-recordings", "--clock", "real", "--jobs", "1", "--junit", junit, "--report",
                report,
                short, long,
            ])
        try await test.line(containing: "passed")
        test.signal(signal)
        try await test.errorLine { $0 == "interrupted: 1 of 2 scenarios ran to the end" ? $0 : nil }
        #expect(await test.end() == 128 + signal)
        let xml = try String(contentsOfFile: junit, encoding: .utf8)
        #expect(xml.hasPrefix("<?xml") && xml.hasSuffix("</testsuites>\n"))
        #expect(xml.contains("a.scenario.yaml") && !xml.contains("b.scenario.yaml"))
        #expect(try String(contentsOfFile: report, encoding: .utf8).contains("</html>"))
    }

    @Test func `two processes write the same trace, to the byte, and another seed another one`() async throws
    {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let scenario = try self.write(
            "chaos.scenario.yaml",
            """
            route: vaduz-balzers
            speed: 4
            vehicle: { endpoints: { cluster: { profile: two-maneuvers }, hud: {} } }
            faults: [{ link: '*', kind: chaos, every: 5s, for: 60s }]
            steps: [{ at: 2km, do: { as: dut/cluster, request: { waypoint: [47.0756, 9.5076], name: Charging } } }]
            ended: finished
            at-most: 10min
            allow: \(Self.everyRule)
            """)
        var traces: [Data] = []
        for (name, seed) in [("a", "1"), ("b", "1"), ("c", "2")] {
            let status = try await self.test(scenario, "--seed", seed, "--trace", self.path(name)).status
            #expect(status == 0 || status == 1)
            traces.append(try self.read(name))
        }
        #expect(traces[0].count > 100_000)
        #expect(traces[0] == traces[1])
        #expect(traces[0] != traces[2])
    }

    /// With faults at random, clients and vehicles may do what rules find.
    private static let everyRule: String = {
        let rules = ["CLIENT-REJECTED", "VEHICLE-REJECTED", "DRIVE-SILENT", "READ-SLOW", "PROMPT-LATE"]
        return "[" + rules.map { "{ lint: LINT-\($0), reason: a rain of faults }" }.joined(separator: ", ")
            + "]"
    }()

    @Test func `the files for other tools say the same as the exit status`() async throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let (good, bad) = (
            try self.write("good.scenario.yaml", Self.good), try self.write("bad.scenario.yaml", Self.bad)
        )
        let run = try await self.test(
            good, bad, "--json", "--junit", self.path("junit.xml"), "--report", self.path("report.html"))
        #expect(run.status == 1)
        let objects = try run.output.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        try #require(objects.map { $0["verdict"] as? String } == ["passed", "failed"])
        #expect(objects.map { $0["file"] as? String } == [good, bad])
        let failed = try #require((objects[1]["expectations"] as? [[String: Any]])?.first)
        #expect(failed["line"] as? Int == 4)
        #expect((failed["differences"] as? [[String: String]])?.first?["path"] == "next.type")
        let parser = XMLParser(data: try self.read("junit.xml"))
        #expect(parser.parse())
        let report = String(decoding: try self.read("report.html"), as: UTF8.self)
        #expect(report.contains("1 failed, 1 passed"))
        #expect(report.contains("<svg"))
    }

    @Test(arguments: ["heidelberg-lanes", "singapore-left-hand", "vaduz-balzers", "vaduz-balzers-charging"])
    func `the first scenario of a route passes`(_ route: String) async throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let first = try await self.test("--init", route)
        #expect(first.status == 0)
        #expect(first.output.contains { $0.contains("eventually: { next.type: ") })
        let scenario = try self.write("first.scenario.yaml", first.output.joined(separator: "\n") + "\n")
        let run = try await self.test(scenario)
        #expect(run.status == 0, "\(first.output + run.output)")
    }

    @Test func `scenarios are listed without being run, and the schema is printed`() async throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let list = try await self.test("@gallery", "--list")
        #expect(list.status == 0)
        #expect(
            list.output.contains {
                $0.hasPrefix("@gallery/declined-stop.scenario.yaml: A stop that the client")
            })
        #expect(list.output.allSatisfy { $0.count <= 80 })
        let objects = try await self.test("@gallery", "--list", "--json").output
        #expect(objects.count >= 25)
        let schema = try await self.test("--schema")
        #expect(
            try JSONSerialization.jsonObject(with: Data(schema.output.joined(separator: "\n").utf8))
                is [String: Any])
    }

    @Test func `a file that cannot be written is an error before anything runs`() async throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let good = try self.write("good.scenario.yaml", Self.good)
        for option in ["--junit", "--report", "--trace"] {
            let run = try await self.test(good, option, "/nowhere/x")
            #expect(run.status == 2)
            #expect(run.output == [])
        }
    }

    @Test(arguments: ["--junit", "--report", "--trace"])
    func `a full disk is named with the file that is on it, and is no verdict`(_ option: String) async throws
    {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let good = try self.write("good.scenario.yaml", Self.good)
        let test = try Program("waymark", ["test", "--no-recordings", good, option, "/dev/full"])
        #expect(await test.end() == 2)
        await test.errorsEnd()
        #expect(test.errorLines == ["Error: /dev/full cannot be written: no space left on device"])
    }

    @Test func `two processes write the same recordings, to the byte`() async throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let names =
            SweepPart("WAYMARK_GALLERY")?.cases(of: ClockTests.gallery)
            ?? ["gateway-dies", "rain-of-faults", "stop-accepted", "slow-cluster-misses-no-event"]
        var bytes: [[String: Data]] = []
        for folder in ["a", "b"] {
            let run = try await self.waymark(
                ["test"] + names.map { "@gallery/\($0)" }
                    + ["--seed", "1..3", "--recordings", self.path(folder)])
            #expect(run.status == 0, "\(run.output)")
            var files: [String: Data] = [:]
            for name in try FileManager.default.subpathsOfDirectory(atPath: self.path(folder))
            where name.hasSuffix(".mcap") {
                files[name] = try Data(contentsOf: self.folder.appending(path: "\(folder)/\(name)"))
            }
            bytes.append(files)
        }
        #expect(bytes[0].count >= 3 * names.count)
        #expect(bytes[0].keys.sorted() == bytes[1].keys.sorted())
        for (name, data) in bytes[0] { #expect(data == bytes[1][name], "\(name)") }
    }

    @Test func `a failed scenario leaves a recording, which is shown, judged, and run again from itself`()
        async throws
    {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let bad = try self.write("bad.scenario.yaml", Self.bad)
        let run = try await self.test(bad, "--recordings", self.path("rec"))
        #expect(run.status == 1)
        let file = self.path("rec/bad/seed-1.mcap")
        #expect(run.output.joined().contains("rec/bad/seed-1.mcap"))
        let shown = try await self.waymark(["recording", "show", "--at", "0.1s", file])
        #expect(shown.status == 0)
        #expect(shown.output.contains { $0.contains("FAILED  4:13 ") }, "\(shown.output.suffix(3))")
        #expect(shown.output.first?.hasPrefix("00:00:00.100  -- 1 vehicle, 1 client, 1 session") == true)
        let lint = try await self.waymark(["lint", file])
        #expect(lint.status == 0, "\(lint.output)")
        #expect(lint.output.first?.contains("-- judging \(file), a run of \(bad), virtual, seed 1") == true)
        #expect(lint.output.last == "no findings")
        let files = try await self.waymark(["recording", "export", "--attachments", self.path("files"), file])
        #expect(files.status == 0)
        #expect(
            files.output
                == ["bad.scenario.yaml", "vaduz-balzers.json"].map { "\(self.path("files"))/\($0)" })
        let again = try await self.test(self.path("files/bad.scenario.yaml"))
        #expect(again.status == 1)
        // Files that are there stay.
        let twice = try await self.waymark(["recording", "export", "--attachments", self.path("files"), file])
        #expect(twice.status == 1)
    }

    @Test func `lint says by its status what it found, and what it could not read`() async throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let wrong = try self.write("no.mcap", "this is none")
        let run = try await self.waymark(["lint", wrong])
        #expect(run.status == 2)
        #expect(try await self.waymark(["lint", self.path("missing.mcap")]).status == 2)
        #expect(try await self.waymark(["lint"]).status == 64)
        #expect(try await self.waymark(["lint", "--live", wrong]).status == 64)
    }

    @Test func `a folder for recordings that cannot be made is an error before anything runs`() async throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let good = try self.write("good.scenario.yaml", Self.good)
        let run = try await self.test(good, "--recordings", "\(good)/x")
        #expect(run.status == 2)
        #expect(run.output == [])
    }

    @Test func `many seeds are summed up, and each that failed is told`() async throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let good = try self.write("good.scenario.yaml", Self.good)
        let run = try await self.test(good, "--seed", "1..4", "--jobs", "2")
        #expect(run.status == 0)
        #expect(run.output.joined(separator: " ").contains("with 4 of 4 seeds"))
        #expect(run.output.last?.hasPrefix("4 passed") == true)
    }
}
