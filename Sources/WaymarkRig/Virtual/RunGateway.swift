internal import GatewayInMemory
internal import WaymarkProtocol

/// The gateway of a run: in this process, in virtual time, or behind sockets. Exactly one of both is there.
struct RunGateway {
    var host: GatewayHost?
    var sockets: SocketGateway?

    func inputRoom(of id: ConnectionID) -> Int {
        self.host?.inputRoom(of: id) ?? self.sockets?.inputRoom(of: id) ?? 0
    }

    mutating func receive(_ bytes: [UInt8], on id: ConnectionID) {
        self.host?.receive(bytes, on: id)
        self.sockets?.receive(bytes, on: id)
    }

    mutating func peerClosed(_ id: ConnectionID) {
        self.host?.peerClosed(id)
        self.sockets?.peerClosed(id)
    }

    mutating func reset(_ id: ConnectionID, at now: Instant) {
        self.host?.reset(id, at: now)
        self.sockets?.reset(id)
    }

    mutating func takeOutput(
        of id: ConnectionID, atMost bytesMax: Int
    ) -> (bytes: [UInt8], isEnded: Bool) {
        self.host?.takeOutput(of: id, atMost: bytesMax)
            ?? self.sockets?.takeOutput(of: id, atMost: bytesMax) ?? ([], true)
    }

    func outputCount(of id: ConnectionID) -> Int {
        self.host?.outputCount(of: id) ?? self.sockets?.outputCount(of: id) ?? 0
    }

    func isEnded(_ id: ConnectionID) -> Bool { self.host?.isEnded(id) ?? self.sockets?.isEnded(id) ?? true }

    mutating func settle(at now: Instant) { self.host?.settle(at: now) }

    var deadline: Instant? { self.host?.deadline }

    mutating func deadlineReached(at now: Instant) { self.host?.deadlineReached(at: now) }
}
