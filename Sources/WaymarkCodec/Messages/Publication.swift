internal import CProtobufC
internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

/// An unpacked publication: its type's C structure.
@unsafe enum PublicationWire {
    case tripPreviews(UnsafeMutablePointer<Waymark__V1__TripPreviews>)
    case startGuidance(UnsafeMutablePointer<Waymark__V1__StartGuidance>)
    case updateTrip(UnsafeMutablePointer<Waymark__V1__UpdateTrip>)
    case addManeuvers(UnsafeMutablePointer<Waymark__V1__AddManeuvers>)
    case addLaneGuidances(UnsafeMutablePointer<Waymark__V1__AddLaneGuidances>)
    case addRouteSegments(UnsafeMutablePointer<Waymark__V1__AddRouteSegments>)
    case upcomingManeuvers(UnsafeMutablePointer<Waymark__V1__UpcomingManeuvers>)
    case currentLaneGuidance(UnsafeMutablePointer<Waymark__V1__CurrentLaneGuidance>)
    case currentRoadName(UnsafeMutablePointer<Waymark__V1__CurrentRoadName>)
    case maneuverState(UnsafeMutablePointer<Waymark__V1__UpdateManeuverState>)
    case tripEstimates(UnsafeMutablePointer<Waymark__V1__UpdateTripEstimates>)
    case maneuverEstimates(UnsafeMutablePointer<Waymark__V1__UpdateManeuverEstimates>)
    case currentRouteSegment(UnsafeMutablePointer<Waymark__V1__CurrentRouteSegment>)
    case pauseGuidance(UnsafeMutablePointer<Waymark__V1__PauseGuidance>)
    case resumeGuidance(UnsafeMutablePointer<Waymark__V1__ResumeGuidance>)
    case showAlert(UnsafeMutablePointer<Waymark__V1__ShowAlert>)
    case dismissAlert(UnsafeMutablePointer<Waymark__V1__DismissAlert>)
    case shareDestination(UnsafeMutablePointer<Waymark__V1__ShareDestination>)
    case finishGuidance
    case cancelGuidance

    /// The type must be a published one.
    init(_ type: MessageType, _ wire: AnyWire) {
        switch type {
        case .tripPreviews: unsafe self = .tripPreviews(wire.message())
        case .startGuidance: unsafe self = .startGuidance(wire.message())
        case .updateTrip: unsafe self = .updateTrip(wire.message())
        case .addManeuvers: unsafe self = .addManeuvers(wire.message())
        case .addLaneGuidances: unsafe self = .addLaneGuidances(wire.message())
        case .addRouteSegments: unsafe self = .addRouteSegments(wire.message())
        case .upcomingManeuvers: unsafe self = .upcomingManeuvers(wire.message())
        case .currentLaneGuidance: unsafe self = .currentLaneGuidance(wire.message())
        case .currentRoadName: unsafe self = .currentRoadName(wire.message())
        case .updateManeuverState: unsafe self = .maneuverState(wire.message())
        case .updateTripEstimates: unsafe self = .tripEstimates(wire.message())
        case .updateManeuverEstimates: unsafe self = .maneuverEstimates(wire.message())
        case .currentRouteSegment: unsafe self = .currentRouteSegment(wire.message())
        case .pauseGuidance: unsafe self = .pauseGuidance(wire.message())
        case .resumeGuidance: unsafe self = .resumeGuidance(wire.message())
        case .showAlert: unsafe self = .showAlert(wire.message())
        case .dismissAlert: unsafe self = .dismissAlert(wire.message())
        case .shareDestination: unsafe self = .shareDestination(wire.message())
        case .finishGuidance: unsafe self = .finishGuidance
        case .cancelGuidance: unsafe self = .cancelGuidance
        case .hello, .welcome, .goodbye, .ping, .pong, .error, .openSession, .sessionOpened, .vehicleChanged,
            .sessionEnded, .snapshotBegin, .snapshotEnd, .sessionSuspended, .sessionRestored, .receipt,
            .receiptReport, .waypointRequest, .destinationRequest, .withdrawRequest, .requestAnswer, .prompt,
            .promptAnswer, .promptOver, .requestOutcome, .cancelNavigation, .allowNavigation,
            .updateRouteSource, .vehicleSettings, .zoomCluster, .alertResponse, .destinationShareAnswer,
            .destinationShareStatus:
            preconditionFailure("\(type) is not published")
        }
    }

