package import WaymarkModel

/// The directions of a line at one of its points.
package struct LineDirections: Sendable, Hashable {
    /// Distances from the point, in metres, over which a direction is measured: engines differ in how far they look.
    private static let distances = [0.5, 5, 10, 20, 40, 60]

    /// Directions in which the line reaches the point, over the shortest distance first; empty at the line's start.
    package let into: [Double]
    /// Directions in which the line leaves the point, over the shortest distance first; empty at the line's end.
    package let outOf: [Double]

    /// Measures `points` at `index`, and after it at `end` if the maneuver takes a piece of the line, such as the ring of a roundabout.
    package init(_ points: [Coordinate], at index: Int, leavingAt end: Int? = nil) {
        self.into = Self.directions(points, from: index, step: -1)
        self.outOf = Self.directions(points, from: max(index, end ?? index), step: 1)
    }

    /// Known directions.
    package init(into: [Double], outOf: [Double]) {
        self.into = into
        self.outOf = outOf
    }

    /// The direction in which the line reaches the point; nil at its start.
    package var before: Double? { self.representative(self.into) }
    /// The direction in which the line leaves the point; nil at its end.
    package var after: Double? { self.representative(self.outOf) }

    /// The direction over 10 m: shorter pieces of a line are inexact, and farther away the road has other bends.
    private func representative(_ directions: [Double]) -> Double? {
        directions.count > 2 ? directions[2] : directions.last
    }

    private static func directions(_ points: [Coordinate], from index: Int, step: Int) -> [Double] {
        guard points.indices.contains(index) else { return [] }
        let place = points[index]
        var directions: [Double] = []
        var next = index
        var driven = 0.0
        var wanted = Self.distances[...]
        while let distance = wanted.first, points.indices.contains(next + step) {
            let length = points[next].meters(to: points[next + step])
            if driven + length < distance {
                driven += length
                next += step
                continue
            }
            let mark = points[next].interpolated(
                to: points[next + step], fraction: min(1, max(0, (distance - driven) / length)))
            directions.append(step > 0 ? place.bearing(to: mark) : mark.bearing(to: place))
            wanted.removeFirst()
        }
        // A line that ends before that has one direction more, that of its end.
        if !wanted.isEmpty, next != index, place.meters(to: points[next]) > 0.05 {
            directions.append(
                step > 0 ? place.bearing(to: points[next]) : points[next].bearing(to: place))
        }
        return directions
    }
}

/// The part of a line on which a roundabout is driven.
package struct RingArc: Sendable, Hashable {
    /// Pieces of a line that are longer than this, in metres, are no part of a ring.
    private static let pieceMetersMax = 60.0
    /// A turn against the direction of the ring by more than this, in degrees, leaves the ring.
    private static let leavingDegrees = 20.0

    /// The direction of a ring is known after this angle, in degrees.
    private static let ringDegrees = 30.0

    /// The points of the line at which the ring is entered and left.
    package let range: ClosedRange<Int>
    /// Degrees turned between both, clockwise positive, without the turns at entering and leaving.
    package let turned: Double
    /// Whether the line shows where the ring is left.
    package let isEndCertain: Bool

    /// The arc between two points.
    package init?(_ points: [Coordinate], _ range: ClosedRange<Int>) {
        guard range.upperBound < points.count, range.lowerBound >= 0 else { return nil }
        self.range = range
        self.turned = Self.turns(points, range).reduce(0) { $0 + $1.degrees }
        self.isEndCertain = true
    }

    /// The arc that begins at `index`. Its end is where the line becomes straight, or turns against the ring's direction; at the
    /// latest at `end`.
    ///
    /// Nil if the line has no arc there.
    package init?(_ points: [Coordinate], from index: Int, notAfter end: Int) {
        let end = min(end, points.count - 1)
        guard index >= 0, index < end else { return nil }
        var last = end
        for point in index..<end where points[point].meters(to: points[point + 1]) > Self.pieceMetersMax {
            last = point
            break
        }
        guard last > index else { return nil }
        let turns = Self.turns(points, index...last)
        var turned = 0.0
        var direction = 0.0
        /// The farthest that the line has turned around, and the point behind it.
        var farthest = (degrees: 0.0, end: last)
        for turn in turns {
            if farthest.end == last, direction != 0 { farthest.end = turn.point }
            turned += turn.degrees
            if direction == 0, abs(turned) > Self.ringDegrees { direction = turned < 0 ? -1 : 1 }
            guard direction != 0 else { continue }
            if turned * direction > farthest.degrees { farthest = (turned * direction, last) }
            if farthest.degrees - turned * direction > Self.leavingDegrees {
                self.range = index...farthest.end
                self.turned = farthest.degrees * direction
                self.isEndCertain = true
                return
            }
        }
        self.range = index...last
        self.turned = turned
        self.isEndCertain = last < end
    }

    /// The traffic side if the arc is at least `degrees` long: left-hand traffic drives clockwise around a roundabout.
    package func side(degrees: Double) -> TrafficSide? {
        abs(self.turned) > degrees ? (self.turned > 0 ? .left : .right) : nil
    }

    private static func turns(
        _ points: [Coordinate], _ range: ClosedRange<Int>
    ) -> [(point: Int, degrees: Double)] {
        var turns: [(point: Int, degrees: Double)] = []
        var last: Double?
        for point in range.lowerBound..<range.upperBound where !points[point].isAt(points[point + 1]) {
            let bearing = points[point].bearing(to: points[point + 1])
            if let last {
                turns.append((point, (bearing - last + 540).truncatingRemainder(dividingBy: 360) - 180))
            }
            last = bearing
        }
        return turns
    }
}
