public import WaymarkClient
internal import WaymarkConfiguration
internal import WaymarkHistory
internal import WaymarkProtocol
internal import WaymarkScenario

extension Rig {
    /// The name of a vehicle, of one of its endpoints, or of a client, as in reports: `dut/cluster`, `client`.
    public struct PeerName: Sendable, Hashable, CustomStringConvertible {
        let selector: PeerSelector

        init(_ selector: PeerSelector) { self.selector = selector }
        init(of id: PeerID) {
            switch id {
            case .endpoint(let vehicle, let endpoint): self.selector = .endpoint(vehicle, endpoint)
            case .client(let client): self.selector = .client(client)
            }
        }

        /// The name, such as `dut`, `dut/cluster`, `client`.
        public var description: String { "\(self.selector)" }
    }

    /// A vehicle, one of its endpoints, or a client, in a run.
    public protocol Peer {
        /// Its run.
        var rig: Rig { get }
        /// Its name.
        var name: PeerName { get }
    }

    /// The way in which a user answers.
    public enum Reply: String, Sendable, Hashable, CaseIterable {
        /// The user accepts.
        case accept
        /// The user declines.
        case decline
        /// The user gives no answer; one can be given later, e.g. by ``Rig/Vehicle/answerPrompt(accept:)``.
        case ignore
    }

    /// The way in which a client answers a vehicle that wants to stop on the way.
    public enum WaypointReply: String, Sendable, Hashable, CaseIterable {
        /// The client answers with estimates; the vehicle's user decides.
        case accept
        /// The client asks its own user, who agrees.
        case ownPrompt
        /// The client declines.
        case decline
        /// The client gives no answer.
        case ignore
    }

    /// The condition that a client waits for before it starts guidance.
    public enum Waiting: String, Sendable, Hashable, CaseIterable {
        /// No condition: the client starts at once.
        case nothing
        /// The client's vehicles have joined.
        case joined
        /// The displays of the client's vehicles are ready.
        case ready
        /// A vehicle starts the trip that the client shows to choose from.
        case tripRequest = "trip-request"
    }

    /// The way in which a peer leaves.
    public enum Leaving: String, Sendable, Hashable, CaseIterable {
        /// The peer says Goodbye.
        case goodbye
        /// The peer cuts its connection, as if it were lost. It does not come back by itself.
        case cut
    }

    // MARK: Adding

    /// Adds a vehicle with the endpoint `cluster`, before the run begins.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 of `A-Z a-z 0-9 . _ : -`, and not `gateway`.
    ///   - profile: What the endpoint can do.
    ///   - prompts: How its user answers when a client asks about a stop.
    ///   - destinations: How its user answers a destination that a client offers.
    ///   - answerAfter: How long its user takes.
    ///   - isReady: Whether its display is ready to show guidance once it is connected.
    ///   - showsAfter: How long after it has received something that is on its display; nil: it says nothing of it.
    ///   - isGuidanceWanted: Whether it asks to be guided by any client.
    ///   - connects: false: only when ``Rig/Peer/comeBack(withToken:)`` is called.
    ///   - asksForSimulatedDrives: Whether it may call ``Rig/Vehicle/simulateDrive(_:speed:)``.
    /// - Returns: The vehicle.
    /// - Throws: ``RigError`` for a wrong argument.
    @discardableResult public func addVehicle(
        _ name: String = "dut", profile: Profile = .full, prompts: Reply = .accept,
        destinations: Reply = .accept, answerAfter: Duration = .zero, isReady: Bool = true,
        showsAfter: Duration? = nil,
        isGuidanceWanted: Bool = false, connects: Bool = true, asksForSimulatedDrives: Bool = false
    ) throws(RigError) -> Vehicle {
        try self.prepare("addVehicle")
        try self.check(name)
        try Check.duration(answerAfter, "answerAfter")
        try Check.duration(showsAfter, "showsAfter")
        var vehicle = Scenario.Vehicle(id: VehicleID(unchecked: name))
        vehicle.endpoints[0].profile = try self.reference(profile)
        (vehicle.prompts, vehicle.destinations) = (prompts.scenario, destinations.scenario)
        (vehicle.answerAfter, vehicle.isReady, vehicle.showsAfter) = (answerAfter, isReady, showsAfter)
        (vehicle.guidanceWanted, vehicle.connects) = (isGuidanceWanted, connects)
        vehicle.asksForSimulatedDrives = asksForSimulatedDrives
        self.scenario.vehicles.append(vehicle)
        return Vehicle(self, vehicle.id)
    }

