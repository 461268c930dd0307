internal import WaymarkModel
internal import WaymarkTexts

/// What an arrow of a maneuver looks like, and its name for people who cannot see it.
struct ManeuverGlyph: Sendable {
    enum Shape: String, Sendable {
        case straight, turn, keep, exit, merge, ferry, roundabout, uTurn, arrive, depart, unknown
    }

    let shape: Shape
    /// Clockwise from straight on; nil: not known.
    let angle: Int?
    private let maneuver: Maneuver

    init(_ maneuver: Maneuver) {
        self.maneuver = maneuver
        let (shape, angle) = Self.form(maneuver.type)
        self.shape =
            maneuver.junctionType == .roundabout && shape == .turn ? .roundabout : shape
        self.angle = maneuver.junctionExitAngle.map { Int($0.degrees) } ?? angle
    }

    private static func form(_ type: ManeuverType) -> (Shape, Int?) {
        switch type {
        case .noTurn, .straightAhead, .followRoad: (.straight, 0)
        case .leftTurn, .leftTurnAtEnd: (.turn, -90)
        case .rightTurn, .rightTurnAtEnd: (.turn, 90)
        case .sharpLeftTurn: (.turn, -135)
        case .sharpRightTurn: (.turn, 135)
        case .slightLeftTurn: (.turn, -45)
        case .slightRightTurn: (.turn, 45)
        case .uTurn, .uTurnWhenPossible: (.uTurn, 180)
        case .uTurnAtRoundabout: (.roundabout, 180)
        case .enterRoundabout, .exitRoundabout: (.roundabout, nil)
        case .offRamp: (.exit, nil)
        case .highwayOffRampLeft: (.exit, -30)
        case .highwayOffRampRight: (.exit, 30)
        case .onRamp: (.merge, nil)
        case .keepLeft, .changeHighwayLeft: (.keep, -20)
        case .keepRight, .changeHighwayRight: (.keep, 20)
        case .changeHighway: (.keep, nil)
        case .enterFerry, .exitFerry, .changeFerry: (.ferry, nil)
        case .arriveAtDestination, .arriveEndOfNavigation, .arriveEndOfDirections: (.arrive, nil)
        case .arriveAtDestinationLeft: (.arrive, -90)
        case .arriveAtDestinationRight: (.arrive, 90)
        case .startRoute: (.depart, nil)
        case .startRouteWithUTurn: (.depart, 180)
        default: type.roundaboutExit != nil ? (.roundabout, nil) : (.unknown, nil)
        }
    }

    private var exit: Int? {
        (self.maneuver.roundaboutExitNumber ?? self.maneuver.type.roundaboutExit).map { Int($0) }
    }

    var answer: Answer.Glyph {
        let elements = self.maneuver.junctionElementAngles.map { Int($0.degrees) }
        return Answer.Glyph(
            shape: self.shape.rawValue, side: self.maneuver.trafficSide.name, angle: self.angle,
            elements: elements.isEmpty ? nil : elements, exit: self.exit)
    }

    /// E.g. `right turn, 90 degrees, onto Schwefelstrasse`.
    var text: String {
        var parts = [Self.words(self.maneuver.type)]
        if let exit = self.exit, self.maneuver.type.roundaboutExit == nil { parts.append("exit \(exit)") }
        if let angle = self.maneuver.junctionExitAngle { parts.append("\(abs(Int(angle.degrees))) degrees") }
        if let road = self.maneuver.roadFollowingManeuverVariants.first, !road.isEmpty {
            parts.append("onto \(road)")
        }
        return parts.joined(separator: ", ")
    }

    /// `rightTurnAtEnd` as `right turn at end`.
    private static func words(_ type: ManeuverType) -> String {
        if let exit = type.roundaboutExit { return "roundabout, exit \(exit)" }
        return type.name.reduce(into: "") { text, character in
            text += character.isUppercase ? " \(character.lowercased())" : "\(character)"
        }.replacing("u turn", with: "U-turn")
    }
}

extension LaneGuidance {
    /// Its lanes in words, from left to right.
    var lanesInWords: String {
        let lanes = self.lanes.enumerated().map { index, lane in
            let angles =
                lane.angles.isEmpty
                ? "no direction" : lane.angles.map(Self.direction).joined(separator: " or ")
            let highlighted = lane.highlightedAngle.map { ", \(Self.direction($0))" } ?? ""
            let status = [LaneStatus.notGood: "not good", .good: "good", .preferred: "preferred"][lane.status]
            return "lane \(index + 1) \(angles), \(status ?? lane.status.name)\(highlighted)"
        }
        return "\(self.lanes.count) lane\(self.lanes.count == 1 ? "" : "s"): " + lanes.joined(separator: "; ")
    }

    private static func direction(_ angle: Angle) -> String {
        switch angle.degrees {
        case -22...22: "straight on"
        case 23...67: "slightly right"
        case 68...112: "right"
        case 113...157: "sharply right"
        case -67 ... -23: "slightly left"
        case -112 ... -68: "left"
        case -157 ... -113: "sharply left"
        default: "back"
        }
    }
}