    var publication: Publication {
        switch unsafe self {
        case .tripPreviews(let wire):
            unsafe .tripPreviews(
                list(wire.pointee.n_trips, wire.pointee.trips) { unsafe Trip($0) },
                selected: text(wire.pointee.selected_trip_id))
        case .startGuidance(let wire):
            unsafe .startGuidance(
                Trip(wire.pointee.trip), generation: wire.pointee.generation,
                RouteInformation(wire.pointee.route))
        case .updateTrip(let wire): unsafe .updateTrip(Trip(wire.pointee.trip))
        case .addManeuvers(let wire):
            unsafe .addManeuvers(
                list(wire.pointee.n_maneuvers, wire.pointee.maneuvers) { unsafe Maneuver($0) },
                generation: wire.pointee.generation)
        case .addLaneGuidances(let wire):
            unsafe .addLaneGuidances(
                list(wire.pointee.n_lane_guidances, wire.pointee.lane_guidances) { unsafe LaneGuidance($0) },
                generation: wire.pointee.generation)
        case .addRouteSegments(let wire):
            unsafe .addRouteSegments(
                list(wire.pointee.n_segments, wire.pointee.segments) { unsafe RouteSegment($0) },
                generation: wire.pointee.generation)
        case .upcomingManeuvers(let wire):
            unsafe .upcomingManeuvers(
                numbers(wire.pointee.n_maneuver_ids, wire.pointee.maneuver_ids, ManeuverID.init),
                generation: wire.pointee.generation)
        case .currentLaneGuidance(let wire):
            unsafe .currentLaneGuidance(
                wire.pointee.lane_guidance_id.given.map(LaneGuidanceID.init),
                generation: wire.pointee.generation)
        case .currentRoadName(let wire):
            unsafe .currentRoadName(texts(wire.pointee.n_name_variants, wire.pointee.name_variants))
        case .maneuverState(let wire):
            unsafe .maneuverState(.init(wire: wire.pointee.state), generation: wire.pointee.generation)
        case .tripEstimates(let wire):
            unsafe .tripEstimates(
                TravelEstimates(wire.pointee.travel_estimates),
                .init(wire: wire.pointee.time_remaining_color))
        case .maneuverEstimates(let wire):
            unsafe .maneuverEstimates(
                ManeuverID(rawValue: wire.pointee.maneuver_id),
                TravelEstimates(wire.pointee.travel_estimates), generation: wire.pointee.generation)
        case .currentRouteSegment(let wire):
            unsafe .currentRouteSegment(text(wire.pointee.segment_id), generation: wire.pointee.generation)
        case .pauseGuidance(let wire):
            unsafe .pauseGuidance(
                .init(wire: wire.pointee.reason),
                description: texts(wire.pointee.n_description_variants, wire.pointee.description_variants))
        case .resumeGuidance(let wire):
            unsafe .resumeGuidance(
                generation: wire.pointee.generation, .init(wire: wire.pointee.reason),
                wire.pointee.route.map { unsafe RouteInformation($0) })
        case .showAlert(let wire): unsafe .showAlert(NavigationAlert(wire.pointee.alert))
        case .dismissAlert(let wire):
            unsafe .dismissAlert(wire.pointee.alert_id, .init(wire: wire.pointee.dismissal))
        case .shareDestination(let wire):
            unsafe .shareDestination(
                shareID: text(wire.pointee.share_id), Waypoint(wire.pointee.destination))
        case .finishGuidance: .finishGuidance
        case .cancelGuidance: .cancelGuidance
        }
    }
}
