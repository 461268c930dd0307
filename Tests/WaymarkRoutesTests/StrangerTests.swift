import Foundation
import Testing
import WaymarkModel
import WaymarkRoutes

/// Cases found in other people's routes: motorways, gaps, precisions, and the order of instructions.
@Suite struct StrangerTests {
    // MARK: Motorways

    private static func fork(_ reference: String, modifier: String = "slight right") -> Sketch.Step {
        Sketch.Step(
            type: "fork", modifier: modifier, more: ",\"ref\":\"\(reference)\"",
            intersection: ",\"classes\":[\"motorway\"]")
    }

    @Test(arguments: [
        ("A 9", "A 9; E 45", false), ("A 9; E 45", "A 9", false), ("A 9;E 45", "E 45 ; A 9", false),
        ("I 95 North (right tunnel)", "I-95 North", false), ("A 9", "", false), ("", "A 9", false),
        ("A 9; E 45", "A 3; E 45", false), ("A 9", "A 3", true), ("A 9; E 45", "A 3; E 56", true),
        ("I 35W", "I 35E", true), ("Ring", "Ring", false),
    ])
    func `a motorway changes only if none of its numbers continues`(
        _ before: String, _ after: String, _ isChange: Bool
    ) throws {
        let (maneuvers, _) = try Sketch.read([Self.fork(before), Self.fork(after)])
        #expect(maneuvers[1].type == (isChange ? .changeHighwayRight : .keepRight))
    }

    // MARK: Gaps

    /// Two legs on GeoJSON lines to the north; the second one begins `gap` degrees after the end of the first.
    private static func legs(gap: Double) -> [UInt8] {
        let legs = [0.0, 0.01 + gap].map { start in
            let end = start + 0.01
            return """
                {"distance":1112,"duration":60,"steps":[
                {"maneuver":{"type":"depart","location":[9,\(start)]},"distance":1112,"duration":60,
                "geometry":{"coordinates":[[9,\(start)],[9,\(end)]]}},
                {"maneuver":{"type":"arrive","location":[9,\(end)]},"distance":0,"duration":0,
                "geometry":{"coordinates":[[9,\(end)],[9,\(end)]]}}]}
                """
        }
        return Array("{\"routes\":[{\"legs\":[\(legs.joined(separator: ","))]}]}".utf8)
    }

