internal import WaymarkModel
internal import WaymarkProtocol

/// The frames that make up what a session holds now: what an endpoint that joins is sent.
struct RetainedState: Sendable, Hashable, Codable {
    /// Where the value of a state is held.
    enum Place: Sendable, Hashable {
        case newest(Int)
        case estimates(Int)
    }

    /// What an event makes void.
    private enum Voided: Sendable, Hashable {
        case nothing
        case types([MessageType])
        /// All that speaks of the route, and a pause.
        case route
        case everything
    }

    /// How an event is kept.
    private enum Kept: Sendable, Hashable { case not, asNewest, asAddition }

    /// One of a type: within it the newer frame replaces the older.
    private var newest: [Frame] = []
    /// The newest estimates of each maneuver, and where they are.
    private var estimates: [Frame] = []
    private var estimatePlaces: [UInt32: Int] = [:]
    /// What was added to the route: accumulates until that is replaced.
    private var additions: [Frame] = []
    /// What the kept frames take, see ``FrameHeader/keptByteCount``.
    private(set) var byteCount = 0

    /// All kept frames in the publisher's order.
    var frames: [Frame] {
        (self.newest + self.estimates + self.additions)
            .sorted { $0.header.sequence < $1.header.sequence }
    }

    // MARK: States

    /// Where the value of a state is held; nil if there is none.
    func place(of key: ConflationKey) -> Place? {
        guard key.type != MessageType.updateManeuverEstimates.rawValue else {
            return self.estimatePlaces[key.item].map { .estimates($0) }
        }
        return self.newest.firstIndex { $0.header.rawType == key.type }.map { .newest($0) }
    }

    // Why not the frame itself: to hand it out retains and releases it.
    /// The header of the frame at a place that was found since something was last made void.
    func header(at place: Place) -> FrameHeader {
        switch place {
        case .newest(let index): self.newest[index].header
        case .estimates(let index): self.estimates[index].header
        }
    }

    /// Whether the state at `place` says what one of `frames` says.
    func isUnchanged(by frames: PublishedFrames, _ index: Int, at place: Place) -> Bool {
        switch place {
        case .newest(let place): frames.hasBody(at: index, of: self.newest[place])
        case .estimates(let place): frames.hasBody(at: index, of: self.estimates[place])
        }
    }

    /// Takes over a state, whose older value is held at `place`.
    mutating func apply(_ frame: Frame, _ key: ConflationKey, at place: Place?) {
        self.byteCount = self.byteCount(after: frame.header, at: place)
        switch place {
        case .newest(let index): self.newest[index] = frame
        case .estimates(let index): self.estimates[index] = frame
        case nil where key.type == MessageType.updateManeuverEstimates.rawValue:
            self.estimatePlaces[key.item] = self.estimates.count
            self.estimates.append(frame)
        case nil: self.newest.append(frame)
        }
    }

    /// What ``byteCount`` would be after a state whose older value is held at `place`.
    func byteCount(after header: FrameHeader, at place: Place?) -> Int {
        self.byteCount + header.keptByteCount - (place.map { self.header(at: $0).keptByteCount } ?? 0)
    }

    // MARK: Events

    /// What ``byteCount`` would be after an event.
    func byteCount(afterEvent frame: Frame, _ outline: PublicationOutline) -> Int {
        let (voided, kept) = Self.effect(of: outline)
        var count = self.byteCount + (kept == .not ? 0 : frame.keptByteCount)
        switch voided {
        case .nothing: break
        case .types(let types): for old in self.newest where old.isOf(types) { count -= old.keptByteCount }
        case .route:
            for old in self.newest where old.speaksOfRoute { count -= old.keptByteCount }
            for old in self.estimates { count -= old.keptByteCount }
            for old in self.additions { count -= old.keptByteCount }
        case .everything: count -= self.byteCount
        }
        return count
    }

    /// Takes over an event.
    mutating func apply(event frame: Frame, _ outline: PublicationOutline) {
        self.byteCount = self.byteCount(afterEvent: frame, outline)
        let (voided, kept) = Self.effect(of: outline)
        switch voided {
        case .nothing: break
        case .types(let types): self.newest.removeAll { $0.isOf(types) }
        case .route:
            self.newest.removeAll { $0.speaksOfRoute }
            (self.estimates, self.estimatePlaces, self.additions) = ([], [:], [])
        case .everything:
            (self.newest, self.estimates, self.estimatePlaces, self.additions) = ([], [], [:], [])
        }
        switch kept {
        case .not: break
        case .asNewest: self.newest.append(frame)
        case .asAddition: self.additions.append(frame)
        }
    }

    /// What an event makes void, and how it is kept.
    private static func effect(of outline: PublicationOutline) -> (Voided, Kept) {
        switch outline {
        case .startGuidance: (.everything, .asNewest)
        case .resumeGuidance(_, .none): (.types([.pauseGuidance]), .not)
        case .resumeGuidance(_, .some): (.route, .asNewest)
        // While paused the maneuver state is continue.
        case .pauseGuidance: (.types([.pauseGuidance, .updateManeuverState]), .asNewest)
        case .addManeuvers, .addLaneGuidances, .addRouteSegments: (.nothing, .asAddition)
        case .showAlert: (.types([.showAlert]), .asNewest)
        case .dismissAlert: (.types([.showAlert]), .not)
        case .shareDestination, .finishGuidance, .cancelGuidance, .unrecognized: (.nothing, .not)
        case .tripPreviews, .updateTrip, .upcomingManeuvers, .currentLaneGuidance, .currentRoadName,
            .maneuverState, .tripEstimates, .maneuverEstimates, .currentRouteSegment:
            (.nothing, .not)  // States.
        }
    }
}

extension Frame {
    /// What it takes of memory while it is kept, see ``FrameHeader/keptByteCount``.
    var keptByteCount: Int { self.header.keptByteCount }

    fileprivate func isOf(_ types: [MessageType]) -> Bool {
        types.contains { $0.rawValue == self.header.rawType }
    }

    /// Whether a new route makes it void.
    fileprivate var speaksOfRoute: Bool {
        switch self.header.type {
        case .resumeGuidance, .pauseGuidance, .upcomingManeuvers, .currentLaneGuidance, .updateManeuverState,
            .currentRouteSegment, .updateTripEstimates:
            true
        default: false  // The others are not of the route, or are not kept among the newest.
        }
    }
}

extension FrameHeader {
    /// What surrounds a frame that is kept by itself, in bytes.
    ///
    /// Why: without it, a megabyte of empty messages would count as a megabyte and take seven.
    static let keptOverheadByteCount = 128

    /// What a frame that is kept takes of memory, in bytes: its own bytes, and what surrounds them.
    var keptByteCount: Int { self.frameByteCount + Self.keptOverheadByteCount }
}
