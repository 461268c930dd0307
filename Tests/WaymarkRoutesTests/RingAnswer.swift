import Foundation
import Testing
import WaymarkModel
import WaymarkRoutes

/// Makes answers with roundabouts in the forms of all four engines. Their lines show on which side each roundabout is driven.
///
/// OSRM and Valhalla have a maneuver where a roundabout is left; Mapbox has a banner with its angle instead, GraphHopper the angle alone.
enum RingAnswer: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case osrm, mapbox, valhalla, graphhopper

    /// A roundabout with a radius of 15 m.
    struct Ring: Sendable {
        let side: TrafficSide
        /// The angle that is driven around it, in degrees: 180 is straight on.
        var degrees = 180
        /// The straight road before it, in meters.
        var approach = 200
    }

    private enum Kind { case start, enter(Ring), leave, end }

    private struct Maneuver {
        let kind: Kind
        let start: Int
        let end: Int
    }

    var testDescription: String { self.rawValue }

    /// Whether the engine says on which side traffic drives.
    var statesSide: Bool { self == .osrm || self == .mapbox }
    var hasLeavingManeuver: Bool { self == .osrm || self == .valhalla }

    /// An answer of an engine that says that traffic drives on `side`, if it says that at all.
    func answer(_ rings: [Ring], stating side: TrafficSide?) -> [UInt8] {
        let (line, maneuvers) = self.route(rings)
        let text =
            switch self {
            case .osrm, .mapbox: self.osrm(line, maneuvers, side)
            case .valhalla: Self.valhalla(line, maneuvers)
            case .graphhopper: Self.graphHopper(line, maneuvers)
            }
        return Array(text.utf8)
    }

    private func route(_ rings: [Ring]) -> (line: [Coordinate], maneuvers: [Maneuver]) {
        var line = [Coordinate(latitude: 47.2, longitude: 9.6)]
        var starts: [(Kind, Int)] = [(.start, 0)]
        var heading = 0.0
        func drive(_ meters: Int) {
            for _ in 0..<meters / 50 { line.append(line[line.count - 1].moved(meters: 50, bearing: heading)) }
        }
        for ring in rings {
            drive(ring.approach)
            starts.append((.enter(ring), line.count - 1))
            let center = line[line.count - 1].moved(meters: 15, bearing: heading)
            let clockwise = ring.side == .left ? 1.0 : -1
            for degrees in stride(from: 20, through: ring.degrees, by: 20) {
                line.append(center.moved(meters: 15, bearing: heading + 180 + clockwise * Double(degrees)))
            }
            heading += 180 + clockwise * Double(ring.degrees)
            if self.hasLeavingManeuver { starts.append((.leave, line.count - 1)) }
        }
        drive(200)
        starts.append((.end, line.count - 1))
        let ends = starts.dropFirst().map(\.1) + [line.count - 1]
        return (line, zip(starts, ends).map { Maneuver(kind: $0.0, start: $0.1, end: $1) })
    }

    private static func positions(_ line: ArraySlice<Coordinate>) -> String {
        let texts = line.map { "[\($0.longitude),\($0.latitude)]" }
        return "{\"type\":\"LineString\",\"coordinates\":[\(texts.joined(separator: ","))]}"
    }

    private func osrm(_ line: [Coordinate], _ maneuvers: [Maneuver], _ side: TrafficSide?) -> String {
        let stated = side.map { ",\"driving_side\":\"\($0 == .left ? "left" : "right")\"" } ?? ""
        let steps = maneuvers.indices.map { index in
            let maneuver = maneuvers[index]
            let words =
                switch maneuver.kind {
                case .start: "\"type\":\"depart\""
                case .enter: "\"type\":\"roundabout\",\"exit\":2"
                case .leave: "\"type\":\"exit roundabout\",\"exit\":2"
                case .end: "\"type\":\"arrive\""
                }
            var banner = ""
            if self == .mapbox, index + 1 < maneuvers.count, case .enter(let ring) = maneuvers[index + 1].kind
            {
                banner = """
                    ,"bannerInstructions":[{"primary":{"type":"roundabout","degrees":\(ring.degrees)\(stated)}}]
                    """
            }
            let points =
                maneuver.end > maneuver.start
                ? line[maneuver.start...maneuver.end] : [line[maneuver.start], line[maneuver.start]]
            return """
                {"maneuver":{\(words),"location":[\(line[maneuver.start].longitude),\(line[maneuver.start].latitude)]},
                "mode":"driving","geometry":\(Self.positions(points))\(stated)\(banner)}
                """
        }
        return "{\"code\":\"Ok\",\"routes\":[{\"legs\":[{\"steps\":[\(steps.joined(separator: ","))]}]}]}"
    }

    private static func valhalla(_ line: [Coordinate], _ maneuvers: [Maneuver]) -> String {
        let texts = maneuvers.map { maneuver in
            let words =
                switch maneuver.kind {
                case .start: "\"type\":1"
                case .enter: "\"type\":26,\"roundabout_exit_count\":2"
                case .leave: "\"type\":27"
                case .end: "\"type\":4"
                }
            return "{\(words),\"begin_shape_index\":\(maneuver.start),\"end_shape_index\":\(maneuver.end)}"
        }
        let shape = HostileRouteTests.text(.string(Polyline.encode(line, .six)))
        return "{\"trip\":{\"legs\":[{\"shape\":\(shape),\"maneuvers\":[\(texts.joined(separator: ","))]}]}}"
    }

    /// Clockwise positive.
    private static func radians(_ ring: Ring) -> Double {
        Double(ring.side == .left ? ring.degrees : -ring.degrees) * .pi / 180
    }

    private static func graphHopper(_ line: [Coordinate], _ maneuvers: [Maneuver]) -> String {
        let texts = maneuvers.map { maneuver in
            let words =
                switch maneuver.kind {
                case .start, .leave: "\"sign\":0"
                case .enter(let ring):
                    "\"sign\":6,\"exit_number\":2,\"exited\":true,\"turn_angle\":\(Self.radians(ring))"
                case .end: "\"sign\":4"
                }
            return "{\(words),\"interval\":[\(maneuver.start),\(maneuver.end)]}"
        }
        return """
            {"paths":[{"points_encoded":false,"points":\(Self.positions(line[...])),
            "instructions":[\(texts.joined(separator: ","))]}]}
            """
    }
}
