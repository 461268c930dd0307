import Logging
import NIOCore
import NIOEmbedded
import Testing
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

@Suite struct LogTests {
    @Test func `each ending is told once, with who and why`() throws {
        let bench = Bench()
        let stranger = try bench.connect(from: .host("10.0.0.9"))
        try stranger.send(Array(repeating: 0, count: 100))
        try stranger.send(Array(repeating: 0, count: 100))
        try stranger.close()
        let warnings = bench.log.lines(.warning)
        #expect(warnings.map(\.sentence) == ["a peer broke the protocol, closing its connection"])
        #expect(warnings.first?.metadata["peer"] == "10.0.0.9")
        #expect(warnings.first?.metadata["address"] == "unix:/listener")
        #expect(warnings.first?.metadata["code"] == "badMagic")
        #expect(
            bench.log.lines(.debug).map(\.sentence) == ["a connection came", "a connection ended"])
    }

    @Test func `a refused peer and a slow one are told`() throws {
        let bench = Bench { $0.outbox.slowConsumerTimeout = .seconds(1) }
        let first = try bench.vehicle("car")
        let second = try bench.connect()
        try second.send(.hello(Bench.vehicleHello("car")))
        _ = try second.receive()
        first.setReading(false)
        for _ in 0..<2 { try first.send(.ping(nonce: 1)) }
        bench.loop.advanceTime(by: .seconds(1))
        bench.loop.run()
        let warnings = bench.log.lines(.warning)
        #expect(
            warnings.map(\.sentence) == [
                "refused a peer", "a peer reads too slowly, closing its connection",
            ])
        #expect(warnings.map { $0.metadata["vehicle"] } == ["car", "car"])
        #expect(warnings.map { $0.metadata["code"] } == ["idInUse", "slowConsumer"])
    }

    @Test func `one source cannot flood the log, and what was left out is told`() throws {
        let bench = Bench {
            $0.log.linesMax = 5
            $0.log.window = .seconds(60)
        }
        for _ in 0..<100 {
            let stranger = try bench.connect(from: .host("10.0.0.9"))
            try stranger.send([0, 0])
            try stranger.close()
        }
        let other = try bench.connect(from: .host("10.0.0.10"))
        try other.send([0, 0])
        #expect(bench.log.lines(.warning).map { $0.metadata["peer"] }.count { $0 == "10.0.0.9" } == 5)
        #expect(bench.log.lines(.warning).map { $0.metadata["peer"] }.count { $0 == "10.0.0.10" } == 1)
        bench.loop.advanceTime(by: .seconds(60))
        let told = try #require(bench.log.lines(.warning).last)
        #expect(told.sentence == "left out further lines of a peer")
        #expect(told.metadata["count"] == "95")
        #expect(told.metadata["peer"] == "10.0.0.9")
        // A new minute, new lines.
        let stranger = try bench.connect(from: .host("10.0.0.9"))
        try stranger.send([0, 0])
        #expect(bench.log.lines(.warning).last?.metadata["code"] == "badMagic")
    }

    @Test func `no place is in the log`() throws {
        let bench = Bench()
        let vehicle = try bench.vehicle("car")
        let (client, session) = try bench.guide(["car"])
        let secret = Waypoint(
            center: Coordinate(latitude: 47.123456, longitude: 9.654321), nameVariants: ["Secret Street 1"])
        let drive = Trip(id: "t", origin: secret, destination: secret)
        for sequence in UInt64(1)...2 {  // The second is refused: guidance was started with this generation.
            try client.send(
                .publication(.startGuidance(drive, generation: 1, .init())), session: session,
                sequence: sequence)
        }
        try client.close()
        try vehicle.close()
        #expect(bench.log.lines.count > 5)
        for line in bench.log.lines {
            let text = line.sentence + line.metadata.values.joined()
            for word in ["Secret", "47.12", "9.65"] { #expect(!text.contains(word), "\(line)") }
        }
    }

    @Test func `the limiter's memory is bounded`() {
        var limits = LogLimiter.Limits()
        limits.linesMax = 1
        limits.sourcesMax = 10
        var limiter = LogLimiter(limits: limits)
        var passed = 0
        for number in 0..<1_000 {
            let verdict = limiter.count(.host("\(number)"), .warning, at: Instant(nanoseconds: 0))
            if verdict == .pass { passed += 1 }
        }
        #expect(passed == 11)
        let suppressed = limiter.takeSuppressed()
        #expect(suppressed.map(\.count) == [989])
        #expect(suppressed.first?.key.source == nil)
        #expect(limiter.takeSuppressed().isEmpty)
    }
}
