internal import WaymarkModel
internal import WaymarkProtocol

/// LINT-RATE-FAST.
struct RateRule: SessionRule {
    /// How often a value may be published in a second.
    private static let countMax = 10
    /// In how many consecutive seconds it must have been more.
    private static let secondsMin = 3

    private struct Count {
        var second: Int64
        var count = 1
        /// Consecutive seconds before this one with too many.
        var fastSeconds = 0
        var isTold = false
    }

    private var counts: [ConflationKey: Count] = [:]

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        if publication.newRoute != nil { self.counts = [:] }
        guard let key = publication.outline.conflationKey else { return }
        let second = context.instant.nanoseconds / 1_000_000_000
        guard var count = self.counts[key] else { return self.counts[key] = Count(second: second) }
        if count.second == second {
            count.count += 1
        } else {
            let isRun = count.count > Self.countMax && second == count.second + 1
            count.fastSeconds = isRun ? count.fastSeconds + 1 : 0
            if !isRun { count.isTold = false }
            (count.second, count.count) = (second, 1)
        }
        let isFast = count.count > Self.countMax && count.fastSeconds >= Self.secondsMin - 1
        if isFast, !count.isTold {
            count.isTold = true
            context.find(
                .rateFast, in: session,
                values: [("message", "\(publication.type)"), ("perSecond", "\(count.count)")],
                "\(publication.type.title) came more than \(Self.countMax) times a second, for \(Self.secondsMin) s"
            )
        }
        self.counts[key] = count
    }
}

/// LINT-ESTIMATES-SAME.
struct EstimatesSameRule: SessionRule {
    /// The age from which on estimates may be repeated, so that vehicles know that the client still guides.
    private static let repeatedAfter = Duration.seconds(5)
    /// The number of updates that change nothing that is a habit, if they come within this time.
    private static let countMin = 3
    private static let time = Duration.seconds(30)
    /// The remaining time in seconds below which displays show tens of seconds, and from which on minutes.
    private static let secondsShownBelow: Int64 = 120

    /// The part of estimates that a display shows.
    private struct Shown: Hashable {
        let distance: DisplayDistance
        let time: Int64?
        let color: TimeRemainingColor?

        init(_ estimates: TravelEstimates, _ color: TimeRemainingColor?) {
            self.distance =
                estimates.distanceRemainingToDisplay
                ?? .rounded(estimates.distanceRemaining, units: .metric)
            self.time = estimates.timeRemaining.map { time in
                let seconds = time.components.seconds
                return seconds < EstimatesSameRule.secondsShownBelow ? seconds / 10 * 10 : seconds / 60 * 60
            }
            self.color = color
        }
    }

    private struct Last {
        var shown: Shown
        var instant: Instant
        /// The instants of the last updates that changed nothing.
        var unchanged: [Instant] = []
        var isTold = false
    }

    private var last: [ConflationKey: Last] = [:]

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        if publication.newRoute != nil { self.last = [:] }
        let shown: Shown
        switch publication {
        case .tripEstimates(let estimates, let color): shown = Shown(estimates, color)
        case .maneuverEstimates(_, let estimates, _): shown = Shown(estimates, nil)
        default: return
        }
        guard let key = publication.outline.conflationKey else { return }
        guard var last = self.last[key] else {
            return self.last[key] = Last(shown: shown, instant: context.instant)
        }
        if last.shown == shown, context.instant - last.instant < Self.repeatedAfter {
            last.unchanged.append(context.instant)
            last.unchanged.removeAll { context.instant - $0 > Self.time }
            if last.unchanged.count >= Self.countMin, !last.isTold {
                last.isTold = true
                context.find(
                    .estimatesSame, in: session, field: "travel_estimates",
                    values: [("message", "\(publication.type)"), ("updates", "\(last.unchanged.count)")],
                    "\(last.unchanged.count) updates of \(publication.type.title) within "
                        + "\(Self.time.components.seconds) s changed nothing that is displayed")
            }
        }
        (last.shown, last.instant) = (shown, context.instant)
        self.last[key] = last
    }
}

/// LINT-MANEUVER-SINGLE.
struct ManeuverSingleRule: SessionRule {
    /// The number of maneuvers of one route that come alone that is a habit.
    private static let countMin = 5

    private var count = 0

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        if publication.newRoute != nil { self.count = 0 }
        guard case .addManeuvers(let maneuvers, _) = publication else { return }
        guard maneuvers.count == 1 else { return }
        self.count += 1
        guard self.count == Self.countMin else { return }
        context.find(
            .maneuverSingle, in: session, field: "maneuvers", values: [("messages", "\(self.count)")],
            "\(self.count) maneuvers of one route came one at a time")
    }
}

/// LINT-DRIVE-SILENT.
struct SilenceRule: SessionRule {
    /// A client publishes estimates every 10 s; half a second is for the way.
    private static let silenceMax = Duration.milliseconds(10_500)

    private var last: (instant: Instant, entry: Int)?
    private var isTold = false

    var deadline: Instant? { self.isTold ? nil : self.last.map { $0.instant + Self.silenceMax } }

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard session.isActive else { return (self.last, self.isTold) = (nil, false) }
        switch step {
        case .published(.tripEstimates), .published(.maneuverEstimates), .published(.startGuidance),
            .published(.resumeGuidance), .connection:
            (self.last, self.isTold) = ((context.instant, context.entry), false)
        case .published: break
        }
    }

    mutating func deadlineReached(_ session: SessionView, _ context: inout LintContext) {
        guard let last else { return }
        self.isTold = true
        context.find(
            .driveSilent, in: session, entry: last.entry,
            "no estimates for more than 10 s, while guidance was active")
    }
}
