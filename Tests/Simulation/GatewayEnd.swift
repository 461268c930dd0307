internal import GatewayInMemory
internal import WaymarkConnections
internal import WaymarkGateway
internal import WaymarkProtocol

// The gateway's end of the network: a `GatewayHost`, whose steps come in a random order.
extension SimulatedNetwork {
    /// Lets the gateway's end do something, and checks it.
    @discardableResult
    mutating func atGateway<Result>(
        _ body: (inout GatewayHost, Instant) throws -> Result
    ) rethrows -> Result {
        let result = try body(&self.host, self.now)
        self.checkSlowConsumers()
        for id in self.inspector.takeRemoved() {
            self.losePeer(id)
            self.connections[id] = nil
        }
        if self.host.takeHasRun() {
            self.collect()
            self.checkBounds()
            self.checkRoom()
            self.checkWaiting()
        }
        return result
    }

    mutating func readAtGateway(_ id: ConnectionID, byteCount: Int) {
        guard self.host.isOpen(id) else { return }
        self.atGateway { $0.read(id, atMost: byteCount, at: $1) }
    }

    /// Lets the channel of a connection write as much as the pipe has room for.
    mutating func pump(_ id: ConnectionID, ignoringWindow: Bool = false) {
        self.atGateway { $0.pump(id, ignoringRoom: ignoringWindow, at: $1) }
        if let (loop, slot) = self.host.place(of: id), self.host.loops[loop].core.conflatedCount(slot) > 0 {
            self.happenings.insert(.conflated)
        }
    }

    /// Ends the tick of the event loop: processes the queued events.
    mutating func endTick() {
        if self.atGateway({ $0.endTick(at: $1) }) { self.happenings.insert(.processedInTurns) }
    }

    /// Performs the gateway's instructions on the other loops, and one round of work on each loop.
    mutating func runLoops() {
        self.atGateway { $0.runLoops(at: $1) }
        self.checkWaiting()
    }

    // MARK: Checks

    /// Two portions of 32 768 bytes of what observers are told: at worst of frames without a body, each of which counts as 128 bytes more than
    /// the 24 that it has.
    private static let observerBytesMax = 2 * 32_768 / 24 * (24 + 128)

    /// No frames of a cancelled session wait for an endpoint, and no more bytes than the limit.
    private mutating func checkWaiting() {
        for id in self.connectionIDs {
            guard let (loop, slot) = self.host.place(of: id) else { continue }
            let core = self.host.loops[loop].core
            let waiting = core.waitingByteCount(of: slot)
            guard waiting > 0 else { continue }
            if core.isOvertaking(slot) { self.happenings.insert(.overtaken) }
            self.checkShare(of: id, core, slot)
            var bytesMax = self.outboxLimits.bytesMax
            if case .observer = self.connections[id]?.owner { bytesMax = Self.observerBytesMax }
            if waiting > bytesMax {
                self.report(.boundedMemory, "\(waiting) bytes wait for \(self.name(id))")
            }
            guard self.host.loops[loop].instructions.isEmpty else { continue }
            for session in core.waitingSessions(of: slot)
            where !self.inspector.watch.mayReach(id, session) {
                self.report(
                    .nothingAfterCancelling, "frames of a cancelled session wait for \(self.name(id))")
            }
        }
    }

    private mutating func checkBounds() {
        let limits = self.policy.limits
        let holdings = self.host.gateway.gateway.holdings
        if holdings.retainedBytesMax > limits.retainedBytesMax {
            self.report(.boundedMemory, "a session retains \(holdings.retainedBytesMax) bytes")
        }
        if holdings.replayBytesMax > limits.replayBytesMax {
            self.report(.boundedMemory, "a session keeps \(holdings.replayBytesMax) bytes for resumption")
        }
        if holdings.outcomesMax > limits.outcomesKeptMax || holdings.openRequestsMax > limits.requestsOpenMax
        {
            self.report(.boundedMemory, "a vehicle has too many requests: \(holdings)")
        }
        if holdings.known != holdings.peerCount {
            self.report(.boundedMemory, "\(holdings.known) peers are known, \(holdings.peerCount) are there")
        }
    }
}
