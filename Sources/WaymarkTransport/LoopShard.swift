internal import NIOCore
internal import WaymarkConnections
internal import WaymarkGateway
internal import WaymarkProtocol

/// Drives ``LoopCore`` on one event loop: performs its actions on channels and runs its timer.
final class LoopShard {
    private(set) var machine: Machine
    /// The buffer that all connections of the loop are read into.
    let readBuffer = ReadBuffer()
    /// The group ids of the last peer that had any.
    private var groups: [UInt32] = []
    /// Connections that were refused, until they are closed.
    var refused: [ObjectIdentifier: any Channel] = [:]
    private let loop: any EventLoop
    /// Whether the gateway runs on this loop.
    private let hasGateway: Bool
    /// By slot.
    private var handlers: [ConnectionHandler?] = []
    private var isRoundPlanned = false
    /// A round is under way. It ends with a run of the gateway, if the gateway runs on this loop.
    private(set) var isInRound = false
    /// What ``later(_:for:)`` put off.
    private var late: [() -> Void] = []
    /// How much of it is done in a round.
    private static let lateMax = 128
    private var timer: (deadline: Instant, task: Scheduled<Void>)?
    /// Set once every connection is told that the gateway goes down.
    private var drainGoodbye: Goodbye?
    /// Set once every connection is suspended: for those that cannot be.
    private var suspendGoodbye: Goodbye?

    init(_ loop: any EventLoop, hasGateway: Bool, limits: LoopCore.Limits) {
        self.loop = loop
        self.hasGateway = hasGateway
        self.machine = Machine(core: LoopCore(limits: limits))
    }

    /// The core, and what it wants done. Why together: each access to a property of a class is checked at run time.
    struct Machine {
        fileprivate(set) var core: LoopCore
        private var actions: [LoopCore.Action] = []

        init(core: LoopCore) { self.core = core }

        /// Changes the core.
        ///
        /// - Returns: The actions that follow; nil for none.
        @inline(__always)
        fileprivate mutating func change(
            at now: Instant, _ body: (inout LoopCore, Instant, inout [LoopCore.Action]) -> Void
        ) -> [LoopCore.Action]? {
            body(&self.core, now, &self.actions)
            if self.actions.isEmpty { return nil }
            // Performing them may change the core again.
            var actions: [LoopCore.Action] = []
            swap(&actions, &self.actions)
            return actions
        }

        /// Keeps the memory of an empty array that ``change(at:_:)`` returned.
        @inline(__always)
        fileprivate mutating func recycle(_ actions: consuming [LoopCore.Action]) {
            if self.actions.isEmpty { self.actions = actions }
        }
    }

    /// The same group ids, in an array that peers share which have the same: most belong to a few users.
    func share(_ groups: [UInt32]) -> [UInt32] {
        if groups != self.groups { self.groups = groups }
        return self.groups
    }

    /// Changes the core, and then performs the actions that follow.
    @inline(__always)
    func change(
        for driver: GatewayDriver, _ body: (inout LoopCore, Instant, inout [LoopCore.Action]) -> Void
    ) {
        let now = driver.clock()
        guard var actions = self.machine.change(at: now, body) else { return }
        self.perform(&actions, for: driver)
        self.machine.recycle(actions)
    }

    private func perform(_ actions: inout [LoopCore.Action], for driver: GatewayDriver) {
        actions.drain { action in
            switch action {
            case .submit(let events, let connection, let cost, let isReadOver):
                driver.submit(events, from: connection, cost: cost, isReadOver: isReadOver)
            case .admit(let slot, let hello): self.handlers[slot]?.admit(hello)
            case .write(let slot, let portion): self.handlers[slot]?.write(portion)
            case .close(let slot, let rest): self.handlers[slot]?.close(behind: rest)
            case .read(let slot): self.handlers[slot]?.readOn()
            case .drained(let slot): self.handlers[slot]?.noteDrained()
            case .note(let slot, let note): self.handlers[slot]?.note(note)
            case .arm(let deadline): self.arm(deadline, for: driver)
            case .workLater: self.planRound(for: driver)
            case .removed(let connection): driver.left(connection)
            case .hold(let connection): driver.hold(connection)
            case .release(let connection): driver.release(connection)
            case .measured(let measure): driver.note(measure)
            case .roomForObserver(let connection): driver.noteRoom(forObserver: connection)
            }
        }
    }

    /// What the loop gets for reading, writing and other tasks after a round that took so long.
    ///
    /// Why not a task without a delay: NIO runs all tasks before it looks for input again, also those that tasks add. Why in proportion: behind
    /// long work NIO itself takes longer until it looks, as much memory is freed.
    private static func pause(after nanoseconds: Int64) -> TimeAmount {
        .nanoseconds(max(20_000, nanoseconds / 64))
    }

    /// Plans a round: some of the loop's work that waits, and then of the gateway's.
    ///
    /// Why both in one task, which plans the next one when all is done: each takes longer than the pause, and so the other would be due again
    /// before NIO looks for input.
    func planRound(for driver: GatewayDriver) {
        guard !self.isRoundPlanned else { return }
        self.isRoundPlanned = true
        if !self.isInRound { self.scheduleRound(after: 0, for: driver) }
    }

    /// Calls `body` in the next round, or in one behind it if many wait.
    ///
    /// Why not `execute`: NIO does everything that tasks add before it looks for input again.
    func later(_ body: @escaping () -> Void, for driver: GatewayDriver) {
        self.late.append(body)
        self.planRound(for: driver)
    }

    private func takeLate(for driver: GatewayDriver) {
        let due = self.late.prefix(Self.lateMax)
        self.late.removeFirst(due.count)
        for body in due { body() }
        if !self.late.isEmpty { self.planRound(for: driver) }
    }

