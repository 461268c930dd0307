internal import Foundation
internal import ProcessIO
internal import WaymarkConfiguration
internal import WaymarkRig
internal import WaymarkScenario

/// Finds scenario files, and reads them with all that they name. Every error of every file is found before anything runs.
struct ScenarioFiles {
    /// A scenario that can run.
    struct Ready: Sendable {
        let scenario: Scenario
        let inputs: ScenarioInputs
        var clock = RunClock.virtual
    }

    static let suffix = ScenarioInputReader.suffix
    /// Stands for the scenarios that ship.
    static let gallery = "@gallery"
    /// So many errors of a run are printed; a folder of files of another kind has more.
    private static let errorsMax = 200

    private(set) var ready: [Ready] = []
    private var reader = ScenarioInputReader()
    private let clock: RunClock?
    private let isAgainstOthers: Bool
    private let app: Scenario.Address?

    /// Reads all files among the arguments: files, folders, and ``gallery``. `clock` is the one that the user wants; nil: what the
    /// scenario wants. `isAgainstOthers`: the gateway is not the rig's. `app`: where an app connects that takes the place of the first client.
    init(
        _ arguments: [String], clock: RunClock? = nil, isAgainstOthers: Bool = false,
        app: Scenario.Address? = nil
    ) {
        (self.clock, self.isAgainstOthers, self.app) = (clock, isAgainstOthers, app)
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
    }

    /// Each with file, line and column.
    var errors: [String] {
        let all = self.reader.errors
        guard all.count > Self.errorsMax else { return all }
        return all.prefix(Self.errorsMax) + ["… \(all.count - Self.errorsMax) more errors"]
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
            let names = Resources.scenarioNames.map { String($0.dropLast(Self.suffix.count)) }
            let hint = Spelling.hint(given, of: names)
            return self.reader.fail(
                "\(Self.gallery) has no \(given) (waymark test --list \(Self.gallery) prints what it has)\(hint)"
            )
        }
        self.read(Resources.scenarioPath(name), name: "\(Self.gallery)/\(name)")
    }

    private mutating func read(_ path: String, name: String) {
        let (wanted, isAgainstOthers, app) = (self.clock, self.isAgainstOthers, self.app)
        let read = self.reader.read(path, name: name) { scenario in
            let scenario = app.map(scenario.withApp) ?? scenario
            return scenario.obstacles(scenario.clock(wanted: wanted))
                + (isAgainstOthers ? scenario.obstaclesAgainstOthers() : [])
        }
        guard let (described, inputs) = read else { return }
        let scenario = app.map(described.withApp) ?? described
        self.ready.append(
            Ready(scenario: scenario, inputs: inputs, clock: scenario.clock(wanted: wanted)))
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
}
