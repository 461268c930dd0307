internal import CProtobufC
internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

/// Reads the body of a message of a known type.
func read(_ type: MessageType, _ body: ArraySlice<UInt8>) throws(Rejection) -> Message {
    if MessageType.published.contains(type.rawValue) { return .publication(try readPublication(type, body)) }
    if let message = try readConnectionMessage(type, body) { return message }
    return try readVehicleMessage(type, body)
}

/// Unpacks a body and hands it to its reader.
private func unpack<Wire, Result>(
    _ body: ArraySlice<UInt8>, _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>,
    _ read: (Wire) throws(Rejection) -> Result
) throws(Rejection) -> Result {
    let unpacked = try unsafe Unpacked(body, as: descriptor)
    return try unpacked.read(as: Wire.self, read)
}

private func readConnectionMessage(_ type: MessageType, _ body: ArraySlice<UInt8>) throws(Rejection)
    -> Message?
{
    switch type {
    case .hello: try unsafe .hello(unpack(body, waymark_hello_descriptor(), hello))
    case .welcome: try unsafe .welcome(unpack(body, waymark_welcome_descriptor(), welcome))
    case .goodbye: try unsafe .goodbye(unpack(body, waymark_goodbye_descriptor(), goodbye))
    case .ping:
        try unsafe unpack(body, waymark_ping_descriptor()) { (wire: Waymark__V1__Ping) in
            unsafe .ping(nonce: wire.nonce)
        }
    case .pong:
        try unsafe unpack(body, waymark_pong_descriptor()) { (wire: Waymark__V1__Pong) in
            unsafe .pong(nonce: wire.nonce)
        }
    case .error: try unsafe .error(unpack(body, waymark_error_descriptor(), rejection))
    case .openSession: try unsafe .openSession(unpack(body, waymark_open_session_descriptor(), openSession))
    case .sessionOpened:
        try unsafe .sessionOpened(unpack(body, waymark_session_opened_descriptor(), sessionOpened))
    case .vehicleChanged:
        try unsafe .vehicleChanged(
            unpack(body, waymark_vehicle_changed_descriptor()) {
                (wire: Waymark__V1__VehicleChanged) throws(Rejection) in
                try unsafe required(wire.vehicle, "vehicle", vehicleStatus)
            })
    case .sessionEnded:
        try unsafe .sessionEnded(
            unpack(body, waymark_session_ended_descriptor()) {
                (wire: Waymark__V1__SessionEnded) throws(Rejection) in
                unsafe SessionEnded(
                    session: SessionID(wire.session_id), reason: try closed(wire.reason.rawValue, "reason"))
            })
    case .snapshotBegin:
        try unsafe .snapshotBegin(unpack(body, waymark_snapshot_begin_descriptor(), snapshotBegin))
    case .snapshotEnd:
        try unsafe unpack(body, waymark_snapshot_end_descriptor()) { (_: Waymark__V1__SnapshotEnd) in
            .snapshotEnd
        }
    case .sessionSuspended:
        try unsafe unpack(body, waymark_session_suspended_descriptor()) {
            (wire: Waymark__V1__SessionSuspended) in
            unsafe .sessionSuspended(graceMilliseconds: wire.grace_milliseconds)
        }
    case .sessionRestored:
        try unsafe unpack(body, waymark_session_restored_descriptor()) { (_: Waymark__V1__SessionRestored) in
            .sessionRestored
        }
    case .receipt:
        try unsafe .receipt(
            unpack(body, waymark_receipt_descriptor()) { (wire: Waymark__V1__Receipt) throws(Rejection) in
                try unsafe receipt(wire.received_sequence, wire.shown_sequence)
            })
    case .receiptReport:
        try unsafe .receiptReport(unpack(body, waymark_receipt_report_descriptor(), receiptReport))
    default: nil
    }
}

