import Testing
import WaymarkCodec
import WaymarkConnections
import WaymarkGateway
import WaymarkProtocol

/// What a loop counts of connections that close while something is under way.
@Suite struct LoopCounterTests {
    private func totals(_ rig: inout LoopRig) -> LoopTotals {
        rig.core.measure(withConnections: false).totals
    }

    @Test func `a peer whose handshake times out while the gateway admits it is refused, and not admitted`()
        throws
    {
        var rig = LoopRig()
        let slot = rig.newcomer(1)
        rig.receive(slot, LoopRig.hello(1))
        rig.handle(.deadlineReached, on: slot)
        rig.admit(slot, 1)
        let counted = self.totals(&rig)
        #expect(counted.admitted.all.isEmpty)
        #expect(counted.refused.all.map(\.code) == [CloseCode.handshakeTimeout.rawValue])
    }

    @Test func `peers are counted as admitted once, also when they resume`() throws {
        var rig = LoopRig()
        let slots = [try rig.endpoint(1), rig.newcomer(2)]
        rig.receive(slots[1], LoopRig.hello(2))
        var welcome = LoopRig.welcome(2)
        welcome.isResumed = true
        rig.handle(.admitted(welcome), on: slots[1])
        _ = try rig.client(3)
        rig.handle(.closeRequested(Goodbye(.takenOver)), on: slots[0])
        rig.change { core, now, _, actions in core.remove(slots[0], at: now, into: &actions) }
        let counted = self.totals(&rig)
        #expect(counted.admitted.all.map(\.code) == [1, 2] && counted.admitted.all.map(\.count) == [2, 1])
        #expect(counted.resumed == 1)
    }

    @Test
    func `a portion that the channel writes after the connection closed is counted, and what follows it`()
        throws
    {
        var rig = LoopRig(portionBytes: 7)
        let slot = try rig.endpoint(1)
        let sent = self.totals(&rig).sent
        rig.setRoom(0, of: slot)
        rig.perform([.send(ConnectionID(1), Codec.encode(LoopRig.alert(1)))])
        let portion = rig.portions(slot)
        #expect(portion.count == 7)
        rig.handle(.closeRequested(Goodbye(.slowConsumer)), on: slot)
        var rest = 0
        for case .close(slot, let bytes) in rig.take() { rest = bytes.reduce(0) { $0 + $1.count } }
        #expect(self.totals(&rig).sent == sent)
        rig.channelWrote(slot)
        #expect(self.totals(&rig).sent == sent + 7)
        rig.core.noteSent(slot, rest)
        #expect(self.totals(&rig).sent == sent + 7 + UInt64(rest))
        rig.change { core, now, _, actions in core.remove(slot, at: now, into: &actions) }
        #expect(self.totals(&rig).sent == sent + 7 + UInt64(rest))
    }
}
