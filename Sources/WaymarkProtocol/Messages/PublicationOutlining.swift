import WaymarkModel

extension Publication {
    /// What the gateway must know of this publication. The codec makes the same from bytes.
    package var outline: PublicationOutline {
        switch self {
        case .tripPreviews: .tripPreviews
        case .startGuidance(let trip, let generation, let route):
            .startGuidance(.init(trip), generation: generation, .init(route))
        case .updateTrip(let trip): .updateTrip(.init(trip))
        case .addManeuvers(let maneuvers, let generation):
            .addManeuvers(maneuvers.map(\.id), generation: generation)
        case .addLaneGuidances(let guidances, let generation):
            .addLaneGuidances(guidances.map(\.id), generation: generation)
        case .addRouteSegments(let segments, let generation):
            .addRouteSegments(segments.map(PublicationOutline.Segment.init), generation: generation)
        case .upcomingManeuvers(let maneuvers, let generation):
            .upcomingManeuvers(maneuvers, generation: generation)
        case .currentLaneGuidance(let guidance, let generation):
            .currentLaneGuidance(guidance, generation: generation)
        case .currentRoadName: .currentRoadName
        case .maneuverState(let state, let generation): .maneuverState(state, generation: generation)
        case .tripEstimates: .tripEstimates
        case .maneuverEstimates(let maneuver, _, let generation):
            .maneuverEstimates(maneuver, generation: generation)
        case .currentRouteSegment(let segment, let generation):
            .currentRouteSegment(segment, generation: generation)
        case .pauseGuidance(let reason, _): .pauseGuidance(reason)
        case .resumeGuidance(let generation, _, let route):
            .resumeGuidance(generation: generation, route.map(PublicationOutline.Route.init))
        case .showAlert(let alert): .showAlert(alert.id)
        case .dismissAlert(let alert, _): .dismissAlert(alert)
        case .shareDestination(let shareID, _): .shareDestination(shareID: shareID)
        case .finishGuidance: .finishGuidance
        case .cancelGuidance: .cancelGuidance
        }
    }
}

extension PublicationOutline.Trip {
    init(_ trip: WaymarkModel.Trip) {
        self.init(
            isDestinationShareable: trip.isDestinationShareable,
            routeSegmentsAvailable: trip.routeSegmentsAvailable)
    }
}

extension PublicationOutline.Segment {
    init(_ segment: RouteSegment) {
        self.init(id: segment.id)
        self.maneuvers = segment.maneuvers
        self.laneGuidances = segment.laneGuidances
        self.currentManeuvers = segment.currentManeuvers
        self.currentLaneGuidance = segment.currentLaneGuidance
    }
}

extension PublicationOutline.Route {
    init(_ route: RouteInformation) {
        self.init()
        self.maneuvers = route.maneuvers.map(\.id)
        self.laneGuidances = route.laneGuidances.map(\.id)
        self.segments = route.segments.map(PublicationOutline.Segment.init)
        self.currentSegment = route.currentSegment
        self.upcomingManeuvers = route.upcomingManeuvers
        self.currentLaneGuidance = route.currentLaneGuidance
    }
}
