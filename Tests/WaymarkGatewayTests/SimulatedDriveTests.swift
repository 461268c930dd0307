import Testing
import WaymarkAccess
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// What vehicles and observers ask of clients that simulate drives.
@Suite struct SimulatedDriveTests {
    private static let observer = ConnectionID(900)
    private static let rig = AccessSubject(user: 10)
    private static let app = ClientID(unchecked: "app")
    private static let car = VehicleID(unchecked: "car")

    private static func start(
        _ percent: UInt32 = 2_000, of client: ClientID? = nil, vehicle: VehicleID? = nil
    ) -> SimulateDrive {
        var asked = SimulateDrive(.start, speedPercent: percent)
        (asked.client, asked.vehicle) = (client, vehicle)
        return asked
    }

    private static func rule(
        _ isAllowed: Bool = true, _ roles: Set<AccessRole> = [.simulate], users: Set<UInt32>? = nil,
        vehicles: [String]? = nil, clients: [String]? = nil
    ) -> AccessRule {
        var rule = AccessRule(allow: isAllowed, roles, origin: AccessOrigin(file: "f.yaml", line: 1))
        if let users { rule.subjects = .users(users) }
        rule.vehicles = vehicles.map { GlobList($0.compactMap { Glob($0) }) }
        rule.clients = clients.map { GlobList($0.compactMap { Glob($0) }) }
        return rule
    }

    private static let others = rule(true, [.vehicle, .navigation, .observer])

    /// What an observer is told, and the client.
    private static func ask(
        _ world: inout World, _ asked: SimulateDrive, as subject: AccessSubject = rig
    ) -> ErrorCode? {
        world.mail[Self.observer] = nil
        world.handle(.simulationRequested(Self.observer, asked, subject: subject))
        guard case .error(let rejection)? = world.messages(Self.observer).first else { return nil }
        #expect(rejection.messageType == MessageType.simulateDrive.rawValue)
        return rejection.code
    }

    private static func drives(_ world: World, _ client: ConnectionID) -> [Envelope] {
        (world.mail[client] ?? []).filter { $0.message.type == .simulateDrive }
    }

