internal import WaymarkConnections
internal import WaymarkGateway
internal import WaymarkProtocol

/// Follows how much the gateway works for attackers while a victim's events wait, and what each event costs.
struct ServiceWatch {
    /// Violations that were not yet collected.
    var violations: [(Promise, String)] = []
    private var attackers: Set<ConnectionID> = []
    private var victims: Set<ConnectionID> = []
    /// The work for attackers so far.
    private var units: UInt64 = 0
    /// Of victims whose events wait: ``units`` when the gateway last served them, or when they began to wait.
    private var since: [ConnectionID: UInt64] = [:]
    /// Batches of a victim that were not processed.
    private var waiting: [ConnectionID: Int] = [:]
    /// The bound of what is done for attackers between two services of a victim; nil without attackers.
    private var gapMax: UInt64?

    /// No event may cost more: the frames of one event, the budget of its steps, and the longest step, which fits some frames.
    private var eventUnitsMax: UInt64 = 160

    /// Counts the work of attackers that share one payer.
    ///
    /// What a victim submits may come behind batches that a whole run is spent on. Then the attackers get at most a turn for each of
    /// its own; a turn may be one event too long. A victim that has reconnected may share its turns with its old connection.
    mutating func watch(_ budget: GatewayCore.Budget) {
        self.eventUnitsMax += UInt64(budget.frames)
        let turn = budget.turn + self.eventUnitsMax
        self.gapMax = budget.run + 3 * turn
    }

    mutating func addAttacker(_ id: ConnectionID) { self.attackers.insert(id) }

    mutating func addVictim(_ id: ConnectionID) { self.victims.insert(id) }
    /// Events that a connection submitted before it was removed may be processed behind others.
    mutating func removeVictim(_ id: ConnectionID) { self.victims.remove(id) }

    /// A new process knows nothing of the connections before.
    mutating func restart() {
        (self.attackers, self.victims) = ([], [])
        self.since = [:]
        self.waiting = [:]
    }

    /// A connection submits a batch.
    mutating func submit(_ id: ConnectionID) {
        guard self.victims.contains(id) else { return }
        if self.waiting[id] == nil { self.since[id] = self.units }
        self.waiting[id, default: 0] += 1
    }

    /// A batch of a connection was processed.
    mutating func endBatch(_ id: ConnectionID) {
        guard let count = self.waiting[id] else { return }
        self.waiting[id] = count > 1 ? count - 1 : nil
        if count == 1 { self.since[id] = nil }
    }

    /// A victim gets no turn for another reason, or is served again from now on.
    mutating func excuse(_ id: ConnectionID) { self.since[id] = nil }

    mutating func see(_ event: Gateway.Event, _ before: Gateway, _ after: Gateway) {
        guard let gapMax = self.gapMax else { return }
        let cost = after.counters.work.units &- before.counters.work.units
        if cost > self.eventUnitsMax { self.report("an event costs \(cost) units: \(event.line)") }
        guard let cause = event.cause else { return }
        if self.attackers.contains(cause) { self.units += cost }
        guard let since = self.since[cause] else { return }
        let gap = self.units - since
        if gap > gapMax { self.report("\(gap) units are done for attackers while a victim waits") }
        self.since[cause] = self.units
    }

    private mutating func report(_ text: String) { self.violations.append((.turnsAreFair, text)) }
}
