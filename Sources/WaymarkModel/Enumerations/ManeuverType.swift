/// What kind of action the driver performs at a maneuver.
///
/// Raw values are those on the wire.
///
/// - Source: CPManeuverType, raw values 0 to 53.
public enum ManeuverType: WireEnumeration {
    /// No turn.
    case noTurn
    /// Left turn.
    case leftTurn
    /// Right turn.
    case rightTurn
    /// Straight ahead.
    case straightAhead
    /// U turn.
    case uTurn
    /// Follow road.
    case followRoad
    /// Enter roundabout.
    case enterRoundabout
    /// Exit roundabout.
    case exitRoundabout
    /// Off ramp.
    case offRamp
    /// On ramp.
    case onRamp
    /// Arrive end of navigation.
    case arriveEndOfNavigation
    /// Start route.
    case startRoute
    /// Arrive at destination.
    case arriveAtDestination
    /// Keep left.
    case keepLeft
    /// Keep right.
    case keepRight
    /// Enter ferry.
    case enterFerry
    /// Exit ferry.
    case exitFerry
    /// Change ferry.
    case changeFerry
    /// Start route with u turn.
    case startRouteWithUTurn
    /// U turn at roundabout.
    case uTurnAtRoundabout
    /// Left turn at end.
    case leftTurnAtEnd
    /// Right turn at end.
    case rightTurnAtEnd
    /// Highway off ramp left.
    case highwayOffRampLeft
    /// Highway off ramp right.
    case highwayOffRampRight
    /// Arrive at destination left.
    case arriveAtDestinationLeft
    /// Arrive at destination right.
    case arriveAtDestinationRight
    /// U turn when possible.
    case uTurnWhenPossible
    /// Arrive end of directions.
    case arriveEndOfDirections
    /// Roundabout exit 1.
    case roundaboutExit1
    /// Roundabout exit 2.
    case roundaboutExit2
    /// Roundabout exit 3.
    case roundaboutExit3
    /// Roundabout exit 4.
    case roundaboutExit4
    /// Roundabout exit 5.
    case roundaboutExit5
    /// Roundabout exit 6.
    case roundaboutExit6
    /// Roundabout exit 7.
    case roundaboutExit7
    /// Roundabout exit 8.
    case roundaboutExit8
    /// Roundabout exit 9.
    case roundaboutExit9
    /// Roundabout exit 1 0.
    case roundaboutExit10
    /// Roundabout exit 1 1.
    case roundaboutExit11
    /// Roundabout exit 1 2.
    case roundaboutExit12
    /// Roundabout exit 1 3.
    case roundaboutExit13
    /// Roundabout exit 1 4.
    case roundaboutExit14
    /// Roundabout exit 1 5.
    case roundaboutExit15
    /// Roundabout exit 1 6.
    case roundaboutExit16
    /// Roundabout exit 1 7.
    case roundaboutExit17
    /// Roundabout exit 1 8.
    case roundaboutExit18
    /// Roundabout exit 1 9.
    case roundaboutExit19
    /// Sharp left turn.
    case sharpLeftTurn
    /// Sharp right turn.
    case sharpRightTurn
    /// Slight left turn.
    case slightLeftTurn
    /// Slight right turn.
    case slightRightTurn
    /// Change highway.
    case changeHighway
    /// Change highway left.
    case changeHighwayLeft
    /// Change highway right.
    case changeHighwayRight
    /// A value that this build does not know; kept and forwarded.
    case unrecognized(UInt32)

    /// All values that this build knows, in the order of their raw values.
    public static let allKnown: [ManeuverType] = [
        .noTurn,
        .leftTurn,
        .rightTurn,
        .straightAhead,
        .uTurn,
        .followRoad,
        .enterRoundabout,
        .exitRoundabout,
        .offRamp,
        .onRamp,
        .arriveEndOfNavigation,
        .startRoute,
        .arriveAtDestination,
        .keepLeft,
        .keepRight,
        .enterFerry,
        .exitFerry,
        .changeFerry,
        .startRouteWithUTurn,
        .uTurnAtRoundabout,
        .leftTurnAtEnd,
        .rightTurnAtEnd,
        .highwayOffRampLeft,
        .highwayOffRampRight,
        .arriveAtDestinationLeft,
        .arriveAtDestinationRight,
        .uTurnWhenPossible,
        .arriveEndOfDirections,
        .roundaboutExit1,
        .roundaboutExit2,
        .roundaboutExit3,
        .roundaboutExit4,
        .roundaboutExit5,
        .roundaboutExit6,
        .roundaboutExit7,
        .roundaboutExit8,
        .roundaboutExit9,
        .roundaboutExit10,
        .roundaboutExit11,
        .roundaboutExit12,
        .roundaboutExit13,
        .roundaboutExit14,
        .roundaboutExit15,
        .roundaboutExit16,
        .roundaboutExit17,
        .roundaboutExit18,
        .roundaboutExit19,
        .sharpLeftTurn,
        .sharpRightTurn,
        .slightLeftTurn,
        .slightRightTurn,
        .changeHighway,
        .changeHighwayLeft,
        .changeHighwayRight,
    ]

