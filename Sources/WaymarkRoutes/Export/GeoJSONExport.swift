import Foundation
import WaymarkModel

extension RouteDrawing {
    /// The route as a GeoJSON feature collection (RFC 7946): a line per leg, then a point per maneuver.
    ///
    /// A leg that crosses 180 degrees is cut there, into a line of several parts (section 3.1.9).
    ///
    /// A line has the properties `segment`, `distance_meters` and `duration_seconds`, a point has `id`, `type`,
    /// `instruction`, `road`, `exit` and `roundabout_exit` as far as they are known. Positions have six decimals.
    package var geoJSON: String {
        let features = self.lines.map(self.lineFeature) + self.places.map(self.pointFeature)
        return "{\"type\":\"FeatureCollection\",\"features\":[\n\(features.joined(separator: ",\n"))\n]}\n"
    }

    private func lineFeature(_ line: Line) -> String {
        let parts = AntimeridianCut.parts(self.positions(line)).map { part in
            "[\(part.map(Self.position).joined(separator: ","))]"
        }
        var properties = [
            "\"segment\":\(JSONText.quoted(line.segment))", "\"distance_meters\":\(line.meters)",
        ]
        if let seconds = line.seconds { properties.append("\"duration_seconds\":\(seconds)") }
        return parts.count == 1
            ? Self.feature("LineString", parts[0], properties)
            : Self.feature("MultiLineString", "[\(parts.joined(separator: ","))]", properties)
    }

    private func pointFeature(_ place: Place) -> String {
        let maneuver = place.maneuver
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
        return Self.feature("Point", Self.position(place.coordinate), properties)
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