    @Test func `what an endpoint asks reaches the client of its session, with where it comes from`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let other = world.arrive(3, World.client("other"))
        let session = try world.guided(client, ["car"])
        // Whom it names does not matter.
        world.receive(.simulateDrive(Self.start(of: ClientID(unchecked: "other"))), from: car)
        var expected = Self.start(vehicle: Self.car)
        expected.endpoint = EndpointName(unchecked: "cluster")
        #expect(Self.drives(world, client) == [Envelope(.simulateDrive(expected), session: session)])
        #expect(Self.drives(world, other).isEmpty && world.errors(car).isEmpty)
    }

    @Test func `an endpoint without the feature, or whose client lacks it, is told NOT_GRANTED`() throws {
        var world = World()
        let without = world.arrive(1, World.endpoint("car") { $0.features.remove(.simulatedDrives) })
        let with = world.arrive(2, World.endpoint("car", "display"))
        let client = world.arrive(3, World.client("app", without: [.simulatedDrives]))
        try _ = world.guided(client, ["car"])
        world.receive(.simulateDrive(Self.start()), from: without)
        world.receive(.simulateDrive(Self.start()), from: with)
        #expect(world.errors(without) == [.notGranted] && world.errors(with) == [.notGranted])
        #expect(Self.drives(world, client).isEmpty)
    }

    @Test func `what an endpoint asks without a session is ignored`() {
        var world = World()
        let car = world.arrive(1, World.endpoint("car") { $0.reportsIgnored = true })
        world.receive(.simulateDrive(Self.start()), from: car)
        #expect(world.errors(car) == [.ignored])
    }

    @Test func `an observer asks a client about one vehicle, or about all`() throws {
        var world = World()
        world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        var one = Self.start(of: Self.app, vehicle: Self.car)
        // An observer is no endpoint, whatever it says.
        one.endpoint = EndpointName(unchecked: "cluster")
        #expect(Self.ask(&world, one) == nil)
        #expect(Self.ask(&world, Self.start(of: Self.app)) == nil)
        #expect(
            Self.drives(world, client) == [
                Envelope(
                    .simulateDrive(Self.start(of: Self.app, vehicle: Self.car)), session: session),
                Envelope(.simulateDrive(Self.start(of: Self.app))),
            ])
    }

    @Test func `an observer learns why a client cannot be asked`() throws {
        var world = World()
        world.arrive(1, World.endpoint("car"))
        world.arrive(2, World.endpoint("van"))
        let client = world.arrive(3, World.client("app"))
        let plain = world.arrive(4, World.client("plain", without: [.simulatedDrives]))
        try _ = world.guided(client, ["car"])
        let van = VehicleID(unchecked: "van")
        #expect(Self.ask(&world, Self.start()) == .missing)
        #expect(Self.ask(&world, Self.start(of: ClientID(unchecked: "none"))) == .unknownReference)
        #expect(Self.ask(&world, Self.start(of: Self.app, vehicle: van)) == .unknownReference)
        #expect(Self.ask(&world, Self.start(of: ClientID(unchecked: "plain"))) == .notGranted)
        world.handle(.departed(client, clean: false))
        #expect(Self.ask(&world, Self.start(of: Self.app)) == .unknownReference)
        #expect(Self.drives(world, client).isEmpty && Self.drives(world, plain).isEmpty)
    }

    @Test func `without a rule for it, rules allow no simulated drive`() throws {
        var world = World { $0.access = AccessPolicy(rules: [Self.others]) }
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        try _ = world.guided(client, ["car"])
        world.receive(.simulateDrive(Self.start()), from: car)
        #expect(world.errors(car) == [.notAuthorized])
        #expect(Self.ask(&world, Self.start(of: Self.app, vehicle: Self.car)) == .notAuthorized)
        // It learns nothing of clients that it may not ask.
        #expect(Self.ask(&world, Self.start(of: ClientID(unchecked: "none"))) == .notAuthorized)
        #expect(Self.drives(world, client).isEmpty)
    }

    @Test func `rules say who may ask which client, and about which vehicles`() throws {
        let rules = [
            Self.others, Self.rule(users: [10], vehicles: ["car"], clients: ["app"]),
            Self.rule(users: [11], clients: ["app"]),
        ]
        var world = World { $0.access = AccessPolicy(rules: rules) }
        world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        world.arrive(3, World.client("other"))
        try _ = world.guided(client, ["car"])
        let about = Self.start(of: Self.app, vehicle: Self.car)
        #expect(Self.ask(&world, about) == nil)
        #expect(Self.ask(&world, about, as: AccessSubject(user: 12)) == .notAuthorized)
        #expect(Self.ask(&world, Self.start(of: ClientID(unchecked: "other"))) == .notAuthorized)
        // About all vehicles needs a rule for every vehicle.
        #expect(Self.ask(&world, Self.start(of: Self.app)) == .notAuthorized)
        #expect(Self.ask(&world, Self.start(of: Self.app), as: AccessSubject(user: 11)) == nil)
    }

    @Test func `a key for observers alone does not let its holder ask`() throws {
        var limits = KeyLimits(origin: AccessOrigin(file: "f.yaml", line: 1))
        limits.roles = [.observer]
        let keys = ["watcher": limits]
        var world = World { $0.access = AccessPolicy(keys: keys) }
        world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        try _ = world.guided(client, ["car"])
        let asked = Self.start(of: Self.app, vehicle: Self.car)
        #expect(Self.ask(&world, asked, as: AccessSubject(key: "watcher")) == .notAuthorized)
        #expect(Self.ask(&world, asked) == nil)
    }

    @Test func `each endpoint has its share of what waits, and all observers together have one`() {
        let sender = ConnectionID(7)
        var asked = Self.start(of: Self.app, vehicle: Self.car)
        asked.endpoint = EndpointName(unchecked: "cluster")
        let path = EndpointPath(vehicle: Self.car, endpoint: EndpointName(unchecked: "cluster"))
        #expect(Relay(of: Envelope(.simulateDrive(asked)), from: sender) == .event(path, sender))
        let observers = EndpointPath(
            vehicle: VehicleID(unchecked: ""), endpoint: EndpointName(unchecked: ""))
        for vehicle in [Self.car, VehicleID(unchecked: "van"), nil] {
            let message = Message.simulateDrive(Self.start(of: Self.app, vehicle: vehicle))
            #expect(Relay(of: Envelope(message), from: sender) == .event(observers, sender))
        }
    }

    @Test func `an observer whose event has no room is told`() throws {
        var world = World()
        world.handle(.eventRejected(Self.observer, .simulateDrive, .none, .count(16)))
        #expect(world.errors(Self.observer) == [.limitReached])
    }
}
