internal import WaymarkProtocol

/// Who is behind the connections and audiences that frames and events name. A value without I/O.
struct ObservedPeers: Sendable {
    private var names: [ConnectionID: String] = [:]
    /// Connections that ended, oldest first: what is told of them later still has a name.
    private var ended: [ConnectionID] = []
    private var audiences: [UInt64: Set<EndpointPath>] = [:]
    private var sessions: [SessionID: Set<VehicleID>] = [:]
    /// Sessions whose last vehicle left, oldest first: their last frames are told after that.
    private var former: [(session: SessionID, vehicles: Set<VehicleID>)] = []

    private static let endedMax = 256
    private static let formerMax = 16

    /// The whole state follows.
    mutating func forget() { self = ObservedPeers() }

    /// Applies records, before `gateway` does.
    mutating func apply(_ records: ObservedRecords, _ gateway: ObservedGateway) {
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
        self.remove(vehicle.vehicle, from: vehicle.session)
        for endpoint in vehicle.endpoints {
            let path = EndpointPath(vehicle: vehicle.vehicle, endpoint: endpoint.endpoint)
            self.audiences[endpoint.audience]?.remove(path)
            if self.audiences[endpoint.audience]?.isEmpty == true { self.audiences[endpoint.audience] = nil }
            if let connection = endpoint.connection { self.end(connection) }
        }
    }

    private mutating func remove(_ vehicle: VehicleID, from session: SessionID) {
        guard let vehicles = self.sessions[session] else { return }
        self.sessions[session]?.remove(vehicle)
        guard vehicles.count == 1 else { return }
        self.sessions[session] = nil
        self.former.removeAll { $0.session == session }
        self.former.append((session, vehicles))
        if self.former.count > Self.formerMax { self.former.removeFirst() }
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

    /// The vehicles of a session; of one that has none any more, the last.
    func vehicles(of session: SessionID) -> Set<VehicleID> {
        self.sessions[session] ?? self.former.first { $0.session == session }?.vehicles ?? []
    }

    /// The members of an audience, sorted.
    func members(of audience: UInt64) -> [String] {
        self.audiences[audience, default: []].sorted().map(\.name)
    }
}

extension EndpointPath {
    fileprivate var name: String { "\(self.vehicle)/\(self.endpoint)" }
}
