internal import WaymarkCodec
internal import WaymarkGateway
internal import WaymarkModel
internal import WaymarkProtocol

/// A gateway, vehicles with several endpoints, and apps that fight for them, over a network that delays, cuts, stalls and
/// comes back. No clock and no I/O: one seed is one run.
package struct SimulatedNetwork {
    /// What was found wrong; empty for a good run.
    package private(set) var violations: [String] = []
    private var random: SeededRandom
    private var gateway: Gateway
    private var now = Instant(nanoseconds: 0)
    private var armed: Instant?
    private var endpoints: [SimulatedEndpoint] = []
    private var apps: [SimulatedApp] = []
    private var nextConnection: UInt64 = 0
    private var nextToken: UInt64 = 0
    /// On the way to the gateway, per connection and in order.
    private var inbound: [(connection: ConnectionID, event: Gateway.Event)] = []
    private var members: [AudienceID: [ConnectionID]] = [:]
    private var nextRequest = 0

    /// A network of the size and with the faults that `seed` says.
    package init(seed: UInt64) {
        self.random = SeededRandom(seed: seed)
        self.gateway = Self.newGateway(&self.random)
        let vehicles = (0..<Int.random(in: 1...3, using: &self.random)).map { VehicleID(unchecked: "v\($0)") }
        for vehicle in vehicles {
            for index in 0..<Int.random(in: 1...3, using: &self.random) {
                let path = EndpointPath(vehicle: vehicle, endpoint: EndpointName(unchecked: "e\(index)"))
                self.endpoints.append(SimulatedEndpoint(path: path))
            }
        }
        for index in 0..<Int.random(in: 1...3, using: &self.random) {
            let count = Int.random(in: 1...vehicles.count, using: &self.random)
            self.apps.append(
                SimulatedApp(
                    id: ClientID(unchecked: "a\(index)"),
                    vehicles: Array(vehicles.shuffled(using: &self.random).prefix(count))))
        }
    }

    private static func newGateway(_ random: inout SeededRandom) -> Gateway {
        var policy = Gateway.Policy()
        policy.arbitration = Gateway.Policy.Arbitration.allCases.randomElement(using: &random) ?? .refuse
        policy.limits.replayBytesMax = Int.random(in: 0...4_096, using: &random)
        let coder = Gateway.Coder(
            decode: { frame in
                do throws(DecodingError) {
                    guard case .publication(let publication) = try Codec.decode(frame).message else {
                        return nil
                    }
                    return publication
                } catch { return nil }
            }, encode: { Codec.encode($0) })
        return Gateway(
            policy: policy, coder: coder, firstSession: SessionID(.random(in: 1...1_000_000, using: &random)))
    }

    /// Runs for `steps` random steps, then lets everything come to rest and compares.
    package mutating func run(steps: Int) {
        for _ in 0..<steps { self.step() }
        self.settle()
        self.compare()
        self.violations += self.endpoints.flatMap { endpoint in
            endpoint.violations.map { "\(endpoint.path.vehicle)/\(endpoint.path.endpoint): \($0)" }
        }
    }

    private mutating func step() {
        switch Int.random(in: 0..<100, using: &self.random) {
        case 0..<10: self.connectSomebody()
        case 10..<12: self.cutSomebody()
        case 12..<15: self.stallSomebody()
        case 15..<45: self.publish(Int.random(in: 0..<self.apps.count, using: &self.random))
        case 45..<70: self.deliverInbound()
        case 70..<93: self.readSomething()
        case 93..<96: self.requestSomething()
        case 96: self.cancel()
        case 97..<99: self.pass(.milliseconds(Int64.random(in: 1...20_000, using: &self.random)))
        default: if self.random.once(in: 10) { self.restartGateway() }
        }
    }

    // MARK: Faults

    private mutating func cutSomebody() {
        let open = self.endpoints.compactMap(\.connection) + self.apps.compactMap(\.connection)
        if let victim = open.randomElement(using: &self.random) { self.cut(victim) }
    }

    /// What was on the way in either direction is lost, also half a frame.
    private mutating func cut(_ connection: ConnectionID) {
        self.inbound.removeAll { $0.connection == connection }
        self.forget(connection)
        self.handle(.departed(connection, clean: false))
    }

    private mutating func forget(_ connection: ConnectionID) {
        for index in self.endpoints.indices where self.endpoints[index].connection == connection {
            self.endpoints[index].connection = nil
            self.endpoints[index].outbox = Outbox(limits: .init())
            self.endpoints[index].isStalled = false
        }
        for index in self.apps.indices where self.apps[index].connection == connection {
            self.apps[index].connection = nil
        }
        for audience in self.members.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            self.members[audience]?.removeAll { $0 == connection }
        }
    }

    private mutating func stallSomebody() {
        let index = Int.random(in: 0..<self.endpoints.count, using: &self.random)
        self.endpoints[index].isStalled.toggle()
    }

    private mutating func restartGateway() {
        self.inbound = []
        self.members = [:]
        for connection in self.endpoints.compactMap(\.connection) + self.apps.compactMap(\.connection) {
            self.forget(connection)
        }
        for index in self.endpoints.indices { self.endpoints[index].forgetGateway() }
        for index in self.apps.indices {
            self.apps[index].token = nil
            self.apps[index].forgetSession()
        }
        self.gateway = Self.newGateway(&self.random)
        self.armed = nil
    }

    // MARK: Peers

    private mutating func connectSomebody() {
        let away = self.endpoints.indices.filter { self.endpoints[$0].connection == nil }
        let awayApps = self.apps.indices.filter { self.apps[$0].connection == nil }
        if let index = away.randomElement(using: &self.random), self.random.once(in: 2) || awayApps.isEmpty {
            self.connectEndpoint(index)
        } else if let index = awayApps.randomElement(using: &self.random) {
            self.connectApp(index)
        }
    }

    private mutating func newConnection() -> (ConnectionID, ResumptionToken) {
        self.nextConnection += 1
        self.nextToken += 1
        return (ConnectionID(self.nextConnection), ResumptionToken(high: 7, low: self.nextToken))
    }

    private mutating func connectEndpoint(_ index: Int) {
        let (connection, token) = self.newConnection()
        let endpoint = self.endpoints[index]
        var hello = Hello(
            role: .vehicle(
                VehicleHello(
                    vehicle: endpoint.path.vehicle, endpoint: endpoint.path.endpoint,
                    features: Set(Feature.allCases))))
        hello.resumptionToken = endpoint.token
        hello.resumeSession = endpoint.session
        hello.resumeSequence = endpoint.sequence
        self.endpoints[index].connection = connection
        self.handle(.arrived(connection, hello, .user(1), token: token))
    }

    private mutating func connectApp(_ index: Int) {
        let (connection, token) = self.newConnection()
        var hello = Hello(
            role: .navigation(NavigationHello(client: self.apps[index].id, features: Set(Feature.allCases))))
        hello.resumptionToken = self.apps[index].token
        self.apps[index].connection = connection
        self.handle(.arrived(connection, hello, .user(1), token: token))
    }

    private mutating func publish(_ index: Int) {
        guard let connection = self.apps[index].connection else { return }
        guard self.apps[index].session != nil else {
            let message = self.apps[index].openSession()
            return self.inbound.append((connection, .received(connection, message, .none)))
        }
        guard let envelope = self.apps[index].publish(&self.random),
            case .publication(let publication) = envelope.message
        else { return }
        self.inbound.append((connection, .published(connection, Codec.encode(envelope), publication.outline)))
    }

    private mutating func requestSomething() {
        let index = Int.random(in: 0..<self.endpoints.count, using: &self.random)
        guard let connection = self.endpoints[index].connection else { return }
        self.nextRequest += 1
        let id = "q\(self.nextRequest)"
        let place = Waypoint(center: Coordinate(latitude: 1, longitude: 2))
        let message: Message =
            self.random.once(in: 2)
            ? .waypointRequest(WaypointRequest(requestID: id, waypoint: place))
            : .destinationRequest(DestinationRequest(requestID: id, destination: place))
        self.endpoints[index].requests.append(id)
        // Handed over at once: a request that is lost on the way is resent by its sender, which is another test.
        self.handle(.received(connection, message, .none))
    }

    private mutating func cancel() {
        let index = Int.random(in: 0..<self.endpoints.count, using: &self.random)
        guard let connection = self.endpoints[index].connection else { return }
        self.handle(.received(connection, .cancelNavigation(.userStopped), .none))
    }

    // MARK: Moving

    private mutating func deliverInbound() {
        guard let connection = self.inbound.randomElement(using: &self.random)?.connection,
            let first = self.inbound.firstIndex(where: { $0.connection == connection })
        else { return }
        self.handle(self.inbound.remove(at: first).event)
    }

    private mutating func readSomething() {
        let index = Int.random(in: 0..<self.endpoints.count, using: &self.random)
        guard !self.endpoints[index].isStalled else { return }
        self.read(index, byteCount: Int.random(in: 1...2_000, using: &self.random))
    }

    private mutating func read(_ index: Int, byteCount: Int) {
        for frame in self.endpoints[index].outbox.take(byteCount: byteCount) {
            do throws(DecodingError) { self.endpoints[index].receive(try Codec.decode(frame)) } catch {
                self.violations.append("a frame that cannot be read: \(error)")
            }
        }
    }

    private mutating func pass(_ duration: Duration) {
        self.now = self.now + duration
        if let armed, armed <= self.now { self.handle(.deadlineReached) }
    }

    private mutating func handle(_ event: Gateway.Event) {
        var actions: [Gateway.Action] = []
        self.gateway.handle(event, at: self.now, into: &actions)
        for action in actions { self.perform(action) }
    }

    private mutating func perform(_ action: Gateway.Action) {
        switch action {
        case .admit(let id, let welcome): self.admit(id, welcome)
        case .refuse(let id, _), .close(let id, _): self.forget(id)
        case .send(let id, let envelope): self.send(envelope, to: id)
        case .sendFrames(let id, let frames): for frame in frames { self.queue(frame, nil, for: id) }
        case .publish(let audience, let frame, let key):
            for id in self.members[audience] ?? [] { self.queue(frame, key, for: id) }
        case .join(let id, let audience): self.members[audience, default: []].append(id)
        case .leave(let id, let audience): self.members[audience]?.removeAll { $0 == id }
        case .purge(let id, let session):
            for index in self.endpoints.indices where self.endpoints[index].connection == id {
                self.endpoints[index].outbox.purge(session)
            }
        case .arm(let deadline): self.armed = deadline
        }
    }

    private mutating func admit(_ id: ConnectionID, _ welcome: Welcome) {
        for index in self.endpoints.indices where self.endpoints[index].connection == id {
            self.endpoints[index].token = welcome.resumptionToken
            if !welcome.isResumed { self.endpoints[index].forgetGateway() }
            self.endpoints[index].token = welcome.resumptionToken
        }
        for index in self.apps.indices where self.apps[index].connection == id {
            self.apps[index].token = welcome.resumptionToken
            self.apps[index].resume(welcome.sessions)
        }
    }

    private mutating func send(_ envelope: Envelope, to id: ConnectionID) {
        if self.endpoints.contains(where: { $0.connection == id }) {
            return self.queue(Codec.encode(envelope), nil, for: id)
        }
        for index in self.apps.indices where self.apps[index].connection == id {
            self.apps[index].receive(envelope)
            self.answer(envelope.message, id)
        }
    }

    /// Apps answer some requests, and leave others to their deadline.
    private mutating func answer(_ message: Message, _ id: ConnectionID) {
        guard self.random.once(in: 2) else { return }
        switch message {
        case .waypointRequest(let request):
            guard let vehicle = request.vehicle else { return }
            let answer = RequestAnswer(
                requestID: request.requestID, vehicle: vehicle, answer: .decline(.busy))
            self.inbound.append((id, .received(id, .requestAnswer(answer), .none)))
        case .destinationRequest(let request):
            guard let vehicle = request.vehicle else { return }
            let answer = RequestAnswer(requestID: request.requestID, vehicle: vehicle, answer: .accept)
            self.inbound.append((id, .received(id, .requestAnswer(answer), .none)))
        default: break  // Nothing to answer.
        }
    }

    private mutating func queue(_ frame: Frame, _ key: ConflationKey?, for id: ConnectionID) {
        for index in self.endpoints.indices where self.endpoints[index].connection == id {
            if self.endpoints[index].outbox.append(frame, key: key) == .overflow { self.cut(id) }
        }
    }

    // MARK: At rest

    /// Everybody comes back, everything is delivered and read, all deadlines pass.
    private mutating func settle() {
        for index in self.endpoints.indices where self.endpoints[index].connection == nil {
            self.connectEndpoint(index)
        }
        for index in self.apps.indices where self.apps[index].connection == nil { self.connectApp(index) }
        for index in self.apps.indices where self.apps[index].session != nil && self.apps[index].held.isEmpty
        {
            self.publish(index)
        }
        while !self.inbound.isEmpty { self.handle(self.inbound.removeFirst().event) }
        for _ in 0..<8 { self.pass(.seconds(100)) }
        while !self.inbound.isEmpty { self.handle(self.inbound.removeFirst().event) }
        for index in self.endpoints.indices { self.read(index, byteCount: .max) }
    }

    private mutating func compare() {
        for endpoint in self.endpoints {
            let name = "\(endpoint.path.vehicle)/\(endpoint.path.endpoint)"
            if endpoint.connection == nil { self.violations.append("\(name) was not let in") }
            if let app = self.apps.first(where: { $0.session == endpoint.session }), endpoint.session != .none
            {
                if app.held != endpoint.held {
                    self.violations.append("\(name) holds other things than \(app.id) published")
                }
            } else if endpoint.session != .none {
                self.violations.append("\(name) is in a session that nobody has")
            }
        }
        for vehicle in Set(self.endpoints.map(\.path.vehicle)).sorted() {
            let sessions = Set(self.endpoints.filter { $0.path.vehicle == vehicle }.map(\.session))
            if sessions.count > 1 {
                self.violations.append("the endpoints of \(vehicle) are in different sessions")
            }
        }
        if self.gateway.census.requests != 0 { self.violations.append("a request never ended") }
    }
}
