"""The rules of publications, and the values of plain states. Made by scripts/generate/python_messages.py from Protos. Do not edit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from waymark_nav import messages as m

#: Publications of which only the newest value matters.
STATES = (
    m.TripPreviews,
    m.UpdateTrip,
    m.UpcomingManeuvers,
    m.CurrentLaneGuidance,
    m.CurrentRoadName,
    m.UpdateManeuverState,
    m.UpdateTripEstimates,
    m.CurrentRouteSegment,
    m.UpdateSpeedLimit,
)

#: The feature that a publication needs as a whole.
NEEDS: dict[type[Any], m.Feature] = {
    m.TripPreviews: m.Feature.TRIP_PREVIEWS,
    m.AddManeuvers: m.Feature.MANEUVERS,
    m.AddLaneGuidances: m.Feature.LANE_GUIDANCE,
    m.AddRouteSegments: m.Feature.ROUTE_SEGMENTS,
    m.UpcomingManeuvers: m.Feature.MANEUVERS,
    m.CurrentLaneGuidance: m.Feature.LANE_GUIDANCE,
    m.CurrentRoadName: m.Feature.CURRENT_ROAD_NAME,
    m.UpdateManeuverState: m.Feature.MANEUVERS,
    m.UpdateManeuverEstimates: m.Feature.MANEUVERS,
    m.CurrentRouteSegment: m.Feature.ROUTE_SEGMENTS,
    m.ShowAlert: m.Feature.NAVIGATION_ALERTS,
    m.DismissAlert: m.Feature.NAVIGATION_ALERTS,
    m.ShareDestination: m.Feature.DESTINATION_SHARING,
    m.UpdateSpeedLimit: m.Feature.SPEED_LIMIT,
}

#: States on which nothing else depends: the value of a vehicle's state that each field is.
PLAIN_STATES: dict[type[Any], dict[str, str]] = {
    m.CurrentRoadName: {
        "name_variants": "current_road_name",
    },
}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PlainStates:
    """The newest value of each state on which nothing else depends."""

    #: The road the vehicle is on. Longest first; empty: not known.
    current_road_name: tuple[str, ...] = ()
