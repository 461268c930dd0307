package import WaymarkModel
import WaymarkProtocol

/// Builds a route from a draft: one line without equal neighbours, speeds, ids, segments and estimates, within the limits.
struct RouteBuilder {
    /// The number of upcoming maneuvers of a route and of its segments; a cluster shows one to three.
    static let upcomingManeuversMax = 3
    /// Plausible speeds in metres per second; others are limited to this range.
    static let speeds: ClosedRange<Double> = 0.1...100
    /// The speed if an engine gives neither time nor speed: 50 km/h.
    static let defaultSpeed = 50 / 3.6

    private var draft: RouteDraft
    private var line: [Coordinate] = []
    private var lineSpeeds: [Double] = []
    /// The speed limit of each piece of the line.
    private var lineLimits: [SpeedLimit] = []
    private var maneuvers: [Maneuver] = []
    private var maneuverIndices: [Int] = []
    private var lanes: [LaneGuidance] = []
    private var laneIndices: [Int] = []
    private var roads: [EngineRoad] = []
    private var segmentIndices: [Int] = []
    /// Per segment: its maneuvers and lane guidances.
    private var segmentItems: [(maneuvers: [ManeuverID], lanes: [LaneGuidanceID])] = []

    /// Builds the route of `draft`.
    ///
    /// - Throws: `.noRoute` without legs or points; `.invalid` if nothing explains why the line contradicts the answer.
    static func build(_ draft: RouteDraft) throws(RouteReadingError) -> EngineRoute {
        var builder = RouteBuilder(draft: draft)
        return try builder.build()
    }

    private init(draft: RouteDraft) { self.draft = draft }

    private mutating func build() throws(RouteReadingError) -> EngineRoute {
        self.cutLegs()
        for leg in self.draft.legs { self.append(leg) }
        guard !self.line.isEmpty else { throw .noRoute(path: self.draft.path.description) }
        try self.checkLengths()
        self.reportCorrections()
        let waypoints = self.waypoints()
        let stopSeconds = waypoints.map { Double($0.charge?.chargingTime?.components.seconds ?? 0) }
        let measure = LineMeasure(
            line: self.line, speeds: self.lineSpeeds,
            stops: EngineRoute.stops(self.segmentIndices, stopSeconds))
        let path = self.draft.path
        let legDistances = self.draft.legs.reduce(0) { $0 + ($1.distance ?? 0) }
        let legDurations = self.draft.legs.reduce(0) { $0 + ($1.duration ?? 0) }
        let information = self.information(measure, waypoints)
        let distance = self.draft.book.distance(
            self.draft.distance ?? (legDistances > 0 ? legDistances : measure.length), at: path)
        let duration = self.draft.book.duration(
            self.draft.duration
                ?? (legDurations > 0 ? legDurations + measure.stopSeconds : measure.duration), at: path)
        let summary = self.summary(measure)
        var route = EngineRoute(
            engine: self.draft.engine, waypoints: waypoints, information: information, line: self.line,
            lineSpeeds: self.lineSpeeds, roads: self.roads, maneuverIndices: self.maneuverIndices,
            laneGuidanceIndices: self.laneIndices, segmentIndices: self.segmentIndices,
            stopSeconds: stopSeconds, distance: distance, duration: duration,
            notices: [], summaryVariants: summary)
        route.limitSpeeds(self.lineLimits, self.draft.path, &self.draft.book)
        route.notices = self.draft.book.complete
        return route
    }

    /// Removes the legs that exceed the limits; the route then ends before its destination, which is reported.
    private mutating func cutLegs() {
        let legs = self.draft.legs.count
        guard legs > ProtocolConstants.routeSegmentsMax else { return }
        self.draft.legs = self.draft.book.fit(
            self.draft.legs, countMax: ProtocolConstants.routeSegmentsMax, "legs", at: self.draft.path)
        self.draft.places = self.draft.places.map {
            Array($0.prefix(ProtocolConstants.routeSegmentsMax + 1))
        }
        (self.draft.distance, self.draft.duration) = (nil, nil)
        let last = self.draft.legs.count - 1
        if let step = self.draft.legs[last].steps.indices.last {
            self.draft.legs[last].steps[step].maneuver.type = .arriveEndOfDirections
            self.draft.legs[last].steps[step].maneuver.isIntermediateWaypoint = false
        }
    }

