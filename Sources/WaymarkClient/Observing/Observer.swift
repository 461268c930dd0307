internal import Foundation
internal import WaymarkCodec
public import WaymarkModel
internal import WaymarkProtocol

/// Watches a gateway: who is connected, which sessions and requests there are, what happens and what crosses.
///
/// It sends nothing that a vehicle or a client could notice, but for ``simulateDrive(_:of:vehicle:speedFactor:)``. It reconnects after a loss and continues where it was.
/// ``withObserver(to:_:_:)`` closes it when its body ends; after ``connect(to:_:)`` call ``close()``.
public actor Observer {
    private let configuration: Configuration
    var link: LinkMachine<ObserverMachine>
    var driver: ChannelDriver

    private var gateway = GatewaySnapshot.Gateway(
        instance: "", start: Date(timeIntervalSince1970: 0), software: "", showsContent: false)
    private var observed = ObservedGateway()
    /// The last whole state, while it is told again.
    private var lastWhole: GatewaySnapshot?
    private var peers = ObservedPeers()
    private var clock = GatewayClock()
    private var updateReaders = Readers<GatewayUpdate>()
    private var stateReaders = Readers<GatewaySnapshot>()
    private let (firstStates, firstState) = AsyncStream.makeStream(
        of: Result<Void, ClientError>.self, bufferingPolicy: .bufferingOldest(1))

    private var counterWaiters: [Int: CheckedContinuation<Result<GatewayCounters, ClientError>, Never>] = [:]
    private var callCount = 0
    /// The simulated drives that the gateway refused.
    private var refusals: (count: Int, last: ClientError?) = (0, nil)
    private var isMissingContentLogged = false

    /// Connects to a gateway's socket for observers; returns when the whole state has arrived, if the configuration includes it.
    ///
    /// - Throws: ``ClientError/invalid(_:)`` for a bad id, ``ClientError/rejected(field:reason:limit:)`` for a setting outside of its
    ///   range, ``ClientError/cannotConnect(_:reason:)``, ``ClientError/refused(reason:retryAfter:limit:)``; ``ClientError/cancelled`` if the task
    ///   was cancelled.
    public static func connect(
        to address: ServiceAddress = .defaultObserver, _ configuration: Configuration = Configuration()
    ) async throws(ClientError) -> Observer {
        let observer = try Observer(address, configuration)
        try await observer.openCompletely()
        return observer
    }

    private init(_ address: ServiceAddress, _ configuration: Configuration) throws(ClientError) {
        self.configuration = configuration
        self.driver = ChannelDriver(address, configuration.logger)
        self.link = try LinkMachine(to: address, configuration)
    }

    /// Connects; returns when the whole state has arrived.
    private func openCompletely() async throws(ClientError) {
        try await self.open()
        for await result in self.firstStates {
            guard case .failure(let error) = result else { return }
            await self.close()
            throw error
        }
        // The task that waits was cancelled.
        await self.close()
        throw .cancelled
    }

    /// Ends the connection. Takes at most two seconds, also when its task is cancelled.
    public func close() async { await self.closeLink() }

    /// Closes the transport as a network failure would. For tests.
    package func cut() { self.driver.cut() }

    // MARK: What is told

    /// The gateway's state as told so far. It stays as it was while there is no connection, and while it is told again.
    public var state: GatewaySnapshot {
        self.lastWhole ?? GatewaySnapshot(self.gateway, self.observed, self.clock)
    }

    /// The updates from now on, for one more reader. The feed begins with ``GatewayUpdate/Content/synchronized(_:)``.
    public var updates: Feed<GatewayUpdate> {
        self.updateReaders.open(with: [self.update(.synchronized(self.state), at: Date())])
    }

    /// The state, now and after every change, for one more reader; a slow reader gets only the newest.
    public var states: Feed<GatewaySnapshot> { self.stateReaders.open(with: [self.state]) }

    /// The state of the connection, now and after every change; a slow reader gets only the newest.
    public var connectionStates: Feed<ConnectionState> { self.driver.openFeed(with: self.link.state) }

    private func update(_ content: GatewayUpdate.Content, at time: Date) -> GatewayUpdate {
        GatewayUpdate(number: self.observed.number, time: time, content: content)
    }

    private func tell(_ content: GatewayUpdate.Content, at time: Date) {
        let update = self.update(content, at: time)
        if self.updateReaders.tell(update) {
            self.driver.log(PeerNote(.warning, "a reader of updates is too slow and misses some"))
        }
        self.configuration.onEveryUpdate?(update)
    }

    private func tellState() {
        guard self.stateReaders.count > 0, self.observed.isComplete else { return }
        self.stateReaders.tell(self.state)
    }

    /// When an entry happened.
    private func date(of instant: Instant) -> Date {
        self.clock.correct(instant, arrived: Date())
        return self.clock.date(of: instant)
    }

    // MARK: Simulated drives

    /// Asks a client to simulate a drive, or to stop, if the gateway's access rules allow it. The client was connected by itself, for example
    /// the app that a test rig tests; it must simulate drives (``NavigationClient/Configuration/onSimulateDrive``). Returns when the gateway has
    /// handled it. What was lost with a connection is not repeated.
    ///
    /// - Parameters:
    ///   - action: Start, or stop.
    ///   - client: The client's id.
    ///   - vehicle: The vehicle that the client guides and that it is about; nil: all of them.
    ///   - speedFactor: How many times faster than real time, 0.01 ... 1 000.
    /// - Throws: ``ClientError/invalid(_:)`` for a bad id, ``ClientError/rejected(field:reason:limit:)`` if the gateway refuses it,
    ///   ``ClientError/cancelled`` if the task was cancelled, or the error that closed the connection for good.
    public func simulateDrive(
        _ action: SimulationAction, of client: String, vehicle: String? = nil, speedFactor: Double = 1
    ) async throws(ClientError) {
        if case .closed(let error) = self.link.state { throw error }
        var asked = SimulateDrive(action, speedPercent: SimulatedDrive.percent(speedFactor))
        guard let id = ClientID(client) else { throw .invalid("\(client) is not the id of a client") }
        asked.client = id
        if let vehicle {
            guard let id = VehicleID(vehicle) else { throw .invalid("\(vehicle) is not the id of a vehicle") }
            asked.vehicle = id
        }
        let before = self.refusals.count
        try self.use { (observer, _) throws(ClientError) in try observer.simulate(asked) }
        // The gateway answers in order: a refusal comes before the counters.
        _ = try await self.counters()
        if self.refusals.count > before, let refusal = self.refusals.last { throw refusal }
    }

    // MARK: Counters

    /// The gateway's counters, read now. They are right also if entries were dropped on the way to this observer.
    ///
    /// - Parameter withMeasures: Whether to read also what waits for each connection, and what each session has.
    /// - Returns: All values, of one instant.
    /// - Throws: ``ClientError/cancelled`` if the task was cancelled, or the error that closed the connection for good.
    public func counters(withMeasures: Bool = false) async throws(ClientError) -> GatewayCounters {
        if case .closed(let error) = self.link.state { throw error }
        self.callCount += 1
        let call = self.callCount
        var question = ReadCounters()
        (question.wantsConnections, question.wantsSessions) = (withMeasures, withMeasures)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { self.ask(question, for: call, $0) }
        } onCancel: {
            Task { await self.cancelCounters(call) }
        }
        return try result.get()
    }

    private func ask(
        _ question: ReadCounters, for call: Int,
        _ continuation: CheckedContinuation<Result<GatewayCounters, ClientError>, Never>
    ) {
        if Task.isCancelled { return continuation.resume(returning: .failure(.cancelled)) }
        self.counterWaiters[call] = continuation
        self.use { observer, _ in observer.readCounters(question, call: call) }
    }

    private func cancelCounters(_ call: Int) {
        self.use { observer, _ in observer.abandon(call: call) }
        self.counterWaiters.removeValue(forKey: call)?.resume(returning: .failure(.cancelled))
    }

    private func apply(_ report: CounterReport) {
        self.clock.correct(report.instant, arrived: Date())
        guard let (calls, parts) = self.use({ observer, _ in observer.apply(report) }) else { return }
        let counters = GatewayCounters(parts, self.clock, self.peers)
        for call in calls {
            self.counterWaiters.removeValue(forKey: call)?.resume(returning: .success(counters))
        }
    }
}

