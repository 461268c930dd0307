package import Logging
package import NIOCore
internal import Synchronization
internal import WaymarkCodec
package import WaymarkGateway
package import WaymarkProtocol

/// Owns the gateway on one event loop, and the connections on all of them.
///
/// Connections hand in events in batches, one per read. What is read first in a turn of the gateway's loop, mostly all that is, is
/// worked off at once; what comes behind it, together at the turn's end. What the gateway wants on its own loop is done at once, and
/// goes back as one list of instructions to each other one that has something to do, with consecutive frames for an audience in one
/// shared buffer.
package final class GatewayDriver: Sendable {
    private let currentLimits: Mutex<TransportLimits>
    let clock: @Sendable () -> Instant
    private let logger: Logger
    let gatewayLoop: any EventLoop
    let state: NIOLoopBoundBox<State>
    let shards: [Dispatcher.Loop]

    /// What lives on the gateway's loop.
    ///
    /// A class, because a copy of it, even to read one member, would retain and release all that it holds.
    final class State {
        fileprivate(set) var gateway: Gateway
        var ledger: ConnectionLedger
        let log: PeerLog
        let idle: IdleWatch
        /// Writes what the gateway says.
        fileprivate let encoder = CachingEncoder()
        var places = ConnectionTable<Place>()
        fileprivate let dispatcher: Dispatcher
        var refusals = 0
        var nextConnection: UInt64 = 0
        /// Waits for ``GatewayDriver/run()``.
        fileprivate(set) var pending = Reused<([Gateway.Event], ConnectionID?)>()
        /// What the gateway wants done while one batch after another is worked off.
        fileprivate var actions = Reused<Gateway.Action>()
        fileprivate var isRunPlanned = false
        /// What is read meanwhile waits: a channel that cannot be written reads what is left, and closes, before it returns.
        fileprivate var isWorkingOff = false
        /// What is worked off is one event: nobody gets more than what comes of that.
        fileprivate var isLone = false
        /// Until something is worked off: it is asked for every second, also while thousands are idle.
        fileprivate var census: Gateway.Census?
        /// Nothing is worked off: not everybody is there.
        var isHeld = false
        /// For what the gateway wants to be told of.
        fileprivate let timer: LoopTimer
        var draining: Draining?
        /// Something was worked off since ``GatewayDriver/detach(_:within:)`` or ``GatewayDriver/end()`` asked last.
        var hasRun = false
        var isDetaching = false

        fileprivate init(
            gateway: Gateway, ledger: ConnectionLedger, log: PeerLog, idle: IdleWatch, timer: LoopTimer,
            dispatcher: Dispatcher
        ) {
            self.gateway = gateway
            self.timer = timer
            self.ledger = ledger
            self.log = log
            self.idle = idle
            self.dispatcher = dispatcher
        }

        /// Goes on with the gateway of another process.
        func adopt(_ gateway: Gateway) {
            self.gateway = gateway
            self.census = nil
        }

        func join(_ id: ConnectionID, _ audience: AudienceID) {
            guard let place = self.places[id], !place.hears(audience) else { return }
            self.places[id]?.join(audience)
            self.dispatcher.join(audience, on: place.shard)
        }

        func leave(_ id: ConnectionID, _ audience: AudienceID) {
            guard let place = self.places[id], place.hears(audience) else { return }
            self.places[id]?.leave(audience)
            self.dispatcher.leave(audience, on: place.shard)
        }
    }

    /// Where a connection lives, whom it counts for, and what it hears.
    struct Place {
        let source: PeerSource
        // Why 16 bits: they fit behind the source.
        private let shardNumber: UInt16
        private(set) var audiences = Few<AudienceID>()

        init(shard: Int, source: PeerSource) {
            self.source = source
            self.shardNumber = UInt16(shard)
        }

        var shard: Int { Int(self.shardNumber) }

        func hears(_ audience: AudienceID) -> Bool { self.audiences.contains(audience) }

        /// Hears an audience that it did not hear.
        fileprivate mutating func join(_ audience: AudienceID) { self.audiences.append(audience) }

        fileprivate mutating func leave(_ audience: AudienceID) {
            if let index = self.audiences.firstIndex(of: audience) { self.audiences.remove(at: index) }
        }
    }

    struct Draining {
        var goodbye: Goodbye
        var emptied: EventLoopPromise<Int>
        var deadline: Scheduled<Void>?
    }

    /// What becomes of a new connection.
    private enum Admission: Sendable {
        case taken(ConnectionID)
        case refused(Goodbye)
        /// There are too many to tell them all.
        case dropped
    }

    /// Creates a driver whose gateway lives on the first loop of `loops`.
    package init(
        loops: [any EventLoop], policy: Gateway.Policy, limits: TransportLimits, logger: Logger,
        clock: @escaping @Sendable () -> Instant
    ) {
        precondition(!loops.isEmpty, "a driver needs an event loop")
        self.currentLimits = Mutex(limits)
        self.clock = clock
        self.logger = logger
        self.gatewayLoop = loops[0]
        // Each loop has its part: none has to ask the others.
        let waitingMax = limits.waitingMax(of: loops.count)
        self.shards = loops.map { loop in
            let shard = LoopShard(
                waiting: WaitingBytes(countMax: waitingMax), deadlines: DeadlineTimer(loop, clock: clock))
            return (loop, NIOLoopBoundBox.makeBoxSendingValue(shard, eventLoop: loop))
        }
        let gateway = Gateway(
            policy: policy, coder: Codec.coder, firstSession: SessionID(.random(in: 1 ... .max)))
        self.state = NIOLoopBoundBox.makeBoxSendingValue(
            State(
                gateway: gateway, ledger: ConnectionLedger(limits: limits.connections),
                log: PeerLog(logger, limits: limits.log, loop: loops[0]), idle: IdleWatch(loops[0]),
                timer: LoopTimer(loops[0], clock: clock), dispatcher: Dispatcher(self.shards)),
            eventLoop: loops[0])
    }

    /// How many there are now.
    package func census() async throws -> Gateway.Census {
        try await self.gatewayLoop.submit {
            let state = self.state.value
            let census = state.census ?? state.gateway.census
            state.census = census
            return census
        }.get()
    }

    /// Connections that are open.
    package func connectionCount() async throws -> Int {
        try await self.gatewayLoop.submit { self.state.value.places.count }.get()
    }

    /// Goes through the gateway's queue, and through that of each loop, behind all that waits there.
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

    // MARK: Settings

    /// What is allowed now.
    var limits: TransportLimits { self.currentLimits.withLock { $0 } }

    /// Lets another policy and other limits hold, and has every connection look at the rules of its listener again. What was
    /// agreed with a peer in its handshake, and how much may wait for it, stays as it was. Whoever connects once this has returned
    /// finds the new ones.
    package func reconfigure(_ policy: Gateway.Policy, _ limits: TransportLimits) async {
        self.currentLimits.withLock { $0 = limits }
        self.gatewayLoop.execute {
            self.state.value.ledger.limits = limits.connections
            self.state.value.log.limits = limits.log
        }
        self.submit([.policyChanged(policy)], from: nil)
        let waitingMax = limits.waitingMax(of: self.shards.count)
        for (loop, shard) in self.shards { loop.execute { shard.value.review(waitingMax: waitingMax) } }
        do { try await self.probe() } catch { /* The loops have stopped: it concerns nobody any more. */  }
    }

    // MARK: Connections

    /// Takes a connection, or tells it why not. Called on its loop, one of this driver's, before it is read.
    ///
    /// `socket` is the channel's, if whoever calls knows it; what has come through it before is read at once then.
    package func accept(
        _ channel: any Channel, through entrance: Entrance, from source: PeerSource,
        on socket: BareSocket? = nil
    ) -> EventLoopFuture<Void> {
        guard let index = self.shards.firstIndex(where: { $0.loop === channel.eventLoop }) else {
            preconditionFailure("the connection is not on a loop of this driver")
        }
        guard channel.eventLoop !== self.gatewayLoop else {
            let admission = self.register(index, entrance, source)
            return channel.eventLoop.makeCompletedFuture {
                try self.take(channel, admission, index, entrance, source, socket)
            }
        }
        let taken = channel.eventLoop.makePromise(of: Void.self)
        self.gatewayLoop.execute {
            let admission = self.register(index, entrance, source)
            channel.eventLoop.execute {
                taken.completeWith(
                    Result { try self.take(channel, admission, index, entrance, source, socket) })
            }
        }
        return taken.futureResult
    }

    /// Does what was decided about a new connection, on its loop.
    private func take(
        _ channel: any Channel, _ admission: Admission, _ index: Int, _ entrance: Entrance,
        _ source: PeerSource, _ socket: BareSocket?
    ) throws {
        let shard = self.shards[index].shard
        switch admission {
        case .taken(let id):
            let handler = ConnectionHandler(
                id: id, entrance: entrance, source: source, socket: socket, driver: self,
                shard: shard.value)
            try self.add(handler, to: channel, shard)
        case .refused(let goodbye):
            let refused = ObjectIdentifier(channel)
            shard.value.refused[refused] = channel
            channel.closeFuture.whenComplete { _ in
                shard.value.refused[refused] = nil
                self.gatewayLoop.execute {
                    self.state.value.refusals -= 1
                    self.state.value.idle.left()
                }
            }
            let handler = RefusalHandler(goodbye, within: self.limits.connection.drainTimeout)
            try channel.pipeline.syncOperations.addHandler(handler)
        case .dropped: channel.close(promise: nil)
        }
    }

    /// Puts a connection on its loop, which is this one.
    func add(
        _ handler: ConnectionHandler, to channel: any Channel, _ shard: NIOLoopBoundBox<LoopShard>
    ) throws {
        do {
            try channel.prepare(for: shard)
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            self.left(handler.id)
            throw error
        }
        shard.value.add(handler)
    }

    /// A connection is no longer on its loop.
    func left(_ id: ConnectionID) { self.gatewayLoop.execute { self.forget(id) } }

    /// Counts a new connection.
    private func register(_ shard: Int, _ entrance: Entrance, _ source: PeerSource) -> Admission {
        guard let refusal = self.state.value.draining?.goodbye ?? self.state.value.ledger.add(source.user)
        else {
            self.state.value.nextConnection += 1
            let id = ConnectionID(self.state.value.nextConnection)
            self.state.value.places[id] = Place(shard: shard, source: source)
            self.state.value.idle.came()
            return .taken(id)
        }
        self.note(.closing(refusal), of: PeerDescription(source: source, entrance: entrance.address))
        guard self.state.value.refusals < self.limits.refusalsMax else { return .dropped }
        self.state.value.refusals += 1
        self.state.value.idle.came()
        return .refused(refusal)
    }

    /// Forgets a connection whose transport has closed.
    func forget(_ id: ConnectionID) {
        self.run()  // What it said last is said on its behalf.
        guard let place = self.state.value.places[id] else { return }
        for audience in place.audiences { self.state.value.leave(id, audience) }
        self.state.value.places[id] = nil
        self.state.value.ledger.remove(place.source.user)
        self.state.value.idle.left()
        self.endDrainingIfEmpty()
    }

    /// Writes to the log what happened to a connection.
    func note(_ notice: PeerNotice, of peer: PeerDescription) {
        guard self.logger.logLevel <= notice.level else { return }
        self.gatewayLoop.execute { self.state.value.log.write(notice, peer, at: self.clock()) }
    }

    // MARK: Events in

    /// Hands events to the gateway, in order. Nothing comes of them before this returns, unless `isReadOver`: then the connection
    /// does nothing more in this read, and what is read first in a turn of the loop is worked off at once.
    func submit(_ events: [Gateway.Event], from connection: ConnectionID?, isReadOver: Bool = false) {
        guard self.gatewayLoop.inEventLoop else {
            return self.gatewayLoop.execute { self.submit(events, from: connection, isReadOver: isReadOver) }
        }
        let state = self.state.value
        if isReadOver, !state.isRunPlanned, !state.isWorkingOff, !state.isHeld {
            self.workOff(state, isLone: events.count == 1) {
                self.handle(events, of: connection, at: self.clock(), state)
            }
        } else {
            state.pending.append((events, connection))
        }
        guard !state.isRunPlanned else { return }
        state.isRunPlanned = true
        // Why not at once: a connection may be in the middle of a read, and others be read in the same turn of the loop.
        self.gatewayLoop.execute { self.run() }
    }

    /// Works off what is pending. Not in the middle of a read.
    func run() {
        let state = self.state.value
        state.isRunPlanned = false
        guard !state.isHeld else { return }
        let batches = state.pending.take()
        guard !batches.isEmpty else { return }
        let now = self.clock()
        self.workOff(state, isLone: false) {
            for (events, connection) in batches { self.handle(events, of: connection, at: now, state) }
        }
        state.pending.giveBack(batches)
    }

    /// Has `handle` work something off, and then everybody have what comes of it.
    private func workOff(_ state: State, isLone: Bool, _ handle: () -> Void) {
        state.isWorkingOff = true
        state.isLone = isLone
        state.hasRun = true
        state.census = nil
        handle()
        state.dispatcher.finish()
        state.isWorkingOff = false
    }

    /// Has the gateway handle events, and does what it wants.
    private func handle(
        _ events: [Gateway.Event], of connection: ConnectionID?, at now: Instant, _ state: State
    ) {
        var actions = state.actions.take()
        for event in events { state.gateway.handle(event, at: now, into: &actions) }
        for action in actions { self.perform(action, of: connection, state) }
        state.actions.giveBack(consume actions)
        if let connection, let shard = self.shard(of: connection, state) {
            state.dispatcher.finishBatch(of: connection, on: shard)
        }
    }

    // MARK: Actions out

    private func perform(_ action: Gateway.Action, of cause: ConnectionID?, _ state: State) {
        switch action {
        case .publish(let audience, let frames): state.dispatcher.publish(frames, to: audience)
        case .admit(let id, var welcome):
            welcome.software = Software.name
            self.instruct(id, .session(id, .admitted(welcome)), state)
        case .refuse(let id, let goodbye), .close(let id, let goodbye):
            self.instruct(id, .session(id, .closeRequested(goodbye)), state)
        case .send(let id, let envelope):
            self.instruct(id, .send(id, state.encoder.encode(envelope)), state)
        case .forward(let id, let request, let vehicle, let session):
            self.instruct(id, .send(id, Codec.frame(of: request, from: vehicle, session: session)), state)
        case .sendFrames(let id, let frames):
            for frame in frames { self.instruct(id, .send(id, frame), state) }
        case .join(let id, let audience):
            self.instruct(id, .join(id, audience), state)
            state.join(id, audience)
        case .leave(let id, let audience):
            self.instruct(id, .leave(id, audience), state)
            state.leave(id, audience)
        case .purge(let id, let session): self.instruct(id, .purge(id, session), state)
        case .purgeShares(let id, let session): self.instruct(id, .purgeShares(id, session), state)
        case .arm(let deadline): self.arm(deadline)
        case .note(let note):
            guard self.logger.logLevel <= Gateway.Note.level else { break }
            // Whoever was written to does not wait for the log.
            if state.isLone { state.dispatcher.flush() }
            let source = cause.flatMap { state.places[$0]?.source }
            state.log.write(note, source ?? .unknown, at: self.clock())
        }
    }

    private func instruct(
        _ id: ConnectionID, _ instruction: @autoclosure () -> Instruction, _ state: State
    ) {
        guard let shard = self.shard(of: id, state) else { return }
        // Whoever was written to before need not wait until this is made.
        if state.isLone { state.dispatcher.flush(before: id) }
        state.dispatcher.instruct(shard, instruction())
    }

    /// On which loop a connection is; nil if it has gone. With one loop it may have, which the loop finds out as well.
    private func shard(of id: ConnectionID, _ state: State) -> Int? {
        self.shards.count == 1 ? 0 : state.places[id]?.shard
    }

    /// Hands in ``Gateway/Event/deadlineReached`` at `deadline`, and not at the one that was asked for before.
    func arm(_ deadline: Instant) {
        let state = self.state.value
        guard !state.isDetaching else { return }
        state.timer.set(deadline) { self.submit([.deadlineReached], from: nil) }
    }

    /// No deadline counts any more.
    func disarm() { self.state.value.timer.cancel() }

    // MARK: Going down

    /// After which time without a connection ``waitUntilIdle()`` is over; nil, as at the beginning: never.
    package func setIdleTime(_ time: Duration?) {
        self.gatewayLoop.execute { self.state.value.idle.setTime(time) }
    }

    /// Succeeds when nobody has been connected for the time that was set, counted from now on; fails after
    /// ``endIdleWait()``. One at a time.
    package func waitUntilIdle() -> EventLoopFuture<Void> {
        self.gatewayLoop.flatSubmit { self.state.value.idle.wait() }
    }

    /// Ends the wait for idleness for good.
    package func endIdleWait() { self.gatewayLoop.execute { self.state.value.idle.end() } }

    /// Whether nobody is connected, nor on the way here since before this was asked.
    package func isIdle() async throws -> Bool {
        // A loop does things in their order: whoever was accepted is known afterwards.
        for (loop, _) in self.shards { try await loop.submit {}.get() }
        return try await self.gatewayLoop.submit { self.state.value.idle.isIdle }.get()
    }

    /// Says goodbye to everybody and takes nobody any more; done when all connections are closed, or have been cut after
    /// `timeout`. Called once, while the loops run.
    ///
    /// - Returns: How many were cut.
    package func drain(_ goodbye: Goodbye, within timeout: Duration) -> EventLoopFuture<Int> {
        let emptied = self.gatewayLoop.makePromise(of: Int.self)
        self.gatewayLoop.execute {
            precondition(self.state.value.draining == nil, "a driver is drained once")
            self.disarm()
            let deadline = self.gatewayLoop.scheduleTask(in: .nanoseconds(timeout.nanoseconds)) {
                self.endDraining()
            }
            self.state.value.draining = Draining(goodbye: goodbye, emptied: emptied, deadline: deadline)
            self.endDrainingIfEmpty()
        }
        for (loop, shard) in self.shards { loop.execute { shard.value.drain(goodbye) } }
        return emptied.futureResult
    }

    private func endDrainingIfEmpty() {
        if self.state.value.draining?.deadline != nil, self.state.value.places.isEmpty { self.endDraining() }
    }

    /// Everybody has gone, or the time is over.
    private func endDraining() {
        guard let deadline = self.state.value.draining?.deadline else { return }
        deadline.cancel()
        self.state.value.draining?.deadline = nil
        self.state.value.log.tell()
        for (loop, shard) in self.shards { loop.execute { shard.value.cut() } }
        self.state.value.draining?.emptied.succeed(self.state.value.places.count)
    }

    /// Closes whatever is open, and returns when nothing is under way between the event loops any more: only then can they be
    /// shut down. Called once, when no listener accepts any more; the driver is of no use afterwards.
    ///
    /// - Throws: What the event loops throw once they are shut down.
    package func end() async throws {
        var isOver = false
        while !isOver {
            for (loop, shard) in self.shards {
                try await loop.flatSubmit { shard.value.closeAll(on: loop) }.get()
            }
            isOver = try await self.gatewayLoop.submit {
                defer { self.state.value.hasRun = false }
                return !self.state.value.hasRun && self.state.value.places.isEmpty
                    && self.state.value.refusals == 0
            }.get()
        }
    }
}
