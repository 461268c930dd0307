package import WaymarkHistory
package import WaymarkProtocol

/// The programs under test whose first Hello the run waits for. Without it nothing that is expected of them can happen.
package struct AbsentPrograms: Sendable {
    /// A program that did not connect.
    package struct Absence: Sendable {
        package let program: Scenario.Program
        /// Why, as far as the rig knows; empty if it does not.
        package let reason: String
        package let instant: Instant
    }

    private var waiting: [Scenario.Program]
    private let limit: Instant
    /// A program that has ended.
    private var ended: (peer: PeerID, text: String)?
    /// Says that a program gave another name.
    private var wrongName = ""

    /// They are started at the beginning of the run.
    package init(_ scenario: Scenario) {
        self.waiting = scenario.programs
        self.limit = Instant(nanoseconds: 0) + scenario.connectWithin
    }

    /// When a program has waited long enough; nil if all have connected.
    package var deadline: Instant? { self.waiting.isEmpty ? nil : self.limit }

    package mutating func see(_ entry: History.Entry) {
        guard !self.waiting.isEmpty else { return }
        switch entry.kind {
        case .connection(let peer, .connecting): self.waiting.removeAll { $0.peer == peer }
        case .log(nil, let line): self.wrongName = line
        default: break
        }
    }

    /// A program has ended, as `text` says.
    package mutating func programEnded(_ peer: PeerID, _ text: String) {
        if self.waiting.contains(where: { $0.peer == peer }) { self.ended = (peer, text) }
    }

    /// The program for which it is no use to wait: it has ended, its time is over, or the scenario has failed and decides nothing more.
    package func absence(at now: Instant, isFailed: Bool) -> Absence? {
        if let ended, let program = self.waiting.first(where: { $0.peer == ended.peer }) {
            let reasons = [self.wrongName, ended.text].filter { !$0.isEmpty }
            return Absence(program: program, reason: reasons.joined(separator: "; "), instant: now)
        }
        guard let first = self.waiting.first, isFailed || now >= self.limit else { return nil }
        return Absence(program: first, reason: self.wrongName, instant: now)
    }
}
