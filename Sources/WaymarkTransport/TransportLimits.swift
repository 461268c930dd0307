internal import WaymarkConnections
package import WaymarkGateway
package import WaymarkProtocol

/// The limits of the transport.
package struct TransportLimits: Sendable, Hashable {
    package var connections = ConnectionLedger.Limits()
    package var connection = ConnectionLimits()
    package var outbox = Outbox.Limits()
    /// The bytes that may wait for all endpoints together; above this, an endpoint that reads too slowly is disconnected.
    package var outboxBytesInAllMax = 536_870_912
    package var log = LogLimiter.Limits()
    /// The number of refused connections that wait for their Goodbye to be delivered; further ones are closed without a Goodbye.
    package var refusalsMax = 256

    package init() {}

    /// The share of each of `count` loops, so that a loop enforces its limits without asking the others.
    func ofLoop(among count: Int) -> LoopCore.Limits {
        LoopCore.Limits(
            waitingBytesMax: self.outboxBytesInAllMax / count,
            slowConsumerTimeout: self.outbox.slowConsumerTimeout)
    }
}
