import OrderedCollections
import WaymarkAccess
import WaymarkProtocol

@testable import WaymarkGateway

extension WalkWorld {
    // MARK: What must always hold

    /// The reasons of the page; none if it cannot be read, which fails every walk.
    private static let causes = (try? CausesPage().reasons) ?? []

    /// Every request that is no longer open has had one outcome, told once to each endpoint.
    mutating func checkRequests(_ before: Gateway, _ step: Step, _ actions: [Gateway.Action]) {
        var told: [ConnectionID: [Identifier: Int]] = [:]
        for case .send(let id, let envelope) in actions {
            guard case .requestOutcome(let outcome) = envelope.message, case .endpoint? = self.peer(of: id)
            else { continue }
            told[id, default: [:]][outcome.requestID, default: 0] += 1
            if !Self.causes.contains(where: { $0.outcome == outcome.outcome && $0.cause == outcome.cause }) {
                self.fail("\(outcome.outcome) has no cause \(String(describing: outcome.cause)) on the page")
            }
            let recorded = self.gateway.vehicles[outcome.vehicle]?.outcomes.outcomes {
                $0.requestID == outcome.requestID
            }
            if recorded != [outcome] { self.fail("\(outcome.requestID) has the outcomes \(recorded ?? [])") }
        }
        if told.values.contains(where: { $0.values.contains { $0 > 1 } }) {
            self.fail("an outcome is told twice")
        }
        for (number, request) in before.requests where self.gateway.requests[number] == nil {
            let key = request.key
            guard let vehicle = self.gateway.vehicles[key.vehicle], vehicle.principal != nil else { continue }
            if vehicle.outcomes.outcomes(where: { $0.requestID == key.id }).count != 1 {
                self.fail("\(key.id) went without an outcome")
            }
            for (_, connection, _) in vehicle.connections where told[connection]?[key.id] != 1 {
                self.fail("an endpoint was not told how \(key.id) ended")
            }
        }
        if case .ask(let index, let ask) = step, ask != .withdrawal {
            let id: Identifier = ask == .waypoint ? "w" : "d"
            let vehicle = self.plan.endpoints[index].vehicle
            let isEnded = self.gateway.vehicles[vehicle]?.outcomes.outcome(of: id) != nil
            let isOpen = self.gateway.requests.contains { $0.value.vehicle == vehicle && $0.value.id == id }
            if isEnded == isOpen {
                self.fail("\(id) is neither open nor ended, or both")
            }
        }
    }

    /// A message that is answered by an error, and a peer that is refused, change nothing but counts.
    mutating func checkRejection(
        _ before: Gateway, _ event: Gateway.Event, _ actions: [Gateway.Action]
    ) {
        let isRejected = actions.contains {
            switch $0 {
            case .refuse: true
            case .send(_, let envelope): if case .error = envelope.message { true } else { false }
            default: false
            }
        }
        guard isRejected else { return }
        var expected = before
        expected.counters = self.gateway.counters
        if case .published(_, let frames) = event, let (frame, _) = frames.frames.first {
            expected.sessions[frame.header.session]?.skip(frame.header.sequence)
            expected.sessions[frame.header.session]?.acknowledgeAll()
        }
        if expected != self.gateway { self.fail("a rejected event changed something") }
    }

    /// What was on its way from a connection that has ended makes no difference.
    mutating func checkDeaf(to connection: ConnectionID) {
        var gateway = self.gateway
        var actions: [Gateway.Action] = []
        let late: [Gateway.Event] = [
            .received(connection, .cancelNavigation(.ownNavigationStarted), .none),
            .received(connection, .openSession(OpenSession(requestID: "0", vehicles: .anyThatAsked)), .none),
            .departed(connection, clean: true),
        ]
        for event in late { gateway.handle(event, at: self.now, into: &actions) }
        if !actions.isEmpty || gateway != self.gateway { self.fail("a connection that has ended is heard") }
    }

