internal import ProcessIO
internal import WaymarkConfiguration
internal import WaymarkProtocol
internal import WaymarkScenario
internal import WaymarkTexts

/// The result of a scenario for people: a line if it passed, else all about what failed.
package struct ScenarioText: Sendable {
    private let result: ScenarioResult
    /// The file that the frames were written to; nil without one.
    private let trace: String?
    /// `waymark test` can repeat it.
    private let isOfFile: Bool

    package init(_ result: ScenarioResult, trace: String? = nil, isOfFile: Bool = true) {
        (self.result, self.trace, self.isOfFile) = (result, trace, isOfFile)
    }

    /// At most 80 columns wide.
    package var lines: [String] {
        if let problem = self.result.problem { return self.broken(problem) }
        guard !self.result.hasPassed else { return self.passed }
        var lines: [String] = []
        let failed = self.result.expectations.filter { !$0.hasPassed }
        for expectation in failed.filter(\.isCause) + failed.filter({ !$0.isCause }) {
            let location = expectation.location
            lines += self.header("FAILED", at: location.line > 0 ? "\(location)" : self.result.file)
            if lines.count == 1 { lines += self.about + self.programs(isEnded: true) }
            lines += [""] + expectation.explanation + [""]
        }
        if lines.isEmpty {
            lines +=
                self.header("FAILED", at: self.result.file) + self.about + self.programs(isEnded: true) + [""]
        }
        lines += self.unreached + self.lints + self.programs(isEnded: false)
        lines += self.replays.flatMap { FailureText.labelled("replay", $0) }
        return lines + self.lateness + self.again + [""]
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
            + Self.remark("\(count) in \(ClockText.seconds(self.result.end)) s\(note)") + self.narrow
            + self.replays.flatMap(Self.remark)
    }

    /// What a busy machine might fail, by the real clock.
    private var narrow: [String] {
        guard self.result.clock == .real else { return [] }
        return self.result.expectations.filter(\.isNarrow).flatMap { expectation -> [String] in
            guard case .passed(_, let margin?) = expectation.verdict, let window = expectation.window else {
                return []
            }
            let place = "\(expectation.location.line):\(expectation.location.column)"
            let text =
                "narrow: \(place) \(expectation.text) (\(ClockText.duration(margin)) of "
                + "\(ClockText.duration(window)) left)"
            return Self.remark(text)
        }
    }

    /// Below the first line of a scenario.
    private static func remark(_ text: String) -> [String] {
        TerminalText.wrapped(text, columns: FailureText.columns - 8, hanging: 0).map { "        " + $0 }
    }

    private func broken(_ problem: String) -> [String] {
        self.header("BROKEN", at: self.result.file)
            + Self.remark(problem)
            + (self.result.lastEntries.isEmpty ? [] : [""] + self.result.lastEntries + [""])
            + self.result.gatewayLog.flatMap { FailureText.labelled("gateway", $0) }
            + self.programs(isEnded: true) + self.programs(isEnded: false)
            + self.replays.flatMap { FailureText.labelled("replay", $0) } + self.again + [""]
    }

    // MARK: Programs, lints and how to repeat it

    /// Those that ended before the run are the first to look at.
    private func programs(isEnded: Bool) -> [String] {
        self.result.programs.filter { ($0.end != nil) == isEnded }.flatMap { program -> [String] in
            let lines = FailureText.labelled("program", "\(program.peer) \(program.end ?? "ran to the end")")
            return lines + program.output.flatMap { FailureText.labelled("", $0) }
        }
    }

    /// What replayed peers did not get or could not say. It decides nothing, but may explain what failed.
    private var replays: [String] {
        let problems = self.result.replayed.problems
        let rest = problems.count - Self.problemsMax
        return problems.prefix(Self.problemsMax).map {
            "\(ClockText.seconds($0.instant)) s: \($0.text)"
        } + (rest > 0 ? ["… \(rest) more"] : [])
    }

    /// So many problems of replayed peers are printed; the others are counted.
    private static let problemsMax = 5

    /// Why: a rig that is late itself sees late what came in time.
    private var lateness: [String] {
        guard self.result.clock == .real else { return [] }
        return FailureText.labelled(
            "rig", "its own timers were at most \(self.result.latenessMax.milliseconds) ms late")
    }

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
        guard self.isOfFile else { return [] }
        let file = Self.quoted(self.result.file)
        var lines: [String] = []
        if let trace { lines += FailureText.labelled("trace", trace) }
        if let problem = self.result.recordingProblem { lines += FailureText.labelled("recording", problem) }
        if let recording = self.result.recording {
            lines += [Self.whole("recording", recording)]
            let time = ClockText.seconds(self.result.lookAt)
            lines += self.command(
                "look", ["waymark recording show --at \(time)s", Self.quoted(recording)])
        }
        lines += self.command("again", ["waymark test", file, "--seed \(self.result.seed)\(self.clock)"])
        if trace == nil, self.result.recording == nil {
            lines += FailureText.labelled(
                "look", "the same with --trace FILE, for every frame and event as JSON")
        }
        return lines
    }

    private var clock: String { self.result.clock == .real ? " --clock real" : "" }

    /// A command in one line, or if that is too long in one for each part, as a shell reads it.
    private func command(_ label: String, _ parts: [String]) -> [String] {
        let line = Self.whole(label, parts.joined(separator: " "))
        guard TerminalText.columns(of: line) > FailureText.columns else { return [line] }
        return parts.enumerated().map { index, part in
            let text = (index == 0 ? "" : "  ") + part + (index + 1 < parts.count ? " \\" : "")
            return Self.whole(index == 0 ? label : "", text)
        }
    }

    /// A line that is copied, and so never broken.
    private static func whole(_ label: String, _ text: String) -> String {
        (FailureText.labelled(label, "-").first.map { String($0.dropLast()) } ?? "")
            + TerminalText.printable(text)
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

    /// The clocks of some runs, e.g. `virtual`.
    package static func clocks(_ results: [ScenarioResult]) -> String {
        let clocks = RunClock.allCases.filter { clock in results.contains { $0.clock == clock } }
        return clocks.map(\.rawValue).joined(separator: " and ")
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
