"""What each name in the JSON of publications contains. Made by scripts/generate/python_messages.py from Protos. Do not edit."""

from __future__ import annotations

from typing import Any

from waymark_nav import messages as m
from waymark_nav._kinds import (
    DEGREES,
    FLAG,
    METERS,
    MILLISECONDS,
    NUMBER,
    NUMBERS,
    PLACES,
    SECONDS,
    TEXT,
    Items,
    Kind,
    Object,
    word,
)

CHARGE_STOP = Object(
    {
        "arrivalBatteryPerMille": NUMBER,
        "departureBatteryPerMille": NUMBER,
        "connector": word(m.ChargeConnector),
        "powerWatts": NUMBER,
        "chargingSeconds": SECONDS,
    }
)
WAYPOINT = Object(
    {
        "center": NUMBERS,
        "thresholdMeters": METERS,
        "nameVariants": Items(TEXT),
        "addressVariants": Items(TEXT),
        "entryPoints": Items(NUMBERS),
        "timeZone": TEXT,
        "utcOffsetMinutes": NUMBER,
        "stopKind": word(m.StopKind),
        "charge": CHARGE_STOP,
        "id": TEXT,
    }
)
DISPLAY_DISTANCE = Object(
    {
        "displayTenths": NUMBER,
        "displayUnit": word(m.DistanceUnit),
    }
)
TRAVEL_ESTIMATES = Object(
    {
        "distanceMeters": METERS,
        "timeSeconds": SECONDS,
        **DISPLAY_DISTANCE.keys,
    }
)
ROUTE_CHOICE = Object(
    {
        "id": NUMBER,
        "summaryVariants": Items(TEXT),
        "additionalInformationVariants": Items(TEXT),
        "selectionSummaryVariants": Items(TEXT),
        "travelEstimates": TRAVEL_ESTIMATES,
    }
)
TRIP = Object(
    {
        "id": TEXT,
        "origin": WAYPOINT,
        "destination": WAYPOINT,
        "waypoints": Items(WAYPOINT),
        "routeChoices": Items(ROUTE_CHOICE),
        "selectedRouteChoice": NUMBER,
        "isDestinationShareable": FLAG,
        "routeSegmentsAvailable": FLAG,
    }
)
MANEUVER = Object(
    {
        "id": NUMBER,
        "type": word(m.ManeuverType),
        "rawType": NUMBER,
        "junctionType": word(m.JunctionType),
        "trafficSide": word(m.TrafficSide),
        "instructionVariants": Items(TEXT),
        "roadFollowingManeuverVariants": Items(TEXT),
        "highwayExitLabel": TEXT,
        "junctionExitAngle": DEGREES,
        "junctionElementAngles": Items(DEGREES),
        "linkedLaneGuidance": NUMBER,
        "initialTravelEstimates": TRAVEL_ESTIMATES,
        "roundaboutExitNumber": NUMBER,
        "isIntermediateWaypoint": FLAG,
    }
)
LANE = Object(
    {
        "angles": Items(DEGREES),
        "highlightedAngle": DEGREES,
        "status": word(m.LaneStatus),
    }
)
LANE_GUIDANCE = Object(
    {
        "id": NUMBER,
        "lanes": Items(LANE),
        "instructionVariants": Items(TEXT),
    }
)
ROUTE_SEGMENT = Object(
    {
        "id": TEXT,
        "origin": WAYPOINT,
        "destination": WAYPOINT,
        "coordinates": PLACES,
        "maneuvers": Items(NUMBER),
        "laneGuidances": Items(NUMBER),
        "currentManeuvers": Items(NUMBER),
        "currentLaneGuidance": NUMBER,
        "tripTravelEstimates": TRAVEL_ESTIMATES,
        "maneuverTravelEstimates": TRAVEL_ESTIMATES,
    }
)
ROUTE_INFORMATION = Object(
    {
        "maneuvers": Items(MANEUVER),
        "laneGuidances": Items(LANE_GUIDANCE),
        "segments": Items(ROUTE_SEGMENT),
        "currentSegment": TEXT,
        "upcomingManeuvers": Items(NUMBER),
        "currentLaneGuidance": NUMBER,
        "tripTravelEstimates": TRAVEL_ESTIMATES,
        "maneuverTravelEstimates": TRAVEL_ESTIMATES,
    }
)
ALERT_ACTION = Object(
    {
        "id": NUMBER,
        "titleVariants": Items(TEXT),
    }
)
NAVIGATION_ALERT = Object(
    {
        "id": NUMBER,
        "titleVariants": Items(TEXT),
        "subtitleVariants": Items(TEXT),
        "actions": Items(ALERT_ACTION),
        "durationMilliseconds": MILLISECONDS,
    }
)

#: The names of a publication's fields. Those that are not here have none.
PUBLICATIONS: dict[type[Any], dict[str, Kind]] = {
    m.TripPreviews: {
        "trips": Items(TRIP),
        "selected": TEXT,
    },
    m.StartGuidance: {
        "trip": TRIP,
        "generation": NUMBER,
        **ROUTE_INFORMATION.keys,
    },
    m.UpdateTrip: {
        "trip": TRIP,
    },
    m.AddManeuvers: {
        "generation": NUMBER,
        "maneuvers": Items(MANEUVER),
    },
    m.AddLaneGuidances: {
        "generation": NUMBER,
        "laneGuidances": Items(LANE_GUIDANCE),
    },
    m.AddRouteSegments: {
        "generation": NUMBER,
        "segments": Items(ROUTE_SEGMENT),
    },
    m.UpcomingManeuvers: {
        "generation": NUMBER,
        "upcomingManeuvers": Items(NUMBER),
    },
    m.CurrentLaneGuidance: {
        "generation": NUMBER,
        "currentLaneGuidance": NUMBER,
    },
    m.CurrentRoadName: {
        "currentRoadName": Items(TEXT),
    },
    m.UpdateManeuverState: {
        "generation": NUMBER,
        "maneuverState": word(m.ManeuverState),
    },
    m.UpdateTripEstimates: {
        "tripEstimates": TRAVEL_ESTIMATES,
        "timeRemainingColor": word(m.TimeRemainingColor),
    },
    m.UpdateManeuverEstimates: {
        "generation": NUMBER,
        "maneuver": NUMBER,
        "travelEstimates": TRAVEL_ESTIMATES,
    },
    m.CurrentRouteSegment: {
        "generation": NUMBER,
        "currentSegment": TEXT,
    },
    m.PauseGuidance: {
        "pauseReason": word(m.PauseReason),
        "pauseDescription": Items(TEXT),
    },
    m.ResumeGuidance: {
        "generation": NUMBER,
        "rerouteReason": word(m.RerouteReason),
        **ROUTE_INFORMATION.keys,
    },
    m.ShowAlert: {
        "alert": NAVIGATION_ALERT,
    },
    m.DismissAlert: {
        "alertID": NUMBER,
        "dismissal": word(m.AlertDismissal),
    },
    m.ShareDestination: {
        "shareID": TEXT,
        "destination": WAYPOINT,
    },
}
