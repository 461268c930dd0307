import Foundation
import Synchronization
import Testing
import WaymarkCodec
import WaymarkProtocol

@testable import WaymarkRecording

/// Files whose fields say what is not so.
@Suite struct LyingFileTests {
    /// Bytes that count how many of them are read.
    private final class CountingBytes: ByteSource {
        private let bytes: Bytes
        private let count = Mutex<UInt64>(0)

        init(_ bytes: [UInt8]) { self.bytes = Bytes(bytes) }

        var byteCount: UInt64 { self.bytes.byteCount }
        var readCount: UInt64 { self.count.withLock { $0 } }
        func read(_ range: Range<UInt64>) throws(RecordingError) -> [UInt8] {
            self.count.withLock { $0 += UInt64(range.count) }
            return try self.bytes.read(range)
        }
    }

    /// A recording of a drive, with several chunks and states.
    private static func drive() -> [UInt8] {
        var options = Recorder.Options()
        (options.stateBytes, options.chunkBytesMax) = (1_500, 600)
        options.attachments = [
            MCAP.Attachment(name: "a.yaml", mediaType: "application/yaml", data: Array("a: 1".utf8)),
            MCAP.Attachment(name: "b.json", mediaType: "application/json", data: Array("{}".utf8)),
        ]
        var drive = Drive(options)
        drive.begin()
        for place in 0..<30 {
            drive.publish("Road \(place)")
            if place == 12 { drive.tellState() }
            if place % 9 == 0 { drive.happen(.rejected) { $0.reason = "a reason" } }
        }
        drive.handle(.ended)
        return drive.files[0]
    }

    /// Reads everything that programs read of a recording.
    private static func readAll(_ source: some ByteSource) throws(RecordingError) {
        let recording = try Recording(source)
        for isHolding in [true, false] {
            var walk = RecordingWalk(recording, holdsContent: isHolding, tellsStates: true)
            while try walk.next() != nil {}
        }
        for attachment in recording.index.attachments { _ = try recording.attachment(attachment) }
        guard let times = recording.times else { return }
        for time in [times.lowerBound, times.upperBound] {
            var walk = try RecordingWalk(recording, from: time)
            _ = try walk.next()
        }
        var from: RecordingTime? = times.lowerBound
        var count = 0
        while let begin = from {
            from = try recording.events(from: begin, to: times.upperBound).next
            count += 1
            guard count < 10_000 else { throw .malformed("events do not come to an end") }
        }
        var export = DecodedExport(recording)
        try export.write { _ in }
    }

    // MARK: Each field of the summary

    /// Changes the summary, and writes its sum anew.
    private static func summary(
        _ change: (inout MCAP.ChunkIndex, inout [MCAP.ChunkIndex], inout MCAP.Statistics) -> Void
    ) throws -> [UInt8] {
        let file = Self.drive()
        let index = try MCAPIndex(of: Bytes(file))
        var forged = index
        var statistics = index.statistics
        var chunks = index.chunks
        var chunk = chunks[2]
        change(&chunk, &chunks, &statistics)
        if chunk != index.chunks[2] { chunks[2] = chunk }
        forged.chunks = chunks
        forged.statistics = statistics
        let original = try #require(index.chunks.last)
        let end = original.offset + original.byteCount + original.messageIndexByteCount
        var writer = MCAPWriter(continuing: forged, byteCount: end)
        return file[..<Int(end)] + writer.end()
    }

    @Test func `a summary that is as it was is used`() throws {
        let index = try MCAPIndex(of: Bytes(try Self.summary { _, _, _ in }))
        #expect(index.isWhole)
        #expect(index.summaryProblem == nil)
        #expect(index.chunks.count > 5)
    }

