import Testing
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

/// Observers on their connections.
@Suite struct ObserverTests {
    private static func policy(_ visibility: Visibility) -> ListenerPolicy {
        var policy = ListenerPolicy(roles: [.observer])
        policy.visibility = visibility
        return policy
    }

    private static var hello: Hello {
        Hello(role: .observer(ObserverHello(observer: ObserverName(unchecked: "watcher"))))
    }

    private static func everything(after number: UInt64 = 0) -> Message {
        var observe = Observe()
        (observe.wantsState, observe.wantsEvents, observe.wantsFrames) = (true, true, true)
        observe.afterNumber = number
        return .observe(observe)
    }

    private static func state(of messages: [Envelope]) -> ObservedGateway {
        var state = ObservedGateway()
        for envelope in messages {
            state.apply(envelope.message) { frame in
                do { return try Codec.outline(of: frame) } catch { return nil }
            }
        }
        return state
    }

    @Test func `a listener admits observers only if it lists the role`() throws {
        let bench = Bench()
        let stranger = try bench.connect()
        try stranger.send(.hello(Self.hello))
        #expect(try stranger.goodbye()?.code == .roleNotAllowed)
        let observer = try bench.connect(Self.policy(.content))
        try observer.send(.hello(Self.hello))
        guard case .welcome(let welcome)? = try observer.told().first?.message else {
            Issue.record("no Welcome")
            return
        }
        #expect(welcome.visibility == .content)
        #expect(welcome.features.isEmpty)
        #expect(!welcome.isResumed)
    }

    @Test func `an observer sees a drive from its beginning to its end`() throws {
        let bench = Bench()
        let observer = try bench.connect(Self.policy(.content))
        try observer.send(.hello(Self.hello))
        try observer.send(Self.everything())
        var told = try observer.told()
        let car = try bench.vehicle("car")
        let (client, session) = try bench.guide(["car"])
        try client.startGuidance(session)
        #expect(try car.receive().contains { $0.message.type == .startGuidance })
        told += try observer.told()
        var state = Self.state(of: told)
        #expect(state.isComplete)
        #expect(state.vehicles[VehicleID(unchecked: "car")]?.session == session)
        #expect(state.sessions[session]?.phase == .active)
        #expect(state.retained[session]?.frames.count == 1)
        let types = told.compactMap { envelope -> [MessageType?]? in
            guard case .observedFrames(let frames) = envelope.message else { return nil }
            return Frame.all(in: frames.frames).map(\.header.type)
        }.joined()
        for type in [
            MessageType.hello, .welcome, .openSession, .sessionOpened, .startGuidance, .snapshotBegin,
        ] {
            #expect(types.contains(type), "\(type)")
        }
        try client.send(.goodbye(Goodbye(.normal)))
        told += try observer.told()
        state = Self.state(of: told)
        #expect(state.sessions.isEmpty && state.clients.isEmpty)
        let kinds = told.compactMap { envelope -> ObservedKind? in
            guard case .observedEvent(let event) = envelope.message else { return nil }
            return ObservedKind(rawValue: event.kind)
        }
        #expect(kinds.starts(with: [.admitted, .admitted, .sessionOpened, .started]))
        #expect(kinds.contains(.sessionEnded) && kinds.contains(.departed))
    }

    @Test func `a peer that said nothing since the observer came departs with its name, an observer unseen`()
        throws
    {
        let bench = Bench()
        let car = try bench.vehicle("car")
        let (observer, other) = (
            try bench.connect(Self.policy(.state)), try bench.connect(Self.policy(.state))
        )
        for peer in [observer, other] {
            try peer.send(.hello(Self.hello))
            try peer.send(Self.everything())
            _ = try peer.receive()
        }
        try other.close()
        try car.close()
        let departed = try observer.told().compactMap { envelope -> ObservedEvent? in
            guard case .observedEvent(let event) = envelope.message else { return nil }
            return event
        }
        #expect(departed.map(\.kind) == [ObservedKind.departed.rawValue])
        #expect(departed.map(\.vehicles) == [[VehicleID(unchecked: "car")]])
    }

    @Test func `a peer's Goodbye is told before it departs, an observer's is not`() throws {
        let bench = Bench()
        let car = try bench.vehicle("car")
        let (observer, other) = (
            try bench.connect(Self.policy(.content)), try bench.connect(Self.policy(.content))
        )
        for peer in [observer, other] {
            try peer.send(.hello(Self.hello))
            try peer.send(Self.everything())
            _ = try peer.receive()
        }
        for peer in [other, car] { try peer.send(.goodbye(Goodbye(.normal, reason: "parked"))) }
        let told = try observer.told().map(\.message)
        let goodbyes = told.indices.filter { index in
            guard case .observedFrames(let frames) = told[index], frames.direction == .in else {
                return false
            }
            return Frame.all(in: frames.frames).map(\.header.type) == [.goodbye]
        }
        let departures = told.indices.filter { index in
            guard case .observedEvent(let event) = told[index] else { return false }
            return event.kind == ObservedKind.departed.rawValue && event.code == 1
        }
        #expect(goodbyes.count == 1 && departures.count == 1)
        #expect(goodbyes.first ?? .max < departures.first ?? 0)
    }

