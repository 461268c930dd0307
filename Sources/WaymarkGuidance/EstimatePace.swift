internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRoutes

/// How often a guide publishes estimates: not too seldom, so that vehicles know that it still guides, and not faster than they can use them.
struct EstimatePace: Sendable {
    private enum Subject: Sendable, Hashable {
        case trip
        case maneuver(ManeuverID)

        init?(_ change: DriveChange) {
            switch change {
            case .tripEstimates: self = .trip
            case .maneuverEstimates(let id, _): self = .maneuver(id)
            case .upcomingManeuvers, .maneuverState, .currentLaneGuidance, .roadName, .currentSegment,
                .position, .arrivedAtWaypoint, .leavingWaypoint, .offRoute, .finished:
                return nil
            }
        }
    }

    private let every: Duration
    private let notBefore: Duration?
    private var last = Instant(nanoseconds: 0)
    /// When each subject's estimates were published last. Only of the present route, and only with ``notBefore``.
    private var published: [(subject: Subject, at: Instant)] = []
    /// Newer estimates that wait.
    private var waiting: [(subject: Subject, change: DriveChange)] = []

    init(every: Duration, notBefore: Duration?) { (self.every, self.notBefore) = (every, notBefore) }

    /// When estimates must be published again.
    var due: Instant { self.last + self.every }

    func isDue(at now: Instant) -> Bool { self.due <= now }

    /// Estimates of everything are published.
    mutating func noteAll(at now: Instant) { self.last = now }

    /// Another route begins.
    mutating func clear(at now: Instant) {
        self.last = now
        self.published = []
        self.waiting = []
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
        guard !self.waiting.isEmpty else { return [] }
        let due = self.waiting.filter { self.mayPublish($0.subject, at: now) }
        self.waiting.removeAll { waiting in due.contains { $0.subject == waiting.subject } }
        for (subject, _) in due { self.note(subject, at: now) }
        return due.map(\.change)
    }

    private func mayPublish(_ subject: Subject, at now: Instant) -> Bool {
        guard let notBefore, let last = self.published.last(where: { $0.subject == subject }) else {
            return true
        }
        return last.at + notBefore <= now
    }

    private mutating func note(_ subject: Subject, at now: Instant) {
        self.last = now
        guard let notBefore else { return }
        self.published.removeAll { $0.subject == subject || $0.at + notBefore <= now }
        self.published.append((subject, now))
    }
}
