internal import Foundation
internal import WaymarkScenario

/// A scenario in a file `*.scenario.yaml`, see Docs/testing.md, with all that it names, ready to run.
public struct ScenarioFile: Sendable, CustomStringConvertible {
    /// The path as it was given.
    public let path: String
    private let scenario: Scenario
    private let inputs: ScenarioInputs

    /// Reads a scenario. Routes, profiles and settings that it names are files beside it, or those that ship.
    ///
    /// - Parameter path: In `swift test`, from the folder of the package.
    /// - Throws: ``RigError``, which has a line for each error of the file, with line and column.
    public init(_ path: String) throws(RigError) {
        self.path = path
        var reader = ScenarioInputReader()
        guard let read = reader.read(path, name: path, obstacles: { $0.obstacles() }) else {
            throw RigError("", reader.errors.joined(separator: "\n"))
        }
        (self.scenario, self.inputs) = read
    }

    /// Returns all scenarios in a folder and the folders in it, in the order of their paths.
    ///
    /// - Throws: ``RigError``, which has the errors of all files; also if there is no scenario.
    public static func all(in folder: String) throws(RigError) -> [ScenarioFile] {
        let found = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        let names = found.filter { $0.hasSuffix(ScenarioInputReader.suffix) }.sorted()
        guard !names.isEmpty else {
            throw RigError("folder", "\(folder) has no *\(ScenarioInputReader.suffix)")
        }
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
    /// A description of what it shows, in its own words; may be empty.
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
