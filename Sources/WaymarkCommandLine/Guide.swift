internal import WaymarkClient
internal import WaymarkGuidance
internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRoutes

/// Drives along routes and publishes the changes, for `navigate` and `demo`: performs what a ``GuideMachine`` decides.
actor Guide {
    typealias Detour = GuideMachine.Detour

    /// How a drive ended.
    enum End: Sendable {
        case arrived, stopped, cancelled, lost

        fileprivate init(_ end: GuideMachine.End) {
            switch end {
            case .arrived: self = .arrived
            case .stopped: self = .stopped
            case .cancelled: self = .cancelled
            case .lost: self = .lost
            }
        }
    }

    /// How a guide drives.
    struct Options: Sendable {
        var drive = DriveOptions()
        /// Where the drive begins on the first route, in metres from its start.
        var startMeters = 0.0
        /// The vehicle stands at the start until ``Guide/simulate(_:)`` lets it drive.
        var waitsForSimulation = false
        /// Computes a route from a place through the stops ahead; nil if there is none.
        var findWay: @Sendable (Coordinate, [Waypoint]) async -> EngineRoute? = { _, _ in nil }
        /// Called once, when the given part of the first route is driven; the drive waits for it.
        var pause: (at: Double, body: @Sendable () async -> Void)?
        /// Alerts, each shown after so many metres.
        var alerts: [(meters: Double, alert: NavigationAlert)] = []
        /// Called with each line about the drive, for people.
        var say: (@Sendable (String) -> Void)?
        /// Called once guidance has begun.
        var whenStarted: (@Sendable () -> Void)?
        /// Called with every change before it is published.
        var observe: (@Sendable (DriveChange) -> Void)?
        var pace = Pace.realTime()

        /// What decides without a clock.
        fileprivate var machine: GuideMachine.Options {
            var options = GuideMachine.Options()
            options.drive = self.drive
            options.startMeters = self.startMeters
            options.standsAt = self.pause?.at
            options.alerts = self.alerts
            return options
        }
    }

    /// An order of its user during a drive.
    enum Order: String, Sendable {
        /// The vehicle stands, and guidance is paused.
        case pause
        /// Drives on after a pause.
        case resume
        /// Ends guidance here, as at the destination.
        case finish
    }

    /// The work of the next step.
    private enum Request {
        case order(Order)
        case simulate(SimulatedDrive)
    }

    private let session: NavigationSession
    private let options: Options
    private var machine: GuideMachine
    /// The requests for the next steps, oldest first.
    private var requests: [Request] = []
    private var isPaused = false
    /// The vehicle stands until it is asked to simulate the drive.
    private var stands = false
    private var isFinished = false
    private var report = DriveReport()
    /// The instant that the machine knows.
    private var steppedAt = Instant(nanoseconds: 0)

    /// A guide that drives `route` of `trip` in `session`.
    init(_ session: NavigationSession, _ route: EngineRoute, trip: Trip, options: Options) {
        self.session = session
        self.options = options
        self.machine = GuideMachine(route, trip: trip, options: options.machine)
    }

    /// The vehicle's position.
    var position: Coordinate { self.machine.position }
    /// The stops ahead, and the destination.
    var waypointsAhead: [Waypoint] { self.machine.waypointsAhead }
    var reroutes: Int { self.machine.reroutes }

    // MARK: Requests of vehicles

    /// See ``GuideMachine/stop(endingSegment:)``.
    func stop(endingSegment segment: String) -> Waypoint? { self.machine.stop(endingSegment: segment) }

    /// See ``GuideMachine/waypoints(with:before:)``.
    func waypoints(with stop: Waypoint, before next: Waypoint?) -> (waypoints: [Waypoint], stopIndex: Int) {
        self.machine.waypoints(with: stop, before: next)
    }

    /// `vehicle` has requested a stop: the drive does not end before the outcome.
    ///
    /// - Returns: false if the drive has ended.
    @discardableResult
    func inquiryBegan(_ vehicle: String) -> Bool { self.machine.inquiryBegan(vehicle) }

    /// Sets the route to drive if the request of `vehicle` is accepted.
    func promise(_ route: EngineRoute, to vehicle: String) { self.promise(Detour(route: route), to: vehicle) }

    /// Sets the detour to drive if the request of `vehicle` is accepted.
    func promise(_ detour: Detour, to vehicle: String) { self.machine.promise(detour, to: vehicle) }

    /// A request of `vehicle` has an outcome; if it was accepted, its oldest detour is driven.
    func inquiryEnded(_ vehicle: String, isAccepted: Bool) {
        self.machine.inquiryEnded(vehicle, isAccepted: isAccepted)
    }

    /// A request of `vehicle` was accepted: `detour` is driven.
    func accept(_ detour: Detour, for vehicle: String) { self.machine.accept(detour, for: vehicle) }

    /// The session is over: ``run()`` returns.
    func stop() { self.machine.stop() }

    /// Cancels the guidance: ``run()`` tells the vehicles and returns.
    func cancel() { self.machine.cancel() }

    /// The next step does what the user asks for.
    func obey(_ order: Order) { self.requests.append(.order(order)) }

    /// The next step lets the vehicle drive, at the speed that is asked for, or stand. Of what was asked since the last step only the newest
    /// counts.
    func simulate(_ drive: SimulatedDrive) {
        self.requests.removeAll { if case .simulate = $0 { true } else { false } }
        self.requests.append(.simulate(drive))
    }

    // MARK: The drive

    /// Guides to the end of the drive or of the session.
    func run() async throws -> End {
        var actions: [GuideMachine.Action] = []
        self.steppedAt = self.now
        self.machine.begin(at: self.steppedAt, into: &actions)
        if self.options.waitsForSimulation {
            // The first step says where the vehicle is.
            self.machine.advance(to: self.steppedAt, into: &actions)
            self.machine.stand(at: self.steppedAt)
            self.stands = true
        }
        while true {
            // Performing one may add others.
            var next = 0
            while next < actions.count {
                if case .ended(let end) = actions[next] { return self.isFinished ? .arrived : End(end) }
                try await self.perform(actions[next], &actions)
                next += 1
            }
            actions.removeAll(keepingCapacity: true)
            guard self.requests.isEmpty else {
                self.steppedAt = self.now
                switch self.requests.removeFirst() {
                case .order(let order): self.carryOut(order, into: &actions)
                case .simulate(let drive): self.carryOut(drive)
                }
                continue
            }
            // Why the whole time, though performing took a part of it: on a busy machine the drive would leave no time to its vehicles.
            let delay = self.machine.deadline.map { $0 - self.steppedAt } ?? GuideMachine.tick
            // A drive that stands still has nothing to do for seconds, and its user may ask for something.
            let isIdle = self.isPaused || self.stands || self.isFinished
            try await self.options.pace.sleep(max(.zero, isIdle ? min(delay, GuideMachine.tick) : delay))
            self.steppedAt = self.now
            self.machine.advance(to: self.steppedAt, into: &actions)
        }
    }

    private func carryOut(_ order: Order, into actions: inout [GuideMachine.Action]) {
        switch order {
        case .pause where !self.isPaused:
            self.isPaused = true
            self.machine.stand(at: self.steppedAt)
            self.machine.flushEstimates(at: self.steppedAt, into: &actions)
            actions.append(.publish(.pauseGuidance(.loading, description: [])))
        case .resume where self.isPaused:
            self.isPaused = false
            actions.append(.publish(.resumeGuidance(generation: 0, .unknown, nil)))
            self.machine.restateManeuver()
            if !self.stands { self.machine.standOver(at: self.steppedAt) }
        case .finish where !self.isFinished:
            self.isFinished = true
            self.machine.flushEstimates(at: self.steppedAt, into: &actions)
            actions.append(.publish(.finishGuidance))
            self.machine.stop()
        case .pause, .resume, .finish: break
        }
    }

    private func carryOut(_ drive: SimulatedDrive) {
        switch drive.action {
        case .start:
            self.machine.setSpeed(drive.speedFactor)
            guard self.stands else { return }
            self.stands = false
            if !self.isPaused { self.machine.standOver(at: self.steppedAt) }
        case .stop:
            self.stands = true
            self.machine.stand(at: self.steppedAt)
        case .unrecognized: break  // Of a newer peer.
        }
    }

    private var now: Instant { Instant(nanoseconds: self.options.pace.now().nanoseconds) }

    private func perform(
        _ action: GuideMachine.Action, _ actions: inout [GuideMachine.Action]
    ) async throws {
        switch action {
        case .publish(let publication): try await self.publish(publication)
        case .changed(let change):
            self.options.observe?(change)
            self.say(self.report.lines(change, self.machine.drive.route, at: self.options.pace.now()))
        case .began: self.options.whenStarted?()
        case .rerouted(let route, let trip, let reason):
            self.say(self.report.lines(rerouted: route, trip, reason))
        case .noRoute: self.say(["the stop cannot be added: there is no new route"])
        case .findWay(let position, let stops):
            let route = await self.options.findWay(position, stops)
            self.steppedAt = self.now
            self.machine.found(route, at: self.steppedAt, into: &actions)
        case .stands:
            await self.options.pause?.body()
            self.steppedAt = self.now
            self.machine.standOver(at: self.steppedAt)
        case .ended: break
        }
    }

    private func say(_ lines: [String]) {
        guard let say = self.options.say else { return }
        for line in lines { say(line) }
    }

    /// The session sets the generation.
    private func publish(_ publication: Publication) async throws {
        switch publication {
        case .startGuidance(let trip, _, let route): try await self.session.start(trip, route: route)
        case .updateTrip(let trip): try await self.session.updateTrip(trip)
        case .upcomingManeuvers(let ids, _): try await self.session.setUpcomingManeuvers(ids)
        case .maneuverState(let state, _): try await self.session.setManeuverState(state)
        case .currentLaneGuidance(let id, _): try await self.session.setCurrentLaneGuidance(id)
        case .plain(let state): try await self.session.publish(state)
        case .currentRouteSegment(let id, _): try await self.session.setCurrentSegment(id)
        case .tripEstimates(let estimates, let color):
            try await self.session.updateTripEstimates(estimates, color: color)
        case .maneuverEstimates(let id, let estimates, _):
            try await self.session.updateEstimates(of: id, estimates)
        case .speedLimit(let limit, let next): try await self.session.setSpeedLimit(limit, next: next)
        case .pauseGuidance(let reason, _): try await self.session.pause(reason)
        case .resumeGuidance(_, let reason, let route):
            try await self.session.resume(route: route, reason: reason)
        case .showAlert(let alert): try await self.session.show(alert)
        case .finishGuidance: try await self.session.finish()
        case .cancelGuidance: try await self.session.cancel()
        // The machine publishes none of these.
        case .tripPreviews, .addManeuvers, .addLaneGuidances, .addRouteSegments, .dismissAlert,
            .shareDestination, .publishExtension:
            break
        }
    }
}

/// A guide's clock, which need not be the wall clock.
struct Pace: Sendable {
    /// Since any fixed instant.
    var now: @Sendable () -> Duration
    var sleep: @Sendable (Duration) async throws -> Void

    /// The wall clock.
    static func realTime() -> Pace {
        let start = ContinuousClock.now
        return Pace(now: { ContinuousClock.now - start }, sleep: { try await Task.sleep(for: $0) })
    }
}
