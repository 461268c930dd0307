internal import WaymarkModel
internal import WaymarkProtocol

/// LINT-LANE-LINK and LINT-LANE-UNSHOWN.
///
/// Lanes that are shown until the next maneuver is passed are the lanes of that maneuver. In a drive that is much faster than a
/// vehicle they may be those of a junction shortly before it.
struct LaneLinkRule: SessionRule {
    /// Farther than this before the passing, in metres, it is not known that the vehicle was at the maneuver.
    private static let nearMeters: UInt32 = 15
    /// How long before or after the maneuver is passed its lanes are hidden. In more time a vehicle passes two junctions.
    private static let hidingTime = Duration.milliseconds(200)
    /// No vehicle passes a maneuver faster, in metres per second.
    private static let speedMax = 40.0
    /// How long linked lanes may be missing.
    private static let addingTime = Duration.seconds(3)

    private struct Hidden {
        let lanes: LaneGuidanceID
        let instant: Instant
        let entry: Int
    }

    private struct Passed {
        let maneuver: Maneuver
        let instant: Instant
        let entry: Int
    }

    private struct Missing {
        let maneuver: ManeuverID
        let lanes: LaneGuidanceID
        let deadline: Instant
        let entry: Int
    }

    private var first: ManeuverID?
    /// The last two distances to it.
    private var readings: (last: SessionView.Reading, before: SessionView.Reading?)?
    private var lanes: LaneGuidanceID?
    /// The lanes that were shown.
    private var shown: Set<LaneGuidanceID> = []
    private var hidden: Hidden?
    private var passed: Passed?
    private var missing: Missing?

    var deadline: Instant? { self.missing?.deadline }

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        if publication.newRoute != nil {
            self = LaneLinkRule()
            self.lanes = session.currentLanes
            if let lanes { self.shown = [lanes] }
            self.begin(session, context)
        }
        switch publication {
        case .maneuverEstimates(let id, _, _):
            guard id == self.first, let reading = session.estimates[id] else { return }
            self.readings = (reading, self.readings?.last)
        case .currentLaneGuidance: self.lanesChanged(session, &context)
        case .upcomingManeuvers: self.upcomingChanged(session, &context)
        case .addLaneGuidances:
            if let missing, session.laneGuidances[missing.lanes] != nil { self.missing = nil }
        case .finishGuidance, .cancelGuidance: self = LaneLinkRule()
        default: break
        }
    }

    mutating func deadlineReached(_ session: SessionView, _ context: inout LintContext) {
        guard let missing else { return }
        self.missing = nil
        context.find(
            .laneLink, in: session, values: [("laneGuidance", "\(missing.lanes.rawValue)")],
            entry: missing.entry,
            "maneuver \(missing.maneuver.rawValue) links to lane guidance \(missing.lanes.rawValue), "
                + "which was never added")
    }

    /// A maneuver becomes the first: its lanes must be known.
    private mutating func begin(_ session: SessionView, _ context: LintContext) {
        self.first = session.upcoming.first
        self.readings = session.first.map { ($0.reading, nil) }
        self.missing = nil
        guard let first, let lanes = session.maneuvers[first]?.linkedLaneGuidance,
            session.laneGuidances[lanes] == nil
        else { return }
        self.missing = Missing(
            maneuver: first, lanes: lanes, deadline: context.instant + Self.addingTime, entry: context.entry)
    }

    private mutating func lanesChanged(_ session: SessionView, _ context: inout LintContext) {
        guard self.lanes != session.currentLanes else { return }
        defer { self.lanes = session.currentLanes }
        if let new = session.currentLanes { self.shown.insert(new) }
        guard let lanes else { return }
        self.hidden = Hidden(lanes: lanes, instant: context.instant, entry: context.entry)
        if let passed, context.instant - passed.instant <= Self.hidingTime {
            self.judge(passed.maneuver, lanes, passed.entry, session, &context)
            self.hidden = nil
        }
        self.passed = nil
    }

    private mutating func upcomingChanged(_ session: SessionView, _ context: inout LintContext) {
        guard self.first != session.upcoming.first else { return }
        let (former, isNear) = (self.first, self.isNear)
        self.begin(session, context)
        self.passed = nil
        guard isNear, let former, let maneuver = session.maneuvers[former] else { return }
        self.judgeShown(maneuver, session, &context)
        if session.currentLanes == nil, let hidden, context.instant - hidden.instant <= Self.hidingTime {
            self.judge(maneuver, hidden.lanes, hidden.entry, session, &context)
        } else if session.currentLanes != nil {
            self.passed = Passed(maneuver: maneuver, instant: context.instant, entry: context.entry)
        }
        self.hidden = nil
    }

    private func judgeShown(_ maneuver: Maneuver, _ session: SessionView, _ context: inout LintContext) {
        guard let lanes = maneuver.linkedLaneGuidance, session.laneGuidances[lanes] != nil,
            !self.shown.contains(lanes)
        else { return }
        context.find(
            .laneUnshown, in: session, field: "maneuver_ids", values: [("laneGuidance", "\(lanes.rawValue)")],
            "maneuver \(maneuver.id.rawValue) was passed, and its lane guidance \(lanes.rawValue) was never shown"
        )
    }

    /// The vehicle was near the maneuver, and drove towards it no faster than vehicles do.
    private var isNear: Bool {
        guard let readings, let before = readings.before, readings.last.meters <= Self.nearMeters else {
            return false
        }
        let seconds = (readings.last.instant - before.instant) / .seconds(1)
        let meters = Double(before.meters) - Double(readings.last.meters)
        return meters > 0 && meters <= Self.speedMax * seconds
    }

    private func judge(
        _ maneuver: Maneuver, _ lanes: LaneGuidanceID, _ entry: Int, _ session: SessionView,
        _ context: inout LintContext
    ) {
        guard maneuver.linkedLaneGuidance != lanes else { return }
        let link = maneuver.linkedLaneGuidance?.rawValue ?? 0
        context.find(
            .laneLink, in: session, field: "linked_lane_guidance_id",
            values: [("laneGuidance", "\(lanes.rawValue)"), ("linkedLaneGuidance", "\(link)")], entry: entry,
            "lane guidance \(lanes.rawValue) was shown until maneuver \(maneuver.id.rawValue) was passed, "
                + "which links to \(link == 0 ? "none" : "\(link)")")
    }
}

