import WaymarkModel

/// Cuts lines where they cross 180 degrees.
enum AntimeridianCut {
    /// The parts of `points` on either side; one if the line does not cross.
    static func parts(_ points: [Coordinate]) -> [[Coordinate]] {
        var parts: [[Coordinate]] = []
        var part: [Coordinate] = []
        for point in points {
            if let last = part.last, abs(point.longitude - last.longitude) > 180 {
                let side = last.longitude < 0 ? -180.0 : 180
                var crossing = Self.crossing(last, point, side: side)
                if !crossing.isAt(last) { part.append(crossing) }
                parts.append(part)
                crossing.longitude = -side
                part = crossing.isAt(point) ? [] : [crossing]
            }
            part.append(point)
        }
        // A part of one point is the end of the part beside it: a line that only touches 180 degrees.
        return (parts + [part]).filter { $0.count > 1 || points.count < 2 }
    }

    /// Where the line between two points meets the longitude `side`.
    private static func crossing(_ from: Coordinate, _ to: Coordinate, side: Double) -> Coordinate {
        let east = to.longitude + 2 * side - from.longitude
        let fraction = east == 0 ? 0 : min(1, max(0, (side - from.longitude) / east))
        var crossing = Coordinate(
            latitude: from.latitude + (to.latitude - from.latitude) * fraction, longitude: side)
        if let low = from.altitude, let high = to.altitude {
            crossing.altitude = low + (high - low) * fraction
        }
        return crossing
    }
}
