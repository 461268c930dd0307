internal import GatewayInMemory
internal import WaymarkCodec
internal import WaymarkGateway
internal import WaymarkProtocol

// Network and process failures.
extension SimulatedNetwork {
    // MARK: The network

    /// Cuts a connection: of the bytes in transit to the gateway, only a part arrives; those in transit to the peer are lost. The
    /// gateway notices later, perhaps after the peer has reconnected.
    mutating func cut(_ id: ConnectionID) {
        guard let connection = self.connections[id], !connection.isPeerGone else { return }
        self.note { "\($0.name(id)) is cut" }
        let count = self.random.number(0...self.host.inputCount(of: id))
        self.atGateway { host, _ in host.cut(id, keeping: count) }
        self.losePeer(id)
    }

    /// Replaces the daemon by a new one without a handover: all connections and all state are lost.
    mutating func restartGateway() {
        self.note { _ in "the gateway restarts" }
        self.restartCount += 1
        self.happenings.insert(.restarted)
        for id in self.connectionIDs { self.losePeer(id) }
        self.connections = [:]
        self.identity.epoch += 1
        var gateway = Gateway(
            policy: self.policy, coder: Codec.coder,
            firstSession: SessionID(.random(in: 1...1 << 30, using: &self.source.random)))
        gateway.identity = self.identity
        self.atGateway { [gateway] host, _ in host.crash(before: gateway) }
        self.inspector.restart()
    }
}
