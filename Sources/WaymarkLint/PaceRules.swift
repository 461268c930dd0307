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
