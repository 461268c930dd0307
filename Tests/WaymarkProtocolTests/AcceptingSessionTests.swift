import Testing
import WaymarkProtocol

@Suite struct AcceptingSessionTests {
    static let vehicle = Hello(
        role: .vehicle(
            VehicleHello(
                vehicle: VehicleID(unchecked: "car"), endpoint: EndpointName(unchecked: "e"), features: [])))
    static let client = Hello(
        role: .navigation(NavigationHello(client: ClientID(unchecked: "app"), features: [])))
    static let later = {
        var hello = vehicle
        hello.versions = 9...9
        return hello
    }()
    static let token = ResumptionToken(high: 1, low: 2)
    static let ping = AcceptingSession.Event.received(.ping(nonce: 1))
    static let events: [AcceptingSession.Event] = [
        hello, ping, .received(.pong(nonce: 1)),
        .received(.goodbye(Goodbye(.normal))), .rejected(Rejection(.malformed, reason: "")),
        .violated(.badMagic), .violated(.tooLarge(FrameHeader(type: 0x0004), max: 1)),
        .admitted(Welcome(resumptionToken: token)), .closeRequested(Goodbye(.idInUse)),
        .drainRequested(Goodbye(.shuttingDown)), .deadlineReached, .transportClosed,
    ]

    /// A connection, told in lines of an event and what the session does about it.
    struct Story: Sendable, CustomTestStringConvertible {
        let title: String
        let lines: [(event: AcceptingSession.Event, actions: String)]

        init(_ title: String, _ lines: (AcceptingSession.Event, String)...) {
            (self.title, self.lines) = (title, lines.map { (event: $0, actions: $1) })
        }

        var testDescription: String { self.title }
    }

    static let hello = AcceptingSession.Event.received(.hello(vehicle))
    static let admitted = AcceptingSession.Event.admitted(Welcome(resumptionToken: token))
    static let bye = AcceptingSession.Event.received(.goodbye(Goodbye(.normal)))
    static let drain = AcceptingSession.Event.drainRequested(Goodbye(.shuttingDown))
    static let rejected = AcceptingSession.Event.rejected(Rejection(.malformed, reason: ""))
    static let stories = [
        Story("a peer is admitted", (hello, "admit"), (admitted, "welcome, arm 10 s")),
        Story("a peer says nothing", (.deadlineReached, "goodbye handshakeTimeout, close")),
        Story(
            "a peer is not admitted in time",
            (hello, "admit"), (.deadlineReached, "goodbye handshakeTimeout, gone, close")),
        Story(
            "a peer closes before it said who it is",
            (.transportClosed, "close"), (.deadlineReached, ""), (hello, "")),
        Story(
            "a peer closes while it is admitted",
            (hello, "admit"), (.transportClosed, "gone, close"), (admitted, "")),
        Story("a peer leaves while it is admitted", (hello, "admit"), (bye, "gone cleanly, close")),
        Story("a newcomer leaves at once", (bye, "close")),
        Story(
            "a peer speaks other versions only",
            (.received(.hello(later)), "goodbye unsupportedVersion, close"), (hello, "")),
        Story(
            "a role is not allowed here",
            (.received(.hello(client)), "goodbye roleNotAllowed, close"), (.transportClosed, "")),
        Story("a Hello is refused", (rejected, "goodbye handshakeInvalid, close")),
        Story("bytes are no frames", (.violated(.badMagic), "goodbye badMagic, close")),
        Story(
            "a frame is too long, and not allowed before the Hello either",
            (.violated(.tooLarge(FrameHeader(type: 0x0004), max: 1)), "goodbye unexpectedMessage, close")),
        Story(
            "the gateway refuses a peer",
            (hello, "admit"), (.closeRequested(Goodbye(.idInUse)), "goodbye idInUse, gone, close"),
            (admitted, "")),
        Story("a Ping is answered", (hello, "admit"), (admitted, "welcome, arm 10 s"), (ping, "pong")),
        Story(
            "a peer leaves",
            (hello, "admit"), (admitted, "welcome, arm 10 s"), (bye, "gone cleanly, close"), (ping, "")),
        Story(
            "a message is rejected, and the peer goes on",
            (hello, "admit"), (admitted, "welcome, arm 10 s"), (rejected, "error"), (ping, "pong")),
        Story(
            "a peer is taken over",
            (hello, "admit"), (admitted, "welcome, arm 10 s"),
            (.closeRequested(Goodbye(.takenOver)), "goodbye takenOver, gone, close")),
        Story("the gateway goes down before the Hello", (drain, "goodbye shuttingDown, close")),
        Story(
            "the gateway goes down, and the peer leaves",
            (hello, "admit"), (admitted, "welcome, arm 10 s"), (drain, "goodbye shuttingDown, arm 2 s"),
            (drain, ""), (bye, "gone cleanly, close")),
        Story(
            "the gateway goes down, and the peer does not read that",
            (hello, "admit"), (admitted, "welcome, arm 10 s"), (drain, "goodbye shuttingDown, arm 2 s"),
            (rejected, ""), (.deadlineReached, "gone, close")),
        Story(
            "the gateway goes down, and the peer sends garbage",
            (hello, "admit"), (admitted, "welcome, arm 10 s"), (drain, "goodbye shuttingDown, arm 2 s"),
            (.violated(.badMagic), "gone, close")),
    ]

