internal import Foundation

/// Files that ship with the project.
enum Resources {
    /// The content of a sample route, e.g. `vaduz-balzers`.
    static func route(_ name: String) throws -> [UInt8] { [UInt8](try self.data("routes/\(name).json")) }

    /// The content of a profile, e.g. `short-text`; nil if there is none of that name.
    static func profile(_ name: String) -> Data? {
        guard self.profileNames.contains(name) else { return nil }
        do { return try self.data("profiles/\(name).json") } catch { return nil }
    }

    /// The scenarios that ship, by the names of their files.
    static let scenarioNames: [String] = {
        do {
            let names = try FileManager.default.contentsOfDirectory(atPath: url("scenarios").path)
            return names.filter { $0.hasSuffix(ScenarioFiles.suffix) }.sorted()
        } catch {
            return []  // They are not installed: the gallery is empty, and a run of it says so.
        }
    }()

    static func scenarioPath(_ name: String) -> String { self.url("scenarios/\(name)").path }

    /// Where the JSON Schema of scenario files is.
    static var scenarioSchemaPath: String { Self.scenarioPath("scenario.schema.json") }

    /// The JSON Schema of scenario files.
    static func scenarioSchema() throws -> String {
        String(decoding: try self.data("scenarios/scenario.schema.json"), as: UTF8.self)
    }

    /// The JSON Schema of the faults of a proxy.
    static func faultsSchema() throws -> String {
        String(decoding: try self.data("scenarios/faults.schema.json"), as: UTF8.self)
    }

    static let routeNames = [
        "heidelberg-lanes", "singapore-left-hand", "vaduz-balzers", "vaduz-balzers-charging",
        "vaduz-balzers-limits",
    ]

    static let profileNames = [
        "full", "left-hand-traffic", "no-lanes", "short-text", "slow-reader", "two-maneuvers",
    ]

    private static func data(_ path: String) throws -> Data { try Data(contentsOf: self.url(path)) }

    private static func url(_ path: String) -> URL {
        Bundle.module.bundleURL.appending(path: "Resources/\(path)")
    }
}
