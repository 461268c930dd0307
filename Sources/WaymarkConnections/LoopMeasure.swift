package import WaymarkProtocol

/// What the connections of event loops have done.
package struct LoopTotals: Sendable, Codable {
    package var accepted: UInt64 = 0
    /// By all transports, in bytes.
    package var received: UInt64 = 0
    package var sent: UInt64 = 0
    /// States that newer ones replaced while they waited.
    package var conflated: UInt64 = 0

    package init() {}

    package mutating func add(_ other: LoopTotals) {
        self.accepted &+= other.accepted
        self.received &+= other.received
        self.sent &+= other.sent
        self.conflated &+= other.conflated
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
            guard self.slots[id] == slot else { continue }
            let conflated = self.connections[slot].output.conflatedCount
            measure.totals.conflated &+= conflated
            measure.totals.sent &+= self.connections[slot].output.sentByteCount
            guard withConnections else { continue }
            var connection = ConnectionMeasure(id)
            connection.waitingBytes = UInt64(self.connections[slot].output.heldByteCount)
            connection.inputBytes = UInt64(self.connections[slot].inputByteCount)
            connection.conflated = conflated
            if connection != ConnectionMeasure(id) { measure.connections.append(connection) }
        }
        return measure
    }
}
