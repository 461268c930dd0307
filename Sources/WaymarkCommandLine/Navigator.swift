internal import WaymarkClient
internal import WaymarkGuidance
internal import WaymarkModel
internal import WaymarkRoutes
internal import WaymarkTexts

/// The navigation app of `waymark navigate`: guides vehicles along routes and answers their requests.
actor Navigator {
    /// How it answers requests.
    struct Policy: Sendable {
        enum OnWaypoint: String, Sendable, CaseIterable { case accept, decline, ownUI = "own-ui" }
        enum OnDestination: String, Sendable, CaseIterable { case accept, preview, decline }

        var onWaypoint = OnWaypoint.accept
        var onDestination = OnDestination.decline
        /// Whether its vehicles stand until a vehicle or an observer asks for a simulated drive.
        var simulatesWhenAsked = false
        /// The time in which displays are asked once what they have received and shown; nil: they are not asked.
        var receipts: Duration?
    }

    /// What happens before and during a drive.
    struct Plan: Sendable {
        var guide = Guide.Options()
        /// What to wait for before guidance starts.
        var awaited = VehicleRoster.Awaited.no
        /// The longest wait; nil: without limit.
        var awaitMax: Duration?
        /// Whether the trip is shown before guidance starts.
        var preview = Preview.no
        /// Whether the destination is offered to the vehicles.
        var sharesDestination = false
    }

    /// Whether vehicles choose a route before guidance starts, which each of them can start.
    enum Preview: Sendable {
        case no
        /// Guidance starts by itself after this time.
        case atMost(Duration)
        /// A preview of which only a vehicle starts guidance.
        case untilStarted

        var limit: Duration? { if case .atMost(let limit) = self { limit } else { nil } }
    }

    /// A drive that a vehicle, or the user, has requested.
    struct Assignment: Sendable {
        let answer: RouteAnswer
        let vehicles: SessionVehicles
        /// Whether the vehicle chooses a route and starts the drive.
        var isPreview = false
        /// The plan of the drive; nil: that of drives that vehicles request.
        var plan: Plan?
    }

    /// A drive under way.
    private struct Record: Sendable {
        let session: NavigationSession
        var roster: VehicleRoster
        /// nil while vehicles are awaited.
        var trip: Trip?
        /// The number of times that a vehicle wanted the destination.
        var wantedCount = 0
        /// The trip that vehicles choose from; nil unless there is a preview.
        var preview: PreviewedTrip?
        /// nil before guidance.
        var guide: Guide?
        /// Yields when the roster changes.
        var changed: AsyncStream<Void>.Continuation?
        /// Called at an interruption, once the end is waited for.
        var hurry: (@Sendable () -> Void)?
    }

    /// The longest wait for the gateway's confirmation of the end: as long as a gateway waits for a client by default.
    private static let confirmationMax = Duration.seconds(30)
    /// The same for a user who has interrupted the program, before or during that wait.
    private static let interruptionMax = Duration.milliseconds(400)

    private let engine: (any RoutingEngine)?
    private var policy: Policy
    /// The position of a vehicle that was not guided yet.
    private let start: Coordinate?
    /// Called with each line about a drive.
    private let say: @Sendable (String) -> Void
    /// Drives that vehicles requested and this client accepted, and those that its user began.
    let assignments: AsyncStream<Assignment>
    private let assign: AsyncStream<Assignment>.Continuation
    private var client: NavigationClient?
    private var drives: [Int: Record] = [:]
    private var nextDrive = 1
    private var position: Coordinate?
    private var isCancelled = false
    /// The drive that was asked for last; nil: none yet.
    private var simulation: SimulatedDrive?
    private var story = Story()
    /// Why the connection is over for good; nil while it is not, and if this program closed it.
    private(set) var connectionError: ClientError?

    init(
        engine: (any RoutingEngine)?, policy: Policy, start: Coordinate? = nil,
        say: @escaping @Sendable (String) -> Void = { Terminal.line(Terminal.printable($0)) }
    ) {
        self.engine = engine
        self.policy = policy
        self.start = start
        self.say = say
        // Each vehicle has at most one accepted drive; more than 16 in the queue are declined.
        (self.assignments, self.assign) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(16))
    }

    /// Connects to the gateway.
    func connect(to address: ServiceAddress, id: String, key: [UInt8]) async throws(ClientError) {
        var configuration = NavigationClient.Configuration(id: id)
        configuration.credential = key
        configuration.reconnection.refusalDelay = nil
        configuration.extensions = [Self.gauges]
        if self.policy.onDestination != .decline {
            configuration.onDestination = { await self.answer($0) }
        }
        // The newest counts; what a peer asks in a loop takes the place of what it asked before.
        let (simulations, simulation) = AsyncStream.makeStream(
            of: SimulatedDrive.self, bufferingPolicy: .bufferingNewest(16))
        if self.policy.simulatesWhenAsked { configuration.onSimulateDrive = { simulation.yield($0) } }
        let client = try await NavigationClient.connect(to: address, configuration)
        self.client = client
        Task { for await drive in simulations { await self.simulate(drive) } }
        let states = await client.connectionStates
        Task { for await state in states { self.apply(state) } }
    }

    /// Tells on standard error what happens to the connection. When it is closed for good, no further drive is assigned.
    private func apply(_ state: ConnectionState) {
        if let line = self.story.sentence(for: state) { Terminal.note(line) }
        guard case .closed(let error) = state else { return }
        if error != .closed { self.connectionError = error }
        self.assign.finish()
    }

    /// Lets the vehicles of all drives, or one of them, drive or stand from now on; also those of drives that begin later.
    private func simulate(_ drive: SimulatedDrive) async {
        let factor = Int((drive.speedFactor * 100).rounded())
        self.say(drive.action == .start ? "simulates the drive at \(factor) % of its speed" : "stands")
        self.simulation = drive
        for record in self.drives.values where record.roster.concerns(drive) {
            await record.guide?.simulate(drive)
        }
    }

    /// Begins a drive that the user asks for.
    func begin(_ assignment: Assignment) {
        guard case .enqueued = self.assign.yield(assignment) else {
            return Terminal.note("too many drives wait")
        }
    }

    /// Shows vehicles that request a drive its routes first, from now on.
    func previewDestinations() { self.policy.onDestination = .preview }

    /// Does what the user asks for with the newest drive.
    func obey(_ order: Guide.Order) async {
        guard let guide = self.newest?.guide else { return Terminal.note("no drive to \(order.rawValue)") }
        await guide.obey(order)
    }

    /// Cancels the newest drive.
    func cancelNewest() async {
        guard let record = self.newest else { return Terminal.note("no drive to cancel") }
        if let guide = record.guide { await guide.cancel() } else { await Self.cancel(record.session) }
    }

    /// Publishes a value that vehicles with the extension ``gauges`` show in the newest drive. It takes the place of the last one of its key.
    func publishGauge(_ key: UInt16, _ value: UInt8) async {
        guard let session = self.newest?.session else { return Terminal.note("no drive to gauge") }
        do throws(ClientError) {
            try await session.publishExtension(Self.gauges, [value], key: key, isRetained: true)
        } catch {
            Terminal.note("the gauge was not published: \(error)")
        }
    }

    /// The extension of gauges, whose content is one byte.
    private static let gauges = "org.example.gauges"

    private var newest: Record? { self.drives.max { $0.key < $1.key }?.value }

    /// Closes the connection after everything that was published was sent.
    func close() async { await self.client?.close() }

    /// Cancels all drives; no further one begins.
    func cancel() async {
        self.isCancelled = true
        self.assign.finish()
        for record in self.drives.values {
            record.changed?.yield()
            record.hurry?()
            if let guide = record.guide { await guide.cancel() } else { await Self.cancel(record.session) }
        }
    }

    private static func cancel(_ session: NavigationSession) async {
        do throws(ClientError) { try await session.cancel() } catch { /* It is over already. */  }
    }

    // MARK: A drive

    /// Guides `vehicles` along the best route of `answer`, to the end.
    func drive(
        _ answer: RouteAnswer, _ vehicles: SessionVehicles, _ plan: Plan = Plan()
    ) async throws -> DriveOutcome {
        guard let client = self.client, !self.isCancelled else { return .cancelled }
        let number = self.nextDrive
        self.nextDrive += 1
        let session = try await client.openSession(
            vehicles: vehicles, receipts: self.policy.receipts,
            onWaypoint: { inquiry, _ in await self.answer(inquiry, drive: number) },
            onStartTrip: { inquiry, _ in await self.answer(inquiry, drive: number) })
        self.drives[number] = Record(session: session, roster: VehicleRoster(vehicles))
        defer { self.drives[number] = nil }
        let events = await session.events
        let reader = Task { for await event in events { await self.apply(event, drive: number) } }
        let end = try await self.guide(number, session, answer, plan)
        // Waits for the gateway's confirmation, also during a lost connection: else its vehicles would not be told of the end.
        await self.awaitConfirmation(reader, drive: number)
        reader.cancel()
        let roster = self.drives[number]?.roster
        let outcome =
            end.flatMap { roster?.outcome(of: $0) }
            ?? .notBegun(roster?.missing(plan.awaited) ?? [], plan.awaited)
        self.say("drive \(number): \(outcome)")
        return outcome
    }

    /// Waits until the events of a drive are over, or for as long as the user or the gateway is patient.
    private func awaitConfirmation(_ reader: Task<Void, Never>, drive number: Int) async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
        let done = Task {
            await reader.value
            end.yield()
        }
        let limit = Task { await Self.wait(Self.confirmationMax, then: end) }
        self.drives[number]?.hurry = { Task { await Self.wait(Self.interruptionMax, then: end) } }
        if self.isCancelled { self.drives[number]?.hurry?() }
        for await _ in ends { break }
        self.drives[number]?.hurry = nil
        for task in [done, limit] { task.cancel() }
    }

    private static func wait(_ limit: Duration, then end: AsyncStream<Void>.Continuation) async {
        do { try await Task.sleep(for: limit) } catch { return }
        end.yield()
    }

    /// Waits for the vehicles and guides them; nil if they did not connect in time.
    private func guide(
        _ number: Int, _ session: NavigationSession, _ answer: RouteAnswer, _ plan: Plan
    ) async throws -> Guide.End? {
        guard await self.awaitVehicles(number, plan) else {
            await Self.cancel(session)
            if self.isCancelled { return .cancelled }
            return self.drives[number]?.roster.end == nil ? nil : .stopped
        }
        do {
            guard let previewed = try await self.preview(number, session, answer, plan.preview) else {
                return .cancelled
            }
            let (trip, route) = (previewed.trip, previewed.route)
            self.drives[number]?.trip = trip
            var options = plan.guide
            // A vehicle may have chosen a shorter route than the first one.
            options.startMeters = min(options.startMeters, route.measure.length)
            let (engine, say) = (self.engine, self.say)
            options.findWay = { await Self.way(from: $0, $1, engine, route) }
            options.say = { say("drive \(number): \($0)") }
            options.waitsForSimulation = self.policy.simulatesWhenAsked
            if plan.sharesDestination { options.whenStarted = { Self.share(trip, session) } }
            let guide = Guide(session, route, trip: trip, options: options)
            self.drives[number]?.guide = guide
            if let simulation = self.simulation, self.drives[number]?.roster.concerns(simulation) == true {
                await guide.simulate(simulation)
            }
            if self.isCancelled { await guide.cancel() }
            let end = try await guide.run()
            self.position = await guide.position
            return end
        } catch let error as ClientError {
            guard case .sessionEnded = error else { throw error }
            return .stopped
        }
    }

    /// Shows the trip as long as `preview` says, or until a vehicle starts it.
    ///
    /// - Returns: The trip with the route that was chosen last; nil if this program was interrupted meanwhile.
    private func preview(
        _ number: Int, _ session: NavigationSession, _ answer: RouteAnswer, _ preview: Preview
    ) async throws -> PreviewedTrip? {
        let previewed = PreviewedTrip(answer, id: "trip-\(number)")
        if case .no = preview { return previewed }
        self.drives[number]?.preview = previewed
        self.drives[number]?.trip = previewed.shown
        defer { self.drives[number]?.preview = nil }
        try await session.showPreviews([previewed.shown], selected: previewed.id)
        _ = await self.wait(number, atMost: preview.limit) {
            $0.roster.end != nil || $0.preview?.isStarted == true
        }
        return self.isCancelled ? nil : self.drives[number]?.preview ?? previewed
    }

    /// Whether there are vehicles to guide.
    private func awaitVehicles(_ number: Int, _ plan: Plan) async -> Bool {
        guard plan.awaited != .no else { return true }
        let awaited = plan.awaited
        if let roster = self.drives[number]?.roster, !roster.isComplete(awaited) {
            let names = roster.missing(awaited)
            let limit = plan.awaitMax.map { ", for \(secondsText($0 / .seconds(1))) at most" } ?? ""
            Terminal.note(
                "waiting for \(names.isEmpty ? "a vehicle" : names.joined(separator: ", ")) to be "
                    + "\(awaited.rawValue)\(limit) (--await-vehicle no starts at once)")
        }
        let isDone = await self.wait(number, atMost: plan.awaitMax) {
            $0.roster.end != nil || $0.roster.isComplete(awaited)
        }
        guard let roster = self.drives[number]?.roster, roster.end == nil, !self.isCancelled else {
            return false
        }
        return isDone || roster.hasOne(awaited)
    }

    /// Waits until `isDone` is true of the drive; false after `limit`, or if interrupted.
    private func wait(
        _ number: Int, atMost limit: Duration?, until isDone: @escaping @Sendable (Record) -> Bool
    ) async -> Bool {
        let (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.drives[number]?.changed = changed
        changed.yield()
        let body: @Sendable () async -> Bool = {
            for await _ in changes {
                guard let record = await self.record(number) else { return false }
                if isDone(record) { return true }
            }
            return false
        }
        guard let limit else { return await body() }
        return await first(within: limit, body) ?? false
    }

    /// A drive; nil once it has ended, or this program was interrupted.
    private func record(_ number: Int) -> Record? { self.isCancelled ? nil : self.drives[number] }

    private func apply(_ event: SessionEvent, drive number: Int) async {
        self.say("drive \(number): \(event.line)")
        self.drives[number]?.roster.apply(event)
        self.drives[number]?.changed?.yield()
        let guide = self.drives[number]?.guide
        switch event {
        case .ended: await guide?.stop()
        case .waypointResult(let vehicle, let ending):
            // `answer` handles an accepted request with estimates.
            if !ending.isAccepted || self.policy.onWaypoint == .ownUI {
                await guide?.inquiryEnded(vehicle, isAccepted: ending.isAccepted)
            }
        case .destinationWanted(_, _, let wanted): self.shareWanted(wanted, drive: number)
        case .previewSelected(_, _, _, let choice): await self.select(choice, drive: number)
        case .startTripResult(let vehicle, let ending) where !ending.isAccepted:
            if self.drives[number]?.preview?.asker == vehicle { self.drives[number]?.preview?.asker = nil }
        case .alertResponse(_, let alert, _):
            do throws(ClientError) {
                try await self.drives[number]?.session.dismissAlert(alert, .userDismissed)
            } catch { /* The session is over. */  }
        default: break  // Only told.
        }
    }

    /// Offers the destination that a vehicle wants.
    private func shareWanted(_ wanted: String, drive number: Int) {
        guard let drive = self.drives[number], let trip = drive.trip else { return }
        self.drives[number]?.wantedCount += 1
        Self.share(trip, drive.session, ofTrip: wanted, shareID: "\(trip.id)-wanted-\(drive.wantedCount + 1)")
    }

    /// Offers the destination to the vehicles; events tell their answers.
    private static func share(
        _ trip: Trip, _ session: NavigationSession, ofTrip named: String = "", shareID: String? = nil
    ) {
        Task {
            do throws(ClientError) {
                try await session.share(trip.destination, ofTrip: named, shareID: shareID ?? trip.id)
            } catch {
                Terminal.note("the destination was not shared: \(error)")
            }
        }
    }

    // MARK: Previews

    /// A vehicle's user has selected a route of the preview: shows the trip with it.
    private func select(_ choice: UInt32?, drive number: Int) async {
        guard let record = self.drives[number], var preview = record.preview, !preview.isStarted,
            preview.choose(choice)
        else { return }
        self.drives[number]?.preview = preview
        do throws(ClientError) {
            try await record.session.showPreviews([preview.shown], selected: preview.id)
        } catch { /* The session is over. */  }
    }

    /// Answers a vehicle that wants to start the trip of the preview. The first of several vehicles starts it.
    private func answer(_ inquiry: StartTripInquiry, drive number: Int) -> StartTripAnswer {
        guard !self.isCancelled, var preview = self.drives[number]?.preview,
            preview.choose(inquiry.routeChoice)
        else { return .decline(.invalid) }
        guard !preview.isStarted, preview.asker ?? inquiry.vehicle == inquiry.vehicle else {
            return .decline(.busy)
        }
        self.drives[number]?.preview?.asker = inquiry.vehicle
        return .accept { await self.start(inquiry.routeChoice, drive: number) }
    }

    /// Ends the preview: guidance begins on the route of this choice.
    private func start(_ choice: UInt32?, drive number: Int) {
        self.drives[number]?.preview?.start(on: choice)
        self.drives[number]?.changed?.yield()
    }

    // MARK: Requests of vehicles

    /// Answers a vehicle that requests a drive: accepts it if there is a route.
    private func answer(_ inquiry: DestinationInquiry) async -> DestinationAnswer {
        guard let engine = self.engine, let position = self.position ?? self.start else {
            Terminal.note("\(inquiry.vehicle) asks for a drive; that needs --engine and --from")
            return .decline(.notSupported)
        }
        guard !self.isCancelled else { return .decline(.busy) }
        do throws(RoutingError) {
            let points = [Waypoint(center: position), inquiry.destination.closed]
            let isPreview = self.policy.onDestination == .preview
            let answer = try await engine.routes(
                through: points, choices: isPreview ? RouteAnswer.choicesMax : 1)
            // The request may have ended meanwhile, which cancels this task.
            guard !Task.isCancelled else { return .decline(.busy) }
            guard Self.leads(answer.routes[0], to: 1, of: points) else { return .decline(.invalid) }
            let assignment = Assignment(
                answer: answer, vehicles: .vehicles([inquiry.vehicle]), isPreview: isPreview)
            guard case .enqueued = self.assign.yield(assignment) else { return .decline(.busy) }
            return isPreview ? .acceptWithPreview : .accept
        } catch {
            if !Task.isCancelled { Terminal.note("\(error)") }
            return .decline(.invalid)
        }
    }

    /// Answers a vehicle that requests a stop, with a route that an engine computes.
    private func answer(_ inquiry: WaypointInquiry, drive number: Int) async -> WaypointAnswer {
        guard let guide = self.drives[number]?.guide else { return .decline(.invalid) }
        guard self.policy.onWaypoint != .decline else { return .decline(.declinedByUser) }
        guard let engine = self.engine else { return .decline(.notSupported) }
        let vehicle = inquiry.vehicle
        guard await guide.inquiryBegan(vehicle) else { return .decline(.invalid) }
        let next = await guide.stop(endingSegment: inquiry.segment)
        let stop = inquiry.waypoint.closed
        let (waypoints, index) = await guide.waypoints(with: stop, before: next)
        let route: EngineRoute
        do throws(RoutingError) { route = try await engine.route(through: waypoints).routes[0] } catch {
            // The request may have ended meanwhile, which cancels this task.
            if !Task.isCancelled { Terminal.note("\(error)") }
            return .decline(.invalid)
        }
        guard Self.leads(route, to: index, of: waypoints) else { return .decline(.invalid) }
        let detour = Guide.Detour(stop: stop, next: next, route: route)
        guard self.policy.onWaypoint != .ownUI else {
            await guide.promise(detour, to: vehicle)
            return .ownPrompt { true }
        }
        let estimates = TravelEstimates(distanceRemaining: route.distance, timeRemaining: route.duration)
        return .estimates(estimates) { await guide.accept(detour, for: vehicle) }
    }

    /// Whether `route` comes near enough to the waypoint at `index`; if not, prints how near it comes.
    private static func leads(_ route: EngineRoute, to index: Int, of waypoints: [Waypoint]) -> Bool {
        let limit = RoutingLimits.stopMetersMax
        guard let meters = route.metersMissed(waypoints.map(\.center))?[index] else {
            Terminal.note("the engine's route does not have the stops that were asked for")
            return false
        }
        guard meters > limit else { return true }
        let place = waypoints[index].center
        let name = waypoints[index].nameVariants.first ?? "\(place.latitude),\(place.longitude)"
        let distance = meters < 1_000 ? "\(Int(meters)) m" : "\(Int(meters / 1_000)) km"
        Terminal.note(
            "\(name) cannot be reached: the nearest road that the engine found is \(distance) away; "
                + "at most \(Int(limit)) m are allowed")
        return false
    }

    /// Another route to the vehicle's destination; without an engine, the route that it left.
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
