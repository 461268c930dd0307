internal import Logging
internal import NIOCore
internal import NIOPosix
internal import WaymarkCodec
internal import WaymarkProtocol

/// The navigation client, vehicle endpoint or observer that uses a link.
///
/// No function here waits for the app, so that the link keeps reading and answering pings however slow a handler is.
protocol LinkOwner: Actor {
    /// The Hello of the next connection.
    func hello() -> Hello
    func linkStateChanged(_ state: ConnectionState)
    /// The gateway has welcomed this peer and accepts frames up to `frameBytesMax` bytes. ``dequeueOutgoing()`` is not called
    /// before.
    func welcomed(_ welcome: Welcome, frameBytesMax: Int) async
    /// Processes one message; the next one is read when it returns.
    func received(_ envelope: Envelope) async
    /// A frame of a type that this build does not know.
    func skipped(_ header: FrameHeader)
    /// Removes and returns what to write now, oldest first; called again until it is empty.
    func dequeueOutgoing() -> [Frame]
}

/// Keeps a connection to the gateway: connects, drives the peer session, reconnects after a loss.
actor Link {
    /// One transport, from connecting to its end.
    private struct Connection {
        let number: Int
        let channel: any Channel
        let wake: AsyncStream<Void>.Continuation
        var session: ConnectingSession
        var splitter: FrameSplitter
        var control: [Frame] = []
        /// When the owner was told of the Welcome.
        var welcomed: Instant?
        var timer: Task<Void, Never>?
        var closing: Task<Void, Never>?
    }

    private let address: ServiceAddress
    private let logger: Logger
    private let limits = ConnectionLimits()
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    /// The owner releases the link when it is told that the link is closed.
    private let owner: any LinkOwner
    private let firstAttemptsMax: Int
    private var backoff: Backoff
    private var connection: Connection?
    private var connectionCount = 0
    private var lastGoodbye: Goodbye?
    /// The first bytes of a peer that does not speak the protocol; nil for one that does.
    private var foreignBytes: [UInt8]?
    private var wasWelcomed = false
    private var isClosing = false
    private var isFinished = false
    private var runner: Task<Void, Never>?
    private let (firstResults, firstResult) = AsyncStream.makeStream(
        of: Result<Void, ClientError>.self, bufferingPolicy: .bufferingOldest(1))

    init(
        address: ServiceAddress, reconnection: ReconnectionPolicy, logger: Logger, owner: any LinkOwner
    ) {
        self.address = address
        self.logger = logger
        self.firstAttemptsMax = reconnection.firstAttemptsMax
        self.backoff = Backoff(reconnection)
        self.owner = owner
        self.start = self.clock.now
    }

    private var now: Instant { Instant(nanoseconds: 0) + (self.clock.now - self.start) }

    /// Connects, and keeps the connection in the background; returns with the first Welcome.
    func open() async throws(ClientError) {
        self.runner = Task { await self.run() }
        for await result in self.firstResults { return try result.get() }
        // The task that waits was cancelled.
        await self.close()
        throw .cancelled
    }

    /// Writes what is queued, sends Goodbye and does not reconnect. Gives up after the drain timeout.
    func close() async {
        self.isClosing = true
        guard let runner, self.connection?.welcomed != nil else {
            self.runner?.cancel()
            return await self.finish(.closed)
        }
        self.wakeUp()
        let deadline = Task {
            do { try await Task.sleep(for: self.limits.drainTimeout) } catch { return }
            runner.cancel()
            // Closing the transport ends a write to a gateway that does not read.
            self.connection?.channel.close(mode: .all, promise: nil)
        }
        await runner.value
        deadline.cancel()
    }

    /// Closes the transport as a network failure would; the link reconnects. For tests.
    func cut() { self.connection?.channel.close(mode: .all, promise: nil) }

    /// Tells the writer that frames are queued.
    func wakeUp() { self.connection?.wake.yield() }

    // MARK: Connecting and reconnecting

    private func run() async {
        await self.owner.linkStateChanged(.connecting)
        while !self.isClosing, !Task.isCancelled {
            self.lastGoodbye = nil
            self.foreignBytes = nil
            self.logger.debug("connecting", metadata: [LogKey.address: "\(self.address)"])
            let (failure, lifetime) = await self.connectOnce()
            self.backoff.connectionEnded(after: lifetime)
            if let error = self.finalError(failure) { return await self.finish(error) }
            await self.owner.linkStateChanged(.connecting)
            let hint = Duration.milliseconds(self.lastGoodbye?.reconnectAfterMilliseconds ?? 0)
            let delay = self.backoff.delay(hint: hint, random: .random(in: 0..<1))
            self.logLoss(failure, wasConnected: lifetime != nil, delay)
            do { try await Task.sleep(for: delay) } catch { break }
        }
        await self.finish(.closed)
    }

    private func logLoss(_ failure: ClientError?, wasConnected: Bool, _ delay: Duration) {
        var metadata: Logger.Metadata = [
            LogKey.address: "\(self.address)", LogKey.delay: "\(delay / .milliseconds(1)) ms",
        ]
        if let failure { metadata[LogKey.error] = "\(failure)" }
        if let goodbye = self.lastGoodbye {
            metadata[LogKey.reason] = "\(goodbye.reason.isEmpty ? "\(goodbye.code)" : goodbye.reason)"
        }
        self.logger.warning(
            wasConnected ? "connection lost, reconnecting" : "no connection, trying again",
            metadata: metadata)
    }

    private func finish(_ error: ClientError) async {
        guard !self.isFinished else { return }
        self.isFinished = true
        if error == .closed {
            self.logger.debug("connection closed", metadata: [LogKey.address: "\(self.address)"])
        } else if self.wasWelcomed {
            // Before the first Welcome the caller of `open` gets the error.
            self.logger.error("connection closed for good", metadata: [LogKey.error: "\(error)"])
        }
        await self.owner.linkStateChanged(.closed(error))
        self.firstResult.yield(.failure(error))
        self.firstResult.finish()
    }

    private func finalError(_ failure: ClientError?) -> ClientError? {
        if self.isClosing { return .closed }
        if !self.wasWelcomed, let foreignBytes = self.foreignBytes {
            return .cannotConnect(
                self.address, reason: ConnectFailure.reason(isForeign: true, saying: foreignBytes))
        }
        if let goodbye = self.lastGoodbye, !goodbye.code.isWorthReconnecting {
            return .refused(reason: goodbye.reason.isEmpty ? "\(goodbye.code)" : goodbye.reason)
        }
        guard !self.wasWelcomed, self.backoff.failures >= self.firstAttemptsMax else { return nil }
        switch self.lastGoodbye {
        // This is our own Goodbye: no Welcome came in time.
        case let goodbye? where goodbye.code == .handshakeTimeout:
            return .cannotConnect(
                self.address, reason: "what listens there does not answer; it may not be waymarkd")
        case let goodbye?: return .refused(reason: goodbye.reason)
        case nil:
            return failure
                ?? .cannotConnect(
                    self.address, reason: ConnectFailure.reason(isForeign: false, saying: []))
        }
    }

    /// One connection, from connecting to its end.
    ///
    /// - Returns: Why it failed, and the time from Welcome to its end, nil without a Welcome.
    private func connectOnce() async -> (failure: ClientError?, lifetime: Duration?) {
        var failure: ClientError?
        do {
            let channel = try await self.connect()
            try await channel.executeThenClose { inbound, _ in
                let (wakes, wake) = AsyncStream.makeStream(
                    of: Void.self, bufferingPolicy: .bufferingNewest(1))
                await self.begin(channel.channel, wake)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await self.write(to: channel.channel, on: wakes) }
                    for try await buffer in inbound { await self.read(Array(buffer.readableBytesView)) }
                    // The gateway has closed its side: frames that are not written yet cannot be.
                    wake.finish()
                    channel.channel.close(mode: .all, promise: nil)
                    try await group.waitForAll()
                }
            }
        } catch {
            failure = .cannotConnect(
                self.address, reason: ConnectFailure.reason(error, at: self.address))
        }
        return (failure, await self.end())
    }

    private func connect() async throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
        let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        let wrap: @Sendable (any Channel) -> EventLoopFuture<NIOAsyncChannel<ByteBuffer, ByteBuffer>> = {
            channel in
            channel.eventLoop.makeCompletedFuture {
                try NIOAsyncChannel(wrappingChannelSynchronously: channel)
            }
        }
        switch self.address {
        case .tcp(let host, let port):
            return try await bootstrap.channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .connect(host: host, port: port, channelInitializer: wrap)
        case .unix(let path):
            return try await bootstrap.connect(unixDomainSocketPath: path, channelInitializer: wrap)
        }
    }

    private func begin(_ channel: any Channel, _ wake: AsyncStream<Void>.Continuation) async {
        var actions: [ConnectingSession.Action] = []
        let session = ConnectingSession(
            hello: await self.owner.hello(), limits: self.limits, at: self.now, into: &actions)
        self.connectionCount += 1
        self.connection = Connection(
            number: self.connectionCount, channel: channel, wake: wake, session: session,
            splitter: FrameSplitter(frameBytesMax: session.receivedFrameBytesMax))
        // Closed while it connected.
        if self.isClosing { channel.close(mode: .all, promise: nil) }
        await self.perform(actions)
    }

    /// - Returns: The time from Welcome to the end; nil without a Welcome.
    private func end() async -> Duration? {
        await self.handle(.transportClosed)
        guard let connection else { return nil }
        connection.timer?.cancel()
        connection.closing?.cancel()
        connection.wake.finish()
        self.connection = nil
        return connection.welcomed.map { self.now - $0 }
    }

    // MARK: Reading and writing

    private func read(_ bytes: [UInt8]) async {
        self.connection?.splitter.append(bytes)
        do throws(FramingError) {
            while self.connection?.session.state != .closed,
                let frame = try self.connection?.splitter.next()
            {
                await self.decode(frame)
            }
        } catch {
            if case .badMagic = error { self.foreignBytes = Array(bytes.prefix(16)) }
            await self.handle(.violated(error.closeCode, reason: "\(error)"))
        }
    }

    private func decode(_ frame: Frame) async {
        do throws(DecodingError) {
            await self.handle(.received(try Codec.decode(frame)))
        } catch {
            switch error {
            case .rejected(let rejection): await self.handle(.rejected(rejection))
            // From a newer gateway, or an extension.
            case .unknownType: await self.owner.skipped(frame.header)
            }
        }
    }

    /// Writes until the peer session is closed, then half-closes: the gateway closes the transport.
    private func write(to channel: any Channel, on wakes: AsyncStream<Void>) async {
        do {
            for await _ in wakes {
                while let bytes = await self.dequeueBytes() { try await channel.writeAndFlush(bytes).get() }
                guard self.connection?.session.state == .closed else { continue }
                return try await channel.close(mode: .output).get()
            }
        } catch { /* The transport is closed, and the reading side knows. */  }
    }

    private func dequeueBytes() async -> ByteBuffer? {
        var frames = self.dequeueControl()
        if self.connection?.welcomed != nil, self.connection?.session.state == .active {
            frames += await self.owner.dequeueOutgoing()
            if frames.isEmpty, self.isClosing {
                await self.handle(.leaveRequested(Goodbye(.normal)))
                frames = self.dequeueControl()
            }
        }
        guard !frames.isEmpty else { return nil }
        self.connection?.session.noteSent()
        var bytes = ByteBuffer()
        bytes.reserveCapacity(frames.reduce(0) { $0 + $1.bytes.count })
        for frame in frames { bytes.writeBytes(frame.bytes) }
        return bytes
    }

    private func dequeueControl() -> [Frame] {
        defer { self.connection?.control = [] }
        return self.connection?.control ?? []
    }

    // MARK: The peer session

    private func handle(_ event: ConnectingSession.Event) async {
        var actions: [ConnectingSession.Action] = []
        self.connection?.session.handle(event, at: self.now, into: &actions)
        await self.perform(actions)
    }

    private func perform(_ actions: [ConnectingSession.Action]) async {
        for action in actions {
            switch action {
            case .send(let message):
                self.connection?.control.append(Codec.encode(Envelope(message)))
                self.wakeUp()
            case .welcomed(let welcome): await self.welcome(welcome)
            case .deliver(let envelope): await self.owner.received(envelope)
            case .arm(let deadline): self.arm(deadline)
            case .close(let goodbye):
                self.lastGoodbye = goodbye
                self.wakeUp()
                self.closeAtLatest()
            }
        }
    }

    private func welcome(_ welcome: Welcome) async {
        self.wasWelcomed = true
        let frameBytesMax = self.connection?.session.frameBytesMax ?? 0
        let receivedFrameBytesMax = self.connection?.session.receivedFrameBytesMax ?? 0
        self.connection?.splitter.frameBytesMax = receivedFrameBytesMax
        await self.owner.welcomed(welcome, frameBytesMax: Int(frameBytesMax))
        self.logger.notice(
            "connected",
            metadata: [LogKey.address: "\(self.address)", LogKey.resumed: "\(welcome.isResumed)"])
        await self.owner.linkStateChanged(.connected(resumed: welcome.isResumed))
        self.connection?.welcomed = self.now
        self.firstResult.yield(.success(()))
        self.wakeUp()
    }

    /// The gateway closes the transport after a Goodbye; if it has not by the drain timeout, this end does.
    private func closeAtLatest() {
        guard let channel = self.connection?.channel else { return }
        self.connection?.closing = Task {
            do { try await Task.sleep(for: self.limits.drainTimeout) } catch { return }
            channel.close(mode: .all, promise: nil)
        }
    }

    private func arm(_ deadline: Instant) {
        guard let number = self.connection?.number else { return }
        self.connection?.timer?.cancel()
        let delay = deadline - self.now
        self.connection?.timer = Task {
            do { try await Task.sleep(for: delay) } catch { return }
            if self.connection?.number == number { await self.handle(.deadlineReached) }
        }
    }
}
