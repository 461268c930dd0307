internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRecording

/// Bands and curves that grow with time, with few parts in each column.
struct LaneDrawing {
    /// Endpoints of a vehicle that have lanes; of others nothing is drawn.
    static let endpointsMax = 32
    private static let textMax = 80

    private struct Key: Hashable, Comparable {
        let name: String
        let endpoint: String?

        static func < (lhs: Self, rhs: Self) -> Bool {
            (lhs.name, lhs.endpoint ?? "") < (rhs.name, rhs.endpoint ?? "")
        }
    }

    private struct Lane {
        var bands: [Answer.Band] = []
        /// The column of the last one.
        var column = -1
    }

    /// The lowest, the highest and the last value of each column.
    private struct Curve {
        var points: [[Double]] = []
        private var column = -1
        private var low: [Double] = []
        private var high: [Double] = []
        private var last: [Double] = []

        mutating func add(_ value: Double, at: Double, _ column: Int) {
            self.points = column == self.column ? self.points : self.whole
            self.last = [at, value]
            if column != self.column { (self.low, self.high) = (self.last, self.last) }
            if value < self.low[1] { self.low = self.last }
            if value >= self.high[1] { self.high = self.last }
            self.column = column
        }

        /// All points, with those of the last column.
        var whole: [[Double]] {
            guard self.column >= 0 else { return self.points }
            var chosen = self.low[0] < self.high[0] ? [self.low, self.high] : [self.high, self.low]
            if chosen[0] == chosen[1] { chosen.removeLast() }
            if chosen.last != self.last { chosen.append(self.last) }
            return self.points + chosen
        }
    }

    private let source: InspectedSource
    private var lanes: [Key: Lane] = [:]
    private var lines: [Key: Curve] = [:]
    private var endpoints: Set<String> = []

    init(_ source: InspectedSource) { self.source = source }

    var bands: [Answer.Band] { self.lanes.sorted { $0.key < $1.key }.flatMap(\.value.bands) }

    var curves: [Answer.Curve] {
        self.lines.sorted { $0.key < $1.key }.map { key, curve in
            Answer.Curve(name: key.name, endpoint: key.endpoint, points: curve.whole)
        }
    }

    /// A band begins, or goes on. Of those that begin in one column the last counts.
    mutating func band(
        _ lane: String, _ text: String, of endpoint: String? = nil, at time: RecordingTime, _ column: Int
    ) {
        let key = Key(name: lane, endpoint: endpoint)
        let old = self.lanes[key]?.bands.last
        guard old?.text != text else { return }
        let short = String(String.UnicodeScalarView(text.unicodeScalars.prefix(Self.textMax)))
        guard old?.text != short else { return }
        if self.lanes[key]?.column == column { self.lanes[key]?.bands.removeLast() }
        let band = Answer.Band(lane: lane, endpoint: endpoint, at: self.source.seconds(time), text: short)
        self.lanes[key, default: Lane()].bands.append(band)
        self.lanes[key]?.column = column
    }

    /// One lane for each endpoint; those that are not there any more have no word.
    mutating func bands(_ lane: String, _ texts: [String: String], at time: RecordingTime, _ column: Int) {
        for (endpoint, text) in texts where self.isDrawn(endpoint) {
            self.band(lane, text, of: endpoint, at: time, column)
        }
        guard self.endpoints.count > texts.count else { return }
        for endpoint in self.endpoints where texts[endpoint] == nil {
            self.band(lane, "", of: endpoint, at: time, column)
        }
    }

    private mutating func isDrawn(_ endpoint: String) -> Bool {
        if self.endpoints.contains(endpoint) { return true }
        guard self.endpoints.count < Self.endpointsMax else { return false }
        self.endpoints.insert(endpoint)
        return true
    }

    mutating func add(
        _ name: String, _ endpoint: String?, _ value: Double, at time: RecordingTime, _ column: Int
    ) {
        if let endpoint, !self.isDrawn(endpoint) { return }
        self.lines[Key(name: name, endpoint: endpoint), default: Curve()].add(
            value, at: self.source.seconds(time), column)
    }

    mutating func addCurve(_ name: String, _ points: [[Double]]) {
        self.lines[Key(name: name, endpoint: nil), default: Curve()].points = points
    }
}

/// The words of bands.
enum LaneWords {
    static func bands(_ state: VehicleState) -> [(lane: String, text: String)] {
        let next = state.upcomingManeuvers.first
        let word =
            switch state.phase {
            case .idle, .ended: ""
            case .preview: "preview"
            case .paused: "paused"
            case .active: next == nil ? "" : state.maneuverState.name
            }
        return [
            ("maneuver", next.map { Self.maneuver($0, state) } ?? ""), ("state", word),
            ("lanes", state.currentLaneGuidance.map { Self.lanes($0, state) } ?? ""),
            (
                "alert",
                state.alert.map { $0.titleVariants.first.flatMap(Self.known) ?? "alert \($0.id)" } ?? ""
            ),
        ]
    }

    /// nil for the empty text, which stands for a hidden one.
    private static func known(_ text: String) -> String? { text.isEmpty ? nil : text }

    private static func maneuver(_ id: ManeuverID, _ state: VehicleState) -> String {
        let maneuver = state.maneuvers.first { $0.id == id }
        return maneuver?.instructionVariants.first.flatMap(Self.known) ?? "maneuver \(id.rawValue)"
    }

    private static func lanes(_ id: LaneGuidanceID, _ state: VehicleState) -> String {
        guard let guidance = state.laneGuidances.first(where: { $0.id == id }) else {
            return "lane guidance \(id.rawValue)"
        }
        // The lanes are counted from the left: "take 2, 3 of 4".
        let good = guidance.lanes.indices.filter { guidance.lanes[$0].status != .notGood }.map { "\($0 + 1)" }
        return good.isEmpty
            ? "\(guidance.lanes.count) lanes"
            : "take \(good.joined(separator: ", ")) of \(guidance.lanes.count)"
    }

    /// Open requests, in the order of their ids.
    static func requests(_ open: [RequestRecord]) -> String {
        guard !open.isEmpty else { return "" }
        return open.sorted { $0.key < $1.key }.map { request in
            let word =
                switch MessageType(rawValue: request.messageType) {
                case .waypointRequest: "stop"
                case .destinationRequest: "drive"
                case .startTripRequest: "start"
                default: "request"
                }
            return "\(word) \(request.key.requestID.rawValue)"
        }.joined(separator: "; ")
    }
}
