import Foundation
import Testing

/// The requirements of Docs/protocol.md: what their ids and links promise to readers.
@Suite struct RequirementTests {
    struct Requirement {
        let anchor: Substring
        let id: Substring
        let target: Substring
        let area: Substring
        let number: Int?
        let text: Substring
    }

    static func requirements() throws -> [Requirement] {
        let page = try ProtocolPageTests.text("Docs/protocol.md")
        let pattern = /<a id="([^"]*)"><\/a>\[(REQ-([A-Z]+)-(\d\d))\]\(#([^)]*)\) (.+(?:\n  .+)*)/
        return page.matches(of: pattern).map { match in
            Requirement(
                anchor: match.1, id: match.2, target: match.5, area: match.3, number: Int(match.4),
                text: match.6)
        }
    }

    @Test func `every requirement's id equals its anchor`() throws {
        let requirements = try Self.requirements()
        // Also finds an anchor whose requirement is not written like the others.
        #expect(
            requirements.count
                == (try ProtocolPageTests.text("Docs/protocol.md")).matches(of: /<a id="req-/).count)
        #expect(requirements.count > 200)
        for requirement in requirements {
            #expect(requirement.anchor == requirement.id.lowercased())
            #expect(requirement.target == requirement.anchor)
        }
    }

    @Test func `the ids of an area ascend, and every area is in the table`() throws {
        let requirements = try Self.requirements()
        for (area, members) in Dictionary(grouping: requirements, by: \.area) {
            let numbers = members.compactMap(\.number)
            #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "\(area)")
        }
        let page = try ProtocolPageTests.text("Docs/protocol.md")
        let top = page[..<(try #require(page.range(of: "\n## ")).lowerBound)]
        let listed = top.matches(of: /(?m)^\|.*\| ([A-Z, ]+) \|$/).flatMap {
            $0.output.1.split(separator: ", ")
        }
        #expect(Set(listed) == Set(requirements.map(\.area)))
    }

    @Test func `every requirement says in its first sentence whom it binds`() throws {
        for requirement in try Self.requirements() {
            let sentence = requirement.text.replacing("\n ", with: "").prefix { $0 != "." }
            #expect(
                sentence.contains(/(?i)\b(the|a|an) (gateway|peer|endpoint|client|observer)\b/),
                "\(requirement.id)")
        }
    }

    @Test func `every id that a file names exists`() throws {
        let ids = Set(try Self.requirements().map(\.id))
        for folder in ["Sources", "Tests", "Docs", "Protos", "CHANGELOG.md", "README.md", "CONTRIBUTING.md"] {
            for path in try Self.files(in: folder) {
                for match in try ProtocolPageTests.text(path).matches(of: /REQ-[A-Z]+-\d\d/) {
                    #expect(ids.contains(match.output), "\(path): \(match.output)")
                }
            }
        }
    }

    /// The source files and pages of a folder, or the file itself.
    private static func files(in place: String) throws -> [String] {
        guard !place.hasSuffix(".md") else { return [place] }
        let folder = ProtocolPageTests.package.appending(path: place)
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path).map { "\(place)/\($0)" }
            .filter { path in [".swift", ".md", ".proto", ".py", ".c", ".h"].contains { path.hasSuffix($0) } }
    }
}
