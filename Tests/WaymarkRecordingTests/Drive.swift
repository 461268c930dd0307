import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkRecording

/// A file in memory, and what was asked of it.
struct MemoryStorage: RecordingStorage {
    var stored: [(name: String, bytes: [UInt8], modified: RecordingTime)] = []
    var isOpen = false
    /// Room for all files; what exceeds it is not written.
    var byteCountMax = Int.max
    var syncCount = 0
    var now = RecordingTime(nanoseconds: 0)

    mutating func create(_ name: String) throws(RecordingError) -> Bool {
        guard !self.stored.contains(where: { $0.name == name }) else { return false }
        self.stored.append((name, [], self.now))
        self.isOpen = true
        return true
    }

    mutating func append(_ bytes: [UInt8]) throws(RecordingError) {
        let used = self.stored.reduce(0) { $0 + $1.bytes.count }
        guard used + bytes.count <= self.byteCountMax else { throw .failed(28) }
        self.stored[self.stored.count - 1].bytes += bytes
        self.stored[self.stored.count - 1].modified = self.now
    }

    mutating func sync() throws(RecordingError) { self.syncCount += 1 }
    mutating func close() { self.isOpen = false }

    func files() throws(RecordingError) -> [RecordingNames.File] {
        self.stored.map {
            RecordingNames.File(name: $0.name, byteCount: UInt64($0.bytes.count), modified: $0.modified)
        }
    }

    /// Files can be removed.
    var isRemoving = false

    mutating func remove(_ name: String) throws(RecordingError) {
        guard self.isRemoving else { throw .unsupported("only the folder removes") }
        self.stored.removeAll { $0.name == name }
    }
}

/// A gateway that tells a recorder what happens: one client, one vehicle with two endpoints.
struct Drive {
    var recorder: Recorder
    var actions: [Recorder.Action] = []
    /// What an observer without a recording holds.
    var observed = ObservedGateway()
    var number: UInt64 = 0
    var sequence: UInt64 = 0
    /// Of the gateway's clock; the recorder's is 1 s behind 2000 seconds.
    var instant = Instant(nanoseconds: 0)

    static let session = SessionID(7)
    static let client = ConnectionID(1)
    static let cluster = ConnectionID(2)
    static let hud = ConnectionID(3)
    static let start = RecordingTime(nanoseconds: 2_000_000_000_000)

    /// By how much the recorder's clock was set.
    var clockChange = Duration.zero

    var now: RecordingTime { Self.start + .nanoseconds(self.instant.nanoseconds) }
    var moment: RecordingMoment { RecordingMoment(self.now + self.clockChange, elapsed: self.instant) }

    init(_ options: Recorder.Options = .init()) { self.recorder = Recorder(options) }

    static func welcome(instance: String = "depot", resumed: Bool = false) -> Welcome {
        var welcome = Welcome(resumptionToken: ResumptionToken(high: 0, low: 0))
        welcome.gateway = GatewayIdentity(instance: GatewayName(unchecked: instance), epoch: 1)
        welcome.visibility = .content
        welcome.software = "waymark test"
        welcome.isResumed = resumed
        return welcome
    }

    mutating func handle(_ event: Recorder.Event) {
        self.recorder.handle(event, at: self.moment, into: &self.actions)
    }

    mutating func tell(_ message: Message) {
        self.observed.apply(message, outline: Recorder.outline)
        self.handle(.received(message))
    }

    /// Welcome, and the whole state: the client and its session, the vehicle in it.
    mutating func begin(instance: String = "depot") {
        self.handle(.welcomed(Self.welcome(instance: instance)))
        self.tellState()
    }

    mutating func tellState() {
        self.tell(.observationBegin(ObservationBegin(.full, after: self.number, at: self.instant)))
        var records = self.records
        records.instant = self.instant
        records.isLast = true
        self.tell(.observedRecords(records))
    }

    var records: ObservedRecords {
        var records = ObservedRecords()
        var client = ClientRecord(ClientID(unchecked: "app"))
        client.connection = Self.client
        var vehicle = VehicleRecord(VehicleID(unchecked: "car"))
        vehicle.session = Self.session
        for (name, connection) in [("cluster", Self.cluster), ("hud", Self.hud)] {
            var endpoint = EndpointRecord(EndpointName(unchecked: name))
            (endpoint.connection, endpoint.audience, endpoint.session) = (connection, 5, Self.session)
            vehicle.endpoints.append(endpoint)
        }
        records.clients = [client]
        records.sessions = [SessionRecord(Self.session, of: client.client)]
        records.vehicles = [vehicle]
        return records
    }

    /// A publication of the client, and its way to both endpoints, after `delay`.
    mutating func publish(_ road: String, after delay: Duration = .milliseconds(100)) {
        self.instant = self.instant + delay
        self.sequence += 1
        let frame = Codec.encode(
            Envelope(
                .publication(.currentRoadName([road])), session: Self.session, sequence: self.sequence))
        for direction in ObservedFrames.Direction.allCases {
            self.number += 1
            var told = ObservedFrames(direction, Array(frame.bytes))
            (told.number, told.instant, told.session) = (self.number, self.instant, Self.session)
            if direction == .in { told.connection = Self.client } else { told.audience = 5 }
            self.tell(.observedFrames(told))
        }
    }

    mutating func happen(_ kind: ObservedKind, _ change: (inout ObservedEvent) -> Void = { _ in }) {
        self.number += 1
        var event = ObservedEvent(kind)
        (event.number, event.instant) = (self.number, self.instant)
        change(&event)
        self.tell(.observedEvent(event))
    }

    /// The files that were written.
    var files: [[UInt8]] {
        var files: [[UInt8]] = []
        for action in self.actions {
            switch action {
            case .open: files.append([])
            case .write(let bytes): files[files.count - 1] += bytes
            case .sync, .close: break
            }
        }
        return files
    }

    /// The only file, ended.
    mutating func recording() throws -> Recording {
        self.handle(.ended)
        return try Recording(Bytes(self.files[0]))
    }
}

extension Recording {
    func entries() throws -> [RecordedEntry] {
        var walk = RecordingWalk(self, holdsContent: false)
        var entries: [RecordedEntry] = []
        while let entry = try walk.next() { entries.append(entry) }
        return entries
    }

    /// Of the events, without times.
    func events() throws -> [String] {
        try self.entries().compactMap { if case .event(let text) = $0.content { text } else { nil } }
    }
}
