internal import WaymarkHistory
package import WaymarkProtocol
package import WaymarkRecording

/// Judges recordings, one after the other, by the rules for a gateway that runs.
package struct RecordedLinter: Sendable {
    package enum Output: Sendable {
        /// `vehicles`: those that its session guided then.
        case finding(Finding, at: RecordingTime, vehicles: Set<VehicleID>)
        /// So many entries are missing in the recording: the rules begin again.
        case dropped(Int, at: RecordingTime)
    }

    private var linter: Linter
    private var recording: Recording?
    private var reader: RecordedHistory?
    /// Empty: all.
    private let vehicles: Set<VehicleID>

    /// Only what concerns the vehicles is judged; empty: everything.
    package init(allowing allowances: [LintAllowance] = [], vehicles: Set<VehicleID> = []) {
        self.linter = Linter(allowing: allowances)
        self.vehicles = vehicles
    }

    package var summary: [Linter.Count] { self.linter.summary }
    package var findingCount: Int { self.linter.findingCount }

    /// Judges a recording from its beginning to its end.
    package mutating func judge(
        _ recording: Recording, _ output: (Output) -> Void
    ) throws(RecordingError) {
        self.begin(recording)
        while try self.judgeMore(.max, output) {}
    }

    /// A recording follows; ``judgeMore(_:_:)`` judges it.
    package mutating func begin(_ recording: Recording) {
        // Connections and sessions of another recording have the same names.
        self.linter.forget()
        self.recording = recording
        self.reader = RecordedHistory(recording)
    }

    /// Up to where the recording is judged; nil if none has begun.
    package var time: RecordingTime? { self.reader?.time }

    /// Judges a part of the recording, of so many entries.
    ///
    /// - Returns: Whether more follows.
    package mutating func judgeMore(
        _ entriesMax: Int, _ output: (Output) -> Void
    ) throws(RecordingError) -> Bool {
        guard let recording, var reader else { return false }
        // So that it is not copied.
        self.reader = nil
        func tell(_ findings: [Finding]) {
            for finding in findings {
                let time = reader.begin + (finding.instant - Instant(nanoseconds: 0))
                output(.finding(finding, at: time, vehicles: reader.vehicles(of: finding.session)))
            }
        }
        var count = 0
        while count < entriesMax {
            count += 1
            guard let item = try reader.next() else {
                if let end = reader.end(of: recording) { tell(self.linter.advance(to: end)) }
                self.recording = nil
                return false
            }
            switch item {
            case .entry(let entry): if self.concerns(entry, reader) { tell(self.linter.see(entry)) }
            case .state(let state):
                self.linter.forget()
                for entry in reader.entries(of: state) where self.concerns(entry, reader) {
                    tell(self.linter.see(entry))
                }
            case .dropped(let count):
                self.linter.forget()
                output(.dropped(count, at: reader.time))
            }
        }
        self.reader = reader
        return true
    }

    /// As for an observer that asked for these vehicles alone; but clients that come and go always count.
    private func concerns(_ entry: History.Entry, _ reader: RecordedHistory) -> Bool {
        guard !self.vehicles.isEmpty else { return true }
        switch entry.kind {
        case .frame(let crossed):
            if let vehicle = crossed.peer.vehicle { return self.vehicles.contains(vehicle) }
            return !reader.vehicles(of: crossed.frame.header.session).isDisjoint(with: self.vehicles)
        case .broken(let peer, _, _), .connection(let peer, _):
            return peer.vehicle.map(self.vehicles.contains) ?? true
        case .fault, .step, .log: return true
        }
    }
}

extension RecordedHistory {
    /// What is there already: which clients are away, and what each session retains.
    fileprivate func entries(of state: RecordedState) -> [History.Entry] {
        var kinds: [History.Kind] = []
        for (id, record) in state.gateway.clients.sorted(by: { $0.key < $1.key })
        where record.connection == nil {
            kinds.append(.connection(.client(id), .ended(nil)))
        }
        let instant = self.instantOfState
        for (id, session) in state.gateway.sessions.sorted(by: { $0.key < $1.key }) {
            for frame in state.gateway.retained[id]?.frames ?? [] {
                kinds.append(
                    .frame(CrossedFrame(frame, of: .client(session.client), .toGateway, sent: instant)))
            }
        }
        return kinds.map { History.Entry(index: 0, instant: instant, kind: $0) }
    }

    private var instantOfState: Instant { Instant(nanoseconds: 0) + (self.time - self.begin) }
}
