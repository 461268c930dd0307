package import WaymarkModel

/// The signs of GraphHopper's instructions.
///
/// - Source: `com.graphhopper.util.Instruction`; Docs/routes.md, "GraphHopper".
package enum GraphHopperManeuver: Int, Sendable, Hashable, CaseIterable {
    case unknown = -99
    case uTurnUnknown = -98
    case uTurnLeft = -8
    case keepLeft = -7
    case leaveRoundabout = -6
    case sharpLeft = -3
    case left = -2
    case slightLeft = -1
    case `continue` = 0
    case slightRight = 1
    case right = 2
    case sharpRight = 3
    case finish = 4
    case reachedVia = 5
    case useRoundabout = 6
    case keepRight = 7
    case uTurnRight = 8
    case ferry = 9

    /// CarPlay's type for the maneuver.
    ///
    /// - Parameters:
    ///   - exit: `exit_number`, from 1; nil for none.
    ///   - isFirst: The route or a leg of it begins here.
    ///   - leavesFerry: The maneuver before entered a ferry.
    /// - Returns: `noTurn` for an unknown sign only.
    package func type(exit: UInt8?, isFirst: Bool, leavesFerry: Bool = false) -> ManeuverType {
        switch self {
        case .finish, .reachedVia: return .arriveAtDestination
        case .ferry: return leavesFerry ? .changeFerry : .enterFerry
        default: return leavesFerry ? .exitFerry : self.type(exit: exit, isFirst: isFirst)
        }
    }

    private func type(exit: UInt8?, isFirst: Bool) -> ManeuverType {
        switch self {
        case .unknown: .noTurn
        case .uTurnUnknown, .uTurnLeft, .uTurnRight: isFirst ? .startRouteWithUTurn : .uTurn
        case .keepLeft: .keepLeft
        case .leaveRoundabout: .exitRoundabout
        case .sharpLeft: .sharpLeftTurn
        case .left: .leftTurn
        case .slightLeft: .slightLeftTurn
        case .continue: isFirst ? .startRoute : .followRoad
        case .slightRight: .slightRightTurn
        case .right: .rightTurn
        case .sharpRight: .sharpRightTurn
        case .finish, .reachedVia: .arriveAtDestination
        case .useRoundabout: exit.map { .roundaboutExit($0) ?? .exitRoundabout } ?? .enterRoundabout
        case .keepRight: .keepRight
        case .ferry: .enterFerry
        }
    }
}
