import WaymarkModel

/// Reads the legs of one route in Valhalla's own form, in order.
struct ValhallaLegReader {
    let metersPerUnit: Double
    var book: NoticeBook

    /// One maneuver as written in the answer.
    private struct Source {
        let node: JSONNode
        let kind: ValhallaManeuver?
        var exit: UInt8?
        let pointIndex: Int
        let isHighway: Bool
        /// The line's directions at the maneuver and, of a roundabout, where it is left.
        var line = LineDirections(into: [], outOf: [])
        /// The arc of the roundabout that is entered here; nil if there is none, and if the line does not show it.
        var ring: RingArc?

        /// It has no road before or none behind it.
        var isEnd: Bool { (self.kind?.isArrival ?? false) || (self.kind?.isStart ?? false) }
    }

    /// Whether the leg at `node` has a line and maneuvers.
    static func isReadable(_ node: JSONNode) -> Bool {
        node["shape"] != nil && node["shape"]?.value != .string("") && !node.elements("maneuvers").isEmpty
    }

    mutating func leg(_ node: JSONNode, isLast: Bool) throws(RouteReadingError) -> LegDraft {
        var leg = LegDraft(path: node.path)
        guard let shape = node["shape"] else {
            throw .missing(path: "\(node.path).shape", expected: "a polyline or a GeoJSON line")
        }
        leg.distance = node["summary"]?["length"]?.quantity.map { $0 * self.metersPerUnit }
        // Six digits, unless the leg's length shows that others were requested.
        guard let points = try shape.line(units: [1e6], evidence: self.evidence(node, leg), &self.book) else {
            throw .noRoute(path: "\(node.path).shape")
        }
        leg.points = points
        leg.duration = node["summary"]?["time"]?.quantity
        let sources = try self.sources(node, points: leg.points.count)
        for (index, source) in sources.enumerated() {
            let previous = index > 0 ? sources[index - 1] : nil
            let next = index + 1 < sources.count ? sources[index + 1] : nil
            let source = self.placed(source, next, leg.points)
            let directions = self.directions(source, next)
            let maneuver = self.maneuver(source, previous, directions, isIntermediate: !isLast)
            var step = LegDraft.Step(
                path: source.node.path, pointIndex: source.pointIndex, maneuver: maneuver,
                distance: source.node["length"]?.quantity.map { $0 * self.metersPerUnit },
                duration: source.node["time"]?.quantity,
                roadNames: Self.joined(Self.strings(source.node["street_names"])),
                isMotorway: source.isHighway)
            step.ring = source.ring
            step.isCorrected = directions.isCorrected && !source.isEnd
            leg.steps.append(step)
            self.appendLanes(of: source, to: &leg, maneuver)
        }
        return leg
    }

    /// The leg's length, and the number of points up to the end of the last maneuver.
    private func evidence(_ node: JSONNode, _ leg: LegDraft) -> LineEvidence {
        let last = node.elements("maneuvers").last
        let end = (last?["end_shape_index"] ?? last?["begin_shape_index"])?.integer
        let steps = node.elements("maneuvers").compactMap { $0["length"]?.quantity }.reduce(0, +)
        return LineEvidence(
            meters: leg.distance ?? steps * self.metersPerUnit,
            pointCount: end.flatMap { $0 > 0 ? $0 + 1 : nil })
    }

    private mutating func sources(_ leg: JSONNode, points: Int) throws(RouteReadingError) -> [Source] {
        guard let nodes = leg["maneuvers"]?.elements, !nodes.isEmpty else {
            throw .missing(path: "\(leg.path).maneuvers", expected: "an array with maneuvers")
        }
        var sources: [Source] = []
        for node in nodes {
            let begin = self.book.place(
                node["begin_shape_index"], in: (sources.last?.pointIndex ?? 0)..<points)
            let kind = node["type"]?.integer.flatMap(ValhallaManeuver.init(rawValue:))
            if kind == nil { self.book.add(node.path, "no known type; it is taken from the bearings") }
            if kind?.isOffRoad ?? false {
                self.book.add(
                    node.path, "\(kind.map { "\($0)" } ?? "") is for people on foot or in public transport")
            }
            sources.append(
                Source(
                    node: node, kind: kind,
                    exit: node["roundabout_exit_count"].flatMap { OSRMStep.exit($0, &self.book) },
                    pointIndex: begin, isHighway: node["highway"]?.bool ?? false))
        }
        return sources
    }

    // MARK: Maneuvers

    private mutating func maneuver(
        _ source: Source, _ previous: Source?, _ directions: ManeuverDirections, isIntermediate: Bool
    ) -> Maneuver {
        let said =
            source.kind?.type(
                exit: source.exit, leavesMotorway: (previous?.isHighway ?? false) && !source.isHighway,
                leavesFerry: previous?.kind == .ferryEnter) ?? .noTurn
        // Stairs, lifts and doors have no maneuver type, but their direction is known.
        let type = said == .noTurn ? directions.angle.map { TurnDirection($0).turn } ?? .noTurn : said
        var maneuver = Maneuver(id: ManeuverID(rawValue: 0), type: type)
        let isAtRoundabout = source.kind == .roundaboutEnter || source.kind == .roundaboutExit
        maneuver.junctionType = isAtRoundabout || source.exit != nil ? .roundabout : .intersection
        maneuver.roundaboutExitNumber = source.exit
        maneuver.isIntermediateWaypoint = isIntermediate && type.isArrival
        maneuver.junctionExitAngle = source.isEnd ? nil : directions.angle
        maneuver.roadFollowingManeuverVariants = self.followingRoad(source)
        let sign = source.node["sign"]
        maneuver.highwayExitLabel = Self.texts(sign?["exit_number_elements"]).joined(separator: ", ")
        maneuver.instructionVariants = self.instructions(source, maneuver)
        return maneuver
    }

