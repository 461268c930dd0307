internal import WaymarkModel
internal import WaymarkProtocol

/// The frames that make up what a session holds now: what an endpoint that joins is sent.
struct RetainedState: Sendable, Hashable, Codable {
    /// What a frame is kept as. Within a slot the newer frame replaces the older.
    fileprivate enum Slot: Sendable, Hashable, Codable {
        case start
        case resume
        case pause
        case alert
        case state(ConflationKey)
        /// Accumulates until the route is replaced.
        case addition(sequence: UInt64)
    }

    /// What a publication makes void.
    private enum Voided: Sendable, Hashable {
        case nothing
        case slot(Slot)
        /// An older pause, and the maneuver state: while paused it is continue.
        case pause
        /// All that speaks of the route, and a pause.
        case route
        case everything
    }

    private var slots: [Slot: Frame] = [:]
    /// What the kept frames take, see ``Frame/keptByteCount``.
    private(set) var byteCount = 0

    /// All kept frames in the publisher's order.
    var frames: [Frame] { self.slots.values.sorted { $0.header.sequence < $1.header.sequence } }

    /// Whether a state frame says what is held already.
    func isUnchanged(_ frame: Frame, _ key: ConflationKey) -> Bool {
        self.slots[.state(key)]?.body == frame.body
    }

    /// What ``byteCount`` would be after a frame.
    func byteCount(after frame: Frame, _ outline: PublicationOutline) -> Int {
        let (voided, slot) = Self.effect(of: outline, frame.header.sequence)
        var count = self.byteCount + (slot == nil ? 0 : frame.keptByteCount)
        switch voided {
        case .nothing: break
        case .slot(let old): count -= self.byteCount(of: old)
        case .pause: count -= self.byteCount(of: .pause) + self.byteCount(of: .maneuverState)
        case .route: for (old, kept) in self.slots where old.belongsToRoute { count -= kept.keptByteCount }
        case .everything: count -= self.byteCount
        }
        return count
    }

    /// Takes over what a frame says. The frame must not share its bytes with anything larger.
    mutating func apply(_ frame: Frame, _ outline: PublicationOutline) {
        let (voided, slot) = Self.effect(of: outline, frame.header.sequence)
        switch voided {
        case .nothing: break
        case .slot(let old): if old != slot { self.drop(old) }
        case .pause:
            self.drop(.pause)
            self.drop(.maneuverState)
        case .route: for old in self.slots.keys where old.belongsToRoute { self.drop(old) }
        case .everything: (self.slots, self.byteCount) = ([:], 0)
        }
        guard let slot else { return }
        if let old = self.slots.updateValue(frame, forKey: slot) { self.byteCount -= old.keptByteCount }
        self.byteCount += frame.keptByteCount
    }

    private func byteCount(of slot: Slot) -> Int { self.slots[slot]?.keptByteCount ?? 0 }

    private mutating func drop(_ slot: Slot) {
        if let old = self.slots.removeValue(forKey: slot) { self.byteCount -= old.keptByteCount }
    }

    /// What a publication makes void, and where it is kept; nil for what is not kept.
    private static func effect(of outline: PublicationOutline, _ sequence: UInt64) -> (Voided, Slot?) {
        switch outline {
        case .startGuidance: (.everything, .start)
        case .resumeGuidance(_, .none): (.slot(.pause), nil)
        case .resumeGuidance(_, .some): (.route, .resume)
        case .pauseGuidance: (.pause, .pause)
        case .addManeuvers, .addLaneGuidances, .addRouteSegments: (.nothing, .addition(sequence: sequence))
        case .showAlert: (.slot(.alert), .alert)
        case .dismissAlert: (.slot(.alert), nil)
        case .tripPreviews, .updateTrip, .upcomingManeuvers, .currentLaneGuidance, .currentRoadName,
            .maneuverState, .tripEstimates, .maneuverEstimates, .currentRouteSegment:
            outline.conflationKey.map { (.slot(.state($0)), .state($0)) } ?? (.nothing, nil)
        case .shareDestination, .finishGuidance, .cancelGuidance, .unrecognized: (.nothing, nil)
        }
    }
}

extension RetainedState.Slot {
    fileprivate static let maneuverState = Self.state(ConflationKey(type: .updateManeuverState))

    /// Whether a new route makes it void.
    fileprivate var belongsToRoute: Bool {
        switch self {
        case .resume, .addition, .pause: true
        case .start, .alert: false
        case .state(let key):
            switch MessageType(rawValue: key.type) {
            case .upcomingManeuvers, .currentLaneGuidance, .updateManeuverState, .updateManeuverEstimates,
                .currentRouteSegment, .updateTripEstimates:
                true
            default: false  // The other states do not speak of the route.
            }
        }
    }
}

extension Frame {
    /// What a frame that is kept by itself takes of memory, in bytes: its own bytes, and 128 for what surrounds them.
    ///
    /// Why: without the 128, a megabyte of empty messages would count as a megabyte and take seven.
    var keptByteCount: Int { self.bytes.count + 128 }
}
