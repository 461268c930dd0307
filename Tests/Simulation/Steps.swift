internal import ExpectedState
internal import GatewayInMemory
internal import WaymarkCodec
internal import WaymarkConnections
internal import WaymarkGateway
internal import WaymarkModel
internal import WaymarkProtocol

// The random steps.
extension SimulatedNetwork {
    mutating func takeStep() {
        if !self.attackers.isEmpty, self.random.once(in: 5) { return self.attack() }
        if self.isFlooded, self.random.once(in: 4) { return self.flood() }
        if !self.ruleSets.isEmpty, self.random.once(in: 40) { return self.reload() }
        switch self.random.number(0...99) {
        case 0..<8: self.connectPeer()
        case 8: self.cutConnection()
        case 9..<11: self.toggleStall()
        case 11..<31: self.publish(self.random.number(0...self.apps.count - 1))
        case 31..<57: self.readSomewhere(atGateway: true)
        case 57..<85: self.readSomewhere(atGateway: false)
        case 85..<91: self.actAsEndpoint(self.random.number(0...self.endpoints.count - 1))
        case 91..<94: self.actAsApp(self.random.number(0...self.apps.count - 1))
        case 94..<96: self.passSomeTime()
        case 96..<99: self.actAsHostile()
        default: self.takeRareStep()
        }
    }

    // MARK: Connecting and disconnecting

    private mutating func connectPeer() {
        let endpoints = self.endpoints.indices.filter { self.endpoints[$0].connection == nil }
        let apps = self.apps.indices.filter { self.apps[$0].connection == nil }
        if let index = self.observers.firstIndex(where: { $0.connection == nil }), self.random.once(in: 2) {
            return self.connectObserver(index)
        }
        if let index = self.random.pick(endpoints), self.random.once(in: 2) || apps.isEmpty {
            self.connectEndpoint(index)
        } else if let index = self.random.pick(apps) {
            self.connectApp(index)
        }
    }

    private mutating func cutConnection() {
        if let id = self.random.pick(self.connectionIDs) { self.cut(id) }
    }

    private mutating func toggleStall() {
        guard let id = self.random.pick(self.connectionIDs) else { return }
        self.connections[id]?.isStalled.toggle()
        self.note { "\($0.name(id)) \($0.connections[id]?.isStalled == true ? "stalls" : "reads on")" }
    }

    /// A new daemon, with or without a handover, or a peer that leaves with a Goodbye.
    private mutating func takeRareStep() {
        switch self.random.number(0...9) {
        case 0: self.restartGateway()
        case 1..<4:
            guard let id = self.random.pick(self.connectionIDs) else { return }
            self.note { "\($0.name(id)) leaves" }
            self.handle(.leaveRequested(Goodbye(.normal)), atPeerOf: id)
        case 4..<7:
            self.handOver()
            if self.random.once(in: 2) { self.reload() }
        default: break
        }
    }

    // MARK: Bytes

    private mutating func readSomewhere(atGateway: Bool) {
        let count = self.connectionIDs.count
        guard count > 0 else { return }
        let start = self.random.number(0...count - 1)
        for offset in 0..<count {
            let id = self.connectionIDs[(start + offset) % count]
            guard atGateway ? self.host.hasInput(id) : self.hasOutput(id) else { continue }
            let byteCount =
                self.random.once(in: 3) ? self.random.number(1...40) : self.random.number(1...2_000)
            return atGateway
                ? self.readAtGateway(id, byteCount: byteCount) : self.readAtPeer(id, byteCount: byteCount)
        }
    }

    // MARK: Clients

    mutating func publish(_ index: Int) {
        guard let connection = self.apps[index].connection, self.apps[index].isWelcome,
            self.host.inputCount(of: connection) < 8_192
        else { return }
        guard let (session, published) = self.apps[index].publish(&self.source.random) else {
            if self.apps[index].session == nil { self.open(index) }
            return
        }
        let frame = Self.frame(of: published, in: session)
        if published.refusal == nil { self.logs[session]?.append(frame, published.publication) }
        self.note { "\($0.name(connection)) publishes \(frame.line)" }
        self.connections[connection]?.peer?.noteSent()
        self.write(Array(frame.bytes), from: connection)
    }

    private static func frame(of published: SimulatedApp.Published, in session: SessionID) -> Frame {
        if let unknown = published.unknown { return unknown.frame(in: session, published.sequence) }
        guard let publication = published.publication else { preconditionFailure("nothing is published") }
        return Codec.encode(
            Envelope(.publication(publication), session: session, sequence: published.sequence))
    }

    /// Requests a session, now and then a second time before the answer.
    mutating func open(_ index: Int) {
        guard let connection = self.apps[index].connection, self.apps[index].isWelcome else { return }
        guard self.apps[index].opening == nil || self.random.once(in: 8) else { return }
        self.send(self.apps[index].open(), from: connection)
    }

