internal import Glibc
internal import WaymarkProtocol

/// Makes of a recording one that general tools show: a channel for each connection, way and message, with the bodies as protobuf, and
/// the fields of the frames' headers as JSON beside them. A value without I/O.
package struct DecodedExport: Sendable {
    private var writer = MCAPWriter()
    private let recording: Recording
    private var schemas: [UInt16: UInt16] = [:]
    private var channels: [String: UInt16] = [:]
    private static let chunkBytesMax = 1_048_576

    package init(_ recording: Recording) { self.recording = recording }

    /// How many messages were written.
    package var messageCount: UInt64 { self.writer.messageCount }

    /// Writes everything, in pieces.
    package mutating func write(
        _ output: ([UInt8]) throws(RecordingError) -> Void
    ) throws(RecordingError) {
        try output(self.writer.begin(library: Software.name))
        for metadata in self.recording.index.metadata { try output(self.writer.add(metadata)) }
        for index in self.recording.index.attachments {
            try output(self.writer.add(try self.recording.attachment(index)))
        }
        for index in self.recording.index.chunks {
            for message in try self.recording.chunk(index).messages { self.add(message) }
            if self.writer.chunkByteCount >= Self.chunkBytesMax { try output(self.writer.endChunk()) }
        }
        try output(self.writer.endChunk())
        try output(self.writer.end())
    }

    private mutating func add(_ message: MCAP.Message) {
        guard let channel = self.recording.index.channels[message.channel] else { return }
        switch RecordedChannel(channel) {
        case .frames:
            guard let frame = Recording.frame(message.data) else { return }
            self.add(frame, of: channel, message)
        case .events:
            let id = self.channel(channel.topic, schema: 0, channel.encoding)
            self.add(message, id, message.data)
        case .broken, .records, .state, .mark, nil: break  // No frames, and what readers seek with.
        }
    }

    private mutating func add(_ frame: Frame, of channel: MCAP.Channel, _ message: MCAP.Message) {
        let header = self.channel(
            channel.topic + "/header", schema: 0, RecordedChannel.jsonEncoding, channel.metadata)
        self.add(message, header, Array(self.text(of: frame.header).utf8)[...])
        // Of an unknown type nothing is known but the header.
        guard let type = frame.header.type else { return }
        let word = "\(type)"
        let name = word.prefix(1).uppercased() + word.dropFirst()
        let schema = self.schema(frame.header.rawType, name)
        let id = self.channel("\(channel.topic)/\(name)", schema: schema, "protobuf", channel.metadata)
        self.add(message, id, frame.body)
    }

    private mutating func add(_ message: MCAP.Message, _ channel: UInt16, _ data: ArraySlice<UInt8>) {
        var message = message
        (message.channel, message.data) = (channel, data)
        self.writer.add(message)
    }

    private mutating func schema(_ type: UInt16, _ name: String) -> UInt16 {
        if let id = self.schemas[type] { return id }
        let id = self.writer.add(
            schema: "waymark.v1.\(name)", encoding: "protobuf", data: Recording.descriptorSet)
        self.schemas[type] = id
        return id
    }

    private mutating func channel(
        _ topic: String, schema: UInt16, _ encoding: String, _ metadata: [String: String] = [:]
    ) -> UInt16 {
        let marks = [RecordedChannel.Key.rejected, RecordedChannel.Key.redacted].filter {
            metadata[$0] != nil
        }
        let key = ([topic] + marks).joined(separator: " ")
        if let id = self.channels[key] { return id }
        let id = self.writer.add(channel: topic, schema: schema, encoding: encoding, metadata: metadata)
        self.channels[key] = id
        return id
    }

    private func text(of header: FrameHeader) -> String {
        var object = JSONObject()
        object["type"] = .number(UInt64(header.rawType))
        object["message"] = .text(header.type.map { "\($0)" } ?? "")
        object["flags"] = .number(UInt64(header.flags.rawValue))
        object["key"] = .number(UInt64(header.key))
        object["session"] = .number(UInt64(header.session.rawValue))
        object["sequence"] = .number(header.sequence)
        object["bytes"] = .number(UInt64(header.frameByteCount))
        return object.text
    }
}

extension DecodedExport {
    /// Writes everything to a new file.
    ///
    /// - Throws: Also if there is a file; one that could not be written to its end is removed.
    package mutating func write(to path: String) throws(RecordingError) {
        guard var output = try FileOutput.create(path: path) else { throw .failed(EEXIST) }
        defer { output.close() }
        do throws(RecordingError) {
            try self.write { bytes throws(RecordingError) in try output.append(bytes) }
            try output.sync()
        } catch {
            _ = unsafe unlink(path)
            throw error
        }
    }
}
