import Testing
import WaymarkConnections
import WaymarkGateway
import WaymarkProtocol

/// The bound of what waits for a peer because of its own messages, in every role.
@Suite struct UnreadAnswerTests {
    private static let id = ConnectionID(1)
    /// The most that may wait for an observer above what waited when it was told something, or had room for more.
    private static let answerBytesMax = 65_536
    /// The bytes that may have left the outbox: a portion.
    private static let sendingBytesMax = 32_768

    private static func pings(_ count: Int) -> [UInt8] {
        LoopRig.bytes((0..<count).map { Envelope(.ping(nonce: UInt64($0))) })
    }

    private static func pongs(_ count: Int) -> [UInt8] {
        LoopRig.bytes((0..<count).map { Envelope(.pong(nonce: UInt64($0))) })
    }

    /// Three frames that an observer is told, longer than the outbox of ``smallOutbox``.
    private static let portion = (1...3).map { number in
        Frame(
            header: FrameHeader(type: MessageType.observedFrames.rawValue),
            body: [UInt8](repeating: UInt8(number), count: 100_000))
    }
    private static var portionByteCount: Int { self.portion.reduce(0) { $0 + $1.bytes.count } }

    private static var smallOutbox: Outbox.Limits {
        var limits = Outbox.Limits()
        limits.bytesMax = 65_536
        return limits
    }

    private static func admit(_ role: AcceptingSession.Role, to rig: inout LoopRig) throws -> Int {
        switch role {
        case .vehicle: try rig.endpoint(1)
        case .navigation: try rig.client(1)
        case .observer: try rig.observer(1)
        }
    }

    /// A peer sends the same read until it is closed, and its socket accepts nothing.
    ///
    /// - Returns: The code of its Goodbye, and the most bytes that waited for it.
    private static func flood(
        _ rig: inout LoopRig, _ slot: Int, with read: [UInt8]
    ) -> (code: CloseCode?, byteCount: Int) {
        rig.setRoom(0, of: slot)
        var byteCount = 0
        for _ in 0..<1_000 where !rig.core.isClosing(slot) {
            rig.receive(slot, read)
            rig.work()
            byteCount = max(byteCount, rig.core.waitingByteCount)
        }
        for case .note(slot, .closing(let goodbye)) in rig.take() { return (goodbye.code, byteCount) }
        return (nil, byteCount)
    }

    /// A peer reads everything.
    ///
    /// - Returns: How many bytes it got that were not taken before, and whether an observer has room for another portion.
    private static func readAll(_ rig: inout LoopRig, _ slot: Int) -> (byteCount: Int, hasRoom: Bool) {
        rig.setRoom(.max, of: slot)
        var (byteCount, hasRoom) = (0, false)
        for round in 0..<1_000 {
            if round > 0 {
                guard rig.core.waitingByteCount > 0 else { break }
                rig.channelWrote(slot)
                rig.work()
            }
            for action in rig.take() {
                switch action {
                case .write(slot, let portion): byteCount += portion.count
                case .roomForObserver: hasRoom = true
                default: break
                }
            }
        }
        return (byteCount + rig.sent(slot).count, hasRoom)
    }

    @Test(arguments: AcceptingSession.Role.allCases)
    func `a peer that sends Pings and reads nothing is closed at its bound`(_ role: AcceptingSession.Role)
        throws
    {
        var rig = LoopRig()
        let slot = try Self.admit(role, to: &rig)
        let bytesMax = role == .observer ? Self.answerBytesMax : Outbox.Limits().bytesMax
        let (code, byteCount) = Self.flood(&rig, slot, with: Self.pings(100))
        #expect(code == .slowConsumer)
        #expect(byteCount > bytesMax - 20_000)
        #expect(byteCount < bytesMax + Self.sendingBytesMax)
        #expect(rig.core.waitingByteCount == 0)
    }

    @Test func `an endpoint that reads no reports of ignored frames is closed at its bound`() throws {
        var rig = LoopRig()
        let slot = rig.newcomer(1)
        rig.receive(slot, LoopRig.hello(1, reportsIgnored: true))
        rig.admit(slot, 1)
        let frame = Frame(header: FrameHeader(type: 0x0FFF, flags: .skippable), body: [])
        let read = (0..<100).flatMap { _ in Array(frame.bytes) }
        let (code, byteCount) = Self.flood(&rig, slot, with: read)
        #expect(code == .slowConsumer)
        #expect(byteCount < Outbox.Limits().bytesMax + Self.sendingBytesMax)
    }

