internal import WaymarkProtocol

/// Who is behind the connections and audiences that frames and events name. A value without I/O.
struct ObservedPeers: Sendable, Hashable {
    private var names: [ConnectionID: String] = [:]
    /// Connections that ended, oldest first: what is told of them later still has a name.
    private var ended: [ConnectionID] = []
    private var audiences: [UInt64: Set<EndpointPath>] = [:]
    private var sessions: [SessionID: Set<VehicleID>] = [:]
    /// Members and vehicles before the records of the present step, of those that changed: the frames of a step that ends a session
    /// are told after its records.
    private var oldAudiences: [UInt64: Set<EndpointPath>] = [:]
    private var oldSessions: [SessionID: Set<VehicleID>] = [:]
    private var isStepOver = false

    private static let endedMax = 256

    /// The whole state follows.
    mutating func forget() { self = ObservedPeers() }

    /// An event or frames were told: the records of their step were told before.
    mutating func endRecords() { self.isStepOver = true }

    /// Applies records, before `gateway` does.
    mutating func apply(_ records: ObservedRecords, _ gateway: ObservedGateway) {
        if self.isStepOver {
            (self.oldAudiences, self.oldSessions, self.isStepOver) = ([:], [:], false)
        }
        for vehicle in records.vehicles {
            self.remove(gateway.vehicles[vehicle.vehicle])
            if vehicle.session != .none {
                self.sessions[vehicle.session, default: []].insert(vehicle.vehicle)
            }
            for endpoint in vehicle.endpoints {
                let path = EndpointPath(vehicle: vehicle.vehicle, endpoint: endpoint.endpoint)
                if endpoint.audience != 0 { self.audiences[endpoint.audience, default: []].insert(path) }
                if let connection = endpoint.connection { self.name(connection, path.name) }
            }
        }
        for id in records.vehiclesGone { self.remove(gateway.vehicles[id]) }
        for client in records.clients {
            if let connection = gateway.clients[client.client]?.connection { self.end(connection) }
            if let connection = client.connection { self.name(connection, client.client.rawValue) }
        }
        for id in records.clientsGone {
            if let connection = gateway.clients[id]?.connection { self.end(connection) }
        }
    }

    /// A Hello came on a connection, of which no record says yet who it is.
    mutating func apply(_ hello: Hello, on connection: ConnectionID) {
        switch hello.role {
        case .vehicle(let vehicle):
            self.name(
                connection, EndpointPath(vehicle: vehicle.vehicle, endpoint: vehicle.endpoint).name)
        case .navigation(let client): self.name(connection, client.client.rawValue)
        case .observer: return
        }
        // A Hello that is refused never gets a record.
        self.end(connection)
    }

    private mutating func remove(_ vehicle: VehicleRecord?) {
        guard let vehicle else { return }
        if let vehicles = self.sessions[vehicle.session] {
            if self.oldSessions[vehicle.session] == nil { self.oldSessions[vehicle.session] = vehicles }
            self.sessions[vehicle.session] = vehicles.subtracting([vehicle.vehicle]).nonEmpty
        }
        for endpoint in vehicle.endpoints {
            let path = EndpointPath(vehicle: vehicle.vehicle, endpoint: endpoint.endpoint)
            if let members = self.audiences[endpoint.audience] {
                if self.oldAudiences[endpoint.audience] == nil {
                    self.oldAudiences[endpoint.audience] = members
                }
                self.audiences[endpoint.audience] = members.subtracting([path]).nonEmpty
            }
            if let connection = endpoint.connection { self.end(connection) }
        }
    }

    private mutating func name(_ connection: ConnectionID, _ name: String) {
        self.names[connection] = name
        self.ended.removeAll { $0 == connection }
    }

    private mutating func end(_ connection: ConnectionID) {
        guard self.names[connection] != nil else { return }
        self.ended.removeAll { $0 == connection }
        self.ended.append(connection)
        if self.ended.count > Self.endedMax { self.names[self.ended.removeFirst()] = nil }
    }

    /// The peer of a connection: `VEHICLE/ENDPOINT`, a client, or the connection's number if it is not known.
    func name(of connection: ConnectionID) -> String {
        self.names[connection] ?? "connection \(connection.rawValue)"
    }

    /// The vehicles of a session; of one that ended in this step, those before.
    func vehicles(of session: SessionID) -> Set<VehicleID> {
        self.sessions[session] ?? self.oldSessions[session] ?? []
    }

    /// The members of an audience, sorted; of one that ended in this step, those before.
    func members(of audience: UInt64) -> [String] {
        (self.audiences[audience] ?? self.oldAudiences[audience] ?? []).sorted().map(\.name)
    }
}

extension Set {
    /// nil if it is empty.
    fileprivate var nonEmpty: Set? { self.isEmpty ? nil : self }
}

extension EndpointPath {
    fileprivate var name: String { "\(self.vehicle)/\(self.endpoint)" }
}
