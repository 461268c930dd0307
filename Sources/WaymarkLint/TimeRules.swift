internal import WaymarkModel
internal import WaymarkProtocol

/// LINT-TIME-DISTANCE.
struct TimeDistanceRule: SessionRule {
    /// Below it a time says little about a speed.
    private static let metersMin = 300.0
    /// No road vehicle is faster on average, in metres per second.
    private static let speedMax = 100.0
    /// A drive of some length is not slower on average, in metres per second, also with a ferry.
    private static let speedMin = 0.3
    private static let slowMetersMin = 5_000.0
    /// Nor is a short drive slower than this, also in a jam.
    private static let shortSpeedMin = 0.03
    /// So far nothing drives within the time to which clients round; on a short route half of it is enough.
    private static let sameTimeMetersMax = 3_000.0
    /// The number of estimates with the same time that is too many for a drive at many times its speed, too.
    private static let sameTimeCountMin = 4

    /// Found, until the next new route.
    private var isTold = false
    /// The time to the destination, and the distance at which it was first said.
    private var trip: (time: Duration, meters: UInt32, count: Int)?

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        if publication.newRoute != nil { (self.isTold, self.trip) = (false, nil) }
        guard !self.isTold else { return }
        var found: (path: String, estimates: TravelEstimates)?
        publication.forEachEstimates { path, estimates in
            if found == nil, Self.isImpossible(estimates) { found = (path, estimates) }
        }
        if let (path, estimates) = found {
            return self.tell(
                session, path, estimates, "\(Self.text(estimates)) is no speed of a road vehicle", &context)
        }
        guard case .tripEstimates(let estimates, _) = publication, self.stays(estimates, session) else {
            return
        }
        let driven = (self.trip?.meters ?? 0) - estimates.distanceRemaining.meters
        self.tell(
            session, "travel_estimates", estimates,
            "the remaining time is the same as \(driven) m before", &context)
    }

    private static func isImpossible(_ estimates: TravelEstimates) -> Bool {
        guard let time = estimates.timeRemaining else { return false }
        let meters = Double(estimates.distanceRemaining.meters)
        let seconds = max(1, time / .seconds(1))
        return meters >= self.metersMin && meters / seconds > self.speedMax
            || meters >= self.slowMetersMin && meters / seconds < self.speedMin
            || meters >= self.metersMin && meters / seconds < self.shortSpeedMin
    }

    /// Whether the time is the same although a long way was driven.
    private mutating func stays(_ estimates: TravelEstimates, _ session: SessionView) -> Bool {
        guard let time = estimates.timeRemaining else { return false }
        let meters = estimates.distanceRemaining.meters
        guard let trip, trip.time == time, trip.meters >= meters else {
            self.trip = (time, meters, 1)
            return false
        }
        self.trip?.count += 1
        let driven = Double(trip.meters - meters)
        if driven > Self.sameTimeMetersMax { return true }
        // Times are rounded to minutes, so that the last minute is one value.
        return trip.count >= Self.sameTimeCountMin && time >= .seconds(120)
            && driven > max(session.longMeters(atMost: Self.sameTimeMetersMax) * 2, Double(trip.meters) / 2)
    }

    private static func text(_ estimates: TravelEstimates) -> String {
        "\(estimates.distanceRemaining.meters) m in \((estimates.timeRemaining ?? .zero).milliseconds / 1_000) s"
    }

    private mutating func tell(
        _ session: SessionView, _ path: String, _ estimates: TravelEstimates, _ text: String,
        _ context: inout LintContext
    ) {
        self.isTold = true
        context.find(
            .timeDistance, in: session, field: "\(path).time_remaining_seconds",
            values: [
                ("distance", "\(estimates.distanceRemaining.meters) m"),
                ("time", "\((estimates.timeRemaining ?? .zero).milliseconds / 1_000) s"),
            ], text)
    }
}

/// LINT-TRIP-STAYS.
struct TripStaysRule: SessionRule {
    /// Far from the destination, distances are said in steps; on a short route a quarter of it is enough.
    private static let metersMax = 2_000.0
    private static let part = 0.1
    /// The number of estimates of maneuvers meanwhile: in a drive at many times its speed one may be far behind the other.
    private static let countMin = 3

