import NIOCore
import NIOEmbedded
import Testing
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

/// Counters after a load whose numbers are known, while another observer reads nothing and misses entries.
@Suite struct CounterTests {
    private let bench: Bench
    /// Asks for counters.
    private let meter: Peer
    /// Wants everything, and does not read it.
    private let slow: Peer
    private let endpoints: [Peer]
    private let client: Peer
    private let session: SessionID

    init() throws {
        var policy = Gateway.Policy()
        policy.limits.observationBytesMax = 16_384
        self.bench = Bench(policy: policy)
        self.slow = try Self.observer(self.bench)
        var observe = Observe()
        (observe.wantsState, observe.wantsEvents, observe.wantsFrames) = (true, true, true)
        try self.slow.send(.observe(observe))
        self.slow.setReading(false)
        self.meter = try Self.observer(self.bench)
        self.endpoints = [
            try self.bench.vehicle("a"), try self.bench.vehicle("a", endpoint: "hud"),
            try self.bench.vehicle("b"),
        ]
        (self.client, self.session) = try self.bench.guide(["a", "b"])
    }

    private static func observer(_ bench: Bench) throws -> Peer {
        var policy = ListenerPolicy(roles: [.observer])
        policy.visibility = .all
        let observer = try bench.connect(policy)
        try observer.send(
            .hello(Hello(role: .observer(ObserverHello(observer: ObserverName(unchecked: "watcher"))))))
        return observer
    }

    private func counters() throws -> [CounterReport.Counter] {
        try self.meter.send(.readCounters(ReadCounters()))
        for case .counters(let report) in try self.meter.told().map(\.message) { return report.counters }
        throw UnexpectedResult(got: "no Counters")
    }

    /// Publishes with the numbers from 1 on.
    private func publish(_ publications: [Publication], first: UInt64 = 1) throws {
        for (index, publication) in publications.enumerated() {
            try self.client.send(
                .publication(publication), session: self.session, sequence: first + UInt64(index))
        }
    }

    private func request(_ id: Identifier) throws {
        try self.endpoints[0].send(
            .waypointRequest(WaypointRequest(requestID: id, waypoint: waypoint)), session: self.session)
    }

    private func decline(_ id: Identifier, after time: TimeAmount) throws {
        self.bench.loop.advanceTime(by: time)
        try self.client.send(
            .requestAnswer(
                RequestAnswer(requestID: id, vehicle: VehicleID(unchecked: "a"), answer: .decline(.busy))))
    }

    @Test func `what was published, delivered and conflated is counted`() throws {
        try self.publish([
            .startGuidance(trip, generation: 1, .init()), .currentRoadName(["A"]), .currentRoadName(["A"]),
        ])
        // A gap in the numbers: rejected.
        try self.publish([.currentRoadName(["B"])], first: 9)
        // The slow observer is told.
        self.bench.loop.advanceTime(by: .milliseconds(10))
        let counters = try self.counters()
        let (start, name) = (MessageType.startGuidance, MessageType.currentRoadName)
        #expect(counters[.publications, start] == 1 && counters[.publications, name] == 2)
        #expect(counters[.publicationsUnchanged] == 1 && counters[.publicationsRejected] == 1)
        #expect(counters[.deliveries, start] == 3 && counters[.deliveries, name] == 3)
        #expect(counters[.sessionsInPhase, label: SessionPhase.active.rawValue] == 1)
        #expect(counters[.sessionsInPhase, label: SessionPhase.preview.rawValue] == 0)
        #expect(counters[.snapshots] == 3)
        #expect(counters[.endpointsConnected] == 3 && counters[.vehiclesConnected] == 2)
        #expect(counters[.observersConnected] == 2 && counters[.clientsConnected] == 1)
        #expect(counters[.connections] == 6 && counters[.connectionsAccepted] == 6)
        #expect(counters[.waitingBytes] > 0)
    }

    @Test func `counters are exact although entries for another observer were dropped`() throws {
        let names = (1...400).map { Publication.currentRoadName(["Road number \($0) of a long way"]) }
        try self.publish([.startGuidance(trip, generation: 1, .init())] + names)
        // The gateway serves one client for a while, and then the others first.
        self.bench.loop.advanceTime(by: .seconds(1))
        let counters = try self.counters()
        #expect(counters[.publications, .currentRoadName] == 400)
        #expect(counters[.deliveries, .currentRoadName] == 1_200)
        let dropped = counters[.entriesDropped]
        #expect(dropped > 0)
        #expect(self.client.isOpen && self.slow.isOpen)
        self.slow.setReading(true)
        self.bench.loop.advanceTime(by: .seconds(1))
        var told: UInt64 = 0
        for case .observationGap(let gap) in try self.slow.told().map(\.message) { told += gap.dropped }
        #expect(told == dropped)
    }

