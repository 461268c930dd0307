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

    static let profileNames = [
        "full", "left-hand-traffic", "no-lanes", "short-text", "slow-reader", "two-maneuvers",
    ]

    private static func data(_ path: String) throws -> Data {
        let url = Bundle.module.bundleURL.appending(path: "Resources/\(path)")
        return try Data(contentsOf: url)
    }
}
