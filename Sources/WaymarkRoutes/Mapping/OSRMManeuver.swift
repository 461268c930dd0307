package import WaymarkModel

/// A maneuver in OSRM's terms, which Mapbox Directions and Valhalla's OSRM form share.
///
/// - Source: Docs/routes.md, "OSRM and Mapbox".
package struct OSRMManeuver: Sendable, Hashable {
    /// `maneuver.type`. Its value is the name in the answer.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case turn, `continue`, fork, merge, roundabout, rotary, depart, arrive, notification
        case newName = "new name"
        case endOfRoad = "end of road"
        case onRamp = "on ramp"
        case offRamp = "off ramp"
        case roundaboutTurn = "roundabout turn"
        case exitRoundabout = "exit roundabout"
        case exitRotary = "exit rotary"
        case useLane = "use lane"

        /// Reads a name in any of the engines' spellings; nil for an unknown one.
        package init?(name: String) {
            let words = name.lowercased().split { $0 == " " || $0 == "_" || $0 == "-" }.joined(separator: " ")
            switch words {
            case "endofroad": self = .endOfRoad
            case "ramp": self = .onRamp
            default: self.init(rawValue: words)
            }
        }

        /// Whether it enters, leaves or is within a roundabout.
        package var isAtRoundabout: Bool {
            switch self {
            case .roundabout, .rotary, .roundaboutTurn, .exitRoundabout, .exitRotary: true
            case .turn, .continue, .fork, .merge, .depart, .arrive, .notification, .newName, .endOfRoad,
                .onRamp,
                .offRamp, .useLane:
                false
            }
        }

        /// Whether it enters a roundabout whose exit is a separate maneuver or has a number.
        package var entersRoundabout: Bool { self == .roundabout || self == .rotary }

        /// Whether it leaves a roundabout.
        package var leavesRoundabout: Bool { self == .exitRoundabout || self == .exitRotary }
    }

    /// Properties of the roads before and after the maneuver on which its type depends.
    package struct Roads: Sendable, Hashable {
        /// The travel mode changes to, from or between ferries.
        package enum Ferry: Sendable, Hashable { case none, enter, leave, change }

        package var ferry: Ferry
        /// Both are motorways, and their references differ.
        package var isChangeOfMotorway: Bool

        package init(ferry: Ferry = .none, isChangeOfMotorway: Bool = false) {
            self.ferry = ferry
            self.isChangeOfMotorway = isChangeOfMotorway
        }
    }

    /// Nil for a name that is not known.
    package var kind: Kind?
    /// Nil where the engine gives none.
    package var direction: TurnDirection?
    /// The exit to take, from 1; nil where the engine gives none.
    package var exit: UInt8?
    package var roads: Roads

    package init(kind: Kind?, direction: TurnDirection?, exit: UInt8? = nil, roads: Roads = Roads()) {
        self.kind = kind
        self.direction = direction
        self.exit = exit
        self.roads = roads
    }

    /// CarPlay's type for the maneuver. Unknown kinds become turns.
    package var type: ManeuverType {
        switch self.kind {
        case .depart: return self.direction == .uTurn ? .startRouteWithUTurn : .startRoute
        case .arrive:
            return self.direction?.choose(
                left: .arriveAtDestinationLeft, middle: .arriveAtDestination, right: .arriveAtDestinationRight
            )
                ?? .arriveAtDestination
        default: break
        }
        switch self.roads.ferry {
        case .enter: return .enterFerry
        case .leave: return .exitFerry
        case .change: return .changeFerry
        case .none: return self.typeOnRoad
        }
    }

    private var typeOnRoad: ManeuverType {
        guard let kind = self.kind else { return self.direction?.turn ?? .noTurn }
        switch kind {
        case .turn: return self.direction?.turn ?? .noTurn
        case .continue: return self.direction == .straight ? .followRoad : self.direction?.turn ?? .followRoad
        case .newName: return self.bend
        case .endOfRoad:
            guard self.direction?.side != .middle else { return self.direction?.turn ?? .noTurn }
            return self.choose(left: .leftTurnAtEnd, middle: .noTurn, right: .rightTurnAtEnd)
        case .fork: return self.branch(straight: .straightAhead)
        case .merge: return self.branch(straight: .followRoad)
        case .onRamp: return .onRamp
        case .offRamp:
            return self.choose(left: .highwayOffRampLeft, middle: .offRamp, right: .highwayOffRampRight)
        case .roundabout, .rotary: return self.roundabout
        case .roundaboutTurn:
            return self.direction == .uTurn ? .uTurnAtRoundabout : self.direction?.turn ?? self.roundabout
        case .exitRoundabout, .exitRotary: return .exitRoundabout
        case .useLane: return .followRoad
        case .notification:
            return self.direction == .uTurn
                ? .uTurn : self.choose(left: .keepLeft, middle: .followRoad, right: .keepRight)
        case .depart: return .startRoute
        case .arrive: return .arriveAtDestination
        }
    }

    /// A road that continues under another name.
    private var bend: ManeuverType {
        switch self.direction {
        case .slightLeft, .straight, .slightRight, nil: .straightAhead
        case .some(let direction): direction.turn
        }
    }

    private func branch(straight: ManeuverType) -> ManeuverType {
        if self.direction == .uTurn { return .uTurn }
        if self.roads.isChangeOfMotorway {
            return self.choose(
                left: .changeHighwayLeft, middle: .changeHighway, right: .changeHighwayRight)
        }
        guard self.direction != nil else { return .followRoad }
        return self.choose(left: .keepLeft, middle: straight, right: .keepRight)
    }

    private var roundabout: ManeuverType {
        if self.direction == .uTurn { return .uTurnAtRoundabout }
        guard let exit = self.exit else { return .enterRoundabout }
        return .roundaboutExit(exit) ?? .exitRoundabout
    }

    private func choose(left: ManeuverType, middle: ManeuverType, right: ManeuverType) -> ManeuverType {
        self.direction?.choose(left: left, middle: middle, right: right) ?? middle
    }
}
