public import WaymarkClient
internal import WaymarkHistory
public import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkScenario

extension Rig {
    /// A vehicle in a run, and what its user does.
    ///
    /// All calls take effect at once and let no time pass.
    public struct Vehicle: Peer {
        /// Its run.
        public let rig: Rig
        let id: VehicleID

        init(_ rig: Rig, _ id: VehicleID) { (self.rig, self.id) = (rig, id) }

        /// Its name.
        public var name: PeerName { PeerName(.vehicle(self.id)) }

        /// The state that its first endpoint holds.
        public var state: VehicleState { self.first?.state ?? VehicleState() }
        /// Whether its first endpoint is connected.
        public var isConnected: Bool { self.first?.isConnected ?? false }

        private var first: Endpoint? {
            self.rig.vehicle(self.id)?.endpoints.first.map { Endpoint(self.rig, self.id, $0.name) }
        }

        /// Adds another endpoint, e.g. a head-up display, before the run begins.
        ///
        /// - Parameters:
        ///   - name: 1 to 64 of `A-Z a-z 0-9 . _ : -`, and not `gateway`.
        ///   - profile: What it can do.
        /// - Returns: The endpoint.
        /// - Throws: ``RigError`` for a wrong argument.
        @discardableResult public func addEndpoint(
            _ name: String, profile: Profile = .full
        ) throws(RigError) -> Endpoint {
            try self.rig.prepare("addEndpoint")
            guard name != "gateway", EndpointName(name) != nil else {
                throw RigError(
                    "name", "\(name) is not a name: 1 to 64 of A-Z a-z 0-9 . _ : -, and not gateway")
            }
            guard let index = self.rig.scenario.vehicles.firstIndex(where: { $0.id == self.id }) else {
                throw RigError("vehicle", "\(self.id) is no vehicle of this run")
            }
            var endpoint = Scenario.Endpoint(name: EndpointName(unchecked: name))
            if self.rig.scenario.vehicles[index].endpoints.contains(where: { $0.name == endpoint.name }) {
                throw RigError("name", "\(self.id) has an endpoint \(name) already")
            }
            endpoint.profile = try self.rig.reference(profile)
            self.rig.scenario.vehicles[index].endpoints.append(endpoint)
            return Endpoint(self.rig, self.id, endpoint.name)
        }

        /// Returns one of its endpoints, by name: the first one is `cluster`.
        ///
        /// - Throws: ``RigError`` if there is none of that name.
        public func endpoint(_ name: String) throws(RigError) -> Endpoint {
            let names = self.rig.vehicle(self.id)?.endpoints.map(\.name.rawValue) ?? []
            guard names.contains(name) else {
                throw RigError(
                    "endpoint", "\(self.id) has no \(name); it has \(names.joined(separator: ", "))")
            }
            return Endpoint(self.rig, self.id, EndpointName(unchecked: name))
        }

        // MARK: Requests

        /// Asks for a stop on the way; ``Rig/Expectation/outcome(_:within:)`` expects how it ends.
        ///
        /// - Parameters:
        ///   - place: Degrees, WGS 84.
        ///   - name: At most 512 letters.
        ///   - segment: The route segment to insert it into, at most 128 letters; empty: the client chooses.
        ///   - stopKind: Why the stop is made; nil: not said.
        ///   - id: To withdraw it by, 1 to 64 letters; nil: one of the rig.
        /// - Throws: ``RigError`` for a wrong argument.
        public func requestStop(
            at place: Coordinate, name: String = "", segment: String = "", stopKind: StopKind? = nil,
            id: String? = nil
        ) async throws {
            var request = try Self.request(.waypoint(place), place, name, id)
            try Check.text(segment, "segment", 0...128)
            (request.segment, request.stopKind) = (segment, stopKind)
            try self.perform(.request(request))
        }

        /// Asks for a drive to another destination.
        ///
        /// - Parameters:
        ///   - place: Degrees, WGS 84.
        ///   - name: At most 512 letters.
        ///   - id: To withdraw it by, 1 to 64 letters; nil: one of the rig.
        /// - Throws: ``RigError`` for a wrong argument.
        public func requestDrive(to place: Coordinate, name: String = "", id: String? = nil) async throws {
            try self.perform(.request(try Self.request(.destination(place), place, name, id)))
        }

        private static func request(
            _ kind: Scenario.Action.Request.Place, _ place: Coordinate, _ name: String, _ id: String?
        ) throws(RigError) -> Scenario.Action.Request {
            guard abs(place.latitude) <= 90, abs(place.longitude) <= 180 else {
                throw RigError("place", "must have a latitude of -90 to 90 and a longitude of -180 to 180")
            }
            try Check.text(name, "name", 0...512)
            if let id { try Check.text(id, "id", 1...64) }
            var request = Scenario.Action.Request(place: kind)
            (request.name, request.id) = (name, id)
            return request
        }

        /// Asks for the start of a trip of the previews; ``Rig/Expectation/outcome(_:within:)`` expects how it ends.
        ///
        /// - Parameters:
        ///   - trip: The trip's id, 1 to 128 letters; those of ``Rig/Client/preview(_:)`` are `preview-1` and so on.
        ///   - routeChoice: The id of one of its route choices, not 0; nil: the selected one, or the first.
        ///   - id: To withdraw it by, 1 to 64 letters; nil: one of the rig.
        /// - Throws: ``RigError`` for a wrong argument.
        public func startTrip(
            _ trip: String, routeChoice: UInt32? = nil, id: String? = nil
        ) async throws {
            try Check.text(trip, "trip", 1...128)
            if let routeChoice { try Check.id(routeChoice, "routeChoice") }
            if let id { try Check.text(id, "id", 1...64) }
            var request = Scenario.Action.Request(place: .trip(trip, routeChoice: routeChoice))
            request.id = id
            try self.perform(.request(request))
        }

