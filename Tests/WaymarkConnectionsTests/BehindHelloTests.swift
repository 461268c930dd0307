import Testing
import WaymarkCodec
import WaymarkConnections
import WaymarkGateway
import WaymarkProtocol

/// What a peer sends behind its Hello, before it has read the Welcome.
@Suite struct BehindHelloTests {
    static let ping = LoopRig.bytes([Envelope(.ping(nonce: 5))])
    static let request = LoopRig.bytes([Envelope(.allowNavigation)])

    /// How many batches were submitted, and whether a Hello was among what the core wanted done.
    static func submitted(_ rig: inout LoopRig) -> (batches: Int, hellos: Int, reads: Int, removed: Int) {
        var counts = (batches: 0, hellos: 0, reads: 0, removed: 0)
        for action in rig.take() {
            switch action {
            case .submit: counts.batches += 1
            case .admit: counts.hellos += 1
            case .read: counts.reads += 1
            case .removed: counts.removed += 1
            default: break
            }
        }
        return counts
    }

    @Test(arguments: [true, false])
    func `what follows a Hello waits for the Welcome`(_ isOneRead: Bool) throws {
        var rig = LoopRig()
        let slot = rig.newcomer(1)
        let rest = Self.ping + Self.request
        rig.receive(slot, isOneRead ? LoopRig.hello(1) + rest : LoopRig.hello(1))
        if !isOneRead { rig.receive(slot, rest) }
        rig.work()
        #expect(try rig.messages(slot).isEmpty)
        #expect(Self.submitted(&rig) == (0, 1, 0, 0))
        rig.admit(slot, 1)
        rig.work()
        #expect(try rig.messages(slot).map(\.type) == [.welcome, .pong])
        #expect(Self.submitted(&rig).batches == 1)
    }

    @Test func `a part of a frame behind a Hello is completed after the Welcome`() throws {
        var rig = LoopRig()
        let slot = rig.newcomer(1)
        rig.receive(slot, LoopRig.hello(1) + Self.ping.prefix(10))
        rig.admit(slot, 1)
        rig.work()
        #expect(try rig.messages(slot).map(\.type) == [.welcome])
        rig.receive(slot, Array(Self.ping.dropFirst(10)))
        #expect(try rig.messages(slot).map(\.type) == [.pong])
    }

    @Test func `a refused Hello discards what follows it`() throws {
        var rig = LoopRig()
        let slot = rig.newcomer(1)
        rig.receive(slot, LoopRig.hello(1) + Self.ping + Self.request)
        _ = rig.take()
        rig.handle(.closeRequested(Goodbye(.idInUse)), on: slot)
        rig.work()
        let closed = rig.take().flatMap { action -> [UInt8] in
            if case .close(slot, let rest) = action { rest.flatMap { Array($0) } } else { [] }
        }
        let sent = rig.sent(slot) + closed
        #expect(sent == LoopRig.bytes([Envelope(.goodbye(Goodbye(.idInUse)))]))
        Self.close(&rig, slot)
        #expect(Self.submitted(&rig).removed == 1)
    }

    @Test func `a peer that floods behind its Hello is not read on`() throws {
        var rig = LoopRig()
        let slot = rig.newcomer(1)
        rig.receive(slot, LoopRig.hello(1))
        // What follows may be read once.
        #expect(Self.mayRead(&rig, slot))
        rig.receive(slot, Self.ping)
        #expect(!Self.mayRead(&rig, slot))
        _ = rig.take()
        rig.admit(slot, 1)
        rig.work()
        #expect(Self.submitted(&rig).reads == 1)
        #expect(Self.mayRead(&rig, slot))
    }

