internal import WaymarkHistory
internal import WaymarkLint
internal import WaymarkModel
internal import WaymarkProtocol

/// What an observer of the gateway would have been told of a run, as far as the frames of its peers say it: who is connected, which
/// sessions there are, who is in them, and what happened.
///
/// Why not an observer: a gateway of another may have none to offer, and a run with an observer would be another run than without.
struct RunObserver {
    /// What one entry changed.
    struct Told {
        var records = ObservedRecords()
        var events: [ObservedEvent] = []

        var hasRecords: Bool { self.records != ObservedRecords() }
    }

    /// Of each peer, in the order in which it connected, with when it did.
    private var connections: [PeerID: [(id: ConnectionID, began: Instant)]] = [:]
    private var connectionCount: UInt64 = 0
    private var hellos: [PeerID: Hello] = [:]
    /// How long each peer may stay away.
    private var graces: [PeerID: Duration] = [:]
    private var granted: [ClientID: FeatureSet] = [:]
    private var vehicles: [VehicleID: VehicleRecord] = [:]
    private var clients: [ClientID: ClientRecord] = [:]
    private var sessions: [SessionID: SessionRecord] = [:]
    /// The sessions that the gateway opened.
    private var openings: [SessionID: Identifier] = [:]
    private var world = LintWorld()

    init() {}

    /// The present or last connection of a peer; of a frame, the one on which it was sent: it may arrive when there is another.
    mutating func connection(of peer: PeerID, sentAt instant: Instant? = nil) -> ConnectionID {
        guard let known = self.connections[peer], let first = known.first, let last = known.last else {
            return self.connect(peer, at: Instant(nanoseconds: 0))
        }
        guard let instant else { return last.id }
        return known.last { $0.began <= instant }?.id ?? first.id
    }

    private mutating func connect(_ peer: PeerID, at now: Instant) -> ConnectionID {
        self.connectionCount += 1
        self.connections[peer, default: []].append((ConnectionID(self.connectionCount), now))
        return ConnectionID(self.connectionCount)
    }

    /// The vehicles of a session.
    func vehicles(of session: SessionID) -> [VehicleID] {
        guard session != .none else { return [] }
        return self.vehicles.values.filter { $0.session == session }.map(\.vehicle).sorted()
    }

    /// Sees the next entry. `isAccepted`: the gateway did not reject it.
    mutating func see(_ entry: History.Entry, isAccepted: Bool) -> Told {
        var told = Told()
        switch entry.kind {
        case .connection(let peer, let change): self.see(change, of: peer, entry, &told)
        case .frame(let crossed):
            // What a fault changed says nothing for sure.
            guard crossed.delivery != .corrupted else { break }
            if crossed.way == .toPeer {
                self.see(sent: crossed, entry, &told)
            } else if crossed.delivery == .whole, isAccepted {
                self.see(received: crossed, entry, &told)
            }
        case .fault(let fault) where fault.peer == nil && fault.kind == VirtualRun.GatewayFault.kill.rawValue:
            self.forgetSessions(&told)
        case .broken, .fault, .step, .log: break
        }
        return told
    }

    // MARK: Connections

    private mutating func see(
        _ change: History.Connection, of peer: PeerID, _ entry: History.Entry, _ told: inout Told
    ) {
        switch change {
        case .connecting:
            _ = self.connect(peer, at: entry.instant)
        case .refused: break
        case .admitted(let isResumed):
            _ = self.world.apply(entry)
            self.change(peer, at: entry.instant, isConnected: true, isResumed: isResumed, &told)
            self.tell(isResumed ? .resumed : .admitted, of: peer, &told)
            self.tellPresence(of: peer, isPresent: true, &told)
        case .ended(let code):
            _ = self.world.apply(entry)
            guard self.isConnected(peer) else { return }
            self.tell(.departed, of: peer, code: code == .normal ? 1 : 0, &told)
            if code == .normal {
                self.remove(peer, &told)
            } else {
                self.change(peer, at: entry.instant, isConnected: false, isResumed: true, &told)
                self.tellPresence(of: peer, isPresent: false, &told)
            }
        }
    }

