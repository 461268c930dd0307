/// Bytes that are read where they are needed.
package protocol ByteSource: Sendable {
    var byteCount: UInt64 { get }
    /// - Returns: Exactly these bytes.
    func read(_ range: Range<UInt64>) throws(RecordingError) -> [UInt8]
}

/// What an MCAP file has, and where: from its summary, or, if it has none, from the file itself.
package struct MCAPIndex: Sendable {
    package private(set) var schemas: [UInt16: MCAP.Schema] = [:]
    package private(set) var channels: [UInt16: MCAP.Channel] = [:]
    /// In the order of the file.
    package internal(set) var chunks: [MCAP.ChunkIndex] = []
    package private(set) var attachments: [MCAP.AttachmentIndex] = []
    package private(set) var metadata: [MCAP.Metadata] = []
    var metadataIndexes: [MCAP.MetadataIndex] = []
    package internal(set) var statistics = MCAP.Statistics()
    /// Counts in the statistics that nothing but checks needs.
    struct DeclaredCounts: Sendable, Hashable {
        var messages: UInt64
        var schemas: UInt16 = 0
        var channels: UInt32 = 0
        var metadata: UInt32 = 0
    }

    /// nil without statistics.
    private(set) var declaredCounts: DeclaredCounts?
    /// The file has its summary and its end.
    package private(set) var isWhole = false
    /// Why the summary was not used: its first field that is wrong. nil of a file without one.
    package private(set) var summaryProblem: String?
    /// Why the first damaged chunk was left out.
    package private(set) var damage: String?
    /// Chunks whose sum is wrong; they are left out. Only known of a file without a summary.
    package private(set) var damagedChunkCount = 0
    /// Of a file without a summary: what is whole, without the MessageIndex records behind its last chunk.
    package private(set) var wholeByteCount: UInt64 = 0
    /// Of a file without a summary: what is behind its last whole record.
    package private(set) var brokenByteCount: UInt64 = 0

    /// Larger chunks are refused.
    static let chunkByteCountMax: UInt64 = 268_435_456
    private static let summaryByteCountMax: UInt64 = 268_435_456

    package init(of source: some ByteSource) throws(RecordingError) {
        let magicByteCount = UInt64(MCAP.magic.count)
        guard source.byteCount >= magicByteCount, try source.read(0..<magicByteCount) == MCAP.magic else {
            throw .notMCAP
        }
        if try self.readSummary(source) { return }
        try self.scan(source)
    }

    // MARK: Summary

    /// - Returns: Whether there is a summary that can be used.
    private mutating func readSummary(_ source: some ByteSource) throws(RecordingError) -> Bool {
        let footerByteCount = UInt64(MCAP.footerByteCount + MCAP.magic.count)
        guard source.byteCount >= UInt64(MCAP.magic.count) + footerByteCount else { return false }
        let footerStart = source.byteCount - footerByteCount
        let footer = try source.read(footerStart..<source.byteCount)
        guard footer[0] == MCAP.Opcode.footer.rawValue,
            Array(footer[MCAP.footerByteCount...]) == MCAP.magic
        else { return false }
        var cursor = MCAPCursor(footer, MCAP.recordHeadByteCount..<MCAP.footerByteCount)
        let summaryStart: UInt64 = try cursor.number()
        let offsetStart: UInt64 = try cursor.number()
        let sum: UInt32 = try cursor.number()
        // A file without a summary is no damaged one.
        guard summaryStart > 0 else { return false }
        let empty = self
        do throws(RecordingError) {
            guard summaryStart >= UInt64(MCAP.magic.count), summaryStart <= footerStart,
                footerStart - summaryStart <= Self.summaryByteCountMax
            else { throw .malformed("summary_start is \(summaryStart)") }
            guard offsetStart == 0 || (summaryStart...footerStart).contains(offsetStart) else {
                throw .malformed("summary_offset_start is \(offsetStart)")
            }
            let summary = try source.read(summaryStart..<source.byteCount - 12)
            guard sum == 0 || CRC32.sum(summary) == sum else {
                throw .malformed("summary_crc is not its sum")
            }
            try self.read(summary, upTo: Int(footerStart - summaryStart))
            guard !self.chunks.isEmpty || self.statistics.messageCount == 0 else {
                guard self.statistics.chunkCount > 0 else {
                    throw .unsupported("it has messages outside of chunks, which this program does not read")
                }
                self = empty
                return false
            }
            if let text = self.contradiction(before: summaryStart) { throw .malformed(text) }
            for index in self.metadataIndexes { self.metadata.append(try Self.metadata(source, index)) }
        } catch {
            guard case .malformed(let reason) = error else { throw error }
            self = empty
            self.summaryProblem = reason
            return false
        }
        self.isWhole = true
        return true
    }

    private static func metadata(
        _ source: some ByteSource, _ index: MCAP.MetadataIndex
    ) throws(RecordingError) -> MCAP.Metadata {
        let record = try source.read(index.offset..<index.offset + index.byteCount)
        var cursor = MCAPCursor(record, 0..<record.count)
        let (opcode, content) = try cursor.record()
        guard opcode == MCAP.Opcode.metadata.rawValue, content.upperBound == record.count else {
            throw .malformed("metadata \(index.name): there is none at offset \(index.offset)")
        }
        var inner = MCAPCursor(record, content)
        return try MCAP.Metadata(&inner)
    }

    private mutating func read(_ summary: [UInt8], upTo end: Int) throws(RecordingError) {
        var cursor = MCAPCursor(summary, 0..<end)
        while !cursor.isAtEnd {
            let (opcode, content) = try cursor.record()
            var inner = MCAPCursor(summary, content)
            switch MCAP.Opcode(rawValue: opcode) {
            case .schema: self.add(try MCAP.Schema(&inner))
            case .channel: self.add(try MCAP.Channel(&inner))
            case .statistics:
                let (statistics, counts) = try MCAP.Statistics.read(&inner)
                (self.statistics, self.declaredCounts) = (statistics, counts)
            case .chunkIndex: self.chunks.append(try MCAP.ChunkIndex(&inner))
            case .attachmentIndex: self.attachments.append(try MCAP.AttachmentIndex(&inner))
            case .metadataIndex: self.metadataIndexes.append(try MCAP.MetadataIndex(&inner))
            default: break  // Offsets, and what later versions add.
            }
        }
        self.chunks.sort { $0.offset < $1.offset }
    }

    private mutating func add(_ schema: MCAP.Schema) { self.schemas[schema.id] = schema }

    private mutating func add(_ channel: MCAP.Channel) { self.channels[channel.id] = channel }

    // MARK: Without a summary

    /// Reads all records up to the end, or to the first that is not whole.
    private mutating func scan(_ source: some ByteSource) throws(RecordingError) {
        var offset = UInt64(MCAP.magic.count)
        self.wholeByteCount = offset
        defer { self.brokenByteCount = source.byteCount - offset }
        let headByteCount = UInt64(MCAP.recordHeadByteCount)
        while source.byteCount - offset >= headByteCount {
            let head = try source.read(offset..<offset + headByteCount)
            var cursor = MCAPCursor(head, 0..<head.count)
            let opcode: UInt8 = try cursor.number()
            let length: UInt64 = try cursor.number()
            let start = offset + headByteCount
            guard opcode != 0, length <= source.byteCount - start else { return }
            let content = start..<start + length
            switch MCAP.Opcode(rawValue: opcode) {
            case .dataEnd, .footer: return
            case .message:
                throw .unsupported("it has messages outside of chunks, which this program does not read")
            case .attachment:
                let headEnd = start + min(length, MCAP.AttachmentIndex.headByteCountMax)
                let bytes = try source.read(start..<headEnd)
                do throws(RecordingError) {
                    self.attachments.append(try MCAP.AttachmentIndex(bytes, length: length, at: offset))
                } catch { return }
                self.statistics.attachmentCount += 1
            case .chunk:
                guard try self.scanChunk(source, content, at: offset) else { return }
            case .schema, .channel, .metadata, .messageIndex:
                guard length <= Self.chunkByteCountMax else { return }
                let bytes = try source.read(content)
                do throws(RecordingError) { try self.scan(opcode, bytes, at: offset) } catch { return }
            default: break
            }
            offset = content.upperBound
            if opcode != MCAP.Opcode.messageIndex.rawValue { self.wholeByteCount = offset }
        }
    }

    private mutating func scan(
        _ opcode: UInt8, _ bytes: [UInt8], at offset: UInt64
    ) throws(RecordingError) {
        var cursor = MCAPCursor(bytes, 0..<bytes.count)
        let byteCount = UInt64(MCAP.recordHeadByteCount + bytes.count)
        switch MCAP.Opcode(rawValue: opcode) {
        case .schema: self.add(try MCAP.Schema(&cursor))
        case .channel: self.add(try MCAP.Channel(&cursor))
        case .metadata:
            let metadata = try MCAP.Metadata(&cursor)
            self.metadata.append(metadata)
            self.metadataIndexes.append(
                MCAP.MetadataIndex(offset: offset, byteCount: byteCount, name: metadata.name))
        case .messageIndex:
            guard !self.chunks.isEmpty else { return }
            let channel: UInt16 = try cursor.number()
            self.chunks[self.chunks.count - 1].messageIndexes[channel] = offset
            self.chunks[self.chunks.count - 1].messageIndexByteCount += byteCount
        default: break
        }
    }

    /// - Returns: false if nothing behind it can be read.
    private mutating func scanChunk(
        _ source: some ByteSource, _ content: Range<UInt64>, at offset: UInt64
    ) throws(RecordingError) -> Bool {
        var index = MCAP.ChunkIndex(offset: offset)
        index.byteCount = content.upperBound - offset
        let before = self
        do throws(RecordingError) {
            let chunk = try MCAPChunk(source, index)
            for schema in chunk.schemas { self.add(schema) }
            for channel in chunk.channels { self.add(channel) }
            for message in chunk.messages { self.statistics.count(message.channel, at: message.logTime) }
            index.startTime = chunk.messages.map(\.logTime).min() ?? 0
            index.endTime = chunk.messages.map(\.logTime).max() ?? 0
            index.recordByteCount = chunk.recordByteCount
            index.compressedByteCount = chunk.recordByteCount
            self.chunks.append(index)
            self.statistics.chunkCount += 1
        } catch {
            guard case .malformed(let reason) = error else { throw error }
            self = before
            self.damagedChunkCount += 1
            self.damage = self.damage ?? reason
        }
        return true
    }
}

