internal import ProcessIO
internal import WaymarkConfiguration
internal import WaymarkProtocol
internal import WaymarkScenario
internal import WaymarkTexts

/// What came of a replay, for people.
package struct ReplayReport: Sendable {
    private let result: ReplayResult
    private let comparison: ReplayComparison?
    private let conversation: RecordedConversation
    private let file: String

    package init(
        _ conversation: RecordedConversation, _ result: ReplayResult, isCompared: Bool, file: String
    ) {
        (self.conversation, self.result, self.file) = (conversation, result, file)
        self.comparison =
            isCompared
            ? ReplayComparison(
                conversation, result.history, result.peers,
                tolerance: result.clock == .real
                    ? ReplayTolerance(of: result.peers) : ReplayTolerance(of: conversation)) : nil
    }

    /// Every peer could say what it had said, and what was compared is equal.
    package var isAsRecorded: Bool {
        self.result.peers.problems.isEmpty && (self.comparison?.isEqual ?? true)
    }

    /// At most 80 columns wide.
    package func lines(took duration: Duration) -> [String] {
        var lines: [String] = []
        let problems = self.result.peers.problems
        for problem in problems.prefix(20) {
            lines += Self.wrapped("\(ClockText.seconds(problem.instant))  \(problem.text)")
        }
        if problems.count > 20 { lines.append("… \(problems.count - 20) more") }
        let place = SourceLocation(file: self.file, line: 1, column: 1)
        for peer in self.result.peers {
            for expectation in self.comparison?.expectations(of: peer, at: place, self.result.end) ?? [] {
                guard let text = FailureText(expectation, in: self.result.history) else { continue }
                lines += Self.wrapped("DIFFERENT  what \(peer.id) receives") + text.lines + [""]
            }
        }
        lines += Self.wrapped(self.summary(took: duration))
        if let comparison { lines += Self.wrapped(self.text(comparison)) }
        return lines
    }

    private func summary(took duration: Duration) -> String {
        let peers = GuidanceText.counted(self.result.peers.count, "peer")
        let frames = GuidanceText.counted(self.result.sentCount, "frame")
        return "replayed \(peers), \(frames) in \(ClockText.seconds(self.conversation.end)) s "
            + "(\(self.result.clock.rawValue), \(ClockText.duration(duration)))"
    }

    private func text(_ comparison: ReplayComparison) -> String {
        let frames = GuidanceText.counted(comparison.frameCount, "frame")
        let connections = GuidanceText.counted(comparison.connectionCount, "connection")
        var text = "compared \(frames) on \(connections): "
        text +=
            comparison.isEqual ? "equal" : GuidanceText.counted(comparison.differences.count, "difference")
        if self.result.clock == .real {
            text +=
                comparison.tolerance.milliseconds.map { "; ages and deadlines to \($0) ms" }
                ?? "; without ages and deadlines, which --speed changes"
        }
        if comparison.hiddenCount > 0 {
            text += "; of \(comparison.hiddenCount) only the header: the rest is hidden in the recording"
        }
        if comparison.lostCount > 0 {
            text += "; \(comparison.lostCount) that were lost with a connection in the recording are left out"
        }
        return text
    }

    private static func wrapped(_ text: String) -> [String] {
        TerminalText.wrapped(TerminalText.printable(text), columns: FailureText.columns, hanging: 8)
    }
}
