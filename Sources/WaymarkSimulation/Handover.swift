internal import StateCoding
internal import WaymarkCodec
internal import WaymarkConnections
internal import WaymarkGateway
internal import WaymarkProtocol

// The daemon goes and a new one continues with everything: the gateway, and the gateway's end of every connection.
extension SimulatedNetwork {
    /// Replaces the gateway and its ends of all connections by what is read from their bytes. From now on the gateway from before is
    /// told the same events, see ``GatewayInspector``.
    mutating func handOver() {
        self.note { _ in "the gateway is handed over" }
        self.happenings.insert(.handedOver)
        for id in self.connectionIDs { self.suspend(id) }
        self.settle()
        do {
            let state = try Self.copy(GatewayState(self.gateway.gateway))
            guard let gateway = state.gateway(policy: self.policy, coder: Codec.coder) else {
                return self.report(.restartLosesNothing, "the gateway's messages cannot be read back")
            }
            if gateway != self.gateway.gateway {
                self.report(.restartLosesNothing, "the gateway is another after it was handed over")
            }
            let detached = self.connectionIDs.compactMap { id in
                self.connections[id].flatMap { connection in
                    self.loops[connection.loop].detach(connection.slot).map { (connection, $0) }
                }
            }
            self.inspector.predecessor = self.gateway.gateway
            self.beginGateway(gateway)
            self.gatewayDeadline = gateway.armed
            self.gateway.isPaused = true
            for (connection, state) in detached { self.adopt(try Self.copy(state), connection) }
        } catch {
            self.report(.restartLosesNothing, "what was written cannot be read: \(error)")
        }
        self.resume()
    }

    /// Suspends a connection and gives its socket time; a peer that reads nothing meanwhile is cut.
    private mutating func suspend(_ id: ConnectionID) {
        guard let connection = self.connections[id], !connection.isClosed else { return }
        self.change(connection.loop) { core, now, send, actions in
            core.suspend(connection.slot, at: now, send, into: &actions)
        }
        self.pump(id, ignoringWindow: !self.random.once(in: 8))
    }

    /// Until nothing is under way between the loops; connections that another process cannot continue are closed.
    private mutating func settle() {
        self.endTick()
        self.runLoops()
        for id in self.connectionIDs {
            guard let connection = self.connections[id],
                !self.loops[connection.loop].isDrained(connection.slot) || connection.isClosed
            else { continue }
            self.losePeer(id)
            self.change(connection.loop) { core, now, send, actions in
                core.transportClosed(connection.slot, at: now, send, into: &actions)
            }
            self.remove(id)
        }
        self.endTick()
        self.runLoops()
    }

    private mutating func adopt(_ state: DetachedConnection, _ connection: SimulatedConnection) {
        var state = state
        if self.fault == .loseWaitingAtHandover { state.dropWaiting() }
        let outbox = self.outboxLimits
        self.gateway.assign(state.id, to: connection.loop, in: state.audiences)
        self.change(connection.loop) { core, now, _, actions in
            connection.slot = core.adopt(state, outbox: outbox, at: now, into: &actions)
            core.open(connection.slot, connection.socket, at: now, into: &actions)
        }
    }

    private mutating func resume() {
        self.gateway.isPaused = false
        for id in self.connectionIDs {
            guard let connection = self.connections[id] else { continue }
            self.change(connection.loop) { core, now, send, actions in
                _ = core.resume(connection.slot, at: now, send, into: &actions)
            }
        }
        self.endTick()
        self.runLoops()
    }

    /// What another process reads of what this one writes.
    private static func copy<Value: Codable>(_ value: Value) throws -> Value {
        let bytes = try StateCoder.encode(value, format: GatewayState.format)
        return try StateCoder.decode(Value.self, from: bytes, format: GatewayState.format)
    }
}
