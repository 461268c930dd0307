internal import DequeModule
internal import WaymarkCodec
package import WaymarkGateway
package import WaymarkProtocol

/// What the gateway wants done on one event loop, in order.
package enum Instruction: Sendable {
    // Why indirect: the event is large, and one of some hundred instructions.
    indirect case session(ConnectionID, AcceptingSession.Event)
    case send(ConnectionID, Frame)
    /// Send a frame to a client, see ``Relay``. Why indirect: it is rare.
    indirect case relay(ConnectionID, Frame, Relay)
    case publish(AudienceID, SharedBatch)
    case join(ConnectionID, AudienceID)
    case leave(ConnectionID, AudienceID)
    case purge(ConnectionID, SessionID)
    case purgeShares(ConnectionID, SessionID)
    /// A portion for an observer; answered by ``LoopCore/Action/roomForObserver(_:)``.
    case tell(ConnectionID, [Frame])
    /// From now on the core is told, or not told, what crosses connections.
    case setObserved(Bool)
    /// Answered by ``LoopCore/Action/measured(_:)``.
    case measure(withConnections: Bool)
}

/// All connections of one event loop and the audiences that they are in: every decision about what is read and what is sent.
///
/// It does no I/O and reads no clock. A driver calls these functions, each with the time, and performs the actions in their order once the
/// call has returned; only ``Send`` is called at once. `WaymarkTransport` drives it with SwiftNIO, `GatewayInMemory` with pipes in memory.
///
/// - ``add(_:payer:limits:outbox:allowedRoles:at:into:)`` when a connection was accepted, and ``open(_:_:at:into:)`` when it can be written;
/// - ``receive(_:_:isReadOver:at:_:into:)`` for each read, unless ``mayRead(_:)`` puts it off until ``Action/read(_:)``;
/// - ``arrive(_:_:_:subject:token:into:)`` with who said the Hello of ``Action/admit(_:_:)``;
/// - ``perform(_:at:_:into:)`` with the instructions of the ``GatewayCore``, and ``end(_:into:)`` for each batch that it processed;
/// - ``channelWrote(_:at:_:into:)`` when the socket has all of a write;
/// - ``deadlineReached(at:_:into:)`` at the instant of the last ``Action/arm(_:)``, and ``work(at:_:into:)`` after ``Action/workLater``;
/// - ``transportClosed(_:at:_:into:)`` when the connection has closed, and ``remove(_:at:into:)`` when the channel is gone;
/// - ``suspend(_:at:_:into:)`` and ``detach(_:)`` to hand a connection to another process, which calls ``adopt(_:payer:outbox:at:into:)`` and
///   ``resume(_:at:_:into:)``.
package struct LoopCore {
    /// Names a connection here, until ``remove(_:)``.
    package typealias Slot = Int

    /// What the driver must do.
    package enum Action: Sendable {
        /// Hand events to the gateway. `cost`: of reading them, or ``GatewayCore/unreadCost``. `isReadOver`: the connection does nothing more
        /// in this read.
        case submit([Gateway.Event], from: ConnectionID, cost: Int, isReadOver: Bool)
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
        /// Call ``work(at:_:into:)`` once other things were read, written and done.
        case workLater
        /// The connection was removed, and has submitted its last events.
        case removed(ConnectionID)
        /// An observer's connection has room for another portion.
        case roomForObserver(ConnectionID)
        /// For ``GatewayCore/note(_:)``.
        indirect case measured(LoopMeasure)
        /// For ``GatewayCore/hold(_:)``: what this connection published is being sent to many endpoints.
        case hold(ConnectionID)
        /// For ``GatewayCore/release(_:)``: they were sent it.
        case release(ConnectionID)
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

    /// How much work is done before others are served. A unit is a send to one member of an audience, a small message that was read, or a
    /// KiB that was read, or that was sent once a socket accepted data again. The end of a connection is four.
    package struct Budget: Sendable, Hashable {
        /// For one connection or audience.
        package var turn = 256
        /// For all, before the event loop does other things: some milliseconds.
        package var round = 2_048
        /// Connections whose deadlines are handled at once.
        package var deadlines = 512
        /// For batches that the gateway has not processed: no input is processed while they have cost as much to read. They hold some bytes
        /// for each byte that was read, and some hundred for each message.
        package var submitted = 16_384

        package init() {}
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
    /// The most that a batch may cost so that no other loop is woken only to hear that it was processed.
    static let cheapBatchCostMax = 4
    /// An observer is sent more once it holds less than this for output.
    private static let observerRoomBytes = 32_768
    private static let connectionsMeasuredPerUnit = 64
    /// Places of audiences that stay when no audience is left.
    static let audiencesKeptMax = 64
    /// The cost of ending and removing a connection whose transport has closed, see ``Budget``.
    package static let endCost = 4
    /// A connection that holds no more than this for output is not closed because all together hold too much.
    private static let fewBytes = 4_096
    /// What the event loop gets for other things when more deadlines are due than ``Budget/deadlines``.
    private static let deadlinePause = Duration.microseconds(50)
    /// How late a deadline may be handled, so that one timer serves many connections.
    package static let deadlineSlack = Duration.milliseconds(10)

    package var limits: Limits
    package var budget = Budget() { didSet { self.room = self.budget.round } }
    let codecs = LoopCodecs()
    var connections: [Connection] = []
    private var freeSlots: [Slot] = []
    var slots = ConnectionTable<Int32>()
    var audiences: [AudienceMembers] = []
    var freeAudiences: [Int] = []
    var audienceSlots: [AudienceID: Int] = [:]
    /// Audiences in which some members were not sent everything.
    var behind: Deque<Int> = []
    /// ``behind`` is not empty.
    var isAnyBehind = false
    /// Connections with input that waits to be processed.
    var turns = TurnQueue<Slot>()
    /// Connections whose sockets accept data again, since the budget of the round was spent.
    var writable = TurnQueue<Slot>()
    /// What may still be done in this round, see ``Budget/round``.
    var room = Budget().round
    /// The cost of what was submitted and not yet processed, see ``Budget/submitted``.
    var submittedCost = 0
    /// The most work of one round.
    package var unitsOfLongestRound = 0
    /// ``Action/workLater`` was emitted.
    var isWorkPlanned = false
    /// Connections to flush, in the order in which they were written to, so that the first answer waits the least.
    private var touched: [Slot] = []
    private var deadlines = DeadlineBuckets(width: Self.deadlineSlack)
    /// When the driver's timer fires; nil if it does not.
    private var armed: Instant?
    private var ledger = ByteLedger()
    /// Accepted and received for all connections, everything else for those that were removed, see ``measure(withConnections:)``.
    var totals = LoopTotals()
    /// What is held for all connections because their sockets accept nothing more, in bytes.
    package var waitingByteCount: Int { self.ledger.outputByteCount }
    /// What is held of frames that have not arrived completely, in bytes.
    package var inputByteCount: Int { self.ledger.inputByteCount }

    package init(limits: Limits) { self.limits = limits }

    // MARK: Connections

    package var connectionCount: Int { self.slots.count }
    package func slot(of id: ConnectionID) -> Slot? { self.slots[number: id] }
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

    /// Adds a connection that was accepted. It may be read and written once ``open(_:_:at:into:)`` was called.
    package mutating func add(
        _ id: ConnectionID, payer: Payer, limits: ConnectionLimits, outbox: Outbox.Limits,
        allowedRoles: Set<AcceptingSession.Role>, at now: Instant, into actions: inout [Action]
    ) -> Slot {
        var sessionActions: [AcceptingSession.Action] = []
        let session = AcceptingSession(
            limits: limits, allowedRoles: allowedRoles, at: now, into: &sessionActions)
        let slot = self.insert(Connection(id, payer, session, outbox, self.limits.portionBytes))
        self.totals.accepted &+= 1
        self.connections[slot].perform(sessionActions[...], slot, self.codecs, into: &actions)
        self.settle(slot, at: now, into: &actions)
        return slot
    }

    mutating func insert(_ connection: Connection) -> Slot {
        var connection = connection
        connection.account = self.ledger.open(connection.payer)
        let id = connection.id
        let slot: Slot
        if let free = self.freeSlots.popLast() {
            self.connections[free] = connection
            slot = free
        } else {
            slot = self.connections.count
            self.connections.append(connection)
        }
        self.slots[number: id] = slot
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
        // What arrived before the end is processed before it.
        if self.connections[slot].isSuspended, !self.connections[slot].isClosing {
            self.connections[slot].isSuspended = false
            self.connections[slot].batchCount -= Self.batchesMax
            self.queueInput(slot, into: &actions)
        }
        // Each of very many that close at once waits for its turn, so that others are served in between.
        if self.room <= 0, !self.connections[slot].isAwaitingWelcome { self.queueInput(slot, into: &actions) }
        guard !self.connections[slot].hasProcessableInput() else {
            self.connections[slot].isTransportClosed = true
            // The number of its socket is free for another connection: no audience may send to it.
            return self.settle(slot, at: now, into: &actions)
        }
        self.endTransport(slot, at: now, into: &actions)
    }

    mutating func endTransport(_ slot: Slot, at now: Instant, into actions: inout [Action]) {
        self.spend(Self.endCost, into: &actions)
        // There is nothing left to close or to write to.
        self.connections[slot].isClosing = true
        self.handle(.transportClosed, on: slot, at: now, into: &actions)
        self.settle(slot, at: now, into: &actions)
    }

    /// Forgets a connection, once its input is processed and its end had its turn. O(its own audiences).
    package mutating func remove(_ slot: Slot, at now: Instant, into actions: inout [Action]) {
        let id = self.connections[slot].id
        guard self.slots[number: id] == slot else { return }
        guard !self.connections[slot].isInputQueued else {
            self.connections[slot].isRemovalDue = true
            return
        }
        for seat in self.connections[slot].seats { self.leave(slot, seat.audience, at: now, into: &actions) }
        actions.append(.removed(id))
        self.slots[id] = nil
        self.account(slot, input: 0, output: 0)
        self.ledger.close(self.connections[slot].account)
        self.deadlines.remove(slot)
        self.totals.add(self.connections[slot])
        self.connections[slot].retire()
        self.freeSlots.append(slot)
    }

    /// The channel of a closing connection has written some of ``Action/close(_:_:)``.
    package mutating func noteSent(_ slot: Slot, _ byteCount: Int) {
        self.connections[slot].output.noteSent(byteCount)
    }

    /// A connection that was refused when it was accepted, and that has no slot, was sent or has sent bytes.
    package mutating func noteRefused(sent: Int = 0, received: Int = 0) {
        self.totals.sent &+= UInt64(sent)
        self.totals.received &+= UInt64(received)
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
        let wasAwaitingWelcome = self.connections[slot].isAwaitingWelcome
        let wasAdmitted = self.connections[slot].isAdmitted
        self.connections[slot].handle(event, at: now, slot, self.codecs, into: &actions)
        if !wasAdmitted, self.connections[slot].isAdmitted { self.countAdmitted(slot, event) }
        if wasAwaitingWelcome, self.connections[slot].isInputQueued, !self.connections[slot].hasTurn {
            self.queueTurn(slot, into: &actions)
        }
    }

    /// Counts a peer that was sent its Welcome: one whose connection has closed meanwhile gets none.
    private mutating func countAdmitted(_ slot: Slot, _ event: AcceptingSession.Event) {
        switch self.connections[slot].session.role {
        case .vehicle: self.totals.admitted.add(of: RoleNumber.vehicle.rawValue)
        case .navigation: self.totals.admitted.add(of: RoleNumber.navigation.rawValue)
        case .observer: self.totals.admitted.add(of: RoleNumber.observer.rawValue)
        case nil: break  // Not reached: it was in its Hello.
        }
        if case .admitted(let welcome) = event, welcome.isResumed { self.totals.resumed &+= 1 }
    }

    // MARK: Output

    /// Performs the instructions of one run of the gateway, and flushes what was written. `batchesDone` contains a connection once for
    /// each of its batches that the gateway has processed. Empties both arrays.
    package mutating func perform(
        _ instructions: inout [Instruction], _ batchesDone: inout [ProcessedBatch], at now: Instant,
        _ send: Send, into actions: inout [Action]
    ) {
        instructions.drain { self.perform($0, at: now, send, into: &actions) }
        self.flush(at: now, send, into: &actions)
        batchesDone.drain { self.end($0, into: &actions) }
    }

    // Why inlined: a call copies the instruction.
    @inline(__always)
    private mutating func perform(
        _ instruction: consuming Instruction, at now: Instant, _ send: Send, into actions: inout [Action]
    ) {
        switch consume instruction {
        case .session(let id, let event):
            guard let slot = self.slots[number: id] else { break }
            self.catchUp(slot)
            self.handle(event, on: slot, at: now, into: &actions)
            self.touch(slot)
        case .send(let id, let frame):
            guard let slot = self.slots[number: id] else { break }
            self.catchUp(slot)
            if self.connections[slot].send(frame, slot, send, into: &actions) { self.touched.append(slot) }
        case .relay(let id, let frame, let relay):
            guard let slot = self.slots[number: id] else { break }
            self.catchUp(slot)
            if self.connections[slot].send(frame, as: relay, slot, send, into: &actions) {
                self.touched.append(slot)
            }
        case .publish(let audience, var batch):
            // The batch must not overtake frames that were written before.
            self.flush(at: now, send, into: &actions)
            self.deliver(&batch, to: audience, send, into: &actions)
        case .join(let id, let audience): self.join(id, audience)
        case .leave(let id, let audience):
            if let slot = self.slots[number: id] { self.leave(slot, audience, at: now, into: &actions) }
        case .purge(let id, let session): self.purge(id, session, nil, at: now, into: &actions)
        case .purgeShares(let id, let session):
            self.purge(id, session, .shareDestination, at: now, into: &actions)
        case .tell(let id, let frames):
            guard let slot = self.slots[number: id] else { break }
            self.connections[slot].output.liftAnswerBound()
            for frame in frames where self.connections[slot].send(frame, slot, send, into: &actions) {
                self.touched.append(slot)
            }
            self.connections[slot].output.boundAnswers()
            self.connections[slot].awaitsRoom = true
            self.connections[slot].isSettled = false
        case .setObserved(let isObserved): self.codecs.isObserved = isObserved
        case .measure(let withConnections):
            actions.append(.measured(self.measure(withConnections: withConnections)))
            self.spend(self.connections.count / Self.connectionsMeasuredPerUnit, into: &actions)
        }
    }

    private mutating func purge(
        _ id: ConnectionID, _ session: SessionID, _ type: MessageType?, at now: Instant,
        into actions: inout [Action]
    ) {
        guard let slot = self.slots[number: id] else { return }
        self.catchUp(slot)
        self.connections[slot].output.purge(session, only: type)
        self.settle(slot, at: now, into: &actions)
    }

    /// The channel of a connection has written its portion to the socket, so the peer has made progress in reading. Sends on, in this round or
    /// the next.
    package mutating func channelWrote(
        _ slot: Slot, at now: Instant, _ send: Send, into actions: inout [Action]
    ) {
        self.connections[slot].progressed = now
        guard self.room > 0 else {
            self.connections[slot].isSendingOn = true
            self.writable.append(slot, of: self.connections[slot].payer)
            return self.planWork(into: &actions)
        }
        self.sendOn(slot, at: now, send, into: &actions)
    }

    /// Sends what waits for a connection whose socket accepts data again.
    mutating func sendOn(_ slot: Slot, at now: Instant, _ send: Send, into actions: inout [Action]) {
        let byteCount = Int(self.connections[slot].output.heldByteCount)
        self.connections[slot].output.channelWrote()
        // The bytes of a longer frame are a sign of life, like a frame.
        if !self.connections[slot].output.isDrained { self.connections[slot].session.noteSent() }
        if !self.connections[slot].isClosing { self.connections[slot].flush(slot, send, into: &actions) }
        let sentCount = byteCount - Int(self.connections[slot].output.heldByteCount)
        self.spend(1 + sentCount / Connection.bytesPerUnit, into: &actions)
        if self.connections[slot].isSuspended, self.connections[slot].output.isDrained {
            actions.append(.drained(slot))
        }
        self.settle(slot, at: now, into: &actions)
    }

    /// Sends on for the connection whose turn it is.
    mutating func sendMore(at now: Instant, _ send: Send, into actions: inout [Action]) {
        guard let slot = self.writable.popFirst(), self.connections[slot].isSendingOn else { return }
        self.connections[slot].isSendingOn = false
        self.sendOn(slot, at: now, send, into: &actions)
    }

    mutating func touch(_ slot: Slot) {
        if self.connections[slot].touch() { self.touched.append(slot) }
    }

    mutating func flush(at now: Instant, _ send: Send, into actions: inout [Action]) {
        guard self.touched.count > 0 else { return }
        for index in 0..<self.touched.count {
            let slot = self.touched[index]
            self.connections[slot].flush(slot, send, into: &actions)
            self.settle(slot, at: now, into: &actions)
        }
        self.touched.removeAll(keepingCapacity: true)
    }

    // MARK: Time

    /// Handles every deadline that has passed.
    package mutating func deadlineReached(at now: Instant, _ send: Send, into actions: inout [Action]) {
        self.armed = nil
        for _ in 0..<self.budget.deadlines {
            guard let slot = self.deadlines.popDue(at: now) else { break }
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
        self.arm(notBefore: now + Self.deadlinePause, into: &actions)
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

    mutating func settleChanges(
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
        if self.connections[slot].awaitsRoom,
            self.connections[slot].output.heldByteCount < Self.observerRoomBytes
        {
            self.connections[slot].awaitsRoom = false
            self.connections[slot].output.boundAnswers()
            actions.append(.roomForObserver(self.connections[slot].id))
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
    private mutating func arm(
        notBefore earliest: Instant = Instant(nanoseconds: 0), into actions: inout [Action]
    ) {
        guard let next = self.deadlines.next.map({ max($0, earliest) }),
            self.armed.map({ next < $0 }) ?? true
        else { return }
        self.armed = next
        actions.append(.arm(next))
    }
}
