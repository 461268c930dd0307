internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkRoutes

/// The navigation app of `waymark navigate`: guides vehicles along routes and answers what they ask for.
actor Navigator {
    /// How it answers.
    struct Policy: Sendable {
        enum OnWaypoint: String, Sendable, CaseIterable { case accept, decline, ownUI = "own-ui" }
        enum OnDestination: String, Sendable, CaseIterable { case accept, decline }

        var onWaypoint = OnWaypoint.accept
        var onDestination = OnDestination.decline
    }

    /// A drive that a vehicle has asked for.
    struct Assignment: Sendable {
        let answer: RouteAnswer
        let vehicles: SessionVehicles
    }

    /// So long is the end of a drive waited for: as long as a gateway waits for a client by default.
    private static let confirmationMax = Duration.seconds(30)
    /// The same for somebody who has interrupted the program.
    private static let interruptionMax = Duration.seconds(2)

    private let engine: (any RoutingEngine)?
    private let policy: Policy
    private let options: DriveOptions
    /// Where a vehicle is that has not been guided yet.
    private let start: Coordinate?
    /// What vehicles asked for and were promised.
    let assignments: AsyncStream<Assignment>
    private let assign: AsyncStream<Assignment>.Continuation
    private var client: NavigationClient?
    private var guides: [Int: Guide] = [:]
    private var nextDrive = 1
    private var position: Coordinate?
    private var isCancelled = false

    init(engine: (any RoutingEngine)?, policy: Policy, options: DriveOptions, start: Coordinate?) {
        self.engine = engine
        self.policy = policy
        self.options = options
        self.start = start
        // A vehicle may be promised one drive at a time; more than a few that wait are refused.
        (self.assignments, self.assign) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(16))
    }

    /// Registers at the gateway.
    func connect(to address: ServiceAddress, id: String, key: [UInt8]) async throws(ClientError) {
        var configuration = NavigationClient.Configuration(id: id)
        configuration.credential = key
        configuration.onConnection = { Terminal.note("connection: \($0)") }
        if self.policy.onDestination == .accept {
            configuration.onDestination = { await self.answer($0) }
        }
        self.client = try await NavigationClient.connect(to: address, configuration)
    }

    /// Says goodbye, once everything that was published is on its way.
    func close() async { await self.client?.close() }

    /// Cancels all drives; nothing new begins.
    func cancel() async {
        self.isCancelled = true
        self.assign.finish()
        for guide in self.guides.values { await guide.cancel() }
    }

    /// Guides `vehicles` along the best route of `answer`, to the end.
    func drive(_ answer: RouteAnswer, _ vehicles: SessionVehicles) async throws {
        guard let client = self.client, !self.isCancelled else { return }
        let number = self.nextDrive
        self.nextDrive += 1
        let (policy, engine) = (self.policy.onWaypoint, self.engine)
        let session = try await client.openSession(
            vehicles: vehicles,
            onEvent: { await self.take($0, drive: number) },
            onWaypoint: { inquiry in
                guard let guide = await self.guides[number] else { return .decline(.busy) }
                return await Self.answer(inquiry, guide, policy, engine)
            })
        let events = await session.events
        var options = Guide.Options()
        options.drive = self.options
        options.findWay = { position, stops in await Self.way(from: position, stops, engine, answer.routes[0])
        }
        let guide = Guide(
            session, answer.routes[0], trip: answer.trip(id: "trip-\(number)"), options: options)
        self.guides[number] = guide
        if self.isCancelled { await guide.cancel() }
        defer { self.guides[number] = nil }
        let end = try await guide.run()
        self.position = await guide.position
        // Until the gateway has confirmed it, also one that is away for a while: else its vehicles would wait for the end.
        let limit = self.isCancelled ? Self.interruptionMax : Self.confirmationMax
        _ = await first(within: limit) { for await _ in events {} }
        Terminal.line("drive \(number): \(end)")
    }

    private func take(_ event: SessionEvent, drive number: Int) async {
        Terminal.line(Terminal.printable("drive \(number): \(event.line)"))
        switch event {
        case .ended: await self.guides[number]?.stop()
        case .waypointResult(let vehicle, let result):
            await self.guides[number]?.inquiryEnded(vehicle, isAccepted: result == .accepted)
        default: break  // Only told.
        }
    }

    // MARK: What vehicles ask for

    /// A vehicle that nobody guides wants to be driven: promised once there is a route.
    private func answer(_ inquiry: DestinationInquiry) async -> DestinationAnswer {
        guard let engine = self.engine, let position = self.position ?? self.start else {
            Terminal.note("\(inquiry.vehicle) asks for a drive; that needs --engine and --from")
            return .decline(.notSupported)
        }
        guard !self.isCancelled else { return .decline(.busy) }
        do throws(RoutingError) {
            let answer = try await engine.route(through: [Waypoint(center: position), inquiry.destination])
            let assignment = Assignment(answer: answer, vehicles: .vehicles([inquiry.vehicle]))
            guard case .enqueued = self.assign.yield(assignment) else { return .decline(.busy) }
            return .accept
        } catch {
            Terminal.note("\(error)")
            return .decline(.invalid)
        }
    }

    /// Answers a vehicle's wish for a stop with a route that an engine computes.
    private static func answer(
        _ inquiry: WaypointInquiry, _ guide: Guide, _ policy: Policy.OnWaypoint,
        _ engine: (any RoutingEngine)?
    ) async -> WaypointAnswer {
        guard policy != .decline else { return .decline(.declinedByUser) }
        guard let engine else { return .decline(.notSupported) }
        await guide.inquiryBegan(inquiry.vehicle)
        let waypoints = await guide.waypoints(with: inquiry.waypoint, intoSegment: inquiry.segment)
        let route: EngineRoute
        do throws(RoutingError) { route = try await engine.route(through: waypoints).routes[0] } catch {
            Terminal.note("\(error)")
            return .decline(.invalid)
        }
        await guide.promise(route, to: inquiry.vehicle)
        guard policy != .ownUI else { return .ownPrompt { true } }
        let estimates = TravelEstimates(distanceRemaining: route.distance, timeRemaining: route.duration)
        return .estimates(estimates) { /* The guide goes on when it hears the result. */  }
    }

    /// Another way to where the vehicle wants to go; without an engine, back to the route that it left.
    private static func way(
        from position: Coordinate, _ stops: [Waypoint], _ engine: (any RoutingEngine)?, _ route: EngineRoute
    ) async -> EngineRoute? {
        guard let engine else { return route }
        do throws(RoutingError) {
            return try await engine.route(through: [Waypoint(center: position)] + stops).routes[0]
        } catch {
            Terminal.note("\(error)")
            return nil
        }
    }
}
