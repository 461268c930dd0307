internal import WaymarkModel
internal import WaymarkProtocol

/// LINT-TIME-JUMPS.
struct TimeJumpsRule: SessionRule {
    /// A smaller change is one of traffic.
    private static let riseMin = 0.3
    /// The rest of the time, at most, that is left after a fall.
    private static let fallMax = 0.6
    /// The rest of the distance, at least, with which the time has not fallen by driving.
    private static let distanceMin = 0.97
    /// Displays round to minutes.
    private static let changeMin = Duration.seconds(30)

    private var last: (meters: UInt32, time: Duration)?

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return self.last = nil }
        if publication.newRoute != nil { return self.last = Self.values(session.trip) }
        switch publication {
        case .pauseGuidance, .finishGuidance, .cancelGuidance: self.last = nil
        case .tripEstimates:
            defer { self.last = Self.values(session.trip) }
            guard session.isActive, let last, let now = Self.values(session.trip), now.meters <= last.meters
            else { return }
            let change = now.time - last.time
            let isJump =
                change > max(Self.changeMin, last.time * Self.riseMin)
                || change < .zero - Self.changeMin && now.time < last.time * Self.fallMax
                    && Double(now.meters) > Double(last.meters) * Self.distanceMin
            guard isJump else { return }
            let (before, after) = (last.time.milliseconds / 1_000, now.time.milliseconds / 1_000)
            context.find(
                .timeJumps, in: session, field: "travel_estimates.time_remaining_seconds",
                values: [("before", "\(before) s"), ("time", "\(after) s")],
                "the time to the destination jumped from \(before) s to \(after) s, \(last.meters - now.meters) m later"
            )
        default: break
        }
    }

    private static func values(_ reading: SessionView.Reading?) -> (meters: UInt32, time: Duration)? {
        reading.flatMap { reading in reading.time.map { (reading.meters, $0) } }
    }
}

/// LINT-MANEUVER-LATER.
struct ManeuverLaterRule: SessionRule {
    /// Estimates that were said at different times cannot be compared.
    private static let ageMax = Duration.seconds(2)
    /// The two estimates are published one after the other.
    private static let time = Duration.milliseconds(200)
    /// Clients round times up to minutes.
    private static let changeMin = Duration.seconds(60)
    private static let part = 0.05

    private struct Later {
        let maneuver: ManeuverID
        let seconds: Int64
        let tripSeconds: Int64
        let instant: Instant
        let entry: Int
    }

    private var later: Later?
    private var isTold = false

    var deadline: Instant? { self.isTold ? nil : self.later.map { $0.instant + Self.time } }

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard session.isActive, let trip = session.trip, let first = session.first, let tripTime = trip.time,
            let time = first.reading.time,
            abs((first.reading.instant - trip.instant).nanoseconds) < Self.ageMax.nanoseconds,
            time - tripTime >= max(Self.changeMin, tripTime * Self.part)
        else { return (self.later, self.isTold) = (nil, false) }
        // Told once, until it is right again.
        guard self.later == nil else { return }
        self.later = Later(
            maneuver: first.id, seconds: time.milliseconds / 1_000,
            tripSeconds: tripTime.milliseconds / 1_000, instant: context.instant, entry: context.entry)
    }

    mutating func deadlineReached(_ session: SessionView, _ context: inout LintContext) {
        guard let later else { return }
        self.isTold = true
        context.find(
            .maneuverLater, in: session, field: "travel_estimates.time_remaining_seconds",
            values: [("maneuver", "\(later.seconds) s"), ("trip", "\(later.tripSeconds) s")],
            entry: later.entry,
            "maneuver \(later.maneuver.rawValue) is reached in \(later.seconds) s, "
                + "the destination in \(later.tripSeconds) s")
    }
}
