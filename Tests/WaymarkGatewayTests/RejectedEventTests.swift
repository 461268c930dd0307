import Testing
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol

/// Events of endpoints for which the outbox of their client has no room.
@Suite struct RejectedEventTests {
    private static let zoom = Message.zoomCluster(ZoomCluster(direction: .in))

    @Test func `the endpoint that sent it, and no other, is told the type, the session and the limit`() throws
    {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let other = world.arrive(2, World.endpoint("car", "head-up"))
        let client = world.arrive(3, World.client("app"))
        let session = try world.guided(client, ["car"])
        world.mail = [:]
        let before = world.gateway
        world.handle(.eventRejected(car, .zoomCluster, session, .count(16)))
        // Nothing but the Error follows.
        #expect(world.gateway == before)
        #expect(world.mail.keys.sorted { $0.rawValue < $1.rawValue } == [car])
        #expect(world.messages(other).isEmpty && world.messages(client).isEmpty)
        guard case .error(let rejection)? = world.messages(car).first else {
            Issue.record("\(world.messages(car))")
            return
        }
        #expect(rejection.code == .limitReached && rejection.session == session)
        #expect(rejection.limit == ReachedLimit("outbox_events_per_endpoint_max", 16))
        #expect(
            rejection.messageType == MessageType.zoomCluster.rawValue
                && rejection.reason.hasPrefix("16 events "))
        world.receive(Self.zoom, from: car)
        #expect(world.messages(client).map(\.type) == [.zoomCluster])
    }

    @Test func `an endpoint that has gone meanwhile is not told`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        world.handle(.departed(car, clean: false))
        world.mail = [:]
        world.handle(.eventRejected(car, .zoomCluster, session, .count(16)))
        world.handle(.eventRejected(client, .zoomCluster, session, .count(16)))
        #expect(world.mail.isEmpty)
    }

    @Test func `a client is sent all settings of an endpoint, whichever of them changed`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        world.mail = [:]
        var (style, compass, all) = (VehicleSettings(), VehicleSettings(), VehicleSettings())
        style.contentStyle = .dark
        compass.compass = .disabled
        (all.contentStyle, all.compass) = (.dark, .disabled)
        all.source = EndpointPath(
            vehicle: VehicleID(unchecked: "car"), endpoint: EndpointName(unchecked: "cluster"))
        for settings in [style, compass, style] {
            world.handle(.received(car, .vehicleSettings(settings), session))
        }
        style.source = all.source
        #expect(world.messages(client) == [.vehicleSettings(style), .vehicleSettings(all)])
    }

    @Test func `what vehicles send waits for a client by its kind`() {
        let path = EndpointPath(
            vehicle: VehicleID(unchecked: "car"), endpoint: EndpointName(unchecked: "cluster"))
        let id = ConnectionID(7)
        func relay(_ message: Message, _ cause: ConnectionID? = ConnectionID(7)) -> Relay? {
            Relay(of: Envelope(message), from: cause)
        }
        var settings = VehicleSettings()
        #expect(relay(.vehicleSettings(settings)) == nil)
        settings.source = path
        #expect(relay(.vehicleSettings(settings)) == .state(path))
        let zoom = ZoomCluster(direction: .in, source: path)
        #expect(relay(.zoomCluster(zoom)) == .event(path, id) && relay(.zoomCluster(zoom), nil) == nil)
        var response = AlertResponse(alert: 1, response: .action(1))
        response.source = path
        #expect(relay(.alertResponse(response)) == .event(path, id))
        let source = UpdateRouteSource(routeSource: .vehicle, vehicle: path.vehicle)
        let unnamed = EndpointPath(vehicle: path.vehicle, endpoint: EndpointName(unchecked: ""))
        #expect(relay(.updateRouteSource(source)) == .state(unnamed))
        let feedback = UpdateRouteFeedback(RouteFeedback(generation: 1), vehicle: path.vehicle)
        #expect(relay(.updateRouteFeedback(feedback)) == .state(unnamed))
        #expect(
            relay(.vehicleChanged(VehicleStatus(vehicle: path.vehicle, standing: .joined)))
                == .standing(path.vehicle))
        let outcome = RequestOutcome(requestID: "r", vehicle: path.vehicle, outcome: .withdrawn)
        #expect(relay(.requestOutcome(outcome)) == .outcome(path.vehicle, "r"))
        let receipt = EndpointReceipt(
            vehicle: path.vehicle, endpoint: path.endpoint,
            receipt: Receipt(receivedSequence: 1, shownSequence: 1))
        let report = ReceiptReport(gatewaySequence: 2, endpoints: [receipt])
        #expect(relay(.receiptReport(report)) == .state(path))
        let opened = SessionOpened(requestID: "o", session: SessionID(4), vehicles: [])
        #expect(relay(.sessionOpened(opened)) == .opened(SessionID(4)))
        let place = Waypoint(center: Coordinate(latitude: 1, longitude: 2))
        #expect(
            relay(.waypointRequest(WaypointRequest(requestID: "w", waypoint: place, vehicle: path.vehicle)))
                == .request(path.vehicle, "w"))
        var part = Envelope(.vehicleChanged(VehicleStatus(vehicle: path.vehicle, standing: .joined)))
        part.isPart = true
        #expect(Relay(of: part, from: id) == .standingPart(path.vehicle))
        let ended = SessionEnded(session: SessionID(1), reason: .finished)
        #expect(relay(.sessionEnded(ended)) == nil && relay(.acknowledgement(sequence: 1)) == nil)
    }
}
