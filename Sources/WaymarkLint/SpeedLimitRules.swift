internal import WaymarkModel
internal import WaymarkProtocol

/// LINT-SPEED-SAME.
struct SpeedSameRule: SessionRule {
    private var isTold = false

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(.speedLimit(let limit, let next)) = step else { return }
        // Two limits that are not known say nothing.
        guard let next, next.limit == limit, limit.status != .unknown else { return self.isTold = false }
        // Told once, until it is right again.
        guard !self.isTold else { return }
        self.isTold = true
        context.find(
            .speedSame, in: session, field: "next.limit", values: [("limit", limit.text)],
            "the next speed limit, \(limit.text) in \(next.distance.meters) m, is the one that holds already")
    }
}

/// LINT-SPEED-DISTANCE.
struct SpeedDistanceRule: SessionRule {
    /// The vehicle may be this far beyond the place at which the limit was to begin.
    private static let metersMin = 300.0
    private static let part = 0.1
    /// A limit that was published so shortly before is not judged: a drive may be much faster than a real one.
    private static let age = Duration.seconds(1)
    /// A better measurement may raise the distance so far.
    private static let risesMin = 50.0
    private static let risesPart = 0.05

    /// The limits as they were published, and the distance to the destination then.
    private struct Ahead {
        let limit: SpeedLimit
        let next: SpeedLimit
        var meters: UInt32
        /// The metres to the destination at the same instant or in the first estimate after it: an earlier one may be minutes old.
        var trip: UInt32?
        var instant: Instant
    }

    private var ahead: Ahead?
    private var isTold = false
    /// The last estimate of the trip.
    private var trip: (meters: UInt32, instant: Instant)?

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        if publication.newRoute != nil { (self.ahead, self.isTold) = (nil, false) }
        switch publication {
        case .speedLimit(let limit, let next): self.note(limit, next, session, &context)
        case .tripEstimates(let estimates, _):
            let meters = estimates.distanceRemaining.meters
            self.trip = (meters, context.instant)
            self.judge(meters, session, &context)
        default: break
        }
    }

    private func trip(at instant: Instant) -> UInt32? {
        self.trip.flatMap { $0.instant == instant ? $0.meters : nil }
    }

    private mutating func note(
        _ limit: SpeedLimit, _ next: SpeedLimitAhead?, _ session: SessionView, _ context: inout LintContext
    ) {
        guard let next else { return (self.ahead, self.isTold) = (nil, false) }
        let meters = next.distance.meters
        let trip = self.trip(at: context.instant)
        guard let before = self.ahead, before.limit == limit, before.next == next.limit else {
            self.isTold = false
            return self.ahead = Ahead(
                limit: limit, next: next.limit, meters: meters, trip: trip, instant: context.instant)
        }
        if before.meters > meters { self.isTold = false }
        // The same distance again says nothing new: the vehicle is judged by where it first was.
        guard before.meters != meters else { return }
        self.ahead?.meters = meters
        self.ahead?.trip = trip
        self.ahead?.instant = context.instant
        let limitMeters = Double(before.meters)
        guard session.isSettled(at: context.instant), !self.isTold,
            Double(meters) > limitMeters + max(Self.risesMin, limitMeters * Self.risesPart)
        else { return }
        self.isTold = true
        context.find(
            .speedDistance, in: session, field: "next.distance_meters",
            values: [("before", "\(before.meters) m"), ("distance", "\(meters) m")],
            "the distance to the speed limit \(next.limit.text) rose from \(before.meters) m to \(meters) m")
    }

    /// Judges whether the vehicle, `trip` metres from the destination, is beyond the place of the next limit.
    private mutating func judge(_ trip: UInt32, _ session: SessionView, _ context: inout LintContext) {
        guard let ahead, !self.isTold, session.isActive, context.instant - ahead.instant >= Self.age
        else { return }
        guard let before = ahead.trip else {
            self.ahead?.trip = trip
            return
        }
        let driven = Double(before) - Double(trip)
        let meters = Double(ahead.meters)
        guard driven > meters + max(Self.metersMin, meters * Self.part) else { return }
        self.isTold = true
        context.find(
            .speedDistance, in: session, field: "next.distance_meters",
            values: [("distance", "\(ahead.meters) m"), ("driven", "\(Int(driven)) m")],
            "the speed limit \(ahead.next.text) is still \(ahead.meters) m ahead after \(Int(driven)) m")
    }
}

/// LINT-SPEED-VALUE.
struct SpeedValueRule: SessionRule {
    /// The highest limits of any road are 160 km/h and 85 mph, the lowest are those of a walking pace.
    private static let kilometersPerHour: ClosedRange<UInt32> = 5...160
    private static let milesPerHour: ClosedRange<UInt32> = 3...85

    /// Limits that were told, in words: there are few.
    private var told: Set<String> = []

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        if case .speedLimit(let limit, let next) = publication {
            self.judge(limit, "limit", session, &context)
            if let next { self.judge(next.limit, "next.limit", session, &context) }
        }
        let segments = publication.addedSegments
        for (index, segment) in segments.all.enumerated() {
            for (number, span) in segment.speedLimits.enumerated() {
                let path = "\(segments.path)[\(index)].speed_limits[\(number)].limit"
                self.judge(span.limit, path, session, &context)
            }
        }
    }

    private mutating func judge(
        _ limit: SpeedLimit, _ path: String, _ session: SessionView, _ context: inout LintContext
    ) {
        guard let value = limit.value, let unit = limit.unit, let range = Self.range(unit),
            !range.contains(value), self.told.insert(limit.text).inserted
        else { return }
        context.find(
            .speedValue, in: session, field: "\(path).value", values: [("limit", limit.text)],
            "\(limit.text) is on no sign")
    }

    /// The values of signs; nil for a unit that this build does not know.
    private static func range(_ unit: SpeedUnit) -> ClosedRange<UInt32>? {
        switch unit {
        case .kilometersPerHour: Self.kilometersPerHour
        case .milesPerHour: Self.milesPerHour
        case .unrecognized: nil
        }
    }
}

extension SpeedLimit {
    /// A limit in a finding, e.g. `80 km/h`.
    fileprivate var text: String {
        switch self.status {
        case .limited:
            switch self.unit {
            case .kilometersPerHour: "\(self.value ?? 0) km/h"
            case .milesPerHour: "\(self.value ?? 0) mph"
            default: "\(self.value ?? 0)"
            }
        case .none: "no limit"
        case .unknown: "unknown"
        case .unrecognized(let raw): "status \(raw)"
        }
    }
}
