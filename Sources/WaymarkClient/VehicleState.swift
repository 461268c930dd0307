public import WaymarkModel
internal import WaymarkProtocol

/// What a vehicle endpoint holds of the session it is in: the newest value of everything.
public struct VehicleState: Sendable, Hashable {
    /// Where guidance stands.
    public enum Phase: Sendable, Hashable {
        /// No session.
        case idle
        /// A session without guidance yet.
        case preview
        case active
        case paused(PauseReason, description: [String])
        /// The last session is over; `reason` says why.
        case ended(reason: String)
    }

    /// Where guidance stands.
    public var phase = Phase.idle
    /// The session's id on the wire; 0 without one.
    public var session: UInt32 = 0
    /// The client that guides.
    public var client = ""
    /// The client is away and may come back.
    public var isSuspended = false
    /// What is withheld from this endpoint, and why.
    public var withheld: [String: String] = [:]
    /// The last sequence number seen.
    public var sequence: UInt64 = 0
    /// Trips to choose from, before guidance.
    public var previews: [Trip] = []
    /// The trip that is driven; nil before guidance.
    public var trip: Trip?
    /// Of the route held.
    public var generation: UInt32 = 0
    /// In order along the route.
    public var maneuvers: [Maneuver] = []
    /// In order along the route.
    public var laneGuidances: [LaneGuidance] = []
    /// In order along the route.
    public var segments: [RouteSegment] = []
    /// Nearest first.
    public var upcomingManeuvers: [ManeuverID] = []
    /// The lanes to show now; nil for none.
    public var currentLaneGuidance: LaneGuidanceID?
    /// The segment the vehicle is on; nil without segments.
    public var currentSegment: String?
    /// The road the vehicle is on, longest variant first.
    public var currentRoadName: [String] = []
    /// How near the first upcoming maneuver is.
    public var maneuverState = ManeuverState.continue
    /// Of the whole trip; nil when not known.
    public var tripEstimates: TravelEstimates?
    /// The colour of the remaining time.
    public var timeRemainingColor = TimeRemainingColor.default
    /// The newest estimates of each maneuver.
    public var maneuverEstimates: [ManeuverID: TravelEstimates] = [:]
    /// The alert that is shown; nil for none.
    public var alert: NavigationAlert?

    /// Nothing held.
    public init() {}

    /// The first upcoming maneuver.
    public var nextManeuver: Maneuver? {
        self.upcomingManeuvers.first.flatMap { id in self.maneuvers.first { $0.id == id } }
    }

    /// Takes over what a message says.
    mutating func apply(_ envelope: Envelope, storage: VehicleLimits = .init()) {
        if envelope.session != .none, envelope.session.rawValue == self.session {
            self.sequence = envelope.sequence
        }
        switch envelope.message {
        case .snapshotBegin(let begin): self.begin(begin, envelope)
        case .sessionSuspended: self.isSuspended = true
        case .sessionRestored: self.isSuspended = false
        case .sessionEnded(let ended):
            if ended.session.rawValue == self.session || ended.session == .none {
                self.end("\(ended.reason)")
            }
        case .publication(let publication):
            if envelope.session.rawValue == self.session { self.apply(publication, storage) }
        default: break  // The others do not change what is held.
        }
    }

    private mutating func begin(_ begin: SnapshotBegin, _ envelope: Envelope) {
        if begin.kind == .full {
            self = VehicleState()
            self.phase = .preview
        }
        self.session = envelope.session.rawValue
        self.client = begin.client.rawValue
        self.isSuspended = begin.isSuspended
        self.withheld = [:]
        for grant in begin.withheld {
            self.withheld["\(grant.feature)"] = grant.withheld.map { "\($0)" } ?? ""
        }
        if begin.kind == .full { self.sequence = envelope.sequence }
    }

    private mutating func end(_ reason: String) {
        self = VehicleState()
        self.phase = .ended(reason: reason)
    }

