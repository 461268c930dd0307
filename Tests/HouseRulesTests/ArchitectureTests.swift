import Foundation
import Testing

/// Docs/architecture.md lists functions by name, and must follow when they are renamed.
@Suite struct ArchitectureTests {
    /// The page describes the module `WaymarkConnections`.
    private static let isComplete = FileManager.default.fileExists(
        atPath: packageRoot.appending(path: "Sources/WaymarkConnections").path)

    @Test(.enabled(if: isComplete, "Sources/WaymarkConnections does not exist"))
    func `the page names functions that exist`() throws {
        let files = try allowedImports.flatMap { try sources(of: $0.module) }.map {
            try String(contentsOf: $0, encoding: .utf8)
        }
        let page = try String(
            contentsOf: packageRoot.appending(path: "Docs/architecture.md"), encoding: .utf8)
        for match in page.matches(of: /`([A-Z]\w+)\.(\w+)/) {
            let type = try Regex("\\b(struct|class|enum|extension|actor) \(match.output.1)\\b")
            let member = try Regex("\\b(func|case|var|let) `?\(match.output.2)\\b")
            #expect(
                files.contains { $0.contains(type) && $0.contains(member) },
                "\(match.output.1).\(match.output.2)")
        }
    }
}
