import Testing
import WaymarkCodec
import WaymarkConnections
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// Loops with a budget do something also with the smallest one: otherwise they would plan themselves for ever.
@Suite struct SmallestBudgetTests {
    private static let audience = AudienceID(1)
    private static let request = LoopRig.bytes([Envelope(.allowNavigation)])

    private static var budget: LoopCore.Budget {
        var budget = LoopCore.Budget()
        (budget.turn, budget.round, budget.deadlines, budget.submitted) = (1, 1, 1, 1)
        return budget
    }

    /// What a core did until it had nothing more to do.
    private struct Work {
        var events: [Gateway.Event] = []
        var portions: [Int: [UInt8]] = [:]
    }

    /// Lets a core work as long as it wants to. Its gateway processes what is submitted, and its channels write what they are given.
    private static func work(_ rig: inout LoopRig) -> Work {
        var work = Work()
        for _ in 0..<10_000 {
            let actions = rig.take()
            for action in actions {
                switch action {
                case .submit(let events, let id, let cost, _):
                    work.events += events
                    rig.change { core, _, _, actions in
                        core.end(ProcessedBatch(connection: id, cost: cost), into: &actions)
                    }
                case .write(let slot, let portion):
                    work.portions[slot, default: []] += portion
                    rig.setRoom(.max, of: slot)
                    rig.channelWrote(slot)
                default: break
                }
            }
            if rig.core.hasPlannedWork() {
                rig.work()
            } else if actions.isEmpty {
                return work
            }
        }
        Issue.record("the core plans work for ever")
        return work
    }

    @Test func `a loop processes all input`() throws {
        var rig = LoopRig()
        let slots = try (1...3).map { try rig.endpoint(UInt64($0)) }
        rig.core.budget = Self.budget
        for slot in slots {
            rig.receive(slot, Self.request + BehindHelloTests.ping + Self.request + Self.request)
        }
        #expect(Self.work(&rig).events.count == 9)
        for slot in slots { #expect(try rig.messages(slot).map(\.type) == [.pong]) }
    }

    @Test func `a loop sends to every member of an audience, also past a socket that was full`() throws {
        var rig = LoopRig()
        let slots = try (1...3).map { try rig.endpoint(UInt64($0)) }
        rig.perform((1...3).map { .join(ConnectionID($0), Self.audience) })
        rig.core.budget = Self.budget
        rig.setRoom(0, of: slots[1])
        let alerts = [LoopRig.alert(1), LoopRig.alert(2)]
        for alert in alerts { rig.perform([.publish(Self.audience, LoopRig.batch([alert]))]) }
        let portions = Self.work(&rig).portions
        for slot in slots {
            #expect((portions[slot] ?? []) + rig.sent(slot) == LoopRig.bytes(alerts))
        }
    }

    @Test func `a loop handles a deadline at each call`() {
        var rig = LoopRig()
        for number in UInt64(1)...5 { _ = rig.newcomer(number) }
        rig.core.budget = Self.budget
        rig.now = rig.now + .seconds(3_600)
        var closedCount = 0
        for _ in 0..<5 {
            rig.change { core, now, send, actions in
                core.deadlineReached(at: now, send, into: &actions)
            }
            for case .close in rig.take() { closedCount += 1 }
        }
        #expect(closedCount == 5)
    }

    @Test func `the gateway processes every event and every frame`() {
        let gateway = Gateway(policy: Gateway.Policy(), coder: Codec.coder, firstSession: SessionID(1))
        var core = GatewayCore(gateway, loopCount: 1, software: "test")
        (core.budget.turn, core.budget.run, core.budget.frames) = (1, 1, 1)
        let now = Instant(nanoseconds: 0)
        for number in UInt64(1)...3 {
            let id = ConnectionID(number)
            core.assign(id, to: 0, payer: Payer(rawValue: number))
            let navigation = NavigationHello(client: ClientID(unchecked: "c\(number)"), features: [Feature]())
            var frames = PublishedFrames()
            for sequence in UInt64(1)...3 {
                let road = Publication.currentRoadName(["Road"])
                let envelope = Envelope(.publication(road), session: SessionID(1), sequence: sequence)
                frames.append(copyOf: Codec.encode(envelope), road.outline)
            }
            let events: [Gateway.Event] = [
                .arrived(
                    id, Hello(role: .navigation(navigation)), .user(1),
                    token: ResumptionToken(high: 1, low: number)),
                .published(id, frames), .departed(id, clean: true),
            ]
            let hasRun = core.submit(events, from: id, cost: 1, isReadOver: false, at: now)
            #expect(!hasRun)
        }
        var (runCount, doneCount) = (0, 0)
        while core.isRunDue(), runCount < 1_000 {
            runCount += 1
            guard core.run(at: now) else { continue }
            let work = core.takeWork()
            doneCount += work.batchesDone.count
            core.endProcessing(work)
        }
        #expect(doneCount == 3)
        #expect(!core.hasPending && runCount > 3)
        #expect(core.gateway.census.clients == 0)
    }
}
