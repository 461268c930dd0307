internal import OrderedCollections
internal import WaymarkModel
internal import WaymarkProtocol

// Sessions, and the vehicles in them.
extension Gateway {
    // MARK: Opening

    mutating func openSession(
        _ opening: OpenSession, client id: ClientID, _ connection: ConnectionID, at now: Instant,
        into actions: inout [Action]
    ) {
        guard let client = self.clients[id] else { return }
        if let session = client.sessions.first(where: { self.sessions[$0]?.requestID == opening.requestID }) {
            return self.sendOpened(session, refused: [], connection, into: &actions)
        }
        let limits = self.policy.limits
        guard self.sessions.count < limits.sessionsMax, client.sessions.count < limits.sessionsPerClientMax
        else {
            return self.reject(
                connection, Rejection(.limitReached, reason: "too many sessions are open"), .openSession,
                requestID: opening.requestID, into: &actions)
        }
        var refused: [VehicleStatus] = []
        var taken: [VehicleID] = []
        switch opening.vehicles {
        case .vehicles(let ids):
            var room = limits.vehiclesMax - self.vehicles.count
            for vehicle in ids {
                if let code = self.refusal(of: vehicle, client) {
                    refused.append(VehicleStatus(vehicle: vehicle, standing: .refused(code)))
                } else if self.vehicles[vehicle] == nil, room <= 0 {
                    refused.append(VehicleStatus(vehicle: vehicle, standing: .refused(.limitReached)))
                } else {
                    if self.vehicles[vehicle] == nil { room -= 1 }
                    taken.append(vehicle)
                }
            }
        case .anyThatAsked:
            taken = self.vehicles.keys.sorted().filter { self.isWaitingForGuidance($0) }
        }
        if taken.isEmpty, let rejection = Rejection(ofAll: refused) {
            self.noteRefused(refused, in: .none, id, into: &actions)
            return self.reject(
                connection, rejection, .openSession, requestID: opening.requestID, into: &actions)
        }
        let session = NavigationSession(
            id: self.newSessionID(), ordinal: self.sessionCount, client: id, providing: client.granted,
            opening: opening)
        self.sessionCount += 1
        self.sessions[session.id] = session
        self.memory.open(session.id, id, client.principal)
        self.clients[id]?.sessions.append(session.id)
        self.counters.sessionsOpened += 1
        for vehicle in taken { self.claim(vehicle, for: session.id, at: now, into: &actions) }
        self.note(.opened, of: self.sessions[session.id], into: &actions)
        self.noteRefused(refused, in: session.id, id, into: &actions)
        self.sendOpened(session.id, refused: refused, connection, into: &actions)
        for vehicle in taken where !self.enter(vehicle, session.id, connection, into: &actions) {
            self.announce(vehicle, into: &actions)
        }
    }

    private func sendOpened(
        _ id: SessionID, refused: [VehicleStatus], _ connection: ConnectionID, into actions: inout [Action]
    ) {
        guard let session = self.sessions[id] else { return }
        let vehicles = session.vehicles.map { self.status(of: $0, in: session) } + refused
        let opened = SessionOpened(requestID: session.requestID, session: id, vehicles: vehicles)
        actions.append(.send(connection, Envelope(.sessionOpened(opened))))
    }

    /// Why `client` may not guide `vehicle`; nil if it may.
    private func refusal(of id: VehicleID, _ client: Client) -> ErrorCode? {
        guard let vehicle = self.vehicles[id] else { return nil }
        if vehicle.navigatesItself { return .vehicleNavigatesItself }
        guard let holder = vehicle.session.flatMap({ self.sessions[$0]?.client }),
            holder != client.hello.client
        else { return nil }
        switch self.policy.arbitration(for: id) {
        case .replace: return nil
        case .refuse: return .vehicleBusy
        case .priority:
            return client.hello.priority > (self.clients[holder]?.hello.priority ?? .min) ? nil : .vehicleBusy
        }
    }

    func isWaitingForGuidance(_ id: VehicleID) -> Bool {
        guard let vehicle = self.vehicles[id] else { return false }
        return vehicle.isGuidanceWanted && vehicle.session == nil && vehicle.isConnected
            && !vehicle.hasStopped
            && !vehicle.navigatesItself
    }

    /// Moves a vehicle into a session, out of the one that it is in.
    mutating func claim(
        _ id: VehicleID, for session: SessionID, at now: Instant, into actions: inout [Action]
    ) {
        if let holder = self.vehicles[id]?.session {
            self.removeVehicle(id, from: holder, .replaced, at: now, into: &actions)
        }
        self.vehicles[id, default: Vehicle()].session = session
        self.sessions[session]?.add(id)
    }

