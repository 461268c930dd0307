internal import WaymarkCodec
package import WaymarkProtocol

/// What an observer was told lately, in memory, to be walked as a recording is. A value without clock or I/O.
///
/// It keeps the newest entries, up to a number of bytes, in blocks; each begins with the gateway's state.
package struct RecentHistory: Sendable {
    fileprivate struct Item: Sendable {
        enum Content: Sendable {
            case frames(ObservedFrames)
            /// A line of JSON.
            case event(String)
            case records(ObservedRecords)
        }

        let number: UInt64
        let time: RecordingTime
        let content: Content
    }

    fileprivate struct Block: Sendable {
        let begin: RecordingTime
        /// Before its items.
        let state: RecordedState
        /// The state was told anew.
        let isNew: Bool
        /// The bytes of the state that only this block keeps, about.
        let stateByteCount: Int
        var items: [Item] = []
        var itemByteCount = 0

        var byteCount: Int { self.stateByteCount + self.itemByteCount }
    }

    /// How much is kept, and what is not.
    package struct Counts: Sendable, Hashable {
        /// Kept, without records.
        package fileprivate(set) var entries = 0
        package fileprivate(set) var bytes = 0
        /// Given up for newer ones.
        package fileprivate(set) var dropped: UInt64 = 0
        /// Never told, because this program read too slowly.
        package fileprivate(set) var missed: UInt64 = 0
    }

    private let bytesMax: Int
    private let blockBytesMax: Int
    private var blocks: [Block] = []
    /// The state that is being told; nil unless that has begun and has not ended.
    private var incoming: RecordedState?
    /// The newest whole state.
    package private(set) var state: RecordedState
    private var clock = RecordingClock()
    package private(set) var counts = Counts()
    /// Nothing is earlier.
    package let begin: RecordingTime
    /// Of the newest entry.
    package private(set) var end: RecordingTime
    private var instance = ""

    /// What an item takes beside its bytes, at least.
    private static let itemByteCount = 160
    /// For each vehicle, client, session or request in records.
    private static let recordByteCount = 256

    /// Keeps entries of up to `bytesMax`, and at least the newest block, of `blockBytesMax`. The state has content of up to
    /// `contentBytesMax`, see ``ObservedGateway/contentBytesMax``.
    package init(
        at begin: RecordingTime, bytesMax: Int = 67_108_864, blockBytesMax: Int = 1_048_576,
        contentBytesMax: Int = 67_108_864
    ) {
        (self.begin, self.end) = (begin, begin)
        (self.bytesMax, self.blockBytesMax) = (bytesMax, blockBytesMax)
        self.state = RecordedState(contentBytesMax: contentBytesMax)
    }

    /// The time of the earliest entry that is kept, or where history would begin.
    package var from: RecordingTime { self.blocks.first?.begin ?? self.begin }
    /// How many bytes may be kept.
    package var byteCountMax: Int { self.bytesMax }

    /// When each block begins, ascending.
    package var divisions: [RecordingTime] { self.blocks.map(\.begin) }
    /// How many bytes each block takes.
    package var divisionByteCounts: [Int] { self.blocks.map(\.byteCount) }

    /// When something happened, by the clock of this computer; nil before the gateway has told its own.
    package func time(of instant: Instant) -> RecordingTime? {
        self.blocks.isEmpty ? nil : self.clock.time(of: instant)
    }

    // MARK: What is told

    /// The gateway has welcomed this observer, as `instance`.
    package mutating func welcome(_ instance: String) { self.instance = instance }

    /// The connection was lost, or is there again.
    package mutating func connectionChanged(_ state: String, resumed: Bool?, at now: RecordingTime) {
        self.add(EventJSON.connection(state, resumed: resumed, at: now), self.state.gateway.number, at: now)
    }

    /// Applies a message of the gateway that arrived at `now`.
    package mutating func apply(_ message: Message, at now: RecordingTime) {
        switch message {
        case .observationBegin(let begin):
            self.clock.set(begin.instant, arrived: now)
            if begin.kind == .full {
                var incoming = RecordedState(contentBytesMax: self.state.gateway.contentBytesMax)
                incoming.begin(message)
                self.incoming = incoming
            } else {
                self.state.begin(message)
            }
        case .observedRecords(let records): self.apply(records, at: now)
        case .observedEvent(let event):
            let time = self.clock.time(of: event.instant, arrived: now)
            let peer = event.connection.map { self.state.peers.peer(of: $0).name } ?? ""
            self.state.pass(message)
            self.incoming?.pass(message)
            self.add(EventJSON.text(event, peer: peer, at: time), event.number, at: time)
        case .observedFrames(let told):
            let time = self.clock.time(of: told.instant, arrived: now)
            self.open(at: time)
            self.state.apply(told, at: time)
            // Between the parts of a whole state, which was taken before.
            self.incoming?.apply(told, at: time)
            self.add(
                Item(number: told.number, time: self.later(time), content: .frames(told)), told.frames.count)
        case .observationGap(let gap):
            self.counts.missed.addSaturating(gap.dropped)
            self.state.pass(message)
            self.incoming?.pass(message)
            self.add(
                EventJSON.dropped(gap.dropped, number: self.state.gateway.number, at: now),
                self.state.gateway.number, at: now)
        default: break  // Counters, and what a newer gateway tells.
        }
    }

    private mutating func apply(_ records: ObservedRecords, at now: RecordingTime) {
        guard self.incoming == nil else {
            self.incoming?.apply(records)
            guard records.isLast, let state = self.incoming else { return }
            self.incoming = nil
            self.state = state
            self.state.clock = RecordedState.Clock(instant: records.instant, time: now)
            self.begin(at: now, isNew: true)
            let number = state.gateway.number
            return self.add(
                EventJSON.synchronized(instance: self.instance, number: number, at: now), number, at: now)
        }
        let time = self.clock.time(of: records.instant, arrived: now)
        self.open(at: time)
        self.state.apply(records)
        self.state.clock = RecordedState.Clock(instant: records.instant, time: time)
        let count =
            records.vehicles.count + records.clients.count + records.sessions.count + records.requests.count
        let retained = records.retained.reduce(0) { $0 + $1.frames.count }
        self.add(
            Item(number: records.number, time: self.later(time), content: .records(records)),
            count * Self.recordByteCount + retained)
    }

    // MARK: Keeping

    private mutating func add(_ event: String, _ number: UInt64, at time: RecordingTime) {
        self.open(at: time)
        self.add(Item(number: number, time: self.later(time), content: .event(event)), event.utf8.count)
    }

    /// Times never go back.
    private mutating func later(_ time: RecordingTime) -> RecordingTime {
        self.end = max(self.end, time)
        return self.end
    }

    /// Begins a block with the present state, if the last is full. Called before the next item changes the state.
    private mutating func open(at time: RecordingTime) {
        // Why not smaller than the state: a block of a large state would take most of the room.
        if let last = self.blocks.last, last.itemByteCount < max(self.blockBytesMax, last.stateByteCount) {
            return
        }
        self.begin(at: time, isNew: false)
    }

    private mutating func begin(at time: RecordingTime, isNew: Bool) {
        let block = Block(
            begin: self.later(time), state: self.state, isNew: isNew,
            stateByteCount: Self.byteCount(self.state.gateway, isNew: isNew))
        self.counts.bytes += block.byteCount
        self.blocks.append(block)
    }

    /// The records are copied as they change, and shared otherwise. Retained frames are those of entries that are kept, unless the state
    /// was told: then nothing else holds them.
    private static func byteCount(_ gateway: ObservedGateway, isNew: Bool) -> Int {
        let records =
            gateway.vehicles.count + gateway.clients.count + gateway.sessions.count + gateway.requests.count
        guard isNew else { return records * Self.recordByteCount }
        let retained = gateway.retained.values.reduce(0) { sum, retained in
            retained.frames.reduce(sum) { $0 + $1.bytes.count }
        }
        return records * Self.recordByteCount + retained
    }

    private mutating func add(_ item: Item, _ byteCount: Int) {
        let byteCount = byteCount + Self.itemByteCount
        self.blocks[self.blocks.count - 1].items.append(item)
        self.blocks[self.blocks.count - 1].itemByteCount += byteCount
        self.counts.bytes += byteCount
        if case .records = item.content {} else { self.counts.entries += 1 }
        while self.counts.bytes > self.bytesMax, self.blocks.count > 1 {
            let first = self.blocks.removeFirst()
            let entries = first.items.count { if case .records = $0.content { false } else { true } }
            self.counts.bytes -= first.byteCount
            self.counts.entries -= entries
            self.counts.dropped.addSaturating(UInt64(entries))
        }
    }

    // MARK: Walking

    /// Goes over what is kept, and holds the gateway's state at each entry.
    package struct Walk: Sendable {
        private var blocks: ArraySlice<Block>
        private var items: ArraySlice<Item> = []
        private var pending: ArraySlice<RecordedEntry> = []
        /// After all entries that ``next()`` returned.
        package private(set) var state: RecordedState

        /// From `time` on.
        fileprivate init(_ blocks: [Block], from time: RecordingTime) {
            let index = blocks.lastIndex { $0.begin < time } ?? 0
            self.blocks = blocks[index...]
            self.state = self.blocks.first?.state ?? RecordedState()
            while let item = self.peek(), item.time < time {
                self.items.removeFirst()
                self.apply(item)
            }
        }

        /// The next entry; nil at the end.
        package mutating func next() -> RecordedEntry? {
            while self.pending.isEmpty {
                guard let item = self.peek() else { return nil }
                self.items.removeFirst()
                self.pending = self.entries(item)[...]
            }
            return self.pending.popFirst()
        }

        private mutating func peek() -> Item? {
            while self.items.isEmpty {
                guard let block = self.blocks.popFirst() else { return nil }
                if block.isNew { self.state = block.state }
                self.items = block.items[...]
            }
            return self.items.first
        }

        private mutating func apply(_ item: Item) {
            switch item.content {
            case .records(let records):
                self.state.apply(records)
                self.state.clock = RecordedState.Clock(instant: records.instant, time: item.time)
            case .event: self.state.endStep()
            case .frames(let told): self.state.apply(told, at: item.time)
            }
        }

        private mutating func entries(_ item: Item) -> [RecordedEntry] {
            self.apply(item)
            let number = UInt32(truncatingIfNeeded: item.number)
            switch item.content {
            case .records: return []
            case .event(let text):
                return [RecordedEntry(number: number, time: item.time, content: .event(text))]
            case .frames(let told):
                let connections =
                    told.connection.map { [$0] } ?? self.state.peers.connections(of: told.audience)
                let peers = connections.map { self.state.peers.peer(of: $0).name }
                return Frame.all(in: told.frames).map { frame in
                    let recorded = RecordedFrame(
                        frame: frame, direction: told.direction, connections: connections, peers: peers,
                        isRejected: told.isRejected, isRedacted: told.isRedacted, delivery: .whole,
                        sent: item.time)
                    return RecordedEntry(number: number, time: item.time, content: .frame(recorded))
                }
            }
        }
    }

    /// A walk over what happened from `time` on; what is not kept any more is left out.
    package func walk(from time: RecordingTime) -> Walk { Walk(self.blocks, from: time) }
}

extension RecordedState {
    /// The whole state, or what was missed, follows.
    fileprivate mutating func begin(_ message: Message) {
        self.gateway.apply(message) { _ in nil }
        if case .observationBegin(let begin) = message, begin.kind == .full { self.peers = RecordedPeers() }
    }

    /// Something was told that changes no records.
    fileprivate mutating func pass(_ message: Message) {
        self.endStep()
        self.gateway.apply(message) { _ in nil }
    }

    /// The records of a step were told before its events and frames.
    fileprivate mutating func endStep() { self.peers.endRecords() }

    fileprivate mutating func apply(_ told: ObservedFrames, at time: RecordingTime) {
        self.endStep()
        if told.direction == .in, let connection = told.connection {
            for frame in Frame.all(in: told.frames) {
                if !told.isRejected { self.noteEstimates(in: frame, at: time) }
                guard frame.header.type == .hello else { continue }
                do throws(DecodingError) {
                    if case .hello(let hello) = try Codec.decode(frame).message {
                        self.peers.apply(hello, on: connection)
                    }
                } catch { /* Of a newer peer; its record will name it. */  }
            }
        }
        self.gateway.apply(.observedFrames(told), outline: Recorder.outline)
    }
}
