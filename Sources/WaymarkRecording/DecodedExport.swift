internal import WaymarkProtocol

/// Makes of a recording one that general tools show: a channel for each connection, way and message, with the bodies as protobuf, and
/// the fields of the frames' headers as JSON beside them. A value without I/O.
package struct DecodedExport: RecordingCopy, Sendable {
    package var writer = MCAPWriter()
    package let recording: Recording
    private var schemas: [UInt16: UInt16] = [:]
    private var channels: [String: UInt16] = [:]

    /// Messages that were left out, because the file would have more channels than its ids can tell apart.
    package private(set) var leftOutCount: UInt64 = 0

    package init(_ recording: Recording) { self.recording = recording }

    /// How many messages were written.
    package var messageCount: UInt64 { self.writer.messageCount }

    package mutating func add(_ message: MCAP.Message) {
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
        let schema = self.schema(frame.header.rawType, type.title)
        let id = self.channel("\(channel.topic)/\(type.title)", schema: schema, "protobuf", channel.metadata)
        self.add(message, id, frame.body)
    }

    private mutating func add(_ message: MCAP.Message, _ channel: UInt16?, _ data: ArraySlice<UInt8>) {
        guard let channel else { return self.leftOutCount.addSaturating(1) }
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
    ) -> UInt16? {
        let marks = [RecordedChannel.Key.rejected, RecordedChannel.Key.redacted].filter {
            metadata[$0] != nil
        }
        let key = ([topic] + marks).joined(separator: " ")
        if let id = self.channels[key] { return id }
        guard self.writer.hasRoomForChannel else { return nil }
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
