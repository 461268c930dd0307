import Foundation
import Synchronization
import Testing
import WaymarkModel
import WaymarkRoutes

@testable import WaymarkClient
@testable import WaymarkCommandLine

/// The navigation app against a real gateway, with an engine that the tests make up.
@Suite(.timeLimit(.minutes(5))) struct NavigatorTests {
    /// Answers as often as it is told to, then no more.
    private final class TiredEngine: RoutingEngine {
        private let engine: TreeEngine
        private let left: Mutex<Int>

        init(_ engine: TreeEngine, answers: Int) {
            self.engine = engine
            self.left = Mutex(answers)
        }

        func route(through points: [Coordinate]) async throws(RoutingError) -> RouteAnswer {
            let isTired = self.left.withLock { left in
                left -= 1
                return left < 0
            }
            if isTired { throw .unreachable(address: "tired", reason: "no more answers") }
            return try await self.engine.route(through: points)
        }
    }

    private static let road = (0...40).map { Coordinate(latitude: 47 + Double($0) / 1_000, longitude: 9.5) }

    private static func run(
        _ engine: any RoutingEngine, _ policy: Navigator.Policy,
        onUpdate: (@Sendable (VehicleUpdate) async -> Void)? = nil,
        _ body: (Navigator, VehicleEndpoint) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "wn-\(UInt32.random(in: 0 ... .max))").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: folder) } }
        try await Demo.withDaemon(folder) {
            var configuration = VehicleEndpoint.Configuration(vehicle: "car", endpoint: "cluster")
            configuration.onPrompt = { _ in true }
            configuration.onEveryUpdate = onUpdate
            let vehicle = try await VehicleEndpoint.connect(
                to: .unix(path: "\(folder)/vehicle.sock"), configuration)
            let navigator = Navigator(engine: engine, policy: policy, start: Self.road[0], say: { _ in })
            try await navigator.connect(to: .unix(path: "\(folder)/navigation.sock"), id: "app", key: [])
            try await body(navigator, vehicle)
            await navigator.close()
            await vehicle.close()
        }
    }

    private static var fast: Navigator.Plan {
        var plan = Navigator.Plan()
        plan.guide.drive.speedFactor = 1_000
        return plan
    }

    @Test func `a destination that cannot be reached is invalid, not declined by the user`() async throws {
        let tree = TreeEngine(road: Self.road)
        var policy = Navigator.Policy()
        policy.onDestination = .accept
        try await Self.run(TiredEngine(tree, answers: 1), policy) { _, vehicle in
            // Farther from the road than any branch leads.
            let far = Waypoint(center: Self.road[20].moved(meters: 2_000, bearing: 90))
            #expect(await vehicle.requestDestination(far) == .invalid)
            // Nor is an engine that does not answer the user's word.
            #expect(await vehicle.requestDestination(Waypoint(center: Self.road[30])) == .invalid)
        }
    }

    @Test func `a lost route is reported`() async throws {
        let engine = TiredEngine(TreeEngine(road: Self.road), answers: 1)
        try await Self.run(engine, .init()) { navigator, _ in
            var plan = Self.fast
            plan.guide.drive.leavesRouteAtMeters = 500
            let answer = try await engine.route(through: [
                Waypoint(center: Self.road[0]), Waypoint(center: Self.road[40]),
            ])
            #expect(try await navigator.drive(answer, .vehicles(["car"]), plan) == .lost)
        }
    }

    @Test func `a stop that can no longer be computed is driven to along the route that was promised`()
        async throws
    {
        // One answer for the route, one for the request, none when the user has agreed.
        let engine = TiredEngine(TreeEngine(road: Self.road), answers: 2)
        try await Self.run(engine, .init()) { navigator, vehicle in
            let stop = Self.road[20].moved(meters: 1_000, bearing: 90)
            let (asked, ask) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
            let places = Mutex<[Coordinate]>([])
            let outcome = Mutex<RequestResult?>(nil)
            var plan = Self.fast
            plan.guide.pause = (
                at: 0.2,
                body: {
                    outcome.withLock { $0 = nil }
                    let result = await vehicle.requestWaypoint(Waypoint(center: stop))
                    outcome.withLock { $0 = result }
                    ask.yield()
                }
            )
            plan.guide.observe = { change in
                if case .position(let place, _) = change { places.withLock { $0.append(place) } }
            }
            let answer = try await engine.route(through: [
                Waypoint(center: Self.road[0]), Waypoint(center: Self.road[40]),
            ])
            #expect(try await navigator.drive(answer, .vehicles(["car"]), plan) == .arrived)
            for await _ in asked { break }
            #expect(outcome.withLock { $0 } == .accepted)
            let nearest = places.withLock { $0.map { $0.meters(to: stop) }.min() ?? .infinity }
            #expect(nearest < 250)
        }
    }

    @Test func `a stop that was agreed to and cannot be added is told to the vehicles`() async throws {
        // One answer for the route, one for each of two requests, none when the user has agreed: the second route lacks the
        // first stop.
        let engine = TiredEngine(TreeEngine(road: Self.road), answers: 3)
        let alerts = Mutex<[NavigationAlert]>([])
        try await Self.run(
            engine, .init(),
            onUpdate: { update in
                if case .alertShown(let alert) = update.content { alerts.withLock { $0.append(alert) } }
            }
        ) { navigator, vehicle in
            let results = Mutex<[RequestResult]>([])
            var plan = Self.fast
            plan.guide.pause = (
                at: 0.2,
                body: {
                    await withTaskGroup(of: RequestResult.self) { group in
                        for index in [20, 30] {
                            let stop = Self.road[index].moved(meters: 1_000, bearing: 90)
                            group.addTask { await vehicle.requestWaypoint(Waypoint(center: stop)) }
                        }
                        for await result in group { results.withLock { $0.append(result) } }
                    }
                }
            )
            let answer = try await engine.route(through: [
                Waypoint(center: Self.road[0]), Waypoint(center: Self.road[40]),
            ])
            #expect(try await navigator.drive(answer, .vehicles(["car"]), plan) == .arrived)
            #expect(results.withLock { $0 } == [.accepted, .accepted])
        }
        #expect(
            alerts.withLock { $0.map(\.titleVariants) } == [
                ["The stop cannot be added: no route found", "Stop not added"]
            ])
    }

    // MARK: Previews

    /// Routes with the same ends, each longer than the one before.
    private static func alternatives(_ count: Int) async throws -> RouteAnswer {
        var routes: [EngineRoute] = []
        for number in 0..<count {
            var road = Self.road
            for index in 10...30 {
                road[index] = road[index].moved(meters: 200 * Double(number), bearing: 90)
            }
            routes += try await TreeEngine(road: road).route(through: [road[0], road[40]]).routes
        }
        return RouteAnswer(routes: routes, notices: [])
    }

    /// The first state of the vehicle's display for which `condition` is true.
    private static func state(
        of vehicle: VehicleEndpoint, when condition: (VehicleState) -> Bool
    ) async throws -> VehicleState {
        for await state in await vehicle.states where condition(state) { return state }
        throw ClientError.closed
    }

    @Test func `the vehicle chooses the second of three routes, starts it, and is guided on it`() async throws
    {
        let answer = try await Self.alternatives(3)
        let started = Mutex<Trip?>(nil)
        try await Self.run(
            TreeEngine(road: Self.road), .init(),
            onUpdate: { update in
                if case .guidanceStarted(let trip, _) = update.content { started.withLock { $0 = trip } }
            }
        ) { navigator, vehicle in
            var plan = Self.fast
            plan.preview = .untilStarted
            let drive = Task { [plan] in try await navigator.drive(answer, .vehicles(["car"]), plan) }
            let offered = try await Self.state(of: vehicle) { !$0.previews.isEmpty }
            let trip = try #require(offered.previews.first)
            #expect(offered.selectedPreview == trip.id && trip.selectedRouteChoice == 1)
            #expect(trip.routeChoices.map(\.id) == [1, 2, 3])
            #expect(trip.travelEstimates?.distanceRemaining == answer.routes[0].distance)
            await vehicle.selectPreview(trip: trip.id, routeChoice: 2)
            let chosen = try await Self.state(of: vehicle) { $0.previews.first?.selectedRouteChoice == 2 }
            #expect(chosen.previews.first?.travelEstimates?.distanceRemaining == answer.routes[1].distance)
            #expect(await vehicle.startTrip(trip.id) == .accepted)
            #expect(try await drive.value == .arrived)
        }
        let trip = try #require(started.withLock { $0 })
        #expect(trip.selectedRouteChoice == 2 && trip.routeChoices.count == 3)
    }

    @Test func `a start names another route than the selected one`() async throws {
        let answer = try await Self.alternatives(2)
        try await Self.run(TreeEngine(road: Self.road), .init()) { navigator, vehicle in
            var plan = Self.fast
            plan.preview = .untilStarted
            let places = Mutex<[Coordinate]>([])
            plan.guide.observe = { change in
                if case .position(let place, _) = change { places.withLock { $0.append(place) } }
            }
            let drive = Task { [plan] in try await navigator.drive(answer, .vehicles(["car"]), plan) }
            _ = try await Self.state(of: vehicle) { !$0.previews.isEmpty }
            #expect(await vehicle.startTrip("another trip") == .invalid)
            #expect(await vehicle.startTrip("trip-1", routeChoice: 3) == .invalid)
            #expect(await vehicle.startTrip("trip-1", routeChoice: 2) == .accepted)
            #expect(try await drive.value == .arrived)
            // The second route is 200 m away there.
            let nearest = places.withLock { $0.map { $0.meters(to: Self.road[20]) }.min() ?? 0 }
            #expect(nearest > 150)
        }
    }

    @Test func `without a start guidance begins on the best route when the preview is over`() async throws {
        let answer = try await Self.alternatives(2)
        try await Self.run(TreeEngine(road: Self.road), .init()) { navigator, vehicle in
            var plan = Self.fast
            plan.preview = .atMost(.milliseconds(50))
            let outcome = try await navigator.drive(answer, .vehicles(["car"]), plan)
            #expect(outcome == .arrived)
            // There is nothing to start any more.
            #expect(await vehicle.startTrip("trip-1") != .accepted)
        }
    }

    @Test func `a requested drive begins with a preview if the client wants that`() async throws {
        let follows = Mutex<Bool?>(nil)
        var policy = Navigator.Policy()
        policy.onDestination = .preview
        try await Self.run(
            TreeEngine(road: Self.road), policy,
            onUpdate: { update in
                if case .requestEnded(_, let ending) = update.content {
                    follows.withLock { $0 = ending.previewFollows }
                }
            }
        ) { navigator, vehicle in
            #expect(await vehicle.requestDestination(Waypoint(center: Self.road[30])) == .accepted)
            for await assignment in await navigator.assignments {
                #expect(assignment.isPreview)
                break
            }
            while follows.withLock({ $0 }) == nil { await Task.yield() }
        }
        #expect(follows.withLock { $0 } == true)
    }

    @Test func `a route is chosen by its id, and the first start counts`() async throws {
        var preview = PreviewedTrip(try await Self.alternatives(3), id: "t")
        #expect(preview.shown.selectedRouteChoice == 1)
        let choices: [UInt32?] = [4, 0, 3, nil]
        let areChosen = choices.map { preview.choose($0) }
        #expect(areChosen == [false, false, true, true])
        #expect(preview.shown.selectedRouteChoice == 3 && preview.trip.travelEstimates == nil)
        #expect(preview.shown.travelEstimates?.distanceRemaining == preview.route.distance)
        preview.start(on: 4)
        #expect(!preview.isStarted)
        preview.start(on: 2)
        preview.start(on: 1)
        #expect(preview.isStarted && preview.shown.selectedRouteChoice == 2)
    }

    @Test(.timeLimit(.minutes(1))) func `nothing is assigned once the connection is closed`() async throws {
        try await Self.run(TreeEngine(road: Self.road), .init()) { navigator, _ in
            await navigator.close()
            for await _ in await navigator.assignments { Issue.record("nothing was asked for") }
        }
    }

    @Test func `the end of a request that was not counted hides no request that is open`() async throws {
        let tree = TreeEngine(road: Self.road)
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "wn-\(UInt32.random(in: 0 ... .max))").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: folder) } }
        try await Demo.withDaemon(folder) {
            let client = try await NavigationClient.connect(
                to: .unix(path: "\(folder)/navigation.sock"), .init(id: "app"))
            let session = try await client.openSession(vehicles: .vehicles(["car"]))
            let answer = try await tree.route(through: [
                Waypoint(center: Self.road[0]), Waypoint(center: Self.road[40]),
            ])
            let time = Mutex(Duration.zero)
            let finishedAt = Mutex(Duration.zero)
            var options = Guide.Options()
            options.drive.speedFactor = 1_000
            options.pace = Pace(
                now: { time.withLock { $0 } }, sleep: { step in time.withLock { $0 += step } })
            options.observe = { change in
                if case .finished = change { finishedAt.withLock { $0 = time.withLock { $0 } } }
            }
            let guide = Guide(session, answer.routes[0], trip: answer.trip(id: "t"), options: options)
            await guide.inquiryEnded("car", isAccepted: false)
            #expect(await guide.inquiryBegan("car"))
            #expect(try await guide.run() == .arrived)
            // A vehicle stands so long at its destination while a request of it is open.
            #expect(time.withLock { $0 } - finishedAt.withLock { $0 } >= .seconds(90))
            await client.close()
        }
    }
}