    @Test func `an observer that sends what others may send is closed`() throws {
        let bench = Bench()
        for message in [
            Message.openSession(OpenSession(requestID: "r", vehicles: .anyThatAsked)), .allowNavigation,
        ] {
            let observer = try bench.connect(Self.policy(.state))
            try observer.send(.hello(Self.hello))
            _ = try observer.told()
            try observer.send(message)
            #expect(try observer.goodbye()?.code == .unexpectedMessage)
        }
        let car = try bench.vehicle("car")
        try car.send(Self.everything())
        #expect(try car.goodbye()?.code == .unexpectedMessage)
    }

    @Test func `an observer resumes on another connection where it was`() throws {
        let bench = Bench()
        let first = try bench.connect(Self.policy(.content))
        try first.send(.hello(Self.hello))
        try first.send(Self.everything())
        guard case .welcome(let welcome)? = try first.told().first?.message else {
            Issue.record("no Welcome")
            return
        }
        _ = try bench.vehicle("bus")
        let number = Self.state(of: try first.told()).number
        try first.close()
        _ = try bench.vehicle("car")
        let second = try bench.connect(Self.policy(.content))
        var hello = Self.hello
        hello.resumptionToken = welcome.resumptionToken
        try second.send(.hello(hello))
        try second.send(Self.everything(after: number))
        let told = try second.told().map(\.message)
        guard case .welcome(let again)? = told.first else {
            Issue.record("no Welcome")
            return
        }
        #expect(again.isResumed)
        guard case .observationBegin(let begin)? = told.dropFirst().first else {
            Issue.record("\(told)")
            return
        }
        #expect(begin.kind == .missed)
        #expect(
            told.contains {
                if case .observedRecords(let records) = $0 { !records.vehicles.isEmpty } else { false }
            })
    }

    @Test func `counters are exact`() throws {
        let bench = Bench()
        let observer = try bench.connect(Self.policy(.state))
        try observer.send(.hello(Self.hello))
        let car = try bench.vehicle("car")
        let (client, session) = try bench.guide(["car"])
        try client.startGuidance(session)
        _ = try observer.told()
        try observer.send(.readCounters(ReadCounters()))
        func value(_ name: CounterName, _ label: UInt32 = 0, in report: CounterReport) -> UInt64? {
            report.counters.first { $0.name == name.rawValue && $0.label == label }?.value
        }
        guard case .counters(let report)? = try observer.told().first?.message else {
            Issue.record("no Counters")
            return
        }
        let start = UInt32(MessageType.startGuidance.rawValue)
        #expect(value(.publications, start, in: report) == 1)
        #expect(value(.deliveries, start, in: report) == 1)
        #expect(value(.connectionsAccepted, in: report) == 3)
        #expect(value(.connections, in: report) == 3)
        #expect(value(.waitingBytes, in: report) == 0)
        #expect(value(.sessionsOpened, in: report) == 1)
        for role in [RoleNumber.vehicle, .navigation, .observer] {
            #expect(value(.peersAdmitted, role.rawValue, in: report) == 1)
        }
        let received = try #require(value(.bytesReceived, in: report))
        let sent = try #require(value(.bytesSent, in: report))
        #expect(received > 0 && sent > 0)
        #expect(value(.observersConnected, in: report) == 1)
        #expect(value(.sessions, in: report) == 1)
        try client.send(.publication(.finishGuidance), session: session, sequence: 2)
        try observer.send(.readCounters(ReadCounters()))
        guard case .counters(let later)? = try observer.told().last?.message else {
            Issue.record("no Counters")
            return
        }
        #expect(value(.sessionsEnded, SessionEndReason.finished.rawValue, in: later) == 1)
        #expect(value(.sessions, in: later) == 0)
        #expect(try #require(value(.bytesReceived, in: later)) > received)
        #expect(try #require(value(.bytesSent, in: later)) > sent)
        #expect(later.isLast)
        _ = try car.receive()
    }

    @Test func `a listener that lets observers see less refuses those who saw more`() {
        var hello = ObserverHello(observer: ObserverName(unchecked: "watcher"))
        #expect(Self.policy(.state).refusal(of: .observer(hello)) == nil)
        hello.visibility = .content
        #expect(Self.policy(.state).refusal(of: .observer(hello))?.code == .rulesChanged)
        #expect(Self.policy(.all).refusal(of: .observer(hello)) == nil)
    }
}