    // MARK: Legs

    private mutating func append(_ leg: LegDraft) {
        let places = self.appendLine(of: leg)
        guard !places.isEmpty else { return }
        self.segmentIndices.append(places[0])
        self.segmentItems.append(([], []))
        var stepIDs: [Int: ManeuverID] = [:]
        for (index, step) in leg.steps.enumerated() {
            let place = places[min(step.pointIndex, places.count - 1)]
            self.appendRoad(step, at: place)
            stepIDs[index] = self.append(
                step, at: place, after: index == 0 ? nil : leg.steps[index - 1])
        }
        for lanes in leg.lanes {
            self.append(
                lanes, at: places[min(lanes.pointIndex, places.count - 1)],
                linkedTo: lanes.stepIndex.flatMap { stepIDs[$0] })
        }
    }

    /// Adds the points that differ from the one before.
    ///
    /// - Returns: For each point of the leg, its index in the line.
    private mutating func appendLine(of leg: LegDraft) -> [Int] {
        let speeds = SpeedProfile.speeds(of: leg)
        var places: [Int] = []
        for (index, point) in leg.points.enumerated() {
            if index == 0, let last = self.line.last {
                self.draft.book.addGap(last.meters(to: point), at: leg.path)
            }
            if self.line.last.map({ !$0.isAt(point) }) ?? true {
                if !self.line.isEmpty {
                    self.lineSpeeds.append(index == 0 ? speeds.first ?? Self.defaultSpeed : speeds[index - 1])
                    self.lineLimits.append(
                        leg.speedLimits.indices.contains(index - 1) ? leg.speedLimits[index - 1] : .unknown)
                }
                self.line.append(point)
            }
            places.append(self.line.count - 1)
        }
        return places
    }

    private mutating func appendRoad(_ step: LegDraft.Step, at place: Int) {
        let names = self.draft.book.fit(variants: step.roadNames, at: step.path)
        let road = EngineRoad(lineIndex: place, nameVariants: names, isMotorway: step.isMotorway)
        // Why: an arrival is on the road before it, and of two steps at one point only the second one's road is driven.
        if step.maneuver.type.isArrival, !self.roads.isEmpty { return }
        if self.roads.last?.lineIndex == place { self.roads.removeLast() }
        if let last = self.roads.last, last.nameVariants == names, last.isMotorway == step.isMotorway {
            return
        }
        self.roads.append(road)
        if self.roads.count == 1 { self.roads[0].lineIndex = 0 }
    }

    private mutating func append(
        _ step: LegDraft.Step, at place: Int, after previous: LegDraft.Step?
    ) -> ManeuverID? {
        guard self.maneuvers.count < ProtocolConstants.maneuversMax else {
            self.draft.book.add(
                step.path, "left out: a route has at most \(ProtocolConstants.maneuversMax) maneuvers")
            return nil
        }
        let id = ManeuverID(rawValue: UInt32(self.maneuvers.count + 1))
        var maneuver = Maneuver(id: id, type: step.maneuver.type)
        maneuver.junctionType = step.maneuver.junctionType
        maneuver.trafficSide = step.maneuver.trafficSide
        maneuver.instructionVariants = self.draft.book.fit(
            variants: step.maneuver.instructionVariants, at: step.path)
        maneuver.roadFollowingManeuverVariants = self.draft.book.fit(
            variants: step.maneuver.roadFollowingManeuverVariants, at: step.path)
        maneuver.highwayExitLabel = self.draft.book.fit(
            step.maneuver.highwayExitLabel, bytesMax: ProtocolConstants.shortTextBytesMax, at: step.path)
        maneuver.junctionExitAngle = step.maneuver.junctionExitAngle
        maneuver.type = self.type(of: maneuver, at: step, after: previous)
        let elements = Set(step.maneuver.junctionElementAngles).subtracting(
            [step.maneuver.junctionExitAngle].compactMap(\.self))
        maneuver.junctionElementAngles = self.draft.book.fit(
            elements.sorted(), countMax: ProtocolConstants.anglesMax, "roads of a junction", at: step.path)
        maneuver.roundaboutExitNumber = step.maneuver.roundaboutExitNumber
        maneuver.isIntermediateWaypoint = step.maneuver.isIntermediateWaypoint
        maneuver.initialTravelEstimates = self.initialEstimates(previous, to: place, at: step.path)
        self.maneuvers.append(maneuver)
        self.maneuverIndices.append(max(place, self.maneuverIndices.last ?? 0))
        self.segmentItems[self.segmentItems.count - 1].maneuvers.append(id)
        return id
    }

