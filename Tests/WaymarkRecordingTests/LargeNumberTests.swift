import Foundation
import Testing
import WaymarkCodec
import WaymarkProtocol

@testable import WaymarkRecording

/// Numbers at the ends of their ranges, in files and in what a gateway tells a recorder.
@Suite struct LargeNumberTests {
    @Test func `a file that says that it has more messages than can be counted has the largest number`() {
        var statistics = MCAP.Statistics()
        statistics.messages = [1: .max, 2: .max]
        #expect(statistics.messageCount == .max)
    }

    /// An audience of so many endpoints, all of one vehicle.
    private static func audience(of count: Int) -> ObservedRecords {
        var vehicle = VehicleRecord(VehicleID(unchecked: "car"))
        for number in 1...count {
            var endpoint = EndpointRecord(EndpointName(unchecked: "e\(number)"))
            (endpoint.connection, endpoint.audience) = (ConnectionID(UInt64(number)), 5)
            vehicle.endpoints.append(endpoint)
        }
        var records = ObservedRecords()
        records.vehicles = [vehicle]
        return records
    }

    private static func toAudience(_ number: UInt64) -> Message {
        var told = ObservedFrames(
            .out, Array(Codec.encode(Envelope(.publication(.currentRoadName(["A"])))).bytes))
        (told.number, told.audience) = (number, 5)
        return .observedFrames(told)
    }

    @Test func `an audience with more endpoints than a file has channels is in several files`() throws {
        var options = Recorder.Options()
        options.channelsMax = 8
        var drive = Drive(options)
        drive.begin()
        drive.tell(.observedRecords(Self.audience(of: 20)))
        drive.tell(Self.toAudience(1))
        drive.handle(.ended)
        let recordings = try drive.files.map { try Recording(Bytes($0)) }
        #expect(recordings.count > 2 && recordings.allSatisfy { $0.index.channels.count <= 10 })
        let peers = try recordings.flatMap { try $0.entries() }.compactMap { entry in
            if case .frame(let frame) = entry.content { frame.connections } else { nil }
        }
        #expect(peers.flatMap(\.self).count == 20)
    }

    @Test
    func `a gateway that names more connections than a file can before it has told its state is recorded`()
        throws
    {
        var drive = Drive()
        drive.handle(.welcomed(Drive.welcome()))
        drive.tell(.observedRecords(Self.audience(of: 66_000)))
        drive.tell(Self.toAudience(1))
        drive.handle(.ended)
        let recording = try Recording(Bytes(try #require(drive.files.first)))
        #expect(recording.index.channels.count == Int(UInt16.max))
    }

    @Test func `an export of more connections than a file can have says how many messages it lacks`() throws {
        var drive = Drive()
        drive.begin()
        drive.tell(.observedRecords(Self.audience(of: 40_000)))
        drive.tell(Self.toAudience(1))
        var export = DecodedExport(try drive.recording())
        try export.write { _ in }
        #expect(export.leftOutCount > 0 && export.messageCount + export.leftOutCount >= 80_000)
    }

    @Test(.enabled(if: FileManager.default.isWritableFile(atPath: "/dev/shm")))
    func `a file whose time is after all that can be said is as new as can be`() throws {
        let path = "/dev/shm/wm-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data().write(to: URL(filePath: "\(path)/a.mcap"))
        let times = [timespec(tv_sec: 1 << 40, tv_nsec: 0), timespec(tv_sec: 1 << 40, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, "\(path)/a.mcap", times, 0) == 0)
        #expect(try RecordingFolder(path: path).files().map(\.modified) == [RecordingTime(nanoseconds: .max)])
    }
}
