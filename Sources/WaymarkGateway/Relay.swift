package import WaymarkProtocol

/// The rule by which a frame waits for a client that does not read, see ``Outbox/append(_:as:mayExceedShare:)``.
///
/// What vehicles make the gateway send is bounded by this, so that one of them cannot close the connection of a client that guides others.
///
/// - Source: Docs/protocol.md, "What waits for a client".
package enum Relay: Sendable, Hashable, Codable {
    /// The newest one of a session, a type and an endpoint matters. The endpoint has no name if the state is the vehicle's.
    case state(EndpointPath)
    /// VehicleChanged: the newest one of a session and a vehicle matters.
    case standing(VehicleID)
    /// A part of a VehicleChanged in several frames. It waits behind older ones, and no newer one takes its place.
    case standingPart(VehicleID)
    /// SessionOpened: what follows about the session's vehicles waits behind it.
    case opened(SessionID)
    /// DestinationShareStatus: no newer standing of the vehicle goes before it.
    case share(VehicleID)
    /// An event of an endpoint, within its share. The connection is the one that sent it.
    case event(EndpointPath, ConnectionID)
    case request(VehicleID, Identifier)
    /// The end of a request. If the request still waits, the client gets neither.
    case outcome(VehicleID, Identifier)

    /// The rule for a message to a client; nil for one that waits behind all others and is never replaced. `connection` sent it.
    package init?(of envelope: Envelope, from connection: ConnectionID?) {
        switch envelope.message {
        case .vehicleChanged(let status):
            self = envelope.isPart ? .standingPart(status.vehicle) : .standing(status.vehicle)
        case .sessionOpened(let opened): self = .opened(opened.session)
        case .destinationShareStatus(let status): self = .share(status.vehicle)
        // Those that were made smaller for the client; the others are forwarded as they came.
        case .waypointRequest(let request):
            guard let vehicle = request.vehicle else { return nil }
            self = .request(vehicle, request.requestID)
        case .destinationRequest(let request):
            guard let vehicle = request.vehicle else { return nil }
            self = .request(vehicle, request.requestID)
        case .startTripRequest(let request):
            guard let vehicle = request.vehicle else { return nil }
            self = .request(vehicle, request.requestID)
        case .vehicleSettings(let settings):
            guard let source = settings.source else { return nil }
            self = .state(source)
        case .updateRouteSource(let update):
            guard let vehicle = update.vehicle else { return nil }
            self = .state(EndpointPath(ofVehicle: vehicle))
        case .selectPreview(let selection):
            guard let source = selection.source else { return nil }
            self = .state(EndpointPath(ofVehicle: source.vehicle))
        case .updateRouteFeedback(let update):
            guard let vehicle = update.vehicle else { return nil }
            self = .state(EndpointPath(ofVehicle: vehicle))
        case .receiptReport(let report):
            // A report for many endpoints has several parts. Each begins with another endpoint.
            guard let first = report.endpoints.first else { return nil }
            self = .state(EndpointPath(vehicle: first.vehicle, endpoint: first.endpoint))
        case .zoomCluster(let zoom):
            guard let source = zoom.source, let connection else { return nil }
            self = .event(source, connection)
        case .alertResponse(let response):
            guard let source = response.source, let connection else { return nil }
            self = .event(source, connection)
        case .vehicleExtension(let sent):
            guard let source = sent.source, let connection else { return nil }
            self = .event(source, connection)
        case .simulateDrive(let asked):
            guard let connection else { return nil }
            self = .event(asked.path, connection)
        case .destinationShareWanted(let wanted):
            guard let source = wanted.source, let connection else { return nil }
            self = .event(source, connection)
        case .requestOutcome(let outcome): self = .outcome(outcome.vehicle, outcome.requestID)
        default: return nil  // The others are bounded by what the client asks for.
        }
    }
}

extension SimulateDrive {
    /// The endpoint that asked. All observers together have one share of what waits for a client: that of an endpoint without names.
    fileprivate var path: EndpointPath {
        guard let vehicle = self.vehicle, let endpoint = self.endpoint else {
            return EndpointPath(ofVehicle: VehicleID(unchecked: ""))
        }
        return EndpointPath(vehicle: vehicle, endpoint: endpoint)
    }
}

