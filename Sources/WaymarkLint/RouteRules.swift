internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRoutes

/// LINT-UPCOMING-NONE.
struct UpcomingNoneRule: SessionRule {
    /// How long no maneuver may be next.
    private static let emptyMax = Duration.seconds(3)
    /// After the last maneuver guidance may end within this time.
    private static let finishMax = Duration.seconds(30)

    private struct Empty {
        let instant: Instant
        let entry: Int
        /// There was a next maneuver before.
        let isEmptied: Bool
    }

    private var empty: Empty?
    private var hadOne = false
    private var isTold = false

    var deadline: Instant? {
        guard let empty, !self.isTold else { return nil }
        return empty.instant + (empty.isEmptied ? Self.finishMax : Self.emptyMax)
    }

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        switch step {
        case .published(let publication):
            if publication.newRoute != nil {
                self.end(session, &context)
                self.hadOne = false
            }
            if case .finishGuidance = publication { self.empty = nil }
        case .connection: self.empty = nil
        }
        guard session.isActive, !session.maneuvers.isEmpty, session.upcoming.isEmpty else {
            self.hadOne = self.hadOne || !session.upcoming.isEmpty
            // Standing at the destination, and a client that is away, say nothing new.
            if session.phase != .paused { self.end(session, &context) }
            return
        }
        if self.empty == nil {
            self.empty = Empty(
                instant: context.instant, entry: context.entry, isEmptied: self.hadOne)
        }
    }

    /// There is a next maneuver again, or the route is another one: was there none for too long?
    private mutating func end(_ session: SessionView, _ context: inout LintContext) {
        if let empty, context.instant - empty.instant >= Self.emptyMax { self.tell(empty, session, &context) }
        (self.empty, self.isTold) = (nil, false)
    }

    private mutating func tell(_ empty: Empty, _ session: SessionView, _ context: inout LintContext) {
        guard !self.isTold else { return }
        self.isTold = true
        context.find(
            .upcomingNone, in: session, field: "maneuver_ids", entry: empty.entry,
            "no maneuver was next for \((context.instant - empty.instant).milliseconds / 1_000) s, "
                + "while guidance was active")
    }

    mutating func deadlineReached(_ session: SessionView, _ context: inout LintContext) {
        guard let empty else { return }
        self.tell(empty, session, &context)
    }
}

/// LINT-UPCOMING-ORDER.
struct UpcomingOrderRule: SessionRule {
    private var first: Int?

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        let isRoute = publication.newRoute != nil
        if isRoute { self.first = nil }
        switch publication {
        case .upcomingManeuvers: break
        default: if !isRoute { return }
        }
        let field = isRoute ? "route.upcoming_maneuver_ids" : "maneuver_ids"
        let ids = session.upcoming
        let order = ids.compactMap { session.maneuverOrder[$0] }
        let listed = ids.prefix(8).map { "\($0.rawValue)" }.joined(separator: " ")
        if let index = order.indices.dropFirst().first(where: { order[$0] <= order[$0 - 1] }) {
            context.find(
                .upcomingOrder, in: session, field: "\(field)[\(index)]", values: [("upcoming", listed)],
                "maneuver \(ids[index].rawValue) comes before \(ids[index - 1].rawValue) on the route")
        }
        guard let new = order.first else { return }
        if let former = self.first, new < former {
            context.find(
                .upcomingOrder, in: session, field: "\(field)[0]", values: [("upcoming", listed)],
                "maneuver \(ids[0].rawValue) is next again, after a later one")
        }
        self.first = new
    }
}

