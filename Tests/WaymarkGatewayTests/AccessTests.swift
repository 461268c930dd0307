import StateCoding
import Testing
import WaymarkAccess
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol

@Suite struct AccessTests {
    private static let phone = AccessSubject(user: 10)
    private static let tablet = AccessSubject(user: 11)

    /// A rule at this line.
    private static func rule(
        _ line: Int, _ isAllowed: Bool = true, _ role: AccessRole = .navigation, users: Set<UInt32>? = nil,
        vehicles: [String]? = nil, clients: [String]? = nil, priority: Int32? = nil
    ) -> AccessRule {
        var rule = AccessRule(allow: isAllowed, [role], origin: AccessOrigin(file: "f.yaml", line: line))
        if let users { rule.subjects = .users(users) }
        rule.vehicles = vehicles.map { GlobList($0.compactMap { Glob($0) }) }
        rule.clients = clients.map { GlobList($0.compactMap { Glob($0) }) }
        rule.priorityMax = priority
        return rule
    }

    private static let anyVehicle = rule(99, true, .vehicle)

    private static func world(_ rules: [AccessRule]) -> World {
        World { $0.access = AccessPolicy(rules: rules + [Self.anyVehicle]) }
    }

    private static func change(_ world: inout World, _ rules: [AccessRule]) {
        var policy = world.gateway.policy
        policy.access = AccessPolicy(rules: rules)
        world.handle(.policyChanged(policy))
    }

    /// The vehicles that a client was refused in its session.
    private static func refused(_ world: World, _ client: ConnectionID) -> [String] {
        world.messages(client).flatMap { message -> [String] in
            guard case .sessionOpened(let opened) = message else { return [] }
            return opened.vehicles.filter { $0.standing == .refused(.notAuthorized) }.map(\.vehicle.rawValue)
        }
    }

    private static func open(_ world: inout World, _ client: ConnectionID, _ vehicles: VehicleSelection) {
        world.receive(.openSession(OpenSession(requestID: "r", vehicles: vehicles)), from: client)
    }

    private static func ids(_ vehicles: String...) -> VehicleSelection {
        .vehicles(vehicles.map { VehicleID(unchecked: $0) })
    }

    @Test func `a vehicle whose id no rule allows is refused at its Hello`() {
        var world = World {
            $0.access = AccessPolicy(rules: [Self.rule(1, true, .vehicle, users: [10], vehicles: ["bus-*"])])
        }
        let bus = world.arrive(1, World.endpoint("bus-7"), subject: Self.phone)
        let car = world.arrive(2, World.endpoint("car"), subject: Self.phone)
        let foreign = world.arrive(3, World.endpoint("bus-8"), subject: Self.tablet)
        #expect(world.welcomes[bus] != nil)
        #expect(world.goodbyes == [car: .notAuthorized, foreign: .notAuthorized])
    }

    @Test func `a client is refused at its Hello if no rule can allow it a vehicle`() {
        var world = Self.world([
            Self.rule(1, false, users: [10], vehicles: ["tram"]),
            Self.rule(2, true, users: [10], vehicles: ["bus-*"], clients: ["phone-*"]),
        ])
        let allowed = world.arrive(1, World.client("phone-1"), subject: Self.phone)
        let otherName = world.arrive(2, World.client("app"), subject: Self.phone)
        let otherUser = world.arrive(3, World.client("phone-2"), subject: Self.tablet)
        #expect(world.welcomes[allowed] != nil)
        #expect(world.goodbyes == [otherName: .notAuthorized, otherUser: .notAuthorized])
    }

