internal import HeapModule
internal import WaymarkModel

// Lines of route segments, for endpoints that store few points.
extension Profile {
    /// At most `countMax` of the points, in order, with the first and the last; 0 is no limit.
    ///
    /// Those stay that matter to the shape: again and again the point goes that makes the smallest triangle with its
    /// neighbours (Visvalingam and Whyatt, 1993). A line much longer than wanted is first cut into short runs of which
    /// one point each may stay.
    ///
    /// - Complexity: O(m + n log n) for m points; n is `countMax`, or ``candidatesMax`` if that is more.
    static func thin(_ line: [Coordinate], to countMax: Int) -> [Coordinate] {
        guard countMax > 0, line.count > countMax, let last = line.last else { return line }
        guard countMax > 2 else { return countMax == 1 ? [last] : [line[0], last] }
        let candidates = Self.candidates(in: line, max(countMax, Self.candidatesMax))
        return Self.withoutSmallTriangles(candidates, countMax)
    }

    /// The longest line whose points are all weighed against each other.
    ///
    /// Why: a published line may have 262 144 points, and thinning must not hold up everybody else.
    static let candidatesMax = 16_384

    /// Of each run of neighbouring points the one that sticks out most; `countMax` in all.
    private static func candidates(in line: [Coordinate], _ countMax: Int) -> [Coordinate] {
        guard line.count > countMax else { return line }
        var kept = [line[0]]
        let (inner, runs) = (line.count - 2, countMax - 2)
        for run in 0..<runs {
            let places = (1 + run * inner / runs)..<(1 + (run + 1) * inner / runs)
            let weights = places.map { Self.area(line[$0 - 1], line[$0], line[$0 + 1]) }
            let largest = zip(places, weights).max { $0.1 < $1.1 }
            kept.append(line[largest?.0 ?? places.lowerBound])
        }
        return kept + [line[line.count - 1]]
    }

    private struct Triangle: Comparable {
        var area: Double
        var place: Int
        /// The smaller one, of equal ones the earlier one, goes first: the same line is always thinned the same way.
        static func < (lhs: Triangle, rhs: Triangle) -> Bool {
            (lhs.area, lhs.place) < (rhs.area, rhs.place)
        }
    }

    private static func withoutSmallTriangles(_ line: [Coordinate], _ countMax: Int) -> [Coordinate] {
        var previous = Array(-1..<(line.count - 1))
        var next = Array(1..<(line.count + 1))
        /// The area that counts now; nil for points that are gone, and for the two ends.
        var areas: [Double?] = line.indices.map { place in
            place == 0 || place == line.count - 1
                ? nil : Self.area(line[place - 1], line[place], line[place + 1])
        }
        var heap = Heap(
            areas.enumerated().compactMap { place, area in area.map { Triangle(area: $0, place: place) } })
        var count = line.count
        while count > countMax, let smallest = heap.popMin() {
            guard areas[smallest.place] == smallest.area else { continue }  // It has changed since.
            let (before, behind) = (previous[smallest.place], next[smallest.place])
            areas[smallest.place] = nil
            (next[before], previous[behind]) = (behind, before)
            count -= 1
            for place in [before, behind] where areas[place] != nil {
                // Never less than what went before it, or a curve would go point by point.
                let area = max(
                    smallest.area, Self.area(line[previous[place]], line[place], line[next[place]]))
                guard area != areas[place] else { continue }
                areas[place] = area
                heap.insert(Triangle(area: area, place: place))
            }
        }
        return line.indices.filter { $0 == 0 || $0 == line.count - 1 || areas[$0] != nil }.map { line[$0] }
    }

    /// Twice the area of a triangle, in square degrees of latitude.
    private static func area(_ first: Coordinate, _ middle: Coordinate, _ last: Coordinate) -> Double {
        // A degree of longitude is shorter away from the equator: the cosine, by Bhaskara's formula.
        let square = middle.latitude * middle.latitude
        let width = (32_400 - 4 * square) / (32_400 + square)
        func longitude(_ point: Coordinate) -> Double {
            let degrees = point.longitude - middle.longitude
            return (degrees > 180 ? degrees - 360 : degrees < -180 ? degrees + 360 : degrees) * width
        }
        let (x1, y1) = (longitude(first), first.latitude - middle.latitude)
        let (x2, y2) = (longitude(last), last.latitude - middle.latitude)
        return abs(x1 * y2 - x2 * y1)
    }
}
