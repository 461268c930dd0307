import Foundation
import Testing
import WaymarkModel
import WaymarkRoutes

/// Answers that do not map one to one, and the decisions of Docs/routes.md about them.
@Suite struct TrapTests {
    @Test func `directions without a CarPlay type map to the nearest one`() throws {
        let (maneuvers, _) = try Sketch.read([
            .init(type: "new name", modifier: "uturn"), .init(type: "continue", modifier: "uturn"),
            .init(type: "turn", modifier: "straight"), .init(type: "end of road", modifier: "straight"),
            .init(type: "end of road", modifier: "uturn"), .init(type: "fork", modifier: "straight"),
            .init(type: "fork", modifier: "right"), .init(type: "merge", modifier: "slight left"),
            .init(type: "on ramp", modifier: "sharp left"), .init(type: "off ramp", modifier: "sharp left"),
            .init(type: "off ramp", modifier: "straight"),
        ])
        #expect(
            maneuvers.map(\.type) == [
                .uTurn, .uTurn, .straightAhead, .straightAhead, .uTurn, .straightAhead, .keepRight, .keepLeft,
                .onRamp, .highwayOffRampLeft, .offRamp,
            ])
    }

    @Test func `a roundabout in which the route ends has no exit`() throws {
        let (maneuvers, route) = try Sketch.read([.init(type: "roundabout", modifier: "right", exit: "null")])
        #expect(maneuvers[0].type == .enterRoundabout && maneuvers[0].roundaboutExitNumber == nil)
        #expect(maneuvers[0].junctionType == .roundabout)
        #expect(route.reports("the direction in which the roundabout is left"))
    }

    @Test(arguments: ["0", "-3", "256", "1.5", "\"2\"", "1e300"])
    func `an invalid exit number is reported`(_ exit: String) throws {
        let (maneuvers, route) = try Sketch.read([.init(type: "rotary", modifier: "right", exit: exit)])
        #expect(maneuvers[0].type == .enterRoundabout && maneuvers[0].roundaboutExitNumber == nil)
        #expect(route.reports("not an exit's number"))
    }

    @Test func `exits above 19 keep their number`() throws {
        let (maneuvers, _) = try Sketch.read([
            .init(type: "rotary", modifier: "right", exit: "19"),
            .init(type: "rotary", modifier: "right", exit: "20"),
            .init(type: "rotary", modifier: "right", exit: "255"),
        ])
        #expect(maneuvers.map(\.type) == [.roundaboutExit19, .exitRoundabout, .exitRoundabout])
        #expect(maneuvers.map(\.roundaboutExitNumber) == [19, 20, 255])
    }

    @Test
    func `entering and leaving a roundabout are two maneuvers and the entry has the exit and the angle`()
        throws
    {
        let (maneuvers, route) = try Sketch.read([
            .init(type: "roundabout", modifier: "right", exit: "3", bearings: (90, 150)),
            .init(type: "exit roundabout", modifier: "right", exit: "3", bearings: (330, 10)),
            .init(type: "exit rotary", modifier: "right", exit: "5", bearings: (330, 10)),
        ])
        #expect(maneuvers.map(\.type) == [.roundaboutExit3, .exitRoundabout, .exitRoundabout])
        #expect(maneuvers.map(\.roundaboutExitNumber) == [3, nil, nil])
        #expect(maneuvers.map(\.junctionExitAngle) == [.degrees(-80), .degrees(40), .degrees(40)])
        #expect(maneuvers.allSatisfy { $0.junctionType == .roundabout })
        // Only a number that the entry did not say is lost.
        #expect(route.notices.count { $0.reason.contains("the exit's number on leaving") } == 1)
    }

    @Test func `without a separate exit maneuver the banner gives the exit angle of a roundabout`() throws {
        let banner = """
            ,"bannerInstructions":[{"primary":{"type":"roundabout","degrees":270,"driving_side":"SIDE"}}]
            """
        for (side, angle) in [("right", -90), ("left", 90)] {
            var before = Sketch.Step(type: "turn", modifier: "left", bearings: (0, 0))
            before.more = banner.replacing("SIDE", with: side)
            let (maneuvers, _) = try Sketch.read([
                before, .init(type: "roundabout", modifier: "left", exit: "3"),
            ])
            #expect(maneuvers[1].junctionExitAngle == .degrees(angle))
        }
    }

    @Test func `a roundabout that leads back becomes a U-turn at a roundabout`() throws {
        let (maneuvers, _) = try Sketch.read([
            .init(type: "roundabout turn", modifier: "uturn", exit: "3"),
            .init(type: "roundabout turn", modifier: "left", exit: "3"),
            .init(type: "roundabout", modifier: "uturn", exit: "4"),
        ])
        #expect(maneuvers.map(\.type) == [.uTurnAtRoundabout, .leftTurn, .uTurnAtRoundabout])
        #expect(maneuvers.map(\.roundaboutExitNumber) == [3, 3, 4])
    }

    @Test func `a start within a roundabout stays a start and keeps the exit`() throws {
        let bytes = Sketch.valhalla(["\"type\":3,\"roundabout_exit_count\":4", "\"type\":4"])
        let start = try RouteReader.read(bytes).routes[0].information.maneuvers[0]
        #expect(
            start.type == .startRoute && start.roundaboutExitNumber == 4 && start.junctionType == .roundabout)
    }

    @Test func `single, paired and consecutive ferries in Valhalla's form are recognised`() throws {
        let types = ["1", "29", "28", "28", "29", "4"].map { "\"type\":\($0)" }
        let route = try RouteReader.read(Sketch.valhalla(types)).routes[0]
        #expect(
            route.information.maneuvers.map(\.type) == [
                .startRoute, .exitFerry, .enterFerry, .changeFerry, .exitFerry, .arriveAtDestination,
            ])
    }

    @Test func `ferries in OSRM's form are recognised by the travel mode`() throws {
        let (maneuvers, _) = try Sketch.read([
            .init(type: "notification", modifier: "straight", mode: "ferry"),
            .init(type: "new name", modifier: "straight", mode: "ferry"),
            .init(type: "notification", modifier: "right"), .init(type: "notification", modifier: "right"),
        ])
        #expect(maneuvers.map(\.type) == [.enterFerry, .changeFerry, .exitFerry, .keepRight])
    }

    @Test func `a route may begin and end on a ferry`() throws {
        let steps: [Sketch.Step] = [
            .init(type: "depart", mode: "ferry"), .init(type: "arrive", mode: "ferry"),
        ]
        let route = try RouteReader.read(Sketch.osrm([steps])).routes[0]
        #expect(route.information.maneuvers.map(\.type) == [.startRoute, .arriveAtDestination])
    }

    @Test func `a maneuver without a counterpart follows the road`() throws {
        let (maneuvers, _) = try Sketch.read([
            .init(type: "use lane", modifier: "straight"), .init(type: "notification"),
        ])
        #expect(maneuvers.map(\.type) == [.followRoad, .followRoad])
    }

    @Test func `unknown types become turns and are reported`() throws {
        let (maneuvers, route) = try Sketch.read([
            .init(type: "endofroad", modifier: "left"), .init(type: "teleport", modifier: "slight right"),
            .init(type: nil, modifier: "left"), .init(type: "teleport", bearings: (350, 80)),
            .init(type: "teleport", bearings: nil),
        ])
        #expect(
            maneuvers.map(\.type) == [
                .leftTurnAtEnd, .slightRightTurn, .leftTurn, .rightTurn, .leftTurn,
            ])
        #expect(route.reports("\"teleport\" is no known type") && route.reports("\"\" is no known type"))
        #expect(!route.reports("endofroad"))
    }

    @Test func `a type may be in a member with another name`() throws {
        let (maneuvers, _) = try Sketch.read([
            .init(type: nil, modifier: "left", maneuver: ",\"maneuver_type\":\"fork\"")
        ])
        #expect(maneuvers[0].type == .keepLeft)
    }

    @Test func `a turn without a modifier takes its direction from the bearings`() throws {
        let (maneuvers, route) = try Sketch.read([
            .init(type: "turn", bearings: (10, 280)),
            .init(type: "turn", modifier: "backwards", bearings: (0, 185)),
        ])
        #expect(maneuvers.map(\.type) == [.leftTurn, .uTurn])
        #expect(
            route.reports("taken from the bearings") && route.reports("\"backwards\" is no known modifier"))
    }

    @Test(arguments: [30, 31, 32, 33, 34, 35, 36, 39, 40, 41, 42, 43, 44])
    func `maneuvers on foot and in public transport are reported`(_ type: Int) throws {
        let route = try RouteReader.read(Sketch.valhalla(["\"type\":1", "\"type\":\(type)", "\"type\":4"]))
            .routes[0]
        #expect(route.information.maneuvers.count == 3)
        #expect(route.information.maneuvers[1].type != .noTurn, "the line says where it leads")
        #expect(route.reports("on foot or in public transport"))
    }

    @Test func `an unknown type of Valhalla takes its direction from the bearings`() throws {
        let odd = "\"type\":77,\"bearing_before\":10,\"bearing_after\":100"
        let route = try RouteReader.read(Sketch.valhalla(["\"type\":1", odd, "\"type\":4"])).routes[0]
        #expect(route.information.maneuvers[1].type == .rightTurn)
        #expect(route.reports("no known type"))
    }

    @Test func `a step's own modifier counts, not its banner's`() throws {
        var before = Sketch.Step(type: "turn", modifier: "left")
        before.more = ",\"bannerInstructions\":[{\"primary\":{\"type\":\"fork\",\"modifier\":\"left\"}}]"
        let (maneuvers, route) = try Sketch.read([before, .init(type: "fork", modifier: "slight right")])
        #expect(maneuvers[1].type == .keepRight)
        #expect(route.notices.contains { $0.path.contains("bannerInstructions[].primary.modifier") })
    }

    @Test func `the end of a leg is not the end of the route`() throws {
        let leg: [Sketch.Step] = [.init(type: "depart"), .init(type: "arrive", modifier: "left")]
        let route = try RouteReader.read(Sketch.osrm([leg, leg])).routes[0]
        let maneuvers = route.information.maneuvers
        #expect(
            maneuvers.map(\.type) == [
                .startRoute, .arriveAtDestinationLeft, .startRoute, .arriveAtDestinationLeft,
            ])
        #expect(maneuvers.map(\.isIntermediateWaypoint) == [false, true, false, false])
        #expect(route.waypoints.count == 3 && route.information.segments.map(\.id) == ["leg-1", "leg-2"])
    }

    @Test func `the traffic side comes from the answer, the options or roundabouts, or is assumed`() throws {
        let (_, silent) = try Sketch.read([])
        #expect(silent.information.maneuvers.allSatisfy { $0.trafficSide == .right })
        #expect(silent.reports("right is assumed"))
        let (said, route) = try Sketch.read([
            .init(modifier: "left", more: ",\"driving_side\":\"left\""), .init(modifier: "left"),
        ])
        #expect(said.allSatisfy { $0.trafficSide == .left } && !route.reports("traffic drives"))
        let bytes = Sketch.osrm([
            [.init(type: "depart", more: ",\"driving_side\":\"left\""), .init(type: "arrive")]
        ])
        let asked = try RouteReader.read(bytes, options: RouteReadingOptions(trafficSide: .right)).routes[0]
        #expect(asked.information.maneuvers.allSatisfy { $0.trafficSide == .right })
    }

    // MARK: Lanes and junctions

    @Test func `lanes of all engines map to the same model`() throws {
        var turn = Sketch.Step(type: "turn", modifier: "right")
        turn.intersection = """
            ,"lanes":[{"indications":["left","straight"],"valid":false},
            {"indications":["straight","right"],"valid":true},
            {"indications":["right"],"valid":true,"active":true,"valid_indication":"right"},
            {"indications":[],"valid":true},{"indications":["none"]},{"indications":["sideways"],"valid":true}]
            """
        let (maneuvers, route) = try Sketch.read([turn])
        let guidance = try #require(route.information.laneGuidances.first)
        #expect(maneuvers[0].linkedLaneGuidance == guidance.id)
        #expect(guidance.lanes.map(\.status) == [.notGood, .good, .preferred, .good, .notGood, .good])
        #expect(
            guidance.lanes.map { $0.angles.map { Int($0.degrees) } } == [
                [-90, 0], [0, 90], [90], [], [], [],
            ])
        #expect(guidance.lanes.map(\.highlightedAngle) == [nil, .degrees(90), .degrees(90), nil, nil, nil])
        #expect(route.reports("no known direction of a lane"))
    }

    @Test func `Valhalla's lanes are masks and valid and active are bits, not booleans`() throws {
        let lanes = """
            "type":10,"bearing_before":0,"bearing_after":90,"lanes":[{"directions":8},{"directions":66,"active":64},
            {"directions":66,"valid":2},{"directions":544,"active":512},{"directions":1,"valid":1},{"directions":4096}]
            """
        let route = try RouteReader.read(Sketch.valhalla(["\"type\":1", lanes, "\"type\":4"])).routes[0]
        let found = try #require(route.information.laneGuidances.first).lanes
        #expect(found.map(\.status) == [.notGood, .preferred, .good, .preferred, .good, .notGood])
        #expect(found.map(\.highlightedAngle) == [nil, .degrees(90), .degrees(0), .degrees(-30), nil, nil])
        #expect(route.reports("unknown directions of a lane"))
    }

    @Test func `lanes between maneuvers belong to no maneuver and lanes in a banner to its own`() throws {
        var on = Sketch.Step(type: "turn", modifier: "left")
        on.more = """
            ,"bannerInstructions":[{"sub":{"components":[{"type":"text","text":"x"},
            {"type":"lane","directions":["left"],"active":true,"active_direction":"left"},
            {"type":"lane","directions":["straight"],"active":false}]}}]
            """
        var depart = Sketch.Step(type: "depart")
        depart.intersection = ",\"lanes\":[{\"indications\":[\"straight\"],\"valid\":true}]"
        let steps = [depart, on, .init(type: "turn", modifier: "left"), .init(type: "arrive")]
        let route = try RouteReader.read(Sketch.osrm([steps])).routes[0]
        #expect(route.information.laneGuidances.map(\.lanes.count) == [1, 2])
        #expect(route.information.maneuvers.map(\.linkedLaneGuidance?.rawValue) == [nil, nil, 2, nil])
    }

    @Test func `the angles of other roads are relative to the entry and exclude entry and exit`() throws {
        var turn = Sketch.Step(type: "turn", modifier: "right", bearings: (90, 180))
        turn.intersection = ",\"bearings\":[0,90,180,270,181,95],\"in\":3,\"out\":2"
        let (maneuvers, _) = try Sketch.read([turn])
        #expect(maneuvers[0].junctionExitAngle == .degrees(90))
        #expect(maneuvers[0].junctionElementAngles.map { Int($0.degrees) } == [-90, 0, 5, 91])
    }

    @Test func `a departure has no entry, so it has no angles`() throws {
        let (_, route) = try Sketch.read([])
        #expect(route.information.maneuvers.allSatisfy { $0.junctionExitAngle == nil })
        #expect(route.information.maneuvers.allSatisfy { $0.junctionElementAngles.isEmpty })
    }

    // MARK: Limits

    @Test func `text that is too long is cut between characters and reported`() throws {
        let family = String(repeating: "👨‍👩‍👧", count: 60)
        let (maneuvers, route) = try Sketch.read([
            .init(type: "turn", modifier: "left", name: family, more: ",\"exits\":\"\(family)\""),
            .init(type: "turn", modifier: "left", name: "A\\u0000B\\nC"),
        ])
        let name = try #require(maneuvers[0].roadFollowingManeuverVariants.first)
        #expect(name.utf8.count <= 512 && name.utf8.count > 480 && family.hasPrefix(name))
        #expect(maneuvers[0].highwayExitLabel.utf8.count <= 64 && !maneuvers[0].highwayExitLabel.isEmpty)
        #expect(route.reports("were cut to at most 512") && route.reports("were cut to at most 64"))
        #expect(maneuvers[1].roadFollowingManeuverVariants == ["A B C"])
        #expect(route.reports("control characters"))
    }

    @Test func `excess lanes, roads and legs are dropped and reported`() throws {
        var turn = Sketch.Step(type: "turn", modifier: "left", bearings: (0, 270))
        let lanes = Array(repeating: "{\"indications\":[\"left\"]}", count: 40).joined(separator: ",")
        let bearings = (0..<60).map { "\($0 * 3)" }.joined(separator: ",")
        turn.intersection = ",\"lanes\":[\(lanes)],\"bearings\":[\(bearings)]"
        let (maneuvers, route) = try Sketch.read([turn])
        #expect(
            route.information.laneGuidances[0].lanes.count == 32 && route.reports("40 lanes were cut to 32"))
        #expect(maneuvers[0].junctionElementAngles.count == 32 && route.reports("60 roads of a junction"))
        let leg: [Sketch.Step] = [.init(type: "depart"), .init(type: "arrive")]
        let long = try RouteReader.read(Sketch.osrm(Array(repeating: leg, count: 70))).routes[0]
        Promises.check(long)
        #expect(long.information.segments.count == 65 && long.reports("70 legs were cut to 65"))
        // The rest of the route is missing, so this is the end of the directions, not the destination.
        #expect(long.information.maneuvers.last?.type == .arriveEndOfDirections)
        #expect(long.information.maneuvers.count { $0.isIntermediateWaypoint } == 64)
    }

    @Test func `maneuvers above 4096 are dropped one by one and reported`() throws {
        let steps = [.init(type: "depart")] + Array(repeating: Sketch.Step(modifier: "left"), count: 4_200)
        let route = try RouteReader.read(Sketch.osrm([steps])).routes[0]
        Promises.check(route)
        #expect(route.information.maneuvers.count == 4_096)
        #expect(route.reports("a route has at most 4096 maneuvers"))
        #expect(
            route.notices.last?.path == "routes[0].legs[0].steps[4200]" || route.reports("further notices"))
    }

    @Test func `numbers out of range are limited and reported`() throws {
        let text = """
            {"routes":[{"distance":1e300,"duration":-5,"legs":[{"distance":-1,"duration":1e300,"steps":[
            {"maneuver":{"type":"depart","location":[9,1],"bearing_after":1e300},"distance":-7,"duration":1e300,
            "geometry":{"coordinates":[[9,1,1e9],[9,1.1,99]]}},
            {"maneuver":{"type":"arrive","location":[9,1.1]},"geometry":{"coordinates":[[9,1.1]]}}]}]}]}
            """
        let route = try RouteReader.read(Array(text.utf8)).routes[0]
        Promises.check(route)
        #expect(route.distance == .meters(50_000_000) && route.duration == .zero)
        #expect(route.line.map(\.altitude) == [nil, 99])
        #expect(route.reports("a distance of 1e+300 m was brought into range"))
    }

    @Test func `members that are not read are reported once for each kind`() throws {
        let step = Sketch.Step(modifier: "left", more: ",\"weight\":7,\"pronunciation\":\"x\"")
        let (_, route) = try Sketch.read([step, step])
        let weight = route.notices.filter { $0.path.hasSuffix(".weight") }
        #expect(
            weight == [
                RouteNotice(path: "routes[0].legs[].steps[].weight", reason: "not carried over, 2 times")
            ])
        #expect(route.notices.contains { $0.path.hasSuffix(".pronunciation") })
        #expect(!route.notices.contains { $0.path.hasSuffix(".name") || $0.path.hasSuffix(".type") })
    }

    // MARK: Choices, instructions, speeds

    @Test func `alternative routes become choices of one trip`() throws {
        guard let file = RouteFile.named("mapbox/three-alternatives.json") else { return }
        let answer = try file.answer()
        #expect(answer.choices.map(\.id) == Array(1...UInt32(answer.routes.count)))
        #expect(answer.choices.allSatisfy { !$0.summaryVariants.isEmpty && $0.travelEstimates != nil })
        let trip = answer.trip(id: "t", choosing: 1)
        #expect(trip.selectedRouteChoice == 2 && trip.routeChoices == answer.choices)
        #expect(trip.origin == answer.routes[1].waypoints.first && trip.waypoints.isEmpty)
    }

    @Test func `instructions are composed only if the engine has none`() throws {
        let silent = try Sketch.read([.init(modifier: "left", name: "Landstrasse", more: ",\"ref\":\"28\"")])
        #expect(
            silent.maneuvers[0].instructionVariants == [
                "Turn left onto Landstrasse (28)", "Turn left onto Landstrasse", "Turn left onto 28",
                "Turn left",
            ])
        #expect(
            silent.maneuvers[0].roadFollowingManeuverVariants == ["Landstrasse (28)", "Landstrasse", "28"])
        let german = try Sketch.read([
            .init(modifier: "left", maneuver: ",\"instruction\":\"Links abbiegen\"")
        ])
        #expect(german.maneuvers[0].instructionVariants == ["Links abbiegen"])
        for route in try #require(RouteFile.shipped.first { $0.name == "vaduz-balzers.json" }).answer().routes
        {
            #expect(route.information.maneuvers[12].instructionVariants == ["Turn left."])
            #expect(
                route.information.maneuvers[11].instructionVariants == ["Bear right onto Gagoz.", "Gagoz"])
        }
    }

    @Test func `speeds follow from the times between points, scaled to the engine's total time`() throws {
        let text = """
            {"routes":[{"legs":[{"duration":40,"annotation":{"duration":[10,20]},"steps":[
            {"maneuver":{"type":"depart","location":[9,0]},"duration":40,
            "geometry":{"coordinates":[[9,0],[9,0.001],[9,0.002]]}},
            {"maneuver":{"type":"arrive","location":[9,0.002]},"geometry":{"coordinates":[[9,0.002],[9,0.002]]}}]}]}]}
            """
        let route = try RouteReader.read(Array(text.utf8)).routes[0]
        #expect(abs(route.lineSpeeds[0] / route.lineSpeeds[1] - 2) < 1e-6)
        #expect(abs(LineMeasure(line: route.line, speeds: route.lineSpeeds).duration - 40) < 1e-6)
    }

    @Test func `735 instructions of OSRM are read`() throws {
        guard let some = RouteFile.recorded.first else { return }
        let root = some.url.path.dropLast(some.name.count)
        let lines = URL(filePath: "\(root)more/osrm-text-instructions/v5-steps.jsonl")
        guard let text = try? String(contentsOf: lines, encoding: .utf8) else { return }
        for line in text.split(separator: "\n") {
            let json = try JSONNode(JSONParser.parse(Array(line.utf8)))
            let maneuver = try #require(json["step"]?["maneuver"])
            let (maneuvers, _) = try Sketch.read([
                .init(
                    type: maneuver["type"]?.string, modifier: maneuver["modifier"]?.string,
                    exit: maneuver["exit"]?.integer.map(String.init),
                    mode: json["step"]?["mode"]?.string ?? "driving", bearings: nil)
            ])
            #expect(maneuvers[0].type != .noTurn || maneuver["modifier"] == nil, "\(line)")
            if let exit = maneuver["exit"]?.integer, maneuvers[0].type.roundaboutExit != nil {
                #expect(maneuvers[0].type.roundaboutExit.map(Int.init) == exit)
            }
        }
    }
}
