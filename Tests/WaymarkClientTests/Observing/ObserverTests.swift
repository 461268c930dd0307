import FakeGateway
import Foundation
import Synchronization
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

private let car = VehicleID(unchecked: "car")

/// A vehicle with one endpoint, as a gateway tells of it.
private func carRecord(connection: UInt64? = 3, audience: UInt64 = 0, session: UInt32 = 0) -> VehicleRecord {
    var endpoint = EndpointRecord(EndpointName(unchecked: "cluster"))
    endpoint.connection = connection.map { ConnectionID($0) }
    endpoint.audience = audience
    endpoint.session = SessionID(session)
    var record = VehicleRecord(car)
    record.session = SessionID(session)
    record.endpoints = [endpoint]
    return record
}

extension FakeGateway.Peer {
    /// Answers Observe with the present state.
    func tellState(_ vehicles: [VehicleRecord] = [], after number: UInt64 = 0) async throws {
        try await self.send(
            .observationBegin(ObservationBegin(.full, after: number, at: Instant(nanoseconds: 0))))
        var records = ObservedRecords()
        records.vehicles = vehicles
        records.isLast = true
        try await self.send(.observedRecords(records))
    }

    func nextObserve() async throws -> Observe {
        try #require(await self.next { if case .observe(let observe) = $0.message { observe } else { nil } })
    }

    func tell(_ kind: ObservedKind, _ number: UInt64, on connection: UInt64 = 3) async throws {
        var event = ObservedEvent(kind)
        event.number = number
        event.vehicles = [car]
        event.connection = ConnectionID(connection)
        try await self.send(.observedEvent(event))
    }
}

/// An observer that is connected to a fake gateway.
private struct Observed {
    let gateway: FakeGateway
    let observer: Observer
    let peer: FakeGateway.Peer
    let updates: Feed<GatewayUpdate>

    static func start(
        _ vehicles: [VehicleRecord] = [carRecord()],
        _ change: (inout Observer.Configuration) -> Void = { _ in }
    ) async throws -> Observed {
        let gateway = try await FakeGateway.start()
        var configuration = Observer.Configuration()
        configuration.reconnection = quick
        change(&configuration)
        async let connecting = Observer.connect(to: gateway.address, configuration)
        let peer = try #require(await gateway.next())
        try await peer.welcome()
        _ = try await peer.nextObserve()
        try await peer.tellState(vehicles)
        let observer = try await connecting
        let updates = await observer.updates
        for await update in updates {
            guard case .synchronized = update.content else { throw Unexpected() }
            break
        }
        return Observed(gateway: gateway, observer: observer, peer: peer, updates: updates)
    }

    func nextUpdate<Value>(_ pick: (GatewayUpdate) -> Value?) async -> Value? {
        for await update in self.updates { if let value = pick(update) { return value } }
        return nil
    }

    func close() async {
        await self.observer.close()
        await self.gateway.close()
    }
}

