internal import WaymarkModel
internal import WaymarkProtocol

/// The content that a session's publications have built up, as far as the next publication is validated against it.
struct SessionContent: Sendable, Hashable, Codable {
    private(set) var phase = SessionPhase.preview
    /// Of the current route; 0 before the first.
    private(set) var generation: UInt32 = 0
    private(set) var trip = PublicationOutline.Trip(
        isDestinationShareable: false, routeSegmentsAvailable: false)
    @BoxedIfCustom private var named = NamedTrips()
    private(set) var alert: UInt32?
    private(set) var route = RouteContent()
    /// A publication since StartGuidance had segments, perhaps those of an older route: a snapshot contains it.
    private var retainsSegments = false
    private var firstUpcoming: ManeuverID?
    /// The last list of upcoming maneuvers that was not empty.
    private(set) var lastUpcoming: [ManeuverID] = []
    /// The last lane guidance that was current; kept when there is none any more.
    private(set) var lastLaneGuidance: LaneGuidanceID?
    /// nil: any state may come next.
    private var maneuverState: ManeuverState?
    /// The states by key, since the last StartGuidance. At most ``ProtocolConstants/extensionStatesMax``.
    private var statesByKey: [StateByKey] = []

    /// The trips that a message may name.
    private struct NamedTrips: Defaultable {
        /// The trip that is driven.
        var driven: Identifier = ""
        /// Those of the newest TripPreviews; at most 12, and none while guided.
        var previews: [PublicationOutline.NamedTrip] = []
        /// The number of times that a preview stopped sharing its destination.
        var optOuts: UInt64 = 0
        /// The selections of vehicles among the previews, for a client that resumes.
        var selections: [VehicleID: SelectPreview] = [:]

        /// Replaces the previews.
        mutating func preview(_ trips: [PublicationOutline.NamedTrip]) {
            let isSharedStill = self.previews.allSatisfy { older in
                !older.allows.isDestinationShareable
                    || trips.contains { $0.id == older.id && $0.allows.isDestinationShareable }
            }
            if !isSharedStill { self.optOuts += 1 }
            self.previews = trips
            self.selections = [:]
        }
    }

    /// The number of times that a trip of the previews stopped sharing its destination, or was no longer shown.
    var previewOptOuts: UInt64 { self.named.optOuts }

    /// Looks up the trip that a message names by its id: before guidance a preview, and later the trip that is driven, which needs no id.
    ///
    /// - Returns: What it allows; nil if it is neither.
    func trip(named id: Identifier) -> PublicationOutline.Trip? {
        switch self.phase {
        case .preview: self.named.previews.first { $0.id == id }?.allows
        case .active, .paused: id.isEmpty || id == self.named.driven ? self.trip : nil
        case .ended: nil
        }
    }

    /// The present trip has opted out of segments, and the session retains some.
    var withholdsSegments: Bool {
        self.isGuiding && self.retainsSegments && !self.trip.routeSegmentsAvailable
    }

    /// A state of an extension, or of a type that this build does not know.
    private struct StateByKey: Sendable, Hashable, Codable {
        let key: ConflationKey
        /// nil of a type that is not known.
        let name: ExtensionName?
    }

    /// The extensions of which there are states.
    var extensions: [ExtensionName] { self.statesByKey.compactMap(\.name) }

    /// What the present trip does not share.
    var optedOut: FeatureSet {
        var optedOut: FeatureSet = []
        guard self.isGuiding else { return optedOut }
        if !self.trip.routeSegmentsAvailable { optedOut.insert(.routeSegments) }
        if !self.trip.isDestinationShareable { optedOut.insert(.destinationSharing) }
        return optedOut
    }

    /// Whether the vehicle is being guided.
    var isGuiding: Bool { self.phase == .active || self.phase == .paused }

