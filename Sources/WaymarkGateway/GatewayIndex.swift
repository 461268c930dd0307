internal import OrderedCollections
internal import WaymarkModel
internal import WaymarkProtocol

/// Names a session in the order in which sessions were opened.
struct SessionPlace: Sendable, Hashable, Comparable {
    let ordinal: UInt64
    let id: SessionID

    static func < (lhs: SessionPlace, rhs: SessionPlace) -> Bool { lhs.ordinal < rhs.ordinal }
}

/// A client that handles destinations, in the order in which such clients are asked: by priority, then by name.
struct DestinationHandler: Sendable, Hashable, Comparable, Codable {
    let priority: Int32
    let client: ClientID

    static func < (lhs: DestinationHandler, rhs: DestinationHandler) -> Bool {
        lhs.priority == rhs.priority ? lhs.client < rhs.client : lhs.priority > rhs.priority
    }
}

/// What would have to be searched for among all vehicles, clients and sessions otherwise. It follows from them.
struct GatewayIndex: Sendable, Hashable {
    /// Vehicles that wait for guidance.
    var waitingVehicles = SortedSet<VehicleID>()
    /// All sessions.
    var sessions = SortedSet<SessionPlace>()
    /// Sessions for any vehicle that asked, unless their client is away.
    var offers = SortedSet<SessionPlace>()
    /// Connected clients that handle destinations.
    var handlers = SortedSet<DestinationHandler>()
    var connectedVehicleCount = 0
    var connectedClientCount = 0
    /// Vehicles; one without endpoints is that of the user whose session waits for it.
    var vehicles = UserCount()
    /// Of those, vehicles without endpoints.
    var awaitedVehicles = UserCount()
    /// Sessions, also those that are over and whose vehicles were not all told.
    var sessionCounts = UserCount()
    /// Bytes of open requests of vehicles, of those that are large.
    var requestBytes = UserCount()
}

extension Vehicle {
    /// What ``GatewayIndex`` has of a vehicle.
    struct Indexed: Sendable, Hashable, Codable {
        /// The user for whom it counts; nil while it is not counted.
        var user: Principal?
        var isAwaited = false
        var isWaiting = false
        var isConnected = false
    }

    fileprivate func indexed(sessionUser: Principal?) -> Indexed {
        Indexed(
            user: self.principal ?? sessionUser, isAwaited: self.endpoints.isEmpty,
            isWaiting: self.isWaitingForGuidance, isConnected: self.isConnected)
    }

    /// It takes the next session for any vehicle that asked.
    var isWaitingForGuidance: Bool {
        self.isGuidanceWanted && self.session == nil && !self.hasStopped && !self.navigatesItself
            && self.isConnected
    }
}

extension Gateway {
    /// Brings the index up to date after a vehicle came, changed or went. Nothing else changes what the index has of vehicles.
    mutating func indexVehicle(_ id: VehicleID) {
        if let place = self.vehicles.index(forKey: id) { self.indexVehicle(id, at: place) }
    }

    /// The same, for the vehicle at a place in the dictionary.
    mutating func indexVehicle(_ id: VehicleID, at place: Dictionary<VehicleID, Vehicle>.Index) {
        let session = self.vehicles.withValue(at: place) { $0.principal == nil ? $0.session : nil }
        let user = session.flatMap { self.sessions[$0]?.user ?? self.endedSessions[$0]?.user }
        let (old, new) = self.vehicles.withValue(at: place) { vehicle in
            let old = vehicle.indexed
            vehicle.indexed = vehicle.indexed(sessionUser: user)
            return (old, vehicle.indexed)
        }
        if old != new { self.index.change(id, from: old, to: new) }
    }

    /// Forgets a vehicle.
    mutating func removeVehicle(_ id: VehicleID) {
        guard let vehicle = self.vehicles.removeValue(forKey: id) else { return }
        self.index.change(id, from: vehicle.indexed, to: Vehicle.Indexed())
    }

    /// Brings the index up to date after a client came, changed or went.
    mutating func indexClient(_ id: ClientID, _ old: Client?) {
        let new = self.clients[id]
        self.index.connectedClientCount +=
            (new?.connection == nil ? 0 : 1) - (old?.connection == nil ? 0 : 1)
        guard old?.handler != new?.handler else { return }
        if let handler = old?.handler { self.index.handlers.remove(handler) }
        if let handler = new?.handler {
            self.index.handlers.insert(handler)
            self.handlerCount += 1
        }
    }

    /// Brings the index up to date after a session was opened, suspended or restored, or has ended.
    mutating func indexSession(_ session: NavigationSession, isOver: Bool = false) {
        let place = SessionPlace(ordinal: session.ordinal, id: session.id)
        if isOver { self.index.sessions.remove(place) } else { self.index.sessions.insert(place) }
        guard session.selection == .anyThatAsked else { return }
        if isOver || session.isSuspended {
            self.index.offers.remove(place)
        } else {
            self.index.offers.insert(place)
        }
    }

    /// Builds the index anew, after the state was read.
    mutating func rebuildIndex() {
        self.index = GatewayIndex()
        for id in self.vehicles.keys {
            self.vehicles[id]?.indexed = Vehicle.Indexed()
            self.indexVehicle(id)
        }
        for id in self.clients.keys { self.indexClient(id, nil) }
        for session in self.sessions.values {
            self.indexSession(session)
            self.index.sessionCounts.add(session.user)
        }
        for (_, request) in self.requests { self.charge(request.content, of: request.vehicle) }
    }
}

extension GatewayIndex {
    fileprivate mutating func change(
        _ id: VehicleID, from old: Vehicle.Indexed, to new: Vehicle.Indexed
    ) {
        self.connectedVehicleCount += (new.isConnected ? 1 : 0) - (old.isConnected ? 1 : 0)
        if old.isWaiting != new.isWaiting {
            if new.isWaiting { self.waitingVehicles.insert(id) } else { self.waitingVehicles.remove(id) }
        }
        // A change of its user or of this is rare, and looking a user up takes long.
        guard old.user != new.user || old.isAwaited != new.isAwaited else { return }
        if let user = old.user {
            self.vehicles.remove(user)
            if old.isAwaited { self.awaitedVehicles.remove(user) }
        }
        if let user = new.user {
            self.vehicles.add(user)
            if new.isAwaited { self.awaitedVehicles.add(user) }
        }
    }
}

extension Client {
    fileprivate var handler: DestinationHandler? {
        guard self.connection != nil, self.granted.contains(.destinationRequests) else { return nil }
        return DestinationHandler(priority: self.hello.priority, client: self.hello.client)
    }
}
