import WaymarkAccess
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// A small world around a gateway, in which anything may happen next, and which notices what must not.
///
/// A value: the walk keeps one for each state that it has found, and tries every step from there.
struct WalkWorld {
    /// Who there is and what they do.
    struct Plan: Sendable {
        var name: String
        var endpoints: [EndpointPath]
        var clients: [ClientID]
        /// What each client opens a session for.
        var selections: [VehicleSelection]
        var arbitration = Gateway.Policy.Arbitration.replace
        var kinds: Set<Step.Kind>
        /// What clients publish.
        var contents: [Step.Content] = [.start, .finish]
        var isGuidanceWanted = false
        /// The access rules that the operator switches between; without any, there are none.
        var access: [AccessPolicy] = []
        /// Of a world too large to be walked whole, how many states.
        var statesMax = Int.max
    }

    enum Peer: Hashable {
        case endpoint(Int)
        case client(Int)
    }

    /// What happens next.
    enum Step: Hashable {
        /// What a plan allows.
        enum Kind: Hashable, CaseIterable {
            case coming, resuming, dropping, leaving, opening, publishing, requesting, answering, prompting
            case cancelling, sharing, waiting, ruling
        }

        case connect(Peer, isResuming: Bool)
        case drop(Peer)
        case leave(Peer)
        case open(Int, Int)
        case publish(Int, SessionID, Content)
        case ask(Int, Ask)
        case answer(Int, OpenRequest.Key, Answer)
        case reply(Int, Bool)
        case cancel(Int, CancelReason)
        case allow(Int)
        case takeShare(Int, Outcome)
        case wait
        case rule(Int)

        enum Content: Hashable, CaseIterable { case start, road, pause, wrong, share, finish }
        enum Ask: Hashable, CaseIterable { case waypoint, destination, withdrawal }
        enum Answer: Hashable, CaseIterable { case estimates, ownPrompt, accept, decline }
    }

    let plan: Plan
    var gateway: Gateway
    var violations: [String] = []
    var now = Instant(nanoseconds: 0)
    var armed: Instant?
    private var nextConnection: UInt64 = 0
    var connections: [Peer: ConnectionID] = [:]
    /// Connections that the present step has ended.
    var closed: [ConnectionID] = []
    private var tokens: [Peer: ResumptionToken] = [:]
    var members: [AudienceID: Set<ConnectionID>] = [:]
    /// The session that an endpoint's connection was told of and that has not ended for it.
    var sessions: [ConnectionID: SessionID] = [:]

    init(_ plan: Plan) {
        self.plan = plan
        var policy = Gateway.Policy()
        policy.arbitration = plan.arbitration
        // Without deadlines of its own.
        policy.acknowledgements.frames = 1
        policy.limits.requestsOpenMax = 1
        policy.limits.sharesOpenMax = 1
        policy.limits.outcomesKeptMax = 4
        self.gateway = Gateway(policy: policy, coder: Codec.coder, firstSession: SessionID(0))
    }

    // MARK: Steps

    /// Everything that may happen now.
    var steps: [Step] {
        var steps: [Step] = []
        let peers =
            self.plan.endpoints.indices.map(Peer.endpoint) + self.plan.clients.indices.map(Peer.client)
        for peer in peers {
            steps.append(.connect(peer, isResuming: false))
            if self.tokens[peer] != nil { steps.append(.connect(peer, isResuming: true)) }
            guard self.connections[peer] != nil else { continue }
            steps += [.drop(peer), .leave(peer)]
            switch peer {
            case .endpoint(let index): steps += self.steps(endpoint: index)
            case .client(let index): steps += self.steps(client: index)
            }
        }
        steps.append(.wait)
        for index in self.plan.access.indices where self.plan.access[index] != self.gateway.policy.access {
            steps.append(.rule(index))
        }
        return steps.filter { self.plan.kinds.contains($0.kind) }
    }

    private func steps(endpoint index: Int) -> [Step] {
        Step.Ask.allCases.map { .ask(index, $0) } + [
            .reply(index, true), .reply(index, false), .cancel(index, .userStopped),
            .cancel(index, .ownNavigationStarted), .allow(index), .takeShare(index, .accepted),
        ]
    }

    private func steps(client index: Int) -> [Step] {
        var steps: [Step] = self.plan.selections.indices.map { .open(index, $0) }
        let id = self.plan.clients[index]
        for session in self.gateway.clients[id]?.sessions.sorted() ?? [] {
            steps += self.plan.contents.map { .publish(index, session, $0) }
        }
        for key in self.gateway.requests.map(\.value.key).sorted(by: {
            ($0.vehicle, $0.id) < ($1.vehicle, $1.id)
        }) {
            steps += Step.Answer.allCases.map { .answer(index, key, $0) }
        }
        return steps
    }

