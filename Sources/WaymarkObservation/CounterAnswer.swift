internal import WaymarkCodec
internal import WaymarkGateway
package import WaymarkProtocol

/// What is counted, apart from the phases of sessions, and what waits for connections.
package struct Measures: Sendable {
    package var counters: [CounterReport.Counter]
    package var connections: [ConnectionMeasure]

    package init(counters: [CounterReport.Counter], connections: [ConnectionMeasure]) {
        self.counters = counters
        self.connections = connections
    }
}

/// How far an observer is told the counters that it asked for.
struct CounterAnswer: Sendable {
    enum Part: Sendable {
        /// The event loops are measuring.
        case awaited
        case counters
        case connections(next: Int)
        case sessions(after: Gateway.ObservedSession?)
    }

    let read: ReadCounters
    var part = Part.awaited
    var connections: [ConnectionMeasure] = []

    init(_ read: ReadCounters) { self.read = read }

    var isMeasured: Bool { if case .awaited = self.part { false } else { true } }
}

// Counters are told at their place among the entries. Measures follow, in as many messages as they need; what happens meanwhile comes
// between them.
extension ObservationHub {
    /// Measures in one message.
    private static let measuresPerMessage = 256

    /// An observer asks for counters. What it asks for until its answer begins is answered together.
    package mutating func read(_ counters: ReadCounters, from connection: ConnectionID) {
        guard let place = self.place(of: connection) else { return }
        var asked = counters
        if let waiting = self.observations[place]?.asked { asked.formUnion(waiting) }
        self.observations[place]?.asked = asked
        self.mayBeAsked = true
    }

    /// An observer asked for counters, and ``beginMeasuring()`` would begin to answer it.
    package var isMeasuringDue: Bool {
        self.mayBeAsked && self.observations.contains { $0?.asked != nil && $0?.answer == nil }
    }

    /// Begins to answer all that observers ask for.
    ///
    /// - Returns: Whether measures of connections are needed; nil if nothing was asked.
    package mutating func beginMeasuring() -> Bool? {
        guard self.mayBeAsked else { return nil }
        var needsConnections: Bool?
        self.mayBeAsked = false
        for place in self.observations.indices {
            guard let asked = self.observations[place]?.asked else { continue }
            guard self.observations[place]?.answer == nil else {
                self.mayBeAsked = true
                continue
            }
            self.observations[place]?.asked = nil
            self.observations[place]?.answer = CounterAnswer(asked)
            needsConnections = needsConnections == true || asked.wantsConnections
        }
        return needsConnections
    }

    /// Some observer is being told what it asked for.
    package var isAnswering: Bool { self.observations.contains { $0?.answer != nil } }

    /// The event loops have measured.
    package mutating func endMeasuring() {
        for place in self.observations.indices where self.observations[place]?.answer?.isMeasured == false {
            self.observations[place]?.answer?.part = .counters
            self.note(place)
        }
    }

    /// Adds what an observer asked for, as far as there is room.
    mutating func tellCounters(
        _ observation: inout Observation, _ gateway: inout Gateway, _ room: inout Int,
        _ measures: () -> Measures, into frames: inout [Frame], at now: Instant
    ) {
        while room > 0, var answer = observation.answer, answer.isMeasured {
            var report = CounterReport()
            (report.number, report.instant) = (observation.number, now)
            answer.addPart(to: &report, observation, &gateway, measures, countMax: Self.measuresPerMessage)
            observation.answer = report.isLast ? nil : answer
            let frame = self.encoder.encode(Envelope(.counters(report)))
            room -= frame.bytes.count
            frames.append(frame)
        }
    }
}

extension CounterAnswer {
    fileprivate mutating func addPart(
        to report: inout CounterReport, _ observation: Observation, _ gateway: inout Gateway,
        _ measures: () -> Measures, countMax: Int
    ) {
        switch self.part {
        case .awaited: break
        case .counters:
            let measures = measures()
            report.counters = measures.counters
            report.counters += gateway.phases.all.map {
                .init(.sessionsInPhase, label: $0.code, $0.count)
            }
            if self.read.wantsConnections { self.connections = measures.connections }
            self.part = .connections(next: 0)
        case .connections(let next):
            let end = min(next + countMax, self.connections.count)
            report.connections = self.connections[next..<end].filter {
                observation.mayMeasure($0.connection, in: gateway)
            }
            self.part = end < self.connections.count ? .connections(next: end) : .sessions(after: nil)
        case .sessions(var last):
            for _ in 0..<countMax {
                guard self.read.wantsSessions, let session = gateway.session(after: last) else {
                    report.isLast = true
                    break
                }
                last = session
                guard observation.mayMeasure(session.id, in: gateway),
                    let measure = gateway.measure(of: session.id, at: report.instant)
                else { continue }
                report.sessions.append(measure)
            }
            self.part = .sessions(after: last)
        }
        if case .connections(0) = self.part, self.connections.isEmpty { self.part = .sessions(after: nil) }
        if case .sessions(nil) = self.part, !self.read.wantsSessions { report.isLast = true }
    }
}