        /// Tells the client which trip of the previews is selected.
        ///
        /// - Parameters:
        ///   - trip: The trip's id, 1 to 128 letters.
        ///   - routeChoice: The id of one of its route choices, not 0; nil: the selected one, or the first.
        /// - Throws: ``RigError`` for a wrong argument.
        public func selectPreview(_ trip: String, routeChoice: UInt32? = nil) async throws {
            try Check.text(trip, "trip", 1...128)
            if let routeChoice { try Check.id(routeChoice, "routeChoice") }
            try self.perform(.selectPreview(trip: trip, routeChoice: routeChoice))
        }

        /// Takes back a request.
        ///
        /// - Parameter id: Of which one; nil: the last one.
        /// - Throws: ``RigError`` for a wrong id.
        public func withdrawRequest(_ id: String? = nil) async throws {
            if let id { try Check.text(id, "id", 1...64) }
            try self.perform(.withdraw(id ?? ""))
        }

        /// Answers the oldest question of a client that its user has not answered. Without one, nothing is sent, and the report says so.
        public func answerPrompt(accept: Bool) async throws {
            try self.perform(.answerPrompt(accept: accept))
        }

        /// Answers the oldest destination that a client offered and that its user has not answered. Without one, nothing is sent, and the
        /// report says so.
        public func answerDestination(accept: Bool) async throws {
            try self.perform(.answerDestination(accept: accept))
        }

        // MARK: Guidance and display

        /// Ends guidance.
        public func cancelNavigation(_ reason: CancellationReason = .userStopped) async throws {
            try self.perform(.cancel(reason == .userStopped ? .userStopped : .ownNavigationStarted))
        }

        /// Allows guidance again, after its own navigation.
        public func allowNavigation() async throws { try self.perform(.allowGuidance) }

        /// Says what it does with the route.
        public func setRouteSource(_ source: RouteSource) async throws {
            try self.perform(.routeSource(source))
        }

        /// Says how far it gets on the route that it has; with another `generation`, on another route.
        public func setRouteFeedback(
            _ stops: [StopFeedback], firstUnreachableSegment: String? = nil, generation: UInt32? = nil
        ) async throws {
            let feedback = Scenario.Action.Feedback(
                stops: stops, firstUnreachableSegment: firstUnreachableSegment, generation: generation)
            try self.perform(.routeFeedback(feedback))
        }

        /// Asks the client for the destination of a trip preview, or, while guided, of the trip that is driven (empty).
        public func wantDestination(ofTrip trip: String = "") async throws {
            try self.perform(.wantDestination(trip: trip))
        }

        /// Changes settings of its display.
        ///
        /// - Throws: ``RigError`` if `settings` has none.
        public func update(_ settings: DisplaySettings) async throws {
            guard settings != DisplaySettings() else { throw RigError("settings", "must have a setting") }
            var changed = Scenario.Action.Settings()
            changed.isReady = settings.isReadyToShow
            (changed.contentStyle, changed.compass) = (settings.contentStyle, settings.compass)
            changed.speedLimit = settings.speedLimit
            changed.limitedUserInterfaces = settings.limitedUserInterfaces?.rawValue
            try self.perform(.set(changed))
        }

        /// Zooms the map of the cluster.
        public func zoom(_ direction: ZoomDirection) async throws { try self.perform(.zoom(direction)) }

        /// Asks the client that guides to simulate its drive, or to stop.
        ///
        /// - Parameters:
        ///   - action: Start, or stop.
        ///   - speed: How many times faster than real time, 0.01 ... 1 000.
        /// - Throws: ``RigError`` for a wrong speed.
        public func simulateDrive(_ action: SimulationAction, speed: Double = 1) async throws {
            guard (0.01...1_000).contains(speed) else { throw RigError("speed", "must be 0.01 to 1000") }
            try self.perform(.simulateDrive(action, speed: speed))
        }

        /// Answers an alert.
        ///
        /// - Parameters:
        ///   - alert: Its id, not 0.
        ///   - action: The id of the action that its user chose, not 0; nil: the alert was dismissed.
        /// - Throws: ``RigError`` for a wrong id.
        public func respondToAlert(_ alert: UInt32, action: UInt32? = nil) async throws {
            try Check.id(alert, "alert")
            try Check.id(action, "action")
            try self.perform(.respondToAlert(alert, action: action))
        }
    }

    /// One endpoint of a vehicle in a run, e.g. its cluster.
    public struct Endpoint: Peer {
        /// Its run.
        public let rig: Rig
        private let vehicle: VehicleID
        private let endpoint: EndpointName

        init(_ rig: Rig, _ vehicle: VehicleID, _ endpoint: EndpointName) {
            (self.rig, self.vehicle, self.endpoint) = (rig, vehicle, endpoint)
        }

        /// Its name.
        public var name: PeerName { PeerName(.endpoint(self.vehicle, self.endpoint)) }
        /// The state that it holds.
        public var state: VehicleState { self.moment?.state ?? VehicleState() }
        /// Whether it is connected.
        public var isConnected: Bool { self.moment?.isConnected ?? false }

        private var moment: EndpointHistory.Moment? {
            self.rig.moment(of: .endpoint(self.vehicle, self.endpoint))
        }
    }
}
