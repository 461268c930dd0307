import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// Fitting to profiles with slots for a part of the route: once for each profile and batch, by steps.
@Suite struct LazyFittingTests {
    private static let maneuverCount: UInt32 = 400
    private static let slots: UInt32 = 100

    private struct Fixture {
        var world: World
        let client: ConnectionID
        let session: SessionID
        let endpoints: [ConnectionID]
        var sequence: UInt64 = 0

        /// A session along a long route, with an endpoint of each of `count` profiles.
        init(_ count: UInt64, _ change: (inout Gateway.Policy) -> Void = { _ in }) throws {
            self.world = World(change)
            self.endpoints = (1...count).map(ConnectionID.init)
            for id in 1...count {
                self.world.arrive(
                    id,
                    World.endpoint("car\(id)") { $0.limits.maneuversStoredMax = slots + UInt32(id) })
            }
            self.client = self.world.arrive(100, World.client("app"))
            self.session = try self.world.guided(self.client, (1...count).map { "car\($0)" })
            self.sequence = self.world.gateway.sessions[self.session]?.sequence ?? 0
            self.publish([.addManeuvers(Self.route, generation: 1)])
            self.world.mail = [:]
        }

        static let route = (1...LazyFittingTests.maneuverCount).map {
            Maneuver(
                id: ManeuverID(rawValue: 1_000 + $0), type: .leftTurn,
                instructionVariants: [String(repeating: "long ", count: 20)])
        }

        /// Publishes what the gateway gets in one read.
        mutating func batch(_ publications: [Publication]) -> Gateway.Event {
            var frames = PublishedFrames()
            for publication in publications {
                self.sequence += 1
                let envelope = Envelope(
                    .publication(publication), session: self.session, sequence: self.sequence)
                frames.append(copyOf: Codec.encode(envelope), publication.outline)
            }
            return .published(self.client, frames)
        }

        mutating func publish(_ publications: [Publication]) {
            let event = self.batch(publications)
            self.world.handle(event)
        }
    }

    private static func upcoming(_ first: UInt32) -> Publication {
        .upcomingManeuvers([ManeuverID(rawValue: 1_000 + first)], generation: 1)
    }

    @Test func `of many jumps along the route in one batch only the last is fitted`() throws {
        var fixture = try Fixture(1)
        let work = fixture.world.gateway.counters.work.units
        fixture.publish((0..<50).map { Self.upcoming($0 % 2 == 0 ? 1 : 300) })
        let types = fixture.world.mail[fixture.endpoints[0], default: []].map(\.message.type)
        #expect(types == [.addManeuvers, .upcomingManeuvers])
        // Each jump sends 100 maneuvers again.
        #expect(fixture.world.gateway.counters.work.units - work < 300)
    }

    @Test func `no event of a batch is left out`() throws {
        var fixture = try Fixture(1)
        let alert = Publication.showAlert(NavigationAlert(id: 1, titleVariants: ["Jam"]))
        fixture.publish([
            Self.upcoming(300), alert, Self.upcoming(1), .dismissAlert(1, .timeout), Self.upcoming(300),
        ])
        let types = fixture.world.mail[fixture.endpoints[0], default: []].map(\.message.type)
        #expect(types == [.showAlert, .dismissAlert, .addManeuvers, .upcomingManeuvers])
    }

    @Test func `one jump is fitted to a few profiles at once, and to the others by steps`() throws {
        var fixture = try Fixture(16)
        let event = fixture.batch([Self.upcoming(300)])
        fixture.world.begin(event)
        let served = { (world: World) in fixture.endpoints.count { world.mail[$0] != nil } }
        #expect(1..<8 ~= served(fixture.world))
        var work = fixture.world.gateway.counters.work.units
        while fixture.world.gateway.hasSteps(of: fixture.client) {
            fixture.world.begin(.stepDue(of: fixture.client))
            #expect(fixture.world.gateway.counters.work.units - work < 200)
            work = fixture.world.gateway.counters.work.units
        }
        #expect(served(fixture.world) == 16)
    }

    @Test func `an endpoint that joins between two steps holds the newest window`() throws {
        var fixture = try Fixture(16)
        let event = fixture.batch([Self.upcoming(300)])
        fixture.world.begin(event)
        let late = World.endpoint("car16", "late") { $0.limits.maneuversStoredMax = Self.slots + 16 }
        fixture.world.arrive(50, late)
        // The one that was there gets what waited for the profile first.
        #expect(
            fixture.world.mail[fixture.endpoints[15], default: []].map(\.message.type).contains(
                .upcomingManeuvers))
        while fixture.world.gateway.hasSteps { fixture.world.begin(.stepDue(of: fixture.client)) }
        let types = fixture.world.mail[ConnectionID(50), default: []].map(\.message.type)
        #expect(types.first == .snapshotBegin && types.last == .snapshotEnd)
    }

    @Test func `frames that are fitted by steps count for the quota of recent frames`() throws {
        for late in [false, true] {
            var fixture = try Fixture(16) { $0.limits.replayBytesPerUserMax = 20_000 }
            let event = fixture.batch([Self.upcoming(300)])
            fixture.world.begin(event)
            if late {
                let role = World.endpoint("car16", "late") { $0.limits.maneuversStoredMax = Self.slots + 16 }
                fixture.world.arrive(50, role)
            }
            while fixture.world.gateway.hasSteps { fixture.world.begin(.stepDue(of: fixture.client)) }
            let gateway = fixture.world.gateway
            let user = try #require(gateway.sessions[fixture.session]?.userIndex)
            #expect(gateway.memory.replayRoom(of: user, gateway.policy.limits) >= 0)
        }
    }

    @Test func `guidance that ends before all is fitted ends for every profile`() throws {
        var fixture = try Fixture(16)
        let event = fixture.batch([Self.upcoming(300), .finishGuidance])
        fixture.world.begin(event)
        while fixture.world.gateway.hasSteps { fixture.world.begin(.stepDue(of: fixture.client)) }
        for id in fixture.endpoints {
            #expect(fixture.world.mail[id, default: []].last?.message.type == .finishGuidance)
        }
        #expect(fixture.world.gateway.sessions.isEmpty)
    }
}
