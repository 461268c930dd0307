internal import WaymarkModel
internal import WaymarkProtocol

/// LINT-LANE-ARROW.
struct LaneArrowRule: SessionRule {
    /// The difference in degrees, at most, between an arrow and its maneuver.
    private static let degreesMax = 75

    private var judged: LaneGuidanceID?

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        if publication.newRoute != nil { self.judged = nil }
        guard self.judged != session.currentLanes else { return }
        guard let lanes = session.currentLanes else { return self.judged = nil }
        guard
            let maneuver = session.upcoming.lazy.compactMap({ session.maneuvers[$0] }).first(where: {
                $0.linkedLaneGuidance == lanes
            }), let guidance = session.laneGuidances[lanes]
        else { return }
        self.judged = lanes
        let arrows = guidance.lanes.compactMap(\.highlightedAngle).map { Int($0.degrees) }
        let directions = maneuver.turnDirections
        guard let direction = directions.first, !arrows.isEmpty,
            arrows.allSatisfy({ arrow in
                directions.allSatisfy { Self.difference(arrow, $0) > Self.degreesMax }
            })
        else { return }
        let listed = arrows.map { "\($0)°" }.joined(separator: " ")
        context.find(
            .laneArrow, in: session, field: "lane_guidance_id",
            values: [("type", maneuver.type.name), ("direction", "\(direction)°"), ("arrows", listed)],
            "maneuver \(maneuver.id.rawValue) is \(maneuver.type.name), and the arrows of its lane guidance "
                + "\(lanes.rawValue) lead to \(listed)")
    }

    private static func difference(_ first: Int, _ second: Int) -> Int {
        let degrees = abs(first - second) % 360
        return min(degrees, 360 - degrees)
    }
}

extension Maneuver {
    /// The directions in degrees in which a turn leaves the junction, by its exit angle and by its type; none for what is no turn.
    fileprivate var turnDirections: [Int] {
        let usual: Int
        switch self.type {
        case .leftTurn: usual = -90
        case .rightTurn: usual = 90
        case .slightLeftTurn: usual = -45
        case .slightRightTurn: usual = 45
        case .sharpLeftTurn: usual = -135
        case .sharpRightTurn: usual = 135
        default: return []
        }
        return [self.junctionExitAngle.map { Int($0.degrees) }, usual].compactMap(\.self)
    }
}

/// LINT-LANE-LATER.
struct LaneLaterRule: SessionRule {
    /// The lanes and the next maneuver change one after the other.
    private static let time = Duration.seconds(1)

    private struct Later {
        let lanes: LaneGuidanceID
        let first: ManeuverID
        let maneuver: ManeuverID
        let instant: Instant
        let entry: Int
    }

    private var judged: (lanes: LaneGuidanceID, first: ManeuverID)?
    private var later: Later?

    var deadline: Instant? { self.later.map { $0.instant + Self.time } }

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard session.isActive, let lanes = session.currentLanes, let first = session.upcoming.first else {
            return (self.later, self.judged) = (nil, nil)
        }
        guard self.judged?.lanes != lanes || self.judged?.first != first else { return }
        (self.later, self.judged) = (nil, (lanes, first))
        // A junction without a maneuver may have lanes, too, but not those that another maneuver links to.
        guard let own = session.maneuvers[first]?.linkedLaneGuidance, own != lanes,
            session.laneGuidances[own] != nil, let order = session.maneuverOrder[first],
            let maneuver = session.maneuvers.values.first(where: { maneuver in
                maneuver.linkedLaneGuidance == lanes && (session.maneuverOrder[maneuver.id] ?? 0) > order
            })
        else { return }
        self.later = Later(
            lanes: lanes, first: first, maneuver: maneuver.id, instant: context.instant, entry: context.entry)
    }

    mutating func deadlineReached(_ session: SessionView, _ context: inout LintContext) {
        guard let later else { return }
        self.later = nil
        context.find(
            .laneLater, in: session, field: "lane_guidance_id",
            values: [("laneGuidance", "\(later.lanes.rawValue)"), ("next", "\(later.first.rawValue)")],
            entry: later.entry,
            "maneuver \(later.first.rawValue) is next, and lane guidance \(later.lanes.rawValue) is shown, "
                + "to which maneuver \(later.maneuver.rawValue) links")
    }
}

/// LINT-ROAD-NEXT.
struct RoadNextRule: SessionRule {
    /// The road and the next maneuver change one after the other.
    private static let time = Duration.seconds(1)
    /// A road may change its name before a maneuver that stays on it. At two maneuvers in a row this is unlikely.
    private static let countMin = 2

    private var road = ""
    private var early: (maneuver: ManeuverID, instant: Instant, entry: Int)?
    /// The last maneuver for which this was counted.
    private var counted: ManeuverID?
    private var count = 0
    /// The next maneuver, and since when it is next.
    private var next: (maneuver: ManeuverID, instant: Instant)?

    var deadline: Instant? { self.early.map { $0.instant + Self.time } }

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        if case .published(let publication) = step {
            if publication.newRoute != nil {
                (self.early, self.counted, self.count, self.next) = (nil, nil, 0, nil)
            }
            if case .plain(.currentRoadName(let names)) = publication { self.road = names.first ?? "" }
        }
        self.follow(session.upcoming.first, context.instant)
        guard session.isActive, let first = session.upcoming.first, self.isNext(first, session) else {
            return self.early = nil
        }
        if self.early?.maneuver != first, self.counted != first {
            self.early = (first, context.instant, context.entry)
        }
    }

    /// Begins to count again behind a maneuver whose road was right, if that one was next for long enough to be judged.
    private mutating func follow(_ first: ManeuverID?, _ instant: Instant) {
        guard let first, self.next?.maneuver != first else { return }
        if let next, self.counted != next.maneuver, instant - next.instant > Self.time { self.count = 0 }
        self.next = (first, instant)
    }

    /// Whether the road's name is that behind the next maneuver, and another than that behind the one before.
    private func isNext(_ first: ManeuverID, _ session: SessionView) -> Bool {
        guard !self.road.isEmpty, let order = session.maneuverOrder[first], order > 0,
            session.maneuvers[first]?.roadFollowingManeuverVariants.first == self.road,
            let before = session.maneuverOrder.first(where: { $0.value == order - 1 })?.key,
            let former = session.maneuvers[before]?.roadFollowingManeuverVariants.first
        else { return false }
        return !former.isEmpty && former != self.road
    }

    mutating func deadlineReached(_ session: SessionView, _ context: inout LintContext) {
        guard let early else { return }
        (self.early, self.counted) = (nil, early.maneuver)
        self.count += 1
        guard self.count == Self.countMin else { return }
        context.find(
            .roadNext, in: session, field: "name_variants",
            values: [("road", self.road), ("next", "\(early.maneuver.rawValue)")], entry: early.entry,
            "the current road is \"\(self.road)\", which is the road behind maneuver "
                + "\(early.maneuver.rawValue), the next, for the second time")
    }
}
