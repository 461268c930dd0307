import WaymarkModel
import WaymarkRoutes

/// Generates small answers in the engines' forms, for cases that the recorded ones lack.
enum Sketch {
    /// One step of OSRM's form, 100 m to the north each.
    struct Step {
        var type: String? = "turn"
        var modifier: String?
        var exit: String?
        var mode = "driving"
        var name = ""
        var bearings: (before: Int, after: Int)? = (0, 0)
        /// Further members of the step, of its maneuver, and of its first intersection, as JSON after a comma.
        var more = ""
        var maneuver = ""
        var intersection = ""
    }

    static func osrm(_ legs: [[Step]]) -> [UInt8] {
        var latitude = 0.0
        let legTexts = legs.map { steps in
            let texts = steps.map { step in
                let (start, end) = (latitude, latitude + (step.type == "arrive" ? 0 : 0.001))
                latitude = end
                return Self.text(step, from: start, to: end)
            }
            return "{\"steps\":[\(texts.joined(separator: ","))],\"distance\":100,\"duration\":10}"
        }
        return Array("{\"code\":\"Ok\",\"routes\":[{\"legs\":[\(legTexts.joined(separator: ","))]}]}".utf8)
    }

    private static func text(_ step: Step, from start: Double, to end: Double) -> String {
        var maneuver = ["\"location\":[9,\(start)]"]
        if let type = step.type { maneuver.append("\"type\":\"\(type)\"") }
        if let modifier = step.modifier { maneuver.append("\"modifier\":\"\(modifier)\"") }
        if let exit = step.exit { maneuver.append("\"exit\":\(exit)") }
        if let bearings = step.bearings {
            maneuver.append("\"bearing_before\":\(bearings.before),\"bearing_after\":\(bearings.after)")
        }
        return """
            {"maneuver":{\(maneuver.joined(separator: ","))\(step.maneuver)},"mode":"\(step.mode)",
            "name":"\(step.name)","distance":111,"duration":10,
            "geometry":{"type":"LineString","coordinates":[[9,\(start)],[9,\(end)]]},
            "intersections":[{"location":[9,\(start)]\(step.intersection)}]\(step.more)}
            """
    }

    /// The maneuvers between a departure and an arrival, and all notices.
    static func read(_ steps: [Step]) throws(RouteReadingError) -> (maneuvers: [Maneuver], route: EngineRoute)
    {
        let all = [Step(type: "depart")] + steps + [Step(type: "arrive")]
        let route = try RouteReader.read(self.osrm([all])).routes[0]
        return (Array(route.information.maneuvers.dropFirst().dropLast()), route)
    }

    /// One maneuver of Valhalla's form after a start, on a line to the north.
    static func valhalla(_ maneuvers: [String], more: String = "") -> [UInt8] {
        let line = (0...20).map { Coordinate(latitude: Double($0) / 1_000, longitude: 9) }
        let shape = HostileRouteTests.text(.string(Polyline.encode(line, .six)))
        let texts = maneuvers.enumerated().map {
            "{\"begin_shape_index\":\($0),\"time\":5,\"length\":0.1,\($1)}"
        }
        return Array(
            "{\"trip\":{\"legs\":[{\"shape\":\(shape),\"maneuvers\":[\(texts.joined(separator: ","))]}]\(more)}}"
                .utf8)
    }
}

extension EngineRoute {
    /// Whether a notice contains `words`.
    func reports(_ words: String) -> Bool { self.notices.contains { $0.reason.contains(words) } }
}
