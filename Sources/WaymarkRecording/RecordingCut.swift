package import WaymarkProtocol

/// A part of a recording: the frames of some connections, and events. The states of the gateway are left out, since they are of all
/// connections: a reader begins at the beginning. A value without I/O.
package struct RecordingCut: RecordingCopy, Sendable {
    package let recording: Recording
    private let connections: Set<ConnectionID>
    private let keepsEvent: @Sendable (String) -> Bool
    package var writer = MCAPWriter()
    private var schemas: [UInt16: UInt16] = [:]
    private var channels: [UInt16: UInt16] = [:]

    /// `keepsEvent` gets the lines of `/events`.
    package init(
        _ recording: Recording, keeping connections: Set<ConnectionID>,
        keepsEvent: @escaping @Sendable (String) -> Bool
    ) {
        (self.recording, self.connections, self.keepsEvent) = (recording, connections, keepsEvent)
    }

    private func isKept(_ message: MCAP.Message) -> Bool {
        guard let channel = self.recording.index.channels[message.channel] else { return false }
        return switch RecordedChannel(channel) {
        case .frames(let frames): self.connections.contains(frames.connection)
        case .broken(let connection, _): self.connections.contains(connection)
        case .events: self.keepsEvent(String(decoding: message.data, as: UTF8.self))
        case .records, .state, .mark, nil: false
        }
    }

    package mutating func add(_ message: MCAP.Message) {
        var message = message
        guard self.isKept(message), let id = self.channel(message.channel) else { return }
        message.channel = id
        self.writer.add(message)
    }

    private mutating func channel(_ id: UInt16) -> UInt16? {
        if let known = self.channels[id] { return known }
        guard let channel = self.recording.index.channels[id], self.writer.hasRoomForChannel else {
            return nil
        }
        var schema: UInt16 = 0
        if let old = self.recording.index.schemas[channel.schema] {
            schema =
                self.schemas[old.id]
                ?? self.writer.add(schema: old.name, encoding: old.encoding, data: old.data)
            self.schemas[old.id] = schema
        }
        let new = self.writer.add(
            channel: channel.topic, schema: schema, encoding: channel.encoding, metadata: channel.metadata)
        self.channels[id] = new
        return new
    }
}