extension Observer: PeerDriver {
    func perform(_ output: ObserverMachine.Output) {
        switch output {
        case .welcomed(let welcome):
            self.gateway = GatewaySnapshot.Gateway(
                instance: welcome.gateway.instance.rawValue,
                start: Date(timeIntervalSince1970: Double(welcome.gateway.epoch) / 1_000),
                software: welcome.software, showsContent: welcome.visibility.map { $0 >= .content } ?? false)
            if !self.configuration.includesState { self.firstState.yield(.success(())) }
        case .received(let envelope): self.received(envelope)
        }
    }

    func connectionChanged(to state: ConnectionState) {
        self.configuration.onEveryConnectionState?(state)
        guard case .closed(let error) = state else { return }
        self.firstState.yield(.failure(error))
        let waiters = self.counterWaiters.sorted { $0.key < $1.key }
        self.counterWaiters = [:]
        for (_, waiter) in waiters { waiter.resume(returning: .failure(error)) }
        self.updateReaders.finish()
        self.stateReaders.finish()
    }

    private func received(_ envelope: Envelope) {
        switch envelope.message {
        case .observationBegin(let begin): self.begin(begin)
        // A gateway tells no records without the state.
        case .observedRecords(let records): if self.configuration.includesState { self.apply(records) }
        case .observedEvent(let event):
            self.observed.apply(envelope.message) { _ in nil }
            self.peers.endRecords()
            let peer = event.connection.map { self.peers.name(of: $0) } ?? ""
            self.tell(.event(GatewayEvent(event, peer: peer)), at: self.date(of: event.instant))
        case .observedFrames(let frames): self.apply(frames)
        case .observationGap(let gap):
            self.observed.apply(envelope.message) { _ in nil }
            self.driver.log(
                PeerNote(.warning, "the gateway dropped entries, because this observer reads too slowly"))
            self.tell(.dropped(gap.dropped), at: Date())
        case .counters(let report): self.apply(report)
        case .error(let rejection):
            self.driver.log(
                PeerNote(
                    .error, "the gateway refuses a message of this observer",
                    [PeerLogKey.field: rejection.field, PeerLogKey.reason: rejection.reason]))
            self.firstState.yield(.failure(ClientError(rejection)))
            if rejection.messageType == MessageType.simulateDrive.rawValue {
                self.refusals = (self.refusals.count + 1, ClientError(rejection))
            }
        default: break  // Of a newer gateway.
        }
    }

