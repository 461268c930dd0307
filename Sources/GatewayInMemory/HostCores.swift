internal import WaymarkConnections
package import WaymarkGateway
package import WaymarkProtocol

// The actions of the cores are carried out here.
extension GatewayHost {
    /// Changes the core of a loop, then performs the resulting actions.
    mutating func change(
        _ loop: Int, at now: Instant, _ body: (inout LoopCore, Send, inout [LoopCore.Action]) -> Void
    ) {
        var actions: [LoopCore.Action] = []
        let tap = self.tap
        // The loop is moved, because the closure changes the ends while the loop changes.
        var ends: [ConnectionID: End] = [:]
        swap(&ends, &self.ends)
        body(
            &self.loops[loop].core,
            { socket, bytes in ends[ConnectionID(UInt64(socket.rawValue))]?.accept(bytes, tap) ?? 0 },
            &actions)
        swap(&ends, &self.ends)
        for action in actions { self.perform(action, on: loop, at: now) }
    }

    private mutating func perform(_ action: LoopCore.Action, on loop: Int, at now: Instant) {
        switch action {
        case .submit(let events, let id, let cost, let isReadOver):
            self.submit(events, from: id, cost: cost, isReadOver: isReadOver, at: now)
        case .admit(let slot, let hello): self.admit(hello, loop, slot, at: now)
        case .write(let slot, let portion): self.write(portion, loop, slot, at: now)
        case .close(let slot, let rest):
            self.close(self.loops[loop].core.id(of: slot), behind: rest.joined(), at: now)
        // An earlier deadline stays until the timer fires.
        case .arm(let deadline):
            self.loops[loop].deadline = min(self.loops[loop].deadline ?? deadline, deadline)
        case .removed(let id): if !self.gateway.forget(id) { self.planRun() }
        case .hold(let id):
            self.tap?.see(.held, of: id)
            self.gateway.hold(id)
        case .release(let id):
            self.gateway.release(id)
            if self.gateway.isRunDue() { self.planRun() }
        case .measured(let measure):
            self.gateway.note(measure, at: now)
            if self.gateway.isRunDue() { self.planRun() }
        case .roomForObserver(let id):
            self.gateway.noteRoom(forObserver: id)
            if self.gateway.isRunDue() { self.planRun() }
        case .note(let slot, let note): self.tap?.see(.noted(note), of: self.loops[loop].core.id(of: slot))
        // The loop is asked instead, in every round.
        case .read, .drained, .workLater: break
        }
    }

    private mutating func admit(_ hello: Hello, _ loop: Int, _ slot: LoopCore.Slot, at now: Instant) {
        guard let origin = self.ends[self.loops[loop].core.id(of: slot)]?.origin else { return }
        var hello = hello
        if case .observer(var observer) = hello.role {
            observer.visibility = origin.visibility
            hello.role = .observer(observer)
        }
        let token = ResumptionToken(high: self.tokens.next(), low: self.tokens.next())
        self.change(loop, at: now) { [hello] core, _, actions in
            core.arrive(
                slot, hello, origin.principal, subject: origin.subject, token: token, into: &actions)
        }
    }

    private mutating func write(
        _ portion: ArraySlice<UInt8>, _ loop: Int, _ slot: LoopCore.Slot, at now: Instant
    ) {
        let id = self.loops[loop].core.id(of: slot)
        guard let end = self.ends[id], end.slot != nil else { return }
        self.ends[id]?.channel += portion
        self.ends[id]?.hasPortion = true
        switch self.tap?.write(on: id, isPeerGone: end.isPeerGone) ?? .waits {
        case .waits: break
        case .done:
            self.change(loop, at: now) { core, send, actions in
                core.channelWrote(slot, at: now, send, into: &actions)
            }
        case .fails: while self.isOpen(id), self.read(id, atMost: .max, at: now) {}
        }
    }

    private mutating func close(
        _ id: ConnectionID, behind rest: some Sequence<UInt8>, at now: Instant
    ) {
        // Bytes behind the end of its transport are lost.
        guard let end = self.ends[id], end.slot != nil else { return }
        self.ends[id]?.channel += rest
        if let tap { self.ends[id]?.channel += tap.bytesBehindGoodbye }
        self.ends[id]?.closesAt = now + self.limits.drainTimeout
        self.pump(id, at: now)
        if end.isPeerGone { self.drop(id, at: now) }
    }

    // MARK: The gateway

    /// The operator's settings change.
    package mutating func reconfigure(_ policy: Gateway.Policy, at now: Instant) {
        self.policy = policy
        self.submit([.policyChanged(policy)], from: nil, at: now)
    }

    private mutating func submit(
        _ events: [Gateway.Event], from id: ConnectionID?, cost: Int = 0, isReadOver: Bool = false,
        at now: Instant
    ) {
        if let id, cost != GatewayCore.unreadCost { self.tap?.see(.submitting, of: id) }
        if self.gateway.submit(events, from: id, cost: cost, isReadOver: isReadOver, at: now) {
            self.carryOut(at: now)
        }
        self.planRun()
    }

    mutating func planRun() { if self.gateway.planRun() { self.isRunPlanned = true } }

    /// Ends the tick of the gateway's loop: processes the queued events.
    ///
    /// - Returns: Whether events wait for the next one.
    @discardableResult
    package mutating func endTick(at now: Instant) -> Bool {
        guard self.isRunPlanned else { return false }
        self.isRunPlanned = false
        if self.gateway.run(at: now) { self.carryOut(at: now) }
        let isRunDue = self.gateway.isRunDue()
        if isRunDue { self.planRun() }
        return isRunDue
    }

    private mutating func carryOut(at now: Instant) {
        for loop in self.loops.indices.dropFirst() {
            if let (list, batchesDone) = self.gateway.takeInstructions(for: loop) {
                self.loops[loop].instructions.append((list, batchesDone))
            }
        }
        var work = self.gateway.takeWork()
        if let tap { for batch in work.batchesDone { tap.see(.processed, of: batch.connection) } }
        self.change(0, at: now) { core, send, actions in
            core.perform(&work.instructions, &work.batchesDone, at: now, send, into: &actions)
        }
        self.gateway.endProcessing(work)
    }

    /// Whether the gateway has run since the last call.
    package mutating func takeHasRun() -> Bool {
        defer { self.gateway.hasRun = false }
        return self.gateway.hasRun
    }

    // MARK: The loops

    /// Lets each loop do a round of the work that waits, and performs the gateway's instructions on the others.
    ///
    /// - Returns: Whether there were any.
    @discardableResult
    package mutating func runLoops(at now: Instant) -> Bool {
        var hasWorked = false
        for loop in self.loops.indices where self.loops[loop].core.hasPlannedWork() {
            hasWorked = true
            self.change(loop, at: now) { core, send, actions in core.work(at: now, send, into: &actions) }
        }
        for loop in self.loops.indices.dropFirst() {
            while !self.loops[loop].instructions.isEmpty {
                hasWorked = true
                var (list, batchesDone) = self.loops[loop].instructions.removeFirst()
                self.change(loop, at: now) { core, send, actions in
                    core.perform(&list, &batchesDone, at: now, send, into: &actions)
                }
            }
        }
        return hasWorked
    }

    /// Whether something waits for the next tick of the gateway or of a loop.
    package mutating func isBusy() -> Bool {
        if self.isRunPlanned || self.gateway.hasPending { return true }
        return self.loops.indices.contains {
            self.loops[$0].core.hasPlannedWork() || !self.loops[$0].instructions.isEmpty
        }
    }
}
