internal import ProcessIO
internal import WaymarkConfiguration
internal import WaymarkProtocol
internal import WaymarkScenario
internal import WaymarkTexts

/// Results as JUnit XML: a test case for each expectation and each lint rule.
package enum JUnitReport {
    package static func text(_ results: [ScenarioResult]) -> String {
        let suites = results.map(self.suite)
        let totals = self.counts(suites.map(\.counts).reduce(Counts(), +))
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"waymark test\"\(totals)>\n"
            + suites.map(\.text).joined() + "</testsuites>\n"
    }

    private struct Counts {
        var tests = 0
        var failures = 0
        var errors = 0

        static func + (left: Counts, right: Counts) -> Counts {
            Counts(
                tests: left.tests + right.tests, failures: left.failures + right.failures,
                errors: left.errors + right.errors)
        }
    }

    private static func counts(_ counts: Counts) -> String {
        " tests=\"\(counts.tests)\" failures=\"\(counts.failures)\" errors=\"\(counts.errors)\""
    }

    private static func suite(_ result: ScenarioResult) -> (text: String, counts: Counts) {
        var cases =
            result.expectations.map { self.testCase($0, result) }
            + result.lints.map { self.testCase($0, result) }
        var counts = Counts(
            tests: cases.count,
            failures: result.expectations.count { !$0.hasPassed } + result.lints.count { !$0.hasPassed })
        if let problem = result.problem {
            cases.append(self.testCase("the scenario runs", result, at: nil, ("error", problem), ""))
            counts.tests += 1
            counts.errors += 1
        }
        let recording = result.recording.map { [("recording", $0)] } ?? []
        let properties =
            ([("seed", "\(result.seed)"), ("clock", "\(result.clock)"), ("about", result.about)] + recording)
            .map {
                "      <property name=\"\($0)\" value=\"\(self.escaped($1))\"/>\n"
            }
        let head =
            "  <testsuite name=\"\(self.escaped(result.file))\"\(self.counts(counts)) time=\"\(ClockText.seconds(result.end))\">\n"
        return (
            head + "    <properties>\n" + properties.joined() + "    </properties>\n" + cases.joined()
                + "  </testsuite>\n", counts
        )
    }

    private static func testCase(_ expectation: ReportedExpectation, _ result: ScenarioResult) -> String {
        let name = "\(expectation.location.line):\(expectation.location.column) \(expectation.text)"
        switch expectation.verdict {
        case .passed(let instant, _): return self.testCase(name, result, at: instant)
        case .failed(let failure):
            return self.testCase(
                name, result, at: failure.instant,
                ("failure", failure.expected.split(separator: "\n").joined(separator: "; ")),
                expectation.explanation.joined(separator: "\n"))
        }
    }

    private static func testCase(_ lint: ReportedLint, _ result: ScenarioResult) -> String {
        guard !lint.hasPassed else { return self.testCase(lint.rule, result, at: nil) }
        let findings = lint.findings.map {
            "\(ClockText.seconds($0.instant)) \($0.peer.map { "\($0): " } ?? "")\($0.text)"
        }
        return self.testCase(
            lint.rule, result, at: lint.findings.first?.instant, ("failure", lint.sentence),
            findings.joined(separator: "\n"))
    }

    /// `outcome` is the element that says why it did not pass, with its message; nil if it passed.
    private static func testCase(
        _ name: String, _ result: ScenarioResult, at instant: Instant?,
        _ outcome: (element: String, message: String)? = nil,
        _ text: String = ""
    ) -> String {
        let time = ClockText.seconds(instant ?? result.end)
        let head =
            "    <testcase classname=\"\(self.escaped(result.file))\" name=\"\(self.escaped(name))\" time=\"\(time)\""
        guard let (element, message) = outcome else { return head + "/>\n" }
        return head + ">\n      <\(element) message=\"\(self.escaped(message))\">"
            + text.split(separator: "\n", omittingEmptySubsequences: false).map { self.escaped(String($0)) }
            .joined(separator: "\n") + "</\(element)>\n    </testcase>\n"
    }

    /// Text for an attribute or an element. What XML cannot hold becomes a space.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in TerminalText.printable(text).unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\u{FFFE}", "\u{FFFF}": escaped += " "
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
