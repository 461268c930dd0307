import Glibc

extension Plan {
    /// Runs the plan. Blocks until it is done.
    package func run() throws(LoadError) -> LoadResult {
        let before = self.process.flatMap { ProcessCost(of: $0) }
        var generator = try Generator(self)
        defer { generator.release() }
        let streams = self.connectionStreams
        try generator.connect(0..<streams, concurrency: streams)
        generator.openStreams()
        defer { generator.closeStreams() }
        var run = Run(plan: self, generator: generator)
        defer { generator = run.generator }
        switch self.mode {
        case .connect, .idle: try run.connectAll(from: before)
        case .saturate, .rate, .slow, .request: try run.traffic()
        case .storm: try run.storm()
        }
        run.result.verified = run.generator.delivered + run.generator.answered
        return run.result
    }
}

/// The state of a run.
private struct Run {
    private static let second = 1_000_000_000.0

    let plan: Plan
    var generator: Generator
    var result: LoadResult
    private var start = UInt64(0)
    private var serverBefore: ProcessCost?
    private var ownBefore = UInt64(0)
    private var deliveredBefore = 0
    private var answeredBefore = 0
    private var due = 0.0
    private var turn = 0

    init(plan: Plan, generator: Generator) {
        self.plan = plan
        self.generator = generator
        self.result = LoadResult()
        self.result.language = plan.language.rawValue
        self.result.mode = plan.mode.rawValue
        self.result.endpoints = plan.endpoints
        self.result.streams = plan.streams
        self.result.bodyBytes = plan.payload.body().bytes.count
    }

    private var server: ProcessCost? { self.plan.process.flatMap { ProcessCost(of: $0) } }
    private var publishers: Int { self.plan.connectionStreams }
    private var allEndpoints: Range<Int> { self.publishers..<self.generator.connections.count }
}

// MARK: - Connections

extension Run {
    mutating func connectAll(from before: ProcessCost?) throws(LoadError) {
        self.begin()
        let crowd = self.allEndpoints
        try self.generator.connect(crowd, concurrency: self.plan.concurrency)
        self.end(of: crowd.count)
        self.result.connectionsPerSecond = Double(crowd.count) / self.result.seconds
        guard self.plan.mode == .idle else { return }
        try self.wait(self.plan.warmup)
        self.begin()
        try self.wait(self.plan.duration)
        self.end(of: crowd.count)
        (self.result.serverSecondsPerMillion, self.result.generatorSecondsPerMillion) = (nil, nil)
        if let before, let after = self.server {
            self.result.residentBytesPerConnection =
                (Double(after.anonymousKiB) - Double(before.anonymousKiB)) * 1_024 / Double(crowd.count)
        }
    }

    private mutating func wait(_ seconds: Double) throws(LoadError) {
        let end = Clock.now() + UInt64(seconds * Self.second)
        while Clock.now() < end { try self.generator.turn(until: end) }
    }

    /// Disconnects all endpoints except the watchers at once and reconnects them, while messages are published to the watchers.
    mutating func storm() throws(LoadError) {
        try self.generator.connect(self.allEndpoints, concurrency: self.plan.concurrency)
        let crowd = self.plan.endpoints(of: 1)
        try self.publishAtRate(for: self.plan.warmup, streams: 1)
        self.begin()
        for number in crowd { self.generator.cut(number) }
        self.generator.measuresFrom = Clock.now()
        let target = self.generator.ready + crowd.count
        let limit = Clock.now() + 120_000_000_000
        var next = crowd.lowerBound
        while self.generator.ready < target {
            // A few at a time, so that the generator itself does not delay the watchers' messages.
            let batch = min(next + 32, crowd.upperBound)
            while next < batch, try self.generator.begin(next) { next += 1 }
            // The server's queue is full, or all are connecting.
            let waits = next < batch || next == crowd.upperBound
            try self.publishDue(streams: 1)
            let now = Clock.now()
            guard now < limit else { throw .late("\(target - self.generator.ready) endpoints are not back") }
            try self.generator.turn(until: waits ? min(UInt64(self.due), now + 1_000_000) : now)
        }
        self.end(of: crowd.count)
        self.result.connectionsPerSecond = Double(crowd.count) / self.result.seconds
        try self.settle()
        self.tellLatencies()
    }
}

// MARK: - Traffic

extension Run {
    mutating func traffic() throws(LoadError) {
        try self.generator.connect(self.allEndpoints, concurrency: self.plan.concurrency)
        let first = self.allEndpoints.lowerBound
        let stalled = first..<first + (self.plan.mode == .slow ? self.plan.stalled : 0)
        for number in stalled { self.generator.stall(number) }
        if self.plan.mode == .request {
            self.generator.asks = true
            for number in self.allEndpoints.prefix(self.plan.concurrency) { try self.generator.ask(number) }
        }
        try self.work(for: self.plan.warmup)
        self.begin()
        if self.plan.mode != .saturate { self.generator.measuresFrom = Clock.now() }
        let published = self.published
        try self.work(for: self.plan.duration)
        let answers = self.generator.answered - self.answeredBefore
        let deliveries = self.generator.delivered - self.deliveredBefore
        self.end(of: self.plan.mode == .request ? answers : deliveries)
        if self.plan.mode == .request {
            self.result.answersPerSecond = Double(answers) / self.result.seconds
        } else {
            self.result.published = self.published - published
            self.result.deliveries = deliveries
            self.result.deliveriesPerSecond = Double(deliveries) / self.result.seconds
            try self.settle()
        }
        self.tellLatencies()
        if !stalled.isEmpty { try self.recover(stalled) }
    }

