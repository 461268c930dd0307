package import WaymarkModel

/// The directions at a maneuver: what the engine says, compared with the line and the roads of the intersection. The line decides.
///
/// Engines and the programs between them send bearings of 0 for "unknown", those of another point, or none. A bearing that no part of
/// the line near the maneuver has is replaced: by that of the intersection's road, if the line agrees, otherwise by the line's.
package struct ManeuverDirections: Sendable, Hashable {
    /// Stated bearings of good answers differ from the line by at most 50 degrees: engines look along the roads, not along the line.
    private static let toleranceDegrees = 60.0
    /// A direction that a type states, such as a right turn, may differ from the line by so much, in degrees.
    private static let turnToleranceDegrees = 110.0

    /// The bearings that an engine states; nil for those that it does not.
    package struct Stated: Sendable, Hashable {
        package var before: Double?
        package var after: Double?

        package init(before: Double? = nil, after: Double? = nil) {
            self.before = before
            self.after = after
        }
    }

    /// The roads of an intersection as bearings seen from its middle.
    package struct Roads: Sendable, Hashable {
        package var bearings: [Double?]
        /// The road on which the vehicle comes: index into ``bearings``; nil if the engine does not say.
        package var entry: Int?
        /// The road on which it leaves: index into ``bearings``; nil if the engine does not say.
        package var exit: Int?

        package init(bearings: [Double?] = [], entry: Int? = nil, exit: Int? = nil) {
            self.bearings = bearings
            self.entry = entry
            self.exit = exit
        }
    }

    /// Exit relative to entry; nil if one of both is unknown.
    package let angle: Angle?
    /// The other roads relative to the entry, without entry and exit.
    package let elements: [Angle]
    /// Whether a stated bearing contradicts the line and was replaced.
    package let isCorrected: Bool

    /// Compares `stated` with the line.
    ///
    /// - Parameters:
    ///   - stated: The engine's bearings before and after the maneuver.
    ///   - line: The line's directions there.
    ///   - roads: Those of the intersection at which the maneuver is.
    package init(_ stated: Stated, line: LineDirections, roads: Roads = Roads()) {
        let entry = roads.entry.flatMap { roads.bearings.indices.contains($0) ? roads.bearings[$0] : nil }
        let exit = roads.exit.flatMap { roads.bearings.indices.contains($0) ? roads.bearings[$0] : nil }
        let before = Self.direction(stated.before, line.into, line.before, road: entry.map { $0 + 180 })
        let after = Self.direction(stated.after, line.outOf, line.after, road: exit)
        self.isCorrected = before.isCorrected || after.isCorrected
        self.angle = Self.angle(from: before.degrees, to: after.degrees)
        guard let degrees = before.degrees else {
            self.elements = []
            return
        }
        self.elements = roads.bearings.enumerated().compactMap { index, road in
            guard let road, index != roads.entry, index != roads.exit else { return nil }
            return Angle.degrees(rounding: road - degrees)
        }
    }

    private static func direction(
        _ stated: Double?, _ line: [Double], _ measured: Double?, road: Double?
    ) -> (degrees: Double?, isCorrected: Bool) {
        guard let measured else { return (stated ?? road, false) }
        let agrees = { (bearing: Double) in
            line.contains { self.difference($0, bearing) <= self.toleranceDegrees }
        }
        if let stated, agrees(stated) { return (stated, false) }
        return (road.flatMap { agrees($0) ? $0 : nil } ?? measured, stated != nil)
    }

    /// The angle between two bearings; nil when one is missing.
    package static func angle(from before: Double?, to after: Double?) -> Angle? {
        guard let before, let after else { return nil }
        return .degrees(rounding: after - before)
    }

    /// The angle between two directions, 0 ... 180.
    package static func difference(_ one: Double, _ other: Double) -> Double {
        abs((one - other).remainder(dividingBy: 360))
    }

    /// Whether the line turns at `angle` where a maneuver of `type` turns elsewhere; true of types without a direction.
    package static func agrees(_ type: ManeuverType, with angle: Angle?) -> Bool {
        guard let angle, let stated = type.turnDegrees else { return true }
        return self.difference(stated, Double(angle.degrees)) <= self.turnToleranceDegrees
    }
}

extension ManeuverType {
    /// The middle of the directions that the type is for, in degrees; nil for types that say nothing of a direction.
    fileprivate var turnDegrees: Double? {
        switch self {
        case .leftTurn, .leftTurnAtEnd: -90
        case .rightTurn, .rightTurnAtEnd: 90
        case .sharpLeftTurn: -150
        case .sharpRightTurn: 150
        case .slightLeftTurn: -30
        case .slightRightTurn: 30
        case .straightAhead: 0
        case .uTurn: 180
        default: nil
        }
    }
}
