"""The names in the JSON of publications. Made by scripts/generate/python_messages.py from Protos. Do not edit."""

from __future__ import annotations

from typing import Any

from waymark_nav import messages as m
from waymark_nav._kinds import (
    ALWAYS,
    BYTES,
    DEGREES,
    FILLED,
    FLAG,
    KNOWN,
    METERS,
    MILLISECONDS,
    NUMBER,
    NUMBERS,
    PLACES,
    SECONDS,
    TEXT,
    Items,
    Key,
    Shape,
    shape,
    word,
)

CHARGE_STOP = shape(
    Key("arrivalBatteryPerMille", "arrival_battery_per_mille", NUMBER, KNOWN),
    Key("departureBatteryPerMille", "departure_battery_per_mille", NUMBER, KNOWN),
    Key("connector", "connector", word(m.ChargeConnector), FILLED),
    Key("powerWatts", "power_watts", NUMBER, FILLED),
    Key("chargingSeconds", "charging_time_seconds", SECONDS, FILLED),
)
WAYPOINT = shape(
    Key("center", "center", NUMBERS, ALWAYS),
    Key("thresholdMeters", "location_threshold_meters", METERS, FILLED),
    Key("nameVariants", "name_variants", Items(TEXT), FILLED),
    Key("addressVariants", "address_variants", Items(TEXT), FILLED),
    Key("entryPoints", "entry_points", Items(NUMBERS), FILLED),
    Key("timeZone", "time_zone", TEXT, FILLED),
    Key("utcOffsetMinutes", "utc_offset_minutes", NUMBER, KNOWN),
    Key("stopKind", "stop_kind", word(m.StopKind), FILLED),
    Key("charge", "charge", CHARGE_STOP, KNOWN),
    Key("id", "id", TEXT, FILLED),
)
DISPLAY_DISTANCE = shape(
    Key("displayTenths", "value_tenths", NUMBER, ALWAYS),
    Key("displayUnit", "unit", word(m.DistanceUnit), ALWAYS),
)
TRAVEL_ESTIMATES = shape(
    Key("distanceMeters", "distance_remaining_meters", METERS, ALWAYS),
    Key("timeSeconds", "time_remaining_seconds", SECONDS, KNOWN),
    Key("", "distance_remaining_to_display", DISPLAY_DISTANCE, KNOWN),
)
ROUTE_CHOICE = shape(
    Key("id", "id", NUMBER, ALWAYS),
    Key("summaryVariants", "summary_variants", Items(TEXT), FILLED),
    Key("additionalInformationVariants", "additional_information_variants", Items(TEXT), FILLED),
    Key("selectionSummaryVariants", "selection_summary_variants", Items(TEXT), FILLED),
    Key("travelEstimates", "travel_estimates", TRAVEL_ESTIMATES, KNOWN),
)
TRIP = shape(
    Key("id", "id", TEXT, ALWAYS),
    Key("origin", "origin", WAYPOINT, ALWAYS),
    Key("destination", "destination", WAYPOINT, ALWAYS),
    Key("waypoints", "waypoints", Items(WAYPOINT), ALWAYS),
    Key("routeChoices", "route_choices", Items(ROUTE_CHOICE), FILLED),
    Key("selectedRouteChoice", "selected_route_choice_id", NUMBER, FILLED),
    Key("isDestinationShareable", "destination_shareable", FLAG, ALWAYS),
    Key("routeSegmentsAvailable", "route_segments_available", FLAG, ALWAYS),
    Key("travelEstimates", "travel_estimates", TRAVEL_ESTIMATES, KNOWN),
)
MANEUVER = shape(
    Key("id", "id", NUMBER, ALWAYS),
    Key("type", "type", word(m.ManeuverType), ALWAYS),
    Key("rawType", "type", NUMBER, ALWAYS),
    Key("junctionType", "junction_type", word(m.JunctionType), ALWAYS),
    Key("trafficSide", "traffic_side", word(m.TrafficSide), ALWAYS),
    Key("instructionVariants", "instruction_variants", Items(TEXT), FILLED),
    Key("roadFollowingManeuverVariants", "road_following_maneuver_variants", Items(TEXT), FILLED),
    Key("highwayExitLabel", "highway_exit_label", TEXT, FILLED),
    Key("junctionExitAngle", "junction_exit_angle_degrees", DEGREES, KNOWN),
    Key("junctionElementAngles", "junction_element_angles_degrees", Items(DEGREES), FILLED),
    Key("linkedLaneGuidance", "linked_lane_guidance_id", NUMBER, FILLED),
    Key("initialTravelEstimates", "initial_travel_estimates", TRAVEL_ESTIMATES, KNOWN),
    Key("roundaboutExitNumber", "roundabout_exit_number", NUMBER, FILLED),
    Key("isIntermediateWaypoint", "intermediate_waypoint", FLAG, FILLED),
    Key("notification", "notification", word(m.NotificationStyle), FILLED),
)
LANE = shape(
    Key("angles", "angles_degrees", Items(DEGREES), ALWAYS),
    Key("highlightedAngle", "highlighted_angle_degrees", DEGREES, KNOWN),
    Key("status", "status", word(m.LaneStatus), ALWAYS),
)
LANE_GUIDANCE = shape(
    Key("id", "id", NUMBER, ALWAYS),
    Key("lanes", "lanes", Items(LANE), ALWAYS),
    Key("instructionVariants", "instruction_variants", Items(TEXT), FILLED),
)
SPEED_LIMIT = shape(
    Key("status", "status", word(m.SpeedLimitStatus), ALWAYS),
    Key("value", "value", NUMBER, FILLED),
    Key("unit", "unit", word(m.SpeedUnit), FILLED),
    Key("kind", "kind", word(m.SpeedLimitKind), FILLED),
    Key("sign", "sign", word(m.SpeedLimitSign), FILLED),
)
SPEED_LIMIT_SPAN = shape(
    Key("firstPoint", "first_point", NUMBER, ALWAYS),
    Key("", "limit", SPEED_LIMIT, ALWAYS),
)
ROUTE_SEGMENT = shape(
    Key("id", "id", TEXT, ALWAYS),
    Key("origin", "origin", WAYPOINT, ALWAYS),
    Key("destination", "destination", WAYPOINT, ALWAYS),
    Key("coordinates", "coordinates", PLACES, ALWAYS),
    Key("maneuvers", "maneuver_ids", Items(NUMBER), ALWAYS),
    Key("laneGuidances", "lane_guidance_ids", Items(NUMBER), ALWAYS),
    Key("currentManeuvers", "current_maneuver_ids", Items(NUMBER), ALWAYS),
    Key("currentLaneGuidance", "current_lane_guidance_id", NUMBER, FILLED),
    Key("tripTravelEstimates", "trip_travel_estimates", TRAVEL_ESTIMATES, KNOWN),
    Key("maneuverTravelEstimates", "maneuver_travel_estimates", TRAVEL_ESTIMATES, KNOWN),
    Key("speedLimits", "speed_limits", Items(SPEED_LIMIT_SPAN), FILLED),
)
ROUTE_INFORMATION = shape(
    Key("maneuvers", "maneuvers", Items(MANEUVER), ALWAYS),
    Key("laneGuidances", "lane_guidances", Items(LANE_GUIDANCE), ALWAYS),
    Key("segments", "segments", Items(ROUTE_SEGMENT), ALWAYS),
    Key("currentSegment", "current_segment_id", TEXT, FILLED),
    Key("upcomingManeuvers", "upcoming_maneuver_ids", Items(NUMBER), ALWAYS),
    Key("currentLaneGuidance", "current_lane_guidance_id", NUMBER, FILLED),
    Key("tripTravelEstimates", "trip_travel_estimates", TRAVEL_ESTIMATES, KNOWN),
    Key("maneuverTravelEstimates", "maneuver_travel_estimates", TRAVEL_ESTIMATES, KNOWN),
)
ALERT_ACTION = shape(
    Key("id", "id", NUMBER, ALWAYS),
    Key("titleVariants", "title_variants", Items(TEXT), ALWAYS),
)
NAVIGATION_ALERT = shape(
    Key("id", "id", NUMBER, ALWAYS),
    Key("titleVariants", "title_variants", Items(TEXT), ALWAYS),
    Key("subtitleVariants", "subtitle_variants", Items(TEXT), FILLED),
    Key("actions", "actions", Items(ALERT_ACTION), FILLED),
    Key("durationMilliseconds", "duration_milliseconds", MILLISECONDS, FILLED),
    Key("notification", "notification", word(m.NotificationStyle), FILLED),
    Key("priority", "priority", word(m.AlertPriority), FILLED),
)
SPEED_LIMIT_AHEAD = shape(
    Key("", "limit", SPEED_LIMIT, ALWAYS),
    Key("distanceMeters", "distance_meters", METERS, ALWAYS),
    Key("", "distance_to_display", DISPLAY_DISTANCE, KNOWN),
)

