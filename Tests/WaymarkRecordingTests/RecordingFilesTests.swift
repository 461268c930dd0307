import Foundation
import Testing
import WaymarkProtocol

@testable import WaymarkRecording

@Suite struct RecordingFilesTests {
    private static let names = RecordingNames(prefix: "rig")
    private static let now = RecordingTime(nanoseconds: 1_795_425_300_000_000_000)

    private static func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rec-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    @Test func `names say when a file began, and only they are known again`() throws {
        let names = try #require(Self.names)
        #expect(names.name(Self.now, number: 1) == "rig-20261123T091500Z-001.mcap")
        #expect(names.name(Self.now, number: 1_234) == "rig-20261123T091500Z-1234.mcap")
        #expect(names.order(of: "rig-20261123T091500Z-001.mcap")?.number == 1)
        for name in [
            "rig.mcap", "rig-20261123T091500Z-001.mcap.bak", "rig-2-20261123T091500Z-001.mcap",
            "other-20261123T091500Z-001.mcap", "rig-20261123T091500Z-1.mcap", "rig-notes-001.mcap",
            "rig-20261123T091500Z-0001.mcap", "rig-20261123X091500Z-001.mcap",
        ] {
            #expect(names.order(of: name) == nil, "\(name)")
        }
        for prefix in ["", ".hidden", "a/b", "a b", String(repeating: "a", count: 65)] {
            #expect(RecordingNames(prefix: prefix) == nil)
        }
    }

    @Test func `the oldest of its own files expire by size and by age, never the present one`() throws {
        let names = try #require(Self.names)
        func file(_ name: String, _ bytes: UInt64) -> RecordingNames.File {
            .init(name: name, byteCount: bytes, modified: Self.now)
        }
        let files = [
            file("rig-20261123T060000Z-010.mcap", 100), file("rig-20261123T050000Z-009.mcap", 100),
            file("rig-20261121T050000Z-001.mcap", 100), file("rig-20261123T070000Z-1000.mcap", 100),
            file("notes.mcap", 5_000), file("other-20261121T050000Z-001.mcap", 5_000),
        ]
        let own = names.own(files)
        func expired(_ bytes: UInt64, _ hours: Int) -> [String] {
            names.expired(
                own, ages: [49, 2, 1, 0].map { .seconds($0 * 3_600) },
                except: "rig-20261123T070000Z-1000.mcap", keepBytes: bytes,
                keepDuration: .seconds(hours * 3_600)
            ).map(\.name)
        }
        #expect(expired(400, 50) == [])
        #expect(expired(399, 50) == ["rig-20261121T050000Z-001.mcap"])
        #expect(expired(400, 48) == ["rig-20261121T050000Z-001.mcap"])
        #expect(
            expired(250, 50) == ["rig-20261121T050000Z-001.mcap", "rig-20261123T050000Z-009.mcap"])
        #expect(expired(0, 0).count == 3)
    }

    @Test func `a folder keeps to its size, and other files stay`() throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let foreign = folder.appending(path: "rig-notes.mcap")
        try Data("mine".utf8).write(to: foreign)
        var options = Recorder.Options()
        // The schema alone is 30 kB, and is in a file twice.
        (options.fileBytesMax, options.chunkBytesMax) = (120_000, 2_000)
        // Each waits for the disk.
        options.syncInterval = .seconds(1_000_000)
        var drive = Drive(options)
        var files = RecordingFiles(
            try RecordingFolder(path: folder.path), try #require(Self.names), keepBytes: 300_000,
            keepDuration: .seconds(1_000_000_000_000))
        drive.begin()
        for place in 0..<1_500 {
            drive.publish("Road \(place)")
            try files.perform(drive.actions, at: drive.moment)
            drive.actions = []
        }
        drive.handle(.ended)
        try files.perform(drive.actions, at: drive.moment)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names.contains("rig-notes.mcap"))
        #expect(names.count == 3 || names.count == 4)
        #expect(drive.recorder.counts.files > 5)
        for name in names where name != "rig-notes.mcap" {
            let recording = try Recording(try FileSource(path: folder.appending(path: name).path))
            #expect(recording.index.isWhole)
        }
    }

    @Test func `a full disk leaves a file that is readable up to its last whole chunk`() throws {
        var options = Recorder.Options()
        options.chunkBytesMax = 2_000
        var drive = Drive(options)
        var storage = MemoryStorage()
        storage.byteCountMax = 90_000
        var files = RecordingFiles(
            storage, try #require(Self.names), keepBytes: .max, keepDuration: .seconds(1_000_000))
        drive.begin()
        var failure: RecordingError?
        for place in 0..<3_000 where failure == nil {
            drive.publish("Road \(place)")
            do throws(RecordingError) { try files.perform(drive.actions, at: drive.moment) } catch {
                failure = error
            }
            drive.actions = []
        }
        #expect(failure.map { "\($0)" } == "no space left on device")
        files.close()
        #expect(!files.storage.isOpen)
        let recording = try Recording(Bytes(try #require(files.storage.stored.first).bytes))
        #expect(!recording.index.isWhole)
        #expect(try recording.entries().count > 100)
    }

    @Test func `a file that cannot be removed does not end the recording`() throws {
        var options = Recorder.Options()
        (options.fileBytesMax, options.chunkBytesMax) = (100_000, 2_000)
        var drive = Drive(options)
        var files = RecordingFiles(
            MemoryStorage(), try #require(Self.names), keepBytes: 150_000, keepDuration: .seconds(1_000_000))
        drive.begin()
        for place in 0..<500 { drive.publish("Road \(place)") }
        drive.handle(.ended)
        try files.perform(drive.actions, at: drive.moment)
        let unremoved = try #require(files.unremoved)
        #expect(unremoved.name == files.storage.stored[0].name)
        #expect(files.storage.stored.count > 2)
    }

    @Test func `repair mends a file in place, and leaves one alone that is being recorded`() throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        var drive = Drive()
        drive.begin()
        for place in 0..<50 { drive.publish("Road \(place)") }
        drive.handle(.tick)
        var files = RecordingFiles(
            try RecordingFolder(path: folder.path), try #require(Self.names), keepBytes: .max,
            keepDuration: .seconds(1_000_000_000_000))
        try files.perform(drive.actions, at: RecordingMoment(Self.now))
        let path = folder.appending(path: try #require(files.current)).path
        #expect(throws: RecordingError.unsupported("it is being recorded")) {
            try RecordingRepair.repair(path: path)
        }
        files.close()
        let before = try Recording(try FileSource(path: path))
        #expect(!before.index.isWhole)
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data([6, 1, 2, 3]))
        try handle.close()
        let result = try RecordingRepair.repair(path: path)
        #expect(result.removedByteCount == 4)
        let after = try Recording(try FileSource(path: path))
        #expect(after.index.isWhole)
        #expect(result.messageCount == after.index.statistics.messageCount)
        #expect(after.index.statistics == before.index.statistics)
        #expect(try RecordingRepair.repair(path: path).wasWhole)
        #expect(throws: RecordingError.failed(2)) { try RecordingRepair.repair(path: path + "x") }
    }

    @Test func `what is no recording is refused with the reason`() throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "text").path
        try Data("no recording at all".utf8).write(to: URL(filePath: path))
        #expect(throws: RecordingError.notMCAP) { try Recording(try FileSource(path: path)) }
        #expect(throws: RecordingError.unsupported("it is no regular file")) {
            try FileSource(path: folder.path)
        }
    }
}
