internal import WaymarkCodec
package import WaymarkProtocol

/// What a recording tells, as an observer was told it.
package struct RecordedEntry: Sendable {
    package enum Content: Sendable {
        case frame(RecordedFrame)
        /// A JSON object.
        case event(String)
        /// Bytes of a peer that are no frames.
        case broken([UInt8], ObservedFrames.Direction, peer: String)
        /// The state was told anew: what was known before is void. Only of a walk that tells states.
        case state(RecordedState)
    }

    /// The low 32 bits of the observer's number.
    package let number: UInt32
    package let time: RecordingTime
    package internal(set) var content: Content

    /// An event that was told at `time`.
    package static func event(_ text: String, at time: RecordingTime) -> RecordedEntry {
        RecordedEntry(number: 0, time: time, content: .event(text))
    }

    /// The same entry with another frame, if it has one.
    package func showing(_ frame: Frame) -> RecordedEntry {
        guard case .frame(let old) = self.content else { return self }
        var entry = self
        entry.content = .frame(
            RecordedFrame(
                frame: frame, direction: old.direction, connections: old.connections, peers: old.peers,
                isRejected: old.isRejected, isRedacted: true, delivery: old.delivery, sent: old.sent))
        return entry
    }
}

/// A frame, and which connections it crossed.
package struct RecordedFrame: Sendable {
    package let frame: Frame
    package let direction: ObservedFrames.Direction
    /// Several, if it was for an audience.
    package internal(set) var connections: [ConnectionID]
    /// Of the connections.
    package internal(set) var peers: [String]
    package let isRejected: Bool
    package let isRedacted: Bool
    package let delivery: RecordedDelivery
    /// When it was sent.
    package let sent: RecordingTime
}

/// The gateway's state in a recording.
package struct RecordedState: Sendable {
    /// Which time an instant of the gateway's clock is.
    package struct Clock: Sendable, Hashable {
        let instant: Instant
        let time: RecordingTime
    }

    package internal(set) var gateway: ObservedGateway
    package internal(set) var peers = RecordedPeers()
    /// nil in a recording as long as no records changed after its state was read.
    var clock: Clock?
    /// When the estimates of each session's trip were published last, as far as that was told since the state was.
    package private(set) var estimated: [SessionID: RecordingTime] = [:]

    package init() { self.gateway = ObservedGateway() }

    /// A state that holds content of up to so many bytes, see ``ObservedGateway/contentBytesMax``.
    init(contentBytesMax: Int) { self.gateway = ObservedGateway(contentBytesMax: contentBytesMax) }

    /// When something happened, or will; nil if that is not known.
    package func time(of instant: Instant) -> RecordingTime? {
        self.clock.map { $0.time + (instant - $0.instant) }
    }

    mutating func apply(_ records: ObservedRecords) {
        self.peers.apply(records, self.gateway)
        self.gateway.apply(.observedRecords(records), outline: Recorder.outline)
        for session in records.sessionsGone { self.estimated[session] = nil }
    }

    /// A client published a frame.
    mutating func noteEstimates(in frame: Frame, at time: RecordingTime) {
        switch frame.header.type {
        case .updateTripEstimates, .startGuidance: self.estimated[frame.header.session] = time
        case .resumeGuidance:
            if Recorder.outline(of: frame)?.route != nil { self.estimated[frame.header.session] = time }
        default: break  // Has none of the trip.
        }
    }
}

