internal import StateCoding
internal import WaymarkCodec
internal import WaymarkGateway
internal import WaymarkProtocol

// The daemon goes and a new one goes on with everything: the gateway, and the gateway's end of every connection.
extension SimulatedNetwork {
    /// A frame that waits in an outbox.
    private struct Waiting: Codable {
        var frame: Frame
        var key: ConflationKey?
    }

    /// Replaces the gateway and all that belongs to connections by what is read from its bytes. From now on the gateway from
    /// before goes along, see ``goAlong(_:_:)``.
    mutating func handOver() {
        self.note { _ in "the gateway is handed over" }
        self.happenings.insert(.handedOver)
        do {
            let state = try Self.copy(GatewayState(self.gateway))
            guard let gateway = state.gateway(policy: self.policy, coder: Codec.coder) else {
                return self.report(.restartLosesNothing, "the gateway's messages cannot be read back")
            }
            if gateway != self.gateway {
                self.report(.restartLosesNothing, "the gateway is another after it was handed over")
            }
            self.predecessor = self.gateway
            self.gateway = gateway
            for id in self.connectionIDs { try self.handOver(id) }
        } catch {
            self.report(.restartLosesNothing, "what was written cannot be read: \(error)")
        }
    }

    private mutating func handOver(_ id: ConnectionID) throws {
        guard let connection = self.connections[id], !connection.isClosed else { return }
        let session = try Self.copy(connection.session)
        if session != connection.session {
            self.report(.restartLosesNothing, "the session of \(id) is another after it was handed over")
        }
        let waiting = connection.outbox.waiting.map { Waiting(frame: $0.frame, key: $0.key) }
        var outbox = Outbox(limits: self.outboxLimits)
        for entry in try Self.copy(waiting) where self.fault != .loseWaitingAtHandover {
            _ = outbox.append(entry.frame, key: entry.key)
        }
        self.connections[id]?.session = session
        self.connections[id]?.outbox = outbox
    }

    /// What another process reads of what this one writes.
    private static func copy<Value: Codable>(_ value: Value) throws -> Value {
        let bytes = try StateCoder.encode(value, format: GatewayState.format)
        return try StateCoder.decode(Value.self, from: bytes, format: GatewayState.format)
    }

    /// The gateway that was handed over must do, action for action, what it would have done if it had stayed.
    mutating func goAlong(_ event: Gateway.Event, _ actions: [Gateway.Action]) {
        var expected: [Gateway.Action] = []
        self.predecessor?.handle(event, at: self.now, into: &expected)
        if self.predecessor != nil, expected != actions {
            self.report(.restartLosesNothing, "handed over, the gateway does \(actions), before \(expected)")
        }
    }
}
