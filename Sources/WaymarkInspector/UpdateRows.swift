internal import Foundation
internal import WaymarkClient
internal import WaymarkCodec
internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkTexts

/// Rows of the table of route guidance updates: one for each publication of a vehicle's session, with the state after it.
struct UpdateRows {
    typealias Row = Joined<Answer.UpdateCells, Answer.UpdateRow>

    private let vehicle: String
    private let source: InspectedSource
    private(set) var rows: [(EntryPlace, Row)] = []
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
        self.cells = JSON.members(of: Self.cells(content.state))
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
        let shown = self.states[session] ?? VehicleState()
        var cells = Self.cells(shown)
        if case .publication(.resumeGuidance(_, let reason, _))? = envelope?.message {
            cells.rerouteReason = reason.name
        }
        let published = state.estimated[session] ?? placed.place.time
        cells.arrival = VehicleAnswer.arrival(shown, published)?.time
        self.add(placed, frame, cells)
    }

    private static func envelope(_ frame: Frame) -> Envelope? {
        do throws(DecodingError) { return try Codec.decode(frame) } catch { return nil }
    }

    private mutating func noteFitting(_ frame: RecordedFrame, _ header: FrameHeader) {
        guard header.flags.contains(.fitted), let index = self.places[header.sequence] else { return }
        let old = self.rows[index].1.second.fittedFor
        self.rows[index].1.second.fittedFor = Set(
            old + frame.peers.filter { PlacedEntry.vehicle(of: $0) == self.vehicle }
        ).sorted()
    }

    private mutating func add(
        _ placed: PlacedEntry, _ frame: RecordedFrame, _ columns: Answer.UpdateCells
    ) {
        let header = frame.frame.header
        let cells = JSON.members(of: columns)
        let changed = Set(cells.keys).union(self.cells.keys).filter { key in
            var differences = JSONDifferences()
            differences.find(cells[key], self.cells[key])
            return key != "arrival" && !differences.found.isEmpty
        }
        let row = Answer.UpdateRow(
            entry: "\(placed.place)", number: Int(placed.place.number),
            at: self.source.seconds(placed.place.time), time: JSON.time(placed.place.time.date),
            message: EntryFilter.name(header), sequence: Int(clamping: header.sequence),
            session: Int(header.session.rawValue), client: frame.peers.first ?? "",
            bytes: frame.frame.bytes.count, rejected: frame.isRejected, fittedFor: [],
            derived: ["arrival", "fittedFor"], changed: changed.sorted())
        self.cells = cells
        self.places[header.sequence] = self.rows.count
        self.rows.append((placed.place, Joined(columns, row)))
    }

    /// The columns that are of the state.
    static func cells(_ state: VehicleState) -> Answer.UpdateCells {
        let left = state.tripEstimates
        let next = state.upcomingManeuvers.first.flatMap { state.maneuverEstimates[$0] }
        let batteries = VehicleAnswer.batteries(state)
        let (phase, pauseReason, endReason) = Self.phase(state.phase)
        return Answer.UpdateCells(
            generation: Int(state.generation), maneuverState: state.maneuverState.name,
            upcoming: state.upcomingManeuvers.map { Int($0.rawValue) },
            maneuverCount: state.maneuvers.count, laneGuidanceCount: state.laneGuidances.count, phase: phase,
            pauseReason: pauseReason, endReason: endReason, currentRoadName: state.currentRoadName.first,
            speedLimit: state.speedLimit.map(GuidanceText.speedLimit),
            nextSpeedLimit: state.nextSpeedLimit.map {
                "\(GuidanceText.speedLimit($0.limit)) in \(GuidanceText.distance($0))"
            },
            destination: state.trip?.destination.nameVariants.first,
            laneGuidance: state.currentLaneGuidance.map { Int($0.rawValue) },
            distanceLeftMeters: left.map { Int($0.distanceRemaining.meters) },
            distanceLeftShown: left?.distanceRemainingToDisplay.map(Answer.Display.init),
            timeLeftSeconds: left?.timeRemaining.map { Int($0.components.seconds) },
            toManeuverMeters: next.map { Int($0.distanceRemaining.meters) },
            toManeuverShown: next?.distanceRemainingToDisplay.map(Answer.Display.init),
            timeToManeuverSeconds: next?.timeRemaining.map { Int($0.components.seconds) },
            arrivalBatteryPerMille: batteries.arrivalPerMille,
            departureBatteryPerMille: batteries.departurePerMille,
            utcOffsetMinutes: state.trip?.destination.utcOffsetMinutes.map { Int($0) })
    }

    private static func phase(
        _ phase: VehicleState.Phase
    ) -> (name: String, pauseReason: String?, endReason: String?) {
        switch phase {
        case .idle: ("idle", nil, nil)
        case .preview: ("preview", nil, nil)
        case .active: ("active", nil, nil)
        case .paused(let reason, _): ("paused", reason.name, nil)
        case .ended(let reason): ("ended", nil, reason.word)
        }
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
    func answer(_ state: RecordedState, rowsMax: Int, sent: (String) -> UInt64) -> Answer.Receipts {
        let record = VehicleID(self.vehicle).flatMap { state.gateway.vehicles[$0] }
        let published = self.rows.last?.sequence ?? 0
        var why: [Answer.Reason] = []
        let endpoints = (record?.endpoints ?? []).map { endpoint in
            let name = endpoint.endpoint.rawValue
            var object = Answer.EndpointReceipts(
                endpoint: name, receiptAt: self.newest[name].map(self.source.seconds))
            object.receivedDelays = endpoint.delays.flatMap { Answer.Delays($0.received) }
            object.shownDelays = endpoint.delays.flatMap { Answer.Delays($0.shown) }
            if let receipt = endpoint.receipt {
                object.received = Int(clamping: receipt.receivedSequence)
                object.shown = Int(clamping: receipt.shownSequence)
                let (behind, isWhole) = self.behind(name, receipt, sent(name))
                object.behind = behind
                if !isWhole { object.behindAtLeast = true }
            } else {
                why.append(
                    Reason(
                        .held, "endpoints/\(name)",
                        endpoint.features.contains(.receipts) ? .underWay : .notPublished,
                        endpoint.features.contains(.receipts)
                            ? "the endpoint has sent no receipt yet" : "the endpoint sends no receipts"
                    ).answer)
            }
            return object
        }
        let rows = self.rows.suffix(rowsMax).reversed().map { row in
            let names = Set(row.received.keys).union(row.shown.keys)
            let confirmations = names.map { name in
                let (received, shown) = (row.received[name], row.shown[name])
                return (
                    name,
                    Answer.Confirmation(
                        receivedAt: received.map(self.source.seconds),
                        shownAt: shown.map(self.source.seconds))
                )
            }
            return Answer.ReceiptRow(
                sequence: Int(clamping: row.sequence), message: row.message, entry: "\(row.place)",
                sentAt: self.source.seconds(row.place.time), endpoints: Dictionary(confirmations) { $1 })
        }
        return Answer.Receipts(
            session: Int(self.session.rawValue), published: Int(clamping: published), endpoints: endpoints,
            rows: rows, truncated: self.rows.count > rowsMax, why: why)
    }
}

extension Answer.Delays {
    /// nil if none was measured.
    init?(_ counts: DelayCounts) {
        guard counts.count > 0 else { return nil }
        self.init(
            count: Int(clamping: counts.count),
            lastMilliseconds: Double(counts.lastMicroseconds) / 1_000,
            meanMilliseconds: Double(counts.totalMicroseconds / counts.count) / 1_000)
    }
}
