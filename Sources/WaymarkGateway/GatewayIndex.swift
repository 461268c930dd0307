internal import OrderedCollections
internal import WaymarkAccess
internal import WaymarkModel
internal import WaymarkProtocol

/// Names a session in the order in which sessions were opened.
struct SessionPlace: Sendable, Hashable, Comparable {
    let ordinal: UInt64
    let id: SessionID

    static func < (lhs: SessionPlace, rhs: SessionPlace) -> Bool { lhs.ordinal < rhs.ordinal }
}

/// A client that handles destinations. Its priority is what its Hello asked for; the higher, the earlier it is asked.
struct DestinationHandler: Sendable, Hashable, Comparable, Codable {
    let priority: Int32
    let client: ClientID

    static func < (lhs: DestinationHandler, rhs: DestinationHandler) -> Bool {
        lhs.priority == rhs.priority ? lhs.client < rhs.client : lhs.priority > rhs.priority
    }
}

/// A client that handles destinations, in the order in which such clients are asked for one vehicle.
struct RankedHandler: Sendable, Hashable, Comparable, Codable {
    /// Its priority for this vehicle, which the rules may have lowered.
    let rank: Int32
    let handler: DestinationHandler

    static func < (lhs: RankedHandler, rhs: RankedHandler) -> Bool {
        lhs.rank == rhs.rank ? lhs.handler < rhs.handler : lhs.rank > rhs.rank
    }
}

