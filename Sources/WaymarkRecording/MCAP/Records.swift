internal import WaymarkProtocol

/// The container of recordings.
///
/// - Source: https://mcap.dev/spec
package enum MCAP {
    static let magic: [UInt8] = [0x89, 0x4D, 0x43, 0x41, 0x50, 0x30, 0x0D, 0x0A]

    enum Opcode: UInt8 {
        case header = 1
        case footer = 2
        case schema = 3
        case channel = 4
        case message = 5
        case chunk = 6
        case messageIndex = 7
        case chunkIndex = 8
        case attachment = 9
        case attachmentIndex = 10
        case statistics = 11
        case metadata = 12
        case metadataIndex = 13
        case summaryOffset = 14
        case dataEnd = 15
    }

    /// Opcode and length in front of each record's content.
    static let recordHeadByteCount = 9
    static let footerByteCount = Self.recordHeadByteCount + 20

    /// What the messages of channels are made of.
    package struct Schema: Sendable, Hashable {
        package var id: UInt16
        package var name: String
        package var encoding: String
        package var data: [UInt8]

        package init(id: UInt16, name: String, encoding: String, data: [UInt8]) {
            self.id = id
            self.name = name
            self.encoding = encoding
            self.data = data
        }
    }

    /// A source of messages.
    package struct Channel: Sendable, Hashable {
        package var id: UInt16
        /// 0: none.
        package var schema: UInt16
        package var topic: String
        package var encoding: String
        package var metadata: [String: String]

        package init(
            id: UInt16, schema: UInt16 = 0, topic: String, encoding: String, metadata: [String: String] = [:]
        ) {
            self.id = id
            self.schema = schema
            self.topic = topic
            self.encoding = encoding
            self.metadata = metadata
        }
    }

    /// One message of a channel. Times are nanoseconds since 1970.
    package struct Message: Sendable, Hashable {
        package var channel: UInt16
        package var sequence: UInt32
        package var logTime: UInt64
        package var publishTime: UInt64
        package var data: ArraySlice<UInt8>

        package init(
            channel: UInt16, sequence: UInt32, logTime: UInt64, publishTime: UInt64, data: ArraySlice<UInt8>
        ) {
            self.channel = channel
            self.sequence = sequence
            self.logTime = logTime
            self.publishTime = publishTime
            self.data = data
        }
    }

    /// Named texts about the file.
    package struct Metadata: Sendable, Hashable {
        package var name: String
        package var values: [String: String]

        package init(name: String, values: [String: String]) {
            self.name = name
            self.values = values
        }
    }

    /// Where a chunk is, and what it has.
    package struct ChunkIndex: Sendable, Hashable {
        /// Of its messages; 0 without any.
        package var startTime: UInt64 = 0
        package var endTime: UInt64 = 0
        /// Of the whole record in the file.
        package var offset: UInt64
        package var byteCount: UInt64 = 0
        /// By channel: where its MessageIndex is.
        package var messageIndexes: [UInt16: UInt64] = [:]
        package var messageIndexByteCount: UInt64 = 0
        package var compression = ""
        package var compressedByteCount: UInt64 = 0
        package var recordByteCount: UInt64 = 0

        package init(offset: UInt64) { self.offset = offset }
    }

    struct MetadataIndex: Sendable, Hashable {
        var offset: UInt64
        var byteCount: UInt64
        var name: String
    }

    /// How much a file has.
    package struct Statistics: Sendable, Hashable {
        package var startTime: UInt64 = 0
        package var endTime: UInt64 = 0
        /// By channel.
        package var messages: [UInt16: UInt64] = [:]
        package var attachmentCount: UInt32 = 0
        package var chunkCount: UInt32 = 0

        package var messageCount: UInt64 { self.messages.values.reduce(0) { $0.addingSaturating($1) } }

        /// Counts a message.
        mutating func count(_ channel: UInt16, at time: UInt64) {
            let isFirst = self.messages.isEmpty
            self.startTime = isFirst ? time : min(self.startTime, time)
            self.endTime = isFirst ? time : max(self.endTime, time)
            self.messages[channel, default: 0] += 1
        }
    }
}

// MARK: Contents of records

extension MCAP.Schema {
    var content: [UInt8] {
        var content: [UInt8] = []
        content.append(number: self.id)
        content.append(text: self.name)
        content.append(text: self.encoding)
        content.append(number: UInt32(self.data.count))
        return content + self.data
    }

    init(_ cursor: inout MCAPCursor) throws(RecordingError) {
        let id: UInt16 = try cursor.number()
        let (name, encoding) = (try cursor.text(), try cursor.text())
        let length: UInt32 = try cursor.number()
        self.init(id: id, name: name, encoding: encoding, data: Array(try cursor.slice(length)))
    }
}

