import Foundation
import Testing
import WaymarkProtocol

@testable import WaymarkRecording

/// Bytes in memory.
struct Bytes: ByteSource {
    let bytes: [UInt8]

    init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    var byteCount: UInt64 { UInt64(self.bytes.count) }

    func read(_ range: Range<UInt64>) throws(RecordingError) -> [UInt8] {
        guard range.upperBound <= self.byteCount else { throw .malformed("behind the end") }
        return Array(self.bytes[Int(range.lowerBound)..<Int(range.upperBound)])
    }
}

extension MCAPIndex {
    /// All messages, in the order of the file.
    func messages(of source: some ByteSource) throws -> [MCAP.Message] {
        try self.chunks.flatMap { try MCAPChunk(source, $0).messages }
    }
}

@Suite struct MCAPTests {
    /// A file of three chunks with four messages each; and where its chunks end, with their indexes.
    private static func sample() -> (file: [UInt8], chunkEnds: [Int]) {
        var writer = MCAPWriter()
        var file = writer.begin(library: "test")
        file += writer.add(MCAP.Metadata(name: "waymark", values: ["instance": "depot"]))
        let schema = writer.add(schema: "waymark.v1", encoding: "protobuf", data: [1, 2, 3])
        let first = writer.add(
            channel: "/connection/1/in", schema: schema, encoding: "x-waymark-frame",
            metadata: ["peer": "app"])
        let second = writer.add(channel: "/events", schema: 0, encoding: "json")
        var ends: [Int] = []
        for chunk in 0..<3 {
            for place in 0..<4 {
                let time = UInt64(1_000 + chunk * 100 + place)
                writer.add(
                    MCAP.Message(
                        channel: place == 3 ? second : first, sequence: UInt32(place), logTime: time,
                        publishTime: time, data: [UInt8(chunk), UInt8(place), 0xFF][...]))
            }
            file += writer.endChunk()
            ends.append(file.count)
        }
        file += writer.end()
        return (file, ends)
    }

    @Test func `what was written is read again`() throws {
        let file = Bytes(Self.sample().file)
        let index = try MCAPIndex(of: file)
        #expect(index.isWhole)
        #expect(index.chunks.count == 3)
        #expect(index.statistics.messages == [1: 9, 2: 3])
        #expect(index.statistics.startTime == 1_000)
        #expect(index.statistics.endTime == 1_203)
        #expect(index.metadata == [MCAP.Metadata(name: "waymark", values: ["instance": "depot"])])
        #expect(index.channels[1]?.metadata == ["peer": "app"])
        #expect(index.schemas[1]?.data == [1, 2, 3])
        let messages = try index.messages(of: file)
        #expect(messages.count == 12)
        #expect(messages.map(\.logTime) == messages.map(\.logTime).sorted())
        #expect(messages.last?.data == [2, 3, 0xFF][...])
    }

    @Test func `a file that is cut at any byte is readable up to its last whole chunk`() throws {
        let (file, ends) = Self.sample()
        for length in 0..<file.count {
            let cut = Bytes(file[..<length])
            guard length >= MCAP.magic.count else {
                #expect(throws: RecordingError.notMCAP) { try MCAPIndex(of: cut) }
                continue
            }
            let index = try MCAPIndex(of: cut)
            #expect(!index.isWhole, "\(length)")
            let messages = try index.messages(of: cut)
            // A chunk may be whole although its indexes are not.
            let least = ends.count { $0 <= length } * 4
            #expect((least...least + 4).contains(messages.count), "\(length)")
            #expect(messages.count % 4 == 0)
        }
    }

