package import WaymarkModel

/// The maneuver types of Valhalla's own JSON, with its numbers.
///
/// - Source: `DirectionsLeg_Maneuver_Type` in Valhalla's proto/directions.proto; Docs/routes.md, "Valhalla".
package enum ValhallaManeuver: Int, Sendable, Hashable, CaseIterable {
    case none, start, startRight, startLeft, destination, destinationRight, destinationLeft, becomes,
        `continue`
    case slightRight, right, sharpRight, uTurnRight, uTurnLeft, sharpLeft, left, slightLeft
    case rampStraight, rampRight, rampLeft, exitRight, exitLeft, stayStraight, stayRight, stayLeft, merge
    case roundaboutEnter, roundaboutExit, ferryEnter, ferryExit
    case transit, transitTransfer, transitRemainOn, transitConnectionStart, transitConnectionTransfer
    case transitConnectionDestination, postTransitConnectionDestination
    case mergeRight, mergeLeft, elevatorEnter, stepsEnter, escalatorEnter, buildingEnter, buildingExit,
        levelChange
    case parkVehicle

    /// CarPlay's type for the maneuver.
    ///
    /// - Parameters:
    ///   - exit: `roundabout_exit_count`, from 1; nil for none.
    ///   - leavesMotorway: The road before is a motorway, the road after is not.
    ///   - leavesFerry: The maneuver before entered a ferry.
    /// - Returns: `noTurn` for a maneuver that is not on a road.
    package func type(exit: UInt8?, leavesMotorway: Bool, leavesFerry: Bool) -> ManeuverType {
        switch self {
        case .start, .startRight, .startLeft: .startRoute
        case .destination: .arriveAtDestination
        case .destinationRight: .arriveAtDestinationRight
        case .destinationLeft: .arriveAtDestinationLeft
        case .becomes: .straightAhead
        case .continue, .merge: .followRoad
        case .slightRight: .slightRightTurn
        case .right: .rightTurn
        case .sharpRight: .sharpRightTurn
        case .uTurnRight, .uTurnLeft: .uTurn
        case .sharpLeft: .sharpLeftTurn
        case .left: .leftTurn
        case .slightLeft: .slightLeftTurn
        case .rampStraight: leavesMotorway ? .offRamp : .onRamp
        case .rampRight, .rampLeft: .onRamp
        case .exitRight: .highwayOffRampRight
        case .exitLeft: .highwayOffRampLeft
        case .stayStraight: .straightAhead
        case .stayRight, .mergeRight: .keepRight
        case .stayLeft, .mergeLeft: .keepLeft
        case .roundaboutEnter: exit.map { .roundaboutExit($0) ?? .exitRoundabout } ?? .enterRoundabout
        case .roundaboutExit: .exitRoundabout
        case .ferryEnter: leavesFerry ? .changeFerry : .enterFerry
        case .ferryExit: .exitFerry
        case .transit, .transitConnectionStart, .parkVehicle: .arriveEndOfNavigation
        case .none, .transitTransfer, .transitRemainOn, .transitConnectionTransfer,
            .transitConnectionDestination,
            .postTransitConnectionDestination, .elevatorEnter, .stepsEnter, .escalatorEnter, .buildingEnter,
            .buildingExit, .levelChange:
            .noTurn
        }
    }

    /// Whether it ends a leg.
    package var isArrival: Bool {
        self == .destination || self == .destinationRight || self == .destinationLeft
    }

    /// Whether it begins a leg.
    package var isStart: Bool { self == .start || self == .startRight || self == .startLeft }

    /// Whether it is for pedestrians or public transport; CarPlay has no types for these.
    package var isOffRoad: Bool {
        self.rawValue >= Self.transit.rawValue && self != .mergeRight && self != .mergeLeft
            && self != .parkVehicle
    }
}
