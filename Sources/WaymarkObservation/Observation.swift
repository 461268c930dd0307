internal import WaymarkAccess
internal import WaymarkGateway
internal import WaymarkProtocol

/// What one observer wants, and how far it was told it. Stays for the grace time when its connection is cut.
struct Observation: Sendable {
    /// What of the present state comes next, in this order.
    enum Walk: Sendable, Hashable {
        case vehicles(after: VehicleID?)
        case clients(after: ClientID?)
        case sessions(after: Gateway.ObservedSession?)
        case end
    }

    /// What a session retained when its record was told. Until all of it is told, no entry is.
    ///
    /// Why a copy, which shares the bytes: what is published between two parts would make the second one wrong.
    struct Retained: Sendable {
        let session: SessionID
        let frames: [Frame]
        var next = 0
    }

    var hello: ObserverHello
    let principal: Principal
    let subject: AccessSubject
    var grant: AccessGrant
    /// The vehicles that the access rules let it see; nil for every vehicle, whatever the rules say.
    var scope: AccessScope?
    var tokens: ResumptionTokens
    /// nil while it is disconnected.
    var connection: ConnectionID?
    /// Until when it may resume.
    var end = Instant(nanoseconds: 0)
    /// nil before its first Observe.
    var observe: Observe?
    /// It resumed, and its next Observe may go on where it was. Until then it is told nothing.
    var mayContinue = false
    /// The index of the next entry in the ring.
    var cursor: UInt64 = 0
    /// The index of the first entry that may be its own.
    var first: UInt64 = 0
    /// The number of the last entry before the last part of the present state.
    var stateNumber: UInt64 = 0
    /// The number of the last entry that it was told, or was told that it was dropped.
    var number: UInt64 = 0
    /// How many entries behind that were dropped.
    var dropped: UInt64 = 0
    /// What it was told last that it missed.
    var gaps = ToldGaps()
    /// nil once it was told the whole state.
    var walk: Walk?
    /// Only while ``walk`` is not nil.
    var retained: Retained?
    /// The loop has room for more.
    var isReady = true
    /// What comes before everything else.
    var begin: ObservationBegin?
    /// Counters that it asked for, and that are not being answered.
    var asked: ReadCounters?
    /// nil while none are being answered.
    var answer: CounterAnswer?
    /// Whether a session has a vehicle that it may see, by how the session's vehicles were then.
    var visibleSessions: [SessionID: (version: Gateway.VehicleListVersion, isVisible: Bool)] = [:]

    /// The access rules limit what it sees.
    var isLimited: Bool { self.scope?.isAll == false }

    /// What it asked for and was not told, or not all of it.
    var unanswered: ReadCounters? {
        guard var all = self.asked ?? self.answer?.read else { return nil }
        if let read = self.answer?.read { all.formUnion(read) }
        return all
    }

    /// The largest frame that it takes.
    var frameBytesMax: Int {
        let size = self.hello.receiveFrameBytesMax
        return Int(size > 0 ? size : ProtocolConstants.frameBytes.upperBound)
    }

    /// Something must be sent as soon as there is room, apart from entries.
    var isDue: Bool {
        self.begin != nil || self.walk != nil || self.answer?.isMeasured == true || self.dropped > 0
    }
}

/// What an entry is about.
struct Scope {
    var vehicles: [VehicleID] = []
    var client: ClientID?
    var session = SessionID.none
    /// It names vehicles that are not in ``vehicles``.
    var isOfClient = false
    /// The session's vehicles when publications crossed.
    var audience: CrossingAudience?
}

extension Observation {
    /// The same of an observer that came through another listener. It must begin again.
    func with(_ hello: ObserverHello) -> Observation {
        var other = Observation(
            hello: hello, principal: self.principal, subject: self.subject, grant: self.grant,
            scope: self.scope, tokens: self.tokens)
        other.number = self.number
        return other
    }
}

// What an observer gets.
extension Observation {
    /// Whether neither its filter nor the access rules hide a vehicle.
    private func sees(_ vehicle: VehicleID, in gateway: Gateway) -> Bool {
        guard self.observe.map({ $0.vehicles.isEmpty || $0.vehicles.contains(vehicle) }) ?? true else {
            return false
        }
        return !self.isLimited || gateway.maySee(self.grant, vehicle)
    }

    private func sees(_ client: ClientID) -> Bool {
        self.observe.map { $0.clients.isEmpty || $0.clients.contains(client) } ?? true
    }

    private func sees(_ session: SessionID) -> Bool {
        self.observe.map { $0.sessions.isEmpty || $0.sessions.contains(session) } ?? true
    }

    func wants(_ vehicle: VehicleID, in gateway: Gateway) -> Bool {
        self.observe?.wantsState == true && self.sees(vehicle, in: gateway)
    }

    func wants(_ client: ClientID) -> Bool { self.observe?.wantsState == true && self.sees(client) }

    func wants(_ session: SessionID, of client: ClientID) -> Bool {
        self.wants(client) && self.sees(session)
    }

    /// Whether an event or frames with this scope concern it.
    mutating func concerns(_ scope: Scope, in gateway: Gateway) -> Bool {
        guard let observe else { return false }
        guard self.sees(scope.session) else { return false }
        if !observe.clients.isEmpty {
            guard let client = scope.client, observe.clients.contains(client) else { return false }
        }
        if observe.vehicles.isEmpty, !self.isLimited { return true }
        if self.isLimited, scope.isOfClient { return false }
        if !scope.vehicles.isEmpty {
            return scope.vehicles.contains { self.sees($0, in: gateway) }
        }
        guard scope.session != .none else { return observe.vehicles.isEmpty }
        return self.hasVisibleVehicle(scope.session, scope.audience, observe, in: gateway)
    }

    private mutating func hasVisibleVehicle(
        _ session: SessionID, _ audience: CrossingAudience?, _ observe: Observe, in gateway: Gateway
    ) -> Bool {
        guard observe.vehicles.isEmpty else {
            return observe.vehicles.contains {
                (audience?.contains($0) ?? (gateway.session(of: $0) == session)) && self.sees($0, in: gateway)
            }
        }
        guard let version = gateway.vehicleListVersion(of: session) else {
            return audience?.firstVehicles.contains { gateway.maySee(self.grant, $0) } ?? false
        }
        if let known = self.visibleSessions[session], known.version == version { return known.isVisible }
        let vehicles = gateway.firstVehicles(of: session)
        let isVisible = vehicles.isEmpty || vehicles.contains { gateway.maySee(self.grant, $0) }
        if self.visibleSessions.count >= Self.visibleSessionsMax { self.visibleSessions = [:] }
        self.visibleSessions[session] = (version, isVisible)
        return isVisible
    }

    private static let visibleSessionsMax = 4_096

    /// Whether it may be told what waits for a connection.
    func mayMeasure(_ connection: ConnectionID, in gateway: Gateway) -> Bool {
        switch gateway.party(connection) {
        case .vehicle(let vehicle): self.sees(vehicle, in: gateway)
        case .client(let client): self.sees(client)
        case nil:
            !self.isLimited && self.observe?.vehicles.isEmpty != false
                && self.observe?.clients.isEmpty != false
        }
    }

    /// Whether it may be told what a session has.
    func mayMeasure(_ session: SessionID, in gateway: Gateway) -> Bool {
        guard self.sees(session) else { return false }
        // A session that is over has no client that a filter could name.
        return gateway.client(of: session).map { self.sees($0) } ?? (self.observe?.clients.isEmpty != false)
    }
}
