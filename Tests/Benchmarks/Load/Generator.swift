import CEpoll
import Glibc

/// The publishers and endpoints of one server, on one thread.
///
/// Owned by one run, without reference counts and locks, so that it costs less than the server that it measures.
struct Generator {
    private static let bufferBytes = 512 << 10
    private static let eventsMax = 512

    let plan: Plan
    private(set) var dialect: any Dialect
    private let firstConnection: UnsafeMutablePointer<Connection>
    private let firstStream: UnsafeMutablePointer<Stream>
    /// By number.
    let connections: UnsafeMutableBufferPointer<Connection>
    let streams: UnsafeMutableBufferPointer<Stream>
    private let buffer: UnsafeMutableRawPointer
    private let events: UnsafeMutablePointer<epoll_event>
    private let epoll: CInt

    /// Latencies of messages sent from this instant on are recorded; 0: none are.
    var measuresFrom: UInt64 = 0
    var latencies = Histogram()
    private(set) var delivered = 0
    private(set) var answered = 0
    private(set) var ready = 0
    private(set) var missing = 0
    private(set) var conflated = 0
    private(set) var closed = 0
    /// Each answered request is followed by the next.
    var asks = false

    init(_ plan: Plan) throws(LoadError) {
        try plan.check()
        Self.raiseDescriptorLimit()
        self.plan = plan
        let asks = plan.mode == .request
        self.dialect =
            switch plan.language {
            case .waymark: WaymarkDialect(plan)
            case .relay: RelayDialect(plan)
            case .nats: NATSDialect(asks: asks)
            case .redis: RedisDialect(asks: asks)
            case .mqtt: MQTTDialect(asks: asks)
            }
        self.epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard self.epoll >= 0 else { throw .system(call: "epoll_create1", code: errno) }
        let count = plan.connectionStreams
        let connectionCount = plan.endpoints(of: count - 1).upperBound
        self.firstStream = .allocate(capacity: count)
        self.firstConnection = .allocate(capacity: connectionCount)
        self.streams = UnsafeMutableBufferPointer(start: self.firstStream, count: count)
        self.connections = UnsafeMutableBufferPointer(start: self.firstConnection, count: connectionCount)
        for stream in 0..<count {
            self.connections.initializeElement(
                at: stream, to: Connection(peer: Peer(role: .publisher, stream: stream, number: stream)))
            for number in plan.endpoints(of: stream) {
                self.connections.initializeElement(
                    at: number, to: Connection(peer: Peer(role: .endpoint, stream: stream, number: number)))
            }
        }
        self.buffer = .allocate(byteCount: Self.bufferBytes, alignment: 64)
        self.events = .allocate(capacity: Self.eventsMax)
    }

    /// Ends all connections with the protocol's last bytes and closes them.
    mutating func release() {
        let farewell = self.dialect.farewell
        for number in self.connections.indices where self.connections[number].state != .absent {
            // It need not arrive.
            if self.connections[number].out.count == 0, !farewell.isEmpty {
                send(self.connections[number].descriptor, farewell, farewell.count, Int32(MSG_NOSIGNAL))
            }
            self.connections[number].close()
        }
        Glibc.close(self.epoll)
        self.buffer.deallocate()
        self.events.deallocate()
        self.latencies.release()
        self.connections.deallocate()
        self.streams.deallocate()
    }

    /// Called once all publishers are ready: creates the streams, with nothing published.
    func openStreams() {
        let body = self.plan.payload.body()
        for stream in self.streams.indices {
            let templates = self.dialect.templates(of: body, stream: stream)
            self.streams.initializeElement(
                at: stream,
                to: Stream(sent: templates.sent, received: templates.received, capacity: self.plan.capacity))
        }
    }

    func closeStreams() { for stream in self.streams { stream.release() } }

    /// Raises the descriptor limit: ten thousand connections need many descriptors.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

// MARK: - The loop

extension Generator {
    /// Handles socket events; waits for them until an instant.
    mutating func turn(until deadline: UInt64) throws(LoadError) {
        let now = Clock.now()
        let wait = deadline > now ? deadline - now : 0
        var time = timespec(tv_sec: Int(wait / 1_000_000_000), tv_nsec: Int(wait % 1_000_000_000))
        let count = epoll_pwait2(self.epoll, self.events, Int32(Self.eventsMax), &time, nil)
        guard count >= 0 || errno == EINTR else { throw .system(call: "epoll_pwait2", code: errno) }
        for place in 0..<max(0, Int(count)) {
            let number = Int(self.events[place].data.u32)
            let what = self.events[place].events
            if what & EPOLLOUT.rawValue != 0 { try self.flush(number) }
            if what & ~EPOLLOUT.rawValue != 0 { try self.receive(number) }
        }
    }