/// LINT-TEXT-ORDER.
struct TextOrderRule: SessionRule {
    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        publication.forEachText { path, variants in
            guard let index = Self.firstWrong(variants) else { return }
            let (text, before) = (variants[index], variants[index - 1])
            let isTwice = text.unicodeScalars.count <= before.unicodeScalars.count
            context.find(
                .textOrder, in: session, field: "\(path)[\(index)]",
                values: [("before", before), ("variant", text)],
                isTwice
                    ? "\"\(Self.brief(text))\" is there twice"
                    : "\"\(Self.brief(text))\" is longer than the variant before it")
        }
    }

    private static func brief(_ text: String) -> String { text.count > 40 ? "\(text.prefix(39))…" : text }

    /// The index of a variant that is longer than the one before it, or the same as an earlier one.
    private static func firstWrong(_ variants: [String]) -> Int? {
        guard variants.count > 1 else { return nil }
        return variants.indices.dropFirst().first { index in
            let (text, before) = (variants[index], variants[index - 1])
            // An observer may see emptied texts.
            if text.isEmpty, before.isEmpty { return false }
            return text.unicodeScalars.count > before.unicodeScalars.count
                || variants[..<index].contains { $0.unicodeScalars.elementsEqual(text.unicodeScalars) }
        }
    }
}

/// LINT-SEGMENT-JOIN.
struct SegmentJoinRule: SessionRule {
    /// How far apart the end and the begin may be, in metres: a place is reached on another side of the road than it is left.
    private static let gapMeters = 100.0

    /// How many segments of the route were judged.
    private var judged = 0

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        if publication.newRoute != nil { self.judged = 0 }
        let (path, added) = publication.addedSegments
        guard !added.isEmpty else { return }
        let begin = session.segments.count - added.count
        while self.judged < session.segments.count {
            let index = self.judged
            self.judged += 1
            guard index > 0, let before = session.segments[index - 1].ends,
                let ends = session.segments[index].ends
            else { continue }
            let gap = before.last.meters(to: ends.first)
            guard gap > Self.gapMeters else { continue }
            context.find(
                .segmentJoin, in: session, field: "\(path)[\(index - begin)].coordinates",
                values: [("gap", "\(Int(min(gap, 1e9))) m")],
                "segment \(session.segments[index].id) begins \(Int(min(gap, 1e9))) m away from the end of "
                    + "\(session.segments[index - 1].id)")
        }
    }
}

/// LINT-SEGMENT-MANEUVERS.
struct SegmentManeuversRule: SessionRule {
    /// The segment and the maneuvers change one after the other.
    private static let time = Duration.seconds(3)

    private var wrong: (segment: Int, instant: Instant, entry: Int)?
    private var isTold = false

    var deadline: Instant? { self.isTold ? nil : self.wrong.map { $0.instant + Self.time } }

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        if publication.newRoute != nil { self.forget() }
        guard let segment = session.currentSegment, session.phase == .active,
            Self.isWrong(segment, session)
        else { return self.forget() }
        if self.wrong?.segment != segment {
            self.forget()
            self.wrong = (segment, context.instant, context.entry)
        }
    }

    private mutating func forget() { (self.wrong, self.isTold) = (nil, false) }

    private static func isWrong(_ index: Int, _ session: SessionView) -> Bool {
        guard !session.maneuvers.isEmpty, !session.upcoming.isEmpty else { return false }
        if session.segments[index].maneuvers.isEmpty { return true }
        let ahead = session.segments[index...].lazy.flatMap(\.maneuvers)
        return !session.upcoming.contains { ahead.contains($0) }
    }

    mutating func deadlineReached(_ session: SessionView, _ context: inout LintContext) {
        guard let wrong else { return }
        self.isTold = true
        let segment = session.segments[wrong.segment]
        context.find(
            .segmentManeuvers, in: session, field: "segment_id",
            values: [
                ("segment", segment.id.rawValue),
                ("upcoming", session.upcoming.prefix(8).map { "\($0.rawValue)" }.joined(separator: " ")),
            ], entry: wrong.entry,
            segment.maneuvers.isEmpty
                ? "segment \(segment.id) is current, and it has no maneuvers"
                : "segment \(segment.id) is current, and none of the next maneuvers is in it or in a later one"
        )
    }
}
