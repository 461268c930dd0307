internal import OrderedCollections
internal import WaymarkAccess
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
            let told = self.sendOpened(session, refused: [], connection, into: &actions)
            return self.begin(.announce(after: told), of: session)
        }
        if let full = self.reasonForNoSession(client) {
            return self.reject(
                connection, Rejection(.limitReached, reason: full.reason, limit: full.limit), .openSession,
                requestID: opening.requestID, into: &actions)
        }
        let (taken, refused) = self.select(opening.vehicles, client)
        if taken.isEmpty, var rejection = Rejection(ofAll: refused) {
            if rejection.code == .limitReached {
                rejection.limit = self.roomForAwaited(of: client.principal).limit
            }
            self.noteRefused(refused, in: .none, id, into: &actions)
            return self.reject(
                connection, rejection, .openSession, requestID: opening.requestID, into: &actions)
        }
        let session = GatewaySession(
            id: self.newSessionID(), ordinal: self.sessionCount, client: id, client.principal,
            providing: client.granted, client.extensions, opening: opening)
        self.add(session)
        for vehicle in taken { self.claim(vehicle, for: session.id, at: now, into: &actions) }
        self.note(.opened, of: self.sessions[session.id], into: &actions)
        self.noteRefused(refused, in: session.id, id, into: &actions)
        let told = self.sendOpened(session.id, refused: refused, connection, into: &actions)
        self.begin(.enter(told: told), of: session.id)
        if opening.vehicles == .anyThatAsked { self.queue(.offers(to: session.id, after: nil)) }
    }

    private mutating func add(_ session: GatewaySession) {
        self.sessionCount += 1
        self.sessions[session.id] = session
        self.indexSession(session)
        self.index.sessionCounts.add(session.user)
        self.sessions[session.id]?.userIndex = self.memory.open(session.id, session.client, session.user)
        self.clients[session.client]?.sessions.append(session.id)
        self.counters.sessionsOpened += 1
    }

    /// Why a client may not open another session; nil if it may.
    private func reasonForNoSession(_ client: Client) -> FullPlaces? {
        let limits = self.policy.limits
        if client.sessions.count >= limits.sessionsPerClientMax {
            return FullPlaces(
                "the client has \(limits.sessionsPerClientMax) sessions", "sessions_per_client_max",
                limits.sessionsPerClientMax)
        }
        if self.index.sessionCounts.count(of: client.principal) >= limits.sessionsPerUserMax {
            return FullPlaces(
                "the user's clients have \(limits.sessionsPerUserMax) sessions", "sessions_per_user_max",
                limits.sessionsPerUserMax)
        }
        if self.index.sessionCounts.count >= limits.sessionsMax {
            return FullPlaces(
                "there are \(limits.sessionsMax) sessions", "sessions_max", limits.sessionsMax)
        }
        return nil
    }

    /// The vehicles that a client gets of those that it selected, and those that it does not.
    private mutating func select(
        _ selection: VehicleSelection, _ client: Client
    ) -> (taken: [VehicleID], refused: [VehicleStatus]) {
        var refused: [VehicleStatus] = []
        var taken: [VehicleID] = []
        switch selection {
        case .vehicles(let ids):
            self.counters.work.visit(ids.count)
            var room = self.roomForAwaited(of: client.principal).count
            for vehicle in ids {
                let isNew = self.vehicles[vehicle] == nil
                if let code = self.refusal(of: vehicle, client) {
                    refused.append(VehicleStatus(vehicle: vehicle, standing: .refused(code)))
                } else if isNew, room <= 0 {
                    refused.append(VehicleStatus(vehicle: vehicle, standing: .refused(.limitReached)))
                } else {
                    if isNew { room -= 1 }
                    taken.append(vehicle)
                }
            }
        case .anyThatAsked:
            // The others join one by one.
            let grant = self.grant(of: client.hello.client)
            while taken.count < Self.statesToldMax,
                let vehicle = self.firstWaiting(for: grant, after: taken.last)
            {
                taken.append(vehicle)
            }
        }
        return (taken, refused)
    }

    /// How many more vehicles the sessions of a user may wait for that the gateway does not know, and the limit that says so.
    private func roomForAwaited(of user: Principal) -> (count: Int, limit: ReachedLimit) {
        let limits = self.policy.limits
        let awaited = self.index.awaitedVehicles
        let all = [
            ("vehicles_max", limits.vehiclesMax, self.vehicles.count),
            ("vehicles_per_user_max", limits.vehiclesPerUserMax, self.index.vehicles.count(of: user)),
            ("vehicles_awaited_max", limits.vehiclesAwaitedMax, awaited.count),
            ("vehicles_awaited_per_user_max", limits.vehiclesAwaitedPerUserMax, awaited.count(of: user)),
        ]
        var room = (count: Int.max, limit: ReachedLimit("", 0))
        for (name, max, count) in all where max - count < room.count {
            room = (max - count, ReachedLimit(name, max))
        }
        return room
    }

    /// Why the gateway accepts no first endpoint of a user for a vehicle; nil if there is room for one. Sessions may await the vehicle.
    func reasonForNoVehicle(of user: Principal, _ awaited: Vehicle?) -> FullPlaces? {
        let limits = self.policy.limits
        if awaited?.indexed.user != user, self.index.vehicles.count(of: user) >= limits.vehiclesPerUserMax {
            return FullPlaces(
                "this user has \(limits.vehiclesPerUserMax) vehicles", "vehicles_per_user_max",
                limits.vehiclesPerUserMax)
        }
        if awaited == nil, self.vehicles.count >= limits.vehiclesMax {
            return FullPlaces(
                "there are \(limits.vehiclesMax) vehicles", "vehicles_max", limits.vehiclesMax)
        }
        return nil
    }

    /// As many endpoints' states SessionOpened tells. VehicleChanged follows for the others.
    private static let statesToldMax = 32

    /// Sends SessionOpened with the standing of the first vehicles.
    ///
    /// - Returns: The place of the last one whose endpoints it tells.
    @discardableResult
    private mutating func sendOpened(
        _ id: SessionID, refused: [VehicleStatus], _ connection: ConnectionID, into actions: inout [Action]
    ) -> VehicleList.Place {
        guard let session = self.sessions[id] else { return 0 }
        var vehicles: [VehicleStatus] = []
        var (place, told, count): (VehicleList.Place, VehicleList.Place, Int) = (0, 0, 0)
        while vehicles.count < ProtocolConstants.vehiclesPerSessionMax,
            let next = session.vehicles.next(after: place)
        {
            let vehicle = self.vehicles[next.vehicle]
            count += max(1, vehicle?.endpoints.count ?? 0)
            if count <= Self.statesToldMax {
                vehicles.append(self.status(of: next.vehicle, in: id))
                told = next.place
            } else {
                let isConnected = vehicle?.isConnected ?? false
                vehicles.append(
                    VehicleStatus(vehicle: next.vehicle, standing: isConnected ? .joined : .awaited))
            }
            place = next.place
        }
        self.counters.work.visit(count)
        let opened = SessionOpened(requestID: session.requestID, session: id, vehicles: vehicles + refused)
        self.send(Envelope(.sessionOpened(opened)), to: session.client, on: connection, into: &actions)
        return told
    }

    /// Why `client` may not guide `vehicle`; nil if it may.
    private func refusal(of id: VehicleID, _ client: Client) -> ErrorCode? {
        if !self.mayGuide(client.hello.client, id) { return .notAuthorized }
        guard let vehicle = self.vehicles[id] else { return nil }
        if vehicle.navigatesItself { return .vehicleNavigatesItself }
        guard let holder = vehicle.session.flatMap({ self.sessions[$0]?.client }),
            holder != client.hello.client
        else { return nil }
        switch self.policy.arbitration(for: id) {
        case .replace: return nil
        case .refuse: return .vehicleBusy
        case .priority:
            let priority = self.priority(of: client.hello.client, for: id) ?? .min
            return priority > (self.priority(of: holder, for: id) ?? .min) ? nil : .vehicleBusy
        }
    }

    mutating func isWaitingForGuidance(_ id: VehicleID) -> Bool {
        self.vehicle(id) { $0.isWaitingForGuidance } ?? false
    }

    /// Puts a vehicle into a session. It leaves the one that it is in when it is settled.
    mutating func claim(
        _ id: VehicleID, for session: SessionID, at now: Instant, into actions: inout [Action]
    ) {
        // If it has not left yet the one from which another session claimed it.
        self.finishLeaving(id, at: now, into: &actions)
        self.release(id, .replaced)
        self.vehicles[id, default: Vehicle()].session = session
        if let place = self.sessions[session]?.add(id) { self.vehicles[id]?.place = place }
        self.vehicles[id]?.lastTour = self.sessions[session]?.tourNumber ?? 0
        self.indexVehicle(id)
    }

    /// Adds all of a vehicle's endpoints to its session, and sends the vehicle's settings to the client.
    ///
    /// `told` is the place of the last vehicle whose endpoints the client knows.
    mutating func enter(
        _ id: VehicleID, _ session: SessionID, told: VehicleList.Place, at now: Instant,
        into actions: inout [Action]
    ) {
        guard let vehicle = self.vehicles[id] else { return }
        var hasRoom = true
        for (name, _, _) in vehicle.connections {
            let path = EndpointPath(vehicle: id, endpoint: name)
            hasRoom = self.join(path, session, resuming: nil, at: now, into: &actions) && hasRoom
        }
        if let connection = self.sessions[session].flatMap({ self.clients[$0.client]?.connection }) {
            self.sendSettings(of: id, session, to: connection, into: &actions)
        }
        if vehicle.place > told || !hasRoom { self.announce(id, into: &actions) }
    }

    /// Gives a free vehicle to the oldest session for any vehicle that asked.
    ///
    /// - Returns: Whether there is one.
    @discardableResult
    mutating func offer(_ id: VehicleID, at now: Instant, into actions: inout [Action]) -> Bool {
        guard let session = self.firstOffer(for: id), let client = self.sessions[session]?.client
        else { return false }
        self.counters.work.visit()
        self.claim(id, for: session, at: now, into: &actions)
        self.note(.joined, of: id, in: session, client, into: &actions)
        self.enter(id, session, told: 0, at: now, into: &actions)
        return true
    }

    /// Offers the next vehicles that wait and that the client of a session for any vehicle may guide.
    mutating func offerNext(
        to session: SessionID, after place: VehicleID?, at now: Instant, into actions: inout [Action]
    ) {
        guard self.sessions[session]?.isOffered == true, let client = self.sessions[session]?.client else {
            return
        }
        let grant = self.grant(of: client)
        var place = place
        repeat {
            guard let vehicle = self.firstWaiting(for: grant, after: place) else { return }
            place = vehicle
            self.settle(vehicle, at: now, into: &actions)
            if self.isWaitingForGuidance(vehicle) { self.offer(vehicle, at: now, into: &actions) }
        } while self.hasBudget
        self.putBack(.offers(to: session, after: place))
    }

    // MARK: Standing

    /// A vehicle's present standing in a session.
    mutating func status(of id: VehicleID, in session: SessionID) -> VehicleStatus {
        guard let place = self.vehicles.index(forKey: id),
            case let connections = self.vehicles.readValue(at: place, { $0.connections }),
            !connections.isEmpty, let features = self.features(of: session)
        else { return VehicleStatus(vehicle: id, standing: .awaited) }
        let endpoints = connections.map { name, _, endpoint in
            EndpointStatus(
                endpoint: name, isReady: endpoint.settings.isReadyToShow ?? false,
                locale: endpoint.hello.preferences.locale,
                withheld: self.withheld(from: endpoint, id, in: session, features))
        }
        return VehicleStatus(vehicle: id, standing: .joined, endpoints: endpoints)
    }

    /// Tells the client of a vehicle's session the vehicle's present standing.
    mutating func announce(_ id: VehicleID, into actions: inout [Action]) {
        guard let place = self.vehicles.index(forKey: id),
            let session = self.vehicles.readValue(at: place, { $0.session }),
            let index = self.sessions.index(forKey: session),
            case let client = self.sessions.readValue(at: index, { $0.client }),
            let connection = self.client(client, { $0.connection }).flatMap(\.self)
        else { return }
        let status = self.status(of: id, in: session)
        self.send(
            Envelope(.vehicleChanged(status), session: session), to: client, on: connection, into: &actions)
    }

    // MARK: Ending

    /// Removes one vehicle from its session; the session ends with its last vehicle.
    mutating func removeVehicle(
        _ id: VehicleID, _ reason: SessionEndReason, at now: Instant, into actions: inout [Action]
    ) {
        self.release(id, reason)
        self.finishLeaving(id, at: now, into: &actions)
    }

    /// Takes a vehicle off the list of its session. What follows is done by ``finishLeaving(_:at:into:)``.
    private mutating func release(_ id: VehicleID, _ reason: SessionEndReason) {
        guard let vehicle = self.vehicles[id], let session = vehicle.session else { return }
        if let ending = self.endedSessions[session]?.ending {
            self.vehicles[id]?.leaving = Vehicle.Leaving(
                session: session, reason: ending.reason, tellsVehicle: ending.tellsVehicles, isAlone: false)
        } else {
            self.sessions[session]?.remove(id, at: vehicle.place, reason)
            self.vehicles[id]?.leaving = Vehicle.Leaving(session: session, reason: reason)
        }
        self.vehicles[id]?.session = nil
    }

    /// Ends a vehicle's part in the session that it must leave, and tells the client of that one.
    mutating func finishLeaving(_ id: VehicleID, at now: Instant, into actions: inout [Action]) {
        guard let leaving = self.vehicles[id]?.leaving else { return }
        self.detach(id, leaving, at: now, into: &actions)
        self.vehicles[id]?.leaving = nil
        self.dropIfUnneeded(id)
        let session = leaving.session
        guard leaving.isAlone, let client = self.sessions[session]?.client else { return }
        self.note(.left(leaving.reason), of: id, in: session, client, into: &actions)
        let isOver =
            self.sessions[session].map { $0.vehicles.isEmpty && $0.selection != .anyThatAsked } ?? true
        if isOver {
            self.endSession(session, leaving.reason, into: &actions)
        } else {
            let status = VehicleStatus(vehicle: id, standing: .left(leaving.reason))
            self.tell(client, .vehicleChanged(status), session, into: &actions)
        }
    }

    /// Ends a session for its client and all vehicles. From now on nothing of it is delivered.
    mutating func endSession(
        _ id: SessionID, _ reason: SessionEndReason, into actions: inout [Action]
    ) {
        guard let session = self.sessions[id] else { return }
        self.begin(.end, of: id)
        self.indexSession(session, isOver: true)
        self.deadlines.remove(.receipts(id))
        self.deadlines.remove(.optIn(id))
        self.counters.sessionsEnded.add(of: reason.rawValue)
        self.clients[session.client]?.sessions.remove(id)
        self.clients[session.client]?.ended.append(
            ResumedSession(session: id, sequence: session.sequence, phase: .ended, endReason: reason))
        self.endedSessions[id] = self.sessions.removeValue(forKey: id)
        self.endedSessions[id]?.snapshots = []
        self.endedSessions[id]?.ending = GatewaySession.Ending(
            reason: reason, tellsVehicles: session.content.phase != .ended || session.hasUnfitted,
            connection: self.clients[session.client]?.connection)
        if session.vehicles.isEmpty { self.close(id, into: &actions) }
    }

    /// Ends a vehicle's part in a session that is over.
    mutating func end(
        _ id: VehicleID, in session: SessionID, at now: Instant, into actions: inout [Action]
    ) {
        self.release(id, .clientGone)
        self.finishLeaving(id, at: now, into: &actions)
        if self.isWaitingForGuidance(id) { self.offer(id, at: now, into: &actions) }
    }

    /// Ends a vehicle's part in a session: requests, shares, audiences. No further frame of the session reaches the vehicle.
    private mutating func detach(
        _ id: VehicleID, _ leaving: Vehicle.Leaving, at now: Instant, into actions: inout [Action]
    ) {
        guard let vehicle = self.vehicles[id] else { return }
        let session = leaving.session
        for name in vehicle.endpoints.keys.sorted() {
            self.leaveSession(EndpointPath(vehicle: id, endpoint: name), into: &actions)
        }
        for (_, connection, endpoint) in vehicle.connections
        where endpoint.membership?.session == session
            && (leaving.tellsVehicle || endpoint.membership?.wait != nil)
        {
            let ended = SessionEnded(session: session, reason: leaving.reason)
            Self.sendEnd(ended, to: connection, into: &actions)
        }
        for request in vehicle.sortedRequests {
            if self.requests[request]?.session == session {
                self.endRequest(
                    request, RequestDecision(.sessionEnded, .sessionEnded), at: now, into: &actions)
            }
        }
        self.endShares(with: id, .sessionEnded, into: &actions)
        self.sessions[session]?.forgetSelection(of: id)
        self.vehicles[id]?.lastEnd = SessionEnded(session: session, reason: leaving.reason)
        self.vehicles[id]?.routeSource = nil
        self.vehicles[id]?.routeFeedback = nil
    }

    /// Tells an endpoint that a session has ended, or that its vehicle is in none. What waits of it is dropped, because SessionEnded
    /// overtakes it.
    static func sendEnd(_ ended: SessionEnded, to connection: ConnectionID, into actions: inout [Action]) {
        actions.append(.purge(connection, ended.session))
        actions.append(.send(connection, Envelope(.sessionEnded(ended))))
    }

    /// Forgets a vehicle that neither has endpoints nor is waited for; otherwise brings the index up to date.
    private mutating func dropIfUnneeded(_ id: VehicleID) {
        if self.vehicles[id]?.isNeeded == true { self.indexVehicle(id) } else { self.removeVehicle(id) }
    }

    /// Forgets a session that is over, after all its vehicles were told, and tells its client.
    mutating func close(_ id: SessionID, into actions: inout [Action]) {
        guard let session = self.endedSessions.removeValue(forKey: id), let ending = session.ending
        else { return }
        self.tourCount -= session.tours.count
        self.note(.ended(ending.reason), of: session, into: &actions)
        self.memory.close(id)
        self.snapshots.forget(id)
        self.index.sessionCounts.remove(session.user)
        guard let connection = self.clients[session.client]?.connection, connection == ending.connection,
            let told = self.clients[session.client]?.ended.lastIndex(where: { $0.session == id })
        else { return }
        if let ended = self.clients[session.client]?.ended.remove(at: told),
            self.clients[session.client]?.tokens.hasSpare == true
        {
            self.clients[session.client]?.toldEnded.append(ended)
        }
        let ended = SessionEnded(session: id, reason: ending.reason)
        actions.append(.send(connection, Envelope(.sessionEnded(ended))))
    }

    /// Tells the client of a session, unless the session is over and the client has come back since.
    func tellHolder(of id: SessionID, _ message: Message, into actions: inout [Action]) {
        if let session = self.sessions[id] { return self.tell(session.client, message, id, into: &actions) }
        guard let session = self.endedSessions[id],
            let connection = self.clients[session.client]?.connection,
            connection == session.ending?.connection
        else { return }
        actions.append(.send(connection, Envelope(message, session: id)))
    }

    // MARK: A client's absence

    /// The client's connection was cut: tells the vehicles, which keep the state that they have.
    mutating func suspend(_ id: SessionID, into actions: inout [Action]) {
        guard self.sessions[id] != nil else { return }
        self.counters.work.visit()
        self.sessions[id]?.isSuspended = true
        if let session = self.sessions[id] { self.indexSession(session) }
        self.note(.suspended, of: self.sessions[id], into: &actions)
        self.begin(.suspend, of: id)
    }

    /// The client has resumed: tells the vehicles; tells the client their outcomes, standings and settings, and which of them left.
    mutating func restore(_ id: SessionID, _ connection: ConnectionID, into actions: inout [Action]) {
        guard let wasSuspended = self.sessions[id]?.isSuspended else { return }
        self.counters.work.visit()
        self.sessions[id]?.isSuspended = false
        if let session = self.sessions[id] { self.indexSession(session) }
        if wasSuspended { self.note(.restored, of: self.sessions[id], into: &actions) }
        self.begin(.restore(connection, wasSuspended: wasSuspended), of: id)
    }

    /// Tells a vehicle and the client of its session that the client has resumed.
    mutating func restore(
        _ id: VehicleID, _ session: SessionID, _ connection: ConnectionID, wasSuspended: Bool,
        into actions: inout [Action]
    ) {
        if wasSuspended { self.send(.sessionRestored, to: id, of: session, into: &actions) }
        guard let client = self.sessions[session]?.client, self.clients[client]?.connection == connection
        else { return }
        // Before the standing: once it has arrived, the client no longer waits for outcomes that it may have missed.
        self.repeatOutcomes(of: id, to: client, session, into: &actions)
        self.announce(id, into: &actions)
        self.sendSettings(of: id, session, to: connection, into: &actions)
    }

    /// Tells a client that has resumed which vehicles left a session.
    mutating func tellLeft(_ id: SessionID, _ connection: ConnectionID, into actions: inout [Action]) {
        guard let session = self.sessions[id], self.clients[session.client]?.connection == connection
        else { return }
        self.counters.work.visit(session.left.count)
        for (vehicle, reason) in session.left {
            let status = VehicleStatus(vehicle: vehicle, standing: .left(reason))
            self.tell(session.client, .vehicleChanged(status), id, into: &actions)
        }
    }

    /// Sends the connected endpoints of a vehicle a message of the gateway about its session.
    func send(
        _ message: Message, to id: VehicleID, of session: SessionID, into actions: inout [Action]
    ) {
        guard self.sessions.index(forKey: session) != nil else { return }
        let envelope = Envelope(message, session: session, flags: .gateway)
        // SnapshotBegin tells it to those that wait for their snapshot.
        for (_, connection, endpoint) in self.vehicles[id]?.connections ?? []
        where endpoint.membership?.wait == nil {
            actions.append(.send(connection, envelope))
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
        case .notAuthorized: "may not be guided by this client"
        case .limitReached: "is one more than the gateway may know"
        default: "is refused (\(self))"  // No other code refuses a vehicle.
        }
    }
}