    @Test func `a gap between legs is reported with its length`() throws {
        let route = try RouteReader.read(Self.legs(gap: 0.05)).routes[0]
        #expect(
            route.notices.contains(
                RouteNotice(
                    path: "routes[0].legs[1]",
                    reason: "the line before this has a gap of 5560 m, which a straight line fills")))
        #expect(try !RouteReader.read(Self.legs(gap: 0)).routes[0].reports("a gap of"))
        #expect(try !RouteReader.read(Self.legs(gap: 0.00002)).routes[0].reports("a gap of"))
    }

    @Test func `a gap between steps is reported`() throws {
        let text = String(decoding: Self.legs(gap: 0), as: UTF8.self)
            .replacing("\"type\":\"arrive\",\"location\":[9,0.01]", with: "\"type\":\"arrive\"")
            .replacing("[[9,0.01],[9,0.01]]", with: "[[9,0.011],[9,0.011]]")
        let route = try RouteReader.read(Array(text.utf8)).routes[0]
        #expect(
            route.notices.contains {
                $0.path == "routes[0].legs[0].steps[1]" && $0.reason.contains("a gap of 111 m")
            })
    }

    // MARK: Precision

    private static let line = (0...10).map { Coordinate(latitude: 47 + Double($0) / 1_000, longitude: 9.5) }

    /// One step without any location, 1 112 m long, and an arrival; in OSRM's form.
    private static func silent(_ precision: Polyline.Precision, step: String, route: String = "") -> [UInt8] {
        let way = HostileRouteTests.text(.string(Polyline.encode(Self.line, precision)))
        let end = HostileRouteTests.text(.string(Polyline.encode([Self.line[10]], precision)))
        return Array(
            """
            {"routes":[{\(route)"legs":[{"steps":[{"maneuver":{"type":"depart"},\(step)"geometry":\(way)},
            {"maneuver":{"type":"arrive"},"distance":0,"geometry":\(end)}]}]}]}
            """.utf8)
    }

    @Test(arguments: Polyline.Precision.allCases)
    func `without a location the precision is chosen by the length`(
        _ precision: Polyline.Precision
    ) throws {
        for (step, route) in [("\"distance\":1100,", ""), ("", "\"distance\":1150.5,")] {
            let read = try RouteReader.read(Self.silent(precision, step: step, route: route)).routes[0]
            #expect(read.line == Self.line)
            #expect(read.reports("\(precision.rawValue) digits are taken, because the length fits"))
        }
    }

    @Test func `without location and distance five digits are assumed, and reported`() throws {
        let read = try RouteReader.read(Self.silent(.five, step: "")).routes[0]
        #expect(read.line == Self.line && read.reports("five digits are assumed"))
    }

    @Test func `a polyline of five digits in Valhalla's form is recognised by its length`() throws {
        for precision in Polyline.Precision.allCases {
            let shape = HostileRouteTests.text(.string(Polyline.encode(Self.line, precision)))
            let text = """
                {"trip":{"legs":[{"shape":\(shape),"summary":{"length":1.112,"time":60},"maneuvers":[
                {"type":1,"begin_shape_index":0},{"type":4,"begin_shape_index":10}]}]}}
                """
            let route = try RouteReader.read(Array(text.utf8)).routes[0]
            #expect(route.line == Self.line)
            #expect(route.reports("five digits are taken") == (precision == .five))
        }
    }

    // MARK: Instructions

    @Test func `the summary of a route names each road once`() throws {
        let leg: [Sketch.Step] = [.init(type: "depart"), .init(type: "arrive")]
        var text = String(decoding: Sketch.osrm([leg, leg, leg]), as: UTF8.self)
        for summary in ["Mangart, 203", "203, 203, 203, 203, 203", "203, 206"] {
            let range = try #require(text.range(of: "\"distance\":111,\"duration\":10}"))
            text.replaceSubrange(range, with: "\"distance\":112,\"summary\":\"\(summary)\"}")
        }
        let route = try RouteReader.read(Array(text.utf8)).routes[0]
        #expect(route.summaryVariants.first == "Mangart, 203, 206")
    }

    private static func words(instruction: String?, banner: String?) throws -> [String] {
        var before = Sketch.Step(type: "turn", modifier: "left")
        if let banner {
            before.more = """
                ,"bannerInstructions":[{"primary":{"text":"far away"}},{"primary":{"text":"\(banner)"}}]
                """
        }
        var step = Sketch.Step(type: "turn", modifier: "left", name: "Landstraße")
        if let instruction { step.maneuver = ",\"instruction\":\"\(instruction)\"" }
        return try Sketch.read([before, step]).maneuvers[1].instructionVariants
    }

    @Test func `the engine's instructions and banners come first and English is composed only without them`()
        throws
    {
        #expect(
            try Self.words(instruction: "Links auf die Landstraße", banner: "Landstraße")
                == ["Links auf die Landstraße", "Landstraße"])
        #expect(try Self.words(instruction: nil, banner: "Landstraße") == ["Landstraße"])
        #expect(try Self.words(instruction: "", banner: "Landstraße") == ["Landstraße"])
        #expect(
            try Self.words(instruction: nil, banner: nil) == ["Turn left onto Landstraße", "Turn left"])
        #expect(try Self.words(instruction: "Sie sind da.", banner: "Sie sind da") == ["Sie sind da."])
        // A long list of roads must not take the instruction's place.
        #expect(
            try Self.words(instruction: "Links halten", banner: "A 7 / Würzburg / Fulda") == ["Links halten"])
    }

    @Test func `no instruction is composed if the engine's are in English`() throws {
        let step = Sketch.Step(
            type: "turn", modifier: "left", name: "Main Street",
            maneuver: ",\"instruction\":\"Turn left onto Main Street.\"")
        let text = String(decoding: Sketch.osrm([[step, .init(type: "arrive")]]), as: UTF8.self)
            .replacing("{\"legs\":", with: "{\"voiceLocale\":\"en-US\",\"legs\":")
        let route = try RouteReader.read(Array(text.utf8)).routes[0]
        #expect(route.information.maneuvers[0].instructionVariants == ["Turn left onto Main Street."])
    }
}