/// LINT-LANE-STALE.
struct LaneStaleRule: SessionRule {
    private static let time = Duration.seconds(5)

    private struct Stale {
        let maneuver: ManeuverID
        let lanes: LaneGuidanceID
        let deadline: Instant
        let entry: Int
    }

    private var first: ManeuverID?
    private var stale: Stale?

    var deadline: Instant? { self.stale?.deadline }

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        if self.stale?.lanes != session.currentLanes || !session.isActive { self.stale = nil }
        guard case .published(let publication) = step else { return }
        if publication.newRoute != nil { (self.first, self.stale) = (nil, nil) }
        guard self.first != session.upcoming.first else { return }
        let former = self.first
        self.first = session.upcoming.first
        guard let former, let lanes = session.currentLanes, session.isActive,
            session.maneuvers[former]?.linkedLaneGuidance == lanes,
            !session.upcoming.contains(where: { session.maneuvers[$0]?.linkedLaneGuidance == lanes })
        else { return }
        self.stale = Stale(
            maneuver: former, lanes: lanes, deadline: context.instant + Self.time, entry: context.entry)
    }

    mutating func deadlineReached(_ session: SessionView, _ context: inout LintContext) {
        guard let stale else { return }
        self.stale = nil
        context.find(
            .laneStale, in: session, field: "lane_guidance_id",
            values: [("laneGuidance", "\(stale.lanes.rawValue)")], entry: stale.entry,
            "lane guidance \(stale.lanes.rawValue) is still shown, 5 s after its maneuver "
                + "\(stale.maneuver.rawValue) was passed")
    }
}

/// LINT-LANE-HIGHLIGHT, of lanes that the gateway accepts. ``ContradictionRule`` has the others.
struct LaneHighlightRule: SessionRule {
    private var current: LaneGuidanceID?

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        if publication.newRoute != nil { self.current = nil }
        guard self.current != session.currentLanes else { return }
        self.current = session.currentLanes
        if let current, let guidance = session.laneGuidances[current] {
            self.judge(guidance, session, &context)
        }
    }

    private func judge(_ guidance: LaneGuidance, _ session: SessionView, _ context: inout LintContext) {
        guard guidance.lanes.contains(where: { $0.status != .notGood && !$0.angles.isEmpty }),
            guidance.lanes.allSatisfy({ $0.highlightedAngle == nil })
        else { return }
        context.find(
            .laneHighlight, in: session, field: "lane_guidance_id",
            values: [
                ("laneGuidance", "\(guidance.id.rawValue)"),
                ("lanes", guidance.lanes.map(\.status.name).joined(separator: " ")),
            ],
            "lane guidance \(guidance.id.rawValue) is shown, and none of its lanes has a highlighted arrow")
    }
}
