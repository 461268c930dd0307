import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// Extensions: what clients publish and endpoints send under a name.
@Suite struct NamedExtensionTests {
    static let tyres = ExtensionName(unchecked: "org.example.tyres")
    static let seats = ExtensionName(unchecked: "com.example.seats")

    private static func client(_ extensions: [ExtensionName] = [tyres]) -> Hello.Role {
        var hello = NavigationHello(client: ClientID(unchecked: "app"), features: Feature.allCases)
        hello.extensions = extensions
        return .navigation(hello)
    }

    private static func endpoint(
        _ name: String = "cluster", _ extensions: [ExtensionName] = [tyres],
        _ change: (inout VehicleHello) -> Void = { _ in }
    ) -> Hello.Role {
        World.endpoint("car", name) {
            $0.extensions = extensions
            change(&$0)
        }
    }

    private static func published(
        _ content: String, _ name: ExtensionName = tyres, key: UInt16? = nil, isRetained: Bool = false
    ) -> Publication {
        .publishExtension(
            PublishedExtension(name: name, content: Array(content.utf8), key: key, isRetained: isRetained))
    }

    /// The contents of the extensions that an endpoint was sent.
    private static func contents(_ world: World, _ id: ConnectionID) -> [String] {
        world.messages(id).compactMap {
            guard case .publication(.publishExtension(let published)) = $0 else { return nil }
            return String(decoding: published.content, as: UTF8.self)
        }
    }

    /// Endpoints that get the published bytes, and that get them cut.
    private static let limits: [@Sendable (inout VehicleHello) -> Void] = [
        { _ in }, { $0.limits.maneuversStoredMax = 2 },
    ]

    @Test(arguments: limits.indices)
    func `an extension reaches the endpoints that list its name, as it was published`(_ kind: Int) throws {
        var world = World()
        let taking = world.arrive(1, Self.endpoint("cluster", [Self.seats, Self.tyres], Self.limits[kind]))
        let other = world.arrive(2, Self.endpoint("display", [Self.seats], Self.limits[kind]))
        let client = world.arrive(3, Self.client())
        let session = try world.guided(client, ["car"])
        world.publish(client, session, Self.published("70", key: 1, isRetained: true))
        world.publish(client, session, Self.published("puncture"))
        world.publish(client, session, .currentRoadName(["A"]))
        #expect(world.errors(client).isEmpty)
        #expect(Self.contents(world, taking) == ["70", "puncture"])
        #expect(Self.contents(world, other).isEmpty)
        #expect(world.messages(other).last == .publication(.currentRoadName(["A"])))
        let headers = (world.frames[taking] ?? []).map(\.header).filter { $0.type == .publishExtension }
        #expect(headers.map(\.flags) == [[.state, .retained], []])
        #expect(headers.map(\.key) == [1, 0])
        #expect(headers.map(\.sequence) == [2, 3])
        // It is no feature.
        let begins = world.messages(other).compactMap { message -> SnapshotBegin? in
            if case .snapshotBegin(let begin) = message { begin } else { nil }
        }
        #expect(begins.count == 1)
    }

    @Test(arguments: limits.indices, [false, true])
    func `a late joiner gets the newest retained state of the extensions that it lists`(
        _ kind: Int, _ isHandedOver: Bool
    ) throws {
        var world = World()
        world.arrive(1, Self.endpoint())
        let client = world.arrive(2, Self.client([Self.tyres, Self.seats]))
        let session = try world.guided(client, ["car"])
        world.publish(client, session, Self.published("70", key: 1, isRetained: true))
        world.publish(client, session, Self.published("71", key: 1, isRetained: true))
        world.publish(client, session, Self.published("warm", Self.seats, key: 2, isRetained: true))
        world.publish(client, session, Self.published("5", key: 3, isRetained: true))
        world.publish(client, session, Self.published("6", key: 3))
        #expect(world.errors(client).isEmpty)
        if isHandedOver { try world.handOver() }
        let late = world.arrive(3, Self.endpoint("late", [Self.tyres], Self.limits[kind]))
        #expect(Self.contents(world, late) == ["71"])
        let all = world.arrive(4, Self.endpoint("all", [Self.tyres, Self.seats], Self.limits[kind]))
        #expect(Self.contents(world, all) == ["71", "warm"])
        let none = world.arrive(5, Self.endpoint("none", [], Self.limits[kind]))
        #expect(Self.contents(world, none).isEmpty)
    }

