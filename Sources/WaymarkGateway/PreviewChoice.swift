internal import WaymarkModel
internal import WaymarkProtocol

// What a vehicle chooses of the trips that its client shows before guidance.
extension Gateway {
    /// Tells the client of a vehicle's session which trip of the previews the vehicle has selected.
    mutating func select(
        _ selection: SelectPreview, _ id: SessionID, _ path: EndpointPath, _ connection: ConnectionID,
        into actions: inout [Action]
    ) {
        guard let current = self.vehicles[path.vehicle]?.session, let session = self.sessions[current],
            session.content.phase == .preview
        else {
            return self.ignore(
                .selectPreview(selection), id, path, connection, "the session is not in phase preview",
                into: &actions)
        }
        guard self.clients[session.client]?.granted.contains(.tripRequests) == true else {
            return self.ignore(
                .selectPreview(selection), id, path, connection, "the client is not told what is selected",
                into: &actions)
        }
        if let rejection = session.content.rejection(of: selection.trip, selection.routeChoice) {
            return self.reject(connection, rejection, .selectPreview, session: id, into: &actions)
        }
        var selection = selection
        selection.source = path
        self.sessions[current]?.select(selection, of: path.vehicle)
        self.tellClient(of: path.vehicle, .selectPreview(selection), into: &actions)
    }

    /// Asks the client of a vehicle's session to start a trip of its previews.
    mutating func askToStart(
        _ request: ReceivedRequest, _ trip: Identifier, _ routeChoice: UInt32?, _ key: OpenRequest.Key,
        _ vehicle: Dictionary<VehicleID, Vehicle>.Index, at now: Instant, into actions: inout [Action]
    ) {
        let (session, open) = self.vehicles.readValue(at: vehicle) { ($0.session, $0.openRequests) }
        guard let session, let index = self.sessions.index(forKey: session) else {
            return self.decline(key, of: vehicle, RequestDecision(.invalid, .noPreviews), nil, into: &actions)
        }
        let (name, cause): (ClientID, OutcomeCause?) = self.sessions.readValue(at: index) { session in
            guard session.content.phase == .preview else { return (session.client, .noPreviews) }
            let isShown = session.content.rejection(of: trip, routeChoice) == nil
            return (session.client, isShown ? nil : .unknownTrip)
        }
        if let cause {
            return self.decline(key, of: vehicle, RequestDecision(.invalid, cause), name, into: &actions)
        }
        guard let client = self.clients.index(forKey: name),
            case let (connection?, features) = self.clients.readValue(
                at: client, { ($0.connection, $0.granted) })
        else {
            return self.decline(
                key, of: vehicle, RequestDecision(.gone, .clientNotConnected), name, into: &actions)
        }
        guard features.contains(.tripRequests) else {
            let ending = RequestDecision(.notSupported, .clientNotCapable)
            return self.decline(key, of: vehicle, ending, name, into: &actions)
        }
        // Of two endpoints that start a trip, the first wins.
        for other in open {
            guard let first = self.starter(other.number) else { continue }
            let ending = RequestDecision(.busy, .otherStart, at: first)
            return self.decline(key, of: vehicle, ending, name, into: &actions)
        }
        self.open(request, .trip(session), key, of: vehicle, to: name, client, at: now)
        self.forward(
            request, of: key.vehicle, in: session, to: name, on: connection, into: &actions)
        self.note(.tripRequested(key.id), of: key.vehicle, in: session, name, into: &actions)
    }

    /// The endpoint that sent an open request, if it is one to start a trip.
    private func starter(_ number: RequestNumber) -> EndpointName? {
        guard let request = self.requests[number], case .trip = request.kind else { return nil }
        return request.source
    }
}
