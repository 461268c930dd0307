import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// Changes that the gateway notes for observers. A read is none.
@Suite struct NotedChangeTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let message: Message
        var isFromClient = false
        var isInOtherSession = false
    }

    private static let car = VehicleID(unchecked: "car")
    private static let answer = RequestAnswer(requestID: "ended", vehicle: Self.car, answer: .accept)
    private static let zoom = Message.zoomCluster(ZoomCluster(direction: .in))

    static let cases = [
        Case(testDescription: "an open request, again", message: World.waypoint("open")),
        Case(testDescription: "a request that has ended, again", message: World.waypoint("ended")),
        Case(
            testDescription: "a withdrawal of a request that has ended",
            message: .withdrawRequest(WithdrawRequest(requestID: "ended"))),
        Case(
            testDescription: "an answer to a request that has ended", message: .requestAnswer(Self.answer),
            isFromClient: true),
        Case(
            testDescription: "a stop of a session that is over", message: .cancelNavigation(.userStopped),
            isInOtherSession: true),
        Case(testDescription: "a zoom", message: Self.zoom),
        Case(testDescription: "a zoom in another session", message: Self.zoom, isInOtherSession: true),
    ]

    /// A guided vehicle with an open request, and one that has ended. Its changes are noted from here on.
    private static func observed() throws -> (
        world: World, car: ConnectionID, client: ConnectionID, session: SessionID
    ) {
        var world = World()
        let car = world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        for id in ["open", "ended"] as [Identifier] { world.receive(World.waypoint(id), from: car) }
        world.receive(.withdrawRequest(WithdrawRequest(requestID: "ended")), from: car)
        #expect(world.outcomes(car) == [.withdrawn])
        world.gateway.trackChanges(true)
        return (world, car, client, session)
    }

    @Test(arguments: Self.cases)
    func `an event that only reads notes no change`(_ read: Case) throws {
        var (world, car, client, session) = try Self.observed()
        let other = read.isInOtherSession ? SessionID(5) : session
        world.receive(read.message, from: read.isFromClient ? client : car, other)
        let changes = world.gateway.takeChanges()
        #expect(changes.isEmpty, "\(changes)")
    }

    @Test func `reading a vehicle's record notes no change`() throws {
        var (world, _, _, _) = try Self.observed()
        #expect(world.gateway.record(of: Self.car)?.endpoints.count == 1)
        #expect(world.gateway.takeChanges().isEmpty)
    }

    @Test func `a request that ends is a change of its vehicle and its client, not of their session`() throws
    {
        var (world, car, _, session) = try Self.observed()
        world.receive(.withdrawRequest(WithdrawRequest(requestID: "open")), from: car, session)
        let changes = world.gateway.takeChanges()
        #expect(changes.vehicles == [Self.car])
        #expect(changes.clients == [ClientID(unchecked: "app")])
        #expect(changes.requests.count == 1)
        #expect(changes.sessions.isEmpty, "\(changes)")
    }
}
