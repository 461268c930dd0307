package import WaymarkModel

/// What a navigation client publishes into a session, in full. Reaches vehicles as the bytes that were received.
///
/// A new publication begins here: a case, its ``type``, its ``outline`` and its rule in ``PublicationRule/table``.
package enum Publication: Sendable, Hashable {
    /// At most 12 trips; empty hides them.
    case tripPreviews([Trip], selected: String)
    case startGuidance(Trip, generation: UInt32, RouteInformation)
    case updateTrip(Trip)
    case addManeuvers([Maneuver], generation: UInt32)
    case addLaneGuidances([LaneGuidance], generation: UInt32)
    case addRouteSegments([RouteSegment], generation: UInt32)
    case upcomingManeuvers([ManeuverID], generation: UInt32)
    case currentLaneGuidance(LaneGuidanceID?, generation: UInt32)
    case currentRoadName([String])
    case maneuverState(ManeuverState, generation: UInt32)
    case tripEstimates(TravelEstimates, TimeRemainingColor)
    case maneuverEstimates(ManeuverID, TravelEstimates, generation: UInt32)
    case currentRouteSegment(String, generation: UInt32)
    case pauseGuidance(PauseReason, description: [String])
    /// Without a route the generation is the current one, with one it is higher.
    case resumeGuidance(generation: UInt32, RerouteReason, RouteInformation?)
    case showAlert(NavigationAlert)
    case dismissAlert(UInt32, AlertDismissal)
    case shareDestination(shareID: String, Waypoint)
    case finishGuidance
    case cancelGuidance
    case publishExtension(PublishedExtension)

    /// The type in the frame's header.
    package var type: MessageType {
        switch self {
        case .tripPreviews: .tripPreviews
        case .startGuidance: .startGuidance
        case .updateTrip: .updateTrip
        case .addManeuvers: .addManeuvers
        case .addLaneGuidances: .addLaneGuidances
        case .addRouteSegments: .addRouteSegments
        case .upcomingManeuvers: .upcomingManeuvers
        case .currentLaneGuidance: .currentLaneGuidance
        case .currentRoadName: .currentRoadName
        case .maneuverState: .updateManeuverState
        case .tripEstimates: .updateTripEstimates
        case .maneuverEstimates: .updateManeuverEstimates
        case .currentRouteSegment: .currentRouteSegment
        case .pauseGuidance: .pauseGuidance
        case .resumeGuidance: .resumeGuidance
        case .showAlert: .showAlert
        case .dismissAlert: .dismissAlert
        case .shareDestination: .shareDestination
        case .finishGuidance: .finishGuidance
        case .cancelGuidance: .cancelGuidance
        case .publishExtension: .publishExtension
        }
    }
}

extension Publication {
    /// What the gateway must know of this publication. The codec makes the same from bytes.
    package var outline: PublicationOutline {
        let generation = self.generation
        let content: PublicationOutline.Content =
            switch self {
            case .startGuidance(let trip, _, let route): .start(.init(trip), .init(route))
            case .updateTrip(let trip): .trip(.init(trip))
            case .addManeuvers(let maneuvers, _): .maneuvers(maneuvers.map(\.id))
            case .addLaneGuidances(let guidances, _): .laneGuidances(guidances.map(\.id))
            case .addRouteSegments(let segments, _):
                .segments(segments.map(PublicationOutline.Segment.init))
            case .upcomingManeuvers(let maneuvers, _): .maneuvers(maneuvers)
            case .currentLaneGuidance(let guidance, _): .laneGuidance(guidance)
            case .maneuverState(let state, _): .maneuverState(state)
            case .maneuverEstimates(let maneuver, _, _): .maneuver(maneuver)
            case .currentRouteSegment(let segment, _): .segment(Identifier(segment))
            case .pauseGuidance(let reason, _): .pause(reason)
            case .resumeGuidance(_, _, let route): route.map { .route(.init($0)) } ?? .nothing
            case .showAlert(let alert): .alert(alert.id)
            case .dismissAlert(let alert, _): .alert(alert)
            case .shareDestination(let shareID, _): .share(Identifier(shareID))
            case .publishExtension(let published): .extension(.init(published))
            default: .nothing
            }
        return PublicationOutline(self.type, generation: generation, content)
    }

    /// 0 for those that have none.
    private var generation: UInt32 {
        switch self {
        case .startGuidance(_, let generation, _), .addManeuvers(_, let generation),
            .addLaneGuidances(_, let generation), .addRouteSegments(_, let generation),
            .upcomingManeuvers(_, let generation), .currentLaneGuidance(_, let generation),
            .maneuverState(_, let generation), .maneuverEstimates(_, _, let generation),
            .currentRouteSegment(_, let generation), .resumeGuidance(let generation, _, _):
            generation
        default: 0
        }
    }

    /// What the protocol says of it.
    package var rule: PublicationRule {
        if case .publishExtension(let published) = self, published.key != nil { return .extensionState }
        return .rule(for: self.type.rawValue)
    }
}

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
        // Without a route it voids the pause and nothing of it is retained.
        PublicationRule(
            .resumeGuidance, .event, in: .paused, generation: .newWithRoute, adds: .wholeRoute,
            voids: .route, retains: .newest, isOfRoute: true, fittedBy: .content, largest: "route"),
        PublicationRule(
            .showAlert, .event, needs: .navigationAlerts, in: .guided, voids: .alert, retains: .newest,
            fittedBy: .content, largest: "alert"),
        PublicationRule(
            .dismissAlert, .event, needs: .navigationAlerts, in: .guided, voids: .alert, retains: .nothing),
        PublicationRule(
            .shareDestination, .event, needs: .destinationSharing, in: .guided, retains: .nothing,
            fittedBy: .content),
        PublicationRule(.finishGuidance, .event, in: .any, retains: .nothing),
        PublicationRule(.cancelGuidance, .event, in: .any, retains: .nothing),
    ]
}
