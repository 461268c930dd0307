internal import Foundation
internal import WaymarkClient
internal import WaymarkCodec
internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRecording

/// What a vehicle was told over time: bands of words and curves of numbers, thinned to the columns of the page.
///
/// A question reads a bounded part of the history and says where to go on, so that the questions of other pages are answered in between.
struct Lanes {
    private static let columnsRange = 1...1_000
    /// Entries that one question looks at.
    private static let scannedMax = 5_000
    /// Publications whose receipts are waited for.
    private static let waitingMax = 1_000

    private let source: InspectedSource
    private let vehicle: String
    private let begin: RecordingTime
    private let end: RecordingTime
    private let columns: Int
    private var states: [SessionID: VehicleState] = [:]
    private var bands: [String: [Answer.Band]] = [:]
    private var curves: [String: Curve] = [:]
    private var counts: [Int]
    /// When publications were made, by their numbers; of one session.
    private var published: [UInt64: RecordingTime] = [:]
    private var session = SessionID.none
    /// The newest publication that each endpoint has shown.
    private var shown: [String: UInt64] = [:]

    /// The lowest and the highest value of each column.
    private struct Curve {
        var points: [[Double]] = []
        private var column = -1
        private var low: [Double] = []
        private var high: [Double] = []

        mutating func add(_ value: Double, at: Double, column: Int) {
            if column != self.column {
                self.flush()
                (self.column, self.low, self.high) = (column, [at, value], [at, value])
            }
            if value < self.low[1] { self.low = [at, value] }
            if value >= self.high[1] { self.high = [at, value] }
        }

        mutating func flush() {
            guard self.column >= 0 else { return }
            let pair = self.low[0] < self.high[0] ? [self.low, self.high] : [self.high, self.low]
            self.points += pair[0] == pair[1] ? [pair[0]] : pair
            self.column = -1
        }
    }

    init(_ query: InspectorQuery, _ source: InspectedSource) throws(InspectorError) {
        self.source = source
        self.vehicle = try query.required("id")
        self.begin = try source.time(query, "from") ?? source.from
        self.end = try source.time(query, "to") ?? source.end
        self.columns = try query.number("columns", Self.columnsRange, default: 400)
        self.counts = []
        guard self.begin <= self.end else { throw InspectorError(.invalid, field: "to", "is before from") }
    }

    mutating func answer(_ query: InspectorQuery) throws(InspectorError) -> Answer.Lanes {
        let after = try query.text("after")
        let first =
            if let after { try EntryPlace(after, field: "after") } else {
                EntryPlace(time: self.begin.previous, number: 0, index: .max)
            }
        guard first.time >= self.source.from.previous else {
            throw InspectorError(.gone, field: "after", "is no longer kept")
        }
        self.counts = [Int](repeating: 0, count: self.columns)
        let before = try self.source.state(at: first.time)
        let session = VehicleID(self.vehicle).flatMap { before.gateway.vehicles[$0]?.session } ?? .none
        if let record = before.gateway.sessions[session] {
            self.note(self.state(of: record, before), session, at: max(self.begin, first.time))
        }
        var (scanned, last) = (0, first)
        var next: EntryPlace?
        let isWhole = try HistoryReader(source: self.source).forEach(
            from: first.time, to: self.end.next, frames: ReceiptBook.isOfReceipts
        ) { placed, state throws(InspectorError) in
            guard placed.place > first else { return true }
            guard scanned < Self.scannedMax else {
                next = last
                return false
            }
            scanned += 1
            last = placed.place
            self.see(placed, state)
            return true
        }
        if !isWhole, last > first { next = last }
        let curves = self.curves.sorted { $0.key < $1.key }.map { name, curve in
            var curve = curve
            curve.flush()
            return Answer.Curve(name: name, points: curve.points)
        }
        return Answer.Lanes(
            from: self.source.seconds(self.begin), to: self.source.seconds(self.end),
            bands: self.bands.sorted { $0.key < $1.key }.flatMap(\.value), curves: curves,
            publications: self.counts, truncated: next != nil, next: next.map { "\($0)" })
    }