/// The content of one chunk.
package struct MCAPChunk: Sendable {
    package private(set) var schemas: [MCAP.Schema] = []
    package private(set) var channels: [MCAP.Channel] = []
    /// In the order in which they were written.
    package private(set) var messages: [MCAP.Message] = []
    /// Where each message begins in the chunk's records.
    private(set) var offsets: [UInt64] = []
    let recordByteCount: UInt64

    /// Reads a chunk and checks its sum, and what is said of it.
    package init(_ source: some ByteSource, _ index: MCAP.ChunkIndex) throws(RecordingError) {
        let name = "chunk at \(index.offset)"
        guard index.byteCount <= MCAPIndex.chunkByteCountMax,
            index.byteCount > UInt64(MCAP.recordHeadByteCount), index.offset <= source.byteCount,
            index.byteCount <= source.byteCount - index.offset
        else { throw .malformed("\(name): its length is \(index.byteCount)") }
        let bytes = try source.read(index.offset..<index.offset + index.byteCount)
        guard bytes[0] == MCAP.Opcode.chunk.rawValue else {
            throw .malformed("\(name): there is none")
        }
        var cursor = MCAPCursor(bytes, 1..<bytes.count)
        guard try cursor.number(UInt64.self) == UInt64(bytes.count - MCAP.recordHeadByteCount) else {
            throw .malformed("\(name): its record has another length than its index")
        }
        _ = try cursor.number(UInt64.self)
        _ = try cursor.number(UInt64.self)
        let uncompressedByteCount: UInt64 = try cursor.number()
        let sum: UInt32 = try cursor.number()
        let compression = try cursor.text()
        guard compression.isEmpty else {
            throw .unsupported(
                "its chunks are compressed with \(compression), which this program does not read")
        }
        self.recordByteCount = try cursor.number()
        let start = cursor.offset
        let records = try cursor.slice(self.recordByteCount)
        guard cursor.isAtEnd else { throw .malformed("\(name): records is shorter than the chunk") }
        guard uncompressedByteCount == self.recordByteCount else {
            throw .malformed(
                "\(name): uncompressed_size is \(uncompressedByteCount), but it has \(self.recordByteCount) bytes"
            )
        }
        if sum != 0 {
            var crc = CRC32()
            crc.add(bytes, records.startIndex..<records.endIndex)
            guard crc.value == sum else { throw .malformed("\(name): uncompressed_crc is not its sum") }
        }
        var walk = MCAPCursor(bytes, records.startIndex..<records.endIndex)
        while !walk.isAtEnd {
            let offset = UInt64(walk.offset - start)
            let (opcode, content) = try walk.record()
            var inner = MCAPCursor(bytes, content)
            switch MCAP.Opcode(rawValue: opcode) {
            case .schema: self.schemas.append(try MCAP.Schema(&inner))
            case .channel: self.channels.append(try MCAP.Channel(&inner))
            case .message:
                self.messages.append(try MCAP.Message(&inner))
                self.offsets.append(offset)
            default: break
            }
        }
        try self.check(index, name)
    }

    /// A summary that lies about times would send readers to the wrong chunks.
    private func check(_ index: MCAP.ChunkIndex, _ name: String) throws(RecordingError) {
        // Made while a file without a summary is read.
        guard index.recordByteCount > 0 else { return }
        guard index.recordByteCount == self.recordByteCount else {
            throw .malformed("\(name): the index has another uncompressed_size, \(index.recordByteCount)")
        }
        for message in self.messages {
            guard message.logTime >= index.startTime else {
                throw .malformed(
                    "\(name): message_start_time is \(index.startTime), but it has a message of \(message.logTime)"
                )
            }
            guard message.logTime <= index.endTime else {
                throw .malformed(
                    "\(name): message_end_time is \(index.endTime), but it has a message of \(message.logTime)"
                )
            }
        }
    }

    /// The MessageIndex records that belong behind the chunk.
    var messageIndexes: [(channel: UInt16, content: [UInt8])] {
        var entries: [UInt16: [(time: UInt64, offset: UInt64)]] = [:]
        for (message, offset) in zip(self.messages, self.offsets) {
            entries[message.channel, default: []].append((message.logTime, offset))
        }
        return entries.sorted { $0.key < $1.key }.map { ($0.key, MCAPWriter.messageIndex($0.key, $0.value)) }
    }
}