    private static let lies:
        [(String, @Sendable (inout MCAP.ChunkIndex, inout [MCAP.ChunkIndex], inout MCAP.Statistics) -> Void)] =
            [
                ("offset", { chunk, _, _ in chunk.offset += 1 }),
                ("offset", { chunk, _, _ in chunk.offset = .max }),
                ("length", { chunk, _, _ in chunk.byteCount = .max }),
                ("length", { chunk, _, _ in chunk.byteCount = 0 }),
                ("message_index_length", { chunk, _, _ in chunk.messageIndexByteCount = .max }),
                ("message_index_offsets", { chunk, _, _ in chunk.messageIndexes[1] = 3 }),
                (
                    "message_index_offsets",
                    { chunk, _, _ in chunk.messageIndexes[999] = chunk.offset + chunk.byteCount }
                ),
                ("message_start_time", { chunk, _, _ in chunk.startTime = .max }),
                ("message_end_time", { chunk, _, _ in chunk.endTime = .max }),
                ("compressed_size", { chunk, _, _ in chunk.compressedByteCount = .max }),
                ("uncompressed_size", { chunk, _, _ in chunk.recordByteCount += 1 }),
                (
                    "offset",
                    { _, chunks, _ in chunks += [MCAP.ChunkIndex](repeating: chunks[3], count: 3_000) }
                ),
                ("chunk_count", { _, _, statistics in statistics.chunkCount += 1 }),
                ("attachment_count", { _, _, statistics in statistics.attachmentCount = 7 }),
                (
                    "channel_message_counts",
                    { _, _, statistics in (statistics.messages[1], statistics.messages[2]) = (.max, .max) }
                ),
                ("message_count", { _, _, statistics in statistics.messages[1] = 1 << 40 }),
                ("message_start_time", { _, _, statistics in statistics.startTime += 1 }),
                ("message_start_time", { _, _, statistics in statistics.startTime = 0 }),
                ("message_end_time", { _, _, statistics in statistics.endTime -= 1 }),
                ("message_end_time", { _, _, statistics in statistics.endTime = .max }),
            ]

    @Test(arguments: lies.indices)
    func `a summary that lies is named with its field, and the file is read without it`(_ place: Int) throws {
        let (field, change) = Self.lies[place]
        let forged = CountingBytes(
            try Self.summary { chunk, chunks, statistics in change(&chunk, &chunks, &statistics) })
        let index = try MCAPIndex(of: forged)
        #expect(!index.isWhole)
        let problem = try #require(index.summaryProblem)
        #expect(problem.contains(field), "\(problem)")
        let honest = Bytes(Self.drive())
        let expected = try MCAPIndex(of: honest)
        #expect(index.chunks.map(\.offset) == expected.chunks.map(\.offset))
        #expect(index.statistics == expected.statistics)
        #expect(try index.messages(of: forged) == expected.messages(of: honest))
        // Each byte is read a few times, however often it is named.
        #expect(forged.readCount < 8 * forged.byteCount)
        let (kept, end) = try RecordingRepair.end(of: index, forged)
        let repaired = Bytes(try forged.read(0..<kept) + end)
        #expect(try MCAPIndex(of: repaired).isWhole)
    }

    @Test func `an attachment that is elsewhere, or another, is named`() throws {
        let recording = try Recording(Bytes(Self.drive()))
        let first = recording.index.attachments[0]
        for change: (inout MCAP.AttachmentIndex) -> Void in [
            { $0.offset += 1 }, { $0.byteCount += 1 }, { $0.byteCount = .max }, { $0.dataByteCount = 1 },
            { $0.name = "c.yaml" }, { $0.byteCount = 9 },
        ] {
            var forged = first
            change(&forged)
            let error = #expect(throws: RecordingError.self) { try recording.attachment(forged) }
            #expect("\(try #require(error))".contains("attachment"))
        }
    }

    // MARK: States

    @Test func `marks whose states begin before others are not read again and again`() throws {
        var writer = MCAPWriter()
        var file = writer.begin(library: "test")
        let mark = writer.add(
            channel: RecordedChannel.mark.topic, schema: 0, encoding: RecordedChannel.mark.encoding)
        let state = writer.add(
            channel: RecordedChannel.state.topic, schema: 0, encoding: RecordedChannel.state.encoding)
        for place in 0..<400 {
            writer.add(
                MCAP.Message(
                    channel: state, sequence: 0, logTime: 1, publishTime: 1,
                    data: [UInt8](repeating: 0, count: 1_000)[...]))
            let data = StateIndex(number: 0, isNew: true, mark: UInt32(place), start: 8, sessions: []).data
            writer.add(
                MCAP.Message(
                    channel: mark, sequence: UInt32(place), logTime: 1, publishTime: 1, data: data[...]))
            file += writer.endChunk()
        }
        file += writer.end()
        let source = CountingBytes(file)
        let error = #expect(throws: RecordingError.self) { try Self.readAll(source) }
        #expect("\(try #require(error))".contains("state mark 1"))
        #expect(source.readCount < 10 * source.byteCount)
    }

