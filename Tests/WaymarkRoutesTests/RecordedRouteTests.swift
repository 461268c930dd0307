import Foundation
import Testing
import WaymarkModel
import WaymarkProtocol
import WaymarkRoutes

/// Real answers, compared with the output of another JSON parser.
@Suite struct RecordedRouteTests {
    /// The recorded files that are not routes, with a part of the expected reason.
    private static let unreadable = [
        "more/errors/": "answered", "more/mapbox/no-route.json": "NoRoute",
        "more/mapbox/refresh-error-InvalidInput.json": "InvalidInput",
        "more/osrm/error-InvalidQuery.json": "InvalidQuery",
        "more/valhalla/error-207.json": "207", "odd/osrm-error.json": "NoSegment",
        "odd/valhalla-error.json": "171",
        "more/valhalla/miles-UNQUOTED-KEYS.json": "line 2, column 5",
        "more/mapbox/nl-a12-normal-TRAILING-COMMAS.json": "line 22, column 29",
        "more/mapbox/nl-a12-detour-TRAILING-COMMAS.json": "line 22, column 29",
        "odd/not-quite-json.json": "line 22, column 29",
        "more/graphhopper/roundabout-instruction.json": "an array",
        "strangers/here-car.json": "HERE Routing 8", "strangers/trip-berlin.json": "steps=true",
    ]

    @Test(arguments: RouteFile.recorded)
    func `every recorded file is read or fails with a reason and a location`(_ file: RouteFile) throws {
        let reason = Self.unreadable.first { file.name.hasPrefix($0.key) }?.value
        let bytes = try file.bytes()
        do throws(RouteReadingError) {
            _ = try RouteReader.read(bytes)
            #expect(reason == nil, "was read, but must fail")
        } catch {
            let word = try #require(reason, "\(error)")
            #expect("\(error)".contains(word))
        }
    }

    @Test(arguments: RouteFile.readable)
    func `every route satisfies the documented invariants`(_ file: RouteFile) throws {
        for route in try file.answer().routes { Promises.check(route) }
    }

    @Test(arguments: RouteFile.readable)
    func `a maneuver with a direction never becomes noTurn`(_ file: RouteFile) throws {
        for route in try file.answer().routes {
            for maneuver in route.information.maneuvers {
                #expect(maneuver.type != .noTurn, "\(maneuver.instructionVariants)")
                #expect(maneuver.type.isRecognized)
                #expect(!maneuver.instructionVariants.isEmpty)
            }
        }
    }

    @Test(arguments: RouteFile.readable)
    func `a maneuver has the meaning of the CarPlay guide`(_ file: RouteFile) throws {
        for route in try file.answer().routes {
            let maneuvers = route.information.maneuvers
            for (before, maneuver) in zip([nil] + maneuvers, maneuvers) {
                let road = maneuver.roadFollowingManeuverVariants.first
                if maneuver.type == .straightAhead, let road {
                    #expect(before?.roadFollowingManeuverVariants.first != road)
                }
                guard let degrees = maneuver.junctionExitAngle.map({ abs(Int($0.degrees)) }) else { continue }
                switch maneuver.type {
                case .leftTurn, .rightTurn: #expect((45...135).contains(degrees))
                case .sharpLeftTurn, .sharpRightTurn: #expect(degrees > 135)
                case .slightLeftTurn, .slightRightTurn: #expect(degrees <= 60)
                default: break
                }
            }
        }
    }

    /// All routes of an answer in OSRM's form, also a bare one.
    private static func osrmRoutes(_ json: [String: Any]) -> [[String: Any]]? {
        if let routes = (json["routes"] ?? json["trips"]) as? [[String: Any]] { return routes }
        guard let legs = json["legs"] as? [[String: Any]], legs.first?["steps"] != nil else { return nil }
        return [json]
    }