    @Test func `endpoints that take every extension of the client get the published bytes`() throws {
        var world = World()
        world.arrive(1, Self.endpoint("cluster", [Self.tyres, Self.seats]))
        world.arrive(2, Self.endpoint("display", [Self.tyres]))
        let client = world.arrive(3, Self.client())
        try _ = world.guided(client, ["car"])
        #expect(world.members.count == 1)
        world.arrive(4, Self.endpoint("hud", [Self.seats]))
        #expect(world.members.count == 2)
    }

    @Test func `an extension that the client does not list is rejected`() throws {
        var world = World()
        let car = world.arrive(1, Self.endpoint("cluster", [Self.tyres, Self.seats]))
        let client = world.arrive(2, Self.client())
        let session = try world.guided(client, ["car"])
        world.publish(client, session, Self.published("warm", Self.seats))
        guard case .error(let rejection)? = world.messages(client).last else {
            Issue.record("no error")
            return
        }
        #expect(rejection.code == .notGranted && rejection.field == "name" && rejection.sequence == 2)
        world.publish(client, session, Self.published("70"))
        #expect(Self.contents(world, car) == ["70"])
    }

    @Test func `a key belongs to one name until guidance starts over`() throws {
        var world = World()
        world.arrive(1, Self.endpoint())
        let client = world.arrive(2, Self.client([Self.tyres, Self.seats]))
        let session = try world.guided(client, ["car"])
        world.publish(client, session, Self.published("70", key: 1, isRetained: true))
        world.publish(client, session, Self.published("warm", Self.seats, key: 1, isRetained: true))
        guard case .error(let rejection)? = world.messages(client).last else {
            Issue.record("no error")
            return
        }
        #expect(rejection.code == .inconsistent && rejection.field == "key")
        try world.handOver()
        world.publish(client, session, Self.published("warm", Self.seats, key: 1))
        #expect(world.errors(client) == [.inconsistent, .inconsistent])
        world.publish(client, session, .startGuidance(World.trip, generation: 2, World.route))
        world.publish(client, session, Self.published("warm", Self.seats, key: 1, isRetained: true))
        #expect(world.errors(client).count == 2)
    }

    @Test func `states of extensions count for the pairs of type and key`() throws {
        var world = World()
        world.arrive(1, Self.endpoint())
        let client = world.arrive(2, Self.client())
        let session = try world.guided(client, ["car"])
        for key in UInt16(0)..<63 { world.publish(client, session, Self.published("x", key: key)) }
        try world.publish(client, session, key: 1, World.state, [1])
        #expect(world.errors(client).isEmpty)
        world.publish(client, session, Self.published("x", key: 63))
        try world.publish(client, session, key: 2, World.state, [1])
        #expect(world.errors(client) == [.limitReached, .limitReached])
        world.publish(client, session, Self.published("y", key: 62))
        world.publish(client, session, Self.published("an event"))
        #expect(world.errors(client).count == 2)
    }

    @Test func `the operator withholds an extension from all, and tells it in Welcome`() throws {
        var world = World { $0.withheldExtensions = [Self.tyres] }
        let car = world.arrive(1, Self.endpoint("cluster", [Self.seats, Self.tyres]))
        let client = world.arrive(2, Self.client([Self.tyres, Self.seats]))
        #expect(world.welcomes[car]?.extensions == [Self.seats])
        #expect(world.welcomes[client]?.extensions == [Self.seats])
        let session = try world.guided(client, ["car"])
        world.publish(client, session, Self.published("70"))
        world.publish(client, session, Self.published("warm", Self.seats, key: 1, isRetained: true))
        #expect(world.errors(client) == [.notGranted])
        #expect(Self.contents(world, car) == ["warm"])
        // A reload takes it from endpoints at once; what a client was granted stays until its next Hello.
        var policy = world.gateway.policy
        policy.withheldExtensions = [Self.seats]
        world.handle(.policyChanged(policy))
        world.publish(client, session, Self.published("hot", Self.seats, key: 1, isRetained: true))
        #expect(world.errors(client) == [.notGranted])
        #expect(Self.contents(world, car) == ["warm"])
        world.receive(
            .vehicleExtension(VehicleExtension(name: Self.seats, content: [])), from: car, session)
        #expect(world.errors(car) == [.notGranted])
    }