    private func begin(_ begin: ObservationBegin) {
        if begin.kind == .full, self.observed.isComplete { self.lastWhole = self.state }
        self.clock.set(begin.instant, arrived: Date())
        self.observed.apply(.observationBegin(begin)) { _ in nil }
        if begin.kind == .full { self.peers.forget() }
    }

    private func apply(_ records: ObservedRecords) {
        self.peers.apply(records, self.observed)
        self.observed.apply(.observedRecords(records), outline: Self.outline)
        self.logMissingContent()
        if records.isLast {
            self.lastWhole = nil
            self.tell(.synchronized(self.state), at: Date())
            self.firstState.yield(.success(()))
        }
        self.tellState()
    }

    private func apply(_ told: ObservedFrames) {
        let time = self.date(of: told.instant)
        self.observed.apply(.observedFrames(told), outline: Self.outline)
        self.logMissingContent()
        self.peers.endRecords()
        guard self.updateReaders.count > 0 || self.configuration.onEveryUpdate != nil else { return }
        for frame in Frame.all(in: told.frames) {
            let observed = ObservedFrame(
                frame, self.way(of: frame, told), to: self.peers.vehicles(of: told.session),
                isRedacted: told.isRedacted, isRejected: told.isRejected)
            self.tell(.frame(observed), at: time)
        }
    }

    private func logMissingContent() {
        let isMissing = !self.observed.sessionsWithoutContent.isEmpty
        defer { self.isMissingContentLogged = isMissing }
        guard isMissing, !self.isMissingContentLogged else { return }
        self.driver.log(
            PeerNote(
                .warning, "the content of some sessions is not kept: all of it would take too much memory"))
    }

    private func way(of frame: Frame, _ told: ObservedFrames) -> ObservedFrame.Way {
        guard let connection = told.connection else { return .to(self.peers.members(of: told.audience)) }
        if told.direction == .in, frame.header.type == .hello {
            do throws(DecodingError) {
                if case .hello(let hello) = try Codec.decode(frame).message {
                    self.peers.apply(hello, on: connection)
                }
            } catch { /* Of a newer peer; its record will name it. */  }
        }
        let name = self.peers.name(of: connection)
        return told.direction == .in ? .from(name) : .to([name])
    }

    /// What the state needs to know of a publication; nil for one that this build cannot read.
    private static func outline(of frame: Frame) -> PublicationOutline? {
        do throws(DecodingError) { return try Codec.outline(of: frame) } catch { return nil }
    }
}
