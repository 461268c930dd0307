internal import WaymarkCodec
package import WaymarkProtocol

/// Makes a recording of what an observer is told. A value without clock or I/O: it says what to write.
///
/// Its files have channels for each connection and way, the events, the records that changed, and from time to time the state, so
/// that a reader can begin there.
package struct Recorder: Sendable {
    package struct Options: Sendable {
        /// Places, texts and unknown fields are removed before anything is written.
        package var redactsPlaces = false
        /// A file that would be longer ends before; a state alone may be longer.
        package var fileBytesMax: UInt64 = 1_073_741_824
        package var fileDurationMax = Duration.seconds(24 * 3_600)
        package var chunkBytesMax = 1_048_576
        /// After so many bytes of frames, or of the last state if that was more, the state is written again.
        package var stateBytes = 4_194_304
        package var stateInterval = Duration.seconds(60)
        package var syncInterval = Duration.seconds(10)
        /// MCAP numbers channels with 16 bits.
        package var channelsMax = 60_000
        /// What the observer asked for; for people who look at the recording.
        package var vehicles: [String] = []
        /// More texts for the metadata.
        package var values: [String: String] = [:]
        /// Of each file.
        package var attachments: [MCAP.Attachment] = []

        package init() {}
    }

    package enum Event: Sendable {
        case welcomed(Welcome)
        case lost
        case received(Message)
        /// Frames of one connection, of which more is known than an observer is told.
        case crossed(ObservedFrames, RecordedTransit)
        /// Bytes that are no frames.
        case broken([UInt8], ConnectionID, ObservedFrames.Direction, of: RecordedPeers.Peer, number: UInt64)
        /// Something happened of which observers are not told: a line of JSON.
        case happened(String, number: UInt64)
        /// Some time has passed: a second at most, so that no more is lost in a crash.
        case tick
        case ended
    }

    package enum Action: Sendable, Hashable {
        /// A new file begins; what is written from now on is for it.
        case open
        case write([UInt8])
        /// What was written must survive a power failure.
        case sync
        case close
    }

    /// How much was recorded.
    package struct Counts: Sendable, Hashable {
        package var frames: UInt64 = 0
        package var events: UInt64 = 0
        package var dropped: UInt64 = 0
        package var files: UInt64 = 0
    }

    private let options: Options
    private var file: RecorderFile?
    private var welcome: Welcome?
    private var observed = ObservedGateway()
    private var peers = RecordedPeers()
    private var clock = RecordingClock()
    /// Sessions whose retained frames are not the same as in the last state.
    private var changedSessions: Set<SessionID> = []
    private var isStateNew = true
    private var lastSync = RecordingTime(nanoseconds: 0)
    /// A moment of the present file. Its times go on from there whatever the computer's clock is set to, so that they are an order.
    private var anchor: RecordingMoment?
    package private(set) var counts = Counts()

    package init(_ options: Options) { self.options = options }

    /// The number of sessions whose content the recorded states leave out, because all of it would take too much memory.
    package var sessionsWithoutContent: Int { self.observed.sessionsWithoutContent.count }

    /// What the gateway shows; nil before it was reached.
    package var visibility: Visibility? { self.welcome?.visibility }

    /// The event of a run, whose clock is never set.
    package mutating func handle(_ event: Event, at now: RecordingTime, into actions: inout [Action]) {
        self.handle(event, at: RecordingMoment(now), into: &actions)
    }

    package mutating func handle(_ event: Event, at moment: RecordingMoment, into actions: inout [Action]) {
        let now = self.time(at: moment)
        switch event {
        case .welcomed(let welcome): self.begin(welcome, at: moment, into: &actions)
        case .lost:
            self.write(event: EventJSON.connection("connecting", at: now), at: now, into: &actions)
        case .received(let message): self.apply(message, at: now, into: &actions)
        case .crossed(let frames, let transit):
            self.apply(frames, transit, at: now, into: &actions)
            self.writeStateIfDue(at: now, into: &actions)
        case .broken(let bytes, let connection, let direction, let peer, let number):
            self.makeRoom(bytes.count, at: now, into: &actions)
            self.file?.add(.broken(connection, direction), bytes[...], peer: peer, number: number, at: now)
            self.endFullChunk(into: &actions)
        case .happened(let text, let number):
            self.write(event: text, number: number, at: now, into: &actions)
        case .tick: self.tick(at: moment, into: &actions)
        case .ended: self.endFile(into: &actions)
        }
    }

    private mutating func tick(at moment: RecordingMoment, into actions: inout [Action]) {
        guard let file else { return }
        var now = self.time(at: moment)
        let duration = now - file.begin
        let change = moment.time - now
        let wasClockSet =
            max(change, .zero - change) >= Self.clockChangeMin && duration >= Self.clockFileDurationMin
        // A state that is being told is not whole.
        if wasClockSet || duration >= self.options.fileDurationMax, self.observed.isComplete {
            self.endFile(into: &actions)
            now = self.setClock(moment)
            self.beginFile(at: now, into: &actions)
        }
        self.writeStateIfDue(at: now, into: &actions)
        self.endChunk(into: &actions)
        guard now - self.lastSync >= self.options.syncInterval else { return }
        self.lastSync = now
        actions.append(.sync)
    }

    // MARK: Time

    /// A clock that was set by so much makes the next file begin.
    private static let clockChangeMin = Duration.seconds(2)
    /// A clock that is set again and again does not make more files than this allows.
    private static let clockFileDurationMin = Duration.seconds(60)

    /// The time of the present file.
    private func time(at moment: RecordingMoment) -> RecordingTime {
        self.anchor.map { $0.time + (moment.elapsed - $0.elapsed) } ?? moment.time
    }

    /// Continues with the time that the computer's clock shows now.
    private mutating func setClock(_ moment: RecordingMoment) -> RecordingTime {
        self.clock.shift(by: moment.time - self.time(at: moment))
        self.anchor = moment
        return moment.time
    }

    // MARK: Files

    private mutating func begin(
        _ welcome: Welcome, at moment: RecordingMoment, into actions: inout [Action]
    ) {
        // Connections and sessions of another gateway have the same numbers.
        let isSame = self.welcome?.gateway == welcome.gateway && self.file != nil
        self.welcome = welcome
        if !isSame {
            self.endFile(into: &actions)
            (self.observed, self.peers) = (ObservedGateway(), RecordedPeers())
            self.beginFile(at: self.setClock(moment), into: &actions)
        } else {
            let now = self.time(at: moment)
            let text = EventJSON.connection("connected", resumed: welcome.isResumed, at: now)
            self.write(event: text, at: now, into: &actions)
        }
    }

    private mutating func beginFile(at now: RecordingTime, into actions: inout [Action]) {
        guard let welcome else { return }
        self.counts.files += 1
        actions.append(.open)
        var values = [
            "instance": welcome.gateway.instance.rawValue, "epoch": "\(welcome.gateway.epoch)",
            "software": welcome.software, "recorder": Software.name,
            "visibility": "\(welcome.visibility ?? .state)", "file": "\(self.counts.files)",
        ]
        if self.options.redactsPlaces { values["redacted"] = "places" }
        if !self.options.vehicles.isEmpty {
            values["vehicles"] = self.options.vehicles.joined(separator: " ")
        }
        values.merge(self.options.values) { own, _ in own }
        var file = RecorderFile(begin: now)
        actions.append(.write(file.beginning(values, self.options.attachments)))
        self.file = file
        self.lastSync = now
        self.isStateNew = true
        if self.observed.isComplete { self.writeState(at: now, into: &actions) }
    }

    private mutating func beginNextFile(at now: RecordingTime, into actions: inout [Action]) {
        // A state that is being told is not whole.
        guard self.observed.isComplete else { return }
        self.endFile(into: &actions)
        self.beginFile(at: now, into: &actions)
    }

    private mutating func endFile(into actions: inout [Action]) {
        self.endChunk(into: &actions)
        guard let bytes = self.file?.writer.end() else { return }
        actions += [.write(bytes), .sync, .close]
        self.file = nil
    }

    private mutating func endChunk(into actions: inout [Action]) {
        guard let bytes = self.file?.writer.endChunk(), !bytes.isEmpty else { return }
        actions.append(.write(bytes))
    }

    /// Begins the next file if this one has no room for so many bytes more.
    private mutating func makeRoom(_ byteCount: Int, at now: RecordingTime, into actions: inout [Action]) {
        guard let file, file.hasFrames else { return }
        let size = file.writer.fileByteCount + UInt64(byteCount)
        guard size > self.options.fileBytesMax || file.writer.channelCount >= self.options.channelsMax
        else { return }
        self.beginNextFile(at: now, into: &actions)
    }

    private mutating func makeRoomForChannel(at now: RecordingTime, into actions: inout [Action]) {
        guard let file, file.writer.channelCount >= self.options.channelsMax else { return }
        self.beginNextFile(at: now, into: &actions)
    }

    // MARK: What is told

    private mutating func apply(_ message: Message, at now: RecordingTime, into actions: inout [Action]) {
        switch message {
        case .observationBegin(let begin):
            self.clock.set(begin.instant, arrived: now)
            self.observed.apply(message) { _ in nil }
            if begin.kind == .full { self.peers = RecordedPeers() }
        case .observedRecords(let records): self.apply(records, at: now, into: &actions)
        case .observedEvent(let event):
            self.peers.endRecords()
            let time = self.clock.time(of: event.instant, arrived: now)
            let peer = event.connection.map { self.peers.peer(of: $0).name } ?? ""
            self.counts.events += 1
            self.write(event: EventJSON.text(event, peer: peer, at: time), at: time, into: &actions)
            self.observed.apply(message) { _ in nil }
        case .observedFrames(let frames): self.apply(frames, at: now, into: &actions)
        case .observationGap(let gap):
            self.observed.apply(message) { _ in nil }
            self.counts.dropped.addSaturating(gap.dropped)
            let text = EventJSON.dropped(gap.dropped, number: self.observed.number, at: now)
            self.write(event: text, at: now, into: &actions)
        default: break  // Counters, and what a newer gateway tells.
        }
        self.writeStateIfDue(at: now, into: &actions)
    }

    private mutating func apply(
        _ records: ObservedRecords, at now: RecordingTime, into actions: inout [Action]
    ) {
        var records = records
        for part in records.retained.indices where self.options.redactsPlaces {
            records.retained[part].frames = Codec.redacted(records.retained[part].frames)
            records.retained[part].isRedacted = true
        }
        let wasComplete = self.observed.isComplete
        if wasComplete {
            let frame = Codec.encode(Envelope(.observedRecords(records)))
            let time = self.clock.time(of: records.instant, arrived: now)
            self.makeRoom(frame.bytes.count, at: now, into: &actions)
            self.file?.add(.records, frame.bytes, number: records.number, at: time)
            self.endFullChunk(into: &actions)
        }
        self.peers.apply(records, self.observed)
        self.observed.apply(.observedRecords(records), outline: Self.outline)
        for session in records.retained.map(\.session) { self.changedSessions.insert(session) }
        guard !wasComplete, self.observed.isComplete else { return }
        let text = EventJSON.synchronized(
            instance: self.welcome?.gateway.instance.rawValue ?? "", number: self.observed.number, at: now)
        self.write(event: text, at: now, into: &actions)
        self.isStateNew = true
        self.writeState(at: now, into: &actions)
    }

    private mutating func apply(
        _ told: ObservedFrames, _ transit: RecordedTransit = RecordedTransit(), at now: RecordingTime,
        into actions: inout [Action]
    ) {
        self.peers.endRecords()
        var told = told
        if self.options.redactsPlaces {
            told.frames = Codec.redacted(told.frames)
            told.isRedacted = true
        }
        let frames = Frame.all(in: told.frames)
        if told.direction == .in, let connection = told.connection {
            for frame in frames where frame.header.type == .hello { self.name(connection, frame) }
        }
        let connections = told.connection.map { [$0] } ?? self.peers.connections(of: told.audience)
        let time = self.clock.time(of: told.instant, arrived: now)
        let overhead = frames.count * MCAPWriter.messageOverheadByteCount
        self.makeRoom((told.frames.count + overhead) * connections.count, at: now, into: &actions)
        for frame in frames {
            for connection in connections {
                // A large audience needs several files, and more than one chunk.
                self.makeRoomForChannel(at: now, into: &actions)
                self.endFullChunk(into: &actions)
                var channel = RecordedChannel.Frames(connection, told.direction)
                (channel.isRejected, channel.isRedacted) = (told.isRejected, told.isRedacted)
                channel.delivery = transit.delivery
                self.file?.add(
                    .frames(channel), frame.bytes, peer: transit.peer ?? self.peers.peer(of: connection),
                    number: told.number, at: time, sent: transit.sent)
            }
            self.counts.frames += 1
        }
        self.file?.noteFrames(told.frames.count * connections.count)
        // What the gateway never had changes nothing of its state.
        if transit.delivery == .whole {
            self.observed.apply(.observedFrames(told), outline: Self.outline)
            if told.direction == .in, told.session != .none { self.changedSessions.insert(told.session) }
        }
        self.endFullChunk(into: &actions)
    }

    private mutating func name(_ connection: ConnectionID, _ frame: Frame) {
        do throws(DecodingError) {
            guard case .hello(let hello) = try Codec.decode(frame).message else { return }
            self.peers.apply(hello, on: connection)
        } catch { /* Of a newer peer; its record will name it. */  }
    }

    private mutating func write(
        event text: String, number: UInt64? = nil, at time: RecordingTime, into actions: inout [Action]
    ) {
        self.makeRoom(text.utf8.count, at: time, into: &actions)
        self.file?.add(
            .events, Array(text.utf8)[...], number: number ?? self.observed.number, at: time)
        self.endFullChunk(into: &actions)
    }

    private mutating func endFullChunk(into actions: inout [Action]) {
        guard let file, file.writer.chunkByteCount >= self.options.chunkBytesMax else { return }
        self.endChunk(into: &actions)
    }

    /// What the state needs to know of a publication; nil for one that this build cannot read.
    static func outline(of frame: Frame) -> PublicationOutline? {
        do throws(DecodingError) { return try Codec.outline(of: frame) } catch { return nil }
    }

    // MARK: The state

    private mutating func writeStateIfDue(at now: RecordingTime, into actions: inout [Action]) {
        guard let file, self.observed.isComplete, file.isChanged else { return }
        // A large state is not written so often that it would be most of the file.
        let isLong = file.byteCountSinceState >= max(self.options.stateBytes, file.stateByteCount)
        guard isLong || now - file.lastState >= self.options.stateInterval else { return }
        self.makeRoom(file.stateByteCount, at: now, into: &actions)
        // A file that began just now has the state already.
        if self.file?.isChanged == true { self.writeState(at: now, into: &actions) }
    }

    private mutating func writeState(at now: RecordingTime, into actions: inout [Action]) {
        guard var file else { return }
        file.beginState(at: now, isNew: self.isStateNew)
        self.file = nil  // So that it is not copied.
        for records in self.recordParts() { file.addState(records) }
        let sessions = self.observed.retained.keys.sorted()
        let changed = self.isStateNew ? Set(sessions) : self.changedSessions
        file.keepPlaces(of: sessions)
        for session in sessions where changed.contains(session) || !file.hasPlace(of: session) {
            file.beginSession(session)
            for records in self.retainedParts(of: session) { file.addState(records) }
            // The frames of a session are in one chunk.
            if file.writer.chunkByteCount >= self.options.chunkBytesMax {
                actions.append(.write(file.writer.endChunk()))
            }
        }
        file.endState(number: self.observed.number)
        // A mark is the last message of its chunk.
        actions.append(.write(file.writer.endChunk()))
        self.file = file
        (self.changedSessions, self.isStateNew) = ([], false)
    }

    private static let recordsPerPart = 256
    private static let retainedBytesPerPart = 65_536

    /// All records, without retained frames.
    private func recordParts() -> [ObservedRecords] {
        var parts: [ObservedRecords] = [ObservedRecords()]
        func part(_ add: (inout ObservedRecords) -> Void) {
            let last = parts[parts.count - 1]
            let count = last.vehicles.count + last.clients.count + last.sessions.count + last.requests.count
            if count >= Self.recordsPerPart { parts.append(ObservedRecords()) }
            add(&parts[parts.count - 1])
        }
        // In an order that does not depend on hashes, so that the same events make the same file.
        for (_, record) in self.observed.clients.sorted(by: { $0.key < $1.key }) {
            part { $0.clients.append(record) }
        }
        for (_, record) in self.observed.sessions.sorted(by: { $0.key < $1.key }) {
            part { $0.sessions.append(record) }
        }
        for (_, record) in self.observed.vehicles.sorted(by: { $0.key < $1.key }) {
            part { $0.vehicles.append(record) }
        }
        for (_, record) in self.observed.requests.sorted(by: { $0.key < $1.key }) {
            part { $0.requests.append(record) }
        }
        return parts
    }

    private func retainedParts(of session: SessionID) -> [ObservedRecords] {
        let isRedacted = self.options.redactsPlaces || self.welcome?.visibility == .state
        var parts = [RetainedFrames(session, [])]
        for frame in self.observed.retained[session]?.framesToTell ?? [] {
            let count = parts[parts.count - 1].frames.count
            if count > 0, count + frame.bytes.count > Self.retainedBytesPerPart {
                parts.append(RetainedFrames(session, []))
            }
            parts[parts.count - 1].frames += frame.bytes
        }
        parts[0].isFirst = true
        return parts.map { part in
            var records = ObservedRecords()
            records.retained = [part]
            records.retained[0].isRedacted = isRedacted
            return records
        }
    }
}
