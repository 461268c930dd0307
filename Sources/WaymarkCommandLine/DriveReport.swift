internal import WaymarkModel
internal import WaymarkRoutes
internal import WaymarkTexts

/// Tells of a drive in lines for people: each maneuver as it becomes the next one, stops, new routes, and now and then how far it
/// is to the destination.
struct DriveReport: Sendable {
    /// Between two lines that only tell how far it is.
    private static let progressInterval = Duration.seconds(10)

    private var toManeuver: TravelEstimates?
    private var toDestination: TravelEstimates?
    private var road = ""
    private var lastLine: Duration?

    /// What to tell of `change`, at `now` of any clock.
    mutating func lines(_ change: DriveChange, _ route: EngineRoute, at now: Duration) -> [String] {
        switch change {
        case .maneuverEstimates(_, let estimates): self.toManeuver = estimates
        case .roadName(let names): self.road = names.first ?? ""
        case .tripEstimates(let estimates, _):
            self.toDestination = estimates
            if let lastLine, now - lastLine >= Self.progressInterval {
                self.lastLine = now
                return [self.remaining + (self.road.isEmpty ? "" : ", on \(self.road)")]
            }
        case .upcomingManeuvers(let ids):
            guard let next = route.information.maneuvers.first(where: { $0.id == ids.first }) else { break }
            self.lastLine = now
            return [self.line(next)]
        case .arrivedAtWaypoint(let index):
            self.lastLine = now
            let name = route.waypoints[index].nameVariants.first.map { ", \($0)" } ?? ""
            return ["reached stop \(index) of \(route.waypoints.count - 2)\(name)"]
        case .offRoute: return ["the vehicle has left the route"]
        case .position, .leavingWaypoint, .currentSegment, .currentLaneGuidance, .maneuverState, .speedLimit,
            .finished:
            break
        }
        return []
    }

    /// What to tell of a new route.
    mutating func lines(rerouted route: RouteInformation, _ trip: Trip, _ reason: RerouteReason) -> [String] {
        self.toDestination = route.tripTravelEstimates
        self.toManeuver = route.maneuverTravelEstimates
        let stops = trip.waypoints.map { $0.nameVariants.first ?? "a place without a name" }
        let via = stops.isEmpty ? "" : ", by way of \(stops.joined(separator: ", "))"
        return ["new route\(reason.phrase): \(self.remaining)\(via)"]
    }

    private func line(_ maneuver: Maneuver) -> String {
        let instruction = maneuver.instructionVariants.first ?? maneuver.type.name
        let rest = self.toDestination == nil ? "" : " (\(self.remaining))"
        guard let meters = self.toManeuver?.distanceRemaining.meters, meters > 0 else {
            return "now: \(instruction)\(rest)"
        }
        return "in \(GuidanceText.distance(self.toManeuver)): \(instruction)\(rest)"
    }

    /// E.g. "8.9 km, 9 min to go".
    private var remaining: String { "\(Story.estimates(self.toDestination)) to go" }

    /// What to tell of the notices of a route: that the engine moved a point in full, what had to be assumed as its number. Members of the
    /// answer that have no place are of no matter to a driver.
    static func notices(_ notices: [RouteNotice]) -> [String] {
        let moved = notices.filter(\.isMovedPoint)
        let others = notices.count { !$0.isMovedPoint && !$0.isOmission }
        var lines = moved.map { "note: \($0.path): \($0.reason)" }
        if others > 0 {
            lines.append(
                "note: \(others) \(others == 1 ? "thing" : "things") in the engine's answer had to be assumed or "
                    + "left out; --notices lists them")
        }
        return lines
    }
}
