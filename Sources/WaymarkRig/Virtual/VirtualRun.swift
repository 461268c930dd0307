internal import GatewayInMemory
package import WaymarkClient
package import WaymarkFaults
package import WaymarkGateway
package import WaymarkHistory
package import WaymarkProtocol

/// A run: a gateway, peers, links with faults, and the history. In virtual time all of it is in one process, without sockets.
///
/// Time stands still while bytes can move. Then it jumps to the next deadline. Everything happens in the order in which peers were added, and
/// what is random follows from the seed: two runs of the same calls have the same history, to the byte.
///
/// Over sockets (``Settings/isOverSockets``) the gateway is another process, and a driver says what time it is: see ``catchUp()``.
package struct VirtualRun {
    /// What a run begins with.
    package struct Settings: Sendable {
        package var seed: UInt64 = 1
        package var policy = Gateway.Policy()
        package var limits = ConnectionLimits()
        package var outbox = Outbox.Limits()
        package var history = History.Limits()
        /// The gateway is a process behind sockets; ``policy`` and the limits are its own.
        package var isOverSockets = false
        package init() {}
    }

    /// A fault of the gateway's process.
    package enum GatewayFault: String, Sendable, Hashable, CaseIterable {
        /// It dies without a word, and starts again as another one.
        case kill
        /// It stands still, and then continues.
        case stop
        /// It hands its connections over to the next process.
        case restart
    }

    /// What the gateway's process does.
    private enum Process: Sendable {
        case running
        /// nil: for ever.
        case stopped(until: Instant?)
        case dead(until: Instant?)
    }

    /// So many rounds at one instant are a loop that never ends.
    package static let roundsMax = 100_000

    package internal(set) var now = Instant(nanoseconds: 0)
    package var history: History
    private let settings: Settings
    private var random: SeededRandom
    var gateway: RunGateway
    private var process = Process.running
    /// What must happen to the gateway's process, over sockets.
    var processOrders: [ProcessOrder] = []
    /// How many gateways there were.
    private var epoch: UInt64 = 1
    var cables: [Cable] = []
    /// Rounds at this instant.
    var rounds = 0

    package init(_ settings: Settings = Settings()) {
        self.settings = settings
        self.history = History(limits: settings.history)
        self.random = SeededRandom(seed: settings.seed)
        let tokenSeed = self.random.next()
        self.gateway =
            settings.isOverSockets
            ? RunGateway(sockets: SocketGateway())
            : RunGateway(host: Self.host(settings, epoch: 1, tokenSeed: tokenSeed))
    }

    private static func host(_ settings: Settings, epoch: UInt64, tokenSeed: UInt64) -> GatewayHost {
        GatewayHost(
            policy: settings.policy, limits: settings.limits, outbox: settings.outbox,
            identity: GatewayIdentity(instance: GatewayName(unchecked: "rig"), epoch: epoch),
            tokenSeed: tokenSeed, lastSession: SessionID(UInt32(truncatingIfNeeded: (epoch - 1) * 1_000)),
            software: Software.name)
    }

    // MARK: Peers

    /// A seed for another part of the run, which follows from its own.
    package mutating func newSeed() -> UInt64 { self.random.next() }

    /// The peers, in the order in which they were added.
    package var peers: [PeerID] { self.cables.map(\.peer.id) }

    /// Adds a peer, which connects when it is told ``LinkEvent/open``. A faulty one has a mutation.
    package mutating func add(_ peer: some RigPeer, _ mutation: FrameMutation? = nil) {
        if let storage = peer.storage {
            self.history.add(peer.id, storage: storage, isForeign: peer.isForeign)
        }
        var cable = Cable(peer: peer, faults: LinkFaults(peer.id, seed: self.random.next()))
        cable.mutation = mutation
        self.cables.append(cable)
    }

    /// A peer as it is now; nil if there is none of that id and type.
    package func peer<Peer: RigPeer>(_ id: PeerID, as type: Peer.Type) -> Peer? {
        self.index(of: id).flatMap { self.cables[$0].peer as? Peer }
    }

    /// Lets a peer do something, and performs the actions that follow.
    ///
    /// - Returns: nil if there is no peer of that id and type.
    @discardableResult
    package mutating func change<Peer: RigPeer, Value>(
        _ id: PeerID, as type: Peer.Type,
        _ body: (inout Peer, Instant, inout [PeerAction]) throws -> Value
    ) rethrows -> Value? {
        guard let index = self.index(of: id), var peer = self.cables[index].peer as? Peer else { return nil }
        var actions: [PeerAction] = []
        let value = try body(&peer, self.now, &actions)
        self.cables[index].peer = peer
        self.perform(actions, index)
        return value
    }

    /// Hands an event to a peer, e.g. ``LinkEvent/open`` or ``LinkEvent/close``.
    package mutating func tell(_ id: PeerID, _ event: LinkEvent) {
        if let index = self.index(of: id) { self.tell(index, event) }
    }

    /// How fast a peer reads.
    package mutating func setPace(of id: PeerID, _ change: (inout ReadPace) -> Void) {
        if let index = self.index(of: id) { change(&self.cables[index].pace) }
    }

    private func index(of id: PeerID) -> Int? { self.cables.firstIndex { $0.peer.id == id } }

    // MARK: Faults

    /// Begins a fault of a peer's link.
    ///
    /// - Returns: Its number, for ``clear(_:of:)``; nil if there is no such peer.
    @discardableResult
    package mutating func begin(_ fault: LinkFault, of id: PeerID) -> Int? {
        guard let index = self.index(of: id) else { return nil }
        var actions: [LinkFaults.Action] = []
        let number = self.cables[index].faults.begin(fault, at: self.now, into: &actions)
        self.perform(actions, index)
        return number
    }

    /// Ends a fault of a peer's link.
    package mutating func clear(_ fault: Int, of id: PeerID) {
        guard let index = self.index(of: id) else { return }
        var actions: [LinkFaults.Action] = []
        self.cables[index].faults.clear(fault, at: self.now, into: &actions)
        self.perform(actions, index)
    }

    /// Something happens to the gateway's process, for a time, or to the end of the run. A restart takes no time.
    package mutating func begin(_ fault: GatewayFault, for duration: Duration? = nil) throws {
        let until = duration.map { self.now + $0 }
        let time = duration.map { "for \($0.milliseconds) ms" } ?? "to the end"
        switch fault {
        case .kill:
            self.note(fault, "the gateway is killed, \(time)")
            if self.gateway.host != nil { self.kill() }
            self.processOrders.append(.kill)
            self.process = .dead(until: until)
        case .stop:
            guard case .running = self.process else { return }
            self.note(fault, "the gateway stands still, \(time)")
            self.processOrders.append(.stop)
            self.process = .stopped(until: until)
        case .restart:
            guard case .running = self.process else { return }
            self.note(fault, "the gateway hands over to the next process")
            self.processOrders.append(.restart)
            try self.gateway.host?.restart(at: self.now)
        }
    }

    private mutating func note(_ fault: GatewayFault, _ text: String) {
        self.history.append(.fault(FaultRecord(fault.rawValue, of: nil, text)), at: self.now)
    }

    /// The gateway is gone. What its sockets hold still arrives, and then the end.
    private mutating func kill() {
        for index in self.cables.indices {
            for connection in self.cables[index].connections {
                guard let end = connection.end else { continue }
                let (bytes, _) = self.gateway.takeOutput(of: end, atMost: .max)
                self.cables[index].connections.change(connection.number) { $0.end = nil }
                if !bytes.isEmpty { self.handle(.bytes(connection.number, .toPeer, bytes), index) }
                self.handle(.ended(connection.number, .toPeer, .finished), index)
            }
        }
        self.epoch += 1
        self.gateway.host = Self.host(self.settings, epoch: self.epoch, tokenSeed: self.random.next())
    }

    private var isRunning: Bool { if case .running = self.process { true } else { false } }
    private var isDead: Bool { if case .dead = self.process { true } else { false } }

    /// When the gateway is back.
    private var backAt: Instant? {
        switch self.process {
        case .running: nil
        case .stopped(let until), .dead(let until): until
        }
    }

    // MARK: Time

    /// When something happens by itself; nil if nothing does.
    package var deadline: Instant? {
        var deadline = self.isRunning ? self.gateway.deadline : self.backAt
        func consider(_ instant: Instant?) {
            if let instant { deadline = min(deadline ?? instant, instant) }
        }
        for cable in self.cables {
            consider(cable.faults.deadline)
            consider(cable.peer.deadline)
            consider(self.readDeadline(cable))
        }
        return deadline
    }

    /// Settles, jumps to the next deadline, but not beyond `end`, and settles again.
    ///
    /// - Returns: false if it is `end` now.
    /// - Throws: ``RunError``.
    package mutating func advance(to end: Instant) throws(RunError) -> Bool {
        try self.settle()
        let next = self.deadline.map { min(max($0, self.now), end) } ?? end
        if next > self.now { self.rounds = 0 }
        self.now = max(self.now, next)
        self.fire()
        try self.settle()
        return self.now < end
    }

    /// Runs until an instant, or until `isOver` is true of what happened.
    ///
    /// - Throws: ``RunError``.
    package mutating func run(
        until end: Instant, _ isOver: (inout VirtualRun) -> Bool = { _ in false }
    ) throws(RunError) {
        try self.settle()
        while !isOver(&self), try self.advance(to: end) {}
    }

    /// Hands in every deadline that is due: links, the gateway, peers.
    mutating func fire() {
        for index in self.cables.indices where self.isDue(self.cables[index].faults.deadline) {
            self.handle(.deadlineReached, index)
        }
        if let backAt = self.backAt, backAt <= self.now {
            let wasDead = self.isDead
            self.process = .running
            self.processOrders.append(wasDead ? .start : .resume)
            // What arrived meanwhile is read before timers fire.
            if !wasDead { self.gateway.settle(at: self.now) }
        }
        if self.isRunning, self.isDue(self.gateway.deadline) { self.gateway.deadlineReached(at: self.now) }
        for index in self.cables.indices where self.isDue(self.cables[index].peer.deadline) {
            self.tell(index, .deadlineReached)
        }
    }

    private func isDue(_ deadline: Instant?) -> Bool { deadline.map { $0 <= self.now } ?? false }

    /// Moves bytes until nothing moves any more.
    ///
    /// - Throws: ``RunError``.
    package mutating func settle() throws(RunError) {
        var isMoving = true
        while isMoving {
            isMoving = false
            for index in self.cables.indices {
                if self.connect(index) { isMoving = true }
                if self.write(index) { isMoving = true }
            }
            if self.isRunning { self.gateway.settle(at: self.now) }
            for index in self.cables.indices where self.read(index) { isMoving = true }
            self.rounds += 1
            if self.history.isFull { throw .historyFull }
            if self.rounds > Self.roundsMax { throw .standsStill(self.now) }
        }
    }

    // MARK: Bytes

    private mutating func connect(_ index: Int) -> Bool {
        guard self.cables[index].isConnecting else { return false }
        self.cables[index].isConnecting = false
        let id = self.cables[index].peer.id
        self.history.append(.connection(id, .connecting), at: self.now)
        if let pending = self.gateway.sockets?.connect(id) {
            self.cables[index].pending = pending
            return true
        }
        guard !self.isDead else {
            self.refuse(index, "the gateway does not listen")
            return true
        }
        self.open(index)
        return true
    }

    /// There is a transport: the link accepts or refuses it.
    mutating func open(_ index: Int) {
        self.cables[index].lastNumber += 1
        self.handle(.opened(self.cables[index].lastNumber), index)
    }

    mutating func refuse(_ index: Int, _ reason: String) {
        if let pending = self.cables[index].pending { self.gateway.reset(pending, at: self.now) }
        self.cables[index].pending = nil
        self.history.append(.connection(self.cables[index].peer.id, .refused(reason)), at: self.now)
        self.tell(index, .transportClosed(.cannotConnect(Self.address, reason: reason)))
    }

    /// For the errors of peers' machines.
    package static let address = ServiceAddress.unix(path: "/rig")

    /// Lets the link read what a peer wrote.
    private mutating func write(_ index: Int) -> Bool {
        var hasMoved = false
        for number in self.cables[index].connections.map(\.number)
        where self.cables[index].faults.mayRead(number, .toGateway) {
            guard let place = self.cables[index].index(of: number) else { continue }
            let room =
                self.cables[index].connections[place].end.map { self.gateway.inputRoom(of: $0) } ?? .max
            let bytes = self.cables[index].connections[place].outgoing.read(min(room, Self.readBytes))
            if !bytes.isEmpty {
                self.handle(.bytes(number, .toGateway, bytes), index)
                hasMoved = true
            }
            if self.confirmWrite(index, number) { hasMoved = true }
            if self.tellEnd(index, number) { hasMoved = true }
        }
        return hasMoved
    }

    /// Tells a peer that its sockets have all that it wrote.
    private mutating func confirmWrite(_ index: Int, _ number: Int) -> Bool {
        guard let place = self.cables[index].index(of: number),
            self.cables[index].connections[place].isWriting,
            self.cables[index].connections[place].outgoing.count <= GatewayHost.socketBytes
        else { return false }
        self.cables[index].connections[place].isWriting = false
        self.tell(index, .wrote)
        return true
    }

    /// Tells the link that a peer has closed, once it has read everything before.
    private mutating func tellEnd(_ index: Int, _ number: Int) -> Bool {
        guard let place = self.cables[index].index(of: number),
            self.cables[index].connections[place].outgoing.isAtEnd,
            !self.cables[index].connections[place].isEndTold
        else { return false }
        self.cables[index].connections[place].isEndTold = true
        self.handle(.ended(number, .toGateway, .finished), index)
        self.cables[index].connections.removeAll(where: \.isOver)
        return true
    }

    /// Lets the link read what the gateway sent, as fast as the peer reads.
    private mutating func read(_ index: Int) -> Bool {
        var hasMoved = false
        for connection in self.cables[index].connections {
            let number = connection.number
            guard let end = connection.end,
                self.gateway.outputCount(of: end) > 0 || self.gateway.isEnded(end),
                self.cables[index].faults.mayRead(number, .toPeer),
                self.cables[index].peer.mayReceive || connection.isLeft
            else { continue }
            let isPaced =
                self.cables[index].pace.isPaced && !connection.isLeft && self.gateway.outputCount(of: end) > 0
            let count = isPaced ? self.allowance(index, number) : Self.readBytes
            guard count > 0 else { continue }
            let (bytes, isEnded) = self.gateway.takeOutput(of: end, atMost: count)
            if !bytes.isEmpty { self.handle(.bytes(number, .toPeer, bytes), index) }
            if isPaced, !bytes.isEmpty {
                let isMidFrame = self.cables[index].faults.isMidFrame(number, .toPeer)
                self.cables[index].pace.noteRead(
                    bytes: bytes.count, messages: isMidFrame ? 0 : 1, at: self.now)
            }
            if isEnded {
                self.cables[index].connections.change(number) { $0.end = nil }
                self.handle(.ended(number, .toPeer, .finished), index)
            }
            hasMoved = true
        }
        self.cables[index].connections.removeAll(where: \.isOver)
        return hasMoved
    }

    private mutating func allowance(_ index: Int, _ number: Int) -> Int {
        let wanted = self.cables[index].faults.bytesWanted(number, .toPeer) ?? Self.readBytes
        return min(wanted, self.cables[index].pace.allowance(at: self.now))
    }

    /// When a peer that reads slowly reads on.
    private func readDeadline(_ cable: Cable) -> Instant? {
        guard cable.pace.isPaced else { return nil }
        var deadline: Instant?
        for connection in cable.connections {
            guard let end = connection.end, cable.faults.mayRead(connection.number, .toPeer),
                case let waiting = self.gateway.outputCount(of: end), waiting > 0
            else { continue }
            let wanted = min(waiting, cable.faults.bytesWanted(connection.number, .toPeer) ?? 1)
            let instant = cable.pace.deadline(wanting: wanted)
            deadline = min(deadline ?? instant, instant)
        }
        return deadline
    }

    /// The most that is read at a time.
    private static let readBytes = 65_536

    // MARK: Events and actions

    private mutating func tell(_ index: Int, _ event: LinkEvent) {
        var actions: [PeerAction] = []
        self.cables[index].peer.handle(event, at: self.now, into: &actions)
        self.perform(actions, index)
    }

    private mutating func perform(_ actions: [PeerAction], _ index: Int) {
        for action in actions {
            switch action {
            case .connect: self.cables[index].isConnecting = true
            case .write(let bytes):
                guard let number = self.cables[index].current else { continue }
                let sent = self.cables[index].mutation?.send(bytes, at: self.now) ?? bytes
                self.cables[index].connections.change(number) {
                    $0.outgoing.write(sent)
                    $0.isWriting = true
                }
            case .halfClose:
                guard let number = self.cables[index].current else { continue }
                self.cables[index].connections.change(number) { $0.outgoing.end() }
            case .closeTransport: self.leave(index)
            case .log(let line):
                self.history.append(.log(self.cables[index].peer.id, line), at: self.now)
            }
        }
    }

    /// The peer closes its transport, if it has one, and reads nothing more.
    private mutating func leave(_ index: Int) {
        self.cables[index].isConnecting = false
        if let pending = self.cables[index].pending { self.gateway.reset(pending, at: self.now) }
        self.cables[index].pending = nil
        guard let number = self.cables[index].current else { return }
        self.end(index, number)
    }

    /// A peer's connection is over for it.
    private mutating func end(_ index: Int, _ number: Int, isReset: Bool = false) {
        self.cables[index].connections.change(number) {
            $0.outgoing.end()
            $0.isLeft = true
        }
        guard self.cables[index].current == number else { return }
        self.cables[index].current = nil
        self.history.append(
            .connection(self.cables[index].peer.id, .ended(self.cables[index].goodbye)), at: self.now)
        guard isReset else { return self.tell(index, .transportClosed(nil)) }
        var actions: [PeerAction] = []
        self.cables[index].peer.reset(at: self.now, into: &actions)
        self.perform(actions, index)
    }

    mutating func handle(_ event: LinkFaults.Event, _ index: Int) {
        var actions: [LinkFaults.Action] = []
        self.cables[index].faults.handle(event, at: self.now, into: &actions)
        self.perform(actions, index)
    }

    private mutating func perform(_ actions: [LinkFaults.Action], _ index: Int) {
        for action in actions {
            switch action {
            case .accept(let number): self.accept(number, index)
            case .refuse: self.refuse(index, "a fault refuses the connection")
            case .deliver(let number, let way, let bytes): self.deliver(bytes, way, number, index)
            case .frame(let number, let frame): self.record(frame, number, index)
            case .broken(_, let way, let bytes):
                self.history.append(.broken(self.cables[index].peer.id, way, bytes), at: self.now)
            case .end(let number, let way, let ending): self.end(way, ending, number, index)
            case .note(let record): self.history.append(.fault(record), at: self.now)
            }
        }
    }

    private mutating func accept(_ number: Int, _ index: Int) {
        var connection = Cable.Connection(number: number)
        connection.end =
            self.gateway.host?.connect(PeerOrigin(), at: self.now) ?? self.cables[index].pending
        self.cables[index].pending = nil
        self.cables[index].connections.append(connection)
        self.cables[index].current = number
        self.cables[index].goodbye = nil
        self.cables[index].mutation?.connect()
        self.tell(index, .transportOpened)
    }

    private mutating func deliver(_ bytes: [UInt8], _ way: Way, _ number: Int, _ index: Int) {
        switch way {
        case .toGateway:
            guard let place = self.cables[index].index(of: number),
                let end = self.cables[index].connections[place].end
            else { return }
            self.gateway.receive(bytes, on: end)
            // Each piece is a read of its own.
            if self.isRunning { self.gateway.settle(at: self.now) }
        case .toPeer:
            if self.cables[index].current == number { self.receive(bytes, number, index) }
        }
    }

    private mutating func receive(_ bytes: [UInt8], _ number: Int, _ index: Int) {
        guard let (read, sent) = self.cables[index].mutation?.receive(bytes, at: self.now) else {
            return self.tell(index, .received(bytes))
        }
        if !read.isEmpty { self.tell(index, .received(read)) }
        if !sent.isEmpty { self.cables[index].connections.change(number) { $0.outgoing.write(sent) } }
    }

    /// Writes down what became of a frame. It reaches a receiver that is there.
    private mutating func record(_ frame: CrossedFrame, _ number: Int, _ index: Int) {
        var frame = frame
        let hasReceiver =
            frame.way == .toPeer
            ? self.cables[index].current == number
            : self.cables[index].connections.first { $0.number == number }?.end != nil
        if !hasReceiver, frame.delivery != .dropped {
            frame = CrossedFrame(
                frame.frame, of: frame.peer, frame.way, sent: frame.sent, delivery: .dropped)
        }
        self.history.append(.frame(frame), at: self.now)
        guard frame.delivery == .whole, self.cables[index].current == number else { return }
        switch frame.message {
        case .welcome(let welcome) where frame.way == .toPeer:
            self.history.append(
                .connection(frame.peer, .admitted(resumed: welcome.isResumed)), at: self.now)
        case .goodbye(let goodbye): self.cables[index].goodbye = self.cables[index].goodbye ?? goodbye.code
        default: break
        }
    }

    private mutating func end(_ way: Way, _ ending: LinkFault.Ending, _ number: Int, _ index: Int) {
        switch way {
        case .toGateway:
            guard let place = self.cables[index].index(of: number),
                let end = self.cables[index].connections[place].end
            else { break }
            if ending == .reset {
                self.gateway.reset(end, at: self.now)
                self.cables[index].connections[place].end = nil
            } else {
                self.gateway.peerClosed(end)
            }
        case .toPeer: self.end(index, number, isReset: ending == .reset)
        }
    }
}

/// Why a run cannot go on.
package enum RunError: Error, Sendable, Hashable {
    /// The history has as much as it can hold.
    case historyFull
    /// At this instant things happen without end.
    case standsStill(Instant)
}
