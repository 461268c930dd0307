internal import WaymarkProtocol

/// Calls that wait for counters. One answer may be for several questions, so there is at most one question under way. A value
/// without I/O.
struct CounterCalls: Sendable {
    private var waiting: [Int] = []
    private var asked: [Int] = []
    private var parts: [CounterReport] = []

    /// Whether a question is to be sent now.
    private(set) var mustAsk = false

    mutating func add(_ call: Int) {
        self.waiting.append(call)
        self.askNext()
    }

    mutating func remove(_ call: Int) {
        self.waiting.removeAll { $0 == call }
        self.asked.removeAll { $0 == call }
    }

    /// There is a new connection: the answer to the last question will not come.
    mutating func connect() {
        self.waiting = self.asked + self.waiting
        (self.asked, self.parts, self.isAsked, self.mustAsk) = ([], [], false, false)
        self.askNext()
    }

    /// - Returns: Whether to send the question.
    mutating func dequeue() -> Bool {
        defer { self.mustAsk = false }
        return self.mustAsk
    }

    /// An answer, or a part of one, has arrived.
    ///
    /// - Returns: The calls that it is for, and all of its parts; nil while more parts follow.
    mutating func apply(_ report: CounterReport) -> (calls: [Int], parts: [CounterReport])? {
        self.parts.append(report)
        defer {
            (self.asked, self.parts, self.isAsked) = ([], [], false)
            self.askNext()
        }
        return (self.asked, self.parts)
    }

    private var isAsked = false

    private mutating func askNext() {
        guard !self.isAsked, !self.waiting.isEmpty else { return }
        (self.asked, self.waiting) = (self.waiting, [])
        (self.isAsked, self.mustAsk) = (true, true)
    }
}
