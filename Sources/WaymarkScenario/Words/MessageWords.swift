internal import WaymarkHistory
internal import WaymarkProtocol

/// `message x within d`: an entry of the window matches.
struct MessageWord: Expectation {
    let pattern: MessagePattern
    let head: WordHead

    var deadline: Instant? { self.head.deadline }

    mutating func see(_ entry: History.Entry, in history: History) -> Verdict? {
        self.pattern.matches(entry) ? self.head.passed(at: entry.instant) : nil
    }

    func end(at instant: Instant, in history: History) -> Verdict {
        self.head.failed(at: instant, self.head.nearest(self.pattern, in: history, upTo: instant))
    }
}

/// `never x`: no entry matches.
struct NeverMessageWord: Expectation {
    let pattern: MessagePattern
    let head: WordHead

    var deadline: Instant? { self.head.deadline }

    mutating func see(_ entry: History.Entry, in history: History) -> Verdict? {
        guard self.pattern.matches(entry), case .frame(let frame) = entry.kind else { return nil }
        let differences = self.pattern.fields.violations { $0.value(in: frame) }
        return self.head.failed(at: entry.instant, Nearest(index: entry.index, differences: differences))
    }

    func end(at instant: Instant, in history: History) -> Verdict { .passed(at: instant, margin: nil) }
}

/// `exactly n x`.
struct ExactlyWord: Expectation {
    let count: Int
    let pattern: MessagePattern
    let head: WordHead
    private var seen = 0
    private var last: Int?

    var deadline: Instant? { self.head.deadline }

    init(_ count: Int, _ pattern: MessagePattern, _ head: WordHead) {
        (self.count, self.pattern, self.head) = (count, pattern, head)
    }

    mutating func see(_ entry: History.Entry, in history: History) -> Verdict? {
        guard self.pattern.matches(entry) else { return nil }
        self.seen += 1
        self.last = entry.index
        return self.seen > self.count ? self.failed(at: entry.instant, in: history) : nil
    }

    func end(at instant: Instant, in history: History) -> Verdict {
        self.seen == self.count ? .passed(at: instant, margin: nil) : self.failed(at: instant, in: history)
    }

    private func failed(at instant: Instant, in history: History) -> Verdict {
        let difference = FieldDifference("count", expected: "\(self.count)", seen: "\(self.seen)")
        let nearest = self.last.map { Nearest(index: $0, differences: [difference]) }
        return self.head.failed(
            at: instant, nearest ?? self.head.nearest(self.pattern, in: history, upTo: instant))
    }
}

/// `in-order x y z within d`: a subsequence of the window.
struct InOrderWord: Expectation {
    let events: [Scenario.Event]
    let head: WordHead
    private var watches: [EventWatch]
    private var matched = 0
    /// How many times the next event must still occur.
    private var needed: Int
    private var last: Int?

    var deadline: Instant? { self.head.deadline }

    init(_ events: [Scenario.Event], _ head: WordHead, in history: History) {
        (self.events, self.head) = (events, head)
        self.needed = events.first?.count ?? 1
        // Why without counts: the n-th time is counted from the event before.
        self.watches = events.map { event in
            var each = event
            each.count = nil
            return EventWatch(each)
        }
        for index in self.watches.indices {
            _ = self.watches[index].begin(after: head.anchor.index, in: history)
        }
    }

    mutating func see(_ entry: History.Entry, in history: History) -> Verdict? {
        var isNext = false
        // Why all: a watch of a state must see when it ceases to hold.
        for index in self.matched..<self.watches.count {
            let occurs = self.watches[index].see(entry, in: history)
            if index == self.matched { isNext = occurs }
        }
        guard isNext else { return nil }
        self.last = entry.index
        self.needed -= 1
        guard self.needed == 0 else { return nil }
        self.matched += 1
        guard self.matched < self.events.count else { return self.head.passed(at: entry.instant) }
        self.needed = self.events[self.matched].count ?? 1
        return nil
    }

    func end(at instant: Instant, in history: History) -> Verdict {
        let next = self.events[self.matched].pattern
        let difference = FieldDifference(
            "in order", expected: "\(next)", seen: "\(self.matched) of \(self.events.count)")
        let nearest = self.last.map { Nearest(index: $0, differences: [difference]) }
        return self.head.failed(at: instant, nearest ?? self.head.nearest(next, in: history, upTo: instant))
    }
}

/// `rate`: at most, and at least, so many matches in each interval.
struct RateWord: Expectation {
    private var upper: RateUpperBound?
    private var lower: RateLowerBound?
    private let head: WordHead

    init(_ pattern: MessagePattern, atMost: Int?, atLeast: Int?, per interval: Duration, _ head: WordHead) {
        self.upper = atMost.map { RateUpperBound($0, per: interval, pattern, head) }
        self.lower = atLeast.map { RateLowerBound($0, per: interval, pattern, head) }
        self.head = head
    }

    var deadline: Instant? {
        [self.lower?.limit, self.head.deadline].compactMap(\.self).min()
    }

    mutating func see(_ entry: History.Entry, in history: History) -> Verdict? {
        self.lower?.see(entry)
        return self.upper?.see(entry)
    }

    func end(at instant: Instant, in history: History) -> Verdict {
        self.lower?.failure(at: instant, in: history) ?? .passed(at: instant, margin: nil)
    }
}

/// In each (t - d, t] that ends with a match, at most n.
private struct RateUpperBound: Sendable {
    let countMax: Int
    let interval: Duration
    let pattern: MessagePattern
    let head: WordHead
    /// The instants of the last matches, at most one more than allowed.
    var last: [Instant] = []

