internal import DequeModule
internal import WaymarkAccess
internal import WaymarkModel
package import WaymarkProtocol

/// The one state machine behind all connections: peers, sessions, arbitration, requests, retained state.
///
/// A value: the driver and the simulation hand in events and perform the actions. A peer's bug or malice is answered
/// by an error to it, or ignored where it can be a race; a driver's bug (an event of a connection that never arrived)
/// is ignored.
///
/// The parts: `Admission` (peers arrive, resume, depart), `Guidance` (sessions and the vehicles in them),
/// `Joining` (endpoints in sessions), `Publishing`, `Requests`, `VehicleMessages`.
package struct Gateway: Sendable, Hashable {
    /// What a deadline is for.
    enum Deadline: Sendable, Hashable, Codable {
        case clientGrace(ClientID)
        case endpointGrace(EndpointPath)
        case request(RequestNumber)
        case share(Share)
        case receipts(SessionID)
        case optIn(SessionID)
        case acknowledgements
    }

    /// A session in which a user has room for another profile.
    struct FreeRoom: Sendable, Hashable {
        let session: SessionID
        let user: Principal
    }

    package internal(set) var counters = Counters()
    package internal(set) var policy: Policy { didSet { self.renewRules() } }
    /// What Welcomes say that this gateway is. Set it before the first event.
    package var identity = GatewayIdentity.unnamed
    let coder: BodyCoder
    /// Made once, since each batch of frames needs it.
    private(set) var rules: GatewaySession.PublishingRules
    var peers: [ConnectionID: Peer] = [:]
    var vehicles: Tracked<VehicleID, Vehicle> = [:]
    var clients: Tracked<ClientID, Client> = [:]
    /// The rules about each client that they have reached; empty if there are none.
    var grants: [ClientID: AccessGrant] = [:]
    /// Clients that changed rules have not reached yet.
    var unruledClients = SortedSet<ClientID>()
    /// Vehicles that changed rules have not reached yet.
    var unruledVehicles = SortedSet<VehicleID>()
    var sessions: Tracked<SessionID, GatewaySession> = [:]
    /// Sessions that are over, until all their vehicles were told. Nothing more is published in them.
    var endedSessions: [SessionID: GatewaySession] = [:]
    var requests = SlotMap<OpenRequest>()
    /// How much memory sessions use.
    var memory = MemoryLedger()
    var known = UserCount()
    /// What would be searched for among all vehicles, clients and sessions otherwise.
    var index = GatewayIndex()
    var snapshots = SnapshotBook()
    /// What crossed since observers were last told.
    var crossings = Crossings()
    var deadlines = DeadlineQueue<Deadline>()
    /// Sessions whose clients must be told which numbers are used up.
    var unacknowledged: Deque<UnacknowledgedSession> = []
    /// The deadline that the driver was last told.
    package internal(set) var armed: Instant?
    var nextSession: SessionID
    var nextAudience = AudienceID(1)
    /// How many sessions were opened so far.
    var sessionCount: UInt64 = 0
    /// How often a client came to handle destinations.
    var handlerCount: UInt64 = 0
    /// What operations have not done yet.
    var steps = StepQueue()
    /// The connection that pays for the present event, see ``Event/cause``.
    var cause: ConnectionID?
    /// The work at which the present event leaves the rest to steps; 0 between two events.
    var workLimit: UInt64 = 0
    /// How many units of work an event may cost before it leaves the rest to steps, at least 1.
    package var stepUnitsMax: UInt64 = 32 { didSet { self.renewRules() } }
    /// How many tours of sessions' vehicles are not over. While there are none, every vehicle is settled.
    var tourCount = 0
    /// Sessions in which other endpoints of a user may have room now; empty between two events.
    var sessionsWithRoom: [FreeRoom] = []

    /// Creates an empty gateway. `firstSession` should be random, so that ids of an earlier process match nothing.
    package init(policy: Policy, coder: BodyCoder, firstSession: SessionID) {
        self.policy = policy
        self.coder = coder
        self.rules = Self.rules(policy, coder, self.stepUnitsMax)
        self.nextSession = firstSession
    }

    private static func rules(
        _ policy: Policy, _ coder: BodyCoder, _ stepUnitsMax: UInt64
    ) -> GatewaySession.PublishingRules {
        GatewaySession.PublishingRules(
            limits: policy.limits, coder: coder, fittingUnitsMax: Int(2 * stepUnitsMax))
    }

    private mutating func renewRules() {
        self.rules = Self.rules(self.policy, self.coder, self.stepUnitsMax)
    }

    /// Advances the gateway by one event and appends what the driver must do, in order.
    package mutating func handle(_ event: Event, at now: Instant, into actions: inout [Action]) {
        self.cause = event.cause
        let start = self.counters.work.units
        let actionCount = actions.count
        self.counters.work.visit()
        self.workLimit = self.counters.work.units &+ self.stepUnitsMax
        switch event {
        case .arrived(let connection, let hello, let principal, let subject, let token):
            if let goodbye = self.accessRefusal(of: hello, subject, into: &actions) {
                actions.append(.refuse(connection, goodbye))
            } else {
                self.admit(connection, hello, principal, subject, token, at: now, into: &actions)
            }
        case .confirmed(let connection): self.confirm(connection)
        case .received(let connection, let message, let session):
            self.receive(message, session, from: connection, at: now, into: &actions)
        case .requested(let connection, let request, let session):
            self.receive(request, session, from: connection, at: now, into: &actions)
        case .simulationRequested(let connection, let asked, let subject):
            self.simulate(asked, subject, connection, into: &actions)
        case .published(let connection, let frames):
            self.publish(frames, from: connection, at: now, into: &actions)
        case .publicationRejected(let connection, let header):
            self.skip(header, from: connection, at: now, into: &actions)
        case .eventRejected(let connection, let type, let session, let limit):
            self.rejectEvent(type, session, limit, of: connection, into: &actions)
        case .departed(let connection, let clean):
            self.depart(connection, clean: clean, at: now, into: &actions)
        case .deadlineReached:
            self.armed = nil
            self.queue(.deadlines)
        case .policyChanged(let policy): self.change(to: policy)
        case .seen: break
        case .stepDue: break  // Done below.
        }
        self.counters.work.perform(actions.count &- actionCount)
        if !self.steps.isEmpty || !self.sessionsWithRoom.isEmpty {
            self.takeSteps(of: self.cause, at: now, into: &actions)
        }
        self.arm(into: &actions)
        self.counters.work.endEvent(since: start)
        self.cause = nil
        self.workLimit = 0
    }

    /// Forgets what is not handed over because it can be made again.
    package mutating func forgetSnapshots() { self.snapshots.forgetAll() }

    /// The connections of admitted peers.
    package var connections: some Collection<ConnectionID> { self.peers.keys }

    /// The present numbers of peers, sessions and requests, for status lines.
    package var census: Census {
        Census(
            vehicles: self.index.connectedVehicleCount,
            endpoints: self.peers.count - self.index.connectedClientCount,
            clients: self.index.connectedClientCount,
            sessions: self.sessions.count, requests: self.requests.count)
    }

    private mutating func receive(
        _ message: Message, _ session: SessionID, from connection: ConnectionID, at now: Instant,
        into actions: inout [Action]
    ) {
        switch self.peers[connection] {
        case nil: break  // The connection was refused or replaced while messages were on their way.
        case .client(let client):
            self.receive(message, session, client: client, connection, at: now, into: &actions)
        case .endpoint(let path):
            self.receive(message, session, path: path, connection, at: now, into: &actions)
        }
    }

    /// A step: handles deadlines that have passed. All peers of a user may depart at the same time.
    mutating func reachDeadlines(at now: Instant, into actions: inout [Action]) {
        repeat {
            guard let deadline = self.deadlines.takeDue(at: now) else { return }
            self.counters.work.visit()
            switch deadline {
            case .clientGrace(let client): self.forgetClient(client, .clientGone, into: &actions)
            case .endpointGrace(let path): self.forgetEndpoint(path, at: now, into: &actions)
            case .request(let number):
                guard let ending = self.requests[number]?.stage.timeout else { break }
                self.giveUp(number, ending, at: now, into: &actions)
            case .share(let share):
                self.settle(share.vehicle, at: now, into: &actions)
                self.endShare(share, .didFailToShare(.timedOut), into: &actions)
            case .receipts(let session): self.begin(.receipts, of: session)
            case .optIn(let session): self.applyOptOut(of: session, at: now)
            case .acknowledgements: self.reachAcknowledgements(at: now, into: &actions)
            }
        } while self.hasBudget
        self.putBack(.deadlines)
    }

    private mutating func arm(into actions: inout [Action]) {
        guard let next = self.deadlines.next, next != self.armed else { return }
        self.armed = next
        actions.append(.arm(deadline: next))
    }

    /// A session id that no session has. Never 0.
    mutating func newSessionID() -> SessionID {
        repeat {
            self.nextSession.rawValue &+= 1
        } while self.nextSession == .none || self.sessions[self.nextSession] != nil
            || self.endedSessions[self.nextSession] != nil
        return self.nextSession
    }

    mutating func newAudienceID() -> AudienceID {
        self.nextAudience.rawValue &+= 1
        return self.nextAudience
    }

    /// Reads a vehicle; nil if it is not known.
    mutating func vehicle<Result>(_ id: VehicleID, _ body: (Vehicle) -> Result) -> Result? {
        guard let place = self.vehicles.index(forKey: id) else { return nil }
        return self.vehicles.readValue(at: place, body)
    }

    /// Reads a client; nil if it is not known.
    mutating func client<Result>(_ id: ClientID, _ body: (Client) -> Result) -> Result? {
        guard let place = self.clients.index(forKey: id) else { return nil }
        return self.clients.readValue(at: place, body)
    }

    /// Tells a peer that its message was rejected.
    func reject(
        _ connection: ConnectionID, _ rejection: Rejection, _ type: MessageType, session: SessionID = .none,
        requestID: Identifier = "", into actions: inout [Action]
    ) {
        var rejection = rejection
        rejection.messageType = type.rawValue
        rejection.session = session
        rejection.requestID = requestID
        actions.append(.send(connection, Envelope(.error(rejection))))
    }

    /// Sends a message to a client if it is connected.
    func tell(
        _ client: ClientID, _ message: Message, _ session: SessionID = .none, into actions: inout [Action]
    ) {
        guard let connection = self.clients[client]?.connection else { return }
        self.send(Envelope(message, session: session), to: client, on: connection, into: &actions)
    }
}
