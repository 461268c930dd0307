package import ArgumentParser
internal import Foundation
internal import ProcessIO
internal import WaymarkClient
internal import WaymarkConfiguration
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkRig
internal import WaymarkRigSockets
internal import WaymarkScenario

package struct Replay: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Replay a recording: its peers say again what they said.",
        usage: "waymark replay FILE [<options>]",
        discussion: """
            Without other options a new gateway in this process gets what the recorded one got, in virtual time. With --compare, \
            what it answers must be what was recorded; what may differ is in Docs/recordings.md. With --to-scenario, the recording \
            becomes a test.

            With --against the peers connect to a gateway that is there, and say everything at the recorded times. If only one \
            side is replayed, the other is what is connected there.

            The exit status is 0 if the replay was as recorded, 1 if it was not, 2 if the recording cannot be replayed.
            """)

    @Argument(help: "The recording.", completion: .file(extensions: ["mcap"])) var file: String
    @Option(
        name: .customLong("as"),
        help:
            "Who is replayed. Without --against, vehicles are simulated with client; vehicle needs --against."
    )
    var side = ReplaySide.both
    @Option(help: "Only this vehicle, its clients, and whom these guide together with it.") var vehicle:
        String?
    @Flag(help: "Compare what the peers receive with the recording.") var compare = false
    @Option(
        help: "The settings of the gateway, which are not in a recording: a file of waymarkd's settings.",
        completion: .file(extensions: ["yaml"]))
    var settings: String?
    @Option(
        help: ArgumentHelp(
            "Replay to this gateway, in real time. Given twice: that of vehicles, then that of clients.",
            valueName: "address"),
        transform: serviceAddress)
    var against: [ServiceAddress] = []
    @Option(help: "With --against: so many times faster than recorded, 0.01 to 1000.") var speed = 1.0
    @Option(
        help: "With --against: a file with the listener's pre-shared key.", completion: .file())
    var keyFile: String?
    @Option(
        help:
            "Only write a scenario *.scenario.yaml, and beside it the part of the recording that it needs; there must be none.",
        completion: .file(extensions: ["yaml"]))
    var toScenario: String?

    package init() {}

    package func validate() throws {
        if let vehicle, VehicleID(vehicle) == nil {
            throw ValidationError("--vehicle \(Terminal.printable(vehicle)) is no vehicle id")
        }
        try self.validateAgainst()
        guard let toScenario else { return }
        if !toScenario.hasSuffix(ScenarioFiles.suffix) {
            throw ValidationError("--to-scenario must end in \(ScenarioFiles.suffix)")
        }
        if self.compare || self.settings != nil || self.side != .both || !self.against.isEmpty {
            throw ValidationError("--to-scenario replays both sides by itself: only --vehicle goes with it")
        }
    }

    private func validateAgainst() throws {
        guard self.against.isEmpty else {
            if self.against.count > 2 { throw ValidationError("--against may be given at most twice") }
            if self.settings != nil {
                throw ValidationError("--settings: the gateway of --against has its own")
            }
            guard (0.01...1_000).contains(self.speed) else {
                throw ValidationError("--speed must be 0.01 to 1000")
            }
            return
        }
        if self.side == .vehicle {
            throw ValidationError(
                "--as vehicle needs --against: a recording has no route that a simulated client could drive")
        }
        if self.speed != 1 { throw ValidationError("--speed needs --against: virtual time takes none") }
        if self.keyFile != nil { throw ValidationError("--key-file needs --against") }
    }

    package func run() async throws {
        do {
            let recording: Recording
            do throws(RecordingError) { recording = try Recording(try FileSource(path: self.file)) } catch {
                throw ReplayError.unreadable(error)
            }
            let conversation = try RecordedConversation(
                recording, vehicle: self.vehicle.flatMap { VehicleID($0) })
            if let note = recording.note(on: self.file) { Terminal.note(note) }
            for note in conversation.timeNotes { Terminal.note(note) }
            for omission in conversation.omissions {
                let times = omission.count > 1 ? " (\(omission.count) times)" : ""
                Terminal.note("not replayed: \(omission.text)\(times)")
            }
            if let toScenario { return try self.write(conversation, recording, to: toScenario) }
            try await self.replay(conversation)
        } catch let error as ReplayError {
            Terminal.note("Error: \(self.file) cannot be replayed: \(error)")
            throw ExitCode(2)
        }
    }

    // MARK: Replaying

    private func replay(_ conversation: RecordedConversation) async throws {
        let start = ContinuousClock.now
        let result =
            self.against.isEmpty
            ? try self.replayHere(conversation) : try await self.replayElsewhere(conversation)
        let report = ReplayReport(conversation, result, isCompared: self.compare, file: self.file)
        for line in report.lines(took: ContinuousClock.now - start) { Terminal.line(line) }
        if !report.isAsRecorded { throw ExitCode(1) }
    }

    /// In virtual time.
    private func replayHere(_ conversation: RecordedConversation) throws -> ReplayResult {
        var settings = conversation.settings
        if let path = self.settings { settings.use(try ScenarioFiles.settings(path)) }
        return try ReplayRun.run(conversation, as: self.side, settings)
    }

    /// Over sockets.
    private func replayElsewhere(_ conversation: RecordedConversation) async throws -> ReplayResult {
        let scenario = Scenario(replaying: conversation, as: self.side, speed: self.speed)
        guard !scenario.replays.isEmpty else {
            throw ReplayError.run("no connection of a \(self.side.rawValue) begins in it")
        }
        for (replay, peer) in scenario.replays { try replay.check(conversation, peer) }
        for note in conversation.gatewayNotes {
            Terminal.note("not replayed: \(note); the one of --against goes on")
        }
        var inputs = ScenarioInputs()
        inputs.recordings[Scenario.recordingName] = conversation
        inputs.replaySpeed = self.speed
        inputs.credential = try ConnectionOptions.key(self.keyFile)
        let (result, history) = await RealRun.run(scenario, inputs, RealRun.Options(against: self.against))
        if let problem = result.problem { throw ReplayError.run(problem) }
        return ReplayResult(result, history)
    }

    private func write(
        _ conversation: RecordedConversation, _ recording: Recording, to path: String
    ) throws {
        let copy = String(path.dropLast(ScenarioFiles.suffix.count)) + ".mcap"
        let name = copy.split(separator: "/").last.map(String.init) ?? copy
        let source = self.file.split(separator: "/").last.map(String.init) ?? self.file
        guard !FileManager.default.fileExists(atPath: path) else {
            throw CommandFailure("\(path) exists already")
        }
        let text = try ReplayScenario.text(conversation, recordingName: name, source: source)
        var cut = conversation.cut(recording)
        do throws(RecordingError) { try cut.write(to: copy) } catch {
            throw CommandFailure("\(copy) cannot be written: \(error)")
        }
        do throws(WriteError) { try WrittenFile.write(Array(text.utf8), to: path, isNew: true) } catch {
            // The copy is of no use without the scenario, and another attempt would find it there.
            _ = unsafe unlink(copy)
            throw CommandFailure("\(path) cannot be written: \(error)")
        }
        Terminal.line(Terminal.printable("wrote \(path) and \(copy); waymark test \(path) runs it"))
    }
}

extension ReplaySide: ExpressibleByArgument {}
