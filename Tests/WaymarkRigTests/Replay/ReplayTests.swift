import Testing
import WaymarkClient
import WaymarkCodec
import WaymarkConfiguration
import WaymarkGateway
import WaymarkLint
import WaymarkModel
import WaymarkProtocol
import WaymarkRecording

@testable import WaymarkHistory
@testable import WaymarkRig
@testable import WaymarkScenario

@Suite struct ReplayTests {
    private static let place = Waypoint(
        center: Coordinate(latitude: 49.41, longitude: 8.69), nameVariants: ["Charging"])

    /// A drive with a request for a stop, an answer of the driver, a lost connection and a cancellation, recorded by an observer.
    private static func drive() throws -> Recording {
        var client = RigClient.Behaviour()
        client.answerAfter = .milliseconds(700)
        var stage = try Stage(client: client, connects: false)
        try stage.record()
        stage.run.tell(Stage.vehicle, .open)
        stage.run.tell(Stage.client, .open)
        try stage.drive()
        try stage.pass(.seconds(5))
        _ = stage.asVehicle { $0.request(Self.place, id: "stop-1", at: $1, into: &$2) }
        try stage.pass(.seconds(4))
        stage.asVehicle { $0.leave(.cut, at: $1, into: &$2) }
        try stage.pass(.milliseconds(1_500))
        try stage.asVehicle { try $0.comeBack(withToken: true, at: $1, into: &$2) }
        try stage.pass(.seconds(6))
        _ = stage.asVehicle { $0.cancel(.userStopped, at: $1, into: &$2) }
        try stage.pass(.seconds(2))
        return try stage.recording()
    }

    private static func differences(
        _ conversation: RecordedConversation, as side: ReplaySide = .both
    ) throws -> (ReplayResult, ReplayComparison) {
        let result = try ReplayRun.run(conversation, as: side)
        return (result, ReplayComparison(conversation, result.history, result.peers))
    }

    @Test func `what an observer recorded replays equal`() throws {
        let conversation = try RecordedConversation(Self.drive())
        #expect(conversation.peers == [Stage.vehicle, Stage.client])
        #expect(conversation.connections.count == 3)
        #expect(conversation.omissions.isEmpty)
        let (result, comparison) = try Self.differences(conversation)
        #expect(result.peers.problems.isEmpty)
        #expect(comparison.differences.isEmpty)
        #expect(comparison.frameCount > 40)
        #expect(comparison.connectionCount == 3)
        let outcomes = result.history.entries.compactMap { entry -> Outcome? in
            guard case .frame(let crossed) = entry.kind, crossed.peer == Stage.vehicle,
                case .requestOutcome(let outcome)? = crossed.message
            else { return nil }
            return outcome.outcome
        }
        #expect(outcomes.first == .accepted)
    }

