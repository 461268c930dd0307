import StateCoding
import Testing
import WaymarkGateway
import WaymarkModel
import WaymarkObservation
import WaymarkProtocol

/// What a handover keeps of observers.
@Suite struct ObservationStateTests {
    private static func handOver(_ world: inout ObservedWorld) throws -> [ConnectionID] {
        let bytes = try StateCoder.encode(ObservationState(world.hub), format: 1)
        let state = try StateCoder.decode(ObservationState.self, from: bytes, format: 1)
        world.gateway.trackChanges(true)
        let (hub, refused) = state.hub(of: world.gateway, at: world.now)
        world.hub = hub
        world.tell()
        return refused
    }

    private static func drive(_ world: inout ObservedWorld) throws -> (ConnectionID, SessionID) {
        world.vehicle(1, "car")
        let client = world.client(2, "app")
        let session = try world.open(client, ["car"])
        world.publish(client, session, .startGuidance(trip(), generation: 1, .init()))
        return (client, session)
    }

    @Test func `an observer that keeps up notices nothing of a handover`() throws {
        var world = ObservedWorld()
        let (client, session) = try Self.drive(&world)
        let observer = world.watch(50)
        world.publish(client, session, .currentRoadName(["one"]))
        let count = world.told[observer]?.count
        #expect(try Self.handOver(&world).isEmpty)
        #expect(world.told[observer]?.count == count)
        world.publish(client, session, .currentRoadName(["two"]))
        let numbers = world.numbers(observer)
        #expect(numbers == Array(1...UInt64(numbers.count)))
        #expect(
            world.states[observer]?.retained[session]?.frames == world.gateway.retainedFrames(of: session))
    }

    @Test func `what waited at a handover is dropped, with its count, and the state is told again`() throws {
        var world = ObservedWorld()
        let (client, session) = try Self.drive(&world)
        let observer = world.watch(50)
        world.publish(client, session, .currentRoadName(["zero"]))
        world.stalled = [observer]
        world.publish(client, session, .currentRoadName(["one"]))
        world.publish(client, session, .currentRoadName(["two"]))
        world.stalled = []
        #expect(try Self.handOver(&world).isEmpty)
        let gaps = (world.told[observer] ?? []).compactMap { message -> ObservationGap? in
            if case .observationGap(let gap) = message { gap } else { nil }
        }
        // A portion was on its way before the observer stopped to read.
        #expect(gaps.map(\.dropped) == [2])
        #expect(world.states[observer]?.isComplete == true)
        #expect(
            world.states[observer]?.retained[session]?.frames == world.gateway.retainedFrames(of: session))
    }

    @Test func `an observer that was cut before a handover resumes after it`() throws {
        var world = ObservedWorld()
        let (client, session) = try Self.drive(&world)
        world.watch(50)
        world.publish(client, session, .currentRoadName(["one"]))
        let number = try #require(world.numbers(ConnectionID(50)).last)
        let token = try #require(world.welcomes[ConnectionID(50)]).resumptionToken
        world.hub.depart(ConnectionID(50), clean: false, until: world.now + .seconds(30))
        #expect(try Self.handOver(&world).isEmpty)
        _ = world.observer(60, resuming: token)
        #expect(world.welcomes[ConnectionID(60)]?.isResumed == true)
        world.observe(60) { $0.afterNumber = number }
        guard case .observationBegin(let begin)? = world.told[ConnectionID(60)]?.first else {
            Issue.record("no beginning")
            return
        }
        #expect(begin.kind == .missed)
    }
}
