internal import Foundation
internal import WaymarkClient
internal import WaymarkCodec
internal import WaymarkHistory
internal import WaymarkLint
package import WaymarkProtocol
package import WaymarkRecording
internal import WaymarkTexts

/// What the lint rules found in a source so far. A value without I/O.
package struct FindingBook: Sendable {
    private struct Row: Sendable {
        let finding: Finding
        let time: RecordingTime
        let vehicles: [String]
    }

    /// Older ones are dropped.
    static let countMax = 2_000

    private var rows: [Row] = []
    private var dropped = 0
    private var live = LiveLinter()
    private var recorded: RecordedLinter?
    /// How much of a recording is judged, 0 to 1; 1 for a live source.
    package private(set) var progress = 1.0

    /// For a live source.
    package init() {}

    /// For a recording, of which nothing is judged yet.
    package init(_ recording: Recording) {
        var linter = RecordedLinter()
        linter.begin(recording)
        self.recorded = linter
        self.progress = 0
    }

    // MARK: Judging

    /// Judges what a gateway told. `state`: after it.
    package mutating func see(_ message: Message, _ state: RecordedState, at time: RecordingTime) {
        let number = state.gateway.number
        switch message {
        case .observedRecords(let records) where records.isLast:
            let snapshot = GatewaySnapshot.recorded(state.gateway, instance: "")
            self.see(.recorded(.synchronized(snapshot), number: number, at: time.date), state)
        case .observedEvent(let event):
            let peer = event.connection.map { state.peers.peer(of: $0).name } ?? ""
            self.see(
                .recorded(.event(.recorded(event, peer: peer)), number: event.number, at: time.date), state)
        case .observationGap(let gap):
            self.see(.recorded(.dropped(gap.dropped), number: number, at: time.date), state)
        case .observedFrames(let told):
            let connections = told.connection.map { [$0] } ?? state.peers.connections(of: told.audience)
            let peers = connections.map { state.peers.peer(of: $0).name }
            for frame in Frame.all(in: told.frames) {
                let way: ObservedFrame.Way = told.direction == .in ? .from(peers.first ?? "") : .to(peers)
                let observed = ObservedFrame.recorded(
                    frame, way, to: state.peers.vehicles(of: told.session), isRedacted: told.isRedacted,
                    isRejected: told.isRejected)
                self.see(.recorded(.frame(observed), number: told.number, at: time.date), state)
            }
        default: break  // Nothing to judge.
        }
    }

    private mutating func see(_ update: GatewayUpdate, _ state: RecordedState) {
        for finding in self.live.see(update) {
            self.add(finding, at: self.live.date(of: finding.instant), state)
        }
    }

    /// Time has passed: rules that wait decide.
    package mutating func advance(to time: RecordingTime, _ state: RecordedState) {
        for finding in self.live.advance(to: time.date) {
            self.add(finding, at: self.live.date(of: finding.instant), state)
        }
    }

    /// The connection to the gateway was lost, or is there again.
    package mutating func connectionChanged(_ isConnected: Bool, at time: RecordingTime) {
        self.live.connectionChanged(isConnected, at: time.date)
    }

    private mutating func add(_ finding: Finding, at date: Date, _ state: RecordedState) {
        let vehicles = state.peers.vehicles(of: finding.session).map(\.rawValue)
        self.add(finding, RecordingTime(date), vehicles)
    }

    private mutating func add(_ finding: Finding, _ time: RecordingTime, _ vehicles: [String]) {
        let own = PlacedEntry.vehicle(of: finding.peer.description).map { [$0] } ?? []
        self.rows.append(
            Row(finding: finding, time: time, vehicles: Set(vehicles + own).sorted()))
        guard self.rows.count > Self.countMax else { return }
        self.rows.removeFirst()
        self.dropped += 1
    }

    /// Judges a part of a recording.
    ///
    /// - Returns: Whether more follows.
    package mutating func judgeMore(_ entriesMax: Int, _ recording: Recording) -> Bool {
        guard var linter = self.recorded else { return false }
        self.recorded = nil
        var found: [(Finding, RecordingTime, Set<VehicleID>)] = []
        var goesOn = false
        do throws(RecordingError) {
            goesOn = try linter.judgeMore(entriesMax) { output in
                if case .finding(let finding, let time, let vehicles) = output {
                    found.append((finding, time, vehicles))
                }
            }
        } catch {
            // What is damaged, and what is behind it, is not judged.
            self.isStopped = true
        }
        for (finding, time, vehicles) in found { self.add(finding, time, vehicles.map(\.rawValue)) }
        if !self.isStopped { self.progress = 1 }
        if goesOn, let times = recording.times, let time = linter.time {
            let length = (times.upperBound - times.lowerBound) / .seconds(1)
            self.progress = min(0.999, (time - times.lowerBound) / .seconds(1) / max(length, 0.001))
        }
        self.recorded = goesOn ? linter : nil
        self.summary = linter.summary
        return goesOn
    }

    private var summary: [Linter.Count] = []
    /// The recording is damaged: what is behind ``progress`` was not judged.
    private var isStopped = false

    // MARK: Answers

    /// How many findings concern each vehicle.
    var counts: [String: Int] {
        self.rows.reduce(into: [:]) { counts, row in
            for vehicle in row.vehicles { counts[vehicle, default: 0] += 1 }
        }
    }

    /// How many there were, to notice new ones.
    package var count: Int { self.rows.count + self.dropped }

    /// Newest first.
    func answer(_ vehicle: String?, _ source: InspectedSource, limit: Int) -> Answer.Findings {
        let rows = self.rows.filter { vehicle.map($0.vehicles.contains) ?? true }
        let shown = rows.suffix(limit).reversed().map { row in
            let finding = row.finding
            let values = Dictionary(finding.values.map { ($0.name, $0.text) }) { first, _ in first }
            return Answer.Finding(
                kind: "finding", rule: finding.rule.rawValue, sentence: finding.rule.sentence,
                peer: finding.peer.description, number: finding.entry, vehicles: row.vehicles,
                at: source.seconds(row.time), time: JSON.time(row.time.date),
                text: source.isRedacted ? finding.rule.sentence : finding.text,
                session: finding.session == .none ? nil : Int(finding.session.rawValue),
                field: finding.field.isEmpty ? nil : finding.field,
                values: source.isRedacted || values.isEmpty ? nil : values)
        }
        let off = LintID.allCases.filter { $0.isForRunsAlone || (!source.showsContent && $0.needsContent) }
        return Answer.Findings(
            findings: shown, truncated: rows.count > limit || self.dropped > 0, judging: self.progress,
            stopped: self.isStopped, off: off.map(\.rawValue),
            rules: vehicle == nil ? self.rules : Self.rules(of: rows),
            unjudgedSessions: self.live.unjudgedCount > 0 ? self.live.unjudgedCount : nil)
    }

    /// How often each rule found something.
    private var rules: [Answer.RuleCount] {
        let summary = self.recorded == nil && self.summary.isEmpty ? self.live.summary : self.summary
        return summary.filter { $0.found > 0 }.map {
            .init(rule: $0.rule.rawValue, found: $0.found, omitted: $0.omitted)
        }
    }

    private static func rules(of rows: [Row]) -> [Answer.RuleCount] {
        Dictionary(grouping: rows, by: \.finding.rule.rawValue).sorted { $0.key < $1.key }.map {
            .init(rule: $0.key, found: $0.value.count, omitted: 0)
        }
    }
}
