internal import ProcessIO
package import WaymarkHistory
internal import WaymarkProtocol
internal import WaymarkScenario
internal import WaymarkTexts

/// Why an expectation failed, for people: what was expected, the nearest thing that was seen and how it differs, what crossed
/// around it, and what the vehicle showed.
package struct FailureText: Sendable {
    /// No line is longer.
    package static let columns = 80
    /// Where the text behind a label begins.
    private static let indent = 12
    private static let entriesBefore = 7
    private static let entriesMax = 20
    private static let timeLineSteps = 8
    private static let subjectColumnsMax = 26

    private let history: History
    private let expectation: ReportedExpectation
    private let failure: Failure
    /// The entry that the shown ones are around.
    private let center: Int?

    /// nil if the expectation passed.
    package init?(_ expectation: ReportedExpectation, in history: History) {
        guard case .failed(let failure) = expectation.verdict else { return nil }
        (self.history, self.expectation, self.failure) = (history, expectation, failure)
        let last = history.count(upTo: failure.instant)
        self.center = failure.nearest?.index ?? failure.anchor ?? (last > 0 ? last - 1 : nil)
    }

    /// At most ``columns`` wide.
    package var lines: [String] {
        var lines: [String] = []
        if !self.expectation.step.isEmpty { lines += Self.labelled("step", self.expectation.step) }
        lines += self.expected
        if !self.expectation.because.isEmpty { lines += Self.labelled("because", self.expectation.because) }
        lines += self.event + self.nearest + [""]
        let entries = self.entries
        return lines + (entries.isEmpty ? [] : entries + [""]) + self.vehicles
    }

    // MARK: Expected and nearest

    /// The first line of what was expected, and its conditions below it.
    private var expected: [String] {
        var parts = self.failure.expected.split(separator: "\n").map(String.init)
        guard !parts.isEmpty else { return Self.labelled("expected", self.expectation.text) }
        let first = parts.removeFirst()
        return Self.labelled("expected", first)
            + parts.flatMap {
                Self.indented(TerminalText.printable($0), by: Self.indent + 2, hanging: 20)
            }
    }

    private var event: [String] {
        let decided = "decided at \(ClockText.seconds(self.failure.instant)) s"
        guard let anchor = self.failure.anchor, self.history.entries.indices.contains(anchor) else {
            return Self.labelled("event", "the beginning; \(decided)")
        }
        let entry = self.history.entries[anchor]
        return Self.labelled("event", "at \(ClockText.seconds(entry.instant)) s; \(decided)")
    }

    private var nearest: [String] {
        guard let nearest = self.failure.nearest, self.history.entries.indices.contains(nearest.index) else {
            return Self.labelled("nearest", "nothing like it was seen")
        }
        let instant = ClockText.seconds(self.history.entries[nearest.index].instant)
        let count = nearest.differences.count
        guard count > 0 else { return Self.labelled("seen", "at \(instant) s") }
        let width = max(20, min(24, (nearest.differences.map(\.path.count).max() ?? 0) + 2))
        return Self.labelled(
            "nearest",
            "at \(instant) s; \(GuidanceText.counted(count, "value")) \(count == 1 ? "is" : "are") different")
            + nearest.differences.flatMap { self.lines($0, width) }
    }

    /// Path, what was seen, and what was expected: in a line, or one below the other.
    private func lines(_ difference: FieldDifference, _ width: Int) -> [String] {
        let padding = String(repeating: " ", count: Self.indent + 2)
        let name = TerminalText.printable(difference.path)
        let path = Self.padded(name, max(width, name.count + 2))
        let seen = TerminalText.printable(difference.seen)
        let expected = "expected \(TerminalText.printable(difference.expected))"
        let line = padding + path + Self.padded(seen, 16) + (seen.count >= 16 ? "  " : "") + expected
        if TerminalText.columns(of: line) <= Self.columns { return [line] }
        return Self.indented(path + seen, by: padding.count, hanging: 4)
            + Self.indented(expected, by: padding.count + 4, hanging: 2)
    }

    // MARK: What crossed

    private func isShown(_ entry: History.Entry) -> Bool {
        if entry.index == self.center || entry.index == self.failure.anchor { return true }
        if entry.isKeepalive { return false }
        guard let peer = entry.peer else { return true }
        return self.expectation.subjects.isEmpty || self.expectation.subjects.contains(peer)
    }

    private var entries: [String] {
        guard let center else { return [] }
        let all = self.history.entries
        var before: [Int] = []
        var position = center - 1
        while position >= 0, before.count < Self.entriesBefore {
            if self.isShown(all[position]) { before.append(position) }
            position -= 1
        }
        var shown = Array(before.reversed()) + [center]
        position = center + 1
        while position < all.count, all[position].instant <= self.failure.instant,
            shown.count < Self.entriesMax
        {
            if self.isShown(all[position]) { shown.append(position) }
            position += 1
        }
        var rest = 0
        while position < all.count, all[position].instant <= self.failure.instant {
            if self.isShown(all[position]) { rest += 1 }
            position += 1
        }
        var lines: [String] = []
        if let anchor = self.failure.anchor, let first = shown.first, anchor < first {
            let skipped = all[(anchor + 1)..<first].count(where: self.isShown)
            lines = self.table([anchor]) + (skipped > 0 ? ["             … \(skipped) more"] : [])
        }
        lines += self.table(shown)
        if rest > 0 {
            lines.append("             … \(rest) more until \(ClockText.seconds(self.failure.instant)) s")
        }
        return lines
    }

    private func table(_ indices: [Int]) -> [String] {
        Self.table(indices, in: self.history, marking: self.center)
    }

    /// The last entries, of a run that could not go on.
    package static func lastEntries(of history: History) -> [String] {
        self.table(Array(history.entries.indices.suffix(self.entriesMax)), in: history, marking: nil)
    }

    /// A line for each entry, and what is below it.
    private static func table(
        _ indices: [Int], in history: History, marking center: Int?
    ) -> [String] {
        let texts = indices.map { EntryText(history.entries[$0], in: history) }
        let subjectColumns = min(self.subjectColumnsMax, texts.map(\.subject.count).max() ?? 0)
        return zip(indices, texts).flatMap { index, text in
            let mark = index == center ? "  >" : "   "
            let time = self.padded(ClockText.seconds(history.entries[index].instant), 8, atFront: true)
            let subject = self.padded(self.cut(text.subject, subjectColumns), subjectColumns)
            return [self.cut("\(mark)\(time)  \(subject)  \(text.text)", self.columns)]
                + text.details.map { self.cut(String(repeating: " ", count: 13) + $0, self.columns) }
        }
    }

    // MARK: The vehicle

    /// The time lines of the endpoints among the subjects, else of all, up to the failure.
    private var vehicles: [String] {
        let all = self.history.endpoints.map(\.id)
        let named = all.filter(self.expectation.subjects.contains)
        let endpoints = named.isEmpty ? all : named
        return endpoints.prefix(3).flatMap { endpoint in
            let steps = VehicleTimeLine(of: endpoint, in: self.history).steps.filter {
                $0.instant <= self.failure.instant
            }
            var text = steps.suffix(Self.timeLineSteps).map { "\(ClockText.seconds($0.instant)) \($0.text)" }
            if text.isEmpty { text = ["never connected"] }
            if steps.count > Self.timeLineSteps { text.insert("…", at: 0) }
            let name = endpoints.count > 1 ? "\(self.history.name(of: endpoint)): " : ""
            return Self.labelled("vehicle", name + text.joined(separator: " · "))
        }
    }

    // MARK: Lines

    /// `text` behind a label, broken into lines.
    package static func labelled(_ label: String, _ text: String) -> [String] {
        var lines = self.indented(text, by: self.indent, hanging: 0)
        lines[0] = "  " + self.padded(label, self.indent - 2) + lines[0].dropFirst(self.indent)
        return lines
    }

    private static func indented(_ text: String, by columns: Int, hanging: Int) -> [String] {
        TerminalText.wrapped(text, columns: self.columns - columns, hanging: hanging).map {
            String(repeating: " ", count: columns) + $0
        }
    }

    private static func padded(_ text: String, _ width: Int, atFront: Bool = false) -> String {
        let padding = String(repeating: " ", count: max(0, width - TerminalText.columns(of: text)))
        return atFront ? padding + text : text + padding
    }

    private static func cut(_ text: String, _ columns: Int) -> String {
        let text = TerminalText.printable(text)
        guard TerminalText.columns(of: text) > columns else { return text }
        return TerminalText.clipped(text, columns: columns - 1) + "…"
    }
}
