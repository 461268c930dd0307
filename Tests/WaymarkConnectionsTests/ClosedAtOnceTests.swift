import Testing
import WaymarkCodec
import WaymarkConnections
import WaymarkGateway
import WaymarkProtocol

/// Very many connections whose transports close in the same moment.
@Suite struct ClosedAtOnceTests {
    private static let audience = AudienceID(1)
    private static let request = LoopRig.bytes([Envelope(.allowNavigation)])
    /// The connections that one round may end.
    private static let endsMax = 10

    private static var budget: LoopCore.Budget {
        var budget = LoopCore.Budget()
        budget.round = Self.endsMax * LoopCore.endCost
        return budget
    }

    /// Endpoints of one payer, numbered from 1.
    private static func endpoints(_ count: UInt64, in rig: inout LoopRig) throws -> [Int] {
        try (1...count).map { number in
            // A round of its own for each.
            rig.core.budget = LoopCore.Budget()
            return try rig.endpoint(number, of: Payer(rawValue: 1_000_000))
        }
    }

    private static func close(_ rig: inout LoopRig, _ slot: Int) {
        rig.change { core, now, send, actions in
            core.transportClosed(slot, at: now, send, into: &actions)
            core.remove(slot, at: now, into: &actions)
        }
    }

    /// The connections with events for the gateway, in order.
    private static func submitting(_ actions: [LoopCore.Action]) -> [ConnectionID] {
        actions.compactMap { if case .submit(_, let id, _, _) = $0 { id } else { nil } }
    }

    private static func removed(_ actions: [LoopCore.Action]) -> [ConnectionID] {
        actions.compactMap { if case .removed(let id) = $0 { id } else { nil } }
    }

    @Test func `a frame of another peer waits for the end of few of them`() throws {
        var rig = LoopRig()
        let slots = try Self.endpoints(200, in: &rig)
        let other = ConnectionID(1_000)
        rig.core.budget = LoopCore.Budget()
        let otherSlot = try rig.endpoint(other.rawValue)
        _ = rig.take()
        rig.core.budget = Self.budget
        for slot in slots { Self.close(&rig, slot) }
        var actions = rig.take()
        #expect(Self.submitting(actions).count == Self.endsMax)
        var removed = Self.removed(actions)
        #expect(removed.count == Self.endsMax)
        rig.receive(otherSlot, Self.request)
        rig.work()
        actions = rig.take()
        // The payers have turns alternately.
        let index = try #require(Self.submitting(actions).firstIndex(of: other))
        #expect(index <= 1)
        while true {
            let ended = Self.removed(actions)
            #expect(ended.count <= Self.endsMax)
            removed += ended
            guard rig.core.hasPlannedWork() else { break }
            rig.work()
            actions = rig.take()
        }
        #expect(removed.map(\.rawValue).sorted() == Array(1...200))
        #expect(rig.core.connectionCount == 1)
    }

    @Test func `each of them departs once`() throws {
        var rig = LoopRig()
        let slots = try Self.endpoints(50, in: &rig)
        _ = rig.take()
        rig.core.budget = Self.budget
        for slot in slots { Self.close(&rig, slot) }
        while rig.core.hasPlannedWork() { rig.work() }
        var departed: [UInt64] = []
        for case .submit(let events, _, _, _) in rig.take() {
            for case .departed(let id, _) in events { departed.append(id.rawValue) }
        }
        #expect(departed.sorted() == Array(1...50))
    }

    /// The number of its socket may be that of another connection by then.
    @Test func `nothing is sent on the socket of a connection whose end waits`() throws {
        var rig = LoopRig()
        let slots = try Self.endpoints(4, in: &rig)
        rig.perform((1...4).map { .join(ConnectionID($0), Self.audience) })
        var budget = LoopCore.Budget()
        budget.round = 1
        rig.core.budget = budget
        for slot in slots.dropLast() {
            rig.change { core, now, send, actions in
                core.transportClosed(slot, at: now, send, into: &actions)
            }
        }
        rig.perform([.publish(Self.audience, LoopRig.batch([LoopRig.alert(1)]))])
        while rig.core.hasPlannedWork() { rig.work() }
        #expect(rig.sent(slots[3]) == LoopRig.bytes([LoopRig.alert(1)]))
        for slot in slots.dropLast() { #expect(rig.sent(slot).isEmpty) }
    }

    @Test func `a connection whose end waits is not handed over`() throws {
        var rig = LoopRig()
        let slots = try Self.endpoints(2, in: &rig)
        _ = rig.take()
        var budget = LoopCore.Budget()
        budget.round = 1
        rig.core.budget = budget
        for slot in slots { Self.close(&rig, slot) }
        rig.change { core, now, send, actions in
            core.suspend(slots[1], at: now, send, into: &actions)
        }
        let isSuspended = rig.core.isSuspended(slots[1])
        #expect(!isSuspended)
        while rig.core.hasPlannedWork() { rig.work() }
        #expect(Self.removed(rig.take()).map(\.rawValue) == [1, 2])
    }

    @Test func `the gateway handles a message of another peer between their departures`() throws {
        let gateway = Gateway(policy: Gateway.Policy(), coder: Codec.coder, firstSession: SessionID(1))
        var core = GatewayCore(gateway, loopCount: 1, software: "test")
        let now = Instant(nanoseconds: 0)
        let cut = (1...500).map { ConnectionID(UInt64($0)) }
        let other = ConnectionID(1_000)
        for id in cut + [other] {
            core.assign(id, to: 0, payer: Payer(rawValue: id == other ? 2 : 1))
            let vehicle = VehicleHello(
                vehicle: VehicleID(unchecked: "v\(id.rawValue)"), endpoint: EndpointName(unchecked: "e"),
                features: Set(Feature.allCases))
            let token = ResumptionToken(high: 1, low: id.rawValue)
            let event = Gateway.Event.arrived(id, Hello(role: .vehicle(vehicle)), .user(1), token: token)
            if core.submit([event], from: id, cost: 1, isReadOver: true, at: now) {
                let work = core.takeWork()
                core.endProcessing(work)
            }
        }
        core.budget.run = 20
        // They close in one tick, and the other peer is read behind them.
        _ = core.planRun()
        for id in cut + [other] {
            let hasRun = core.submit(
                [.departed(id, clean: false)], from: id, cost: 0, isReadOver: true, at: now)
            #expect(!hasRun)
        }
        var order: [ConnectionID] = []
        while core.isRunDue(), core.run(at: now) {
            let work = core.takeWork()
            order += work.batchesDone.map(\.connection)
            core.endProcessing(work)
        }
        // Each departure is a unit at least. The next run gives both payers turns.
        let index = try #require(order.firstIndex(of: other))
        #expect(index <= 21 && order.count == 501)
    }
}
