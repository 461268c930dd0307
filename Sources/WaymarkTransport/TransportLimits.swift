internal import WaymarkConnections
package import WaymarkGateway
package import WaymarkProtocol

/// The limits of the transport.
package struct TransportLimits: Sendable, Hashable {
    package var connections = ConnectionLedger.Limits()
    /// Of handshakes that fail, per user or IP address.
    package var failures = TokenBuckets<PeerAccount>.Limits()
    /// How much later a failed handshake is answered once the bucket is empty.
    package var failureDelay: Duration = .seconds(1)
    package var connection = ConnectionLimits()
    package var outbox = Outbox.Limits()
    /// The bytes that may wait for all endpoints together; above this, an endpoint that reads too slowly is disconnected.
    package var outboxBytesInAllMax = 536_870_912
    /// The same, for the endpoints of one user or IP address.
    package var outboxBytesPerUserMax = 268_435_456
    /// The bytes of frames that have not arrived completely, of all connections; above this, the one whose frame began first is closed.
    package var inputBytesInAllMax = 268_435_456
    /// The same, of one user or IP address.
    package var inputBytesPerUserMax = 67_108_864
    package var log = LogLimiter.Limits()
    /// The number of refused connections that wait for their Goodbye to be delivered; further ones are closed without a Goodbye.
    package var refusalsMax = 256

    package init() {}

    /// The share of each of `count` loops, so that a loop enforces its limits without asking the others. At least two of the largest
    /// frames fit, however many loops there are.
    func ofLoop(among count: Int) -> LoopCore.Limits {
        let inputMin = 4 * Int(self.connection.frameBytesMax)
        return LoopCore.Limits(
            waitingBytesMax: self.outboxBytesInAllMax / count,
            waitingBytesPerUserMax: max(self.outboxBytesPerUserMax / count, self.outbox.bytesMax),
            inputBytesMax: max(self.inputBytesInAllMax / count, inputMin),
            inputBytesPerUserMax: max(self.inputBytesPerUserMax / count, inputMin),
            slowConsumerTimeout: self.outbox.slowConsumerTimeout)
    }
}
