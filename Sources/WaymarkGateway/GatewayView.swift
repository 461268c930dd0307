internal import OrderedCollections
package import WaymarkAccess
internal import WaymarkModel
package import WaymarkProtocol

/// Publications of a connection that were accepted, or rejected.
package struct Crossing: Sendable {
    package let connection: ConnectionID
    package let frames: PublishedFrames
    package let isRejected: Bool
    /// Its session as it was then. The session may end in the same step.
    package let audience: CrossingAudience
}

/// Whom publications concern, as it was when they crossed.
package struct CrossingAudience: Sendable {
    let members: VehicleList
    package let client: ClientID
    /// See ``Gateway/sharesEverything(_:)``, before the publications and after.
    package let sharesEverything: Bool

    package func contains(_ vehicle: VehicleID) -> Bool { self.members.contains(vehicle) }
    package var firstVehicles: [VehicleID] { Array(self.members.prefix(Gateway.observedVehiclesMax)) }
}

/// What observers are told of publications. Not part of the gateway's state.
struct Crossings: Sendable, Hashable {
    private(set) var all: [Crossing] = []

    mutating func add(
        _ connection: ConnectionID, _ frames: PublishedFrames, isRejected: Bool, _ audience: CrossingAudience
    ) {
        self.all.append(
            Crossing(connection: connection, frames: frames, isRejected: isRejected, audience: audience))
    }

    static func == (lhs: Crossings, rhs: Crossings) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}

/// Names an open request for observers, within the process.
package struct RequestTicket: Sendable, Hashable, Codable {
    fileprivate let number: RequestNumber
}

// The gateway as observers are told it: records, and which of them may have changed.
extension Gateway {
    /// What may have changed since it was last asked for.
    package struct Changes: Sendable {
        package var vehicles: Set<VehicleID>
        package var clients: Set<ClientID>
        package var sessions: Set<SessionID>
        package var requests: [RequestTicket]

        package var isEmpty: Bool {
            self.vehicles.isEmpty && self.clients.isEmpty && self.sessions.isEmpty && self.requests.isEmpty
        }
    }

    /// Begins or ends to note what may have changed.
    package mutating func trackChanges(_ isOn: Bool) {
        self.vehicles.changed = isOn ? [] : nil
        self.clients.changed = isOn ? [] : nil
        self.sessions.changed = isOn ? [] : nil
        self.requests.changed = isOn ? [] : nil
        if !isOn { self.crossings = Crossings() }
    }

    /// The publications that crossed since this was last called, in order.
    package mutating func takeCrossings() -> [Crossing] {
        defer { if !self.crossings.all.isEmpty { self.crossings = Crossings() } }
        return self.crossings.all
    }

    /// What may have changed, which is forgotten here.
    package mutating func takeChanges() -> Changes {
        let changes = Changes(
            vehicles: self.vehicles.changed ?? [], clients: self.clients.changed ?? [],
            sessions: self.sessions.changed ?? [],
            requests: (self.requests.changed ?? []).map { RequestTicket(number: $0) })
        if !changes.isEmpty { self.trackChanges(true) }
        return changes
    }

    // MARK: Records

    /// A vehicle; nil if it is not known.
    package mutating func record(of id: VehicleID) -> VehicleRecord? {
        guard let vehicle = self.vehicles.elements[id], vehicle.isNeeded else { return nil }
        var record = VehicleRecord(id)
        record.session = vehicle.session ?? .none
        record.navigatesItself = vehicle.navigatesItself
        record.hasStopped = vehicle.hasStopped
        record.isGuidanceWanted = vehicle.isGuidanceWanted
        record.routeSource = vehicle.routeSource
        record.routeFeedback = vehicle.routeFeedback?.first?.feedback
        record.owner = vehicle.principal?.text ?? ""
        for name in vehicle.endpoints.keys.sorted() {
            guard let endpoint = vehicle.endpoints[name] else { continue }
            record.endpoints.append(self.record(of: endpoint, name, id))
        }
        return record
    }

    private mutating func record(
        of endpoint: Endpoint, _ name: EndpointName, _ vehicle: VehicleID
    ) -> EndpointRecord {
        var record = EndpointRecord(name)
        record.connection = endpoint.connection
        record.instant = endpoint.instant.inMicroseconds
        record.features = endpoint.hello.features
        record.limits = endpoint.hello.limits
        record.receiveFrameBytesMax = endpoint.hello.receiveFrameBytesMax
        record.preferences = endpoint.hello.preferences
        record.settings = endpoint.settings
        record.settings.source = nil
        record.receipt = endpoint.receipt
        record.delays = endpoint.timing.delays
        record.audience = endpoint.audience?.rawValue ?? 0
        guard let membership = endpoint.membership else { return record }
        record.session = membership.session
        if let features = self.features(of: membership.session) {
            record.withheld = self.withheld(from: endpoint, vehicle, in: membership.session, features)
                .filter { $0.withheld != .tripOptedOut }
        }
        return record
    }

