import Testing
import WaymarkAccess
import WaymarkCodec
import WaymarkProtocol

@testable import WaymarkGateway

/// Changed access rules reach clients and vehicles in steps. What they refuse does not begin meanwhile.
@Suite struct ChangedRulesTests {
    private static func rule(
        _ isAllowed: Bool, _ role: AccessRole, vehicles: [String]? = nil, clients: [String]? = nil
    ) -> AccessRule {
        var rule = AccessRule(allow: isAllowed, [role], origin: AccessOrigin(file: "f", line: 1))
        rule.vehicles = vehicles.map { GlobList($0.compactMap { Glob($0) }) }
        rule.clients = clients.map { GlobList($0.compactMap { Glob($0) }) }
        return rule
    }

    /// Refuses the vehicles and clients with these names, and to all other clients the vehicles `unguided`.
    private static func rules(refusing names: [String], unguided: [String] = ["none"]) -> AccessPolicy {
        AccessPolicy(rules: [
            Self.rule(false, .vehicle, vehicles: names), Self.rule(false, .navigation, clients: names),
            Self.rule(false, .navigation, vehicles: unguided), Self.rule(true, .vehicle),
            Self.rule(true, .navigation),
        ])
    }

    /// Vehicles `car-0`... at connections 10 000..., clients `app-0`... at 30 000..., each guiding one vehicle.
    private static func world(_ count: Int) throws -> World {
        var world = World {
            $0.access = Self.rules(refusing: ["none"])
            $0.arbitration = .replace
            $0.limits.sessionsPerUserMax = $0.limits.sessionsMax
        }
        for index in 0..<count {
            world.arrive(UInt64(10_000 + index), World.endpoint("car-\(index)"))
            let app = world.arrive(UInt64(30_000 + index), World.client("app-\(index)"))
            world.handle(
                .received(
                    app, .openSession(OpenSession(requestID: "r", vehicles: Self.ids("car-\(index)"))), .none)
            )
        }
        #expect(world.gateway.sessions.count == count)
        return world
    }

    private static func ids(_ vehicles: String...) -> VehicleSelection {
        .vehicles(vehicles.map { VehicleID(unchecked: $0) })
    }

    /// Begins a change of the rules, without its steps, and returns what it cost.
    private static func change(_ world: inout World, _ access: AccessPolicy) -> UInt64 {
        var policy = world.gateway.policy
        policy.access = access
        let before = world.gateway.counters.work.units
        world.begin(.policyChanged(policy))
        return world.gateway.counters.work.units - before
    }

    private static func step(_ world: inout World) -> UInt64 {
        let before = world.gateway.counters.work.units
        world.begin(.stepDue(of: nil))
        return world.gateway.counters.work.units - before
    }

    private static func finish(_ world: inout World) {
        while world.gateway.hasSteps { _ = Self.step(&world) }
        #expect(world.gateway.unruledClients.isEmpty && world.gateway.unruledVehicles.isEmpty)
    }

