internal import WaymarkFaults
internal import WaymarkHistory
package import WaymarkProtocol

/// What must happen to the gateway's process, over sockets.
package enum ProcessOrder: Sendable, Hashable {
    case kill, start, stop, resume, restart
}

// A run over sockets: the gateway is another process, and a driver with a clock performs what the run orders.
extension VirtualRun {
    /// The clock says this. Call it before anything is handed in.
    package mutating func setClock(_ instant: Instant) {
        guard instant > self.now else { return }
        self.now = instant
        self.rounds = 0
    }

    /// Processes what was handed in, and then what is due by the clock.
    ///
    /// - Throws: ``RunError``.
    package mutating func catchUp() throws(RunError) {
        try self.settle()
        self.fire()
        try self.settle()
    }

    /// What must be done to the gateway's sockets now, in order.
    package mutating func takeSocketOrders() -> [SocketGateway.Order] {
        self.gateway.sockets?.takeOrders() ?? []
    }

    /// What must happen to the gateway's process now, in order.
    package mutating func takeProcessOrders() -> [ProcessOrder] {
        defer { self.processOrders = [] }
        return self.processOrders
    }

    // MARK: Sockets of the gateway

    package mutating func socketOpened(_ id: ConnectionID) {
        guard self.gateway.sockets?.opened(id) == true,
            let index = self.cables.firstIndex(where: { $0.pending == id })
        else { return }
        self.open(index)
    }

    package mutating func socketFailed(_ id: ConnectionID, _ reason: String) {
        guard let index = self.cables.firstIndex(where: { $0.pending == id }) else { return }
        self.refuse(index, reason)
    }

    package mutating func socketReceived(_ bytes: [UInt8], on id: ConnectionID) {
        self.gateway.sockets?.received(bytes, on: id)
    }

    /// The gateway has closed its end.
    package mutating func socketEnded(_ id: ConnectionID) { self.gateway.sockets?.ended(id) }

    /// The socket is gone; without its end before, it was reset.
    package mutating func socketClosed(_ id: ConnectionID) {
        guard self.gateway.sockets?.closed(id) == true else { return }
        for index in self.cables.indices {
            guard let number = self.cables[index].number(of: id) else { continue }
            self.cables[index].connections.change(number) { $0.end = nil }
            self.handle(.ended(number, .toPeer, .reset), index)
            self.cables[index].connections.removeAll(where: \.isOver)
        }
    }

    package mutating func socketIsWritable(_ id: ConnectionID, _ isWritable: Bool) {
        self.gateway.sockets?.setWritable(id, isWritable)
    }
}
