internal import Foundation
internal import ProcessIO
internal import WaymarkConfiguration
internal import WaymarkProtocol
internal import WaymarkRoutes

/// A scenario in a file `*.scenario.yaml`, see Docs/testing.md, with all that it names, ready to run.
public struct ScenarioFile: Sendable, CustomStringConvertible {
    private static let suffix = ".scenario.yaml"
    private static let bytesMax = 1 << 20

    /// As it was given.
    public let path: String
    private let scenario: Scenario
    private let inputs: ScenarioInputs

    /// Reads a scenario. Routes, profiles and settings that it names are files beside it, or those that ship.
    ///
    /// - Parameter path: In `swift test`, from the folder of the package.
    /// - Throws: ``RigError``, which has a line for each error of the file, with line and column.
    public init(_ path: String) throws(RigError) {
        self.path = path
        let bytes: [UInt8]
        do throws(FileError) { bytes = try FileContent(path: path, bytesMax: Self.bytesMax).bytes } catch {
            throw RigError("", "\(path) cannot be read: \(error)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw RigError("", "\(path): it is not UTF-8 text")
        }
        do throws(ScenarioErrors) { self.scenario = try ScenarioReader.read(text, file: path) } catch {
            throw RigError("", error.description)
        }
        var reader = InputReader(besides: path)
        self.inputs = reader.inputs(of: self.scenario)
        let errors = reader.errors + self.scenario.obstacles()
        guard errors.isEmpty else {
            throw RigError("", errors.map(\.description).joined(separator: "\n"))
        }
    }

    /// All scenarios in a folder and the folders in it, in the order of their paths.
    ///
    /// - Throws: ``RigError``, which has the errors of all files; also if there is no scenario.
    public static func all(in folder: String) throws(RigError) -> [ScenarioFile] {
        let found = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        let names = found.filter { $0.hasSuffix(self.suffix) }.sorted()
        guard !names.isEmpty else { throw RigError("folder", "\(folder) has no *\(self.suffix)") }
        var (files, errors): ([ScenarioFile], [String]) = ([], [])
        for name in names {
            do throws(RigError) {
                files.append(try ScenarioFile(folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"))
            } catch { errors.append(error.description) }
        }
        guard errors.isEmpty else { throw RigError("", errors.joined(separator: "\n")) }
        return files
    }

    /// The path.
    public var description: String { self.path }
    /// What it shows, in its own words; may be empty.
    public var about: String { self.scenario.about ?? "" }

    /// Runs it to its end, in virtual time.
    ///
    /// - Parameter seed: nil: the scenario's.
    /// - Throws: ``RigFailure``, whose description is what `waymark test` prints; ``RigError`` if the run cannot go on.
    public func run(seed: UInt64? = nil) async throws {
        let (result, _) = ScenarioRun.run(self.scenario, self.inputs, seed: seed)
        guard !result.hasPassed else { return }
        let text = ScenarioText(result).lines.joined(separator: "\n")
        if result.problem != nil { throw RigError("", text) }
        throw RigFailure(
            text, result.lints.flatMap { lint in lint.findings.compactMap { Rig.Finding($0, of: lint) } })
    }
}

/// Reads the files that a scenario names.
private struct InputReader {
    private let folder: String
    private(set) var errors: [ConfigurationError] = []

    init(besides path: String) {
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        self.folder = folder.isEmpty ? "" : folder.joined(separator: "/") + "/"
    }

    mutating func inputs(of scenario: Scenario) -> ScenarioInputs {
        var inputs = ScenarioInputs()
        for reference in scenario.routes where inputs.routes[reference.text] == nil {
            inputs.routes[reference.text] = self.route(reference)
        }
        for reference in scenario.profiles where inputs.profiles[reference.text] == nil {
            inputs.profiles[reference.text] = self.profile(reference)
        }
        if let reference = scenario.gateway.settings {
            inputs.settings = self.content(reference, "settings", []).flatMap { path, bytes in
                do throws(ConfigurationError) { return try Configuration.read(bytes, file: path) } catch {
                    self.errors.append(error)
                    return nil
                }
            }
        }
        for (replay, peer) in scenario.replays {
            let name = replay.recording.text
            guard let recording = self.recording(replay, of: peer, inputs.recordings[name]) else { continue }
            inputs.recordings[name] = recording
        }
        return inputs
    }

    /// Reads a recording, in which the peer must be. `known`: it was read before.
    private mutating func recording(
        _ replay: Scenario.Replay, of peer: PeerID, _ known: RecordedConversation?
    ) -> RecordedConversation? {
        let path = self.path(replay.recording)
        do throws(ReplayError) {
            let conversation: RecordedConversation
            if let known { conversation = known } else { conversation = try RecordedConversation(path: path) }
            try replay.check(conversation, peer)
            return conversation
        } catch {
            self.fail(replay.recording, "the recording \(path) cannot be replayed: \(error)")
            return nil
        }
    }

    private func path(_ reference: Scenario.Reference) -> String {
        reference.text.hasPrefix("/") ? reference.text : self.folder + reference.text
    }

    private mutating func route(_ reference: Scenario.Reference) -> RouteAnswer? {
        guard let (path, bytes) = self.content(reference, "route", ShippedFiles.routes) else { return nil }
        do throws(RouteReadingError) {
            let answer = try RouteReader.read(bytes)
            if !answer.routes.isEmpty { return answer }
            self.fail(reference, "\(reference.text) has no route")
        } catch { self.fail(reference, "\(path): \(error)") }
        return nil
    }

    private mutating func profile(_ reference: Scenario.Reference) -> ClusterProfile? {
        guard let (path, bytes) = self.content(reference, "profile", ShippedFiles.profiles) else {
            return nil
        }
        do { return try ClusterProfile.parse(Data(bytes), path) } catch {
            self.fail(reference, "\(error)")
            return nil
        }
    }

    /// A file that ships, or one beside the scenario.
    private mutating func content(
        _ reference: Scenario.Reference, _ kind: String, _ shipped: [(name: String, bytes: [UInt8])]
    ) -> (path: String, bytes: [UInt8])? {
        if let ours = shipped.first(where: { $0.name == reference.text }) { return (ours.name, ours.bytes) }
        let path = self.path(reference)
        do throws(FileError) { return (path, try FileContent(path: path).bytes) } catch {
            let ours =
                shipped.isEmpty
                ? "" : ", nor one that ships: \(shipped.map(\.name).joined(separator: ", "))"
            self.fail(reference, "the \(kind) \(path) cannot be read: \(error)\(ours)")
            return nil
        }
    }

    private mutating func fail(_ reference: Scenario.Reference, _ reason: String) {
        self.errors.append(ConfigurationError(location: reference.location, reason: reason))
    }
}
