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

    private var last: SessionView.Reading?
    /// The most by which the time fell within a second of the drive before, in seconds: more than 1 in a simulated drive.
    private var pace = 1.0

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return self.last = nil }
        if publication.newRoute != nil { return self.last = session.trip }
        switch publication {
        case .pauseGuidance, .finishGuidance, .cancelGuidance: self.last = nil
        case .tripEstimates:
            defer { self.last = session.trip }
            guard session.isActive, let last, let now = session.trip, now.meters <= last.meters,
                let lastTime = last.time, let time = now.time
            else { return }
            let seconds = max(0.1, (now.instant - last.instant) / .seconds(1))
            guard self.isJump(lastTime, time, Double(now.meters) / max(1, Double(last.meters)), seconds)
            else {
                let fall = (lastTime - time) / .seconds(1)
                return self.pace = max(self.pace, fall / seconds)
            }
            let (before, after) = (lastTime.milliseconds / 1_000, time.milliseconds / 1_000)
            context.find(
                .timeJumps, in: session, field: "travel_estimates.time_remaining_seconds",
                values: [("before", "\(before) s"), ("time", "\(after) s")],
                "the time to the destination jumped from \(before) s to \(after) s, \(last.meters - now.meters) m later"
            )
        default: break
        }
    }

    /// Whether the time `seconds` later is another one than traffic and driving explain; `part` is the rest of the distance.
    private func isJump(_ before: Duration, _ now: Duration, _ part: Double, _ seconds: Double) -> Bool {
        if now - before > max(Self.changeMin, before * Self.riseMin) { return true }
        // While a vehicle stands, in a jam or on a ferry, the time falls and the distance does not.
        let fall = before - now
        return fall > max(Self.changeMin, Duration.seconds(1) * (seconds * self.pace * 2))
            && now < before * Self.fallMax && part > Self.distanceMin
    }
}

/// LINT-MANEUVER-LATER.
struct ManeuverLaterRule: SessionRule {
    /// Estimates that were said at different times cannot be compared: a simulated drive is minutes farther within a second.
    private static let ageMax = Duration.milliseconds(200)
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
