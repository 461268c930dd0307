import Foundation
import RandomMessages
import Testing
import WaymarkLint
import WaymarkProtocol
import WaymarkRecording
import WaymarkRig

@testable import WaymarkCommandLine
@testable import WaymarkTexts

/// No recording stops a program that reads it, whatever it contains. `WAYMARK_SEEDS=1000` searches longer.
@Suite(.timeLimit(.minutes(60))) struct HostileRecordingTests {
    @Test(arguments: hostileSeeds(8), [false, true])
    func `a recording is shown, exported, judged and repaired, whatever it contains`(
        _ seed: UInt64, _ isDamaged: Bool
    ) throws {
        let file = HostileRecording(seed: seed, jumps: true, isDamaged: isDamaged)
        do throws(RecordingError) {
            let recording = try Recording(file)
            _ = RecordingSummary.lines(recording, name: "file", columns: 80)
            var report = RecordedReport(WatchReport.Options())
            var walk = RecordingWalk(recording, holdsContent: true, tellsStates: true)
            while let entry = try walk.next() {
                _ = RecordedJSON.line(entry, walk.state)
                _ = report.line(for: entry, walk.state)
            }
            if let times = recording.times {
                for time in [times.lowerBound, times.upperBound, RecordingTime(nanoseconds: .max)] {
                    let walk = try RecordingWalk(recording, from: time)
                    _ = report.lines(of: walk.state, at: time)
                }
            }
            var linter = RecordedLinter()
            try linter.judge(recording) { output in
                if case .finding(let finding, let time, _) = output {
                    _ = "\(time) \(ClockText.seconds(finding.instant))"
                }
            }
            var export = DecodedExport(recording)
            try export.write { _ in }
        } catch { /* What cannot be read is said. */  }
        try Self.repair(file)
    }

    private static func repair(_ file: HostileRecording) throws {
        let path = FileManager.default.temporaryDirectory.appending(
            path: "wm-\(UInt32.random(in: 0 ... .max)).mcap"
        ).path
        try Data(file.bytes).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        do throws(RecordingError) {
            _ = try RecordingRepair.repair(path: path)
            _ = try Recording(try FileSource(path: path))
        } catch { /* What cannot be repaired is said. */  }
    }

    @Test(arguments: hostileSeeds(8), [false, true])
    func `a recording is replayed, and made a scenario, whatever it contains`(
        _ seed: UInt64, _ isDamaged: Bool
    ) throws {
        let file = HostileRecording(seed: seed, jumps: false, isDamaged: isDamaged)
        do {
            let conversation = try RecordedConversation(try Recording(file))
            // A conversation of years is another matter: it takes its time.
            guard conversation.end < Instant(nanoseconds: 0) + .seconds(86_400) else { return }
            let result = try ReplayRun.run(conversation)
            let report = ReplayReport(conversation, result, isCompared: true, file: "file")
            _ = report.lines(took: .seconds(1))
            _ = try ReplayScenario.text(conversation, recordingName: "r.mcap", source: "r.mcap")
        } catch is RecordingError, is ReplayError { /* What cannot be replayed is said. */  }
    }

    @Test func `a date after the last one that a recording can have is a time that fits`() throws {
        let begin = RecordingTime(nanoseconds: 0)
        let time = try RecordingPlace("9999-12-31T23:59:59Z").time(in: begin...begin, .gmt)
        #expect(time == RecordingTime(nanoseconds: 10_000_000_000_000_000_000))
    }
}