    @Test func `a client gets the vehicles that it may guide, and NOT_AUTHORIZED for the others`() {
        var world = Self.world([Self.rule(1, true, users: [10], vehicles: ["bus-*"])])
        let client = world.arrive(1, World.client("app"), subject: Self.phone)
        world.arrive(2, World.endpoint("bus-7"))
        Self.open(&world, client, Self.ids("bus-7", "car", "bus-8"))
        #expect(Self.refused(world, client) == ["car"])
        world.receive(
            .openSession(OpenSession(requestID: "s", vehicles: Self.ids("car", "van"))), from: client)
        #expect(world.errors(client) == [.notAuthorized])
    }

    @Test func `a refusal is noted with the file and line of the rule that decides`() {
        var world = Self.world([
            Self.rule(3, false, users: [10], vehicles: ["car"]),
            Self.rule(4, true, users: [10], vehicles: ["bus-*"]),
        ])
        let client = world.arrive(1, World.client("app"), subject: Self.phone)
        var actions: [Gateway.Action] = []
        let opening = OpenSession(requestID: "r", vehicles: Self.ids("bus", "car", "van", "bus-7"))
        world.gateway.handle(.received(client, .openSession(opening), .none), at: world.now, into: &actions)
        var deciders: [String: [String]] = [:]
        for case .note(let note) in actions {
            guard case .guidanceRefused(let decider) = note.turn else { continue }
            deciders[decider] = note.vehicles.map(\.rawValue)
        }
        #expect(deciders == ["f.yaml:3": ["car"], "no rule applies": ["bus", "van"]])
    }

    @Test func `a session for any vehicle that asked gets only vehicles that its client may guide`() throws {
        var world = Self.world([Self.rule(1, true, users: [10], vehicles: ["bus-*"])])
        world.arrive(1, World.endpoint("bus-1") { $0.guidanceWanted = true })
        world.arrive(2, World.endpoint("car-1") { $0.guidanceWanted = true })
        let client = world.arrive(3, World.client("app"), subject: Self.phone)
        Self.open(&world, client, .anyThatAsked)
        world.arrive(4, World.endpoint("bus-2") { $0.guidanceWanted = true })
        world.arrive(5, World.endpoint("car-2") { $0.guidanceWanted = true })
        var joined: Set<String> = []
        for message in world.messages(client) {
            switch message {
            case .sessionOpened(let opened): joined.formUnion(opened.vehicles.map(\.vehicle.rawValue))
            case .vehicleChanged(let status): joined.insert(status.vehicle.rawValue)
            default: break
            }
        }
        #expect(joined == ["bus-1", "bus-2"])
    }

    @Test func `a destination request goes only to clients that may guide the vehicle`() {
        var world = Self.world([
            Self.rule(1, true, users: [10], vehicles: ["bus-*"]), Self.rule(2, true, users: [11]),
        ])
        let first = world.arrive(1, World.client("a", priority: 9), subject: Self.phone)
        let second = world.arrive(2, World.client("b"), subject: Self.tablet)
        let car = world.arrive(3, World.endpoint("car"))
        let bus = world.arrive(4, World.endpoint("bus-1"))
        for (vehicle, id) in [(car, "c"), (bus, "d")] as [(ConnectionID, Identifier)] {
            world.receive(
                .destinationRequest(DestinationRequest(requestID: id, destination: World.place)),
                from: vehicle)
        }
        func asked(_ client: ConnectionID) -> [Identifier] {
            world.messages(client).compactMap {
                if case .destinationRequest(let request) = $0 { request.requestID } else { nil }
            }
        }
        #expect(asked(first) == ["d"])
        #expect(asked(second) == ["c"])
    }

    @Test func `a client that asks for a higher priority than its rule gives gets that of the rule`() {
        for (cap, isTaken) in [(Int32(5), false), (6, true)] {
            var world = World {
                $0.arbitration = .priority
                $0.access = AccessPolicy(rules: [
                    Self.rule(1, true, users: [10], priority: cap), Self.rule(2, true, users: [11]),
                    Self.anyVehicle,
                ])
            }
            world.arrive(1, World.endpoint("car"))
            let holder = world.arrive(2, World.client("holder", priority: 5), subject: Self.tablet)
            let greedy = world.arrive(3, World.client("greedy", priority: 1_000), subject: Self.phone)
            #expect(world.guide(holder, ["car"]) != nil)
            #expect((world.guide(greedy, ["car"]) != nil) == isTaken)
        }
    }

