import Testing
import WaymarkClient
import WaymarkFaults
import WaymarkGateway
import WaymarkGuidance
import WaymarkHistory
import WaymarkModel
import WaymarkProtocol
import WaymarkRig
import WaymarkRoutes
import WaymarkScenario

@Suite struct VirtualRunTests {
    @Test func `bytes that are under way stop the clock`() throws {
        var stage = try Stage()
        try stage.drive()
        try stage.pass(.milliseconds(1))
        // The handshakes, the session and the route of a drive: all of it before any time passes.
        let started = try #require(
            stage.frames.first {
                $0.frame.peer == Stage.vehicle && $0.frame.frame.header.type == .startGuidance
            })
        #expect(started.instant == Instant(nanoseconds: 0))
        #expect(stage.vehicle?.state.phase == .active)
        #expect(stage.now == Duration.milliseconds(1).instant)
    }

    @Test func `a link that delays lets the time of the delay pass, and no more`() throws {
        var stage = try Stage(connects: false)
        stage.run.begin(LinkFault(.delay(.milliseconds(200))), of: Stage.vehicle)
        stage.run.tell(Stage.vehicle, .open)
        try stage.pass(.seconds(1))
        let admitted = stage.connections(Stage.vehicle).first { $0.event == .admitted(resumed: false) }
        #expect(admitted?.instant == Duration.milliseconds(400).instant)
    }

    @Test func `a killed gateway refuses for 800 ms`() throws {
        var stage = try Stage()
        try stage.drive()
        try stage.pass(.seconds(5))
        try stage.run.begin(.kill, for: .milliseconds(800))
        try stage.pass(.seconds(5))
        let events = stage.connections(Stage.vehicle).filter { $0.instant >= Duration.seconds(5).instant }
        #expect(events.first?.event == .ended(nil))
        let refusals = events.filter { if case .refused = $0.event { true } else { false } }
        #expect(refusals.count == 3)
        #expect(refusals.allSatisfy { $0.instant < Duration.milliseconds(5_800).instant })
        let back = try #require(events.first { $0.event == .admitted(resumed: false) })
        // After 0.1, 0.2, 0.4 and 0.8 s, each with up to a quarter more.
        #expect(
            (Duration.milliseconds(6_500).instant...Duration.milliseconds(6_875).instant).contains(
                back.instant))
        #expect(stage.vehicle?.state.phase == .active)
        #expect(stage.vehicle?.state.session == 1_001)
        // What peers log names no address, and no type of ours.
        let lines = stage.history.entries.compactMap { entry -> String? in
            if case .log(_, let line) = entry.kind { line } else { nil }
        }
        #expect(lines.contains("connecting"))
        #expect(lines.contains("session opened session=1"))
        #expect(lines.contains { $0.hasSuffix("cannot connect to the gateway: the gateway does not listen") })
        #expect(!lines.contains { $0.contains("address=") || $0.contains("/rig") || $0.contains("rawValue") })
    }

    @Test func `a gateway that stands still keeps its connections, and what was sent meanwhile`() throws {
        var stage = try Stage()
        try stage.drive()
        try stage.pass(.seconds(5))
        try stage.run.begin(.stop, for: .seconds(4))
        let begin = stage.now
        try stage.pass(.milliseconds(3_999))
        #expect(stage.messages(Stage.vehicle, .toPeer, since: begin + .milliseconds(1)).isEmpty)
        try stage.pass(.seconds(2))
        #expect(!stage.messages(Stage.vehicle, .toPeer, since: begin + .seconds(4)).isEmpty)
        #expect(stage.connections(Stage.vehicle).map(\.event) == [.connecting, .admitted(resumed: false)])
    }

    @Test func `a restart of the gateway is not noticed`() throws {
        var stage = try Stage()
        try stage.drive()
        for _ in 0..<20 {
            try stage.pass(.seconds(1))
            try stage.run.begin(.restart)
        }
        try stage.pass(.seconds(5))
        for peer in [Stage.vehicle, Stage.client] {
            #expect(stage.connections(peer).map(\.event) == [.connecting, .admitted(resumed: false)])
        }
        #expect(stage.vehicle?.state.phase == .active)
    }

    @Test func `a connection that is cut is resumed, and nothing is missed`() throws {
        var stage = try Stage()
        try stage.drive()
        try stage.pass(.seconds(5))
        stage.run.begin(LinkFault(.cut(.reset)), of: Stage.vehicle)
        stage.run.begin(LinkFault(.refuse, for: .seconds(3)), of: Stage.vehicle)
        try stage.pass(.seconds(10))
        let events = stage.connections(Stage.vehicle).map(\.event)
        #expect(events.contains(.refused("a fault refuses the connection")))
        #expect(events.last == .admitted(resumed: true))
        let sequences = stage.frames.filter {
            $0.frame.peer == Stage.vehicle && $0.frame.way == .toPeer && $0.frame.frame.header.sequence > 0
        }.map(\.frame.frame.header.sequence)
        #expect(sequences == sequences.sorted())
        #expect(stage.vehicle?.state.isComplete == true)
    }

    @Test func `a vehicle that reads nothing gets the newest states when it reads on`() throws {
        var settings = VirtualRun.Settings()
        settings.outbox.slowConsumerTimeout = .seconds(3_600)
        settings.limits.keepalive = .seconds(600)
        var options = GuideMachine.Options()
        options.drive.speedFactor = 1
        var stage = try Stage(1, settings)
        try stage.drive("vaduz-balzers", options)
        try stage.pass(.seconds(1))
        let begin = stage.now
        stage.run.setPace(of: Stage.vehicle) { $0.pause(until: begin + .seconds(20)) }
        try stage.pass(.seconds(20) - .nanoseconds(1))
        #expect(stage.messages(Stage.vehicle, .toPeer, since: begin + .nanoseconds(1)).isEmpty)
        try stage.pass(.seconds(1))
        #expect(stage.messages(Stage.vehicle, .toPeer, since: begin + .seconds(20)).count > 10)
    }

    @Test func `a vehicle that reads 1000 bytes a second gets so many`() throws {
        var stage = try Stage()
        stage.run.setPace(of: Stage.vehicle) { $0.bytesPerSecond = 1_000 }
        try stage.drive()
        try stage.pass(.seconds(10))
        let bytes = stage.frames.filter { $0.frame.peer == Stage.vehicle && $0.frame.way == .toPeer }
            .reduce(0) { $0 + $1.frame.frame.bytes.count }
        #expect((3_000...11_000).contains(bytes))
    }

    @Test func `a vehicle that spends 100 ms on each message gets ten a second`() throws {
        var stage = try Stage()
        stage.run.setPace(of: Stage.vehicle) { $0.perMessage = .milliseconds(100) }
        try stage.drive()
        try stage.pass(.seconds(10))
        let instants = stage.frames.filter { $0.frame.peer == Stage.vehicle && $0.frame.way == .toPeer }
            .map(\.instant)
        #expect(instants.count >= 15)
        for (earlier, later) in zip(instants, instants.dropFirst()) {
            #expect(later - earlier >= .milliseconds(100))
        }
    }

    @Test func `a vehicle that leaves is away until it comes back`() throws {
        var stage = try Stage()
        try stage.drive()
        try stage.pass(.seconds(2))
        stage.asVehicle { $0.leave(.cut, at: $1, into: &$2) }
        try stage.pass(.seconds(5))
        #expect(stage.connections(Stage.vehicle).last?.event == .ended(nil))
        try stage.asVehicle { try $0.comeBack(withToken: true, at: $1, into: &$2) }
        try stage.pass(.seconds(1))
        #expect(stage.connections(Stage.vehicle).last?.event == .admitted(resumed: true))
        stage.asVehicle { $0.leave(.goodbye, at: $1, into: &$2) }
        try stage.pass(.seconds(5))
        #expect(stage.connections(Stage.vehicle).last?.event == .ended(.normal))
        try stage.asVehicle { try $0.comeBack(withToken: false, at: $1, into: &$2) }
        try stage.pass(.seconds(1))
        #expect(stage.connections(Stage.vehicle).last?.event == .admitted(resumed: false))
        #expect(stage.vehicle?.state.phase == .active)
    }

    @Test func `frames that were sent to a dead gateway did not reach it`() throws {
        var options = GuideMachine.Options()
        options.drive.speedFactor = 20
        var stage = try Stage()
        try stage.drive("vaduz-balzers", options)
        stage.run.begin(LinkFault(.delay(.milliseconds(500)), ways: [.toGateway]), of: Stage.client)
        try stage.pass(.seconds(3))
        try stage.run.begin(.kill)
        let begin = stage.now
        try stage.pass(.seconds(2))
        #expect(stage.messages(Stage.client, .toGateway, since: begin + .nanoseconds(1)).isEmpty)
        #expect(stage.frames.contains { $0.instant >= begin && $0.frame.delivery == .dropped })
    }

    @Test func `a history that is full ends the run`() throws {
        var settings = VirtualRun.Settings()
        settings.history.entriesMax = 100
        var stage = try Stage(1, settings)
        try stage.drive()
        #expect(throws: RunError.historyFull) { try stage.pass(.seconds(60)) }
    }
}