extension MCAP.Channel {
    var content: [UInt8] {
        var content: [UInt8] = []
        content.append(number: self.id)
        content.append(number: self.schema)
        content.append(text: self.topic)
        content.append(text: self.encoding)
        content.append(map: self.metadata)
        return content
    }

    init(_ cursor: inout MCAPCursor) throws(RecordingError) {
        let (id, schema): (UInt16, UInt16) = (try cursor.number(), try cursor.number())
        let (topic, encoding) = (try cursor.text(), try cursor.text())
        self.init(id: id, schema: schema, topic: topic, encoding: encoding, metadata: try cursor.texts())
    }
}

extension MCAP.Message {
    /// Of the content without the data.
    static let headByteCount = 22

    /// Appends the whole record.
    func write(to bytes: inout [UInt8]) {
        bytes.append(MCAP.Opcode.message.rawValue)
        bytes.append(number: UInt64(Self.headByteCount + self.data.count))
        bytes.append(number: self.channel)
        bytes.append(number: self.sequence)
        bytes.append(number: self.logTime)
        bytes.append(number: self.publishTime)
        bytes += self.data
    }

    init(_ cursor: inout MCAPCursor) throws(RecordingError) {
        let channel: UInt16 = try cursor.number()
        let sequence: UInt32 = try cursor.number()
        let (logTime, publishTime): (UInt64, UInt64) = (try cursor.number(), try cursor.number())
        self.init(
            channel: channel, sequence: sequence, logTime: logTime, publishTime: publishTime,
            data: try cursor.rest())
    }
}

extension MCAP.Metadata {
    var content: [UInt8] {
        var content: [UInt8] = []
        content.append(text: self.name)
        content.append(map: self.values)
        return content
    }

    init(_ cursor: inout MCAPCursor) throws(RecordingError) {
        self.init(name: try cursor.text(), values: try cursor.texts())
    }
}

extension MCAP.ChunkIndex {
    var content: [UInt8] {
        var content: [UInt8] = []
        for number in [self.startTime, self.endTime, self.offset, self.byteCount] {
            content.append(number: number)
        }
        content.append(map: self.messageIndexes)
        content.append(number: self.messageIndexByteCount)
        content.append(text: self.compression)
        content.append(number: self.compressedByteCount)
        content.append(number: self.recordByteCount)
        return content
    }

    init(_ cursor: inout MCAPCursor) throws(RecordingError) {
        let (start, end): (UInt64, UInt64) = (try cursor.number(), try cursor.number())
        self.init(offset: try cursor.number())
        (self.startTime, self.endTime) = (start, end)
        self.byteCount = try cursor.number()
        self.messageIndexes = try cursor.numbers()
        self.messageIndexByteCount = try cursor.number()
        self.compression = try cursor.text()
        self.compressedByteCount = try cursor.number()
        self.recordByteCount = try cursor.number()
    }
}

extension MCAP.MetadataIndex {
    var content: [UInt8] {
        var content: [UInt8] = []
        content.append(number: self.offset)
        content.append(number: self.byteCount)
        content.append(text: self.name)
        return content
    }

    init(_ cursor: inout MCAPCursor) throws(RecordingError) {
        let (offset, byteCount): (UInt64, UInt64) = (try cursor.number(), try cursor.number())
        self.init(offset: offset, byteCount: byteCount, name: try cursor.text())
    }
}

extension MCAP.Statistics {
    func content(schemaCount: Int, channelCount: Int, metadataCount: Int) -> [UInt8] {
        var content: [UInt8] = []
        content.append(number: self.messageCount)
        content.append(number: UInt16(clamping: schemaCount))
        content.append(number: UInt32(channelCount))
        content.append(number: self.attachmentCount)
        content.append(number: UInt32(metadataCount))
        content.append(number: self.chunkCount)
        content.append(number: self.startTime)
        content.append(number: self.endTime)
        content.append(map: self.messages)
        return content
    }

    /// Reads them, and what they say of other counts.
    static func read(
        _ cursor: inout MCAPCursor
    ) throws(RecordingError) -> (Self, MCAPIndex.DeclaredCounts) {
        var counts = MCAPIndex.DeclaredCounts(messages: try cursor.number())
        counts.schemas = try cursor.number()
        counts.channels = try cursor.number()
        var statistics = Self()
        statistics.attachmentCount = try cursor.number()
        counts.metadata = try cursor.number()
        try statistics.readRest(&cursor)
        return (statistics, counts)
    }

    private mutating func readRest(_ cursor: inout MCAPCursor) throws(RecordingError) {
        self.chunkCount = try cursor.number()
        self.startTime = try cursor.number()
        self.endTime = try cursor.number()
        self.messages = try cursor.numbers()
    }
}
