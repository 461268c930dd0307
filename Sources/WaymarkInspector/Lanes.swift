internal import Foundation
internal import WaymarkClient
internal import WaymarkCodec
internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRecording

/// The lanes of what a vehicle was told over time: bands of words and curves of numbers, thinned to the columns of the page.
///
/// A question goes over a bounded part of the history and says where to go on. So the questions of other pages are answered in between, and a
/// page that has all asks for what is new alone.
struct Lanes {
    struct Bounds {
        /// Entries that one question goes over.
        var entries = 20_000
        /// Entries of a column that are read; from then on, what is left of it is left out as far as the history can be entered.
        var columnEntries = 2_000
        /// The time before a part in which publications are looked for that are shown in it.
        var lookback = Duration.seconds(2)
    }

    private static let columnsRange = 1...1_000
    /// Entries before a part that are gone over, also those of the time at which it begins.
    private static let lookedMax = 100_000

    private let source: InspectedSource
    private let vehicle: VehicleID
    private let begin: RecordingTime
    private let end: RecordingTime
    private let columns: Int
    private let bounds: Bounds
    private var drawing: LaneDrawing
    /// The session that guides the vehicle, and what it has published; nil: not known yet.
    private var session = SessionID.none
    private var published: VehicleState?
    private var delays = ShownDelays()
    /// Publications in each column, and the nanoseconds of it that were left out.
    private var counts: [Int: Int] = [:]
    private var leftOut: [Int: UInt64] = [:]
    /// The endpoints of connections.
    private var endpoints: [ConnectionID: String] = [:]

    init(_ query: InspectorQuery, _ source: InspectedSource, _ bounds: Bounds = Bounds())
        throws(InspectorError)
    {
        (self.source, self.vehicle, self.bounds) = (source, try query.vehicleID(), bounds)
        self.begin = try source.time(query, "from") ?? source.from
        self.end = try source.time(query, "to") ?? source.end
        self.columns = try query.number("columns", Self.columnsRange, default: 400)
        guard self.begin <= self.end else { throw InspectorError(.invalid, field: "to", "is before from") }
        self.drawing = LaneDrawing(source)
    }

    mutating func answer(_ query: InspectorQuery) throws(InspectorError) -> Answer.Lanes {
        let after = try query.text("after")
        let first =
            if let after { try EntryPlace(after, field: "after") } else {
                EntryPlace(time: self.begin.previous, number: 0, index: 1_000_000)
            }
        guard first.time >= self.source.from.previous else {
            throw InspectorError(.gone, field: "after", "is no longer kept")
        }
        let before = try self.source.state(at: first.time)
        self.note(before, at: max(self.begin, first.time))
        if let record = before.gateway.sessions[self.session] {
            self.published = self.state(of: record, before)
            self.draw(at: max(self.begin, first.time))
        }
        let (last, isWhole) = try self.read(after: first)
        let covered = isWhole ? max(first.time, min(self.end, self.source.end)) : last.time
        self.drawWaiting(from: after == nil ? nil : first.time, to: covered)
        self.drawRate(from: max(self.begin, first.time), to: covered)
        return Answer.Lanes(
            from: self.source.seconds(self.begin), to: self.source.seconds(covered),
            bands: self.drawing.bands, curves: self.drawing.curves, sampled: !self.leftOut.isEmpty,
            truncated: !isWhole, last: "\(last)")
    }

    // MARK: Reading

