"""What an endpoint receives, and its state, as lines of JSON: the same lines as those of `waymark cluster --json`.

Docs/cluster-json.md has every key.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from waymark_nav import messages as m
from waymark_nav._kinds import camel
from waymark_nav._wire import OpenEnum
from waymark_nav.core import Closed, Connected, Connecting, Phase, Update, VehicleState
from waymark_nav.errors import RefusedError

Object = dict[str, Any]

STEERING = {"Cc", "Cf", "Zl", "Zp", "Cs"}
#: Shorter alerts are raised to this.
_ALERT_MILLISECONDS_MIN = 5_000


# Text


def line(content: Object, at: datetime | None = None) -> str:
    """One line, its keys sorted. at: adds the time when it was written."""
    if at is not None:
        content = {**content, "time": at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03}Z"}
    return _text(content)


def _text(value: Any) -> str:
    match value:
        case dict():
            return "{" + ",".join(f"{_string(key)}:{_text(value[key])}" for key in sorted(value, key=_order)) + "}"
        case list() | tuple():
            return "[" + ",".join(map(_text, value)) + "]"
        case str():
            return _string(value)
        case bool() | None:
            return json.dumps(value)
        case float():
            return repr(value).removesuffix(".0")
        case _:
            return str(int(value))


def _order(key: str) -> tuple[str, str]:
    """Capital letters count as small ones: the order in which `waymark` prints keys."""
    return key.lower(), key


def _string(text: str) -> str:
    """What would steer a terminal is escaped."""
    quoted = json.dumps(text, ensure_ascii=False)
    if quoted.isascii() and "\x7f" not in quoted:
        return quoted
    return "".join(_escaped(character) if unicodedata.category(character) in STEERING else character for character in quoted)


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def word(value: OpenEnum) -> str:
    """The name of a value; of one that is not known, its number."""
    return camel(value.name) if value.is_recognized else str(value.value)


def _known(value: OpenEnum, otherwise: str) -> str:
    """The name of a value; what one that is not known counts as."""
    return camel(value.name) if value.is_recognized and value.value else otherwise


def _given(**values: Any) -> Object:
    """The values that are not unknown or empty."""
    return {key: value for key, value in values.items() if value is not None and value != "" and value != []}


def _optional(make: Any, value: Any) -> Any:
    return None if value is None else make(value)


# Lines


def connection(event: Connecting | Connected | Closed) -> Object:
    """A change of the connection."""
    match event:
        case Connecting():
            return {"kind": "connection", "state": "connecting"}
        case Connected():
            return {"kind": "connection", "state": "connected", "resumed": event.resumed}
        case Closed(error=RefusedError() as error):
            reason = error.reason or _known(error.code, "internalError")
            return {"kind": "connection", "state": "closed", "reason": f"the gateway refused the connection: {reason}"}
    return {"kind": "connection", "state": "closed", "reason": str(event.error)}


def message(update: Update) -> Object:
    """A message, with its content."""
    return {
        "kind": "message",
        "message": update.name,
        "session": update.session,
        "sequence": update.sequence,
        "fitted": update.is_fitted,
        "more": update.has_more,
        "fromGateway": update.is_from_gateway,
        **content(update.message),
    }


def state(new: VehicleState) -> Object:
    """The whole state."""
    return {"kind": "state", **{key: value for key, value in _values(new, None).items() if value is not None}}


def change(new: VehicleState, old: VehicleState) -> Object | None:
    """The keys whose values differ; None if there are none."""
    values = _values(new, old)
    return {"kind": "change", **values} if values else None


def _values(new: VehicleState, old: VehicleState | None) -> Object:
    values: Object = {}
    if old is None or _phase(new) != _phase(old):
        values |= _phase(new)
    for key, name, make in _KEYS:
        value = getattr(new, name)
        if old is None or getattr(old, name) != value:
            values[key] = make(value)
    if old is None or new.maneuver_estimates != old.maneuver_estimates:
        before: Mapping[int, m.TravelEstimates] = old.maneuver_estimates if old is not None else {}
        values["maneuverEstimates"] = [
            {**_estimates(estimates), "maneuver": identity}
            for identity, estimates in sorted(new.maneuver_estimates.items())
            if before.get(identity) != estimates
        ] + [{"maneuver": identity} for identity in sorted(before.keys() - new.maneuver_estimates.keys())]
    return values


def value(of: VehicleState, key: str) -> Any:
    """The value of one key of the state; None if it has none."""
    if key in _MAKERS:
        name, make = _MAKERS[key]
        return make(getattr(of, name))
    if key == "maneuverEstimates":
        return [{**_estimates(estimates), "maneuver": identity} for identity, estimates in sorted(of.maneuver_estimates.items())]
    return _phase(of)[key]


def _phase(of: VehicleState) -> Object:
    is_paused = of.phase is Phase.PAUSED
    return {
        "phase": of.phase.value,
        "pauseReason": _optional(word, of.pause_reason) if is_paused else None,
        "pauseDescription": list(of.pause_description) if is_paused else None,
        "endReason": _known(of.end_reason, "unrecognized") if of.phase is Phase.ENDED and of.end_reason is not None else None,
    }


def _withheld(grants: Mapping[m.Feature, m.WithheldReason]) -> Object:
    return {camel(feature.name): _known(reason, "policy") for feature, reason in grants.items()}


# Content of messages


def content(of: Any) -> Object:
    """The content of a message, as the keys of an object."""
    make = _CONTENT.get(type(of))
    return {} if make is None else make(of)


def _snapshot(begin: m.SnapshotBegin) -> Object:
    return {
        "snapshot": "missed" if begin.kind == m.SnapshotKind.MISSED else "full",
        "client": begin.client_id,
        "clientDisplayName": begin.client_display_name,
        "suspended": begin.suspended,
        "receiptsEveryMilliseconds": begin.receipts_every_milliseconds,
        "fromSequence": begin.from_sequence,
        "toSequence": begin.to_sequence,
        "withheld": _withheld({grant.feature: grant.reason for grant in begin.withheld if grant.feature.is_recognized}),
        **_given(ageMilliseconds=begin.age_milliseconds),
    }


def _prompt(prompt: m.Prompt) -> Object:
    return {
        "requestID": prompt.request_id,
        "waypoint": _waypoint(prompt.waypoint),
        "travelEstimates": _estimates(prompt.travel_estimates),
        "deadlineMilliseconds": prompt.deadline_milliseconds,
    }


def _outcome(outcome: m.RequestOutcome) -> Object:
    return {"requestID": outcome.request_id, "outcome": _known(outcome.outcome, "invalid"), "client": outcome.client_id}


def _error(error: m.Error) -> Object:
    code = _known(error.code, "inconsistent")
    return {"code": code, "field": error.field, "reason": error.reason, "requestID": error.request_id}


def _resume(resume: m.ResumeGuidance) -> Object:
    route = {} if resume.route is None else _route(resume.route)
    return {"generation": resume.generation, "rerouteReason": word(resume.reason), **route}


_CONTENT: dict[type, Any] = {
    m.SnapshotBegin: _snapshot,
    m.SessionSuspended: lambda of: {
        "graceMilliseconds": of.grace_milliseconds, **_given(ageMilliseconds=of.age_milliseconds)
    },
    m.SessionEnded: lambda of: {"endedSession": of.session_id, "endReason": _known(of.reason, "unrecognized")},
    m.Prompt: _prompt,
    m.PromptOver: lambda of: {"requestID": of.request_id, "outcome": _known(of.outcome, "invalid")},
    m.RequestOutcome: _outcome,
    m.Error: _error,
    m.TripPreviews: lambda of: {"trips": [_trip(trip) for trip in of.trips], "selected": of.selected_trip_id},
    m.StartGuidance: lambda of: {"trip": _trip(of.trip), "generation": of.generation, **_route(of.route)},
    m.UpdateTrip: lambda of: {"trip": _trip(of.trip)},
    m.AddManeuvers: lambda of: {"maneuvers": _maneuvers(of.maneuvers), "generation": of.generation},
    m.AddLaneGuidances: lambda of: {"laneGuidances": _guidances(of.lane_guidances), "generation": of.generation},
    m.AddRouteSegments: lambda of: {"segments": _segments(of.segments), "generation": of.generation},
    m.UpcomingManeuvers: lambda of: {"upcomingManeuvers": list(of.maneuver_ids), "generation": of.generation},
    m.CurrentLaneGuidance: lambda of: {"currentLaneGuidance": of.lane_guidance_id, "generation": of.generation},
    m.CurrentRoadName: lambda of: {"currentRoadName": list(of.name_variants)},
    m.UpdateManeuverState: lambda of: {"maneuverState": word(of.state), "generation": of.generation},
    m.UpdateTripEstimates: lambda of: {
        "tripEstimates": _estimates(of.travel_estimates), "timeRemainingColor": word(of.time_remaining_color)
    },
    m.UpdateManeuverEstimates: lambda of: {
        "maneuver": of.maneuver_id, "travelEstimates": _estimates(of.travel_estimates), "generation": of.generation
    },
    m.CurrentRouteSegment: lambda of: {"currentSegment": of.segment_id, "generation": of.generation},
    m.PauseGuidance: lambda of: {"pauseReason": word(of.reason), "pauseDescription": list(of.description_variants)},
    m.ResumeGuidance: _resume,
    m.ShowAlert: lambda of: {"alert": _alert(of.alert)},
    m.DismissAlert: lambda of: {"alertID": of.alert_id, "dismissal": word(of.dismissal)},
    m.ShareDestination: lambda of: {"shareID": of.share_id, "destination": _waypoint(of.destination)},
}  # fmt: skip


# Objects


def _coordinate(of: m.Coordinate) -> list[float]:
    return [of.latitude, of.longitude] + ([] if of.altitude_meters is None else [of.altitude_meters])


def _estimates(of: m.TravelEstimates) -> Object:
    display = of.distance_remaining_to_display
    shown = {} if display is None else {"displayTenths": display.value_tenths, "displayUnit": word(display.unit)}
    return {"distanceMeters": of.distance_remaining_meters, **_given(timeSeconds=of.time_remaining_seconds), **shown}


def _waypoint(of: m.Waypoint) -> Object:
    return {
        "center": _coordinate(of.center),
        **_given(
            thresholdMeters=of.location_threshold_meters or None,
            nameVariants=list(of.name_variants),
            addressVariants=list(of.address_variants),
            entryPoints=[_coordinate(point) for point in of.entry_points],
            timeZone=of.time_zone,
            utcOffsetMinutes=of.utc_offset_minutes,
            stopKind=word(of.stop_kind) if of.stop_kind else None,
            charge=_optional(_charge, of.charge),
            id=of.id,
        ),
    }


def _charge(of: m.ChargeStop) -> Object:
    return _given(
        arrivalBatteryPerMille=of.arrival_battery_per_mille,
        departureBatteryPerMille=of.departure_battery_per_mille,
        connector=word(of.connector) if of.connector else None,
        powerWatts=of.power_watts or None,
        chargingSeconds=of.charging_time_seconds or None,
    )


def _trip(of: m.Trip) -> Object:
    return {
        "id": of.id,
        "origin": _waypoint(of.origin),
        "destination": _waypoint(of.destination),
        "waypoints": [_waypoint(waypoint) for waypoint in of.waypoints],
        "isDestinationShareable": of.destination_shareable,
        "routeSegmentsAvailable": of.route_segments_available,
        **_given(
            routeChoices=[_choice(choice) for choice in of.route_choices],
            selectedRouteChoice=of.selected_route_choice_id or None,
        ),
    }


def _choice(of: m.RouteChoice) -> Object:
    return {
        "id": of.id,
        **_given(
            summaryVariants=list(of.summary_variants),
            additionalInformationVariants=list(of.additional_information_variants),
            selectionSummaryVariants=list(of.selection_summary_variants),
            travelEstimates=_optional(_estimates, of.travel_estimates),
        ),
    }


def _maneuver(of: m.Maneuver) -> Object:
    return {
        "id": of.id,
        "type": word(of.type),
        "rawType": of.type.value,
        "junctionType": word(of.junction_type),
        "trafficSide": word(of.traffic_side),
        **_given(
            instructionVariants=list(of.instruction_variants),
            roadFollowingManeuverVariants=list(of.road_following_maneuver_variants),
            highwayExitLabel=of.highway_exit_label,
            junctionExitAngle=of.junction_exit_angle_degrees,
            junctionElementAngles=list(of.junction_element_angles_degrees),
            linkedLaneGuidance=of.linked_lane_guidance_id or None,
            initialTravelEstimates=_optional(_estimates, of.initial_travel_estimates),
            roundaboutExitNumber=of.roundabout_exit_number or None,
            isIntermediateWaypoint=of.intermediate_waypoint or None,
        ),
    }


def _lane(of: m.Lane) -> Object:
    return {
        "angles": list(of.angles_degrees),
        "status": word(of.status),
        **_given(highlightedAngle=of.highlighted_angle_degrees),
    }


def _guidance(of: m.LaneGuidance) -> Object:
    lanes = [_lane(lane) for lane in of.lanes]
    return {"id": of.id, "lanes": lanes, **_given(instructionVariants=list(of.instruction_variants))}


def _line(of: m.Polyline | None) -> list[list[float]]:
    points, latitude, longitude = [], 0, 0
    if of is not None:
        for latitude_delta, longitude_delta in zip(of.latitude_e6_deltas, of.longitude_e6_deltas, strict=True):
            latitude += latitude_delta
            longitude += longitude_delta
            points.append([latitude / 1e6, longitude / 1e6])
    return points


def _segment(of: m.RouteSegment) -> Object:
    return {
        "id": of.id,
        "origin": _waypoint(of.origin),
        "destination": _waypoint(of.destination),
        "coordinates": _line(of.coordinates),
        "maneuvers": list(of.maneuver_ids),
        "laneGuidances": list(of.lane_guidance_ids),
        "currentManeuvers": list(of.current_maneuver_ids),
        **_given(
            currentLaneGuidance=of.current_lane_guidance_id or None,
            tripTravelEstimates=_optional(_estimates, of.trip_travel_estimates),
            maneuverTravelEstimates=_optional(_estimates, of.maneuver_travel_estimates),
        ),
    }


def _maneuvers(of: Iterable[m.Maneuver]) -> list[Object]:
    return [_maneuver(maneuver) for maneuver in of]


def _guidances(of: Iterable[m.LaneGuidance]) -> list[Object]:
    return [_guidance(guidance) for guidance in of]


def _segments(of: Iterable[m.RouteSegment]) -> list[Object]:
    return [_segment(segment) for segment in of]


def _route(of: m.RouteInformation) -> Object:
    return {
        "maneuvers": _maneuvers(of.maneuvers),
        "laneGuidances": _guidances(of.lane_guidances),
        "segments": _segments(of.segments),
        "upcomingManeuvers": list(of.upcoming_maneuver_ids),
        **_given(
            currentSegment=of.current_segment_id,
            currentLaneGuidance=of.current_lane_guidance_id or None,
            tripTravelEstimates=_optional(_estimates, of.trip_travel_estimates),
            maneuverTravelEstimates=_optional(_estimates, of.maneuver_travel_estimates),
        ),
    }


def _alert(of: m.NavigationAlert) -> Object:
    duration = of.duration_milliseconds
    return {
        "id": of.id,
        "titleVariants": list(of.title_variants),
        **_given(
            subtitleVariants=list(of.subtitle_variants),
            actions=[{"id": action.id, "titleVariants": list(action.title_variants)} for action in of.actions],
            durationMilliseconds=max(duration, _ALERT_MILLISECONDS_MIN) if duration else None,
        ),
    }


def _trips(of: Iterable[m.Trip]) -> list[Object]:
    return [_trip(trip) for trip in of]


def _optional_trip(of: m.Trip | None) -> Object | None:
    return None if of is None else _trip(of)


#: Keys of the state, the values of VehicleState, and how they are written; None: there is none.
_KEYS: list[tuple[str, str, Any]] = [
    ("session", "session", int),
    ("client", "client", str),
    ("suspended", "suspended", bool),
    ("withheld", "withheld", _withheld),
    ("generation", "generation", int),
    ("previews", "previews", _trips),
    ("trip", "trip", _optional_trip),
    ("maneuvers", "maneuvers", _maneuvers),
    ("upcomingManeuvers", "upcoming_maneuvers", list),
    ("maneuverState", "maneuver_state", word),
    ("laneGuidances", "lane_guidances", _guidances),
    ("currentLaneGuidance", "current_lane_guidance", lambda identity: identity or None),
    ("segments", "segments", _segments),
    ("currentSegment", "current_segment", lambda identity: identity or None),
    ("currentRoadName", "current_road_name", list),
    ("tripEstimates", "trip_estimates", lambda estimates: _optional(_estimates, estimates)),
    ("timeRemainingColor", "time_remaining_color", word),
    ("alert", "alert", lambda alert: _optional(_alert, alert)),
]
_MAKERS = {key: (name, make) for key, name, make in _KEYS}
