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

    /// The most work of one event or step, while an event is handled with all its steps.
    private static func largestStep(of event: Gateway.Event, in world: inout World) -> UInt64 {
        var largest: UInt64 = 0
        var next: Gateway.Event? = event
        while let event = next {
            let before = world.gateway.counters.work.units
            world.begin(event)
            largest = max(largest, world.gateway.counters.work.units - before)
            next = world.gateway.hasSteps(of: event.cause) ? .stepDue(of: event.cause) : nil
        }
        return largest
    }

    /// A session along a route of the largest size, for any vehicle that asked.
    private static func longRoute() throws -> World {
        var world = World()
        let app = world.arrive(1, World.client("app"))
        world.receive(Self.any, from: app)
        let session = try #require(world.opened(app, "r"))
        world.publish(app, session, .startGuidance(World.trip, generation: 1, World.route))
        for first in stride(from: UInt32(0), to: 16_380, by: 180) {
            let maneuvers = (first..<first + 180).map {
                Maneuver(
                    id: ManeuverID(rawValue: 10 + $0), type: .leftTurn,
                    instructionVariants: [String(repeating: "long ", count: 20)])
            }
            world.publish(app, session, .addManeuvers(maneuvers, generation: 1))
        }
        for index in 0..<4 {
            var segment = RouteSegment(id: "\(index)", origin: World.place, destination: World.place)
            segment.coordinates = (0..<4_000).map {
                Coordinate(latitude: 47 + Double($0 % 7) / 1_000, longitude: 9 + Double($0) / 1_000)
            }
            world.publish(app, session, .addRouteSegments([segment], generation: 1))
        }
        #expect(world.errors(app).isEmpty)
        return world
    }

    /// Lets a vehicle ask for guidance and end it.
    private static func stop(_ connection: UInt64, of vehicle: String, in world: inout World) {
        world.arrive(connection, World.endpoint(vehicle) { $0.guidanceWanted = true })
        world.receive(.cancelNavigation(.userStopped), from: ConnectionID(connection))
    }

    private static func smallEndpoint(_ vehicle: String, _ name: String, slots: UInt32) -> Hello.Role {
        World.endpoint(vehicle, name) {
            $0.limits.maneuversStoredMax = slots
            $0.limits.routeSegmentPointsMax = 100
        }
    }

    @Test(arguments: [300, 3_000] as [UInt32])
    func `an endpoint with slots joins a session with the largest route in small steps`(_ slots: UInt32)
        throws
    {
        var world = try Self.longRoute()
        world.arrive(3, World.endpoint("car") { $0.guidanceWanted = true })
        let hello = Hello(role: Self.smallEndpoint("car", "a", slots: slots))
        let token = ResumptionToken(high: 0, low: 99)
        let largest = Self.largestStep(
            of: .arrived(ConnectionID(2), hello, .user(1), token: token), in: &world)
        #expect(largest <= Self.stepMax)
        #expect(world.messages(ConnectionID(2)).last == .snapshotEnd)
        // A jump to the end of the route sends all slots again.
        let last = Publication.upcomingManeuvers([ManeuverID(rawValue: 16_389)], generation: 1)
        let session = try #require(world.opened(ConnectionID(1), "r"))
        let envelope = Envelope(
            .publication(last), session: session, sequence: (world.sequences[session] ?? 0) + 1)
        let jump = Gateway.Event.published(
            ConnectionID(1), PublishedFrames(Codec.encode(envelope), last.outline))
        #expect(Self.largestStep(of: jump, in: &world) <= Self.stepMax)
        #expect(world.messages(ConnectionID(2)).last == .publication(last))
    }

    @Test func `an endpoint that takes small frames joins a session with the largest route in small steps`()
        throws
    {
        var world = try Self.longRoute()
        world.arrive(3, World.endpoint("car") { $0.guidanceWanted = true })
        let hello = Hello(role: World.endpoint("car", "a") { $0.receiveFrameBytesMax = 4_096 })
        let token = ResumptionToken(high: 0, low: 99)
        let largest = Self.largestStep(
            of: .arrived(ConnectionID(2), hello, .user(1), token: token), in: &world)
        #expect(largest <= Self.stepMax)
        let received = world.mail[ConnectionID(2), default: []]
        #expect(received.last?.message == .snapshotEnd)
        #expect(received.count > 100)
        #expect(received.allSatisfy { Codec.encode($0).bytes.count <= 4_096 })
    }

    @Test func `sixteen endpoints of a vehicle move to the largest route in small steps`() throws {
        var world = try Self.longRoute()
        Self.stop(9, of: "van", in: &world)
        for index in 0..<15 {
            let role = Self.smallEndpoint("van", "e\(index)", slots: 200 + UInt32(index % 2))
            world.arrive(UInt64(10 + index), role)
        }
        let allow = Gateway.Event.received(ConnectionID(9), .allowNavigation, .none)
        #expect(Self.largestStep(of: allow, in: &world) <= Self.stepMax)
        for index in 0..<15 {
            #expect(world.messages(ConnectionID(UInt64(10 + index))).last == .snapshotEnd)
        }
    }

    /// About 1 ms.
    private static let stepMax: UInt64 = 256

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
