package import WaymarkClient
package import WaymarkGuidance
package import WaymarkHistory
package import WaymarkModel
package import WaymarkProtocol
package import WaymarkRoutes
package import WaymarkScenario

/// A simulated navigation client: the client library's machine, a guide that drives, and what its user does.
package struct RigClient: RigPeer {
    /// How it answers a vehicle that wants to stop on the way.
    package enum WaypointReply: String, Sendable, Hashable, CaseIterable {
        /// The vehicle's user is asked.
        case accept
        /// Its own user agrees.
        case ownPrompt = "own-prompt"
        case decline, ignore
    }

    /// What it waits for before it starts guidance.
    package enum Awaited: String, Sendable, Hashable, CaseIterable {
        case nothing, joined, ready
        /// It shows its trip to choose from, and a vehicle starts it.
        case tripRequest = "trip-request"
    }

    /// What the client's user does.
    package struct Behaviour: Sendable {
        package var onWaypoint = WaypointReply.accept
        package var onDestination = Reply.accept
        package var onStartTrip = Reply.accept
        package var answerAfter = Duration.zero
        /// The route with a stop; nil: the same route, with the stop among its waypoints.
        package var detour: EngineRoute?
        package var awaits = Awaited.joined
        /// How often it wants receipts of displays; nil: not at all.
        package var receipts: Duration?
        /// It stands until it is asked to simulate its drive.
        package var simulatesWhenAsked = false

        package init() {}
    }

    /// A drive.
    package struct Plan: Sendable {
        package var answer: RouteAnswer
        package var vehicles: SessionVehicles
        package var guide: GuideMachine.Options

        /// A drive along the best route of an answer.
        package init(
            _ answer: RouteAnswer, _ vehicles: SessionVehicles, _ guide: GuideMachine.Options = .init()
        ) {
            (self.answer, self.vehicles, self.guide) = (answer, vehicles, guide)
        }
    }

    package typealias Output = ClientMachine.Output

    private enum Answer: Sendable, Hashable {
        case waypoint(InquiryID, Waypoint, segment: String)
        case ownPrompt(InquiryID)
        case destination(DestinationInquiryID)
        case start(InquiryID, StartTripInquiry)
    }

    /// A trip that it shows to choose from.
    private struct Preview: Sendable {
        var trip: Trip
        let answer: RouteAnswer

        /// Selects a route choice of the trip; nil: leaves the selection.
        mutating func choose(_ routeChoice: UInt32?) {
            guard let choice = routeChoice ?? self.trip.selectedRouteChoice else { return }
            self.trip = self.answer.preview(id: self.trip.id, choosing: Int(choice) - 1)
        }

        /// The route of the selected choice.
        var route: EngineRoute { self.answer.routes[Int(self.trip.selectedRouteChoice ?? 1) - 1] }
    }

    package let id: PeerID
    package var behaviour: Behaviour
    /// Changes what it publishes, as a faulty client would; nil: nothing.
    package var mutation: ActionMutation?
    /// The present drive, or the last one.
    package private(set) var guide: GuideMachine?
    /// The name of its session, while it is open.
    package private(set) var session: Identifier?
    /// How the drives ended, in order.
    package private(set) var ends: [EndReason] = []
    /// The outcomes of its shares, in order.
    package private(set) var shares: [Result<[String: RequestResult], ClientError>] = []
    private let hello: NavigationHello
    private var link: LinkMachine<ClientMachine>
    private var plan: Plan?
    /// The vehicles of the session: whether a display is ready.
    private var joined: [String: Bool] = [:]
    private var answers: [(due: Instant, answer: Answer)] = []
    /// Detours by the request that they answer.
    private var offers: [InquiryID: GuideMachine.Detour] = [:]
    /// Trips that it shows to choose from, and those that it starts by the request that asks for them.
    private var previews: [Preview] = []
    private var hasPreviewed = false
    private var starts: [InquiryID: Preview] = [:]
    private var standsUntil: Instant?
    /// The speed at which it simulates its drives; nil: it stands until it is asked.
    private var simulatedSpeed: Double?
    /// It is not connected and does not try: not yet, or not any more.
    private var isAway = true
    private var nextCall = 0
    private var drives = 0
    private var random: SeededRandom

    /// A client that connects at ``LinkEvent/open``.
    ///
    /// - Throws: What is wrong with the Hello.
    package init(
        _ hello: NavigationHello, _ behaviour: Behaviour = .init(), seed: UInt64
    ) throws(ClientError) {
        self.id = .client(hello.client)
        self.hello = hello
        self.behaviour = behaviour
        self.random = SeededRandom(seed: seed)
        self.link = LinkMachine(inRun: try ClientMachine(hello), &self.random)
    }

    package var storage: VehicleLimits? { nil }
    package var connection: ConnectionState { self.link.state }
    /// Everything that was published has been sent, and the gateway has it.
    package var isAccepted: Bool { self.session.map { self.link.peer.isAccepted($0) } ?? true }

    package var deadline: Instant? {
        [
            self.isAway ? nil : self.link.deadline, self.guide?.deadline, self.standsUntil,
            self.answers.map(\.due).min(),
        ].compactMap(\.self).min()
    }

    // MARK: Events

    package mutating func handle(_ event: LinkEvent, at now: Instant, into actions: inout [PeerAction]) {
        if case .open = event { self.isAway = false }
        if case .deadlineReached = event { self.doWhatIsDue(at: now, into: &actions) }
        guard !self.isAway else { return }
        var linkActions: [LinkAction<Output>] = []
        self.link.handle(event, at: now, into: &linkActions)
        self.perform(linkActions, at: now, into: &actions)
    }

    private mutating func doWhatIsDue(at now: Instant, into actions: inout [PeerAction]) {
        let due = self.answers.filter { $0.due <= now }
        self.answers.removeAll { $0.due <= now }
        for (_, answer) in due { self.give(answer, at: now, into: &actions) }
        if let standsUntil, standsUntil <= now {
            self.standsUntil = nil
            self.guide?.standOver(at: now)
        }
        if let deadline = self.guide?.deadline, deadline <= now {
            self.drive(at: now, into: &actions) { $0.advance(to: now, into: &$1) }
        }
    }

    private mutating func perform(
        _ linkActions: [LinkAction<Output>], at now: Instant, into actions: inout [PeerAction]
    ) {
        for action in linkActions {
            switch action {
            case .output(let output): self.perform(output, at: now, into: &actions)
            default: actions += [PeerAction](action)
            }
        }
    }

    private mutating func perform(_ output: Output, at now: Instant, into actions: inout [PeerAction]) {
        switch output {
        case .told(.vehicleChanged(let vehicle, let standing, let endpoints), self.session):
            self.joined[vehicle] = standing == .joined ? endpoints.contains(where: \.isReady) : nil
            self.beginIfReady(at: now, into: &actions)
        case .ended(let reason, self.session): self.endSession(reason, at: now, into: &actions)
        case .notOpened(self.session): self.session = nil
        case .asked(let inquiry, let id):
            self.guide?.inquiryBegan(inquiry.vehicle)
            self.later(
                .waypoint(id, inquiry.waypoint, segment: inquiry.segment),
                unless: self.behaviour.onWaypoint == .ignore, at: now, into: &actions)
        case .askedToStart(let inquiry, let id):
            self.later(
                .start(id, inquiry), unless: self.behaviour.onStartTrip == .ignore, at: now, into: &actions)
        case .told(.previewSelected(_, _, let trip, let routeChoice), self.session):
            self.select(trip, routeChoice, at: now, into: &actions)
        case .inquiryEnded(let id, let result): self.end(id, result, at: now, into: &actions)
        case .askedForDestination(_, let id):
            self.later(
                .destination(id), unless: self.behaviour.onDestination == .ignore, at: now, into: &actions)
        case .shared(_, let outcome): self.shares.append(outcome)
        case .askedToSimulate(let drive): self.simulate(drive, at: now)
        case .log(let note): actions.append(.log(note.line))
        case .returned, .told, .ended, .notOpened, .destinationInquiryEnded: break
        }
    }

    private mutating func beginIfReady(at now: Instant, into actions: inout [PeerAction]) {
        guard let plan, self.guide?.hasBegun == false, self.isReady(plan.vehicles) else { return }
        guard self.behaviour.awaits != .tripRequest else {
            if !self.hasPreviewed { self.preview([plan.answer], at: now, into: &actions) }
            return
        }
        self.drive(at: now, into: &actions) { $0.begin(at: now, into: &$1) }
        guard self.behaviour.simulatesWhenAsked else { return }
        if let speed = self.simulatedSpeed { return self.guide?.setSpeed(speed) ?? () }
        // The first step says where the vehicle is.
        self.drive(at: now, into: &actions) { $0.advance(to: now, into: &$1) }
        self.guide?.stand(at: now)
    }

    /// It is asked to simulate its drive, or to stand.
    private mutating func simulate(_ drive: SimulatedDrive, at now: Instant) {
        guard self.behaviour.simulatesWhenAsked else { return }
        switch drive.action {
        case .start:
            self.simulatedSpeed = drive.speedFactor
            self.guide?.setSpeed(drive.speedFactor)
            self.guide?.standOver(at: now)
        case .stop:
            self.simulatedSpeed = nil
            self.guide?.stand(at: now)
        case .unrecognized: break
        }
    }

    private func isReady(_ vehicles: SessionVehicles) -> Bool {
        func isReady(_ vehicle: String) -> Bool {
            self.joined[vehicle].map { self.behaviour.awaits != .ready || $0 } ?? false
        }
        guard self.behaviour.awaits != .nothing else { return true }
        return switch vehicles {
        case .vehicles(let names): names.allSatisfy(isReady)
        case .anyThatAsked: self.joined.keys.contains(where: isReady)
        }
    }

    private mutating func endSession(
        _ reason: EndReason, at now: Instant, into actions: inout [PeerAction]
    ) {
        self.session = nil
        self.joined = [:]
        self.offers = [:]
        (self.previews, self.starts) = ([], [:])
        self.ends.append(reason)
        guard self.guide?.isOver == false else { return }
        self.guide?.stop()
        self.drive(at: now, into: &actions) { $0.advance(to: now, into: &$1) }
    }

    // MARK: Driving

    /// Opens a session for a drive, and begins it when its vehicles are there. A drive under way is given up.
    ///
    /// - Throws: What is wrong with the vehicles, or why the connection is closed.
    package mutating func drive(
        _ plan: Plan, at now: Instant, into actions: inout [PeerAction]
    ) throws(ClientError) {
        if self.session != nil { self.publish(.cancelGuidance, at: now, into: &actions) }
        self.nextCall += 1
        self.drives += 1
        let (call, receipts) = (self.nextCall, self.behaviour.receipts)
        var linkActions: [LinkAction<Output>] = []
        self.session = try self.link.use(at: now, into: &linkActions) {
            (client, _) throws(ClientError) in
            try client.open(
                plan.vehicles, receipts: receipts, answersWaypoints: true, answersStarts: true, call: call)
        }
        self.plan = plan
        self.joined = [:]
        (self.previews, self.starts, self.hasPreviewed) = ([], [:], false)
        self.standsUntil = nil
        self.guide = GuideMachine(
            plan.answer.routes[0], trip: plan.answer.trip(id: "trip-\(self.drives)"), options: plan.guide)
        self.perform(linkActions, at: now, into: &actions)
        self.beginIfReady(at: now, into: &actions)
    }

    /// Lets the guide do something, and performs its actions.
    private mutating func drive(
        at now: Instant, into actions: inout [PeerAction],
        _ body: (inout GuideMachine, inout [GuideMachine.Action]) -> Void
    ) {
        guard var guide = self.guide else { return }
        self.guide = nil
        var guideActions: [GuideMachine.Action] = []
        body(&guide, &guideActions)
        self.guide = guide
        for action in guideActions { self.performMutated(action, at: now, into: &actions) }
    }

    private mutating func performMutated(
        _ action: GuideMachine.Action, at now: Instant, into actions: inout [PeerAction]
    ) {
        for action in self.mutation?(action, at: now) ?? [action] {
            self.perform(action, at: now, into: &actions)
        }
    }

    private mutating func perform(
        _ action: GuideMachine.Action, at now: Instant, into actions: inout [PeerAction]
    ) {
        switch action {
        case .publish(let publication): self.send(publication, at: now, into: &actions)
        // Back to the route that it left: there is no engine.
        case .findWay:
            let route = self.guide?.drive.route
            self.drive(at: now, into: &actions) { $0.found(route, at: now, into: &$1) }
        case .stands: self.guide?.standOver(at: now)
        case .ended(let end): actions.append(.log("the drive ended: \(end)"))
        case .changed, .began, .rerouted, .noRoute: break
        }
    }

    /// Publishes in its session. A pause or an end of guidance follows the estimates of the guide that still wait.
    package mutating func publish(
        _ publication: Publication, at now: Instant, into actions: inout [PeerAction]
    ) {
        switch publication {
        case .pauseGuidance, .finishGuidance, .cancelGuidance:
            self.drive(at: now, into: &actions) { $0.flushEstimates(at: now, into: &$1) }
        default: break
        }
        self.performMutated(.publish(publication), at: now, into: &actions)
    }

    private mutating func send(
        _ publication: Publication, at now: Instant, into actions: inout [PeerAction]
    ) {
        guard let session = self.session else { return }
        var linkActions: [LinkAction<Output>] = []
        do throws(ClientError) {
            try self.link.use(at: now, into: &linkActions) { (client, outputs) throws(ClientError) in
                try client.publish(publication, in: session, into: &outputs)
            }
        } catch {
            actions.append(.log("\(publication.type) was not published: \(error)"))
        }
        self.perform(linkActions, at: now, into: &actions)
    }

    // MARK: What the user does

    /// Ends the drive: at its destination, or before.
    package mutating func end(isFinished: Bool, at now: Instant, into actions: inout [PeerAction]) {
        self.publish(isFinished ? .finishGuidance : .cancelGuidance, at: now, into: &actions)
        self.guide?.stop()
        self.drive(at: now, into: &actions) { $0.advance(to: now, into: &$1) }
    }

    /// Pauses guidance; the vehicle stands.
    package mutating func pause(_ reason: PauseReason, at now: Instant, into actions: inout [PeerAction]) {
        self.standsUntil = nil
        self.guide?.stand(at: now)
        self.publish(.pauseGuidance(reason, description: []), at: now, into: &actions)
    }

    /// Resumes guidance, and the vehicle drives on.
    package mutating func resume(at now: Instant, into actions: inout [PeerAction]) {
        self.publish(.resumeGuidance(generation: 0, .unknown, nil), at: now, into: &actions)
        self.guide?.restateManeuver()
        self.guide?.standOver(at: now)
    }

    /// The vehicle stands for a time, and nothing is paused.
    package mutating func stand(for duration: Duration, at now: Instant) {
        self.guide?.stand(at: now)
        self.standsUntil = now + duration
    }

    /// Continues on another route.
    package mutating func reroute(to route: EngineRoute, _ reason: RerouteReason) {
        self.guide?.reroute(to: route, reason)
    }

    /// Offers the destination to the vehicles, before guidance that of the first trip of the previews; ``shares`` has the outcome.
    package mutating func shareDestination(at now: Instant, into actions: inout [PeerAction]) {
        let driven = self.guide.flatMap { $0.hasBegun ? $0.trip : nil }
        guard let session = self.session, let trip = driven ?? self.previews.first?.trip else { return }
        let named = driven == nil ? trip.id : ""
        self.nextCall += 1
        let call = self.nextCall
        var linkActions: [LinkAction<Output>] = []
        do throws(ClientError) {
            try self.link.use(at: now, into: &linkActions) { (client, outputs) throws(ClientError) in
                try client.share(
                    trip.destination, ofTrip: named, id: "share-\(call)", in: session, call: call,
                    into: &outputs)
            }
        } catch {
            self.shares.append(.failure(error))
        }
        self.perform(linkActions, at: now, into: &actions)
    }

    /// Shows trips to choose from.
    package mutating func preview(
        _ answers: [RouteAnswer], at now: Instant, into actions: inout [PeerAction]
    ) {
        self.hasPreviewed = true
        self.previews = answers.enumerated().map {
            Preview(trip: $1.preview(id: "preview-\($0 + 1)"), answer: $1)
        }
        self.showPreviews(selected: self.previews.first?.trip.id ?? "", at: now, into: &actions)
    }

    private mutating func showPreviews(
        selected: String, at now: Instant, into actions: inout [PeerAction]
    ) {
        self.publish(
            .tripPreviews(self.previews.map(\.trip), selected: selected), at: now, into: &actions)
    }

    /// A vehicle has selected a trip: shows the previews with this selection.
    private mutating func select(
        _ trip: String, _ routeChoice: UInt32?, at now: Instant, into actions: inout [PeerAction]
    ) {
        guard let index = self.index(ofPreview: trip) else { return }
        self.previews[index].choose(routeChoice)
        self.showPreviews(selected: self.previews[index].trip.id, at: now, into: &actions)
    }

    private func index(ofPreview trip: String) -> Int? {
        self.previews.firstIndex { Identifier($0.trip.id) == Identifier(trip) }
    }

    /// Starts guidance on a trip that it has shown.
    private mutating func start(_ preview: Preview, at now: Instant, into actions: inout [PeerAction]) {
        guard let plan = self.plan else { return }
        var trip = preview.trip
        trip.travelEstimates = nil
        self.previews = []
        self.guide = GuideMachine(preview.route, trip: trip, options: plan.guide)
        self.drive(at: now, into: &actions) { $0.begin(at: now, into: &$1) }
    }

    // MARK: Answers

    private mutating func later(
        _ answer: Answer, unless isIgnored: Bool, at now: Instant, into actions: inout [PeerAction]
    ) {
        guard !isIgnored else { return }
        guard self.behaviour.answerAfter > .zero else { return self.give(answer, at: now, into: &actions) }
        self.answers.append((now + self.behaviour.answerAfter, answer))
    }

    private mutating func give(_ answer: Answer, at now: Instant, into actions: inout [PeerAction]) {
        switch answer {
        case .waypoint(let id, let stop, let segment):
            switch self.behaviour.onWaypoint {
            case .decline: self.reply(id, .decline(.declinedByUser), at: now, into: &actions)
            case .ignore: break
            case .accept, .ownPrompt: self.offer(id, stop, segment, at: now, into: &actions)
            }
        case .ownPrompt(let id): self.reply(id, .accept, at: now, into: &actions)
        case .start(let id, let inquiry):
            guard self.behaviour.onStartTrip == .accept else {
                return self.reply(id, .decline(.declinedByUser), at: now, into: &actions)
            }
            guard let index = self.index(ofPreview: inquiry.trip) else {
                return self.reply(id, .decline(.invalid), at: now, into: &actions)
            }
            self.starts[id] = self.previews[index]
            self.starts[id]?.choose(inquiry.routeChoice)
            self.reply(id, .accept, at: now, into: &actions)
        case .destination(let id):
            let isAccepted = self.behaviour.onDestination == .accept
            let accepted: DestinationAnswer =
                self.behaviour.awaits == .tripRequest ? .acceptWithPreview : .accept
            var linkActions: [LinkAction<Output>] = []
            self.link.use(at: now, into: &linkActions) { client, _ in
                client.answerDestination(id, isAccepted ? accepted : .decline(.declinedByUser))
            }
            self.perform(linkActions, at: now, into: &actions)
            guard isAccepted, var plan = self.plan else { return }
            plan.vehicles = .vehicles([id.vehicle.rawValue])
            do throws(ClientError) { try self.drive(plan, at: now, into: &actions) } catch {
                actions.append(.log("the drive that a vehicle asked for did not begin: \(error)"))
            }
        }
    }

    private mutating func reply(
        _ id: InquiryID, _ answer: ClientMachine.InquiryAnswer, at now: Instant,
        into actions: inout [PeerAction]
    ) {
        var linkActions: [LinkAction<Output>] = []
        self.link.use(at: now, into: &linkActions) { $0.answer(id, answer, into: &$1) }
        self.perform(linkActions, at: now, into: &actions)
    }

    /// Offers the way through a stop.
    private mutating func offer(
        _ id: InquiryID, _ stop: Waypoint, _ segment: String, at now: Instant,
        into actions: inout [PeerAction]
    ) {
        guard let guide = self.guide else {
            return self.reply(id, .decline(.invalid), at: now, into: &actions)
        }
        var route = self.behaviour.detour ?? guide.drive.route
        if self.behaviour.detour != nil {
            route.takeKind(of: stop)
        } else {
            let next = guide.stop(endingSegment: segment)
            let ahead = guide.waypoints(with: stop, before: next)
            let index = route.waypoints.count - guide.waypointsAhead.count + ahead.stopIndex - 1
            route.waypoints.insert(stop, at: index)
        }
        self.offers[id] = GuideMachine.Detour(route: route)
        guard self.behaviour.onWaypoint == .accept else {
            self.reply(id, .ownPrompt, at: now, into: &actions)
            return self.later(.ownPrompt(id), unless: false, at: now, into: &actions)
        }
        let rest = Drive(route: route, from: guide.position, after: guide.drive.meters).information
            .tripTravelEstimates
        let whole = TravelEstimates(distanceRemaining: route.distance, timeRemaining: route.duration)
        self.reply(id, .estimates(rest ?? whole), at: now, into: &actions)
    }

    private mutating func end(
        _ id: InquiryID, _ result: RequestResult, at now: Instant, into actions: inout [PeerAction]
    ) {
        if let preview = self.starts.removeValue(forKey: id) {
            if result == .accepted { self.start(preview, at: now, into: &actions) }
            return
        }
        let detour = self.offers.removeValue(forKey: id)
        if result == .accepted, let detour {
            self.guide?.accept(detour, for: id.vehicle.rawValue)
        } else {
            self.guide?.inquiryEnded(id.vehicle.rawValue, isAccepted: false)
        }
    }

    // MARK: Leaving and coming back

    /// Leaves; with `cut` it is away until it returns. The vehicle drives on.
    package mutating func leave(_ how: Leaving, at now: Instant, into actions: inout [PeerAction]) {
        switch how {
        case .goodbye: self.handle(.close, at: now, into: &actions)
        case .cut:
            guard !self.isAway else { return }
            self.isAway = true
            actions.append(.closeTransport)
        }
    }

    /// Comes back after it left: with the token of its last Welcome and its sessions, or as a client that was just started.
    ///
    /// - Throws: What is wrong with the Hello.
    package mutating func comeBack(
        withToken: Bool, at now: Instant, into actions: inout [PeerAction]
    ) throws(ClientError) {
        guard self.isAway || self.link.isFinished else { return }
        self.isAway = false
        var machine = self.link.peer
        if !withToken {
            machine = try ClientMachine(self.hello)
            self.session = nil
            self.guide?.stop()
        }
        self.link = LinkMachine(inRun: machine, &self.random)
        self.handle(.open, at: now, into: &actions)
    }
}
