package import WaymarkHistory
package import WaymarkProtocol

/// What became of one expectation of a scenario.
package struct JudgedExpectation: Sendable {
    package enum Outcome: Sendable, Hashable {
        case open, passed, failed
        /// Its step was not reached, or its `when` never happened: it fails.
        case notReached
    }

    package let expected: Scenario.Expected
    /// The place of its step; nil: of the whole file.
    package let step: Int?
    /// In the words of the scenario, as in failures.
    package let text: String
    package fileprivate(set) var outcome = Outcome.open
    /// The first ones.
    package fileprivate(set) var failures: [Failure] = []
    package fileprivate(set) var failureCount = 0
    /// How many times it passed; each `when` counts.
    package fileprivate(set) var passCount = 0
    /// When it passed last.
    package fileprivate(set) var passed: Instant?
    /// The least time that was left, of expectations that wait.
    package fileprivate(set) var margin: Duration?
    /// It held at its anchor already.
    package fileprivate(set) var heldAlready = false

    /// It may pass in a run with another seed.
    package var isSometimes: Bool { if case .sometimes = self.expected.word { true } else { false } }

    private static let failuresKeptMax = 8

    fileprivate mutating func add(_ verdict: Verdict) {
        switch verdict {
        case .passed(let instant, let margin):
            self.passCount += 1
            self.passed = instant
            if let margin { self.margin = min(self.margin ?? margin, margin) }
            if self.outcome == .open { self.outcome = .passed }
        case .failed(let failure): self.fail(failure, .failed)
        }
    }

    fileprivate mutating func fail(_ failure: Failure, _ outcome: Outcome) {
        self.failureCount += 1
        if self.failures.count < Self.failuresKeptMax { self.failures.append(failure) }
        self.outcome = outcome
    }
}

