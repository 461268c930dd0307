internal import WaymarkModel
internal import WaymarkProtocol

/// Numbers of the fields that publications' outlines need, as in the protos. Those further down are with their messages.
private enum Field {
    /// What most publications begin with, and then what they are about.
    static let generation = 1, subject = 2
    /// What those are about that have no generation.
    static let only = 1
    enum TripPreviews { static let trips = 1, selected = 2 }
    enum StartGuidance { static let trip = 1, generation = 2, route = 3 }
    enum ResumeGuidance { static let route = 3 }
}

extension PublicationOutline {
    /// What the gateway must know of the body of a published type, once ``WireCheck`` passed it.
    ///
    /// - Throws: If one field contradicts another, with the field's path.
    init(_ type: MessageType, checking body: WireMessage) throws(Rejection) {
        switch type {
        case .tripPreviews:
            try Self.checkPreviews(body)
            self = .tripPreviews
        case .startGuidance:
            let trip = try body.inside(Field.StartGuidance.trip, "trip", Trip.init(checking:))
            let route = try body.inside(Field.StartGuidance.route, "route", Route.init(checking:))
            self = .startGuidance(trip, generation: body.number(Field.StartGuidance.generation), route)
        case .updateTrip:
            self = .updateTrip(try body.inside(Field.only, "trip", Trip.init(checking:)))
        case .addManeuvers:
            self = .addManeuvers(
                try ManeuverID.list(checking: body, Field.subject), generation: body.number(Field.generation))
        case .addLaneGuidances:
            self = .addLaneGuidances(
                try LaneGuidanceID.list(checking: body, Field.subject),
                generation: body.number(Field.generation))
        case .addRouteSegments:
            self = .addRouteSegments(
                try Segment.list(checking: body, Field.subject), generation: body.number(Field.generation))
        case .resumeGuidance:
            let hasRoute = body.first(Field.ResumeGuidance.route) != nil
            self = .resumeGuidance(
                generation: body.number(Field.generation),
                hasRoute ? try body.inside(Field.ResumeGuidance.route, "route", Route.init(checking:)) : nil)
        case .showAlert:
            self = .showAlert(try body.inside(Field.only, "alert", NavigationAlert.id(checking:)))
        case .upcomingManeuvers:
            self = .upcomingManeuvers(
                body.numbers(Field.subject, ManeuverID.init), generation: body.number(Field.generation))
        case .currentLaneGuidance:
            self = .currentLaneGuidance(
                body.number(Field.subject).given.map(LaneGuidanceID.init),
                generation: body.number(Field.generation))
        case .currentRoadName: self = .currentRoadName
        case .updateManeuverState:
            self = .maneuverState(
                ManeuverState(rawValue: body.number(Field.subject)), generation: body.number(Field.generation)
            )
        case .updateTripEstimates: self = .tripEstimates
        case .updateManeuverEstimates:
            self = .maneuverEstimates(
                ManeuverID(rawValue: body.number(Field.subject)), generation: body.number(Field.generation))
        case .currentRouteSegment:
            self = .currentRouteSegment(
                body.text(Field.subject), generation: body.number(Field.generation))
        case .pauseGuidance: self = .pauseGuidance(PauseReason(rawValue: body.number(Field.only)))
        case .dismissAlert: self = .dismissAlert(body.number(Field.only))
        case .shareDestination: self = .shareDestination(shareID: body.text(Field.only))
        case .finishGuidance: self = .finishGuidance
        case .cancelGuidance: self = .cancelGuidance
        case .hello, .welcome, .goodbye, .ping, .pong, .error, .openSession, .sessionOpened, .vehicleChanged,
            .sessionEnded, .snapshotBegin, .snapshotEnd, .sessionSuspended, .sessionRestored, .receipt,
            .receiptReport, .waypointRequest, .destinationRequest, .withdrawRequest, .requestAnswer, .prompt,
            .promptAnswer, .promptOver, .requestOutcome, .cancelNavigation, .allowNavigation,
            .updateRouteSource, .vehicleSettings, .zoomCluster, .alertResponse, .destinationShareAnswer,
            .destinationShareStatus:
            preconditionFailure("\(type) is not published")
        }
    }

    private static func checkPreviews(_ body: WireMessage) throws(Rejection) {
        let ids = try Trip.ids(checking: body, Field.TripPreviews.trips)
        let selected = body.text(Field.TripPreviews.selected)
        guard selected.isEmpty || ids.contains(selected) else {
            throw Rejection(.unknownReference, field: "selected_trip_id", reason: "is not one of trips")
        }
    }
}
