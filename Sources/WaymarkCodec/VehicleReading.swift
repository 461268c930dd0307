internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

// vehicle.proto: from C to messages.

/// A vehicle's id that the gateway fills in; nil on the way to it.
private func vehicle(_ pointer: Text?) throws(Rejection) -> VehicleID? {
    guard let pointer = unsafe pointer, unsafe pointer.pointee != 0 else { return nil }
    return try unsafe name(pointer, "vehicle_id")
}

/// An endpoint's path that the gateway fills in; nil on the way to it.
private func path(_ id: Text?, _ endpoint: Text?) throws(Rejection) -> EndpointPath? {
    guard let vehicle = try unsafe vehicle(id) else { return nil }
    return EndpointPath(vehicle: vehicle, endpoint: try unsafe name(endpoint, "endpoint"))
}

func waypointRequest(_ wire: Waymark__V1__WaypointRequest) throws(Rejection) -> WaypointRequest {
    try unsafe WaypointRequest(
        requestID: requestID(wire.request_id), waypoint: required(wire.waypoint, "waypoint", waypoint),
        segment: text(wire.segment_id, "segment_id", bytesMax: ProtocolConstants.identifierBytesMax),
        vehicle: vehicle(wire.vehicle_id))
}

func destinationRequest(_ wire: Waymark__V1__DestinationRequest) throws(Rejection) -> DestinationRequest {
    try unsafe DestinationRequest(
        requestID: requestID(wire.request_id),
        destination: required(wire.destination, "destination", waypoint),
        vehicle: vehicle(wire.vehicle_id))
}

func requestAnswer(_ wire: Waymark__V1__RequestAnswer) throws(Rejection) -> RequestAnswer {
    let answer: RequestAnswer.Answer =
        switch unsafe wire.answer {
        case WAYMARK__V1__ANSWER__ANSWER_ESTIMATES:
            .estimates(try unsafe required(wire.travel_estimates, "travel_estimates", travelEstimates))
        case WAYMARK__V1__ANSWER__ANSWER_OWN_PROMPT: .ownPrompt
        case WAYMARK__V1__ANSWER__ANSWER_ACCEPT: .accept
        case WAYMARK__V1__ANSWER__ANSWER_DECLINE: .decline(try unsafe declineReason(wire.reason.rawValue))
        default: throw missing("answer")
        }
    return try unsafe RequestAnswer(
        requestID: requestID(wire.request_id), vehicle: name(wire.vehicle_id, "vehicle_id"), answer: answer)
}

private func declineReason(_ raw: UInt32) throws(Rejection) -> Outcome {
    let outcome: Outcome = try closed(raw, "reason")
    switch outcome {
    case .notSupported, .declinedByUser, .busy, .invalid, .tooLarge: return outcome
    case .accepted, .timedOut, .gone, .withdrawn, .sessionEnded:
        throw outOfRange("reason", "\(outcome) is not a reason to decline")
    }
}

func prompt(_ wire: Waymark__V1__Prompt) throws(Rejection) -> Prompt {
    try unsafe Prompt(
        requestID: requestID(wire.request_id), waypoint: required(wire.waypoint, "waypoint", waypoint),
        travelEstimates: required(wire.travel_estimates, "travel_estimates", travelEstimates),
        deadlineMilliseconds: wire.deadline_milliseconds)
}

func requestOutcome(_ wire: Waymark__V1__RequestOutcome) throws(Rejection) -> RequestOutcome {
    var client: ClientID?
    if let pointer = unsafe wire.client_id, unsafe pointer.pointee != 0 {
        client = try unsafe name(pointer, "client_id")
    }
    return try unsafe RequestOutcome(
        requestID: requestID(wire.request_id), vehicle: name(wire.vehicle_id, "vehicle_id"),
        outcome: closed(wire.outcome.rawValue, "outcome"), client: client)
}

func updateRouteSource(_ wire: Waymark__V1__UpdateRouteSource) throws(Rejection) -> UpdateRouteSource {
    try unsafe UpdateRouteSource(
        routeSource: open(wire.route_source.rawValue), vehicle: vehicle(wire.vehicle_id))
}

func vehicleSettings(_ wire: Waymark__V1__VehicleSettings) throws(Rejection) -> VehicleSettings {
    var settings = VehicleSettings()
    settings.compass = unsafe openUnlessUnspecified(wire.compass.rawValue)
    settings.speedLimit = unsafe openUnlessUnspecified(wire.speed_limit.rawValue)
    settings.contentStyle = unsafe openUnlessUnspecified(wire.content_style.rawValue)
    if unsafe wire.limited_case == WAYMARK__V1__VEHICLE_SETTINGS__LIMITED_LIMITED_USER_INTERFACES {
        settings.limitedUserInterfaces = unsafe wire.limited_user_interfaces
    }
    if unsafe wire.readiness_case == WAYMARK__V1__VEHICLE_SETTINGS__READINESS_READY_TO_SHOW {
        settings.isReadyToShow = unsafe wire.ready_to_show != 0
    }
    settings.source = try unsafe path(wire.vehicle_id, wire.endpoint)
    return settings
}

func zoomCluster(_ wire: Waymark__V1__ZoomCluster) throws(Rejection) -> ZoomCluster {
    try unsafe ZoomCluster(
        direction: openSpecified(wire.direction.rawValue, "direction"),
        source: path(wire.vehicle_id, wire.endpoint))
}

func alertResponse(_ wire: Waymark__V1__AlertResponse) throws(Rejection) -> AlertResponse {
    let action = unsafe wire.action_id
    return try unsafe AlertResponse(
        alert: identifier(wire.alert_id, "alert_id"),
        response: action == 0 ? .dismissed(open(wire.dismissal.rawValue)) : .action(action),
        source: path(wire.vehicle_id, wire.endpoint))
}

func destinationShareStatus(
    _ wire: Waymark__V1__DestinationShareStatus
) throws(Rejection) -> DestinationShareStatus {
    let stage: DestinationShareStatus.Stage =
        switch unsafe wire.stage {
        case WAYMARK__V1__SHARE_STAGE__SHARE_STAGE_WILL_SHARE: .willShare
        case WAYMARK__V1__SHARE_STAGE__SHARE_STAGE_DID_SHARE: .didShare
        case WAYMARK__V1__SHARE_STAGE__SHARE_STAGE_DID_FAIL_TO_SHARE:
            .didFailToShare(try unsafe closed(wire.outcome.rawValue, "outcome"))
        default: throw missing("stage")
        }
    return try unsafe DestinationShareStatus(
        shareID: requestID(wire.share_id, "share_id"), vehicle: name(wire.vehicle_id, "vehicle_id"),
        stage: stage)
}
