import Testing
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol

/// Endpoints for whose profile a session has no room.
@Suite struct CapacityTests {
    private static let noRoom = Profile.contentFeatures.map { FeatureGrant($0, withheld: .noCapacity) }

    private static func miles(_ name: String) -> Hello.Role {
        World.endpoint("car", name) { $0.preferences.distanceUnits = .imperialFeet }
    }

    /// What the client was told last of what an endpoint does not get.
    private static func told(_ world: World, _ client: ConnectionID, _ name: String) -> [FeatureGrant]? {
        var withheld: [FeatureGrant]?
        for message in world.messages(client) {
            let statuses: [VehicleStatus] =
                switch message {
                case .vehicleChanged(let status): [status]
                case .sessionOpened(let opened): opened.vehicles
                default: []
                }
            for endpoint in statuses.flatMap(\.endpoints) where endpoint.endpoint.rawValue == name {
                withheld = endpoint.withheld
            }
        }
        return withheld
    }

    @Test func `an endpoint without room gets trips and the events of guidance, and no content`() throws {
        var world = World { $0.limits.profilesPerSessionMax = 1 }
        world.arrive(1, World.endpoint("car"))
        let hud = world.arrive(2, Self.miles("hud"))
        let client = world.arrive(3, World.client("app"))
        let session = try world.guided(client, ["car"])
        #expect(Self.told(world, client, "hud") == Self.noRoom)
        #expect(Self.told(world, client, "cluster")?.contains { $0.withheld == .noCapacity } == false)
        world.publish(client, session, .currentRoadName(["Lane"]))
        world.publish(client, session, .updateTrip(World.trip))
        let estimates = TravelEstimates(distanceRemaining: .meters(50))
        world.publish(client, session, .tripEstimates(estimates, .green))
        world.publish(client, session, .pauseGuidance(.loading, description: ["wait"]))
        world.publish(client, session, .resumeGuidance(generation: 1, .unknown, nil))
        world.publish(client, session, .finishGuidance)
        #expect(
            world.messages(hud).filter { $0.type != .snapshotBegin && $0.type != .snapshotEnd } == [
                .publication(.startGuidance(World.trip, generation: 1, RouteInformation())),
                .publication(.updateTrip(World.trip)), .publication(.tripEstimates(estimates, .green)),
                .publication(.pauseGuidance(.loading, description: ["wait"])),
                .publication(.resumeGuidance(generation: 1, .unknown, nil)), .publication(.finishGuidance),
            ])
    }

    /// The snapshot was on its way when the connection was lost; what the endpoint holds is of the profile before.
    @Test(arguments: [UInt64(0), 1])
    func `an endpoint that lost a new profile's snapshot gets it when it resumes`(_ read: UInt64) throws {
        var world = World { $0.limits.profilesPerSessionMax = 1 }
        let first = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        let hud = world.arrive(3, Self.miles("hud"))
        let token = try #require(world.welcomes[hud]).resumptionToken
        world.handle(.departed(first, clean: true))
        world.handle(.departed(hud, clean: false))
        let number = try #require(world.sequences[session]) - 1 + read
        let back = world.arrive(4, Self.miles("hud"), token: token, resume: (session, number))
        #expect(
            world.messages(back).contains(
                .publication(.startGuidance(World.trip, generation: 1, World.route))))
        // Once it has read that, it resumes from there.
        world.publish(client, session, .currentRoadName(["Lane"]))
        let secondToken = try #require(world.welcomes[back]).resumptionToken
        world.handle(.departed(back, clean: false))
        let again = world.arrive(
            5, Self.miles("hud"), token: secondToken, resume: (session, world.sequences[session] ?? 0))
        #expect(world.messages(again).map(\.type) == [.snapshotBegin, .snapshotEnd])
    }

    @Test func `an endpoint gets its content as soon as there is room again, and the client is told`() throws
    {
        var world = World { $0.limits.profilesPerSessionMax = 1 }
        let first = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        let hud = world.arrive(3, Self.miles("hud"))
        let test = world.arrive(4, Self.miles("test"))
        #expect(Self.told(world, client, "hud") == Self.noRoom)
        world.mail[hud] = []
        world.handle(.departed(first, clean: false))
        #expect(world.messages(hud).isEmpty)  // Its place is kept.
        world.wait(.seconds(31))
        for endpoint in [hud, test] {
            let begin = world.messages(endpoint).compactMap { message in
                if case .snapshotBegin(let begin) = message { begin } else { nil }
            }.last
            #expect(begin?.kind == .full && begin?.withheld.contains { $0.withheld == .noCapacity } == false)
            #expect(
                world.messages(endpoint).contains(
                    .publication(.startGuidance(World.trip, generation: 1, World.route))))
        }
        #expect(Self.told(world, client, "hud")?.contains { $0.withheld == .noCapacity } == false)
        world.publish(client, session, .currentRoadName(["Lane"]))
        #expect(world.messages(hud).last == .publication(.currentRoadName(["Lane"])))
        #expect(world.messages(test).last == .publication(.currentRoadName(["Lane"])))
    }

    @Test func `an endpoint without room comes back where it was, and is not asked to take a destination`()
        throws
    {
        var world = World { $0.limits.profilesPerSessionMax = 1 }
        world.arrive(1, World.endpoint("other"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["other", "car"])
        let hud = world.arrive(3, Self.miles("hud"))
        world.handle(.departed(hud, clean: false))
        world.publish(client, session, .pauseGuidance(.loading, description: []))
        let back = world.arrive(
            4, Self.miles("hud"), token: world.welcomes[hud]?.resumptionToken, resume: (session, 1))
        #expect(world.messages(back).map(\.type) == [.snapshotBegin, .pauseGuidance, .snapshotEnd])
        var trip = World.trip
        trip.isDestinationShareable = true
        world.publish(client, session, .updateTrip(trip))
        world.publish(client, session, .shareDestination(shareID: "s", World.place))
        let status = DestinationShareStatus(
            shareID: "s", vehicle: VehicleID(unchecked: "car"), stage: .didFailToShare(.notSupported))
        #expect(world.messages(client).contains(.destinationShareStatus(status)))
    }
}
