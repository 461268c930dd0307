internal import WaymarkClient
internal import WaymarkModel

/// Draws what an endpoint holds as lines of text: a pure function.
enum ClusterScreen {
    /// The approach bar begins this far before a maneuver, in metres.
    private static let barMeters = 1_500.0

    static func lines(_ state: VehicleState, title: String, width: Int = 64) -> [String] {
        var lines = ["\(title)", String(repeating: "─", count: width)]
        switch state.phase {
        case .idle: lines.append("  no guidance")
        case .ended(let reason): lines.append("  guidance is over: \(reason)")
        case .preview: lines.append("  \(state.client) prepares a trip")
        case .paused(let reason, let description):
            lines.append("  paused: \(reason) \(description.first ?? "")")
        case .active: lines += self.guidance(state, width)
        }
        if state.isSuspended { lines.append("  the navigation client is away") }
        if let alert = state.alert { lines.append("  ⚠ \(alert.titleVariants.first ?? "")") }
        lines.append(String(repeating: "─", count: width))
        lines.append(self.trip(state))
        return lines
    }

    private static func guidance(_ state: VehicleState, _ width: Int) -> [String] {
        guard let next = state.nextManeuver else { return ["  follow the road"] }
        let estimates = state.maneuverEstimates[next.id]
        var lines = [
            "  \(self.arrow(next.type))  \(self.distance(estimates))  \(self.bar(estimates, width / 3))  [\(state.maneuverState)]",
            "     \(next.instructionVariants.first ?? "\(next.type)")",
        ]
        if let road = next.roadFollowingManeuverVariants.first { lines.append("     → \(road)") }
        if let id = state.currentLaneGuidance, let lanes = state.laneGuidances.first(where: { $0.id == id }) {
            lines.append("     lanes " + lanes.lanes.map(self.lane).joined(separator: " │ "))
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
