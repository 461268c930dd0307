internal import ProcessIO
internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkTexts

/// Draws a cluster's screen as lines of text: a pure function of the view and the terminal's size.
enum ClusterScreen {
    /// The content of the screen.
    struct View: Sendable {
        var title = ""
        /// The state of the connection.
        var connection = ""
        /// Whether there has been a connection.
        var wasConnected = true
        /// How long the connection has been lost; nil while connected.
        var lostFor: Duration?
        /// How old the content is; nil if that is not known.
        var age: Duration?
        var state = VehicleState()
        /// The trips to choose from, before guidance.
        var preview: ClusterPreview?
        /// The story, oldest step first.
        var story: [String] = []
        /// The open question to the user.
        var question: String?
        /// The text that is being typed.
        var entry: String?
        /// What the last key did.
        var status = ""
        /// What the keys do: lines of at most 80 columns.
        var keys: [String] = []
    }

    /// The approach bar begins this far before a maneuver, in metres.
    private static let barMeters = 1_500.0
    /// A narrower screen has no room for signs beside the maneuvers.
    private static let signColumnsMin = 60
    /// Rows reserved for the guidance, so that the lines below it do not move.
    private static let guidanceRows = 7

    /// At most `rows` lines; the newest part of the story fills the rows that are left.
    static func lines(_ view: View, columns: Int, rows: Int) -> [String] {
        let rule = String(repeating: "─", count: columns)
        let gap = max(1, columns - view.title.count - view.connection.count)
        var top = [view.title + String(repeating: " ", count: gap) + view.connection, rule]
        let guidance = self.guidance(view, columns)
        top += guidance + Array(repeating: "", count: max(0, self.guidanceRows - guidance.count))
        top += [rule, self.trip(view.state), rule]
        var bottom = [self.prompt(view, columns)]
        bottom += view.keys
        // On a low terminal the question to the user stays.
        top = Array(top.prefix(max(0, rows - bottom.count)))
        let story = view.story.flatMap { Terminal.wrapped($0, columns: columns - 2).map { "  \($0)" } }
        let free = max(0, rows - top.count - bottom.count)
        let shown = story.suffix(free)
        return top + shown + Array(repeating: "", count: free - shown.count) + bottom
    }

    /// The question to the user, else what the last key did.
    private static func prompt(_ view: View, _ columns: Int) -> String {
        if let entry = view.entry { return "  \(self.end(of: entry, columns: columns - 3))▏" }
        if let question = view.question { return "  ▶ \(question)" }
        return "  \(view.status)"
    }

    /// The end of `text` that fits into `columns`.
    private static func end(of text: String, columns: Int) -> String {
        guard Terminal.clipped(text, columns: columns) != text else { return text }
        let end = Terminal.clipped(String(text.reversed()), columns: max(0, columns - 1))
        return "…" + String(end.reversed())
    }

    private static func guidance(_ view: View, _ columns: Int) -> [String] {
        guard view.wasConnected else { return ["  not connected yet"] }
        let state = view.state
        var lines: [String] = []
        if let lostFor = view.lostFor {
            lines.append("  ⚠ the gateway is away: this is \(self.age(view.age ?? lostFor)) old")
        }
        if state.isSuspended {
            let age = view.lostFor == nil ? view.age.map { ", this is \(self.age($0)) old" } : nil
            lines.append("  ⚠ the navigation client is away: guidance stands still\(age ?? "")")
        }
        if let alert = state.alert { lines += self.alert(alert) }
        switch state.phase {
        case .active: lines += self.guided(state, columns)
        case .preview where view.preview != nil:
            lines += view.preview?.lines(client: state.client, columns: columns) ?? []
        case .idle, .preview, .paused, .ended: lines.append("  " + self.phase(state))
        }
        return lines
    }

    /// Whole seconds, from two minutes on whole minutes.
    static func age(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        return seconds < 120 ? "\(seconds) s" : "\(seconds / 60) min"
    }

