internal import WaymarkClient
internal import WaymarkModel

/// Draws what an endpoint holds as lines of text: a pure function.
enum ClusterScreen {
    /// The approach bar begins this far before a maneuver, in metres.
    private static let barMeters = 1_500.0

    static func lines(_ state: VehicleState, title: String, width: Int = 64) -> [String] {
        let rule = String(repeating: "─", count: width)
        var lines = [title, rule]
        switch state.phase {
        case .active: lines += self.guidance(state, width)
        default: lines.append("  " + self.phase(state))
        }
        if state.isSuspended { lines.append("  the navigation client is away") }
        if let alert = state.alert { lines += self.alert(alert) }
        return lines + [rule, self.trip(state)]
    }

    /// What is the case, in one line: changes with phase and maneuver, not with every metre.
    static func summary(_ state: VehicleState) -> String {
        guard state.phase == .active else { return self.phase(state) }
        guard let next = state.nextManeuver else { return "follow the road" }
        return "\(self.arrow(next.type))  \(next.instructionVariants.first ?? next.type.name)"
    }

    private static func phase(_ state: VehicleState) -> String {
        switch state.phase {
        case .idle: "no guidance"
        case .preview: "\(state.client) prepares a trip"
        case .active: "guided by \(state.client)"
        case .paused(let reason, let description):
            (["paused: \(reason.name)"] + description.prefix(1)).joined(separator: ", ")
        case .ended(let reason): "guidance is over: \(reason)"
        }
    }

    private static func alert(_ alert: NavigationAlert) -> [String] {
        let actions = alert.actions.map { "[\($0.id)] \($0.titleVariants.first ?? "")" }
        return ["  ⚠ \(alert.titleVariants.first ?? "")"]
            + (alert.subtitleVariants.first.map { ["    \($0)"] } ?? [])
            + (actions.isEmpty ? [] : ["    " + actions.joined(separator: "  ")])
    }

    private static func guidance(_ state: VehicleState, _ width: Int) -> [String] {
        guard let next = state.nextManeuver else { return ["  follow the road"] }
        let estimates = state.maneuverEstimates[next.id]
        var lines = [
            "  \(self.arrow(next.type))  \(self.distance(estimates))  \(self.bar(estimates, width / 3))  [\(state.maneuverState.name)]",
            "     \(next.instructionVariants.first ?? next.type.name)",
        ]
        if let road = next.roadFollowingManeuverVariants.first { lines.append("     → \(road)") }
        if let id = state.currentLaneGuidance, let lanes = state.laneGuidances.first(where: { $0.id == id }) {
            lines.append("     lanes " + self.lanes(lanes))
        }
        for id in state.upcomingManeuvers.dropFirst().prefix(2) {
            guard let maneuver = state.maneuvers.first(where: { $0.id == id }) else { continue }
            lines.append("  then \(self.arrow(maneuver.type)) \(maneuver.instructionVariants.last ?? "")")
        }
        lines.append("  on \(state.currentRoadName.first ?? "an unnamed road")")
        return lines
    }

    private static func trip(_ state: VehicleState) -> String {
        guard let estimates = state.tripEstimates else { return "  " }
        let minutes = estimates.timeRemaining.map { "\(($0.components.seconds + 59) / 60) min" } ?? ""
        let stops = (state.trip?.waypoints ?? []).compactMap(\.nameVariants.first)
        return "  \(self.distance(estimates))  \(minutes)"
            + (stops.isEmpty ? "" : "  via \(stops.joined(separator: ", "))")
    }

    static func distance(_ estimates: TravelEstimates?) -> String {
        guard let estimates else { return "–" }
        let shown =
            estimates.distanceRemainingToDisplay ?? .rounded(estimates.distanceRemaining, units: .metric)
        let number =
            shown.valueTenths % 10 == 0
            ? "\(shown.valueTenths / 10)" : "\(shown.valueTenths / 10).\(shown.valueTenths % 10)"
        let unit =
            switch shown.unit {
            case .meters: "m"
            case .kilometers: "km"
            case .feet: "ft"
            case .yards: "yd"
            case .miles: "mi"
            case .unrecognized(let raw): "unit \(raw)"
            }
        return "\(number) \(unit)"
    }

    private static func bar(_ estimates: TravelEstimates?, _ width: Int) -> String {
        let meters = Double(estimates?.distanceRemaining.meters ?? 0)
        let filled = Int((1 - min(meters / self.barMeters, 1)) * Double(width))
        return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    }

    /// The lanes from left to right; those that lead on are in brackets.
    static func lanes(_ guidance: LaneGuidance) -> String {
        guidance.lanes.map(self.lane).joined(separator: " │ ")
    }

    private static func lane(_ lane: Lane) -> String {
        let arrows = lane.angles.map { angle in
            switch angle.degrees {
            case -180 ... -160, 160...: "↶"
            case -159 ... -113: "↙"
            case -112 ... -68: "←"
            case -67 ... -23: "↖"
            case -22...22: "↑"
            case 23...67: "↗"
            case 68...112: "→"
            default: "↘"
            }
        }
        let text = arrows.isEmpty ? "·" : arrows.joined()
        return lane.status == .notGood ? text : "[\(text)]"
    }

    static func arrow(_ type: ManeuverType) -> String {
        switch type {
        case .leftTurn, .leftTurnAtEnd: "←"
        case .rightTurn, .rightTurnAtEnd: "→"
        case .slightLeftTurn, .keepLeft, .highwayOffRampLeft, .changeHighwayLeft: "↖"
        case .slightRightTurn, .keepRight, .highwayOffRampRight, .changeHighwayRight: "↗"
        case .sharpLeftTurn: "↙"
        case .sharpRightTurn: "↘"
        case .uTurn, .uTurnWhenPossible, .startRouteWithUTurn, .uTurnAtRoundabout: "↶"
        case .arriveAtDestination, .arriveAtDestinationLeft, .arriveAtDestinationRight,
            .arriveEndOfNavigation,
            .arriveEndOfDirections:
            "⚑"
        case .enterFerry, .exitFerry, .changeFerry: "⛴"
        case .enterRoundabout, .exitRoundabout: "↻"
        default: type.roundaboutExit.map { "↻\($0)" } ?? "↑"
        }
    }
}