    private func isConnected(_ peer: PeerID) -> Bool {
        switch peer {
        case .client(let id): self.clients[id]?.connection != nil
        case .endpoint(let id, let name):
            self.vehicles[id]?.endpoints.first { $0.endpoint == name }?.connection != nil
        }
    }

    private mutating func change(
        _ peer: PeerID, at now: Instant, isConnected: Bool, isResumed: Bool, _ told: inout Told
    ) {
        let connection = isConnected ? self.connection(of: peer) : nil
        let instant = isConnected ? now : now + (self.graces[peer] ?? .zero)
        switch peer {
        case .client(let id):
            var record = self.clients[id] ?? ClientRecord(id)
            (record.connection, record.instant) = (connection, instant)
            if isConnected {
                record.granted = self.granted[id] ?? []
                record.displayName = self.hellos[peer]?.displayName ?? ""
                if case .navigation(let hello)? = self.hellos[peer]?.role { record.priority = hello.priority }
            }
            self.clients[id] = record
            told.records.clients.append(record)
        case .endpoint(let id, let name):
            var vehicle = self.vehicles[id] ?? VehicleRecord(id)
            let known = vehicle.endpoints.first { $0.endpoint == name }
            var endpoint =
                isResumed
                ? known ?? EndpointRecord(name) : EndpointRecord(name)
            (endpoint.connection, endpoint.instant) = (connection, instant)
            if isConnected, let hello = self.hellos[peer]?.vehicle {
                (endpoint.features, endpoint.limits) = (hello.features, hello.limits)
                endpoint.preferences = hello.preferences
                vehicle.isGuidanceWanted = hello.guidanceWanted
            }
            vehicle.endpoints.removeAll { $0.endpoint == name }
            vehicle.endpoints.append(endpoint)
            vehicle.endpoints.sort { $0.endpoint < $1.endpoint }
            self.vehicles[id] = vehicle
            told.records.vehicles.append(vehicle)
        }
    }

    /// A peer left, and will not come back by its token.
    private mutating func remove(_ peer: PeerID, _ told: inout Told) {
        switch peer {
        case .client(let id):
            self.clients[id] = nil
            told.records.clientsGone.append(id)
            for session in self.sessions.keys.sorted() where self.sessions[session]?.client == id {
                self.end(session, &told)
            }
        case .endpoint(let id, let name):
            guard var vehicle = self.vehicles[id] else { return }
            vehicle.endpoints.removeAll { $0.endpoint == name }
            self.vehicles[id] = vehicle.endpoints.isEmpty ? nil : vehicle
            if vehicle.endpoints.isEmpty {
                told.records.vehiclesGone.append(id)
            } else {
                told.records.vehicles.append(vehicle)
            }
        }
    }

    /// The sessions of a client wait for it, or it is back.
    private mutating func tellPresence(of peer: PeerID, isPresent: Bool, _ told: inout Told) {
        guard case .client(let id) = peer else { return }
        for session in self.sessions.keys.sorted() where self.sessions[session]?.client == id {
            guard self.sessions[session]?.isSuspended == isPresent else { continue }
            self.refresh(session, &told)
            self.tell(isPresent ? .restored : .suspended, of: session, &told)
        }
    }

    // MARK: Frames

