"""What an endpoint receives, and its state, as lines of JSON: the same lines as those of `waymark cluster --json`.

Docs/cluster-json.md has every key.
"""

from __future__ import annotations

import base64
import json
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from waymark_nav import messages as m
from waymark_nav._generated import json_keys as j
from waymark_nav._generated.publications import PLAIN_STATES
from waymark_nav._kinds import (
    ALWAYS,
    BYTES,
    FILLED,
    FLAG,
    KNOWN,
    NUMBER,
    NUMBERS,
    TEXT,
    Bytes,
    Flag,
    Items,
    Key,
    Kind,
    Number,
    Object as Fields,
    Shape,
    Text,
    Word,
    camel,
    shape,
    word as word_of,
)
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
        **({"key": update.key} if update.key is not None else {}),
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
    for key in STATE.fields:
        if old is None or getattr(old, key.attribute) != getattr(new, key.attribute):
            values[key.name] = _written(key, new)
    if old is None or new.maneuver_estimates != old.maneuver_estimates:
        before = old.maneuver_estimates if old is not None else {}
        changed = {identity: estimates for identity, estimates in new.maneuver_estimates.items() if before.get(identity) != estimates}
        values["maneuverEstimates"] = [
            *_maneuver_estimates(changed),
            *({"maneuver": identity} for identity in sorted(before.keys() - new.maneuver_estimates.keys())),
        ]
    return values


def value(of: VehicleState, key: str) -> Any:
    """The value of one key of the state; None if it has none."""
    if key in _STATE_KEYS:
        return _written(_STATE_KEYS[key], of)
    if key == "maneuverEstimates":
        return _maneuver_estimates(of.maneuver_estimates)
    return _phase(of)[key]


def _maneuver_estimates(of: Mapping[int, m.TravelEstimates]) -> list[Object]:
    return [{**_object(estimates, j.TRAVEL_ESTIMATES), "maneuver": identity} for identity, estimates in sorted(of.items())]


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
    if type(of) in j.PUBLICATIONS:
        return _object(of, j.PUBLICATIONS[type(of)])
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
        **_given(ageMilliseconds=begin.age_milliseconds, estimatesAgeMilliseconds=begin.estimates_age_milliseconds),
    }


def _prompt(prompt: m.Prompt) -> Object:
    return {
        "requestID": prompt.request_id,
        "waypoint": _object(prompt.waypoint, j.WAYPOINT),
        "travelEstimates": _object(prompt.travel_estimates, j.TRAVEL_ESTIMATES),
        "deadlineMilliseconds": prompt.deadline_milliseconds,
    }


def _outcome(outcome: m.RequestOutcome) -> Object:
    content = {"requestID": outcome.request_id, "outcome": _known(outcome.outcome, "invalid"), "client": outcome.client_id}
    # A cause that is not known is not said.
    cause = camel(outcome.cause.name) if outcome.cause and outcome.cause.is_recognized else ""
    return content | _given(previewFollows=outcome.preview_follows or None, cause=cause, endpoint=outcome.endpoint)


def _error(error: m.Error) -> Object:
    code = _known(error.code, "inconsistent")
    limit = _given(limit=error.limit, limitValue=error.limit_value if error.limit else None)
    retry = _given(retryAfterMilliseconds=error.retry_after_milliseconds or None)
    return {"code": code, "field": error.field, "reason": error.reason, "requestID": error.request_id, **limit, **retry}


#: Messages of the gateway. In their enumerations a value that is not known counts as another one.
_CONTENT: dict[type, Any] = {
    m.SnapshotBegin: _snapshot,
    m.SessionSuspended: lambda of: {
        "graceMilliseconds": of.grace_milliseconds,
        **_given(ageMilliseconds=of.age_milliseconds, estimatesAgeMilliseconds=of.estimates_age_milliseconds),
    },
    m.SessionEnded: lambda of: {"endedSession": of.session_id, "endReason": _known(of.reason, "unrecognized")},
    m.Prompt: _prompt,
    m.PromptOver: lambda of: {"requestID": of.request_id, "outcome": _known(of.outcome, "invalid")},
    m.RequestOutcome: _outcome,
    m.Error: _error,
}  # fmt: skip


# Objects


def _object(of: Any, kind: Shape) -> Object:
    """A message or a state as an object."""
    written: Object = {}
    for key in kind.fields:
        value = _written(key, of)
        if not key.name:
            written |= value or {}
        elif value is not None:
            written[key.name] = value
    if kind is j.NAVIGATION_ALERT and of.duration_milliseconds:
        written["durationMilliseconds"] = max(of.duration_milliseconds, _ALERT_MILLISECONDS_MIN)
    return written


