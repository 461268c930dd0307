internal import Foundation
internal import WaymarkClient
internal import WaymarkCodec
internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkTexts

/// Rows of the table of route guidance updates: one for each publication of a vehicle's session, with the state after it.
struct UpdateRows {
    private let vehicle: String
    private let source: InspectedSource
    private(set) var rows: [(EntryPlace, [String: Any])] = []
    private var states: [SessionID: VehicleState] = [:]
    /// Of the state before the next row; none without a session.
    private var cells: [String: Any] = [:]
    /// The rows of publications, by their numbers.
    private var places: [UInt64: Int] = [:]

    /// `state` is that before the first entry.
    init(_ vehicle: String, _ source: InspectedSource, after state: RecordedState) {
        (self.vehicle, self.source) = (vehicle, source)
        let session = VehicleID(vehicle).flatMap { state.gateway.vehicles[$0]?.session } ?? .none
        guard let record = state.gateway.sessions[session] else { return }
        var cache = ContentCache()
        let content = cache.content(of: record, state, source)
        self.states[session] = content.state
        self.cells = Self.cells(content.state)
    }

    /// `state` is that after the entry.
    mutating func see(_ placed: PlacedEntry, _ state: RecordedState) {
        guard let frame = placed.frame, frame.delivery == .whole, placed.vehicles.contains(self.vehicle),
            !placed.isOfOthers(self.vehicle)
        else { return }
        let header = frame.frame.header
        guard header.sequence > 0, MessageType.published.contains(header.rawType) else { return }
        guard frame.direction == .in else { return self.noteFitting(frame, header) }
        let session = header.session
        // The record of a session that this frame ends is gone before the frame.
        let record = state.gateway.sessions[session]
        guard record != nil || self.states[session] != nil else { return }
        if self.states[session] == nil, let record {
            // The state has this frame already.
            var cache = ContentCache()
            self.states[session] = cache.content(of: record, state, self.source).state
        }
        let envelope = Self.envelope(self.source.shown(frame.frame))
        if !frame.isRejected, let envelope { self.states[session]?.apply(envelope) }
        var more: [String: Any] = [:]
        if case .publication(.resumeGuidance(_, let reason, _))? = envelope?.message {
            more["rerouteReason"] = reason.name
        }
        let shown = self.states[session] ?? VehicleState()
        let published = state.estimated[session] ?? placed.place.time
        more.set("arrival", VehicleAnswer.arrival(shown, published)?["time"])
        self.add(placed, frame, shown, more)
    }

    private static func envelope(_ frame: Frame) -> Envelope? {
        do throws(DecodingError) { return try Codec.decode(frame) } catch { return nil }
    }

    private mutating func noteFitting(_ frame: RecordedFrame, _ header: FrameHeader) {
        guard header.flags.contains(.fitted), let index = self.places[header.sequence] else { return }
        let old = self.rows[index].1["fittedFor"] as? [String] ?? []
        self.rows[index].1["fittedFor"] = Set(
            old + frame.peers.filter { PlacedEntry.vehicle(of: $0) == self.vehicle }
        ).sorted()
    }

    private mutating func add(
        _ placed: PlacedEntry, _ frame: RecordedFrame, _ state: VehicleState, _ more: [String: Any]
    ) {
        let header = frame.frame.header
        let cells = Self.cells(state).merging(more) { $1 }
        var row = cells
        row.merge([
            "entry": "\(placed.place)", "number": Int(placed.place.number),
            "at": self.source.seconds(placed.place.time), "time": JSON.time(placed.place.time.date),
            "message": EntryFilter.name(header), "sequence": Int(clamping: header.sequence),
            "session": Int(header.session.rawValue), "client": frame.peers.first ?? "",
            "bytes": frame.frame.bytes.count, "rejected": frame.isRejected, "fittedFor": [String](),
            "derived": ["arrival", "fittedFor"],
        ]) { $1 }
        row["changed"] = Set(cells.keys).union(self.cells.keys).filter { key in
            var differences = JSONDifferences()
            differences.find(cells[key], self.cells[key])
            return key != "arrival" && !differences.found.isEmpty
        }.sorted()
        self.cells = cells
        self.places[header.sequence] = self.rows.count
        self.rows.append((placed.place, row))
    }

