internal import WaymarkModel
internal import WaymarkProtocol

/// Generates random trips, routes and their elements. Ids are unique within a generation.
struct RandomDrive {
    /// Features that the client may not publish.
    var withheld: Set<Feature> = []
    private var maneuverCount: UInt32 = 0
    private var laneGuidanceCount: UInt32 = 0
    private var segmentCount = 0
    private var alertCount: UInt32 = 0

    mutating func trip(_ random: inout SeededRandom) -> Trip {
        Trip(
            id: "trip", origin: Self.waypoint(&random), destination: Self.waypoint(&random),
            isDestinationShareable: !random.once(in: 4), routeSegmentsAvailable: !random.once(in: 4))
    }

    mutating func route(on trip: Trip, _ random: inout SeededRandom) -> RouteInformation {
        var route = RouteInformation()
        route.laneGuidances = self.laneGuidances(random.number(0...3), &random)
        route.maneuvers = self.maneuvers(random.number(0...5), route.laneGuidances, &random)
        let first = random.number(0...max(0, min(1, route.maneuvers.count - 1)))
        route.upcomingManeuvers = route.maneuvers.dropFirst(first).prefix(2).map(\.id)
        route.currentLaneGuidance = random.pick(route.laneGuidances)?.id
        if trip.routeSegmentsAvailable, !self.withheld.contains(.routeSegments), random.once(in: 2) {
            route.segments = [self.segment(route.maneuvers, route.laneGuidances, &random)]
            route.currentSegment = route.segments.first?.id
        }
        if random.once(in: 2) { route.tripTravelEstimates = Self.estimates(&random) }
        if !route.upcomingManeuvers.isEmpty, random.once(in: 2) {
            route.maneuverTravelEstimates = Self.estimates(&random)
        }
        return route
    }

    mutating func maneuvers(
        _ count: Int, _ laneGuidances: [LaneGuidance], _ random: inout SeededRandom
    ) -> [Maneuver] {
        (0..<(self.withheld.contains(.maneuvers) ? 0 : count)).map { _ in
            self.maneuverCount += 1
            return Maneuver(
                id: ManeuverID(rawValue: self.maneuverCount), type: .leftTurn,
                instructionVariants: ["turn left here", "left"].prefix(random.number(0...2)).map(\.self),
                roadFollowingManeuverVariants: ["Long Lane", "L1"].suffix(random.number(0...2)).map(\.self),
                highwayExitLabel: random.once(in: 3) ? "12A" : "",
                linkedLaneGuidance: random.pick(laneGuidances)?.id,
                initialTravelEstimates: random.once(in: 3) ? Self.estimates(&random) : nil)
        }
    }

    mutating func laneGuidances(_ count: Int, _ random: inout SeededRandom) -> [LaneGuidance] {
        (0..<(self.withheld.contains(.laneGuidance) ? 0 : count)).map { _ in
            self.laneGuidanceCount += 1
            return LaneGuidance(
                id: LaneGuidanceID(rawValue: self.laneGuidanceCount),
                lanes: [Lane(angles: [.degrees(-90)], status: .good)],
                instructionVariants: random.once(in: 2) ? ["keep left", "left"] : [])
        }
    }

    mutating func segment(
        _ maneuvers: [Maneuver], _ laneGuidances: [LaneGuidance], _ random: inout SeededRandom
    ) -> RouteSegment {
        self.segmentCount += 1
        return RouteSegment(
            id: EquivalentIDs.id("s", self.segmentCount).rawValue, origin: Self.waypoint(&random),
            destination: Self.waypoint(&random),
            coordinates: (0..<random.number(0...6)).map { _ in Self.coordinate(&random) },
            maneuvers: maneuvers.map(\.id), laneGuidances: laneGuidances.map(\.id),
            currentManeuvers: maneuvers.prefix(1).map(\.id),
            tripTravelEstimates: random.once(in: 2) ? Self.estimates(&random) : nil,
            speedLimits: self.speedLimits(&random))
    }

    /// Speed limits along a line, also of points that it does not have.
    private func speedLimits(_ random: inout SeededRandom) -> [SpeedLimitSpan] {
        guard !self.withheld.contains(.speedLimit), random.once(in: 2) else { return [] }
        return Set((0..<4).map { _ in UInt32(random.number(0...8)) }).sorted()
            .map { SpeedLimitSpan(from: $0, Self.speedLimit(&random)) }
    }

    static func speedLimit(_ random: inout SeededRandom) -> SpeedLimit {
        switch random.number(0...5) {
        case 0: .unknown
        case 1: .unlimited
        default: SpeedLimit(10 * UInt32(random.number(1...13)), .kilometersPerHour, sign: .vienna)
        }
    }

    static func speedLimitAhead(_ random: inout SeededRandom) -> SpeedLimitAhead {
        SpeedLimitAhead(self.speedLimit(&random), in: .meters(UInt32(random.number(0...5_000))))
    }

    mutating func alert(_ random: inout SeededRandom) -> NavigationAlert {
        self.alertCount += 1
        return NavigationAlert(
            id: self.alertCount, titleVariants: ["Traffic jam ahead", "Jam"],
            subtitleVariants: random.once(in: 2) ? ["10 minutes"] : [],
            actions: random.once(in: 2) ? [AlertAction(id: 1, titleVariants: ["Avoid it", "Avoid"])] : [])
    }

    static func waypoint(_ random: inout SeededRandom) -> Waypoint {
        var waypoint = Waypoint(center: self.coordinate(&random))
        if random.once(in: 2) { waypoint.nameVariants = ["Charging Park", "Park"] }
        if random.once(in: 2) { waypoint.addressVariants = ["1 Main Street", "Main St"] }
        if random.once(in: 3) { waypoint.timeZone = "Europe/Vaduz" }
        if random.once(in: 3) { waypoint.charge = ChargeStop(powerWatts: 50_000) }
        return waypoint
    }

    static func estimates(_ random: inout SeededRandom) -> TravelEstimates {
        TravelEstimates(
            distanceRemaining: .meters(UInt32(random.number(0...5_000))),
            timeRemaining: random.once(in: 2) ? .seconds(random.number(0...900)) : nil)
    }

    /// In whole degrees, which the wire represents exactly.
    private static func coordinate(_ random: inout SeededRandom) -> Coordinate {
        Coordinate(latitude: Double(random.number(-80...80)), longitude: Double(random.number(-170...170)))
    }
}