    /// The engine's type, unless the directions or the names of the roads say another one.
    private func type(
        of maneuver: Maneuver, at step: LegDraft.Step, after previous: LegDraft.Step?
    ) -> ManeuverType {
        let type = maneuver.type.turning(by: maneuver.junctionExitAngle)
        // Why the maneuver before: a vehicle can compare only with what that says of its road.
        let shown = self.maneuvers.last?.roadFollowingManeuverVariants.first
        guard shown == nil || shown != maneuver.roadFollowingManeuverVariants.first else {
            return type == .straightAhead ? .followRoad : type
        }
        return type.leading(from: previous?.roadNames ?? [], to: step.roadNames)
    }

    /// The engine's distance and time of the step before; the first maneuver of a leg is at the last one of the leg before.
    private mutating func initialEstimates(
        _ previous: LegDraft.Step?, to place: Int, at path: JSONPath
    ) -> TravelEstimates {
        guard let previous else {
            return TravelEstimates(distanceRemaining: .meters(0), timeRemaining: .zero)
        }
        let from = self.maneuverIndices.last ?? 0
        let measured = (from..<max(from, place)).reduce(0) {
            $0 + self.line[$1].meters(to: self.line[$1 + 1])
        }
        let distance = self.draft.book.distance(previous.distance ?? measured, at: path)
        let time = previous.duration.map { self.draft.book.duration($0, at: path) }
        return TravelEstimates(distanceRemaining: distance, timeRemaining: time)
    }

    private mutating func append(_ draft: LegDraft.Lanes, at place: Int, linkedTo maneuver: ManeuverID?) {
        guard self.lanes.count < ProtocolConstants.laneGuidancesMax else {
            return self.draft.book.add(
                draft.path,
                "left out: a route has at most \(ProtocolConstants.laneGuidancesMax) lane guidances")
        }
        let id = LaneGuidanceID(rawValue: UInt32(self.lanes.count + 1))
        let lanes = self.draft.book.fit(
            draft.lanes, countMax: ProtocolConstants.lanesMax, "lanes", at: draft.path)
        var guidance = LaneGuidance(id: id, lanes: lanes)
        if let maneuver {
            self.maneuvers[Int(maneuver.rawValue) - 1].linkedLaneGuidance = id
            guidance.instructionVariants = self.maneuvers[Int(maneuver.rawValue) - 1].instructionVariants
        }
        self.lanes.append(guidance)
        self.laneIndices.append(max(place, self.laneIndices.last ?? 0))
        self.segmentItems[self.segmentItems.count - 1].lanes.append(id)
    }

    // MARK: The whole route

    /// The line's index at each waypoint: the starts of the legs, and the end of the last one.
    private var ends: [Int] { self.segmentIndices + [self.line.count - 1] }