    private func scheduleRound(after nanoseconds: Int64, for driver: GatewayDriver) {
        self.loop.assumeIsolated().scheduleTask(in: Self.pause(after: nanoseconds)) {
            let began = driver.clock()
            self.isRoundPlanned = false
            self.isInRound = true
            if self.isWorkPlanned {
                self.change(for: driver) { core, now, actions in
                    core.work(at: now, BareSocket.send, into: &actions)
                }
            }
            if self.hasGateway { driver.run() }
            self.takeLate(for: driver)
            self.isInRound = false
            if self.isRoundPlanned {
                self.scheduleRound(after: (driver.clock() - began).nanoseconds, for: driver)
            }
        }
    }

    private func arm(_ deadline: Instant, for driver: GatewayDriver) {
        // Performing an action may arm an earlier deadline than an action behind it.
        if let (earlier, task) = self.timer {
            guard deadline < earlier else { return }
            task.cancel()
        }
        let delay = max(0, (deadline - driver.clock()).nanoseconds)
        let task = self.loop.assumeIsolated().scheduleTask(in: .nanoseconds(delay)) {
            self.timer = nil
            self.change(for: driver) { core, now, actions in
                core.deadlineReached(at: now, BareSocket.send, into: &actions)
            }
        }
        self.timer = (deadline, task)
    }

    // MARK: Connections

    /// Whether another round of work is planned.
    var isWorkPlanned: Bool { self.machine.core.hasPlannedWork() }
    var handlerCount: Int { self.machine.core.connectionCount }

    private var openHandlers: [ConnectionHandler] { self.handlers.compactMap(\.self) }

    /// Registers the handler of a connection that was added to the core.
    func add(_ handler: ConnectionHandler) {
        while self.handlers.count <= handler.slot { self.handlers.append(nil) }
        self.handlers[handler.slot] = handler
    }

    /// The channel of a connection is ready: does what was done with all others while it was being accepted.
    func welcome(_ handler: ConnectionHandler) {
        if let drainGoodbye { handler.handle(.drainRequested(drainGoodbye)) }
        if let suspendGoodbye { return handler.suspend(suspendGoodbye) }
        // Its listener's policy may have changed meanwhile.
        if !handler.isAdopted { handler.review() }
    }

    /// Whether a connection may be read on, see ``LoopCore/mayRead(_:)``.
    func mayRead(_ slot: LoopCore.Slot) -> Bool { self.machine.core.mayRead(slot) }

    /// What the connections have done.
    var totals: LoopTotals { self.machine.core.measure(withConnections: false).totals }

    /// What another process needs to continue a connection.
    func detach(_ slot: LoopCore.Slot) -> DetachedConnection? { self.machine.core.detach(slot) }

    /// Forgets a connection.
    func remove(_ handler: ConnectionHandler, for driver: GatewayDriver) {
        self.handlers[handler.slot] = nil
        self.change(for: driver) { core, now, actions in
            core.remove(handler.slot, at: now, into: &actions)
        }
    }

    /// Applies other limits, and compares every connection with its listener's current policy.
    func review(limits: LoopCore.Limits) {
        self.machine.core.limits = limits
        for handler in self.openHandlers where !self.machine.core.isSuspended(handler.slot) {
            handler.review()
        }
    }

    /// Closes a connection whose handshake is not finished.
    func closeUnfinished(_ id: ConnectionID, _ goodbye: Goodbye) {
        guard let slot = self.machine.core.slot(of: id) else { return }
        self.handlers[slot]?.closeUnfinished(goodbye)
    }

    /// Says goodbye to all connections, also to those that are still on their way here.
    func drain(_ goodbye: Goodbye) {
        self.drainGoodbye = goodbye
        for handler in self.openHandlers { handler.handle(.drainRequested(goodbye)) }
    }

    /// Closes all connections at once.
    func cut() { for handler in self.openHandlers { handler.cut() } }

    /// Closes all connections at once, also refused ones. Succeeds when all have closed.
    func closeAll(on loop: any EventLoop) -> EventLoopFuture<Void> {
        let channels = self.openHandlers.compactMap { $0.context?.channel } + self.refused.values
        for channel in channels { channel.close(promise: nil) }
        return EventLoopFuture.andAllComplete(channels.map(\.closeFuture), on: loop)
    }

    // MARK: Handing over

    /// Suspends every connection, also those that are still on their way here.
    func suspend(_ goodbye: Goodbye) {
        self.suspendGoodbye = goodbye
        for handler in self.openHandlers { handler.suspend(goodbye) }
    }

    /// Succeeds when the sockets of all connections have what was sent, or they have closed, or the time is over.
    func whenDrained(within timeout: Duration) -> EventLoopFuture<Void> {
        let all = self.loop.makePromise(of: Void.self)
        let deadline = self.loop.scheduleTask(in: .nanoseconds(timeout.nanoseconds)) { all.succeed() }
        let drained = self.openHandlers.compactMap { $0.whenDrained() }
        EventLoopFuture.andAllComplete(drained, on: self.loop).whenComplete { _ in
            deadline.cancel()
            all.succeed()
        }
        return all.futureResult
    }

    /// See ``ConnectionHandler/release()``.
    ///
    /// - Returns: The number of connections that were closed.
    func release() -> Int { self.openHandlers.count { $0.release() } }

    func detach() -> [(state: HandoverConnection, descriptor: CInt)] {
        self.openHandlers.compactMap { $0.detach() }
    }

    /// See ``ConnectionHandler/resume()``.
    ///
    /// - Returns: The number of connections that continue.
    func resume() -> Int { self.openHandlers.count { $0.resume() } }
}
