import Foundation
import FoundationXML
import ProcessIO
import Testing
import WaymarkConfiguration
import WaymarkProtocol
import WaymarkScenario

@testable import WaymarkRig

@Suite struct ReportTests {
    private static let golden = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden")

    @Test(arguments: FailedRuns.all.map(\.name))
    func `a failure is explained as in its golden file`(_ name: String) throws {
        let result = try #require(FailedRuns.all.first { $0.name == name }).result
        let text = ScenarioText(result).lines.joined(separator: "\n") + "\n"
        let file = Self.golden.appending(path: "\(name).txt")
        // To write them anew: WAYMARK_WRITE_GOLDEN=1, then read the difference.
        if ProcessInfo.processInfo.environment["WAYMARK_WRITE_GOLDEN"] != nil {
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(try text == String(contentsOf: file, encoding: .utf8))
    }

    @Test(arguments: FailedRuns.all.map(\.name))
    func `no line is wider than 80 columns, and none controls the terminal`(_ name: String) throws {
        let result = try #require(FailedRuns.all.first { $0.name == name }).result
        for line in ScenarioText(result, trace: "a-trace.jsonl").lines {
            #expect(TerminalText.columns(of: line) <= 80, "\(line)")
            #expect(TerminalText.printable(line) == line)
        }
    }

    @Test func `a scenario that passed is two lines, with what was allowed`() {
        var result = RunSketch().result([], at: 95_250)
        result.expectations = [
            ReportedExpectation(
                "rate at most 10 per 1 s", at: .init(file: "a", line: 1, column: 1),
                .passed(at: result.end, margin: nil))
        ]
        #expect(
            ScenarioText(result).lines == [
                "passed  right-turn-lanes.scenario.yaml                           virtual, seed 1",
                "        1 expectation in 95.250 s",
            ])
        result.lints[0].findings = [.init("x", of: nil, at: result.end, index: 0)]
        #expect(!result.hasPassed)
        result.lints[0].findings = []
        result.lints[0].allowance = "this map has no arrows"
        #expect(
            ScenarioText(result).lines.last
                == "        1 expectation in 95.250 s; need not be allowed: LINT-LANE-HIGHLIGHT")
        result.lints[0].allowedCount = 1
        #expect(result.hasPassed)
        #expect(
            ScenarioText(result).lines.last
                == "        1 expectation in 95.250 s; allowed: LINT-LANE-HIGHLIGHT")
    }

    @Test func `the summary counts what failed, passed and broke`() {
        let passed = RunSketch().result([])
        #expect(ScenarioText.summary([passed]) == "1 passed")
        let all = FailedRuns.all.map(\.result) + [passed]
        #expect(ScenarioText.summary(all) == "1 broken, \(all.count - 2) failed, 1 passed")
    }

    @Test func `a parser reads the JUnit file, and finds each test case and why it failed`() throws {
        let results = FailedRuns.all.map(\.result) + [RunSketch().result([])]
        let xml = try Elements(JUnitReport.text(results))
        #expect(xml.named("testsuite").map { $0["name"] } == results.map(\.file))
        #expect(xml.named("testsuites").first?["errors"] == "1")
        let failures = results.reduce(0) { sum, result in
            sum + result.expectations.count { !$0.hasPassed } + result.lints.count { !$0.hasPassed }
        }
        #expect(xml.named("failure").count == failures)
        #expect(xml.named("testsuites").first?["failures"] == "\(failures)")
        #expect(xml.named("testsuites").first?["tests"] == "\(xml.named("testcase").count)")
        #expect(xml.named("testcase").first?["name"]?.hasPrefix("9:5 eventually next.type rightTurn") == true)
        #expect(xml.named("property").first == ["name": "seed", "value": "1"])
        #expect(xml.text.contains("[3]             expected [4]"))
        #expect(xml.text.contains("& <b>名古屋"))
    }

    @Test func `a parser reads the HTML file, which has no script and names each scenario`() throws {
        let results = FailedRuns.all.map(\.result)
        let text = HTMLReport.text(results)
        let html = try Elements(text.replacingOccurrences(of: "<!DOCTYPE html>\n", with: ""))
        #expect(html.named("script").isEmpty)
        #expect(html.named("svg").count == results.count)
        #expect(html.named("h2").count == results.count)
        let targets = html.named("a").compactMap { $0["href"]?.dropFirst() }.map(String.init)
        #expect(targets == html.named("h2").compactMap { $0["id"] })
        #expect(html.text.contains("0.050 s: active, maneuver 3, continue"))
        #expect(!text.contains("http"))
    }
}

/// The elements of a document, as a parser finds them.
private final class Elements: NSObject, XMLParserDelegate {
    private var elements: [(name: String, attributes: [String: String])] = []
    private(set) var text = ""

    init(_ xml: String) throws {
        super.init()
        let parser = XMLParser(data: Data(xml.utf8))
        parser.delegate = self
        let isRead = parser.parse()
        let error = parser.parserError.map { "\($0)" } ?? ""
        try #require(isRead, "line \(parser.lineNumber): \(error)")
    }

    func named(_ name: String) -> [[String: String]] {
        self.elements.filter { $0.name == name }.map(\.attributes)
    }

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?,
        qualifiedName: String?, attributes: [String: String]
    ) {
        self.elements.append((elementName, attributes))
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { self.text += string }
}