    @Test(arguments: stories) func `a connection goes as it is told`(_ story: Story) {
        var actions: [AcceptingSession.Action] = []
        var session = AcceptingSession(
            limits: .init(), allowedRoles: [.vehicle], at: Instant(nanoseconds: 0), into: &actions)
        #expect(actions.map(Self.text) == ["arm 5 s"])
        for line in story.lines {
            actions = []
            session.handle(line.event, at: Instant(nanoseconds: 0), into: &actions)
            #expect(actions.map(Self.text).joined(separator: ", ") == line.actions, "\(line.event)")
        }
    }

    private static func text(_ action: AcceptingSession.Action) -> String {
        switch action {
        case .send(.goodbye(let goodbye)): "goodbye \(goodbye.code)"
        case .send(let message): "\(message.type)"
        case .admit: "admit"
        case .gone(let isClean): isClean ? "gone cleanly" : "gone"
        case .arm(let deadline): "arm \(deadline.nanoseconds / 1_000_000_000) s"
        case .close: "close"
        }
    }

    struct Walk: Hashable {
        var session: AcceptingSession
        var closes = 0
        var departures = 0
        var hasSaidGoodbye = false
    }

    @Test func `closed is silent, a session closes once and tells the gateway once`() {
        var initial: [AcceptingSession.Action] = []
        let start = AcceptingSession(
            limits: .init(), allowedRoles: [.vehicle], at: Instant(nanoseconds: 0), into: &initial)
        var frontier: Set<Walk> = [Walk(session: start)]
        for step in 1...5 {
            var next: Set<Walk> = []
            for walk in frontier {
                for event in Self.events {
                    var after = walk
                    var actions: [AcceptingSession.Action] = []
                    after.session.handle(event, at: Instant(nanoseconds: Int64(step)), into: &actions)
                    if walk.session.state == .closed { #expect(actions.isEmpty) }
                    for case .send(let message) in actions {
                        #expect(!after.hasSaidGoodbye, "\(message.type) after goodbye, by \(event)")
                        if message.type == .goodbye { after.hasSaidGoodbye = true }
                    }
                    after.closes += actions.count { $0 == .close }
                    after.departures += actions.count { if case .gone = $0 { true } else { false } }
                    #expect(
                        after.closes == (after.session.state == .closed ? 1 : 0),
                        "\(event) in \(walk.session.state)")
                    #expect(after.departures <= 1)
                    next.insert(after)
                }
            }
            frontier = next
        }
        #expect(Set(frontier.map(\.session.state)).isSuperset(of: [.active, .draining, .closed]))
    }

    @Test func `silence is answered by pings, and after three intervals by a goodbye`() {
        var actions: [AcceptingSession.Action] = []
        var session = AcceptingSession(
            limits: .init(), allowedRoles: [.vehicle], at: Instant(nanoseconds: 0), into: &actions)
        session.handle(.received(.hello(Self.vehicle)), at: Instant(nanoseconds: 0), into: &actions)
        session.handle(
            .admitted(Welcome(resumptionToken: Self.token)), at: Instant(nanoseconds: 0), into: &actions)
        var kinds: [String] = []
        for tick in 1...3 {
            actions.removeAll()
            session.handle(
                .deadlineReached, at: Instant(nanoseconds: Int64(tick) * 10_000_000_000), into: &actions)
            if case .send(let message) = actions.first { kinds.append("\(message.type)") }
        }
        #expect(kinds == ["ping", "ping", "goodbye"])
        #expect(session.state == .closed)
    }

