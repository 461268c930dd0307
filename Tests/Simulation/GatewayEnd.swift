internal import GatewayInMemory
internal import WaymarkCodec
internal import WaymarkConnections
internal import WaymarkGateway
internal import WaymarkProtocol

// The gateway's end of the network: drives `LoopCore` and `GatewayCore` with pipes, as `WaymarkTransport` does with SwiftNIO.
extension SimulatedNetwork {
    // MARK: Reading

    mutating func readAtGateway(_ id: ConnectionID, byteCount: Int) {
        guard let connection = self.connections[id], !connection.isClosed,
            self.loops[connection.loop].mayRead(connection.slot)
        else { return }
        let bytes = connection.toGateway.read(byteCount)
        guard bytes.isEmpty else {
            return self.change(connection.loop) { core, now, send, actions in
                unsafe core.receive(
                    connection.slot, bytes.span.bytes, isReadOver: true, at: now, send, into: &actions)
            }
        }
        if connection.toGateway.isAtEnd { self.closeTransport(connection) }
    }

    private mutating func closeTransport(_ connection: SimulatedConnection) {
        if self.loops[connection.loop].isInMidFrame(connection.slot) {
            self.happenings.insert(.cutInMidFrame)
        }
        self.change(connection.loop) { core, now, send, actions in
            core.transportClosed(connection.slot, at: now, send, into: &actions)
        }
        self.remove(connection.id)
    }

    /// Forgets a connection at both ends.
    mutating func remove(_ id: ConnectionID) {
        guard let connection = self.connections[id] else { return }
        self.connections[id] = nil
        self.connectionIDs.removeAll { $0 == id }
        self.change(connection.loop) { core, now, _, actions in
            core.remove(connection.slot, at: now, into: &actions)
        }
    }

    // MARK: Writing

    /// Lets the channel of a connection write as much as the pipe has room for.
    mutating func pump(_ id: ConnectionID, ignoringWindow: Bool = false) {
        guard let connection = self.connections[id] else { return }
        while connection.pump(ignoringWindow: ignoringWindow) {
            self.change(connection.loop) { core, now, send, actions in
                core.channelWrote(connection.slot, at: now, send, into: &actions)
            }
        }
        if self.loops[connection.loop].conflatedCount(connection.slot) > 0 {
            self.happenings.insert(.conflated)
        }
    }

    // MARK: The cores

    /// Changes the core of a loop, then performs the resulting actions.
    mutating func change(
        _ loop: Int, _ body: (inout LoopCore, Instant, Send, inout [LoopCore.Action]) -> Void
    ) {
        let connections = self.connections
        let losesBytes = self.fault == .loseByte
        var actions: [LoopCore.Action] = []
        let send: Send = { socket, bytes in
            let count = connections[ConnectionID(UInt64(socket.rawValue))]?.accept(bytes) ?? 0
            return losesBytes && count < bytes.byteCount ? count + 1 : count
        }
        body(&self.loops[loop], self.now, send, &actions)
        for action in actions { self.perform(action, on: loop) }
    }

    private mutating func perform(_ action: LoopCore.Action, on loop: Int) {
        switch action {
        case .submit(let events, let id, let cost, let isReadOver):
            self.submit(events, from: id, cost: cost, isReadOver: isReadOver)
        case .admit(let slot, let hello): self.admit(hello, self.loops[loop].id(of: slot))
        case .write(let slot, let portion): self.write(portion, self.loops[loop].id(of: slot))
        case .close(let slot, let rest):
            self.close(self.loops[loop].id(of: slot), behind: Array(rest.joined())[...])
        case .note(let slot, let note): self.see(note, self.loops[loop].id(of: slot))
        case .arm(let deadline): self.loopDeadlines[loop] = deadline
        case .workLater: self.isWorkDue[loop] = true
        case .removed(let id): if !self.gateway.forget(id) { self.planRun() }
        case .hold(let id):
            self.happenings.insert(.deliveredInRounds)
            self.inspector.service.excuse(id)
            self.gateway.hold(id)
        case .release(let id):
            self.gateway.release(id)
            if self.gateway.isRunDue() { self.planRun() }
        case .measured(let measure):
            self.gateway.note(measure, at: self.now)
            if self.gateway.isRunDue() { self.planRun() }
        case .roomForObserver(let id):
            self.gateway.noteRoom(forObserver: id)
            if self.gateway.isRunDue() { self.planRun() }
        case .read, .drained: break  // Later steps query the core instead.
        }
    }

    private mutating func admit(_ hello: Hello, _ id: ConnectionID) {
        guard let connection = self.connections[id] else { return }
        self.nextToken += 1
        let token = ResumptionToken(high: 7, low: self.nextToken)
        var hello = hello
        if case .observer(var observer) = hello.role {
            observer.visibility = .all
            hello.role = .observer(observer)
        }
        self.change(connection.loop) { core, _, _, actions in
            core.arrive(
                connection.slot, hello, connection.principal, subject: connection.subject, token: token,
                into: &actions)
        }
    }

    private mutating func write(_ portion: ArraySlice<UInt8>, _ id: ConnectionID) {
        guard let connection = self.connections[id] else { return }
        connection.write(portion)
        if connection.isPeerGone, self.random.once(in: 2) {
            // Like NIO: when a write fails, the channel reads the remaining input and closes before the write returns.
            self.happenings.insert(.brokenWhileWriting)
            self.readAtGateway(id, byteCount: .max)
            if self.connections[id]?.hasInput == true { self.readAtGateway(id, byteCount: .max) }
        } else if self.fault == .overtakeChannel {
            self.change(connection.loop) { core, now, send, actions in
                core.channelWrote(connection.slot, at: now, send, into: &actions)
            }
        }
    }

