/// The plan of a run.
package struct Plan: Sendable {
    /// The protocol of the server.
    package enum Language: String, Sendable, CaseIterable { case waymark, relay, nats, redis, mqtt }

    /// What is measured.
    package enum Mode: String, Sendable, CaseIterable {
        /// Publishers send as fast as the slowest endpoint receives.
        case saturate
        /// Publishers send at a fixed rate; latency counts from the instant at which a message was due.
        case rate
        /// Like `rate`, while some endpoints do not read.
        case slow
        /// The rate at which the server accepts connections.
        case connect
        /// The cost of idle connections.
        case idle
        /// Endpoints send their publisher a request, and the next one when it is answered.
        case request
        /// Like `rate` for a few endpoints, while all others lose their connections at once and reconnect.
        case storm
    }

    /// The address of the server.
    package enum Address: Sendable, Hashable {
        case unix(String)
        /// On 127.0.0.1.
        case tcp(port: UInt16)
    }

    package var language: Language
    package var mode: Mode
    package var address: Address
    /// The server's process id; nil to leave out its cost.
    package var process: Int32?
    /// The number of endpoints of all streams together. In a storm, the number that reconnects.
    package var endpoints = 1
    /// Publishers.
    package var streams = 1
    package var payload = Payload.roadName
    /// Messages per second of all publishers together.
    package var rate = 1_000.0
    /// Seconds before the measurement, and seconds of the measurement.
    package var warmup = 0.5
    package var duration = 2.0
    /// The number of handshakes, or of open requests, at a time.
    package var concurrency = 64
    /// In mode slow: the number of endpoints that do not read.
    package var stalled = 1
    /// Waymark's keepalive in seconds.
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
    /// Endpoints that stay connected in a storm and receive publications meanwhile.
    static let watchers = 10

    /// The numbers of a stream's endpoints; the publishers have the lower numbers.
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

    /// The number of publishers. A storm has one for the watchers and one for the endpoints that reconnect.
    var connectionStreams: Int { self.mode == .storm ? 2 : self.streams }

    /// The number of messages of a stream in transit in mode saturate: a quarter of a mebibyte, and no more deliveries than the sockets
    /// of many endpoints buffer, but at least four.
    var window: Int {
        let bytes = max(self.payload.body().bytes.count, 1)
        return max(4, min(512, (256 << 10) / bytes, 640_000 / max(1, self.endpoints)))
    }

    /// The number of messages that are kept to compare received bytes with.
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

/// The results. Values that a mode does not measure are nil.
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
    /// Processor seconds per million deliveries, answers or connections.
    package var serverSecondsPerMillion: Double?
    package var generatorSecondsPerMillion: Double?
    /// Percent of one processor.
    package var serverPercent: Double?
    package var generatorPercent: Double?
    /// From the due instant to the delivery, or from request to answer.
    package var microseconds50: Double?
    package var microseconds90: Double?
    package var microseconds99: Double?
    package var microseconds999: Double?
    package var microsecondsMax: Double?
    package var residentKiB: Int?
    /// Without the pages of the program, which do not follow the number of connections.
    package var residentBytesPerConnection: Double?
    /// All deliveries and answers, including those outside the measurement. Each was compared with the bytes sent.
    package var verified = 0
    /// Published messages that healthy endpoints did not receive.
    package var missing = 0
    /// Messages that the server skipped for stalled endpoints.
    package var conflated: Int?
    /// Connections that the server closed.
    package var closed = 0
    /// How often publishing had to wait because too many messages were in transit.
    package var held: Int?
    /// Whether all published messages arrived unchanged and in order.
    package var isVerified: Bool { self.missing == 0 && self.closed == 0 }
}
