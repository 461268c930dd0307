import ExpectedState
internal import WaymarkModel
internal import WaymarkProtocol

/// Makes a client's publications in one session: a random drive in a valid order, and publications that must be rejected.
struct Publisher {
    private(set) var drive = DriveState()
    /// The last publication ended guidance.
    private(set) var hasFinished = false
    /// The user accepted a waypoint: a new route must be published.
    var isRerouteAsked = false
    private let client: ClientID
    private var generation: UInt32 = 0
    private var making = RandomDrive()
    private var shareCount = 0
    private var previewCount = 0

    init(client: ClientID) { self.client = client }

    /// The publisher of the client's next session, which continues the numbers of its shares.
    init(client: ClientID, following old: Publisher) {
        self.init(client: client)
        self.shareCount = old.shareCount
        self.withheld = old.withheld
        self.lengthens = old.lengthens
    }

    /// Now and then it publishes what is too long for small frames.
    var lengthens = false

    /// Features that the gateway does not grant. Only ``wrong(_:)`` publishes messages of these.
    var withheld: Set<Feature> {
        get { self.making.withheld }
        set { self.making.withheld = newValue }
    }

    /// Starts again in the same session, without any published state.
    mutating func restart() {
        self.drive.clear()
        self.hasFinished = false
        self.isRerouteAsked = false
    }

    // MARK: Valid publications

    /// The next publication.
    mutating func next(mayShare: Bool, _ random: inout SeededRandom) -> Publication {
        var publication = self.choose(mayShare: mayShare, &random)
        if self.isWithheld(publication) {
            publication = .tripEstimates(RandomDrive.estimates(&random), .green)
        }
        if self.lengthens { publication = LongContent.lengthen(publication, &random) }
        self.drive.apply(publication)
        self.hasFinished = publication.type == .finishGuidance || publication.type == .cancelGuidance
        return publication
    }

    /// The next publication of a type that no build knows.
    mutating func nextUnknown(_ random: inout SeededRandom) -> UnknownPublication {
        let publication = UnknownPublication(&random)
        if !publication.isWrong { self.drive.extensions.apply(publication) }
        return publication
    }

    private mutating func choose(mayShare: Bool, _ random: inout SeededRandom) -> Publication {
        guard let trip = self.drive.trip else {
            let mayPreview = !self.withheld.contains(.tripPreviews)
            if mayPreview, random.once(in: 4) { return self.previews(&random) }
            if mayShare, let shared = self.shareOfPreview(&random) { return shared }
            return self.start(&random)
        }
        if self.drive.pause != nil, random.once(in: 2) {
            let reason = self.isRerouteAsked ? RerouteReason.waypointModified : .missedTurn
            guard self.isRerouteAsked || random.once(in: 2) else {
                return .resumeGuidance(generation: self.generation, .unknown, nil)
            }
            self.isRerouteAsked = false
            return .resumeGuidance(
                generation: self.newGeneration(), reason, self.making.route(on: trip, &random))
        }
        if self.isRerouteAsked, self.drive.pause == nil {
            return .pauseGuidance(.rerouting, description: [])
        }
        switch random.number(0...59) {
        case 0: return random.once(in: 2) ? .finishGuidance : .cancelGuidance
        case 1: return self.start(&random)
        case 2, 3: return .pauseGuidance(random.once(in: 2) ? .rerouting : .loading, description: ["wait"])
        case 4, 5: return .updateTrip(self.updated(trip, &random))
        case 6...11: return self.addition(trip, &random)
        case 12...15: return self.alert(&random)
        case 16, 17:
            return mayShare && trip.isDestinationShareable ? self.share(trip) : self.state(&random)
        case 18: return .tripPreviews([trip], selected: "")
        default: return self.state(&random)
        }
    }

    /// Trips to choose from: as many as have fresh ids, so that those before are gone.
    private mutating func previews(_ random: inout SeededRandom) -> Publication {
        let trips = (0...random.number(0...2)).map { _ in
            var trip = self.making.trip(&random)
            self.previewCount += 1
            trip.id = "preview-\(self.previewCount)"
            trip.travelEstimates = RandomDrive.estimates(&random)
            return trip
        }
        return .tripPreviews(trips, selected: random.once(in: 2) ? trips[0].id : "")
    }

    /// The destination of the preview that is shown; nil if none is shared.
    private mutating func shareOfPreview(_ random: inout SeededRandom) -> Publication? {
        // A lost FinishGuidance leaves the gateway in the phase before.
        guard self.generation == 0, case .tripPreviews(let trips, _)? = self.drive.previews,
            let shown = trips.first, shown.isDestinationShareable, random.once(in: 4)
        else { return nil }
        let shared = self.share(shown, isPreview: true)
        return self.isWithheld(shared) ? nil : shared
    }

    private mutating func start(_ random: inout SeededRandom) -> Publication {
        let trip = self.making.trip(&random)
        return .startGuidance(
            trip, generation: self.newGeneration(), self.making.route(on: trip, &random))
    }

    private mutating func newGeneration() -> UInt32 {
        self.generation += 1
        return self.generation
    }

    /// The trip with another destination; now and then with other sharing flags.
    private func updated(_ trip: Trip, _ random: inout SeededRandom) -> Trip {
        var trip = trip
        trip.destination = RandomDrive.waypoint(&random)
        if random.once(in: 3) { trip.routeSegmentsAvailable.toggle() }
        if random.once(in: 3) { trip.isDestinationShareable.toggle() }
        return trip
    }

