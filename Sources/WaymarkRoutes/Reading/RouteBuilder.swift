internal import WaymarkModel

/// Puts a route together, leg by leg and step by step, whichever engine it comes from.
struct RouteBuilder {
    /// One step as a reader sees it: the maneuver at its begin and the way to the next one.
    struct Step {
        var path: String
        var maneuver: Maneuver
        var lanes: LaneGuidance?
        var line: [Coordinate]
        var meters: Double
        var seconds: Double
        var roadNames: [String]
        var isMotorway = false
    }

    private(set) var notices: [RouteNotice] = []
    private var information = RouteInformation()
    private var line: [Coordinate] = []
    private var speeds: [Double] = []
    private var roads: [EngineRoad] = []
    private var maneuverIndices: [Int] = []
    private var laneGuidanceIndices: [Int] = []
    private var segmentIndices: [Int] = []
    private var legStart: (maneuver: Int, lane: Int) = (0, 0)
    private var metersSinceManeuver = 0.0
    private var secondsSinceManeuver = 0.0

    mutating func note(_ path: String, _ reason: String) {
        if !self.notices.contains(where: { $0.path == path && $0.reason == reason }) {
            self.notices.append(RouteNotice(path: path, reason: reason))
        }
    }

    mutating func beginLeg() {
        self.segmentIndices.append(max(0, self.line.count - 1))
        self.legStart = (self.information.maneuvers.count, self.information.laneGuidances.count)
    }

    mutating func append(_ step: Step) {
        var maneuver = step.maneuver
        maneuver.id = ManeuverID(rawValue: UInt32(self.information.maneuvers.count + 1))
        maneuver.initialTravelEstimates = TravelEstimates(
            distanceRemaining: .meters(rounding: self.metersSinceManeuver),
            timeRemaining: .seconds(Int64(min(self.secondsSinceManeuver, 3e7).rounded())))
        maneuver.instructionVariants = self.cut(maneuver.instructionVariants, step.path)
        maneuver.roadFollowingManeuverVariants = self.cut(maneuver.roadFollowingManeuverVariants, step.path)
        maneuver.highwayExitLabel = self.cut(maneuver.highwayExitLabel, 64, step.path)
        if maneuver.junctionElementAngles.count > 32 {
            self.note(step.path, "more than 32 roads at the junction; the others are left out")
            maneuver.junctionElementAngles = Array(maneuver.junctionElementAngles.prefix(32))
        }
        let place = max(0, self.line.count - 1)
        if var lanes = step.lanes {
            lanes.id = LaneGuidanceID(rawValue: UInt32(self.information.laneGuidances.count + 1))
            maneuver.linkedLaneGuidance = lanes.id
            self.information.laneGuidances.append(lanes)
            self.laneGuidanceIndices.append(place)
        }
        self.information.maneuvers.append(maneuver)
        self.maneuverIndices.append(place)
        self.metersSinceManeuver = step.meters
        self.secondsSinceManeuver = step.seconds
        self.extend(step, from: place)
    }

    /// Adds a step's way, without points that are where the one before is.
    private mutating func extend(_ step: Step, from place: Int) {
        let names = self.cut(step.roadNames, step.path)
        if self.roads.last.map({ $0.nameVariants != names || $0.isMotorway != step.isMotorway }) ?? true {
            if self.roads.last?.lineIndex == place { self.roads.removeLast() }
            self.roads.append(EngineRoad(lineIndex: place, nameVariants: names, isMotorway: step.isMotorway))
        }
        let speed = step.seconds > 0 && step.meters > 0 ? step.meters / step.seconds : 13.9
        for point in step.line where self.line.last != point {
            if !self.line.isEmpty { self.speeds.append(min(max(speed, 0.5), 100)) }
            self.line.append(point)
        }
    }

    /// Ends a leg between two waypoints.
    mutating func endLeg(from origin: Waypoint, to destination: Waypoint) {
        let index = self.information.segments.count
        let first = self.segmentIndices[index]
        var segment = RouteSegment(id: "leg-\(index + 1)", origin: origin, destination: destination)
        segment.coordinates = first < self.line.count ? Array(self.line[first...].prefix(262_144)) : []
        segment.maneuvers = self.information.maneuvers[self.legStart.maneuver...].map(\.id)
        segment.laneGuidances = self.information.laneGuidances[self.legStart.lane...].map(\.id)
        segment.currentManeuvers = Array(segment.maneuvers.prefix(2))
        self.information.segments.append(segment)
    }

    /// The whole route.
    ///
    /// - Throws: ``RouteReadingError/invalid(path:reason:)`` for a route without a single point or step.
    func finish(
        _ engine: EngineRoute.Engine, path: String, waypoints: [Waypoint], meters: Double?, seconds: Double?,
        summary: String
    ) throws(RouteReadingError) -> EngineRoute {
        guard !self.line.isEmpty else {
            throw .invalid(path: path, reason: "has no geometry and no locations")
        }
        guard !self.information.maneuvers.isEmpty else { throw .invalid(path: path, reason: "has no steps") }
        guard self.information.segments.count <= 65, self.information.maneuvers.count <= 4_096 else {
            throw .invalid(path: path, reason: "has more than 65 legs or 4096 steps")
        }
        let stepMeters = zip(self.line, self.line.dropFirst()).reduce(0.0) { $0 + $1.0.distance(to: $1.1) }
        var information = self.information
        information.upcomingManeuvers = Array(information.maneuvers.prefix(2).map(\.id))
        information.currentSegment = information.segments.first?.id
        let distance = Distance.meters(rounding: min(meters ?? stepMeters, 5e7))
        let duration = Duration.seconds(Int64(min(max(seconds ?? 0, 0), 3e7).rounded()))
        information.tripTravelEstimates = TravelEstimates(
            distanceRemaining: distance, timeRemaining: duration)
        var route = EngineRoute(
            engine: engine, waypoints: waypoints, information: information, line: self.line,
            lineSpeeds: self.speeds, roads: self.roads, maneuverIndices: self.maneuverIndices,
            laneGuidanceIndices: self.laneGuidanceIndices, segmentIndices: self.segmentIndices,
            distance: distance,
            duration: duration, notices: self.notices)
        route.summary = summary
        return route
    }

    // MARK: Text

    private mutating func cut(_ variants: [String], _ path: String) -> [String] {
        var seen: Set<String> = []
        let different = variants.filter { !$0.isEmpty && seen.insert($0).inserted }
            .sorted { $0.count > $1.count }
        if different.count > 8 { self.note(path, "more than 8 variants of a text; the others are left out") }
        return different.prefix(8).map { self.cut($0, 512, path) }
    }

    private mutating func cut(_ text: String, _ bytesMax: Int, _ path: String) -> String {
        let text = text.replacing("\0", with: "")
        guard text.utf8.count > bytesMax else { return text }
        self.note(path, "a text of \(text.utf8.count) bytes was cut to \(bytesMax)")
        var cut = ""
        for character in text where cut.utf8.count + character.utf8.count <= bytesMax {
            cut.append(character)
        }
        return cut
    }
}

/// Names of a road: with its reference, without, and the reference alone.
func roadNames(_ name: String, _ reference: String) -> [String] {
    switch (name.isEmpty, reference.isEmpty) {
    case (false, false): ["\(name) (\(reference))", name, reference]
    case (false, true): [name]
    case (true, false): [reference]
    case (true, true): []
    }
}