    /// `source` with what the line shows of it. A roundabout on which the route ends is left by no exit.
    private mutating func placed(_ source: Source, _ next: Source?, _ points: [Coordinate]) -> Source {
        var source = source
        if source.kind == .roundaboutEnter {
            let last = next?.pointIndex ?? points.count - 1
            let end = min(source.node["end_shape_index"]?.integer ?? last, points.count - 1)
            source.ring =
                next?.kind == .roundaboutExit
                ? RingArc(points, source.pointIndex...max(source.pointIndex, last))
                : RingArc(points, from: source.pointIndex, notAfter: max(end, source.pointIndex))
            if source.exit != nil, next?.kind?.isArrival ?? false,
                source.ring?.range.upperBound == points.count - 1
            {
                source.exit = nil
                self.book.add(
                    source.node.path, "the route ends on this roundabout: it is left by no exit")
            }
        }
        source.line = LineDirections(
            points, at: source.pointIndex, leavingAt: source.ring?.range.upperBound)
        return source
    }

    /// The bearings of a maneuver, compared with the line; those of leaving a roundabout are at the maneuver that leaves it.
    private mutating func directions(_ source: Source, _ next: Source?) -> ManeuverDirections {
        var stated = ManeuverDirections.Stated(
            before: source.node["bearing_before"]?.number, after: source.node["bearing_after"]?.number)
        guard source.kind == .roundaboutEnter else { return ManeuverDirections(stated, line: source.line) }
        stated.after = next?.kind == .roundaboutExit ? next?.node["bearing_after"]?.number : nil
        guard stated.after == nil, source.ring == nil else {
            return ManeuverDirections(stated, line: source.line)
        }
        self.book.add(
            source.node.path, "the direction in which the roundabout is left is not in the answer")
        return ManeuverDirections(stated, line: LineDirections(into: source.line.into, outOf: []))
    }

    private func followingRoad(_ source: Source) -> [String] {
        var names = Self.strings(source.node["begin_street_names"])
        if names.isEmpty { names = Self.strings(source.node["street_names"]) }
        if !names.isEmpty { return Self.joined(names) }
        let sign = source.node["sign"]
        for elements in ["exit_branch_elements", "exit_toward_elements", "exit_name_elements"] {
            let texts = Self.texts(sign?[elements])
            if !texts.isEmpty { return Self.joined(texts) }
        }
        return []
    }

    /// The engine's instruction, then its short one, unless that also describes the next maneuver.
    private func instructions(_ source: Source, _ maneuver: Maneuver) -> [String] {
        guard let words = source.node["instruction"]?.string, !words.isEmpty else {
            return InstructionText.variants(
                maneuver.type, exit: maneuver.roundaboutExitNumber,
                road: maneuver.roadFollowingManeuverVariants)
        }
        let isMultiCue = source.node["verbal_multi_cue"]?.bool ?? false
        let succinct = source.node["verbal_succinct_transition_instruction"]?.string ?? ""
        return isMultiCue || succinct.isEmpty ? [words] : [words, succinct]
    }

    // MARK: Lanes

    private mutating func appendLanes(of source: Source, to leg: inout LegDraft, _ maneuver: Maneuver) {
        guard let lanes = source.node["lanes"]?.elements, !lanes.isEmpty else { return }
        leg.lanes.append(
            LegDraft.Lanes(
                path: source.node.path, pointIndex: source.pointIndex,
                lanes: lanes.map { self.lane($0, maneuver.junctionExitAngle) },
                stepIndex: leg.steps.count - 1))
    }

    /// `valid` and `active` are not booleans but the bit of the direction that counts.
    private mutating func lane(_ lane: JSONNode, _ angle: Angle?) -> Lane {
        let mask = lane["directions"]?.integer ?? 0
        if mask & ~LaneArrows.valhallaMask != 0 { self.book.add(lane.path, "unknown directions of a lane") }
        let active = lane["active"]?.integer ?? 0
        let valid = lane["valid"]?.integer ?? 0
        let status: LaneStatus = active != 0 ? .preferred : valid != 0 ? .good : .notGood
        return Lane(
            directions: LaneArrows.directions(mask: mask),
            taken: LaneArrows.directions(mask: active != 0 ? active : valid).first,
            maneuver: angle.map(TurnDirection.init),
            angle: angle, status: status)
    }

    // MARK: Text

    private static func strings(_ node: JSONNode?) -> [String] { (node?.elements ?? []).compactMap(\.string) }

    private static func texts(_ node: JSONNode?) -> [String] {
        (node?.elements ?? []).compactMap { $0["text"]?.string }
    }

    /// All names of a road, then the first one alone.
    private static func joined(_ names: [String]) -> [String] {
        names.isEmpty ? [] : [names.joined(separator: " / "), names[0]]
    }
}