    /// Connects `numbers`, at most `concurrency` of them in their handshake at a time.
    mutating func connect(_ numbers: Range<Int>, concurrency: Int) throws(LoadError) {
        let limit = Clock.now() + 120_000_000_000
        let target = self.ready + numbers.count
        var next = numbers.lowerBound
        while self.ready < target {
            while next < numbers.upperBound,
                next - numbers.lowerBound - (self.ready - target + numbers.count) < concurrency,
                try self.begin(next)
            {
                next += 1
            }
            let now = Clock.now()
            guard now < limit else { throw .late("\(target - self.ready) connections are not ready") }
            try self.turn(until: now + (next < numbers.upperBound ? 1_000_000 : 100_000_000))
        }
    }

    /// Begins one connection.
    ///
    /// - Returns: false while the server's queue is full.
    mutating func begin(_ number: Int) throws(LoadError) -> Bool {
        guard let descriptor = try self.plan.address.connect() else { return false }
        var event = epoll_event(
            events: EPOLLIN.rawValue, data: epoll_data_t(u32: UInt32(number)))
        guard epoll_ctl(self.epoll, EPOLL_CTL_ADD, descriptor, &event) == 0 else {
            throw .system(call: "epoll_ctl", code: errno)
        }
        self.connections[number].descriptor = descriptor
        self.connections[number].state = .greeting
        self.connections[number].out.append(self.dialect.greeting(of: self.connections[number].peer))
        try self.flush(number)
        return true
    }

    /// Writes pending bytes.
    mutating func flush(_ number: Int) throws(LoadError) {
        while self.connections[number].out.count > 0 {
            let bytes = self.connections[number].out.bytes
            let count = send(
                self.connections[number].descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            guard count > 0 else {
                if errno == EAGAIN { return self.watch(number, writing: true) }
                // Bytes that the server sent before it closed must still be read.
                return self.connections[number].out.removeAll()
            }
            self.connections[number].out.removeFirst(count)
        }
        self.watch(number, writing: false)
        if self.connections[number].peer.role == .endpoint { self.connections[number].out.release() }
    }

    private func watch(_ number: Int, writing: Bool) {
        guard self.connections[number].waitsToWrite != writing else { return }
        self.connections[number].waitsToWrite = writing
        var event = epoll_event(
            events: EPOLLIN.rawValue | (writing ? EPOLLOUT.rawValue : 0),
            data: epoll_data_t(u32: UInt32(number)))
        epoll_ctl(self.epoll, EPOLL_CTL_MOD, self.connections[number].descriptor, &event)
    }

    /// An endpoint stops reading, and its stream no longer waits for it.
    func stall(_ number: Int) {
        epoll_ctl(self.epoll, EPOLL_CTL_DEL, self.connections[number].descriptor, nil)
        self.connections[number].state = .stalled
        self.streams[self.connections[number].peer.stream].removeReader(at: self.connections[number].message)
    }

    /// It reads again.
    func resume(_ number: Int) {
        var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u32: UInt32(number)))
        epoll_ctl(self.epoll, EPOLL_CTL_ADD, self.connections[number].descriptor, &event)
    }

    /// Closes a connection without a Goodbye.
    mutating func cut(_ number: Int) {
        self.streams[self.connections[number].peer.stream].removeReader(at: self.connections[number].message)
        self.connections[number].close()
        self.ready -= 1
    }

    /// Sends a request.
    mutating func ask(_ number: Int) throws(LoadError) {
        self.connections[number].request += 1
        self.connections[number].requestedAt = Clock.now()
        self.connections[number].out.append(
            self.dialect.request(self.connections[number].request, from: self.connections[number].peer))
        try self.flush(number)
    }
}

// MARK: - Received bytes

extension Generator {
    private mutating func receive(_ number: Int) throws(LoadError) {
        let connection = self.firstConnection + number
        let waiting = connection.pointee.pending.count
        if waiting > 0 {
            UnsafeMutableRawBufferPointer(start: self.buffer, count: waiting)
                .copyMemory(from: connection.pointee.pending.bytes)
        }
        let count = recv(connection.pointee.descriptor, self.buffer + waiting, Self.bufferBytes - waiting, 0)
        guard count > 0 else {
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            return try self.lose(number)
        }
        if waiting == 0, connection.pointee.state == .ready, connection.pointee.peer.role == .endpoint {
            let stream = self.firstStream + connection.pointee.peer.stream
            if stream.pointee.matches(self.buffer, count, at: connection.pointee.position) {
                return self.move(connection, stream, by: count)
            }
        }
        connection.pointee.pending.removeAll()
        try self.split(number, UnsafeRawBufferPointer(start: self.buffer, count: waiting + count))
    }

    /// The fast path: all bytes read are the expected ones.
    @inline(__always)
    private mutating func move(
        _ connection: UnsafeMutablePointer<Connection>, _ stream: UnsafeMutablePointer<Stream>, by count: Int
    ) {
        let position = connection.pointee.position + count
        connection.pointee.position = position
        let old = connection.pointee.message
        let new = position / stream.pointee.messageBytes
        guard new > old else { return }
        connection.pointee.message = new
        self.delivered += new - old
        if self.measuresFrom > 0 {
            let now = Clock.now()
            for message in old..<new {
                let sent = stream.pointee.sentAt(message)
                if sent >= self.measuresFrom { self.latencies.add(now - sent) }
            }
        }
        if connection.pointee.state == .ready { stream.pointee.moveReader(from: old, to: new) }
    }