    /// The gateway sent a frame.
    private mutating func see(sent crossed: CrossedFrame, _ entry: History.Entry, _ told: inout Told) {
        guard let message = crossed.message else { return }
        let session = crossed.frame.header.session
        switch message {
        case .welcome(let welcome):
            self.graces[crossed.peer] = .milliseconds(Int64(welcome.graceMilliseconds))
            if case .client(let id) = crossed.peer {
                self.granted[id] = FeatureSet(
                    welcome.features.filter { $0.withheld == nil }.map(\.feature))
            }
        case .goodbye(let goodbye):
            self.tell(.closing, of: crossed.peer, code: goodbye.code.rawValue, &told)
        case .error(let rejection):
            self.tell(
                .rejected, of: crossed.peer, code: rejection.code.rawValue, session: rejection.session, &told)
        case .sessionOpened(let opened): self.openings[opened.session] = opened.requestID
        case .snapshotBegin(let begin): self.join(crossed.peer, session, of: begin.client, &told)
        case .sessionEnded(let end): self.leave(crossed.peer, end, &told)
        case .requestOutcome(let outcome):
            guard case .endpoint = crossed.peer else { break }
            self.tell(
                .requestEnded, of: crossed.peer, code: outcome.outcome.rawValue, request: outcome.requestID,
                &told)
        case .receiptReport(let report):
            for receipt in report.endpoints { self.note(receipt, &told) }
        default: return
        }
        guard case .client = crossed.peer else { return }
        let known = self.sessions.keys.sorted()
        _ = self.world.apply(entry.delivered)
        if case .sessionOpened(let opened) = message {
            self.refresh(opened.session, &told)
            self.tell(.sessionOpened, of: opened.session, &told)
        } else {
            for id in known { self.refresh(id, &told) }
        }
    }

    /// The gateway received a frame.
    private mutating func see(received crossed: CrossedFrame, _ entry: History.Entry, _ told: inout Told) {
        let step = self.world.apply(entry)
        let session = crossed.frame.header.session
        switch crossed.message {
        case .hello(let hello): self.hellos[crossed.peer] = hello
        case .waypointRequest(let request):
            self.tell(.stopRequested, of: crossed.peer, request: request.requestID, &told)
        case .destinationRequest(let request):
            self.tell(.driveRequested, of: crossed.peer, request: request.requestID, &told)
        case .startTripRequest(let request):
            self.tell(.startRequested, of: crossed.peer, request: request.requestID, &told)
        case .receipt(let receipt):
            guard case .endpoint(let vehicle, let endpoint) = crossed.peer else { break }
            self.update(vehicle, endpoint, &told) { $0.receipt = receipt }
        case .publication(let publication):
            guard case .published = step else { return }
            self.refresh(session, &told)
            switch publication {
            case .startGuidance(_, let generation, _):
                self.tell(.started, of: session, code: generation, &told)
            case .pauseGuidance(let reason, _):
                self.tell(.paused, of: session, code: reason.rawValue, &told)
            case .resumeGuidance(_, _, nil): self.tell(.continued, of: session, &told)
            case .resumeGuidance(let generation, _, _):
                self.tell(.rerouted, of: session, code: generation, &told)
            default: break
            }
        default: break
        }
    }

    /// Counts the delays that a client was told of an endpoint.
    private mutating func note(_ told: EndpointReceipt, _ records: inout Told) {
        guard told.receivedDelayMicroseconds != nil || told.shownDelayMicroseconds != nil else { return }
        self.update(told.vehicle, told.endpoint, &records) { endpoint in
            var delays = endpoint.delays ?? EndpointDelays()
            if let microseconds = told.receivedDelayMicroseconds {
                delays.received.add(.microseconds(Int64(clamping: microseconds)))
            }
            if let microseconds = told.shownDelayMicroseconds {
                delays.shown.add(.microseconds(Int64(clamping: microseconds)))
            }
            endpoint.delays = delays
        }
    }

    private mutating func update(
        _ vehicle: VehicleID, _ endpoint: EndpointName, _ told: inout Told,
        _ change: (inout EndpointRecord) -> Void
    ) {
        guard var record = self.vehicles[vehicle],
            let index = record.endpoints.firstIndex(where: { $0.endpoint == endpoint })
        else { return }
        change(&record.endpoints[index])
        guard record != self.vehicles[vehicle] else { return }
        self.vehicles[vehicle] = record
        told.records.vehicles.append(record)
    }

    // MARK: Sessions

    /// Tells a session's record if it has changed.
    private mutating func refresh(_ id: SessionID, _ told: inout Told) {
        guard let request = self.openings[id] else { return }
        guard let view = self.world.sessions[id], case .client(let client) = view.client else {
            return self.end(id, &told)
        }
        var record = SessionRecord(id, of: client)
        (record.requestID, record.phase, record.generation) = (request, view.phase, view.generation)
        record.isSuspended = !view.isConnected
        guard self.sessions[id] != record else { return }
        self.sessions[id] = record
        told.records.sessions.append(record)
    }

