import Foundation
import Testing
import WaymarkRoutes

/// Real answers of engines: those shipped with the package, and those in a folder beside it.
struct RouteFile: Sendable, CustomTestStringConvertible {
    let url: URL
    let name: String

    var testDescription: String { self.name }

    func bytes() throws -> [UInt8] { [UInt8](try Data(contentsOf: self.url)) }

    /// The answer, parsed by another JSON parser.
    func json() throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: self.url)) as? [String: Any])
    }

    func answer(_ options: RouteReadingOptions = RouteReadingOptions()) throws -> RouteAnswer {
        try RouteReader.read(self.bytes(), options: options)
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The sample routes that ship with the project.
    static let shipped: [RouteFile] = files(
        in: root.appending(path: "Sources/WaymarkCommandLine/Resources/routes"))

    /// The files of `WAYMARK_ROUTES` or of the folder beside the package; empty, with a notice, if there is none.
    static let recorded: [RouteFile] = {
        let folder =
            ProcessInfo.processInfo.environment["WAYMARK_ROUTES"].map { URL(filePath: $0) }
            ?? root.deletingLastPathComponent().appending(path: "shared/routes")
        let found = files(in: folder)
        if found.isEmpty {
            print("notice: no recorded routes in \(folder.path): set WAYMARK_ROUTES; skipped")
        }
        return found
    }()

    /// The files that contain routes.
    static let readable: [RouteFile] = (shipped + recorded).filter { file in
        (try? file.answer()) != nil
    }

    static func named(_ name: String) -> RouteFile? {
        (recorded + shipped).first { $0.name.hasSuffix(name) }
    }

    private static func files(in folder: URL) -> [RouteFile] {
        let base = folder.standardizedFileURL.path
        let found = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return (found?.compactMap { $0 as? URL } ?? [])
            .filter { $0.pathExtension == "json" && !$0.path.contains("/traces/") }
            .map { RouteFile(url: $0, name: String($0.standardizedFileURL.path.dropFirst(base.count + 1))) }
            .sorted { $0.name < $1.name }
    }
}
