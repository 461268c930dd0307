import Testing
import WaymarkModel
import WaymarkRoutes

/// Answers of unsupported engines, other kinds of answers, and variants of OSRM's form.
@Suite struct ForeignAnswerTests {
    private static func refusal(_ bytes: [UInt8]) -> String {
        let error = #expect(throws: RouteReadingError.self) { try RouteReader.read(bytes) }
        return error.map { "\($0)" } ?? ""
    }

    @Test(arguments: [
        ("HERE", #"{"routes":[{"id":"1","sections":[{"type":"vehicle","polyline":"B2F"}]}]}"#),
        ("HERE", #"{"response":{"metaInfo":{},"route":[{"leg":[]}]}}"#),
        (
            "TomTom",
            #"{"formatVersion":"0.0.12","routes":[{"summary":{"lengthInMeters":7},"legs":[{"points":[]}]}]}"#
        ),
        ("Azure Maps", #"{"formatVersion":"0.0.12","routes":[{"legs":[{"points":[]}],"sections":[]}]}"#),
        (
            "Azure Maps",
            #"{"type":"FeatureCollection","features":[{"properties":{"routePathPoint":{"legIndex":0}}}]}"#
        ),
        (
            "Google Directions",
            #"{"geocoded_waypoints":[],"routes":[{"legs":[{"steps":[{"html_instructions":"Head"}]}]}],"status":"OK"}"#
        ),
        (
            "Google Routes",
            #"{"routes":[{"legs":[{"steps":[{"navigationInstruction":{"maneuver":"DEPART"}}]}],"distanceMeters":9}]}"#
        ),
        ("OpenRouteService", #"{"routes":[{"summary":{},"segments":[{"steps":[]}],"geometry":"x"}]}"#),
        (
            "OpenRouteService",
            #"{"type":"FeatureCollection","features":[{"properties":{"segments":[]}}],"metadata":{}}"#
        ),
        ("Apple Maps", #"{"routes":[{"stepIndexes":[0]}],"steps":[],"stepPaths":[[]]}"#),
        ("Bing Maps", #"{"resourceSets":[],"statusCode":200}"#),
        ("MapQuest", #"{"route":{"legs":[{"maneuvers":[]}]},"info":{}}"#),
        ("a table", #"{"code":"Ok","durations":[[0]],"sources":[],"destinations":[]}"#),
        ("a table", #"{"sources_to_targets":[[]]}"#),
        ("nearest roads", #"{"code":"Ok","waypoints":[{"location":[9,47]}]}"#),
        ("trace_route", #"{"edges":[],"shape":"x"}"#),
        ("GeoJSON", #"{"type":"FeatureCollection","features":[]}"#),
    ])
    func `an unsupported engine or kind of answer is named in the error`(_ name: String, _ text: String) {
        let refusal = Self.refusal(Array(text.utf8))
        #expect(refusal.contains(name) && refusal.contains("not an answer of OSRM"), "\(refusal)")
    }

    @Test(
        arguments: [
            ("gzip", [0x1F, 0x8B, 8, 0]), ("zstd", [0x28, 0xB5, 0x2F, 0xFD, 1]), ("zip", [0x50, 0x4B, 3, 4]),
            ("UTF-16", [0xFF, 0xFE, 0x7B, 0]), ("UTF-16", [0xFE, 0xFF, 0, 0x7B]),
            ("UTF-16", [0x7B, 0, 0x7D, 0]),
            ("UTF-16", [0, 0x7B, 0, 0x7D]), ("UTF-32", [0xFF, 0xFE, 0, 0, 0x7B, 0, 0, 0]),
            ("HTML", Array("\n<!DOCTYPE html><html>".utf8)),
            ("GPX", Array("<?xml version=\"1.0\"?><gpx>".utf8)),
            ("HTTP header", Array("HTTP/1.1 200 OK\r\n\r\n{}".utf8)),
        ] as [(String, [UInt8])])
    func `a format other than JSON in UTF-8 is named in the error`(_ name: String, _ bytes: [UInt8]) {
        let refusal = Self.refusal(bytes)
        #expect(refusal.contains(name) && refusal.contains("not JSON"), "\(refusal)")
    }

    @Test(arguments: [
        (#"{"geocoded_waypoints":[],"routes":[],"status":"ZERO_RESULTS"}"#, ["ZERO_RESULTS"]),
        (#"{"error_message":"no key","routes":[],"status":"REQUEST_DENIED"}"#, ["REQUEST_DENIED", "no key"]),
        (#"{"error":{"code":2010,"message":"no point within 350 m"},"info":{}}"#, ["2010", "350 m"]),
        (#"{"title":"Malformed request","status":400,"code":"E605001"}"#, ["E605001", "Malformed request"]),
        (#"{"formatVersion":"0.0.12","error":{"description":"no route"}}"#, ["no route"]),
    ])
    func `an error of another engine is reported with the engine's message`(_ text: String, _ words: [String])
    {
        let refusal = Self.refusal(Array(text.utf8))
        #expect(refusal.contains("the routing engine answered"), "\(refusal)")
        for word in words { #expect(refusal.contains(word), "\(refusal)") }
    }

    @Test func `JSON of another program is not reported as an engine's error`() {
        for text in [#"{"status":"success","data":1}"#, #"{"title":"A map","layers":[]}"#] {
            #expect(Self.refusal(Array(text.utf8)).contains("an object of"))
        }
    }

    // MARK: Matchings and trips

    private static func legs(_ count: Int) -> String {
        let legs = Array(repeating: [Sketch.Step(type: "depart"), .init(type: "arrive")], count: count)
        let text = String(decoding: Sketch.osrm(legs), as: UTF8.self)
        return String(text.dropFirst("{\"code\":\"Ok\",\"routes\":".count).dropLast())
    }

    @Test func `a matching is a route through the points between its legs`() throws {
        let text = """
            {"code":"Ok","matchings":\(Self.legs(2)),"tracepoints":[null,
            {"location":[9,0],"name":"A","matchings_index":0,"waypoint_index":0},
            {"location":[9,0.0005],"name":"","matchings_index":0,"waypoint_index":null},
            {"location":[9,0.001],"name":"B","matchings_index":0,"waypoint_index":1},
            {"location":[9,0.002],"name":"C","matchings_index":0,"waypoint_index":2},
            {"location":[8,0],"name":"X","matchings_index":1,"waypoint_index":0}]}
            """
        let answer = try RouteReader.read(Array(text.utf8))
        let route = try #require(answer.routes.first)
        #expect(route.waypoints.map(\.nameVariants) == [["A"], ["B"], ["C"]])
        #expect(route.information.segments.count == 2)
        #expect(route.reports("could not match: 1") && route.reports("no waypoints: 1"))
    }

    @Test func `several matchings are separate routes and not choices of one trip`() throws {
        let first = Self.legs(1)
        let both = "\(first.dropLast()),\(Self.legs(2).dropFirst())"
        let answer = try RouteReader.read(Array("{\"code\":\"Ok\",\"matchings\":\(both)}".utf8))
        #expect(answer.routes.map(\.information.segments.count) == [1, 2])
        #expect(answer.notices.contains { $0.reason.contains("no alternatives") })
        let trip = answer.trip(id: "t", choosing: 1)
        #expect(trip.routeChoices.map(\.id) == [2] && trip.selectedRouteChoice == 2)
    }

    @Test func `a round trip ends where it begins and its waypoints are in the order of the legs`() throws {
        let places = """
            "waypoints":[{"location":[9,0],"name":"A","trips_index":0,"waypoint_index":0},
            {"location":[9,0.002],"name":"C","trips_index":0,"waypoint_index":2},
            {"location":[9,0.001],"name":"B","trips_index":0,"waypoint_index":1}]
            """
        for (legs, names) in [(3, ["A", "B", "C", "A"]), (2, ["A", "B", "C"])] {
            let text = "{\"code\":\"Ok\",\"trips\":\(Self.legs(legs)),\(places)}"
            let route = try RouteReader.read(Array(text.utf8)).routes[0]
            #expect(route.waypoints.flatMap(\.nameVariants) == names)
        }
    }

    @Test func `real matchings and trips are read`() throws {
        for (name, legs) in [
            ("matching-double-back", 1), ("matching-null-tracepoint", 5), ("matching-polyline6", 6),
            ("matching-several", 4), ("trip-with-steps", 3),
        ] {
            guard let file = RouteFile.named("strangers/\(name).json") else { continue }
            let route = try file.answer().routes[0]
            #expect(route.waypoints.count == legs + 1 && route.engine == .mapbox)
            #expect(!route.reports("do not match"))
        }
    }
}
