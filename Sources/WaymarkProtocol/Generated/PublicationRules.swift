// Made by scripts/generate/wire.sh from Protos. Do not edit.

extension PublicationRule {
    /// The rules by type number, beginning with 0x0100, without gaps.
    package static let table = [
        PublicationRule(
            .tripPreviews, .state, needs: .tripPreviews, in: .any, retains: .newest, fittedBy: .content,
            largest: "trips"),
        PublicationRule(
            .startGuidance, .event, in: .any, generation: .new, adds: .wholeRoute, voids: .everything,
            retains: .newest, fittedBy: .content, largest: "route"),
        PublicationRule(
            .updateTrip, .state, in: .guided, retains: .newest, fittedBy: .content, largest: "trip"),
        PublicationRule(
            .addManeuvers, .event, needs: .maneuvers, in: .guided, generation: .current, adds: .maneuvers,
            retains: .all, isOfRoute: true, fittedBy: .content, largest: "maneuvers"),
        PublicationRule(
            .addLaneGuidances, .event, needs: .laneGuidance, in: .guided, generation: .current,
            adds: .laneGuidances, retains: .all, isOfRoute: true, fittedBy: .content,
            largest: "lane_guidances"),
        PublicationRule(
            .addRouteSegments, .event, needs: .routeSegments, in: .guided, generation: .current,
            adds: .segments, retains: .all, isOfRoute: true, fittedBy: .content, largest: "segments"),
        PublicationRule(
            .upcomingManeuvers, .state, needs: .maneuvers, in: .guided, generation: .current,
            refersTo: .maneuvers, retains: .newest, isOfRoute: true, fittedBy: .maneuverSlots,
            largest: "maneuver_ids"),
        PublicationRule(
            .currentLaneGuidance, .state, needs: .laneGuidance, in: .guided, generation: .current,
            refersTo: .laneGuidances, retains: .newest, isOfRoute: true, fittedBy: .laneGuidanceSlots,
            largest: "lane_guidance_id"),
        PublicationRule(
            .currentRoadName, .state, needs: .currentRoadName, in: .guided, retains: .newest,
            fittedBy: .roadNameLength, largest: "name_variants"),
        PublicationRule(
            .updateManeuverState, .state, needs: .maneuvers, in: .guided, generation: .current,
            retains: .newest, isOfRoute: true, largest: "state"),
        PublicationRule(
            .updateTripEstimates, .state, in: .guided, retains: .newest, isOfRoute: true,
            fittedBy: .distanceUnits, largest: "travel_estimates"),
        PublicationRule(
            .updateManeuverEstimates, .statePerManeuver, needs: .maneuvers, in: .guided, generation: .current,
            refersTo: .maneuvers, retains: .newest, isOfRoute: true,
            fittedBy: [.distanceUnits, .maneuverSlots], largest: "travel_estimates"),
        PublicationRule(
            .currentRouteSegment, .state, needs: .routeSegments, in: .guided, generation: .current,
            refersTo: .segments, retains: .newest, isOfRoute: true, largest: "segment_id"),
        PublicationRule(
            .pauseGuidance, .event, in: .guided, voids: [.pause, .maneuverState], retains: .newest,
            isOfRoute: true, largest: "description_variants"),
        PublicationRule(
            .resumeGuidance, .event, in: .paused, generation: .newWithRoute, adds: .wholeRoute, voids: .route,
            retains: .newest, isOfRoute: true, fittedBy: .content, largest: "route"),
        PublicationRule(
            .showAlert, .event, needs: .navigationAlerts, in: .guided, voids: .alert, retains: .newest,
            fittedBy: .content, largest: "alert"),
        PublicationRule(
            .dismissAlert, .event, needs: .navigationAlerts, in: .guided, voids: .alert, retains: .nothing),
        PublicationRule(
            .shareDestination, .event, needs: .destinationSharing, in: .any, retains: .nothing,
            fittedBy: .content),
        PublicationRule(.finishGuidance, .event, in: .any, retains: .nothing),
        PublicationRule(.cancelGuidance, .event, in: .any, retains: .nothing),
        PublicationRule(
            .updateSpeedLimit, .state, needs: .speedLimit, in: .guided, retains: .newest, isOfRoute: true,
            fittedBy: .distanceUnits, largest: "next"),
    ]
}
