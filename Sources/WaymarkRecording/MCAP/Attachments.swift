extension MCAP {
    /// A file within the file, behind its chunks or before them.
    package struct Attachment: Sendable, Hashable {
        package var name: String
        /// E.g. `application/json`.
        package var mediaType: String
        /// When it was attached. Nanoseconds since 1970.
        package var logTime: UInt64 = 0
        package var data: [UInt8]

        package init(name: String, mediaType: String, data: [UInt8]) {
            self.name = name
            self.mediaType = mediaType
            self.data = data
        }
    }

    /// Where an attachment is, and what it is called.
    package struct AttachmentIndex: Sendable, Hashable {
        /// Of the whole record in the file.
        package var offset: UInt64
        package var byteCount: UInt64
        package var logTime: UInt64
        /// Of its data.
        package var dataByteCount: UInt64
        package var name: String
        package var mediaType: String
    }
}

extension MCAP.Attachment {
    /// Without its sum.
    private var head: [UInt8] {
        var content: [UInt8] = []
        content.append(number: self.logTime)
        content.append(number: UInt64(0))  // When the file was made: not known.
        content.append(text: self.name)
        content.append(text: self.mediaType)
        content.append(number: UInt64(self.data.count))
        return content
    }

    var content: [UInt8] {
        var content = self.head + self.data
        content.append(number: CRC32.sum(content))
        return content
    }

    /// Reads the content of a record, and checks its sum.
    init(_ bytes: [UInt8], _ range: Range<Int>) throws(RecordingError) {
        var cursor = MCAPCursor(bytes, range)
        let logTime: UInt64 = try cursor.number()
        _ = try cursor.number(UInt64.self)
        let (name, mediaType) = (try cursor.text(), try cursor.text())
        let length: UInt64 = try cursor.number()
        self.init(name: name, mediaType: mediaType, data: Array(try cursor.slice(length)))
        self.logTime = logTime
        let end = cursor.offset
        let sum: UInt32 = try cursor.number()
        guard sum != 0 else { return }
        var crc = CRC32()
        crc.add(bytes, range.lowerBound..<end)
        guard crc.value == sum else { throw .malformed("the sum of the attachment \(name) is wrong") }
    }
}

extension MCAP.AttachmentIndex {
    var content: [UInt8] {
        var content: [UInt8] = []
        content.append(number: self.offset)
        content.append(number: self.byteCount)
        content.append(number: self.logTime)
        content.append(number: UInt64(0))
        content.append(number: self.dataByteCount)
        content.append(text: self.name)
        content.append(text: self.mediaType)
        return content
    }

    init(_ cursor: inout MCAPCursor) throws(RecordingError) {
        let (offset, byteCount): (UInt64, UInt64) = (try cursor.number(), try cursor.number())
        let logTime: UInt64 = try cursor.number()
        _ = try cursor.number(UInt64.self)
        let dataByteCount: UInt64 = try cursor.number()
        self.init(
            offset: offset, byteCount: byteCount, logTime: logTime, dataByteCount: dataByteCount,
            name: try cursor.text(), mediaType: try cursor.text())
    }

    /// Of the attachment at `offset`, by the first bytes of its record's content, which is `length` bytes long.
    init(_ head: [UInt8], length: UInt64, at offset: UInt64) throws(RecordingError) {
        var cursor = MCAPCursor(head, 0..<head.count)
        let logTime: UInt64 = try cursor.number()
        _ = try cursor.number(UInt64.self)
        let (name, mediaType) = (try cursor.text(), try cursor.text())
        let dataByteCount: UInt64 = try cursor.number()
        let rest = length - UInt64(cursor.offset)
        guard rest >= 4, dataByteCount == rest - 4 else {
            throw .malformed("attachment \(name): data_size is \(dataByteCount)")
        }
        self.init(
            offset: offset, byteCount: UInt64(MCAP.recordHeadByteCount) + length, logTime: logTime,
            dataByteCount: dataByteCount, name: name, mediaType: mediaType)
    }

    /// So many bytes are read for ``init(_:length:at:)``: names that are longer are none.
    static let headByteCountMax: UInt64 = 65_536
}

extension Recording {
    /// Reads an attachment.
    package func attachment(_ index: MCAP.AttachmentIndex) throws(RecordingError) -> MCAP.Attachment {
        guard index.byteCount <= MCAPIndex.chunkByteCountMax else {
            throw .unsupported("the attachment \(index.name) is larger than this program reads")
        }
        guard index.byteCount > UInt64(MCAP.recordHeadByteCount), index.offset <= self.source.byteCount,
            index.byteCount <= self.source.byteCount - index.offset
        else { throw .malformed("attachment \(index.name): its length is \(index.byteCount)") }
        let record = try self.source.read(index.offset..<index.offset + index.byteCount)
        var cursor = MCAPCursor(record, 0..<record.count)
        let (opcode, content) = try cursor.record()
        guard opcode == MCAP.Opcode.attachment.rawValue, content.upperBound == record.count else {
            throw .malformed("attachment \(index.name): there is none at offset \(index.offset)")
        }
        let attachment = try MCAP.Attachment(record, content)
        guard attachment.name == index.name, UInt64(attachment.data.count) == index.dataByteCount else {
            throw .malformed("attachment \(index.name): name or data_size is another than its index says")
        }
        return attachment
    }
}
