internal import WaymarkModel
internal import WaymarkProtocol

extension PublicationOutline {
    /// What the gateway must know of the body of a published type, once ``WireCheck`` passed it. Its frame has `header`.
    ///
    /// - Throws: If one field contradicts another, with the field's path.
    init(_ type: MessageType, checking body: WireMessage, _ header: FrameHeader) throws(Rejection) {
        var content = Content.nothing
        switch type {
        case .tripPreviews: content = .previews(try Self.previews(checking: body))
        case .startGuidance:
            content = .start(
                try body.inside(FieldNumber.StartGuidance.trip, "trip", NamedTrip.init(checking:)),
                try body.inside(FieldNumber.StartGuidance.route, "route", Route.init(checking:)))
        case .updateTrip:
            content = .trip(
                try body.inside(FieldNumber.UpdateTrip.trip, "trip", NamedTrip.init(checking:)))
        case .addManeuvers:
            content = .maneuvers(
                try ManeuverID.list(checking: body, FieldNumber.AddManeuvers.maneuvers))
        case .addLaneGuidances:
            content = .laneGuidances(
                try LaneGuidanceID.list(checking: body, FieldNumber.AddLaneGuidances.laneGuidances))
        case .addRouteSegments:
            content = .segments(try Segment.list(checking: body, FieldNumber.AddRouteSegments.segments))
        case .resumeGuidance:
            if body.first(FieldNumber.ResumeGuidance.route) != nil {
                content = .route(
                    try body.inside(FieldNumber.ResumeGuidance.route, "route", Route.init(checking:)))
            }
        case .showAlert:
            content = .alert(
                try body.inside(FieldNumber.ShowAlert.alert, "alert", NavigationAlert.id(checking:)))
        case .upcomingManeuvers:
            content = .maneuvers(
                body.numbers(FieldNumber.UpcomingManeuvers.maneuverIds, ManeuverID.init))
        case .currentLaneGuidance:
            content = .laneGuidance(
                body.number(FieldNumber.CurrentLaneGuidance.laneGuidanceId).given.map(LaneGuidanceID.init))
        case .updateManeuverState:
            content = .maneuverState(
                ManeuverState(rawValue: body.number(FieldNumber.UpdateManeuverState.state)))
        case .updateSpeedLimit: try Self.checkSpeedLimit(body)
        case .updateManeuverEstimates:
            content = .maneuver(
                ManeuverID(rawValue: body.number(FieldNumber.UpdateManeuverEstimates.maneuverId)))
        case .currentRouteSegment:
            content = .segment(body.identifier(FieldNumber.CurrentRouteSegment.segmentId))
        case .pauseGuidance:
            content = .pause(PauseReason(rawValue: body.number(FieldNumber.PauseGuidance.reason)))
        case .dismissAlert: content = .alert(body.number(FieldNumber.DismissAlert.alertId))
        case .shareDestination:
            content = .share(
                body.identifier(FieldNumber.ShareDestination.shareId),
                trip: body.identifier(FieldNumber.ShareDestination.tripId))
        case .publishExtension:
            let name = body.identifier(FieldNumber.PublishExtension.name).rawValue
            content = .extension(.init(name: ExtensionName(unchecked: name), of: header))
        default: break  // The gateway must know no more than the type.
        }
        let field = type.generationField
        self.init(type, generation: field == 0 ? 0 : body.number(field), content)
    }

    private static func previews(checking body: WireMessage) throws(Rejection) -> [NamedTrip] {
        let trips = try NamedTrip.list(checking: body, FieldNumber.TripPreviews.trips)
        let selected = body.identifier(FieldNumber.TripPreviews.selectedTripId)
        guard selected.isEmpty || trips.contains(where: { $0.id == selected }) else {
            throw Rejection(.unknownReference, field: "selected_trip_id", reason: "is not one of trips")
        }
        return trips
    }
}
