/// What a run does, against which server.
package struct Plan: Sendable {
    /// How the server is spoken to.
    package enum Language: String, Sendable, CaseIterable { case waymark, relay, nats, redis, mqtt }

    /// What is measured.
    package enum Mode: String, Sendable, CaseIterable {
        /// Publishers send as fast as the slowest endpoint takes it.
        case saturate
        /// Publishers send at a fixed rate; a delivery is late from the instant at which its message was due.
        case rate
        /// As `rate`, while the first endpoints have stopped reading.
        case slow
        /// How fast connections are taken.
        case connect
        /// What connections cost that do nothing.
        case idle
        /// Endpoints ask their publisher, and ask again when answered.
        case request
        /// As `rate` for a few endpoints, while all others are cut at once and come back.
        case storm
    }

    /// Where the server listens.
    package enum Address: Sendable, Hashable {
        case unix(String)
        /// On 127.0.0.1.
        case tcp(port: UInt16)
    }

    package var language: Language
    package var mode: Mode
    package var address: Address
    /// The server's; nil: what it uses is not told.
    package var process: Int32?
    /// In all, spread over the streams. In a storm, those that are cut.
    package var endpoints = 1
    /// Publishers.
    package var streams = 1
    package var payload = Payload.roadName
    /// Messages per second of all publishers together.
    package var rate = 1_000.0
    /// Seconds before anything counts, and seconds that count.
    package var warmup = 0.5
    package var duration = 2.0
    /// Connections in their handshake, or requests under way, at a time.
    package var concurrency = 64
    /// In mode slow: how many endpoints do not read.
    package var stalled = 1
    /// Waymark's, in seconds.
    package var keepalive = 600
    /// Points of the route that a Waymark session begins with.
    package var snapshotPoints = 0

    package init(language: Language, mode: Mode, address: Address) {
        self.language = language
        self.mode = mode
        self.address = address
    }
}

extension Plan {
    /// Endpoints that a storm leaves alone, and that are published to meanwhile.
    static let watchers = 10

    /// The numbers of a stream's endpoints; publishers have the numbers before them.
    func endpoints(of stream: Int) -> Range<Int> {
        if self.mode == .storm {
            let first = self.connectionStreams
            return stream == 0
                ? first..<first + Self.watchers
                : first + Self.watchers..<first + Self.watchers + self.endpoints
        }
        let each = self.endpoints / self.streams
        let first = self.streams + stream * each
        return first..<first + each
    }

    /// Publishers. A storm has one for those who watch and one for those who come back.
    var connectionStreams: Int { self.mode == .storm ? 2 : self.streams }

    /// How many messages of a stream may be under way to saturate: a quarter of a mebibyte, and no more deliveries than
    /// the sockets of many endpoints hold, but at least four.
    var window: Int {
        let bytes = max(self.payload.body().bytes.count, 1)
        return max(4, min(512, (256 << 10) / bytes, 640_000 / max(1, self.endpoints)))
    }

    /// How many messages are kept to compare with.
    var capacity: Int {
        switch self.mode {
        case .saturate: self.window
        case .rate, .slow, .storm:
            max(64, min(16_384, (64 << 20) / max(self.payload.body().bytes.count, 1)))
        case .connect, .idle, .request: 1
        }
    }

    func check() throws(LoadError) {
        guard self.endpoints > 0, self.streams > 0, self.endpoints % self.streams == 0 else {
            throw .plan("endpoints must be a multiple of streams")
        }
        guard self.rate > 0, self.concurrency > 0, self.duration > 0, self.warmup >= 0 else {
            throw .plan("rate, concurrency and duration must be above 0")
        }
        guard self.mode != .slow || self.stalled < self.endpoints else {
            throw .plan("some endpoints must read")
        }
        if self.language == .waymark, self.mode != .storm, self.streams > 1 {
            guard self.endpoints / self.streams <= WaymarkDialect.namedMax else {
                throw .plan("a session names at most \(WaymarkDialect.namedMax) vehicles")
            }
        }
    }
}

/// What came out. What a mode does not measure is nil.
package struct LoadResult: Sendable, Codable {
    package var language = ""
    package var mode = ""
    package var endpoints = 0
    package var streams = 0
    package var bodyBytes = 0
    package var seconds = 0.0
    package var published: Int?
    package var deliveries: Int?
    package var deliveriesPerSecond: Double?
    package var answersPerSecond: Double?
    package var connectionsPerSecond: Double?
    /// Of deliveries, answers or connections.
    package var serverSecondsPerMillion: Double?
    package var generatorSecondsPerMillion: Double?
    /// Of one processor.
    package var serverPercent: Double?
    package var generatorPercent: Double?
    /// From the due instant to the delivery, or from question to answer.
    package var microseconds50: Double?
    package var microseconds90: Double?
    package var microseconds99: Double?
    package var microseconds999: Double?
    package var microsecondsMax: Double?
    package var residentKiB: Int?
    package var residentBytesPerConnection: Double?
    /// Deliveries and answers in all, before and after the seconds that count too: each was compared with what was sent.
    package var verified = 0
    /// Messages that healthy endpoints did not get though they were published.
    package var missing = 0
    /// Messages that stalled endpoints were spared.
    package var conflated: Int?
    /// Connections that the server closed.
    package var closed = 0
    /// Instants at which nothing could be published, since too much was under way.
    package var held: Int?
    /// Everything that was published arrived, in order, as it was.
    package var isVerified: Bool { self.missing == 0 && self.closed == 0 }
}
