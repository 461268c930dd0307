import Testing
import WaymarkCodec
import WaymarkConnections
import WaymarkProtocol

/// Signs of life on slow lines, where one frame is under way for longer than three keepalive intervals of 10 s.
@Suite struct SlowFrameTests {
    private static let stepMilliseconds = 100
    /// The longest frame, of a type that the gateway skips.
    private static let frame = Frame(
        header: FrameHeader(type: 0x0FFF, flags: .skippable),
        body: [UInt8](repeating: 7, count: 1_048_576 - FrameHeader.byteCount))
    private static let pong = LoopRig.bytes([Envelope(.pong(nonce: 1))])
    private static let ping = LoopRig.bytes([Envelope(.ping(nonce: 1))])

    private static func admit(_ role: AcceptingSession.Role, to rig: inout LoopRig) throws -> Int {
        switch role {
        case .vehicle: try rig.endpoint(1)
        case .navigation: try rig.client(1)
        case .observer: try rig.observer(1)
        }
    }

    private static func pass(_ rig: inout LoopRig) {
        rig.now = rig.now + .milliseconds(Self.stepMilliseconds)
        rig.change { core, now, send, actions in core.deadlineReached(at: now, send, into: &actions) }
    }

    @Test(arguments: AcceptingSession.Role.allCases)
    func `a peer whose frame of 1 MiB arrives at 20 KB a second stays connected`(
        _ role: AcceptingSession.Role
    ) throws {
        var rig = LoopRig()
        let slot = try Self.admit(role, to: &rig)
        var rest = Self.frame.bytes[...]
        while !rest.isEmpty {
            Self.pass(&rig)
            rig.receive(slot, Array(rest.prefix(2_000)))
            rest = rest.dropFirst(2_000)
            try #require(!rig.core.isClosing(slot))
        }
        #expect(rig.now > Instant(nanoseconds: 52_000_000_000))
        #expect(!rig.core.isInMidFrame(slot))
    }

    @Test func `bytes that wait for their turn are a sign of life`() throws {
        var rig = LoopRig()
        let slot = try rig.endpoint(1)
        rig.core.budget.round = 0
        for part in Self.frame.bytes.prefix(600) {
            Self.pass(&rig)
            rig.receive(slot, [part])
            try #require(!rig.core.isClosing(slot))
        }
    }

    @Test(arguments: AcceptingSession.Role.allCases)
    func `a peer that is silent in the middle of a frame is closed after three intervals`(
        _ role: AcceptingSession.Role
    ) throws {
        var rig = LoopRig()
        let slot = try Self.admit(role, to: &rig)
        rig.receive(slot, Array(Self.frame.bytes.prefix(500_000)))
        var milliseconds = 0
        while !rig.core.isClosing(slot), milliseconds < 60_000 {
            Self.pass(&rig)
            milliseconds += Self.stepMilliseconds
        }
        let codes = rig.take().compactMap { action -> CloseCode? in
            if case .note(slot, .closing(let goodbye)) = action { goodbye.code } else { nil }
        }
        #expect(codes == [.keepaliveTimeout])
        #expect((30_000...40_100).contains(milliseconds), "\(milliseconds)")
    }

    /// The peer reads 4 096 bytes every two seconds. The first tick cannot know that something was sent just before.
    @Test func `bytes that the socket accepts of a long frame save the Pings behind it`() throws {
        var rig = LoopRig()
        let slot = try rig.endpoint(1)
        rig.setRoom(0, of: slot)
        let frame = Frame(header: Self.frame.header, body: [UInt8](repeating: 7, count: 100_000))
        rig.perform([.send(ConnectionID(1), frame)])
        var arrived: [UInt8] = []
        for step in 1...520 {
            Self.pass(&rig)
            rig.receive(slot, Self.pong)
            guard step.isMultiple(of: 20) else { continue }
            arrived += rig.portions(slot)
            rig.channelWrote(slot)
        }
        #expect(arrived == Array(frame.bytes) + Self.ping)
        #expect(!rig.core.isClosing(slot))
    }

    @Test func `one Ping at most waits for a peer that reads nothing`() throws {
        var rig = LoopRig()
        let slot = try rig.endpoint(1)
        rig.setRoom(0, of: slot)
        let alert = LoopRig.bytes([LoopRig.alert(1)])
        rig.perform([.send(ConnectionID(1), Codec.encode(LoopRig.alert(1)))])
        for _ in 1...250 {
            Self.pass(&rig)
            rig.receive(slot, Self.pong)
        }
        let portion = rig.portions(slot)
        rig.setRoom(.max, of: slot)
        rig.channelWrote(slot)
        #expect(portion + rig.sent(slot) == alert + Self.ping)
        // The next one is sent once it is.
        for _ in 1...60 {
            Self.pass(&rig)
            rig.receive(slot, Self.pong)
        }
        #expect(try rig.messages(slot).map(\.type) == [.ping])
    }
}
