internal import DequeModule
package import WaymarkGateway
package import WaymarkProtocol

// The audiences, and what is sent to them.
//
// A batch for more endpoints than the budget of a round allows is sent in several rounds, and other connections are served in between.
// Nothing may overtake it: what else is for a member waits in its outbox behind the batch, see ``LoopCore/catchUp(_:)``.
extension LoopCore {
    /// Sends a shared batch to every member of an audience, or to one after the other if it has more than the budget allows.
    mutating func deliver(
        _ batch: inout SharedBatch, to id: AudienceID, _ send: Send, into actions: inout [Action]
    ) {
        guard let audience = self.audienceSlots[id] else { return }
        let count = self.audiences[audience].beginBatch()
        guard count <= self.room else {
            return self.deliverLater(batch, to: audience, into: &actions)
        }
        self.spend(count, into: &actions)
        let bytes = batch.bytes
        // Members whose sockets did not accept all of it. Why a second loop: the first one changes nothing and counts no references.
        var behind: [(member: Int, sentCount: Int)] = []
        let byteCount = Self.send(bytes, to: self.audiences[audience].sockets, send, &behind)
        self.totals.sent &+= UInt64(truncatingIfNeeded: byteCount &* (count &- behind.count))
        for (index, sentCount) in behind {
            self.totals.sent &+= UInt64(truncatingIfNeeded: sentCount)
            self.write(&batch, after: sentCount, to: Int(self.audiences[audience].members[index]))
        }
    }

    mutating func deliverLater(
        _ batch: SharedBatch, to audience: Int, into actions: inout [Action]
    ) {
        if !self.audiences[audience].isBehind { self.behind.append(audience) }
        self.isAnyBehind = true
        self.audiences[audience].queue(batch)
        actions.append(.hold(batch.cause))
        self.planWork(into: &actions)
    }

    /// Sends to some members of the audience whose turn it is.
    mutating func deliverMore(at now: Instant, _ send: Send, into actions: inout [Action]) {
        guard let audience = self.behind.popFirst(), var delivery = self.audiences[audience].deliveries.first
        else { return }
        let first = delivery.next
        let end = min(first + self.budget.turn, self.audiences[audience].members.count)
        let bytes = delivery.batch.bytes
        var byteCount = 0
        for index in first..<end {
            let member = Int(self.audiences[audience].members[index])
            guard !self.audiences[audience].has(delivery, member, at: index) else { continue }
            let socket = self.audiences[audience].sockets[index]
            let sentCount = socket == .none ? 0 : max(0, unsafe send(socket, bytes.span.bytes))
            byteCount += sentCount
            if sentCount < bytes.count { self.write(&delivery.batch, after: sentCount, to: member) }
        }
        self.totals.sent &+= UInt64(byteCount)
        self.room -= max(1, end - first)
        delivery.next = end
        self.audiences[audience].deliveries[0] = delivery
        self.flush(at: now, send, into: &actions)
        if end == self.audiences[audience].members.count {
            actions.append(.release(self.audiences[audience].endDelivery()))
        }
        if self.audiences[audience].isBehind {
            self.behind.append(audience)
        } else {
            self.removeIfEmpty(audience)
        }
        self.isAnyBehind = !self.behind.isEmpty
    }

    /// Queues for a connection what its audiences were sent and it was not, so that what follows cannot overtake it.
    @inline(__always)
    mutating func catchUp(_ slot: Slot) {
        if self.isAnyBehind { self.catchUpAll(slot) }
    }

    @inline(never)
    private mutating func catchUpAll(_ slot: Slot) {
        for seat in self.connections[slot].seats { self.catchUp(slot, in: seat.slot, at: seat.index) }
    }

    mutating func catchUp(_ slot: Slot, in audience: Int, at index: Int) {
        for number in self.audiences[audience].deliveries.indices {
            guard !self.audiences[audience].has(self.audiences[audience].deliveries[number], slot, at: index)
            else { continue }
            guard self.connections[slot].output.isOpen, !self.connections[slot].isClosing else { break }
            self.touch(slot)
            if let overflow = self.connections[slot].output.queue(
                &self.audiences[audience].deliveries[number].batch)
            {
                self.connections[slot].overflow = overflow
                break
            }
        }
        self.audiences[audience].noteUpToDate(slot)
    }

