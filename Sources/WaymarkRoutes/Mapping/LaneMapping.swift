package import WaymarkModel

/// The arrows of one lane, as engines encode them.
package enum LaneArrows {
    /// The direction of an OSRM or Mapbox indication; nil in `direction` for `none`. Nil for an unknown word.
    package static func direction(indication: String) -> TurnDirection?? {
        switch indication.lowercased() {
        case "none", "": .some(nil)
        case "merge to left": .slightLeft
        case "merge to right": .slightRight
        case let word: TurnDirection(rawValue: word).map { .some($0) }
        }
    }

    /// Valhalla's bits in the order of its documentation; 1 is a lane without arrows.
    ///
    /// - Source: Valhalla's `baldr/turnlanes.h`.
    package static let valhallaBits: [(bit: Int, direction: TurnDirection)] = [
        (2, .straight), (4, .sharpLeft), (8, .left), (16, .slightLeft), (32, .slightRight), (64, .right),
        (128, .sharpRight), (256, .uTurn), (512, .slightLeft), (1_024, .slightRight),
    ]

    /// All bits that have a meaning.
    package static let valhallaMask = 2_047

    /// The directions of a Valhalla bit mask.
    package static func directions(mask: Int) -> [TurnDirection] {
        self.valhallaBits.filter { mask & $0.bit != 0 }.map(\.direction)
    }
}

extension Lane {
    /// A lane with the arrows `directions`.
    ///
    /// - Parameters:
    ///   - directions: As painted; repeated ones count once.
    ///   - taken: The arrow to follow; nil if the engine does not say.
    ///   - maneuver: The direction of the maneuver that the lane leads to, for when `taken` is nil.
    ///   - angle: The maneuver's angle on the line; nil if unknown.
    ///   - status: Whether to use the lane. Only a usable lane has a highlighted angle.
    package init(
        directions: [TurnDirection], taken: TurnDirection?, maneuver: TurnDirection?, angle: Angle? = nil,
        status: LaneStatus
    ) {
        var angles: [Angle] = []
        for direction in directions where !angles.contains(direction.laneAngle) {
            angles.append(direction.laneAngle)
        }
        var highlighted: Angle?
        if status != .notGood, !angles.isEmpty {
            highlighted =
                taken.flatMap { taken in angles.first { $0 == taken.laneAngle } }
                ?? Self.nearest(
                    to: [(maneuver ?? .straight).laneAngle, angle].compactMap(\.self), among: angles)
        }
        self.init(angles: angles.sorted(), highlightedAngle: highlighted, status: status)
    }

    /// An arrow that differs from the maneuver by more than this, in degrees, leads elsewhere.
    private static let gapMax: Int16 = 45

    /// The arrow nearest to one of the maneuver's `directions`, of which the first is the engine's; nil if every arrow leads
    /// elsewhere.
    private static func nearest(to directions: [Angle], among angles: [Angle]) -> Angle? {
        for direction in directions {
            let nearest = angles.min { self.gap($0, direction) < self.gap($1, direction) }
            if let nearest, self.gap(nearest, direction) <= self.gapMax { return nearest }
        }
        return nil
    }

    private static func gap(_ lhs: Angle, _ rhs: Angle) -> Int16 {
        abs(Angle.degrees(Int(lhs.degrees) - Int(rhs.degrees)).degrees)
    }
}