/// Judges all expectations of a scenario, while its history grows or when it is finished: the verdicts are the same.
///
/// Entries go in, in order; verdicts are in ``results``. The expectations of a step begin with the step's entry.
package struct Judge: Sendable {
    private struct Slot: Sendable {
        let text: String
        /// It waits for its event.
        var watch: EventWatch?
        var hasBegun = false
        var runningCount = 0
    }

    private struct Running: Sendable {
        let slot: Int
        let interest: Interest
        var word: any Expectation
    }

    /// Which entries can change the verdict of a word. Why: most words see nothing in most entries.
    private enum Interest: Sendable {
        case all, changes
        /// Lines that programs print.
        case lines
        /// Frames of a type.
        case frames(UInt16)
        /// Publications.
        case publications
    }

    /// How many occurrences of one `when` can be open at once.
    private static let runningMax = 1_024

    /// In the order of the file: those of the file, those of its steps, and how the drive ends.
    package private(set) var results: [JudgedExpectation] = []
    private let scenario: Scenario
    private var slots: [Slot] = []
    private var running: [Running] = []
    private var watching: [Int] = []
    private var stepsBegun = 0
    /// Not after any deadline of `running`; nil: there are none.
    private var earliest: Instant?
    /// How many moments of each endpoint were seen.
    private var positions: [Int] = []
    private var published: PublishedContent?
    private var endings: [PeerSelector: EndingTrail] = [:]
    private var request = RequestTrail(after: -1)

    package init(_ scenario: Scenario) {
        self.scenario = scenario
        for expected in scenario.expectations { self.add(expected, step: nil) }
        for (index, step) in scenario.steps.enumerated() {
            for expected in step.expectations { self.add(expected, step: index) }
        }
        if let ending = scenario.ending { self.add(ending, step: nil) }
        for index in self.results.indices where self.results[index].step == nil {
            self.begin(index, .beginning, in: History())
        }
    }

    private mutating func add(_ expected: Scenario.Expected, step: Int?) {
        let text = expected.text
        self.results.append(JudgedExpectation(expected: expected, step: step, text: text))
        self.slots.append(Slot(text: text))
        switch expected.word {
        case .holdsWhatWasPublished: self.published = PublishedContent()
        case .ended: self.endings[expected.of] = EndingTrail(expected.of)
        default: break
        }
    }

    // MARK: Events

    /// Sees the newest entry of a history.
    package mutating func see(_ entry: History.Entry, in history: History) {
        self.expire(before: entry.instant, in: history)
        let hasChange = self.hasChange(at: entry.index, in: history)
        var (type, isLine): (UInt16?, Bool) = (nil, false)
        if case .frame(let frame) = entry.kind { type = frame.frame.header.rawType }
        if case .log = entry.kind { isLine = true }
        for index in self.running.indices {
            let isSeen =
                switch self.running[index].interest {
                case .all: true
                case .changes: hasChange
                case .lines: isLine
                case .frames(let wanted): type == wanted
                case .publications: type.map(MessageType.published.contains) ?? false
                }
            guard isSeen, let verdict = self.running[index].word.see(entry, in: history) else { continue }
            self.decide(index, verdict)
        }
        self.removeDecided()
        // This comes after the running words: a word that begins with this entry has already seen it.
        _ = self.published?.see(entry)
        for of in self.endings.keys { _ = self.endings[of]?.see(entry) }
        for slot in self.watching where self.slots[slot].watch?.see(entry, in: history) == true {
            self.start(slot, Anchor(entry), in: history)
        }
        if case .step(let step, _) = entry.kind { self.begin(step: step, at: entry, in: history) }
    }

    /// Whether an entry changed what an endpoint holds.
    private mutating func hasChange(at index: Int, in history: History) -> Bool {
        while self.positions.count < history.endpoints.count { self.positions.append(0) }
        var hasChange = false
        for (endpoint, record) in history.endpoints.enumerated() {
            while self.positions[endpoint] < record.moments.count,
                record.moments[self.positions[endpoint]].index <= index
            {
                hasChange = hasChange || record.moments[self.positions[endpoint]].index == index
                self.positions[endpoint] += 1
            }
        }
        return hasChange
    }

    /// When ``deadlineReached(at:in:)`` must be called. Why a nanosecond after the deadlines of expectations: what happens exactly at its
    /// end is within a window.
    package var deadline: Instant? { self.earliest.map { $0 + .nanoseconds(1) } }

    package mutating func deadlineReached(at now: Instant, in history: History) {
        self.expire(before: now, in: history)
    }

    /// The run is over.
    package mutating func end(at instant: Instant, in history: History) {
        self.expire(before: instant, in: history)
        for index in self.running.indices {
            let end = min(instant, self.running[index].word.deadline ?? instant)
            self.decide(index, self.running[index].word.end(at: end, in: history))
        }
        self.running = []
        self.earliest = nil
        for (index, slot) in self.slots.enumerated() where self.results[index].outcome == .open {
            let expected = self.results[index].expected
            let when = slot.hasBegun ? expected.when : nil
            let head = WordHead(
                .beginning, lasting: nil,
                when.map { "the event \($0.pattern)" } ?? slot.text)
            let nearest = when.flatMap { head.nearest($0.pattern, in: history, upTo: instant) }
            self.results[index].fail(
                Failure(head.text, anchor: nil, at: instant, nearest: nearest), .notReached)
        }
    }

    /// Judges a finished history.
    package static func judge(_ scenario: Scenario, _ history: History, endingAt instant: Instant) -> Judge {
        var judge = Judge(scenario)
        for entry in history.entries { judge.see(entry, in: history) }
        judge.end(at: instant, in: history)
        return judge
    }

    // MARK: What a script waits for

    /// What the step expects within a time is decided.
    package func isDecided(step: Int) -> Bool {
        self.results.allSatisfy { $0.step != step || $0.outcome != .open || !$0.expected.isTimed }
    }

    /// Something has failed, and nothing is left to decide.
    package var isDecided: Bool {
        self.results.allSatisfy { $0.outcome != .open } && self.results.contains { $0.outcome != .passed }
    }

    /// An expectation that has begun is still within its window.
    package var isWaiting: Bool {
        self.running.contains { self.results[$0.slot].expected.word.duration != nil }
    }

    /// All steps have begun, and the drive of the first client has ended, if the scenario says how.
    package var isEndDecided: Bool {
        guard let ending = self.scenario.ending else { return true }
        return self.stepsBegun >= self.scenario.steps.count && self.endings[ending.of]?.end != nil
    }

    // MARK: Beginning

    private mutating func begin(step: Int, at entry: History.Entry, in history: History) {
        self.stepsBegun += 1
        if self.scenario.steps.indices.contains(step),
            case .request(let request)? = self.scenario.steps[step].action?.kind
        {
            self.request = RequestTrail(after: entry.index, id: request.id)
        }
        for index in self.results.indices
        where self.results[index].step == step && !self.slots[index].hasBegun {
            self.begin(index, Anchor(entry), in: history)
        }
    }

    private mutating func begin(_ slot: Int, _ anchor: Anchor, in history: History) {
        self.slots[slot].hasBegun = true
        guard let when = self.results[slot].expected.when else {
            return self.start(slot, anchor, in: history)
        }
        var watch = EventWatch(when)
        let occurs = watch.begin(after: anchor.index, in: history)
        self.slots[slot].watch = watch
        self.watching.append(slot)
        if occurs { self.start(slot, anchor, in: history) }
    }

    /// The expectation counts from here.
    private mutating func start(_ slot: Int, _ anchor: Anchor, in history: History) {
        let result = self.results[slot]
        // Without an end, the first occurrence contains the later ones.
        if result.expected.word.isSubsumed, self.slots[slot].runningCount > 0 || result.failureCount > 0 {
            return
        }
        guard self.slots[slot].runningCount < Self.runningMax else {
            let text = "at most \(Self.runningMax) open events of: \(result.text)"
            return self.results[slot].fail(
                Failure(text, anchor: anchor.index, at: anchor.instant, nearest: nil), .failed)
        }
        let (word, verdict) = self.word(slot, anchor, in: history)
        if let verdict {
            if case .passed = verdict { self.results[slot].heldAlready = true }
            return self.results[slot].add(verdict)
        }
        self.running.append(
            Running(slot: slot, interest: self.interest(of: result.expected.word), word: word))
        self.slots[slot].runningCount += 1
        if let deadline = word.deadline { self.earliest = min(self.earliest ?? deadline, deadline) }
    }

    private func interest(of word: Scenario.Word) -> Interest {
        switch word {
        case .message(let message, _), .never(.message(let message), _), .rate(let message, _, _, _, _),
            .gap(let message, _, _), .exactly(_, let message, _), .sometimes(.message(let message)):
            message.type.map { .frames($0) } ?? .publications
        case .eventually, .always, .never(.state, _), .unchanged, .sometimes(.state): .changes
        case .shownWithin: .frames(MessageType.receiptReport.rawValue)
        case .prints, .never(.line, _), .sometimes(.line): .lines
        case .inOrder, .outcome, .holdsWhatWasPublished, .ended: .all
        }
    }

    /// The word as a machine, and its verdict if that is known at once.
    private func word(_ slot: Int, _ anchor: Anchor, in history: History) -> (any Expectation, Verdict?) {
        let expected = self.results[slot].expected
        let head = WordHead(anchor, lasting: expected.word.duration, self.slots[slot].text)
        switch expected.word {
        case .message(let message, _): return (MessageWord(pattern: message, head: head), nil)
        case .eventually(let state, _):
            var word = EventuallyWord(state, head, in: history)
            let verdict = word.begin(in: history)
            return (word, verdict)
        case .always(let state, _): return self.lasting(state, isAlways: true, head, history)
        case .never(.state(let state), _): return self.lasting(state, isAlways: false, head, history)
        case .never(.message(let message), _): return (NeverMessageWord(pattern: message, head: head), nil)
        case .never(.line(let line), _): return (PrintsWord(pattern: line, isNever: true, head: head), nil)
        case .prints(let line, _): return (PrintsWord(pattern: line, isNever: false, head: head), nil)
        case .sometimes(let pattern):
            var word = SometimesWord(pattern, at: expected.location, head)
            let verdict = word.begin(in: history)
            return (word, verdict)
        case .rate(let message, let atMost, let atLeast, let per, _):
            return (RateWord(message, atMost: atMost, atLeast: atLeast, per: per, head), nil)
        case .gap(let message, let below, _): return (GapWord(below, message, head), nil)
        case .inOrder(let events, _): return (InOrderWord(events, head, in: history), nil)
        case .exactly(let count, let message, _): return (ExactlyWord(count, message, head), nil)
        case .unchanged(let paths, _):
            return (UnchangedWord(paths, of: expected.of.endpoint, head, in: history), nil)
        case .shownWithin(let limit, _): return (ShownWithinWord(limit, of: expected.of, head), nil)
        case .outcome(let outcome, _):
            var word = OutcomeWord(outcome, of: expected.of, head, after: self.request)
            let verdict = word.begin(in: history)
            return (word, verdict)
        case .holdsWhatWasPublished:
            var word = HoldsWord(expected.of.endpoint, head, self.published ?? PublishedContent())
            let verdict = word.begin()
            return (word, verdict)
        case .ended(let reason, _):
            let word = EndedWord(
                reason, of: expected.of, head, self.endings[expected.of] ?? EndingTrail(expected.of))
            return (word, word.begin(in: history))
        }
    }

    private func lasting(
        _ state: StatePattern, isAlways: Bool, _ head: WordHead, _ history: History
    ) -> (any Expectation, Verdict?) {
        var word = LastingWord(state, isAlways: isAlways, head, in: history)
        let verdict = word.begin(in: history)
        return (word, verdict)
    }

    // MARK: Deciding

    /// Ends the words whose deadlines are before an instant.
    private mutating func expire(before instant: Instant, in history: History) {
        guard let earliest, earliest < instant else { return }
        for index in self.running.indices {
            guard let deadline = self.running[index].word.deadline, deadline < instant else { continue }
            self.decide(index, self.running[index].word.end(at: deadline, in: history))
        }
        self.removeDecided()
        self.earliest = self.running.compactMap(\.word.deadline).min()
    }

    private var decided: [Int] = []

    private mutating func decide(_ index: Int, _ verdict: Verdict) {
        let slot = self.running[index].slot
        self.results[slot].add(verdict)
        self.slots[slot].runningCount -= 1
        self.decided.append(index)
    }

    private mutating func removeDecided() {
        for index in self.decided.reversed() { self.running.remove(at: index) }
        self.decided = []
    }
}
