internal import DequeModule
internal import WaymarkModel
package import WaymarkProtocol

/// The state of a gateway for the next process of the daemon: everything but the settings, which that process reads itself.
///
/// ``format`` is the version of its encoding.
package struct GatewayState: Codable, Sendable {
    /// Raise it when a stored member is added, is removed, or comes to mean something else: the decoder compares the names of members, but
    /// not of those that are nil or in a list that is empty.
    package static let format: UInt32 = 7

    package private(set) var identity: GatewayIdentity
    private var counters: Gateway.Counters
    private var peers: [ConnectionID: Peer]
    private var vehicles: [VehicleID: Vehicle]
    private var clients: [ClientID: Client]
    private var sessions: [GatewaySession]
    private var requests: SlotMap<StoredRequest>
    private var memory: MemoryLedger
    private var known: UserCount
    private var deadlines: DeadlineQueue<Gateway.Deadline>
    private var unacknowledged: Deque<UnacknowledgedSession>
    private var armed: Instant?
    private var nextSession: SessionID
    private var nextAudience: AudienceID
    private var sessionCount: UInt64
    private var handlerCount: UInt64

    /// The state of `gateway`, between two events, when no steps wait.
    package init(_ gateway: Gateway) {
        self.identity = gateway.identity
        self.counters = gateway.counters
        self.peers = gateway.peers
        self.vehicles = gateway.vehicles.elements
        self.clients = gateway.clients.elements
        self.sessions = Array(gateway.sessions.values)
        self.requests = gateway.requests.mapValues { StoredRequest($0, gateway.coder) }
        self.memory = gateway.memory
        self.known = gateway.known
        self.deadlines = gateway.deadlines
        self.unacknowledged = gateway.unacknowledged
        self.armed = gateway.armed
        self.nextSession = gateway.nextSession
        self.nextAudience = gateway.nextAudience
        self.sessionCount = gateway.sessionCount
        self.handlerCount = gateway.handlerCount
    }

    /// The gateway that resumes from this state. Its driver must arm ``Gateway/armed``.
    ///
    /// Limits that are lower than before apply only to what is added later.
    ///
    /// - Returns: nil if `coder` cannot decode a stored message.
    package func gateway(policy: Gateway.Policy, coder: BodyCoder) -> Gateway? {
        var gateway = Gateway(policy: policy, coder: coder, firstSession: self.nextSession)
        gateway.identity = self.identity
        gateway.counters = self.counters
        gateway.peers = self.peers
        gateway.vehicles = Tracked(self.vehicles)
        gateway.clients = Tracked(self.clients)
        for var session in self.sessions {
            session.restoreRoute(coder)
            gateway.sessions[session.id] = session
        }
        do {
            gateway.requests = try self.requests.mapValues { try $0.request(coder) }
        } catch { return nil }
        gateway.memory = self.memory
        gateway.known = self.known
        gateway.deadlines = self.deadlines
        gateway.unacknowledged = self.unacknowledged
        gateway.armed = self.armed
        gateway.nextAudience = self.nextAudience
        gateway.sessionCount = self.sessionCount
        for client in gateway.clients.keys { gateway.setGrant(of: client) }
        gateway.rebuildIndex()
        gateway.handlerCount = self.handlerCount
        return gateway
    }
}

/// A request with the estimates of its prompt as they are on the wire: the model's types have no other form.
private struct StoredRequest: Codable, Sendable {
    enum Stage: Codable, Sendable {
        case asked
        case prompting(Frame, until: Instant)
        case ownPrompt
    }

    private let vehicle: VehicleID
    private let source: EndpointName
    private let content: ReceivedRequest
    private let kind: OpenRequest.Kind
    private let client: ClientID
    private let place: Int
    private let stage: Stage
    private let opened: Instant
    private let deadline: DeadlineQueue<Gateway.Deadline>.Ticket
    private let due: Instant

    init(_ request: OpenRequest, _ coder: BodyCoder) {
        self.vehicle = request.vehicle
        self.source = request.source
        self.content = request.content
        self.kind = request.kind
        self.client = request.client
        self.place = request.place
        self.opened = request.opened
        self.deadline = request.deadline
        self.due = request.due
        self.stage =
            switch request.stage {
            case .asked: .asked
            case .prompting(let estimates, let until):
                .prompting(
                    coder.encode(Envelope(.publication(.tripEstimates(estimates, .default)))), until: until)
            case .ownPrompt: .ownPrompt
            }
    }

    struct Unreadable: Error {}

    func request(_ coder: BodyCoder) throws(Unreadable) -> OpenRequest {
        var request = OpenRequest(
            vehicle: self.vehicle, source: self.source, content: self.content, kind: self.kind,
            client: self.client, place: self.place, opened: self.opened, deadline: self.deadline,
            due: self.due)
        switch self.stage {
        case .asked: request.stage = .asked
        case .prompting(let frame, let until):
            guard case .tripEstimates(let estimates, _) = coder.decode(frame)?.content else {
                throw Unreadable()
            }
            request.stage = .prompting(estimates, until: until)
        case .ownPrompt: request.stage = .ownPrompt
        }
        return request
    }
}
