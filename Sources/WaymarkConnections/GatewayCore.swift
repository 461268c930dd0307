internal import DequeModule
internal import WaymarkCodec
package import WaymarkGateway
package import WaymarkObservation
package import WaymarkProtocol

/// The gateway and everything about when it processes events and on which event loop its actions are performed.
///
/// Connections submit events in batches, one for each read. The first batch of an event-loop tick is processed at once; usually it
/// is the only one. Later batches of the same tick are queued and processed together at its end, so that several reads make one
/// write. What the gateway wants becomes one list of instructions for each loop, with consecutive frames for an audience in one
/// shared batch.
///
/// No connection can keep the others waiting: once the gateway has spent a turn's ``Budget`` on one, the rest of its events waits, in
/// order, until the others had their turns. Turns change only between two events. A run ends when its own budget is spent, and the
/// driver plans the next one, so that the event loop reads and writes in between.
///
/// It does no I/O and reads no clock, like ``LoopCore``. A driver calls these functions, each with the time:
///
/// - ``assign(_:to:payer:)`` when a connection was accepted, and ``forget(_:)`` when its loop has removed it;
/// - ``submit(_:from:cost:isReadOver:at:)`` for each ``LoopCore/Action/submit(_:from:cost:isReadOver:)``;
/// - ``deadlineReached(at:)`` at the instant of ``deadline``;
/// - ``run(at:)`` at the end of a tick if ``isRunDue()``, once for each time that ``planRun()`` returned true;
/// - ``hold(_:)``, ``release(_:)`` and ``note(_:at:)`` for the actions of a loop that name them.
///
/// When `submit` or `run` has returned true, it takes the work with ``takeWork()``, gives each loop its instructions
/// (``takeInstructions(for:)`` for the others), sets its timer to the deadline, writes the notes, and calls ``endProcessing(_:)``.
package struct GatewayCore {
    /// A connection's event loop and audiences.
    private struct Assignment {
        let payer: Payer
        var audiences = SmallArray<AudienceID>()
        let loop: UInt16
    }

    /// What a connection submitted and the gateway has not processed.
    private struct Backlog {
        var batches: Deque<(events: [Gateway.Event], cost: Int)> = []
        /// The next event of the first batch.
        var next = 0
        /// The connection has closed, and is forgotten once all is processed.
        var isClosed = false
        /// It is in ``turns``.
        var isQueued = false

        /// Adds a batch, of whose events `count` are processed.
        mutating func append(_ events: [Gateway.Event], _ cost: Int, after count: Int) {
            if self.batches.isEmpty { self.next = count }
            self.batches.append((events, cost))
        }
    }

    /// How much work is done before others are served, in units of ``WorkMeter``.
    package struct Budget: Sendable, Hashable {
        /// For one connection.
        package var turn: UInt64 = 256
        /// In one run: some milliseconds.
        package var run: UInt64 = 1_024
        /// Frames that are published in one event.
        package var frames = 128

        package init() {}
    }

    package internal(set) var gateway: Gateway
    private let encoder = CachingEncoder()
    /// The gateway's own software, for Welcomes.
    let software: String
    private var assignments = ConnectionTable<Assignment>()
    /// For the gateway's own loop. Not one of ``others``, because most instructions are for this loop.
    private var home = LoopWork()
    /// For each other loop.
    private var others: [LoopWork]
    /// The batches for audiences since the last instruction for a single connection. Between two such instructions no endpoint
    /// changes its audience and each is in one at most, so batches for different audiences may be sent in any order.
    private var shared: [(audience: AudienceID, batch: SharedBatch)] = []
    private var reach = AudienceReach()
    /// Batches that came since the last run.
    private var pending = RecycledArray<(events: [Gateway.Event], connection: ConnectionID?, cost: Int)>()
    /// Of connections whose turn ended before everything was processed, or that have not had one. ``own`` stands for the driver.
    private var backlogs: [ConnectionID: Backlog] = [:]
    private var turns = TurnQueue<ConnectionID>()
    /// Connections that get no turn, because large audiences are still being sent what they published: how many times each.
    private var holds: [ConnectionID: Int] = [:]
    /// Closed connections of which everything was processed.
    private var forgotten: [ConnectionID] = []
    package var budget = Budget()
    /// The most work of one run.
    package private(set) var unitsOfLongestRun: UInt64 = 0
    private var actions = RecycledArray<Gateway.Action>()
    private var notes = RecycledArray<Note>()
    /// The instant at which the gateway's deadline is to be handed in; nil for none. See ``deadline``.
    var gatewayDeadline: Instant?
    /// The deadline that the driver was told last.
    var toldDeadline: Instant?
    /// A call of ``run(at:)`` is planned.
    private var isRunPlanned = false
    /// Re-entrancy guard. A failing write can make the transport read the remaining input and close before it returns; events that
    /// come that way are queued.
    package private(set) var isProcessing = false
    /// Nothing is processed while adopted connections are still being attached to their loops.
    package var isPaused = false
    /// What observers are told; nil while there are none.
    package internal(set) var hub: ObservationHub?
    /// When they are told.
    var pace = ObserverPace()
    /// Observers of another process that the access rules no longer admit, until they are told.
    var refusedObservers: [ConnectionID] = []
    /// What is counted apart from ``Gateway/counters``.
    package internal(set) var tallies = Tallies()
    /// What event loops are measuring for observers; nil while they are not.
    var measurement: Measurement?
    /// What they measured last.
    var measure = LoopMeasure()
    /// How long that took.
    var loopTime = Duration.zero
    /// nil in the daemon.
    package var tap: (any GatewayTap)?
    /// Something was processed since this was last set to false.
    package var hasRun = false

    /// How many of the newest shared batches are searched for that of an audience. If frames for more audiences alternate, some
    /// audiences get several batches, which is correct as well.
    private static let sharedLookedAtMax = 8

    /// A core for event loops, the first of which is the gateway's. Welcomes name `software` as the gateway's.
    package init(_ gateway: Gateway, loopCount: Int, software: String) {
        self.gateway = gateway
        self.software = software
        self.others = Array(repeating: LoopWork(), count: loopCount - 1)
    }

    /// Continues with the gateway of another process.
    package mutating func adopt(
        _ gateway: Gateway, _ observation: ObservationState? = nil, _ tallies: Tallies? = nil,
        at now: Instant = Instant(nanoseconds: 0)
    ) {
        self.gateway = gateway
        self.gatewayDeadline = gateway.armed
        if let tallies { self.tallies = tallies }
        if let observation { self.adopt(observation, at: now) }
    }

    // MARK: Connections

    /// Assigns a connection to a loop. `payer` pays for its work.
    package mutating func assign(_ id: ConnectionID, to loop: Int, payer: Payer) {
        self.assignments[id] = Assignment(payer: payer, loop: UInt16(loop))
    }

    /// Assigns an adopted connection, which is in these audiences already.
    package mutating func assign(_ id: ConnectionID, to loop: Int, payer: Payer, in audiences: [AudienceID]) {
        self.assign(id, to: loop, payer: payer)
        for audience in audiences { self.join(id, audience) }
    }

    /// Forgets a closed connection, once everything that it submitted is processed. ``Work/forgotten`` says when that is later.
    ///
    /// - Returns: Whether it is forgotten.
    package mutating func forget(_ id: ConnectionID) -> Bool {
        guard self.pending.isEmpty, self.backlogs[id] == nil else {
            self.backlogs[id, default: Backlog()].isClosed = true
            self.queueTurn(of: id)
            return false
        }
        self.remove(id)
        return true
    }

    private mutating func remove(_ id: ConnectionID) {
        if !self.holds.isEmpty { self.holds[id] = nil }
        guard let assignment = self.assignments[id] else { return }
        for audience in assignment.audiences { self.reach.leave(audience, on: Int(assignment.loop)) }
        self.assignments[id] = nil
    }

    private mutating func join(_ id: ConnectionID, _ audience: AudienceID) {
        guard var assignment = self.assignments[id], !assignment.audiences.contains(audience) else { return }
        assignment.audiences.append(audience)
        self.assignments[id] = assignment
        self.reach.join(audience, on: Int(assignment.loop))
    }

    private mutating func leave(_ id: ConnectionID, _ audience: AudienceID) {
        guard var assignment = self.assignments[id],
            let index = assignment.audiences.firstIndex(of: audience)
        else { return }
        assignment.audiences.remove(at: index)
        self.assignments[id] = assignment
        self.reach.leave(audience, on: Int(assignment.loop))
    }

    // MARK: Events

    /// Processes a batch of events, or queues it.
    ///
    /// `connection` is told when the batch was processed; nil for the driver's own events. `isReadOver`: the connection does nothing
    /// more in this read, so that the batch may be processed at once.
    ///
    /// - Returns: Whether the gateway ran.
    package mutating func submit(
        _ events: [Gateway.Event], from connection: ConnectionID?, cost: Int, isReadOver: Bool,
        at now: Instant
    ) -> Bool {
        guard isReadOver, !self.isRunPlanned, !self.isProcessing, !self.isPaused, self.isUpToDate else {
            self.pending.append((events, connection, cost))
            return false
        }
        self.beginProcessing()
        if self.hub == nil {
            self.process(events, of: connection, cost, at: now)
        } else {
            self.processObserved(events, of: connection ?? Self.own, cost, at: now)
            self.tellObservers(at: now)
        }
        self.endShared()
        return true
    }

    /// Nothing waits for a turn.
    private var isUpToDate: Bool { self.backlogs.isEmpty && self.holds.isEmpty }

    /// Whether a call of ``run(at:)`` must be planned; true once for each call.
    package mutating func planRun() -> Bool {
        defer { self.isRunPlanned = true }
        return !self.isRunPlanned
    }

    /// Events are queued.
    package var hasPending: Bool { !self.pending.isEmpty || !self.backlogs.isEmpty }

    /// Events are queued that another ``run(at:)`` can process.
    // Why mutating: otherwise its caller, who has the core in a class, copies all of it.
    package mutating func isRunDue() -> Bool {
        !self.pending.isEmpty || !self.turns.isEmpty || (self.pace.isRunDue && self.hub?.isDue == true)
            || (self.measurement == nil && self.hub?.isMeasuringDue == true)
    }

    /// Processes queued events, as many as the budget of a run allows. ``isRunDue()`` tells whether there are more.
    ///
    /// - Returns: Whether there were any.
    package mutating func run(at now: Instant) -> Bool {
        self.isRunPlanned = false
        guard !self.isPaused, !self.isProcessing, self.isRunDue() else { return false }
        self.beginProcessing()
        let start = self.units
        var batches = self.pending.take()
        if self.isUpToDate {
            batches.drain { events, connection, cost in
                if self.units &- start < self.budget.run, self.backlogs[connection ?? Self.own] == nil {
                    if self.hub == nil {
                        self.process(events, of: connection, cost, at: now)
                    } else {
                        self.processObserved(events, of: connection ?? Self.own, cost, at: now)
                    }
                } else {
                    self.enqueue(events, of: connection ?? Self.own, cost)
                }
            }
        } else {
            batches.drain { events, connection, cost in
                self.enqueue(events, of: connection ?? Self.own, cost)
            }
        }
        self.pending.recycle(batches)
        while self.units &- start < self.budget.run, let id = self.turns.popFirst() {
            self.takeTurn(id, at: now)
            // What the others get does not wait for the next long turn.
            if self.turns.hasDebts { break }
        }
        self.unitsOfLongestRun = max(self.unitsOfLongestRun, self.units &- start)
        // Gives the memory of a peak back.
        if self.backlogs.isEmpty, self.backlogs.capacity > 256 { self.backlogs = [:] }
        if self.hub != nil { self.tellObservers(at: now) }
        self.endShared()
        return true
    }

    private mutating func beginProcessing() {
        self.isProcessing = true
        self.hasRun = true
    }

    /// The work of the gateway so far.
    private var units: UInt64 { self.gateway.counters.work.units }

    /// Processes the events of a connection of which nothing waits. If they are more than a turn's budget, the rest will wait.
    private mutating func process(
        _ events: [Gateway.Event], of connection: ConnectionID?, _ cost: Int, at now: Instant
    ) {
        var actions = self.actions.take()
        let (count, hasSteps) = self.gateway.handle(
            events, budget: self.budget.turn, framesMax: self.budget.frames, seenBy: self.tap, at: now,
            into: &actions)
        actions.drain { self.perform($0, of: connection, at: now) }
        self.actions.recycle(actions)
        guard count < events.count || hasSteps else { return self.endBatch(of: connection, cost) }
        self.enqueue(events, after: count, of: connection ?? Self.own, cost)
    }

    /// The same, one event after the other: observers must see what follows from each.
    private mutating func processObserved(
        _ events: [Gateway.Event], of id: ConnectionID, _ cost: Int, at now: Instant
    ) {
        var backlog = Backlog()
        backlog.append(events, cost, after: 0)
        self.process(&backlog, of: id, at: now)
    }

    /// Queues a batch, of whose events `count` are processed.
    private mutating func enqueue(
        _ events: [Gateway.Event], after count: Int = 0, of id: ConnectionID, _ cost: Int
    ) {
        self.backlogs[id, default: Backlog()].append(events, cost, after: count)
        self.queueTurn(of: id)
    }

    /// Gives a connection another turn, unless it is held or has one already.
    private mutating func queueTurn(of id: ConnectionID) {
        guard self.backlogs[id]?.isQueued == false, self.holds[id] == nil else { return }
        self.backlogs[id]?.isQueued = true
        self.turns.append(id, of: self.payer(of: id))
    }

    private func payer(of id: ConnectionID) -> Payer { self.assignments[id]?.payer ?? .gateway }

    /// Processes events that wait, until the budget of a turn is spent.
    private mutating func takeTurn(_ id: ConnectionID, at now: Instant) {
        guard var backlog = self.backlogs[id], self.holds[id] == nil else {
            self.backlogs[id]?.isQueued = false
            return
        }
        self.backlogs[id] = nil
        self.process(&backlog, of: id, at: now)
    }

    /// The same, of a connection of which nothing else waits.
    private mutating func process(_ backlog: inout Backlog, of id: ConnectionID, at now: Instant) {
        let connection = id == Self.own ? nil : id
        var actions = self.actions.take()
        let start = self.units
        let isObserved = self.hub != nil
        while var event = self.nextEvent(of: connection, &backlog) {
            let count = actions.count
            if isObserved { self.identify(&event) }
            if isObserved, case .departed(let id, _) = event { self.hub?.noteParty(of: id, in: self.gateway) }
            self.gateway.handle(event, seenBy: self.tap, at: now, into: &actions)
            if isObserved { self.observe(event, actions[count...], at: now) }
            if self.units &- start >= self.budget.turn { break }
        }
        self.turns.charge(self.payer(of: id), turns: Int((self.units &- start) / self.budget.turn) - 1)
        actions.drain { self.perform($0, of: connection, at: now) }
        self.actions.recycle(actions)
        guard !backlog.batches.isEmpty || self.gateway.hasSteps(of: connection) else {
            if backlog.isClosed {
                self.remove(id)
                self.forgotten.append(id)
            }
            return
        }
        backlog.isQueued = false
        self.backlogs[id] = backlog
        self.queueTurn(of: id)
    }

    /// The next event of a connection: the steps of an operation come before what follows it.
    private mutating func nextEvent(of connection: ConnectionID?, _ backlog: inout Backlog) -> Gateway.Event?
    {
        if self.gateway.hasSteps(of: connection) { return .stepDue(of: connection) }
        while let (events, cost) = backlog.batches.first {
            guard backlog.next < events.count else {
                backlog.batches.removeFirst()
                backlog.next = 0
                self.endBatch(of: connection, cost)
                continue
            }
            guard let rest = events[backlog.next].split(after: self.budget.frames) else {
                backlog.next += 1
                return events[backlog.next - 1]
            }
            backlog.batches[0].events[backlog.next] = rest.rest
            return rest.first
        }
        return nil
    }

    /// All events of a batch are processed.
    private mutating func endBatch(of connection: ConnectionID?, _ cost: Int) {
        guard cost != Self.unreadCost, let connection, let loop = self.loop(of: connection) else { return }
        let batch = ProcessedBatch(connection: connection, cost: cost)
        if loop == 0 {
            self.home.batchesDone.append(batch)
        } else {
            self.others[loop - 1].batchesDone.append(batch)
        }
    }

    /// A loop has begun to send a large audience what a connection published, and will need several rounds: the connection gets no turn
    /// until ``release(_:)``.
    package mutating func hold(_ id: ConnectionID) { self.holds[id, default: 0] += 1 }

    /// The audience was sent all of it.
    package mutating func release(_ id: ConnectionID) {
        guard let count = self.holds[id] else { return }
        self.holds[id] = count > 1 ? count - 1 : nil
        if count == 1 { self.queueTurn(of: id) }
    }

    /// The cost of events that no connection has read: its loop hears nothing of their end.
    package static let unreadCost = -1
    /// Stands for the driver among connections.
    private static let own = ConnectionID(0)

    // MARK: What the driver must do

    /// What follows from the events that were processed, but for the instructions for other loops.
    package struct Work {
        /// For the gateway's own loop.
        package var instructions: [Instruction]
        /// What was processed of that loop's connections.
        package var batchesDone: [ProcessedBatch]
        /// The instant at which to call ``deadlineReached(at:)``, in place of the one before; nil if that has not changed.
        package let deadline: Instant?
        /// For the log, each with the connection whose batch led to it.
        package var notes: [Note]
        /// Connections that ``forget(_:)`` put off, and that are forgotten now.
        package let forgotten: [ConnectionID]
    }

    package typealias Note = (note: Gateway.Note, cause: ConnectionID?)

    /// Instructions for another loop than the gateway's, and what was processed of its connections; nil if that loop need not be woken: as
    /// long as its connections are sure to be read on, it is not woken just to hear of batches.
    package mutating func takeInstructions(
        for loop: Int
    ) -> (instructions: [Instruction], batchesDone: [ProcessedBatch])? {
        let work = self.others[loop - 1]
        guard
            work.batchesDone.count >= LoopCore.batchesMax - 1 || !work.instructions.isEmpty
                || work.batchesDone.elements.contains(where: { $0.cost > LoopCore.cheapBatchCostMax })
        else { return nil }
        self.others[loop - 1] = LoopWork()
        return (work.instructions.elements, work.batchesDone.elements)
    }

    package mutating func takeWork() -> Work {
        defer { if !self.forgotten.isEmpty { self.forgotten = [] } }
        return Work(
            instructions: self.home.instructions.take(), batchesDone: self.home.batchesDone.take(),
            deadline: self.takeDeadline(), notes: self.notes.isEmpty ? [] : self.notes.take(),
            forgotten: self.forgotten)
    }

    /// The driver has done everything, and gives the memory of its emptied arrays back.
    package mutating func endProcessing(_ work: consuming Work) {
        self.home.instructions.recycle(work.instructions)
        self.home.batchesDone.recycle(work.batchesDone)
        if work.notes.capacity > 0 { self.notes.recycle(work.notes) }
        self.isProcessing = false
    }

    // MARK: Actions

    private mutating func perform(
        _ action: consuming Gateway.Action, of cause: ConnectionID?, at now: Instant
    ) {
        switch consume action {
        case .publish(let audience, let frames): self.publish(frames, to: audience, of: cause)
        case .admit(let id, var welcome):
            welcome.software = self.software
            welcome.gateway = self.gateway.identity
            self.instruct(id, .session(id, .admitted(welcome)))
        case .observe(let id, let hello, let old, let principal, let subject, let token):
            self.admit(id, hello, old, principal, subject, token, at: now)
        case .refuse(let id, let goodbye), .close(let id, let goodbye):
            self.instruct(id, .session(id, .closeRequested(goodbye)))
        case .send(let id, let envelope):
            let frame = self.encoder.encode(envelope)
            if let relay = Relay(of: envelope, from: cause) {
                self.instruct(id, .relay(id, frame, relay))
            } else {
                self.instruct(id, .send(id, frame))
            }
        case .forward(let id, let request, let vehicle, let session):
            let frame = Codec.frame(of: request, from: vehicle, session: session)
            self.instruct(id, .relay(id, frame, .request(vehicle, request.requestID)))
        case .sendFrames(let id, let frames):
            for frame in frames { self.instruct(id, .send(id, frame)) }
        case .join(let id, let audience):
            self.instruct(id, .join(id, audience))
            self.join(id, audience)
        case .leave(let id, let audience):
            self.instruct(id, .leave(id, audience))
            self.leave(id, audience)
        case .purge(let id, let session): self.instruct(id, .purge(id, session))
        case .purgeShares(let id, let session): self.instruct(id, .purgeShares(id, session))
        case .arm(let deadline): self.gatewayDeadline = deadline
        case .note(let note): self.notes.append((note, cause))
        }
    }

    /// Frames for an audience: what is published in a row is sent together.
    private mutating func publish(
        _ frames: PublishedFrames, to audience: AudienceID, of cause: ConnectionID?
    ) {
        let recent = self.shared.indices.suffix(Self.sharedLookedAtMax)
        if let index = recent.last(where: { self.shared[$0].audience == audience }) {
            self.shared[index].batch.append(frames)
        } else {
            var batch = SharedBatch(of: cause)
            batch.append(frames)
            self.shared.append((audience, batch))
        }
    }

    /// An instruction for a connection, behind all that was published before.
    mutating func instruct(_ id: ConnectionID, _ instruction: consuming Instruction) {
        guard let loop = self.loop(of: id) else { return }
        self.endShared()
        if loop == 0 {
            self.home.instructions.append(instruction)
        } else {
            self.others[loop - 1].instructions.append(instruction)
        }
    }

    var loopCount: Int { self.others.count + 1 }

    /// An instruction for every loop.
    mutating func instructAll(_ instruction: Instruction) {
        self.endShared()
        self.home.instructions.append(instruction)
        for index in self.others.indices { self.others[index].instructions.append(instruction) }
    }

    /// Ends the shared batches: instructions that follow are performed after them.
    private mutating func endShared() {
        guard !self.shared.isEmpty else { return }
        var shared = self.shared
        self.shared = []
        shared.drain { audience, batch in
            for loop in self.reach.loops(of: audience) {
                self.others[loop - 1].instructions.append(.publish(audience, batch))
            }
            self.home.instructions.append(.publish(audience, batch))
        }
        self.shared = shared
    }

    /// The loop of a connection, or nil if it has closed. With a single loop the look-up is skipped; the loop ignores unknown ids.
    package func loop(of id: ConnectionID) -> Int? {
        self.others.isEmpty ? 0 : self.assignments[id].map { Int($0.loop) }
    }
}

