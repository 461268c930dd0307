import Foundation
import WaymarkModel
import WaymarkRoutes

/// Generates small answers in the engines' forms, for cases that the recorded ones lack.
enum Sketch {
    /// One step of OSRM's form, 111 m each. The line leaves it in the direction after the maneuver, and reaches the next one in the
    /// direction before that.
    struct Step {
        var type: String? = "turn"
        var modifier: String?
        var exit: String?
        var mode = "driving"
        var name = ""
        var bearings: (before: Int, after: Int)? = (0, Step.asTurned)
        /// Further members of the step, of its maneuver, and of its first intersection, as JSON after a comma.
        var more = ""
        var maneuver = ""
        var intersection = ""

        /// In place of a bearing: that of a turn's modifier, otherwise 0.
        static let asTurned = -1
        private static let turns = [
            "sharp left": 210, "left": 270, "slight left": 330, "slight right": 30, "right": 90,
            "sharp right": 150,
        ]

        /// The bearings in the answer; nil for none.
        var directions: (before: Int, after: Int)? {
            guard let bearings, bearings.after == Self.asTurned else { return self.bearings }
            let isTurn = self.type == "turn" || self.type == nil
            return (bearings.before, isTurn ? self.modifier.flatMap { Self.turns[$0] } ?? 0 : 0)
        }
    }

    static func osrm(_ legs: [[Step]]) -> [UInt8] {
        var place = Coordinate(latitude: 0, longitude: 9)
        let legTexts = legs.map { steps in
            let texts = steps.indices.map { index in
                var points = [place]
                if steps[index].type != "arrive" {
                    let after = Double(steps[index].directions?.after ?? 0)
                    let next = index + 1 < steps.count ? steps[index + 1].directions?.before : nil
                    points += self.bend(from: place, after, next.map(Double.init) ?? after)
                } else {
                    points.append(place)
                }
                place = points[points.count - 1]
                return Self.text(steps[index], points)
            }
            let meters = 111 * steps.count { $0.type != "arrive" }
            return "{\"steps\":[\(texts.joined(separator: ","))],\"distance\":\(meters),\"duration\":10}"
        }
        return Array("{\"code\":\"Ok\",\"routes\":[{\"legs\":[\(legTexts.joined(separator: ","))]}]}".utf8)
    }

    /// 80 m in one direction, then 31 m in another.
    private static func bend(from place: Coordinate, _ first: Double, _ second: Double) -> [Coordinate] {
        let middle = place.moved(meters: 80, bearing: first)
        return [middle, middle.moved(meters: 31, bearing: second)]
    }

    private static func position(_ point: Coordinate) -> String { "[\(point.longitude),\(point.latitude)]" }

    private static func text(_ step: Step, _ points: [Coordinate]) -> String {
        var maneuver = ["\"location\":\(Self.position(points[0]))"]
        if let type = step.type { maneuver.append("\"type\":\"\(type)\"") }
        if let modifier = step.modifier { maneuver.append("\"modifier\":\"\(modifier)\"") }
        if let exit = step.exit { maneuver.append("\"exit\":\(exit)") }
        if let bearings = step.directions {
            maneuver.append("\"bearing_before\":\(bearings.before),\"bearing_after\":\(bearings.after)")
        }
        return """
            {"maneuver":{\(maneuver.joined(separator: ","))\(step.maneuver)},"mode":"\(step.mode)",
            "name":"\(step.name)","distance":\(step.type == "arrive" ? 0 : 111),"duration":10,
            "geometry":{"type":"LineString","coordinates":[\(points.map(Self.position).joined(separator: ","))]},
            "intersections":[{"location":\(Self.position(points[0]))\(step.intersection)}]\(step.more)}
            """
    }

    /// The maneuvers between a departure and an arrival, and all notices.
    static func read(_ steps: [Step]) throws(RouteReadingError) -> (maneuvers: [Maneuver], route: EngineRoute)
    {
        let all = [Step(type: "depart")] + steps + [Step(type: "arrive")]
        let route = try RouteReader.read(self.osrm([all])).routes[0]
        return (Array(route.information.maneuvers.dropFirst().dropLast()), route)
    }

    /// Maneuvers of Valhalla's form, on a line that follows their bearings, otherwise to the north.
    static func valhalla(_ maneuvers: [String], more: String = "") -> [UInt8] {
        var line = [Coordinate(latitude: 0, longitude: 9)]
        for index in maneuvers.indices.dropLast() {
            let after = Self.number("bearing_after", in: maneuvers[index]) ?? 0
            let next = Self.number("bearing_before", in: maneuvers[index + 1]) ?? after
            line += self.bend(from: line[line.count - 1], after, next)
        }
        let shape = HostileRouteTests.text(.string(Polyline.encode(line, .six)))
        let texts = maneuvers.enumerated().map {
            "{\"begin_shape_index\":\(2 * $0),\"time\":5,\"length\":0.1,\($1)}"
        }
        return Array(
            "{\"trip\":{\"legs\":[{\"shape\":\(shape),\"maneuvers\":[\(texts.joined(separator: ","))]}]\(more)}}"
                .utf8)
    }

    private static func number(_ member: String, in text: String) -> Double? {
        guard let start = text.range(of: "\"\(member)\":")?.upperBound else { return nil }
        return Double(text[start...].prefix { $0.isNumber })
    }
}

extension EngineRoute {
    /// Whether a notice contains `words`.
    func reports(_ words: String) -> Bool { self.notices.contains { $0.reason.contains(words) } }
}