    init(_ countMax: Int, per interval: Duration, _ pattern: MessagePattern, _ head: WordHead) {
        (self.countMax, self.interval, self.pattern, self.head) = (countMax, interval, pattern, head)
    }

    mutating func see(_ entry: History.Entry) -> Verdict? {
        guard self.pattern.matches(entry) else { return nil }
        let (now, interval) = (entry.instant, self.interval)
        self.last.removeAll { now - $0 >= interval }
        self.last.append(now)
        guard self.last.count > self.countMax, let first = self.last.first else { return nil }
        let difference = FieldDifference(
            "rate", expected: "at most \(self.countMax) in \(TimeText.seconds(interval))",
            seen: "\(self.last.count) in \(TimeText.seconds(now - first))")
        return self.head.failed(at: now, Nearest(index: entry.index, differences: [difference]))
    }
}

/// Passes if every window of length `interval` in the scope has at least `countMin` matches.
private struct RateLowerBound: Sendable {
    let countMin: Int
    let interval: Duration
    let pattern: MessagePattern
    let head: WordHead
    /// The instants of the last n matches; in place of those that were not, the anchor.
    var last: [Instant] = []
    var lastIndex: Int?

    init(_ countMin: Int, per interval: Duration, _ pattern: MessagePattern, _ head: WordHead) {
        (self.countMin, self.interval, self.pattern, self.head) = (countMin, interval, pattern, head)
    }

    /// When a window ends that has too few.
    var limit: Instant {
        (self.last.count == self.countMin ? self.last[0] : self.head.anchor.instant) + self.interval
    }

    mutating func see(_ entry: History.Entry) {
        guard self.pattern.matches(entry) else { return }
        self.last.append(entry.instant)
        self.lastIndex = entry.index
        if self.last.count > self.countMin { self.last.removeFirst() }
    }

    /// Why it fails at an instant; nil if it does not.
    func failure(at instant: Instant, in history: History) -> Verdict? {
        guard instant >= self.limit else { return nil }
        let seen = self.last.count { instant - $0 < self.interval }
        let difference = FieldDifference(
            "rate", expected: "at least \(self.countMin) in \(TimeText.seconds(self.interval))",
            seen: "\(seen)")
        let nearest = self.lastIndex.map { Nearest(index: $0, differences: [difference]) }
        return self.head.failed(
            at: instant, nearest ?? self.head.nearest(self.pattern, in: history, upTo: instant))
    }
}

/// `gap below d`: between matches, from the anchor to the first one, and from the last one to the end.
struct GapWord: Expectation {
    let below: Duration
    let pattern: MessagePattern
    let head: WordHead
    private var last: Instant
    private var lastIndex: Int?

    init(_ below: Duration, _ pattern: MessagePattern, _ head: WordHead) {
        (self.below, self.pattern, self.head) = (below, pattern, head)
        self.last = head.anchor.instant
    }

    private var limit: Instant { self.last + self.below }

    var deadline: Instant? { min(self.limit, self.head.deadline ?? self.limit) }

    mutating func see(_ entry: History.Entry, in history: History) -> Verdict? {
        guard self.pattern.matches(entry) else { return nil }
        guard entry.instant < self.limit else { return self.failed(at: entry.instant, in: history) }
        (self.last, self.lastIndex) = (entry.instant, entry.index)
        return nil
    }

    func end(at instant: Instant, in history: History) -> Verdict {
        instant < self.limit ? .passed(at: instant, margin: nil) : self.failed(at: instant, in: history)
    }

    private func failed(at instant: Instant, in history: History) -> Verdict {
        let difference = FieldDifference(
            "gap", expected: "below \(TimeText.seconds(self.below))",
            seen: TimeText.seconds(instant - self.last))
        let nearest = self.lastIndex.map { Nearest(index: $0, differences: [difference]) }
        return self.head.failed(
            at: instant, nearest ?? self.head.nearest(self.pattern, in: history, upTo: instant))
    }
}

/// `shown-within d`: clients are told delays until content was on a display, and all are at most d.
struct ShownWithinWord: Expectation {
    let limit: Duration
    let of: PeerSelector
    let head: WordHead
    private var isMeasured = false

    var deadline: Instant? { self.head.deadline }

    init(_ limit: Duration, of: PeerSelector, _ head: WordHead) {
        (self.limit, self.of, self.head) = (limit, of, head)
    }

    mutating func see(_ entry: History.Entry, in history: History) -> Verdict? {
        guard case .frame(let frame) = entry.kind, frame.way == .toPeer,
            case .receiptReport(let report) = frame.message
        else { return nil }
        for receipt in report.endpoints where self.of.contains(.endpoint(receipt.vehicle, receipt.endpoint)) {
            guard let microseconds = receipt.shownDelayMicroseconds else { continue }
            self.isMeasured = true
            let delay = Duration.microseconds(microseconds)
            if delay > self.limit { return self.failed(at: entry, TimeText.seconds(delay)) }
        }
        return nil
    }

    private func failed(at entry: History.Entry, _ seen: String) -> Verdict {
        let difference = FieldDifference(
            "shown", expected: "within \(TimeText.seconds(self.limit))", seen: "after \(seen)")
        return self.head.failed(
            at: entry.instant, Nearest(index: entry.index, differences: [difference]))
    }

    func end(at instant: Instant, in history: History) -> Verdict {
        // Without a measurement nothing is known: no client wants receipts, or the display says nothing of what it shows.
        self.isMeasured ? .passed(at: instant, margin: nil) : self.head.failed(at: instant, nil)
    }
}
