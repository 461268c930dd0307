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

/// The gateway's end of a network in memory: event loops, and a pipe in each direction of every connection.
///
/// It drives `LoopCore` and `GatewayCore` as `WaymarkTransport` does with SwiftNIO. No clock and no I/O: the same calls give the same
/// bytes. A rig hands something in, lets ``settle(at:)`` do what follows, and then calls ``takeOutput(of:atMost:)``. The random simulation
/// calls the steps of ``settle(at:)`` in an order of its own, and disturbs them with a ``HostTap``.
///
/// Not modelled: what listeners do before a Hello (keys, quotas of connections, delayed answers to failures).
package struct GatewayHost {
    /// The bytes that the sockets of a connection hold in one direction. When they are full, the gateway's outbox fills.
    package static let socketBytes = 262_144
    /// The most that one read takes.
    private static let readBytes = 65_536

    /// The work that is done before others are served: as much as the daemon does, unless a simulation wants less.
    package struct Budgets: Sendable {
        package var gateway = GatewayCore.Budget()
        package var loop = LoopCore.Budget()
        /// See `Gateway.stepUnitsMax`.
        package var stepUnitsMax: UInt64?

        package init() {}
    }

    /// An event loop. The gateway runs on the first.
    package struct Loop {
        package internal(set) var core: LoopCore
        /// The instant at which its timer fires; nil if it does not.
        var deadline: Instant?
        /// The gateway's instructions that were not yet performed.
        package internal(set) var instructions: [(list: [Instruction], batchesDone: [ProcessedBatch])] = []
    }

    var policy: Gateway.Policy
    let limits: ConnectionLimits
    let outbox: Outbox.Limits
    let software: String
    private let loopLimits: LoopCore.Limits
    private let budgets: Budgets
    let tap: (any HostTap)?
    package internal(set) var gateway: GatewayCore
    package internal(set) var loops: [Loop]
    var ends: [ConnectionID: End] = [:]
    /// In the order of connecting.
    var order: [ConnectionID] = []
    var isRunPlanned = false
    private var lastConnection: UInt64 = 0
    var tokens: SeededRandom

    /// A gateway without connections. `tokenSeed` decides the resumption tokens. Session ids follow `lastSession`.
    package init(
        policy: Gateway.Policy = .init(), limits: ConnectionLimits = .init(), outbox: Outbox.Limits = .init(),
        identity: GatewayIdentity = .unnamed, tokenSeed: UInt64, lastSession: SessionID = .none,
        software: String = "simulation", loopCount: Int = 1, portionBytes: Int = 32_768,
        budgets: Budgets = Budgets(), tap: (any HostTap)? = nil
    ) {
        self.policy = policy
        self.limits = limits
        self.outbox = outbox
        self.software = software
        self.loopLimits = LoopCore.Limits(
            waitingBytesMax: .max, slowConsumerTimeout: outbox.slowConsumerTimeout, portionBytes: portionBytes
        )
        self.budgets = budgets
        self.tap = tap
        self.tokens = SeededRandom(seed: tokenSeed)
        var gateway = Gateway(policy: policy, coder: Codec.coder, firstSession: lastSession)
        gateway.identity = identity
        self.gateway = GatewayCore(gateway, loopCount: loopCount, software: software)
        self.loops = Array(repeating: Loop(core: LoopCore(limits: self.loopLimits)), count: loopCount)
        self.begin(gateway)
    }

    /// The next process begins, with this gateway. The ends are left.
    mutating func begin(_ gateway: Gateway) {
        var gateway = gateway
        if let stepUnitsMax = self.budgets.stepUnitsMax { gateway.stepUnitsMax = stepUnitsMax }
        self.gateway = GatewayCore(gateway, loopCount: self.loops.count, software: self.software)
        self.gateway.budget = self.budgets.gateway
        self.gateway.tap = self.tap
        for index in self.loops.indices {
            self.loops[index] = Loop(core: LoopCore(limits: self.loopLimits))
            self.loops[index].core.budget = self.budgets.loop
        }
        self.isRunPlanned = false
    }

    /// The gateway's end of one connection.
    struct End {
        let id: ConnectionID
        let origin: PeerOrigin
        let loop: Int
        /// The most that the sockets hold for the peer.
        var socketBytes: Int
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
        /// The peer reads nothing any more, and its sockets accept nothing.
        var isPeerGone = false

        /// Input is processed, and output is sent.
        var isOpen: Bool { self.slot != nil && self.closesAt == nil }
        var hasInput: Bool { self.input.count > 0 || self.input.isEnded }

        private var room: Int {
            if self.isPeerGone { return 0 }
            return self.socketBytes == .max ? .max : max(0, self.socketBytes - self.output.count)
        }

        /// A loop sends.
        ///
        /// - Returns: How many bytes the socket says that it has accepted.
        mutating func accept(_ bytes: RawSpan, _ tap: (any HostTap)?) -> Int {
            guard !self.isPeerGone else { return 0 }
            let count = min(self.room, bytes.byteCount)
            let (taken, told) =
                tap?.accept(bytes.byteCount, room: self.room, on: self.id) ?? (taken: count, told: count)
            unsafe bytes.extracting(first: taken).withUnsafeBytes { unsafe self.output.write($0) }
            return told
        }

        /// The channel writes what the socket accepts, or everything.
        ///
        /// - Returns: Whether the socket now has a whole portion.
        mutating func writeChannel(ignoringRoom: Bool) -> Bool {
            let room = ignoringRoom && !self.isPeerGone ? .max : self.room
            let count = min(room, self.channel.count)
            self.output.write(self.channel.prefix(count))
            self.channel.removeFirst(count)
            guard self.channel.isEmpty else { return false }
            if self.closesAt != nil { self.output.end() }
            defer { self.hasPortion = false }
            return self.hasPortion
        }
    }

    // MARK: Connections

    /// The open connections, in the order of connecting.
    package var connections: [ConnectionID] { self.order }

    /// A peer connects. `isPlain`: its transport is a socket, and not more.
    package mutating func connect(
        _ origin: PeerOrigin, to loop: Int = 0, socketBytes: Int = Self.socketBytes, isPlain: Bool = true,
        at now: Instant
    ) -> ConnectionID {
        self.lastConnection += 1
        let id = ConnectionID(self.lastConnection)
        self.ends[id] = End(id: id, origin: origin, loop: loop, socketBytes: socketBytes)
        self.order.append(id)
        self.gateway.assign(id, to: loop, payer: origin.payer)
        let (limits, outbox) = (self.limits, self.outbox)
        var slot = 0
        self.change(loop, at: now) { core, _, actions in
            slot = core.add(
                id, payer: origin.payer, limits: limits, outbox: outbox, allowedRoles: origin.allowedRoles,
                at: now, into: &actions)
        }
        self.ends[id]?.slot = slot
        self.change(loop, at: now) { core, _, actions in
            core.open(slot, isPlain ? Self.socket(id) : nil, at: now, into: &actions)
        }
        return id
    }

    static func socket(_ id: ConnectionID) -> SocketID {
        SocketID(rawValue: CInt(truncatingIfNeeded: id.rawValue))
    }

    /// Whether the gateway's end of a connection is there, and does not close.
    package func isOpen(_ id: ConnectionID) -> Bool { self.ends[id]?.isOpen == true }

    /// The place of a connection; nil if the gateway has forgotten it.
    package func place(of id: ConnectionID) -> (loop: Int, slot: LoopCore.Slot)? {
        guard let end = self.ends[id], let slot = end.slot else { return nil }
        return (end.loop, slot)
    }

    /// The number of bytes of a peer that were not read.
    package func inputCount(of id: ConnectionID) -> Int { self.ends[id]?.input.count ?? 0 }

    /// Whether the gateway's end would read something.
    package func hasInput(_ id: ConnectionID) -> Bool { self.isOpen(id) && self.ends[id]?.hasInput == true }

    /// How many more bytes the sockets of a connection hold before its peer cannot write.
    package func inputRoom(of id: ConnectionID) -> Int {
        max(0, Self.socketBytes - (self.ends[id]?.input.count ?? Self.socketBytes))
    }

    /// Sets how many bytes the sockets hold for a peer.
    package mutating func setSocketBytes(_ byteCount: Int, of id: ConnectionID) {
        self.ends[id]?.socketBytes = byteCount
    }

    /// Bytes of a peer arrive. At most ``inputRoom(of:)`` at a time: more would not have fitted into its sockets.
    package mutating func receive(_ bytes: [UInt8], on id: ConnectionID) {
        self.ends[id]?.input.write(bytes)
    }

    /// A peer has closed its direction: what it sent before is still read. The gateway then closes the other.
    package mutating func peerClosed(_ id: ConnectionID) { self.ends[id]?.input.end() }

    /// A connection breaks: of what was under way to the gateway only the first bytes arrive.
    package mutating func cut(_ id: ConnectionID, keeping count: Int) {
        self.ends[id]?.input.cut(keeping: count)
    }

    /// A peer is gone, and reads nothing more. What it sent before is still read.
    package mutating func abandon(_ id: ConnectionID, at now: Instant) {
        self.ends[id]?.input.end()
        self.ends[id]?.isPeerGone = true
        guard let end = self.ends[id], !end.isOpen else { return }
        self.drop(id, at: now)
        self.forget(id)
    }

    /// The process ends with all its connections, and the next one begins with this gateway.
    package mutating func crash(before gateway: Gateway) {
        (self.ends, self.order) = ([:], [])
        self.begin(gateway)
    }

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

    /// Whether nothing is under way to a peer.
    package func isSilent(_ id: ConnectionID) -> Bool {
        self.ends[id].map { $0.output.count == 0 && $0.channel.isEmpty } ?? true
    }

    private mutating func forget(_ id: ConnectionID) {
        self.ends[id] = nil
        self.order.removeAll { $0 == id }
    }

    /// The transport has closed: nothing more is read or sent. What the sockets hold for the peer still arrives.
    mutating func drop(_ id: ConnectionID, at now: Instant) {
        guard let (loop, slot) = self.place(of: id) else { return }
        self.change(loop, at: now) { core, send, actions in
            core.transportClosed(slot, at: now, send, into: &actions)
        }
        // The steps since may have dropped it.
        guard self.ends[id]?.slot != nil else { return }
        self.ends[id]?.slot = nil
        self.ends[id]?.closesAt = nil
        self.ends[id]?.channel = []
        self.ends[id]?.output.end()
        self.tap?.see(.removed, of: id)
        self.change(loop, at: now) { core, _, actions in core.remove(slot, at: now, into: &actions) }
        if let end = self.ends[id], end.isEndRead || end.isPeerGone { self.forget(id) }
    }

    // MARK: Time

    /// When ``deadlineReached(at:)`` must be called.
    package var deadline: Instant? { [self.gateway.deadline, self.loopDeadline].compactMap(\.self).min() }

    /// The first deadline of the loops, and of connections that close.
    package var loopDeadline: Instant? {
        (self.loops.compactMap { $0.deadline } + self.order.compactMap { self.ends[$0]?.closesAt }).min()
    }

    /// Hands in every deadline that has passed.
    package mutating func deadlineReached(at now: Instant) {
        if let deadline = self.gateway.deadline, deadline <= now { self.gatewayDeadlineReached(at: now) }
        self.loopDeadlineReached(at: now)
    }

    /// Hands in the deadline of the gateway.
    package mutating func gatewayDeadlineReached(at now: Instant) {
        self.gateway.deadlineReached(at: now)
        self.planRun()
    }

    /// Hands in the deadlines of loops, and of connections that close, that have passed.
    package mutating func loopDeadlineReached(at now: Instant) {
        for index in self.loops.indices {
            guard let deadline = self.loops[index].deadline, deadline <= now else { continue }
            self.loops[index].deadline = nil
            self.change(index, at: now) { core, send, actions in
                core.deadlineReached(at: now, send, into: &actions)
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
                if self.read(id, atMost: Self.readBytes, at: now) { isBusy = true }
                self.endTick(at: now)
            }
            self.endTick(at: now)
            if self.runLoops(at: now) || self.isRunPlanned { isBusy = true }
            for id in self.order where self.pump(id, at: now) { isBusy = true }
        }
    }

    // MARK: Reading and writing

    /// Lets a connection read once.
    ///
    /// - Returns: Whether it has read something.
    @discardableResult
    package mutating func read(_ id: ConnectionID, atMost bytesMax: Int, at now: Instant) -> Bool {
        guard let (loop, slot) = self.place(of: id), self.ends[id]?.hasInput == true,
            self.loops[loop].core.mayRead(slot)
        else { return false }
        let bytes = self.ends[id]?.input.read(bytesMax) ?? []
        if bytes.isEmpty {
            self.tap?.see(.ended(isInMidFrame: self.loops[loop].core.isInMidFrame(slot)), of: id)
            self.drop(id, at: now)
        } else if self.isOpen(id) {
            self.change(loop, at: now) { core, send, actions in
                unsafe core.receive(slot, bytes.span.bytes, isReadOver: true, at: now, send, into: &actions)
            }
        }
        return true
    }

    /// Lets the channel of a connection write as much as the socket accepts, or everything.
    ///
    /// - Returns: Whether the socket has another portion.
    @discardableResult
    package mutating func pump(_ id: ConnectionID, ignoringRoom: Bool = false, at now: Instant) -> Bool {
        var hasWritten = false
        while let (loop, slot) = self.place(of: id),
            self.ends[id]?.writeChannel(ignoringRoom: ignoringRoom) == true
        {
            hasWritten = true
            self.change(loop, at: now) { core, send, actions in
                core.channelWrote(slot, at: now, send, into: &actions)
            }
        }
        return hasWritten
    }
}
