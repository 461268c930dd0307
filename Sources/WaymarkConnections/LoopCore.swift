internal import WaymarkCodec
package import WaymarkGateway
package import WaymarkProtocol

/// What the gateway wants done on one event loop, in order.
package enum Instruction: Sendable {
    // Why indirect: the event is large, and one of some hundred instructions.
    indirect case session(ConnectionID, AcceptingSession.Event)
    case send(ConnectionID, Frame)
    case publish(AudienceID, SharedBatch)
    case join(ConnectionID, AudienceID)
    case leave(ConnectionID, AudienceID)
    case purge(ConnectionID, SessionID)
    case purgeShares(ConnectionID, SessionID)
}

/// All connections of one event loop and the audiences that they are in: every decision about what is read and what is sent.
///
/// It does no I/O and reads no clock. A driver hands in what happens, and performs the actions in their order once the call has
/// returned. The one thing that is done at once is ``Send``. `WaymarkTransport` drives it with SwiftNIO, `WaymarkSimulation` with
/// pipes in memory.
package struct LoopCore {
    /// Names a connection here, until ``remove(_:)``.
    package typealias Slot = Int

    /// What the driver must do.
    package enum Action: Sendable {
        /// Hand events to the gateway. `isReadOver`: the connection does nothing more in this read.
        case submit([Gateway.Event], from: ConnectionID, isReadOver: Bool)
        /// Find out who says this Hello; answered by ``arrive(_:_:_:token:into:)`` or by a `closeRequested`.
        indirect case admit(Slot, Hello)
        /// Write this to the channel; answered by ``channelWrote(_:at:_:into:)`` once the socket has all of it.
        case write(Slot, ArraySlice<UInt8>)
        /// Write this to the channel, and close behind it.
        case close(Slot, [ArraySlice<UInt8>])
        /// Read on, which ``mayRead(_:)`` put off.
        case read(Slot)
        /// The socket of a suspended connection has everything that was sent.
        case drained(Slot)
        /// For the log.
        case note(Slot, Note)
        /// Call ``deadlineReached(at:_:into:)`` at this instant, or earlier. Replaces the one before.
        case arm(Instant)
    }

    /// What happened to a connection.
    package enum Note: Sendable {
        /// Its Hello was accepted.
        case admitted(isResumed: Bool)
        /// A message was rejected; the connection continues.
        indirect case rejected(Rejection)
        /// The gateway's end closes it.
        indirect case closing(Goodbye)
    }

    /// The limits of all connections of the loop.
    package struct Limits: Sendable, Hashable {
        /// What may wait for all connections together, in bytes, as ``Outbox`` counts them.
        package var waitingBytesMax: Int
        /// The same, for the connections of one user or IP address.
        package var waitingBytesPerUserMax: Int
        /// What all connections together may hold of frames that have not arrived completely, in bytes.
        package var inputBytesMax: Int
        /// The same, for the connections of one user or IP address.
        package var inputBytesPerUserMax: Int
        package var slowConsumerTimeout: Duration
        /// The most that the channel gets, and that leaves the outbox, at a time.
        package var portionBytes: Int

        package init(
            waitingBytesMax: Int, waitingBytesPerUserMax: Int = .max, inputBytesMax: Int = .max,
            inputBytesPerUserMax: Int = .max, slowConsumerTimeout: Duration, portionBytes: Int = 32_768
        ) {
            self.waitingBytesMax = waitingBytesMax
            self.waitingBytesPerUserMax = waitingBytesPerUserMax
            self.inputBytesMax = inputBytesMax
            self.inputBytesPerUserMax = inputBytesPerUserMax
            self.slowConsumerTimeout = slowConsumerTimeout
            self.portionBytes = portionBytes
        }
    }

    /// A connection is not read while the gateway has as many batches of it to process.
    package static let batchesMax = 4
    /// A connection that holds no more than this for output is not closed because all together hold too much.
    private static let fewBytes = 4_096
    /// How late a deadline may be handled, so that one timer serves many connections.
    package static let deadlineSlack = Duration.milliseconds(10)

    package var limits: Limits
    let codecs = LoopCodecs()
    var connections: [Connection] = []
    private var freeSlots: [Slot] = []
    private var slots = ConnectionTable<Slot>()
    private var audiences: [Audience] = []
    private var freeAudiences: [Int] = []
    private var audienceSlots: [AudienceID: Int] = [:]
    /// Connections to flush, in the order in which they were written to, so that the first answer waits the least.
    private var touched: [Slot] = []
    private var deadlines = DeadlineBuckets(width: Self.deadlineSlack)
    /// When the driver's timer fires; nil if it does not.
    private var armed: Instant?
    private var ledger = ByteLedger()
    /// What is held for all connections because their sockets accept nothing more, in bytes.
    package var waitingByteCount: Int { self.ledger.outputByteCount }
    /// What is held of frames that have not arrived completely, in bytes.
    package var inputByteCount: Int { self.ledger.inputByteCount }

    package init(limits: Limits) { self.limits = limits }

    // MARK: Connections

    package var connectionCount: Int { self.slots.count }
    package func slot(of id: ConnectionID) -> Slot? { self.slots[id] }
    package func id(of slot: Slot) -> ConnectionID { self.connections[slot].id }
    /// Whether the session of a connection has ended: nothing is read or written any more.
    package func isClosing(_ slot: Slot) -> Bool { self.connections[slot].isClosing }
    package func isSuspended(_ slot: Slot) -> Bool { self.connections[slot].isSuspended }
    /// Whether another process can continue a suspended connection: the socket has everything that was sent, and everything else could wait.
    package func isDetachable(_ slot: Slot) -> Bool { self.connections[slot].isDetachable }
    /// Whether the connection was read in the middle of a frame.
    package func isInMidFrame(_ slot: Slot) -> Bool { !self.connections[slot].splitter.isEmpty }
    /// Waiting states of a connection that newer ones replaced.
    package func conflatedCount(_ slot: Slot) -> UInt64 { self.connections[slot].output.conflatedCount }
    /// The navigation sessions of the frames that wait for a connection.
    package func waitingSessions(of slot: Slot) -> Set<SessionID> {
        Set(self.connections[slot].output.waitingFrames.map(\.frame.header.session))
    }
    /// What waits for a connection, in bytes.
    package func waitingByteCount(of slot: Slot) -> Int { self.connections[slot].output.waitingByteCount }

    /// Adds a connection that was accepted. It may be read and written once ``open(_:_:at:into:)`` was called.
    package mutating func add(
        _ id: ConnectionID, of account: PeerAccount = .unknown, limits: ConnectionLimits,
        outbox: Outbox.Limits, allowedRoles: Set<AcceptingSession.Role>, at now: Instant,
        into actions: inout [Action]
    ) -> Slot {
        var sessionActions: [AcceptingSession.Action] = []
        let session = AcceptingSession(
            limits: limits, allowedRoles: allowedRoles, at: now, into: &sessionActions)
        let slot = self.insert(Connection(id, session, outbox, self.limits.portionBytes), of: account)
        self.connections[slot].perform(sessionActions, slot, self.codecs, into: &actions)
        self.settle(slot, at: now, into: &actions)
        return slot
    }

    mutating func insert(_ connection: Connection, of account: PeerAccount) -> Slot {
        var connection = connection
        connection.account = self.ledger.open(account)
        let id = connection.id
        let slot: Slot
        if let free = self.freeSlots.popLast() {
            self.connections[free] = connection
            slot = free
        } else {
            slot = self.connections.count
            self.connections.append(connection)
        }
        self.slots[id] = slot
        return slot
    }

    /// The connection can be written; `socket` unless it is more than a plain socket.
    package mutating func open(
        _ slot: Slot, _ socket: SocketID?, at now: Instant, into actions: inout [Action]
    ) {
        self.connections[slot].output.socket = socket ?? .none
        self.settle(slot, at: now, into: &actions)
    }

    /// The transport of a connection has closed.
    package mutating func transportClosed(
        _ slot: Slot, at now: Instant, _ send: Send, into actions: inout [Action]
    ) {
        self.connections[slot].output.socket = .none
        if self.connections[slot].isSuspended {
            // What arrived before the end is processed.
            self.connections[slot].process(at: now, slot, self.codecs, into: &actions)
            self.connections[slot].submit(into: &actions)
        }
        // There is nothing left to close or to write to.
        self.connections[slot].isClosing = true
        self.handle(.transportClosed, on: slot, at: now, into: &actions)
        self.settle(slot, at: now, into: &actions)
    }

    /// Forgets a connection. O(its own audiences).
    package mutating func remove(_ slot: Slot) {
        guard self.slots[self.connections[slot].id] == slot else { return }
        for seat in self.connections[slot].seats { self.leave(slot, seat.audience) }
        self.slots[self.connections[slot].id] = nil
        self.account(slot, input: 0, output: 0)
        self.ledger.close(self.connections[slot].account)
        self.deadlines.remove(slot)
        self.connections[slot].retire()
        self.freeSlots.append(slot)
    }

    // MARK: Input

    /// Processes what was read.
    package mutating func receive(
        _ slot: Slot, _ read: RawSpan, isReadOver: Bool = false, at now: Instant, _ send: Send,
        into actions: inout [Action]
    ) {
        self.connections[slot].receive(
            read, isReadOver: isReadOver, at: now, slot, self.codecs, send, into: &actions)
        self.settle(slot, at: now, into: &actions)
    }

    /// Whether a connection may be read on. If not, ``Action/read(_:)`` follows once the gateway has caught up.
    package mutating func mayRead(_ slot: Slot) -> Bool {
        if self.connections[slot].batchCount < Self.batchesMax || self.connections[slot].isClosing {
            return true
        }
        self.connections[slot].isReadHeld = true
        return false
    }

    /// The driver has found out who said a Hello.
    package mutating func arrive(
        _ slot: Slot, _ hello: Hello, _ principal: Principal, token: ResumptionToken,
        into actions: inout [Action]
    ) {
        let id = self.connections[slot].id
        self.connections[slot].events.append(.arrived(id, hello, principal, token: token))
        self.connections[slot].submit(into: &actions)
    }

    /// The gateway has processed a batch of a connection.
    package mutating func batchDone(_ id: ConnectionID, into actions: inout [Action]) {
        guard let slot = self.slots[id] else { return }
        self.connections[slot].batchCount -= 1
        if self.connections[slot].batchCount < Self.batchesMax { self.readOn(slot, into: &actions) }
    }

    mutating func readOn(_ slot: Slot, into actions: inout [Action]) {
        guard self.connections[slot].isReadHeld else { return }
        self.connections[slot].isReadHeld = false
        actions.append(.read(slot))
    }

    // MARK: Sessions

    /// Hands an event to the peer session of a connection, and flushes what it sends.
    package mutating func handle(
        _ event: AcceptingSession.Event, on slot: Slot, at now: Instant, _ send: Send,
        into actions: inout [Action]
    ) {
        self.handle(event, on: slot, at: now, into: &actions)
        self.connections[slot].flush(slot, send, into: &actions)
        self.settle(slot, at: now, into: &actions)
    }

    private mutating func handle(
        _ event: AcceptingSession.Event, on slot: Slot, at now: Instant, into actions: inout [Action]
    ) {
        self.noteShared(slot)
        self.connections[slot].handle(event, at: now, slot, self.codecs, into: &actions)
    }

    // MARK: Output

    /// Performs the instructions of one run of the gateway, and flushes what was written. `batchesDone` contains a connection once for
    /// each of its batches that the gateway has processed. Empties both arrays.
    package mutating func perform(
        _ instructions: inout [Instruction], _ batchesDone: inout [ConnectionID], at now: Instant,
        _ send: Send, into actions: inout [Action]
    ) {
        instructions.drain { self.perform($0, at: now, send, into: &actions) }
        self.flush(at: now, send, into: &actions)
        batchesDone.drain { self.batchDone($0, into: &actions) }
    }

    private mutating func perform(
        _ instruction: consuming Instruction, at now: Instant, _ send: Send, into actions: inout [Action]
    ) {
        switch consume instruction {
        case .session(let id, let event):
            guard let slot = self.slots[id] else { break }
            self.handle(event, on: slot, at: now, into: &actions)
            self.touch(slot)
        case .send(let id, let frame):
            guard let slot = self.slots[id] else { break }
            if self.connections[slot].send(frame, slot, send, into: &actions) { self.touched.append(slot) }
        case .publish(let audience, var batch):
            // The batch must not overtake frames that were written before.
            self.flush(at: now, send, into: &actions)
            self.deliver(&batch, to: audience, send)
        case .join(let id, let audience): self.join(id, audience)
        case .leave(let id, let audience):
            if let slot = self.slots[id] { self.leave(slot, audience) }
        case .purge(let id, let session): self.purge(id, session, nil, at: now, into: &actions)
        case .purgeShares(let id, let session):
            self.purge(id, session, .shareDestination, at: now, into: &actions)
        }
    }

    private mutating func purge(
        _ id: ConnectionID, _ session: SessionID, _ type: MessageType?, at now: Instant,
        into actions: inout [Action]
    ) {
        guard let slot = self.slots[id] else { return }
        self.connections[slot].output.purge(session, only: type)
        self.settle(slot, at: now, into: &actions)
    }

    /// Sends a shared batch to every member of an audience.
    private mutating func deliver(_ batch: inout SharedBatch, to id: AudienceID, _ send: Send) {
        guard let audience = self.audienceSlots[id] else { return }
        self.audiences[audience].batchCount &+= 1
        let bytes = batch.bytes
        // Members whose sockets did not accept all of it. Why a second loop: the first one changes nothing and counts no references.
        var behind: [(member: Int, sentCount: Int)] = []
        Self.send(bytes, to: self.audiences[audience].sockets, send, &behind)
        for (index, sentCount) in behind {
            self.write(&batch, after: sentCount, to: self.audiences[audience].members[index])
        }
    }

    private static func send(
        _ bytes: ArraySlice<UInt8>, to sockets: [SocketID], _ send: Send,
        _ behind: inout [(member: Int, sentCount: Int)]
    ) {
        let span = unsafe bytes.span.bytes
        let list = sockets.span
        for index in list.indices {
            let sentCount = list[index] == .none ? 0 : send(list[index], span)
            if sentCount < span.byteCount { behind.append((index, max(0, sentCount))) }
        }
    }

    private mutating func write(
        _ batch: inout SharedBatch, after sentCount: Int, to slot: Slot
    ) {
        guard self.connections[slot].output.isOpen, !self.connections[slot].isClosing else { return }
        if let overflow = self.connections[slot].output.write(&batch, after: sentCount) {
            self.connections[slot].overflow = overflow
        }
        self.touch(slot)
    }

    /// The channel of a connection has written its portion to the socket, so the peer has made progress in reading.
    package mutating func channelWrote(
        _ slot: Slot, at now: Instant, _ send: Send, into actions: inout [Action]
    ) {
        self.connections[slot].progressed = now
        self.connections[slot].output.channelWrote()
        if !self.connections[slot].isClosing { self.connections[slot].flush(slot, send, into: &actions) }
        if self.connections[slot].isSuspended, self.connections[slot].output.isDrained {
            actions.append(.drained(slot))
        }
        self.settle(slot, at: now, into: &actions)
    }

    private mutating func touch(_ slot: Slot) {
        if self.connections[slot].touch() { self.touched.append(slot) }
    }

    private mutating func flush(at now: Instant, _ send: Send, into actions: inout [Action]) {
        guard self.touched.count > 0 else { return }
        for index in 0..<self.touched.count {
            let slot = self.touched[index]
            self.connections[slot].flush(slot, send, into: &actions)
            self.settle(slot, at: now, into: &actions)
        }
        self.touched.removeAll(keepingCapacity: true)
    }

    // MARK: Audiences

    /// Puts a connection into an audience, unless it is in it.
    package mutating func join(_ id: ConnectionID, _ audience: AudienceID) {
        guard let slot = self.slots[id],
            !self.connections[slot].seats.contains(where: { $0.audience == audience })
        else { return }
        let place = self.audienceSlots[audience] ?? self.insert(audience)
        let index = self.audiences[place].add(slot, self.connections[slot].announcedSocket)
        self.connections[slot].seats.append(
            Connection.Seat(
                audience: audience, slot: place, index: index, batchCount: self.audiences[place].batchCount))
    }

    private mutating func insert(_ id: AudienceID) -> Int {
        let place: Int
        if let free = self.freeAudiences.popLast() {
            self.audiences[free] = Audience(id: id)
            place = free
        } else {
            place = self.audiences.count
            self.audiences.append(Audience(id: id))
        }
        self.audienceSlots[id] = place
        return place
    }

    private mutating func leave(_ slot: Slot, _ audience: AudienceID) {
        guard let number = self.connections[slot].seats.firstIndex(where: { $0.audience == audience }) else {
            return
        }
        self.noteShared(slot)
        let seat = self.connections[slot].seats.remove(at: number)
        if let moved = self.audiences[seat.slot].remove(at: seat.index),
            let other = self.connections[moved].seats.firstIndex(where: { $0.slot == seat.slot })
        {
            self.connections[moved].seats[other].index = seat.index
        }
        guard self.audiences[seat.slot].isEmpty else { return }
        self.audienceSlots[audience] = nil
        self.freeAudiences.append(seat.slot)
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

    // MARK: Time

    /// Handles every deadline that has passed.
    package mutating func deadlineReached(at now: Instant, _ send: Send, into actions: inout [Action]) {
        self.armed = nil
        while let slot = self.deadlines.popDue(at: now) {
            self.connections[slot].scheduled = nil
            self.connections[slot].isSettled = false
            self.checkForStall(slot, at: now, into: &actions)
            if let deadline = self.connections[slot].deadline, deadline <= now,
                !self.connections[slot].isClosing
            {
                self.connections[slot].deadline = nil
                self.noteShared(slot)
                self.tick(slot, at: now, send, into: &actions)
            }
            self.connections[slot].flush(slot, send, into: &actions)
            self.settle(slot, at: now, into: &actions, arms: false)
        }
        self.arm(into: &actions)
    }

    private mutating func tick(_ slot: Slot, at now: Instant, _ send: Send, into actions: inout [Action]) {
        guard let tick = self.connections[slot].session.takeTick(at: now) else {
            return self.handle(.deadlineReached, on: slot, at: now, into: &actions)
        }
        self.connections[slot].deadline = tick.next
        guard let nonce = tick.ping else { return }
        let ping = self.codecs.ping(nonce)
        if self.connections[slot].output.sendAtOnce(ping, send) { return }
        self.connections[slot].write(ping)
    }

    /// Closes a connection whose peer has made no progress in reading for too long although something waits for it.
    private mutating func checkForStall(_ slot: Slot, at now: Instant, into actions: inout [Action]) {
        guard let check = self.connections[slot].stallCheck, check <= now else { return }
        let end = self.connections[slot].progressed + self.limits.slowConsumerTimeout
        guard end <= now else { return self.connections[slot].stallCheck = end }
        self.connections[slot].closeAsTooSlow(
            "nothing was read for too long", at: now, slot, self.codecs, into: &actions)
    }

    // MARK: After each change

    /// After a change of a connection, updates what depends on it: the waiting bytes of the loop, the socket in its audiences, its
    /// deadline. Closes it after an overflow.
    mutating func settle(_ slot: Slot, at now: Instant, into actions: inout [Action], arms: Bool = true) {
        guard self.connections[slot].needsSettling else { return }
        self.settleChanges(slot, at: now, into: &actions, arms: arms)
        self.connections[slot].isSettled = true
        self.connections[slot].output.isSettled = true
    }

    private mutating func settleChanges(
        _ slot: Slot, at now: Instant, into actions: inout [Action], arms: Bool
    ) {
        self.account(slot, at: now, into: &actions)
        if let overflow = self.connections[slot].overflow, !self.connections[slot].isSuspended {
            self.connections[slot].overflow = nil
            if !self.connections[slot].isClosing {
                self.connections[slot].close(dueTo: overflow, at: now, slot, self.codecs, into: &actions)
                return self.settleChanges(slot, at: now, into: &actions, arms: arms)
            }
        }
        // What a closing connection reads is discarded.
        if self.connections[slot].isClosing { self.readOn(slot, into: &actions) }
        let direct = self.connections[slot].output.direct
        if direct != self.connections[slot].announcedSocket {
            self.connections[slot].announcedSocket = direct
            for seat in self.connections[slot].seats {
                self.audiences[seat.slot].setSocket(direct, at: seat.index)
            }
        }
        let due = self.connections[slot].due(at: now, self.limits.slowConsumerTimeout)
        guard due != self.connections[slot].scheduled else { return }
        self.connections[slot].scheduled = due
        if let due { self.deadlines.set(slot, at: due) } else { self.deadlines.remove(slot) }
        if arms { self.arm(into: &actions) }
    }

    /// Counts what a connection holds now. Above a limit of output it overflows itself; above one of input, the connection whose
    /// unfinished frame is the oldest.
    private mutating func account(_ slot: Slot, at now: Instant, into actions: inout [Action]) {
        let (input, output) = (
            self.connections[slot].inputByteCount, self.connections[slot].output.heldByteCount
        )
        let hasMoreInput = input > self.connections[slot].accountedInput
        let hasMoreOutput = output > self.connections[slot].accountedOutput
        self.account(slot, input: input, output: output)
        let account = self.connections[slot].account
        if hasMoreOutput, output > Self.fewBytes, !self.connections[slot].isClosing {
            self.connections[slot].overflow =
                self.ledger.outputOverflow(account, self.limits) ?? self.connections[slot].overflow
        }
        guard hasMoreInput else { return }
        while let (victim, overflow) = self.ledger.inputVictim(account, self.limits) {
            self.connections[victim].overflow = overflow
            // The caller closes this one. One that is suspended is closed when it is resumed.
            guard victim != slot, !self.connections[victim].isSuspended else { return }
            self.settle(victim, at: now, into: &actions)
        }
    }

    private mutating func account(_ slot: Slot, input: UInt32, output: UInt32) {
        let (oldInput, oldOutput) = (
            self.connections[slot].accountedInput, self.connections[slot].accountedOutput
        )
        let account = self.connections[slot].account
        if input != oldInput {
            self.ledger.setInput(slot, account, from: oldInput, to: input)
            self.connections[slot].accountedInput = input
        }
        if output != oldOutput {
            self.ledger.addOutput(Int(output) - Int(oldOutput), to: account)
            self.connections[slot].accountedOutput = output
        }
    }

    /// Arms the driver's timer if it would fire after the earliest deadline. It may fire before.
    private mutating func arm(into actions: inout [Action]) {
        guard let next = self.deadlines.next, self.armed.map({ next < $0 }) ?? true else { return }
        self.armed = next
        actions.append(.arm(next))
    }
}
