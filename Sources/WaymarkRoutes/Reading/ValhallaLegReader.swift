import WaymarkModel

/// Reads the legs of one route in Valhalla's own form, in order.
struct ValhallaLegReader {
    let metersPerUnit: Double
    var book: NoticeBook

    /// One maneuver as written in the answer.
    private struct Source {
        let node: JSONNode
        let kind: ValhallaManeuver?
        let exit: UInt8?
        let pointIndex: Int
        let isHighway: Bool
    }

    mutating func leg(_ node: JSONNode, isLast: Bool) throws(RouteReadingError) -> LegDraft {
        var leg = LegDraft(path: node.path)
        guard let shape = node["shape"]?.string else {
            throw .missing(path: "\(node.path).shape", expected: "a polyline")
        }
        leg.distance = node["summary"]?["length"]?.number.map { $0 * self.metersPerUnit }
        do throws(Polyline.Mistake) {
            leg.points = try Polyline.decode(shape, self.precision(of: shape, leg))
        } catch {
            throw .invalid(path: "\(node.path).shape", reason: "\(error)")
        }
        guard !leg.points.isEmpty else { throw .noRoute(path: "\(node.path).shape") }
        leg.duration = node["summary"]?["time"]?.number
        let sources = try self.sources(node, points: leg.points.count)
        for (index, source) in sources.enumerated() {
            let previous = index > 0 ? sources[index - 1] : nil
            let next = index + 1 < sources.count ? sources[index + 1] : nil
            let maneuver = self.maneuver(source, previous, next, leg.points, isIntermediate: !isLast)
            leg.steps.append(
                LegDraft.Step(
                    path: source.node.path, pointIndex: source.pointIndex, maneuver: maneuver,
                    distance: source.node["length"]?.number.map { $0 * self.metersPerUnit },
                    duration: source.node["time"]?.number,
                    roadNames: Self.joined(Self.strings(source.node["street_names"])),
                    isMotorway: source.isHighway))
            self.appendLanes(of: source, to: &leg, maneuver)
        }
        return leg
    }

    /// Six digits, unless the leg's length shows that five were requested.
    private mutating func precision(of shape: String, _ leg: LegDraft) -> Polyline.Precision {
        guard Polyline.Precision.fitting([shape], meters: leg.distance) == .five else { return .six }
        self.book.add(
            .member(leg.path, "shape"), "five digits are taken for the polyline, because the length fits")
        return .five
    }

    private mutating func sources(_ leg: JSONNode, points: Int) throws(RouteReadingError) -> [Source] {
        guard let nodes = leg["maneuvers"]?.elements, !nodes.isEmpty else {
            throw .missing(path: "\(leg.path).maneuvers", expected: "an array with maneuvers")
        }
        var sources: [Source] = []
        for node in nodes {
            let begin = node["begin_shape_index"]?.integer ?? 0
            guard ((sources.last?.pointIndex ?? 0)..<points).contains(begin) else {
                throw .invalid(
                    path: "\(node.path).begin_shape_index",
                    reason: "\(begin) is not in order or not among the \(points) points of the shape")
            }
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
        _ source: Source, _ previous: Source?, _ next: Source?, _ points: [Coordinate], isIntermediate: Bool
    ) -> Maneuver {
        let angle = self.exitAngle(source, next, points)
        let said =
            source.kind?.type(
                exit: source.exit, leavesMotorway: (previous?.isHighway ?? false) && !source.isHighway,
                leavesFerry: previous?.kind == .ferryEnter) ?? .noTurn
        // Why: stairs, lifts and doors have no maneuver type, but their direction is known.
        let type = said == .noTurn ? angle.map { TurnDirection($0).turn } ?? .noTurn : said
        var maneuver = Maneuver(id: ManeuverID(rawValue: 0), type: type)
        let isAtRoundabout = source.kind == .roundaboutEnter || source.kind == .roundaboutExit
        maneuver.junctionType = isAtRoundabout || source.exit != nil ? .roundabout : .intersection
        maneuver.roundaboutExitNumber = source.exit
        maneuver.isIntermediateWaypoint = isIntermediate && type.isArrival
        let isEnd = (source.kind?.isArrival ?? false) || (source.kind?.isStart ?? false)
        maneuver.junctionExitAngle = isEnd ? nil : angle
        maneuver.roadFollowingManeuverVariants = self.followingRoad(source)
        let sign = source.node["sign"]
        maneuver.highwayExitLabel = Self.texts(sign?["exit_number_elements"]).joined(separator: ", ")
        maneuver.instructionVariants = self.instructions(source, maneuver)
        return maneuver
    }

    /// The exit's direction relative to the entry; for a roundabout, that of leaving it.
    private func exitAngle(_ source: Source, _ next: Source?, _ points: [Coordinate]) -> Angle? {
        let before = source.node["bearing_before"]?.number ?? Self.bearing(into: source.pointIndex, points)
        var leaving = source
        if source.kind == .roundaboutEnter, let next, next.kind == .roundaboutExit { leaving = next }
        let after = leaving.node["bearing_after"]?.number ?? Self.bearing(outOf: leaving.pointIndex, points)
        return OSRMStep.angle(from: before, to: after)
    }

    /// The direction in which the line reaches the point at `index`; nil for the first.
    static func bearing(into index: Int, _ points: [Coordinate]) -> Double? {
        guard let from = points[..<index].last(where: { $0 != points[index] }) else { return nil }
        return from.bearing(to: points[index])
    }

    /// The direction in which the line leaves the point at `index`; nil for the last.
    static func bearing(outOf index: Int, _ points: [Coordinate]) -> Double? {
        guard let to = points[(index + 1)...].first(where: { $0 != points[index] }) else { return nil }
        return points[index].bearing(to: to)
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
            return Instruction.variants(
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
                lanes: lanes.map { self.lane($0, maneuver.junctionExitAngle.map(TurnDirection.init)) },
                stepIndex: leg.steps.count - 1))
    }

    /// `valid` and `active` are not booleans but the bit of the direction that counts.
    private mutating func lane(_ lane: JSONNode, _ direction: TurnDirection?) -> Lane {
        let mask = lane["directions"]?.integer ?? 0
        if mask & ~LaneArrows.valhallaMask != 0 { self.book.add(lane.path, "unknown directions of a lane") }
        let active = lane["active"]?.integer ?? 0
        let valid = lane["valid"]?.integer ?? 0
        let status: LaneStatus = active != 0 ? .preferred : valid != 0 ? .good : .notGood
        return Lane(
            directions: LaneArrows.directions(mask: mask),
            taken: LaneArrows.directions(mask: active != 0 ? active : valid).first, maneuver: direction,
            status: status)
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