    /// Lets something happen, and looks at what comes of it.
    mutating func take(_ step: Step) {
        let before = self.gateway
        guard let event = self.event(of: step) else { return }
        var actions: [Gateway.Action] = []
        self.gateway.handle(event, at: self.now, into: &actions)
        while self.gateway.hasSteps {
            self.gateway.handle(.stepDue(of: event.cause), at: self.now, into: &actions)
        }
        for action in actions { self.perform(action) }
        self.checkRequests(before, step, actions)
        self.checkRejection(before, event, actions)
        self.checkState()
        for connection in self.closed { self.checkDeaf(to: connection) }
        self.closed = []
    }

    private mutating func event(of step: Step) -> Gateway.Event? {
        switch step {
        case .connect(let peer, let isResuming): return self.arrival(of: peer, isResuming)
        case .drop(let peer): return self.departure(of: peer, clean: false)
        case .leave(let peer): return self.departure(of: peer, clean: true)
        case .open(let client, let selection):
            let opening = OpenSession(requestID: "\(selection)", vehicles: self.plan.selections[selection])
            return self.message(.openSession(opening), .client(client))
        case .publish(let client, let session, let content): return self.publication(client, session, content)
        case .ask(let endpoint, let ask): return self.message(Self.message(ask), .endpoint(endpoint))
        case .answer(let client, let key, let answer):
            let answer = RequestAnswer(
                requestID: key.id, vehicle: key.vehicle, answer: Self.answer(answer))
            return self.message(.requestAnswer(answer), .client(client))
        case .reply(let endpoint, let isAccepted):
            let answer = PromptAnswer(requestID: "w", isAccepted: isAccepted)
            return self.message(.promptAnswer(answer), .endpoint(endpoint))
        case .cancel(let endpoint, let reason):
            return self.message(.cancelNavigation(reason), .endpoint(endpoint))
        case .allow(let endpoint): return self.message(.allowNavigation, .endpoint(endpoint))
        case .takeShare(let endpoint, let outcome):
            let answer = DestinationShareAnswer(shareID: "s", outcome: outcome)
            return self.message(.destinationShareAnswer(answer), .endpoint(endpoint))
        case .wait:
            guard let next = self.gateway.deadlines.next else { return nil }
            self.now = max(self.now, next)
            return .deadlineReached
        case .rule(let index):
            var policy = self.gateway.policy
            policy.access = self.plan.access[index]
            return .policyChanged(policy)
        }
    }

    private mutating func arrival(of peer: Peer, _ isResuming: Bool) -> Gateway.Event {
        self.nextConnection += 1
        let connection = ConnectionID(self.nextConnection)
        var hello: Hello
        switch peer {
        case .endpoint(let index):
            let path = self.plan.endpoints[index]
            var vehicle = VehicleHello(
                vehicle: path.vehicle, endpoint: path.endpoint, features: Set(Feature.allCases))
            vehicle.guidanceWanted = self.plan.isGuidanceWanted
            hello = Hello(role: .vehicle(vehicle))
        case .client(let index):
            hello = Hello(
                role: .navigation(
                    NavigationHello(client: self.plan.clients[index], features: Set(Feature.allCases))))
        }
        if isResuming { hello.resumptionToken = self.tokens[peer] }
        if let old = self.connections[peer] { self.arriving = (peer, old) }
        self.connections[peer] = connection
        return .arrived(
            connection, hello, .anyone, token: ResumptionToken(high: 0, low: connection.rawValue))
    }

    /// A second connection of a peer that is there, and the one that stays if it is refused.
    private var arriving: (peer: Peer, old: ConnectionID)?

    private mutating func departure(of peer: Peer, clean: Bool) -> Gateway.Event? {
        guard let connection = self.connections.removeValue(forKey: peer) else { return nil }
        self.sessions[connection] = nil
        self.closed.append(connection)
        return .departed(connection, clean: clean)
    }

    private func message(_ message: Message, _ peer: Peer) -> Gateway.Event? {
        self.connections[peer].map { World.event(of: message, from: $0) }
    }