    @Test func `repair makes a file whole that was cut at any byte`() throws {
        let (file, _) = Self.sample()
        let whole = try MCAPIndex(of: Bytes(file)).messages(of: Bytes(file))
        for length in MCAP.magic.count + 20..<file.count {
            let cut = Bytes(file[..<length])
            let index = try MCAPIndex(of: cut)
            guard index.wholeByteCount > UInt64(MCAP.magic.count) else { continue }
            let (kept, end) = try RecordingRepair.end(of: index, cut)
            let repaired = Bytes(file[..<Int(kept)] + end)
            let again = try MCAPIndex(of: repaired)
            #expect(again.isWhole, "\(length)")
            let messages = try again.messages(of: repaired)
            #expect(messages == Array(whole.prefix(messages.count)), "\(length)")
            #expect(messages == (try index.messages(of: cut)), "\(length)")
            #expect(again.statistics == index.statistics, "\(length)")
            for chunk in again.chunks {
                for (channel, offset) in chunk.messageIndexes {
                    #expect(repaired.bytes[Int(offset)] == MCAP.Opcode.messageIndex.rawValue)
                    #expect(repaired.bytes[Int(offset) + 9] == UInt8(channel), "\(length)")
                }
            }
        }
        // The last byte alone was missing: the same file again.
        let cut = Bytes(file.dropLast())
        let (kept, end) = try RecordingRepair.end(of: try MCAPIndex(of: cut), cut)
        #expect(file[..<Int(kept)] + end == file[...])
    }

    @Test func `a chunk with a wrong bit is left out, and the others are readable`() throws {
        let (file, ends) = Self.sample()
        // Without its end, so that every chunk is read.
        var cut = Array(file[..<(ends[2])])
        let second = try MCAPIndex(of: Bytes(file)).chunks[1]
        cut[Int(second.offset) + 80] ^= 1
        let index = try MCAPIndex(of: Bytes(cut))
        #expect(index.damagedChunkCount == 1)
        #expect(index.chunks.count == 2)
        #expect(index.statistics.messageCount == 8)
    }

    @Test func `no file of random bytes does harm`() throws {
        let (file, _) = Self.sample()
        var random = Seeded(state: 7)
        for _ in 0..<3_000 {
            var broken = file
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                broken[Int.random(in: 8..<broken.count, using: &random)] = .random(
                    in: 0...255, using: &random)
            }
            do {
                let index = try MCAPIndex(of: Bytes(broken))
                _ = try index.messages(of: Bytes(broken))
            } catch is RecordingError { continue }
        }
    }

    @Test func `a file of PyPI's mcap is read`() throws {
        let fixture = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Fixtures/pypi.mcap")
        let file = Bytes(try Data(contentsOf: fixture))
        for index in [try MCAPIndex(of: file), try MCAPIndex(of: Bytes(file.bytes.dropLast()))] {
            let messages = try index.messages(of: file)
            #expect(messages.count == 16)
            #expect(index.chunks.count > 1)
            #expect(messages[2].data == [UInt8](repeating: 1, count: 20)[...])
            #expect(messages[2].sequence == 1)
            #expect(index.channels.values.map(\.topic).sorted() == ["/connection/17/in", "/events"])
            #expect(index.metadata.first?.values["instance"] == "depot")
        }
    }

    @Test func `the sum is that of zlib`() {
        #expect(CRC32.sum(Array("123456789".utf8)) == 0xCBF4_3926)
        #expect(CRC32.sum([]) == 0)
    }

    @Test func `times are written as RFC 3339`() {
        #expect("\(RecordingTime(nanoseconds: 0))" == "1970-01-01T00:00:00.000Z")
        #expect("\(RecordingTime(nanoseconds: 951_782_400_123_000_000))" == "2000-02-29T00:00:00.123Z")
        let time = RecordingTime(nanoseconds: 1_795_425_300_999_999_999)
        #expect("\(time)" == "2026-11-23T09:15:00.999Z")
        #expect(time.compact == "20261123T091500Z")
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        for day in stride(from: UInt64(0), to: 60_000, by: 97) {
            let date = Date(timeIntervalSince1970: Double(day * 86_400))
            let text = "\(RecordingTime(nanoseconds: day * 86_400_000_000_000))"
            #expect(text == date.formatted(style))
        }
    }
}

/// SplitMix64.
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var value = self.state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