    @Test(arguments: AcceptingSession.Role.allCases)
    func `a peer that reads its Pongs is not closed, however many Pings it sends`(
        _ role: AcceptingSession.Role
    ) throws {
        var rig = LoopRig()
        let slot = try Self.admit(role, to: &rig)
        let pings = Self.pings(200)
        let pongByteCount = Self.pongs(200).count
        for _ in 0..<100 {
            rig.setRoom(0, of: slot)
            for _ in 0..<2 {
                rig.receive(slot, pings)
                rig.work()
            }
            let (byteCount, _) = Self.readAll(&rig, slot)
            #expect(byteCount == 2 * pongByteCount)
            #expect(rig.core.waitingByteCount == 0)
        }
        #expect(!rig.core.isClosing(slot))
    }

    /// Pongs wait before and behind each portion, as many as fit the bound. That it was told much lets no more of them wait later.
    @Test func `an observer is told portions of any length while Pongs wait, and the bound does not grow`()
        throws
    {
        var rig = LoopRig()
        let slot = try rig.observer(1, outbox: Self.smallOutbox)
        let pings = Self.pings(200)
        let byteCountOfRound = 4 * Self.pongs(200).count + Self.portionByteCount
        for _ in 0..<20 {
            rig.setRoom(0, of: slot)
            for isTold in [false, true] {
                if isTold { rig.perform([.tell(Self.id, Self.portion)]) }
                for _ in 0..<2 {
                    rig.receive(slot, pings)
                    rig.work()
                }
            }
            let waiting = rig.core.waitingByteCount
            #expect(waiting < Self.portionByteCount + 2 * Self.answerBytesMax + Self.sendingBytesMax)
            let (byteCount, hasRoom) = Self.readAll(&rig, slot)
            #expect(byteCount == byteCountOfRound)
            #expect(hasRoom)
            try #require(!rig.core.isClosing(slot))
        }
        let (code, byteCount) = Self.flood(&rig, slot, with: Self.pings(100))
        #expect(code == .slowConsumer)
        #expect(byteCount < Self.answerBytesMax + Self.sendingBytesMax)
    }

    @Test func `an observer that does not read its portion is closed when too many Pongs wait beside it`()
        throws
    {
        var rig = LoopRig()
        let slot = try rig.observer(1, outbox: Self.smallOutbox)
        rig.setRoom(0, of: slot)
        rig.perform([.tell(Self.id, Self.portion)])
        let portionByteCount = rig.core.waitingByteCount
        #expect(portionByteCount >= Self.portionByteCount)
        let (code, byteCount) = Self.flood(&rig, slot, with: Self.pings(100))
        #expect(code == .slowConsumer)
        #expect(byteCount > portionByteCount + Self.answerBytesMax - 20_000)
        #expect(byteCount < portionByteCount + Self.answerBytesMax + Self.sendingBytesMax)
    }

    @Test func `a handover keeps all that waits for an observer, and its bound`() throws {
        var rig = LoopRig()
        let slot = try rig.observer(1, outbox: Self.smallOutbox)
        rig.setRoom(0, of: slot)
        // The channel gets the Pongs of the first read; those of the second, and the portion, wait.
        for _ in 0..<2 { rig.receive(slot, Self.pings(100)) }
        rig.perform([.tell(Self.id, Self.portion)])
        rig.change { core, now, send, actions in core.suspend(slot, at: now, send, into: &actions) }
        rig.channelWrote(slot)
        let waiting = rig.core.waitingByteCount
        let state = rig.core.detach(slot)
        let detached = try #require(state)

        var next = LoopRig()
        var adopted = -1
        next.change { core, now, send, actions in
            adopted = core.adopt(
                detached, payer: Payer(rawValue: 1), outbox: Self.smallOutbox, at: now, into: &actions)
            core.open(adopted, LoopRig.socket(adopted), at: now, into: &actions)
            let continues = core.resume(adopted, at: now, send, into: &actions)
            #expect(continues)
        }
        let (byteCount, _) = Self.readAll(&next, adopted)
        #expect(byteCount == Self.pongs(100).count + Self.portionByteCount)
        #expect(!next.core.isClosing(adopted))
        let (code, mostWaiting) = Self.flood(&next, adopted, with: Self.pings(100))
        #expect(code == .slowConsumer)
        #expect(mostWaiting < waiting + Self.answerBytesMax + Self.sendingBytesMax)
    }
}