    @Test(arguments: RouteFile.readable)
    func `an answer in OSRM's form is read completely`(_ file: RouteFile) throws {
        guard let routes = Self.osrmRoutes(try file.json()) else { return }
        let read = try file.answer().routes
        #expect(read.count == routes.count)
        for (route, json) in zip(read, routes) {
            let legs = try #require(json["legs"] as? [[String: Any]])
            let steps = try legs.map { try #require($0["steps"] as? [[String: Any]]) }
            #expect(route.information.segments.map(\.maneuvers.count) == steps.map(\.count))
            #expect(abs(Double(route.distance.meters) - ((json["distance"] as? Double) ?? 0)) <= 0.5)
            let all = Array(steps.joined())
            for (maneuver, step) in zip(route.information.maneuvers, all) {
                try Self.compare(maneuver, step, isSideContradicted: route.reports("but the engine says"))
            }
            let lanes = all.flatMap { ($0["intersections"] as? [[String: Any]]) ?? [] }
                .filter { !(($0["lanes"] as? [Any]) ?? []).isEmpty }
            #expect(route.information.laneGuidances.count >= lanes.count)
            let length = LineMeasure(line: route.line, speeds: route.lineSpeeds).length
            #expect(abs(length - Double(route.distance.meters)) <= max(25, length * 0.02), "\(length)")
        }
    }

    private static func compare(
        _ maneuver: Maneuver, _ step: [String: Any], isSideContradicted: Bool
    ) throws {
        let json = try #require(step["maneuver"] as? [String: Any])
        let kind = json["type"] as? String ?? ""
        if let words = json["instruction"] as? String {
            #expect(maneuver.instructionVariants.contains(words))
        }
        if kind == "turn", let modifier = json["modifier"] as? String, step["mode"] as? String == "driving" {
            let types: [String: ManeuverType] = [
                "left": .leftTurn, "right": .rightTurn, "slight left": .slightLeftTurn,
                "slight right": .slightRightTurn, "sharp left": .sharpLeftTurn,
                "sharp right": .sharpRightTurn,
                "straight": .straightAhead, "uturn": .uTurn,
            ]
            // The angle decides how far a turn turns, and the names of the roads what straight on means.
            let said = types[modifier]?.turning(by: maneuver.junctionExitAngle)
            let isStraight = said == .straightAhead && maneuver.type == .followRoad
            #expect(maneuver.type == said || isStraight)
        }
        if kind == "turn", let before = json["bearing_before"] as? Int,
            let after = json["bearing_after"] as? Int
        {
            // One of the recorded answers contradicts itself: the line decides for the intersection's own road.
            let junction = (step["intersections"] as? [[String: Any]])?.first
            let roads = junction?["bearings"] as? [Int] ?? []
            let out = (junction?["out"] as? Int).flatMap { roads.indices.contains($0) ? roads[$0] : nil }
            let isContradicted = out.map { abs((($0 - after + 540) % 360) - 180) > 90 } ?? false
            let corrected = isContradicted ? out.map { Angle.degrees($0 - before) } : nil
            let angle = maneuver.junctionExitAngle
            #expect(angle == .degrees(after - before) || angle == corrected)
        }
        if ["roundabout", "rotary", "roundabout turn"].contains(kind) {
            #expect(maneuver.junctionType == .roundabout)
            #expect(maneuver.roundaboutExitNumber.map(Int.init) == json["exit"] as? Int)
        }
        // A roundabout's own line decides; the engine lacked the country's boundary where it said something else.
        if let side = step["driving_side"] as? String, !isSideContradicted {
            #expect(maneuver.trafficSide == (side == "left" ? .left : .right))
        }
        if let exits = step["exits"] as? String { #expect(maneuver.highwayExitLabel == exits) }
    }

    @Test(arguments: RouteFile.readable)
    func `an answer in Valhalla's form is read completely`(_ file: RouteFile) throws {
        guard let trip = try file.json()["trip"] as? [String: Any] else { return }
        let route = try file.answer().routes[0]
        let legs = try #require(trip["legs"] as? [[String: Any]])
        let maneuvers = try legs.map { try #require($0["maneuvers"] as? [[String: Any]]) }
        #expect(route.information.segments.map(\.maneuvers.count) == maneuvers.map(\.count))
        let summary = try #require(trip["summary"] as? [String: Any])
        let unit = trip["units"] as? String == "miles" ? 1_609.344 : 1_000
        let length = try #require(summary["length"] as? Double) * unit
        #expect(abs(Double(route.distance.meters) - length) <= 0.5)
        let measured = LineMeasure(line: route.line, speeds: route.lineSpeeds)
        #expect(abs(measured.length - length) <= max(25, length * 0.02))
        for (maneuver, json) in zip(route.information.maneuvers, maneuvers.joined()) {
            let words = try #require(json["instruction"] as? String)
            #expect(maneuver.instructionVariants.contains(words))
            #expect(maneuver.roundaboutExitNumber.map(Int.init) == json["roundabout_exit_count"] as? Int)
            let lanes = (json["lanes"] as? [[String: Any]]) ?? []
            let linked = maneuver.linkedLaneGuidance.map {
                route.information.laneGuidances[Int($0.rawValue) - 1]
            }
            #expect((linked?.lanes.count ?? 0) == lanes.count)
            for (lane, json) in zip(linked?.lanes ?? [], lanes) {
                let expected: LaneStatus =
                    json["active"] != nil ? .preferred : json["valid"] != nil ? .good : .notGood
                #expect(lane.status == expected)
            }
        }
    }

    @Test(arguments: [
        "vaduz-balzers", "vaduz-triesen-balzers", "monaco-rotaries", "schellenberg-malbun-side",
    ])
    func `both forms of one answer of Valhalla become the same maneuvers`(_ name: String) throws {
        guard let own = RouteFile.named("valhalla/\(name).json"),
            let osrm = RouteFile.named("osrm/\(name).json")
        else { return }
        let sides = RouteReadingOptions(trafficSide: .right)
        let routes = try (own.answer(sides).routes[0], osrm.answer(sides).routes[0])
        #expect(routes.0.information.maneuvers.count == routes.1.information.maneuvers.count)
        for (lhs, rhs) in zip(routes.0.information.maneuvers, routes.1.information.maneuvers) {
            #expect(lhs.junctionExitAngle == rhs.junctionExitAngle, "\(lhs.instructionVariants)")
            #expect(lhs.roundaboutExitNumber == rhs.roundaboutExitNumber)
            #expect(lhs.isIntermediateWaypoint == rhs.isIntermediateWaypoint)
        }
    }

    @Test func `the shipped routes are those of the demo`() throws {
        let names = RouteFile.shipped.map(\.name)
        #expect(
            names == [
                "heidelberg-lanes.json", "singapore-left-hand.json", "vaduz-balzers-charging.json",
                "vaduz-balzers-limits.json", "vaduz-balzers.json",
            ])
        let direct = try #require(RouteFile.named("vaduz-balzers.json")).answer().routes[0]
        let stopping = try #require(RouteFile.named("vaduz-balzers-charging.json")).answer().routes[0]
        #expect(direct.waypoints.count == 2 && stopping.waypoints.count == 3)
        for (lhs, rhs) in [(0, 0), (1, 2)] {
            #expect(direct.waypoints[lhs].center.meters(to: stopping.waypoints[rhs].center) < 1)
        }
        #expect(stopping.information.maneuvers.filter(\.isIntermediateWaypoint).count == 1)
        let heidelberg = try #require(RouteFile.named("heidelberg-lanes.json")).answer().routes[0]
        #expect(heidelberg.information.laneGuidances.count == 4)
        #expect(heidelberg.information.maneuvers.allSatisfy { $0.trafficSide == .right })
        let singapore = try #require(RouteFile.named("singapore-left-hand.json")).answer().routes[0]
        #expect(singapore.information.maneuvers.allSatisfy { $0.trafficSide == .left })
        #expect(singapore.information.maneuvers.map(\.type) == [.startRoute, .uTurn, .arriveAtDestination])
    }

    @Test func `the traffic side is inferred from roundabouts if the engine does not say`() throws {
        guard let perth = RouteFile.named("more/valhalla-live/perth-left-roundabout.json") else { return }
        #expect(try perth.answer().routes[0].information.maneuvers.allSatisfy { $0.trafficSide == .left })
    }
}

/// The invariants of every route that was read.
enum Promises {
    static func check(_ route: EngineRoute, _ location: SourceLocation = #_sourceLocation) {
        let points = route.line.count
        #expect(points >= 1, sourceLocation: location)
        #expect(route.lineSpeeds.count == points - 1, sourceLocation: location)
        #expect(route.lineSpeeds.allSatisfy { $0.isFinite && $0 > 0 }, sourceLocation: location)
        #expect(zip(route.line, route.line.dropFirst()).allSatisfy { !$0.isAt($1) }, sourceLocation: location)
        #expect(route.line.allSatisfy { $0.isOnEarth }, sourceLocation: location)
        #expect(route.waypoints.count == route.information.segments.count + 1, sourceLocation: location)
        #expect(route.stopSeconds.count == route.waypoints.count, sourceLocation: location)
        for indices in [
            route.maneuverIndices, route.laneGuidanceIndices, route.segmentIndices,
            route.roads.map(\.lineIndex),
        ] {
            #expect(indices == indices.sorted(), sourceLocation: location)
            #expect(indices.allSatisfy { (0..<points).contains($0) }, sourceLocation: location)
        }
        #expect(route.segmentIndices.first == 0, sourceLocation: location)
        #expect(route.roads.first?.lineIndex ?? 0 == 0, sourceLocation: location)
        self.check(route.information, route, location)
    }

    private static func check(
        _ information: RouteInformation, _ route: EngineRoute, _ location: SourceLocation
    ) {
        // With types, because the compiler takes seconds to infer them.
        let maneuverIDs: [UInt32] = information.maneuvers.map(\.id.rawValue)
        let guidanceIDs: [UInt32] = information.laneGuidances.map(\.id.rawValue)
        for ids in [maneuverIDs, guidanceIDs] {
            let ascending: [UInt32] = ids.indices.map { UInt32($0) + 1 }
            #expect(ids == ascending, sourceLocation: location)
        }
        #expect(route.maneuverIndices.count == information.maneuvers.count, sourceLocation: location)
        #expect(route.laneGuidanceIndices.count == information.laneGuidances.count, sourceLocation: location)
        #expect(
            information.segments.flatMap(\.maneuvers) == information.maneuvers.map(\.id),
            sourceLocation: location)
        #expect(
            information.segments.flatMap(\.laneGuidances) == information.laneGuidances.map(\.id),
            sourceLocation: location)
        #expect(
            Set(information.segments.map(\.id)).count == information.segments.count, sourceLocation: location)
        let lanes = Set(information.laneGuidances.map(\.id))
        for maneuver in information.maneuvers {
            #expect(maneuver.linkedLaneGuidance.map { lanes.contains($0) } ?? true, sourceLocation: location)
            #expect(
                maneuver.junctionExitAngle.map { !maneuver.junctionElementAngles.contains($0) } ?? true,
                sourceLocation: location)
            #expect(
                maneuver.junctionElementAngles.count <= ProtocolConstants.anglesMax, sourceLocation: location
            )
            #expect(
                maneuver.highwayExitLabel.utf8.count <= ProtocolConstants.shortTextBytesMax,
                sourceLocation: location)
            self.check(texts: maneuver.instructionVariants, location)
            self.check(texts: maneuver.roadFollowingManeuverVariants, location)
        }
        for lane in information.laneGuidances.flatMap(\.lanes) {
            #expect(lane.highlightedAngle.map { lane.angles.contains($0) } ?? true, sourceLocation: location)
            #expect(lane.status != .notGood || lane.highlightedAngle == nil, sourceLocation: location)
        }
        for guidance in information.laneGuidances {
            #expect((1...ProtocolConstants.lanesMax).contains(guidance.lanes.count), sourceLocation: location)
        }
    }

    private static func check(texts: [String], _ location: SourceLocation) {
        #expect(texts.count <= ProtocolConstants.textVariantsMax, sourceLocation: location)
        #expect(
            texts.allSatisfy { !$0.isEmpty && $0.utf8.count <= ProtocolConstants.textBytesMax },
            sourceLocation: location)
        #expect(texts.map(\.count) == texts.map(\.count).sorted(by: >), sourceLocation: location)
        #expect(Set(texts).count == texts.count, sourceLocation: location)
    }
}
