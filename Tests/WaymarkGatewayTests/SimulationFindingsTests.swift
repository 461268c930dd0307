import Testing
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol

/// What the simulation found, each as the smallest story that showed it.
@Suite struct SimulationFindingsTests {
    @Test func `a client that was away hears which vehicles left`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        world.arrive(2, World.endpoint("van"))
        let client = world.arrive(3, World.client("app"))
        let session = try world.guided(client, ["car", "van"])
        world.handle(.departed(client, clean: false))
        world.handle(.received(car, .cancelNavigation(.userStopped), .none))
        let back = world.arrive(4, World.client("app"), token: world.welcomes[client]?.resumptionToken)
        #expect(world.welcomes[back]?.sessions.map(\.session) == [session])
        #expect(world.standings(back) == ["van": .joined, "car": .left(.userStopped)])
    }

    @Test func `a vehicle that came back is not among those that left`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car") { $0.guidanceWanted = true })
        let client = world.arrive(2, World.client("app"))
        world.handle(
            .received(client, .openSession(OpenSession(requestID: "r", vehicles: .anyThatAsked)), .none))
        world.handle(.received(car, .cancelNavigation(.userStopped), .none))
        world.handle(.received(car, .allowNavigation, .none))
        world.handle(.departed(client, clean: false))
        let back = world.arrive(3, World.client("app"), token: world.welcomes[client]?.resumptionToken)
        #expect(world.standings(back) == ["car": .joined])
    }

    @Test func `a session that was stopped does not come back when another client's is over`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car") { $0.guidanceWanted = true })
        let first = world.arrive(2, World.client("a"))
        world.handle(
            .received(first, .openSession(OpenSession(requestID: "r", vehicles: .anyThatAsked)), .none))
        world.handle(.received(car, .cancelNavigation(.userStopped), .none))
        let second = world.arrive(3, World.client("b"))
        let session = try world.guided(second, ["car"])
        world.mail[car] = []
        world.publish(second, session, .finishGuidance)
        #expect(!world.messages(car).contains { $0.type == .snapshotBegin })
        world.handle(.received(car, .allowNavigation, .none))
        #expect(world.messages(car).contains { $0.type == .snapshotBegin })
    }
}

extension World {
    /// The last that a client heard of each vehicle.
    fileprivate func standings(_ client: ConnectionID) -> [String: VehicleStanding] {
        var standings: [String: VehicleStanding] = [:]
        for case .vehicleChanged(let status) in self.messages(client) {
            standings[status.vehicle.rawValue] = status.standing
        }
        return standings
    }
}
