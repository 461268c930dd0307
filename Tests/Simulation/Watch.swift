internal import WaymarkGateway
internal import WaymarkProtocol

/// Follows every event and action of the gateway, and checks after each that no vehicle is in two sessions and that every frame goes
/// only to endpoints that may receive it. It does not look into the gateway's state.
struct Watch {
    /// The identity that a peer gave in its Hello.
    enum Identity: Hashable {
        case endpoint(EndpointPath, mayRequest: Bool)
        case client(ClientID, priority: Int32, handlesDestinations: Bool)
    }

    /// Violations that were not yet collected.
    var violations: [(Promise, String)] = []
    var requests = RequestWatch()
    private var events = EventWatch()
    var access: AccessWatch
    /// Admitted connections.
    private(set) var present: [ConnectionID: Identity] = [:]
    private let grace: Duration
    private var arriving: [ConnectionID: Hello] = [:]
    /// The session that an endpoint was last brought into, until it is told that the session ended.
    private var sessions: [ConnectionID: SessionID] = [:]
    /// Endpoints that the gateway knows, with the end of their grace time; nil while they are connected.
    private var known: [EndpointPath: Instant?] = [:]
    /// Sessions of which a vehicle must get no more frames, because it cancelled and has not asked for guidance since.
    private var cancelled: [VehicleID: Set<SessionID>] = [:]
    /// Vehicles that no client may guide.
    private var navigatingThemselves: Set<VehicleID> = []
    /// A vehicle that cancels while steps of operations wait: those about it are done first.
    private var cancelling: (connection: ConnectionID, vehicle: VehicleID, reason: CancelReason)?

    init(grace: Duration, _ rules: SimulatedRules) {
        self.grace = grace
        self.access = AccessWatch(rules)
    }

    /// The vehicle of an endpoint's connection; nil for other connections.
    func vehicle(of connection: ConnectionID) -> VehicleID? {
        if case .endpoint(let path, _) = self.present[connection] { path.vehicle } else { nil }
    }

    /// Whether a frame of `session` may be written to the peer.
    func mayReach(_ connection: ConnectionID, _ session: SessionID) -> Bool {
        guard session != .none, let vehicle = self.vehicle(of: connection) else { return true }
        return self.cancelled[vehicle]?.contains(session) != true
    }

    // MARK: Events

    /// `hasSteps`: steps of operations waited before the event.
    mutating func see(_ event: Gateway.Event, at now: Instant, hasSteps: Bool) {
        self.access.see(event)
        switch event {
        case .arrived(let connection, let hello, _, _, _): self.arriving[connection] = hello
        case .received(let connection, let message, let session):
            self.see(message, session, from: connection)
            if !hasSteps { self.finishCancelling() }
        case .requested(let connection, let request, _):
            if let identity = self.present[connection] { self.requests.see(request, from: identity) }
        case .departed(let connection, let clean): self.leave(connection, clean: clean, at: now)
        case .deadlineReached: self.forgetEndpoints(at: now)
        case .confirmed, .published, .publicationRejected, .eventRejected, .policyChanged, .stepDue, .seen,
            .simulationRequested:
            break
        }
    }

    private mutating func see(_ message: Message, _ session: SessionID, from connection: ConnectionID) {
        guard let identity = self.present[connection] else { return }
        if case .endpoint(let path, _) = identity {
            self.events.begin(message, session, from: connection, of: path)
        }
        if case .endpoint(let path, mayRequest: true) = identity {
            switch message {
            case .cancelNavigation(let reason):
                // The session that the user stopped may have ended already.
                let isCurrent = session == .none || session == self.sessions[connection]
                if isCurrent || reason == .ownNavigationStarted {
                    self.cancelling = (connection, path.vehicle, reason)
                }
            case .allowNavigation: self.ask(path.vehicle)
            default: break  // Irrelevant to who may guide.
            }
        }
        self.requests.see(message, from: connection, identity)
    }

