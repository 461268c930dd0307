internal import WaymarkCodec
internal import WaymarkGateway
internal import WaymarkProtocol

// What goes wrong in a network.
extension SimulatedNetwork {
    // MARK: The network

    /// Breaks a connection: what is under way to the gateway ends in the middle, what is under way from it is lost. The gateway
    /// notices later, perhaps after the peer has come back.
    mutating func cut(_ id: ConnectionID) {
        guard let connection = self.connections[id], !connection.isPeerGone else { return }
        self.note { "\($0.name(id)) is cut" }
        self.connections[id]?.toGateway.cut(keeping: self.random.number(0...connection.toGateway.count))
        self.losePeer(id)
    }

    /// The daemon goes and a new one comes: every connection is lost, and nothing is remembered.
    mutating func restartGateway() {
        self.note { _ in "the gateway restarts" }
        self.restartCount += 1
        self.happenings.insert(.restarted)
        for id in self.connectionIDs {
            self.losePeer(id)
            self.remove(id)
        }
        self.beginGateway(
            Gateway(
                policy: self.policy, coder: Codec.coder,
                firstSession: SessionID(.random(in: 1...1 << 30, using: &self.random))))
        self.inspector.restart()
    }
}
