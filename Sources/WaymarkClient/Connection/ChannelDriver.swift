internal import Logging
internal import NIOCore
internal import NIOPosix
internal import WaymarkProtocol

/// An actor that does what a peer's machines decide, over sockets and in real time.
///
/// Nothing here waits for the app but ``finishFrame()``, so a peer keeps reading and answering pings however slow a handler is.
protocol PeerDriver: Actor {
    associatedtype Machine: PeerMachine
    var link: LinkMachine<Machine> { get set }
    var driver: ChannelDriver { get set }
    func perform(_ output: Machine.Output)
    /// The connection's state was told to its readers.
    func connectionChanged(to state: ConnectionState)
    /// Waits for handlers that want to see a message before the next one is read.
    func finishFrame() async
}

extension PeerDriver {
    func finishFrame() async {}

    // MARK: For the app

    /// Connects, and keeps the connection in the background; returns with the first Welcome.
    func open() async throws(ClientError) {
        self.handle(.open)
        for await result in self.driver.firstResults { return try result.get() }
        // The task that waits was cancelled.
        await self.closeLink()
        throw .cancelled
    }

    /// Writes what is queued, sends Goodbye and does not reconnect. Gives up after the drain timeout.
    func closeLink() async {
        self.handle(.close)
        guard !self.link.isFinished else { return }
        await withCheckedContinuation { self.driver.closing.append($0) }
    }

    /// Uses the peer's machine. `body` must not use the actor.
    func use<Value, Failure>(
        _ body: (inout Machine, inout [Machine.Output]) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var actions: [LinkAction<Machine.Output>] = []
        defer { self.perform(actions) }
        return try self.link.use(at: self.driver.now, into: &actions, body)
    }

    // MARK: For the driver

    func transportOpened(_ channel: any Channel) {
        self.driver.channel = channel
        self.handle(.transportOpened)
    }

    /// Handles the frames of a read one by one.
    func read(_ bytes: [UInt8]) async {
        self.link.append(bytes)
        while self.readNext() { await self.finishFrame() }
    }

    private func readNext() -> Bool {
        var actions: [LinkAction<Machine.Output>] = []
        let isRead = self.link.readNext(at: self.driver.now, into: &actions)
        self.perform(actions)
        return isRead
    }

    func transportClosed(_ failure: (any Error)?) {
        self.driver.channel = nil
        self.handle(.transportClosed(failure.map(self.driver.reason)))
    }

    /// A write has ended, of the connection with this number.
    func wrote(on number: Int) { if number == self.driver.number { self.handle(.wrote) } }

    func reachDeadline() {
        self.driver.armed = nil
        self.handle(.deadlineReached)
    }

    private func handle(_ event: LinkEvent) {
        var actions: [LinkAction<Machine.Output>] = []
        self.link.handle(event, at: self.driver.now, into: &actions)
        self.perform(actions)
    }

    private func perform(_ actions: [LinkAction<Machine.Output>]) {
        for action in actions {
            switch action {
            case .connect: self.driver.connect(for: self)
            case .write(let bytes): self.driver.write(bytes, for: self)
            case .halfClose: self.driver.channel?.close(mode: .output, promise: nil)
            case .closeTransport: self.driver.cut()
            case .state(let state):
                self.driver.tell(state)
                self.connectionChanged(to: state)
            case .output(let output): self.perform(output)
            case .log(let note): self.driver.log(note)
            }
        }
        self.driver.arm(self.link.deadline, for: self)
    }
}

/// Carries the bytes of one peer and keeps its time: a connect, a read loop, one write at a time, one timer.
struct ChannelDriver: Sendable {
    private let address: ServiceAddress
    private let logger: Logger
    private let clock = ContinuousClock()
    /// The instant 0 of the peer's machines.
    let origin: ContinuousClock.Instant
    var channel: (any Channel)?
    /// Of the present connection.
    private(set) var number = 0
    /// Connects and reads.
    private var reader: Task<Void, Never>?
    private var timer: Task<Void, Never>?
    /// When the timer ends; nil without one.
    var armed: Instant?
    private var connections = Readers<ConnectionState>()
    /// Calls that wait until the connection is closed for good.
    var closing: [CheckedContinuation<Void, Never>] = []
    /// The first Welcome, or why there is none.
    let firstResults: AsyncStream<Result<Void, ClientError>>
    private let firstResult: AsyncStream<Result<Void, ClientError>>.Continuation

