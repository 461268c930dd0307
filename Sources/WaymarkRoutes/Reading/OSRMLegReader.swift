import WaymarkModel

/// Reads the legs of one route in OSRM's form, in order.
struct OSRMLegReader {
    /// Steps whose ends are no farther apart are joined.
    private static let joinMetersMax = 2.0

    let precision: Polyline.Precision
    var book: NoticeBook
    /// Limits the search for the positions of lanes, so that a hostile answer cannot take for ever.
    private var comparisonsLeft = 5_000_000

    init(precision: Polyline.Precision, book: NoticeBook) {
        self.precision = precision
        self.book = book
    }

    mutating func leg(
        _ node: JSONNode, _ steps: [OSRMStep], isLast: Bool
    ) throws(RouteReadingError) -> LegDraft {
        var leg = LegDraft(path: node.path)
        leg.distance = node["distance"]?.number
        leg.duration = node["duration"]?.number
        leg.summary = node["summary"]?.string ?? ""
        for (index, step) in steps.enumerated() {
            let start = try self.appendPoints(of: step, to: &leg)
            let previous = index > 0 ? steps[index - 1] : nil
            let next = index + 1 < steps.count ? steps[index + 1] : nil
            let type = self.type(step, previous)
            let maneuver = self.maneuver(step, type, previous, next, isIntermediate: !isLast)
            leg.steps.append(
                LegDraft.Step(
                    path: step.path, pointIndex: start, maneuver: maneuver,
                    distance: step.node["distance"]?.number,
                    duration: step.node["duration"]?.number,
                    roadNames: roadNames(name: step.name, reference: step.reference),
                    isMotorway: step.isMotorway(at: step.intersections.first)))
            self.appendLanes(of: step, previous, from: start, to: &leg)
        }
        self.takeAnnotation(node["annotation"], into: &leg)
        return leg
    }

    /// Adds the step's points; the first one is the last one of the step before.
    ///
    /// - Returns: The index of the step's first point.
    private mutating func appendPoints(of step: OSRMStep, to leg: inout LegDraft) throws(RouteReadingError)
        -> Int
    {
        let points = try step.points(self.precision, &self.book)
        guard let last = leg.points.last else {
            leg.points = points
            return 0
        }
        self.book.addGap(points[0].meters(to: last), at: step.path)
        if step.kind == .arrive {
            // Why: engines write an arrival as one point or as two equal ones; annotations count neither.
            leg.points += points.drop { $0.isAt(last) }
            return leg.points.count - 1
        }
        // Why: rounding may leave a small gap between two steps of one line.
        leg.points += points[0].meters(to: last) < Self.joinMetersMax ? points[1...] : points[...]
        return leg.points.count - points.count
    }

    // MARK: Maneuvers

    private func type(_ step: OSRMStep, _ previous: OSRMStep?) -> ManeuverType {
        var roads = OSRMManeuver.Roads()
        if let previous {
            switch (previous.isFerry, step.isFerry) {
            case (false, true): roads.ferry = .enter
            case (true, false): roads.ferry = .leave
            case (true, true): roads.ferry = .change
            case (false, false): roads.ferry = .none
            }
            roads.isChangeOfMotorway =
                previous.isMotorway(at: previous.intersections.last)
                && step.isMotorway(at: step.intersections.first)
                && RoadNumbers(previous.reference).isLeft(for: RoadNumbers(step.reference))
        }
        return OSRMManeuver(kind: step.kind, direction: step.direction, exit: step.exit, roads: roads).type
    }

