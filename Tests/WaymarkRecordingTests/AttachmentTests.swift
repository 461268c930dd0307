import Foundation
import Testing

@testable import WaymarkRecording

@Suite struct AttachmentTests {
    private static let first = MCAP.Attachment(
        name: "a.scenario.yaml", mediaType: "application/yaml", data: Array("route: somewhere\n".utf8))
    private static let second = MCAP.Attachment(name: "empty", mediaType: "", data: [])
    private static let third = MCAP.Attachment(
        name: "routes/ü.json", mediaType: "application/json", data: Array(repeating: 0x7B, count: 3_000))

    /// Two attachments, a chunk, another attachment.
    private static func sample() -> [UInt8] {
        var writer = MCAPWriter()
        var file = writer.begin(library: "test")
        file += writer.add(MCAP.Metadata(name: "waymark", values: ["instance": "depot"]))
        file += writer.add(Self.first)
        file += writer.add(Self.second)
        let channel = writer.add(channel: "/events", schema: 0, encoding: "json")
        writer.add(
            MCAP.Message(channel: channel, sequence: 1, logTime: 5, publishTime: 4, data: [1, 2][...]))
        file += writer.endChunk()
        file += writer.add(Self.third)
        return file + writer.end()
    }

    private static func attachments(_ file: some Sequence<UInt8>) throws -> [MCAP.Attachment] {
        let recording = try Recording(Bytes(file))
        return try recording.index.attachments.map { try recording.attachment($0) }
    }

    @Test func `attachments are read again, and counted`() throws {
        let file = Self.sample()
        let recording = try Recording(Bytes(file))
        #expect(recording.index.isWhole)
        #expect(recording.index.statistics.attachmentCount == 3)
        #expect(recording.index.attachments.map(\.name) == ["a.scenario.yaml", "empty", "routes/ü.json"])
        #expect(recording.index.attachments.map(\.dataByteCount) == [17, 0, 3_000])
        #expect(try Self.attachments(file) == [Self.first, Self.second, Self.third])
    }

    @Test func `of a file that is cut anywhere all whole attachments are found, and repair keeps them`()
        throws
    {
        let file = Self.sample()
        for length in MCAP.magic.count + 20..<file.count {
            let cut = Bytes(file[..<length])
            let index = try MCAPIndex(of: cut)
            guard index.wholeByteCount > UInt64(MCAP.magic.count) else { continue }
            let found = try Self.attachments(cut.bytes)
            #expect(found == Array([Self.first, Self.second, Self.third].prefix(found.count)), "\(length)")
            let (kept, end) = try RecordingRepair.end(of: index, cut)
            let repaired = file[..<Int(kept)] + end
            #expect(try MCAPIndex(of: Bytes(repaired)).isWhole, "\(length)")
            #expect(try Self.attachments(repaired) == found, "\(length)")
        }
        // All of them were found behind the last.
        #expect(try Self.attachments(file.dropLast()).count == 3)
        let (kept, end) = try RecordingRepair.end(
            of: try MCAPIndex(of: Bytes(file.dropLast())), Bytes(file.dropLast()))
        #expect(file[..<Int(kept)] + end == file[...])
    }

    @Test func `a wrong bit in an attachment is noticed`() throws {
        var file = Self.sample()
        let place = try #require(file.firstRange(of: Array("somewhere".utf8))?.lowerBound)
        file[place] ^= 1
        let recording = try Recording(Bytes(file))
        let index = try #require(recording.index.attachments.first)
        #expect(throws: RecordingError.malformed("the sum of the attachment a.scenario.yaml is wrong")) {
            try recording.attachment(index)
        }
        let second = recording.index.attachments[1]
        #expect(try recording.attachment(second) == Self.second)
    }

    @Test func `an index that points to something else is an error`() throws {
        let recording = try Recording(Bytes(Self.sample()))
        var index = try #require(recording.index.attachments.first)
        index.offset += 1
        #expect(throws: RecordingError.self) { try recording.attachment(index) }
        index.offset = .max
        #expect(throws: RecordingError.self) { try recording.attachment(index) }
        index = recording.index.attachments[0]
        index.byteCount = 1 << 40
        #expect(throws: RecordingError.self) { try recording.attachment(index) }
    }
}
