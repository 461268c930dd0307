internal import Foundation
internal import ProcessIO
internal import WaymarkConfiguration
internal import WaymarkRecording
internal import WaymarkRig
internal import WaymarkRoutes

/// Finds scenario files, and reads them with all that they name. Every error of every file is found before anything runs.
struct ScenarioFiles {
    /// A scenario that can run.
    struct Ready: Sendable {
        let scenario: Scenario
        let inputs: ScenarioInputs
        var clock = RunClock.virtual
    }

    static let suffix = ".scenario.yaml"
    /// Stands for the scenarios that ship.
    static let gallery = "@gallery"
    /// So many errors of a run are printed; a folder of files of another kind has more.
    private static let errorsMax = 200
    private static let bytesMax = 1 << 20

    private(set) var ready: [Ready] = []
    /// Each with file, line and column.
    private(set) var errors: [String] = []
    /// Routes and profiles that were read, by path: many scenarios use the same.
    private var routes: [String: RouteAnswer] = [:]
    private var profiles: [String: ClusterProfile] = [:]
    private var recordings: [String: RecordedConversation] = [:]
    /// The same as they were read, for recordings.
    private var sources: [String: MCAP.Attachment] = [:]

    private let clock: RunClock?
    private let isAgainstOthers: Bool

    /// Reads all files among the arguments: files, folders, and ``gallery``. `clock` is the one that the user wants; nil: what the
    /// scenario wants. `isAgainstOthers`: the gateway is not the rig's.
    init(_ arguments: [String], clock: RunClock? = nil, isAgainstOthers: Bool = false) {
        (self.clock, self.isAgainstOthers) = (clock, isAgainstOthers)
        for argument in arguments {
            if argument == Self.gallery {
                for name in Resources.scenarioNames { self.readShipped(name) }
                continue
            }
            if argument.hasPrefix("\(Self.gallery)/") {
                self.readShipped(String(argument.dropFirst(Self.gallery.count + 1)))
                continue
            }
            var isFolder: ObjCBool = false
            let exists = unsafe FileManager.default.fileExists(atPath: argument, isDirectory: &isFolder)
            if exists, isFolder.boolValue {
                for path in Self.files(in: argument) { self.read(path, name: path) }
            } else {
                self.read(argument, name: argument)
            }
        }
        if self.errors.count > Self.errorsMax {
            let rest = self.errors.count - Self.errorsMax
            self.errors = self.errors.prefix(Self.errorsMax) + ["… \(rest) more errors"]
        }
    }

    /// The scenarios in a folder and the folders in it, in the order of their paths.
    private static func files(in folder: String) -> [String] {
        guard let paths = FileManager.default.enumerator(atPath: folder) else { return [] }
        let names = paths.compactMap { $0 as? String }.filter { $0.hasSuffix(self.suffix) }.sorted()
        return names.map { folder.hasSuffix("/") ? folder + $0 : "\(folder)/\($0)" }
    }

    /// Reads a scenario that ships, by the name of its file, with or without the suffix.
    private mutating func readShipped(_ given: String) {
        let name = given.hasSuffix(Self.suffix) ? given : given + Self.suffix
        guard Resources.scenarioNames.contains(name) else {
            let names = Resources.scenarioNames.map { $0.dropLast(Self.suffix.count) }.joined(separator: ", ")
            return self.errors.append("\(Self.gallery) has no \(given); it has \(names)")
        }
        self.read(Resources.scenarioPath(name), name: "\(Self.gallery)/\(name)")
    }

