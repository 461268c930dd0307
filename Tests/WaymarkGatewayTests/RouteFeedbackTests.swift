import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// Feedback of a vehicle on its route.
@Suite struct RouteFeedbackTests {
    private static func feedback(_ charge: UInt16, generation: UInt32 = 1) -> RouteFeedback {
        RouteFeedback(
            generation: generation,
            stops: [
                StopFeedback(arrivalBatteryPerMille: charge), StopFeedback(reachability: .unreachable),
            ])
    }

    private static func told(_ world: World, _ client: ConnectionID) -> [UpdateRouteFeedback] {
        world.messages(client).compactMap {
            if case .updateRouteFeedback(let update) = $0 { update } else { nil }
        }
    }

    private static func send(_ feedback: RouteFeedback, _ world: inout World, from car: ConnectionID) {
        world.receive(.updateRouteFeedback(UpdateRouteFeedback(feedback)), from: car)
    }

    private static let car = VehicleID(unchecked: "car")

    @Test func `a client gets feedback once, until it changes`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        _ = try world.guided(client, ["car"])
        for charge: UInt16 in [420, 420, 400, 420] { Self.send(Self.feedback(charge), &world, from: car) }
        #expect(
            Self.told(world, client)
                == [420, 400, 420].map { UpdateRouteFeedback(Self.feedback($0), vehicle: Self.car) })
        #expect(world.errors(car).isEmpty)
    }

    @Test func `feedback on another route is ignored, also before guidance`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car") { $0.reportsIgnored = true })
        let client = world.arrive(2, World.client("app"))
        let opening = OpenSession(requestID: "r", vehicles: .vehicles([Self.car]))
        world.handle(.received(client, .openSession(opening), .none))
        let session = try #require(world.opened(client, "r"))
        Self.send(Self.feedback(1, generation: 0), &world, from: car)
        world.publish(client, session, .startGuidance(World.trip, generation: 3, World.route))
        for generation: UInt32 in [0, 2, 4] {
            Self.send(Self.feedback(1, generation: generation), &world, from: car)
        }
        #expect(world.errors(car) == Array(repeating: .ignored, count: 4))
        #expect(Self.told(world, client).isEmpty)
    }

    @Test func `a segment of feedback was added`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        var trip = World.trip
        trip.routeSegmentsAvailable = true
        world.publish(client, session, .updateTrip(trip))
        let segment = RouteSegment(id: "leg-1", origin: World.place, destination: World.place)
        world.publish(client, session, .addRouteSegments([segment], generation: 1))
        for id in ["leg-1", "leg-2"] {
            Self.send(RouteFeedback(generation: 1, firstUnreachableSegment: id), &world, from: car)
        }
        #expect(world.errors(car) == [.unknownReference])
        #expect(Self.told(world, client).map(\.feedback.firstUnreachableSegment) == ["leg-1"])
    }

    @Test func `a client that comes back gets the feedback on the present route, and none on an earlier one`()
        throws
    {
        for isRerouted in [false, true] {
            var world = World()
            let car = world.arrive(1, World.endpoint("car"))
            let client = world.arrive(2, World.client("app"))
            let session = try world.guided(client, ["car"])
            Self.send(Self.feedback(420), &world, from: car)
            if isRerouted {
                world.publish(client, session, .startGuidance(World.trip, generation: 2, World.route))
            }
            world.mail[client] = []
            var actions: [Gateway.Action] = []
            world.gateway.sendSettings(of: Self.car, session, to: client, into: &actions)
            let sent = actions.contains {
                if case .send(_, let envelope) = $0, envelope.message.type == .updateRouteFeedback {
                    true
                } else {
                    false
                }
            }
            #expect(sent == !isRerouted)
        }
    }

    @Test func `feedback ends with the session`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        Self.send(Self.feedback(420), &world, from: car)
        let guided = world.gateway.record(of: Self.car)
        #expect(guided?.routeFeedback == Self.feedback(420))
        world.publish(client, session, .finishGuidance)
        let ended = world.gateway.record(of: Self.car)
        #expect(ended != nil && ended?.routeFeedback == nil)
    }

    @Test func `feedback outlives a handover to the next process`() throws {
        let kept = KeptFeedback(
            RouteFeedback(
                generation: 7,
                stops: [StopFeedback(arrivalBatteryPerMille: 1, reachability: .reachable), StopFeedback()],
                firstUnreachableSegment: "leg-1"))
        #expect(kept.feedback.stops.count == 2 && kept.feedback.firstUnreachableSegment == "leg-1")
        #expect(KeptFeedback(kept.feedback) == kept)
    }

    @Test func `an endpoint that makes no requests gives no feedback`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car") { $0.features.remove(.requests) })
        let client = world.arrive(2, World.client("app"))
        _ = try world.guided(client, ["car"])
        Self.send(Self.feedback(420), &world, from: car)
        #expect(world.errors(car) == [.notGranted])
    }
}
