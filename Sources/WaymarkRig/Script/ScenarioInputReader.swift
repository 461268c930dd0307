internal import Foundation
internal import ProcessIO
package import WaymarkConfiguration
internal import WaymarkHistory
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkRoutes
package import WaymarkScenario
internal import WaymarkTexts

/// Reads scenario files with all that they name, so that every error of every file is known before anything runs.
package struct ScenarioInputReader {
    /// What a scenario file's name ends in.
    package static let suffix = ".scenario.yaml"
    private static let bytesMax = 1 << 20

    /// A line each, where it is known with file, line and column.
    package private(set) var errors: [String] = []
    /// What was read, by path, or by name if it ships: many scenarios use the same.
    private var routes: [String: RouteAnswer] = [:]
    private var profiles: [String: ClusterProfile] = [:]
    private var recordings: [String: RecordedConversation] = [:]
    /// The same as they were read, for recordings.
    private var sources: [String: MCAP.Attachment] = [:]

    package init() {}

    /// Adds an error to those of the files.
    package mutating func fail(_ text: String) { self.errors.append(text) }

    /// Reads a scenario. Routes, profiles, settings and recordings that it names are files beside it, or those that ship.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - name: What its errors and its results call it.
    ///   - obstacles: Why it cannot be run as it shall be.
    /// - Returns: nil if something is wrong, which is then among ``errors``.
    package mutating func read(
        _ path: String, name: String, obstacles: (Scenario) -> [ConfigurationError]
    ) -> (scenario: Scenario, inputs: ScenarioInputs)? {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try FileContent(path: path, bytesMax: Self.bytesMax).bytes } catch {
            self.fail("\(name) cannot be read: \(error)")
            return nil
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            self.fail("\(ConfigurationError(notUTF8: bytes, file: name))")
            return nil
        }
        let count = self.errors.count
        let (scenario, errors) = ScenarioReader.readAll(text, file: name)
        self.errors += errors.map(\.description)
        var inputs = self.inputs(of: scenario, folder: Self.folder(of: path))
        // Why not always: a part that could not be read would be missed.
        if errors.isEmpty { self.errors += obstacles(scenario).map(\.description) }
        guard self.errors.count == count else { return nil }
        let source = MCAP.Attachment(
            name: name.split(separator: "/").last.map(String.init) ?? name, mediaType: "application/yaml",
            data: bytes)
        inputs.sources.insert(source, at: 0)
        return (scenario, inputs)
    }

    /// With `/` at its end; empty: the current one.
    private static func folder(of path: String) -> String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return parts.isEmpty ? "" : parts.joined(separator: "/") + "/"
    }

    // MARK: What a scenario names

    private mutating func inputs(of scenario: Scenario, folder: String) -> ScenarioInputs {
        var inputs = ScenarioInputs()
        if !folder.isEmpty { inputs.folder = folder }
        for reference in scenario.routes where inputs.routes[reference.text] == nil {
            inputs.routes[reference.text] = self.route(reference, folder)
            inputs.sources += self.source(reference, folder, ShippedFiles.routes)
        }
        for reference in scenario.profiles where inputs.profiles[reference.text] == nil {
            inputs.profiles[reference.text] = self.profile(reference, folder)
            inputs.sources += self.source(reference, folder, ShippedFiles.profiles)
        }
        if let reference = scenario.gateway.settings {
            inputs.settings = self.content(reference, folder, "settings").flatMap { path, bytes in
                inputs.settingsText = String(decoding: bytes, as: UTF8.self)
                inputs.sources.append(
                    MCAP.Attachment(name: reference.text, mediaType: "application/yaml", data: bytes))
                do throws(ConfigurationError) { return try Configuration.read(bytes, file: path) } catch {
                    self.fail("\(error)")
                    return nil
                }
            }
        }
        for (replay, peer) in scenario.replays {
            guard let recording = self.recording(replay, of: peer, folder) else { continue }
            inputs.recordings[replay.recording.text] = recording
        }
        return inputs
    }

    /// Where a file is. What ships has its name alone.
    private func place(
        _ reference: Scenario.Reference, _ folder: String, _ shipped: [ShippedFiles.File] = []
    ) -> String {
        reference.text.hasPrefix("/") || shipped.contains { $0.name == reference.text }
            ? reference.text : folder + reference.text
    }

    /// A file that was read; none if it could not be.
    private func source(
        _ reference: Scenario.Reference, _ folder: String, _ shipped: [ShippedFiles.File]
    ) -> [MCAP.Attachment] {
        self.sources[self.place(reference, folder, shipped)].map { [$0] } ?? []
    }

    /// Keeps what was read. Those that ship are named without a suffix.
    private mutating func keep(_ bytes: [UInt8], _ name: String, as place: String) {
        let suffix = name.hasSuffix(".json") ? "" : ".json"
        self.sources[place] = MCAP.Attachment(name: name + suffix, mediaType: "application/json", data: bytes)
    }

    private mutating func route(_ reference: Scenario.Reference, _ folder: String) -> RouteAnswer? {
        let place = self.place(reference, folder, ShippedFiles.routes)
        if let route = self.routes[place] { return route }
        guard let (path, bytes) = self.content(reference, folder, "route", ShippedFiles.routes) else {
            return nil
        }
        do throws(RouteReadingError) {
            let answer = try RouteReader.read(bytes)
            guard !answer.routes.isEmpty else {
                self.fail(reference, "\(reference.text) has no route")
                return nil
            }
            self.keep(bytes, reference.text, as: place)
            self.routes[place] = answer
            return answer
        } catch {
            self.fail(reference, "\(path): \(error)")
            return nil
        }
    }

    private mutating func profile(_ reference: Scenario.Reference, _ folder: String) -> ClusterProfile? {
        let place = self.place(reference, folder, ShippedFiles.profiles)
        if let profile = self.profiles[place] { return profile }
        guard let (path, bytes) = self.content(reference, folder, "profile", ShippedFiles.profiles) else {
            return nil
        }
        do {
            let profile = try ClusterProfile.parse(Data(bytes), path)
            self.keep(bytes, reference.text, as: place)
            self.profiles[place] = profile
            return profile
        } catch {
            self.fail(reference, "\(error)")
            return nil
        }
    }

    /// Reads a recording, in which the peer must be.
    private mutating func recording(
        _ replay: Scenario.Replay, of peer: PeerID, _ folder: String
    ) -> RecordedConversation? {
        let path = self.place(replay.recording, folder)
        do throws(ReplayError) {
            let conversation: RecordedConversation
            if let known = self.recordings[path] {
                conversation = known
            } else {
                conversation = try RecordedConversation(path: path)
            }
            self.recordings[path] = conversation
            try replay.check(conversation, peer)
            return conversation
        } catch {
            self.fail(replay.recording, "the recording \(path) cannot be replayed: \(error)")
            return nil
        }
    }

    /// A file that ships, or one beside the scenario.
    private mutating func content(
        _ reference: Scenario.Reference, _ folder: String, _ kind: String,
        _ shipped: [ShippedFiles.File] = []
    ) -> (path: String, bytes: [UInt8])? {
        if let ours = shipped.first(where: { $0.name == reference.text }) { return (ours.name, ours.bytes) }
        let path = self.place(reference, folder)
        do throws(FileError) { return (path, try FileContent(path: path).bytes) } catch {
            let ours =
                shipped.isEmpty
                ? "" : ", nor one that ships: \(shipped.map(\.name).joined(separator: ", "))"
            self.fail(reference, "the \(kind) \(path) cannot be read: \(error)\(ours)")
            return nil
        }
    }

    private mutating func fail(_ reference: Scenario.Reference, _ reason: String) {
        self.fail("\(ConfigurationError(location: reference.location, reason: reason))")
    }
}
