import Foundation
import Testing
import WaymarkCodec
import WaymarkHistory
import WaymarkModel
import WaymarkProtocol
import WaymarkScenario

/// What cases of one expectation do not show.
@Suite struct JudgeTests {
    private static let cluster = WordCase.cluster

    private static func scenario(_ text: String) throws -> Scenario {
        try ScenarioReader.read("route: a\n" + text, file: "a.yaml")
    }

    private static func road(_ name: String, _ sequence: UInt64) -> History.Kind {
        let message = Message.publication(.currentRoadName([name]))
        let frame = Codec.encode(Envelope(message, session: SessionID(1), sequence: sequence))
        return .frame(CrossedFrame(frame, of: Self.cluster, .toPeer, sent: Instant(nanoseconds: 0)))
    }

    /// Frames once a second.
    private static func history(_ kinds: [History.Kind]) -> History {
        var history = History()
        history.add(cluster, storage: VehicleLimits())
        for (index, kind) in kinds.enumerated() { history.append(kind, at: WordCase.instant(Double(index))) }
        return history
    }

    @Test(arguments: [
        (
            "prints: 'next (?<type>\\w+) in (?<meters>\\d+)', where: { type: left, meters: '<200' }, within: 5s",
            true
        ),
        ("prints: 'next (?<type>\\w+) in (?<meters>\\d+)', where: { meters: '<100' }, within: 5s", false),
        ("prints: '^next right', within: 5s", false), ("prints: 'next left', within: 1s", false),
        ("never: { prints: 'next left' }", false), ("never: { prints: 'ERROR' }", true),
        ("sometimes: { prints: 'left in 1.0' }", true),
        ("in-order: [{ prints: begins }, { prints: 'next' }], within: 5s", true),
        ("in-order: [{ prints: next }, { prints: begins }], within: 5s", false),
        ("when: { prints: begins }, message: currentRoadName, within: 1s", true),
        ("when: { prints: next }, message: currentRoadName, within: 1s", false),
        ("of: client, prints: next, within: 5s", false),
    ])
    func `lines of a program are judged`(_ expectation: String, _ passes: Bool) throws {
        let scenario = try Self.scenario("expect: { \(expectation) }\n")
        let history = Self.history([
            .log(Self.cluster, "begins"), Self.road("A", 1), .log(Self.cluster, "next left in 120 m"),
        ])
        let judge = Judge.judge(scenario, history, endingAt: WordCase.instant(6))
        #expect((judge.results.first?.outcome == .passed) == passes)
    }

    @Test(arguments: [
        "prints: '(?<a>b', within: 1s", "prints: 'a', where: { b: c }, within: 1s", "prints: a",
        "prints: a, where: [b], within: 1s", "prints: '(?<a>b)', where: { a: true }, within: 1s",
    ])
    func `a wrong line pattern is an error`(_ expectation: String) {
        #expect(throws: ScenarioErrors.self) { try Self.scenario("expect: { \(expectation) }\n") }
    }