    private mutating func maneuver(
        _ step: OSRMStep, _ type: ManeuverType, _ previous: OSRMStep?, _ next: OSRMStep?, isIntermediate: Bool
    ) -> Maneuver {
        var maneuver = Maneuver(id: ManeuverID(rawValue: 0), type: type)
        maneuver.junctionType = step.kind?.isAtRoundabout ?? false ? .roundabout : .intersection
        maneuver.isIntermediateWaypoint = isIntermediate && type.isArrival
        maneuver.highwayExitLabel = step.node["exits"]?.string ?? ""
        let destinations = step.node["destinations"]?.string ?? ""
        maneuver.roadFollowingManeuverVariants = roadNames(name: step.name, reference: step.reference)
        if maneuver.roadFollowingManeuverVariants.isEmpty {
            maneuver.roadFollowingManeuverVariants = [destinations]
        }
        if step.kind?.leavesRoundabout ?? false {
            // Why: the maneuver at the entry has the number; on the one that leaves it would read as an exit above 19.
            if step.exit != nil, previous?.exit != step.exit {
                self.book.add(step.path, "the exit's number on leaving is not carried over")
            }
        } else {
            maneuver.roundaboutExitNumber = step.exit
        }
        self.setAngles(of: &maneuver, step, previous, next)
        maneuver.instructionVariants = self.words(step, previous)
        if maneuver.instructionVariants.isEmpty {
            maneuver.instructionVariants = Instruction.variants(
                type, exit: maneuver.roundaboutExitNumber,
                road: roadNames(name: step.name, reference: step.reference), destinations: destinations)
        }
        return maneuver
    }

    /// The engine's own words: the instruction, and those of the last banner before the maneuver.
    ///
    /// A banner that is longer than the instruction is omitted: it is a list of roads, and would be sorted before the instruction.
    private mutating func words(_ step: OSRMStep, _ previous: OSRMStep?) -> [String] {
        let instruction = step.node["maneuver"]?["instruction"]?.string ?? ""
        let banner = previous?.node.elements("bannerInstructions").last?["primary"]?["text"]
        guard let text = banner?.string, !text.allSatisfy(\.isWhitespace) else {
            return instruction.isEmpty ? [] : [instruction]
        }
        if instruction.isEmpty { return [text] }
        if text.count > instruction.count {
            self.book.add(
                banner?.path ?? step.path, "longer than the instruction; the banner's words are left out")
        }
        return text.count < instruction.count && "\(text)." != instruction
            ? [instruction, text] : [instruction]
    }

    /// Angles are relative to the direction of entry, which a departure does not have.
    private mutating func setAngles(
        of maneuver: inout Maneuver, _ step: OSRMStep, _ previous: OSRMStep?, _ next: OSRMStep?
    ) {
        guard step.kind != .depart, step.kind != .arrive, let before = step.bearingBefore else { return }
        maneuver.junctionExitAngle = OSRMStep.angle(from: before, to: step.bearingAfter)
        if step.kind == .roundaboutTurn || (step.kind?.entersRoundabout ?? false) {
            maneuver.junctionExitAngle = self.roundaboutExitAngle(step, previous, next)
        }
        guard let junction = step.intersections.first else { return }
        let roads = junction.elements("bearings")
        let (entry, exit) = (junction["in"]?.integer, junction["out"]?.integer)
        for (index, road) in roads.enumerated() where index != entry && index != exit {
            guard let bearing = road.number, let angle = Angle.degrees(rounding: bearing - before) else {
                continue
            }
            maneuver.junctionElementAngles.append(angle)
        }
    }

    /// The direction of a roundabout's exit, relative to its entry: from the maneuver that leaves it, else from the banner.
    private mutating func roundaboutExitAngle(_ step: OSRMStep, _ previous: OSRMStep?, _ next: OSRMStep?)
        -> Angle?
    {
        if let next, next.kind?.leavesRoundabout ?? false {
            return OSRMStep.angle(from: step.bearingBefore, to: next.bearingAfter)
        }
        let banner = previous?.node.elements("bannerInstructions").last?["primary"]
        if let degrees = banner?["degrees"]?.number {
            let isLeft = (banner?["driving_side"]?.string ?? "") == "left" || step.side == .left
            return .degrees(rounding: isLeft ? degrees - 180 : 180 - degrees)
        }
        // Why: the bearing after the maneuver is the direction around the roundabout, not that of the exit.
        self.book.add(step.path, "the direction in which the roundabout is left is not in the answer")
        return nil
    }

    // MARK: Lanes