#: The names of a publication's fields. Those that are not here have none.
PUBLICATIONS: dict[type[Any], Shape] = {
    m.TripPreviews: shape(
        Key("trips", "trips", Items(TRIP), ALWAYS),
        Key("selected", "selected_trip_id", TEXT, ALWAYS),
    ),
    m.StartGuidance: shape(
        Key("trip", "trip", TRIP, ALWAYS),
        Key("generation", "generation", NUMBER, ALWAYS),
        Key("", "route", ROUTE_INFORMATION, ALWAYS),
    ),
    m.UpdateTrip: shape(
        Key("trip", "trip", TRIP, ALWAYS),
    ),
    m.AddManeuvers: shape(
        Key("generation", "generation", NUMBER, ALWAYS),
        Key("maneuvers", "maneuvers", Items(MANEUVER), ALWAYS),
    ),
    m.AddLaneGuidances: shape(
        Key("generation", "generation", NUMBER, ALWAYS),
        Key("laneGuidances", "lane_guidances", Items(LANE_GUIDANCE), ALWAYS),
    ),
    m.AddRouteSegments: shape(
        Key("generation", "generation", NUMBER, ALWAYS),
        Key("segments", "segments", Items(ROUTE_SEGMENT), ALWAYS),
    ),
    m.UpcomingManeuvers: shape(
        Key("generation", "generation", NUMBER, ALWAYS),
        Key("upcomingManeuvers", "maneuver_ids", Items(NUMBER), ALWAYS),
    ),
    m.CurrentLaneGuidance: shape(
        Key("generation", "generation", NUMBER, ALWAYS),
        Key("currentLaneGuidance", "lane_guidance_id", NUMBER, ALWAYS),
    ),
    m.CurrentRoadName: shape(
        Key("currentRoadName", "name_variants", Items(TEXT), ALWAYS),
    ),
    m.UpdateManeuverState: shape(
        Key("generation", "generation", NUMBER, ALWAYS),
        Key("maneuverState", "state", word(m.ManeuverState), ALWAYS),
    ),
    m.UpdateTripEstimates: shape(
        Key("tripEstimates", "travel_estimates", TRAVEL_ESTIMATES, ALWAYS),
        Key("timeRemainingColor", "time_remaining_color", word(m.TimeRemainingColor), ALWAYS),
    ),
    m.UpdateManeuverEstimates: shape(
        Key("generation", "generation", NUMBER, ALWAYS),
        Key("maneuver", "maneuver_id", NUMBER, ALWAYS),
        Key("travelEstimates", "travel_estimates", TRAVEL_ESTIMATES, ALWAYS),
    ),
    m.CurrentRouteSegment: shape(
        Key("generation", "generation", NUMBER, ALWAYS),
        Key("currentSegment", "segment_id", TEXT, ALWAYS),
    ),
    m.PauseGuidance: shape(
        Key("pauseReason", "reason", word(m.PauseReason), ALWAYS),
        Key("pauseDescription", "description_variants", Items(TEXT), ALWAYS),
    ),
    m.ResumeGuidance: shape(
        Key("generation", "generation", NUMBER, ALWAYS),
        Key("rerouteReason", "reason", word(m.RerouteReason), ALWAYS),
        Key("", "route", ROUTE_INFORMATION, KNOWN),
    ),
    m.ShowAlert: shape(
        Key("alert", "alert", NAVIGATION_ALERT, ALWAYS),
    ),
    m.DismissAlert: shape(
        Key("alertID", "alert_id", NUMBER, ALWAYS),
        Key("dismissal", "dismissal", word(m.AlertDismissal), ALWAYS),
    ),
    m.ShareDestination: shape(
        Key("shareID", "share_id", TEXT, ALWAYS),
        Key("destination", "destination", WAYPOINT, ALWAYS),
        Key("trip", "trip_id", TEXT, ALWAYS),
    ),
    m.UpdateSpeedLimit: shape(
        Key("speedLimit", "limit", SPEED_LIMIT, ALWAYS),
        Key("nextSpeedLimit", "next", SPEED_LIMIT_AHEAD, KNOWN),
    ),
    m.PublishExtension: shape(
        Key("name", "name", TEXT, ALWAYS),
        Key("content", "content", BYTES, ALWAYS),
    ),
}