    /// The next maneuver in a line, which changes with the maneuver and not with every metre; nil without guidance.
    static func maneuverLine(_ state: VehicleState) -> String? {
        guard state.phase == .active else { return nil }
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
        let actions = alert.actions.enumerated().map { "[\($0 + 1)] \($1.titleVariants.first ?? "")" }
        return ["  \(self.mark(alert.priority)) \(alert.titleVariants.first ?? "")"]
            + (alert.subtitleVariants.first.map { ["    \($0)"] } ?? [])
            + (actions.isEmpty ? [] : ["    " + actions.joined(separator: "  ")])
    }

    private static func mark(_ priority: AlertPriority?) -> String {
        switch priority {
        case .high: "‼"
        case .low: "·"
        case .medium, .unrecognized, nil: "⚠"
        }
    }

    /// The maneuvers, and on the right the sign of the speed limit.
    private static func guided(_ state: VehicleState, _ columns: Int) -> [String] {
        let sign = SpeedLimitDrawing.lines(state.speedLimit, next: state.nextSpeedLimit)
        guard let width = sign.first?.count else { return self.maneuvers(state, columns) }
        guard columns >= self.signColumnsMin else {
            let words = SpeedLimitDrawing.words(state.speedLimit, next: state.nextSpeedLimit?.limit)
            return self.maneuvers(state, columns) + (words.map { ["  \($0)"] } ?? [])
        }
        let left = columns - width - 2
        let maneuvers = self.maneuvers(state, left)
        return (0..<max(maneuvers.count, sign.count)).map { row in
            guard row < sign.count else { return maneuvers[row] }
            let line = Terminal.fitted(row < maneuvers.count ? maneuvers[row] : "", columns: left)
            return line + String(repeating: " ", count: left - TerminalText.columns(of: line) + 1) + sign[row]
        }
    }

    private static func maneuvers(_ state: VehicleState, _ columns: Int) -> [String] {
        guard let next = state.nextManeuver else { return ["  follow the road"] }
        let estimates = state.maneuverEstimates[next.id]
        var lines = [
            "  \(self.arrow(next.type))  \(GuidanceText.distance(estimates))  \(self.bar(estimates, columns / 4))  [\(state.maneuverState.name)]",
            "     \(self.fitting(next.instructionVariants, columns - 5) ?? next.type.name)",
        ]
        if let road = self.fitting(next.roadFollowingManeuverVariants, columns - 7) {
            lines.append("     → \(road)")
        }
        if let id = state.currentLaneGuidance, let lanes = state.laneGuidances.first(where: { $0.id == id }) {
            lines.append("     lanes " + GuidanceText.lanes(lanes))
        }
        for id in state.upcomingManeuvers.dropFirst().prefix(2) {
            guard let maneuver = state.maneuvers.first(where: { $0.id == id }) else { continue }
            lines.append("  then \(self.arrow(maneuver.type)) \(maneuver.instructionVariants.last ?? "")")
        }
        lines.append("  on \(state.currentRoadName.first ?? "an unnamed road")")
        return lines
    }

    /// The longest variant that fits into `columns`; the shortest if none does.
    private static func fitting(_ variants: [String], _ columns: Int) -> String? {
        variants.first { Terminal.clipped($0, columns: columns) == $0 } ?? variants.last
    }

    private static func trip(_ state: VehicleState) -> String {
        guard let estimates = state.tripEstimates else { return "" }
        let destination = state.trip?.destination.nameVariants.first.map { " to \($0)" } ?? ""
        let stops = (state.trip?.waypoints ?? []).compactMap(\.nameVariants.first)
        return "  \(Story.estimates(estimates))\(destination)"
            + (stops.isEmpty ? "" : ", via \(stops.joined(separator: ", "))")
    }

    private static func bar(_ estimates: TravelEstimates?, _ width: Int) -> String {
        let meters = Double(estimates?.distanceRemaining.meters ?? 0)
        let filled = Int((1 - min(meters / self.barMeters, 1)) * Double(width))
        return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
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
