package import WaymarkModel

// The meanings that the CarPlay guide gives the types of maneuvers: Docs/routes.md, "All engines".
extension ManeuverType {
    /// The degrees to the other side up to which a turn of an engine is still one to its own side.
    private static let otherSideMax = 60
    /// The degrees from which on left and right are one direction.
    private static let backMin = 170

    /// The type of a turn that leaves the junction at `angle`: slight below 45 degrees, sharp above 135 degrees.
    ///
    /// - Parameter angle: Nil if it is not known.
    /// - Returns: The type itself if it is no turn, and if the angle leads to the other side.
    package func turning(by angle: Angle?) -> ManeuverType {
        guard let angle, let isLeft = self.turnsLeft else { return self }
        let degrees = isLeft ? -Int(angle.degrees) : Int(angle.degrees)
        switch degrees {
        case ...(-Self.backMin), 136...: return isLeft ? .sharpLeftTurn : .sharpRightTurn
        case 45...135: return isLeft ? .leftTurn : .rightTurn
        case (-Self.otherSideMax)..<45: return isLeft ? .slightLeftTurn : .slightRightTurn
        default: return self
        }
    }

    /// The type of a maneuver that leads straight on: the road's name changes at `straightAhead`, and stays at `followRoad`.
    ///
    /// - Parameters:
    ///   - before: The names of the road before it, the preferred one first; empty if they are not known.
    ///   - after: Those of the road after it.
    /// - Returns: The type itself if it does not lead straight on, and if one of the roads has no name.
    package func leading(from before: [String], to after: [String]) -> ManeuverType {
        guard self == .straightAhead || self == .followRoad, let before = before.first,
            let after = after.first
        else { return self }
        return before == after ? .followRoad : .straightAhead
    }

    /// Whether it turns left, and not right; nil for a type that has no range of angles.
    private var turnsLeft: Bool? {
        switch self {
        case .leftTurn, .sharpLeftTurn, .slightLeftTurn: true
        case .rightTurn, .sharpRightTurn, .slightRightTurn: false
        default: nil
        }
    }
}