    private mutating func read(_ path: String, name: String) {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try FileContent(path: path, bytesMax: Self.bytesMax).bytes } catch {
            self.errors.append("\(name) cannot be read: \(error)")
            return
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            self.errors.append("\(name): it is not UTF-8 text")
            return
        }
        do throws(ScenarioErrors) {
            let scenario = try ScenarioReader.read(text, file: name)
            let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
                .joined(separator: "/")
            let count = self.errors.count
            let clock = scenario.clock(wanted: self.clock)
            var inputs = self.inputs(of: scenario, folder: path.contains("/") ? folder + "/" : "", clock)
            let source = MCAP.Attachment(
                name: name.split(separator: "/").last.map(String.init) ?? name, mediaType: "application/yaml",
                data: bytes)
            inputs.sources.insert(source, at: 0)
            if self.errors.count == count {
                self.ready.append(Ready(scenario: scenario, inputs: inputs, clock: clock))
            }
        } catch {
            self.errors += error.errors.map(\.description)
        }
    }

    /// Reads a file of waymarkd's settings.
    static func settings(_ path: String) throws(CommandFailure) -> Settings {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try FileContent(path: path).bytes } catch {
            throw CommandFailure("the settings \(path) cannot be read: \(error)")
        }
        do throws(ConfigurationError) { return try Configuration.read(bytes, file: path) } catch {
            throw CommandFailure("\(error)")
        }
    }

    // MARK: What a scenario names

    private mutating func inputs(
        of scenario: Scenario, folder: String, _ clock: RunClock
    ) -> ScenarioInputs {
        var inputs = ScenarioInputs()
        if !folder.isEmpty { inputs.folder = folder }
        for reference in scenario.routes where inputs.routes[reference.text] == nil {
            inputs.routes[reference.text] = self.route(reference, folder)
            inputs.sources += self.source(reference, folder, Resources.routeNames)
        }
        for reference in scenario.profiles where inputs.profiles[reference.text] == nil {
            inputs.profiles[reference.text] = self.profile(reference, folder)
            inputs.sources += self.source(reference, folder, Resources.profileNames)
        }
        if let reference = scenario.gateway.settings {
            inputs.settings = self.content(reference, folder, "settings").flatMap { path, bytes in
                inputs.settingsText = String(decoding: bytes, as: UTF8.self)
                inputs.sources.append(
                    MCAP.Attachment(name: reference.text, mediaType: "application/yaml", data: bytes))
                do throws(ConfigurationError) { return try Configuration.read(bytes, file: path) } catch {
                    self.errors.append("\(error)")
                    return nil
                }
            }
        }
        for (replay, peer) in scenario.replays {
            guard let recording = self.recording(replay, of: peer, folder) else { continue }
            inputs.recordings[replay.recording.text] = recording
        }
        self.errors += scenario.obstacles(clock).map(\.description)
        if self.isAgainstOthers { self.errors += scenario.obstaclesAgainstOthers().map(\.description) }
        return inputs
    }

    /// A file that was read; none if it could not be.
    private func source(
        _ reference: Scenario.Reference, _ folder: String, _ ours: [String]
    ) -> [MCAP.Attachment] {
        let isOurs = ours.contains(reference.text)
        return self.sources[isOurs ? reference.text : folder + reference.text].map { [$0] } ?? []
    }

    /// Keeps what was read. Those that ship are named without a suffix.
    private mutating func keep(_ bytes: [UInt8], _ name: String, as key: String) {
        let suffix = name.hasSuffix(".json") ? "" : ".json"
        self.sources[key] = MCAP.Attachment(name: name + suffix, mediaType: "application/json", data: bytes)
    }

    private mutating func route(_ reference: Scenario.Reference, _ folder: String) -> RouteAnswer? {
        let key = Resources.routeNames.contains(reference.text) ? reference.text : folder + reference.text
        if let route = self.routes[key] { return route }
        let answer: RouteAnswer
        do {
            if Resources.routeNames.contains(reference.text) {
                let bytes = try Resources.route(reference.text)
                answer = try readAnswer(bytes, name: reference.text)
                self.keep(bytes, reference.text, as: key)
            } else {
                guard let (path, bytes) = self.content(reference, folder, "route") else { return nil }
                answer = try readAnswer(bytes, name: path)
                self.keep(bytes, reference.text, as: key)
            }
        } catch {
            self.fail(reference, "\(error)")
            return nil
        }
        guard !answer.routes.isEmpty else {
            self.fail(reference, "\(reference.text) has no route")
            return nil
        }
        self.routes[key] = answer
        return answer
    }

    private mutating func profile(_ reference: Scenario.Reference, _ folder: String) -> ClusterProfile? {
        let isOurs = Resources.profileNames.contains(reference.text)
        let key = isOurs ? reference.text : folder + reference.text
        if let profile = self.profiles[key] { return profile }
        do {
            let profile: ClusterProfile
            if let data = Resources.profile(reference.text) {
                profile = try ClusterProfile.parse(data, reference.text)
                self.keep([UInt8](data), reference.text, as: key)
            } else {
                guard let (path, bytes) = self.content(reference, folder, "profile") else { return nil }
                profile = try ClusterProfile.parse(Data(bytes), path)
                self.keep(bytes, reference.text, as: key)
            }
            self.profiles[key] = profile
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
        let text = replay.recording.text
        let path = text.hasPrefix("/") ? text : folder + text
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

    /// Reads a file that a scenario names, relative to the scenario.
    private mutating func content(
        _ reference: Scenario.Reference, _ folder: String, _ kind: String
    ) -> (path: String, bytes: [UInt8])? {
        let path = reference.text.hasPrefix("/") ? reference.text : folder + reference.text
        do throws(FileError) { return (path, try FileContent(path: path).bytes) } catch {
            let names =
                switch kind {
                case "route": Resources.routeNames
                case "profile": Resources.profileNames
                default: [String]()
                }
            let ours = names.isEmpty ? "" : ", nor one that ships: \(names.joined(separator: ", "))"
            self.fail(reference, "the \(kind) \(path) cannot be read: \(error)\(ours)")
            return nil
        }
    }

    private mutating func fail(_ reference: Scenario.Reference, _ reason: String) {
        self.errors.append("\(ConfigurationError(location: reference.location, reason: reason))")
    }
}
