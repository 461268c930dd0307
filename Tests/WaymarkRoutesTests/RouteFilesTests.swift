import Foundation
import Testing
import WaymarkModel
import WaymarkRoutes

/// Real answers of engines: `WAYMARK_ROUTES`, else a folder beside the project; and those that ship.
enum RouteFiles {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    static let shipped = root.appending(path: "Sources/WaymarkCommandLine/Resources/routes")
    static let outside =
        ProcessInfo.processInfo.environment["WAYMARK_ROUTES"].map { URL(filePath: $0) }
        ?? root.deletingLastPathComponent().appending(path: "shared/routes")

    /// All JSON files under a folder.
    static func all(in folder: URL) -> [String] {
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return (files?.compactMap { ($0 as? URL)?.path } ?? []).filter { $0.hasSuffix(".json") }.sorted()
    }

    static let everything = all(in: shipped) + all(in: outside)

    /// Whether the file holds a route that must be read.
    static func mustBeRead(_ path: String) -> Bool {
        ![
            "/odd/", "/errors/", "error", "no-route", "TRAILING-COMMAS", "UNQUOTED-KEYS", "/traces/",
            "/graphhopper/",
        ]
        .contains { path.contains($0) } || path.hasSuffix("osrm-zero-length.json")
    }
}

/// What always holds for a route that was read.
func checkInvariants(_ route: EngineRoute, _ comment: Comment) {
    let information = route.information
    #expect(!route.line.isEmpty && route.lineSpeeds.count == route.line.count - 1, comment)
    #expect(route.lineSpeeds.allSatisfy { $0.isFinite && $0 > 0 }, comment)
    #expect(
        information.maneuvers.map(\.id.rawValue) == Array(1...UInt32(max(1, information.maneuvers.count))),
        comment)
    #expect(information.segments.count == route.waypoints.count - 1, comment)
    for indices in [route.maneuverIndices, route.laneGuidanceIndices, route.segmentIndices] {
        #expect(
            indices == indices.sorted() && indices.allSatisfy { route.line.indices.contains($0) }, comment)
    }
    for maneuver in information.maneuvers {
        #expect(
            maneuver.junctionExitAngle.map { !maneuver.junctionElementAngles.contains($0) } ?? true, comment)
        #expect(
            maneuver.instructionVariants.count <= 8 && maneuver.junctionElementAngles.count <= 32, comment)
    }
    for lane in information.laneGuidances.flatMap(\.lanes) {
        #expect(
            lane.highlightedAngle.map { lane.angles.contains($0) && lane.status != .notGood } ?? true, comment
        )
    }
}

@Suite struct RouteFilesTests {
    @Test(arguments: RouteFiles.everything)
    func `every file is read, or refused with words`(_ path: String) throws {
        let data = try Data(contentsOf: URL(filePath: path))
        do throws(RouteReadingError) {
            let answer = try RouteReader.read(data)
            for route in answer.routes { checkInvariants(route, "\(path)") }
        } catch {
            #expect(!RouteFiles.mustBeRead(path), "\(path): \(error)")
            #expect(!"\(error)".isEmpty)
        }
    }

    @Test(arguments: RouteFiles.everything.filter(RouteFiles.mustBeRead))
    func `steps are counted, and directions are not lost`(_ path: String) throws {
        let data = try Data(contentsOf: URL(filePath: path))
        let root = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let route = try RouteReader.read(data).chosen
        var steps: [[String: Any]] = []
        if let trip = root["trip"] as? [String: Any] {
            for leg in trip["legs"] as? [[String: Any]] ?? [] {
                steps += leg["maneuvers"] as? [[String: Any]] ?? []
            }
        } else {
            let first = (root["routes"] as? [[String: Any]])?.first ?? root
            for leg in first["legs"] as? [[String: Any]] ?? [] {
                steps += leg["steps"] as? [[String: Any]] ?? []
            }
        }
        #expect(route.information.maneuvers.count == steps.count)
        for (maneuver, step) in zip(route.information.maneuvers, steps) {
            let hasDirection =
                (step["maneuver"] as? [String: Any])?["modifier"] is String
                || (step["type"] as? Int).map { $0 > 0 } ?? false
            if hasDirection {
                #expect(maneuver.type != .noTurn, "\(path): \(step["maneuver"] ?? step["type"] ?? "")")
            }
        }
    }

    @Test(arguments: RouteFiles.everything.filter(RouteFiles.mustBeRead))
    func `a drive along it ends once, in order, whatever the time step`(_ path: String) throws {
        let route = try RouteReader.read(Data(contentsOf: URL(filePath: path))).chosen
        let coarse = Self.discrete(route, step: .seconds(60))
        let fine = Self.discrete(route, step: .seconds(7))
        #expect(coarse == fine)
        #expect(fine.count { $0 == .finished } == 1 && fine.last == .finished)
        var state = ManeuverState.continue
        for change in fine {
            switch change {
            case .upcomingManeuvers(let ids):
                #expect(!ids.isEmpty)
                state = .continue
            case .maneuverState(let next):
                #expect(next.rawValue >= state.rawValue, "\(path)")
                state = next
            default: break
            }
        }
    }

    /// The changes of a whole drive that are bound to places.
    static func discrete(_ route: EngineRoute, step: Duration) -> [DriveChange] {
        var drive = Drive(route)
        var changes: [DriveChange] = []
        var steps = 0
        while !drive.isFinished, steps < 1_000_000 {
            drive.advance(by: step, into: &changes)
            steps += 1
        }
        return changes.filter {
            switch $0 {
            case .tripEstimates, .maneuverEstimates: false
            default: true
            }
        }
    }

