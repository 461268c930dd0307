internal import Foundation
internal import WaymarkCodec
internal import WaymarkHistory
package import WaymarkProtocol
package import WaymarkRecording

/// What can be inspected: what an observer was told lately, or a recording.
package struct InspectedSource: Sendable {
    package enum History: Sendable {
        case recent(RecentHistory)
        case recorded(Recording)
    }

    /// `live`, `r1`, `r2`.
    package let id: String
    /// The gateway's address, or the name of the file.
    package let name: String
    package var history: History
    /// Places and texts are removed from everything that is answered.
    package let isRedacted: Bool
    /// Of a live source: its connection, as the page gets it.
    package var connection: [String: String] = [:]
    /// Of a live source: the gateway that it was welcomed by.
    package var welcome: Welcome?
    /// Of a live source: what waits where, read last.
    package var measures = GatewayMeasures()
    /// The bytes that waited where since a live source is observed.
    private(set) var waiting = WaitingHistory()

    package init(_ id: String, name: String, _ history: History, isRedacted: Bool) {
        (self.id, self.name, self.history, self.isRedacted) = (id, name, history, isRedacted)
    }

    /// Whether the waiting bytes of each connection are known: of live sources only.
    var hasMeasures: Bool { self.isLive && self.measures.isKnown }

    /// For questions about `time`: the measures are of now alone.
    func at(_ time: RecordingTime?) -> InspectedSource {
        guard time != nil else { return self }
        var source = self
        source.measures = GatewayMeasures()
        return source
    }

    /// Applies an answer of the gateway about its counters, all of its parts.
    package mutating func measure(_ parts: [CounterReport]) {
        self.measures.apply(parts)
        guard case .recent(let recent) = self.history, let last = parts.last else { return }
        self.waiting.note(self.measures.connections, at: recent.time(of: last.instant) ?? recent.end)
    }

    package var isLive: Bool { if case .recent = self.history { true } else { false } }

    // MARK: Time

    /// Nothing is earlier.
    var begin: RecordingTime {
        switch self.history {
        case .recent(let recent): recent.begin
        case .recorded(let recording): recording.times?.lowerBound ?? RecordingTime(nanoseconds: 0)
        }
    }

    /// The earliest time that can be asked for.
    var from: RecordingTime {
        switch self.history {
        case .recent(let recent): recent.from
        case .recorded: self.begin
        }
    }

    /// The time from which on every entry is kept. Some of those at the time before may have been given up, and the others are then
    /// counted anew.
    var wholeFrom: RecordingTime {
        if case .recent(let recent) = self.history, recent.counts.dropped > 0 {
            self.from.next
        } else {
            self.from
        }
    }

    /// The end of what there is.
    var end: RecordingTime {
        switch self.history {
        case .recent(let recent): recent.end
        case .recorded(let recording): recording.times?.upperBound ?? RecordingTime(nanoseconds: 0)
        }
    }

    /// Seconds since the beginning.
    func seconds(_ time: RecordingTime) -> Double {
        time >= self.begin
            ? Double(time.nanoseconds - self.begin.nanoseconds) / 1e9
            : -Double(self.begin.nanoseconds - time.nanoseconds) / 1e9
    }

    /// The time that a question names; nil: now, or the end.
    ///
    /// - Throws: `gone` if it is earlier than what is kept.
    func time(_ query: InspectorQuery, _ name: String = "at") throws(InspectorError) -> RecordingTime? {
        guard let nanoseconds = try query.nanoseconds(name) else { return nil }
        let (sum, isTooLate) = self.begin.nanoseconds.addingReportingOverflow(nanoseconds)
        let time = RecordingTime(nanoseconds: isTooLate ? .max : sum)
        guard time >= self.from else {
            throw InspectorError(
                .gone, field: name, "is no longer kept: history begins at \(self.seconds(self.from)) s")
        }
        return time
    }

    // MARK: What it has

    /// The gateway's state after everything that happened up to `time`; nil: now, or at the end.
    func state(at time: RecordingTime?) throws(InspectorError) -> RecordedState {
        if case .recent(let recent) = self.history, time == nil { return recent.state }
        return try self.walk(from: (time ?? self.end).next).state
    }

    func walk(from time: RecordingTime) throws(InspectorError) -> HistoryWalk {
        switch self.history {
        case .recent(let recent): return HistoryWalk(recent.walk(from: time))
        case .recorded(let recording):
            do throws(RecordingError) { return HistoryWalk(try RecordingWalk(recording, from: time)) } catch {
                throw InspectorError(.gone, "the recording cannot be read: \(error)")
            }
        }
    }

    /// Times that divide the history into parts that are read in one go, ascending.
    var divisions: [RecordingTime] {
        switch self.history {
        case .recent(let recent): return recent.divisions
        case .recorded(let recording):
            var times: [RecordingTime] = []
            for chunk in recording.index.chunks where chunk.recordByteCount > 0 {
                let time = RecordingTime(nanoseconds: chunk.startTime)
                if let last = times.last, last >= time { continue }
                times.append(time)
            }
            return times
        }
    }

    /// Whether places and texts are told at all.
    var showsContent: Bool {
        guard !self.isRedacted else { return false }
        switch self.history {
        case .recent: return self.welcome?.visibility.map { $0 >= .content } ?? false
        case .recorded(let recording):
            guard let origin = recording.origin else { return true }
            return !origin.isRedacted && origin.visibility != "\(Visibility.state)"
        }
    }

    /// The frame as it may be shown.
    func shown(_ frame: Frame) -> Frame {
        guard self.isRedacted else { return frame }
        let bytes = Codec.redacted(Array(frame.bytes))
        return Frame.all(in: bytes).first ?? Frame(header: frame.header, body: [])
    }
}

