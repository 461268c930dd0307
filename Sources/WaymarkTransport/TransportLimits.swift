internal import WaymarkConnections
package import WaymarkGateway
package import WaymarkProtocol

/// What the transport allows.
package struct TransportLimits: Sendable, Hashable {
    package var connections = ConnectionLedger.Limits()
    package var connection = ConnectionLimits()
    package var outbox = Outbox.Limits()
    /// What may wait for all endpoints together, in bytes; over it whoever reads too slowly then is closed.
    package var outboxBytesInAllMax = 536_870_912
    package var log = LogLimiter.Limits()
    /// Refused peers that are told why at a time; further ones are just closed.
    package var refusalsMax = 256

    package init() {}

    /// What each of `count` loops has to itself, so that none has to ask the others.
    func ofLoop(among count: Int) -> LoopCore.Limits {
        LoopCore.Limits(
            waitingBytesMax: self.outboxBytesInAllMax / count,
            slowConsumerTimeout: self.outbox.slowConsumerTimeout)
    }
}
