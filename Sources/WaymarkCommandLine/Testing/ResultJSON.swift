internal import WaymarkConfiguration
internal import WaymarkProtocol
internal import WaymarkRig
internal import WaymarkScenario
internal import WaymarkTexts

/// Results of scenarios, and scenarios themselves, as lines of JSON. Docs/cluster-json.md has every key.
enum ResultJSON {
    static func line(_ result: ScenarioResult) -> String {
        var object: [String: Any] = [
            "kind": "scenario", "file": result.file, "seed": Int(result.seed), "clock": result.clock.rawValue,
            "verdict": result.verdict,
            "seconds": self.seconds(result.end), "expectations": result.expectations.map(self.object),
            "unreached": result.unreachedCount,
            "lints": result.lints.filter { !$0.hasPassed || $0.allowance != nil }.map(self.object),
        ]
        object.set(nonEmpty: "about", result.about)
        object.set("problem", result.problem)
        if result.clock == .real {
            object["latenessSeconds"] = Double(result.latenessMax.milliseconds) / 1_000
        }
        if !result.programs.isEmpty { object["programs"] = result.programs.map(self.object) }
        let problems = result.replayed.problems
        if !problems.isEmpty {
            object["replayProblems"] = problems.map { problem -> [String: Any] in
                ["seconds": self.seconds(problem.instant), "text": problem.text]
            }
        }
        if !result.gatewayLog.isEmpty { object["gatewayLog"] = result.gatewayLog }
        object.set("recording", result.recording)
        object.set("recordingProblem", result.recordingProblem)
        return JSON.line(object)
    }

    /// What a scenario expects, without running it.
    static func line(listing scenario: Scenario) -> String {
        var object: [String: Any] = [
            "kind": "scenario", "file": scenario.file,
            "expectations": scenario.listing.map { expected -> [String: Any] in
                [
                    "line": expected.location.line, "column": expected.location.column, "text": expected.text,
                ]
            },
        ]
        object.set("about", scenario.about)
        return JSON.line(object)
    }

    private static func object(_ expectation: ReportedExpectation) -> [String: Any] {
        var object: [String: Any] = [
            "line": expectation.location.line, "column": expectation.location.column,
            "text": expectation.text,
        ]
        object.set(nonEmpty: "step", expectation.step)
        object.set(nonEmpty: "because", expectation.because)
        switch expectation.verdict {
        case .passed(let instant, let margin):
            object["verdict"] = "passed"
            object["seconds"] = self.seconds(instant)
            object.set("marginSeconds", margin.map { Double($0.milliseconds) / 1_000 })
        case .failed(let failure):
            object["verdict"] = "failed"
            object["seconds"] = self.seconds(failure.instant)
            object["expected"] = failure.expected
            object["explanation"] = expectation.explanation
            object["differences"] = (failure.nearest?.differences ?? []).map {
                ["path": $0.path, "expected": $0.expected, "seen": $0.seen]
            }
        }
        return object
    }

    private static func object(_ program: ReportedProgram) -> [String: Any] {
        var object: [String: Any] = ["peer": "\(program.peer)", "output": program.output]
        object.set("end", program.end)
        return object
    }

    private static func object(_ lint: ReportedLint) -> [String: Any] {
        var object: [String: Any] = [
            "rule": lint.rule, "sentence": lint.sentence,
            "findings": lint.findings.map { finding -> [String: Any] in
                var object: [String: Any] = ["seconds": self.seconds(finding.instant), "text": finding.text]
                object.set("peer", finding.peer.map { "\($0)" })
                return object
            },
        ]
        if let allowance = lint.allowance {
            object["allowance"] = allowance
            object["allowed"] = lint.allowedCount
        }
        return object
    }

    private static func seconds(_ instant: Instant) -> Double {
        Double(instant.nanoseconds / 1_000_000) / 1_000
    }
}
