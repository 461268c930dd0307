internal import WaymarkCodec
internal import WaymarkProtocol

/// One file of a recorder: its channels, and what its last state is.
struct RecorderFile: Sendable {
    var writer = MCAPWriter()
    let begin: RecordingTime
    /// The schema of all frames; 0: not added so far.
    private var schema: UInt16 = 0
    private var channels: [RecordedChannel: UInt16] = [:]
    /// No earlier message has a later time.
    private var lastTime: RecordingTime

    /// It has more than the state that it began with.
    private(set) var hasFrames = false
    private(set) var byteCountSinceState = 0
    /// Something was added since the last state.
    private(set) var isChanged = false
    private(set) var lastState: RecordingTime
    /// Of what was written for the last state.
    private(set) var stateByteCount = 0
    private var markCount: UInt32 = 0
    private var mark = StateIndex(number: 0, isNew: true, mark: 0, start: 0, sessions: [])
    /// In which chunk the newest retained frames of each session are.
    private var places: [SessionID: UInt64] = [:]

    init(begin: RecordingTime) {
        self.begin = begin
        (self.lastTime, self.lastState) = (begin, begin)
    }

    /// Returns the file's first bytes.
    mutating func beginning(
        _ values: [String: String], _ attachments: [MCAP.Attachment]
    ) -> [UInt8] {
        var bytes = self.writer.begin(library: Software.name)
        bytes += self.writer.add(MCAP.Metadata(name: Recording.metadataName, values: values))
        for var attachment in attachments {
            attachment.logTime = self.begin.nanoseconds
            bytes += self.writer.add(attachment)
        }
        return bytes
    }

    // MARK: Messages

    mutating func add(
        _ channel: RecordedChannel, _ data: ArraySlice<UInt8>, peer: RecordedPeers.Peer? = nil,
        number: UInt64, at time: RecordingTime, sent: RecordingTime? = nil
    ) {
        self.lastTime = max(self.lastTime, time)
        self.isChanged = true
        self.write(
            channel, data, peer, sequence: UInt32(truncatingIfNeeded: number), at: time, sent: sent)
    }

    mutating func noteFrames(_ byteCount: Int) {
        self.hasFrames = true
        self.byteCountSinceState += byteCount
    }

    private mutating func write(
        _ channel: RecordedChannel, _ data: ArraySlice<UInt8>, _ peer: RecordedPeers.Peer? = nil,
        sequence: UInt32, at time: RecordingTime, sent: RecordingTime? = nil
    ) {
        // The next file begins before there are so many, unless the gateway has not told its state; that is recorded as far as it goes.
        guard let id = self.id(of: channel, peer) else { return }
        self.writer.add(
            MCAP.Message(
                channel: id, sequence: sequence, logTime: time.nanoseconds,
                publishTime: (sent ?? time).nanoseconds, data: data))
    }

    /// nil if the file can have no more channels.
    private mutating func id(of channel: RecordedChannel, _ peer: RecordedPeers.Peer?) -> UInt16? {
        if let id = self.channels[channel] { return id }
        guard self.writer.hasRoomForChannel else { return nil }
        var metadata: [String: String] = [:]
        if let peer {
            metadata[RecordedChannel.Key.peer] = peer.name
            if !peer.role.isEmpty { metadata[RecordedChannel.Key.role] = peer.role }
        }
        if case .frames(let frames) = channel {
            if frames.isRejected { metadata[RecordedChannel.Key.rejected] = "true" }
            if frames.isRedacted { metadata[RecordedChannel.Key.redacted] = "true" }
            if frames.delivery != .whole {
                metadata[RecordedChannel.Key.delivery] = frames.delivery.rawValue
            }
        }
        if self.schema == 0, channel.encoding == RecordedChannel.frameEncoding {
            self.schema = self.writer.add(
                schema: "waymark.v1", encoding: "protobuf", data: Recording.descriptorSet)
        }
        let schema = channel.encoding == RecordedChannel.frameEncoding ? self.schema : 0
        let id = self.writer.add(
            channel: channel.topic, schema: schema, encoding: channel.encoding, metadata: metadata)
        self.channels[channel] = id
        return id
    }

    // MARK: The state

    mutating func beginState(at now: RecordingTime, isNew: Bool) {
        self.markCount += 1
        self.lastState = now
        self.stateByteCount = 0
        self.mark = StateIndex(
            number: 0, isNew: isNew, mark: self.markCount, start: self.writer.byteCount, sessions: [])
    }

    mutating func addState(_ records: ObservedRecords) {
        let frame = Codec.encode(Envelope(.observedRecords(records)))
        self.stateByteCount += frame.bytes.count
        self.write(.state, frame.bytes, sequence: self.markCount, at: self.lastTime)
    }

    /// Forgets the places of all other sessions.
    mutating func keepPlaces(of sessions: [SessionID]) {
        let sessions = Set(sessions)
        self.places = self.places.filter { sessions.contains($0.key) }
    }

    func hasPlace(of session: SessionID) -> Bool { self.places[session] != nil }

    /// The retained frames of a session follow.
    mutating func beginSession(_ session: SessionID) { self.places[session] = self.writer.byteCount }

    /// The state is complete, with the entry of this number.
    mutating func endState(number: UInt64) {
        self.mark.number = number
        self.mark.sessions = self.places.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        self.write(.mark, self.mark.data[...], sequence: self.markCount, at: self.lastTime)
        (self.byteCountSinceState, self.isChanged) = (0, false)
    }
}
