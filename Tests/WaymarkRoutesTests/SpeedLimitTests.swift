import Foundation
import RecordedRoutes
import Testing
import WaymarkModel
import WaymarkRoutes

/// Speed limits of real answers, and of a drive along them.
@Suite struct SpeedLimitTests {
    static func bytes(_ name: String) throws -> [UInt8] {
        let folder = RecordedRoutes.root.appending(path: "Tests/WaymarkRoutesTests/SpeedLimits")
        return [UInt8](try Data(contentsOf: folder.appending(path: "\(name).json")))
    }

    private static func text(_ name: String) throws -> String {
        String(decoding: try Self.bytes(name), as: UTF8.self)
    }

    private static func route(_ text: String) throws -> EngineRoute {
        let route = try RouteReader.read(Array(text.utf8)).routes[0]
        Promises.check(route)
        return route
    }

    private static func route(named name: String) throws -> EngineRoute {
        try Self.route(Self.text(name))
    }

    /// The route of Valhalla with the limits of its traces.
    private static func traced() throws -> EngineRoute {
        var route = try Self.route(named: "valhalla-vaduz-triesen-balzers")
        try route.addSpeedLimits(ofTraces: [Self.bytes("valhalla-trace-1"), Self.bytes("valhalla-trace-2")])
        return route
    }

    /// The values along a route; nil where no limit is known.
    private static func values(_ route: EngineRoute) -> [UInt32?] { route.speedLimits.map(\.limit.value) }

    // MARK: Readers

    @Test func `Mapbox's limits are those on the signs of the country`() throws {
        let route = try Self.route(named: "mapbox-miles")
        #expect(Self.values(route) == [25, 35, nil, 35, 30, nil, 35, nil])
        for limit in route.speedLimits.map(\.limit) where limit.status != .unknown {
            #expect(limit.status == .limited && limit.unit == .milesPerHour && limit.sign == .mutcd)
        }
        #expect(route.speedLimits.map(\.lineIndex) == [0, 19, 30, 31, 57, 87, 119, 134])
        #expect(!route.notices.contains { $0.path.contains("maxspeed") || $0.reason.contains("speed limit") })
    }

    @Test(.enabled(if: RouteFile.named("max-speed-254km.json") != nil, "no recorded routes"))
    func `a German motorway has stretches without a limit`() throws {
        let file = try #require(RouteFile.named("max-speed-254km.json"))
        let limits = try file.answer().routes[0].speedLimits.map(\.limit)
        #expect(limits.count == 64)
        #expect(limits.count { $0.status == SpeedLimitStatus.none } == 7)
        #expect(limits.count { $0.value == 130 && $0.unit == .kilometersPerHour } == 1)
    }

    @Test func `GraphHopper's limits are read with their gaps`() throws {
        let route = try Self.route(named: "graphhopper-berlin-a100")
        #expect(Self.values(route) == [80, 60, nil, 50])
        #expect(route.speedLimits.map(\.lineIndex) == [0, 3, 10, 11])
        #expect(route.speedLimits.allSatisfy { $0.limit.sign == nil })
        #expect(route.notices.contains { $0.path.hasSuffix("details.road_class") })
        #expect(!route.notices.contains { $0.path.contains("max_speed") })
    }

    @Test func `GraphHopper's value of a road without a limit is none, and 0 is not known`() throws {
        let text = try Self.text("graphhopper-berlin-a100")
        let route = try Self.route(
            text.replacing("[0,3,80.0]", with: "[0,3,150.0]")
                .replacing("[3,10,60.0]", with: "[3,10,0]"))
        #expect(route.speedLimits.map(\.limit.status) == [.none, .unknown, .limited])
    }

