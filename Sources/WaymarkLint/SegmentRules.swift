internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRoutes

/// LINT-SEGMENT-LINE.
struct SegmentLineRule: SessionRule {
    /// An end that is so near to a place belongs to it, in metres.
    private static let placeMeters = 150.0
    /// The same as a part of the line.
    private static let placePart = 0.4
    /// No place is so far from a road.
    private static let elsewhereMeters = 100_000.0
    /// A line that is simplified is shorter than the road, but not by half.
    private static let lengthPart = 0.5
    private static let lengthMeters = 200.0

    /// The last segment with a line.
    private var last: (path: String, id: String, line: Double, trip: Double)?

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        if publication.newRoute != nil { self.last = nil }
        let (path, segments) = publication.addedSegments
        for (index, segment) in segments.enumerated() {
            self.judge(segment, "\(path)[\(index)]", session, &context)
        }
    }

    private mutating func judge(
        _ segment: RouteSegment, _ path: String, _ session: SessionView, _ context: inout LintContext
    ) {
        let trip = segment.tripTravelEstimates.map { Double($0.distanceRemaining.meters) }
        if let last, let trip { self.judgeLength(last, last.trip - trip, session, &context) }
        self.last = nil
        guard segment.coordinates.count > 1, let first = segment.coordinates.first,
            let end = segment.coordinates.last
        else { return }
        let line = zip(segment.coordinates, segment.coordinates.dropFirst()).reduce(0) {
            $0 + $1.0.meters(to: $1.1)
        }
        if let fault = Self.fault(first, end, segment, line) {
            return context.find(
                .segmentLine, in: session, field: "\(path).coordinates",
                values: [("line", "\(Int(min(line, 1e9))) m")], "the line of segment \(segment.id) \(fault)")
        }
        guard let trip else { return }
        self.last = (path, segment.id, line, trip)
        // No segment is longer than the rest of the trip.
        if line * Self.lengthPart > trip + Self.lengthMeters {
            self.tell(path, segment.id, line, trip, session, &context)
            self.last = nil
        }
    }

    /// The fault of the ends of a line; nil for none. A place may be far from the road from which it is reached, so only what
    /// puts both ends where they belong is a fault, and a line that is somewhere else.
    private static func fault(
        _ first: Coordinate, _ end: Coordinate, _ segment: RouteSegment, _ line: Double
    ) -> String? {
        let (origin, destination) = (segment.origin.center, segment.destination.center)
        let near = max(self.placeMeters, line * self.placePart)
        let gap = max(first.meters(to: origin), end.meters(to: destination))
        guard gap > near else { return nil }
        if first.swapped.meters(to: origin) <= near, end.swapped.meters(to: destination) <= near {
            return "has latitude and longitude swapped"
        }
        if first.meters(to: destination) <= near, end.meters(to: origin) <= near {
            return "leads from its destination to its origin"
        }
        return gap > self.elsewhereMeters ? "is \(Int(min(gap, 1e9) / 1_000)) km away from its ends" : nil
    }

    private func judgeLength(
        _ last: (path: String, id: String, line: Double, trip: Double), _ meters: Double,
        _ session: SessionView, _ context: inout LintContext
    ) {
        let (shorter, longer) = (min(last.line, meters), max(last.line, meters))
        guard meters >= 0, shorter + Self.lengthMeters < longer * Self.lengthPart else { return }
        self.tell(last.path, last.id, last.line, meters, session, &context)
    }

    private func tell(
        _ path: String, _ id: String, _ line: Double, _ meters: Double, _ session: SessionView,
        _ context: inout LintContext
    ) {
        context.find(
            .segmentLine, in: session, field: "\(path).coordinates",
            values: [("line", "\(Int(min(line, 1e9))) m"), ("segment", "\(Int(meters)) m")],
            "the line of segment \(id) is \(Int(min(line, 1e9))) m long, and the segment \(Int(meters)) m")
    }
}

extension Coordinate {
    fileprivate var swapped: Coordinate { Coordinate(latitude: self.longitude, longitude: self.latitude) }
}

/// LINT-SEGMENT-BEHIND.
struct SegmentBehindRule: SessionRule {
    /// The segment and the maneuvers change one after the other.
    private static let time = Duration.seconds(3)

    /// The current segment before.
    private var before: Int?
    private var behind: (segment: Int, first: ManeuverID, instant: Instant, entry: Int)?
    private var isTold = false

    var deadline: Instant? { self.isTold ? nil : self.behind.map { $0.instant + Self.time } }

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return self.behind = nil }
        if publication.newRoute != nil { (self.before, self.behind, self.isTold) = (nil, nil, false) }
        self.judgeOrder(session, &context)
        guard let segment = session.currentSegment, session.isActive, let first = session.upcoming.first,
            Self.isBehind(segment, session)
        else { return (self.behind, self.isTold) = (nil, false) }
        // Told once for a segment that stays behind.
        if self.behind?.segment != segment {
            (self.behind, self.isTold) = ((segment, first, context.instant, context.entry), false)
        }
    }

    /// Judges that on one route no segment is current again after a later one.
    private mutating func judgeOrder(_ session: SessionView, _ context: inout LintContext) {
        defer { self.before = session.currentSegment }
        guard let before, let now = session.currentSegment, now < before,
            session.segments.indices.contains(before)
        else { return }
        let (later, segment) = (session.segments[before].id, session.segments[now].id)
        context.find(
            .segmentBehind, in: session, field: "segment_id",
            values: [("before", later.rawValue), ("segment", segment.rawValue)],
            "segment \(segment) is current again, after segment \(later)")
    }

    /// All next maneuvers are in later segments.
    private static func isBehind(_ index: Int, _ session: SessionView) -> Bool {
        guard !session.segments[index].maneuvers.isEmpty else { return false }
        let later = session.segments[(index + 1)...]
        return !later.isEmpty
            && !session.upcoming.contains { session.segments[index].maneuvers.contains($0) }
            && session.upcoming.first.map { first in later.contains { $0.maneuvers.contains(first) } }
                ?? false
    }

    mutating func deadlineReached(_ session: SessionView, _ context: inout LintContext) {
        guard let behind, session.segments.indices.contains(behind.segment) else { return self.behind = nil }
        self.isTold = true
        let segment = session.segments[behind.segment]
        context.find(
            .segmentBehind, in: session, field: "segment_id", values: [("segment", segment.id.rawValue)],
            entry: behind.entry,
            "segment \(segment.id) is current, and maneuver \(behind.first.rawValue), the next, is in a later one"
        )
    }
}
