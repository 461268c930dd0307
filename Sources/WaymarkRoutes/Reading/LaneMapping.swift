internal import WaymarkModel

/// Lanes of OSRM and Mapbox (indications) and of Valhalla (bits).
enum LaneMapping {
    /// The angle of an indication; nil for `none` and those that are not known.
    static func angle(_ indication: String, _ side: TrafficSide) -> Angle? {
        switch indication {
        case "straight": .degrees(0)
        case "slight left", "merge to left", "merge left": .degrees(-45)
        case "slight right", "merge to right", "merge right": .degrees(45)
        case "left": .degrees(-90)
        case "right": .degrees(90)
        case "sharp left": .degrees(-135)
        case "sharp right": .degrees(135)
        // Towards the middle of the road; +180 is the same angle as -180.
        case "uturn": .degrees(side == .left ? 179 : -180)
        default: nil
        }
    }

    /// Valhalla's bits, lowest first.
    static let bits: [(mask: Int, indication: String)] = [
        (2, "straight"), (4, "sharp left"), (8, "left"), (16, "slight left"), (32, "slight right"),
        (64, "right"),
        (128, "sharp right"), (256, "uturn"), (512, "merge to left"), (1_024, "merge to right"),
    ]

    static func lane(_ lane: JSONValue, _ side: TrafficSide) -> Lane {
        let indications = lane["indications"].array?.compactMap(\.text) ?? []
        let isValid = lane["valid"].bool ?? false
        let isActive = lane["active"].bool ?? false
        let valid = lane["valid_indication"].text ?? (indications.count == 1 ? indications[0] : nil)
        return self.lane(
            indications, highlighted: valid, status: isActive ? .preferred : isValid ? .good : .notGood, side)
    }

    static func valhallaLane(_ lane: JSONValue, _ side: TrafficSide) -> Lane {
        let mask = lane["directions"].integer ?? 0
        let (valid, active) = (lane["valid"].integer ?? 0, lane["active"].integer ?? 0)
        let indications = self.bits.filter { mask & $0.mask != 0 }.map(\.indication)
        let taken = self.bits.first { (active != 0 ? active : valid) & $0.mask != 0 }?.indication
        return self.lane(
            indications, highlighted: taken, status: active != 0 ? .preferred : valid != 0 ? .good : .notGood,
            side)
    }

    private static func lane(
        _ indications: [String], highlighted: String?, status: LaneStatus, _ side: TrafficSide
    ) -> Lane {
        let angles = Set(indications.compactMap { self.angle($0, side) }).sorted()
        var lane = Lane(angles: angles, status: status)
        if status != .notGood, let angle = highlighted.flatMap({ self.angle($0, side) }),
            angles.contains(angle)
        {
            lane.highlightedAngle = angle
        }
        return lane
    }
}
