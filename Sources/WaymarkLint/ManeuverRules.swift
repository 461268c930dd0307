internal import WaymarkHistory
internal import WaymarkModel
internal import WaymarkProtocol

/// LINT-MANEUVER-KIND.
struct ManeuverKindRule: SessionRule {
    private static let roundabouts: Set<ManeuverType> = [
        .enterRoundabout, .exitRoundabout, .uTurnAtRoundabout,
    ]
    /// From this angle on, in degrees, a direction is no longer straight on.
    private static let turnDegrees = 45

    /// The last maneuver of the present route.
    private var last: Maneuver?

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        if publication.newRoute != nil { self.last = nil }
        let (path, maneuvers) = publication.addedManeuvers
        for (index, maneuver) in maneuvers.enumerated() {
            let at = "\(path)[\(index)]"
            self.judge(maneuver, at, session, &context)
            self.judgeRoad(maneuver, at, session, &context)
            self.judgeSide(maneuver, at, session, &context)
            self.last = maneuver
        }
    }

    private func judge(
        _ maneuver: Maneuver, _ path: String, _ session: SessionView, _ context: inout LintContext
    ) {
        let type = maneuver.type
        let name = "maneuver \(maneuver.id.rawValue) is \(type.name)"
        if maneuver.junctionType == .intersection,
            Self.roundabouts.contains(type) || type.roundaboutExit != nil
        {
            context.find(
                .maneuverKind, in: session, field: "\(path).junction_type",
                values: [("type", type.name), ("junctionType", maneuver.junctionType.name)],
                "\(name), and its junction is no roundabout")
        }
        if type == .noTurn, let angle = maneuver.junctionExitAngle,
            abs(Int(angle.degrees)) >= Self.turnDegrees
        {
            context.find(
                .maneuverKind, in: session, field: "\(path).type",
                values: [("type", type.name), ("exitAngle", "\(angle.degrees)°")],
                "\(name), and it leaves the junction at \(angle.degrees)°")
        }
        if let exit = type.roundaboutExit, let number = maneuver.roundaboutExitNumber, exit != number {
            context.find(
                .maneuverKind, in: session, field: "\(path).roundabout_exit_number",
                values: [("type", type.name), ("roundaboutExitNumber", "\(number)")],
                "\(name), and its exit number is \(number)")
        }
    }

    private func judgeRoad(
        _ maneuver: Maneuver, _ path: String, _ session: SessionView, _ context: inout LintContext
    ) {
        guard maneuver.type == .straightAhead, let road = maneuver.roadFollowingManeuverVariants.first,
            self.last?.roadFollowingManeuverVariants.first == road
        else { return }
        context.find(
            .maneuverKind, in: session, field: "\(path).type",
            values: [("type", maneuver.type.name), ("road", road)],
            "maneuver \(maneuver.id.rawValue) is \(maneuver.type.name), and the road is the same as before")
    }

    private func judgeSide(
        _ maneuver: Maneuver, _ path: String, _ session: SessionView, _ context: inout LintContext
    ) {
        guard let last, last.trafficSide != maneuver.trafficSide, !last.type.isFerry, !maneuver.type.isFerry
        else { return }
        context.find(
            .maneuverKind, in: session, field: "\(path).traffic_side",
            values: [("before", last.trafficSide.name), ("trafficSide", maneuver.trafficSide.name)],
            "at maneuver \(maneuver.id.rawValue) traffic drives on the \(maneuver.trafficSide.name), "
                + "at the one before on the \(last.trafficSide.name)")
    }
}

extension ManeuverType {
    fileprivate var isFerry: Bool { [.enterFerry, .exitFerry, .changeFerry].contains(self) }

    /// The degrees to its side that a turn leads, 10 more than the CarPlay guide says at both ends; nil for other types.
    fileprivate var turnDegrees: ClosedRange<Int>? {
        switch self {
        case .slightLeftTurn, .slightRightTurn: -60...55
        case .leftTurn, .rightTurn: 35...145
        case .sharpLeftTurn, .sharpRightTurn: 125...180
        case .leftTurnAtEnd, .rightTurnAtEnd: -60...180
        default: nil
        }
    }

    /// -1 to the left, 1 to the right, 0 neither.
    fileprivate var side: Int {
        switch self {
        case .leftTurn, .leftTurnAtEnd, .sharpLeftTurn, .slightLeftTurn: -1
        case .rightTurn, .rightTurnAtEnd, .sharpRightTurn, .slightRightTurn: 1
        default: 0
        }
    }
}

/// LINT-MANEUVER-ANGLE, of maneuvers that the gateway accepts. ``ContradictionRule`` has the others.
struct ManeuverAngleRule: SessionRule {
    /// The degrees from which on left and right are one.
    private static let backMin = 170

    mutating func see(_ step: SessionStep, _ session: SessionView, _ context: inout LintContext) {
        guard case .published(let publication) = step else { return }
        let (path, maneuvers) = publication.addedManeuvers
        for (index, maneuver) in maneuvers.enumerated() {
            guard let angle = maneuver.junctionExitAngle, let range = maneuver.type.turnDegrees else {
                continue
            }
            let toItsSide = maneuver.type.side * Int(angle.degrees)
            guard !range.contains(toItsSide > -Self.backMin ? toItsSide : -toItsSide) else { continue }
            context.find(
                .maneuverAngle, in: session, field: "\(path)[\(index)].junction_exit_angle_degrees",
                values: [("type", maneuver.type.name), ("exitAngle", "\(angle.degrees)°")],
                "maneuver \(maneuver.id.rawValue) is \(maneuver.type.name), "
                    + "and it leaves the junction at \(angle.degrees)°")
        }
    }
}

/// LINT-MANEUVER-ANGLE, LINT-LANE-HIGHLIGHT and LINT-LANE-STATUS, of publications whose fields contradict each other.
///
/// It finds them in what the client sent. Observers are not told such frames, so it finds them in the gateway's Error as well.
struct ContradictionRule: LintRule {
    private struct Sent: Hashable {
        let session: SessionID
        let sequence: UInt64
    }

    /// How many publications whose Error has not come yet are remembered.
    private static let foundMax = 1_024

    private var found: Set<Sent> = []

    mutating func see(_ step: LintStep, _ world: LintWorld, _ context: inout LintContext) {
        switch step {
        case .malformed(let session, let client, let header, let rejection):
            guard let rule = LintID(rejection) else { return }
            if self.found.count >= Self.foundMax { self.found = [] }
            self.found.insert(Sent(session: session, sequence: header.sequence))
            self.find(rule, rejection, client, session, &context)
        case .message(.client(let client), .toPeer, .error(let error), _):
            guard let rule = LintID(error), MessageType.published.contains(error.messageType),
                self.found.remove(Sent(session: error.session, sequence: error.sequence)) == nil
            else { return }
            self.find(rule, error, .client(client), error.session, &context)
        default: break
        }
    }

    private func find(
        _ rule: LintID, _ rejection: Rejection, _ client: PeerID, _ session: SessionID,
        _ context: inout LintContext
    ) {
        context.find(rule, client, session, field: rejection.field, rule.contradiction)
    }
}
