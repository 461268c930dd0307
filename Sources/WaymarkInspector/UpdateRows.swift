internal import Foundation
internal import WaymarkClient
internal import WaymarkCodec
internal import WaymarkJSON
internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRecording

/// Rows of the table of route guidance updates: one for each publication of a vehicle's session, with the state after it.
struct UpdateRows {
    private let vehicle: String
    private let source: InspectedSource
    private(set) var rows: [(EntryPlace, [String: Any])] = []
    private var states: [SessionID: VehicleState] = [:]
    private var cells: [String: Any] = [:]
    /// The rows of publications, by their numbers.
    private var places: [UInt64: Int] = [:]

    init(_ vehicle: String, _ source: InspectedSource) { (self.vehicle, self.source) = (vehicle, source) }

    /// `state` is that after the entry.
    mutating func see(_ placed: PlacedEntry, _ state: RecordedState) {
        guard let frame = placed.frame, frame.delivery == .whole, placed.vehicles.contains(self.vehicle),
            !placed.isOfOthers(self.vehicle)
        else { return }
        let header = frame.frame.header
        guard header.sequence > 0, MessageType.published.contains(header.rawType) else { return }
        guard frame.direction == .in else { return self.noteFitting(frame, header) }
        let session = header.session
        guard let record = state.gateway.sessions[session] else { return }
        if self.states[session] == nil {
            // The state has this frame already.
            var cache = ContentCache()
            self.states[session] = cache.content(of: record, state, self.source).state
        }
        if !frame.isRejected, let envelope = Self.envelope(self.source.shown(frame.frame)) {
            self.states[session]?.apply(envelope)
        }
        self.add(placed, frame, self.states[session] ?? VehicleState())
    }

    private static func envelope(_ frame: Frame) -> Envelope? {
        do throws(DecodingError) { return try Codec.decode(frame) } catch { return nil }
    }

    private mutating func noteFitting(_ frame: RecordedFrame, _ header: FrameHeader) {
        guard header.flags.contains(.fitted), let index = self.places[header.sequence] else { return }
        let old = self.rows[index].1["fittedFor"] as? [String] ?? []
        self.rows[index].1["fittedFor"] = Set(old + frame.peers.filter { PlacedEntry.vehicle(of: $0) == self.vehicle }).sorted()
    }

    private mutating func add(_ placed: PlacedEntry, _ frame: RecordedFrame, _ state: VehicleState) {
        let header = frame.frame.header
        var cells = Self.cells(state)
        cells.set("arrival", VehicleAnswer.arrival(state, placed.place.time)?["time"])
        let changed = Set(cells.keys).union(self.cells.keys).filter { key in
            var differences = Differences()
            differences.find(cells[key], self.cells[key])
            return !differences.found.isEmpty
        }
        var row = cells
        row.merge([
            "entry": "\(placed.place)", "number": Int(placed.place.number),
            "at": self.source.seconds(placed.place.time), "time": JSON.time(placed.place.time.date),
            "message": EntryFilter.name(header), "sequence": Int(clamping: header.sequence),
            "session": Int(header.session.rawValue), "client": frame.peers.first ?? "",
            "bytes": frame.frame.bytes.count, "rejected": frame.isRejected, "fittedFor": [String](),
            "conflatedFor": [String](), "derived": ["arrival", "fittedFor"],
        ]) { $1 }
        if !self.rows.isEmpty { row["changed"] = changed.filter { $0 != "arrival" }.sorted() }
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
        var received: [String: RecordingTime] = [:]
        var shown: [String: RecordingTime] = [:]
    }

    private let vehicle: String
    private let source: InspectedSource
    private var rows: [Row] = []
    private var session = SessionID.none
    private var newest: [String: RecordingTime] = [:]

    init(_ vehicle: String, _ source: InspectedSource) { (self.vehicle, self.source) = (vehicle, source) }

    mutating func see(_ placed: PlacedEntry) {
        guard let frame = placed.frame, placed.vehicles.contains(self.vehicle), frame.direction == .in,
            frame.delivery == .whole, !frame.isRejected, !placed.isOfOthers(self.vehicle)
        else { return }
        let header = frame.frame.header
        if MessageType.published.contains(header.rawType), header.sequence > 0 {
            if header.session != self.session { (self.rows, self.session) = ([], header.session) }
            self.rows.append(
                Row(sequence: header.sequence, message: EntryFilter.name(header), place: placed.place))
            if self.rows.count > 1_000 { self.rows.removeFirst(500) }
        } else if header.type == .receipt, header.session == self.session,
            case .receipt(let receipt)? = HistoryAnswers.message(frame.frame), let peer = frame.peers.first
        {
            let endpoint = String(peer.split(separator: "/", maxSplits: 1).last ?? "")
            self.newest[endpoint] = placed.place.time
            for index in self.rows.indices {
                let sequence = self.rows[index].sequence
                if sequence <= receipt.receivedSequence, self.rows[index].received[endpoint] == nil {
                    self.rows[index].received[endpoint] = placed.place.time
                }
                if sequence <= receipt.shownSequence, self.rows[index].shown[endpoint] == nil {
                    self.rows[index].shown[endpoint] = placed.place.time
                }
            }
        }
    }

    func object(_ state: RecordedState, rowsMax: Int) -> [String: Any] {
        let record = VehicleID(self.vehicle).flatMap { state.gateway.vehicles[$0] }
        let published = self.rows.last?.sequence ?? 0
        var why: [[String: Any]] = []
        let endpoints = (record?.endpoints ?? []).map { endpoint -> [String: Any] in
            let name = endpoint.endpoint.rawValue
            var object: [String: Any] = ["endpoint": name]
            if let receipt = endpoint.receipt {
                object["received"] = Int(clamping: receipt.receivedSequence)
                object["shown"] = Int(clamping: receipt.shownSequence)
                object["behind"] = Int(clamping: published - min(published, receipt.receivedSequence))
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