    private mutating func apply(_ publication: Publication, _ storage: VehicleLimits) {
        switch publication {
        case .tripPreviews(let trips, _): self.previews = trips
        case .startGuidance(let trip, let generation, let route):
            let (session, client, sequence, withheld) = (
                self.session, self.client, self.sequence, self.withheld
            )
            self = VehicleState()
            (self.session, self.client, self.sequence, self.withheld) = (session, client, sequence, withheld)
            self.phase = .active
            self.trip = trip
            self.replaceRoute(route, generation)
        case .updateTrip(let trip): self.trip = trip
        case .addManeuvers(let added, _): self.maneuvers = Self.adding(added, to: self.maneuvers, \.id)
        case .addLaneGuidances(let added, _):
            self.laneGuidances = Self.adding(added, to: self.laneGuidances, \.id)
        case .addRouteSegments(let added, _): self.segments = Self.adding(added, to: self.segments, \.id)
        case .upcomingManeuvers(let ids, _): self.setUpcoming(ids, storage)
        case .currentLaneGuidance(let id, _): self.setCurrentLane(id, storage)
        case .currentRoadName(let variants): self.currentRoadName = variants
        case .maneuverState(let state, _): self.maneuverState = state
        case .tripEstimates(let estimates, let color):
            self.tripEstimates = estimates
            self.timeRemainingColor = color
        case .maneuverEstimates(let id, let estimates, _): self.maneuverEstimates[id] = estimates
        case .currentRouteSegment(let id, _): self.currentSegment = id
        case .pauseGuidance(let reason, let description):
            self.phase = .paused(reason, description: description)
            self.maneuverState = .continue
        case .resumeGuidance(let generation, _, let route):
            self.phase = .active
            if let route { self.replaceRoute(route, generation) }
        case .showAlert(let alert): self.alert = alert
        case .dismissAlert: self.alert = nil
        case .shareDestination: break
        case .finishGuidance: self.end("finished")
        case .cancelGuidance: self.end("cancelledByClient")
        }
    }

    private mutating func replaceRoute(_ route: RouteInformation, _ generation: UInt32) {
        self.generation = generation
        self.maneuvers = route.maneuvers
        self.laneGuidances = route.laneGuidances
        self.segments = route.segments
        self.upcomingManeuvers = route.upcomingManeuvers
        self.currentLaneGuidance = route.currentLaneGuidance
        self.currentSegment = route.currentSegment ?? route.segments.first?.id
        self.tripEstimates = route.tripTravelEstimates
        self.maneuverEstimates = [:]
        if let estimates = route.maneuverTravelEstimates, let first = route.upcomingManeuvers.first {
            self.maneuverEstimates[first] = estimates
        }
        self.maneuverState = .continue
    }

    /// With limited storage, the maneuvers before the first upcoming one make room.
    private mutating func setUpcoming(_ ids: [ManeuverID], _ storage: VehicleLimits) {
        self.upcomingManeuvers = ids
        guard storage.maneuversStoredMax > 0 else { return }
        let place =
            ids.first.flatMap { id in self.maneuvers.firstIndex { $0.id == id } } ?? self.maneuvers.count
        for maneuver in self.maneuvers[..<place] { self.maneuverEstimates[maneuver.id] = nil }
        self.maneuvers.removeFirst(place)
    }

    private mutating func setCurrentLane(_ id: LaneGuidanceID?, _ storage: VehicleLimits) {
        self.currentLaneGuidance = id
        guard storage.laneGuidancesStoredMax > 0, let id else { return }
        let place = self.laneGuidances.firstIndex { $0.id == id } ?? 0
        self.laneGuidances.removeFirst(place)
    }

    private static func adding<Element, ID: Hashable>(
        _ added: [Element], to held: [Element], _ id: (Element) -> ID
    ) -> [Element] {
        let ids = Set(added.map(id))
        return held.filter { !ids.contains(id($0)) } + added
    }
}
