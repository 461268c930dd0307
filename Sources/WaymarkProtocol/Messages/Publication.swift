package import WaymarkModel

/// What a navigation client publishes into a session, in full. Reaches vehicles as the bytes that were received.
///
/// A new publication that is no plain state needs a case here, its ``type`` and its ``outline``. Its rule follows from the protos.
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
    case maneuverState(ManeuverState, generation: UInt32)
    case tripEstimates(TravelEstimates, TimeRemainingColor)
    case maneuverEstimates(ManeuverID, TravelEstimates, generation: UInt32)
    case currentRouteSegment(String, generation: UInt32)
    case pauseGuidance(PauseReason, description: [String])
    /// Without a route the generation is the current one, with one it is higher.
    case resumeGuidance(generation: UInt32, RerouteReason, RouteInformation?)
    case showAlert(NavigationAlert)
    case dismissAlert(UInt32, AlertDismissal)
    /// The last value names the trip preview whose destination it is; empty: the trip that is driven.
    case shareDestination(shareID: String, Waypoint, trip: String = "")
    /// The limit where the vehicle is, and the next different one; nil if none is known.
    case speedLimit(SpeedLimit, next: SpeedLimitAhead?)
    case finishGuidance
    case cancelGuidance
    case publishExtension(PublishedExtension)
    /// A state whose code is generated.
    case plain(PlainState)

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
        case .maneuverState: .updateManeuverState
        case .tripEstimates: .updateTripEstimates
        case .maneuverEstimates: .updateManeuverEstimates
        case .currentRouteSegment: .currentRouteSegment
        case .pauseGuidance: .pauseGuidance
        case .resumeGuidance: .resumeGuidance
        case .showAlert: .showAlert
        case .dismissAlert: .dismissAlert
        case .shareDestination: .shareDestination
        case .speedLimit: .updateSpeedLimit
        case .finishGuidance: .finishGuidance
        case .cancelGuidance: .cancelGuidance
        case .publishExtension: .publishExtension
        case .plain(let state): state.type
        }
    }
}

extension Publication {
    /// What the gateway must know of this publication. The codec makes the same from bytes.
    package var outline: PublicationOutline {
        let generation = self.generation
        let content: PublicationOutline.Content =
            switch self {
            case .tripPreviews(let trips, _): .previews(trips.map(PublicationOutline.NamedTrip.init))
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
            case .shareDestination(let shareID, _, let trip):
                .share(Identifier(shareID), trip: Identifier(trip))
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
