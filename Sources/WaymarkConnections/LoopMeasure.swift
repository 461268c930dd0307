package import WaymarkGateway
package import WaymarkProtocol

/// What the connections of event loops have done.
package struct LoopTotals: Sendable, Codable {
    package var accepted: UInt64 = 0
    /// By all transports, in bytes.
    package var received: UInt64 = 0
    package var sent: UInt64 = 0
    /// States that newer ones replaced while they waited.
    package var conflated: UInt64 = 0
    /// Welcomes, by role.
    package var admitted = CodeCounts()
    /// Welcomes to peers that resumed.
    package var resumed: UInt64 = 0
    /// Goodbyes of the gateway to peers that it had not admitted, by close code.
    package var refused = CodeCounts()
    /// Goodbyes of the gateway to peers that it had admitted, by close code.
    package var closed = CodeCounts()

    package init() {}

    /// Why not the others: ``Tallies`` hands them over.
    private enum CodingKeys: CodingKey { case accepted, received, sent, conflated }

    package mutating func add(_ other: LoopTotals) {
        self.accepted &+= other.accepted
        self.received &+= other.received
        self.sent &+= other.sent
        self.conflated &+= other.conflated
        self.admitted.add(other.admitted)
        self.resumed &+= other.resumed
        self.refused.add(other.refused)
        self.closed.add(other.closed)
    }

    /// Adds what one connection has done.
    mutating func add(_ connection: borrowing Connection) {
        self.sent &+= connection.output.sentByteCount
        self.conflated &+= connection.output.conflatedCount
        guard let code = connection.goodbyeCode?.rawValue else { return }
        if connection.isAdmitted { self.closed.add(of: code) } else { self.refused.add(of: code) }
    }
}

/// What event loops have done, and what waits for their connections.
package struct LoopMeasure: Sendable {
    package var totals = LoopTotals()
    package var connectionCount = 0
    package var waitingBytes = 0
    package var inputBytes = 0
    /// Of connections for which something is not 0, if that was asked for.
    package var connections: [ConnectionMeasure] = []

    package init() {}

    mutating func add(_ other: LoopMeasure) {
        self.totals.add(other.totals)
        self.connectionCount += other.connectionCount
        self.waitingBytes += other.waitingBytes
        self.inputBytes += other.inputBytes
        self.connections += other.connections
    }
}

extension LoopCore {
    /// O(connections).
    package mutating func measure(withConnections: Bool) -> LoopMeasure {
        var measure = LoopMeasure()
        measure.totals = self.totals
        measure.connectionCount = self.connectionCount
        (measure.waitingBytes, measure.inputBytes) = (self.waitingByteCount, self.inputByteCount)
        for slot in self.connections.indices {
            let id = self.connections[slot].id
            guard self.slots[number: id] == slot else { continue }
            measure.totals.add(self.connections[slot])
            guard withConnections else { continue }
            var connection = ConnectionMeasure(id)
            connection.waitingBytes = UInt64(self.connections[slot].output.heldByteCount)
            connection.inputBytes = UInt64(self.connections[slot].inputByteCount)
            connection.conflated = self.connections[slot].output.conflatedCount
            if connection != ConnectionMeasure(id) { measure.connections.append(connection) }
        }
        return measure
    }
}

// The frames that wait for one connection are counted here.
extension LoopCore {
    /// The navigation sessions of the frames that wait for a connection.
    package func waitingSessions(of slot: Slot) -> Set<SessionID> {
        Set(self.connections[slot].output.waitingFrames.map(\.frame.header.session))
    }
    /// Whether frames of sessions wait for a connection behind frames that go first.
    package func isOvertaking(_ slot: Slot) -> Bool {
        let waiting = self.connections[slot].output.waitingFrames
        return waiting.first?.frame.header.session == SessionID.none
            && waiting.contains { $0.frame.header.session != .none }
    }
    /// The most events of one endpoint that wait for a client.
    package func waitingEventCount(of slot: Slot) -> Int {
        var counts: [EndpointPath: Int] = [:]
        for case .event(let endpoint, _) in self.connections[slot].output.waitingFrames.compactMap(\.relay) {
            counts[endpoint, default: 0] += 1
        }
        return counts.values.max() ?? 0
    }
    /// What waits for a connection, in bytes.
    package func waitingByteCount(of slot: Slot) -> Int { self.connections[slot].output.waitingByteCount }
}
