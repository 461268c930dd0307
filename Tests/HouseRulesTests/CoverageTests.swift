import Foundation
import Testing

/// The page on what the guides of CarPlay say: each row names what shows it, or says why it is outside.
@Suite struct CoverageTests {
    /// A row of a table whose first cell is an id: `| C-ALERT-01 | section | statement | message | page | shown by |`.
    private struct Row {
        let id: String
        let cells: [String]

        init?(_ line: String) {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard let id = cells.first, id.hasPrefix("C-") else { return nil }
            self.id = id
            self.cells = cells
        }
    }

    /// What exists in the package, as far as a row can name it.
    private struct Evidence {
        private let cases: SearchedText
        private var files: [String: String] = [:]
        private var anchors: [String: Set<String>] = [:]

        init() throws { self.cases = SearchedText(try Self.text("Docs/conformance-cases.md")) }

        private static func text(_ path: String) throws -> String {
            try String(contentsOf: packageRoot.appending(path: path), encoding: .utf8)
        }

        /// The faults of a row; none if all that it names exists.
        mutating func faults(of row: Row) -> [String] {
            guard row.cells.count == 6 else { return ["has \(row.cells.count) cells, not 6"] }
            let statement = row.cells[2]
            let page = row.cells[4]
            let shown = row.cells[5]
            var faults = row.cells[1].isEmpty || statement.isEmpty ? ["has no section or statement"] : []
            if shown.hasPrefix("outside") {
                if shown.firstMatch(of: /^outside: .{10,}/) == nil { faults.append("has no reason") }
                return faults
            }
            let links = page.matches(of: /\]\(([a-z-]+\.md)#([a-z0-9-]+)\)/)
            if links.isEmpty { faults.append("has no page with an anchor") }
            for link in links where !self.hasAnchor(String(link.2), in: String(link.1)) {
                faults.append("names \(link.1)#\(link.2), which does not exist")
            }
            return faults + self.faults(ofShown: shown)
        }

        /// Takes each test out of the cell; what is left must be nothing but commas.
        private mutating func faults(ofShown shown: String) -> [String] {
            var faults: [String] = []
            var count = 0
            for match in shown.matches(of: /`(Tests\/[^`]+\.(?:swift|py))`: `([^`]+)`/) {
                count += 1
                if !self.hasTest(String(match.2), in: String(match.1)) {
                    faults.append("names \(match.1): \(match.2), which does not exist")
                }
            }
            var rest = shown.replacing(/`(Tests\/[^`]+\.(?:swift|py))`: `([^`]+)`/, with: "")
            for match in rest.matches(of: /\b(?:CL|EP|GW|OB)-[A-Z]+(?:-\d+|-[A-Z]+)\b/) {
                count += 1
                if !self.cases.contains("| \(match.output) |") {
                    faults.append("names the case \(match.output), which does not exist")
                }
            }
            for match in rest.matches(of: /`@gallery\/([a-z0-9-]+)`/) {
                count += 1
                let file = "Sources/WaymarkCommandLine/Resources/scenarios/\(match.1).scenario.yaml"
                if !FileManager.default.fileExists(atPath: packageRoot.appending(path: file).path) {
                    faults.append("names @gallery/\(match.1), which does not exist")
                }
            }
            rest = rest.replacing(
                /\b(?:CL|EP|GW|OB)-[A-Z]+(?:-\d+|-[A-Z]+)\b|`@gallery\/[a-z0-9-]+`/, with: "")
            if !rest.allSatisfy({ $0 == "," || $0 == " " }) { faults.append("has more than tests: \(rest)") }
            if count == 0 { faults.append("has neither a test nor a reason why it is outside") }
            return faults
        }

        private mutating func hasTest(_ name: String, in path: String) -> Bool {
            if self.files[path] == nil { self.files[path] = (try? Self.text(path)) ?? "" }
            let file = self.files[path] ?? ""
            return path.hasSuffix(".py") ? file.contains("def \(name)(") : file.contains("func `\(name)`(")
        }

        /// Headings have the anchors that GitHub gives them; requirements have their own.
        private mutating func hasAnchor(_ anchor: String, in page: String) -> Bool {
            if self.anchors[page] == nil {
                let lines = ((try? Self.text("Docs/\(page)")) ?? "").components(separatedBy: "\n")
                let headings = lines.filter { $0.hasPrefix("#") }.map { line in
                    let title = line.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
                    return title.filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
                        .replacingOccurrences(of: " ", with: "-")
                }
                let own = lines.flatMap { $0.matches(of: /<a id="([^"]+)"/).map { String($0.1) } }
                self.anchors[page] = Set(headings).union(own)
            }
            return self.anchors[page]?.contains(anchor) == true
        }
    }

    private static func rows() throws -> [Row] {
        let page = packageRoot.appending(path: "Docs/coverage.md")
        return try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n").compactMap(
            Row.init)
    }

    @Test func `every statement of the guides is shown by a test that exists, or is outside for a reason`()
        throws
    {
        var evidence = try Evidence()
        let rows = try Self.rows()
        #expect(rows.count > 80)
        for row in rows {
            for fault in evidence.faults(of: row) { Issue.record("\(row.id) \(fault)") }
        }
    }

    @Test func `every row of the coverage has an id of its own`() throws {
        var ids: Set<String> = []
        for row in try Self.rows() {
            #expect(row.id.wholeMatch(of: /C-[A-Z]+-\d\d/) != nil, "\(row.id)")
            #expect(ids.insert(row.id).inserted, "\(row.id) is there twice")
        }
    }

    @Test(arguments: [
        "| C-X-01 | s | a statement | M | [protocol](protocol.md#no-such-anchor) | GW-BODY-01 |",
        "| C-X-01 | s | a statement | M | protocol | GW-BODY-01 |",
        "| C-X-01 | s | a statement | M | [protocol](protocol.md#alerts) | GW-BODY-99 |",
        "| C-X-01 | s | a statement | M | [protocol](protocol.md#alerts) | `@gallery/no-such-name` |",
        "| C-X-01 | s | a statement | M | [protocol](protocol.md#alerts) | `Tests/HouseRulesTests/CoverageTests.swift`: `none` |",
        "| C-X-01 | s | a statement | M | [protocol](protocol.md#alerts) | the same test |",
        "| C-X-01 | s | a statement | M | [protocol](protocol.md#alerts) | |",
        "| C-X-01 | s | a statement | | | outside: |",
        "| C-X-01 | s | a statement | | outside |",
    ])
    func `a row that shows nothing is found`(_ line: String) throws {
        var evidence = try Evidence()
        #expect(!evidence.faults(of: try #require(Row(line))).isEmpty)
    }

    @Test(arguments: [
        "| C-X-01 | s | a statement | M | [protocol](protocol.md#alerts) | GW-BODY-01, CL-LAW-SHARE, `@gallery/alert-answered` |",
        "| C-X-01 | s | a statement | M | [protocol](protocol.md#req-num-03) | `Tests/HouseRulesTests/CoverageTests.swift`: `a row that shows nothing is found` |",
        "| C-X-01 | s | a statement | | | outside: images are not exchanged |",
    ])
    func `a row that shows something is allowed`(_ line: String) throws {
        var evidence = try Evidence()
        #expect(evidence.faults(of: try #require(Row(line))) == [])
    }
}