    /// A client; nil if it is not known.
    package func record(of id: ClientID) -> ClientRecord? {
        guard let client = self.clients.elements[id] else { return nil }
        var record = ClientRecord(id)
        record.connection = client.connection
        record.instant = client.instant.inMicroseconds
        record.granted = client.granted.union(
            Self.featuresOfAll.subtracting(self.policy.withheldFeatures))
        record.priority = client.hello.priority
        record.displayName = client.displayName
        record.owner = client.principal.text
        return record
    }

    /// A session; nil if it is over.
    package mutating func record(of id: SessionID) -> SessionRecord? {
        guard let index = self.sessions.index(forKey: id) else { return nil }
        return self.sessions.readValue(at: index) { $0.record(id) }
    }

    /// An open request; nil if it has ended.
    package func record(of ticket: RequestTicket) -> RequestRecord? {
        guard let request = self.requests[ticket.number] else { return nil }
        var record = RequestRecord(
            RequestKey(vehicle: request.vehicle, requestID: request.id), to: request.client)
        record.messageType = request.content.frame.header.rawType
        record.session = request.session
        record.stage =
            switch request.stage {
            case .asked: .asked
            case .prompting: .prompting
            case .ownPrompt: .ownPrompt
            }
        record.deadline = request.due.inMicroseconds
        return record
    }

    /// What a session has; nil if it is over.
    package mutating func measure(of id: SessionID, at now: Instant) -> SessionMeasure? {
        guard let index = self.sessions.index(forKey: id) else { return nil }
        return self.sessions.readValue(at: index) { session in
            var measure = SessionMeasure(id)
            let kept = session.kept
            measure.sequence = session.sequence
            measure.retainedBytes = UInt64(kept.retained)
            measure.replayBytes = UInt64(kept.replay)
            measure.ageMilliseconds = GatewaySession.age(since: session.lastPublished, at: now)
            return measure
        }
    }

    /// The frames that a session retains, in order.
    package func retainedFrames(of session: SessionID) -> [Frame] {
        self.sessions.elements[session]?.retained.frames ?? []
    }

    /// The session of a vehicle.
    package func session(of vehicle: VehicleID) -> SessionID? { self.vehicles.elements[vehicle]?.session }

    /// The client of a session, also of one that is over and whose vehicles were not all told.
    package func client(of session: SessionID) -> ClientID? {
        self.sessions.elements[session]?.client ?? self.endedSessions[session]?.client
    }

    /// Who is behind an admitted connection.
    package func party(_ connection: ConnectionID) -> Party? {
        switch self.peers[connection] {
        case .endpoint(let path): .vehicle(path.vehicle)
        case .client(let client): .client(client)
        case nil: nil
        }
    }

    package enum Party: Sendable, Hashable {
        case vehicle(VehicleID)
        case client(ClientID)
    }

    // MARK: One after the other

    /// The vehicle after another one, in the order of their ids; the first after nil.
    package func vehicle(after id: VehicleID?) -> VehicleID? { self.index.vehicleIDs.first(after: id) }

    package func client(after id: ClientID?) -> ClientID? { self.index.clientIDs.first(after: id) }

    /// The session after another one, in the order in which they were opened.
    package func session(after place: ObservedSession?) -> ObservedSession? {
        self.index.sessions.first(after: place?.place).map { ObservedSession(place: $0) }
    }

    /// A session in the order of ``session(after:)``.
    package struct ObservedSession: Sendable, Hashable {
        fileprivate let place: SessionPlace
        package var id: SessionID { self.place.id }
    }

    /// The open requests of a vehicle.
    package func requests(of vehicle: VehicleID) -> [RequestTicket] {
        self.vehicles.elements[vehicle]?.sortedRequests.map { RequestTicket(number: $0) } ?? []
    }

    /// No operation is under way. Until then records may say of endpoints what is about to change.
    package var isSettled: Bool { self.tourCount == 0 && self.steps.isEmpty }

    /// What sessions keep, in bytes.
    package var keptBytes: (retained: Int, replay: Int) {
        (self.memory.total.retained, self.memory.total.replay)
    }

    /// What is kept of open requests, in bytes. Small ones are not counted.
    package var requestByteCount: Int { self.index.requestBytes.count }

    /// How many sessions are in each phase. O(sessions).
    package var phases: CodeCounts {
        self.sessions.elements.values.reduce(into: CodeCounts()) { $0.add(of: $1.content.phase.rawValue) }
    }

