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
        guard header.isPublication else { return }
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
