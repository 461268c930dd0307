import Testing
import WaymarkCodec
import WaymarkConnections
import WaymarkGateway
import WaymarkProtocol

/// The first frame behind a Welcome that resumed the peer: the gateway hears of it before it hears of its content.
@Suite struct ConfirmationTests {
    private static let id = ConnectionID(1)
    private static let ping = LoopRig.bytes([Envelope(.ping(nonce: 5))])
    private static let pong = LoopRig.bytes([Envelope(.pong(nonce: 5))])
    private static let request = LoopRig.bytes([Envelope(.allowNavigation)])

    /// The events of a connection that were submitted since the last call.
    private static func events(_ rig: inout LoopRig) -> [Gateway.Event] {
        rig.take().flatMap { action -> [Gateway.Event] in
            if case .submit(let events, Self.id, _, _) = action { events } else { [] }
        }
    }

    /// A connection whose endpoint was welcomed. `rest` came behind its Hello.
    private static func welcomed(
        _ rig: inout LoopRig, isResumed: Bool = true, hello: [UInt8] = LoopRig.hello(1), rest: [UInt8] = []
    ) -> Int {
        let slot = rig.newcomer(1)
        rig.receive(slot, hello + rest)
        var welcome = LoopRig.welcome(1)
        welcome.isResumed = isResumed
        rig.handle(.admitted(welcome), on: slot)
        rig.work()
        return slot
    }

    static let frames: [(name: String, bytes: [UInt8], rest: [Gateway.Event])] = [
        ("a Ping", ping, []), ("a Pong", pong, []),
        ("a message for the gateway", request, [.received(id, .allowNavigation, .none)]),
        (
            "a message that is rejected",
            Array(Frame(header: FrameHeader(type: MessageType.vehicleSettings.rawValue), body: [0xFF]).bytes),
            []
        ),
        (
            "a frame of an unknown type",
            Array(Frame(header: FrameHeader(type: 0x0EEE, flags: .skippable), body: [1]).bytes), []
        ),
        (
            "a frame that it may not send", LoopRig.bytes([Envelope(.snapshotEnd)]),
            [.departed(id, clean: false)]
        ),
        (
            "a Goodbye", LoopRig.bytes([Envelope(.goodbye(Goodbye(.normal)))]),
            [.departed(id, clean: true)]
        ),
    ]

    @Test(arguments: frames.indices) func `any first frame confirms that the peer has read the Welcome`(
        _ index: Int
    ) {
        let (name, bytes, rest) = Self.frames[index]
        var rig = LoopRig()
        let slot = Self.welcomed(&rig)
        #expect(Self.events(&rig).isEmpty)
        rig.receive(slot, bytes)
        #expect(Self.events(&rig) == [.confirmed(Self.id)] + rest, "\(name)")
        rig.receive(slot, Self.ping + Self.pong)
        #expect(Self.events(&rig).isEmpty, "\(name)")
    }

    @Test func `a publication confirms it, too`() {
        var rig = LoopRig()
        let navigation = NavigationHello(
            client: ClientID(unchecked: "c"), features: Set(Feature.allCases))
        let slot = Self.welcomed(
            &rig, hello: LoopRig.bytes([Envelope(.hello(Hello(role: .navigation(navigation))))]))
        _ = rig.take()
        for isFirst in [true, false] {
            rig.receive(slot, LoopRig.bytes([LoopRig.roadName(1), LoopRig.roadName(2)]))
            var events = Self.events(&rig)
            if isFirst { #expect(events.removeFirst() == .confirmed(Self.id)) }
            #expect(events.count == 1)
            guard case .published(Self.id, let frames)? = events.first else {
                Issue.record("\(events)")
                return
            }
            #expect(frames.count == 2)
        }
    }

    @Test func `a part of a frame confirms nothing, nor do bytes that are no frame`() {
        var rig = LoopRig()
        let slot = Self.welcomed(&rig)
        _ = rig.take()
        for byte in Self.request.dropLast() { rig.receive(slot, [byte]) }
        #expect(Self.events(&rig).isEmpty)
        rig.receive(slot, [Self.request[Self.request.count - 1]])
        #expect(Self.events(&rig) == [.confirmed(Self.id), .received(Self.id, .allowNavigation, .none)])
        var other = LoopRig()
        let closing = Self.welcomed(&other)
        _ = other.take()
        other.receive(closing, Array(repeating: 7, count: 64))
        #expect(Self.events(&other) == [.departed(Self.id, clean: false)])
    }

    @Test func `behind a Welcome that resumed nothing there is nothing to confirm`() {
        var rig = LoopRig()
        let slot = Self.welcomed(&rig, isResumed: false)
        _ = rig.take()
        rig.receive(slot, Self.pong + Self.ping)
        #expect(Self.events(&rig).isEmpty)
        rig.receive(slot, Self.request)
        #expect(Self.events(&rig) == [.received(Self.id, .allowNavigation, .none)])
    }

    /// A peer with a token must not do that; the older token then ends at once.
    @Test func `what came behind the Hello confirms the Welcome`() {
        var rig = LoopRig()
        _ = Self.welcomed(&rig, rest: Self.request)
        #expect(Self.events(&rig) == [.confirmed(Self.id), .received(Self.id, .allowNavigation, .none)])
    }

    @Test func `the next process waits for the first frame`() throws {
        var rig = LoopRig()
        let slot = Self.welcomed(&rig)
        rig.change { core, now, send, actions in core.suspend(slot, at: now, send, into: &actions) }
        var detached: DetachedConnection?
        rig.change { core, _, _, _ in detached = core.detach(slot) }
        let state = try #require(detached)
        var next = LoopRig()
        var adopted = 0
        next.change { core, now, send, actions in
            adopted = core.adopt(
                state, payer: Payer(rawValue: 1), outbox: Outbox.Limits(), at: now, into: &actions)
            core.open(adopted, LoopRig.socket(adopted), at: now, into: &actions)
            _ = core.resume(adopted, at: now, send, into: &actions)
        }
        next.work()
        #expect(Self.events(&next).isEmpty)
        next.receive(adopted, Self.pong)
        #expect(Self.events(&next) == [.confirmed(Self.id)])
    }
}
