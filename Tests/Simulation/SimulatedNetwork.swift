internal import ExpectedState
internal import GatewayInMemory
internal import WaymarkCodec
internal import WaymarkConnections
internal import WaymarkGateway
internal import WaymarkModel
internal import WaymarkProtocol

/// A gateway, vehicles with several endpoints, navigation clients that compete for them, and hostile peers, on a network that delays
/// bytes, stalls, and cuts connections in the middle of a frame. No clock and no I/O: a seed determines the whole run.
///
/// The state machines are the real ones and exchange real bytes: the gateway's end is the daemon's, without SwiftNIO; the peers'
/// sessions and the codec are the client's. The promises are checked in every step, and the first violation ends the run.
///
/// The files: `GatewayEnd` and `PeerEnd` (both ends of the connections), `GatewayInspector` and `HostInspector` (the checks of the
/// gateway and its faults), `Steps` (the random steps), `Rest` (the final phase and its checks).
package struct SimulatedNetwork {
    /// The broken promises; empty if the run passes.
    package internal(set) var violations: [Violation] = []
    /// The kinds of situations that occurred.
    package internal(set) var happenings: Set<Happening> = []
    /// One line for each thing that happened; empty unless tracing is on.
    package private(set) var trace: [String] = []
    /// The number of random steps in a run. The final phase continues the count.
    package static let stepCount = 600

    let isTraced: Bool
    let fault: InjectedFault?
    /// With the access rules of the last reload.
    var policy: Gateway.Policy
    /// The rules that reloads choose from; empty if there are never any.
    var ruleSets: [SimulatedRules] = []
    let limits: ConnectionLimits
    let outboxLimits: Outbox.Limits
    let decoder = BodyDecoder()
    /// Also the inspector's.
    let source: RandomSource
    var random: SeededRandom {
        get { self.source.random }
        nonmutating set { self.source.random = newValue }
    }
    var step = 0
    var now = Instant(nanoseconds: 0)

    // The gateway's end.
    var host: GatewayHost
    /// The same in every Welcome until a restart loses the state.
    var identity = GatewayIdentity(instance: GatewayName(unchecked: "simulation"), epoch: 1)
    let inspector: GatewayInspector
    var restartCount = 0
    /// How much the gateway does at a time: a handful of messages in half of the runs.
    let gatewayBudget: GatewayCore.Budget
    /// The final phase: no more failures, and every peer reads at once.
    var isAtRest = false

    // The peers' end.
    var connections: [ConnectionID: SimulatedConnection] = [:]
    /// The ids of all connections, in the order of connecting.
    var connectionIDs: [ConnectionID] { self.host.connections }
    var endpoints: [SimulatedEndpoint] = []
    var apps: [SimulatedApp] = []
    var hostile: [HostilePeer] = []
    var observers: [SimulatedObserver] = []
    /// Only in a part of the seeds.
    var attackers: [Attacker] = []
    /// The first endpoint sends without end.
    let isFlooded: Bool
    var floodCount = 0
    /// The publications of honest clients, by session.
    var logs: [SessionID: PublishedLog] = [:]

    /// Creates a network whose size, policy and limits follow from `seed`. `isTraced` turns on ``trace``; `fault` breaks a promise on
    /// purpose.
    package init(seed: UInt64, isTraced: Bool = false, fault: InjectedFault? = nil) {
        var random = SeededRandom(seed: seed)
        self.isTraced = isTraced
        self.fault = fault
        let isAttacked = seed % 8 == 5
        self.isFlooded = seed % 8 == 2
        var policy = Self.policy(&random)
        if isAttacked { Self.limit(&policy.limits, fault) }
        let hasRules = seed % 3 == 1
        if seed % 4 == 1 { policy.limits.observationBytesMax = 4_096 }
        self.policy = policy
        var limits = ConnectionLimits()
        // A connection that closes waits for its peer.
        limits.drainTimeout = .seconds(86_400)
        // With a long keepalive, stalled connections stay open; a short one detects them.
        limits.keepalive = random.once(in: 4) ? .seconds(random.number(2...10)) : .seconds(600)
        self.limits = limits
        var outboxLimits = Outbox.Limits()
        // A snapshot must fit into the outbox.
        if random.once(in: 2), seed % 4 != 3 { outboxLimits.bytesMax = random.number(1_500...8_000) }
        outboxLimits.slowConsumerTimeout = .seconds(random.number(10...60))
        if self.isFlooded { Self.limit(&outboxLimits) }
        self.outboxLimits = outboxLimits
        let portionBytes = random.number(1...1_000)
        let firstSession = SessionID(.random(in: 1...1 << 30, using: &random))
        // Waits are watched on the gateway's own loop.
        let loopCount = isAttacked ? 1 : random.number(1...2)
        self.source = RandomSource(random)
        self.inspector = GatewayInspector(
            grace: policy.limits.grace, SimulatedRules(), isTraced: isTraced, fault: fault,
            SeededRandom(seed: seed &+ 1), self.source)
        // The others have observers of their own.
        self.inspector.observers.isOn = seed.isMultiple(of: 2)
        var budgets = Self.budgets(&random)
        self.gatewayBudget = budgets.gateway
        if fault == .ignoreBudgets {
            (budgets.gateway.turn, budgets.gateway.run) = (.max, .max)
            budgets.loop = LoopCore.Budget()
        }
        var outbox = fault == .ignoreOutboxLimit ? Outbox.Limits() : outboxLimits
        outbox.slowConsumerTimeout = outboxLimits.slowConsumerTimeout
        if fault == .ignoreShares {
            (outbox.eventsPerEndpointMax, outbox.eventBytesPerEndpointMax) = (.max, .max)
        }
        self.host = GatewayHost(
            policy: policy, limits: limits, outbox: outbox, identity: self.identity, tokenSeed: seed,
            lastSession: firstSession, loopCount: loopCount, portionBytes: portionBytes, budgets: budgets,
            tap: self.inspector)
        self.random = random
        self.populate(isLong: seed % 4 == 3)
        if hasRules { self.populateRules() }
        if isAttacked { self.populateAttackers() }
        self.inspector.checksAges = !isAttacked
        self.populateObservers(seed: seed)
    }

    private static func budgets(_ random: inout SeededRandom) -> GatewayHost.Budgets {
        var budgets = GatewayHost.Budgets()
        guard random.once(in: 2) else { return budgets }
        budgets.gateway.turn = UInt64(random.number(1...8))
        budgets.gateway.run = UInt64(random.number(1...16))
        budgets.gateway.frames = random.number(1...4)
        budgets.loop.turn = random.number(1...4)
        budgets.loop.round = random.number(1...8)
        budgets.loop.deadlines = random.number(1...3)
        // More than the loop may not have been told of.
        budgets.loop.submitted = 9 + budgets.loop.round
        budgets.stepUnitsMax = budgets.gateway.turn
        return budgets
    }

    private static func policy(_ random: inout SeededRandom) -> Gateway.Policy {
        var policy = Gateway.Policy()
        policy.arbitration = random.pick(Gateway.Policy.Arbitration.allCases) ?? .refuse
        if random.once(in: 4) { policy.vehicleArbitration[VehicleID(unchecked: "v0")] = .replace }
        if random.once(in: 6) {
            policy.withheldFeatures = Set([random.pick(Profile.contentFeatures)].compactMap(\.self))
        }
        if random.once(in: 6) { policy.routeSharingVehicles = [VehicleID(unchecked: "v0")] }
        if random.once(in: 6) { policy.limits.profilesPerSessionMax = random.number(1...2) }
        policy.limits.replayBytesMax = random.once(in: 3) ? 0 : random.number(0...8_192)
        policy.limits.grace = .seconds(random.number(2...20))
        policy.limits.requestTimeout = .seconds(random.number(1...10))
        policy.limits.promptTimeout = .seconds(random.number(2...20))
        policy.limits.shareTimeout = .seconds(random.number(1...10))
        policy.limits.requestsOpenMax = random.number(1...4)
        policy.acknowledgements.frames = UInt64(random.number(1...64))
        policy.acknowledgements.delay = .milliseconds(random.number(50...2_000))
        return policy
    }

    /// Adds the peers. `isLong`: clients publish now and then what is too long for small frames.
    private mutating func populate(isLong: Bool) {
        let vehicles = (0..<self.random.number(1...3)).map { VehicleID(unchecked: "v\($0)") }
        for vehicle in vehicles {
            let isGuidanceWanted = self.random.once(in: 2)
            for index in 0..<self.random.number(1...3) {
                let path = EndpointPath(vehicle: vehicle, endpoint: EndpointName(unchecked: "e\(index)"))
                self.endpoints.append(
                    SimulatedEndpoint(
                        path: path, wish: .random(&self.random), self.policy,
                        isGuidanceWanted: isGuidanceWanted, reportsIgnored: self.random.once(in: 2)))
            }
        }
        for index in 0..<self.random.number(1...3) {
            let some = vehicles.shuffled(using: &self.random).prefix(self.random.number(1...vehicles.count))
            let selection =
                self.random.once(in: 4) ? VehicleSelection.anyThatAsked : .vehicles(Array(some))
            self.apps.append(
                SimulatedApp(
                    id: ClientID(unchecked: "a\(index)"), selection: selection, lengthens: isLong,
                    &self.random))
        }
        self.hostile = (0..<self.random.number(0...2)).map { HostilePeer(index: $0) }
    }

    private mutating func populateRules() {
        let (vehicles, clients) = (
            Array(Set(self.endpoints.map(\.path.vehicle))).sorted(), self.apps.map(\.id)
        )
        self.ruleSets =
            [SimulatedRules()] + (0..<3).map { _ in SimulatedRules(vehicles, clients, &self.random) }
    }

    /// Runs the random steps and the final phase. Stops at the first violation.
    package mutating func run() {
        while self.step < Self.stepCount, self.violations.isEmpty {
            self.step += 1
            self.takeStep()
            // A tick of the event loop may have several reads.
            if !self.random.once(in: 4) { self.endTick() }
            if !self.random.once(in: 3) { self.runLoops() }
            for id in self.connectionIDs { self.pump(id) }
            self.collect()
        }
        self.rest()
    }

    // MARK: Trace and violations

    /// Adds a line to the trace if tracing is on.
    mutating func note(_ line: (SimulatedNetwork) -> String) {
        guard self.isTraced else { return }
        self.trace.append("\(self.step) \(self.now.nanoseconds / 1_000_000) ms \(line(self))")
    }

    mutating func report(_ promise: Promise, _ text: String) {
        let violation = Violation(promise: promise, step: self.step, text: text)
        self.violations.append(violation)
        self.note { _ in "VIOLATION \(violation)" }
    }

    /// Collects the violations, happenings and trace lines of the inspector and of the peers.
    mutating func collect() {
        let lines = self.inspector.lines
        for line in lines { self.note { _ in line } }
        self.inspector.lines = []
        self.happenings.formUnion(self.inspector.happenings)
        for (promise, text) in self.inspector.violations + self.inspector.watch.violations {
            self.report(promise, text)
        }
        self.inspector.violations = []
        self.inspector.watch.violations = []
        for (vehicle, id) in self.inspector.watch.requests.takeDropped() {
            for index in self.endpoints.indices where self.endpoints[index].path.vehicle == vehicle {
                self.endpoints[index].forget(id)
            }
        }
        for index in self.endpoints.indices where !self.endpoints[index].violations.isEmpty {
            for (promise, text) in self.endpoints[index].violations { self.report(promise, text) }
            self.endpoints[index].violations = []
        }
        for index in self.apps.indices where !self.apps[index].violations.isEmpty {
            for (promise, text) in self.apps[index].violations { self.report(promise, text) }
            self.apps[index].violations = []
        }
    }

    /// The name of a connection in the trace, by its owner.
    func name(_ id: ConnectionID) -> String {
        switch self.connections[id]?.owner {
        case .endpoint(let index):
            "\(self.endpoints[index].path.vehicle)/\(self.endpoints[index].path.endpoint)#\(id.rawValue)"
        case .app(let index): "\(self.apps[index].id)#\(id.rawValue)"
        case .hostile(let index): "h\(index)#\(id.rawValue)"
        case .observer(let index): "o\(index)#\(id.rawValue)"
        case .attacker(let index): "x\(index)#\(id.rawValue)"
        case nil: "#\(id.rawValue)"
        }
    }
}
