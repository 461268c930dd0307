package import WaymarkAccess
internal import WaymarkCodec
internal import WaymarkGateway
package import WaymarkProtocol

// What is read, and whose turn it is to be processed.
//
// No connection can keep the others waiting: once the loop has spent a turn's budget on the input of one, the rest waits until the others
// had their turns, and the connection is not read on. A round ends when its own budget is spent, and the loop does other things.
extension LoopCore {
    // MARK: Input

    /// Processes what was read, or queues it if the budget is spent.
    package mutating func receive(
        _ slot: Slot, _ read: RawSpan, isReadOver: Bool = false, at now: Instant, _ send: Send,
        into actions: inout [Action]
    ) {
        self.totals.received &+= UInt64(read.byteCount)
        let cost = self.connections[slot].read(
            read, isReadOver: isReadOver, at: now, slot, self.codecs,
            budget: self.room > 0 && self.mayProcess() ? self.budget.turn : 0, send, into: &actions)
        if cost < .max { self.spend(cost, into: &actions) }
        self.countSubmitted(slot)
        self.settle(slot, at: now, into: &actions)
        if cost >= self.budget.turn { self.queueInput(slot, into: &actions) }
    }

    /// Whether the gateway keeps up with what is submitted.
    private mutating func mayProcess() -> Bool { self.submittedCost < self.budget.submitted }

    private mutating func countSubmitted(_ slot: Slot) {
        self.submittedCost += self.connections[slot].submittedCost
        self.connections[slot].submittedCost = 0
    }

    /// Gives a connection a turn to process its input. Until then it is not read on.
    mutating func queueInput(_ slot: Slot, into actions: inout [Action]) {
        guard !self.connections[slot].isInputQueued else { return }
        self.connections[slot].isInputQueued = true
        self.queueTurn(slot, into: &actions)
    }

    /// Queues a turn, unless the gateway must process earlier batches first.
    mutating func queueTurn(_ slot: Slot, into actions: inout [Action]) {
        guard self.connections[slot].batchCount < Self.batchesMax else { return }
        self.connections[slot].hasTurn = true
        self.turns.append(slot, of: self.connections[slot].payer)
        self.planWork(into: &actions)
    }

    /// Processes the input of the connection whose turn it is.
    mutating func takeTurn(
        _ slot: Slot, at now: Instant, _ send: Send, into actions: inout [Action]
    ) {
        self.connections[slot].hasTurn = false
        // A suspended connection keeps its input, and one without a Welcome what follows its Hello.
        guard self.connections[slot].isInputQueued, !self.connections[slot].isAwaitingWelcome else { return }
        var cost = 0
        if !self.connections[slot].isClosing {
            cost = self.connections[slot].receive(
                isReadOver: true, at: now, slot, self.codecs, budget: self.budget.turn, send, into: &actions)
        }
        self.spend(max(1, cost), into: &actions)
        self.countSubmitted(slot)
        self.settle(slot, at: now, into: &actions)
        guard cost < self.budget.turn || self.connections[slot].isClosing else {
            return self.queueTurn(slot, into: &actions)
        }
        if self.connections[slot].isAwaitingWelcome, !self.connections[slot].isTransportClosed { return }
        self.connections[slot].isInputQueued = false
        if self.connections[slot].isTransportClosed {
            self.connections[slot].isTransportClosed = false
            self.endTransport(slot, at: now, into: &actions)
        }
        if self.connections[slot].isRemovalDue { return self.remove(slot, at: now, into: &actions) }
        if self.mayRead(slot) { self.readOn(slot, into: &actions) }
    }

    // MARK: Rounds

    /// Whether ``work(at:_:into:)`` is to be called.
    package mutating func hasPlannedWork() -> Bool { self.isWorkPlanned }

    /// Counts work of this round.
    mutating func spend(_ cost: Int, into actions: inout [Action]) {
        self.room -= cost
        if self.room < self.budget.round / 2 { self.planWork(into: &actions) }
    }

    mutating func planWork(into actions: inout [Action]) {
        guard !self.isWorkPlanned else { return }
        self.isWorkPlanned = true
        actions.append(.workLater)
    }

    /// Begins a round: processes input that waits, sends to audiences that are behind and to sockets that accept data again, until the budget
    /// is spent.
    package mutating func work(at now: Instant, _ send: Send, into actions: inout [Action]) {
        self.isWorkPlanned = false
        self.room = self.budget.round
        while self.room > 0, self.hasWork() {
            if self.mayProcess(), let slot = self.turns.popFirst() {
                self.takeTurn(slot, at: now, send, into: &actions)
            }
            self.deliverMore(at: now, send, into: &actions)
            self.sendMore(at: now, send, into: &actions)
        }
        self.unitsOfLongestRound = max(self.unitsOfLongestRound, self.budget.round - self.room)
        if self.hasWork() { self.planWork(into: &actions) }
    }

    private mutating func hasWork() -> Bool {
        !self.behind.isEmpty || !self.writable.isEmpty || (!self.turns.isEmpty && self.mayProcess())
    }

    /// Whether a connection may be read on. If not, ``Action/read(_:)`` follows once the gateway has caught up.
    package mutating func mayRead(_ slot: Slot) -> Bool {
        let isHeld =
            self.connections[slot].batchCount >= Self.batchesMax
            || (self.connections[slot].isInputQueued && !self.hasReadHelloOnly(slot))
        guard isHeld, !self.connections[slot].isClosing else { return true }
        self.connections[slot].isReadHeld = true
        return false
    }

    /// Whether nothing was read behind a Hello that is not answered. One read of what follows may wait.
    private mutating func hasReadHelloOnly(_ slot: Slot) -> Bool {
        self.connections[slot].isAwaitingWelcome && self.connections[slot].splitter.isEmpty
    }

    /// The driver has found out who said a Hello.
    package mutating func arrive(
        _ slot: Slot, _ hello: Hello, _ principal: Principal, subject: AccessSubject = AccessSubject(),
        token: ResumptionToken, into actions: inout [Action]
    ) {
        let id = self.connections[slot].id
        self.connections[slot].events.append(
            .arrived(id, hello, principal, subject: subject, token: token))
        self.connections[slot].submit(into: &actions)
    }

    /// The gateway has processed a batch. Its connection may have closed meanwhile.
    package mutating func end(_ batch: ProcessedBatch, into actions: inout [Action]) {
        self.submittedCost -= batch.cost
        if !self.turns.isEmpty, self.mayProcess() { self.planWork(into: &actions) }
        guard let slot = self.slots[number: batch.connection] else { return }
        self.connections[slot].batchCount -= 1
        guard self.connections[slot].batchCount < Self.batchesMax else { return }
        if !self.connections[slot].isInputQueued {
            self.readOn(slot, into: &actions)
        } else if !self.connections[slot].hasTurn {
            self.queueTurn(slot, into: &actions)
        }
    }

    mutating func readOn(_ slot: Slot, into actions: inout [Action]) {
        guard self.connections[slot].isReadHeld else { return }
        self.connections[slot].isReadHeld = false
        actions.append(.read(slot))
    }
}