    /// Why never inlined: in the middle of its caller the loop has too few registers.
    ///
    /// - Returns: How many bytes there are.
    @inline(never)
    private static func send(
        _ bytes: ArraySlice<UInt8>, to sockets: [SocketID], _ send: Send,
        _ behind: inout [(member: Int, sentCount: Int)]
    ) -> Int {
        let span = unsafe bytes.span.bytes
        let list = sockets.span
        for index in list.indices {
            let sentCount = list[index] == .none ? 0 : send(list[index], span)
            if sentCount < span.byteCount { behind.append((index, max(0, sentCount))) }
        }
        return span.byteCount
    }

    mutating func write(
        _ batch: inout SharedBatch, after sentCount: Int, to slot: Slot
    ) {
        guard self.connections[slot].output.isOpen, !self.connections[slot].isClosing else { return }
        if let overflow = self.connections[slot].output.write(&batch, after: sentCount) {
            self.connections[slot].overflow = overflow
        }
        self.touch(slot)
    }

    // MARK: Audiences

    /// Puts a connection into an audience, unless it is in it.
    package mutating func join(_ id: ConnectionID, _ audience: AudienceID) {
        guard let slot = self.slots[number: id],
            !self.connections[slot].seats.contains(where: { $0.audience == audience })
        else { return }
        let place = self.audienceSlots[audience] ?? self.insert(audience)
        let index = self.audiences[place].add(slot, self.connections[slot].announcedSocket)
        self.audiences[place].noteUpToDate(slot)
        self.connections[slot].seats.append(
            Connection.Seat(
                audience: audience, slot: place, index: index, batchCount: self.audiences[place].batchCount))
    }

    mutating func insert(_ id: AudienceID) -> Int {
        let place: Int
        if let free = self.freeAudiences.popLast() {
            self.audiences[free] = AudienceMembers(id: id)
            place = free
        } else {
            place = self.audiences.count
            self.audiences.append(AudienceMembers(id: id))
        }
        self.audienceSlots[id] = place
        return place
    }

    mutating func leave(
        _ slot: Slot, _ audience: AudienceID, at now: Instant, into actions: inout [Action]
    ) {
        guard let number = self.connections[slot].seats.firstIndex(where: { $0.audience == audience }) else {
            return
        }
        self.noteShared(slot)
        self.catchUp(slot)
        let seat = self.connections[slot].seats.remove(at: number)
        // Another member moves to its place, where it is not looked at any more.
        if let last = self.audiences[seat.slot].members.last.map({ Int($0) }), last != slot,
            let other = self.seat(of: last, in: seat.slot),
            self.audiences[seat.slot].isBehind
        {
            self.catchUp(last, in: seat.slot, at: other.index)
            self.settle(last, at: now, into: &actions)
        }
        if let moved = self.audiences[seat.slot].remove(at: seat.index),
            let other = self.connections[moved].seats.firstIndex(where: { $0.slot == seat.slot })
        {
            self.connections[moved].seats[other].index = seat.index
        }
        self.removeIfEmpty(seat.slot)
    }

    func seat(of slot: Slot, in audience: Int) -> Connection.Seat? {
        self.connections[slot].seats.first { $0.slot == audience }
    }

    /// An audience that is behind stays until its turn, when its deliveries end.
    mutating func removeIfEmpty(_ audience: Int) {
        guard self.audiences[audience].isEmpty, !self.audiences[audience].isBehind,
            self.audienceSlots[self.audiences[audience].id] == audience
        else { return }
        self.audienceSlots[self.audiences[audience].id] = nil
        self.freeAudiences.append(audience)
        // Gives the memory of a peak back.
        if self.audienceSlots.isEmpty, self.audiences.count > Self.audiencesKeptMax {
            (self.audiences, self.freeAudiences, self.audienceSlots) = ([], [], [:])
        }
    }

    /// Tells the session of a connection if something was sent to its audiences since the last call.
    mutating func noteShared(_ slot: Slot) {
        for index in self.connections[slot].seats.indices {
            let seat = self.connections[slot].seats[index]
            let batchCount = self.audiences[seat.slot].batchCount
            guard batchCount != seat.batchCount else { continue }
            self.connections[slot].seats[index].batchCount = batchCount
            self.connections[slot].session.noteSent()
        }
    }
}
