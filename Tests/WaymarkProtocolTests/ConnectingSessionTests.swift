import Testing
import WaymarkProtocol

@Suite struct ConnectingSessionTests {
    static let hello = Hello(
        role: .navigation(NavigationHello(client: ClientID(unchecked: "app"), features: [])))
    static let welcome = Message.welcome(Welcome(resumptionToken: ResumptionToken(high: 1, low: 2)))
    static let events: [ConnectingSession.Event] =
        [
            welcome, .ping(nonce: 7), .pong(nonce: 1), .hello(hello), .goodbye(Goodbye(.shuttingDown)),
            .snapshotEnd, .error(Rejection(.outOfRange, reason: "")),
        ].map { .received(Envelope($0)) } + [
            .rejected(Rejection(.malformed, reason: "")), .violated(.badMagic, reason: ""),
            .leaveRequested(Goodbye(.normal)), .deadlineReached, .transportClosed,
        ]

    /// A session, and what it has done so far that matters to what it may do next.
    struct Walk: Hashable {
        var session: ConnectingSession
        var closes = 0
        var welcomes = 0
        var hasSaidGoodbye = false
        var isArmed: Bool
    }

    @Test(arguments: [
        (own: UInt32(0), agreed: UInt32(16_777_216), expected: UInt32(16_777_216)), (0, 65_536, 65_536),
        (4_096, 4_096, 4_096), (4_096, 65_536, 4_096), (131_072, 65_536, 65_536),
    ])
    func `a peer accepts frames up to its own size and the agreed one, whatever its role`(
        _ own: UInt32, _ agreed: UInt32, _ expected: UInt32
    ) {
        var vehicle = VehicleHello(
            vehicle: VehicleID(unchecked: "car"), endpoint: EndpointName(unchecked: "cluster"), features: [])
        vehicle.receiveFrameBytesMax = own
        var client = NavigationHello(client: ClientID(unchecked: "app"), features: FeatureSet())
        client.receiveFrameBytesMax = own
        var observer = ObserverHello(observer: ObserverName(unchecked: "watcher"))
        observer.receiveFrameBytesMax = own
        for role in [Hello.Role.vehicle(vehicle), .navigation(client), .observer(observer)] {
            var actions: [ConnectingSession.Action] = []
            var session = ConnectingSession(
                hello: Hello(role: role), limits: .init(), at: Instant(nanoseconds: 0), into: &actions)
            #expect(session.receiveFrameBytesMax == (own == 0 ? 16_777_216 : own))
            var welcome = Welcome(resumptionToken: ResumptionToken(high: 1, low: 2))
            (welcome.receiveFrameBytesMax, welcome.sendFrameBytesMax) = (32_768, agreed)
            session.handle(
                .received(Envelope(.welcome(welcome))), at: Instant(nanoseconds: 1), into: &actions)
            #expect(session.receiveFrameBytesMax == expected)
            #expect(session.sendFrameBytesMax == 32_768)
        }
    }

    @Test func `closed is silent, a goodbye is the last word, and nothing comes before the welcome`() {
        var initial: [ConnectingSession.Action] = []
        let start = ConnectingSession(
            hello: Self.hello, limits: .init(), at: Instant(nanoseconds: 0), into: &initial)
        #expect(initial.first == .send(.hello(Self.hello)))
        var frontier: Set<Walk> = [Walk(session: start, isArmed: initial.contains { $0.isArm })]
        var states: Set<ConnectingSession.State> = []
        for step in 1...6 {
            var next: Set<Walk> = []
            for walk in frontier {
                states.insert(walk.session.state)
                for event in Self.events { next.insert(Self.step(walk, event, at: Int64(step))) }
            }
            frontier = next
        }
        #expect(states == Set(ConnectingSession.State.allCases))
    }