    private mutating func join(
        _ peer: PeerID, _ session: SessionID, of client: ClientID, _ told: inout Told
    ) {
        guard case .endpoint(let id, let name) = peer, session != .none, var vehicle = self.vehicles[id],
            let index = vehicle.endpoints.firstIndex(where: { $0.endpoint == name })
        else { return }
        let isNew = vehicle.session != session
        guard isNew || vehicle.endpoints[index].session != session else { return }
        vehicle.endpoints[index].session = session
        vehicle.session = session
        self.vehicles[id] = vehicle
        told.records.vehicles.append(vehicle)
        guard isNew else { return }
        self.tell(.joined, of: peer, session: session, &told)
        // Its SessionOpened may still be on its way.
        told.events[told.events.count - 1].client = client
    }

    private mutating func leave(_ peer: PeerID, _ end: SessionEnded, _ told: inout Told) {
        guard case .endpoint(let id, _) = peer else {
            return self.tell(.sessionEnded, of: end.session, code: end.reason.rawValue, &told)
        }
        guard var vehicle = self.vehicles[id], vehicle.session == end.session, end.session != .none else {
            return
        }
        self.tell(.left, of: peer, code: end.reason.rawValue, session: end.session, &told)
        vehicle.session = .none
        for index in vehicle.endpoints.indices { vehicle.endpoints[index].session = .none }
        self.vehicles[id] = vehicle
        told.records.vehicles.append(vehicle)
        // Its client is not told while it is away.
        guard let client = self.sessions[end.session]?.client, self.clients[client]?.connection == nil else {
            return
        }
        self.tell(.sessionEnded, of: end.session, code: end.reason.rawValue, &told)
        self.end(end.session, &told)
    }

    private mutating func end(_ session: SessionID, _ told: inout Told) {
        guard self.sessions.removeValue(forKey: session) != nil else { return }
        self.openings[session] = nil
        told.records.sessionsGone.append(session)
    }

    /// The gateway died, and the next one knows nothing.
    private mutating func forgetSessions(_ told: inout Told) {
        told.records.sessionsGone = self.sessions.keys.sorted()
        told.records.vehiclesGone = self.vehicles.keys.sorted()
        told.records.clientsGone = self.clients.keys.sorted()
        (self.sessions, self.vehicles, self.clients, self.openings) = ([:], [:], [:], [:])
        self.world = LintWorld()
    }

    // MARK: Events

    private func tell(
        _ kind: ObservedKind, of peer: PeerID, code: UInt32 = 0, session: SessionID = .none,
        request: Identifier = "", _ told: inout Told
    ) {
        var event = ObservedEvent(kind)
        (event.code, event.session, event.request) = (code, session, request)
        event.connection = self.connections[peer]?.last?.id
        switch peer {
        case .client(let id): event.client = id
        case .endpoint(let id, _):
            event.vehicles = [id]
            if session == .none { event.session = self.vehicles[id]?.session ?? .none }
            event.client = self.sessions[event.session]?.client
        }
        told.events.append(event)
    }

    private func tell(_ kind: ObservedKind, of session: SessionID, code: UInt32 = 0, _ told: inout Told) {
        var event = ObservedEvent(kind)
        (event.code, event.session) = (code, session)
        event.client = self.sessions[session]?.client
        event.vehicles = self.vehicles(of: session)
        told.events.append(event)
    }
}

extension History.Entry {
    /// With a frame that a fault kept from its receiver as if it had arrived: the gateway sent it.
    fileprivate var delivered: History.Entry {
        guard case .frame(let crossed) = self.kind, crossed.delivery == .dropped else { return self }
        let whole = CrossedFrame(crossed.frame, of: crossed.peer, crossed.way, sent: crossed.sent)
        return History.Entry(index: self.index, instant: self.instant, kind: .frame(whole))
    }
}
