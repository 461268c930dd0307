internal import WaymarkHistory
internal import WaymarkModel
internal import WaymarkProtocol

/// LINT-PREVIEW-ESTIMATES.
struct PreviewEstimatesRule: SessionRule {
    /// The trips that were told, so that each is told once.
    private var told: Set<Identifier> = []

    init() {}

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(.tripPreviews(let trips, _)) = step else { return }
        // A session shows few trips at a time. What was told and is gone may be told again.
        self.told.formIntersection(trips.map { Identifier($0.id) })
        for (index, trip) in trips.enumerated()
        where !trip.hasEstimates && self.told.insert(Identifier(trip.id)).inserted {
            context.find(
                .previewEstimates, session.client, session.id, field: "trips[\(index)].travel_estimates",
                values: [("trip", trip.id)],
                "the trip \(trip.id) is offered without distance and time")
        }
    }
}

extension Trip {
    /// Whether it has estimates of its own, or its selected route choice has some; the first one if none is selected.
    fileprivate var hasEstimates: Bool {
        let choice =
            self.routeChoices.first { $0.id == self.selectedRouteChoice } ?? self.routeChoices.first
        return self.travelEstimates != nil || choice?.travelEstimates != nil
    }
}

/// LINT-PREVIEW-UNKNOWN.
struct PreviewUnknownRule: LintRule {
    /// The time for which a choice of replaced previews may be under way.
    private static let lateMax = Duration.seconds(1)

    private struct Previews {
        var newest: [PublicationOutline.NamedTrip]
        /// Those before, and when they were replaced.
        var replaced: (previews: [PublicationOutline.NamedTrip], instant: Instant)?

        func has(_ trip: Identifier, _ routeChoice: UInt32?, at instant: Instant) -> Bool {
            var all = self.newest
            if let replaced, instant - replaced.instant <= PreviewUnknownRule.lateMax {
                all += replaced.previews
            }
            return all.contains {
                $0.id == trip && (routeChoice.map($0.routeChoices.contains) ?? true)
            }
        }
    }

    /// The previews that each endpoint shows.
    private var shown: [PeerID: Previews] = [:]

    mutating func see(_ step: LintStep, _ world: LintWorld, _ context: inout LintContext) {
        guard case .message(let endpoint, let way, let message, let header) = step, endpoint.vehicle != nil
        else { return }
        switch (way, message) {
        case (.toPeer, .publication(let publication)):
            self.show(publication, endpoint, context.instant)
        case (.toPeer, .snapshotBegin(let begin)) where begin.kind == .full:
            self.shown[endpoint] = Previews(newest: [])
        case (.toPeer, .sessionEnded): self.shown[endpoint] = nil
        case (.toGateway, .selectPreview(let selection)):
            self.judge(selection.trip, selection.routeChoice, endpoint, header.session, &context)
        case (.toGateway, .startTripRequest(let request)):
            self.judge(request.trip, request.routeChoice, endpoint, header.session, &context)
        default: break
        }
    }

    private mutating func show(_ publication: Publication, _ endpoint: PeerID, _ instant: Instant) {
        guard let old = self.shown[endpoint] else { return }
        switch publication {
        case .tripPreviews:
            guard case .previews(let previews) = publication.outline.content else { return }
            self.shown[endpoint] = Previews(newest: previews, replaced: (old.newest, instant))
        case .startGuidance:
            self.shown[endpoint] = Previews(newest: [], replaced: (old.newest, instant))
        default: break
        }
    }

    private func judge(
        _ trip: Identifier, _ routeChoice: UInt32?, _ endpoint: PeerID, _ session: SessionID,
        _ context: inout LintContext
    ) {
        guard let shown = self.shown[endpoint], !shown.has(trip, routeChoice, at: context.instant) else {
            return
        }
        let isKnown = shown.has(trip, nil, at: context.instant)
        let what = isKnown ? "route choice \(routeChoice ?? 0) of the trip \(trip)" : "the trip \(trip)"
        context.find(
            .previewUnknown, endpoint, session, field: isKnown ? "route_choice_id" : "trip_id",
            values: [("trip", trip.rawValue)],
            "\(endpoint) chooses \(what), which the trips that it was sent do not have")
    }
}

