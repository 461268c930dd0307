internal import WaymarkModel

/// OSRM's maneuvers in CarPlay's words. The table is in Docs/routes.md.
enum OSRMMapping {
    enum Modifier: String, CaseIterable {
        case uTurn = "uturn"
        case sharpLeft = "sharp left"
        case left
        case slightLeft = "slight left"
        case straight
        case slightRight = "slight right"
        case right
        case sharpRight = "sharp right"

        /// -1 left, 1 right, 0 neither.
        var side: Int {
            switch self {
            case .sharpLeft, .left, .slightLeft: -1
            case .sharpRight, .right, .slightRight: 1
            case .uTurn, .straight: 0
            }
        }
    }

    static let knownTypes: Set<String> = [
        "turn", "new name", "depart", "arrive", "merge", "ramp", "on ramp", "off ramp", "fork", "end of road",
        "use lane", "continue", "roundabout", "rotary", "roundabout turn", "notification", "exit roundabout",
        "exit rotary",
    ]

    static func isRoundabout(_ type: String) -> Bool {
        type.contains("roundabout") || type.contains("rotary")
    }

    static func type(
        _ type: String, _ modifier: Modifier?, exit: UInt8?, change: (isFerry: Bool, wasFerry: Bool),
        highways: Bool
    ) -> ManeuverType {
        if type == "depart" {
            return change.isFerry ? .enterFerry : modifier == .uTurn ? .startRouteWithUTurn : .startRoute
        }
        if type == "arrive" {
            switch modifier?.side {
            case -1: return .arriveAtDestinationLeft
            case 1: return .arriveAtDestinationRight
            default: return .arriveAtDestination
            }
        }
        switch (change.wasFerry, change.isFerry) {
        case (false, true): return .enterFerry
        case (true, true): return .changeFerry
        case (true, false): return .exitFerry
        case (false, false): break
        }
        switch type {
        case "continue": return self.turn(modifier, straight: .followRoad, none: .followRoad)
        case "new name": return self.newName(modifier)
        case "end of road": return self.endOfRoad(modifier)
        case "fork", "merge", "notification": return self.keep(type, modifier, highways)
        case "on ramp", "ramp": return .onRamp
        case "off ramp": return self.bySide(modifier, .highwayOffRampLeft, .highwayOffRampRight, .offRamp)
        case "roundabout", "rotary": return self.roundabout(modifier, exit)
        case "roundabout turn":
            return modifier == .uTurn
                ? .uTurnAtRoundabout : self.turn(modifier, straight: .straightAhead, none: .enterRoundabout)
        case "exit roundabout", "exit rotary": return .exitRoundabout
        case "use lane": return .followRoad
        default: return self.turn(modifier, straight: .straightAhead, none: .noTurn)
        }
    }

    private static func turn(
        _ modifier: Modifier?, straight: ManeuverType, none: ManeuverType
    ) -> ManeuverType {
        switch modifier {
        case .uTurn: .uTurn
        case .sharpLeft: .sharpLeftTurn
        case .left: .leftTurn
        case .slightLeft: .slightLeftTurn
        case .straight: straight
        case .slightRight: .slightRightTurn
        case .right: .rightTurn
        case .sharpRight: .sharpRightTurn
        case nil: none
        }
    }

    private static func newName(_ modifier: Modifier?) -> ManeuverType {
        switch modifier {
        case .slightLeft: .keepLeft
        case .slightRight: .keepRight
        case .uTurn, .sharpLeft, .left, .straight, .right, .sharpRight, nil:
            self.turn(modifier, straight: .straightAhead, none: .followRoad)
        }
    }

    private static func endOfRoad(_ modifier: Modifier?) -> ManeuverType {
        modifier == .uTurn
            ? .uTurn
            : self.bySide(
                modifier, .leftTurnAtEnd, .rightTurnAtEnd, modifier == .straight ? .straightAhead : .noTurn)
    }

    private static func keep(_ type: String, _ modifier: Modifier?, _ highways: Bool) -> ManeuverType {
        if modifier == .uTurn { return .uTurn }
        if highways, type != "notification" {
            return self.bySide(modifier, .changeHighwayLeft, .changeHighwayRight, .changeHighway)
        }
        let middle: ManeuverType = type == "fork" && modifier == .straight ? .straightAhead : .followRoad
        return self.bySide(modifier, .keepLeft, .keepRight, middle)
    }

    private static func bySide(
        _ modifier: Modifier?, _ left: ManeuverType, _ right: ManeuverType, _ neither: ManeuverType
    ) -> ManeuverType {
        switch modifier?.side {
        case -1: left
        case 1: right
        default: neither
        }
    }

    private static func roundabout(_ modifier: Modifier?, _ exit: UInt8?) -> ManeuverType {
        if modifier == .uTurn { return .uTurnAtRoundabout }
        guard let exit else { return .enterRoundabout }
        return .roundaboutExit(exit) ?? .exitRoundabout
    }

    /// A short instruction, for engines that give none.
    static func words(_ type: String, _ modifier: Modifier?, _ exit: UInt8?) -> String {
        let direction = modifier?.rawValue ?? ""
        switch type {
        case "depart": return "Start"
        case "arrive": return direction.isEmpty ? "Arrive" : "Arrive, \(direction)"
        case "roundabout", "rotary": return exit.map { "Roundabout, exit \($0)" } ?? "Enter the roundabout"
        case "exit roundabout", "exit rotary": return "Leave the roundabout"
        case "on ramp", "ramp": return "Take the ramp"
        case "off ramp": return "Take the exit"
        case "merge": return "Merge"
        case "fork":
            return
                "Keep \(modifier.map { $0.side < 0 ? "left" : $0.side > 0 ? "right" : "straight" } ?? "on")"
        case "continue", "new name", "use lane", "notification":
            return modifier == .straight || modifier == nil ? "Continue" : "Continue \(direction)"
        default:
            switch modifier {
            case .uTurn: return "Make a U-turn"
            case .straight: return "Go straight"
            case nil: return "Go on"
            case .sharpLeft, .left, .slightLeft, .slightRight, .right, .sharpRight: return "Turn \(direction)"
            }
        }
    }
}
