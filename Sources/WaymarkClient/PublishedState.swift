internal import WaymarkModel
internal import WaymarkProtocol

/// What a client has published into one session and what is still to be sent: enough to go on after any loss.
///
/// A machine without I/O: publications go in, numbered ones come out; what the gateway says after a reconnection decides
/// whether the last ones are sent again or the whole state is stated anew.
struct PublishedState: Sendable, Hashable {
    /// Sent publications that are kept for sending again.
    private static let recentMax = 512

    private(set) var generation: UInt32 = 0
    private(set) var phase = SessionPhase.preview
    private(set) var trip: Trip?
    private(set) var route = RouteInformation()
    private var previews: Publication?
    private var roadName: Publication?
    private var maneuverState: ManeuverState?
    private var tripEstimates: (TravelEstimates, TimeRemainingColor)?
    private var maneuverEstimates: [ManeuverID: TravelEstimates] = [:]
    private var pause: Publication?
    private var alert: NavigationAlert?
    private var pending: [(key: ConflationKey?, publication: Publication)] = []
    private var recent: [(sequence: UInt64, publication: Publication)] = []
    /// The last number given.
    private(set) var sequence: UInt64 = 0

    /// Takes over what is to be published; a newer state replaces an older one that was not sent yet.
    mutating func publish(_ publication: Publication) {
        self.retain(publication)
        let key = publication.outline.conflationKey
        if let key { self.pending.removeAll { $0.key == key } }
        // A state that waits speaks of the maneuver that was first before: behind the new one it would be wrong.
        if case .upcomingManeuvers = publication {
            self.pending.removeAll { $0.key == ConflationKey(type: .updateManeuverState) }
        }
        self.pending.append((key, publication))
    }

    /// A route's generation, not used before.
    mutating func newGeneration() -> UInt32 {
        self.generation += 1
        return self.generation
    }

    /// What is to be sent now, numbered.
    mutating func takePending() -> [(sequence: UInt64, publication: Publication)] {
        let taken = self.pending.enumerated().map {
            (self.sequence + UInt64($0.offset) + 1, $0.element.publication)
        }
        self.pending = []
        self.sequence += UInt64(taken.count)
        self.recent += taken.map { (sequence: $0.0, publication: $0.1) }
        self.recent.removeFirst(max(0, self.recent.count - Self.recentMax))
        return taken.map { (sequence: $0.0, publication: $0.1) }
    }

    /// The gateway still has the session, up to `sequence`: what came after it is sent again.
    mutating func resume(after sequence: UInt64) {
        let lost = self.recent.filter { $0.sequence > sequence }
        let isComplete = lost.count == Int(self.sequence - min(sequence, self.sequence))
        self.sequence = sequence
        if isComplete {
            self.pending = lost.map { ($0.publication.outline.conflationKey, $0.publication) } + self.pending
        } else {
            self.restate()
        }
        self.recent = []
    }

    /// The gateway knows nothing of the session: everything is stated anew in a new one.
    mutating func restart() {
        self.sequence = 0
        self.recent = []
        self.restate()
    }

    /// Replaces what is pending by publications that build up the whole state.
    private mutating func restate() {
        let events = self.pending.filter { pending in
            switch pending.publication {
            case .finishGuidance, .cancelGuidance, .shareDestination: true
            default: false  // Part of the state that is stated anew.
            }
        }
        self.pending = []
        if let previews { self.pending.append((nil, previews)) }
        if let trip {
            let generation = self.newGeneration()
            var route = self.route
            route.tripTravelEstimates = self.tripEstimates?.0 ?? route.tripTravelEstimates
            self.pending.append((nil, .startGuidance(trip, generation: generation, route)))
            if let roadName { self.pending.append((nil, roadName)) }
            if let (estimates, color) = self.tripEstimates {
                self.pending.append((nil, .tripEstimates(estimates, color)))
            }
            for (id, estimates) in self.maneuverEstimates.sorted(by: { $0.key < $1.key }) {
                self.pending.append((nil, .maneuverEstimates(id, estimates, generation: generation)))
            }
            if let maneuverState {
                self.pending.append((nil, .maneuverState(maneuverState, generation: generation)))
            }
            if let pause { self.pending.append((nil, pause)) }
            if let alert { self.pending.append((nil, .showAlert(alert))) }
        }
        self.pending += events
    }

    private mutating func retain(_ publication: Publication) {
        switch publication {
        case .tripPreviews: self.previews = publication
        case .startGuidance(let trip, _, let route):
            self.previews = nil
            self.trip = trip
            self.phase = .active
            self.pause = nil
            self.alert = nil
            self.roadName = nil
            self.replaceRoute(route)
        case .updateTrip(let trip): self.trip = trip
        case .addManeuvers(let added, _): self.route.maneuvers += added
        case .addLaneGuidances(let added, _): self.route.laneGuidances += added
        case .addRouteSegments(let added, _): self.route.segments += added
        case .upcomingManeuvers(let ids, _):
            if ids.first != self.route.upcomingManeuvers.first { self.maneuverState = nil }
            self.route.upcomingManeuvers = ids
        case .currentLaneGuidance(let id, _): self.route.currentLaneGuidance = id
        case .currentRoadName: self.roadName = publication
        case .maneuverState(let state, _): self.maneuverState = state
        case .tripEstimates(let estimates, let color): self.tripEstimates = (estimates, color)
        case .maneuverEstimates(let id, let estimates, _): self.maneuverEstimates[id] = estimates
        case .currentRouteSegment(let id, _): self.route.currentSegment = id
        case .pauseGuidance:
            self.phase = .paused
            self.pause = publication
            self.maneuverState = nil
        case .resumeGuidance(_, _, let route):
            self.phase = .active
            self.pause = nil
            if let route { self.replaceRoute(route) }
        case .showAlert(let alert): self.alert = alert
        case .dismissAlert: self.alert = nil
        case .shareDestination: break
        case .finishGuidance, .cancelGuidance: self.phase = .ended
        }
    }

    private mutating func replaceRoute(_ route: RouteInformation) {
        self.route = route
        self.maneuverState = nil
        self.tripEstimates = nil
        self.maneuverEstimates = [:]
    }

    static func == (lhs: PublishedState, rhs: PublishedState) -> Bool {
        lhs.sequence == rhs.sequence && lhs.generation == rhs.generation && lhs.phase == rhs.phase
            && lhs.trip == rhs.trip && lhs.route == rhs.route
            && lhs.pending.map(\.publication) == rhs.pending.map(\.publication)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(self.sequence)
        hasher.combine(self.generation)
    }
}