/// What would have to be searched for among all vehicles, clients and sessions otherwise. It follows from them.
struct GatewayIndex: Sendable, Hashable {
    /// All vehicles.
    var vehicleIDs = SortedSet<VehicleID>()
    /// All clients.
    var clientIDs = SortedSet<ClientID>()
    /// Vehicles that wait for guidance.
    var waitingVehicles = Grouped<VehicleClass, VehicleID>()
    /// All sessions.
    var sessions = SortedSet<SessionPlace>()
    /// Sessions for any vehicle that asked, unless their client is away.
    var offers = Grouped<AccessGrant, SessionPlace>()
    /// Connected clients that handle destinations.
    var handlers = Grouped<AccessGrant, DestinationHandler>()
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
        let session = self.vehicles.readValue(at: place) { $0.principal == nil ? $0.session : nil }
        let user = session.flatMap { self.sessions[$0]?.user ?? self.endedSessions[$0]?.user }
        let (old, new) = self.vehicles.withValue(at: place) { vehicle in
            let old = vehicle.indexed
            vehicle.indexed = vehicle.indexed(sessionUser: user)
            return (old, vehicle.indexed)
        }
        guard old != new else { return }
        self.index.change(id, from: old, to: new)
        if old.isWaiting != new.isWaiting { self.indexWaiting(id, new.isWaiting) }
    }

    /// Brings the index up to date after a vehicle has begun or ceased to wait for guidance, or the rules about it changed.
    mutating func indexWaiting(_ id: VehicleID, _ isWaiting: Bool) {
        let group = self.policy.access.vehicleClass(of: id.rawValue)
        if isWaiting {
            self.index.waitingVehicles.insert(id, in: group)
        } else {
            self.index.waitingVehicles.remove(id, of: group)
        }
    }

    /// Forgets a vehicle.
    mutating func removeVehicle(_ id: VehicleID) {
        guard let vehicle = self.vehicles.removeValue(forKey: id) else { return }
        self.index.change(id, from: vehicle.indexed, to: Vehicle.Indexed())
        if vehicle.indexed.isWaiting { self.indexWaiting(id, false) }
    }

    /// Brings the index up to date after a client came, changed or went.
    mutating func indexClient(_ id: ClientID, _ old: Client?) {
        let new = self.clients[id]
        self.index.connectedClientCount +=
            (new?.connection == nil ? 0 : 1) - (old?.connection == nil ? 0 : 1)
        if old == nil, new != nil { self.index.clientIDs.insert(id) }
        if old != nil, new == nil { self.index.clientIDs.remove(id) }
        guard old?.handler != new?.handler else { return }
        let group = self.grant(of: id)
        if let handler = old?.handler { self.index.handlers.remove(handler, of: group) }
        if let handler = new?.handler { self.insert(handler, in: group) }
    }

    private mutating func insert(_ handler: DestinationHandler, in group: AccessGrant) {
        self.index.handlers.insert(handler, in: group)
        self.handlerCount += 1
    }

    /// Moves a client and its sessions to another group.
    mutating func indexClient(_ id: ClientID, from old: AccessGrant, to new: AccessGrant) {
        guard let client = self.clients[id] else { return }
        if let handler = client.handler {
            self.index.handlers.remove(handler, of: old)
            self.insert(handler, in: new)
        }
        self.counters.work.visit(client.sessions.count)
        for session in client.sessions.compactMap({ self.sessions[$0] }) where session.isOffered {
            self.index.offers.remove(session.indexPlace, of: old)
            self.index.offers.insert(session.indexPlace, in: new)
        }
    }

    /// Brings the index up to date after a session was opened, suspended or restored, or has ended.
    mutating func indexSession(_ session: GatewaySession, isOver: Bool = false) {
        let place = session.indexPlace
        if isOver { self.index.sessions.remove(place) } else { self.index.sessions.insert(place) }
        guard session.selection == .anyThatAsked else { return }
        let group = self.grant(of: session.client)
        if !isOver, session.isOffered {
            self.index.offers.insert(place, in: group)
        } else {
            self.index.offers.remove(place, of: group)
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
        if old.user == nil, new.user != nil { self.vehicleIDs.insert(id) }
        if old.user != nil, new.user == nil { self.vehicleIDs.remove(id) }
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

extension GatewaySession {
    fileprivate var indexPlace: SessionPlace { SessionPlace(ordinal: self.ordinal, id: self.id) }

    /// It takes any vehicle that asked.
    var isOffered: Bool { self.selection == .anyThatAsked && !self.isSuspended }
}

extension Client {
    var handler: DestinationHandler? {
        guard self.connection != nil, self.granted.contains(.destinationRequests) else { return nil }
        return DestinationHandler(priority: self.hello.priority, client: self.hello.client)
    }
}

// Searches. Each asks the rules once for each group.
extension Gateway {
    /// The first vehicle after another one that waits for guidance and that a client may guide.
    mutating func firstWaiting(for grant: AccessGrant, after vehicle: VehicleID?) -> VehicleID? {
        let access = self.policy.access
        self.counters.work.visit(self.index.waitingVehicles.groups.count)
        return self.index.waitingVehicles.first(after: vehicle) { access.mayGuide(grant, $0) }
    }

    /// The oldest session for any vehicle that asked, of the clients that may guide a vehicle.
    mutating func firstOffer(for vehicle: VehicleID) -> SessionID? {
        let access = self.policy.access
        self.counters.work.visit(self.index.offers.groups.count)
        return self.index.offers.first {
            access.isOpen || access.decision($0, on: vehicle.rawValue).isAllowed
        }?.id
    }

    /// The next client to ask for a drive, of those that may guide the vehicle: by the priority that the rules give it, by the one that
    /// it asked for, then by name.
    mutating func nextHandler(for vehicle: VehicleID, after tried: OpenRequest.Tried?) -> RankedHandler? {
        // Otherwise a client may have come that comes before those that were asked.
        var next = tried?.handlerCount == self.handlerCount ? tried?.last : nil
        repeat {
            next = self.nextHandler(for: vehicle, after: next)
        } while next.map { tried?.has($0.handler.client) == true } ?? false
        return next
    }

    private mutating func nextHandler(for vehicle: VehicleID, after last: RankedHandler?) -> RankedHandler? {
        let access = self.policy.access
        self.counters.work.visit(self.index.handlers.groups.count)
        var first: RankedHandler?
        for (grant, handlers) in self.index.handlers.groups {
            let decision = access.decision(grant, on: vehicle.rawValue)
            guard decision.isAllowed, let next = handlers.first(after: last, atMost: decision.priorityMax)
            else { continue }
            first = first.map { min($0, next) } ?? next
        }
        return first
    }
}

extension SortedSet where Element == DestinationHandler {
    /// The first handler after another one, which may be in another set, if the rules lower the priorities of these to `priorityMax`.
    fileprivate func first(after last: RankedHandler?, atMost priorityMax: Int32?) -> RankedHandler? {
        let cap = priorityMax ?? .max
        var handler: DestinationHandler?
        if let last, cap == last.rank || (cap > last.rank && last.handler.priority == last.rank) {
            handler = last.handler
        } else if let last, cap > last.rank {
            // Those with a higher priority come before the last one, those with just its rank after it.
            handler = DestinationHandler(priority: last.rank, client: ClientID(unchecked: ""))
        }
        return self.first(after: handler).map {
            RankedHandler(rank: Swift.min($0.priority, cap), handler: $0)
        }
    }
}
