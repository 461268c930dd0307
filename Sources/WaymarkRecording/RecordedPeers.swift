package import WaymarkProtocol

/// Who is behind the connections, audiences and sessions that frames name. A value without I/O.
package struct RecordedPeers: Sendable, Hashable {
    /// One peer of the gateway.
    package struct Peer: Sendable, Hashable {
        /// `VEHICLE/ENDPOINT` or a client.
        package let name: String
        /// `vehicle` or `navigation`.
        package let role: String

        package init(name: String, role: String) { (self.name, self.role) = (name, role) }
    }

    private var peers: [ConnectionID: Peer] = [:]
    /// Connections that ended, oldest first: what is told of them later still has a name.
    private var ended: [ConnectionID] = []
    private var audiences: [UInt64: Set<ConnectionID>] = [:]
    private var sessions: [SessionID: Set<VehicleID>] = [:]
    /// Before the records of the present step, of those that changed: the frames of a step that ends a session are told after its
    /// records.
    private var oldAudiences: [UInt64: Set<ConnectionID>] = [:]
    private var oldSessions: [SessionID: Set<VehicleID>] = [:]
    private var isStepOver = false

    private static let endedMax = 256

    package init() {}

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
                guard let connection = endpoint.connection else { continue }
                if endpoint.audience != 0 {
                    self.audiences[endpoint.audience, default: []].insert(connection)
                }
                self.name(connection, "\(vehicle.vehicle)/\(endpoint.endpoint)", "vehicle")
            }
        }
        for id in records.vehiclesGone { self.remove(gateway.vehicles[id]) }
        for client in records.clients {
            if let connection = gateway.clients[client.client]?.connection { self.end(connection) }
            if let connection = client.connection {
                self.name(connection, client.client.rawValue, "navigation")
            }
        }
        for id in records.clientsGone {
            if let connection = gateway.clients[id]?.connection { self.end(connection) }
        }
    }

    /// A Hello came on a connection, of which no record says yet who it is.
    mutating func apply(_ hello: Hello, on connection: ConnectionID) {
        switch hello.role {
        case .vehicle(let vehicle):
            self.name(connection, "\(vehicle.vehicle)/\(vehicle.endpoint)", "vehicle")
        case .navigation(let client): self.name(connection, client.client.rawValue, "navigation")
        case .observer: return
        }
        // A Hello that is refused never gets a record.
        self.end(connection)
    }

    private mutating func remove(_ vehicle: VehicleRecord?) {
        guard let vehicle else { return }
        if let vehicles = self.sessions[vehicle.session] {
            if self.oldSessions[vehicle.session] == nil { self.oldSessions[vehicle.session] = vehicles }
            let left = vehicles.subtracting([vehicle.vehicle])
            self.sessions[vehicle.session] = left.isEmpty ? nil : left
        }
        for endpoint in vehicle.endpoints {
            guard let connection = endpoint.connection else { continue }
            if let members = self.audiences[endpoint.audience] {
                if self.oldAudiences[endpoint.audience] == nil {
                    self.oldAudiences[endpoint.audience] = members
                }
                let left = members.subtracting([connection])
                self.audiences[endpoint.audience] = left.isEmpty ? nil : left
            }
            self.end(connection)
        }
    }

    private mutating func name(_ connection: ConnectionID, _ name: String, _ role: String) {
        self.peers[connection] = Peer(name: name, role: role)
        self.ended.removeAll { $0 == connection }
    }

    private mutating func end(_ connection: ConnectionID) {
        guard self.peers[connection] != nil else { return }
        self.ended.removeAll { $0 == connection }
        self.ended.append(connection)
        if self.ended.count > Self.endedMax { self.peers[self.ended.removeFirst()] = nil }
    }

    /// The peer of a connection; its name is the connection's number if it is not known.
    package func peer(of connection: ConnectionID) -> Peer {
        self.peers[connection] ?? Peer(name: "connection \(connection.rawValue)", role: "")
    }

    /// The vehicles of a session; of one that ended in this step, those before.
    package func vehicles(of session: SessionID) -> Set<VehicleID> {
        self.sessions[session] ?? self.oldSessions[session] ?? []
    }

    /// The connections of an audience, sorted by their peers' names; of one that ended in this step, those before.
    package func connections(of audience: UInt64) -> [ConnectionID] {
        (self.audiences[audience] ?? self.oldAudiences[audience] ?? []).sorted { first, second in
            let names = (self.peer(of: first).name, self.peer(of: second).name)
            return names.0 == names.1 ? first < second : names.0 < names.1
        }
    }
}