    @Test func `a client that comes again with other extensions publishes those`() throws {
        var world = World()
        let car = world.arrive(1, Self.endpoint("cluster", [Self.tyres]))
        let all = world.arrive(2, Self.endpoint("all", [Self.tyres, Self.seats]))
        let client = world.arrive(3, Self.client())
        let session = try world.guided(client, ["car"])
        world.publish(client, session, Self.published("70", key: 1, isRetained: true))
        let token = world.welcomes[client]?.resumptionToken
        world.handle(.departed(client, clean: false))
        let back = world.arrive(4, Self.client([Self.seats]), token: token)
        world.publish(back, session, Self.published("warm", Self.seats, key: 2, isRetained: true))
        world.publish(back, session, Self.published("71", key: 1, isRetained: true))
        #expect(world.errors(back) == [.notGranted])
        #expect(Self.contents(world, car).last == "70")
        #expect(Self.contents(world, all).last == "warm")
        // The retained content of the other one stays.
        let late = world.arrive(5, Self.endpoint("late", [Self.tyres]))
        #expect(Self.contents(world, late) == ["70"])
    }

    @Test func `an extension that is longer than an endpoint's frames is withheld from it`() throws {
        var world = World()
        let small = world.arrive(1, Self.endpoint("small") { $0.receiveFrameBytesMax = 4_096 })
        let client = world.arrive(2, Self.client())
        let session = try world.guided(client, ["car"])
        world.publish(
            client, session, Self.published(String(repeating: "x", count: 5_000), key: 1, isRetained: true))
        world.publish(client, session, Self.published("70", key: 1, isRetained: true))
        #expect(world.errors(client).isEmpty)
        #expect(Self.contents(world, small) == ["70"])
    }

    @Test func `extensions are counted apart from types that the gateway does not know`() {
        var counts = CodeCounts()
        for type: UInt16 in [0x01E0, 0x011E, 0x01FE, 0x0100] { counts.add(ofType: type) }
        #expect(counts.byType.map { $0.type } == [0x0100, 0x01E0, 0])
        #expect(counts.byType.map { $0.count } == [1, 1, 2])
    }

    // MARK: From endpoints

    @Test func `an extension of an endpoint reaches its client, with where it comes from`() throws {
        var world = World()
        let car = world.arrive(1, Self.endpoint())
        let client = world.arrive(2, Self.client())
        let session = try world.guided(client, ["car"])
        world.receive(
            .vehicleExtension(VehicleExtension(name: Self.tyres, content: [7])), from: car, session)
        let path = EndpointPath(
            vehicle: VehicleID(unchecked: "car"), endpoint: EndpointName(unchecked: "cluster"))
        #expect(
            world.mail[client]?.last
                == Envelope(
                    .vehicleExtension(VehicleExtension(name: Self.tyres, content: [7], source: path)),
                    session: session))
        #expect(world.errors(car).isEmpty)
    }

    @Test func `an extension that the endpoint does not list is rejected`() throws {
        var world = World()
        let car = world.arrive(1, Self.endpoint())
        let client = world.arrive(2, Self.client([Self.tyres, Self.seats]))
        let session = try world.guided(client, ["car"])
        let count = world.messages(client).count
        world.receive(
            .vehicleExtension(VehicleExtension(name: Self.seats, content: [])), from: car, session)
        guard case .error(let rejection)? = world.messages(car).last else {
            Issue.record("no error")
            return
        }
        #expect(rejection.code == .notGranted && rejection.field == "name" && rejection.session == session)
        #expect(world.messages(client).count == count)
    }

    @Test(arguments: [false, true])
    func `an extension without a client that uses it is ignored`(_ isGuided: Bool) throws {
        var world = World()
        let car = world.arrive(1, Self.endpoint("cluster") { $0.reportsIgnored = true })
        let client = world.arrive(2, Self.client([Self.seats]))
        if isGuided { try _ = world.guided(client, ["car"]) }
        let count = world.messages(client).count
        world.receive(.vehicleExtension(VehicleExtension(name: Self.tyres, content: [])), from: car)
        #expect(world.errors(car) == [.ignored])
        #expect(world.messages(client).count == count)
    }
}