    @Test func `Valhalla's limits come from the traces of the legs`() throws {
        let bare = try Self.route(named: "valhalla-vaduz-triesen-balzers")
        #expect(bare.speedLimits == [] && bare.information.segments.allSatisfy { $0.speedLimits == [] })
        let route = try Self.traced()
        #expect(
            Self.values(route)
                == [20, nil, 50, nil, 60, nil, 60, 50, nil, 50, 80, 50, nil, 50, nil])
        #expect(route.speedLimits.allSatisfy { $0.limit.unit == .kilometersPerHour || $0.limit == .unknown })
        #expect(route.information.segments.map(\.speedLimits.count) == [9, 6])
        #expect(route.notices.count == bare.notices.count)
    }

    @Test func `the trace of another line changes nothing and is reported`() throws {
        var route = try Self.route(named: "valhalla-vaduz-triesen-balzers")
        try route.addSpeedLimits(ofTraces: [Self.bytes("valhalla-trace-2"), nil])
        #expect(route.speedLimits == [] && route.reports("of another line"))
        #expect(throws: RouteReadingError.self) {
            try route.addSpeedLimits(ofTraces: [Array(#"{"error_code":444,"error":"no match"}"#.utf8)])
        }
        #expect(throws: RouteReadingError.self) {
            try route.addSpeedLimits(ofTraces: [Self.bytes("mapbox-miles")])
        }
    }

    @Test func `a trace in a country with miles says what its signs say`() throws {
        let text = try Self.text("valhalla-trace-1")
        var route = try Self.route(named: "valhalla-vaduz-triesen-balzers")
        let unlimited = text.replacing(#""speed_limit":60"#, with: #""speed_limit":"unlimited""#)
        let abroad = unlimited.replacing(
            #""units":"kilometers""#, with: #""units":"kilometers","admins":[{"country_code":"GB"}]"#)
        try route.addSpeedLimits(ofTraces: [Array(abroad.utf8)])
        let known = route.speedLimits.map(\.limit).filter { $0.status != .unknown }
        #expect(known.map(\.value) == [12, 31, nil, nil, 31])
        #expect(known[0].unit == .milesPerHour && known[2] == .unlimited)
    }

    @Test func `limits whose number does not match the line are left out and reported`() throws {
        let text = try Self.text("mapbox-miles")
        let route = try Self.route(
            text.replacing(
                #""maxspeed":[{"speed":40,"unit":"km/h"},"#, with: #""maxspeed":["#, maxReplacements: 1))
        #expect(route.speedLimits == [] && route.reports("135 speed limits do not match 136 pieces"))
    }

    @Test func `values that are no limits are not known, and are counted`() throws {
        let text = try Self.text("mapbox-miles")
        let broken = #"[{"speed":0,"unit":"km/h"},{"speed":900},{"speed":40,"unit":"furlongs"},{},"#
        let four = String(repeating: #"{"speed":40,"unit":"km/h"},"#, count: 4)
        let route = try Self.route(text.replacing("[\(four)", with: broken, maxReplacements: 1))
        #expect(Self.values(route).prefix(3) == [nil, 25, 35])
        #expect(route.speedLimits[1].lineIndex == 4)
        #expect(route.reports("4 values are no speed limit"))
    }

    @Test func `a list of unknown limits is as good as none`() throws {
        let text = try Self.text("graphhopper-berlin-a100")
        let start = try #require(text.range(of: #""max_speed":"#)?.lowerBound)
        let end = try #require(text.range(of: #""road_class""#)?.lowerBound)
        let route = try Self.route(
            text.replacingCharacters(in: start..<end, with: #""max_speed":[[0,12,null]],"#))
        #expect(route.speedLimits == [] && route.information.segments[0].speedLimits == [])
    }

    @Test(arguments: [
        "[[3,10,60],[0,3,80]]", "[[0,3,80],[2,5,60]]", "[[0,3,80],[5,99999,60]]", "[[0,3,80],7]",
    ])
    func `intervals that are not in order or not of the line are left out and reported`(_ intervals: String)
        throws
    {
        let text = try Self.text("graphhopper-berlin-a100")
        let start = try #require(text.range(of: #""max_speed":"#)?.lowerBound)
        let end = try #require(text.range(of: #""road_class""#)?.lowerBound)
        let route = try Self.route(
            text.replacingCharacters(in: start..<end, with: "\"max_speed\":\(intervals),"))
        #expect(route.reports("its speed limit is left out"))
        #expect(route.speedLimits.contains { $0.limit.value != nil })
    }

    // MARK: Segments

    @Test func `every point of a segment has the limit of the line`() throws {
        for route in [
            try Self.route(named: "mapbox-miles"), try Self.route(named: "graphhopper-berlin-a100"),
            try Self.traced(),
        ] {
            for (segment, range) in zip(route.information.segments, route.segmentRanges) {
                let (start, end) = (range.lowerBound, range.upperBound)
                let points = segment.speedLimits.map(\.firstPoint)
                #expect(zip(points, points.dropFirst()).allSatisfy { $0 < $1 })
                for index in start..<end {
                    let limit = route.speedLimits.last { $0.lineIndex <= index }?.limit
                    #expect(segment.speedLimit(atPoint: index - start) == limit)
                }
            }
        }
    }

    // MARK: Driving

    private struct Said: Equatable {
        let limit: SpeedLimit
        let next: SpeedLimit?
        let shown: DisplayDistance?
    }

    private static func drive(_ route: EngineRoute) -> [(limit: SpeedLimit, next: SpeedLimitAhead?)] {
        var drive = Drive(route: route)
        var changes: [DriveChange] = []
        for step in 0...40_000 where drive.state != .finished {
            drive.advance(to: .milliseconds(200 * step), into: &changes)
        }
        #expect(drive.state == .finished)
        return changes.compactMap {
            if case .speedLimit(let limit, let next) = $0 { (limit, next) } else { nil }
        }
    }

    @Test func `a drive tells each limit where it begins, and the next known one before`() throws {
        let route = try Self.route(named: "graphhopper-berlin-a100")
        let said = Self.drive(route)
        var limits: [UInt32?] = []
        for (limit, _) in said where limits.last != .some(limit.value) { limits.append(limit.value) }
        #expect(limits == [80, 60, nil, 50])
        for (limit, next) in said {
            switch limit.value {
            case 80?: #expect(next?.limit.value == 60)
            case 50?: #expect(next == nil)
            default: #expect(next?.limit.value == 50)
            }
        }
        let first = try #require(said.first?.next)
        #expect(abs(Double(first.distance.meters) - route.measure.meters[3]) < 2)
        #expect(first.distanceToDisplay == .rounded(first.distance, units: .metric))
    }

    @Test func `limits are repeated only if they look different, and distances fall`() throws {
        let said = Self.drive(try Self.traced())
        let shown = said.map {
            Said(limit: $0.limit, next: $0.next?.limit, shown: $0.next?.distanceToDisplay)
        }
        #expect(zip(shown, shown.dropFirst()).allSatisfy { $0 != $1 })
        #expect(said.count > 15)
        for (one, other) in zip(said, said.dropFirst()) {
            guard one.limit == other.limit, let before = one.next, let after = other.next,
                before.limit == after.limit
            else { continue }
            #expect(after.distance.meters < before.distance.meters)
        }
        #expect(said.allSatisfy { $0.next?.limit != $0.limit })
        #expect(said.allSatisfy { $0.next.map { $0.distance.meters <= 3_000 } ?? true })
    }

    @Test func `a drive along a route without limits tells none`() throws {
        #expect(Self.drive(try Self.route(named: "valhalla-vaduz-triesen-balzers")).isEmpty)
    }

    // MARK: Engines

    private static let places = [(47.141, 9.5215), (47.11, 9.525), (47.068, 9.501)].map {
        Coordinate(latitude: $0.0, longitude: $0.1)
    }

    /// The engine with an answer to each trace, and without a short deadline.
    private static func engine(_ server: RecordedServer, reads: Bool = true) throws -> ValhallaEngine {
        var limits = RoutingLimits()
        limits.deadline = .seconds(300)
        var engine = try ValhallaEngine(server.address, limits: limits)
        engine.readsSpeedLimits = reads
        return engine
    }

    @Test func `an engine is asked for the limits of each leg if the caller wants them`() async throws {
        let body = try Self.bytes("valhalla-vaduz-triesen-balzers")
        // Each line begins with the shape of its leg.
        let bare = try Self.route(named: "valhalla-vaduz-triesen-balzers")
        let starts = bare.segmentRanges.map {
            String(Polyline.encode(Array(bare.line[$0]), .six).prefix(8))
        }
        let posted = [
            (key: "\"\(starts[0])", body: try Self.bytes("valhalla-trace-1")),
            (key: "\"\(starts[1])", body: try Self.bytes("valhalla-trace-2")),
        ]
        try await RecordedServer.serve(.init(body: body, posted: posted)) { server in
            let answer = try await Self.engine(server).route(through: Self.places)
            #expect(server.asked.count { $0 == "/trace_attributes" } == 2)
            #expect(answer.routes[0].speedLimits == (try Self.traced()).speedLimits)
            let without = try await Self.engine(server, reads: false).route(through: Self.places)
            #expect(without.routes[0].speedLimits == [] && server.asked.count == 4)
        }
    }

    @Test func `a route is as good without limits, and the reason is reported`() async throws {
        let body = try Self.bytes("valhalla-vaduz-triesen-balzers")
        let refusal = Array(#"{"error_code":106,"error":"Try any of: route"}"#.utf8)
        let answer = RecordedServer.Answer(body: body, posted: [(key: "shape_match", body: refusal)])
        try await RecordedServer.serve(answer) { server in
            let route = try await Self.engine(server).route(through: Self.places).routes[0]
            #expect(route.speedLimits == [] && route.reports("no speed limits: "))
            #expect(route.reports("Try any of: route"))
        }
    }
}