/// A batch of a connection's events that the gateway has processed.
package struct ProcessedBatch: Sendable {
    package let connection: ConnectionID
    /// Of reading it, see ``LoopCore/Budget``.
    package let cost: Int

    package init(connection: ConnectionID, cost: Int) {
        self.connection = connection
        self.cost = cost
    }
}

/// What the gateway wants done on one event loop, and what was processed of its connections and that loop has not yet been told.
private struct LoopWork {
    var instructions = RecycledArray<Instruction>()
    var batchesDone = RecycledArray<ProcessedBatch>()
}

/// The event loops but the first on which an audience has members: the others are not woken for it.
private struct AudienceReach {
    /// Members by loop.
    private var counts: [AudienceID: [Int: Int]] = [:]

    func loops(of audience: AudienceID) -> Dictionary<Int, Int>.Keys { (self.counts[audience] ?? [:]).keys }

    mutating func join(_ audience: AudienceID, on loop: Int) {
        guard loop > 0 else { return }
        self.counts[audience, default: [:]][loop, default: 0] += 1
    }

    mutating func leave(_ audience: AudienceID, on loop: Int) {
        guard let count = self.counts[audience]?[loop] else { return }
        self.counts[audience]?[loop] = count > 1 ? count - 1 : nil
        if self.counts[audience]?.isEmpty == true { self.counts[audience] = nil }
    }
}
