package import WaymarkProtocol

/// The rule by which a frame waits for a client that does not read, see ``Outbox/append(_:as:mayExceedShare:)``.
///
/// What vehicles make the gateway send is bounded by this, so that one of them cannot close the connection of a client that guides others.
///
/// - Source: Docs/protocol.md, "What waits for a client".
package indirect enum Relay: Sendable, Hashable, Codable {
    /// The newest one of a session, a type and an endpoint matters. The endpoint has no name if the state is the vehicle's.
    case state(EndpointPath)
    /// VehicleChanged: the newest one of a session and a vehicle matters.
    case standing(VehicleID)
    /// An event of an endpoint, within its share. The connection is the one that sent it.
    case event(EndpointPath, ConnectionID)
    case request(VehicleID, Identifier)
    /// The end of a request. If the request still waits, the client gets neither.
    case outcome(VehicleID, Identifier)

    /// The rule for a message to a client; nil for one that waits behind all others and is never replaced. `connection` sent it.
    package init?(of message: Message, from connection: ConnectionID?) {
        switch message {
        case .vehicleChanged(let status): self = .standing(status.vehicle)
        case .vehicleSettings(let settings):
            guard let source = settings.source else { return nil }
            self = .state(source)
        case .updateRouteSource(let update):
            guard let vehicle = update.vehicle else { return nil }
            self = .state(EndpointPath(ofVehicle: vehicle))
        case .receiptReport(let report):
            // A report for many endpoints has several parts. Each begins with another vehicle.
            guard let first = report.endpoints.first else { return nil }
            self = .state(EndpointPath(ofVehicle: first.vehicle))
        case .zoomCluster(let zoom):
            guard let source = zoom.source, let connection else { return nil }
            self = .event(source, connection)
        case .alertResponse(let response):
            guard let source = response.source, let connection else { return nil }
            self = .event(source, connection)
        case .vehicleExtension(let sent):
            guard let source = sent.source, let connection else { return nil }
            self = .event(source, connection)
        case .requestOutcome(let outcome): self = .outcome(outcome.vehicle, outcome.requestID)
        default: return nil  // The others are bounded by what the client asks for.
        }
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

    /// The limit, and its value.
    var reached: ReachedLimit {
        switch self {
        case .count(let count): ReachedLimit("outbox_events_per_endpoint_max", count)
        case .bytes(let count): ReachedLimit("outbox_event_bytes_per_endpoint_max", count)
        case .bytesInAll(let count): ReachedLimit("outbox_bytes_max", count)
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
        self.vehicles[endpoint.vehicle, default: VehicleEvents()].count += 1
        self.vehicles[endpoint.vehicle, default: VehicleEvents()].last = number
    }

    mutating func remove(_ byteCount: Int, of endpoint: EndpointPath) {
        self.byteCount -= byteCount
        self.endpoints[endpoint]?.count -= 1
        self.endpoints[endpoint]?.byteCount -= byteCount
        self.vehicles[endpoint.vehicle]?.count -= 1
        if self.endpoints[endpoint]?.count == 0 { self.endpoints[endpoint] = nil }
        if self.vehicles[endpoint.vehicle]?.count == 0 { self.vehicles[endpoint.vehicle] = nil }
    }
}