    /// The columns that are of the state.
    static func cells(_ state: VehicleState) -> [String: Any] {
        var cells: [String: Any] = [
            "generation": Int(state.generation), "maneuverState": state.maneuverState.name,
            "upcoming": state.upcomingManeuvers.map { Int($0.rawValue) },
            "maneuverCount": state.maneuvers.count, "laneGuidanceCount": state.laneGuidances.count,
        ]
        switch state.phase {
        case .idle: cells["phase"] = "idle"
        case .preview: cells["phase"] = "preview"
        case .active: cells["phase"] = "active"
        case .paused(let reason, _): (cells["phase"], cells["pauseReason"]) = ("paused", reason.name)
        case .ended(let reason): (cells["phase"], cells["endReason"]) = ("ended", reason.word)
        }
        cells.set("currentRoadName", state.currentRoadName.first)
        cells.set("destination", state.trip?.destination.nameVariants.first)
        cells.set("laneGuidance", state.currentLaneGuidance.map { Int($0.rawValue) })
        Self.add("distanceLeft", "timeLeftSeconds", state.tripEstimates, to: &cells)
        let next = state.upcomingManeuvers.first.flatMap { state.maneuverEstimates[$0] }
        Self.add("toManeuver", "timeToManeuverSeconds", next, to: &cells)
        let batteries = VehicleAnswer.batteries(state)
        cells.set("arrivalBatteryPerMille", batteries["arrivalPerMille"])
        cells.set("departureBatteryPerMille", batteries["departurePerMille"])
        cells.set("utcOffsetMinutes", state.trip?.destination.utcOffsetMinutes.map { Int($0) })
        return cells
    }

    private static func add(
        _ distance: String, _ time: String, _ estimates: TravelEstimates?, to cells: inout [String: Any]
    ) {
        guard let estimates else { return }
        cells["\(distance)Meters"] = Int(estimates.distanceRemaining.meters)
        cells.set(time, estimates.timeRemaining.map { Int($0.components.seconds) })
        cells.set("\(distance)Shown", estimates.distanceRemainingToDisplay.map(StateObjects.display))
    }
}

/// What was published, and which endpoint confirmed it when.
struct ReceiptBook {
    private struct Row {
        let sequence: UInt64
        let message: String
        let place: EntryPlace
        /// The endpoints that something of it was sent to.
        var sent: Set<String> = []
        var received: [String: RecordingTime] = [:]
        var shown: [String: RecordingTime] = [:]
    }

    private let vehicle: String
    private let source: InspectedSource
    private var rows: [Row] = []
    private var session = SessionID.none
    private var newest: [String: RecordingTime] = [:]

    private static let rowsMax = 1_000

    init(_ vehicle: String, _ source: InspectedSource) { (self.vehicle, self.source) = (vehicle, source) }

    /// Whether a frame may matter. Finding out whom it concerns takes longer.
    static func isOfReceipts(_ header: FrameHeader) -> Bool {
        header.type == .receipt || header.sequence > 0 && MessageType.published.contains(header.rawType)
    }

    mutating func see(_ placed: PlacedEntry) {
        guard let frame = placed.frame, placed.vehicles.contains(self.vehicle), frame.delivery == .whole,
            !frame.isRejected, !placed.isOfOthers(self.vehicle)
        else { return }
        let header = frame.frame.header
        if MessageType.published.contains(header.rawType), header.sequence > 0 {
            if frame.direction == .in {
                self.published(header, placed)
            } else {
                self.sent(header, frame.peers)
            }
        } else if frame.direction == .in, header.type == .receipt, header.session == self.session,
            case .receipt(let receipt)? = HistoryAnswers.message(frame.frame), let peer = frame.peers.first
        {
            self.confirmed(receipt, Self.endpoint(of: peer), placed.place.time)
        }
    }

    private static func endpoint(of peer: String) -> String {
        String(peer.split(separator: "/", maxSplits: 1).last ?? "")
    }