    private mutating func finishCancelling() {
        guard let (connection, vehicle, reason) = self.cancelling else { return }
        self.cancelling = nil
        // Changed rules may refuse the endpoint before its message is looked at.
        guard self.present[connection] != nil else { return }
        let sessions = self.connections(of: vehicle).compactMap { self.sessions[$0] }
        self.cancelled[vehicle, default: []].formUnion(sessions)
        if reason == .ownNavigationStarted { self.navigatingThemselves.insert(vehicle) }
    }

    /// The vehicle wants guidance again.
    private mutating func ask(_ vehicle: VehicleID) {
        self.cancelled[vehicle] = nil
        self.navigatingThemselves.remove(vehicle)
    }

    private func connections(of vehicle: VehicleID) -> [ConnectionID] {
        self.present.keys.filter { self.vehicle(of: $0) == vehicle }.sorted()
    }

    private mutating func leave(_ connection: ConnectionID, clean: Bool, at now: Instant) {
        self.arriving[connection] = nil
        guard let identity = self.drop(connection) else { return }
        guard case .endpoint(let path, _) = identity else { return }
        self.known[path] = clean ? nil : .some(now + self.grace)
        self.forgetVehicle(path.vehicle)
    }

    /// The gateway no longer has this connection.
    @discardableResult
    private mutating func drop(_ connection: ConnectionID) -> Identity? {
        self.sessions[connection] = nil
        self.requests.leave(connection)
        self.access.forget(connection)
        return self.present.removeValue(forKey: connection)
    }

    private mutating func forgetEndpoints(at now: Instant) {
        for (path, end) in self.known {
            guard let end, end <= now else { continue }
            self.known[path] = nil
            self.forgetVehicle(path.vehicle)
        }
    }

    /// With the last of its endpoints the gateway forgets a vehicle, and the outcomes of its requests.
    private mutating func forgetVehicle(_ vehicle: VehicleID) {
        guard !self.known.keys.contains(where: { $0.vehicle == vehicle }) else { return }
        self.ask(vehicle)
        self.requests.forget(vehicle)
    }

    // MARK: Actions

    /// `members` are the members of a publication's audience.
    mutating func see(_ action: Gateway.Action, members: [ConnectionID]) {
        switch action {
        case .admit(let connection, let welcome): self.admit(connection, welcome)
        case .refuse(let connection, _): self.arriving[connection] = nil
        case .close(let connection, let goodbye):
            // A peer that the rules refuse is forgotten at once.
            if goodbye.code == .rulesChanged {
                self.leave(connection, clean: true, at: Instant(nanoseconds: 0))
            } else {
                self.drop(connection)
            }
        case .send(let connection, let envelope): self.see(envelope, to: connection)
        case .forward(let connection, let request, let vehicle, let session):
            self.check(connection, session)
            self.access.ask(connection, vehicle)
            self.requests.see(request, of: vehicle, to: connection, self.present, self.access)
        case .sendFrames(let connection, let frames):
            for frame in frames { self.see(frame, to: connection) }
        case .publish(_, let frames):
            for (frame, _) in frames.frames { for connection in members { self.see(frame, to: connection) } }
        case .note(let note): self.see(note)
        case .purge(let connection, _):
            if self.cancelling.map({ $0.vehicle == self.vehicle(of: connection) }) ?? false {
                self.finishCancelling()
            }
        case .observe(let connection, _, _, _, _, _): self.arriving[connection] = nil
        case .join, .leave, .purgeShares, .arm: break
        }
    }

    /// Of endpoints in their grace time that the rules refuse, and of requests that end while no endpoint of their vehicle is connected,
    /// nothing but a note tells.
    private mutating func see(_ note: Gateway.Note) {
        if case .requestEnded(let id, let outcome, _) = note.turn, let vehicle = note.vehicles.first {
            self.requests.seeEnd(id, of: vehicle, outcome)
        }
        guard case .helloRefused = note.turn, let vehicle = note.vehicles.first,
            !self.arriving.contains(where: { self.access.refuses($0.value, $0.key) })
        else { return }
        for (path, end) in self.known
        where path.vehicle == vehicle && end != nil && !self.access.mayStay(path) {
            self.known[path] = nil
        }
        self.forgetVehicle(vehicle)
    }

