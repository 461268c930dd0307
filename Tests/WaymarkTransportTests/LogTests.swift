import Logging
import NIOCore
import NIOEmbedded
import Testing
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

@Suite(.timeLimit(.minutes(10))) struct LogTests {
    @Test func `the end of a connection is logged once, with the peer and the reason`() throws {
        let bench = Bench()
        let stranger = try bench.connect(from: .host("10.0.0.9"))
        try stranger.send(Array(repeating: 0, count: 100))
        try stranger.send(Array(repeating: 0, count: 100))
        try stranger.close()
        let warnings = bench.log.lines(.warning)
        #expect(warnings.map(\.sentence) == ["a peer violated the protocol, closing its connection"])
        #expect(warnings.first?.metadata["peer"] == "10.0.0.9")
        #expect(warnings.first?.metadata["address"] == "unix:/listener")
        #expect(warnings.first?.metadata["code"] == "badMagic")
        #expect(
            bench.log.lines(.debug).map(\.sentence) == ["a connection was accepted", "a connection ended"])
    }

    @Test func `a refused peer and a slow peer are logged`() throws {
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

    @Test func `the refusal of a vehicle to a client is logged with its reason`() throws {
        let bench = Bench()
        _ = try bench.guide(["car", "bus"])
        let other = try bench.connect()
        try other.send(.hello(Bench.navigationHello("other")))
        for vehicles in [["car"], ["van", "bus", "car"]] {
            let ids = vehicles.map { VehicleID(unchecked: $0) }
            try other.send(
                .openSession(OpenSession(requestID: Identifier(vehicles[0]), vehicles: .vehicles(ids))))
        }
        let lines = bench.log.lines(.info).filter { $0.sentence == "refused a vehicle to a client" }
        #expect(lines.map { $0.metadata["code"] } == ["vehicleBusy", "vehicleBusy"])
        #expect(lines.map { $0.metadata["client"] } == ["other", "other"])
        #expect(lines.map { $0.metadata["vehicle"] } == ["car", #"["bus", "car"]"#])
        #expect(lines.map { $0.metadata["session"] == nil } == [true, false])
    }

    @Test func `one source cannot flood the log and suppressed lines are counted`() throws {
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
        #expect(told.sentence == "suppressed further log lines about a peer")
        #expect(told.metadata["count"] == "95")
        #expect(told.metadata["peer"] == "10.0.0.9")
        // A new window allows new lines.
        let stranger = try bench.connect(from: .host("10.0.0.9"))
        try stranger.send([0, 0])
        #expect(bench.log.lines(.warning).last?.metadata["code"] == "badMagic")
    }

    @Test func `the life of a session is logged with its vehicle and its client`() throws {
        let bench = Bench()
        let vehicle = try bench.vehicle("car")
        let (client, session) = try bench.guide(["car"])
        let here = Waypoint(center: Coordinate(latitude: 47, longitude: 9))
        let publications: [Publication] = [
            .startGuidance(Trip(id: "t", origin: here, destination: here), generation: 1, .init()),
            .currentRoadName(["A1"]), .pauseGuidance(.rerouting, description: []),
            .resumeGuidance(generation: 2, .missedTurn, .init()),
        ]
        for (index, publication) in publications.enumerated() {
            try client.send(.publication(publication), session: session, sequence: UInt64(index + 1))
        }
        try vehicle.send(
            .waypointRequest(WaypointRequest(requestID: "r", waypoint: here)), session: session)
        try vehicle.send(.withdrawRequest(WithdrawRequest(requestID: "r")), session: session)
        try vehicle.send(.cancelNavigation(.userStopped), session: session)
        let life = bench.log.lines(.info).filter { $0.metadata["session"] == "\(session.rawValue)" }
        #expect(
            life.map(\.sentence) == [
                "a session was opened", "guidance started", "guidance paused",
                "guidance rerouted", "a vehicle requested a waypoint",
                "a request ended", "a vehicle left its session", "a session ended",
            ])
        #expect(life.allSatisfy { $0.metadata["client"] == "app" })
        #expect(life.dropLast().allSatisfy { $0.metadata["vehicle"] == "car" })
        #expect(life.compactMap { $0.metadata["generation"] } == ["1", "2"])
        #expect(
            life.compactMap { $0.metadata["reason"] } == [
                "rerouting", "withdrawn", "userStopped", "userStopped",
            ])
        #expect(life.compactMap { $0.metadata["outcome"] } == ["withdrawn"])
    }

    @Test func `a client's disconnection, resumption and replacement are logged`() throws {
        var policy = Gateway.Policy()
        policy.arbitration = .replace
        let bench = Bench(policy: policy)
        _ = try bench.vehicle("car")
        let first = try bench.connect()
        try first.send(.hello(Bench.navigationHello("first")))
        guard case .welcome(let welcome)? = try first.receive().first?.message else {
            throw UnexpectedResult(got: "nothing")
        }
        try first.send(
            .openSession(OpenSession(requestID: "r", vehicles: .vehicles([VehicleID(unchecked: "car")]))))
        try first.close()
        let again = try bench.connect()
        var hello = Bench.navigationHello("first")
        hello.resumptionToken = welcome.resumptionToken
        try again.send(.hello(hello))
        _ = try bench.guide(["car"])
        let told = bench.log.lines(.info).filter { $0.metadata["session"] != nil }
        #expect(
            told.map { "\($0.sentence) \($0.metadata["client"] ?? "") \($0.metadata["reason"] ?? "")" } == [
                "a session was opened first ", "a client disconnected, keeping its session first ",
                "a client resumed its session first ", "a session was opened app ",
                "a vehicle left its session first replaced", "a session ended first replaced",
            ])
    }

    @Test func `one peer's lines do not suppress those of another peer from the same source`() throws {
        let bench = Bench { $0.log.linesMax = 5 }
        for _ in 0..<10 { try bench.vehicle("restless").close() }
        _ = try bench.vehicle("calm")
        let admitted = bench.log.lines(.info).filter { $0.sentence == "a peer was admitted" }
        #expect(admitted.count { $0.metadata["vehicle"] == "restless" } == 3)
        #expect(admitted.count { $0.metadata["vehicle"] == "calm" } == 1)
    }

    @Test func `the log contains no geographic position, name or request id`() throws {
        let bench = Bench()
        let vehicle = try bench.vehicle("car")
        let (client, session) = try bench.guide(["car"])
        let secret = Waypoint(
            center: Coordinate(latitude: 47.123456, longitude: 9.654321), nameVariants: ["Secret Street 1"])
        let drive = Trip(id: "t", origin: secret, destination: secret)
        for sequence in UInt64(1)...2 {  // The second is rejected: guidance was started with this generation.
            try client.send(
                .publication(.startGuidance(drive, generation: 1, .init())), session: session,
                sequence: sequence)
        }
        try vehicle.send(
            .waypointRequest(WaypointRequest(requestID: "Secret 1", waypoint: secret)), session: session)
        try vehicle.send(.cancelNavigation(.userStopped), session: session)
        try vehicle.send(
            .destinationRequest(DestinationRequest(requestID: "Secret 2", destination: secret)))
        try client.close()
        try vehicle.close()
        #expect(bench.log.lines.count { $0.sentence == "a request ended" } == 2)
        for line in bench.log.lines {
            let text = line.sentence + line.metadata.values.joined()
            for word in ["Secret", "47.12", "9.65"] { #expect(!text.contains(word), "\(line)") }
        }
    }

    @Test func `the limiter's memory is bounded`() {
        var limits = LogLimiter.Limits()
        limits.linesMax = 1
        limits.keysMax = 10
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

    @Test func `many subjects do not let one source flood the log`() {
        var limits = LogLimiter.Limits()
        limits.linesMax = 2
        limits.subjectsPerSource = 10
        var limiter = LogLimiter(limits: limits)
        func passed(_ source: PeerSource) -> Int {
            (0..<1_000).count { number in
                let subject = LogSubject.vehicle(VehicleID(unchecked: "v\(number)"))
                return limiter.count(source, about: subject, .info, at: Instant(nanoseconds: 0)) == .pass
            }
        }
        #expect(passed(.host("a")) == 20)
        #expect(passed(.host("b")) == 20)
        // Lines without a subject are counted separately, and so are those of the next window.
        #expect(limiter.count(.host("a"), .info, at: Instant(nanoseconds: 0)) == .pass)
        let next = Instant(nanoseconds: 0) + .seconds(60)
        #expect(limiter.count(.host("a"), about: .client(ClientID(unchecked: "c")), .info, at: next) == .pass)
        #expect(limiter.takeSuppressed().map(\.count) == [980, 980])
    }
}
