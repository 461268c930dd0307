internal import WaymarkCodec
package import WaymarkHistory
internal import WaymarkProtocol
package import WaymarkRecording

/// Makes a recording of a run: a function of its history and of what came of it, the same for both clocks.
package struct RunRecording: Sendable {
    /// When runs in virtual time begin.
    package static let virtualBegin = RecordingTime(nanoseconds: 946_684_800_000_000_000)

    private let result: ScenarioResult
    /// The files that the run was made of.
    package var attachments: [MCAP.Attachment] = []

    package init(_ result: ScenarioResult) { self.result = result }

    /// Hands the recording to `output`, in pieces that follow each other.
    package func write(
        _ history: History, _ output: ([UInt8]) throws(RecordingError) -> Void
    ) throws(RecordingError) {
        var writing = RunRecorder(
            self.options, begin: self.result.began ?? Self.virtualBegin, rejectedBy: history)
        try writing.begin(Self.welcome(history), output)
        var notes = RunNote.all(of: self.result, history)[...]
        for entry in history.entries {
            while let note = notes.first, note.instant < entry.instant {
                try writing.add(notes.removeFirst(), output)
            }
            try writing.add(entry, output)
        }
        for note in notes { try writing.add(note, output) }
        try writing.end(output)
    }

    /// Writes the recording to a file, in place of one that is there.
    package func write(_ history: History, to path: String) throws(RecordingError) {
        try RecordingFile.replace(path) { append throws(RecordingError) in
            try self.write(history) { bytes throws(RecordingError) in try append(bytes) }
        }
    }

    private var options: Recorder.Options {
        var options = Recorder.Options()
        options.fileBytesMax = .max
        options.values =
            Recording.Run(
                scenario: self.result.file, seed: "\(self.result.seed)", clock: self.result.clock.rawValue,
                verdict: self.result.verdict
            ).values
        options.attachments = self.attachments
        return options
    }

    /// What an observer of the run would have been told at its begin: as its first peer was.
    private static func welcome(_ history: History) -> Welcome {
        var welcome = Welcome(resumptionToken: ResumptionToken(high: 0, low: 0))
        welcome.visibility = .all
        for entry in history.entries {
            guard case .frame(let crossed) = entry.kind, case .welcome(let first)? = crossed.message else {
                continue
            }
            (welcome.gateway, welcome.software) = (first.gateway, first.software)
            break
        }
        return welcome
    }
}

extension ScenarioResult {
    /// `passed`, `failed`, or `broken`.
    package var verdict: String { self.problem != nil ? "broken" : self.hasPassed ? "passed" : "failed" }
}

/// Turns the entries of a history into what a recorder writes.
private struct RunRecorder {
    private var recorder: Recorder
    private var observer = RunObserver()
    private let begin: RecordingTime
    private let rejected: Set<PublicationNumber>
    /// The last publication of each session that the gateway has.
    private var accepted: [SessionID: UInt64] = [:]
    /// Of the last entry.
    private var number: UInt64 = 0
    private var fileCount = 0

    init(_ options: Recorder.Options, begin: RecordingTime, rejectedBy history: History) {
        self.recorder = Recorder(options)
        self.begin = begin
        self.rejected = PublicationNumber.rejected(in: history)
    }

    mutating func begin(
        _ welcome: Welcome, _ output: ([UInt8]) throws(RecordingError) -> Void
    ) throws(RecordingError) {
        let zero = Instant(nanoseconds: 0)
        try self.handle(.welcomed(welcome), at: zero, output)
        // Instants of the history are those of the gateway's clock.
        try self.handle(
            .received(.observationBegin(ObservationBegin(.full, after: 0, at: zero))), at: zero, output)
        var state = ObservedRecords()
        state.isLast = true
        try self.handle(.received(.observedRecords(state)), at: zero, output)
    }

    mutating func add(
        _ note: RunNote, _ output: ([UInt8]) throws(RecordingError) -> Void
    ) throws(RecordingError) {
        let number = note.number ?? self.number
        try self.happened(note.object, number: number, at: note.instant, output)
    }

    mutating func end(_ output: ([UInt8]) throws(RecordingError) -> Void) throws(RecordingError) {
        try self.handle(.ended, at: Instant(nanoseconds: 0), output)
    }

    mutating func add(
        _ entry: History.Entry, _ output: ([UInt8]) throws(RecordingError) -> Void
    ) throws(RecordingError) {
        self.number = UInt64(entry.index) + 1
        var isRejected = false
        if case .frame(let crossed) = entry.kind, let id = PublicationNumber(sent: crossed) {
            isRejected = crossed.rejection != nil || self.rejected.contains(id)
        }
        let told = self.observer.see(entry, isAccepted: !isRejected)
        if told.hasRecords {
            var records = told.records
            (records.number, records.instant) = (self.number, entry.instant)
            try self.handle(.received(.observedRecords(records)), at: entry.instant, output)
        }
        for var event in told.events {
            (event.number, event.instant) = (self.number, entry.instant)
            try self.handle(.received(.observedEvent(event)), at: entry.instant, output)
        }
        switch entry.kind {
        case .frame(let crossed): try self.add(crossed, isRejected: isRejected, at: entry.instant, output)
        case .broken(let peer, let way, let bytes):
            let connection = self.observer.connection(of: peer)
            try self.handle(
                .broken(bytes, connection, way.direction, of: peer.recorded, number: self.number),
                at: entry.instant, output)
        case .connection, .fault, .step, .log:
            guard let object = RunNote.object(entry) else { return }
            try self.happened(object, number: self.number, at: entry.instant, output)
        }
    }