    /// The value on the wire.
    public var rawValue: UInt32 {
        switch self {
        case .noTurn: 0
        case .leftTurn: 1
        case .rightTurn: 2
        case .straightAhead: 3
        case .uTurn: 4
        case .followRoad: 5
        case .enterRoundabout: 6
        case .exitRoundabout: 7
        case .offRamp: 8
        case .onRamp: 9
        case .arriveEndOfNavigation: 10
        case .startRoute: 11
        case .arriveAtDestination: 12
        case .keepLeft: 13
        case .keepRight: 14
        case .enterFerry: 15
        case .exitFerry: 16
        case .changeFerry: 17
        case .startRouteWithUTurn: 18
        case .uTurnAtRoundabout: 19
        case .leftTurnAtEnd: 20
        case .rightTurnAtEnd: 21
        case .highwayOffRampLeft: 22
        case .highwayOffRampRight: 23
        case .arriveAtDestinationLeft: 24
        case .arriveAtDestinationRight: 25
        case .uTurnWhenPossible: 26
        case .arriveEndOfDirections: 27
        case .roundaboutExit1: 28
        case .roundaboutExit2: 29
        case .roundaboutExit3: 30
        case .roundaboutExit4: 31
        case .roundaboutExit5: 32
        case .roundaboutExit6: 33
        case .roundaboutExit7: 34
        case .roundaboutExit8: 35
        case .roundaboutExit9: 36
        case .roundaboutExit10: 37
        case .roundaboutExit11: 38
        case .roundaboutExit12: 39
        case .roundaboutExit13: 40
        case .roundaboutExit14: 41
        case .roundaboutExit15: 42
        case .roundaboutExit16: 43
        case .roundaboutExit17: 44
        case .roundaboutExit18: 45
        case .roundaboutExit19: 46
        case .sharpLeftTurn: 47
        case .sharpRightTurn: 48
        case .slightLeftTurn: 49
        case .slightRightTurn: 50
        case .changeHighway: 51
        case .changeHighwayLeft: 52
        case .changeHighwayRight: 53
        case .unrecognized(let value): value
        }
    }

    /// Reads the value on the wire.
    public init(rawValue: UInt32) {
        switch rawValue {
        case 0: self = .noTurn
        case 1: self = .leftTurn
        case 2: self = .rightTurn
        case 3: self = .straightAhead
        case 4: self = .uTurn
        case 5: self = .followRoad
        case 6: self = .enterRoundabout
        case 7: self = .exitRoundabout
        case 8: self = .offRamp
        case 9: self = .onRamp
        case 10: self = .arriveEndOfNavigation
        case 11: self = .startRoute
        case 12: self = .arriveAtDestination
        case 13: self = .keepLeft
        case 14: self = .keepRight
        case 15: self = .enterFerry
        case 16: self = .exitFerry
        case 17: self = .changeFerry
        case 18: self = .startRouteWithUTurn
        case 19: self = .uTurnAtRoundabout
        case 20: self = .leftTurnAtEnd
        case 21: self = .rightTurnAtEnd
        case 22: self = .highwayOffRampLeft
        case 23: self = .highwayOffRampRight
        case 24: self = .arriveAtDestinationLeft
        case 25: self = .arriveAtDestinationRight
        case 26: self = .uTurnWhenPossible
        case 27: self = .arriveEndOfDirections
        case 28: self = .roundaboutExit1
        case 29: self = .roundaboutExit2
        case 30: self = .roundaboutExit3
        case 31: self = .roundaboutExit4
        case 32: self = .roundaboutExit5
        case 33: self = .roundaboutExit6
        case 34: self = .roundaboutExit7
        case 35: self = .roundaboutExit8
        case 36: self = .roundaboutExit9
        case 37: self = .roundaboutExit10
        case 38: self = .roundaboutExit11
        case 39: self = .roundaboutExit12
        case 40: self = .roundaboutExit13
        case 41: self = .roundaboutExit14
        case 42: self = .roundaboutExit15
        case 43: self = .roundaboutExit16
        case 44: self = .roundaboutExit17
        case 45: self = .roundaboutExit18
        case 46: self = .roundaboutExit19
        case 47: self = .sharpLeftTurn
        case 48: self = .sharpRightTurn
        case 49: self = .slightLeftTurn
        case 50: self = .slightRightTurn
        case 51: self = .changeHighway
        case 52: self = .changeHighwayLeft
        case 53: self = .changeHighwayRight
        default: self = .unrecognized(rawValue)
        }
    }
}