    /// Whether the rules let a peer be connected.
    func isAllowed(_ peer: Peer) -> Bool {
        let access = self.gateway.policy.access
        switch peer {
        case .endpoint(let index):
            let grant = access.grant(of: AccessSubject(), as: .vehicle)
            return access.decision(grant, on: self.plan.endpoints[index].vehicle.rawValue).isAllowed
        case .client(let index):
            let client = self.plan.clients[index].rawValue
            return access.admission(access.grant(of: AccessSubject(), as: .navigation, client: client))
                .isAllowed
        }
    }

    /// Nothing is left that the rules refuse.
    private mutating func checkAccess() {
        for peer in self.connections.keys where !self.isAllowed(peer) {
            self.fail("a peer stays that the rules refuse")
        }
        for session in self.gateway.sessions.values {
            for vehicle in session.vehicles where !self.gateway.mayGuide(session.client, vehicle) {
                self.fail("a client guides a vehicle that it may not guide")
            }
        }
        for (_, request) in self.gateway.requests {
            guard case .destination = request.kind else { continue }
            if !self.gateway.mayGuide(request.client, request.vehicle) {
                self.fail("a client is asked by a vehicle that it may not guide")
            }
        }
    }

    mutating func checkState() {
        self.checkAccess()
        let gateway = self.gateway
        for (id, session) in gateway.sessions {
            if gateway.clients[session.client]?.sessions.contains(id) != true {
                self.fail("a session has no client")
            }
            if session.isSuspended != (gateway.clients[session.client]?.connection == nil) {
                self.fail(
                    "a session is suspended although its client is connected, or not although it is away")
            }
            if Set(session.vehicles).count != session.vehicles.count || !session.tours.isEmpty {
                self.fail("a vehicle is in a session twice")
            }
            let places = gateway.vehicles.values.reduce(0) { count, vehicle in
                count + vehicle.endpoints.values.count { $0.membership?.session == id }
            }
            if session.audiences.values.reduce(0, { $0 + $1.memberCount }) != places {
                self.fail("places in a session are counted wrong")
            }
            for vehicle in session.vehicles where gateway.vehicles[vehicle]?.session != id {
                self.fail("a session has a vehicle that is not in it")
            }
            if session.vehicles.isEmpty, session.selection != .anyThatAsked {
                self.fail("a session has no vehicle")
            }
        }
        for (id, vehicle) in gateway.vehicles { self.check(id, vehicle) }
        for (_, request) in gateway.requests {
            if !gateway.deadlines.contains(request.deadline) { self.fail("\(request.id) waits for ever") }
            if gateway.clients[request.client]?.connection == nil {
                self.fail("\(request.id) is with a departed client")
            }
        }
        for (id, client) in gateway.clients
        where gateway.deadlines.contains(.clientGrace(id)) != (client.connection == nil) {
            self.fail("a client's grace time does not fit its presence")
        }
        let known = gateway.clients.count + gateway.vehicles.values.reduce(0) { $0 + $1.endpoints.count }
        if gateway.known.count != known {
            self.fail("\(gateway.known.count) peers count, \(known) are known")
        }
        if gateway.tourCount != 0 || !gateway.endedSessions.isEmpty { self.fail("a tour is not over") }
        var fresh = gateway
        fresh.rebuildIndex()
        if fresh.index != gateway.index { self.fail("the index is wrong") }
        let kept = gateway.sessions.values.reduce(0) { $0 + $1.kept.retained }
        if gateway.memory.total.retained != kept { self.fail("the books are wrong") }
        if gateway.peers.count != self.connections.count { self.fail("a peer is known that is not there") }
        var deadlines = gateway.deadlines
        if let next = deadlines.next, self.armed.map({ $0 > next }) ?? true {
            self.fail("a deadline is not armed")
        }
    }