    @Test(arguments: RouteFiles.all(in: RouteFiles.shipped))
    func `broken files are refused, never a crash`(_ path: String) throws {
        let data = try Data(contentsOf: URL(filePath: path))
        for seed in 0..<60 {
            var broken = data
            let place = (seed * 7_919 + 13) % data.count
            if seed % 3 == 0 { broken = data.prefix(place) } else { broken[place] = UInt8((seed * 31) % 256) }
            do throws(RouteReadingError) {
                for route in try RouteReader.read(Data(broken)).routes {
                    checkInvariants(route, "\(path) \(seed)")
                }
            } catch { #expect(!"\(error)".isEmpty) }
        }
    }
}

@Suite struct MappingTests {
    static func route(_ steps: String) throws -> EngineRoute {
        let text = """
            {"code":"Ok","routes":[{"legs":[{"steps":[\(steps)]}]}]}
            """
        return try RouteReader.read(Data(text.utf8)).chosen
    }

    static func step(_ type: String, _ modifier: String?, exit: Int? = nil, extra: String = "") -> String {
        let parts = [
            "\"type\":\"\(type)\"", modifier.map { "\"modifier\":\"\($0)\"" }, exit.map { "\"exit\":\($0)" },
            "\"location\":[9.5,47.1],\"bearing_before\":350,\"bearing_after\":20",
        ]
        return
            "{\"maneuver\":{\(parts.compactMap { $0 }.joined(separator: ","))},\"driving_side\":\"right\"\(extra)}"
    }

    static let rows: [(String, String?, Int?, ManeuverType)] = [
        ("turn", "left", nil, .leftTurn), ("turn", "uturn", nil, .uTurn), ("turn", nil, nil, .noTurn),
        ("turn", "straight", nil, .straightAhead), ("continue", "straight", nil, .followRoad),
        ("new name", "slight left", nil, .keepLeft), ("new name", "uturn", nil, .uTurn),
        ("end of road", "right", nil, .rightTurnAtEnd), ("end of road", "uturn", nil, .uTurn),
        ("end of road", "straight", nil, .straightAhead), ("fork", "slight right", nil, .keepRight),
        ("fork", "straight", nil, .straightAhead), ("merge", "straight", nil, .followRoad),
        ("on ramp", "sharp left", nil, .onRamp), ("off ramp", "slight left", nil, .highwayOffRampLeft),
        ("off ramp", "straight", nil, .offRamp), ("roundabout", "right", 1, .roundaboutExit1),
        ("roundabout", "right", 19, .roundaboutExit19), ("roundabout", "right", 20, .exitRoundabout),
        ("rotary", "straight", nil, .enterRoundabout), ("roundabout", "uturn", 3, .uTurnAtRoundabout),
        ("roundabout turn", "left", 3, .leftTurn), ("exit rotary", "right", 2, .exitRoundabout),
        ("depart", "left", nil, .startRoute), ("depart", "uturn", nil, .startRouteWithUTurn),
        ("arrive", nil, nil, .arriveAtDestination), ("arrive", "left", nil, .arriveAtDestinationLeft),
        ("arrive", "right", nil, .arriveAtDestinationRight), ("use lane", "straight", nil, .followRoad),
        ("endofroad", "left", nil, .leftTurn), ("notification", "slight right", nil, .keepRight),
    ]

    @Test(arguments: rows.indices)
    func `OSRM's maneuvers have CarPlay's types`(_ index: Int) throws {
        let (type, modifier, exit, expected) = Self.rows[index]
        let maneuver = try #require(
            try Self.route(Self.step(type, modifier, exit: exit)).information.maneuvers.first)
        #expect(maneuver.type == expected)
        if exit == 20 { #expect(maneuver.roundaboutExitNumber == 20) }
    }

    @Test func `angles are relative to the direction of entry`() throws {
        let junction = """
            ,"intersections":[{"bearings":[20,80,170,260],"in":2,"out":0,"lanes":[
              {"indications":["left","straight"],"valid":true,"active":true,"valid_indication":"straight"},
              {"indications":["right"],"valid":false}]}]
            """
        let route = try Self.route(Self.step("turn", "slight right", extra: junction))
        let maneuver = route.information.maneuvers[0]
        #expect(maneuver.junctionExitAngle?.degrees == 30)
        #expect(maneuver.junctionElementAngles.map(\.degrees) == [-90, 90])
        let lanes = route.information.laneGuidances[0].lanes
        #expect(
            lanes[0]
                == Lane(
                    angles: [.degrees(-90), .degrees(0)], highlightedAngle: .degrees(0), status: .preferred))
        #expect(lanes[1] == Lane(angles: [.degrees(90)], status: .notGood))
    }

    @Test func `a ferry is entered, changed and left`() throws {
        let ferry = ",\"mode\":\"ferry\""
        let steps = [
            Self.step("depart", nil), Self.step("notification", "straight", extra: ferry),
            Self.step("notification", "straight", extra: ferry), Self.step("notification", "straight"),
        ]
        let route = try Self.route(steps.joined(separator: ","))
        #expect(
            route.information.maneuvers.map(\.type) == [.startRoute, .enterFerry, .changeFerry, .exitFerry])
    }

    @Test func `engine errors are told`() {
        #expect(throws: RouteReadingError.engineError(code: "NoRoute", message: "none")) {
            try RouteReader.read(Data("{\"code\":\"NoRoute\",\"message\":\"none\",\"routes\":[]}".utf8))
        }
        #expect(throws: RouteReadingError.unknownFormat) { try RouteReader.read(Data("[1]".utf8)) }
        #expect(throws: RouteReadingError.self) { try RouteReader.read(Data("{\"a\":,}".utf8)) }
    }
}
