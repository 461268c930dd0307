import ArgumentParser
import Foundation
import Sweeps
import Testing
import WaymarkRecording
import WaymarkRig

@testable import WaymarkCommandLine

/// Some of the gallery, or a part of it with `WAYMARK_GALLERY`, a `SweepPart`.
@Suite struct ReplayedGalleryTests {
    private static let some = [
        "client-lost-and-back", "client-with-priority", "connection-cut-within-a-frame", "display-joins-late",
        "gateway-dies", "gateway-restarts", "short-texts", "slow-cluster-misses-no-event", "stop-accepted",
        "stop-withdrawn",
    ]

    private static var names: [String] {
        guard let part = SweepPart("WAYMARK_GALLERY") else { return Self.some }
        return part.cases(of: Resources.scenarioNames).map { String($0.dropLast(ScenarioFiles.suffix.count)) }
    }

    @Test(arguments: Self.names) func `the recording of a run replays equal`(_ name: String) throws {
        let recording = try Self.recording("\(ScenarioFiles.gallery)/\(name)")
        let conversation = try RecordedConversation(recording)
        #expect(conversation.omissions.isEmpty)
        let result = try ReplayRun.run(conversation)
        let report = ReplayReport(conversation, result, isCompared: true, file: name)
        #expect(report.isAsRecorded, "\(report.lines(took: .zero).joined(separator: "\n"))")
        // It also becomes a scenario, which is run before it is returned.
        let text = try ReplayScenario.text(conversation, recordingName: "a", source: "b")
        #expect(text.contains("compare: true"))
    }

    /// Runs a scenario, and records it.
    private static func recording(_ file: String) throws -> Recording {
        let ready = try #require(ScenarioFiles([file]).ready.first)
        let (result, history) = ScenarioRun.run(ready.scenario, ready.inputs)
        #expect(result.hasPassed)
        var run = RunRecording(result)
        run.attachments = ready.inputs.sources
        var bytes: [UInt8] = []
        try run.write(history) { bytes += $0 }
        return try Recording(RecordedBytes(bytes: bytes))
    }

    @Test func `a recording becomes a scenario and its own recording, which are run like others`()
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "waymark-replay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { do { try FileManager.default.removeItem(at: folder) } catch {} }
        func path(_ name: String) -> String { folder.appending(path: name).path() }
        let recording = try Self.recording("\(ScenarioFiles.gallery)/stop-asked-of-the-driver")
        let source = try #require(recording.source as? RecordedBytes)
        try Data(source.bytes).write(to: URL(filePath: path("field.mcap")))
        try await Replay.parse([path("field.mcap"), "--to-scenario", path("stop.scenario.yaml")]).run()
        let files = ScenarioFiles([path("stop.scenario.yaml")])
        #expect(files.errors == [])
        let ready = try #require(files.ready.first)
        #expect(ScenarioRun.run(ready.scenario, ready.inputs).result.hasPassed)

        // Another client in place of the recorded one: it declines.
        let text = try String(contentsOfFile: path("stop.scenario.yaml"), encoding: .utf8)
        let changed = text.replacing(
            /client:\n    replay: .*\n/, with: "client: { route: vaduz-balzers, on-waypoint: decline }\n")
        #expect(changed != text)
        try changed.write(toFile: path("other.scenario.yaml"), atomically: true, encoding: .utf8)
        let other = try #require(ScenarioFiles([path("other.scenario.yaml")]).ready.first)
        let failed = ScenarioRun.run(other.scenario, other.inputs).result.expectations.filter {
            !$0.hasPassed
        }
        #expect(failed.contains { $0.text.contains("requestOutcome") })

        // A file that is there stays.
        await #expect(throws: (any Error).self) {
            try await Replay.parse([path("field.mcap"), "--to-scenario", path("stop.scenario.yaml")]).run()
        }
        await #expect(throws: (any Error).self) {
            try await Replay.parse([path("stop.scenario.yaml"), "--compare"]).run()
        }
    }
}

private struct RecordedBytes: ByteSource {
    let bytes: [UInt8]
    var byteCount: UInt64 { UInt64(self.bytes.count) }
    func read(_ range: Range<UInt64>) -> [UInt8] {
        Array(self.bytes[Int(range.lowerBound)..<Int(range.upperBound)])
    }
}
