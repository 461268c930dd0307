internal import WaymarkModel
internal import WaymarkProtocol

/// The frames that make up what a session holds now: what an endpoint that joins is sent.
struct RetainedState: Sendable, Hashable {
    /// What a frame is kept as. Within a slot the newer frame replaces the older.
    fileprivate enum Slot: Sendable, Hashable {
        case start
        case resume
        case pause
        case alert
        case state(ConflationKey)
        /// Accumulates until the route is replaced.
        case addition(sequence: UInt64, part: Int)
    }

    private var slots: [Slot: Frame] = [:]
    private(set) var byteCount = 0

    /// All kept frames in the publisher's order.
    var frames: [Frame] {
        self.slots.sorted { lhs, rhs in
            let (left, right) = (lhs.value.header.sequence, rhs.value.header.sequence)
            return left == right ? lhs.key.part < rhs.key.part : left < right
        }
        .map(\.value)
    }

    /// Whether a state frame says what is held already.
    func isUnchanged(_ frame: Frame, _ key: ConflationKey) -> Bool {
        self.slots[.state(key)]?.body == frame.body
    }

    /// Takes over what a frame says. `part` tells apart several frames with one sequence number.
    mutating func apply(_ frame: Frame, _ outline: PublicationOutline, part: Int = 0) {
        switch outline {
        case .startGuidance:
            self.clear { _ in true }
            self.keep(frame, in: .start)
        case .resumeGuidance(_, .none): self.drop(.pause)
        case .resumeGuidance(_, .some):
            self.clear { $0.belongsToRoute }
            self.drop(.pause)
            self.keep(frame, in: .resume)
        case .pauseGuidance:
            self.drop(.state(ConflationKey(type: .updateManeuverState)))
            self.keep(frame, in: .pause)
        case .addManeuvers, .addLaneGuidances, .addRouteSegments:
            self.keep(frame, in: .addition(sequence: frame.header.sequence, part: part))
        case .showAlert: self.keep(frame, in: .alert)
        case .dismissAlert: self.drop(.alert)
        case .tripPreviews, .updateTrip, .upcomingManeuvers, .currentLaneGuidance, .currentRoadName,
            .maneuverState,
            .tripEstimates, .maneuverEstimates, .currentRouteSegment:
            if let key = outline.conflationKey { self.keep(frame, in: .state(key)) }
        case .shareDestination, .finishGuidance, .cancelGuidance, .unrecognized: break
        }
    }

    private mutating func keep(_ frame: Frame, in slot: Slot) {
        self.drop(slot)
        self.slots[slot] = frame.compacted()
        self.byteCount += frame.bytes.count
    }

    private mutating func drop(_ slot: Slot) {
        if let old = self.slots.removeValue(forKey: slot) { self.byteCount -= old.bytes.count }
    }

    private mutating func clear(where condition: (Slot) -> Bool) {
        for slot in self.slots.keys where condition(slot) { self.drop(slot) }
    }
}

extension RetainedState.Slot {
    /// Whether a new route makes it void.
    fileprivate var belongsToRoute: Bool {
        switch self {
        case .resume, .addition: true
        case .start, .pause, .alert: false
        case .state(let key):
            switch MessageType(rawValue: key.type) {
            case .upcomingManeuvers, .currentLaneGuidance, .updateManeuverState, .updateManeuverEstimates,
                .currentRouteSegment, .updateTripEstimates:
                true
            default: false  // The other states do not speak of the route.
            }
        }
    }

    fileprivate var part: Int {
        if case .addition(_, let part) = self { part } else { 0 }
    }
}
