internal import WaymarkCodec
package import WaymarkGateway
package import WaymarkProtocol

/// Sees each event that the gateway processes, before its actions are performed. For the simulation, which checks and disturbs them.
package protocol GatewayTap: AnyObject {
    func processed(
        _ event: Gateway.Event, at now: Instant, before: Gateway, _ gateway: inout Gateway,
        _ actions: inout [Gateway.Action])
}

/// The gateway and everything about when it processes events and on which event loop its actions are performed.
///
/// Connections submit events in batches, one for each read. The first batch of an event-loop tick is processed at once; usually it
/// is the only one. Later batches of the same tick are queued and processed together at its end, so that several reads make one
/// write. What the gateway wants becomes one list of instructions for each loop, with consecutive frames for an audience in one
/// shared batch.
///
/// It does no I/O and reads no clock, see ``LoopCore``. After ``submit(_:from:isReadOver:at:)`` or ``run(at:)`` has returned true the
/// driver performs the instructions for all loops and the rest of ``takeWork()``, and then calls ``endProcessing(_:)``.
package struct GatewayCore {
    /// A connection's event loop and audiences.
    private struct Assignment {
        let loop: UInt16
        var audiences = SmallArray<AudienceID>()
    }

    package private(set) var gateway: Gateway
    private let encoder = CachingEncoder()
    /// The gateway's own software, for Welcomes.
    private let software: String
    private var assignments = ConnectionTable<Assignment>()
    /// For the gateway's own loop. Not one of ``others``, because most instructions are for this loop.
    private var home = LoopWork()
    /// For each other loop.
    private var others: [LoopWork]
    /// The batches for audiences since the last instruction for a single connection. Between two such instructions no endpoint
    /// changes its audience and each is in one at most, so batches for different audiences may be sent in any order.
    private var shared: [(audience: AudienceID, batch: SharedBatch)] = []
    private var reach = AudienceReach()
    private var pending = RecycledArray<(events: [Gateway.Event], connection: ConnectionID?)>()
    private var actions = RecycledArray<Gateway.Action>()
    private var notes = RecycledArray<Note>()
    private var deadline: Instant?
    /// A call of ``run(at:)`` is planned.
    private var isRunPlanned = false
    /// Re-entrancy guard. A failing write can make the transport read the remaining input and close before it returns; events that
    /// come that way are queued.
    package private(set) var isProcessing = false
    /// Nothing is processed while adopted connections are still being attached to their loops.
    package var isPaused = false
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
    package mutating func adopt(_ gateway: Gateway) { self.gateway = gateway }

    // MARK: Connections

    /// Assigns a connection to a loop.
    package mutating func assign(_ id: ConnectionID, to loop: Int) {
        self.assignments[id] = Assignment(loop: UInt16(loop))
    }

    /// Assigns an adopted connection, which is in these audiences already.
    package mutating func assign(_ id: ConnectionID, to loop: Int, in audiences: [AudienceID]) {
        self.assign(id, to: loop)
        for audience in audiences { self.join(id, audience) }
    }

    /// Forgets a connection.
    package mutating func forget(_ id: ConnectionID) {
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
    /// - Returns: Whether it was processed.
    package mutating func submit(
        _ events: [Gateway.Event], from connection: ConnectionID?, isReadOver: Bool, at now: Instant
    ) -> Bool {
        guard isReadOver, !self.isRunPlanned, !self.isProcessing, !self.isPaused else {
            self.pending.append((events, connection))
            return false
        }
        self.beginProcessing()
        self.process(events, of: connection, at: now)
        self.endShared()
        return true
    }

    /// Whether a call of ``run(at:)`` must be planned for the end of the tick; true once for each call.
    package mutating func planRun() -> Bool {
        defer { self.isRunPlanned = true }
        return !self.isRunPlanned
    }

    /// Events are queued.
    package var hasPending: Bool { !self.pending.isEmpty }

    /// Processes all queued batches.
    ///
    /// - Returns: Whether there were any.
    package mutating func run(at now: Instant) -> Bool {
        self.isRunPlanned = false
        guard !self.isPaused, !self.isProcessing, !self.pending.isEmpty else { return false }
        self.beginProcessing()
        var batches = self.pending.take()
        batches.drain { events, connection in self.process(events, of: connection, at: now) }
        self.pending.recycle(batches)
        self.endShared()
        return true
    }

    private mutating func beginProcessing() {
        self.isProcessing = true
        self.hasRun = true
    }

    private mutating func process(_ events: [Gateway.Event], of connection: ConnectionID?, at now: Instant) {
        var actions = self.actions.take()
        if let tap {
            for event in events {
                let before = self.gateway
                var next: [Gateway.Action] = []
                self.gateway.handle(event, at: now, into: &next)
                tap.processed(event, at: now, before: before, &self.gateway, &next)
                actions += next
            }
        } else {
            for event in events { self.gateway.handle(event, at: now, into: &actions) }
        }
        actions.drain { self.perform($0, of: connection) }
        self.actions.recycle(actions)
        guard let connection, let loop = self.loop(of: connection) else { return }
        if loop == 0 {
            self.home.batchesDone.append(connection)
        } else {
            self.others[loop - 1].batchesDone.append(connection)
        }
    }

    // MARK: What the driver must do

    /// What follows from the events that were processed, but for the instructions for other loops.
    package struct Work {
        /// For the gateway's own loop.
        package var instructions: [Instruction]
        /// Connections of that loop whose batches were processed.
        package var batchesDone: [ConnectionID]
        /// When to submit ``Gateway/Event/deadlineReached``, in place of the instant before; nil if that has not changed.
        package let deadline: Instant?
        /// For the log, each with the connection whose batch led to it.
        package var notes: [Note]
    }

    package typealias Note = (note: Gateway.Note, cause: ConnectionID?)

    /// Instructions for another loop than the gateway's, and its connections whose batches were processed; nil if that loop need not be
    /// woken: as long as a connection is sure to be read on, it is not woken just to hear of batches.
    package mutating func takeInstructions(
        for loop: Int
    ) -> (instructions: [Instruction], batchesDone: [ConnectionID])? {
        let work = self.others[loop - 1]
        guard work.batchesDone.count >= LoopCore.batchesMax - 1 || !work.instructions.isEmpty else {
            return nil
        }
        self.others[loop - 1] = LoopWork()
        return (work.instructions.elements, work.batchesDone.elements)
    }

    package mutating func takeWork() -> Work {
        defer { self.deadline = nil }
        return Work(
            instructions: self.home.instructions.take(), batchesDone: self.home.batchesDone.take(),
            deadline: self.deadline, notes: self.notes.isEmpty ? [] : self.notes.take())
    }

    /// The driver has done everything, and gives the memory of its emptied arrays back.
    package mutating func endProcessing(_ work: consuming Work) {
        self.home.instructions.recycle(work.instructions)
        self.home.batchesDone.recycle(work.batchesDone)
        if work.notes.capacity > 0 { self.notes.recycle(work.notes) }
        self.isProcessing = false
    }

    // MARK: Actions

    private mutating func perform(_ action: consuming Gateway.Action, of cause: ConnectionID?) {
        switch consume action {
        case .publish(let audience, let frames): self.publish(frames, to: audience)
        case .admit(let id, var welcome):
            welcome.software = self.software
            self.instruct(id, .session(id, .admitted(welcome)))
        case .refuse(let id, let goodbye), .close(let id, let goodbye):
            self.instruct(id, .session(id, .closeRequested(goodbye)))
        case .send(let id, let envelope): self.instruct(id, .send(id, self.encoder.encode(envelope)))
        case .forward(let id, let request, let vehicle, let session):
            self.instruct(id, .send(id, Codec.frame(of: request, from: vehicle, session: session)))
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
        case .arm(let deadline): self.deadline = deadline
        case .note(let note): self.notes.append((note, cause))
        }
    }

    /// Frames for an audience: what is published in a row is sent together.
    private mutating func publish(_ frames: PublishedFrames, to audience: AudienceID) {
        let recent = self.shared.indices.suffix(Self.sharedLookedAtMax)
        if let index = recent.last(where: { self.shared[$0].audience == audience }) {
            self.shared[index].batch.append(frames)
        } else {
            var batch = SharedBatch()
            batch.append(frames)
            self.shared.append((audience, batch))
        }
    }

    /// An instruction for a connection, behind all that was published before.
    private mutating func instruct(_ id: ConnectionID, _ instruction: consuming Instruction) {
        guard let loop = self.loop(of: id) else { return }
        self.endShared()
        if loop == 0 {
            self.home.instructions.append(instruction)
        } else {
            self.others[loop - 1].instructions.append(instruction)
        }
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

/// What the gateway wants done on one event loop, and its connections whose batches were processed and that have not yet been told.
private struct LoopWork {
    var instructions = RecycledArray<Instruction>()
    var batchesDone = RecycledArray<ConnectionID>()
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
