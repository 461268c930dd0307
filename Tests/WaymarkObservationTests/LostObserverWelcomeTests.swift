import StateCoding
import Testing
import WaymarkGateway
import WaymarkObservation
import WaymarkProtocol

/// Observers that resume, and may not get the Welcome.
@Suite struct LostObserverWelcomeTests {
    /// An observer that was cut, and its token.
    private static func cut() throws -> (world: ObservedWorld, token: ResumptionToken) {
        var world = ObservedWorld()
        world.vehicle(1, "car")
        world.watch(50)
        world.hub.depart(ConnectionID(50), clean: false, until: world.now + .seconds(30))
        return (world, try #require(world.welcomes[ConnectionID(50)]).resumptionToken)
    }

    @Test(arguments: [true, false])
    func `an observer that does not get the Welcome is resumed with its token, however often`(
        _ isCutNoticed: Bool
    ) throws {
        var (world, token) = try Self.cut()
        let number = world.numbers(ConnectionID(50)).last ?? 0
        for id in UInt64(60)...62 {
            guard case .admitted(let welcome, let takenOver) = world.observer(id, resuming: token) else {
                Issue.record("refused")
                return
            }
            #expect(welcome.isResumed)
            #expect(takenOver == (isCutNoticed || id == 60 ? nil : ConnectionID(id - 1)))
            guard isCutNoticed, id < 62 else { continue }
            world.hub.depart(ConnectionID(id), clean: false, until: world.now + .seconds(30))
        }
        world.observe(62) { $0.afterNumber = number }
        guard case .observationBegin? = world.told[ConnectionID(62)]?.first else {
            Issue.record("no beginning")
            return
        }
        #expect(world.states[ConnectionID(62)]?.vehicles.count == 1)
    }

    @Test(arguments: ["first frame", "newer token"])
    func `what shows that an observer got the Welcome ends the older token`(_ sign: String) throws {
        var (world, token) = try Self.cut()
        _ = world.observer(60, resuming: token)
        if sign == "first frame" {
            world.hub.confirm(ConnectionID(60))
        } else {
            _ = world.observer(61, resuming: world.welcomes[ConnectionID(60)]?.resumptionToken)
            #expect(world.welcomes[ConnectionID(61)]?.isResumed == true)
        }
        _ = world.observer(62, resuming: token)
        #expect(world.welcomes[ConnectionID(62)]?.isResumed == false)
    }

    @Test func `a Hello with the older token on an earlier connection is late`() throws {
        var (world, token) = try Self.cut()
        _ = world.observer(60, resuming: token)
        guard case .refused(let goodbye) = world.observer(59, resuming: token) else {
            Issue.record("a late Hello is admitted")
            return
        }
        #expect(goodbye.code == .idInUse)
        #expect(world.hub.connections == [ConnectionID(60)])
    }

    @Test(arguments: [true, false]) func `the next process knows both tokens`(_ isSpareUsed: Bool) throws {
        var (world, token) = try Self.cut()
        _ = world.observer(60, resuming: token)
        let newer = world.welcomes[ConnectionID(60)]?.resumptionToken
        let bytes = try StateCoder.encode(ObservationState(world.hub), format: 1)
        let state = try StateCoder.decode(ObservationState.self, from: bytes, format: 1)
        world.hub = state.hub(of: world.gateway, at: world.now).hub
        _ = world.observer(61, resuming: isSpareUsed ? token : newer)
        #expect(world.welcomes[ConnectionID(61)]?.isResumed == true)
    }
}
