internal import WaymarkHistory
internal import WaymarkProtocol

/// What all words have: from where they count, how long, and what they say.
struct WordHead: Sendable {
    let anchor: Anchor
    /// The end of the window; nil: the end of the run.
    let deadline: Instant?
    /// In the words of the scenario.
    let text: String

    init(_ anchor: Anchor, lasting duration: Duration?, _ text: String) {
        self.anchor = anchor
        self.deadline = duration.map { anchor.instant + $0 }
        self.text = text
    }

    func passed(at instant: Instant) -> Verdict {
        .passed(at: instant, margin: self.deadline.map { $0 - instant })
    }

    func failed(at instant: Instant, _ nearest: Nearest?) -> Verdict {
        .failed(
            Failure(
                self.text, anchor: self.anchor.index < 0 ? nil : self.anchor.index, at: instant,
                nearest: nearest))
    }

    /// The entries of the window, up to an instant.
    func window(_ history: History, upTo instant: Instant) -> ArraySlice<History.Entry> {
        let begin = self.anchor.index + 1
        guard begin < history.entries.count else { return [] }
        let end = min(instant, self.deadline ?? instant)
        let rest = history.entries[begin...]
        return rest.prefix(history.count(upTo: end) - begin)
    }

    /// The entry of the window whose message is the nearest to a pattern: of the same thing, the fewest fields that differ, the nearest
    /// numbers, the latest.
    func nearest(_ pattern: MessagePattern, in history: History, upTo instant: Instant) -> Nearest? {
        var candidates = NearestCandidates()
        for entry in self.window(history, upTo: instant) {
            if let difference = pattern.differences(entry) { candidates.add(entry.index, difference) }
        }
        return candidates.best
    }

    /// The moment at the anchor or in the window that is the nearest to a pattern.
    func nearest(_ pattern: StatePattern, in history: History, upTo instant: Instant) -> Nearest? {
        guard let record = history.endpoint(pattern.of) else { return nil }
        var candidates = NearestCandidates()
        let last = history.count(upTo: min(instant, self.deadline ?? instant)) - 1
        let begin = max(0, record.count(upTo: self.anchor.index) - 1)
        for moment in record.moments[begin...].prefix(while: { $0.index <= last }) {
            if let difference = pattern.differences(moment) { candidates.add(moment.index, difference) }
        }
        return candidates.best
    }

    func nearest(_ pattern: EventPattern, in history: History, upTo instant: Instant) -> Nearest? {
        switch pattern {
        case .message(let message): self.nearest(message, in: history, upTo: instant)
        case .state(let state): self.nearest(state, in: history, upTo: instant)
        case .line(let line): self.nearest(line, in: history, upTo: instant)
        }
    }

    /// The line of the window that is the nearest to a pattern.
    private func nearest(_ pattern: LinePattern, in history: History, upTo instant: Instant) -> Nearest? {
        var candidates = NearestCandidates()
        for entry in self.window(history, upTo: instant) {
            if let difference = pattern.differences(entry) { candidates.add(entry.index, difference) }
        }
        return candidates.best
    }
}

/// Finds the nearest of several candidates.
struct NearestCandidates {
    private var nearest: (index: Int, differences: MatchDistance)?

    var best: Nearest? { self.nearest.map { Nearest(index: $0.index, differences: $0.differences.fields) } }

    /// Candidates come in the order of the history: of two that are as near, the later one counts.
    mutating func add(_ index: Int, _ differences: MatchDistance) {
        if let nearest, nearest.differences.isNearer(than: differences) { return }
        self.nearest = (index, differences)
    }
}

extension FieldConditions {
    /// The conditions of a `never` that hold, one difference each.
    func violations(_ value: (FieldPath) -> FieldValue?) -> [FieldDifference] {
        self.elements.map { element in
            FieldDifference(
                element.path.description, expected: "not \(element.condition)",
                seen: element.path.text(value(element.path)))
        }
    }
}

/// Times in reports.
enum TimeText {
    /// `0.95 s`.
    static func seconds(_ duration: Duration) -> String {
        FieldValue.text(Double(duration.nanoseconds) / 1e9) + " s"
    }
}
