import Foundation
import Testing
import WaymarkModel
import WaymarkRoutes

/// Makes answers of one route in the forms of all four engines, so that the same fault can be tried in each.
///
/// The route leads 300 m to the north, 600 m to the east, and 350 m to the north, in pieces of 50 m.
enum FaultyAnswer: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case osrm, mapbox, valhalla, graphhopper

    var testDescription: String { self.rawValue }

    static let line: [Coordinate] = {
        var line = [Coordinate(latitude: 47.2, longitude: 9.6)]
        for (bearing, pieces) in [(0.0, 6), (90, 12), (0, 7)] {
            for _ in 0..<pieces { line.append(line[line.count - 1].moved(meters: 50, bearing: bearing)) }
        }
        return line.map {
            // As a polyline of five digits has them, with altitudes.
            Coordinate(
                latitude: ($0.latitude * 1e5).rounded() / 1e5,
                longitude: ($0.longitude * 1e5).rounded() / 1e5,
                altitude: 440)
        }
    }()

    /// The indices of the turns.
    static let turns = [0, 6, 18, 25]
    static let meters = [300.0, 600, 350]

    /// A line with one point moved, so that its polyline has one backslash, before a `b`: with a lost backslash, JSON reads both as a
    /// control character.
    static func lineWithBackslash(unitsPerDegree units: Double) -> [Coordinate] {
        var line = Self.line
        // A difference of -15 is written as a backslash, and one of -18 as `b@`.
        line[12].latitude = ((line[11].latitude * units).rounded() - 15) / units
        line[12].longitude = ((line[11].longitude * units).rounded() - 18) / units
        return line
    }

    /// What is wrong in an answer.
    struct Fault: Sendable {
        var line = FaultyAnswer.line
        var unitsPerDegree: Double?
        var dimensions = 2
        /// How often backslashes are doubled; 0: they are lost.
        var backslashes = 1
        /// Bearings that are stated, in place of the right ones.
        var bearings: [Double?]?
        /// Where the answer says that the destination is.
        var destination = FaultyAnswer.line[25]
        /// A second route without content.
        var hasBrokenAlternative = false
    }

    /// The precision that the engine's answers usually have.
    var unitsPerDegree: Double { self == .valhalla || self == .mapbox ? 1e6 : 1e5 }

    func answer(_ fault: Fault = Fault()) -> [UInt8] {
        let text: String
        switch self {
        case .osrm, .mapbox: text = self.osrm(fault)
        case .valhalla: text = self.valhalla(fault)
        case .graphhopper: text = self.graphHopper(fault)
        }
        return Array(text.utf8)
    }

    // MARK: Polylines

    /// `points` as a JSON string.
    private func polyline(_ points: ArraySlice<Coordinate>, _ fault: Fault) -> String {
        let units = fault.unitsPerDegree ?? self.unitsPerDegree
        var last = [0, 0, 0]
        var text = ""
        for point in points {
            let values = [
                Int((point.latitude * units).rounded()), Int((point.longitude * units).rounded()),
                Int((point.altitude ?? 0) * 100),
            ]
            for axis in 0..<fault.dimensions {
                Self.append(values[axis] - last[axis], to: &text)
                last[axis] = values[axis]
            }
        }
        var escaped = text
        for _ in 0..<fault.backslashes { escaped = escaped.replacing("\\", with: "\\\\") }
        // A backslash that is not escaped becomes a control character, where its letter makes one.
        return "\"\(escaped)\""
    }

    private static func append(_ value: Int, to text: inout String) {
        var rest = UInt(bitPattern: (value << 1) ^ (value >> 63))
        while rest >= 0x20 {
            text.unicodeScalars.append(Unicode.Scalar(UInt8(rest & 0x1F | 0x20) + 63))
            rest >>= 5
        }
        text.unicodeScalars.append(Unicode.Scalar(UInt8(rest) + 63))
    }

    // MARK: Forms

    private func bearing(_ fault: Fault, _ index: Int, before: Bool) -> String {
        let right: [Double?] = before ? [nil, 0, 90, 0] : [0, 90, 0, nil]
        let stated = fault.bearings.map { $0[index % $0.count] } ?? right[index]
        return stated.map { "\"bearing_\(before ? "before" : "after")\":\($0)," } ?? ""
    }

    private static func position(_ point: Coordinate) -> String { "[\(point.longitude),\(point.latitude)]" }

    private func osrm(_ fault: Fault) -> String {
        let line = fault.line
        let types = ["depart", "turn", "turn", "arrive"]
        let modifiers = ["straight", "right", "left", "straight"]
        let steps = types.indices.map { index in
            let start = Self.turns[index]
            let end = index < 3 ? Self.turns[index + 1] : start
            let words = self == .mapbox ? "\"instruction\":\"Go on\"," : ""
            return """
                {"maneuver":{"type":"\(types[index])","modifier":"\(modifiers[index])",\(words)
                \(self.bearing(fault, index, before: true))\(self.bearing(fault, index, before: false))
                "location":\(Self.position(line[start]))},"mode":"driving","name":"Mill Lane","driving_side":"right",
                "distance":\(index < 3 ? Self.meters[index] : 0),"duration":\(index < 3 ? 30 : 0),
                "geometry":\(self.polyline(index < 3 ? line[start...end] : [line[start], line[start]], fault)),
                "intersections":[{"location":\(Self.position(line[start]))}]}
                """
        }
        let leg = { (steps: [String]) in
            "{\"legs\":[{\"steps\":[\(steps.joined(separator: ","))],\"distance\":1250,\"duration\":90}],"
                + "\"distance\":1250,\"duration\":90}"
        }
        let routes = [leg(steps)] + (fault.hasBrokenAlternative ? [leg([])] : [])
        return "{\"code\":\"Ok\",\"routes\":[\(routes.joined(separator: ","))],\"waypoints\":["
            + "{\"name\":\"\",\"location\":\(Self.position(line[0]))},"
            + "{\"name\":\"There\",\"location\":\(Self.position(fault.destination))}]}"
    }

    private func valhalla(_ fault: Fault) -> String {
        let types = [1, 10, 15, 4]
        let maneuvers = types.indices.map { index in
            """
            {"type":\(types[index]),"instruction":"Go on.","begin_shape_index":\(Self.turns[index]),
            "end_shape_index":\(Self.turns[min(3, index + 1)]),
            \(self.bearing(fault, index, before: true))\(self.bearing(fault, index, before: false))
            "length":\(index < 3 ? Self.meters[index] / 1_000 : 0),"time":\(index < 3 ? 30 : 0)}
            """
        }
        let trip = { (maneuvers: [String]) in
            """
            {"status":0,"status_message":"Found route between points","units":"kilometers","locations":[
            {"type":"break","lat":\(fault.line[0].latitude),"lon":\(fault.line[0].longitude)},
            {"type":"break","lat":\(fault.destination.latitude),"lon":\(fault.destination.longitude)}],
            "legs":[{"shape":\(self.polyline(fault.line[...], fault)),"summary":{"length":1.25,"time":90},
            "maneuvers":[\(maneuvers.joined(separator: ","))]}],"summary":{"length":1.25,"time":90}}
            """
        }
        let alternates = fault.hasBrokenAlternative ? ",\"alternates\":[{\"trip\":\(trip([]))}]" : ""
        return "{\"trip\":\(trip(maneuvers))\(alternates)}"
    }

    private func graphHopper(_ fault: Fault) -> String {
        let signs = [0, 2, -2, 4]
        let instructions = signs.indices.map { index in
            """
            {"sign":\(signs[index]),"text":"Go on","street_name":"Mill Lane","interval":[\(Self.turns[index]),
            \(Self.turns[min(3, index + 1)])],"distance":\(index < 3 ? Self.meters[index] : 0),
            "time":\(index < 3 ? 30_000 : 0)}
            """
        }
        let path = { (instructions: [String]) in
            """
            {"distance":1250,"time":90000,"points_encoded":true,"points":\(self.polyline(fault.line[...], fault)),
            "snapped_waypoints":{"type":"LineString","coordinates":[
            \(Self.position(fault.line[0])),\(Self.position(fault.destination))]},
            "instructions":[\(instructions.joined(separator: ","))]}
            """
        }
        let paths = [path(instructions)] + (fault.hasBrokenAlternative ? [path([])] : [])
        return "{\"paths\":[\(paths.joined(separator: ","))]}"
    }
}
