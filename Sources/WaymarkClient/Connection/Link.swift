internal import NIOCore
internal import NIOPosix
internal import WaymarkCodec
internal import WaymarkProtocol
internal import WaymarkTransport

/// What a link carries: a navigation client's or a vehicle endpoint's business.
protocol LinkOwner: Actor {
    /// The Hello of the next connection.
    func hello() -> Hello
    func linkStateChanged(_ state: ConnectionState) async
    func welcomed(_ welcome: Welcome) async
    /// Handles one message. The stream is read no further until it returns.
    func received(_ envelope: Envelope) async
    /// What is to be written now, oldest first; called again until it is empty.
    func takeOutgoing() -> [Frame]
}

/// Keeps a connection to the gateway: connects, drives the peer session, comes back after a loss.
actor Link {
    private let address: ServiceAddress
    private let reconnection: ReconnectionPolicy
    private let limits = ConnectionLimits()
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    /// The owner lets go of the link when it is told that the link is closed.
    private let owner: any LinkOwner
    private var session: ConnectingSession?
    private var splitter = FrameSplitter(frameBytesMax: 0)
    private var control: [Frame] = []
    private var wake: AsyncStream<Void>.Continuation?
    private var timer: Task<Void, Never>?
    private var channel: (any Channel)?
    private var lastGoodbye: Goodbye?
    private var wasWelcomed = false
    private var isClosed = false
    private var runner: Task<Void, Never>?

    init(address: ServiceAddress, reconnection: ReconnectionPolicy, owner: any LinkOwner) {
        self.address = address
        self.reconnection = reconnection
        self.owner = owner
        self.start = self.clock.now
    }

    private var now: Instant { Instant(nanoseconds: (self.clock.now - self.start).nanoseconds) }

    /// Connects, and goes on in the background; returns when the first Welcome is there.
    func open() async throws(ClientError) {
        let (states, continuation) = AsyncStream.makeStream(
            of: Result<Void, ClientError>.self, bufferingPolicy: .bufferingOldest(1))
        self.runner = Task { await self.run(continuation) }
        for await result in states { return try result.get() }
        throw .closed
    }

    /// Writes what is still to be written, says goodbye and stays away. Gives up after two seconds.
    func close() async {
        self.isClosed = true
        guard let runner = self.runner else { return }
        if self.session?.state == .active {
            self.wakeUp()
            let deadline = Task {
                do { try await Task.sleep(for: .seconds(2)) } catch { return }
                runner.cancel()
            }
            await runner.value
            deadline.cancel()
        } else {
            runner.cancel()
            await runner.value
        }
    }

    /// Drops the transport as a network cut would; the link comes back by itself. For tests.
    func cut() { self.channel?.close(mode: .all, promise: nil) }

    /// There is something to be written.
    func wakeUp() { self.wake?.yield() }

    // MARK: Coming and coming back

    private func run(_ first: AsyncStream<Result<Void, ClientError>>.Continuation) async {
        var failures = 0
        while !self.isClosed, !Task.isCancelled {
            await self.owner.linkStateChanged(.connecting)
            let wasWelcomed = self.wasWelcomed
            self.lastGoodbye = nil
            let failure = await self.connectOnce(first)
            if self.wasWelcomed, !wasWelcomed || failure == nil { failures = 0 }
            failures += 1
            if let error = self.finalError(failure, failures) {
                await self.owner.linkStateChanged(.closed(error))
                first.yield(.failure(error))
                first.finish()
                return
            }
            let hint = Duration.milliseconds(self.lastGoodbye?.reconnectAfterMilliseconds ?? 0)
            let delay = self.reconnection.delay(afterFailures: failures, random: .random(in: 0..<1))
            do { try await Task.sleep(for: max(hint, delay)) } catch { break }
        }
        await self.owner.linkStateChanged(.closed(.closed))
        first.finish()
    }

    private func finalError(_ failure: ClientError?, _ failures: Int) -> ClientError? {
        if self.isClosed { return .closed }
        if let goodbye = self.lastGoodbye, !goodbye.code.isWorthReconnecting {
            return .refused(reason: goodbye.reason.isEmpty ? "\(goodbye.code)" : goodbye.reason)
        }
        guard !self.wasWelcomed, failures >= self.reconnection.firstAttemptsMax else { return nil }
        if let goodbye = self.lastGoodbye { return .refused(reason: goodbye.reason) }
        return failure ?? .cannotConnect(self.address, reason: "the connection was closed")
    }

    /// One connection, from connecting to its end.
    private func connectOnce(_ first: AsyncStream<Result<Void, ClientError>>.Continuation) async
        -> ClientError?
    {
        do {
            let channel = try await self.connect()
            self.channel = channel.channel
            try await channel.executeThenClose { inbound, outbound in
                await self.begin()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    let (wakes, wake) = AsyncStream.makeStream(
                        of: Void.self, bufferingPolicy: .bufferingNewest(1))
                    self.setWake(wake)
                    group.addTask { try await self.write(to: outbound, on: wakes) }
                    for try await buffer in inbound {
                        await self.read(Array(buffer.readableBytesView), first)
                        if self.session?.state == .closed { break }
                    }
                    wake.finish()
                    try await group.waitForAll()
                }
            }
            await self.handle(.transportClosed)
            self.end()
            return nil
        } catch {
            await self.handle(.transportClosed)
            self.end()
            return .cannotConnect(self.address, reason: "\(error)")
        }
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

    private func begin() async {
        var actions: [ConnectingSession.Action] = []
        let session = ConnectingSession(
            hello: await self.owner.hello(), limits: self.limits, at: self.now, into: &actions)
        self.splitter = FrameSplitter(frameBytesMax: session.frameBytesMax)
        self.session = session
        self.control = []
        await self.perform(actions)
    }

    private func end() {
        self.timer?.cancel()
        self.wake?.finish()
        self.wake = nil
        self.channel = nil
        self.session = nil
    }

    // MARK: Reading and writing

    private func setWake(_ wake: AsyncStream<Void>.Continuation) {
        self.wake = wake
        wake.yield()
    }

    private func read(_ bytes: [UInt8], _ first: AsyncStream<Result<Void, ClientError>>.Continuation) async {
        self.splitter.append(bytes)
        do throws(FramingError) {
            while self.session?.state != .closed, let frame = try self.splitter.next() {
                await self.take(frame)
                if self.session?.state == .active { first.yield(.success(())) }
            }
        } catch {
            await self.handle(.violated(error.closeCode, reason: "\(error)"))
        }
    }

    private func take(_ frame: Frame) async {
        do throws(DecodingError) {
            await self.handle(.received(try Codec.decode(frame)))
        } catch {
            switch error {
            case .rejected(let rejection): await self.handle(.rejected(rejection))
            case .unknownType: break  // From a newer gateway.
            }
        }
    }

    private func write(
        to outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>, on wakes: AsyncStream<Void>
    ) async throws {
        for await _ in wakes {
            while true {
                let frames = await self.takeFrames()
                if frames.isEmpty {
                    guard await self.leaveIfClosed() else { break }
                    continue
                }
                var buffer = ByteBuffer()
                for frame in frames { buffer.writeBytes(frame.bytes) }
                try await outbound.write(buffer)
            }
        }
    }

    /// Says goodbye behind everything else, once ``close()`` was called.
    private func leaveIfClosed() async -> Bool {
        guard self.isClosed, self.session?.state == .active else { return false }
        await self.handle(.leaveRequested(Goodbye(.normal)))
        return true
    }

    private func takeFrames() async -> [Frame] {
        let control = self.control
        self.control = []
        guard self.session?.state == .active else { return control }
        let frames = control + (await self.owner.takeOutgoing())
        if !frames.isEmpty { self.session?.noteSent() }
        return frames
    }

    // MARK: The peer session

    private func handle(_ event: ConnectingSession.Event) async {
        var actions: [ConnectingSession.Action] = []
        self.session?.handle(event, at: self.now, into: &actions)
        await self.perform(actions)
    }

    private func perform(_ actions: [ConnectingSession.Action]) async {
        for action in actions {
            switch action {
            case .send(let message):
                self.control.append(Codec.encode(Envelope(message)))
                self.wake?.yield()
            case .welcomed(let welcome):
                self.wasWelcomed = true
                self.splitter.frameBytesMax = self.session?.frameBytesMax ?? 0
                await self.owner.welcomed(welcome)
                await self.owner.linkStateChanged(.connected(resumed: welcome.isResumed))
                self.wake?.yield()
            case .deliver(let envelope): await self.owner.received(envelope)
            case .arm(let deadline): self.arm(deadline)
            case .close(let goodbye):
                self.lastGoodbye = goodbye
                self.wake?.yield()
                self.wake?.finish()
                self.closeSoon()
            }
        }
    }

    /// Closes the transport once the last frames are written; the writer ends with its wakes.
    private func closeSoon() {
        guard let channel = self.channel else { return }
        Task {
            do { try await Task.sleep(for: .milliseconds(100)) } catch { /* Closing at once then. */  }
            channel.close(mode: .all, promise: nil)
        }
    }

    private func arm(_ deadline: Instant) {
        self.timer?.cancel()
        let delay = deadline - self.now
        self.timer = Task {
            do { try await Task.sleep(for: delay) } catch { return }
            await self.handle(.deadlineReached)
        }
    }
}

extension Duration {
    /// Whole nanoseconds.
    fileprivate var nanoseconds: Int64 {
        let (seconds, attoseconds) = self.components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
