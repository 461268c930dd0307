internal import WaymarkModel

// What a publication is divided into that is too large for one frame.
extension Publication {
    /// Whether its lists have at most as many elements as a message may have.
    package var isWithinCounts: Bool {
        switch self {
        case .addManeuvers(let all, _): all.count <= ProtocolConstants.maneuversMax
        case .addLaneGuidances(let all, _): all.count <= ProtocolConstants.laneGuidancesMax
        case .addRouteSegments(let all, _): all.count <= ProtocolConstants.routeSegmentsMax
        case .startGuidance(_, _, let route), .resumeGuidance(_, _, let route?): route.isWithinCounts
        default: true
        }
    }

    /// Smaller publications of the same content, each of which refers only to earlier ones; empty if there are none.
    ///
    /// Additions are halved. A route comes without its maneuvers, lane guidances and segments, which are added after it.
    package var parts: [Publication] {
        switch self {
        case .addManeuvers(let all, let generation):
            all.halves.map { .addManeuvers($0, generation: generation) }
        case .addLaneGuidances(let all, let generation):
            all.halves.map { .addLaneGuidances($0, generation: generation) }
        case .addRouteSegments(let all, let generation):
            all.halves.map { .addRouteSegments($0, generation: generation) }
        case .startGuidance(let trip, let generation, let route) where !route.isBare:
            [.startGuidance(trip, generation: generation, route.bare)]
                + route.additions(generation: generation)
        case .resumeGuidance(let generation, let reason, let route?) where !route.isBare:
            [.resumeGuidance(generation: generation, reason, route.bare)]
                + route.additions(generation: generation)
        default: []
        }
    }
}

extension RouteInformation {
    fileprivate var isWithinCounts: Bool {
        self.maneuvers.count <= ProtocolConstants.maneuversMax
            && self.laneGuidances.count <= ProtocolConstants.laneGuidancesMax
            && self.segments.count <= ProtocolConstants.routeSegmentsMax
    }

    /// Whether it has nothing that can be added later.
    fileprivate var isBare: Bool {
        self.maneuvers.isEmpty && self.laneGuidances.isEmpty && self.segments.isEmpty
    }

    /// The route without everything that can be added later, and what refers to it.
    fileprivate var bare: RouteInformation { RouteInformation(tripTravelEstimates: self.tripTravelEstimates) }

    /// The additions that complete the bare route, in an order in which each refers only to earlier ones.
    fileprivate func additions(generation: UInt32) -> [Publication] {
        var additions: [Publication] = []
        if !self.maneuvers.isEmpty { additions.append(.addManeuvers(self.maneuvers, generation: generation)) }
        if !self.laneGuidances.isEmpty {
            additions.append(.addLaneGuidances(self.laneGuidances, generation: generation))
        }
        if !self.segments.isEmpty {
            additions.append(.addRouteSegments(self.segments, generation: generation))
        }
        if !self.upcomingManeuvers.isEmpty {
            additions.append(.upcomingManeuvers(self.upcomingManeuvers, generation: generation))
        }
        if let currentLaneGuidance {
            additions.append(.currentLaneGuidance(currentLaneGuidance, generation: generation))
        }
        if let segment = self.currentSegment ?? self.segments.first?.id {
            additions.append(.currentRouteSegment(segment, generation: generation))
        }
        if let estimates = self.maneuverTravelEstimates, let first = self.upcomingManeuvers.first {
            additions.append(.maneuverEstimates(first, estimates, generation: generation))
        }
        return additions
    }
}

extension Array {
    /// Both halves; empty if one would be.
    fileprivate var halves: [[Element]] {
        self.count < 2 ? [] : [Array(self[..<(self.count / 2)]), Array(self[(self.count / 2)...])]
    }
}
