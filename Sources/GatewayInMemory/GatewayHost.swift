internal import StateCoding
package import WaymarkAccess
internal import WaymarkCodec
package import WaymarkConnections
package import WaymarkGateway
package import WaymarkProtocol

/// Who opens a connection: what a listener finds out about its peer.
package struct PeerOrigin: Sendable, Hashable {
    package var principal = Principal.anyone
    package var subject = AccessSubject()
    package var payer = Payer(rawValue: 1)
    package var allowedRoles = Set(AcceptingSession.Role.allCases)
    /// What observers are shown.
    package var visibility = Visibility.all

    package init() {}
}

/// The gateway's end of a network in memory, without chance: one event loop, and a pipe in each direction of every connection.
///
/// It drives `LoopCore` and `GatewayCore` as `WaymarkTransport` does with SwiftNIO. No clock and no I/O: the same calls give the same
/// bytes. Every call only hands something in; ``settle(at:)`` does what follows, and must come before the next ``takeOutput(of:atMost:)``.
///
/// Not modelled: what listeners do before a Hello (keys, quotas of connections, delayed answers to failures).
package struct GatewayHost {
    /// The bytes that the sockets of a connection hold in one direction. When they are full, the gateway's outbox fills.
    package static let socketBytes = 262_144
    /// The most that one read takes.
    private static let readBytes = 65_536

    private let policy: Gateway.Policy
    private let limits: ConnectionLimits
    private let outbox: Outbox.Limits
    private let software: String
    private var gateway: GatewayCore
    private var loop: LoopCore
    private var ends: [ConnectionID: End] = [:]
    /// In the order of connecting.
    private var order: [ConnectionID] = []
    private var loopDeadline: Instant?
    private var isRunPlanned = false
    private var lastConnection: UInt64 = 0
    private var tokens: SeededRandom

    /// A gateway without connections. `tokenSeed` decides the resumption tokens. Session ids follow `lastSession`.
    package init(
        policy: Gateway.Policy = .init(), limits: ConnectionLimits = .init(), outbox: Outbox.Limits = .init(),
        identity: GatewayIdentity = .unnamed, tokenSeed: UInt64, lastSession: SessionID = .none,
        software: String = "simulation"
    ) {
        self.policy = policy
        self.limits = limits
        self.outbox = outbox
        self.software = software
        self.tokens = SeededRandom(seed: tokenSeed)
        var gateway = Gateway(policy: policy, coder: Codec.coder, firstSession: lastSession)
        gateway.identity = identity
        self.gateway = GatewayCore(gateway, loopCount: 1, software: software)
        self.loop = Self.newLoop(outbox)
    }

    private static func newLoop(_ outbox: Outbox.Limits) -> LoopCore {
        LoopCore(
            limits: LoopCore.Limits(
                waitingBytesMax: .max, slowConsumerTimeout: outbox.slowConsumerTimeout))
    }

    /// The gateway's end of one connection.
    private struct End {
        let origin: PeerOrigin
        /// nil once the gateway has forgotten the connection.
        var slot: LoopCore.Slot?
        var input = BytePipe()
        /// What the sockets hold for the peer.
        var output = BytePipe()
        /// What the channel has to write to the socket.
        var channel: [UInt8] = []
        /// The channel has not yet reported that the socket has its portion.
        var hasPortion = false
        /// The gateway's end closes once the channel has written everything; its transport closes at the latest then.
        var closesAt: Instant?
        /// The peer knows that ``output`` has ended.
        var isEndRead = false

        var room: Int { max(0, GatewayHost.socketBytes - self.output.count) }
    }

    // MARK: Connections

    /// The open connections, in the order of connecting.
    package var connections: [ConnectionID] { self.order }

    /// A peer connects.
    package mutating func connect(_ origin: PeerOrigin, at now: Instant) -> ConnectionID {
        self.lastConnection += 1
        let id = ConnectionID(self.lastConnection)
        self.ends[id] = End(origin: origin)
        self.order.append(id)
        self.gateway.assign(id, to: 0, payer: origin.payer)
        let (limits, outbox) = (self.limits, self.outbox)
        var slot = 0
        self.change(at: now) { loop, _, actions in
            slot = loop.add(
                id, payer: origin.payer, limits: limits, outbox: outbox, allowedRoles: origin.allowedRoles,
                at: now, into: &actions)
        }
        self.ends[id]?.slot = slot
        self.change(at: now) { loop, _, actions in
            loop.open(slot, Self.socket(id), at: now, into: &actions)
        }
        return id
    }

    /// How many more bytes the sockets of a connection hold before its peer cannot write.
    package func inputRoom(of id: ConnectionID) -> Int {
        max(0, Self.socketBytes - (self.ends[id]?.input.count ?? Self.socketBytes))
    }

    /// Bytes of a peer arrive. At most ``inputRoom(of:)`` at a time: more would not have fitted into its sockets.
    package mutating func receive(_ bytes: [UInt8], on id: ConnectionID) {
        self.ends[id]?.input.write(bytes)
    }

    /// A peer has closed its direction: what it sent before is still read. The gateway then closes the other.
    package mutating func peerClosed(_ id: ConnectionID) { self.ends[id]?.input.end() }

    /// A connection is reset: whatever was under way is lost.
    package mutating func reset(_ id: ConnectionID, at now: Instant) {
        self.ends[id]?.output = BytePipe()
        self.drop(id, at: now)
        self.forget(id)
    }

    /// Removes at most `bytesMax` bytes from those that wait for a peer. `isEnded`: no more follow, and the connection is forgotten.
    package mutating func takeOutput(
        of id: ConnectionID, atMost bytesMax: Int
    ) -> (bytes: [UInt8], isEnded: Bool) {
        guard let bytes = self.ends[id]?.output.read(bytesMax) else { return ([], true) }
        guard self.ends[id]?.output.isAtEnd == true else { return (bytes, false) }
        self.ends[id]?.isEndRead = true
        if self.ends[id]?.slot == nil { self.forget(id) }
        return (bytes, true)
    }

    /// How many bytes wait for a peer in the sockets.
    package func outputCount(of id: ConnectionID) -> Int { self.ends[id]?.output.count ?? 0 }

    /// Whether nothing waits for a peer, and nothing more follows.
    package func isEnded(_ id: ConnectionID) -> Bool { self.ends[id]?.output.isAtEnd ?? true }

    private mutating func forget(_ id: ConnectionID) {
        self.ends[id] = nil
        self.order.removeAll { $0 == id }
    }

    /// The transport has closed: nothing more is read or sent. What the sockets hold for the peer still arrives.
    private mutating func drop(_ id: ConnectionID, at now: Instant) {
        guard let slot = self.ends[id]?.slot else { return }
        self.change(at: now) { loop, send, actions in
            loop.transportClosed(slot, at: now, send, into: &actions)
        }
        self.change(at: now) { loop, _, actions in loop.remove(slot, at: now, into: &actions) }
        self.ends[id]?.slot = nil
        self.ends[id]?.closesAt = nil
        self.ends[id]?.channel = []
        self.ends[id]?.output.end()
        if self.ends[id]?.isEndRead == true { self.forget(id) }
    }

    // MARK: Time

    /// When ``deadlineReached(at:)`` must be called.
    package var deadline: Instant? {
        let closing = self.order.compactMap { self.ends[$0]?.closesAt }
        return ([self.gateway.deadline, self.loopDeadline].compactMap(\.self) + closing).min()
    }

    /// Hands in every deadline that has passed.
    package mutating func deadlineReached(at now: Instant) {
        if let deadline = self.gateway.deadline, deadline <= now {
            self.gateway.deadlineReached(at: now)
            self.planRun()
        }
        if let deadline = self.loopDeadline, deadline <= now {
            self.loopDeadline = nil
            self.change(at: now) { loop, send, actions in
                loop.deadlineReached(at: now, send, into: &actions)
            }
        }
        for id in self.order {
            guard let closesAt = self.ends[id]?.closesAt, closesAt <= now else { continue }
            self.drop(id, at: now)
        }
    }

    /// Reads, processes and writes until there is nothing to do before more arrives, is taken, or time passes.
    package mutating func settle(at now: Instant) {
        var isBusy = true
        while isBusy {
            isBusy = false
            for id in self.order {
                if self.read(id, at: now) { isBusy = true }
                self.endTick(at: now)
            }
            if self.work(at: now) { isBusy = true }
            for id in self.order where self.pump(id, at: now) { isBusy = true }
        }
    }

    /// Ends the tick of the event loop: processes the queued events.
    private mutating func endTick(at now: Instant) {
        guard self.isRunPlanned else { return }
        self.isRunPlanned = false
        if self.gateway.run(at: now) { self.carryOut(at: now) }
        if self.gateway.isRunDue() { self.planRun() }
    }

    /// A round of what waits for its turn.
    private mutating func work(at now: Instant) -> Bool {
        self.endTick(at: now)
        let hasWork = self.loop.hasPlannedWork()
        if hasWork {
            self.change(at: now) { loop, send, actions in loop.work(at: now, send, into: &actions) }
        }
        return hasWork || self.isRunPlanned
    }

    // MARK: Reading and writing

    /// Lets a connection read once.
    private mutating func read(_ id: ConnectionID, at now: Instant) -> Bool {
        guard let end = self.ends[id], let slot = end.slot, end.input.count > 0 || end.input.isEnded,
            self.loop.mayRead(slot)
        else { return false }
        let bytes = self.ends[id]?.input.read(Self.readBytes) ?? []
        if bytes.isEmpty {
            self.drop(id, at: now)
        } else if self.ends[id]?.closesAt == nil {
            self.change(at: now) { loop, send, actions in
                unsafe loop.receive(slot, bytes.span.bytes, isReadOver: true, at: now, send, into: &actions)
            }
        }
        return true
    }

    /// Lets the channel of a connection write as much as the socket accepts.
    ///
    /// - Returns: Whether the socket has another portion.
    @discardableResult
    private mutating func pump(_ id: ConnectionID, at now: Instant) -> Bool {
        var hasWritten = false
        while let slot = self.ends[id]?.slot, self.writeChannel(of: id) {
            hasWritten = true
            self.change(at: now) { loop, send, actions in
                loop.channelWrote(slot, at: now, send, into: &actions)
            }
        }
        return hasWritten
    }

    /// - Returns: Whether the socket now has a whole portion.
    private mutating func writeChannel(of id: ConnectionID) -> Bool {
        guard var end = self.ends.removeValue(forKey: id) else { return false }
        defer { self.ends[id] = end }
        let count = min(end.room, end.channel.count)
        end.output.write(end.channel.prefix(count))
        end.channel.removeFirst(count)
        guard end.channel.isEmpty else { return false }
        if end.closesAt != nil { end.output.end() }
        defer { end.hasPortion = false }
        return end.hasPortion
    }

    private static func socket(_ id: ConnectionID) -> SocketID {
        SocketID(rawValue: CInt(truncatingIfNeeded: id.rawValue))
    }

    // MARK: The cores

    /// Changes the loop, then performs the resulting actions.
    private mutating func change(
        at now: Instant, _ body: (inout LoopCore, Send, inout [LoopCore.Action]) -> Void
    ) {
        var actions: [LoopCore.Action] = []
        // Why moved: the closure changes the ends while the loop changes.
        var ends: [ConnectionID: End] = [:]
        swap(&ends, &self.ends)
        body(
            &self.loop,
            { socket, bytes in
                let id = ConnectionID(UInt64(socket.rawValue))
                guard let room = ends[id]?.room else { return 0 }
                let count = min(room, bytes.byteCount)
                unsafe bytes.extracting(first: count).withUnsafeBytes {
                    unsafe ends[id]?.output.write($0)
                }
                return count
            }, &actions)
        swap(&ends, &self.ends)
        for action in actions { self.perform(action, at: now) }
    }

    private mutating func perform(_ action: LoopCore.Action, at now: Instant) {
        switch action {
        case .submit(let events, let id, let cost, let isReadOver):
            self.submit(events, from: id, cost: cost, isReadOver: isReadOver, at: now)
        case .admit(let slot, let hello): self.admit(hello, slot, at: now)
        case .write(let slot, let portion):
            let id = self.loop.id(of: slot)
            self.ends[id]?.channel += portion
            self.ends[id]?.hasPortion = true
        case .close(let slot, let rest):
            let id = self.loop.id(of: slot)
            self.ends[id]?.channel += rest.joined()
            self.ends[id]?.closesAt = now + self.limits.drainTimeout
            self.pump(id, at: now)
        // Until the timer fires, an earlier deadline stays.
        case .arm(let deadline): self.loopDeadline = min(self.loopDeadline ?? deadline, deadline)
        case .removed(let id): if !self.gateway.forget(id) { self.planRun() }
        case .hold(let id): self.gateway.hold(id)
        case .release(let id):
            self.gateway.release(id)
            if self.gateway.isRunDue() { self.planRun() }
        case .measured(let measure):
            self.gateway.note(measure, at: now)
            if self.gateway.isRunDue() { self.planRun() }
        case .roomForObserver(let id):
            self.gateway.noteRoom(forObserver: id)
            if self.gateway.isRunDue() { self.planRun() }
        // The loop is asked instead, in every round.
        case .read, .drained, .workLater: break
        case .note: break
        }
    }

    private mutating func admit(_ hello: Hello, _ slot: LoopCore.Slot, at now: Instant) {
        guard let origin = self.ends[self.loop.id(of: slot)]?.origin else { return }
        var hello = hello
        if case .observer(var observer) = hello.role {
            observer.visibility = origin.visibility
            hello.role = .observer(observer)
        }
        let token = ResumptionToken(high: self.tokens.next(), low: self.tokens.next())
        self.change(at: now) { [hello] loop, _, actions in
            loop.arrive(
                slot, hello, origin.principal, subject: origin.subject, token: token, into: &actions)
        }
    }

    private mutating func submit(
        _ events: [Gateway.Event], from id: ConnectionID, cost: Int, isReadOver: Bool, at now: Instant
    ) {
        if self.gateway.submit(events, from: id, cost: cost, isReadOver: isReadOver, at: now) {
            self.carryOut(at: now)
        }
        self.planRun()
    }

    private mutating func planRun() { if self.gateway.planRun() { self.isRunPlanned = true } }

    private mutating func carryOut(at now: Instant) {
        var work = self.gateway.takeWork()
        self.change(at: now) { loop, send, actions in
            loop.perform(&work.instructions, &work.batchesDone, at: now, send, into: &actions)
        }
        self.gateway.endProcessing(work)
    }

    // MARK: Restart

    /// The next daemon continues every connection, with the state that this one encodes. A peer that has not read what the channel
    /// still has to write is disconnected.
    ///
    /// - Throws: What encoding and decoding the state throws.
    package mutating func restart(at now: Instant) throws {
        self.settle(at: now)
        for id in self.order {
            guard let slot = self.ends[id]?.slot, self.ends[id]?.closesAt == nil else { continue }
            self.change(at: now) { loop, send, actions in
                loop.suspend(slot, at: now, send, into: &actions)
            }
            self.pump(id, at: now)
        }
        self.gateway.tellAtOnce()
        self.planRun()
        repeat { self.endTick(at: now) } while self.work(at: now)
        self.dropWhatCannotMove(at: now)
        let state = try Self.copy(GatewayState(self.gateway.gateway))
        guard let gateway = state.gateway(policy: self.policy, coder: Codec.coder) else {
            throw HandoverError.undecodable
        }
        let observation = try self.gateway.observationState.map { try Self.copy($0) }
        let tallies = try Self.copy(
            self.gateway.tallies(with: self.loop.measure(withConnections: false).totals))
        let detached = try self.order.compactMap { id in
            try self.ends[id]?.slot.flatMap { self.loop.detach($0) }.map { try Self.copy($0) }
        }
        self.gateway = GatewayCore(gateway, loopCount: 1, software: self.software)
        self.loop = Self.newLoop(self.outbox)
        self.loopDeadline = nil
        self.isRunPlanned = false
        self.gateway.adopt(gateway, observation, tallies, at: now)
        self.gateway.isPaused = true
        for connection in detached { self.adopt(connection, at: now) }
        self.gateway.isPaused = false
        for id in self.order {
            guard let slot = self.ends[id]?.slot else { continue }
            self.change(at: now) { loop, send, actions in
                _ = loop.resume(slot, at: now, send, into: &actions)
            }
        }
        self.planRun()
        self.settle(at: now)
    }

    private mutating func dropWhatCannotMove(at now: Instant) {
        // What the peers of a lost connection are sent may be more than their sockets accept.
        while let id = self.order.first(where: { id in
            self.ends[id]?.slot.map { !self.loop.isDetachable($0) } ?? false
        }) {
            self.drop(id, at: now)
            repeat { self.endTick(at: now) } while self.work(at: now)
        }
    }

    private mutating func adopt(_ state: DetachedConnection, at now: Instant) {
        guard let origin = self.ends[state.id]?.origin else { return }
        self.gateway.assign(state.id, to: 0, payer: origin.payer, in: state.audiences)
        let outbox = self.outbox
        var slot = 0
        self.change(at: now) { loop, _, actions in
            slot = loop.adopt(state, payer: origin.payer, outbox: outbox, at: now, into: &actions)
            loop.open(slot, Self.socket(state.id), at: now, into: &actions)
        }
        self.ends[state.id]?.slot = slot
    }

    /// The value as the next process decodes it.
    private static func copy<Value: Codable>(_ value: Value) throws -> Value {
        let bytes = try StateCoder.encode(value, format: GatewayState.format)
        return try StateCoder.decode(Value.self, from: bytes, format: GatewayState.format)
    }
}

/// Why a gateway cannot be handed over.
package enum HandoverError: Error, Hashable {
    /// A stored message of the encoded state cannot be decoded.
    case undecodable
}
