import WaymarkModel
import WaymarkProtocol

/// Reads GraphHopper's routing answers. A path is one route; instructions at via points divide it into legs.
struct GraphHopperReader {
    let options: RouteReadingOptions
    private var book = NoticeBook()

    init(options: RouteReadingOptions) { self.options = options }

    static func read(
        _ answer: JSONNode, _ options: RouteReadingOptions
    ) throws(RouteReadingError) -> RouteAnswer {
        guard let paths = answer["paths"]?.elements else {
            throw .missing(path: "paths", expected: "an array")
        }
        guard !paths.isEmpty else { throw .noRoute(path: "paths") }
        var routes: [EngineRoute] = []
        for path in paths {
            var reader = Self(options: options)
            routes.append(try reader.route(path))
        }
        var book = NoticeBook()
        if routes.count > ProtocolConstants.routeChoicesMax {
            book.add(
                .member(.root, "paths"),
                "of \(routes.count) routes only \(ProtocolConstants.routeChoicesMax) can be offered as choices"
            )
        }
        return RouteAnswer(routes: routes, notices: book.complete)
    }

    private static let members = UncarriedMembers(
        read: [
            "distance", "time", "points_encoded", "points_encoded_multiplier", "instructions",
            "instructions[].distance", "instructions[].time", "instructions[].sign", "instructions[].text",
            "instructions[].street_name", "instructions[].street_ref", "instructions[].street_destination",
            "instructions[].exit_number", "instructions[].interval", "instructions[].turn_angle",
        ], readWhole: ["points", "instructions[].interval"])

    private mutating func route(_ path: JSONNode) throws(RouteReadingError) -> EngineRoute {
        Self.members.report(path, into: &self.book)
        let points = try self.points(path)
        guard let instructions = path["instructions"]?.elements, !instructions.isEmpty else {
            throw .missing(
                path: "\(path.path).instructions",
                expected: "an array with instructions (ask the engine for instructions=true)")
        }
        var draft = RouteDraft(engine: .graphhopper, path: path.path)
        draft.distance = path["distance"]?.number
        draft.duration = path["time"]?.number.map { $0 / 1_000 }
        draft.legs = try self.legs(path, instructions, points)
        draft.book = self.book
        if let side = self.options.trafficSide {
            draft.setSide(side)
        } else if let side = Self.side(instructions) {
            draft.setSide(side)
        } else {
            draft.inferSide()
        }
        return try RouteBuilder.build(draft)
    }

    /// The angle around a roundabout is negative where it is driven anticlockwise.
    private static func side(_ instructions: [JSONNode]) -> TrafficSide? {
        let angles = instructions.filter { $0["sign"]?.integer == GraphHopperManeuver.useRoundabout.rawValue }
            .compactMap { $0["turn_angle"]?.number }
        return angles.first.map { $0 < 0 ? .right : .left }
    }

    private func points(_ path: JSONNode) throws(RouteReadingError) -> [Coordinate] {
        if let text = path["points"]?.string {
            let precision: Polyline.Precision =
                path["points_encoded_multiplier"]?.number == 1e6 ? .six : .five
            var points: [Coordinate] = []
            do throws(Polyline.Mistake) {
                points = try Polyline.decode(text, precision)
            } catch {
                throw .invalid(path: "\(path.path).points", reason: "\(error)")
            }
            guard !points.isEmpty else { throw .noRoute(path: "\(path.path).points") }
            return points
        }
        var points: [Coordinate] = []
        for position in path["points"]?.elements("coordinates") ?? [] {
            guard let point = Coordinate(lonLat: position) else {
                throw .invalid(path: "\(position.path)", reason: "not a position on the Earth")
            }
            points.append(point)
        }
        guard !points.isEmpty else {
            throw .missing(path: "\(path.path).points", expected: "a polyline or a GeoJSON line")
        }
        return points
    }

    private mutating func legs(
        _ path: JSONNode, _ instructions: [JSONNode], _ points: [Coordinate]
    ) throws(RouteReadingError) -> [LegDraft] {
        var legs: [LegDraft] = []
        var leg = LegDraft(path: path.path)
        var legStart = 0
        var last = 0
        for (index, instruction) in instructions.enumerated() {
            let begin = instruction.elements("interval").first?.integer ?? last
            guard (last..<points.count).contains(begin) else {
                throw .invalid(
                    path: "\(instruction.path).interval",
                    reason: "\(begin) is not in order or not among the \(points.count) points")
            }
            last = begin
            let step = self.step(instruction, at: begin, from: legStart, points, isFirst: leg.steps.isEmpty)
            leg.steps.append(step)
            guard step.maneuver.type.isArrival || index == instructions.count - 1 else { continue }
            let end = index == instructions.count - 1 ? points.count - 1 : begin
            leg.points = Array(points[legStart...end])
            leg.distance = leg.steps.compactMap(\.distance).reduce(0, +)
            leg.duration = leg.steps.compactMap(\.duration).reduce(0, +)
            legs.append(leg)
            leg = LegDraft(path: path.path)
            legStart = begin
        }
        for index in legs.indices.dropLast() {
            legs[index].steps[legs[index].steps.count - 1].maneuver.isIntermediateWaypoint = true
        }
        return legs
    }

    private mutating func step(
        _ node: JSONNode, at place: Int, from legStart: Int, _ points: [Coordinate], isFirst: Bool
    ) -> LegDraft.Step {
        let kind = node["sign"]?.integer.flatMap(GraphHopperManeuver.init(rawValue:))
        let exit = node["exit_number"].flatMap { OSRMStep.exit($0, &self.book) }
        var angle = OSRMStep.angle(
            from: ValhallaLegReader.bearing(into: place, points),
            to: ValhallaLegReader.bearing(outOf: place, points))
        if kind == nil || kind == .unknown {
            self.book.add(node.path, "no known sign; the direction is taken from the line")
        }
        if kind == .useRoundabout, let turned = node["turn_angle"]?.number {
            // Why: radians driven around; half a circle is straight on.
            let degrees = turned * 180 / .pi
            angle = .degrees(rounding: degrees < 0 ? 180 + degrees : degrees - 180)
        }
        let said = kind?.type(exit: exit, isFirst: isFirst) ?? .noTurn
        let type = said == .noTurn ? angle.map { TurnDirection($0).turn } ?? .noTurn : said
        var maneuver = Maneuver(id: ManeuverID(rawValue: 0), type: type)
        maneuver.junctionType =
            kind == .useRoundabout || kind == .leaveRoundabout ? .roundabout : .intersection
        maneuver.roundaboutExitNumber = kind == .useRoundabout ? exit : nil
        maneuver.junctionExitAngle = isFirst || type.isArrival ? nil : angle
        let road = roadNames(
            name: node["street_name"]?.string ?? "", reference: node["street_ref"]?.string ?? "")
        let destination = node["street_destination"]?.string ?? ""
        maneuver.roadFollowingManeuverVariants = road.isEmpty ? [destination] : road
        let words = node["text"]?.string ?? ""
        maneuver.instructionVariants =
            words.isEmpty
            ? Instruction.variants(type, exit: exit, road: road, destinations: destination) : [words]
        return LegDraft.Step(
            path: node.path, pointIndex: place - legStart, maneuver: maneuver,
            distance: node["distance"]?.number, duration: node["time"]?.number.map { $0 / 1_000 },
            roadNames: road)
    }
}