    /// Validates a publication, and applies it if all of it is valid.
    mutating func apply(_ outline: PublicationOutline, limits: RouteContent.Limits) throws(Rejection) {
        let rule = outline.rule
        try self.checkPhase(rule.phases)
        try self.checkGeneration(of: outline)
        if rule.adds != nil { try self.checkSegments(of: outline) }
        try self.route.apply(outline, limits: limits)
        switch outline.content {
        case .nothing, .maneuver, .segment: break
        case .previews(let trips):
            // Those that are shown while guided cannot be named: the trip that is driven is.
            guard self.phase == .preview else { break }
            self.named.preview(trips)
        case .start(let trip, let route):
            self.drive(trip)
            self.begin(route, outline.generation)
            self.alert = nil
            self.statesByKey = []
            self.retainsSegments = !route.segments.isEmpty
        case .route(let route):
            self.begin(route, outline.generation)
            if !route.segments.isEmpty { self.retainsSegments = true }
        case .segments(let segments): if !segments.isEmpty { self.retainsSegments = true }
        case .trip(let trip): self.drive(trip)
        case .maneuvers(let ids): if rule.refersTo == .maneuvers { self.setUpcoming(ids) }
        case .laneGuidances: break
        case .laneGuidance(let id): if let id { self.lastLaneGuidance = id }
        case .maneuverState(let state): try self.setManeuverState(state)
        case .pause: self.maneuverState = nil
        case .alert(let id): try self.setAlert(id, outline.type)
        case .share(_, let trip): try self.checkShare(of: trip)
        case .unrecognizedState, .extension:
            if let key = outline.conflationKey { try self.add(key, of: outline.extensionName) }
        }
        if case .event = rule.kind { self.enterPhase(after: outline.type) }
    }

    private mutating func drive(_ trip: PublicationOutline.NamedTrip) {
        self.trip = trip.allows
        var named = self.named
        // A preview that was shared is over with this trip. If the trip is not shared, nor is that preview any more.
        if trip.allows.isDestinationShareable { named.previews = [] }
        named.preview([])
        named.driven = trip.id
        self.named = named
    }

    private func checkShare(of id: Identifier) throws(Rejection) {
        if self.phase == .preview, id.isEmpty {
            throw Rejection(.missing, field: "trip_id", reason: "is required before guidance")
        }
        guard let trip = self.trip(named: id) else {
            let trips =
                self.phase == .preview ? "is not one of the trip previews" : "is not the trip that is driven"
            throw Rejection(.unknownReference, field: "trip_id", reason: trips)
        }
        guard trip.isDestinationShareable else {
            throw Rejection(.wrongState, reason: "the trip says that its destination is not shareable")
        }
    }

    private mutating func enterPhase(after type: MessageType?) {
        switch type {
        case .startGuidance, .resumeGuidance: self.phase = .active
        case .pauseGuidance: self.phase = .paused
        case .finishGuidance, .cancelGuidance: self.phase = .ended
        default: break  // The others stay in their phase.
        }
    }

    private mutating func add(_ key: ConflationKey, of name: ExtensionName?) throws(Rejection) {
        if let old = self.statesByKey.first(where: { $0.key == key }) {
            guard old.name == name else {
                throw Rejection(
                    .inconsistent, field: "key", reason: "the key \(key.item) is of another extension")
            }
            return
        }
        guard self.statesByKey.count < ProtocolConstants.extensionStatesMax else {
            throw Rejection(
                .limitReached, field: "key",
                reason: "a session has at most \(ProtocolConstants.extensionStatesMax) states by key",
                limit: ReachedLimit("extension_states_max", ProtocolConstants.extensionStatesMax))
        }
        self.statesByKey.append(StateByKey(key: key, name: name))
    }

    private mutating func setAlert(_ id: UInt32, _ type: MessageType?) throws(Rejection) {
        guard type == .dismissAlert else { return self.alert = id }
        guard self.alert == id else {
            throw Rejection(.unknownReference, field: "alert_id", reason: "alert \(id) is not shown")
        }
        self.alert = nil
    }

    private func checkPhase(_ phases: PublicationRule.Phases) throws(Rejection) {
        guard phases.contains(self.phase) else {
            throw Rejection(.wrongState, reason: "not allowed while the session is in phase \(self.phase)")
        }
    }