def _written(key: Key, of: Any) -> Any:
    """What a key contains; None if it is left out."""
    value = getattr(of, key.attribute)
    if key.when is not ALWAYS and (value is None or (key.when is FILLED and not value)):
        return None
    return _value(value, key.kind)


def _value(of: Any, kind: Kind) -> Any:
    if isinstance(kind, Bytes):
        return base64.b64encode(of).decode()
    if isinstance(kind, (Text, Number, Flag)):
        # Also an enumeration may have a key for its number.
        return int(of) if isinstance(of, OpenEnum) else of
    if isinstance(kind, Word):
        return word(of)
    if isinstance(kind, Shape):
        return None if of is None else _object(of, kind)
    if kind is WITHHELD:
        return _withheld(of)
    if isinstance(of, m.Coordinate):
        return _coordinate(of)
    # A line is the only list that may be absent.
    if of is None or isinstance(of, m.Polyline):
        return _line(of)
    assert isinstance(kind, Items)
    element = kind.element
    return list(of) if isinstance(element, (Text, Number)) else [_value(each, element) for each in of]


def _coordinate(of: m.Coordinate) -> list[float]:
    return [of.latitude, of.longitude] + ([] if of.altitude_meters is None else [of.altitude_meters])


def _line(of: m.Polyline | None) -> list[list[float]]:
    points, latitude, longitude = [], 0, 0
    if of is not None:
        for latitude_delta, longitude_delta in zip(of.latitude_e6_deltas, of.longitude_e6_deltas, strict=True):
            latitude += latitude_delta
            longitude += longitude_delta
            points.append([latitude / 1e6, longitude / 1e6])
    return points


def _plain_keys() -> Iterator[Key]:
    """The keys of plain states: those of their messages."""
    for message, values in PLAIN_STATES.items():
        for key in j.PUBLICATIONS[message].fields:
            yield Key(key.name, values[key.attribute], key.kind, ALWAYS)


WITHHELD = Fields({camel(feature.name): word_of(m.WithheldReason) for feature in m.Feature if feature})
_EXTENSION = shape(
    Key("name", "name", TEXT, ALWAYS), Key("key", "key", NUMBER, ALWAYS), Key("content", "content", BYTES, ALWAYS),
)  # fmt: skip
#: The state, but for its phase and the estimates of its maneuvers. What is left out is null in a change.
STATE = shape(
    Key("session", "session", NUMBER, ALWAYS),
    Key("client", "client", TEXT, ALWAYS),
    Key("suspended", "suspended", FLAG, ALWAYS),
    Key("withheld", "withheld", WITHHELD, ALWAYS),
    Key("generation", "generation", NUMBER, ALWAYS),
    Key("previews", "previews", Items(j.TRIP), ALWAYS),
    Key("selectedPreview", "selected_preview", TEXT, FILLED),
    Key("trip", "trip", j.TRIP, KNOWN),
    Key("maneuvers", "maneuvers", Items(j.MANEUVER), ALWAYS),
    Key("upcomingManeuvers", "upcoming_maneuvers", NUMBERS, ALWAYS),
    Key("maneuverState", "maneuver_state", word_of(m.ManeuverState), ALWAYS),
    Key("laneGuidances", "lane_guidances", Items(j.LANE_GUIDANCE), ALWAYS),
    Key("currentLaneGuidance", "current_lane_guidance", NUMBER, FILLED),
    Key("segments", "segments", Items(j.ROUTE_SEGMENT), ALWAYS),
    Key("currentSegment", "current_segment", TEXT, FILLED),
    *_plain_keys(),
    Key("tripEstimates", "trip_estimates", j.TRAVEL_ESTIMATES, KNOWN),
    Key("timeRemainingColor", "time_remaining_color", word_of(m.TimeRemainingColor), ALWAYS),
    Key("speedLimit", "speed_limit", j.SPEED_LIMIT, KNOWN),
    Key("nextSpeedLimit", "next_speed_limit", j.SPEED_LIMIT_AHEAD, KNOWN),
    Key("alert", "alert", j.NAVIGATION_ALERT, KNOWN),
    Key("extensions", "extensions", Items(_EXTENSION), ALWAYS),
)
_STATE_KEYS = {key.name: key for key in STATE.fields}
