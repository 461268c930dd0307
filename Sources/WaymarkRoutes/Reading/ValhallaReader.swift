internal import WaymarkModel

/// Reads Valhalla's own answers.
enum ValhallaReader {
    static func read(_ root: JSONValue, _ options: ReadingOptions) throws(RouteReadingError) -> EngineAnswer {
        let trip = root["trip"]
        if let status = trip["status"].integer, status != 0 {
            throw .engineError(code: "\(status)", message: trip["status_message"].text ?? "")
        }
        var routes = [try self.route(trip, "trip", options)]
        for (index, alternate) in (root["alternates"].array ?? []).enumerated() {
            routes.append(try self.route(alternate["trip"], "alternates[\(index)].trip", options))
        }
        return EngineAnswer(routes: routes)
    }

    private static func route(
        _ trip: JSONValue, _ path: String, _ options: ReadingOptions
    ) throws(RouteReadingError) -> EngineRoute {
        guard let legs = trip["legs"].array, !legs.isEmpty else {
            throw .invalid(path: "\(path).legs", reason: "is missing")
        }
        let metersPerUnit = trip["units"].text == "miles" ? 1_609.344 : 1_000.0
        var builder = RouteBuilder()
        if options.trafficSide == nil {
            builder.note(path, "Valhalla does not say the side of traffic; taken as right")
        }
        let stops = (trip["locations"].array ?? []).filter { ($0["type"].text ?? "break").hasPrefix("break") }
        var places: [Waypoint] = []
        for (index, leg) in legs.enumerated() {
            let legPath = "\(path).legs[\(index)]"
            guard let shape = leg["shape"].text, let line = Geometry.polyline(shape, precision: 1e6),
                !line.isEmpty
            else {
                throw .invalid(path: "\(legPath).shape", reason: "is not a polyline of precision 6")
            }
            guard let maneuvers = leg["maneuvers"].array, !maneuvers.isEmpty else {
                throw .invalid(path: "\(legPath).maneuvers", reason: "is missing or empty")
            }
            builder.beginLeg()
            for (position, maneuver) in maneuvers.enumerated() {
                let next = position + 1 < maneuvers.count ? maneuvers[position + 1] : nil
                let before = position > 0 ? maneuvers[position - 1] : nil
                builder.append(
                    self.step(
                        maneuver, before: before, next: next, line, "\(legPath).maneuvers[\(position)]",
                        metersPerUnit, isLastLeg: index == legs.count - 1, options, &builder))
            }
            let origin = self.waypoint(stops, index, line[0])
            let destination = self.waypoint(stops, index + 1, line[line.count - 1])
            if places.isEmpty { places.append(origin) }
            places.append(destination)
            builder.endLeg(from: origin, to: destination)
        }
        return try builder.finish(
            .valhalla, path: path, waypoints: places,
            meters: trip["summary"]["length"].number.map { $0 * metersPerUnit },
            seconds: trip["summary"]["time"].number, summary: "")
    }

    private static func waypoint(_ stops: [JSONValue], _ index: Int, _ place: Coordinate) -> Waypoint {
        guard index < stops.count else { return Waypoint(center: place) }
        let name = stops[index]["name"].text ?? ""
        return Waypoint(center: place, nameVariants: name.isEmpty ? [] : [String(name.prefix(120))])
    }

