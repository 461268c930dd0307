package import Foundation
package import WaymarkRoutes

/// Answers of routing engines that tests read: those that ship with the package, and recorded ones in a folder beside it.
///
/// The recorded ones are those of `routes.txt`, so that a file that is added to the folder fails no test of others.
package enum RecordedRoutes {
    package struct File: Sendable {
        package let url: URL
        /// Its path in the folder.
        package let name: String
    }

    /// The package.
    package static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The sample routes that ship with the project.
    package static let shipped = Self.files(
        in: root.appending(path: "Sources/WaymarkCommandLine/Resources/routes"))

    /// The files of `routes.txt` or, with `WAYMARK_ROUTES_ALL`, all files in `WAYMARK_ROUTES` or in the folder beside the package; empty,
    /// with a notice, if there is no such folder.
    package static let recorded: [File] = {
        let environment = ProcessInfo.processInfo.environment
        let folder =
            environment["WAYMARK_ROUTES"].map { URL(filePath: $0) }
            ?? root.deletingLastPathComponent().appending(path: "shared/routes")
        let all = Self.files(in: folder)
        if all.isEmpty { print("notice: no recorded routes in \(folder.path): set WAYMARK_ROUTES; skipped") }
        guard environment["WAYMARK_ROUTES_ALL"] == nil else { return all }
        return all.filter { Self.listed.contains($0.name) }
    }()

    /// The names in `routes.txt`.
    private static let listed: Set<String> = {
        let list = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "routes.txt")
        let text = FileManager.default.contents(atPath: list.path).map { String(decoding: $0, as: UTF8.self) }
        return Set((text ?? "").split(separator: "\n").map(String.init))
    }()

    /// The JSON files below `folder`, without recorded drives.
    private static func files(in folder: URL) -> [File] {
        let base = folder.standardizedFileURL.path
        let found = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return (found?.compactMap { $0 as? URL } ?? [])
            .filter { $0.pathExtension == "json" && !$0.path.contains("/traces/") }
            .map { File(url: $0, name: String($0.standardizedFileURL.path.dropFirst(base.count + 1))) }
            .sorted { $0.name < $1.name }
    }
}

extension RouteAnswer {
    /// A route that ships, by its name.
    package static func shipped(_ name: String) throws -> RouteAnswer {
        let file = RecordedRoutes.root.appending(
            path: "Sources/WaymarkCommandLine/Resources/routes/\(name).json")
        return try RouteReader.read(Array(try Data(contentsOf: file)))
    }
}
