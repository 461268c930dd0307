internal import StateCoding
internal import WaymarkCodec
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
        for id in self.connectionIDs { self.suspend(id) }
        self.gateway.tellAtOnce()
        self.planRun()
        self.settle()
        do {
            let state = try Self.copy(GatewayState(self.gateway.gateway))
            guard var gateway = state.gateway(policy: self.policy, coder: Codec.coder) else {
                return self.report(.restartLosesNothing, "the gateway's state cannot be restored")
            }
            gateway.stepUnitsMax = self.stepUnitsMax
            if gateway != self.gateway.gateway {
                self.report(.restartLosesNothing, "the gateway's state differs after the handover")
            }
            let detached = self.connectionIDs.compactMap { id in
                self.connections[id].flatMap { connection in
                    self.loops[connection.loop].detach(connection.slot).map { (connection, $0) }
                }
            }
            let observation = try self.gateway.observationState.map { try Self.copy($0) }
            var totals = LoopTotals()
            for loop in self.loops.indices {
                totals.add(self.loops[loop].measure(withConnections: false).totals)
            }
            let tallies = try Self.copy(self.gateway.tallies(with: totals))
            var predecessor = self.gateway.gateway
            predecessor.forgetSnapshots()
            self.inspector.predecessor = predecessor
            self.inspector.observers.reset()
            self.beginGateway(gateway)
            self.gateway.adopt(self.gateway.gateway, observation, tallies, at: self.now)
            self.gateway.isPaused = true
            for (connection, state) in detached { self.adopt(try Self.copy(state), connection) }
        } catch {
            self.report(.restartLosesNothing, "the state cannot be encoded and decoded: \(error)")
        }
        self.resume()
    }

    /// Suspends a connection and flushes its output. Now and then only as much as the pipe has room for: a peer that has not read
    /// the rest is disconnected.
    private mutating func suspend(_ id: ConnectionID) {
        guard let connection = self.connections[id], !connection.isClosed else { return }
        self.change(connection.loop) { core, now, send, actions in
            core.suspend(connection.slot, at: now, send, into: &actions)
        }
        self.pump(id, ignoringWindow: !self.random.once(in: 8))
    }

    /// Processes events until none is queued on any loop. Closes connections that cannot be handed over.
    private mutating func settle() {
        self.finishWork()
        // What peers of a lost connection are sent may be more than they read.
        while let connection = self.connectionIDs.compactMap({ self.connections[$0] })
            .first(where: { !self.loops[$0.loop].isDetachable($0.slot) })
        {
            self.losePeer(connection.id)
            self.change(connection.loop) { core, now, send, actions in
                core.transportClosed(connection.slot, at: now, send, into: &actions)
            }
            self.remove(connection.id)
            self.finishWork()
        }
    }

    private mutating func finishWork() {
        repeat {
            self.endTick()
            self.runLoops()
        } while self.isBusy && self.violations.isEmpty
    }

    private mutating func adopt(_ state: DetachedConnection, _ connection: SimulatedConnection) {
        var state = state
        if self.fault == .loseWaitingAtHandover { state.dropWaiting() }
        let outbox = self.outboxLimits
        self.gateway.assign(
            state.id, to: connection.loop, payer: connection.payer, in: state.audiences)
        self.change(connection.loop) { core, now, _, actions in
            connection.slot = core.adopt(
                state, payer: connection.payer, outbox: outbox, at: now, into: &actions)
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

    /// The value as the next process decodes it.
    private static func copy<Value: Codable>(_ value: Value) throws -> Value {
        let bytes = try StateCoder.encode(value, format: GatewayState.format)
        return try StateCoder.decode(Value.self, from: bytes, format: GatewayState.format)
    }
}
