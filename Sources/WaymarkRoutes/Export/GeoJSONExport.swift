import Foundation
import WaymarkModel

extension EngineRoute {
    /// The route as a GeoJSON feature collection (RFC 7946): a line per leg, then a point per maneuver.
    ///
    /// A line has the properties `segment`, `distance_meters` and `duration_seconds`, a point has `id`, `type`,
    /// `instruction`, `road`, `exit` and `roundabout_exit` as far as they are known. Positions have six decimals.
    package var geoJSON: String {
        let lines = self.segmentRanges.enumerated().map { index, range in
            self.lineFeature(self.information.segments[index], range)
        }
        let points = self.information.maneuvers.enumerated().map { index, maneuver in
            self.pointFeature(maneuver, at: self.line[self.maneuverIndices[index]])
        }
        let features = (lines + points).joined(separator: ",\n")
        return "{\"type\":\"FeatureCollection\",\"features\":[\n\(features)\n]}\n"
    }

    /// Where in the line each segment is.
    package var segmentRanges: [ClosedRange<Int>] {
        zip(self.segmentIndices, self.segmentIndices.dropFirst() + [self.line.count - 1]).map { $0...$1 }
    }

    private func lineFeature(_ segment: RouteSegment, _ range: ClosedRange<Int>) -> String {
        let measure = LineMeasure(
            line: Array(self.line[range]),
            speeds: Array(self.lineSpeeds[range.lowerBound..<max(range.lowerBound, range.upperBound)]))
        // Why: a line has at least two positions, also where the leg has no length.
        let points = range.count > 1 ? self.line[range] : self.line[range] + self.line[range]
        let positions = points.map(Self.position).joined(separator: ",")
        let properties = [
            "\"segment\":\(JSONText.quoted(segment.id))",
            "\"distance_meters\":\(Int(measure.length.rounded()))",
            "\"duration_seconds\":\(Int(measure.duration.rounded()))",
        ]
        return Self.feature("LineString", "[\(positions)]", properties)
    }

    private func pointFeature(_ maneuver: Maneuver, at point: Coordinate) -> String {
        var properties = [
            "\"id\":\(maneuver.id.rawValue)", "\"type\":\(JSONText.quoted(maneuver.type.name))",
        ]
        if let instruction = maneuver.instructionVariants.first {
            properties.append("\"instruction\":\(JSONText.quoted(instruction))")
        }
        if let road = maneuver.roadFollowingManeuverVariants.first {
            properties.append("\"road\":\(JSONText.quoted(road))")
        }
        if !maneuver.highwayExitLabel.isEmpty {
            properties.append("\"exit\":\(JSONText.quoted(maneuver.highwayExitLabel))")
        }
        if let exit = maneuver.roundaboutExitNumber { properties.append("\"roundabout_exit\":\(exit)") }
        return Self.feature("Point", Self.position(point), properties)
    }

    private static func feature(_ kind: String, _ coordinates: String, _ properties: [String]) -> String {
        "{\"type\":\"Feature\",\"geometry\":{\"type\":\"\(kind)\",\"coordinates\":\(coordinates)},"
            + "\"properties\":{\(properties.joined(separator: ","))}}"
    }

    private static func position(_ point: Coordinate) -> String {
        let altitude = point.altitude.map { ",\(DecimalText.text($0, digits: 1))" } ?? ""
        return "[\(DecimalText.text(point.longitude)),\(DecimalText.text(point.latitude))\(altitude)]"
    }
}

/// Numbers with a fixed number of decimals, whatever the locale.
enum DecimalText {
    static func text(_ value: Double, digits: Int = 6) -> String { String(format: "%.\(digits)f", value) }
}

/// Strings of a JSON text.
enum JSONText {
    /// `text` in quotes, with what JSON does not allow in them escaped.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case ..<" ": quoted += String(format: "\\u%04x", scalar.value)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
