// Made by scripts/generate/wire.sh from Protos. Do not edit.

/// The action that the driver takes at a maneuver.
///
/// Raw values are those on the wire.
///
/// - Source: CPManeuverType, raw values 0 ... 53.
public enum ManeuverType: WireEnumeration {
    /// Nothing to turn at.
    case noTurn
    /// Turn left, by 45 to 135 degrees.
    case leftTurn
    /// Turn right, by 45 to 135 degrees.
    case rightTurn
    /// Go straight ahead; the road's name changes.
    case straightAhead
    /// Make a U-turn and proceed to the route.
    case uTurn
    /// Follow the same road.
    case followRoad
    /// Enter a roundabout.
    case enterRoundabout
    /// Leave a roundabout; also by an exit above 19.
    case exitRoundabout
    /// Leave a road by a ramp.
    case offRamp
    /// Take a ramp onto a road.
    case onRamp
    /// Arrive where navigation is complete; the rest of the journey needs another means of transport.
    case arriveEndOfNavigation
    /// Proceed to the beginning of the route.
    case startRoute
    /// Arrive at the destination, or at a waypoint.
    case arriveAtDestination
    /// Keep left where the road divides.
    case keepLeft
    /// Keep right where the road divides.
    case keepRight
    /// Drive onto a ferry.
    case enterFerry
    /// Drive off a ferry.
    case exitFerry
    /// Change from one ferry to another.
    case changeFerry
    /// Proceed to the beginning of the route with a U-turn.
    case startRouteWithUTurn
    /// Make a U-turn by way of a roundabout.
    case uTurnAtRoundabout
    /// Turn left at the end of the road.
    case leftTurnAtEnd
    /// Turn right at the end of the road.
    case rightTurnAtEnd
    /// Leave the motorway on the left.
    case highwayOffRampLeft
    /// Leave the motorway on the right.
    case highwayOffRampRight
    /// Arrive; the destination is on the left.
    case arriveAtDestinationLeft
    /// Arrive; the destination is on the right.
    case arriveAtDestinationRight
    /// Make a U-turn when possible: the vehicle is off the route.
    case uTurnWhenPossible
    /// Arrive where the directions end and navigation is complete; the rest of the journey needs another
    /// means of transport.
    case arriveEndOfDirections
    /// Take exit 1 of a roundabout.
    case roundaboutExit1
    /// Take exit 2 of a roundabout.
    case roundaboutExit2
    /// Take exit 3 of a roundabout.
    case roundaboutExit3
    /// Take exit 4 of a roundabout.
    case roundaboutExit4
    /// Take exit 5 of a roundabout.
    case roundaboutExit5
    /// Take exit 6 of a roundabout.
    case roundaboutExit6
    /// Take exit 7 of a roundabout.
    case roundaboutExit7
    /// Take exit 8 of a roundabout.
    case roundaboutExit8
    /// Take exit 9 of a roundabout.
    case roundaboutExit9
    /// Take exit 10 of a roundabout.
    case roundaboutExit10
    /// Take exit 11 of a roundabout.
    case roundaboutExit11
    /// Take exit 12 of a roundabout.
    case roundaboutExit12
    /// Take exit 13 of a roundabout.
    case roundaboutExit13
    /// Take exit 14 of a roundabout.
    case roundaboutExit14
    /// Take exit 15 of a roundabout.
    case roundaboutExit15
    /// Take exit 16 of a roundabout.
    case roundaboutExit16
    /// Take exit 17 of a roundabout.
    case roundaboutExit17
    /// Take exit 18 of a roundabout.
    case roundaboutExit18
    /// Take exit 19 of a roundabout.
    case roundaboutExit19
    /// Turn sharp left, by 135 to 180 degrees.
    case sharpLeftTurn
    /// Turn sharp right, by 135 to 180 degrees.
    case sharpRightTurn
    /// Turn slightly left, by less than 45 degrees, onto a different road.
    case slightLeftTurn
    /// Turn slightly right, by less than 45 degrees, onto a different road.
    case slightRightTurn
    /// Change from one motorway to another.
    case changeHighway
    /// Change to another motorway on the left.
    case changeHighwayLeft
    /// Change to another motorway on the right.
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