private func readPublication(_ type: MessageType, _ body: ArraySlice<UInt8>) throws(Rejection) -> Publication
{
    switch type {
    case .tripPreviews: try unsafe unpack(body, waymark_trip_previews_descriptor(), tripPreviews)
    case .startGuidance: try unsafe unpack(body, waymark_start_guidance_descriptor(), startGuidance)
    case .updateTrip:
        try unsafe unpack(body, waymark_update_trip_descriptor()) {
            (wire: Waymark__V1__UpdateTrip) throws(Rejection) in
            .updateTrip(try unsafe required(wire.trip, "trip", trip))
        }
    case .addManeuvers: try unsafe unpack(body, waymark_add_maneuvers_descriptor(), addManeuvers)
    case .addLaneGuidances: try unsafe unpack(body, waymark_add_lane_guidances_descriptor(), addLaneGuidances)
    case .addRouteSegments: try unsafe unpack(body, waymark_add_route_segments_descriptor(), addRouteSegments)
    case .upcomingManeuvers:
        try unsafe unpack(body, waymark_upcoming_maneuvers_descriptor(), upcomingManeuvers)
    case .currentLaneGuidance:
        try unsafe unpack(body, waymark_current_lane_guidance_descriptor()) {
            (wire: Waymark__V1__CurrentLaneGuidance) throws(Rejection) in
            unsafe .currentLaneGuidance(
                laneGuidanceID(wire.lane_guidance_id),
                generation: try identifier(wire.generation, "generation"))
        }
    case .currentRoadName:
        try unsafe unpack(body, waymark_current_road_name_descriptor()) {
            (wire: Waymark__V1__CurrentRoadName) throws(Rejection) in
            .currentRoadName(try unsafe variants(wire.name_variants, wire.n_name_variants, "name_variants"))
        }
    case .updateManeuverState:
        try unsafe unpack(body, waymark_update_maneuver_state_descriptor()) {
            (wire: Waymark__V1__UpdateManeuverState) throws(Rejection) in
            unsafe .maneuverState(
                open(wire.state.rawValue), generation: try identifier(wire.generation, "generation"))
        }
    case .updateTripEstimates:
        try unsafe unpack(body, waymark_update_trip_estimates_descriptor(), tripEstimates)
    case .updateManeuverEstimates:
        try unsafe unpack(body, waymark_update_maneuver_estimates_descriptor(), maneuverEstimates)
    case .currentRouteSegment:
        try unsafe unpack(body, waymark_current_route_segment_descriptor(), currentRouteSegment)
    case .pauseGuidance: try unsafe unpack(body, waymark_pause_guidance_descriptor(), pauseGuidance)
    case .resumeGuidance: try unsafe unpack(body, waymark_resume_guidance_descriptor(), resumeGuidance)
    case .showAlert:
        try unsafe unpack(body, waymark_show_alert_descriptor()) {
            (wire: Waymark__V1__ShowAlert) throws(Rejection) in
            .showAlert(try unsafe required(wire.alert, "alert", navigationAlert))
        }
    case .dismissAlert:
        try unsafe unpack(body, waymark_dismiss_alert_descriptor()) {
            (wire: Waymark__V1__DismissAlert) throws(Rejection) in
            unsafe .dismissAlert(try identifier(wire.alert_id, "alert_id"), open(wire.dismissal.rawValue))
        }
    case .shareDestination:
        try unsafe unpack(body, waymark_share_destination_descriptor()) {
            (wire: Waymark__V1__ShareDestination) throws(Rejection) in
            try unsafe .shareDestination(
                shareID: requestID(wire.share_id, "share_id"),
                required(wire.destination, "destination", waypoint))
        }
    case .finishGuidance:
        try unsafe unpack(body, waymark_finish_guidance_descriptor()) { (_: Waymark__V1__FinishGuidance) in
            .finishGuidance
        }
    case .cancelGuidance:
        try unsafe unpack(body, waymark_cancel_guidance_descriptor()) { (_: Waymark__V1__CancelGuidance) in
            .cancelGuidance
        }
    default: throw Rejection(.malformed, reason: "\(type) is not a publication")
    }
}

private func readVehicleMessage(_ type: MessageType, _ body: ArraySlice<UInt8>) throws(Rejection) -> Message {
    switch type {
    case .waypointRequest:
        try unsafe .waypointRequest(unpack(body, waymark_waypoint_request_descriptor(), waypointRequest))
    case .destinationRequest:
        try unsafe .destinationRequest(
            unpack(body, waymark_destination_request_descriptor(), destinationRequest))
    case .withdrawRequest:
        try unsafe .withdrawRequest(
            unpack(body, waymark_withdraw_request_descriptor()) {
                (wire: Waymark__V1__WithdrawRequest) throws(Rejection) in
                WithdrawRequest(requestID: try unsafe requestID(wire.request_id))
            })
    case .requestAnswer:
        try unsafe .requestAnswer(unpack(body, waymark_request_answer_descriptor(), requestAnswer))
    case .prompt: try unsafe .prompt(unpack(body, waymark_prompt_descriptor(), prompt))
    case .promptAnswer:
        try unsafe .promptAnswer(
            unpack(body, waymark_prompt_answer_descriptor()) {
                (wire: Waymark__V1__PromptAnswer) throws(Rejection) in
                try unsafe PromptAnswer(requestID: requestID(wire.request_id), isAccepted: wire.accepted != 0)
            })
    case .promptOver:
        try unsafe .promptOver(
            unpack(body, waymark_prompt_over_descriptor()) {
                (wire: Waymark__V1__PromptOver) throws(Rejection) in
                try unsafe PromptOver(
                    requestID: requestID(wire.request_id), outcome: closed(wire.outcome.rawValue, "outcome"))
            })
    case .requestOutcome:
        try unsafe .requestOutcome(unpack(body, waymark_request_outcome_descriptor(), requestOutcome))
    case .cancelNavigation:
        try unsafe .cancelNavigation(
            unpack(body, waymark_cancel_navigation_descriptor()) {
                (wire: Waymark__V1__CancelNavigation) throws(Rejection) in
                try unsafe closed(wire.reason.rawValue, "reason")
            })
    case .allowNavigation:
        try unsafe unpack(body, waymark_allow_navigation_descriptor()) { (_: Waymark__V1__AllowNavigation) in
            .allowNavigation
        }
    case .updateRouteSource:
        try unsafe .updateRouteSource(
            unpack(body, waymark_update_route_source_descriptor(), updateRouteSource))
    case .vehicleSettings:
        try unsafe .vehicleSettings(unpack(body, waymark_vehicle_settings_descriptor(), vehicleSettings))
    case .zoomCluster: try unsafe .zoomCluster(unpack(body, waymark_zoom_cluster_descriptor(), zoomCluster))
    case .alertResponse:
        try unsafe .alertResponse(unpack(body, waymark_alert_response_descriptor(), alertResponse))
    case .destinationShareAnswer:
        try unsafe .destinationShareAnswer(
            unpack(body, waymark_destination_share_answer_descriptor()) {
                (wire: Waymark__V1__DestinationShareAnswer) throws(Rejection) in
                try unsafe DestinationShareAnswer(
                    shareID: requestID(wire.share_id, "share_id"),
                    outcome: closed(wire.outcome.rawValue, "outcome"))
            })
    case .destinationShareStatus:
        try unsafe .destinationShareStatus(
            unpack(body, waymark_destination_share_status_descriptor(), destinationShareStatus))
    default: throw Rejection(.malformed, reason: "\(type) cannot be read")
    }
}
