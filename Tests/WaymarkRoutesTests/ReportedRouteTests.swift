import Foundation
import RecordedRoutes
import Testing
import WaymarkModel
import WaymarkRoutes

/// Answers that show what users of routing engines and of programs between them reported, and what is right for each.
@Suite struct ReportedRouteTests {
    static func answer(_ name: String) throws -> RouteAnswer {
        let folder = RecordedRoutes.root.appending(path: "Tests/WaymarkRoutesTests/Reported")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let file = try #require(files.first { $0.hasPrefix("\(name)-") })
        return try RouteReader.read([UInt8](Data(contentsOf: folder.appending(path: file))))
    }

    private static func route(_ name: String) throws -> EngineRoute {
        let route = try Self.answer(name).routes[0]
        Promises.check(route)
        return route
    }

    /// Degrees; nil for a maneuver without an angle.
    private static func angles(_ route: EngineRoute) -> [Int?] {
        route.information.maneuvers.map { $0.junctionExitAngle.map { Int($0.degrees) } }
    }

    private static func length(_ route: EngineRoute) -> Double { route.measure.length }

    // MARK: Lines

    @Test func `02: a polyline with altitudes is read in three dimensions`() throws {
        let route = try Self.route("02a")
        #expect(abs(Self.length(route) - 1_250) < 5)
        #expect(route.line.count == 6 && route.line.allSatisfy { $0.altitude != nil })
        #expect(route.reports("three dimensions"))
    }

    @Test func `03: the stated multiplier is used`() throws {
        let route = try Self.route("03b")
        #expect(abs(Self.length(route) - 1_250) < 30 && abs(route.line[0].latitude - 47.2) < 0.001)
    }

    @Test func `07: doubled backslashes are read as single ones, and single ones without a notice`() throws {
        let (repaired, reference) = try (Self.route("07a"), Self.route("07b"))
        #expect(repaired.line == reference.line)
        #expect(repaired.reports("escaped twice") && !reference.reports("escaped"))
        #expect(!reference.reports("the line is"))
    }

    @Test func `08: a lost backslash is restored in Valhalla's form`() throws {
        let route = try Self.route("08a")
        #expect(abs(Self.length(route) - 1_903) < 5 && route.reports("it was put back"))
    }

    @Test
    func `20: waypoints on another continent are reported with the distance, and the line's ends are taken`()
        throws
    {
        let route = try Self.route("20")
        #expect(route.notices.count { $0.reason.contains("10893 km") } == 2)
        #expect(route.waypoints.map(\.center) == [route.line[0], route.line[route.line.count - 1]])
    }

