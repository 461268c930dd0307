import WaymarkModel

/// Composes instructions in English, for engines that send none or only long ones.
enum InstructionText {
    /// With the road or signposted destination, and without; longest first.
    ///
    /// - Parameters:
    ///   - type: What to do.
    ///   - exit: The true exit number of a roundabout.
    ///   - road: The road after the maneuver, longest name first.
    ///   - destinations: As signposted; empty for none.
    ///   - roundabout: The roundabout's name; empty for none.
    /// - Returns: At least one variant.
    static func variants(
        _ type: ManeuverType, exit: UInt8?, road: [String], destinations: String = "", roundabout: String = ""
    ) -> [String] {
        if !roundabout.isEmpty, let exit, type.roundaboutExit != nil || type == .exitRoundabout {
            let action = "At \(roundabout) take exit \(exit)"
            let leading = destinations.isEmpty ? road.map { "onto \($0)" } : ["toward \(destinations)"]
            return leading.map { "\(action) \($0)" } + [action]
        }
        if !roundabout.isEmpty, type == .enterRoundabout { return ["Enter \(roundabout)"] }
        let action = Self.action(type, exit: exit)
        if type.isArrival { return [action] }
        if !destinations.isEmpty { return ["\(action) toward \(destinations)", action] }
        let preposition = type == .followRoad || type == .startRoute || type == .straightAhead ? "on" : "onto"
        return road.map { "\(action) \(preposition) \($0)" } + [action]
    }

    private static func action(_ type: ManeuverType, exit: UInt8?) -> String {
        if let exit, type.roundaboutExit != nil || type == .exitRoundabout {
            return "At the roundabout take exit \(exit)"
        }
        return self.actions[type] ?? "Continue"
    }

    private static let actions: [ManeuverType: String] = [
        .leftTurn: "Turn left", .rightTurn: "Turn right", .straightAhead: "Go straight ahead",
        .uTurn: "Make a U-turn", .followRoad: "Continue", .enterRoundabout: "Enter the roundabout",
        .exitRoundabout: "Leave the roundabout", .offRamp: "Take the exit", .onRamp: "Take the ramp",
        .arriveEndOfNavigation: "Guidance ends here", .startRoute: "Start",
        .arriveAtDestination: "You have arrived", .keepLeft: "Keep left", .keepRight: "Keep right",
        .enterFerry: "Take the ferry", .exitFerry: "Leave the ferry", .changeFerry: "Change ferries",
        .startRouteWithUTurn: "Start with a U-turn", .uTurnAtRoundabout: "Make a U-turn at the roundabout",
        .leftTurnAtEnd: "Turn left at the end of the road",
        .rightTurnAtEnd: "Turn right at the end of the road",
        .highwayOffRampLeft: "Take the exit on the left", .highwayOffRampRight: "Take the exit on the right",
        .arriveAtDestinationLeft: "You have arrived, on the left",
        .arriveAtDestinationRight: "You have arrived, on the right",
        .uTurnWhenPossible: "Make a U-turn when possible",
        .arriveEndOfDirections: "Directions end here", .sharpLeftTurn: "Turn sharp left",
        .sharpRightTurn: "Turn sharp right", .slightLeftTurn: "Bear left", .slightRightTurn: "Bear right",
        .changeHighway: "Change motorways", .changeHighwayLeft: "Keep left to change motorways",
        .changeHighwayRight: "Keep right to change motorways",
    ]
}

/// The names of a road from the longest to the shortest: `name (ref)`, name, reference.
func roadNames(name: String, reference: String) -> [String] {
    if name.isEmpty { return reference.isEmpty ? [] : [reference] }
    if reference.isEmpty || reference == name { return [name] }
    return ["\(name) (\(reference))", name, reference]
}