    /// A route needs a new generation; what belongs to a route needs that of the current one.
    private func checkGeneration(of outline: PublicationOutline) throws(Rejection) {
        let isNew: Bool
        switch outline.rule.generation {
        case .none: return
        case .current: isNew = false
        case .new: isNew = true
        case .newWithRoute: isNew = outline.route != nil
        }
        if isNew {
            guard outline.generation > self.generation else {
                throw Rejection(
                    .staleGeneration, field: "generation",
                    reason: "must be above \(self.generation), which was used already")
            }
        } else {
            guard outline.generation == self.generation else {
                throw Rejection(
                    .staleGeneration, field: "generation",
                    reason: "is \(outline.generation), the current one is \(self.generation)")
            }
        }
    }

    /// Segments come only with a trip that has them.
    private func checkSegments(of outline: PublicationOutline) throws(Rejection) {
        let (segments, trip, field): ([PublicationOutline.Segment], PublicationOutline.Trip, String)
        switch outline.content {
        case .start(let started, let route):
            (segments, trip, field) = (route.segments, started.allows, "route.segments")
        case .route(let route): (segments, trip, field) = (route.segments, self.trip, "route.segments")
        case .segments(let added): (segments, trip, field) = (added, self.trip, "segments")
        default: return  // Brings none.
        }
        guard segments.isEmpty || trip.routeSegmentsAvailable else {
            throw Rejection(
                .inconsistent, field: field, reason: "the trip says that no route segments are available")
        }
    }

    /// Resets what belonged to the last route.
    private mutating func begin(_ route: PublicationOutline.Route, _ generation: UInt32) {
        self.generation = generation
        self.maneuverState = nil
        self.firstUpcoming = nil
        self.lastUpcoming = []
        self.setUpcoming(route.upcomingManeuvers)
        self.lastLaneGuidance = route.currentLaneGuidance
    }

    private mutating func setUpcoming(_ ids: [ManeuverID]) {
        if ids.first != self.firstUpcoming {
            self.firstUpcoming = ids.first
            self.maneuverState = nil
        }
        if !ids.isEmpty { self.lastUpcoming = ids }
    }

    /// Forward in the cycle, with jumps; round to `continue` only from `execute`; anything after a new maneuver.
    private mutating func setManeuverState(_ state: ManeuverState) throws(Rejection) {
        if self.phase == .paused, state != .continue {
            throw Rejection(.wrongState, field: "state", reason: "is continue while guidance is paused")
        }
        if let old = self.maneuverState, state.rawValue < old.rawValue,
            !(old == .execute && state == .continue)
        {
            throw Rejection(
                .wrongState, field: "state",
                reason: "goes back from \(old) to \(state) before the same maneuver")
        }
        self.maneuverState = state
    }
}

// What vehicles choose of the previews.
extension SessionContent {
    /// The rejection of a trip, or of its route choice, that the newest previews do not have; nil if they have both.
    func rejection(of trip: Identifier, _ routeChoice: UInt32?) -> Rejection? {
        guard let preview = self.named.previews.first(where: { $0.id == trip }) else {
            return Rejection(
                .unknownReference, field: "trip_id", reason: "is not one of the newest TripPreviews")
        }
        guard let routeChoice, !preview.routeChoices.contains(routeChoice) else { return nil }
        return Rejection(
            .unknownReference, field: "route_choice_id", reason: "is not one of the trip's route choices")
    }

    /// The choice of a vehicle among the newest previews; nil for nothing.
    func selection(of vehicle: VehicleID) -> SelectPreview? { self.named.selections[vehicle] }

    mutating func select(_ selection: SelectPreview, of vehicle: VehicleID) {
        self.named.selections[vehicle] = selection
    }

    mutating func forgetSelection(of vehicle: VehicleID) { self.named.selections[vehicle] = nil }
}

extension PublicationOutline.Trip {
    /// Whether it opts out of something that an older one shared.
    func sharesLess(than older: Self) -> Bool {
        (older.isDestinationShareable && !self.isDestinationShareable)
            || (older.routeSegmentsAvailable && !self.routeSegmentsAvailable)
    }
}