    @Test func `29: a destination far from the line is reported with the distance`() throws {
        let route = try Self.route("29")
        #expect(route.notices.contains { $0.isMovedPoint && $0.reason.contains("2720 m") })
        #expect(route.information.maneuvers.last?.type == .arriveEndOfDirections)
        #expect(
            abs(route.waypoints[1].center.latitude - 43.725466) < 1e-9, "it is where the user wants to go")
    }

    // MARK: Directions and sides

    @Test func `01: a route that ends on a roundabout has no exit number`() throws {
        let maneuver = try Self.route("01").information.maneuvers[1]
        #expect(maneuver.type == .enterRoundabout && maneuver.roundaboutExitNumber == nil)
        #expect(maneuver.instructionVariants == ["Enter roundabout"])
    }

    @Test func `04: bearings of zero are replaced by the line's directions`() throws {
        let route = try Self.route("04a")
        #expect(Self.angles(route) == [nil, 90, -90, -90, -90, nil])
        #expect(route.information.maneuvers[1].junctionElementAngles == [.degrees(-90)])
        #expect(route.information.maneuvers[2].junctionElementAngles == [.degrees(0)])
        #expect(route.reports("contradict the line, whose directions are taken"))
    }

    @Test func `05: a turn angle of zero does not decide on the traffic side`() throws {
        let route = try Self.route("05a")
        #expect(route.information.maneuvers.allSatisfy { $0.trafficSide == .right })
        #expect(Self.angles(route)[2] == -90)
    }

    @Test func `06: a single maneuver for a roundabout has the direction in which the line leaves it`() throws
    {
        let route = try Self.route("06")
        #expect(Self.angles(route)[1] == -90 && route.information.maneuvers[1].roundaboutExitNumber == 3)
    }

    @Test func `11: traffic is on the left before the ferry and on the right behind it`() throws {
        let sides = try Self.route("11").information.maneuvers.map(\.trafficSide)
        #expect(sides == Array(repeating: .left, count: 4) + Array(repeating: .right, count: 6))
    }

    @Test func `23: without bearings and modifiers the line shows three right turns`() throws {
        let route = try Self.route("23b")
        #expect(route.information.maneuvers.dropFirst().prefix(3).allSatisfy { $0.type == .rightTurn })
        #expect(
            route.information.maneuvers[1].instructionVariants == [
                "Turn right onto Quarry Road", "Turn right",
            ])
        #expect(route.reports("the direction is taken from the line"))
    }

    @Test func `16: an arrow that leads elsewhere is not lit, and lanes without arrows stay good`() throws {
        let guidances = try Self.route("16").information.laneGuidances
        #expect(guidances.map { $0.lanes.map(\.highlightedAngle) }.first == [nil, .degrees(0), nil, nil])
        #expect(
            guidances.map { $0.lanes.map(\.status) } == [
                [.good, .good, .good, .notGood], [.notGood, .good, .good],
            ])
        #expect(guidances[1].lanes.allSatisfy { $0.highlightedAngle == nil })
    }

    // MARK: Parts

    @Test func `09: the name of a roundabout is said in the instruction`() throws {
        #expect(
            try Self.route("09").information.maneuvers[1].instructionVariants == [
                "At Grand Circle take exit 3 onto Station Road", "At Grand Circle take exit 3",
            ])
    }

    @Test func `10: a leg without steps is left out, and the other one is driven`() throws {
        let route = try Self.route("10")
        #expect(route.information.segments.count == 1 && route.waypoints.count == 2)
        #expect(route.notices.contains { $0.path == "routes[0].legs[0]" })
        #expect(Self.length(route) > 590)
    }

    @Test func `22: a broken alternative does not refuse the good route`() throws {
        let answer = try Self.answer("22")
        #expect(answer.routes.count == 1)
        #expect(answer.notices.contains { $0.path == "routes[1]" && $0.reason.contains("left out") })
    }

    @Test func `12: ferries of GraphHopper are boarded, changed and left`() throws {
        #expect(
            try Self.route("12").information.maneuvers.map(\.type) == [
                .startRoute, .enterFerry, .changeFerry, .exitFerry, .leftTurn, .arriveAtDestination,
            ])
    }

    @Test func `18: offsets of time zones are carried over`() throws {
        #expect(try Self.route("18").waypoints.map(\.utcOffsetMinutes) == [-420, -360])
    }

    @Test func `13: GeoJSON is cut at 180 degrees`() throws {
        let text = try Self.route("13").geoJSON
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let features = try #require(json["features"] as? [[String: Any]])
        let geometry = try #require(features.first?["geometry"] as? [String: Any])
        #expect(geometry["type"] as? String == "MultiLineString")
        let parts = try #require(geometry["coordinates"] as? [[[Double]]])
        #expect(parts.count == 2 && parts.allSatisfy { $0.count > 1 })
        #expect(parts[0].allSatisfy { $0[0] > 0 } && parts[1].allSatisfy { $0[0] < 0 })
        #expect(parts[0].last?[0] == 180 && parts[1].first?[0] == -180)
    }

    @Test func `13: KML is cut at 180 degrees, too`() throws {
        let whole = RouteDrawing.Line(segment: "0", points: try Self.route("13").line, meters: 1)
        let text = RouteDrawing(name: nil, lines: [whole], places: []).kml
        let line = try #require(text.firstMatch(of: /<MultiGeometry>(.*)<\/MultiGeometry>/)).1
        let parts = line.matches(of: /<coordinates>([^<]*)</).map { part in
            part.1.split(separator: " ").compactMap { $0.split(separator: ",").first.flatMap { Double($0) } }
        }
        #expect(parts.count == 2 && parts[0].last == 180 && parts[1].first == -180)
        #expect(parts[0].allSatisfy { $0 > 0 } && parts[1].allSatisfy { $0 < 0 })
    }

    // MARK: Drives and names

    @Test(arguments: ["15", "21"])
    func `15 and 21: every stop is reached once, in order`(_ name: String) throws {
        let route = try Self.route(name)
        var drive = Drive(route: route)
        var changes: [DriveChange] = []
        for second in 0...600 { drive.advance(to: .seconds(second), into: &changes) }
        let arrivals = changes.compactMap {
            if case .arrivedAtWaypoint(let index) = $0 { index } else { nil }
        }
        #expect(arrivals == Array(1..<(route.waypoints.count - 1)) && drive.state == .finished)
    }

    @Test(arguments: ["19", "19c"])
    func `19: no text has an open control of writing direction`(_ name: String) throws {
        let route = try Self.route(name)
        var texts: [String] = route.waypoints.flatMap(\.nameVariants) + route.summaryVariants
        for maneuver in route.information.maneuvers {
            texts += maneuver.instructionVariants + maneuver.roadFollowingManeuverVariants
            texts.append(maneuver.highwayExitLabel)
        }
        for text in texts {
            let open = text.unicodeScalars.count { (0x202A...0x202E).contains($0.value) && $0 != "\u{202C}" }
            #expect(open == text.unicodeScalars.count { $0 == "\u{202C}" }, "\(text)")
            let isolates = text.unicodeScalars.count { (0x2066...0x2068).contains($0.value) }
            #expect(isolates == text.unicodeScalars.count { $0 == "\u{2069}" }, "\(text)")
        }
        if name == "19" { #expect(texts.contains { $0.contains("👨‍👩‍👧") }, "joiners stay") }
    }
}
