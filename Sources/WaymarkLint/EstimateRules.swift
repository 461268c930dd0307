internal import WaymarkModel
internal import WaymarkProtocol

/// Whether `meters` exceed `limit` by more than rounding and a better measurement explain.
private func exceeds(_ meters: UInt32, _ limit: UInt32, by least: Double, orPart part: Double) -> Bool {
    Double(meters) > Double(limit) + max(least, Double(limit) * part)
}

/// LINT-TRIP-RISES.
struct TripRisesRule: SessionRule {
    /// Since guidance is settled. Why not the one before: a distance that rises in small steps rises as well.
    private var lowest: UInt32?

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        if publication.newRoute != nil { self.lowest = session.trip?.meters }
        guard case .tripEstimates(let estimates, _) = publication else { return }
        let meters = estimates.distanceRemaining.meters
        guard let lowest, session.isSettled(at: context.instant) else { return self.lowest = meters }
        guard exceeds(meters, lowest, by: 100, orPart: 0.02) else {
            return self.lowest = min(lowest, meters)
        }
        self.lowest = meters
        context.find(
            .tripRises, in: session, field: "travel_estimates.distance_remaining_meters",
            values: [("before", "\(lowest) m"), ("distance", "\(meters) m")],
            "the distance to the destination rose from \(lowest) m to \(meters) m")
    }
}

/// LINT-MANEUVER-RISES.
struct ManeuverRisesRule: SessionRule {
    /// Of the maneuver that is the first, said while it was.
    private var last: (maneuver: ManeuverID, meters: UInt32)?

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        if publication.newRoute != nil { self.last = session.first.map { ($0.id, $0.reading.meters) } }
        guard case .maneuverEstimates(let id, let estimates, _) = publication, id == session.upcoming.first
        else { return }
        let meters = estimates.distanceRemaining.meters
        defer { self.last = (id, meters) }
        guard let last, last.maneuver == id, session.isSettled(at: context.instant),
            exceeds(meters, last.meters, by: 50, orPart: 0.05)
        else { return }
        context.find(
            .maneuverRises, in: session, field: "travel_estimates.distance_remaining_meters",
            values: [("before", "\(last.meters) m"), ("distance", "\(meters) m")],
            "the distance to maneuver \(id.rawValue) rose from \(last.meters) m to \(meters) m")
    }
}

/// LINT-MANEUVER-FARTHER.
struct ManeuverFartherRule: SessionRule {
    /// Estimates that were said at different times cannot be compared.
    private static let ageMax = Duration.seconds(2)
    /// The two estimates are published one after the other.
    private static let time = Duration.milliseconds(200)

    private struct Farther {
        let maneuver: ManeuverID
        let meters: UInt32
        let tripMeters: UInt32
        let instant: Instant
        let entry: Int
    }

    private var farther: Farther?
    private var isTold = false

    var deadline: Instant? { self.isTold ? nil : self.farther.map { $0.instant + Self.time } }

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard let trip = session.trip, let first = session.first, session.isActive,
            abs((first.reading.instant - trip.instant).nanoseconds) < Self.ageMax.nanoseconds,
            exceeds(first.reading.meters, trip.meters, by: 100, orPart: 0.02)
        else { return (self.farther, self.isTold) = (nil, false) }
        // Told once, until it is right again.
        guard self.farther == nil else { return }
        self.farther = Farther(
            maneuver: first.id, meters: first.reading.meters, tripMeters: trip.meters,
            instant: context.instant, entry: context.entry)
    }

    mutating func deadlineReached(_ session: SessionView, _ context: inout LintContext) {
        guard let farther else { return }
        self.isTold = true
        context.find(
            .maneuverFarther, in: session, field: "travel_estimates.distance_remaining_meters",
            values: [("maneuver", "\(farther.meters) m"), ("trip", "\(farther.tripMeters) m")],
            entry: farther.entry,
            "maneuver \(farther.maneuver.rawValue) is \(farther.meters) m away, "
                + "the destination \(farther.tripMeters) m")
    }
}

/// LINT-ESTIMATES-OTHER.
struct EstimatesOtherRule: SessionRule {
    private static let time = Duration.seconds(10)

    /// Since when and since which entry estimates come for other maneuvers only.
    private var since: (instant: Instant, entry: Int)?
    private var first: ManeuverID?
    private var isTold = false

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard session.isActive, let first = session.upcoming.first, self.first == first,
            case .published(let publication) = step, publication.newRoute == nil
        else {
            (self.since, self.isTold, self.first) = (nil, false, session.upcoming.first)
            return
        }
        guard case .maneuverEstimates(let id, _, _) = publication else { return }
        if id == first { return (self.since, self.isTold) = (nil, false) }
        guard let since else { return self.since = (context.instant, context.entry) }
        guard context.instant - since.instant >= Self.time, !self.isTold else { return }
        self.isTold = true
        context.find(
            .estimatesOther, in: session, field: "maneuver_id",
            values: [("next", "\(first.rawValue)"), ("maneuver", "\(id.rawValue)")], entry: since.entry,
            "maneuver \(first.rawValue) is next, and for 10 s estimates come for maneuver \(id.rawValue) only"
        )
    }
}