/// Walks over the entries of a recording, and holds the gateway's state at each.
package struct RecordingWalk: Sendable {
    private let recording: Recording
    private var chunkIndexes: ArraySlice<MCAP.ChunkIndex>
    private var messages: ArraySlice<MCAP.Message> = []
    private var pending: RecordedEntry?
    /// After all entries that ``next()`` returned, and before the one that it will return.
    package private(set) var state = RecordedState()
    /// What sessions retain is part of the state. It takes time, because each publication must be read.
    private let holdsContent: Bool
    private let tellsStates: Bool
    /// Where the chunk of the last mark ends that voids what was known.
    private var newMarkEnd: UInt64 = 0

    /// A walk from the beginning.
    package init(_ recording: Recording, holdsContent: Bool, tellsStates: Bool = false) {
        self.recording = recording
        self.holdsContent = holdsContent
        self.tellsStates = tellsStates
        self.chunkIndexes = recording.index.chunks[...]
    }

    /// A walk from `time` on: the state is that of everything earlier, at the beginning the first one.
    package init(_ recording: Recording, from time: RecordingTime) throws(RecordingError) {
        self.init(recording, holdsContent: true)
        // A state of `time` itself may include entries of `time`.
        var last = try recording.lastMark(before: time.nanoseconds)
        if last == nil { last = try recording.lastMark(before: max(time.nanoseconds, time.nanoseconds &+ 1)) }
        if let (place, mark, behind) = last {
            self.state = try recording.state(at: mark, upTo: place)
            self.chunkIndexes = recording.index.chunks[(place + 1)...]
            self.messages = behind
        }
        while let message = try self.peek(), message.logTime < time.nanoseconds {
            self.messages.removeFirst()
            _ = try self.apply(message)
        }
    }

    /// The next entry; nil at the end.
    package mutating func next() throws(RecordingError) -> RecordedEntry? {
        while let message = try self.peek() {
            // The state must not be ahead of the entry that is returned.
            if let pending = self.pending, !self.isSame(message, pending) {
                self.pending = nil
                return pending
            }
            self.messages.removeFirst()
            guard let entry = try self.apply(message) else { continue }
            self.join(entry)
        }
        defer { self.pending = nil }
        return self.pending
    }

    private mutating func peek() throws(RecordingError) -> MCAP.Message? {
        while self.messages.isEmpty {
            guard let index = self.chunkIndexes.popFirst() else { return nil }
            self.messages = try self.recording.chunk(index).messages[...]
        }
        return self.messages.first
    }

    // MARK: Entries

    /// Whether it is the frame of the entry, to another connection of its audience.
    private func isSame(_ message: MCAP.Message, _ entry: RecordedEntry) -> Bool {
        guard case .frames(let channel) = self.recording.channels[message.channel], channel.direction == .out,
            case .frame(let frame) = entry.content, frame.direction == .out, message.sequence == entry.number,
            message.logTime == entry.time.nanoseconds, !frame.connections.contains(channel.connection)
        else { return false }
        return frame.frame.bytes == message.data
    }

    private mutating func join(_ entry: RecordedEntry) {
        guard var pending = self.pending, case .frame(var frame) = pending.content,
            case .frame(let other) = entry.content
        else { return self.pending = entry }
        frame.connections += other.connections
        frame.peers += other.peers
        pending.content = .frame(frame)
        self.pending = pending
    }

    /// Applies a message to the state.
    ///
    /// - Returns: The entry, if it is one.
    private mutating func apply(_ message: MCAP.Message) throws(RecordingError) -> RecordedEntry? {
        let time = RecordingTime(nanoseconds: message.logTime)
        switch self.recording.channels[message.channel] {
        case .frames(let channel):
            guard let frame = Recording.frame(message.data) else { return nil }
            self.apply(frame, channel, at: time)
            let peer = self.recording.index.channels[message.channel]?.metadata[RecordedChannel.Key.peer]
            let recorded = RecordedFrame(
                frame: frame, direction: channel.direction, connections: [channel.connection],
                peers: [peer ?? "connection \(channel.connection.rawValue)"],
                isRejected: channel.isRejected, isRedacted: channel.isRedacted,
                delivery: channel.delivery, sent: RecordingTime(nanoseconds: message.publishTime))
            return RecordedEntry(number: message.sequence, time: time, content: .frame(recorded))
        case .broken(let connection, let direction):
            let peer = self.recording.index.channels[message.channel]?.metadata[RecordedChannel.Key.peer]
            let broken = RecordedEntry.Content.broken(
                Array(message.data), direction, peer: peer ?? "connection \(connection.rawValue)")
            return RecordedEntry(number: message.sequence, time: time, content: broken)
        case .events:
            self.state.peers.endRecords()
            let text = String(decoding: message.data, as: UTF8.self)
            return RecordedEntry(number: message.sequence, time: time, content: .event(text))
        case .records:
            guard let records = Recording.records(message.data) else { return nil }
            self.state.apply(records)
            self.state.clock = RecordedState.Clock(instant: records.instant, time: time)
            return nil
        case .mark:
            let mark = try StateIndex(message.data)
            // Between two marks the state is that of the first and what was told since, unless something is missing.
            guard mark.isNew else { return nil }
            let place = self.chunkIndexes.startIndex - 1
            let chunk = self.recording.index.chunks[place]
            // Each state is read once, so that the work is bounded by the file's size.
            guard mark.start >= self.newMarkEnd else {
                throw .malformed("state mark \(mark.mark): its state begins before the one before it ends")
            }
            self.newMarkEnd = chunk.offset + chunk.byteCount
            self.state = try self.recording.state(at: mark, upTo: place)
            guard self.tellsStates else { return nil }
            return RecordedEntry(
                number: UInt32(truncatingIfNeeded: mark.number), time: time, content: .state(self.state))
        case .state, nil: return nil
        }
    }

    private mutating func apply(_ frame: Frame, _ channel: RecordedChannel.Frames, at time: RecordingTime) {
        self.state.peers.endRecords()
        guard self.holdsContent, channel.direction == .in, !channel.isRejected, channel.delivery == .whole
        else { return }
        var told = ObservedFrames(.in, Array(frame.bytes))
        told.session = frame.header.session
        self.state.noteEstimates(in: frame, at: time)
        self.state.gateway.apply(.observedFrames(told), outline: Recorder.outline)
    }
}

// MARK: Events

