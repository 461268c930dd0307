internal import WaymarkModel
internal import WaymarkProtocol

/// LINT-MANEUVER-STAYS.
struct ManeuverStaysRule: SessionRule {
    /// Far from a maneuver, distances are said in steps.
    private static let metersMax = 2_000.0
    private static let part = 0.1
    /// Nearer than this the vehicle may be at the maneuver, or just behind it.
    private static let nearMeters: UInt32 = 50
    /// The number of estimates of the trip meanwhile: in a drive at many times its speed one may be far behind the other.
    private static let countMin = 4

    private var maneuver: ManeuverID?
    /// The distance to it that was said last; nil for none.
    private var meters: UInt32?
    /// The distances to the destination when it was said first, and last.
    private var trip: (begin: UInt32, last: UInt32)?
    private var count = 0
    private var isTold = false

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step, session.isActive else { return self = Self() }
        if publication.newRoute != nil || self.maneuver != session.upcoming.first
            || self.meters != session.first?.reading.meters
        {
            self = Self()
            (self.maneuver, self.meters) = (session.upcoming.first, session.first?.reading.meters)
            self.trip = session.trip.map { ($0.meters, $0.meters) }
        }
        guard case .tripEstimates(let estimates, _) = publication, self.maneuver != nil else { return }
        let meters = estimates.distanceRemaining.meters
        guard let trip, meters <= trip.last else { return (self.trip, self.count) = ((meters, meters), 0) }
        if meters < trip.last { self.count += 1 }
        self.trip = (trip.begin, meters)
        self.judge(session, &context)
    }

    private mutating func judge(_ session: SessionView, _ context: inout LintContext) {
        guard let maneuver, let trip, !self.isTold, self.count >= Self.countMin else { return }
        let driven = trip.begin - trip.last
        guard Double(driven) > self.drivenMin(session) else { return }
        self.isTold = true
        let said = self.meters.map { "still said to be \($0) m away" } ?? "next without estimates"
        context.find(
            .maneuverStays, in: session, field: "travel_estimates.distance_remaining_meters",
            values: [("distance", self.meters.map { "\($0) m" } ?? "none"), ("driven", "\(driven) m")],
            "maneuver \(maneuver.rawValue) is \(said), and the destination came \(driven) m nearer")
    }

    /// The way in metres that the vehicle may drive while the distance to the maneuver stays the same.
    private func drivenMin(_ session: SessionView) -> Double {
        let most = session.longMeters(atMost: Self.metersMax)
        guard let meters, meters >= Self.nearMeters else { return most }
        return max(min(most, max(100, Double(meters) / 2)), Double(meters) * Self.part)
    }
}

/// LINT-ESTIMATES-DIFFER.
struct EstimatesDifferRule: SessionRule {
    private static let metersMax = 2_000.0
    private static let part = 0.2
    /// Estimates that come together are about the same place.
    private static let pairTime = Duration.milliseconds(100)

    private var maneuver: ManeuverID?
    /// The distances to the destination and to the maneuver that were said last.
    private var last: (trip: UInt32, maneuver: UInt32)?
    private var tripDriven = 0.0
    private var maneuverDriven = 0.0
    /// The longest way between two estimates: one kind may be rounded so.
    private var stepMax = 0.0
    private var isTold = false

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step, session.isActive, publication.newRoute == nil else {
            return self = Self()
        }
        guard case .maneuverEstimates(let id, let estimates, _) = publication, id == session.upcoming.first,
            let trip = session.trip, context.instant - trip.instant <= Self.pairTime
        else { return }
        let now = (trip: trip.meters, maneuver: estimates.distanceRemaining.meters)
        let isSame = self.maneuver == id
        defer { (self.maneuver, self.last) = (id, now) }
        guard isSame, let last else { return }
        // Other rules find distances that rise.
        guard now.trip <= last.trip, now.maneuver <= last.maneuver else { return self = Self() }
        let (tripStep, maneuverStep) = (Double(last.trip - now.trip), Double(last.maneuver - now.maneuver))
        self.tripDriven += tripStep
        self.maneuverDriven += maneuverStep
        self.stepMax = max(self.stepMax, tripStep, maneuverStep)
        self.judge(session, &context)
    }

    private mutating func judge(_ session: SessionView, _ context: inout LintContext) {
        let driven = max(self.tripDriven, self.maneuverDriven)
        guard !self.isTold, self.tripDriven > 0, self.maneuverDriven > 0,
            driven > session.longMeters(atMost: Self.metersMax),
            abs(self.tripDriven - self.maneuverDriven)
                > driven * Self.part + self.stepMax
        else { return }
        self.isTold = true
        let (trip, maneuver) = (Int(self.tripDriven), Int(self.maneuverDriven))
        context.find(
            .estimatesDiffer, in: session, field: "travel_estimates.distance_remaining_meters",
            values: [("trip", "\(trip) m"), ("maneuvers", "\(maneuver) m")],
            "the destination came \(trip) m nearer, and the next maneuvers \(maneuver) m")
    }
}
