import Foundation
import Testing

/// `waymark record` beside real peers, and `waymark recording`. Tests/Python/test_recording.py reads recordings by another program.
@Suite(.timeLimit(.minutes(5))) struct RecordingTests {
    private static func files(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".mcap") }.sorted()
            .map { "\(folder)/\($0)" }
    }

    private static func run(_ arguments: String...) async throws -> (status: Int32, lines: [String]) {
        let program = try Program("waymark", arguments)
        return (await program.end(), program.lines)
    }

    @Test func `a recorded drive is shown as watch would have, from any time on`() async throws {
        let daemon = try await RunningDaemon.observed()
        let record = try daemon.waymark("record", "--to", "\(daemon.folder)/rec", "--name", "rig")
        let watch = try daemon.waymark("watch")
        try await watch.line(containing: "watching")
        try await record.line(containing: "recording to \(daemon.folder)/rec/rig-")
        let cluster = try daemon.waymark("cluster", "--id", "car", "--until", "finished")
        try await cluster.line(containing: "connected")
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "car", "--speed", "10000", "--route", ProgramTests.route("vaduz-balzers")
        )
        #expect(await navigate.end() == 0)
        #expect(await cluster.end() == 0)
        try await watch.line { $0.contains("car/cluster ") && $0.hasSuffix(" left") ? $0 : nil }
        let file = try #require(try Self.files(in: "\(daemon.folder)/rec").first)
        // Both are told of it, but either may read it first. What has crossed is in the file after a second.
        while try await !Self.run("recording", "show", file).lines.contains(where: {
            $0.contains("car/cluster ") && $0.hasSuffix(" left")
        }) {}
        for program in [watch, record] { program.signal(SIGINT) }
        #expect(await watch.end() == 0)
        #expect(await record.end() == 0)
        let shown = try await Self.run("recording", "show", file)
        #expect(shown.status == 0)
        // The times of two observers may differ by a millisecond.
        func texts(_ lines: [String]) -> [Substring] {
            lines.map { $0.dropFirst(14) }.filter { !$0.hasPrefix("--") }
        }
        let watched = texts(watch.lines)
        #expect(watched.count > 20)
        #expect(Array(texts(shown.lines).prefix(watched.count)) == watched)

        let later = try await Self.run("recording", "show", "--at", "10min", file)
        #expect(later.lines.count == 1)
        #expect(later.lines.first?.hasSuffix("-- 0 vehicles, 0 clients, 0 sessions") == true)
        let info = try await Self.run("recording", "info", file)
        #expect(info.status == 0)
        #expect(info.lines.first == file)
        #expect(info.lines.contains { $0.contains("waymark-navigate") })
        #expect(info.lines.dropFirst().allSatisfy { $0.count <= 80 })
        try await daemon.stop()
    }

    @Test func `the state of a drive that is being recorded has what its session retains`() async throws {
        let daemon = try await RunningDaemon.observed()
        let record = try daemon.waymark("record", "--to", daemon.folder)
        try await record.line(containing: "recording to")
        let file = try #require(try Self.files(in: daemon.folder).first)
        let cluster = try daemon.waymark("cluster", "--id", "car")
        try await cluster.line(containing: "connected")
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "car", "--speed", "1", "--route", ProgramTests.route("vaduz-balzers"))
        // What has crossed is in the file after a second.
        var shown: [String]
        repeat {
            shown = try await Self.run("recording", "show", "--at", "1h", file).lines
        } while !shown.contains { $0.contains("    StartGuidance 1: ") }
        #expect(shown.first?.hasSuffix("-- 1 vehicle, 1 client, 1 session") == true)
        #expect(
            shown.contains {
                $0.hasPrefix("  session ") && $0.hasSuffix(" of waymark-navigate, active, for car")
            })
        record.signal(SIGTERM)
        #expect(await record.end() == 143)
        for program in [navigate, cluster] {
            program.signal(SIGTERM)
            await program.end()
        }
        let info = try await Self.run("recording", "info", file)
        #expect(!info.lines.contains { $0.contains("not ended") })
        try await daemon.stop()
    }

    @Test func `without places nothing of them is recorded`() async throws {
        let daemon = try await RunningDaemon.observed()
        let record = try daemon.waymark("record", "--to", daemon.folder, "--redact", "places")
        try await record.line(containing: "recording to")
        let watch = try daemon.waymark("watch", "--json")
        try await watch.line(containing: "\"synchronized\"")
        let cluster = try daemon.waymark("cluster", "--id", "car", "--until", "finished")
        try await cluster.line(containing: "connected")
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "car", "--speed", "10000", "--route", ProgramTests.route("vaduz-balzers")
        )
        #expect(await navigate.end() == 0)
        #expect(await cluster.end() == 0)
        try await watch.line { $0.contains("\"departed\"") && $0.contains("car/cluster") ? $0 : nil }
        for program in [watch, record] { program.signal(SIGINT) }
        await watch.end()
        #expect(await record.end() == 0)
        #expect(watch.lines.contains { $0.contains("Landstrasse") })
        let file = try #require(try Self.files(in: daemon.folder).first)
        let content = try Data(contentsOf: URL(filePath: file))
        #expect(content.range(of: Data("car/cluster".utf8)) != nil)
        for name in ["Landstrasse", "Städtle", "Vaduz"] {
            #expect(content.range(of: Data(name.utf8)) == nil, "\(name)")
        }
        try await daemon.stop()
    }

    @Test func `a restarted daemon gets a file of its own, and a recorder that was killed a repair`()
        async throws
    {
        let daemon = try await RunningDaemon.observed()
        let record = try daemon.waymark("record", "--to", daemon.folder)
        try await record.until("-001.mcap")
        daemon.program.signal(SIGKILL)
        await daemon.program.end()
        let again = try await RunningDaemon.observed(in: daemon.folder)
        try await record.until("-002.mcap")
        let first = try #require(try Self.files(in: daemon.folder).first)
        let info = try await Self.run("recording", "info", first)
        #expect(!info.lines.contains { $0.contains("not ended") })
        let second = try #require(try Self.files(in: daemon.folder).last)
        let early = try await Self.run("recording", "repair", second)
        #expect(early.status == 1)
        record.signal(SIGKILL)
        await record.end()
        let repair = try await Self.run("recording", "repair", second)
        #expect(repair.status == 0)
        let whole = try await Self.run("recording", "repair", second)
        #expect(whole.lines == ["\(second) is whole"])
        try await again.stop()
    }

    @Test func `a recorder that cannot write or connect says why`() async throws {
        let folder = try RunningDaemon.newFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let nothing = try Program("waymark", ["record", "--connect", "unix:/nowhere", "--to", folder])
        try await nothing.errorLine { $0.contains("is waymarkd running?") ? $0 : nil }
        #expect(await nothing.end() == 1)
        #expect(try Self.files(in: folder).isEmpty)
        let nowhere = try Program("waymark", ["record", "--to", "/proc/nowhere/rec"])
        try await nowhere.errorLine {
            $0.contains("/proc/nowhere/rec cannot be used: no such file") ? $0 : nil
        }
        #expect(await nowhere.end() == 1)
        let missing = try Program("waymark", ["recording", "info", "\(folder)/missing.mcap"])
        try await missing.errorLine { $0.contains("cannot be read: no such file or directory") ? $0 : nil }
        #expect(await missing.end() == 1)
    }
}