    /// Every line of the log has the labels.
    init(_ address: ServiceAddress, _ logger: Logger, _ labels: KeyValuePairs<String, String> = [:]) {
        self.address = address
        var logger = logger
        for (key, text) in labels { logger[metadataKey: key] = "\(text)" }
        self.logger = logger
        self.origin = self.clock.now
        (self.firstResults, self.firstResult) = AsyncStream.makeStream(
            of: Result<Void, ClientError>.self, bufferingPolicy: .bufferingOldest(1))
    }

    var now: Instant { Instant(nanoseconds: 0) + (self.clock.now - self.origin) }

    func log(_ note: PeerNote) {
        var metadata: Logger.Metadata = [:]
        for value in note.values { metadata[value.key] = "\(value.text)" }
        self.logger.log(level: Logger.Level(note.level), "\(note.text)", metadata: metadata)
    }

    /// A feed of the connection's states, which begins with `state`.
    mutating func openFeed(with state: ConnectionState) -> Feed<ConnectionState> {
        self.connections.open(with: [state])
    }

    mutating func tell(_ state: ConnectionState) {
        self.connections.tell(state)
        switch state {
        case .connecting: break
        case .connected: self.firstResult.yield(.success(()))
        case .closed(let error):
            self.connections.finish()
            self.firstResult.yield(.failure(error))
            self.firstResult.finish()
            self.reader?.cancel()
            for waiter in self.closing { waiter.resume() }
            self.closing = []
        }
    }

    // MARK: Bytes

    func reason(_ error: any Error) -> ClientError {
        .cannotConnect(self.address, reason: ConnectFailure.reason(error, at: self.address))
    }

    mutating func connect(for owner: some PeerDriver) {
        self.number += 1
        self.reader = Task { [address] in
            do {
                let channel = try await Self.connect(to: address)
                try await channel.executeThenClose { inbound, _ in
                    await owner.transportOpened(channel.channel)
                    for try await buffer in inbound { await owner.read(Array(buffer.readableBytesView)) }
                    // The gateway has closed its side: frames that are not written yet cannot be.
                    channel.channel.close(mode: .all, promise: nil)
                }
                await owner.transportClosed(nil)
            } catch { await owner.transportClosed(error) }
        }
    }

    private static func connect(
        to address: ServiceAddress
    ) async throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
        let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        let wrap: @Sendable (any Channel) -> EventLoopFuture<NIOAsyncChannel<ByteBuffer, ByteBuffer>> = {
            channel in
            channel.eventLoop.makeCompletedFuture {
                try NIOAsyncChannel(wrappingChannelSynchronously: channel)
            }
        }
        switch address {
        case .tcp(let host, let port):
            return try await bootstrap.channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .connect(host: host, port: port, channelInitializer: wrap)
        case .unix(let path):
            return try await bootstrap.connect(unixDomainSocketPath: path, channelInitializer: wrap)
        }
    }

    func write(_ bytes: [UInt8], for owner: some PeerDriver) {
        guard let channel else { return }
        // A write that fails ends the transport, which the reader notices.
        channel.writeAndFlush(ByteBuffer(bytes: bytes)).whenSuccess { [number] in
            Task { await owner.wrote(on: number) }
        }
    }

    /// Closes the transport, as a network failure would.
    func cut() { self.channel?.close(mode: .all, promise: nil) }

    // MARK: Time

    /// Tells the owner when `deadline` is reached, or earlier; nil: not at all.
    mutating func arm(_ deadline: Instant?, for owner: some PeerDriver) {
        if let deadline, let armed, armed <= deadline { return }
        self.timer?.cancel()
        self.timer = nil
        self.armed = deadline
        guard let deadline else { return }
        self.timer = Task { [clock, end = self.origin + .nanoseconds(deadline.nanoseconds)] in
            do { try await Task.sleep(until: end, clock: clock) } catch { return }
            await owner.reachDeadline()
        }
    }
}

extension Logger.Level {
    fileprivate init(_ level: PeerNote.Level) {
        switch level {
        case .debug: self = .debug
        case .info: self = .info
        case .notice: self = .notice
        case .warning: self = .warning
        case .error: self = .error
        }
    }
}