    @Test func `a client alone replays equal with simulated endpoints, whose users do what was recorded`()
        throws
    {
        let (result, comparison) = try Self.differences(try RecordedConversation(Self.drive()), as: .client)
        #expect(result.peers.map(\.id) == [Stage.client])
        #expect(result.peers.problems.isEmpty)
        #expect(comparison.differences.isEmpty)
        #expect(comparison.frameCount > 5)
        #expect(
            result.history.endpoint(Stage.vehicle)?.moments.contains { $0.state.phase == .active } == true)
    }

    @Test func `sessions and tokens are those of the gateway that is there`() throws {
        var stage = try Stage()
        try stage.drive()
        try stage.pass(.seconds(2))
        stage.asClient { $0.leave(.goodbye, at: $1, into: &$2) }
        stage.asVehicle { $0.leave(.goodbye, at: $1, into: &$2) }
        try stage.pass(.seconds(1))
        try stage.record()
        try stage.asVehicle { try $0.comeBack(withToken: false, at: $1, into: &$2) }
        try stage.asClient { try $0.comeBack(withToken: false, at: $1, into: &$2) }
        try stage.drive()
        try stage.pass(.seconds(5))
        stage.asClient { $0.leave(.cut, at: $1, into: &$2) }
        try stage.pass(.seconds(1))
        try stage.asClient { try $0.comeBack(withToken: true, at: $1, into: &$2) }
        try stage.pass(.seconds(5))
        let (result, comparison) = try Self.differences(try RecordedConversation(try stage.recording()))
        #expect(result.peers.problems.isEmpty)
        #expect(comparison.differences.isEmpty)
        let sessions = try #require(result.peers.first { $0.id == Stage.client }?.sessions)
        #expect(sessions == [SessionID(2): SessionID(1)])
    }

    @Test func `a connection without its beginning is said, and nothing else of it is replayed`() throws {
        var stage = try Stage()
        try stage.drive()
        try stage.pass(.seconds(2))
        try stage.record()
        try stage.pass(.seconds(2))
        let recording = try stage.recording()
        let error = #expect(throws: ReplayError.self) { try RecordedConversation(recording) }
        #expect("\(try #require(error))".contains("no connection begins in it"))
    }

    @Test func `what is hidden in a recording cannot be replayed`() throws {
        var stage = try Stage(connects: false)
        try stage.record(redactsPlaces: true)
        stage.run.tell(Stage.vehicle, .open)
        stage.run.tell(Stage.client, .open)
        try stage.drive()
        try stage.pass(.seconds(2))
        let conversation = try RecordedConversation(try stage.recording())
        let error = #expect(throws: ReplayError.self) { try ReplayRun.run(conversation) }
        #expect("\(try #require(error))".hasPrefix("texts and places of app's StartGuidance are hidden"))
    }

    // MARK: Clocks

    private static let changes: [(name: String, change: @Sendable (RecordingTime, Int) -> RecordingTime)] = [
        ("set back by 20 years", { $1 > 40 ? $0 + .seconds(-1_024 * 7 * 86_400) : $0 }),
        ("set to 1970", { $1 > 40 ? $0 + .seconds(-1_795_424_400) : $0 }),
        (
            "set to 2342",
            { $1 > 40 ? RecordingTime(nanoseconds: $0.nanoseconds + 10_000_000_000_000_000_000) : $0 }
        ),
        ("wrong for a moment", { $1 == 40 ? RecordingTime(nanoseconds: .max) : $0 }),
        ("1970 for a moment", { $1 == 40 ? RecordingTime(nanoseconds: 0) : $0 }),
        ("set forward every 30 messages", { $0 + .seconds($1 / 30 * 400_000_000) }),
    ]

    @Test(arguments: changes.indices)
    func `a recording whose clock was set replays as recorded, becomes a scenario, and says so`(
        _ index: Int
    ) throws {
        let (name, change) = Self.changes[index]
        var copy = RetimedCopy(recording: try Self.drive(), change: change)
        var bytes: [UInt8] = []
        try copy.write { bytes += $0 }
        let recording = try Recording(RecordedBytes(bytes: bytes))
        let conversation = try RecordedConversation(recording)
        #expect(!conversation.timeNotes.isEmpty, "\(name)")
        // Each pause is an hour at most.
        #expect(conversation.end - Instant(nanoseconds: 0) < .seconds(6 * 3_600))
        let result = try ReplayRun.run(conversation)
        #expect(result.history.entries.count < 20_000)
        for side in [ReplaySide.both, .client] {
            _ = try ReplayRun.run(conversation, as: side)
        }
        do throws(ReplayError) {
            _ = try ReplayScenario.text(conversation, recordingName: "a.mcap", source: "a.mcap")
        } catch {
            // A pause within a request changes what comes of it.
            guard case .run = error else { throw error }
        }
        var linter = RecordedLinter()
        try linter.judge(recording) { _ in }
    }

    @Test func `a recording whose clock was set back replays equal`() throws {
        var copy = RetimedCopy(recording: try Self.drive(), change: Self.changes[0].change)
        var bytes: [UInt8] = []
        try copy.write { bytes += $0 }
        let conversation = try RecordedConversation(try Recording(RecordedBytes(bytes: bytes)))
        #expect(
            conversation.timeNotes.contains(
                "the clock of the recorder was set back once; the replay goes on at each"))
        let (_, comparison) = try Self.differences(conversation)
        #expect(comparison.differences.isEmpty)
        #expect(
            try ReplayScenario.text(conversation, recordingName: "a.mcap", source: "a.mcap").contains(
                "compare: true"))
    }

    @Test func `pauses are shortened, but not to less than a grace time`() {
        let begin = RecordingTime(nanoseconds: 1_795_424_400_000_000_000)
        var timeline = ReplayTimeline(begin: begin)
        let hour = Duration.seconds(3_600)
        #expect(timeline.instant(of: begin + hour) == Instant(nanoseconds: 3_600_000_000_000))
        #expect(timeline.instant(of: begin + hour * 4) == Instant(nanoseconds: 7_200_000_000_000))
        #expect(timeline.notes == ["1 pause in which nothing was recorded shortened, by 2 h 0 min in all"])
        timeline.see(grace: hour * 5)
        #expect(timeline.instant(of: begin + hour * 9) == Instant(nanoseconds: 25_200_000_000_000))
        #expect(timeline.notes.count == 1)
        // Small disorder is that of observers.
        #expect(
            timeline.instant(of: begin + hour * 9 + .seconds(-1)) == Instant(nanoseconds: 25_199_000_000_000))
        #expect(timeline.instant(of: begin + hour * 9) == Instant(nanoseconds: 25_200_000_000_000))
    }

    @Test func `a file of many long pauses is bounded by its number of entries`() {
        var timeline = ReplayTimeline(begin: RecordingTime(nanoseconds: 0))
        var last = Instant(nanoseconds: 0)
        for place in 1...5_000 {
            let instant = timeline.instant(
                of: RecordingTime(nanoseconds: UInt64(place) * 3_000_000_000_000_000))
            #expect(instant >= last)
            last = instant
        }
        #expect(last - Instant(nanoseconds: 0) < .seconds(40 * 86_400))
    }

    // MARK: Differences

    @Test func `another value is told with its field, and what crossed around it`() throws {
        var conversation = try RecordedConversation(Self.drive())
        conversation.change(Stage.client) { message in
            guard case .publication(.tripEstimates(var estimates, let color)) = message else { return nil }
            estimates.distanceRemaining = .meters(123)
            return .publication(.tripEstimates(estimates, color))
        }
        let (result, comparison) = try Self.differences(conversation)
        let difference = try #require(comparison.differences.first)
        #expect(difference.peer == Stage.vehicle)
        let fields = try #require(difference.failure.nearest?.differences)
        #expect(fields.map(\.seen) == ["123 m"])
        #expect(fields.map(\.path) == ["tripEstimates.distanceMeters"])
        let report = ReplayReport(conversation, result, isCompared: true, file: "a.mcap")
        #expect(!report.isAsRecorded)
        let lines = report.lines(took: .zero)
        #expect(lines.allSatisfy { $0.count <= 80 })
        #expect(lines.contains { $0.contains("tripEstimates.distanceMeters") })
        #expect(lines.contains { $0.hasPrefix("  >") && $0.contains("UpdateTripEstimates") })
    }

    @Test func `an answer that is not the recorded one changes the outcome`() throws {
        var conversation = try RecordedConversation(Self.drive())
        conversation.change(Stage.client) { message in
            guard case .requestAnswer(var answer) = message else { return nil }
            answer.answer = .decline(.declinedByUser)
            return .requestAnswer(answer)
        }
        let (_, comparison) = try Self.differences(conversation)
        #expect(!comparison.isEqual)
    }

    @Test func `a peer that waits in vain says for what, and goes on`() throws {
        var conversation = try RecordedConversation(Self.drive())
        conversation.remove(Stage.client, .openSession)
        let (result, comparison) = try Self.differences(conversation)
        let problem = try #require(result.peers.problems.first)
        #expect(
            problem.text
                == "app waited 5 s for the session that is 1 in the recording, which it had in the recording before StartGuidance"
        )
        #expect(!comparison.isEqual)
        #expect(result.peers.filter { !$0.isOver }.isEmpty)
    }

    // MARK: Refused

    /// Of a gateway that has room for one peer.
    private static func small() throws -> Settings {
        try Configuration.read(Array("limits: { peers-per-user: 1 }\n".utf8), file: "settings.yaml")
    }

    @Test func `a peer that the gateway refuses ends the replay with the gateway's words`() throws {
        let conversation = try RecordedConversation(Self.drive())
        var settings = conversation.settings
        settings.use(try Self.small())
        let error = #expect(throws: ReplayError.self) { try ReplayRun.run(conversation, settings) }
        let text = "\(try #require(error))"
        #expect(text.hasPrefix("the gateway refused app: "))
        #expect(text.contains("peers of this user are known"))
    }

    @Test func `a scenario whose replayed peer is refused is broken, and says what the gateway said`() throws
    {
        let scenario = try ScenarioReader.read(
            """
            clients: { app: { replay: { recording: a.mcap } } }
            ended: userStopped
            """, file: "a")
        var inputs = ScenarioInputs()
        inputs.recordings["a.mcap"] = try RecordedConversation(Self.drive())
        inputs.settings = try Self.small()
        let result = ScenarioRun.run(scenario, inputs).result
        #expect(try #require(result.problem).hasPrefix("the gateway refused app: "))
        #expect(result.end < Duration.seconds(1).instant)
    }

    @Test func `a scenario says what its replayed peers waited for in vain`() throws {
        var conversation = try RecordedConversation(Self.drive())
        conversation.remove(Stage.client, .openSession)
        let scenario = try ScenarioReader.read(
            """
            clients: { app: { replay: { recording: a.mcap } } }
            steps: [{ after: 30s }]
            """, file: "a")
        var inputs = ScenarioInputs()
        inputs.recordings["a.mcap"] = conversation
        let lines = ScenarioText(ScenarioRun.run(scenario, inputs).result).lines
        #expect(lines.contains { $0.contains("app waited 5 s for the session that is 1 in the") })
    }

    @Test func `ages and deadlines may differ by a tenth of a second, and no more`() {
        func frame(_ age: UInt32) -> CrossedFrame {
            let message = Message.sessionSuspended(
                SessionSuspended(graceMilliseconds: 30_000, ageMilliseconds: age))
            let frame = Codec.encode(Envelope(message, session: SessionID(1), flags: .gateway))
            return CrossedFrame(frame, of: Stage.vehicle, .toPeer, sent: Instant(nanoseconds: 0))
        }
        #expect(FrameComparison.isEqual(frame(500), frame(600), [:], false))
        #expect(!FrameComparison.isEqual(frame(500), frame(601), [:], false))
        #expect(
            FrameComparison.differences(frame(500), frame(601), [:]) == [
                FieldDifference("ageMilliseconds", expected: "500 ms", seen: "601 ms")
            ])
    }

    // MARK: Scenarios

    @Test func `a recording becomes a scenario that passes, and fails when the client answers otherwise`()
        throws
    {
        let conversation = try RecordedConversation(Self.drive())
        let text = try ReplayScenario.text(conversation, recordingName: "stop.mcap", source: "field.mcap")
        let scenario = try ScenarioReader.read(text, file: "stop.scenario.yaml")
        var inputs = ScenarioInputs()
        inputs.recordings["stop.mcap"] = conversation
        #expect(scenario.obstacles().isEmpty)
        let result = ScenarioRun.run(scenario, inputs).result
        #expect(result.hasPassed)
        #expect(result.expectations.map(\.text).contains { $0.contains("requestOutcome") })
        #expect(result.expectations.map(\.text).contains { $0.hasPrefix("ended userStopped") })

        var changed = conversation
        changed.change(Stage.client) { message in
            guard case .requestAnswer(var answer) = message else { return nil }
            answer.answer = .decline(.declinedByUser)
            return .requestAnswer(answer)
        }
        inputs.recordings["stop.mcap"] = changed
        let failed = ScenarioRun.run(scenario, inputs).result.expectations.filter { !$0.hasPassed }
        #expect(failed.contains { $0.text.contains("requestOutcome") })
        #expect(failed.contains { $0.text == "dut/cluster receives what was recorded" })
    }

    @Test func `a step cannot tell a replayed peer what to do, and a replayed peer keeps its name`() throws {
        let conversation = try RecordedConversation(Self.drive())
        let scenario = try ScenarioReader.read(
            """
            client: { replay: { recording: a.mcap, peer: app } }
            steps: [{ after: 1s, do: { pause: arrived } }]
            """, file: "a")
        #expect(scenario.obstacles().map(\.reason) == ["client does what was recorded, and nothing else"])
        let replay = try #require(scenario.clients.first?.replay)
        let error = #expect(throws: ReplayError.self) {
            try replay.check(conversation, .client(ClientID(unchecked: "client")))
        }
        #expect("\(try #require(error))".contains("client cannot say what app said"))
    }

    // MARK: Cuts

    @Test func `a cut recording replays like the whole, and names nothing else`() throws {
        let recording = try Self.drive()
        let conversation = try RecordedConversation(recording, vehicle: Stage.vehicle.vehicle)
        var cut = conversation.cut(recording)
        var bytes: [UInt8] = []
        try cut.write { bytes += $0 }
        let copy = try Recording(RecordedBytes(bytes: bytes))
        #expect(copy.origin?.instance == recording.origin?.instance)
        let again = try RecordedConversation(copy)
        #expect(again.connections.map(\.lines.count) == conversation.connections.map(\.lines.count))
        let (_, comparison) = try Self.differences(again)
        #expect(comparison.isEqual)
        #expect(throws: ReplayError.self) {
            try RecordedConversation(recording, vehicle: VehicleID(unchecked: "other"))
        }
    }
}

extension RecordedConversation {
    /// Replaces messages that a peer sent; nil: as they were.
    fileprivate mutating func change(_ peer: PeerID, _ body: (Message) -> Message?) {
        for place in self.connections.indices where self.connections[place].peer == peer {
            for index in self.connections[place].lines.indices {
                guard case .sent(let frame) = self.connections[place].lines[index].kind else { continue }
                let crossed = CrossedFrame(frame, of: peer, .toGateway, sent: Instant(nanoseconds: 0))
                guard var envelope = crossed.envelope, let message = body(envelope.message) else { continue }
                envelope.message = message
                self.connections[place].lines[index].kind = .sent(Codec.encode(envelope))
            }
        }
    }

    fileprivate mutating func remove(_ peer: PeerID, _ type: MessageType) {
        for place in self.connections.indices where self.connections[place].peer == peer {
            self.connections[place].lines.removeAll { line in
                guard case .sent(let frame) = line.kind else { return false }
                return frame.header.type == type
            }
        }
    }
}
