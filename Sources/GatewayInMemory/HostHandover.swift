internal import StateCoding
internal import WaymarkCodec
package import WaymarkConnections
package import WaymarkGateway
package import WaymarkProtocol

// A handover: the next daemon continues every connection, with the state that this one encodes.
extension GatewayHost {
    /// Hands everything over. A peer that has not read what the channel still has to write is disconnected.
    ///
    /// - Throws: What encoding and decoding the state throws.
    package mutating func restart(at now: Instant) throws {
        self.settle(at: now)
        for id in self.order {
            self.suspend(id, at: now)
            self.pump(id, at: now)
        }
        try self.handOver(at: now)
        self.planRun()
        self.settle(at: now)
    }

    /// Reads a connection no more, and sends it nothing: the first step of a handover.
    package mutating func suspend(_ id: ConnectionID, at now: Instant) {
        guard self.isOpen(id), let (loop, slot) = self.place(of: id) else { return }
        self.change(loop, at: now) { core, send, actions in
            core.suspend(slot, at: now, send, into: &actions)
        }
    }

    /// Hands over once all connections are suspended. `inspect` sees the gateway before and after, and may change the connections.
    ///
    /// - Throws: What encoding and decoding the state throws.
    package mutating func handOver(
        at now: Instant,
        _ inspect: (Gateway, Gateway, inout [DetachedConnection]) -> Void = { _, _, _ in }
    ) throws {
        self.gateway.tellAtOnce()
        self.planRun()
        self.finishWork(at: now)
        // Peers of a lost connection may be sent more than their sockets accept.
        while let id = self.order.first(where: { !self.isMovable($0) }) {
            self.drop(id, at: now)
            self.finishWork(at: now)
        }
        let state = try Self.copy(GatewayState(self.gateway.gateway))
        guard let gateway = state.gateway(policy: self.policy, coder: Codec.coder) else {
            throw HandoverError.undecodable
        }
        var detached = try self.order.compactMap { id in
            try self.place(of: id).flatMap { self.loops[$0.loop].core.detach($0.slot) }.map {
                try Self.copy($0)
            }
        }
        let observation = try self.gateway.observationState.map { try Self.copy($0) }
        var totals = LoopTotals()
        for loop in self.loops.indices {
            totals.add(self.loops[loop].core.measure(withConnections: false).totals)
        }
        let tallies = try Self.copy(self.gateway.tallies(with: totals))
        let predecessor = self.gateway.gateway
        self.begin(gateway)
        inspect(predecessor, self.gateway.gateway, &detached)
        self.gateway.adopt(self.gateway.gateway, observation, tallies, at: now)
        self.gateway.isPaused = true
        for connection in detached { self.adopt(connection, at: now) }
        self.gateway.isPaused = false
        for id in self.order {
            guard let (loop, slot) = self.place(of: id) else { continue }
            self.change(loop, at: now) { core, send, actions in
                _ = core.resume(slot, at: now, send, into: &actions)
            }
        }
    }

    /// Processes events until none is queued on any loop.
    private mutating func finishWork(at now: Instant) {
        repeat {
            self.endTick(at: now)
            self.runLoops(at: now)
        } while self.isBusy()
    }

    /// Whether a connection can be handed over, or the gateway has forgotten it.
    private func isMovable(_ id: ConnectionID) -> Bool {
        self.place(of: id).map { self.loops[$0.loop].core.isDetachable($0.slot) } ?? true
    }

    private mutating func adopt(_ state: DetachedConnection, at now: Instant) {
        guard let end = self.ends[state.id] else { return }
        self.gateway.assign(state.id, to: end.loop, payer: end.origin.payer, in: state.audiences)
        let outbox = self.outbox
        var slot = 0
        self.change(end.loop, at: now) { core, _, actions in
            slot = core.adopt(state, payer: end.origin.payer, outbox: outbox, at: now, into: &actions)
            core.open(slot, Self.socket(state.id), at: now, into: &actions)
        }
        self.ends[state.id]?.slot = slot
    }

    /// The value as the next process decodes it.
    private static func copy<Value: Codable>(_ value: Value) throws -> Value {
        let bytes = try StateCoder.encode(value, format: GatewayState.format)
        return try StateCoder.decode(Value.self, from: bytes, format: GatewayState.format)
    }
}

/// The reason why a gateway cannot be handed over.
package enum HandoverError: Error, Hashable {
    /// A stored message of the encoded state cannot be decoded.
    case undecodable
}