    private mutating func appendLanes(
        of step: OSRMStep, _ previous: OSRMStep?, from start: Int, to leg: inout LegDraft
    ) {
        let maneuverHasLanes = !(step.intersections.first?.elements("lanes") ?? []).isEmpty
        if !maneuverHasLanes,
            let lanes = self.bannerLanes(step, previous, at: start, stepIndex: leg.steps.count - 1)
        {
            leg.lanes.append(lanes)
        }
        var place = start
        for (index, intersection) in step.intersections.enumerated() {
            guard let lanes = intersection["lanes"]?.elements, !lanes.isEmpty else { continue }
            let isManeuver = index == 0 && step.kind != .depart
            place = self.place(of: intersection, from: place, in: leg)
            let direction = isManeuver ? step.direction : .straight
            leg.lanes.append(
                LegDraft.Lanes(
                    path: intersection.path, pointIndex: place,
                    lanes: lanes.map {
                        self.lane($0, arrows: $0["indications"], $0["valid_indication"], direction)
                    },
                    stepIndex: isManeuver ? leg.steps.count - 1 : nil))
        }
    }

    /// The lanes that the last banner before the maneuver shows; nil for none.
    private mutating func bannerLanes(
        _ step: OSRMStep, _ previous: OSRMStep?, at place: Int, stepIndex: Int
    ) -> LegDraft.Lanes? {
        for banner in (previous?.node.elements("bannerInstructions") ?? []).reversed() {
            let lanes = (banner["sub"]?.elements("components") ?? []).filter { $0["type"]?.string == "lane" }
            guard !lanes.isEmpty else { continue }
            return LegDraft.Lanes(
                path: banner.path, pointIndex: place,
                lanes: lanes.map {
                    self.lane($0, arrows: $0["directions"], $0["active_direction"], step.direction)
                },
                stepIndex: stepIndex)
        }
        return nil
    }

    /// The step's point nearest to the intersection, from `start` on.
    private mutating func place(of intersection: JSONNode, from start: Int, in leg: LegDraft) -> Int {
        guard let location = intersection["location"].flatMap(Coordinate.init(lonLat:)) else { return start }
        var nearest = (place: start, meters: Double.infinity)
        for place in start..<leg.points.count where self.comparisonsLeft > 0 {
            self.comparisonsLeft -= 1
            let meters = leg.points[place].meters(to: location)
            if meters < nearest.meters { nearest = (place, meters) }
            if meters < 0.5 { break }
        }
        return nearest.place
    }

    private mutating func lane(
        _ lane: JSONNode, arrows: JSONNode?, _ taken: JSONNode?, _ direction: TurnDirection?
    ) -> Lane {
        var directions: [TurnDirection] = []
        for arrow in arrows?.elements ?? [] {
            switch LaneArrows.direction(indication: arrow.string ?? "?") {
            case .some(.some(let direction)): directions.append(direction)
            case .some(.none): break
            case .none: self.book.add(arrow.path, "no known direction of a lane")
            }
        }
        let takenDirection = taken?.string.flatMap { TurnDirection(rawValue: $0.lowercased()) }
        let isActive = lane["active"]?.bool ?? false
        let status: LaneStatus = isActive ? .preferred : lane["valid"]?.bool ?? false ? .good : .notGood
        return Lane(directions: directions, taken: takenDirection, maneuver: direction, status: status)
    }

    // MARK: Speeds

    private mutating func takeAnnotation(_ annotation: JSONNode?, into leg: inout LegDraft) {
        guard let annotation else { return }
        let segments = leg.points.count - 1
        if let seconds = annotation["duration"]?.elements, !seconds.isEmpty {
            guard seconds.count == segments else {
                return self.book.add(
                    annotation.path,
                    "\(seconds.count) times do not match \(segments) pieces of the line; the steps' times are taken"
                )
            }
            leg.pointDurations = seconds.map(\.number)
        } else if let speeds = annotation["speed"]?.elements, speeds.count == segments, segments > 0 {
            leg.pointDurations = speeds.indices.map { index in
                guard let speed = speeds[index].number, speed > 0 else { return nil }
                return leg.points[index].meters(to: leg.points[index + 1]) / speed
            }
        }
    }
}
