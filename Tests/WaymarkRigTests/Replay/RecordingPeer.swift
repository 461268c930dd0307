import WaymarkClient
import WaymarkProtocol
import WaymarkRecording

@testable import WaymarkHistory
@testable import WaymarkRig

/// An observer of a virtual run, which records it as `waymark record` does.
struct RecordingPeer: RigPeer {
    static let name = PeerID.client(ClientID(unchecked: "recorder"))
    /// The clock of the computer that records, when the run began.
    private static let zero = RecordingTime(nanoseconds: 1_795_424_400_000_000_000)

    let id = Self.name
    var storage: VehicleLimits? { nil }
    private var link: LinkMachine<ObserverMachine>
    private var recorder: Recorder
    private(set) var bytes: [UInt8] = []

    init(redactsPlaces: Bool = false) throws {
        var observe = Observe()
        (observe.wantsState, observe.wantsEvents, observe.wantsFrames) = (true, true, true)
        let machine = try ObserverMachine(
            ObserverHello(observer: ObserverName(unchecked: "recorder")), observe)
        self.link = LinkMachine(machine, to: VirtualRun.address, random: SeededRandom(seed: 1))
        var options = Recorder.Options()
        options.redactsPlaces = redactsPlaces
        self.recorder = Recorder(options)
    }

    var deadline: Instant? { self.link.deadline }

    mutating func handle(_ event: LinkEvent, at now: Instant, into actions: inout [PeerAction]) {
        var linkActions: [LinkAction<ObserverMachine.Output>] = []
        self.link.handle(event, at: now, into: &linkActions)
        for action in linkActions {
            switch action {
            case .output(.welcomed(let welcome)): self.record(.welcomed(welcome), at: now)
            case .output(.received(let envelope)): self.record(.received(envelope.message), at: now)
            default: actions += [PeerAction](action)
            }
        }
    }

    private mutating func record(_ event: Recorder.Event, at now: Instant) {
        var actions: [Recorder.Action] = []
        self.recorder.handle(event, at: Self.zero + (now - Instant(nanoseconds: 0)), into: &actions)
        for case .write(let bytes) in actions { self.bytes += bytes }
    }

    /// The recording up to now.
    mutating func end(at now: Instant) throws -> Recording {
        self.record(.ended, at: now)
        return try Recording(RecordedBytes(bytes: self.bytes))
    }
}

struct RecordedBytes: ByteSource {
    let bytes: [UInt8]
    var byteCount: UInt64 { UInt64(self.bytes.count) }
    func read(_ range: Range<UInt64>) -> [UInt8] {
        Array(self.bytes[Int(range.lowerBound)..<Int(range.upperBound)])
    }
}

extension Stage {
    /// A stage on which everything is recorded from now on.
    mutating func record(redactsPlaces: Bool = false) throws {
        self.run.add(try RecordingPeer(redactsPlaces: redactsPlaces))
        self.run.tell(RecordingPeer.name, .open)
        try self.run.settle()
    }

    /// Ends the recording.
    mutating func recording() throws -> Recording {
        let recording = try self.run.change(RecordingPeer.name, as: RecordingPeer.self) { peer, now, _ in
            try peer.end(at: now)
        }
        guard let recording else { throw RecordingError.noState }
        return recording
    }
}

/// A copy of a recording with other times.
struct RetimedCopy: RecordingCopy {
    let recording: Recording
    /// Gets a time, and the number of the message.
    let change: @Sendable (RecordingTime, Int) -> RecordingTime
    var writer = MCAPWriter()
    private var channels: [UInt16: UInt16] = [:]
    private var schemas: [UInt16: UInt16] = [:]
    private var count = 0

    init(recording: Recording, change: @escaping @Sendable (RecordingTime, Int) -> RecordingTime) {
        (self.recording, self.change) = (recording, change)
    }

    mutating func add(_ message: MCAP.Message) {
        guard let channel = self.recording.index.channels[message.channel],
            !channel.topic.hasPrefix("/state")
        else { return }
        self.count += 1
        var message = message
        let time = self.change(RecordingTime(nanoseconds: message.logTime), self.count)
        (message.logTime, message.publishTime) = (time.nanoseconds, time.nanoseconds)
        message.channel = self.id(of: channel)
        self.writer.add(message)
    }

    private mutating func id(of channel: MCAP.Channel) -> UInt16 {
        if let id = self.channels[channel.id] { return id }
        var schema: UInt16 = 0
        if let old = self.recording.index.schemas[channel.schema] {
            schema =
                self.schemas[old.id]
                ?? self.writer.add(schema: old.name, encoding: old.encoding, data: old.data)
            self.schemas[old.id] = schema
        }
        let id = self.writer.add(
            channel: channel.topic, schema: schema, encoding: channel.encoding, metadata: channel.metadata)
        self.channels[channel.id] = id
        return id
    }
}