    @Test func `events of a recording whose clock was set back are all told, and asking comes to an end`()
        throws
    {
        var writer = MCAPWriter()
        var file = writer.begin(library: "test")
        let channel = writer.add(
            channel: RecordedChannel.events.topic, schema: 0, encoding: RecordedChannel.events.encoding)
        for place in 0..<300 {
            let time = UInt64(place < 200 ? 1_000 + place : 500 + place)
            writer.add(
                MCAP.Message(
                    channel: channel, sequence: 0, logTime: time, publishTime: time,
                    data: Array("\(place)".utf8)[...]))
            file += writer.endChunk()
        }
        let recording = try Recording(Bytes(file + writer.end()))
        var seen: Set<String> = []
        var from: RecordingTime? = try #require(recording.times).lowerBound
        var last: RecordingTime?
        while let begin = from {
            if let last { #expect(begin > last) }
            last = begin
            let read = try recording.events(from: begin, to: RecordingTime(nanoseconds: .max))
            seen.formUnion(read.events.map(\.text))
            from = read.next
        }
        #expect(seen.count == 300)
    }

    // MARK: Any bytes

    private static let seedCount =
        ProcessInfo.processInfo.environment["WAYMARK_SEEDS"].flatMap(Int.init) ?? 200

    /// Numbers that lie best.
    private static let numbers: [UInt64] = [
        0, 1, 2, 8, 0xFF, 0xFFFF, 0xFFFF_FFFF, 1 << 31, 1 << 32, 1 << 62, 1 << 63, .max, .max - 8,
    ]

    @Test func `no file makes the reader do more than its size allows`() throws {
        let original = Self.drive()
        let honest = CountingBytes(original)
        try Self.readAll(honest)
        let workMax = honest.readCount * 3
        let environment = ProcessInfo.processInfo.environment
        let one = environment["WAYMARK_SEED"].flatMap(UInt64.init)
        var readable = 0
        for seed in one.map({ $0...$0 }) ?? 1...UInt64(Self.seedCount) {
            var random = Seeded(state: seed)
            let file = Self.mutated(original, &random)
            let source = CountingBytes(file)
            do throws(RecordingError) {
                try Self.readAll(source)
                readable += 1
            } catch {
                #expect(!"\(error)".isEmpty)
                if case .failed = error { Issue.record("seed \(seed): \(error)") }
            }
            #expect(source.readCount <= workMax, "seed \(seed)")
        }
        if one == nil { #expect(readable > Self.seedCount / 20) }
    }

    /// A file in which numbers are others, records are repeated, moved or cut; sums are right, so that readers look further.
    private static func mutated(_ original: [UInt8], _ random: inout Seeded) -> [UInt8] {
        var file = original
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let place = Int.random(in: 8..<file.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: file[place] = .random(in: 0...255, using: &random)
            case 1, 2:
                // Most fields are eight bytes, many of these in the summary.
                let at =
                    Bool.random(using: &random)
                    ? place : max(8, file.count - Int.random(in: 8...1_500, using: &random))
                let number = Self.numbers.randomElement(using: &random) ?? 0
                for byte in 0..<8 where at + byte < file.count {
                    file[at + byte] = UInt8(truncatingIfNeeded: number >> UInt64(8 * byte))
                }
            case 3:
                let length = min(file.count - place, Int.random(in: 1...400, using: &random))
                let other = Int.random(in: 8..<file.count, using: &random)
                file.insert(contentsOf: Array(file[place..<(place + length)]), at: other)
            default:
                file.removeSubrange(place..<min(file.count, place + Int.random(in: 1...64, using: &random)))
            }
            guard file.count > 64 else { return file }
        }
        Self.sign(&file)
        return file
    }

    /// Writes the sums of the summary and of chunks.
    private static func sign(_ file: inout [UInt8]) {
        var offset = 8
        while offset + 9 <= file.count {
            let length = (0..<8).reduce(UInt64(0)) { $0 | UInt64(file[offset + 1 + $1]) << UInt64(8 * $1) }
            guard length <= UInt64(file.count - offset - 9) else { break }
            let end = offset + 9 + Int(length)
            if file[offset] == MCAP.Opcode.chunk.rawValue, length > 40 {
                for byte in 0..<4 { file[offset + 33 + byte] = 0 }
            }
            offset = end
        }
        let sum = file.count - MCAP.magic.count - 4
        guard sum > 8 else { return }
        for byte in 0..<4 { file[sum + byte] = 0 }
    }
}
