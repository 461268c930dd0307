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
        leg.distance = node["distance"]?.quantity
        leg.duration = node["duration"]?.quantity
        leg.summary = node["summary"]?.string ?? ""
        var starts: [Int] = []
        for (step, next) in zip(steps, steps.dropFirst().map(\.location) + [nil]) {
            starts.append(try self.appendPoints(of: step, until: next, to: &leg))
        }
        for index in steps.indices {
            let place = Place(steps, at: index, starts: starts, points: leg.points)
            leg.steps.append(self.step(place, isIntermediate: !isLast))
            self.appendLanes(of: place, to: &leg)
        }
        self.takeAnnotation(node["annotation"], into: &leg)
        self.takeSpeedLimits(node["annotation"], steps, starts: starts, into: &leg)
        return leg
    }

    /// Adds the step's points; the first one is the last one of the step before.
    ///
    /// - Returns: The index of the step's first point.
    private mutating func appendPoints(
        of step: OSRMStep, until next: Coordinate?, to leg: inout LegDraft
    ) throws(RouteReadingError) -> Int {
        let points = try step.points(self.precision, until: next, &self.book)
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

    /// A step among its neighbours and on the leg's line.
    private struct Place {
        let step: OSRMStep
        let previous: OSRMStep?
        let next: OSRMStep?
        /// The index of its first point.
        let start: Int
        /// The arc of the roundabout that is entered here; nil if there is none, and if the line does not show it.
        let ring: RingArc?
        /// The line's directions at the maneuver and, of a roundabout, where it is left.
        let line: LineDirections
        /// The leg ends here.
        let isRingLast: Bool

        init(_ steps: [OSRMStep], at index: Int, starts: [Int], points: [Coordinate]) {
            self.step = steps[index]
            self.previous = index > 0 ? steps[index - 1] : nil
            self.next = index + 1 < steps.count ? steps[index + 1] : nil
            self.start = starts[index]
            let end = index + 1 < starts.count ? starts[index + 1] : points.count - 1
            let leaves = self.next?.kind?.leavesRoundabout ?? false
            self.ring =
                !self.step.isRing
                ? nil
                : leaves && self.start <= end
                    ? RingArc(points, self.start...end)
                    : RingArc(points, from: self.start, notAfter: end)
            self.line = LineDirections(points, at: self.start, leavingAt: self.ring?.range.upperBound)
            self.isRingLast = self.ring?.range.upperBound == points.count - 1
        }
    }

    private mutating func step(_ place: Place, isIntermediate: Bool) -> LegDraft.Step {
        let step = place.step
        let directions = self.directions(place)
        let direction = self.direction(place, directions)
        let type = self.type(place, direction, exit: self.exit(of: place))
        var maneuver = self.maneuver(place, type, isIntermediate: isIntermediate)
        if step.kind != .depart, step.kind != .arrive {
            maneuver.junctionExitAngle = directions.angle
            maneuver.junctionElementAngles = directions.elements
        }
        var draft = LegDraft.Step(
            path: step.path, pointIndex: place.start, maneuver: maneuver,
            distance: step.node["distance"]?.quantity, duration: step.node["duration"]?.quantity,
            roadNames: roadNames(name: step.name, reference: step.reference),
            isMotorway: step.isMotorway(at: step.intersections.first))
        draft.side = step.side
        draft.ring = place.ring
        draft.isCorrected = directions.isCorrected && step.kind != .depart && step.kind != .arrive
        return draft
    }

    /// The bearings of the step, compared with the line. A roundabout is left in the direction of the maneuver that leaves it, else
    /// in that of the banner.
    private mutating func directions(_ place: Place) -> ManeuverDirections {
        let step = place.step
        var stated = ManeuverDirections.Stated(before: step.bearingBefore, after: step.bearingAfter)
        guard step.isRing else { return ManeuverDirections(stated, line: place.line, roads: step.roads) }
        var roads = step.roads
        // The road on which the ring is entered is not the one on which it is left.
        let entrance = roads.exit
        roads.exit = nil
        stated.after = nil
        if let next = place.next, next.kind?.leavesRoundabout ?? false {
            stated.after = next.bearingAfter
        } else if let angle = self.bannerAngle(place), let before = place.line.before ?? stated.before {
            stated.after = before + angle
        }
        let isShown = place.ring?.isEndCertain ?? false
        if stated.after == nil, !isShown {
            self.book.add(step.path, "the direction in which the roundabout is left is not in the answer")
        }
        let line = isShown ? place.line : LineDirections(into: place.line.into, outOf: [])
        if let entrance, roads.bearings.indices.contains(entrance) { roads.bearings[entrance] = nil }
        return ManeuverDirections(stated, line: line, roads: roads)
    }

    /// The direction in which a roundabout is left, relative to its entry, in degrees: that of the last banner before it. The banner counts
    /// degrees in the direction of driving.
    private func bannerAngle(_ place: Place) -> Double? {
        let banner = place.previous?.node.elements("bannerInstructions").last?["primary"]
        guard let degrees = banner?["degrees"]?.number else { return nil }
        let isLeft = banner?["driving_side"]?.string == "left" || place.step.side == .left
        let driven = place.ring?.side(degrees: TrafficSides.contradictingDegreesMin)
        return (driven ?? (isLeft ? .left : .right)) == .left ? degrees - 180 : 180 - degrees
    }

    /// The direction of the modifier or, for a maneuver that needs one, of the bearings, or of the line.
    private mutating func direction(_ place: Place, _ directions: ManeuverDirections) -> TurnDirection? {
        let step = place.step
        if let modifier = step.modifier { return modifier }
        guard step.needsDirection, let angle = directions.angle else { return nil }
        let isFromBearings =
            step.bearingBefore != nil && step.bearingAfter != nil && !directions.isCorrected
        self.book.add(
            .member(step.path, "maneuver"),
            "no modifier; the direction is taken from the \(isFromBearings ? "bearings" : "line")")
        return TurnDirection(angle)
    }

    /// The number of the exit; nil where the route ends on the roundabout, because the number then counts the exits that were passed.
    private mutating func exit(of place: Place) -> UInt8? {
        guard place.step.exit != nil, place.step.isRing, place.next?.kind == .arrive, place.isRingLast else {
            return place.step.exit
        }
        self.book.add(place.step.path, "the route ends on this roundabout: it is left by no exit")
        return nil
    }

    private func type(_ place: Place, _ direction: TurnDirection?, exit: UInt8?) -> ManeuverType {
        let step = place.step
        var roads = OSRMManeuver.Roads()
        if let previous = place.previous {
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
        return OSRMManeuver(kind: step.kind, direction: direction, exit: exit, roads: roads).type
    }

    private mutating func maneuver(
        _ place: Place, _ type: ManeuverType, isIntermediate: Bool
    ) -> Maneuver {
        let step = place.step
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
            // The maneuver at the entry has the number; on the one that leaves, it would read as an exit above 19.
            if step.exit != nil, place.previous?.exit != step.exit {
                self.book.add(step.path, "the exit's number on leaving is not carried over")
            }
        } else if type != .enterRoundabout {
            maneuver.roundaboutExitNumber = step.exit
        }
        maneuver.instructionVariants = self.words(step, place.previous)
        if maneuver.instructionVariants.isEmpty {
            maneuver.instructionVariants = InstructionText.variants(
                type, exit: maneuver.roundaboutExitNumber,
                road: roadNames(name: step.name, reference: step.reference), destinations: destinations,
                roundabout: step.isRing ? step.node["rotary_name"]?.string ?? "" : "")
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

    // MARK: Lanes

    private mutating func appendLanes(of spot: Place, to leg: inout LegDraft) {
        let (step, start) = (spot.step, spot.start)
        let angle = leg.steps.last?.maneuver.junctionExitAngle
        let turn = step.modifier ?? angle.map { TurnDirection($0) }
        let maneuverHasLanes = !(step.intersections.first?.elements("lanes") ?? []).isEmpty
        if !maneuverHasLanes,
            let lanes = self.bannerLanes(
                spot.previous, turn, angle, at: start, stepIndex: leg.steps.count - 1)
        {
            leg.lanes.append(lanes)
        }
        var place = start
        for (index, intersection) in step.intersections.enumerated() {
            guard let lanes = intersection["lanes"]?.elements, !lanes.isEmpty else { continue }
            let isManeuver = index == 0 && step.kind != .depart
            place = self.place(of: intersection, from: place, in: leg)
            let direction = isManeuver ? turn : .straight
            leg.lanes.append(
                LegDraft.Lanes(
                    path: intersection.path, pointIndex: place,
                    lanes: lanes.map {
                        self.lane(
                            $0, arrows: $0["indications"], $0["valid_indication"], direction,
                            isManeuver ? angle : nil)
                    },
                    stepIndex: isManeuver ? leg.steps.count - 1 : nil))
        }
    }

    /// The lanes that the last banner before the maneuver shows; nil for none.
    private mutating func bannerLanes(
        _ previous: OSRMStep?, _ direction: TurnDirection?, _ angle: Angle?, at place: Int, stepIndex: Int
    ) -> LegDraft.Lanes? {
        for banner in (previous?.node.elements("bannerInstructions") ?? []).reversed() {
            let lanes = (banner["sub"]?.elements("components") ?? []).filter { $0["type"]?.string == "lane" }
            guard !lanes.isEmpty else { continue }
            return LegDraft.Lanes(
                path: banner.path, pointIndex: place,
                lanes: lanes.map {
                    self.lane($0, arrows: $0["directions"], $0["active_direction"], direction, angle)
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
        _ lane: JSONNode, arrows: JSONNode?, _ taken: JSONNode?, _ direction: TurnDirection?, _ angle: Angle?
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
        return Lane(
            directions: directions, taken: takenDirection, maneuver: direction, angle: angle,
            status: status)
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