    private mutating func add(
        _ crossed: CrossedFrame, isRejected: Bool, at instant: Instant,
        _ output: ([UInt8]) throws(RecordingError) -> Void
    ) throws(RecordingError) {
        let header = crossed.frame.header
        guard header.type != .ping, header.type != .pong else { return }
        guard let bytes = crossed.bytesWithoutSecrets else {
            var object = JSONObject()
            (object["kind"], object["peer"]) = (.text("log"), .text("\(crossed.peer)"))
            object["text"] = .text(
                "a \(header.type.map { "\($0)" } ?? "frame") that cannot be read is left out: it may have a key"
            )
            return try self.happened(object, number: self.number, at: instant, output)
        }
        var told = ObservedFrames(crossed.way.direction, bytes)
        (told.number, told.instant, told.session) = (self.number, instant, header.session)
        told.connection = self.observer.connection(of: crossed.peer, sentAt: crossed.sent)
        told.isRejected = isRejected
        var transit = RecordedTransit()
        transit.peer = crossed.peer.recorded
        transit.delivery = self.delivery(crossed)
        transit.sent = self.time(crossed.sent)
        try self.handle(.crossed(told, transit), at: instant, output)
    }

    private mutating func delivery(_ crossed: CrossedFrame) -> RecordedDelivery {
        switch crossed.delivery {
        case .corrupted: return .corrupted
        case .dropped: return .dropped
        case .whole:
            guard let id = PublicationNumber(sent: crossed) else { return .whole }
            guard id.sequence > self.accepted[id.session] ?? 0 else { return .repeated }
            self.accepted[id.session] = id.sequence
            return .whole
        }
    }

    // MARK: The recorder

    private func time(_ instant: Instant) -> RecordingTime {
        self.begin + (instant - Instant(nanoseconds: 0))
    }

    private mutating func happened(
        _ object: JSONObject, number: UInt64, at instant: Instant,
        _ output: ([UInt8]) throws(RecordingError) -> Void
    ) throws(RecordingError) {
        var object = object
        object["time"] = .text("\(self.time(instant))")
        object["number"] = .number(number)
        try self.handle(.happened(object.text, number: number), at: instant, output)
    }

    private mutating func handle(
        _ event: Recorder.Event, at instant: Instant, _ output: ([UInt8]) throws(RecordingError) -> Void
    ) throws(RecordingError) {
        var actions: [Recorder.Action] = []
        self.recorder.handle(event, at: self.time(instant), into: &actions)
        for action in actions {
            switch action {
            case .open:
                self.fileCount += 1
                guard self.fileCount == 1 else {
                    throw .unsupported("it has more connections than a recording can hold")
                }
            case .write(let bytes): try output(bytes)
            case .sync, .close: break
            }
        }
    }
}

/// Which publication it is.
private struct PublicationNumber: Hashable {
    let session: SessionID
    let sequence: UInt64

    /// Of a frame that a client sent; nil if it is no publication.
    init?(sent crossed: CrossedFrame) {
        let header = crossed.frame.header
        guard crossed.way == .toGateway, case .client = crossed.peer,
            MessageType.published.contains(header.rawType), header.session != .none
        else { return nil }
        (self.session, self.sequence) = (header.session, header.sequence)
    }

    private init(_ rejection: Rejection) {
        (self.session, self.sequence) = (rejection.session, rejection.sequence)
    }

    /// All that the gateway rejected.
    static func rejected(in history: History) -> Set<PublicationNumber> {
        var rejected: Set<PublicationNumber> = []
        for entry in history.entries {
            guard case .frame(let crossed) = entry.kind, crossed.way == .toPeer, case .client = crossed.peer,
                case .error(let rejection)? = crossed.message, rejection.session != .none,
                MessageType.published.contains(rejection.messageType)
            else { continue }
            rejected.insert(PublicationNumber(rejection))
        }
        return rejected
    }
}

extension CrossedFrame {
    /// The frame without keys and tokens, as observers are told it; nil if they cannot be found in it.
    fileprivate var bytesWithoutSecrets: [UInt8]? {
        let envelope: Envelope
        switch (self.frame.header.type, self.message) {
        case (.hello, .hello(var hello)):
            (hello.credential, hello.resumptionToken) = ([], nil)
            envelope = Envelope(.hello(hello))
        case (.welcome, .welcome(var welcome)):
            welcome.resumptionToken = ResumptionToken(high: 0, low: 0)
            envelope = Envelope(.welcome(welcome))
        case (.hello, _), (.welcome, _): return nil
        default: return Array(self.frame.bytes)
        }
        return Array(Codec.encode(envelope).bytes)
    }
}

extension WaymarkHistory.Way {
    var direction: ObservedFrames.Direction { self == .toGateway ? .in : .out }
}

extension PeerID {
    /// As observers name it.
    fileprivate var recorded: RecordedPeers.Peer {
        RecordedPeers.Peer(name: "\(self)", role: self.vehicle == nil ? "navigation" : "vehicle")
    }
}
