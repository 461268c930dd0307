internal import Foundation
internal import Synchronization
internal import WaymarkClient
internal import WaymarkHistory
internal import WaymarkLint
internal import WaymarkProtocol
internal import WaymarkTexts

/// Judges what an observer is told, and prints what is found, in order.
final class LintPrinter: Sendable {
    private struct State {
        var linter: LiveLinter
        var hasBegun = false
        var isConnected = true
        var isHidingNoted = false
        var isUnjudgedNoted = false
    }

    /// How often rules that wait may decide.
    private static let interval = Duration.milliseconds(200)

    private let state: Mutex<State>
    private let lines: LintLines

    init(_ linter: LiveLinter, isJSON: Bool, columns: Int?) {
        self.state = Mutex(State(linter: linter))
        self.lines = LintLines(isJSON: isJSON, columns: columns)
    }

    /// The gateway's state was told.
    var hasBegun: Bool { self.state.withLock { $0.hasBegun } }
    /// How much was found that is not allowed.
    var findingCount: Int { self.state.withLock { $0.linter.findingCount } }

    // MARK: What happens

    func print(_ update: GatewayUpdate) {
        self.state.withLock { state in
            switch update.content {
            case .synchronized(let snapshot): self.begin(snapshot, update, &state)
            case .dropped(let count):
                self.lines.notice(
                    "\(count) entries were dropped: this program reads too slowly", ["dropped": count],
                    at: update.time)
            case .event, .frame, .missed: break
            }
            self.tell(state.linter.see(update), state.linter)
            self.noteUnjudged(at: update.time, &state)
        }
    }

    func print(_ connection: ConnectionState) {
        self.state.withLock { state in
            let (wasConnected, date) = (state.isConnected, Date())
            if case .connected = connection { state.isConnected = true } else { state.isConnected = false }
            state.linter.connectionChanged(state.isConnected, at: date)
            guard state.hasBegun, wasConnected != state.isConnected else { return }
            if case .closed(.closed) = connection { return }
            self.lines.notice(
                state.isConnected ? "connected again" : "connection to the gateway lost; reconnecting",
                ["connected": state.isConnected], at: date)
        }
    }

    /// Lets rules that wait decide, until the task is cancelled.
    func keepTime() async {
        while !Task.isCancelled {
            do { try await Task.sleep(for: Self.interval) } catch { return }
            self.state.withLock { state in
                self.tell(state.linter.advance(to: Date()), state.linter)
            }
        }
    }

    /// Prints how often each rule found something.
    func end() {
        self.state.withLock { state in
            let off = LintID.allCases.filter { $0.isForRunsAlone || state.isHidingNoted && $0.needsContent }
            self.lines.summary(state.linter.summary, off: off, at: Date())
        }
    }

    // MARK: Lines

    private func begin(_ snapshot: GatewaySnapshot, _ update: GatewayUpdate, _ state: inout State) {
        state.hasBegun = true
        let parts = [
            GuidanceText.counted(snapshot.vehicles.count, "vehicle"),
            GuidanceText.counted(snapshot.clients.count, "client"),
            GuidanceText.counted(snapshot.sessions.count, "session"),
        ]
        self.lines.notice(
            "judging \(parts.joined(separator: ", ")) of gateway \(snapshot.gateway.instance)",
            ["instance": snapshot.gateway.instance], at: update.time)
        guard !snapshot.gateway.showsContent, !state.isHidingNoted else { return }
        state.isHidingNoted = true
        let off = LintID.allCases.filter(\.needsContent).map(\.rawValue)
        Terminal.note(
            "texts and places are hidden, so \(off.joined(separator: ", ")) are off; `observe: content` of the "
                + "listener, in the settings of waymarkd, shows them")
    }

    /// Says once that some sessions are not judged.
    private func noteUnjudged(at date: Date, _ state: inout State) {
        let count = state.linter.unjudgedCount
        defer { state.isUnjudgedNoted = count > 0 }
        guard count > 0, !state.isUnjudgedNoted else { return }
        self.lines.notice(
            "the sessions with the longest routes are not judged: all routes would take too much memory",
            ["unjudged": count], at: date)
    }

    private func tell(_ findings: [Finding], _ linter: LiveLinter) {
        for finding in findings {
            self.lines.finding(finding, at: linter.date(of: finding.instant))
        }
    }
}

/// Findings as JSON objects. Docs/cluster-json.md has every key.
enum LintJSON {
    static func line(_ finding: Finding, at time: Date) -> String {
        var object: [String: Any] = [
            "kind": "finding", "rule": finding.rule.rawValue, "sentence": finding.rule.sentence,
            "text": finding.text, "peer": finding.peer.description, "number": finding.entry,
        ]
        if finding.session != .none { object["session"] = Int(finding.session.rawValue) }
        object.set(nonEmpty: "field", finding.field)
        object.set(
            nonEmpty: "values",
            Dictionary(finding.values.map { ($0.name, $0.text as Any) }) { first, _ in first })
        return JSON.line(object, at: time)
    }

    /// `off`: the rules that could not judge.
    static func summary(_ counts: [Linter.Count], off: [LintID], at time: Date) -> String {
        let rules = counts.filter { $0.found > 0 || $0.allowance != nil }.map { count in
            var object: [String: Any] = [
                "rule": count.rule.rawValue, "found": count.found, "omitted": count.omitted,
            ]
            object.set("allowed", count.allowance)
            return object
        }
        let findings = counts.reduce(0) { $0 + ($1.allowance == nil ? $1.found : 0) }
        var object: [String: Any] = ["kind": "lint", "findings": findings, "rules": rules]
        object.set(nonEmpty: "off", off.map(\.rawValue))
        return JSON.line(object, at: time)
    }
}