    private func publication(
        _ client: Int, _ id: SessionID, _ content: Step.Content
    ) -> Gateway.Event? {
        guard let connection = self.connections[.client(client)], let session = self.gateway.sessions[id]
        else {
            return nil
        }
        let publication: Publication =
            switch content {
            case .start:
                .startGuidance(World.trip, generation: session.content.generation + 1, World.route)
            case .road: .currentRoadName(["A"])
            case .pause: .pauseGuidance(.rerouting, description: [])
            case .wrong:
                .upcomingManeuvers([ManeuverID(rawValue: 99)], generation: session.content.generation)
            case .share: .shareDestination(shareID: "s", World.place)
            case .finish: .finishGuidance
            }
        let envelope = Envelope(.publication(publication), session: id, sequence: session.sequence + 1)
        return .published(connection, PublishedFrames(Codec.encode(envelope), publication.outline))
    }

    private static func message(_ ask: Step.Ask) -> Message {
        switch ask {
        case .waypoint: World.waypoint("w")
        case .destination: .destinationRequest(DestinationRequest(requestID: "d", destination: World.place))
        case .withdrawal: .withdrawRequest(WithdrawRequest(requestID: "w"))
        }
    }

    private static func answer(_ answer: Step.Answer) -> RequestAnswer.Answer {
        switch answer {
        case .estimates: .estimates(TravelEstimates(distanceRemaining: .meters(1)))
        case .ownPrompt: .ownPrompt
        case .accept: .accept
        case .decline: .decline(.busy)
        }
    }

    // MARK: What comes of it

    mutating func fail(_ sentence: String) { self.violations.append(sentence) }

    private mutating func perform(_ action: Gateway.Action) {
        switch action {
        case .admit(let id, let welcome):
            self.arriving = nil
            guard let peer = self.peer(of: id) else { return self.fail("an unknown connection is admitted") }
            self.tokens[peer] = welcome.resumptionToken
        case .refuse(let id, _):
            guard let peer = self.peer(of: id) else { return self.fail("an unknown connection is refused") }
            self.connections[peer] = self.arriving?.old
            self.closed.append(id)
            self.arriving = nil
        case .close(let id, _):
            self.sessions[id] = nil
            self.closed.append(id)
            if let peer = self.peer(of: id) {
                if self.isAllowed(peer) { self.fail("a peer that should stay is closed") }
                self.connections[peer] = nil
            }
        case .send(let id, let envelope): self.receive(envelope, id)
        case .forward(let id, let request, _, _):
            guard case .client? = self.peer(of: id) else {
                return self.fail("\(request.requestID) is asked of a client without a session")
            }
        case .sendFrames(let id, let frames): for frame in frames { self.receive(frame, id) }
        case .publish(let audience, let frames):
            for (frame, _) in frames.frames {
                for id in self.members[audience] ?? [] { self.receive(frame, id) }
            }
        case .join(let id, let audience):
            if self.peer(of: id) == nil { self.fail("a departed connection joins") }
            self.members[audience, default: []].insert(id)
        case .leave(let id, let audience):
            self.members[audience]?.remove(id)
            if self.members[audience]?.isEmpty == true { self.members[audience] = nil }
        case .purge, .purgeShares, .note, .observe: break
        case .arm(let deadline): self.armed = deadline
        }
    }

    func peer(of connection: ConnectionID) -> Peer? {
        self.connections.first { $0.value == connection }?.key
    }

    private mutating func receive(_ frame: Frame, _ id: ConnectionID) {
        self.receive(frame.header.session, id)
        if frame.header.type == .finishGuidance { self.sessions[id] = nil }
    }

    private mutating func receive(_ envelope: Envelope, _ id: ConnectionID) {
        guard case .endpoint? = self.peer(of: id) else {
            if self.peer(of: id) == nil { self.fail("\(envelope.message.type) behind a goodbye") }
            return
        }
        switch envelope.message {
        case .snapshotBegin:
            if let old = self.sessions[id], old != envelope.session {
                self.fail("a session begins in another")
            }
            self.sessions[id] = envelope.session
        case .sessionEnded(let ended):
            if ended.session != .none { self.sessions[id] = nil }
        default: self.receive(envelope.session, id)
        }
    }

    private mutating func receive(_ session: SessionID, _ id: ConnectionID) {
        if self.peer(of: id) == nil { self.fail("a frame behind a goodbye") }
        guard session != .none, self.sessions[id] != session else { return }
        self.fail("a frame of a session that is over for its receiver")
    }
}

extension WalkWorld.Step {
    var kind: Kind {
        switch self {
        case .connect(_, isResuming: false): .coming
        case .connect(_, isResuming: true): .resuming
        case .drop: .dropping
        case .leave: .leaving
        case .open: .opening
        case .takeShare: .sharing
        case .publish: .publishing
        case .ask: .requesting
        case .answer: .answering
        case .reply: .prompting
        case .cancel, .allow: .cancelling
        case .wait: .waiting
        case .rule: .ruling
        }
    }
}
