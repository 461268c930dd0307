package import WaymarkHistory
package import WaymarkProtocol

/// What an expectation found.
package enum Verdict: Sendable, Hashable {
    /// `margin`: the time that was left, of expectations that wait.
    case passed(at: Instant, margin: Duration?)
    case failed(Failure)
}

/// Why an expectation failed, with the nearest thing that was seen.
package struct Failure: Sendable, Hashable {
    /// What was expected, in the words of the scenario.
    package let expected: String
    /// The entry from which it counted; nil for the begin of the run.
    package let anchor: Int?
    /// When it was decided.
    package let instant: Instant
    /// The entry that violated it, or the one that came nearest.
    package let nearest: Nearest?

    package init(_ expected: String, anchor: Int?, at instant: Instant, nearest: Nearest?) {
        (self.expected, self.anchor, self.instant, self.nearest) = (expected, anchor, instant, nearest)
    }
}

/// The nearest thing that was seen.
package struct Nearest: Sendable, Hashable {
    package let index: Int
    package let differences: [FieldDifference]

    package init(index: Int, differences: [FieldDifference]) {
        (self.index, self.differences) = (index, differences)
    }
}

/// A field whose value is not what was expected.
package struct FieldDifference: Sendable, Hashable {
    /// As in a scenario, e.g. `next.distance`.
    package let path: String
    package let expected: String
    package let seen: String

    package init(_ path: String, expected: String, seen: String) {
        (self.path, self.expected, self.seen) = (path, expected, seen)
    }
}

/// An expectation that watches a history. A value: entries go in, at most one verdict comes out.
package protocol Expectation: Sendable {
    /// When it is decided if nothing happens until then.
    var deadline: Instant? { get }
    /// Sees the newest entry of a history.
    mutating func see(_ entry: History.Entry, in history: History) -> Verdict?
    /// Its deadline is reached, or the run is over.
    mutating func end(at instant: Instant, in history: History) -> Verdict
}
