import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

@Suite struct SessionOrderTests {
    /// A world whose second session has the smallest id there is.
    private static func wrapping() -> World {
        var world = World()
        world.gateway = Gateway(
            policy: .init(), coder: Codec.coder, firstSession: SessionID(UInt32.max - 1))
        return world
    }

    private static func open(_ world: inout World, _ client: ConnectionID, _ request: Identifier)
        -> SessionID?
    {
        world.receive(
            .openSession(OpenSession(requestID: request, vehicles: .anyThatAsked)), from: client)
        return world.opened(client, request)
    }

    @Test
    func `a vehicle that asks gets the session that was opened first, also when ids have wrapped around`()
        throws
    {
        var world = Self.wrapping()
        let client = world.arrive(1, World.client("app"))
        let first = try #require(Self.open(&world, client, "first"))
        let second = try #require(Self.open(&world, client, "second"))
        #expect(second < first)
        let car = world.arrive(2, World.endpoint("car") { $0.guidanceWanted = true })
        #expect(world.mail[car]?.first?.session == first)
    }

    @Test func `a client that comes back finds its sessions in the order in which it opened them`() throws {
        var world = Self.wrapping()
        let client = world.arrive(1, World.client("app"))
        let first = try #require(Self.open(&world, client, "first"))
        let second = try #require(Self.open(&world, client, "second"))
        world.handle(.departed(client, clean: false))
        let back = world.arrive(
            2, World.client("app"), token: world.welcomes[client]?.resumptionToken)
        #expect(world.welcomes[back]?.sessions.map(\.session) == [first, second])
    }

    @Test func `audiences are never named twice, however many have joined`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        // As many joins later as have 32 bits, less the few that there were.
        world.gateway.nextAudience = AudienceID(.init(truncatingIfNeeded: UInt64(1) << 32))
        for index in UInt64(0)..<4 {
            world.arrive(10 + index, World.endpoint("other-\(index)"))
            _ = try world.guided(client, ["other-\(index)"], request: "other-\(index)")
        }
        for index in UInt64(0)..<4 { world.mail[ConnectionID(10 + index)] = [] }
        world.publish(client, session, .currentRoadName(["Lane"]))
        #expect(world.messages(car).last == .publication(.currentRoadName(["Lane"])))
        for index in UInt64(0)..<4 { #expect(world.messages(ConnectionID(10 + index)).isEmpty) }
    }
}