/// LINT-DISTANCE-DISPLAY.
struct DistanceDisplayRule: SessionRule {
    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        publication.forEachEstimates { path, estimates in
            guard let display = estimates.distanceRemainingToDisplay, let meters = display.meters else {
                return
            }
            let distance = Double(estimates.distanceRemaining.meters)
            guard abs(meters - distance) > Self.tolerance(distance) else { return }
            let shown = "\(Double(display.valueTenths) / 10) \(display.unit.name)"
            context.find(
                .distanceDisplay, in: session, field: "\(path).distance_remaining_to_display",
                values: [("distance", "\(estimates.distanceRemaining.meters) m"), ("display", shown)],
                "a distance of \(estimates.distanceRemaining.meters) m is displayed as \(shown)")
        }
    }

    /// In metres. A tenth of a mile, in which distances are shown, has up to 80 m to the next.
    private static func tolerance(_ meters: Double) -> Double {
        switch meters {
        case ..<100: 30
        case ..<1_000: 100
        case ..<10_000: 160
        default: meters / 10
        }
    }
}

extension DisplayDistance {
    /// nil: a unit that this build does not know.
    fileprivate var meters: Double? {
        let unit: Double? =
            switch self.unit {
            case .meters: 1
            case .kilometers: 1_000
            case .feet: 0.3048
            case .yards: 0.9144
            case .miles: 1_609.344
            case .unrecognized: nil
            }
        return unit.map { $0 * Double(self.valueTenths) / 10 }
    }
}

/// LINT-STATE-DISTANCE.
struct StateDistanceRule: SessionRule {
    /// Beyond these distances, in metres, the states are too early.
    private static let executeMeters: UInt32 = 500
    private static let prepareMeters: UInt32 = 4_000
    /// From here on `execute` is due. At 0 the maneuver may be one that is reached while standing, such as the start.
    private static let nearMeters: UInt32 = 15
    /// How long it may be missing.
    private static let lateTime = Duration.seconds(2)
    /// How old the estimates may be.
    private static let ageMax = Duration.seconds(2)

    private var tooEarly: ManeuverState?
    /// Since when and since which entry the maneuver is near, and its state says it is not.
    private var late: (maneuver: ManeuverID, instant: Instant, entry: Int)?
    private var isLateTold = false

    var deadline: Instant? { self.isLateTold ? nil : self.late.map { $0.instant + Self.lateTime } }

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        switch step {
        case .published: break
        case .connection: return self.forget()
        }
        guard session.isActive, let first = session.first else { return self.forget() }
        if context.instant - first.reading.instant <= Self.ageMax {
            self.judgeEarly(first.id, first.reading.meters, session, &context)
        }
        let isLate =
            (1...Self.nearMeters).contains(first.reading.meters)
            && [.continue, .initial].contains(session.maneuverState)
        if !isLate {
            self.forgetLate()
        } else if self.late?.maneuver != first.id {
            self.forgetLate()
            self.late = (first.id, context.instant, context.entry)
        }
    }

    private mutating func forget() {
        self.tooEarly = nil
        self.forgetLate()
    }

    private mutating func forgetLate() { (self.late, self.isLateTold) = (nil, false) }

    private mutating func judgeEarly(
        _ id: ManeuverID, _ meters: UInt32, _ session: SessionView, _ context: inout LintContext
    ) {
        let state = session.maneuverState
        let isTooEarly =
            state == .execute && meters > Self.executeMeters
            || state == .prepare && meters > Self.prepareMeters
        guard isTooEarly else { return self.tooEarly = nil }
        guard self.tooEarly != state else { return }
        self.tooEarly = state
        context.find(
            .stateDistance, in: session, field: "state",
            values: [("state", state.name), ("distance", "\(meters) m")],
            "the state is \(state.name), \(meters) m before maneuver \(id.rawValue)")
    }

    mutating func deadlineReached(_ session: SessionView, _ context: inout LintContext) {
        guard let late else { return }
        // Old estimates do not say where the vehicle is now.
        guard let first = session.first, context.instant - first.reading.instant <= Self.ageMax else {
            return self.late = nil
        }
        self.isLateTold = true
        let (state, meters) = (session.maneuverState, first.reading.meters)
        context.find(
            .stateDistance, in: session, field: "state",
            values: [("state", state.name), ("distance", "\(meters) m")], entry: late.entry,
            "the state is \(state.name), \(meters) m before maneuver \(late.maneuver.rawValue), for 2 s")
    }
}