    /// The answer's waypoints, if their number fits; whatever contradicts the line is reported.
    private mutating func waypoints() -> [Waypoint] {
        let ends = self.ends.map { self.line[$0] }
        guard let places = self.draft.places, places.count == ends.count else {
            return ends.map { Waypoint(center: $0) }
        }
        let waypoints = zip(places, ends).enumerated().map { index, stop in
            let verb = index == 0 ? "begins" : index == ends.count - 1 ? "ends" : "stops"
            return stop.0.waypoint(at: stop.1, verb, &self.draft.book)
        }
        if let last = waypoints.last, let end = ends.last,
            last.center.meters(to: end) > RoutingLimits.stopMetersMax
        {
            self.endDirections()
        }
        return waypoints
    }

    /// The route does not reach its destination.
    private mutating func endDirections() {
        guard let last = self.maneuvers.indices.last, self.maneuvers[last].type.isArrival else { return }
        self.maneuvers[last].type = .arriveEndOfDirections
    }

    /// Reports maneuvers whose bearings or directions contradict the line.
    private mutating func reportCorrections() {
        let steps = self.draft.legs.flatMap(\.steps)
        let corrected = steps.filter(\.isCorrected)
        if let first = corrected.first {
            let times = corrected.count == 1 ? "" : ", \(corrected.count) times"
            self.draft.book.add(
                first.path,
                "the stated directions contradict the line, whose directions are taken\(times)")
        }
        for step in steps {
            let angle = step.maneuver.junctionExitAngle
            guard let angle, !ManeuverDirections.agrees(step.maneuver.type, with: angle) else { continue }
            self.draft.book.add(
                step.path,
                "the engine says \(step.maneuver.type), but the line turns by \(angle.degrees) degrees")
        }
    }

    /// Compares the line with the lengths of the legs or, if these agree, with that of the route.
    private mutating func checkLengths() throws(RouteReadingError) {
        guard self.draft.legs.count == self.segmentIndices.count else { return }
        var measured: [Double] = []
        for (start, end) in zip(self.ends, self.ends.dropFirst()) {
            measured.append((start..<end).reduce(0) { $0 + self.line[$1].meters(to: self.line[$1 + 1]) })
        }
        var isReported = false
        for (index, leg) in self.draft.legs.enumerated() {
            let steps = leg.steps.compactMap(\.distance).reduce(0, +)
            let stated = leg.distance ?? (steps > 0 ? steps : nil)
            let notices = self.draft.book.notices.count
            try LengthCheck.check(
                measured[index], stated: stated, areEndsRight: self.areEndsRight(of: index), at: leg.path,
                &self.draft.book)
            isReported = isReported || self.draft.book.notices.count > notices
        }
        guard !isReported else { return }
        try LengthCheck.check(
            measured.reduce(0, +), stated: self.draft.distance,
            areEndsRight: self.draft.legs.indices.map { self.areEndsRight(of: $0) }.reduce(true) {
                guard let one = $0, let other = $1 else { return nil }
                return one && other
            }, at: self.draft.path, &self.draft.book)
    }

    /// Whether the line of the leg at `index` leads between the answer's waypoints; nil if the answer has none.
    private func areEndsRight(of index: Int) -> Bool? {
        guard let places = self.draft.places, places.count == self.ends.count,
            let start = places[index].center, let end = places[index + 1].center
        else { return nil }
        let isNear = { (place: Coordinate, point: Int) in
            place.meters(to: self.line[point]) <= RoutingLimits.stopMetersMax
        }
        return isNear(start, self.ends[index]) && isNear(end, self.ends[index + 1])
    }

