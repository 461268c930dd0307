import Testing
import WaymarkConfiguration
import WaymarkProtocol
import WaymarkRig
import WaymarkScenario
import WaymarkTexts

/// What a report says of runs by the real clock.
@Suite struct RealReportTests {
    private static func expectation(_ verdict: Verdict) -> ReportedExpectation {
        var expectation = ReportedExpectation(
            "eventually phase active, within 500 ms",
            at: SourceLocation(file: "a.scenario.yaml", line: 4, column: 7), verdict)
        expectation.window = .milliseconds(500)
        return expectation
    }

    private static func result(_ clock: RunClock, margin: Duration) -> ScenarioResult {
        var result = ScenarioResult(file: "a.scenario.yaml")
        result.clock = clock
        result.expectations = [Self.expectation(.passed(at: Instant(nanoseconds: 0), margin: margin))]
        return result
    }

    @Test func `less than a fifth of the time left is told, by the real clock alone`() {
        #expect(
            ScenarioText(Self.result(.real, margin: .milliseconds(99))).lines.dropFirst(2) == [
                "        narrow: 4:7 eventually phase active, within 500 ms (99 ms of 500 ms",
                "        left)",
            ])
        #expect(ScenarioText(Self.result(.real, margin: .milliseconds(100))).lines.count == 2)
        #expect(ScenarioText(Self.result(.virtual, margin: .milliseconds(1))).lines.count == 2)
    }

    @Test func `a failure says how late the rig was, and how to repeat it`() {
        var result = Self.result(.real, margin: .zero)
        result.expectations = [
            Self.expectation(.failed(Failure("x", anchor: nil, at: Instant(nanoseconds: 0), nearest: nil)))
        ]
        result.latenessMax = .milliseconds(35)
        let lines = ScenarioText(result).lines
        #expect(lines.contains("  rig       its own timers were at most 35 ms late"))
        #expect(lines.contains("  again     waymark test a.scenario.yaml --seed 1 --clock real"))
        result.file = String(repeating: "folder/", count: 12) + "a.scenario.yaml"
        #expect(
            ScenarioText(result).lines.suffix(5) == [
                "  again     waymark test \\", "              \(result.file) \\",
                "              --seed 1 --clock real",
                "  look      the same with --trace FILE, for every frame and event as JSON", "",
            ])
    }

    @Test func `a summary names the clocks of its runs`() {
        let (virtual, real) = (Self.result(.virtual, margin: .zero), Self.result(.real, margin: .zero))
        #expect(ScenarioText.clocks([virtual, virtual]) == "virtual")
        #expect(ScenarioText.clocks([real]) == "real")
        #expect(ScenarioText.clocks([real, virtual]) == "virtual and real")
    }
}