    /// Adds all of a vehicle's endpoints to its session, and sends the vehicle's settings to the client.
    ///
    /// - Returns: Whether there was room for all of them.
    @discardableResult
    mutating func enter(
        _ id: VehicleID, _ session: SessionID, _ connection: ConnectionID, into actions: inout [Action]
    ) -> Bool {
        guard let vehicle = self.vehicles[id] else { return true }
        var hasRoom = true
        for (name, _, _) in vehicle.connections {
            let path = EndpointPath(vehicle: id, endpoint: name)
            hasRoom = self.join(path, session, resuming: nil, into: &actions) && hasRoom
        }
        self.sendSettings(of: id, session, to: connection, into: &actions)
        return hasRoom
    }

    // MARK: Standing

    /// A vehicle's present standing in a session.
    func status(of id: VehicleID, in session: NavigationSession) -> VehicleStatus {
        guard let vehicle = self.vehicles[id], vehicle.isConnected else {
            return VehicleStatus(vehicle: id, standing: .awaited)
        }
        let endpoints = vehicle.connections.map { name, _, endpoint in
            EndpointStatus(
                endpoint: name, isReady: endpoint.settings.isReadyToShow ?? false,
                locale: endpoint.hello.preferences.locale,
                withheld: self.withheld(from: endpoint, id, in: session))
        }
        return VehicleStatus(vehicle: id, standing: .joined, endpoints: endpoints)
    }

    /// Tells the client of a vehicle's session the vehicle's present standing.
    func announce(_ id: VehicleID, into actions: inout [Action]) {
        guard let session = self.vehicles[id]?.session.flatMap({ self.sessions[$0] }) else { return }
        self.tell(
            session.client, .vehicleChanged(self.status(of: id, in: session)), session.id, into: &actions)
    }

    // MARK: Ending

    /// Removes one vehicle from a session; the session ends with its last vehicle.
    mutating func removeVehicle(
        _ id: VehicleID, from session: SessionID, _ reason: SessionEndReason, at now: Instant,
        into actions: inout [Action]
    ) {
        guard let index = self.sessions[session]?.vehicles.firstIndex(of: id),
            let client = self.sessions[session]?.client
        else { return }
        self.detach(id, from: session, reason, tellVehicle: true, at: now, into: &actions)
        self.sessions[session]?.removeVehicle(at: index, reason)
        self.note(.left(reason), of: id, in: session, client, into: &actions)
        let isOver =
            self.sessions[session].map { $0.vehicles.isEmpty && $0.selection != .anyThatAsked } ?? true
        if isOver {
            self.closeSession(session, reason, into: &actions)
        } else {
            let status = VehicleStatus(vehicle: id, standing: .left(reason))
            self.tell(client, .vehicleChanged(status), session, into: &actions)
        }
    }

    /// Ends a session for its client and all vehicles.
    mutating func endSession(
        _ id: SessionID, _ reason: SessionEndReason, at now: Instant, into actions: inout [Action]
    ) {
        guard let session = self.sessions[id] else { return }
        // Vehicles have received the client's own FinishGuidance or CancelGuidance, if there was one.
        let tellVehicle = session.content.phase != .ended || session.hasUnfitted
        for vehicle in session.vehicles {
            self.detach(vehicle, from: id, reason, tellVehicle: tellVehicle, at: now, into: &actions)
        }
        self.closeSession(id, reason, into: &actions)
        for vehicle in session.vehicles where self.isWaitingForGuidance(vehicle) {
            self.offer(vehicle, at: now, into: &actions)
        }
    }

    /// Ends a vehicle's part in a session: requests, shares, audiences. No further frame of the session reaches the vehicle.
    private mutating func detach(
        _ id: VehicleID, from session: SessionID, _ reason: SessionEndReason, tellVehicle: Bool,
        at now: Instant,
        into actions: inout [Action]
    ) {
        guard let vehicle = self.vehicles[id] else { return }
        for name in vehicle.endpoints.keys.sorted() {
            self.leaveSession(EndpointPath(vehicle: id, endpoint: name), into: &actions)
        }
        for (_, connection, _) in vehicle.connections where tellVehicle {
            actions.append(.purge(connection, session))
            actions.append(
                .send(connection, Envelope(.sessionEnded(SessionEnded(session: session, reason: reason)))))
        }
        for request in vehicle.sortedRequests {
            if case .waypoint(session) = self.requests[request]?.kind {
                self.endRequest(request, .sessionEnded, into: &actions)
            }
        }
        self.endShares(with: id, in: session, .sessionEnded, into: &actions)
        self.vehicles[id]?.session = nil
        self.vehicles[id]?.lastEnd = SessionEnded(session: session, reason: reason)
        self.vehicles[id]?.routeSource = nil
        if self.vehicles[id]?.isNeeded == false { self.vehicles[id] = nil }
    }