    @Test func `a deadline and a Pong that are dealt with by themselves are the same as their events`() {
        var actions: [AcceptingSession.Action] = []
        let start = AcceptingSession(
            limits: .init(), allowedRoles: [.vehicle], at: Instant(nanoseconds: 0), into: &actions)
        var frontier: Set<AcceptingSession> = [start]
        for step in 1...6 {
            let now = Instant(nanoseconds: Int64(step) * 10_000_000_000)
            var next: Set<AcceptingSession> = []
            for session in frontier {
                var byEvent = session
                actions = []
                byEvent.handle(.deadlineReached, at: now, into: &actions)
                var byItself = session
                if let (ping, deadline) = byItself.takeTick(at: now) {
                    let sent = ping.map { [.send(.ping(nonce: $0))] } ?? [AcceptingSession.Action]()
                    #expect(actions == sent + [.arm(deadline: deadline)])
                    #expect(byItself == byEvent)
                } else {
                    #expect(byItself == session)
                    #expect(byEvent.state == .closed)
                }
                var heard = session
                let verdict = heard.receive(FrameHeader(type: MessageType.pong.rawValue))
                if verdict == .readForConnection {
                    heard.handle(.received(.pong(nonce: 1)), at: now, into: &actions)
                }
                var noted = session
                #expect(noted.notePong() == (session.state == .active))
                #expect(noted == (session.state == .active ? heard : session))
                for event in Self.events {
                    var after = session
                    after.handle(event, at: now, into: &actions)
                    next.insert(after)
                }
                next.formUnion([byEvent, heard])
            }
            frontier = next.filter { $0.state != .closed }
        }
        #expect(!frontier.isEmpty)
    }

