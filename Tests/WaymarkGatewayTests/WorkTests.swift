import Testing
import WaymarkAccess
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// What an operation of one peer costs does not depend on how many others there are.
///
/// Walks that are not counted are found by HouseRulesTests: nothing in the gateway may walk all vehicles, clients, sessions or requests.
@Suite struct WorkTests {
    /// Something that a peer does, after a preparation that is not measured.
    struct Operation: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var prepare: @Sendable (inout World) -> Void = { _ in }
        var perform: @Sendable (inout World) -> Void
    }

    private static let car = ConnectionID(900_001)
    private static let app = ConnectionID(900_002)
    private static let opening = Message.openSession(
        OpenSession(
            requestID: "r", vehicles: .vehicles([VehicleID(unchecked: "my-car")]),
            receiptsEveryMilliseconds: 100)
    )
    private static let any = Message.openSession(OpenSession(requestID: "r", vehicles: .anyThatAsked))

    private static func hello(_ world: inout World, asks: Bool = false) {
        world.arrive(Self.car.rawValue, World.endpoint("my-car") { $0.guidanceWanted = asks })
    }

    private static func open(_ world: inout World) {
        Self.hello(&world)
        world.arrive(Self.app.rawValue, World.client("my-app", priority: 9))
        world.receive(Self.opening, from: Self.app)
    }

    private static func guide(_ world: inout World) {
        Self.open(&world)
        Self.publish(&world, .startGuidance(World.trip, generation: 1, World.route))
    }

    private static func publish(_ world: inout World, _ publication: Publication) {
        guard let session = world.opened(Self.app, "r") else { return }
        world.publish(Self.app, session, publication)
    }

    private static func ask(_ world: inout World) {
        world.receive(
            .destinationRequest(DestinationRequest(requestID: "d", destination: World.place)), from: Self.car)
    }

    private static func token(_ world: World, _ id: ConnectionID) -> ResumptionToken? {
        world.welcomes[id]?.resumptionToken
    }

    static let operations: [Operation] = [
        Operation(testDescription: "an endpoint says Hello") { Self.hello(&$0) },
        Operation(testDescription: "an endpoint that asks for guidance says Hello") {
            Self.hello(&$0, asks: true)
        },
        Operation(testDescription: "a client says Hello") {
            $0.arrive(Self.app.rawValue, World.client("my-app"))
        },
        Operation(
            testDescription: "a client opens a session",
            prepare: {
                Self.hello(&$0)
                $0.arrive(Self.app.rawValue, World.client("my-app"))
            }, perform: { $0.receive(Self.opening, from: Self.app) }),
        Operation(
            testDescription: "a client opens a session for any vehicle that asked",
            prepare: { $0.arrive(Self.app.rawValue, World.client("my-app")) },
            perform: { world in
                guard Self.mayTakeAny(world) else { return }
                world.receive(Self.any, from: Self.app)
            }),
        Operation(
            testDescription: "a client with a session for any vehicle that asked is cut off and resumes",
            prepare: { world in
                world.arrive(Self.app.rawValue, World.client("my-app"))
                guard Self.mayTakeAny(world) else { return }
                world.receive(Self.any, from: Self.app)
            },
            perform: { world in
                guard Self.mayTakeAny(world) else { return }
                world.handle(.departed(Self.app, clean: false))
                let token = Self.token(world, Self.app)
                world.arrive(900_003, World.client("my-app"), token: token)
            }),
        Operation(
            testDescription: "a client asks for a vehicle that another one guides",
            prepare: { $0.arrive(Self.app.rawValue, World.client("my-app")) },
            perform: { $0.guide(Self.app, ["car-3"]) }),
        Operation(
            testDescription: "a client starts guidance", prepare: { Self.open(&$0) },
            perform: { Self.publish(&$0, .startGuidance(World.trip, generation: 1, World.route)) }),
        Operation(
            testDescription: "a client publishes a state", prepare: { Self.guide(&$0) },
            perform: { Self.publish(&$0, .currentRoadName(["A"])) }),
        Operation(
            testDescription: "a client pauses", prepare: { Self.guide(&$0) },
            perform: { Self.publish(&$0, .pauseGuidance(.loading, description: [])) }),
        Operation(
            testDescription: "a client shares a destination", prepare: { Self.guide(&$0) },
            perform: { Self.publish(&$0, .shareDestination(shareID: "s", World.place)) }),
        Operation(
            testDescription: "a client finishes", prepare: { Self.guide(&$0) },
            perform: { Self.publish(&$0, .finishGuidance) }),
        Operation(
            testDescription: "a vehicle asks for a stop", prepare: { Self.guide(&$0) },
            perform: { $0.receive(World.waypoint("w"), from: Self.car) }),
        Operation(
            testDescription: "a vehicle asks for a drive", prepare: { Self.open(&$0) },
            perform: { Self.ask(&$0) }),
        Operation(
            testDescription: "a client declines a drive, and the next one is asked",
            prepare: {
                Self.open(&$0)
                Self.ask(&$0)
            }, perform: { $0.receive(Self.answer(.decline(.declinedByUser)), from: Self.app) }),
        Operation(
            testDescription: "a client accepts a drive",
            prepare: {
                Self.open(&$0)
                Self.ask(&$0)
            }, perform: { $0.receive(Self.answer(.accept), from: Self.app) }),
        Operation(
            testDescription: "a vehicle withdraws a request",
            prepare: {
                Self.open(&$0)
                Self.ask(&$0)
            }, perform: { $0.receive(.withdrawRequest(WithdrawRequest(requestID: "d")), from: Self.car) }),
        Operation(
            testDescription: "a vehicle cancels", prepare: { Self.guide(&$0) },
            perform: { $0.receive(.cancelNavigation(.ownNavigationStarted), from: Self.car) }),
        Operation(
            testDescription: "a vehicle allows guidance",
            prepare: {
                Self.hello(&$0, asks: true)
                $0.receive(.cancelNavigation(.userStopped), from: Self.car)
            }, perform: { $0.receive(.allowNavigation, from: Self.car) }),
        Operation(
            testDescription: "an endpoint changes its settings", prepare: { Self.guide(&$0) },
            perform: { world in
                var settings = VehicleSettings()
                settings.isReadyToShow = true
                world.receive(.vehicleSettings(settings), from: Self.car)
            }),
        Operation(
            testDescription: "an endpoint sends a receipt, which is reported", prepare: { Self.guide(&$0) },
            perform: {
                $0.receive(.receipt(Receipt(receivedSequence: 1, shownSequence: 1)), from: Self.car)
                $0.wait(.seconds(1))
            }),
        Operation(
            testDescription: "an endpoint leaves", prepare: { Self.guide(&$0) },
            perform: { $0.handle(.departed(Self.car, clean: true)) }),
        Operation(
            testDescription: "a client leaves",
            prepare: {
                Self.guide(&$0)
                $0.receive(World.waypoint("w"), from: Self.car)
            }, perform: { $0.handle(.departed(Self.app, clean: true)) }),
        Operation(
            testDescription: "an endpoint is cut off and resumes", prepare: { Self.guide(&$0) },
            perform: { world in
                world.handle(.departed(Self.car, clean: false))
                let session = world.opened(Self.app, "r") ?? .none
                let token = Self.token(world, Self.car)
                world.arrive(900_003, World.endpoint("my-car"), token: token, resume: (session, 1))
            }),
        Operation(
            testDescription: "a client is cut off and resumes", prepare: { Self.guide(&$0) },
            perform: { world in
                world.handle(.departed(Self.app, clean: false))
                let token = Self.token(world, Self.app)
                world.arrive(900_003, World.client("my-app", priority: 9), token: token)
            }),
        Operation(
            testDescription: "a client and an endpoint are cut off, and are forgotten",
            prepare: { Self.guide(&$0) },
            perform: {
                $0.handle(.departed(Self.app, clean: false))
                $0.handle(.departed(Self.car, clean: false))
                $0.wait(.seconds(31))
            }),
        Operation(
            testDescription: "a request is not answered",
            prepare: {
                Self.guide(&$0)
                $0.receive(World.waypoint("w"), from: Self.car)
            }, perform: { $0.wait(.seconds(11)) }),
    ]

    private static func answer(_ answer: RequestAnswer.Answer) -> Message {
        .requestAnswer(RequestAnswer(requestID: "d", vehicle: VehicleID(unchecked: "my-car"), answer: answer))
    }

    /// Whether a session for any vehicle that asked gets none of the others: those that join are its own.
    private static func mayTakeAny(_ world: World) -> Bool {
        world.gateway.index.waitingVehicles.isEmpty || !world.gateway.policy.access.isOpen
    }

    /// A world with as many other vehicles, clients and sessions. The others of `kind` differ.
    enum Others: CaseIterable {
        /// Every second vehicle waits for guidance.
        case waiting
        /// Every second session is for any vehicle that asked.
        case offering
        /// Both, with rules that refuse the measured vehicle to the other clients, and vehicles that wait to all clients.
        case refused
    }

    /// The other clients have the user ids from 2 to 9.
    private static let access: AccessPolicy = {
        let others = AccessRule.Subjects.users(Set(2...9))
        func rule(
            _ isAllowed: Bool, _ role: AccessRole, _ subjects: AccessRule.Subjects, _ vehicles: [String]?
        ) -> AccessRule {
            var rule = AccessRule(allow: isAllowed, [role], origin: AccessOrigin(file: "f", line: 1))
            rule.subjects = subjects
            rule.vehicles = vehicles.map { GlobList($0.compactMap { Glob($0) }) }
            return rule
        }
        return AccessPolicy(rules: [
            rule(false, .navigation, others, ["my-*", "bus-*"]), rule(true, .navigation, others, nil),
            rule(true, .navigation, .anyone, ["my-*", "car-3"]), rule(true, .vehicle, .anyone, nil),
        ])
    }()

    private static func world(_ count: Int, _ others: Others) -> World {
        var world = World {
            $0.limits.peersPerUserMax = 40_000
            if others == .refused { $0.access = Self.access }
        }
        // Their requests end long after what is measured.
        world.now = Instant(nanoseconds: 0) + .seconds(100_000)
        for index in 0..<count {
            let principal = Principal.user(UInt32(2 + index % 8))
            let subject = AccessSubject(user: UInt32(2 + index % 8))
            let car = ConnectionID(UInt64(10_000 + 3 * index))
            let app = ConnectionID(UInt64(10_001 + 3 * index))
            let isEven = index % 2 == 0
            let waits = others != .offering && isEven
            let name = others == .refused && isEven ? "bus-\(index)" : "car-\(index)"
            world.arrive(
                car.rawValue, World.endpoint(name) { $0.guidanceWanted = waits }, principal: principal)
            world.arrive(
                app.rawValue, World.client("app-\(index)", priority: 10), principal: principal,
                subject: subject)
            let vehicle = VehicleID(unchecked: waits ? "absent-\(index)" : "car-\(index)")
            let offers = others != .waiting && isEven
            world.receive(
                .openSession(
                    OpenSession(requestID: "r", vehicles: offers ? .anyThatAsked : .vehicles([vehicle]))),
                from: app)
            world.receive(
                .destinationRequest(DestinationRequest(requestID: "x", destination: World.place)), from: car)
        }
        world.mail = [:]
        world.members = [:]
        world.now = Instant(nanoseconds: 0)
        return world
    }

    /// How many units of work an operation costs, with all its steps.
    private static func cost(_ operation: Operation, in start: World) -> UInt64 {
        var world = start
        operation.prepare(&world)
        let before = world.gateway.counters.work.units
        operation.perform(&world)
        return world.gateway.counters.work.units - before
    }

    @Test(arguments: Others.allCases)
    func `an operation costs the same whether there are ten others or ten thousand`(_ others: Others) {
        let few = Self.world(10, others)
        let costs = Self.operations.map { Self.cost($0, in: few) }
        for count in [100, 1_000, 10_000] {
            let world = Self.world(count, others)
            #expect(world.gateway.sessions.count == count)
            for (operation, cost) in zip(Self.operations, costs) {
                let now = Self.cost(operation, in: world)
                #expect(now <= cost + 8, "\(operation.testDescription), \(count) others")
            }
        }
    }
}
