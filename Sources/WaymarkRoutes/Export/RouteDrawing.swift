package import WaymarkModel

/// A route to be written for programs that draw maps.
package struct RouteDrawing: Sendable, Hashable {
    /// One segment.
    package struct Line: Sendable, Hashable {
        package let segment: String
        /// At least one.
        package let points: [Coordinate]
        package let meters: Int
        /// nil: not known.
        package let seconds: Int?

        package init(segment: String, points: [Coordinate], meters: Int, seconds: Int? = nil) {
            (self.segment, self.points, self.meters, self.seconds) = (segment, points, meters, seconds)
        }
    }

    /// A maneuver, and where it is.
    package struct Place: Sendable, Hashable {
        package let maneuver: Maneuver
        package let coordinate: Coordinate

        package init(_ maneuver: Maneuver, at coordinate: Coordinate) {
            (self.maneuver, self.coordinate) = (maneuver, coordinate)
        }
    }

    /// nil for none.
    package let name: String?
    package let lines: [Line]
    package let places: [Place]

    package init(name: String?, lines: [Line], places: [Place]) {
        (self.name, self.lines, self.places) = (name, lines, places)
    }

    /// A part of a line has two positions at least, also where the leg has no length.
    func positions(_ line: Line) -> [Coordinate] {
        line.points.count > 1 ? line.points : line.points + line.points
    }
}

extension EngineRoute {
    /// Its lines and maneuvers.
    private var drawing: RouteDrawing {
        let lines = self.segmentRanges.enumerated().map { index, range in
            let points = Array(self.line[range])
            let speeds = Array(self.lineSpeeds[range.lowerBound..<max(range.lowerBound, range.upperBound)])
            let measure = LineMeasure(line: points, speeds: speeds)
            return RouteDrawing.Line(
                segment: self.information.segments[index].id, points: points,
                meters: Int(measure.length.rounded()), seconds: Int(measure.duration.rounded()))
        }
        let places = self.information.maneuvers.enumerated().map { index, maneuver in
            RouteDrawing.Place(maneuver, at: self.line[self.maneuverIndices[index]])
        }
        return RouteDrawing(name: self.summaryVariants.first, lines: lines, places: places)
    }

    /// Where in the line each segment is.
    package var segmentRanges: [ClosedRange<Int>] {
        zip(self.segmentIndices, self.segmentIndices.dropFirst() + [self.line.count - 1]).map { $0...$1 }
    }

    /// The route as GPX 1.1, see ``RouteDrawing/gpx``.
    package var gpx: String { self.drawing.gpx }

    /// The route as GeoJSON, see ``RouteDrawing/geoJSON``.
    package var geoJSON: String { self.drawing.geoJSON }
}
