internal import WaymarkConfiguration
internal import WaymarkHistory
internal import WaymarkProtocol

/// `eventually p within d`: p holds at the anchor, or after an entry in the window.
struct EventuallyWord: Expectation {
    let pattern: StatePattern
    let head: WordHead
    private var cursor: MomentCursor

    var deadline: Instant? { self.head.deadline }

    init(_ pattern: StatePattern, _ head: WordHead, in history: History) {
        (self.pattern, self.head) = (pattern, head)
        self.cursor = MomentCursor(pattern.of, after: head.anchor.index, in: history)
    }

    mutating func begin(in history: History) -> Verdict? {
        let moment = history.endpoint(self.pattern.of)?.moment(at: self.head.anchor.index)
        return moment.flatMap(self.pattern.holds) == true
            ? self.head.passed(at: self.head.anchor.instant) : nil
    }

    mutating func see(_ entry: History.Entry, in history: History) -> Verdict? {
        guard let place = self.cursor.change(at: entry.index, in: history),
            self.pattern.holds(history.endpoints[place.record].moments[place.position]) == true
        else { return nil }
        return self.head.passed(at: entry.instant)
    }

    func end(at instant: Instant, in history: History) -> Verdict {
        self.head.failed(at: instant, self.head.nearest(self.pattern, in: history, upTo: instant))
    }
}

/// `always p`, and `never p`: p holds, or never holds, at the anchor and after each entry.
struct LastingWord: Expectation {
    let pattern: StatePattern
    let isAlways: Bool
    let head: WordHead
    private var cursor: MomentCursor

    var deadline: Instant? { self.head.deadline }

    init(_ pattern: StatePattern, isAlways: Bool, _ head: WordHead, in history: History) {
        (self.pattern, self.isAlways, self.head) = (pattern, isAlways, head)
        self.cursor = MomentCursor(pattern.of, after: head.anchor.index, in: history)
    }

    mutating func begin(in history: History) -> Verdict? {
        guard let moment = history.endpoint(self.pattern.of)?.moment(at: self.head.anchor.index) else {
            return nil
        }
        return self.violation(moment, at: self.head.anchor.instant)
    }

    mutating func see(_ entry: History.Entry, in history: History) -> Verdict? {
        guard let place = self.cursor.change(at: entry.index, in: history),
            let holds = self.pattern.holds(history.endpoints[place.record].moments[place.position]),
            holds != self.isAlways
        else { return nil }
        return self.violation(history[place], at: entry.instant)
    }

    private func violation(_ moment: EndpointHistory.Moment, at instant: Instant) -> Verdict? {
        guard let holds = self.pattern.holds(moment), holds != self.isAlways else { return nil }
        let differences =
            self.isAlways
            ? self.pattern.differences(moment)?.fields ?? []
            : self.pattern.fields.violations { $0.value(in: moment) }
        return self.head.failed(at: instant, Nearest(index: moment.index, differences: differences))
    }

    func end(at instant: Instant, in history: History) -> Verdict { .passed(at: instant, margin: nil) }
}

/// `unchanged paths for d`: equal to the values at the anchor after each entry.
struct UnchangedWord: Expectation {
    let paths: [FieldPath]
    let head: WordHead
    private let endpoint: PeerID
    private var cursor: MomentCursor
    /// What must stay; nil until the endpoint has a state that counts.
    private var first: EndpointHistory.Moment?

    var deadline: Instant? { self.head.deadline }

    init(_ paths: [FieldPath], of endpoint: PeerID, _ head: WordHead, in history: History) {
        (self.paths, self.head, self.endpoint) = (paths, head, endpoint)
        self.cursor = MomentCursor(endpoint, after: head.anchor.index, in: history)
        if let record = history.endpoint(endpoint) {
            // Why not the moment at the anchor: it may be within a snapshot.
            let before = record.moments.prefix(record.count(upTo: head.anchor.index))
            self.first = before.last(where: \.isComplete)
        }
    }

    mutating func see(_ entry: History.Entry, in history: History) -> Verdict? {
        guard let place = self.cursor.change(at: entry.index, in: history), history[place].isComplete else {
            return nil
        }
        let moment = history[place]
        guard let first else {
            self.first = moment
            return nil
        }
        let differences = self.paths.compactMap { path -> FieldDifference? in
            let (old, new) = (path.value(in: first), path.value(in: moment))
            guard !Self.isEqual(old, new) else { return nil }
            return FieldDifference(path.description, expected: path.text(old), seen: path.text(new))
        }
        guard !differences.isEmpty else { return nil }
        return self.head.failed(
            at: entry.instant, Nearest(index: entry.index, differences: differences))
    }

    private static func isEqual(_ old: FieldValue?, _ new: FieldValue?) -> Bool {
        guard let old, let new else { return old == nil && new == nil }
        return old.isEqual(to: new)
    }

    func end(at instant: Instant, in history: History) -> Verdict { .passed(at: instant, margin: nil) }
}

/// `sometimes`: a state held, or a message crossed.
struct SometimesWord: Expectation {
    let pattern: EventPattern
    let head: WordHead
    private var watch: EventWatch

    var deadline: Instant? { nil }

    init(_ pattern: EventPattern, at location: SourceLocation, _ head: WordHead) {
        (self.pattern, self.head) = (pattern, head)
        self.watch = EventWatch(Scenario.Event(pattern: pattern, count: nil, location: location))
    }

    mutating func begin(in history: History) -> Verdict? {
        self.watch.begin(after: self.head.anchor.index, in: history)
            ? self.head.passed(at: self.head.anchor.instant) : nil
    }

    mutating func see(_ entry: History.Entry, in history: History) -> Verdict? {
        self.watch.see(entry, in: history) ? self.head.passed(at: entry.instant) : nil
    }

    func end(at instant: Instant, in history: History) -> Verdict {
        self.head.failed(at: instant, self.head.nearest(self.pattern, in: history, upTo: instant))
    }
}