    @Test func `bytes are those that crossed`() throws {
        try self.publish([.startGuidance(trip, generation: 1, .init()), .currentRoadName(["A"])])
        self.slow.setReading(true)
        let peers = self.endpoints + [self.client, self.meter, self.slow]
        for peer in peers { _ = try peer.receive() }
        let counters = try self.counters()
        #expect(counters[.bytesReceived] == peers.reduce(0) { $0 + UInt64($1.sentByteCount) })
        // The answer itself came after it was counted.
        let answer = UInt64(self.meter.lastReceivedByteCount)
        #expect(counters[.bytesSent] + answer == peers.reduce(0) { $0 + UInt64($1.receivedByteCount) })
        #expect(counters[.waitingBytes] == 0 && counters[.inputBytes] == 0)
    }

    @Test func `requests are counted by outcome, and by how long they took`() throws {
        try self.publish([.startGuidance(trip, generation: 1, .init())])
        try self.request("at once")
        try self.decline("at once", after: .zero)
        try self.request("exactly at a bound")
        try self.decline("exactly at a bound", after: .milliseconds(100))
        try self.request("above a bound")
        try self.decline("above a bound", after: .microseconds(100_001))
        try self.request("late")
        #expect(try self.counters()[.requestsOpen] == 1)
        self.bench.loop.advanceTime(by: .seconds(11))
        try self.publish([.finishGuidance], first: 2)
        // There is no session any more: the gateway declines it itself.
        try self.request("never forwarded")
        let counters = try self.counters()
        #expect(counters[.requests] == 5 && counters[.requestsOpen] == 0)
        #expect(counters[.requestsEnded, label: Outcome.busy.rawValue] == 3)
        #expect(counters[.requestsEnded, label: Outcome.timedOut.rawValue] == 1)
        #expect(counters[.requestsEnded, label: Outcome.sessionEnded.rawValue] == 1)
        #expect(counters[.requestTimes, label: 10] == 2)
        #expect(counters[.requestTimes, label: 100] == 1)
        #expect(counters[.requestTimes, label: 250] == 1)
        #expect(counters[.requestTimes, label: 10_000] + counters[.requestTimes, label: 15_000] == 1)
        let sum = counters[.requestMicroseconds]
        #expect((10_200_001...10_210_001).contains(sum), "\(sum)")
    }

    @Test func `what large requests keep is counted until they end`() throws {
        try self.publish([.startGuidance(trip, generation: 1, .init())])
        #expect(try self.counters()[.requestBytes] == 0)
        let place = Waypoint(center: waypoint.center, nameVariants: [String(repeating: "N", count: 500)])
        let message = Message.waypointRequest(WaypointRequest(requestID: "r", waypoint: place))
        let frame = Codec.encode(Envelope(message, session: self.session))
        try self.endpoints[0].send(Array(frame.bytes))
        #expect(try self.counters()[.requestBytes] == UInt64(frame.bytes.count))
        try self.decline("r", after: .zero)
        #expect(try self.counters()[.requestBytes] == 0)
    }

    @Test func `an endpoint's features that are withheld are counted each time that it is told`() throws {
        let before = try self.counters()
        // It asks for no feature, and joins the session of its vehicle.
        let hello = VehicleHello(
            vehicle: VehicleID(unchecked: "a"), endpoint: EndpointName(unchecked: "late"), features: [])
        let endpoint = try self.bench.connect()
        try endpoint.send(.hello(Hello(role: .vehicle(hello))))
        var told: [UInt32: UInt64] = [:]
        for case .snapshotBegin(let begin) in try endpoint.receive().map(\.message) {
            for reason in begin.withheld.compactMap(\.withheld) { told[reason.rawValue, default: 0] += 1 }
        }
        let counters = try self.counters()
        #expect(!told.isEmpty)
        for reason in WithheldReason.allCases.map(\.rawValue) {
            let count = counters[.featuresWithheld, label: reason] - before[.featuresWithheld, label: reason]
            #expect(count == told[reason, default: 0], "\(reason)")
        }
    }

    @Test func `the time for which event loops are busy is measured`() throws {
        #expect(try self.counters().contains { $0.name == CounterName.loopMicroseconds.rawValue })
    }
}

@Suite struct RequestTimeTests {
    @Test func `a time is counted by the least bound that is not below it`() {
        for (nanoseconds, bound) in [
            (-1, 10), (0, 10), (10_000_000, 10), (10_000_001, 50), (90_000_000_000, 90_000),
            (90_000_000_001, 0), (Int64.max, 0),
        ] {
            var times = RequestTimes()
            times.add(.nanoseconds(nanoseconds))
            #expect(times.all.map(\.bound) == [UInt32(bound)], "\(nanoseconds)")
            #expect(times.microseconds == UInt64(max(0, nanoseconds / 1_000)))
        }
    }
}

extension [CounterReport.Counter] {
    subscript(_ name: CounterName, label label: UInt32 = 0) -> UInt64 {
        self.first { $0.name == name.rawValue && $0.label == label }?.value ?? 0
    }

    subscript(_ name: CounterName, _ type: MessageType) -> UInt64 {
        self[name, label: UInt32(type.rawValue)]
    }
}
