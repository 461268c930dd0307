import ArgumentParser
import Foundation
import Sweeps
import Testing
import WaymarkCodec
import WaymarkGuidance
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkCommandLine
@testable import WaymarkHistory
@testable import WaymarkLint
@testable import WaymarkRecording
@testable import WaymarkRig
@testable import WaymarkScenario
@testable import WaymarkTexts

/// Recordings of scenarios that ship, and of some with faults.
@Suite(.timeLimit(.minutes(10))) struct RunRecordingTests {
    /// A recording in memory.
    private struct Bytes: ByteSource {
        var bytes: [UInt8] = []
        var byteCount: UInt64 { UInt64(self.bytes.count) }
        func read(_ range: Range<UInt64>) throws(RecordingError) -> [UInt8] {
            guard range.upperBound <= self.byteCount else { throw .malformed("behind the end") }
            return Array(self.bytes[Int(range.lowerBound)..<Int(range.upperBound)])
        }
    }

    private struct Run {
        let result: ScenarioResult
        let history: History
        let recording: Recording
        let bytes: [UInt8]
    }

    /// Each kind of fault, a cut, a gateway that dies; in a minute of driving.
    private static let stormy = """
        about: A storm.
        route: vaduz-balzers
        speed: 8
        seed: 3
        vehicle: { endpoints: { cluster: { profile: two-maneuvers }, hud: {} } }
        faults: [{ link: '*', kind: chaos, every: 2s, for: 40s }]
        steps:
          - { at: 1km, do: { as: dut/cluster, request: { waypoint: [47.0756, 9.5076], name: Charging } } }
          - { at: 2km, fault: { gateway: kill, for: 800ms } }
        at-most: 2min
        """

    private static func run(
        _ text: String, seed: UInt64? = nil, _ inputs: ScenarioInputs? = nil,
        mutations: RunMutations = RunMutations()
    ) throws -> Run {
        let scenario = try ScenarioReader.read(text, file: "x.scenario.yaml")
        var files = inputs ?? ScenarioInputs()
        if inputs == nil {
            files.routes = ["vaduz-balzers": try readAnswer(Resources.route("vaduz-balzers"), name: "")]
        }
        return try self.run(scenario, files, seed: seed, mutations)
    }

    private static func run(
        shipped name: String, seed: UInt64? = nil, mutations: RunMutations = RunMutations()
    ) throws -> Run {
        let files = ScenarioFiles(["\(ScenarioFiles.gallery)/\(name)"])
        let ready = try #require(files.ready.first, "\(files.errors)")
        return try self.run(ready.scenario, ready.inputs, seed: seed, mutations)
    }

    private static func run(
        _ scenario: Scenario, _ inputs: ScenarioInputs, seed: UInt64?, _ mutations: RunMutations
    ) throws -> Run {
        let (result, history) = ScenarioRun.run(scenario, inputs, seed: seed, mutations: mutations)
        var file = Bytes()
        var writing = RunRecording(result)
        writing.attachments = inputs.sources
        try writing.write(history) { file.bytes += $0 }
        return Run(result: result, history: history, recording: try Recording(file), bytes: file.bytes)
    }

    /// Those of `WAYMARK_GALLERY`, a `SweepPart`, or some.
    private static let names =
        SweepPart("WAYMARK_GALLERY")?.cases(of: Resources.scenarioNames) ?? [
            "gateway-dies.scenario.yaml", "gateway-restarts.scenario.yaml", "stop-accepted.scenario.yaml",
            "client-lost-and-back.scenario.yaml",
        ]

    // MARK: What is in it

    @Test(arguments: ["", "gateway-dies", "connection-cut-within-a-frame", "slow-cluster-misses-no-event"])
    func `every entry of a run is in its recording, as it was`(_ name: String) throws {
        let run = name.isEmpty ? try Self.run(Self.stormy) : try Self.run(shipped: name)
        #expect(run.recording.index.isWhole)
        var reader = RecordedHistory(run.recording)
        var read: [History.Entry] = []
        while let item = try reader.next() { if case .entry(let entry) = item { read.append(entry) } }
        let expected = run.history.entries.filter { entry in
            if case .frame(let crossed) = entry.kind {
                ![.ping, .pong].contains(crossed.frame.header.type)
            } else {
                true
            }
        }
        try #require(expected.count > 100)
        // In place of a frame that may have a key and cannot be read there is a line that says so.
        #expect(read.map(\.index) == expected.map { $0.index + 1 })
        #expect(read.map(\.instant) == expected.map(\.instant))
        for (entry, original) in zip(read, expected) {
            switch (entry.kind, original.kind) {
            case (.frame(let frame), .frame(let crossed)):
                #expect(frame.peer == crossed.peer && frame.way == crossed.way)
                #expect(frame.delivery == crossed.delivery && frame.sent == crossed.sent)
                guard ![.hello, .welcome].contains(crossed.frame.header.type) else { continue }
                #expect(frame.frame.bytes == crossed.frame.bytes)
                #expect(frame.rejection == crossed.rejection)
            case (.connection(let peer, let change), .connection(let other, let expected)):
                #expect(peer == other && change == expected)
            case (.fault(let fault), .fault(let expected)): #expect(fault == expected)
            case (.step(let step, let text), .step(let number, let expected)):
                #expect(step == number && text == expected)
            case (.broken(let peer, let way, let bytes), .broken(let other, let expected, let data)):
                #expect(peer == other && way == expected && bytes == data)
            case (.log(let peer, let line), .log(let other, let expected)):
                #expect(peer == other && line == expected)
            case (.log, .frame(let crossed)):
                #expect([.hello, .welcome].contains(crossed.frame.header.type) && crossed.message == nil)
            default: Issue.record("\(entry) is not \(original)")
            }
        }
    }

    @Test func `keys and tokens are in no recording`() throws {
        let run = try Self.run(Self.stormy)
        var tokens = 0
        var reader = RecordedHistory(run.recording)
        while let item = try reader.next() {
            guard case .entry(let entry) = item, case .frame(let crossed) = entry.kind else { continue }
            switch crossed.message {
            case .hello(let hello): #expect(hello.resumptionToken == nil && hello.credential.isEmpty)
            case .welcome(let welcome): #expect(welcome.resumptionToken == ResumptionToken(high: 0, low: 0))
            default: break
            }
        }
        for entry in run.history.entries {
            guard case .frame(let crossed) = entry.kind, case .welcome(let welcome)? = crossed.message else {
                continue
            }
            var bytes: [UInt8] = []
            bytes.append(number: welcome.resumptionToken.high)
            #expect(
                run.bytes.firstRange(of: bytes) == nil && run.bytes.firstRange(of: bytes.reversed()) == nil)
            tokens += 1
        }
        #expect(tokens > 2)
    }

    @Test func `a recording says what it is of, what was expected, and has all that the run was made of`()
        throws
    {
        let run = try Self.run(shipped: "gateway-dies")
        let origin = try #require(run.recording.origin?.run)
        #expect(origin.scenario == "@gallery/gateway-dies.scenario.yaml")
        #expect([origin.seed, origin.clock, origin.verdict] == ["1", "virtual", "passed"])
        let files = run.recording.index.attachments
        #expect(files.map(\.name).first == "gateway-dies.scenario.yaml")
        #expect(files.contains { $0.name == "vaduz-balzers.json" || $0.name == "heidelberg-lanes.json" })
        let scenario = try run.recording.attachment(try #require(files.first)).data
        let path = Resources.scenarioPath("gateway-dies.scenario.yaml")
        #expect(Data(scenario) == (try Data(contentsOf: URL(filePath: path))))
        #expect("\(try #require(run.recording.times?.lowerBound))" == "2000-01-01T00:00:00.000Z")
        let lines = try Self.events(run.recording)
        #expect(lines.filter { $0["kind"] as? String == "verdict" }.count == run.result.expectations.count)
        #expect(lines.contains { $0["kind"] as? String == "fault" && $0["fault"] as? String == "kill" })
        #expect(
            lines.filter { $0["kind"] as? String == "mark" }.count
                == run.history.entries.count { entry in
                    if case .step = entry.kind { true } else { false }
                })
        #expect(lines.last?["kind"] as? String == "end")
        #expect(lines.last?["verdict"] as? String == "passed")
        let times = lines.compactMap { $0["time"] as? String }
        #expect(times == times.sorted())
    }

    private static func events(_ recording: Recording) throws -> [[String: Any]] {
        var walk = RecordingWalk(recording, holdsContent: false)
        var lines: [[String: Any]] = []
        while let entry = try walk.next() {
            guard case .event(let text) = entry.content else { continue }
            let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
            lines.append(try #require(object as? [String: Any]))
        }
        return lines
    }

    @Test func `the same run is the same recording, and another seed another one`() throws {
        for seed in 1...3 as ClosedRange<UInt64> {
            #expect(try Self.run(Self.stormy, seed: seed).bytes == Self.run(Self.stormy, seed: seed).bytes)
        }
        #expect(try Self.run(Self.stormy, seed: 1).bytes != Self.run(Self.stormy, seed: 2).bytes)
    }

    @Test func `a frame that arrives after its connection is on that connection, not on the next`() throws {
        let app = PeerID.client(ClientID(unchecked: "app"))
        var history = History()
        func instant(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }
        func frame(_ name: String, sent: Int64) -> History.Kind {
            let envelope = Envelope(
                .publication(.currentRoadName([name])), session: SessionID(1), sequence: UInt64(sent))
            return .frame(
                CrossedFrame(Codec.encode(envelope), of: app, .toGateway, sent: instant(sent)))
        }
        history.append(.connection(app, .connecting), at: instant(0))
        history.append(frame("First", sent: 1), at: instant(1))
        history.append(.connection(app, .ended(nil)), at: instant(5))
        history.append(.connection(app, .connecting), at: instant(100))
        history.append(frame("Late", sent: 4), at: instant(120))
        history.append(frame("Second", sent: 110), at: instant(130))
        var file = Bytes()
        try RunRecording(ScenarioResult(file: "x")).write(history) { file.bytes += $0 }
        var walk = RecordingWalk(try Recording(file), holdsContent: false)
        var connections: [UInt64] = []
        while let entry = try walk.next() {
            if case .frame(let frame) = entry.content { connections += frame.connections.map(\.rawValue) }
        }
        #expect(connections == [1, 1, 2])
    }

    private static let seeds =
        SweepPart("WAYMARK_GALLERY")?.cases(of: 0..<500 as Range<UInt64>) ?? Array(0..<20)

    @Test(arguments: Self.seeds)
    func `a recording with any content does no harm`(_ seed: UInt64) throws {
        let run = try Self.small.get()
        var random = Random(state: seed)
        var writer = MCAPWriter()
        var file = Bytes()
        file.bytes += writer.begin(library: "test")
        for metadata in run.recording.index.metadata { file.bytes += writer.add(metadata) }
        let channels = run.recording.index.channels.values.sorted { $0.id < $1.id }
        for channel in channels {
            _ = writer.add(
                channel: channel.topic, schema: 0, encoding: channel.encoding, metadata: channel.metadata)
        }
        for chunk in run.recording.index.chunks {
            for var message in try run.recording.chunk(chunk).messages {
                switch Int.random(in: 0..<8, using: &random) {
                case 0: message.logTime = random.next() >> UInt64.random(in: 0..<64, using: &random)
                case 1: message.publishTime = random.next()
                case 2: message.channel = UInt16.random(in: 1...UInt16(channels.count), using: &random)
                case 3:
                    var data = Array(message.data)
                    guard !data.isEmpty else { break }
                    data[Int.random(in: data.indices, using: &random)] ^=
                        1 << UInt8.random(in: 0..<8, using: &random)
                    message.data = data[...]
                case 4:
                    message.data = message.data.prefix(Int.random(in: 0...message.data.count, using: &random))
                case 5: message.sequence = UInt32.random(in: 0 ... .max, using: &random)
                default: break
                }
                writer.add(message)
            }
            file.bytes += writer.endChunk()
        }
        file.bytes += writer.end()
        let recording = try Recording(file)
        // What is damaged may end the reading, with a reason.
        var linter = RecordedLinter()
        do throws(RecordingError) { try linter.judge(recording) { _ in } } catch {
            #expect(!error.description.isEmpty)
        }
        var report = RecordedReport(WatchReport.Options())
        do throws(RecordingError) {
            var walk = RecordingWalk(recording, holdsContent: true)
            while let entry = try walk.next() {
                _ = report.line(for: entry, walk.state)
                _ = RecordedJSON.line(entry, walk.state)
            }
        } catch { #expect(!error.description.isEmpty) }
    }

    /// SplitMix64.
    private struct Random: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            self.state &+= 0x9E37_79B9_7F4A_7C15
            var value = self.state
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
    }

    /// Used by all seeds.
    private static let small = Result {
        try Self.run(
            """
            route: vaduz-balzers
            speed: 4
            faults: [{ link: '*', kind: chaos, every: 2s, for: 20s }]
            steps: [{ after: 20s, expect: { never: { message: showAlert }, for: 1s } }]
            at-most: 1min

            """)
    }

    // MARK: The state

    @Test func `the state at any time is that of all that was recorded before`() throws {
        let run = try Self.run(shipped: "client-lost-and-back")
        let times = try #require(run.recording.times)
        let marks = try #require(
            run.recording.index.channels.values.first { $0.topic == "/state/mark" })
        #expect(run.recording.index.statistics.messages[marks.id] ?? 0 >= 2)
        var suspended = 0
        let away = try Self.events(run.recording).filter { $0["event"] as? String == "suspended" }
            .compactMap { ($0["number"] as? Int).map { run.history.entries[$0 - 1].instant } }
        #expect(away.count == 1)
        let parts = (0...20).map {
            times.lowerBound + (times.upperBound - times.lowerBound) * Double($0) / 20
        }
        for time in parts + away.map({ times.lowerBound + ($0 - Instant(nanoseconds: 0)) + .seconds(1) }) {
            let seeked = try RecordingWalk(run.recording, from: time)
            var walk = RecordingWalk(run.recording, holdsContent: true)
            var state = walk.state
            while let entry = try walk.next(), entry.time < time { state = walk.state }
            // The walk has applied one more message than it has returned.
            #expect(seeked.state.gateway.vehicles.keys == state.gateway.vehicles.keys)
            #expect(seeked.state.gateway.sessions == state.gateway.sessions)
            for session in state.gateway.sessions.values {
                if session.isSuspended { suspended += 1 }
                let frames = seeked.state.gateway.retained[session.session]?.frames ?? []
                let others = state.gateway.retained[session.session]?.frames ?? []
                #expect(frames.count == others.count)
                #expect(session.phase != .active || !frames.isEmpty)
            }
        }
        #expect(suspended > 0)
    }

    @Test func `the events of a run are those that an observer is told`() throws {
        let lines = try Self.events(try Self.run(shipped: "stop-accepted").recording)
        let events = lines.compactMap { line -> String? in
            guard let name = line["event"] as? String else { return nil }
            return "\(name) \(line["session"] ?? "") \(line["code"] ?? "") \(line["client"] ?? "")"
        }
        #expect(
            events == [
                "admitted 0 0 ", "admitted 0 0 client", "joined 1 0 client", "sessionOpened 1 0 client",
                "started 1 1 client", "stopRequested 1 0 client", "requestEnded 1 1 client",
                "paused 1 4 client", "rerouted 1 2 client",
            ])
        let cut = try Self.events(try Self.run(shipped: "client-lost-and-back").recording)
            .compactMap { $0["event"] as? String }
        for name in ["suspended", "departed", "resumed", "restored"] { #expect(cut.contains(name), "\(cut)") }
    }

    // MARK: Lint

    @Test(arguments: Self.names)
    func `lint of a recording of the gallery finds nothing`(_ file: String) throws {
        let run = try Self.run(shipped: String(file.dropLast(ScenarioFiles.suffix.count)))
        var linter = RecordedLinter()
        var findings: [String] = []
        try linter.judge(run.recording) {
            if case .finding(let finding, _, _) = $0 { findings.append(finding.text) }
        }
        #expect(findings == [])
    }

    @Test func `lint of a recording finds what was found in the run, at the same times`() throws {
        var mutations = RunMutations()
        mutations.client = { action, _ in
            guard case .publish(.startGuidance(let trip, let generation, var route)) = action else {
                return [action]
            }
            for index in route.maneuvers.indices {
                route.maneuvers[index].instructionVariants = ["Left", "Turn to the left"]
                route.maneuvers[index].type = .enterRoundabout
            }
            return [.publish(.startGuidance(trip, generation: generation, route))]
        }
        for run in [try Self.run(shipped: "declined-stop", mutations: mutations), try Self.run(Self.stormy)] {
            let judged = run.result.lints.filter { LintID(rawValue: $0.rule)?.isForRunsAlone == false }
            let expected = judged.flatMap { lint in
                lint.findings.map { "\(lint.rule) \($0.instant.nanoseconds) \($0.index + 1)" }
            }
            var found: [String] = []
            var linter = RecordedLinter()
            try linter.judge(run.recording) { output in
                guard case .finding(let finding, _, _) = output else { return }
                found.append("\(finding.rule) \(finding.instant.nanoseconds) \(finding.entry)")
            }
            #expect(found.sorted() == expected.sorted())
            #expect(run.result.file != "x.scenario.yaml" ? found.count > 3 : true)
            // Of another vehicle there is nothing.
            var other = RecordedLinter(vehicles: [VehicleID(unchecked: "other")])
            try other.judge(run.recording) { _ in }
            #expect(other.findingCount == 0)
            var same = RecordedLinter(vehicles: [VehicleID(unchecked: "dut")])
            try same.judge(run.recording) { _ in }
            #expect((same.findingCount > 0) == !found.isEmpty)
        }
    }

    // MARK: Files

    @Test func `names are those of the files, and two are never the same`() {
        let files = [
            "a.scenario.yaml", "x/a.scenario.yaml", "@gallery/a.scenario.yaml", "b", "x/..scenario.yaml",
            ".scenario.yaml",
            "...scenario.yaml",
        ]
        #expect(
            TestRecordings.names(of: files) == [
                "a", "a-2", "a-3", "b", "scenario.", "scenario", "scenario..",
            ])
    }

    @Test func `a number behind a name is never that of another file`() {
        #expect(TestRecordings.names(of: ["a", "a-2", "x/a", "y/a-2"]) == ["a", "a-2", "a-3", "a-2-2"])
    }

    @Test func `a run that failed has a recording, and one that cannot be written is no other verdict`()
        throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rec-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let run = try Self.run("route: vaduz-balzers\nexpect: { never: { phase: active } }\nat-most: 5s\n")
        #expect(run.result.verdict == "failed")
        let recordings = try TestRecordings(["x.scenario.yaml"], folder: "\(folder)/new/inner/", isOff: false)
        let path = "\(folder)/new/inner/x/seed-1.mcap"
        try FileManager.default.createDirectory(
            atPath: "\(folder)/new/inner/x", withIntermediateDirectories: true)
        try Data("old".utf8).write(to: URL(filePath: path))
        var result = run.result
        recordings.add(run.history, to: &result, file: 0, isFirst: true, ScenarioInputs())
        #expect(result.recording == path)
        #expect(try Recording(try FileSource(path: path)).index.isWhole)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: "\(folder)/new/inner/x") == ["seed-1.mcap"])
        let lines = ScenarioText(result).lines
        // A path is copied: it is never broken.
        #expect(lines.contains("  recording \(path)"), "\(lines)")
        #expect(lines.contains { $0.hasPrefix("  look      waymark recording show --at ") })
        #expect(lines.contains { $0.hasSuffix(" \(path)") && !$0.hasPrefix("  recording") })
        #expect(JUnitReport.text([result]).contains("<property name=\"recording\" value=\"\(path)\"/>"))

        // A file is where its folder must be.
        try FileManager.default.removeItem(atPath: "\(folder)/new/inner/x")
        try Data("x".utf8).write(to: URL(filePath: "\(folder)/new/inner/x"))
        result = run.result
        recordings.add(run.history, to: &result, file: 0, isFirst: true, ScenarioInputs())
        #expect(result.recording == nil)
        #expect(result.recordingProblem?.contains("cannot be written: ") == true)
        #expect(ScenarioText(result).lines.joined(separator: " ").contains("cannot be written"))
        #expect(result.verdict == "failed")
        #expect(throws: ExitCode(2)) {
            try TestRecordings(["x.scenario.yaml"], folder: "\(folder)/new/inner/x/y", isOff: false)
        }
        #expect(throws: ExitCode(2)) {
            try TestRecordings(["x.scenario.yaml"], folder: "\(folder)/new/inner/x", isOff: false)
        }
        let none = try TestRecordings(["x.scenario.yaml"], folder: nil, isOff: true)
        result = run.result
        none.add(run.history, to: &result, file: 0, isFirst: true, ScenarioInputs())
        #expect(result.recording == nil && result.recordingProblem == nil)
    }

    @Test func `of many seeds that fail only some leave a recording`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rec-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let recordings = try TestRecordings(["x"], folder: nil, isOff: false, under: folder)
        var written = 0
        for seed in 1...UInt64(TestRecordings.failuresMax + 5) {
            var result = ScenarioResult(file: "x")
            (result.problem, result.seed) = ("broken", seed)
            var history = History()
            history.append(.log(nil, "a line"), at: Instant(nanoseconds: 0))
            recordings.add(history, to: &result, file: 0, isFirst: seed == 1, ScenarioInputs())
            if result.recording != nil { written += 1 }
        }
        #expect(written == TestRecordings.failuresMax)
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/.waymark")
        #expect(names.sorted() == [".gitignore", "x"])
    }

    @Test func `a name in a recording never leads out of the folder`() {
        #expect(RecordedFiles.path(of: "a.yaml") == "a.yaml")
        #expect(RecordedFiles.path(of: "/etc/../../x//y/./z") == "etc/x/y/z")
        #expect(RecordedFiles.path(of: "../..") == "attachment")
    }

    @Test func `the lines of a run are for people`() throws {
        let run = try Self.run(shipped: "gateway-dies")
        var report = RecordedReport(WatchReport.Options())
        var walk = RecordingWalk(run.recording, holdsContent: false)
        var lines: [String] = []
        while let entry = try walk.next() {
            if let line = report.line(for: entry, walk.state) { lines.append(line) }
        }
        #expect(lines.contains { $0.contains("-- fault kill: the gateway is killed, for 800 ms") })
        #expect(lines.contains { $0.contains("-- step 1: ") })
        #expect(lines.contains { $0.contains("-- passed  ") })
        #expect(lines.last?.hasSuffix("-- the run is over: passed") == true)
        #expect(!lines.contains { $0.contains("{\"") })
        let info = RecordingSummary.lines(run.recording, name: "x.mcap", columns: 80)
        #expect(info.contains("a run of @gallery/gateway-dies.scenario.yaml, virtual, seed 1: passed"))
        #expect(info.contains { $0.hasPrefix("gateway-dies.scenario.yaml ") })
    }
}