    /// Goes over the entries after a place; returns the place of the last one, and whether there is none after it.
    private mutating func read(after first: EntryPlace) throws(InspectorError) -> (EntryPlace, isWhole: Bool)
    {
        let earliest = max(self.source.from, first.time + (.zero - self.bounds.lookback))
        let divisions = self.source.divisions
        var walk = try PlacedWalk(self.source, from: earliest)
        // The bounds hold also where times of a recording that lies go back.
        var entered = RecordingTime(nanoseconds: 0)
        var (looked, walked, ofColumn, column, last) = (0, 0, 0, -1, first)
        while let (entry, place) = try walk.next() {
            guard place > first else {
                looked += 1
                self.remember(entry)
                if looked == self.bounds.entries { walk = try PlacedWalk(self.source, from: first.time) }
                guard looked < Self.lookedMax else { return (last, true) }
                continue
            }
            guard place.time <= self.end else { break }
            guard walked < self.bounds.entries else { return (last, false) }
            walked += 1
            last = max(last, place)
            let own = self.column(place.time)
            ofColumn = own == column ? ofColumn + 1 : 1
            column = own
            self.see(entry, at: place.time, walk.state)
            guard ofColumn > self.bounds.columnEntries else { continue }
            let next = self.beginning(of: own + 1)
            let index = divisions.partitioningIndex { $0 > next }
            guard index > 0, divisions[index - 1] > max(place.time, entered) else { continue }
            entered = divisions[index - 1]
            self.leftOut[own, default: 0].addSaturating(entered.nanoseconds - place.time.nanoseconds)
            self.published = nil
            walk = try PlacedWalk(self.source, from: entered)
        }
        return (last, true)
    }

    /// Notes when something before the part was published.
    private mutating func remember(_ entry: RecordedEntry) {
        guard case .frame(let frame) = entry.content, frame.direction == .in, !frame.isRejected else {
            return
        }
        let header = frame.frame.header
        guard header.session == self.session, header.isPublication else { return }
        self.delays.publish(header.sequence, at: entry.time)
    }

    /// `state` is that after the entry.
    private mutating func see(_ entry: RecordedEntry, at time: RecordingTime, _ state: RecordedState) {
        guard case .frame(let frame) = entry.content else { return self.note(state, at: time) }
        guard frame.direction == .in else { return }
        self.note(state, at: time)
        guard frame.delivery == .whole, !frame.isRejected else { return }
        let header = frame.frame.header
        if header.type == .receipt { return self.confirm(frame, at: time) }
        guard header.isPublication, state.peers.vehicles(of: header.session).contains(self.vehicle) else {
            return
        }
        self.counts[self.column(time), default: 0] += 1
        guard header.session == self.session else { return }
        self.delays.publish(header.sequence, at: time)
        guard self.published != nil else {
            // The state has this frame already.
            self.published = state.gateway.sessions[self.session].map { self.state(of: $0, state) }
            return self.draw(at: time)
        }
        let shown = self.source.shown(frame.frame)
        do throws(DecodingError) {
            self.published?.apply(try Codec.decode(shown))
        } catch {
            return  // Of a type that this build does not know.
        }
        self.draw(at: time)
    }

    private mutating func confirm(_ frame: RecordedFrame, at time: RecordingTime) {
        guard frame.frame.header.session == self.session, let peer = frame.peers.first,
            PlacedEntry.vehicle(of: peer) == self.vehicle.rawValue,
            case .receipt(let receipt)? = HistoryAnswers.message(frame.frame),
            let delay = self.delays.confirm(receipt.shownSequence, of: peer, at: time)
        else { return }
        self.add(
            "shown", PlacedEntry.endpoint(of: peer), (delay / .microseconds(1)).rounded() / 1_000, at: time)
    }

    private func state(of record: SessionRecord, _ state: RecordedState) -> VehicleState {
        var cache = ContentCache()
        return cache.content(of: record, state, self.source).state
    }

    // MARK: Drawing

    private func column(_ time: RecordingTime) -> Int {
        guard time > self.begin else { return 0 }
        let part =
            Double(time.nanoseconds - self.begin.nanoseconds)
            / Double(max(1, self.end.nanoseconds - self.begin.nanoseconds))
        return min(self.columns - 1, Int(part * Double(self.columns)))
    }

    private func beginning(of column: Int) -> RecordingTime {
        guard column < self.columns else { return self.end }
        let length = Double(self.end.nanoseconds - self.begin.nanoseconds)
        let part = UInt64(Double(column) / Double(self.columns) * length)
        return RecordingTime(nanoseconds: self.begin.nanoseconds + part)
    }