    /// The slow path: there are frames that are not publications, or messages were skipped for this endpoint.
    private mutating func split(_ number: Int, _ bytes: UnsafeRawBufferPointer) throws(LoadError) {
        let connection = self.firstConnection + number
        var rest = try self.withoutStart(number, bytes)
        while rest.count > 0 {
            guard let length = try self.dialect.frameLength(rest), length <= rest.count else { break }
            let frame = UnsafeRawBufferPointer(rebasing: rest[..<length])
            if try !self.deliver(connection, frame) { try self.react(number, frame) }
            guard connection.pointee.state != .absent else { return }
            rest = UnsafeRawBufferPointer(rebasing: rest[length...])
        }
        connection.pointee.pending.append(rest)
        if connection.pointee.pending.count == 0 { connection.pointee.pending.release() }
    }

    /// Drops the rest of a message whose start was received before.
    private mutating func withoutStart(
        _ number: Int, _ bytes: UnsafeRawBufferPointer
    ) throws(LoadError) -> UnsafeRawBufferPointer {
        let connection = self.firstConnection + number
        guard connection.pointee.state == .ready, connection.pointee.peer.role == .endpoint else {
            return bytes
        }
        let stream = self.firstStream + connection.pointee.peer.stream
        let begun = connection.pointee.position % stream.pointee.messageBytes
        guard begun > 0 else { return bytes }
        let rest = min(stream.pointee.messageBytes - begun, bytes.count)
        guard
            stream.pointee.matches(
                UnsafeRawBufferPointer(rebasing: bytes[..<rest]), at: connection.pointee.position)
        else {
            throw .unexpected("the rest of a message differs from the published bytes")
        }
        self.move(connection, stream, by: rest)
        return UnsafeRawBufferPointer(rebasing: bytes[rest...])
    }

    /// - Returns: false if the frame is not one of the stream's.
    private mutating func deliver(
        _ connection: UnsafeMutablePointer<Connection>, _ frame: UnsafeRawBufferPointer
    ) throws(LoadError) -> Bool {
        let isStalled = connection.pointee.state == .stalled
        guard isStalled || connection.pointee.state == .ready, connection.pointee.peer.role == .endpoint
        else {
            return false
        }
        let stream = self.firstStream + connection.pointee.peer.stream
        let length = stream.pointee.messageBytes
        guard frame.count == length else { return false }
        var skipped = 0
        while !stream.pointee.matches(frame, at: connection.pointee.position + skipped * length) {
            skipped += 1
            guard connection.pointee.message + skipped < stream.pointee.published else { return false }
        }
        if skipped > 0 {
            if isStalled { self.conflated += skipped } else { self.missing += skipped }
            if !isStalled {
                stream.pointee.moveReader(
                    from: connection.pointee.message, to: connection.pointee.message + skipped)
            }
            connection.pointee.message += skipped
            connection.pointee.position += skipped * length
        }
        self.move(connection, stream, by: length)
        return true
    }

    private mutating func react(_ number: Int, _ frame: UnsafeRawBufferPointer) throws(LoadError) {
        let connection = self.firstConnection + number
        let reaction: Reaction
        do {
            reaction = try self.dialect.take(frame, for: connection.pointee.peer)
        } catch {
            // A server may close the connection of an endpoint that does not read.
            guard case .closed = error, connection.pointee.state == .stalled else { throw error }
            return self.drop(number)
        }
        if reaction.isReady, connection.pointee.state == .greeting {
            connection.pointee.state = .ready
            self.ready += 1
            if connection.pointee.peer.role == .endpoint {
                let stream = self.firstStream + connection.pointee.peer.stream
                connection.pointee.message = stream.pointee.addReader()
                connection.pointee.position = connection.pointee.message * stream.pointee.messageBytes
            }
        }
        if let answered = reaction.answered { try self.answer(number, answered) }
        guard !reaction.reply.isEmpty else { return }
        connection.pointee.out.append(reaction.reply)
        try self.flush(number)
    }

    private mutating func answer(_ number: Int, _ request: Int) throws(LoadError) {
        guard self.connections[number].request == request else {
            throw .unexpected("an answer to request \(request), not to \(self.connections[number].request)")
        }
        self.answered += 1
        let asked = self.connections[number].requestedAt
        if self.measuresFrom > 0, asked >= self.measuresFrom { self.latencies.add(Clock.now() - asked) }
        if self.asks { try self.ask(number) }
    }

    /// The server closed a connection.
    private mutating func lose(_ number: Int) throws(LoadError) {
        guard self.connections[number].state == .stalled else {
            throw .closed("the server closed connection \(number) of \(self.connections.count)")
        }
        self.drop(number)
    }

    private mutating func drop(_ number: Int) {
        self.closed += 1
        self.connections[number].close()
    }

    /// Publishes the next message of a stream; it counts as sent at `instant`. The next ``flush(_:)`` writes it.
    func publish(_ stream: Int, at instant: UInt64) {
        self.streams[stream].publish(at: instant, into: &self.connections[stream].out)
    }
}