@Suite(.timeLimit(.minutes(10))) struct ObserverTests {
    @Test func `an observer says what it wants, and connecting returns with the whole state`() async throws {
        let gateway = try await FakeGateway.start()
        var configuration = Observer.Configuration(id: "rig")
        configuration.vehicles = ["car"]
        configuration.clients = ["app"]
        configuration.sessions = [7]
        configuration.kinds = [.started, .requestEnded]
        configuration.includesFrames = true
        let chosen = configuration
        async let connecting = Observer.connect(to: gateway.address, chosen)
        let peer = try #require(await gateway.next())
        #expect(peer.hello.role == .observer(ObserverHello(observer: ObserverName(unchecked: "rig"))))
        try await peer.welcome()
        var expected = Observe()
        expected.vehicles = [car]
        expected.clients = [ClientID(unchecked: "app")]
        expected.sessions = [SessionID(7)]
        expected.kinds = [ObservedKind.started.rawValue, ObservedKind.requestEnded.rawValue]
        (expected.wantsState, expected.wantsEvents, expected.wantsFrames) = (true, true, true)
        #expect(try await peer.nextObserve() == expected)
        try await peer.tellState([carRecord()])
        let observer = try await connecting
        let vehicle = try #require(await observer.state.vehicle("car"))
        #expect(vehicle.endpoints.map(\.name) == ["cluster"])
        #expect(await observer.state.clients.isEmpty)
        await observer.close()
        await gateway.close()
    }

    @Test func `events and frames name the peers of their connections and audiences`() async throws {
        let observed = try await Observed.start([carRecord(audience: 5, session: 7)])
        try await observed.peer.tell(.admitted, 1)
        let event = await observed.nextUpdate {
            if case .event(let event) = $0.content { event } else { nil }
        }
        #expect(event?.kind == .admitted)
        #expect(event?.peer == "car/cluster")
        #expect(event?.vehicles == ["car"])
        var frames = ObservedFrames(.out, [])
        frames.number = 2
        frames.audience = 5
        frames.session = SessionID(7)
        for (number, name) in ["First", "Second"].enumerated() {
            let envelope = Envelope(
                .publication(.currentRoadName([name])), session: SessionID(7), sequence: UInt64(number + 1),
                flags: [.fitted])
            frames.frames += Codec.encode(envelope).bytes
        }
        try await observed.peer.send(.observedFrames(frames))
        let frame = try #require(
            await observed.nextUpdate { if case .frame(let frame) = $0.content { frame } else { nil } })
        #expect(frame.way == .to(["car/cluster"]))
        #expect(frame.name == "currentRoadName")
        #expect(frame.content == .currentRoadName(["First"]))
        #expect((frame.session, frame.sequence) == (7, 1))
        #expect(frame.isFitted && !frame.isRedacted && !frame.isRejected)
        let second = await observed.nextUpdate { $0.number }
        #expect(second == 2)
        await observed.close()
    }

    @Test func `a frame of an unknown type has its number as its name`() async throws {
        let observed = try await Observed.start()
        var frames = ObservedFrames(.in, [])
        frames.number = 1
        frames.connection = ConnectionID(3)
        frames.frames = Array(Frame(header: FrameHeader(type: 0x0142), body: [1, 2]).bytes)
        try await observed.peer.send(.observedFrames(frames))
        let frame = await observed.nextUpdate {
            if case .frame(let frame) = $0.content { frame } else { nil }
        }
        #expect(frame?.name == "0x0142")
        #expect(frame?.way == .from("car/cluster"))
        #expect(frame?.content == .other)
        #expect(frame?.bytes.count == 26)
        await observed.close()
    }

    @Test func `after a lost connection an observer continues behind the last number`() async throws {
        let observed = try await Observed.start()
        try await observed.peer.tell(.started, 1)
        #expect(await observed.nextUpdate { $0.number } == 1)
        await observed.peer.close()
        let back = try #require(await observed.gateway.next())
        #expect(back.hello.resumptionToken == ResumptionToken(high: 1, low: 2))
        try await back.welcome(isResumed: true)
        let observe = try await back.nextObserve()
        #expect(observe.afterNumber == 1)
        #expect(observe.wantsState)
        try await back.send(
            .observationBegin(ObservationBegin(.missed, after: 1, at: Instant(nanoseconds: 0))))
        try await back.tell(.paused, 2)
        let update = await observed.nextUpdate { $0 }
        #expect(update?.number == 2)
        guard case .event(let event)? = update?.content else { throw Unexpected() }
        #expect(event.peer == "car/cluster")
        await observed.close()
    }

    @Test func `a gateway that no longer knows the observer tells the whole state again`() async throws {
        let observed = try await Observed.start()
        try await observed.peer.tell(.started, 1)
        #expect(await observed.nextUpdate { $0.number } == 1)
        await observed.peer.close()
        let back = try #require(await observed.gateway.next())
        try await back.welcome()
        #expect(try await back.nextObserve().afterNumber == 0)
        // The old state stays until the new one is whole.
        try await back.send(
            .observationBegin(ObservationBegin(.full, after: 0, at: Instant(nanoseconds: 0))))
        try await back.tell(.admitted, 1)
        #expect(await observed.nextUpdate { $0.number } == 1)
        #expect(await observed.observer.state.vehicles.count == 1)
        try await back.tellState(after: 1)
        let snapshot = await observed.nextUpdate {
            if case .synchronized(let snapshot) = $0.content { snapshot } else { nil }
        }
        #expect(snapshot?.vehicles.isEmpty == true)
        await observed.close()
    }

    @Test func `entries that the gateway dropped are counted, and the state follows`() async throws {
        let observed = try await Observed.start()
        try await observed.peer.send(.observationGap(ObservationGap(dropped: 214, nextNumber: 215)))
        try await observed.peer.tellState([carRecord(connection: nil)], after: 214)
        let dropped = await observed.nextUpdate {
            if case .dropped(let count) = $0.content { count } else { nil }
        }
        #expect(dropped == 214)
        let snapshot = await observed.nextUpdate {
            if case .synchronized(let snapshot) = $0.content { snapshot } else { nil }
        }
        guard case .away? = snapshot?.vehicles.first?.endpoints.first?.presence else { throw Unexpected() }
        await observed.close()
    }

    @Test func `an observer that sees a prompt sends nothing but what observers may`() async throws {
        let observed = try await Observed.start()
        var frames = ObservedFrames(.out, [])
        frames.number = 1
        frames.connection = ConnectionID(3)
        let prompt = Prompt(
            requestID: "stop", waypoint: place,
            travelEstimates: TravelEstimates(distanceRemaining: .meters(1)), deadlineMilliseconds: 60_000)
        frames.frames = Array(Codec.encode(Envelope(.prompt(prompt))).bytes)
        try await observed.peer.send(.observedFrames(frames))
        let name = await observed.nextUpdate {
            if case .frame(let frame) = $0.content { frame.name } else { nil }
        }
        #expect(name == "prompt")
        try await observed.peer.send(.ping(nonce: 7))
        let counters = Task { try await observed.observer.counters() }
        var sent: Set<MessageType> = []
        let question: ReadCounters? = await observed.peer.next {
            sent.insert($0.message.type)
            if case .readCounters(let question) = $0.message { return question }
            return nil
        }
        #expect(question == ReadCounters())
        var report = CounterReport()
        report.counters = [.init(.sessions, 4)]
        report.isLast = true
        try await observed.peer.send(.counters(report))
        #expect(try await counters.value[.sessions] == 4)
        await observed.observer.close()
        let _: Void? = await observed.peer.next {
            sent.insert($0.message.type)
            return nil
        }
        #expect(sent == [.pong, .readCounters, .goodbye])
        await observed.gateway.close()
    }

    @Test func `a call for counters is asked again after a lost connection, and fails after the last`()
        async throws
    {
        let observed = try await Observed.start()
        let counters = Task { try await observed.observer.counters() }
        let asked = await observed.peer.next { $0.message.type == .readCounters ? true : nil }
        #expect(asked == true)
        await observed.peer.close()
        let back = try #require(await observed.gateway.next())
        try await back.welcome(isResumed: true)
        let again = await back.next { $0.message.type == .readCounters ? true : nil }
        #expect(again == true)
        try await back.send(.goodbye(Goodbye(.notAuthenticated, reason: "no longer")))
        await #expect(throws: ClientError.refused(reason: "no longer")) { _ = try await counters.value }
        await #expect(throws: ClientError.refused(reason: "no longer")) {
            try await observed.observer.counters()
        }
        await observed.gateway.close()
    }

    @Test func `a call for counters can be cancelled`() async throws {
        let observed = try await Observed.start()
        let call = Task { try await observed.observer.counters() }
        _ = await observed.peer.next { $0.message.type == .readCounters ? true : nil }
        call.cancel()
        await #expect(throws: ClientError.cancelled) { _ = try await call.value }
        await observed.close()
    }

    @Test func `states has the present state and each later one`() async throws {
        let observed = try await Observed.start()
        var states = await observed.observer.states.makeAsyncIterator()
        #expect(await states.next()?.vehicles.map(\.id) == ["car"])
        var records = ObservedRecords()
        records.number = 1
        records.vehiclesGone = [car]
        try await observed.peer.send(.observedRecords(records))
        #expect(await states.next()?.vehicles.isEmpty == true)
        await observed.close()
    }

    @Test func `connecting is cancelled while the state is not complete`() async throws {
        let gateway = try await FakeGateway.start()
        let connecting = Task { try await Observer.connect(to: gateway.address) }
        let peer = try #require(await gateway.next())
        try await peer.welcome()
        _ = try await peer.nextObserve()
        connecting.cancel()
        await #expect(throws: ClientError.cancelled) { _ = try await connecting.value }
        await gateway.close()
    }

    @Test func `a setting that the gateway would refuse is refused before connecting`() async {
        var configuration = Observer.Configuration(id: "no spaces")
        await #expect(throws: ClientError.self) {
            try await Observer.connect(to: .unix(path: "/nowhere"), configuration)
        }
        configuration = Observer.Configuration()
        configuration.vehicles = ["no spaces"]
        await #expect(
            throws: ClientError.invalid("the vehicle id no spaces must be 1 to 64 of A-Z a-z 0-9 . _ : -")
        ) {
            try await Observer.connect(to: .unix(path: "/nowhere"), configuration)
        }
        configuration.vehicles = (0...64).map { "car-\($0)" }
        let error = await #expect(throws: ClientError.self) {
            try await Observer.connect(to: .unix(path: "/nowhere"), configuration)
        }
        guard case .rejected(let field, _, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(field.hasPrefix("vehicle_ids"))
    }

    @Test func `a gateway that refuses what the observer wants ends connecting`() async throws {
        let gateway = try await FakeGateway.start()
        let connecting = Task { try await Observer.connect(to: gateway.address) }
        let peer = try #require(await gateway.next())
        try await peer.welcome()
        _ = try await peer.nextObserve()
        try await peer.send(.error(Rejection(.outOfRange, field: "kinds[0]", reason: "no")))
        await #expect(throws: ClientError.rejected(field: "kinds[0]", reason: "no")) {
            _ = try await connecting.value
        }
        await gateway.close()
    }

    @Test func `a reader that is too slow is told how many updates it missed`() async throws {
        let observed = try await Observed.start()
        for number in 1...1_030 { try await observed.peer.tell(.started, UInt64(number)) }
        var states = await observed.observer.states.makeAsyncIterator()
        _ = await states.next()
        var records = ObservedRecords()
        records.number = 1_031
        records.vehiclesGone = [car]
        try await observed.peer.send(.observedRecords(records))
        // All events were read before.
        #expect(await states.next()?.vehicles.isEmpty == true)
        let first = await observed.nextUpdate { $0 }
        #expect(first?.content == .missed(6))
        #expect(await observed.nextUpdate { $0 }?.number == 7)
        await observed.close()
    }

    @Test func `a tap that is asked to catch up reads on to the counters`() async throws {
        let gateway = try await FakeGateway.start()
        let numbers = Mutex<[UInt64]>([])
        let connecting = Task {
            try await ObservationTap.connect(to: gateway.address, Observer.Configuration()) { event in
                if case .received(.observedEvent(let told)) = event {
                    numbers.withLock { $0.append(told.number) }
                }
            }
        }
        let peer = try #require(await gateway.next())
        try await peer.welcome()
        _ = try await peer.nextObserve()
        try await peer.tellState()
        let tap = try await connecting.value
        let catchingUp = Task { await tap.catchUp() }
        _ = await peer.next { if case .readCounters(let read) = $0.message { read } else { nil } }
        try await peer.tell(.started, 1)
        var report = CounterReport()
        report.isLast = true
        try await peer.send(.counters(report))
        await catchingUp.value
        #expect(numbers.withLock { $0 } == [1])
        // A gateway that is gone is not waited for.
        let waiting = Task { await tap.catchUp() }
        await peer.close()
        await waiting.value
        await tap.close()
        await gateway.close()
    }
}

private struct Unexpected: Error {}