    @Test(arguments: [true, false])
    func `a Goodbye behind a Hello counts, also if the peer closes at once`(_ isAdmitted: Bool) throws {
        var rig = LoopRig()
        let slot = rig.newcomer(1)
        let goodbye = LoopRig.bytes([Envelope(.goodbye(Goodbye(.normal)))])
        rig.receive(slot, LoopRig.hello(1) + goodbye)
        var batch: ProcessedBatch?
        for case .admit(slot, let hello) in rig.take() {
            rig.change { core, _, _, actions in
                core.arrive(
                    slot, hello, .user(1), token: ResumptionToken(high: 1, low: 1), into: &actions)
            }
        }
        for case .submit(_, let id, let cost, _) in rig.take() {
            batch = ProcessedBatch(connection: id, cost: cost)
        }
        Self.close(&rig, slot)
        #expect(Self.submitted(&rig).removed == 0)
        if isAdmitted {
            rig.admit(slot, 1)
        } else {
            rig.handle(.closeRequested(Goodbye(.idInUse)), on: slot)
        }
        let answered = try #require(batch)
        rig.change { core, _, _, actions in core.end(answered, into: &actions) }
        rig.work()
        var departures: [Gateway.Event] = []
        var removedCount = 0
        for action in rig.take() {
            if case .submit(let events, _, _, _) = action { departures += events }
            if case .removed = action { removedCount += 1 }
        }
        #expect(departures == [.departed(ConnectionID(1), clean: isAdmitted)])
        #expect(removedCount == 1)
    }

    @Test func `a connection that is cut behind its Hello is removed, with what waits`() throws {
        var rig = LoopRig()
        let slot = rig.newcomer(1)
        rig.receive(slot, LoopRig.hello(1) + Self.request)
        _ = rig.take()
        Self.close(&rig, slot)
        rig.work()
        #expect(Self.submitted(&rig).removed == 1)
        #expect(rig.core.inputByteCount == 0)
    }

    @Test func `what follows a Hello waits in a suspended connection, too`() throws {
        var rig = LoopRig()
        let slot = rig.newcomer(1)
        rig.receive(slot, LoopRig.hello(1) + Self.ping)
        rig.change { core, now, send, actions in core.suspend(slot, at: now, send, into: &actions) }
        rig.admit(slot, 1)
        rig.work()
        #expect(try rig.messages(slot).isEmpty)
        rig.change { core, now, send, actions in
            let continues = core.resume(slot, at: now, send, into: &actions)
            #expect(continues)
        }
        rig.work()
        #expect(try rig.messages(slot).map(\.type) == [.welcome, .pong])
    }

    @Test func `a connection that resumes before its Welcome still waits for it`() throws {
        var rig = LoopRig()
        let slot = rig.newcomer(1)
        rig.receive(slot, LoopRig.hello(1) + Self.ping)
        rig.change { core, now, send, actions in core.suspend(slot, at: now, send, into: &actions) }
        rig.change { core, now, send, actions in
            let continues = core.resume(slot, at: now, send, into: &actions)
            #expect(continues)
        }
        rig.work()
        #expect(try rig.messages(slot).isEmpty)
        rig.admit(slot, 1)
        rig.work()
        #expect(try rig.messages(slot).map(\.type) == [.welcome, .pong])
    }

    @Test(arguments: AcceptingSession.Role.allCases, [true, false])
    func `a skipped frame is reported to a peer that asks for it`(
        _ role: AcceptingSession.Role, _ reportsIgnored: Bool
    ) throws {
        var rig = LoopRig()
        let slot = rig.newcomer(1)
        rig.receive(slot, LoopRig.hello(1, role, reportsIgnored: reportsIgnored))
        rig.admit(slot, 1)
        let header = FrameHeader(type: 0x0EEE, flags: .skippable, session: SessionID(3), sequence: 4)
        rig.receive(slot, Array(Frame(header: header, body: [1]).bytes))
        let rejection = Rejection(.ignored, reason: "type 3822 is not known").of(header)
        let reports = try rig.messages(slot).dropFirst()
        #expect(Array(reports) == (reportsIgnored ? [.error(rejection)] : []))
    }

    private static func mayRead(_ rig: inout LoopRig, _ slot: Int) -> Bool { rig.core.mayRead(slot) }

    private static func close(_ rig: inout LoopRig, _ slot: Int) {
        rig.change { core, now, send, actions in
            core.transportClosed(slot, at: now, send, into: &actions)
            core.remove(slot, at: now, into: &actions)
        }
    }
}