    // MARK: What observers may see

    /// Whether the access rules allow an observer; the reason to refuse it otherwise.
    package func grant(ofObserver subject: AccessSubject) -> AccessGrant {
        self.policy.access.grant(of: subject, as: .observer)
    }

    /// Whether an observer may see a vehicle.
    package func maySee(_ grant: AccessGrant, _ vehicle: VehicleID) -> Bool {
        self.policy.access.isOpen || self.policy.access.decision(grant, on: vehicle.rawValue).isAllowed
    }

    /// The vehicles that an observer may see.
    package func scope(ofObserver grant: AccessGrant) -> AccessScope { self.policy.access.scope(of: grant) }
}

extension Principal {
    /// Whose something is, for observers.
    var text: String {
        switch self {
        case .user(let user): "user \(user)"
        case .key(let name): "key \(name.prefixOfBytes(240))"
        case .anyone: "anyone"
        }
    }
}

extension String {
    fileprivate func prefixOfBytes(_ count: Int) -> Substring {
        var end = self.startIndex
        while end < self.endIndex,
            self.utf8.distance(from: self.startIndex, to: self.index(after: end)) <= count
        {
            end = self.index(after: end)
        }
        return self[..<end]
    }
}

extension Instant {
    /// Rounded down to a microsecond, as observers are told it.
    package var inMicroseconds: Instant { Instant(nanoseconds: self.nanoseconds / 1_000 * 1_000) }
}

// The vehicles of a session, for observers that may see only some of them.
extension Gateway {
    /// Differs whenever the vehicles of a session differ.
    package struct VehicleListVersion: Sendable, Hashable {
        fileprivate let count: Int
        fileprivate let last: VehicleList.Place
    }

    /// nil if the session is over.
    package func vehicleListVersion(of session: SessionID) -> VehicleListVersion? {
        self.sessions.elements[session].map {
            VehicleListVersion(count: $0.vehicles.count, last: $0.vehicles.last)
        }
    }

    /// As many of a session's vehicles are looked at, and no more: a session for any vehicle that asked may have all there are.
    package static let observedVehiclesMax = ProtocolConstants.vehiclesPerSessionMax

    package func firstVehicles(of session: SessionID) -> [VehicleID] {
        guard let vehicles = self.sessions.elements[session]?.vehicles else { return [] }
        return Array(vehicles.prefix(Self.observedVehiclesMax))
    }

    /// What observers need to know of a session before and after publications.
    mutating func observed(
        _ id: SessionID, at index: Tracked<SessionID, GatewaySession>.Index
    ) -> (record: SessionRecord, vehicles: VehicleList, sharesEverything: Bool) {
        let consenting = self.policy.routeSharingVehicles
        return self.sessions.readValue(at: index) {
            ($0.record(id), $0.vehicles, $0.sharesEverything(consenting))
        }
    }

    /// Whether the owners of all vehicles of a session have consented to route segments, and the trip shares all.
    package func sharesEverything(_ session: SessionID) -> Bool {
        self.sessions.elements[session]?.sharesEverything(self.policy.routeSharingVehicles) == true
    }
}

extension GatewaySession {
    /// As observers are told it.
    fileprivate func record(_ id: SessionID) -> SessionRecord {
        var record = SessionRecord(id, of: self.client)
        record.requestID = self.requestID
        record.isForAnyThatAsked = self.selection == .anyThatAsked
        record.phase = self.content.phase
        record.generation = self.content.generation
        record.isSuspended = self.isSuspended
        record.alert = self.content.alert
        record.optedOut = self.content.optedOut
        if self.withholdsSegments { record.optedOut.insert(.routeSegments) }
        record.sharesOpen = UInt32(clamping: self.openShares.count)
        return record
    }

    /// See ``Gateway/sharesEverything(_:)``. `consenting`: ``Gateway/Policy/routeSharingVehicles``.
    fileprivate func sharesEverything(_ consenting: Set<VehicleID>?) -> Bool {
        guard self.content.optedOut == [], !self.withholdsSegments else { return false }
        guard let consenting else { return true }
        let own = self.vehicles
        return own.count <= Gateway.observedVehiclesMax && own.allSatisfy { consenting.contains($0) }
    }
}

extension PublishedFrames {
    /// That of the first.
    package var session: SessionID? { self.indices.first.map { self.ranges[$0].header.session } }

    /// Whether a header of them satisfies `condition`.
    package func containsHeader(where condition: (FrameHeader) -> Bool) -> Bool {
        self.indices.contains { condition(self.ranges[$0].header) }
    }
}
