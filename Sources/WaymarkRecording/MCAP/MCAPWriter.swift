/// Writes an MCAP file with uncompressed chunks: says which bytes come next. A value without I/O.
///
/// What it returns must be appended to the file in the order of the calls.
package struct MCAPWriter: Sendable {
    private struct Chunk: Sendable {
        var records: [UInt8] = []
        /// By channel: time and place of each message.
        var indexes: [UInt16: [(time: UInt64, offset: UInt64)]] = [:]
        var startTime = UInt64.max
        var endTime: UInt64 = 0
        var messageCount = 0
    }

    /// Of a message in a MessageIndex.
    private static let indexEntryByteCount = 16
    /// Of a message, but for its data.
    static let messageOverheadByteCount =
        MCAP.recordHeadByteCount + MCAP.Message.headByteCount + Self.indexEntryByteCount

    /// Of all that was returned so far: where the open chunk will begin.
    package private(set) var byteCount: UInt64 = 0
    private var chunk = Chunk()
    private var schemas: [MCAP.Schema] = []
    private var channels: [MCAP.Channel] = []
    private var chunkIndexes: [MCAP.ChunkIndex] = []
    private var attachmentIndexes: [MCAP.AttachmentIndex] = []
    private var metadataIndexes: [MCAP.MetadataIndex] = []
    private var statistics = MCAP.Statistics()
    /// Of schemas, channels and chunk indexes in the summary, kept so that the file's size can be told before its end.
    private var summaryByteCount: UInt64 = 512

    package init() {}

    /// Continues a file whose content is known, and of which `byteCount` bytes stay.
    init(continuing index: MCAPIndex, byteCount: UInt64) {
        self.byteCount = byteCount
        self.schemas = index.schemas.values.sorted { $0.id < $1.id }
        self.channels = index.channels.values.sorted { $0.id < $1.id }
        self.chunkIndexes = index.chunks
        self.attachmentIndexes = index.attachments
        self.metadataIndexes = index.metadataIndexes
        self.statistics = index.statistics
    }

    // MARK: Size

    /// The number of bytes in the open chunk.
    package var chunkByteCount: Int { self.chunk.records.count }

    /// The number of messages in the open chunk.
    package var chunkMessageCount: Int { self.chunk.messageCount }

    package var channelCount: Int { self.channels.count }

    /// Whether one more schema and one more channel can be added: their ids have 16 bits.
    package var hasRoomForChannel: Bool {
        max(self.schemas.count, self.channels.count) < Int(UInt16.max)
    }

    package var messageCount: UInt64 { self.statistics.messageCount }

    /// The size of the file if it ended now; at most some hundred bytes too much.
    package var fileByteCount: UInt64 {
        let indexes = self.chunk.indexes.count * 25 + self.chunk.messageCount * Self.indexEntryByteCount
        return self.byteCount + UInt64(self.chunk.records.count + indexes) + self.summaryByteCount
            + UInt64(128 + 20 * self.chunk.indexes.count)
    }

    // MARK: Writing

    /// The beginning of the file.
    package mutating func begin(library: String) -> [UInt8] {
        var content: [UInt8] = []
        content.append(text: "")  // The profile: none of the known ones.
        content.append(text: library)
        var bytes = MCAP.magic
        bytes.append(.header, content)
        return self.emit(bytes)
    }

    /// Named texts, behind all chunks so far.
    ///
    /// - Precondition: No chunk is open.
    package mutating func add(_ metadata: MCAP.Metadata) -> [UInt8] {
        precondition(self.chunk.records.isEmpty, "metadata are not part of a chunk")
        var bytes: [UInt8] = []
        bytes.append(.metadata, metadata.content)
        self.metadataIndexes.append(
            MCAP.MetadataIndex(
                offset: self.byteCount, byteCount: UInt64(bytes.count), name: metadata.name))
        self.summaryByteCount += UInt64(64 + metadata.name.utf8.count)
        return self.emit(bytes)
    }

    /// A file within the file, behind all chunks so far.
    ///
    /// - Precondition: No chunk is open.
    package mutating func add(_ attachment: MCAP.Attachment) -> [UInt8] {
        precondition(self.chunk.records.isEmpty, "an attachment is not part of a chunk")
        var bytes: [UInt8] = []
        bytes.append(.attachment, attachment.content)
        let index = MCAP.AttachmentIndex(
            offset: self.byteCount, byteCount: UInt64(bytes.count), logTime: attachment.logTime,
            dataByteCount: UInt64(attachment.data.count), name: attachment.name,
            mediaType: attachment.mediaType)
        self.attachmentIndexes.append(index)
        self.statistics.attachmentCount += 1
        self.summaryByteCount += UInt64(MCAP.recordHeadByteCount + index.content.count)
        return self.emit(bytes)
    }

    /// Adds a schema, if there is room; returns its id.
    package mutating func add(schema name: String, encoding: String, data: [UInt8]) -> UInt16 {
        let schema = MCAP.Schema(
            id: UInt16(clamping: self.schemas.count + 1), name: name, encoding: encoding, data: data)
        self.schemas.append(schema)
        self.add(.schema, schema.content)
        return schema.id
    }

    /// Adds a channel, if there is room; returns its id.
    package mutating func add(
        channel topic: String, schema: UInt16, encoding: String, metadata: [String: String] = [:]
    ) -> UInt16 {
        let channel = MCAP.Channel(
            id: UInt16(clamping: self.channels.count + 1), schema: schema, topic: topic, encoding: encoding,
            metadata: metadata)
        self.channels.append(channel)
        self.add(.channel, channel.content)
        return channel.id
    }

    private mutating func add(_ opcode: MCAP.Opcode, _ content: [UInt8]) {
        self.chunk.records.append(opcode, content)
        self.summaryByteCount += UInt64(MCAP.recordHeadByteCount + content.count + 10)
    }

    /// Adds a message to the open chunk. Its channel was added before.
    package mutating func add(_ message: MCAP.Message) {
        let entry = (time: message.logTime, offset: UInt64(self.chunk.records.count))
        self.chunk.indexes[message.channel, default: []].append(entry)
        self.chunk.startTime = min(self.chunk.startTime, message.logTime)
        self.chunk.endTime = max(self.chunk.endTime, message.logTime)
        self.chunk.messageCount += 1
        self.statistics.count(message.channel, at: message.logTime)
        message.write(to: &self.chunk.records)
    }

    /// Ends the open chunk, if it has anything.
    ///
    /// - Returns: The chunk and its indexes.
    package mutating func endChunk() -> [UInt8] {
        guard !self.chunk.records.isEmpty else { return [] }
        let chunk = self.chunk
        self.chunk = Chunk()
        var index = MCAP.ChunkIndex(offset: self.byteCount)
        if chunk.messageCount > 0 { (index.startTime, index.endTime) = (chunk.startTime, chunk.endTime) }
        index.recordByteCount = UInt64(chunk.records.count)
        index.compressedByteCount = index.recordByteCount

        var head: [UInt8] = []
        head.append(number: index.startTime)
        head.append(number: index.endTime)
        head.append(number: index.recordByteCount)
        head.append(number: CRC32.sum(chunk.records))
        head.append(text: "")
        head.append(number: index.recordByteCount)
        var record = [MCAP.Opcode.chunk.rawValue]
        record.append(number: UInt64(head.count + chunk.records.count))
        record += head
        record += chunk.records
        index.byteCount = UInt64(record.count)

        var indexes: [UInt8] = []
        for (channel, entries) in chunk.indexes.sorted(by: { $0.key < $1.key }) {
            index.messageIndexes[channel] = self.byteCount + index.byteCount + UInt64(indexes.count)
            indexes.append(.messageIndex, Self.messageIndex(channel, entries))
        }
        index.messageIndexByteCount = UInt64(indexes.count)
        self.byteCount += index.byteCount + index.messageIndexByteCount
        self.chunkIndexes.append(index)
        self.statistics.chunkCount += 1
        self.summaryByteCount += UInt64(90 + 20 * index.messageIndexes.count)
        return record + indexes
    }

    static func messageIndex(_ channel: UInt16, _ entries: [(time: UInt64, offset: UInt64)]) -> [UInt8] {
        var content: [UInt8] = []
        content.append(number: channel)
        content.append(number: UInt32(entries.count * Self.indexEntryByteCount))
        for entry in entries {
            content.append(number: entry.time)
            content.append(number: entry.offset)
        }
        return content
    }

    /// The end of the file: index and statistics.
    ///
    /// - Precondition: No chunk is open.
    package mutating func end() -> [UInt8] {
        precondition(self.chunk.records.isEmpty, "the last chunk is ended before the file")
        var bytes: [UInt8] = []
        bytes.append(.dataEnd, [0, 0, 0, 0])  // No sum of the data: each chunk has one.
        let summaryStart = self.byteCount + UInt64(bytes.count)
        var summary: [UInt8] = []
        var groups: [(MCAP.Opcode, start: Int)] = []
        func begin(_ opcode: MCAP.Opcode) { groups.append((opcode, summary.count)) }
        begin(.schema)
        for schema in self.schemas { summary.append(.schema, schema.content) }
        begin(.channel)
        for channel in self.channels { summary.append(.channel, channel.content) }
        begin(.statistics)
        summary.append(
            .statistics,
            self.statistics.content(
                schemaCount: self.schemas.count, channelCount: self.channels.count,
                metadataCount: self.metadataIndexes.count))
        begin(.chunkIndex)
        for index in self.chunkIndexes { summary.append(.chunkIndex, index.content) }
        begin(.attachmentIndex)
        for index in self.attachmentIndexes { summary.append(.attachmentIndex, index.content) }
        begin(.metadataIndex)
        for index in self.metadataIndexes { summary.append(.metadataIndex, index.content) }
        let offsetStart = summary.count
        for (place, group) in groups.enumerated() {
            let end = place + 1 < groups.count ? groups[place + 1].start : offsetStart
            guard end > group.start else { continue }
            var content = [group.0.rawValue]
            content.append(number: summaryStart + UInt64(group.start))
            content.append(number: UInt64(end - group.start))
            summary.append(.summaryOffset, content)
        }
        summary.append(MCAP.Opcode.footer.rawValue)
        summary.append(number: UInt64(20))
        summary.append(number: summaryStart)
        summary.append(number: summaryStart + UInt64(offsetStart))
        summary.append(number: CRC32.sum(summary))
        return self.emit(bytes + summary + MCAP.magic)
    }

    private mutating func emit(_ bytes: [UInt8]) -> [UInt8] {
        self.byteCount += UInt64(bytes.count)
        return bytes
    }
}