    private static func step(
        _ wire: JSONValue, before: JSONValue?, next: JSONValue?, _ line: [Coordinate], _ path: String,
        _ metersPerUnit: Double, isLastLeg: Bool, _ options: ReadingOptions, _ builder: inout RouteBuilder
    ) -> RouteBuilder.Step {
        let side = options.trafficSide ?? .right
        let kind = wire["type"].integer ?? 0
        let begin = min(max(wire["begin_shape_index"].integer ?? 0, 0), line.count - 1)
        let end = min(max(wire["end_shape_index"].integer ?? begin, begin), line.count - 1)
        let exit = wire["roundabout_exit_count"].integer.flatMap { (1...255).contains($0) ? UInt8($0) : nil }
        let wasFerry = before?["travel_type"].text == "ferry" || before?["type"].integer == 28
        var maneuver = Maneuver(
            id: ManeuverID(rawValue: 1), type: ValhallaMapping.type(kind, exit: exit, wasFerry: wasFerry),
            trafficSide: side)
        if ValhallaMapping.type(kind, exit: exit, wasFerry: wasFerry) == .noTurn {
            builder.note("\(path).type", "\(kind) has no counterpart")
        }
        maneuver.junctionType = kind == 26 || kind == 27 ? .roundabout : .intersection
        maneuver.roundaboutExitNumber = exit
        maneuver.isIntermediateWaypoint = (4...6).contains(kind) && !isLastLeg
        maneuver.instructionVariants = [
            wire["instruction"].text, wire["verbal_pre_transition_instruction"].text,
            wire["verbal_succinct_transition_instruction"].text,
        ].compactMap { $0 }
        let names = wire["street_names"].array?.compactMap(\.text) ?? []
        let beginNames = wire["begin_street_names"].array?.compactMap(\.text) ?? names
        maneuver.roadFollowingManeuverVariants = Self.variants(beginNames)
        let sign = wire["sign"]["exit_number_elements"].array?.compactMap { $0["text"].text } ?? []
        maneuver.highwayExitLabel = sign.first ?? ""
        if kind > 6, begin > 0, begin < line.count - 1 {
            let entry = line[begin - 1].bearing(to: line[begin])
            // A roundabout is left where the next maneuver, its exit, is.
            let leaving = kind == 26 ? min(end, line.count - 2) : begin
            let exitBearing = line[leaving].bearing(to: line[leaving + 1])
            maneuver.junctionExitAngle = .degrees(Int((exitBearing - entry).rounded()))
        }
        var lanes: LaneGuidance?
        if let wireLanes = wire["lanes"].array, !wireLanes.isEmpty {
            lanes = LaneGuidance(
                id: LaneGuidanceID(rawValue: 1),
                lanes: wireLanes.prefix(32).map { LaneMapping.valhallaLane($0, side) })
        }
        return .init(
            path: path, maneuver: maneuver, lanes: lanes, line: Array(line[begin...end]),
            meters: max(0, (wire["length"].number ?? 0) * metersPerUnit),
            seconds: max(0, wire["time"].number ?? 0),
            roadNames: Self.variants(names), isMotorway: wire["highway"].bool ?? false)
    }

    private static func variants(_ names: [String]) -> [String] {
        names.count > 1 ? [names.joined(separator: " / ")] + names : names
    }
}

/// Valhalla's maneuvers in CarPlay's words.
///
/// - Source: valhalla/proto/directions.proto; the table is in Docs/routes.md.
enum ValhallaMapping {
    private static let plain: [Int: ManeuverType] = [
        1: .startRoute, 2: .startRoute, 3: .startRoute, 4: .arriveAtDestination, 5: .arriveAtDestinationRight,
        6: .arriveAtDestinationLeft, 7: .followRoad, 8: .followRoad, 9: .slightRightTurn, 10: .rightTurn,
        11: .sharpRightTurn, 12: .uTurn, 13: .uTurn, 14: .sharpLeftTurn, 15: .leftTurn, 16: .slightLeftTurn,
        17: .onRamp, 18: .onRamp, 19: .onRamp, 20: .highwayOffRampRight, 21: .highwayOffRampLeft,
        22: .straightAhead, 23: .keepRight, 24: .keepLeft, 25: .followRoad, 27: .exitRoundabout,
        29: .exitFerry,
        30: .arriveEndOfNavigation, 33: .arriveEndOfNavigation, 37: .keepRight, 38: .keepLeft,
        45: .arriveEndOfNavigation,
    ]

    static func type(_ kind: Int, exit: UInt8?, wasFerry: Bool) -> ManeuverType {
        switch kind {
        case 26: exit.map { .roundaboutExit($0) ?? .exitRoundabout } ?? .enterRoundabout
        case 28: wasFerry ? .changeFerry : .enterFerry
        default: self.plain[kind] ?? .noTurn
        }
    }
}
