public import WaymarkClient
internal import WaymarkGuidance
internal import WaymarkHistory
public import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkScenario

extension Rig {
    /// A navigation client in a run, and what its user does.
    ///
    /// All calls take effect at once and let no time pass.
    public struct Client: Peer {
        /// Its run.
        public let rig: Rig
        let id: ClientID

        init(_ rig: Rig, _ id: ClientID) { (self.rig, self.id) = (rig, id) }

        /// Its name.
        public var name: PeerName { PeerName(.client(self.id)) }

        /// The position of its drive, in metres over all routes of the drive; 0 before it drives.
        public var meters: Double { self.rig.client(self.id)?.guide?.meters ?? 0 }
        /// The reasons for which its drives ended, in order.
        public var ends: [EndReason] { self.rig.client(self.id)?.ends ?? [] }

        // MARK: Driving

        /// Begins a drive. One that is under way is given up.
        ///
        /// - Parameters:
        ///   - route: nil: the client's, or that of the run.
        ///   - startAt: Where it begins; nil: as the client or the run says.
        ///   - speed: How many times faster than the engine's speeds, above 0, at most 10 000; nil: as the client or the run says.
        /// - Throws: ``RigError`` for a wrong argument, or without a route.
        public func drive(
            route: Route? = nil, startAt: Position? = nil, speed: Double? = nil
        ) async throws {
            try Check.speed(speed, "speed")
            var reference: Scenario.Reference?
            if let route { reference = try self.rig.reference(route) }
            let own = self.rig.scenario.clients.first { $0.id == self.id }?.route
            guard (reference ?? own ?? self.rig.scenario.route) != nil else {
                throw RigError("route", "\(self.id) has no route to drive")
            }
            let position = try startAt?.checked("startAt")
            try self.perform(.drive(route: reference, startAt: position, speed: speed))
        }

        /// Ends its drive at the destination.
        public func finish() async throws { try self.perform(.end(.finish)) }
        /// Ends its drive before the destination.
        public func cancel() async throws { try self.perform(.end(.cancel)) }

        /// Pauses guidance; the car stands.
        public func pause(_ reason: PauseReason) async throws { try self.perform(.pause(reason)) }
        /// Resumes guidance, and the car drives on.
        public func resume() async throws { try self.perform(.resume) }

        /// Lets the car stand for a time; guidance is not paused.
        ///
        /// - Throws: ``RigError`` for a wrong duration.
        public func stand(for duration: Duration) async throws {
            try Check.duration(duration, "duration")
            try self.perform(.standFor(duration))
        }

        /// Continues on another route.
        public func reroute(to route: Route, _ reason: RerouteReason = .unknown) async throws {
            try self.perform(.reroute(try self.rig.reference(route), reason))
        }

        // MARK: What the vehicle shows

        /// Shows an alert.
        ///
        /// - Parameters:
        ///   - id: Not 0.
        ///   - title: 1 to 512 letters.
        ///   - subtitle: At most 512 letters.
        ///   - actions: What the driver can choose, at most two, of 1 to 512 letters; their ids are 1 and 2.
        ///   - duration: nil: until it is dismissed.
        ///   - notification: Whether it may interrupt the display; nil: the vehicle decides.
        ///   - priority: Its importance among other alerts; nil: the vehicle decides.
        /// - Throws: ``RigError`` for a wrong argument.
        public func showAlert(
            _ id: UInt32, title: String, subtitle: String = "", actions: [String] = [],
            for duration: Duration? = nil, notification: NotificationStyle? = nil,
            priority: AlertPriority? = nil
        ) async throws {
            try Check.id(id, "id")
            try Check.text(title, "title", 1...512)
            try Check.text(subtitle, "subtitle", 0...512)
            try Check.number(actions.count, "actions.count", 0...2)
            for action in actions { try Check.text(action, "actions", 1...512) }
            try Check.duration(duration, "duration")
            try self.perform(
                .alert(
                    Scenario.Action.Alert(
                        id: id, title: title, subtitle: subtitle, actions: actions, duration: duration,
                        notification: notification, priority: priority)))
        }

        /// Dismisses an alert.
        ///
        /// - Parameter id: Not 0.
        /// - Throws: ``RigError`` for a wrong id.
        public func dismissAlert(_ id: UInt32) async throws {
            try Check.id(id, "id")
            try self.perform(.dismissAlert(id))
        }

        /// Offers the destination of its drive to the vehicles.
        public func shareDestination() async throws { try self.perform(.shareDestination) }

        /// Shows trips to choose from.
        ///
        /// - Parameter routes: At most 12; none hides them.
        /// - Throws: ``RigError`` for too many.
        public func preview(_ routes: [Route]) async throws {
            try Check.number(routes.count, "routes.count", 0...12)
            var references: [Scenario.Reference] = []
            for route in routes { references.append(try self.rig.reference(route)) }
            try self.perform(.preview(references))
        }
    }

    func client(_ id: ClientID) -> RigClient? { self.begun?.client(id) }
    func moment(of peer: PeerID) -> EndpointHistory.Moment? { self.begun?.moment(of: peer) }
}