    private var published: Int { self.generator.streams.reduce(0) { $0 + $1.published } }

    private mutating func work(for seconds: Double) throws(LoadError) {
        switch self.plan.mode {
        case .saturate: try self.publishMuch(for: seconds)
        case .request: try self.wait(seconds)
        case .rate, .slow, .storm, .connect, .idle:
            try self.publishAtRate(for: seconds, streams: self.publishers)
        }
    }

    /// Fills the window whenever a quarter of it is free.
    private mutating func publishMuch(for seconds: Double) throws(LoadError) {
        let window = self.plan.window
        let end = Clock.now() + UInt64(seconds * Self.second)
        repeat {
            for stream in 0..<self.publishers
            where window - self.generator.streams[stream].underWay >= (window + 3) / 4
                && !self.generator.connections[stream].waitsToWrite
            {
                let now = Clock.now()
                while self.generator.streams[stream].underWay < window {
                    self.generator.publish(stream, at: now)
                }
                try self.generator.flush(stream)
            }
            try self.generator.turn(until: end)
        } while Clock.now() < end
    }

    private mutating func publishAtRate(for seconds: Double, streams: Int) throws(LoadError) {
        let end = Clock.now() + UInt64(seconds * Self.second)
        repeat {
            try self.publishDue(streams: streams)
            try self.generator.turn(until: min(end, UInt64(self.due)))
        } while Clock.now() < end
    }

    /// Publishes the messages that are due, one stream after the other.
    private mutating func publishDue(streams: Int) throws(LoadError) {
        let now = Double(Clock.now())
        if self.due == 0 { self.due = now }
        while self.due <= now {
            let stream = self.turn % streams
            if self.generator.streams[stream].underWay < self.generator.streams[stream].capacity {
                self.generator.publish(stream, at: UInt64(self.due))
                if !self.generator.connections[stream].waitsToWrite { try self.generator.flush(stream) }
            } else {
                self.result.held = (self.result.held ?? 0) + 1
            }
            self.turn += 1
            self.due += Self.second / self.plan.rate
        }
    }

    /// Waits until every published message has arrived.
    private mutating func settle() throws(LoadError) {
        // A slow server gets more time as long as it delivers messages.
        var delivered = self.generator.delivered
        var limit = Clock.now() + UInt64(5 * Self.second)
        while self.generator.streams.contains(where: { $0.readers > 0 && $0.underWay > 0 }) {
            if self.generator.delivered > delivered {
                delivered = self.generator.delivered
                limit = Clock.now() + UInt64(5 * Self.second)
            }
            guard Clock.now() < limit else { break }
            try self.generator.turn(until: Clock.now() + 50_000_000)
        }
        self.result.missing = self.generator.missing
        for connection in self.generator.connections
        where connection.peer.role == .endpoint && connection.state == .ready {
            self.result.missing +=
                self.generator.streams[connection.peer.stream].published - connection.message
        }
    }

    /// Resumes the endpoints that did not read: each must receive the newest message, unless it was disconnected.
    private mutating func recover(_ stalled: Range<Int>) throws(LoadError) {
        for number in stalled { self.generator.resume(number) }
        let limit = Clock.now() + UInt64(20 * Self.second)
        while let behind = stalled.first(where: {
            let connection = self.generator.connections[$0]
            return connection.state == .stalled
                && connection.message < self.generator.streams[connection.peer.stream].published
        }) {
            guard Clock.now() < limit else {
                throw .late("endpoint \(behind) has not got the newest message")
            }
            try self.generator.turn(until: Clock.now() + 50_000_000)
        }
        self.result.conflated = self.generator.conflated
        self.result.closed = self.generator.closed
    }
}

// MARK: - Results

extension Run {
    private mutating func begin() {
        self.serverBefore = self.server
        self.deliveredBefore = self.generator.delivered
        self.answeredBefore = self.generator.answered
        self.ownBefore = Clock.ownProcessorTime()
        self.start = Clock.now()
    }

    /// Computes the results for `count` deliveries, answers or connections since ``begin()``.
    private mutating func end(of count: Int) {
        let nanoseconds = Double(Clock.now() - self.start)
        let own = Double(Clock.ownProcessorTime() - self.ownBefore)
        self.result.seconds = nanoseconds / Self.second
        let perMillion = 1_000_000 / Self.second / Double(max(1, count))
        self.result.generatorPercent = own / nanoseconds * 100
        self.result.generatorSecondsPerMillion = own * perMillion
        guard let before = self.serverBefore, let after = self.server else { return }
        let used = Double(after.processorTime) - Double(before.processorTime)
        self.result.serverPercent = used / nanoseconds * 100
        self.result.serverSecondsPerMillion = used * perMillion
        self.result.residentKiB = Int(after.residentKiB)
    }

    private mutating func tellLatencies() {
        guard self.generator.latencies.count > 0 else { return }
        func microseconds(_ share: Double) -> Double {
            Double(self.generator.latencies.percentile(share)) / 1_000
        }
        self.result.microseconds50 = microseconds(0.5)
        self.result.microseconds90 = microseconds(0.9)
        self.result.microseconds99 = microseconds(0.99)
        self.result.microseconds999 = microseconds(0.999)
        self.result.microsecondsMax = Double(self.generator.latencies.largest) / 1_000
    }
}