    /// Adds a client that guides, before the run begins.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 of `A-Z a-z 0-9 . _ : -`, and not `gateway`.
    ///   - route: What it drives; nil: the route of the run.
    ///   - startAt: Where its drives begin; nil: as the run says.
    ///   - speed: How many times faster than the engine's speeds, above 0, at most 10 000; nil: as the run says.
    ///   - vehicles: Whom it guides, or `anyThatAsked`; nil: all vehicles.
    ///   - drivesAtOnce: false: only when ``Rig/Client/drive(route:startAt:speed:)`` is called.
    ///   - waitsFor: What it waits for before it starts guidance.
    ///   - priority: -1 000 to 1 000; a higher one takes over, if the gateway arbitrates by priority.
    ///   - onWaypoint: How it answers a vehicle that wants to stop on the way.
    ///   - onDestination: How it answers a vehicle that wants to go elsewhere.
    ///   - onStartTrip: How it answers a vehicle that wants to start a trip of the previews.
    ///   - answerAfter: How long it takes to answer.
    ///   - detour: The route with an accepted stop; nil: the same route, with the stop among its waypoints.
    ///   - receipts: How often it wants to know what displays have received and shown, 100 milliseconds to a minute; nil: not at all.
    ///   - withoutFeatures: What it does not provide.
    ///   - simulatesWhenAsked: Whether it stands until it is asked to simulate its drive, see ``Rig/Vehicle/simulateDrive(_:speed:)``.
    ///   - connects: false: only when ``Rig/Peer/comeBack(withToken:)`` is called.
    /// - Returns: The client.
    /// - Throws: ``RigError`` for a wrong argument.
    @discardableResult public func addClient(
        _ name: String = "client", route: Route? = nil, startAt: Position? = nil, speed: Double? = nil,
        vehicles: GuidedVehicles? = nil, drivesAtOnce: Bool = true, waitsFor: Waiting = .joined,
        priority: Int = 0, onWaypoint: WaypointReply = .accept, onDestination: Reply = .accept,
        onStartTrip: Reply = .accept, answerAfter: Duration = .zero, detour: Route? = nil,
        receipts: Duration? = nil,
        withoutFeatures: Set<GuidanceFeature> = [],
        simulatesWhenAsked: Bool = false,
        connects: Bool = true
    ) throws(RigError) -> Client {
        try self.prepare("addClient")
        try self.check(name)
        try Check.speed(speed, "speed")
        try Check.number(priority, "priority", -1_000...1_000)
        try Check.duration(answerAfter, "answerAfter")
        var client = Scenario.Client(id: ClientID(unchecked: name))
        if let route { client.route = try self.reference(route) }
        if let detour { client.detour = try self.reference(detour) }
        client.startAt = try startAt?.checked("startAt")
        (client.speed, client.drivesAtOnce, client.priority) = (speed, drivesAtOnce, Int32(priority))
        client.vehicles = try self.selection(vehicles)
        client.waitsFor = Scenario.Client.Waiting(rawValue: waitsFor.rawValue) ?? .joined
        client.onWaypoint = onWaypoint.scenario
        client.onDestination = onDestination.scenario
        client.onStartTrip = onStartTrip.scenario
        client.answerAfter = answerAfter
        if let receipts {
            let range = ProtocolConstants.receiptsMilliseconds
            try Check.number(
                Int(receipts / .milliseconds(1)), "receipts", Int(range.lowerBound)...Int(range.upperBound))
            client.receipts = receipts
        }
        client.withoutFeatures = Feature.allCases.filter {
            withoutFeatures.map(\.rawValue).contains("\($0)")
        }
        client.simulatesWhenAsked = simulatesWhenAsked
        client.connects = connects
        self.scenario.clients.append(client)
        return Client(self, client.id)
    }

    /// The vehicles that a client guides.
    public enum GuidedVehicles: Sendable {
        /// All vehicles that ask to be guided by any client.
        case anyThatAsked
        /// The vehicles of these names.
        case vehicles([PeerName])
    }

    private func selection(_ vehicles: GuidedVehicles?) throws(RigError) -> Scenario.Client.Selection {
        switch vehicles {
        case nil: return .all
        case .anyThatAsked: return .anyThatAsked
        case .vehicles(let names):
            var ids: [VehicleID] = []
            for name in names {
                guard case .vehicle(let id) = name.selector, self.vehicle(id) != nil else {
                    throw RigError("vehicles", "\(name) is no vehicle of this run")
                }
                ids.append(id)
            }
            guard !ids.isEmpty, Set(ids).count == ids.count else {
                throw RigError("vehicles", "must name at least one vehicle, and each once")
            }
            return .named(ids)
        }
    }

