internal import Foundation
internal import ProcessIO
internal import WaymarkConfiguration
internal import WaymarkRig
internal import WaymarkRoutes

/// Finds scenario files, and reads them with all that they name. Every error of every file is found before anything runs.
struct ScenarioFiles {
    /// A scenario that can run.
    struct Ready: Sendable {
        let scenario: Scenario
        let inputs: ScenarioInputs
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

    /// Reads all files among the arguments: files, folders, and ``gallery``.
    init(_ arguments: [String]) {
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
            let inputs = self.inputs(of: scenario, folder: path.contains("/") ? folder + "/" : "")
            if self.errors.count == count { self.ready.append(Ready(scenario: scenario, inputs: inputs)) }
        } catch {
            self.errors += error.errors.map(\.description)
        }
    }

    // MARK: What a scenario names

    private mutating func inputs(of scenario: Scenario, folder: String) -> ScenarioInputs {
        var inputs = ScenarioInputs()
        for reference in scenario.routes where inputs.routes[reference.text] == nil {
            inputs.routes[reference.text] = self.route(reference, folder)
        }
        for reference in scenario.profiles where inputs.profiles[reference.text] == nil {
            inputs.profiles[reference.text] = self.profile(reference, folder)
        }
        if let reference = scenario.gateway.settings {
            inputs.settings = self.content(reference, folder, "settings").flatMap { path, bytes in
                do throws(ConfigurationError) { return try Configuration.read(bytes, file: path) } catch {
                    self.errors.append("\(error)")
                    return nil
                }
            }
        }
        self.errors += scenario.obstacles().map(\.description)
        return inputs
    }

    private mutating func route(_ reference: Scenario.Reference, _ folder: String) -> RouteAnswer? {
        let key = Resources.routeNames.contains(reference.text) ? reference.text : folder + reference.text
        if let route = self.routes[key] { return route }
        let answer: RouteAnswer
        do {
            if Resources.routeNames.contains(reference.text) {
                answer = try readAnswer(Resources.route(reference.text), name: reference.text)
            } else {
                guard let (path, bytes) = self.content(reference, folder, "route") else { return nil }
                answer = try readAnswer(bytes, name: path)
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
            } else {
                guard let (path, bytes) = self.content(reference, folder, "profile") else { return nil }
                profile = try ClusterProfile.parse(Data(bytes), path)
            }
            self.profiles[key] = profile
            return profile
        } catch {
            self.fail(reference, "\(error)")
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