/// LINT-START-GUIDANCE.
struct StartGuidanceRule: LintRule {
    /// The time that a client may take to start guidance.
    private static let startTime = Duration.seconds(10)
    /// The number of requests that are followed at once, of all vehicles.
    private static let openMax = 4_096

    private struct Open {
        let session: SessionID
        let trip: Identifier
        /// The time at which the client accepted it.
        var accepted: Instant?
    }

    private struct Waiting {
        let client: PeerID
        let request: Identifier
        let trip: Identifier
        let deadline: Instant
        let entry: Int
    }

    private var open: [RequestKey: Open] = [:]
    private var waiting: [SessionID: Waiting] = [:]
    /// The last start of each session.
    private var started: [SessionID: (trip: Identifier, instant: Instant)] = [:]

    var deadline: Instant? { self.waiting.values.lazy.map(\.deadline).min() }

    mutating func see(_ step: LintStep, _ world: LintWorld, _ context: inout LintContext) {
        switch step {
        case .published(let session, _, .startGuidance(let trip, _, _)):
            self.start(Identifier(trip.id), session, &context)
        // Who takes the trips back has nothing left to start.
        case .published(let session, _, .cancelGuidance): self.waiting[session] = nil
        case .ended(let session, _):
            (self.waiting[session], self.started[session]) = (nil, nil)
            self.open = self.open.filter { $0.value.session != session }
        case .message(.client, .toPeer, .startTripRequest(let request), let header):
            guard let vehicle = request.vehicle, self.open.count < Self.openMax else { return }
            let key = RequestKey(vehicle: vehicle, requestID: request.requestID)
            self.open[key] = Open(session: header.session, trip: request.trip)
        case .message(.client, .toGateway, .requestAnswer(let answer), _):
            guard answer.answer == .accept else { return }
            let key = RequestKey(vehicle: answer.vehicle, requestID: answer.requestID)
            self.open[key]?.accepted = context.instant
        case .message(let client, .toPeer, .requestOutcome(let outcome), _):
            guard case .client = client else { return }
            self.see(outcome, client, context)
        case .connection(let client, .ended):
            self.waiting = self.waiting.filter { $0.value.client != client }
        default: break
        }
    }

    private mutating func start(_ trip: Identifier, _ session: SessionID, _ context: inout LintContext) {
        self.started[session] = (trip, context.instant)
        guard let waiting = self.waiting.removeValue(forKey: session), waiting.trip != trip else { return }
        context.find(
            .startGuidance, waiting.client, session, field: "trip.id",
            values: [("request", waiting.request.rawValue)], entry: waiting.entry,
            "the start of the trip \(waiting.trip) was accepted, and guidance started on \(trip)")
    }

    private mutating func see(_ outcome: RequestOutcome, _ client: PeerID, _ context: LintContext) {
        let key = RequestKey(vehicle: outcome.vehicle, requestID: outcome.requestID)
        guard let request = self.open.removeValue(forKey: key), outcome.outcome == .accepted else { return }
        // A client that has accepted need not wait for the outcome.
        if let started = self.started[request.session], let accepted = request.accepted,
            started.trip == request.trip, started.instant >= accepted
        {
            return
        }
        self.waiting[request.session] = Waiting(
            client: client, request: outcome.requestID, trip: request.trip,
            deadline: context.instant + Self.startTime, entry: context.entry)
    }

    mutating func deadlineReached(_ world: LintWorld, _ context: inout LintContext) {
        for (session, waiting) in self.waiting.sorted(by: { $0.key < $1.key })
        where waiting.deadline <= context.instant {
            self.waiting[session] = nil
            context.find(
                .startGuidance, waiting.client, session, values: [("request", waiting.request.rawValue)],
                entry: waiting.entry,
                "the start of the trip \(waiting.trip) was accepted, and no guidance started within 10 s")
        }
    }
}
