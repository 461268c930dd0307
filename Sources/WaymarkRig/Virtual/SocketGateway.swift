internal import GatewayInMemory
package import WaymarkHistory
package import WaymarkProtocol

/// The gateway's end of a run over sockets: what has arrived from it, and what must be done to the sockets. A value without I/O.
///
/// It stands where ``GatewayInMemory/GatewayHost`` stands in virtual time. Its driver hands in what happens, and performs
/// ``takeOrders()``.
package struct SocketGateway: Sendable {
    /// What the driver must do to a socket, in order.
    package enum Order: Sendable, Hashable {
        /// For a peer. Nothing is read before `setReading`.
        case connect(ConnectionID, PeerID)
        case write(ConnectionID, [UInt8])
        /// Nothing is written after this.
        case endWriting(ConnectionID)
        /// What was written is still sent.
        case close(ConnectionID)
        /// What was written may be lost.
        case reset(ConnectionID)
        case setReading(ConnectionID, Bool)
    }

    /// One socket.
    private struct End: Sendable {
        var input = BytePipe()
        var isWritable = true
        var isReading = false
    }

    /// What is read before the peer's link reads it. Behind it the kernel's buffers fill, and then the gateway's outbox.
    private static let inputMax = 65_536

    private var ends: [ConnectionID: End] = [:]
    private var orders: [Order] = []
    private var lastConnection: UInt64 = 0

    init() {}

    /// What is to be done now, in order.
    mutating func takeOrders() -> [Order] {
        defer { self.orders = [] }
        return self.orders
    }

    // MARK: For the run

    mutating func connect(_ peer: PeerID) -> ConnectionID {
        self.lastConnection += 1
        let id = ConnectionID(self.lastConnection)
        self.ends[id] = End()
        self.orders.append(.connect(id, peer))
        return id
    }

    func inputRoom(of id: ConnectionID) -> Int { self.ends[id]?.isWritable == true ? Self.inputMax : 0 }

    mutating func receive(_ bytes: [UInt8], on id: ConnectionID) { self.orders.append(.write(id, bytes)) }

    mutating func peerClosed(_ id: ConnectionID) { self.orders.append(.endWriting(id)) }

    mutating func reset(_ id: ConnectionID) {
        guard self.ends.removeValue(forKey: id) != nil else { return }
        self.orders.append(.reset(id))
    }

    func outputCount(of id: ConnectionID) -> Int { self.ends[id]?.input.count ?? 0 }

    func isEnded(_ id: ConnectionID) -> Bool { self.ends[id]?.input.isAtEnd ?? true }

    /// Removes at most `bytesMax` bytes from those that arrived. `isEnded`: no more follow, and the socket is closed.
    mutating func takeOutput(
        of id: ConnectionID, atMost bytesMax: Int
    ) -> (bytes: [UInt8], isEnded: Bool) {
        guard let bytes = self.ends[id]?.input.read(bytesMax) else { return ([], true) }
        guard self.ends[id]?.input.isAtEnd == true else {
            self.adjustReading(id)
            return (bytes, false)
        }
        // The gateway closes both directions at a time, so it reads nothing more.
        self.ends[id] = nil
        self.orders.append(.close(id))
        return (bytes, true)
    }

    private mutating func adjustReading(_ id: ConnectionID) {
        guard let end = self.ends[id], !end.input.isEnded else { return }
        let isReading = end.input.count < Self.inputMax
        guard isReading != end.isReading else { return }
        self.ends[id]?.isReading = isReading
        self.orders.append(.setReading(id, isReading))
    }

    // MARK: For the driver

    /// - Returns: Whether the run still wants it.
    mutating func opened(_ id: ConnectionID) -> Bool {
        self.adjustReading(id)
        return self.ends[id] != nil
    }

    mutating func received(_ bytes: [UInt8], on id: ConnectionID) {
        self.ends[id]?.input.write(bytes)
        self.adjustReading(id)
    }

    /// The gateway has closed: what arrived before is still read.
    mutating func ended(_ id: ConnectionID) { self.ends[id]?.input.end() }

    /// The socket is gone.
    ///
    /// - Returns: Whether its end was not yet known.
    mutating func closed(_ id: ConnectionID) -> Bool {
        guard let end = self.ends[id], !end.input.isEnded else { return false }
        self.ends[id] = nil
        return true
    }

    mutating func setWritable(_ id: ConnectionID, _ isWritable: Bool) {
        self.ends[id]?.isWritable = isWritable
    }
}
