package import WaymarkProtocol

/// What a channel of a recording has. Docs/recordings.md lists them.
package enum RecordedChannel: Sendable, Hashable {
    /// The frames of one connection and one way.
    case frames(Frames)
    /// Bytes of one connection and one way that are no frames.
    case broken(ConnectionID, ObservedFrames.Direction)
    /// What happened, as JSON.
    case events
    /// The records that changed, as an observer is told them.
    case records
    /// The state of the gateway, now and then.
    case state
    /// Where the parts of a state are, behind them.
    case mark

    /// A connection's frames in one way, with the same marks.
    package struct Frames: Sendable, Hashable {
        package var connection: ConnectionID
        package var direction: ObservedFrames.Direction
        package var isRejected = false
        package var isRedacted = false
        package var delivery = RecordedDelivery.whole

        package init(_ connection: ConnectionID, _ direction: ObservedFrames.Direction) {
            self.connection = connection
            self.direction = direction
        }
    }

    static let frameEncoding = "x-waymark-frame"
    static let bytesEncoding = "x-waymark-bytes"
    static let jsonEncoding = "json"
    static let markEncoding = "x-waymark-state-mark"

    /// Keys of a channel's metadata.
    enum Key {
        static let peer = "peer"
        static let role = "role"
        static let rejected = "rejected"
        static let redacted = "redacted"
        static let delivery = "delivery"
    }

    package var topic: String {
        switch self {
        case .frames(let frames): Self.topic(frames.connection, frames.direction)
        case .broken(let connection, let direction): Self.topic(connection, direction) + "/broken"
        case .events: "/events"
        case .records: "/records"
        case .state: "/state"
        case .mark: "/state/mark"
        }
    }

    private static func topic(_ connection: ConnectionID, _ direction: ObservedFrames.Direction) -> String {
        "/connection/\(connection.rawValue)/\(direction == .in ? "in" : "out")"
    }

    var encoding: String {
        switch self {
        case .frames, .records, .state: Self.frameEncoding
        case .broken: Self.bytesEncoding
        case .events: Self.jsonEncoding
        case .mark: Self.markEncoding
        }
    }

    /// nil for a channel that is none of a recording's.
    package init?(_ channel: MCAP.Channel) {
        switch (channel.topic, channel.encoding) {
        case ("/events", Self.jsonEncoding): self = .events
        case ("/records", Self.frameEncoding): self = .records
        case ("/state", Self.frameEncoding): self = .state
        case ("/state/mark", Self.markEncoding): self = .mark
        case (let topic, Self.frameEncoding):
            guard
                let (connection, direction) = Self.connection(
                    topic.split(separator: "/", omittingEmptySubsequences: false))
            else { return nil }
            var frames = Frames(connection, direction)
            frames.isRejected = channel.metadata[Key.rejected] == "true"
            frames.isRedacted = channel.metadata[Key.redacted] == "true"
            if let delivery = channel.metadata[Key.delivery] {
                // What became of it is not known to this build: it is not as it was sent.
                frames.delivery = RecordedDelivery(rawValue: delivery) ?? .corrupted
            }
            self = .frames(frames)
        case (let topic, Self.bytesEncoding):
            let parts = topic.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.last == "broken", let (connection, direction) = Self.connection(parts.dropLast())
            else { return nil }
            self = .broken(connection, direction)
        default: return nil
        }
    }

    /// What `/connection/N/in` or `/connection/N/out` says.
    private static func connection(
        _ parts: [Substring]
    ) -> (ConnectionID, ObservedFrames.Direction)? {
        guard parts.count == 4, parts[0].isEmpty, parts[1] == "connection",
            let number = UInt64(parts[2]), parts[3] == "in" || parts[3] == "out"
        else { return nil }
        return (ConnectionID(number), parts[3] == "in" ? .in : .out)
    }
}

/// What became of a frame on its way. A gateway sees only those that are whole.
package enum RecordedDelivery: String, Sendable, Hashable {
    /// It reached its receiver as it was sent.
    case whole
    /// It reached its receiver, and was not as it was sent.
    case corrupted
    /// It did not reach its receiver.
    case dropped
    /// It reached the gateway, which had a publication of this number already.
    case repeated
}

/// What is known of frames on their way, beside what an observer is told.
package struct RecordedTransit: Sendable, Hashable {
    /// Whose connection it is; nil: as an observer was told.
    package var peer: RecordedPeers.Peer?
    package var delivery = RecordedDelivery.whole
    /// When they were sent; nil: when they crossed.
    package var sent: RecordingTime?

    package init() {}
}

/// Says that the state is complete, and where its parts are.
struct StateIndex: Sendable, Hashable {
    /// The number of the last entry that the state includes.
    var number: UInt64
    /// The state was told anew: what was known before it is void.
    var isNew: Bool
    /// The mark's number in the file, which is also the sequence of its messages.
    var mark: UInt32
    /// Where the chunk is in which its records begin.
    var start: UInt64
    /// In which chunk the retained frames of each session are.
    var sessions: [(session: SessionID, chunk: UInt64)]

    static func == (lhs: Self, rhs: Self) -> Bool { lhs.data == rhs.data }
    func hash(into hasher: inout Hasher) { hasher.combine(self.data) }

    var data: [UInt8] {
        var data: [UInt8] = []
        data.append(number: self.number)
        data.append(number: UInt8(self.isNew ? 1 : 0))
        data.append(number: self.mark)
        data.append(number: self.start)
        for (session, chunk) in self.sessions {
            data.append(number: session.rawValue)
            data.append(number: chunk)
        }
        return data
    }

    init(number: UInt64, isNew: Bool, mark: UInt32, start: UInt64, sessions: [(SessionID, UInt64)]) {
        self.number = number
        self.isNew = isNew
        self.mark = mark
        self.start = start
        self.sessions = sessions.map { ($0.0, $0.1) }
    }

    init(_ data: ArraySlice<UInt8>) throws(RecordingError) {
        let bytes = Array(data)
        var cursor = MCAPCursor(bytes, 0..<bytes.count)
        self.number = try cursor.number()
        self.isNew = try cursor.number(UInt8.self) != 0
        self.mark = try cursor.number()
        self.start = try cursor.number()
        self.sessions = []
        while !cursor.isAtEnd {
            self.sessions.append((SessionID(try cursor.number()), try cursor.number()))
        }
    }
}
