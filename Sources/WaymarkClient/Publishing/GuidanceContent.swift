internal import WaymarkModel
internal import WaymarkProtocol

/// The present content of a session, built from its publications: enough to publish all of it again.
///
/// A publication that the phase does not allow changes nothing, since the gateway refuses it.
struct GuidanceContent: Sendable, Hashable {
    private struct Estimates: Sendable, Hashable {
        var estimates: TravelEstimates
        var color: TimeRemainingColor
    }

    private(set) var phase = SessionPhase.preview
    /// How the app has ended the session; nil while it has not.
    private(set) var ending: Publication?
    /// Of the current route; 0 before the first.
    private(set) var generation: UInt32 = 0
    /// The newest of each state that nothing else depends on.
    private var states: [Publication] = []
    private var trip: Trip?
    /// Without estimates, which are kept below.
    private(set) var route = RouteInformation()
    /// What was added to the route.
    private(set) var added = RouteContent()
    /// The route was published again while the trip had opted out of its segments, so the gateway does not have them.
    private(set) var lacksSegmentsAtGateway = false
    private var maneuverState: ManeuverState?
    private var tripEstimates: Estimates?
    private var maneuverEstimates: [ManeuverID: TravelEstimates] = [:]
    private var pause: Publication?
    private var alert: NavigationAlert?
    /// The newest of each retained state of an extension, by its key.
    private var extensions: [UInt16: PublishedExtension] = [:]

    /// Where the first upcoming maneuver is in its cycle.
    var cycle: ManeuverCycle {
        ManeuverCycle(first: self.route.upcomingManeuvers.first, state: self.maneuverState)
    }

    /// Whether the trip says that it has route segments.
    var mayHaveSegments: Bool { self.trip?.routeSegmentsAvailable ?? true }

    /// What must not be published again: segments that were added before the trip opted out of them.
    var optedOut: FeatureSet { self.mayHaveSegments || self.route.segments.isEmpty ? [] : [.routeSegments] }

    /// Applies a publication, with what it adds to the route.
    mutating func apply(_ item: OutgoingPublication) {
        let publication = item.publication
        do throws(Rejection) {
            var added = self.added
            try added.apply(publication.outline, limits: .none)
            self.reduce(publication)
            self.added = added
            if case .startGuidance = publication {
                self.lacksSegmentsAtGateway = item.omitted.contains(.routeSegments)
            }
        } catch { /* It refers to something that was refused, so it is refused as well. */  }
    }

    private mutating func reduce(_ publication: Publication) {
        guard publication.rule.phases.contains(self.phase) else { return }
        switch publication {
        case .startGuidance(let trip, let generation, let route):
            self = GuidanceContent()
            self.trip = trip
            self.phase = .active
            self.replaceRoute(route, generation)
        case .resumeGuidance(let generation, _, let route):
            self.phase = .active
            self.pause = nil
            if let route { self.replaceRoute(route, generation) }
        case .finishGuidance, .cancelGuidance:
            self.phase = .ended
            self.ending = publication
        default: self.change(publication)
        }
    }

    /// The publications that produce this content, whatever the session had before.
    func restatement(generation: UInt32) -> [Publication] {
        let extensions = self.extensions.sorted { $0.key < $1.key }
            .map { Publication.publishExtension($0.value) }
        guard let trip else { return self.states + extensions }
        var route = self.route
        route.tripTravelEstimates = self.tripEstimates?.estimates
        route.maneuverTravelEstimates = route.upcomingManeuvers.first.flatMap { self.maneuverEstimates[$0] }
        var publications: [Publication] = [.startGuidance(trip, generation: generation, route)]
        publications += self.states
        if let tripEstimates {
            publications.append(.tripEstimates(tripEstimates.estimates, tripEstimates.color))
        }
        for (id, estimates) in self.maneuverEstimates.sorted(by: { $0.key < $1.key }) {
            publications.append(.maneuverEstimates(id, estimates, generation: generation))
        }
        if let pause { publications.append(pause) }
        if let maneuverState {
            publications.append(.maneuverState(maneuverState, generation: generation))
        }
        if let alert { publications.append(.showAlert(alert)) }
        return publications + extensions
    }

    /// Takes over what changes neither the phase nor, but for a pause, the route as a whole.
    private mutating func change(_ publication: Publication) {
        switch publication {
        case .updateTrip(let trip): self.trip = trip
        case .addManeuvers(let added, _): self.route.maneuvers += added
        case .addLaneGuidances(let added, _): self.route.laneGuidances += added
        case .addRouteSegments(let added, _): self.route.segments += added
        case .upcomingManeuvers(let ids, _):
            if ids.first != self.route.upcomingManeuvers.first { self.maneuverState = nil }
            self.route.upcomingManeuvers = ids
        case .currentLaneGuidance(let id, _): self.route.currentLaneGuidance = id
        case .maneuverState(let state, _): self.maneuverState = state
        case .tripEstimates(let estimates, let color):
            self.tripEstimates = Estimates(estimates: estimates, color: color)
        case .maneuverEstimates(let id, let estimates, _): self.maneuverEstimates[id] = estimates
        case .currentRouteSegment(let id, _): self.route.currentSegment = id
        case .pauseGuidance:
            self.phase = .paused
            self.pause = publication
            self.maneuverState = nil
        case .showAlert(let alert): self.alert = alert
        case .dismissAlert(let id, _): if self.alert?.id == id { self.alert = nil }
        case .publishExtension(let published):
            if let key = published.key { self.extensions[key] = published.isRetained ? published : nil }
        default:
            // States that nothing else depends on. One with a generation would have to be stated with the new one.
            guard publication.rule.kind == .state, publication.rule.generation == .none else { return }
            self.states.removeAll { $0.type == publication.type }
            self.states.append(publication)
            self.states.sort { $0.type.rawValue < $1.type.rawValue }
        }
    }

    private mutating func replaceRoute(_ route: RouteInformation, _ generation: UInt32) {
        self.generation = generation
        self.route = route
        self.lacksSegmentsAtGateway = false
        self.states.removeAll { $0.rule.isOfRoute }
        self.route.tripTravelEstimates = nil
        self.route.maneuverTravelEstimates = nil
        self.maneuverState = nil
        self.tripEstimates = route.tripTravelEstimates.map { Estimates(estimates: $0, color: .default) }
        self.maneuverEstimates = [:]
        if let estimates = route.maneuverTravelEstimates, let first = route.upcomingManeuvers.first {
            self.maneuverEstimates[first] = estimates
        }
    }
}
