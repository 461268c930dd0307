package import ListeningSockets
package import NIOCore
internal import NIOPosix
internal import Synchronization
package import WaymarkClient
package import WaymarkFaults
internal import WaymarkHistory
internal import WaymarkProtocol
package import WaymarkScenario

/// Carries connections between peers and gateways, and does to them what faults say: sockets and a timer for ``ProxyLinks``.
///
/// Everything happens on one event loop, which is the actor's executor.
package actor ProxyServer: SocketOwner {
    /// Where peers connect, and to which gateway they are carried.
    package struct Pair: Sendable, Hashable {
        package let listen: ListenAddress
        package let gateway: ServiceAddress
        package init(_ listen: ListenAddress, to gateway: ServiceAddress) {
            (self.listen, self.gateway) = (listen, gateway)
        }
    }

    /// What it has done.
    package struct Counts: Sendable, Hashable {
        package var connections = 0
        package var bytesToGateway = 0
        package var bytesToPeer = 0
        /// How often each kind of fault acted or began.
        package var faults: [String: Int] = [:]
        package init() {}
    }

    package nonisolated let loop: any EventLoop
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe self.loop.executor.asUnownedSerialExecutor()
    }

    private let pairs: [Pair]
    let tell: @Sendable (ProxyEvent) -> Void
    private let start: NIODeadline
    var links: ProxyLinks
    private var listeners: [SocketListener] = []
    private(set) var connections: [Int: CarriedConnection] = [:]
    private var lastNumber = 0
    package private(set) var counts = Counts()
    private var timer: (at: Instant, task: Scheduled<Void>)?
    private var isEnded = false
    var control = ControlClients()
    private var controlListener: SocketListener?
    /// Of all listeners, for a program that ends at once.
    private nonisolated let files = Mutex<[SocketListener]>([])

    /// A proxy that has not opened anything. `tell` is called on the event loop: it must not wait.
    package init(
        _ pairs: [Pair], seed: UInt64 = 1, tell: @escaping @Sendable (ProxyEvent) -> Void = { _ in }
    ) {
        (self.pairs, self.tell) = (pairs, tell)
        self.links = ProxyLinks(seed: seed)
        self.loop = MultiThreadedEventLoopGroup.singleton.any()
        self.start = .now()
    }

    // MARK: Beginning and ending

    /// Opens the listeners, once the faults are begun. Either all of them are open afterwards, or none.
    ///
    /// - Returns: Their addresses, in the order of the pairs.
    package func open(control path: String? = nil) async throws(ListenerError) -> [ListenAddress] {
        do throws(ListenerError) {
            for (index, pair) in self.pairs.enumerated() {
                self.listeners.append(try await SocketListener.open(pair.listen, number: index, for: self))
            }
            if let path {
                self.controlListener = try await SocketListener.open(
                    .unix(path: path), number: Self.controlListenerNumber, for: self)
            }
        } catch {
            await self.close()
            throw error
        }
        self.files.withLock { $0 = self.listeners + (self.controlListener.map { [$0] } ?? []) }
        return self.listeners.map(\.address)
    }

    /// Closes all listeners and connections.
    package func close() async {
        self.isEnded = true
        for listener in self.listeners { await listener.close() }
        await self.controlListener?.close()
        for number in self.connections.keys.sorted() {
            self.setEnding(number, .proxyEnded)
            self.closeBoth(number)
            self.report(number)
        }
        self.connections = [:]
        for socket in self.control.sockets { socket.close() }
        self.timer?.task.cancel()
        self.timer = nil
    }

    /// Removes the files of its sockets, when the program ends at once.
    package nonisolated func removeFilesNow() {
        for file in self.files.withLock({ $0 }) { file.removeFile() }
    }

    // MARK: Faults

    /// Begins a fault.
    ///
    /// - Returns: Its name.
    @discardableResult
    package func begin(_ fault: ProxyFault) throws(ProxyLinks.Failure) -> String {
        var actions: [ProxyLinks.Action] = []
        defer { self.perform(actions, mayConcernAll: true) }
        return try self.links.begin(fault, at: self.now, into: &actions)
    }

    package func clear(_ name: String) throws(ProxyLinks.Failure) {
        var actions: [ProxyLinks.Action] = []
        defer { self.perform(actions, mayConcernAll: true) }
        try self.links.clear(name, at: self.now, into: &actions)
    }

    package func clearAll() {
        self.change(mayConcernAll: true) { links, now, actions in links.clearAll(at: now, into: &actions) }
    }

    var now: Instant { Instant(nanoseconds: (.now() - self.start).nanoseconds) }

    private func change(
        mayConcernAll: Bool = false, _ body: (inout ProxyLinks, Instant, inout [ProxyLinks.Action]) -> Void
    ) {
        var actions: [ProxyLinks.Action] = []
        body(&self.links, self.now, &actions)
        self.perform(actions, mayConcernAll: mayConcernAll)
    }

    // MARK: Sockets

    /// Socket 2n is the peer's of connection n, 2n + 1 the one to the gateway. Negative ones are of the control socket.
    package func accepted(_ socket: RigSocket, by listener: Int) -> Int {
        guard !self.isEnded else {
            socket.reset()
            return 0
        }
        if listener == Self.controlListenerNumber { return self.acceptedControl(socket) }
        self.lastNumber += 1
        let number = self.lastNumber
        self.counts.connections += 1
        var connection = CarriedConnection(ProxyConnection(number: number, pair: listener))
        connection.peer.socket = socket
        self.connections[number] = connection
        self.change { links, now, actions in links.opened(number, at: now, into: &actions) }
        return number * 2
    }

    package func handle(_ event: SocketEvent, of socket: Int) {
        guard socket >= 0 else { return self.handleControl(event, of: socket) }
        let number = socket / 2
        guard self.connections[number] != nil else {
            if case .opened(let socket) = event { socket.reset() }
            return
        }
        self.handle(event, number, sender: socket.isMultiple(of: 2) ? .toGateway : .toPeer)
    }

    private func handle(_ event: SocketEvent, _ number: Int, sender way: Way) {
        switch event {
        case .opened(let socket):
            self.connections[number]?[sender: way].socket = socket
            if self.connections[number]?.isClosing == true { socket.reset() }
            let early = self.connections[number]?.early ?? []
            self.connections[number]?.early = []
            for event in early { self.carry(event, number, sender: .toGateway) }
        case .bytes, .ended:
            guard let connection = self.connections[number], !connection.isClosing else { return }
            if connection.gateway.socket == nil {
                self.connections[number]?.early.append(event)
            } else {
                self.carry(event, number, sender: way)
            }
        case .writable: self.carry(event, number, sender: way)
        case .closed(let reason): self.closed(number, sender: way, reason)
        }
        self.setReading(number)
        self.forgetIfOver(number)
    }

    private func carry(_ event: SocketEvent, _ number: Int, sender way: Way) {
        guard self.connections[number]?.isClosing == false else { return }
        switch event {
        case .bytes(let bytes):
            self.change { links, now, actions in
                links.received(bytes, of: number, way, at: now, into: &actions)
            }
        case .ended:
            self.connections[number]?[sender: way].hasEnded = true
            self.setEnding(number, way == .toGateway ? .closedByPeer : .closedByGateway)
            self.change { links, now, actions in
                links.ended(number, way, .finished, at: now, into: &actions)
            }
        case .writable(let isWritable): self.connections[number]?[sender: way].isWritable = isWritable
        case .opened, .closed: break
        }
    }

    private func closed(_ number: Int, sender way: Way, _ reason: String?) {
        guard var connection = self.connections[number] else { return }
        let wasOpen = connection[sender: way].socket != nil
        connection[sender: way].isClosed = true
        self.connections[number] = connection
        guard !connection.isClosing else { return }
        guard wasOpen else {
            self.setEnding(number, .noGateway(reason ?? "it cannot be reached"))
            self.resetBoth(number)
            return
        }
        guard connection[sender: way].hasEnded else {
            self.setEnding(number, way == .toGateway ? .resetByPeer : .resetByGateway)
            self.change { links, now, actions in
                links.ended(number, way, .reset, at: now, into: &actions)
            }
            return
        }
        // What it sent before arrives; nothing can be sent to it.
        self.perform(connection.leave(way), number)
        self.change { links, now, actions in
            links.ended(number, way == .toGateway ? .toPeer : .toGateway, .finished, at: now, into: &actions)
        }
    }

    private func setEnding(_ number: Int, _ ending: ProxyEnding) {
        if self.connections[number]?.ending == nil { self.connections[number]?.ending = ending }
    }

    /// Reads from those whose bytes may be carried on.
    private func setReading(_ number: Int) {
        guard let connection = self.connections[number], !connection.isClosing else { return }
        // Before that, the gateway may turn out to be away.
        let isConnected = connection.peer.socket != nil && connection.gateway.socket != nil
        for way in Way.allCases {
            let reads =
                isConnected && self.links.mayRead(number, way) && connection[receiver: way].isWritable
            guard reads != connection[sender: way].isReading else { continue }
            self.connections[number]?[sender: way].isReading = reads
            // May read at once, and come back here.
            connection[sender: way].socket?.setReading(reads)
        }
    }

    private func forgetIfOver(_ number: Int) {
        guard let connection = self.connections[number], connection.isOver else { return }
        self.report(number)
        self.connections[number] = nil
        self.change { links, now, actions in links.closed(number, at: now, into: &actions) }
    }

    private func report(_ number: Int) {
        guard let connection = self.connections[number] else { return }
        self.tell(.ended(connection.told, connection.ending ?? .byFault))
    }

    // MARK: Actions

    /// Performs actions. `mayConcernAll`: a fault began or ended, so that other connections may have to be read, or not.
    private func perform(_ actions: [ProxyLinks.Action], mayConcernAll: Bool) {
        var mayConcernAll = mayConcernAll
        var touched: Set<Int> = []
        var index = 0
        while index < actions.count {
            switch actions[index] {
            case .connect(let number): self.connect(number)
            case .refuse(let number): self.refuse(number)
            case .named(let number, let peer):
                self.connections[number]?.told.peer = peer
                if let told = self.connections[number]?.told { self.tell(.connected(told)) }
            case .deliver(let number, let way, var bytes):
                // Frames that arrive together are written together.
                while index + 1 < actions.count, case .deliver(number, way, let more) = actions[index + 1] {
                    bytes += more
                    index += 1
                }
                touched.insert(number)
                self.deliver(bytes, number, way)
            case .end(let number, let way, let ending):
                touched.insert(number)
                self.end(number, way, ending)
            case .note(let record):
                self.counts.faults[record.kind, default: 0] += 1
                self.tell(.fault(record))
                mayConcernAll = true
            }
            index += 1
        }
        for number in mayConcernAll ? Set(self.connections.keys) : touched { self.setReading(number) }
        self.arm()
    }

    private func connect(_ number: Int) {
        guard let pair = self.connections[number]?.told.pair else { return }
        RigSocket.connect(to: self.pairs[pair].gateway, as: number * 2 + 1, for: self)
    }

    private func refuse(_ number: Int) {
        guard self.connections[number] != nil else { return }
        self.connections[number]?.ending = .refused
        if self.connections[number]?.gateway.socket == nil {
            self.connections[number]?.gateway.isClosed = true
        }
        self.resetBoth(number)
    }

    private func resetBoth(_ number: Int) {
        self.connections[number]?.isClosing = true
        let connection = self.connections[number]
        connection?.peer.socket?.reset()
        connection?.gateway.socket?.reset()
    }

    private func closeBoth(_ number: Int) {
        self.connections[number]?.isClosing = true
        let connection = self.connections[number]
        connection?.peer.socket?.close()
        connection?.gateway.socket?.close()
    }

    private func perform(_ order: CarriedConnection.Order, _ number: Int) {
        switch order {
        case .none: break
        case .endWriting(let socket): socket.endWriting()
        case .close(let socket): socket.close()
        case .closeBoth: self.closeBoth(number)
        }
    }

    private func deliver(_ bytes: [UInt8], _ number: Int, _ way: Way) {
        guard let receiver = self.connections[number]?[receiver: way], !receiver.isClosed else { return }
        receiver.socket?.write(bytes)
        switch way {
        case .toGateway:
            self.connections[number]?.told.bytesToGateway += bytes.count
            self.counts.bytesToGateway += bytes.count
        case .toPeer:
            self.connections[number]?.told.bytesToPeer += bytes.count
            self.counts.bytesToPeer += bytes.count
        }
    }

    private func end(_ number: Int, _ way: Way, _ ending: LinkFault.Ending) {
        guard var connection = self.connections[number], !connection.isClosing else { return }
        self.setEnding(number, .byFault)
        guard ending != .reset else { return self.resetBoth(number) }
        connection = self.connections[number] ?? connection
        let order = connection.end(way)
        self.connections[number] = connection
        self.perform(order, number)
    }

    // MARK: Time

    private func arm() {
        guard let deadline = self.links.deadline, !self.isEnded else {
            self.timer?.task.cancel()
            self.timer = nil
            return
        }
        if let timer, timer.at == deadline { return }
        self.timer?.task.cancel()
        let task = self.loop.scheduleTask(
            deadline: self.start + .nanoseconds(deadline.nanoseconds)
        ) {
            self.assumeIsolated { $0.reachDeadline() }
        }
        self.timer = (deadline, task)
    }

    private func reachDeadline() {
        self.timer = nil
        self.change(mayConcernAll: true) { links, now, actions in
            links.deadlineReached(at: now, into: &actions)
        }
    }
}
