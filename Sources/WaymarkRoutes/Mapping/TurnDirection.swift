package import WaymarkModel

/// The direction of a maneuver or lane arrow: the modifiers of OSRM and Mapbox.
package enum TurnDirection: String, Sendable, Hashable, CaseIterable {
    case uTurn = "uturn"
    case sharpLeft = "sharp left"
    case left
    case slightLeft = "slight left"
    case straight
    case slightRight = "slight right"
    case right
    case sharpRight = "sharp right"

    /// The direction of leaving a junction at `angle`: within 15° straight, to 45° slight, to 135° a turn, to 170°
    /// sharp, beyond that a U-turn.
    package init(_ angle: Angle) {
        let isLeft = angle.degrees < 0
        switch abs(Int(angle.degrees)) {
        case ...15: self = .straight
        case ..<45: self = isLeft ? .slightLeft : .slightRight
        case ..<135: self = isLeft ? .left : .right
        case ..<170: self = isLeft ? .sharpLeft : .sharpRight
        default: self = .uTurn
        }
    }

    /// The side it is on.
    package enum Side: Sendable, Hashable { case left, middle, right }

    package var side: Side {
        switch self {
        case .sharpLeft, .left, .slightLeft: .left
        case .uTurn, .straight: .middle
        case .slightRight, .right, .sharpRight: .right
        }
    }

    /// The angle of a lane's arrow.
    ///
    /// Slight is 30° and sharp is 150°, in the middle of the receivers' ranges: at 45° and 135° the ranges of CarPlay and of
    /// Android for Cars meet, and an arrow could be shown as another one. A U-turn is -180° for both traffic sides, since +180° is
    /// the same direction.
    package var laneAngle: Angle {
        switch self {
        case .uTurn: .degrees(-180)
        case .sharpLeft: .degrees(-150)
        case .left: .degrees(-90)
        case .slightLeft: .degrees(-30)
        case .straight: .degrees(0)
        case .slightRight: .degrees(30)
        case .right: .degrees(90)
        case .sharpRight: .degrees(150)
        }
    }

    /// A turn at an ordinary junction.
    package var turn: ManeuverType {
        switch self {
        case .uTurn: .uTurn
        case .sharpLeft: .sharpLeftTurn
        case .left: .leftTurn
        case .slightLeft: .slightLeftTurn
        case .straight: .straightAhead
        case .slightRight: .slightRightTurn
        case .right: .rightTurn
        case .sharpRight: .sharpRightTurn
        }
    }

    /// Left or right of the road's middle, or `middle`.
    package func choose(left: ManeuverType, middle: ManeuverType, right: ManeuverType) -> ManeuverType {
        switch self.side {
        case .left: left
        case .middle: middle
        case .right: right
        }
    }
}
