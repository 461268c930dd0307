import WaymarkModel

extension RouteDrawing {
    /// The route as KML 2.2: a line per segment, and a place per maneuver, whose name is the longest instruction. A line that crosses 180
    /// degrees is cut there.
    package var kml: String {
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <kml xmlns="http://www.opengis.net/kml/2.2">
            <Document>

            """
        if let name { text += XMLText.element("name", name) + "\n" }
        for line in self.lines {
            let parts = AntimeridianCut.parts(self.positions(line)).map { part in
                let points = part.map(Self.tuple).joined(separator: " ")
                return
                    "<LineString><tessellate>1</tessellate><coordinates>\(points)</coordinates></LineString>"
            }
            let lines = parts.joined()
            text += "<Placemark>\(XMLText.element("name", line.segment))"
            text += parts.count > 1 ? "<MultiGeometry>\(lines)</MultiGeometry>" : lines
            text += "</Placemark>\n"
        }
        for place in self.places {
            let name = place.maneuver.instructionVariants.first ?? place.maneuver.type.name
            text += "<Placemark>\(XMLText.element("name", name))"
            text += "<Point><coordinates>\(Self.tuple(place.coordinate))</coordinates></Point></Placemark>\n"
        }
        return text + "</Document>\n</kml>\n"
    }

    private static func tuple(_ point: Coordinate) -> String {
        let altitude = point.altitude.map { "," + DecimalText.text($0, digits: 1) } ?? ""
        return DecimalText.text(point.longitude) + "," + DecimalText.text(point.latitude) + altitude
    }
}
