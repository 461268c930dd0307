package import WaymarkModel

/// What a navigation client publishes into a session, in full. Reaches vehicles as the bytes that were received.
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
        }
    }
}

/// What the gateway must know of a publication to check it, retain it and conflate it: no text, no geometry.
///
/// Made by the codec straight from the body, after every field was checked.
package enum PublicationOutline: Sendable, Hashable {
    /// What a trip allows.
    package struct Trip: Sendable, Hashable, Codable {
        package var isDestinationShareable: Bool
        package var routeSegmentsAvailable: Bool

        package init(isDestinationShareable: Bool, routeSegmentsAvailable: Bool) {
            self.isDestinationShareable = isDestinationShareable
            self.routeSegmentsAvailable = routeSegmentsAvailable
        }
    }

    /// The ids of one route segment and those it refers to.
    package struct Segment: Sendable, Hashable {
        package var id: String
        package var maneuvers: [ManeuverID] = []
        package var laneGuidances: [LaneGuidanceID] = []
        package var currentManeuvers: [ManeuverID] = []
        package var currentLaneGuidance: LaneGuidanceID?

        package init(id: String) { self.id = id }
    }

    /// The ids of a whole route.
    package struct Route: Sendable, Hashable {
        package var maneuvers: [ManeuverID] = []
        package var laneGuidances: [LaneGuidanceID] = []
        package var segments: [Segment] = []
        package var currentSegment: String?
        package var upcomingManeuvers: [ManeuverID] = []
        package var currentLaneGuidance: LaneGuidanceID?

        package init() {}
    }

    case tripPreviews
    // Why indirect: what is large and rare must not make an outline of every state as large, nor what has memory of its own.
    indirect case startGuidance(Trip, generation: UInt32, Route)
    case updateTrip(Trip)
    indirect case addManeuvers([ManeuverID], generation: UInt32)
    indirect case addLaneGuidances([LaneGuidanceID], generation: UInt32)
    indirect case addRouteSegments([Segment], generation: UInt32)
    indirect case upcomingManeuvers([ManeuverID], generation: UInt32)
    case currentLaneGuidance(LaneGuidanceID?, generation: UInt32)
    case currentRoadName
    case maneuverState(ManeuverState, generation: UInt32)
    case tripEstimates
    case maneuverEstimates(ManeuverID, generation: UInt32)
    indirect case currentRouteSegment(String, generation: UInt32)
    case pauseGuidance(PauseReason)
    indirect case resumeGuidance(generation: UInt32, Route?)
    case showAlert(UInt32)
    case dismissAlert(UInt32)
    indirect case shareDestination(shareID: String)
    case finishGuidance
    case cancelGuidance
    /// A skippable type of the published range that this build does not know: passed on as an event.
    case unrecognized
}

/// Of two states with the same key only the newer one matters to a slow endpoint. Events have none.
package struct ConflationKey: Sendable, Hashable, Codable {
    package var type: UInt16
    /// Which one of the type: a maneuver's id, or 0.
    package var item: UInt32

    package init(type: MessageType, item: UInt32 = 0) {
        self.type = type.rawValue
        self.item = item
    }
}

extension PublicationOutline {
    /// The key of a state; nil for an event.
    ///
    /// - Source: Docs/protocol.md, "Conflation".
    package var conflationKey: ConflationKey? {
        switch self {
        case .tripPreviews: ConflationKey(type: .tripPreviews)
        case .updateTrip: ConflationKey(type: .updateTrip)
        case .upcomingManeuvers: ConflationKey(type: .upcomingManeuvers)
        case .currentLaneGuidance: ConflationKey(type: .currentLaneGuidance)
        case .currentRoadName: ConflationKey(type: .currentRoadName)
        case .maneuverState: ConflationKey(type: .updateManeuverState)
        case .tripEstimates: ConflationKey(type: .updateTripEstimates)
        case .maneuverEstimates(let maneuver, _):
            ConflationKey(type: .updateManeuverEstimates, item: maneuver.rawValue)
        case .currentRouteSegment: ConflationKey(type: .currentRouteSegment)
        case .startGuidance, .addManeuvers, .addLaneGuidances, .addRouteSegments, .pauseGuidance,
            .resumeGuidance,
            .showAlert, .dismissAlert, .shareDestination, .finishGuidance, .cancelGuidance, .unrecognized:
            nil
        }
    }
}

extension PublicationOutline {
    /// The feature that a client must provide to publish this, apart from those of its route.
    @inlinable package var feature: Feature? {
        switch self {
        case .tripPreviews: .tripPreviews
        case .addManeuvers, .upcomingManeuvers, .maneuverState, .maneuverEstimates: .maneuvers
        case .addLaneGuidances, .currentLaneGuidance: .laneGuidance
        case .addRouteSegments, .currentRouteSegment: .routeSegments
        case .currentRoadName: .currentRoadName
        case .showAlert, .dismissAlert: .navigationAlerts
        case .shareDestination: .destinationSharing
        case .startGuidance, .updateTrip, .tripEstimates, .pauseGuidance, .resumeGuidance, .finishGuidance,
            .cancelGuidance, .unrecognized:
            nil
        }
    }
}