    private mutating func admit(_ connection: ConnectionID, _ welcome: Welcome) {
        guard let hello = self.arriving.removeValue(forKey: connection) else { return }
        self.access.admit(connection, hello.role)
        switch hello.role {
        case .vehicle(let vehicle):
            let path = EndpointPath(vehicle: vehicle.vehicle, endpoint: vehicle.endpoint)
            self.present[connection] = .endpoint(path, mayRequest: vehicle.features.contains(.requests))
            self.known.updateValue(.none, forKey: path)
            if vehicle.guidanceWanted, !welcome.isResumed { self.cancelled[path.vehicle] = nil }
        case .navigation(let navigation):
            self.events.admit(navigation)
            self.present[connection] = .client(
                navigation.client, priority: navigation.priority,
                handlesDestinations: navigation.features.contains(.destinationRequests))
        case .observer: break
        }
    }

    private mutating func see(_ envelope: Envelope, to connection: ConnectionID) {
        self.check(connection, envelope.session)
        switch envelope.message {
        case .snapshotBegin(let begin):
            self.begin(envelope.session, connection)
            self.access.begin(envelope.session, begin, connection)
        case .sessionEnded(let ended):
            // If it names another session, it answers a cancellation that arrived after that session's end.
            let isInAnother = self.sessions[connection].map { ended.session != $0 } ?? false
            if self.vehicle(of: connection) != nil, !isInAnother { self.sessions[connection] = nil }
        case .requestOutcome(let outcome):
            if self.requests.isAcceptedDestination(outcome) { self.ask(outcome.vehicle) }
        default: break  // Irrelevant to sessions.
        }
        self.requests.see(envelope.message, to: connection, self.present)
        self.events.see(envelope.message, to: connection)
    }

    private mutating func begin(_ session: SessionID, _ connection: ConnectionID) {
        if let old = self.sessions[connection], old != session {
            self.violations.append(
                (.oneSession, "\(connection) is brought into a session while it is in another"))
        }
        if let vehicle = self.vehicle(of: connection), self.navigatingThemselves.contains(vehicle) {
            self.violations.append(
                (.nothingAfterCancelling, "\(vehicle) is guided while it navigates itself"))
        }
        self.sessions[connection] = session
    }

    private mutating func see(_ frame: Frame, to connection: ConnectionID) {
        self.check(connection, frame.header.session)
        if self.sessions[connection] != frame.header.session {
            self.violations.append(
                (.nothingAfterCancelling, "\(connection) is sent a frame of a session it is not in"))
        }
        switch frame.header.type {
        case .finishGuidance, .cancelGuidance: self.sessions[connection] = nil
        default: break  // The session continues.
        }
    }

    private mutating func check(_ connection: ConnectionID, _ session: SessionID) {
        guard !self.mayReach(connection, session) else { return }
        self.violations.append((.nothingAfterCancelling, "a frame for \(connection) after it cancelled"))
    }

    // MARK: After each event

    /// Checks what must hold after each event.
    mutating func check(isBehind: Bool) {
        self.finishCancelling()
        var guiding: [VehicleID: SessionID] = [:]
        for (connection, session) in self.sessions {
            guard let vehicle = self.vehicle(of: connection) else { continue }
            if let other = guiding.updateValue(session, forKey: vehicle), other != session {
                self.violations.append((.oneSession, "\(vehicle) is in two sessions"))
            }
        }
        self.requests.check(isBehind: isBehind)
        self.access.check(self.sessions)
        self.checkEvents()
        self.violations += self.requests.violations + self.access.violations + self.events.violations
        self.requests.violations = []
        self.access.violations = []
        self.events.violations = []
    }

    /// Checks what became of the event of an endpoint that was handled.
    private mutating func checkEvents() {
        let (sessions, access, present) = (self.sessions, self.access, self.present)
        self.events.end(
            isInSession: { present[$0] != nil && sessions[$0] == $1 }, client: { access.guide(of: $0) },
            connection: { client in
                present.first {
                    if case .client(client, _, _) = $0.value { true } else { false }
                }?.key
            }, hasRules: access.rules != SimulatedRules())
    }
}
