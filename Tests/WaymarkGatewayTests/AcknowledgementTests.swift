import StateCoding
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

@Suite struct AcknowledgementTests {
    private static func road(_ number: UInt64) -> Publication { .currentRoadName(["road \(number)"]) }

    /// A client that guides a vehicle, and was told of the first number.
    private func guiding() throws -> (World, ConnectionID, SessionID) {
        var world = World()
        world.arrive(1, World.endpoint("car"))
        let client = world.arrive(2, World.client("app"))
        let session = try world.guided(client, ["car"])
        world.wait(.milliseconds(500))
        #expect(world.acknowledged(client) == [1])
        world.mail = [:]
        return (world, client, session)
    }

    @Test func `the 64th number is acknowledged with its batch, and the next after it`() throws {
        var (world, client, session) = try self.guiding()
        for number in UInt64(2)...64 { world.publish(client, session, Self.road(number)) }
        #expect(world.acknowledged(client).isEmpty)
        world.publish(client, session, Self.road(65))
        #expect(world.acknowledged(client) == [65])
        for number in UInt64(66)...129 { world.publish(client, session, Self.road(number)) }
        #expect(world.acknowledged(client) == [65, 129])
    }

    @Test func `a batch of more than 64 frames is acknowledged once`() throws {
        var (world, client, session) = try self.guiding()
        var frames = PublishedFrames()
        for number in UInt64(2)...150 {
            let publication = Self.road(number)
            let envelope = Envelope(.publication(publication), session: session, sequence: number)
            frames.append(copyOf: Codec.encode(envelope), publication.outline)
        }
        world.handle(.published(client, frames))
        #expect(world.acknowledged(client) == [150])
        world.wait(.seconds(1))
        #expect(world.acknowledged(client) == [150])
    }

    @Test func `a single frame is acknowledged within 500 ms`() throws {
        var (world, client, session) = try self.guiding()
        world.wait(.milliseconds(1_230))
        let start = world.now
        world.publish(client, session, Self.road(2))
        let armed = try #require(world.gateway.armed)
        #expect(armed <= start + .milliseconds(500))
        #expect(armed > start + .milliseconds(450))
        world.now = armed
        world.handle(.deadlineReached)
        #expect(world.acknowledged(client) == [2])
    }

    @Test func `nothing new is never acknowledged`() throws {
        var (world, client, session) = try self.guiding()
        world.wait(.seconds(60))
        for number in UInt64(2)...65 { world.publish(client, session, Self.road(number)) }
        world.wait(.seconds(60))
        #expect(world.acknowledged(client) == [65])
        #expect(world.gateway.armed == nil)
    }

    @Test func `what changes nothing is acknowledged`() throws {
        var (world, client, session) = try self.guiding()
        for _ in 2...4 { world.publish(client, session, Self.road(0)) }
        world.wait(.milliseconds(500))
        #expect(world.acknowledged(client) == [4])
    }

    @Test func `an Error precedes the Acknowledgement of its number`() throws {
        var (world, client, session) = try self.guiding()
        for number in UInt64(2)...64 { world.publish(client, session, Self.road(number)) }
        world.publish(client, session, .dismissAlert(7, .timeout))
        #expect(world.messages(client).map(\.type) == [.error, .acknowledgement])
        #expect(world.acknowledged(client) == [65])
    }

    @Test func `a frame that the codec rejected is acknowledged`() throws {
        var (world, client, session) = try self.guiding()
        let header = FrameHeader(
            type: MessageType.currentRoadName.rawValue, session: session, sequence: 2)
        world.handle(.publicationRejected(client, header))
        world.wait(.milliseconds(500))
        #expect(world.acknowledged(client) == [2])
    }

    @Test func `a frame that uses no number up is not acknowledged`() throws {
        var (world, client, session) = try self.guiding()
        world.sequences[session] = 9
        world.publish(client, session, Self.road(1))
        world.wait(.seconds(1))
        #expect(world.errors(client) == [.sequenceGap])
        #expect(world.acknowledged(client).isEmpty)
    }

    @Test func `SessionEnded is the last message of a session`() throws {
        var (world, client, session) = try self.guiding()
        world.publish(client, session, Self.road(2))
        world.publish(client, session, .finishGuidance)
        world.wait(.seconds(1))
        #expect(world.acknowledged(client).isEmpty)
        #expect(world.messages(client).last?.type == .sessionEnded)
        #expect(world.gateway.unacknowledged.isEmpty)
    }

    @Test func `what Welcome says is not acknowledged again`() throws {
        var (world, client, session) = try self.guiding()
        world.publish(client, session, Self.road(2))
        let token = world.welcomes[client]?.resumptionToken
        world.handle(.departed(client, clean: false))
        world.wait(.milliseconds(100))
        let back = world.arrive(3, World.client("app"), token: token)
        #expect(world.welcomes[back]?.sessions.map(\.sequence) == [2])
        world.wait(.milliseconds(400))
        #expect(world.acknowledged(back).isEmpty)
        world.publish(back, session, Self.road(3))
        world.wait(.milliseconds(500))
        #expect(world.acknowledged(back) == [3])
        #expect(world.acknowledged(client).isEmpty)
    }

    @Test func `the next process acknowledges what this one has not`() throws {
        var (world, client, session) = try self.guiding()
        world.publish(client, session, Self.road(2))
        let bytes = try StateCoder.encode(GatewayState(world.gateway), format: GatewayState.format)
        let state = try StateCoder.decode(GatewayState.self, from: bytes, format: GatewayState.format)
        let gateway = try #require(state.gateway(policy: world.gateway.policy, coder: Codec.coder))
        #expect(gateway == world.gateway)
        world.gateway = gateway
        world.wait(.milliseconds(500))
        #expect(world.acknowledged(client) == [2])
        for number in UInt64(3)...66 { world.publish(client, session, Self.road(number)) }
        #expect(world.acknowledged(client) == [2, 66])
    }

    @Test func `the smallest budget is enough to acknowledge`() throws {
        var (world, client, session) = try self.guiding()
        world.gateway.stepUnitsMax = 1
        world.publish(client, session, Self.road(2))
        world.now = world.now + .milliseconds(500)
        world.begin(.deadlineReached)
        for _ in 0..<4 where world.gateway.hasSteps(of: nil) { world.begin(.stepDue(of: nil)) }
        #expect(world.acknowledged(client) == [2])
        #expect(!world.gateway.hasSteps(of: nil))
    }

    @Test func `many sessions are acknowledged at a few instants`() throws {
        var world = World()
        var sessions: [(ConnectionID, SessionID)] = []
        for index in UInt64(0)..<50 {
            let client = world.arrive(1_000 + index, World.client("app\(index)"))
            sessions.append((client, try world.guided(client, ["car\(index)"])))
        }
        world.wait(.seconds(1))
        world.mail = [:]
        var instants: Set<Instant> = []
        for (client, session) in sessions {
            world.now = world.now + .milliseconds(1)
            world.publish(client, session, Self.road(2))
        }
        while let armed = world.gateway.armed {
            instants.insert(armed)
            world.now = armed
            world.handle(.deadlineReached)
        }
        #expect(instants.count <= 2)
        for (client, _) in sessions { #expect(world.acknowledged(client) == [2]) }
    }
}

extension World {
    /// The numbers that were acknowledged to a client.
    func acknowledged(_ client: ConnectionID) -> [UInt64] {
        self.messages(client).compactMap {
            if case .acknowledgement(let sequence) = $0 { sequence } else { nil }
        }
    }
}
