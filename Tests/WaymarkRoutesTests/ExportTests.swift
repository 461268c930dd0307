import Foundation
import FoundationXML
import Testing
import WaymarkModel
import WaymarkRoutes

@Suite struct ExportTests {
    @Test(arguments: RouteFile.readable)
    func `GeoJSON is valid and whole`(_ file: RouteFile) throws {
        let route = try file.answer().routes[0]
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(route.geoJSON.utf8)) as? [String: Any])
        #expect(json["type"] as? String == "FeatureCollection")
        let features = try #require(json["features"] as? [[String: Any]])
        #expect(features.count == route.information.segments.count + route.information.maneuvers.count)
        for (feature, maneuver) in zip(
            features.dropFirst(route.information.segments.count), route.information.maneuvers)
        {
            let properties = try #require(feature["properties"] as? [String: Any])
            #expect(properties["type"] as? String == maneuver.type.name)
            #expect(properties["instruction"] as? String == maneuver.instructionVariants.first)
        }
        for feature in features.prefix(route.information.segments.count) {
            let geometry = try #require(feature["geometry"] as? [String: Any])
            #expect(try #require(geometry["coordinates"] as? [[Double]]).count >= 2)
        }
    }

    @Test(arguments: RouteFile.readable)
    func `GPX is well formed and whole`(_ file: RouteFile) throws {
        let route = try file.answer().routes[0]
        let counter = ElementCounter()
        let parser = XMLParser(data: Data(route.gpx.utf8))
        parser.delegate = counter
        #expect(parser.parse())
        #expect(counter.firstName == route.information.maneuvers[0].instructionVariants[0])
        #expect(counter.counts["trkseg"] == route.information.segments.count)
        #expect(counter.counts["wpt"] == route.information.maneuvers.count)
        #expect(counter.counts["trkpt"] == route.line.count + route.information.segments.count - 1)
    }

    @Test func `control characters are escaped`() throws {
        var route = try #require(RouteFile.shipped.first).answer().routes[0]
        let words = "</name>&<\"'\\\n\u{1}\u{FFFE}🚗 Straße"
        route.information.maneuvers[0].instructionVariants = [words]
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(route.geoJSON.utf8)) as? [String: Any])
        let features = try #require(json["features"] as? [[String: Any]])
        let properties = try #require(features[1]["properties"] as? [String: Any])
        #expect(properties["instruction"] as? String == words)
        let counter = ElementCounter()
        let parser = XMLParser(data: Data(route.gpx.utf8))
        parser.delegate = counter
        #expect(parser.parse())
        #expect(counter.firstName == "</name>&<\"'\\\n🚗 Straße")
    }

    /// Counts elements and keeps the first name.
    private final class ElementCounter: NSObject, XMLParserDelegate {
        var counts: [String: Int] = [:]
        var firstName: String?
        private var text = ""

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            self.counts[name, default: 0] += 1
            self.text = ""
        }

        func parser(_ parser: XMLParser, foundCharacters string: String) { self.text += string }

        func parser(
            _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
        ) {
            if name == "name", self.firstName == nil { self.firstName = self.text }
        }
    }
}
