import NIOCore
import NIOEmbedded
import Testing
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

/// What the gateway's end of a connection decides by itself is counted like what the gateway decides.
@Suite struct GoodbyeCounterTests {
    private let bench = Bench {
        $0.connection.handshakeTimeout = .seconds(5)
        $0.outbox.slowConsumerTimeout = .seconds(30)
        $0.connections.connectionsPerUserMax = 8
        $0.connection.errorsMax = 1
    }

    private func counters() throws -> [CounterReport.Counter] {
        var policy = ListenerPolicy(roles: [.observer])
        policy.visibility = .all
        let meter = try self.bench.connect(from: .user(7), policy)
        try meter.send(
            .hello(Hello(role: .observer(ObserverHello(observer: ObserverName(unchecked: "meter"))))))
        try meter.send(.readCounters(ReadCounters()))
        defer { try? meter.close() }
        for case .counters(let report) in try meter.told().map(\.message) { return report.counters }
        throw UnexpectedResult(got: "no Counters")
    }

    /// The counters of Goodbyes that are not 0.
    private func goodbyes(
        _ name: CounterName, in counters: [CounterReport.Counter]
    ) -> [CloseCode?: UInt64] {
        var counts: [CloseCode?: UInt64] = [:]
        for counter in counters where counter.name == name.rawValue {
            counts[CloseCode(rawValue: counter.label)] = counter.value
        }
        return counts
    }

    @Test func `peers that are not admitted are counted by the code of their Goodbye`() throws {
        let onlyVehicles = try self.bench.connect(ListenerPolicy(roles: [.vehicle]))
        try onlyVehicles.send(.hello(Bench.navigationHello("app")))
        let noise = try self.bench.connect()
        try noise.send(Array(repeating: 0, count: 100))
        var keys = ListenerPolicy(roles: [.vehicle])
        keys.keys = [ListenerKey(name: "k", Array("secret".utf8))]
        let stranger = try self.bench.connect(from: .host("10.0.0.1"), keys)
        var hello = Bench.vehicleHello("car")
        hello.credential = Credential(Array("not that secret".utf8))
        try stranger.send(.hello(hello))
        let silent = try self.bench.connect()
        self.bench.loop.advanceTime(by: .seconds(6))
        // The gateway gives their places away once they are closed.
        self.bench.loop.advanceTime(by: .seconds(10))
        // All places of this user are taken by peers that were admitted.
        let present = try (1...8).map { try self.bench.vehicle("car-\($0)") }
        let ninth = try self.bench.connect()
        let expected: [(Peer, CloseCode)] = [
            (onlyVehicles, .roleNotAllowed), (noise, .badMagic), (stranger, .notAuthenticated),
            (silent, .handshakeTimeout), (ninth, .tooManyConnections),
        ]
        var told: [CloseCode?: UInt64] = [:]
        for (peer, code) in expected {
            #expect(try peer.goodbye()?.code == code)
            told[code, default: 0] += 1
        }
        let counters = try self.counters()
        #expect(self.goodbyes(.peersRefused, in: counters) == told)
        #expect(self.goodbyes(.peersClosed, in: counters).isEmpty)
        #expect(present.allSatisfy { $0.isOpen })
        // Also once their connections are gone.
        self.bench.loop.advanceTime(by: .seconds(10))
        #expect(!noise.isOpen)
        #expect(try self.goodbyes(.peersRefused, in: self.counters()) == told)
    }

    @Test func `admitted peers that are closed are counted by the code of their Goodbye`() throws {
        let silent = try self.bench.vehicle("silent", keepaliveMilliseconds: 1_000)
        self.bench.loop.advanceTime(by: .seconds(4))
        #expect(silent.isOutputClosed)
        let slow = try self.bench.vehicle("car")
        let (client, session) = try self.bench.guide(["car"])
        try client.startGuidance(session)
        slow.setReading(false)
        for number in UInt64(2)...5 {
            try client.send(.publication(.currentRoadName(["\(number)"])), session: session, sequence: number)
        }
        for _ in 0..<31 {
            self.bench.loop.advanceTime(by: .seconds(1))
            for peer in [slow, client] { try peer.send(.ping(nonce: 1)) }
        }
        let bad = Frame(header: FrameHeader(type: 0x0108, session: session, sequence: 6), body: [0xFF, 0xFF])
        for _ in 1...2 { try client.send(Array(bad.bytes)) }
        let leaving = try self.bench.vehicle("leaving")
        try leaving.send(.goodbye(Goodbye(.normal)))
        let counters = try self.counters()
        #expect(
            self.goodbyes(.peersClosed, in: counters)
                == [.keepaliveTimeout: 1, .slowConsumer: 1, .tooManyErrors: 1])
        #expect(self.goodbyes(.peersRefused, in: counters).isEmpty)
    }
}
