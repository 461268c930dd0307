internal import WaymarkModel
internal import WaymarkProtocol

// Publications without the features that a gateway withholds, since it would refuse the whole message.
extension Publication {
    /// The publication without the fields of some features; nil if it consists only of one of them.
    ///
    /// Exit labels, charging stops and time zones stay: the gateway takes them out.
    func without(_ withheld: FeatureSet) -> Publication? {
        guard !withheld.isEmpty else { return self }
        if let feature = self.rule.feature, withheld.contains(feature) { return nil }
        switch self {
        case .startGuidance(let trip, let generation, let route):
            return .startGuidance(trip, generation: generation, route.without(withheld))
        case .resumeGuidance(let generation, let reason, let route):
            return .resumeGuidance(generation: generation, reason, route?.without(withheld))
        case .addRouteSegments(let segments, let generation):
            return .addRouteSegments(segments.map { $0.without(withheld) }, generation: generation)
        default: return self
        }
    }
}

extension RouteInformation {
    fileprivate func without(_ withheld: FeatureSet) -> RouteInformation {
        var route = self
        if withheld.contains(.maneuvers) {
            (route.maneuvers, route.upcomingManeuvers, route.maneuverTravelEstimates) = ([], [], nil)
        }
        if withheld.contains(.laneGuidance) { (route.laneGuidances, route.currentLaneGuidance) = ([], nil) }
        route.segments = withheld.contains(.routeSegments) ? [] : self.segments.map { $0.without(withheld) }
        if route.segments.isEmpty { route.currentSegment = nil }
        return route
    }
}

extension RouteSegment {
    fileprivate func without(_ withheld: FeatureSet) -> RouteSegment {
        var segment = self
        if withheld.contains(.maneuvers) {
            (segment.maneuvers, segment.currentManeuvers, segment.maneuverTravelEstimates) = ([], [], nil)
        }
        if withheld.contains(.laneGuidance) {
            (segment.laneGuidances, segment.currentLaneGuidance) = ([], nil)
        }
        if withheld.contains(.speedLimit) { segment.speedLimits = [] }
        return segment
    }
}
