import Testing
import WaymarkProtocol

@Suite struct FrameTests {
    static let header = FrameHeader(
        type: 0x010B, flags: [.gateway], bodyLength: 5, session: SessionID(0x0102_0304), sequence: 0x0A0B)

    static var bytes: [UInt8] {
        var bytes: [UInt8] = []
        header.write(to: &bytes)
        return bytes
    }

    @Test func `a header has 24 bytes in network order`() {
        #expect(
            Self.bytes == [
                0x57, 0x4D, 1, 2, 0x01, 0x0B, 0, 0, 0, 0, 0, 5, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0x0A, 0x0B,
            ])
    }

    @Test func `a state's header has its key in the bytes 6 and 7`() throws {
        let header = FrameHeader(
            type: 0x01E5, flags: [.skippable, .state, .retained], key: 0xA0B0, bodyLength: 3,
            session: SessionID(7), sequence: 9)
        var bytes: [UInt8] = []
        header.write(to: &bytes)
        #expect(
            bytes == [
                0x57, 0x4D, 1, 25, 0x01, 0xE5, 0xA0, 0xB0, 0, 0, 0, 3, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 9,
            ])
        #expect(try FrameHeader.read(from: bytes.span.bytes, frameBytesMax: 100) == header)
    }

    @Test func `a header is read back, and not before all of it is there`() throws {
        for count in 0..<24 {
            let part = Array(Self.bytes.prefix(count))
            #expect(try FrameHeader.read(from: part.span.bytes, frameBytesMax: 100) == nil)
        }
        #expect(try FrameHeader.read(from: Self.bytes.span.bytes, frameBytesMax: 100) == Self.header)
    }

    @Test func `what cannot become a frame is refused at its first byte that tells`() throws {
        for text in ["G", "GE", "WE"] {
            #expect(throws: FramingError.badMagic) {
                try FrameHeader.read(from: Array(text.utf8).span.bytes, frameBytesMax: 100)
            }
        }
        #expect(throws: FramingError.unsupportedVersion(2)) {
            try FrameHeader.read(from: ([0x57, 0x4D, 2] as [UInt8]).span.bytes, frameBytesMax: 100)
        }
        let header = try #require(try FrameHeader.read(from: Self.bytes.span.bytes, frameBytesMax: 29))
        #expect(throws: FramingError.tooLarge(header, max: 28)) {
            try FrameHeader.read(from: Self.bytes.span.bytes, frameBytesMax: 28)
        }
    }
}

@Suite struct AcceptingSessionTests {
    static let vehicle = Hello(
        role: .vehicle(
            VehicleHello(
                vehicle: VehicleID(unchecked: "car"), endpoint: EndpointName(unchecked: "e"), features: [])))
    static let client = Hello(
        role: .navigation(NavigationHello(client: ClientID(unchecked: "app"), features: [])))
    static let token = ResumptionToken(high: 1, low: 2)
    static let events: [AcceptingSession.Event] = [
        .received(.hello(vehicle)), .received(.ping(nonce: 1)), .received(.pong(nonce: 1)),
        .received(.goodbye(Goodbye(.normal))), .rejected(Rejection(.malformed, reason: "")),
        .violated(.badMagic), .violated(.tooLarge(FrameHeader(type: 0x0004), max: 1)),
        .admitted(Welcome(resumptionToken: token)), .closeRequested(Goodbye(.idInUse)),
        .drainRequested(Goodbye(.shuttingDown)), .deadlineReached, .transportClosed,
    ]

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

    @Test func `before the Welcome nothing but a short Hello is taken`() {
        var actions: [AcceptingSession.Action] = []
        var session = AcceptingSession(
            limits: .init(), allowedRoles: [.vehicle], at: Instant(nanoseconds: 0), into: &actions)
        #expect(session.frameBytesMax == ProtocolConstants.helloFrameBytesMax)
        let unknown = FrameHeader(type: 0x0EEE, flags: .skippable)
        guard case .close(let goodbye) = session.receive(unknown) else {
            Issue.record("taken before the Hello")
            return
        }
        #expect(goodbye.code == .unexpectedMessage)
        session.handle(.received(.hello(Self.vehicle)), at: Instant(nanoseconds: 0), into: &actions)
        session.handle(
            .admitted(Welcome(resumptionToken: Self.token)), at: Instant(nanoseconds: 0), into: &actions)
        #expect(session.frameBytesMax == ConnectionLimits().frameBytesMax)
        #expect(session.receive(unknown) == .skip)
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
}
