internal import Foundation
internal import WaymarkModel

/// Routes for other programs: GeoJSON (RFC 7946) and GPX 1.1.
package enum RouteExport {
    /// A feature collection: one line per segment, one point per maneuver. Lines across the antimeridian are not split.
    package static func geoJSON(_ route: EngineRoute) throws -> String {
        var features: [[String: Any]] = route.information.segments.map { segment in
            [
                "type": "Feature", "properties": ["kind": "segment", "id": segment.id],
                "geometry": ["type": "LineString", "coordinates": segment.coordinates.map(Self.position)],
            ]
        }
        for (maneuver, index) in zip(route.information.maneuvers, route.maneuverIndices) {
            features.append([
                "type": "Feature",
                "properties": [
                    "kind": "maneuver", "id": maneuver.id.rawValue, "type": "\(maneuver.type)",
                    "instruction": maneuver.instructionVariants.first ?? "",
                    "road": maneuver.roadFollowingManeuverVariants.first ?? "",
                ],
                "geometry": ["type": "Point", "coordinates": Self.position(route.line[index])],
            ])
        }
        let data = try JSONSerialization.data(
            withJSONObject: ["type": "FeatureCollection", "features": features],
            options: [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes])
        return String(decoding: data, as: UTF8.self) + "\n"
    }

    /// A track with one segment per route segment, and a waypoint per maneuver.
    package static func gpx(_ route: EngineRoute) -> String {
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <gpx version="1.1" creator="waymark" xmlns="http://www.topografix.com/GPX/1/1">

            """
        for (maneuver, index) in zip(route.information.maneuvers, route.maneuverIndices) {
            let name = Self.escaped(maneuver.instructionVariants.first ?? "\(maneuver.type)")
            text += "  <wpt \(Self.attributes(route.line[index]))><name>\(name)</name>"
            text += "<type>\(maneuver.type)</type></wpt>\n"
        }
        text += "  <trk>\n"
        for segment in route.information.segments {
            text += "    <trkseg>\n"
            for point in segment.coordinates { text += "      <trkpt \(Self.attributes(point))/>\n" }
            text += "    </trkseg>\n"
        }
        return text + "  </trk>\n</gpx>\n"
    }

    private static func position(_ coordinate: Coordinate) -> [Double] {
        [coordinate.longitude, coordinate.latitude]
    }

    private static func attributes(_ coordinate: Coordinate) -> String {
        "lat=\"\(coordinate.latitude)\" lon=\"\(coordinate.longitude)\""
    }

    /// Text that may stand in XML: control characters have no place there.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default:
                if scalar.value >= 0x20 || scalar == "\n" || scalar == "\t" {
                    escaped.unicodeScalars.append(scalar)
                }
            }
        }
        return escaped
    }
}
