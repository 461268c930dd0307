internal import WaymarkAccess
internal import WaymarkGateway
internal import WaymarkProtocol

/// Follows who is connected and who guides whom, and checks it against the rules.
///
/// Nothing begins that the rules refuse, from the event on that changes them. What they refuse and has begun before has ended once the
/// change has reached all peers.
struct AccessWatch {
    /// Violations that were not yet collected.
    var violations: [(Promise, String)] = []
    /// The rules of reloads that the gateway has not processed, in order.
    var reloads: [SimulatedRules] = []
    private(set) var rules: SimulatedRules
    /// The present change has not reached all peers.
    private(set) var isChanging = false
    private var arriving: [ConnectionID: UInt32?] = [:]
    private var endpoints: [ConnectionID: (path: EndpointPath, user: UInt32?)] = [:]
    private var clients: [ConnectionID: ClientID] = [:]
    private var clientUsers: [ClientID: UInt32?] = [:]
    /// Who is known with which user, also while disconnected.
    private var knownUsers: [EndpointPath: UInt32?] = [:]
    /// The client of each session that a vehicle was told of.
    private var guides: [SessionID: ClientID] = [:]

    init(_ rules: SimulatedRules) { self.rules = rules }

    mutating func see(_ event: Gateway.Event) {
        switch event {
        case .policyChanged: if !self.reloads.isEmpty { self.rules = self.reloads.removeFirst() }
        case .arrived(let connection, _, _, let subject, _): self.arriving[connection] = subject.user
        case .departed(let connection, _): self.forget(connection)
        default: break  // The others change no rights.
        }
    }

    /// Whether the steps of a change wait.
    mutating func setChanging(_ isChanging: Bool) { self.isChanging = isChanging }

    mutating func forget(_ connection: ConnectionID) {
        self.endpoints[connection] = nil
        self.clients[connection] = nil
    }

    mutating func admit(_ connection: ConnectionID, _ role: Hello.Role) {
        guard let user = self.arriving.removeValue(forKey: connection) else { return }
        switch role {
        case .vehicle(let hello):
            let path = EndpointPath(vehicle: hello.vehicle, endpoint: hello.endpoint)
            self.endpoints[connection] = (path, user)
            self.knownUsers[path] = .some(user)
            if !self.rules.mayBe(path.vehicle, user) { self.report("\(path.vehicle) is admitted") }
        case .navigation(let hello):
            self.clients[connection] = hello.client
            self.clientUsers[hello.client] = .some(user)
            if !self.rules.mayBe(hello.client, user) { self.report("\(hello.client) is admitted") }
        case .observer: break
        }
    }

    /// Whether an arriving endpoint is refused by the rules.
    func refuses(_ hello: Hello, _ connection: ConnectionID) -> Bool {
        guard case .vehicle(let vehicle) = hello.role, let user = self.arriving[connection] else {
            return false
        }
        return !self.rules.mayBe(vehicle.vehicle, user)
    }

    /// Whether the rules let an endpoint stay that is known.
    func mayStay(_ path: EndpointPath) -> Bool {
        guard let user = self.knownUsers[path] else { return true }
        return self.rules.mayBe(path.vehicle, user)
    }

    /// The priority of a client for a vehicle; nil if it may not guide the vehicle.
    func priority(_ client: ClientID, asking priority: Int32, for vehicle: VehicleID) -> Int32? {
        self.rules.priorityMax(client, self.clientUsers[client] ?? nil, for: vehicle).map {
            min($0, priority)
        }
    }

    private func mayGuide(_ client: ClientID, _ vehicle: VehicleID) -> Bool {
        self.priority(client, asking: 0, for: vehicle) != nil
    }

    /// An endpoint is brought into a session.
    mutating func begin(_ session: SessionID, _ begin: SnapshotBegin, _ connection: ConnectionID) {
        self.guides[session] = begin.client
        guard let (path, user) = self.endpoints[connection] else { return }
        if !self.mayGuide(begin.client, path.vehicle) {
            self.report("\(path.vehicle) is brought into a session of \(begin.client)")
        }
        if !self.rules.mayBe(path.vehicle, user) {
            self.report("\(path.vehicle) is brought into a session, but may not be connected")
        }
    }

    /// The client of a session that a vehicle was told of.
    func guide(of session: SessionID) -> ClientID? { self.guides[session] }

    /// A client is asked for something.
    mutating func ask(_ connection: ConnectionID, _ vehicle: VehicleID) {
        guard let client = self.clients[connection], !self.mayGuide(client, vehicle) else { return }
        self.report("\(client) is asked by \(vehicle)")
    }

    /// Checks what must hold after each event. `sessions` are those that endpoints are in.
    mutating func check(_ sessions: [ConnectionID: SessionID]) {
        guard !self.isChanging else { return }
        for (connection, (path, user)) in self.endpoints {
            if !self.rules.mayBe(path.vehicle, user) { self.report("\(path.vehicle) stays connected") }
            guard let session = sessions[connection], let client = self.guides[session] else { continue }
            if !self.mayGuide(client, path.vehicle) { self.report("\(client) still guides \(path.vehicle)") }
        }
        for client in self.clients.values where !self.rules.mayBe(client, self.clientUsers[client] ?? nil) {
            self.report("\(client) stays connected")
        }
    }

    private mutating func report(_ text: String) {
        self.violations.append((.rulesHold, "\(text), which the rules refuse"))
    }
}