    @Test(arguments: [10, 100, 1_000, 10_000])
    func `no step of a change is longer with more peers, and exactly what the rules refuse is closed`(
        _ count: Int
    ) throws {
        var world = try Self.world(count)
        #expect(Self.change(&world, Self.rules(refusing: ["*1"], unguided: ["*2"])) <= 64)
        while world.gateway.hasSteps {
            let cost = Self.step(&world)
            #expect(cost <= 64)
        }
        var refused: Set<ConnectionID> = []
        for index in 0..<count where index % 10 == 1 {
            refused.insert(ConnectionID(UInt64(10_000 + index)))
            refused.insert(ConnectionID(UInt64(30_000 + index)))
        }
        #expect(world.goodbyes.values.allSatisfy { $0 == .rulesChanged })
        #expect(Set(world.goodbyes.keys) == refused)
        let guided = Set(world.gateway.sessions.values.flatMap { Array($0.vehicles) }.map(\.rawValue))
        #expect(
            guided == Set((0..<count).filter { $0 % 10 != 1 && $0 % 10 != 2 }.map { "car-\($0)" }))
        var fresh = world.gateway
        fresh.rebuildIndex()
        #expect(fresh.index == world.gateway.index)
    }

    /// A world in the middle of a change that has reached no peer.
    private static func changing(_ access: AccessPolicy) throws -> World {
        var world = try Self.world(200)
        _ = Self.change(&world, access)
        #expect(world.gateway.unruledClients.contains(ClientID(unchecked: "app-99")))
        #expect(world.gateway.unruledVehicles.contains(VehicleID(unchecked: "car-99")))
        return world
    }

    private static let car = ConnectionID(10_099)
    private static let app = ConnectionID(30_099)
    /// A peer that comes in the middle of the change.
    private static let other = ConnectionID(40_000)

    @Test func `a client that changed rules refuse opens no session meanwhile`() throws {
        var world = try Self.changing(Self.rules(refusing: ["app-99"]))
        world.handle(
            .received(Self.app, .openSession(OpenSession(requestID: "s", vehicles: Self.ids("x"))), .none))
        #expect(world.opened(Self.app, "s") == nil)
        #expect(world.goodbyes == [Self.app: .rulesChanged])
        Self.finish(&world)
        #expect(world.goodbyes == [Self.app: .rulesChanged])
    }

    @Test func `a client gets no vehicle meanwhile that changed rules refuse it`() throws {
        var world = try Self.changing(Self.rules(refusing: ["none"], unguided: ["x"]))
        world.handle(
            .received(Self.app, .openSession(OpenSession(requestID: "s", vehicles: Self.ids("x"))), .none))
        #expect(world.errors(Self.app) == [.notAuthorized])
    }

    @Test func `an endpoint that changed rules refuse asks for nothing meanwhile`() throws {
        var world = try Self.changing(Self.rules(refusing: ["car-99"]))
        world.receive(
            .destinationRequest(DestinationRequest(requestID: "d", destination: World.place)), from: Self.car)
        #expect(world.goodbyes == [Self.car: .rulesChanged])
        #expect(world.gateway.requests.count == 0)
    }

    @Test func `an endpoint that changed rules refuse joins no other session meanwhile`() throws {
        var world = try Self.changing(Self.rules(refusing: ["car-99"]))
        world.mail[Self.car] = []
        world.arrive(Self.other.rawValue, World.client("other"))
        world.guide(Self.other, ["car-99"])
        #expect(world.goodbyes == [Self.car: .rulesChanged])
        #expect(!world.messages(Self.car).contains { $0.type == .snapshotBegin })
        Self.finish(&world)
        #expect(world.gateway.sessions.values.count { $0.client.rawValue == "other" } == 1)
    }

    @Test func `an endpoint joins no session meanwhile whose client may not guide its vehicle`() throws {
        var world = try Self.changing(Self.rules(refusing: ["none"], unguided: ["car-99"]))
        world.arrive(Self.other.rawValue, World.endpoint("car-99", "hud"))
        #expect(!world.messages(Self.other).contains { $0.type == .snapshotBegin })
        #expect(world.messages(Self.car).map(\.type).last == .sessionEnded)
    }

    @Test func `a drive is accepted meanwhile only by a client that may guide the vehicle`() throws {
        var world = try Self.world(200)
        world.receive(
            .destinationRequest(DestinationRequest(requestID: "d", destination: World.place)), from: Self.car)
        let asked = try #require(world.gateway.requests.map(\.value).first?.client)
        #expect(asked.rawValue == "app-0")
        var access = Self.rules(refusing: ["none"]).rules
        let rule = Self.rule(false, .navigation, vehicles: ["car-99"], clients: [asked.rawValue])
        access.insert(rule, at: 0)
        _ = Self.change(&world, AccessPolicy(rules: access))
        let answer = RequestAnswer(
            requestID: "d", vehicle: VehicleID(unchecked: "car-99"), answer: .accept)
        world.receive(.requestAnswer(answer), from: ConnectionID(30_000))
        Self.finish(&world)
        #expect(!world.outcomes(Self.car).contains(.accepted))
        #expect(world.gateway.requests.map(\.value).first?.client != asked)
    }

    @Test func `a vehicle that waits joins a session meanwhile or at the end, whichever is visited first`()
        throws
    {
        for isClientFirst in [true, false] {
            var world = try Self.world(200)
            let access = world.gateway.policy.access
            _ = Self.change(&world, Self.rules(refusing: ["none"], unguided: ["bus-*"]))
            Self.finish(&world)
            world.arrive(50_001, World.endpoint("bus-1") { $0.guidanceWanted = true })
            world.arrive(50_002, World.client("z-any"))
            world.receive(
                .openSession(OpenSession(requestID: "s", vehicles: .anyThatAsked)), from: ConnectionID(50_002)
            )
            #expect(world.gateway.sessions.values.allSatisfy { !$0.vehicles.contains("bus-1") })
            _ = Self.change(&world, access)
            if isClientFirst {
                world.receive(
                    .openSession(OpenSession(requestID: "s", vehicles: .anyThatAsked)),
                    from: ConnectionID(50_002))
            } else {
                world.receive(.allowNavigation, from: ConnectionID(50_001))
            }
            Self.finish(&world)
            #expect(world.gateway.sessions.values.contains { $0.vehicles.contains("bus-1") })
        }
    }
}

extension Sequence<VehicleID> {
    fileprivate func contains(_ id: String) -> Bool { self.contains { $0.rawValue == id } }
}
