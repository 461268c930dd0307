/// What a summary says of a file, checked against itself and the file's size, before anything is read where it says.
///
/// A file that names one chunk many times would otherwise be read as often: the work for a file is bounded by its size.
extension MCAPIndex {
    /// A part of the file that the summary names.
    private struct Part {
        let name: String
        let offset: UInt64
        let byteCount: UInt64
    }

    /// The first thing that cannot be, with the name of its field in the specification; nil if there is none.
    ///
    /// `end`: where the summary begins.
    func contradiction(before end: UInt64) -> String? {
        self.contradictionOfParts(before: end) ?? self.contradictionOfChunks
            ?? self.contradictionOfStatistics ?? self.contradictionOfChannels
    }

    private func contradictionOfParts(before end: UInt64) -> String? {
        var parts: [Part] = []
        for (place, chunk) in self.chunks.enumerated() {
            let name = "chunk \(place + 1)"
            let (sum, isTooLong) = chunk.byteCount.addingReportingOverflow(chunk.messageIndexByteCount)
            guard !isTooLong else { return "\(name): message_index_length \(chunk.messageIndexByteCount)" }
            parts.append(Part(name: name, offset: chunk.offset, byteCount: sum))
        }
        for attachment in self.attachments {
            parts.append(
                Part(
                    name: "attachment \(attachment.name)", offset: attachment.offset,
                    byteCount: attachment.byteCount))
        }
        for metadata in self.metadataIndexes {
            parts.append(
                Part(
                    name: "metadata \(metadata.name)", offset: metadata.offset, byteCount: metadata.byteCount)
            )
        }
        var last: (name: String, end: UInt64) = ("the file's beginning", UInt64(MCAP.magic.count))
        for part in parts.sorted(by: { $0.offset < $1.offset }) {
            guard part.offset >= last.end else {
                return "\(part.name): offset \(part.offset) is before the end of \(last.name), \(last.end)"
            }
            guard part.byteCount > UInt64(MCAP.recordHeadByteCount), part.offset <= end,
                part.byteCount <= end - part.offset
            else {
                return
                    "\(part.name): offset \(part.offset) and length \(part.byteCount), but the summary is at \(end)"
            }
            last = (part.name, part.offset + part.byteCount)
        }
        return nil
    }

    private var contradictionOfChunks: String? {
        for (place, chunk) in self.chunks.enumerated() {
            let name = "chunk \(place + 1)"
            if chunk.startTime > chunk.endTime {
                return
                    "\(name): message_start_time \(chunk.startTime) is after message_end_time \(chunk.endTime)"
            }
            if chunk.compressedByteCount > chunk.byteCount {
                return
                    "\(name): compressed_size \(chunk.compressedByteCount) is more than its length \(chunk.byteCount)"
            }
            if chunk.compression.isEmpty, chunk.recordByteCount != chunk.compressedByteCount {
                return
                    "\(name): uncompressed_size \(chunk.recordByteCount), but compressed_size \(chunk.compressedByteCount)"
            }
            let indexes =
                chunk.offset + chunk.byteCount..<chunk.offset + chunk.byteCount
                + chunk.messageIndexByteCount
            for (channel, offset) in chunk.messageIndexes.sorted(by: { $0.key < $1.key }) {
                guard indexes.contains(offset) else {
                    return "\(name): message_index_offsets of channel \(channel) is \(offset)"
                }
                guard self.channels[channel] != nil else {
                    return "\(name): message_index_offsets has channel \(channel), which is none"
                }
            }
        }
        return nil
    }

    private var contradictionOfStatistics: String? {
        // A file without statistics has no other numbers either.
        guard let counts = self.declaredCounts else {
            return self.chunks.isEmpty ? nil : "statistics are missing"
        }
        func contradiction(_ field: String, _ said: some BinaryInteger, _ true: some BinaryInteger) -> String?
        {
            said == `true` ? nil : "statistics: \(field) is \(said), but there are \(`true`)"
        }
        let statistics = self.statistics
        if let text = contradiction("chunk_count", statistics.chunkCount, self.chunks.count)
            ?? contradiction("attachment_count", statistics.attachmentCount, self.attachments.count)
            ?? contradiction("metadata_count", counts.metadata, self.metadataIndexes.count)
            ?? contradiction("schema_count", counts.schemas, self.schemas.count)
            ?? contradiction("channel_count", counts.channels, self.channels.count)
        {
            return text
        }
        let room = self.chunks.reduce(UInt64(0)) { $0 + ($1.compression.isEmpty ? $1.recordByteCount : 0) }
        var sum: UInt64 = 0
        for (channel, count) in statistics.messages.sorted(by: { $0.key < $1.key }) {
            guard self.channels[channel] != nil else {
                return "statistics: channel_message_counts has channel \(channel), which is none"
            }
            let (next, isTooLarge) = sum.addingReportingOverflow(count)
            guard !isTooLarge else { return "statistics: channel_message_counts of \(channel) is \(count)" }
            sum = next
        }
        if sum != counts.messages {
            return "statistics: message_count is \(counts.messages), but the channels have \(sum)"
        }
        let isCompressed = self.chunks.contains { !$0.compression.isEmpty }
        if !isCompressed, sum > room / UInt64(MCAP.recordHeadByteCount + MCAP.Message.headByteCount) {
            return "statistics: message_count is \(sum), but the chunks have only \(room) bytes"
        }
        return self.contradictionOfTimes(messageCount: sum)
    }

    private func contradictionOfTimes(messageCount: UInt64) -> String? {
        // Only chunks with indexes are known to have messages.
        let chunks = self.chunks.filter { !$0.messageIndexes.isEmpty }
        guard messageCount > 0, let start = chunks.map(\.startTime).min(),
            let end = chunks.map(\.endTime).max()
        else { return nil }
        let statistics = self.statistics
        if statistics.startTime > start || statistics.startTime > statistics.endTime {
            return "statistics: message_start_time is \(statistics.startTime), but a chunk begins at \(start)"
        }
        if statistics.endTime < end {
            return "statistics: message_end_time is \(statistics.endTime), but a chunk ends at \(end)"
        }
        // Others may have chunks without indexes.
        guard chunks.count == self.chunks.count else { return nil }
        if statistics.startTime != start {
            return "statistics: message_start_time is \(statistics.startTime), but the first is at \(start)"
        }
        if statistics.endTime != end {
            return "statistics: message_end_time is \(statistics.endTime), but the last is at \(end)"
        }
        return nil
    }

    private var contradictionOfChannels: String? {
        for channel in self.channels.values.sorted(by: { $0.id < $1.id })
        where channel.schema != 0 && self.schemas[channel.schema] == nil {
            return "channel \(channel.id): schema_id \(channel.schema) is of no schema"
        }
        return nil
    }
}
