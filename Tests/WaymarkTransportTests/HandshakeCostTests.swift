import NIOCore
import NIOEmbedded
import Testing
import WaymarkCodec
import WaymarkGateway
import WaymarkProtocol
import WaymarkTransport

@Suite(.timeLimit(.minutes(1))) struct HandshakeCostTests {
    private static let policy: ListenerPolicy = {
        var policy = ListenerPolicy(roles: [.vehicle, .navigation])
        policy.keys = [ListenerKey(name: "test", Array("secret".utf8))]
        return policy
    }()

    /// Connects a vehicle that sends its Hello with a key.
    private static func say(_ key: String, _ id: String, on bench: Bench, from host: String = "127.0.0.1")
        throws -> Peer
    {
        let peer = try bench.connect(from: .host(host), Self.policy)
        var hello = Bench.vehicleHello(id)
        hello.credential = Credential(Array(key.utf8))
        try peer.send(.hello(hello))
        return peer
    }

    private static func isWelcome(_ peer: Peer) throws -> Bool {
        if case .welcome = try peer.receive().first?.message { true } else { false }
    }

    @Test func `with an empty bucket a wrong key is answered late, and a correct one at once`() throws {
        let bench = Bench {
            $0.failures.burst = 3
            $0.failures.perMinute = 6
            $0.failureDelay = .seconds(1)
        }
        for number in 0..<3 {
            #expect(try Self.say("wrong", "v\(number)", on: bench).goodbye()?.code == .notAuthenticated)
        }
        let late = try Self.say("wrong", "v", on: bench)
        #expect(try late.receive().isEmpty && late.isOpen && !late.isOutputClosed)
        #expect(try Self.isWelcome(Self.say("secret", "car", on: bench)))
        #expect(try Self.say("wrong", "v", on: bench, from: "10.0.0.1").goodbye()?.code == .notAuthenticated)
        bench.loop.advanceTime(by: .milliseconds(999))
        #expect(try late.receive().isEmpty)
        bench.loop.advanceTime(by: .milliseconds(1))
        #expect(try late.goodbye()?.code == .notAuthenticated)
        #expect(late.isOutputClosed)
        bench.loop.advanceTime(by: .seconds(9))
        #expect(try Self.say("wrong", "v", on: bench).goodbye()?.code == .notAuthenticated)
    }

    @Test func `a wrong resumption token costs as much as a wrong key`() throws {
        let bench = Bench { $0.failures.burst = 2 }
        _ = try bench.vehicle("car")
        var hello = Bench.vehicleHello("car")
        hello.resumptionToken = ResumptionToken(high: 1, low: 2)
        func guess() throws -> Peer {
            let peer = try bench.connect()
            try peer.send(.hello(hello))
            return peer
        }
        for _ in 0..<2 { #expect(try guess().goodbye()?.code == .idInUse) }
        let late = try guess()
        #expect(try late.receive().isEmpty)
        bench.loop.advanceTime(by: .seconds(1))
        #expect(try late.goodbye()?.code == .idInUse)
        #expect(try bench.vehicle("other").isOpen)
    }

    @Test func `a connection that ends without a Hello costs a token`() throws {
        let bench = Bench { $0.failures.burst = 2 }
        for _ in 0..<2 { try bench.connect(from: .host("127.0.0.1"), Self.policy).close() }
        #expect(try Self.say("wrong", "v", on: bench).receive().isEmpty)
    }

    @Test func `a silent connection is closed when its address needs the place`() throws {
        let bench = Bench { $0.connections.handshakesPerUserMax = 2 }
        let silent = try (0..<2).map { _ in try bench.connect(from: .host("10.0.0.1")) }
        let other = try bench.connect(from: .host("10.0.0.2"))
        let new = try bench.connect(from: .host("10.0.0.1"))
        #expect(try silent[0].goodbye()?.code == .tooManyConnections)
        #expect(!silent[0].isOpen && silent[1].isOpen && other.isOpen && new.isOpen)
        try new.send(.hello(Bench.vehicleHello("car")))
        #expect(try Self.isWelcome(new))
        _ = try bench.connect(from: .host("10.0.0.1"))
        #expect(silent[1].isOpen)
        _ = try bench.connect(from: .host("10.0.0.1"))
        #expect(!silent[1].isOpen && new.isOpen)
    }

    @Test func `an empty bucket spares the Goodbye of a refused connection`() throws {
        let bench = Bench {
            $0.connections.connectionsPerUserMax = 0
            $0.failures.burst = 1
        }
        #expect(try bench.connect().goodbye()?.code == .tooManyConnections)
        #expect(throws: (any Error).self) { try bench.connect() }
    }
}