    private mutating func published(_ header: FrameHeader, _ placed: PlacedEntry) {
        if header.session != self.session { (self.rows, self.session) = ([], header.session) }
        self.rows.append(
            Row(sequence: header.sequence, message: EntryFilter.name(header), place: placed.place))
        if self.rows.count > Self.rowsMax { self.rows.removeFirst(Self.rowsMax / 2) }
    }

    private mutating func sent(_ header: FrameHeader, _ peers: [String]) {
        guard header.session == self.session else { return }
        let index = self.rows.partitioningIndex { $0.sequence >= header.sequence }
        guard self.rows.indices.contains(index), self.rows[index].sequence == header.sequence else { return }
        for peer in peers where PlacedEntry.vehicle(of: peer) == self.vehicle {
            self.rows[index].sent.insert(Self.endpoint(of: peer))
        }
    }

    private mutating func confirmed(_ receipt: Receipt, _ endpoint: String, _ time: RecordingTime) {
        self.newest[endpoint] = time
        for index in self.rows.indices where self.rows[index].sent.contains(endpoint) {
            let sequence = self.rows[index].sequence
            if sequence <= receipt.receivedSequence, self.rows[index].received[endpoint] == nil {
                self.rows[index].received[endpoint] = time
            }
            if sequence <= receipt.shownSequence, self.rows[index].shown[endpoint] == nil {
                self.rows[index].shown[endpoint] = time
            }
        }
    }

    /// How many of those that were sent to an endpoint it has not confirmed. What is withheld from it has numbers that it never gets.
    /// `newest`: the number of the newest one that is retained, which may have been sent before what was read of the history.
    private func behind(
        _ endpoint: String, _ receipt: Receipt, _ newest: UInt64
    ) -> (count: Int, isWhole: Bool) {
        let count = self.rows.count { $0.sequence > receipt.receivedSequence && $0.sent.contains(endpoint) }
        let isWhole =
            self.rows.first.map { $0.sequence <= receipt.receivedSequence.addingSaturating(1) } ?? false
        let isBehind = newest > receipt.receivedSequence
        return (isBehind ? max(1, count) : count, isWhole || !isBehind)
    }

    /// `sent`: the number of the newest retained publication of which an endpoint is sent anything.
    func object(_ state: RecordedState, rowsMax: Int, sent: (String) -> UInt64) -> [String: Any] {
        let record = VehicleID(self.vehicle).flatMap { state.gateway.vehicles[$0] }
        let published = self.rows.last?.sequence ?? 0
        var why: [[String: Any]] = []
        let endpoints = (record?.endpoints ?? []).map { endpoint -> [String: Any] in
            let name = endpoint.endpoint.rawValue
            var object: [String: Any] = ["endpoint": name]
            if let receipt = endpoint.receipt {
                object["received"] = Int(clamping: receipt.receivedSequence)
                object["shown"] = Int(clamping: receipt.shownSequence)
                let (behind, isWhole) = self.behind(name, receipt, sent(name))
                object["behind"] = behind
                if !isWhole { object["behindAtLeast"] = true }
            } else {
                why.append(
                    Reason(
                        .held, "endpoints/\(name)",
                        endpoint.features.contains(.receipts) ? .underWay : .notPublished,
                        endpoint.features.contains(.receipts)
                            ? "the endpoint has sent no receipt yet" : "the endpoint sends no receipts"
                    ).object)
            }
            object.set("receiptAt", self.newest[name].map(self.source.seconds))
            return object
        }
        let rows = self.rows.suffix(rowsMax).reversed().map { row -> [String: Any] in
            let names = Set(row.received.keys).union(row.shown.keys)
            return [
                "sequence": Int(clamping: row.sequence), "message": row.message, "entry": "\(row.place)",
                "sentAt": self.source.seconds(row.place.time),
                "endpoints": Dictionary(
                    names.map { name -> (String, [String: Double]) in
                        var times: [String: Double] = [:]
                        times["receivedAt"] = row.received[name].map(self.source.seconds)
                        times["shownAt"] = row.shown[name].map(self.source.seconds)
                        return (name, times)
                    }
                ) { $1 },
            ]
        }
        return [
            "session": Int(self.session.rawValue), "published": Int(clamping: published),
            "endpoints": endpoints, "rows": rows, "truncated": self.rows.count > rowsMax, "why": why,
        ]
    }
}