/// What the gateway last said of its connections and sessions.
package struct GatewayMeasures: Sendable {
    package private(set) var connections: [ConnectionID: ConnectionMeasure] = [:]
    package private(set) var sessions: [SessionID: SessionMeasure] = [:]
    /// Each second, from the last two; nil: not known.
    package private(set) var framesPerSecond: Double?
    package private(set) var deliveriesPerSecond: Double?
    private var sessionRates: [SessionID: Double] = [:]
    /// When states of a connection were last replaced while they waited.
    private var conflated: [ConnectionID: Instant] = [:]
    private var publications: UInt64 = 0
    private var deliveries: UInt64 = 0
    private var instant: Instant?

    package init() {}

    /// Something was told.
    var isKnown: Bool { self.instant != nil }

    /// Applies an answer, all of its parts.
    fileprivate mutating func apply(_ parts: [CounterReport]) {
        guard let last = parts.last else { return }
        let counters = parts.flatMap(\.counters)
        func sum(_ name: CounterName) -> UInt64 {
            counters.reduce(0) { $1.name == name.rawValue ? $0 &+ $1.value : $0 }
        }
        let (publications, deliveries) = (sum(.publications), sum(.deliveries))
        let sessions = Dictionary(parts.flatMap(\.sessions).map { ($0.session, $0) }) { $1 }
        let connections = Dictionary(parts.flatMap(\.connections).map { ($0.connection, $0) }) { $1 }
        if let instant, last.instant > instant {
            let seconds = (last.instant - instant) / .seconds(1)
            func rate(_ new: UInt64, _ old: UInt64) -> Double? {
                new >= old ? (Double(new - old) / seconds * 10).rounded() / 10 : nil
            }
            self.framesPerSecond = rate(publications, self.publications)
            self.deliveriesPerSecond = rate(deliveries, self.deliveries)
            self.sessionRates = [:]
            for (id, session) in sessions {
                guard let old = self.sessions[id] else { continue }
                self.sessionRates[id] = rate(session.sequence, old.sequence)
            }
            for (id, connection) in connections
            where connection.conflated > self.connections[id]?.conflated ?? 0 {
                self.conflated[id] = last.instant
            }
        }
        self.conflated = self.conflated.filter { last.instant - $0.value < .seconds(10) }
        (self.publications, self.deliveries, self.instant) = (publications, deliveries, last.instant)
        (self.sessions, self.connections) = (sessions, connections)
    }

    func framesPerSecond(of session: SessionID) -> Double? { self.sessionRates[session] }

    /// States were replaced while they waited, within the last ten seconds.
    func hasConflated(_ connection: ConnectionID) -> Bool { self.conflated[connection] != nil }
}

extension RecordingTime {
    /// A nanosecond earlier.
    var previous: RecordingTime { RecordingTime(nanoseconds: max(1, self.nanoseconds) - 1) }

    /// A nanosecond later; there is nothing after the last one.
    var next: RecordingTime { RecordingTime(nanoseconds: min(.max - 1, self.nanoseconds) + 1) }
}

/// Goes over a history, and holds the gateway's state.
struct HistoryWalk: Sendable {
    // Why not an enumeration: one of its cases would be copied, with the state, at each step.
    private var recent: RecentHistory.Walk?
    private var recorded: RecordingWalk?

    init(_ recent: RecentHistory.Walk) { self.recent = recent }

    init(_ recorded: RecordingWalk) { self.recorded = recorded }

    /// After all entries that ``next()`` returned, and before the one that it will return.
    var state: RecordedState { self.recent?.state ?? self.recorded?.state ?? RecordedState() }

    /// nil at the end.
    mutating func next() throws(InspectorError) -> RecordedEntry? {
        if self.recent != nil { return self.recent?.next() }
        do throws(RecordingError) { return try self.recorded?.next() } catch {
            throw InspectorError(.gone, "the recording cannot be read: \(error)")
        }
    }
}
