internal import GatewayInMemory
internal import WaymarkConnections
internal import WaymarkGateway
internal import WaymarkProtocol

// A handover: a new daemon takes over the gateway, and the gateway's end of every connection.
extension SimulatedNetwork {
    /// Encodes the gateway and its ends of all connections, and replaces them by the decoded copies. The old gateway keeps handling
    /// the same events, for comparison; see ``GatewayInspector``.
    mutating func handOver() {
        self.note { _ in "the gateway is handed over" }
        self.happenings.insert(.handedOver)
        for id in self.connectionIDs where self.host.isOpen(id) {
            self.atGateway { $0.suspend(id, at: $1) }
            // Now and then only as much as the pipe has room for: a peer that has not read the rest is disconnected.
            self.pump(id, ignoringWindow: !self.random.once(in: 8))
        }
        let (inspector, losesWaiting) = (self.inspector, self.fault == .loseWaitingAtHandover)
        var isSame = true
        do {
            try self.atGateway { host, now in
                try host.handOver(at: now) { old, new, connections in
                    isSame = old == new
                    inspector.predecessor = old
                    inspector.predecessor?.forgetSnapshots()
                    inspector.observers.reset()
                    guard losesWaiting else { return }
                    for index in connections.indices { connections[index].dropWaiting() }
                }
            }
        } catch {
            self.report(.restartLosesNothing, "the state cannot be encoded and decoded: \(error)")
        }
        if !isSame { self.report(.restartLosesNothing, "the gateway's state differs after the handover") }
        self.endTick()
        self.runLoops()
    }
}