    private func state(of record: SessionRecord, _ state: RecordedState) -> VehicleState {
        var cache = ContentCache()
        return cache.content(of: record, state, self.source).state
    }

    private mutating func see(_ placed: PlacedEntry, _ state: RecordedState) {
        guard let frame = placed.frame, frame.delivery == .whole, frame.direction == .in, !frame.isRejected,
            placed.vehicles.contains(self.vehicle), !placed.isOfOthers(self.vehicle)
        else { return }
        let header = frame.frame.header
        let time = placed.place.time
        if header.type == .receipt {
            guard header.session == self.session, let peer = frame.peers.first,
                case .receipt(let receipt)? = HistoryAnswers.message(frame.frame),
                receipt.shownSequence > self.shown[peer] ?? 0
            else { return }
            self.shown[peer] = receipt.shownSequence
            if let published = self.published[receipt.shownSequence], time >= published {
                self.add("shown \(peer)", Double(time.nanoseconds - published.nanoseconds) / 1e6, at: time)
            }
            return
        }
        let session = header.session
        if session != self.session { (self.published, self.shown, self.session) = ([:], [:], session) }
        if self.published.count >= Self.waitingMax {
            self.published = self.published.filter { $0.key + 500 > header.sequence }
        }
        self.published[header.sequence] = time
        self.counts[self.column(time)] += 1
        if self.states[session] == nil, let record = state.gateway.sessions[session] {
            // The state has this frame already.
            self.states[session] = self.state(of: record, state)
        }
        guard var shown = self.states[session] else { return }
        do throws(DecodingError) {
            shown.apply(try Codec.decode(self.source.shown(frame.frame)))
        } catch {
            return  // Of a type that this build does not know.
        }
        self.note(shown, session, at: time)
    }

    private func column(_ time: RecordingTime) -> Int {
        let length = max(1e-9, self.source.seconds(self.end) - self.source.seconds(self.begin))
        let part = (self.source.seconds(time) - self.source.seconds(self.begin)) / length
        return min(self.columns - 1, max(0, Int(part * Double(self.columns))))
    }

    private mutating func note(_ state: VehicleState, _ session: SessionID, at time: RecordingTime) {
        self.states[session] = state
        let next = state.upcomingManeuvers.first
        let maneuver = next.flatMap { id in state.maneuvers.first { $0.id == id } }
        self.band(
            "maneuver",
            next.map { maneuver?.instructionVariants.first ?? "maneuver \($0.rawValue)" } ?? "", time)
        self.band("state", next == nil ? "" : state.maneuverState.name, time)
        self.band("lanes", state.currentLaneGuidance.map { "lane guidance \($0.rawValue)" } ?? "", time)
        self.band("alert", state.alert.map { "alert \($0.id)" } ?? "", time)
        let cells = state.tripEstimates
        if let cells {
            self.add("distanceLeft", Double(cells.distanceRemaining.meters), at: time)
            if let left = cells.timeRemaining { self.add("timeLeft", left / .seconds(1), at: time) }
        }
        if let limit = state.speedLimit?.value { self.add("speedLimit", Double(limit), at: time) }
    }

    /// A band begins, or goes on. Of those that begin in one column the last counts.
    private mutating func band(_ lane: String, _ text: String, _ time: RecordingTime) {
        let at = self.source.seconds(time)
        let last = self.bands[lane]?.last
        guard last?.text != text else { return }
        if let last,
            self.column(time) == self.column(self.begin + .seconds(last.at - self.source.seconds(self.begin)))
        {
            self.bands[lane]?.removeLast()
        }
        self.bands[lane, default: []].append(Answer.Band(lane: lane, at: at, text: String(text.prefix(80))))
    }

    private mutating func add(_ name: String, _ value: Double, at time: RecordingTime) {
        self.curves[name, default: Curve()].add(
            value, at: self.source.seconds(time), column: self.column(time))
    }
}
