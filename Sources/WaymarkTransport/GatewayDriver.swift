package import Logging
package import NIOCore
internal import Synchronization
internal import WaymarkCodec
internal import WaymarkConnections
package import WaymarkGateway
package import WaymarkProtocol

/// Drives ``GatewayCore`` on one event loop, the gateway's, and a ``LoopShard`` on each.
package final class GatewayDriver: Sendable {
    private let currentLimits: Mutex<TransportLimits>
    let clock: @Sendable () -> Instant
    /// What each user or address may still get wrong in handshakes. Locked, because every loop charges it.
    let failures: Mutex<TokenBuckets<PeerAccount>>
    let logger: Logger
    let gatewayLoop: any EventLoop
    let state: NIOLoopBoundBox<State>
    let shards: [(loop: any EventLoop, shard: NIOLoopBoundBox<LoopShard>)]

    /// What lives on the gateway's loop.
    ///
    /// A class, because a copy of it, even to read one member, would retain and release all that it holds.
    final class State {
        var core: GatewayCore
        var ledger: ConnectionLedger
        let log: PeerLog
        let idle: IdleWatch
        private let homeBox: NIOLoopBoundBox<LoopShard>
        /// The shard of the gateway's loop, which is not checked on each use.
        fileprivate lazy var home = self.homeBox.value
        var refusals = 0
        var nextConnection: UInt64 = 0
        /// The last census, and the work of the gateway by then: it is asked for every second, also while thousands are idle.
        fileprivate var census: (value: Gateway.Census, units: UInt64)?
        /// The timer of the core's deadline.
        fileprivate let timer: LoopTimer
        var draining: Draining?
        var isDetaching = false

        fileprivate init(
            core: GatewayCore, ledger: ConnectionLedger, log: PeerLog, idle: IdleWatch, timer: LoopTimer,
            home: NIOLoopBoundBox<LoopShard>
        ) {
            self.core = core
            self.timer = timer
            self.ledger = ledger
            self.log = log
            self.idle = idle
            self.homeBox = home
        }

        /// Continues with the gateway of another process.
        func adopt(_ gateway: Gateway, _ state: DriverState, at now: Instant) {
            self.core.adopt(gateway, state.observation, state.tallies, at: now)
            self.census = nil
        }
    }

    struct Draining {
        var goodbye: Goodbye
        var emptied: EventLoopPromise<Int>
        var deadline: Scheduled<Void>?
    }

    /// What happens to a new connection.
    private enum Admission: Sendable {
        case taken(ConnectionID, Payer)
        case refused(Goodbye)
        /// Too many are being refused at once to tell each why.
        case dropped
    }

    /// Creates a driver whose gateway lives on the first loop of `loops`.
    package init(
        loops: [any EventLoop], policy: Gateway.Policy, identity: GatewayIdentity = .unnamed,
        limits: TransportLimits, logger: Logger,
        clock: @escaping @Sendable () -> Instant
    ) {
        precondition(!loops.isEmpty, "a driver needs an event loop")
        self.currentLimits = Mutex(limits)
        self.clock = clock
        self.failures = Mutex(TokenBuckets(limits: limits.failures))
        self.logger = logger
        self.gatewayLoop = loops[0]
        let loopLimits = limits.ofLoop(among: loops.count)
        self.shards = loops.map { loop in
            let shard = LoopShard(loop, hasGateway: loop === loops[0], limits: loopLimits)
            return (loop, NIOLoopBoundBox.makeBoxSendingValue(shard, eventLoop: loop))
        }
        var gateway = Gateway(
            policy: policy, coder: Codec.coder, firstSession: SessionID(.random(in: 1 ... .max)))
        gateway.identity = identity
        self.state = NIOLoopBoundBox.makeBoxSendingValue(
            State(
                core: GatewayCore(gateway, loopCount: loops.count, software: Software.name),
                ledger: ConnectionLedger(limits: limits.connections),
                log: PeerLog(logger, limits: limits.log, loop: loops[0]), idle: IdleWatch(loops[0]),
                timer: LoopTimer(loops[0], clock: clock), home: self.shards[0].shard),
            eventLoop: loops[0])
    }

    /// The present numbers of peers and sessions.
    package func census() async throws -> Gateway.Census {
        try await self.gatewayLoop.submit {
            let state = self.state.value
            let units = state.core.gateway.counters.work.units
            if let census = state.census, census.units == units { return census.value }
            let census = state.core.gateway.census
            state.census = (census, units)
            return census
        }.get()
    }

    /// The most work that was done without a pause, in units of ``GatewayCore/Budget`` and ``LoopCore/Budget``.
    package func longestWork() async throws -> (event: UInt64, run: UInt64, round: Int) {
        var round = 0
        for (loop, shard) in self.shards {
            round = max(round, try await loop.submit { shard.value.machine.core.unitsOfLongestRound }.get())
        }
        return try await self.gatewayLoop.submit { [round] in
            let core = self.state.value.core
            return (core.gateway.counters.work.unitsOfLongestEvent, core.unitsOfLongestRun, round)
        }.get()
    }

    /// The number of open connections.
    package func connectionCount() async throws -> Int {
        try await self.gatewayLoop.submit { self.state.value.ledger.count }.get()
    }

    /// Passes through the queue of the gateway and of each loop, behind everything that is queued there.
    ///
    /// - Throws: When the loops have stopped.
    package func probe() async throws {
        let loops = self.shards.map(\.loop)
        let probed = self.gatewayLoop.flatSubmit {
            self.submit([], from: nil)
            return EventLoopFuture.andAllSucceed(loops.map { $0.submit {} }, on: self.gatewayLoop)
        }
        try await probed.get()
    }

    /// Whether another turn of the gateway or round of a loop is planned: for tests and benchmarks whose loops have no clock. For drivers
    /// with a single loop.
    package var isBusy: Bool {
        let state = self.state.value
        return state.core.isRunDue() || state.home.isWorkPlanned
    }

    // MARK: Settings

    /// The present limits.
    var limits: TransportLimits { self.currentLimits.withLock { $0 } }

    /// Applies another policy and other limits, and compares every connection with its listener's current policy. The terms of
    /// completed handshakes and the outbox limits of existing connections stay. Connections accepted after the return get the new ones.
    package func reconfigure(_ policy: Gateway.Policy, _ limits: TransportLimits) async {
        self.currentLimits.withLock { $0 = limits }
        self.gatewayLoop.execute {
            self.state.value.ledger.limits = limits.connections
            self.state.value.log.limits = limits.log
            self.failures.withLock { $0.limits = limits.failures }
        }
        self.submit([.policyChanged(policy)], from: nil)
        let loopLimits = limits.ofLoop(among: self.shards.count)
        for (loop, shard) in self.shards { loop.execute { shard.value.review(limits: loopLimits) } }
        do { try await self.probe() } catch { /* The loops have stopped, and with them all connections. */  }
    }

    // MARK: Connections

    /// Accepts a connection, or tells the peer why not. Called on its loop, one of this driver's, before it is read.
    ///
    /// `socket` is the channel's: the first input is read from it immediately. nil if bytes must pass other handlers of the channel.
    package func accept(
        _ channel: any Channel, through origin: ConnectionOrigin, from source: PeerSource,
        on socket: BareSocket? = nil
    ) -> EventLoopFuture<Void> {
        guard let index = self.shards.firstIndex(where: { $0.loop === channel.eventLoop }) else {
            preconditionFailure("the connection is not on a loop of this driver")
        }
        guard channel.eventLoop !== self.gatewayLoop else {
            let admission = self.register(index, origin, source)
            return channel.eventLoop.makeCompletedFuture {
                try self.take(channel, admission, index, origin, source, socket)
            }
        }
        let taken = channel.eventLoop.makePromise(of: Void.self)
        self.gatewayLoop.execute {
            let admission = self.register(index, origin, source)
            channel.eventLoop.execute {
                taken.completeWith(
                    Result { try self.take(channel, admission, index, origin, source, socket) })
            }
        }
        return taken.futureResult
    }

    /// Accepts or refuses a new connection as decided, on its loop.
    private func take(
        _ channel: any Channel, _ admission: Admission, _ index: Int, _ origin: ConnectionOrigin,
        _ source: PeerSource, _ socket: BareSocket?
    ) throws {
        let shard = self.shards[index].shard
        switch admission {
        case .taken(let id, let payer):
            let limits = self.limits
            var slot = 0
            shard.value.change(for: self) { core, now, actions in
                slot = core.add(
                    id, payer: payer, limits: limits.connection, outbox: limits.outbox,
                    allowedRoles: origin.policy.roles, at: now, into: &actions)
            }
            let handler = ConnectionHandler(
                slot: slot, id: id, origin: origin, source: source, socket: socket, driver: self,
                shard: shard.value)
            try self.add(handler, to: channel, shard)
        case .refused(let goodbye):
            let refused = ObjectIdentifier(channel)
            shard.value.refused[refused] = channel
            channel.closeFuture.whenComplete { _ in
                shard.value.refused[refused] = nil
                self.gatewayLoop.execute {
                    self.state.value.refusals -= 1
                    self.state.value.idle.connectionClosed()
                }
            }
            let handler = RefusalHandler(goodbye, within: self.limits.connection.drainTimeout) {
                sent, received in
                shard.value.change(for: self) { core, _, _ in
                    core.noteRefused(sent: sent, received: received)
                }
            }
            try channel.pipeline.syncOperations.addHandler(handler)
        case .dropped: channel.close(promise: nil)
        }
    }

    /// Adds the handler of a connection to its channel, on its loop.
    func add(
        _ handler: ConnectionHandler, to channel: any Channel, _ shard: NIOLoopBoundBox<LoopShard>
    ) throws {
        shard.value.add(handler)
        do {
            try channel.prepare(for: shard)
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            shard.value.remove(handler, for: self)
            throw error
        }
        shard.value.welcome(handler)
    }

    /// A connection was removed from its loop.
    func left(_ id: ConnectionID) {
        self.gatewayLoop.execute {
            let state = self.state.value
            if state.core.forget(id) { self.forget(id) } else { self.planRun(state) }
        }
    }

    /// Counts a new connection.
    private func register(_ shard: Int, _ origin: ConnectionOrigin, _ source: PeerSource) -> Admission {
        let state = self.state.value
        let id = ConnectionID(state.nextConnection + 1)
        let account = source.account
        let verdict = state.draining.map { ConnectionLedger.Verdict.refused($0.goodbye) }
        let refusal: Goodbye
        switch verdict ?? state.ledger.add(id, source) {
        case .accepted(let oldest, let limit):
            state.nextConnection = id.rawValue
            state.core.assign(id, to: shard, payer: account.payer)
            state.idle.connectionOpened()
            if let oldest { self.closeUnfinished(oldest, limit) }
            return .taken(id, account.payer)
        case .refused(let goodbye): refusal = goodbye
        }
        state.core.countRefused(refusal)
        self.note(.closing(refusal), of: PeerDescription(source: source, listener: origin.address))
        guard self.charge(account), state.refusals < self.limits.refusalsMax else { return .dropped }
        state.refusals += 1
        state.idle.connectionOpened()
        return .refused(refusal)
    }

    /// Closes a connection whose handshake is not finished, because another one needs its place.
    private func closeUnfinished(_ id: ConnectionID, _ limit: ReachedLimit?) {
        guard let index = self.state.value.core.loop(of: id) else { return }
        let goodbye = Goodbye(
            .tooManyConnections, reason: "other connections wait, and this one sent no valid Hello yet",
            limit: limit)
        let (loop, shard) = self.shards[index]
        loop.execute { shard.value.closeUnfinished(id, goodbye) }
    }

    /// The gateway has admitted the peer of a connection.
    func handshakeFinished(_ id: ConnectionID) {
        guard self.gatewayLoop.inEventLoop else {
            return self.gatewayLoop.execute { self.handshakeFinished(id) }
        }
        self.state.value.ledger.finish(id)
    }

    /// Charges a handshake that failed.
    ///
    /// - Returns: Whether there was a token for it. If not, the peer is answered late.
    @discardableResult
    package func charge(_ account: PeerAccount) -> Bool {
        let now = self.clock()
        return self.failures.withLock { $0.take(from: account, at: now) }
    }

    /// Forgets a connection that has closed and whose last events were processed.
    private func forget(_ id: ConnectionID) {
        let state = self.state.value
        guard state.ledger.remove(id) else { return }
        state.idle.connectionClosed()
        self.endDrainingIfEmpty()
    }

    /// Writes to the log what happened to a connection.
    func note(_ notice: PeerNotice, of peer: PeerDescription) {
        guard self.logger.logLevel <= notice.level else { return }
        self.gatewayLoop.execute { self.state.value.log.write(notice, peer, at: self.clock()) }
    }

    // MARK: Events

    /// Hands a batch of events to the gateway, in order, see ``GatewayCore/submit(_:from:cost:isReadOver:at:)``.
    func submit(
        _ events: [Gateway.Event], from connection: ConnectionID?, cost: Int = 0, isReadOver: Bool = false
    ) {
        guard self.gatewayLoop.inEventLoop else {
            return self.gatewayLoop.execute {
                self.submit(events, from: connection, cost: cost, isReadOver: isReadOver)
            }
        }
        let state = self.state.value
        let now = self.clock()
        if state.core.submit(events, from: connection, cost: cost, isReadOver: isReadOver, at: now) {
            self.carryOut(state)
        }
        self.planRun(state)
    }

    /// Runs the gateway at the end of this tick. Why not at once: a connection may be in the middle of a read, and others be read in the
    /// same tick of the loop.
    private func planRun(_ state: State) {
        guard state.core.planRun() else { return }
        if state.home.isInRound {
            state.home.planRound(for: self)
        } else {
            self.gatewayLoop.execute { self.run() }
        }
    }

    /// Processes events that are queued. Not in the middle of a read.
    func run() {
        let state = self.state.value
        guard state.core.run(at: self.clock()) else { return }
        self.carryOut(state)
        if state.core.isRunDue(), state.core.planRun() { state.home.planRound(for: self) }
    }

    /// A loop needs several rounds to send what a connection published: the connection gets no turn until ``release(_:)``.
    func hold(_ id: ConnectionID) {
        guard self.gatewayLoop.inEventLoop else { return self.gatewayLoop.execute { self.hold(id) } }
        self.state.value.core.hold(id)
    }

    /// Everything that a connection published was sent.
    func release(_ id: ConnectionID) {
        guard self.gatewayLoop.inEventLoop else { return self.gatewayLoop.execute { self.release(id) } }
        let state = self.state.value
        state.core.release(id)
        if state.core.isRunDue() { self.planRun(state) }
    }

    /// The connection of an observer has room for more.
    func noteRoom(forObserver id: ConnectionID) {
        guard self.gatewayLoop.inEventLoop else {
            return self.gatewayLoop.execute { self.noteRoom(forObserver: id) }
        }
        let state = self.state.value
        state.core.noteRoom(forObserver: id)
        if state.core.isRunDue() { self.planRun(state) }
    }

    /// A loop has measured for observers. Behind what waits for the gateway's loop, also if it is this one: how long all of this
    /// takes is measured as well.
    func note(_ measure: LoopMeasure) {
        self.gatewayLoop.execute {
            let state = self.state.value
            state.core.note(measure, at: self.clock())
            if state.core.isRunDue() { self.planRun(state) }
        }
    }

    /// Does what follows from the events that were processed.
    private func carryOut(_ state: State) {
        if self.shards.count > 1 { self.instructOtherLoops(state) }
        var work = state.core.takeWork()
        state.home.change(for: self) { core, now, actions in
            core.perform(
                &work.instructions, &work.batchesDone, at: now, BareSocket.send, into: &actions)
        }
        if let deadline = work.deadline, !state.isDetaching {
            state.timer.set(deadline) { self.reachDeadline() }
        }
        // Peers that were written to do not wait for the log.
        if !work.notes.isEmpty { self.log(&work.notes, state) }
        for id in work.forgotten { self.forget(id) }
        state.core.endProcessing(work)
    }

    private func instructOtherLoops(_ state: State) {
        for index in 1..<self.shards.count {
            guard let (instructions, batchesDone) = state.core.takeInstructions(for: index) else { continue }
            let (loop, shard) = self.shards[index]
            loop.execute {
                var work = (instructions, batchesDone)
                shard.value.change(for: self) { core, now, actions in
                    core.perform(&work.0, &work.1, at: now, BareSocket.send, into: &actions)
                }
            }
        }
    }

    private func log(_ notes: inout [GatewayCore.Note], _ state: State) {
        guard self.logger.logLevel <= Gateway.Note.level else {
            // Why not `removeAll(keepingCapacity:)`: it takes longer than the few notes that there are.
            while notes.popLast() != nil {}
            return
        }
        notes.drain { note, cause in
            let source = cause.flatMap { state.ledger.source(of: $0) }
            state.log.write(note, source ?? .unknown, at: self.clock())
        }
    }

    private func reachDeadline() {
        let state = self.state.value
        state.core.deadlineReached(at: self.clock())
        self.planRun(state)
    }

    /// Cancels the core's deadline.
    func disarm() { self.state.value.timer.cancel() }

    /// Tells observers what they would be told later. Not in the middle of a read.
    func tellObserversAtOnce() {
        self.state.value.core.tellAtOnce()
        self.run()
    }

    // MARK: Going down

    /// Sets the time without connections after which ``waitUntilIdle()`` succeeds; nil, the initial value: never.
    package func setIdleTime(_ time: Duration?) {
        self.gatewayLoop.execute { self.state.value.idle.setTime(time) }
    }

    /// Succeeds when there has been no connection for the set time, counted from now on; fails after
    /// ``endIdleWait()``. One at a time.
    package func waitUntilIdle() -> EventLoopFuture<Void> {
        self.gatewayLoop.flatSubmit { self.state.value.idle.wait() }
    }

    /// Ends the wait for idleness for good.
    package func endIdleWait() { self.gatewayLoop.execute { self.state.value.idle.end() } }

    /// Whether there is no connection, none was accepted before this call, and an idle time is set.
    package func isIdle() async throws -> Bool {
        // A loop works in order: a connection that was accepted is registered afterwards.
        for (loop, _) in self.shards { try await loop.submit {}.get() }
        return try await self.gatewayLoop.submit { self.state.value.idle.isIdle }.get()
    }

    /// Sends every peer a Goodbye and refuses new connections; succeeds when all connections are closed, or were cut after `timeout`.
    /// Called once, while the loops run.
    ///
    /// - Returns: The number of connections that were cut.
    package func drain(_ goodbye: Goodbye, within timeout: Duration) -> EventLoopFuture<Int> {
        let emptied = self.gatewayLoop.makePromise(of: Int.self)
        self.gatewayLoop.execute {
            precondition(self.state.value.draining == nil, "a driver is drained once")
            self.tellObserversAtOnce()
            self.disarm()
            let deadline = self.gatewayLoop.scheduleTask(in: .nanoseconds(timeout.nanoseconds)) {
                self.endDraining()
            }
            self.state.value.draining = Draining(goodbye: goodbye, emptied: emptied, deadline: deadline)
            self.endDrainingIfEmpty()
            for (loop, shard) in self.shards { loop.execute { shard.value.drain(goodbye) } }
        }
        return emptied.futureResult
    }

    private func endDrainingIfEmpty() {
        if self.state.value.draining?.deadline != nil, self.state.value.ledger.count == 0 {
            self.endDraining()
        }
    }

    /// All connections are closed, or the time is over.
    private func endDraining() {
        guard let deadline = self.state.value.draining?.deadline else { return }
        deadline.cancel()
        self.state.value.draining?.deadline = nil
        self.state.value.log.writeSuppressed()
        for (loop, shard) in self.shards { loop.execute { shard.value.cut() } }
        self.state.value.draining?.emptied.succeed(self.state.value.ledger.count)
    }

    /// Closes all connections, and returns when no work is queued between the event loops: only then can they be shut down. Called once, when no listener accepts any more; the driver is of no use afterwards.
    ///
    /// - Throws: What the event loops throw once they are shut down.
    package func end() async throws {
        var isOver = false
        while !isOver {
            for (loop, shard) in self.shards {
                try await loop.flatSubmit { shard.value.closeAll(on: loop) }.get()
            }
            isOver = try await self.gatewayLoop.submit {
                defer { self.state.value.core.hasRun = false }
                return !self.state.value.core.hasRun && self.state.value.ledger.count == 0
                    && self.state.value.refusals == 0
            }.get()
        }
    }
}
