import Foundation
import Testing

/// The options of `waymark record` that decide how files are divided and kept.
@Suite(.timeLimit(.minutes(5))) struct RecordOptionTests {
    private static func files(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".mcap") }.sorted()
    }

    /// A file of an earlier recorder, written at a time.
    private static func leave(_ number: Int, daysAgo: Double, byteCount: Int, in folder: String) throws {
        let path = "\(folder)/waymark-20261101T000000Z-00\(number).mcap"
        try Data(count: byteCount).write(to: URL(filePath: path))
        try FileManager.default.setAttributes(
            [.modificationDate: Date().addingTimeInterval(-daysAgo * 86_400)], ofItemAtPath: path)
    }

    /// Records for a moment; returns the names of the files that are there then.
    private static func kept(_ daemon: RunningDaemon, _ folder: String, _ record: Program) async throws
        -> [String]
    {
        try await record.line(containing: "recording to")
        record.signal(SIGINT)
        #expect(await record.end() == 0)
        return try Self.files(in: folder).map { String($0.suffix(8)) }
    }

    @Test func `files are kept by their sizes, the oldest go first`() async throws {
        let daemon = try await RunningDaemon.observed()
        let folder = "\(daemon.folder)/rec"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // The time in a name, and the date of a file, are no order.
        for (number, daysAgo) in [(1, 0.1), (2, 5), (3, 0.2)] {
            try Self.leave(number, daysAgo: daysAgo, byteCount: 900_000, in: folder)
        }
        let record = try daemon.waymark(
            "record", "--to", folder, "--max-file", "1MiB", "--keep", "2MiB", "--max-hours", "1")
        #expect(
            try await Self.kept(daemon, folder, record) == ["002.mcap", "003.mcap", "004.mcap"].map { $0 })
        try await daemon.stop()
    }

    @Test func `files are kept by their ages, and by those of others, not by the date`() async throws {
        let daemon = try await RunningDaemon.observed()
        let folder = "\(daemon.folder)/rec"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // The last one was written a year ago: the others count from then, and each pause counts a day at most.
        for (number, daysAgo) in [(1, 370), (2, 368.5), (3, 367), (4, 365.5), (5, 365)] {
            try Self.leave(number, daysAgo: daysAgo, byteCount: 100, in: folder)
        }
        let record = try daemon.waymark("record", "--to", folder, "--keep-days", "2")
        #expect(
            try await Self.kept(daemon, folder, record)
                == ["003.mcap", "004.mcap", "005.mcap", "006.mcap"].map { $0 })
        try await daemon.stop()
    }

    @Test func `a file ends after the longest time, and the next has the next number`() async throws {
        let daemon = try await RunningDaemon.observed()
        let folder = "\(daemon.folder)/rec"
        let record = try daemon.waymark("record", "--to", folder, "--max-hours", "0.0002")
        for number in ["001", "002", "003"] { try await record.line(containing: "-\(number).mcap") }
        record.signal(SIGTERM)
        #expect(await record.end() == 143)
        try await daemon.stop()
    }

    @Test func `only a vehicle that was asked for is recorded, and shown with all`() async throws {
        let daemon = try await RunningDaemon.observed()
        let folder = "\(daemon.folder)/rec"
        let record = try daemon.waymark("record", "--to", folder, "--vehicle", "car")
        try await record.line(containing: "recording to")
        for id in ["car", "van"] {
            let cluster = try daemon.waymark("cluster", "--id", id, "--until", "finished")
            try await cluster.line(containing: "connected")
            let navigate = try daemon.waymark(
                "navigate", "--vehicle", id, "--speed", "10000", "--route",
                ProgramTests.route("vaduz-balzers"))
            #expect(await navigate.end() == 0)
            #expect(await cluster.end() == 0)
        }
        record.signal(SIGINT)
        #expect(await record.end() == 0)
        let file = "\(folder)/\(try #require(try Self.files(in: folder).first))"
        let some = try Program("waymark", ["recording", "show", file])
        #expect(await some.end() == 0)
        let all = try Program("waymark", ["recording", "show", "--all", file])
        #expect(await all.end() == 0)
        #expect(all.lines.count > some.lines.count)
        #expect(all.lines.contains { $0.contains("> car/cluster") && $0.contains("UpdateTripEstimates") })
        #expect(some.lines.contains { $0.contains("> car ") })
        #expect(!all.lines.contains { $0.contains("van") })
        try await daemon.stop()
    }
}