    /// Lets one thing happen, and checks what the session does about it.
    private static func step(_ walk: Walk, _ event: ConnectingSession.Event, at time: Int64) -> Walk {
        var after = walk
        var actions: [ConnectingSession.Action] = []
        // Ticks come an interval apart; the rest at any time.
        after.session.handle(event, at: Instant(nanoseconds: time * 10_000_000_000), into: &actions)
        if walk.session.state == .closed { #expect(actions.isEmpty && after.session == walk.session) }
        if event == .deadlineReached { after.isArmed = false }
        for action in actions {
            #expect(after.closes == 0, "\(action) after close, by \(event)")
            switch action {
            case .send(let message):
                #expect(!after.hasSaidGoodbye, "\(message.type) after goodbye, by \(event)")
                if message.type == .goodbye { after.hasSaidGoodbye = true }
            case .welcomed: after.welcomes += 1
            case .deliver: #expect(after.welcomes == 1, "delivered before the welcome, by \(event)")
            case .arm(let deadline):
                after.isArmed = true
                #expect(deadline > Instant(nanoseconds: time * 10_000_000_000))
            case .close: after.closes += 1
            }
        }
        #expect(after.closes == (after.session.state == .closed ? 1 : 0), "\(event)")
        #expect(after.welcomes <= 1 && (after.session.state != .active || after.welcomes == 1))
        // Unless it is closed it waits, and so notices a silent gateway.
        #expect(after.session.state == .closed || after.isArmed, "\(event) in \(walk.session.state)")
        return after
    }

    @Test func `a silent gateway is pinged, then left`() {
        var actions: [ConnectingSession.Action] = []
        var session = ConnectingSession(
            hello: Self.hello, limits: .init(), at: Instant(nanoseconds: 0), into: &actions)
        var welcome = Welcome(resumptionToken: ResumptionToken(high: 1, low: 2))
        welcome.keepaliveMilliseconds = 2_000
        session.handle(.received(Envelope(.welcome(welcome))), at: Instant(nanoseconds: 0), into: &actions)
        var sent: [MessageType] = []
        for tick in 1...3 {
            actions.removeAll()
            session.handle(
                .deadlineReached, at: Instant(nanoseconds: Int64(tick) * 2_000_000_000), into: &actions)
            for case .send(let message) in actions { sent.append(message.type) }
        }
        #expect(sent == [.ping, .ping], "after a Goodbye the gateway would keep nothing to resume")
        guard case .close(let goodbye) = actions.last else {
            Issue.record("not closed")
            return
        }
        #expect(goodbye?.code == .keepaliveTimeout)
    }

    @Test(arguments: [(UInt32(0), UInt32(0)), (.max, .max)])
    func `what a gateway agrees to is brought within the protocol's bounds`(
        _ keepalive: UInt32, _ frameBytes: UInt32
    ) {
        var actions: [ConnectingSession.Action] = []
        var session = ConnectingSession(
            hello: Self.hello, limits: .init(), at: Instant(nanoseconds: 0), into: &actions)
        var welcome = Welcome(resumptionToken: ResumptionToken(high: 1, low: 2))
        (welcome.keepaliveMilliseconds, welcome.receiveFrameBytesMax) = (keepalive, frameBytes)
        welcome.sendFrameBytesMax = frameBytes
        actions = []
        session.handle(.received(Envelope(.welcome(welcome))), at: Instant(nanoseconds: 0), into: &actions)
        #expect(ProtocolConstants.frameBytes.contains(session.sendFrameBytesMax))
        #expect(ProtocolConstants.frameBytes.contains(session.receiveFrameBytesMax))
        let bounds = ProtocolConstants.keepaliveMilliseconds
        for case .arm(let deadline) in actions {
            let milliseconds = deadline.nanoseconds / 1_000_000
            #expect(Int64(bounds.lowerBound)...Int64(bounds.upperBound) ~= milliseconds)
        }
    }

    @Test func `without a welcome in time it leaves`() {
        var actions: [ConnectingSession.Action] = []
        var session = ConnectingSession(
            hello: Self.hello, limits: .init(), at: Instant(nanoseconds: 0), into: &actions)
        actions = []
        session.handle(.deadlineReached, at: Instant(nanoseconds: 5_000_000_000), into: &actions)
        #expect(actions == [.close(Goodbye(.handshakeTimeout, reason: "no Welcome in time"))])
        #expect(session.state == .closed)
    }
}

extension ConnectingSession.Action {
    fileprivate var isArm: Bool { if case .arm = self { true } else { false } }
}