    @Test func `a step is decided when what it expects within a time is`() throws {
        let scenario = try Self.scenario(
            """
            steps:
              - { after: 1s, expect: [{ message: currentRoadName, within: 5s }, { always: { connected: true } }] }
              - { after: 1s, expect: { never: { message: prompt }, for: 1s } }
            """)
        var judge = Judge(scenario)
        var history = Self.history([])
        func see(_ kind: History.Kind, _ judge: inout Judge, at seconds: Double) throws {
            let entry = history.append(kind, at: WordCase.instant(seconds))
            judge.see(try #require(entry), in: history)
        }
        #expect(!judge.isDecided(step: 0))
        #expect(judge.deadline == nil)
        try see(.step(0, "waits"), &judge, at: 1)
        #expect(judge.deadline == Instant(nanoseconds: 6_000_000_001))
        #expect(judge.isWaiting)
        try see(Self.road("A", 1), &judge, at: 2)
        #expect(judge.isDecided(step: 0))
        #expect(!judge.isWaiting)
        #expect(!judge.isDecided(step: 1))
        try see(.step(1, "waits"), &judge, at: 3)
        judge.deadlineReached(at: WordCase.instant(4), in: history)
        #expect(!judge.isDecided(step: 1))
        judge.deadlineReached(at: Instant(nanoseconds: 4_000_000_001), in: history)
        #expect(judge.isDecided(step: 1))
        judge.end(at: WordCase.instant(5), in: history)
        #expect(judge.results.map(\.outcome) == [.passed, .passed, .passed])
    }

    @Test func `the end is decided when all steps have begun and the drive is over`() throws {
        var judge = Judge(try Self.scenario("ended: finished\nsteps: [{ after: 1s }]"))
        let client = PeerID.client(ClientID(unchecked: "client"))
        func frame(_ message: Message) -> History.Kind {
            let frame = Codec.encode(Envelope(message, session: SessionID(1), sequence: 0))
            return .frame(CrossedFrame(frame, of: client, .toPeer, sent: Instant(nanoseconds: 0)))
        }
        let ended = SessionEnded(session: SessionID(1), reason: .finished)
        let history = Self.history([
            frame(.sessionOpened(SessionOpened(requestID: "r", session: SessionID(1), vehicles: []))),
            frame(.sessionEnded(ended)), .step(0, "waits"),
        ])
        for entry in history.entries {
            #expect(!judge.isEndDecided)
            judge.see(entry, in: history)
        }
        #expect(judge.isEndDecided)
    }

    @Test(arguments: [(false, "gone"), (true, "accepted")])
    func `a request is gone with a gateway that does not know the endpoint any more`(
        _ isResumed: Bool, _ outcome: String
    ) throws {
        let request = "do: { request: { destination: [47, 9] } }"
        let scenario = try Self.scenario(
            "steps: [{ \(request), expect: { outcome: \(outcome), within: 9s } }]")
        func frame(_ message: Message, _ way: Way) -> History.Kind {
            let frame = Codec.encode(Envelope(message))
            return .frame(CrossedFrame(frame, of: Self.cluster, way, sent: Instant(nanoseconds: 0)))
        }
        var welcome = Welcome(resumptionToken: ResumptionToken(high: 1, low: 2))
        (welcome.keepaliveMilliseconds, welcome.receiveFrameBytesMax) = (10_000, 1_048_576)
        let first = frame(.welcome(welcome), .toPeer)
        welcome.isResumed = isResumed
        let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9))
        let sent = Message.destinationRequest(DestinationRequest(requestID: "a", destination: place))
        let answer = Message.requestOutcome(
            RequestOutcome(requestID: "a", vehicle: VehicleID(unchecked: "dut"), outcome: .accepted))
        let history = Self.history([
            .step(0, "asks"), first, frame(sent, .toGateway), frame(.welcome(welcome), .toPeer),
            frame(answer, .toPeer),
        ])
        let result = Judge.judge(scenario, history, endingAt: WordCase.instant(20)).results[0]
        #expect(result.outcome == .passed)
    }

    @Test func `only some failures of an expectation are kept, and all are counted`() throws {
        let scenario = try Self.scenario(
            "expect: { when: { message: currentRoadName }, message: prompt, within: 500ms }")
        let history = Self.history((1...20).map { Self.road("A", $0) })
        let result = Judge.judge(scenario, history, endingAt: WordCase.instant(30)).results[0]
        #expect(result.failureCount == 20)
        #expect(result.failures.count == 8)
        #expect(result.failures.first?.anchor == 0)
        #expect(
            result.failures.first?.expected
                == "message prompt within 0.5 s of dut/cluster, when currentRoadName")
    }

    @Test func `more than 1024 open events of one expectation fail it`() throws {
        let scenario = try Self.scenario(
            "expect: { when: { message: currentRoadName }, message: prompt, within: 2h }")
        let history = Self.history((1...1_100).map { Self.road("A", $0) })
        var judge = Judge(scenario)
        for entry in history.entries { judge.see(entry, in: history) }
        #expect(judge.results[0].failureCount == 76)
        #expect(judge.results[0].failures.first?.expected.hasPrefix("at most 1024 open events") == true)
    }

    /// `WAYMARK_JUDGED=10000` judges as many entries and prints how long it takes.
    @Test func `200 expectations judge many entries`() throws {
        let wanted = ProcessInfo.processInfo.environment["WAYMARK_JUDGED"].flatMap { UInt64($0) }
        let count = wanted ?? 500
        let words = [
            "{ eventually: { currentRoadName: [none] }, within: 10h }",
            "{ always: { lanes.count: 0, next.distance: null }, for: 10h }",
            "{ never: { currentRoadName: { contains: B } } }",
            "{ rate: { at-most: 1, per: 1s } }", "{ gap: { message: currentRoadName, below: 4s } }",
            "{ message: prompt, within: 10h }", "{ never: { message: showAlert } }",
            "{ when: { state: { currentRoadName: [A7] } }, message: currentRoadName, within: 2s }",
            "{ unchanged: [trip, maneuvers], for: 10h }",
            "{ exactly: { count: \(count), message: currentRoadName } }",
        ]
        let list = (0..<200).map { "  - \(words[$0 % words.count])" }.joined(separator: "\n")
        let scenario = try Self.scenario("expect:\n\(list)")
        func frame(_ message: Message) -> History.Kind {
            let frame = Codec.encode(Envelope(message, session: SessionID(1), sequence: 0))
            return .frame(CrossedFrame(frame, of: Self.cluster, .toPeer, sent: Instant(nanoseconds: 0)))
        }
        let begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: "app"))
        let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9))
        let trip = Trip(id: "t", origin: place, destination: place)
        let guidance = Message.publication(.startGuidance(trip, generation: 1, RouteInformation()))
        let history = Self.history(
            [frame(.snapshotBegin(begin)), frame(guidance), frame(.snapshotEnd)]
                + (1...count).map { Self.road("A\($0 % 10)", $0) })
        let clock = ContinuousClock()
        let start = clock.now
        let judge = Judge.judge(scenario, history, endingAt: WordCase.instant(Double(count) + 3))
        if wanted != nil { print("200 expectations, \(count) entries: \(clock.now - start)") }
        let failed = judge.results.filter { $0.outcome != .passed }
        #expect(failed.count == 40)
    }
}
