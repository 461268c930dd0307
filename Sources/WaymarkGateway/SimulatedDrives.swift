internal import OrderedCollections
internal import WaymarkAccess
internal import WaymarkProtocol

// What vehicles and observers ask of clients that simulate drives. The access rules are asked each time: such messages are rare.
extension Gateway {
    /// Forwards what an endpoint asks of the client of its session.
    func simulate(
        _ asked: SimulateDrive, _ path: EndpointPath, _ named: SessionID, _ connection: ConnectionID,
        into actions: inout [Action]
    ) {
        guard let vehicle = self.vehicles[path.vehicle], let session = vehicle.session,
            let client = self.sessions[session]?.client
        else { return }
        let subject = vehicle.endpoints[path.endpoint]?.subject ?? AccessSubject()
        var forwarded = SimulateDrive(asked.action, speedPercent: asked.speedPercent)
        (forwarded.vehicle, forwarded.endpoint) = (path.vehicle, path.endpoint)
        let rejection =
            self.refusal(of: forwarded, by: subject, to: client) ?? self.inability(of: client)
        if let rejection {
            return self.reject(connection, rejection, .simulateDrive, session: named, into: &actions)
        }
        self.tell(client, .simulateDrive(forwarded), session, into: &actions)
    }

    /// Forwards what an observer asks of a client. The rules come first, so that it learns nothing of clients that it may not ask.
    func simulate(
        _ asked: SimulateDrive, _ subject: AccessSubject, _ connection: ConnectionID,
        into actions: inout [Action]
    ) {
        var forwarded = asked
        forwarded.endpoint = nil
        var session: SessionID?
        let rejection: Rejection?
        if let client = asked.client {
            session = asked.vehicle.map { self.session(of: client, with: $0) } ?? SessionID.none
            rejection =
                self.refusal(of: forwarded, by: subject, to: client)
                ?? (session == nil
                    ? Rejection(
                        .unknownReference, field: "vehicle_id", reason: "the client does not guide it") : nil)
                ?? self.inability(of: client)
        } else {
            rejection = Rejection(.missing, field: "client_id", reason: "names the client that is asked")
        }
        if let rejection { return self.reject(connection, rejection, .simulateDrive, into: &actions) }
        guard let client = asked.client, let session else { return }
        self.tell(client, .simulateDrive(forwarded), session, into: &actions)
    }

    /// The reason why access rules do not let a peer ask a client; nil if they do. What is about all vehicles needs rules that allow every vehicle.
    private func refusal(
        of asked: SimulateDrive, by subject: AccessSubject, to client: ClientID
    ) -> Rejection? {
        let access = self.policy.access
        if access.isOpen { return nil }
        let grant = access.grant(of: subject, as: .simulate, client: client.rawValue)
        let isAllowed =
            asked.vehicle.map { access.decision(grant, on: $0.rawValue).isAllowed }
            ?? access.scope(of: grant).isAll
        guard !isAllowed else { return nil }
        let drives = asked.vehicle.map { "drives of \($0)" } ?? "drives of all vehicles"
        return Rejection(
            .notAuthorized,
            reason: "the access rules do not allow \(subject) to have \(client) simulate \(drives)")
    }

    /// The reason why a client cannot be asked; nil if it can.
    private func inability(of id: ClientID) -> Rejection? {
        guard let client = self.clients[id], client.connection != nil else {
            return Rejection(.unknownReference, field: "client_id", reason: "\(id) is not connected")
        }
        guard !client.granted.contains(.simulatedDrives) else { return nil }
        return Rejection(.notGranted, reason: "\(id) does not simulate drives")
    }

    /// The session of a client that a vehicle is in; nil if there is none.
    private func session(of client: ClientID, with vehicle: VehicleID) -> SessionID? {
        guard let session = self.vehicles[vehicle]?.session, self.sessions[session]?.client == client
        else { return nil }
        return session
    }
}
