package import WaymarkGateway
package import WaymarkProtocol

/// The gateway's end of one connection, between two reads and with nothing half-written: what another process needs to continue it.
package struct DetachedConnection: Sendable, Codable {
    package let id: ConnectionID
    package let session: AcceptingSession
    /// The handshake is finished.
    package var isAdmitted: Bool { self.session.state == .active || self.session.state == .draining }
    /// When the session must handle `.deadlineReached`.
    let deadline: Instant?
    /// What was read and not processed: a part of a frame, and whatever arrived while the connection was suspended.
    let input: [UInt8]
    /// Frames that the peer has not yet read.
    var waiting: [Outbox.Waiting]
    /// See ``Output/limitPortions(to:)``.
    let portionBytes: UInt32
    package let audiences: [AudienceID]

    /// Drops the frames that wait: for the simulation, which must notice that.
    package mutating func dropWaiting() { self.waiting = [] }
}

// Connections that leave for another process, and connections that come from one.
extension LoopCore {
    /// Stops processing a connection's input and deadlines, and queues what is sent; ``Action/drained(_:)`` follows.
    package mutating func suspend(_ slot: Slot, at now: Instant, _ send: Send, into actions: inout [Action]) {
        guard !self.connections[slot].isClosing, !self.connections[slot].isSuspended,
            // Its end waits only for its turn.
            !self.connections[slot].isTransportClosed
        else { return }
        self.catchUp(slot)
        // Its input is processed when it resumes, or at its end.
        self.connections[slot].isInputQueued = false
        self.connections[slot].flush(slot, send, into: &actions)
        self.connections[slot].isSuspended = true
        self.connections[slot].batchCount += Self.batchesMax
        self.connections[slot].output.isSuspended = true
        self.settle(slot, at: now, into: &actions)
        if self.connections[slot].output.isDrained { actions.append(.drained(slot)) }
    }

    /// What another process needs to continue a suspended connection; nil if there is none, see ``isDetachable(_:)``.
    package mutating func detach(_ slot: Slot) -> DetachedConnection? {
        guard self.connections[slot].isDetachable else { return nil }
        self.noteShared(slot)
        let connection = self.connections[slot]
        return DetachedConnection(
            id: connection.id, session: connection.session, deadline: connection.deadline,
            input: connection.splitter.rest,
            waiting: connection.output.waitingFrames,
            portionBytes: UInt32(connection.output.portionBytes),
            audiences: connection.seats.map(\.audience).sorted { $0.rawValue < $1.rawValue })
    }

    /// Takes over a connection of another process, suspended until ``resume(_:at:_:into:)``, in the audiences that it was in.
    package mutating func adopt(
        _ detached: DetachedConnection, payer: Payer, outbox: Outbox.Limits, at now: Instant,
        into actions: inout [Action]
    ) -> Slot {
        var connection = Connection(
            detached.id, payer, detached.session, outbox, self.limits.portionBytes)
        connection.isSuspended = true
        connection.isAwaitingWelcome = detached.session.state == .admitting
        connection.isAdmitted = detached.isAdmitted
        connection.batchCount = Self.batchesMax
        connection.deadline = detached.deadline
        connection.splitter.append(detached.input)
        connection.output.isOpen = detached.session.state == .active
        connection.output.isSuspended = true
        connection.output.isForEndpoint = detached.session.role == .vehicle
        connection.output.limitPortions(to: detached.portionBytes)
        let isObserver = detached.session.role == .observer
        if isObserver { connection.output.liftOutboxLimit() }
        connection.overflow = connection.output.restore(detached.waiting)
        if isObserver { connection.output.boundAnswers() }
        let slot = self.insert(connection)
        for audience in detached.audiences { self.join(detached.id, audience) }
        self.settle(slot, at: now, into: &actions)
        return slot
    }

    /// Continues a suspended connection: what it sent meanwhile is processed, what waits is sent.
    ///
    /// - Returns: Whether it continues.
    package mutating func resume(
        _ slot: Slot, at now: Instant, _ send: Send, into actions: inout [Action]
    ) -> Bool {
        guard self.connections[slot].isSuspended else { return false }
        self.connections[slot].isSuspended = false
        self.connections[slot].batchCount -= Self.batchesMax
        self.connections[slot].output.isSuspended = false
        self.settle(slot, at: now, into: &actions)
        if !self.connections[slot].isClosing {
            self.connections[slot].flush(slot, send, into: &actions)
            self.queueInput(slot, into: &actions)
        }
        self.settle(slot, at: now, into: &actions)
        return !self.connections[slot].isClosing
    }
}
