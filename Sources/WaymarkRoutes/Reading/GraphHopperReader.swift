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
        var book = NoticeBook()
        let routes = try book.readable(paths) { (path: JSONNode) throws(RouteReadingError) in
            var reader = Self(options: options)
            return try reader.route(path)
        }
        book.addChoices(routes.count, at: "paths")
        return RouteAnswer(routes: routes, notices: book.complete)
    }

    private mutating func route(_ path: JSONNode) throws(RouteReadingError) -> EngineRoute {
        guard let instructions = path["instructions"]?.elements, !instructions.isEmpty else {
            throw .missing(
                path: "\(path.path).instructions",
                expected: "an array with instructions (ask the engine for instructions=true)")
        }
        let points = try self.points(path, instructions)
        var draft = RouteDraft(engine: .graphhopper, path: path.path)
        draft.places = try self.places(path)
        draft.distance = path["distance"]?.quantity
        draft.duration = path["time"]?.quantity.map { $0 / 1_000 }
        draft.legs = try self.legs(path, instructions, points)
        // The line shows whether it is encoded.
        path.passOver("points_encoded")
        UncarriedMembers.report(path, into: &self.book)
        draft.book = self.book
        draft.settleSides(self.options)
        return try RouteBuilder.build(draft)
    }

    /// The line. The engine states the number of its units per degree and, by the last interval, that of its points.
    private mutating func points(
        _ path: JSONNode, _ instructions: [JSONNode]
    ) throws(RouteReadingError) -> [Coordinate] {
        guard let line = path["points"] else {
            throw .missing(path: "\(path.path).points", expected: "a polyline or a GeoJSON line")
        }
        let end = instructions.last?.elements("interval").last?.integer
        let evidence = LineEvidence(
            meters: path["distance"]?.quantity, pointCount: end.flatMap { $0 > 0 ? $0 + 1 : nil })
        guard let points = try line.line(units: [self.units(of: path)], evidence: evidence, &self.book) else {
            throw .noRoute(path: "\(path.path).points")
        }
        return points
    }

    /// The waypoints, which the engine moved to the line; nil if the answer has none.
    private mutating func places(_ path: JSONNode) throws(RouteReadingError) -> [PlaceDraft]? {
        guard let snapped = path["snapped_waypoints"] else { return nil }
        // Each place is read alone: the position beside one that is off the Earth is another waypoint.
        if snapped["type"]?.string == "LineString", let positions = snapped["coordinates"]?.elements {
            guard !positions.isEmpty else { return nil }
            return positions.map {
                PlaceDraft(path: $0.path, center: Coordinate(lonLat: $0), isRequested: false)
            }
        }
        let centers = try snapped.line(
            units: [self.units(of: path)], evidence: LineEvidence(), &self.book)
        return centers?.map { PlaceDraft(path: snapped.path, center: $0, isRequested: false) }
    }

    /// Units per degree: 100 000 unless the engine says otherwise.
    private mutating func units(of path: JSONNode) -> Double {
        guard let stated = path["points_encoded_multiplier"] else { return 1e5 }
        if let units = stated.number, (1...1e9).contains(units) { return units }
        self.book.add(stated.path, "not a number of units per degree; 100000 are assumed")
        return 1e5
    }

    private mutating func legs(
        _ path: JSONNode, _ instructions: [JSONNode], _ points: [Coordinate]
    ) throws(RouteReadingError) -> [LegDraft] {
        var legs: [LegDraft] = []
        var leg = LegDraft(path: path.path)
        let limits = GraphHopperSpeedLimits.read(path, pieces: points.count - 1, &self.book)
        var legStart = 0
        var last = 0
        for (index, instruction) in instructions.enumerated() {
            let begin = self.book.place(instruction.elements("interval").first, in: last..<points.count)
            last = begin
            let step = self.step(
                instruction, after: leg.steps.isEmpty ? nil : instructions[index - 1], at: begin,
                from: legStart, points)
            leg.steps.append(step)
            guard step.maneuver.type.isArrival || index == instructions.count - 1 else { continue }
            let end = index == instructions.count - 1 ? points.count - 1 : begin
            leg.points = Array(points[legStart...end])
            if !limits.isEmpty { leg.speedLimits = Array(limits[legStart..<end]) }
            let lengths = leg.steps.compactMap(\.distance)
            leg.distance = lengths.isEmpty ? nil : lengths.reduce(0, +)
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

    /// Reads an instruction as a step of a leg.
    ///
    /// - Parameters:
    ///   - node: The instruction.
    ///   - previous: The one before it on the same leg; nil for the first.
    ///   - place: Its index into `points`.
    ///   - legStart: That of the leg's first point.
    ///   - points: The line.
    /// - Returns: The step, whose directions are compared with the line.
    private mutating func step(
        _ node: JSONNode, after previous: JSONNode?, at place: Int, from legStart: Int, _ points: [Coordinate]
    ) -> LegDraft.Step {
        let kind = Self.kind(node)
        if kind == nil || kind == .unknown {
            self.book.add(node.path, "no known sign; the direction is taken from the line")
        }
        let isFirst = previous == nil
        let exit = self.exit(node)
        var draft = LegDraft.Step(
            path: node.path, pointIndex: place - legStart,
            maneuver: Maneuver(id: ManeuverID(rawValue: 0), type: .noTurn),
            distance: node["distance"]?.quantity, duration: node["time"]?.quantity.map { $0 / 1_000 })
        let directions = self.directions(node, kind, at: place, points, &draft)
        let said =
            kind?.type(exit: exit, isFirst: isFirst, leavesFerry: previous.flatMap(Self.kind) == .ferry)
            ?? .noTurn
        let type = said == .noTurn ? directions.angle.map { TurnDirection($0).turn } ?? .noTurn : said
        var maneuver = Maneuver(id: ManeuverID(rawValue: 0), type: type)
        maneuver.junctionType =
            kind == .useRoundabout || kind == .leaveRoundabout ? .roundabout : .intersection
        maneuver.roundaboutExitNumber = kind == .useRoundabout ? exit : nil
        maneuver.junctionExitAngle = isFirst || type.isArrival ? nil : directions.angle
        let road = roadNames(
            name: node["street_name"]?.string ?? "", reference: node["street_ref"]?.string ?? "")
        let destination = node["street_destination"]?.string ?? ""
        maneuver.roadFollowingManeuverVariants = road.isEmpty ? [destination] : road
        let words = node["text"]?.string ?? ""
        maneuver.instructionVariants =
            words.isEmpty
            ? InstructionText.variants(type, exit: exit, road: road, destinations: destination) : [words]
        draft.maneuver = maneuver
        draft.roadNames = road
        return draft
    }

    private static func kind(_ node: JSONNode) -> GraphHopperManeuver? {
        node["sign"]?.integer.flatMap(GraphHopperManeuver.init(rawValue:))
    }

    /// The number of the exit; nil where the route ends on the roundabout, because the number then counts the exits that were passed.
    private mutating func exit(_ node: JSONNode) -> UInt8? {
        guard let number = node["exit_number"] else { return nil }
        guard node["exited"]?.bool ?? true else {
            self.book.add(node.path, "the route ends on this roundabout: it is left by no exit")
            return nil
        }
        return OSRMStep.exit(number, &self.book)
    }

    /// The line's directions. A roundabout's angle and side are the engine's `turn_angle`, unless the line contradicts it.
    private mutating func directions(
        _ node: JSONNode, _ kind: GraphHopperManeuver?, at place: Int, _ points: [Coordinate],
        _ draft: inout LegDraft.Step
    ) -> ManeuverDirections {
        guard kind == .useRoundabout else {
            return ManeuverDirections(.init(), line: LineDirections(points, at: place))
        }
        let end = node.elements("interval").last?.integer ?? place
        draft.ring = RingArc(points, from: place, notAfter: end)
        var line = LineDirections(points, at: place, leavingAt: draft.ring?.range.upperBound)
        var stated = ManeuverDirections.Stated()
        // The engine sends 0 for an angle that it does not know: a roundabout is not left where it is entered.
        if let turned = node["turn_angle"]?.number, turned != 0, turned.isFinite {
            draft.ringSide = turned < 0 ? .right : .left
            // Radians driven around; half a circle is straight on.
            let degrees = turned * 180 / .pi
            stated.after = line.before.map { $0 + (degrees < 0 ? 180 + degrees : degrees - 180) }
        }
        if !(draft.ring?.isEndCertain ?? false) {
            line = LineDirections(into: line.into, outOf: [])
            if stated.after == nil, node["exited"]?.bool ?? true {
                self.book.add(
                    node.path, "the direction in which the roundabout is left is not in the answer")
            }
        }
        let directions = ManeuverDirections(stated, line: line)
        draft.isCorrected = directions.isCorrected
        return directions
    }
}
