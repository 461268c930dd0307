internal import WaymarkModel
internal import WaymarkProtocol

// What rules look for in a publication, with its path as in the protos.
extension Publication {
    /// The route that it brings, and the path to it; nil for none.
    var newRoute: RouteInformation? {
        switch self {
        case .startGuidance(_, _, let route), .resumeGuidance(_, _, let route?): route
        default: nil
        }
    }

    /// The maneuvers that it adds, and the path of their list.
    var addedManeuvers: (path: String, all: [Maneuver]) {
        switch self {
        case .startGuidance(_, _, let route), .resumeGuidance(_, _, let route?):
            ("route.maneuvers", route.maneuvers)
        case .addManeuvers(let added, _): ("maneuvers", added)
        default: ("", [])
        }
    }

    /// The route segments that it adds, and the path of their list.
    var addedSegments: (path: String, all: [RouteSegment]) {
        switch self {
        case .startGuidance(_, _, let route), .resumeGuidance(_, _, let route?):
            ("route.segments", route.segments)
        case .addRouteSegments(let added, _): ("segments", added)
        default: ("", [])
        }
    }

    /// The lane guidances that it adds, and the path of their list.
    var addedLaneGuidances: (path: String, all: [LaneGuidance]) {
        switch self {
        case .startGuidance(_, _, let route), .resumeGuidance(_, _, let route?):
            ("route.lane_guidances", route.laneGuidances)
        case .addLaneGuidances(let added, _): ("lane_guidances", added)
        default: ("", [])
        }
    }

    // MARK: Estimates

    /// Calls `body` with all estimates.
    func forEachEstimates(_ body: (_ path: String, TravelEstimates) -> Void) {
        func tell(_ path: String, _ estimates: TravelEstimates?) {
            if let estimates { body(path, estimates) }
        }
        switch self {
        case .tripEstimates(let estimates, _), .maneuverEstimates(_, let estimates, _):
            body("travel_estimates", estimates)
        case .startGuidance(let trip, _, let route):
            trip.forEachEstimates("trip", tell)
            route.forEachEstimates(tell)
        case .resumeGuidance(_, _, let route?): route.forEachEstimates(tell)
        case .updateTrip(let trip): trip.forEachEstimates("trip", tell)
        case .tripPreviews(let trips, _):
            for (index, trip) in trips.enumerated() { trip.forEachEstimates("trips[\(index)]", tell) }
        default: break
        }
        let maneuvers = self.addedManeuvers
        for (index, maneuver) in maneuvers.all.enumerated() {
            tell("\(maneuvers.path)[\(index)].initial_travel_estimates", maneuver.initialTravelEstimates)
        }
        let segments = self.addedSegments
        for (index, segment) in segments.all.enumerated() {
            tell("\(segments.path)[\(index)].trip_travel_estimates", segment.tripTravelEstimates)
            tell("\(segments.path)[\(index)].maneuver_travel_estimates", segment.maneuverTravelEstimates)
        }
    }

    // MARK: Texts

    /// Calls `body` with all lists of variants.
    func forEachText(_ body: (_ path: String, _ variants: [String]) -> Void) {
        switch self {
        case .tripPreviews(let trips, _):
            for (index, trip) in trips.enumerated() { trip.forEachText("trips[\(index)]", body) }
        case .startGuidance(let trip, _, _), .updateTrip(let trip): trip.forEachText("trip", body)
        case .plain(.currentRoadName(let variants)): body("name_variants", variants)
        case .pauseGuidance(_, let variants): body("description_variants", variants)
        case .showAlert(let alert): alert.forEachText("alert", body)
        case .shareDestination(_, let place, _): place.forEachText("destination", body)
        default: break
        }
        let maneuvers = self.addedManeuvers
        for (index, maneuver) in maneuvers.all.enumerated() {
            let path = "\(maneuvers.path)[\(index)]"
            body("\(path).instruction_variants", maneuver.instructionVariants)
            body("\(path).road_following_maneuver_variants", maneuver.roadFollowingManeuverVariants)
        }
        let guidances = self.addedLaneGuidances
        for (index, guidance) in guidances.all.enumerated() {
            body("\(guidances.path)[\(index)].instruction_variants", guidance.instructionVariants)
        }
        let segments = self.addedSegments
        for (index, segment) in segments.all.enumerated() {
            segment.origin.forEachText("\(segments.path)[\(index)].origin", body)
            segment.destination.forEachText("\(segments.path)[\(index)].destination", body)
        }
    }
}

extension RouteInformation {
    fileprivate func forEachEstimates(_ tell: (String, TravelEstimates?) -> Void) {
        tell("route.trip_travel_estimates", self.tripTravelEstimates)
        tell("route.maneuver_travel_estimates", self.maneuverTravelEstimates)
    }
}

extension Trip {
    fileprivate func forEachEstimates(_ path: String, _ tell: (String, TravelEstimates?) -> Void) {
        for (index, choice) in self.routeChoices.enumerated() {
            tell("\(path).route_choices[\(index)].travel_estimates", choice.travelEstimates)
        }
    }

    fileprivate func forEachText(_ path: String, _ body: (String, [String]) -> Void) {
        self.origin.forEachText("\(path).origin", body)
        self.destination.forEachText("\(path).destination", body)
        for (index, stop) in self.waypoints.enumerated() {
            stop.forEachText("\(path).waypoints[\(index)]", body)
        }
        for (index, choice) in self.routeChoices.enumerated() {
            let path = "\(path).route_choices[\(index)]"
            body("\(path).summary_variants", choice.summaryVariants)
            body("\(path).additional_information_variants", choice.additionalInformationVariants)
            body("\(path).selection_summary_variants", choice.selectionSummaryVariants)
        }
    }
}

extension Waypoint {
    fileprivate func forEachText(_ path: String, _ body: (String, [String]) -> Void) {
        body("\(path).name_variants", self.nameVariants)
        body("\(path).address_variants", self.addressVariants)
    }
}

extension NavigationAlert {
    fileprivate func forEachText(_ path: String, _ body: (String, [String]) -> Void) {
        body("\(path).title_variants", self.titleVariants)
        body("\(path).subtitle_variants", self.subtitleVariants)
        for (index, action) in self.actions.enumerated() {
            body("\(path).actions[\(index)].title_variants", action.titleVariants)
        }
    }
}
