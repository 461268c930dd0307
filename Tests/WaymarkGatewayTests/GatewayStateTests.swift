import StateCoding
import Testing
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol

@Suite struct GatewayStateTests {
    @Test func `ten thousand endpoints are written compactly, and read as they were`() throws {
        var world = World()
        let client = world.arrive(1, World.client("app"))
        let vehicles = (0..<10_000).map { "car-\($0)" }
        for (index, vehicle) in vehicles.enumerated() {
            world.arrive(UInt64(index + 2), World.endpoint(vehicle, "cluster"))
        }
        let guided = vehicles.prefix(200)
        #expect(world.guide(client, Array(guided)) != nil)
        let bytes = try StateCoder.encode(GatewayState(world.gateway), format: GatewayState.format)
        let state = try StateCoder.decode(GatewayState.self, from: bytes, format: GatewayState.format)
        #expect(state.gateway(policy: world.gateway.policy, coder: Codec.coder) == world.gateway)
        // Hello, profile, token and names of an endpoint.
        #expect(bytes.count < 10_000 * 600)
    }

    @Test func `a request and its prompt are the same afterwards`() throws {
        var world = World()
        let client = world.arrive(1, World.client("app"))
        let endpoint = world.arrive(2, World.endpoint("car", "cluster"))
        let session = try world.guided(client, ["car"])
        world.receive(World.waypoint("w"), from: endpoint, session)
        let answer = RequestAnswer(
            requestID: "w", vehicle: VehicleID(unchecked: "car"),
            answer: .estimates(
                TravelEstimates(distanceRemaining: .meters(1_200), timeRemaining: .seconds(90))))
        world.handle(.received(client, .requestAnswer(answer), session))
        let bytes = try StateCoder.encode(GatewayState(world.gateway), format: GatewayState.format)
        let state = try StateCoder.decode(GatewayState.self, from: bytes, format: GatewayState.format)
        world.gateway = try #require(state.gateway(policy: world.gateway.policy, coder: Codec.coder))
        world.handle(
            .received(endpoint, .promptAnswer(PromptAnswer(requestID: "w", isAccepted: true)), session))
        #expect(world.outcomes(client) == [.accepted])
    }
}