    /// Draws what records say: connections, requests, and which session guides.
    private mutating func note(_ state: RecordedState, at time: RecordingTime) {
        let record = state.gateway.vehicles[self.vehicle]
        let session = record?.session ?? .none
        if session != self.session {
            (self.session, self.published, self.delays) = (session, nil, ShownDelays())
            if session == .none { self.draw(at: time) }
        }
        let column = self.column(time)
        let client = state.gateway.sessions[session].map { session in
            let isThere = state.gateway.clients[session.client]?.connection != nil
            return isThere ? session.client.rawValue : "\(session.client.rawValue) is away"
        }
        self.drawing.band("client", client ?? "", at: time, column)
        var connected: [String: String] = [:]
        for endpoint in record?.endpoints ?? [] where !endpoint.isInspector {
            let name = endpoint.endpoint.rawValue
            connected[name] = endpoint.connection == nil ? "away" : "connected"
            if let connection = endpoint.connection { self.endpoints[connection] = name }
        }
        self.drawing.bands("connection", connected, at: time, column)
        let open = state.gateway.requests.values.filter { $0.key.vehicle == self.vehicle }
        self.drawing.band("request", LaneWords.requests(open), at: time, column)
    }

    /// Draws what is published.
    private mutating func draw(at time: RecordingTime) {
        let column = self.column(time)
        let state = self.published ?? VehicleState()
        for (lane, text) in LaneWords.bands(state) { self.drawing.band(lane, text, at: time, column) }
        if let left = state.tripEstimates {
            self.add("distanceLeft", nil, Double(left.distanceRemaining.meters), at: time)
            if let seconds = left.timeRemaining { self.add("timeLeft", nil, seconds / .seconds(1), at: time) }
        }
        if let limit = state.speedLimit?.value { self.add("speedLimit", nil, Double(limit), at: time) }
    }

    private mutating func add(_ name: String, _ endpoint: String?, _ value: Double, at time: RecordingTime) {
        self.drawing.add(name, endpoint, value, at: time, self.column(time))
    }

    /// `from`: after which time; nil: what waited at the beginning, too.
    private mutating func drawWaiting(from first: RecordingTime?, to last: RecordingTime) {
        var earlier: [String: UInt64] = [:]
        var isBegun = first != nil
        func begin() {
            isBegun = true
            for (endpoint, bytes) in earlier { self.add("waiting", endpoint, Double(bytes), at: self.begin) }
        }
        for sample in self.source.waiting.samples(after: first, to: last) {
            guard let endpoint = self.endpoints[sample.connection] else { continue }
            if sample.time <= self.begin, first == nil {
                earlier[endpoint] = sample.bytes
                continue
            }
            if !isBegun { begin() }
            self.add("waiting", endpoint, Double(sample.bytes), at: sample.time)
        }
        if !isBegun { begin() }
    }

    private mutating func drawRate(from first: RecordingTime, to last: RecordingTime) {
        let length = Double(max(1, self.end.nanoseconds - self.begin.nanoseconds)) / Double(self.columns)
        let points = (self.column(first)...max(self.column(first), self.column(last))).map { column in
            // The part that was left out is assumed to have as many publications as the rest.
            let read = max(length / 100, length - Double(self.leftOut[column] ?? 0))
            let rate = Double(self.counts[column] ?? 0) / read * 1e9
            return [self.source.seconds(self.beginning(of: column)), (rate * 1_000).rounded() / 1_000]
        }
        self.drawing.addCurve("rate", points)
    }
}

/// The times that publications of one session take until endpoints show them.
private struct ShownDelays {
    /// Publications that are waited for, at most twice as many.
    private static let waitingMax = 500

    private var published: [UInt64: RecordingTime] = [:]
    /// The newest publication that each peer has shown.
    private var shown: [String: UInt64] = [:]

    mutating func publish(_ sequence: UInt64, at time: RecordingTime) {
        if self.published.count >= 2 * Self.waitingMax {
            self.published = self.published.filter {
                $0.key.addingSaturating(UInt64(Self.waitingMax)) > sequence
            }
            // Numbers that go back, of a recording that lies.
            if self.published.count >= 2 * Self.waitingMax { self.published = [:] }
        }
        self.published[sequence] = time
    }

    /// nil if it is nothing new, or if it is not known when it was published.
    mutating func confirm(_ sequence: UInt64, of peer: String, at time: RecordingTime) -> Duration? {
        guard sequence > self.shown[peer] ?? 0, self.shown.count < LaneDrawing.endpointsMax else {
            return nil
        }
        self.shown[peer] = sequence
        guard let published = self.published[sequence], time >= published else { return nil }
        return time - published
    }
}
