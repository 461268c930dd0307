import WaymarkModel

extension RouteDrawing {
    /// The route as GPX 1.1: a track with one segment per leg, and a waypoint per maneuver.
    ///
    /// A waypoint's name is the longest instruction, since a shorter one may be the road alone; its type the maneuver's.
    package var gpx: String {
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <gpx version="1.1" creator="Waymark" xmlns="http://www.topografix.com/GPX/1/1">

            """
        for place in self.places {
            text += Self.point("wpt", place.coordinate, Self.details(of: place.maneuver))
        }
        text += "<trk>\n"
        if let name { text += XMLText.element("name", name) + "\n" }
        for line in self.lines {
            text += "<trkseg>\n"
            for point in line.points { text += Self.point("trkpt", point, "") }
            text += "</trkseg>\n"
        }
        return text + "</trk>\n</gpx>\n"
    }

    private static func point(_ name: String, _ point: Coordinate, _ details: String) -> String {
        let altitude = point.altitude.map { XMLText.element("ele", DecimalText.text($0, digits: 1)) } ?? ""
        let position =
            "lat=\"\(DecimalText.text(point.latitude))\" lon=\"\(DecimalText.text(point.longitude))\""
        return "<\(name) \(position)>\(altitude)\(details)</\(name)>\n"
    }

    /// In the order that the schema wants.
    private static func details(of maneuver: Maneuver) -> String {
        XMLText.element("name", maneuver.instructionVariants.first ?? maneuver.type.name)
            + XMLText.element("type", maneuver.type.name)
    }
}

/// Texts of XML.
enum XMLText {
    /// An element with `text`, without the characters that XML 1.0 cannot hold.
    static func element(_ name: String, _ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x26: escaped += "&amp;"
            case 0x3C: escaped += "&lt;"
            case 0x3E: escaped += "&gt;"
            case 0x09, 0x0A, 0x0D, 0x20...0xD7FF, 0xE000...0xFFFD, 0x1_0000...0x10_FFFF:
                escaped.unicodeScalars.append(scalar)
            default: break
            }
        }
        return "<\(name)>\(escaped)</\(name)>"
    }
}
