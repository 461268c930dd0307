import Testing
import WaymarkAccess
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// Operations end with the smallest budget of a step, too: one that only asked for it would queue itself for ever.
@Suite struct SmallestBudgetTests {
    @Test(arguments: WorkTests.operations)
    func `every operation of a peer ends`(_ operation: WorkTests.Operation) {
        var world = World()
        for index in 0..<3 {
            let role = World.endpoint("car-\(index)") { $0.guidanceWanted = index == 0 }
            world.arrive(UInt64(10 + index), role)
        }
        operation.prepare(&world)
        world.gateway.stepUnitsMax = 1
        operation.perform(&world)
        #expect(!world.gateway.hasSteps)
    }

    /// A session with eight vehicles, each with an endpoint that holds two maneuvers.
    private static func world() throws -> (world: World, client: ConnectionID, session: SessionID) {
        var world = World()
        world.gateway.stepUnitsMax = 1
        let client = world.arrive(1, World.client("app"))
        for index in 0..<8 {
            let role = World.endpoint("car-\(index)") { $0.limits.maneuversStoredMax = 2 }
            world.arrive(UInt64(100 + index), role)
        }
        let session = try world.guided(client, (0..<8).map { "car-\($0)" })
        return (world, client, session)
    }

    @Test func `a long route reaches every endpoint with slots`() throws {
        let begun = try Self.world()
        var world = begun.world
        let maneuvers = (10..<200).map {
            Maneuver(id: ManeuverID(rawValue: $0), type: .leftTurn, instructionVariants: ["left"])
        }
        world.publish(begun.client, begun.session, .addManeuvers(maneuvers, generation: 1))
        world.publish(
            begun.client, begun.session, .upcomingManeuvers([ManeuverID(rawValue: 100)], generation: 1))
        #expect(!world.gateway.hasSteps)
        for index in UInt64(100)..<108 {
            #expect(world.messages(ConnectionID(index)).last?.type == .upcomingManeuvers)
        }
    }

    @Test func `changed settings and changed rules reach every vehicle`() throws {
        var world = try Self.world().world
        world.mail = [:]
        var policy = world.gateway.policy
        policy.withheldFeatures = [.maneuvers]
        world.handle(.policyChanged(policy))
        #expect(!world.gateway.hasSteps)
        for index in UInt64(100)..<108 { #expect(!world.messages(ConnectionID(index)).isEmpty) }
        policy.access = AccessPolicy(rules: [
            AccessRule(allow: true, [.vehicle], origin: AccessOrigin(file: "f", line: 1))
        ])
        world.handle(.policyChanged(policy))
        #expect(!world.gateway.hasSteps)
    }
}