    @Test func `the limits of a key hold before the rules`() {
        var limits = KeyLimits(origin: AccessOrigin(file: "f.yaml", line: 7))
        limits.roles = [.vehicle]
        limits.vehicles = GlobList([Glob("bus-*")].compactMap { $0 })
        var world = World { $0.access = AccessPolicy(keys: ["fleet": limits]) }
        let fleet = AccessSubject(key: "fleet")
        let bus = world.arrive(1, World.endpoint("bus-7"), principal: .key("fleet"), subject: fleet)
        let car = world.arrive(2, World.endpoint("car"), principal: .key("fleet"), subject: fleet)
        let client = world.arrive(3, World.client("app"), principal: .key("fleet"), subject: fleet)
        let keyless = world.arrive(4, World.endpoint("car"), principal: .anyone)
        #expect(world.welcomes[bus] != nil && world.welcomes[keyless] != nil)
        #expect(world.goodbyes == [car: .notAuthorized, client: .notAuthorized])
    }

    @Test func `changed rules end exactly what they refuse`() throws {
        var world = Self.world([Self.rule(1, true, users: [10, 11])])
        let bus = world.arrive(1, World.endpoint("bus-7"), subject: AccessSubject(user: 1))
        let car = world.arrive(2, World.endpoint("car"), subject: AccessSubject(user: 1))
        let van = world.arrive(3, World.endpoint("van"), subject: AccessSubject(user: 2))
        let phone = world.arrive(4, World.client("phone"), subject: Self.phone)
        let tablet = world.arrive(5, World.client("tablet"), subject: Self.tablet)
        let session = try world.guided(phone, ["bus-7", "car"])
        let other = try world.guided(tablet, ["van"])
        Self.change(
            &world,
            [
                Self.rule(1, true, users: [10], vehicles: ["bus-*"]),
                Self.rule(2, true, .vehicle, users: [1]),
            ])
        #expect(world.goodbyes == [van: .rulesChanged, tablet: .rulesChanged])
        let ended = Message.sessionEnded(SessionEnded(session: session, reason: .notAuthorized))
        #expect(world.messages(car).contains(ended))
        #expect(!world.messages(bus).contains(ended))
        #expect(!world.messages(phone).contains(ended))
        let left = world.messages(phone).contains {
            guard case .vehicleChanged(let status) = $0 else { return false }
            return status.vehicle.rawValue == "car" && status.standing == .left(.notAuthorized)
        }
        #expect(left)
        #expect(world.gateway.census.sessions == 1)
        // What a closed connection still sends has no effect.
        world.publish(tablet, other, .currentRoadName(["late"]))
        world.handle(.departed(tablet, clean: false))
        world.handle(.departed(van, clean: false))
        // Their ids are free at once.
        #expect(world.gateway.census.endpoints == 2)
        world.publish(phone, session, .currentRoadName(["on"]))
        #expect(world.messages(bus).contains(.publication(.currentRoadName(["on"]))))
        #expect(!world.messages(car).contains(.publication(.currentRoadName(["on"]))))
    }