extension EndpointPath {
    fileprivate init(ofVehicle vehicle: VehicleID) {
        self.init(vehicle: vehicle, endpoint: EndpointName(unchecked: ""))
    }
}

/// A limit of the events that wait for a client.
package enum EventLimit: Sendable, Hashable {
    /// ``Outbox/Limits/eventsPerEndpointMax``.
    case count(Int)
    /// ``Outbox/Limits/eventBytesPerEndpointMax``.
    case bytes(Int)
    /// The bytes of all endpoints.
    case bytesInAll(Int)

    /// Its row among the limits.
    var reached: ReachedLimit {
        switch self {
        case .count(let count): ReachedLimit("outbox_events_per_endpoint_max", count)
        case .bytes(let count): ReachedLimit("outbox_event_bytes_per_endpoint_max", count)
        // Half of it is for events.
        case .bytesInAll(let count): ReachedLimit("outbox_bytes_max", 2 * count)
        }
    }

    var reason: String {
        let event =
            switch self {
            case .count(let count): "\(count) events of this endpoint wait"
            case .bytes(let count): "\(count) bytes of events of this endpoint wait"
            case .bytesInAll(let count): "\(count) bytes of events of all endpoints wait"
            }
        return event + " for its client, which does not read"
    }
}

/// Counts of the events of endpoints that wait for a client.
struct EventShares: Sendable, Hashable {
    private struct Share: Hashable {
        var count = 0
        var byteCount = 0
    }

    /// The messages of a vehicle, or about it, that wait and that its standing must not overtake.
    private struct VehicleEvents: Hashable {
        var count = 0
        var last: UInt64 = 0
    }

    private var endpoints: [EndpointPath: Share] = [:]
    private var vehicles: [VehicleID: VehicleEvents] = [:]
    /// The bytes of all endpoints.
    private var byteCount = 0

    /// The limit that another event of an endpoint would exceed; nil if it may wait. One always may, however long it is, unless those of all
    /// endpoints fill half the outbox.
    func limit(
        reachedBy byteCount: Int, of endpoint: EndpointPath, _ limits: Outbox.Limits
    ) -> EventLimit? {
        if self.byteCount + byteCount > limits.bytesMax / 2 { return .bytesInAll(limits.bytesMax / 2) }
        guard let share = self.endpoints[endpoint] else { return nil }
        if share.count >= limits.eventsPerEndpointMax { return .count(limits.eventsPerEndpointMax) }
        let bytesMax = limits.eventBytesPerEndpointMax
        return share.byteCount + byteCount > bytesMax ? .bytes(bytesMax) : nil
    }

    /// The number of the last event of a vehicle that waits; nil if none waits.
    func last(of vehicle: VehicleID) -> UInt64? { self.vehicles[vehicle]?.last }

    mutating func add(_ byteCount: Int, of endpoint: EndpointPath, number: UInt64) {
        self.byteCount += byteCount
        self.endpoints[endpoint, default: Share()].count += 1
        self.endpoints[endpoint, default: Share()].byteCount += byteCount
        self.note(endpoint.vehicle, number: number)
    }

    /// Counts a message about a vehicle that is in no share.
    mutating func note(_ vehicle: VehicleID, number: UInt64) {
        self.vehicles[vehicle, default: VehicleEvents()].count += 1
        self.vehicles[vehicle, default: VehicleEvents()].last = number
    }

    mutating func remove(_ byteCount: Int, of endpoint: EndpointPath) {
        self.byteCount -= byteCount
        self.endpoints[endpoint]?.count -= 1
        self.endpoints[endpoint]?.byteCount -= byteCount
        if self.endpoints[endpoint]?.count == 0 { self.endpoints[endpoint] = nil }
        self.forget(endpoint.vehicle)
    }

    /// Ends what ``note(_:number:)`` began.
    mutating func forget(_ vehicle: VehicleID) {
        self.vehicles[vehicle]?.count -= 1
        if self.vehicles[vehicle]?.count == 0 { self.vehicles[vehicle] = nil }
    }
}