    private mutating func actAsApp(_ index: Int) {
        guard let connection = self.apps[index].connection, self.apps[index].isWelcome,
            !self.apps[index].intentions.isEmpty
        else { return }
        self.send(self.apps[index].intentions.removeFirst(), from: connection)
    }

    // MARK: Vehicles

    private mutating func actAsEndpoint(_ index: Int) {
        guard let connection = self.endpoints[index].connection, self.endpoints[index].isWelcome else {
            return
        }
        if !self.endpoints[index].intentions.isEmpty, !self.random.once(in: 4) {
            return self.send(self.endpoints[index].intentions.removeFirst(), from: connection)
        }
        if self.random.once(in: 8) { return self.sendEvent(of: index, connection) }
        guard self.endpoints[index].mayRequest else { return self.tellSettings(index, connection) }
        switch self.random.number(0...15) {
        case 0: self.send(.cancelNavigation(.userStopped), from: connection)
        case 1: self.send(.cancelNavigation(.ownNavigationStarted), from: connection)
        case 2...4: self.send(.allowNavigation, from: connection)
        case 5...9: self.send(self.endpoints[index].request(&self.source.random), from: connection)
        case 10:
            guard let selection = self.endpoints[index].selection(&self.source.random) else { return }
            self.send(selection, from: connection)
        case 11: self.resend(self.random.pick(self.endpoints[index].requests), index, connection)
        case 12:
            guard let id = self.random.pick(self.endpoints[index].openRequests) else { return }
            self.send(.withdrawRequest(WithdrawRequest(requestID: id)), from: connection)
        default: self.tellSettings(index, connection)
        }
        if let id = self.endpoints[index].unsentRequests.first { self.resend(id, index, connection) }
    }

    private mutating func sendEvent(of index: Int, _ connection: ConnectionID) {
        guard let event = self.endpoints[index].event(&self.source.random) else { return }
        self.send(event, from: connection, session: self.endpoints[index].session)
    }

    mutating func resend(_ id: Identifier?, _ index: Int, _ connection: ConnectionID) {
        guard let id, let message = self.endpoints[index].send(id) else { return }
        self.send(message, from: connection)
    }

    mutating func tellSettings(_ index: Int, _ connection: ConnectionID) {
        var settings = VehicleSettings()
        settings.isReadyToShow = self.random.once(in: 2)
        if self.random.once(in: 4) { settings.speedLimit = self.random.once(in: 2) ? .disabled : .enabled }
        self.send(.vehicleSettings(settings), from: connection)
    }

    // MARK: Hostile peers

    private mutating func actAsHostile() {
        guard let index = self.random.pick(self.hostile.indices) else { return }
        guard let connection = self.hostile[index].connection else {
            let id = self.connect(.hostile(index), nil)
            return self.hostile[index].connect(id, &self.source.random)
        }
        // Only ids in use, so that the impostor must be refused: any peer may use a free id.
        let vehicles = self.endpoints.filter { self.isPresent($0.connection) }.map(\.path.vehicle)
        let clients = self.apps.filter { self.isPresent($0.connection) }
        let bytes = self.hostile[index].speak(
            (vehicles, clients.map(\.id), clients.compactMap(\.session)), &self.source.random)
        self.note { "\($0.name(connection)) sends \(bytes)" }
        self.write(bytes, from: connection)
    }

    func isPresent(_ connection: ConnectionID?) -> Bool {
        connection.map { self.inspector.watch.present[$0] != nil } ?? false
    }

    // MARK: Time

    private mutating func passSomeTime() {
        let isLong = self.random.once(in: 4)
        self.pass(.milliseconds(isLong ? self.random.number(1_000...15_000) : self.random.number(1...500)))
    }

    /// Advances time, from deadline to deadline.
    mutating func pass(_ duration: Duration) {
        let end = self.now + duration
        while let (deadline, fire) = self.nextDeadline, deadline <= end, self.violations.isEmpty {
            self.now = max(self.now, deadline)
            fire(&self)
        }
        self.now = end
    }

    /// The first deadline of all state machines, and the action for it.
    private var nextDeadline: (Instant, (inout SimulatedNetwork) -> Void)? {
        var first: (Instant, (inout SimulatedNetwork) -> Void)?
        func consider(_ deadline: Instant?, _ fire: @escaping (inout SimulatedNetwork) -> Void) {
            guard let deadline, first.map({ deadline < $0.0 }) ?? true else { return }
            first = (deadline, fire)
        }
        consider(self.host.gateway.deadline) {
            $0.atGateway { $0.gatewayDeadlineReached(at: $1) }
            $0.endTick()
        }
        consider(self.host.loopDeadline) { $0.atGateway { $0.loopDeadlineReached(at: $1) } }
        for id in self.connectionIDs {
            guard let connection = self.connections[id] else { continue }
            consider(connection.peerDeadline) {
                $0.connections[id]?.peerDeadline = nil
                $0.handle(.deadlineReached, atPeerOf: id)
            }
        }
        return first
    }
}
