import Foundation
import Testing

/// Docs/architecture.md lists functions by name, and must follow when they are renamed.
@Suite struct ArchitectureTests {
    @Test func `the page names functions that exist`() throws {
        let files = try swiftModules.flatMap { try sources(of: $0) }.map {
            SearchedText(try String(contentsOf: $0, encoding: .utf8))
        }
        let page = try String(
            contentsOf: packageRoot.appending(path: "Docs/architecture.md"), encoding: .utf8)
        let matches = page.matches(of: /`([A-Z]\w+)\.(\w+)/)
        #expect(matches.count > 10)
        for match in matches {
            let types = ["struct", "class", "enum", "extension", "actor"].map { "\($0) \(match.output.1)" }
            let members = ["func", "case", "var", "let"].flatMap { keyword in
                ["\(keyword) \(match.output.2)", "\(keyword) `\(match.output.2)"]
            }
            #expect(
                files.contains { types.contains(where: $0.contains) && members.contains(where: $0.contains) },
                "\(match.output.1).\(match.output.2)")
        }
    }
}
