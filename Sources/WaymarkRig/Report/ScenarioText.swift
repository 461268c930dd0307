internal import ProcessIO
internal import WaymarkConfiguration
internal import WaymarkProtocol

/// The result of a scenario for people: a line if it passed, else all about what failed.
package struct ScenarioText: Sendable {
    private let result: ScenarioResult
    /// The file that the frames were written to; nil without one.
    private let trace: String?

    package init(_ result: ScenarioResult, trace: String? = nil) {
        (self.result, self.trace) = (result, trace)
    }

    /// At most 80 columns wide.
    package var lines: [String] {
        if let problem = self.result.problem { return self.broken(problem) }
        guard !self.result.hasPassed else { return self.passed }
        var lines: [String] = []
        for expectation in self.result.expectations {
            guard !expectation.hasPassed else { continue }
            let location = expectation.location
            lines += self.header("FAILED", at: location.line > 0 ? "\(location)" : self.result.file)
            if lines.count == 1 { lines += self.about }
            lines += [""] + expectation.explanation + [""]
        }
        if lines.isEmpty { lines += self.header("FAILED", at: self.result.file) + self.about + [""] }
        return lines + self.unreached + self.lints + self.again + [""]
    }

    private var about: [String] {
        self.result.about.isEmpty
            ? []
            : TerminalText.wrapped(self.result.about, columns: FailureText.columns, hanging: 0)
    }

    /// What happened, where, and on the right how it was run.
    private func header(_ word: String, at place: String) -> [String] {
        let run = "\(self.result.clock), seed \(self.result.seed)"
        let text = "\(word)  \(TerminalText.printable(place))"
        let gap = FailureText.columns - TerminalText.columns(of: text) - run.count
        if gap >= 2 { return [text + String(repeating: " ", count: gap) + run] }
        // Why not at a space alone: paths have none.
        let rest = TerminalText.wrapped(place, columns: FailureText.columns - 8, hanging: 0)
        return rest.enumerated().map { ($0 == 0 ? "\(word)  " : "        ") + $1 } + ["        " + run]
    }

    private var passed: [String] {
        let count = GuidanceText.counted(self.result.expectations.count, "expectation")
        let lints = self.result.lints.filter { $0.allowance != nil }
        let allowed = lints.filter { $0.allowedCount > 0 }.map(\.rule)
        let unneeded = lints.filter { $0.allowedCount == 0 }.map(\.rule)
        var note = allowed.isEmpty ? "" : "; allowed: \(allowed.joined(separator: ", "))"
        if !unneeded.isEmpty { note += "; need not be allowed: \(unneeded.joined(separator: ", "))" }
        return self.header("passed", at: self.result.file)
            + TerminalText.wrapped(
                "\(count) in \(ClockText.seconds(self.result.end)) s\(note)",
                columns: FailureText.columns - 8,
                hanging: 0
            ).map { "        " + $0 }
    }

    private func broken(_ problem: String) -> [String] {
        self.header("BROKEN", at: self.result.file)
            + TerminalText.wrapped(problem, columns: FailureText.columns - 8, hanging: 0).map {
                "        " + $0
            } + (self.result.lastEntries.isEmpty ? [] : [""] + self.result.lastEntries + [""])
            + self.again + [""]
    }

    // MARK: Lints and how to repeat it

    private var unreached: [String] {
        let count = self.result.unreachedCount
        guard count > 0 else { return [] }
        return FailureText.labelled(
            "later", "\(GuidanceText.counted(count, "expectation")) of steps that did not begin")
    }

    /// So many findings of a rule are printed; the others are counted.
    private static let findingsMax = 5

    private var lints: [String] {
        let broken = self.result.lints.filter { !$0.hasPassed }
        var lines: [String] = []
        for lint in broken {
            lines += FailureText.labelled("lint", "\(lint.rule): \(lint.sentence)")
            for finding in lint.findings.prefix(Self.findingsMax) {
                let peer = finding.peer.map { " \($0)" } ?? ""
                lines += FailureText.labelled(
                    "", "\(ClockText.seconds(finding.instant))\(peer): \(finding.text)")
            }
            let rest = lint.findings.count - Self.findingsMax
            if rest > 0 { lines += FailureText.labelled("", "… \(rest) more") }
        }
        let clean = self.result.lints.count(where: { $0.findings.isEmpty })
        if broken.isEmpty, clean > 0 {
            lines += FailureText.labelled("lint", "\(GuidanceText.counted(clean, "rule")) found nothing")
        }
        return lines
    }

    private var again: [String] {
        let file = Self.quoted(self.result.file)
        var lines: [String] = []
        if let trace { lines += FailureText.labelled("trace", trace) }
        lines += FailureText.labelled("again", "waymark test \(file) --seed \(self.result.seed)")
        if trace == nil {
            lines += FailureText.labelled(
                "look", "the same with --trace FILE, for every frame and event as JSON")
        }
        return lines
    }

    /// `text` as one word of a shell.
    private static func quoted(_ text: String) -> String {
        let plain = text.unicodeScalars.allSatisfy {
            $0.isASCII
                && ($0.properties.isAlphabetic || ("0"..."9").contains($0)
                    || "-_./:@+".unicodeScalars.contains($0))
        }
        return plain && !text.isEmpty
            ? text
            : "'\(text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''"))'"
    }

    /// The last line: how many scenarios failed, passed, and could not be run.
    package static func summary(_ results: [ScenarioResult]) -> String {
        let broken = results.count { $0.problem != nil }
        let passed = results.count(where: \.hasPassed)
        let failed = results.count - broken - passed
        var parts: [String] = []
        if broken > 0 { parts.append("\(broken) broken") }
        if failed > 0 { parts.append("\(failed) failed") }
        parts.append("\(passed) passed")
        return parts.joined(separator: ", ")
    }
}