    /// The distance to the destination, and how far the vehicle came nearer to its maneuvers since it was said first.
    private var trip: (meters: UInt32, driven: Double, count: Int)?
    private var last: (maneuver: ManeuverID, meters: UInt32)?
    private var isTold = false

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        if let route = publication.newRoute {
            self.trip = route.tripTravelEstimates.map { ($0.distanceRemaining.meters, 0, 0) }
            (self.last, self.isTold) = (nil, false)
        }
        switch publication {
        case .tripEstimates(let estimates, _):
            guard self.trip?.meters != estimates.distanceRemaining.meters else { return }
            (self.trip, self.isTold) = ((estimates.distanceRemaining.meters, 0, 0), false)
        case .maneuverEstimates(let id, let estimates, _) where id == session.upcoming.first:
            let meters = estimates.distanceRemaining.meters
            if let last, last.maneuver == id, last.meters > meters {
                self.trip?.driven += Double(last.meters - meters)
                self.trip?.count += 1
            }
            self.last = (id, meters)
            self.judge(session, &context)
        default: break
        }
    }

    private mutating func judge(_ session: SessionView, _ context: inout LintContext) {
        guard let trip, !self.isTold, trip.count >= Self.countMin,
            trip.driven > max(session.longMeters(atMost: Self.metersMax), Double(trip.meters) * Self.part)
        else { return }
        self.isTold = true
        context.find(
            .tripStays, in: session, field: "travel_estimates.distance_remaining_meters",
            values: [("distance", "\(trip.meters) m"), ("driven", "\(Int(trip.driven)) m")],
            "the destination is still \(trip.meters) m away, and the next maneuvers came \(Int(trip.driven)) m nearer"
        )
    }
}

/// LINT-ROUTE-ESTIMATES.
struct RouteEstimatesRule: SessionRule {
    /// What comes so soon behind a route is about the same place.
    private static let time = Duration.milliseconds(200)
    private static let metersMax = 300.0
    private static let part = 0.05

    private var begin: Instant?
    private var trip: UInt32?
    private var maneuver: (id: ManeuverID, meters: UInt32)?

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        if let route = publication.newRoute {
            self.begin = context.instant
            self.trip = route.tripTravelEstimates?.distanceRemaining.meters
            self.maneuver = route.maneuverTravelEstimates.flatMap { estimates in
                route.upcomingManeuvers.first.map { ($0, estimates.distanceRemaining.meters) }
            }
        }
        guard let begin, context.instant - begin < Self.time else { return }
        switch publication {
        case .tripEstimates(let estimates, _):
            self.judge(estimates, self.trip, "the destination", session, &context)
        case .maneuverEstimates(let id, let estimates, _) where id == self.maneuver?.id:
            self.judge(estimates, self.maneuver?.meters, "maneuver \(id.rawValue)", session, &context)
        default: break
        }
    }

    private mutating func judge(
        _ estimates: TravelEstimates, _ meters: UInt32?, _ place: String, _ session: SessionView,
        _ context: inout LintContext
    ) {
        let said = estimates.distanceRemaining.meters
        guard let meters, abs(Double(said) - Double(meters)) > max(Self.metersMax, Double(meters) * Self.part)
        else { return }
        // Once for each route.
        self.begin = nil
        context.find(
            .routeEstimates, in: session, field: "travel_estimates.distance_remaining_meters",
            values: [("route", "\(meters) m"), ("distance", "\(said) m")],
            "right after a new route, in which \(place) is \(meters) m away, it is said to be \(said) m away")
    }
}

/// LINT-STATE-ORDER.
struct StateOrderRule: SessionRule {
    private var state = ManeuverState.continue
    private var first: ManeuverID?

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        defer { self.first = session.upcoming.first }
        if publication.newRoute != nil { return self.state = .continue }
        switch publication {
        case .maneuverState(let state, _): self.state = state
        case .pauseGuidance: self.state = .continue
        case .upcomingManeuvers(let ids, _):
            guard let before = self.first, let next = ids.first, next != before else { return }
            let state = self.state
            self.state = .continue
            guard state != .continue else { return }
            context.find(
                .stateOrder, in: session, field: "maneuver_ids", values: [("state", state.name)],
                "maneuver \(next.rawValue) is next, and the state of maneuver \(before.rawValue) is still "
                    + state.name)
        default: break
        }
    }
}