    private mutating func information(_ measure: LineMeasure, _ waypoints: [Waypoint]) -> RouteInformation {
        let ends = self.ends.dropFirst()
        var segments: [RouteSegment] = []
        for (index, (start, end)) in zip(self.segmentIndices, ends).enumerated() {
            let items = self.segmentItems[index]
            let current = Array(items.maneuvers.prefix(Self.upcomingManeuversMax))
            let lanes = current.first.flatMap { self.maneuvers[Int($0.rawValue) - 1].linkedLaneGuidance }
            segments.append(
                RouteSegment(
                    id: "leg-\(index + 1)", origin: waypoints[index], destination: waypoints[index + 1],
                    coordinates: self.thinned(Array(self.line[start...end])), maneuvers: items.maneuvers,
                    laneGuidances: items.lanes, currentManeuvers: current, currentLaneGuidance: lanes,
                    tripTravelEstimates: measure.estimates(from: measure.meters[start], to: measure.length),
                    maneuverTravelEstimates: current.first.map {
                        measure.estimates(
                            from: measure.meters[start],
                            to: measure.meters[self.maneuverIndices[Int($0.rawValue) - 1]])
                    }))
        }
        return RouteInformation(
            maneuvers: self.maneuvers, laneGuidances: self.lanes, segments: segments,
            currentSegment: segments.first?.id, upcomingManeuvers: segments.first?.currentManeuvers ?? [],
            currentLaneGuidance: segments.first?.currentLaneGuidance,
            tripTravelEstimates: segments.first?.tripTravelEstimates,
            maneuverTravelEstimates: segments.first?.maneuverTravelEstimates)
    }

    /// Removes points evenly if a segment has too many; the first and the last are kept.
    private mutating func thinned(_ points: [Coordinate]) -> [Coordinate] {
        guard points.count > ProtocolConstants.coordinatesMax else { return points }
        self.draft.book.add(
            self.draft.path,
            "\(points.count) points of a leg were thinned to \(ProtocolConstants.coordinatesMax)")
        let last = ProtocolConstants.coordinatesMax - 1
        return (0...last).map { points[$0 * (points.count - 1) / last] }
    }

    /// The engine's summary, or the two longest roads with a name.
    private mutating func summary(_ measure: LineMeasure) -> [String] {
        let given = self.draft.legs.map(\.summary).filter { !$0.isEmpty }
        guard given.isEmpty else {
            // Why: legs on one road would repeat its name.
            var said: Set<Substring> = []
            let names = given.joined(separator: ", ").split(separator: ", ").filter {
                said.insert($0).inserted
            }
            let whole = names.joined(separator: ", ")
            return self.draft.book.fit(
                variants: [whole] + given.filter { $0.count < whole.count }, at: self.draft.path)
        }
        var lengths: [String: Double] = [:]
        for (index, road) in self.roads.enumerated() {
            guard let name = road.nameVariants.last else { continue }
            let end = index + 1 < self.roads.count ? self.roads[index + 1].lineIndex : self.line.count - 1
            lengths[name, default: 0] += measure.meters[end] - measure.meters[road.lineIndex]
        }
        let names = lengths.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(2).map(\.key)
        return self.draft.book.fit(
            variants: [names.joined(separator: ", "), names.first ?? ""], at: self.draft.path)
    }
}

extension ManeuverType {
    /// Whether it ends a leg.
    package var isArrival: Bool {
        switch self {
        case .arriveAtDestination, .arriveAtDestinationLeft, .arriveAtDestinationRight,
            .arriveEndOfNavigation,
            .arriveEndOfDirections:
            true
        default: false
        }
    }
}

extension LineMeasure {
    /// The estimates between two distances along the line, limited to the protocol's ranges.
    ///
    /// - Parameters:
    ///   - start: In metres.
    ///   - now: Seconds from the line's start, which tell how much of a stop at `start` remains; nil if it has not begun.
    ///   - end: In metres.
    /// - Returns: The estimates, including the time at stops between both.
    package func estimates(from start: Double, at now: Double? = nil, to end: Double) -> TravelEstimates {
        let begin = self.seconds(atMeters: start, now: now)
        let seconds = max(0, self.seconds(atMeters: end) - begin)
        let meters = min(max(0, end - start), Double(ProtocolConstants.distanceMetersMax))
        return TravelEstimates(
            distanceRemaining: .meters(rounding: meters),
            timeRemaining: .seconds(
                min(Int64(ProtocolConstants.timeSecondsMax), Int64(min(seconds, 1e12).rounded()))))
    }
}