    private mutating func closeSession(
        _ id: SessionID, _ reason: SessionEndReason, into actions: inout [Action]
    ) {
        guard let session = self.sessions.removeValue(forKey: id) else { return }
        self.note(.ended(reason), of: session, into: &actions)
        self.memory.close(id)
        self.snapshots.forget(id)
        self.deadlines.remove(.receipts(id))
        self.deadlines.remove(.optIn(id))
        self.counters.sessionsEnded += 1
        self.clients[session.client]?.sessions.remove(id)
        if self.clients[session.client]?.connection == nil {
            self.clients[session.client]?.ended.append(
                ResumedSession(session: id, sequence: session.sequence, phase: .ended, endReason: reason))
        } else {
            self.tell(
                session.client, .sessionEnded(SessionEnded(session: id, reason: reason)), into: &actions)
        }
    }

    // MARK: A client's absence

    /// The client's connection was cut: tells the vehicles, which keep the state that they have.
    mutating func suspend(_ id: SessionID, into actions: inout [Action]) {
        self.sessions[id]?.isSuspended = true
        self.note(.suspended, of: self.sessions[id], into: &actions)
        let grace = UInt32(clamping: self.policy.limits.grace.milliseconds)
        self.sendToVehicles(of: id, .sessionSuspended(graceMilliseconds: grace), into: &actions)
    }

    /// The client has resumed: tells the vehicles; tells the client their outcomes, standings and settings, and which of them left.
    mutating func restore(
        _ id: SessionID, _ connection: ConnectionID, at now: Instant, into actions: inout [Action]
    ) {
        guard let session = self.sessions[id] else { return }
        self.sessions[id]?.isSuspended = false
        if session.isSuspended {
            self.note(.restored, of: session, into: &actions)
            self.sendToVehicles(of: id, .sessionRestored, into: &actions)
        }
        for vehicle in session.vehicles {
            // Before the standing: once it has arrived, the client no longer waits for outcomes that it may have missed.
            self.repeatOutcomes(of: vehicle, to: session.client, id, into: &actions)
            self.announce(vehicle, into: &actions)
            self.sendSettings(of: vehicle, id, to: connection, into: &actions)
        }
        for (vehicle, reason) in session.left {
            let status = VehicleStatus(vehicle: vehicle, standing: .left(reason))
            self.tell(session.client, .vehicleChanged(status), id, into: &actions)
        }
        guard session.isSuspended, session.selection == .anyThatAsked else { return }
        for vehicle in self.vehicles.keys.sorted() where self.isWaitingForGuidance(vehicle) {
            self.offer(vehicle, at: now, into: &actions)
        }
    }

    private func sendToVehicles(of id: SessionID, _ message: Message, into actions: inout [Action]) {
        guard let session = self.sessions[id] else { return }
        let envelope = Envelope(message, session: id, sequence: session.sequence, flags: .gateway)
        for vehicle in session.vehicles {
            for (_, connection, _) in self.vehicles[vehicle]?.connections ?? [] {
                actions.append(.send(connection, envelope))
            }
        }
    }
}

extension Rejection {
    /// Why there is no session: the code is that of the first vehicle named, the reason tells of all, as far as there is room.
    ///
    /// Returns nil if no vehicle refused.
    fileprivate init?(ofAll refused: [VehicleStatus]) {
        guard case .refused(let code) = refused.first?.standing else { return nil }
        var reason = ""
        for (index, status) in refused.enumerated() {
            guard case .refused(let code) = status.standing else { continue }
            let part = "\(status.vehicle) \(code.refusal)"
            guard reason.utf8.count + part.utf8.count <= Self.reasonBytesMax else {
                reason += "; \(refused.count - index) more refuse too"
                break
            }
            reason += reason.isEmpty ? part : "; \(part)"
        }
        self.init(code, field: "vehicles.vehicle_ids[0]", reason: reason)
    }

    /// Leaves room for the count of those that are not named, within what `waymark.v1.Error.reason` holds.
    private static let reasonBytesMax = 440
}

extension ErrorCode {
    /// Why a vehicle is refused to a session: the part of a sentence that follows the vehicle's id.
    fileprivate var refusal: String {
        switch self {
        case .vehicleBusy: "is guided by another client"
        case .vehicleNavigatesItself: "navigates by itself"
        case .limitReached: "is one more than the gateway may know"
        default: "is refused (\(self))"  // No other code refuses a vehicle.
        }
    }
}