    private mutating func check(_ id: VehicleID, _ vehicle: Vehicle) {
        let limits = self.gateway.policy.limits
        if let session = vehicle.session, self.gateway.sessions[session]?.vehicles.contains(id) != true {
            self.fail("a vehicle is in a session that does not have it")
        }
        if !vehicle.isNeeded { self.fail("a vehicle is kept for nothing") }
        if vehicle.openRequests.count > limits.requestsOpenMax { self.fail("too many requests are open") }
        if vehicle.outcomes.count > limits.outcomesKeptMax { self.fail("too many outcomes are kept") }
        let open = self.gateway.requests.filter { $0.value.vehicle == id }.map { ($0.key, $0.value.id) }
        let known = vehicle.openRequests.map { ($0.number, $0.id) }
        if Dictionary(uniqueKeysWithValues: open) != Dictionary(uniqueKeysWithValues: known) {
            self.fail("open requests are not known to their vehicle")
        }
        for endpoint in vehicle.endpoints.values {
            let isInGrace = endpoint.grace.map { self.gateway.deadlines.contains($0) } ?? false
            if isInGrace != (endpoint.connection == nil) {
                self.fail("an endpoint's grace time does not fit its presence")
            }
            guard let connection = endpoint.connection else {
                if endpoint.audience != nil { self.fail("an endpoint that has gone is in an audience") }
                continue
            }
            if self.sessions[connection] != vehicle.session {
                self.fail("an endpoint was not told of its session")
            }
            let isMember = endpoint.audience.map { self.members[$0]?.contains(connection) == true }
            if vehicle.session != nil, isMember != true { self.fail("an endpoint does not hear its session") }
        }
    }

    // MARK: What makes two states the same

    /// The state without what only counts up (names of connections, sessions and tokens, numbers, instants), without the
    /// order of deadlines behind the next one, and without how requests ended.
    var key: Int {
        let gateway = self.gateway
        let ranks = Dictionary(
            uniqueKeysWithValues: gateway.sessions.keys.sorted().enumerated().map { ($0.element, $0.offset) })
        var hasher = Hasher()
        hasher.combine(gateway.policy.access)
        for id in gateway.vehicles.keys.sorted() {
            guard let vehicle = gateway.vehicles[id] else { continue }
            hasher.combine(id)
            hasher.combine(vehicle.principal)
            hasher.combine(vehicle.session.flatMap { ranks[$0] })
            hasher.combine([vehicle.navigatesItself, vehicle.isGuidanceWanted, vehicle.hasStopped])
            hasher.combine(Set(vehicle.outcomes.outcomes().map(\.requestID)))
            for (name, endpoint) in vehicle.endpoints.sorted(by: { $0.key < $1.key }) {
                hasher.combine(name)
                hasher.combine(endpoint.connection == nil)
                hasher.combine(endpoint.membership.map { ranks[$0.session] })
            }
        }
        for id in gateway.clients.keys.sorted() {
            guard let client = gateway.clients[id] else { continue }
            hasher.combine(id)
            hasher.combine(client.connection == nil)
            hasher.combine(client.ended.isEmpty)
        }
        for (id, _) in ranks.sorted(by: { $0.value < $1.value }) {
            guard let session = gateway.sessions[id] else { continue }
            hasher.combine(session.client)
            hasher.combine(session.requestID)
            hasher.combine(Array(session.vehicles))
            hasher.combine(session.content.phase)
            hasher.combine(session.openShares)
            for vehicle in session.vehicles { hasher.combine(gateway.vehicles[vehicle]?.shares) }
        }
        let requests = gateway.requests.map(\.value)
        for request in requests.sorted(by: { ($0.vehicle, $0.id) < ($1.vehicle, $1.id) }) {
            hasher.combine(request.key)
            hasher.combine(request.client)
            hasher.combine(request.stage.description)
            if case .destination(let tried) = request.kind {
                hasher.combine(tried.earlier.union([tried.last.handler.client]))
            }
        }
        var deadlines = gateway.deadlines
        switch deadlines.takeDue(at: Instant(nanoseconds: .max)) {
        case .optIn(let id): hasher.combine(ranks[id])
        case .clientGrace(let id): hasher.combine(id)
        case .endpointGrace(let path): hasher.combine(path)
        case .request(let number): hasher.combine(gateway.requests[number]?.key)
        case .share(let share): hasher.combine(share.vehicle)
        case .receipts(let id): hasher.combine(ranks[id])
        case .acknowledgements, nil: break
        }
        return hasher.finalize()
    }
}
