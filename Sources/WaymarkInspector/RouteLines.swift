internal import WaymarkModel
internal import WaymarkRoutes

/// Places along the lines of a route that are derived: of maneuvers, and of the vehicle.
struct RouteLines: Sendable {
    struct Place: Sendable {
        let coordinate: Coordinate
        let segment: String
    }

    private struct Line: Sendable {
        let segment: RouteSegment
        let measure: LineMeasure
    }

    private let lines: [Line]
    /// Each segment has a line: distances along the route are known.
    private let isWhole: Bool

    init(_ segments: [RouteSegment]) {
        self.isWhole = segments.allSatisfy { $0.coordinates.count > 1 }
        self.lines = segments.filter { $0.coordinates.count > 1 }.map { segment in
            let speeds = [Double](repeating: 1, count: segment.coordinates.count - 1)
            return Line(segment: segment, measure: LineMeasure(line: segment.coordinates, speeds: speeds))
        }
    }

    /// Metres; nil if there is no line.
    var length: Double? {
        self.lines.isEmpty ? nil : self.lines.reduce(0) { $0 + $1.measure.length }
    }

    /// Metres; nil without a line.
    func length(of segment: String) -> Double? {
        self.lines.first { $0.segment.id == segment }?.measure.length
    }

    /// Where the vehicle is, if so much of the route is left; nil unless each segment has a line.
    func position(metersLeft: Double) -> Place? {
        guard let length, self.isWhole else { return nil }
        return self.place(at: length - metersLeft)
    }

    private func place(at meters: Double) -> Place? {
        var rest = max(0, meters)
        for line in self.lines {
            if rest <= line.measure.length || line.segment.id == self.lines.last?.segment.id {
                let point = line.measure.point(
                    at: min(rest, line.measure.length), on: line.segment.coordinates)
                return Place(coordinate: point, segment: line.segment.id)
            }
            rest -= line.measure.length
        }
        return nil
    }

    /// Where maneuvers are: each as far behind the one before as its initial estimates say, and the last of a segment at its end.
    func places(of maneuvers: [Maneuver]) -> [ManeuverID: Place] {
        let known = Dictionary(maneuvers.map { ($0.id, $0) }) { $1 }
        var places: [ManeuverID: Place] = [:]
        for line in self.lines {
            var meters = 0.0
            for (index, id) in line.segment.maneuvers.enumerated() {
                guard let maneuver = known[id] else { continue }
                if let estimates = maneuver.initialTravelEstimates {
                    meters += Double(estimates.distanceRemaining.meters)
                } else if index + 1 == line.segment.maneuvers.count {
                    meters = line.measure.length
                } else if index > 0 {
                    break  // Nothing tells where it and those behind it are.
                }
                let point = line.measure.point(
                    at: min(meters, line.measure.length), on: line.segment.coordinates)
                places[id] = Place(coordinate: point, segment: line.segment.id)
            }
        }
        return places
    }
}