    private func check(_ name: String) throws(RigError) {
        guard name != "gateway", VehicleID(name) != nil else {
            throw RigError(
                "name", "\(name) is not a name: 1 to 64 of A-Z a-z 0-9 . _ : -, and not gateway")
        }
        let names = self.scenario.vehicles.map(\.id.rawValue) + self.scenario.clients.map(\.id.rawValue)
        if names.contains(name) { throw RigError("name", "there is a \(name) already") }
    }

    // MARK: Finding

    /// The only vehicle. If none was added, `dut`.
    public var vehicle: Vehicle {
        get throws(RigError) {
            if self.scenario.vehicles.isEmpty { return try self.addVehicle() }
            guard self.scenario.vehicles.count == 1 else {
                throw RigError(
                    "vehicle", "there are \(self.scenario.vehicles.count); keep what addVehicle returns")
            }
            return Vehicle(self, self.scenario.vehicles[0].id)
        }
    }

    /// The only client. If none was added, `client`.
    public var client: Client {
        get throws(RigError) {
            if self.scenario.clients.isEmpty { return try self.addClient() }
            guard self.scenario.clients.count == 1 else {
                throw RigError(
                    "client", "there are \(self.scenario.clients.count); keep what addClient returns")
            }
            return Client(self, self.scenario.clients[0].id)
        }
    }

    func vehicle(_ id: VehicleID) -> Scenario.Vehicle? { self.scenario.vehicles.first { $0.id == id } }

    /// A peer of this run. A vehicle with one endpoint is meant by both of its names.
    func selector(_ name: PeerName) throws(RigError) -> PeerSelector {
        switch name.selector {
        case .vehicle(let id):
            if let vehicle = self.vehicle(id) { return ScenarioReader.selector(vehicle) }
        case .endpoint(let id, let endpoint):
            if self.vehicle(id)?.endpoints.contains(where: { $0.name == endpoint }) == true {
                return name.selector
            }
        case .client(let id):
            if self.scenario.clients.contains(where: { $0.id == id }) { return name.selector }
        }
        throw RigError("of", "\(name) is no peer of this run")
    }
}

extension Rig.Peer {
    /// Leaves the gateway.
    ///
    /// - Throws: ``RigError`` if the run cannot go on.
    public func leave(_ how: Rig.Leaving) async throws {
        try self.perform(.leave(how == .goodbye ? .goodbye : .cut))
    }

    /// Connects again after it left, or for the first time.
    ///
    /// - Parameter withToken: With the token of its last connection and what it holds; false: as a program that was just started.
    /// - Throws: ``RigError`` if the run cannot go on.
    public func comeBack(withToken: Bool = true) async throws {
        try self.perform(.comeBack(withToken: withToken))
    }

    /// Reads nothing for a time.
    ///
    /// - Throws: ``RigError`` for a wrong duration.
    public func readNothing(for duration: Duration) async throws {
        try Check.duration(duration, "duration")
        try self.perform(.read(.nothing(for: duration)))
    }

    /// Reads at most so many bytes a second from now on.
    ///
    /// - Parameter bytesPerSecond: 1 to 2 147 483 647; nil: as fast as they come.
    /// - Throws: ``RigError`` for a wrong number.
    public func read(bytesPerSecond: Int?) async throws {
        try Check.number(bytesPerSecond, "bytesPerSecond", 1...Int(Int32.max))
        try self.perform(.read(.bytesPerSecond(bytesPerSecond ?? 0)))
    }

    func perform(_ kind: Scenario.Action.Kind) throws(RigError) {
        let actor = try self.rig.selector(self.name)
        try self.rig.engine().perform(kind, by: actor)
    }
}

extension Rig.Reply {
    fileprivate var scenario: Scenario.Reply {
        switch self {
        case .accept: .accept
        case .decline: .decline
        case .ignore: .ignore
        }
    }
}

extension Rig.WaypointReply {
    fileprivate var scenario: Scenario.Client.WaypointReply {
        switch self {
        case .accept: .accept
        case .ownPrompt: .ownPrompt
        case .decline: .decline
        case .ignore: .ignore
        }
    }
}
