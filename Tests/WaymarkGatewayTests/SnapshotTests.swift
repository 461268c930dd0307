import OrderedCollections
import Synchronization
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

@Suite struct SnapshotTests {
    private static func endpoint(_ name: String) -> Hello.Role {
        World.endpoint("car", name) { $0.limits.currentRoadNameLengthMax = 5 }
    }

    private static func roads(_ messages: [Message]) -> [[String]] {
        messages.compactMap {
            if case .publication(.plain(.currentRoadName(let variants))) = $0 { variants } else { nil }
        }
    }

    @Test func `a snapshot that was cut to a profile serves all that come with it until something changes`()
        throws
    {
        let reads = Mutex(0)
        var world = World()
        let coder = BodyCoder(
            decode: { frame in
                reads.withLock { $0 += 1 }
                return Codec.coder.decode(frame)
            }, encode: Codec.coder.encode, elementsFitting: Codec.coder.elementsFitting,
            restore: Codec.coder.restore, waypoint: Codec.coder.waypoint)
        world.gateway = Gateway(policy: .init(), coder: coder, firstSession: SessionID(100))
        let client = world.arrive(1, World.client("app"))
        let session = try world.guided(client, ["car"])
        world.publish(client, session, .currentRoadName(["A very long road", "Short"]))

        let first = world.arrive(2, Self.endpoint("a"))
        let readOnce = reads.withLock { $0 }
        #expect(readOnce > 0)
        #expect(Self.roads(world.messages(first)) == [["Short"]])
        let second = world.arrive(3, Self.endpoint("b"))
        #expect(reads.withLock { $0 } == readOnce)
        #expect(world.mail[second] == world.mail[first])

        // Another profile, and another state, are other snapshots.
        let other = world.arrive(4, World.endpoint("car", "c") { $0.limits.currentRoadNameLengthMax = 2 })
        #expect(Self.roads(world.messages(other)) == [["S…"]])
        world.publish(client, session, .currentRoadName(["Next"]))
        let third = world.arrive(5, Self.endpoint("d"))
        #expect(Self.roads(world.messages(third)) == [["Next"]])
        #expect(Self.roads(world.messages(first)) == [["Short"], ["Next"]])

        // Nothing is kept of a session that is over.
        let car = world.gateway.vehicles[VehicleID(unchecked: "car")]
        let profile = try #require(car?.endpoints[EndpointName(unchecked: "a")]?.membership?.profile)
        let sequence = try #require(world.gateway.sessions[session]?.sequence)
        #expect(world.gateway.snapshots.frames(of: session, profile, at: sequence) != nil)
        world.publish(client, session, .finishGuidance)
        world.handle(.departed(client, clean: true))
        #expect(world.gateway.snapshots.frames(of: session, profile, at: sequence) == nil)
    }
}
