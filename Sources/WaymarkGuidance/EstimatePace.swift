internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRoutes

/// The pace at which a guide publishes estimates and speed limits: not too seldom, so that vehicles know that it still guides, and not faster than they can use them.
struct EstimatePace: Sendable {
    private enum Subject: Sendable, Hashable {
        case trip
        case maneuver(ManeuverID)
        case speedLimit

        init?(_ change: DriveChange) {
            switch change {
            case .tripEstimates: self = .trip
            case .maneuverEstimates(let id, _): self = .maneuver(id)
            case .speedLimit: self = .speedLimit
            case .upcomingManeuvers, .maneuverState, .currentLaneGuidance, .roadName, .currentSegment,
                .position, .arrivedAtWaypoint, .leavingWaypoint, .offRoute, .finished:
                return nil
            }
        }
    }

    private let every: Duration
    private let notBefore: Duration
    private var last = Instant(nanoseconds: 0)
    /// When each subject's estimates were published last; only those of the present route.
    private var published: [(subject: Subject, at: Instant)] = []
    /// Newer estimates that wait.
    private var waiting: [(subject: Subject, change: DriveChange)] = []

    init(every: Duration, notBefore: Duration) { (self.every, self.notBefore) = (every, notBefore) }

    /// When the next estimates of a vehicle that stands are due: all of them again, or those that wait.
    var due: Instant {
        let again = self.last + self.every
        return self.waiting.reduce(again) { min($0, self.earliest($1.subject) ?? self.last) }
    }

    /// Whether all estimates must be published again.
    func isDue(at now: Instant) -> Bool { self.last + self.every <= now }

    /// Estimates of everything are published.
    mutating func noteAll(at now: Instant) { self.last = now }

    /// A route begins. In a fast drive those of the trip and of the first maneuver wait for twice the usual time, because they would
    /// contradict the route at once (LINT-ROUTE-ESTIMATES).
    mutating func begin(at now: Instant, _ route: RouteInformation, isFast: Bool) {
        (self.last, self.published, self.waiting) = (now, [], [])
        guard isFast else { return }
        let (again, first) = (now + self.notBefore, route.upcomingManeuvers.first)
        self.published = [(.trip, again)] + (first.map { [(.maneuver($0), again)] } ?? [])
    }

    /// Whether a change is published now. Estimates that are too early wait, and replace older ones that do.
    mutating func passes(_ change: DriveChange, at now: Instant) -> Bool {
        // Estimates of a maneuver that is behind are of no use.
        if case .upcomingManeuvers(let ids) = change {
            self.waiting.removeAll { waiting in
                if case .maneuver(let id) = waiting.subject { id != ids.first } else { false }
            }
        }
        guard let subject = Subject(change) else { return true }
        self.waiting.removeAll { $0.subject == subject }
        guard self.mayPublish(subject, at: now) else {
            self.waiting.append((subject, change))
            return false
        }
        self.note(subject, at: now)
        return true
    }

    /// Removes and returns the estimates that have waited long enough.
    mutating func takeDue(at now: Instant) -> [DriveChange] {
        let due = self.waiting.filter { self.mayPublish($0.subject, at: now) }
        return self.take(due, at: now)
    }

    /// Removes and returns all estimates that wait, in their order.
    mutating func takeAll(at now: Instant) -> [DriveChange] { self.take(self.waiting, at: now) }

    /// Removes and returns the waiting estimates that must be published before `change`: all of them before a pause, and those of the
    /// maneuver before a state that says how near it is (LINT-STATE-DISTANCE).
    mutating func takeNeeded(by change: DriveChange, at now: Instant) -> [DriveChange] {
        switch change {
        case .arrivedAtWaypoint: return self.takeAll(at: now)
        case .maneuverState(let state) where state != .continue:
            let needed = self.waiting.filter {
                if case .maneuver = $0.subject { true } else { false }
            }
            return self.take(needed, at: now)
        default: return []
        }
    }

    private mutating func take(
        _ taken: [(subject: Subject, change: DriveChange)], at now: Instant
    ) -> [DriveChange] {
        guard !taken.isEmpty else { return [] }
        self.waiting.removeAll { waiting in taken.contains { $0.subject == waiting.subject } }
        for (subject, _) in taken { self.note(subject, at: now) }
        return taken.map(\.change)
    }

    private func mayPublish(_ subject: Subject, at now: Instant) -> Bool {
        guard let earliest = self.earliest(subject) else { return true }
        return earliest <= now
    }

    /// The instant from which on estimates of a subject may be published; nil: at any time.
    private func earliest(_ subject: Subject) -> Instant? {
        self.published.last { $0.subject == subject }.map { $0.at + self.notBefore }
    }

    private mutating func note(_ subject: Subject, at now: Instant) {
        // A vehicle that gets a speed limit knows no newer estimates.
        if subject != .speedLimit { self.last = now }
        self.published.removeAll { $0.subject == subject || $0.at + self.notBefore <= now }
        self.published.append((subject, now))
    }
}