extension Recording {
    /// Chunks that one call reads.
    private static let eventChunksMax = 64

    /// The events between two times, without frames; of a part of that time, if it has very many chunks.
    ///
    /// - Returns: The events, and the time from which on they were not read; nil if all were.
    package func events(
        from begin: RecordingTime, to end: RecordingTime
    ) throws(RecordingError) -> (events: [(time: RecordingTime, text: String)], next: RecordingTime?) {
        guard let channel = self.channels.first(where: { $0.value == .events })?.key else { return ([], nil) }
        var events: [(time: RecordingTime, text: String)] = []
        var count = 0
        let chunks = self.index.chunks.filter { index in
            index.messageIndexes[channel] != nil && index.endTime >= begin.nanoseconds
                && index.startTime <= end.nanoseconds
        }
        // In a recording whose clock was set back, later chunks have earlier times.
        for index in chunks.sorted(by: { ($0.startTime, $0.offset) < ($1.startTime, $1.offset) }) {
            guard count < Self.eventChunksMax else {
                // Always later than `begin`: a caller that asks again comes to the end.
                return (events, max(RecordingTime(nanoseconds: index.startTime), begin + .nanoseconds(1)))
            }
            count += 1
            for message in try self.chunk(index).messages
            where message.channel == channel && message.logTime >= begin.nanoseconds
                && message.logTime <= end.nanoseconds
            {
                let text = String(decoding: message.data, as: UTF8.self)
                events.append((RecordingTime(nanoseconds: message.logTime), text))
            }
        }
        return (events, nil)
    }
}

// MARK: States

extension Recording {
    /// Records as they were recorded; nil for what this build cannot read.
    static func records(_ data: ArraySlice<UInt8>) -> ObservedRecords? {
        guard let frame = self.frame(data) else { return nil }
        do throws(DecodingError) {
            guard case .observedRecords(let records) = try Codec.decode(frame).message else { return nil }
            return records
        } catch { return nil }
    }

    /// The last state that was recorded before `end`: the place of its chunk, its mark, and what is behind it in the chunk.
    fileprivate func lastMark(
        before end: UInt64
    ) throws(RecordingError) -> (place: Int, mark: StateIndex, behind: ArraySlice<MCAP.Message>)? {
        guard let channel = self.channels.first(where: { $0.value == .mark })?.key else { return nil }
        for place in self.index.chunks.indices.reversed() {
            let index = self.index.chunks[place]
            guard index.startTime < end, index.messageIndexes[channel] != nil else { continue }
            let messages = try self.chunk(index).messages
            let last = messages.lastIndex { $0.channel == channel && $0.logTime < end }
            guard let last else { continue }
            return (place, try StateIndex(messages[last].data), messages[(last + 1)...])
        }
        return nil
    }

    /// The first chunk that begins at an offset of the file, or behind it.
    private func chunkPlace(from offset: UInt64) -> Int {
        var (low, high) = (0, self.index.chunks.count)
        while low < high {
            let middle = (low + high) / 2
            if self.index.chunks[middle].offset < offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The state that a mark completes, whose chunk is at `end`.
    fileprivate func state(
        at mark: StateIndex, upTo end: Int
    ) throws(RecordingError) -> RecordedState {
        guard let channel = self.channels.first(where: { $0.value == .state })?.key else { throw .noState }
        var state = RecordedState()
        // Its records, without what sessions retain.
        // A chunk that is damaged was left out.
        let begin = self.chunkPlace(from: mark.start)
        guard begin <= end else {
            throw .malformed("state mark \(mark.mark): its state begins at \(mark.start), behind the mark")
        }
        let offset = self.index.chunks[end].offset
        for index in self.index.chunks[begin...end] {
            var isOver = false
            for message in try self.chunk(index).messages {
                if message.channel != channel {
                    if self.channels[message.channel] == .mark, message.sequence == mark.mark {
                        isOver = true
                    }
                    continue
                }
                guard message.sequence == mark.mark, let records = Self.records(message.data),
                    records.retained.isEmpty
                else { continue }
                state.apply(records)
            }
            if isOver { break }
        }
        // What they retain, from where it was written last.
        for (chunk, sessions) in Dictionary(grouping: mark.sessions, by: \.chunk).sorted(by: {
            $0.key < $1.key
        })
        where chunk <= offset {
            let place = self.chunkPlace(from: chunk)
            guard place <= end, self.index.chunks[place].offset == chunk else { continue }
            let sessions = Set(sessions.map(\.session))
            for message in try self.chunk(self.index.chunks[place]).messages
            where message.channel == channel && message.sequence <= mark.mark {
                guard let records = Self.records(message.data), let part = records.retained.first,
                    sessions.contains(part.session)
                else { continue }
                state.apply(records)
            }
        }
        var end = ObservedRecords()
        end.number = mark.number
        end.isLast = true
        state.apply(end)
        return state
    }
}