    private mutating func addition(_ trip: Trip, _ random: inout SeededRandom) -> Publication {
        switch random.number(0...3) {
        case 0:
            let added = self.making.laneGuidances(1, &random)
            return .addLaneGuidances(added, generation: self.generation)
        case 1 where trip.routeSegmentsAvailable:
            let segment = self.making.segment(self.drive.maneuvers, self.drive.laneGuidances, &random)
            return .addRouteSegments([segment], generation: self.generation)
        default:
            let added = self.making.maneuvers(random.number(1...3), self.drive.laneGuidances, &random)
            return .addManeuvers(added, generation: self.generation)
        }
    }

    private mutating func alert(_ random: inout SeededRandom) -> Publication {
        if let shown = self.drive.alert, random.once(in: 2) { return .dismissAlert(shown.id, .userDismissed) }
        return .showAlert(self.making.alert(&random))
    }

    private mutating func share(_ trip: Trip, isPreview: Bool = false) -> Publication {
        self.shareCount += 1
        return .shareDestination(
            shareID: EquivalentIDs.id("\(self.client)-share-", self.shareCount).rawValue, trip.destination,
            trip: isPreview ? trip.id : "")
    }

    private mutating func state(_ random: inout SeededRandom) -> Publication {
        let road = Publication.currentRoadName([
            "Road number \(random.number(0...99))", "R\(random.number(0...99))",
        ])
        switch random.number(0...8) {
        case 0, 1: return road
        case 8:
            let next = random.once(in: 2) ? RandomDrive.speedLimitAhead(&random) : nil
            return .speedLimit(RandomDrive.speedLimit(&random), next: next)
        case 2: return .tripEstimates(RandomDrive.estimates(&random), .green)
        case 3: return self.upcoming(&random) ?? road
        case 4:
            if random.once(in: 4) { return .currentLaneGuidance(nil, generation: self.generation) }
            guard let lanes = random.pick(self.drive.laneGuidances) else { return road }
            return .currentLaneGuidance(lanes.id, generation: self.generation)
        case 5:
            guard let segment = random.pick(self.drive.segments) else { return road }
            return .currentRouteSegment(segment.id, generation: self.generation)
        case 6:
            guard self.drive.pause == nil, let state = self.nextManeuverState else { return road }
            return .maneuverState(state, generation: self.generation)
        default:
            guard let maneuver = random.pick(self.drive.maneuvers) else { return road }
            return .maneuverEstimates(
                maneuver.id, RandomDrive.estimates(&random), generation: self.generation)
        }
    }

    /// Usually the next maneuvers; sometimes maneuvers far ahead or behind, or none.
    private func upcoming(_ random: inout SeededRandom) -> Publication? {
        let ids = self.drive.maneuvers.map(\.id)
        guard !ids.isEmpty else { return nil }
        if random.once(in: 8) { return .upcomingManeuvers([], generation: self.generation) }
        let current = ids.firstIndex { $0 == self.drive.upcoming.first } ?? 0
        let first = random.once(in: 4) ? random.number(0...ids.count - 1) : min(current + 1, ids.count - 1)
        return .upcomingManeuvers(Array(ids[first...].prefix(2)), generation: self.generation)
    }

    /// The next state in the cycle, independent of the maneuver.
    private var nextManeuverState: ManeuverState? {
        switch self.drive.maneuverState {
        case nil, .continue: .initial
        case .initial: .prepare
        case .prepare: .execute
        case .execute: .continue
        case .unrecognized: nil
        }
    }

    // MARK: Invalid publications

    /// A publication that must be rejected, with the expected code and field.
    mutating func wrong(_ random: inout SeededRandom) -> (Publication, ErrorCode, String) {
        let (publication, code, field) = self.chooseWrong(&random)
        return self.isWithheld(publication) ? (publication, .notGranted, "") : (publication, code, field)
    }

    private func isWithheld(_ publication: Publication) -> Bool {
        // Routes contain granted features only.
        publication.rule.feature.map(self.withheld.contains) ?? false
    }

    private mutating func chooseWrong(_ random: inout SeededRandom) -> (Publication, ErrorCode, String) {
        let unknown = ManeuverID(rawValue: 60_000)
        switch random.number(0...9) {
        case 0:
            return (
                .upcomingManeuvers([unknown], generation: self.generation), .unknownReference,
                "maneuver_ids[0]"
            )
        case 1:
            return (
                .maneuverState(.continue, generation: self.generation + 7), .staleGeneration, "generation"
            )
        case 2:
            guard let old = self.drive.maneuvers.last else { fallthrough }
            return (.addManeuvers([old], generation: self.generation), .duplicate, "maneuvers[0].id")
        case 3:
            let route = RouteInformation(upcomingManeuvers: [unknown])
            return (
                .startGuidance(self.making.trip(&random), generation: self.generation + 1, route),
                .unknownReference, "route.upcoming_maneuver_ids[0]"
            )
        case 4:
            return (
                .currentRouteSegment("nowhere", generation: self.generation), .unknownReference, "segment_id"
            )
        case 5:
            let estimates = TravelEstimates(distanceRemaining: .meters(60_000_000))
            return (
                .tripEstimates(estimates, .green), .outOfRange, "travel_estimates.distance_remaining_meters"
            )
        case 6: return (.dismissAlert(60_000, .userDismissed), .unknownReference, "alert_id")
        case 7: return (.tripEstimates(RandomDrive.estimates(&random), .red), .sequenceGap, "")
        case 8 where self.drive.pause == nil:
            return (.resumeGuidance(generation: self.generation, .unknown, nil), .wrongState, "")
        default:
            let estimates = RandomDrive.estimates(&random)
            return (
                .maneuverEstimates(unknown, estimates, generation: self.generation), .unknownReference,
                "maneuver_id"
            )
        }
    }
}
