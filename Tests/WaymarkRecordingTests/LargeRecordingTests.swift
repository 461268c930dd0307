import Foundation
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkRecording

/// Writes a large recording, for scripts/measure/recording_speed.py: WAYMARK_LARGE_RECORDING has its folder, WAYMARK_LARGE_RECORDING_BYTES its
/// size.
@Suite struct LargeRecordingTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let folder = environment["WAYMARK_LARGE_RECORDING"]
    private static let byteCount = environment["WAYMARK_LARGE_RECORDING_BYTES"].flatMap(UInt64.init)

    /// Publications in one entry.
    private static let batchCount = 16

    @Test(.enabled(if: folder != nil, "WAYMARK_LARGE_RECORDING is not set"))
    func `a large recording is written`() throws {
        let byteCount = Self.byteCount ?? 10_000_000
        var options = Recorder.Options()
        options.fileBytesMax = .max
        options.fileDurationMax = .seconds(1_000_000)
        var drive = Drive(options)
        var files = RecordingFiles(
            try RecordingFolder(path: try #require(Self.folder)),
            try #require(RecordingNames(prefix: "large")), keepBytes: .max,
            keepDuration: .seconds(1_000_000_000_000))
        drive.begin()
        var written: UInt64 = 0
        while written < byteCount {
            for direction in ObservedFrames.Direction.allCases {
                drive.tell(.observedFrames(Self.batch(&drive, direction)))
            }
            if drive.number.isMultiple(of: 20) { drive.handle(.tick) }
            for case .write(let bytes) in drive.actions { written += UInt64(bytes.count) }
            try files.perform(drive.actions, at: drive.moment)
            drive.actions = []
        }
        drive.handle(.ended)
        try files.perform(drive.actions, at: drive.moment)
    }

    private static func batch(
        _ drive: inout Drive, _ direction: ObservedFrames.Direction
    ) -> ObservedFrames {
        drive.instant = drive.instant + .milliseconds(50)
        drive.number += 1
        var frames: [UInt8] = []
        for place in 0..<Self.batchCount {
            if direction == .in { drive.sequence += 1 }
            let name = String(repeating: "road \(drive.sequence + UInt64(place)) ", count: 12)
            let publication = Publication.currentRoadName([name])
            frames +=
                Codec.encode(
                    Envelope(.publication(publication), session: Drive.session, sequence: drive.sequence)
                ).bytes
        }
        var told = ObservedFrames(direction, frames)
        (told.number, told.instant, told.session) = (drive.number, drive.instant, Drive.session)
        if direction == .in { told.connection = Drive.client } else { told.audience = 5 }
        return told
    }
}
