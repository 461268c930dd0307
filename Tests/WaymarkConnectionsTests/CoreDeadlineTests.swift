import Testing
import WaymarkCodec
import WaymarkConnections
import WaymarkGateway
import WaymarkProtocol

/// Everything that the gateway's core waits for has one deadline.
@Suite struct CoreDeadlineTests {
    /// A core, and what its driver does.
    private struct Rig {
        var core: GatewayCore
        /// The instant that the driver was told last.
        var told: Instant?
        var instructions: [Instruction] = []

        init() {
            let gateway = Gateway(policy: Gateway.Policy(), coder: Codec.coder, firstSession: SessionID(1))
            self.core = GatewayCore(gateway, loopCount: 1, software: "test")
        }

        mutating func submit(_ event: Gateway.Event, from id: ConnectionID, at now: Instant) {
            if self.core.submit([event], from: id, cost: 1, isReadOver: true, at: now) { self.carryOut() }
        }

        mutating func arrive(_ role: Hello.Role, on id: ConnectionID, at now: Instant) {
            self.core.assign(id, to: 0, payer: Payer(rawValue: id.rawValue))
            let token = ResumptionToken(high: 1, low: id.rawValue)
            self.submit(.arrived(id, Hello(role: role), .user(1), token: token), from: id, at: now)
        }

        mutating func run(at now: Instant) {
            while self.core.isRunDue(), self.core.run(at: now) { self.carryOut() }
        }

        private mutating func carryOut() {
            let work = self.core.takeWork()
            self.instructions += work.instructions
            if let deadline = work.deadline { self.told = deadline }
            self.core.endProcessing(work)
        }

        /// How many portions observers were sent since the last call.
        mutating func takePortions() -> Int {
            defer { self.instructions = [] }
            return self.instructions.count { if case .tell = $0 { true } else { false } }
        }
    }

    private static let start = Instant(nanoseconds: 0)
    private static let grace = GatewayLimits().grace

    private static func client(_ id: String) -> Hello.Role {
        .navigation(NavigationHello(client: ClientID(unchecked: id), features: [Feature]()))
    }

    @Test func `the gateway's deadline is told once, and handed in once`() {
        var rig = Rig()
        rig.arrive(Self.client("app"), on: ConnectionID(1), at: Self.start)
        #expect(rig.core.deadline == nil)
        rig.submit(.departed(ConnectionID(1), clean: false), from: ConnectionID(1), at: Self.start)
        let end = Self.start + Self.grace
        #expect(rig.core.deadline == end)
        #expect(rig.told == end)
        rig.told = nil
        rig.arrive(Self.client("other"), on: ConnectionID(2), at: Self.start)
        #expect(rig.told == nil)
        rig.core.deadlineReached(at: end)
        // It is due no more, whenever the gateway will process it.
        #expect(rig.core.deadline == nil)
        #expect(rig.core.gateway.holdings.peerCount == 2)
        rig.run(at: end)
        #expect(rig.core.gateway.holdings.peerCount == 1)
        #expect(rig.core.deadline == nil && !rig.core.hasPending)
    }

    @Test func `a call before the deadline tells it again`() {
        var rig = Rig()
        rig.arrive(Self.client("app"), on: ConnectionID(1), at: Self.start)
        rig.submit(.departed(ConnectionID(1), clean: false), from: ConnectionID(1), at: Self.start)
        rig.told = nil
        rig.core.deadlineReached(at: Self.start + .seconds(1))
        rig.run(at: Self.start + .seconds(1))
        #expect(rig.told == Self.start + Self.grace)
        #expect(rig.core.gateway.holdings.peerCount == 1)
    }

    @Test func `the end of the observers' rest comes before the gateway's deadline, which is told behind it`()
    {
        var rig = Rig()
        let (observer, client) = (ConnectionID(1), ConnectionID(2))
        var hello = ObserverHello(observer: ObserverName(unchecked: "watcher"))
        hello.visibility = .all
        rig.arrive(.observer(hello), on: observer, at: Self.start)
        var observe = Observe()
        (observe.wantsState, observe.wantsEvents, observe.wantsFrames) = (true, true, true)
        rig.submit(.received(observer, .observe(observe), .none), from: observer, at: Self.start)
        repeat {
            rig.core.noteRoom(forObserver: observer)
            rig.run(at: Self.start)
        } while rig.takePortions() > 0
        #expect(rig.core.deadline == nil)
        let restEnd = Self.start + .milliseconds(10)
        rig.arrive(Self.client("app"), on: client, at: Self.start)
        #expect(rig.told == restEnd)
        rig.told = nil
        rig.submit(.departed(client, clean: false), from: client, at: Self.start)
        #expect(rig.told == nil)
        #expect(rig.core.deadline == restEnd)
        #expect(rig.takePortions() == 0)
        rig.core.deadlineReached(at: restEnd)
        #expect(rig.core.deadline == Self.start + Self.grace)
        rig.run(at: restEnd)
        #expect(rig.takePortions() == 1)
        #expect(rig.told == Self.start + Self.grace)
    }

    @Test func `a core that continues has the deadline of the gateway`() throws {
        var rig = Rig()
        rig.arrive(Self.client("app"), on: ConnectionID(1), at: Self.start)
        rig.submit(.departed(ConnectionID(1), clean: false), from: ConnectionID(1), at: Self.start)
        var next = Rig()
        next.core.adopt(rig.core.gateway)
        #expect(next.core.deadline == Self.start + Self.grace)
        next.core.deadlineReached(at: Self.start)
        next.run(at: Self.start)
        #expect(next.told == Self.start + Self.grace)
    }
}