    private mutating func close(_ id: ConnectionID, behind rest: ArraySlice<UInt8>) {
        guard let connection = self.connections[id] else { return }
        let more = self.fault == .writeAfterGoodbye ? Array(Codec.ping(nonce: 1).bytes) : []
        connection.close(behind: rest + more)
        self.pump(id)
        if connection.isPeerGone { self.remove(id) }
    }

    private mutating func see(_ note: LoopCore.Note, _ id: ConnectionID) {
        switch note {
        case .admitted: break
        case .rejected(let rejection):
            if let happening = Happening(.error(rejection)) { self.happenings.insert(happening) }
        case .closing(let goodbye):
            self.note { "\($0.name(id)) is sent \(goodbye)" }
            if let happening = Happening(.goodbye(goodbye)) { self.happenings.insert(happening) }
        }
    }

    // MARK: The gateway

    mutating func submit(
        _ events: [Gateway.Event], from id: ConnectionID?, cost: Int = 0, isReadOver: Bool = false
    ) {
        if let id, self.isVictim(id) { self.inspector.service.submit(id) }
        if self.gateway.submit(events, from: id, cost: cost, isReadOver: isReadOver, at: self.now) {
            self.carryOut()
        }
        self.planRun()
    }

    mutating func planRun() {
        if self.gateway.planRun() { self.isRunPlanned = true }
    }

    /// Ends the tick of the event loop: processes the queued events.
    mutating func endTick() {
        guard self.isRunPlanned else { return }
        self.isRunPlanned = false
        if self.gateway.run(at: self.now) { self.carryOut() }
        guard self.gateway.isRunDue() else { return }
        self.happenings.insert(.processedInTurns)
        self.planRun()
    }

    private mutating func carryOut() {
        for loop in self.loops.indices.dropFirst() {
            if let work = self.gateway.takeInstructions(for: loop) { self.loopWork[loop].append(work) }
        }
        var work = self.gateway.takeWork()
        for batch in work.batchesDone { self.inspector.service.endBatch(batch.connection) }
        self.change(0) { core, now, send, actions in
            core.perform(&work.instructions, &work.batchesDone, at: now, send, into: &actions)
        }
        self.gateway.endProcessing(work)
        self.collect()
        self.checkBounds()
        self.checkRoom()
        self.checkWaiting()
    }

    /// Whether something waits for the next tick of the gateway or of a loop.
    var isBusy: Bool {
        self.isRunPlanned || self.gateway.hasPending || self.isWorkDue.contains(true)
            || self.loopWork.contains { !$0.isEmpty }
    }

    /// Performs the gateway's instructions on the other loops, and one round of work on each loop.
    mutating func runLoops() {
        for loop in self.loops.indices where self.isWorkDue[loop] {
            self.isWorkDue[loop] = false
            self.change(loop) { core, now, send, actions in core.work(at: now, send, into: &actions) }
        }
        for loop in self.loops.indices.dropFirst() {
            while !self.loopWork[loop].isEmpty {
                var (instructions, batchesDone) = self.loopWork[loop].removeFirst()
                self.change(loop) { core, now, send, actions in
                    core.perform(&instructions, &batchesDone, at: now, send, into: &actions)
                }
            }
        }
        self.checkWaiting()
    }

    // MARK: Checks

    /// Two portions of what observers are told, which may be of short frames that cost more than their bytes.
    private static let observerBytesMax = 262_144

    /// No frames of a cancelled session wait for an endpoint, and no more bytes than the limit.
    private mutating func checkWaiting() {
        for id in self.connectionIDs {
            guard let connection = self.connections[id] else { continue }
            let core = self.loops[connection.loop]
            let waiting = core.waitingByteCount(of: connection.slot)
            guard waiting > 0 else { continue }
            if core.isOvertaking(connection.slot) { self.happenings.insert(.overtaken) }
            var bytesMax = self.outboxLimits.bytesMax
            if case .observer = connection.owner { bytesMax = Self.observerBytesMax }
            if waiting > bytesMax {
                self.report(.boundedMemory, "\(waiting) bytes wait for \(self.name(id))")
            }
            guard self.loopWork[connection.loop].isEmpty, !self.gateway.isProcessing else { continue }
            for session in core.waitingSessions(of: connection.slot)
            where !self.inspector.watch.mayReach(id, session) {
                self.report(
                    .nothingAfterCancelling, "frames of a cancelled session wait for \(self.name(id))")
            }
        }
    }

    private mutating func checkBounds() {
        let limits = self.policy.limits
        let holdings = self.gateway.gateway.holdings
        if holdings.retainedBytesMax > limits.retainedBytesMax {
            self.report(.boundedMemory, "a session retains \(holdings.retainedBytesMax) bytes")
        }
        if holdings.replayBytesMax > limits.replayBytesMax {
            self.report(.boundedMemory, "a session keeps \(holdings.replayBytesMax) bytes for resumption")
        }
        if holdings.outcomesMax > limits.outcomesKeptMax || holdings.openRequestsMax > limits.requestsOpenMax
        {
            self.report(.boundedMemory, "a vehicle has too many requests: \(holdings)")
        }
        if holdings.known != holdings.peerCount {
            self.report(.boundedMemory, "\(holdings.known) peers are known, \(holdings.peerCount) are there")
        }
    }
}