    @Test(arguments: [true, false])
    func `the first frame behind a Welcome confirms it if that resumed the peer, once`(_ isResumed: Bool) {
        var actions: [AcceptingSession.Action] = []
        var session = AcceptingSession(
            limits: .init(), allowedRoles: [.vehicle], at: Instant(nanoseconds: 0), into: &actions)
        session.handle(.received(.hello(Self.vehicle)), at: Instant(nanoseconds: 0), into: &actions)
        #expect(session.takeConfirmation() == false)
        var welcome = Welcome(resumptionToken: Self.token)
        welcome.isResumed = isResumed
        session.handle(.admitted(welcome), at: Instant(nanoseconds: 0), into: &actions)
        let before = session
        #expect(session.notePong() == !isResumed)
        if isResumed { #expect(session == before) }
        #expect(session.takeConfirmation() == isResumed)
        #expect(session.takeConfirmation() == false)
        #expect(session.notePong() == true)
    }

    @Test func `before the Welcome nothing but a short Hello is taken`() {
        var actions: [AcceptingSession.Action] = []
        var session = AcceptingSession(
            limits: .init(), allowedRoles: [.vehicle], at: Instant(nanoseconds: 0), into: &actions)
        #expect(session.receiveFrameBytesMax == ProtocolConstants.helloFrameBytesMax)
        let unknown = FrameHeader(type: 0x0EEE, flags: .skippable)
        guard case .close(let goodbye) = session.receive(unknown) else {
            Issue.record("taken before the Hello")
            return
        }
        #expect(goodbye.code == .unexpectedMessage)
        session.handle(.received(.hello(Self.vehicle)), at: Instant(nanoseconds: 0), into: &actions)
        session.handle(
            .admitted(Welcome(resumptionToken: Self.token)), at: Instant(nanoseconds: 0), into: &actions)
        #expect(session.receiveFrameBytesMax == ConnectionLimits().frameBytesMax)
        #expect(session.receive(unknown) == .skip)
    }

    @Test(arguments: [(own: UInt32(0), agreed: UInt32(16_777_216)), (4_096, 4_096), (16_777_216, 16_777_216)])
    func `the Welcome tells the largest frame in both directions`(_ own: UInt32, _ agreed: UInt32) {
        for role in [Self.vehicle.role, Self.client.role] {
            var hello = Hello(role: role)
            switch role {
            case .vehicle(var vehicle):
                vehicle.receiveFrameBytesMax = own
                hello.role = .vehicle(vehicle)
            case .navigation(var client):
                client.receiveFrameBytesMax = own
                hello.role = .navigation(client)
            case .observer: break
            }
            hello.sendFrameBytesMax = 5_000
            var actions: [AcceptingSession.Action] = []
            var session = AcceptingSession(
                limits: .init(), allowedRoles: [.vehicle, .navigation], at: Instant(nanoseconds: 0),
                into: &actions)
            session.handle(.received(.hello(hello)), at: Instant(nanoseconds: 0), into: &actions)
            session.handle(
                .admitted(Welcome(resumptionToken: Self.token)), at: Instant(nanoseconds: 0), into: &actions)
            #expect(session.receiveFrameBytesMax == 5_000)
            #expect(session.sendFrameBytesMax == agreed)
            let welcomes = actions.compactMap { action in
                if case .send(.welcome(let welcome)) = action { welcome } else { nil }
            }
            #expect(welcomes.map(\.receiveFrameBytesMax) == [5_000])
            #expect(welcomes.map(\.sendFrameBytesMax) == [agreed])
        }
    }

    @Test func `while draining only what a client publishes is still read`() {
        for (role, isClient) in [(Self.vehicle.role, false), (Self.client.role, true)] {
            var actions: [AcceptingSession.Action] = []
            var session = AcceptingSession(
                limits: .init(), allowedRoles: [.vehicle, .navigation], at: Instant(nanoseconds: 0),
                into: &actions)
            session.handle(.received(.hello(Hello(role: role))), at: Instant(nanoseconds: 0), into: &actions)
            session.handle(
                .admitted(Welcome(resumptionToken: Self.token)), at: Instant(nanoseconds: 0), into: &actions)
            session.handle(
                .drainRequested(Goodbye(.shuttingDown)), at: Instant(nanoseconds: 0), into: &actions)
            for type in MessageType.allCases {
                let verdict = session.receive(FrameHeader(type: type.rawValue))
                if type == .goodbye {
                    #expect(verdict == .readForConnection)
                } else if MessageType.published.contains(type.rawValue), isClient {
                    #expect(verdict == .readPublication)
                } else {
                    #expect(verdict == .skip)
                }
            }
            // The types of a version that is not known here, whose sender had not yet read the Goodbye.
            for type in [UInt16(0x017F), 0x0EEE] {
                #expect(session.receive(FrameHeader(type: type)) == .skip)
            }
            #expect(session.state == .draining)
        }
    }

    @Test func `a role that the listener does not allow is refused`() {
        var actions: [AcceptingSession.Action] = []
        var session = AcceptingSession(
            limits: .init(), allowedRoles: [.navigation], at: Instant(nanoseconds: 0), into: &actions)
        session.handle(.received(.hello(Self.vehicle)), at: Instant(nanoseconds: 0), into: &actions)
        #expect(session.state == .closed)
        #expect(
            actions.contains {
                if case .send(.goodbye(let bye)) = $0 { bye.code == .roleNotAllowed } else { false }
            })
    }

    @Test func `too many refused messages close the connection`() {
        var limits = ConnectionLimits()
        limits.errorsMax = 2
        var actions: [AcceptingSession.Action] = []
        var session = AcceptingSession(
            limits: limits, allowedRoles: [.vehicle], at: Instant(nanoseconds: 0), into: &actions)
        session.handle(.received(.hello(Self.vehicle)), at: Instant(nanoseconds: 0), into: &actions)
        session.handle(
            .admitted(Welcome(resumptionToken: Self.token)), at: Instant(nanoseconds: 0), into: &actions)
        for _ in 0..<2 {
            session.handle(
                .rejected(Rejection(.malformed, reason: "")), at: Instant(nanoseconds: 1), into: &actions)
            #expect(session.state == .active)
        }
        session.handle(
            .rejected(Rejection(.malformed, reason: "")), at: Instant(nanoseconds: 1), into: &actions)
        #expect(session.state == .closed)
    }

    @Test func `a Hello of other versions only is refused with the versions of both`() {
        let offers: [ClosedRange<UInt32>] = [1...1, 1...9, 2...2, 2...4, 3...5]
        let reasons = offers.map { AcceptingSession.refusal(of: $0)?.reason }
        let ours = "this gateway speaks version 1.2 of the protocol, and the peer "
        #expect(reasons == [ours + "version 1.1", nil, nil, nil, ours + "versions 1.3 to 1.5"])
        #expect(AcceptingSession.refusal(of: 3...5)?.code == .unsupportedVersion)
    }
}
