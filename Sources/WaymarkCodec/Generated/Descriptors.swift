// Made by scripts/generate/wire.sh from Protos. Do not edit.

internal import CProtobufC
internal import CWaymarkWire
internal import WaymarkProtocol

extension MessageType {
    /// The generated descriptor of the body.
    var descriptor: UnsafePointer<ProtobufCMessageDescriptor> {
        switch self {
        case .hello: unsafe waymark_hello_descriptor()
        case .welcome: unsafe waymark_welcome_descriptor()
        case .goodbye: unsafe waymark_goodbye_descriptor()
        case .ping: unsafe waymark_ping_descriptor()
        case .pong: unsafe waymark_pong_descriptor()
        case .error: unsafe waymark_error_descriptor()
        case .openSession: unsafe waymark_open_session_descriptor()
        case .sessionOpened: unsafe waymark_session_opened_descriptor()
        case .vehicleChanged: unsafe waymark_vehicle_changed_descriptor()
        case .sessionEnded: unsafe waymark_session_ended_descriptor()
        case .snapshotBegin: unsafe waymark_snapshot_begin_descriptor()
        case .snapshotEnd: unsafe waymark_snapshot_end_descriptor()
        case .sessionSuspended: unsafe waymark_session_suspended_descriptor()
        case .sessionRestored: unsafe waymark_session_restored_descriptor()
        case .receipt: unsafe waymark_receipt_descriptor()
        case .receiptReport: unsafe waymark_receipt_report_descriptor()
        case .acknowledgement: unsafe waymark_acknowledgement_descriptor()
        case .tripPreviews: unsafe waymark_trip_previews_descriptor()
        case .startGuidance: unsafe waymark_start_guidance_descriptor()
        case .updateTrip: unsafe waymark_update_trip_descriptor()
        case .addManeuvers: unsafe waymark_add_maneuvers_descriptor()
        case .addLaneGuidances: unsafe waymark_add_lane_guidances_descriptor()
        case .addRouteSegments: unsafe waymark_add_route_segments_descriptor()
        case .upcomingManeuvers: unsafe waymark_upcoming_maneuvers_descriptor()
        case .currentLaneGuidance: unsafe waymark_current_lane_guidance_descriptor()
        case .currentRoadName: unsafe waymark_current_road_name_descriptor()
        case .updateManeuverState: unsafe waymark_update_maneuver_state_descriptor()
        case .updateTripEstimates: unsafe waymark_update_trip_estimates_descriptor()
        case .updateManeuverEstimates: unsafe waymark_update_maneuver_estimates_descriptor()
        case .currentRouteSegment: unsafe waymark_current_route_segment_descriptor()
        case .pauseGuidance: unsafe waymark_pause_guidance_descriptor()
        case .resumeGuidance: unsafe waymark_resume_guidance_descriptor()
        case .showAlert: unsafe waymark_show_alert_descriptor()
        case .dismissAlert: unsafe waymark_dismiss_alert_descriptor()
        case .shareDestination: unsafe waymark_share_destination_descriptor()
        case .finishGuidance: unsafe waymark_finish_guidance_descriptor()
        case .cancelGuidance: unsafe waymark_cancel_guidance_descriptor()
        case .updateSpeedLimit: unsafe waymark_update_speed_limit_descriptor()
        case .publishExtension: unsafe waymark_publish_extension_descriptor()
        case .waypointRequest: unsafe waymark_waypoint_request_descriptor()
        case .destinationRequest: unsafe waymark_destination_request_descriptor()
        case .withdrawRequest: unsafe waymark_withdraw_request_descriptor()
        case .requestAnswer: unsafe waymark_request_answer_descriptor()
        case .prompt: unsafe waymark_prompt_descriptor()
        case .promptAnswer: unsafe waymark_prompt_answer_descriptor()
        case .promptOver: unsafe waymark_prompt_over_descriptor()
        case .requestOutcome: unsafe waymark_request_outcome_descriptor()
        case .cancelNavigation: unsafe waymark_cancel_navigation_descriptor()
        case .allowNavigation: unsafe waymark_allow_navigation_descriptor()
        case .updateRouteSource: unsafe waymark_update_route_source_descriptor()
        case .vehicleSettings: unsafe waymark_vehicle_settings_descriptor()
        case .zoomCluster: unsafe waymark_zoom_cluster_descriptor()
        case .alertResponse: unsafe waymark_alert_response_descriptor()
        case .destinationShareAnswer: unsafe waymark_destination_share_answer_descriptor()
        case .destinationShareStatus: unsafe waymark_destination_share_status_descriptor()
        case .vehicleExtension: unsafe waymark_vehicle_extension_descriptor()
        case .selectPreview: unsafe waymark_select_preview_descriptor()
        case .startTripRequest: unsafe waymark_start_trip_request_descriptor()
        case .destinationShareWanted: unsafe waymark_destination_share_wanted_descriptor()
        case .updateRouteFeedback: unsafe waymark_update_route_feedback_descriptor()
        case .simulateDrive: unsafe waymark_simulate_drive_descriptor()
        case .observe: unsafe waymark_observe_descriptor()
        case .observationBegin: unsafe waymark_observation_begin_descriptor()
        case .observedRecords: unsafe waymark_observed_records_descriptor()
        case .observedEvent: unsafe waymark_observed_event_descriptor()
        case .observedFrames: unsafe waymark_observed_frames_descriptor()
        case .observationGap: unsafe waymark_observation_gap_descriptor()
        case .readCounters: unsafe waymark_read_counters_descriptor()
        case .counters: unsafe waymark_counters_descriptor()
        }
    }
}

extension MessageType {
    /// The number of the field `generation`; 0 for messages without one.
    var generationField: Int {
        switch self {
        case .startGuidance:
            2
        case .addManeuvers, .addLaneGuidances, .addRouteSegments, .upcomingManeuvers, .currentLaneGuidance,
            .updateManeuverState, .updateManeuverEstimates, .currentRouteSegment, .resumeGuidance,
            .updateRouteFeedback:
            1
        default: 0
        }
    }
}
