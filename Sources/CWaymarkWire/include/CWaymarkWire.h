// Made by scripts/generate/wire.sh from Protos. Do not edit.
#pragma once
#include "waymark/v1/connection.pb-c.h"
#include "waymark/v1/model.pb-c.h"
#include "waymark/v1/observer.pb-c.h"
#include "waymark/v1/session.pb-c.h"
#include "waymark/v1/vehicle.pb-c.h"

static inline const ProtobufCMessageDescriptor *_Nonnull waymark_feature_grant_descriptor(void) {
    return &waymark__v1__feature_grant__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_vehicle_limits_descriptor(void) {
    return &waymark__v1__vehicle_limits__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_vehicle_preferences_descriptor(void) {
    return &waymark__v1__vehicle_preferences__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_vehicle_hello_descriptor(void) {
    return &waymark__v1__vehicle_hello__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_navigation_hello_descriptor(void) {
    return &waymark__v1__navigation_hello__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_negotiated_limits_descriptor(void) {
    return &waymark__v1__negotiated_limits__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_observer_hello_descriptor(void) {
    return &waymark__v1__observer_hello__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_hello_descriptor(void) {
    return &waymark__v1__hello__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_resumed_session_descriptor(void) {
    return &waymark__v1__resumed_session__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_welcome_descriptor(void) {
    return &waymark__v1__welcome__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_goodbye_descriptor(void) {
    return &waymark__v1__goodbye__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_ping_descriptor(void) {
    return &waymark__v1__ping__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_pong_descriptor(void) {
    return &waymark__v1__pong__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_error_descriptor(void) {
    return &waymark__v1__error__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_coordinate_descriptor(void) {
    return &waymark__v1__coordinate__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_polyline_descriptor(void) {
    return &waymark__v1__polyline__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_display_distance_descriptor(void) {
    return &waymark__v1__display_distance__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_travel_estimates_descriptor(void) {
    return &waymark__v1__travel_estimates__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_speed_limit_descriptor(void) {
    return &waymark__v1__speed_limit__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_speed_limit_ahead_descriptor(void) {
    return &waymark__v1__speed_limit_ahead__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_speed_limit_span_descriptor(void) {
    return &waymark__v1__speed_limit_span__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_maneuver_descriptor(void) {
    return &waymark__v1__maneuver__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_lane_descriptor(void) {
    return &waymark__v1__lane__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_lane_guidance_descriptor(void) {
    return &waymark__v1__lane_guidance__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_charge_stop_descriptor(void) {
    return &waymark__v1__charge_stop__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_waypoint_descriptor(void) {
    return &waymark__v1__waypoint__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_route_choice_descriptor(void) {
    return &waymark__v1__route_choice__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_trip_descriptor(void) {
    return &waymark__v1__trip__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_route_segment_descriptor(void) {
    return &waymark__v1__route_segment__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_alert_action_descriptor(void) {
    return &waymark__v1__alert_action__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_navigation_alert_descriptor(void) {
    return &waymark__v1__navigation_alert__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_observe_descriptor(void) {
    return &waymark__v1__observe__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_observation_begin_descriptor(void) {
    return &waymark__v1__observation_begin__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_delay_counts_descriptor(void) {
    return &waymark__v1__delay_counts__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_endpoint_delays_descriptor(void) {
    return &waymark__v1__endpoint_delays__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_endpoint_record_descriptor(void) {
    return &waymark__v1__endpoint_record__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_vehicle_record_descriptor(void) {
    return &waymark__v1__vehicle_record__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_client_record_descriptor(void) {
    return &waymark__v1__client_record__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_session_record_descriptor(void) {
    return &waymark__v1__session_record__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_request_key_descriptor(void) {
    return &waymark__v1__request_key__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_request_record_descriptor(void) {
    return &waymark__v1__request_record__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_retained_frames_descriptor(void) {
    return &waymark__v1__retained_frames__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_observed_records_descriptor(void) {
    return &waymark__v1__observed_records__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_observed_event_descriptor(void) {
    return &waymark__v1__observed_event__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_observed_frames_descriptor(void) {
    return &waymark__v1__observed_frames__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_observation_gap_descriptor(void) {
    return &waymark__v1__observation_gap__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_read_counters_descriptor(void) {
    return &waymark__v1__read_counters__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_counter_descriptor(void) {
    return &waymark__v1__counter__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_connection_measure_descriptor(void) {
    return &waymark__v1__connection_measure__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_session_measure_descriptor(void) {
    return &waymark__v1__session_measure__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_counters_descriptor(void) {
    return &waymark__v1__counters__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_vehicle_set_descriptor(void) {
    return &waymark__v1__vehicle_set__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_open_session_descriptor(void) {
    return &waymark__v1__open_session__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_vehicle_status_descriptor(void) {
    return &waymark__v1__vehicle_status__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_endpoint_status_descriptor(void) {
    return &waymark__v1__endpoint_status__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_session_opened_descriptor(void) {
    return &waymark__v1__session_opened__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_vehicle_changed_descriptor(void) {
    return &waymark__v1__vehicle_changed__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_session_ended_descriptor(void) {
    return &waymark__v1__session_ended__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_snapshot_begin_descriptor(void) {
    return &waymark__v1__snapshot_begin__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_snapshot_end_descriptor(void) {
    return &waymark__v1__snapshot_end__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_session_suspended_descriptor(void) {
    return &waymark__v1__session_suspended__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_session_restored_descriptor(void) {
    return &waymark__v1__session_restored__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_acknowledgement_descriptor(void) {
    return &waymark__v1__acknowledgement__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_route_information_descriptor(void) {
    return &waymark__v1__route_information__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_trip_previews_descriptor(void) {
    return &waymark__v1__trip_previews__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_start_guidance_descriptor(void) {
    return &waymark__v1__start_guidance__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_update_trip_descriptor(void) {
    return &waymark__v1__update_trip__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_add_maneuvers_descriptor(void) {
    return &waymark__v1__add_maneuvers__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_add_lane_guidances_descriptor(void) {
    return &waymark__v1__add_lane_guidances__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_add_route_segments_descriptor(void) {
    return &waymark__v1__add_route_segments__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_upcoming_maneuvers_descriptor(void) {
    return &waymark__v1__upcoming_maneuvers__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_current_lane_guidance_descriptor(void) {
    return &waymark__v1__current_lane_guidance__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_current_road_name_descriptor(void) {
    return &waymark__v1__current_road_name__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_update_maneuver_state_descriptor(void) {
    return &waymark__v1__update_maneuver_state__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_update_trip_estimates_descriptor(void) {
    return &waymark__v1__update_trip_estimates__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_update_maneuver_estimates_descriptor(void) {
    return &waymark__v1__update_maneuver_estimates__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_current_route_segment_descriptor(void) {
    return &waymark__v1__current_route_segment__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_pause_guidance_descriptor(void) {
    return &waymark__v1__pause_guidance__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_resume_guidance_descriptor(void) {
    return &waymark__v1__resume_guidance__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_show_alert_descriptor(void) {
    return &waymark__v1__show_alert__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_dismiss_alert_descriptor(void) {
    return &waymark__v1__dismiss_alert__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_share_destination_descriptor(void) {
    return &waymark__v1__share_destination__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_finish_guidance_descriptor(void) {
    return &waymark__v1__finish_guidance__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_cancel_guidance_descriptor(void) {
    return &waymark__v1__cancel_guidance__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_update_speed_limit_descriptor(void) {
    return &waymark__v1__update_speed_limit__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_publish_extension_descriptor(void) {
    return &waymark__v1__publish_extension__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_waypoint_request_descriptor(void) {
    return &waymark__v1__waypoint_request__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_destination_request_descriptor(void) {
    return &waymark__v1__destination_request__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_withdraw_request_descriptor(void) {
    return &waymark__v1__withdraw_request__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_request_answer_descriptor(void) {
    return &waymark__v1__request_answer__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_prompt_descriptor(void) {
    return &waymark__v1__prompt__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_prompt_answer_descriptor(void) {
    return &waymark__v1__prompt_answer__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_prompt_over_descriptor(void) {
    return &waymark__v1__prompt_over__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_request_outcome_descriptor(void) {
    return &waymark__v1__request_outcome__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_cancel_navigation_descriptor(void) {
    return &waymark__v1__cancel_navigation__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_allow_navigation_descriptor(void) {
    return &waymark__v1__allow_navigation__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_update_route_source_descriptor(void) {
    return &waymark__v1__update_route_source__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_vehicle_settings_descriptor(void) {
    return &waymark__v1__vehicle_settings__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_zoom_cluster_descriptor(void) {
    return &waymark__v1__zoom_cluster__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_alert_response_descriptor(void) {
    return &waymark__v1__alert_response__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_destination_share_answer_descriptor(void) {
    return &waymark__v1__destination_share_answer__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_destination_share_status_descriptor(void) {
    return &waymark__v1__destination_share_status__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_vehicle_extension_descriptor(void) {
    return &waymark__v1__vehicle_extension__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_select_preview_descriptor(void) {
    return &waymark__v1__select_preview__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_start_trip_request_descriptor(void) {
    return &waymark__v1__start_trip_request__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_simulate_drive_descriptor(void) {
    return &waymark__v1__simulate_drive__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_destination_share_wanted_descriptor(void) {
    return &waymark__v1__destination_share_wanted__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_stop_feedback_descriptor(void) {
    return &waymark__v1__stop_feedback__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_update_route_feedback_descriptor(void) {
    return &waymark__v1__update_route_feedback__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_receipt_descriptor(void) {
    return &waymark__v1__receipt__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_endpoint_receipt_descriptor(void) {
    return &waymark__v1__endpoint_receipt__descriptor;
}
static inline const ProtobufCMessageDescriptor *_Nonnull waymark_receipt_report_descriptor(void) {
    return &waymark__v1__receipt_report__descriptor;
}