    @Test func `a client that resumes with fewer rights loses the vehicles that it may not guide any more`()
        throws
    {
        var world = World {
            var rule = Self.rule(1, true)
            rule.subjects = .groups([5])
            $0.access = AccessPolicy(rules: [
                rule, Self.rule(2, true, users: [10], vehicles: ["bus"]), Self.anyVehicle,
            ])
        }
        let bus = world.arrive(1, World.endpoint("bus"))
        let car = world.arrive(2, World.endpoint("car"))
        let first = world.arrive(3, World.client("app"), subject: AccessSubject(user: 10, groups: [5]))
        let session = try world.guided(first, ["bus", "car"])
        let token = world.welcomes[first]?.resumptionToken
        world.handle(.departed(first, clean: false))
        let second = world.arrive(4, World.client("app"), subject: Self.phone, token: token)
        #expect(world.welcomes[second]?.isResumed == true)
        let ended = Message.sessionEnded(SessionEnded(session: session, reason: .notAuthorized))
        #expect(world.messages(car).contains(ended))
        #expect(!world.messages(bus).contains(ended))
    }

    @Test func `a disconnected peer that the rules refuse now is forgotten, with its session`() throws {
        var world = Self.world([Self.rule(1, true, users: [10])])
        let car = world.arrive(1, World.endpoint("car"))
        let phone = world.arrive(2, World.client("phone"), subject: Self.phone)
        let session = try world.guided(phone, ["car"])
        world.handle(.departed(phone, clean: false))
        Self.change(&world, [Self.rule(1, true, users: [11]), Self.anyVehicle])
        #expect(
            world.messages(car).contains(
                .sessionEnded(SessionEnded(session: session, reason: .notAuthorized))))
        #expect(world.gateway.census.sessions == 0)
        world.wait(.seconds(60))
        let tablet = world.arrive(3, World.client("phone"), subject: Self.tablet)
        #expect(world.welcomes[tablet] != nil)
    }

    @Test func `a destination request moves on from a client that may no longer guide the vehicle`() {
        var world = Self.world([Self.rule(1, true)])
        world.arrive(1, World.client("a", priority: 9), subject: Self.phone)
        let second = world.arrive(2, World.client("b"), subject: Self.tablet)
        let car = world.arrive(3, World.endpoint("car"))
        world.receive(
            .destinationRequest(DestinationRequest(requestID: "d", destination: World.place)), from: car)
        Self.change(
            &world,
            [Self.rule(1, false, users: [10], vehicles: ["car"]), Self.rule(2, true), Self.anyVehicle])
        #expect(
            world.messages(second).contains {
                if case .destinationRequest = $0 { true } else { false }
            })
        #expect(world.outcomes(car).isEmpty)
    }

    @Test func `a waiting vehicle is offered to a client that may guide it since the rules changed`() {
        var world = Self.world([Self.rule(1, true, users: [10], vehicles: ["bus-*"])])
        world.arrive(1, World.endpoint("car") { $0.guidanceWanted = true })
        let client = world.arrive(2, World.client("app"), subject: Self.phone)
        Self.open(&world, client, .anyThatAsked)
        Self.change(&world, [Self.rule(1, true, users: [10]), Self.anyVehicle])
        let isJoined = world.messages(client).contains {
            if case .vehicleChanged(let status) = $0 { status.standing == .joined } else { false }
        }
        #expect(isJoined)
    }

    @Test func `the next process knows who each peer is`() throws {
        var world = Self.world([Self.rule(1, true, users: [10])])
        world.arrive(1, World.endpoint("car"), subject: AccessSubject(user: 1, groups: [5], key: "k"))
        let phone = world.arrive(2, World.client("phone"), subject: Self.phone)
        _ = try world.guided(phone, ["car"])
        let bytes = try StateCoder.encode(GatewayState(world.gateway), format: GatewayState.format)
        let state = try StateCoder.decode(GatewayState.self, from: bytes, format: GatewayState.format)
        #expect(state.gateway(policy: world.gateway.policy, coder: Codec.coder) == world.gateway)
        var policy = world.gateway.policy
        policy.access = AccessPolicy(rules: [Self.rule(1, true, users: [11]), Self.anyVehicle])
        world.gateway = try #require(state.gateway(policy: policy, coder: Codec.coder))
        world.handle(.policyChanged(policy))
        #expect(world.goodbyes == [phone: .rulesChanged])
    }
}
