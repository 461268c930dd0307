internal import WaymarkProtocol

/// Calls that wait for counters. One answer may be for several questions, so there is at most one question under way. A value
/// without I/O.
struct CounterCalls: Sendable {
    private struct Call {
        let number: Int
        let question: ReadCounters
    }

    private var waiting: [Call] = []
    private var asked: [Call] = []
    private var parts: [CounterReport] = []
    /// The number of values in ``parts``.
    private var valueCount = 0
    /// Values of one answer: thirty times as many as a gateway has by its default limits. Parts beyond it are left out.
    private static let valuesMax = 1_048_576
    private var isAsked = false
    private var outgoing: ReadCounters?

    mutating func add(_ number: Int, _ question: ReadCounters) {
        self.waiting.append(Call(number: number, question: question))
        self.askNext()
    }

    mutating func remove(_ number: Int) {
        self.waiting.removeAll { $0.number == number }
        self.asked.removeAll { $0.number == number }
    }

    /// There is a new connection: the answer to the last question will not come.
    mutating func connect() {
        self.waiting = self.asked + self.waiting
        (self.asked, self.parts, self.isAsked, self.outgoing) = ([], [], false, nil)
        self.valueCount = 0
        self.askNext()
    }

    /// Removes and returns the question to send now.
    mutating func dequeue() -> ReadCounters? { self.outgoing.take() }

    /// An answer, or a part of one, has arrived. A gateway that was restarted begins an answer again: the counters are in the first part.
    ///
    /// - Returns: The calls that it is for, and all of its parts; nil while more parts follow.
    mutating func apply(_ report: CounterReport) -> (calls: [Int], parts: [CounterReport])? {
        guard self.isAsked else { return nil }
        if !report.counters.isEmpty { (self.parts, self.valueCount) = ([], 0) }
        if self.valueCount < Self.valuesMax || report.isLast {
            self.parts.append(report)
            self.valueCount += report.counters.count + report.connections.count + report.sessions.count
        }
        guard report.isLast else { return nil }
        defer {
            (self.asked, self.parts, self.isAsked, self.valueCount) = ([], [], false, 0)
            self.askNext()
        }
        return (self.asked.map(\.number), self.parts)
    }

    private mutating func askNext() {
        guard !self.isAsked, !self.waiting.isEmpty else { return }
        (self.asked, self.waiting) = (self.waiting, [])
        self.isAsked = true
        self.outgoing = self.asked.reduce(into: ReadCounters()) { $0.formUnion($1.question) }
    }
}
